/*
 * test_schedule_oracle.c -- random schedules; an oracle computes every figure a second time, ns by ns.
 *
 * First a world is made: which execution was ready, and which had which lane, at each ns. The schedule gets
 * the world's steps; the oracle looks at the world. At first losses are announced without a lost step, so all
 * figures that they touch must be unknown; then steps are really left out, and every reported fact must be
 * true.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "fold/schedule.h"
#include "unit/schedule_facts.h"
#include "unit/schedule_world.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef SEEDS
#define SEEDS 2500
#endif

enum { PARTS = 720720 };

/* ---- the facts to compare ---- */

/* Without losses the time when the queue was empty, and the app of its jobs, are certain, too. */
static void line_refused_and_queue(void *ctx, const struct bsa_refused *r)
{
	line_refused(ctx, r);
	lines_add(ctx,
	          "queue before %" PRIu64 ": gone %" PRId64 ", %s, longest %" PRIu64 " of app %u, own work %" PRId64
	          ", of others %" PRId64,
	          r->execution, (int64_t)r->queue_free,
	          r->queue_cause == BSA_QUEUED_BEHIND ? "of its own app" : "of others, too", r->queue, r->queue_app,
	          (int64_t)r->own_ns, (int64_t)r->others_ns);
}

/* With losses lags are bounds; test_fold_schedules compares those with the truth. */
static void line_share_without_lag(void *ctx, const struct bsa_share *share)
{
	struct bsa_share without = *share;

	if (!share->received && !share->entitled) /* the app may have been behind, but no event of it was recorded */
		return;
	without.max_lag = 0;
	without.max_lag_at = BSA_NEVER;
	line_share(ctx, &without);
}

static void line_lag_without_lag(void *ctx, const struct bsa_lag *lag)
{
	struct bsa_lag without = *lag;

	without.lag = 0;
	line_lag(ctx, &without);
}

static void line_lags_without_lag(void *ctx, const struct bsa_lag *lag)
{
	lag_windows_each(&((struct lines *)ctx)->windows, lag, line_lag_without_lag, ctx);
}

struct oracle {
	const struct world *w;
	struct lines *want;
	int64_t interfered[APPS + 1][APPS + 1];
	bool doubtful_at[APPS + 1][TIME + 1];
	bool waiting[EXECUTIONS]; /* now */
	struct {
		int x, since, ended, given;
	} waited[EXECUTIONS * STRETCHES]; /* waits that are over; given: -1: no lane, -2: unknown */
	int n_waited;
	int order[EXECUTIONS], n_waits; /* order: by the beginning of the wait */
	int since[EXECUTIONS], bypassed[EXECUTIONS], bypassed_before[EXECUTIONS];
	int wait_ns[EXECUTIONS];
	bool unsure[EXECUTIONS], idle[EXECUTIONS], hogs[EXECUTIONS][STRETCHES];
	int64_t lag_on[EXECUTIONS][STRETCHES];  /* the app's lag, in parts, when the execution was put on a lane */
	int lag_from[EXECUTIONS][STRETCHES];    /* the time from which that lag counts */
	int unseen_until;                       /* until then an execution without a recorded step may have had
	                                         * a lane */
	int free_lane[LANES];                   /* for each lane, since when it is free; for refused executions */
	bool unknown_lane[LANES];               /* an unseen execution may have the lane */
	struct bsa_refused refused[EXECUTIONS]; /* refused executions that have not seen the end of the queue */
	int n_refused;
};

static int horizon; /* the schedule's horizon: all of the world, a part of it, or 0 */

/* A lost summary could have had times this long before the loss. */
static int before_loss;

/* May an unseen execution have been there? */
static bool unsure(const struct world *w, int began, int ended)
{
	for (int i = 0; i < w->n_losses; i++)
		if (w->losses[i].began - before_loss <= ended && w->losses[i].ended >= began)
			return true;
	return false;
}

static bool lost_ns(const struct world *w, int t)
{
	for (int i = 0; i < w->n_losses; i++)
		if (w->losses[i].began - before_loss <= t && t < w->losses[i].ended)
			return true;
	return false;
}

/* May @x, which ended at @at, have left its lane before? */
static bool slipped_away(const struct world *w, int x, int at)
{
	const struct times *s = world_stretch(w, x, at - 1);

	return w->x[x].over == at && !w->x[x].counted && world_lost(w, s->began, at);
}

/*
 * The stretch on @lane in the ns from @t on, as known at @now: a stretch, or NULL; *@known: whether that is
 * certain.
 */
static const struct times *seen(const struct world *w, int lane, int t, int now, bool *known)
{
	int began = t, ended = t + 1, x = w->holder[lane][t];
	const struct times *s;

	*known = true;
	if (x >= 0) {
		s = world_stretch(w, x, t);
		ended = s->ended < 0 || s->ended > now ? now : s->ended;
		*known = w->x[x].counted || !world_lost(w, s->began, ended);
		return *known ? s : NULL;
	}
	while (began > 0 && w->holder[lane][began - 1] < 0)
		began--;
	while (ended < now && w->holder[lane][ended] < 0)
		ended++;
	*known = (began > 0 ? !slipped_away(w, w->holder[lane][began - 1], began) : w->told_idle) &&
	         !unsure(w, began, ended);
	return NULL;
}

