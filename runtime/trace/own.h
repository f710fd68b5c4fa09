/*
 * own.h -- numbers for bursts that no service numbers: bursts within this process, and bursts over contexts of the
 * program's own; and for the calls that such a burst makes on the ordinary path.
 *
 * A process with such bursts chooses a random instance number, as a service does, and numbers its objects from there.
 * It emits about itself the events that a service emits about a client: its connection, and each burst.
 *
 * CONCURRENCY  Any thread may call nnb__own_number. One thread at a time uses a struct nnb__own.
 */
#ifndef NNB_TRACE_OWN_H
#define NNB_TRACE_OWN_H

#include <stdbool.h>
#include <stdint.h>

#include "nbt/nbt.h"

struct nnb__own {
	uint32_t stream; /* 0: a service numbers the burst, and emits its events */
	uint32_t request_capacity, result_capacity, spin_us, client_spin_us;
	uint8_t path, cache; /* enum nbt_path, enum nbt_cache */
	uint64_t heard, since;
};

/* The next number of this process, which is never 0. */
uint32_t nnb__own_number(void);

/* The burst, or its first call, exists: emit the process and the burst. @o is filled in, with its number. */
void nnb__own_begin(struct nnb__own *o);

void nnb__own_emit_again(struct nnb__own *o);

/*
 * If a trace session has begun, emit the burst's events again. True: the caller should emit its other state again,
 * too.
 */
static inline bool nnb__own_news(struct nnb__own *o)
{
	if (!o->stream || !nbt_news(&o->heard))
		return false;
	nnb__own_emit_again(o);
	return true;
}

void nnb__own_end(const struct nnb__own *o);

#endif
