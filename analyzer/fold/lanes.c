/*
 * lanes.c -- who holds a lane now, and who held it since the oldest present wait began.
 *
 * TERMS     A stretch is the time between two steps of a lane: held by an execution, idle, or unknown. The history has the stretches that
 *           were held or unknown; a gap between them was idle. A hole is a time for which events may be missing (schedule.c). A lane
 *           is doubtful if a step has shown that the recorded holder may be a wrong one.
 * INVARIANT Nothing is known before `known`; before `kept` only what a wait that is under way needs is there. Everything from the
 *           later of both until `since` is in the history, and `since` until now is the current stretch.
 * CONCURRENCY  One thread uses a device and its lanes. The functions of struct bsa_facts must not call them.
 */
#include "fold/lanes.h"

#include "fold/device.h"
#include "fold/waits.h"

#include <assert.h>
#include <stdlib.h>

static struct bsa_stretch *nth_stretch(const struct bsa_lane *l, size_t i)
{
	return &l->ring[(l->first + i) & (l->room - 1)];
}

static void drop_oldest(struct bsa_device *d, struct bsa_lane *l, size_t n)
{
	assert(n <= l->n && n <= *d->history);
	l->first = (l->first + n) & (l->room - 1);
	l->n -= n;
	*d->history -= n;
}

void bsa_lane_fini(struct bsa_lane *l, struct bsa_device *d)
{
	assert(*d->history >= l->n);
	*d->history -= l->n;
	free(l->ring);
	*l = (struct bsa_lane){ 0 };
}

/* Drop the stretches that no wait needs any more. */
static void drop_old(struct bsa_device *d, struct bsa_lane *l)
{
	uint64_t oldest = bsa_waits_oldest(d);
	size_t n = 0;

	while (n < l->n && nth_stretch(l, n)->ended <= oldest)
		n++;
	if (n)
		l->kept = nth_stretch(l, n - 1)->ended;
	drop_oldest(d, l, n);
}

/* Drop the @n oldest stretches although a wait may need them: the lane's holder of that time is unknown from now on. */
static void forget_oldest(struct bsa_device *d, struct bsa_lane *l, size_t n)
{
	assert(n && n <= l->n);
	l->known = nth_stretch(l, n - 1)->ended;
	l->cut = true;
	drop_oldest(d, l, n);
}

static bool ring_grow(struct bsa_lane *l)
{
	size_t room = l->room ? 2 * l->room : 16;
	struct bsa_stretch *more = malloc(room * sizeof(*more));

	if (!more)
		return false;
	for (size_t i = 0; i < l->n; i++)
		more[i] = *nth_stretch(l, i);
	free(l->ring);
	l->ring = more;
	l->room = room;
	l->first = 0;
	return true;
}

/*
 * Make room for one more stretch. Without memory, the oldest ones are forgotten; all of them, where all lanes together have too many. False: no
 * memory, and the history is empty.
 */
static bool make_room(struct bsa_device *d, struct bsa_lane *l)
{
	if (l->n && *d->history >= BSA_HISTORY_ALL)
		forget_oldest(d, l, l->n);
	if (l->n < l->room)
		return true;
	drop_old(d, l);
	if (2 * l->n >= l->room && l->room < BSA_HISTORY_MAX && ring_grow(l))
		return true;
	if (l->n && l->n == l->room)
		forget_oldest(d, l, (l->n + 3) / 4);
	return l->n < l->room;
}

static void report_occupied(const struct bsa_device *d, const struct bsa_lane *l, const struct bsa_stretch *s)
{
	struct bsa_occupied fact = { .began = s->began,
		                     .ended = s->ended,
		                     .blocker = s->id,
		                     .app = s->tenant ? s->tenant->app : 0,
		                     .instance = d->instance,
		                     .lane = (uint8_t)(l - d->lanes),
		                     .occupancy = s->occupancy,
		                     .level = s->level,
		                     .hogging = s->hogging };

	d->facts->occupied(d->facts->ctx, &fact);
}

static void remember_stretch(struct bsa_device *d, struct bsa_lane *l, const struct bsa_stretch *s)
{
	if (!d->n_waiting) { /* none waits; for one that is still to be found waiting, by exec_state, the time before is unknown */
		drop_oldest(d, l, l->n);
		l->kept = s->ended;
		return;
	}
	if (s->began == s->ended)
		return;
	if (!make_room(d, l)) {
		l->known = s->ended;
		l->cut = true;
		return;
	}
	l->n++;
	*nth_stretch(l, l->n - 1) = *s;
	++*d->history;
	if (d->facts->occupied)
		report_occupied(d, l, s);
}

