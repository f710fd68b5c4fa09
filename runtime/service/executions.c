/*
 * executions.c -- executions by call: the service maps the pools for one execution, and unmaps them.
 *
 * CONCURRENCY  A synchronous execution runs on its channel's thread, an asynchronous one on its own.
 */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/lock.h"
#include "base/saturating.h"
#include "base/sys.h"
#include "driver/buffer.h"
#include "driver/execution.h"
#include "service/service.h"

enum {
	/* arguments beyond the model's that are still parsed, so that the refusal can name the error */
	ARGUMENTS_MORE = 1024,
	/* limit of threads per execution: threads of ended executions may still be sending their completion */
	UNHEARD = 2
};

void nnb__job_forget(struct nnb__job *j)
{
	if (j->held)
		nnb__buffers_let_go(j->held, j->request.request.n_pools);
	free((void *)j->held);
	j->held = NULL;
	nnb__request_fini(&j->request);
	nnb__app_give_pools(j->connection->app, j->pools, j->bytes); /* after they are closed */
	j->pools = 0;
	j->bytes = 0;
}

void nnb__job_fini(struct nnb__job *j)
{
	nnb__job_forget(j);
	free(j->result.shapes);
	if (j->call_bytes)
		nnb__app_give(j->connection->app, NNB__BYTES, j->call_bytes);
	j->call_bytes = 0;
	nnb__fenced_free(j->fenced);
	if (j->model)
		nnb__model_unref(j->model);
}

/* Add the job to the list of executions under way, for sessions that begin. The caller holds the connection's lock. */
static void job_enlist(struct nnb__job *j)
{
	struct nnb__connection *c = j->connection;

	assert(nnb__is_locked(&c->lock));
	j->next = c->jobs;
	j->from = &c->jobs;
	if (j->next)
		j->next->from = &j->next;
	c->jobs = j;
}

static void job_delist(struct nnb__job *j)
{
	assert(nnb__is_locked(&j->connection->lock));
	assert(*j->from == j);
	*j->from = j->next;
	if (j->next)
		j->next->from = j->from;
}

static void make_runner(struct nnb__runner *ret, struct nnb__job *j)
{
	struct nnb__connection *c = j->connection;

	nnb__runner_init(ret, &c->service->lanes, &c->app->lane_app, &j->model->times,
	                 nnb_prepared_how(j->model->prepared)->priority, &c->closing);
	ret->seat.trace = &j->trace;
}

enum nnb_status nnb__job_admit(struct nnb__job *j, struct nnb_reason *why)
{
	struct nnb__runner runner;

	make_runner(&runner, j);
	return nnb__admit(&runner, &j->terms, why);
}

static bool has_tokens(const struct nnb__job *j)
{
	const struct nnb_request *r = &j->request.request;
	uint32_t i = 0;

	while (i < r->n_pools && nnb_memory_kind(&r->pools[i]) != NNB_MEMORY_TOKEN)
		i++;
	return i < r->n_pools;
}

void nnb__job_fail(struct nnb__job *j)
{
	if (has_tokens(j)) /* a request without tokens may not have been validated */
		nnb__buffers_fail(j->model->prepared, &j->request.request);
}

/*
 * The status of a job that lacked @bytes or, if it had @begun, memory for its buffers: PERSISTENT if the app could
 * never have them.
 */
static enum nnb_status for_good(const struct nnb__job *j, enum nnb_status status, uint64_t bytes, bool begun)
{
	const struct nnb_request *r = &j->request.request;

	if (status != NNB_STATUS_RESOURCE_EXHAUSTED_TRANSIENT)
		return status;
	bytes = nnb__saturating_sum(bytes, nnb__buffers_bytes(j->model->prepared, r->pools, r->n_pools, begun));
	return nnb__model_fits(j->model, r->n_pools, bytes) ? status : NNB_STATUS_RESOURCE_EXHAUSTED_PERSISTENT;
}

/* Charge for the pools, unless they are charged already, for their bytes, and for a frame. */
static enum nnb_status charge_for_pools(struct nnb__job *j, uint64_t bytes, struct nnb_reason *why)
{
	uint32_t pools = j->request.request.n_pools;
	bool ever = nnb__model_fits(j->model, pools, nnb__saturating_sum(bytes, j->model->frame_bytes));
	enum nnb_status status;

