/*
 * test_blame.c -- the two ledgers of a missed execution: exact to the nanosecond, for each cause and for
 * arbitrary numbers.
 */
#include "fold/blame.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base.h"

#define NO BSA_NEVER

enum { SUBMITTED = 1000, BUDGET = 210, PARTS_MAX = 6, ROOM = BSA_CAUSES + 3 * PARTS_MAX, TEXT_MAX = 1024 };

static const char *const causes[BSA_CAUSES] = {
	"too_big",  "too_tight",      "queued_behind", "inversion",  "crowded_out",  "hogged",     "preempted",
	"redo",     "handover",       "cold",          "woken_late", "polled_late",  "queue_full", "slow_compute",
	"off_core", "service",        "client",        "dependency", "bad_estimate", "own_run",    "unused",
	"unknown",  "submitted_late", "machine_busy",  "stalled",    "stopped",      "long_run",   "overbooked",
};

/* The typical phases, 200 ns in all. They are equal for burst, sync and async. */
static const uint64_t usual[BSA_PHASES] = {
	[BSA_PREPARE] = 10, [BSA_SEND] = 20,  [BSA_DECODE] = 5,  [BSA_SLOTS] = 5,  [BSA_QUEUE] = 10,
	[BSA_RUN] = 100,    [BSA_REPLY] = 10, [BSA_RETURN] = 20, [BSA_FINISH] = 20
};

/* ---- an execution, put together ---- */

/* A part of a wait: its length; it begins where the part before it ends. */
struct part {
	uint64_t length;
	enum bsa_occupancy occupancy;
	enum bsa_cause cause;
	uint64_t blocker;
	uint32_t blocker_app;
};

struct row {
	const char *name;
	uint64_t more[BSA_PHASES]; /* time beyond the typical phase */
	uint64_t deadline;         /* after submission; 0: BUDGET */
	uint64_t usual_run;        /* 0: the run of usual[] */
	bool answered;             /* other requests were answered in the typical time */
	uint64_t usual_budget;     /* 0: unknown */
	uint64_t ample_budget;     /* 0: unknown */
	uint64_t submit_delay;     /* 0: unknown */
	bool restarts;             /* the service restarts preempted executions */
	bool asked;                /* others waited for the lane while this execution held it */
	uint64_t few;              /* typical.n; 0: enough. If it is too small, usual_run is the model's estimate */
	uint64_t runs;             /* typical.runs: the number of runs of which usual_run is the median, if few */
	uint64_t estimate, redo, cpu, duration;
	struct bsa_waited request, result;
	/* all of the execution's waits; none: the lane was idle in the queue phase */
	struct part queue[PARTS_MAX], off[PARTS_MAX];
	/* lengths of the stretches on lanes, with off[0], off[1]... between them */
	uint64_t stretches[PARTS_MAX];
	struct bsa_preemption preemptions[PARTS_MAX];
	uint32_t misses;
	uint8_t status;
	int8_t cold;
	bool fenced, fence_free, service_only, lanes_unknown;
	uint8_t lanes;            /* 0: one */
	enum bsa_counted counted; /* 0: all */
	uint64_t lost;            /* a bit for each boundary that was not recorded */
	struct bsa_stop stops[2]; /* after the submission */
	/*
	 * for an execution that was given up: the time after submission, the last boundary it reached, and its
	 * reported lateness
	 */
	uint64_t missed;
	enum bsa_boundary reached;
	int64_t over;
	struct bsa_refused refused; /* lane_free: after submission */
	const char *ledgers;
};

struct built {
	struct bsa_execution x;
	struct bsa_typical typical;
	struct bsa_wait waits[2 * PARTS_MAX];
	struct bsa_slice slices[PARTS_MAX];
	struct bsa_preemption preemptions[PARTS_MAX];
	struct bsa_refused refused;
	struct bsa_stop stops[2];
	struct bsa_missed missed;
};

/* The boundary at the end of each phase; preempted is part of the time from dispatched to run_ended. */
static const enum bsa_boundary ends[BSA_PHASES] = {
	BSA_REQUEST_WRITTEN, BSA_REQUEST_READ, BSA_DECODED,        BSA_FENCED,      BSA_ENQUEUED, BSA_DISPATCHED,
	BSA_RUN_ENDED,       BSA_RUN_ENDED,    BSA_RESULT_WRITTEN, BSA_RESULT_READ, BSA_RETURNED, BSA_SIGNALLED
};

static bool has_phase(const struct row *r, enum bsa_phase phase)
{
	if (r->fenced)
		return phase < BSA_REPLY || phase == BSA_SIGNAL;
	return phase != BSA_SIGNAL && phase != BSA_FENCE;
}

static enum bsa_boundary beginning(const struct row *r, enum bsa_phase phase)
{
	if (phase == BSA_PREEMPTED)
		return BSA_DISPATCHED;
	if (phase == BSA_SLOTS && !r->fenced)
		return BSA_DECODED;
	if (phase == BSA_SIGNAL)
		return BSA_RUN_ENDED;
	return phase ? ends[phase - 1] : BSA_SUBMITTED;
}

static uint64_t deadline(const struct row *r)
{
	return SUBMITTED + (r->deadline ? r->deadline : BUDGET);
}

static void build_times(struct built *b, const struct row *r)
{
	struct bsa_execution *x = &b->x;
	uint64_t at = SUBMITTED;

	for (int i = 0; i < BSA_BOUNDARIES; i++)
		x->at[i] = NO;
	x->at[BSA_SUBMITTED] = at;
	for (int i = 0; i < BSA_PHASES; i++) {
		if (!has_phase(r, i))
			continue;
		x->phase[i] = usual[i] + r->more[i];
		at += x->phase[i];
		x->at[ends[i]] = at;
	}
}

/* The execution reached @r->reached and ended a little later; the time since belongs to the phase it was in. */
static void give_up(struct built *b, const struct row *r)
{
	struct bsa_execution *x = &b->x;
	uint64_t at = SUBMITTED + r->missed + 3;

	for (int i = 0; i < BSA_PHASES; i++) {
		if (i == BSA_PREEMPTED || x->at[ends[i]] == NO || ends[i] <= r->reached)
			continue;
		x->phase[i] = 0;
		if (beginning(r, i) == r->reached)
			x->phase[i] = at - x->at[r->reached];
		if (ends[i] != BSA_RUN_ENDED)
			x->at[ends[i]] = NO;
	}
	if (r->reached == BSA_DISPATCHED)
		x->phase[BSA_RUN] -= x->phase[BSA_PREEMPTED];
	x->at[BSA_RUN_ENDED] = x->at[BSA_RETURNED] = at;
	x->phase[BSA_REPLY] = x->phase[BSA_RETURN] = x->phase[BSA_FINISH] = 0;
	x->missed_at = SUBMITTED + r->missed;
	x->lateness = r->over;
	x->miss = x->missed_at < x->deadline ? BSA_MISS_PREDICTED : BSA_MISS_ABORTED;
}

static uint64_t build_waits(struct built *b, const struct part *parts, enum bsa_wait_kind kind, uint64_t at,
                            const uint64_t *between)
{
	for (int i = 0; i < PARTS_MAX && parts[i].length; i++) {
		at += between ? between[i] : 0;
		b->waits[b->missed.n_waits++] = (struct bsa_wait){ .began = at,
			                                           .ended = at + parts[i].length,
			                                           .blocker = parts[i].blocker,
			                                           .blocker_app = parts[i].blocker_app,
			                                           .kind = kind,
			                                           .occupancy = parts[i].occupancy,
			                                           .cause = parts[i].cause };
		at += parts[i].length;
	}
	return at;
}

static void build_slices(struct built *b, const struct row *r)
{
	uint64_t at = b->x.at[BSA_DISPATCHED];

	for (int i = 0; i < PARTS_MAX && r->stretches[i]; i++) {
		b->slices[b->missed.n_slices++] = (struct bsa_slice){ .began = at, .ended = at + r->stretches[i] };
		at += r->stretches[i] + r->off[i].length;
	}
	for (; b->missed.n_preemptions < PARTS_MAX && r->preemptions[b->missed.n_preemptions].by;)
		b->missed.n_preemptions++;
	memcpy(b->preemptions, r->preemptions, sizeof(b->preemptions));
}

static void lose(struct built *b, const struct row *r)
{
	struct bsa_execution *x = &b->x;

	for (int i = 0; i < BSA_BOUNDARIES; i++)
		if (r->lost & 1ull << i)
			x->at[i] = NO;
	for (int i = 0; i < BSA_PHASES; i++) {
		enum bsa_boundary from = beginning(r, i);

		if (has_phase(r, i) && (r->lost & (1ull << from | 1ull << ends[i])))
			x->phase[i] = NO;
	}
}

