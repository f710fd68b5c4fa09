/* refusals.c -- see refusals.h. */
#include "fold/refusals.h"

#include "fold/waits.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

enum { REFUSALS_MAX = 1 << 16 };

/* Keep a refusal until it is known when a lane was free. Where too many are kept, report it at once. 0 or -ENOMEM. */
static int refusal_keep(struct bsa_device *d, const struct bsa_refused *refused)
{
	struct bsa_refusals *r = &d->refusals;

	if (r->n == r->room) {
		size_t room = r->room ? 2 * r->room : 16;
		struct bsa_refused *more;

		if (r->n == REFUSALS_MAX) {
			d->facts->refused(d->facts->ctx, refused);
			return 0;
		}
		more = realloc(r->all, room * sizeof(*more));
		if (!more)
			return -ENOMEM;
		r->all = more;
		r->room = room;
	}
	assert(r->n < r->room);
	r->all[r->n++] = *refused;
	return 0;
}

void bsa_refusals_lane_free(struct bsa_device *d, uint64_t at)
{
	struct bsa_refusals *r = &d->refusals;

	assert(r->n_lane_free <= r->n);
	for (; r->n_lane_free < r->n; r->n_lane_free++)
		if (r->all[r->n_lane_free].lane_free == BSA_NEVER)
			r->all[r->n_lane_free].lane_free = at;
}

/* Whether it is known of each lane which execution holds it now, or that it is idle. */
static bool lanes_are_known(const struct bsa_device *d)
{
	for (unsigned i = 0; i < d->lanes_room && i < d->n_lanes; i++)
		if (!bsa_lane_is_held(d, &d->lanes[i], d->now) && !bsa_lane_is_idle(d, &d->lanes[i], d->now))
			return false;
	return d->lanes_told;
}

/* Whether it is known which executions have waited, and which have held lanes, at all times from @since until now; the lanes are known now. */
static bool queue_is_known(const struct bsa_device *d, uint64_t since)
{
	if (bsa_device_lost(d, *d->began, d->now) && bsa_lanes_ready_until(d, d->proof_hole, since) >= since)
		return false;
	return since >= d->unseen_until && !bsa_device_lost(d, since, d->now);
}

/* @queue_free: a lane is idle, and no execution waits. Only where the queue is known since the refusal, this is the first such time. */
static void report_refusals(struct bsa_device *d, bool queue_free)
{
	struct bsa_refusals *r = &d->refusals;

	queue_free = queue_free && lanes_are_known(d);
	for (size_t i = 0; i < r->n; i++) {
		if (queue_free && queue_is_known(d, r->all[i].at))
			r->all[i].queue_free = d->now;
		d->facts->refused(d->facts->ctx, &r->all[i]);
	}
	r->n = r->n_lane_free = 0;
}

void bsa_refusals_report(struct bsa_device *d)
{
	report_refusals(d, false);
}

static bool any_is_idle(const struct bsa_device *d, uint64_t at)
{
	for (unsigned i = 0; i < d->lanes_room && i < d->n_lanes; i++)
		if (bsa_lane_is_idle(d, &d->lanes[i], at))
			return true;
	return false;
}

void bsa_refusals_end_instant(struct bsa_device *d)
{
	if (d->refusals.n && !d->n_waiting && any_is_idle(d, d->now))
		report_refusals(d, true);
}

/* What a refused execution of @own would have had to wait for besides the lane: another app, or, where only its own or none waits, its own. */
static uint8_t cause_of_queue(const struct bsa_device *d, const struct bsa_tenant *own)
{
	for (size_t i = 0; i < d->n_waiting_tenants; i++)
		if (d->waiting[i] != own)
			return BSA_CROWDED_OUT;
	return BSA_QUEUED_BEHIND;
}

/* The only other app of which executions wait, or its own if no other does. NULL: none waits, or those of several apps. */
static const struct bsa_tenant *tenant_ahead(const struct bsa_device *d, const struct bsa_tenant *own)
{
	const struct bsa_tenant *other = NULL;

	for (size_t i = 0; i < d->n_waiting_tenants; i++) {
		if (d->waiting[i] == own)
			continue;
		if (other)
			return NULL;
		other = d->waiting[i];
	}
	return other ? other : own;
}

/* NULL: none of its executions waits. */
static const struct bsa_scheduled *longest_waiting(const struct bsa_tenant *t)
{
	const struct bsa_scheduled *ret = NULL;

	for (int i = 0; i < BSA_LEVELS; i++)
		if (t->levels[i].head && (!ret || t->levels[i].head->ready_since < ret->ready_since))
			ret = t->levels[i].head;
	return ret;
}

static void note_queue(const struct bsa_device *d, const struct bsa_tenant *own, struct bsa_refused *ret)
{
	const struct bsa_tenant *ahead = tenant_ahead(d, own);
	const struct bsa_scheduled *head = ahead ? longest_waiting(ahead) : NULL;

	ret->queue_cause = cause_of_queue(d, own);
	if (!head)
		return;
	ret->queue = head->id;
	ret->queue_app = ahead->app;
}

int bsa_refusals_take(struct bsa_device *d, const struct bsa_scheduled *x, uint64_t at, bool late)
{
	struct bsa_refused refused = { .execution = x->id,
		                       .at = at,
		                       .lane_free = BSA_NEVER,
		                       .queue_free = BSA_NEVER,
		                       .holder_cause = BSA_CAUSE_UNKNOWN };
	const struct bsa_lane *l = d->lanes_room ? &d->lanes[0] : NULL; /* bsa_refused has one holder: that of lane 0 */
	struct bsa_tenant *t = bsa_device_tenant(d, x->app);

	if (!t)
		return -ENOMEM;
	if (!late && l && bsa_lane_is_held(d, l, at)) {
		struct bsa_stretch holding = { .tenant = l->holder->tenant,
			                       .level = l->holder->level,
			                       .hogging = l->hogging };

		refused.holder = l->holder->id;
		refused.holder_app = l->holder->tenant->app;
		refused.holder_cause =
			bsa_waits_cause(t, x->priority < BSA_LEVEL_UNKNOWN ? x->priority : BSA_LEVEL_UNKNOWN, &holding);
	}
	note_queue(d, t, &refused);
	if (late) {
		d->facts->refused(d->facts->ctx, &refused);
		return 0;
	}
	if (any_is_idle(d, at))
		refused.lane_free = at;
	return refusal_keep(d, &refused);
}
