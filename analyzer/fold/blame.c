/* blame.c -- where a missed execution's time went: two sums over the same stretches of time. */
#include "fold/blame.h"

#include <assert.h>

/*
 * Longer than this is no time: 2.3 years. What claims to be is unknown, so that sums of such numbers fit in an int64_t,
 * with room for as many of them as are added up here: each stretch of time is given away once.
 */
#define ABSURD ((uint64_t)1 << 56)

/* The same thing in both ledgers. */
struct amount {
	int64_t late;  /* its part of the time until the end */
	int64_t spent; /* its part of the time until the deadline, if that was earlier */
};

struct ledger {
	const struct bsa_missed *m;
	const struct bsa_execution *x;
	uint64_t start, end, cut; /* raw times; cut: the end or the deadline, whichever was first */
	int64_t budget;
	int64_t typical[BSA_PHASES];
	enum bsa_phase first, last; /* first and last phase with a part of the time from start to end */
	bool fenced;
	int64_t to_come; /* given up: what is left of the phase under way, if it takes what is typical */
	bool hopeless;   /* at best it takes longer than there was time when it was submitted */
	bool stop_decides;

	struct amount stopped; /* the part of its waits in which the service stood still */
	int64_t maybe_stopped; /* the late part of what is of no cause, because the service may have stood still */
	struct amount delay[BSA_DELAYS];    /* the rest of its thread's run-queue delay, by part */
	struct amount by_cause[BSA_CAUSES]; /* without a culprit */
	/* its late part: without and with an effect on the times at which other executions had lanes */
	int64_t alone[BSA_CAUSES], entangled[BSA_CAUSES];
	bool is_alone;                       /* the phase that is being charged is of the first kind */
	int64_t part[BSA_CAUSES][BSA_PARTS]; /* by_cause, by part */
	enum bsa_part charged;               /* the part that is being charged; BSA_PARTS: none */
	struct amount seen;                  /* time whose phase is known */
	int64_t typical_seen, typical_unseen;
	struct bsa_blamed *ret;
	size_t n, max;
};

