/*
 * schedule.c -- replays the recorded steps of executions in the order of their times: moves each execution
 * between the lists of those that wait and the lanes, and reports what follows: waits, slices of lanes,
 * shares, refusals.
 *
 * TERMS     A device is one service, and an instance its number; a lane is one place of it where an execution
 *           runs. Under the native policy executions run without lanes. A step is a change of an execution's
 *           state, with its time (schedule.h). A tenant is an app that waits for lanes, or holds them; its
 *           lag is its fair share of lane time minus the lane time that it got; a pair is two apps of which
 *           one waited while the other held the lane. A hand-over is the time from the moment when a lane is
 *           idle and an execution is ready, to the moment when that execution is on the lane. Until then the
 *           lane is meant for that execution, and no execution holds it. A refusal: the service rejected an
 *           execution at once, and did not let it wait. Where the trace has compact detail, an execution has one
 *           event, its summary, besides its stops and resumes. The summary comes after all that it reports, by less
 *           than the horizon (horizon_ns; 0: full detail).
 * HOLES     A hole is a time for which events may be missing. `lost` has the times in which events were lost;
 *           `unsure` has the times in which lanes are unknown, because a lost event or a lost summary may be
 *           about them. A hole that is known to hide no lane time is only in `lost`. These concern all devices. A
 *           device whose steps off lanes were not recorded has a hole of its own besides (`unstopped`): no other
 *           device, which a process may make up, can add to it, or end it. A wait, or a change of
 *           lanes, counts as hidden if a hole may have taken its events; the wait is then reported as
 *           possible. A waiting execution is doubtful from the hole on until its next step; meanwhile it is
 *           in the list of the doubtful ones, and in no list of its tenant (waits.c). BSA_NEVER as the begin
 *           of a wait means that it began before the recording.
 * STATES    OFF --READY--> READY --DISPATCH--> ON --STOP--> STOPPED --RESUME--> ON --END--> OVER. The steps
 *           FOUND_* begin with the state in which the recording found the execution. DISPATCH, RESUME, STOP and
 *           END that do not fit, because a hole hid a step or because the trace is wrong, lead to the same state
 *           as those that fit, and what lies between is reported as uncertain. READY and FOUND_* that do not fit,
 *           and STOP of an execution without a lane, change nothing. RESTART is a STOP after which the execution begins
 *           anew, so that all of its estimate is still to come. STALL leads from ON to STALLED, and READY_AGAIN
 *           from there to STOPPED: until then the execution does not wait, so it is in no list. RESUME leads from
 *           STALLED to ON where READY_AGAIN was not recorded: when the execution became ready again is unknown, and
 *           its wait is reported as possible. READY and STOPPED are in a list of waiting executions; ON is the
 *           holder of a lane, or in the list of those without lanes; OFF, STALLED and OVER are in no list and on
 *           no lane. After -ENOMEM the state is half changed, and the caller must not go on.
 * CONCURRENCY  One thread uses a schedule. The functions of struct bsa_facts must not call it.
 */
#include "fold/schedule.h"

#include "fold/device.h"
#include "fold/refusals.h"
#include "fold/shares.h"
#include "fold/steps.h"
#include "fold/waits.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

enum {
	DEVICES = 4096,
	STREAM_INSTANCE_SHIFT = 20, /* the lowest bit of the instance in a stream's number */
	/*
	 * Shares that may be reported for windows without events, so that silence cannot fill a disk; a step adds
	 * one (shares.c).
	 */
	QUIET_ROWS = 1 << 13,
	MS_NS = 1000000
};

/* Bits of bsa_noted.step where bsa_noted.x is NULL: what is known of the service from then on. */
enum rules {
	RULES_NATIVE = 1,  /* its policy has no lanes */
	RULES_IDLE = 2,    /* the service has just begun, so its lanes are idle */
	RULES_LISTING = 4, /* the service reports the executions that were under way when the recording began */
	RULES_LISTED = 8   /* the service has reported all of them */
};

struct bsa_schedule {
	struct bsa_facts facts;
	uint64_t horizon_ns; /* 0: a step is taken when it is noted */
	uint64_t began;      /* begin of the recording */
	uint64_t window_ns, starvation_ns;
	struct bsa_tenants tenants;
	struct bsa_steps steps;
	struct bsa_losses lost, unsure; /* see HOLES */
	struct bsa_pairs pairs;
	struct bsa_left_out left;
	size_t history, held; /* how many stretches, and lags of windows, all devices together keep */
	int64_t quiet_rows;   /* shares that may still be reported for windows without events */
	bool lists;    /* the begin of the recording has what was under way, and holes do not reach back over it */
	bool unsummed; /* when the recording ended, summaries were still to come: their executions may hold lanes */
	uint64_t unsummed_since;             /* if unsummed: they may have held them since then */
	struct bsa_device *devices[DEVICES]; /* owned */
};

/* bsa_fold_new makes a horizon of 1 of none, because events of one ns come in any order. */
static bool has_full_detail(const struct bsa_schedule *s)
{
	return s->horizon_ns <= 1;
}

struct bsa_schedule *bsa_schedule_new(const struct bsa_facts *facts, const struct bsa_fold_options *options)
{
	struct bsa_schedule *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->facts = *facts;
	s->horizon_ns = options->horizon_ns;
	s->lists = has_full_detail(s);
	s->window_ns = options->window_ns ? options->window_ns : 100 * MS_NS;
	s->starvation_ns = options->starvation_ns ? options->starvation_ns : BSA_FOLD_STARVATION_NS;
	s->tenants = (struct bsa_tenants){ .devices = s->devices, .n_devices = DEVICES, .max = options->tenants_max };
	s->quiet_rows = QUIET_ROWS;
	return s;
}

struct bsa_schedule *bsa_schedule_free(struct bsa_schedule *s)
{
	if (!s)
		return NULL;
	for (size_t i = 0; i < DEVICES; i++) {
		if (s->devices[i])
			bsa_device_fini(s->devices[i]);
		free(s->devices[i]);
	}
	bsa_steps_fini(&s->steps);
	bsa_losses_fini(&s->lost);
	bsa_losses_fini(&s->unsure);
	bsa_pairs_fini(&s->pairs);
	free(s);
	return NULL;
}

static struct bsa_device *device_of(struct bsa_schedule *s, uint16_t instance)
{
	struct bsa_device **d = &s->devices[instance & (DEVICES - 1)];

	if (*d)
		return *d;
	*d = malloc(sizeof(**d));
	if (!*d || bsa_device_init(*d)) {
		free(*d);
		*d = NULL;
		return NULL;
	}
	(*d)->instance = instance & (DEVICES - 1);
	(*d)->facts = &s->facts;
	(*d)->unstopped.began = BSA_NEVER;
	(*d)->lost = (struct bsa_holes){ &s->lost, &(*d)->unstopped };
	(*d)->unsure = (struct bsa_holes){ &s->unsure, &(*d)->unstopped };
	(*d)->left = &s->left;
	(*d)->history = &s->history;
	(*d)->held = &s->held;
	(*d)->quiet_rows = &s->quiet_rows;
	(*d)->began = &s->began;
	(*d)->summed = s->horizon_ns != 0;
	(*d)->lists = &s->lists;
	(*d)->unsummed = &s->unsummed;
	(*d)->unsummed_since = &s->unsummed_since;
	(*d)->window_ns = s->window_ns;
	(*d)->starvation_ns = s->starvation_ns;
	(*d)->tenants = &s->tenants;
	return *d;
}

/* ---- states, and the lists of waiting executions ---- */

static bool is_waiting(const struct bsa_scheduled *x)
{
	return x->state == BSA_SCHEDULED_READY || x->state == BSA_SCHEDULED_STOPPED;
}

static int join_tenant(struct bsa_device *d, struct bsa_scheduled *x)
{
	x->device = d;
	x->tenant = bsa_device_tenant(d, x->app);
	x->level = x->priority < BSA_LEVEL_UNKNOWN ? x->priority : BSA_LEVEL_UNKNOWN;
	return x->tenant ? 0 : -ENOMEM;
}

static int wait_begin(struct bsa_device *d, struct bsa_scheduled *x, enum bsa_scheduled_state state, uint64_t at)
{
	assert((state == BSA_SCHEDULED_READY || state == BSA_SCHEDULED_STOPPED) && !is_waiting(x));
	if (join_tenant(d, x) < 0)
		return -ENOMEM;
	x->state = (uint8_t)state;
	x->open = 0;
	x->ready_since = at;
	bsa_waits_add(d, x);
	bsa_shares_ready(x->tenant, 1);
	return 0;
}

/*
 * @x, which is in no list and on no lane any more, is OFF or OVER. Its tenant may be dropped from now on, so
 * @x must not point to it.
 */
