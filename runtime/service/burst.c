/*
 * burst.c -- the service's side of a burst: its server, and the line on which it asks the client for the memories of
 * slots.
 *
 * CONCURRENCY  A burst has a reference count: the connection's table holds one reference, and a call that uses the
 *           burst another. Only the burst's own thread uses the line; nnb__burst_hang_up, from any thread, ends its
 *           waits.
 * TRUST     If a client does not answer in time, or answers with something else, the service does not ask it again on
 *           this burst, because a late answer would be taken for the answer to the next question.
 */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/close.h"
#include "base/sys.h"
#include "burst/server.h"
#include "service/service.h"
#include "trace/span.h"

/* ---- asking ---- */

/* Ask the client for the memories of slots: all of them; or a status, and none (S-10). */
static enum nnb_status burst_ask_memories(void *arg, const int32_t *slots, uint32_t n, struct nnb_memory *ret)
{
	struct nnb__burst *b = arg;
	struct nnb__message *m = &b->message;
	enum nnb_status status;
	uint32_t done = 0;
	int r;

	if (b->broken)
		return NNB_STATUS_GENERAL_FAILURE;
	nnb__message_begin(m, NNB__MEMORIES);
	nnb__put_u32(m, n);
	nnb__put_bytes(m, slots, n * sizeof(*slots));
	m->until = nnb__now() + b->connection->service->config.callback_ns;
	r = nnb__send_without_fds(b->line, m);
	if (!r)
		do
			r = nnb__message_receive(b->line, m);
		while (r == -EAGAIN && nnb__now() < m->until);
	b->broken = r && r != -EDQUOT;
	if (r)
		status = b->broken ? NNB_STATUS_GENERAL_FAILURE : m->refused;
	else
		status = nnb__answer_status(m, NULL);
	while (!status && done < n && !m->failed)
		nnb__get_memory(m, &ret[done++]);
	if (!status && !nnb__message_taken(m)) {
		status = NNB_STATUS_GENERAL_FAILURE;
		while (done)
			nnb_memory_close(&ret[--done]);
	}
	nnb__message_begin(m, 0);
	return status;
}

static void packet_taken(void *arg)
{
	const struct nnb__burst *b = arg;

	nnb__service_news(b->connection->service);
}

/* ---- life ---- */

/*
 * B-2: the burst's executor holds the device's fast state. Emit when the first hold begins, and when the last one
 * ends.
 */
static void performance_hold(struct nnb_service *s, bool on)
{
	pthread_mutex_lock(&s->lock); /* keeps the events in order */
	if (on && atomic_fetch_add_explicit(&s->holds, 1, memory_order_relaxed) == 0)
		nnb__emit_hold(true);
	if (!on) {
		unsigned before = atomic_fetch_sub_explicit(&s->holds, 1, memory_order_relaxed);

		assert(before);
		if (before == 1)
			nnb__emit_hold(false);
	}
	pthread_mutex_unlock(&s->lock);
}

/* The memory that the service keeps for requests as large as the queue, and for a result with all outputs. */
static uint64_t burst_bytes(const struct nnb__model *m, const struct nnb_fmq_desc *request)
{
	const uint64_t datum = sizeof(struct nnb_argument) + sizeof(struct nnb_request_datum) + 2 * sizeof(int32_t);
	const uint64_t output = sizeof(struct nnb_output_shape) + (1 + NNB_RANK_MAX) * sizeof(struct nnb_result_datum);
	uint64_t room = request->quantum ? request->grantors[NNB_FMQ_RING].extent / request->quantum : 0;

	room = room < NNB_BURST_CAPACITY_MAX ? room : NNB_BURST_CAPACITY_MAX; /* a larger queue is refused */
	return nnb__charged_of(room * datum + nnb_prepared_model(m->prepared)->n_outputs * output);
}

/* Charge the app for a burst of the model: the burst itself, @bytes, and the memory in which an execution computes. */
static enum nnb_status burst_charge(struct nnb__model *m, uint32_t more_files, uint64_t bytes,
                                    struct nnb_reason *reason)
{
	enum nnb_status status = nnb__app_take(m->app, NNB__BURSTS, 1, reason);

	if (status)
		return status;
	status = nnb__app_take(m->app, NNB__FILES, more_files, reason);
	if (!status) {
		status = nnb__app_take(m->app, NNB__BYTES, bytes, reason);
		if (!status && (status = nnb__model_reserve(m, 0, reason)))
			nnb__app_give(m->app, NNB__BYTES, bytes);
		if (status)
			nnb__app_give(m->app, NNB__FILES, more_files);
	}
	if (status)
		nnb__app_give(m->app, NNB__BURSTS, 1);
	return status;
}

static void burst_discharge(struct nnb__model *m, uint32_t more_files, uint64_t bytes)
{
	nnb__model_release(m);
	nnb__app_give(m->app, NNB__BYTES, bytes);
	nnb__app_give(m->app, NNB__FILES, more_files);
	nnb__app_give(m->app, NNB__BURSTS, 1);
}

static uint32_t beyond_one(uint32_t files)
{
	return files > 1 ? files - 1 : 0;
}

void nnb__burst_hang_up(struct nnb__burst *b)
{
	shutdown(b->line, SHUT_RDWR);
	if (b->server)
		/* otherwise an execution that waits for a lane would wait for its turn */
		nnb__burst_server_halt(b->server);
}

