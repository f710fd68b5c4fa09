/*
 * test_service_files.c -- an app whose files keep calls from returning: the service goes on, ends, and begins again.
 *
 * The app has a FUSE file system of its own that never answers a READ. A thread that writes to a file from a page of
 * that file system holds the lock of the file's inode for as long as the file system lives, and no signal ends a wait
 * for that lock. The mount takes root; app, file system and service are unprivileged users.
 */
#include "service_helpers.h"

#include "nnb/buffer.h"
#include "nnb/fence.h"
#include "nnb/memory.h"

#include <dlfcn.h>
#include <grp.h>
#include <linux/fuse.h>
#include <linux/sockios.h>
#include <poll.h>
#include <sched.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/uio.h>
#include <sys/un.h>

enum { N = 64, SERVICE = 64979, APP = 64980, PAGE = 4096, HELD_MOST = 16, LIMIT = 16 };
enum { LONG = 70000, LONG_ONES = 20, OFFERED = 32, LARGE_BYTES = 64 << 20 };
#define LARGE_NAME "large"
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
enum { NEVER_MS = 240000 }; /* the app of sockets_that_are_not_read took 59 s on a busy machine */
#else
enum { NEVER_MS = 30000 };
#endif
#define MS UINT64_C(1000000)
#ifndef OPEN_TREE_CLONE
#define OPEN_TREE_CLONE 1
#endif
#ifndef AT_RECURSIVE
#define AT_RECURSIVE 0x8000
#endif
#ifdef __SANITIZE_THREAD__ /* TSan lets a process with threads sleep for a second before it exits */
#define STOP_NS (3000 * MS)
#else
#define STOP_NS (2000 * MS)
#endif

/* ---- a file system whose pages never come ---- */

static void fuse_reply(int fd, uint64_t unique, const void *data, size_t bytes)
{
	struct fuse_out_header head = { (uint32_t)(sizeof(head) + bytes), data ? 0 : -ENOSYS, unique };
	struct iovec parts[2] = { { &head, sizeof(head) }, { (void *)(uintptr_t)data, bytes } };

	must(writev(fd, parts, data ? 2 : 1) > 0);
}

/*
 * What is never answered besides READ. WRITES: what is written stays in memory until it is sent by WRITE (a writeback
 * cache), for which closing a file waits, also one that was sent and never received.
 */
enum never { NOTHING, FLUSHES, WRITES };

/*
 * Where the server reads its next request to after one of STATFS: HELD_MOST pages, which never come, so that it hangs.
 * NULL: it does not.
 */
static void *hangs_in;

/* Serve one file, "page". */
static _Noreturn void fuse_serve(int fd, enum never never)
{
	static uint64_t request[(1 << 17) / sizeof(uint64_t)];
	const struct fuse_in_header *head;
	struct fuse_attr attr = { .nlink = 1, .uid = APP, .gid = APP, .blksize = PAGE };
	const struct fuse_init_out begun = { .major = 7,
		                             .minor = 31,
		                             .flags = never == WRITES ? FUSE_WRITEBACK_CACHE : 0,
		                             .max_write = PAGE,
		                             .max_background = 16 };
	const struct fuse_open_out opened = { .fh = 1 };
	const struct fuse_statfs_out system = { .st = { .bsize = PAGE } };
	bool has_statfs = false;

	for (;;) {
		void *into = has_statfs && hangs_in ? hangs_in : request;
		ssize_t n = read(fd, into, into == request ? sizeof(request) : HELD_MOST * PAGE);
		struct fuse_entry_out entry = { .nodeid = 2, .attr_valid = 3600, .entry_valid = 3600 };
		struct fuse_attr_out is = { .attr_valid = 3600 };

		if (n < 0 && (errno == EINTR || errno == ENOENT))
			continue;
		if (n <= 0)
			_exit(0);
		head = into;
		has_statfs |= head->opcode == FUSE_STATFS;
		attr.ino = head->opcode == FUSE_LOOKUP ? 2 : head->nodeid;
		attr.mode = attr.ino == 1 ? S_IFDIR | 0755 : S_IFREG | 0644;
		attr.size = HELD_MOST * PAGE;
		entry.attr = is.attr = attr;
		if (head->opcode == FUSE_INIT)
			fuse_reply(fd, head->unique, &begun, sizeof(begun));
		else if (head->opcode == FUSE_LOOKUP)
			fuse_reply(fd, head->unique, &entry, sizeof(entry));
		else if (head->opcode == FUSE_GETATTR)
			fuse_reply(fd, head->unique, &is, sizeof(is));
		else if (head->opcode == FUSE_STATFS)
			fuse_reply(fd, head->unique, &system, sizeof(system));
		else if (head->opcode == FUSE_OPEN)
			fuse_reply(fd, head->unique, &opened, sizeof(opened));
		else if ((head->opcode == FUSE_FLUSH && never == FLUSHES) ||
		         (head->opcode == FUSE_WRITE && never == WRITES))
			continue;
		else if (head->opcode != FUSE_READ && head->opcode != FUSE_FORGET && head->opcode != FUSE_INTERRUPT)
			fuse_reply(fd, head->unique, NULL, 0);
	}
}

static void become(uid_t user)
{
	must(setgroups(0, NULL) == 0 && setresgid(user, user, user) == 0 && setresuid(user, user, user) == 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL); /* another user's process loses this setting when it changes its user */
	prctl(PR_SET_DUMPABLE, 1);        /* it looks at its threads in /proc */
	must(getppid() != 1);
}

/*
 * Mount the file system on @dir with @more options, for this process and its children, and serve it. The server; -1: we
 * may not.
 */
static pid_t fuse_start(const char *dir, enum never never, const char *more)
{
	int fd = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	char options[128];
	pid_t pid;

	snprintf(options, sizeof(options), "fd=%d,rootmode=40755,user_id=%d,group_id=%d%s", fd, APP, APP, more);
	if (fd < 0 || geteuid() || unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount("pages", dir, "fuse", MS_NOSUID | MS_NODEV, options)) {
		if (fd >= 0)
			close(fd);
		return -1;
	}
	pid = fork();
	if (!pid) {
		become(APP);
		fuse_serve(fd, never);
	}
	must(pid > 0);
	close(fd);
	return pid;
}

/* ---- an app that holds locks ---- */

static char *pages;
static unsigned n_held;

struct holder {
	int fd;
	unsigned char *page;
	atomic_int tid;
};

static void *lock_hold(void *arg)
{
	struct holder *h = arg;

	h->tid = gettid();
	(void)!pwrite(h->fd, h->page, PAGE, 0);
	return NULL;
}

/* Whether that thread of the process @pid is in the system call @number. */
static bool thread_is_in(pid_t pid, int tid, long number)
{
	char path[64], text[64] = "";
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/syscall", pid, tid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || read(fd, text, sizeof(text) - 1) < 0)
		*text = '\0';
	if (fd >= 0)
		close(fd);
	return *text >= '0' && *text <= '9' && strtol(text, NULL, 10) == number;
}

