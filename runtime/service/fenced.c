/*
 * fenced.c -- fenced executions: an execution waits for fences, executes, and signals a fence of its own.
 *
 * CONCURRENCY  Each has a thread, like an asynchronous execution. Besides the fences, three events end its wait: its
 *           deadline, the end of the connection, which the thread sees on the life line, and a failure of its own
 *           fence by another process or by the service, which cancels an execution whose answer the client never
 *           received.
 * ORDERING  The thread releases the request's memory, then sends the result, then signals the fence: a process that
 *           finds the fence signalled may use the memory, and knows that the result is on its way.
 * CRASH     The fences of a dead client, for which others may wait, fail.
 * TRUST     An fd is checked to be a fence before it is waited for or signalled (fence/fence.c). The file descriptors
 *           of waiting executions are charged to their app. The client makes the fence that the execution signals: if
 *           the service sent one with its answer, a client that does not read answers would keep file descriptors of
 *           the service's user in its queue, of which all clients together have RLIMIT_NOFILE.
 */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/close.h"
#include "base/kept.h"
#include "base/lock.h"
#include "base/saturating.h"
#include "base/sys.h"
#include "driver/buffer.h"
#include "fence/fence.h"
#include "service/service.h"

struct nnb__fenced {
	struct nnb__fenced *next, **from; /* list of the connection: executions that are signalling */
	pthread_t thread;
	uint64_t duration_ns; /* limit of the time after the fences are signalled; 0: none */
	uint64_t ready;       /* time when the fences were signalled */
	int fence;            /* fence to signal, which the client makes; -1 until it has come */
	uint32_t n;           /* number of fences to wait for */
	int wait_for[];
};

void nnb__fenced_free(struct nnb__fenced *f)
{
	if (!f)
		return;
	for (uint32_t i = 0; i < f->n; i++)
		if (f->wait_for[i] >= 0)
			nnb__close(f->wait_for[i]);
	if (f->fence >= 0)
		nnb__close(f->fence);
	free(f);
}

/* ---- the call ---- */

/* Read the fields of the message behind the request. */
static struct nnb__fenced *get_fenced(struct nnb__message *in, uint64_t *serial)
{
	uint64_t duration_ns = nnb__get_u64(in);
	uint32_t n = nnb__get_u32(in), left = in->n_fds - in->fds_at;
	struct nnb__fenced *f = NULL;

	*serial = nnb__get_u64(in);
	if (n < left && n + 1 == left) /* its own fence is the last */
		f = calloc(1, sizeof(*f) + n * sizeof(f->wait_for[0]));
	if (!f)
		return NULL;
	f->duration_ns = duration_ns;
	f->fence = -1;
	while (f->n < n)
		f->wait_for[f->n++] = nnb__get_fd(in);
	f->fence = nnb__get_fd(in);
	if (nnb__message_taken(in))
		return f;
	nnb__fenced_free(f);
	return NULL;
}

/* Q-31. *pending: whether a fence is pending. */
static enum nnb_status check_fences(const struct nnb__fenced *f, bool *pending, struct nnb_reason *why)
{
	*pending = false;
	for (uint32_t i = 0; i < f->n; i++) {
		int state = nnb_fence_state(f->wait_for[i]);

		*pending |= state == NNB_FENCE_PENDING;
		if (state >= 0 && state != NNB_FENCE_FAILED)
			continue;
		nnb_because(why, state < 0 ? "fence %u is not a fence" : "fence %u has failed", i);
		return NNB_STATUS_INVALID_ARGUMENT;
	}
	if (nnb_fence_state(f->fence) == NNB_FENCE_PENDING)
		return NNB_STATUS_NONE;
	nnb_because(why, "its own fence is not a pending fence");
	return NNB_STATUS_INVALID_ARGUMENT;
}

/* Check a fenced request. The contents of its buffers are checked when it begins, if that is later. */
static enum nnb_status fenced_check(struct nnb__job *j, struct nnb_reason *why)
{
	const struct nnb_prepared *prepared = j->model->prepared;
	const struct nnb_request *r = &j->request.request;
	enum nnb_status status;
	bool pending;

	if (!nnb__has_qos(j->connection)) {
		nnb_because(why, "before HAL 1.3 there are no fenced executions");
		return NNB_STATUS_INVALID_ARGUMENT;
	}
	status = nnb_request_validate(nnb_prepared_model(prepared), r, true, why);
	if (!status)
		status = check_fences(j->fenced, &pending, why);
	return status ? status : nnb__buffers_check(prepared, r, pending, why);
}

