/*
 * sharing_run.c -- reads executions from a database, replays them under ideal fair sharing, and reports the
 * sums by app.
 */
#include "store/sharing_run.h"

#include "base/vector.h"
#include "replay/sharing.h"
#include "store/in_order.h"
#include "store/numbers.h"
#include "store/own.h"
#include "store/usual_runs.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	LANES_MOST = 64,
	SERVICES_MOST = 16,  /* each of them has all executions looked at */
	APPS_MOST = 1 << 14, /* limit for all services together: a replay takes some 400 bytes for each */
	ACTIVE_MOST = 2048,
	STOPS_LEAST = 10, /* from fewer it is not known how soon an execution leaves its lane */
	RUNS_KEPT = 64,
};

#define AROUND_NS INT64_C(1000000000)

/* ---- who and what there is ---- */

/* How soon the executions of a model left their lanes when they were asked to. */
struct stops {
	int64_t model;
	/* twice the mean of those that were not stalled, because a request comes at any time between two
	 * checkpoints */
	uint64_t step;
};

/* How long executions of a model had a lane. */
struct runs {
	int64_t model;
	struct bsa_usual_runs all;
	uint64_t *kept; /* owned; whole runs, RUNS_KEPT at most; in their order when all are read */
	uint64_t every; /* one of so many is kept; 0: each */
	uint32_t n_kept;
};

enum { DEADLINES_UNKNOWN = -1 };

struct service {
	int64_t trace, instance, policy, preempt, lanes,
		deadlines;    /* DEADLINES_UNKNOWN: what the service does at a deadline was not recorded */
	int64_t began, ended; /* begin and end of the service's trace; no execution was ready before. Of a service that
	                         is silent at the end: when that began */
	bool only;            /* the only service of its trace: then executions of unknown streams are its own */
	double slower;        /* native: so many times as long as its cpu time does an execution take */
	struct stops *stops;  /* owned; in the order of their models; none of models with few */
	size_t n_stops;
	struct runs *runs; /* owned, by model; none: no deadline was missed */
	size_t n_runs;
	uint64_t stall; /* the time that executions were without a cpu at a stretch; 0: unknown */
	double stalled; /* the share of its lane time that an execution is without a cpu, if that was not recorded */
};

struct reading {
	sqlite3 *sql;
	struct service *service;
	sqlite3_stmt *executions, *stored, *sorted, *handed, *stalls, *stops, *models,
		*runs;              /* executions: as they were stored, or sorted */
	struct bsa_in_order *order; /* owned */
	bool undecided; /* an execution was not answered, and what the service does at its deadline is not known */
	bool disorder;  /* executions were not stored in an order that a window can mend */
	int64_t from, to;
	int64_t *apps; /* owned; ids in their order: the number of one is its place and 1, and 0 an unknown one's */
	uint32_t n_apps;
	int code; /* code of SQLite */
};

/* The apps of @trace and later ones; of too many, one more than may be. */
static int read_apps(struct reading *r, int64_t trace)
{
	cleanup_stmt sqlite3_stmt *q = NULL;
	int code = sqlite3_prepare_v2(
		r->sql, "SELECT id FROM app WHERE coalesce(trace_id, ?1) >= ?1 ORDER BY id LIMIT ?2", -1, &q, NULL);
	size_t room = 0;

	if (!code)
		code = sqlite3_bind_int64(q, 1, trace);
	if (!code)
		code = sqlite3_bind_int64(q, 2, APPS_MOST + 1);
	while (code == SQLITE_OK || code == SQLITE_ROW) {
		code = sqlite3_step(q);
		if (code != SQLITE_ROW)
			break;
		if (!BSA_RESERVE(r->apps, room, r->n_apps + 1, 16))
			return SQLITE_NOMEM;
		r->apps[r->n_apps++] = sqlite3_column_int64(q, 0);
	}
	return code == SQLITE_DONE ? SQLITE_OK : code;
}

static int by_id(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return x < y ? -1 : x > y;
}

/* ---- executions ---- */

enum {
	ID,
	FLAGS,
	APP,
	READY,
	QUEUE,
	RUN,
	PREEMPTED,
	REDO,
	CPU,
	DEADLINE,
	STEP,
	USUAL,
	DISPATCHED,
	BEGAN,
	STREAM,
	MODEL,
	LOOK,
	WAS_READY,
	ENDED,
	STALLED
};

/*
 * As they are stored. Sorting them takes longer than all else here. Stalled: from when an execution was stalled until
 * it had a lane again, or ended: a part of preempted_ns.
 */
