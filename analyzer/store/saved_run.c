/*
 * saved_run.c -- chooses a sample of the missed deadlines, reads the executions around each back,
 * and replays them.
 *
 * SAMPLE   Rows of at most SAVED_MISSES_MOST misses are kept while blame_run.c writes them. Then the
 *          executions of each service are read once, in the order in which they asked for a lane, and each
 *          miss of the sample is replayed when its window is complete.
 * COST     All replays together may play CALLS_FREE calls, and one more for each execution of the import.
 *          Each miss may use its part of that, and what those before it left. Questions that are too
 *          expensive stay unanswered: NULL.
 * LATE     Of a miss that was submitted too late the call before in its stream is looked at, whether all apps
 *          stood still, and whether it would have met its deadline if its thread had not waited for a cpu
 *          before: late_start.
 * MODELS   An app may prepare a model more than once. These instances share a name, and to a reader they are
 *          one model: a replay without a model leaves out all of them, and the first of them, which has the
 *          smallest id, stands for them.
 * UNKNOWN  A window is not replayed where an event of it may have been lost, an execution of it is not
 *          complete or waited for fences, the rules of the service changed, or it would have more than
 *          BSA_WITHOUT_CALLS_MOST calls. Nor are those of services beyond the first SERVICES_MOST, by trace
 *          and instance.
 */
#include "store/saved_run.h"

#include "base/vector.h"
#include "replay/without.h"
#include "store/numbers.h"
#include "store/own.h"
#include "store/usual_runs.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum {
	CALLS_FREE = 3000000,
	KEPT_MOST = 4 * BSA_WITHOUT_CALLS_MOST,
	IDLE_FAR = 64,   /* calls: a window that begins while others are there is rather taken than a longer one */
	BUSY_MOST = 512, /* calls before the missed one that such a window has at most */
	HOLES_MOST = 4096,
	SERVICES_MOST = 16,
	LANES_MOST = 64,
	CULPRITS_MOST = 16, /* apps and models of one miss */
	MODELS_MOST = 256,
	APPS_MOST = 1 << 16,
};

#define STOOD_LEAST INT64_C(1000000) /* a shorter time without any event is nothing unusual */
#define AHEAD_NS 2000000             /* time after a miss that is replayed, too */
#define LEAD_MOST INT64_C(50000000)  /* by which it is asked what an earlier submission would have changed */
#define LONGEST (INT64_C(1) << 56)

/* The question of a row: the miss without part of a cause, or without a culprit. */
struct asked_row {
	uint64_t culprit;
	uint32_t app;
	uint8_t cause;
	int8_t saved;
	bool is_whole; /* its parts cover all of it */
	int64_t late, part[BSA_PARTS];
};

struct asked {
	uint64_t id, lateness;  /* lateness 0: it was given up, or its client left it */
	struct asked_row *rows; /* owned */
	size_t n;
	/* of a refusal: the execution that may be the culprit of its row of @queue_cause, which has none; 0:
	 * there is no such execution */
	uint64_t queue;
	uint32_t queue_app;
	uint8_t queue_cause;
	bool submitted_late; /* its primary cause */
	bool has_start;      /* submitted_late: a row of late_start has what held its thread up */
	int64_t delay,
		/* how long its thread waited for a cpu since its call before, and how long ago that was; NOTHING:
		 * unknown */
		gap;
	int64_t lead;    /* submitted earlier by less, it would have been too late, too */
	int64_t planned; /* when it should have been submitted; NOTHING: unknown, or not looked for */
	int64_t held; /* for how long after that its thread had not returned from its call before; NOTHING: unknown */
	/* at most so long no other call had an event, since its thread's call before; NOTHING: unknown */
	int64_t silent;
	int64_t asked_lead; /* by how much earlier a replay was asked; 0: it was not */
	int met;            /* result of the replay; -1: not replayed */
	uint8_t outcome;    /* LABEL_replay_ */
};

struct kept {
	struct bsa_without_call call;
	int64_t dispatched,
		gap_from; /* gap_from: the lanes were idle from then until it was ready; INT64_MAX: they were not */
	/* since the last long pause of all apps, which began then, no call has waited; INT64_MAX: unknown */
	int64_t even_from;
	int64_t over, until; /* upper bound of the end of its lane time or wait; the same over all earlier calls */
	uint32_t asked;      /* the number of its question, from 1; 0: not asked */
	int64_t first, last; /* time of its events; where some may not be there: INT64_MIN and INT64_MAX */
	bool bad, idle, handed;
	/* the smallest id of the models of its app, in its trace, that have its name */
	uint32_t named;
	int64_t queue, preempted, preemptions;
};

struct hole {
	int64_t began, ended;
	bool is_loss; /* otherwise it is the waits, or the holder of a lane, that are not known */
};

/* The runs of a model, and the range of the answers to whole ones. */
struct usual {
	uint32_t model;
	/* the service's latest estimate of the least lane time; 0: no execution reported one */
	uint64_t floor;
	struct bsa_usual_runs runs;
	uint64_t answer_least, answer_most;
	int64_t budget; /* the time that its executions usually have until their deadlines; 0: unknown */
};

struct waiting {
	size_t call, first; /* indices in kept, counted from the first call ever */
	int64_t begins, horizon;
	int64_t observed_from; /* nothing may be lost since then */
	int64_t waited_from;   /* busy: before the first that waited when it begins was ready */
	bool busy;             /* calls were there when it begins */
};

struct saved {
	struct bsa_store *s;
	uint64_t every, seen;
	struct asked *asked; /* owned, by id */
	size_t n, room;

	struct kept *kept;
	size_t n_kept, base; /* base: so many were kept before the first one that is */
	struct waiting *waiting;
	size_t n_waiting;
	int64_t until;                        /* lanes are busy */
	int64_t began;                        /* begin of the recording */
	int64_t even_from;                    /* as of the last call */
	int64_t last;                         /* the last answer */
	struct usual usual[MODELS_MOST], any; /* any: of all models; its runs are of no interest */
	size_t n_usual;
	struct hole *holes;
	size_t n_holes;
	bool holes_known;
	struct bsa_without_call *window;
	struct bsa_without_world world;
	sqlite3_stmt *handed, *update, *name, *stopped;
	int64_t trace, instance; /* the service that is replayed */
	uint64_t played, allowed, each;
	uint64_t *ids;
};

/* ---- the sample ---- */

struct saved *bsa_saved_new(struct bsa_store *s, uint64_t misses)
{
	struct saved *v = calloc(1, sizeof(*v));

	if (!v) {
		bsa_store_fail(s, BSA_E_ENV, "no memory");
		return NULL;
	}
	v->s = s;
	v->every = misses / SAVED_MISSES_MOST + (misses % SAVED_MISSES_MOST != 0);
	return v;
}

