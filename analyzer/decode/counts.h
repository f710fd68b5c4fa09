/* counts.h -- counts what a reader has read of a trace so far, and adds counts up. One thread writes; any may read. */
#ifndef BSA_DECODE_COUNTS_H
#define BSA_DECODE_COUNTS_H

#include "decode.h"

#include <stdatomic.h>

struct bsa_counts {
	_Atomic uint64_t events, foreign, unusable, lost_events, lost_packets;
	_Atomic uint64_t began, ended;
	_Atomic uint64_t bytes; /* bytes of the packets read so far */
	atomic_bool cut;
};

/* Set *@counts to those of a trace of which nothing was read. Call this before the thread that writes is started. */
void bsa_counts_init(struct bsa_counts *counts);

/* Add @counts to *@sum, whose began and ended are BSA_NEVER at first. */
void bsa_counts_add(struct bsa_decoded *sum, const struct bsa_counts *counts);

/*
 * Only one thread writes, so no atomic addition is needed. Counts of losses are numbers of the trace, so the
 * sum saturates.
 */
static inline void bsa_count(_Atomic uint64_t *counter, uint64_t n)
{
	uint64_t sum;

	if (__builtin_add_overflow(atomic_load_explicit(counter, memory_order_relaxed), n, &sum))
		sum = UINT64_MAX;
	atomic_store_explicit(counter, sum, memory_order_relaxed);
}

static inline void bsa_count_time(struct bsa_counts *counts, uint64_t at)
{
	uint64_t ended = atomic_load_explicit(&counts->ended, memory_order_relaxed);

	if (ended == BSA_NEVER || at > ended)
		atomic_store_explicit(&counts->ended, at, memory_order_relaxed);
	if (at < atomic_load_explicit(&counts->began, memory_order_relaxed))
		atomic_store_explicit(&counts->began, at, memory_order_relaxed);
}

#endif