static int64_t smaller_ns(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static int64_t not_below_zero(int64_t a)
{
	return a > 0 ? a : 0;
}

uint64_t bsa_own_run(const struct bsa_execution *x)
{
	uint64_t run = x->phase[BSA_RUN];

	return run == BSA_NEVER || x->redo == BSA_NEVER || x->redo > run ? BSA_NEVER : run - x->redo;
}

/* A duration that can be reckoned with; unknown is 0. */
static int64_t usable_ns(uint64_t ns)
{
	return ns < ABSURD ? (int64_t)ns : 0;
}

static bool is_between(int64_t low, int64_t a, int64_t high)
{
	return low < a && a < high;
}

/* @to - @from, of any times. Returns whether that is a difference that can be reckoned with. */
static bool time_difference(uint64_t to, uint64_t from, int64_t *ret)
{
	*ret = (int64_t)(to - from);
	return is_between(-(int64_t)ABSURD, *ret, (int64_t)ABSURD) && (to < from) == (*ret < 0);
}

/* Its client ended the call, with a failure and after the deadline, before it had an answer. */
static bool was_left(const struct bsa_execution *x)
{
	return x->miss == BSA_MISS_LATE && x->status != BSA_STATUS_NONE;
}

/* ---- rows ---- */

static void charge_cause(struct ledger *l, enum bsa_cause cause, struct amount a)
{
	assert(cause < BSA_CAUSES && l->charged <= BSA_PARTS);
	l->by_cause[cause].late += a.late;
	l->by_cause[cause].spent += a.spent;
	if (l->charged < BSA_PARTS)
		l->part[cause][l->charged] += a.late;
	*(l->is_alone ? &l->alone[cause] : &l->entangled[cause]) += a.late > 0 ? a.late : 0;
}

static void add_row(struct ledger *l, enum bsa_cause cause, uint64_t culprit, uint32_t app, struct amount a)
{
	assert(l->n < l->max);
	l->ret[l->n++] = (struct bsa_blamed){
		.culprit = culprit, .culprit_app = app, .budget_ns = a.spent, .late_ns = a.late, .cause = cause
	};
}

static int compare_numbers(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static int by_cause(const struct bsa_blamed *a, const struct bsa_blamed *b)
{
	if (a->cause != b->cause)
		return compare_numbers(a->cause, b->cause);
	return compare_numbers(a->culprit, b->culprit);
}

static int by_lateness(const struct bsa_blamed *a, const struct bsa_blamed *b)
{
	if (a->late_ns != b->late_ns)
		return a->late_ns > b->late_ns ? -1 : 1;
	return by_cause(a, b);
}

typedef int order(const struct bsa_blamed *, const struct bsa_blamed *);

static void heap_sift(struct bsa_blamed *rows, size_t at, size_t n, order *compared)
{
	struct bsa_blamed moved = rows[at];
	size_t child;

	while ((child = 2 * at + 1) < n) {
		if (child + 1 < n && compared(&rows[child], &rows[child + 1]) < 0)
			child++;
		if (compared(&moved, &rows[child]) >= 0)
			break;
		rows[at] = rows[child];
		at = child;
	}
	rows[at] = moved;
}

/* A heap: qsort may allocate, and may take n squared. */
static void sort_rows(struct bsa_blamed *rows, size_t n, order *compared)
{
	struct bsa_blamed last;

	for (size_t i = n / 2; i-- > 0;)
		heap_sift(rows, i, n, compared);
	while (n > 1) {
		last = rows[--n];
		rows[n] = rows[0];
		rows[0] = last;
		heap_sift(rows, 0, n, compared);
	}
}

/* Each cause and culprit once. */
static void merge_rows(struct ledger *l)
{
	size_t n = 0;

	sort_rows(l->ret, l->n, by_cause);
	for (size_t i = 0; i < l->n; i++) {
		struct bsa_blamed *kept = n ? &l->ret[n - 1] : NULL;

		if (kept && !by_cause(kept, &l->ret[i])) {
			kept->late_ns += l->ret[i].late_ns;
			kept->budget_ns += l->ret[i].budget_ns;
			for (int part = 0; part < BSA_PARTS; part++)
				kept->part[part] += l->ret[i].part[part];
			if (kept->culprit_app < l->ret[i].culprit_app)
				kept->culprit_app = l->ret[i].culprit_app;
		} else {
			l->ret[n++] = l->ret[i];
		}
	}
	l->n = n;
}

/* Name the culprit of redone work: the preemptor, whose app is in an earlier row of cause preempted. */
static void name_redo(struct ledger *l)
{
	size_t p = 0;

	for (size_t i = 0; i < l->n; i++) {
		struct bsa_blamed *b = &l->ret[i];

		if (b->cause != BSA_REDO)
			continue;
		while (l->ret[p].cause < BSA_CAUSE_PREEMPTED ||
		       (l->ret[p].cause == BSA_CAUSE_PREEMPTED && l->ret[p].culprit < b->culprit))
			p++;
		if (l->ret[p].cause == BSA_CAUSE_PREEMPTED && l->ret[p].culprit == b->culprit)
			b->culprit_app = l->ret[p].culprit_app;
	}
}

static bool names_cause(const struct bsa_blamed *b)
{
	return b->cause != BSA_OWN_RUN && b->cause != BSA_UNUSED;
}

/* @too: the primary cause, if the budget was shorter than any execution. */
static void rank_rows(struct ledger *l, enum bsa_cause too)
{
	bool stop = !l->hopeless && l->stop_decides;
	enum bsa_cause first = stop ? BSA_CAUSE_STOPPED : too;
	bool late = l->x->miss == BSA_MISS_LATE && !was_left(l->x) && l->x->quality == BSA_QUALITY_COMPLETE,
	     ranked = false;
	/* No execution of its model was over within the budget; an estimate proves nothing. */
	bool proven_hopeless = l->budget <= 0 || (l->hopeless && l->m->typical->least[BSA_RUN]);

	sort_rows(l->ret, l->n, by_lateness);
	for (size_t i = 0; i < l->n; i++) {
		struct bsa_blamed *b = &l->ret[i];
		bool causes = names_cause(b), whole = !b->culprit && !b->culprit_app && b->cause != BSA_CAUSE_UNKNOWN;

		b->is_primary = l->hopeless || stop ? b->cause == first : causes && !ranked;
		ranked |= causes;
		if (!causes || b->late_ns <= 0)
			b->saved = 0;
		else if (stop && b->cause == BSA_CAUSE_STOPPED)
			b->saved = 1;
		else if (b->cause == BSA_CAUSE_STOPPED && b->late_ns + l->maybe_stopped >= l->x->lateness)
			b->saved = -1;
		else if (late && whole && l->alone[b->cause] && !l->entangled[b->cause])
			b->saved = l->alone[b->cause] >= l->x->lateness;
		else
			b->saved = proven_hopeless && b->cause != first ? 0 : -1;
	}
}

/* ---- which time it is about ---- */

static enum bsa_boundary phase_begins_at(const struct bsa_execution *x, enum bsa_phase phase)
{
	static const uint8_t of[BSA_PHASES] = {
		[BSA_PREPARE] = BSA_SUBMITTED,     [BSA_SEND] = BSA_REQUEST_WRITTEN, [BSA_DECODE] = BSA_REQUEST_READ,
		[BSA_FENCE] = BSA_DECODED,         [BSA_SLOTS] = BSA_DECODED,        [BSA_QUEUE] = BSA_ENQUEUED,
		[BSA_RUN] = BSA_DISPATCHED,        [BSA_PREEMPTED] = BSA_DISPATCHED, [BSA_REPLY] = BSA_RUN_ENDED,
		[BSA_RETURN] = BSA_RESULT_WRITTEN, [BSA_FINISH] = BSA_RESULT_READ,   [BSA_SIGNAL] = BSA_RUN_ENDED,
	};

	if (phase == BSA_SLOTS && x->at[BSA_FENCED] != BSA_NEVER)
		return BSA_FENCED;
	return of[phase];
}

static bool in_tiling(const struct ledger *l, enum bsa_phase phase)
{
	if (phase < l->first)
		return false;
	if (l->fenced)
		return phase < BSA_REPLY || phase == BSA_SIGNAL;
	return phase != BSA_SIGNAL;
}

static bool given_up(const struct bsa_execution *x)
{
	return x->miss == BSA_MISS_PREDICTED || x->miss == BSA_MISS_ABORTED;
}

/* Whether it had not gone through all of its phases at the end of what is accounted for. */
static bool is_cut(const struct bsa_execution *x)
{
	return given_up(x) || was_left(x);
}

/* From when to when; false: that is unknown. */
static bool find_span(struct ledger *l)
{
	static const struct {
		enum bsa_boundary end;
		enum bsa_phase last;
	} ends[] = { { BSA_SIGNALLED, BSA_SIGNAL },
		     { BSA_RETURNED, BSA_FINISH },
		     { BSA_RESULT_WRITTEN, BSA_REPLY },
		     { BSA_RUN_ENDED, BSA_PREEMPTED } };
	const struct bsa_execution *x = l->x;
	bool served = x->sides == BSA_SIDES_SERVICE;
	int64_t elapsed;

	l->first = served ? BSA_DECODE : BSA_PREPARE;
	l->fenced = x->path == BSA_PATH_FENCED && (given_up(x) || x->at[BSA_SIGNALLED] != BSA_NEVER);
	l->start = x->at[served ? BSA_REQUEST_READ : BSA_SUBMITTED];
	if (!x->deadline || l->start == BSA_NEVER || !time_difference(x->deadline, l->start, &l->budget))
		return false;
	if (!is_between(-(int64_t)ABSURD, x->lateness, (int64_t)ABSURD))
		return false;
	l->end = x->deadline + (uint64_t)x->lateness;
	/*
	 * An execution ended at its deadline_miss event, unless its thread lost the cpu after it had given
	 * the execution up, and emitted the event after the deadline.
	 */
	if (given_up(x) && x->missed_at != BSA_NEVER &&
	    !(x->miss == BSA_MISS_PREDICTED && x->lateness <= 0 && x->missed_at > x->deadline))
		l->end = x->missed_at;
	if (!time_difference(l->end, l->start, &elapsed) || elapsed < 0)
		return false;
	l->cut = l->end < x->deadline ? l->end : x->deadline;
	if (l->cut < l->start)
		l->cut = l->start;
	for (size_t i = 0; !is_cut(x) && i < sizeof(ends) / sizeof(*ends); i++)
		if (x->at[ends[i].end] == l->end &&
		    in_tiling(l, ends[i].last)) { /* a late one: its end is that of this phase */
			l->last = ends[i].last;
			return true;
		}
	if (!is_cut(x))
		return false;

	/* For an execution that was given up, or left by its client: find the phase that it was in. */
	l->last = l->first;
	for (int phase = l->first; phase < BSA_PHASES; phase++)
		if (in_tiling(l, phase) && l->x->at[phase_begins_at(l->x, phase)] < l->end)
			l->last = phase;
	return true;
}

/*
 * How long it takes at best, from start to end, if it need not wait. Where no run was recorded: the run that
 * was estimated.
 */
static int64_t least_total(const struct ledger *l)
{
	int64_t sum = 0;

	if (!l->m->typical->least[BSA_RUN])
		return l->typical[BSA_RUN];
	for (int phase = l->first; phase < BSA_PHASES; phase++) {
		int64_t least_ns = usable_ns(l->m->typical->least[phase]), own = usable_ns(l->x->phase[phase]);
		bool is_over = phase < (int)l->last || !is_cut(l->x);

		if (!in_tiling(l, phase) || phase == BSA_QUEUE || phase == BSA_PREEMPTED || phase == BSA_FENCE)
			continue;
		/* The shortest that was recorded, also of @l itself. */
		if (phase == BSA_RUN)
			own = not_below_zero(own - usable_ns(l->x->redo));
		sum += is_over && l->x->phase[phase] < ABSURD ? smaller_ns(least_ns, own) : least_ns;
	}
	return sum;
}

/* The run of an execution that was answered, without redo; 0: unknown. */
static int64_t answered_run(const struct ledger *l)
{
	return l->x->miss == BSA_MISS_LATE && !was_left(l->x) ? usable_ns(bsa_own_run(l->x)) : 0;
}

static void find_typical(struct ledger *l)
{
	const struct bsa_typical *t = l->m->typical;
	int64_t run = usable_ns(t->phase[BSA_RUN]), own = answered_run(l), needs = usable_ns(l->x->cpu);
	bool estimated = l->x->estimate && l->x->estimate != BSA_NEVER;

	if (t->n < BSA_TYPICAL_MIN) {
		/* An estimate is used only if no run was recorded: it may be from when the machine was busy. */
		if (!t->runs) {
			/* its own is what the service has learnt since the model was prepared */
			if (estimated)
				run = usable_ns(l->x->estimate);
			if (own && (!run || own < run)) /* the only run there is to go by */
				run = own;
		}
	} else {
		for (int phase = 0; phase < BSA_PHASES; phase++)
			l->typical[phase] = usable_ns(t->phase[phase]);
	}
	/*
	 * Its run had a cpu for less than half of its time, and the service's estimate is far below the usual run: so
	 * with policy native, where runs share the cpus. Then what the run needs is typical.
	 */
	if (estimated && l->x->cpu != BSA_NEVER) {
		if (needs < usable_ns(l->x->estimate))
			needs = usable_ns(l->x->estimate);
		if (needs < run / 2 && needs < usable_ns(bsa_own_run(l->x)) / 2)
			run = needs;
	}
	l->typical[BSA_RUN] = run;
}

/* ---- stretches of time ---- */

/* How much of @length, which began at @began, was before @until. */
static int64_t ns_before(uint64_t began, uint64_t length, uint64_t until)
{
	if (began >= until)
		return 0;
	return smaller_ns(usable_ns(until - began), usable_ns(length));
}

static struct amount time_passed(const struct ledger *l, uint64_t began, uint64_t length)
{
	return (struct amount){ ns_before(began, length, l->end), ns_before(began, length, l->cut) };
}

static struct amount amount_less(struct amount a, struct amount b)
{
	return (struct amount){ a.late - b.late, a.spent - b.spent };
}

static struct amount smaller_amount(struct amount a, struct amount b)
{
	return (struct amount){ smaller_ns(a.late, b.late), smaller_ns(a.spent, b.spent) };
}

/* The time beyond the typical one; in the phase in which it was given up, the missing time is still to come. */
static int64_t beyond_typical(struct ledger *l, enum bsa_phase phase, int64_t took)
{
	int64_t deviation;

	assert(phase < BSA_PHASES);
	deviation = took - l->typical[phase];
	enum bsa_phase under_way = l->last == BSA_PREEMPTED ? BSA_RUN : l->last;

	if (deviation < 0 && is_cut(l->x) && phase == under_way) {
		l->to_come = -deviation;
		return 0;
	}
	return deviation;
}

/* ---- stops of the service ---- */

enum stop_part {
	STOP_ITSELF,
	STOP_MAYBE, /* since the last event of the service before */
};

/* For how much of @length, which began at @began, the service stood still, or may have. */
static struct amount time_of_stops(const struct ledger *l, uint64_t began, uint64_t length, enum stop_part which)
{
	struct amount sum = { 0 }, part;

	for (size_t i = 0; i < l->m->n_stops && length < ABSURD; i++) {
		const struct bsa_stop *s = &l->m->stops[i];
		uint64_t first = which == STOP_ITSELF ? s->began : s->heard;
		uint64_t end = which == STOP_ITSELF ? s->ended : s->began;
		uint64_t from = first > began ? first : began;
		uint64_t to = end < began + length ? end : began + length;

		part = from < to ? time_passed(l, from, to - from) : (struct amount){ 0 };
		sum = (struct amount){ sum.late + part.late, sum.spent + part.spent };
	}
	return sum;
}

static struct amount stopped_time(const struct ledger *l, uint64_t began, uint64_t length)
{
	return time_of_stops(l, began, length, STOP_ITSELF);
}

/* Charge what of @took is of @stopped, and return the rest. */
static struct amount charge_stopped(struct ledger *l, struct amount took, struct amount stopped)
{
	stopped = smaller_amount(stopped, (struct amount){ not_below_zero(took.late), not_below_zero(took.spent) });
	charge_cause(l, BSA_CAUSE_STOPPED, stopped);
	l->stopped = (struct amount){ l->stopped.late + stopped.late, l->stopped.spent + stopped.spent };
	return amount_less(took, stopped);
}

/* Charge to no cause @maybe, time in which the service may have stood still. */
static void charge_maybe(struct ledger *l, struct amount maybe)
{
	charge_cause(l, BSA_CAUSE_UNKNOWN, maybe);
	l->maybe_stopped += maybe.late;
}

/*
 * Charge to no cause what of @took, which began at @began, was between the service's last event before a stop and the
 * stop, and return the rest. Nothing shows when the service stood still first.
 */
static struct amount charge_maybe_stopped(struct ledger *l, struct amount took, uint64_t began, uint64_t length)
{
	struct amount maybe = smaller_amount(time_of_stops(l, began, length, STOP_MAYBE),
	                                     (struct amount){ not_below_zero(took.late), not_below_zero(took.spent) });

	charge_maybe(l, maybe);
	return amount_less(took, maybe);
}

/*
 * Would it have met its deadline if the service had not stood still? All that was under way then would have come
 * earlier by that time. What was given up would have met it for certain only if there had been time for all of it,
 * whatever it had done before.
 */
static bool stop_decides(const struct ledger *l)
{
	int64_t stopped = l->by_cause[BSA_CAUSE_STOPPED].late, needs = 0;

	if (stopped <= 0)
		return false;
	if (!given_up(l->x))
		return stopped >= l->x->lateness;
	for (int phase = l->first; phase < BSA_PHASES; phase++)
		needs += in_tiling(l, phase) ? l->typical[phase] : 0;
	return l->typical[BSA_RUN] && l->budget - ((int64_t)(l->end - l->start) - stopped) >= needs;
}

/* ---- phases ---- */

/* Charge a whole phase to one cause. */
static void charge_phase(struct ledger *l, enum bsa_phase phase, struct amount took, enum bsa_cause cause)
{
	charge_cause(l, cause, (struct amount){ beyond_typical(l, phase, took.late), took.spent });
}

enum bsa_cause bsa_taker_cause(const struct bsa_execution *x, uint64_t slept)
{
	if (x->path <= BSA_PATH_ASYNC && x->path != BSA_PATH_BURST)
		return BSA_WOKEN_LATE;
	if (slept == BSA_NEVER)
		return BSA_CAUSE_UNKNOWN;
	return slept ? BSA_WOKEN_LATE : BSA_POLLED_LATE;
}

/* Waited for @left, from @began on: give what was held to who held it. Returns how long the lane was idle. */
static struct amount charge_waits(struct ledger *l, enum bsa_wait_kind kind, uint64_t began, struct amount left)
{
	struct amount idle = { 0 }, part;
	uint64_t from;

	for (size_t i = 0; i < l->m->n_waits; i++) {
		const struct bsa_wait *w = &l->m->waits[i];

		if (w->kind != kind)
			continue;
		from = w->began > began ? w->began : began;
		part = from < w->ended ? time_passed(l, from, w->ended - from) : (struct amount){ 0 };
		part = smaller_amount(part, left);
		left = amount_less(left, part);
		part = charge_stopped(l, part,
		                      from < w->ended ? stopped_time(l, from, w->ended - from) : (struct amount){ 0 });
		if (w->occupancy == BSA_HELD)
			add_row(l, w->cause < BSA_CAUSES ? w->cause : BSA_CAUSE_UNKNOWN, w->blocker, w->blocker_app,
			        part);
		else if (w->occupancy == BSA_IDLE) {
			if (from < w->ended)
				part = charge_maybe_stopped(l, part, from, w->ended - from);
			idle = (struct amount){ idle.late + part.late, idle.spent + part.spent };
		} else
			charge_cause(l,
			             w->cause == BSA_CAUSE_STALLED || w->cause == BSA_MACHINE_BUSY ? w->cause
			                                                                           : BSA_CAUSE_UNKNOWN,
			             part);
	}
	if (kind == BSA_WAIT_QUEUE && l->x->idle) {
		left = charge_stopped(l, left, amount_less(stopped_time(l, began, l->x->phase[BSA_QUEUE]), l->stopped));
		left = charge_maybe_stopped(l, left, began, l->x->phase[BSA_QUEUE]);
		return (struct amount){ idle.late + left.late, idle.spent + left.spent };
	}
	charge_cause(l, BSA_CAUSE_UNKNOWN, left);
	return idle;
}

/*
 * The giver's time: its own, without what it waited for room. @delay is what is left of the time for which
 * its thread was ready and had no cpu, in the phases that the delay was read over: as much of that as there
 * is beyond the typical is due to the machine.
 */
static void charge_giver(struct ledger *l, enum bsa_phase phase, struct amount took, uint64_t blocked,
                         enum bsa_cause cause, struct amount *delay)
{
	struct amount rest = { beyond_typical(l, phase, took.late), took.spent };
	struct amount full = smaller_amount((struct amount){ usable_ns(blocked), usable_ns(blocked) },
	                                    (struct amount){ not_below_zero(rest.late), rest.spent });
	struct amount own = amount_less(rest, full);
	struct amount busy =
		smaller_amount(*delay, (struct amount){ not_below_zero(own.late), not_below_zero(own.spent) });

	charge_cause(l, BSA_QUEUE_FULL, full);
	charge_cause(l, BSA_MACHINE_BUSY, busy);
	charge_cause(l, cause, amount_less(own, busy));
	*delay = amount_less(*delay, busy);
}

/* ---- running ---- */

static uint64_t run_of(const struct bsa_execution *x)
{
	return x->phase[BSA_RUN];
}

/* Do its slices cover all of its time on lanes? */
static bool slices_hold(const struct bsa_missed *m)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < m->n_slices; i++) {
		const struct bsa_slice *s = &m->slices[i];

		if (s->ended < s->began || s->ended - s->began >= ABSURD - sum)
			return false;
		sum += s->ended - s->began;
	}
	return m->n_slices && sum == run_of(m->execution);
}

