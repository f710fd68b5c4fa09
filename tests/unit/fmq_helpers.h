/* fmq_helpers.h -- helpers for the queue's tests: arrangements, raw words, threads, children, time, fds. */
#ifndef FMQ_HELPERS_H
#define FMQ_HELPERS_H

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base.h"
#include "nnb/fmq.h"

#define PATIENCE (20000 * MS) /* the longest wait for what must happen, on a slow machine */
enum { WATCHDOG_S = 50 };     /* for one test: SIGALRM ends the program */

/* ---- tests made from rows ---- */

/* A member that a row leaves out is zero. */
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

static struct CMUnitTest tests[1024];
static size_t n_tests;

static inline __attribute__((format(printf, 5, 6))) void add_test(CMUnitTestFunction run, CMFixtureFunction setup,
                                                                  CMFixtureFunction teardown, void *state,
                                                                  const char *name, ...)
{
	struct CMUnitTest *t = &tests[n_tests++];
	char *s;
	va_list ap;

	if (n_tests > N_OF(tests))
		abort();
	va_start(ap, name);
	if (vasprintf(&s, name, ap) < 0)
		abort();
	va_end(ap);
	*t = (struct CMUnitTest){ s, run, setup, teardown, state };
}

/* ---- time and chance ---- */

/* xorshift64*: the same numbers in every run. */
static inline uint64_t next_random(uint64_t *state)
{
	return xorshift_star_next(state);
}

/*
 * For tests that count threads and fds: without a tracer, which has some of its own. Call it before the first
 * queue.
 */
static inline void without_tracer(void)
{
	setenv("NNBURST_TRACEPOINTS", "", 1);
}

/* ---- queues ---- */

struct arrangement {
	const char *name;
	bool two_fds;
	enum nnb_fmq_layout layout;
};

static const struct arrangement arrangements[] = {
	{ "one fd, spread", false, NNB_FMQ_LAYOUT_SPREAD },
	{ "one fd, packed", false, NNB_FMQ_LAYOUT_PACKED },
	{ "two fds, spread", true, NNB_FMQ_LAYOUT_SPREAD },
	{ "two fds, packed", true, NNB_FMQ_LAYOUT_PACKED },
};

/* A memfd of @bytes with these @seals. */
static inline int new_file(size_t bytes, int seals)
{
	int fd = memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (fd < 0 || ftruncate(fd, (off_t)bytes) < 0 || (seals && fcntl(fd, F_ADD_SEALS, seals) < 0))
		abort();
	return fd;
}

/* As nnb_fmq_new, in the arrangement @in. */
static inline int new_queue(struct nnb_fmq **ret, struct nnb_fmq_config config, const struct arrangement *in)
{
	size_t bytes;
	int r;

	config.layout = in->layout;
	if (in->two_fds) {
		if (__builtin_mul_overflow(config.elem_size, config.capacity, &bytes) || bytes > INT32_MAX)
			bytes = INT32_MAX;
		config.ring_fd = new_file(bytes, 0);
		config.ring_fd_bytes = bytes == INT32_MAX ? SIZE_MAX : bytes;
	}
	r = nnb_fmq_new(ret, &config);
	if (in->two_fds)
		close(config.ring_fd);
	return r;
}

/* Open another handle to @q; @q is unchanged. */
static inline int join_queue(struct nnb_fmq **ret, const struct nnb_fmq *q)
{
	struct nnb_fmq_attach how = {
		.elem_size = nnb_fmq_elem_size(q),
		.keep_counters = true,
		.window_ns = nnb_fmq_window(q),
	};
	struct nnb_fmq_desc d;

	nnb_fmq_describe(q, &d);
	return nnb_fmq_attach(ret, &d, &how);
}

/* A queue's memory as a peer sees it: from the descriptor, without the handle. */
struct raw {
	struct nnb_fmq_desc desc;
	unsigned char *map[NNB_FMQ_MAX_FDS];
	size_t bytes[NNB_FMQ_MAX_FDS];
};

static inline void raw_open(struct raw *raw, const struct nnb_fmq *q)
{
	nnb_fmq_describe(q, &raw->desc);
	for (unsigned i = 0; i < raw->desc.n_fds; i++) {
		raw->bytes[i] = (size_t)lseek(raw->desc.fds[i], 0, SEEK_END);
		raw->map[i] = mmap(NULL, raw->bytes[i], PROT_READ | PROT_WRITE, MAP_SHARED, raw->desc.fds[i], 0);
		if (raw->map[i] == MAP_FAILED)
			abort();
	}
}

static inline void raw_close(struct raw *raw)
{
	for (unsigned i = 0; i < raw->desc.n_fds; i++)
		munmap(raw->map[i], raw->bytes[i]);
	raw->desc.n_fds = 0;
}

static inline void *raw_part(const struct raw *raw, unsigned grantor)
{
	return raw->map[raw->desc.grantors[grantor].fd_index] + raw->desc.grantors[grantor].offset;
}

static inline _Atomic uint64_t *raw_counter(const struct raw *raw, unsigned grantor)
{
	return raw_part(raw, grantor);
}

static inline _Atomic uint32_t *raw_flag(const struct raw *raw)
{
	return raw_part(raw, NNB_FMQ_EVENT_FLAG);
}

