/*
 * refusals.h -- executions that were refused before they were ready: which lanes they would have met, and
 * when one was free for them.
 */
#ifndef BSA_FOLD_REFUSALS_H
#define BSA_FOLD_REFUSALS_H

#include "fold/device.h"

/*
 * @x was refused at @at. Keep that until it is known when a lane was free for it; where too many are kept, or
 * the step is too @late for the schedule to know the lanes of that time, report it at once. 0 or -ENOMEM.
 */
int bsa_refusals_take(struct bsa_device *d, const struct bsa_scheduled *x, uint64_t at, bool late);

/*
 * A lane becomes free now: set that for the refusals that do not have the time of a free lane yet, unless one may have
 * been free before. Call this before the lane's certain holder leaves it.
 */
void bsa_refusals_lane_free(struct bsa_device *d);

/*
 * All steps of d->now are taken. If a lane is idle and no execution waits, report the refusals: from now on a
 * refused execution could have had that lane. The report comes once that is certain: when the next execution
 * enters the lane, or the recording ends.
 */
void bsa_refusals_end_instant(struct bsa_device *d);

/*
 * Lane @number gets a holder, or the recording ends. The lane was certainly idle until @until. Clear what
 * refusals claim about later times.
 */
void bsa_refusals_settle(struct bsa_device *d, unsigned number, uint64_t until);

/* Report all refusals: when a lane was free for them is not known. */
void bsa_refusals_report(struct bsa_device *d);

#endif