/* Hold the lock of @fd's inode from here on. */
static void file_hold(int fd)
{
	static struct holder holders[HELD_MOST];
	struct holder *h = &holders[n_held];
	pthread_t thread;

	must(n_held < HELD_MOST);
	h->fd = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	h->page = (unsigned char *)pages + n_held++ * PAGE;
	must(h->fd >= 0 && pthread_create(&thread, NULL, lock_hold, h) == 0);
	while (!h->tid || !thread_is_in(getpid(), h->tid, SYS_pwrite64))
		poll_pause();
}

static void pages_map(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	must(fd >= 0);
	pages = mmap(NULL, HELD_MOST * PAGE, PROT_READ, MAP_SHARED, fd, 0);
	must(pages != MAP_FAILED);
	close(fd);
}

/* The locks of the queues in the next message are held. */
static atomic_bool holds_queues;
static ssize_t (*real_sendmsg)(int, const struct msghdr *, int);

/* Not at the first message: see test_service_quotas.c. */
__attribute__((constructor)) static void find_sendmsg(void)
{
	real_sendmsg = (ssize_t(*)(int, const struct msghdr *, int))(uintptr_t)dlsym(RTLD_NEXT, "sendmsg");
}

static void queues_hold(const struct msghdr *m)
{
	const struct cmsghdr *c = CMSG_FIRSTHDR(m);
	int fds[16];
	size_t n;

	if (!c || c->cmsg_type != SCM_RIGHTS)
		return;
	n = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
	must(n <= N_OF(fds));
	memcpy(fds, CMSG_DATA(c), n * sizeof(int));
	for (size_t i = 0; i < n; i++)
		if (fcntl(fds[i], F_GET_SEALS) > 0) {
			file_hold(fds[i]);
			holds_queues = false;
		}
}

/* ---- messages with files that do not belong there ---- */

enum how {
	IN_PLACE,  /* of each file of the message */
	BESIDE,    /* one more, which is not announced */
	ANNOUNCED, /* one more, which the header announces */
	CUT,       /* in place; and the header announces more than come */
	N_HOWS
};

static atomic_int foreign = -1; /* the file that goes into each message from now on */
static _Atomic enum how foreign_how;

/* The header of a message (nnburstd(8)). */
struct header {
	uint32_t magic;
	uint16_t type, flags;
	uint32_t bytes, n_fds;
};

static ssize_t foreign_send(int sock, const struct msghdr *m, int flags)
{
	static _Thread_local union {
		struct cmsghdr head;
		char room[CMSG_SPACE(64 * sizeof(int))];
	} control;
	const struct cmsghdr *c = CMSG_FIRSTHDR(m);
	struct msghdr changed = *m;
	struct iovec parts[4];
	struct header h;
	int fds[64];
	size_t n;

	if (!c || c->cmsg_type != SCM_RIGHTS || m->msg_iovlen > N_OF(parts) || m->msg_iov[0].iov_len != sizeof(h))
		return real_sendmsg(sock, m, flags);
	n = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
	must(n + 1 <= N_OF(fds));
	memcpy(fds, CMSG_DATA(c), n * sizeof(int));
	for (size_t i = 0; i < n; i++)
		fds[i] = foreign_how == IN_PLACE || foreign_how == CUT ? foreign : fds[i];
	if (foreign_how == BESIDE || foreign_how == ANNOUNCED)
		fds[n++] = foreign;
	memcpy(parts, m->msg_iov, m->msg_iovlen * sizeof(parts[0]));
	memcpy(&h, parts[0].iov_base, sizeof(h));
	h.n_fds += foreign_how == ANNOUNCED ? 1 : foreign_how == CUT ? 300 : 0;
	parts[0].iov_base = &h;
	control.head = (struct cmsghdr){ CMSG_LEN(n * sizeof(int)), SOL_SOCKET, SCM_RIGHTS };
	memcpy(CMSG_DATA(&control.head), fds, n * sizeof(int));
	changed.msg_iov = parts;
	changed.msg_control = &control;
	changed.msg_controllen = CMSG_SPACE(n * sizeof(int));
	return real_sendmsg(sock, &changed, flags);
}

/* Replaces the C library's sendmsg: the library's messages go through here. */
__attribute__((visibility("default"))) ssize_t sendmsg(int sock, const struct msghdr *m, int flags)
{
	if (!real_sendmsg)
		find_sendmsg();
	if (holds_queues)
		queues_hold(m);
	return foreign >= 0 ? foreign_send(sock, m, flags) : real_sendmsg(sock, m, flags);
}

/* Send @file with a message on @sock, as of a client that opens a channel. 0 or the errno. */
static int file_send(int sock, int file)
{
	const struct header h = { 0x43424e4e, 2, 0, 0, 1 };

	return fd_send(sock, &h, sizeof(h), file, MSG_DONTWAIT) ? 0 : errno;
}

static struct nnb_client *opened(const char *socket_path)
{
	const struct nnb_client_config config = { .socket = socket_path };
	struct nnb_client *client;

	must(nnb_client_open(&client, &config, NULL) == 0);
	return client;
}

/* Bursts with queues whose locks are held: each is made, and executes. Reports how long each took, in 10 ms. */
static _Noreturn void scene_queues(const char *socket_path, const char *path)
{
	struct nnb_model *m = vector_model(NNB_ADD, N, 1);
	struct nnb_remote *remote;
	struct nnb_client *client;
	struct io io;

	become(APP);
	pages_map(path);
	client = opened(socket_path);
	must(nnb_remote_prepare(client, m, &ordinary, NULL, &remote, NULL) == NNB_STATUS_NONE);
	io_init(&io, N);
	for (int i = 0; i < 4; i++) {
		uint64_t began, took;
		struct nnb_burst *burst;

		holds_queues = true;
		began = now_ns();
		if (nnb_remote_burst(remote, NULL, &burst, NULL))
			scene_stay(); /* the service has ended */
		took = (now_ns() - began) / (10 * MS);
		must(!holds_queues);
		io_refresh(&io, (float)i);
		must(nnb_burst_execute(burst, &io.call, &io.answer, NULL) == NNB_STATUS_NONE);
		must(io_right(&io, NNB_ADD, 1));
		scene_report((char)(took < 200 ? took : 200));
	}
	scene_stay();
}

/* A cache file whose lock is held: the model is prepared, and no entry is saved. */
static _Noreturn void scene_cache(const char *socket_path, const char *path)
{
	struct nnb_model *m = vector_model(NNB_ADD, N, 1);
	int files[2] = { memfd_create("model", MFD_CLOEXEC), memfd_create("data", MFD_CLOEXEC) };
	const struct nnb_cache cache = {
		.model_files = &files[0], .data_files = &files[1], .n_model_files = 1, .n_data_files = 1
	};
	struct nnb_remote *remote;
	struct nnb_client *client;

	become(APP);
	pages_map(path);
	client = opened(socket_path);
	file_hold(files[0]);
	scene_report('H');
	if (nnb_remote_prepare(client, m, &ordinary, &cache, &remote, NULL))
		scene_stay(); /* the service has ended */
	scene_report('P');
	must(nnb_remote_prepare_from_cache(client, m, 0, &cache, &remote, NULL) == NNB_STATUS_GENERAL_FAILURE);
	scene_report('F');
	scene_stay();
}