static void set_off(struct bsa_scheduled *x, enum bsa_scheduled_state state)
{
	assert((state == BSA_SCHEDULED_OFF || state == BSA_SCHEDULED_OVER) && !x->prev && !x->next);
	x->bypassed_more |= x->state == BSA_SCHEDULED_STALLED; /* while it may have waited */
	x->state = (uint8_t)state;
	x->tenant = NULL;
}

/* Since when @x waits. BSA_NEVER: since before the recording, and no event has since when. */
static uint64_t waits_since(const struct bsa_scheduled *x)
{
	assert(is_waiting(x));
	return x->open & BSA_OPEN_START ? BSA_NEVER : x->ready_since;
}

/* The wait of @x ends: take it from its list. The caller sets the next state. */
static void wait_end(struct bsa_device *d, struct bsa_scheduled *x)
{
	assert(is_waiting(x) && x->tenant);
	bsa_waits_remove(d, x);
	bsa_shares_ready(x->tenant, -1);
}

/*
 * Whether a hole may hide that @x entered or left a lane between @from and @at. @x->counted: its summary has
 * the number of its stops, and all of them were recorded, so nothing is hidden.
 */
static bool is_hidden(const struct bsa_device *d, const struct bsa_scheduled *x, uint64_t from, uint64_t at)
{
	return !x->counted && bsa_device_lost(d, from, at);
}

/* ---- waits that a hole may hide ---- */

/*
 * Duration of the time from the begin of the recording until @to, which may be earlier: a hole may end before
 * the first event.
 */
static uint64_t recorded_before(uint64_t began, uint64_t to)
{
	return to > began ? to - began : 0;
}

/*
 * Duration of the possible wait from @from to @to, within the recording. 0: there is nothing to report, because
 * the time is empty or lies within one hole. That hole has a report of its own: bsa_schedule_add_loss or
 * bsa_schedule_add_hole reported a possible wait there, or, in full detail, the hole itself is reported as a loss.
 */
static uint64_t unrecorded_ns(const struct bsa_device *d, uint64_t from, uint64_t to)
{
	struct bsa_span hole;

	if (from == BSA_NEVER)
		return recorded_before(*d->began, to);
	hole = bsa_holes_from(&d->unsure, from);
	return from >= to || (hole.began <= from && to <= hole.ended) ? 0 : to - from;
}

/*
 * Report that @x may have waited from @from to @to. Its app's lag needs no change: @x was in a list, so the
 * app counted as waiting, or the caller adds the time by bsa_shares_appears. If it did wait, the other apps'
 * shares were smaller, so their lags seem too high.
 */
static void may_have_waited(struct bsa_device *d, const struct bsa_scheduled *x, uint64_t from, uint64_t to)
{
	uint64_t ns = unrecorded_ns(d, from, to);
	struct bsa_possible_wait possible = {
		.execution = x->id, .began = from, .ended = to, .app = x->app, .model = x->model
	};

	if (!ns && from != BSA_NEVER)
		return;
	bsa_shares_uncounted(d, ns);
	d->facts->possible_wait(d->facts->ctx, &possible);
}

/* The same for an execution that was in no list meanwhile: its app may have lagged more than it seems. 0 or -ENOMEM. */
static int may_have_waited_unlisted(struct bsa_device *d, const struct bsa_scheduled *x, uint64_t from, uint64_t to)
{
	struct bsa_tenant *t = bsa_device_tenant(d, x->app);

	if (!t)
		return -ENOMEM;
	may_have_waited(d, x, from, to);
	/* All of the time counts, also within one hole: the verdict adds no hole to the lags of later windows. */
	if (from == BSA_NEVER)
		bsa_shares_may_lag(t, 0, recorded_before(*d->began, to));
	else
		bsa_shares_may_lag(t, from, to > from ? to - from : 0);
	return 0;
}

/*
 * The earliest time from @at on at which events were lost, or a lost summary may be about; BSA_NEVER: none. A
 * time of lost events that hides no lane time is only in `lost` (bsa_schedule_add_hole), so `unsure` alone
 * may have none.
 */
static uint64_t hole_begin(const struct bsa_device *d, uint64_t at)
{
	uint64_t lost = bsa_holes_begin(&d->lost, at), unsure = bsa_holes_begin(&d->unsure, at);

	return lost < unsure ? lost : unsure;
}

/*
 * Whether an execution that had no step, and became ready after @after, may have been ready before the service
 * was recorded: the service reports such executions when its recording begins, but a hole may hide that, or hide
 * before it that the execution ended. In compact detail each hole reaches back by a horizon, which covers the begin
 * of the recording.
 */
static bool may_be_unlisted(const struct bsa_device *d, uint64_t after)
{
	return *d->lists && !d->listed && (after <= d->listing_since || after <= *d->began);
}

/* The next step of @x, recorded or not, is not before this. */
static uint64_t after_last_step(const struct bsa_scheduled *x)
{
	return x->last_taken ? x->last_taken : x->ready_after;
}

/*
 * The earliest time of a step of @x that was not recorded: the begin of the first hole after its last
 * recorded step. none_waits only proves that @x was not in the queue. It may have left the queue and not be
 * on its lane yet. Its wait may go on then: return the begin of that wait.
 */
static uint64_t hidden_from(const struct bsa_device *d, const struct bsa_scheduled *x)
{
	uint64_t after = after_last_step(x);
	uint64_t from = x->counted ? bsa_holes_begin(&d->unsure, after) : hole_begin(d, after);

	if (from > d->now || (!x->last_taken && may_be_unlisted(d, after))) /* from > now: there is no hole since */
		from = after;
	if ((x->none_waited_at || x->state == BSA_SCHEDULED_STALLED) && x->ready_since < from)
		from = x->ready_since;
	return from > *d->began ? from : BSA_NEVER;
}

/*
 * The latest time of a step of @x that was not recorded: the end of the last hole; now, if there is no hole
 * since its last recorded step, so that its steps contradict each other.
 */
static uint64_t hidden_until(const struct bsa_device *d, const struct bsa_scheduled *x)
{
	uint64_t lost = bsa_holes_end(&d->lost, d->now), unsure = bsa_holes_end(&d->unsure, d->now);
	uint64_t hole = lost > unsure ? lost : unsure;

	return hole && hole >= after_last_step(x) ? hole : d->now;
}

static void unlist_native(struct bsa_device *d, struct bsa_scheduled *x)
{
	assert(x->on_native && x->state == BSA_SCHEDULED_ON);
	if (x->prev)
		x->prev->next = x->next;
	else
		d->on_native = x->next;
	if (x->next)
		x->next->prev = x->prev;
	x->prev = x->next = NULL;
}

/* @x leaves its lane: its tenant holds one lane fewer. */
static void tenant_leaves_lane(struct bsa_device *d, const struct bsa_scheduled *x)
{
	struct bsa_tenant *t = x->tenant;

	assert(t->on[x->level]);
	t->on[x->level]--;
	t->last_on[x->level] = d->now;
	bsa_shares_running(t, -1);
}

/* The caller has ended the lane's stretch, which @x held: @x is OFF, and how long it was on the lane is uncertain. */
static void lose_holder(struct bsa_device *d, struct bsa_scheduled *x)
{
	assert(x->state == BSA_SCHEDULED_ON && !x->on_native && x->lane >= 0);
	if (x->idle)
		bsa_waits_report_idle(d, x, (unsigned)x->lane);
	x->idle = false;
	x->uncertain = true;
	x->lane = -1;
	tenant_leaves_lane(d, x);
	set_off(x, BSA_SCHEDULED_OFF);
}

/*
 * A lane that has no holder was certainly idle from its last step until the time that this returns: just
 * before the first hole, or @otherwise if there is no hole. For a lane with a holder the result means nothing.
 */
static uint64_t idle_until(const struct bsa_device *d, const struct bsa_lane *l, uint64_t otherwise)
{
	struct bsa_span hole = bsa_holes_from(&d->unsure, l->since);

	if (hole.began > d->now)
		return otherwise;
	return hole.began ? hole.began - 1 : 0;
}

/*
 * The holder of the lane from its last step until now is unknown. @freed: the lane is certainly free now.
 * @last: the execution that was certainly on the lane last, until now; NULL: unknown.
 */
static void doubt_lane(struct bsa_device *d, unsigned number, bool freed, const struct bsa_scheduled *last)
{
	struct bsa_scheduled *was;

	bsa_refusals_settle(d, number, idle_until(d, &d->lanes[number], 0));
	was = bsa_lane_doubt(d, &d->lanes[number], d->now, freed, last);
	if (was)
		lose_holder(d, was);
	if (freed)
		bsa_refusals_lane_free(d);
}

