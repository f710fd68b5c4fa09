/*
 * shares.c -- the lane time that each app was entitled to and received, and its lag.
 *
 * Between the times at which an app is visited its lag is linear in time: while all are entitled to the same,
 * the lag of an app without a lane grows, unless no lane is in use, and the lag of an app with a lane grows
 * more slowly or falls. So its extremes are at those times, or at the last time at which a lane was in use. A
 * hand-over of a lane is known when it ends: then all of it counts at once.
 *
 * After a hole every lag is counted from 0 again, and the true lag lies between lag - under and lag + over:
 * within the hole it can have fallen by the time of all lanes, and have risen by half of that. The same holds
 * while it is uncertain which executions are still ready. The reported values are the lower bound of the
 * maximum (max_lag) and its upper bound (most_lag); without holes both are equal. An execution that is
 * detected late, and may have waited unrecorded, lowers the lower bounds of all lags since the first hole: so
 * windows before that hole are reported at once, and later ones at the end.
 *
 * A tenant that waits when a window begins is dormant until something happens to it: it is in no list of the window,
 * and costs no time, however many windows pass. Meanwhile it receives nothing and is entitled to what all others are
 * that wait, and since a hole its bounds widen as theirs do, so its figures follow from the device's. rouse computes
 * them, and reports these windows as one fact. Of a dormant tenant, only ready, running, its largest lags so far and
 * its executions may be read before that.
 */
#include "fold/shares.h"

#include "fold/waits.h"

#include <assert.h>
#include <stdlib.h>

#include "base/vector.h"

enum {
	HELD_MOST = 1 << 16,
	QUIET_MOST = 1 << 20 /* limit of the rows that may be reported at once for windows without events */
};

#define LAG_UNKNOWN (INT64_MIN / 2)                     /* a lower bound that is below any lag */
#define SUM_MOST (((bsa_parts)1 << 59) * BSA_PARTS)     /* sums and lags beyond this are not added up by others */
#define CARRIED_MOST ((bsa_parts)INT64_MAX * BSA_PARTS) /* no lag is reported as more */

static int64_t round_parts(bsa_parts parts)
{
	bsa_parts half = parts < 0 ? -(BSA_PARTS / 2) : BSA_PARTS / 2;
	bsa_parts ns = (parts + half) / BSA_PARTS;

	return ns > INT64_MAX ? INT64_MAX : ns < INT64_MIN ? INT64_MIN : (int64_t)ns;
}

static_assert((int)BSA_PARTS == BSA_LAG_PARTS, "facts give lags in these parts");

/* The remainder that is lost where @parts are rounded to @ns. */
static int32_t part_beyond(bsa_parts parts, bsa_parts ns)
{
	bsa_parts beyond = parts - ns * BSA_PARTS;

	return beyond > BSA_PARTS || beyond < -BSA_PARTS ? 0 : (int32_t)beyond; /* the ns were bounded */
}

static uint64_t bound_ns(unsigned __int128 ns)
{
	return ns > UINT64_MAX ? UINT64_MAX : (uint64_t)ns;
}

static uint64_t rounded_up_from_half(bsa_parts parts)
{
	return bound_ns((unsigned __int128)(parts + BSA_PARTS / 2) / BSA_PARTS);
}

static void lag_bounds(struct bsa_lag *ret, bsa_parts low, bsa_parts most)
{
	ret->lag = round_parts(low);
	ret->most = round_parts(most);
	ret->lag_part = part_beyond(low, ret->lag);
	ret->most_part = part_beyond(most, ret->most);
}

static bsa_parts lowest_lag(const struct bsa_tenant *t)
{
	return t->lag - t->under;
}

static bsa_parts highest_lag(const struct bsa_tenant *t)
{
	return t->lag + t->over;
}

/* How far a lag can fall in @ns: by the time of all lanes. */
static bsa_parts most_fall(const struct bsa_device *d, uint64_t ns)
{
	unsigned lanes = d->lanes_told ? d->n_lanes : BSA_LANES_MAX;

	return (bsa_parts)(lanes ? lanes : 1) * BSA_PARTS * ns;
}

/*
 * How far a lag can rise in @ns: by half of the time of all lanes. An app entitled to more than half of the
 * lanes in use is entitled to more than all other apps together. The others are then entitled to all they ask
 * for, which is no less than the lanes that they hold. So the remaining lanes are the app's own, and its lag
 * does not rise.
 */
static bsa_parts most_rise(const struct bsa_device *d, uint64_t ns)
{
	return most_fall(d, ns) / 2;
}

/*
 * Note the lag as one of the window's. In a hole it is not counted: then note what it can have become since
 * the hole began.
 */
static inline void note_lag(struct bsa_tenant *t)
{
	const struct bsa_device *d = t->device;
	bsa_parts low = lowest_lag(t), high = highest_lag(t);

	if (d->in_loss) {
		low -= most_fall(d, d->now - d->hole_began);
		high += most_rise(d, d->now - d->hole_began);
	}
	if (!t->looked || low > t->window_lag)
		t->window_lag = low;
	if (!t->looked || high > t->window_most)
		t->window_most = high;
	t->looked = true;
}

