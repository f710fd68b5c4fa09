/*
 * emit.c -- emits the events about the service's objects: when they change, and again when a session begins.
 *
 * CONCURRENCY  Every event is emitted under the lock of the list that its object enters or has just left: so an
 *           object is not emitted again before it exists or after it has ended. A thread that emits the existing
 *           objects holds the lock `emitting`, and takes the service's, a connection's and an executor's emit_lock
 *           below it, in this order.
 * ORDERING  (1) heard is stored, release, when all objects have been emitted  --- pairs with (2)
 *           (2) a thread that begins something loads heard, acquire; if it differs from the provider's number, the
 *               thread waits for the emitting thread => its next event comes after those of the existing objects
 *           (3) a new service reads the clock (since), and stores heard before (4) it emits itself: so a session that
 *               begins between them gets the service twice, and none gets it never. The time of the event (4) is at
 *               or after since, and may be long after it, where the thread waits for a cpu or the service is
 *               stopped (analyzer/services.c relies on both).
 */
#include <unistd.h>

#include "base/sys.h"
#include "burst/server.h"
#include "driver/execution.h"
#include "model/parts.h"
#include "service/service.h"
#include "trace/pools.h"
#include "trace/span.h"

/* ---- the service ---- */

static uint32_t window_us(uint64_t window_ns)
{
	uint64_t us;

	if (window_ns == NNB_FMQ_WINDOW_AUTO)
		window_ns = nnb_fmq_wake_cost();
	us = window_ns / 1000;
	return us > UINT32_MAX ? UINT32_MAX : (uint32_t)us;
}

/* Measure what service_emit would measure otherwise: on a busy machine the cost of a wake takes seconds to find. */
static void service_prepare(const struct nnb_service *s)
{
	(void)window_us(s->config.window_ns);
}

static void service_emit(const struct nnb_service *s, uint64_t since)
{
	NBT(service_state, .pid = (uint32_t)getpid(), .instance = (uint16_t)s->instance,
	    .policy = (uint8_t)s->config.policy, .preempt_mode = (uint8_t)s->config.preempt,
	    .lanes = (uint8_t)s->config.lanes, .spin_us = window_us(s->config.window_ns), .contract = NBT_CONTRACT,
	    .since = since, .deadlines = (uint8_t)s->config.deadlines);
}

void nnb__emit_service(struct nnb_service *s)
{
	uint64_t seen = 0;

	if (nbt_on(NBT_EVENT_service_state))
		service_prepare(s);
	s->since = nnb__now();
	if (nbt_news(&seen))                                                  /* these sessions get the next event */
		atomic_store_explicit(&s->heard, seen, memory_order_relaxed); /* (3) */
	service_emit(s, 0);                                                   /* (4) */
}

void nnb__emit_hold(bool on)
{
	NBT(performance_hold, .on = on);
}

enum nbt_resource nnb__resource_in_events(enum nnb__resource r)
{
	static const uint8_t resources[NNB__N_RESOURCES] = {
		[NNB__CONNECTIONS] = NBT_resource_connections,
		[NNB__CHANNELS] = NBT_resource_connections,
		[NNB__MODELS] = NBT_resource_models,
		[NNB__BURSTS] = NBT_resource_streams,
		[NNB__BUFFERS] = NBT_resource_pools,
		[NNB__POOLS] = NBT_resource_pools,
		[NNB__BYTES] = NBT_resource_memory,
		[NNB__ASYNC] = NBT_resource_streams,
		[NNB__THREADS] = NBT_resource_streams,
		[NNB__FILES] = NBT_resource_descriptors,
		[NNB__ARRIVING] = NBT_resource_descriptors,
	};

	return resources[r];
}

void nnb__emit_exhausted(const struct nnb_service *s, const uint32_t *app, enum nbt_resource resource, uint64_t asked,
                         uint64_t limit, bool forever)
{
	NBT(resource_exhausted, .owner = app ? NBT_owner_app : NBT_owner_service, .owner_id = app ? *app : s->instance,
	    .kind = forever ? NBT_exhausted_persistent : NBT_exhausted_transient, .resource = (uint8_t)resource,
	    .asked = asked, .limit = limit);
}

/* ---- connections ---- */

