/*
 * test_errand.c -- calls on files, made by workers: what they return, and how long they take, whatever becomes of the
 * worker.
 *
 * A file whose inode lock is held without an end is a memfd that another thread writes to from a page that this process
 * must provide itself (userfaultfd), which root may do. One that keeps a trial without an end is in a FUSE file system
 * of the test, which root may mount: to map a file for direct access waits for its pages that are being read.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base.h"
#include "base/close.h"
#include "base/kept.h"
#include "base/offer.h"
#include "base/sys.h"
#include "memory/errand.h"
#include "memory/prober.h"

#ifndef SO_PASSRIGHTS
#define SO_PASSRIGHTS 83 /* Linux 6.16 */
#endif

enum {
	PAGE = 4096,
	WORKERS = 6,
	PORTERS = 4 * WORKERS,
	GUARANTEED = 3,
	ALWAYS = 99,
	WORKERS_FOUND = 32,
	PATIENCE_MS = 20000
};

static int prober_sock; /* of this process */

static const struct nnb__errand_wait ordinary = { .limit_ns = 20000 * MS }, brief = { .limit_ns = 100 * MS };

/* ---- the workers of this process ---- */

struct children {
	pid_t parent, *found;
	int n;
};

static bool child_note(pid_t pid, void *arg)
{
	struct children *c = arg;

	if (c->n < WORKERS_FOUND && parent_of(pid) == c->parent)
		c->found[c->n++] = pid;
	return false;
}

/* The children of @parent. Returns their number. */
static int children_of(pid_t parent, pid_t ret[WORKERS_FOUND])
{
	struct children c = { parent, ret, 0 };

	is_any_process("/proc", child_note, &c);
	return c.n;
}

static pid_t no_prober; /* another child of this process; 0: none */

static pid_t prober(void)
{
	pid_t found[WORKERS_FOUND];
	int n = children_of(getpid(), found);

	assert_int_equal(n, no_prober ? 2 : 1);
	return found[no_prober && found[0] == no_prober];
}

static int workers(pid_t ret[WORKERS_FOUND])
{
	return children_of(prober(), ret);
}

static void await_workers(int n)
{
	pid_t found[WORKERS_FOUND];
	uint64_t end = nnb__now() + PATIENCE_MS * MS;

	while (workers(found) != n) {
		assert_true(nnb__now() < end);
		usleep(1000);
	}
}

static void await_none_left(struct nnb__errands *e)
{
	uint64_t end = nnb__now() + PATIENCE_MS * MS;

	while (nnb__errands_left(e)) {
		assert_true(nnb__now() < end);
		usleep(1000);
	}
}

/* The workers that sleep where no signal ends the sleep. */
static int workers_asleep(void)
{
	pid_t found[WORKERS_FOUND];
	int all = workers(found), n = 0;

	for (int i = 0; i < all; i++)
		n += process_state(found[i], NULL) == 'D';
	return n;
}

enum { ASLEEP_LOOKS = 3 }; /* not for a moment only */
static int asleep_most, asleep_looks;

static bool is_none_asleep(void)
{
	asleep_looks = workers_asleep() > asleep_most ? asleep_looks + 1 : 0;
	return asleep_looks < ASLEEP_LOOKS;
}

/* A call ends with -ECANCELED as soon as one worker more is asleep, however busy the machine is. */
static struct nnb__errand_wait until_asleep(void)
{
	asleep_most = workers_asleep();
	asleep_looks = 0;
	return (struct nnb__errand_wait){ .limit_ns = PATIENCE_MS * MS, .goes_on = is_none_asleep };
}

static int file_new(void)
{
	int fd = memfd_create("file", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	assert_true(fd >= 0 && !ftruncate(fd, 2 * PAGE));
	return fd;
}

/* ---- what calls return ---- */

static void calls_are_made(struct nnb__errands *e)
{
	static unsigned char out[NNB__ERRAND_BYTES], in[NNB__ERRAND_BYTES];
	uint64_t blocked = 1, size = 0;
	int fd = file_new(), reads, pipes[2];

	for (size_t i = 0; i < sizeof(out); i++)
		out[i] = (unsigned char)(i * 7 + i / 256);
	assert_int_equal(nnb__errand_try(e, fd, &ordinary, &blocked), 0);
	assert_true(blocked < 1000 * MS);
	assert_int_equal(nnb__errand_size(e, fd, &ordinary, &size), 0);
	assert_int_equal(size, 2 * PAGE);
	assert_int_equal(nnb__errand_truncate(e, fd, 3, &ordinary), 0);
	assert_int_equal(lseek(fd, 0, SEEK_END), 3);
	assert_int_equal(nnb__errand_write(e, fd, 5, out, sizeof(out), &ordinary), sizeof(out));
	assert_int_equal(nnb__errand_read(e, fd, 5, in, sizeof(in), &ordinary), sizeof(in));
	assert_memory_equal(in, out, sizeof(in));
	assert_int_equal(nnb__errand_read(e, fd, sizeof(out), in, sizeof(in), &ordinary), 5); /* up to its end */
	assert_memory_equal(in, out + sizeof(out) - 5, 5);
	assert_int_equal(nnb__errand_read(e, fd, 1 << 20, in, 1, &ordinary), 0);
	assert_int_equal(nnb__errand_seal(e, fd, F_SEAL_WRITE, &ordinary), 0);
	assert_int_equal(fcntl(fd, F_GET_SEALS), F_SEAL_WRITE);
	assert_int_equal(nnb__errand_write(e, fd, 0, out, 1, &ordinary), -EPERM);
	assert_int_equal(nnb__errand_seal(e, fd, F_SEAL_SEAL, &ordinary), 0);
	assert_int_equal(nnb__errand_seal(e, fd, F_SEAL_GROW, &ordinary), -EPERM);
	assert_int_equal(pipe2(pipes, O_CLOEXEC), 0);
	assert_int_equal(nnb__errand_size(e, pipes[0], &ordinary, &size), -EINVAL);
	assert_int_equal(nnb__errand_read(e, pipes[0], 0, in, 1, &ordinary), -ESPIPE);
	assert_int_equal(nnb__errand_try(e, pipes[0], &ordinary, &blocked), -ENODEV);
	reads = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	assert_int_equal(nnb__errand_write(e, reads, 0, out, 1, &ordinary), -EBADF);
	assert_int_equal(nnb__errand_truncate(e, reads, 0, &ordinary), -EINVAL);
	close(reads);
	close(pipes[0]);
	close(pipes[1]);
	close(fd);
}

static void calls_without_a_worker(void **state)
{
	(void)state;
	calls_are_made(NULL);
}

static void calls_by_a_worker(void **state)
{
	struct nnb__errands *e = nnb__errands_of(1), *again = nnb__errands_of(1);
	pid_t found[WORKERS_FOUND];

	(void)state;
	assert_non_null(e);
	assert_ptr_equal(e, again);
	calls_are_made(e);
	assert_int_equal(workers(found), 2); /* one for trials */
	nnb__errands_unref(again);
	assert_int_equal(workers(found), 2);
	assert_null(nnb__errands_unref(e));
	await_workers(0); /* and no zombie */
}

/* ---- processes ---- */

/* A worker has its socket, and nothing else of this process; not even what the prober has. */
static void a_worker_holds_no_file(void **state)
{
	struct nnb__errands *e = nnb__errands_of(1);
	char path[64], what[256];
	pid_t found[WORKERS_FOUND];
	uint64_t blocked;
	int fd = file_new(), sockets = 0;
	struct dirent *d;
	DIR *open_files;

	(void)state;
	assert_int_equal(nnb__errand_try(e, fd, &ordinary, &blocked), 0);
	assert_int_equal(workers(found), 1);
	snprintf(path, sizeof(path), "/proc/%d/fd", found[0]);
	open_files = opendir(path);
	assert_non_null(open_files);
	while ((d = readdir(open_files))) {
		ssize_t n = readlinkat(dirfd(open_files), d->d_name, what, sizeof(what) - 1);

		if (n < 0)
			continue; /* . and .. */
		what[n] = '\0';
		sockets += !strncmp(what, "socket:", 7);
		assert_true(!strncmp(what, "socket:", 7) || !strcmp(what, "/dev/null") || strstr(what, "schedstat"));
	}
	assert_int_equal(sockets, 1);
	closedir(open_files);
	close(fd);
	nnb__errands_unref(e);
	await_workers(0);
}

/* A worker that has ended meanwhile is replaced. */
static void an_idle_worker_dies(void **state)
{
	struct nnb__errands *e = nnb__errands_of(1);
	pid_t found[WORKERS_FOUND];
	int fd = file_new();

	(void)state;
	assert_int_equal(nnb__errand_truncate(e, fd, 1, &ordinary), 0);
	assert_int_equal(workers(found), 1);
	kill(found[0], SIGKILL);
	await_workers(0);
	assert_int_equal(nnb__errand_truncate(e, fd, 2, &ordinary), 0);
	assert_int_equal(lseek(fd, 0, SEEK_END), 2);
	close(fd);
	nnb__errands_unref(e);
	await_workers(0);
}

static void *kill_soon(void *arg)
{
	usleep(50 * 1000);
	kill(*(pid_t *)arg, SIGKILL);
	return NULL;
}

/* A worker that dies in the midst of an errand ends the errand at once. */
static void a_worker_dies_at_work(void **state)
{
	struct nnb__errands *e = nnb__errands_of(1);
	pid_t found[WORKERS_FOUND];
	int fd = file_new();
	pthread_t killer;

	(void)state;
	assert_int_equal(nnb__errand_truncate(e, fd, 1, &ordinary), 0);
	assert_int_equal(workers(found), 1);
	kill(found[0], SIGSTOP);
	assert_int_equal(pthread_create(&killer, NULL, kill_soon, &found[0]), 0);
	assert_int_equal(nnb__errand_truncate(e, fd, 2, &ordinary), -EIO);
	assert_int_equal(pthread_join(killer, NULL), 0);
	assert_int_equal(nnb__errands_left(e), 0);
	assert_int_equal(nnb__errand_truncate(e, fd, 3, &ordinary), 0);
	close(fd);
	nnb__errands_unref(e);
	await_workers(0);
}

static bool never(void)
{
	return false;
}

/* A worker that does not answer in time is killed, and the next errand has another one. */
static void a_worker_does_not_answer(void **state)
{
	const struct nnb__errand_wait unwanted = { .limit_ns = ordinary.limit_ns, .goes_on = never };
	struct nnb__errands *e = nnb__errands_of(1);
	pid_t found[WORKERS_FOUND];
	uint64_t began, blocked;
	int fd = file_new();

	(void)state;
	for (int i = 0; i < 3; i++) {
		assert_int_equal(i < 2 ? nnb__errand_truncate(e, fd, 1, &ordinary)
		                       : nnb__errand_try(e, fd, &ordinary, &blocked),
		                 0);
		assert_int_equal(workers(found), 1);
		kill(found[0], SIGSTOP);
		began = nnb__now();
		if (i == 0)
			assert_int_equal(nnb__errand_truncate(e, fd, 2, &brief), -ETIMEDOUT);
		else if (i == 1)
			assert_int_equal(nnb__errand_truncate(e, fd, 2, &unwanted), -ECANCELED);
		else {
			assert_int_equal(nnb__errand_try(e, fd, &brief, &blocked), -ETIMEDOUT);
			assert_int_equal(blocked, 0); /* it may only have had no cpu */
		}
		assert_true(nnb__now() - began < 10000 * MS);
		await_none_left(e);
		assert_int_equal(lseek(fd, 0, SEEK_END), 1); /* it was killed, and never made the call */
	}
	close(fd);
	nnb__errands_unref(e);
	await_workers(0);
}

/* ---- a file whose lock is held ---- */

struct held {
	int fd, fault;
	unsigned char *page;
	pthread_t holder;
};

static void *hold(void *arg)
{
	const struct held *h = arg;

	assert_int_equal(pwrite(h->fd, h->page, PAGE, 0), PAGE);
	return NULL;
}

/* False: this process may not. */
static bool file_hold(struct held *h)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register range = { .mode = UFFDIO_REGISTER_MODE_MISSING };

	h->fault = (int)syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK);
	if (h->fault < 0)
		return false;
	h->fd = file_new();
	h->page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(h->page, MAP_FAILED);
	range.range = (struct uffdio_range){ (uintptr_t)h->page, PAGE };
	assert_int_equal(ioctl(h->fault, UFFDIO_API, &api) || ioctl(h->fault, UFFDIO_REGISTER, &range), 0);
	assert_int_equal(pthread_create(&h->holder, NULL, hold, h), 0);
	assert_int_equal(poll(&(struct pollfd){ .fd = h->fault, .events = POLLIN }, 1, PATIENCE_MS), 1);
	return true;
}