/* An execution enters the lane: so its holder left it earlier, in a hole, or the steps contradict each other. */
static void vacate_lane(struct bsa_device *d, unsigned number)
{
	struct bsa_scheduled *was = bsa_lane_vacate(d, &d->lanes[number], d->now);

	if (was)
		lose_holder(d, was);
	bsa_refusals_report(d); /* the lane was free at a time that is not known */
}

/*
 * Take @x from its list or lane: from now on its state is unknown. If it waited, it waited until @until at
 * most. It may have been on a lane in the unknown time, so that counts as a stretch, and a later stretch is
 * not taken for its first.
 */
static void lose_track_until(struct bsa_device *d, struct bsa_scheduled *x, uint64_t until)
{
	if (is_waiting(x)) {
		may_have_waited(d, x, waits_since(x), until);
		if (until > d->now)
			bsa_shares_may_lag_on(x->tenant, until - d->now);
		wait_end(d, x);
		x->idle = false;
	} else if (x->state == BSA_SCHEDULED_ON && x->on_native) {
		unlist_native(d, x);
	} else if (x->state == BSA_SCHEDULED_ON) {
		doubt_lane(d, (unsigned)x->lane, false, NULL);
	}
	x->uncertain = true;
	x->stretches++;
	x->lane = -1;
	set_off(x, BSA_SCHEDULED_OFF);
}

static void lose_track(struct bsa_device *d, struct bsa_scheduled *x)
{
	lose_track_until(d, x, d->now);
}

/*
 * @x leaves its lane now: preempted (@stops), or at its end. If a hole may hide an earlier preemption,
 * another execution may hold the lane.
 */
static void leave_lane(struct bsa_device *d, struct bsa_scheduled *x, bool stops)
{
	unsigned lane = (unsigned)x->lane;
	bool certain, hidden;

	assert(lane < d->lanes_room && d->lanes[lane].holder == x && x->slice_began <= d->now);
	hidden = is_hidden(d, x, x->slice_began, d->now);
	x->resumed = false;
	if (hidden) /* hole_begin, not the first of `lost`: in compact detail the wait may have begun before the loss */
		may_have_waited(d, x, hole_begin(d, x->slice_began),
		                stops || x->on_lane_to_its_end ? hidden_until(d, x) : d->now);
	bsa_refusals_lane_free(d);
	certain = bsa_lane_leave(d, &d->lanes[lane], d->now, hidden && !stops, x->on_lane_to_its_end);

	tenant_leaves_lane(d, x);
	if (certain)
		x->lane_ns += d->now - x->slice_began;
	else
		x->uncertain = true;
	/*
	 * No slice for an execution with one stretch, from its first time on a lane to its end: the report of
	 * the execution has that.
	 */
	if (stops || x->uncertain || x->stretches > 1) {
		if (x->idle)
			bsa_waits_report_idle(d, x, lane);
		x->idle = false;
		x->lane = -1;
		if (certain) {
			struct bsa_slice slice = { .execution = x->id,
				                   .began = x->slice_began,
				                   .ended = d->now,
				                   .trace = x->trace,
				                   .instance = x->instance,
				                   .lane = (uint8_t)lane };

			assert(x->slice_began <= d->now);
			x->sliced = true;
			d->facts->slice(d->facts->ctx, &slice);
		}
	}
}

/* ---- steps ---- */

/*
 * At some time since the last hole no execution of the service waited. So the doubtful executions, which
 * waited before the hole and have had no event since, do not wait any more.
 */
static void none_waits(struct bsa_device *d)
{
	if (d->doubtful) /* each of them may or may not have waited until now, so the shares until now are unknown */
		d->unseen_until = d->now;
	while (d->doubtful) {
		d->doubtful->none_waited_at = d->now;
		lose_track(d, d->doubtful);
	}
	if (!d->none_waited)
		d->none_waited = d->now;
}

static int take_ready(struct bsa_device *d, struct bsa_scheduled *x)
{
	if (x->queue_empty && d->had_hole && !d->native && !bsa_device_unsure(d, x->ready_after, d->now))
		none_waits(d);
	if (x->state != BSA_SCHEDULED_OFF || x->stretches) {
		d->left->absurd++;
		return 0;
	}
	x->lane = -1;
	return wait_begin(d, x, BSA_SCHEDULED_READY, d->now);
}

/* The earliest time at which the service can have given the lane @l to @x: the lane was idle, and @x was ready. */
static uint64_t given_at(const struct bsa_lane *l, const struct bsa_scheduled *x)
{
	return l->since > x->ready_since ? l->since : x->ready_since;
}

/*
 * Number of lanes other than @l that are idle since @at or earlier: the service may have given them to
 * executions at @at, too.
 */
static unsigned other_lanes(const struct bsa_device *d, const struct bsa_lane *l, uint64_t at)
{
	unsigned n = 0;

	for (unsigned i = 0; i < d->lanes_room && i < d->n_lanes; i++)
		n += &d->lanes[i] != l && d->lanes[i].since <= at && bsa_lane_is_idle(d, &d->lanes[i], d->now);
	return n;
}

/* The wait of @x ends on lane @lane, which the service gave to it at @given; BSA_NEVER: unknown. */
static int wait_end_on_lane(struct bsa_schedule *s, struct bsa_device *d, struct bsa_scheduled *x, bool resumed,
                            uint8_t lane, uint64_t given)
{
	bool was_stopped = x->state == BSA_SCHEDULED_STOPPED, hidden = is_hidden(d, x, x->ready_since, d->now);
	uint64_t since = waits_since(x);

	if (!x->on_native && given != BSA_NEVER && !d->listing && bsa_waits_had_others(d, given))
		bsa_waits_choose(d, x, given, other_lanes(d, &d->lanes[lane], given));
	if (!x->on_native && d->n_waiting > 1) {
		bsa_waits_note_leaver(d, x, given == BSA_NEVER ? 0 : given);
		/*
		 * BSA_OPEN_START: it was ready before the recording, and so before all others that are known,
		 * and bypasses none.
		 */
		if (!was_stopped && !resumed && !(x->open & BSA_OPEN_START))
			bsa_waits_bypass(d, x);
	}
	wait_end(d, x);
	/*
	 * A READY execution has one dispatch, which is this, so a hole hides nothing; a STOPPED one may have
	 * been resumed and stopped in it.
	 */
	if (was_stopped != resumed || (was_stopped && hidden)) {
		may_have_waited(d, x, since, d->now);
		if (!hidden)
			d->left->absurd++;
		x->uncertain = true;
		x->stretches++;
		return 0;
	}
	return bsa_waits_report(d, &s->pairs, x, d->now, lane, x->on_native ? NULL : &d->lanes[lane], true);
}

static int enter_native(struct bsa_schedule *s, struct bsa_device *d, struct bsa_scheduled *x, bool resumed)
{
	int r;

	x->on_native = true;
	x->lane = -1;
	r = is_waiting(x) ? wait_end_on_lane(s, d, x, resumed, BSA_LANE_NATIVE, BSA_NEVER) : join_tenant(d, x);
	assert(!x->prev && !x->next && x->state != BSA_SCHEDULED_ON);
	x->next = d->on_native;
	if (x->next)
		x->next->prev = x;
	d->on_native = x;
	x->state = BSA_SCHEDULED_ON;
	x->slice_began = d->now;
	x->stretches++;
	x->tenant = NULL; /* join_tenant was for its device and level: tenants share lanes, and there are none */
	return r;
}

/*
 * Whether the holder of lane @l may have left it without an event. In compact detail the end of an execution
 * is in its summary, and an execution that began while nothing was recorded has none: it is known by its
 * RESUME. If a step of it is still to come, it was there.
 */
static bool may_have_ended(const struct bsa_schedule *s, const struct bsa_lane *l)
{
	return s->horizon_ns && l->holder->resumed && l->holder->steps_left == l->holder->forgotten;
}

/* The time of @d goes on to @at, which is not before now; so does a hole that has no end yet. */
static void device_advance(struct bsa_device *d, uint64_t at)
{
	if (at > d->now)
		bsa_refusals_end_instant(d);
	if (d->lacks_stops && at > d->unstopped.ended)
		d->unstopped.ended = at;
	bsa_shares_advance(d, at); /* sets d->now */
}

/* From @at on, @d does not tell of stops. */
static void device_lacks_stops(struct bsa_device *d, uint64_t at)
{
	d->unstopped.began = at < d->unstopped.began ? at : d->unstopped.began;
	d->unstopped.ended = at > d->unstopped.ended ? at : d->unstopped.ended;
	d->lacks_stops = true;
}

/*
 * An execution enters lane @l, whose holder has neither left it nor ended, and no loss hides that: so the service
 * stopped the holder. If no stop of any execution of the service was recorded, none is: the session has no such events.
 * An END may not be, either. Summaries tell how often an execution was stopped, so this is for full detail. False: this
 * cannot be.
 */
