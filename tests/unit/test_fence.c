/* test_fence.c -- fences: their states, who may signal them, waits for them, and fds that are not fences. */
#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/socket.h>
#include <sys/timerfd.h>

#include "fmq_helpers.h"
#include "nnb/fence.h"

#define FAILED UINT64_C(0xfffffffffffffffe)

/* The count of an eventfd, as the kernel shows it without a read. */
static uint64_t count_of(int fence)
{
	char path[64], line[128];
	unsigned long long n = UINT64_MAX;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fence);
	f = fopen(path, "re");
	assert_non_null(f);
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "eventfd-count: %llx", &n) == 1)
			break;
	fclose(f);
	return n;
}

static int new_fence(void)
{
	int fence = -1;

	assert_int_equal(nnb_fence_new(&fence), 0);
	assert_true(fence >= 0);
	return fence;
}

static void close_all(const int *fences, size_t n)
{
	for (size_t i = 0; i < n; i++)
		close(fences[i]);
}

/* ---- states ---- */

static void a_new_fence_is_pending_and_goes_with_no_program(void **state)
{
	int fence = new_fence();
	uint64_t n;

	(void)state;
	assert_int_equal(nnb_fence_state(fence), NNB_FENCE_PENDING);
	assert_int_equal(fcntl(fence, F_GETFD), FD_CLOEXEC);
	assert_true(fcntl(fence, F_GETFL) & O_NONBLOCK);
	assert_int_equal(count_of(fence), 0);
	assert_int_equal(read(fence, &n, sizeof(n)), -1); /* a read does not wait either */
	close(fence);
}

static const struct told {
	const char *name;
	bool first, second, both; /* whether each signal reports a failure */
	uint64_t count;
	int is;
} told[] = {
	{ "a signalled fence is signalled", .count = 1, .is = NNB_FENCE_SIGNALLED },
	{ "a failed fence has failed", true, .count = FAILED, .is = NNB_FENCE_FAILED },
	{ "a second signal changes nothing", .both = true, .count = 1, .is = NNB_FENCE_SIGNALLED },
	{ "failing a signalled one changes nothing", false, true, true, 1, NNB_FENCE_SIGNALLED },
	{ "signalling a failed one changes nothing", true, false, true, FAILED, NNB_FENCE_FAILED },
	{ "a second failure changes nothing", true, true, true, FAILED, NNB_FENCE_FAILED },
};

static void the_first_signal_counts(void **state)
{
	const struct told *row = *state;
	int fence = new_fence();

	assert_int_equal(nnb_fence_signal(fence, row->first), 0);
	if (row->both)
		assert_int_equal(nnb_fence_signal(fence, row->second), 0);
	assert_int_equal(nnb_fence_state(fence), row->is);
	assert_int_equal(nnb_fence_wait(&fence, 1, 0), row->is);
	assert_int_equal(nnb_fence_state(fence), row->is);
	assert_int_equal(count_of(fence), row->count);
	close(fence);
}

/* An eventfd of another origin: every eventfd is a fence. */
static const struct foreign {
	const char *name;
	int flags;
	unsigned first;
	uint64_t add;
	int is;
} foreign[] = {
	{ "an eventfd of another origin is pending", 0, 0, 0, NNB_FENCE_PENDING },
	{ "an eventfd made with 1 is signalled", 0, 1, 0, NNB_FENCE_SIGNALLED },
	{ "another count is signalled", 0, 7, 0, NNB_FENCE_SIGNALLED },
	{ "the last count but one is signalled", 0, 0, FAILED - 1, NNB_FENCE_SIGNALLED },
	{ "the greatest has failed", 0, 1, FAILED - 1, NNB_FENCE_FAILED },
	{ "a semaphore is one like others", EFD_SEMAPHORE, 3, 0, NNB_FENCE_SIGNALLED },
	{ "a semaphore that has failed", EFD_SEMAPHORE, 0, FAILED, NNB_FENCE_FAILED },
};

static void an_eventfd_is_a_fence(void **state)
{
	const struct foreign *row = *state;
	int fence = eventfd(row->first, row->flags | EFD_CLOEXEC);

	if (row->add)
		assert_int_equal(write(fence, &row->add, sizeof(row->add)), sizeof(row->add));
	assert_int_equal(nnb_fence_state(fence), row->is);
	assert_int_equal(nnb_fence_wait(&fence, 1, MS), row->is);
	assert_int_equal(count_of(fence), row->first + row->add);
	close(fence);
}

