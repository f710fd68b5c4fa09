/*
 * test_service_quotas.c -- apps that take everything that the machine allows the service, and ask for more: the
 * service refuses them before anything runs out, and another app notices nothing.
 *
 * The service may have FILES file descriptors only, so that this does not take long. An app is a user if the
 * test runs as root, and a process otherwise.
 */
#include <dlfcn.h>
#include <errno.h>
#include <grp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include "nnb/fence.h"
#include "service_helpers.h"

enum {
	FILES = 3000,
	TASKS = 800,     /* threads that the service may have in the test of threads */
	GREEDY = 3,      /* apps that take everything they can get */
	POOLS = 4200,    /* pools that one of them tries to have: more than its limit */
	N = 16,          /* elements of the attackers' model and the victim's */
	ROUNDS = 40,     /* connections of the victim, with all that an app does */
	SLOWER_MS = 100, /* milliseconds by which a connection may be slower beside the attackers */
	UNREAD = 16,     /* connections of an app that reads no answers */
	CALLS = 400,     /* calls of each attacker on each connection */
	FENCES = 50,     /* fences that the victim makes in the meantime */
	CROWD = 150,     /* threads of another process of the service's user */
	USERS = 65000,   /* apps are users from here on */
	SERVICE = 64899, /* no app of test_service_files, which may run beside this */
	FEW = 1024,      /* descriptors of a service that has few processes for files */
	CROWDED = 64700, /* its users are from here on */
	BESIDE = 34,     /* these, of which seven have guaranteed parts, beside another one */
	BURSTS = 6       /* which has so many at the end */
};

#define SERVICE_NAME "64899"

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
enum { PATIENT = 10 }; /* factor for slow builds */
#else
enum { PATIENT = 1 };
#endif

/* ---- an app that repeats the library's messages, and reads no answers ---- */

enum { EXECUTE_FENCED = 26, PACKET = 4096 };

struct packet {
	int sock;
	size_t bytes;
	uint8_t body[PACKET];
	size_t control_bytes;
	int fd; /* the last one: the execution's own fence */
	union {
		struct cmsghdr align;
		uint8_t bytes[512];
	} control;
};

static struct packet caught; /* the last call that asked for a fence */
static bool catches;

static ssize_t (*real_sendmsg)(int, const struct msghdr *, int);

/*
 * Not at the first message: a thread of lttng-ust may send that while it holds a lock that the thread in dlopen
 * waits for, and dlsym would wait for dlopen.
 */
__attribute__((constructor)) static void find_sendmsg(void)
{
	real_sendmsg = (ssize_t(*)(int, const struct msghdr *, int))(uintptr_t)dlsym(RTLD_NEXT, "sendmsg");
}

/* Replaces the C library's sendmsg: the library's messages go through here. */
__attribute__((visibility("default"))) ssize_t sendmsg(int sock, const struct msghdr *msg, int flags)
{
	uint16_t type = 0;

	if (!real_sendmsg)
		find_sendmsg();
	if (catches && msg->msg_iovlen && msg->msg_iov[0].iov_len >= 16)
		memcpy(&type, (const uint8_t *)msg->msg_iov[0].iov_base + 4, sizeof(type));
	if (type == EXECUTE_FENCED) {
		caught.sock = sock;
		caught.bytes = 0;
		for (size_t i = 0; i < msg->msg_iovlen; i++) {
			must(caught.bytes + msg->msg_iov[i].iov_len <= PACKET);
			memcpy(caught.body + caught.bytes, msg->msg_iov[i].iov_base, msg->msg_iov[i].iov_len);
			caught.bytes += msg->msg_iov[i].iov_len;
		}
		caught.control_bytes = msg->msg_controllen;
		must(caught.control_bytes <= sizeof(caught.control));
		memcpy(&caught.control, msg->msg_control, caught.control_bytes);
	}
	return real_sendmsg(sock, msg, flags);
}

