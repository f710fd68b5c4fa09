/*
 * world.c -- keeps services, apps, processes, connections, models and streams in tables by number.
 */
#include "fold/inside.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
	IDLE_APPS_MAX = 1 << 14, /* apps without connections that are kept, in case they come again */
	UNTOLD_MAX = 1 << 16,    /* limit of unreported streams, and of models; the oldest are freed beyond it */
	PARTING_MAX = 1 << 16,
	OPEN_MAX = 1 << 16,      /* streams, models and connections that have not ended, each; of more the oldest go */
	LINE_FEW = 1 << 12,      /* this many of each are kept even if the fold is crowded */
	OVER_MANY_MAX = 1 << 13, /* streams that remember many executions */
	NAMED_FEW = 1 << 12,     /* limit of streams that are reported for their first execution; */
	EXECUTIONS_OF_EACH = 8,  /* beyond that, each has so many on average */
	OVER_FEW = 64,           /* numbers kept for a stream whose executions do not overlap, */
	OVER_MANY = 4096,        /* numbers kept for any other stream */
	INSTANCES = 1 << 12,
	INSTANCE_SHIFT = 20, /* position of the instance in the service's numbers */
	LANES_MAX = 64,
	CONTRACT_READY = 2, /* from this version of the catalogue on, sched_ready is emitted */
	CAUSE_UNKNOWN = 255
};

static uint16_t instance_of(uint32_t number)
{
	return (uint16_t)(number >> INSTANCE_SHIFT);
}

static uint64_t in_instance(uint16_t instance, uint32_t number)
{
	return (uint64_t)instance << 32 | number;
}

/* ---- lines ---- */

static void leave_line(struct bsa_place *p)
{
	if (!p->line)
		return;
	assert(p->line->n);
	bsa_list_remove(&p->link);
	p->line->n--;
	p->line = NULL;
}

static void line_up(struct bsa_line *line, struct bsa_place *p)
{
	leave_line(p);
	bsa_list_add(&line->list, &p->link);
	line->n++;
	p->line = line;
}

/* The first of a line; NULL: it is empty. */
#define FIRST(line, type, member) \
	(bsa_list_first(&(line)->list) ? BSA_LINKED(bsa_list_first(&(line)->list), type, member.link) : (type *)NULL)

/* The first of it has to go: there are more than @most, or all that is under way takes too much memory. */
static bool is_long(const struct bsa_fold *f, const struct bsa_line *line, uint32_t most)
{
	return line->n > most || (line->n > LINE_FEW && bsa_fold_is_crowded(f));
}

/* ---- all of it ---- */

int bsa_world_init(struct bsa_world *w)
{
	struct bsa_table *tables[] = { &w->services, &w->apps,    &w->processes, &w->connections,
		                       &w->models,   &w->streams, &w->mappings,  &w->buffers };
	struct bsa_line *lines[] = { &w->idle,           &w->untold, &w->untold_models, &w->parting,
		                     &w->parting_models, &w->open,   &w->open_models,   &w->connected };

	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++)
		bsa_list_init(&lines[i]->list);
	for (size_t i = 0; i < sizeof(tables) / sizeof(*tables); i++)
		if (bsa_table_init(tables[i]))
			return -ENOMEM;
	return 0;
}

static void drop_all(struct bsa_table *t)
{
	struct bsa_entry *e;
	size_t from = 0;

	if (!t->chains)
		return;
	while ((e = bsa_table_any(t, &from))) {
		bsa_table_remove(t, e);
		free(e);
	}
	bsa_table_fini(t);
}

static void stream_free(struct bsa_stream_known *s)
{
	assert(!s->connection || s->connection->streams);
	if (s->connection && --s->connection->streams == 0 && s->connection->gone)
		free(s->connection);
	free(s->over.many);
	free(s);
}

void bsa_world_fini(struct bsa_world *w)
{
	struct bsa_entry *e;
	size_t from = 0;

	while (w->streams.chains && (e = bsa_table_any(&w->streams, &from))) {
		bsa_table_remove(&w->streams, e);
		stream_free((struct bsa_stream_known *)e);
	}
	drop_all(&w->streams);
	drop_all(&w->services);
	drop_all(&w->apps);
	drop_all(&w->processes);
	drop_all(&w->connections);
	drop_all(&w->models);
	drop_all(&w->mappings);
	drop_all(&w->buffers);
}

