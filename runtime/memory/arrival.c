/*
 * arrival.c -- receives what a client sends with files, in a process that works for that app alone.
 *
 * TRUST     The files may be anything. What is asked about a file in a file system may wait for that file system, and
 *           so may closing it. What passes are files in memory, files of file systems that this kernel serves by
 *           itself, eventfds, dma-bufs, and sockets that no other process had before. To close one may wait if it is
 *           in an epoll that is busy, or in a mount tree that ends with it, and if it is closed for the last time
 *           (docs/security.md). The last close of a memfd frees its pages, of which the app's pool may be a few; and
 *           its attributes, of which no seal limits the number. So this process closes all of them last, but these
 *           sockets.
 * PROGRESS  No close sleeps for a peer, because a signal ends such a sleep (sleeps_limit): only a file system can keep
 *           this process. A socket that is held has been shut down once, by the service or by its client; then nothing
 *           more can be put into its queue. Once its queue is empty, too, no process that closes the socket waits. The
 *           worker looks at the socket every EMPTY_MS, until the service has had it emptied, or the app is gone and
 *           the worker empties it itself (errand.c). With SO_PASSCRED, the kernel adds credentials to each message,
 *           also to an empty one, and none to the end of a socket.
 */
#include "memory/arrival.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/kept.h"
#include "base/offer.h"
#include "base/sys.h"
#include "base/vector.h"

enum { EMPTY_MS = 50, SLEEP_US = 200, TOLD_AT_ONCE = 1024, SMALL = 64 << 10 };
#define MS UINT64_C(1000000)

/* ---- files ---- */

/*
 * File systems that this kernel serves by itself, from memory or from disks that it has. In another one, of FUSE or
 * NFS, say, also mapping and unmapping may wait for its server, with the lock held on the memory map of the whole
 * process; a stacked one (overlayfs) may lie over such a file.
 */
static const uint32_t of_kernel[] = { TMPFS_MAGIC,     RAMFS_MAGIC,       EXT4_SUPER_MAGIC,
	                              XFS_SUPER_MAGIC, BTRFS_SUPER_MAGIC, F2FS_SUPER_MAGIC };

static bool is_of_kernel(int fd)
{
	struct statfs fs;
	struct stat st;

	if (fstatfs(fd, &fs) < 0)
		return false;
	if ((uint32_t)fs.f_type == DMA_BUF_MAGIC)
		return true;
	for (unsigned i = 0; i < sizeof(of_kernel) / sizeof(of_kernel[0]); i++)
		if ((uint32_t)fs.f_type == of_kernel[i])
			return fstat(fd, &st) == 0 && S_ISREG(st.st_mode);
	return false;
}

/* Whether @fd, with these seals, has and can have few pages only. What is beyond its size was put there before. */
static bool is_small(int fd, int seals)
{
	struct stat st;

	return seals & F_SEAL_GROW && !fstat(fd, &st) && st.st_size <= SMALL && st.st_blocks <= SMALL / 512;
}

/* Put what the service gets for @fd into @ret. False: nothing can come in its place. */
static bool file_judge(int fd, struct nnb__arrival *ret)
{
	const int seals = fcntl(fd, F_GET_SEALS);
	const bool is_in_memory = seals >= 0, is_offer = !is_in_memory && nnb__is_offer(fd);
	int sock = is_offer ? nnb__offer_accept(fd) : -1;

	ret->is_small[ret->n] = is_in_memory && is_small(fd, seals);
	if (sock >= 0) {
		close(fd);
		ret->is_kept[ret->n] = false;
		ret->lines[ret->n_lines++] = ret->fds[ret->n++] = sock;
		return true;
	}
	if (is_in_memory || (!is_offer && (nnb__is_eventfd(fd) || is_of_kernel(fd)))) {
		ret->is_kept[ret->n] = true;
		ret->fds[ret->n++] = fd;
		return true;
	}
	ret->refused[ret->n_refused++] = fd;
	/* an epoll has no size, no seals and no bytes, cannot be mapped, and is no fence and no socket */
	sock = epoll_create1(EPOLL_CLOEXEC);
	ret->is_kept[ret->n] = false;
	if (sock >= 0)
		ret->fds[ret->n++] = sock;
	return sock >= 0;
}

