/*
 * client.c -- the app's connection to the service.
 *
 * LAYOUT    A life line, over which channels are opened; it ends when the service ends. Channels, each for one call
 *           at a time: a calling thread takes an idle channel, or opens another. A socket for the service's
 *           completion events (an asynchronous execution has ended), and for each burst a socket on which the service
 *           asks for the memory of slots. The events' thread reads these two kinds of sockets.
 * CONCURRENCY  Any thread may call. The lock guards the lists, and is never held while a thread waits; opening a
 *           channel has a lock of its own. The events' thread looks a burst up under the client's lock, and answers
 *           for it under the burst's lock, which closing the burst takes too: so the thread never answers for a
 *           closed burst. A client is reference-counted: by its user, its models, and (through these) bursts and
 *           executions under way. Releasing the last reference ends the events' thread; if that thread itself
 *           releases it, it ends by itself.
 * CRASH     The death of the service closes all sockets. A thread that waits on one of them sees that; the events'
 *           thread sees it too, and notifies the bursts and the callers of asynchronous executions.
 * TRUST     The service's answers are parsed as untrusted data.
 */
#include <assert.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "client/client.h"
#include "trace/open.h"
#include "trace/span.h"

void nnb__client_free(struct nnb_client *c)
{
	assert(!c->lines && !c->pending); /* each would hold the client */
	nnb__fenced_forget(c);
	while (c->idle) {
		struct nnb__channel *ch = c->idle;

		c->idle = ch->next;
		nnb__channel_free(ch);
	}
	for (int i = 0; i < 4; i++) {
		int fd = (const int[]){ c->life, c->events, c->epoll, c->wake }[i];

		if (fd >= 0)
			close(fd);
	}
	pthread_cond_destroy(&c->unused);
	pthread_mutex_destroy(&c->lock);
	pthread_mutex_destroy(&c->life_lock);
	free(c);
}

struct nnb_client *nnb__client_ref(struct nnb_client *c)
{
	atomic_fetch_add_explicit(&c->refs, 1, memory_order_relaxed);
	return c;
}

void nnb__client_unref(struct nnb_client *c)
{
	const uint64_t one = 1;
	struct nnb__message bye = { 0 };
	unsigned had = atomic_fetch_sub_explicit(&c->refs, 1, memory_order_acq_rel);

	assert(had > 0);
	if (had != 1)
		return;
	nnb__message_begin(&bye, NNB__BYE); /* without it, the service would take this client for dead */
	nnb__message_send(c->life, &bye);
	nnb__message_fini(&bye);
	shutdown(c->life, SHUT_RDWR);
	shutdown(c->events, SHUT_RDWR); /* the thread may be in the middle of a message */
	if (pthread_equal(pthread_self(), c->thread)) {
		c->orphan = true;
		pthread_detach(c->thread);
		atomic_store_explicit(&c->stopping, true, memory_order_release);
		return;
	}
	atomic_store_explicit(&c->stopping, true, memory_order_release);
	while (write(c->wake, &one, sizeof(one)) < 0 && errno == EINTR)
		;
	pthread_join(c->thread, NULL);
	nnb__client_free(c);
}

#define SYSTEM_SOCKET "/run/nnburst/socket"

/* The path of the service's socket: of the caller or $NNBURST_SOCKET; else the user's own; else the system's. */
static int find_socket(const char *asked, struct sockaddr_un *ret)
{
	const char *own = getenv("XDG_RUNTIME_DIR");
	int n;

	*ret = (struct sockaddr_un){ .sun_family = AF_UNIX };
	if (!asked)
		asked = secure_getenv("NNBURST_SOCKET");
	if (asked) {
		n = snprintf(ret->sun_path, sizeof(ret->sun_path), "%s", asked);
		return n < 0 || (size_t)n >= sizeof(ret->sun_path) ? -ENAMETOOLONG : 0;
	}
	if (own) {
		n = snprintf(ret->sun_path, sizeof(ret->sun_path), "%s/nnburst/socket", own);
		if (n > 0 && (size_t)n < sizeof(ret->sun_path) && !access(ret->sun_path, F_OK))
			return 0;
	}
	strcpy(ret->sun_path, SYSTEM_SOCKET);
	return 0;
}

/* Name each place that was looked at: nnburstd of a user listens at the first one. */
static void no_service(const char *asked, const struct sockaddr_un *at, struct nnb_reason *reason)
{
	const char *own = getenv("XDG_RUNTIME_DIR");
	bool both = !asked && own && !secure_getenv("NNBURST_SOCKET") && !strcmp(at->sun_path, SYSTEM_SOCKET);

	nnb_because(reason, "%s%s%s: no service there: is nnburstd running?", both ? own : "",
	            both ? "/nnburst/socket, " : "", asked ? asked : at->sun_path);
}

