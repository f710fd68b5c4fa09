/*
 * saved_run.c -- chooses a sample of the missed deadlines, goes through the executions of each service, and has
 * each miss of the sample replayed in its window.
 *
 * SAMPLE   Rows of at most SAVED_MISSES_MOST misses are kept while blame_run.c writes them. Then the
 *          executions of each service are read once, in the order in which they asked for a lane, and each
 *          miss of the sample is replayed when its window is complete.
 * COST     All replays together may play CALLS_FREE calls, and one more for each execution of the import.
 *          Each miss may use its part of that, and what those before it left. Questions that are too
 *          expensive stay unanswered: NULL.
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
#include "store/saved_own.h"

#include <stdlib.h>
#include <string.h>

enum {
	CALLS_FREE = 3000000,
	KEPT_MOST = 4 * BSA_WITHOUT_CALLS_MOST,
	IDLE_FAR = 64, /* calls: a window that begins while others are there is rather taken than a longer one */
	SERVICES_MOST = 16,
	LANES_MOST = 64,
	APPS_MOST = 1 << 16,
};

#define AHEAD_NS 2000000 /* time after a miss that is replayed, too */

/* ---- the sample ---- */

struct bsa_saved *bsa_saved_new(struct bsa_store *s, uint64_t misses)
{
	struct bsa_saved *v = calloc(1, sizeof(*v));

	if (!v) {
		bsa_store_fail(s, BSA_E_ENV, "no memory");
		return NULL;
	}
	v->s = s;
	v->every = misses / SAVED_MISSES_MOST + (misses % SAVED_MISSES_MOST != 0);
	return v;
}

struct bsa_saved *bsa_saved_free(struct bsa_saved *v)
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

void bsa_saved_no_memory(struct bsa_saved *v)
{
	bsa_store_fail(v->s, BSA_E_ENV, "no memory");
}

