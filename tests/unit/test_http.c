/*
 * test_http.c -- the exporter's HTTP: a client that speaks HTTP gets its page, and gets it at once while other
 * clients are slow, endless, many or send garbage.
 *
 * There is one thread: asked() runs the server while it waits for its answer.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base.h"
#include "exporter/http.h"

enum { ANSWER = 300000, LARGE = 200000, FILES = 1024, WAITING = FILES / 4, MANY = 300, QUEUED = 120 };

static char answer_text[ANSWER];
static int pages_made;
static uint64_t last_arrived_ns;

static struct bsv_http_page page(void *context, const char *path, const char *accept, uint64_t arrived_ns)
{
	struct bsv_http_page ret = { .status = 200, .type = "text/plain" };

	assert_ptr_equal(context, &pages_made);
	assert_true(arrived_ns <= now_ns());
	last_arrived_ns = arrived_ns;
	pages_made++;
	if (!strcmp(path, "/large")) {
		ret.bytes = LARGE;
		ret.body = malloc(LARGE);
		assert_non_null(ret.body);
		memset(ret.body, 'x', LARGE);
	} else if (strcmp(path, "/metrics") != 0) {
		ret.status = 404;
		ret.body = strdup("none");
		ret.bytes = 4;
	} else {
		assert_true(asprintf(&ret.body, "for %s", accept) > 0);
		ret.bytes = strlen(ret.body);
	}
	return ret;
}

static struct bsv_http *server(void)
{
	struct bsv_http *h = NULL;
	struct bsa_err err = { "" };
	int r = bsv_http_open(&h, "127.0.0.1:0", page, &pages_made, &err);

	if (r < 0 && strstr(err.text, "not installed"))
		return NULL;
	assert_int_equal(r, 0);
	return h;
}

static int begun(const struct bsv_http *h)
{
	const char *port = strrchr(bsv_http_where(h), ':') + 1;
	struct sockaddr_in to = { .sin_family = AF_INET,
		                  .sin_port = htons((uint16_t)atoi(port)),
		                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_true(fd >= 0);
	assert_int_equal(connect(fd, (struct sockaddr *)&to, sizeof(to)), 0);
	assert_int_equal(fcntl(fd, F_SETFL, O_NONBLOCK), 0);
	return fd;
}

static void run(struct bsv_http *h)
{
	struct pollfd p = { .fd = bsv_http_fd(h), .events = POLLIN };

	poll(&p, 1, bsv_http_patience(h, 20));
	bsv_http_run(h);
}

/* Everything that the server sends to @fd until it closes. */
static const char *read_until_close(struct bsv_http *h, int fd)
{
	size_t used = 0;
	ssize_t n;

	do {
		run(h);
		n = read(fd, answer_text + used, sizeof(answer_text) - 1 - used);
		used += n > 0 ? (size_t)n : 0;
	} while (n > 0 || (n < 0 && errno == EAGAIN));
	answer_text[used] = 0;
	close(fd);
	return answer_text;
}

static const char *request_page(struct bsv_http *h, const char *request)
{
	int fd = begun(h);

	assert_int_equal(send(fd, request, strlen(request), MSG_NOSIGNAL), strlen(request));
	return read_until_close(h, fd);
}

static void expect_start(const char *text, const char *with)
{
	if (strncmp(text, with, strlen(with)) != 0)
		fail_msg("the answer does not start with '%s': %.200s", with, text);
}