static int errno_of(enum nnb_status status)
{
	switch (status) {
	case NNB_STATUS_NONE:
		return 0;
	case NNB_STATUS_DEVICE_UNAVAILABLE:
		return -EACCES;
	case NNB_STATUS_RESOURCE_EXHAUSTED_TRANSIENT:
	case NNB_STATUS_RESOURCE_EXHAUSTED_PERSISTENT:
		return -EAGAIN;
	case NNB_STATUS_INVALID_ARGUMENT:
		return -EPROTONOSUPPORT;
	default:
		return -EPROTO;
	}
}

/* Introduce ourselves. */
static int service_greet(struct nnb_client *c, const char *name, struct nnb_reason *reason)
{
	struct nnb__message m = { 0 };
	int r;

	nnb__message_begin(&m, NNB__HELLO);
	nnb__put_u32(&m, NNB__PROTOCOL);
	nnb__put_u32(&m, c->hal);
	nnb__put_text(&m, name);
	r = nnb__message_send(c->life, &m); /* a service that refuses the connection sends its answer all the same */
	if (!r || r == -EPIPE)
		r = nnb__message_receive(c->life, &m);
	if (r == -ECONNRESET) /* the service closed the socket before it read the message: its answer is still there */
		r = nnb__message_receive(c->life, &m);
	if (r) {
		nnb_because(reason, "the service does not answer: %s", strerror(-r));
	} else {
		r = errno_of(nnb__answer_status(&m, reason));
		if (!r) {
			c->info.pid = nnb__get_u32(&m);
			c->info.instance = nnb__get_u32(&m);
			c->info.connection = nnb__get_u32(&m);
			c->info.app = nnb__get_u32(&m);
			c->info.policy = nnb__get_u32(&m);
			c->info.preempt = nnb__get_u32(&m);
			c->info.deadlines = nnb__get_u32(&m);
			c->info.lanes = nnb__get_u32(&m);
			c->info.sync_stream = nnb__get_u32(&m);
			c->info.fenced_stream = nnb__get_u32(&m);
			c->info.async_stream = nnb__get_u32(&m);
			nnb__get_text(&m, c->info.driver, sizeof(c->info.driver));
			nnb__get_text(&m, c->info.version, sizeof(c->info.version));
			nnb__get_capabilities(&m, &c->info.capabilities);
		}
		if (!r && !nnb__message_taken(&m)) {
			r = -EPROTO;
			nnb_because(reason, "the service's answer is malformed");
		}
	}
	nnb__message_fini(&m);
	return r;
}

int nnb__client_watch(struct nnb_client *c, int fd, uint64_t tag)
{
	struct epoll_event event = { .events = EPOLLIN, .data.u64 = tag };

	return epoll_ctl(c->epoll, EPOLL_CTL_ADD, fd, &event) ? -errno : 0;
}

/* Offer the socket on which the service sends what is done. */
static int events_offer(struct nnb_client *c, struct nnb_reason *reason)
{
	struct nnb__message out = { 0 }, in = { 0 };
	enum nnb_status status;

	nnb__message_begin(&out, NNB__EVENTS);
	status = nnb__client_offer(c, &out, &in, &c->events, reason);
	nnb__message_fini(&out);
	nnb__message_fini(&in);
	return errno_of(status);
}

static int events_start(struct nnb_client *c)
{
	int r;

	c->epoll = epoll_create1(EPOLL_CLOEXEC);
	c->wake = eventfd(0, EFD_CLOEXEC);
	if (c->epoll < 0 || c->wake < 0)
		return -errno;
	r = nnb__client_watch(c, c->events, NNB__EVENTS_TAG);
	if (!r)
		r = nnb__client_watch(c, c->wake, NNB__WAKE_TAG);
	return r ? r : -pthread_create(&c->thread, NULL, nnb__events_thread, c);
}