/* If the lag of @t is larger than ever before, note it as one of time @at. */
static void note_largest_lag(struct bsa_tenant *t, uint64_t at)
{
	if (lowest_lag(t) > t->max_lag) {
		t->max_lag = lowest_lag(t);
		t->max_lag_at = at;
	}
	if (highest_lag(t) > t->most_lag)
		t->most_lag = highest_lag(t);
}

static void receive_time(struct bsa_tenant *t, bsa_parts entitled, unsigned __int128 received)
{
	note_lag(t);
	t->entitled += entitled;
	t->window_entitled += entitled;
	t->received += received;
	t->window_received += received;
	t->lag += entitled - (bsa_parts)received * BSA_PARTS;
	note_lag(t);
	note_largest_lag(t, t->running ? t->device->now : t->device->rose);
}

/* The lane time of @t in @ns. */
static unsigned __int128 held_ns(const struct bsa_tenant *t, uint64_t ns)
{
	return (unsigned __int128)ns * t->running;
}

static void join_window(struct bsa_tenant *t)
{
	struct bsa_device *d = t->device;

	if (!t->in_window)
		d->window[d->n_window++] = t;
	t->in_window = true;
}

/*
 * Compute and report the windows in which @t was dormant. Its figures are then those of the begin of this window, but
 * for the bounds of its lag, which are those of now.
 */
static __attribute__((noinline)) void rouse_dormant(struct bsa_tenant *t)
{
	struct bsa_device *d = t->device;
	const struct bsa_lag_window *last = &d->lag_window;
	bsa_parts entitled = d->window_equal - t->equal;
	struct bsa_lag lag = {
		.app = t->app,
		.window_began = last->began,
		.entitled = last->entitled,
		.first = t->dormant_from,
		.last = last->number,
		.sum = last->sum,
		.sum_part = last->sum_part,
		.instance = d->instance,
	};

	assert(t->backlogged && !t->running && !t->in_window && d->n_dormant);
	t->dormant = false;
	d->n_dormant--;
	t->clock = d->window_clock;
	t->over += d->over;
	t->under += d->under;
	join_window(t);
	if (!entitled)
		return;
	assert(entitled > 0 && lag.first <= lag.last);
	t->equal = d->window_equal;
	t->entitled += entitled;
	t->lag += entitled;
	note_largest_lag(t, d->lag_window_rose);
	lag_bounds(&lag, lowest_lag(t), highest_lag(t) - (d->over - d->lag_window_over));
	if (d->had_hole)
		lag.lag = LAG_UNKNOWN;
	d->facts->lag(d->facts->ctx, &lag);
}

static inline void rouse(struct bsa_tenant *t)
{
	if (t->dormant)
		rouse_dormant(t);
}

static void rouse_all(struct bsa_device *d)
{
	for (size_t i = 0; d->n_dormant && i < d->n_backlogged; i++)
		rouse(d->backlogged[i]);
}

/* The time since @t was last settled is more than 0. */
static __attribute__((noinline)) void settle_time(struct bsa_tenant *t)
{
	struct bsa_device *d = t->device;
	bsa_parts entitled = d->equal - t->equal;
	uint64_t ns = d->clock - t->clock;

	assert(t->clock <= d->clock && t->equal <= d->equal);
	t->equal = d->equal;
	t->clock = d->clock;
	receive_time(t, entitled, held_ns(t, ns));
}

/* Account for the time since @t was last settled: mostly there is none. */
static inline void settle_tenant(struct bsa_tenant *t)
{
	const struct bsa_device *d = t->device;

	rouse(t);
	if (t->backlogged && (d->clock != t->clock || d->equal != t->equal))
		settle_time(t);
}

static void restart_lag(struct bsa_tenant *t)
{
	t->lag = 0;
	t->lag_from = t->device->now;
	t->equal = t->device->equal;
	t->clock = t->device->clock;
}

static void become_backlogged(struct bsa_tenant *t)
{
	struct bsa_device *d = t->device;

	assert(!t->backlogged && d->n_backlogged < d->table.n);
	t->backlogged = true;
	t->doubtful = false;
	t->over = t->under = 0;
	if (d->in_loss && t->shut.closed >= d->hole_began) {
		/*
		 * Within this hole @t seemed to become idle. It may have been backlogged all the time, and
		 * then its earlier lag goes on.
		 */
		t->over = t->shut.most > 0 ? t->shut.most : 0;
		t->under = t->shut.least < 0 ? -t->shut.least : 0;
	}
	t->opened = d->now;
	if (!t->app)
		d->strangers = d->haunted = true;
	restart_lag(t);
	t->place = (uint32_t)d->n_backlogged;
	d->backlogged[d->n_backlogged++] = t;
	join_window(t);
	d->dirty = true;
}