static void each_request_has_its_answer(void **state)
{
	struct bsv_http *h = *state;
	static const struct {
		const char *request, *status, *has;
	} rows[] = {
		{ "GET /metrics HTTP/1.1\r\nHost: a\r\nAccept: text/wanted\r\n\r\n", "HTTP/1.1 200",
		  "\r\n\r\nfor text/wanted" },
		{ "GET /metrics?name=x HTTP/1.1\r\nHost: a\r\n\r\n", "HTTP/1.1 200", "\r\n\r\nfor " },
		{ "GET /metrics HTTP/1.0\r\n\r\n", "HTTP/1.1 200", "nosniff" },
		{ "GET /metrics HTTP/1.1\r\nHost: a\r\nConnection: keep-alive\r\n\r\n", "HTTP/1.1 200",
		  "Connection: close" },
		{ "HEAD /metrics HTTP/1.1\r\nHost: a\r\n\r\n", "HTTP/1.1 200", "Content-Length: 4\r\n" },
		{ "GET /other HTTP/1.1\r\nHost: a\r\n\r\n", "HTTP/1.1 404", "none" },
		{ "POST /metrics HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc", "HTTP/1.1 405",
		  "Allow: GET, HEAD" },
		{ "DELETE /metrics HTTP/1.1\r\nHost: a\r\n\r\n", "HTTP/1.1 405", "Allow" },
		{ "what is this\r\n\r\n", "", "" },
		{ "\x16\x03\x01\x02\x00\x01\xfc\x03\x03", "", "" }, /* TLS */
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const char *said;

		print_message("%.40s\n", rows[i].request);
		if (i + 1 == sizeof(rows) / sizeof(*rows)) { /* this row has no end of line, so the client gives up */
			int fd = begun(h);

			assert_int_equal(send(fd, rows[i].request, strlen(rows[i].request), MSG_NOSIGNAL),
			                 strlen(rows[i].request));
			shutdown(fd, SHUT_WR);
			said = read_until_close(h, fd);
		} else {
			said = request_page(h, rows[i].request);
		}
		expect_start(said, rows[i].status);
		assert_non_null(strstr(said, rows[i].has));
		assert_true(strncmp(rows[i].request, "HEAD", 4) || !strstr(said, "for "));
	}
}

static void a_large_page_is_whole(void **state)
{
	const char *said = request_page(*state, "GET /large HTTP/1.1\r\nHost: a\r\n\r\n"),
		   *body = strstr(said, "\r\n\r\n");

	assert_non_null(body);
	assert_int_equal(strlen(body + 4), LARGE);
}

static void an_endless_head_is_refused(void **state)
{
	static char head[100000];
	int fd = begun(*state);
	size_t used = 0;

	memset(head, 'a', sizeof(head));
	memcpy(head, "GET /metrics HTTP/1.1\r\nHost: ", 29);
	while (used < sizeof(head)) { /* the server stops reading */
		ssize_t n = send(fd, head + used, sizeof(head) - used, MSG_NOSIGNAL);

		if (n < 0 && errno != EAGAIN)
			break;
		used += n > 0 ? (size_t)n : 0;
		run(*state);
	}
	pages_made = 0;
	read_until_close(*state, fd);
	assert_int_equal(pages_made, 0);
	expect_start(request_page(*state, "GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n"), "HTTP/1.1 200");
}

/*
 * More connections than the server has slots for, none of which sends a request: a client that does is answered
 * among them.
 */
static void slow_clients_do_not_delay_others(void **state)
{
	struct bsv_http *h = *state;
	int slow[MANY], closed = 0;
	char byte;

	for (int i = 0; i < MANY; i++) {
		slow[i] = begun(h);
		assert_int_equal(send(slow[i], "GET /met", 8, MSG_NOSIGNAL), 8);
		run(h);
		if (i % 20 == 0)
			expect_start(request_page(h, "GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n"), "HTTP/1.1 200");
	}
	for (int i = 0; i < MANY; i++) {
		ssize_t n = read(slow[i], &byte, 1);

		closed += !n || (n < 0 && errno != EAGAIN);
		close(slow[i]);
	}
	assert_in_range(closed, MANY - WAITING, MANY); /* the server closed the oldest to make room */
}

/*
 * Idle connections fill the server and wait in its queue: it accepts them one after the other, without a sleep
 * before any.
 */
static void a_full_server_does_not_sleep(void **state)
{
	struct bsv_http *h = *state;
	struct pollfd p = { .fd = bsv_http_fd(h), .events = POLLIN };
	int idle[QUEUED], fd, pages = pages_made;

	for (int i = 0; i < QUEUED; i++) {
		idle[i] = begun(h);
		if (i < QUEUED / 2)
			run(h);
	}
	fd = begun(h);
	assert_int_equal(send(fd, "GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n", 34, MSG_NOSIGNAL), 34);
	while (pages_made == pages) {
		int patience = bsv_http_patience(h, 10000), ready = poll(&p, 1, patience);

		assert_true(ready > 0 || !patience);
		bsv_http_run(h);
	}
	expect_start(read_until_close(h, fd), "HTTP/1.1 200");
	for (int i = 0; i < QUEUED; i++)
		close(idle[i]);
}

