/*
 * shares.h -- what each app was entitled to, what it received, and how far behind it was.
 *
 * Max-min: the lanes are shared among the apps that are backlogged, none getting more than it has executions. While there
 * are no more lanes than such apps all of them get the same, one number for all, and an app is looked at only when it
 * changes.
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

/* How many lanes there are to share. */
void bsa_shares_lanes(struct bsa_device *d, unsigned lanes);

/* Has it had more than its share, by more than @step_ns? Not if that is unknown. */
bool bsa_shares_hogs(struct bsa_tenant *t, uint64_t step_ns);

/* It has been backlogged for longer than was seen: until it is not any more, its lag is unknown. */
void bsa_shares_doubt(struct bsa_tenant *t);

/* Tell what is of the whole. */
void bsa_shares_finish(struct bsa_device *d);

#endif
