/* http.c -- serves GET and HEAD over HTTP: libmicrohttpd gets each connection when its request is complete. */
#include "exporter/http.h"
#include "exporter/lobby.h"

#include <arpa/inet.h>
#include <dlfcn.h>
#include <errno.h>
#include <microhttpd.h>
#include <netdb.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"

#define LIBRARY "libmicrohttpd.so.12"

enum { CONNECTIONS = 128, KEPT_FREE = 32, SECONDS_MOST = 10, SECONDS_IDLE = 5, CONNECTION_BYTES = 16 << 10 };
enum { BACKLOG = 4096 }; /* the kernel has a limit of its own (net.core.somaxconn) */

/* ---- libmicrohttpd, loaded: burstscope's other commands would start 1.4 ms later with it and what it needs ---- */

/* clang-format off */
#define FUNCTIONS(F)                                                                                    \
	F(start_daemon) F(stop_daemon) F(run) F(get_timeout) F(get_daemon_info) F(get_connection_info)  \
	F(add_connection)                                                                               \
	F(lookup_connection_value) F(create_response_from_buffer) F(add_response_header)                \
	F(queue_response) F(destroy_response)
/* clang-format on */

#define POINTER(name) typeof(&MHD_##name) name;
#define PLACE(name) { "MHD_" #name, offsetof(struct mhd, name) },

struct mhd {
	FUNCTIONS(POINTER)
};

static int mhd_load(const struct mhd **ret, struct bsa_err *err)
{
	static const struct {
		const char *name;
		size_t offset;
	} places[] = { FUNCTIONS(PLACE) };
	static struct mhd functions;
	static void *library;

	if (!library)
		library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
	if (!library)
		return bsa_fail(err, BSA_E_ENV,
		                LIBRARY " is not installed, and it is the exporter's HTTP; install libmicrohttpd12");
	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
		void *function = dlsym(library, places[i].name);

		if (!function)
			return bsa_fail(err, BSA_E_ENV, LIBRARY " has no %s", places[i].name);
		memcpy((char *)&functions + places[i].offset, &function, sizeof(function));
	}
	*ret = &functions;
	return 0;
}

/* ---- the server ---- */

/* A connection that libmicrohttpd has. fd -1: a free place. */
struct connection {
	int fd;
	uint64_t began;      /* in ms of CLOCK_MONOTONIC: when libmicrohttpd got it */
	uint64_t arrived_ns; /* when its request was complete */
	bool closed;         /* shut down here; libmicrohttpd takes note of it the next time that it runs */
};

struct bsv_http {
	const struct mhd *mhd;
	struct MHD_Daemon *daemon;
	bsv_http_asked *asked;
	void *context;
	char where[64];
	bool public;
	struct bsv_lobby *lobby;
	struct {
		int fd;
		uint64_t arrived_ns;
	} handed[KEPT_FREE]; /* connections that libmicrohttpd takes in this run */
	int n_handed;
	struct connection connections[CONNECTIONS];
};

/* When the request of a connection that has been handed over was complete. */
static uint64_t arrival_of(const struct bsv_http *h, int fd)
{
	for (int i = 0; i < h->n_handed; i++)
		if (h->handed[i].fd == fd)
			return h->handed[i].arrived_ns;
	return UINT64_MAX;
}

static void connection_changed(void *context, struct MHD_Connection *connection, void **place,
                               enum MHD_ConnectionNotificationCode what)
{
	struct bsv_http *h = context;
	const union MHD_ConnectionInfo *info;

	if (what == MHD_CONNECTION_NOTIFY_CLOSED) {
		if (*place)
			((struct connection *)*place)->fd = -1;
		return;
	}
	info = h->mhd->get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
	for (size_t i = 0; info && i < CONNECTIONS; i++)
		if (h->connections[i].fd < 0) {
			h->connections[i] = (struct connection){ .fd = info->connect_fd,
				                                 .began = bsv_now_ms(),
				                                 .arrived_ns = arrival_of(h, info->connect_fd) };
			*place = &h->connections[i];
			return;
		}
}