/* The part of @took, its time on and off lanes until @until, that it was on lanes. */
static int64_t on_lanes(const struct ledger *l, uint64_t until, int64_t took)
{
	const struct bsa_missed *m = l->m;
	int64_t on = 0, off = 0;

	if (slices_hold(m)) {
		for (size_t i = 0; i < m->n_slices; i++)
			on += ns_before(m->slices[i].began, m->slices[i].ended - m->slices[i].began, until);
		return smaller_ns(on, took);
	}
	for (size_t i = 0; i < m->n_waits && off < took; i++)
		if (m->waits[i].kind == BSA_WAIT_PREEMPTED && m->waits[i].ended > m->waits[i].began)
			off += ns_before(m->waits[i].began, m->waits[i].ended - m->waits[i].began, until);
	return smaller_ns(usable_ns(run_of(l->x)), not_below_zero(took - off));
}

/* Charge what was done again, of what it ran, to who made it necessary. Returns how much that was. */
static struct amount charge_redo(struct ledger *l, struct amount run)
{
	const struct bsa_missed *m = l->m;
	int64_t left = smaller_ns(usable_ns(l->x->redo), usable_ns(run_of(l->x))), own = usable_ns(run_of(l->x)) - left,
		ns;
	bool placed = slices_hold(m) && m->n_slices == m->n_preemptions + 1;
	/* Where it is not known when in a stretch that was, the work of its own was before. */
	struct amount room =
		placed ? run : (struct amount){ not_below_zero(run.late - own), not_below_zero(run.spent - own) };
	struct amount all = { 0 }, part;

