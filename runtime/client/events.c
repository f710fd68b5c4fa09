/*
 * events.c -- reads what the service sends unasked: ends of executions, questions for slots, and its own end.
 *
 * CONCURRENCY  One thread for each client. It looks up pending executions and lines under the client's lock, and
 *           releases the lock before it answers or calls back.
 */
#include <assert.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "burst/result.h"
#include "client/client.h"

/* ---- asynchronous executions ---- */

struct nnb__pending *nnb__pending_new(struct nnb_remote *remote, const struct nnb_call *call)
{
	struct nnb__pending *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->outputs = calloc((size_t)call->n_outputs + 1, sizeof(*p->outputs));
	if (!p->outputs) {
		free(p);
		return NULL;
	}
	if (call->n_outputs)
		memcpy(p->outputs, call->outputs, call->n_outputs * sizeof(*p->outputs));
	p->n_outputs = call->n_outputs;
	p->measure = call->measure;
	p->remote = nnb__remote_ref(remote);
	return p;
}

/* List the execution: from now on it gets a result, even if the service dies. Returns its serial number. */
uint64_t nnb__pending_add(struct nnb_client *c, struct nnb__pending *p)
{
	uint64_t serial = 0;

	pthread_mutex_lock(&c->lock);
	if (!atomic_load_explicit(&c->dead, memory_order_relaxed)) {
		serial = p->serial = ++c->last_serial;
		p->next = c->pending;
		c->pending = p;
	}
	pthread_mutex_unlock(&c->lock);
	return serial;
}

struct nnb__pending *nnb__pending_take(struct nnb_client *c, uint64_t serial)
{
	struct nnb__pending **at = &c->pending, *p;

	pthread_mutex_lock(&c->lock);
	while (*at && (*at)->serial != serial)
		at = &(*at)->next;
	p = *at;
	if (p)
		*at = p->next;
	pthread_mutex_unlock(&c->lock);
	return p;
}

void nnb__pending_drop(struct nnb__pending *p)
{
	nnb_remote_release(p->remote);
	free(p->outputs);
	free(p);
}

static void pending_finish(struct nnb__pending *p, struct nnb_result *result)
{
	struct nnb_call call = { .outputs = p->outputs, .n_outputs = p->n_outputs, .measure = p->measure };

	nnb__call_end(&p->trace, nnb__answer_from_result(p->remote->model, &call, result, NULL, NULL));
	result->exec = p->trace.exec;
	p->done(p->arg, result);
	nnb__pending_drop(p);
}

static void on_done(struct nnb_client *c, struct nnb__message *m)
{
	struct nnb__pending *p = nnb__pending_take(c, nnb__get_u64(m));
	struct nnb_result result = { .timing = NNB_NO_TIMING };

	if (!p)
		return;
	nnb__call_hears(&p->trace, NBT_queue_call_result, 1, 1, NULL);
	result.shapes = calloc((size_t)p->n_outputs + 1, sizeof(*result.shapes));
	nnb__get_result(m, &result, result.shapes ? p->n_outputs : 0);
	pending_finish(p, &result);
	free(result.shapes);
}

/* ---- bursts' lines ---- */

/* The burst's service is gone, or has given the burst up. */
static void line_lost(struct nnb__line *l)
{
	pthread_mutex_lock(&l->lock);
	l->lost = true;
	if (l->burst)
		nnb_burst_dead(l->burst);
	pthread_mutex_unlock(&l->lock);
}

