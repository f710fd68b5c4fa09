/*
 * test_service_refusals.c -- refused clients, or clients that stay when the service stops, with sockets that
 * hold objects that take a quarter of an hour to close: the service still lets the next client in, and stops
 * within two seconds.
 *
 * The slow object is a TCP connection with SO_LINGER and bytes that its peer does not read. The process that
 * closes it last sleeps in close(). The client sends it to the service, and closes its own copy.
 */
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "service_helpers.h"

enum {
	REFUSED = 600,   /* connections, behind those that are let in */
	LET_IN = 16,     /* connections that the service lets in per app */
	VICTIMS = 7,     /* clients that come after them */
	BACKLOG = 60,    /* connections that the service has not taken yet when it stops */
	WAITS_MS = 1000, /* milliseconds that a victim may wait in all, beside five other loads on this machine */
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
	CLOSES_MS = 5000,
	STOPS_MS = 5000,
#else
	CLOSES_MS = 1400,
	STOPS_MS = 2000,
#endif
};

/* ---- the attack ---- */

struct header {
	uint32_t magic;
	uint16_t type, flags;
	uint32_t bytes, n_fds;
};

enum { MAGIC = 0x43424e4e, HELLO = 1, CHANNEL = 2, ANSWER = 64 };

static int tcp_socket(void)
{
	const int little = 4096, more = 65536; /* bytes sent, and bytes that the peer receives */
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	must(fd >= 0);
	setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &more, sizeof(more));
	setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &little, sizeof(little));
	return fd;
}

/* A lingering connection, whose peer stays open and never reads. */
static int lingering(void)
{
	const struct linger linger = { .l_onoff = 1, .l_linger = 900 };
	struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int listener = tcp_socket(), sender = tcp_socket();
	socklen_t size = sizeof(at);
	static char bytes[1 << 16];

	must(bind(listener, (const struct sockaddr *)&at, sizeof(at)) == 0 && listen(listener, 1) == 0);
	must(getsockname(listener, (struct sockaddr *)&at, &size) == 0);
	must(connect(sender, (const struct sockaddr *)&at, sizeof(at)) == 0 && accept(listener, NULL, NULL) >= 0);
	close(listener);
	while (send(sender, bytes, sizeof(bytes), MSG_DONTWAIT) > 0)
		;
	must(setsockopt(sender, SOL_SOCKET, SO_LINGER, &linger, sizeof(linger)) == 0);
	return sender;
}

/* Send a packet of @type with @fd. Does not wait. */
static void send_fd(int sock, uint16_t type, int fd)
{
	const struct header h = { MAGIC, type, 0, 0, 1 };

	fd_send(sock, &h, sizeof(h), fd, MSG_DONTWAIT);
}

static void *close_it(void *fd)
{
	close((int)(intptr_t)fd);
	return NULL;
}

/* If the service has closed it already, this process closes it last, and lingers. */
static void close_beside(int fd)
{
	pthread_t thread;

	must(pthread_create(&thread, NULL, close_it, (void *)(intptr_t)fd) == 0 && pthread_detach(thread) == 0);
}

static void send_lingering(int sock, uint16_t type)
{
	int slow = lingering();

	send_fd(sock, type, slow);
	close_beside(slow);
}

/* A connection. -1: the service's backlog is full, or the service has ended. */
static int connected(const char *socket_path)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	strcpy(at.sun_path, socket_path);
	if (connect(fd, (const struct sockaddr *)&at, sizeof(at)) == 0)
		return fd;
	close(fd);
	return -1;
}

/*
 * A connection that has a message in its queue before the service can answer, in nearly all cases. -1: as
 * connected.
 */
static int connected_lingering(const char *socket_path)
{
	int slow = lingering(), fd = connected(socket_path);

	if (fd >= 0)
		send_fd(fd, ANSWER, slow);
	else
		setsockopt(slow, SOL_SOCKET, SO_LINGER, &(struct linger){ 0 }, sizeof(struct linger));
	close_beside(slow);
	return fd;
}