	for (size_t i = 0; i <= m->n_preemptions && left; i++) {
		const struct bsa_preemption *by = i ? &m->preemptions[i - 1] : m->n_preemptions ? m->preemptions : NULL;

		/*
		 * The time that stretch @i, from 0, repeated: reported when the stretch ends, except for the
		 * last one, which has the rest.
		 */
		ns = i < m->n_preemptions ? smaller_ns(usable_ns(m->preemptions[i].redo), left) : left;
		left -= ns;
		part = placed ? time_passed(l, m->slices[i].began, (uint64_t)ns) : (struct amount){ ns, ns };
		part = smaller_amount(part, amount_less(room, all));
		all = (struct amount){ all.late + part.late, all.spent + part.spent };
		add_row(l, BSA_REDO, by ? by->by : 0, 0, part);
	}
	return all;
}

/* On lanes and off them: @took in all. */
static void charge_lanes(struct ledger *l, struct amount took)
{
	const struct bsa_execution *x = l->x;
	struct amount run = { on_lanes(l, l->end, took.late), on_lanes(l, l->cut, took.spent) };
	struct amount stopped = stopped_time(l, x->at[BSA_DISPATCHED],
	                                     x->phase[BSA_RUN] + (uint64_t)usable_ns(x->phase[BSA_PREEMPTED]));
	struct amount idle = charge_waits(l, BSA_WAIT_PREEMPTED, x->at[BSA_DISPATCHED], amount_less(took, run));
	struct amount own, rest, out, busy, maybe, waited = l->stopped;
	bool known = x->cpu != BSA_NEVER;
	int64_t usual, off;

	l->charged = BSA_PART_HAND;
	charge_phase(l, BSA_PREEMPTED, idle, BSA_HANDOVER);

	/* Its own run is what is left when the redone work is charged. */
	l->charged = BSA_PART_RUN;
	own = amount_less(run, charge_redo(l, run));
	own = charge_stopped(l, own, amount_less(stopped, l->stopped));
	usual = smaller_ns(l->typical[BSA_RUN], own.spent);
	rest = (struct amount){ beyond_typical(l, BSA_RUN, own.late), own.spent - usual };
	charge_cause(l, BSA_OWN_RUN, (struct amount){ 0, usual });
	if (!bsa_is_warm(x->path, x->cold)) {
		charge_cause(l, x->cold > 0 ? BSA_COLD : BSA_CAUSE_UNKNOWN, rest);
		return;
	}
	/* As much of what is beyond the typical as the service may have stood still before a stop. */
	maybe = smaller_amount(time_of_stops(l, x->at[BSA_DISPATCHED], x->phase[BSA_RUN], STOP_MAYBE),
	                       (struct amount){ not_below_zero(rest.late), rest.spent });
	/* Where no cpu time was read, only the time for which the thread was ready may be known to be off the cpu. */
	off = known ? not_below_zero(usable_ns(run_of(x)) - usable_ns(x->cpu) -
	                             not_below_zero(stopped.late - waited.late))
	            : l->delay[BSA_DELAY_RUN].late;
	out = smaller_amount((struct amount){ off, off }, (struct amount){ not_below_zero(rest.late), rest.spent });
	busy = smaller_amount(l->delay[BSA_DELAY_RUN], out);
	charge_cause(l, BSA_MACHINE_BUSY, busy);
	rest = amount_less(rest, out);
	out = amount_less(out, busy);
	maybe = smaller_amount(maybe, known ? out : (struct amount){ not_below_zero(rest.late), rest.spent });
	if (known)
		out = amount_less(out, maybe);
	else
		rest = amount_less(rest, maybe);
	charge_maybe(l, maybe);
	charge_cause(l, BSA_OFF_CORE, out);
	charge_cause(l, known ? BSA_SLOW_COMPUTE : BSA_LONG_RUN, rest);
}