static void file_release(struct held *h)
{
	struct uffdio_zeropage zero = { .range = { (uintptr_t)h->page, PAGE } };

	assert_int_equal(ioctl(h->fault, UFFDIO_ZEROPAGE, &zero), 0);
	assert_int_equal(pthread_join(h->holder, NULL), 0);
	munmap(h->page, PAGE);
	close(h->fault);
	close(h->fd);
}

/*
 * What no signal ends is left behind, up to a limit. Beyond that limit the errands of the app fail at once, and its
 * trials and the errands of another app do not.
 */
static void workers_are_left_behind(void **state)
{
	struct nnb__errands *e = nnb__errands_of(1), *other = nnb__errands_of(2);
	struct nnb__errand_wait wait;
	struct held h;
	uint64_t began, blocked;
	int fd = file_new();

	(void)state;
	if (!file_hold(&h)) {
		nnb__errands_unref(e);
		nnb__errands_unref(other);
		skip();
	}
	for (unsigned i = 0; i < NNB__ERRAND_LEFT; i++) {
		assert_int_equal(nnb__errand_truncate(e, fd, 1, &ordinary), 0); /* of another file */
		wait = until_asleep();
		assert_int_equal(nnb__errand_seal(e, h.fd, F_SEAL_SHRINK, &wait), -ECANCELED);
		assert_int_equal(nnb__errands_left(e), i + 1);
	}
	began = nnb__now();
	assert_int_equal(nnb__errand_truncate(e, fd, 1, &ordinary), -EBUSY);
	assert_true(nnb__now() - began < 1000 * MS);
	assert_int_equal(nnb__errand_truncate(other, fd, 1, &ordinary), 0);
	assert_int_equal(nnb__errand_try(e, fd, &ordinary, &blocked), 0); /* trials go on */

	/* the app leaves and comes back: so it is still */
	nnb__errands_unref(e);
	e = nnb__errands_of(1);
	assert_int_equal(nnb__errands_left(e), NNB__ERRAND_LEFT);
	assert_int_equal(nnb__errand_truncate(e, fd, 1, &ordinary), -EBUSY);
	await_workers(NNB__ERRAND_LEFT + 1); /* and the other app's */

	file_release(&h);
	await_none_left(e);
	assert_int_equal(nnb__errand_truncate(e, fd, 1, &ordinary), 0);
	close(fd);
	nnb__errands_unref(e);
	nnb__errands_unref(other);
	await_workers(0);
}

/* All apps together have WORKERS workers: an idle one makes room, and those at work do not. */
static void all_apps_have_a_limit(void **state)
{
	struct nnb__errands *e[WORKERS + 1];
	pid_t found[WORKERS_FOUND];
	struct nnb__errand_wait wait;
	struct held h;
	int fd = file_new();

	(void)state;
	for (unsigned i = 0; i <= WORKERS; i++) {
		e[i] = nnb__errands_of(10 + i);
		assert_int_equal(nnb__errand_truncate(e[i], fd, i, &ordinary), 0);
	}
	/* one that made room ends in its own time */
	for (uint64_t end = nnb__now() + PATIENCE_MS * MS; workers(found) > WORKERS; usleep(1000))
		assert_true(nnb__now() < end);
	if (file_hold(&h)) {
		for (unsigned i = 0; i < WORKERS; i++) {
			wait = until_asleep();
			assert_int_equal(nnb__errand_seal(e[i], h.fd, F_SEAL_SHRINK, &wait), -ECANCELED);
		}
		assert_int_equal(nnb__errand_truncate(e[WORKERS], fd, 1, &ordinary), -EBUSY);
		file_release(&h);
		for (unsigned i = 0; i < WORKERS; i++)
			await_none_left(e[i]);
		assert_int_equal(nnb__errand_truncate(e[WORKERS], fd, 1, &ordinary), 0);
	}
	for (unsigned i = 0; i <= WORKERS; i++)
		nnb__errands_unref(e[i]);
	close(fd);
	await_workers(0);
}

