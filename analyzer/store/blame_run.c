/*
 * blame_run.c -- reads each missed execution of the import back, and blames it with the arithmetic
 * of fold/blame.h.
 */
#include "store/blame_run.h"

#include "fold/blame.h"
#include "store/crowd.h"
#include "store/numbers.h"
#include "store/own.h"
#include "store/saved_run.h"
#include "store/sql.h"

#include <stdlib.h>
#include <string.h>

/*
 * The queries for each missed execution. Times in the scratch file are signed; they are only compared with each other,
 * so any shift will do: half of the range keeps their order.
 */
#define SHIFT (UINT64_C(1) << 62)

enum question {
	MISSED,
	WAITS,
	WAIT_RUNS,
	PREEMPTIONS,
	SLICES,
	REFUSAL,
	TYPICAL,
	BUDGET,
	RULES,
	LOSSES,
	LAST_BLOCKER,
	BLOCKERS,
	ESTIMATE,
	HOLDER,
	STOPS,
	SERVICE,
	QUESTIONS
};

/* Columns of stored_unpacked, stored_missed and stored_duration that a blame needs. */
/* clang-format off */
#define MISSED_COLUMNS(C) \
	C(id) C(flags) C(submitted) C(request_written) C(request_read) C(decoded) C(fenced) C(enqueued) C(dispatched) \
	C(run_ended) C(result_written) C(result_read) C(returned) C(signalled) C(prepare_ns) C(send_ns) C(decode_ns) \
	C(fence_ns) C(slots_ns) C(queue_ns) C(run_ns) C(preempted_ns) C(reply_ns) C(return_ns) C(finish_ns) \
	C(signal_ns) C(e2e_ns) C(redo_ns) C(cpu_ns) C(request_blocked_ns) C(request_spun_ns) C(request_slept_ns) \
	C(result_blocked_ns) C(result_spun_ns) C(result_slept_ns) C(slot_lookups) C(slot_misses) C(preemptions) \
	C(bypassed) C(decode_delay_ns) C(run_delay_ns) C(reply_delay_ns) C(deadline) C(app_id) C(model_id) C(missed_at) C(lateness_ns) C(estimate_ns) \
	C(duration_ns) C(submit_delay_ns) C(submit_gap_ns) C(submit_turns)
/* clang-format on */
#define MEMBER(name) int64_t name;
#define SELECTED(name) #name ", "

struct missed_row {
	MISSED_COLUMNS(MEMBER)
};

static const char select_missed[] = "SELECT " MISSED_COLUMNS(
	SELECTED) "0 FROM stored_missed m CROSS JOIN stored_unpacked x ON x.id = m.execution_id"
		  " LEFT JOIN stored_duration d ON d.execution_id = m.execution_id"
		  " WHERE m.execution_id >= ? ORDER BY m.execution_id";

