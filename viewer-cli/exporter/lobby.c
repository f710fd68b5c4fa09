/*
 * lobby.c -- an epoll of the listening socket and of those who wait; their requests are peeked at, and not taken.
 */
#include "exporter/lobby.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/queue.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"

enum {
	CLIENTS_MOST = 4096,   /* clients that may wait, if the limit of open files allows it */
	CLIENTS_UNKNOWN = 64,  /* as many, if that limit cannot be read */
	ACCEPTED = 512,        /* connections for each bsv_lobby_run, so that those which wait have a turn */
	EVENTS = 512,          /* as many events, for the same reason */
	WAIT_MS = 10000,       /* a head that is not complete by then is not waited for */
	HEAD_BYTES = 16 << 10, /* more than the server takes of a head */
};

struct visitor {
	TAILQ_ENTRY(visitor) entry;
	int fd;
	uint64_t came_ns, arrived_ns;
};

TAILQ_HEAD(visitors, visitor);

struct bsv_lobby {
	int listener;
	int epoll; /* data.ptr: a visitor; this struct for the listener; NULL for a file of bsv_lobby_watch */
	struct visitor *places;
	struct visitors unused, waiting, ready; /* the latter two in the order in which they came */
	char head[HEAD_BYTES];
};

/*
 * Raise the limit of open files, and return how many clients may wait: a quarter of it, at most CLIENTS_MOST. The limit
 * is raised to four times that and no higher, because children inherit it, and some close every possible descriptor.
 */
static size_t files_allow(void)
{
	struct rlimit files;
	rlim_t wanted = 4 * CLIENTS_MOST;

	if (getrlimit(RLIMIT_NOFILE, &files))
		return CLIENTS_UNKNOWN;
	wanted = wanted < files.rlim_max ? wanted : files.rlim_max;
	if (files.rlim_cur < wanted) {
		files.rlim_cur = wanted;
		setrlimit(RLIMIT_NOFILE, &files);
	}
	return wanted / 4 ? wanted / 4 : 1;
}

static bool epoll_watch(struct bsv_lobby *l, int fd, uint32_t events, void *with)
{
	struct epoll_event event = { .events = events, .data.ptr = with };

	return !epoll_ctl(l->epoll, EPOLL_CTL_ADD, fd, &event);
}

bool bsv_lobby_watch(struct bsv_lobby *l, int fd)
{
	return epoll_watch(l, fd, EPOLLIN, NULL);
}

struct bsv_lobby *bsv_lobby_new(int listener)
{
	struct bsv_lobby *l = calloc(1, sizeof(*l));
	size_t n = files_allow();

	if (!l) {
		close(listener);
		return NULL;
	}
	l->listener = listener;
	TAILQ_INIT(&l->unused);
	TAILQ_INIT(&l->waiting);
	TAILQ_INIT(&l->ready);
	l->epoll = epoll_create1(EPOLL_CLOEXEC);
	l->places = calloc(n, sizeof(*l->places));
	if (l->epoll < 0 || !l->places || !epoll_watch(l, listener, EPOLLIN, l))
		return bsv_lobby_free(l);
	for (size_t i = 0; i < n; i++)
		TAILQ_INSERT_TAIL(&l->unused, &l->places[i], entry);
	return l;
}

/*
 * Close a client's socket that the epoll watches. close() alone removes it only once no process has the socket: a child
 * has it between fork and exec, and an event of it would come with the place of another client.
 */
static void watched_close(struct bsv_lobby *l, int fd)
{
	epoll_ctl(l->epoll, EPOLL_CTL_DEL, fd, NULL);
	close(fd);
}

/* Take @v out of @list. Its socket is the caller's now. */
static int visitor_leave(struct bsv_lobby *l, struct visitors *list, struct visitor *v)
{
	TAILQ_REMOVE(list, v, entry);
	TAILQ_INSERT_HEAD(&l->unused, v, entry);
	return v->fd;
}

struct bsv_lobby *bsv_lobby_free(struct bsv_lobby *l)
{
	struct visitor *v;

	if (!l)
		return NULL;
	while ((v = TAILQ_FIRST(&l->waiting)))
		watched_close(l, visitor_leave(l, &l->waiting, v));
	while ((v = TAILQ_FIRST(&l->ready)))
		close(visitor_leave(l, &l->ready, v));
	if (l->epoll >= 0)
		close(l->epoll);
	close(l->listener);
	free(l->places);
	free(l);
	return NULL;
}

int bsv_lobby_fd(const struct bsv_lobby *l)
{
	return l->epoll;
}