static uint64_t number(int x)
{
	return (uint64_t)x + 1;
}

static uint8_t cause(const struct oracle *o, int x, const struct times *s, int holder)
{
	const struct execution *e = &o->w->x[x], *h = &o->w->x[holder];

	if (h->app != e->app)
		return o->hogs[holder][s - h->on] ? BSA_HOGGED : BSA_CROWDED_OUT;
	return h->priority < e->priority ? BSA_INVERSION : BSA_QUEUED_BEHIND;
}

/* The parts of one wait, on one lane. */
static void expect_parts(struct oracle *o, int x, int began, int ended, int lane, bool preempted, int64_t *by_app)
{
	const struct world *w = o->w;

	for (int t = began; t < ended;) {
		struct bsa_wait part = {
			.execution = number(x), .began = (uint64_t)t, .lane = (uint8_t)lane, .kind = preempted
		};
		bool known, k;
		const struct times *s = seen(w, lane, t, ended, &known);
		int holder = s ? w->holder[lane][t] : -1;

		while (t < ended && seen(w, lane, t, ended, &k) == s && k == known)
			t++;
		part.ended = (uint64_t)t;
		part.occupancy = s ? BSA_HELD : known ? BSA_IDLE : BSA_UNKNOWN;
		part.cause = !known      ? BSA_CAUSE_UNKNOWN
		             : !s        ? BSA_HANDOVER
		             : preempted ? BSA_CAUSE_PREEMPTED
		                         : cause(o, x, s, holder);
		if (s) {
			part.blocker = number(holder);
			part.blocker_app = (uint32_t)w->x[holder].app;
			by_app[w->x[holder].app] += (int64_t)(part.ended - part.began);
			o->interfered[w->x[holder].app][w->x[x].app] += (int64_t)(part.ended - part.began);
		}
		line_wait(o->want, &part);
	}
}

static bool all_idle(const struct oracle *o, int began, int ended, int lane)
{
	for (int t = began; t < ended; t++) {
		bool known;

		if (seen(o->w, lane, t, ended, &known) || !known)
			return false;
	}
	return true;
}

/* Since when @lane, which @x enters at @ended, has had no known holder. */
static int free_since(const struct oracle *o, int began, int ended, int lane)
{
	bool known;
	int t = ended;

	while (t > began && !(seen(o->w, lane, t - 1, ended, &known) && known))
		t--;
	return t;
}

/* @lane below 0: the wait did not end on a lane. */
static void expect_inversions(struct oracle *o, int x, int began, int at, int lane)
{
	const struct world *w = o->w;
	int ended = lane < 0 ? at : free_since(o, began, at, lane);

	for (int y = 0; y < EXECUTIONS; y++)
		for (int i = 0; i < w->x[y].n_on; i++) {
			const struct times *s = &w->x[y].on[i];
			int from = s->began > began ? s->began : began,
			    to = s->ended < 0 || s->ended > ended ? ended : s->ended;
			struct bsa_inverted in = { .victim = number(x),
				                   .holder = number(y),
				                   .began = (uint64_t)from,
				                   .dur = (uint64_t)(to - from),
				                   .lane = (uint8_t)s->lane };
			bool known = false;

			if (w->x[y].app != w->x[x].app || w->x[y].priority >= w->x[x].priority || to <= from ||
			    to - from <= w->x[y].step_ns)
				continue;
			seen(w, s->lane, from, at, &known);
			if (known)
				line_inverted(o->want, &in);
		}
}

static void expect_starved(struct oracle *o, int x, int began, int ended, const int64_t *by_app)
{
	struct bsa_starved s = { .execution = number(x),
		                 .app = (uint32_t)o->w->x[x].app,
		                 .began = (uint64_t)began,
		                 .model = 9,
		                 .gap = (uint64_t)(ended - began),
		                 .bypassed = (uint32_t)o->bypassed[x] };

	for (uint32_t a = 1; a <= APPS; a++)
		if ((uint64_t)by_app[a] > s.top_culprit_ns) {
			s.top_culprit_ns = (uint64_t)by_app[a];
			s.top_culprit_app = a;
		}
	line_starved(o->want, &s);
}

/* The wait of @x ends at @at; it got @lane, or none. */
static void expect_wait(struct oracle *o, int x, int at, int lane)
{
	const struct execution *e = &o->w->x[x];
	int began = o->since[x];
	int64_t by_app[APPS + 1] = { 0 };
	bool preempted = began != e->ready, idle;

	for (int i = 0; i < e->n_on; i++)
		preempted |= e->on[i].ended >= 0 && e->on[i].ended <= began;
	if (preempted && !e->counted && world_lost(o->w, began, at)) {
		o->unsure[x] = true;
		return;
	}
	o->wait_ns[x] += at - began;
	idle = !preempted && lane >= 0 && all_idle(o, began, at, lane);
	o->idle[x] |= idle;
	if (!idle)
		expect_parts(o, x, began, at, lane < 0 ? 0 : lane, preempted, by_app);
	expect_inversions(o, x, began, at, lane);
	if (at - began > STARVATION)
		expect_starved(o, x, began, at, by_app);
}

