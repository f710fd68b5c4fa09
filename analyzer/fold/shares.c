/*
 *
 * shares.c -- the lane time that each app was entitled to and received, and its lag.
 *
 * Between the times at which an app is visited its lag is linear in time: while all are entitled to the same, the lag of an app without
 * a lane grows, unless no lane is in use, and the lag of an app with a lane grows more slowly or falls. So its extremes are at those
 * times, or at the last time at which a lane was in use. A hand-over of a lane is known when it ends: then all of it counts at once.
 *
 * After a hole every lag is counted from 0 again, and the true lag lies between lag - under and lag + over: within the hole it can
 * have fallen by the time of all lanes, and have risen by half of that. The same holds while it is uncertain which executions are
 * still ready. The reported values are the lower bound of the maximum (max_lag) and its upper bound (most_lag); without holes both
 * are equal. An execution that is detected late, and may have waited unrecorded, lowers the lower bounds of all lags since the first
 * hole: so windows before that hole are reported at once, and later ones at the end.
 */
#include "fold/shares.h"

#include <stdlib.h>

#include "fold/waits.h"

enum {
	HELD_MOST = 1 << 16,
	QUIET_MOST = 1 << 20 /* rows that may be told at once of windows in which nothing happens */
};

#define LAG_UNKNOWN (INT64_MIN / 2) /* at least: less than any lag */

static int64_t rounded(bsa_parts parts)
{
	bsa_parts half = parts < 0 ? -(BSA_PARTS / 2) : BSA_PARTS / 2;
	bsa_parts ns = (parts + half) / BSA_PARTS;

	return ns > INT64_MAX ? INT64_MAX : ns < INT64_MIN ? INT64_MIN : (int64_t)ns;
}

static uint64_t bounded(unsigned __int128 ns)
{
	return ns > UINT64_MAX ? UINT64_MAX : (uint64_t)ns;
}

static uint64_t rounded_up_from_half(bsa_parts parts)
{
	return bounded((unsigned __int128)(parts + BSA_PARTS / 2) / BSA_PARTS);
}

static bsa_parts least(const struct bsa_tenant *t)
{
	return t->lag - t->under;
}

static bsa_parts most(const struct bsa_tenant *t)
{
	return t->lag + t->over;
}

/* How far a lag can fall in @ns: by what all lanes are worth. */
static bsa_parts worth(const struct bsa_device *d, uint64_t ns)
{
	unsigned lanes = d->lanes_told ? d->n_lanes : BSA_LANES_MAX;

	return (bsa_parts)(lanes ? lanes : 1) * BSA_PARTS * ns;
}

/*
 * How far a lag can rise in @ns: by half of that. An app that is entitled to more than half of the lanes in use gets more than all
 * others together, so the others get what they ask for, which is no less than the lanes they have: the rest is the app's own lanes.
 */
static bsa_parts worth_behind(const struct bsa_device *d, uint64_t ns)
{
	return worth(d, ns) / 2;
}

/* In a hole a lag is not counted: what it can have become since that began. */
static void look_at_lag(struct bsa_tenant *t)
{
	const struct bsa_device *d = t->device;
	bsa_parts low = least(t), high = most(t);

	if (d->in_loss) {
		low -= worth(d, d->now - d->hole_began);
		high += worth_behind(d, d->now - d->hole_began);
	}
	if (!t->looked || low > t->window_lag)
		t->window_lag = low;
	if (!t->looked || high > t->window_most)
		t->window_most = high;
	t->looked = true;
}

static void receive(struct bsa_tenant *t, bsa_parts entitled, unsigned __int128 received)
{
	look_at_lag(t);
	t->entitled += entitled;
	t->window_entitled += entitled;
	t->received += received;
	t->window_received += received;
	t->lag += entitled - (bsa_parts)received * BSA_PARTS;
	look_at_lag(t);
	if (least(t) > t->max_lag) {
		t->max_lag = least(t);
		t->max_lag_at = t->running ? t->device->now : t->device->rose;
	}
	if (most(t) > t->most_lag)
		t->most_lag = most(t);
}

