/*
 * recipe.h -- where in the bytes of a trace's packets everything is: what quick.h reads by.
 *
 * Made of the metadata's text, and held against what babeltrace2 makes of the same text: only where both
 * agree on all of it, and all of it is of a kind that quick.c can read, is there a recipe.
 */
#ifndef BSA_DECODE_RECIPE_H
#define BSA_DECODE_RECIPE_H

#include "plan.h"

enum { BSA_HEAD_MAX = 256 }; /* bytes of a packet's header and context */

/* An unsigned number in a packet's header. */
struct bsa_spot {
	uint16_t at;   /* from the packet's beginning */
	uint8_t bytes; /* 0 if the packet has no such field */
};

/* How numbers are copied that are the same in a record as in the trace. */
enum bsa_copy { BSA_COPY_8, BSA_COPY_4, BSA_COPY_2, BSA_COPY_1, BSA_COPY_MANY, BSA_COPY_FITTING };

/* One thing in an event, in their order. */
enum bsa_part_kind {
	BSA_PART_NUMBERS, /* n of them; of a sequence: as many as an earlier number gives */
	BSA_PART_LETTERS, /* as numbers, but text ends at the first that is 0 */
	BSA_PART_STRING
};

struct bsa_part {
	uint64_t n;
	uint32_t where; /* from behind the event's header; as long as nothing before it varies */
	uint16_t at;    /* in the record */
	uint8_t kind;
	uint8_t from;        /* bytes of each, in the trace */
	uint8_t bytes, room; /* size of each number in the record, and how many of them have room there */
	uint8_t copy;        /* enum bsa_copy, if it is wanted */
	bool wanted;
	bool from_signed, to_signed;
	bool counts;  /* the field is the length of the sequences that follow, until the next such field */
	bool counted; /* a sequence */
};

struct bsa_recipe_event {
	const uint64_t *blank;
	enum bsa_kind kind; /* BSA_N_KINDS: foreign, or not in the catalogue */
	bool known, usable;
	bool fixed;     /* always of the same size, and all that is wanted are numbers */
	uint32_t bytes; /* then: behind its header */
	size_t n_parts, n_copies;
	struct bsa_part *parts;
	struct bsa_part *copies; /* those that are wanted; if @fixed, neighbours are one */
};

enum bsa_header_kind {
	BSA_HEADER_COMPACT, /* LTTng's: 5 bits of id and 27 of time, or id 31 and then both */
	BSA_HEADER_LARGE,   /* LTTng's: 16 bits of id and 32 of time, or id 65535 and then both */
	BSA_HEADER_PLAIN    /* babeltrace2's: 64 bits of each */
};

struct bsa_recipe_stream {
	uint64_t id;
	enum bsa_header_kind header;
	uint32_t head; /* bytes of its packets' headers */
	struct bsa_spot packet_bits, content_bits, began, ended, discarded, number, cpu;
	struct bsa_recipe_event *events; /* by id */
	size_t n_events;
};

struct bsa_recipe {
	uint8_t uuid[16];
	struct bsa_spot magic, stream, instance;
	bool has_uuid;
	uint16_t uuid_at;
	uint64_t frequency;
	struct bsa_recipe_stream *streams;
	size_t n_streams;
};

/* NULL: it is not understood, or differs from @class, or there is no memory. */
struct bsa_recipe *bsa_recipe_make(const char *tsdl, const bt_trace_class *class);
struct bsa_recipe *bsa_recipe_free(struct bsa_recipe *recipe); /* NULL is fine; returns NULL */

/* NULL if the trace has no stream @id. */
const struct bsa_recipe_stream *bsa_recipe_stream(const struct bsa_recipe *recipe, uint64_t id);

#endif