/* A loss since then may hide the end of its wait. */
static bool may_be_gone(const struct oracle *o, int x, int now)
{
	const struct world *w = o->w;

	for (int i = 0; i < w->n_losses; i++)
		if (w->losses[i].began - before_loss <= now && w->losses[i].ended >= o->since[x] && !w->x[x].counted)
			return true;
	return false;
}

/* Is it certain that no execution has had @lane since free_lane? */
static bool is_free(const struct oracle *o, int lane, int at)
{
	return o->free_lane[lane] >= 0 && !o->unknown_lane[lane] && !unsure(o->w, o->free_lane[lane], at);
}

static bool is_rival(const struct oracle *o, int y, int x)
{
	const struct execution *all = o->w->x;

	return all[y].app == all[x].app && all[y].priority != all[x].priority;
}

/* Is it certain that @y waited at @given and still waits at @at, with another priority of the same app? */
static bool could_have_been(const struct oracle *o, int y, int x, int given, int at)
{
	return o->waiting[y] && o->since[y] <= given && is_rival(o, y, x) && !may_be_gone(o, y, at);
}

/*
 * The rivals of @x with that priority that became ready at @since and wait no more, but waited at @given, when no lane
 * was on its way to them yet. Returns how many.
 */
static int add_waited(const struct oracle *o, int priority, int since, int x, int given, int *ret)
{
	int n = 0;

	for (int i = o->n_waited; i-- > 0;)
		if (o->waited[i].since == since && o->w->x[o->waited[i].x].priority == priority &&
		    given < o->waited[i].ended && (o->waited[i].given == -1 || o->waited[i].given > given) &&
		    is_rival(o, o->waited[i].x, x))
			ret[n++] = o->waited[i].x;
	return n;
}

/*
 * The executions that the policy could have chosen, the best first. Of those that became ready at one time, the ones
 * that wait no more are first, and the others are in the order of their steps.
 */
static int candidates(const struct oracle *o, int x, int given, int at, int *ret)
{
	const struct execution *all = o->w->x;
	int n = 0;

	for (int priority = 2; priority >= 0; priority--)
		for (int i = 0; i < o->w->n_steps && o->w->steps[i].at <= given; i++) {
			const struct one_step *s = &o->w->steps[i];

			if (!i || s[-1].at != s->at)
				n += add_waited(o, priority, s->at, x, given, ret + n);
			if ((s->step == BSA_STEP_READY || s->step == BSA_STEP_STOP) && o->since[s->x] == s->at &&
			    all[s->x].priority == priority && could_have_been(o, s->x, x, given, at))
				ret[n++] = s->x;
		}
	return n;
}

/* Since when the lane was on its way to @x, which waits; -2: unknown. */
static int given_at(const struct oracle *o, int x, int at, int lane)
{
	if (!is_free(o, lane, at))
		return -2;
	return o->free_lane[lane] > o->since[x] ? o->free_lane[lane] : o->since[x];
}

/* The wait of @x is over; @given as in struct oracle. */
static void note_waited(struct oracle *o, int x, int at, int given)
{
	if (may_be_gone(o, x, at))
		return;
	assert_in_range(o->n_waited, 0, EXECUTIONS * STRETCHES - 1);
	o->waited[o->n_waited].x = x;
	o->waited[o->n_waited].since = o->since[x];
	o->waited[o->n_waited].ended = at;
	o->waited[o->n_waited++].given = given;
}

static void expect_choice(struct oracle *o, int x, int at, int lane)
{
	const struct execution *all = o->w->x;
	struct bsa_chosen c = { .chosen = number(x) };
	int given = given_at(o, x, at, lane), n, others = 0, best[EXECUTIONS * (STRETCHES + 2)];

	if (given < 0)
		return;
	for (int l = 0; l < (int)o->w->lanes; l++)
		others += l != lane && is_free(o, l, at) && o->free_lane[l] <= given;
	n = candidates(o, x, given, at, best);
	if (n <= others)
		return;
	c.at = (uint64_t)given;
	c.passed_over = number(best[others]);
	c.honoured = all[best[others]].priority < all[x].priority;
	line_chosen(o->want, &c);
}

static void count_bypassed(struct oracle *o, int x, int at)
{
	const struct execution *all = o->w->x;

	for (int y = 0; y < EXECUTIONS; y++)
		if (o->waiting[y] && o->since[y] < o->since[x] && !may_be_gone(o, y, at) &&
		    (all[y].app != all[x].app || all[x].priority <= all[y].priority))
			o->bypassed[y]++;
}

/* Is an execution on record as waiting, or as having a lane, although that is not certain? */
static bool has_ghosts(const struct oracle *o, int x, int at)
{
	const struct world *w = o->w;

	for (int y = 0; y < EXECUTIONS; y++) {
		if (y != x && o->waiting[y] && may_be_gone(o, y, at))
			return true;
		for (const struct times *s = w->x[y].on; s < w->x[y].on + w->x[y].n_on; s++)
			if (s->began <= at && (s->ended < 0 || s->ended > at) && y != x && !o->waiting[y] &&
			    !w->x[y].counted && world_lost(w, s->began, at))
				return true;
	}
	return false;
}