static void sleep_ends(int signal)
{
	(void)signal;
}

/*
 * To close the last descriptor of a TCP connection with SO_LINGER sleeps until its peer has read all, and that peer may
 * be in the next message of the same queue. A signal ends that sleep; one that comes before it is followed by another.
 */
static void sleeps_limit(bool on)
{
	const struct sigaction ends = { .sa_handler = sleep_ends }; /* no SA_RESTART */
	const struct timeval patience = { 0, SLEEP_US }, none = { 0, 0 };
	const struct itimerval limit = { on ? patience : none, on ? patience : none };
	static bool is_ready;
	sigset_t own;

	if (!is_ready) {
		sigaction(SIGALRM, &ends, NULL);
		sigemptyset(&own);
		sigaddset(&own, SIGALRM);
		sigprocmask(SIG_UNBLOCK, &own, NULL);
		is_ready = true;
	}
	setitimer(ITIMER_REAL, &limit, NULL);
}

void nnb__files_close(const int *fds, uint32_t n)
{
	if (!n)
		return;
	sleeps_limit(true);
	for (uint32_t i = 0; i < n; i++)
		close(fds[i]);
	sleeps_limit(false);
}

void nnb__arrival_receive(int sock, uint32_t most, void *data, size_t room, struct nnb__arrival *ret)
{
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(sizeof(int) * NNB__ARRIVAL_FDS)];
	} control;
	struct iovec iov = { data, room };
	struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1 };
	int fds[NNB__ARRIVAL_FDS];
	uint32_t n = 0;

	ret->n = ret->n_lines = ret->n_refused = 0;
	ret->lost = false;
	if (most) {
		m.msg_control = &control;
		m.msg_controllen = CMSG_LEN(sizeof(int) * (most < NNB__ARRIVAL_FDS ? most : NNB__ARRIVAL_FDS));
	}
	sleeps_limit(true); /* the kernel closes files that there is no room for, and so does file_judge */
	do
		ret->bytes = recvmsg(sock, &m, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
	while (ret->bytes < 0 && errno == EINTR);
	if (ret->bytes < 0) {
		ret->bytes = -errno;
		sleeps_limit(false);
		return;
	}
	ret->lost = m.msg_flags & MSG_CTRUNC;
	for (struct cmsghdr *c = m.msg_controllen ? CMSG_FIRSTHDR(&m) : NULL; c; c = CMSG_NXTHDR(&m, c))
		if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS) {
			n = (uint32_t)((c->cmsg_len - CMSG_LEN(0)) / sizeof(int));
			memcpy(fds, CMSG_DATA(c), n * sizeof(int));
		}
	for (uint32_t i = 0; i < n; i++)
		if (!file_judge(fds[i], ret))
			ret->bytes = -EMFILE;
	sleeps_limit(false);
	if (m.msg_flags & MSG_TRUNC)
		ret->bytes = -EMSGSIZE;
}

/* ---- sockets ---- */

/* Make room for @more sockets, and for two descriptors beside them (nnb__held_wait). */
static bool held_reserve(struct nnb__held *held, unsigned more)
{
	return NNB__RESERVE(held->at, held->room, held->n + more + 2, 8);
}

int nnb__held_add(struct nnb__held *held, int sock)
{
	if (!held_reserve(held, 1))
		return -ENOMEM;
	held->at[held->n++] = (struct pollfd){ .fd = sock }; /* tells of its end only */
	return 0;
}

/* Whether a message is in the queue of @sock, which has been shut down. */
static bool has_message(int sock)
{
	const int on = 1;
	char byte;
	struct iovec iov = { &byte, 1 };
	struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1 };

	setsockopt(sock, SOL_SOCKET, SO_PASSCRED, &on, sizeof(on));
	return recvmsg(sock, &m, MSG_PEEK | MSG_DONTWAIT) > 0 || m.msg_flags & MSG_CTRUNC;
}

