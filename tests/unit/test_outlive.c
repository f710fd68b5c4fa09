/*
 * test_outlive.c -- writev of an executable that outlives LTTng's session daemon: it differs for pipes
 * without a reader only.
 */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static struct iovec words[] = { { .iov_base = "ab", .iov_len = 2 }, { .iov_base = "c", .iov_len = 1 } };

static bool sigpipe_is_pending(void)
{
	sigset_t pending;

	assert_int_equal(sigpending(&pending), 0);
	return sigismember(&pending, SIGPIPE) == 1;
}

static bool sigpipe_is_blocked(void)
{
	sigset_t now;

	assert_int_equal(pthread_sigmask(SIG_SETMASK, NULL, &now), 0);
	return sigismember(&now, SIGPIPE) == 1;
}

static void open_without_reader(int p[2])
{
	assert_int_equal(pipe(p), 0);
	close(p[0]);
}

static void a_pipe_without_reader_is_full_for_ever(void **state)
{
	int p[2];

	(void)state;
	open_without_reader(p);
	errno = 0;
	assert_int_equal(writev(p[1], words, 2), -1);
	assert_int_equal(errno, EAGAIN);
	assert_false(sigpipe_is_pending());
	assert_false(sigpipe_is_blocked());
	close(p[1]);
}

static void it_is_the_same_where_sigpipe_is_ignored(void **state)
{
	int p[2];

	(void)state;
	signal(SIGPIPE, SIG_IGN);
	open_without_reader(p);
	assert_int_equal(writev(p[1], words, 2), -1);
	assert_int_equal(errno, EAGAIN);
	signal(SIGPIPE, SIG_DFL);
	close(p[1]);
}

static void a_signal_that_was_pending_before_stays_so(void **state)
{
	sigset_t sigpipe, before;
	int p[2];

	(void)state;
	sigemptyset(&sigpipe);
	sigaddset(&sigpipe, SIGPIPE);
	pthread_sigmask(SIG_BLOCK, &sigpipe, &before);
	raise(SIGPIPE);
	open_without_reader(p);
	assert_int_equal(writev(p[1], words, 2), -1);
	assert_int_equal(errno, EAGAIN);
	assert_true(sigpipe_is_pending());
	assert_true(sigpipe_is_blocked());
	assert_int_equal(sigwaitinfo(&sigpipe, NULL), SIGPIPE);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	close(p[1]);
}

static void a_pipe_with_a_reader_gets_all(void **state)
{
	char got[8];
	int p[2];

	(void)state;
	assert_int_equal(pipe(p), 0);
	assert_int_equal(writev(p[1], words, 2), 3);
	assert_int_equal(read(p[0], got, sizeof(got)), 3);
	assert_memory_equal(got, "abc", 3);
	close(p[0]);
	close(p[1]);
}

static void a_socket_without_a_peer_ends_the_program_as_ever(void **state)
{
	int s[2], status;
	pid_t pid;

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, s), 0);
	close(s[0]);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		writev(s[1], words, 2);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGPIPE);
	close(s[1]);
}

static void an_invalid_descriptor_is_reported(void **state)
{
	(void)state;
	assert_int_equal(writev(-1, words, 2), -1);
	assert_int_equal(errno, EBADF);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_pipe_without_reader_is_full_for_ever),
		cmocka_unit_test(it_is_the_same_where_sigpipe_is_ignored),
		cmocka_unit_test(a_signal_that_was_pending_before_stays_so),
		cmocka_unit_test(a_pipe_with_a_reader_gets_all),
		cmocka_unit_test(a_socket_without_a_peer_ends_the_program_as_ever),
		cmocka_unit_test(an_invalid_descriptor_is_reported),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