/* ---- services ---- */

static struct bsa_service *service_new(struct bsa_fold *f, uint16_t instance)
{
	struct bsa_service *s = bsa_fold_alloc(f, sizeof(*s));

	if (!s)
		return NULL;
	bsa_table_add(&f->world.services, &s->entry, instance);
	s->next = f->world.all_services;
	f->world.all_services = s;
	return s;
}

void bsa_on_service_state(struct bsa_fold *f, const struct bsa_service_state *e)
{
	struct bsa_service *s = bsa_table_find(&f->world.services, e->instance);
	bool is_new = !s || s->pid != e->pid;

	if (e->instance >= INSTANCES) {
		bsa_fold_absurd(f);
		return;
	}
	if (is_new || e->since)
		bsa_numbers_begin(f, e->instance, e->since);
	if (!s)
		s = service_new(f, e->instance);
	if (!s)
		return;
	if (is_new) {
		struct bsa_process fact = {
			.id = ++f->last.process, .trace = f->trace, .pid = e->pid, .role = BSA_ROLE_SERVICE
		};

		s->pid = e->pid;
		s->rules.process = fact.id;
		f->facts.process(f->facts.ctx, &fact);
	}
	if (is_new || s->rules.spin_us != e->spin_us || s->rules.policy != e->policy ||
	    s->rules.preempt_mode != e->preempt_mode || s->rules.lanes != e->lanes ||
	    s->rules.deadlines != e->deadlines) {
		unsigned lanes = e->lanes > LANES_MAX ? LANES_MAX : e->lanes;

		s->rules = (struct bsa_rules){ .at = bsa_fold_since(f, e->since),
			                       .trace = f->trace,
			                       .process = s->rules.process,
			                       .spin_us = e->spin_us,
			                       .instance = e->instance,
			                       .policy = e->policy,
			                       .preempt_mode = e->preempt_mode,
			                       .lanes = e->lanes,
			                       .deadlines = e->deadlines };
		f->may_stop |= e->preempt_mode && e->policy != BSA_POLICY_NATIVE && e->policy != BSA_POLICY_FIFO;
		f->facts.rules(f->facts.ctx, &s->rules);
		if (bsa_schedule_lanes(f->schedule, e->instance, f->now, lanes, e->policy == BSA_POLICY_NATIVE,
		                       is_new && !e->since))
			f->failed = -ENOMEM;
	}
	s->tells_ready = e->contract >= CONTRACT_READY;
	if (s->tells_ready && bsa_schedule_tells_ready(f->schedule, e->instance))
		f->failed = -ENOMEM;
	if (is_new && e->since && !s->listing) {
		s->listing = true;
		f->n_listing++;
		if (bsa_schedule_listing(f->schedule, e->instance, f->now, false))
			f->failed = -ENOMEM;
	}
}

void bsa_service_begins(struct bsa_fold *f, uint16_t instance)
{
	struct bsa_service *s = bsa_table_find(&f->world.services, instance);

	if (!s || !s->listing)
		return;
	s->listing = false;
	assert(f->n_listing);
	f->n_listing--;
	if (bsa_schedule_listing(f->schedule, instance, f->now, true))
		f->failed = -ENOMEM;
}

/* ---- apps ---- */

static void report_app(struct bsa_fold *f, const struct bsa_app_known *a)
{
	f->facts.app(f->facts.ctx, &a->fact);
}

static void app_drop(struct bsa_world *w, struct bsa_app_known *a)
{
	leave_line(&a->idle);
	bsa_table_remove(&w->apps, &a->entry);
	free(a);
}

static void app_idles(struct bsa_world *w, struct bsa_app_known *a)
{
	line_up(&w->idle, &a->idle);
	if (w->idle.n > IDLE_APPS_MAX)
		app_drop(w, FIRST(&w->idle, struct bsa_app_known, idle));
}

static struct bsa_app_known *app_new(struct bsa_fold *f, uint16_t instance, uint32_t key)
{
	struct bsa_app_known *a = bsa_fold_alloc(f, sizeof(*a));

