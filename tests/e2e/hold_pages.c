/*
 * hold_pages.c -- preloaded into a service, lets pages of its apps' memory take long, again and again: it removes the
 * pages of all shared memory that the service may write, and for HOLD_MS the kernel gets no new ones (userfaultfd).
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { HOLD_MS = 20, APART_MS = 80, RANGES = 64 };

static void sleep_ms(long ms)
{
	nanosleep(&(struct timespec){ 0, ms * 1000000 }, NULL);
}

/* Find the shared mappings of apps' pools, which are writable. */
static unsigned find_pools(struct uffdio_range ranges[RANGES])
{
	FILE *maps = fopen("/proc/self/maps", "re");
	char line[512], mode[8];
	unsigned long long began, ended;
	unsigned n = 0;

	while (maps && n < RANGES && fgets(line, sizeof(line), maps))
		if (sscanf(line, "%llx-%llx %7s", &began, &ended, mode) == 3 && !strcmp(mode, "rw-s") &&
		    strstr(line, "memfd:nnb-memory"))
			ranges[n++] = (struct uffdio_range){ began, ended - began };
	if (maps)
		fclose(maps);
	return n;
}

static void hold(int fd)
{
	struct uffdio_range ranges[RANGES];
	unsigned n = find_pools(ranges);

	for (unsigned i = 0; i < n; i++) {
		struct uffdio_register range = { .range = ranges[i], .mode = UFFDIO_REGISTER_MODE_MISSING };

		if (!ioctl(fd, UFFDIO_REGISTER, &range))
			madvise((void *)(uintptr_t)ranges[i].start, ranges[i].len, MADV_REMOVE);
	}
	sleep_ms(HOLD_MS);
	for (unsigned i = 0; i < n; i++)
		ioctl(fd, UFFDIO_UNREGISTER, &ranges[i]);
}

static void *holds(void *arg)
{
	struct uffdio_api api = { .api = UFFD_API };
	int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC | UFFD_USER_MODE_ONLY);

	if (fd < 0 || ioctl(fd, UFFDIO_API, &api)) {
		fprintf(stderr, "hold_pages: no userfaultfd: %s\n", strerror(errno));
		return arg;
	}
	for (;;) {
		sleep_ms(APART_MS);
		hold(fd);
	}
}

/* The thread takes no signal: those of the service are for its own threads. */
__attribute__((constructor)) static void begin(void)
{
	sigset_t all, before;
	pthread_t thread;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	if (!pthread_create(&thread, NULL, holds, NULL))
		pthread_detach(thread);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}
