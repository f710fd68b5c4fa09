/*
 * test_service_pids.c -- where each process is an app, no process gets the identity, or the connections, of
 * another one by its pid.
 *
 * A process that connects and ends leaves its end of the connection to another process, and its pid to the
 * process that comes next. The test makes a process with a given pid (clone3, set_tid), as root or in a user
 * namespace. It is skipped (77) where it may do neither.
 */
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>

#include "service_helpers.h"

enum { LIMIT = 2, SKIPPED = 77 };
#define GIVEN_BACK_MS "5000" /* the service closes a connection without a message after 10 s */

struct header {
	uint32_t magic;
	uint16_t type, flags;
	uint32_t bytes, n_fds;
};

enum { MAGIC = 0x43424e4e, HELLO = 1, CHANNEL = 2, PROTOCOL = 9 };

/* Returns the child's pid, or 0 in the child. @pid: 0, or the one that the child must have. */
static pid_t fork_as(pid_t pid)
{
	struct clone_args args = { .exit_signal = SIGCHLD };

	if (pid) {
		args.set_tid = (uint64_t)(uintptr_t)&pid;
		args.set_tid_size = 1;
	}
	return (pid_t)syscall(SYS_clone3, &args, sizeof(args));
}

static int exit_status(pid_t child)
{
	int status = 0;

	assert_true(child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status));
	return WEXITSTATUS(status);
}

/*
 * The messages of a process that has ended. UNREAD: calls, until their answers, none of which it has read, fill
 * its socket.
 */
enum messages { NOTHING, HALF, UNREAD, N_MESSAGES };

/* Send hello on @sock, and then ask for channels until the service hangs up or takes no more. Read no answer. */
static bool read_nothing(int sock)
{
	const struct {
		struct header h;
		uint32_t version, hal, name_bytes;
	} hello = { { MAGIC, HELLO, 0, 12, 0 }, PROTOCOL, 0, 0 };
	const struct header call = { MAGIC, CHANNEL, 0, 0, 1 };
	const struct timeval patience = { .tv_usec = 300000 };
	struct {
		struct header h;
		uint32_t status;
	} answer;
	int pair[2];
	bool sent = !setsockopt(sock, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience)) &&
	            !socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) &&
	            send(sock, &hello, sizeof(hello), MSG_NOSIGNAL) == sizeof(hello) &&
	            recv(sock, &answer, sizeof(answer), MSG_PEEK) == sizeof(answer) && !answer.status;

	while (sent && fd_send(sock, &call, sizeof(call), pair[0], 0))
		;
	return sent && (errno == EAGAIN || errno == EPIPE || errno == ECONNRESET);
}

/*
 * A child connects @socks, sends these messages, and ends. Returns its pid, which is free again. This process
 * has its ends of the connections.
 */
static pid_t connect_and_die(const struct service *s, int socks[LIMIT], enum messages sent)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	struct header h = { MAGIC, HELLO, 0, 64, 2 };
	pid_t child;

	strcpy(at.sun_path, s->socket);
	for (int i = 0; i < LIMIT; i++)
		assert_true((socks[i] = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0)) >= 0);
	child = fork_as(0);
	if (!child) {
		for (int i = 0; i < LIMIT; i++)
			if (connect(socks[i], (const struct sockaddr *)&at, sizeof(at)) ||
			    (sent == HALF && send(socks[i], &h, sizeof(h), MSG_NOSIGNAL) != sizeof(h)) ||
			    (sent == UNREAD && !read_nothing(socks[i])))
				_exit(1);
		_exit(0);
	}
	assert_int_equal(exit_status(child), 0);
	return child;
}

static void close_all(const int socks[LIMIT])
{
	for (int i = 0; i < LIMIT; i++)
		close(socks[i]);
}

/* This program again, with the pid of a process that has ended: expect as many connections as an app may have. */
static int connect_as_heir(const char *socket_path, const char *most_ms)
{
	struct nnb_client *clients[LIMIT];
	struct nnb_client_config config = { .socket = socket_path, .name = "heir" };
	uint64_t until = now_ns() + (uint64_t)atoi(most_ms) * 1000000;
	int r;

	for (int i = 0; i < LIMIT; i++) {
		struct nnb_reason why = { "" };

		while ((r = nnb_client_open(&clients[i], &config, &why)) && now_ns() < until)
			poll_pause();
		if (r) {
			fprintf(stderr, "connection %d of pid %d: %s\n", i, (int)getpid(), why.text);
			return 1;
		}
	}
	for (int i = 0; i < LIMIT; i++)
		nnb_client_close(clients[i]);
	return 0;
}

static pid_t start_heir(const struct service *s, pid_t pid, const char *most_ms)
{
	pid_t heir = fork_as(pid);

	if (!heir) {
		execl("/proc/self/exe", "test_service_pids", "--heir", s->socket, most_ms, NULL);
		_exit(1);
	}
	assert_int_equal(heir, pid);
	return heir;
}

/* ---- */