	if (!a)
		return NULL;
	a->fact = (struct bsa_app){ .id = ++f->last.app, .trace = f->trace, .key = key };
	bsa_table_add(&f->world.apps, &a->entry, in_instance(instance, key));
	app_idles(&f->world, a);
	return a;
}

static struct bsa_app_known *app_find(const struct bsa_fold *f, uint16_t instance, uint32_t key)
{
	return bsa_table_find(&f->world.apps, in_instance(instance, key));
}

struct bsa_app_known *bsa_app_of(struct bsa_fold *f, uint16_t instance, uint32_t key)
{
	struct bsa_app_known *a = app_find(f, instance, key);

	if (a || !(a = app_new(f, instance, key)))
		return a;
	report_app(f, a);
	return a;
}

static struct bsa_app_known *app_connects(struct bsa_fold *f, const struct bsa_client_connect *e)
{
	struct bsa_app_known *a = app_find(f, instance_of(e->conn), e->app);

	/* The known app may be a former one with the same number. */
	if (a && !a->connections && a->fact.uid_known &&
	    (a->fact.uid != e->uid || strncmp(a->fact.name, e->name, BSA_TEXT) != 0)) {
		app_drop(&f->world, a);
		a = NULL;
	}
	if (!a)
		a = app_new(f, instance_of(e->conn), e->app);
	if (!a)
		return NULL;
	if (!a->fact.uid_known) {
		a->fact.uid = e->uid;
		a->fact.uid_known = true;
		memcpy(a->fact.name, e->name, BSA_TEXT - 1);
		report_app(f, a);
	}
	return a;
}

static void app_take(struct bsa_app_known *a)
{
	a->connections++;
	leave_line(&a->idle);
}

static void app_give(struct bsa_fold *f, struct bsa_app_known *a)
{
	assert(!a || a->connections);
	if (a && !--a->connections)
		app_idles(&f->world, a);
}

/* ---- their processes ---- */

static uint64_t process_number(const struct bsa_client_connect *e)
{
	return bsa_mixed_text(in_instance(instance_of(e->conn), e->pid) ^ bsa_mixed(e->uid), e->name);
}

static struct bsa_process_known *process_connects(struct bsa_fold *f, const struct bsa_client_connect *e, uint32_t app)
{
	struct bsa_process_known *p = bsa_table_find(&f->world.processes, process_number(e));

	while (p && (p->instance != instance_of(e->conn) || p->fact.pid != e->pid || p->uid != e->uid ||
	             strncmp(p->fact.name, e->name, BSA_TEXT) != 0))
		p = bsa_table_next(p);
	if (p || !(p = bsa_fold_alloc(f, sizeof(*p))))
		return p;
	p->instance = instance_of(e->conn);
	p->uid = e->uid;
	p->fact = (struct bsa_process){
		.id = ++f->last.process, .trace = f->trace, .pid = e->pid, .app = app, .role = BSA_ROLE_CLIENT
	};
	memcpy(p->fact.name, e->name, BSA_TEXT - 1);
	bsa_table_add(&f->world.processes, &p->entry, process_number(e));
	f->facts.process(f->facts.ctx, &p->fact);
	return p;
}

/* ---- connections ---- */

static void connection_end(struct bsa_fold *f, struct bsa_connection *c);

static struct bsa_connection *connection_new(struct bsa_fold *f, uint32_t number)
{
	struct bsa_connection *c = bsa_fold_alloc(f, sizeof(*c));

	if (!c)
		return NULL;
	bsa_table_add(&f->world.connections, &c->entry, number);
	line_up(&f->world.connected, &c->place);
	if (is_long(f, &f->world.connected, OPEN_MAX)) {
		f->left_out.evicted++;
		connection_end(f, FIRST(&f->world.connected, struct bsa_connection, place));
	}
	return c;
}

static void connection_end(struct bsa_fold *f, struct bsa_connection *c)
{
	struct bsa_process_known *p = c->process;

	leave_line(&c->place);
	bsa_table_remove(&f->world.connections, &c->entry);
	app_give(f, c->app);
	assert(!p || p->connections);
	if (p && !--p->connections) {
		bsa_table_remove(&f->world.processes, &p->entry);
		free(p);
	}
	c->app = NULL;
	c->process = NULL;
	c->gone = true;
	if (!c->streams)
		free(c);
}

