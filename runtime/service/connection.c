/*
 * connection.c -- the life of a connection: its life line, its channels, its end.
 *
 * CONCURRENCY  One thread for the life line and one for each channel; a refused client gets none; bursts and
 *           asynchronous executions have their own threads. The lock guards the lists. The life line's thread ends
 *           the connection: it sets closing, shuts down every socket, so that no thread waits for the client any
 *           more, interrupts (SIGURG) the channels' threads that still wait, waits until the channels and
 *           asynchronous executions have ended, and then frees the rest alone.
 * CRASH     The sockets of a dead client are closed, so its life line ends. The service also watches the client's
 *           process, because the client's end of the life line can outlive it in a queue of the service.
 * TRUST     A socket on which the protocol is violated is closed: a channel, or the life line and with it the
 *           connection. Where the app has porters (memory/errand.h), they have each of its sockets, too, before the
 *           client can send a file on it: the life line takes files from the hello on, the others come from a porter.
 */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/close.h"
#include "base/offer.h"
#include "base/sys.h"
#include "memory/wait.h"
#include "service/service.h"

/* limit of the time for the hello, for the rest of a message on a channel, and for an event to have room */
#define PATIENCE_NS UINT64_C(10000000000)
/*
 * limit of the time for the rest of a message on the life line; and interval of the interrupts of threads that block
 * at the end
 */
#define HURRY_NS UINT64_C(250000000)

/* ---- channels ---- */

static void channel_end(struct nnb__channel *ch)
{
	struct nnb__connection *c = ch->connection;

	pthread_mutex_lock(&c->lock);
	assert(*ch->from == ch);
	*ch->from = ch->next;
	if (ch->next)
		ch->next->from = ch->from;
	pthread_mutex_unlock(&c->lock);
	/* Closing what the client has put into the socket may take long: it is still charged to the app, and no lock
	 * is held. */
	nnb__message_fini(&ch->in);
	nnb__message_fini(&ch->out);
	nnb__app_give(c->app, NNB__BYTES, ch->owed);
	nnb__line_close(c->app->porters, ch->sock);
	nnb__app_give(c->app, NNB__CHANNELS, 1);
	pthread_mutex_lock(&c->lock);
	assert(c->n_channels);
	c->n_channels--;
	pthread_cond_broadcast(&c->fewer);
	pthread_mutex_unlock(&c->lock); /* the connection may be gone from here on */
	free(ch);
}

/* Receive a call and answer it. 0; otherwise the channel ends. */
static int serve_call(struct nnb__channel *ch)
{
	int r = nnb__message_receive(ch->sock, &ch->in);
	uint16_t type;

	if (r == -EAGAIN)
		return 0;
	ch->made_model = ch->made_burst = ch->made_buffer = 0;
	ch->made_fence = -1;
	ch->will_complete = false;
	if (r == -EDQUOT)
		nnb__call_answer(ch, ch->in.refused, &ch->in.why);
	else if (!r)
		r = nnb__call_dispatch(ch);
	if (r && r != -EDQUOT)
		return r;
	type = ch->in.type;
	nnb__message_begin(&ch->in, 0);
	r = nnb__send_without_fds(ch->sock, &ch->out);
	nnb__message_trim(&ch->out); /* an idle channel keeps no large answer */
	if (ch->owed)
		nnb__app_give(ch->connection->app, NNB__BYTES, ch->owed);
	ch->owed = 0;
	if (r)
		nnb__call_undo(ch); /* the client will never learn the ids of the new objects */
	nnb__fenced_answered(ch, !r);
	if (r && type == NNB__EXECUTE_ASYNC && !ch->will_complete)
		/* the client waits for a completion event: the end of the socket shows it that none will come */
		shutdown(ch->connection->events, SHUT_RDWR);
	return r;
}

static void *serve_channel(void *arg)
{
	struct nnb__channel *ch = arg;

	nnb__errands_enter(ch->connection->app->errands);
	nnb__gate_enter(ch->connection->app->gate, &ch->connection->closing);
	pthread_mutex_lock(&ch->connection->lock);
	assert(!ch->thread_known);
	ch->thread = pthread_self();
	ch->thread_known = true;
	pthread_mutex_unlock(&ch->connection->lock);
	while (!serve_call(ch) && !atomic_load_explicit(&ch->connection->closing, memory_order_relaxed))
		;
	channel_end(ch);
	return NULL;
}

