/*
 * steps.h -- a queue of noted steps, the earliest first.
 *
 * Steps of one kind are noted nearly in the order of their times: each kind has a sorted run, where a new
 * step passes only a few others. Steps that do not fit into their run go into a heap.
 */
#ifndef BSA_FOLD_STEPS_H
#define BSA_FOLD_STEPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bsa_scheduled;

/* The order of steps with the same time. */
enum bsa_rank { BSA_RANK_RULES, BSA_RANK_LEAVE, BSA_RANK_READY, BSA_RANK_ENTER, BSA_RANKS };

struct bsa_noted {
	uint64_t at, order;      /* rank and serial */
	struct bsa_scheduled *x; /* borrowed; NULL: a change of a service's rules */
	uint16_t instance;
	uint8_t step, lane; /* for rules: flags, and the number of lanes */
};

/* A ring; its room is a power of two. */
struct bsa_noted_array {
	struct bsa_noted *all; /* owned */
	size_t room, first, n;
};

/* All zeroes is an empty queue; free it with fini. */
struct bsa_steps {
	struct bsa_noted_array runs[BSA_RANKS], heap;
	size_t n;
	uint64_t serial;
	uint64_t at, order; /* those of the earliest step, if there is one */
	unsigned source;    /* the run of the earliest step; BSA_RANKS: the heap */
};

enum { BSA_STEPS_MAX = 1 << 17 }; /* beyond this, the earliest steps are taken early */

void bsa_steps_fini(struct bsa_steps *q);

/* Add a step; its order is set here. 0 or -ENOMEM. */
int bsa_steps_add(struct bsa_steps *q, const struct bsa_noted *noted, enum bsa_rank rank);

/* Take the earliest step; the queue must not be empty. */
void bsa_steps_take(struct bsa_steps *q, struct bsa_noted *ret);

/*
 * An execution of which a step will be taken soon; NULL: none. Steps are taken when their time is known to be
 * over, which may be a second after they were noted: they and their executions are out of the cache then. The
 * steps themselves are fetched here.
 */
const struct bsa_scheduled *bsa_steps_soon(const struct bsa_steps *q);

#endif
