/* service_helpers.c -- a real nnburstd for tests, processes for tests, and apps. */
#include "service_helpers.h"

#include <dirent.h>
#include <ftw.h>
#include <grp.h>
#include <poll.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

/* ---- waiting ---- */

void poll_pause(void)
{
	nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
}

void await(const atomic_uint *word, unsigned value)
{
	uint64_t end = now_ns() + PATIENCE;

	for (; atomic_load(word) != value; poll_pause())
		if (now_ns() >= end)
			fail_msg("the word stays %u, and does not become %u", atomic_load(word), value);
}

/* ---- the service's life ---- */

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *where)
{
	(void)st;
	(void)kind;
	(void)where;
	return remove(path);
}

void remove_all(const char *dir)
{
	assert_int_equal(nftw(dir, remove_one, 8, FTW_DEPTH | FTW_PHYS), 0);
}

static int listen_for_notes(const struct service *s)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	snprintf(at.sun_path, sizeof(at.sun_path), "%s/notify", s->dir);
	assert_int_equal(bind(fd, (struct sockaddr *)&at, sizeof(at)), 0);
	return fd;
}

/* Some tests open the files of hundreds of pools. */
static void raise_file_limit(void)
{
	struct rlimit limits;

	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limits), 0);
	limits.rlim_cur = limits.rlim_max;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limits), 0);
}

void skip_without_files(unsigned n)
{
	enum { SKIPPED = 77 };
	struct rlimit limits;

	if (getrlimit(RLIMIT_NOFILE, &limits) || limits.rlim_max >= n)
		return;
	fprintf(stderr, "skipped: the limit of file descriptors is %llu, and this needs %u\n",
	        (unsigned long long)limits.rlim_max, n);
	exit(SKIPPED);
}

void service_init(struct service *s)
{
	int fd;

	raise_file_limit();
	*s = (struct service){ .dir = "/tmp/nnb_service.XXXXXX" };
	assert_non_null(mkdtemp(s->dir));
	snprintf(s->socket, sizeof(s->socket), "%s/socket", s->dir);
	snprintf(s->gate_path, sizeof(s->gate_path), "%s/gate", s->dir);
	snprintf(s->log, sizeof(s->log), "%s/log", s->dir);
	s->notify = listen_for_notes(s);
	fd = open(s->gate_path, O_CREAT | O_RDWR | O_CLOEXEC, 0600);
	assert_int_equal(ftruncate(fd, sizeof(*s->gate)), 0);
	s->gate = mmap(NULL, sizeof(*s->gate), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	assert_ptr_not_equal(s->gate, MAP_FAILED);
	close(fd);
}

void service_admit_other_users(const struct service *s)
{
	assert_int_equal(chmod(s->dir, 0755), 0);
}

void service_run_as(struct service *s, uid_t user)
{
	char notify[64];

	snprintf(notify, sizeof(notify), "%s/notify", s->dir);
	assert_int_equal(chown(s->dir, user, user) || chown(s->gate_path, user, user) || chown(notify, user, user), 0);
	s->user = user;
}

/*
 * A session daemon of root that begins or ends meanwhile would add descriptors and mappings to those of the service.
 * So where that is allowed, this process no longer sees /run, where that daemon listens; unless a script records the
 * test with a session daemon of its own (lttng.sh).
 */
static void hide_session_daemons(void)
{
	if (!geteuid() && !getenv("OWN_NAMESPACE") && !unshare(CLONE_NEWNS) &&
	    !mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL))
		(void)mount("own", "/run", "tmpfs", 0, NULL);
}

static void become_service(const struct service *s, char **argv)
{
	int fd = open(s->log, O_CREAT | O_WRONLY | O_APPEND | O_CLOEXEC, 0600);
	const struct rlimit files = { s->files, s->files }, threads = { s->threads, s->threads };

	if (fd < 0 || dup2(fd, 1) < 0 || dup2(fd, 2) < 0)
		_exit(126);
	hide_session_daemons();
	if (s->files && setrlimit(RLIMIT_NOFILE, &files))
		_exit(126);
	if (s->threads && setrlimit(RLIMIT_NPROC, &threads))
		_exit(126);
	if (s->user && (setgroups(0, NULL) || setgid(s->user) || setuid(s->user) || prctl(PR_SET_PDEATHSIG, SIGKILL)))
		_exit(126);
	execv(NNBURSTD, argv);
	_exit(127);
}