/* Send the caught call again, with a fence of its own. False: the service accepts no more of it. */
static bool repeat(struct packet *p)
{
	struct iovec iov = { p->body, p->bytes };
	struct msghdr msg = {
		.msg_iov = &iov, .msg_iovlen = 1, .msg_control = &p->control, .msg_controllen = p->control_bytes
	};
	size_t last = p->control.align.cmsg_len - CMSG_LEN(0) - sizeof(int);
	ssize_t sent;
	int fence;

	must(nnb_fence_new(&fence) == 0);
	memcpy(CMSG_DATA(&p->control.align) + last, &fence, sizeof(fence));
	sent = sendmsg(p->sock, &msg, MSG_DONTWAIT | MSG_NOSIGNAL);
	close(fence);
	return sent > 0;
}

static void become_user(const char *user)
{
	uid_t uid = (uid_t)atoi(user);

	if (uid)
		must(setgroups(0, NULL) == 0 && setgid(uid) == 0 && setuid(uid) == 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL); /* another user's process loses this setting when it changes its user */
	must(getppid() != 1);
}

static struct nnb_client *opened(const char *socket_path, struct nnb_reason *why)
{
	const struct nnb_client_config config = { .socket = socket_path };
	struct nnb_client *client;

	return nnb_client_open(&client, &config, why) ? NULL : client;
}

/* On as many channels as allowed, make calls, and do not read the answers. Report when that is done. */
static void takes_no_answers(const char *socket_path, const char *user)
{
	static struct packet packets[UNREAD];
	struct nnb_model *m = vector_model(NNB_ADD, N, 1);
	struct nnb_remote *remote;
	struct nnb_client *client;
	struct nnb_fenced *fenced;
	unsigned n = 0;
	struct io io;
	int fence;

	become_user(user);
	io_init(&io, N);
	catches = true;
	for (; n < UNREAD && (client = opened(socket_path, NULL)); n++) {
		if (nnb_remote_prepare(client, m, NULL, NULL, &remote, NULL) ||
		    nnb_remote_execute_fenced(remote, &io.call, NULL, &fenced, &fence, NULL))
			break;
		packets[n] = caught;
	}
	catches = false;
	must(n > 4);
	for (unsigned i = 0; i < CALLS; i++) {
		for (unsigned k = 0; k < n; k++)
			repeat(&packets[k]);
		usleep(500);
	}
	scene_report('.');
	for (;;) {
		for (unsigned k = 0; k < n; k++)
			repeat(&packets[k]);
		poll_pause();
	}
}

/* ---- an app that takes everything it can get ---- */

static struct nnb_pool *file_pool(void)
{
	struct nnb_memory memory;
	struct nnb_pool *pool;
	int fd = memfd_create("greedy", MFD_CLOEXEC);

	must(fd >= 0 && ftruncate(fd, (off_t)N * 8) == 0);
	must(nnb_memory_mmap_fd(&memory, fd, (uint64_t)N * 8, PROT_READ | PROT_WRITE, 0) == 0);
	close(fd);
	must(nnb_pool_from(&pool, &memory) == 0);
	return pool;
}

/* A refusal must ask the client to try again, and name a limit. */
static void look_at_refusal(enum nnb_status status, const struct nnb_reason *why, bool *named)
{
	if (status != NNB_STATUS_RESOURCE_EXHAUSTED_TRANSIENT)
		fprintf(stderr, "refused with %s: %s\n", nnb_status_name(status), why->text);
	must(status == NNB_STATUS_RESOURCE_EXHAUSTED_TRANSIENT);
	*named |= strstr(why->text, "RLIMIT_NOFILE") != NULL;
}