/* The lane time of @t in @ns. */
static unsigned __int128 held(const struct bsa_tenant *t, uint64_t ns)
{
	return (unsigned __int128)ns * t->running;
}

/* All there is to be known of it now. */
static void settle(struct bsa_tenant *t)
{
	struct bsa_device *d = t->device;
	bsa_parts entitled = d->equal - t->equal;
	uint64_t ns = d->clock - t->clock;

	if (!t->backlogged || (!ns && !entitled))
		return;
	t->equal = d->equal;
	t->clock = d->clock;
	receive(t, entitled, held(t, ns));
}

static void restart_lag(struct bsa_tenant *t)
{
	t->lag = 0;
	t->lag_from = t->device->now;
	t->equal = t->device->equal;
	t->clock = t->device->clock;
}

/* Since the hole began @t had nothing left, as far as was recorded: the lag may have gone on all the same. */
static void carry_lag_through_hole(struct bsa_tenant *t)
{
	t->over = t->shut.most > 0 ? t->shut.most : 0;
	t->under = t->shut.least < 0 ? -t->shut.least : 0;
}

static void open_up(struct bsa_tenant *t)
{
	struct bsa_device *d = t->device;

	t->backlogged = true;
	t->doubtful = false;
	t->over = t->under = 0;
	if (d->in_loss && t->shut.closed >= d->hole_began)
		carry_lag_through_hole(t);
	t->opened = d->now;
	if (!t->app)
		d->strangers = d->haunted = true;
	restart_lag(t);
	t->place = (uint32_t)d->n_backlogged;
	d->backlogged[d->n_backlogged++] = t;
	if (!t->in_window)
		d->window[d->n_window++] = t;
	t->in_window = true;
	d->dirty = true;
}

/* @t leaves in a hole, after which no lag of it is left: before @t left, its lag may have risen, since the hole began. */
static void may_have_risen(struct bsa_tenant *t)
{
	const struct bsa_device *d = t->device;
	bsa_parts risen = most(t) + worth_behind(d, d->now - d->hole_began);

	if (risen > t->window_most)
		t->window_most = risen;
	if (risen > t->most_lag)
		t->most_lag = risen;
}

static void close_down(struct bsa_tenant *t)
{
	struct bsa_device *d = t->device;
	struct bsa_tenant *last = d->backlogged[--d->n_backlogged];

	settle(t);
	if (d->in_loss)
		may_have_risen(t);
	t->shut = (struct bsa_shut){ .opened = t->opened, .closed = d->now, .most = most(t), .least = least(t) };
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

/* Close the tenants that have no execution left, with all time until now counted. */
static void close_those_without(struct bsa_device *d)
{
	struct bsa_tenant *t = d->closing;

	for (; t; t = t->closes) {
		t->closing = false;
		if (!t->ready && !t->running)
			close_down(t);
	}
	d->closing = NULL;
}

static void changed(struct bsa_tenant *t)
{
	struct bsa_device *d = t->device;

	d->dirty = true;
	if (t->ready || t->running) {
		if (!t->backlogged)
			open_up(t);
	} else if (!t->closing) {
		t->closing = true;
		t->closes = d->closing;
		d->closing = t;
	}
}

void bsa_shares_ready(struct bsa_tenant *t, int by)
{
	settle(t);
	t->ready += (uint32_t)by;
	changed(t);
}

void bsa_shares_running(struct bsa_tenant *t, int by)
{
	settle(t);
	t->running += (uint32_t)by;
	t->device->n_running += (uint32_t)by;
	changed(t);
}

/*
 * Do some seem to be ready, or on a lane, that may not be any more, or are on one unseen? Or is unknown whose they are: then the apps that
 * share may be fewer than they seem? The shares of all are wrong then.
 */
static bool is_haunted(const struct bsa_device *d)
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
	if (d->strangers || (bsa_device_unsure(d, 0, d->now) && (is_haunted(d) || t->lag_from < d->unseen_until)))
		return false;
	settle(t);
	return t->lag < -(bsa_parts)step_ns * BSA_PARTS;
}