/* A lane without a holder: an execution without any event may have been there in each hole, also in one that only a lost summary makes. */
static bool absence_is_certain(const struct bsa_device *d, const struct bsa_lane *l, uint64_t at)
{
	return l->known != BSA_NEVER && !l->doubtful && !bsa_device_unsure(d, l->since, at);
}

/* A lane with a holder: only lost events can hide that it left, and none can, if its summary counted how often it was preempted. */
static bool holder_is_certain(const struct bsa_device *d, const struct bsa_lane *l, uint64_t at)
{
	return !l->doubtful && (l->holder->counted || !bsa_device_lost(d, l->since, at));
}

bool bsa_lane_is_idle(const struct bsa_device *d, const struct bsa_lane *l, uint64_t at)
{
	return !l->holder && absence_is_certain(d, l, at);
}

bool bsa_lane_is_held(const struct bsa_device *d, const struct bsa_lane *l, uint64_t at)
{
	return l->holder && holder_is_certain(d, l, at);
}

/* The stretch from the lane's last step until @at. */
static void current_stretch(const struct bsa_device *d, const struct bsa_lane *l, uint64_t at, struct bsa_stretch *ret)
{
	*ret = (struct bsa_stretch){ .began = l->since, .ended = at, .occupancy = BSA_UNKNOWN };
	if (bsa_lane_is_held(d, l, at)) {
		ret->occupancy = BSA_HELD;
		ret->id = l->holder->id;
		ret->step_ns = l->holder->step_ns;
		ret->tenant = l->holder->tenant;
		ret->level = l->holder->level;
		ret->hogging = l->hogging;
	} else if (bsa_lane_is_idle(d, l, at)) {
		ret->occupancy = BSA_IDLE;
	}
}

enum closing {
	LEFT,    /* the holder leaves the lane */
	DOUBTED, /* steps contradict each other */
	FREE,    /* the lane is certainly free, although the execution that left it may be unknown */
	ENDS     /* the recording ends */
};

/*
 * The part of [since, @at] for which the holder is uncertain. It begins with the first hole, if the lane was idle then or an execution of
 * the highest priority held it. It ends with the last hole, if the lane is FREE at @at, because an execution that leaves a lane after the
 * hole is recorded. If the lane is DOUBTED, or the recording ENDS, all of the time is uncertain.
 */
static void doubtful_part(const struct bsa_device *d, const struct bsa_lane *l, uint64_t at, enum closing closing,
                          uint64_t *began, uint64_t *ended)
{
	const struct bsa_span *first = bsa_losses_from(d->unsure, l->since);
	uint64_t last = bsa_losses_end(d->unsure, at);

	*began = l->since;
	*ended = at;
	if (!first || first->began > at || closing == DOUBTED || closing == ENDS)
		return;
	if (!l->doubtful && first->began > l->since && (!l->holder || l->holder->level == BSA_PRIORITY_HIGH))
		*began = first->began;
	last = last > l->heard ? last : l->heard;
	if (closing == FREE && last > *began && last < at)
		*ended = last;
}

static void report_one_unknown(const struct bsa_device *d, const struct bsa_lane *l, uint64_t began, uint64_t ended,
                               uint64_t execution)
{
	struct bsa_unknown_lane unknown = { .execution = execution,
		                            .began = began,
		                            .ended = ended,
		                            .instance = d->instance,
		                            .lane = (uint8_t)(l - d->lanes) };

	if (!l->over && (began == BSA_NEVER || began < ended))
		d->facts->unknown_lane(d->facts->ctx, &unknown);
}

/*
 * The lane's holder was certain until a hole began, and after the last hole no execution entered the lane until @at. So any execution may
 * have held it within the holes, only the former holder from before the first hole on, and only @last after the last one. Report
 * these three. Returns false if this is not the case.
 */
