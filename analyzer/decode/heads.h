/*
 * heads.h -- the headers of a stream file's packets, by a recipe.
 *
 * A file is checked from end to end before quick.h reads it: what is out of order in it is babeltrace2's to judge.
 */
#ifndef BSA_DECODE_HEADS_H
#define BSA_DECODE_HEADS_H

#include "recipe.h"

struct bsa_packet_head {
	const struct bsa_recipe_stream *stream;
	uint64_t instance;
	uint64_t bytes, content; /* size of the packet, and of its content, both from its begin */
	uint64_t began, ended;
	uint64_t discarded, number; /* BSA_NEVER: not in the header */
	uint32_t cpu;               /* UINT32_MAX: not in the header */
};

/* Read the head of a packet from its first @n bytes. False: the packet does not fit this recipe, or is absurd. */
bool bsa_packet_head_read(struct bsa_packet_head *ret, const struct bsa_recipe *recipe, const uint8_t *bytes, size_t n);

/* Whether @next can come behind @head in one stream. */
bool bsa_packet_head_follows(const struct bsa_packet_head *head, const struct bsa_packet_head *next);

/* Whether the file at @path is whole packets of one stream, one behind the other and in order. *ret: the first. */
bool bsa_heads_are_plain(struct bsa_packet_head *ret, const struct bsa_recipe *recipe, const char *path);

#endif