/* Make pools that a burst keeps, until the service refuses. */
static void keep_pools(struct nnb_burst *burst, struct nnb_pool **pools, unsigned n, bool *named)
{
	struct nnb_reason why;
	enum nnb_status status = NNB_STATUS_NONE;
	struct io io;

	for (unsigned i = 0; i < n && !status; i++) {
		if (!pools[i])
			pools[i] = file_pool();
		io_init_on(&io, N, pools[i]);
		io_refresh(&io, 1);
		why.text[0] = '\0';
		status = nnb_burst_execute(burst, &io.call, &io.answer, &why);
		if (status && status != NNB_STATUS_GENERAL_FAILURE) /* a burst may report no more than this status */
			look_at_refusal(status, &why, named);
	}
}

static void takes_all(const char *socket_path, const char *user)
{
	static struct nnb_pool *pools[POOLS];
	struct nnb_model *m = vector_model(NNB_ADD, N, 1);
	struct nnb_client *clients[20] = { NULL };
	struct nnb_remote *remotes[20];
	struct nnb_burst *first = NULL, *burst;
	struct nnb_reason why = { "" };
	enum nnb_status status;
	bool named = false, said = false;
	unsigned n = 0;

	become_user(user);
	for (;;) {
		if (n < N_OF(clients) && (clients[n] = opened(socket_path, &why))) {
			must(nnb_remote_prepare(clients[n], m, NULL, NULL, &remotes[n], NULL) == NNB_STATUS_NONE || n);
			n++;
		}
		must(n > 0);
		status = nnb_remote_burst(remotes[0], NULL, &burst, &why);
		if (status)
			look_at_refusal(status, &why, &named);
		else if (!first)
			first = burst;
		if (status || !first)
			keep_pools(first, pools, N_OF(pools), &named);
		if (status && !said) {
			said = true;
			scene_report(named ? 'L' : '?');
		}
	}
}

/* ---- an app that takes as many threads as it can get ---- */

static void look_for_threads(enum nnb_status status, const struct nnb_reason *why, bool *named)
{
	if (status != NNB_STATUS_RESOURCE_EXHAUSTED_TRANSIENT)
		fprintf(stderr, "refused with %s: %s\n", nnb_status_name(status), why->text);
	must(status == NNB_STATUS_RESOURCE_EXHAUSTED_TRANSIENT);
	*named |= strstr(why->text, "threads (RLIMIT_NPROC)") != NULL;
}

/* Bursts, and executions that wait for a fence that is never signalled: each takes a thread. */
static void takes_threads(const char *socket_path, const char *user)
{
	struct nnb_model *m = vector_model(NNB_ADD, N, 1);
	bool by_burst = true, named = false, said = false;
	struct nnb_client *client;
	struct nnb_remote *remote;
	struct nnb_fenced *fenced;
	struct nnb_burst *burst;
	struct nnb_reason why = { "" };
	int never, fence;
	struct io io;

	become_user(user);
	must(nnb_fence_new(&never) == 0);
	io_init(&io, N);
	client = opened(socket_path, &why);
	must(client && nnb_remote_prepare(client, m, NULL, NULL, &remote, NULL) == NNB_STATUS_NONE);
	for (;; by_burst = !by_burst) {
		const struct nnb_fenced_how how = { .wait_for = &never, .n_wait_for = 1 };
		enum nnb_status status;

		if (by_burst)
			status = nnb_remote_burst(remote, NULL, &burst, &why);
		else
			status = nnb_remote_execute_fenced(remote, &io.call, &how, &fenced, &fence, &why);
		if (status)
			look_for_threads(status, &why, &named);
		if (named && !said) {
			said = true;
			scene_report('L');
		}
	}
}

/* ---- the victim ---- */

struct fixture {
	struct service s;
};

static int set_up(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	service_init(&f->s);
	f->s.files = FILES;
	*state = f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	service_fini(&f->s);
	free(f);
	return 0;
}

/* Everything that an app does, from connecting to leaving. Returns its time in ns. */
static uint64_t visit_ns(const struct service *s, const struct nnb_model *m)
{
	uint64_t began = now_ns();

	visit_service(s, m, N);
	return now_ns() - began;
}

