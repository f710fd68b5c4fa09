/* past.c -- reads from a recording what a replay needs. */
#include "whatif/past.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/template.h"
#include "base/vector.h"

enum {
	READ_KIB = 8192, /* SQLite's cache and sorters while the recording is read: the rows read need the memory */
	FEW = 20 /* executions that ran: from fewer nothing is concluded */,
	WHO_MOST = 4096 /* apps, and apps and models */
};

#define LENGTH_MOST_NS (UINT64_C(100) * 24 * 3600 * 1000000000)
#define LONGEST_NS (INT64_MAX / 8) /* small enough that a few of them can be added */

static int past_no_memory(struct bsa_err *err)
{
	return bsa_fail(err, BSA_E_ENV, "out of memory");
}

/* ---- queries ---- */

static bool is_null(const struct bsa_query *q, size_t column)
{
	return bsa_query_type(q, column) == BSA_NULL;
}

/* A length of time, never below 0. */
static uint64_t column_length(const struct bsa_query *q, size_t column)
{
	int64_t ns = bsa_query_get_int(q, column);

	if (is_null(q, column))
		return BSA_REPLAY_NEVER;
	return ns > LONGEST_NS ? LONGEST_NS : ns > 0 ? (uint64_t)ns : 0;
}

/* A time of the recording, since @began. */
static uint64_t ns_since_begin(const struct bsa_query *q, size_t column, int64_t began)
{
	int64_t at = bsa_query_get_int(q, column);

	uint64_t ns = at > began ? (uint64_t)at - (uint64_t)began : 0;

	if (is_null(q, column))
		return BSA_REPLAY_NEVER;
	return ns > LONGEST_NS ? LONGEST_NS : ns;
}

static uint64_t ns_between(uint64_t from, uint64_t to)
{
	return from == BSA_REPLAY_NEVER || to == BSA_REPLAY_NEVER ? BSA_REPLAY_NEVER : to > from ? to - from : 0;
}

/* The index of the column's word in @words; @n: it is not there. */
static uint32_t column_word(const struct bsa_query *q, size_t column, const char *const *words, uint32_t n)
{
	const char *text = bsa_query_get_string(q, column, NULL);
	uint32_t i = 0;

	while (i < n && (!text || strcmp(text, words[i])))
		i++;
	return i;
}

/* ---- the rules ---- */

static int read_rules(struct bsv_past *p, struct bsa_db *db, const char **cannot, struct bsa_err *err)
{
	static const char *const policies[] = { "fair", "priority", "fifo", "edf" };
	static const char *const preempts[] = { "none", "restart", "save" };
	static const char *const deadlines[] = { "abort", "refuse", "advise" };
	struct bsa_query *q = NULL;
	int r = bsa_query_new(&q, db, bsv_sql_whatif_rules, err);

	if (r >= 0)
		r = bsa_query_step(q, err);
	if (r == 0)
		*cannot = "the service was not recorded: its rules, and who had which lane, are not known; "
			  "record the service, too";
	if (r > 0) {
		p->rules = (struct bsa_replay_rules){ .policy = column_word(q, 0, policies, 4),
			                              .preempt = column_word(q, 1, preempts, 3),
			                              .lanes = (uint32_t)bsa_query_get_int(q, 2),
			                              .deadlines = column_word(q, 3, deadlines, 3) };
		if (p->rules.policy == 4)
			*cannot = "the policy was native: the kernel decided, and what it would do is not known; "
				  "record under another policy";
		else if (p->rules.preempt == 3 || p->rules.lanes < 1 || p->rules.lanes > BSA_REPLAY_LANES_MAX)
			*cannot = "the rules of the service are not known";
		r = bsa_query_step(q, err);
		if (r > 0)
			*cannot = "there was more than one service, or its rules changed; "
				  "record one service, under one set of rules";
	}
	bsa_query_free(q);
	return r < 0 ? r : 0;
}

static int read_losses(struct bsa_db *db, const char **cannot, struct bsa_err *err)
{
	struct bsa_query *q = NULL;
	int r = bsa_query_new(&q, db, bsv_sql_whatif_losses, err);

	if (r >= 0)
		r = bsa_query_step(q, err);
	if (r > 0 && bsa_query_get_int(q, 0))
		*cannot = "events were lost: what is not recorded cannot be replayed; "
			  "record with larger buffers (burstscope record --buffer)";
	else if (r > 0 && bsa_query_get_int(q, 1))
		*cannot = "the recording is cut: its end is missing; record again";
	bsa_query_free(q);
	return r < 0 ? r : 0;
}