static int start_thread(void *(*run)(void *), void *arg)
{
	pthread_attr_t attr;
	pthread_t thread;
	int r;

	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	r = pthread_create(&thread, &attr, run, arg);
	pthread_attr_destroy(&attr);
	return -r;
}

/*
 * Runs on the life line's thread, like the end of the connection, so no channel opens after that. Takes ownership of
 * @sock.
 */
static enum nnb_status open_channel(struct nnb__connection *c, int sock, struct nnb_reason *reason)
{
	struct nnb__channel *ch = NULL;
	enum nnb_status status = NNB_STATUS_INVALID_ARGUMENT;

	if (sock >= 0)
		status = nnb__app_take(c->app, NNB__CHANNELS, 1, reason);
	else
		nnb_because(reason, "the file is no offer of a socket");
	if (!status) {
		ch = calloc(1, sizeof(*ch));
		if (!ch)
			status = NNB_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
		if (status)
			nnb__app_give(c->app, NNB__CHANNELS, 1);
	}
	if (status) {
		if (sock >= 0)
			nnb__line_close(c->app->porters, sock);
		return status;
	}
	ch->connection = c;
	ch->sock = sock;
	ch->in.budget = nnb__budget_of(c->app);
	ch->in.porters = c->app->porters;
	ch->in.rest_ns = PATIENCE_NS;
	pthread_mutex_lock(&c->lock);
	ch->next = c->channels;
	ch->from = &c->channels;
	if (ch->next)
		ch->next->from = &ch->next;
	c->channels = ch;
	c->n_channels++;
	pthread_mutex_unlock(&c->lock);
	if (start_thread(serve_channel, ch)) {
		nnb_because(reason, "no thread for another channel");
		channel_end(ch);
		return NNB_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
	}
	return NNB_STATUS_NONE;
}

/* Send on @sock from now on what is done. Takes ownership of @sock. */
static enum nnb_status open_events(struct nnb__connection *c, int sock, struct nnb_reason *reason)
{
	bool good;

	pthread_mutex_lock(&c->events_lock);
	good = sock >= 0 && c->events < 0;
	if (good)
		c->events = sock;
	pthread_mutex_unlock(&c->events_lock);
	if (good)
		return NNB_STATUS_NONE;
	nnb_because(reason, sock < 0 ? "the file is no offer of a socket" : "the connection has a socket for events");
	if (sock >= 0)
		nnb__line_close(c->app->porters, sock);
	return NNB_STATUS_INVALID_ARGUMENT;
}

void nnb__event_send(struct nnb__connection *c, struct nnb__message *m)
{
	pthread_mutex_lock(&c->events_lock);
	m->until =
		nnb__now() +
		PATIENCE_NS; /* at this time the service ends the socket, and with it the waits of the next senders */
	if (nnb__send_without_fds(c->events,
	                          m)) /* for example without memory: the client must not wait for the event */
		shutdown(c->events, SHUT_RDWR);
	pthread_mutex_unlock(&c->events_lock);
	nnb__message_fini(m);
}

/* ---- the life line ---- */

/*
 * Wait until the life line has something to receive. 0; -ECONNRESET: the client's process has ended; -ETIMEDOUT;
 * another -errno. @timeout_ms: below 0: no limit.
 */
static int life_wait(const struct nnb__connection *c, int timeout_ms)
{
	/* the process, too: another process can hold the client's end of the life line, or that end can be in a
	 * queue */
	struct pollfd fds[2] = { { .fd = c->process, .events = POLLIN }, { .fd = c->life, .events = POLLIN } };
	int r;

	do
		r = poll(fds, 2, timeout_ms);
	while (r < 0 && errno == EINTR);
	if (r < 0)
		return -errno;
	if (!r)
		return -ETIMEDOUT;
	return fds[0].revents ? -ECONNRESET : 0;
}