static void take_enter(struct oracle *o, const struct one_step *s)
{
	const struct execution *e = &o->w->x[s->x];
	int i = 0;
	bool strange = false;

	for (int l = 0; l < (int)o->w->lanes; l++)
		strange |= o->free_lane[l] >= 0 && !is_free(o, l, s->at);
	if (!is_free(o, s->lane, s->at))
		o->unseen_until = s->at;
	if (o->waiting[s->x]) {
		expect_choice(o, s->x, s->at, s->lane);
		note_waited(o, s->x, s->at, given_at(o, s->x, s->at, s->lane));
	}
	if (s->step == BSA_STEP_DISPATCH)
		count_bypassed(o, s->x, s->at);
	o->waiting[s->x] = false;
	expect_wait(o, s->x, s->at, s->lane);
	o->bypassed_before[s->x] += o->bypassed[s->x];
	o->since[s->x] = -1;
	while (e->on[i].began != s->at)
		i++;
	strange |= lost_ns(o->w, s->at) || has_ghosts(o, s->x, s->at) || o->lag_from[s->x][i] < o->unseen_until;
	o->hogs[s->x][i] = !(strange && unsure(o->w, 0, s->at)) && !o->doubtful_at[e->app][s->at] &&
	                   o->lag_on[s->x][i] < -(int64_t)e->step_ns * PARTS;
	o->free_lane[s->lane] = -1;
	o->unknown_lane[s->lane] = false;
}

/*
 * Did @x, which waits, come before @y, which waits too? At the same time, the one of lower priority is first.
 */
static bool waits_longer(const struct oracle *o, int x, int y)
{
	if (o->since[x] != o->since[y])
		return o->since[x] < o->since[y];
	if (o->w->x[x].priority != o->w->x[y].priority)
		return o->w->x[x].priority < o->w->x[y].priority;
	return o->order[x] < o->order[y];
}

/*
 * The execution that waits longest when @own is refused: of the only other app that waits, or else of its own
 * app.
 */
static void expect_queue(const struct oracle *o, int own, struct bsa_refused *r)
{
	int app = o->w->x[own].app, longest = -1;

	r->queue_cause = BSA_QUEUED_BEHIND;
	for (int x = 0; x < EXECUTIONS; x++) {
		uint64_t *ns = o->w->x[x].app == app ? &r->own_ns : &r->others_ns;

		/* What remains of an execution that has had a lane is unknown, unless it begins anew. */
		if (o->waiting[x] && (world_estimate(x) == BSA_NEVER ||
		                      (o->since[x] != o->w->x[x].ready && !world_restarts(x, o->since[x]))))
			*ns = BSA_NEVER;
		else if (o->waiting[x] && *ns != BSA_NEVER)
			*ns += world_estimate(x);
	}
	for (int x = 0; x < EXECUTIONS; x++) {
		if (!o->waiting[x] || o->w->x[x].app == o->w->x[own].app)
			continue;
		if (r->queue_cause == BSA_CROWDED_OUT && o->w->x[x].app != app)
			return;
		r->queue_cause = BSA_CROWDED_OUT;
		app = o->w->x[x].app;
	}
	for (int x = 0; x < EXECUTIONS; x++)
		if (o->waiting[x] && o->w->x[x].app == app && (longest < 0 || waits_longer(o, x, longest)))
			longest = x;
	if (longest < 0)
		return;
	r->queue = number(longest);
	r->queue_app = (uint32_t)app;
}

/* Is it known at @until that @lane was never free from the step at @at, which is being taken, until then? */
static bool has_been_held(const struct oracle *o, int lane, int at, int until)
{
	bool known;

	if (o->free_lane[lane] >= 0 || o->unknown_lane[lane])
		return false;
	for (int t = at; t < until; t++)
		if (!seen(o->w, lane, t, until, &known))
			return false;
	return true;
}

static void take_refused(struct oracle *o, const struct one_step *s)
{
	const struct world *w = o->w;
	struct bsa_refused r = { .execution = number(s->x),
		                 .at = (uint64_t)s->at,
		                 .lane_free = BSA_NEVER,
		                 .holder_cause = BSA_CAUSE_UNKNOWN };
	int holder = s->at ? w->holder[0][s->at - 1] : -1;

	for (int x = 0; x < EXECUTIONS; x++)
		for (int i = 0; i < w->x[x].n_on; i++)
			if (w->x[x].on[i].ended > s->at && (uint64_t)w->x[x].on[i].ended < r.lane_free)
				r.lane_free = (uint64_t)w->x[x].on[i].ended;
	for (unsigned l = 0; l < w->lanes; l++)
		if (r.lane_free != BSA_NEVER && !has_been_held(o, (int)l, s->at, (int)r.lane_free))
			r.lane_free = BSA_NEVER;
	for (unsigned l = 0; l < w->lanes; l++)
		if (o->free_lane[l] >= 0 && !o->unknown_lane[l] && !unsure(w, o->free_lane[l], s->at))
			r.lane_free = (uint64_t)s->at;
	if (o->free_lane[0] < 0) {
		const struct times *on = world_stretch(w, holder, s->at - 1);

		if (w->x[holder].counted || !world_lost(w, on->began, s->at)) {
			r.holder = number(holder);
			r.holder_app = (uint32_t)w->x[holder].app;
			r.holder_cause = cause(o, s->x, on, holder);
		}
	}
	r.queue_free = BSA_NEVER;
	expect_queue(o, s->x, &r);
	o->refused[o->n_refused++] = r;
}