/* ---- both ledgers ---- */

static void charge_seen(struct ledger *l, enum bsa_phase phase, struct amount took)
{
	const struct bsa_execution *x = l->x;
	struct amount idle, none = { 0 };

	switch (phase) {
	case BSA_PREPARE:
		charge_giver(l, phase, took, x->request.blocked, BSA_CLIENT, &none);
		break;
	case BSA_SEND:
		charge_phase(l, phase, took, bsa_taker_cause(x, x->request.slept));
		break;
	case BSA_RETURN:
		charge_phase(l, phase, took, bsa_taker_cause(x, x->result.slept));
		break;
	case BSA_FENCE:
		if (x->fence_free) /* the execution waited for a thread of the service */
			charge_giver(l, phase, took, 0, BSA_SERVICE, &none);
		else
			charge_phase(l, phase, took, BSA_DEPENDENCY);
		break;
	case BSA_DECODE:
		charge_giver(l, phase, took, 0, BSA_SERVICE, &l->delay[BSA_DELAY_DECODE]);
		break;
	case BSA_SLOTS:
		if (!bsa_is_warm(x->path, x->cold) || x->misses == BSA_COUNT_UNKNOWN)
			charge_phase(l, phase, took, x->cold > 0 ? BSA_COLD : BSA_CAUSE_UNKNOWN);
		else
			charge_giver(l, phase, took, 0, BSA_SERVICE, &l->delay[BSA_DELAY_DECODE]);
		break;
	case BSA_QUEUE:
		idle = charge_waits(l, BSA_WAIT_QUEUE, x->at[BSA_ENQUEUED], took);
		l->charged = BSA_PART_HAND;
		charge_phase(l, BSA_QUEUE, idle, BSA_HANDOVER);
		break;
	case BSA_RUN: /* including preempted time */
		charge_lanes(l, took);
		break;
	case BSA_REPLY:
		charge_giver(l, phase, took, x->result.blocked, BSA_SERVICE, &l->delay[BSA_DELAY_REPLY]);
		break;
	case BSA_FINISH:
		charge_phase(l, phase, took, BSA_CLIENT);
		break;
	default: /* signal */
		charge_giver(l, phase, took, 0, BSA_SERVICE, &l->delay[BSA_DELAY_REPLY]);
	}
}

/*
 * Does a shorter phase change the end of the execution and nothing else before that? A phase after the run
 * does. So does a run that the service cannot have asked to leave its lane; otherwise a shorter run may come
 * to a checkpoint while it is asked, and a longer one not. What is typical of the phase must be known.
 */