static const char stored_sql[] =
	"SELECT x.id, x.flags, x.app_id, coalesce(x.enqueued, x.run_ended) AS ready, x.queue_ns, x.run_ns, "
	"x.preempted_ns, x.redo_ns, x.cpu_ns, "
	"x.deadline, m.step_ns, m.estimate_ns, x.dispatched, "
	"coalesce(x.submitted, x.request_written, x.request_read, x.decoded, x.fenced, x.enqueued) AS began, "
	"x.stream_id, x.model_id, m.look_ns, x.enqueued IS NOT NULL, x.run_ended, "
	"CASE WHEN x.preempted_ns > 0 THEN (SELECT sum(coalesce(p.resumed, x.run_ended) - p.stopped) "
	"FROM stored_preemption p WHERE p.execution_id = x.id AND p.mode >= ?6) END "
	"FROM stored_unpacked x LEFT JOIN stored_model m ON m.id = x.model_id "
	"WHERE x.trace_id = ?1 AND coalesce(x.enqueued, x.run_ended) BETWEEN ?4 AND ?5 AND (?3 OR "
	"(SELECT s.number >> 20 FROM stored_stream s WHERE s.id = x.stream_id) = ?2)";

static const char sorted_sql[] = " ORDER BY ready, x.id";

/*
 * IN, not EXISTS: SQLite reads the stretches of the execution once, and not again for each of its waits. One that was
 * preempted n times has n of both. Few waits are for an idle lane (?3), and only for these are stretches looked up.
 */
static const char handed_sql[] =
	"SELECT w.dur_ns FROM stored_wait w WHERE w.execution_id = ?1 AND ifnull(w.bits >> ?5 & ?6, ?3) = ?3 "
	"AND (w.began + w.dur_ns IN (?2, ?4) OR "
	"w.began + w.dur_ns IN (SELECT l.began FROM stored_slice l WHERE l.execution_id = ?1)) "
	"UNION ALL SELECT min(r.began + r.dur_ns, o.began + o.dur_ns) - max(r.began, o.began) FROM "
	"stored_wait_run r "
	"CROSS JOIN stored_occupancy o ON o.id = r.last_id WHERE r.execution_id = ?1 AND o.occupancy = ?3 "
	"AND (r.began + r.dur_ns IN (?2, ?4) OR "
	"r.began + r.dur_ns IN (SELECT l.began FROM stored_slice l WHERE l.execution_id = ?1))";

/* One row per stall, with whether it had no lane again; and one per wait. */
static const char stalls_sql[] =
	"SELECT p.resumed IS NULL, NULL, NULL, NULL FROM stored_preemption p WHERE p.execution_id = ?1 AND p.mode >= "
	"?2 "
	"UNION ALL SELECT NULL, w.began + w.dur_ns, w.dur_ns, w.bits FROM stored_wait w WHERE w.execution_id = ?1";

/* Never below 0. */
static uint64_t column_length(sqlite3_stmt *q, int column)
{
	int64_t ns = sqlite3_column_int64(q, column);

	return ns > 0 ? (uint64_t)ns : 0;
}

/* For how long it was off its lanes and not stalled. */
static uint64_t preempted_for(sqlite3_stmt *q)
{
	uint64_t preempted = column_length(q, PREEMPTED), stalled = column_length(q, STALLED);

	return preempted - (stalled < preempted ? stalled : preempted);
}

/* For how long, each time, its lane was free before it ran there or was given up, and it was ready. */
static void add_hand(struct bsa_sharing_call *c, uint64_t ns)
{
	c->hand += ns;
	c->hand_most = ns > c->hand_most ? ns : c->hand_most;
	c->n_hands += ns > 0;
}

static void take_hands(struct reading *r, sqlite3_stmt *q, struct bsa_sharing_call *c)
{
	bool idle = unpack_execution(sqlite3_column_int64(q, FLAGS)).idle;

	if (idle)
		add_hand(c, column_length(q, QUEUE));
	if ((column_is_null(q, DISPATCHED) && !c->given_up) ||
	    (!preempted_for(q) && (idle || !column_length(q, QUEUE))))
		return;
	sqlite3_reset(r->handed);
	sqlite3_bind_int64(r->handed, 1, sqlite3_column_int64(q, ID));
	if (column_is_null(q, DISPATCHED))
		sqlite3_bind_null(r->handed, 2);
	else
		sqlite3_bind_int64(r->handed, 2, sqlite3_column_int64(q, DISPATCHED));
	sqlite3_bind_int64(r->handed, 3, BSA_IDLE);
	if (c->given_up)
		sqlite3_bind_int64(r->handed, 4, sqlite3_column_int64(q, ENDED));
	else
		sqlite3_bind_null(r->handed, 4);
	sqlite3_bind_int64(r->handed, 5, AT_wait_occupancy);
	sqlite3_bind_int64(r->handed, 6, ALL_wait_occupancy);
	while (sqlite3_step(r->handed) == SQLITE_ROW)
		add_hand(c, column_length(r->handed, 0));
}