/* ---- a file whose trials do not end ---- */

#define DIRECT_MMAP (UINT64_C(1) << 36) /* FUSE_DIRECT_IO_ALLOW_MMAP, which older headers do not have */

/*
 * The server is a process of its own, and only it has the device open. No signal ends a process that waits for the
 * file system, until the device is closed. The server ends with this process, and that closes the device.
 */
struct page_fs {
	int mount, cached, direct; /* descriptors, the last two of one file */
	pid_t server;
	pthread_t reader;
	struct served {
		atomic_bool maps, answers; /* the kernel maps direct files; reads are answered, with an error */
		_Atomic uint64_t read;     /* the number of the read that waits; 0: none */
	} * served;                        /* shared with the server */
};

static void fs_reply(int dev, uint64_t unique, int error, const void *data, size_t bytes)
{
	struct fuse_out_header head = { (uint32_t)(sizeof(head) + bytes), error, unique };
	struct iovec parts[2] = { { &head, sizeof(head) }, { (void *)(uintptr_t)data, bytes } };

	(void)!writev(dev, parts, bytes ? 2 : 1); /* the request may have been given up */
}

static void fs_answer(int dev, const struct fuse_in_header *head, struct served *to)
{
	struct fuse_attr attr = { .nlink = 1, .blksize = PAGE, .size = PAGE };
	const struct fuse_init_in *init = (const void *)(head + 1);
	static unsigned opened;

	attr.ino = head->opcode == FUSE_LOOKUP ? 2 : head->nodeid;
	attr.mode = attr.ino == 1 ? S_IFDIR | 0755 : S_IFREG | 0644;
	if (head->opcode == FUSE_INIT) {
		const struct fuse_init_out out = { .major = 7,
			                           .minor = 36,
			                           .max_write = 1 << 16,
			                           .max_background = 16,
			                           .flags = FUSE_INIT_EXT,
			                           .flags2 = (uint32_t)(DIRECT_MMAP >> 32) };

		to->maps = init->minor >= 36 && init->flags2 & out.flags2;
		fs_reply(dev, head->unique, 0, &out, sizeof(out));
	} else if (head->opcode == FUSE_LOOKUP) {
		const struct fuse_entry_out out = {
			.nodeid = 2, .attr_valid = 3600, .entry_valid = 3600, .attr = attr
		};

		fs_reply(dev, head->unique, 0, &out, sizeof(out));
	} else if (head->opcode == FUSE_GETATTR) {
		const struct fuse_attr_out out = { .attr_valid = 3600, .attr = attr };

		fs_reply(dev, head->unique, 0, &out, sizeof(out));
	} else if (head->opcode == FUSE_OPEN) {
		const struct fuse_open_out out = { .fh = 1, .open_flags = opened++ ? FOPEN_DIRECT_IO : 0 };

		fs_reply(dev, head->unique, 0, &out, sizeof(out));
	} else if (head->opcode == FUSE_READ && !to->answers) {
		to->read = head->unique;
	} else if (head->opcode != FUSE_FORGET && head->opcode != FUSE_INTERRUPT) {
		fs_reply(dev, head->unique, head->opcode == FUSE_READ ? -EIO : -ENOSYS, NULL, 0);
	}
}

static _Noreturn void fs_serve(int dev, pid_t parent, struct served *to)
{
	static uint64_t request[(1 << 17) / sizeof(uint64_t)];

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent || dup2(dev, 3) < 0)
		_exit(1);
	syscall(SYS_close_range, 4U, ~0U, 0U);
	for (;;) {
		struct pollfd p = { .fd = 3, .events = POLLIN };
		ssize_t n;

		if (to->answers && to->read)
			fs_reply(3, atomic_exchange(&to->read, 0), -EIO, NULL, 0);
		if (poll(&p, 1, 10) <= 0)
			continue;
		n = read(3, request, sizeof(request));
		if (n < 0 && (errno == EINTR || errno == ENOENT))
			continue;
		if (n <= 0)
			_exit(0); /* unmounted */
		fs_answer(3, (const void *)request, to);
	}
}

static void *fs_read(void *arg)
{
	const struct page_fs *f = arg;
	char byte;

	(void)!pread(f->cached, &byte, 1, 0); /* keeps the page locked */
	return NULL;
}

static void fs_end(struct page_fs *f)
{
	f->served->answers = true;
	assert_int_equal(pthread_join(f->reader, NULL), 0);
}

static void fs_close(const struct page_fs *f)
{
	close(f->cached);
	close(f->direct);
	close(f->mount);
	kill(f->server, SIGKILL);
	assert_int_equal(waitpid(f->server, NULL, 0), f->server);
	munmap(f->served, PAGE);
	no_prober = 0;
}

/* False: this process may not, or this kernel does not map such files. */
static bool fs_begin(struct page_fs *f)
{
	int fs = fsopen("fuse", FSOPEN_CLOEXEC), dev = open("/dev/fuse", O_RDWR | O_CLOEXEC), r;
	const pid_t self = getpid();
	char number[16];

	*f = (struct page_fs){ .mount = -1 };
	snprintf(number, sizeof(number), "%d", dev);
	r = fs < 0 || dev < 0 || fsconfig(fs, FSCONFIG_SET_STRING, "fd", number, 0) ||
	    fsconfig(fs, FSCONFIG_SET_STRING, "rootmode", "40755", 0) ||
	    fsconfig(fs, FSCONFIG_SET_STRING, "user_id", "0", 0) ||
	    fsconfig(fs, FSCONFIG_SET_STRING, "group_id", "0", 0) || fsconfig(fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0);
	if (!r)
		f->mount = fsmount(fs, FSMOUNT_CLOEXEC, 0);
	if (fs >= 0)
		close(fs);
	if (f->mount >= 0) {
		f->served = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
		assert_ptr_not_equal(f->served, MAP_FAILED);
		f->server = no_prober = fork();
		if (!f->server)
			fs_serve(dev, self, f->served);
		assert_true(f->server > 0);
	}
	if (dev >= 0)
		close(dev);
	if (f->mount < 0)
		return false;
	f->cached = openat(f->mount, "page", O_RDONLY | O_CLOEXEC);
	f->direct = openat(f->mount, "page", O_RDONLY | O_CLOEXEC);
	assert_true(f->cached >= 0 && f->direct >= 0);
	assert_int_equal(pthread_create(&f->reader, NULL, fs_read, f), 0);
	while (!f->served->read)
		usleep(1000);
	if (f->served->maps)
		return true;
	fs_end(f);
	fs_close(f);
	return false;
}

/* The workers of @e for trials that were left behind, asleep. */
static unsigned stuck_of(struct nnb__errands *e)
{
	unsigned left = 0, stuck = nnb__errands_stuck(e, &left);

	assert_true(left >= stuck);
	return stuck;
}

/* A trial of @e does not end: @left of its workers were left behind before. */
static void try_and_leave(struct nnb__errands *e, int fd, unsigned left)
{
	const struct nnb__errand_wait wait = until_asleep();
	uint64_t blocked = 0;

	assert_int_equal(stuck_of(e), left);
	assert_int_equal(nnb__errand_try(e, fd, &wait, &blocked), -ECANCELED);
	assert_true(blocked > 0);
	assert_int_equal(stuck_of(e), left + 1);
}

static void await_none_stuck(struct nnb__errands *e)
{
	uint64_t end = nnb__now() + PATIENCE_MS * MS;

	while (stuck_of(e)) {
		assert_true(nnb__now() < end);
		usleep(1000);
	}
}

/* Its worker has slept since the trial began, however late that is asked. */
static void a_trial_is_given_up(void **state)
{
	const struct nnb__errand_wait none = { 0 };
	struct nnb__errand_wait wait = until_asleep();
	struct nnb__errands *e = nnb__errands_of(1);
	uint64_t began = nnb__now(), blocked = 0;
	struct page_fs fs;
	int trial;

	(void)state;
	if (!fs_begin(&fs)) {
		nnb__errands_unref(e);
		skip();
	}
	trial = nnb__errand_try_begin(e, fs.direct);
	assert_true(trial >= 0);
	while (wait.goes_on())
		usleep(1000);
	usleep(100 * 1000);
	assert_false(nnb__errand_try_has_ended(e, trial));
	assert_int_equal(nnb__errand_try_end(e, trial, &none, &blocked), -ETIMEDOUT);
	assert_true(blocked >= 100 * MS && blocked <= nnb__now() - began);
	fs_end(&fs);
	await_none_stuck(e);
	nnb__errands_unref(e);
	await_workers(0);
	fs_close(&fs);
}