static void become_idle(struct bsa_tenant *t)
{
	struct bsa_device *d = t->device;
	struct bsa_tenant *last;

	assert(t->backlogged && t->place < d->n_backlogged && d->backlogged[t->place] == t);
	last = d->backlogged[--d->n_backlogged];
	settle_tenant(t);
	if (d->in_loss) {
		/* Between the begin of the hole and now, its lag may have risen. */
		bsa_parts risen = highest_lag(t) + most_rise(d, d->now - d->hole_began);

		note_lag(t);
		if (risen > t->most_lag)
			t->most_lag = risen;
		if (!t->shut_in_loss) {
			t->shut_in_loss = true;
			t->shuts = d->shut_in_loss;
			d->shut_in_loss = t;
		}
	}
	t->shut = (struct bsa_shut){
		.opened = t->opened, .closed = d->now, .most = highest_lag(t), .least = lowest_lag(t)
	};
	if (t->shut.least < t->least_shut)
		t->least_shut = t->shut.least;
	d->backlogged[t->place] = last;
	last->place = t->place;
	t->backlogged = false;
	if (!t->app) {
		d->strangers = false;
		d->unseen_until = d->now;
	}
	d->dirty = true;
}

static void note_change(struct bsa_tenant *t)
{
	struct bsa_device *d = t->device;

	d->dirty = true;
	if (t->ready || t->running) {
		if (!t->backlogged)
			become_backlogged(t);
	} else if (!t->closing) {
		t->closing = true;
		t->closes = d->closing;
		d->closing = t;
	}
}

void bsa_shares_ready(struct bsa_tenant *t, int by)
{
	assert(by > 0 || t->ready >= (uint32_t)-by);
	settle_tenant(t);
	t->ready += (uint32_t)by;
	note_change(t);
}

void bsa_shares_running(struct bsa_tenant *t, int by)
{
	assert(by > 0 || (t->running >= (uint32_t)-by && t->device->n_running >= (uint32_t)-by));
	settle_tenant(t);
	t->running += (uint32_t)by;
	t->device->n_running += (uint32_t)by;
	note_change(t);
}

/*
 * Whether the set of ready and running executions is uncertain: some may have ended in a hole, some may be on
 * a lane without an event, or the app of some is unknown, so that fewer apps share than it seems. Then the
 * shares of all apps are uncertain.
 */
static bool has_unseen(const struct bsa_device *d)
{
	if (d->in_loss || d->doubtful || d->strangers || !d->lanes_told)
		return true;
	for (unsigned i = 0; i < d->lanes_room; i++)
		if (!bsa_lane_is_held(d, &d->lanes[i], d->now) && !bsa_lane_is_idle(d, &d->lanes[i], d->now))
			return true;
	return false;
}

bool bsa_shares_hogs(struct bsa_tenant *t, uint64_t step_ns)
{
	struct bsa_device *d = t->device;

	if (!t->backlogged || t->doubtful)
		return false;
	if (*d->unsummed && d->now > *d->unsummed_since)
		return false;
	if (d->strangers || (bsa_device_unsure(d, 0, d->now) && (has_unseen(d) || t->lag_from < d->unseen_until)))
		return false;
	settle_tenant(t);
	return t->lag < -(bsa_parts)step_ns * BSA_PARTS;
}

void bsa_shares_doubt(struct bsa_tenant *t)
{
	t->doubtful = true;
}

/*
 * Fewer apps are backlogged than lanes are in use: an app with many executions is entitled to more than an equal
 * share.
 */
static void set_rates(struct bsa_device *d, size_t n_lanes)
{
	size_t left = d->n_backlogged;
	bsa_parts lanes = (bsa_parts)n_lanes * BSA_PARTS, share;
	bool again = true;

	for (size_t i = 0; i < d->n_backlogged; i++)
		d->backlogged[i]->rate = -1;
	while (again && left) {
		again = false;
		share = lanes / (bsa_parts)left;
		for (size_t i = 0; i < d->n_backlogged; i++) {
			struct bsa_tenant *t = d->backlogged[i];
			bsa_parts cap = ((bsa_parts)t->ready + t->running) * BSA_PARTS;

			if (t->rate >= 0 || cap > share)
				continue;
			assert(left && lanes >= cap);
			t->rate = cap;
			lanes -= cap;
			left--;
			again = true;
		}
	}
	share = left ? lanes / (bsa_parts)left : 0;
	for (size_t i = 0; i < d->n_backlogged; i++)
		if (d->backlogged[i]->rate < 0)
			d->backlogged[i]->rate = share;
}

/* Account for the time until @to, which is within one window and outside of holes. */
static void run_time(struct bsa_device *d, uint64_t to)
{
	uint64_t ns = to - d->now;

	assert(to >= d->now && to <= d->window_ended && !d->in_loss);
	if (d->n_running)
		d->rose = to;
	if (d->n_backlogged >= d->n_running) {
		if (d->n_backlogged)
			d->equal += (bsa_parts)((uint64_t)d->n_running * BSA_PARTS / d->n_backlogged) * ns;
		d->clock += ns;
		d->now = to;
		return;
	}
	if (d->dirty)
		set_rates(d, d->n_running);
	d->dirty = false;
	for (size_t i = 0; i < d->n_backlogged; i++)
		settle_tenant(d->backlogged[i]);
	d->clock += ns;
	d->now = to;
	for (size_t i = 0; i < d->n_backlogged; i++) {
		struct bsa_tenant *t = d->backlogged[i];

		t->clock = d->clock;
		receive_time(t, t->rate * ns, held_ns(t, ns));
	}
}