/* Where no wait tells when it was ready again, it may have been so at once, or never. */
static void take_stalls(struct reading *r, struct bsa_sharing_call *c)
{
	int64_t over = sqlite3_column_int64(r->executions, ENDED), last = INT64_MAX; /* last: end of the last stall */
	bool had_none_again = false;

	c->stalled_most = column_length(r->executions, STALLED);
	if (!c->stalled_most)
		return;
	sqlite3_reset(r->stalls);
	sqlite3_bind_int64(r->stalls, 1, sqlite3_column_int64(r->executions, ID));
	sqlite3_bind_int64(r->stalls, 2, LABEL_mode_stalled);
	while (sqlite3_step(r->stalls) == SQLITE_ROW) {
		bool is_stall = !column_is_null(r->stalls, 0);
		uint64_t cause = is_stall ? BSA_CAUSES : unpack_wait(sqlite3_column_int64(r->stalls, 3)).cause;

		had_none_again |= is_stall && sqlite3_column_int(r->stalls, 0);
		if (cause != BSA_CAUSE_STALLED && cause != BSA_MACHINE_BUSY)
			continue;
		c->stalled += column_length(r->stalls, 2);
		if (last == INT64_MAX || sqlite3_column_int64(r->stalls, 1) > last)
			last = sqlite3_column_int64(r->stalls, 1);
	}
	c->stalled = c->stalled < c->stalled_most ? c->stalled : c->stalled_most;
	c->stalled_to_its_end = c->given_up && had_none_again && last >= over;
}

/* An execution under way at the end of the recording had its lane time until then. False: its lane time is unknown. */
static bool take_times(const struct reading *r, const struct bits_execution *b, struct bsa_sharing_call *c)
{
	sqlite3_stmt *q = r->executions;
	uint64_t redo = column_is_null(q, REDO) ? 0 : column_length(q, REDO), ready = column_length(q, READY);
	uint64_t over = r->service->ended > 0 ? (uint64_t)r->service->ended : 0;

	c->run = column_is_null(q, RUN) ? 0 : column_length(q, RUN);
	c->waited = column_length(q, QUEUE) + preempted_for(q);
	c->response = c->run + c->waited;
	if (column_is_null(q, QUEUE) || column_is_null(q, RUN)) {
		if (b->quality != BSA_QUALITY_OPEN || over < ready)
			return false;
		c->response = over - ready;
	}
	c->run -= redo < c->run ? redo : c->run;
	if (column_is_null(q, CPU))
		c->off = (uint64_t)((double)c->run * r->service->stalled);
	else if (column_length(q, CPU) < c->run)
		c->off = c->run - column_length(q, CPU);
	return true;
}

static int by_model(const void *a, const void *b)
{
	const struct stops *x = a, *y = b;

	return x->model < y->model ? -1 : x->model > y->model;
}

/*
 * The step that was measured when the model was prepared includes stalls of the machine, and does not show
 * that a run can leave its lane inside an operation: a shorter one that was observed counts instead.
 */
static uint64_t step_of(const struct reading *r)
{
	sqlite3_stmt *q = r->executions;
	const struct service *service = r->service;
	const struct stops key = { .model = sqlite3_column_int64(q, MODEL) };
	const struct stops *found = column_is_null(q, MODEL) || !service->n_stops
	                                    ? NULL
	                                    : bsearch(&key, service->stops, service->n_stops, sizeof(key), by_model);
	uint64_t step = column_is_null(q, STEP) && service->preempt == LABEL_preempt_save ? BSA_LOOK_NS
	                                                                                  : column_length(q, STEP);

	if (found)
		return !step || found->step < step ? found->step : step;
	return service->preempt == LABEL_preempt_save && column_length(q, LOOK) && column_length(q, LOOK) < step
	               ? column_length(q, LOOK)
	               : step;
}

static int runs_by_model(const void *a, const void *b)
{
	const struct runs *x = a, *y = b;

	return x->model < y->model ? -1 : x->model > y->model;
}

static struct runs *runs_of(const struct service *service, int64_t model)
{
	const struct runs key = { .model = model };

	return service->n_runs ? bsearch(&key, service->runs, service->n_runs, sizeof(key), runs_by_model) : NULL;
}