static void build(struct built *b, const struct row *r)
{
	struct bsa_execution *x = &b->x;

	*b = (struct built){ .x = { .deadline = deadline(r),
		                    .duration = r->duration,
		                    .path = r->fenced ? BSA_PATH_FENCED : BSA_PATH_BURST,
		                    .app = 1,
		                    .fence_free = r->fence_free,
		                    .sides = r->service_only ? BSA_SIDES_SERVICE : BSA_SIDES_BOTH,
		                    .miss = BSA_MISS_LATE,
		                    .missed_at = NO,
		                    .request = r->request,
		                    .result = r->result,
		                    .redo = r->redo,
		                    .cpu = r->cpu ? r->cpu : NO,
		                    .estimate = r->estimate ? r->estimate : NO,
		                    .misses = r->misses,
		                    .status = r->status,
		                    .cold = r->cold,
		                    .submit_delay = r->submit_delay,
		                    .submit_turns = r->submit_delay ? 1 : 0,
		                    .idle = !r->queue[0].length },
		             .typical = { .n = r->few ? r->few : 100,
		                          .runs = r->few ? r->runs : 100,
		                          .budget = r->usual_budget ? r->usual_budget : NO,
		                          .ample_budget = r->ample_budget ? r->ample_budget : NO },
		             .refused = r->refused };
	memcpy(b->typical.phase, usual, sizeof(usual));
	if (r->answered)
		memcpy(b->typical.least, usual, sizeof(usual));
	b->typical.phase[BSA_RUN] = r->usual_run || r->few ? r->usual_run : usual[BSA_RUN];
	b->typical.phase[BSA_SIGNAL] = b->typical.phase[BSA_FENCE] = 0;
	build_times(b, r);
	x->lateness = (int64_t)(x->at[r->fenced ? BSA_SIGNALLED : BSA_RETURNED] - x->deadline);
	if (r->missed)
		give_up(b, r);
	build_waits(b, r->queue, BSA_WAIT_QUEUE, x->at[BSA_ENQUEUED], NULL);
	build_waits(b, r->off, BSA_WAIT_PREEMPTED, x->at[BSA_DISPATCHED], r->stretches);
	build_slices(b, r);
	lose(b, r);
	if (r->service_only) {
		if (!r->missed)
			x->lateness = (int64_t)(x->at[r->fenced ? BSA_SIGNALLED : BSA_RESULT_WRITTEN] - x->deadline);
		x->at[BSA_SUBMITTED] = x->at[BSA_REQUEST_WRITTEN] = x->at[BSA_RESULT_READ] = x->at[BSA_RETURNED] = NO;
		x->phase[BSA_PREPARE] = x->phase[BSA_SEND] = x->phase[BSA_RETURN] = x->phase[BSA_FINISH] = NO;
	}
	if (!r->refused.queue_free)
		b->refused.queue_free = r->refused.lane_free;
	b->refused.lane_free += r->refused.lane_free == NO ? 0 : SUBMITTED;
	b->refused.held_until += SUBMITTED;
	b->refused.queue_free += b->refused.queue_free == NO ? 0 : SUBMITTED;
	for (; b->missed.n_stops < N_OF(r->stops) && r->stops[b->missed.n_stops].ended; b->missed.n_stops++)
		b->stops[b->missed.n_stops] = (struct bsa_stop){
			SUBMITTED + r->stops[b->missed.n_stops].began, SUBMITTED + r->stops[b->missed.n_stops].ended,
			SUBMITTED + (r->stops[b->missed.n_stops].heard ? r->stops[b->missed.n_stops].heard
			                                               : r->stops[b->missed.n_stops].began)
		};
	b->missed.stops = b->stops;
	b->missed.execution = x;
	b->missed.undisturbed = !r->asked;
	b->missed.restarts = r->restarts;
	b->missed.counted = r->counted ? r->counted : BSA_COUNTS_ALL;
	b->missed.lanes = r->lanes_unknown ? 0 : r->lanes ? r->lanes : 1;
	b->missed.typical = &b->typical;
	b->missed.waits = b->waits;
	b->missed.slices = b->slices;
	b->missed.preemptions = b->preemptions;
	b->missed.refused = r->refused.lane_free ? &b->refused : NULL;
}

/* ---- ledgers as text ---- */

static void print(char *ret, const struct bsa_blamed *rows, size_t n)
{
	size_t used = 0;

	for (size_t i = 0; i < n && used < TEXT_MAX; i++) {
		const struct bsa_blamed *b = &rows[i];

		used += (size_t)snprintf(ret + used, TEXT_MAX - used, "%s%s", i ? ", " : "", causes[b->cause]);
		if (used < TEXT_MAX && (b->culprit || b->culprit_app))
			used += (size_t)snprintf(ret + used, TEXT_MAX - used, "@%llu/%u",
			                         (unsigned long long)b->culprit, b->culprit_app);
		if (used < TEXT_MAX && b->budget_ns == INT64_MIN)
			used += (size_t)snprintf(ret + used, TEXT_MAX - used, " %lld ?", (long long)b->late_ns);
		else if (used < TEXT_MAX)
			used += (size_t)snprintf(ret + used, TEXT_MAX - used, " %lld %lld", (long long)b->late_ns,
			                         (long long)b->budget_ns);
		if (used < TEXT_MAX)
			used += (size_t)snprintf(ret + used, TEXT_MAX - used, "%s%s", b->is_primary ? " primary" : "",
			                         b->saved > 0 ? " saved"
			                         : b->saved   ? " perhaps"
			                                      : "");
	}
}

/* ---- invariants ---- */

static void assert_sums(const struct bsa_missed *m, const struct bsa_blamed *rows, size_t n)
{
	const struct bsa_execution *x = m->execution;
	uint64_t start = x->at[x->sides == BSA_SIDES_SERVICE ? BSA_REQUEST_READ : BSA_SUBMITTED];
	__int128 late = 0, budget = 0;

	for (size_t i = 0; i < n; i++) {
		late += rows[i].late_ns;
		budget += rows[i].budget_ns;
	}
	assert_true(late == x->lateness);
	if (n == 1 && rows[0].budget_ns == INT64_MIN)
		assert_int_equal(rows[0].cause, BSA_CAUSE_UNKNOWN);
	else
		assert_true(budget == (__int128)x->deadline - start);
}

/*
 * The budget was less than the least of all phases that are not waits, or than the typical run, or than the
 * execution's own run.
 */
static bool is_hopeless(const struct bsa_missed *m)
{
	const struct bsa_execution *x = m->execution;
	const struct bsa_typical *t = m->typical;
	uint64_t start = x->at[x->sides == BSA_SIDES_SERVICE ? BSA_REQUEST_READ : BSA_SUBMITTED], best = 0, run;

	for (int i = 0; i < BSA_PHASES; i++)
		best += i != BSA_QUEUE && i != BSA_PREEMPTED && t->least[i] < 1ull << 56 ? t->least[i] : 0;
	run = t->n < BSA_TYPICAL_MIN && !t->runs && x->estimate && x->estimate != BSA_NEVER ? x->estimate
	                                                                                    : t->phase[BSA_RUN];
	if (!run && x->miss == BSA_MISS_LATE)
		run = x->phase[BSA_RUN];
	best = best > run ? best : run;
	return x->deadline <= start || x->deadline - start < best;
}

/*
 * An execution that never ran waited at most until its deadline, or until its foreseen end; its causes must not
 * exceed that.
 */
static void assert_bounds(const struct bsa_missed *m, const struct bsa_blamed *rows, size_t n)
{
	const struct bsa_execution *x = m->execution;
	uint64_t start = x->at[x->sides == BSA_SIDES_SERVICE ? BSA_REQUEST_READ : BSA_SUBMITTED];
	__int128 most = (__int128)x->deadline - start, waited = 0;

	if (x->miss != BSA_MISS_PREDICTED || x->lateness > 0)
		return;
	if (most < 0)
		return;
	for (size_t i = 0; i < n; i++)
		if (rows[i].cause >= BSA_QUEUED_BEHIND && rows[i].cause <= BSA_CAUSE_PREEMPTED && rows[i].late_ns > 0)
			waited += rows[i].late_ns;
	assert_true(waited <= most);
}

static void assert_ranks(const struct bsa_missed *m, const struct bsa_blamed *rows, size_t n)
{
	const struct bsa_execution *x = m->execution;
	unsigned n_primary = 0;
	bool any = false;

	for (size_t i = 0; i < n; i++) {
		bool causes_it = rows[i].cause != BSA_OWN_RUN && rows[i].cause != BSA_UNUSED;

		assert_true(!rows[i].saved ||
		            (causes_it && (rows[i].late_ns > 0 || rows[i].cause == BSA_CAUSE_UNKNOWN)));
		/* a saving is known only in a late, complete execution, for a cause without a culprit; and of a stop */
		if (rows[i].saved > 0 && rows[i].cause == BSA_CAUSE_STOPPED)
			assert_true(rows[i].is_primary && m->n_stops &&
			            (x->miss != BSA_MISS_LATE || rows[i].late_ns >= x->lateness));
		else if (rows[i].saved > 0)
			assert_true(x->miss == BSA_MISS_LATE && x->quality == BSA_QUALITY_COMPLETE &&
			            !rows[i].culprit && rows[i].cause != BSA_CAUSE_UNKNOWN);
		assert_true(!rows[i].is_primary || causes_it);
		if (rows[i].is_primary && any) /* a primary cause that is not the largest precedes all others */
			assert_true((is_hopeless(m) &&
			             (rows[i].cause <= BSA_TOO_TIGHT || rows[i].cause == BSA_SUBMITTED_LATE ||
			              (rows[i].cause == BSA_CAUSE_UNKNOWN &&
			               (x->sides == BSA_SIDES_SERVICE || m->typical->ample_budget != NO)))) ||
			            (rows[i].cause == BSA_CAUSE_STOPPED && rows[i].saved > 0));
		any |= causes_it;
		n_primary += rows[i].is_primary;
	}
	assert_int_equal(n_primary, 1);
}

static void assert_order(const struct bsa_blamed *rows, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		assert_true(rows[i].late_ns || rows[i].budget_ns || n == 1 || rows[i].is_primary);
		assert_true(!i || rows[i - 1].late_ns >= rows[i].late_ns);
		for (size_t k = 0; k < i; k++)
			assert_true(rows[k].cause != rows[i].cause || rows[k].culprit != rows[i].culprit);
	}
}

static size_t blamed(const struct bsa_missed *m, struct bsa_blamed *ret)
{
	static struct bsa_blamed again[ROOM];
	size_t n = bsa_blame(m, ret, ROOM);

	assert_true(n > 0 && n <= ROOM);
	assert_sums(m, ret, n);
	assert_ranks(m, ret, n);
	assert_bounds(m, ret, n);
	assert_order(ret, n);
	memset(again, 0xff, sizeof(again));
	assert_int_equal(bsa_blame(m, again, ROOM), n);
	assert_memory_equal(again, ret, n * sizeof(*ret));
	return n;
}

/* ---- rows: phases longer than typical, and their ledgers ----
 *
 * Typical phases: prepare 10, send 20, decode 5, slots 5, queue 10, run 100, reply 10, return 20, finish 20; 200 of a
 * budget of 210. In a ledger each cause has two numbers: its part of the lateness, and its part of the budget.
 */

#define HELD(ns, why, who, app)             \
	{                                   \
		ns, BSA_HELD, why, who, app \
	}
#define IDLE(ns)                                 \
	{                                        \
		ns, BSA_IDLE, BSA_HANDOVER, 0, 0 \
	}
#define LOST(ns)                                         \
	{                                                \
		ns, BSA_UNKNOWN, BSA_CAUSE_UNKNOWN, 0, 0 \
	}

