/*
 * tally.h -- numbers that are added up by a key: open addressing, grown by doubling.
 */
#ifndef BSV_RENDER_TALLY_H
#define BSV_RENDER_TALLY_H

#include <stddef.h>
#include <stdint.h>

struct bsv_tallied {
	uint64_t key, value; /* value 0: there is none */
};

/* Zero it; fini frees what it holds. */
struct bsv_tally {
	struct bsv_tallied *slots; /* room of them, a power of two, or NULL */
	size_t n, room;
};

void bsv_tally_fini(struct bsv_tally *t);

/* The value of @key, to be added to, borrowed until the next call; where there is none yet it is 0. NULL: no memory. */
uint64_t *bsv_tally_at(struct bsv_tally *t, uint64_t key);

#endif