/*
 * Apps whose trials do not end leave two workers behind each, and take all that there may be (half of WORKERS), but for
 * one of each app that is guaranteed one: the others are tried nevertheless.
 */
static void some_apps_are_always_tried(void **state)
{
	struct nnb__errands *e[GUARANTEED + 2];
	int fd = file_new();
	struct page_fs fs;
	uint64_t blocked;

	(void)state;
	if (!fs_begin(&fs)) {
		close(fd);
		skip();
	}
	for (unsigned i = 0; i < GUARANTEED + 2; i++)
		e[i] = nnb__errands_of(20 + i);
	for (unsigned i = 0; i < GUARANTEED - 1; i++)
		for (unsigned left = 0; left < NNB__ERRAND_TRIERS; left++)
			try_and_leave(e[i], fs.direct, left);
	try_and_leave(e[GUARANTEED], fs.direct, 0); /* the last one of all apps */
	assert_int_equal(nnb__errand_try(e[0], fd, &brief, &blocked), -EBUSY);
	assert_int_equal(nnb__errand_try(e[GUARANTEED], fd, &brief, &blocked), -EBUSY); /* its own fault */
	assert_int_equal(nnb__errand_try(e[GUARANTEED + 1], fd, &brief, &blocked), -ETIMEDOUT);
	assert_int_equal(blocked, 0);
	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(nnb__errand_try(e[GUARANTEED - 1], fd, &ordinary, &blocked), 0);
	try_and_leave(e[GUARANTEED - 1], fs.direct, 0);
	assert_int_equal(nnb__errand_try(e[GUARANTEED - 1], fd, &brief, &blocked), -EBUSY);

	fs_end(&fs);
	for (unsigned i = 0; i < GUARANTEED + 2; i++)
		await_none_stuck(e[i]);
	for (unsigned i = 0; i < GUARANTEED + 2; i++)
		assert_int_equal(nnb__errand_try(e[i], fd, &ordinary, &blocked), 0);
	for (unsigned i = 0; i < GUARANTEED + 2; i++)
		nnb__errands_unref(e[i]);
	await_workers(0);
	fs_close(&fs);
	close(fd);
}

/* The same with workers that are at work, whose trials were not ended: also where no file keeps a trial. */
static void each_of_the_first_apps_has_a_place_for_a_trial(void **state)
{
	enum { LAST = GUARANTEED - 1, OTHERS = WORKERS / 2 - LAST };
	struct nnb__errands *e[GUARANTEED + OTHERS + 1];
	int fd = file_new(), trials[GUARANTEED + OTHERS][NNB__ERRAND_TRIERS];
	const struct nnb__errand_wait *wait = &ordinary;
	uint64_t blocked;

	(void)state;
	for (unsigned i = 0; i < N_OF(e); i++)
		e[i] = nnb__errands_of(30 + i);
	for (unsigned i = 0; i < LAST; i++)
		for (unsigned k = 0; k < NNB__ERRAND_TRIERS; k++)
			assert_true((trials[i][k] = nnb__errand_try_begin(e[i], fd)) >= 0);
	for (unsigned i = GUARANTEED; i < GUARANTEED + OTHERS; i++)
		assert_true((trials[i][0] = nnb__errand_try_begin(e[i], fd)) >= 0);
	assert_int_equal(nnb__errand_try_begin(e[GUARANTEED], fd), -ETIMEDOUT);
	assert_int_equal(nnb__errand_try_begin(e[GUARANTEED + OTHERS], fd), -ETIMEDOUT);
	assert_true((trials[LAST][0] = nnb__errand_try_begin(e[LAST], fd)) >= 0);
	assert_int_equal(nnb__errand_try_begin(e[LAST], fd), -ETIMEDOUT);

	for (unsigned i = 0; i < LAST; i++)
		for (unsigned k = 0; k < NNB__ERRAND_TRIERS; k++)
			assert_int_equal(nnb__errand_try_end(e[i], trials[i][k], wait, &blocked), 0);
	for (unsigned i = LAST; i < GUARANTEED + OTHERS; i++)
		assert_int_equal(nnb__errand_try_end(e[i], trials[i][0], wait, &blocked), 0);
	for (unsigned i = 0; i < N_OF(e); i++)
		assert_int_equal(nnb__errand_try(e[i], fd, wait, &blocked), 0);
	for (unsigned i = 0; i < N_OF(e); i++)
		nnb__errands_unref(e[i]);
	await_workers(0);
	close(fd);
}

/* The prober takes no message now: that is no fault of an app that has left one worker for trials behind. */
static void a_prober_that_is_late_is_no_fault_of_an_app(void **state)
{
	struct nnb__errands *e = nnb__errands_of(1);
	int fd = file_new(), r = 0, trial;
	struct page_fs fs;
	uint64_t blocked;

	(void)state;
	if (!fs_begin(&fs)) {
		nnb__errands_unref(e);
		close(fd);
		skip();
	}
	try_and_leave(e, fs.direct, 0);
	kill(prober(), SIGSTOP);
	while (!r)
		r = nnb__prober_keep(prober_sock, fd);
	assert_int_equal(r, -EAGAIN);
	trial = nnb__errand_try_begin(e, fd);
	kill(prober(), SIGCONT);
	assert_int_equal(trial, -ETIMEDOUT);
	assert_int_equal(nnb__errand_try(e, fd, &ordinary, &blocked), 0);
	fs_end(&fs);
	await_none_stuck(e);
	nnb__errands_unref(e);
	await_workers(0);
	fs_close(&fs);
	close(fd);
}

struct many {
	struct nnb__errands *errands;
	unsigned index;
};

static void *write_and_read(void *arg)
{
	const struct many *m = arg;
	unsigned char out[512], in[512];
	int fd = file_new();

	for (unsigned i = 0; i < 100; i++) {
		memset(out, (int)(i * 16 + m->index), sizeof(out));
		assert_int_equal(nnb__errand_write(m->errands, fd, i, out, sizeof(out), &ordinary), sizeof(out));
		assert_int_equal(nnb__errand_read(m->errands, fd, i, in, sizeof(in), &ordinary), sizeof(in));
		assert_memory_equal(in, out, sizeof(in));
	}
	close(fd);
	return NULL;
}

/* More threads than there may be workers share these: of one app, or @of_many. */
static void threads_share_workers(bool of_many, int most)
{
	struct many each[2 * NNB__ERRAND_WORKERS];
	pthread_t threads[2 * NNB__ERRAND_WORKERS];
	pid_t found[WORKERS_FOUND];

	for (unsigned i = 0; i < 2 * NNB__ERRAND_WORKERS; i++) {
		each[i] = (struct many){ nnb__errands_of(of_many ? i : 1), i };
		assert_int_equal(pthread_create(&threads[i], NULL, write_and_read, &each[i]), 0);
	}
	for (unsigned i = 0; i < 2 * NNB__ERRAND_WORKERS; i++)
		assert_int_equal(pthread_join(threads[i], NULL), 0);
	assert_true(workers(found) <= most);
	for (unsigned i = 0; i < 2 * NNB__ERRAND_WORKERS; i++)
		nnb__errands_unref(each[i].errands);
	await_workers(0);
}

static void many_threads_have_errands(void **state)
{
	(void)state;
	threads_share_workers(false, NNB__ERRAND_WORKERS);
}

static void many_apps_have_errands(void **state)
{
	(void)state;
	threads_share_workers(true, WORKERS);
}

/* ---- files of clients ---- */

/* Send a byte with these files on @sock. */
static void files_send(int sock, const int *fds, unsigned n)
{
	struct iovec part = { "x", 1 };
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(4 * sizeof(int))];
	} control = { .head = { CMSG_LEN(n * sizeof(int)), SOL_SOCKET, SCM_RIGHTS } };
	struct msghdr m = { .msg_iov = &part,
		            .msg_iovlen = 1,
		            .msg_control = &control,
		            .msg_controllen = CMSG_SPACE(n * sizeof(int)) };

	memcpy(CMSG_DATA(&control.head), fds, n * sizeof(int));
	assert_int_equal(sendmsg(sock, &m, 0), 1);
}