	assert(j->pools <= pools && !j->bytes);
	status = nnb__app_take_pools_if(j->connection->app, pools - j->pools, bytes, ever, why);
	if (status)
		return status;
	j->pools = pools;
	j->bytes = bytes;
	return nnb__model_reserve(j->model, bytes, why);
}

/* Pools are mapped for this execution alone. */
void nnb__job_execute(struct nnb__job *j, struct nnb_reason *why)
{
	const struct nnb_request *r = &j->request.request;
	uint64_t bytes = nnb__pools_bytes(r->pools, r->n_pools);
	uint64_t with_frame = nnb__saturating_sum(bytes, j->model->frame_bytes);
	struct nnb_result *result = &j->result;
	struct nnb__runner runner;
	struct nnb_execution *e;

	result->n_shapes = 0;
	result->timing = NNB_NO_TIMING;
	result->status = for_good(j, charge_for_pools(j, bytes, why), with_frame, false);
	if (result->status) {
		nnb__job_fail(j);
		return;
	}
	result->status =
		nnb__execution_begin_held(j->model->prepared, r, j->request.pools, j->held, result->shapes, &e, why);
	if (!result->status) {
		make_runner(&runner, j);
		result->status = nnb__run(&runner, e, &j->terms, j->measure ? &result->timing.on_device_ns : NULL, why);
		nnb_execution_end(e);
		if (!result->status || result->status == NNB_STATUS_OUTPUT_INSUFFICIENT_SIZE)
			result->n_shapes = r->n_outputs;
	} else if (result->status == NNB_STATUS_OUTPUT_INSUFFICIENT_SIZE) {
		result->n_shapes = r->n_outputs; /* P-31 */
	} else {
		result->status = for_good(j, result->status, with_frame, true);
	}
	if (result->status)
		result->timing = NNB_NO_TIMING;
	else if (j->measure)
		result->timing.in_driver_ns = nnb__now() - j->began;
	nnb__model_release(j->model);
}

/* The answer is complete: emit the last events of the execution. */
void nnb__job_answered(struct nnb__job *j, enum nbt_queue queue)
{
	nnb__trace_refused(&j->trace, j->result.status);
	nnb__trace_answers(&j->trace, queue, 1, 0, 0);
	nnb__trace_end(&j->trace);
}

/* Answer the call with @status before its request has been read, and free the job. */
static void job_refuse(struct nnb__channel *ch, struct nnb__job *j, enum nnb_status status,
                       const struct nnb_reason *why)
{
	nnb__call_answer(ch, status, why);
	j->result.status = status;
	nnb__trace_decoded(&j->trace, 0, 0, 0, j->result.status);
	nnb__job_answered(j, NBT_queue_call_result);
	nnb__job_fini(j);
}

void nnb__job_malformed(struct nnb__channel *ch, struct nnb__job *j)
{
	const struct nnb_reason why = { "the call is malformed" };

	job_refuse(ch, j, NNB_STATUS_INVALID_ARGUMENT, &why);
}

void nnb__job_decoded(struct nnb__job *j, enum nnb_status status)
{
	const struct nnb_request *r = &j->request.request;

	nnb__trace_decoded(&j->trace, r->n_inputs + r->n_outputs, r->n_pools, j->terms.deadline_ns, status);
}