static bool is_alone(const struct ledger *l, enum bsa_phase phase)
{
	if (phase == BSA_RUN)
		return l->m->undisturbed && l->typical[BSA_RUN] && !l->x->preemptions && !l->x->phase[BSA_PREEMPTED] &&
		       !l->x->redo;
	return phase > BSA_PREEMPTED && l->m->typical->n >= BSA_TYPICAL_MIN;
}

/* Returns how long the phases after the last one typically take. */
static int64_t charge_phases(struct ledger *l)
{
	const struct bsa_execution *x = l->x;
	int64_t elapsed = (int64_t)(l->end - l->start), after = 0;
	uint64_t off = x->phase[BSA_PREEMPTED];

	for (int phase = l->first; phase < BSA_PHASES; phase++) {
		uint64_t length = x->phase[phase], began = x->at[phase_begins_at(x, phase)];
		int64_t typical = l->typical[phase];
		struct amount took;

		if (!in_tiling(l, phase) || phase == BSA_PREEMPTED)
			continue;
		if (phase > (int)l->last) {
			after += typical;
			continue;
		}
		if (phase == BSA_RUN) {
			typical += l->typical[BSA_PREEMPTED];
			length = length < ABSURD && off < ABSURD ? length + off : BSA_NEVER;
		}
		if (phase == BSA_QUEUE && phase == (int)l->last && was_left(x) && length == BSA_NEVER && began < l->end)
			length = l->end - began; /* it has no lane yet, so it waited until its client left it */
		/* Its length or its beginning is unknown, or cannot be. */
		if (length && (length >= ABSURD || began == BSA_NEVER || began < l->start)) {
			l->typical_unseen += typical;
			continue;
		}
		took = time_passed(l, began, length);
		l->typical_seen += typical;
		l->seen.late += took.late;
		l->seen.spent += took.spent;

		l->stopped = (struct amount){ 0 };
		l->charged = BSA_PARTS;
		if (phase != BSA_QUEUE && phase != BSA_RUN)
			took = charge_stopped(l, took, stopped_time(l, began, length));
		/* What the service did, or did not do; its request was read after the stop. */
		if (phase == BSA_SEND || phase == BSA_DECODE || phase == BSA_SLOTS || phase == BSA_REPLY ||
		    phase == BSA_SIGNAL)
			took = charge_maybe_stopped(l, took, began, length);
		l->is_alone = is_alone(l, phase);
		if (phase < BSA_QUEUE)
			l->charged = BSA_PART_BEFORE;
		else if (phase > BSA_PREEMPTED)
			l->charged = BSA_PART_AFTER;
		else /* waits are their holders'; idle and running stretches are distinguished */
			l->charged = BSA_PARTS;
		charge_seen(l, phase, took);
		l->is_alone = false;
		l->charged = BSA_PARTS;
	}
	charge_cause(l, BSA_CAUSE_UNKNOWN,
	             (struct amount){ elapsed - l->seen.late - l->typical_unseen,
	                              (int64_t)(l->cut - l->start) - l->seen.spent });
	return after;
}

/* ---- misses that were foreseen ---- */

/* The waits that it would have had after its end. */
struct ahead {
	uint64_t lane_free, queue_free; /* BSA_NEVER: unknown */
	uint64_t held_until;            /* where lane_free is unknown: the holder has the lane until then at least */
	uint64_t holder;
	uint32_t app;
	uint8_t cause, queue_cause;
	bool refusable; /* the execution had no lane yet, so refusing it was the service's choice */
	bool queued;    /* when it was refused, others were waiting */
};

static uint8_t known_cause(uint8_t cause)
{
	return cause < BSA_CAUSES ? cause : BSA_CAUSE_UNKNOWN;
}

static struct ahead look_ahead(const struct ledger *l)
{
	const struct bsa_refused *r = l->m->refused;
	const struct bsa_wait *w = l->m->n_waits ? &l->m->waits[l->m->n_waits - 1] : NULL;

	if (r)
		return (struct ahead){ r->lane_free,
			               r->queue_free,
			               r->held_until,
			               r->holder,
			               r->holder_app,
			               known_cause(r->holder_cause),
			               known_cause(r->queue_cause),
			               true,
			               r->queue || r->queue_cause == BSA_CROWDED_OUT };
	if (l->last > BSA_QUEUE)
		return (struct ahead){ .refusable = false };
	if (l->last == BSA_QUEUE && w && w->occupancy == BSA_HELD && w->ended >= l->end)
		return (struct ahead){ BSA_NEVER,         BSA_NEVER,      BSA_NEVER,
			               w->blocker,        w->blocker_app, known_cause(w->cause),
			               BSA_CAUSE_UNKNOWN, true,           false };
	if (l->last == BSA_QUEUE && (l->x->idle || (w && w->occupancy == BSA_IDLE)))
		return (struct ahead){ BSA_NEVER,    BSA_NEVER,         BSA_NEVER, 0,    0,
			               BSA_HANDOVER, BSA_CAUSE_UNKNOWN, true,      false };
	return (struct ahead){
		BSA_NEVER, BSA_NEVER, BSA_NEVER, 0, 0, BSA_CAUSE_UNKNOWN, BSA_CAUSE_UNKNOWN, true, false
	};
}

void bsa_missed_rules(struct bsa_missed *m, const struct bsa_rules *r)
{
	bool known = r && r->policy != BSA_POLICY_NATIVE;

	m->lanes = r ? r->lanes : 0;
	m->restarts = !known || (r->preempt_mode == BSA_PREEMPT_RESTART && r->policy != BSA_POLICY_FIFO);
	/* Without preemption, a fair service counts what runs, too. */
	m->counted = !known                                ? BSA_COUNTS_UNKNOWN
	             : r->policy == BSA_POLICY_FIFO        ? BSA_COUNTS_ALL
	             : r->policy != BSA_POLICY_FAIR        ? BSA_COUNTS_URGENT
	             : r->preempt_mode == BSA_PREEMPT_NONE ? BSA_COUNTS_UNKNOWN
	                                                   : BSA_COUNTS_OWN;
}

/* One side, its own app or the others, has the lane. Is what the other side has queued more than the @room? */
static bool queue_suffices(const struct ledger *l, const struct ahead *a, int64_t room)
{
	const struct bsa_refused *r = l->m->refused;
	bool is_own = a->app == l->x->app;
	uint64_t queued = !r ? 0 : is_own ? r->others_ns : r->own_ns;

	return a->app && l->m->lanes && queued < ABSURD && (int64_t)queued / l->m->lanes > room &&
	       !(l->m->counted == BSA_COUNTS_OWN && is_own);
}