/* A pool in the file: it is refused. */
static _Noreturn void scene_pool(const char *socket_path, const char *path)
{
	struct nnb_model *m = vector_model(NNB_ADD, N, 1);
	struct nnb_reason why = { "" };
	struct nnb_remote *remote;
	struct nnb_client *client;
	struct nnb_memory memory;
	struct nnb_pool *pool;
	struct io io;
	int file;

	become(APP);
	client = opened(socket_path);
	must(nnb_remote_prepare(client, m, &ordinary, NULL, &remote, NULL) == NNB_STATUS_NONE);
	file = open(path, O_RDWR | O_CLOEXEC);
	must(file >= 0 && nnb_memory_mmap_fd(&memory, file, PAGE, PROT_READ | PROT_WRITE, 0) == 0);
	must(nnb_pool_from(&pool, &memory) == 0);
	io_init_on(&io, N, pool);
	scene_report(nnb_remote_execute(remote, &io.call, &io.answer, &why) == NNB_STATUS_GENERAL_FAILURE ? 'G' : '?');
	scene_stay();
}

/* The messages that carry files. */
enum carrier { EVENTS, CHANNEL, MODEL, LARGE_MODEL, CACHE, POOL, BURST, SLOT, FENCE, BUFFER, N_CARRIERS };
enum { CARRIED = N_CARRIERS * N_HOWS };

static struct nnb_client *opened_for(const char *socket_path)
{
	const struct nnb_client_config config = { .socket = socket_path, .timeout_ns = 5000 * MS };
	struct nnb_client *client = NULL;

	nnb_client_open(&client, &config, NULL);
	return client;
}

/*
 * A client with what it needs before that message. On a busy machine it takes longer than the client waits for one
 * answer, or than the service waits for a porter: then the client begins again.
 */
static struct nnb_client *carrier_new(const char *socket_path, enum carrier what, const struct nnb_model *m,
                                      struct nnb_remote **ret, struct nnb_burst **ret_burst)
{
	for (;;) {
		struct nnb_client *client = opened_for(socket_path);
		struct nnb_remote *remote = NULL;

		if (client && (what <= CHANNEL || !nnb_remote_prepare(client, m, &ordinary, NULL, &remote, NULL)) &&
		    (what != SLOT || !nnb_remote_burst(remote, NULL, ret_burst, NULL))) {
			*ret = remote;
			return client;
		}
		nnb_remote_release(remote);
		nnb_client_close(client);
	}
}

/* A process of user APP + 1 + @i sends one such message. What comes of it is its own affair. */
static void file_carry(const char *socket_path, int file, enum carrier what, enum how how)
{
	struct nnb_model *m = vector_model(NNB_ADD, N, 1), *large = vector_model(NNB_ADD, N, 1);
	const struct nnb_cache cache = {
		.model_files = &file, .data_files = &file, .n_model_files = 1, .n_data_files = 1
	};
	const struct nnb_buffer_role role = { 0, 0, 1 };
	const struct nnb_buffer_desc kept = { .inputs = &role, .n_inputs = 1 };
	struct nnb_remote *remote = NULL, *other;
	struct nnb_client *client = NULL;
	struct nnb_remote_buffer *buffer;
	struct nnb_service_counts counts;
	struct nnb_burst *burst = NULL;
	struct nnb_fenced *fenced;
	struct io io;
	int fence, signalled;

	if (what != EVENTS)
		client = carrier_new(socket_path, what, m, &remote, &burst);
	io_init(&io, N);
	while (what == LARGE_MODEL && large->n_operands < 4000) /* of no use, but more than a packet */
		must(nnb_model_operand(large, &(struct nnb_operand){ .type = NNB_FLOAT32 }) >= 0);
	foreign_how = how;
	foreign = file;
	if (what == EVENTS)
		opened_for(socket_path);
	else if (what == CHANNEL)
		nnb_client_counts(client, &counts, NULL);
	else if (what == MODEL || what == LARGE_MODEL)
		nnb_remote_prepare(client, what == MODEL ? m : large, &ordinary, NULL, &other, NULL);
	else if (what == CACHE)
		nnb_remote_prepare(client, m, &ordinary, &cache, &other, NULL);
	else if (what == POOL)
		nnb_remote_execute(remote, &io.call, &io.answer, NULL);
	else if (what == BURST)
		nnb_remote_burst(remote, NULL, &burst, NULL);
	else if (what == SLOT)
		nnb_burst_execute(burst, &io.call, &io.answer, NULL);
	else if (what == FENCE && !nnb_fence_new(&signalled) && !nnb_fence_signal(signalled, false))
		nnb_remote_execute_fenced(remote, &io.call,
		                          &(struct nnb_fenced_how){ .wait_for = &signalled, .n_wait_for = 1 }, &fenced,
		                          &fence, NULL);
	else if (what == BUFFER && !nnb_remote_buffer_new(&buffer, client, &remote, 1, &kept, false, NULL))
		nnb_remote_buffer_copy_from(buffer, nnb_pool_memory(io.pool), 0, NULL, NULL);
	foreign = -1;
}

/* Each message that carries files, with a file that never answers when it is closed. */
static _Noreturn void scene_carriers(const char *socket_path, const char *path)
{
	for (int i = 0; i < CARRIED; i++) {
		pid_t pid = fork();
		int file;

		must(pid >= 0);
		if (pid)
			continue;
		become((uid_t)(APP + 1 + i));
		file = open(path, O_RDWR | O_CLOEXEC);
		must(file >= 0);
		file_carry(socket_path, file, (enum carrier)(i / N_HOWS), (enum how)(i % N_HOWS));
		scene_report('C');
		scene_stay();
	}
	scene_stay();
}

static struct nnb_remote *executes;

static void *execute(void *arg)
{
	struct io *io = arg;

	nnb_remote_execute(executes, &io->call, &io->answer, NULL);
	return NULL;
}

static bool is_connected_socket(int fd)
{
	struct sockaddr_storage at;
	socklen_t size = sizeof(at);

	return !getpeername(fd, (struct sockaddr *)&at, &size) && at.ss_family == AF_UNIX;
}

/*
 * A client sends a file on each of its sockets, and closes it. The service does not read the channel before the
 * execution on it ends, so the file stays in the queue. The file system never writes the pages of these files back.
 */
