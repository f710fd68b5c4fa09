/*
 * bench_copies -- what it costs a service to use a file of an app for one execution: mapped and unmapped, or copied by
 * pread and pwrite; and how long each waits while the app holds the file's locks.
 *
 * A service has no choice but these two. The system calls are made here, on files of another process: a third of the
 * bytes are written, the rest is read, as in an execution of two inputs and one output.
 */
#include <fcntl.h>
#include <linux/falloc.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"
#include "peers.h"

enum { LEAST = 1 << 10, MOST = 4 << 20, SIZES = 13, BATCH = 20, ROOM = 3 * MOST };
enum { HOLDERS = 2, MAPS = 60000, PUNCHED = 8192, HELD_S = 12, BURNERS = 4 };

enum { MAPPED, COPIED, N_WAYS };
static const char *const ways[N_WAYS] = { [MAPPED] = "mapped", [COPIED] = "copied" };

static char *room; /* what copies are made to: a service keeps it for the next execution */
static size_t page;
static volatile char sink;
static atomic_uint *punches; /* of all holders; shared with them */

/* Compute: read the inputs of @bytes each, write the output. */
static void use(char *inputs, char *output, size_t bytes)
{
	for (size_t i = 0; i < 2 * bytes; i += 64)
		sink = (char)(sink + inputs[i]);
	memset(output, sink, bytes);
}

static void use_mapped(int fd, size_t bytes)
{
	char *p = mmap(NULL, 3 * bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (p == MAP_FAILED)
		die("mmap");
	use(p, p + 2 * bytes, bytes);
	munmap(p, 3 * bytes);
}

static void use_copied(int fd, size_t bytes)
{
	for (size_t i = 0; i < 3; i++) /* the output, too: a driver need not write all of it */
		if (pread(fd, room + i * bytes, bytes, (off_t)(i * bytes)) != (ssize_t)bytes)
			die("pread");
	use(room, room + 2 * bytes, bytes);
	if (pwrite(fd, room + 2 * bytes, bytes, (off_t)(2 * bytes)) != (ssize_t)bytes)
		die("pwrite");
}

static void use_file(int way, int fd, size_t bytes)
{
	if (way == MAPPED)
		use_mapped(fd, bytes);
	else
		use_copied(fd, bytes);
}

static int file_of(size_t bytes)
{
	int fd = memfd_create("app", MFD_CLOEXEC);

	if (fd < 0 || ftruncate(fd, (off_t)bytes))
		die("a file");
	for (size_t at = 0; at < bytes; at += page)
		if (pwrite(fd, "x", 1, (off_t)at) != 1)
			die("pwrite");
	return fd;
}

static size_t size_at(int i)
{
	return (size_t)LEAST << i;
}

static void measure_sizes(struct bench *b, size_t rows[SIZES][N_WAYS], const int *files)
{
	for (int i = 0; i < SIZES; i++) {
		int batches = b->quick ? 2 : 10;

		for (int k = 0; k < batches * N_WAYS; k++) {
			int way = k % N_WAYS;
			uint64_t began = bench_now();

			for (int n = 0; n < BATCH; n++)
				use_file(way, files[i], size_at(i));
			bench_sample(b, rows[i][way], (double)(bench_now() - began) / BATCH);
		}
		for (int way = 0; way < N_WAYS; way++)
			bench_round_done(b, rows[i][way]);
	}
}

/* ---- beside a process that holds the locks of its file ---- */

static const char *const held_names[] = { "map and unmap", "a page fault", "pread", "pwrite" };
enum { HELD_MAP, HELD_FAULT, HELD_READ, HELD_WRITE, N_HELD };

/* The cpus are busy, so that a thread that rarely gets one keeps a lock for long. */
static void burn(int fd)
{
	(void)fd;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;)
		sink++;
}

