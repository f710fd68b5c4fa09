/*
 * late_start.c -- what held up the threads of misses that were submitted too late: relation late_start.
 *
 * The first reason that applies counts: the thread had not returned from the call before in its stream; all apps
 * stood still; the thread waited for a cpu, and the replay tells whether the deadline would have been met otherwise.
 */
#include "store/saved_own.h"

#define STOOD_LEAST INT64_C(1000000) /* a shorter time without any event is nothing unusual */

/*
 * When the call should have been submitted. NOTHING: it has no deadline, or how long its model usually has is
 * not known.
 */
static int64_t planned_of(struct bsa_saved *v, const struct bsa_saved_kept *k)
{
	const struct bsa_saved_usual *u =
		k->bad || k->call.deadline == BSA_WITHOUT_UNKNOWN ? NULL : bsa_saved_usual_of(v, k->call.model);

	return u && u->budget > 0 ? (int64_t)k->call.deadline - u->budget : NOTHING;
}

static int64_t later_of(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

/* The call before call @number in its stream; NULL if that call is not kept. */
static const struct bsa_saved_kept *call_before(const struct bsa_saved *v, size_t number)
{
	const struct bsa_saved_kept *x = bsa_saved_kept_at(v, number);

	for (size_t i = number, n = 0; i-- > v->base && n < BUSY_MOST; n++)
		if (!bsa_saved_kept_at(v, i)->bad && bsa_saved_kept_at(v, i)->call.stream == x->call.stream)
			return bsa_saved_kept_at(v, i);
	return NULL;
}

/* Did its thread wait for the call before until half of the delay was over? Then that call made it late. */
static bool is_held_up(const struct bsa_saved_kept *x, const struct bsa_saved_kept *before, int64_t planned)
{
	int64_t submitted = (int64_t)x->call.submitted, answered = (int64_t)before->call.answered;

	return answered > planned && answered <= submitted && answered - planned >= submitted - answered;
}

void bsa_late_start_look_before(struct bsa_saved *v, size_t number)
{
	const struct bsa_saved_kept *x = bsa_saved_kept_at(v, number), *before = call_before(v, number);
	struct bsa_saved_asked *a = &v->asked[x->asked - 1];
	int64_t planned = planned_of(v, x);

	if (planned == NOTHING)
		return;
	a->planned = planned;
	if (a->gap != NOTHING)
		a->held = later_of((int64_t)x->call.submitted - a->gap - planned, 0);
	if (!before || !is_held_up(x, before, planned))
		return;
	a->has_start = true;
	ROW(v->s, late_start, .execution_id = sql_id(x->call.id), .planned = planned,
	    .after_id = sql_id(before->call.id), .stood_ns = NOTHING, .delay_ns = NOTHING, .lead_ns = NOTHING,
	    .met = NOTHING, .by_itself = NOTHING);
}

struct quiet {
	int64_t at, from, to; /* nothing happened between @from and @to, with @at in between */
};

static void quiet_until(struct quiet *q, int64_t event)
{
	if (event <= q->at)
		q->from = later_of(q->from, event);
	else if (event < q->to)
		q->to = event;
}

/*
 * How long call @x and the late call @other of another app both should have been submitted, and were not, and
 * nothing happened in any app. 0: less than half of the delay of @x. As much as that of the time in which
 * both are late has the middle of that time in it.
 */
static int64_t stood_with(struct bsa_saved *v, const struct bsa_saved_kept *x, const struct bsa_saved_kept *other,
                          size_t first, size_t end)
{
	int64_t planned = planned_of(v, x), also = planned_of(v, other), submitted = (int64_t)x->call.submitted;
	struct quiet q = { .from = later_of(planned, also) };
	int64_t least;

	if (planned == NOTHING || also == NOTHING || other->call.app == x->call.app)
		return 0;
	least = later_of(STOOD_LEAST, (submitted - planned + 1) / 2);
	q.to = submitted < (int64_t)other->call.submitted ? submitted : (int64_t)other->call.submitted;
	q.at = q.from + (q.to - q.from) / 2;
	for (size_t i = first; i < end && q.to - q.from >= least; i++) {
		const struct bsa_saved_kept *k = bsa_saved_kept_at(v, i);

		if (k->bad) { /* anything may have happened while it was under way, because it is not replayed */
			quiet_until(&q, k->first);
			quiet_until(&q, k->last);
			if (k->first <= q.at && k->last > q.at)
				q.from = q.to = q.at;
			continue;
		}
		quiet_until(&q, (int64_t)k->call.submitted);
		quiet_until(&q, (int64_t)(k->call.submitted + k->call.send));
		quiet_until(&q, bsa_saved_ready_of(k));
		quiet_until(&q, k->dispatched);
		quiet_until(&q, (int64_t)k->call.ended);
		quiet_until(&q, (int64_t)k->call.answered);
	}
	return q.to - q.from >= least && !bsa_saved_is_in_hole(v, q.from, q.to, true) ? q.to - q.from : 0;
}

enum { CELLS = 64 };

/* The first and the last event of the others in each part of a time. */
struct events {
	int64_t from, to;
	struct {
		int64_t first, last; /* first INT64_MAX: none */
	} cells[CELLS];
};

static void event_take(struct events *e, int64_t at)
{
	size_t i;

	if (at < e->from || at >= e->to)
		return;
	i = (size_t)((double)(at - e->from) / (double)(e->to - e->from) * CELLS);
	i = i < CELLS ? i : CELLS - 1;
	e->cells[i].first = at < e->cells[i].first ? at : e->cells[i].first;
	e->cells[i].last = at > e->cells[i].last ? at : e->cells[i].last;
}

/*
 * For how long may the whole machine have stood still while the thread of late call @number was on its way,
 * as a virtual cpu does, or a timer that is late? No run-queue delay includes that time. An event of another
 * call proves that the machine ran at that instant.
 */
static void silence_measure(struct bsa_saved *v, size_t number, size_t first, size_t end)
{
	const struct bsa_saved_kept *x = bsa_saved_kept_at(v, number);
	struct bsa_saved_asked *a = &v->asked[x->asked - 1];
	struct events e = { .to = (int64_t)x->call.submitted };
	int64_t last, longest = 0, cell;

	if (a->gap == NOTHING || a->gap <= 0)
		return;
	e.from = e.to - a->gap;
	for (size_t i = 0; i < CELLS; i++)
		e.cells[i].first = INT64_MAX;
	for (size_t i = first; i < end; i++) {
		const struct bsa_saved_kept *k = bsa_saved_kept_at(v, i);

		if (i == number)
			continue;
		event_take(&e, k->first);
		event_take(&e, k->last);
		if (k->bad)
			continue;
		event_take(&e, (int64_t)k->call.submitted);
		event_take(&e, (int64_t)(k->call.submitted + k->call.send));
		event_take(&e, bsa_saved_ready_of(k));
		event_take(&e, k->dispatched);
		event_take(&e, (int64_t)k->call.ended);
		event_take(&e, (int64_t)k->call.answered);
	}

	/* The longest time without an event; where two events of a cell may be further apart, the length of a cell. */
	last = e.from;
	cell = (e.to - e.from) / CELLS + 1;
	for (size_t i = 0; i < CELLS; i++) {
		if (e.cells[i].first == INT64_MAX)
			continue;
		longest = later_of(longest, e.cells[i].first - last);
		longest = later_of(longest, e.cells[i].last > e.cells[i].first ? cell : 0);
		last = e.cells[i].last;
	}
	a->silent = later_of(longest, e.to - last);
}

void bsa_late_start_look_around(struct bsa_saved *v, size_t number)
{
	const struct bsa_saved_kept *x = bsa_saved_kept_at(v, number), *before = call_before(v, number);
	size_t first = number > v->base + BUSY_MOST ? number - BUSY_MOST : v->base, end = v->base + v->n_kept;
	int64_t planned = planned_of(v, x), stood = 0;

	if (planned == NOTHING || (before && is_held_up(x, before, planned)))
		return;
	end = end - number > BUSY_MOST ? number + BUSY_MOST : end;
	silence_measure(v, number, first, end);
	for (size_t i = first; i < end && !stood; i++)
		stood = stood_with(v, x, bsa_saved_kept_at(v, i), first, end);
	if (!stood)
		return;
	v->asked[x->asked - 1].has_start = true;
	ROW(v->s, late_start, .execution_id = sql_id(x->call.id), .planned = planned, .after_id = NOTHING,
	    .stood_ns = stood, .delay_ns = NOTHING, .lead_ns = NOTHING, .met = NOTHING, .by_itself = NOTHING);
}

bool bsa_late_start_is_by_itself(const struct bsa_saved_asked *a)
{
	return a->delay != NOTHING && a->held != NOTHING && a->delay + a->held < a->lead;
}

void bsa_late_start_finish(struct bsa_saved *v)
{
	for (size_t i = 0; i < v->n && !v->s->code; i++) {
		const struct bsa_saved_asked *a = &v->asked[i];
		bool by_itself = bsa_late_start_is_by_itself(a);
		int64_t without_machine = NOTHING;

		if (!a->submitted_late || a->has_start || a->delay == NOTHING)
			continue;
		/*
		 * Would it have been too late even if the machine had stood still for as long as nothing else
		 * happened, and had not?
		 */
		if (by_itself)
			without_machine = a->silent != NOTHING && a->silent < a->lead - a->delay - a->held;
		ROW(v->s, late_start, .execution_id = sql_id(a->id), .planned = a->planned, .after_id = NOTHING,
		    .stood_ns = NOTHING, .delay_ns = a->delay, .lead_ns = a->asked_lead ? a->asked_lead : NOTHING,
		    .met = by_itself ? 0 : bsa_saved_null_or(a->met), .by_itself = without_machine);
	}
}
