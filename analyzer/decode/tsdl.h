/*
 * tsdl.h -- the metadata of a trace, parsed: as much of TSDL as lttng-sessiond 2.13 and babeltrace2's
 * sink.ctf.fs write.
 *
 * Strict: what is not known here makes all of it unknown, and nothing is guessed. Only traces of little-endian numbers.
 */
#ifndef BSA_DECODE_TSDL_H
#define BSA_DECODE_TSDL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum bsa_tsdl_kind {
	BSA_TSDL_INTEGER, /* enumerations, too */
	BSA_TSDL_REAL,
	BSA_TSDL_STRING,
	BSA_TSDL_STRUCT,
	BSA_TSDL_VARIANT,
	BSA_TSDL_ARRAY,
	BSA_TSDL_SEQUENCE
};

/* The name of a range of numbers. */
struct bsa_tsdl_label {
	const char *name;
	uint64_t first, last;
	struct bsa_tsdl_label *next;
};

struct bsa_tsdl_type {
	enum bsa_tsdl_kind kind;
	unsigned bits, align; /* bits of a number; alignment of any type, in bits */
	bool is_signed, is_clock, is_text;
	const struct bsa_tsdl_label *labels; /* labels of an enumeration, in their order */
	struct bsa_tsdl_field *fields;       /* fields of a structure, and options of a variant */
	const struct bsa_tsdl_type *element; /* element of an array or a sequence */
	uint64_t length;                     /* length of an array */
	const char *by;                      /* name of the field that has a sequence's length, or a variant's choice */
};

struct bsa_tsdl_field {
	const char *name; /* as it is written */
	const struct bsa_tsdl_type *type;
	struct bsa_tsdl_field *next;
};

struct bsa_tsdl_event {
	const char *name;
	uint64_t id, stream;
	const struct bsa_tsdl_type *context, *payload; /* NULL if events have no such part */
	struct bsa_tsdl_event *next;
};

struct bsa_tsdl_stream {
	uint64_t id;
	const struct bsa_tsdl_type *packet_context, *event_header, *event_context; /* NULL: no such part */
	struct bsa_tsdl_stream *next;
};

/* All of it is freed at once. */
struct bsa_tsdl {
	const struct bsa_tsdl_type *packet_header;
	struct bsa_tsdl_stream *streams;
	struct bsa_tsdl_event *events;
	const char *clock, *uuid, *tracer; /* "" where the metadata names none */
	uint64_t tracer_major, tracer_minor, frequency;
	void *memory;
};

/* NULL: it is not understood, or there is no memory. */
struct bsa_tsdl *bsa_tsdl_parse(const char *text);
struct bsa_tsdl *bsa_tsdl_free(struct bsa_tsdl *tsdl); /* NULL is fine; returns NULL */

/* The name without the underscore that tracers put before it. */
const char *bsa_tsdl_name(const char *name);

/* NULL if @structure has no field @name. */
const struct bsa_tsdl_type *bsa_tsdl_field(const struct bsa_tsdl_type *structure, const char *name);

#endif