static uint64_t longest_visit(const struct service *s, const struct nnb_model *m, struct nnb_client *client)
{
	uint64_t longest = 0, ns, threads = app_counts(client).threads.app;

	for (int i = 0; i < ROUNDS; i++) {
		/* the service has released what the previous visit held */
		app_comes_to_hold(client, threads.app, threads);
		ns = visit_ns(s, m);
		longest = ns > longest ? ns : longest;
	}
	return longest;
}

/*
 * What the service holds that no app is charged with: sockets of connections that are being refused; and of each of
 * four apps, an eventfd and two porters with a socket and a pipe each.
 */
enum { UNCHARGED_FDS = 12 + 4 * (1 + 2 * 2) };

/* The service must charge for at least what the kernel counts for it, and keep a quarter for itself. */
static void expect_within_budget(const struct service *s, struct nnb_client *client)
{
	struct nnb_service_counts n = app_counts(client);
	struct footprint is = service_footprint(s);

	for (int i = 0; i < 500 && is.fds - s->baseline.fds > n.descriptors.all + UNCHARGED_FDS;
	     i++) { /* refused connections are closed soon */
		poll_pause();
		n = app_counts(client);
		is = service_footprint(s);
	}
	assert_int_equal(n.descriptors.limit, FILES);
	assert_true(n.descriptors.all <= FILES / 4 * 3);
	assert_true(is.fds - s->baseline.fds <= n.descriptors.all + UNCHARGED_FDS);
	assert_true(n.mappings.all <= n.mappings.limit / 4 * 3);
	assert_true(is.maps - s->baseline.maps <= n.mappings.all);
}

static void apps_that_take_all_leave_others_theirs(void **state)
{
	struct fixture *f = *state;
	struct nnb_model *m = vector_model(NNB_ADD, N, 1);
	struct child greedy[GREEDY];
	uint64_t before, beside;
	struct nnb_client *client;
	struct nnb_remote *remote;
	struct nnb_service_counts n;
	struct io io;
	char user[16];

	service_admit_other_users(&f->s);
	service_start(&f->s, OPTIONS("--app-identity", geteuid() ? "pid" : "uid"));
	client = app_open(&f->s);
	remote = app_prepare(client, m);
	io_init(&io, N);
	before = longest_visit(&f->s, m, client);
	for (int i = 0; i < GREEDY; i++) {
		snprintf(user, sizeof(user), "%d", geteuid() ? 0 : USERS + i);
		child_start(&greedy[i], "takes all", &f->s, user);
		assert_int_equal(child_read(&greedy[i]), 'L');
	}
	n = app_counts(client);
	print_message("of %u file descriptors apps have %ju, of which this app %ju; the service has %u\n", FILES,
	              (uintmax_t)n.descriptors.all, (uintmax_t)n.descriptors.app, service_footprint(&f->s).fds);
	assert_true(n.descriptors.all > FILES / 4); /* the attackers did take descriptors */
	expect_within_budget(&f->s, client);
	beside = longest_visit(&f->s, m, client);
	expect_sync(remote, &io, NNB_ADD); /* the victim has kept its connection */
	expect_within_budget(&f->s, client);
	print_message("a visit takes %.1f ms at most, and %.1f ms beside them\n", (double)before / 1e6,
	              (double)beside / 1e6);
	assert_true(beside <= before + SLOWER_MS * MS * PATIENT);
	for (int i = 0; i < GREEDY; i++)
		child_kill(&greedy[i]);
	app_comes_to_hold(client, descriptors.all, app_counts(client).descriptors.app);
	io_fini(&io);
	nnb_remote_release(remote);
	nnb_client_close(client);
	nnb_model_free(m);
	service_settles(&f->s);
}