static struct bsa_saved_asked_row asked_row(const struct bsa_blamed *b)
{
	struct bsa_saved_asked_row r = {
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

void bsa_saved_ask(struct bsa_saved *v, const struct bsa_execution *x, const struct bsa_refused *refused,
                   const struct bsa_blamed *rows, size_t n)
{
	struct bsa_saved_asked *a;

	if (v->seen++ % (v->every ? v->every : 1) || !x->deadline || v->s->code)
		return;
	if (!BSA_RESERVE(v->asked, v->room, v->n + 1, 16)) {
		bsa_saved_no_memory(v);
		return;
	}
	a = &v->asked[v->n];
	*a = (struct bsa_saved_asked){ .id = x->id,
		                       .lateness = x->miss == BSA_MISS_LATE && x->status == BSA_STATUS_NONE &&
		                                                   x->lateness > 0
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
		bsa_saved_no_memory(v);
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
	const struct bsa_saved_asked *x = a, *y = b;

	return x->id < y->id ? -1 : x->id > y->id;
}

uint32_t bsa_saved_asked_of(const struct bsa_saved *v, uint64_t id)
{
	struct bsa_saved_asked key = { .id = id };
	const struct bsa_saved_asked *asked = v->n ? bsearch(&key, v->asked, v->n, sizeof(key), by_id) : NULL;

	return asked ? (uint32_t)(asked - v->asked) + 1 : 0;
}

/* ---- one service ---- */

static void replay_until(struct bsa_saved *v, int64_t until)
{
	size_t n = 0;

	while (n < v->n_waiting && v->waiting[n].horizon < until) {
		const struct bsa_saved_waiting *w = &v->waiting[n++];

		if (v->asked[bsa_saved_kept_at(v, w->call)->asked - 1].submitted_late && !v->s->code)
			bsa_late_start_look_around(v, w->call);
		bsa_saved_replay_miss(v, w);
	}
	memmove(v->waiting, v->waiting + n, (v->n_waiting - n) * sizeof(*v->waiting));
	v->n_waiting -= n;
}

/* Forget the older half of the calls, and the waiting misses whose windows begin there. */
static void saved_make_room(struct bsa_saved *v)
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
static bool find_beginning(const struct bsa_saved *v, size_t number, int64_t at, struct bsa_saved_waiting *ret)
{
	for (size_t i = number + 1; i-- > v->base && number - i < BSA_WITHOUT_CALLS_MOST;) {
		const struct bsa_saved_kept *k = bsa_saved_kept_at(v, i);
		bool fair = v->world.policy == LABEL_policy_fair;
		int64_t since;

		if (k->gap_from >= at || (fair && k->even_from == INT64_MAX))
			continue;
		/* If nothing is lost since then, nothing earlier matters to the policy (without.h). */
		since = k->gap_from + 1;
		if (fair && k->even_from < since)
			since = k->even_from;
		*ret = (struct bsa_saved_waiting){
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
static bool find_busy(const struct bsa_saved *v, size_t number, int64_t lead, struct bsa_saved_waiting *ret)
{
	size_t base = number > v->base + BUSY_MOST ? number - BUSY_MOST : v->base;
	struct bsa_saved_waiting w = { .call = number, .first = number, .busy = true };
	const struct bsa_saved_kept *x = bsa_saved_kept_at(v, number);
	int64_t from = (int64_t)x->call.submitted - lead, took = (int64_t)x->call.answered - (int64_t)x->call.submitted;

	if (v->world.policy == LABEL_policy_fair)
		return false;

	/*
	 * The last instant at which the victim and all who were there when it came were not yet, and as long
	 * before that as it took itself.
	 */
	for (size_t i = number; i-- > base;) {
		const struct bsa_saved_kept *k = bsa_saved_kept_at(v, i);

		if (!k->bad && bsa_saved_is_there(k, bsa_saved_ready_of(x)) && bsa_saved_ready_of(k) < from)
			from = bsa_saved_ready_of(k);
	}
	w.begins = w.observed_from = w.waited_from = from - took;
	if (bsa_saved_kept_at(v, base)->until >= w.begins)
		return false;
	for (size_t i = number; i-- > base;) {
		const struct bsa_saved_kept *k = bsa_saved_kept_at(v, i);
		bool came = bsa_saved_ready_of(k) >= w.begins;

		if (!came && !bsa_saved_is_there(k, w.begins))
			continue;
		w.first = i;
		if (k->bad || (!came && k->preemptions))
			return false;
		if (!came && (k->dispatched == NOTHING || k->dispatched >= w.begins) &&
		    bsa_saved_ready_of(k) <= w.waited_from)
			w.waited_from = bsa_saved_ready_of(k) - 1;
	}
	*ret = w;
	return true;
}

static void ask_about(struct bsa_saved *v, size_t number)
{
	const struct bsa_saved_kept *k = bsa_saved_kept_at(v, number);
	struct bsa_saved_asked *a = &v->asked[k->asked - 1];
	uint64_t last = k->call.deadline > k->call.answered ? k->call.deadline : k->call.answered;
	uint64_t lead = bsa_saved_earlier_by(a, &k->call, 2),
		 wait = a->submitted_late && a->delay > 0 ? (uint64_t)a->delay : 0;
	int64_t submitted = (int64_t)k->call.submitted;
	struct bsa_saved_waiting w, busy;
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

/*
 * @k, which comes behind those that are kept, becomes ready at @ready. If it found a lane idle while others waited,
 * that lane was one of theirs, and was taken back because the thread had not come (nnb__policy_recall).
 */
static void take_gap(struct bsa_saved *v, struct bsa_saved_kept *k, int64_t ready)
{
	int64_t from = v->until > v->began ? v->until : v->began;

	for (struct bsa_saved_kept *x = k; !k->bad && k->idle && v->world.policy != LABEL_policy_fifo && x > v->kept &&
	                                   k - x < BUSY_MOST && x->until >= ready;) {
		x--;
		x->call.absent |= !x->bad && x->enqueued && x->over >= ready &&
		                  (x->dispatched == NOTHING || x->dispatched > k->dispatched ||
		                   (x->preempted && v->world.lanes == 1));
	}

	k->gap_from = ready > v->until ? v->until : INT64_MAX;
	if (k->gap_from == INT64_MAX)
		v->even_from = INT64_MAX;
	else if (ready - from > BSA_WITHOUT_PAUSE_NS)
		v->even_from = from + 1;
	k->even_from = v->even_from;
	v->until = k->over > v->until ? k->over : v->until;
}

static void replay_service(struct bsa_saved *v, int64_t trace, int64_t instance, bool only)
{
	cleanup_stmt sqlite3_stmt *q = NULL;

	v->trace = trace;
	v->instance = instance;
	q = bsa_saved_calls_of_service(v, only);
	if (!q || v->s->code)
		return;
	v->n_kept = v->n_waiting = v->base = 0;
	v->until = v->last = 0;
	v->even_from = INT64_MAX;
	while (bsa_store_step(v->s, q)) {
		struct bsa_saved_kept *k;
		int64_t ready;

		if (v->n_kept == KEPT_MOST)
			saved_make_room(v);
		k = &v->kept[v->n_kept];
		ready = bsa_saved_take_call(v, q, k);
		replay_until(v, ready);
		k->until = v->until;
		if (k->enqueued || k->bad)
			take_gap(v, k, ready);
		v->n_kept++;
		if (!k->bad && (int64_t)k->call.answered > v->last)
			v->last = (int64_t)k->call.answered;
		if (!k->asked)
			continue;
		if (v->asked[k->asked - 1].submitted_late)
			bsa_late_start_look_before(v, v->base + v->n_kept - 1);
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

static bool take_rules(struct bsa_saved *v, sqlite3_stmt *q)
{
	v->world.policy = (uint32_t)bsa_saved_column_integer(q, 2);
	v->world.preempt = (uint32_t)bsa_saved_column_integer(q, 3);
	v->world.lanes = (uint32_t)bsa_saved_column_integer(q, 4);
	v->world.deadlines = (uint32_t)bsa_saved_column_integer(q, 5);
	v->world.n_apps = (uint32_t)bsa_saved_column_integer(q, 8) + 1;
	v->began = bsa_saved_column_integer(q, 9);
	v->world.one_model = true; /* a burst has one, and other streams are made so: saved_calls.c */
	return !bsa_saved_column_integer(q, 6) && bsa_saved_column_integer(q, 2) >= 0 &&
	       bsa_saved_column_integer(q, 2) < LABEL_policy_native && bsa_saved_column_integer(q, 3) >= 0 &&
	       bsa_saved_column_integer(q, 3) <= LABEL_preempt_save && bsa_saved_column_integer(q, 4) >= 1 &&
	       bsa_saved_column_integer(q, 4) <= LANES_MOST && bsa_saved_column_integer(q, 5) >= 0 &&
	       bsa_saved_column_integer(q, 5) <= LABEL_deadlines_advise && bsa_saved_column_integer(q, 8) < APPS_MOST;
}

int bsa_saved_run(struct bsa_saved *v)
{
	cleanup_stmt sqlite3_stmt *services = NULL;

	v->s->saved_asked = v->n;
	if (!v->n || v->s->code)
		return v->s->code;
	v->kept = calloc(KEPT_MOST, sizeof(*v->kept));
	v->waiting = calloc(KEPT_MOST, sizeof(*v->waiting));
	if (!v->kept || !v->waiting)
		bsa_saved_no_memory(v);
	bsa_saved_calls_open(v);
	bsa_saved_miss_open(v);
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
			replay_service(v, bsa_saved_column_integer(services, 0), bsa_saved_column_integer(services, 1),
			               bsa_saved_column_integer(services, 7));

	bsa_late_start_finish(v);
	for (size_t i = 0; i < v->n && !v->s->code; i++)
		ROW(v->s, miss_replay, .execution_id = sql_id(v->asked[i].id), .outcome = v->asked[i].outcome);
	bsa_batches_flush(v->s);
	return v->s->code;
}