/* SELECT * of a table gives the struct row_ of that table. */
static const char *const sql[QUESTIONS] = {
	[MISSED] = select_missed,
	[WAITS] = "SELECT * FROM stored_wait WHERE execution_id = ? ORDER BY began",
	[WAIT_RUNS] =
		"SELECT max(r.began, o.began), min(r.began + r.dur_ns, o.began + o.dur_ns), o.blocker_id, "
		"o.blocker_app_id,"
		" o.occupancy, o.level, o.hogging, r.app_id, r.run_bits FROM stored_wait_run r"
		" CROSS JOIN stored_occupancy o ON o.id BETWEEN r.first_id AND r.last_id WHERE r.execution_id = ?",
	[PREEMPTIONS] = "SELECT * FROM stored_preemption WHERE execution_id = ? ORDER BY stopped",
	[SLICES] = "SELECT * FROM stored_slice WHERE execution_id = ? ORDER BY began",
	[REFUSAL] = "SELECT * FROM stored_refusal WHERE execution_id = ?",
	[TYPICAL] = "SELECT * FROM stored_typical WHERE model_id = ? AND path = ?",
	[BUDGET] = "SELECT p50_ns, p90_ns FROM stored_usual_budget WHERE model_id = ? AND path = ?",
	[RULES] = "SELECT count(*), min(policy = 'fifo' OR preempt = 'none'), CASE WHEN min(lanes) = max(lanes) THEN "
		  "max(lanes) END, max(policy = 'native'),"
		  " max(preempt = 'restart' AND policy <> 'fifo')"
		  " FROM service_rules",
	[LOSSES] = "SELECT count(*) FROM loss",
	[LAST_BLOCKER] = "SELECT max((SELECT coalesce(max(blocker_id), 0) FROM stored_wait WHERE blocker_id >= ?1),"
			 " (SELECT coalesce(max(blocker_id), 0) FROM stored_occupancy WHERE blocker_id >= ?1))",
	[BLOCKERS] = "SELECT blocker_id FROM stored_wait WHERE blocker_id >= ?1"
		     " UNION ALL SELECT blocker_id FROM stored_occupancy WHERE blocker_id >= ?1",
	[ESTIMATE] = "SELECT estimate_ns FROM stored_model WHERE id = ?",
	[HOLDER] = "SELECT app_id FROM stored_execution WHERE id = ?",
	[STOPS] = "SELECT instance, began, ended, heard FROM silence"
		  " WHERE went_on AND trace_id > ? AND began < ended ORDER BY instance, began",
	/* The last rules of the service: beside max(), SQLite takes the other columns from its row. */
	[SERVICE] = "SELECT s.number >> 20, r.lanes, r.policy, r.preempt, max(r.at)"
		    " FROM stored_execution x JOIN stored_stream s ON s.id = x.stream_id"
		    " LEFT JOIN stored_rules r ON r.trace_id = s.trace_id AND r.instance = s.number >> 20"
		    " WHERE x.id = ?",
};

enum {
	ROWS_FREE = 1 << 12, /* rows of stored_miss_cause; beyond this number, */
	ROWS_OF_A_MISS = 8,  /* a miss has so many on average, or few culprits */
	CULPRITS_FEW = 8,
	CULPRITS_MAX = 256,
	WAITS_FREE = 1 << 20, /* waits of all misses that are looked at: a second; then, a miss with more than ... */
	WAITS_FEW = 256       /* ... so many has no causes: each of n that miss behind all others would have n */
};

/*
 * The kinds of events that tell who held a lane, and who waited for one. Without one of them, work that was not
 * recorded looks like a wait, and a wait like a run: no miss has a cause then (L-17).
 */
#define OF_LANES                                                                                                   \
	(UINT64_C(1) << BSA_sched_enqueue | UINT64_C(1) << BSA_sched_dispatch | UINT64_C(1) << BSA_sched_preempt | \
	 UINT64_C(1) << BSA_sched_resume | UINT64_C(1) << BSA_exec_end)

/* The executions that may have been asked to leave their lanes: an execution is asked if another one waits for it. */
enum { NOT_READ, NONE_ASKED, BLOCKERS_ONLY, ANY_ASKED };

/* A service that stood still, and then went on. */
struct stop {
	uint64_t instance;
	struct bsa_stop when;
};

struct run {
	struct bsa_store *s;
	struct bsa_saved *saved; /* owned */
	int asked;
	bool rules_known, never_stops, restarts; /* rules that hold for all services */
	uint8_t lanes;                           /* of each of them; 0: unknown, or not equal */
	uint8_t *blockers;                       /* a bit for each execution from s->first_execution on */
	uint64_t n_blockers;                     /* bits */
	sqlite3_stmt *q[QUESTIONS];
	struct bsa_wait *waits;
	struct bsa_preemption *preemptions;
	struct bsa_slice *slices;
	struct bsa_blamed *blamed;
	struct stop *stops;
	struct bsa_stop *stops_of_one; /* as many as @stops, at most */
	size_t n_stops, stops_room;
	uint64_t n_misses, n_rows; /* rows of stored_miss_cause */
	uint64_t n_waits;          /* number of waits read */
	bool has_budgets;          /* stored_usual_budget is filled */
	size_t waits_room, preemptions_room, slices_room, blamed_room;
};