static _Noreturn void scene_leftovers(const char *socket_path, const char *path)
{
	struct nnb_model *m = vector_model(NNB_ADD, N, 1);
	struct nnb_remote *remote;
	struct nnb_client *client;
	struct nnb_burst *burst;
	static char page[PAGE];
	pthread_t thread;
	struct io io;
	int dirty, signal, sent = 0;
	sigset_t begun;

	become(APP);
	sigemptyset(&begun);
	sigaddset(&begun, SIGUSR1);
	must(pthread_sigmask(SIG_BLOCK, &begun, NULL) == 0); /* before the execution, and in all threads */
	client = opened(socket_path);
	must(nnb_remote_prepare(client, m, &ordinary, NULL, &remote, NULL) == NNB_STATUS_NONE);
	must(nnb_remote_burst(remote, NULL, &burst, NULL) == NNB_STATUS_NONE);
	io_init(&io, N);
	executes = remote;
	must(pthread_create(&thread, NULL, execute, &io) == 0);
	dirty = open(path, O_RDWR | O_CLOEXEC);
	must(dirty >= 0);
	must(sigwait(&begun, &signal) == 0); /* the execution has begun, and does not end */
	for (int fd = 3; fd < 64; fd++) {
		int file;

		if (!is_connected_socket(fd))
			continue;
		file = open(path, O_RDWR | O_CLOEXEC);
		must(file >= 0);
		sent += file_send(fd, file) == 0;
		close(file);
	}
	must(pwrite(dirty, page, PAGE, 0) == PAGE);
	scene_report((char)sent);
	scene_stay();
}

/* Connections that the service has not accepted take no file, where the kernel can refuse it (Linux 6.16). */
static _Noreturn void scene_backlog(const char *socket_path, const char *path)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	int file, refused = 0;

	become(APP);
	strcpy(at.sun_path, socket_path);
	file = open(path, O_RDWR | O_CLOEXEC);
	must(file >= 0);
	for (int i = 0; i < 20; i++) {
		int sock = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

		must(sock >= 0 && connect(sock, (const struct sockaddr *)&at, sizeof(at)) == 0);
		refused += file_send(sock, file) == EPERM;
	}
	scene_report((char)refused);
	scene_stay();
}

/*
 * The offer of a socket that has a message in its queue; of more than one, because a message may have the offer more
 * than once, and an offer without a connection is refused.
 */
static int offer_new(void)
{
	int offer = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	socklen_t size = sizeof(at);

	must(offer >= 0 && bind(offer, (struct sockaddr *)&at, sizeof(sa_family_t)) == 0);
	must(listen(offer, OFFERED) == 0 && getsockname(offer, (struct sockaddr *)&at, &size) == 0);
	for (int i = 0; i < OFFERED; i++) {
		int own = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0); /* the end of this process closes it */

		must(own >= 0 && connect(own, (struct sockaddr *)&at, size) == 0 && send(own, "x", 1, 0) == 1);
	}
	return offer;
}

/* Leave packets that the service never receives on each socket of a client. */
static void long_packets_send(const char *socket_path)
{
	static char packet[LONG];
	struct nnb_service_counts counts;

	must(nnb_client_counts(opened(socket_path), &counts, NULL) == NNB_STATUS_NONE);
	for (int fd = 3; fd < 64; fd++)
		for (int i = 0; i < 3 && is_connected_socket(fd); i++)
			send(fd, packet, sizeof(packet), MSG_DONTWAIT | MSG_NOSIGNAL);
}

/*
 * An app leaves sockets that are not empty, each time in one more process: LONG_ONES times with packets that are too
 * long, and with offers where none is wanted. Each process is the whole app.
 */
static _Noreturn void scene_unread(const char *socket_path)
{
	for (int i = 0; i < LONG_ONES + N_CARRIERS * CUT; i++) {
		const int carried = i - LONG_ONES;
		pid_t pid = fork();

		must(pid >= 0);
		if (!pid && carried < 0)
			long_packets_send(socket_path);
		else if (!pid)
			file_carry(socket_path, offer_new(), (enum carrier)(carried / CUT), (enum how)(carried % CUT));
		if (!pid)
			_exit(0);
		must(waitpid(pid, NULL, 0) == pid);
		usleep(20000); /* the next one has porters of its own */
	}
	scene_report('U');
	scene_stay();
}

/* ---- files that pass, and never close ---- */

static int busy_epoll;

static void *epoll_keep(void *arg)
{
	struct holder *h = arg;

	h->tid = gettid();
	epoll_wait(busy_epoll, (struct epoll_event *)(void *)h->page, 1, -1);
	return NULL;
}

/*
 * An eventfd in an epoll. The kernel hands its event over into a page that never comes, and holds the mutex of the
 * epoll meanwhile. The last one to close the eventfd waits for that mutex.
 */
static int file_in_epoll(const char *path)
{
	static struct holder h;
	struct epoll_event event = { .events = EPOLLIN };
	int page = open(path, O_RDWR | O_CLOEXEC), file = eventfd(1, EFD_CLOEXEC);
	pthread_t thread;

	busy_epoll = epoll_create1(EPOLL_CLOEXEC);
	must(page >= 0 && file >= 0 && epoll_ctl(busy_epoll, EPOLL_CTL_ADD, file, &event) == 0);
	h.page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, page, 0);
	must(h.page != MAP_FAILED && pthread_create(&thread, NULL, epoll_keep, &h) == 0);
	while (!h.tid || !thread_is_in(getpid(), h.tid, SYS_epoll_wait))
		poll_pause();
	return file;
}

/* Whether @pid sleeps elsewhere than where a FUSE server waits for its next request. */
static bool server_hangs(pid_t pid)
{
	char path[64], text[64] = "";
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/wchan", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	if (fd >= 0)
		close(fd);
	return n > 0 && *text != '0' && strncmp(text, "fuse_dev", 8) != 0;
}

/*
 * The only file in a mount tree that was dissolved, below which another FUSE file system is mounted. The last one to
 * close the file unmounts that, and waits for a request that its server has begun to read, into a page that never
 * comes.
 */
static int file_of_tree(const char *path)
{
	struct statfs system;
	int page = open(path, O_RDWR | O_CLOEXEC), tree, file, inner;
	pid_t server;

	must(page >= 0 && unshare(CLONE_NEWNS) == 0);
	hangs_in = mmap(NULL, HELD_MOST * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, page, 0);
	must(hangs_in != MAP_FAILED);
	must(mount("tree", "/mnt", "tmpfs", 0, NULL) == 0 && mkdir("/mnt/d", 0755) == 0);
	server = fuse_start("/mnt/d", NOTHING, ",allow_other");
	must(server > 0);
	inner = open("/mnt/d/page", O_RDONLY | O_CLOEXEC);
	must(inner >= 0 && close(inner) == 0); /* from now on the kernel knows that there is no FLUSH */
	inner = open("/mnt/d/page", O_RDONLY | O_CLOEXEC);
	tree = (int)syscall(SYS_open_tree, AT_FDCWD, "/mnt", OPEN_TREE_CLONE | AT_RECURSIVE | O_CLOEXEC);
	must(inner >= 0 && tree >= 0);
	file = openat(tree, "x", O_RDWR | O_CREAT | O_CLOEXEC, 0666);
	must(file >= 0 && ftruncate(file, PAGE) == 0);
	must(statfs("/mnt/d", &system) == 0);
	close(inner); /* RELEASE */
	while (!server_hangs(server))
		poll_pause();
	must(umount2("/mnt/d", MNT_DETACH) == 0 && umount2("/mnt", MNT_DETACH) == 0 && close(tree) == 0);
	return file;
}

