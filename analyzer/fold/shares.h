/*
 * shares.h -- what each app was entitled to, what it received, and how far behind it was.
 *
 * Max-min: the lanes that somebody has are shared among the apps that are backlogged, none getting more than it has executions.
 * While no more lanes are taken than there are such apps all of them get the same, one number for all, and an app is looked at
 * only when it changes. A lane that is being handed over is had by who gets it.
 */
#ifndef BSA_FOLD_SHARES_H
#define BSA_FOLD_SHARES_H

#include "fold/device.h"

enum { BSA_PARTS = 720720 }; /* in a ns: thirds, sevenths, ... sixteenths are whole */

/* Time goes on to @to. */
void bsa_shares_advance(struct bsa_device *d, uint64_t to);

/* One more, or fewer, is ready or runs. */
void bsa_shares_ready(struct bsa_tenant *t, int by);
void bsa_shares_running(struct bsa_tenant *t, int by);

/* It runs now on a lane that nobody had since @from, from when on it was ready. */
void bsa_shares_handed(struct bsa_tenant *t, uint64_t from);

/* Has it had more than its share, by more than @step_ns? Not if that is unknown. */
bool bsa_shares_hogs(struct bsa_tenant *t, uint64_t step_ns);

/* It has been backlogged for longer than was seen: until it is not any more, its lag is unknown. */
void bsa_shares_doubt(struct bsa_tenant *t);

/* Since the first hole, one that was not counted may have been ready, or on a lane, for @ns: lags were less than they seemed. */
void bsa_shares_uncounted(struct bsa_device *d, uint64_t ns);

/* One of it that no step told of may have waited since @since, for @ns: so the lag may have risen by half of what all lanes are worth. */
void bsa_shares_may_lag(struct bsa_tenant *t, uint64_t since, uint64_t ns);

/* It was backlogged when the recording began: until it is not, its lag may be anything. */
void bsa_shares_found(struct bsa_tenant *t);

/*
 * One of it has been ready, or on a lane, since @since, and that is seen only now, when it enters a lane that was idle since @handed_since:
 * the lane may have been on its way to it (now: it was not).
 */
void bsa_shares_appears(struct bsa_tenant *t, uint64_t since, uint64_t handed_since);

/* Tell what is of the whole. */
void bsa_shares_finish(struct bsa_device *d);

#endif