static const struct row rows[] = {
	{ .name = "too_big: a model that runs longer than the budget",
	  .usual_run = 300,
	  .more[BSA_RUN] = 200,
	  .ledgers = "too_big 190 0 primary perhaps, handover 0 10, polled_late 0 20, service 0 10, client 0 10, "
	             "own_run 0 160" },
	{ .name = "too_tight: all phases are typical, and the budget is less",
	  .deadline = 150,
	  .ledgers = "too_tight 50 0 primary perhaps, handover 0 10, polled_late 0 20, service 0 10, client 0 10, "
	             "own_run 0 100" },
	{ .name = "queued_behind: the same app had the lane",
	  .more[BSA_QUEUE] = 300,
	  .queue = { HELD(300, BSA_QUEUED_BEHIND, 7, 1), IDLE(10) },
	  .ledgers = "queued_behind@7/1 300 170 primary perhaps, polled_late 0 20, service 0 10, client 0 10, "
	             "too_tight -10 0" },
	{ .name = "inversion: the same app had the lane, for a lower priority",
	  .more[BSA_QUEUE] = 300,
	  .queue = { HELD(300, BSA_INVERSION, 7, 1), IDLE(10) },
	  .ledgers = "inversion@7/1 300 170 primary perhaps, polled_late 0 20, service 0 10, client 0 10, too_tight "
	             "-10 0" },
	{ .name = "crowded_out and hogged: two executions of another app, one of them beyond its share",
	  .more[BSA_QUEUE] = 300,
	  .queue = { HELD(100, BSA_CROWDED_OUT, 8, 2), HELD(200, BSA_HOGGED, 9, 2), IDLE(10) },
	  .ledgers = "hogged@9/2 200 70 primary perhaps, crowded_out@8/2 100 100 perhaps, polled_late 0 20, service 0 "
	             "10, client 0 10, too_tight -10 0" },
	{ .name = "a blocker that held the lane twice is one culprit",
	  .more[BSA_QUEUE] = 300,
	  .queue = { HELD(100, BSA_CROWDED_OUT, 8, 2), HELD(50, BSA_CROWDED_OUT, 9, 2),
	             HELD(150, BSA_CROWDED_OUT, 8, 2), IDLE(10) },
	  .ledgers = "crowded_out@8/2 250 120 primary perhaps, crowded_out@9/2 50 50 perhaps, polled_late 0 20, "
	             "service 0 10, client 0 10, too_tight -10 0" },
	{ .name = "a lane that was held all the time leaves less than the typical time to waking up",
	  .more[BSA_QUEUE] = 300,
	  .queue = { HELD(310, BSA_CROWDED_OUT, 8, 2) },
	  .ledgers = "crowded_out@8/2 310 170 primary perhaps, polled_late 0 20, service 0 10, client 0 10, too_tight "
	             "-10 0, handover -10 0" },
	{ .name = "preempted: the time off the lane is blamed on the lane's holder",
	  .more = { [BSA_PREEMPTED] = 60 },
	  .stretches = { 40, 30, 30 },
	  .off = { HELD(50, BSA_CAUSE_PREEMPTED, 8, 2), HELD(10, BSA_CAUSE_PREEMPTED, 9, 3) },
	  .preemptions = { { .by = 8 }, { .by = 9 } },
	  .ledgers = "preempted@8/2 50 50 primary perhaps, preempted@9/3 10 10 perhaps, handover 0 10, polled_late 0 "
	             "20, service 0 10, client 0 10, own_run 0 100, too_tight -10 0" },
	{ .name = "preempted: only the part before the deadline counts against the budget",
	  .more = { [BSA_PREEMPTED] = 200 },
	  .stretches = { 40, 60 },
	  .off = { HELD(200, BSA_CAUSE_PREEMPTED, 8, 2) },
	  .preemptions = { { .by = 8 } },
	  .ledgers = "preempted@8/2 200 120 primary perhaps, handover 0 10, polled_late 0 20, service 0 10, client 0 "
	             "10, own_run 0 40, too_tight -10 0" },
	{ .name = "redo: repeated work is blamed on each execution that made it necessary",
	  .more = { [BSA_PREEMPTED] = 20, [BSA_RUN] = 50 },
	  .redo = 50,
	  .stretches = { 30, 40, 80 },
	  .off = { HELD(10, BSA_CAUSE_PREEMPTED, 8, 2), HELD(10, BSA_CAUSE_PREEMPTED, 9, 3) },
	  .preemptions = { { .by = 8 }, { .by = 9, .redo = 20 } }, /* 8 restarted the second stretch */
	  .ledgers = "redo@9/3 30 30 primary perhaps, redo@8/2 20 20 perhaps, preempted@8/2 10 10 perhaps, "
	             "preempted@9/3 10 10 perhaps, handover 0 10, polled_late 0 20, service 0 10, client 0 10, "
	             "own_run 0 90, too_tight -10 0" },
	{ .name = "handover: the lane was free, and the execution woke up late",
	  .more[BSA_QUEUE] = 90,
	  .ledgers = "handover 90 100 primary perhaps, polled_late 0 20, service 0 10, client 0 10, own_run 0 70, "
	             "too_tight -10 0" },
	{ .name = "cold: unknown slots, and memory touched for the first time",
	  .more = { [BSA_SLOTS] = 95, [BSA_RUN] = 20 },
	  .misses = 1,
	  .cold = 1,
	  .ledgers = "cold 115 100 primary perhaps, handover 0 10, polled_late 0 20, service 0 5, client 0 10, "
	             "own_run 0 65, too_tight -10 0" },
	{ .name = "unknown: it is not known whether its slots were",
	  .more = { [BSA_SLOTS] = 95, [BSA_RUN] = 20 },
	  .cold = -1,
	  .ledgers = "unknown 115 100 primary perhaps, handover 0 10, polled_late 0 20, service 0 5, client 0 10, "
	             "own_run 0 65, too_tight -10 0" },
	{ .name = "woken_late: the reader of the request had been asleep, the reader of the answer had not",
	  .more = { [BSA_SEND] = 30, [BSA_RETURN] = 20 },
	  .request.slept = 1000,
	  .ledgers = "woken_late 30 50 primary perhaps, polled_late 20 20, handover 0 10, service 0 20, client 0 10, "
	             "own_run 0 100, too_tight -10 0" },
	{ .name = "polled_late: the reader of the answer was awake, and looked late",
	  .more = { [BSA_RETURN] = 40 },
	  .ledgers = "polled_late 40 70 primary saved, handover 0 10, service 0 20, client 0 10, "
	             "own_run 0 100, too_tight -10 0" },
	{ .name = "queue_full: there was no room for the request, then for the answer",
	  .more = { [BSA_PREPARE] = 30, [BSA_REPLY] = 30 },
	  .request.blocked = 25,
	  .result.blocked = 30,
	  .ledgers = "queue_full 55 55 primary perhaps, client 5 15 perhaps, handover 0 10, polled_late 0 20, service "
	             "0 10, own_run 0 100, too_tight -10 0" },
	{ .name = "queue_full: at most the time beyond the typical",
	  .more = { [BSA_PREPARE] = 3, [BSA_FINISH] = 30 },
	  .request.blocked = 12,
	  .ledgers = "client 30 28 primary saved, queue_full 3 12 perhaps, handover 0 10, polled_late 0 40, service 0 "
	             "20, own_run 0 100, too_tight -10 0" },
	{ .name = "slow_compute: a longer run, all of it on the cpu",
	  .more[BSA_RUN] = 300,
	  .cpu = 400,
	  .ledgers = "slow_compute 300 60 primary saved, handover 0 10, polled_late 0 20, service 0 10, client 0 10, "
	             "own_run 0 100, too_tight -10 0" },
	{ .name = "slow_compute: a shorter run may have come to a checkpoint while others waited",
	  .more[BSA_RUN] = 300,
	  .cpu = 400,
	  .asked = true,
	  .ledgers = "slow_compute 300 60 primary perhaps, handover 0 10, polled_late 0 20, service 0 10, client 0 10, "
	             "own_run 0 100, too_tight -10 0" },
	{ .name = "off_core: a longer run, most of it without a cpu",
	  .more[BSA_RUN] = 300,
	  .cpu = 120,
	  .ledgers = "off_core 280 60 primary, slow_compute 20 0, handover 0 10, polled_late 0 20, service 0 10, "
	             "client 0 10, "
	             "own_run 0 100, too_tight -10 0" },
	{ .name = "long_run: the cpu time is unknown, so that nothing is said of cpus",
	  .more[BSA_RUN] = 50,
	  .ledgers = "long_run 50 50 primary saved, handover 0 10, polled_late 0 20, service 0 20, client 0 10, "
	             "own_run 0 100, too_tight -10 0" },
	{ .name = "service: decoding, warm slots, answering",
	  .more = { [BSA_DECODE] = 20, [BSA_SLOTS] = 20, [BSA_REPLY] = 20 },
	  .ledgers = "service 60 70 primary perhaps, handover 0 10, polled_late 0 20, client 0 10, own_run 0 100, "
	             "too_tight -10 0" },
	{ .name = "client: before the request and after the answer",
	  .more = { [BSA_PREPARE] = 50, [BSA_FINISH] = 50 },
	  .ledgers = "client 100 60 primary perhaps, handover 0 10, polled_late 0 20, service 0 20, own_run 0 100, "
	             "too_tight -10 0" },
	{ .name = "dependency: fences; signalling is blamed on the service",
	  .fenced = true,
	  .more = { [BSA_FENCE] = 100, [BSA_SIGNAL] = 30 },
	  .ledgers = "dependency 100 100 primary perhaps, service 30 10, handover 0 10, woken_late 0 20, client 0 10, "
	             "own_run 0 60, too_tight -60 0" },
	{ .name = "service: the time until an execution without fences is ready",
	  .fenced = true,
	  .fence_free = true,
	  .more = { [BSA_FENCE] = 100, [BSA_SIGNAL] = 30 },
	  .ledgers = "service 130 110 primary perhaps, handover 0 10, woken_late 0 20, client 0 10, own_run 0 60, "
	             "too_tight -60 0" },
	{ .name = "phases faster than typical count against the lateness",
	  .more = { [BSA_QUEUE] = 300, [BSA_SEND] = (uint64_t)-15 },
	  .queue = { HELD(310, BSA_CROWDED_OUT, 8, 2) },
	  .ledgers = "crowded_out@8/2 310 185 primary perhaps, service 0 10, client 0 10, too_tight -10 0, handover "
	             "-10 0, polled_late -15 5" },
	{ .name = "with few others to compare with, only the estimate is typical",
	  .few = 4,
	  .estimate = 130,
	  .more[BSA_RUN] = 40,
	  .ledgers = "polled_late 40 30 primary perhaps, client 30 10 perhaps, service 20 20 perhaps, handover 10 10 "
	             "perhaps, long_run 10 10, own_run 0 130, too_tight -80 0" },
	{ .name = "without an estimate of its own, the model's is typical",
	  .few = 4,
	  .usual_run = 130,
	  .more[BSA_RUN] = 40,
	  .ledgers = "polled_late 40 30 primary perhaps, client 30 10 perhaps, service 20 20 perhaps, handover 10 10 "
	             "perhaps, long_run 10 10, own_run 0 130, too_tight -80 0" },
	{ .name = "a run that had a cpu for a small part of it is not too_big, though such runs are usual",
	  .usual_run = 1000,
	  .more = { [BSA_RUN] = 900 },
	  .cpu = 60,
	  .estimate = 50,
	  .ledgers = "off_core 940 100 primary saved, handover 0 10, polled_late 0 20, service 0 10, client 0 10, "
	             "own_run 0 60, too_tight -50 0" },
	{ .name = "a driver that waits for its device is too_big, and its estimate says so",
	  .usual_run = 1000,
	  .more = { [BSA_RUN] = 900 },
	  .cpu = 60,
	  .estimate = 900,
	  .ledgers = "too_big 890 0 primary perhaps, handover 0 10, polled_late 0 20, service 0 10, client 0 10, "
	             "own_run 0 160" },
	{ .name = "a recorded run is typical rather than its estimate, and so it is not too_big",
	  .few = 4,
	  .runs = 3,
	  .usual_run = 130,
	  .estimate = 400,
	  .more[BSA_RUN] = 40,
	  .ledgers = "polled_late 40 30 primary perhaps, client 30 10 perhaps, service 20 20 perhaps, handover 10 10 "
	             "perhaps, long_run 10 10, own_run 0 130, too_tight -80 0" },
	{ .name = "a run that is shorter than its estimate is typical of itself, and so it is not too_big",
	  .few = 4,
	  .estimate = 400,
	  .more[BSA_RUN] = 40,
	  .ledgers = "polled_late 40 30 primary perhaps, client 30 10 perhaps, service 20 20 perhaps, handover 10 10 "
	             "perhaps, own_run 0 140, too_tight -70 0" },
	{ .name = "too_tight: a usual run is longer than the budget, but its own was not",
	  .usual_run = 320,
	  .answered = true,
	  .more[BSA_SEND] = 30,
	  .ledgers = "too_tight 210 0 primary perhaps, polled_late 30 70 perhaps, handover 0 10, service 0 20, client "
	             "0 10, "
	             "own_run 0 100, long_run -220 0" },
	{ .name = "with nothing to compare with, its own run is typical",
	  .few = 4,
	  .more[BSA_RUN] = 40,
	  .ledgers = "polled_late 40 30 primary perhaps, client 30 10 perhaps, service 20 20 perhaps, handover 10 10 "
	             "perhaps, own_run 0 140, too_tight -70 0" },

	/* ---- a service that stood still ---- */
	{ .name = "stopped: its request was not read meanwhile",
	  .more[BSA_SEND] = 300,
	  .stops = { { 20, 320 } },
	  .ledgers = "stopped 300 190 primary saved, polled_late 0 10, client 0 10, too_tight -10 0" },
	{ .name = "stopped later on: when it stood still first, nothing shows",
	  .more[BSA_SEND] = 300,
	  .stops = { { 220, 320, 5 } },
	  .ledgers = "unknown 210 200 primary perhaps, stopped 100 0 perhaps, client 0 10, too_tight -10 0, "
	             "polled_late -10 0" },
	{ .name = "stopped later on: until its last event, its receiver was late",
	  .more[BSA_SEND] = 300,
	  .stops = { { 220, 320, 100 } },
	  .ledgers = "unknown 120 110 primary perhaps, stopped 100 0 perhaps, polled_late 80 90 perhaps, client 0 10, "
	             "too_tight -10 0" },
	{ .name = "stopped: the app on the lane is not to blame for that time",
	  .more[BSA_QUEUE] = 300,
	  .queue = { HELD(310, BSA_CROWDED_OUT, 8, 2) },
	  .stops = { { 50, 345 } },
	  .ledgers = "stopped 295 160 primary saved, crowded_out@8/2 15 10 perhaps, polled_late 0 20, service 0 10, "
	             "client 0 10, too_tight -10 0, handover -10 0" },
	{ .name = "stopped for less than it was late: it would have been late all the same",
	  .more[BSA_QUEUE] = 300,
	  .queue = { HELD(310, BSA_CROWDED_OUT, 8, 2) },
	  .stops = { { 50, 150 } },
	  .ledgers = "crowded_out@8/2 210 70 primary perhaps, stopped 100 100 perhaps, polled_late 0 20, service 0 10, "
	             "client 0 10, too_tight -10 0, handover -10 0" },
	{ .name = "stopped on the lane: that is no run without a cpu",
	  .more[BSA_RUN] = 300,
	  .cpu = 90,
	  .stops = { { 40, 60 }, { 60, 355 } },
	  .ledgers = "stopped 315 170 primary saved, polled_late 0 20, service 0 10, client 0 10, slow_compute -5 0, "
	             "too_tight -10 0, handover -10 0" },
	{ .name = "stopped off the lane and on it",
	  .more = { [BSA_RUN] = 100, [BSA_PREEMPTED] = 200 },
	  .off = { HELD(200, BSA_CAUSE_PREEMPTED, 8, 2) },
	  .stretches = { 50, 150 },
	  .preemptions = { { .by = 8 } },
	  .stops = { { 100, 400 } },
	  .ledgers = "stopped 300 110 primary saved, handover 0 10, polled_late 0 20, service 0 10, client 0 10, "
	             "own_run 0 50, too_tight -10 0" },
	{ .name = "stopped later on: no hand-over of an idle lane is known to be late",
	  .more[BSA_QUEUE] = 300,
	  .queue = { IDLE(310) },
	  .stops = { { 250, 345, 60 } },
	  .ledgers = "unknown 190 150 primary perhaps, stopped 95 0 perhaps, handover 15 20 perhaps, polled_late 0 20, "
	             "service 0 10, client 0 10, too_tight -10 0" },
	{ .name = "stopped later on: the one wait of the queue",
	  .more[BSA_QUEUE] = 300,
	  .stops = { { 250, 345, 60 } },
	  .ledgers = "unknown 190 150 primary perhaps, stopped 95 0 perhaps, handover 15 20 perhaps, polled_late 0 20, "
	             "service 0 10, client 0 10, too_tight -10 0" },
	{ .name = "stopped later on: the run was on no cpu, and why is not known",
	  .more[BSA_RUN] = 300,
	  .cpu = 90,
	  .stops = { { 300, 400, 250 } },
	  .ledgers = "off_core 150 60 primary, stopped 100 0, unknown 50 0 perhaps, handover 0 10, polled_late 0 20, "
	             "service 0 10, client 0 10, own_run 0 100, too_tight -10 0" },
	{ .name = "stopped later on: and its cpu time was not read",
	  .more[BSA_RUN] = 300,
	  .stops = { { 300, 400, 250 } },
	  .ledgers = "long_run 150 60 primary, stopped 100 0, unknown 50 0 perhaps, handover 0 10, polled_late 0 20, "
	             "service 0 10, client 0 10, own_run 0 100, too_tight -10 0" },
	{ .name = "stopped later on: the service answers late",
	  .more[BSA_REPLY] = 300,
	  .stops = { { 300, 400, 170 } },
	  .ledgers = "unknown 130 40 primary perhaps, stopped 100 0 perhaps, service 70 30, handover 0 10, polled_late "
	             "0 20, "
	             "client 0 10, own_run 0 100, too_tight -10 0" },
	{ .name = "stopped later on: with the time before, that may be all that it was late by",
	  .more[BSA_RUN] = 300,
	  .cpu = 90,
	  .stops = { { 300, 400, 100 } },
	  .ledgers = "unknown 200 60 primary perhaps, stopped 100 0 perhaps, handover 0 10, polled_late 0 20, "
	             "service 0 10, client 0 10, own_run 0 100, too_tight -10 0" },
	{ .name = "given up after a stop: there had been time for all of it",
	  .deadline = 600,
	  .more[BSA_SEND] = 600,
	  .missed = 640,
	  .over = 40,
	  .reached = BSA_REQUEST_READ,
	  .stops = { { 20, 620 } },
	  .ledgers =
	          "stopped 600 580 primary saved, service 5 0 perhaps, polled_late 0 10, client 0 10, unused -165 0, "
	          "too_tight -400 0" },
	{ .name = "given up after a stop: it is not known whether there had been time",
	  .more[BSA_QUEUE] = 300,
	  .queue = { HELD(310, BSA_CROWDED_OUT, 8, 2) },
	  .missed = 300,
	  .over = 90,
	  .reached = BSA_ENQUEUED,
	  .stops = { { 200, 300 } },
	  .ledgers = "crowded_out@8/2 160 160 primary perhaps, stopped 100 10 perhaps, polled_late 0 20, service 0 10, "
	             "client 0 10, too_tight -10 0, unused -160 0" },

	/* ---- losses ---- */
	{ .name = "unknown: an unrecorded part of the wait",
	  .more[BSA_QUEUE] = 300,
	  .queue = { LOST(300), IDLE(10) },
	  .ledgers = "unknown 300 170 primary perhaps, polled_late 0 20, service 0 10, client 0 10, too_tight -10 0" },
	{ .name = "unknown: phases whose boundary is lost, less their typical time",
	  .more[BSA_QUEUE] = 300,
	  .queue = { HELD(310, BSA_CROWDED_OUT, 8, 2) },
	  .lost = 1 << BSA_DISPATCHED,
	  .ledgers = "unknown 300 170 primary perhaps, polled_late 0 20, service 0 10, client 0 10, too_tight -10 0" },
	{ .name = "unknown: known causes are still reported",
	  .more = { [BSA_QUEUE] = 300, [BSA_DECODE] = 10 },
	  .queue = { HELD(310, BSA_CROWDED_OUT, 8, 2) },
	  .lost = 1 << BSA_RUN_ENDED,
	  .ledgers = "crowded_out@8/2 310 160 primary perhaps, service 10 20 perhaps, polled_late 0 20, client 0 10, "
	             "too_tight -10 0, handover -10 0" },
	{ .name = "its begin was not recorded: one row",
	  .more[BSA_RUN] = 300,
	  .lost = 1 << BSA_SUBMITTED,
	  .ledgers = "unknown 290 ? primary perhaps" },

	/* ---- one side ---- */
	{ .name = "the service's side alone: from when it took the request to when it answered",
	  .service_only = true,
	  .more[BSA_RUN] = 300,
	  .ledgers = "long_run 300 60 primary saved, handover 0 10, service 0 10, own_run 0 100, too_tight -50 0" },
	{ .name = "the service's side alone: taken too late, so the delay was before that, and whose it was is unknown",
	  .service_only = true,
	  .answered = true,
	  .deadline = 100,
	  .usual_budget = 210,
	  .ledgers = "unknown 60 0 primary perhaps, handover 0 10, service 0 10, own_run 0 50" },
	{ .name = "the service's side alone: the same, where others are taken after their deadlines",
	  .service_only = true,
	  .answered = true,
	  .deadline = 100,
	  .ledgers = "unknown 60 0 primary perhaps, handover 0 10, service 0 10, own_run 0 50" },
	{ .name = "the service's side alone: taken with less time than a usual one takes, and others have that",
	  .service_only = true,
	  .deadline = 150,
	  .usual_budget = 210,
	  .ledgers = "unknown 10 0 primary perhaps, handover 0 10, service 0 10, own_run 0 100" },
	{ .name = "the service's side alone: too_tight, because others are taken with no more time",
	  .service_only = true,
	  .answered = true,
	  .deadline = 140,
	  .usual_budget = 100,
	  .ledgers = "too_tight 20 0 primary perhaps, handover 0 10, service 0 10, own_run 0 90" },
	{ .name = "the service's side alone: taken after its deadline",
	  .service_only = true,
	  .deadline = (uint64_t)-50,
	  .missed = 40,
	  .reached = BSA_DECODED,
	  .over = 90,
	  .ledgers = "unknown 250 -80 primary perhaps, unused -160 0" },

	/* ---- given up ---- */
	{ .name = "aborted while it ran: up to when it was given up",
	  .missed = 230,
	  .reached = BSA_DISPATCHED,
	  .over = 20,
	  .more[BSA_SEND] = 120,
	  .ledgers = "polled_late 120 140 primary perhaps, handover 0 10, service 0 10, client 0 10, own_run 0 40, "
	             "too_tight -10 0, unused -90 0" },
	{ .name = "aborted: the time of the abort is blamed on the service",
	  .missed = 230,
	  .reached = BSA_DISPATCHED,
	  .over = 17,
	  .more[BSA_SEND] = 120,
	  .ledgers = "polled_late 120 140 primary perhaps, handover 0 10, client 0 10, own_run 0 40, service -3 10, "
	             "too_tight -10 0, unused -90 0" },
	{ .name = "aborted in the queue: it never ran",
	  .missed = 300,
	  .reached = BSA_ENQUEUED,
	  .over = 90,
	  .queue = { HELD(263, BSA_HOGGED, 8, 2) },
	  .ledgers = "hogged@8/2 260 170 primary perhaps, polled_late 0 20, service 0 10, client 0 10, too_tight -10 "
	             "0, unused -160 0" },
	{ .name = "submitted_late: less time than any run of the model took, and others have more",
	  .deadline = 40,
	  .answered = true,
	  .usual_budget = 210,
	  .more[BSA_SEND] = 40,
	  .missed = 80,
	  .reached = BSA_DECODED,
	  .over = 40,
	  .ledgers = "submitted_late 160 0 primary perhaps, polled_late 40 30, client 0 10, unused -160 0" },
	{ .name = "submitted_late: others have no more, but its thread waited for a cpu for what it lacked",
	  .deadline = 40,
	  .answered = true,
	  .usual_budget = 50,
	  .submit_delay = 160,
	  .more[BSA_SEND] = 40,
	  .missed = 80,
	  .reached = BSA_DECODED,
	  .over = 40,
	  .ledgers = "submitted_late 160 0 primary perhaps, polled_late 40 30, client 0 10, unused -160 0" },
	{ .name = "too_big: others have no more, and its thread waited for a cpu for less than it lacked",
	  .deadline = 40,
	  .answered = true,
	  .usual_budget = 50,
	  .submit_delay = 100,
	  .more[BSA_SEND] = 40,
	  .missed = 80,
	  .reached = BSA_DECODED,
	  .over = 40,
	  .ledgers = "too_big 160 0 primary perhaps, polled_late 40 30, client 0 10, unused -160 0" },
	{ .name = "unknown: most have no more, but a tenth has enough",
	  .deadline = 40,
	  .answered = true,
	  .usual_budget = 50,
	  .ample_budget = 210,
	  .more[BSA_SEND] = 40,
	  .missed = 80,
	  .reached = BSA_DECODED,
	  .over = 40,
	  .ledgers = "unknown 160 0 primary perhaps, polled_late 40 30, client 0 10, unused -160 0" },
	{ .name = "submitted_late: the primary cause, however long the wake-up took",
	  .deadline = 40,
	  .answered = true,
	  .usual_budget = 210,
	  .more[BSA_SEND] = 400,
	  .missed = 440,
	  .reached = BSA_DECODED,
	  .over = 400,
	  .ledgers = "polled_late 400 30, submitted_late 160 0 primary perhaps, client 0 10, unused -160 0" },
	/* 1000 + 35 are decoded */
	{ .name = "too_big: the deadline follows from the duration, so an earlier submission would not change it",
	  .fenced = true,
	  .deadline = 40,
	  .duration = 5,
	  .answered = true,
	  .usual_budget = 210,
	  .ledgers = "too_big 110 0 primary perhaps, woken_late 0 20, service 0 10, client 0 10" },
	{ .name = "submitted_late: its own deadline is before the one that follows from its duration",
	  .fenced = true,
	  .deadline = 40,
	  .duration = 50,
	  .answered = true,
	  .usual_budget = 210,
	  .ledgers = "submitted_late 110 0 primary perhaps, woken_late 0 20, service 0 10, client 0 10" },
	{ .name = "too_tight: less time than any run of the model took, and others have no more",
	  .deadline = 140,
	  .answered = true,
	  .usual_budget = 150,
	  .more[BSA_SEND] = 400,
	  .missed = 440,
	  .reached = BSA_DECODED,
	  .over = 300,
	  .ledgers = "polled_late 400 130, too_tight 60 0 primary perhaps, client 0 10, unused -160 0" },
	{ .name = "submitted_late: the model was never answered, so the estimate is its typical run",
	  .deadline = 40,
	  .few = 1,
	  .estimate = 100,
	  .usual_budget = 210,
	  .more[BSA_SEND] = 400,
	  .missed = 440,
	  .reached = BSA_DECODED,
	  .over = 400,
	  .ledgers = "polled_late 420 30 perhaps, submitted_late 60 0 primary perhaps, service 10 0 perhaps, client "
	             "10 10 perhaps, unused -100 0" },
	{ .name = "a deadline that had passed before the submission",
	  .deadline = (uint64_t)-50,
	  .missed = 40,
	  .reached = BSA_DECODED,
	  .over = 90,
	  .ledgers = "submitted_late 250 -50 primary perhaps, unused -160 0" },
	/* 160 are to come, after 40 of 210 */
	{ .name = "bad_estimate: refused, but in time without that; late by its estimate",
	  .missed = 40,
	  .reached = BSA_DECODED,
	  .over = 30, /* 200 were foreseen, 170 were left */
	  .refused = { .lane_free = 50, .holder = 8, .holder_app = 2, .holder_cause = BSA_CROWDED_OUT },
	  .ledgers = "bad_estimate 40 0 primary perhaps, polled_late 0 20, service 0 10, client 0 10, unused 0 170, "
	             "too_tight -10 0" },
	{ .name = "bad_estimate: the same, where the event has the remaining time",
	  .missed = 40,
	  .reached = BSA_DECODED,
	  .over = -170,
	  .refused = { .lane_free = 50, .holder = 8, .holder_app = 2, .holder_cause = BSA_CROWDED_OUT },
	  .ledgers = "bad_estimate 70 0 primary perhaps, polled_late 0 20, service 0 10, client 0 10, too_tight -10 "
	             "0, unused -230 170" },
	{ .name = "refused: where executions restart, its end is unknown",
	  .missed = 40,
	  .reached = BSA_DECODED,
	  .over = -170,
	  .restarts = true,
	  .refused = { .lane_free = 50, .holder = 8, .holder_app = 2, .holder_cause = BSA_CROWDED_OUT },
	  .ledgers =
	          "crowded_out@8/2 10 0 primary perhaps, polled_late 0 20, service 0 10, client 0 10, too_tight -10 0, "
	          "unused -170 170" },
	{ .name = "refused: a lane is free at once, and others are queued for it",
	  .missed = 40,
	  .reached = BSA_DECODED,
	  .over = -170,
	  .refused = { .lane_free = 50,
	               .holder = 8,
	               .holder_app = 2,
	               .holder_cause = BSA_CROWDED_OUT,
	               .queue_free = 160,
	               .queue_cause = BSA_QUEUED_BEHIND },
	  .ledgers =
	          "queued_behind 110 0 primary perhaps, crowded_out@8/2 10 0 perhaps, polled_late 0 20, service 0 10, "
	          "client 0 10, too_tight -10 0, unused -280 170" },
	{ .name = "refused: the lane is free in time for the run, and not for the answer",
	  .missed = 40,
	  .reached = BSA_DECODED,
	  .over = -170,
	  .refused = { .lane_free = 60, .holder = 8, .holder_app = 2, .holder_cause = BSA_CROWDED_OUT },
	  .ledgers =
	          "crowded_out@8/2 20 0 primary perhaps, polled_late 0 20, service 0 10, client 0 10, too_tight -10 0, "
	          "unused -180 170" },
	{ .name = "refused: the holder had the lane too long",
	  .missed = 40,
	  .reached = BSA_DECODED,
	  .over = -170,
	  .refused = { .lane_free = 160, .holder = 8, .holder_app = 2, .holder_cause = BSA_CROWDED_OUT },
	  .ledgers = "crowded_out@8/2 120 0 primary perhaps, polled_late 0 20, service 0 10, client 0 10, too_tight "
	             "-10 0, unused -280 170" },
	{ .name = "refused: the same, late by its estimate",
	  .missed = 40,
	  .reached = BSA_DECODED,
	  .over = 110, /* 280 were foreseen: 120 of another execution, 160 of its own */
	  .refused = { .lane_free = 160, .holder = 8, .holder_app = 2, .holder_cause = BSA_CROWDED_OUT },
	  .ledgers = "crowded_out@8/2 120 0 primary perhaps, polled_late 0 20, service 0 10, client 0 10, unused 0 "
	             "170, too_tight -10 0" },
	{ .name = "refused: executions are queued long after its deadline: it would have waited until its deadline",
	  .missed = 40,
	  .reached = BSA_DECODED,
	  .over = -170,
	  .refused = { .lane_free = 160,
	               .holder = 8,
	               .holder_app = 2,
	               .holder_cause = BSA_HOGGED,
	               .queue_free = 1000000,
	               .queue_cause = BSA_CROWDED_OUT },
	  .ledgers = "hogged@8/2 120 0 primary perhaps, crowded_out 50 0 perhaps, polled_late 0 20, service 0 10, "
	             "client 0 10, too_tight -10 0, unused -330 170" },
	{ .name = "refused: behind long work of its own app, and a little of another one",
	  .missed = 40,
	  .deadline = 290,
	  .reached = BSA_DECODED,
	  .over = -170,
	  .refused = { .lane_free = 50,
	               .holder = 7,
	               .holder_app = 1,
	               .holder_cause = BSA_INVERSION,
	               .queue_free = 160,
	               .queue_cause = BSA_CROWDED_OUT,
	               .own_ns = 200,
	               .others_ns = 2 },
	  .ledgers = "queued_behind 110 0 primary perhaps, inversion@7/1 10 0 perhaps, polled_late 0 20, service 0 10, "
	             "client 0 10, too_tight -90 0, unused -200 250" },
	{ .name = "refused: the same, but most of it is of the other one",
	  .missed = 40,
	  .deadline = 290,
	  .reached = BSA_DECODED,
	  .over = -170,
	  .refused = { .lane_free = 50,
	               .holder = 7,
	               .holder_app = 1,
	               .holder_cause = BSA_INVERSION,
	               .queue_free = 160,
	               .queue_cause = BSA_CROWDED_OUT,
	               .own_ns = 2,
	               .others_ns = 200 },
	  .ledgers = "crowded_out 120 0 primary perhaps, polled_late 0 20, service 0 10, "
	             "client 0 10, too_tight -90 0, unused -200 250" },
	{ .name = "refused: a service that shares with other apps counts its own app's queue, however long theirs is",
	  .missed = 40,
	  .deadline = 290,
	  .reached = BSA_DECODED,
	  .over = -170,
	  .counted = BSA_COUNTS_OWN,
	  .refused = { .lane_free = 50,
	               .holder = 7,
	               .holder_app = 1,
	               .holder_cause = BSA_INVERSION,
	               .queue_free = 160,
	               .queue_cause = BSA_CROWDED_OUT,
	               .own_ns = 200,
	               .others_ns = 200 },
	  .ledgers = "queued_behind 110 0 primary perhaps, inversion@7/1 10 0 perhaps, polled_late 0 20, service 0 10, "
	             "client 0 10, too_tight -90 0, unused -200 250" },
	{ .name = "refused: the same, where none of its own app was queued",
	  .missed = 40,
	  .deadline = 290,
	  .reached = BSA_DECODED,
	  .over = -170,
	  .counted = BSA_COUNTS_OWN,
	  .refused = { .lane_free = 50,
	               .holder = 7,
	               .holder_app = 1,
	               .holder_cause = BSA_INVERSION,
	               .queue_free = 160,
	               .queue_cause = BSA_CROWDED_OUT,
	               .own_ns = 0,
	               .others_ns = 200 },
	  .ledgers = "unknown 110 0 primary perhaps, inversion@7/1 10 0 perhaps, polled_late 0 20, service 0 10, "
	             "client 0 10, too_tight -90 0, unused -200 250" },
	{ .name = "refused: of two long queues, those that are less urgent may not have counted",
	  .missed = 40,
	  .deadline = 290,
	  .reached = BSA_DECODED,
	  .over = -170,
	  .counted = BSA_COUNTS_URGENT,
	  .refused = { .lane_free = 50,
	               .holder = 7,
	               .holder_app = 1,
	               .holder_cause = BSA_INVERSION,
	               .queue_free = 160,
	               .queue_cause = BSA_CROWDED_OUT,
	               .own_ns = 200,
	               .others_ns = 200 },
	  .ledgers = "unknown 120 0 primary perhaps, polled_late 0 20, service 0 10, "
	             "client 0 10, too_tight -90 0, unused -200 250" },
	{ .name = "refused: the same, but its own is short even if all of it counted",
	  .missed = 40,
	  .deadline = 290,
	  .reached = BSA_DECODED,
	  .over = -170,
	  .counted = BSA_COUNTS_URGENT,
	  .refused = { .lane_free = 50,
	               .holder = 7,
	               .holder_app = 1,
	               .holder_cause = BSA_INVERSION,
	               .queue_free = 160,
	               .queue_cause = BSA_CROWDED_OUT,
	               .own_ns = 2,
	               .others_ns = 200 },
	  .ledgers = "crowded_out 120 0 primary perhaps, polled_late 0 20, service 0 10, "
	             "client 0 10, too_tight -90 0, unused -200 250" },
	{ .name = "refused: its own queue would have been enough without another app on the lane",
	  .missed = 40,
	  .deadline = 290,
	  .reached = BSA_DECODED,
	  .over = -170,
	  .refused = { .lane_free = 50,
	               .holder = 7,
	               .holder_app = 2,
	               .holder_cause = BSA_CROWDED_OUT,
	               .queue_free = 160,
	               .queue_cause = BSA_QUEUED_BEHIND,
	               .own_ns = 200,
	               .others_ns = 0 },
	  .ledgers = "queued_behind 120 0 primary perhaps, polled_late 0 20, service 0 10, "
	             "client 0 10, too_tight -90 0, unused -200 250" },
	{ .name = "refused: the same, and what is on the lane would have been enough, too",
	  .missed = 40,
	  .deadline = 290,
	  .reached = BSA_DECODED,
	  .over = -170,
	  .refused = { .lane_free = 150,
	               .holder = 7,
	               .holder_app = 2,
	               .holder_cause = BSA_CROWDED_OUT,
	               .queue_free = 160,
	               .queue_cause = BSA_QUEUED_BEHIND,
	               .own_ns = 200,
	               .others_ns = 0 },
	  .ledgers = "overbooked 120 0 primary perhaps, polled_late 0 20, service 0 10, "
	             "client 0 10, too_tight -90 0, unused -200 250" },
	{ .name = "refused: others' queue would have been enough without its own app on the lane",
	  .missed = 40,
	  .deadline = 290,
	  .reached = BSA_DECODED,
	  .over = -170,
	  .refused = { .lane_free = 50,
	               .holder = 7,
	               .holder_app = 1,
	               .holder_cause = BSA_INVERSION,
	               .queue_free = 160,
	               .queue_cause = BSA_CROWDED_OUT,
	               .own_ns = 0,
	               .others_ns = 200 },
	  .ledgers = "crowded_out 120 0 primary perhaps, polled_late 0 20, service 0 10, "
	             "client 0 10, too_tight -90 0, unused -200 250" },
	{ .name = "refused: its own queue may have been enough, or less urgent",
	  .missed = 40,
	  .deadline = 290,
	  .reached = BSA_DECODED,
	  .over = -170,
	  .counted = BSA_COUNTS_URGENT,
	  .refused = { .lane_free = 150,
	               .holder = 7,
	               .holder_app = 2,
	               .holder_cause = BSA_CROWDED_OUT,
	               .queue_free = 160,
	               .queue_cause = BSA_QUEUED_BEHIND,
	               .own_ns = 200,
	               .others_ns = 0 },
	  .ledgers = "unknown 120 0 primary perhaps, polled_late 0 20, service 0 10, "
	             "client 0 10, too_tight -90 0, unused -200 250" },
	{ .name = "refused: a service that shares counts its own app's queue, and not what another one has on the lane",
	  .missed = 40,
	  .deadline = 290,
	  .reached = BSA_DECODED,
	  .over = -170,
	  .counted = BSA_COUNTS_OWN,
	  .refused = { .lane_free = 150,
	               .holder = 7,
	               .holder_app = 2,
	               .holder_cause = BSA_CROWDED_OUT,
	               .queue_free = 160,
	               .queue_cause = BSA_QUEUED_BEHIND,
	               .own_ns = 200,
	               .others_ns = 0 },
	  .ledgers = "queued_behind 120 0 primary perhaps, polled_late 0 20, service 0 10, "
	             "client 0 10, too_tight -90 0, unused -200 250" },
	{ .name = "refused: without one of them, there would have been the other",
	  .missed = 40,
	  .deadline = 290,
	  .reached = BSA_DECODED,
	  .over = -170,
	  .refused = { .lane_free = 50,
	               .holder = 7,
	               .holder_app = 1,
	               .holder_cause = BSA_INVERSION,
	               .queue_free = 160,
	               .queue_cause = BSA_CROWDED_OUT,
	               .own_ns = 200,
	               .others_ns = 200 },
	  .ledgers = "overbooked 120 0 primary perhaps, polled_late 0 20, service 0 10, "
	             "client 0 10, "
	             "too_tight -90 0, unused -200 250" },
	{ .name = "refused: a little of another app waited, and no more: that was no reason",
	  .missed = 40,
	  .deadline = 290,
	  .reached = BSA_DECODED,
	  .over = -170,
	  .refused = { .lane_free = 50, .queue_free = 160, .queue_cause = BSA_CROWDED_OUT, .others_ns = 2 },
	  .ledgers =
	          "unknown 110 0 primary perhaps, too_big 10 0 perhaps, polled_late 0 20, service 0 10, client 0 10, "
	          "too_tight -90 0, unused -200 250" },
	{ .name = "refused: its own app waited, too, for an unknown time",
	  .missed = 40,
	  .deadline = 290,
	  .reached = BSA_DECODED,
	  .over = -170,
	  .refused = { .lane_free = 50,
	               .queue_free = 160,
	               .queue_cause = BSA_CROWDED_OUT,
	               .own_ns = NO,
	               .others_ns = 200 },
	  .ledgers =
	          "unknown 110 0 primary perhaps, too_big 10 0 perhaps, polled_late 0 20, service 0 10, client 0 10, "
	          "too_tight -90 0, unused -200 250" },
	{ .name = "refused: two lanes share the work of both apps: without either there would have been room",
	  .missed = 40,
	  .deadline = 290,
	  .reached = BSA_DECODED,
	  .over = -170,
	  .lanes = 2,
	  .refused = { .lane_free = 40,
	               .queue_free = 160,
	               .queue_cause = BSA_CROWDED_OUT,
	               .own_ns = 100,
	               .others_ns = 160 },
	  .ledgers = "crowded_out 74 0 primary perhaps, queued_behind 46 0 perhaps, polled_late 0 20, service 0 10, "
	             "client 0 10, too_tight -90 0, unused -200 250" },
	{ .name = "refused: on two lanes, the work of the other one alone decides",
	  .missed = 40,
	  .deadline = 290,
	  .reached = BSA_DECODED,
	  .over = -170,
	  .lanes = 2,
	  .refused = { .lane_free = 40,
	               .queue_free = 160,
	               .queue_cause = BSA_CROWDED_OUT,
	               .own_ns = 160,
	               .others_ns = 240 },
	  .ledgers = "crowded_out 120 0 primary perhaps, polled_late 0 20, service 0 10, client 0 10, too_tight -90 0, "
	             "unused -200 250" },
	{ .name = "refused: on an unknown number of lanes",
	  .missed = 40,
	  .deadline = 290,
	  .reached = BSA_DECODED,
	  .over = -170,
	  .lanes_unknown = true,
	  .refused = { .lane_free = 40,
	               .queue_free = 160,
	               .queue_cause = BSA_CROWDED_OUT,
	               .own_ns = 80,
	               .others_ns = 200 },
	  .ledgers = "unknown 120 0 primary perhaps, polled_late 0 20, service 0 10, client 0 10, too_tight -90 0, "
	             "unused -200 250" },
	{ .name = "refused: the same, and none of its own app waited",
	  .missed = 40,
	  .deadline = 290,
	  .reached = BSA_DECODED,
	  .over = -170,
	  .lanes_unknown = true,
	  .refused = { .lane_free = 40,
	               .queue_free = 160,
	               .queue_cause = BSA_CROWDED_OUT,
	               .own_ns = 0,
	               .others_ns = 200 },
	  .ledgers = "unknown 120 0 primary perhaps, polled_late 0 20, service 0 10, client 0 10, too_tight -90 0, "
	             "unused -200 250" },
	{ .name = "refused: on two lanes, the other app may have had the one that was free first",
	  .missed = 40,
	  .deadline = 290,
	  .reached = BSA_DECODED,
	  .over = -170,
	  .lanes = 2,
	  .refused = { .lane_free = 70,
	               .queue_free = 160,
	               .queue_cause = BSA_CROWDED_OUT,
	               .holder = 7,
	               .holder_app = 1,
	               .holder_cause = BSA_INVERSION,
	               .own_ns = 160,
	               .others_ns = 40 },
	  .ledgers = "unknown 90 0 primary perhaps, inversion@7/1 30 0 perhaps, polled_late 0 20, service 0 10, client "
	             "0 10, too_tight -90 0, unused -200 250" },
	{ .name = "refused: on two lanes, another app had one, and only others waited",
	  .missed = 40,
	  .deadline = 290,
	  .reached = BSA_DECODED,
	  .over = -170,
	  .lanes = 2,
	  .refused = { .lane_free = 70,
	               .holder = 8,
	               .holder_app = 2,
	               .holder_cause = BSA_CROWDED_OUT,
	               .queue_free = 160,
	               .queue_cause = BSA_CROWDED_OUT,
	               .others_ns = 160 },
	  .ledgers = "crowded_out 90 0 primary perhaps, crowded_out@8/2 30 0 perhaps, polled_late 0 20, service 0 10, "
	             "client 0 10, too_tight -90 0, unused -200 250" },
	{ .name = "refused: the lane is held long after its deadline: it would have waited until its deadline",
	  .missed = 40,
	  .reached = BSA_DECODED,
	  .over = -170,
	  .refused = { .lane_free = 900000, .holder = 8, .holder_app = 2, .holder_cause = BSA_HOGGED },
	  .ledgers = "hogged@8/2 170 0 primary perhaps, polled_late 0 20, service 0 10, client 0 10, too_tight -10 0, "
	             "unused -330 170" },
	{ .name = "refused: no lane was free until the end of the trace",
	  .missed = 40,
	  .reached = BSA_DECODED,
	  .over = -170,
	  .refused = { .lane_free = NO,
	               .held_until = 900000,
	               .holder = 8,
	               .holder_app = 2,
	               .holder_cause = BSA_HOGGED },
	  .ledgers = "hogged@8/2 70 0 primary perhaps, polled_late 0 20, service 0 10, client 0 10, too_tight -10 0, "
	             "unused -230 170" },
	{ .name = "refused: a loss hides when a lane was free: the holder has what is before the loss",
	  .missed = 40,
	  .reached = BSA_DECODED,
	  .over = -170,
	  .refused = { .lane_free = NO,
	               .held_until = 60,
	               .holder = 8,
	               .holder_app = 2,
	               .holder_cause = BSA_HOGGED,
	               .queue_cause = BSA_CROWDED_OUT,
	               .others_ns = 200 },
	  .ledgers = "unknown 50 0 primary perhaps, hogged@8/2 20 0 perhaps, polled_late 0 20, service 0 10, client 0 "
	             "10, too_tight -10 0, unused -230 170" },
	{ .name = "refused: the same, and who held the lane is hidden, too: others were queued all the same",
	  .missed = 40,
	  .reached = BSA_DECODED,
	  .over = -170,
	  .refused = { .lane_free = NO,
	               .held_until = 40,
	               .holder_cause = BSA_CAUSE_UNKNOWN,
	               .queue_cause = BSA_CROWDED_OUT,
	               .others_ns = 200 },
	  .ledgers = "crowded_out 70 0 primary perhaps, polled_late 0 20, service 0 10, client 0 10, too_tight -10 0, "
	             "unused -230 170" },
	{ .name = "refused: the model is too big for any holder of the lane",
	  .missed = 40,
	  .reached = BSA_DECODED,
	  .over = -170,
	  .usual_run = 500,
	  .refused = { .lane_free = 60, .holder = 8, .holder_app = 2, .holder_cause = BSA_QUEUED_BEHIND },
	  .ledgers = "too_big 390 0 primary perhaps, queued_behind@8/2 20 0 perhaps, polled_late 0 20, service 0 10, "
	             "client 0 10, unused -580 170" },
	{ .name = "too_big: refused persistently, although another app had the lane",
	  .missed = 40,
	  .reached = BSA_DECODED,
	  .over = -170,
	  .usual_run = 300,
	  .status = BSA_STATUS_MISSED_DEADLINE_PERSISTENT,
	  .refused = { .lane_free = 1000, .holder = 8, .holder_app = 2, .holder_cause = BSA_CROWDED_OUT },
	  .ledgers = "too_big 190 0 primary perhaps, polled_late 0 20, service 0 10, client 0 10, unused -360 170" },
	{ .name = "crowded_out: refused persistently, although it would have been in time with the lane",
	  .missed = 40,
	  .reached = BSA_DECODED,
	  .over = -170,
	  .status = BSA_STATUS_MISSED_DEADLINE_PERSISTENT,
	  .refused = { .lane_free = 160, .holder = 8, .holder_app = 2, .holder_cause = BSA_CROWDED_OUT },
	  .ledgers = "crowded_out@8/2 120 0 primary perhaps, polled_late 0 20, service 0 10, client 0 10, too_tight "
	             "-10 0, unused -280 170" },
	{ .name = "too_big: refused, its run unknown: the service estimates that it is too long",
	  .few = 1,
	  .missed = 40,
	  .reached = BSA_DECODED,
	  .over = -170,
	  .refused = { .lane_free = 40 },
	  .ledgers = "too_big 170 0 primary perhaps, polled_late 20 20 perhaps, service 10 10 perhaps, client 10 10 "
	             "perhaps, unused -170 170, too_tight -210 0" },
	{ .name = "too_big: the same, after the wait for a lane",
	  .few = 1,
	  .missed = 40,
	  .reached = BSA_DECODED,
	  .over = -170,
	  .refused = { .lane_free = 100, .holder = 8, .holder_app = 2, .holder_cause = BSA_CROWDED_OUT },
	  .ledgers = "too_big 110 0 primary perhaps, crowded_out@8/2 60 0 perhaps, polled_late 20 20 perhaps, service "
	             "10 10 perhaps, client 10 10 perhaps, unused -170 170, too_tight -210 0" },
	{ .name = "refused: the cause is unknown",
	  .missed = 40,
	  .reached = BSA_DECODED,
	  .over = 30,
	  .ledgers = "unknown 40 0 primary perhaps, polled_late 0 20, service 0 10, client 0 10, unused 0 170, "
	             "too_tight -10 0" },
	{ .name = "given up in the queue, before its deadline: the wait was too long",
	  .missed = 150,
	  .reached = BSA_ENQUEUED,
	  .over = -60,
	  .queue = { HELD(113, BSA_INVERSION, 8, 2) },
	  .ledgers = "inversion@8/2 110 110 primary perhaps, polled_late 0 20, service 0 10, client 0 10, too_tight "
	             "-10 0, unused -160 60" },
	{ .name = "given up in the queue: a longer wait of the same kind was foreseen",
	  .missed = 150,
	  .reached = BSA_ENQUEUED,
	  .over = 150, /* 210 were foreseen: 160 are usual */
	  .queue = { HELD(113, BSA_INVERSION, 8, 2) },
	  .ledgers = "inversion@8/2 160 110 primary perhaps, polled_late 0 20, service 0 10, client 0 10, unused 0 "
	             "60, too_tight -10 0" },
	{ .name = "given up at a checkpoint: the run was too slow",
	  .missed = 200,
	  .reached = BSA_DISPATCHED,
	  .over = -10,
	  .cpu = 400,
	  .ledgers = "slow_compute 50 50 primary perhaps, handover 0 10, polled_late 0 20, service 0 10, client 0 10, "
	             "own_run 0 100, too_tight -10 0, unused -50 10" },
};