static enum MHD_Result take_request(void *context, struct MHD_Connection *connection, const char *url,
                                    const char *method, const char *version, const char *upload, size_t *upload_bytes,
                                    void **place)
{
	struct bsv_http *h = context;
	const union MHD_ConnectionInfo *info =
		h->mhd->get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
	const struct connection *own = info ? info->socket_context : NULL;
	const char *accept = h->mhd->lookup_connection_value(connection, MHD_HEADER_KIND, "Accept");
	struct bsv_http_page page = { .status = 405, .type = "text/plain; charset=utf-8", .body = NULL };
	struct MHD_Response *response;
	enum MHD_Result r;

	(void)version, (void)upload, (void)upload_bytes, (void)place;
	if (!strcmp(method, "GET") || !strcmp(method, "HEAD")) {
		page = h->asked(h->context, url, accept ? accept : "", own ? own->arrived_ns : UINT64_MAX);
	} else {
		page.body = strdup("only GET and HEAD are answered\n");
		page.bytes = page.body ? strlen(page.body) : 0;
	}
	if (!page.body)
		return MHD_NO;
	response = h->mhd->create_response_from_buffer(page.bytes, page.body, MHD_RESPMEM_MUST_FREE);
	if (!response) {
		free(page.body);
		return MHD_NO;
	}
	h->mhd->add_response_header(response, "Content-Type", page.type);
	h->mhd->add_response_header(response, "X-Content-Type-Options", "nosniff");
	h->mhd->add_response_header(response, "Connection", "close");
	if (page.status == 405)
		h->mhd->add_response_header(response, "Allow", "GET, HEAD");
	r = h->mhd->queue_response(connection, (unsigned)page.status, response);
	h->mhd->destroy_response(response);
	return r;
}

/* ---- where it listens ---- */

/* ADDRESS:PORT, [ADDRESS]:PORT or PORT. false: it is none of these. */
static bool split(const char *listen, char address[64], char port[6])
{
	const char *colon = strrchr(listen, ':'), *from = listen, *digits = colon ? colon + 1 : listen;
	size_t n = colon ? (size_t)(colon - listen) : 0;

	if (n >= 2 && from[0] == '[' && from[n - 1] == ']')
		from++, n -= 2;
	else if (memchr(from, ':', n))
		return false; /* an IPv6 address without [ ] */
	if ((colon && !n) || n >= 64 || !*digits || strlen(digits) > 5 ||
	    strspn(digits, "0123456789") != strlen(digits))
		return false;
	memcpy(address, from, n);
	address[n] = 0;
	if (!n || !strcmp(address, "localhost"))
		strcpy(address, "127.0.0.1");
	strcpy(port, digits);
	return strtoul(digits, NULL, 10) <= UINT16_MAX;
}

/* A listening socket, or a code. */
static int listen_at(const char *listen_to, struct bsa_err *err)
{
	const struct addrinfo hints = { .ai_flags = AI_NUMERICHOST | AI_NUMERICSERV, .ai_socktype = SOCK_STREAM };
	struct addrinfo *found;
	char address[64], port[6];
	int fd, r = 0;

	if (!split(listen_to, address, port) || getaddrinfo(address, port, &hints, &found))
		return bsa_fail(err, BSA_E_USAGE,
		                "--listen: '%s' is not ADDRESS:PORT; write 127.0.0.1:9464, [::1]:9464 or 9464",
		                listen_to);
	fd = socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0) {
		r = bsa_fail(err, BSA_E_ENV, "--listen %s: %s", listen_to, strerror(errno));
	} else {
		setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &(int){ 1 }, sizeof(int));
		if (found->ai_family == AF_INET6)
			setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &(int){ 1 }, sizeof(int));
		if (bind(fd, found->ai_addr, found->ai_addrlen) || listen(fd, BACKLOG)) {
			r = bsa_fail(err, BSA_E_ENV, "--listen %s: %s", listen_to,
			             errno == EADDRINUSE      ? "another program listens there"
			             : errno == EADDRNOTAVAIL ? "this machine does not have that address"
			             : errno == EACCES        ? "this user may not listen on that port"
			                                      : strerror(errno));
			close(fd);
		}
	}
	freeaddrinfo(found);
	return r < 0 ? r : fd;
}

/* ---- the calls ---- */