/* A pair of sockets, of which a porter of @e holds the second. */
static void pair_hold(struct nnb__errands *e, int ret[2])
{
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ret), 0);
	assert_int_equal(nnb__errand_hold(e, ret[1], &ordinary), 0);
}

/* Close a pair of sockets, the last one of app @e, and wait for the end of its workers. */
static void app_leave(struct nnb__errands *e, const int ends[2])
{
	close(ends[0]);
	close(ends[1]);
	nnb__errands_unref(e);
	await_workers(0);
}

/* A porter passes a file in memory and an eventfd on, and no pipe; it reports that more files came than were wanted. */
static void a_porter_receives_files(void **state)
{
	struct nnb__errands *e = nnb__errands_of(1);
	int ends[2], ways[2], got[4];
	char byte = 0;
	struct nnb__delivery d = { .parts = { { &byte, 1 } }, .fds = got, .n_fds = 3 };
	struct stat sent, came;

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
	assert_int_equal(pipe2(ways, O_CLOEXEC), 0);
	assert_int_equal(nnb__errand_hold(e, ends[1], &ordinary), 0);
	assert_int_equal(nnb__errand_receive(e, ends[1], &ordinary, &d), -EAGAIN);
	for (uint32_t most = 3; most >= 2; most--) {
		const int fds[] = { file_new(), eventfd(0, EFD_CLOEXEC), ways[0] };

		files_send(ends[0], fds, 3);
		d.n_fds = most;
		assert_int_equal(nnb__errand_receive(e, ends[1], &ordinary, &d), 1);
		assert_int_equal(byte, 'x');
		assert_int_equal(d.n_fds, most);
		assert_int_equal(d.lost, most < 3);
		assert_true(!fstat(fds[0], &sent) && !fstat(got[0], &came));
		assert_true(sent.st_ino == came.st_ino && nnb__is_eventfd(got[1]));
		assert_true(most < 3 || (!fstat(got[2], &came) && !S_ISFIFO(came.st_mode)));
		for (uint32_t i = 0; i < most; i++)
			nnb__close(got[i]);
		close(fds[0]);
		close(fds[1]);
	}
	for (int i = 0; i < 2; i++) {
		close(ends[i]);
		close(ways[i]);
	}
	nnb__errands_unref(e);
	await_workers(0);
}

/* Stop the only worker that is not stopped, of @n_before + 1, when it waits. Returns its pid. */
static pid_t porter_stop(int n_before)
{
	pid_t found[WORKERS_FOUND], porter = 0;

	await_workers(n_before + 1); /* porters of before may still be ending */
	assert_int_equal(workers(found), n_before + 1);
	for (int i = 0; i <= n_before; i++)
		porter = process_state(found[i], NULL) == 'T' ? porter : found[i];
	while (process_state(porter, NULL) != 'S')
		usleep(1000);
	kill(porter, SIGSTOP);
	while (process_state(porter, NULL) != 'T')
		usleep(1000);
	return porter;
}

enum where { IN_TMPFS, IN_MEMFD, IN_SMALL_MEMFD, BEYOND_ITS_SIZE, N_WHERES };

/* A file in memory that is locked until its last duplicate is closed. *ret_other: another file of it. */
static int locked_file(enum where where, int *ret_other)
{
	int file = where == IN_TMPFS ? open("/dev/shm", O_RDWR | O_TMPFILE | O_CLOEXEC, 0600) : file_new();
	char path[64];

	if (where == BEYOND_ITS_SIZE) /* its pages are more than its size tells */
		assert_int_equal(fallocate(file, FALLOC_FL_KEEP_SIZE, 0, 1 << 20), 0);
	if (where >= IN_SMALL_MEMFD)
		assert_int_equal(fcntl(file, F_ADD_SEALS, F_SEAL_GROW), 0);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", file);
	*ret_other = open(path, O_RDWR | O_CLOEXEC);
	assert_true(file >= 0 && *ret_other >= 0 && !flock(file, LOCK_EX));
	return file;
}

static void await_unlocked(int other)
{
	for (uint64_t end = nnb__now() + PATIENCE_MS * MS; flock(other, LOCK_EX | LOCK_NB); usleep(1000))
		assert_true(nnb__now() < end);
}

/* Have the porter of @e pass @file, which is closed. Returns what came. */
static int file_pass(struct nnb__errands *e, const int ends[2], int file)
{
	int got;
	char byte;
	struct nnb__delivery d = { .parts = { { &byte, 1 } }, .fds = &got, .n_fds = 1 };

	files_send(ends[0], &file, 1);
	close(file);
	assert_int_equal(nnb__errand_receive(e, ends[1], &ordinary, &d), 1);
	return got;
}

/*
 * A porter keeps a file that it has passed until all duplicates here are closed, so that the porter closes it last:
 * small ones that cannot grow until enough of them are closed. When the app is gone, it stays for that.
 */
static void a_porter_keeps_files(void **state)
{
	(void)state;
	for (int round = 0; round < 2 * N_WHERES; round++) {
		const enum where where = (enum where)(round / 2);
		const bool app_goes = round % 2;
		struct nnb__errands *e = nnb__errands_of(1);
		int ends[2], got, own, other, file = locked_file(where, &other);
		pid_t porter;

		pair_hold(e, ends);
		got = file_pass(e, ends, file);
		own = nnb__dup(got);
		nnb__close(got);
		porter = porter_stop(0);
		if (app_goes)
			nnb__errands_unref(e);
		nnb__close(own);
		assert_int_equal(flock(other, LOCK_EX | LOCK_NB), -1);
		kill(porter, SIGCONT);
		for (int i = 1; !app_goes && where == IN_SMALL_MEMFD && i < NNB__TOLD_TOGETHER; i++) {
			int more;

			assert_int_equal(flock(other, LOCK_EX | LOCK_NB), -1);
			file = locked_file(where, &more);
			close(more);
			nnb__close(file_pass(e, ends, file));
		}
		await_unlocked(other);
		close(other);
		for (int i = 0; i < 2; i++)
			close(ends[i]);
		if (!app_goes)
			nnb__errands_unref(e);
		await_workers(0);
	}
}

/* What a porter has received, and has no room here, is an error. */
static void a_message_is_larger_than_the_room(void **state)
{
	struct nnb__errands *e = nnb__errands_of(1);
	const int file = file_new();
	char room[2] = { 0, 'y' };
	struct nnb__delivery d = { .parts = { { room, 0 } }, .n_fds = 1 };
	int ends[2], got;

	(void)state;
	pair_hold(e, ends);
	files_send(ends[0], &file, 1);
	d.fds = &got;
	assert_int_equal(nnb__errand_receive(e, ends[1], &ordinary, &d), -EMSGSIZE);
	assert_int_equal(d.n_fds, 1);
	nnb__close(got);
	d.parts[0].iov_len = 1;
	files_send(ends[0], &file, 1);
	assert_int_equal(nnb__errand_receive(e, ends[1], &ordinary, &d), 1);
	assert_true(d.n_fds == 1 && room[0] == 'x' && room[1] == 'y');
	nnb__close(got);
	close(file);
	app_leave(e, ends);
}

/* An offer that has no connection, and whose listener stays open, keeps no porter. */
static void no_one_connects_to_an_offer(void **state)
{
	struct nnb__errands *e = nnb__errands_of(1);
	const int offers[] = { socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0),
		               socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0) };
	struct sockaddr any = { .sa_family = AF_UNIX };
	int ends[2], got[2];
	char byte;
	struct nnb__delivery d = { .parts = { { &byte, 1 } }, .fds = got, .n_fds = 2 };

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(bind(offers[i], &any, sizeof(sa_family_t)), 0);
		assert_int_equal(listen(offers[i], 1), 0);
	}
	assert_int_equal(nnb__errand_hold(e, ends[1], &ordinary), 0);
	files_send(ends[0], offers, 2);
	assert_int_equal(nnb__errand_receive(e, ends[1], &ordinary, &d), 1);
	assert_int_equal(d.n_fds, 2);
	for (int i = 0; i < 2; i++) {
		assert_true(!nnb__is_offer(got[i]));
		nnb__close(got[i]);
		close(offers[i]);
	}
	app_leave(e, ends);
}

