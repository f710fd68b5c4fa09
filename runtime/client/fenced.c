/*
 * fenced.c -- fenced executions: the call returns at the launch, and the result arrives later.
 *
 * CONCURRENCY  Any thread; the events' thread delivers the result. A fenced execution is reference-counted: by its
 *           user, and by its client's list from before the call until its fence is no longer pending. Order of locks:
 *           the client's, then its own.
 * CRASH     The service first sends the result, and then signals the fence. If it dies before, or between the two,
 *           the fence stays pending: the events' thread sees the end of the connection, and fails the fence instead.
 */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/lock.h"
#include "burst/result.h"
#include "client/client.h"
#include "nnb/fence.h"

struct nnb_fenced {
	struct nnb_fenced *next;
	atomic_uint refs;
	uint64_t serial, exec;
	bool measure;

	pthread_mutex_t lock;      /* guards the following fields */
	pthread_cond_t over;       /* signalled when the result has arrived */
	struct nnb_remote *remote; /* a reference, until the result has arrived */
	int fence;                 /* -1: the service has not answered yet */
	bool has_result, alone;    /* alone: no service will signal the fence */
	enum nnb_status status;
	struct nnb_timing since_launch, since_fences;
};

/* ---- memory ---- */

static struct nnb_fenced *fenced_new(struct nnb_remote *remote, const struct nnb_call *call)
{
	struct nnb_fenced *f = calloc(1, sizeof(*f));

	if (!f)
		return NULL;
	atomic_init(&f->refs, 1);
	f->measure = call->measure;
	f->fence = -1;
	f->since_launch = f->since_fences = NNB_NO_TIMING;
	f->remote = nnb__remote_ref(remote);
	pthread_mutex_init(&f->lock, NULL);
	pthread_cond_init(&f->over, NULL);
	return f;
}

static void fenced_unref(struct nnb_fenced *f)
{
	unsigned had = atomic_fetch_sub_explicit(&f->refs, 1, memory_order_acq_rel);

	assert(had > 0);
	if (had != 1)
		return;
	nnb_remote_release(f->remote);
	if (f->fence >= 0)
		close(f->fence);
	pthread_cond_destroy(&f->over);
	pthread_mutex_destroy(&f->lock);
	free(f);
}

static struct nnb_fenced *fenced_ref(struct nnb_fenced *f)
{
	atomic_fetch_add_explicit(&f->refs, 1, memory_order_relaxed);
	return f;
}

struct nnb_fenced *nnb_fenced_free(struct nnb_fenced *f)
{
	if (f)
		fenced_unref(f);
	return NULL;
}

/* ---- the list ---- */

/* Drop the executions whose result has arrived and whose fence is signalled. The client's lock is held. */
static void fenced_sweep(struct nnb_client *c)
{
	struct nnb_fenced **at = &c->fenced, *f;

	assert(nnb__is_locked(&c->lock));
	while ((f = *at)) {
		bool over;

		pthread_mutex_lock(&f->lock);
		over = f->has_result && f->fence >= 0 && nnb_fence_state(f->fence) != NNB_FENCE_PENDING;
		pthread_mutex_unlock(&f->lock);
		if (!over) {
			at = &f->next;
			continue;
		}
		*at = f->next;
		fenced_unref(f);
	}
}

/* List the execution: from now on it gets a result, even if the service dies. False: the service is gone. */
static bool fenced_enlist(struct nnb_client *c, struct nnb_fenced *f)
{
	bool alive;

	pthread_mutex_lock(&c->lock);
	fenced_sweep(c);
	alive = !atomic_load_explicit(&c->dead, memory_order_relaxed);
	if (alive) {
		f->serial = ++c->last_serial;
		f->next = c->fenced;
		c->fenced = fenced_ref(f);
	}
	pthread_mutex_unlock(&c->lock);
	return alive;
}

static void fenced_delist(struct nnb_client *c, const struct nnb_fenced *f)
{
	struct nnb_fenced **at = &c->fenced, *is = NULL;

	pthread_mutex_lock(&c->lock);
	while (*at && *at != f)
		at = &(*at)->next;
	if (*at) {
		is = *at;
		*at = is->next;
	}
	pthread_mutex_unlock(&c->lock);
	if (is)
		fenced_unref(is);
}