/* Bounds of the lane time that an execution needed which was refused or given up: docs/figures.md, "Verdicts". */
static void take_need(const struct reading *r, struct bsa_sharing_call *c)
{
	const struct runs *runs = column_is_null(r->executions, MODEL)
	                                  ? NULL
	                                  : runs_of(r->service, sqlite3_column_int64(r->executions, MODEL));
	struct bsa_run_bounds need;
	uint32_t shorter = 0, rest;

	if (!runs || !bsa_usual_runs_bounds(&runs->all, &need))
		return;
	c->need_most = need.most;
	if (runs->all.n < BSA_USUAL_LEAST) {
		c->need_least = need.least;
	} else {
		/*
		 * A whole run that was no shorter than its own, another one for each execution, by when it
		 * was ready; 0: none was. Executions are given up rather where they need long, so all of them
		 * together needed no less than such runs do.
		 */
		while (shorter < runs->n_kept && runs->kept[shorter] < c->run)
			shorter++;
		rest = runs->n_kept - shorter;
		if (rest)
			c->need_least = runs->kept[shorter + (c->ready * UINT64_C(0x9e3779b97f4a7c15) >> 32) % rest];
	}
}

/* A time, on the clock of the replay. */
static uint64_t since_began(const struct service *service, sqlite3_stmt *q, int column)
{
	int64_t at = sqlite3_column_int64(q, column);

	return at > service->began ? (uint64_t)at - (uint64_t)service->began : 0;
}

static bool take_call(struct reading *r, struct bsa_sharing_call *c)
{
	sqlite3_stmt *q = r->executions;
	struct bits_execution b = unpack_execution(sqlite3_column_int64(q, FLAGS));
	int64_t began = sqlite3_column_int64(q, BEGAN), app_id = sqlite3_column_int64(q, APP), *app = NULL;

	/* An execution that was neither ready nor refused for its deadline takes no part. */
	if (!sqlite3_column_int(q, WAS_READY) && b.miss != BSA_MISS_PREDICTED && b.miss != BSA_MISS_ABORTED)
		return false;

	if (!column_is_null(q, APP) && r->n_apps)
		app = bsearch(&app_id, r->apps, r->n_apps, sizeof(app_id), by_id);
	*c = (struct bsa_sharing_call){ .deadline = column_is_null(q, DEADLINE) ? UINT64_MAX
		                                                                : since_began(r->service, q, DEADLINE),
		                        .step = step_of(r),
		                        .usual = column_length(q, USUAL),
		                        .stream = column_length(q, STREAM),
		                        .app = app ? (uint32_t)(app - r->apps) + 1 : 0,
		                        .priority = (uint32_t)b.priority,
		                        .given_up = b.miss == BSA_MISS_PREDICTED || b.miss == BSA_MISS_ABORTED,
		                        .refused = !sqlite3_column_int(q, WAS_READY),
		                        .asked = began >= r->from && began < r->to };
	if (!c->refused && !take_times(r, &b, c))
		return false;
	c->ready = since_began(r->service, q, READY);
	if (c->given_up)
		take_need(r, c);
	c->answered = b.status == BSA_STATUS_NONE && b.path != BSA_PATH_PREPARE && !column_is_null(q, RUN);
	c->left = b.status != BSA_STATUS_NONE && b.miss == BSA_MISS_LATE && b.quality == BSA_QUALITY_COMPLETE &&
	          !c->refused && !column_is_null(q, RUN);
	r->undecided |= r->service->deadlines == DEADLINES_UNKNOWN && c->deadline != UINT64_MAX && !c->answered;
	if (c->refused)
		return true;
	if (r->service->policy == LABEL_policy_native) {
		double ns = column_is_null(q, CPU) ? (double)c->run : (double)column_length(q, CPU);

		/* For a native service: the CPU time of the execution, because it has no lanes. */
		ns = ns < (double)c->run ? ns * r->service->slower : (double)c->run;
		c->run = ns < (double)c->response ? (uint64_t)ns : c->response;
		c->hand = c->hand_most = c->n_hands = 0;
		c->off = 0;
	} else {
		take_hands(r, q, c);
		take_stalls(r, c);
		c->waited -= c->hand < c->waited ? c->hand : c->waited;
	}
	return true;
}

static int next_call(void *arg, struct bsa_sharing_call *ret)
{
	struct reading *r = arg;

	while (!in_order_full(r->order) && r->code == SQLITE_ROW &&
	       (r->code = sqlite3_step(r->executions)) == SQLITE_ROW) {
		struct bsa_sharing_call c;

		if (take_call(r, &c))
			bsa_in_order_put(r->order, &c);
	}
	if (r->code != SQLITE_ROW && r->code != SQLITE_DONE)
		return -1;
	if (!r->order->n)
		return 0;
	r->disorder = !bsa_in_order_take(r->order, ret);
	return r->disorder ? -1 : 1;
}

static int64_t shifted_by(int64_t at, int64_t by)
{
	return at == INT64_MIN || at == INT64_MAX ? at : at + by;
}