/*
 * The first time at which a lane was idle and no execution waited; only where each lane's holder is known
 * since the refusal.
 */
static void tell_refused(struct oracle *o, uint64_t queue_free)
{
	for (int l = 0; queue_free != BSA_NEVER && l < (int)o->w->lanes; l++)
		if (o->free_lane[l] >= 0 && !is_free(o, l, (int)queue_free))
			queue_free = BSA_NEVER;
	for (int i = 0; i < o->n_refused; i++) {
		o->refused[i].queue_free = (int)o->refused[i].at < o->unseen_until ? BSA_NEVER : queue_free;
		(o->w->n_losses ? line_refused : line_refused_and_queue)(o->want, &o->refused[i]);
	}
	o->n_refused = 0;
}

/* All steps of @at are taken: does no execution wait, and is a lane idle? */
static void end_instant(struct oracle *o, int at)
{
	bool idle = false;

	for (int x = 0; x < EXECUTIONS; x++)
		if (o->waiting[x])
			return;
	for (int l = 0; l < (int)o->w->lanes; l++)
		idle |= is_free(o, l, at);
	if (idle)
		tell_refused(o, (uint64_t)at);
}

static void begin_wait(struct oracle *o, int x, int at)
{
	o->waiting[x] = true;
	o->order[x] = o->n_waits++;
	o->since[x] = at;
	o->bypassed[x] = 0;
}

static void leave_lane(struct oracle *o, const struct one_step *s)
{
	const struct times *on = world_stretch(o->w, s->x, s->at - 1);

	if (!o->w->x[s->x].counted && world_lost(o->w, on->began, s->at))
		o->unseen_until = s->at;
	o->free_lane[s->lane] = s->at;
}

static void oracle_take(struct oracle *o, const struct one_step *s)
{
	switch (s->step) {
	case BSA_STEP_STOP:
		leave_lane(o, s);
		begin_wait(o, s->x, s->at);
		break;
	case BSA_STEP_READY:
		begin_wait(o, s->x, s->at);
		break;
	case BSA_STEP_END:
		if (!o->waiting[s->x]) {
			leave_lane(o, s);
			o->unknown_lane[s->lane] = slipped_away(o->w, s->x, s->at);
			break;
		}
		note_waited(o, s->x, s->at, -1);
		o->waiting[s->x] = false;
		expect_wait(o, s->x, s->at, -1);
		o->bypassed_before[s->x] += o->bypassed[s->x];
		break;
	case BSA_STEP_REFUSED:
		take_refused(o, s);
		break;
	default:
		take_enter(o, s);
	}
}

/* ---- shares ---- */

struct share {
	int64_t received, entitled, max_lag;
	int max_at;
	int64_t window_received, window_entitled, window_lag;
	bool in_window, doubtful;
	int64_t lag;
	int lag_from;
};

/* Count each app's executions that could use a lane in the ns from @t on, and those that do. */
static void count_apps(const struct world *w, int t, int *could, int *did)
{
	memset(could, 0, (APPS + 1) * sizeof(int));
	memset(did, 0, (APPS + 1) * sizeof(int));
	for (int x = 0; x < EXECUTIONS; x++)
		could[w->x[x].app] += w->waits[x][t];
	for (unsigned l = 0; l < w->lanes; l++)
		if (w->holder[l][t] >= 0) {
			could[w->x[w->holder[l][t]].app]++;
			did[w->x[w->holder[l][t]].app]++;
		}
}

/* The app that can use least is served first, out of the lane time of @lanes. */
static void entitle(int lanes, const int *could, int64_t *ret)
{
	bool served[APPS + 1] = { false };
	int64_t left = (int64_t)lanes * PARTS;
	int n = 0;

	for (int a = 1; a <= APPS; a++) {
		n += could[a] > 0;
		ret[a] = 0;
	}
	for (; n; n--) {
		int least = 0;

		for (int a = 1; a <= APPS; a++)
			if (could[a] && !served[a] && (!least || could[a] < could[least]))
				least = a;
		served[least] = true;
		ret[least] = (int64_t)could[least] * PARTS < left / n ? (int64_t)could[least] * PARTS : left / n;
		left -= ret[least];
	}
}

static void look(struct share *s, int at)
{
	if (!s->in_window || s->lag > s->window_lag)
		s->window_lag = s->lag;
	s->in_window = true;
	if (s->lag > s->max_lag) {
		s->max_lag = s->lag;
		s->max_at = at;
	}
}