static void connection_emit(const struct nnb__connection *c, uint64_t since)
{
	NBT(client_connect, .conn = c->id, .pid = c->pid, .uid = c->uid, .app = c->app->key, .name = c->name,
	    .since = since);
	for (int path = NBT_path_sync; path < NNB__CALL_PATHS; path++)
		NBT(stream_open, .stream = c->streams[path], .conn = c->id, .path = (uint8_t)path, .since = since);
}

void nnb__emit_connect(struct nnb__connection *c)
{
	pthread_mutex_lock(&c->service->lock);
	c->since = nnb__now();
	connection_emit(c, 0);
	pthread_mutex_unlock(&c->service->lock);
}

void nnb__emit_disconnect(const struct nnb__connection *c)
{
	if (!c->since)
		return;
	for (int path = NBT_path_sync; path < NNB__CALL_PATHS; path++)
		NBT(stream_close, .stream = c->streams[path], .reason = c->reason);
	NBT(client_disconnect, .conn = c->id, .reason = c->reason);
}

/* ---- models ---- */

static uint64_t constant_bytes(const struct nnb_model *m)
{
	struct nnb__operands all;
	uint64_t bytes = 0;

	for (uint32_t part = 0; nnb__part_operands(m, part, &all); part++)
		for (uint32_t i = 0; i < all.n; i++)
			if (all.at[i].lifetime == NNB_CONSTANT_COPY || all.at[i].lifetime == NNB_CONSTANT_REFERENCE)
				bytes += all.at[i].location.length;
	return bytes;
}

static uint16_t at_most_u16(uint32_t n)
{
	return n > UINT16_MAX ? UINT16_MAX : (uint16_t)n;
}

static void model_emit(const struct nnb__model *m, uint64_t since)
{
	const struct nnb_model *model = nnb_prepared_model(m->prepared);
	struct nnb_times times;

	if (nbt_on(NBT_EVENT_model_prepare)) {
		nnb__times_get(&m->times, &times);
		NBT(model_prepare, .model = m->id, .conn = m->birth.conn, .name = model->name,
		    .priority = (uint8_t)nnb_prepared_how(m->prepared)->priority,
		    .ops = at_most_u16(model->n_operations), .const_bytes = constant_bytes(model),
		    .estimate_ns = times.estimate_ns, .step_ns = times.step_ns, .deadline_ns = m->birth.deadline_ns,
		    .took_ns = m->birth.took_ns, .since = since, .digest = m->birth.digest,
		    .look_ns = m->times.look_ns);
	}
	for (uint32_t i = 0; i < model->n_pools; i++)
		nnb__emit_pool_map(NBT_owner_model, m->id, (int32_t)i, &model->pools[i],
		                   nnb__prepared_map_ns(m->prepared, i), NNB_STATUS_NONE, since);
}

void nnb__emit_prepare(struct nnb__model *m)
{
	struct nnb_times times;

	m->birth.since = nnb__now();
	m->birth.took_ns = m->birth.since - m->birth.began;
	model_emit(m, 0);
	if (m->birth.deadline_ns && m->birth.since >= m->birth.deadline_ns && nbt_on(NBT_EVENT_deadline_miss)) {
		nnb__times_get(&m->times, &times);
		NBT(deadline_miss, .model = m->id, .kind = NBT_miss_late, .stage = NBT_stage_prepare,
		    .deadline_ns = m->birth.deadline_ns, .estimate_ns = times.estimate_ns,
		    .over_ns = (int64_t)(m->birth.since - m->birth.deadline_ns));
	}
}

void nnb__emit_unprepared(const struct nnb__model_birth *b, const struct nnb_model *model, uint32_t priority,
                          enum nnb_status status)
{
	uint64_t now;

	if (!nbt_on(NBT_EVENT_model_prepare) && !nbt_on(NBT_EVENT_deadline_miss))
		return;
	now = nnb__now();
	if (status == NNB_STATUS_MISSED_DEADLINE_TRANSIENT || status == NNB_STATUS_MISSED_DEADLINE_PERSISTENT)
		NBT(deadline_miss,
		    .kind = status == NNB_STATUS_MISSED_DEADLINE_PERSISTENT ? NBT_miss_persistent : NBT_miss_transient,
		    .stage = NBT_stage_prepare, .deadline_ns = b->deadline_ns,
		    .over_ns = (int64_t)(now - b->deadline_ns));
	NBT(model_prepare, .conn = b->conn, .name = model ? model->name : NULL, .priority = (uint8_t)priority,
	    .ops = at_most_u16(model ? model->n_operations : 0), .const_bytes = model ? constant_bytes(model) : 0,
	    .deadline_ns = b->deadline_ns, .status = (uint8_t)status, .took_ns = now - b->began);
}