/*
 * Take all connections that an app may have, and try many more, until the service has ended. (No signal may
 * stop the service meanwhile, because it would interrupt the lingering.)
 */
static void is_refused(const char *socket_path, pid_t service)
{
	uint64_t end = now_ns() + 5000 * MS; /* the service may refuse new connections by now */
	struct nnb_client *client;
	int fd;

	for (int i = 0; i < LET_IN; i++)
		must(nnb_client_open(&client, &(struct nnb_client_config){ .socket = socket_path }, NULL) == 0);
	for (int i = 0; i < REFUSED && now_ns() < end;) {
		if (connected_lingering(socket_path) >= 0)
			i++;
		else
			poll_pause();
	}
	scene_report('.');
	while (kill(service, 0) == 0) {
		fd = connected_lingering(socket_path);
		if (fd >= 0)
			close(fd);
		else
			poll_pause();
	}
}

static void waits_to_be_let_in(const char *socket_path, pid_t service)
{
	kill(service, SIGSTOP);
	for (int i = 0; i < BACKLOG; i++)
		send_lingering(connected(socket_path), HELLO);
	scene_report('.');
	scene_stay();
}

/* A malformed message ends a channel, and after it comes one that is never read; the same for life lines. */
static void stays_with_channels(const char *socket_path, pid_t service)
{
	struct nnb_client *client;

	kill(service, SIGSTOP);
	for (int i = 0; i < LET_IN - 1; i++) {
		int fd = connected(socket_path);

		send_fd(fd, HELLO, fd); /* a message without a body is malformed, too */
		send_lingering(fd, ANSWER);
	}
	kill(service, SIGCONT);
	must(nnb_client_open(&client, &(struct nnb_client_config){ .socket = socket_path }, NULL) == 0);
	scene_report('.');
	scene_stay();
}

/* An execution that the driver does not end. */
static void has_an_endless_execution(const char *socket_path, pid_t service)
{
	struct nnb_model *m = vector_model(NNB_ADD, 64, 1);
	struct nnb_client *client;
	struct nnb_remote *remote;
	struct io io;

	(void)service;
	must(nnb_client_open(&client, &(struct nnb_client_config){ .socket = socket_path }, NULL) == 0);
	must(nnb_remote_prepare(client, m, &ordinary, NULL, &remote, NULL) == NNB_STATUS_NONE);
	io_init(&io, 64);
	scene_report('.');
	nnb_remote_execute(remote, &io.call, &io.answer, NULL);
	scene_stay();
}

static const struct scene {
	const char *name;
	void (*play)(const char *socket_path, pid_t service);
} scenes[] = {
	{ "is refused", is_refused },
	{ "waits to be let in", waits_to_be_let_in },
	{ "stays with channels", stays_with_channels },
	{ "has an endless execution", has_an_endless_execution },
};

/* ---- the test's side ---- */

static int set_up(void **state)
{
	struct service *s = calloc(1, sizeof(*s));

	assert_non_null(s);
	service_init(s);
	service_start(s, OPTIONS("--app-identity", "pid"));
	*state = s;
	return 0;
}

static void start_scene(struct child *c, const char *scene, const struct service *s)
{
	char service[16];

	snprintf(service, sizeof(service), "%d", (int)s->pid);
	child_start(c, scene, s, service);
}

static unsigned ms_since(uint64_t then)
{
	return (unsigned)((now_ns() - then) / MS);
}