void bsa_on_client_connect(struct bsa_fold *f, const struct bsa_client_connect *e)
{
	struct bsa_connection *c = bsa_table_find(&f->world.connections, e->conn);
	struct bsa_app_known *app;

	if (c && c->told) {
		if (e->since && c->process && c->process->fact.pid == e->pid && c->process->uid == e->uid &&
		    !strncmp(c->process->fact.name, e->name, BSA_TEXT) && c->app && c->app->fact.key == e->app)
			return;
		connection_end(f, c);
		c = NULL;
	}
	if (!c)
		c = connection_new(f, e->conn);
	app = c ? app_connects(f, e) : NULL;
	if (!app)
		return;
	app_take(app);
	app_give(f, c->app); /* as was guessed */
	c->app = app;
	c->process = process_connects(f, e, app->fact.id);
	if (c->process)
		c->process->connections++;
	c->told = true;
}

void bsa_on_client_disconnect(struct bsa_fold *f, const struct bsa_client_disconnect *e)
{
	struct bsa_connection *c = bsa_table_find(&f->world.connections, e->conn);

	if (c)
		connection_end(f, c);
}

static uint32_t app_id(const struct bsa_connection *c)
{
	return c && c->app ? c->app->fact.id : 0;
}

static uint32_t process_id(const struct bsa_connection *c)
{
	return c && c->process ? c->process->fact.id : 0;
}

/* ---- models ---- */

static struct bsa_model model_unknown(struct bsa_fold *f, uint32_t number)
{
	return (struct bsa_model){ .id = ++f->last.model,
		                   .trace = f->trace,
		                   .number = number,
		                   .const_bytes = BSA_NEVER,
		                   .step_ns = BSA_NEVER,
		                   .look_ns = BSA_NEVER,
		                   .estimate_ns = BSA_NEVER,
		                   .measured_ns = BSA_NEVER,
		                   .prepare_ns = BSA_NEVER,
		                   .prepared = BSA_NEVER,
		                   .released = BSA_NEVER,
		                   .priority = BSA_STATUS_UNKNOWN,
		                   .status = BSA_STATUS_UNKNOWN };
}

static struct bsa_model_known *model_new(struct bsa_fold *f, uint32_t number)
{
	struct bsa_model_known *m = bsa_fold_alloc(f, sizeof(*m));

	if (!m)
		return NULL;
	m->fact = model_unknown(f, number);
	bsa_table_add(&f->world.models, &m->entry, number);
	return m;
}

static void model_drop(struct bsa_fold *f, struct bsa_model_known *m)
{
	leave_line(&m->place);
	bsa_table_remove(&f->world.models, &m->entry);
	free(m);
}

struct bsa_model_known *bsa_model_of(struct bsa_fold *f, uint32_t number)
{
	struct bsa_model_known *m = bsa_table_find(&f->world.models, number);

	if (m || !(m = model_new(f, number)))
		return m;
	f->facts.model(f->facts.ctx, &m->fact);
	line_up(&f->world.untold_models, &m->place);
	if (is_long(f, &f->world.untold_models, UNTOLD_MAX))
		model_drop(f, FIRST(&f->world.untold_models, struct bsa_model_known, place));
	return m;
}

static void model_reported(struct bsa_fold *f, struct bsa_model *m, const struct bsa_model_prepare *e)
{
	const struct bsa_connection *c = bsa_table_find(&f->world.connections, e->conn);
	struct bsa_model before = *m;

	if (c) {
		m->process = process_id(c);
		m->app = app_id(c);
	}
	m->const_bytes = e->const_bytes;
	m->step_ns = e->step_ns;
	m->look_ns = e->look_ns;
	m->estimate_ns = e->estimate_ns;
	if (!e->since) /* the estimate of a repeated event is of the runs since then */
		m->measured_ns = e->estimate_ns;
	m->prepare_ns = e->took_ns;
	if (m->prepared == BSA_NEVER)
		m->prepared = bsa_fold_since(f, e->since);
	m->deadline = e->deadline_ns;
	m->operations = e->ops;
	m->digest = e->digest;
	m->priority = e->priority;
	m->status = e->status;
	memcpy(m->name, e->name, BSA_TEXT - 1);
	if (memcmp(&before, m, sizeof(before)) != 0)
		f->facts.model(f->facts.ctx, m);
}

