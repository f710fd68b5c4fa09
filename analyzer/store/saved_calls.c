/*
 * saved_calls.c -- executions of one service read back as calls of a replay, what those of a model usually
 * take, and the times of which something is unknown.
 */
#include "store/saved_own.h"

#include <stdlib.h>

enum { HOLES_MOST = 4096 };

#define LONGEST (INT64_C(1) << 56)

enum column {
	ID,
	FLAGS,
	APP,
	MODEL,
	STREAM,
	SUBMITTED,
	DECODED,
	ENQUEUED,
	DISPATCHED,
	ENDED,
	ANSWERED,
	QUEUE,
	RUN,
	PREEMPTED,
	PREEMPTIONS,
	REDO,
	FENCE,
	DEADLINE,
	FLOOR,
	STEP,
	USUAL,
	NAMED,
	FIRST
};

static const char executions_sql[] =
	"WITH instance AS MATERIALIZED (SELECT id, step_ns, estimate_ns, iif(name = '' OR app_id IS NULL, id, "
	"min(id) OVER (PARTITION BY app_id, name)) AS named FROM stored_model WHERE trace_id = ?1) "
	"SELECT x.id, x.flags, x.app_id, x.model_id, x.stream_id, coalesce(x.submitted, x.request_read), x.decoded, "
	"x.enqueued, x.dispatched, coalesce(x.run_ended, d.missed_at), "
	"CASE WHEN x.path = ?4 AND x.signalled IS NOT NULL THEN x.signalled "
	"ELSE coalesce(x.returned, x.result_written, x.signalled, x.run_ended, d.missed_at) END, "
	"x.queue_ns, x.run_ns, x.preempted_ns, x.preemptions, x.redo_ns, x.fence_ns, x.deadline, x.floor_ns, "
	"m.step_ns, m.estimate_ns, m.named, "
	"coalesce(x.enqueued, d.missed_at, x.submitted, x.request_written, x.request_read, x.decoded, x.dispatched, "
	"x.run_ended, x.result_written, x.returned) AS first "
	"FROM stored_unpacked x LEFT JOIN instance m ON m.id = x.model_id "
	"LEFT JOIN stored_missed d ON d.execution_id = x.id "
	"WHERE x.trace_id = ?1 AND first IS NOT NULL AND (?3 OR "
	"(SELECT s.number >> 20 FROM stored_stream s WHERE s.id = x.stream_id) = ?2) ORDER BY first, x.id";

/*
 * An idle lane while it waited is its hand-over only where it ran there next: otherwise it was that of those before
 * it. IN, not EXISTS: SQLite reads the stretches of the execution once, and not again for each of its waits. One that
 * was preempted n times has n of both.
 */
static const char handed_sql[] =
	"SELECT h.dur_ns, h.bits FROM (SELECT w.began + w.dur_ns AS ended, w.dur_ns, w.bits FROM stored_wait w "
	"WHERE w.execution_id = ?1 UNION ALL "
	"SELECT min(r.began + r.dur_ns, o.began + o.dur_ns), "
	"min(r.began + r.dur_ns, o.began + o.dur_ns) - max(r.began, o.began), NULL FROM "
	"stored_wait_run r CROSS JOIN stored_occupancy o ON o.id BETWEEN r.first_id AND r.last_id "
	"WHERE r.execution_id = ?1 AND o.occupancy = ?2) h "
	"WHERE h.ended = ?3 OR h.ended IN (SELECT s.began FROM stored_slice s WHERE s.execution_id = ?1)";

static uint64_t duration_between(int64_t from, int64_t to)
{
	return to > from && to - from < LONGEST ? (uint64_t)(to - from) : 0;
}

static bool is_length(sqlite3_stmt *q, int column)
{
	return !column_is_null(q, column) && bsa_saved_column_integer(q, column) >= 0 &&
	       bsa_saved_column_integer(q, column) < LONGEST;
}