/* The holder of a fence may have changed its flags: signalling must not wait even so. */
static void signalling_a_blocking_fence_does_not_wait(void **state)
{
	int fence = eventfd(0, EFD_CLOEXEC);

	(void)state;
	assert_int_equal(nnb_fence_signal(fence, true), 0);
	assert_int_equal(fcntl(fence, F_SETFL, fcntl(fence, F_GETFL) & ~O_NONBLOCK), 0);
	assert_int_equal(nnb_fence_signal(fence, false), 0);
	assert_int_equal(nnb_fence_signal(fence, true), 0);
	assert_int_equal(count_of(fence), FAILED);
	close(fence);
}

/* ---- fds that are not fences ---- */

static int other(const char *what)
{
	int ends[2];

	if (!strcmp(what, "a pipe's end to read") || !strcmp(what, "a pipe's end to write")) {
		bool reads = strstr(what, "read");

		assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
		close(ends[reads]);
		return ends[!reads];
	}
	if (!strcmp(what, "a socket")) {
		assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
		close(ends[1]);
		return ends[0];
	}
	if (!strcmp(what, "a file"))
		return new_file(8, 0);
	if (!strcmp(what, "a file of that name")) {
		char path[] = "/tmp/nnb_fence.XXXXXX", name[64];
		int fd;

		assert_non_null(mkdtemp(path));
		snprintf(name, sizeof(name), "%s/anon_inode:[eventfd]", path);
		fd = open(name, O_CREAT | O_RDWR | O_CLOEXEC, 0600);
		unlink(name);
		rmdir(path);
		return fd;
	}
	if (!strcmp(what, "memory of that name"))
		return memfd_create("anon_inode:[eventfd]", MFD_CLOEXEC);
	if (!strcmp(what, "an epoll"))
		return epoll_create1(EPOLL_CLOEXEC);
	if (!strcmp(what, "a timer"))
		return timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
	if (!strcmp(what, "an inotify"))
		return inotify_init1(IN_CLOEXEC);
	if (!strcmp(what, "a directory"))
		return open("/", O_PATH | O_CLOEXEC);
	if (!strcmp(what, "what was closed")) {
		int fd = new_fence();

		close(fd);
		return fd;
	}
	return -1;
}

static const char *const others[] = {
	"a pipe's end to read", "a pipe's end to write", "a socket",        "a file",
	"a file of that name",  "memory of that name",   "an epoll",        "a timer",
	"an inotify",           "a directory",           "what was closed", "-1",
};

static void an_fd_that_is_not_a_fence_is_refused(void **state)
{
	int fences[2] = { new_fence() }, fd = fences[1] = other(*state);

	assert_int_equal(nnb_fence_state(fd), -EINVAL);
	assert_int_equal(nnb_fence_signal(fd, false), -EINVAL);
	assert_int_equal(nnb_fence_signal(fd, true), -EINVAL);
	assert_int_equal(nnb_fence_wait(fences, 2, 0), -EINVAL);
	close(fences[0]);
	if (fd >= 0 && fcntl(fd, F_GETFD) >= 0)
		close(fd);
}

/* ---- waiting ---- */

/* A thread that signals fences, each after the waiting thread has fallen asleep. */
struct teller {
	pthread_t thread;
	pid_t sleeper;
	const int *fences;
	uint32_t n;
	bool last_fails;
};

static void *tell(void *arg)
{
	struct teller *t = arg;

	for (uint32_t i = 0; i < t->n; i++) {
		must(falls_asleep(getpid(), t->sleeper));
		must(nnb_fence_signal(t->fences[i], t->last_fails && i == t->n - 1) == 0);
	}
	return NULL;
}

static void start_teller(struct teller *t)
{
	t->sleeper = (pid_t)syscall(SYS_gettid);
	assert_int_equal(pthread_create(&t->thread, NULL, tell, t), 0);
}

static void a_wait_for_no_fences_ends_at_once(void **state)
{
	(void)state;
	assert_int_equal(nnb_fence_wait(NULL, 0, 0), NNB_FENCE_SIGNALLED);
}