/* ---- lanes that were handed over ---- */

/* Settle the tenants that hold a lane: their lags may fall from now on. */
static void settle_holders(struct bsa_device *d)
{
	for (unsigned i = 0; i < d->lanes_room; i++)
		if (d->lanes[i].holder)
			settle_tenant(d->lanes[i].holder->tenant);
}

/* At least as many apps are backlogged as lanes are in use, so all are entitled to the same. */
static void share_equally(struct bsa_device *d, uint64_t ns, size_t n)
{
	settle_holders(d);
	for (struct bsa_tenant *t = d->closing; t; t = t->closes)
		settle_tenant(t);
	d->equal += (bsa_parts)(BSA_PARTS / n) * ns;
	for (struct bsa_tenant *t = d->closing; t; t = t->closes)
		if (!t->ready && !t->running)
			t->equal = d->equal;
	settle_holders(d);
}

/* Account for the effect of one more lane on every app's share. */
static void share_by_need(struct bsa_device *d, uint64_t ns)
{
	for (size_t i = 0; i < d->n_backlogged; i++)
		settle_tenant(d->backlogged[i]);
	set_rates(d, d->n_running - 1);
	for (size_t i = 0; i < d->n_backlogged; i++)
		d->backlogged[i]->before = d->backlogged[i]->rate;
	set_rates(d, d->n_running);
	for (size_t i = 0; i < d->n_backlogged; i++) {
		struct bsa_tenant *t = d->backlogged[i];

		if (t->ready || t->running) /* otherwise it is gone by now */
			receive_time(t, (t->rate - t->before) * ns, 0);
	}
}

void bsa_shares_may_be_handed(struct bsa_device *d, uint64_t from)
{
	from = from > d->counts_from ? from : d->counts_from;
	for (size_t i = 0; !d->in_loss && i < d->n_backlogged; i++) {
		struct bsa_tenant *t = d->backlogged[i];

		if (t->opened <= from)
			continue; /* widen_for_unseen has done so for all of that time */
		settle_tenant(t);
		t->over += most_rise(d, t->opened - from);
		note_lag(t);
		if (highest_lag(t) > t->most_lag)
			t->most_lag = highest_lag(t);
	}
}

void bsa_shares_handed(struct bsa_tenant *t, uint64_t from)
{
	struct bsa_device *d = t->device;
	size_t n = d->n_backlogged;
	uint64_t ns;

	from = from > d->counts_from ? from : d->counts_from;
	if (d->in_loss || from >= d->now || !t->backlogged)
		return;
	ns = d->now - from;
	for (const struct bsa_tenant *gone = d->closing; gone; gone = gone->closes)
		n -= !gone->ready && !gone->running;
	settle_tenant(t);
	receive_time(t, 0, ns);
	d->rose = d->now;
	if (n >= d->n_running)
		share_equally(d, ns, n);
	else
		share_by_need(d, ns);
}

/* ---- windows, and losses ---- */

static void set_window(struct bsa_device *d, uint64_t at)
{
	d->window_began = at - at % d->window_ns;
	d->window_ended = d->window_began + d->window_ns;
	if (d->window_ended < d->window_began)
		d->window_ended = BSA_NEVER;
}

/* In a window in parts, each is reported that has a lag, even if no time is counted in it. */
static void report_window_of(struct bsa_tenant *t, bool part)
{
	struct bsa_device *d = t->device;
	struct bsa_held_lags *h = &d->held_lags;
	struct bsa_lag lag = { .app = t->app, .window_began = d->window_began };
	bool holes = d->had_hole || (part && d->in_loss);

	if (t->app && (t->window_entitled || t->window_received || (part && t->looked))) {
		lag.received = bound_ns(t->window_received);
		lag.entitled = rounded_up_from_half(t->window_entitled);
		lag_bounds(&lag, t->window_lag, t->window_most);
		lag.in_parts = part;
		/* It waited all of the window, as dormant tenants do. */
		if (!part && d->lag_window.number && d->lag_window.began == d->window_began && !t->window_received &&
		    t->window_entitled == d->equal - d->window_equal) {
			lag.first = lag.last = d->lag_window.number;
			lag.sum = d->lag_window.sum;
			lag.sum_part = d->lag_window.sum_part;
			lag.instance = d->instance;
		}
		if (d->facts->window)
			d->facts->window(d->facts->ctx, &lag);
		/* After a hole, a later step may lower the lag: hold it, if there is room. */
		if (holes && *d->held != HELD_MOST && BSA_RESERVE(h->all, h->room, h->n + 1, 8)) {
			h->all[h->n++] = lag;
			++*d->held;
		} else {
			lag.lag = holes ? LAG_UNKNOWN : lag.lag;
			d->facts->lag(d->facts->ctx, &lag);
		}
	}
	t->looked = t->split = false;
	t->window_entitled = 0;
	t->window_received = 0;
}

