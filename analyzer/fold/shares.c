/*
 * shares.c -- what each app was entitled to, what it received, and how far behind it was.
 *
 * A lag moves in straight lines between the times at which an app is looked at: where all get the same, who has no lane
 * gets ever further behind, and who has one ever less so. So its extremes are at those times.
 */
#include "fold/shares.h"

#include "fold/waits.h"

static const struct bsa_facts *facts_of(const struct bsa_tenant *t)
{
	return t->device->facts;
}

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

/* @ns in which it was backlogged, on as many lanes, are over. */
static void receive(struct bsa_tenant *t, bsa_parts entitled, uint64_t ns)
{
	unsigned __int128 received = (unsigned __int128)ns * t->running;
	bool first = !t->window_entitled && !t->window_received;

	if (first || t->lag > t->window_lag)
		t->window_lag = t->lag;
	t->entitled += entitled;
	t->window_entitled += entitled;
	t->received += received;
	t->window_received += received;
	t->lag += entitled - (bsa_parts)received * BSA_PARTS;
	if (t->lag > t->window_lag)
		t->window_lag = t->lag;
	if (t->lag > t->max_lag) {
		t->max_lag = t->lag;
		t->max_lag_at = t->device->now;
	}
}

/* All there is to be known of it now. */
static void settle(struct bsa_tenant *t)
{
	struct bsa_device *d = t->device;
	bsa_parts entitled = d->equal - t->equal;
	uint64_t ns = d->clock - t->clock;

	if (!t->backlogged || !ns)
		return;
	t->equal = d->equal;
	t->clock = d->clock;
	receive(t, entitled, ns);
}

static void restart_lag(struct bsa_tenant *t)
{
	t->lag = 0;
	t->equal = t->device->equal;
	t->clock = t->device->clock;
}

static void open_up(struct bsa_tenant *t)
{
	struct bsa_device *d = t->device;

	t->backlogged = true;
	t->doubtful = false;
	restart_lag(t);
	t->place = (uint32_t)d->n_backlogged;
	d->backlogged[d->n_backlogged++] = t;
	if (!t->in_window)
		d->window[d->n_window++] = t;
	t->in_window = true;
	d->dirty = true;
}

static void close_down(struct bsa_tenant *t)
{
	struct bsa_device *d = t->device;
	struct bsa_tenant *last = d->backlogged[--d->n_backlogged];

	settle(t);
	d->backlogged[t->place] = last;
	last->place = t->place;
	t->backlogged = false;
	d->dirty = true;
}

/* Who has nothing left, with all of this time counted. */
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
	changed(t);
}

void bsa_shares_lanes(struct bsa_device *d, unsigned lanes)
{
	d->n_lanes = lanes;
	d->dirty = true;
}

/* Do some seem to be ready, or on a lane, that may not be any more? The shares of all are wrong then. */
static bool is_haunted(const struct bsa_device *d)
{
	if (d->in_loss || d->doubtful)
		return true;
	for (unsigned i = 0; i < d->lanes_room && d->losses->n; i++)
		if (d->lanes[i].holder && !bsa_lane_is_held(d, &d->lanes[i], d->now))
			return true;
	return false;
}

bool bsa_shares_hogs(struct bsa_tenant *t, uint64_t step_ns)
{
	if (!t->backlogged || t->doubtful || is_haunted(t->device))
		return false;
	settle(t);
	return t->lag < -(bsa_parts)step_ns * BSA_PARTS;
}

void bsa_shares_doubt(struct bsa_tenant *t)
{
	t->doubtful = true;
}

/* There are fewer of them than lanes: who can use more than all get, gets more. */
static void set_rates(struct bsa_device *d)
{
	size_t left = d->n_backlogged;
	bsa_parts lanes = (bsa_parts)d->n_lanes * BSA_PARTS, share;
	bool again = true;

	d->dirty = false;
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

	if (d->n_backlogged >= d->n_lanes) {
		if (d->n_backlogged)
			d->equal += (bsa_parts)((uint64_t)d->n_lanes * BSA_PARTS / d->n_backlogged) * ns;
		d->clock += ns;
		d->now = to;
		return;
	}
	if (d->dirty)
		set_rates(d);
	for (size_t i = 0; i < d->n_backlogged; i++)
		settle(d->backlogged[i]);
	d->clock += ns;
	d->now = to;
	for (size_t i = 0; i < d->n_backlogged; i++) {
		d->backlogged[i]->clock = d->clock;
		receive(d->backlogged[i], d->backlogged[i]->rate * ns, ns);
	}
}

static void set_window(struct bsa_device *d, uint64_t at)
{
	d->window_began = at - at % d->window_ns;
	d->window_ended = d->window_began + d->window_ns;
	if (d->window_ended < d->window_began)
		d->window_ended = BSA_NEVER;
}

static void tell_window_of(struct bsa_tenant *t)
{
	struct bsa_lag lag = { .app = t->app, .window_began = t->device->window_began };

	if (t->app && (t->window_entitled || t->window_received)) {
		lag.received = bounded(t->window_received);
		lag.entitled = rounded_up_from_half(t->window_entitled);
		lag.lag = rounded(t->window_lag);
		facts_of(t)->lag(facts_of(t)->ctx, &lag);
	}
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

/* From now on it does not count. */
static void enter_loss(struct bsa_device *d)
{
	if (d->in_loss)
		return;
	d->in_loss = true;
	for (size_t i = 0; i < d->n_backlogged; i++)
		settle(d->backlogged[i]);
}

static void leave_loss(struct bsa_device *d)
{
	d->in_loss = false;
	for (size_t i = 0; i < d->n_backlogged; i++) {
		restart_lag(d->backlogged[i]);
		d->backlogged[i]->doubtful = true;
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
	if (to < d->window_ended && to > d->now) {
		run(d, to);
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

void bsa_shares_finish(struct bsa_device *d)
{
	tell_window(d);
	for (size_t i = 0; i < d->table_room; i++) {
		for (const struct bsa_tenant *t = d->table[i]; t; t = t->chain) {
			struct bsa_share share = { .app = t->app, .max_lag_at = BSA_NEVER };

			if (!t->app || (!t->entitled && !t->received))
				continue;
			share.received = bounded(t->received);
			share.entitled = rounded_up_from_half(t->entitled);
			if (t->max_lag > 0) {
				share.max_lag = rounded(t->max_lag);
				share.max_lag_at = t->max_lag_at;
			}
			d->facts->share(d->facts->ctx, &share);
		}
	}
}