enum { LONG = 70000 }; /* bytes of a packet that is longer than any that the service receives */

/* A porter empties a socket, whatever is in its queue, and does not hold it any longer. */
static void a_porter_empties_a_socket(void **state)
{
	struct nnb__errands *e = nnb__errands_of(1);
	struct pollfd of_file = { 0 };
	static char packet[LONG];
	int ends[2], ways[2];
	char byte;

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
	assert_int_equal(pipe2(ways, O_CLOEXEC), 0);
	assert_int_equal(nnb__errand_hold(e, ends[1], &ordinary), 0);
	for (int i = 0; i < 2; i++)
		assert_int_equal(send(ends[0], packet, i ? 0 : LONG, MSG_DONTWAIT), i ? 0 : LONG);
	files_send(ends[0], &ways[0], 1);
	close(ways[0]);
	assert_int_equal(nnb__errand_empty(e, ends[1], &ordinary), 0);
	of_file.fd = ways[1];
	assert_true(poll(&of_file, 1, 0) == 1 && of_file.revents & POLLERR); /* no one has the file */
	assert_int_equal(recv(ends[1], &byte, 1, MSG_DONTWAIT), 0);
	assert_true(send(ends[0], packet, 1, MSG_NOSIGNAL) < 0 && errno == EPIPE);
	close(ends[0]);
	close(ends[1]);
	close(ways[1]);
	nnb__errands_unref(e);
	await_workers(0);
}

/* Have a porter of @e hold @sock, and stop it: it is left behind by the next message. Returns its pid. */
static pid_t porter_leave(struct nnb__errands *e, int sock, int n_before)
{
	const struct nnb__errand_wait none = { 0 };
	int file;
	struct nnb__delivery d = { .fds = &file, .n_fds = 1 };
	pid_t porter;

	assert_int_equal(nnb__errand_hold(e, sock, &ordinary), 0);
	porter = porter_stop(n_before);
	assert_int_equal(nnb__errand_receive(e, sock, &none, &d), -ETIMEDOUT);
	return porter;
}

/* A socket that @e's porter holds, that is not shut down, and that has a message with @file, or without one (-1). */
static int socket_leave(struct nnb__errands *e, int file)
{
	int ends[2];

	pair_hold(e, ends);
	if (file >= 0)
		files_send(ends[0], &file, 1);
	else
		assert_int_equal(send(ends[0], "x", 1, 0), 1);
	close(ends[1]);
	return ends[0];
}

/* However often an app comes and goes: what it leaves in its sockets is closed, and its porters end. */
static void porters_end_with_their_app(void **state)
{
	enum { ROUNDS = 20 };
	int ways[2], left[ROUNDS];

	(void)state;
	assert_int_equal(pipe2(ways, O_CLOEXEC), 0);
	for (int i = 0; i < ROUNDS; i++) {
		struct nnb__errands *e = nnb__errands_of(1); /* comes back before its porters have ended */

		left[i] = socket_leave(e, i % 2 ? -1 : ways[0]);
		nnb__errands_unref(e);
	}
	close(ways[0]);
	await_workers(0);
	assert_int_equal(poll(&(struct pollfd){ .fd = ways[1] }, 1, 0), 1); /* no one has the file */
	close(ways[1]);
	for (int i = 0; i < ROUNDS; i++)
		close(left[i]);
}

static pid_t going[NNB__ERRAND_PORTERS];

static bool porters_go_on(void)
{
	for (int i = 0; i < NNB__ERRAND_PORTERS; i++)
		kill(going[i], SIGCONT);
	return true;
}

static uint64_t go_on_at;

static bool porters_go_on_late(void)
{
	return nnb__now() < go_on_at || porters_go_on();
}

/*
 * Those that do not end when their app is gone count against it when it comes back: at the end of the wait for another
 * one, because until then they may only have had no cpu.
 */
static void porters_that_do_not_end_count(void **state)
{
	static const struct {
		struct nnb__errand_wait wait;
		uint64_t stopped_ns;
		int is;
	} rounds[] = {
		{ { .limit_ns = 2000 * MS }, 0, -EBUSY },
		{ { .limit_ns = PATIENCE_MS * MS, .goes_on = porters_go_on }, 0, 0 },
		{ { .limit_ns = PATIENCE_MS * MS, .goes_on = porters_go_on_late }, 2000 * MS, 0 },
	};
	struct nnb__errands *e;
	int ends[2], left;

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
	for (size_t round = 0; round < N_OF(rounds); round++) {
		for (int i = 0; i < NNB__ERRAND_PORTERS; i++) {
			e = nnb__errands_of(1);
			left = socket_leave(e, -1);
			going[i] = porter_stop(i);
			nnb__errands_unref(e);
			close(left);
		}
		e = nnb__errands_of(1);
		go_on_at = nnb__now() + rounds[round].stopped_ns;
		assert_int_equal(nnb__errand_hold(e, ends[1], &rounds[round].wait), rounds[round].is);
		porters_go_on();
		nnb__errands_unref(e);
		await_workers(0);
	}
	for (int i = 0; i < 2; i++)
		close(ends[i]);
}

/* Wait until @porter has no socket to this process any more, its descriptor 3. */
static void await_lingering(pid_t porter)
{
	uint64_t end = nnb__now() + PATIENCE_MS * MS;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/fd/3", porter);
	for (struct stat st; !lstat(path, &st); usleep(1000))
		assert_true(nnb__now() < end);
	assert_int_not_equal(parent_of(porter), 0);
}

/* One that was left behind and comes back: when its app is still there, and when it is gone. */
static void a_porter_that_was_left_behind_ends(void **state)
{
	(void)state;
	for (int gone_first = 0; gone_first < 2; gone_first++) {
		struct nnb__errands *e = nnb__errands_of(1);
		int ends[2], left;
		pid_t porter;

		left = socket_leave(e, -1);
		assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
		porter = porter_leave(e, ends[1], 0);
		if (gone_first)
			nnb__errands_unref(e);
		kill(porter, SIGCONT);
		if (!gone_first) {
			await_lingering(porter);
			assert_int_equal(send(left, "x", 1, MSG_NOSIGNAL), 1); /* it may be in use */
			nnb__errands_unref(e);
		}
		await_workers(0);
		assert_true(send(left, "x", 1, MSG_NOSIGNAL) < 0 && errno == EPIPE);
		for (int i = 0; i < 2; i++)
			close(ends[i]);
		close(left);
	}
}

/* The worker that is none of @n others. */
static pid_t worker_beside(const pid_t *others, int n)
{
	pid_t found[WORKERS_FOUND], other = 0;
	int all = workers(found);

	assert_int_equal(all, n + 1);
	for (int i = 0; i < all; i++) {
		bool is_known = false;

		for (int k = 0; k < n; k++)
			is_known |= others[k] == found[i];
		other = is_known ? other : found[i];
	}
	return other;
}

/*
 * Have a porter of @e hold a socket, leave it behind, and let it come back, beside @n others. *ret_left: the other end
 * of the socket. Returns the porter.
 */
static pid_t porter_come_back(struct nnb__errands *e, const pid_t *others, int n, int *ret_left)
{
	const struct nnb__errand_wait none = { 0 };
	int ends[2], file;
	struct nnb__delivery d = { .fds = &file, .n_fds = 1 };
	pid_t porter;

	pair_hold(e, ends);
	porter = worker_beside(others, n);
	while (process_state(porter, NULL) != 'S')
		usleep(1000);
	kill(porter, SIGSTOP);
	while (process_state(porter, NULL) != 'T')
		usleep(1000);
	assert_int_equal(nnb__errand_receive(e, ends[1], &none, &d), -ETIMEDOUT);
	kill(porter, SIGCONT);
	await_lingering(porter);
	close(ends[1]);
	*ret_left = ends[0];
	return porter;
}