struct saved *bsa_saved_free(struct saved *v)
{
	for (size_t i = 0; v && i < v->n; i++)
		free(v->asked[i].rows);
	if (v) {
		free(v->asked);
		free(v->kept);
		free(v->waiting);
		free(v->holes);
		free(v->window);
		free(v->ids);
		sqlite3_finalize(v->handed);
		sqlite3_finalize(v->update);
		sqlite3_finalize(v->name);
		sqlite3_finalize(v->stopped);
		free(v);
	}
	return NULL;
}

static void saved_no_memory(struct saved *v)
{
	bsa_store_fail(v->s, BSA_E_ENV, "no memory");
}

static struct asked_row asked_row(const struct bsa_blamed *b)
{
	struct asked_row r = {
		.culprit = b->culprit, .app = b->culprit_app, .cause = b->cause, .saved = b->saved, .late = b->late_ns
	};
	int64_t sum = 0;

	for (int part = 0; part < BSA_PARTS; part++) {
		sum += b->part[part];
		r.part[part] = b->part[part] > 0 ? b->part[part] : 0;
	}
	r.is_whole = b->culprit ? true : sum == b->late_ns && !b->culprit_app;
	return r;
}

void bsa_saved_ask(struct saved *v, const struct bsa_execution *x, const struct bsa_refused *refused,
                   const struct bsa_blamed *rows, size_t n)
{
	struct asked *a;

	if (v->seen++ % (v->every ? v->every : 1) || !x->deadline || v->s->code)
		return;
	if (!BSA_RESERVE(v->asked, v->room, v->n + 1, 16)) {
		saved_no_memory(v);
		return;
	}
	a = &v->asked[v->n];
	*a = (struct asked){ .id = x->id,
		             .lateness = x->miss == BSA_MISS_LATE && x->status == BSA_STATUS_NONE && x->lateness > 0
		                                 ? (uint64_t)x->lateness
		                                 : 0,
		             .rows = calloc(n + 1, sizeof(*a->rows)),
		             .delay = x->submit_turns ? sql_ns(x->submit_delay) : NOTHING,
		             .gap = x->submit_turns ? sql_ns(x->submit_gap) : NOTHING,
		             .planned = NOTHING,
		             .held = NOTHING,
		             .silent = NOTHING,
		             .met = -1,
		             .outcome = LABEL_replay_service };
	if (!a->rows) {
		saved_no_memory(v);
		return;
	}
	for (; a->n < n; a->n++) {
		a->rows[a->n] = asked_row(&rows[a->n]);
		a->submitted_late |= rows[a->n].is_primary && rows[a->n].cause == BSA_SUBMITTED_LATE;
		a->lead = rows[a->n].cause == BSA_SUBMITTED_LATE ? rows[a->n].lead_ns : a->lead;
	}
	if (refused) {
		a->queue = refused->queue;
		a->queue_app = refused->queue_app;
		a->queue_cause = refused->queue_cause;
	}
	v->n++;
}

static int by_id(const void *a, const void *b)
{
	const struct asked *x = a, *y = b;

	return x->id < y->id ? -1 : x->id > y->id;
}

/* ---- executions ---- */

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

static const char update_sql[] = "UPDATE stored_miss_cause SET saved = ?3 WHERE execution_id = ?1 AND nth = ?2";

static const char name_sql[] = "UPDATE stored_miss_cause SET culprit_execution_id = ?3, culprit_app_id = ?4 "
			       "WHERE execution_id = ?1 AND nth = ?2";

static const char stopped_sql[] = "SELECT 1 FROM silence WHERE went_on AND trace_id = ?1 AND instance = ?2 "
				  "AND coalesce(heard, began) < ?3 AND ended > ?4 LIMIT 1";

static int64_t column_integer(sqlite3_stmt *q, int column)
{
	return sqlite3_column_int64(q, column);
}

static uint64_t duration_between(int64_t from, int64_t to)
{
	return to > from && to - from < LONGEST ? (uint64_t)(to - from) : 0;
}

static bool is_length(sqlite3_stmt *q, int column)
{
	return !column_is_null(q, column) && column_integer(q, column) >= 0 && column_integer(q, column) < LONGEST;
}

/* Times are compared as unsigned numbers in a replay. */
static bool is_time(sqlite3_stmt *q, int column)
{
	return !column_is_null(q, column) && column_integer(q, column) >= 0 && column_integer(q, column) < MOST / 2;
}

static struct usual *usual_of(struct saved *v, uint32_t model)
{
	for (size_t i = 0; i < v->n_usual; i++)
		if (v->usual[i].model == model)
			return &v->usual[i];
	if (v->n_usual == MODELS_MOST)
		return NULL;
	v->usual[v->n_usual] = (struct usual){ .model = model, .answer_least = UINT64_MAX };
	return &v->usual[v->n_usual++];
}

static void learn_usual(struct usual *u, uint64_t run, uint64_t answer)
{
	bsa_usual_runs_add(&u->runs, run, true);
	u->answer_least = answer < u->answer_least ? answer : u->answer_least;
	u->answer_most = answer > u->answer_most ? answer : u->answer_most;
}

static void take_times(const struct saved *v, sqlite3_stmt *q, struct kept *k)
{
	struct bsa_without_call *c = &k->call;
	int64_t ready = column_is_null(q, ENQUEUED) ? column_integer(q, ENDED) : column_integer(q, ENQUEUED);
	int64_t looked = column_is_null(q, DECODED) ? ready : column_integer(q, DECODED);
	uint64_t usual = is_length(q, USUAL) ? (uint64_t)column_integer(q, USUAL) : 0;

	if (column_is_null(q, ENQUEUED)) /* refused */
		looked = ready;
	c->submitted = (uint64_t)column_integer(q, SUBMITTED);
	c->send = duration_between(column_integer(q, SUBMITTED), looked);
	c->ready = duration_between(looked, ready);
	c->run = is_length(q, RUN) ? (uint64_t)column_integer(q, RUN) : 0;
	if (is_length(q, REDO))
		c->run -= (uint64_t)column_integer(q, REDO) < c->run ? (uint64_t)column_integer(q, REDO) : c->run;
	c->step = is_length(q, STEP) ? (uint64_t)column_integer(q, STEP) : 0;
	if (!c->step && v->world.preempt == LABEL_preempt_save)
		c->step = BSA_LOOK_NS;
	if (usual && c->run > usual) /* a step takes longer where the run did */
		c->step = (uint64_t)((double)c->step * ((double)c->run / (double)usual));
	c->ended = (uint64_t)column_integer(q, ENDED);
	c->answered = (uint64_t)column_integer(q, ANSWERED);
	c->answer = c->answer_most = c->fail = duration_between(column_integer(q, ENDED), column_integer(q, ANSWERED));
	c->run_most = c->served ? c->run : BSA_WITHOUT_UNKNOWN;
	c->ran = c->served || c->waited ? 0 : c->run;
	if (!c->served)
		c->run += c->step ? c->run / c->step + 2 : 2;
	k->bad |= c->submitted + c->send + c->ready != (uint64_t)ready || c->answered < c->ended;
}