static void run_fini(struct run *r)
{
	for (unsigned i = 0; i < QUESTIONS; i++)
		sqlite3_finalize(r->q[i]);
	bsa_saved_free(r->saved);
	free(r->blockers);
	free(r->waits);
	free(r->preemptions);
	free(r->slices);
	free(r->blamed);
	free(r->stops);
	free(r->stops_of_one);
}

/* Make room for one more than @n. False: no memory; the store keeps the error. */
static bool room_for(struct run *r, void **rows, size_t *room, size_t n, size_t bytes)
{
	size_t more = n < 8 ? 16 : 2 * n;
	void *bigger;

	if (n < *room)
		return true;
	bigger = realloc(*rows, more * bytes);
	if (!bigger)
		return bsa_store_fail(r->s, BSA_E_ENV, "no memory"), false;
	*rows = bigger;
	*room = more;
	return true;
}

/* ---- columns as the fold had them ---- */

/* Copy the columns of the row that @q is at into the members of @row; NULL becomes NOTHING. */
static void read_row(sqlite3_stmt *q, void *row, size_t bytes)
{
	int64_t *column = row;

	for (size_t i = 0; i < bytes / sizeof(*column); i++)
		column[i] = column_or_nothing(q, (int)i);
}

static uint64_t time_of(int64_t v)
{
	return v == NOTHING ? BSA_NEVER : (uint64_t)v + SHIFT;
}

static uint64_t blame_end_of(int64_t began, int64_t dur)
{
	return time_of(began == NOTHING || dur == NOTHING ? NOTHING : began + dur);
}

static uint64_t blame_ns_of(int64_t v)
{
	return v == NOTHING ? BSA_NEVER : (uint64_t)v;
}

static uint32_t count_of(int64_t v)
{
	return v == NOTHING ? BSA_COUNT_UNKNOWN : (uint32_t)v;
}

static uint64_t id_of(int64_t v)
{
	return v == NOTHING ? 0 : (uint64_t)v;
}

/* The number that @q selects; 0 where there is no row. Resets @q. */
static uint64_t only_number(struct run *r, sqlite3_stmt *q)
{
	uint64_t ret = bsa_store_step(r->s, q) ? (uint64_t)sqlite3_column_int64(q, 0) : 0;

	sqlite3_reset(q);
	return ret;
}

/* A question about @id: its first row is next. */
static sqlite3_stmt *ask_about(struct run *r, enum question question, uint64_t id)
{
	sqlite3_reset(r->q[question]);
	sqlite3_bind_int64(r->q[question], 1, sql_id(id));
	return r->q[question];
}