static bool lane_note_crowd(const struct bsa_schedule *s, struct bsa_device *d, const struct bsa_lane *l)
{
	if (d->stops || l->doubtful || !has_full_detail(s))
		return false;
	d->crowded = true;
	device_lacks_stops(d, l->since);
	device_lacks_stops(d, d->now);
	return true;
}

/*
 * @x, stalled, is ready again, on a lane again, or over. If a hole hides nothing, it was off its lane until now;
 * @may_have_waited: it may have waited for another lane in some of that time. 0 or -ENOMEM.
 */
static int stall_end(struct bsa_device *d, struct bsa_scheduled *x, bool may_have_waited)
{
	assert(x->state == BSA_SCHEDULED_STALLED);
	if (may_have_waited && may_have_waited_unlisted(d, x, x->ready_since, d->now) < 0)
		return -ENOMEM;
	bsa_waits_report_stalled(d, x, may_have_waited);
	if (!may_have_waited)
		x->state = BSA_SCHEDULED_OFF; /* so that its bypasses are all counted: there are none */
	set_off(x, BSA_SCHEDULED_OFF);
	return 0;
}

/* Whether this step of a stalled execution ends that state, and no other step is missing between them. */
static bool is_stall_seen(const struct bsa_device *d, const struct bsa_scheduled *x)
{
	return x->state == BSA_SCHEDULED_STALLED && !is_hidden(d, x, x->ready_since, d->now);
}

/*
 * DISPATCH and RESUME; FOUND_ON: @x has been on its lane since before the recording. The times of the lane
 * and of the wait are taken before the former holder is removed, because that begins a new stretch of the lane.
 */
static int take_enter(struct bsa_schedule *s, struct bsa_device *d, struct bsa_scheduled *x, enum bsa_step step,
                      uint8_t lane)
{
	bool resumed = step == BSA_STEP_RESUME, found = step == BSA_STEP_FOUND_ON, absurd = false, ready;
	uint64_t since = found ? d->now : hidden_from(d, x); /* if it is in no list: it may have waited since then */
	uint64_t idle_since = d->now;   /* the lane was certainly idle since then, or is not idle */
	uint64_t given = BSA_NEVER;     /* the lane was certainly on its way to @x since then */
	uint64_t may_be_given = d->now; /* the lane may have been on its way to @x since then */
	struct bsa_lane *l;
	int r = 0;

	if (x->state == BSA_SCHEDULED_ON && x->lane == lane && is_hidden(d, x, x->slice_began, d->now)) {
		vacate_lane(d, lane); /* the execution was preempted in a hole */
	} else if (x->state == BSA_SCHEDULED_ON) {
		absurd = !is_hidden(d, x, x->slice_began, d->now);
		lose_track(d, x);
	}
	if (resumed && is_stall_seen(d, x)) {
		if (stall_end(d, x, true) < 0)
			return -ENOMEM;
	} else if (x->state == BSA_SCHEDULED_OFF || x->state == BSA_SCHEDULED_STALLED) {
		if (!found)
			may_have_waited(d, x, since, d->now);
		absurd |= is_stall_seen(d, x);
		if (resumed || x->state == BSA_SCHEDULED_STALLED) {
			x->uncertain = true;
			x->stretches++;
		}
		set_off(x, BSA_SCHEDULED_OFF);
	}
	l = lane == BSA_LANE_NATIVE ? NULL : &d->lanes[lane];
	if (l && l->holder && !is_hidden(d, l->holder, l->since, d->now) && !may_have_ended(s, l))
		absurd |= !lane_note_crowd(s, d, l);
	d->left->absurd += absurd;
	if (!l)
		return enter_native(s, d, x, resumed);
	x->on_native = false;
	ready = is_waiting(x);
	if (ready && !bsa_lane_is_held(d, l, d->now))
		may_be_given = given_at(l, x);
	if (l->holder) {
		vacate_lane(d, lane);
	} else if (bsa_lane_is_idle(d, l, d->now)) {
		idle_since = l->since;
		given = ready ? given_at(l, x) : BSA_NEVER;
	}
	if (ready)
		r = wait_end_on_lane(s, d, x, resumed, lane, given);
	if (join_tenant(d, x) < 0)
		return -ENOMEM;
	assert(!x->prev && !x->next);
	/*
	 * Count the choices that cannot be judged: others may have waited, and when the lane was given to @x
	 * is not known.
	 */
	if (!found &&
	    (bsa_waits_may_have_rival(d, x) || ((given == BSA_NEVER || d->listing) && bsa_waits_have_rival(x))))
		d->left->untold++;
	bsa_refusals_settle(d, lane, idle_until(d, l, BSA_NEVER));
	bsa_lane_enter(d, l, x, d->now, ready && bsa_shares_hogs(x->tenant, x->step_ns));
	bsa_shares_running(x->tenant, 1);
	if (!ready) {
		bsa_shares_doubt(x->tenant);
		bsa_shares_appears(x->tenant, since, idle_since);
	}
	if (given != BSA_NEVER) {
		bsa_shares_handed(x->tenant, given);
		d->handed = true;
		if (d->now - given > d->longest_handover)
			d->longest_handover = d->now - given;
	} else if (ready) {
		bsa_shares_may_be_handed(d, may_be_given);
	}
	assert(x->state != BSA_SCHEDULED_ON && l->holder == x);
	x->tenant->on[x->level]++;
	x->resumed = resumed;
	x->state = BSA_SCHEDULED_ON;
	x->slice_began = d->now;
	x->lane = lane;
	x->stretches++;
	return r;
}

/*
 * STOP (@stops) and END of an execution that was not known to be on @lane. If it stops, it was on @lane until
 * now. If it ends, @lane is the lane that it was on last, perhaps not until now: if a hole may hide that it
 * was preempted, END tells nothing of the lane.
 */
static int leave_unknown(struct bsa_device *d, struct bsa_scheduled *x, uint8_t lane, bool stops)
{
	/*
	 * If @x is on a lane, its last recorded step is the begin of that stretch: an earlier hole, while @x
	 * waited, cannot hide that it left the lane.
	 */
	uint64_t since = x->state == BSA_SCHEDULED_ON ? x->slice_began : x->ready_since;
	bool hidden = x->state == BSA_SCHEDULED_OFF || is_hidden(d, x, since, d->now);
	uint64_t until = stops || x->on_lane_to_its_end ? hidden_until(d, x) : d->now;

	if (!is_waiting(x) && may_have_waited_unlisted(d, x, hidden_from(d, x), until) < 0)
		return -ENOMEM;
	lose_track_until(d, x, until);
	if (lane >= BSA_LANES_MAX || (hidden && !stops))
		return 0;
	if (!hidden)
		d->left->absurd++;
	doubt_lane(d, lane, stops, stops && hidden ? x : NULL);
	return 0;
}

/*
 * @x, which had a lane before, waits for one from now on. @known: the step before was recorded; if it was not, @x may
 * have been ready since @since.
 */
static int stopped_wait_begin(struct bsa_device *d, struct bsa_scheduled *x, bool known, uint64_t since)
{
	if (wait_begin(d, x, BSA_SCHEDULED_STOPPED, d->now) < 0)
		return -ENOMEM;
	if (!known) {
		bsa_shares_doubt(x->tenant);
		bsa_shares_appears(x->tenant, since, d->now);
	}
	return 0;
}

/* STOP, RESTART, STALL and LOSE. */
static int take_stop(struct bsa_device *d, struct bsa_scheduled *x, uint8_t lane, enum bsa_step step)
{
	bool known = x->state == BSA_SCHEDULED_ON && x->lane == lane;
	uint64_t since = hidden_from(d, x);

	if (x->state == BSA_SCHEDULED_ON && x->on_native)
		return 0;
	if (known)
		leave_lane(d, x, true);
	else if (leave_unknown(d, x, lane, true) < 0)
		return -ENOMEM;
	if (step == BSA_STEP_STALL || step == BSA_STEP_LOSE) {
		set_off(x, BSA_SCHEDULED_OFF);
		x->state = BSA_SCHEDULED_STALLED;
		x->loses = step == BSA_STEP_LOSE;
		x->open = 0;
		x->ready_since = d->now;
		return 0;
	}
	x->begins_anew = step == BSA_STEP_RESTART;
	return stopped_wait_begin(d, x, known, since);
}

/* The begin of the state that @x is in, if it waits, is stalled or is on a lane. */
static uint64_t last_change(const struct bsa_scheduled *x)
{
	return x->state == BSA_SCHEDULED_ON ? x->slice_began : x->ready_since;
}