static void take_call(const struct saved *v, sqlite3_stmt *q, struct kept *k)
{
	static const int times[] = { SUBMITTED, DECODED, ENQUEUED, DISPATCHED, ENDED, ANSWERED };
	struct bits_execution b = unpack_execution(column_integer(q, FLAGS));
	bool refused = column_is_null(q, ENQUEUED) && b.miss != BSA_MISS_NONE,
	     whole = b.quality == BSA_QUALITY_COMPLETE;
	struct asked key = { .id = (uint64_t)column_integer(q, ID) };
	const struct asked *asked = v->n ? bsearch(&key, v->asked, v->n, sizeof(key), by_id) : NULL;
	uint64_t stream = (uint64_t)column_integer(q, STREAM);

	/* Calls of one thread are those of a burst or, without a burst, of an app and a model. */
	if (column_is_null(q, STREAM))
		stream = UINT64_C(1) << 63 | (uint64_t)column_integer(q, APP) << 34 |
		         (uint64_t)column_integer(q, MODEL) << 3 | ((uint64_t)b.path & 7);

	*k = (struct kept){ .call = { .id = (uint64_t)column_integer(q, ID),
		                      .stream = stream,
		                      .app = (uint32_t)column_integer(q, APP),
		                      .model = (uint32_t)column_integer(q, MODEL),
		                      .priority = (uint32_t)b.priority,
		                      .served = b.status == BSA_STATUS_NONE,
		                      .deadline = column_is_null(q, DEADLINE) ? BSA_WITHOUT_UNKNOWN
		                                                              : (uint64_t)column_integer(q, DEADLINE),
		                      .least = is_length(q, FLOOR) ? (uint64_t)column_integer(q, FLOOR) : 0,
		                      .submitted = (uint64_t)column_integer(q, FIRST) },
		            .asked = asked ? (uint32_t)(asked - v->asked) + 1 : 0,
		            .dispatched = column_is_null(q, DISPATCHED) ? NOTHING : column_integer(q, DISPATCHED),
		            .gap_from = INT64_MAX,
		            .even_from = INT64_MAX,
		            .named = (uint32_t)column_integer(q, NAMED),
		            .idle = b.idle,
		            .queue = is_length(q, QUEUE) ? column_integer(q, QUEUE) : 0,
		            .preempted = is_length(q, PREEMPTED) ? column_integer(q, PREEMPTED) : 0,
		            .preemptions = is_length(q, PREEMPTIONS) ? column_integer(q, PREEMPTIONS) : 0 };
	k->call.waits = b.path == LABEL_path_burst && !column_is_null(q, STREAM);
	k->call.waited = !k->call.served && !column_is_null(q, ENQUEUED) && column_is_null(q, DISPATCHED);
	k->bad = !whole || b.priority == ALL_execution_priority || column_is_null(q, APP) || !is_time(q, SUBMITTED) ||
	         !is_time(q, ENDED) || !is_time(q, ANSWERED) ||
	         (column_is_null(q, ENQUEUED) ? !refused : !is_time(q, ENQUEUED)) ||
	         (!column_is_null(q, DEADLINE) && !is_time(q, DEADLINE)) ||
	         (is_length(q, FENCE) && column_integer(q, FENCE) && !b.fence_free) ||
	         (k->call.served && column_is_null(q, RUN)) || (k->dispatched != NOTHING && !is_time(q, DISPATCHED));

	/* A trial run when a model is prepared is whole, but was not submitted: it has fewer times. */
	k->first = whole ? column_integer(q, FIRST) : INT64_MIN;
	k->last = whole ? column_integer(q, FIRST) : INT64_MAX;
	for (size_t i = 0; whole && i < sizeof(times) / sizeof(*times); i++) {
		int64_t at = column_is_null(q, times[i]) ? k->first : column_integer(q, times[i]);

		k->first = at < k->first ? at : k->first;
		k->last = at > k->last ? at : k->last;
	}
	if (!k->bad)
		take_times(v, q, k);
}

/* From when it was given a lane that was idle until it ran there, each time. */
static void find_hand(struct saved *v, struct kept *k)
{
	int64_t ns = k->idle ? k->queue : 0;

	k->handed = true;
	if (k->dispatched == NOTHING)
		return;
	if (k->preempted || (!k->idle && k->queue)) {
		sqlite3_reset(v->handed);
		sqlite3_bind_int64(v->handed, 1, (int64_t)k->call.id);
		sqlite3_bind_int64(v->handed, 2, BSA_IDLE);
		sqlite3_bind_int64(v->handed, 3, k->dispatched);
		while (bsa_store_step(v->s, v->handed))
			if (column_is_null(v->handed, 1) ||
			    unpack_wait(column_integer(v->handed, 1)).occupancy == BSA_IDLE)
				ns += is_length(v->handed, 0) ? column_integer(v->handed, 0) : 0;
	}
	k->call.hand = (uint64_t)(ns / (k->preemptions + 1));
	k->call.hand_less = k->idle ? duration_between(k->queue, (int64_t)k->call.hand) : k->call.hand;
}

/* ---- one window ---- */

static int64_t ready_of(const struct kept *k)
{
	return (int64_t)(k->call.submitted + k->call.send + k->call.ready);
}

/* Whether the call waited or had a lane at @at. */
static bool is_there(const struct kept *k, int64_t at)
{
	return k->over >= at && (k->bad || ready_of(k) < at);
}

static struct kept *kept_at(const struct saved *v, size_t number)
{
	assert(number >= v->base && number - v->base < v->n_kept);
	return &v->kept[number - v->base];
}

static bool is_in_hole(const struct saved *v, int64_t began, int64_t ended, bool losses_only)
{
	for (size_t i = 0; i < v->n_holes; i++)
		if ((v->holes[i].is_loss || !losses_only) && v->holes[i].began <= ended && v->holes[i].ended >= began)
			return true;
	return !v->holes_known;
}

/*
 * Give @c, which was given up, the bounds of the runs and answers of its model. False: too few were whole, and
 * nothing is known from when it was prepared.
 */