/* ---- models ---- */

static int app_of(struct bsv_past *p, int64_t id, const char *name, uint32_t *ret, struct bsa_err *err)
{
	size_t i = 0;

	while (i < p->n_apps && p->app_ids[i] != id)
		i++;
	*ret = (uint32_t)i;
	if (i < p->n_apps)
		return 0;
	if (!bsv_array_grow(&p->app_ids, i, sizeof(*p->app_ids)) || !bsv_array_grow(&p->apps, i, sizeof(*p->apps)) ||
	    !(p->apps[i] = strdup(name ? name : "?")))
		return past_no_memory(err);
	p->app_ids[i] = id;
	p->n_apps++;
	return 0;
}

static int group_of(struct bsv_past *p, uint32_t app, const char *model, uint32_t *ret, struct bsa_err *err)
{
	struct bsv_past_group *group;
	size_t i = 0;

	while (i < p->n_groups && (p->groups[i].app != app || strcmp(p->groups[i].model_name, model) != 0))
		i++;
	*ret = (uint32_t)i;
	if (i < p->n_groups)
		return 0;
	group = bsv_array_add(&p->groups, &p->n_groups, sizeof(*group));
	if (!group)
		return past_no_memory(err);
	*group = (struct bsv_past_group){ .app_name = strdup(p->apps[app]), .model_name = strdup(model), .app = app };
	return group->app_name && group->model_name ? 0 : past_no_memory(err);
}

static int read_models(struct bsv_past *p, struct bsa_db *db, const char *with, const char **cannot,
                       struct bsa_err *err)
{
	struct bsa_query *q = NULL;
	int r = bsv_query_new(&q, db, bsv_sql_whatif_models,
	                      (const struct bsv_placeholder[]){ { "relations", with }, { NULL, NULL } }, err);

	while (r >= 0 && !*cannot && (r = bsa_query_step(q, err)) > 0) {
		const char *name = bsa_query_get_string(q, 3, NULL);
		struct bsv_past_model m = { .id = bsa_query_get_int(q, 0),
			                    .step_ns = is_null(q, 4) ? 0 : column_length(q, 4),
			                    .estimate_ns = is_null(q, 5) ? 0 : column_length(q, 5),
			                    .operations = bsa_query_get_int(q, 6),
			                    .confirmed = bsa_query_get_int(q, 7) != 0,
			                    .look_ns = is_null(q, 8) ? 0 : column_length(q, 8) };

		r = app_of(p, is_null(q, 1) ? INT64_MIN : bsa_query_get_int(q, 1), bsa_query_get_string(q, 2, NULL),
		           &m.app, err);
		if (r >= 0)
			r = group_of(p, m.app, name ? name : "?", &m.group, err);
		if (r >= 0 && !bsv_array_add(&p->models, &p->n_models, sizeof(m)))
			r = past_no_memory(err);
		if (r >= 0)
			p->models[p->n_models - 1] = m;
		if (p->n_groups > WHO_MOST || p->n_apps > WHO_MOST)
			*cannot = "there are more than 4096 apps and models";
	}
	bsa_query_free(q);
	return r < 0 ? r : 0;
}

/* The model with that id: models are ordered by id. */
static struct bsv_past_model *model_of(const struct bsv_past *p, int64_t id)
{
	size_t least = 0, most = p->n_models;

	while (least < most) {
		size_t mid = least + (most - least) / 2;

		if (p->models[mid].id < id)
			least = mid + 1;
		else
			most = mid;
	}
	return least < p->n_models && p->models[least].id == id ? &p->models[least] : NULL;
}

/* ---- calls ---- */

enum column {
	MODEL,
	PATH,
	PRIORITY,
	SUBMITTED,
	RETURNED,
	SIGNALLED,
	DEADLINE,
	DECODED,
	ENQUEUED,
	DISPATCHED,
	RUN_ENDED,
	RUN_NS,
	REDO_NS,
	STATUS,
	MISS,
	FLOOR_NS,
	COMPLETE,
	MISSED_AT,
	RUN_DELAY_NS
};

static const char *const paths[] = { "burst", "sync", "fenced", "async", "prepare" };
enum { PATH_FENCED = 2, PATH_TRIAL = 4 };