void nnb__line_drain(int sock)
{
	char byte;
	struct iovec iov = { &byte, 1 };

	shutdown(sock, SHUT_RDWR);
	sleeps_limit(true);
	while (has_message(sock)) {
		struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1 };

		recvmsg(sock, &m, MSG_DONTWAIT); /* without room for its files, which the kernel closes */
	}
	sleeps_limit(false);
}

/*
 * A pipe has so many numbers at least, in however few writes and reads: when there is no room for another write, all
 * its pages but one are full, or have less room than that write needs.
 */
void nnb__held_begin(struct nnb__held *held, int pipe)
{
	const int bytes = fcntl(pipe, F_GETPIPE_SZ), page = (int)sysconf(_SC_PAGESIZE);

	if (bytes < 2 * page || !held_reserve(held, 0)) {
		close(pipe);
		return;
	}
	held->told = pipe;
	held->kept_most = (unsigned)(bytes / page - 1) * (unsigned)(page / sizeof(uint32_t) - NNB__TOLD_TOGETHER + 1);
}

/* Close the kept files of which the service has closed all its descriptors. */
static void held_told(struct nnb__held *held)
{
	uint32_t numbers[TOLD_AT_ONCE];
	ssize_t n = 0;

	while (held->told && !held->is_over && (n = read(held->told, numbers, sizeof(numbers))) > 0)
		for (size_t i = 0; i < (size_t)n / sizeof(numbers[0]); i++) {
			close((int)numbers[i]);
			held->n_kept--;
		}
	held->is_over |= held->told && !n;
}

bool nnb__held_keep(struct nnb__held *held, const bool *is_kept, uint32_t n)
{
	unsigned more = 0;

	for (uint32_t i = 0; i < n; i++)
		more += is_kept[i];
	if (!more)
		return true;
	if (held->n_kept + more > held->kept_most)
		held_told(held);
	if (held->n_kept + more > held->kept_most)
		return false;
	held->n_kept += more;
	return true;
}

void nnb__held_drain(struct nnb__held *held)
{
	while (held->n) {
		const int fd = held->at[--held->n].fd, sock = fd < 0 ? ~fd : fd;

		nnb__line_drain(sock);
		close(sock);
	}
	held->n_shut = 0;
	while (held->n_kept)
		if (held->is_over)
			pause();
		else if (poll(&(struct pollfd){ .fd = held->told, .events = POLLIN }, 1, -1) > 0)
			held_told(held);
}

/* Close the sockets that have been shut down and are empty. */
static void held_close(struct nnb__held *held)
{
	unsigned n = 0;

	held->n_shut = 0;
	for (unsigned i = 0; i < held->n; i++) {
		struct pollfd p = held->at[i];

		if (p.fd < 0 && !has_message(~p.fd)) {
			close(~p.fd);
			continue;
		}
		held->n_shut += p.fd < 0;
		held->at[n++] = p;
	}
	held->n = n;
}

void nnb__held_wait(struct nnb__held *held, int sock)
{
	while (held->n || held->n_kept) {
		const unsigned n = held->n;
		struct pollfd *own = &held->at[n]; /* there is room for these two */
		bool comes;

		own[0] = (struct pollfd){ .fd = sock, .events = POLLIN };
		own[1] = (struct pollfd){ .fd = held->n_kept && !held->is_over ? held->told : -1, .events = POLLIN };
		poll(held->at, n + 2, held->n_shut ? EMPTY_MS : -1);
		comes = own[0].revents;
		if (own[1].revents)
			held_told(held);
		for (unsigned i = 0; i < n; i++)
			if (held->at[i].fd >= 0 && held->at[i].revents) {
				held->look_at = held->n_shut++ ? held->look_at : nnb__now() + EMPTY_MS * MS;
				held->at[i].fd = ~held->at[i].fd; /* poll passes over it */
			}
		if (held->n_shut && nnb__now() >= held->look_at) {
			held_close(held);
			held->look_at = nnb__now() + EMPTY_MS * MS;
		}
		if (comes)
			return;
	}
}