static bool find_usual(struct saved *v, struct bsa_without_call *c)
{
	const struct usual *u = usual_of(v, c->model), *answers = u;
	struct bsa_run_bounds run;

	if (!u || !bsa_usual_runs_bounds(&u->runs, &run))
		return false;
	if (u->runs.n < BSA_USUAL_LEAST)
		answers = &v->any; /* as those of other models */
	else if (c->least && c->least < run.least)
		run.least = c->least;
	if (answers->runs.n < BSA_USUAL_LEAST)
		return false;
	c->run = c->run > run.least ? c->run : run.least;
	c->run_most = c->run > run.most ? c->run : run.most;
	c->answer = answers->answer_least;
	c->answer_most = answers->answer_most;
	return true;
}

/*
 * The replay begins while calls were there: who waited comes when it did, and who ran comes before them, is
 * given a lane at once, and has it until it left it.
 */
static void take_call_of(const struct waiting *w, const struct kept *k, struct bsa_without_call *ret)
{
	uint64_t from = (uint64_t)w->waited_from;

	*ret = k->call;
	ret->before = w->busy && ready_of(k) < w->begins;
	if (!ret->before || k->dispatched == NOTHING || k->dispatched >= w->begins)
		return;
	ret->submitted = ret->submitted < from ? ret->submitted : from;
	ret->send = from - ret->submitted;
	ret->ready = ret->hand = ret->hand_less = 0;
	ret->run = ret->ended - from;
	ret->run_most = ret->served ? ret->run : BSA_WITHOUT_UNKNOWN;
	ret->ran = ret->served ? 0 : ret->run;
	ret->run += ret->served ? 0 : 2;
	ret->step = ret->served ? ret->step : 0;
	ret->least = 0;
}

/*
 * The latest answer of an earlier call of the victim's stream that is not in its window, of those that can
 * still be under way then.
 */
static uint64_t answered_before(const struct saved *v, const struct waiting *w)
{
	const struct kept *x = kept_at(v, w->call), *k;
	uint64_t ret = 0;

	for (size_t i = w->first, n = 0; i-- > v->base && n < BUSY_MOST; n++) {
		k = kept_at(v, i);
		if (!k->bad && k->call.stream == x->call.stream && k->call.answered > ret)
			ret = k->call.answered;
	}
	return ret;
}

/* Fill the world. Returns LABEL_replay_replayed, or why it is not replayed. */
static uint8_t take_window(struct saved *v, const struct waiting *w)
{
	size_t end = v->base + v->n_kept;
	struct bsa_without_call *c;

	v->world.n = 0;
	v->world.answered_before = answered_before(v, w);
	v->world.begins = (uint64_t)w->begins;
	v->world.horizon = (uint64_t)w->horizon;
	if (is_in_hole(v, w->observed_from, w->horizon, false))
		return LABEL_replay_lost;
	for (size_t i = w->first; i < end; i++) {
		struct kept *k = kept_at(v, i);

		if (ready_of(k) > w->horizon)
			break;
		if (w->busy && ready_of(k) < w->begins && !is_there(k, w->begins))
			continue;
		if (k->bad)
			return LABEL_replay_others;
		if (v->world.n == BSA_WITHOUT_CALLS_MOST)
			return LABEL_replay_many;
		if (!k->handed)
			find_hand(v, k);
		if (i == w->call)
			v->world.victim = v->world.n;
		c = &v->window[v->world.n++];
		take_call_of(w, k, c);
		if (!c->served && !find_usual(v, c) && i == w->call)
			return LABEL_replay_rest;
		c->model = k->named; /* find_usual() needs the instance, and replays the name */
	}
	v->world.calls = v->window;
	return LABEL_replay_replayed;
}

struct question {
	struct saved *v;
	struct bsa_without *without;
	struct asked *asked;
	const struct bsa_without_call *victim;
	bool stopped; /* the service stood still in that time: no replay tells what it had done without something */
};

/* -1, stored as NULL: the replay cannot decide, or is too expensive. */
static int answer_question(struct question *q, const struct bsa_without_change *change)
{
	uint64_t before = bsa_without_played(q->without);
	int ret = -1;

	if (q->v->played > q->v->allowed)
		q->asked->outcome = LABEL_replay_budget;
	if (q->v->played > q->v->allowed || q->v->s->code)
		return -1;
	if (!bsa_without_ask(q->without, change, &ret))
		saved_no_memory(q->v);
	q->v->played += bsa_without_played(q->without) - before;
	return ret == 1 && q->stopped ? -1 : ret;
}

static int64_t null_or(int said)
{
	return said < 0 ? NOTHING : said;
}

static void take_own(const struct asked_row *r, struct bsa_without_change *change)
{
	change->before += r->part[BSA_PART_BEFORE];
	change->hand += r->part[BSA_PART_HAND];
	change->run += r->part[BSA_PART_RUN];
	change->after += r->part[BSA_PART_AFTER];
	change->later += r->part[BSA_PART_BUDGET];
}

static bool is_asked(const struct asked_row *r)
{
	return r->late > 0 && r->is_whole && r->cause != BSA_OWN_RUN && r->cause != BSA_UNUSED &&
	       r->cause != BSA_CAUSE_UNKNOWN && r->cause != BSA_BAD_ESTIMATE && r->cause != BSA_DEPENDENCY &&
	       r->cause != BSA_CAUSE_STALLED && r->cause != BSA_CAUSE_STOPPED;
}

/*
 * The execution that had waited longest when the missed one was refused is a culprit only if the deadline
 * would have been met without it, or without its app; and not if it is of the same app while other apps
 * waited, too, which is what the cause means.
 */
static void name_queue(struct question *q)
{
	struct asked *a = q->asked;
	struct bsa_without_change alone = { .executions = &a->queue, .n_executions = 1 };
	struct bsa_without_change app = { .without_app = true, .app = a->queue_app };
	bool own = a->queue_app == q->victim->app;
	size_t nth = 0; /* the row for the queue that a refused execution would have waited in */

	while (nth < a->n && (a->rows[nth].cause != a->queue_cause || a->rows[nth].culprit || a->rows[nth].app ||
	                      a->rows[nth].late <= 0))
		nth++;
	if (!a->queue || nth == a->n || (own && a->queue_cause == BSA_CROWDED_OUT) ||
	    (answer_question(q, &alone) != 1 && (own || answer_question(q, &app) != 1)))
		return;
	a->rows[nth].culprit = a->queue;
	a->rows[nth].app = a->queue_app;
	a->rows[nth].is_whole = true;
	sqlite3_reset(q->v->name);
	sqlite3_bind_int64(q->v->name, 1, sql_id(a->id));
	sqlite3_bind_int64(q->v->name, 2, (int64_t)nth);
	sqlite3_bind_int64(q->v->name, 3, sql_id(a->queue));
	sqlite3_bind_int64(q->v->name, 4, sql_id(a->queue_app));
	bsa_store_do(q->v->s, q->v->name);
}