static int64_t nearest(int64_t parts)
{
	return parts < 0 ? -((-parts + PARTS / 2) / PARTS) : (parts + PARTS / 2) / PARTS;
}

static void tell_windows(struct oracle *o, struct share *all, int began)
{
	for (uint32_t a = 1; a <= APPS; a++) {
		struct share *s = &all[a];
		struct bsa_lag lag = { .app = a,
			               .window_began = (uint64_t)began,
			               .received = (uint64_t)s->window_received,
			               .entitled = (uint64_t)nearest(s->window_entitled),
			               .lag = nearest(s->window_lag) };

		if (s->window_received || s->window_entitled)
			(o->w->n_losses ? line_lag_without_lag : line_lag)(o->want, &lag);
		s->in_window = false;
		s->window_received = s->window_entitled = s->window_lag = 0;
	}
}

static void one_ns(const struct world *w, struct share *all, int t)
{
	int could[APPS + 1], did[APPS + 1], lanes = 0;
	int64_t entitled[APPS + 1];

	count_apps(w, t, could, did);
	for (int a = 1; a <= APPS; a++)
		lanes += did[a];
	entitle(lanes, could, entitled);
	for (int a = 1; a <= APPS; a++) {
		struct share *s = &all[a];

		if (!could[a]) {
			s->lag = 0;
			s->lag_from = t + 1;
			s->doubtful = false;
			continue;
		}
		if (lost_ns(w, t))
			continue;
		look(s, t);
		s->received += did[a];
		s->window_received += did[a];
		s->entitled += entitled[a];
		s->window_entitled += entitled[a];
		s->lag += entitled[a] - (int64_t)did[a] * PARTS;
		look(s, t + 1);
	}
}

/* How long before @s it is certain that no execution had the lane and that the step's execution was ready. */
static int handed_over(const struct world *w, const struct one_step *s)
{
	int free = s->at, ready = s->at;
	bool known;

	for (int i = 0; i < w->n_steps; i++)
		if (w->steps[i].x == s->x && w->steps[i].at <= s->at &&
		    (w->steps[i].step == BSA_STEP_READY || w->steps[i].step == BSA_STEP_STOP))
			ready = w->steps[i].at;
	while (free > 0 && w->holder[s->lane][free - 1] < 0)
		free--;
	if (free == s->at || seen(w, s->lane, free, s->at, &known) || !known)
		return 0;
	return s->at - (free > ready ? free : ready);
}

/*
 * Executions were put on lanes at @t, one after the other: the lane time before that is received, and
 * divided, at this time.
 */
static void hand_over(struct oracle *o, struct share *all, int t)
{
	const struct world *w = o->w;
	int could[APPS + 1], did[APPS + 1], lanes = 0;
	int64_t more[APPS + 1], less[APPS + 1];

	for (unsigned l = 0; t && l < w->lanes; l++)
		lanes += w->holder[l][t] >= 0 && w->holder[l][t] == w->holder[l][t - 1] &&
		         world_stretch(w, w->holder[l][t], t)->began < t;
	count_apps(w, t, could, did);
	for (int i = 0; i < w->n_steps; i++) {
		const struct one_step *s = &w->steps[i];
		int ns, nth = 0;

		if (s->at != t || (s->step != BSA_STEP_DISPATCH && s->step != BSA_STEP_RESUME))
			continue;
		while (w->x[s->x].on[nth].began != t)
			nth++;
		o->lag_on[s->x][nth] = all[w->x[s->x].app].lag;
		o->lag_from[s->x][nth] = all[w->x[s->x].app].lag_from;
		entitle(lanes, could, less);
		entitle(++lanes, could, more);
		ns = lost_ns(w, t) ? 0 : handed_over(w, s);
		for (int a = 1; a <= APPS && ns; a++) {
			int64_t had = a == w->x[s->x].app ? ns : 0, entitled = (more[a] - less[a]) * ns;

			if (!could[a])
				continue;
			look(&all[a], t);
			all[a].received += had;
			all[a].window_received += had;
			all[a].entitled += entitled;
			all[a].window_entitled += entitled;
			all[a].lag += entitled - had * PARTS;
			look(&all[a], t);
		}
	}
}

/* The end of a loss: how far backlogged apps are behind is unknown. */
static void restart(const struct world *w, struct share *all, int t)
{
	int could[APPS + 1], did[APPS + 1];

	for (int i = 0; i < w->n_losses; i++) {
		if (w->losses[i].ended != t || !t || lost_ns(w, t))
			continue;
		count_apps(w, t - 1, could, did);
		for (int a = 1; a <= APPS; a++) {
			all[a].lag = 0;
			all[a].lag_from = t;
			all[a].doubtful = could[a];
		}
	}
}