/*
 * Whether all that is to be reported of @t until something happens to it are lags that rise as those of others do.
 * Lags of windows since a hole are held, one by one, as long as there is room; then their lower bounds are unknown.
 */
static bool may_be_dormant(const struct bsa_tenant *t)
{
	const struct bsa_device *d = t->device;

	if (!d->facts->lag_window || d->facts->window || !t->app || !t->ready || t->running)
		return false;
	if (d->in_loss || (d->had_hole ? *d->held != HELD_MOST : d->haunted || lowest_lag(t) <= -SUM_MOST))
		return false;
	return d->equal + d->over < SUM_MOST && highest_lag(t) < SUM_MOST;
}

static void fall_dormant(struct bsa_tenant *t)
{
	struct bsa_device *d = t->device;

	t->dormant = true;
	t->dormant_from = d->lag_window.number + 1;
	t->over -= d->over;
	t->under -= d->under;
	d->n_dormant++;
}

/* Report the window, which is over, for the tenants that waited all of it. */
static void report_lag_window(struct bsa_device *d)
{
	if (!d->facts->lag_window || d->facts->window || d->in_loss || d->equal == d->window_equal ||
	    d->equal + d->over >= SUM_MOST || (!d->n_dormant && d->n_backlogged <= d->n_running))
		return;
	d->lag_window.number++;
	d->lag_window.began = d->window_began;
	d->lag_window.entitled = rounded_up_from_half(d->equal - d->window_equal);
	d->lag_window.sum = (uint64_t)((d->equal + d->over) / BSA_PARTS);
	d->lag_window.sum_part = (int32_t)((d->equal + d->over) % BSA_PARTS);
	d->lag_window.instance = d->instance;
	d->lag_window.kept = d->n_dormant || (d->had_hole && *d->held != HELD_MOST);
	d->lag_window_rose = d->rose;
	d->lag_window_over = d->over;
	d->facts->lag_window(d->facts->ctx, &d->lag_window);
}

/* The window is over, at now. */
static void report_window(struct bsa_device *d)
{
	size_t n = 0;

	if (d->equal + d->over >= SUM_MOST)
		rouse_all(d);
	report_lag_window(d);
	for (size_t i = 0; i < d->n_window; i++) {
		struct bsa_tenant *t = d->window[i];

		settle_tenant(t);
		if (d->in_loss && t->backlogged)
			note_lag(t);
		report_window_of(t, t->split);
		if (t->backlogged && may_be_dormant(t))
			fall_dormant(t);
		t->in_window = t->backlogged && !t->dormant;
		if (t->in_window)
			d->window[n++] = t;
	}
	d->n_window = n;
	d->window_equal = d->equal;
	d->window_clock = d->clock;
}

void bsa_shares_split_window(struct bsa_device *d)
{
	size_t n = 0;

	for (size_t i = 0; i < d->n_window; i++) {
		struct bsa_tenant *t = d->window[i];

		if (bsa_shares_is_idle(t)) {
			report_window_of(t, true);
			t->in_window = false;
			t->split = true;
			d->left->parts++;
		} else {
			d->window[n++] = t;
		}
	}
	d->n_window = n;
}

/* Pass the time until @to without counting it. */
static void skip_time(struct bsa_device *d, uint64_t to)
{
	if (to >= d->window_ended) {
		if (d->in_loss) /* its lags are reported as of the end of the loss */
			d->now = d->window_ended;
		report_window(d);
		set_window(d, to);
	}
	d->now = to;
}

/* With one app more, each is entitled to no less than half of what it was. */
void bsa_shares_uncounted(struct bsa_device *d, uint64_t ns)
{
	bsa_parts by = most_fall(d, ns) / 2;
	int64_t ns_less = round_parts(by);
	struct bsa_table_walk walk = { 0 };
	struct bsa_tenant *t;

	if (!d->had_hole)
		return;
	/* Lower the lags of the held windows, and the bounds of the lags that are still counted. */
	for (size_t i = 0; i < d->held_lags.n; i++) {
		struct bsa_lag *held = &d->held_lags.all[i];

		held->lag = held->lag < LAG_UNKNOWN + ns_less ? LAG_UNKNOWN : held->lag - ns_less;
	}
	d->under += by;
	for (size_t i = 0; i < d->n_window; i++) {
		d->window[i]->window_lag -= by;
		if (d->window[i]->backlogged)
			d->window[i]->under += by;
	}
	while ((t = bsa_table_walk(&d->table, &walk))) {
		t->max_lag -= by;
		if (t->max_lag > t->sure_lag)
			continue;
		t->max_lag = t->sure_lag;
		t->max_lag_at = t->sure_lag_at;
	}
}

/* The bounds of a lag at the time when @t seemed to become idle. */
struct carried {
	bsa_parts most, least;
};

