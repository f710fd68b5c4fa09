/*
 * steps.h -- steps that are noted and not taken yet, the earliest first.
 *
 * Steps of one kind are noted nearly in the order of their times: each kind has a run, where a new one passes but a few.
 * What does not fit is in a heap.
 */
#ifndef BSA_FOLD_STEPS_H
#define BSA_FOLD_STEPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bsa_scheduled;

/* What is taken first of what has one time. */
enum bsa_rank { BSA_RANK_RULES, BSA_RANK_LEAVE, BSA_RANK_READY, BSA_RANK_ENTER, BSA_RANKS };

struct bsa_noted {
	uint64_t at, order;      /* rank and serial */
	struct bsa_scheduled *x; /* borrowed; NULL: rules of a service */
	uint16_t instance;
	uint8_t step, lane; /* of rules: flags, and how many lanes */
};

/* Room for a power of two of them. */
struct bsa_noted_array {
	struct bsa_noted *all; /* owned */
	size_t room, first, n;
};

/* Zero it; fini frees what it holds. */
struct bsa_steps {
	struct bsa_noted_array runs[BSA_RANKS], heap;
	size_t n;
	uint64_t serial;
	uint64_t at, order; /* of the earliest, if there is one */
	unsigned source;    /* the run that begins with it, or BSA_RANKS: the heap */
};

enum { BSA_STEPS_MAX = 1 << 17 }; /* then the earliest ones are taken early */

void bsa_steps_fini(struct bsa_steps *q);

/* Its order is set here. 0 or -ENOMEM. */
int bsa_steps_add(struct bsa_steps *q, const struct bsa_noted *noted, enum bsa_rank rank);

/* The earliest; there must be one. */
void bsa_steps_take(struct bsa_steps *q, struct bsa_noted *ret);

static inline bool bsa_steps_due(const struct bsa_steps *q, uint64_t known)
{
	return q->n && q->at <= known;
}

#endif