static void row_has_its_ledgers(void **state)
{
	const struct row *r = *state;
	struct bsa_blamed ret[ROOM] = { 0 };
	char text[TEXT_MAX];
	struct built b;
	size_t n;

	build(&b, r);
	n = blamed(&b.missed, ret);
	print(text, ret, n);
	assert_string_equal(text, r->ledgers);
}

/* ---- any numbers ---- */

static uint64_t seed;

/* A random number below @n. */
static uint64_t draw(uint64_t n)
{
	return xorshift_next(&seed) % n;
}

static bool chance(unsigned percent)
{
	return draw(100) < percent;
}

static void draw_parts(struct part *parts, uint64_t total)
{
	uint64_t left = total, length;

	for (int i = 0; i < PARTS_MAX && left; i++) {
		length = i == PARTS_MAX - 1 ? left : 1 + draw(left);
		parts[i] = (struct part){ length, draw(3), BSA_QUEUED_BEHIND + draw(4), 1 + draw(3), 1 };
		left -= length;
	}
}

/* A random row of any kind that can occur. */
static void draw_row(struct row *r)
{
	unsigned n_off = 0;

	*r = (struct row){ .name = "",
		           .few = draw(10),
		           .estimate = draw(200),
		           .cold = (int8_t)draw(3) - 1,
		           .misses = draw(2),
		           .fenced = chance(30),
		           .service_only = chance(20),
		           .cpu = draw(400) };
	r->request = (struct bsa_waited){ draw(50), draw(50), chance(50) ? draw(50) : 0 };
	r->result = r->request;
	for (int i = 0; i < BSA_PHASES; i++)
		r->more[i] = i == BSA_PREEMPTED || (i == BSA_FENCE && !r->fenced) ? 0 : draw(100);
	if (chance(70))
		draw_parts(r->queue, usual[BSA_QUEUE] + r->more[BSA_QUEUE]);
	if (chance(40)) {
		draw_parts(r->off, r->more[BSA_PREEMPTED] = 1 + draw(200));
		while (n_off < PARTS_MAX - 1 && r->off[n_off].length)
			n_off++;
		if (n_off == PARTS_MAX - 1) {
			r->more[BSA_PREEMPTED] -= r->off[n_off].length;
			r->off[n_off].length = 0;
		}
		for (unsigned i = 0, left = (unsigned)(usual[BSA_RUN] + r->more[BSA_RUN]); i <= n_off; i++) {
			r->stretches[i] = i == n_off ? left : left / 3;
			left -= (unsigned)r->stretches[i];
			r->preemptions[i] =
				(struct bsa_preemption){ .by = i < n_off ? 1 + draw(3) : 0, .redo = draw(30) };
		}
		r->redo = draw(100);
	}
	r->deadline = 1 + draw(500);
	if (chance(40) && !r->service_only) {
		static const enum bsa_boundary reached[] = { BSA_DECODED, BSA_ENQUEUED, BSA_DISPATCHED };

		r->reached = reached[draw(3)];
		r->missed = draw(800);
		r->over = chance(50) ? (int64_t)(r->missed - r->deadline) : (int64_t)draw(500) - 250;
		if (chance(50))
			r->refused = (struct bsa_refused){ .lane_free = 1 + draw(500),
				                           .queue_free = draw(500),
				                           .holder = draw(4),
				                           .holder_app = 1,
				                           .holder_cause = BSA_QUEUED_BEHIND + draw(4),
				                           .queue_cause = BSA_QUEUED_BEHIND + draw(3),
				                           .own_ns = draw(300),
				                           .others_ns = draw(300) };
		r->lanes = draw(4);
		r->counted = draw(4);
		r->lanes_unknown = chance(10);
		if (chance(10))
			r->refused.lane_free = NO;
		r->refused.held_until = draw(500);
	}
	if (chance(30))
		r->lost = draw(1 << BSA_BOUNDARIES) & draw(1 << BSA_BOUNDARIES);
}

