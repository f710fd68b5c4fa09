/*
 * calls.c -- answers the calls of clients: a function for each type of message, here or in models.c, buffers.c,
 * executions.c and fenced.c.
 *
 * CONCURRENCY  A call runs on its channel's thread, beside those of other channels. It looks up the connection's
 *           objects under the lock and takes references; it does not hold the lock while it works.
 * TRUST     The answer to a malformed call is INVALID_ARGUMENT; the service closes the fds and frees the memory that
 *           came with it. The app is charged first for everything that a call makes the service hold.
 */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/close.h"
#include "base/lock.h"
#include "model/status.h"
#include "service/service.h"

void nnb__call_answer(struct nnb__channel *ch, enum nnb_status status, const struct nnb_reason *why)
{
	nnb__answer_begin(&ch->out, nnb__status_for(ch->connection, status), why);
}

enum nnb_status nnb__status_for(const struct nnb__connection *c, enum nnb_status status)
{
	return nnb__has_qos(c) ? status : nnb__status_of_1_2(status);
}

void nnb__call_malformed(struct nnb__channel *ch)
{
	const struct nnb_reason why = { "the call is malformed" };

	nnb__call_answer(ch, NNB_STATUS_INVALID_ARGUMENT, &why);
}

/* ---- bursts ---- */

/* Read the descriptor of a queue. The caller owns its fds. */
static bool get_desc(struct nnb__message *in, struct nnb_fmq_desc *ret)
{
	uint32_t bytes = nnb__get_u32(in), n_fds = nnb__get_u32(in);
	int fds[NNB_FMQ_MAX_FDS];
	bool good = nnb__message_holds(in, bytes, 1) && n_fds <= NNB_FMQ_MAX_FDS;

	ret->n_fds = 0;
	if (!good) {
		in->failed = true;
		return false;
	}
	for (uint32_t i = 0; i < n_fds; i++)
		fds[i] = nnb__get_fd(in);
	good = !in->failed && !nnb_fmq_desc_decode(ret, in->body + in->at, bytes, fds, n_fds);
	in->at += bytes;
	for (uint32_t i = 0; !good && i < n_fds; i++)
		if (fds[i] >= 0)
			nnb__close(fds[i]);
	return good;
}

/* Put the burst into the connection's table; from then on another call may close it at any time. NONE and its id. */
static enum nnb_status keep_burst(struct nnb__connection *c, struct nnb__burst *b, uint32_t *id, struct nnb_reason *why)
{
	int r;

	pthread_mutex_lock(&c->lock);
	*id = b->id;
	r = nnb__table_put(&c->bursts, b->id, b);
	if (!r)
		nnb__emit_burst(b);
	pthread_mutex_unlock(&c->lock);
	if (!r)
		return NNB_STATUS_NONE;
	nnb__burst_unref(b);
	nnb_because(why, "no memory for a burst");
	return NNB_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
}

static void call_burst(struct nnb__channel *ch)
{
	struct nnb__connection *c = ch->connection;
	struct nnb__model *model = nnb__call_model(ch);
	struct nnb_fmq_desc request = { 0 }, result = { 0 };
	struct nnb_reason why = { "" };
	struct nnb__burst *b;
	enum nnb_status status;
	uint32_t extended;
	int line = -1;

	if (!model)
		return;
	extended = nnb__get_u32(&ch->in);
	if (get_desc(&ch->in, &request) && get_desc(&ch->in, &result))
		line = nnb__get_line(&ch->in);
	if (line >= 0 && nnb__message_taken(&ch->in) && extended <= nnb__has_qos(c)) {
		status = nnb__burst_new(&b, c, model, extended, &request, &result, line, &why);
		if (!status)
			status = keep_burst(c, b, &ch->made_burst, &why);
		if (status)
			ch->made_burst = 0;
		nnb__call_answer(ch, status, &why);
		if (!status)
			nnb__put_u32(&ch->out, ch->made_burst);
	} else {
		nnb__model_unref(model);
		if (line >= 0)
			nnb__line_close(c->app->porters, line);
		nnb__call_malformed(ch);
	}
	nnb_fmq_desc_close(&request);
	nnb_fmq_desc_close(&result);
}