/* Map a page of @fd very often; then punch it in a loop, on a thread that rarely gets a cpu. */
static void hold_locks(int fd)
{
	const struct sched_param none = { 0 };

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (int i = 0; i < MAPS; i++)
		if (mmap(NULL, page, PROT_READ, MAP_SHARED, fd, (off_t)((size_t)(i & 1) * page)) == MAP_FAILED)
			break;
	sched_setscheduler(0, SCHED_IDLE, &none);
	for (;;) {
		fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, PUNCHED);
		atomic_fetch_add(punches, 1);
	}
}

static void use_held(int what, int fd, char *mapped)
{
	char *p;

	switch (what) {
	case HELD_MAP:
		p = mmap(NULL, page, PROT_READ, MAP_SHARED, fd, (off_t)(4 * page));
		if (p == MAP_FAILED)
			die("mmap");
		munmap(p, page);
		return;
	case HELD_FAULT:
		madvise(mapped, page, MADV_DONTNEED);
		sink = *mapped;
		return;
	case HELD_READ:
		if (pread(fd, room, page, (off_t)(4 * page)) != (ssize_t)page)
			die("pread");
		return;
	default:
		if (pwrite(fd, room, page, (off_t)(4 * page)) != (ssize_t)page)
			die("pwrite");
	}
}

static void measure_held(struct bench *b, const size_t *rows)
{
	int fd = file_of(16 * page);
	char *mapped = mmap(NULL, page, PROT_READ, MAP_SHARED, fd, (off_t)(5 * page));
	pid_t others[HOLDERS + BURNERS];
	uint64_t until;

	punches = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (mapped == MAP_FAILED || punches == MAP_FAILED)
		die("mmap");
	for (int i = 0; i < HOLDERS + BURNERS; i++) {
		others[i] = fork();
		if (!others[i])
			(i < HOLDERS ? hold_locks : burn)(fd);
	}
	while (!b->quick && atomic_load(punches) < HOLDERS)
		usleep(1000);
	until = bench_now() + (b->quick ? 0 : HELD_S) * UINT64_C(1000000000);
	for (int k = 0; k < N_HELD || bench_now() < until; k++) {
		uint64_t began = bench_now();

		use_held(k % N_HELD, fd, mapped);
		bench_sample(b, rows[k % N_HELD], (double)(bench_now() - began));
		usleep(500);
	}
	for (int i = 0; i < HOLDERS + BURNERS; i++) {
		kill(others[i], SIGKILL);
		waitpid(others[i], NULL, 0);
	}
	for (int what = 0; what < N_HELD; what++)
		bench_round_done(b, rows[what]);
	munmap(mapped, page);
	close(fd);
}

int main(int argc, char **argv)
{
	size_t rows[SIZES][N_WAYS], held[N_HELD];
	int files[SIZES];
	struct bench b;
	char name[64];

	bench_open(&b, "copies", 11, argc, argv);
	page = (size_t)sysconf(_SC_PAGESIZE);
	room = aligned_alloc(page, ROOM);
	if (!room)
		die("memory");
	memset(room, 1, ROOM);
	for (int i = 0; i < SIZES; i++) {
		files[i] = file_of(3 * size_at(i));
		for (int way = 0; way < N_WAYS; way++) {
			snprintf(name, sizeof(name), "3 x %zu KiB/%s", size_at(i) >> 10, ways[way]);
			rows[i][way] = bench_row(&b, name);
		}
	}
	for (int what = 0; what < N_HELD; what++) {
		snprintf(name, sizeof(name), "file of %d mappings, punched/%s", HOLDERS * MAPS, held_names[what]);
		held[what] = bench_row(&b, name);
	}
	for (unsigned i = 0; i < b.rounds; i++)
		measure_sizes(&b, rows, files);
	measure_held(&b, held);
	for (int i = 0; i < SIZES; i++) {
		snprintf(name, sizeof(name), "3 x %zu KiB: copied / mapped", size_at(i) >> 10);
		bench_ratio(&b, name, rows[i][COPIED], rows[i][MAPPED], SIZE_MAX);
		close(files[i]);
	}
	free(room);
	return bench_close(&b);
}