/*
 * Charge @rest, which is for the queue, behind @held for the lane: to the app whose work, by the service's estimates
 * and divided by the lanes, left no @room for its wait, and would have left it without that. Without estimates, to
 * other apps if these alone waited. Of work that the service may not have counted, the estimates are upper bounds:
 * where the rest fits without one app's, that app decides all the same. @suffices: @rest is all of the wait, because
 * queue_suffices.
 */
static void charge_queue(struct ledger *l, const struct ahead *a, int64_t held, int64_t rest, int64_t room,
                         bool suffices)
{
	const struct bsa_refused none = { 0 }, *r = l->m->refused ? l->m->refused : &none;
	const uint64_t queued[2] = { r->own_ns, r->others_ns };
	unsigned lanes = l->m->lanes ? l->m->lanes : 1;
	int64_t own = usable_ns(r->own_ns), others = usable_ns(r->others_ns), part = 0;
	int64_t all = held + own / lanes + others / lanes;
	bool decides[2], known = l->m->lanes && r->own_ns < ABSURD && r->others_ns < ABSURD && all > room;
	uint8_t cause = a->queue_cause;

	/* @held is known to be of the app on lane 0. Any app may have had another lane, which would have been free. */
	for (int i = 0; i < 2; i++) {
		int64_t without = all - usable_ns(queued[i]) / lanes;
		bool has_lane = a->app && (a->app == l->x->app) == !i;

		decides[i] = without - (has_lane ? held : 0) <= room;
		known &= decides[i] || !queued[i] || without - held > room || (a->app && lanes == 1);
	}
	if ((cause == BSA_CROWDED_OUT || suffices) && l->m->counted <= BSA_COUNTS_OWN) {
		cause = l->m->counted && r->own_ns ? BSA_QUEUED_BEHIND : BSA_CAUSE_UNKNOWN;
	} else if (suffices || (cause == BSA_CROWDED_OUT && (r->own_ns || others))) {
		/* Either would have been enough. */
		if (known && decides[0] && decides[1])
			part = (int64_t)((double)rest * (double)own / (double)(own + others));
		cause = !known                            ? BSA_CAUSE_UNKNOWN
		        : decides[1]                      ? BSA_CROWDED_OUT
		        : decides[0]                      ? BSA_QUEUED_BEHIND
		        : l->m->counted == BSA_COUNTS_ALL ? BSA_OVERBOOKED
		                                          : BSA_CAUSE_UNKNOWN;
	}
	charge_cause(l, BSA_QUEUED_BEHIND, (struct amount){ part, 0 });
	charge_cause(l, cause, (struct amount){ rest - part, 0 });
}

/*
 * Why the service thought that it would not end in time. @foreseen: how much longer than is typical that
 * would have taken from the end on; not above 0 where the event has only when the service reported it.
 * @after: what the phases after the last one typically take. Charges what explains it, and returns how much
 * that is.
 */
static int64_t charge_foreseen(struct ledger *l, int64_t foreseen, int64_t after)
{
	const struct ahead ahead = look_ahead(l);
	int64_t run = l->last >= BSA_RUN ? l->to_come : l->typical[BSA_RUN], wait = 0;
	int64_t spare = l->budget - (int64_t)(l->end - l->start) - run; /* had it got a lane at once */
	int64_t likely = foreseen > 0 ? foreseen : spare;               /* at least what there was no room for */
	int64_t answer = l->last >= BSA_RUN ? after : after - run;
	bool known = ahead.queue_free != BSA_NEVER && time_difference(ahead.queue_free, l->end, &wait);
	int64_t held, room = not_below_zero(spare - answer);
	bool suffices = queue_suffices(l, &ahead, room);
	bool seen;

	if (!ahead.refusable)
		return 0;
	wait = not_below_zero(wait);
	if (known && !(wait && l->m->restarts) && wait <= spare - answer && l->typical[BSA_RUN]) {
		charge_cause(l, BSA_BAD_ESTIMATE, (struct amount){ likely, 0 });
		return likely;
	}
	if (!known)
		wait = not_below_zero(likely);
	else /* at its deadline at the latest, the service had given it up: it waits for nothing that comes later */
		wait = smaller_ns(wait, foreseen > 0 ? foreseen : not_below_zero(spare + run));
	/* The service meant that it would not do even with all lanes free, and nothing speaks against that. */
	if (l->x->status == BSA_STATUS_MISSED_DEADLINE_PERSISTENT && (spare < 0 || !l->typical[BSA_RUN]))
		wait = 0;
	/*
	 * Charge a wait of @wait to the execution on the lane until a lane is idle, and then to those that
	 * are queued for it. Where nothing is known of the lanes, but others waited, these are what is known
	 * to have been ahead. Where a loss may hide when the holder left, what is behind that is unknown. The
	 * execution on the lane has nothing where those that are queued would have been enough.
	 */
	seen = ahead.lane_free != BSA_NEVER && time_difference(ahead.lane_free, l->end, &held);
	if (!seen && !(ahead.holder && time_difference(ahead.held_until, l->end, &held)))
		held = !ahead.holder && ahead.queued ? 0 : wait;
	held = smaller_ns(not_below_zero(held), wait);
	if (!suffices)
		add_row(l, ahead.cause, ahead.holder, ahead.app, (struct amount){ held, 0 });
	if (suffices && seen)
		charge_queue(l, &ahead, held, wait, room, true);
	else if (suffices)
		charge_cause(l, BSA_CAUSE_UNKNOWN, (struct amount){ wait, 0 });
	else if (seen || !ahead.holder)
		charge_queue(l, &ahead, held, wait - held, room, false);
	else
		charge_cause(l, BSA_CAUSE_UNKNOWN, (struct amount){ wait - held, 0 });
	if (l->typical[BSA_RUN] || wait >= likely)
		return wait;
	/* Only the service knows the run's estimate: it reports that the run takes too long, but not by how much. */
	charge_cause(l, BSA_TOO_BIG, (struct amount){ likely - wait, 0 });
	return likely;
}

/* ---- */