/* ---- results that the service reports ---- */

static void fenced_set_result(struct nnb_fenced *f, enum nnb_status status, const struct nnb_timing *since_launch,
                              const struct nnb_timing *since_fences)
{
	struct nnb_remote *remote;

	pthread_mutex_lock(&f->lock);
	if (!f->has_result)
		f->status = status;
	if (!f->has_result && !status && f->measure) { /* */
		f->since_launch = *since_launch;
		f->since_fences = *since_fences;
	}
	f->has_result = true;
	remote = f->remote;
	f->remote = NULL;
	pthread_cond_broadcast(&f->over);
	pthread_mutex_unlock(&f->lock);
	nnb_remote_release(remote);
}

static struct nnb_timing get_timing(struct nnb__message *m)
{
	struct nnb_timing t;

	t.on_device_ns = nnb__get_u64(m);
	t.in_driver_ns = nnb__get_u64(m);
	return t;
}

void nnb__fenced_take_result(struct nnb_client *c, struct nnb__message *m)
{
	uint64_t serial = nnb__get_u64(m);
	uint32_t status = nnb__get_u32(m);
	struct nnb_timing since_launch = get_timing(m), since_fences = get_timing(m);
	struct nnb_fenced *f;

	pthread_mutex_lock(&c->lock);
	fenced_sweep(c);
	for (f = c->fenced; f && f->serial != serial; f = f->next)
		;
	if (f)
		fenced_ref(f);
	pthread_mutex_unlock(&c->lock);
	if (!f)
		return;
	if (!nnb__message_taken(m) || status > NNB_STATUS_DEAD_OBJECT)
		status = NNB_STATUS_GENERAL_FAILURE;
	fenced_set_result(f, (enum nnb_status)status, &since_launch, &since_fences);
	fenced_unref(f);
}

static struct nnb_fenced *fenced_take_any(struct nnb_client *c)
{
	struct nnb_fenced *f;

	pthread_mutex_lock(&c->lock);
	f = c->fenced;
	if (f)
		c->fenced = f->next;
	pthread_mutex_unlock(&c->lock);
	return f;
}

void nnb__fenced_die(struct nnb_client *c)
{
	struct nnb_fenced *f;

	while ((f = fenced_take_any(c))) {
		fenced_set_result(f, NNB_STATUS_DEAD_OBJECT, NULL, NULL);
		pthread_mutex_lock(&f->lock);
		f->alone = true; /* the service is gone, so this process signals the fence */
		if (f->fence >= 0)
			nnb_fence_signal(f->fence, f->status != NNB_STATUS_NONE);
		pthread_mutex_unlock(&f->lock);
		fenced_unref(f);
	}
}

void nnb__fenced_forget(struct nnb_client *c)
{
	struct nnb_fenced *f;

	while ((f = fenced_take_any(c)))
		fenced_unref(f);
}

/* ---- launching ---- */

/* The execution is under way; this takes @own, a duplicate of the user's fence. */
static void fenced_set_fence(struct nnb_fenced *f, int own)
{
	pthread_mutex_lock(&f->lock);
	assert(f->fence < 0);
	f->fence = own;
	if (f->alone)
		nnb_fence_signal(own, f->status != NNB_STATUS_NONE);
	pthread_mutex_unlock(&f->lock);
}

/* Send the call, and give the channel back. @fence: the fence that the user gets. */
static enum nnb_status fenced_launch(struct nnb_client *c, struct nnb__channel *ch, uint64_t timeout_ns,
                                     struct nnb_fenced *f, struct nnb__call_trace *t, int fence,
                                     struct nnb_reason *reason)
{
	int own = fcntl(fence, F_DUPFD_CLOEXEC, 0); /* before the launch, after which this must not fail */
	int r = own < 0 ? -EMFILE : 0;
	enum nnb_status status;