static bool report_around_hole(const struct bsa_device *d, const struct bsa_lane *l, uint64_t at, enum closing closing,
                               uint64_t last)
{
	const struct bsa_span *first = bsa_losses_from(d->unsure, l->since);
	uint64_t over = bsa_losses_end(d->unsure, at), holder = l->holder ? l->holder->id : 0, until = at;

	if (l->doubtful || l->known == BSA_NEVER || !first || first->began <= l->since || first->began > at)
		return false;
	if (closing == FREE && l->heard > over) {
		last = l->heard_id;
		until = l->heard;
	} else if (closing == FREE) {
		last = 0;
		until = over;
	}
	if (!last) /* the last holder is unknown */
		over = until;
	report_one_unknown(d, l, first->began, over, 0);
	if (holder)
		report_one_unknown(d, l, l->since, holder == last ? until : over, holder);
	if (last && last != holder)
		report_one_unknown(d, l, first->began, until, last);
	return true;
}

/* Report that the lane's holder is unknown. @last: the execution that certainly held the lane at @at; 0: unknown. */
static void report_unknown(const struct bsa_device *d, const struct bsa_lane *l, uint64_t at, enum closing closing,
                           uint64_t last)
{
	uint64_t began, ended;

	if ((closing == FREE || closing == ENDS || last) && report_around_hole(d, l, at, closing, last))
		return;
	doubtful_part(d, l, at, closing, &began, &ended);
	report_one_unknown(d, l, l->known == BSA_NEVER ? BSA_NEVER : began, ended, 0);
}

/* An assumption: a service leaves no lane idle for longer than four times its longest hand-over so far while an execution is ready. */
static uint64_t idle_proves_ns(const struct bsa_device *d)
{
	return d->handed ? BSA_IDLE_SLACK_NS + 4 * d->longest_handover : BSA_IDLE_PROVES_NS;
}

/* @l was certainly idle from its last step to @at. If that was long, no execution was ready: note the first such time since the last hole. */
static void note_idle(struct bsa_device *d, const struct bsa_lane *l, uint64_t at)
{
	if (at - l->since < idle_proves_ns(d) || l->known == BSA_NEVER || l->since < d->proof_hole ||
	    (d->proof && d->proof <= l->since))
		return;
	d->proof = l->since;
}

/* End the stretch since the lane's last step. Returns whether it is known who held the lane. */
static bool close_stretch(struct bsa_device *d, struct bsa_lane *l, uint64_t at, enum closing closing, uint64_t last)
{
	struct bsa_stretch s = { .began = l->since, .ended = at, .occupancy = BSA_UNKNOWN };

	if (closing == LEFT || !l->holder)
		current_stretch(d, l, at, &s);
	if (closing == DOUBTED)
		s.occupancy = BSA_UNKNOWN;
	if (s.occupancy == BSA_UNKNOWN) {
		d->unseen_until = at;
		report_unknown(d, l, at, closing, last);
	}
	if (s.occupancy == BSA_IDLE && d->had_hole)
		note_idle(d, l, at);
	if (l->known == BSA_NEVER)
		l->known = at;
	else if (s.occupancy != BSA_IDLE)
		remember_stretch(d, l, &s);
	l->since = at;
	l->holder = NULL;
	l->doubtful = false;
	return s.occupancy != BSA_UNKNOWN;
}

void bsa_lane_begin(struct bsa_lane *l, uint64_t at)
{
	l->since = l->known = at;
}

void bsa_lane_enter(struct bsa_device *d, struct bsa_lane *l, struct bsa_scheduled *x, uint64_t at, bool hogging)
{
	assert(!l->holder);
	close_stretch(d, l, at, FREE, 0);
	l->holder = x;
	l->hogging = hogging;
	l->doubtful = x->uncertain && !x->stretches;
}

void bsa_lane_heard(const struct bsa_device *d, struct bsa_lane *l, const struct bsa_scheduled *x, uint64_t at,
                    bool certain)
{
	bool again = l->heard > bsa_losses_end(d->unsure, at) && l->heard > l->since;

	l->heard = at;
	l->heard_id = certain && !again ? x->id : 0;
}

bool bsa_lane_leave(struct bsa_device *d, struct bsa_lane *l, uint64_t at, bool gone, bool certain)
{
	bool known;

	assert(l->holder);
	known = close_stretch(d, l, at, LEFT, !gone || certain ? l->holder->id : 0);
	l->doubtful = gone;
	return known;
}

struct bsa_scheduled *bsa_lane_doubt(struct bsa_device *d, struct bsa_lane *l, uint64_t at, bool freed,
                                     const struct bsa_scheduled *last)
{
	struct bsa_scheduled *was = l->holder;

	close_stretch(d, l, at, DOUBTED, last ? last->id : 0);
	l->doubtful = !freed;
	return was;
}