/* Everything but what the path typically takes. Returns that, and what was foreseen beyond all reasons. */
static int64_t charge_all(struct ledger *l)
{
	const struct bsa_execution *x = l->x;
	int64_t over = (int64_t)(l->end - l->start) - l->budget, after = charge_phases(l), rest;
	int64_t excess = l->typical_seen + l->typical_unseen - l->budget;

	charge_cause(l, BSA_UNUSED, (struct amount){ 0, l->budget > 0 ? not_below_zero(-over) : 0 });
	if (x->miss !=
	    BSA_MISS_PREDICTED) { /* the event's clock and the trace's differ by the time that emitting takes */
		charge_cause(l, BSA_SERVICE, (struct amount){ x->lateness - over, 0 });
		if (!is_cut(x))
			return excess;
		charge_cause(l, BSA_UNUSED, (struct amount){ -l->to_come - after, 0 });
		return excess + after;
	}
	rest = x->lateness - over - l->to_come - after;
	rest -= charge_foreseen(l, rest, after);
	/* The time that it did not need, because it was given up. */
	charge_cause(l, BSA_UNUSED, (struct amount){ smaller_ns(rest, 0), 0 });
	return excess + after + not_below_zero(rest);
}

void bsa_blame_unknown(const struct bsa_execution *x, struct bsa_blamed *ret)
{
	*ret = (struct bsa_blamed){ .cause = BSA_CAUSE_UNKNOWN,
		                    .budget_ns = INT64_MIN,
		                    .late_ns = x->lateness,
		                    .saved = -1,
		                    .is_primary = true };
}

/* The cause that gets the typical time beyond the budget. */
static enum bsa_cause cause_of_excess(const struct ledger *l, int64_t excess)
{
	uint64_t usual = l->m->typical->budget, ample = l->m->typical->ample_budget, decoded = l->x->at[BSA_DECODED];
	/*
	 * The deadline may follow from the duration that the app asked for, which counts from when its fences
	 * are signalled: the app cannot change it by submitting earlier. A deadline of the app's own is
	 * before that; where fences took long, which one it is remains open.
	 */
	bool is_of_duration =
		l->x->duration &&
		(decoded == BSA_NEVER || (l->x->deadline >= decoded && l->x->deadline - decoded >= l->x->duration));

	int64_t needed = l->hopeless ? least_total(l) : l->budget + excess;
	bool usually_fits = usual < ABSURD && usable_ns(usual) >= needed;
	/* Where most are submitted late, others have no more: but without its thread's wait for a cpu, this one had. */
	bool was_held_up = l->x->submit_turns && l->budget + usable_ns(l->x->submit_delay) >= needed;

	/*
	 * Where the service alone was recorded, the budget counts from when the service took the request, which may
	 * have been submitted in time, and delivered late. Only if others of its model usually are taken with too
	 * little time as well, the deadline is known to be too early.
	 */
	if (l->x->sides == BSA_SIDES_SERVICE) {
		bool usually_short = usual < ABSURD && !usually_fits;

		if (l->budget <= 0 || (!is_of_duration && excess > 0 && (l->hopeless ? !usually_short : usually_fits)))
			return BSA_CAUSE_UNKNOWN;
	} else if (l->budget <= 0 || (l->hopeless && !is_of_duration && (usually_fits || was_held_up))) {
		return BSA_SUBMITTED_LATE;
	} else if (l->hopeless && !is_of_duration && ample < ABSURD && usable_ns(ample) >= needed) {
		return BSA_CAUSE_UNKNOWN; /* its deadline was too early, or most of its model are submitted late */
	}
	/* Its run alone was not too long if it was done within the budget. */
	if (answered_run(l) && answered_run(l) <= l->budget)
		return BSA_TOO_TIGHT;
	return excess > 0 && l->typical[BSA_RUN] > l->budget ? BSA_TOO_BIG : BSA_TOO_TIGHT;
}

size_t bsa_blame(const struct bsa_missed *m, struct bsa_blamed *ret, size_t max)
{
	struct ledger l = { .m = m, .x = m->execution, .ret = ret, .max = max, .charged = BSA_PARTS };
	enum bsa_cause too;
	int64_t excess;
	size_t n = 0;
	bool any = false;

	assert(max >= BSA_CAUSES + m->n_waits + m->n_preemptions);
	/* For how long its thread had no cpu, in each part; 0 where that is unknown. */
	for (int part = 0; part < BSA_DELAYS; part++) {
		int64_t ns = l.x->delay[part] == BSA_NEVER ? 0 : usable_ns(l.x->delay[part]);

		l.delay[part] = (struct amount){ ns, ns };
	}
	if (!find_span(&l)) {
		/* By how much it was late is unknown, as where the client alone saw that it was given up. */
		bsa_blame_unknown(l.x, ret);
		if (l.x->lateness != BSA_LATENESS_UNKNOWN || !is_between(-(int64_t)ABSURD, l.budget, 0) ||
		    l.x->sides == BSA_SIDES_SERVICE)
			return 1;
		/* A deadline that had passed before is the cause all the same. */
		ret->cause = BSA_SUBMITTED_LATE;
		ret->budget_ns = l.budget;
		ret->lead_ns = 1 - l.budget;
		return 1;
	}
	find_typical(&l);
	excess = charge_all(&l);
	l.hopeless = l.budget <= 0 || (excess > 0 && least_total(&l) > l.budget);
	l.stop_decides = stop_decides(&l);
	too = cause_of_excess(&l, excess);

	/* A deadline that had passed at the start leaves nothing to give away. */
	l.charged = BSA_PART_BUDGET;
	charge_cause(&l, too, (struct amount){ excess, smaller_ns(l.budget, 0) });

	/* The rows without a culprit: one of each cause. */
	for (int cause = 0; cause < BSA_CAUSES; cause++) {
		if (!l.by_cause[cause].late && !l.by_cause[cause].spent)
			continue;
		add_row(&l, cause, 0, 0, l.by_cause[cause]);
		for (int part = 0; part < BSA_PARTS; part++)
			l.ret[l.n - 1].part[part] = l.part[cause][part];
	}
	merge_rows(&l);
	name_redo(&l);
	/* Leave out causes that explain nothing; but of the causes, one always stays. */
	for (size_t i = 0; i < l.n; i++) {
		if (l.ret[i].late_ns || l.ret[i].budget_ns)
			l.ret[n++] = l.ret[i];
		any |= n && (l.hopeless ? l.ret[n - 1].cause == too : names_cause(&l.ret[n - 1]));
	}
	l.n = n;
	if (!any)
		add_row(&l, too, 0, 0, (struct amount){ 0 });
	rank_rows(&l, too);

	/* By how much earlier it must be submitted so that it can meet its deadline at all. */
	for (size_t i = 0; i < l.n; i++)
		ret[i].lead_ns = ret[i].cause == BSA_SUBMITTED_LATE
		                         ? (l.m->typical->least[BSA_RUN] ? least_total(&l) - l.budget : 1 - l.budget)
		                         : 0;
	return l.n;
}
