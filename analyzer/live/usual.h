/*
 * usual.h -- the typical phases of each model so far, with which blame.h compares a missed execution.
 *
 * The figures equal those that the store computes from a whole recording (store/stats.c), as long as there
 * are no more executions than are kept: USUAL_KEPT that got an idle lane, and as many budgets and runs. Beyond that,
 * the oldest of the model are replaced, and bsa_usual_is_exact returns false. One thread.
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

/*
 * Set a model's app, and the service's estimate of its run; 0: unknown. Executions from then on are judged by it.
 * Returns 0 or -ENOMEM.
 */
int bsa_usual_model(struct bsa_usual *u, uint32_t model, uint32_t app, uint64_t estimate_ns);

/*
 * The typical phases of the model and path of @x. An earlier result may be reused, unless @exactly. Without
 * memory: as if nothing were known.
 */
struct bsa_typical bsa_usual_of(struct bsa_usual *u, const struct bsa_execution *x, bool exactly);

bool bsa_usual_is_exact(const struct bsa_usual *u);

#endif