void bsa_on_model_prepare(struct bsa_fold *f, const struct bsa_model_prepare *e)
{
	struct bsa_model_known *m;

	if (f->voices.n_pauses && !e->since)
		bsa_voices_prepared(f, e->conn, e->took_ns < f->now ? f->now - e->took_ns : 0);
	if (!e->model) {
		struct bsa_model failed = model_unknown(f, 0);

		model_reported(f, &failed, e);
		return;
	}
	m = bsa_table_find(&f->world.models, e->model);
	if (m && m->told && (!e->since || m->fact.released != BSA_NEVER)) { /* another one, of the same number */
		model_drop(f, m);
		m = NULL;
	}
	if (!m)
		m = model_new(f, e->model);
	if (!m)
		return;
	m->told = true;
	if (m->fact.released == BSA_NEVER)
		line_up(&f->world.open_models, &m->place);
	model_reported(f, &m->fact, e);
	if (is_long(f, &f->world.open_models, OPEN_MAX)) {
		f->left_out.evicted++;
		model_drop(f, FIRST(&f->world.open_models, struct bsa_model_known, place));
	}
}

void bsa_on_model_release(struct bsa_fold *f, const struct bsa_model_release *e)
{
	struct bsa_model_known *m = bsa_model_of(f, e->model);

	if (!m || m->fact.released != BSA_NEVER)
		return;
	m->fact.released = f->now;
	f->facts.model(f->facts.ctx, &m->fact);
	line_up(&f->world.parting_models, &m->place);
	if (is_long(f, &f->world.parting_models, PARTING_MAX))
		model_drop(f, FIRST(&f->world.parting_models, struct bsa_model_known, place));
}

/* ---- streams ---- */

static struct bsa_stream_known *stream_new(struct bsa_fold *f, uint32_t number)
{
	struct bsa_stream_known *s = bsa_fold_alloc(f, sizeof(*s));

	if (!s)
		return NULL;
	s->fact = (struct bsa_stream){ .id = ++f->last.stream,
		                       .trace = f->trace,
		                       .number = number,
		                       .opened = BSA_NEVER,
		                       .closed = BSA_NEVER,
		                       .first = BSA_NEVER,
		                       .spin_us = UINT32_MAX,
		                       .client_spin_us = UINT32_MAX,
		                       .path = BSA_PATH_UNKNOWN,
		                       .reason = 255,
		                       .cache = 255 };
	bsa_list_init(&s->execs);
	bsa_list_init(&s->mappings);
	bsa_table_add(&f->world.streams, &s->entry, number);
	return s;
}

static void report_stream(struct bsa_fold *f, const struct bsa_stream_known *s)
{
	f->facts.stream(f->facts.ctx, &s->fact);
}

void bsa_stream_is_of(struct bsa_stream_known *s, struct bsa_app_known *app)
{
	struct bsa_connection *c = s->connection;

	s->fact.app = app->fact.id;
	s->app_key = app->fact.key;
	if (!c || c->gone || c->app)
		return;
	app_take(app);
	c->app = app;
}

static void end_mappings(struct bsa_fold *f, struct bsa_stream_known *s)
{
	struct bsa_link *m;

	while ((m = bsa_list_first(&s->mappings)))
		bsa_mapping_end(f, BSA_LINKED(m, struct bsa_mapping_open, of_stream), BSA_NEVER, CAUSE_UNKNOWN);
}

void bsa_stream_lost_one(struct bsa_fold *f, struct bsa_stream_known *s, bool quietly)
{
	assert(s->n_execs);
	s->n_execs--;
	if (!s->left || s->n_execs)
		return;
	end_mappings(f, s); /* an execution of the stream may have begun a mapping after the stream was closed */
	if (!quietly && !s->unnamed)
		report_stream(f, s);
	leave_line(&s->place);
	if (!s->replaced)
		bsa_table_remove(&f->world.streams, &s->entry);
	assert(f->world.n_many >= (s->over.many != NULL));
	f->world.n_many -= s->over.many != NULL;
	stream_free(s);
}

/* An execution of @s with a number above all recorded ones began later than this. */
static uint64_t next_after(const struct bsa_stream_known *s)
{
	return bsa_stream_is_serial(s) && s->quiet_since > s->newest_at ? s->quiet_since : s->newest_at;
}