	if (!r) {
		nnb__call_asks(t, NBT_queue_call_request, 1, 0, 0);
		r = nnb__channel_exchange(c, ch, timeout_ns);
	}
	if (!r)
		nnb__channel_heard(ch, t);
	status = r ? nnb__status_lost(c, r, reason) : nnb__answer_status(&ch->in, reason);
	if (!status && !nnb__message_taken(&ch->in))
		status = nnb__no_answer(reason);
	nnb__channel_give(c, ch);
	if (!status)
		fenced_set_fence(f, own);
	else if (own >= 0)
		close(own);
	return status;
}

enum nnb_status nnb_remote_execute_fenced(struct nnb_remote *remote, const struct nnb_call *call,
                                          const struct nnb_fenced_how *how, struct nnb_fenced **ret, int *ret_fence,
                                          struct nnb_reason *reason)
{
	static const struct nnb_fenced_how at_once;
	struct nnb_client *c = remote->client;
	struct nnb__call_trace trace;
	struct nnb__channel *ch;
	struct nnb_fenced *f;
	enum nnb_status status;
	uint32_t number;
	int fence;

	if (!how)
		how = &at_once;
	if (!nnb__call_packable(call, reason))
		return NNB_STATUS_INVALID_ARGUMENT;
	if (!how->wait_for && how->n_wait_for) {
		nnb_because(reason, "the list of fences is missing");
		return NNB_STATUS_INVALID_ARGUMENT;
	}
	f = fenced_new(remote, call);
	if (!f)
		return nnb__status_exhausted(c, reason);
	if (nnb_fence_new(&fence)) {
		fenced_unref(f);
		return nnb__status_lost(c, -EMFILE, reason);
	}
	number = nnb__call_submit(remote, NBT_path_fenced, call, how->duration_ns, false, &trace);
	f->exec = trace.exec;
	status = nnb__channel_take(c, NNB__EXECUTE_FENCED, call->timeout_ns, &ch, reason);
	if (!status && fenced_enlist(c, f)) {
		nnb__put_u32(&ch->out, remote->id);
		nnb__put_u32(&ch->out, number);
		nnb__put_u32(&ch->out, call->measure);
		nnb__put_terms(&ch->out, &call->terms);
		nnb__put_request(&ch->out, call);
		nnb__put_u64(&ch->out, how->duration_ns);
		nnb__put_u32(&ch->out, how->n_wait_for);
		for (uint32_t i = 0; i < how->n_wait_for; i++)
			nnb__put_fd(&ch->out, how->wait_for[i]);
		nnb__put_fd(&ch->out, fence);
		nnb__put_u64(&ch->out, f->serial);
		status = fenced_launch(c, ch, call->timeout_ns, f, &trace, fence, reason);
	} else if (!status) {
		nnb__channel_give(c, ch);
		status = nnb__status_dead(reason);
	}
	nnb__call_end(&trace, status);
	if (!status) {
		*ret = f;
		*ret_fence = fence;
		return NNB_STATUS_NONE;
	}
	close(fence);
	fenced_delist(c, f);
	fenced_unref(f);
	return status;
}

/* ---- asking ---- */

uint64_t nnb_fenced_exec(const struct nnb_fenced *f)
{
	return f->exec;
}

enum nnb_status nnb_fenced_info(struct nnb_fenced *f, struct nnb_timing *since_launch, struct nnb_timing *since_fences,
                                struct nnb_reason *reason)
{
	enum nnb_status status;

	pthread_mutex_lock(&f->lock);
	assert(f->fence >= 0 && (f->has_result || f->remote)); /* the caller has it only after the launch */
	/* The service sends the result before it signals the fence, so the result is on its way. The events' thread
	 * must not wait for it. */
	if (!f->has_result && nnb_fence_state(f->fence) != NNB_FENCE_PENDING &&
	    !pthread_equal(pthread_self(), f->remote->client->thread))
		while (!f->has_result)
			pthread_cond_wait(&f->over, &f->lock);
	status = f->has_result ? f->status : NNB_STATUS_GENERAL_FAILURE;
	if (!f->has_result)
		nnb_because(reason, "the execution has not ended");
	else if (status)
		nnb_because(reason, "the execution failed");
	if (since_launch)
		*since_launch = f->since_launch;
	if (since_fences)
		*since_fences = f->since_fences;
	pthread_mutex_unlock(&f->lock);
	return status;
}