static bool is_of_user(pid_t pid, void *user)
{
	char path[64], line[128];
	bool is = false;
	unsigned uid;
	FILE *status;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	status = fopen(path, "re");
	while (status && !is && fgets(line, sizeof(line), status))
		is = sscanf(line, "Uid: %u", &uid) == 1 && uid == *(uid_t *)user;
	if (status)
		fclose(status);
	return is;
}

/* Each thread of the service is charged to an app, or the service's own from the start. */
static void apps_that_take_all_threads_leave_others_theirs(void **state)
{
	struct fixture *f = *state;
	struct nnb_model *m = vector_model(NNB_ADD, N, 1);
	struct child greedy[GREEDY];
	struct nnb_service_counts n;
	struct nnb_client *client;
	struct nnb_remote *remote;
	struct io io;
	uid_t service_user = SERVICE;
	char user[16];

	if (geteuid())
		/*
		 * the kernel's limit is for all processes of a user, and the service must be that user's only
		 * process
		 */
		skip();
	f->s.files = 0; /* fewer descriptors would be refused before threads are */
	f->s.threads = TASKS;
	service_run_as(&f->s, SERVICE);
	service_admit_other_users(&f->s);
	/* those of the service before */
	for (uint64_t until = now_ns() + PATIENCE; is_any_process("/proc", is_of_user, &service_user); poll_pause())
		assert_true(now_ns() < until);
	service_start(&f->s, OPTIONS("--app-identity", "uid"));
	client = app_open(&f->s);
	remote = app_prepare(client, m);
	io_init(&io, N);
	for (int i = 0; i < GREEDY; i++) {
		snprintf(user, sizeof(user), "%d", USERS + i);
		child_start(&greedy[i], "takes threads", &f->s, user);
		assert_int_equal(child_read(&greedy[i]), 'L');
	}
	n = app_counts(client);
	print_message("of %ju threads apps have %ju; the service has %u\n", (uintmax_t)n.threads.limit,
	              (uintmax_t)n.threads.all, service_footprint(&f->s).threads);
	/* nnburstd-prober, a process of that user, has one, and under TSan another one. */
	assert_in_range(n.threads.limit, TASKS - 2, TASKS - 1);
	assert_true(n.threads.all > TASKS / 4 && n.threads.all <= TASKS / 4 * 3);
	assert_int_equal(n.threads.app, 2); /* one for the connection, one for a channel */
	longest_visit(&f->s, m, client);
	expect_sync(remote, &io, NNB_ADD);
	for (int i = 0; i < GREEDY; i++)
		child_kill(&greedy[i]);
	app_comes_to_hold(client, threads.all, 2);
	io_fini(&io);
	nnb_remote_release(remote);
	nnb_client_close(client);
	nnb_model_free(m);
	service_settles(&f->s);
}

static void *sleeps(void *arg)
{
	(void)arg;
	scene_stay();
}

/* Another process of the service's user, with more threads than the service of that user may have. */
static void crowds(const char *user)
{
	pthread_t thread;

	become_user(user);
	for (int i = 0; i < CROWD; i++)
		must(pthread_create(&thread, NULL, sleeps, NULL) == 0);
	scene_report('.');
	scene_stay();
}

/*
 * The service computes its budget at its start. Later threads of other processes of the user reduce it: the
 * client gets a reason, and may try again.
 */
static void a_client_without_a_thread_gets_a_reason(void **state)
{
	struct fixture *f = *state;
	const struct nnb_client_config config = { .socket = f->s.socket };
	struct nnb_reason why = { "" };
	struct nnb_client *client;
	struct child crowd;

	if (geteuid())
		skip(); /* the kernel's limit is for all processes of a user, and the test must know that user */
	f->s.files = 0;
	f->s.threads = CROWD - 50;
	service_run_as(&f->s, SERVICE);
	service_admit_other_users(&f->s);
	service_start(&f->s, OPTIONS("--app-identity", "uid"));
	child_start(&crowd, "crowds", &f->s, SERVICE_NAME);
	assert_int_equal(child_read(&crowd), '.');
	assert_int_not_equal(nnb_client_open(&client, &config, &why), 0);
	if (!strstr(why.text, "no thread"))
		fail_msg("'%s' does not name what is missing", why.text);
	child_kill(&crowd);
	nnb_client_close(app_open(&f->s));
	service_settles(&f->s);
}