/* Times are compared as unsigned numbers in a replay. */
static bool is_time(sqlite3_stmt *q, int column)
{
	return !column_is_null(q, column) && bsa_saved_column_integer(q, column) >= 0 &&
	       bsa_saved_column_integer(q, column) < MOST / 2;
}

struct bsa_saved_usual *bsa_saved_usual_of(struct bsa_saved *v, uint32_t model)
{
	for (size_t i = 0; i < v->n_usual; i++)
		if (v->usual[i].model == model)
			return &v->usual[i];
	if (v->n_usual == MODELS_MOST)
		return NULL;
	v->usual[v->n_usual] = (struct bsa_saved_usual){ .model = model, .answer_least = UINT64_MAX };
	return &v->usual[v->n_usual++];
}

static void learn_usual(struct bsa_saved_usual *u, uint64_t run, uint64_t answer)
{
	bsa_usual_runs_add(&u->runs, run, true);
	u->answer_least = answer < u->answer_least ? answer : u->answer_least;
	u->answer_most = answer > u->answer_most ? answer : u->answer_most;
}

static void take_times(const struct bsa_saved *v, sqlite3_stmt *q, struct bsa_saved_kept *k)
{
	struct bsa_without_call *c = &k->call;
	int64_t ready = column_is_null(q, ENQUEUED) ? bsa_saved_column_integer(q, ENDED)
	                                            : bsa_saved_column_integer(q, ENQUEUED);
	int64_t looked = column_is_null(q, DECODED) ? ready : bsa_saved_column_integer(q, DECODED);
	uint64_t usual = is_length(q, USUAL) ? (uint64_t)bsa_saved_column_integer(q, USUAL) : 0;

	if (column_is_null(q, ENQUEUED)) /* refused */
		looked = ready;
	c->submitted = (uint64_t)bsa_saved_column_integer(q, SUBMITTED);
	c->send = duration_between(bsa_saved_column_integer(q, SUBMITTED), looked);
	c->ready = duration_between(looked, ready);
	c->run = is_length(q, RUN) ? (uint64_t)bsa_saved_column_integer(q, RUN) : 0;
	if (is_length(q, REDO))
		c->run -= (uint64_t)bsa_saved_column_integer(q, REDO) < c->run
		                  ? (uint64_t)bsa_saved_column_integer(q, REDO)
		                  : c->run;
	c->step = is_length(q, STEP) ? (uint64_t)bsa_saved_column_integer(q, STEP) : 0;
	if (!c->step && v->world.preempt == LABEL_preempt_save)
		c->step = BSA_LOOK_NS;
	if (usual && c->run > usual) /* a step takes longer where the run did */
		c->step = (uint64_t)((double)c->step * ((double)c->run / (double)usual));
	c->ended = (uint64_t)bsa_saved_column_integer(q, ENDED);
	c->answered = (uint64_t)bsa_saved_column_integer(q, ANSWERED);
	c->answer = c->answer_most = c->fail =
		duration_between(bsa_saved_column_integer(q, ENDED), bsa_saved_column_integer(q, ANSWERED));
	c->run_most = c->served ? c->run : BSA_WITHOUT_UNKNOWN;
	c->ran = c->served || c->waited ? 0 : c->run;
	if (!c->served)
		c->run += c->step ? c->run / c->step + 2 : 2;
	k->bad |= c->submitted + c->send + c->ready != (uint64_t)ready || c->answered < c->ended;
}

