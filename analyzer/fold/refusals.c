/* refusals.c -- follows refused executions until it is known which lanes they would have met. */
#include "fold/refusals.h"

#include "base/vector.h"
#include "fold/waits.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

enum { REFUSALS_MAX = 1 << 16 };

/* 0; -ENOMEM; or 1: there are too many. */
static int refusals_add(struct bsa_refusals *r, const struct bsa_refusal *refusal)
{
	if (r->n == REFUSALS_MAX)
		return 1;
	if (!BSA_RESERVE(r->all, r->room, r->n + 1, 16))
		return -ENOMEM;
	assert(r->n < r->room);
	r->all[r->n++] = *refusal;
	return 0;
}

static void refusal_report_so_far(const struct bsa_device *d, const struct bsa_refusal *r)
{
	if (d->facts->refused_so_far)
		d->facts->refused_so_far(d->facts->ctx, &r->told);
}

static void refusal_report(const struct bsa_device *d, const struct bsa_refusal *r)
{
	d->facts->refused(d->facts->ctx, &r->told);
}

/* Since when no lane is free; BSA_NEVER: one may be. */
static uint64_t all_held_since(const struct bsa_device *d)
{
	uint64_t since = d->n_lanes && d->n_lanes <= d->lanes_room ? 0 : BSA_NEVER;

	for (unsigned i = 0; since != BSA_NEVER && i < d->n_lanes; i++) {
		const struct bsa_lane *l = &d->lanes[i];

		since = !bsa_lane_is_held(d, l, d->now) ? BSA_NEVER : l->since > since ? l->since : since;
	}
	return since;
}

/* @since: as all_held_since. A lane that was freed before the first hole would have been seen. */
static void refusal_set_held(const struct bsa_device *d, struct bsa_refusal *r, uint64_t since)
{
	uint64_t lost = bsa_holes_begin(&d->lost, r->told.at), unsure = bsa_holes_begin(&d->unsure, r->told.at);
	uint64_t hole = lost < unsure ? lost : unsure;

	if (r->all_held && r->told.at >= since)
		r->told.held_until = d->now;
	else if (r->all_held && hole < d->now)
		r->told.held_until = hole;
}

void bsa_refusals_lane_free(struct bsa_device *d)
{
	uint64_t since = d->n_lane_free < d->refusals.n ? all_held_since(d) : 0;

	assert(d->n_lane_free <= d->refusals.n);
	for (; d->n_lane_free < d->refusals.n; d->n_lane_free++) {
		struct bsa_refusal *r = &d->refusals.all[d->n_lane_free];

		if (r->told.lane_free != BSA_NEVER)
			continue;
		refusal_set_held(d, r, since);
		if (r->told.held_until == d->now)
			r->told.lane_free = d->now;
	}
}

/* ---- idle lanes that are to be proven ---- */

/* Whether the refusal takes lane @number, which has had no holder since, for one that was free at once. */
static bool claims_lane(const struct bsa_device *d, const struct bsa_refusal *r, unsigned number)
{
	return r->idle_lane == number && r->told.lane_free == r->told.at && r->told.at >= d->lanes[number].since;
}

/* Until @until it was certain that lane @number was idle. */
static void refusal_settle(const struct bsa_device *d, struct bsa_refusal *r, unsigned number, uint64_t until)
{
	bool claims = claims_lane(d, r, number);

	r->idle_lane = BSA_LANE_NONE;
	if (claims && r->told.lane_free > until) { /* the execution on lane 0 need not be what was ahead */
		r->told.lane_free = BSA_NEVER;
		r->told.holder = r->told.holder_app = 0;
		r->told.holder_cause = BSA_CAUSE_UNKNOWN;
	}
	if (r->told.queue_free == BSA_NEVER || r->told.queue_free <= until)
		return;
	r->told.queue_free = BSA_NEVER;
	if (r->told.queue_cause == BSA_QUEUED_BEHIND && !r->told.queue) /* no execution was seen to wait */
		r->told.queue_cause = BSA_CAUSE_UNKNOWN;
}

