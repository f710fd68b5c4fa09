/*
 * channel.c -- calls the service, and waits for the answer.
 *
 * CONCURRENCY  Any thread. Between take and give, one thread owns the channel.
 */
#include <assert.h>
#include <sys/socket.h>
#include <time.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/offer.h"
#include "base/sys.h"
#include "client/client.h"
#include "model/status.h"

enum { IDLE_MAX = 4 }; /* channels that are kept for the next call */

void nnb__channel_free(struct nnb__channel *ch)
{
	close(ch->sock);
	nnb__message_fini(&ch->out);
	nnb__message_fini(&ch->in);
	free(ch);
}

enum nnb_status nnb__status_dead(struct nnb_reason *reason)
{
	nnb_because(reason, "the service is gone");
	return NNB_STATUS_DEAD_OBJECT;
}

static enum nnb_status exhausted_for(const struct nnb_client *c)
{
	const enum nnb_status status = NNB_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;

	return c && c->hal < NNB_HAL_1_3 ? nnb__status_of_1_2(status) : status;
}

enum nnb_status nnb__status_exhausted(const struct nnb_client *c, struct nnb_reason *reason)
{
	nnb_because(reason, "no memory");
	return exhausted_for(c);
}

/* The status of a failed exchange with the service. */
enum nnb_status nnb__status_lost(const struct nnb_client *c, int r, struct nnb_reason *reason)
{
	switch (r) {
	case -ETIMEDOUT:
		nnb_because(reason, "no answer from the service in time");
		return NNB_STATUS_GENERAL_FAILURE;
	case -ETIME:
		nnb_because(reason, "the service did not read the request in time");
		return NNB_STATUS_GENERAL_FAILURE;
	case -EMSGSIZE:
		nnb_because(reason, "the request is larger than a message can be");
		return NNB_STATUS_INVALID_ARGUMENT;
	case -EBADF:
		nnb_because(reason, "a file descriptor of the request is not open");
		return NNB_STATUS_INVALID_ARGUMENT;
	case -ENOMEM:
		return nnb__status_exhausted(c, reason);
	case -ETOOMANYREFS:
	case -EMFILE:
		nnb_because(reason, "too many file descriptors");
		return exhausted_for(c);
	case -EAGAIN: /* nnb__offer_new */
		nnb_because(reason, "other users connect to every socket that this process offers the service");
		return exhausted_for(c);
	case -EBADMSG:
		nnb_because(reason, "the service's answer is malformed");
		return NNB_STATUS_GENERAL_FAILURE;
	default:
		return nnb__status_dead(reason);
	}
}

enum nnb_status nnb__client_offer(struct nnb_client *c, struct nnb__message *out, struct nnb__message *in, int *ret,
                                  struct nnb_reason *reason)
{
	int pair[2], r = nnb__offer_new(pair);

	if (r) {
		if (r == -EAGAIN)
			nnb__status_lost(c, r, reason);
		else
			nnb_because(reason, "no socket: %s", strerror(-r));
		return NNB_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
	}
	*ret = pair[0];
	nnb__put_fd(out, pair[1]);
	pthread_mutex_lock(&c->life_lock);
	r = nnb__message_send(c->life, out);
	close(pair[1]);
	if (!r) {
		r = nnb__message_receive(c->life, in);
		if (r) /* a late answer would be read as the answer to the next call */
			shutdown(c->life, SHUT_RDWR);
	}
	pthread_mutex_unlock(&c->life_lock);
	return r ? nnb__status_lost(c, r, reason) : nnb__answer_status(in, reason);
}

static struct nnb__channel *take_idle(struct nnb_client *c)
{
	struct nnb__channel *ch = c->idle;

	if (ch) {
		assert(c->n_idle > 0);
		c->idle = ch->next;
		c->n_idle--;
	}
	return ch;
}

/* Wait until one of this client's channels is idle. NULL: the client has no channel, or none becomes idle in time. */
static struct nnb__channel *wait_for_idle(struct nnb_client *c, uint64_t timeout_ns)
{
	uint64_t until = timeout_ns ? nnb__now() + timeout_ns : UINT64_MAX / 2;
	struct timespec at = { (time_t)(until / 1000000000), (long)(until % 1000000000) };
	struct nnb__channel *ch;
	int r = 0;

	pthread_mutex_lock(&c->lock);
	while (!c->idle && c->n_channels && !r)
		r = pthread_cond_clockwait(&c->unused, &c->lock, CLOCK_MONOTONIC, &at);
	ch = take_idle(c);
	pthread_mutex_unlock(&c->lock);
	return ch;
}

/* Make a socket, and offer its other end to the service, which answers calls on it. */
static enum nnb_status new_channel(struct nnb_client *c, struct nnb__channel **ret, struct nnb_reason *reason)
{
	struct nnb__channel *ch = calloc(1, sizeof(*ch));
	enum nnb_status status;