int64_t bsa_saved_take_call(struct bsa_saved *v, sqlite3_stmt *q, struct bsa_saved_kept *k)
{
	static const int times[] = { SUBMITTED, DECODED, ENQUEUED, DISPATCHED, ENDED, ANSWERED };
	struct bits_execution b = unpack_execution(bsa_saved_column_integer(q, FLAGS));
	bool refused = column_is_null(q, ENQUEUED) && b.miss != BSA_MISS_NONE,
	     whole = b.quality == BSA_QUALITY_COMPLETE;
	uint64_t stream = (uint64_t)bsa_saved_column_integer(q, STREAM);
	struct bsa_saved_usual *u;

	/*
	 * Calls of one thread are those of a burst or, without a burst, of an app and a model: one_model of the
	 * world.
	 */
	if (column_is_null(q, STREAM))
		stream = UINT64_C(1) << 63 | (uint64_t)bsa_saved_column_integer(q, APP) << 34 |
		         (uint64_t)bsa_saved_column_integer(q, MODEL) << 3 | ((uint64_t)b.path & 7);

	*k = (struct bsa_saved_kept){
		.call = { .id = (uint64_t)bsa_saved_column_integer(q, ID),
		          .stream = stream,
		          .app = (uint32_t)bsa_saved_column_integer(q, APP),
		          .model = (uint32_t)bsa_saved_column_integer(q, MODEL),
		          .priority = (uint32_t)b.priority,
		          .served = b.status == BSA_STATUS_NONE,
		          .refused = refused,
		          .deadline = column_is_null(q, DEADLINE) ? BSA_WITHOUT_UNKNOWN
		                                                  : (uint64_t)bsa_saved_column_integer(q, DEADLINE),
		          .least = is_length(q, FLOOR) ? (uint64_t)bsa_saved_column_integer(q, FLOOR) : 0,
		          .submitted = (uint64_t)bsa_saved_column_integer(q, FIRST) },
		.over = column_is_null(q, ENDED) ? INT64_MAX : bsa_saved_column_integer(q, ENDED),
		.asked = bsa_saved_asked_of(v, (uint64_t)bsa_saved_column_integer(q, ID)),
		.dispatched = column_is_null(q, DISPATCHED) ? NOTHING : bsa_saved_column_integer(q, DISPATCHED),
		.gap_from = INT64_MAX,
		.even_from = INT64_MAX,
		.named = (uint32_t)bsa_saved_column_integer(q, NAMED),
		.idle = b.idle,
		.enqueued = !column_is_null(q, ENQUEUED),
		.queue = is_length(q, QUEUE) ? bsa_saved_column_integer(q, QUEUE) : 0,
		.preempted = is_length(q, PREEMPTED) ? bsa_saved_column_integer(q, PREEMPTED) : 0,
		.preemptions = is_length(q, PREEMPTIONS) ? bsa_saved_column_integer(q, PREEMPTIONS) : 0
	};
	k->call.waits = b.path == LABEL_path_burst && !column_is_null(q, STREAM);
	k->call.waited = !k->call.served && !column_is_null(q, ENQUEUED) && column_is_null(q, DISPATCHED);
	k->bad = !whole || b.priority == ALL_execution_priority || column_is_null(q, APP) || !is_time(q, SUBMITTED) ||
	         !is_time(q, ENDED) || !is_time(q, ANSWERED) ||
	         (column_is_null(q, ENQUEUED) ? !refused : !is_time(q, ENQUEUED)) ||
	         (!column_is_null(q, DEADLINE) && !is_time(q, DEADLINE)) ||
	         (is_length(q, FENCE) && bsa_saved_column_integer(q, FENCE) && !b.fence_free) ||
	         (k->call.served && column_is_null(q, RUN)) || (k->dispatched != NOTHING && !is_time(q, DISPATCHED));

	/* A trial run when a model is prepared is whole, but was not submitted: it has fewer times. */
	k->first = whole ? bsa_saved_column_integer(q, FIRST) : INT64_MIN;
	k->last = whole ? bsa_saved_column_integer(q, FIRST) : INT64_MAX;
	for (size_t i = 0; whole && i < sizeof(times) / sizeof(*times); i++) {
		int64_t at = column_is_null(q, times[i]) ? k->first : bsa_saved_column_integer(q, times[i]);

		k->first = at < k->first ? at : k->first;
		k->last = at > k->last ? at : k->last;
	}
	if (!k->bad)
		take_times(v, q, k);

	/*
	 * A refused one does not report what the service expected it to take at least: as much as the
	 * one of its model before it.
	 */
	u = bsa_saved_usual_of(v, k->call.model);
	if (u && k->call.least)
		u->floor = k->call.least;
	else if (u)
		k->call.least = u->floor;
	return bsa_saved_column_integer(q, FIRST);
}

