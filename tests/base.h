/*
 * base.h -- what tests, fuzzers and benchmarks share: the length of an array, time, processes, sockets, files, the
 * order of numbers, and series of numbers that are the same in every run.
 */
#ifndef TESTS_BASE_H
#define TESTS_BASE_H

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#define N_OF(array) (sizeof(array) / sizeof((array)[0]))

/* ---- time, in ns ---- */

#define MS UINT64_C(1000000)

static inline uint64_t clock_ns(clockid_t clock)
{
	struct timespec t;

	if (clock_gettime(clock, &t))
		abort();
	return (uint64_t)t.tv_sec * 1000 * MS + (uint64_t)t.tv_nsec;
}

static inline uint64_t now_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

/* The cpu time of the calling thread. */
static inline uint64_t thread_cpu_ns(void)
{
	return clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

static inline void nap(void)
{
	nanosleep(&(struct timespec){ .tv_nsec = MS / 5 }, NULL);
}

/* ---- processes ---- */

/* The state of a process, as in /proc, and its parent, if @ret_parent is not NULL; 0: there is no such process. */
static inline char process_state(pid_t pid, pid_t *ret_parent)
{
	char path[64], text[256], state = 0;
	const char *after_name;
	FILE *file;
	int parent = 0;
	size_t n;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	file = fopen(path, "re");
	n = file ? fread(text, 1, sizeof(text) - 1, file) : 0;
	text[n] = '\0';
	if (file)
		fclose(file);
	after_name = strrchr(text, ')'); /* "PID (NAME) STATE PARENT ..." */
	if (!after_name || sscanf(after_name + 1, " %c %d", &state, &parent) < 2)
		return 0;
	if (ret_parent)
		*ret_parent = parent;
	return state;
}

/* 0: there is no such process. */
static inline pid_t parent_of(pid_t pid)
{
	pid_t parent = 0;

	process_state(pid, &parent);
	return parent;
}

/*
 * Whether @is holds for a process in @dir, "/proc", or for a thread in "/proc/PID/task". It is asked of one after
 * the other until it holds, with @arg, borrowed for the call. A directory that is not there has none.
 */
static inline bool is_any_process(const char *dir, bool (*is)(pid_t pid, void *arg), void *arg)
{
	DIR *all = opendir(dir);
	const struct dirent *d;
	bool holds = false;

	if (!all && errno != ENOENT)
		abort();
	while (all && !holds && (d = readdir(all)))
		holds = atoi(d->d_name) > 0 && is(atoi(d->d_name), arg);
	if (all)
		closedir(all);
	return holds;
}

/* The slice of a thread (0: of this one); 0: there is no such thread, or no slice for each (before Linux 6.12). */
static inline uint64_t slice_of(pid_t tid)
{
	struct {
		uint32_t size, policy;
		uint64_t flags, nice_and_priority, runtime, deadline, period;
	} how = { .size = 0 };

	return syscall(SYS_sched_getattr, tid, &how, sizeof(how), 0) ? 0 : how.runtime;
}

/* ---- sockets ---- */

enum { FDS_SENT_MOST = 253 }; /* limit of the kernel for a packet */

/* Send @n bytes as a packet with @n_fds descriptors. False: errno has the error. */
static inline bool fds_send(int sock, const void *bytes, size_t n, const int *fds, unsigned n_fds, int flags)
{
	struct iovec part = { (void *)(uintptr_t)bytes, n };
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(sizeof(int) * FDS_SENT_MOST)];
	} control = { .align = { CMSG_LEN(sizeof(int) * n_fds), SOL_SOCKET, SCM_RIGHTS } };
	const struct msghdr m = { .msg_iov = &part,
		                  .msg_iovlen = 1,
		                  .msg_control = n_fds ? &control : NULL,
		                  .msg_controllen = n_fds ? CMSG_SPACE(sizeof(int) * n_fds) : 0 };

	if (n_fds > FDS_SENT_MOST)
		abort();
	memcpy(CMSG_DATA(&control.align), fds, sizeof(int) * n_fds);
	return sendmsg(sock, &m, MSG_NOSIGNAL | flags) == (ssize_t)n;
}

/* The same with one descriptor. */
static inline bool fd_send(int sock, const void *bytes, size_t n, int fd, int flags)
{
	return fds_send(sock, bytes, n, &fd, 1, flags);
}

/* ---- files ---- */

/* The number of open descriptors; allocates nothing. */
static inline unsigned open_fds(void)
{
	unsigned n = 0;

	for (int fd = 0; fd < 1024; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

/* Read a whole file, and append a NUL. Owned by the caller. NULL: errno has the error. @ret_n may be NULL. */
static inline char *file_content(const char *path, size_t *ret_n)
{
	FILE *file = fopen(path, "re");
	char *ret = NULL, *more;
	size_t n = 0, room = 0;

	if (!file)
		return NULL;
	do {
		room = room ? 2 * room : 65536;
		more = realloc(ret, room + 1);
		if (!more)
			break;
		ret = more;
		n += fread(ret + n, 1, room - n, file);
	} while (n == room);
	if (!more || ferror(file)) {
		free(ret);
		ret = NULL;
	} else {
		ret[n] = 0;
		if (ret_n)
			*ret_n = n;
	}
	fclose(file);
	return ret;
}

/* ---- numbers ---- */

/* For qsort. */
static inline int by_number(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* ---- series of numbers: each call changes *@state ---- */

/* Linear congruential: the high bits are the good ones. */
static inline uint64_t lcg_next(uint64_t *state)
{
	return *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
}

/* @state is never 0. */
static inline uint64_t xorshift_next(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

/* xorshift64*; @state is never 0. */
static inline uint64_t xorshift_star_next(uint64_t *state)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return *state * UINT64_C(0x2545f4914f6cdd1d);
}

static inline uint64_t splitmix_next(uint64_t *state)
{
	uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

#endif
