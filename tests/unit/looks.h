/* looks.h -- what driver_looks.c tells of the operation that it has run last. */
#ifndef LOOKS_H
#define LOOKS_H

#include <stdbool.h>
#include <stdint.h>

struct looks {
	uint64_t took_ns;    /* unwatched, of cpu */
	uint64_t looks;      /* watched: how often it asked */
	uint64_t longest_ns; /* likewise: of cpu, between two of them, or before the first, or after the last */
	bool same;           /* likewise: to the same bits */
	bool ended;          /* told to end at the first look: it did, and did not ask again */
	uint64_t end_ns;     /* likewise: as longest_ns */
	bool xnnpack, tiles_ours;
	uint64_t digest;  /* of the output */
	uint64_t cost_ns; /* what it was estimated to take */
};

#endif