static void expect_shares(struct oracle *o, int end)
{
	struct share all[APPS + 1] = { 0 };

	for (int t = 0; t <= end; t++) {
		if (t && t % WINDOW == 0)
			tell_windows(o, all, t - WINDOW);
		restart(o->w, all, t);
		for (int a = 1; a <= APPS; a++)
			o->doubtful_at[a][t] = all[a].doubtful;
		hand_over(o, all, t);
		if (t < end)
			one_ns(o->w, all, t);
	}
	tell_windows(o, all, end - end % WINDOW);
	for (uint32_t a = 1; a <= APPS; a++) {
		struct bsa_share share = { .app = a,
			                   .received = (uint64_t)all[a].received,
			                   .entitled = (uint64_t)nearest(all[a].entitled),
			                   .max_lag = nearest(all[a].max_lag),
			                   .max_lag_at = all[a].max_lag ? (uint64_t)all[a].max_at : BSA_NEVER };

		if (all[a].entitled || all[a].received)
			(o->w->n_losses ? line_share_without_lag : line_share)(o->want, &share);
	}
}

/* ---- the whole world ---- */

static void line_over(struct lines *l, int x, int lane, bool idle, bool uncertain, uint64_t ran, uint64_t waited,
                      uint32_t bypassed)
{
	lines_add(l, "over %d: lane %d%s%s, ran %" PRIu64 ", waited %" PRIu64 ", bypassed %u", x + 1, lane,
	          idle ? ", idle" : "", uncertain ? ", uncertain" : "", ran, waited, bypassed);
}

/* The wait that was not reported while it lasted, because the execution shows it. */
static void expect_idle_part(struct oracle *o, int x)
{
	const struct execution *e = &o->w->x[x];
	struct bsa_wait part = { .execution = number(x),
		                 .began = (uint64_t)e->ready,
		                 .ended = (uint64_t)e->on[0].began,
		                 .lane = (uint8_t)e->on[0].lane,
		                 .occupancy = BSA_IDLE,
		                 .cause = BSA_HANDOVER };

	if (part.began < part.ended)
		line_wait(o->want, &part);
}

static void expect_over(struct oracle *o, int x, int end)
{
	const struct execution *e = &o->w->x[x];
	uint64_t ran = 0;
	int lane = e->over >= 0 && e->n_on == 1 && !e->died ? e->on[0].lane : -1;

	for (int i = 0; i < e->n_on; i++) {
		const struct times *s = &e->on[i];
		bool known = s->ended >= 0 && (e->counted || !world_lost(o->w, s->began, s->ended));

		o->unsure[x] |= !known;
		lane = known ? lane : -1;
		ran += known ? (uint64_t)(s->ended - s->began) : 0;
	}
	lane = o->unsure[x] ? -1 : lane;
	for (int i = 0; i < e->n_on && lane < 0; i++) {
		const struct times *s = &e->on[i];
		struct bsa_slice slice = { .execution = number(x),
			                   .began = (uint64_t)s->began,
			                   .ended = (uint64_t)s->ended,
			                   .instance = 1,
			                   .lane = (uint8_t)s->lane };

		if (s->ended >= 0 && (e->counted || !world_lost(o->w, s->began, s->ended)))
			line_slice(o->want, &slice);
	}
	if (o->idle[x] && lane < 0)
		expect_idle_part(o, x);
	if (e->over < 0 && e->ready >= 0 && !e->refused)
		o->unsure[x] = true;
	if (o->waiting[x])
		o->bypassed_before[x] += o->bypassed[x];
	line_over(o->want, x, lane, o->idle[x] && lane >= 0, o->unsure[x], ran, (uint64_t)o->wait_ns[x],
	          (uint32_t)o->bypassed_before[x]);
	(void)end;
}

static void expect_all(const struct world *w, struct lines *want, int end)
{
	struct oracle *o = calloc(1, sizeof(*o));

	assert_non_null(o);
	o->w = w;
	o->want = want;
	for (unsigned l = 0; l < w->lanes; l++)
		o->unknown_lane[l] = !w->told_idle;
	expect_shares(o, end);
	for (int i = 0; i < w->n_steps; i++) {
		oracle_take(o, &w->steps[i]);
		if (i + 1 == w->n_steps || w->steps[i + 1].at != w->steps[i].at)
			end_instant(o, w->steps[i].at);
	}
	tell_refused(o, BSA_NEVER);
	for (int x = 0; x < EXECUTIONS; x++)
		expect_over(o, x, end);
	for (uint32_t a = 1; a <= APPS; a++)
		for (uint32_t b = 1; b <= APPS; b++)
			if (o->interfered[a][b])
				line_interfered(want, &(struct bsa_interfered){ (uint64_t)o->interfered[a][b], a, b });
	free(o);
	lines_sort(want);
}

/* ---- the reported facts ---- */

static void tell_over(const struct bsa_scheduled *x, struct lines *got)
{
	for (int i = 0; i < EXECUTIONS; i++) {
		assert_true(bsa_scheduled_idle(&x[i]));
		line_over(got, i, x[i].state == BSA_SCHEDULED_OFF && !x[i].uncertain ? -1 : x[i].lane, x[i].idle,
		          x[i].uncertain, x[i].lane_ns, x[i].ready_ns, x[i].bypassed);
	}
	lines_sort(got);
}

static void put(struct bsa_schedule *s, struct bsa_scheduled *x, const struct one_step *step)
{
	bool anew = step->step == BSA_STEP_STOP && world_restarts(step->x, step->at);

	if (!step->lost)
		assert_int_equal(bsa_schedule_step(s, &x[step->x], anew ? BSA_STEP_RESTART : step->step,
		                                   (uint64_t)step->at, (uint8_t)step->lane),
		                 0);
}