/*
 * A client sends the file on its channel, in a message of two, and closes its own. When it is told that the service has
 * the file, it sends what ends the message, so that the service closes the file.
 */
static _Noreturn void scene_unclosed(const char *socket_path, const char *path, bool in_tree)
{
	const struct header two = { 0x43424e4e, 2, 0, 0, 2 };
	struct nnb_service_counts counts;
	struct nnb_client *client;
	int file = in_tree ? file_of_tree(path) : -1, channel = -1, unread, signal;
	sigset_t told;

	become(APP);
	sigemptyset(&told);
	sigaddset(&told, SIGUSR1);
	must(pthread_sigmask(SIG_BLOCK, &told, NULL) == 0);
	if (!in_tree)
		file = file_in_epoll(path);
	client = opened(socket_path);
	must(nnb_client_counts(client, &counts, NULL) == NNB_STATUS_NONE);
	for (int fd = 3; fd < 64; fd++) /* the newest socket */
		channel = is_connected_socket(fd) ? fd : channel;
	must(channel >= 0 && fd_send(channel, &two, sizeof(two), file, 0));
	close(file);
	while (!ioctl(channel, SIOCOUTQ, &unread) && unread)
		poll_pause();
	scene_report('R');
	must(sigwait(&told, &signal) == 0);
	(void)!send(channel, "x", 1, MSG_NOSIGNAL); /* unless the service has closed the channel by now */
	scene_stay();
}

/* An execution with a pool in such a file. The end of this process closes the client's own. */
static _Noreturn void scene_mapped(const char *socket_path, const char *path)
{
	struct nnb_model *m = vector_model(NNB_ADD, N, 1);
	int file = file_of_tree(path);
	struct nnb_remote *remote;
	struct nnb_memory memory;
	struct nnb_pool *pool;
	struct io io;

	become(APP);
	must(nnb_remote_prepare(opened(socket_path), m, &ordinary, NULL, &remote, NULL) == NNB_STATUS_NONE);
	must(nnb_memory_mmap_fd(&memory, file, PAGE, PROT_READ | PROT_WRITE, 0) == 0);
	must(nnb_pool_from(&pool, &memory) == 0);
	io_init_on(&io, N, pool);
	io_refresh(&io, 1);
	nnb_remote_execute(remote, &io.call, &io.answer, NULL);
	scene_stay();
}

/* An execution by burst with a pool that is the beginning of a large file. */
static _Noreturn void scene_large(const char *socket_path)
{
	struct nnb_model *m = vector_model(NNB_ADD, N, 1);
	struct nnb_remote *remote;
	struct nnb_memory memory;
	struct nnb_burst *burst;
	struct nnb_pool *pool;
	struct io io;
	int file = memfd_create(LARGE_NAME, MFD_CLOEXEC | MFD_ALLOW_SEALING);

	become(APP);
	must(file >= 0 && fallocate(file, 0, 0, LARGE_BYTES) == 0);
	must(fcntl(file, F_ADD_SEALS, F_SEAL_GROW | F_SEAL_SHRINK) == 0);
	must(nnb_remote_prepare(opened(socket_path), m, &ordinary, NULL, &remote, NULL) == NNB_STATUS_NONE);
	must(nnb_remote_burst(remote, NULL, &burst, NULL) == NNB_STATUS_NONE);
	must(nnb_memory_mmap_fd(&memory, file, PAGE, PROT_READ | PROT_WRITE, 0) == 0);
	must(nnb_pool_from(&pool, &memory) == 0);
	io_init_on(&io, N, pool);
	io_refresh(&io, 1);
	must(nnb_burst_execute(burst, &io.call, &io.answer, NULL) == NNB_STATUS_NONE);
	scene_report('L');
	scene_stay();
}

/* ---- tests ---- */

struct fixture {
	struct service s;
	char dir[40], page[64];
	pid_t server; /* -1: none */
	struct child app;
};

static int set_up_with(void **state, enum never never, const char *more)
{
	struct fixture *f = calloc(1, sizeof(*f));

	*state = f;
	service_init(&f->s);
	snprintf(f->dir, sizeof(f->dir), "%s/fuse", f->s.dir);
	snprintf(f->page, sizeof(f->page), "%s/page", f->dir);
	assert_int_equal(mkdir(f->dir, 0755), 0);
	f->server = fuse_start(f->dir, never, more);
	if (f->server > 0)
		service_run_as(&f->s, SERVICE);
	service_admit_other_users(&f->s);
	return 0;
}

static int set_up(void **state)
{
	return set_up_with(state, NOTHING, "");
}

/* Other users may enter the file system, too. */
static int set_up_for_all(void **state)
{
	return set_up_with(state, NOTHING, ",allow_other");
}

static int set_up_without_flush(void **state)
{
	return set_up_with(state, FLUSHES, ",allow_other");
}

static int set_up_without_write(void **state)
{
	return set_up_with(state, WRITES, ",allow_other");
}

/* End the file system: then all that waits for its pages ends, too. */
static void app_end(struct fixture *f)
{
	if (f->server > 0) {
		kill(f->server, SIGKILL);
		assert_int_equal(waitpid(f->server, NULL, 0), f->server);
		umount2(f->dir, MNT_DETACH);
	}
	f->server = -1;
	if (f->app.pid > 0) {
		kill(f->app.pid, SIGKILL);
		child_end(&f->app);
	}
	f->app.pid = 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	app_end(f);
	if (f->s.pid)
		service_settles(&f->s);
	service_fini(&f->s);
	free(f);
	return 0;
}

/* Start the service, and the app with this scene. Skips the test where there is no file system. */
static void app_begin(struct fixture *f, const char *scene)
{
	if (f->server < 0)
		skip();
	service_start(&f->s, OPTIONS("--app-identity", "uid"));
	child_start(&f->app, scene, &f->s, f->page);
}

struct in_call {
	const struct service *s;
	long number;
	pid_t process;
};

static bool thread_is_in_call(pid_t tid, void *arg)
{
	const struct in_call *a = arg;

	return thread_is_in(a->process, tid, a->number);
}

static bool process_is_in_call(pid_t pid, void *arg)
{
	struct in_call *a = arg;
	char path[64];

	a->process = pid;
	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	return (pid == a->s->pid || parent_of(parent_of(pid)) == a->s->pid) &&
	       is_any_process(path, thread_is_in_call, a);
}

/* Whether a thread of the service or of one of its workers, which are children of its child, is in that system call. */
static bool service_is_in(const struct service *s, long number)
{
	return is_any_process("/proc", process_is_in_call, &(struct in_call){ s, number, 0 });
}