void service_spawn(struct service *s, const char *const *options)
{
	const char *argv[32] = { "nnburstd", "--socket", s->socket, "--driver", DRIVER_GATE, "--lanes", "16" };
	char notify[64];
	pid_t parent = getpid();
	unsigned n = 7; /* more lanes than cpus: tests hold several executions at once */

	while (*options)
		argv[n++] = *options++;
	snprintf(notify, sizeof(notify), "%s/notify", s->dir);
	setenv("NOTIFY_SOCKET", notify, 1);
	setenv("NNB_GATE", s->gate_path, 1);
	memset(s->gate, 0, sizeof(*s->gate));
	s->pid = fork();
	if (!s->pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() == parent || getpid() == 1) /* process 1 of a pid namespace does not see its parent */
			become_service(s, (char **)(uintptr_t)argv);
		_exit(1);
	}
	assert_true(s->pid > 0);
}

bool service_read_state(struct service *s, char ret[256])
{
	uint64_t end = now_ns() + PATIENCE;
	struct pollfd at = { .fd = s->notify, .events = POLLIN };
	siginfo_t gone = { 0 };
	ssize_t n;

	while (poll(&at, 1, 10) <= 0) {
		waitid(P_PID, (id_t)s->pid, &gone, WEXITED | WNOHANG | WNOWAIT);
		if (gone.si_pid || now_ns() >= end)
			return false;
	}
	n = recv(s->notify, ret, 255, 0);
	assert_true(n > 0);
	ret[n] = '\0';
	return true;
}

void service_start(struct service *s, const char *const *options)
{
	char said[256] = "";

	while (recv(s->notify, said, sizeof(said), MSG_DONTWAIT) > 0)
		; /* drop the messages of an earlier service */
	service_spawn(s, options);
	if (!service_read_state(s, said) || !strstr(said, "READY=1")) {
		service_show(s);
		service_kill(s);
		fail_msg("the service does not start ('%s')", said);
	}
	assert_true(falls_asleep(s->pid, s->pid)); /* asleep, it has closed the socket by which it reported READY */
	s->baseline = service_footprint(s);
}

int service_reap(struct service *s)
{
	int status = reap(s->pid);

	s->pid = 0;
	if (status)
		service_show(s);
	return status;
}

int service_stop(struct service *s)
{
	kill(s->pid, SIGTERM);
	return service_reap(s);
}

void service_kill(struct service *s)
{
	if (!s->pid)
		return;
	kill(s->pid, SIGKILL);
	waitpid(s->pid, NULL, 0);
	s->pid = 0;
}

void service_fini(struct service *s)
{
	int status = 0;

	if (s->pid) {
		atomic_store(&s->gate->hold_runs, 0);
		atomic_store(&s->gate->hold_prepares, 0);
		atomic_store(&s->gate->hold_copies, 0);
		status = service_stop(s);
	}
	munmap(s->gate, sizeof(*s->gate));
	close(s->notify);
	remove_all(s->dir);
	assert_int_equal(status, 0);
}

int service_tear_down(void **state)
{
	service_fini(*state);
	free(*state);
	return 0;
}

/* ---- the service's resources ---- */

static unsigned entries(pid_t pid, const char *what)
{
	char path[64];
	DIR *dir;
	unsigned n = 0;

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, what);
	dir = opendir(path);
	if (!dir)
		return 0;
	while (readdir(dir))
		n++;
	closedir(dir);
	return n - 2;
}

static FILE *open_maps(const struct service *s)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)s->pid);
	return fopen(path, "re");
}

static unsigned shared_maps(const struct service *s, bool show)
{
	FILE *f = open_maps(s);
	char line[512], perms[8];
	unsigned n = 0;

	while (f && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%*s %7s", perms) != 1 || perms[3] != 's')
			continue;
		if (show)
			print_error("  map %s", line);
		n++;
	}
	if (f)
		fclose(f);
	return n;
}

struct footprint service_footprint(const struct service *s)
{
	return (struct footprint){ entries(s->pid, "fd"), entries(s->pid, "task"), shared_maps(s, false) };
}

enum { SHOWN_FDS = 4096 };