static void any_execution_has_exact_ledgers(void **state)
{
	struct bsa_blamed ret[ROOM];
	struct built b;
	struct row r;
	unsigned told = 0;

	(void)state;
	seed = 1;
	for (unsigned i = 0; i < 200000; i++) {
		draw_row(&r);
		build(&b, &r);
		told += blamed(&b.missed, ret) > 1;
	}
	assert_true(told > 100000); /* most executions have causes besides "unknown" */
}

/*
 * Only of what the service alone saw, and took too late, the time before that is unknown; and of a burst that may have
 * been cold, why its slots and its run took longer.
 */
static void a_complete_execution_has_no_unknown_time(void **state)
{
	struct bsa_blamed ret[ROOM];
	struct built b;
	struct row r;

	(void)state;
	seed = 2;
	for (unsigned i = 0; i < 100000; i++) {
		draw_row(&r);
		r.lost = r.missed = 0;
		r.refused = (struct bsa_refused){ 0 };
		for (int k = 0; k < PARTS_MAX; k++) {
			r.queue[k].occupancy &= 1;
			r.off[k].occupancy &= 1;
		}
		build(&b, &r);
		for (size_t n = blamed(&b.missed, ret); n-- > 0;)
			assert_true(ret[n].cause != BSA_CAUSE_UNKNOWN || (r.service_only && is_hopeless(&b.missed)) ||
			            (r.cold < 0 && !r.fenced));
	}
}