	if (!ch)
		return nnb__status_exhausted(NULL, reason);
	ch->sock = -1;
	nnb__message_begin(&ch->out, NNB__CHANNEL);
	status = nnb__client_offer(c, &ch->out, &ch->in, &ch->sock, reason);
	if (status) {
		nnb__channel_free(ch);
		return status;
	}
	pthread_mutex_lock(&c->lock);
	c->n_channels++;
	pthread_mutex_unlock(&c->lock);
	*ret = ch;
	return NNB_STATUS_NONE;
}

/* If the service allows this client no further channel, wait until a channel is idle. */
enum nnb_status nnb__channel_take(struct nnb_client *c, uint16_t type, uint64_t timeout_ns, struct nnb__channel **ret,
                                  struct nnb_reason *reason)
{
	enum nnb_status status = NNB_STATUS_NONE;
	struct nnb__channel *ch;

	if (atomic_load_explicit(&c->dead, memory_order_relaxed))
		return nnb__status_dead(reason);
	pthread_mutex_lock(&c->lock);
	ch = take_idle(c);
	pthread_mutex_unlock(&c->lock);
	if (!ch)
		status = new_channel(c, &ch, reason);
	if (status == NNB_STATUS_RESOURCE_EXHAUSTED_TRANSIENT) {
		ch = wait_for_idle(c, timeout_ns ? timeout_ns : c->timeout_ns);
		if (ch)
			status = NNB_STATUS_NONE;
	}
	if (status)
		return c->hal < NNB_HAL_1_3 ? nnb__status_of_1_2(status) : status;
	nnb__message_begin(&ch->out, type);
	*ret = ch;
	return NNB_STATUS_NONE;
}

void nnb__channel_give(struct nnb_client *c, struct nnb__channel *ch)
{
	bool kept = false;

	nnb__message_begin(&ch->in, 0);
	nnb__message_begin(&ch->out, 0);
	pthread_mutex_lock(&c->lock);
	assert(c->n_idle < c->n_channels); /* this one is not idle yet */
	if (!ch->broken && c->n_idle < IDLE_MAX) {
		ch->next = c->idle;
		c->idle = ch;
		c->n_idle++;
		kept = true;
	} else {
		assert(c->n_channels > 0);
		c->n_channels--;
	}
	pthread_cond_broadcast(&c->unused);
	pthread_mutex_unlock(&c->lock);
	if (!kept)
		nnb__channel_free(ch);
}

/*
 * Send ch->out, and receive the answer in ch->in. 0 or -errno. After the timeout the client closes the socket for
 * reading: the service notices, and undoes the call. An answer that has arrived by then is accepted.
 */
int nnb__channel_exchange(struct nnb_client *c, struct nnb__channel *ch, uint64_t timeout_ns)
{
	uint64_t patience = timeout_ns ? timeout_ns : c->timeout_ns;
	int r;

	if (patience != ch->patience)
		nnb__socket_timeout(ch->sock, patience);
	ch->patience = patience;
	r = nnb__message_send(ch->sock, &ch->out);
	if (r) {
		ch->broken = !ch->out.failed;
		return r == -ETIMEDOUT ? -ETIME : r; /* the message certainly did not arrive */
	}
	ch->sent_at = nnb__now();
	r = nnb__message_receive(ch->sock, &ch->in);
	ch->broken = r;
	if (r != -ETIMEDOUT)
		return r;
	shutdown(ch->sock, SHUT_RD);
	return nnb__message_receive(ch->sock, &ch->in) ? -ETIMEDOUT : 0;
}

void nnb__channel_heard(const struct nnb__channel *ch, struct nnb__call_trace *t)
{
	const struct nnb_fmq_waited waited = { .slept_ns = nnb__now() - ch->sent_at };

	nnb__call_hears(t, NBT_queue_call_result, 1, 1, &waited);
}

enum nnb_status nnb__no_answer(struct nnb_reason *reason)
{
	nnb_because(reason, "the service's answer is malformed");
	return NNB_STATUS_GENERAL_FAILURE;
}

enum nnb_status nnb__answer_await(struct nnb_client *c, struct nnb__channel *ch, struct nnb_reason *reason)
{
	int r = nnb__channel_exchange(c, ch, 0);

	return r ? nnb__status_lost(c, r, reason) : nnb__answer_status(&ch->in, reason);
}

enum nnb_status nnb__answer_end(struct nnb_client *c, struct nnb__channel *ch, enum nnb_status status,
                                struct nnb_reason *reason)
{
	if (!status && !nnb__message_taken(&ch->in))
		status = nnb__no_answer(reason);
	nnb__channel_give(c, ch);
	return status;
}

enum nnb_status nnb__call_for(struct nnb_client *c, struct nnb__channel *ch, void *ret, size_t bytes,
                              struct nnb_reason *reason)
{
	enum nnb_status status = nnb__answer_await(c, ch, reason);

	if (!status && ch->in.bytes - ch->in.at != bytes)
		status = nnb__no_answer(reason);
	if (!status && bytes)
		nnb__get_bytes(&ch->in, ret, bytes);
	return nnb__answer_end(c, ch, status, reason);
}