static int set_up(void **state)
{
	struct service *s = calloc(1, sizeof(*s));

	assert_non_null(s);
	service_init(s);
	service_start(s, OPTIONS("--app-identity", "pid", "--limit", "connections=2"));
	*state = s;
	return 0;
}

/* The service sees no process but its own. */
static int set_up_blind(void **state)
{
	int own = open("/proc/self/ns/pid", O_RDONLY | O_CLOEXEC), r;

	assert_true(own >= 0 && unshare(CLONE_NEWPID) == 0);
	r = set_up(state);
	assert_int_equal(setns(own, CLONE_NEWPID), 0);
	close(own);
	return r;
}

/*
 * When the process with the same pid connects, the service has not yet accepted the connections of the ended
 * one.
 */
static void a_process_that_ended_before_accept_holds_no_connection(void **state)
{
	const struct service *s = *state;
	int socks[LIMIT];
	pid_t pid, heir;

	assert_int_equal(kill(s->pid, SIGSTOP), 0);
	pid = connect_and_die(s, socks, NOTHING);
	heir = start_heir(s, pid, "0");
	assert_int_equal(kill(s->pid, SIGCONT), 0);
	assert_int_equal(exit_status(heir), 0);
	close_all(socks);
}

/* The service has accepted the connections, and waits for their messages. */
static void a_process_that_ended_before_hello_releases_its_connections(void **state)
{
	const struct service *s = *state;
	int socks[LIMIT];

	for (enum messages sent = NOTHING; sent < N_MESSAGES; sent++) {
		pid_t pid = connect_and_die(s, socks, sent);

		assert_int_equal(exit_status(start_heir(s, pid, GIVEN_BACK_MS)), 0);
		close_all(socks);
	}
}

/* All processes that the service cannot see have the pid 0 for it, and would be one app. */
static void a_process_that_the_service_cannot_see_is_not_an_app(void **state)
{
	const struct service *s = *state;
	struct nnb_client *client;
	struct nnb_reason why = { "" };
	struct nnb_client_config config = { .socket = s->socket, .name = "outside" };
	assert_true(nnb_client_open(&client, &config, &why) < 0);
	assert_non_null(strstr(why.text, "pid namespace"));
}

/* The lowest number that is not an open file of the service. */
static rlim_t lowest_free_fd(const struct service *s)
{
	char path[64];
	rlim_t fd = 0;

	do
		snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)s->pid, (int)fd++);
	while (!access(path, F_OK) || errno != ENOENT);
	return fd - 1;
}

/*
 * The service has a file left for the connection, but none to watch its process. That is not the client's
 * fault, so it may try again.
 */
static void a_client_that_cannot_be_watched_may_try_again(void **state)
{
	const struct service *s = *state;
	struct nnb_client *client = NULL;
	struct nnb_client_config config = { .socket = s->socket, .name = "again" };
	struct rlimit before, one_more;
	int r = 0;

	for (int i = 0; i < 100 && !r; i++) { /* a closing connection may still hold a file more */
		struct nnb_reason why = { "" };

		nnb_client_close(client);
		poll_pause();
		assert_int_equal(prlimit(s->pid, RLIMIT_NOFILE, NULL, &before), 0);
		one_more = (struct rlimit){ lowest_free_fd(s) + 1, before.rlim_max };
		assert_int_equal(prlimit(s->pid, RLIMIT_NOFILE, &one_more, NULL), 0);
		r = nnb_client_open(&client, &config, &why);
		assert_int_equal(prlimit(s->pid, RLIMIT_NOFILE, &before, NULL), 0);
		if (r)
			assert_non_null(strstr(why.text, "cannot be watched: Too many open files"));
	}
	assert_int_equal(r, -EAGAIN);
	assert_int_equal(nnb_client_open(&client, &config, NULL), 0);
	nnb_client_close(client);
}

/* Whether a process with a pid of its choice can be made. */
static bool may_choose_pids(void)
{
	pid_t child = fork_as(0), again;

	if (!child)
		_exit(0);
	exit_status(child);
	again = fork_as(child);
	if (!again)
		_exit(0);
	return again > 0 && exit_status(again) == 0;
}

int main(int argc, char **argv)
{
	if (argc == 4 && !strcmp(argv[1], "--heir"))
		return connect_as_heir(argv[2], argv[3]);
	if (!may_choose_pids()) {
		fprintf(stderr, "no process with a pid of its choice can be made here\n");
		return SKIPPED;
	}
	add_test(a_process_that_ended_before_accept_holds_no_connection, set_up, service_tear_down, NULL,
	         "a process that ended before accept holds no connection");
	add_test(a_process_that_ended_before_hello_releases_its_connections, set_up, service_tear_down, NULL,
	         "a process that ended before hello releases its connections");
	add_test(a_process_that_the_service_cannot_see_is_not_an_app, set_up_blind, service_tear_down, NULL,
	         "a process that the service cannot see is not an app");
	add_test(a_client_that_cannot_be_watched_may_try_again, set_up, service_tear_down, NULL,
	         "a client that cannot be watched may try again");
	return _cmocka_run_group_tests("service: pids", tests, n_tests, NULL, NULL);
}