static void take_call(struct bsv_past_call *c, const struct bsa_query *q, int64_t began)
{
	static const char *const priorities[] = { "low", "medium", "high" };
	uint64_t decoded = ns_since_begin(q, DECODED, began), ready = ns_since_begin(q, ENQUEUED, began);
	uint64_t ended = ns_since_begin(q, RUN_ENDED, began),
		 redo = is_null(q, REDO_NS) ? 0 : column_length(q, REDO_NS);
	const char *status = bsa_query_get_string(q, STATUS, NULL);

	c->path = (uint8_t)column_word(q, PATH, paths, 5);
	c->priority = (uint8_t)(column_word(q, PRIORITY, priorities, 3) % 3);
	c->trial = c->path == PATH_TRIAL;
	c->submitted = c->due = ns_since_begin(q, SUBMITTED, began);
	c->answered = ns_since_begin(q, c->path == PATH_FENCED && !is_null(q, SIGNALLED) ? SIGNALLED : RETURNED, began);
	c->deadline = ns_since_begin(q, DEADLINE, began);
	c->served = status && !strcmp(status, "NONE");
	c->missed = !is_null(q, MISS);
	if (ended == BSA_REPLAY_NEVER)
		ended = ns_since_begin(q, MISSED_AT, began);
	c->send_ns = ns_between(c->submitted, decoded);
	c->ready_ns = ns_between(decoded, ready);
	if (decoded == BSA_REPLAY_NEVER && ready != BSA_REPLAY_NEVER) { /* a trial is not sent */
		c->send_ns = 0;
		c->ready_ns = ns_between(c->submitted, ready);
	}
	if (c->answered == BSA_REPLAY_NEVER)
		c->answered = ended;
	c->answer_ns = ns_between(ended, c->answered);
	c->run_ns = is_null(q, RUN_NS) || is_null(q, DISPATCHED) ? BSA_REPLAY_NEVER : column_length(q, RUN_NS);
	if (c->run_ns != BSA_REPLAY_NEVER)
		c->run_ns -= redo < c->run_ns ? redo : 0;
	c->whole = c->served && c->run_ns != BSA_REPLAY_NEVER;
	c->delayed = BSV_DELAYED_UNKNOWN;
	if (c->whole && c->run_ns && !is_null(q, RUN_DELAY_NS)) {
		uint64_t ns = column_length(q, RUN_DELAY_NS), of = column_length(q, RUN_NS);

		c->delayed = ns >= of ? BSV_DELAYED_ALL : (uint8_t)((double)ns / (double)of * BSV_DELAYED_ALL);
	}
}

static int read_calls(struct bsv_past *p, struct bsa_db *db, int64_t began, size_t *ret_incomplete, struct bsa_err *err)
{
	struct bsa_query *q = NULL;
	int r = bsa_query_new(&q, db, bsv_sql_whatif_calls, err);

	while (r >= 0 && (r = bsa_query_step(q, err)) > 0) {
		struct bsv_past_model *m = is_null(q, MODEL) ? NULL : model_of(p, bsa_query_get_int(q, MODEL));
		struct bsv_past_call c = { 0 };

		take_call(&c, q, began);
		if (!m || c.path > PATH_TRIAL || c.submitted == BSA_REPLAY_NEVER || c.answered == BSA_REPLAY_NEVER ||
		    !bsa_query_get_int(q, COMPLETE)) {
			*ret_incomplete += 1;
			continue;
		}
		c.model = (uint32_t)(m - p->models);
		if (!c.trial && !is_null(q, FLOOR_NS) && column_length(q, FLOOR_NS) && !m->floor_ns) {
			uint64_t least = column_length(q, FLOOR_NS);

			/*
			 * The floor, estimated from the shortest recorded run: a quarter less, or
			 * half less while no execution had confirmed the floor.
			 */
			m->floor_ns = m->confirmed ? least + least / 3 : 2 * least;
		}
		p->length = c.answered > p->length ? c.answered : p->length;
		if (!bsv_array_add(&p->calls, &p->n_calls, sizeof(c)))
			r = past_no_memory(err);
		else
			p->calls[p->n_calls - 1] = c;
	}
	bsa_query_free(q);
	return r < 0 ? r : 0;
}