/* All requests that are complete before a page is begun may have that page. */
static void a_request_has_the_time_at_which_it_was_complete(void **state)
{
	struct bsv_http *h = *state;
	int fd = begun(h);
	uint64_t began, ended;

	assert_int_equal(send(fd, "GET /metrics HTTP/1.1\r\n", 23, MSG_NOSIGNAL), 23);
	for (int i = 0; i < 3; i++)
		run(h);
	began = now_ns();
	assert_int_equal(send(fd, "Host: a\r\n\r\n", 11, MSG_NOSIGNAL), 11);
	expect_start(read_until_close(h, fd), "HTTP/1.1 200");
	ended = now_ns();
	assert_in_range(last_arrived_ns, began, ended);
}

/* Clients that have sent all of a request, and reset the connection, take no page. */
static void a_client_that_has_gone_gets_no_page(void **state)
{
	struct bsv_http *h = *state;
	int fds[QUEUED], pages = pages_made;

	for (int i = 0; i < QUEUED; i++) {
		fds[i] = begun(h);
		assert_int_equal(send(fds[i], "GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n", 34, MSG_NOSIGNAL), 34);
		setsockopt(fds[i], SOL_SOCKET, SO_LINGER, &(struct linger){ .l_onoff = 1 }, sizeof(struct linger));
		close(fds[i]);
	}
	expect_start(request_page(h, "GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n"), "HTTP/1.1 200");
	assert_int_equal(pages_made, pages + 1);
}

/* What begins with no method is closed at once, and libmicrohttpd does not see it. */
static void what_is_no_request_is_closed_at_once(void **state)
{
	static const char *const heads[] = {
		"\r\n\r\n", "\n\n", "\r\n", " GET / HTTP/1.1\r\n\r\n", "\r\nGET / HTTP/1.1\r\n\r\n", "\x16\x03\x01\x02"
	};

	for (size_t i = 0; i < sizeof(heads) / sizeof(*heads); i++) {
		int pages = pages_made;
		uint64_t began = now_ns();

		assert_string_equal(request_page(*state, heads[i]), "");
		assert_true(now_ns() - began < 2000000000); /* libmicrohttpd waits for 5 s */
		assert_int_equal(pages_made, pages);
	}
}

/*
 * The server closes sockets of which another process has a copy, as a child has between fork and exec. What happens to
 * these later does not reach the clients that have got their places.
 */