/* ---- more users than have guaranteed parts ---- */

/* A connection of @user to the service; NULL: none is left. This process is root. */
static struct nnb_client *opened_as(const struct service *s, uid_t user)
{
	const struct nnb_client_config config = { .socket = s->socket };
	struct nnb_client *client = NULL;
	struct nnb_reason why = { "" };
	int r;

	assert_int_equal(seteuid(user), 0);
	r = nnb_client_open(&client, &config, &why);
	assert_int_equal(seteuid(0), 0);
	if (r && !strstr(why.text, "more connections"))
		fail_msg("user %u is not refused for the number of connections: %s", user, why.text);
	return r ? NULL : client;
}

/* Users have all connections that others may have: root and the service's own user connect all the same. */
static void administrators_connect_beside_any_number_of_users(void **state)
{
	enum { ALL = 128 };
	struct fixture *f = *state;
	struct nnb_client *clients[ALL];
	unsigned n = 0;

	if (geteuid())
		skip(); /* the apps are users */
	service_run_as(&f->s, SERVICE);
	service_admit_other_users(&f->s);
	service_start(&f->s, OPTIONS("--app-identity", "uid", "--limit", "total-connections=128"));
	for (uid_t user = USERS; user < USERS + ALL; user++)
		if (n < ALL && (clients[n] = opened_as(&f->s, user)))
			n++;
	print_message("%u connections of others\n", n);
	assert_in_range(n, ALL / 2, ALL - 2);
	for (int i = 0; i < 2; i++) {
		struct nnb_client *own = opened_as(&f->s, i ? SERVICE : 0);
		struct nnb_service_counts counts;

		assert_non_null(own);
		assert_int_equal(nnb_client_counts(own, &counts, NULL), NNB_STATUS_NONE);
		nnb_client_close(own);
	}
	while (n)
		nnb_client_close(clients[--n]);
	service_settles(&f->s);
}

/* A burst of the app @user. The listening socket that it offers is this user's (base/offer.h). */
static struct nnb_burst *burst_as(struct nnb_remote *remote, uid_t user)
{
	struct nnb_burst *burst;

	assert_int_equal(seteuid(user), 0);
	burst = app_burst(remote);
	assert_int_equal(seteuid(0), 0);
	return burst;
}

/* Each message with files needs a process of the user's: other users, who have some at work, too, take none away. */
static void bursts_of_a_user_beside_many_others_go_on(void **state)
{
	struct fixture *f = *state;
	struct nnb_model *m = vector_model(NNB_ADD, N, 1);
	struct nnb_client *clients[BESIDE + 1];
	struct nnb_burst *bursts[BURSTS];
	struct nnb_remote *remote;
	struct io io;

	if (geteuid())
		skip(); /* the apps are users */
	f->s.files = FEW;
	service_admit_other_users(&f->s);
	service_start(&f->s, OPTIONS("--app-identity", "uid"));
	for (uid_t i = 0; i <= BESIDE; i++)
		assert_non_null(clients[i] = opened_as(&f->s, CROWDED + i));
	assert_int_equal(seteuid(CROWDED + BESIDE), 0);
	remote = app_prepare(clients[BESIDE], m);
	assert_int_equal(seteuid(0), 0);
	io_init(&io, N);
	for (int i = 0; i < BURSTS; i++) {
		bursts[i] = burst_as(remote, CROWDED + BESIDE);
		for (uid_t user = CROWDED; user < CROWDED + BESIDE; user++)
			nnb_client_close(opened_as(&f->s, user)); /* a socket: a file, as any other */
	}
	for (int i = 0; i < BURSTS; i++) {
		io_refresh(&io, (float)i);
		expect_burst(bursts[i], &io, NNB_ADD);
		nnb_burst_free(bursts[i]);
	}
	io_fini(&io);
	nnb_remote_release(remote);
	for (int i = 0; i <= BESIDE; i++)
		nnb_client_close(clients[i]);
	nnb_model_free(m);
	service_settles(&f->s);
}