/* A porter that comes back counts until it ends, as a former one of its app, and against the limit of all apps. */
static void porters_that_come_back_count(void **state)
{
	struct nnb__errands *apps[GUARANTEED + PORTERS], *app = NULL;
	pid_t porters[PORTERS + 1];
	int left[N_OF(porters)], ends[2], n = 0;

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
	for (int i = 0; i < (int)N_OF(apps); i++)
		apps[i] = nnb__errands_of(1 + i);
	for (; n < NNB__ERRAND_PORTERS_ALL; n++)
		porters[n] = porter_come_back(apps[0], porters, n, &left[n]);
	assert_int_equal(nnb__errand_hold(apps[0], ends[1], &brief), -EAGAIN);
	for (; n < PORTERS; n++)
		porters[n] = porter_come_back(apps[GUARANTEED + n], porters, n, &left[n]);
	assert_int_equal(nnb__errand_hold(apps[GUARANTEED], ends[1], &brief), -EAGAIN);

	/* that of an app that is guaranteed one is still this one */
	app = apps[1];
	porters[n] = porter_come_back(app, porters, n, &left[n]);
	assert_int_equal(nnb__errand_hold(app, ends[1], &brief), -EAGAIN);
	close(left[0]); /* the porter that has the other end has nothing left */
	await_workers(n);
	assert_int_equal(nnb__errand_hold(app, ends[1], &ordinary), 0);
	for (int i = 1; i <= n; i++)
		close(left[i]);
	await_workers(1);
	assert_int_equal(nnb__errand_hold(apps[0], ends[1], &ordinary), 0);
	for (int i = 0; i < 2; i++)
		close(ends[i]);
	for (int i = 0; i < (int)N_OF(apps); i++)
		nnb__errands_unref(apps[i]);
	await_workers(0);
}

static int descriptors(void)
{
	DIR *all = opendir("/proc/self/fd");
	int n = 0;

	assert_non_null(all);
	while (readdir(all))
		n++;
	closedir(all);
	return n;
}

/* One that has not even begun when its app is gone: nothing of it stays here, even if no other app comes. */
static void a_porter_that_is_given_up_before_it_begins_leaves_nothing(void **state)
{
	struct nnb__errands *e = nnb__errands_of(1); /* forgets what earlier apps have left here */
	int before, ends[2];

	(void)state;
	before = descriptors();
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
	kill(prober(), SIGSTOP);
	assert_int_equal(nnb__errand_hold(e, ends[1], &brief), -ETIMEDOUT);
	nnb__errands_unref(e);
	kill(prober(), SIGCONT);
	for (int i = 0; i < 2; i++)
		close(ends[i]);
	for (uint64_t end = nnb__now() + PATIENCE_MS * MS; descriptors() > before; usleep(1000))
		assert_true(nnb__now() < end);
	await_workers(0);
}

/* Have @n apps from @key on, which are not guaranteed any, a porter each. */
static void porters_start(struct nnb__errands **e, int n, unsigned key, int sock)
{
	for (int i = 0; i < n; i++) {
		e[i] = nnb__errands_of(key + (unsigned)i);
		assert_int_equal(nnb__errand_hold(e[i], sock, &ordinary), 0);
	}
}

static atomic_bool waits;

static bool wait_shows(void)
{
	waits = true;
	return true;
}