static uint64_t hostile(void)
{
	static const uint64_t edges[] = {
		0,          1,         1000,       1ull << 31,     1ull << 55, (1ull << 56) - 1,
		1ull << 56, INT64_MAX, 1ull << 63, UINT64_MAX - 1, UINT64_MAX
	};

	return chance(80) ? edges[draw(N_OF(edges))] + draw(3) - 1 : draw(UINT64_MAX);
}

/* Replace some numbers by arbitrary ones. Enumerations are left alone, because the fold itself makes them. */
static void spoil(void *record, size_t size)
{
	uint64_t *words = record;

	for (size_t i = 0; i < size / sizeof(*words); i++)
		if (chance(25))
			words[i] = hostile();
}

static void absurd_numbers_have_exact_ledgers_too(void **state)
{
	struct bsa_blamed ret[ROOM];
	struct built b;
	struct row r;

	(void)state;
	seed = 3;
	for (unsigned i = 0; i < 200000; i++) {
		draw_row(&r);
		build(&b, &r);
		spoil(b.x.at, sizeof(b.x.at));
		spoil(b.x.phase, sizeof(b.x.phase));
		spoil(&b.x.e2e, 7 * sizeof(uint64_t));
		spoil(&b.x.request, sizeof(b.x.request));
		spoil(&b.x.deadline, 4 * sizeof(uint64_t)); /* estimate, missed_at and lateness follow the deadline */
		spoil(&b.typical, sizeof(b.typical));
		for (int k = 0; k < PARTS_MAX; k++) {
			spoil(&b.waits[k], 3 * sizeof(uint64_t));
			spoil(&b.slices[k].began, 2 * sizeof(uint64_t));
			spoil(&b.preemptions[k], sizeof(b.preemptions[k]) - sizeof(uint64_t));
		}
		spoil(&b.refused.lane_free, sizeof(b.refused.lane_free));
		spoil(&b.refused.held_until, sizeof(b.refused.held_until));
		spoil(&b.refused.queue_free, sizeof(b.refused.queue_free));
		blamed(&b.missed, ret);
	}
}

