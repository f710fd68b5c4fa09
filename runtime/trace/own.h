/*
 * own.h -- the number of a burst that no service numbers: one of this process's own, or over contexts of somebody's own; and of the calls
 * that such a burst makes instead.
 *
 * A process that has such bursts takes an instance number by chance, as a service does, and counts what it numbers. It
 * says of itself what a service says of a client: who it is, and each burst.
 *
 * CONCURRENCY  nnb__own_number: any thread. A struct nnb__own is its burst's: one thread at a time.
 */
#ifndef NNB_TRACE_OWN_H
#define NNB_TRACE_OWN_H

#include <stdbool.h>
#include <stdint.h>

#include "nbt/nbt.h"

struct nnb__own {
	uint32_t stream; /* 0: a service numbers the burst, and tells of it */
	uint32_t request_capacity, result_capacity, spin_us, client_spin_us;
	uint8_t path, cache; /* enum nbt_path, enum nbt_cache */
	uint64_t heard, since;
};

/* The next number of this process, which is never 0. */
uint32_t nnb__own_number(void);

/* The burst is there, or its first call: tell of the process and of that. @o has its number and what is to be told. */
void nnb__own_begin(struct nnb__own *o);

void nnb__own_retell(struct nnb__own *o);

/* Has somebody begun to listen? Then tell again. True: what else there is of the burst should be told again, too. */
static inline bool nnb__own_news(struct nnb__own *o)
{
	if (!o->stream || !nbt_news(&o->heard))
		return false;
	nnb__own_retell(o);
	return true;
}

void nnb__own_end(const struct nnb__own *o);

#endif