static void show_fds(const struct service *s)
{
	char path[96], to[256];

	for (int fd = 0; fd < SHOWN_FDS; fd++) {
		ssize_t n;

		snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)s->pid, fd);
		n = readlink(path, to, sizeof(to) - 1);
		if (n > 0)
			print_error("  fd %d %.*s\n", fd, (int)n, to);
	}
}

static void show_log(const struct service *s)
{
	char line[512];
	FILE *f = fopen(s->log, "re");

	while (f && fgets(line, sizeof(line), f))
		print_error("  nnburstd: %s", line);
	if (f)
		fclose(f);
}

void service_show(const struct service *s)
{
	struct footprint is = service_footprint(s), was = s->baseline;

	if (s->pid) {
		print_error("service %d: %u fds (%u at first), %u threads (%u), %u maps (%u)\n", (int)s->pid, is.fds,
		            was.fds, is.threads, was.threads, is.maps, was.maps);
		show_fds(s);
		shared_maps(s, true);
	}
	show_log(s);
}

#ifdef __SANITIZE_THREAD__ /* the thread sanitizer starts a thread of its own with the first thread of the program */
enum { SANITIZERS_THREADS = 1 };
#else
enum { SANITIZERS_THREADS = 0 };
#endif

static bool is_settled(const struct service *s)
{
	struct footprint is = service_footprint(s);
	const struct gate *g = s->gate;

	return is.fds == s->baseline.fds && is.threads - s->baseline.threads <= SANITIZERS_THREADS &&
	       is.maps == s->baseline.maps && !atomic_load(&g->prepared) && !atomic_load(&g->runs) &&
	       !atomic_load(&g->buffers) && !atomic_load(&g->performance);
}

void service_settles(const struct service *s)
{
	uint64_t end = now_ns() + PATIENCE;

	for (; !is_settled(s); poll_pause()) {
		if (now_ns() < end)
			continue;
		service_show(s);
		fail_msg("the service holds on to something: %u prepared models, %u runs, %u buffers, performance %u",
		         atomic_load(&s->gate->prepared), atomic_load(&s->gate->runs), atomic_load(&s->gate->buffers),
		         atomic_load(&s->gate->performance));
	}
}

void service_maps(const struct service *s, unsigned maps)
{
	struct footprint is = service_footprint(s);

	if (is.maps == maps)
		return;
	service_show(s);
	fail_msg("%u mappings of shared memory, not %u", is.maps, maps);
}

/* ---- processes ---- */

void child_start(struct child *c, const char *name, const struct service *s, const char *argument)
{
	pid_t parent = getpid();
	int ends[2];

	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	c->pid = fork();
	if (!c->pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() == parent && dup2(ends[1], 1) >= 0)
			execl("/proc/self/exe", "test", "--scene", name, s->socket, argument, NULL);
		_exit(127);
	}
	assert_true(c->pid > 0);
	close(ends[1]);
	c->output = ends[0];
}

int child_read(struct child *c)
{
	struct pollfd at = { .fd = c->output, .events = POLLIN };
	unsigned char byte;
	int r;

	do
		r = poll(&at, 1, (int)(PATIENCE / MS));
	while (r < 0 && errno == EINTR);
	return r > 0 && read(c->output, &byte, 1) == 1 ? byte : -1;
}