/*
 * An execution of @t may have been under way since @since, so that @t was backlogged all the time. Then the
 * lag that @t had when it seemed to become idle goes on, and did not begin again at 0. If @t seemed to become
 * idle several times since, any of its lags may go on.
 */
static struct carried carried_from(const struct bsa_tenant *t, uint64_t since)
{
	struct carried c = { t->shut.most, t->shut.least };

	if (since >= t->shut.closed)
		return (struct carried){ 0, 0 };
	if (since < t->shut.opened)
		c = (struct carried){ t->most_lag > t->most_dropped ? t->most_lag : t->most_dropped, t->least_shut };
	if (c.most < 0)
		c.most = 0;
	if (c.least > 0)
		c.least = 0;
	/* What is carried raises the lag that is carried the next time: without a limit it would double each time. */
	if (c.most > CARRIED_MOST)
		c.most = CARRIED_MOST;
	if (c.least < -CARRIED_MOST)
		c.least = -CARRIED_MOST;
	return c;
}

static bsa_parts raised_by(bsa_parts most, bsa_parts by)
{
	return (most > 0 ? most : 0) + by;
}

/*
 * An execution of @t may have been under way since @since, until now: in each window since then, the lag may be higher
 * by @by than it seems.
 */
static void raise_windows(struct bsa_tenant *t, uint64_t since, bsa_parts by)
{
	struct bsa_device *d = t->device;

	for (size_t i = d->held_lags.n; i-- > 0;) {
		struct bsa_lag *held = &d->held_lags.all[i];
		bsa_parts most = (bsa_parts)held->most * BSA_PARTS + held->most_part;

		if (held->window_began < since && since - held->window_began >= d->window_ns)
			break;
		if (held->app != t->app)
			continue;
		held->most = round_parts(raised_by(most, by));
		held->most_part = part_beyond(raised_by(most, by), held->most);
	}
	join_window(t);
	if (!t->looked) { /* nothing of it is counted in this window yet */
		t->window_lag = (bsa_parts)LAG_UNKNOWN * BSA_PARTS;
		t->window_most = 0;
		t->looked = true;
	}
	t->window_most = raised_by(t->window_most, by);
}

void bsa_shares_may_lag(struct bsa_tenant *t, uint64_t since, uint64_t ns)
{
	struct carried carried;
	bsa_parts by;

	rouse(t);
	carried = carried_from(t, since);
	by = carried.most + most_rise(t->device, ns);
	if (by > t->most_lag)
		t->most_lag = by;
	raise_windows(t, since, by);
	if (!t->backlogged)
		return;
	settle_tenant(t);
	t->doubtful = true;
	t->over += by;
	t->under -= carried.least;
	note_lag(t);
	if (highest_lag(t) > t->most_lag)
		t->most_lag = highest_lag(t);
}

void bsa_shares_may_lag_on(struct bsa_tenant *t, uint64_t ns)
{
	const struct bsa_device *d = t->device;
	bsa_parts most;

	settle_tenant(t);
	most = highest_lag(t) + most_rise(d, ns + (d->in_loss ? d->now - d->hole_began : 0));
	if (most > t->most_lag)
		t->most_lag = most;
}

void bsa_shares_found(struct bsa_tenant *t)
{
	settle_tenant(t);
	t->over = t->under = most_fall(t->device, UINT64_C(1) << 62);
	note_lag(t);
	if (highest_lag(t) > t->most_lag)
		t->most_lag = highest_lag(t);
}

void bsa_shares_appears(struct bsa_tenant *t, uint64_t since, uint64_t handed_since)
{
	struct bsa_device *d = t->device;
	struct carried carried;
	bsa_parts rise;
	uint64_t ns;

	rouse(t);
	since = since != BSA_NEVER && since > *d->began ? since : *d->began;
	carried = carried_from(t, since);
	ns = bsa_holes_any(&d->unsure) && since < d->now ? d->now - since : 0;
	if (!ns)
		return;
	rise = most_rise(d, d->now - (handed_since > since ? handed_since : since));
	if (!d->widening) /* their lags may have been higher before */
		rouse_all(d);
	d->over += rise;
	d->under += most_fall(d, ns);
	for (size_t i = 0; i < d->n_window; i++) {
		struct bsa_tenant *other = d->window[i];

		if (!other->backlogged)
			continue;
		settle_tenant(other);
		if (other == t) {
			other->over += carried.most + most_rise(d, ns);
			other->under -= carried.least;
		} else {
			other->over += rise;
			other->under += most_fall(d, ns);
		}
		note_lag(other);
		if (highest_lag(other) > other->most_lag)
			other->most_lag = highest_lag(other);
	}
}

