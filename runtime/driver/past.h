/*
 * past.h -- remembers the times of preparations, so that a preparation that cannot end before its deadline is refused
 * at once.
 *
 * Models that look alike (types, shapes, lifetimes and lengths of operands, operations and their operands: not names,
 * and not the contents of constants) take a similar time to prepare. A device remembers the least CPU time of the
 * last PAST kinds.
 *
 * CONCURRENCY  From any thread.
 * TRUST        A wrong time (another app's model, prepared while the CPU was slow) does not stay: each refusal
 *              reduces it by one sixteenth, until it refuses no more, and the next preparation measures again.
 */
#ifndef NNB_DRIVER_PAST_H
#define NNB_DRIVER_PAST_H

#include <pthread.h>
#include <stdint.h>

#include "nnb/model.h"

enum { NNB__PAST = 64 };

struct nnb__past {
	pthread_mutex_t lock;
	uint64_t uses; /* counts uses of all kinds */
	struct {
		uint64_t kind, cpu_ns, used; /* used: value of uses at the last use; 0: the place is free */
	} kinds[NNB__PAST];
};

void nnb__past_init(struct nnb__past *past);
void nnb__past_fini(struct nnb__past *past);

/* The kind of a model. Its arrays must not be NULL. */
uint64_t nnb__past_kind(const struct nnb_model *model);

/* A model of this kind was prepared in @cpu_ns of CPU time. */
void nnb__past_learn(struct nnb__past *past, uint64_t kind, uint64_t cpu_ns);

/* Would a model of this kind take longer than @budget_ns even if it took only half of the remembered time? */
bool nnb__past_refuses(struct nnb__past *past, uint64_t kind, uint64_t budget_ns);

#endif