static void refused_clients_do_not_keep_others_out(void **state)
{
	struct service *s = *state;
	struct nnb_client *clients[VICTIMS];
	struct nnb_model *adds = vector_model(NNB_ADD, 64, 1);
	unsigned waited, longest = 0;
	struct footprint is;
	struct child c;

	start_scene(&c, "is refused", s);
	assert_int_equal(child_read(&c), '.');
	for (int i = 0; i < VICTIMS; i++) {
		const struct nnb_client_config config = { .socket = s->socket, .timeout_ns = 5000 * MS };
		struct nnb_reason why = { "" };
		uint64_t then = now_ns();

		if (nnb_client_open(&clients[i], &config, &why))
			fail_msg("client %d after %u ms: %s", i, ms_since(then), why.text);
		nnb_remote_release(app_prepare(clients[i], adds));
		waited = ms_since(then);
		if (waited > WAITS_MS)
			fail_msg("client %d waits %u ms", i, waited);
		longest = waited > longest ? waited : longest;
	}
	print_message("a client waits %u ms at most\n", longest);
	is = service_footprint(s); /* a connection has a thread, and so has a channel; a refused connection has none */
	assert_true(is.threads - s->baseline.threads < LET_IN + 3 * VICTIMS);
	for (int i = 0; i < VICTIMS; i++)
		nnb_client_close(clients[i]);
	child_kill(&c);
	nnb_model_free(adds);
	service_settles(s);
}

/*
 * Expect that the service ends within @most ms: more than 1.5 s where it waits for a client, less where only
 * sockets are left.
 */
static void expect_prompt_stop(struct service *s, uint64_t then, unsigned most)
{
	unsigned took;

	assert_int_equal(service_reap(s), 0);
	took = ms_since(then);
	print_message("the stop takes %u ms\n", took);
	assert_true(took <= most);
}

static void a_stop_does_not_wait_for_the_backlog(void **state)
{
	struct service *s = *state;
	struct child c;
	uint64_t then;

	start_scene(&c, "waits to be let in", s);
	assert_int_equal(child_read(&c), '.');
	kill(s->pid, SIGTERM);
	then = now_ns();
	kill(s->pid, SIGCONT);
	expect_prompt_stop(s, then, CLOSES_MS);
	child_kill(&c);
}

static void a_stop_does_not_wait_for_sockets(void **state)
{
	struct service *s = *state;
	struct child c;
	uint64_t then;

	start_scene(&c, "stays with channels", s);
	assert_int_equal(child_read(&c), '.');
	then = now_ns();
	kill(s->pid, SIGTERM);
	expect_prompt_stop(s, then, CLOSES_MS);
	child_kill(&c);
}

static void a_stop_does_not_wait_for_refused_clients(void **state)
{
	struct service *s = *state;
	struct child c;
	uint64_t then;

	start_scene(&c, "is refused", s);
	assert_int_equal(child_read(&c), '.');
	then = now_ns();
	kill(s->pid, SIGTERM);
	expect_prompt_stop(s, then, CLOSES_MS);
	child_end(&c); /* the child finds the service gone */
}

static void a_stop_does_not_wait_for_executions(void **state)
{
	struct service *s = *state;
	struct child c;
	uint64_t then;

	atomic_store(&s->gate->hold_runs, 1);
	start_scene(&c, "has an endless execution", s);
	assert_int_equal(child_read(&c), '.');
	await(&s->gate->held_runs, 1);
	then = now_ns();
	kill(s->pid, SIGTERM);
	expect_prompt_stop(s, then, STOPS_MS);
	child_kill(&c);
}

int main(int argc, char **argv)
{
	if (argc == 5 && !strcmp(argv[1], "--scene")) {
		for (size_t i = 0; i < N_OF(scenes); i++)
			if (!strcmp(argv[2], scenes[i].name))
				scenes[i].play(argv[3], atoi(argv[4]));
		return 0;
	}
	skip_without_files(2048);
	add_test(refused_clients_do_not_keep_others_out, set_up, service_tear_down, NULL,
	         "refused clients do not keep others out");
	add_test(a_stop_does_not_wait_for_refused_clients, set_up, service_tear_down, NULL,
	         "a stop does not wait for refused clients");
	add_test(a_stop_does_not_wait_for_the_backlog, set_up, service_tear_down, NULL,
	         "a stop does not wait for the backlog");
	add_test(a_stop_does_not_wait_for_sockets, set_up, service_tear_down, NULL, "a stop does not wait for sockets");
	add_test(a_stop_does_not_wait_for_executions, set_up, service_tear_down, NULL,
	         "a stop does not wait for executions");
	return _cmocka_run_group_tests("service: refusals and stops", tests, n_tests, NULL, NULL);
}