void child_kill(struct child *c)
{
	int status;

	kill(c->pid, SIGKILL);
	waitpid(c->pid, &status, 0);
	close(c->output);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

int child_end(struct child *c)
{
	int status = reap(c->pid);

	close(c->output);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

void scene_report(char byte)
{
	if (write(1, &byte, 1) != 1)
		_exit(1);
}

void scene_stay(void)
{
	for (;;)
		pause();
}

/* ---- apps ---- */

struct nnb_client *app_open(const struct service *s)
{
	const struct nnb_client_config config = { .socket = s->socket };
	struct nnb_client *client;
	struct nnb_reason why = { "" };

	if (nnb_client_open(&client, &config, &why))
		fail_msg("%s", why.text);
	return client;
}

struct nnb_remote *app_prepare(struct nnb_client *client, const struct nnb_model *model)
{
	struct nnb_remote *remote = NULL;

	assert_none(nnb_remote_prepare(client, model, &ordinary, NULL, &remote, &why));
	return remote;
}

struct nnb_service_counts app_counts(struct nnb_client *client)
{
	struct nnb_service_counts counts = { 0 };

	assert_none(nnb_client_counts(client, &counts, &why));
	return counts;
}

struct nnb_burst *app_burst(struct nnb_remote *remote)
{
	struct nnb_burst *burst = NULL;

	assert_none(nnb_remote_burst(remote, NULL, &burst, &why));
	return burst;
}

void io_init_on(struct io *io, uint32_t n, struct nnb_pool *pool)
{
	*io = (struct io){ .pool = pool, .n = n, .in.location = { 0, 0, n * 4 }, .out.location = { 0, n * 4, n * 4 } };
	io->x = nnb_pool_data(pool);
	io->y = io->x ? io->x + n : NULL;
	io->call = (struct nnb_call){
		.inputs = &io->in, .outputs = &io->out, .pools = &io->pool, .n_inputs = 1, .n_outputs = 1, .n_pools = 1
	};
	io->answer.shapes = &io->shape;
}

void io_init(struct io *io, uint32_t n)
{
	struct nnb_pool *pool;

	assert_int_equal(nnb_pool_new(&pool, (uint64_t)n * 8), 0);
	io_init_on(io, n, pool);
	io_refresh(io, 1);
}

void io_fini(struct io *io)
{
	io->pool = nnb_pool_free(io->pool);
}

void io_refresh(struct io *io, float first)
{
	for (uint32_t i = 0; i < io->n; i++) {
		io->x[i] = first + (float)i;
		io->y[i] = -1e9F;
	}
}

bool io_right(const struct io *io, enum nnb_op op, uint32_t first)
{
	for (uint32_t i = 0; i < io->n; i++)
		if (io->y[i] != vector_expected(op, first, i, io->x[i]))
			return false;
	return true;
}

void expect_sync(struct nnb_remote *remote, struct io *io, enum nnb_op op)
{
	io_refresh(io, 3);
	assert_none(nnb_remote_execute(remote, &io->call, &io->answer, &why));
	assert_true(io_right(io, op, 1));
	assert_false(io->answer.fallback);
}

void expect_burst(struct nnb_burst *burst, struct io *io, enum nnb_op op)
{
	io_refresh(io, 5);
	assert_none(nnb_burst_execute(burst, &io->call, &io->answer, &why));
	assert_true(io_right(io, op, 1));
	assert_false(io->answer.fallback);
}

void told_note(void *arg, const struct nnb_result *result)
{
	struct told_status *t = arg;

	t->status = result->status;
	atomic_fetch_add(&t->times, 1);
}

enum nnb_status execute_and_await(struct nnb_remote *remote, const struct nnb_call *call, enum nnb_status *ret_told,
                                  struct nnb_reason *why)
{
	struct told_status t = { 0 };
	enum nnb_status status = nnb_remote_execute_async(remote, call, told_note, &t, why);

	await(&t.times, 1);
	*ret_told = t.status;
	return status;
}

/* ---- a service with one app ---- */

void one_app_open(struct one_app *a, uint32_t n)
{
	a->client = app_open(&a->s);
	a->adds = vector_model(NNB_ADD, n, 1);
	a->remote = app_prepare(a->client, a->adds);
	io_init(&a->io, n);
}

void one_app_close(struct one_app *a)
{
	nnb_burst_free(a->burst);
	nnb_remote_release(a->remote);
	nnb_client_close(a->client);
	nnb_model_free(a->adds);
	io_fini(&a->io);
	service_settles(&a->s);
	service_fini(&a->s);
}

int one_app_tear_down(void **state)
{
	one_app_close(*state);
	free(*state);
	return 0;
}

void visit_service(const struct service *s, const struct nnb_model *adds, uint32_t n)
{
	struct nnb_client *client = app_open(s);
	struct nnb_remote *remote = app_prepare(client, adds);
	struct nnb_burst *burst = app_burst(remote);
	struct io io;

	io_init(&io, n);
	expect_sync(remote, &io, NNB_ADD);
	expect_burst(burst, &io, NNB_ADD);
	nnb_burst_free(burst);
	nnb_remote_release(remote);
	nnb_client_close(client);
	io_fini(&io);
}