int nnb_client_open(struct nnb_client **ret, const struct nnb_client_config *config, struct nnb_reason *reason)
{
	static const struct nnb_client_config usual;
	struct nnb_client *c = calloc(1, sizeof(*c));
	struct sockaddr_un at;
	uint64_t began;
	int r;

	if (!config)
		config = &usual;
	if (!c)
		return -ENOMEM;
	nnb__trace_open();
	began = nnb__span_begin();
	atomic_init(&c->refs, 1);
	c->timeout_ns = config->timeout_ns;
	c->hal = config->hal ? config->hal : NNB_HAL_1_3;
	c->life = c->events = c->epoll = c->wake = -1;
	c->last_tag = NNB__FIRST_LINE_TAG;
	pthread_mutex_init(&c->life_lock, NULL);
	pthread_mutex_init(&c->lock, NULL);
	pthread_cond_init(&c->unused, NULL);
	r = find_socket(config->socket, &at);
	if (!r) {
		c->life = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
		if (c->life >= 0)
			nnb__socket_timeout(c->life, c->timeout_ns);
		do
			r = c->life < 0 || connect(c->life, (struct sockaddr *)&at, sizeof(at)) ? -errno : 0;
		while (r == -EINTR);
		if (r == -EAGAIN) /* the service did not accept others in time, who came first */
			r = -ETIMEDOUT;
	}
	if (r == -ENOENT || r == -ECONNREFUSED)
		no_service(config->socket, &at, reason);
	else if (r)
		nnb_because(reason, "%s: %s", config->socket ? config->socket : at.sun_path, strerror(-r));
	if (!r)
		r = service_greet(c, config->name ? config->name : program_invocation_short_name, reason);
	if (!r)
		r = events_offer(c, reason);
	if (!r) {
		r = events_start(c);
		if (r)
			nnb_because(reason, "cannot attend to the service: %s", strerror(-r));
	}
	if (r) {
		nnb__span_end_own(began, NBT_span_kind_connect, 0, NNB_STATUS_DEVICE_UNAVAILABLE);
		nnb__client_free(c);
	} else {
		nnb__span_end(began, NBT_span_kind_connect, NBT_owner_connection, c->info.connection, 0,
		              NNB_STATUS_NONE);
		*ret = c;
	}
	return r;
}

static uint32_t stream_of(const struct nnb_client *c, enum nbt_path path)
{
	switch (path) {
	case NBT_path_sync:
		return c->info.sync_stream;
	case NBT_path_fenced:
		return c->info.fenced_stream;
	default:
		return c->info.async_stream;
	}
}

uint32_t nnb__call_submit(struct nnb_remote *remote, enum nbt_path path, const struct nnb_call *call,
                          uint64_t duration_ns, bool fallback, struct nnb__call_trace *ret)
{
	struct nnb_client *c = remote->client;
	uint32_t number;

	assert(path < sizeof(c->calls) / sizeof(c->calls[0]));
	do
		number = (atomic_fetch_add_explicit(&c->calls[path], 1, memory_order_relaxed) + 1) & INT32_MAX;
	while (!number); /* 0 is no number, and those beyond 2^31 are the service's */
	NNB__CALL_BEGIN(ret, nnb__exec_of(stream_of(c, path), number), .model = remote->id, .path = path,
	                .deadline_ns = call->terms.deadline_ns, .duration_ns = duration_ns, .pools = call->n_pools,
	                .measure = call->measure, .fallback = fallback);
	return number;
}

struct nnb_client *nnb_client_close(struct nnb_client *c)
{
	uint64_t began = nnb__span_begin();

	if (!c)
		return NULL;
	nnb__client_unref(c);
	nnb__span_end_own(began, NBT_span_kind_disconnect, 0, NNB_STATUS_NONE); /* the connection may be gone */
	return NULL;
}

const struct nnb_service_info *nnb_client_info(const struct nnb_client *c)
{
	return &c->info;
}

bool nnb_client_alive(const struct nnb_client *c)
{
	return !atomic_load_explicit(&c->dead, memory_order_relaxed);
}

enum nnb_status nnb_client_counts(struct nnb_client *c, struct nnb_service_counts *ret, struct nnb_reason *reason)
{
	struct nnb__channel *ch;
	enum nnb_status status = nnb__channel_take(c, NNB__COUNTS, 0, &ch, reason);
	struct nnb_service_counts counts;

	if (status)
		return status;
	status = nnb__answer_await(c, ch, reason);
	if (!status)
		nnb__get_counts(&ch->in, &counts);
	status = nnb__answer_end(c, ch, status, reason);
	if (!status)
		*ret = counts;
	return status;
}

enum nnb_status nnb_client_apps(struct nnb_client *c, struct nnb_app_counts *ret, uint32_t room, uint32_t *n,
                                struct nnb_reason *reason)
{
	struct nnb__channel *ch;
	enum nnb_status status = nnb__channel_take(c, NNB__APPS, 0, &ch, reason);
	struct nnb_app_counts app;
	uint32_t there = 0;

	if (status)
		return status;
	status = nnb__answer_await(c, ch, reason);
	if (!status) {
		there = nnb__get_u32(&ch->in);
		for (uint32_t i = 0; i < there && !ch->in.failed; i++) {
			nnb__get_app(&ch->in, &app);
			if (i < room)
				ret[i] = app;
		}
	}
	status = nnb__answer_end(c, ch, status, reason);
	if (!status)
		*n = there;
	return status;
}