void bsa_saved_find_hand(struct bsa_saved *v, struct bsa_saved_kept *k)
{
	int64_t ns = k->idle ? k->queue : 0, until = k->dispatched == NOTHING ? k->over : k->dispatched;

	k->handed = true;
	if (k->preempted || (!k->idle && k->queue)) {
		sqlite3_reset(v->handed);
		sqlite3_bind_int64(v->handed, 1, (int64_t)k->call.id);
		sqlite3_bind_int64(v->handed, 2, BSA_IDLE);
		sqlite3_bind_int64(v->handed, 3, until);
		while (bsa_store_step(v->s, v->handed))
			if (column_is_null(v->handed, 1) ||
			    unpack_wait(bsa_saved_column_integer(v->handed, 1)).occupancy == BSA_IDLE)
				ns += is_length(v->handed, 0) ? bsa_saved_column_integer(v->handed, 0) : 0;
	}
	k->call.hand = (uint64_t)(ns / (k->preemptions + 1));
	k->call.hand_less = k->idle ? duration_between(k->queue, (int64_t)k->call.hand) : k->call.hand;
	if (k->dispatched != NOTHING || !ns)
		return;
	/* It was given up while a lane was idle, which may have been its own: its thread did not come in time. */
	k->call.absent = true;
	k->call.waited = false;
}

bool bsa_saved_is_in_hole(const struct bsa_saved *v, int64_t began, int64_t ended, bool losses_only)
{
	for (size_t i = 0; i < v->n_holes; i++)
		if ((v->holes[i].is_loss || !losses_only) && v->holes[i].began <= ended && v->holes[i].ended >= began)
			return true;
	return !v->holes_known;
}

/* A hole is another service's if the execution, or the app, that it is about is. Otherwise it may be of any service. */
static void read_holes(struct bsa_saved *v, bool only)
{
	cleanup_stmt sqlite3_stmt *q = bsa_store_prepare(
		v->s, "SELECT coalesce(began, ?3), coalesce(ended, ?4), 1 FROM stored_loss WHERE trace_id = ?1 "
		      "UNION ALL SELECT coalesce(l.began, ?3), coalesce(l.ended, ?4), 0 FROM unknown_lane l "
		      "LEFT JOIN stored_execution x ON x.id = l.execution_id "
		      "WHERE l.instance = ?2 AND coalesce(x.trace_id, ?1) = ?1 "
		      "UNION ALL SELECT coalesce(p.began, ?3), coalesce(p.ended, ?4), 0 FROM possible_wait p "
		      "LEFT JOIN stored_execution x ON x.id = p.execution_id LEFT JOIN app a ON a.id = p.app_id "
		      "LEFT JOIN stored_stream s ON s.id = x.stream_id "
		      "WHERE coalesce(x.trace_id, a.trace_id, ?1) = ?1 AND (?5 OR coalesce(s.number >> 20, ?2) = ?2)");

	v->n_holes = 0;
	v->holes_known = true;
	if (!q)
		return;
	sqlite3_bind_int64(q, 1, v->trace);
	sqlite3_bind_int64(q, 2, v->instance);
	sqlite3_bind_int64(q, 3, INT64_MIN);
	sqlite3_bind_int64(q, 4, INT64_MAX);
	sqlite3_bind_int64(q, 5, only);
	while (bsa_store_step(v->s, q)) {
		if (v->n_holes == HOLES_MOST) {
			v->holes_known = false;
			return;
		}
		v->holes[v->n_holes++] =
			(struct bsa_saved_hole){ bsa_saved_column_integer(q, 0), bsa_saved_column_integer(q, 1),
			                         bsa_saved_column_integer(q, 2) };
	}
}