int bsv_lobby_patience(const struct bsv_lobby *l, int most)
{
	const struct visitor *oldest = TAILQ_FIRST(&l->waiting);
	uint64_t now = bsv_now(), until;

	if (!TAILQ_EMPTY(&l->ready))
		return 0;
	if (!oldest)
		return most;
	until = oldest->came_ns + WAIT_MS * UINT64_C(1000000);
	if (until <= now)
		return 0;
	until = (until - now) / 1000000 + 1;
	return until < (unsigned)most ? (int)until : most;
}

enum head { HEAD_GROWS, HEAD_COMPLETE, HEAD_WRONG };

/*
 * A head begins with a method, and ends with an empty line. libmicrohttpd skips empty lines before the method, and
 * waits for one while it holds one of its few connections.
 */
static enum head head_check(const char *head, size_t n)
{
	bool method;

	assert(n > 0);
	method = (*head >= 'A' && *head <= 'Z') || (*head >= 'a' && *head <= 'z');

	if (!method)
		return HEAD_WRONG;
	if (n == HEAD_BYTES || memmem(head, n, "\n\r\n", 3) || memmem(head, n, "\n\n", 2))
		return HEAD_COMPLETE;
	return HEAD_GROWS;
}

/* See what has come from @v. It becomes ready, goes on waiting, or leaves. @ended: the client sends nothing more. */
static void visitor_look(struct bsv_lobby *l, struct visitor *v, bool ended)
{
	ssize_t n = recv(v->fd, l->head, sizeof(l->head), MSG_PEEK | MSG_DONTWAIT);
	enum head head = n > 0 ? head_check(l->head, (size_t)n) : HEAD_GROWS;

	if (head == HEAD_COMPLETE) {
		epoll_ctl(l->epoll, EPOLL_CTL_DEL, v->fd, NULL);
		TAILQ_REMOVE(&l->waiting, v, entry);
		TAILQ_INSERT_TAIL(&l->ready, v, entry);
		v->arrived_ns = bsv_now();
	} else if (head == HEAD_WRONG || ended || !n || (n < 0 && errno != EAGAIN && errno != EINTR)) {
		watched_close(l, visitor_leave(l, &l->waiting, v));
	}
}

/* Read what has come from clients that wait. */
static void events_take(struct bsv_lobby *l)
{
	struct epoll_event events[EVENTS];
	int n = epoll_wait(l->epoll, events, EVENTS, 0);

	for (int i = 0; i < n; i++)
		if (events[i].data.ptr && events[i].data.ptr != l)
			visitor_look(l, events[i].data.ptr, events[i].events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR));
}

/* Make room: close the one that has waited longest. False: all requests are complete. */
static bool oldest_close(struct bsv_lobby *l)
{
	struct visitor *oldest = TAILQ_FIRST(&l->waiting);

	if (oldest)
		watched_close(l, visitor_leave(l, &l->waiting, oldest));
	return oldest;
}

static void clients_accept(struct bsv_lobby *l)
{
	for (int i = 0; i < ACCEPTED; i++) {
		struct visitor *v;
		int fd;

		if (TAILQ_EMPTY(&l->unused) && !oldest_close(l))
			return; /* others wait in the kernel's queue meanwhile */
		fd = accept4(l->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
		if (fd < 0 && (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) &&
		    oldest_close(l))
			continue;
		if (fd < 0)
			return;
		v = TAILQ_FIRST(&l->unused);
		v->fd = fd;
		v->came_ns = bsv_now();
		if (!epoll_watch(l, fd, EPOLLIN | EPOLLRDHUP | EPOLLET, v)) {
			close(fd);
			continue;
		}
		TAILQ_REMOVE(&l->unused, v, entry);
		TAILQ_INSERT_TAIL(&l->waiting, v, entry);
		visitor_look(l, v, false);
	}
}

void bsv_lobby_run(struct bsv_lobby *l)
{
	struct visitor *oldest;
	uint64_t now;

	events_take(l);
	clients_accept(l);
	now = bsv_now();
	while ((oldest = TAILQ_FIRST(&l->waiting)) && now - oldest->came_ns >= WAIT_MS * UINT64_C(1000000))
		oldest_close(l);
}

int bsv_lobby_take(struct bsv_lobby *l, uint64_t *ret_arrived_ns)
{
	struct visitor *v;

	while ((v = TAILQ_FIRST(&l->ready))) {
		int fd = visitor_leave(l, &l->ready, v), error = 0;
		socklen_t size = sizeof(error);

		if (!getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) && !error) {
			*ret_arrived_ns = v->arrived_ns;
			return fd;
		}
		close(fd); /* the client has reset the connection */
	}
	return -1;
}