static void a_closed_socket_that_a_child_has_is_gone(void **state)
{
	struct bsv_http *h = *state;
	int old[QUEUED], other[QUEUED], child[2], status;
	pid_t pid;
	char byte;

	for (int i = 0; i < QUEUED; i++) {
		old[i] = begun(h);
		run(h);
	}
	assert_int_equal(pipe2(child, O_CLOEXEC), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		close(child[1]);
		for (int i = 0; i < QUEUED; i++)
			close(old[i]); /* keep the server's ends alone */
		_exit(read(child[0], &byte, 1) != 0);
	}
	close(child[0]);
	for (int i = 0; i < QUEUED; i++) {
		assert_int_equal(shutdown(old[i], SHUT_WR), 0); /* the server closes its end */
		run(h);
	}
	for (int i = 0; i < QUEUED; i++) {
		other[i] = begun(h);
		run(h);
	}
	for (int i = 0; i < QUEUED; i++) {
		setsockopt(old[i], SOL_SOCKET, SO_LINGER, &(struct linger){ .l_onoff = 1 }, sizeof(struct linger));
		close(old[i]); /* resets the connection, of which the child has the other end */
		run(h);
	}
	for (int i = 0; i < QUEUED; i++) {
		assert_int_equal(send(other[i], "GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n", 34, MSG_NOSIGNAL), 34);
		expect_start(read_until_close(h, other[i]), "HTTP/1.1 200");
	}
	close(child[1]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

/* Clients request a lot, read nothing, and close. */
static void clients_that_do_not_read_do_no_harm(void **state)
{
	struct bsv_http *h = *state;

	for (int i = 0; i < MANY; i++) {
		int fd = begun(h);

		assert_true(send(fd, "GET /large HTTP/1.1\r\nHost: a\r\n\r\n", 32, MSG_NOSIGNAL) > 0);
		run(h);
		if (i % 2)
			setsockopt(fd, SOL_SOCKET, SO_LINGER, &(struct linger){ .l_onoff = 1 }, sizeof(struct linger));
		close(fd);
	}
	expect_start(request_page(h, "GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n"), "HTTP/1.1 200");
}

static void listening_addresses_are_parsed(void **state)
{
	static const struct {
		const char *listen;
		int code;
		const char *says;
	} rows[] = {
		{ "", BSA_E_USAGE, "not ADDRESS:PORT" },
		{ ":9464", BSA_E_USAGE, "not ADDRESS:PORT" },
		{ "127.0.0.1", BSA_E_USAGE, "not ADDRESS:PORT" },
		{ "127.0.0.1:", BSA_E_USAGE, "not ADDRESS:PORT" },
		{ "127.0.0.1:x", BSA_E_USAGE, "not ADDRESS:PORT" },
		{ "127.0.0.1:65536", BSA_E_USAGE, "not ADDRESS:PORT" },
		{ "127.0.0.1:123456", BSA_E_USAGE, "not ADDRESS:PORT" },
		{ "::1:9464", BSA_E_USAGE, "not ADDRESS:PORT" },
		{ "[::1:9464", BSA_E_USAGE, "not ADDRESS:PORT" },
		{ "example.org:9464", BSA_E_USAGE, "not ADDRESS:PORT" },
		{ "192.0.2.1:0", BSA_E_ENV, "does not have that address" },
		{ "localhost:0", 0, "127.0.0.1:" },
		{ "0", 0, "127.0.0.1:" },
		{ "127.3.2.1:0", 0, "127.3.2.1:" },
		{ "0.0.0.0:0", 0, "0.0.0.0:" },
	};
	struct bsa_err err = { "" };

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct bsv_http *h = NULL;
		int r = bsv_http_open(&h, rows[i].listen, page, &pages_made, &err);

		print_message("'%s': %s\n", rows[i].listen, h ? bsv_http_where(h) : err.text);
		assert_int_equal(r, rows[i].code);
		assert_non_null(strstr(h ? bsv_http_where(h) : err.text, rows[i].says));
		if (h)
			assert_int_equal(bsv_http_is_public(h), !strncmp(rows[i].listen, "0.", 2));
		bsv_http_free(h);
	}
}

static void an_address_in_use_is_refused(void **state)
{
	const struct bsv_http *h = *state;
	struct bsv_http *second = NULL;
	struct bsa_err err = { "" };

	assert_int_equal(bsv_http_open(&second, bsv_http_where(h), page, &pages_made, &err), BSA_E_ENV);
	assert_non_null(strstr(err.text, "another program listens there"));
}

static int begin(void **state)
{
	*state = server();
	return 0;
}

static int end(void **state)
{
	bsv_http_free(*state);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_request_has_its_answer),
		cmocka_unit_test(a_large_page_is_whole),
		cmocka_unit_test(an_endless_head_is_refused),
		cmocka_unit_test(slow_clients_do_not_delay_others),
		cmocka_unit_test(a_full_server_does_not_sleep),
		cmocka_unit_test(clients_that_do_not_read_do_no_harm),
		cmocka_unit_test(what_is_no_request_is_closed_at_once),
		cmocka_unit_test(a_closed_socket_that_a_child_has_is_gone),
		cmocka_unit_test(a_request_has_the_time_at_which_it_was_complete),
		cmocka_unit_test(a_client_that_has_gone_gets_no_page),
		cmocka_unit_test(an_address_in_use_is_refused),
		cmocka_unit_test(listening_addresses_are_parsed),
	};
	const struct rlimit files = { FILES, FILES };
	struct bsv_http *h;

	if (setrlimit(RLIMIT_NOFILE,
	              &files)) /* so that MANY are too many: a quarter of the files are for those who wait */
		return 1;
	h = server();
	if (!h) {
		puts("skipped: libmicrohttpd is not here");
		return 77;
	}
	bsv_http_free(h);
	return cmocka_run_group_tests(tests, begin, end);
}