static void read_execution(sqlite3_stmt *q, struct bsa_execution *x)
{
	struct missed_row m;
	struct bits_execution b;

	read_row(q, &m, sizeof(m));
	b = unpack_execution(m.flags); /* all ones mean unknown */
	*x = (struct bsa_execution){
		.id = id_of(m.id),
		.path = b.path == ALL_execution_path ? BSA_PATH_UNKNOWN : (uint8_t)b.path,
		.priority = b.priority == ALL_execution_priority ? 255 : (uint8_t)b.priority,
		.status = b.status == ALL_execution_status ? BSA_STATUS_UNKNOWN : (uint8_t)b.status,
		.miss = (uint8_t)b.miss,
		.quality = (uint8_t)b.quality,
		.sides = (uint8_t)b.sides,
		.cold = b.cold > 1 ? -1 : (int8_t)b.cold,
		.lane = b.lane == ALL_execution_lane ? -1 : (int16_t)b.lane,
		.idle = b.idle,
		.fence_free = b.fence_free,
		.at = {
			[BSA_SUBMITTED] = time_of(m.submitted),
			[BSA_REQUEST_WRITTEN] = time_of(m.request_written),
			[BSA_REQUEST_READ] = time_of(m.request_read),
			[BSA_DECODED] = time_of(m.decoded),
			[BSA_FENCED] = time_of(m.fenced),
			[BSA_ENQUEUED] = time_of(m.enqueued),
			[BSA_DISPATCHED] = time_of(m.dispatched),
			[BSA_RUN_ENDED] = time_of(m.run_ended),
			[BSA_RESULT_WRITTEN] = time_of(m.result_written),
			[BSA_RESULT_READ] = time_of(m.result_read),
			[BSA_RETURNED] = time_of(m.returned),
			[BSA_SIGNALLED] = time_of(m.signalled),
		},
		.phase = {
			[BSA_PREPARE] = blame_ns_of(m.prepare_ns),
			[BSA_SEND] = blame_ns_of(m.send_ns),
			[BSA_DECODE] = blame_ns_of(m.decode_ns),
			[BSA_FENCE] = blame_ns_of(m.fence_ns),
			[BSA_SLOTS] = blame_ns_of(m.slots_ns),
			[BSA_QUEUE] = blame_ns_of(m.queue_ns),
			[BSA_RUN] = blame_ns_of(m.run_ns),
			[BSA_PREEMPTED] = blame_ns_of(m.preempted_ns),
			[BSA_REPLY] = blame_ns_of(m.reply_ns),
			[BSA_RETURN] = blame_ns_of(m.return_ns),
			[BSA_FINISH] = blame_ns_of(m.finish_ns),
			[BSA_SIGNAL] = blame_ns_of(m.signal_ns),
		},
		.run = blame_ns_of(m.run_ns),
		.queue = blame_ns_of(m.queue_ns),
		.preempted = blame_ns_of(m.preempted_ns),
		.slots = blame_ns_of(m.slots_ns),
		.e2e = blame_ns_of(m.e2e_ns),
		.redo = blame_ns_of(m.redo_ns),
		.cpu = blame_ns_of(m.cpu_ns),
		.submit_delay = blame_ns_of(m.submit_delay_ns),
		.submit_gap = blame_ns_of(m.submit_gap_ns),
		.submit_turns = m.submit_turns > 0 ? (uint32_t)m.submit_turns : 0,
		.delay = { blame_ns_of(m.decode_delay_ns), blame_ns_of(m.run_delay_ns), blame_ns_of(m.reply_delay_ns) },
		.request = { blame_ns_of(m.request_blocked_ns), blame_ns_of(m.request_spun_ns), blame_ns_of(m.request_slept_ns) },
		.result = { blame_ns_of(m.result_blocked_ns), blame_ns_of(m.result_spun_ns), blame_ns_of(m.result_slept_ns) },
		.lookups = count_of(m.slot_lookups),
		.misses = count_of(m.slot_misses),
		.preemptions = count_of(m.preemptions),
		.bypassed = count_of(m.bypassed),
		.deadline = m.deadline == NOTHING ? 0 : time_of(m.deadline),
		.app = (uint32_t)id_of(m.app_id),
		.model = (uint32_t)id_of(m.model_id),
		.missed_at = time_of(m.missed_at),
		.lateness = m.lateness_ns == NOTHING ? BSA_LATENESS_UNKNOWN : m.lateness_ns,
		.estimate = blame_ns_of(m.estimate_ns),
		.duration = m.duration_ns == NOTHING ? 0 : blame_ns_of(m.duration_ns),
	};
}

static int by_began(const void *a, const void *b)
{
	const struct bsa_wait *x = a, *y = b;

	return (x->began > y->began) - (x->began < y->began);
}

/* Is there another wait to be read, after @n? The one after the most that there may be is read, to know of it. */
static bool more_waits(struct run *r, sqlite3_stmt *q, size_t n)
{
	if (r->n_waits + n > WAITS_FREE && n > WAITS_FEW) {
		sqlite3_reset(q);
		return false;
	}
	return bsa_store_step(r->s, q) && room_for(r, (void **)&r->waits, &r->waits_room, n, sizeof(*r->waits));
}