/* Receive the client's hello: version, HAL, name. 0 or -errno. */
static int hear_hello(struct nnb__connection *c, struct nnb__message *in, uint32_t *version)
{
	int r = life_wait(c, PATIENCE_NS / 1000000);

	if (r && r != -ECONNRESET)
		return r;
	in->until = nnb__now() + (r ? 0 : HURRY_NS); /* a process that has ended may have sent its hello before */
	r = nnb__message_receive(c->life, in);
	if (r)
		return r;
	*version = nnb__get_u32(in);
	if (in->type == NNB__HELLO && !in->failed && *version != NNB__PROTOCOL)
		return 0; /* client_greet refuses it; the other fields of that version are unknown */
	c->hal = nnb__get_u32(in);
	nnb__get_text(in, c->name, sizeof(c->name));
	return in->type == NNB__HELLO && nnb__message_taken(in) ? 0 : -EBADMSG;
}

/*
 * Send an answer on the life line. 0 or -errno. Does not wait for room: a client receives each answer before it sends
 * the next message. So the connection of a client that receives no answers ends; a wait here would not see that the
 * client's process ends.
 */
static int life_answer(struct nnb__connection *c, struct nnb__message *out)
{
	out->until = nnb__now();
	return nnb__send_without_fds(c->life, out);
}

/* Answer a message that the app's budget refused, and that was skipped. */
static int answer_refused(struct nnb__connection *c, const struct nnb__message *in, struct nnb__message *out)
{
	nnb__answer_begin(out, in->refused, &in->why);
	return life_answer(c, out);
}

/* From now on the client may send files on the life line, which another process has, too (memory/arrival.h). */
static int life_hold(const struct nnb__connection *c)
{
	const struct nnb__errand_wait wait = { .limit_ns = NNB__ERRAND_FILE_NS, .goes_on = nnb__wait_app_stays };
	int r = c->app->porters ? nnb__errand_hold(c->app->porters, c->life, &wait) : 0;

	if (!r)
		nnb__socket_take_files(c->life, true);
	return r;
}

/* Why there is no other process that has the life line, after life_hold has returned @r. */
static const char *hold_failure(int r)
{
	switch (r) {
	case -EAGAIN:
		return "the limit of porters is reached: no process is free to receive the client's files";
	case -EBUSY:
		return "porters of earlier clients have not ended: no process may receive the client's files";
	case -ETIMEDOUT:
		return "the porter, which is to receive the client's files, has not answered in time";
	case -EIO:
		return "the porter, which is to receive the client's files, has ended or could not be started";
	case -ENOMEM:
		return "the porter, which is to receive the client's files, has no memory";
	default:
		return "no process has the socket, to receive the client's files";
	}
}

static int client_greet(struct nnb__connection *c, struct nnb__message *in, struct nnb__message *out)
{
	struct nnb_reason why = { "" };
	uint32_t version;
	int r = hear_hello(c, in, &version);
	struct nnb_device *device;
	struct nnb_capabilities capabilities;

	nnb__service_news(c->service);
	nnb__emit_connect(c); /* emit the connection, even if it is refused */
	if (r == -EDQUOT)
		answer_refused(c, in, out);
	if (r)
		return r;
	if (version != NNB__PROTOCOL) {
		nnb_because(&why, "the service speaks version %d of the protocol, and not %u", NNB__PROTOCOL, version);
		nnb__answer_begin(out, NNB_STATUS_INVALID_ARGUMENT, &why);
		life_answer(c, out);
		return -EBADMSG;
	}
	r = life_hold(c);
	if (r) {
		nnb_because(&why, "%s", hold_failure(r));
		nnb__answer_begin(out, NNB_STATUS_RESOURCE_EXHAUSTED_TRANSIENT, &why);
		life_answer(c, out);
		return -EBUSY;
	}
	nnb__answer_begin(out, NNB_STATUS_NONE, NULL);
	device = c->service->config.device;
	nnb__put_u32(out, (uint32_t)getpid());
	nnb__put_u32(out, c->service->instance);
	nnb__put_u32(out, c->id);
	nnb__put_u32(out, c->app->key);
	nnb__put_u32(out, c->service->config.policy);
	nnb__put_u32(out, c->service->config.preempt);
	nnb__put_u32(out, c->service->config.deadlines);
	nnb__put_u32(out, c->service->config.lanes);
	nnb__put_u32(out, c->streams[NBT_path_sync]);
	nnb__put_u32(out, c->streams[NBT_path_fenced]);
	nnb__put_u32(out, c->streams[NBT_path_async]);
	nnb__put_text(out, nnb_device_name(device));
	nnb__put_text(out, nnb_device_version(device));
	nnb_device_capabilities(device, &capabilities);
	nnb__put_capabilities(out, &capabilities);
	return life_answer(c, out);
}