static void a_wait_ends_with_the_last_fence(void **state)
{
	int fences[5];
	struct teller t = { .fences = fences, .n = N_OF(fences) };

	(void)state;
	for (size_t i = 0; i < N_OF(fences); i++)
		fences[i] = new_fence();
	start_teller(&t);
	assert_int_equal(nnb_fence_wait(fences, N_OF(fences), 0), NNB_FENCE_SIGNALLED);
	pthread_join(t.thread, NULL);
	for (size_t i = 0; i < N_OF(fences); i++) {
		assert_int_equal(nnb_fence_state(fences[i]), NNB_FENCE_SIGNALLED);
		assert_int_equal(count_of(fences[i]), 1);
	}
	close_all(fences, N_OF(fences));
}

/* The fences before it and after it are never signalled. */
static void a_fence_that_fails_ends_the_wait(void **state)
{
	int fences[4];
	struct teller t = { .fences = fences + 1, .n = 2, .last_fails = true };

	(void)state;
	for (size_t i = 0; i < N_OF(fences); i++)
		fences[i] = new_fence();
	start_teller(&t);
	assert_int_equal(nnb_fence_wait(fences, N_OF(fences), 0), NNB_FENCE_FAILED);
	pthread_join(t.thread, NULL);
	assert_int_equal(nnb_fence_state(fences[0]), NNB_FENCE_PENDING);
	assert_int_equal(nnb_fence_state(fences[1]), NNB_FENCE_SIGNALLED);
	close_all(fences, N_OF(fences));
}

static void the_same_fence_may_be_waited_for_twice(void **state)
{
	int fence = new_fence(), fences[3] = { fence, fence, fence };
	struct teller t = { .fences = &fence, .n = 1 };

	(void)state;
	start_teller(&t);
	assert_int_equal(nnb_fence_wait(fences, 3, 0), NNB_FENCE_SIGNALLED);
	pthread_join(t.thread, NULL);
	close(fence);
}

static void a_wait_in_vain_ends_in_time(void **state)
{
	int fences[2] = { new_fence(), new_fence() };
	uint64_t begin = now_ns();

	(void)state;
	nnb_fence_signal(fences[0], false);
	assert_int_equal(nnb_fence_wait(fences, 2, 5 * MS), NNB_FENCE_PENDING);
	assert_true(now_ns() - begin >= 5 * MS);
	/* 1 ns is enough, because the fence is signalled */
	assert_int_equal(nnb_fence_wait(fences, 1, 1), NNB_FENCE_SIGNALLED);
	assert_int_equal(nnb_fence_wait(fences, 1, UINT64_MAX), NNB_FENCE_SIGNALLED);
	assert_int_equal(count_of(fences[0]), 1);
	assert_int_equal(count_of(fences[1]), 0);
	close_all(fences, 2);
}

static void no_op(int sig)
{
	(void)sig;
}

static void *interrupt(void *arg)
{
	struct teller *t = arg;

	must(falls_asleep(getpid(), t->sleeper));
	must(syscall(SYS_tgkill, getpid(), t->sleeper, SIGUSR1) == 0);
	return NULL;
}

static void a_signal_ends_the_wait(void **state)
{
	struct sigaction act = { .sa_handler = no_op }, before;
	struct teller t = { .sleeper = (pid_t)syscall(SYS_gettid) };
	int fence = new_fence();

	(void)state;
	sigaction(SIGUSR1, &act, &before);
	assert_int_equal(pthread_create(&t.thread, NULL, interrupt, &t), 0);
	assert_int_equal(nnb_fence_wait(&fence, 1, 0), -EINTR);
	pthread_join(t.thread, NULL);
	sigaction(SIGUSR1, &before, NULL);
	close(fence);
}

enum { WAITERS = 4 };

static void *wait_for_it(void *arg)
{
	return (void *)(intptr_t)nnb_fence_wait(arg, 1, 0);
}

static void a_signal_ends_all_waits(void **state)
{
	pthread_t threads[WAITERS];
	int fence = new_fence();
	void *is;

	(void)state;
	for (int i = 0; i < WAITERS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, wait_for_it, &fence), 0);
	nap();
	nnb_fence_signal(fence, false);
	for (int i = 0; i < WAITERS; i++) {
		pthread_join(threads[i], &is);
		assert_int_equal((intptr_t)is, NNB_FENCE_SIGNALLED);
	}
	assert_int_equal(count_of(fence), 1);
	close(fence);
}

