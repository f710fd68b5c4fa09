/*
 * saved_miss.c -- replays one missed deadline: fills its window, and asks whether the deadline would have been
 * met without each cause, each culprit, each app and model that are to blame, and by an earlier submission.
 */
#include "store/saved_own.h"

#include <stdlib.h>

#define HAND_MOST (UINT64_C(1) << 50) /* of a hand-over of which nothing is known: it decides nothing */

enum { CULPRITS_MOST = 16 }; /* apps and models of one miss */

static const char update_sql[] = "UPDATE stored_miss_cause SET saved = ?3 WHERE execution_id = ?1 AND nth = ?2";

static const char name_sql[] = "UPDATE stored_miss_cause SET culprit_execution_id = ?3, culprit_app_id = ?4 "
			       "WHERE execution_id = ?1 AND nth = ?2";

static const char stopped_sql[] = "SELECT 1 FROM silence WHERE went_on AND trace_id = ?1 AND instance = ?2 "
				  "AND coalesce(heard, began) < ?3 AND ended > ?4 LIMIT 1";

/*
 * Give @c, which was given up, the bounds of the runs and answers of its model. False: too few were whole, and
 * nothing is known from when it was prepared.
 */
static bool find_usual(struct bsa_saved *v, struct bsa_without_call *c)
{
	const struct bsa_saved_usual *u = bsa_saved_usual_of(v, c->model), *answers = u;
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
 * Give @ret, which never had a lane, the bounds of a hand-over to it: as usual_runs.h has those of runs, from the calls
 * around the miss that waited, or found a lane idle.
 */
static void find_usual_hand(struct bsa_saved *v, const struct bsa_saved_waiting *w, struct bsa_without_call *ret)
{
	struct bsa_run_bounds hand = { .most = HAND_MOST }, begin;
	struct bsa_usual_runs waited = { 0 }, idle = { 0 };
	struct bsa_saved_kept *k;

	for (size_t i = w->call > v->base + BUSY_MOST ? w->call - BUSY_MOST : v->base; i < v->base + v->n_kept; i++) {
		k = bsa_saved_kept_at(v, i);
		if (k->bad || !k->queue || k->preemptions)
			continue;
		if (bsa_saved_ready_of(k) > w->horizon)
			break;
		if (!k->handed)
			bsa_saved_find_hand(v, k);
		if (k->call.absent || k->dispatched != NOTHING)
			bsa_usual_runs_add(k->idle && !k->call.absent ? &idle : &waited, k->call.hand, !k->call.absent);
	}
	bsa_usual_runs_bounds(&waited, &hand);
	if (!bsa_usual_runs_bounds(&idle, &begin))
		begin = hand;
	ret->hand = hand.least;
	ret->hand_more = hand.most - hand.least + 1; /* never 0: it had no lane */
	ret->idle_most = begin.most;
}

/*
 * The replay begins while calls were there: who waited comes when it did, and who ran comes before them, is
 * given a lane at once, and has it until it left it.
 */
static void take_call_of(const struct bsa_saved_waiting *w, const struct bsa_saved_kept *k,
                         struct bsa_without_call *ret)
{
	uint64_t from = (uint64_t)w->waited_from;

	*ret = k->call;
	ret->before = w->busy && bsa_saved_ready_of(k) < w->begins;
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
static uint64_t answered_before(const struct bsa_saved *v, const struct bsa_saved_waiting *w)
{
	const struct bsa_saved_kept *x = bsa_saved_kept_at(v, w->call), *k;
	uint64_t ret = 0;

	for (size_t i = w->first, n = 0; i-- > v->base && n < BUSY_MOST; n++) {
		k = bsa_saved_kept_at(v, i);
		if (!k->bad && k->call.stream == x->call.stream && k->call.answered > ret)
			ret = k->call.answered;
	}
	return ret;
}

/* Fill the world. Returns LABEL_replay_replayed, or why it is not replayed. */
static uint8_t take_window(struct bsa_saved *v, const struct bsa_saved_waiting *w)
{
	size_t end = v->base + v->n_kept;
	struct bsa_without_call usual = { 0 }; /* its hand-over; hand_more 0: not looked for */
	struct bsa_without_call *c;

	v->world.n = 0;
	v->world.answered_before = answered_before(v, w);
	v->world.begins = (uint64_t)w->begins;
	v->world.horizon = (uint64_t)w->horizon;
	if (bsa_saved_is_in_hole(v, w->observed_from, w->horizon, false))
		return LABEL_replay_lost;
	for (size_t i = w->first; i < end; i++) {
		struct bsa_saved_kept *k = bsa_saved_kept_at(v, i);

		if (bsa_saved_ready_of(k) > w->horizon)
			break;
		if (w->busy && bsa_saved_ready_of(k) < w->begins && !bsa_saved_is_there(k, w->begins))
			continue;
		if (k->bad)
			return LABEL_replay_others;
		if (v->world.n == BSA_WITHOUT_CALLS_MOST)
			return LABEL_replay_many;
		if (!k->handed)
			bsa_saved_find_hand(v, k);
		if (i == w->call)
			v->world.victim = v->world.n;
		c = &v->window[v->world.n++];
		take_call_of(w, k, c);
		if (k->dispatched == NOTHING && !c->absent) {
			if (!usual.hand_more)
				find_usual_hand(v, w, &usual);
			c->hand = usual.hand;
			c->hand_more = usual.hand_more;
			c->idle_most = usual.idle_most;
		}
		if (!c->served && !find_usual(v, c) && i == w->call)
			return LABEL_replay_rest;
		c->model = k->named; /* find_usual() needs the instance, and replays the name */
	}
	v->world.calls = v->window;
	return LABEL_replay_replayed;
}

struct question {
	struct bsa_saved *v;
	struct bsa_without *without;
	struct bsa_saved_asked *asked;
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
		bsa_saved_no_memory(q->v);
	q->v->played += bsa_without_played(q->without) - before;
	return ret == 1 && q->stopped ? -1 : ret;
}

static void take_own(const struct bsa_saved_asked_row *r, struct bsa_without_change *change)
{
	change->before += r->part[BSA_PART_BEFORE];
	change->hand += r->part[BSA_PART_HAND];
	change->run += r->part[BSA_PART_RUN];
	change->after += r->part[BSA_PART_AFTER];
	change->later += r->part[BSA_PART_BUDGET];
}

static bool is_asked(const struct bsa_saved_asked_row *r)
{
	return r->late > 0 && r->is_whole && r->cause != BSA_OWN_RUN && r->cause != BSA_UNUSED &&
	       r->cause != BSA_CAUSE_UNKNOWN && r->cause != BSA_BAD_ESTIMATE && r->cause != BSA_DEPENDENCY &&
	       r->cause != BSA_CAUSE_STALLED && r->cause != BSA_CAUSE_STOPPED && r->cause != BSA_OVERBOOKED;
}

/*
 * The execution that had waited longest when the missed one was refused is a culprit only if the deadline
 * would have been met without it, or without its app; and not if it is of the same app while other apps
 * waited, too, which is what the cause means.
 */
static void name_queue(struct question *q)
{
	struct bsa_saved_asked *a = q->asked;
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
		const struct bsa_saved_asked_row *r = &q->asked->rows[i];

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
		    .model_id = NOTHING, .earlier_ns = NOTHING,
		    .met = bsa_saved_null_or(all ? answer_question(q, &change) : -1));
}

static void answer_app(struct question *q, uint32_t app, uint32_t model)
{
	struct bsa_without_change change = {
		.without_app = true, .without_model = model != 0, .app = app, .model = model
	};

	ROW(q->v->s, miss_without, .execution_id = sql_id(q->asked->id), .cause = NOTHING, .app_id = sql_id(app),
	    .model_id = sql_id(model), .earlier_ns = NOTHING, .met = bsa_saved_null_or(answer_question(q, &change)));
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
		const struct bsa_saved_asked_row *r = &q->asked->rows[i];
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
uint64_t bsa_saved_earlier_by(const struct bsa_saved_asked *a, const struct bsa_without_call *c, unsigned nth)
{
	uint64_t budget = c->deadline > c->submitted ? c->deadline - c->submitted : 0;

	return a->lateness ? (a->lateness + a->lateness / 8 + 1000) << nth : budget / 4 << nth;
}

/* Store the shortest lead that meets the deadline; if none does, the longest lead that misses it. */
static void answer_earlier(struct question *q)
{
	uint64_t missed = 0, by;

	for (unsigned nth = 0; nth < 3; nth++) {
		struct bsa_without_change change = { .earlier = by = bsa_saved_earlier_by(q->asked, q->victim, nth) };
		int said = by && by < (uint64_t)LEAD_MOST ? answer_question(q, &change) : -1;

		missed = said == 0 ? by : missed;
		if (said != 1 && (nth < 2 || !missed))
			continue;
		ROW(q->v->s, miss_without, .execution_id = sql_id(q->asked->id), .cause = NOTHING, .app_id = NOTHING,
		    .model_id = NOTHING, .earlier_ns = (int64_t)(said == 1 ? by : missed), .met = said == 1);
		return;
	}
}

/* Would it have met its deadline if its thread had not waited for a cpu? */
static void answer_wait(struct question *q)
{
	struct bsa_saved_asked *a = q->asked;
	struct bsa_without_change change = { 0 };
	int64_t submitted = (int64_t)q->victim->submitted, lead;

	if (!a->submitted_late || a->has_start || a->delay == NOTHING || bsa_late_start_is_by_itself(a))
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

void bsa_saved_replay_miss(struct bsa_saved *v, const struct bsa_saved_waiting *w)
{
	struct bsa_without *without = NULL;
	struct question q = { .v = v, .asked = &v->asked[bsa_saved_kept_at(v, w->call)->asked - 1] };

	v->allowed += v->each;
	q.asked->outcome = v->played > v->allowed ? LABEL_replay_budget : take_window(v, w);
	if (q.asked->outcome != LABEL_replay_replayed || v->s->code)
		return;
	if (!bsa_without_new(&without, &v->world)) {
		bsa_saved_no_memory(v);
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
		const struct bsa_saved_asked_row *r = &q.asked->rows[i];
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

void bsa_saved_miss_open(struct bsa_saved *v)
{
	v->window = calloc(BSA_WITHOUT_CALLS_MOST, sizeof(*v->window));
	v->ids = calloc(BSA_WITHOUT_CALLS_MOST, sizeof(*v->ids));
	if (!v->window || !v->ids)
		bsa_saved_no_memory(v);
	v->update = bsa_store_prepare(v->s, update_sql);
	v->name = bsa_store_prepare(v->s, name_sql);
	v->stopped = bsa_store_prepare(v->s, stopped_sql);
}