static void ask_again(struct reading *r)
{
	const struct service *service = r->service;

	r->order->n = r->order->n_free = 0;
	r->order->latest = 0;
	r->code = SQLITE_ROW;
	r->disorder = r->undecided = false;
	sqlite3_reset(r->executions);
	sqlite3_bind_int64(r->executions, 1, service->trace);
	sqlite3_bind_int64(r->executions, 2, service->instance);
	sqlite3_bind_int64(r->executions, 3, service->only);
	sqlite3_bind_int64(r->executions, 4, shifted_by(r->from, -AROUND_NS));
	sqlite3_bind_int64(r->executions, 5, shifted_by(r->to, AROUND_NS));
	sqlite3_bind_int64(r->executions, 6, LABEL_mode_stalled);
}

/* ---- native ---- */

/* When those that are under way end, the first one first: a heap. */
struct ends {
	uint64_t at[ACTIVE_MOST];
	size_t n;
};

static void take_end(struct ends *e)
{
	uint64_t last;
	size_t i = 0, child;

	assert(e->n > 0);
	last = e->at[--e->n];
	while ((child = 2 * i + 1) < e->n) {
		child += child + 1 < e->n && e->at[child + 1] < e->at[child];
		if (e->at[child] >= last)
			break;
		e->at[i] = e->at[child];
		i = child;
	}
	e->at[i] = last;
}

/*
 * The cpus that a native service kept busy, if they had been its own, over the cpu time that it had of them:
 * so much slower was the machine, for all of its executions.
 */
static int how_much_slower(struct reading *r, struct service *service)
{
	struct ends *e = calloc(1, sizeof(*e));
	double busy = 0, cpu = 0;
	struct bsa_sharing_call c;
	uint64_t now = 0;

	service->slower = 1;
	while (e && next_call(r, &c) == 1 && e->n < ACTIVE_MOST) {
		uint64_t at;
		size_t i;

		for (; e->n && e->at[0] <= c.ready; take_end(e)) {
			busy += (double)(e->at[0] - now) *
			        (double)(e->n < (size_t)service->lanes ? e->n : (size_t)service->lanes);
			now = e->at[0];
		}
		busy += (double)(c.ready - now) *
		        (double)(e->n < (size_t)service->lanes ? e->n : (size_t)service->lanes);
		now = c.ready;
		at = c.ready + c.response;
		assert(e->n < ACTIVE_MOST);
		for (i = e->n++; i && at < e->at[(i - 1) / 2]; i = (i - 1) / 2)
			e->at[i] = e->at[(i - 1) / 2];
		e->at[i] = at;
		cpu += (double)c.run;
	}
	for (; e && e->n; take_end(e)) {
		busy += (double)(e->at[0] - now) *
		        (double)(e->n < (size_t)service->lanes ? e->n : (size_t)service->lanes);
		now = e->at[0];
	}
	if (e && cpu > 0 && busy > cpu)
		service->slower = busy / cpu;
	free(e);
	return r->code == SQLITE_DONE || r->code == SQLITE_ROW ? SQLITE_OK : r->code;
}

/* ---- how soon a lane is left ---- */

static const char stops_sql[] =
	"SELECT x.model_id, count(*), sum(p.stopped - p.asked > ?4), total(p.stopped - p.asked), "
	"total(iif(p.stopped - p.asked > ?4, p.stopped - p.asked, 0)) "
	"FROM stored_preemption p CROSS JOIN stored_unpacked x ON x.id = p.execution_id "
	"WHERE x.trace_id = ?1 AND p.asked IS NOT NULL AND p.stopped IS NOT NULL AND p.mode < ?5 AND (?3 OR "
	"(SELECT s.number >> 20 FROM stored_stream s WHERE s.id = x.stream_id) = ?2) "
	"GROUP BY 1 ORDER BY 1";

/*
 * An execution that is asked to leave its lane while it has no cpu leaves it when it has one again: after
 * half of the time without, in the mean. So the requests show how long that is at a stretch, and how much of
 * the lane time it is.
 */
static int read_stops(struct reading *r, struct service *service)
{
	double all = 0, stalled = 0, stalled_ns = 0;
	size_t room = 0;
	int code;

	sqlite3_reset(r->stops);
	sqlite3_bind_int64(r->stops, 1, service->trace);
	sqlite3_bind_int64(r->stops, 2, service->instance);
	sqlite3_bind_int64(r->stops, 3, service->only);
	sqlite3_bind_int64(r->stops, 4, BSA_LOOK_NS);
	sqlite3_bind_int64(r->stops, 5, LABEL_mode_stalled);
	while ((code = sqlite3_step(r->stops)) == SQLITE_ROW) {
		double n = sqlite3_column_double(r->stops, 1), n_stalled = sqlite3_column_double(r->stops, 2);
		double ns = sqlite3_column_double(r->stops, 3) - sqlite3_column_double(r->stops, 4);

		all += n;
		stalled += n_stalled;
		stalled_ns += sqlite3_column_double(r->stops, 4);
		if (column_is_null(r->stops, 0) || n < STOPS_LEAST || n_stalled > n / 2)
			continue;
		if (!BSA_RESERVE(service->stops, room, service->n_stops + 1, 16))
			return SQLITE_NOMEM;
		service->stops[service->n_stops++] =
			(struct stops){ sqlite3_column_int64(r->stops, 0),
			                (uint64_t)(2 * fmax(ns, 0) / (n - n_stalled)) + 1 };
	}
	if (all < STOPS_LEAST || service->policy == LABEL_policy_native)
		return code == SQLITE_DONE ? SQLITE_OK : code;
	service->stalled = stalled / all;
	service->stall =
		stalled > 0 && stalled_ns / stalled < 1e18 ? (uint64_t)(2 * stalled_ns / stalled) : BSA_LOOK_NS;
	return code == SQLITE_DONE ? SQLITE_OK : code;
}