void bsa_shares_doubt(struct bsa_tenant *t)
{
	t->doubtful = true;
}

/* Fewer have them than there are lanes: who can use more than all get, gets more. */
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

/* Time that counts, to @to, within one window. */
static void run(struct bsa_device *d, uint64_t to)
{
	uint64_t ns = to - d->now;

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
		settle(d->backlogged[i]);
	d->clock += ns;
	d->now = to;
	for (size_t i = 0; i < d->n_backlogged; i++) {
		struct bsa_tenant *t = d->backlogged[i];

		t->clock = d->clock;
		receive(t, t->rate * ns, held(t, ns));
	}
}

/* ---- lanes that were handed over ---- */

/* Those whose lag may go down between two looks, and those that get nothing any more. */
static void settle_holders(struct bsa_device *d)
{
	for (unsigned i = 0; i < d->lanes_room; i++)
		if (d->lanes[i].holder)
			settle(d->lanes[i].holder->tenant);
}

/* All are backlogged that have a lane, and there are as many as lanes, so they get the same. */
static void share_equally(struct bsa_device *d, uint64_t ns, size_t n)
{
	settle_holders(d);
	for (struct bsa_tenant *t = d->closing; t; t = t->closes)
		settle(t);
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
		settle(d->backlogged[i]);
	set_rates(d, d->n_running - 1);
	for (size_t i = 0; i < d->n_backlogged; i++)
		d->backlogged[i]->before = d->backlogged[i]->rate;
	set_rates(d, d->n_running);
	for (size_t i = 0; i < d->n_backlogged; i++) {
		struct bsa_tenant *t = d->backlogged[i];

		if (t->ready || t->running) /* otherwise it is gone by now */
			receive(t, (t->rate - t->before) * ns, 0);
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
	settle(t);
	receive(t, 0, ns);
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

/* False: there is no room. */
static bool hold_lag(struct bsa_device *d, const struct bsa_lag *lag)
{
	struct bsa_held_lags *h = &d->held_lags;

	if (*d->held == HELD_MOST)
		return false;
	if (h->n == h->room) {
		size_t room = h->room ? 2 * h->room : 8;
		struct bsa_lag *all = realloc(h->all, room * sizeof(*all));

		if (!all)
			return false;
		h->all = all;
		h->room = room;
	}
	h->all[h->n++] = *lag;
	++*d->held;
	return true;
}

static void tell_lag(struct bsa_device *d, const struct bsa_lag *lag)
{
	struct bsa_lag vague = *lag;

	if (!d->had_hole) {
		d->facts->lag(d->facts->ctx, lag);
		return;
	}
	if (hold_lag(d, lag))
		return;
	vague.lag = LAG_UNKNOWN;
	d->facts->lag(d->facts->ctx, &vague);
}

static void tell_held_lags(struct bsa_device *d)
{
	for (size_t i = 0; i < d->held_lags.n; i++)
		d->facts->lag(d->facts->ctx, &d->held_lags.all[i]);
	d->held_lags.n = 0;
}

static void tell_window_of(struct bsa_tenant *t)
{
	struct bsa_lag lag = { .app = t->app, .window_began = t->device->window_began };

	if (t->app && (t->window_entitled || t->window_received)) {
		lag.received = bounded(t->window_received);
		lag.entitled = rounded_up_from_half(t->window_entitled);
		lag.lag = rounded(t->window_lag);
		lag.most = rounded(t->window_most);
		if (t->device->facts->window)
			t->device->facts->window(t->device->facts->ctx, &lag);
		tell_lag(t->device, &lag);
	}
	t->looked = false;
	t->window_entitled = 0;
	t->window_received = 0;
}

/* The window is over, at now. */
static void tell_window(struct bsa_device *d)
{
	size_t n = 0;

	for (size_t i = 0; i < d->n_window; i++) {
		struct bsa_tenant *t = d->window[i];

		settle(t);
		if (d->in_loss && t->backlogged)
			look_at_lag(t);
		tell_window_of(t);
		t->in_window = t->backlogged;
		if (t->backlogged)
			d->window[n++] = t;
	}
	d->n_window = n;
}

/* Time in which nothing counts. */
static void skip(struct bsa_device *d, uint64_t to)
{
	if (to >= d->window_ended) {
		if (d->in_loss) /* so that its lags are reported as of the end of the loss */
			d->now = d->window_ended;
		tell_window(d);
		set_window(d, to);
	}
	d->now = to;
}

static void run_windows(struct bsa_device *d, uint64_t to)
{
	if (!d->n_backlogged) {
		skip(d, to);
		return;
	}
	while (to >= d->window_ended && d->window_ended != BSA_NEVER) {
		run(d, d->window_ended);
		tell_window(d);
		set_window(d, d->window_ended);
		if (to >= d->window_ended)
			*d->quiet -= (int64_t)d->n_backlogged;
	}
	if (to > d->now)
		run(d, to);
}

/* For @ns its lag was not counted: or it may have begun anew. */
static void widen(struct bsa_tenant *t, uint64_t ns)
{
	bsa_parts up = most(t) > 0 ? most(t) : 0, down = least(t) < 0 ? -least(t) : 0;

	t->over = up + worth_behind(t->device, ns);
	t->under = down + worth(t->device, ns);
	t->lag = 0;
	if (most(t) > t->most_lag)
		t->most_lag = most(t);
	look_at_lag(t);
}

/* Keep the lags from before the first hole. */
static void keep_sure_lags(struct bsa_device *d)
{
	for (size_t i = 0; i < d->table_room; i++)
		for (struct bsa_tenant *t = d->table[i]; t; t = t->chain) {
			t->sure_lag = t->max_lag;
			t->sure_lag_at = t->max_lag_at;
		}
}

static int64_t lowered(int64_t lag, int64_t by)
{
	return lag < LAG_UNKNOWN + by ? LAG_UNKNOWN : lag - by;
}

/* Lower the lags of the held windows, and the bounds of the lags that are still counted. */
static void lower_lags(struct bsa_device *d, bsa_parts by)
{
	for (size_t i = 0; i < d->held_lags.n; i++)
		d->held_lags.all[i].lag = lowered(d->held_lags.all[i].lag, rounded(by));
	for (size_t i = 0; i < d->n_window; i++)
		d->window[i]->window_lag -= by;
	for (size_t i = 0; i < d->n_backlogged; i++)
		d->backlogged[i]->under += by;
}

/* With one app more, each is entitled to no less than half of what it was. */
void bsa_shares_uncounted(struct bsa_device *d, uint64_t ns)
{
	bsa_parts by = worth(d, ns) / 2;

	if (!d->had_hole)
		return;
	lower_lags(d, by);
	for (size_t i = 0; i < d->table_room; i++)
		for (struct bsa_tenant *t = d->table[i]; t; t = t->chain) {
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
 * One of @t may have been there since @since, so that @t was backlogged all the time: then the lag that @t had when it seemed to close
 * down goes on, and did not begin anew with 0. Where @t seemed to do so several times, any of its lags may.
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
	return c;
}

void bsa_shares_may_lag(struct bsa_tenant *t, uint64_t since, uint64_t ns)
{
	struct carried carried = carried_from(t, since);
	bsa_parts by = carried.most + worth_behind(t->device, ns);

	if (by > t->most_lag)
		t->most_lag = by;
	if (!t->backlogged)
		return;
	settle(t);
	t->doubtful = true;
	t->over += by;
	t->under -= carried.least;
	look_at_lag(t);
	if (most(t) > t->most_lag)
		t->most_lag = most(t);
}

void bsa_shares_found(struct bsa_tenant *t)
{
	settle(t);
	t->over = t->under = worth(t->device, UINT64_C(1) << 62);
	look_at_lag(t);
	if (most(t) > t->most_lag)
		t->most_lag = most(t);
}

void bsa_shares_appears(struct bsa_tenant *t, uint64_t since, uint64_t handed_since)
{
	struct bsa_device *d = t->device;
	struct carried carried;
	uint64_t ns;

	since = since != BSA_NEVER && since > *d->began ? since : *d->began;
	carried = carried_from(t, since);
	ns = d->unsure->n && since < d->now ? d->now - since : 0;
	if (!ns)
		return;
	for (size_t i = 0; i < d->n_backlogged; i++) {
		struct bsa_tenant *other = d->backlogged[i];

		settle(other);
		if (other == t) {
			other->over += carried.most + worth_behind(d, ns);
			other->under -= carried.least;
		} else {
			other->over += worth_behind(d, d->now - (handed_since > since ? handed_since : since));
			other->under += worth(d, ns);
		}
		look_at_lag(other);
	}
	for (size_t i = 0; i < d->n_backlogged; i++)
		if (most(d->backlogged[i]) > d->backlogged[i]->most_lag)
			d->backlogged[i]->most_lag = most(d->backlogged[i]);
}

/* A lane may be on its way to an execution since then: that counts when the execution has it, and a hole may hide that. */
static uint64_t handing_since(const struct bsa_device *d)
{
	uint64_t ready = d->n_waiting ? bsa_waits_oldest(d) : d->now, since = d->now;

	for (unsigned i = 0; i < d->lanes_room && i < d->n_lanes; i++)
		if (d->lanes[i].since < since &&
		    bsa_lane_is_idle(d, &d->lanes[i], d->now - 1)) /* now the hole begins */
			since = d->lanes[i].since;
	return since > ready ? since : ready;
}

/* From now on it does not count. */
static void enter_loss(struct bsa_device *d)
{
	if (d->in_loss)
		return;
	d->in_loss = true;
	d->hole_began = handing_since(d);
	for (size_t i = 0; i < d->n_backlogged; i++)
		settle(d->backlogged[i]);
}

static void leave_loss(struct bsa_device *d)
{
	uint64_t ns = d->now - d->hole_began;

	if (!d->had_hole)
		keep_sure_lags(d);
	d->had_hole = true;
	d->proof_hole = d->now;
	d->proof = 0;
	d->none_waited = 0;
	d->in_loss = false;
	d->haunted = true;
	d->counts_from = d->now;
	for (size_t i = 0; i < d->n_backlogged; i++) {
		widen(d->backlogged[i], ns);
		restart_lag(d->backlogged[i]);
		d->backlogged[i]->doubtful = true;
	}
}

/* How far the lag of @t can rise in @ns: not by what it has for certain. */
static bsa_parts rises(const struct bsa_device *d, const struct bsa_tenant *t, uint64_t ns)
{
	bsa_parts by = worth_behind(d, ns);

	for (unsigned i = 0; i < d->lanes_room; i++)
		if (bsa_lane_is_held(d, &d->lanes[i], d->now) && d->lanes[i].holder->tenant == t)
			by -= (bsa_parts)ns * BSA_PARTS;
	return by > 0 ? by : 0;
}

/*
 * Since a hole it is not certain who is backlogged, nor who has a lane. What is counted until @to moves in straight lines: so bounds
 * are right at both ends, where all of it is in one window.
 */
static void haunt(struct bsa_device *d, uint64_t to)
{
	uint64_t ns = to - d->now;

	d->haunted = is_haunted(d);
	for (size_t i = 0; d->haunted && i < d->n_backlogged; i++) {
		struct bsa_tenant *t = d->backlogged[i];

		settle(t);
		t->under += worth(d, ns);
		t->lag_before = t->lag;
		t->rises = rises(d, t, ns);
		if (to >= d->window_ended)
			t->over += worth(d, ns);
	}
}

/* What was counted since haunt is so or not: its highest lag has risen by what it can at most. */
static void haunted_until_now(struct bsa_device *d)
{
	for (size_t i = 0; i < d->n_backlogged; i++) {
		struct bsa_tenant *t = d->backlogged[i];
		bsa_parts by;

		settle(t);
		by = t->rises - (t->lag - t->lag_before);
		if (by > 0)
			t->over += by;
		look_at_lag(t);
		if (most(t) > t->most_lag)
			t->most_lag = most(t);
	}
}

/* Nothing happened for so many windows, and so often, that it cannot be told of all: as if it had been lost. */
static bool too_quiet(const struct bsa_device *d, uint64_t to)
{
	uint64_t windows = (to - d->now) / d->window_ns;

	return d->n_backlogged && windows > 1 && (*d->quiet < 0 || windows > (uint64_t)*d->quiet / d->n_backlogged);
}

static void pass(struct bsa_device *d, uint64_t to)
{
	bool haunted;

	*d->quiet += *d->quiet < QUIET_MOST;
	if (d->haunted && to > d->now)
		haunt(d, to);
	haunted = d->haunted;
	if (to < d->window_ended && to > d->now) {
		run(d, to);
		if (haunted)
			haunted_until_now(d);
	} else if (too_quiet(d, to)) {
		enter_loss(d);
		skip(d, to);
		leave_loss(d);
	} else if (to > d->now) {
		run_windows(d, to);
	}
}

/* Up to @to, through the losses on the way. */
static void pass_losses(struct bsa_device *d, uint64_t to)
{
	const struct bsa_span *s;

	while ((s = bsa_losses_from(d->unsure, d->losses_over + 1)) && s->began <= to) {
		pass(d, s->began > d->now ? s->began : d->now);
		if (!d->in_loss)
			bsa_waits_doubt(d);
		enter_loss(d);
		if (s->ended > to) {
			skip(d, to);
			return;
		}
		skip(d, s->ended > d->now ? s->ended : d->now);
		leave_loss(d);
		d->losses_over = s->ended;
	}
	pass(d, to);
}

void bsa_shares_advance(struct bsa_device *d, uint64_t to)
{
	if (to > d->now && d->closing)
		close_those_without(d);
	if (!d->window_ended)
		set_window(d, to);
	if (to > d->now && !d->n_backlogged && to < d->window_ended && !d->unsure->n)
		d->now = to;
	else if (d->unsure->n)
		pass_losses(d, to);
	else
		pass(d, to);
}

void bsa_shares_report(const struct bsa_tenant *t, bool end)
{
	const struct bsa_device *d = t->device;
	bool sure_only =
		!end &&
		d->had_hole; /* a step after this report may lower the lags since the first hole, or widen their bounds */
	bsa_parts max_lag = sure_only ? t->sure_lag : t->max_lag;
	struct bsa_share share = { .app = t->app, .max_lag_at = BSA_NEVER };

	if (!t->app || (!t->entitled && !t->received && t->most_lag <= 0))
		return;
	share.received = bounded(t->received);
	share.entitled = rounded_up_from_half(t->entitled);
	share.most_lag = sure_only ? INT64_MAX : t->most_lag > 0 ? rounded(t->most_lag) : 0;
	if (max_lag > 0) {
		share.max_lag = rounded(max_lag);
		share.max_lag_at = sure_only ? t->sure_lag_at : t->max_lag_at;
	}
	d->facts->share(d->facts->ctx, &share);
}

void bsa_shares_finish(struct bsa_device *d)
{
	tell_window(d);
	tell_held_lags(d);
	for (size_t i = 0; i < d->table_room; i++)
		for (const struct bsa_tenant *t = d->table[i]; t; t = t->chain)
			bsa_shares_report(t, true);
}