bool nnb__job_of(struct nnb__channel *ch, enum nbt_path path, struct nnb__job *j)
{
	static const struct nnb_fmq_waited unknown;
	struct nnb__connection *c = ch->connection;
	struct nnb_reason why = { "" };
	const struct nnb_model *m;
	enum nnb_status status;
	uint32_t most, number;
	uint8_t priority;
	uint64_t bytes;

	*j = (struct nnb__job){ .connection = ch->connection, .model = nnb__call_model(ch) };
	if (!j->model)
		return false;
	priority = (uint8_t)nnb_prepared_how(j->model->prepared)->priority;
	j->trace.who = (struct nnb__trace_who){ c->streams[path], j->model->id, c->app->key, priority, (uint8_t)path };
	j->trace.is_long = nnb__times_is_long(&j->model->times);
	/* The call's number: the client's one, if it can be taken. */
	number = nnb__get_u32(&ch->in);
	pthread_mutex_lock(&c->lock);
	number = nnb__number_take(&c->numbers[path], number);
	pthread_mutex_unlock(&c->lock);
	nnb__trace_begin(&j->trace, nnb__exec_of(c->streams[path], number));
	if (nnb__trace_asks(&j->trace))
		nnb__trace_taken(&j->trace, NBT_queue_call_request, 1, 1, &unknown);
	m = nnb_prepared_model(j->model->prepared);
	j->measure = nnb__get_u32(&ch->in);
	nnb__get_terms(&ch->in, &j->terms);
	if (!nnb__has_qos(ch->connection) && (j->terms.deadline_ns || j->terms.loop_timeout_ns))
		ch->in.failed = true; /* an older HAL has no terms */
	j->began = j->measure ? nnb__now() : 0;
	most = m->n_inputs + m->n_outputs + ARGUMENTS_MORE;
	/* Charge for the memory of the request, which is read next, and of its result. */
	bytes = nnb__charged_of(nnb__request_bytes(&ch->in, most));
	status = bytes ? nnb__app_take(j->connection->app, NNB__BYTES, bytes, &why) : NNB_STATUS_NONE;
	j->call_bytes = status ? 0 : bytes;
	if (status) {
		job_refuse(ch, j, status, &why);
		return false;
	}
	if (nnb__get_request(&ch->in, most, &j->request))
		j->result.shapes = calloc((size_t)j->request.request.n_outputs + 1, sizeof(*j->result.shapes));
	j->request.request.exec = j->trace.exec;
	if (j->result.shapes)
		return true;
	nnb__job_malformed(ch, j);
	return false;
}

/* Validate the request, before its deadline is checked. */
static enum nnb_status job_check(struct nnb__job *j, struct nnb_reason *why)
{
	const struct nnb_request *r = &j->request.request;
	enum nnb_status status = nnb_request_validate(nnb_prepared_model(j->model->prepared), r, false, why);

	return status ? status : nnb__buffers_check(j->model->prepared, r, false, why);
}

/* Whether this status of job_check means that nothing has changed. */
static bool is_refusal(enum nnb_status status)
{
	return status == NNB_STATUS_INVALID_ARGUMENT || status == NNB_STATUS_GENERAL_FAILURE;
}

void nnb__call_execute(struct nnb__channel *ch)
{
	enum nnb_status status = NNB_STATUS_NONE, missed;
	struct nnb_reason why = { "" };
	struct nnb__job j;

	if (!nnb__job_of(ch, NBT_path_sync, &j))
		return;
	if (!nnb__message_taken(&ch->in)) {
		nnb__job_malformed(ch, &j);
		return;
	}
	nnb__service_count(ch->connection->service, NNB__SYNC, 1);
	pthread_mutex_lock(&ch->connection->lock);
	job_enlist(&j);
	pthread_mutex_unlock(&ch->connection->lock);

	j.result.timing = NNB_NO_TIMING;
	/* a valid request that cannot be executed makes its outputs in buffers uninitialised */
	if (j.terms.deadline_ns || has_tokens(&j))
		status = job_check(&j, &why);
	nnb__job_decoded(&j, status);
	missed = status ? status : nnb__job_admit(&j, &why);
	if (!missed) {
		nnb__job_execute(&j, &why);
	} else {
		if (!is_refusal(status))
			nnb__job_fail(&j);
		j.result.status = missed;
	}

	pthread_mutex_lock(&ch->connection->lock);
	job_delist(&j);
	pthread_mutex_unlock(&ch->connection->lock);
	j.result.status = nnb__status_for(ch->connection, j.result.status);
	nnb__call_answer(ch, j.result.status, &why);
	nnb__put_result(&ch->out, &j.result);
	nnb__job_answered(&j, NBT_queue_call_result);
	ch->owed = j.call_bytes;
	j.call_bytes = 0;
	nnb__job_fini(&j);
}

/* ---- asynchronous executions ---- */

/* Send the completion event, exactly once; a connection that is closing gets none. */
static void completion_send(struct nnb__job *j)
{
	struct nnb__connection *c = j->connection;
	struct nnb__message m = { 0 };

	j->result.status = nnb__status_for(c, j->result.status);
	nnb__message_begin(&m, NNB__DONE);
	nnb__put_u64(&m, j->serial);
	nnb__put_result(&m, &j->result);
	nnb__job_answered(j, NBT_queue_call_result);
	nnb__event_send(c, &m);
}

void nnb__job_leave(struct nnb__job *j)
{
	struct nnb__connection *c = j->connection;

	pthread_mutex_lock(&c->lock);
	job_delist(j);
	pthread_mutex_unlock(&c->lock);
	nnb__job_fini(j);
	free(j);
	nnb__app_give(c->app, NNB__THREADS, 1);
	pthread_mutex_lock(&c->lock);
	assert(c->n_async);
	c->n_async--;
	pthread_cond_broadcast(&c->fewer);
	pthread_mutex_unlock(&c->lock); /* the connection may be gone from here on */
}