static void service_comes_into(const struct service *s, long number)
{
	for (uint64_t end = now_ns() + NEVER_MS * MS; !service_is_in(s, number); poll_pause())
		if (now_ns() >= end)
			fail_msg("the service never comes into system call %ld", number);
}

/* The next byte that the app reports; -1: none came for a long time. */
static int app_says(struct fixture *f)
{
	if (poll(&(struct pollfd){ .fd = f->app.output, .events = POLLIN }, 1, NEVER_MS) != 1)
		return -1;
	return child_read(&f->app);
}

static void service_stops_in_time(struct fixture *f)
{
	uint64_t began = now_ns();

	assert_int_equal(service_stop(&f->s), 0);
	print_message("the stop took %ju ms\n", (uintmax_t)((now_ns() - began) / MS));
	assert_true(now_ns() - began < STOP_NS);
}

/* Two bursts wait for the seal of their queue, later ones do not, and the service ends and begins as ever. */
static void queues_whose_locks_are_held(void **state)
{
	struct fixture *f = *state;
	struct nnb_model *m = vector_model(NNB_ADD, N, 1);

	app_begin(f, "queues");
	for (int i = 0; i < 4; i++) {
		int took = app_says(f);

		print_message("a burst whose queue is held took %d ms\n", took * 10);
		assert_in_range(took, i < 2 ? 90 : 0, i < 2 ? 200 : 80);
		visit_service(&f->s, m, N);
	}
	service_stops_in_time(f);
	service_start(&f->s, OPTIONS("--app-identity", "uid")); /* with the app's locks as they are */
	visit_service(&f->s, m, N);
	nnb_model_free(m);
}

/* The same with a service that is killed. */
static void a_service_is_killed_beside_held_locks(void **state)
{
	struct fixture *f = *state;
	struct nnb_model *m = vector_model(NNB_ADD, N, 1);

	app_begin(f, "queues");
	assert_in_range(app_says(f), 90, 200);
	service_kill(&f->s);
	service_start(&f->s, OPTIONS("--app-identity", "uid"));
	visit_service(&f->s, m, N);
	nnb_model_free(m);
}

static void a_cache_file_whose_lock_is_held(void **state)
{
	struct fixture *f = *state;
	struct nnb_model *m = vector_model(NNB_ADD, N, 1);

	app_begin(f, "cache");
	assert_int_equal(app_says(f), 'H');
	visit_service(&f->s, m, N);
	assert_int_equal(app_says(f), 'P');
	assert_int_equal(app_says(f), 'F');
	visit_service(&f->s, m, N);
	service_stops_in_time(f);
	nnb_model_free(m);
}

static void a_stop_while_a_cache_file_is_held(void **state)
{
	struct fixture *f = *state;

	app_begin(f, "cache");
	assert_int_equal(app_says(f), 'H');
	service_comes_into(&f->s, SYS_ftruncate); /* it has prepared the model, and waits for the file */
	service_stops_in_time(f);
}

/* To map or unmap such a file could keep the lock of the service's memory map for ever: none is mapped. */
static void a_pool_in_a_file_system_of_an_app(void **state)
{
	struct fixture *f = *state;
	struct nnb_model *m = vector_model(NNB_ADD, N, 1);

	app_begin(f, "pool");
	assert_int_equal(app_says(f), 'G');
	visit_service(&f->s, m, N);
	service_stops_in_time(f);
	nnb_model_free(m);
}

enum { KILL_NS = 1000 * 1000 * 1000 };

/* The process of the service must be gone soon after SIGKILL. */
static void service_dies_in_time(struct fixture *f)
{
	uint64_t began = now_ns();

	service_kill(&f->s);
	print_message("the kill took %ju ms\n", (uintmax_t)((now_ns() - began) / MS));
	assert_true(now_ns() - began < KILL_NS);
}

/* Start the service, and have all messages sent; other apps have what they had. */
static void carriers_send(struct fixture *f, struct nnb_model *m)
{
	service_start(&f->s, OPTIONS("--app-identity", "uid", "--subuid", "none"));
	visit_service(&f->s, m, N);
	child_start(&f->app, "carriers", &f->s, f->page);
	for (int i = 0; i < CARRIED; i++)
		assert_int_equal(app_says(f), 'C');
	visit_service(&f->s, m, N);
}

static void files_that_are_never_closed(void **state)
{
	struct fixture *f = *state;
	struct nnb_model *m = vector_model(NNB_ADD, N, 1);

	if (f->server < 0)
		skip();
	carriers_send(f, m);
	service_stops_in_time(f);
	service_start(&f->s, OPTIONS("--app-identity", "uid"));
	visit_service(&f->s, m, N);
	nnb_model_free(m);
}

static void a_service_is_killed_beside_files_that_are_never_closed(void **state)
{
	struct fixture *f = *state;
	struct nnb_model *m = vector_model(NNB_ADD, N, 1);

	if (f->server < 0)
		skip();
	carriers_send(f, m);
	service_dies_in_time(f);
	service_start(&f->s, OPTIONS("--app-identity", "uid"));
	visit_service(&f->s, m, N);
	nnb_model_free(m);
}

/* A client has files in the queues of its sockets, and an execution under way. */
static void leftovers_send(struct fixture *f, struct nnb_model *m)
{
	int sent;

	service_start(&f->s, OPTIONS("--app-identity", "uid"));
	atomic_store(&f->s.gate->hold_runs, 1);
	child_start(&f->app, "leftovers", &f->s, f->page);
	await(&f->s.gate->held_runs, 1);
	kill(f->app.pid, SIGUSR1);
	sent = app_says(f);
	atomic_store(&f->s.gate->hold_runs, 0);
	print_message("%d files are in queues\n", sent);
	assert_true(sent >= 4); /* life line, events, channel, and the burst's line */
	visit_service(&f->s, m, N);
}

static void files_that_are_never_received(void **state)
{
	struct fixture *f = *state;
	struct nnb_model *m = vector_model(NNB_ADD, N, 1);

	if (f->server < 0)
		skip();
	leftovers_send(f, m);
	service_stops_in_time(f);
	service_start(&f->s, OPTIONS("--app-identity", "uid"));
	visit_service(&f->s, m, N);
	nnb_model_free(m);
}

static void a_service_is_killed_beside_files_that_are_never_received(void **state)
{
	struct fixture *f = *state;
	struct nnb_model *m = vector_model(NNB_ADD, N, 1);

	if (f->server < 0)
		skip();
	leftovers_send(f, m);
	service_dies_in_time(f);
	service_start(&f->s, OPTIONS("--app-identity", "uid"));
	visit_service(&f->s, m, N);
	nnb_model_free(m);
}

static void files_on_connections_that_are_not_accepted(void **state)
{
	struct fixture *f = *state;
	int refused;

	if (f->server < 0)
		skip();
	service_start(&f->s, OPTIONS("--app-identity", "uid"));
	kill(f->s.pid, SIGSTOP);
	child_start(&f->app, "backlog", &f->s, f->page);
	refused = app_says(f);
	kill(f->s.pid, SIGCONT);
	print_message("%d of 20 files were refused\n", refused);
	assert_true(refused == 20 || refused == 0); /* 0: before Linux 6.16 */
	if (refused)
		service_stops_in_time(f);
	else
		service_kill(&f->s);
}