/* Connections of one user after another, until there is no porter for the next one. Returns their number. */
static int users_take_all_porters(const struct service *s, struct nnb_client *ret[CROWD])
{
	const struct nnb_client_config config = { .socket = s->socket };
	struct nnb_reason why = { "" };
	int n = 0, r = 0;

	for (; !r && n < CROWD; n += !r) {
		assert_int_equal(seteuid(CROWDED + 1 + (uid_t)n), 0);
		r = nnb_client_open(&ret[n], &config, &why);
		assert_int_equal(seteuid(0), 0);
	}
	print_message("%d users have a porter\n", n);
	assert_int_equal(r, -EAGAIN); /* RESOURCE_EXHAUSTED_TRANSIENT */
	assert_non_null(strstr(why.text, "the limit of porters"));
	return n;
}

/* One more user than there may be porters is refused. The others go on, and so does it once one of them has gone. */
static void a_user_beyond_the_limit_of_porters_gets_a_reason(void **state)
{
	struct fixture *f = *state;
	struct nnb_client *clients[CROWD];
	int n;

	if (geteuid())
		skip(); /* the apps are users */
	f->s.files = FEW;
	service_admit_other_users(&f->s);
	service_start(&f->s, OPTIONS("--app-identity", "uid"));
	n = users_take_all_porters(&f->s, clients);
	for (int i = 0; i < n; i++)
		nnb_client_close(opened_as(&f->s, CROWDED + 1 + (uid_t)i));
	nnb_client_close(clients[--n]);
	clients[n] = opened_as(&f->s, CROWDED);
	assert_non_null(clients[n++]);
	while (n)
		nnb_client_close(clients[--n]);
	service_settles(&f->s);
}

struct porters {
	pid_t service, found;
};

static bool porter_note(pid_t pid, void *arg)
{
	struct porters *p = arg;

	if (parent_of(parent_of(pid)) != p->service)
		return false;
	assert_int_equal(p->found, 0);
	p->found = pid;
	return false;
}

/*
 * An app whose porter does not answer, where others have all places: a call that has files is refused. The connection
 * stays, and has another porter once a quarter of the places is vacant.
 */
static void a_call_without_a_porter_is_refused(void **state)
{
	enum { QUARTER = FEW / 80 }; /* of 48 places */
	struct fixture *f = *state;
	const struct nnb_client_config config = { .socket = f->s.socket };
	struct nnb_model *m = vector_model(NNB_ADD, N, 1);
	struct nnb_client *clients[CROWD], *client, *second;
	struct nnb_reason why = { "" };
	struct nnb_remote *remote;
	struct io io;
	struct porters porters = { 0, 0 };
	int n;

	if (geteuid())
		skip(); /* the apps are users */
	f->s.files = FEW;
	service_admit_other_users(&f->s);
	service_start(&f->s, OPTIONS("--app-identity", "uid"));
	client = opened_as(&f->s, CROWDED);
	assert_non_null(client);
	porters.service = f->s.pid;
	is_any_process("/proc", porter_note, &porters); /* the child of the service's child */
	assert_int_not_equal(porters.found, 0);
	assert_int_equal(seteuid(CROWDED), 0);
	remote = app_prepare(client, m);
	io_init(&io, N);
	expect_sync(remote, &io, NNB_ADD);
	assert_int_equal(seteuid(0), 0);
	n = users_take_all_porters(&f->s, clients);
	kill(porters.found, SIGSTOP);
	assert_int_equal(seteuid(CROWDED), 0);
	assert_int_equal(nnb_client_open(&second, &config, NULL), -EAGAIN); /* its porter is left behind */
	assert_int_equal(nnb_remote_execute(remote, &io.call, &io.answer, &why),
	                 NNB_STATUS_RESOURCE_EXHAUSTED_TRANSIENT);
	assert_non_null(strstr(why.text, "the limit of porters"));
	for (int i = 0; i < QUARTER; i++)
		nnb_client_close(clients[--n]);
	io_refresh(&io, 1);
	expect_sync(remote, &io, NNB_ADD);
	assert_int_equal(seteuid(0), 0);
	kill(porters.found, SIGCONT);
	io_fini(&io);
	nnb_remote_release(remote);
	nnb_client_close(client);
	while (n)
		nnb_client_close(clients[--n]);
	nnb_model_free(m);
	service_settles(&f->s);
}