/* All rows of a cause that has more than one. */
static void answer_cause(struct question *q, uint8_t cause)
{
	struct bsa_without_change change = { .executions = q->v->ids };
	bool all = true;
	size_t n = 0;

	for (size_t i = 0; i < q->asked->n; i++) {
		const struct asked_row *r = &q->asked->rows[i];

		if (r->cause != cause || r->late <= 0)
			continue;
		n++;
		all &= is_asked(r) && change.n_executions < BSA_WITHOUT_CALLS_MOST;
		if (all && r->culprit)
			q->v->ids[change.n_executions++] = r->culprit;
		else
			take_own(r, &change);
	}
	if (n > 1)
		ROW(q->v->s, miss_without, .execution_id = sql_id(q->asked->id), .cause = cause, .app_id = NOTHING,
		    .model_id = NOTHING, .earlier_ns = NOTHING, .met = null_or(all ? answer_question(q, &change) : -1));
}

static void answer_app(struct question *q, uint32_t app, uint32_t model)
{
	struct bsa_without_change change = {
		.without_app = true, .without_model = model != 0, .app = app, .model = model
	};

	ROW(q->v->s, miss_without, .execution_id = sql_id(q->asked->id), .cause = NOTHING, .app_id = sql_id(app),
	    .model_id = sql_id(model), .earlier_ns = NOTHING, .met = null_or(answer_question(q, &change)));
}

/* The first instance of the model of execution @id of the window; 0: it is not there. */
static uint32_t model_of(const struct question *q, uint64_t id)
{
	for (size_t i = 0; i < q->v->world.n; i++)
		if (q->v->window[i].id == id)
			return q->v->window[i].model;
	return 0;
}

/* Each app that is to blame for some of it, and each model of such an app, whatever the number of its instances. */
static void answer_apps(struct question *q)
{
	uint64_t seen[CULPRITS_MOST];
	size_t n = 0;

	for (size_t i = 0; i < q->asked->n && n + 2 <= CULPRITS_MOST; i++) {
		const struct asked_row *r = &q->asked->rows[i];
		uint32_t model = r->culprit && r->late > 0 ? model_of(q, r->culprit) : 0;
		bool has_app = false, has_model = false;

		if (!model || !r->app || r->app == q->victim->app)
			continue;
		for (size_t k = 0; k < n; k++) {
			has_app |= seen[k] == (uint64_t)r->app << 32;
			has_model |= seen[k] == ((uint64_t)r->app << 32 | model);
		}
		if (!has_app) {
			seen[n++] = (uint64_t)r->app << 32;
			answer_app(q, r->app, 0);
		}
		if (!has_model) {
			seen[n++] = (uint64_t)r->app << 32 | model;
			answer_app(q, r->app, model);
		}
	}
}

/* By its lateness, twice and four times that; what was given up: by a fourth of its budget, a half, all of it. */
static uint64_t earlier_by(const struct asked *a, const struct bsa_without_call *c, unsigned nth)
{
	uint64_t budget = c->deadline > c->submitted ? c->deadline - c->submitted : 0;

	return a->lateness ? (a->lateness + a->lateness / 8 + 1000) << nth : budget / 4 << nth;
}

/* Store the shortest lead that meets the deadline; if none does, the longest lead that misses it. */
static void answer_earlier(struct question *q)
{
	uint64_t missed = 0, by;

	for (unsigned nth = 0; nth < 3; nth++) {
		struct bsa_without_change change = { .earlier = by = earlier_by(q->asked, q->victim, nth) };
		int said = by && by < (uint64_t)LEAD_MOST ? answer_question(q, &change) : -1;

		missed = said == 0 ? by : missed;
		if (said != 1 && (nth < 2 || !missed))
			continue;
		ROW(q->v->s, miss_without, .execution_id = sql_id(q->asked->id), .cause = NOTHING, .app_id = NOTHING,
		    .model_id = NOTHING, .earlier_ns = (int64_t)(said == 1 ? by : missed), .met = said == 1);
		return;
	}
}

/*
 * Would it have been too late, too, if its thread had not waited for a cpu, and had returned from its call
 * before in time?
 */
static bool is_late_by_itself(const struct asked *a)
{
	return a->delay != NOTHING && a->held != NOTHING && a->delay + a->held < a->lead;
}

/* Would it have met its deadline if its thread had not waited for a cpu? */
static void answer_wait(struct question *q)
{
	struct asked *a = q->asked;
	struct bsa_without_change change = { 0 };
	int64_t submitted = (int64_t)q->victim->submitted, lead;

	if (!a->submitted_late || a->has_start || a->delay == NOTHING || is_late_by_itself(a))
		return;
	/* The execution would have been submitted that much earlier; but a thread does not submit before it planned
	 * to. */
	lead = a->delay;
	if (a->planned != NOTHING && submitted > a->planned && submitted - a->planned < lead)
		lead = submitted - a->planned;
	if (lead <= 0 || lead >= LEAD_MOST)
		return;
	change.earlier = (uint64_t)lead;
	a->asked_lead = lead;
	a->met = answer_question(q, &change);
}

static void replay_miss(struct saved *v, const struct waiting *w)
{
	struct bsa_without *without = NULL;
	struct question q = { .v = v, .asked = &v->asked[kept_at(v, w->call)->asked - 1] };

	v->allowed += v->each;
	q.asked->outcome = v->played > v->allowed ? LABEL_replay_budget : take_window(v, w);
	if (q.asked->outcome != LABEL_replay_replayed || v->s->code)
		return;
	if (!bsa_without_new(&without, &v->world)) {
		saved_no_memory(v);
		return;
	}
	if (!without) {
		q.asked->outcome = LABEL_replay_differs;
		v->played += v->world.n;
		return;
	}
	v->s->saved_replayed++;
	v->played += bsa_without_played(without);
	q.without = without;
	q.victim = &v->window[v->world.victim];
	sqlite3_reset(v->stopped);
	sqlite3_bind_int64(v->stopped, 1, v->trace);
	sqlite3_bind_int64(v->stopped, 2, v->instance);
	sqlite3_bind_int64(v->stopped, 3, (int64_t)q.victim->answered);
	sqlite3_bind_int64(v->stopped, 4, w->begins);
	q.stopped = bsa_store_step(v->s, v->stopped);
	name_queue(&q);
	answer_apps(&q); /* first, because the budget of replays may end, and people ask for apps first */
	for (uint8_t cause = 0; cause < BSA_CAUSES; cause++)
		answer_cause(&q, cause);
	answer_earlier(&q);
	answer_wait(&q);
	for (size_t i = 0; i < q.asked->n; i++) {
		const struct asked_row *r = &q.asked->rows[i];
		struct bsa_without_change change = { .executions = &r->culprit, .n_executions = r->culprit != 0 };
		int said;

		if (r->saved >= 0 || !is_asked(r))
			continue;
		if (!r->culprit)
			take_own(r, &change);
		said = answer_question(&q, &change);
		if (said < 0)
			continue;
		sqlite3_reset(q.v->update);
		sqlite3_bind_int64(q.v->update, 1, sql_id(q.asked->id));
		sqlite3_bind_int64(q.v->update, 2, (int64_t)i);
		sqlite3_bind_int64(q.v->update, 3, said);
		bsa_store_do(q.v->s, q.v->update);
	}
	bsa_without_free(without);
}

