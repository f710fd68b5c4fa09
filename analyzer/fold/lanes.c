/*
 * lanes.c -- keeps who holds a lane now, and who held it since the oldest present wait began.
 *
 * TERMS     A lane is a place of a service where one execution runs at a time; a step of the lane is an event
 *           at which an execution enters or leaves it. A stretch is the time between two steps: held by an
 *           execution, idle, or unknown. The history has the stretches that were held or unknown; a gap
 *           between them was idle. A hole is a time for which events may be missing (schedule.c). A lane is
 *           doubtful if what is recorded of its holder, or that it has none, may be wrong, and no hole since
 *           its last step is the reason. Its next step ends this. A proof is a time for which a lane was idle so
 *           long that no execution of the service can have been ready. A closing is how a stretch ended (enum
 *           closing). A hand-over is the time for which a lane is idle while an execution is ready for it. An
 *           end is heard if an END names the lane.
 * INVARIANT Before `known_from` the holder is unknown. Before `dropped_until` the history was known, but was
 *           dropped, because no wait needs it. It is complete from the later of both until `since`; `since`
 *           until now is the current stretch, which is not in it.
 * MEMORY    A lane keeps at most BSA_HISTORY_OF_LANE stretches, and all lanes together BSA_HISTORY_OF_ALL,
 *           plus one for each lane. A stretch that is dropped for want of room counts as unknown.
 * CONCURRENCY  One thread uses the devices of a schedule, which share the count of stretches, and their lanes. The
 *           functions of struct bsa_facts must not call this module.
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

/*
 * Drop the @n oldest stretches. The caller sets `known_from` if they are forgotten, or `dropped_until` if no
 * wait needs them.
 */
static void history_drop(struct bsa_device *d, struct bsa_lane *l, size_t n)
{
	assert(n <= l->n && n <= *d->history);
	l->first = (l->first + n) & (l->room - 1);
	l->n -= n;
	*d->history -= n;
}

void bsa_lane_fini(struct bsa_device *d, struct bsa_lane *l)
{
	assert(*d->history >= l->n);
	*d->history -= l->n;
	free(l->ring);
	free(l->unproven.all);
	*l = (struct bsa_lane){ 0 };
}

/* Drop the @n oldest stretches although a wait may need them: the lane's holder of that time is unknown from now on. */
static void history_forget(struct bsa_device *d, struct bsa_lane *l, size_t n)
{
	assert(n && n <= l->n);
	l->known_from = nth_stretch(l, n - 1)->ended;
	l->truncated = true;
	history_drop(d, l, n);
}

static bool history_grow(struct bsa_lane *l)
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
 * Make room for one more stretch. Where all lanes together have too many, forget all of this lane's. Else
 * drop what no wait needs, or grow; if that fails, forget a quarter of the history. False: for want of memory
 * the lane has no room at all, and no history.
 */
static bool history_make_room(struct bsa_device *d, struct bsa_lane *l)
{
	uint64_t oldest;
	size_t n = 0;

	if (l->n && *d->history >= BSA_HISTORY_OF_ALL)
		history_forget(d, l, l->n);
	if (l->n < l->room)
		return true;

	/* Drop the stretches that no wait needs any more. */
	oldest = bsa_waits_oldest(d);
	while (n < l->n && nth_stretch(l, n)->ended <= oldest)
		n++;
	if (n)
		l->dropped_until = nth_stretch(l, n - 1)->ended;
	history_drop(d, l, n);

	if (2 * l->n >= l->room && l->room < BSA_HISTORY_OF_LANE && history_grow(l))
		return true;
	if (l->n && l->n == l->room)
		history_forget(d, l, (l->n + 3) / 4);
	return l->n < l->room;
}