static bool thread_is_stuck(pid_t tid, void *arg)
{
	(void)arg;
	return process_state(tid, NULL) == 'D'; /* a thread has an entry of its own in /proc */
}

/* Whether a thread of @pid sleeps where no signal ends the sleep. */
static bool process_is_stuck(pid_t pid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	return is_any_process(path, thread_is_stuck, NULL);
}

struct workers {
	const struct service *s;
	const char *states;
	int n;
};

static bool worker_count(pid_t pid, void *arg)
{
	struct workers *w = arg;
	char state = parent_of(parent_of(pid)) == w->s->pid ? process_state(pid, NULL) : 0;

	w->n += state && (!w->states || strchr(w->states, state));
	return false;
}

/* The number of workers of the service, children of its child, whose state is one of @states; NULL: of all. */
static int workers_in(const struct service *s, const char *states)
{
	struct workers w = { s, states, 0 };

	is_any_process("/proc", worker_count, &w);
	return w.n;
}

enum { LOOKS = 50 }; /* so that it is not for a moment only */

/*
 * Wait until no worker does anything: then the service has what it was sent. On a busy machine that can take longer
 * than the service waits for the rest of that message: then it has closed the file, and a worker hangs already.
 */
static void workers_are_idle(const struct service *s)
{
	uint64_t end = now_ns() + NEVER_MS * MS;

	for (int idle = 0, stuck = 0; idle < LOOKS && stuck < LOOKS; poll_pause()) {
		stuck = workers_in(s, "D") ? stuck + 1 : 0;
		idle = stuck || workers_in(s, "R") ? 0 : idle + 1;
		assert_true(now_ns() < end);
	}
}

/* Wait until a worker hangs. No thread of the service may. */
static void a_worker_hangs(const struct service *s)
{
	uint64_t end = now_ns() + NEVER_MS * MS;
	int looks = 0, stuck = 0;

	while (looks < LOOKS) {
		looks = workers_in(s, "D") ? looks + 1 : 0;
		stuck = process_is_stuck(s->pid) ? stuck + 1 : 0;
		if (stuck == LOOKS)
			fail_msg("a thread of the service hangs");
		if (now_ns() >= end)
			fail_msg("no worker hangs");
		poll_pause();
	}
}

/* A client has the service close a file that never closes; other apps have what they had. */
static void unclosed_send(struct fixture *f, const char *scene, struct nnb_model *m)
{
	app_begin(f, scene);
	assert_int_equal(app_says(f), 'R');
	workers_are_idle(&f->s);
	kill(f->app.pid, SIGUSR1);
	a_worker_hangs(&f->s);
	visit_service(&f->s, m, N);
}

static void a_stop(struct fixture *f, const char *scene)
{
	struct nnb_model *m = vector_model(NNB_ADD, N, 1);

	unclosed_send(f, scene, m);
	service_stops_in_time(f);
	service_start(&f->s, OPTIONS("--app-identity", "uid"));
	visit_service(&f->s, m, N);
	nnb_model_free(m);
}

/* The file is open in the service when that is killed. */
static void a_kill(struct fixture *f, const char *scene)
{
	struct nnb_model *m = vector_model(NNB_ADD, N, 1);

	app_begin(f, scene);
	assert_int_equal(app_says(f), 'R');
	workers_are_idle(&f->s);
	service_dies_in_time(f);
	service_start(&f->s, OPTIONS("--app-identity", "uid"));
	visit_service(&f->s, m, N);
	nnb_model_free(m);
}

static void a_stop_beside_an_eventfd_in_a_busy_epoll(void **state)
{
	a_stop(*state, "epoll");
}

static void a_kill_beside_an_eventfd_in_a_busy_epoll(void **state)
{
	a_kill(*state, "epoll");
}

static void a_stop_beside_a_file_in_a_dissolved_tree(void **state)
{
	a_stop(*state, "tree");
}

static void a_kill_beside_a_file_in_a_dissolved_tree(void **state)
{
	a_kill(*state, "tree");
}

/* Whether a process of this test has that name, and a newline behind it. */
static bool is_named(pid_t pid, void *name)
{
	char path[64], text[32];
	FILE *file;
	bool is;

	snprintf(path, sizeof(path), "/proc/%d/comm", pid);
	file = getpgid(pid) == getpgrp() ? fopen(path, "re") : NULL;
	is = file && fgets(text, sizeof(text), file) && !strcmp(text, name);
	if (file)
		fclose(file);
	return is;
}

/* The stop leaves the execution, and what unmaps its pool, to another process (service/last.c): that ends, too. */
static void a_stop_while_a_file_in_a_dissolved_tree_is_mapped(void **state)
{
	struct fixture *f = *state;
	struct nnb_model *m = vector_model(NNB_ADD, N, 1);
	uint64_t end;

	if (f->server < 0)
		skip();
	assert_int_equal(getpgrp(), getpid());
	service_start(&f->s, OPTIONS("--app-identity", "uid"));
	atomic_store(&f->s.gate->hold_runs, 1);
	child_start(&f->app, "mapped", &f->s, f->page);
	await(&f->s.gate->held_runs, 1);
	kill(f->app.pid, SIGKILL);
	child_end(&f->app);
	f->app.pid = 0;
	service_stops_in_time(f);
	atomic_store(&f->s.gate->hold_runs, 0);
	service_start(&f->s, OPTIONS("--app-identity", "uid"));
	visit_service(&f->s, m, N);
	nnb_model_free(m);
	assert_int_equal(service_stop(&f->s), 0);
	for (end = now_ns() + NEVER_MS * MS; is_any_process("/proc", is_named, "nnburstd\n"); poll_pause())
		assert_true(now_ns() < end);
	assert_true(is_any_process("/proc", is_named, "nnburstd-errand\n")); /* a porter, which hangs */
}

struct with_files {
	pid_t of, worker;
	char link[64];
};

static bool is_of_link(pid_t fd, void *arg)
{
	const struct with_files *w = arg;
	char path[64], link[64];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/fd/%d", w->of, fd);
	n = readlink(path, link, sizeof(link) - 1);
	link[n > 0 ? n : 0] = '\0';
	return !strcmp(link, w->link);
}

static bool process_has(pid_t pid, const char *link)
{
	struct with_files w = { .of = pid };
	char path[64];

	snprintf(w.link, sizeof(w.link), "%s", link);
	snprintf(path, sizeof(path), "/proc/%d/fd", pid);
	return is_any_process(path, is_of_link, &w);
}

static bool worker_has(pid_t pid, void *arg)
{
	const struct with_files *w = arg;

	return parent_of(parent_of(pid)) == w->of && process_has(pid, w->link);
}