void nnb__emit_release(const struct nnb__model *m)
{
	for (uint32_t i = 0; i < nnb_prepared_model(m->prepared)->n_pools; i++)
		nnb__emit_pool_unmap(NBT_owner_model, m->id, (int32_t)i, NBT_cause_owner_end);
	NBT(model_release, .model = m->id);
}

/* ---- bursts ---- */

static void burst_emit(const struct nnb__burst *b, uint64_t since)
{
	struct nnb__burst_queues queues;

	if (!nbt_on(NBT_EVENT_stream_open))
		return;
	nnb__burst_server_queues(b->server, &queues);
	NBT(stream_open, .stream = b->id, .conn = b->connection->id, .path = NBT_path_burst, .model = b->model->id,
	    .request_capacity = queues.request, .result_capacity = queues.result,
	    .spin_us = window_us(queues.window_ns),
	    .cache = b->connection->service->config.plain_bursts ? NBT_cache_none : NBT_cache_slots, .since = since,
	    .client_spin_us = queues.client_spin_us);
	NBT(app_span, .kind = NBT_span_kind_burst_configure, .owner = NBT_owner_stream, .owner_id = b->id,
	    .value = window_us(queues.window_ns), .took_ns = b->took_ns, .since = since);
}

void nnb__emit_burst(struct nnb__burst *b)
{
	b->since = nnb__now();
	burst_emit(b, 0);
}

void nnb__emit_burst_end(const struct nnb__burst *b, uint64_t began)
{
	const struct nnb__connection *c = b->connection;

	if (b->since)
		nnb__span_end(began, NBT_span_kind_burst_close, NBT_owner_stream, b->id, 0, NNB_STATUS_NONE);
	if (b->since)
		NBT(stream_close, .stream = b->id,
		    .reason = atomic_load_explicit(&c->closing, memory_order_acquire) ? c->reason : NBT_reason_client);
}

/* ---- all existing objects ---- */

void nnb__service_news(struct nnb_service *s)
{
	uint64_t heard = atomic_load_explicit(&s->heard, memory_order_acquire); /* (2) */

	if (!nbt_news(&heard))
		return;
	service_prepare(s); /* before any lock */
	pthread_mutex_lock(&s->emitting);
	heard = atomic_load_explicit(&s->heard, memory_order_relaxed);
	if (nbt_news(&heard)) {
		pthread_mutex_lock(&s->lock);
		service_emit(s, s->since);
		for (struct nnb__connection *c = s->connections; c; c = c->next)
			if (c->since)
				connection_emit(c, c->since);
		for (struct nnb__model *m = s->models; m; m = m->next)
			model_emit(m, m->birth.since);
		for (struct nnb__connection *c = s->connections; c; c = c->next) {
			pthread_mutex_lock(&c->lock);
			for (uint32_t i = 0; i < c->bursts.n; i++)
				if (c->bursts.items[i])
					burst_emit(c->bursts.items[i],
					           ((struct nnb__burst *)c->bursts.items[i])->since);
			for (uint32_t i = 0; i < c->buffers.n; i++)
				if (c->buffers.items[i])
					nnb__buffer_emit_state(c->buffers.items[i]);
			for (uint32_t i = 0; i < c->bursts.n; i++)
				if (c->bursts.items[i])
					nnb__burst_server_emit_state(((struct nnb__burst *)c->bursts.items[i])->server);
			for (struct nnb__job *j = c->jobs; j; j = j->next)
				nnb__trace_emit_state(&j->trace);
			for (struct nnb__trial *t = c->trials; t; t = t->next)
				nnb__trace_emit_state(&t->trace);
			pthread_mutex_unlock(&c->lock);
		}
		pthread_mutex_unlock(&s->lock);
		atomic_store_explicit(&s->heard, heard, memory_order_release); /* (1) */
	}
	pthread_mutex_unlock(&s->emitting);
}
