/*
 * crowd.h -- waits that are long lists of who held the lane meanwhile, in a space that grows with the
 * executions, not with their square.
 *
 * Where n executions wait for one lane at a time, each waits behind all before it: n * (n - 1) / 2 stretches.
 * They are nearly all the same stretches of the lane. So a wait of more than CROWD_FEW stretches is stored as
 * a row of stored_wait_run, which refers to rows of stored_occupancy, each of which is one stretch of a lane,
 * once for all that wait behind it. The view `wait` has the same rows as if each had its own. Shorter waits,
 * of which there are more, are rows of stored_wait, which are smaller then.
 *
 * A stretch of a wait that is not among those that the lane was reported to have (it goes on yet, or is not
 * certain any more) has a row of stored_wait in any case: a few for each wait.
 * One thread. Memory is bounded: of the stretches of each lane the last ones are kept, CROWD_KEPT of all
 * lanes together. Where there are more, the lane that keeps the most forgets half of them: one that is idle
 * now leaves room for the others.
 */
#ifndef BSA_STORE_CROWD_H
#define BSA_STORE_CROWD_H

#include "fold/facts.h"

struct bsa_store;
struct bsa_crowd;

enum { CROWD_FEW = 8, CROWD_KEPT = 1 << 18 };

/* NULL: no memory. */
struct bsa_crowd *bsa_crowd_new(void);
struct bsa_crowd *bsa_crowd_free(struct bsa_crowd *c); /* NULL is fine; returns NULL */

/* The next stretch of a lane for which an execution may have waited. */
void bsa_crowd_occupied(struct bsa_store *s, const struct bsa_occupied *o);

/*
 * Take the next stretch of a wait. The stretches of one wait arrive one after the other, and no stretch of a
 * lane between them.
 */
void bsa_crowd_wait(struct bsa_store *s, const struct bsa_wait *w);

/* There are no more of this clock. */
void bsa_crowd_finish(struct bsa_store *s);

/* The cause of waiting behind a stretch, as the view has it. @level, @held_level: as bsa_wait.level; app 0: unknown. */
uint8_t bsa_crowd_cause(uint8_t kind, uint32_t app, uint8_t level, uint8_t occupancy, uint32_t held_app,
                        uint8_t held_level, bool hogging);

#endif