/* Stretches that are stored once for all that wait behind them: after @n others, and then all in their order. */
static size_t read_wait_runs(struct run *r, uint64_t id, size_t n)
{
	sqlite3_stmt *q = ask_about(r, WAIT_RUNS, id);
	size_t few = n;

	while (more_waits(r, q, n)) {
		struct bits_wait_run bits = unpack_wait_run(sqlite3_column_int64(q, 8));
		struct bsa_wait w = { .execution = id,
			              .began = time_of(column_or_nothing(q, 0)),
			              .ended = time_of(column_or_nothing(q, 1)),
			              .blocker = id_of(column_or_nothing(q, 2)),
			              .blocker_app = (uint32_t)id_of(column_or_nothing(q, 3)),
			              .kind = (uint8_t)bits.run_kind,
			              .lane = (uint8_t)bits.run_lane,
			              .occupancy = (uint8_t)sqlite3_column_int64(q, 4) };

		w.cause = bsa_crowd_cause(w.kind, (uint32_t)id_of(column_or_nothing(q, 7)), (uint8_t)bits.run_level,
		                          w.occupancy, w.blocker_app, (uint8_t)sqlite3_column_int64(q, 5),
		                          sqlite3_column_int64(q, 6));
		r->waits[n++] = w;
	}
	if (n > few)
		qsort(r->waits, n, sizeof(*r->waits), by_began);
	return n;
}

static size_t read_waits(struct run *r, uint64_t id)
{
	sqlite3_stmt *q = ask_about(r, WAITS, id);
	struct row_wait w;
	size_t n = 0;

	while (more_waits(r, q, n)) {
		struct bits_wait bits;

		read_row(q, &w, sizeof(w));
		bits = unpack_wait(w.bits);
		r->waits[n++] = (struct bsa_wait){
			.execution = id,
			.began = time_of(w.began),
			.ended = blame_end_of(w.began, w.dur_ns),
			.blocker = id_of(w.blocker_id),
			.blocker_app = (uint32_t)id_of(w.blocker_app_id),
			.kind = (uint8_t)bits.kind,
			.lane = (uint8_t)bits.lane,
			.occupancy = (uint8_t)bits.occupancy,
			.cause = (uint8_t)bits.cause,
		};
	}
	return read_wait_runs(r, id, n);
}

static size_t read_preemptions(struct run *r, uint64_t id)
{
	sqlite3_stmt *q = ask_about(r, PREEMPTIONS, id);
	struct row_preemption p;
	size_t n = 0;

	while (bsa_store_step(r->s, q) &&
	       room_for(r, (void **)&r->preemptions, &r->preemptions_room, n, sizeof(*r->preemptions))) {
		read_row(q, &p, sizeof(p));
		r->preemptions[n++] = (struct bsa_preemption){
			.execution = id,
			.by = id_of(p.by_execution_id),
			.asked = time_of(p.asked),
			.stopped = time_of(p.stopped),
			.resumed = time_of(p.resumed),
			.at_op = (uint16_t)p.at_op,
			.mode = (uint8_t)p.mode,
			.lane = (uint8_t)p.lane,
			.redo = blame_ns_of(p.redo_ns),
		};
	}
	return n;
}

static size_t read_slices(struct run *r, uint64_t id)
{
	sqlite3_stmt *q = ask_about(r, SLICES, id);
	struct row_slice x;
	size_t n = 0;

	while (bsa_store_step(r->s, q) && room_for(r, (void **)&r->slices, &r->slices_room, n, sizeof(*r->slices))) {
		read_row(q, &x, sizeof(x));
		r->slices[n++] = (struct bsa_slice){
			.execution = id,
			.began = time_of(x.began),
			.ended = blame_end_of(x.began, x.dur_ns),
			.instance = (uint16_t)x.instance,
			.lane = (uint8_t)x.lane,
		};
	}
	return n;
}

static bool read_refusal(struct run *r, uint64_t id, struct bsa_refused *ret)
{
	sqlite3_stmt *q = ask_about(r, REFUSAL, id);
	bool there = bsa_store_step(r->s, q);
	struct row_refusal row;

	if (there) {
		read_row(q, &row, sizeof(row));
		*ret = (struct bsa_refused){
			.execution = id,
			.lane_free = time_of(row.lane_free),
			.held_until = time_of(row.held_until),
			.holder = id_of(row.holder_id),
			.holder_app = (uint32_t)id_of(row.holder_app_id),
			.holder_cause = (uint8_t)row.holder_cause,
			.queue_free = time_of(row.queue_free),
			.queue_cause = (uint8_t)row.queue_cause,
			.queue = id_of(row.queue_id),
			.queue_app = (uint32_t)id_of(row.queue_app_id),
			.own_ns = blame_ns_of(row.own_queue_ns),
			.others_ns = blame_ns_of(row.others_queue_ns),
		};
	}
	sqlite3_reset(q);
	return there;
}