/* A hole begins: time is not counted until it ends. */
static void enter_loss(struct bsa_device *d)
{
	uint64_t ready, since = d->now;

	if (d->in_loss)
		return;
	assert(d->now >= d->counts_from);
	d->in_loss = true;

	/*
	 * The time since which a lane may be on its way to an execution. Lane time on the way counts when the
	 * execution has the lane, and a hole may hide that.
	 */
	ready = d->n_waiting ? bsa_waits_oldest(d) : d->now;
	for (unsigned i = 0; i < d->lanes_room && i < d->n_lanes; i++)
		if (d->lanes[i].since < since &&
		    bsa_lane_is_idle(d, &d->lanes[i], d->now - 1)) /* now the hole begins */
			since = d->lanes[i].since;
	d->hole_began = since > ready ? since : ready;

	for (size_t i = 0; i < d->n_backlogged; i++)
		settle_tenant(d->backlogged[i]);
}

/* Keep the lags from before the first hole. */
static void keep_sure_lags(const struct bsa_device *d)
{
	struct bsa_table_walk walk = { 0 };
	struct bsa_tenant *t;

	while ((t = bsa_table_walk(&d->table, &walk))) {
		t->sure_lag = t->max_lag;
		t->sure_lag_at = t->max_lag_at;
	}
}

/*
 * A tenant seemed to become idle in the loss, which may hide an execution of it without any event: then the tenant was
 * backlogged until now, and its lag rose on.
 */
static void bound_shut(struct bsa_device *d, uint64_t ns)
{
	for (struct bsa_tenant *t = d->shut_in_loss; t; t = t->shuts) {
		bsa_parts most = t->shut.most + most_rise(d, ns);

		if (most > t->most_lag)
			t->most_lag = most;
		t->shut_in_loss = false;
	}
	d->shut_in_loss = NULL;
}

static void leave_loss(struct bsa_device *d)
{
	uint64_t ns = d->now - d->hole_began;

	assert(d->in_loss && d->now >= d->hole_began);
	if (!d->had_hole)
		keep_sure_lags(d);
	d->had_hole = true;
	d->proof_hole = d->now;
	d->proof = 0;
	d->none_waited = 0;
	d->in_loss = false;
	d->haunted = true;
	d->counts_from = d->now;
	bound_shut(d, ns);
	for (size_t i = 0; i < d->n_backlogged; i++) {
		/* For @ns the lag of @t was not counted. Or @t was idle in that time, and its lag begins at 0 again. */
		struct bsa_tenant *t = d->backlogged[i];
		bsa_parts up = highest_lag(t) > 0 ? highest_lag(t) : 0, down = lowest_lag(t) < 0 ? -lowest_lag(t) : 0;

		t->over = up + most_rise(d, ns);
		t->under = down + most_fall(d, ns);
		t->lag = 0;
		if (highest_lag(t) > t->most_lag)
			t->most_lag = highest_lag(t);
		note_lag(t);
		restart_lag(t);
		t->doubtful = true;
	}
}

/*
 * After a hole it may be uncertain which apps are backlogged, and which hold a lane. Widen the bounds of all
 * lags for the time until @to. Between now and @to each lag is linear in time, so within one window it is
 * enough to bound it at both ends.
 */
static void widen_for_unseen(struct bsa_device *d, uint64_t to)
{
	uint64_t ns = to - d->now;

	if (d->n_backlogged < d->n_running) /* then each is visited */
		rouse_all(d);
	d->under += most_fall(d, ns);
	if (to >= d->window_ended)
		d->over += most_fall(d, ns);
	for (size_t i = 0; i < d->n_window; i++) {
		struct bsa_tenant *t = d->window[i];

		if (!t->backlogged)
			continue;
		settle_tenant(t);
		t->under += most_fall(d, ns);
		t->lag_before = t->lag;
		/* How far its lag can rise: less the time of the lanes that it certainly holds. */
		t->rises = most_rise(d, ns);
		for (unsigned l = 0; l < d->lanes_room; l++)
			if (bsa_lane_is_held(d, &d->lanes[l], d->now) && d->lanes[l].holder->tenant == t)
				t->rises -= (bsa_parts)ns * BSA_PARTS;
		if (t->rises < 0)
			t->rises = 0;
		if (to >= d->window_ended)
			t->over += most_fall(d, ns);
	}
}

/*
 * The time counted since widen_for_unseen, @ns, may be wrong: raise the upper bound of each lag to the most that it
 * can have risen. @equal: device.equal before.
 */
static void bound_unseen(struct bsa_device *d, uint64_t ns, bsa_parts equal)
{
	bsa_parts rise = most_rise(d, ns) - (d->equal - equal);

	d->over += rise > 0 ? rise : 0;
	for (size_t i = 0; i < d->n_window; i++) {
		struct bsa_tenant *t = d->window[i];
		bsa_parts by;

		if (!t->backlogged)
			continue;
		settle_tenant(t);
		by = t->rises - (t->lag - t->lag_before);
		if (by > 0)
			t->over += by;
		note_lag(t);
		if (highest_lag(t) > t->most_lag)
			t->most_lag = highest_lag(t);
	}
}

/* Whether so many windows without events would be reported that they are treated like a hole. */
static bool too_quiet(const struct bsa_device *d, uint64_t to)
{
	uint64_t windows = (to - d->now) / d->window_ns;

	return d->n_backlogged && windows > 1 &&
	       (*d->quiet_rows < 0 || windows > (uint64_t)*d->quiet_rows / d->n_backlogged);
}