/* Whether only summaries were recorded, so that an execution of @s under way at the end has no event. */
static bool may_be_under_way(const struct bsa_fold *f, const struct bsa_stream_known *s)
{
	return f->options.horizon_ns && !f->full && s->fact.closed == BSA_NEVER;
}

/* Lower bound of the begin of such an execution. */
static uint64_t under_way_after(const struct bsa_fold *f, const struct bsa_stream_known *s)
{
	uint64_t after = next_after(s), complete = bsa_numbers_complete_until(f, s->fact.number >> INSTANCE_SHIFT);

	after = s->n_skipped && s->skipped_at < after ? s->skipped_at : after;
	return after > complete ? after : complete;
}

/* Report the executions that may exist without an event: after the newest one, and those whose numbers were skipped. */
static void report_hidden(struct bsa_fold *f, const struct bsa_stream_known *s)
{
	bool over = s->fact.closed != BSA_NEVER;
	uint64_t until = over ? s->fact.closed : bsa_fold_goes_on_until(f), after = next_after(s);
	uint64_t complete =
		may_be_under_way(f, s) ? bsa_numbers_complete_until(f, s->fact.number >> INSTANCE_SHIFT) : 0;

	if (may_be_under_way(f, s))
		(void)bsa_schedule_report_possible(
			f->schedule, &(const struct bsa_scheduled){ .app = s->fact.app, .model = s->fact.model },
			under_way_after(f, s), until);
	if (!f->losses.n || bsa_numbers_none_unseen(f, s->fact.number >> INSTANCE_SHIFT))
		return;
	if (complete > f->began) { /* no hole hides executions that began later */
		over = true;
		until = complete - 1;
	}
	bsa_numbers_hidden(f, &s->fact, after, until, over);
	if (s->n_skipped)
		bsa_numbers_hidden(f, &s->fact, s->skipped_at, until, over || bsa_stream_is_serial(s));
}

/* Free the stream now, or with its last execution. */
static void stream_leave(struct bsa_fold *f, struct bsa_stream_known *s)
{
	if (f->losses.n && !f->finished)
		report_hidden(f, s);
	end_mappings(f, s);
	leave_line(&s->place);
	s->left = true;
	s->n_execs++; /* keep the stream while its executions are reported */
	bsa_execs_conclude(f, s);
	bsa_stream_lost_one(f, s, false);
}

void bsa_stream_name(struct bsa_fold *f, struct bsa_stream_known *s)
{
	if (!s->unnamed)
		return;
	s->unnamed = false;
	f->world.n_named++;
	report_stream(f, s);
}

struct bsa_stream_known *bsa_stream_of_execution(struct bsa_fold *f, uint32_t number)
{
	struct bsa_world *w = &f->world;
	struct bsa_stream_known *s = bsa_table_find(&w->streams, number);

	w->n_found++;
	if (s || !(s = stream_new(f, number)))
		return s;
	s->unnamed = true;
	if (w->n_named < NAMED_FEW || w->n_named < w->n_found / EXECUTIONS_OF_EACH)
		bsa_stream_name(f, s);
	line_up(&w->untold, &s->place);
	if (is_long(f, &w->untold, UNTOLD_MAX))
		stream_leave(f, FIRST(&w->untold, struct bsa_stream_known, place));
	return s;
}

struct bsa_stream_known *bsa_stream_of(struct bsa_fold *f, uint32_t number)
{
	struct bsa_stream_known *s = bsa_table_find(&f->world.streams, number);

	if (s)
		bsa_stream_name(f, s);
	if (s || !(s = stream_new(f, number)))
		return s;
	report_stream(f, s);
	line_up(&f->world.untold, &s->place);
	if (is_long(f, &f->world.untold, UNTOLD_MAX))
		stream_leave(f, FIRST(&f->world.untold, struct bsa_stream_known, place));
	return s;
}