/* ---- how long a lane is needed ---- */

static const char models_sql[] = "SELECT id, estimate_ns FROM stored_model WHERE trace_id = ?1 AND EXISTS "
				 "(SELECT 1 FROM stored_deadline_miss d WHERE d.trace_id = ?1) ORDER BY id";

static const char runs_sql[] = "SELECT flags, model_id, run_ns - coalesce(redo_ns, 0) FROM stored_unpacked "
			       "WHERE trace_id = ?1 AND model_id IS NOT NULL AND run_ns > 0";

/* False: no memory. */
static bool keep_run(struct runs *runs, uint64_t ns)
{
	if (!runs->kept && !(runs->kept = calloc(RUNS_KEPT, sizeof(*runs->kept))))
		return false;
	if (runs->n_kept == RUNS_KEPT) {
		for (uint32_t i = 0; i < RUNS_KEPT / 2; i++)
			runs->kept[i] = runs->kept[2 * i];
		runs->n_kept = RUNS_KEPT / 2;
		runs->every = runs->every ? 2 * runs->every : 2;
	}
	if (!runs->every || !(runs->all.n % runs->every))
		runs->kept[runs->n_kept++] = ns;
	return true;
}

static int by_length(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* Read how long the executions of each model had a lane, if a deadline was missed. */
static int read_runs(struct reading *r, struct service *service)
{
	size_t room = 0;
	int code;

	sqlite3_reset(r->models);
	sqlite3_bind_int64(r->models, 1, service->trace);
	while ((code = sqlite3_step(r->models)) == SQLITE_ROW) {
		if (!BSA_RESERVE(service->runs, room, service->n_runs + 1, 16))
			return SQLITE_NOMEM;
		service->runs[service->n_runs++] = (struct runs){ .model = sqlite3_column_int64(r->models, 0),
			                                          .all.estimate = column_length(r->models, 1) };
	}
	if (code != SQLITE_DONE || !service->n_runs)
		return code == SQLITE_DONE ? SQLITE_OK : code;

	sqlite3_reset(r->runs);
	sqlite3_bind_int64(r->runs, 1, service->trace);
	while ((code = sqlite3_step(r->runs)) == SQLITE_ROW) {
		struct bits_execution b = unpack_execution(sqlite3_column_int64(r->runs, 0));
		struct runs *runs = runs_of(service, sqlite3_column_int64(r->runs, 1));
		uint64_t ns = column_length(r->runs, 2);

		if (!runs || b.quality != BSA_QUALITY_COMPLETE)
			continue;
		ns = ns < (uint64_t)INT64_MAX / 2 ? ns : (uint64_t)INT64_MAX / 2;
		if (b.status == BSA_STATUS_NONE && !keep_run(runs, ns))
			return SQLITE_NOMEM;
		bsa_usual_runs_add(&runs->all, ns, b.status == BSA_STATUS_NONE);
	}
	for (size_t i = 0; i < service->n_runs; i++)
		if (service->runs[i].n_kept)
			qsort(service->runs[i].kept, service->runs[i].n_kept, sizeof(uint64_t), by_length);
	return code == SQLITE_DONE ? SQLITE_OK : code;
}

/* ---- one service ---- */

static int64_t rounded_ns(double ns)
{
	return ns < 9e18 ? (int64_t)(ns + 0.5) : INT64_MAX;
}

static int report_apps(const struct reading *r, const struct bsa_sharing_app *apps, bsa_shared_call *report, void *ctx)
{
	for (uint32_t i = 0; i < r->n_apps; i++) {
		const struct bsa_sharing_app *a = &apps[i + 1];
		const struct bsa_shared shared = {
			.trace = r->service->trace,
			.instance = r->service->instance,
			.app = r->apps[i],
			.n = (int64_t)a->n,
			.mean_ns = rounded_ns(a->mean_ns),
			.ideal_mean_ns = rounded_ns(a->ideal_mean_ns),
			.p95_ns = (int64_t)a->p95_ns,
			.p95_least_ns = (int64_t)a->p95_least_ns,
			.ideal_p95_ns = (int64_t)a->ideal_p95_ns,
			.work_ns = (int64_t)a->work_ns,
			.ideal_work_ns = (int64_t)a->ideal_work_ns,
			.received_ns = (int64_t)a->received_ns,
			.ideal_mean_without_ns = a->refused_runs ? rounded_ns(a->ideal_mean_without_ns) : 0,
			.ideal_p95_without_ns = a->refused_runs ? (int64_t)a->ideal_p95_without_ns : 0,
			.ideal_work_without_ns = a->refused_runs ? (int64_t)a->ideal_work_without_ns : 0,
			.due = (int64_t)a->due,
			.met = (int64_t)a->met,
			.ideal_met_least = (int64_t)a->ideal_met_least,
			.ideal_met_most = (int64_t)a->ideal_met_most
		};
		int code = a->played ? report(ctx, &shared) : 0;

		if (code)
			return code;
	}
	return 0;
}

static int play_service(struct reading *r, bsa_shared_call *report, void *ctx)
{
	struct bsa_sharing_app *apps = calloc(r->n_apps + (size_t)1, sizeof(*apps));
	/* A native service has no order to replay, and none of its deadlines is judged. */
	const struct bsa_sharing sharing = {
		.lanes = (uint32_t)r->service->lanes,
		.policy = r->service->policy == LABEL_policy_native ? LABEL_policy_fair : (uint32_t)r->service->policy,
		.preempt = (uint32_t)r->service->preempt,
		.deadlines = (uint32_t)(r->service->deadlines == DEADLINES_UNKNOWN ? LABEL_deadlines_advise
		                                                                   : r->service->deadlines),
		.n_apps = r->n_apps + 1,
		.stall = r->service->stall,
		.next = next_call,
		.arg = r
	};
	int code = apps ? SQLITE_OK : SQLITE_NOMEM;

	if (!code && r->service->policy == LABEL_policy_native) {
		ask_again(r);
		code = how_much_slower(r, r->service);
	}
	if (!code && !r->disorder) {
		ask_again(r);
		switch (bsa_sharing_run(&sharing, apps)) {
		case BSA_SHARING_DONE:
			code = r->undecided ? SQLITE_OK : report_apps(r, apps, report, ctx);
			break;
		case BSA_SHARING_NO_MEMORY:
			code = SQLITE_NOMEM;
			break;
		case BSA_SHARING_FAILED:
			code = r->disorder ? SQLITE_OK : r->code;
			break;
		default:
			break; /* a service with more than can be replayed gets no row */
		}
	}
	free(apps);
	return code;
}

/* ---- all of them ---- */

enum { TRACE, INSTANCE, POLICY, PREEMPT, LANES, DEADLINES, DIFFERENT, BESIDE, TRACE_BEGAN, TRACE_ENDED };

static const char services_sql[] =
	"SELECT trace_id, instance, min(policy), min(preempt), min(lanes), iif(count(deadlines) = count(*), "
	"min(deadlines), ?3), "
	"max(policy) <> min(policy) OR max(preempt) <> min(preempt) OR max(lanes) <> min(lanes) "
	"OR max(deadlines) <> min(deadlines), "
	"(SELECT count(DISTINCT o.instance) FROM stored_rules o WHERE o.trace_id = r.trace_id) - 1, "
	"(SELECT t.began FROM trace t WHERE t.id = r.trace_id), (SELECT min(t.ended, ifnull((SELECT min(q.began) FROM "
	"silence q WHERE q.trace_id = t.id AND q.instance = r.instance AND NOT q.went_on), t.ended)) FROM trace t "
	"WHERE t.id = "
	"r.trace_id) "
	"FROM stored_rules r WHERE trace_id >= ?1 GROUP BY 1, 2 ORDER BY 1, 2 LIMIT ?2";

static int play_all(struct reading *r, sqlite3_stmt *services, bsa_shared_call *report, void *ctx)
{
	int code = SQLITE_OK;

	while (!code && (code = sqlite3_step(services)) == SQLITE_ROW) {
		struct service service = { .trace = sqlite3_column_int64(services, TRACE),
			                   .instance = sqlite3_column_int64(services, INSTANCE),
			                   .policy = sqlite3_column_int64(services, POLICY),
			                   .preempt = sqlite3_column_int64(services, PREEMPT),
			                   .lanes = sqlite3_column_int64(services, LANES),
			                   .deadlines = sqlite3_column_int64(services, DEADLINES),
			                   .only = !sqlite3_column_int64(services, BESIDE),
			                   .began = sqlite3_column_int64(services, TRACE_BEGAN),
			                   .ended = sqlite3_column_int64(services, TRACE_ENDED) };

		code = SQLITE_OK;
		if (!sqlite3_column_int64(services, DIFFERENT) && service.lanes >= 1 && service.lanes <= LANES_MOST &&
		    service.policy >= LABEL_policy_fair && service.policy <= LABEL_policy_native &&
		    service.preempt >= LABEL_preempt_none && service.preempt <= LABEL_preempt_save &&
		    service.deadlines >= DEADLINES_UNKNOWN && service.deadlines <= LABEL_deadlines_advise) {
			/* Executions that waited while very many others ended make it sort them all. */
			r->service = &service;
			r->executions = r->stored;
			code = read_stops(r, &service);
			if (!code)
				code = read_runs(r, &service);
			if (!code)
				code = play_service(r, report, ctx);
			if (!code && r->disorder) {
				r->executions = r->sorted;
				r->disorder = false;
				code = play_service(r, report, ctx);
			}
			free(service.stops);
			for (size_t i = 0; i < service.n_runs; i++)
				free(service.runs[i].kept);
			free(service.runs);
		}
	}
	return code == SQLITE_DONE ? 0 : code;
}

int bsa_sharing_of(sqlite3 *sql, int64_t trace, int64_t from, int64_t to, bsa_shared_call *report, void *ctx)
{
	cleanup_stmt sqlite3_stmt *services = NULL;
	struct reading r = { .sql = sql, .from = from, .to = to, .order = calloc(1, sizeof(*r.order)) };
	char sorted[sizeof(stored_sql) + sizeof(sorted_sql)];
	const struct {
		const char *sql;
		sqlite3_stmt **ret;
	} statements[] = {
		{ services_sql, &services }, { stored_sql, &r.stored }, { sorted, &r.sorted },
		{ handed_sql, &r.handed },   { stalls_sql, &r.stalls }, { stops_sql, &r.stops },
		{ models_sql, &r.models },   { runs_sql, &r.runs },
	};
	int code = r.order ? SQLITE_OK : SQLITE_NOMEM;

	snprintf(sorted, sizeof(sorted), "%s%s", stored_sql, sorted_sql);
	for (size_t i = 0; i < sizeof(statements) / sizeof(*statements) && !code; i++)
		code = sqlite3_prepare_v2(sql, statements[i].sql, -1, statements[i].ret, NULL);
	if (!code)
		code = read_apps(&r, trace);
	if (!code && r.n_apps <= APPS_MOST) {
		sqlite3_bind_int64(services, 1, trace);
		sqlite3_bind_int64(services, 2, SERVICES_MOST);
		sqlite3_bind_int64(services, 3, DEADLINES_UNKNOWN);
		code = play_all(&r, services, report, ctx);
	}
	sqlite3_finalize(r.stored);
	sqlite3_finalize(r.sorted);
	sqlite3_finalize(r.handed);
	sqlite3_finalize(r.stalls);
	sqlite3_finalize(r.stops);
	sqlite3_finalize(r.models);
	sqlite3_finalize(r.runs);
	free(r.order);
	free(r.apps);
	return code;
}

static int write_row(void *ctx, const struct bsa_shared *a)
{
	struct bsa_store *s = ctx;

	ROW(s, sharing, .trace_id = a->trace, .instance = a->instance, .app_id = a->app, .n = a->n,
	    .mean_ns = a->n ? a->mean_ns : NOTHING, .ideal_mean_ns = a->n ? a->ideal_mean_ns : NOTHING,
	    .p95_ns = a->n ? a->p95_ns : NOTHING, .p95_least_ns = a->n ? a->p95_least_ns : NOTHING,
	    .ideal_p95_ns = a->n ? a->ideal_p95_ns : NOTHING, .work_ns = a->work_ns, .ideal_work_ns = a->ideal_work_ns,
	    .received_ns = a->received_ns, .n_due = a->due, .n_met = a->met, .ideal_met_least = a->ideal_met_least,
	    .ideal_met_most = a->ideal_met_most,
	    .ideal_mean_without_ns = a->ideal_mean_without_ns ? a->ideal_mean_without_ns : NOTHING,
	    .ideal_p95_without_ns = a->ideal_p95_without_ns ? a->ideal_p95_without_ns : NOTHING,
	    .ideal_work_without_ns = a->ideal_work_without_ns ? a->ideal_work_without_ns : NOTHING);
	return s->code;
}

int bsa_sharing_write(struct bsa_store *s)
{
	int code;

	if (s->code)
		return s->code;
	code = bsa_sharing_of(s->db, (int64_t)s->before + 1, INT64_MIN, INT64_MAX, write_row, s);
	if (code && !s->code)
		return code == SQLITE_NOMEM ? bsa_store_fail(s, BSA_E_ENV, "no memory") : bsa_store_sql_failed(s);
	bsa_batches_flush(s);
	return s->code;
}