/* Make the elements that a test writes as number @first and the @n - 1 after it. */
static inline void make_elements(void *to, size_t elem_size, uint64_t first, size_t n)
{
	unsigned char *p = to;

	for (uint64_t i = first; i < first + n; i++)
		for (size_t j = 0; j < elem_size; j++)
			*p++ = (unsigned char)(i * 37 + (i >> 8) * 11 + j * 101 + 1);
}

/* ---- fds ---- */

static inline unsigned count_fds(void)
{
	unsigned n = 0;

	for (int fd = 0; fd < 4096; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

/* A number that is not an open fd. */
static inline int closed_fd(void)
{
	int fd = 3000;

	while (fcntl(fd, F_GETFD) >= 0)
		fd++;
	return fd;
}

/* ---- threads ---- */

static inline int my_tid(void)
{
	return (int)syscall(SYS_gettid);
}

/* Whether the thread falls asleep within PATIENCE. */
static inline bool falls_asleep(int pid, int tid)
{
	uint64_t end = now_ns() + PATIENCE;
	char path[64];
	char text[512];

	snprintf(path, sizeof(path), "/proc/%d/task/%d/stat", pid, tid);
	for (; now_ns() < end; nap()) {
		int fd = open(path, O_RDONLY | O_CLOEXEC);
		ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
		const char *after;

		if (fd >= 0)
			close(fd);
		if (n <= 0)
			return false;
		text[n] = '\0';
		after = strrchr(text, ')');
		if (after && after[1] && after[2] == 'S')
			return true;
	}
	return false;
}

/* One call on a thread of its own. Read its result after finish(). */
struct actor {
	int (*act)(struct actor *);
	struct nnb_fmq *q;
	void *arg;
	size_t n;
	uint64_t timeout_ns;
	pthread_t thread;
	_Atomic int tid; /* set right before act() */
	_Atomic bool done;
	int result;
};

static inline void *play_actor(void *arg)
{
	struct actor *a = arg;

	atomic_store(&a->tid, my_tid());
	a->result = a->act(a);
	atomic_store(&a->done, true);
	return NULL;
}

static inline void start(struct actor *a)
{
	atomic_store(&a->tid, 0);
	atomic_store(&a->done, false);
	assert_int_equal(pthread_create(&a->thread, NULL, play_actor, a), 0);
	while (!atomic_load(&a->tid))
		nap();
}

static inline bool actor_sleeps(struct actor *a)
{
	return falls_asleep(getpid(), atomic_load(&a->tid)) && !atomic_load(&a->done);
}

static inline int finish(struct actor *a)
{
	pthread_join(a->thread, NULL);
	return a->result;
}

/* ---- cpus ---- */

/* Find two cpus that this process may use. False if there is only one. */
static inline bool two_cpus(int ret[2])
{
	cpu_set_t set;
	int n = 0;

	if (sched_getaffinity(0, sizeof(set), &set) < 0)
		return false;
	for (int i = 0; i < CPU_SETSIZE && n < 2; i++)
		if (CPU_ISSET(i, &set))
			ret[n++] = i;
	return n == 2;
}

/* Run the calling thread on @cpu only. */
static inline void pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
}

/* ---- children ---- */

/* For child processes: after a failed assert of cmocka, a child would go on with the parent's tests. */
#define must(cond)                                                                                             \
	do {                                                                                                   \
		if (!(cond)) {                                                                                 \
			dprintf(2, "%s:%d: child: not so: %s (errno %d)\n", __FILE__, __LINE__, #cond, errno); \
			_exit(1);                                                                              \
		}                                                                                              \
	} while (0)

static inline pid_t spawn(void (*body)(void *), void *arg)
{
	pid_t parent = getpid();
	pid_t pid = fork();

	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	signal(SIGALRM, SIG_DFL);
	body(arg);
	_exit(0);
}

/* Wait for the child's end, and kill it after PATIENCE. Returns its wait status. */
static inline int reap(pid_t pid)
{
	uint64_t end = now_ns() + PATIENCE;
	int status = -1;

	while (waitpid(pid, &status, WNOHANG) == 0) {
		if (now_ns() >= end) {
			print_error("child %d does not end\n", (int)pid);
			kill(pid, SIGKILL);
			waitpid(pid, &status, 0);
			break;
		}
		nap();
	}
	return status;
}

/* From here on the kernel answers SYS_futex with @action (SECCOMP_RET_*). False if seccomp is not available. */
static inline bool answer_futex(uint32_t action)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_futex, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, action),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { .len = N_OF(filter), .filter = filter };

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

enum { NO_SECCOMP = 77 }; /* exit status of a child without seccomp */

static inline void forbid_futex(void)
{
	if (!answer_futex(SECCOMP_RET_KILL_PROCESS))
		_exit(NO_SECCOMP);
}

static inline bool lacks_seccomp(int status)
{
	return WIFEXITED(status) && WEXITSTATUS(status) == NO_SECCOMP;
}

/* Answers of a futex: the word has always changed, the wait was interrupted, futexes are not supported. */
static const struct futex_answer {
	int answer, want; /* want: the result of a wait without a wake-up */
} futex_answers[] = {
	{ EAGAIN, NNB_EVENT_TIMED_OUT },
	{ EINTR, NNB_EVENT_TIMED_OUT },
	{ ENOSYS, -ENOSYS },
};

#endif