/* S-7: send the memories of slots that the service asks for. */
static int answer_memories(struct nnb__line *l, struct nnb__message *in, struct nnb__message *out)
{
	uint32_t n = nnb__get_u32(in);
	struct nnb_memory *memories;
	int32_t *slots;
	enum nnb_status status = NNB_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
	int r;

	if (in->type != NNB__MEMORIES || n > NNB__FDS_MAX || !nnb__message_holds(in, n, sizeof(*slots)))
		return -EBADMSG;
	memories = calloc((size_t)n + 1, sizeof(*memories));
	slots = calloc((size_t)n + 1, sizeof(*slots));
	if (memories && slots) {
		nnb__get_bytes(in, slots, n * sizeof(*slots));
		status = l->callback.memories(l->callback.arg, slots, n, memories);
	}
	nnb__answer_begin(out, status, NULL);
	for (uint32_t i = 0; !status && i < n; i++)
		nnb__put_memory(out, &memories[i]);
	r = nnb__message_send(l->sock, out);
	for (uint32_t i = 0; !status && i < n; i++)
		nnb_memory_close(&memories[i]);
	nnb__message_begin(out, 0);
	free(memories);
	free(slots);
	return r;
}

static void serve_line(struct nnb_client *c, uint64_t tag, struct nnb__message *in, struct nnb__message *out)
{
	struct nnb__line *l;

	pthread_mutex_lock(&c->lock);
	for (l = c->lines; l && l->tag != tag; l = l->next)
		;
	if (l)
		l->users++;
	pthread_mutex_unlock(&c->lock);
	if (!l)
		return;
	if (nnb__message_receive(l->sock, in) || answer_memories(l, in, out)) {
		epoll_ctl(c->epoll, EPOLL_CTL_DEL, l->sock, NULL);
		line_lost(l);
	}
	pthread_mutex_lock(&c->lock);
	assert(l->users > 0);
	l->users--;
	pthread_cond_broadcast(&c->unused);
	pthread_mutex_unlock(&c->lock);
}

/* ---- the end ---- */

static struct nnb__pending *take_any_pending(struct nnb_client *c)
{
	struct nnb__pending *p;

	pthread_mutex_lock(&c->lock);
	p = c->pending;
	if (p)
		c->pending = p->next;
	pthread_mutex_unlock(&c->lock);
	return p;
}

void nnb__pending_fail(struct nnb__pending *p, enum nnb_status status)
{
	struct nnb_result result = { .status = status, .timing = NNB_NO_TIMING };

	pending_finish(p, &result);
}

/* The service is gone: end everything that waits for it. */
static void client_fail_all(struct nnb_client *c)
{
	struct nnb__pending *p;

	shutdown(c->life, SHUT_RDWR);
	epoll_ctl(c->epoll, EPOLL_CTL_DEL, c->events, NULL);
	pthread_mutex_lock(&c->lock);
	atomic_store_explicit(&c->dead, true, memory_order_relaxed); /* nothing is pending any more after this */
	for (struct nnb__line *l = c->lines; l; l = l->next)
		line_lost(l);
	pthread_mutex_unlock(&c->lock);
	while ((p = take_any_pending(c)))
		nnb__pending_fail(p, NNB_STATUS_DEAD_OBJECT);
	nnb__fenced_die(c);
}

/* ---- the thread ---- */

void *nnb__events_thread(void *arg)
{
	struct nnb_client *c = arg;
	struct nnb__message in = { 0 }, out = { 0 };
	struct epoll_event event;

	while (!atomic_load_explicit(&c->stopping, memory_order_acquire)) {
		if (epoll_wait(c->epoll, &event, 1, -1) != 1)
			continue;
		if (event.data.u64 >= NNB__FIRST_LINE_TAG)
			serve_line(c, event.data.u64, &in, &out);
		else if (event.data.u64 == NNB__EVENTS_TAG && nnb__message_receive(c->events, &in))
			client_fail_all(c);
		else if (event.data.u64 == NNB__EVENTS_TAG && in.type == NNB__DONE)
			on_done(c, &in);
		else if (event.data.u64 == NNB__EVENTS_TAG && in.type == NNB__FENCED)
			nnb__fenced_take_result(c, &in);
	}
	nnb__message_fini(&in);
	nnb__message_fini(&out);
	if (c->orphan)
		nnb__client_free(c);
	return NULL;
}