/* The oracle has no figures for what holes may hide, so possible waits and unknown lanes are not compared. */
static struct bsa_facts facts_of_the_oracle(struct lines *got, const struct world *w)
{
	struct bsa_facts facts = lines_facts(got), none = world_no_facts();

	facts.possible_wait = none.possible_wait;
	facts.unknown_lane = none.unknown_lane;
	if (!w->n_losses)
		facts.refused = line_refused_and_queue;
	if (w->n_losses) {
		facts.share = line_share_without_lag;
		facts.lag = line_lags_without_lag;
	}
	return facts;
}

static void play_now(const struct world *w, struct lines *got, int end)
{
	struct bsa_scheduled x[EXECUTIONS];
	struct bsa_facts facts = facts_of_the_oracle(got, w);
	struct bsa_schedule *s = world_start(w, &facts, 0, 0, x);
	int next = 0;

	for (int t = 0; t < TIME; t++) {
		world_tell_losses(w, s, t);
		for (; next < w->n_steps && w->steps[next].at == t; next++)
			put(s, x, &w->steps[next]);
		assert_int_equal(bsa_schedule_advance(s, (uint64_t)t), 0);
	}
	assert_int_equal(bsa_schedule_finish(s, (uint64_t)end), 0);
	assert_int_equal(bsa_schedule_left_out(s).absurd + bsa_schedule_left_out(s).late +
	                         bsa_schedule_left_out(s).forgotten,
	                 0);
	tell_over(x, got);
	bsa_schedule_free(s);
}

static bool leaves(const struct one_step *s)
{
	return s->step == BSA_STEP_END || s->step == BSA_STEP_STOP;
}

/* Steps of one execution in one ns are noted in their order, and so are steps of one kind. */
static int how_late(const struct world *w, const int *late, int i)
{
	const struct one_step *s = &w->steps[i], *before = s - 1;

	if (i && before->at == s->at && leaves(before) == leaves(s))
		return late[i - 1];
	return s->at + (int)chance((unsigned)horizon + 1);
}

/* Steps are noted up to a horizon late. */
static void play_late(const struct world *w, struct lines *got, int end)
{
	struct bsa_scheduled x[EXECUTIONS];
	struct bsa_facts facts = facts_of_the_oracle(got, w);
	struct bsa_schedule *s = world_start(w, &facts, (uint64_t)horizon, 0, x);
	int *late = calloc((size_t)w->n_steps + 1, sizeof(*late));

	for (int i = 0; i < w->n_steps; i++)
		late[i] = how_late(w, late, i);
	for (int t = 0; t < TIME + horizon; t++) {
		world_tell_losses(w, s, t);
		for (int i = 0; i < w->n_steps; i++)
			if (late[i] == t)
				put(s, x, &w->steps[i]);
		if (t >= horizon && chance(2))
			assert_int_equal(bsa_schedule_advance(s, (uint64_t)(t - horizon)), 0);
	}
	assert_int_equal(bsa_schedule_finish(s, (uint64_t)end), 0);
	assert_int_equal(bsa_schedule_left_out(s).absurd + bsa_schedule_left_out(s).late +
	                         bsa_schedule_left_out(s).forgotten,
	                 0);
	tell_over(x, got);
	bsa_schedule_free(s);
	free(late);
}

/* Both lists are sorted. */
static void are_the_same(uint32_t first, const struct lines *got, const struct lines *want)
{
	size_t i = 0, j = 0, wrong = 0;

	while (i < got->n || j < want->n) {
		int order = i == got->n ? 1 : j == want->n ? -1 : strcmp(got->all[i], want->all[j]);

		if (order < 0)
			print_message("told, and not so: %s\n", got->all[i]);
		if (order > 0)
			print_message("so, and not told: %s\n", want->all[j]);
		wrong += order != 0;
		i += order <= 0;
		j += order >= 0;
	}
	if (wrong)
		fail_msg("seed %u: %zu differences", first, wrong);
}

static void random_schedules(void (*play)(const struct world *, struct lines *, int), bool late)
{
	static struct world w;
	time_t stop = soak_until(2);

	for (uint32_t i = 1; stop ? time(NULL) < stop : i <= SEEDS; i++) {
		struct lines got = { 0 }, want = { 0 };

		world_make(&w, i);
		horizon = !late ? 0 : chance(2) ? 2 * TIME : 1 + (int)chance(30);
		before_loss = horizon ? horizon - 1 : 0;
		expect_all(&w, &want, TIME - 1);
		play(&w, &got, TIME - 1);
		are_the_same(i, &got, &want);
		lines_fini(&got);
		lines_fini(&want);
	}
}

static void every_figure_is_that_of_the_oracle(void **state)
{
	(void)state;
	random_schedules(play_now, false);
}

static void the_same_in_any_order_within_the_horizon(void **state)
{
	(void)state;
	random_schedules(play_late, true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_figure_is_that_of_the_oracle),
		cmocka_unit_test(the_same_in_any_order_within_the_horizon),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