/* The budgets that executions of the model of @x have. Read only if the budget of @x was too short. */
static void read_budgets(struct run *r, const struct bsa_execution *x, struct bsa_typical *t)
{
	uint64_t start = x->at[x->sides == BSA_SIDES_SERVICE ? BSA_REQUEST_READ : BSA_SUBMITTED];
	uint64_t most = t->phase[BSA_RUN];
	sqlite3_stmt *q;

	for (unsigned i = 0; i < BSA_PHASES; i++)
		most += t->least[i] < BSA_NEVER / 2 / BSA_PHASES ? t->least[i] : 0;

	if (!x->deadline || start == BSA_NEVER || (x->deadline > start && x->deadline - start >= most))
		return;
	if (!r->has_budgets) {
		bsa_store_run(r->s, bsa_sql_budgets);
		r->has_budgets = true;
	}
	if (x->deadline <=
	    start) /* the cause is submitted_late by definition; saved_run.c needs the budgets of its model */
		return;
	q = ask_about(r, BUDGET, x->model);
	sqlite3_bind_int(q, 2, x->path);
	if (bsa_store_step(r->s, q) && sqlite3_column_int64(q, 0) > 0)
		t->budget = (uint64_t)sqlite3_column_int64(q, 0);
	if (sqlite3_data_count(q) && sqlite3_column_int64(q, 1) > 0)
		t->ample_budget = (uint64_t)sqlite3_column_int64(q, 1);
	sqlite3_reset(q);
}

static struct bsa_typical read_typical(struct run *r, const struct bsa_execution *x)
{
	sqlite3_stmt *q = ask_about(r, TYPICAL, x->model);
	struct bsa_typical ret = { .budget = BSA_NEVER, .ample_budget = BSA_NEVER };
	struct row_typical row;

	sqlite3_bind_int64(q, 1, x->model);
	sqlite3_bind_int(q, 2, x->path);
	while (bsa_store_step(r->s, q)) {
		read_row(q, &row, sizeof(row));
		ret.n = id_of(row.n);
		ret.runs = id_of(row.runs);
		if (row.phase < 0 || row.phase >= BSA_PHASES)
			continue;
		ret.phase[row.phase] = id_of(row.p50_ns);
		ret.least[row.phase] = id_of(row.least_ns);
	}
	if (!ret.runs && x->estimate && x->estimate != BSA_NEVER)
		ret.phase[BSA_RUN] = x->estimate;
	else if (!ret.runs)
		ret.phase[BSA_RUN] = only_number(r, ask_about(r, ESTIMATE, x->model));
	read_budgets(r, x, &ret);
	return ret;
}

/* ---- the service: its rules, and its stops ---- */

static void read_stops(struct run *r)
{
	sqlite3_stmt *q = r->q[STOPS];

	sqlite3_bind_int64(q, 1, (int64_t)r->s->before);
	while (bsa_store_step(r->s, q) &&
	       room_for(r, (void **)&r->stops, &r->stops_room, r->n_stops, sizeof(*r->stops)))
		r->stops[r->n_stops++] =
			(struct stop){ id_of(column_or_nothing(q, 0)),
			               { time_of(column_or_nothing(q, 1)), time_of(column_or_nothing(q, 2)),
			                 time_of(column_or_nothing(q, 3)) } };
	sqlite3_reset(q);
	r->stops_of_one = calloc(r->n_stops + 1, sizeof(*r->stops_of_one));
	if (!r->stops_of_one)
		bsa_store_fail(r->s, BSA_E_ENV, "no memory");
}

