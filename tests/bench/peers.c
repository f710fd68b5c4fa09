/* peers.c -- see peers.h. */
#include "peers.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

void die(const char *what)
{
	fprintf(stderr, "%s: %s: %s\n", program_invocation_short_name, what, strerror(errno));
	exit(5);
}

void write_fully(int fd, const void *p, size_t n)
{
	for (ssize_t w; n; p = (const char *)p + w, n -= (size_t)w)
		if ((w = write(fd, p, n)) <= 0)
			die("write");
}

void read_fully(int fd, void *p, size_t n)
{
	for (ssize_t r; n; p = (char *)p + r, n -= (size_t)r)
		if ((r = read(fd, p, n)) <= 0)
			die("read");
}

/* ---- placements ---- */

const char *const placements[N_PLACEMENTS] = { "two cpus", "unpinned", "one cpu" };

static cpu_set_t allowed;
static int cpus[2];

void find_cpus(void)
{
	int n = 0;

	sched_getaffinity(0, sizeof(allowed), &allowed);
	for (int i = 0; i < CPU_SETSIZE && n < 2; i++)
		if (CPU_ISSET(i, &allowed))
			cpus[n++] = i;
	if (n == 2)
		return;
	fprintf(stderr, "%s: this needs two cpus\n", program_invocation_short_name);
	exit(5);
}

int cpu_of(int placement, int side)
{
	return placement == UNPINNED ? -1 : placement == ONE_CPU ? cpus[0] : cpus[side];
}

void settle(int placement, int side)
{
	bench_pin(cpu_of(placement, side));
}

void tasks_of(pid_t pid, struct tasks *ret)
{
	char path[64];
	struct dirent *e;
	DIR *tasks;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	tasks = opendir(path);
	if (!tasks)
		die(path);
	ret->n = 0;
	while ((e = readdir(tasks)) && ret->n < TASKS_MAX)
		if (e->d_name[0] != '.')
			ret->tids[ret->n++] = atoi(e->d_name);
	closedir(tasks);
}

static bool among(const struct tasks *tasks, pid_t tid)
{
	for (unsigned i = 0; i < tasks->n; i++)
		if (tasks->tids[i] == tid)
			return true;
	return false;
}

void settle_new(pid_t pid, const struct tasks *before, int cpu)
{
	cpu_set_t set = allowed;
	struct tasks now;

	if (cpu >= 0) {
		CPU_ZERO(&set);
		CPU_SET(cpu, &set);
	}
	tasks_of(pid, &now);
	for (unsigned i = 0; i < now.n; i++)
		if (!among(before, now.tids[i]))
			sched_setaffinity(now.tids[i], sizeof(set), &set); /* the thread may have ended meanwhile */
}

void settle_all(pid_t pid, int cpu)
{
	settle_new(pid, &(struct tasks){ .n = 0 }, cpu);
}

/* ---- peers ---- */

pid_t start_peer(struct link *l, void (*attach)(struct link *l), int placement,
                 void (*body)(struct link *l, const void *arg), const void *arg)
{
	int started[2];
	pid_t pid;
	char c;

	fflush(NULL);
	if (pipe2(started, O_CLOEXEC) < 0)
		die("pipe");
	pid = fork();
	if (pid < 0)
		die("fork");
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		settle(placement, SERVER);
		if (attach)
			attach(l);
		write_fully(started[1], "", 1);
		body(l, arg);
		_exit(0);
	}
	close(started[1]);
	read_fully(started[0], &c, 1);
	close(started[0]);
	return pid;
}

void end_peer(pid_t pid)
{
	int status;

	if (waitpid(pid, &status, 0) != pid || status) {
		fprintf(stderr, "%s: the other process failed\n", program_invocation_short_name);
		exit(1);
	}
}

/* ---- round trips ---- */

void check(const void *p, uint64_t want, const struct transport *t)
{
	if (number_of(p) != want) {
		fprintf(stderr, "%s: %s: message %llu arrived as %llu\n", program_invocation_short_name, t->name,
		        (unsigned long long)want, (unsigned long long)number_of(p));
		exit(1);
	}
}

/* The answer to 2k+1 is 2k+2. */
static void serve(struct link *l, const void *arg)
{
	const struct plan *p = arg;
	unsigned n = p->warm_up + p->batches * p->batch + p->singles;
	char buf[MESSAGE_MAX] = { 0 };

	for (uint64_t i = 0; i < n; i++) {
		uint64_t number = 2 * i;

		memcpy(buf, &number, sizeof(number));
		p->t->recv(l, SERVER, buf);
		check(buf, 2 * i + 1, p->t);
		number = 2 * i + 2;
		memcpy(buf, &number, sizeof(number));
		p->t->send(l, SERVER, buf);
	}
}