/*
 * The kernel frees the pages of a file in memory in its last close. What the service has of an app's memfds, a worker
 * has, too, and no longer than the service.
 */
static void a_large_file_ends_in_a_worker(void **state)
{
	static const char *const links[] = { "/memfd:" LARGE_NAME " (deleted)", "/memfd:nnb-fmq (deleted)" };
	struct fixture *f = *state;
	struct nnb_model *m = vector_model(NNB_ADD, N, 1);
	struct with_files w;

	if (f->server < 0)
		skip();
	for (int kills = 0; kills < 2; kills++) {
		service_start(&f->s, OPTIONS("--app-identity", "uid"));
		child_start(&f->app, "large", &f->s, f->page);
		assert_int_equal(app_says(f), 'L');
		for (size_t i = 0; i < N_OF(links); i++) {
			w = (struct with_files){ .of = f->s.pid };
			snprintf(w.link, sizeof(w.link), "%s", links[i]);
			assert_true(process_has(f->s.pid, links[i]));
			assert_true(is_any_process("/proc", worker_has, &w));
		}
		visit_service(&f->s, m, N);
		kill(f->app.pid, SIGKILL);
		child_end(&f->app);
		f->app.pid = 0;
		if (kills)
			service_dies_in_time(f);
		else
			service_stops_in_time(f);
	}
	nnb_model_free(m);
}

/* No porter stays when its app is gone, whatever that has left in its sockets. */
static void sockets_that_are_not_read(void **state)
{
	struct fixture *f = *state;
	struct nnb_model *m = vector_model(NNB_ADD, N, 1);
	uint64_t end;

	service_start(&f->s, OPTIONS("--app-identity", "uid"));
	child_start(&f->app, "unread", &f->s, f->page);
	assert_int_equal(app_says(f), 'U');
	print_message("%d workers at the end of the app\n", workers_in(&f->s, NULL));
	for (end = now_ns() + NEVER_MS * MS; workers_in(&f->s, NULL); poll_pause())
		if (now_ns() >= end)
			fail_msg("%d workers stay", workers_in(&f->s, NULL));
	visit_service(&f->s, m, N);
	nnb_model_free(m);
	assert_int_equal(service_stop(&f->s), 0);
}

/* A file beyond RLIMIT_FSIZE is an error of that file. */
static void a_cache_file_is_beyond_the_limit(void **state)
{
	struct fixture *f = *state;
	int files[2] = { memfd_create("model", MFD_CLOEXEC), memfd_create("data", MFD_CLOEXEC) };
	const struct nnb_cache cache = {
		.model_files = &files[0], .data_files = &files[1], .n_model_files = 1, .n_data_files = 1
	};
	struct nnb_model *m = vector_model(NNB_ADD, N, 1);
	struct nnb_remote *remote, *none;
	struct nnb_client *client;
	struct rlimit limit, low;

	assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
	low = (struct rlimit){ LIMIT, limit.rlim_max };
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &low), 0);
	service_start(&f->s, OPTIONS("--app-identity", geteuid() ? "pid" : "uid"));
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	client = app_open(&f->s);
	assert_none(nnb_remote_prepare(client, m, &ordinary, &cache, &remote, NULL));
	assert_true(lseek(files[0], 0, SEEK_END) <= LIMIT);
	assert_int_equal(nnb_remote_prepare_from_cache(client, m, 0, &cache, &none, NULL), NNB_STATUS_GENERAL_FAILURE);
	visit_service(&f->s, m, N);
	nnb_remote_release(remote);
	nnb_client_close(client);
	close(files[0]);
	close(files[1]);
	nnb_model_free(m);
	assert_int_equal(service_stop(&f->s), 0);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest cases[] = {
		cmocka_unit_test_setup_teardown(queues_whose_locks_are_held, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_service_is_killed_beside_held_locks, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_cache_file_whose_lock_is_held, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_stop_while_a_cache_file_is_held, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_pool_in_a_file_system_of_an_app, set_up_for_all, tear_down),
		cmocka_unit_test_setup_teardown(files_that_are_never_closed, set_up_without_flush, tear_down),
		cmocka_unit_test_setup_teardown(a_service_is_killed_beside_files_that_are_never_closed,
		                                set_up_without_flush, tear_down),
		cmocka_unit_test_setup_teardown(files_that_are_never_received, set_up_without_write, tear_down),
		cmocka_unit_test_setup_teardown(a_service_is_killed_beside_files_that_are_never_received,
		                                set_up_without_write, tear_down),
		cmocka_unit_test_setup_teardown(files_on_connections_that_are_not_accepted, set_up_without_write,
		                                tear_down),
		cmocka_unit_test_setup_teardown(a_stop_beside_an_eventfd_in_a_busy_epoll, set_up_for_all, tear_down),
		cmocka_unit_test_setup_teardown(a_kill_beside_an_eventfd_in_a_busy_epoll, set_up_for_all, tear_down),
		cmocka_unit_test_setup_teardown(a_stop_beside_a_file_in_a_dissolved_tree, set_up_for_all, tear_down),
		cmocka_unit_test_setup_teardown(a_kill_beside_a_file_in_a_dissolved_tree, set_up_for_all, tear_down),
		cmocka_unit_test_setup_teardown(a_stop_while_a_file_in_a_dissolved_tree_is_mapped, set_up_for_all,
		                                tear_down),
		cmocka_unit_test_setup_teardown(a_large_file_ends_in_a_worker, set_up, tear_down),
		cmocka_unit_test_setup_teardown(sockets_that_are_not_read, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_cache_file_is_beyond_the_limit, set_up, tear_down),
	};

	if (argc == 5 && !strcmp(argv[1], "--scene")) {
		if (!strcmp(argv[2], "queues"))
			scene_queues(argv[3], argv[4]);
		if (!strcmp(argv[2], "carriers"))
			scene_carriers(argv[3], argv[4]);
		if (!strcmp(argv[2], "leftovers"))
			scene_leftovers(argv[3], argv[4]);
		if (!strcmp(argv[2], "backlog"))
			scene_backlog(argv[3], argv[4]);
		if (!strcmp(argv[2], "large"))
			scene_large(argv[3]);
		if (!strcmp(argv[2], "unread"))
			scene_unread(argv[3]);
		if (!strcmp(argv[2], "epoll") || !strcmp(argv[2], "tree"))
			scene_unclosed(argv[3], argv[4], !strcmp(argv[2], "tree"));
		if (!strcmp(argv[2], "mapped"))
			scene_mapped(argv[3], argv[4]);
		if (!strcmp(argv[2], "pool"))
			scene_pool(argv[3], argv[4]);
		scene_cache(argv[3], argv[4]);
	}
	/*
	 * ctest has one group of processes for all tests that run at once. This test leaves it before it has a child:
	 * when a child that stayed there ended, the kernel would send SIGHUP to all of the group if another test had
	 * stopped a process of it.
	 */
	setpgid(0, 0);
	return cmocka_run_group_tests_name("service: files of apps", cases, NULL, NULL);
}