/* ---- fences beside an app that reads no answers ---- */

static void an_app_that_reads_no_answers_breaks_no_fences(void **state)
{
	struct fixture *f = *state;
	struct nnb_model *m = vector_model(NNB_ADD, N, 1);
	unsigned broken = 0;
	struct nnb_client *client;
	struct nnb_remote *remote;
	struct nnb_fenced *fenced;
	struct child silent;
	struct io io;
	int fence;

	if (geteuid())
		skip(); /* the service must run as another user than the apps */
	service_run_as(&f->s, SERVICE);
	service_admit_other_users(&f->s);
	service_start(&f->s, OPTIONS("--app-identity", "uid"));
	child_start(&silent, "takes no answers", &f->s, "65000");
	assert_int_equal(child_read(&silent), '.');
	client = app_open(&f->s);
	remote = app_prepare(client, m);
	io_init(&io, N);
	for (int i = 0; i < FENCES; i++) {
		io_refresh(&io, (float)i);
		if (nnb_remote_execute_fenced(remote, &io.call, NULL, &fenced, &fence, NULL)) {
			broken++;
			continue;
		}
		if (nnb_fence_wait(&fence, 1, PATIENCE) != NNB_FENCE_SIGNALLED || !io_right(&io, NNB_ADD, 1))
			broken++;
		close(fence);
		nnb_fenced_free(fenced);
	}
	print_message("%u of %d fences are broken\n", broken, FENCES);
	assert_int_equal(broken, 0);
	child_kill(&silent);
	nnb_remote_release(remote);
	nnb_client_close(client);
	nnb_model_free(m);
	io_fini(&io);
	service_settles(&f->s);
}

int main(int argc, char **argv)
{
	if (argc == 5 && !strcmp(argv[1], "--scene")) {
		if (!strcmp(argv[2], "takes all"))
			takes_all(argv[3], argv[4]);
		if (!strcmp(argv[2], "takes threads"))
			takes_threads(argv[3], argv[4]);
		if (!strcmp(argv[2], "crowds"))
			crowds(argv[4]);
		takes_no_answers(argv[3], argv[4]);
	}
#define TEST(f) add_test(f, set_up, tear_down, NULL, "%s", #f)
	TEST(apps_that_take_all_leave_others_theirs);
	TEST(apps_that_take_all_threads_leave_others_theirs);
	TEST(a_client_without_a_thread_gets_a_reason);
	TEST(administrators_connect_beside_any_number_of_users);
	TEST(bursts_of_a_user_beside_many_others_go_on);
	TEST(a_user_beyond_the_limit_of_porters_gets_a_reason);
	TEST(a_call_without_a_porter_is_refused);
	TEST(an_app_that_reads_no_answers_breaks_no_fences);
	return _cmocka_run_group_tests("service: quotas", tests, n_tests, NULL, NULL);
}