static void drop_burst(struct nnb__connection *c, uint32_t id)
{
	struct nnb__burst *b;

	pthread_mutex_lock(&c->lock);
	b = nnb__table_remove(&c->bursts, id);
	pthread_mutex_unlock(&c->lock);
	if (b)
		nnb__burst_unref(b);
}

static void call_burst_close(struct nnb__channel *ch)
{
	uint32_t id = nnb__get_u32(&ch->in);

	if (!nnb__message_taken(&ch->in)) {
		nnb__call_malformed(ch);
		return;
	}
	drop_burst(ch->connection, id);
	nnb__call_answer(ch, NNB_STATUS_NONE, NULL);
}

/* S-13 */
static void call_free_memory(struct nnb__channel *ch)
{
	struct nnb__connection *c = ch->connection;
	uint32_t id = nnb__get_u32(&ch->in);
	int32_t slot = (int32_t)nnb__get_u32(&ch->in);
	struct nnb__burst *b;

	if (!nnb__message_taken(&ch->in)) {
		nnb__call_malformed(ch);
		return;
	}
	pthread_mutex_lock(&c->lock);
	b = nnb__table_get(&c->bursts, id);
	if (b)
		atomic_fetch_add_explicit(&b->refs, 1, memory_order_relaxed);
	pthread_mutex_unlock(&c->lock);
	if (b) {
		nnb_burst_server_free_memory(b->server, slot);
		nnb__burst_unref(b);
	}
	nnb__call_answer(ch, NNB_STATUS_NONE, NULL);
}

/* ---- counts ---- */

static struct nnb_holdings holdings_of(const uint64_t held[NNB__N_RESOURCES])
{
	return (struct nnb_holdings){ .connections = held[NNB__CONNECTIONS],
		                      .channels = held[NNB__CHANNELS],
		                      .models = held[NNB__MODELS],
		                      .bursts = held[NNB__BURSTS],
		                      .buffers = held[NNB__BUFFERS],
		                      .pools = held[NNB__POOLS],
		                      .bytes = held[NNB__BYTES],
		                      .executions_under_way = held[NNB__ASYNC] };
}

/* The service's lock is held. */
static struct nnb_budget budget_of(const struct nnb__app *app, enum nnb__machine_resource of)
{
	const struct nnb__quota *q = &app->service->quotas[of];
	const uint64_t unit = of == NNB__MAPPINGS ? NNB__MAPPING : 1;

	assert(nnb__is_locked(&app->service->lock));
	return (struct nnb_budget){ .limit = q->limit / unit,
		                    .most = q->most / unit,
		                    .guaranteed = app->guaranteed ? q->guaranteed / unit : 0,
		                    .all = (q->used + unit - 1) / unit,
		                    .app = (app->of_machine[of].units + unit - 1) / unit };
}

/* What all bursts have done, with those that have ended. */
static void bursts_count(struct nnb_service *s, struct nnb_service_counts *ret)
{
	pthread_mutex_lock(&s->bursts_lock); /* not the service's lock, for which executions wait */
	ret->burst_requests = atomic_load_explicit(&s->counters[NNB__BURST_REQUESTS], memory_order_relaxed);
	ret->burst_malformed = atomic_load_explicit(&s->counters[NNB__BURST_MALFORMED], memory_order_relaxed);
	ret->slot_lookups = atomic_load_explicit(&s->counters[NNB__SLOT_LOOKUPS], memory_order_relaxed);
	ret->slot_misses = atomic_load_explicit(&s->counters[NNB__SLOT_MISSES], memory_order_relaxed);
	for (const struct nnb__burst *b = s->bursts; b; b = b->next) {
		struct nnb_burst_counts counts;

		nnb_burst_server_counts(b->server, &counts);
		ret->burst_requests += counts.requests;
		ret->burst_malformed += counts.malformed;
		ret->slot_lookups += counts.lookups;
		ret->slot_misses += counts.misses;
	}
	pthread_mutex_unlock(&s->bursts_lock);
}