/* One process signals, another one waits. */
static void fences_are_good_across_a_fork(void **state)
{
	bool fails = *state;
	int there = new_fence(), back = new_fence();
	pid_t pid = fork();

	if (!pid) {
		int is = nnb_fence_wait(&there, 1, PATIENCE);

		nnb_fence_signal(back, fails);
		_exit(is);
	}
	assert_int_equal(nnb_fence_wait(&back, 1, MS), NNB_FENCE_PENDING);
	nnb_fence_signal(there, fails);
	assert_int_equal(nnb_fence_wait(&back, 1, PATIENCE), fails ? NNB_FENCE_FAILED : NNB_FENCE_SIGNALLED);
	assert_int_equal(WEXITSTATUS(reap(pid)), fails ? NNB_FENCE_FAILED : NNB_FENCE_SIGNALLED);
	assert_int_equal(count_of(there), fails ? FAILED : 1);
	assert_int_equal(count_of(back), fails ? FAILED : 1);
	close(there);
	close(back);
}

/* When the first thread has ended, /proc/self is empty. */
static void *look_alone(void *arg)
{
	int *fence = arg;

	while (!access("/proc/self/fd/0", F_OK))
		nap();
	_exit(nnb_fence_state(*fence) == NNB_FENCE_PENDING && nnb_fence_signal(*fence, false) == 0 ? 0 : 1);
}

static void a_thread_that_has_outlived_the_first_knows_a_fence(void **state)
{
	int fence = new_fence();
	pid_t pid = fork();

	(void)state;
	if (!pid) {
		pthread_t thread;

		must(pthread_create(&thread, NULL, look_alone, &fence) == 0);
		syscall(SYS_exit, 0); /* ends the first thread alone */
	}
	assert_int_equal(reap(pid), 0);
	assert_int_equal(nnb_fence_state(fence), NNB_FENCE_SIGNALLED);
	close(fence);
}

/* ---- all ---- */

int main(void)
{
	add_test(a_new_fence_is_pending_and_goes_with_no_program, NULL, NULL, NULL,
	         "a new fence is pending, and goes with no program");
	for (size_t i = 0; i < N_OF(told); i++)
		add_test(the_first_signal_counts, NULL, NULL, (void *)&told[i], "%s", told[i].name);
	for (size_t i = 0; i < N_OF(foreign); i++)
		add_test(an_eventfd_is_a_fence, NULL, NULL, (void *)&foreign[i], "%s", foreign[i].name);
	add_test(signalling_a_blocking_fence_does_not_wait, NULL, NULL, NULL, "telling a fence does not wait");
	for (size_t i = 0; i < N_OF(others); i++)
		add_test(an_fd_that_is_not_a_fence_is_refused, NULL, NULL, (void *)(uintptr_t)others[i], "no fence: %s",
		         others[i]);
	add_test(a_wait_for_no_fences_ends_at_once, NULL, NULL, NULL, "a wait for no fences ends at once");
	add_test(a_wait_ends_with_the_last_fence, NULL, NULL, NULL, "a wait ends with the last fence");
	add_test(a_fence_that_fails_ends_the_wait, NULL, NULL, NULL, "a fence that fails ends the wait");
	add_test(the_same_fence_may_be_waited_for_twice, NULL, NULL, NULL, "the same fence may be waited for twice");
	add_test(a_wait_in_vain_ends_in_time, NULL, NULL, NULL, "a wait in vain ends in time");
	add_test(a_signal_ends_the_wait, NULL, NULL, NULL, "a signal ends the wait");
	add_test(a_signal_ends_all_waits, NULL, NULL, NULL, "a signal ends all waits");
	add_test(fences_are_good_across_a_fork, NULL, NULL, NULL, "fences are good across a fork");
	add_test(fences_are_good_across_a_fork, NULL, NULL, (void *)1, "failures are seen across a fork");
	add_test(a_thread_that_has_outlived_the_first_knows_a_fence, NULL, NULL, NULL,
	         "a thread that has outlived the first knows a fence");
	return cmocka_run_group_tests_name("fences", tests, NULL, NULL);
}