static void open_stream(struct bsa_fold *f, struct bsa_stream_known *s, const struct bsa_stream_open *e)
{
	struct bsa_connection *c = e->conn ? bsa_table_find(&f->world.connections, e->conn) : NULL;
	struct bsa_model_known *m;

	if (!c && e->conn)
		c = connection_new(f, e->conn);
	m = e->model ? bsa_model_of(f, e->model) : NULL;
	if (s->connection || !c)
		return; /* there was no memory for a connection */
	c->streams++;
	c->heard |= s->heard;
	s->connection = c;
	s->told = true;
	s->unnamed = false;
	if (!s->closed)
		line_up(&f->world.open, &s->place);
	s->model = e->model;
	s->fact.path = e->path;
	if (e->path == BSA_PATH_BURST) { /* no other path has a cache, or polls */
		s->fact.spin_us = e->spin_us;
		s->fact.client_spin_us = e->client_spin_us;
		s->fact.cache = e->cache;
	}
	s->fact.model = m ? m->fact.id : 0;
	s->fact.process = process_id(c);
	s->fact.opened = bsa_fold_since(f, e->since);
	if (c->app)
		bsa_stream_is_of(s, c->app);
	if (s->fact.opened > s->quiet_since)
		s->quiet_since = s->fact.opened;
	if (!s->newest)
		s->newest_at = s->fact.opened;
	bsa_execs_reported(s);
	report_stream(f, s);
	if (is_long(f, &f->world.open, OPEN_MAX)) {
		f->left_out.evicted++;
		stream_leave(f, FIRST(&f->world.open, struct bsa_stream_known, place));
	}
}

void bsa_on_stream_open(struct bsa_fold *f, const struct bsa_stream_open *e)
{
	struct bsa_stream_known *s = bsa_table_find(&f->world.streams, e->stream);

	if (!e->stream) {
		bsa_fold_absurd(f);
		return;
	}
	if (s && s->told) {
		if (e->since && s->connection && s->connection->entry.number == e->conn && s->fact.path == e->path &&
		    s->model == e->model)
			return;
		/* Another stream has the number of @s: the end of @s was not recorded. */
		bsa_table_remove(&f->world.streams, &s->entry);
		s->replaced = true;
		stream_leave(f, s);
		s = stream_new(f, e->stream);
		if (s)
			s->renumbered = true;
	} else if (!s) {
		s = stream_new(f, e->stream);
	}
	if (s)
		open_stream(f, s, e);
}

void bsa_on_stream_close(struct bsa_fold *f, const struct bsa_stream_close *e)
{
	struct bsa_stream_known *s = e->stream ? bsa_stream_of(f, e->stream) : NULL;

	if (!s || s->closed)
		return;
	s->closed = true;
	s->fact.closed = f->now;
	s->fact.reason = e->reason;
	if (bsa_stream_is_serial(s) && f->losses.n && !f->options.horizon_ns)
		bsa_execs_over(f, s, NULL);
	line_up(&f->world.parting, &s->place);
	if (is_long(f, &f->world.parting, PARTING_MAX))
		stream_leave(f, FIRST(&f->world.parting, struct bsa_stream_known, place));
}

/* ---- around executions ---- */

void bsa_on_app_span(struct bsa_fold *f, const struct bsa_app_span *e)
{
	uint64_t ended = bsa_fold_since(f, e->since);
	struct bsa_spanned fact = { .began = e->took_ns <= ended ? ended - e->took_ns : 0,
		                    .ended = ended,
		                    .value = e->value,
		                    .trace = f->trace,
		                    .kind = e->kind,
		                    .status = e->status };
	const struct bsa_connection *c = NULL;
	struct bsa_stream_known *s = NULL;

	if (e->kind >= BSA_SPAN_KINDS || e->owner_id > UINT32_MAX || e->took_ns > ended) {
		bsa_fold_absurd(f);
		return;
	}
	if (e->owner == BSA_OWNER_STREAM && e->owner_id && e->kind == BSA_SPAN_BURST_CONFIGURE) {
		/* Keep the stream even if its stream_open was lost, so that a repetition is recognized. */
		s = bsa_stream_of(f, (uint32_t)e->owner_id);
		if (!s || s->configured)
			return;
		s->configured = true;
	} else if (e->owner == BSA_OWNER_STREAM) {
		s = bsa_table_find(&f->world.streams, (uint32_t)e->owner_id);
	} else if (e->owner == BSA_OWNER_CONNECTION) {
		c = bsa_table_find(&f->world.connections, (uint32_t)e->owner_id);
	} else if (e->owner == BSA_OWNER_PROCESS) {
		fact.pid = (uint32_t)e->owner_id;
	}
	if (s)
		bsa_stream_name(f, s);
	fact.stream = s ? s->fact.id : 0;
	fact.app = s ? s->fact.app : app_id(c);
	fact.process = s ? s->fact.process : process_id(c);
	f->facts.spanned(f->facts.ctx, &fact);
}