static void trip(struct link *l, const struct transport *t, uint64_t i)
{
	char buf[MESSAGE_MAX] = { 0 };
	uint64_t number = 2 * i + 1;

	memcpy(buf, &number, sizeof(number));
	t->send(l, CLIENT, buf);
	t->recv(l, CLIENT, buf);
	check(buf, 2 * i + 2, t);
}

struct plan plan_for(const struct bench *b, const struct transport *t, int placement)
{
	if (t->polls && placement != ONE_CPU)
		return b->quick ? (struct plan){ t, .warm_up = 10, .batches = 4, .batch = 10, .singles = 10 }
		                : (struct plan){ t, .warm_up = 200, .batches = 40, .batch = 100, .singles = 1000 };
	return b->quick ? (struct plan){ t, .warm_up = 5, .batches = 20, .batch = 1 }
	                : (struct plan){ t, .warm_up = 20, .batches = 200, .batch = 1 };
}

void round_trips(struct bench *b, size_t row, struct link *l, void (*attach)(struct link *l), const struct transport *t,
                 int placement)
{
	struct plan p = plan_for(b, t, placement);
	uint64_t i = 0;
	uint64_t start;
	pid_t peer = start_peer(l, attach, placement, serve, &p);

	while (i < p.warm_up)
		trip(l, t, i++);
	for (unsigned k = 0; k < p.batches; k++) {
		start = bench_now();
		for (unsigned j = 0; j < p.batch; j++)
			trip(l, t, i++);
		bench_sample(b, row, (double)(bench_now() - start) / p.batch);
	}
	for (unsigned k = 0; k < p.singles; k++) {
		start = bench_now();
		trip(l, t, i++);
		bench_tail(b, row, (double)(bench_now() - start));
	}
	bench_round_done(b, row);
	end_peer(peer);
}

/* ---- cache lines, and words to sleep on ---- */

struct line {
	_Alignas(64) _Atomic uint64_t v;
	char rest[56];
};

static struct {
	struct line line[4]; /* 0 and 2 are used; neighbours are fetched in pairs */
	_Alignas(128) _Atomic uint32_t word[64];
} * shared;

static void open_shared(void)
{
	if (!shared)
		shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED)
		die("mmap");
	memset(shared, 0, sizeof(*shared));
}

void lines_open(struct link *l)
{
	(void)l;
	open_shared();
}

void line_send(struct link *l, int side, const void *p)
{
	(void)l;
	atomic_store_explicit(&shared->line[2 * side].v, number_of(p), memory_order_release);
}

static void pause_cpu(void)
{
#if defined(__x86_64__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	__asm__ volatile("yield");
#endif
}

void line_recv(struct link *l, int side, void *p)
{
	uint64_t want = number_of(p) + 1;

	(void)l;
	while (atomic_load_explicit(&shared->line[2 * !side].v, memory_order_acquire) != want)
		;
	memcpy(p, &want, sizeof(want));
}

void line_recv_pause(struct link *l, int side, void *p)
{
	uint64_t want = number_of(p) + 1;

	(void)l;
	while (atomic_load_explicit(&shared->line[2 * !side].v, memory_order_acquire) != want)
		pause_cpu();
	memcpy(p, &want, sizeof(want));
}

void futex_open(struct link *l)
{
	(void)l;
	open_shared();
}

void futex_send(struct link *l, int side, const void *p)
{
	_Atomic uint32_t *word = &shared->word[32 * side];

	(void)l;
	atomic_store_explicit(word, (uint32_t)number_of(p), memory_order_release);
	syscall(SYS_futex, word, FUTEX_WAKE, 1, NULL, NULL, 0);
}

void futex_recv(struct link *l, int side, void *p)
{
	_Atomic uint32_t *word = &shared->word[32 * !side];
	uint64_t want = number_of(p) + 1;
	uint32_t seen;

	(void)l;
	while ((seen = atomic_load_explicit(word, memory_order_acquire)) != (uint32_t)want)
		syscall(SYS_futex, word, FUTEX_WAIT, seen, NULL, NULL, 0);
	memcpy(p, &want, sizeof(want));
}
