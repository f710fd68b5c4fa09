/*
 * shares.h -- the lane time that each app was entitled to and received, and its lag.
 *
 * Max-min: the lanes in use are shared among the backlogged apps, and no app is entitled to more lanes than
 * it has executions. While the number of lanes in use does not exceed the number of these apps, all are
 * entitled to the same share, one number for all, and an app is visited only when it changes. A lane that is
 * being handed over counts as held by its receiver.
 */
#ifndef BSA_FOLD_SHARES_H
#define BSA_FOLD_SHARES_H

#include "fold/device.h"

enum { BSA_PARTS = 720720 }; /* parts of a ns: thirds, sevenths, ... sixteenths of a ns are whole numbers of parts */

/* Whether @t has no execution, and had none at the end of the last instant. */
static inline bool bsa_shares_is_idle(const struct bsa_tenant *t)
{
	return !t->ready && !t->running && !t->backlogged && !t->closing;
}

/* Account for the time until @to. */
void bsa_shares_advance(struct bsa_device *d, uint64_t to);

/* The number of ready, or running, executions changes by @by. */
void bsa_shares_ready(struct bsa_tenant *t, int by);
void bsa_shares_running(struct bsa_tenant *t, int by);

/* An execution of @t, ready since @from, now runs on a lane that was free since @from. */
void bsa_shares_handed(struct bsa_tenant *t, uint64_t from);

/*
 * An execution that is ready since @from, or later, now runs on a lane that may have been free since @from. A
 * hand-over counts when it ends, also for apps that became backlogged meanwhile.
 */
void bsa_shares_may_be_handed(struct bsa_device *d, uint64_t from);

/* Whether the app received more than its share by more than @step_ns. False if @step_ns is unknown. */
bool bsa_shares_hogs(struct bsa_tenant *t, uint64_t step_ns);

/* The app was backlogged for longer than recorded: its lag is unknown until it is idle. */
void bsa_shares_doubt(struct bsa_tenant *t);

/*
 * An uncounted execution may have been ready, or on a lane, for @ns since the first hole: lags may be smaller
 * than computed.
 */
void bsa_shares_uncounted(struct bsa_device *d, uint64_t ns);

/*
 * An unrecorded execution of @t may have waited since @since, for @ns: the lag may have grown by half of all
 * lanes' time.
 */
void bsa_shares_may_lag(struct bsa_tenant *t, uint64_t since, uint64_t ns);

/*
 * The recording of the service ends now, and a waiting execution of @t may wait on for @ns: the lag may have
 * grown by half of all lanes' time. Several executions of @t wait at the same time, so the longest @ns counts.
 */
void bsa_shares_may_lag_on(struct bsa_tenant *t, uint64_t ns);

/* The app was backlogged when the recording began: its lag is unknown until it is idle. */
void bsa_shares_found(struct bsa_tenant *t);

/*
 * An execution of @t has been ready, or on a lane, since @since, which is detected only now that it enters a
 * lane idle since @handed_since: the lane may have been meant for it since then (@handed_since == now: it was not).
 */
void bsa_shares_appears(struct bsa_tenant *t, uint64_t since, uint64_t handed_since);

/*
 * Report the window, as far as it has passed, of each tenant that is idle. If such an app returns within the
 * window, the rest of it is another part. A part may be of no time at all.
 */
void bsa_shares_split_window(struct bsa_device *d);

/* Report the share of @t up to now. Before the @end of the recording, later steps may lower its lag. */
void bsa_shares_report(const struct bsa_tenant *t, bool end);

/* Report the lags that were held back, and the shares of all tenants. */
void bsa_shares_finish(struct bsa_device *d);

#endif