void bsa_refusals_settle(struct bsa_device *d, unsigned number, uint64_t until)
{
	struct bsa_lane *l = &d->lanes[number];
	struct bsa_refusals *r = &l->unproven;

	for (size_t i = d->refusals.n; l->claimed && i-- && d->refusals.all[i].told.at >= l->since;)
		if (d->refusals.all[i].idle_lane == number)
			refusal_settle(d, &d->refusals.all[i], number, until);
	l->claimed = false;
	for (size_t i = 0; i < r->n; i++) {
		refusal_settle(d, &r->all[i], number, until);
		refusal_report(d, &r->all[i]);
	}
	assert(d->n_unproven >= r->n);
	d->n_unproven -= r->n;
	r->n = 0;
}

/*
 * Keep the refusal until its idle lane is proven. Where there is no room, those of this lane are reported
 * now: if summaries are recorded, nothing is known of the lane then.
 */
static void refusal_keep_unproven(struct bsa_device *d, struct bsa_refusal *r)
{
	unsigned lane = r->idle_lane;
	uint64_t until = d->summed ? 0 : BSA_NEVER;

	if (d->n_unproven == REFUSALS_MAX)
		bsa_refusals_settle(d, lane, until);
	if (d->n_unproven < REFUSALS_MAX && !refusals_add(&d->lanes[lane].unproven, r)) {
		d->n_unproven++;
		return;
	}
	refusal_settle(d, r, lane, until);
	refusal_report(d, r);
}

/*
 * Whether it is known which executions have waited, and which have held lanes, at all times from @since until
 * now. The lanes must be known now. If events were lost before @since, an execution may wait unseen, unless
 * an idle lane proves that none waited at @since.
 */
static bool queue_is_known(const struct bsa_device *d, uint64_t since)
{
	if (bsa_device_lost(d, *d->began, d->now) && bsa_lanes_ready_until(d, d->proof_hole, since) >= since)
		return false;
	return since >= d->unseen_until && !bsa_device_lost(d, since, d->now);
}

/* A lane that is idle at @at; BSA_LANE_NONE if no lane is certainly idle. */
static uint8_t idle_lane(const struct bsa_device *d, uint64_t at)
{
	for (unsigned i = 0; i < d->lanes_room && i < d->n_lanes; i++)
		if (bsa_lane_is_idle(d, &d->lanes[i], at))
			return (uint8_t)i;
	return BSA_LANE_NONE;
}

/*
 * @idle: a lane that is idle while no execution waits. Where the queue is not known since the refusal, it may
 * have been free earlier.
 */
static void report_refusals(struct bsa_device *d, uint8_t idle)
{
	bool queue_free = idle != BSA_LANE_NONE && d->lanes_told;
	uint64_t since = d->n_lane_free < d->refusals.n ? all_held_since(d) : 0;

	/* The answer needs of each lane the execution that holds it now, or that it is idle. */
	for (unsigned i = 0; queue_free && i < d->lanes_room && i < d->n_lanes; i++)
		queue_free = bsa_lane_is_held(d, &d->lanes[i], d->now) || bsa_lane_is_idle(d, &d->lanes[i], d->now);
	for (size_t i = 0; i < d->refusals.n; i++) {
		struct bsa_refusal *r = &d->refusals.all[i];
		bool claims = r->idle_lane != BSA_LANE_NONE && claims_lane(d, r, r->idle_lane);

		if (i >= d->n_lane_free && r->told.lane_free == BSA_NEVER)
			refusal_set_held(d, r, since);
		if (queue_free && queue_is_known(d, r->told.at)) {
			r->told.queue_free = d->now;
			if (!claims)
				r->idle_lane = idle;
			claims = true;
		}
		refusal_report_so_far(d, r);
		if (claims)
			refusal_keep_unproven(d, r);
		else
			refusal_report(d, r);
	}
	d->refusals.n = d->n_lane_free = 0;
}