/* Note in @m the rules of the service of @x, and its stops. */
static void read_service(struct run *r, const struct bsa_execution *x, struct bsa_missed *m)
{
	sqlite3_stmt *q = ask_about(r, SERVICE, x->id);
	int64_t instance = NOTHING;

	m->lanes = r->lanes;
	m->restarts = r->restarts || !r->rules_known;
	if (bsa_store_step(r->s, q) && (instance = column_or_nothing(q, 0)) != NOTHING) {
		const struct bsa_rules rules = { .lanes = (uint8_t)sqlite3_column_int64(q, 1),
			                         .policy = (uint8_t)sqlite3_column_int64(q, 2),
			                         .preempt_mode = (uint8_t)sqlite3_column_int64(q, 3) };

		bsa_missed_rules(m, column_or_nothing(q, 2) == NOTHING ? NULL : &rules);
	}
	sqlite3_reset(q);
	m->stops = r->stops_of_one;
	for (size_t i = 0; i < r->n_stops; i++)
		if (r->stops[i].instance == (uint64_t)instance)
			r->stops_of_one[m->n_stops++] = r->stops[i].when;
}

/* ---- into the table ---- */

/*
 * A miss that came about behind many others has a culprit for each. Where misses have too many, the culprits
 * of each cause that took the least become one row, without a culprit.
 */
static size_t join_least(struct run *r, size_t n)
{
	size_t most = r->n_rows < ROWS_FREE + ROWS_OF_A_MISS * r->n_misses ? CULPRITS_MAX : CULPRITS_FEW, kept = most;

	if (n <= most)
		return n;
	for (size_t i = most; i < n; i++) {
		struct bsa_blamed *b = &r->blamed[i], *to = NULL;

		for (size_t j = most; j < kept && !to; j++)
			to = r->blamed[j].cause == b->cause ? &r->blamed[j] : NULL;
		if (!to) {
			r->blamed[kept] = *b;
			to = &r->blamed[kept++];
		} else {
			to->late_ns += b->late_ns;
			to->budget_ns = to->budget_ns == INT64_MIN || b->budget_ns == INT64_MIN
			                        ? INT64_MIN
			                        : to->budget_ns + b->budget_ns;
			/*
			 * No replay leaves out both culprits; but where leaving out one meets the deadline,
			 * leaving out both does.
			 */
			to->saved = to->saved == 1 || b->saved == 1 ? 1 : -1;
			to->culprit = to->culprit_app = 0;
		}
	}
	r->s->joined_causes += kept < n;
	return kept;
}

/* @refused: NULL if it was not refused. */
static void insert_causes(struct run *r, const struct bsa_execution *x, const struct bsa_refused *refused, size_t n)
{
	n = join_least(r, n);
	for (size_t i = 0; i < n; i++) {
		struct bsa_blamed *b = &r->blamed[i];

		/* A preemptor that was not recorded on the lane is known by its number only. */
		if (!b->culprit_app && b->culprit)
			b->culprit_app = (uint32_t)only_number(r, ask_about(r, HOLDER, b->culprit));
	}
	if (x->lateness != BSA_LATENESS_UNKNOWN)
		bsa_saved_ask(r->saved, x, refused, r->blamed, n);
	r->n_misses++;
	r->n_rows += n;
	for (size_t i = 0; i < n; i++) {
		const struct bsa_blamed *b = &r->blamed[i];
		int64_t budget = b->budget_ns == INT64_MIN ? NOTHING : b->budget_ns;

		ROW(r->s, miss_cause, .execution_id = sql_id(x->id), .nth = (int64_t)i, .cause = b->cause,
		    .culprit_execution_id = sql_id(b->culprit), .culprit_app_id = sql_id(b->culprit_app),
		    .budget_ns = budget, .late_ns = sql_lateness(b->late_ns),
		    .saved = b->saved < 0 ? NOTHING : b->saved, .is_primary = b->is_primary);
	}
}

/* ---- who may have been asked to leave its lane ---- */

/* For a service with one lane: all executions that others waited for. */
static int read_blockers(struct run *r)
{
	uint64_t first = r->s->first_execution, last = only_number(r, ask_about(r, LAST_BLOCKER, first));
	sqlite3_stmt *q = ask_about(r, BLOCKERS, first);

	if (last < first)
		return BLOCKERS_ONLY; /* no blockers */
	r->n_blockers = last - first + 1;
	r->blockers = calloc(1, r->n_blockers / 8 + 1);
	if (!r->blockers)
		return bsa_store_fail(r->s, BSA_E_ENV, "no memory"), ANY_ASKED;
	while (bsa_store_step(r->s, q)) {
		uint64_t i = (uint64_t)sqlite3_column_int64(q, 0) - first;

		r->blockers[i / 8] |= (uint8_t)(1U << i % 8);
	}
	return BLOCKERS_ONLY;
}