/* READY_AGAIN: @x is off the lane that it lost, and waits for one from now on. */
static int take_ready_again(struct bsa_device *d, struct bsa_scheduled *x)
{
	uint64_t since = hidden_from(d, x);
	bool known = is_stall_seen(d, x);

	if (x->state == BSA_SCHEDULED_ON && x->on_native)
		return 0;
	if (known) {
		if (stall_end(d, x, false) < 0)
			return -ENOMEM;
	} else {
		d->left->absurd += x->state != BSA_SCHEDULED_OFF && !is_hidden(d, x, last_change(x), d->now);
		if (!is_waiting(x) && may_have_waited_unlisted(d, x, since, d->now) < 0)
			return -ENOMEM;
		lose_track(d, x);
	}
	x->begins_anew = false;
	return stopped_wait_begin(d, x, known, since);
}

/*
 * @x ends while it waits. It got no lane for this wait, so the wait is charged to the holder of lane 0, which
 * is the only lane of most services, if that holder is known.
 */
static int take_end_waiting(struct bsa_schedule *s, struct bsa_device *d, struct bsa_scheduled *x)
{
	const struct bsa_lane *l = d->lanes_room ? &d->lanes[0] : NULL;
	int r;

	bsa_waits_note_leaver(d, x, BSA_NEVER);
	wait_end(d, x);
	x->on_native = d->native;
	if (l && s->unsummed && !l->holder) /* an execution whose summary was still to come may hold it */
		l = NULL;
	r = bsa_waits_report(d, &s->pairs, x, d->now, 0, l, false);
	if (x->idle && x->ready_since != d->now && !d->native) {
		x->slice_began = d->now;
		bsa_waits_report_idle(d, x, 0);
		x->idle = false;
	}
	x->lane = -1;
	return r;
}

static int take_end(struct bsa_schedule *s, struct bsa_device *d, struct bsa_scheduled *x, uint8_t lane)
{
	int r = 0;

	if (lane < BSA_LANES_MAX)
		bsa_lane_end_heard(d, &d->lanes[lane], x, d->now, x->on_lane_to_its_end);
	if (x->state == BSA_SCHEDULED_STOPPED && is_hidden(d, x, x->ready_since, d->now)) {
		lose_track(d, x);
	} else if (x->state == BSA_SCHEDULED_STOPPED) { /* the event names the lane that it was on before */
		r = take_end_waiting(s, d, x);
	} else if (is_stall_seen(d, x)) {
		r = stall_end(d, x, !x->on_lane_to_its_end && !d->tells_ready);
		x->lane = -1;
	} else if (x->state == BSA_SCHEDULED_ON && x->on_native) {
		unlist_native(d, x);
		x->lane_ns += d->now - x->slice_began;
		x->lane = -1;
	} else if (x->state == BSA_SCHEDULED_ON && x->lane == lane) {
		leave_lane(d, x, false);
	} else if (x->state == BSA_SCHEDULED_READY && lane == BSA_LANE_NONE) {
		r = take_end_waiting(s, d, x);
	} else if (x->state != BSA_SCHEDULED_OFF || lane != BSA_LANE_NONE) {
		r = leave_unknown(d, x, lane, false);
	} else {
		r = may_have_waited_unlisted(d, x, hidden_from(d, x), d->now);
		x->lane = -1;
	}
	set_off(x, BSA_SCHEDULED_OVER);
	return r;
}

/* ---- executions under way when the recording begins or ends ---- */

/*
 * @x has been on a lane before it was found. If a hole came before that, @x may have waited when the recording began,
 * and the hole hides that the wait ended. 0 or -ENOMEM.
 */
static int found_after_hole(struct bsa_device *d, const struct bsa_scheduled *x)
{
	if (!*d->lists || !is_hidden(d, x, *d->began, d->now))
		return 0;
	return may_have_waited_unlisted(d, x, BSA_NEVER, bsa_holes_end(&d->lost, d->now));
}

/* Whether a lane had a holder since @since, and forgot it, because no execution was known to wait. */
static bool lanes_forgot(const struct bsa_device *d, uint64_t since)
{
	for (unsigned i = 0; i < d->lanes_room; i++)
		if (d->lanes[i].dropped_until > since)
			return true;
	return false;
}

/* The recording began while @x was @state. The begin of its wait is known only if the service reported it. */
static int take_found_waiting(struct bsa_device *d, struct bsa_scheduled *x, enum bsa_scheduled_state state)
{
	uint64_t since = x->found_since && x->found_since < d->now ? x->found_since : d->now;

	if (x->state != BSA_SCHEDULED_OFF || x->stretches) {
		d->left->absurd++;
		return 0;
	}
	if (state == BSA_SCHEDULED_STOPPED && found_after_hole(d, x) < 0)
		return -ENOMEM;
	x->lane = -1;
	x->stretches = state == BSA_SCHEDULED_STOPPED; /* the execution has been on a lane */
	if (wait_begin(d, x, state, since) < 0)
		return -ENOMEM;
	x->open = x->found_since ? 0 : BSA_OPEN_START;
	if (lanes_forgot(d, since)) { /* so an inversion before now would not be seen */
		struct bsa_possible_wait possible = {
			.execution = x->id, .began = since, .ended = d->now, .app = x->app, .model = x->model
		};

		d->facts->possible_wait(d->facts->ctx, &possible);
	}
	bsa_shares_found(x->tenant);
	bsa_shares_doubt(x->tenant);
	return 0;
}

/* The recording began while @x was stalled. */
static int take_found_stalled(struct bsa_device *d, struct bsa_scheduled *x)
{
	if (x->state != BSA_SCHEDULED_OFF || x->stretches) {
		d->left->absurd++;
		return 0;
	}
	if (found_after_hole(d, x) < 0)
		return -ENOMEM;
	x->lane = -1;
	x->stretches = 1; /* the execution has been on a lane */
	x->open = BSA_OPEN_START;
	x->ready_since = d->now;
	x->state = BSA_SCHEDULED_STALLED;
	x->loses = false;
	return 0;
}

/* The recording began while @x was on @lane. */
static int take_found_on(struct bsa_schedule *s, struct bsa_device *d, struct bsa_scheduled *x, uint8_t lane)
{
	struct bsa_tenant *t;

	if (x->state != BSA_SCHEDULED_OFF) {
		d->left->absurd++;
		return 0;
	}
	if (found_after_hole(d, x) < 0)
		return -ENOMEM;
	x->uncertain = true;
	if (lane != BSA_LANE_NATIVE && s->horizon_ns && d->lanes[lane].holder) {
		/* @x has left it, or has not had it: no summary shows which */
		x->stretches++;
		return 0;
	}
	if (lane != BSA_LANE_NATIVE && !d->lanes[lane].holder)
		doubt_lane(d, lane, false, x); /* @x has been there for a time that is not known */
	if (join_tenant(d, x) < 0)
		return -ENOMEM;
	t = x->tenant;
	if (take_enter(s, d, x, BSA_STEP_FOUND_ON, lane) < 0)
		return -ENOMEM;
	bsa_shares_found(t);
	return 0;
}

/* The time until which @x, which may wait at @at, may have waited on: its service may have no event of that. */
static uint64_t waits_on_until(const struct bsa_scheduled *x, uint64_t at)
{
	return x->over_by > at ? x->over_by : at;
}

/*
 * The time until which @x may have waited, if it has had no step since the last hole. If it is known to be
 * over, it ended in the hole at the latest. Otherwise a lane that was idle for long proves that it does not
 * wait any more.
 */
static uint64_t waited_until(const struct bsa_device *d, const struct bsa_scheduled *x)
{
	uint64_t hole = bsa_holes_end(&d->unsure, d->now), until = d->now;

	if (hole && x->last_taken <= hole && x->known_over)
		return hole;
	if (hole && x->last_taken <= hole && !*d->unsummed)
		until = bsa_lanes_ready_until(d, hole, d->now);
	return until < d->now ? until : waits_on_until(x, d->now);
}

/* If a hole may hide that @x was preempted, although it seems to be on a lane still: it waited until @until at most. */
static void may_have_been_preempted(struct bsa_device *d, const struct bsa_scheduled *x, uint64_t until)
{
	if (x->state != BSA_SCHEDULED_ON || x->on_native || !is_hidden(d, x, x->slice_began, d->now))
		return;
	may_have_waited(d, x, hole_begin(d, x->slice_began), until);
	if (until > d->now)
		bsa_shares_may_lag_on(x->tenant, until - d->now);
}