/* The burst counts from here on. */
static void burst_enlist(struct nnb__burst *b)
{
	struct nnb_service *s = b->connection->service;

	pthread_mutex_lock(&s->bursts_lock);
	b->next = s->bursts;
	b->from = &s->bursts;
	if (b->next)
		b->next->from = &b->next;
	s->bursts = b;
	pthread_mutex_unlock(&s->bursts_lock);
}

/* The burst has ended: its counts become the service's. */
static void burst_delist(struct nnb__burst *b)
{
	struct nnb_service *s = b->connection->service;
	struct nnb_burst_counts counts;

	nnb_burst_server_counts(b->server, &counts);
	pthread_mutex_lock(&s->bursts_lock);
	assert(*b->from == b);
	*b->from = b->next;
	if (b->next)
		b->next->from = b->from;
	nnb__service_count(s, NNB__BURST_REQUESTS, counts.requests);
	nnb__service_count(s, NNB__BURST_MALFORMED, counts.malformed);
	nnb__service_count(s, NNB__SLOT_LOOKUPS, counts.lookups);
	nnb__service_count(s, NNB__SLOT_MISSES, counts.misses);
	pthread_mutex_unlock(&s->bursts_lock);
}

void nnb__burst_unref(struct nnb__burst *b)
{
	struct nnb_service *s = b->connection->service;
	unsigned refs;
	uint64_t began;

	refs = atomic_fetch_sub_explicit(&b->refs, 1, memory_order_acq_rel);
	assert(refs);
	if (refs != 1)
		return;
	nnb__burst_hang_up(b);
	if (b->server) {
		began = nnb__span_begin();
		nnb_burst_server_stop(b->server);
		burst_delist(b);
		nnb_burst_server_free(b->server);
		nnb__emit_burst_end(b, began);
		performance_hold(s, false);
	}
	nnb__message_fini(&b->message);
	nnb__line_close(b->model->app->porters, b->line);
	burst_discharge(b->model, b->more_files, b->bytes);
	nnb__model_unref(b->model);
	nnb__id_give(&s->ids, b->id);
	free(b);
}

static enum nnb_status burst_start(struct nnb__burst *b, const struct nnb_fmq_desc *request,
                                   const struct nnb_fmq_desc *result, struct nnb_reason *reason)
{
	struct nnb_service *s = b->connection->service;
	const struct nnb__burst_place place = { .budget = nnb__model_budget(b->model),
		                                .lanes = &s->lanes,
		                                .app = &b->connection->app->lane_app,
		                                .times = &b->model->times,
		                                .stream = b->id };
	struct nnb_burst_server_config c = { .request = request,
		                             .result = result,
		                             .callback = { burst_ask_memories, b },
		                             .extended = b->extended,
		                             .n_outputs_max = nnb_prepared_model(b->model->prepared)->n_outputs,
		                             .window_ns = s->config.window_ns,
		                             .stream = b->id,
		                             .model = b->model->id,
		                             .app = b->connection->app->key,
		                             .priority = nnb_prepared_how(b->model->prepared)->priority,
		                             .taken = packet_taken,
		                             .answers_first = true };
	enum nnb_status status;

	if (b->model->low_power && c.window_ns == NNB_FMQ_WINDOW_AUTO) /* B-22 */
		c.window_ns = NNB_FMQ_WINDOW_NONE;

	if (nnb__burst_executor(&c.executor, b->model->prepared, !s->config.plain_bursts, &place)) {
		nnb_because(reason, "no memory for a burst");
		return NNB_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
	}
	performance_hold(s, true);
	status = nnb_burst_server_new(&b->server, &c, reason);
	if (status)
		performance_hold(s, false);
	else
		burst_enlist(b);
	return status;
}

enum nnb_status nnb__burst_new(struct nnb__burst **ret, struct nnb__connection *c, struct nnb__model *model,
                               bool extended, const struct nnb_fmq_desc *request, const struct nnb_fmq_desc *result,
                               int line, struct nnb_reason *reason)
{
	uint64_t began = nnb__now();
	uint32_t more_files = beyond_one(request->n_fds) + beyond_one(result->n_fds);
	uint64_t bytes = burst_bytes(model, request);
	enum nnb_status status = burst_charge(model, more_files, bytes, reason);
	struct nnb__burst *b = status ? NULL : calloc(1, sizeof(*b));

	if (!status && !b) {
		burst_discharge(model, more_files, bytes);
		nnb_because(reason, "no memory for a burst");
		status = NNB_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
	}
	if (status) {
		nnb__line_close(c->app->porters, line);
		nnb__model_unref(model);
		return status;
	}
	atomic_init(&b->refs, 1);
	b->connection = c;
	b->model = model;
	b->more_files = more_files;
	b->bytes = bytes;
	b->line = line;
	b->extended = extended;
	b->message.budget = nnb__budget_of(c->app);
	b->message.porters = c->app->porters;
	status = nnb__new_id(c->service, &b->id, reason);
	if (!status)
		status = burst_start(b, request, result, reason);
	b->took_ns = nnb__now() - began;
	if (status) {
		nnb__span_end(began, NBT_span_kind_burst_configure, NBT_owner_connection, c->id, 0, status);
		nnb__burst_unref(b);
	} else {
		*ret = b;
	}
	return status;
}