/* ---- which executions are over ---- */

bool bsa_stream_had(const struct bsa_stream_known *s, uint32_t seq)
{
	const struct bsa_over *o = &s->over;

	if (seq <= o->below)
		return true;
	if (!o->many)
		return seq - o->below <= OVER_FEW && o->few >> seq % OVER_FEW & 1;
	return seq - o->below <= OVER_MANY && o->many[seq % OVER_MANY / 64] >> seq % 64 & 1;
}

/* The next @n numbers take the places of those that are over. */
static void over_slide(struct bsa_over *o, uint32_t n)
{
	uint32_t window = o->many ? OVER_MANY : OVER_FEW;

	o->below += n;
	if (n >= window && o->many)
		memset(o->many, 0, OVER_MANY / 8);
	else if (n >= window)
		o->few = 0;
	else
		for (uint32_t seq = o->below; n--; seq--)
			*(o->many ? &o->many[seq % OVER_MANY / 64] : &o->few) &= ~(UINT64_C(1) << seq % 64);
}

void bsa_stream_over(struct bsa_fold *f, struct bsa_stream_known *s, uint32_t seq)
{
	struct bsa_over *o = &s->over;

	if (seq <= o->below)
		return;
	if (!o->many && !bsa_stream_is_serial(s) && seq - o->below > OVER_FEW && f->world.n_many < OVER_MANY_MAX) {
		o->many = bsa_fold_alloc(f, OVER_MANY / 8);
		if (!o->many)
			return;
		f->world.n_many++;
		for (uint32_t i = 1; i <= OVER_FEW && i <= UINT32_MAX - o->below; i++)
			if (o->few >> (o->below + i) % OVER_FEW & 1)
				o->many[(o->below + i) % OVER_MANY / 64] |= UINT64_C(1) << (o->below + i) % 64;
	}
	if (seq - o->below > (o->many ? OVER_MANY : OVER_FEW))
		over_slide(o, seq - o->below - (o->many ? OVER_MANY : OVER_FEW));
	*(o->many ? &o->many[seq % OVER_MANY / 64] : &o->few) |= UINT64_C(1) << seq % 64;
}

/* ---- as time goes on ---- */

void bsa_world_advance(struct bsa_fold *f)
{
	struct bsa_world *w = &f->world;
	uint64_t stay = f->options.horizon_ns > BSA_PARTING_NS ? f->options.horizon_ns : BSA_PARTING_NS;
	struct bsa_stream_known *s;
	struct bsa_model_known *m;

	while ((s = FIRST(&w->parting, struct bsa_stream_known, place)) && f->now - s->fact.closed > stay)
		stream_leave(f, s);
	while ((m = FIRST(&w->parting_models, struct bsa_model_known, place)) && f->now - m->fact.released > stay)
		model_drop(f, m);
}

uint64_t bsa_streams_under_way_after(const struct bsa_fold *f)
{
	struct bsa_table_walk walk = { 0 };
	const struct bsa_stream_known *s;
	uint64_t first = BSA_NEVER;

	while ((s = bsa_table_walk(&f->world.streams, &walk))) {
		uint64_t after = may_be_under_way(f, s) ? under_way_after(f, s) : BSA_NEVER;

		first = after < first ? after : first;
	}
	return first;
}

void bsa_streams_hidden(struct bsa_fold *f)
{
	struct bsa_table_walk walk = { 0 };
	const struct bsa_stream_known *s;

	bsa_table_sort(&f->world.streams, NULL); /* for the order of the reports */
	while ((s = bsa_table_walk(&f->world.streams, &walk)))
		report_hidden(f, s);
	bsa_table_unsort(&f->world.streams);
}

void bsa_world_finish(struct bsa_fold *f)
{
	struct bsa_entry *e;
	size_t from = 0;

	bsa_table_sort(&f->world.streams, NULL); /* for the order of the reports */
	while ((e = bsa_table_any(&f->world.streams, &from)))
		stream_leave(f, (struct bsa_stream_known *)e);
}
