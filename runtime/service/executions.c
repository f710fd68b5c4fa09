/*
 * executions.c -- executing by call: pools are mapped for one execution, and unmapped.
 *
 * CONCURRENCY  A synchronous execution runs on its channel's thread, an asynchronous one on its own.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "fmq/sys.h"
#include "service/service.h"

enum { ARGUMENTS_MORE = 1024 }; /* than the model has: such a call is taken apart, to be refused with words */

/* One execution by the ordinary path, from the call to its result. */
struct job {
	struct nnb__connection *connection;
	struct nnb__model *model;
	struct nnb__request request;
	struct nnb_result result; /* owns its shapes */
	bool measure;
	uint64_t serial; /* of an asynchronous one */
	uint64_t began;
};

static void job_fini(struct job *j)
{
	nnb__request_fini(&j->request);
	free(j->result.shapes);
	if (j->model)
		nnb__model_unref(j->model);
}

static bool go_on(void *arg, uint32_t next_op)
{
	struct job *j = arg;

	(void)next_op;
	return !atomic_load_explicit(&j->connection->closing, memory_order_relaxed);
}

static enum nnb_status run(struct job *j, struct nnb_execution *e, struct nnb_reason *why)
{
	uint64_t began = j->measure ? nnb__now() : 0;
	bool finished;
	enum nnb_status status = nnb_execution_run(e, go_on, j, &finished);

	if (!status && !finished)
		return NNB_STATUS_GENERAL_FAILURE; /* the client is gone */
	if (status)
		nnb_because(why, "running the model failed at operation %u", nnb_execution_next_op(e));
	else if (j->measure)
		j->result.timing.on_device_ns = nnb__now() - began;
	return status;
}

/* Pools are mapped for this execution alone. */
static void execute_job(struct job *j, struct nnb_reason *why)
{
	struct nnb__app *app = j->connection->app;
	const struct nnb_request *r = &j->request.request;
	uint64_t bytes = nnb__pools_bytes(r->pools, r->n_pools);
	struct nnb_result *result = &j->result;
	struct nnb_execution *e;

	result->n_shapes = 0;
	result->timing = NNB_NO_TIMING;
	result->status = nnb__take_pools(app, r->n_pools, bytes, why);
	if (result->status)
		return;
	result->status = nnb_execution_begin(j->model->prepared, r, NULL, false, result->shapes, &e, why);
	if (!result->status) {
		result->status = run(j, e, why);
		nnb_execution_end(e);
		result->n_shapes = result->status ? 0 : r->n_outputs;
	} else if (result->status == NNB_STATUS_OUTPUT_INSUFFICIENT_SIZE) {
		result->n_shapes = r->n_outputs; /* P-31 */
	}
	if (result->status)
		result->timing = NNB_NO_TIMING;
	else if (j->measure)
		result->timing.in_driver_ns = nnb__now() - j->began;
	nnb__give(app, NNB__POOLS, r->n_pools);
	nnb__give(app, NNB__BYTES, bytes);
}

/* Take the call apart. False, and the call is answered. */
static bool job_of(struct nnb__channel *ch, struct job *j)
{
	const struct nnb_model *m;

	*j = (struct job){ .connection = ch->connection, .model = nnb__call_model(ch) };
	if (!j->model)
		return false;
	m = nnb_prepared_model(j->model->prepared);
	j->measure = nnb__get_u32(&ch->in);
	j->began = j->measure ? nnb__now() : 0;
	if (nnb__get_request(&ch->in, m->n_inputs + m->n_outputs + ARGUMENTS_MORE, &j->request))
		j->result.shapes = calloc((size_t)j->request.request.n_outputs + 1, sizeof(*j->result.shapes));
	if (j->result.shapes)
		return true;
	nnb__call_malformed(ch);
	job_fini(j);
	return false;
}

void nnb__call_execute(struct nnb__channel *ch)
{
	struct nnb_reason why = { "" };
	struct job j;

	if (!job_of(ch, &j))
		return;
	if (nnb__taken(&ch->in)) {
		nnb__count(ch->connection->service, NNB__SYNC, 1);
		execute_job(&j, &why);
		nnb__call_answer(ch, j.result.status, &why);
		nnb__put_result(&ch->out, &j.result);
	} else {
		nnb__call_malformed(ch);
	}
	job_fini(&j);
}

/* Tell the client that it is done, exactly once; nobody listens any more once the connection is closing. */
static void tell(struct job *j)
{
	struct nnb__connection *c = j->connection;
	struct nnb__message m = { 0 };

	nnb__message_begin(&m, NNB__DONE);
	nnb__put_u64(&m, j->serial);
	nnb__put_result(&m, &j->result);
	pthread_mutex_lock(&c->events_lock);
	if (nnb__send(c->events, &m)) /* no memory to tell it, perhaps: to hear the end is to be told as well */
		shutdown(c->events, SHUT_RDWR);
	pthread_mutex_unlock(&c->events_lock);
	nnb__message_fini(&m);
}

static void *execute_beside(void *arg)
{
	struct job *j = arg;
	struct nnb__connection *c = j->connection;

	execute_job(j, NULL);
	tell(j);
	job_fini(j);
	free(j);
	nnb__give(c->app, NNB__ASYNC, 1);
	pthread_mutex_lock(&c->lock);
	c->n_async--;
	pthread_cond_broadcast(&c->fewer);
	pthread_mutex_unlock(&c->lock); /* the connection may be gone from here on */
	return NULL;
}

/* Start a thread for a copy of the job. NONE: it will tell. */
static enum nnb_status launch(struct job *j, struct nnb_reason *why)
{
	struct nnb__connection *c = j->connection;
	enum nnb_status status = nnb__take(c->app, NNB__ASYNC, 1, why);
	struct job *own;
	pthread_attr_t attr;
	pthread_t thread;
	int r = -1;

	if (status)
		return status;
	own = malloc(sizeof(*own));
	if (own) {
		*own = *j;
		pthread_mutex_lock(&c->lock);
		c->n_async++;
		pthread_mutex_unlock(&c->lock);
		pthread_attr_init(&attr);
		pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
		r = pthread_create(&thread, &attr, execute_beside, own);
		pthread_attr_destroy(&attr);
	}
	if (!r)
		return NNB_STATUS_NONE;
	if (own) {
		pthread_mutex_lock(&c->lock);
		c->n_async--;
		pthread_mutex_unlock(&c->lock);
	}
	free(own);
	nnb__give(c->app, NNB__ASYNC, 1);
	nnb_because(why, "no memory or thread for it");
	return NNB_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
}

/* P-32: what is wrong with the arguments is told both ways. */
void nnb__call_execute_async(struct nnb__channel *ch)
{
	struct nnb_reason why = { "" };
	struct job j;
	enum nnb_status status;

	if (!job_of(ch, &j))
		return;
	j.serial = nnb__get_u64(&ch->in);
	if (!nnb__taken(&ch->in)) {
		nnb__call_malformed(ch);
		job_fini(&j);
		return;
	}
	nnb__count(ch->connection->service, NNB__ASYNCS, 1);
	status = nnb_request_validate(nnb_prepared_model(j.model->prepared), &j.request.request, false, &why);
	if (!status)
		status = launch(&j, &why);
	if (status) {
		j.result.status = status;
		j.result.timing = NNB_NO_TIMING;
		tell(&j);
		job_fini(&j);
	}
	ch->will_tell = true;
	nnb__call_answer(ch, status, &why);
	nnb__put_u32(&ch->out, true);
}