static int take_forget(struct bsa_device *d, struct bsa_scheduled *x)
{
	uint64_t until = waited_until(d, x);

	/*
	 * If it is in no list, it may have waited from a hole on. If none_waits ended its wait, the time
	 * until then was reported then. If the wait may have gone on, all of it is reported, from its begin:
	 * the reports overlap, and the bounds of lags become wider than they need be, but never too narrow.
	 */
	if ((x->state == BSA_SCHEDULED_OFF || x->state == BSA_SCHEDULED_STALLED) && x->stretches &&
	    (!x->none_waited_at || until > x->none_waited_at) &&
	    may_have_waited_unlisted(d, x, hidden_from(d, x), until) < 0)
		return -ENOMEM;
	may_have_been_preempted(d, x, until);
	if (x->state != BSA_SCHEDULED_OVER)
		lose_track_until(d, x, until);
	return 0;
}

/*
 * The recording of the service ends at @at while @x is under way. If the service died there, or hung, or only
 * its clients are recorded from then on, @x may wait on. That executions are over may have been noted since then.
 */
static int take_cut(struct bsa_schedule *s, struct bsa_device *d, struct bsa_scheduled *x, uint64_t at)
{
	const struct bsa_lane *only;
	unsigned number;
	int r;

	if (is_waiting(x) && !x->doubtful) {
		/* The execution certainly still waits then. Which of several lanes it will get is unknown. */
		assert(d->now >= x->ready_since);
		at = at > x->ready_since ? at : x->ready_since;
		if (waits_on_until(x, at) > at)
			may_have_waited(d, x, waits_since(x), x->over_by);
		if (waits_on_until(x, d->now) > d->now)
			bsa_shares_may_lag_on(x->tenant, x->over_by - d->now);
		only = d->n_lanes == 1 && d->lanes_room ? &d->lanes[0] : NULL;
		number = only ? 0 : BSA_LANE_NONE;
		if (only && s->unsummed && !only->holder) /* as in take_end_waiting */
			only = NULL;
		wait_end(d, x);
		x->open |= BSA_OPEN_END;
		x->on_native = d->native;
		r = bsa_waits_report(d, &s->pairs, x, at, number, only, false);
		x->idle = false;
		x->uncertain = true;
		x->stretches++;
		x->lane = -1;
		set_off(x, BSA_SCHEDULED_OFF);
		return r;
	}
	if (x->state == BSA_SCHEDULED_ON) {
		/* finish_device takes it from its lane, after all waits for the lane were reported */
		may_have_been_preempted(d, x, waited_until(d, x));
		return 0;
	}
	if (is_stall_seen(d, x) && d->tells_ready) {
		if (x->over_by > d->now && may_have_waited_unlisted(d, x, d->now, x->over_by) < 0)
			return -ENOMEM;
		x->open |= BSA_OPEN_END;
		x->uncertain = true;
		x->stretches++;
		return stall_end(d, x, false);
	}
	return take_forget(d, x);
}

static bool is_found(enum bsa_step step)
{
	return step == BSA_STEP_FOUND_READY || step == BSA_STEP_FOUND_STOPPED || step == BSA_STEP_FOUND_STALLED ||
	       step == BSA_STEP_FOUND_ON;
}

/* Does the execution leave a lane before its end? */
static bool is_off_lane(enum bsa_step step)
{
	return step == BSA_STEP_STOP || step == BSA_STEP_RESTART || step == BSA_STEP_STALL || step == BSA_STEP_LOSE;
}

static bool has_lane(enum bsa_step step)
{
	return step == BSA_STEP_DISPATCH || step == BSA_STEP_RESUME || is_off_lane(step) || step == BSA_STEP_END ||
	       step == BSA_STEP_FOUND_ON;
}

static int take_late(struct bsa_device *d, struct bsa_scheduled *x, enum bsa_step step, uint64_t at, uint8_t lane)
{
	d->left->late += !x->was_late; /* counts executions, not steps */
	x->was_late = true;
	if (step == BSA_STEP_REFUSED)
		return bsa_refusals_take(d, x, d->now, true); /* reported at once, without lane and queue */
	if (step == BSA_STEP_READY)
		return 0;
	may_have_been_preempted(d, x, d->now);
	lose_track(d, x);
	/* The late step makes @lane unknown, because what was reported since @at did not take the step into account. */
	if (has_lane(step) && lane < BSA_LANES_MAX && at < d->lanes[lane].since)
		bsa_lane_doubt_past(d, &d->lanes[lane]);
	else if (has_lane(step) && lane < BSA_LANES_MAX)
		doubt_lane(d, lane, is_off_lane(step), NULL);
	if (step == BSA_STEP_END)
		set_off(x, BSA_SCHEDULED_OVER);
	return 0;
}

static bool is_absurd(const struct bsa_scheduled *x, enum bsa_step step, uint8_t lane)
{
	if (step == BSA_STEP_FORGET || step == BSA_STEP_CUT)
		return false;
	if (x->state == BSA_SCHEDULED_OVER && step != BSA_STEP_REFUSED)
		return true;
	return has_lane(step) && lane >= BSA_LANES_MAX && lane != BSA_LANE_NATIVE &&
	       !(step == BSA_STEP_END && lane == BSA_LANE_NONE);
}

/*
 * A step after the end of @x, or one that names an impossible lane. If @x waited, its wait is reported
 * without a known cause: that it waited until now is certain.
 */
static int take_absurd(struct bsa_schedule *s, struct bsa_device *d, struct bsa_scheduled *x, enum bsa_step step)
{
	bool entered = is_waiting(x) && (step == BSA_STEP_DISPATCH || step == BSA_STEP_RESUME);
	int r = 0;

	d->left->absurd++;
	if (x->state == BSA_SCHEDULED_OVER)
		return 0;
	if (entered) {
		wait_end(d, x);
		r = bsa_waits_report(d, &s->pairs, x, d->now, 0, NULL, false);
		x->idle = false;
		set_off(x, BSA_SCHEDULED_OFF);
	}
	may_have_been_preempted(d, x, d->now);
	lose_track(d, x);
	if (step == BSA_STEP_END)
		set_off(x, BSA_SCHEDULED_OVER);
	return r;
}

/*
 * Whether a summary has already reported what this step reports: FOUND_* of an execution of which there was a
 * step, or READY of one that the service reported as queued.
 */
static bool is_summed(const struct bsa_schedule *s, const struct bsa_scheduled *x, enum bsa_step step)
{
	if (step == BSA_STEP_READY) /* the two times of one wait may differ a little */
		return s->horizon_ns && x->found_since && x->state == BSA_SCHEDULED_READY;
	return s->horizon_ns && (x->state != BSA_SCHEDULED_OFF || x->stretches) && is_found(step);
}

static int take_step(struct bsa_schedule *s, struct bsa_scheduled *x, enum bsa_step step, uint64_t at, uint8_t lane)
{
	struct bsa_device *d = x->device ? x->device : device_of(s, x->instance);
	bool late;
	int r = 0;

	if (!d)
		return -ENOMEM;
	late = at < d->now;
	if (!late)
		device_advance(d, at);
	if (!d->stops && (is_off_lane(step) || step == BSA_STEP_RESUME)) { /* so what crowded a lane was absurd */
		d->left->absurd += d->crowded;
		d->stops = true;
		d->crowded = d->lacks_stops = false;
	}
	if (is_summed(s, x, step))
		return 0;
	if (is_absurd(x, step, lane))
		return take_absurd(s, d, x, step);
	if (has_lane(step) && lane < BSA_LANES_MAX) { /* the event names @lane, so the service has it */
		if (!bsa_device_lane(d, lane))
			return -ENOMEM;
		if (lane >= d->n_lanes)
			d->n_lanes = lane + 1u;
	}
	if (late && step != BSA_STEP_FORGET && step != BSA_STEP_CUT)
		return take_late(d, x, step, at, lane);
	switch (step) {
	case BSA_STEP_READY:
		r = take_ready(d, x);
		break;
	case BSA_STEP_DISPATCH:
	case BSA_STEP_RESUME:
		r = take_enter(s, d, x, step, lane);
		break;
	case BSA_STEP_STOP:
	case BSA_STEP_RESTART:
	case BSA_STEP_STALL:
	case BSA_STEP_LOSE:
		r = take_stop(d, x, lane, step);
		break;
	case BSA_STEP_READY_AGAIN:
		r = take_ready_again(d, x);
		break;
	case BSA_STEP_END:
		r = take_end(s, d, x, lane);
		break;
	case BSA_STEP_REFUSED:
		r = bsa_refusals_take(d, x, d->now, false);
		break;
	case BSA_STEP_FORGET:
		r = take_forget(d, x);
		break;
	case BSA_STEP_FOUND_READY:
		r = take_found_waiting(d, x, BSA_SCHEDULED_READY);
		break;
	case BSA_STEP_FOUND_STOPPED:
		r = take_found_waiting(d, x, BSA_SCHEDULED_STOPPED);
		break;
	case BSA_STEP_FOUND_STALLED:
		r = take_found_stalled(d, x);
		break;
	case BSA_STEP_FOUND_ON:
		r = take_found_on(s, d, x, lane);
		break;
	case BSA_STEP_CUT:
		r = x->state == BSA_SCHEDULED_OVER ? 0 : take_cut(s, d, x, at);
		break;
	}
	x->none_waited_at = 0;
	x->last_taken = d->now;
	return r;
}

