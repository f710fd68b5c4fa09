/*
 * lock_holder.c -- an app of another user that holds the lock of its file, for long and again and again.
 *
 * Its processes map a page of the file very often, and punch that page in a loop: for each punch the kernel visits all
 * these mappings, with the file's lock (i_mmap_rwsem) held. They are of SCHED_IDLE, so a visit can take seconds.
 */
#include "lock_holder.h"

#include <fcntl.h>
#include <grp.h>
#include <linux/falloc.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "service_helpers.h"

enum { HELD_MAPS = 60000, PAGE = 4096 };

void become_user(uid_t user)
{
	if (user)
		must(setgroups(0, NULL) == 0 && setgid(user) == 0 && setuid(user) == 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL); /* another user's process loses this setting when it changes its user */
	must(getppid() != 1);
}

/* Map a page of @fd's file as often as a process may. */
static void file_map_often(int fd)
{
	for (unsigned k = 0; k < HELD_MAPS; k++)
		if (mmap(NULL, PAGE, PROT_READ, MAP_SHARED, fd, (off_t)(k & 1) * PAGE) == MAP_FAILED)
			break;
}

static __attribute__((noreturn)) void holder_punch(int fd)
{
	const struct sched_param none = { 0 };

	must(sched_setscheduler(0, SCHED_IDLE, &none) == 0);
	for (;;)
		fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, (off_t)2 * PAGE);
}

/* Begin to map and punch @fd's file. */
static void file_punch_soon(int fd)
{
	for (unsigned i = 0; i < LOCK_HOLDERS; i++) {
		if (fork())
			continue;
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		file_map_often(fd);
		holder_punch(fd);
	}
}

/*
 * Map @fd's file, and then begin to punch it: a holder that maps while another one punches waits for the lock itself.
 */
static void file_punch(int fd)
{
	int mapped[2], goes[2];
	char byte;

	must(pipe(mapped) == 0 && pipe(goes) == 0);
	for (unsigned i = 0; i < LOCK_HOLDERS; i++) {
		if (fork())
			continue;
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		file_map_often(fd);
		close(goes[1]);
		must(write(mapped[1], ".", 1) == 1);
		must(read(goes[0], &byte, 1) == 0); /* until all have closed the other end */
		holder_punch(fd);
	}
	for (unsigned i = 0; i < LOCK_HOLDERS; i++)
		must(read(mapped[0], &byte, 1) == 1);
	close(mapped[0]);
	close(mapped[1]);
	close(goes[0]);
	close(goes[1]);
}

/* Begin to map @fd's file very often, unmap it, and so on. */
static void file_map_again_and_again(int fd)
{
	for (unsigned i = 0; i < LOCK_HOLDERS; i++) {
		if (fork())
			continue;
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;) {
			pid_t pid = fork();

			if (!pid) {
				prctl(PR_SET_PDEATHSIG, SIGKILL);
				file_map_often(fd);
				_exit(0); /* unmaps all */
			}
			waitpid(pid, NULL, 0);
		}
	}
}

static struct nnb_pool *pool_in(int fd, uint32_t n)
{
	struct nnb_memory memory;
	struct nnb_pool *pool;

	must(nnb_memory_mmap_fd(&memory, fd, (uint64_t)n * sizeof(float) * 2, PROT_READ | PROT_WRITE, 0) == 0);
	must(nnb_pool_from(&pool, &memory) == 0);
	nnb_memory_close(&memory);
	return pool;
}

/* Use a file in the service again and again, once @begin has begun with it. */
static __attribute__((noreturn)) void file_use(struct nnb_remote *remote, uint32_t n, void (*begin)(int fd),
                                               void (*begins)(void), void (*goes_on)(void))
{
	const uint64_t needs = (uint64_t)n * sizeof(float) * 2, punched = 2 * PAGE;
	int fd = memfd_create("held", MFD_CLOEXEC);
	struct nnb_burst *burst;

	must(fd >= 0 && ftruncate(fd, (off_t)(needs > punched ? needs : punched)) == 0);
	if (nnb_remote_burst(remote, NULL, &burst, NULL)) /* nothing of this app may be mapped now */
		burst = NULL;
	begin(fd);
	begins();
	for (;;) {
		struct io io;

		io_init_on(&io, n, pool_in(fd, n));
		nnb_remote_execute(remote, &io.call, NULL, NULL);
		if (burst)
			nnb_burst_execute(burst, &io.call, &io.answer, NULL);
		io_fini(&io);
		if (goes_on)
			goes_on();
	}
}

void lock_hold_soon(struct nnb_remote *remote, uint32_t n, void (*begins)(void), void (*goes_on)(void))
{
	file_use(remote, n, file_punch_soon, begins, goes_on);
}

void lock_hold(struct nnb_remote *remote, uint32_t n, void (*begins)(void), void (*goes_on)(void))
{
	file_use(remote, n, file_punch, begins, goes_on);
}

void lock_prepare(struct nnb_remote *remote, uint32_t n, void (*begins)(void), void (*goes_on)(void))
{
	file_use(remote, n, file_map_again_and_again, begins, goes_on);
}