static void *execute_beside(void *arg)
{
	struct nnb__job *j = arg;

	nnb__gate_enter(j->connection->app->gate, &j->connection->closing);
	nnb__job_execute(j, NULL);
	nnb__job_forget(j); /* its files are no longer charged, and sending the event may take long */
	/* before the event, because the client may launch another one when it arrives */
	nnb__app_give(j->connection->app, NNB__ASYNC, 1);
	completion_send(j);
	nnb__job_leave(j);
	return NULL;
}

/* Hold the buffers of the job's tokens from now on, because a token may be invalid when the job runs. */
static bool buffers_hold(struct nnb__job *j)
{
	const struct nnb_request *r = &j->request.request;

	if (!has_tokens(j))
		return true;
	j->held = calloc(r->n_pools, sizeof(struct nnb_buffer *));
	if (j->held)
		nnb__buffers_hold(j->model->prepared, r, j->held);
	return j->held;
}

enum nnb_status nnb__job_launch(struct nnb__job *j, void *(*run)(void *job), struct nnb_reason *why)
{
	struct nnb__connection *c = j->connection;
	uint32_t pools = j->request.request.n_pools;
	enum nnb_status status = nnb__model_take(j->model, pools, 0, why);
	struct nnb__job *own;
	pthread_attr_t attr;
	pthread_t thread;
	bool heard = false; /* few enough completions wait to be sent: the client reads its events */
	int r = -1;

	if (status)
		return status;
	assert(!j->pools && !j->held);
	j->pools = pools; /* from here on: the message that brought them ends with the call */
	status = nnb__app_take(c->app, NNB__ASYNC, 1, why);
	if (status)
		return status;
	status = nnb__app_take(c->app, NNB__THREADS, 1, why);
	if (status) {
		nnb__app_give(c->app, NNB__ASYNC, 1);
		return status;
	}
	own = buffers_hold(j) ? malloc(sizeof(*own)) : NULL;
	if (own) {
		*own = *j;
		pthread_mutex_lock(&c->lock);
		heard = c->n_async < UNHEARD * c->service->limits[NNB__ASYNC];
		c->n_async += heard;
		if (heard)
			job_enlist(own);
		pthread_mutex_unlock(&c->lock);
	}
	if (heard) {
		pthread_attr_init(&attr);
		pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
		r = pthread_create(&thread, &attr, run, own);
		pthread_attr_destroy(&attr);
	}
	if (!r)
		return NNB_STATUS_NONE;
	if (heard) {
		pthread_mutex_lock(&c->lock);
		job_delist(own);
		assert(c->n_async);
		c->n_async--;
		pthread_mutex_unlock(&c->lock);
	}
	free(own);
	nnb__app_give(c->app, NNB__THREADS, 1);
	nnb__app_give(c->app, NNB__ASYNC, 1);
	nnb_because(why, "no memory or thread for it");
	return NNB_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
}

/*
 * P-32: the answer and the callback both report an error in the arguments. Q-27: only the callback reports a deadline
 * that cannot be met; the launch succeeds.
 */
void nnb__call_execute_async(struct nnb__channel *ch)
{
	struct nnb_reason why = { "" };
	enum nnb_status status, invalid, missed;
	struct nnb__job j;

	if (!nnb__job_of(ch, NBT_path_async, &j))
		return;
	j.serial = nnb__get_u64(&ch->in);
	if (!nnb__message_taken(&ch->in)) {
		nnb__job_malformed(ch, &j);
		return;
	}
	nnb__service_count(ch->connection->service, NNB__ASYNCS, 1);
	invalid = status = job_check(&j, &why);
	nnb__job_decoded(&j, status);
	missed = status ? status : nnb__job_admit(&j, &why);
	if (!missed)
		missed = status = nnb__job_launch(&j, execute_beside, &why);
	if (missed) {
		if (!is_refusal(invalid))
			nnb__job_fail(&j);
		j.result.status = missed;
		j.result.timing = NNB_NO_TIMING;
		completion_send(&j);
		nnb__job_fini(&j);
	}
	ch->will_complete = true;
	nnb__call_answer(ch, status, &why);
	nnb__put_u32(&ch->out, true);
}