void bsa_refusals_report(struct bsa_device *d)
{
	report_refusals(d, BSA_LANE_NONE);
}

void bsa_refusals_end_instant(struct bsa_device *d)
{
	uint8_t idle;

	if (!d->refusals.n || d->n_waiting)
		return;
	idle = idle_lane(d, d->now);
	if (idle != BSA_LANE_NONE)
		report_refusals(d, idle);
}

static void note_queue(const struct bsa_device *d, const struct bsa_tenant *own, struct bsa_refused *ret)
{
	const struct bsa_tenant *ahead = own;
	uint64_t longest = BSA_NEVER;

	/*
	 * The only app other than @own that waits, or @own if no other does, even if @own does not wait
	 * either. NULL: several others wait.
	 */
	for (size_t i = 0; ahead && i < d->n_waiting_tenants; i++)
		if (d->waiting[i] != own)
			ahead = ahead == own ? d->waiting[i] : NULL;
	ret->queue_cause = ahead == own ? BSA_QUEUED_BEHIND : BSA_CROWDED_OUT;
	if (own->queued.n_estimated == own->n_waiting)
		ret->own_ns = own->queued.ns;
	if (d->queued.n_estimated - own->queued.n_estimated == d->n_waiting - own->n_waiting)
		ret->others_ns = d->queued.ns - own->queued.ns;
	for (int i = 0; ahead && i < BSA_LEVELS; i++) {
		const struct bsa_scheduled *head = ahead->levels[i].head;

		if (!head || head->ready_since >= longest)
			continue;
		longest = head->ready_since;
		ret->queue = head->id;
		ret->queue_app = ahead->app;
	}
}

int bsa_refusals_take(struct bsa_device *d, const struct bsa_scheduled *x, uint64_t at, bool late)
{
	struct bsa_refusal r = { .told = { .execution = x->id,
		                           .at = at,
		                           .lane_free = BSA_NEVER,
		                           .held_until = at,
		                           .queue_free = BSA_NEVER,
		                           .own_ns = BSA_NEVER,
		                           .others_ns = BSA_NEVER,
		                           .holder_cause = BSA_CAUSE_UNKNOWN,
		                           .queue_cause = BSA_CAUSE_UNKNOWN },
		                 .idle_lane = BSA_LANE_NONE,
		                 .all_held = !late && all_held_since(d) != BSA_NEVER };
	const struct bsa_tenant *t = bsa_device_tenant(d, x->app);
	const struct bsa_lane *l = d->lanes_room ? &d->lanes[0] : NULL;
	uint8_t idle = late ? BSA_LANE_NONE : idle_lane(d, at);
	int added = 1;

	if (!t)
		return -ENOMEM;
	if (!late && l && bsa_lane_is_held(d, l, at)) {
		/* The execution on lane 0: struct bsa_refused has one holder. */
		struct bsa_stretch holding = { .tenant = l->holder->tenant,
			                       .level = l->holder->level,
			                       .hogging = l->hogging };

		r.told.holder = l->holder->id;
		r.told.holder_app = l->holder->tenant->app;
		r.told.holder_cause =
			bsa_waits_cause(t, x->priority < BSA_LEVEL_UNKNOWN ? x->priority : BSA_LEVEL_UNKNOWN, &holding);
	}
	/* A hole may hide a waiting execution of any app, and in compact detail one that waited before the hole. */
	if (!late && queue_is_known(d, at) && !bsa_device_unsure(d, at, at))
		note_queue(d, t, &r.told);
	if (idle != BSA_LANE_NONE) {
		r.told.lane_free = at;
		r.idle_lane = idle;
		d->lanes[idle].claimed = true;
	}
	if (!late)
		added = refusals_add(&d->refusals, &r);
	if (added == 1)
		refusal_report_so_far(d, &r);
	if (added == 1 && r.idle_lane != BSA_LANE_NONE)
		refusal_keep_unproven(d, &r);
	else if (added == 1)
		refusal_report(d, &r);
	return added < 0 ? added : 0;
}