static void learn_models(struct bsa_saved *v)
{
	/* The service's estimates from when models were prepared. */
	cleanup_stmt sqlite3_stmt *trials =
		bsa_store_prepare(v->s, "SELECT id, estimate_ns FROM stored_model WHERE trace_id = ?1");
	/* How long before their deadlines executions are submitted; known where one was submitted too late. */
	cleanup_stmt sqlite3_stmt *budgets =
		bsa_store_prepare(v->s, "SELECT model_id, max(p50_ns) FROM stored_usual_budget GROUP BY model_id");
	/* Whole runs, and the answers to them. */
	cleanup_stmt sqlite3_stmt *q = bsa_store_prepare(
		v->s, "SELECT flags, model_id, run_ns - coalesce(redo_ns, 0), "
		      "CASE WHEN path = ?2 AND signalled IS NOT NULL THEN signalled "
		      "ELSE coalesce(returned, result_written, signalled) END - run_ended FROM stored_unpacked "
		      "WHERE trace_id = ?1 AND model_id IS NOT NULL AND run_ns IS NOT NULL AND run_ended IS NOT NULL");
	struct bsa_saved_usual *u;

	v->n_usual = 0;
	v->any = (struct bsa_saved_usual){ .answer_least = UINT64_MAX };
	if (!q || !trials || !budgets)
		return;
	sqlite3_bind_int64(q, 1, v->trace);
	sqlite3_bind_int64(q, 2, LABEL_path_fenced);
	while (bsa_store_step(v->s, q)) {
		struct bits_execution b = unpack_execution(bsa_saved_column_integer(q, 0));

		if (b.quality != BSA_QUALITY_COMPLETE || !is_length(q, 2))
			continue;
		u = bsa_saved_usual_of(v, (uint32_t)bsa_saved_column_integer(q, 1));
		if (u && b.status != BSA_STATUS_NONE)
			bsa_usual_runs_add(&u->runs, (uint64_t)bsa_saved_column_integer(q, 2), false);
		if (b.status != BSA_STATUS_NONE || !is_length(q, 3))
			continue;
		if (u)
			learn_usual(u, (uint64_t)bsa_saved_column_integer(q, 2),
			            (uint64_t)bsa_saved_column_integer(q, 3));
		learn_usual(&v->any, (uint64_t)bsa_saved_column_integer(q, 2),
		            (uint64_t)bsa_saved_column_integer(q, 3));
	}

	sqlite3_bind_int64(trials, 1, v->trace);
	while (bsa_store_step(v->s, trials)) {
		u = is_length(trials, 1) ? bsa_saved_usual_of(v, (uint32_t)bsa_saved_column_integer(trials, 0)) : NULL;
		if (u)
			u->runs.estimate = (uint64_t)bsa_saved_column_integer(trials, 1);
	}

	while (bsa_store_step(v->s, budgets)) {
		u = is_length(budgets, 1) ? bsa_saved_usual_of(v, (uint32_t)bsa_saved_column_integer(budgets, 0))
		                          : NULL;
		if (u)
			u->budget = bsa_saved_column_integer(budgets, 1);
	}
}

void bsa_saved_calls_open(struct bsa_saved *v)
{
	v->holes = calloc(HOLES_MOST, sizeof(*v->holes));
	if (!v->holes)
		bsa_saved_no_memory(v);
	v->handed = bsa_store_prepare(v->s, handed_sql);
}

sqlite3_stmt *bsa_saved_calls_of_service(struct bsa_saved *v, bool only)
{
	sqlite3_stmt *q;

	read_holes(v, only);
	learn_models(v);
	q = bsa_store_prepare(v->s, executions_sql);
	if (!q)
		return NULL;
	sqlite3_bind_int64(q, 1, v->trace);
	sqlite3_bind_int64(q, 2, v->instance);
	sqlite3_bind_int64(q, 3, only);
	sqlite3_bind_int64(q, 4, LABEL_path_fenced);
	return q;
}