static void remember_stretch(struct bsa_device *d, struct bsa_lane *l, const struct bsa_stretch *s)
{
	/* the wait that ends here has been reported; a wait that is found later sees this time as unknown */
	if (!d->n_waiting) {
		history_drop(d, l, l->n);
		l->dropped_until = s->ended;
		return;
	}
	if (s->began == s->ended)
		return;
	if (!history_make_room(d, l)) {
		assert(!l->n);
		l->known_from = s->ended;
		l->truncated = true;
		return;
	}
	assert(l->n < l->room && s->began < s->ended);
	l->n++;
	*nth_stretch(l, l->n - 1) = *s;
	++*d->history;
	if (d->facts->occupied) {
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
}

bool bsa_lane_is_idle(const struct bsa_device *d, const struct bsa_lane *l, uint64_t at)
{
	/* A lane without a holder: an execution of which no event is left may have been there at any time
	 * in `unsure`. */
	return !l->holder && l->known_from != BSA_NEVER && !l->doubtful && !bsa_device_unsure(d, l->since, at);
}

/*
 * Whether the lane's holder may have left it without a step: it was under way when the recording began, and no step of
 * it is still to come, so perhaps it has no summary.
 */
static bool may_be_gone(const struct bsa_lane *l)
{
	return l->holder->found && l->holder->resumed && l->holder->steps_left == l->holder->forgotten;
}

bool bsa_lane_is_held(const struct bsa_device *d, const struct bsa_lane *l, uint64_t at)
{
	/*
	 * A lane with a holder: only lost events can hide that it left, so `lost` decides. Not even they can
	 * if it is counted: its summary has the number of its preemptions, and all of them were recorded.
	 */
	return l->holder && !l->doubtful && !may_be_gone(l) &&
	       (l->holder->counted || !bsa_device_lost(d, l->since, at));
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
	DOUBTED, /* a step shows that the holder, if any, was not the recorded one */
	FREE, /* no execution holds the lane at the end of the stretch; which one left it, and when, may be unknown */
	ENDS  /* the recording ends during the stretch */
};

/* @began BSA_NEVER: since before the recording. @execution: the one that may have held the lane; 0: any. */
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
 * If the lane's holder was certain until a hole began, and no execution entered the lane between the last
 * hole and @at, report up to three rows, and return true; otherwise report nothing, and return false. The rows:
 * - from the first hole to the end of the last, any execution may have held the lane;
 * - from `since` to the end of the last hole, the former holder;
 * - from the first hole to @at, the execution @last_id; if @closing is FREE, the one whose end was heard
 *   after the hole, until then.
 */
static bool report_around_hole(const struct bsa_device *d, const struct bsa_lane *l, uint64_t at, enum closing closing,
                               uint64_t last_id)
{
	struct bsa_span first = bsa_holes_from(&d->unsure, l->since);
	uint64_t hole_end = bsa_holes_end(&d->unsure, at), holder = l->holder ? l->holder->id : 0;
	uint64_t until = at; /* an execution held the lane until then at the latest */

	if (l->doubtful || l->known_from == BSA_NEVER || first.began <= l->since || first.began > at)
		return false;
	if (closing == FREE && l->heard > hole_end) {
		last_id = l->heard_id;
		until = l->heard;
	} else if (closing == FREE) {
		last_id = 0;
		until = hole_end;
	}
	if (!last_id) /* any execution may have held it until then */
		hole_end = until;
	report_one_unknown(d, l, first.began, hole_end, 0);
	if (holder) /* if it was the last one, too, it may have held the lane all the time */
		report_one_unknown(d, l, l->since, holder == last_id ? until : hole_end, holder);
	if (last_id && last_id != holder)
		report_one_unknown(d, l, first.began, until, last_id);
	return true;
}

/*
 * Report that the lane's holder is unknown. @last_id: the execution that certainly held the lane at @at; 0:
 * none, or unknown.
 */
static void report_unknown(const struct bsa_device *d, const struct bsa_lane *l, uint64_t at, enum closing closing,
                           uint64_t last_id)
{
	struct bsa_span first = bsa_holes_from(&d->unsure, l->since);
	uint64_t hole_end = bsa_holes_end(&d->unsure, at), began = l->since, ended = at;

	if ((closing == FREE || closing == ENDS || last_id) && report_around_hole(d, l, at, closing, last_id))
		return;

	/*
	 * The part of [since, @at] to report as unknown. It begins with the first hole, if the lane was idle
	 * then; or if an execution of the highest priority held it, because a wait for such an execution is never
	 * an inversion, so its time matters to no verdict. It ends with the last hole, or with the end that was heard
	 * after it, if the lane is FREE at @at, because leaving it after the hole would have been recorded. If the
	 * lane is DOUBTED, or the recording ENDS, it is all of the time.
	 */
	if (first.began <= at && closing != DOUBTED && closing != ENDS) {
		if (!l->doubtful && first.began > l->since && (!l->holder || l->holder->level == BSA_PRIORITY_HIGH))
			began = first.began;
		hole_end = hole_end > l->heard ? hole_end : l->heard;
		if (closing == FREE && hole_end > began && hole_end < at)
			ended = hole_end;
		/*
		 * The hole begins with the step. Of several lanes, a wait for this one shows no inversion by the
		 * holders of the others, and the verdict takes it for hidden only where a lane is unknown.
		 */
		if (began == at && l->since < at && d->lanes_room > 1)
			began = at - 1;
	}
	report_one_unknown(d, l, l->known_from == BSA_NEVER ? BSA_NEVER : began, ended, 0);
}

/*
 * An assumption: a service leaves no lane idle for longer than four times its longest hand-over so far while
 * an execution is ready.
 */
static uint64_t idle_proves_ns(const struct bsa_device *d)
{
	return d->handed ? BSA_IDLE_SLACK_NS + 4 * d->longest_handover : BSA_IDLE_PROVES_NS;
}

/* End the stretch since the lane's last step. Returns whether it is known who held the lane. */
static bool close_stretch(struct bsa_device *d, struct bsa_lane *l, uint64_t at, enum closing closing, uint64_t last_id)
{
	struct bsa_stretch s = { .began = l->since, .ended = at, .occupancy = BSA_UNKNOWN };

	assert(l->since <= at);
	if (closing == LEFT || !l->holder)
		current_stretch(d, l, at, &s);
	if (closing == DOUBTED)
		s.occupancy = BSA_UNKNOWN;
	if (s.occupancy == BSA_UNKNOWN) {
		d->unseen_until = at;
		report_unknown(d, l, at, closing, last_id);
	}
	if (s.occupancy == BSA_IDLE && d->had_hole) {
		assert(l->known_from <= l->since);
		/*
		 * If it was idle for long, no execution was ready: note the begin of the first such time
		 * since the last hole. An earlier one proves nothing any more if a longer hand-over was seen
		 * since.
		 */
		if (at - l->since >= idle_proves_ns(d) && l->since >= d->proof_hole &&
		    (!d->proof || l->since < d->proof || d->proof_ns < idle_proves_ns(d))) {
			d->proof = l->since;
			d->proof_ns = at - l->since;
		}
	}
	if (l->known_from == BSA_NEVER)
		l->known_from = at;
	else if (s.occupancy != BSA_IDLE)
		remember_stretch(d, l, &s);
	l->since = at;
	l->holder = NULL;
	l->doubtful = false;
	return s.occupancy != BSA_UNKNOWN;
}

void bsa_lane_begin(const struct bsa_device *d, struct bsa_lane *l, uint64_t at)
{
	assert(l->known_from == BSA_NEVER && !l->holder);
	if (l->heard) /* an execution held the lane since before the recording, until then at the latest */
		report_one_unknown(d, l, BSA_NEVER, l->heard, 0);
	l->since = l->known_from = at;
}

void bsa_lane_enter(struct bsa_device *d, struct bsa_lane *l, struct bsa_scheduled *x, uint64_t at, bool hogging)
{
	assert(!l->holder);
	close_stretch(d, l, at, FREE, 0);
	l->holder = x;
	l->hogging = hogging;
	/* the service reported it as under way, or the assembler doubts its steps: its lane may be wrong */
	l->doubtful = x->uncertain && !x->stretches;
}

void bsa_lane_end_heard(const struct bsa_device *d, struct bsa_lane *l, const struct bsa_scheduled *x, uint64_t at,
                        bool certain)
{
	/*
	 * Two ends were heard since the last hole, and no step of the lane between: an END does not have when
	 * its execution left the lane, so neither was certainly the last.
	 */
	bool another = l->heard > bsa_holes_end(&d->unsure, at) && l->heard > l->since;

	l->heard = at;
	l->heard_id = certain && !another ? x->id : 0;
}

bool bsa_lane_leave(struct bsa_device *d, struct bsa_lane *l, uint64_t at, bool gone, bool certain)
{
	bool is_known;

	assert(l->holder);
	is_known = close_stretch(d, l, at, LEFT, (!gone || certain) ? l->holder->id : 0);
	l->doubtful = gone;
	return is_known;
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

uint64_t bsa_lanes_ready_until(const struct bsa_device *d, uint64_t hole, uint64_t at)
{
	uint64_t proof = d->proof && d->proof_ns >= idle_proves_ns(d) ? d->proof : BSA_NEVER;

	/*
	 * Knowledge since the last hole proves nothing for an earlier one, and none of what a hole since the last
	 * step of the service hides.
	 */
	if (d->proof_hole != hole || bsa_holes_end(&d->unsure, at) != hole)
		return at;
	if (d->none_waited && d->none_waited < at)
		at = d->none_waited;
	for (unsigned i = 0; i < d->lanes_room && i < d->n_lanes; i++) { /* the service has no more lanes */
		const struct bsa_lane *l = &d->lanes[i];

		if (bsa_lane_is_idle(d, l, at) && l->since >= hole && l->since < proof)
			proof = l->since;
	}
	return proof < at && at - proof > idle_proves_ns(d) ? proof + idle_proves_ns(d) : at;
}

void bsa_lane_end(struct bsa_device *d, struct bsa_lane *l, uint64_t at, bool unsummed)
{
	struct bsa_span hole = bsa_holes_from(&d->unsure, at);
	struct bsa_stretch s;

	assert(at >= l->since);
	/* The recording ends in a hole: the service may have gone on until the hole ends. */
	if (hole.began <= at)
		at = hole.ended;
	l->doubtful |= unsummed && !l->holder;
	current_stretch(d, l, at, &s);
	if (s.occupancy == BSA_UNKNOWN)
		report_unknown(d, l, at, ENDS, 0);
	l->over = true;
}

void bsa_lane_report_may_be_gone(const struct bsa_device *d, const struct bsa_lane *l, uint64_t at)
{
	if (l->holder && may_be_gone(l))
		report_one_unknown(d, l, l->since, at, l->holder->id);
}

void bsa_lane_doubt_past(struct bsa_device *d, struct bsa_lane *l)
{
	history_drop(d, l, l->n);
	/* `truncated` stays: a wait that began before what was forgotten would have lost it for want of room, too. */
	if (l->known_from != BSA_NEVER)
		l->known_from = l->since;
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
	struct bsa_lane_walk w = { .d = d,
		                   .l = l,
		                   .at = from,
		                   .to = to,
		                   .known = l->known_from > l->dropped_until ? l->known_from : l->dropped_until,
		                   .next = l->n,
		                   .truncated = l->truncated && l->known_from > from };

	if (from >= l->since)
		return w;
	w.next = find_stretch(l, from);
	if (l->n - w.next > BSA_HISTORY_OF_A_WAIT) {
		w.next = l->n - BSA_HISTORY_OF_A_WAIT;
		w.known = nth_stretch(l, w.next)->began;
		w.truncated = true;
	}
	return w;
}

/*
 * The next stretch. The one after it may have the same occupancy. Of an idle one, and of an unknown one
 * before the history, only the times and the occupancy are set.
 */
static void walk_step(struct bsa_lane_walk *w, struct bsa_stretch *ret)
{
	const struct bsa_stretch *stored = w->next < w->l->n ? nth_stretch(w->l, w->next) : NULL;

	ret->occupancy = BSA_IDLE;
	if (w->at < w->known) {
		ret->occupancy = BSA_UNKNOWN;
		ret->ended = w->known;
	} else if (stored && stored->began <= w->at) {
		*ret = *stored;
		w->next++;
	} else if (stored) {
		ret->ended = stored->began;
	} else if (w->at >= w->l->since) {
		current_stretch(w->d, w->l, w->to, ret);
	} else {
		ret->ended = w->l->since;
	}
	ret->began = w->at;
	ret->ended = ret->ended < w->to ? ret->ended : w->to;
	assert(ret->began < ret->ended);
	w->at = ret->ended;
}

bool bsa_lane_next(struct bsa_lane_walk *w, struct bsa_stretch *ret)
{
	if (w->at >= w->to)
		return false;
	walk_step(w, ret);

	/* Merge adjacent idle or unknown stretches. */
	while (ret->occupancy != BSA_HELD && w->at < w->to) {
		struct bsa_lane_walk ahead = *w;
		struct bsa_stretch more;

		walk_step(&ahead, &more);
		if (more.occupancy != ret->occupancy)
			break;
		*w = ahead;
		ret->ended = w->at;
	}
	return true;
}