/* ---- steps in the order of their times ---- */

/* The first @n lanes are idle now, except for those of which something is known. */
static void begin_lanes(struct bsa_device *d, unsigned n)
{
	for (unsigned i = 0; i < d->lanes_room && i < n; i++)
		if (d->lanes[i].known_from == BSA_NEVER)
			bsa_lane_begin(d, &d->lanes[i], d->now);
}

/*
 * Rules that the service reported; or the begin (LISTING) or the end (LISTED) of its listing. The service reports
 * its lanes and policy again at each change, so RULES_IDLE and LISTED concern only lanes of which nothing is known
 * yet.
 */
static int take_rules(struct bsa_schedule *s, uint16_t instance, uint64_t at, unsigned lanes, unsigned flags)
{
	struct bsa_device *d = device_of(s, instance);

	assert(lanes <= BSA_LANES_MAX);
	if (flags & RULES_NATIVE)
		lanes = 0; /* the service has a number of lanes, and uses none: the holder of none is unknown */
	if (!d || (lanes && !bsa_device_lane(d, lanes - 1)))
		return -ENOMEM;
	if (at > d->now)
		device_advance(d, at);
	if (flags & RULES_LISTING) {
		d->listing = has_full_detail(s);
		d->listing_since = d->now;
		return 0;
	}
	if (flags & RULES_LISTED) {
		d->listing = false;
		if (bsa_device_unsure(d, *d->began, d->now)) /* a hole may hide a lane's holder, or the report of it */
			return 0;
		d->listed = true;
		if (has_full_detail(s)) /* otherwise a summary may still report a holder */
			begin_lanes(d, d->n_lanes);
		return 0;
	}
	d->native = flags & RULES_NATIVE;
	d->lanes_told = true;
	if (lanes || d->native)
		d->n_lanes = d->native ? 0 : lanes;
	if (flags & RULES_IDLE) {
		d->listed = true; /* nothing was under way */
		begin_lanes(d, lanes);
	}
	return 0;
}

static int take_earliest(struct bsa_schedule *s)
{
	const struct bsa_scheduled *soon = bsa_steps_soon(&s->steps);
	struct bsa_noted n;

	if (soon) {
		__builtin_prefetch(&soon->state);
		__builtin_prefetch(&soon->pending);
		__builtin_prefetch(&soon->device);
	}
	bsa_steps_take(&s->steps, &n);
	if (!n.x)
		return take_rules(s, n.instance, n.at, n.lane, n.step);
	assert(n.x->steps_left);
	n.x->steps_left--;
	if (n.step == BSA_STEP_FORGET || n.step == BSA_STEP_CUT) /* a holder stays on its lane after CUT */
		n.x->forgotten = false;
	return take_step(s, n.x, n.step, n.at, n.lane);
}

static int note_step(struct bsa_schedule *s, const struct bsa_noted *noted, enum bsa_rank rank)
{
	int r = s->steps.n < BSA_STEPS_MAX ? 0 : take_earliest(s);

	return r < 0 ? r : bsa_steps_add(&s->steps, noted, rank);
}

void bsa_schedule_set_begin(struct bsa_schedule *s, uint64_t at)
{
	s->began = at;
}

int bsa_schedule_lanes(struct bsa_schedule *s, uint16_t instance, uint64_t at, unsigned lanes, bool native, bool idle)
{
	struct bsa_noted noted = { .at = at, .instance = instance };

	if (at == BSA_NEVER || lanes > BSA_LANES_MAX) {
		s->left.absurd++;
		return 0;
	}
	noted.lane = (uint8_t)lanes; /* where x is NULL, the number of lanes */
	noted.step = (native ? RULES_NATIVE : 0) | (idle ? RULES_IDLE : 0);
	if (!s->horizon_ns)
		return take_rules(s, instance, at, lanes, noted.step);
	return note_step(s, &noted, BSA_RANK_RULES);
}

int bsa_schedule_tells_ready(struct bsa_schedule *s, uint16_t instance)
{
	struct bsa_device *d = device_of(s, instance);

	if (!d)
		return -ENOMEM;
	d->tells_ready = true;
	return 0;
}

bool bsa_schedule_is_told_ready(const struct bsa_schedule *s, uint16_t instance)
{
	const struct bsa_device *d = s->devices[instance & (DEVICES - 1)];

	return d && d->tells_ready;
}

int bsa_schedule_listing(struct bsa_schedule *s, uint16_t instance, uint64_t at, bool over)
{
	struct bsa_noted noted = { .at = at, .instance = instance, .step = over ? RULES_LISTED : RULES_LISTING };

	if (at == BSA_NEVER) {
		s->left.absurd++;
		return 0;
	}
	return s->horizon_ns ? note_step(s, &noted, BSA_RANK_RULES) : take_rules(s, instance, at, 0, noted.step);
}

int bsa_schedule_step(struct bsa_schedule *s, struct bsa_scheduled *x, enum bsa_step step, uint64_t at, uint8_t lane)
{
	static const uint8_t ranks[] = {
		[BSA_STEP_READY] = BSA_RANK_READY,         [BSA_STEP_DISPATCH] = BSA_RANK_ENTER,
		[BSA_STEP_STOP] = BSA_RANK_LEAVE,          [BSA_STEP_RESUME] = BSA_RANK_ENTER,
		[BSA_STEP_END] = BSA_RANK_LEAVE,           [BSA_STEP_REFUSED] = BSA_RANK_READY,
		[BSA_STEP_FORGET] = BSA_RANK_ENTER,        [BSA_STEP_FOUND_READY] = BSA_RANK_READY,
		[BSA_STEP_FOUND_STOPPED] = BSA_RANK_READY, [BSA_STEP_FOUND_ON] = BSA_RANK_ENTER,
		[BSA_STEP_CUT] = BSA_RANK_ENTER,           [BSA_STEP_STALL] = BSA_RANK_LEAVE,
		[BSA_STEP_LOSE] = BSA_RANK_LEAVE,          [BSA_STEP_READY_AGAIN] = BSA_RANK_READY,
		[BSA_STEP_FOUND_STALLED] = BSA_RANK_READY, [BSA_STEP_RESTART] = BSA_RANK_LEAVE,
	};
	struct bsa_noted noted = { .at = at, .x = x, .step = (uint8_t)step, .lane = lane };
	uint8_t rank = ranks[step];

	if (at == BSA_NEVER) {
		s->left.absurd++;
		return 0;
	}
	if (!s->horizon_ns)
		return take_step(s, x, step, at, lane);
	if (is_found(step))
		x->found = !has_full_detail(s);
	/*
	 * The rank is the order of steps of one time. A step of @x must not overtake one that was noted
	 * earlier, so @x keeps its highest rank.
	 */
	if (x->last_noted == at && x->last_rank > rank)
		rank = x->last_rank;
	x->last_noted = at;
	x->last_rank = rank;
	if (note_step(s, &noted, rank) < 0)
		return -ENOMEM;
	x->steps_left++;
	x->forgotten |= step == BSA_STEP_FORGET || step == BSA_STEP_CUT;
	return 0;
}

int bsa_schedule_advance(struct bsa_schedule *s, uint64_t known)
{
	int r = 0;

	while (!r && s->steps.n && s->steps.at <= known)
		r = take_earliest(s);
	return r;
}

int bsa_schedule_add_loss(struct bsa_schedule *s, uint64_t began, uint64_t ended, bool full)
{
	/*
	 * A summary comes less than a horizon after what it reports, so one lost in the hole may be about
	 * times a horizon before it.
	 */
	uint64_t most_late = s->horizon_ns && !full ? s->horizon_ns - 1 : 0,
		 from = most_late < began ? began - most_late : 0;

	s->lists |= full;
	if (bsa_losses_add(&s->lost, began, ended) < 0 || bsa_losses_add(&s->unsure, from, ended) < 0)
		return -ENOMEM;
	if (most_late && began)
		s->facts.possible_wait(s->facts.ctx,
		                       &(struct bsa_possible_wait){ .began = from ? from : BSA_NEVER, .ended = ended });
	return 0;
}

int bsa_schedule_add_hole(struct bsa_schedule *s, uint64_t began, uint64_t ended, uint64_t from, uint64_t until)
{
	if (bsa_losses_add(&s->lost, began, ended) < 0)
		return -ENOMEM;
	if (from == BSA_NEVER)
		return 0;
	from = from < began ? from : began;
	if (bsa_losses_add(&s->unsure, from, until) < 0)
		return -ENOMEM;
	s->facts.possible_wait(s->facts.ctx, &(struct bsa_possible_wait){ .began = from, .ended = until });
	return 0;
}