/* ---- its thread ---- */

/* */
static enum nnb_status wait_for_fences(struct nnb__job *j)
{
	const struct nnb__connection *c = j->connection;
	struct nnb__fenced *f = j->fenced;
	bool bound = j->terms.deadline_ns && c->service->config.deadlines != NNB_DEADLINES_ADVISE;
	uint64_t from = nbt_on(NBT_EVENT_fence_wait) ? nnb__now() : 0;
	uint64_t until = bound ? j->terms.deadline_ns : UINT64_MAX;
	enum nnb_status status;
	int r;

	do
		r = nnb__fence_wait(f->wait_for, f->n, until, c->life, f->fence);
	while (r == -EINTR);
	f->ready = nnb__now();
	switch (r) {
	case NNB_FENCE_SIGNALLED:
		status = NNB_STATUS_NONE;
		break;
	case NNB_FENCE_PENDING:
		atomic_fetch_add_explicit(&j->connection->app->lane_app.missed_transient, 1, memory_order_relaxed);
		nnb__trace_missed(&j->trace, NBT_miss_transient, NBT_stage_queue, 0,
		                  (int64_t)(f->ready - j->terms.deadline_ns));
		status = NNB_STATUS_MISSED_DEADLINE_TRANSIENT;
		break;
	case -ENOMEM:
		status = NNB_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
		break;
	default:
		status = NNB_STATUS_GENERAL_FAILURE;
	}
	nnb__trace_fenced(&j->trace, f->n, from ? f->ready - from : 0, status);
	return status;
}

/* Emit a deadline missed by a successful execution: its signal comes after its deadline. */
static void late_signal_emit(struct nnb__job *j)
{
	uint64_t deadline_ns = j->terms.deadline_ns, now;

	if (j->result.status || !deadline_ns || !nbt_on(NBT_EVENT_deadline_miss))
		return;
	now = nnb__now();
	if (now > deadline_ns)
		nnb__trace_missed(&j->trace, NBT_miss_late, NBT_stage_returned, 0, (int64_t)(now - deadline_ns));
}

static void put_timing(struct nnb__message *m, const struct nnb__job *j, uint64_t since, uint64_t now)
{
	bool measured = j->measure && !j->result.status;

	nnb__put_u64(m, measured ? j->result.timing.on_device_ns : UINT64_MAX);
	nnb__put_u64(m, measured ? now - since : UINT64_MAX);
}

/*
 * A process with a duplicate of a fence can make writing to it block (fence/fence.c), so the connection would never
 * end. SIGURG, whose handler in close.c does nothing, interrupts the write.
 */
void nnb__fenced_hurry(struct nnb__connection *c)
{
	assert(nnb__is_locked(&c->lock));
	for (struct nnb__fenced *f = c->signalling; f; f = f->next)
		pthread_kill(f->thread, SIGURG);
}

static void signal_fence(struct nnb__job *j)
{
	struct nnb__connection *c = j->connection;
	struct nnb__fenced *f = j->fenced;

	f->thread = pthread_self();
	pthread_mutex_lock(&c->lock);
	f->next = c->signalling;
	f->from = &c->signalling;
	if (f->next)
		f->next->from = &f->next;
	c->signalling = f;
	pthread_mutex_unlock(&c->lock);
	nnb_fence_signal(f->fence, j->result.status != NNB_STATUS_NONE);
	pthread_mutex_lock(&c->lock);
	assert(*f->from == f);
	*f->from = f->next;
	if (f->next)
		f->next->from = f->from;
	pthread_mutex_unlock(&c->lock);
}

