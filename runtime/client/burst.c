/*
 * burst.c -- bursts on the service's models: the controller of nnb/burst.h, and its line to the service.
 *
 * CONCURRENCY  The events' thread holds a reference to the line while it answers on it; closing the line waits for
 *              that.
 */
#include <assert.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/offer.h"
#include "client/client.h"

static void put_desc(struct nnb__message *m, const struct nnb_fmq_desc *desc)
{
	uint8_t form[NNB_FMQ_WIRE_MAX];
	int n = nnb_fmq_desc_encode(desc, form, sizeof(form));

	assert(n > 0); /* the descriptor is one of this library's own queues */
	nnb__put_u32(m, (uint32_t)n);
	nnb__put_u32(m, desc->n_fds);
	nnb__put_bytes(m, form, (size_t)n);
	for (uint32_t i = 0; i < desc->n_fds; i++)
		nnb__put_fd(m, desc->fds[i]);
}

/* Attend to the line from now on. */
static int line_enlist(struct nnb__line *l)
{
	struct nnb_client *c = l->client;

	pthread_mutex_lock(&c->lock);
	l->tag = ++c->last_tag;
	l->next = c->lines;
	l->from = &c->lines;
	if (l->next)
		l->next->from = &l->next;
	c->lines = l;
	pthread_mutex_unlock(&c->lock);
	return nnb__client_watch(c, l->sock, l->tag);
}

static void line_close(void *context)
{
	struct nnb__line *l = context;
	struct nnb__channel *ch;
	struct nnb_client *c;

	pthread_mutex_lock(&l->lock);
	l->burst = NULL;
	pthread_mutex_unlock(&l->lock);
	/* The thread has nothing to do with it from now on. */
	c = l->client;
	epoll_ctl(c->epoll, EPOLL_CTL_DEL, l->sock, NULL);
	shutdown(l->sock, SHUT_RDWR);
	pthread_mutex_lock(&c->lock);
	assert(*l->from == l);
	*l->from = l->next;
	if (l->next)
		l->next->from = l->from;
	while (l->users)
		pthread_cond_wait(&c->unused, &c->lock);
	pthread_mutex_unlock(&c->lock);
	close(l->sock);
	if (nnb__channel_take(l->client, NNB__BURST_CLOSE, 0, &ch, NULL))
		return;
	nnb__put_u32(&ch->out, l->id);
	nnb__call_for(l->client, ch, NULL, 0, NULL);
}

static enum nnb_status line_configure(void *arg, const struct nnb_burst_callback *callback,
                                      const struct nnb_fmq_desc *request, const struct nnb_fmq_desc *result,
                                      void **context, struct nnb_reason *reason)
{
	struct nnb__line *l = arg;
	struct nnb__channel *ch;
	enum nnb_status status;
	int pair[2], r;

	l->callback = *callback;
	r = nnb__offer_new(pair);
	if (r)
		return nnb__status_lost(l->client, r, reason);
	l->sock = pair[0];
	status = nnb__channel_take(l->client, NNB__BURST, 0, &ch, reason);
	if (!status) {
		nnb__put_u32(&ch->out, l->remote->id);
		nnb__put_u32(&ch->out, l->client->hal >= NNB_HAL_1_3);
		put_desc(&ch->out, request);
		put_desc(&ch->out, result);
		nnb__put_fd(&ch->out, pair[1]);
		status = nnb__call_for(l->client, ch, &l->id, sizeof(l->id), reason);
	}
	close(pair[1]);
	if (!status && line_enlist(l)) {
		line_close(l);
		return nnb__status_exhausted(l->client, reason);
	}
	if (status)
		close(l->sock);
	*context = l;
	return status;
}

static enum nnb_status line_free_memory(void *context, int32_t slot)
{
	struct nnb__line *l = context;
	struct nnb__channel *ch;
	enum nnb_status status = nnb__channel_take(l->client, NNB__FREE_MEMORY, 0, &ch, NULL);

	if (status)
		return status;
	nnb__put_u32(&ch->out, l->id);
	nnb__put_u32(&ch->out, (uint32_t)slot);
	return nnb__call_for(l->client, ch, NULL, 0, NULL);
}

static enum nnb_status line_execute(void *arg, const struct nnb_call *call, struct nnb_answer *answer,
                                    struct nnb_reason *reason)
{
	struct nnb__line *l = arg;

	return nnb__remote_execute(l->remote, call, true, answer, reason);
}

static void line_numbers(void *context, uint32_t *stream, uint32_t *model)
{
	const struct nnb__line *l = context;

	*stream = l->id;
	*model = l->remote->id;
}

static void line_release(void *arg)
{
	struct nnb__line *l = arg;

	pthread_mutex_destroy(&l->lock);
	nnb_remote_release(l->remote);
	free(l);
}

enum nnb_status nnb_remote_burst_service(struct nnb_remote *remote, struct nnb_burst_service *ret,
                                         struct nnb_reason *reason)
{
	struct nnb__line *l = calloc(1, sizeof(*l));

	if (!l)
		return nnb__status_exhausted(remote->client, reason);
	pthread_mutex_init(&l->lock, NULL);
	l->remote = nnb__remote_ref(remote);
	l->client = remote->client;
	*ret = (struct nnb_burst_service){ .configure = line_configure,
		                           .free_memory = line_free_memory,
		                           .close = line_close,
		                           .execute = line_execute,
		                           .release = line_release,
		                           .called = line_numbers,
		                           .model = remote->model,
		                           .extended = remote->client->hal >= NNB_HAL_1_3,
		                           .arg = l };
	return NNB_STATUS_NONE;
}

enum nnb_status nnb_remote_burst(struct nnb_remote *remote, const struct nnb_burst_config *config,
                                 struct nnb_burst **ret, struct nnb_reason *reason)
{
	struct nnb_burst_config how = config ? *config : (struct nnb_burst_config){ 0 };
	struct nnb_burst_service service;
	enum nnb_status status = nnb_remote_burst_service(remote, &service, reason);
	struct nnb_burst *burst;
	struct nnb__line *l;

	if (status)
		return status;
	l = service.arg;
	if (remote->low_power && how.window_ns == NNB_FMQ_WINDOW_AUTO) /* B-22 */
		how.window_ns = NNB_FMQ_WINDOW_NONE;
	status = nnb_burst_new(&burst, &service, &how, reason);
	if (status)
		return status;
	pthread_mutex_lock(&l->lock);
	l->burst = burst;
	if (l->lost)
		nnb_burst_dead(burst);
	pthread_mutex_unlock(&l->lock);
	*ret = burst;
	return NNB_STATUS_NONE;
}