struct bsa_scheduled *bsa_lane_vacate(struct bsa_device *d, struct bsa_lane *l, uint64_t at)
{
	struct bsa_scheduled *was = l->holder;

	close_stretch(d, l, at, FREE, 0);
	return was;
}

uint64_t bsa_lane_proof(const struct bsa_device *d, uint64_t hole, uint64_t at)
{
	uint64_t proof = d->proof ? d->proof : BSA_NEVER;

	if (d->proof_hole != hole)
		return at;
	if (d->none_waited && d->none_waited < at)
		at = d->none_waited;
	for (unsigned i = 0; i < d->lanes_room; i++) {
		const struct bsa_lane *l = &d->lanes[i];

		if (bsa_lane_is_idle(d, l, at) && l->since >= hole && l->since < proof)
			proof = l->since;
	}
	return proof < at && at - proof > idle_proves_ns(d) ? proof + idle_proves_ns(d) : at;
}

void bsa_lane_cut(struct bsa_device *d, struct bsa_lane *l, uint64_t at, bool unsummed)
{
	struct bsa_stretch s;

	l->doubtful |= unsummed && !l->holder;
	current_stretch(d, l, at, &s);
	if (s.occupancy == BSA_UNKNOWN)
		report_unknown(d, l, at, ENDS, 0);
	l->over = true;
}

void bsa_lane_doubt_past(struct bsa_device *d, struct bsa_lane *l)
{
	drop_oldest(d, l, l->n);
	if (l->known != BSA_NEVER)
		l->known = l->since;
}

void bsa_lane_mark_history(const struct bsa_lane *l, bool in_history)
{
	for (size_t i = 0; i < l->n; i++)
		if (nth_stretch(l, i)->tenant)
			nth_stretch(l, i)->tenant->in_history = in_history;
}

/* The first stretch of the history that ends after @at. */
static size_t find_stretch(const struct bsa_lane *l, uint64_t at)
{
	size_t from = 0, to = l->n;

	while (from < to) {
		size_t middle = from + (to - from) / 2;

		if (nth_stretch(l, middle)->ended <= at)
			from = middle + 1;
		else
			to = middle;
	}
	return from;
}

struct bsa_lane_walk bsa_lane_walk(const struct bsa_device *d, const struct bsa_lane *l, uint64_t from, uint64_t to)
{
	uint64_t known = l->known > l->kept ? l->known : l->kept;
	struct bsa_lane_walk w = { d, l, from, to, known, l->n, l->cut && l->known > from };

	if (from >= l->since)
		return w;
	w.next = find_stretch(l, from);
	if (l->n - w.next > BSA_HISTORY_OF_A_WAIT) {
		w.next = l->n - BSA_HISTORY_OF_A_WAIT;
		w.known = nth_stretch(l, w.next)->began;
		w.cut = true;
	}
	return w;
}

/* The next stretch, not merged with the one behind it. Of an idle one only the times are set. */
static void walk_step(struct bsa_lane_walk *w, struct bsa_stretch *ret)
{
	const struct bsa_stretch *kept = w->next < w->l->n ? nth_stretch(w->l, w->next) : NULL;

	ret->occupancy = BSA_IDLE;
	if (w->at < w->known) {
		ret->occupancy = BSA_UNKNOWN;
		ret->ended = w->known;
	} else if (kept && kept->began <= w->at) {
		*ret = *kept;
		w->next++;
	} else if (kept) {
		ret->ended = kept->began;
	} else if (w->at >= w->l->since) {
		current_stretch(w->d, w->l, w->to, ret);
	} else {
		ret->ended = w->l->since;
	}
	ret->began = w->at;
	ret->ended = ret->ended < w->to ? ret->ended : w->to;
	w->at = ret->ended;
}

/* Merge adjacent idle or unknown stretches. */
static void extend_stretch(struct bsa_lane_walk *w, struct bsa_stretch *s)
{
	while (w->at < w->to) {
		struct bsa_lane_walk ahead = *w;
		struct bsa_stretch more;

		walk_step(&ahead, &more);
		if (more.occupancy != s->occupancy)
			return;
		*w = ahead;
		s->ended = w->at;
	}
}

bool bsa_lane_next(struct bsa_lane_walk *w, struct bsa_stretch *ret)
{
	if (w->at >= w->to)
		return false;
	walk_step(w, ret);
	if (ret->occupancy != BSA_HELD)
		extend_stretch(w, ret);
	return true;
}