/* Add up each group, and estimate the floors that were not recorded from the shortest run in one stretch. */
static void sum_up(struct bsv_past *p, size_t *ret_ran)
{
	for (size_t i = 0; i < p->n_calls; i++) {
		const struct bsv_past_call *c = &p->calls[i];
		struct bsv_past_group *g = &p->groups[p->models[c->model].group];

		*ret_ran += c->whole;
		p->n_unknown_runs += !c->whole;
		if (c->trial)
			continue;
		g->n++;
		g->n_served += c->served;
		g->n_missed += c->missed;
	}
	for (size_t i = 0; i < p->n_calls; i++) {
		const struct bsv_past_call *c = &p->calls[i];
		struct bsv_past_model *m = &p->models[c->model];

		if (c->whole && !c->trial && (!m->least_ns || c->run_ns < m->least_ns))
			m->least_ns = c->run_ns;
	}
	for (size_t i = 0; i < p->n_models; i++) {
		struct bsv_past_model *m = &p->models[i];

		if (m->floor_ns)
			continue;
		m->floor_ns =
			!m->least_ns || (m->estimate_ns && m->estimate_ns < m->least_ns) ? m->estimate_ns : m->least_ns;
		m->confirmed = m->floor_ns != 0;
	}
}

/* ---- delays ---- */

static bool delays_add(struct bsv_past_delays *d, size_t call)
{
	if (!bsv_array_add(&d->calls, &d->n, sizeof(*d->calls)))
		return false;
	d->calls[d->n - 1] = (uint32_t)call;
	return true;
}

bool bsv_past_delays(struct bsv_past *p)
{
	for (size_t i = 0; i < p->n_calls; i++) {
		const struct bsv_past_call *c = &p->calls[i];

		if (!c->whole || !c->run_ns || c->trial || c->imagined)
			continue;
		p->n_runs++;
		if (c->delayed == BSV_DELAYED_UNKNOWN)
			continue;
		p->delayed_run_ns += (double)c->run_ns;
		p->delay_ns += (double)c->run_ns * c->delayed / BSV_DELAYED_ALL;
		if (!delays_add(&p->delays, i) || !delays_add(&p->groups[p->models[c->model].group].delays, i))
			return false;
	}
	return true;
}

/* ---- hand-overs ---- */

enum { TIES_MOST = 64 };

unsigned bsv_past_part(const struct bsv_past *p, uint64_t at)
{
	uint64_t part = at / (p->length / BSV_PARTS + 1);

	return part < BSV_PARTS ? (unsigned)part : BSV_PARTS - 1;
}

/* @part: of this time, which is no earlier than the times before; *last: of the one before it. */
static bool put_time(struct bsv_past_times *t, uint64_t ns, unsigned part, unsigned *last)
{
	if (!bsv_array_add(&t->ns, &t->n, sizeof(*t->ns)))
		return false;
	t->ns[t->n - 1] = ns;
	while (*last < part)
		t->first[++*last] = (uint32_t)(t->n - 1);
	return true;
}

static void end_times(struct bsv_past_times *t, unsigned last)
{
	while (last < BSV_PARTS)
		t->first[++last] = (uint32_t)t->n;
}

/*
 * Set how the execution of @m that was submitted at @at came to its lane. The last way that is set
 * counts. Of executions submitted at one time, look at few.
 */
static void set_how(struct bsv_past *p, const struct bsv_past_model *m, uint64_t at, enum bsa_replay_hand how)
{
	size_t least = 0, most = p->n_calls;

	while (least < most) {
		size_t mid = least + (most - least) / 2;

		if (p->calls[mid].submitted < at)
			least = mid + 1;
		else
			most = mid;
	}
	most = least + TIES_MOST < p->n_calls ? least + TIES_MOST : p->n_calls;
	for (; m && least < most && p->calls[least].submitted == at; least++)
		if (p->calls[least].model == (uint32_t)(m - p->models))
			p->calls[least].how = how;
}

static int read_hands(struct bsv_past *p, struct bsa_db *db, int64_t began, struct bsa_err *err)
{
	struct bsa_query *q = NULL;
	unsigned last[BSA_REPLAY_HANDS + 1] = { 0 };
	int r = bsa_query_new(&q, db, bsv_sql_whatif_hands, err);

	while (r >= 0 && (r = bsa_query_step(q, err)) > 0) {
		bool handed = bsa_query_get_int(q, 1);
		unsigned part = bsv_past_part(p, ns_since_begin(q, 2, began));
		enum bsa_replay_hand kind = BSA_REPLAY_HAND_NONE;

		if (handed)
			kind = bsa_replay_hand(bsa_query_get_int(q, 3), bsa_query_get_int(q, 4), column_length(q, 5));
		if (!put_time(handed ? &p->hands[kind] : &p->begins, column_length(q, 0), part, &last[kind]))
			r = past_no_memory(err);
		if (!is_null(q, 6))
			set_how(p, model_of(p, bsa_query_get_int(q, 6)), ns_since_begin(q, 7, began), kind);
	}
	for (unsigned kind = 0; kind < BSA_REPLAY_HANDS; kind++)
		end_times(&p->hands[kind], last[kind]);
	end_times(&p->begins, last[BSA_REPLAY_HANDS]);
	bsa_query_free(q);
	return r < 0 ? r : 0;
}