/* With so many culprits, a linear search for each would not end. */
static void a_hundred_thousand_culprits_are_no_trouble(void **state)
{
	enum { N = 100000 };
	struct bsa_wait *waits = calloc(N, sizeof(*waits));
	struct bsa_blamed *ret = calloc(N + BSA_CAUSES, sizeof(*ret));
	const struct row *r = &rows[2];
	int64_t sum = 0;
	struct built b;
	size_t n;

	(void)state;
	assert_non_null(waits);
	assert_non_null(ret);
	build(&b, r);
	b.x.phase[BSA_QUEUE] += N;
	for (int i = BSA_DISPATCHED; i < BSA_SIGNALLED; i++)
		b.x.at[i] += N;
	b.x.lateness += N;
	for (uint64_t i = 0; i < N; i++)
		waits[i] = (struct bsa_wait){ .began = b.x.at[BSA_ENQUEUED] + i,
			                      .ended = b.x.at[BSA_ENQUEUED] + i + 1,
			                      .blocker = i * 7919 % N,
			                      .blocker_app = 1,
			                      .kind = BSA_WAIT_QUEUE,
			                      .occupancy = BSA_HELD,
			                      .cause = BSA_CROWDED_OUT };
	b.missed.waits = waits;
	b.missed.n_waits = N;
	n = bsa_blame(&b.missed, ret, N + BSA_CAUSES);
	assert_true(n > N);
	for (size_t i = 0; i < n; i++)
		sum += ret[i].late_ns;
	assert_int_equal(sum, b.x.lateness);
	free(waits);
	free(ret);
}

int main(void)
{
	static const struct CMUnitTest properties[] = {
		cmocka_unit_test(any_execution_has_exact_ledgers),
		cmocka_unit_test(a_complete_execution_has_no_unknown_time),
		cmocka_unit_test(absurd_numbers_have_exact_ledgers_too),
		cmocka_unit_test(a_hundred_thousand_culprits_are_no_trouble),
	};
	struct CMUnitTest tests[N_OF(rows) + N_OF(properties)];

	for (size_t i = 0; i < N_OF(rows); i++)
		tests[i] = (struct CMUnitTest){ .name = rows[i].name,
			                        .test_func = row_has_its_ledgers,
			                        .initial_state = (void *)&rows[i] };
	memcpy(tests + N_OF(rows), properties, sizeof(properties));
	return cmocka_run_group_tests_name("blame", tests, NULL, NULL);
}
