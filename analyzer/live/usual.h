/*
 * usual.h -- what is typical of each model, so far: what blame.h compares a missed execution with.
 *
 * The same figures as the store takes from all of a recording (store/stats.c), as long as there are no more executions than are kept:
 * USUAL_KEPT that found an idle lane, and as many budgets. Of more the oldest of their model are replaced, and bsa_usual_is_exact says so.
 * One thread.
 */
#ifndef BSA_LIVE_USUAL_H
#define BSA_LIVE_USUAL_H

#include "fold/blame.h"

enum { USUAL_KEPT = 1 << 17 };

struct bsa_usual;

/* NULL: no memory. */
struct bsa_usual *bsa_usual_new(void);
struct bsa_usual *bsa_usual_free(struct bsa_usual *u); /* NULL is fine; returns NULL */

/* The next execution. 0 or -ENOMEM. */
int bsa_usual_add(struct bsa_usual *u, const struct bsa_execution *x);

/* What a model is expected to run for, as the service says; 0: it does not. 0 or -ENOMEM. */
int bsa_usual_estimate(struct bsa_usual *u, uint32_t model, uint64_t estimate_ns);

/*
 * Of the model and path of @x. What was worked out a while ago may be taken again, unless @exactly. Without memory: as if nothing was
 * known.
 */
struct bsa_typical bsa_usual_of(struct bsa_usual *u, const struct bsa_execution *x, bool exactly);

bool bsa_usual_is_exact(const struct bsa_usual *u);

#endif