static void pass_time(struct bsa_device *d, uint64_t to)
{
	uint64_t from = d->now;
	bsa_parts equal = d->equal;

	*d->quiet_rows += *d->quiet_rows < QUIET_MOST;
	if (to > from) {
		d->haunted = d->haunted && has_unseen(d);
		if (d->haunted != d->widening) /* the bounds of dormant tenants widen all the time, or never */
			rouse_all(d);
		d->widening = d->haunted;
		if (d->haunted)
			widen_for_unseen(d, to);
	}
	if (to < d->window_ended && to > d->now) {
		run_time(d, to);
		if (d->haunted)
			bound_unseen(d, to - from, equal);
	} else if (too_quiet(d, to)) {
		enter_loss(d);
		skip_time(d, to);
		leave_loss(d);
	} else if (to > d->now && !d->n_backlogged) {
		skip_time(d, to);
	} else if (to > d->now) {
		while (to >= d->window_ended && d->window_ended != BSA_NEVER) {
			run_time(d, d->window_ended);
			report_window(d);
			set_window(d, d->window_ended);
			if (to >= d->window_ended)
				*d->quiet_rows -= (int64_t)d->n_backlogged;
		}
		if (to > d->now)
			run_time(d, to);
	}
}

/* Pass the time until @to, and the holes in it. */
static void pass_losses(struct bsa_device *d, uint64_t to)
{
	struct bsa_span s;

	while ((s = bsa_holes_from(&d->unsure, d->losses_over + 1)).began <= to) {
		pass_time(d, s.began > d->now ? s.began : d->now);
		if (!d->in_loss)
			bsa_waits_doubt(d);
		enter_loss(d);
		if (s.ended > to) {
			skip_time(d, to);
			return;
		}
		skip_time(d, s.ended > d->now ? s.ended : d->now);
		leave_loss(d);
		d->losses_over = s.ended;
	}
	pass_time(d, to);
}

/*
 * The service hangs until @to, or died: no choice of its own gives its lanes to anyone. Returns false where a hole
 * shows that something may have happened.
 */
static bool pass_silence(struct bsa_device *d, uint64_t to)
{
	if (!d->silent || to <= d->silent)
		return false;
	if (d->now < d->silent)
		bsa_shares_advance(d, d->silent);
	if (d->in_loss)
		return false;
	for (size_t i = 0; i < d->n_backlogged; i++)
		settle_tenant(d->backlogged[i]);
	skip_time(d, to > d->now ? to : d->now);
	return true;
}

void bsa_shares_advance(struct bsa_device *d, uint64_t to)
{
	if (pass_silence(d, to))
		return;
	if (to > d->now) {
		/* The tenants that still have no execution become idle, when all time until now is counted. */
		for (struct bsa_tenant *t = d->closing; t; t = t->closes) {
			assert(t->closing && t->device == d);
			t->closing = false;
			if (!t->ready && !t->running)
				become_idle(t);
		}
		d->closing = NULL;
	}
	if (!d->window_ended)
		set_window(d, to);
	if (to > d->now && !d->n_backlogged && to < d->window_ended && !bsa_holes_any(&d->unsure))
		d->now = to;
	else if (bsa_holes_any(&d->unsure))
		pass_losses(d, to);
	else
		pass_time(d, to);
}

void bsa_shares_report(const struct bsa_tenant *t, bool end)
{
	const struct bsa_device *d = t->device;
	/* a step after this report may lower the lags since the first hole, or widen their bounds */
	bool sure_only = !end && d->had_hole;
	bool bounded = end || !(d->had_hole || d->in_loss);
	bsa_parts max_lag = sure_only ? t->sure_lag : t->max_lag;
	struct bsa_share share = { .app = t->app, .max_lag_at = BSA_NEVER };

	if (!t->app || (!t->entitled && !t->received && t->most_lag <= 0))
		return;
	share.received = bound_ns(t->received);
	share.entitled = rounded_up_from_half(t->entitled);
	share.most_lag = !bounded ? INT64_MAX : t->most_lag > 0 ? round_parts(t->most_lag) : 0;
	if (max_lag > 0) {
		share.max_lag = round_parts(max_lag);
		share.max_lag_at = sure_only ? t->sure_lag_at : t->max_lag_at;
	}
	d->facts->share(d->facts->ctx, &share);
}

void bsa_shares_finish(struct bsa_device *d)
{
	struct bsa_table_walk walk = { 0 };
	const struct bsa_tenant *t;

	rouse_all(d);
	report_window(d);
	for (size_t i = 0; i < d->held_lags.n; i++)
		d->facts->lag(d->facts->ctx, &d->held_lags.all[i]);
	d->held_lags.n = 0;
	bsa_table_sort(&d->table, NULL); /* for the order of the reports */
	while ((t = bsa_table_walk(&d->table, &walk)))
		bsa_shares_report(t, true);
	bsa_table_unsort(&d->table);
}