size_t bsa_schedule_tenant_bytes(const struct bsa_schedule *s)
{
	return s->tenants.n * sizeof(struct bsa_tenant);
}

bool bsa_schedule_is_full(const struct bsa_schedule *s)
{
	return s->steps.n >= BSA_STEPS_MAX;
}

int bsa_schedule_set_unsummed(struct bsa_schedule *s, uint64_t since, uint64_t began, uint64_t ended)
{
	if (!s->unsummed || since < s->unsummed_since)
		s->unsummed_since = since;
	s->unsummed = true;
	return began <= ended ? bsa_losses_add(&s->unsure, began, ended) : 0;
}

int bsa_schedule_lacks_stops(struct bsa_schedule *s, uint16_t instance, uint64_t at)
{
	struct bsa_device *d = device_of(s, instance);

	if (!d)
		return -ENOMEM;
	device_lacks_stops(d, at);
	return 0;
}

bool bsa_schedule_lacked_stops(const struct bsa_schedule *s, uint16_t instance, uint64_t began, uint64_t ended)
{
	const struct bsa_device *d = s->devices[instance & (DEVICES - 1)];

	return d && d->unstopped.began <= ended && (d->lacks_stops || began <= d->unstopped.ended);
}

bool bsa_schedule_is_crowded(const struct bsa_schedule *s)
{
	bool any = false;

	for (size_t i = 0; i < DEVICES; i++) {
		if (!s->devices[i] || !s->devices[i]->rose) /* no lane of it was in use */
			continue;
		if (!s->devices[i]->crowded)
			return false;
		any = true;
	}
	return any;
}

bool bsa_schedule_is_unsure(const struct bsa_schedule *s, uint16_t instance, uint64_t began, uint64_t ended)
{
	const struct bsa_device *d = s->devices[instance & (DEVICES - 1)];

	return d ? bsa_device_unsure(d, began, ended) : bsa_losses_touch(&s->unsure, began, ended);
}

int bsa_schedule_report_possible(struct bsa_schedule *s, const struct bsa_scheduled *x, uint64_t since, uint64_t until)
{
	struct bsa_device *d = x->id ? device_of(s, x->instance) : NULL;
	struct bsa_tenant *t = d ? bsa_device_tenant(d, x->app) : NULL;

	if (x->id && !t)
		return -ENOMEM;
	if (t)
		bsa_shares_may_lag(t, since == BSA_NEVER ? 0 : since,
		                   since == BSA_NEVER ? recorded_before(s->began, until) : until - since);
	s->facts.possible_wait(
		s->facts.ctx,
		&(struct bsa_possible_wait){
			.execution = x->id, .began = since, .ended = until, .app = x->app, .model = x->model });
	return 0;
}

void bsa_schedule_report_hidden(struct bsa_schedule *s, const struct bsa_stream *stream, uint64_t after,
                                uint64_t before, bool over)
{
	static const struct bsa_span no_hole = { BSA_NEVER, 0 };
	struct bsa_device *d = s->devices[stream->number >> STREAM_INSTANCE_SHIFT & (DEVICES - 1)];
	struct bsa_holes unsure = d ? d->unsure : (struct bsa_holes){ &s->unsure, &no_hole };
	uint64_t from = bsa_holes_begin(&unsure, after), to = over ? bsa_holes_end(&unsure, before) : before;
	struct bsa_span hole = bsa_holes_from(&unsure, from);
	bool unlisted = d ? may_be_unlisted(d, after) : s->lists && after <= s->began;

	if (d && !over && !s->unsummed)
		to = bsa_lanes_ready_until(d, hole.began != BSA_NEVER ? hole.ended : 0, to);
	if (hole.began == BSA_NEVER || from > to ||
	    (hole.ended >= to && !unlisted)) /* no hole, or one whose own report covers the wait */
		return;
	assert(hole.began <= from);
	if (from <= s->began || unlisted)
		from = BSA_NEVER;
	/*
	 * If it still waits, it got no lane, and its app's lag is at least as reported. If it is over, it may
	 * have had a lane, and other apps' lags may be too high.
	 */
	if (d && over)
		bsa_shares_uncounted(d, from == BSA_NEVER ? recorded_before(s->began, to) : to - from);
	s->facts.possible_wait(
		s->facts.ctx,
		&(struct bsa_possible_wait){ .began = from, .ended = to, .app = stream->app, .model = stream->model });
}

bool bsa_schedule_is_lost(const struct bsa_schedule *s, uint64_t began, uint64_t ended)
{
	return bsa_losses_touch(&s->lost, began, ended);
}

/* ---- the end ---- */

/*
 * @at: the end of the service's recording; 0: unknown. @end: the end of the whole recording; if @unsummed, an
 * execution without a summary may hold a lane until then.
 */
static void finish_device(struct bsa_device *d, uint64_t at, uint64_t end, bool unsummed)
{
	bsa_refusals_end_instant(d);
	if (at > d->now)
		device_advance(d, at);
	if (d->lacks_stops && end > d->unstopped.ended)
		d->unstopped.ended = end;
	if (d->unstopped.began != BSA_NEVER) /* no loss shows that hole */
		d->facts->possible_wait(d->facts->ctx, &(struct bsa_possible_wait){ .began = d->unstopped.began,
		                                                                    .ended = d->unstopped.ended });
	for (unsigned i = 0; i < d->lanes_room; i++) {
		uint64_t idle = idle_until(d, &d->lanes[i], BSA_NEVER);

		bsa_refusals_settle(d, i, unsummed && *d->unsummed_since < idle ? *d->unsummed_since : idle);
	}
	bsa_refusals_report(d);
	for (unsigned i = 0; i < d->lanes_room; i++)
		bsa_lane_end(d, &d->lanes[i], unsummed && end > d->now ? end : d->now, unsummed);
	for (unsigned i = 0; i < d->lanes_room; i++)
		if (d->lanes[i].holder)
			lose_track(d, d->lanes[i].holder);
	while (d->on_native)
		lose_track(d, d->on_native);

	/*
	 * Take all executions from the lists of those that wait. Doubtful ones are in none of a tenant's
	 * lists, and do not make a tenant one of d->waiting (waits.c). So each tenant there has an execution
	 * in a list, and the loop ends.
	 */
	while (d->n_waiting_tenants) {
		const struct bsa_tenant *t = d->waiting[0];
		unsigned p = 0;

		while (p < BSA_LEVELS && !t->levels[p].head)
			p++;
		assert(t->n_waiting && p < BSA_LEVELS);
		lose_track(d, t->levels[p].head);
	}
	while (d->doubtful)
		lose_track(d, d->doubtful);
	assert(!d->n_waiting && !d->on_native && !d->refusals.n && !d->n_unproven);
	bsa_shares_finish(d);
}

void bsa_schedule_set_end(struct bsa_schedule *s, uint16_t instance, uint64_t at)
{
	struct bsa_device *d = s->devices[instance & (DEVICES - 1)];

	if (d) /* otherwise it has had no step, and nothing of it is under way */
		d->ended = at;
}

void bsa_schedule_set_silent(struct bsa_schedule *s, uint16_t instance, uint64_t from)
{
	struct bsa_device *d = s->devices[instance & (DEVICES - 1)];

	if (d)
		d->silent = from;
}

int bsa_schedule_finish(struct bsa_schedule *s, uint64_t at)
{
	int r = bsa_schedule_advance(s, BSA_NEVER);

	if (r < 0)
		return r;
	at = at == BSA_NEVER ? 0 : at;
	for (size_t i = 0; i < DEVICES; i++)
		if (s->devices[i])
			finish_device(s->devices[i], s->devices[i]->ended ? s->devices[i]->ended : at, at, s->unsummed);
	bsa_pairs_report(&s->pairs, &s->facts);
	s->left.pairs = s->pairs.joined;
	return 0;
}

void bsa_schedule_report_unrecorded(const struct bsa_schedule *s, uint16_t instance, uint64_t began, uint64_t ended)
{
	const struct bsa_device *d = s->devices[instance & (DEVICES - 1)];
	struct bsa_unknown_lane unknown = { .began = began, .ended = ended, .instance = instance };

	for (unsigned i = 0; d && !s->unsummed && began < ended && i < d->lanes_room; i++) {
		unknown.lane = (uint8_t)i;
		s->facts.unknown_lane(s->facts.ctx, &unknown);
	}
}

struct bsa_left_out bsa_schedule_left_out(const struct bsa_schedule *s)
{
	return s->left;
}