int bsv_http_open(struct bsv_http **ret, const char *listen, bsv_http_asked *asked, void *context, struct bsa_err *err)
{
	struct bsv_http *h = calloc(1, sizeof(*h));
	const union MHD_DaemonInfo *info;
	int fd, r;

	if (!h)
		return bsa_fail(err, BSA_E_ENV, "no memory");
	h->asked = asked;
	h->context = context;
	for (size_t i = 0; i < CONNECTIONS; i++)
		h->connections[i].fd = -1;
	fd = r = listen_at(listen, err);
	if (r >= 0) {
		union {
			struct sockaddr any;
			struct sockaddr_in v4;
			struct sockaddr_in6 v6;
		} a = { .any.sa_family = AF_UNSPEC };
		socklen_t bytes = sizeof(a);
		bool v4;
		char address[INET6_ADDRSTRLEN] = "?", port[6] = "?";

		/* The port that it got; whether that is public. */
		getsockname(fd, &a.any, &bytes);
		getnameinfo(&a.any, bytes, address, sizeof(address), port, sizeof(port),
		            NI_NUMERICHOST | NI_NUMERICSERV);
		v4 = a.any.sa_family == AF_INET;
		snprintf(h->where, sizeof(h->where), a.any.sa_family == AF_INET6 ? "[%s]:%s" : "%s:%s", address, port);
		h->public = v4 ? ntohl(a.v4.sin_addr.s_addr) >> 24 != 127 : !IN6_IS_ADDR_LOOPBACK(&a.v6.sin6_addr);
		r = mhd_load(&h->mhd, err);
	}
	if (r >= 0) {
		h->daemon = h->mhd->start_daemon(MHD_USE_EPOLL | MHD_USE_NO_LISTEN_SOCKET, 0, NULL, NULL, take_request,
		                                 h, MHD_OPTION_CONNECTION_LIMIT, (unsigned)CONNECTIONS,
		                                 MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)SECONDS_IDLE,
		                                 MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CONNECTION_BYTES,
		                                 MHD_OPTION_NOTIFY_CONNECTION, connection_changed, h, MHD_OPTION_END);
		if (!h->daemon)
			r = bsa_fail(err, BSA_E_ENV, LIBRARY " does not start: %s", strerror(errno));
	}
	if (r >= 0) {
		info = h->mhd->get_daemon_info(h->daemon, MHD_DAEMON_INFO_EPOLL_FD);
		h->lobby = bsv_lobby_new(fd);
		fd = -1;
		if (!info)
			r = bsa_fail(err, BSA_E_ENV, LIBRARY " was built without epoll");
		else if (!h->lobby || !bsv_lobby_watch(h->lobby, info->epoll_fd))
			r = bsa_fail(err, BSA_E_ENV, "no memory or no files for clients");
	}
	if (fd >= 0) /* a lobby owns the listening socket */
		close(fd);
	if (r < 0) {
		bsv_http_free(h);
		return r;
	}
	*ret = h;
	return 0;
}

struct bsv_http *bsv_http_free(struct bsv_http *h)
{
	if (!h)
		return NULL;
	if (h->daemon)
		h->mhd->stop_daemon(h->daemon);
	bsv_lobby_free(h->lobby);
	free(h);
	return NULL;
}

const char *bsv_http_where(const struct bsv_http *h)
{
	return h->where;
}

bool bsv_http_is_public(const struct bsv_http *h)
{
	return h->public;
}

int bsv_http_fd(const struct bsv_http *h)
{
	return bsv_lobby_fd(h->lobby);
}

int bsv_http_patience(const struct bsv_http *h, int most)
{
	MHD_UNSIGNED_LONG_LONG ms;

	most = bsv_lobby_patience(h->lobby, most);
	if (h->mhd->get_timeout(h->daemon, &ms) == MHD_NO || ms > (unsigned)most)
		return most;
	return (int)ms;
}

/* Close the connections that had their time, and the oldest ones while there are too many. */
static void connections_close(struct bsv_http *h)
{
	uint64_t now = bsv_now_ms();
	struct connection *oldest;

	do {
		size_t open = 0;

		oldest = NULL;
		for (size_t i = 0; i < CONNECTIONS; i++) {
			struct connection *c = &h->connections[i];

			if (c->fd < 0 || c->closed)
				continue;
			open++;
			if (!oldest || c->began < oldest->began)
				oldest = c;
		}
		if (open <= CONNECTIONS - KEPT_FREE && oldest && now - oldest->began < SECONDS_MOST * 1000)
			oldest = NULL;
		if (oldest) {
			oldest->closed = true;
			shutdown(oldest->fd, SHUT_RDWR);
		}
	} while (oldest);
}

void bsv_http_run(struct bsv_http *h)
{
	const struct sockaddr nobody = { .sa_family = AF_UNSPEC };

	bsv_lobby_run(h->lobby);
	h->n_handed = 0;
	while (h->n_handed < KEPT_FREE) {
		int fd = bsv_lobby_take(h->lobby, &h->handed[h->n_handed].arrived_ns);

		if (fd < 0)
			break;
		h->handed[h->n_handed++].fd = fd;
		h->mhd->add_connection(h->daemon, fd, &nobody, sizeof(nobody)); /* closes it if it fails */
	}
	h->mhd->run(h->daemon);
	connections_close(h);
	h->mhd->run(h->daemon); /* frees the closed ones */
}