/* Serve one message of the life line, or see the end of the client's process. 0, or why the connection ends. */
static int serve_life(struct nnb__connection *c, struct nnb__message *in, struct nnb__message *out)
{
	struct nnb_reason why = { "" };
	enum nnb_status status;
	int r, end, sock;

	nnb__message_begin(in, 0); /* ends the charge for the last message */
	r = life_wait(c, -1);
	if (r == -ECONNRESET) {
		/* The client's process has ended: the goodbye that it sent before is in the life line still, if the
		 * service had no time to read it. A message that was refused may be before it. */
		in->until = nnb__now(); /* nothing more comes */
		do
			end = nnb__message_receive(c->life, in);
		while (end == -EAGAIN && !in->stays);
		if (!end && in->type == NNB__BYE && nnb__message_taken(in))
			return -ESHUTDOWN;
	}
	if (r)
		return r;
	in->until = nnb__now() + HURRY_NS;
	r = nnb__message_receive(c->life, in);
	if (r == -EDQUOT)
		return answer_refused(c, in, out);
	if (r)
		return r == -EAGAIN ? 0 : r;
	if (in->type == NNB__BYE && nnb__message_taken(in))
		return -ESHUTDOWN;
	sock = nnb__get_line(in);
	if ((in->type != NNB__CHANNEL && in->type != NNB__EVENTS) || !nnb__message_taken(in)) {
		if (sock >= 0)
			nnb__line_close(c->app->porters, sock);
		return -EBADMSG;
	}
	status = in->type == NNB__CHANNEL ? open_channel(c, sock, &why) : open_events(c, sock, &why);
	nnb__answer_begin(out, status, &why);
	return life_answer(c, out);
}

/* ---- the end ---- */

static void connection_hang_up(struct nnb__connection *c)
{
	atomic_store_explicit(&c->closing, true, memory_order_release); /* publishes its reason, too */
	nnb__lanes_look(&c->service->lanes, &c->app->lane_app);
	nnb__desk_look(&c->app->desk);
	pthread_mutex_lock(&c->lock);
	/* First the bursts, so that a client that sees its sockets end knows that no execution begins any more. */
	for (uint32_t i = 0; i < c->bursts.n; i++)
		if (c->bursts.items[i])
			nnb__burst_hang_up(c->bursts.items[i]);
	shutdown(c->life, SHUT_RDWR);
	if (c->events >= 0)
		shutdown(c->events, SHUT_RDWR);
	for (struct nnb__channel *ch = c->channels; ch; ch = ch->next)
		shutdown(ch->sock, SHUT_RDWR);
	while (c->n_channels || c->n_async) {
		uint64_t until = nnb__now() + HURRY_NS;
		const struct timespec at = { (time_t)(until / 1000000000), (long)(until % 1000000000) };

		/* interrupt the threads that close a file from a call, which may sleep for long (close.h) */
		nnb__close_arm(); /* again, because the program may have changed the signal's handler */
		for (struct nnb__channel *ch = c->channels; ch; ch = ch->next)
			if (ch->thread_known)
				pthread_kill(ch->thread, SIGURG);
		nnb__fenced_hurry(c);
		pthread_cond_clockwait(&c->fewer, &c->lock, CLOCK_MONOTONIC, &at);
	}
	pthread_mutex_unlock(&c->lock);
}

static void close_sockets(struct nnb__connection *c)
{
	int life = nnb__connection_retire(c);

	nnb__line_close(c->app->porters, life);
	if (c->events >= 0)
		nnb__line_close(c->app->porters, c->events);
	if (c->process >= 0)
		close(c->process);
}