static void *execute_behind_fences(void *arg)
{
	struct nnb__job *j = arg;
	struct nnb__fenced *f = j->fenced;
	struct nnb__message m = { 0 };
	uint64_t now;

	nnb__gate_enter(j->connection->app->gate, &j->connection->closing);
	j->result.timing = NNB_NO_TIMING;
	j->result.status = wait_for_fences(j);
	for (uint32_t i = 0; i < f->n; i++) {
		nnb__close(f->wait_for[i]);
		f->wait_for[i] = -1;
	}
	nnb__app_give(j->connection->app, NNB__POOLS, f->n);
	if (j->result.status) {
		nnb__job_fail(j);
	} else {
		/* */
		uint64_t until = f->duration_ns ? nnb__saturating_sum(f->ready, f->duration_ns) : UINT64_MAX;

		if (f->duration_ns && (!j->terms.deadline_ns || until < j->terms.deadline_ns))
			j->terms.deadline_ns = until;
		nnb__trace_deadline(&j->trace, j->terms.deadline_ns);
		nnb__job_execute(j, NULL);
	}
	nnb__job_forget(j);
	nnb__app_give(j->connection->app, NNB__ASYNC, 1);
	now = nnb__now();
	nnb__message_begin(&m, NNB__FENCED);
	nnb__put_u64(&m, j->serial);
	nnb__put_u32(&m, j->result.status);
	put_timing(&m, j, j->began, now);
	put_timing(&m, j, j->fenced->ready, now);
	nnb__event_send(j->connection, &m);
	nnb__trace_refused(&j->trace, j->result.status);
	late_signal_emit(j);
	nnb__trace_result(&j->trace);
	NNB__EMIT(&j->trace, fence_signal, .status = (uint8_t)j->result.status);
	nnb__trace_end(&j->trace);
	signal_fence(j);
	nnb__job_leave(j);
	return NULL;
}

/* ---- launching ---- */

/*
 * Launch the job on a thread of its own. After NONE, that thread owns the job, except for the fields that the caller
 * reads.
 */
static enum nnb_status fenced_launch(struct nnb__channel *ch, struct nnb__job *j, struct nnb_reason *why)
{
	struct nnb__app *app = j->connection->app;
	uint32_t fds = j->fenced->n;
	bool ever = nnb__model_fits(j->model, fds + j->request.request.n_pools, 0); /* charged for launching */
	enum nnb_status status = nnb__app_take_if(app, NNB__POOLS, fds, ever, why);

	if (status)
		return status;
	/* the channel keeps a descriptor of the fence: it fails the fence if the answer does not reach the client */
	assert(ch->made_fence < 0);
	ch->made_fence = nnb__dup(j->fenced->fence);
	if (ch->made_fence >= 0) {
		status = nnb__job_launch(j, execute_behind_fences, why);
	} else {
		nnb_because(why, "the service has no file descriptor for a fence");
		status = NNB_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
	}
	if (status)
		nnb__app_give(app, NNB__POOLS, fds);
	return status;
}

void nnb__call_execute_fenced(struct nnb__channel *ch)
{
	struct nnb_reason why = { "" };
	enum nnb_status status;
	struct nnb__job j;

	if (!nnb__job_of(ch, NBT_path_fenced, &j))
		return;
	j.fenced = get_fenced(&ch->in, &j.serial);
	if (!j.fenced) {
		nnb__job_malformed(ch, &j);
		return;
	}
	nnb__service_count(ch->connection->service, NNB__FENCEDS, 1);
	status = fenced_check(&j, &why);
	nnb__job_decoded(&j, status);
	if (!status) {
		uint64_t deadline_ns = j.terms.deadline_ns, duration_ns = j.fenced->duration_ns;

		/* Check the deadline, and the duration: if it is shorter than the model's lower bound, it counts as a
		 * deadline from now. */
		if (duration_ns && duration_ns < nnb__times_least(&j.model->times, 0))
			j.terms.deadline_ns = nnb__saturating_sum(nnb__now(), duration_ns);
		nnb__trace_deadline(&j.trace, j.terms.deadline_ns);
		status = nnb__job_admit(&j, &why);
		j.terms.deadline_ns = deadline_ns;
		if (!status)
			nnb__trace_deadline(&j.trace, deadline_ns);
		if (!status)
			status = fenced_launch(ch, &j, &why);
		if (status)
			nnb__job_fail(&j);
	}
	if (status) {
		j.result.status = status;
		nnb__job_answered(&j, NBT_queue_call_result);
		nnb__job_fini(&j);
	} else {
		NNB__EMIT(&j.trace, fmq_write, .queue = NBT_queue_call_result, .items = 1);
	}
	nnb__call_answer(ch, status, &why);
}

void nnb__fenced_answered(struct nnb__channel *ch, bool arrived)
{
	if (ch->made_fence < 0)
		return;
	if (!arrived)
		nnb_fence_signal(ch->made_fence, true);
	nnb__close(ch->made_fence);
	ch->made_fence = -1;
}