/* ---- calls that were submitted too late ---- */

/*
 * When the call should have been submitted. NOTHING: it has no deadline, or how long its model usually has is
 * not known.
 */
static int64_t planned_of(struct saved *v, const struct kept *k)
{
	const struct usual *u = k->bad || k->call.deadline == BSA_WITHOUT_UNKNOWN ? NULL : usual_of(v, k->call.model);

	return u && u->budget > 0 ? (int64_t)k->call.deadline - u->budget : NOTHING;
}

static int64_t later_of(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

/* The call before call @number in its stream; NULL if that call is not kept. */
static const struct kept *call_before(const struct saved *v, size_t number)
{
	const struct kept *x = kept_at(v, number);

	for (size_t i = number, n = 0; i-- > v->base && n < BUSY_MOST; n++)
		if (!kept_at(v, i)->bad && kept_at(v, i)->call.stream == x->call.stream)
			return kept_at(v, i);
	return NULL;
}

/* Did its thread wait for the call before until half of the delay was over? Then that call made it late. */
static bool is_held_up(const struct kept *x, const struct kept *before, int64_t planned)
{
	int64_t submitted = (int64_t)x->call.submitted, answered = (int64_t)before->call.answered;

	return answered > planned && answered <= submitted && answered - planned >= submitted - answered;
}

static void look_before(struct saved *v, size_t number)
{
	const struct kept *x = kept_at(v, number), *before = call_before(v, number);
	struct asked *a = &v->asked[x->asked - 1];
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
static int64_t stood_with(struct saved *v, const struct kept *x, const struct kept *other, size_t first, size_t end)
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
		const struct kept *k = kept_at(v, i);

		if (k->bad) { /* anything may have happened while it was under way, because it is not replayed */
			quiet_until(&q, k->first);
			quiet_until(&q, k->last);
			if (k->first <= q.at && k->last > q.at)
				q.from = q.to = q.at;
			continue;
		}
		quiet_until(&q, (int64_t)k->call.submitted);
		quiet_until(&q, (int64_t)(k->call.submitted + k->call.send));
		quiet_until(&q, ready_of(k));
		quiet_until(&q, k->dispatched);
		quiet_until(&q, (int64_t)k->call.ended);
		quiet_until(&q, (int64_t)k->call.answered);
	}
	return q.to - q.from >= least && !is_in_hole(v, q.from, q.to, true) ? q.to - q.from : 0;
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
static void silence_measure(struct saved *v, size_t number, size_t first, size_t end)
{
	const struct kept *x = kept_at(v, number);
	struct asked *a = &v->asked[x->asked - 1];
	struct events e = { .to = (int64_t)x->call.submitted };
	int64_t last, longest = 0, cell;

	if (a->gap == NOTHING || a->gap <= 0)
		return;
	e.from = e.to - a->gap;
	for (size_t i = 0; i < CELLS; i++)
		e.cells[i].first = INT64_MAX;
	for (size_t i = first; i < end; i++) {
		const struct kept *k = kept_at(v, i);

		if (i == number)
			continue;
		event_take(&e, k->first);
		event_take(&e, k->last);
		if (k->bad)
			continue;
		event_take(&e, (int64_t)k->call.submitted);
		event_take(&e, (int64_t)(k->call.submitted + k->call.send));
		event_take(&e, ready_of(k));
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

/* Did all apps stand still when call @number should have been submitted? Then the machine made it late. */
static void look_around(struct saved *v, size_t number)
{
	const struct kept *x = kept_at(v, number), *before = call_before(v, number);
	size_t first = number > v->base + BUSY_MOST ? number - BUSY_MOST : v->base, end = v->base + v->n_kept;
	int64_t planned = planned_of(v, x), stood = 0;

	if (planned == NOTHING || (before && is_held_up(x, before, planned)))
		return;
	end = end - number > BUSY_MOST ? number + BUSY_MOST : end;
	silence_measure(v, number, first, end);
	for (size_t i = first; i < end && !stood; i++)
		stood = stood_with(v, x, kept_at(v, i), first, end);
	if (!stood)
		return;
	v->asked[x->asked - 1].has_start = true;
	ROW(v->s, late_start, .execution_id = sql_id(x->call.id), .planned = planned, .after_id = NOTHING,
	    .stood_ns = stood, .delay_ns = NOTHING, .lead_ns = NOTHING, .met = NOTHING, .by_itself = NOTHING);
}

/* ---- one service ---- */

static void replay_until(struct saved *v, int64_t until)
{
	size_t n = 0;

	while (n < v->n_waiting && v->waiting[n].horizon < until) {
		const struct waiting *w = &v->waiting[n++];

		if (v->asked[kept_at(v, w->call)->asked - 1].submitted_late && !v->s->code)
			look_around(v, w->call);
		replay_miss(v, w);
	}
	memmove(v->waiting, v->waiting + n, (v->n_waiting - n) * sizeof(*v->waiting));
	v->n_waiting -= n;
}

/* Forget the older half of the calls, and the waiting misses whose windows begin there. */
static void saved_make_room(struct saved *v)
{
	size_t first = v->base + v->n_kept / 2, kept = 0;

	/* a later miss may have a window that begins earlier, so all are looked at */
	for (size_t i = 0; i < v->n_waiting; i++)
		if (v->waiting[i].first >= first)
			v->waiting[kept++] = v->waiting[i];
	v->n_waiting = kept;
	memmove(v->kept, v->kept + (first - v->base), (v->n_kept - (first - v->base)) * sizeof(*v->kept));
	v->n_kept -= first - v->base;
	v->base = first;
}

/*
 * Find where the window of call @number begins: an instant before @at at which all lanes were idle. False: no
 * such instant is kept.
 */
static bool find_beginning(const struct saved *v, size_t number, int64_t at, struct waiting *ret)
{
	for (size_t i = number + 1; i-- > v->base && number - i < BSA_WITHOUT_CALLS_MOST;) {
		const struct kept *k = kept_at(v, i);
		bool fair = v->world.policy == LABEL_policy_fair;
		int64_t since;

		if (k->gap_from >= at || (fair && k->even_from == INT64_MAX))
			continue;
		/* If nothing is lost since then, nothing earlier matters to the policy (without.h). */
		since = k->gap_from + 1;
		if (fair && k->even_from < since)
			since = k->even_from;
		*ret = (struct waiting){
			.call = number, .first = i, .begins = k->gap_from + 1, .observed_from = since
		};
		return true;
	}
	return false;
}

/*
 * Where the window of call @number begins while others are there. Under `fair` the account of each app
 * reaches back further than that; and nothing begins with who had left a lane, and waits for it again.
 */
static bool find_busy(const struct saved *v, size_t number, int64_t lead, struct waiting *ret)
{
	size_t base = number > v->base + BUSY_MOST ? number - BUSY_MOST : v->base;
	struct waiting w = { .call = number, .first = number, .busy = true };
	const struct kept *x = kept_at(v, number);
	int64_t from = (int64_t)x->call.submitted - lead, took = (int64_t)x->call.answered - (int64_t)x->call.submitted;

	if (v->world.policy == LABEL_policy_fair)
		return false;

	/*
	 * The last instant at which the victim and all who were there when it came were not yet, and as long
	 * before that as it took itself.
	 */
	for (size_t i = number; i-- > base;) {
		const struct kept *k = kept_at(v, i);

		if (!k->bad && is_there(k, ready_of(x)) && ready_of(k) < from)
			from = ready_of(k);
	}
	w.begins = w.observed_from = w.waited_from = from - took;
	if (kept_at(v, base)->until >= w.begins)
		return false;
	for (size_t i = number; i-- > base;) {
		const struct kept *k = kept_at(v, i);
		bool came = ready_of(k) >= w.begins;

		if (!came && !is_there(k, w.begins))
			continue;
		w.first = i;
		if (k->bad || (!came && k->preemptions))
			return false;
		if (!came && (k->dispatched == NOTHING || k->dispatched >= w.begins) && ready_of(k) <= w.waited_from)
			w.waited_from = ready_of(k) - 1;
	}
	*ret = w;
	return true;
}

static void ask_about(struct saved *v, size_t number)
{
	const struct kept *k = kept_at(v, number);
	struct asked *a = &v->asked[k->asked - 1];
	uint64_t last = k->call.deadline > k->call.answered ? k->call.deadline : k->call.answered;
	uint64_t lead = earlier_by(a, &k->call, 2), wait = a->submitted_late && a->delay > 0 ? (uint64_t)a->delay : 0;
	int64_t submitted = (int64_t)k->call.submitted;
	struct waiting w, busy;
	bool idle;

	lead = lead > wait ? lead : wait;
	lead = lead < (uint64_t)LEAD_MOST ? lead : (uint64_t)LEAD_MOST;
	a->outcome = LABEL_replay_incomplete;
	if (k->bad || k->call.deadline == BSA_WITHOUT_UNKNOWN)
		return;
	a->outcome = LABEL_replay_start;
	idle = find_beginning(v, number, submitted - (int64_t)lead, &w) || find_beginning(v, number, submitted, &w);
	if ((!idle || number - w.first > IDLE_FAR) && find_busy(v, number, (int64_t)lead, &busy))
		w = busy;
	else if (!idle)
		return;
	a->outcome = LABEL_replay_many; /* unless it is replayed before its window has to make room */
	w.horizon = (int64_t)(last + (last - (uint64_t)w.begins) + AHEAD_NS);
	v->waiting[v->n_waiting++] = w;
}

/* A hole is another service's if the execution, or the app, that it is about is. Otherwise it may be of any service. */
static void read_holes(struct saved *v, int64_t trace, int64_t instance, bool only)
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
	sqlite3_bind_int64(q, 1, trace);
	sqlite3_bind_int64(q, 2, instance);
	sqlite3_bind_int64(q, 3, INT64_MIN);
	sqlite3_bind_int64(q, 4, INT64_MAX);
	sqlite3_bind_int64(q, 5, only);
	while (bsa_store_step(v->s, q)) {
		if (v->n_holes == HOLES_MOST) {
			v->holes_known = false;
			return;
		}
		v->holes[v->n_holes++] =
			(struct hole){ column_integer(q, 0), column_integer(q, 1), column_integer(q, 2) };
	}
}

static void learn_models(struct saved *v, int64_t trace)
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
	struct usual *u;

	v->n_usual = 0;
	v->any = (struct usual){ .answer_least = UINT64_MAX };
	if (!q || !trials || !budgets)
		return;
	sqlite3_bind_int64(q, 1, trace);
	sqlite3_bind_int64(q, 2, LABEL_path_fenced);
	while (bsa_store_step(v->s, q)) {
		struct bits_execution b = unpack_execution(column_integer(q, 0));

		if (b.quality != BSA_QUALITY_COMPLETE || !is_length(q, 2))
			continue;
		u = usual_of(v, (uint32_t)column_integer(q, 1));
		if (u && b.status != BSA_STATUS_NONE)
			bsa_usual_runs_add(&u->runs, (uint64_t)column_integer(q, 2), false);
		if (b.status != BSA_STATUS_NONE || !is_length(q, 3))
			continue;
		if (u)
			learn_usual(u, (uint64_t)column_integer(q, 2), (uint64_t)column_integer(q, 3));
		learn_usual(&v->any, (uint64_t)column_integer(q, 2), (uint64_t)column_integer(q, 3));
	}

	sqlite3_bind_int64(trials, 1, trace);
	while (bsa_store_step(v->s, trials)) {
		u = is_length(trials, 1) ? usual_of(v, (uint32_t)column_integer(trials, 0)) : NULL;
		if (u)
			u->runs.estimate = (uint64_t)column_integer(trials, 1);
	}

	while (bsa_store_step(v->s, budgets)) {
		u = is_length(budgets, 1) ? usual_of(v, (uint32_t)column_integer(budgets, 0)) : NULL;
		if (u)
			u->budget = column_integer(budgets, 1);
	}
}

/* @k becomes ready at @ready, or was refused, which no policy knows of. */
static void take_gap(struct saved *v, struct kept *k, int64_t ready)
{
	int64_t from = v->until > v->began ? v->until : v->began;

	k->gap_from = ready > v->until ? v->until : INT64_MAX;
	if (k->gap_from == INT64_MAX)
		v->even_from = INT64_MAX;
	else if (ready - from > BSA_WITHOUT_PAUSE_NS)
		v->even_from = from + 1;
	k->even_from = v->even_from;
	v->until = k->over > v->until ? k->over : v->until;
}

static void replay_service(struct saved *v, int64_t trace, int64_t instance, bool only)
{
	cleanup_stmt sqlite3_stmt *q = bsa_store_prepare(v->s, executions_sql);

	v->trace = trace;
	v->instance = instance;
	read_holes(v, trace, instance, only);
	learn_models(v, trace);
	if (!q || v->s->code)
		return;
	v->n_kept = v->n_waiting = v->base = 0;
	v->until = v->last = 0;
	v->even_from = INT64_MAX;
	sqlite3_bind_int64(q, 1, trace);
	sqlite3_bind_int64(q, 2, instance);
	sqlite3_bind_int64(q, 3, only);
	sqlite3_bind_int64(q, 4, LABEL_path_fenced);
	while (bsa_store_step(v->s, q)) {
		struct kept *k;
		struct usual *u;
		int64_t ready, over;

		if (v->n_kept == KEPT_MOST)
			saved_make_room(v);
		k = &v->kept[v->n_kept];
		take_call(v, q, k);

		/*
		 * A refused one does not report what the service expected it to take at least: as much as the
		 * one of its model before it.
		 */
		u = usual_of(v, k->call.model);
		if (u && k->call.least)
			u->floor = k->call.least;
		else if (u)
			k->call.least = u->floor;

		ready = column_integer(q, FIRST);
		over = column_is_null(q, ENDED) ? INT64_MAX : column_integer(q, ENDED);
		replay_until(v, ready);
		k->over = over;
		k->until = v->until;
		if (!column_is_null(q, ENQUEUED) || k->bad)
			take_gap(v, k, ready);
		v->n_kept++;
		if (!k->bad && (int64_t)k->call.answered > v->last)
			v->last = (int64_t)k->call.answered;
		if (!k->asked)
			continue;
		if (v->asked[k->asked - 1].submitted_late)
			look_before(v, v->base + v->n_kept - 1);
		ask_about(v, v->base + v->n_kept - 1);
	}
	for (size_t i = 0; i < v->n_waiting; i++) /* whether streams would have gone on behind the end is not known */
		v->waiting[i].horizon = v->last < v->waiting[i].horizon ? v->last : v->waiting[i].horizon;
	replay_until(v, INT64_MAX);
}

/* ---- all of them ---- */

static const char services_sql[] =
	"SELECT trace_id, instance, min(policy), min(preempt), min(lanes), min(deadlines), "
	"max(policy) <> min(policy) OR max(preempt) <> min(preempt) OR max(lanes) <> min(lanes) "
	"OR max(deadlines) <> min(deadlines) OR count(deadlines) < count(*), "
	"(SELECT count(DISTINCT o.instance) FROM stored_rules o WHERE o.trace_id = r.trace_id) = 1, "
	"(SELECT coalesce(max(a.id), 0) FROM app a), "
	"(SELECT t.began FROM trace t WHERE t.id = r.trace_id) " /* NULL is 0 */
	"FROM stored_rules r WHERE trace_id >= ?1 GROUP BY 1, 2 ORDER BY 1, 2 LIMIT ?2";

static bool take_rules(struct saved *v, sqlite3_stmt *q)
{
	v->world.policy = (uint32_t)column_integer(q, 2);
	v->world.preempt = (uint32_t)column_integer(q, 3);
	v->world.lanes = (uint32_t)column_integer(q, 4);
	v->world.deadlines = (uint32_t)column_integer(q, 5);
	v->world.n_apps = (uint32_t)column_integer(q, 8) + 1;
	v->began = column_integer(q, 9);
	v->world.one_model = true; /* take_call() makes models of a stream */
	return !column_integer(q, 6) && column_integer(q, 2) >= 0 && column_integer(q, 2) < LABEL_policy_native &&
	       column_integer(q, 3) >= 0 && column_integer(q, 3) <= LABEL_preempt_save && column_integer(q, 4) >= 1 &&
	       column_integer(q, 4) <= LANES_MOST && column_integer(q, 5) >= 0 &&
	       column_integer(q, 5) <= LABEL_deadlines_advise && column_integer(q, 8) < APPS_MOST;
}

int bsa_saved_run(struct saved *v)
{
	cleanup_stmt sqlite3_stmt *services = NULL;

	v->s->saved_asked = v->n;
	if (!v->n || v->s->code)
		return v->s->code;
	v->kept = calloc(KEPT_MOST, sizeof(*v->kept));
	v->waiting = calloc(KEPT_MOST, sizeof(*v->waiting));
	v->holes = calloc(HOLES_MOST, sizeof(*v->holes));
	v->window = calloc(BSA_WITHOUT_CALLS_MOST, sizeof(*v->window));
	v->ids = calloc(BSA_WITHOUT_CALLS_MOST, sizeof(*v->ids));
	if (!v->kept || !v->waiting || !v->holes || !v->window || !v->ids) {
		saved_no_memory(v);
		return v->s->code;
	}
	v->handed = bsa_store_prepare(v->s, handed_sql);
	v->update = bsa_store_prepare(v->s, update_sql);
	v->name = bsa_store_prepare(v->s, name_sql);
	v->stopped = bsa_store_prepare(v->s, stopped_sql);
	if (v->s->code)
		return v->s->code;

	bsa_batches_flush(v->s);
	qsort(v->asked, v->n, sizeof(*v->asked), by_id);
	v->allowed = CALLS_FREE / 2;
	v->each = (CALLS_FREE / 2 + v->s->counts.executions) / v->n;
	services = bsa_store_prepare(v->s, services_sql);
	if (!services)
		return v->s->code;
	sqlite3_bind_int64(services, 1, (int64_t)v->s->before + 1);
	sqlite3_bind_int64(services, 2, SERVICES_MOST);
	while (bsa_store_step(v->s, services))
		if (take_rules(v, services))
			replay_service(v, column_integer(services, 0), column_integer(services, 1),
			               column_integer(services, 7));

	/* How long the threads waited for a cpu, of misses that nothing above explains, and what follows from that. */
	for (size_t i = 0; i < v->n && !v->s->code; i++) {
		const struct asked *a = &v->asked[i];
		bool by_itself = is_late_by_itself(a);
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
		    .met = by_itself ? 0 : null_or(a->met), .by_itself = without_machine);
	}
	for (size_t i = 0; i < v->n && !v->s->code; i++)
		ROW(v->s, miss_replay, .execution_id = sql_id(v->asked[i].id), .outcome = v->asked[i].outcome);
	bsa_batches_flush(v->s);
	return v->s->code;
}