static void connection_free(struct nnb__connection *c)
{
	pthread_cond_destroy(&c->fewer);
	pthread_mutex_destroy(&c->lock);
	pthread_mutex_destroy(&c->events_lock);
	free(c);
}

static void *connection_run(void *arg)
{
	struct nnb__connection *c = arg;
	struct nnb__table bursts, buffers, models;
	/* Each message to a life line is one packet. If a client splits one, the service waits at most HURRY_NS for
	 * the rest, and does not watch the client's process meanwhile. */
	struct nnb__message in = { .budget = nnb__budget_of(c->app), .porters = c->app->porters, .rest_ns = HURRY_NS },
			    out = { 0 };
	int r;

	nnb__gate_enter(c->app->gate, &c->closing);
	r = client_greet(c, &in, &out);
	while (!r)
		r = serve_life(c, &in, &out);
	/* Why the connection ends, after serving its life line has returned @r. */
	if (r == -ESHUTDOWN)
		c->reason = NBT_reason_client;
	else if (atomic_load_explicit(&c->service->stopping, memory_order_relaxed))
		c->reason = NBT_reason_shutdown;
	else
		c->reason = r == -ECONNRESET || r == -EPIPE ? NBT_reason_peer_death : NBT_reason_protocol;
	nnb__service_news(c->service);
	nnb__message_fini(&in);
	nnb__message_fini(&out);
	connection_hang_up(c);
	/* The connection's thread is alone here: no other thread changes anything any more. */
	bursts = c->bursts;
	buffers = c->buffers;
	models = c->models;
	assert(!c->channels && !c->jobs && !c->trials && !c->signalling);
	pthread_mutex_lock(&c->lock); /* a thread that counts objects reads the tables of all connections */
	c->bursts = c->buffers = c->models = (struct nnb__table){ 0 };
	pthread_mutex_unlock(&c->lock);
	for (uint32_t i = 0; i < bursts.n; i++)
		if (bursts.items[i])
			nnb__burst_unref(bursts.items[i]);
	nnb__buffers_drop(&buffers); /* no execution uses them any more */
	for (uint32_t i = 0; i < models.n; i++)
		if (models.items[i])
			nnb__model_unref(models.items[i]);
	nnb__table_fini(&bursts);
	nnb__table_fini(&buffers);
	nnb__table_fini(&models);
	close_sockets(c);
	nnb__connection_leave(c); /* the service may be gone from here on */
	connection_free(c);
	return NULL;
}

/*
 * Send why a connection that has just been accepted does not begin. This does not block: an empty queue has room for
 * the answer.
 */
static void refusal_send(struct nnb__connection *c, enum nnb_status status, const struct nnb_reason *why)
{
	struct nnb__message out = { 0 };

	fcntl(c->life, F_SETFL, O_NONBLOCK);
	nnb__answer_begin(&out, status, why);
	nnb__send_without_fds(c->life, &out);
	nnb__message_fini(&out);
}

void nnb__connection_start(struct nnb_service *s, int sock)
{
	struct nnb__connection *c = calloc(1, sizeof(*c));
	struct nnb_reason why = { "" };
	enum nnb_status status;

	if (!c) {
		nnb__close(sock);
		return;
	}
	c->service = s;
	c->life = sock;
	c->events = c->process = -1;
	pthread_mutex_init(&c->lock, NULL);
	pthread_mutex_init(&c->events_lock, NULL);
	pthread_cond_init(&c->fewer, NULL);
	status = nnb__connection_enter(c, &why);
	if (status) {
		/* Send the refusal, and disconnect. The sweeper closes the socket, because that may block. */
		refusal_send(c, status, &why);
		nnb__sweeper_close(&c->service->sweeper, c->life, c->owner);
		if (c->process >= 0)
			close(c->process);
		connection_free(c);
		return;
	}
	if (start_thread(connection_run, c)) {
		nnb_because(&why, "the service has no thread for another connection");
		refusal_send(c, NNB_STATUS_RESOURCE_EXHAUSTED_TRANSIENT, &why);
		close_sockets(c);
		nnb__connection_leave(c);
		connection_free(c);
	}
}