static void *hold_long(void *arg)
{
	const struct nnb__errand_wait wait = { .limit_ns = PATIENCE_MS * MS, .goes_on = wait_shows };
	int ends[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
	assert_int_equal(nnb__errand_hold(arg, ends[1], &wait), 0);
	for (int i = 0; i < 2; i++)
		close(ends[i]);
	return NULL;
}

/*
 * An app with a porter gets no other one in the last quarter of the places; with one that is only at work, none in the
 * last half. The others have no use for what it has.
 */
static void the_last_places_are_for_apps_without_a_porter(void **state)
{
	enum { QUARTER = PORTERS / 4, SOME = PORTERS - 1 };
	struct nnb__errands *first[GUARANTEED], *others[SOME], *app;
	pthread_t thread;
	int ends[2], n = SOME;
	pid_t porter;

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
	for (unsigned i = 0; i < GUARANTEED; i++)
		first[i] = nnb__errands_of(1 + i);
	porters_start(others, n, 10, ends[1]);
	app = nnb__errands_of(60);
	porter = porter_leave(app, ends[1], n);
	for (int vacant = 0; vacant < QUARTER; vacant++) {
		assert_int_equal(nnb__errand_hold(app, ends[1], &brief), -EAGAIN);
		nnb__errands_unref(others[--n]);
		await_workers(n + 1);
	}
	assert_int_equal(nnb__errand_hold(app, ends[1], &ordinary), 0);
	kill(porter, SIGCONT);
	nnb__errands_unref(app);
	await_workers(n);

	app = nnb__errands_of(60);
	assert_int_equal(nnb__errand_hold(app, ends[1], &ordinary), 0);
	porter = porter_stop(n);
	waits = false;
	assert_int_equal(pthread_create(&thread, NULL, hold_long, app), 0);
	while (!waits)
		usleep(1000);
	for (int vacant = QUARTER; vacant < 2 * QUARTER; vacant++) {
		assert_int_equal(nnb__errand_hold(app, ends[1], &brief), -EAGAIN);
		nnb__errands_unref(others[--n]);
		await_workers(n + 1);
	}
	assert_int_equal(nnb__errand_hold(app, ends[1], &ordinary), 0);
	kill(porter, SIGCONT);
	assert_int_equal(pthread_join(thread, NULL), 0);
	while (n)
		nnb__errands_unref(others[--n]);
	nnb__errands_unref(app);
	for (int i = 0; i < GUARANTEED; i++)
		nnb__errands_unref(first[i]);
	await_workers(0);
	for (int i = 0; i < 2; i++)
		close(ends[i]);
}

/*
 * Apps that come and go in turn, each of which is guaranteed a porter while it is there: one that does not end, where
 * all places are taken, is the one that is guaranteed.
 */
static void porters_that_do_not_end_are_no_more_than_are_guaranteed(void **state)
{
	struct nnb__errands *others[PORTERS], *first[GUARANTEED], *app;
	pid_t stuck[GUARANTEED];
	int ends[2];

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
	for (unsigned i = 0; i < GUARANTEED; i++)
		first[i] = nnb__errands_of(1 + i);
	porters_start(others, PORTERS, 10, ends[1]);
	for (int i = 0; i < GUARANTEED; i++) {
		nnb__errands_unref(first[i]);
		app = nnb__errands_of(60 + (unsigned)i);
		assert_int_equal(nnb__errand_hold(app, ends[1], &ordinary), 0);
		stuck[i] = porter_stop(PORTERS + i);
		nnb__errands_unref(app);
	}
	app = nnb__errands_of(70);
	assert_int_equal(nnb__errand_hold(app, ends[1], &brief), -EAGAIN);
	nnb__errands_unref(app);
	for (int i = 0; i < GUARANTEED; i++)
		kill(stuck[i], SIGCONT);
	await_workers(PORTERS);
	app = nnb__errands_of(70);
	assert_int_equal(nnb__errand_hold(app, ends[1], &ordinary), 0);
	nnb__errands_unref(app);
	for (int i = 0; i < PORTERS; i++)
		nnb__errands_unref(others[i]);
	await_workers(0);
	for (int i = 0; i < 2; i++)
		close(ends[i]);
}

/*
 * A porter answers after it was left behind: no file stays in the queue of its socket, where this process would be the
 * last one to close it.
 */
static void a_porter_answers_late(void **state)
{
	struct nnb__errands *e = nnb__errands_of(1);
	int ends[2], other, file = locked_file(true, &other);
	pid_t porter;

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
	files_send(ends[0], &file, 1);
	close(file);
	porter = porter_leave(e, ends[1], 0);
	assert_int_equal(flock(other, LOCK_EX | LOCK_NB), -1);
	kill(porter, SIGCONT);
	await_unlocked(other);
	close(other);
	app_leave(e, ends);
}

static pid_t stopped;

/* The caller does not want the answer any more, when it has come. */
static bool goes_on_until_it_answers(void)
{
	kill(stopped, SIGCONT);
	for (uint64_t end = nnb__now() + PATIENCE_MS * MS; process_state(stopped, NULL) != 'S'; usleep(1000))
		assert_true(nnb__now() < end);
	return false;
}

/* An answer that comes between the end of the wait and that of the socket is taken, and its porter ends. */
static void a_porter_answers_in_the_last_moment(void **state)
{
	const struct nnb__errand_wait wait = { .limit_ns = 20000 * MS, .goes_on = goes_on_until_it_answers };
	struct nnb__errands *e = nnb__errands_of(1);
	const int file = file_new();
	pid_t found[WORKERS_FOUND];
	int ends[2], got;
	char byte;
	struct nnb__delivery d = { .parts = { { &byte, 1 } }, .fds = &got, .n_fds = 1 };

	(void)state;
	pair_hold(e, ends);
	assert_int_equal(workers(found), 1);
	stopped = found[0];
	kill(stopped, SIGSTOP);
	while (process_state(stopped, NULL) != 'T')
		usleep(1000);
	files_send(ends[0], &file, 1);
	assert_int_equal(nnb__errand_receive(e, ends[1], &wait, &d), 1);
	assert_int_equal(d.n_fds, 1);
	nnb__close(got);
	close(file);
	app_leave(e, ends);
}

/*
 * Apps whose porters are stuck take all that there may be, but one of each app that is guaranteed one. Each has two,
 * and one where no more than a quarter of the places is left.
 */
static void each_of_the_first_apps_has_a_porter(void **state)
{
	enum { LAST = GUARANTEED - 1, QUARTER = PORTERS / 4, TWICE = (PORTERS - QUARTER - LAST) / 2 };
	enum { OTHERS = TWICE + QUARTER, STUCK = LAST + PORTERS };
	struct nnb__errands *e[GUARANTEED + OTHERS + 1], *always;
	pid_t porters[STUCK];
	int ends[2], n = 0;

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
	for (unsigned i = 0; i < N_OF(e); i++)
		e[i] = nnb__errands_of(40 + i);
	for (unsigned i = 0; i < GUARANTEED + OTHERS; i++)
		for (unsigned k = 0; k < (i < GUARANTEED + TWICE ? 2 : 1) && i != LAST; k++, n++)
			porters[n] = porter_leave(e[i], ends[1], n);
	assert_int_equal(n, STUCK);
	assert_int_equal(nnb__errand_hold(e[0], ends[1], &brief), -EBUSY); /* its own fault */
	assert_int_equal(nnb__errand_hold(e[GUARANTEED + OTHERS], ends[1], &brief), -EBUSY);
	for (int i = 0; i < 2; i++)
		assert_int_equal(nnb__errand_hold(e[LAST], ends[1], &ordinary), 0);
	always = nnb__errands_of(ALWAYS); /* after those that are guaranteed one because they came first */
	assert_int_equal(nnb__errand_hold(always, ends[1], &ordinary), 0);
	nnb__errands_unref(always);

	for (int i = 0; i < STUCK; i++)
		kill(porters[i], SIGCONT);
	close(ends[0]);
	close(ends[1]);
	await_workers(1);
	for (unsigned i = 0; i < N_OF(e); i++)
		nnb__errands_unref(e[i]);
	await_workers(0);
}

/* ---- the end ---- */

/* Without a prober, errands fail, and nothing waits. The last test. */
static void the_prober_dies(void **state)
{
	struct nnb__errands *e = nnb__errands_of(1), *other = nnb__errands_of(2);
	int fd = file_new();
	uint64_t began;

	(void)state;
	assert_int_equal(nnb__errand_truncate(e, fd, 1, &ordinary), 0);
	began = nnb__now();
	kill(prober(), SIGKILL);
	while (nnb__errand_truncate(e, fd, 1, &ordinary) != -EIO)
		assert_true(nnb__now() - began < PATIENCE_MS * MS);
	assert_int_equal(nnb__errand_truncate(other, fd, 1, &ordinary), -EIO);
	/* no zombie stays; the prober may be about to become one */
	while (!waitid(P_ALL, 0, &(siginfo_t){ 0 }, WEXITED | WNOHANG | WNOWAIT)) {
		assert_true(nnb__now() - began < PATIENCE_MS * MS);
		assert_int_equal(nnb__errand_truncate(e, fd, 1, &ordinary), -EIO);
		usleep(1000);
	}
	nnb__errands_unref(e);
	nnb__errands_unref(other);
	close(fd);
}

/* Wait until none of @pids is there, and reap those that have become children of this process. */
static bool all_end(const pid_t *pids, int n)
{
	for (int i = 0; i < n; i++)
		for (uint64_t end = nnb__now() + PATIENCE_MS * MS; !kill(pids[i], 0); usleep(1000)) {
			waitpid(pids[i], NULL, WNOHANG);
			if (nnb__now() >= end)
				return false;
		}
	return true;
}

/*
 * The process that has the prober is killed, and another process keeps its files open, as a thread that never ends
 * does: prober and worker end. Run before this process has a prober. 0: right.
 */
static int death_ends_all(void)
{
	int to[2], never_closed[2], sock;
	pid_t pids[2], child;
	bool ended;

	if (pipe2(to, O_CLOEXEC) || pipe2(never_closed, O_CLOEXEC))
		return 1;
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	child = fork();
	if (!child) {
		struct nnb__errands *e;
		pid_t found[WORKERS_FOUND];
		int fd = file_new();

		if (nnb__prober_start(&sock))
			_exit(1);
		nnb__errands_begin(sock, WORKERS);
		e = nnb__errands_of(1);
		if (nnb__errand_truncate(e, fd, 1, &ordinary) || workers(found) != 1)
			_exit(1);
		pids[0] = prober();
		pids[1] = found[0];
		if (!fork()) {
			close(never_closed[1]);
			(void)!read(never_closed[0], &fd, sizeof(fd)); /* until the test closes it */
			_exit(0);
		}
		(void)!write(to[1], pids, sizeof(pids));
		pause();
	}
	if (child < 0 || read(to[0], pids, sizeof(pids)) != sizeof(pids))
		return 2;
	kill(child, SIGKILL);
	ended = all_end(pids, 2);
	prctl(PR_SET_CHILD_SUBREAPER, 0);
	for (int i = 0; i < 2; i++) {
		close(to[i]);
		close(never_closed[i]);
	}
	while (waitpid(-1, NULL, 0) > 0)
		;
	return ended ? 0 : 3;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(calls_without_a_worker),
		cmocka_unit_test(calls_by_a_worker),
		cmocka_unit_test(a_worker_holds_no_file),
		cmocka_unit_test(an_idle_worker_dies),
		cmocka_unit_test(a_worker_dies_at_work),
		cmocka_unit_test(a_worker_does_not_answer),
		cmocka_unit_test(workers_are_left_behind),
		cmocka_unit_test(all_apps_have_a_limit),
		cmocka_unit_test(a_trial_is_given_up),
		cmocka_unit_test(some_apps_are_always_tried),
		cmocka_unit_test(each_of_the_first_apps_has_a_place_for_a_trial),
		cmocka_unit_test(a_prober_that_is_late_is_no_fault_of_an_app),
		cmocka_unit_test(many_threads_have_errands),
		cmocka_unit_test(many_apps_have_errands),
		cmocka_unit_test(a_porter_receives_files),
		cmocka_unit_test(a_porter_keeps_files),
		cmocka_unit_test(a_message_is_larger_than_the_room),
		cmocka_unit_test(no_one_connects_to_an_offer),
		cmocka_unit_test(a_porter_answers_late),
		cmocka_unit_test(a_porter_answers_in_the_last_moment),
		cmocka_unit_test(a_porter_empties_a_socket),
		cmocka_unit_test(porters_end_with_their_app),
		cmocka_unit_test(porters_that_do_not_end_count),
		cmocka_unit_test(a_porter_that_was_left_behind_ends),
		cmocka_unit_test(porters_that_come_back_count),
		cmocka_unit_test(a_porter_that_is_given_up_before_it_begins_leaves_nothing),
		cmocka_unit_test(the_last_places_are_for_apps_without_a_porter),
		cmocka_unit_test(porters_that_do_not_end_are_no_more_than_are_guaranteed),
		cmocka_unit_test(each_of_the_first_apps_has_a_porter),
		cmocka_unit_test(the_prober_dies),
	};
	int r = death_ends_all();

	if (r) {
		fprintf(stderr, "the death of a process leaves its prober or its worker: %d\n", r);
		return 1;
	}
	if (nnb__prober_start(&prober_sock))
		return 1;
	nnb__errands_begin(prober_sock, WORKERS);
	nnb__errands_guarantee(GUARANTEED, &(const uint32_t){ ALWAYS }, 1);
	return cmocka_run_group_tests_name("errands", tests, NULL, NULL);
}