static void call_counts(struct nnb__channel *ch)
{
	struct nnb_service *s = ch->connection->service;
	struct nnb_service_counts n = { 0 };
	uint64_t counters[NNB__N_COUNTERS];

	if (!nnb__message_taken(&ch->in)) {
		nnb__call_malformed(ch);
		return;
	}
	bursts_count(s, &n);
	for (int i = 0; i < NNB__N_COUNTERS; i++)
		counters[i] = atomic_load_explicit(&s->counters[i], memory_order_relaxed);
	n.sync_executions = counters[NNB__SYNC];
	n.async_executions = counters[NNB__ASYNCS];
	n.fenced_executions = counters[NNB__FENCEDS];
	n.refused = counters[NNB__REFUSED];
	n.performance_held = atomic_load_explicit(&s->holds, memory_order_relaxed) > 0;
	n.limit = holdings_of(s->limits);
	pthread_mutex_lock(&s->lock);
	n.all = holdings_of(s->held);
	n.app = holdings_of(ch->connection->app->held);
	n.descriptors = budget_of(ch->connection->app, NNB__DESCRIPTORS);
	n.mappings = budget_of(ch->connection->app, NNB__MAPPINGS);
	n.memory = budget_of(ch->connection->app, NNB__MEMORY);
	n.threads = budget_of(ch->connection->app, NNB__TASKS);
	pthread_mutex_unlock(&s->lock);
	nnb__call_answer(ch, NNB_STATUS_NONE, NULL);
	nnb__put_counts(&ch->out, &n);
}

static void call_apps(struct nnb__channel *ch)
{
	struct nnb__connection *c = ch->connection;
	struct nnb_app_counts *counts;
	uint32_t n;

	if (!nnb__message_taken(&ch->in)) {
		nnb__call_malformed(ch);
		return;
	}
	n = nnb__apps_counts(c->service, c->sees_all ? NULL : c->app, &counts);
	nnb__call_answer(ch, counts ? NNB_STATUS_NONE : NNB_STATUS_RESOURCE_EXHAUSTED_TRANSIENT, NULL);
	if (counts) {
		nnb__put_u32(&ch->out, n);
		for (uint32_t i = 0; i < n; i++)
			nnb__put_app(&ch->out, &counts[i]);
	}
	free(counts);
}

/* ---- the table ---- */

static void (*const calls[])(struct nnb__channel *ch) = {
	[NNB__COUNTS] = call_counts,
	[NNB__SUPPORTED] = nnb__call_supported,
	[NNB__PREPARE] = nnb__call_prepare,
	[NNB__PREPARE_FROM_CACHE] = nnb__call_prepare_from_cache,
	[NNB__RELEASE] = nnb__call_release,
	[NNB__EXECUTE] = nnb__call_execute,
	[NNB__EXECUTE_ASYNC] = nnb__call_execute_async,
	[NNB__BURST] = call_burst,
	[NNB__BURST_CLOSE] = call_burst_close,
	[NNB__FREE_MEMORY] = call_free_memory,
	[NNB__EXECUTE_FENCED] = nnb__call_execute_fenced,
	[NNB__TIMES] = nnb__call_times,
	[NNB__APPS] = call_apps,
	[NNB__BUFFER] = nnb__call_buffer,
	[NNB__BUFFER_FREE] = nnb__call_buffer_free,
	[NNB__BUFFER_WRITE] = nnb__call_buffer_write,
	[NNB__BUFFER_READ] = nnb__call_buffer_read,
};

int nnb__call_dispatch(struct nnb__channel *ch)
{
	uint16_t type = ch->in.type;

	if (type >= sizeof(calls) / sizeof(calls[0]) || !calls[type])
		return -EBADMSG;
	nnb__service_news(ch->connection->service);
	calls[type](ch);
	return 0;
}

void nnb__call_undo(struct nnb__channel *ch)
{
	if (ch->made_buffer)
		nnb__buffer_drop(ch->connection, ch->made_buffer, NBT_cause_freed);
	if (ch->made_burst)
		drop_burst(ch->connection, ch->made_burst);
	if (ch->made_model)
		nnb__model_drop(ch->connection, ch->made_model);
}