/* ---- looks ---- */

/* Read the time between two checks for a request to make room: twice the median time from a request to the stop. */
static int read_looks(struct bsv_past *p, struct bsa_db *db, struct bsa_err *err)
{
	struct bsa_query *q = NULL;
	int r = bsa_query_new(&q, db, bsv_sql_whatif_looks, err);

	while (r >= 0 && (r = bsa_query_step(q, err)) > 0) {
		struct bsv_past_model *m = is_null(q, 0) ? NULL : model_of(p, bsa_query_get_int(q, 0));

		if (m && bsa_query_get_int(q, 1) >= FEW / 2 && !is_null(q, 2))
			m->look_ns = 2 * column_length(q, 2) + 1;
	}
	bsa_query_free(q);
	return r < 0 ? r : 0;
}

static int read_stops(struct bsv_past *p, struct bsa_db *db, int64_t began, struct bsa_err *err)
{
	struct bsa_query *q = NULL;
	unsigned last = 0;
	int r = bsa_query_new(&q, db, bsv_sql_whatif_stops, err);

	while (r >= 0 && (r = bsa_query_step(q, err)) > 0)
		if (bsa_query_get_int(q, 2))
			p->n_stalled++;
		else if (!put_time(&p->stops, column_length(q, 0), bsv_past_part(p, ns_since_begin(q, 1, began)),
		                   &last))
			r = past_no_memory(err);
	end_times(&p->stops, last);
	bsa_query_free(q);
	return r < 0 ? r : 0;
}

/* ---- all of it ---- */

int bsv_past_read(struct bsv_past *ret, struct bsa_db *db, const char *with, int64_t began, const char **cannot,
                  struct bsa_err *err)
{
	size_t incomplete = 0, ran = 0;
	bool any_deadline = false;
	int r;

	*ret = (struct bsv_past){ 0 };
	*cannot = NULL;
	bsa_db_memory(db, READ_KIB);
	r = read_models(ret, db, with, cannot, err);
	if (r >= 0 && !*cannot)
		r = read_rules(ret, db, cannot, err);
	if (r >= 0 && !*cannot)
		r = read_losses(db, cannot, err);
	if (r >= 0 && !*cannot)
		r = read_calls(ret, db, began, &incomplete, err);
	if (r >= 0 && !*cannot)
		r = read_hands(ret, db, began, err);
	if (r >= 0 && !*cannot)
		r = read_looks(ret, db, err);
	if (r >= 0 && !*cannot)
		r = read_stops(ret, db, began, err);
	if (r < 0 || *cannot)
		return r;
	sum_up(ret, &ran);
	for (size_t i = 0; i < ret->n_calls; i++)
		any_deadline |= ret->calls[i].deadline != BSA_REPLAY_NEVER;
	if (ret->rules.deadlines == 3 && any_deadline)
		*cannot = "the recording does not say what a deadline was worth to the service: it is too old";
	else if (ret->length > LENGTH_MOST_NS)
		*cannot = "its times are absurd: it would have gone on for more than 100 days";
	else if (incomplete * 50 > ret->n_calls)
		*cannot = "more than one execution in fifty is not complete: both sides have to be recorded";
	else if (ran < FEW)
		*cannot = "fewer than 20 executions ran: too few to tell how long others take; record for longer";
	else if (!bsv_past_delays(ret) || !bsv_past_chains(ret))
		return past_no_memory(err);
	return 0;
}

void bsv_past_fini(struct bsv_past *p)
{
	for (size_t i = 0; i < p->n_groups; i++) {
		free(p->groups[i].app_name);
		free(p->groups[i].model_name);
		free(p->groups[i].delays.calls);
	}
	for (size_t i = 0; i < p->n_apps; i++)
		free(p->apps[i]);
	for (size_t i = 0; i < p->n_chains; i++)
		free(p->chains[i].calls);
	free(p->apps);
	free(p->app_ids);
	free(p->groups);
	free(p->models);
	free(p->calls);
	free(p->chains);
	for (unsigned kind = 0; kind < BSA_REPLAY_HANDS; kind++)
		free(p->hands[kind].ns);
	free(p->delays.calls);
	free(p->begins.ns);
	free(p->stops.ns);
	*p = (struct bsv_past){ 0 };
}