static bool is_undisturbed(struct run *r, const struct bsa_execution *x)
{
	uint64_t i = x->id - r->s->first_execution;

	if (x->miss != BSA_MISS_LATE || x->quality != BSA_QUALITY_COMPLETE || x->preemptions)
		return false;
	/* If the rules are unknown, or events were lost, any execution may have been asked. */
	if (r->asked == NOT_READ) {
		if (!r->rules_known || (!r->never_stops && (r->lanes != 1 || only_number(r, r->q[LOSSES]))))
			r->asked = ANY_ASKED;
		else
			r->asked = r->never_stops ? NONE_ASKED : read_blockers(r);
	}
	if (r->asked != BLOCKERS_ONLY)
		return r->asked == NONE_ASKED;
	return i >= r->n_blockers || !(r->blockers[i / 8] >> i % 8 & 1);
}

static void blame_miss(struct run *r, const struct bsa_execution *x)
{
	struct bsa_typical typical = read_typical(r, x);
	struct bsa_refused refused;
	struct bsa_missed m = {
		.execution = x,
		.typical = &typical,
		.n_waits = read_waits(r, x->id),
		.n_preemptions = read_preemptions(r, x->id),
		.n_slices = read_slices(r, x->id),
		.refused = read_refusal(r, x->id, &refused) ? &refused : NULL,
		.undisturbed = is_undisturbed(r, x),
	};
	size_t most = BSA_CAUSES + m.n_waits + m.n_preemptions;
	bool unread = r->n_waits + m.n_waits > WAITS_FREE && m.n_waits > WAITS_FEW;

	r->n_waits += m.n_waits;
	if (unread || r->s->left_out.absent & OF_LANES) { /* all of its lateness has one cause, unknown */
		if (!room_for(r, (void **)&r->blamed, &r->blamed_room, 1, sizeof(*r->blamed)))
			return;
		bsa_blame_unknown(x, r->blamed);
		insert_causes(r, x, NULL, 1);
		r->s->joined_causes += unread; /* it has too many waits to read them */
		return;
	}
	if (r->s->code || !room_for(r, (void **)&r->blamed, &r->blamed_room, most, sizeof(*r->blamed)))
		return;
	read_service(r, x, &m);
	m.waits = r->waits;
	m.preemptions = r->preemptions;
	m.slices = r->slices;
	insert_causes(r, x, m.refused, bsa_blame(&m, r->blamed, most));
}

int bsa_blame_run(struct bsa_store *s)
{
	__attribute__((cleanup(run_fini))) struct run r = { .s = s };
	struct bsa_execution x;
	sqlite3_stmt *rules;

	for (unsigned i = 0; i < QUESTIONS && !s->code; i++)
		r.q[i] = bsa_store_prepare(s, sql[i]);
	if (s->code)
		return s->code;
	r.saved = bsa_saved_new(s, s->missed);
	if (!r.saved)
		return s->code;

	rules = r.q[RULES];
	if (bsa_store_step(s, rules)) {
		r.rules_known = sqlite3_column_int64(rules, 0) > 0 && !sqlite3_column_int64(rules, 3);
		r.never_stops = sqlite3_column_int64(rules, 1);
		r.lanes = (uint8_t)sqlite3_column_int64(rules, 2);
		r.restarts = sqlite3_column_int64(rules, 4);
	}
	sqlite3_reset(rules);

	read_stops(&r);
	sqlite3_bind_int64(r.q[MISSED], 1, sql_id(s->first_execution));
	while (bsa_store_step(s, r.q[MISSED])) {
		read_execution(r.q[MISSED], &x);
		blame_miss(&r, &x);
	}
	return bsa_saved_run(r.saved);
}
