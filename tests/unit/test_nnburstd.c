/*
 * test_nnburstd.c -- the program nnburstd: its options, its socket, which users it admits, what it reports,
 * how it ends.
 */
#include <errno.h>
#include <grp.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>

#include "service_helpers.h"

enum { N = 64, OUTPUT_MAX = 8192, NOBODY = 65534 };

struct fixture {
	struct service s;
	struct nnb_model *adds;
};

static int set_up(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	service_init(&f->s);
	f->adds = vector_model(NNB_ADD, N, 1);
	*state = f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	if (f->s.pid)
		service_settles(&f->s);
	nnb_model_free(f->adds);
	service_fini(&f->s);
	free(f);
	return 0;
}

/* ---- the command line ---- */

/* Run it with these words, in @dir. Returns its exit status; @output has what it printed. */
static int run(char output[OUTPUT_MAX], const char *dir, const char *words)
{
	char command[512];
	size_t n;
	FILE *f;

	snprintf(command, sizeof(command), "cd '%s' && unset NOTIFY_SOCKET && exec timeout 20 '%s' %s 2>&1", dir,
	         NNBURSTD, words);
	fflush(NULL);
	f = popen(command, "re");
	assert_non_null(f);
	n = fread(output, 1, OUTPUT_MAX - 1, f);
	output[n] = '\0';
	return WEXITSTATUS(pclose(f));
}

static const struct ending {
	const char *name, *words;
	int status;
	const char *says;
} endings[] = {
	{ "--help", "--help", 0, "usage:" },
	{ "--version", "--version", 0, "nnburstd " },
	{ "an unknown option", "--scoket x", 2, "scoket" },
	{ "an operand", "now", 2, "'now'" },
	{ "an option without its word", "--socket", 2, "--socket" },
	{ "an identity that is none", "--app-identity gid", 2, "'gid'" },
	{ "a time to spin that is none", "--spin soon", 2, "'soon'" },
	{ "a time to spin without a unit", "--spin 50", 2, "'50'" },
	{ "a time to spin beyond 64 bits", "--spin 99999999999999999s", 2, "'99999999999999999s'" },
	{ "a negative time to spin", "--spin -1us", 2, "'-1us'" },
	{ "a limit that is none", "--limit colours=3", 2, "colours" },
	{ "a limit without a number", "--limit pools", 2, "pools" },
	{ "a limit of nothing", "--limit pools=0", 2, "pools" },
	{ "a limit that is no number", "--limit pools=many", 2, "pools" },
	{ "a limit with something behind", "--limit pools=3x", 2, "pools" },
	{ "a limit beyond reason", "--limit models=5000000000", 2, "models" },
	{ "bytes beyond 64 bits", "--limit bytes=99999999999G", 2, "bytes" },
	{ "no such driver", "--socket s --driver nosuch", 5, "no driver 'nosuch'" },
	{ "a directory that is not there", "--socket nowhere/socket --driver null", 5, "nowhere/socket" },
	{ "a path too long for a socket",
	  "--driver null --socket ./././././././././././././././././././././././././././././././././././././././././"
	  "././././././././././././././s",
	  5, "too long" },
	{ "a file where the socket is to be", "--socket file --driver null", 5, "is not a socket" },
	{ "a key file that cannot be", "--socket s --driver null --cache-key nowhere/key", 5, "nowhere/key" },
	{ "a file of subordinate uids that is not there", "--socket s --driver null --subuid nowhere/subuid", 5,
	  "nowhere/subuid" },
	{ "the status of what is not there", "--status --socket nowhere", 5, "nowhere" },
	{ "nowhere to put the socket", "--app-identity pid --driver null", 5, "XDG_RUNTIME_DIR" },
};

static void ends_as_documented(void **state)
{
	const struct ending *e = *state;
	char dir[] = "/tmp/nnb_service.XXXXXX", file[64], output[OUTPUT_MAX];
	int status, fd;

	assert_non_null(mkdtemp(dir));
	snprintf(file, sizeof(file), "%s/file", dir);
	fd = open(file, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
	close(fd);
	unsetenv("XDG_RUNTIME_DIR");
	status = run(output, dir, e->words);
	assert_int_equal(access(file, F_OK), 0); /* a file that is not a socket stays */
	remove_all(dir);
	if (status != e->status || !strstr(output, e->says))
		fail_msg("exit status %d, and it says: %s", status, output);
}

/* ---- the socket ---- */

static unsigned lines(const char *text)
{
	unsigned n = 0;

	for (; *text; text++)
		n += *text == '\n';
	return n;
}

static void a_second_instance_is_refused_and_the_first_goes_on(void **state)
{
	struct fixture *f = *state;
	struct nnb_client *client;
	char output[OUTPUT_MAX], words[160];

	service_start(&f->s, OPTIONS(NULL));
	client = app_open(&f->s);
	snprintf(words, sizeof(words), "--socket '%s' --driver null", f->s.socket);
	assert_int_equal(run(output, f->s.dir, words), 5);
	assert_int_equal(lines(output), 1);
	assert_non_null(strstr(output, f->s.socket));
	app_comes_to_hold(client, all.connections, 1);
	nnb_client_close(client);
	nnb_client_close(app_open(&f->s));
}

static void a_stale_socket_is_replaced(void **state)
{
	struct fixture *f = *state;

	for (int i = 0; i < 3; i++) {
		service_start(&f->s, OPTIONS(NULL));
		nnb_client_close(app_open(&f->s));
		service_kill(&f->s);
		assert_int_equal(access(f->s.socket, F_OK), 0); /* the socket stays behind */
	}
	service_start(&f->s, OPTIONS(NULL));
	nnb_client_close(app_open(&f->s));
}

static void a_socket_without_a_service_is_replaced(void **state)
{
	struct fixture *f = *state;
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	strcpy(at.sun_path, f->s.socket);
	assert_int_equal(bind(fd, (struct sockaddr *)&at, sizeof(at)), 0);
	close(fd);
	service_start(&f->s, OPTIONS(NULL));
	nnb_client_close(app_open(&f->s));
}

static void the_socket_goes_when_it_stops(void **state)
{
	struct fixture *f = *state;

	for (int i = 0; i < 2; i++) {
		service_start(&f->s, OPTIONS(NULL));
		kill(f->s.pid, i ? SIGINT : SIGTERM);
		assert_int_equal(service_reap(&f->s), 0);
		assert_int_equal(access(f->s.socket, F_OK), -1);
	}
}

/* Make a process in which every eventfd fails. */
static void deny_eventfds(void)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_eventfd2, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EMFILE),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog program = { .len = N_OF(filter), .filter = filter };

	must(!prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) && !prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program));
}

static void one_that_cannot_start_leaves_no_socket(void **state)
{
	struct fixture *f = *state;
	int status;
	pid_t pid;

	fflush(NULL);
	pid = fork();
	if (!pid) {
		deny_eventfds();
		execl(NNBURSTD, "nnburstd", "--driver", "null", "--socket", f->s.socket, NULL);
		_exit(1);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 5);
	assert_int_equal(access(f->s.socket, F_OK), -1);
}

static void the_users_own_directory_is_made_for_it(void **state)
{
	struct fixture *f = *state;
	char path[96], output[OUTPUT_MAX];
	struct stat st;

	/* The service has no driver, so it stops after it has made its directory. */
	setenv("XDG_RUNTIME_DIR", f->s.dir, 1);
	assert_int_equal(run(output, "/tmp", "--app-identity pid --driver nosuch"), 5);
	unsetenv("XDG_RUNTIME_DIR");
	snprintf(path, sizeof(path), "%s/nnburst", f->s.dir);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0700);
}

/* ---- who is who ---- */

static void become(const char *user)
{
	uid_t uid = (uid_t)atoi(user);

	if (uid == geteuid())
		return;
	must(setgroups(0, NULL) == 0 && setresgid(uid, uid, uid) == 0 && setresuid(uid, uid, uid) == 0);
}

/* A scene: as user ARGUMENT, connect; write 'y', or 'n' with an exit status of the errno. */
static void come_in(const char *socket_path, const char *user)
{
	const struct nnb_client_config config = { .socket = socket_path };
	struct nnb_client *client;
	uint32_t app;
	int r;

	become(user);
	r = nnb_client_open(&client, &config, NULL);
	if (r) {
		scene_report('n');
		_exit(-r);
	}
	app = nnb_client_info(client)->app;
	scene_report(app == geteuid()                     ? 'u'
	             : app == (uint32_t)getpid()          ? 'p'
	             : app == NOBODY || app == NOBODY - 1 ? 's' /* the account of a subordinate uid */
	                                                  : '?');
	scene_stay();
}

static void comes_in(struct child *c, const struct service *s, unsigned user, int hears)
{
	char text[16];

	snprintf(text, sizeof(text), "%u", user);
	child_start(c, "come in", s, text);
	assert_int_equal(child_read(c), hears);
}

/* Admit the apps of other users; only root can be several users. */
static void admit_other_users_or_skip(const struct service *s)
{
	if (geteuid())
		skip();
	service_admit_other_users(s);
}

static void by_pid_each_process_is_an_app(void **state)
{
	struct fixture *f = *state;
	struct child children[3];
	struct nnb_client *client;

	service_start(&f->s, OPTIONS("--app-identity", "pid", "--limit", "connections=1"));
	for (size_t i = 0; i < N_OF(children); i++)
		comes_in(&children[i], &f->s, geteuid(), 'p');
	client = app_open(&f->s);
	assert_int_equal(nnb_client_info(client)->app, getpid());
	app_comes_to_hold(client, all.connections, 4);
	app_comes_to_hold(client, app.connections, 1);
	nnb_client_close(client);
	for (size_t i = 0; i < N_OF(children); i++)
		child_kill(&children[i]);
}

static void by_pid_another_user_is_not_let_in(void **state)
{
	struct fixture *f = *state;
	struct child c;
	struct stat st;

	service_start(&f->s, OPTIONS("--app-identity", "pid"));
	assert_int_equal(stat(f->s.socket, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	admit_other_users_or_skip(&f->s);
	comes_in(&c, &f->s, NOBODY, 'n');
	assert_int_equal(child_end(&c), EACCES);
	assert_int_equal(chmod(f->s.socket, 0666), 0); /* not even where the file system lets them */
	comes_in(&c, &f->s, NOBODY, 'n');
	assert_int_equal(child_end(&c), EACCES);
	comes_in(&c, &f->s, 0, 'p');
	child_kill(&c);
}

/* */
static void by_uid_a_user_is_an_app_whatever_the_process(void **state)
{
	struct fixture *f = *state;
	struct child first, second, others;
	struct nnb_client *root;

	admit_other_users_or_skip(&f->s);
	service_start(&f->s, OPTIONS("--limit", "connections=2"));
	comes_in(&first, &f->s, NOBODY, 'u');
	comes_in(&second, &f->s, NOBODY, 'u');
	comes_in(&others, &f->s, NOBODY, 'n'); /* the processes share the limit of their app */
	assert_int_equal(child_end(&others), EAGAIN);
	comes_in(&others, &f->s, NOBODY - 1, 'u'); /* another user has a limit of its own */
	root = app_open(&f->s);
	assert_int_equal(nnb_client_info(root)->app, 0);
	app_comes_to_hold(root, all.connections, 4);
	app_comes_to_hold(root, app.connections, 1);
	child_kill(&first);
	app_comes_to_hold(root, all.connections, 3);
	comes_in(&first, &f->s, NOBODY, 'u');
	nnb_client_close(root);
	child_kill(&first);
	child_kill(&second);
	child_kill(&others);
}

static void subuid_write(const char *path, const char *lines)
{
	FILE *f = fopen(path, "we");

	assert_non_null(f);
	fputs(lines, f);
	assert_int_equal(fclose(f), 0);
}

/* A user who has subordinate uids must not have the places of so many users. */
static void by_uid_an_account_and_its_subordinate_uids_are_one_app(void **state)
{
	struct fixture *f = *state;
	struct child itself, below, other;
	char path[64];

	admit_other_users_or_skip(&f->s);
	snprintf(path, sizeof(path), "%s/subuid", f->s.dir);
	subuid_write(path, "65534:100000:65536\n");
	service_start(&f->s, OPTIONS("--limit", "connections=2", "--subuid", path));
	comes_in(&itself, &f->s, NOBODY, 'u');
	comes_in(&below, &f->s, 100000, 's');
	comes_in(&other, &f->s, 165535, 'n');
	assert_int_equal(child_end(&other), EAGAIN);
	comes_in(&other, &f->s, 165536, 'u');
	child_kill(&other);
	child_kill(&itself);

	/* Another account gets a range while the service runs. */
	subuid_write(path, "65534:100000:65536\n65533:165536:65536\n");
	comes_in(&other, &f->s, 165536, 's');
	child_kill(&other);
	child_kill(&below);
	assert_int_equal(service_stop(&f->s), 0);

	service_start(&f->s, OPTIONS("--subuid", "none"));
	comes_in(&below, &f->s, 100000, 'u');
	child_kill(&below);
	unlink(path);
}

/* Whether @service has the arguments that it was started with, as /proc shows them to every user. */
static bool shows_arguments(const struct service *s)
{
	char path[64], text[8];
	size_t n;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/cmdline", (int)s->pid);
	f = fopen(path, "re");
	assert_non_null(f);
	n = fread(text, 1, sizeof(text), f);
	fclose(f);
	return n > 0;
}

/* The kernel locks the memory map of a process for a read of its arguments, and for nothing if there are none. */
static void by_uid_no_user_can_read_its_command_line(void **state)
{
	struct fixture *f = *state;
	unsigned size;

	if (prctl(PR_SET_MM, PR_SET_MM_MAP_SIZE, &size, 0, 0))
		skip(); /* this kernel does not let a process change its map */
	service_start(&f->s, OPTIONS("--app-identity", "uid"));
	assert_false(shows_arguments(&f->s));
	assert_int_equal(service_stop(&f->s), 0);
	service_start(&f->s, OPTIONS("--app-identity", "pid"));
	assert_true(shows_arguments(&f->s));
}

static void all_apps_together_have_so_many_connections(void **state)
{
	struct fixture *f = *state;
	struct child children[3];

	service_start(&f->s, OPTIONS("--app-identity", "pid", "--limit", "total-connections=2"));
	comes_in(&children[0], &f->s, geteuid(), 'p');
	comes_in(&children[1], &f->s, geteuid(), 'p');
	comes_in(&children[2], &f->s, geteuid(), 'n');
	assert_int_equal(child_end(&children[2]), EAGAIN);
	child_kill(&children[0]);
	child_kill(&children[1]);
}

/* ---- what it reports to a service manager ---- */

static void it_reports_when_it_is_ready_and_when_it_stops(void **state)
{
	struct fixture *f = *state;
	struct nnb_client *client;
	char said[256];

	service_spawn(&f->s, OPTIONS(NULL));
	assert_true(service_read_state(&f->s, said));
	assert_string_equal(said, "READY=1");
	client = app_open(&f->s); /* at once: the first try succeeds */
	kill(f->s.pid, SIGTERM);
	assert_true(service_read_state(&f->s, said));
	assert_string_equal(said, "STOPPING=1");
	assert_int_equal(service_reap(&f->s), 0);
	nnb_client_close(client);
}

static void it_reports_to_an_abstract_socket_too(void **state)
{
	struct fixture *f = *state;
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	char command[512], said[64] = "";
	socklen_t n;
	FILE *p;

	n = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 +
	                (size_t)snprintf(at.sun_path + 1, sizeof(at.sun_path) - 1, "%s", f->s.dir));
	assert_int_equal(bind(fd, (struct sockaddr *)&at, n), 0);
	snprintf(command, sizeof(command),
	         "NOTIFY_SOCKET='@%s' '%s' --socket '%s' --driver null & read line; kill $!; wait $!; exit $?",
	         f->s.dir, NNBURSTD, f->s.socket);
	p = popen(command, "we"); /* the program has our standard output: only its end is checked */
	assert_non_null(p);
	assert_true(recv(fd, said, sizeof(said) - 1, 0) > 0);
	assert_string_equal(said, "READY=1");
	fputs("\n", p);
	assert_int_equal(pclose(p), 0);
	memset(said, 0, sizeof(said));
	assert_true(recv(fd, said, sizeof(said) - 1, 0) > 0);
	assert_string_equal(said, "STOPPING=1");
	close(fd);
}

/* ---- what it reports to its clients ---- */

/* The numbers of a row of the status. */
static void expect_budget(const char *status, const char *name, const char *numbers)
{
	char expected[96], words[128] = "";
	const char *at;
	unsigned n = 0;

	snprintf(expected, sizeof(expected), "\n%s ", name);
	at = strstr(status, expected);
	assert_non_null(at++);
	for (; *at && *at != '\n' && n < sizeof(words) - 1; at++)
		if (*at != ' ' || (n && words[n - 1] != ' '))
			words[n++] = *at;
	snprintf(expected, sizeof(expected), "%s %s", name, numbers);
	assert_string_equal(words, expected);
}

/* The numbers of a row: of all apps, of the app that asks, and its limit. */
static void expect_row(const char *status, const char *name, unsigned all, unsigned app, unsigned limit)
{
	char numbers[64];

	snprintf(numbers, sizeof(numbers), "%u %u %u", all, app, limit);
	expect_budget(status, name, numbers);
}

/*
 * Run nnburstd with @option until its output has @words: the service charges what came with a message until
 * the answer is sent, so the next message may still see that charge.
 */
static void await_output(const struct fixture *f, char *output, const char *option, const char *words)
{
	uint64_t until = now_ns() + PATIENCE;
	char command[160];

	snprintf(command, sizeof(command), "%s --socket '%s'", option, f->s.socket);
	do
		assert_int_equal(run(output, f->s.dir, command), 0);
	while (!strstr(output, words) && now_ns() < until);
}

static void it_reports_what_it_holds(void **state)
{
	struct fixture *f = *state;
	char output[OUTPUT_MAX], pid[32];
	struct nnb_client *client;
	struct nnb_remote *remote;
	struct nnb_burst *burst;
	const struct nnb_buffer_role first = { 0, 0, 1 };
	const struct nnb_buffer_desc desc = { .outputs = &first, .n_outputs = 1 };
	struct nnb_remote_buffer *buffer;
	struct io io;

	f->s.files = 4000;
	service_start(&f->s, OPTIONS("--app-identity", "pid", "--limit", "models=3", "--limit", "buffers=5"));
	client = app_open(&f->s);
	remote = app_prepare(client, f->adds);
	assert_none(nnb_remote_buffer_new(&buffer, client, &remote, 1, &desc, false, &why));
	burst = app_burst(remote);
	io_init(&io, N);
	expect_burst(burst, &io, NNB_ADD);
	await_output(f, output, "--status", " 15 ");
	snprintf(pid, sizeof(pid), "process %d,", (int)f->s.pid);
	assert_non_null(strstr(output, pid));
	assert_non_null(strstr(output, "driver gate, kept fast"));
	expect_row(output, "connections", 2, 1, 16);
	expect_row(output, "models", 1, 0, 3);
	expect_row(output, "bursts", 1, 0, 256);
	expect_row(output, "buffers", 1, 0, 5);
	expect_row(output, "pools", 2, 0, 4096);
	assert_non_null(strstr(output, "1 burst requests (0 malformed), 1 slot lookups (1 missed)"));
	/* two connections, a channel each, a burst and two pools of two; its own: a connection and a channel */
	expect_budget(output, "descriptors", "15 4 1000 31 4000");
	await_output(f, output, "--metrics", "\nnnburst_budget_used{resource=\"descriptors\"} 15\n");
	assert_non_null(strstr(output, "\nnnburst_budget_used{resource=\"descriptors\"} 15\n"));
	assert_non_null(strstr(output, "\nnnburst_budget_used{resource=\"threads\"} 5\n")); /* no thread for a pool */
	assert_non_null(strstr(output, "\nnnburst_budget_limit{resource=\"descriptors\"} 4000\n"));
	assert_non_null(strstr(output, "\nnnburst_budget_app_limit{resource=\"descriptors\"} 1000\n"));
	assert_non_null(strstr(output, "\n# EOF\n"));
	nnb_remote_buffer_free(buffer);
	nnb_burst_free(burst);
	nnb_remote_release(remote);
	nnb_client_close(client);
	io_fini(&io);
}

/* ---- stopping ---- */

struct load {
	const struct service *s;
	struct nnb_client *client;
	struct nnb_remote *remote;
	struct nnb_burst *burst; /* NULL: the ordinary way */
	pthread_t thread;
	atomic_uint done;
	enum nnb_status last, after;
	unsigned wrong;
};

static void *execute_until_it_ends(void *arg)
{
	struct load *l = arg;
	struct io io;

	io_init(&io, N);
	for (;;) {
		io_refresh(&io, 1);
		l->last = l->burst ? nnb_burst_execute(l->burst, &io.call, &io.answer, NULL)
		                   : nnb_remote_execute(l->remote, &io.call, &io.answer, NULL);
		if (l->last)
			break;
		l->wrong += !io_right(&io, NNB_ADD, 1);
		atomic_fetch_add(&l->done, 1);
	}
	l->after = l->burst ? nnb_burst_execute(l->burst, &io.call, &io.answer, NULL)
	                    : nnb_remote_execute(l->remote, &io.call, &io.answer, NULL);
	io_fini(&io);
	return NULL;
}

static void loads_start(struct load *loads, size_t n, const struct service *s, const struct nnb_model *model)
{
	for (size_t i = 0; i < n; i++) {
		loads[i].s = s;
		loads[i].client = app_open(s);
		loads[i].remote = app_prepare(loads[i].client, model);
		loads[i].burst = i % 2 ? app_burst(loads[i].remote) : NULL;
		assert_int_equal(pthread_create(&loads[i].thread, NULL, execute_until_it_ends, &loads[i]), 0);
	}
	for (size_t i = 0; i < n; i++)
		while (atomic_load(&loads[i].done) < 50)
			poll_pause();
}

static void loads_finish(struct load *loads, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct load *l = &loads[i];

		pthread_join(l->thread, NULL);
		assert_int_equal(l->wrong, 0);
		assert_true(l->last == NNB_STATUS_DEAD_OBJECT || l->last == NNB_STATUS_GENERAL_FAILURE);
		assert_int_equal(l->after, NNB_STATUS_DEAD_OBJECT);
		nnb_burst_free(l->burst);
		nnb_remote_release(l->remote);
		nnb_client_close(l->client);
	}
}

static void it_stops_under_load(void **state)
{
	struct fixture *f = *state;

	for (int i = 0; i < 5; i++) {
		struct load loads[4] = { { 0 } };

		service_start(&f->s, OPTIONS(NULL));
		loads_start(loads, N_OF(loads), &f->s, f->adds);
		kill(f->s.pid, SIGTERM);
		assert_int_equal(service_reap(&f->s), 0);
		loads_finish(loads, N_OF(loads));
	}
}

/* An impatient user sends several signals. */
static void any_number_of_signals_stops_it_once(void **state)
{
	struct fixture *f = *state;

	for (int i = 0; i < 20; i++) {
		siginfo_t gone = { 0 };

		service_start(&f->s, OPTIONS(NULL));
		while (!gone.si_pid) {
			kill(f->s.pid, SIGTERM);
			kill(f->s.pid, SIGINT);
			waitid(P_PID, (id_t)f->s.pid, &gone, WEXITED | WNOHANG | WNOWAIT);
		}
		assert_int_equal(service_reap(&f->s), 0);
	}
}

/* The order of hanging up does not matter, nor does a connection that sends nothing. */
static void a_silent_connection_does_not_keep_it(void **state)
{
	struct fixture *f = *state;
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	int fds[4];

	service_start(&f->s, OPTIONS(NULL));
	strcpy(at.sun_path, f->s.socket);
	for (size_t i = 0; i < N_OF(fds); i++) {
		fds[i] = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
		assert_int_equal(connect(fds[i], (struct sockaddr *)&at, sizeof(at)), 0);
	}
	nnb_client_close(app_open(&f->s));
	assert_int_equal(service_stop(&f->s), 0);
	for (size_t i = 0; i < N_OF(fds); i++)
		close(fds[i]);
}

static void spinning_or_not_the_answers_are_the_same(void **state)
{
	static const char *const how[] = { "auto", "none", "always", "50us", "2ms", "100000ns", "1s" };
	struct fixture *f = *state;

	for (size_t i = 0; i < N_OF(how); i++) {
		struct nnb_client *client;
		struct nnb_remote *remote;
		struct nnb_burst *burst;
		struct io io;

		service_start(&f->s, OPTIONS("--spin", how[i]));
		client = app_open(&f->s);
		remote = app_prepare(client, f->adds);
		burst = app_burst(remote);
		io_init(&io, N);
		for (int k = 0; k < 20; k++)
			expect_burst(burst, &io, NNB_ADD);
		nnb_burst_free(burst);
		nnb_remote_release(remote);
		nnb_client_close(client);
		io_fini(&io);
		service_settles(&f->s);
		assert_int_equal(service_stop(&f->s), 0);
	}
}

#define TEST(function, words) add_test(function, set_up, tear_down, NULL, words)

int main(int argc, char **argv)
{
	if (argc == 5 && !strcmp(argv[1], "--scene")) {
		come_in(argv[3], argv[4]);
		return 1;
	}
	for (size_t i = 0; i < N_OF(endings); i++)
		add_test(ends_as_documented, NULL, NULL, (void *)&endings[i], "exit status: %s", endings[i].name);
	TEST(a_second_instance_is_refused_and_the_first_goes_on, "a second instance is refused, and the first goes on");
	TEST(a_stale_socket_is_replaced, "a stale socket is replaced");
	TEST(one_that_cannot_start_leaves_no_socket, "one that cannot start leaves no socket");
	TEST(a_socket_without_a_service_is_replaced, "a socket without a service is replaced");
	TEST(the_socket_goes_when_it_stops, "the socket goes when it stops");
	TEST(the_users_own_directory_is_made_for_it, "the user's own directory is made for it");
	TEST(by_pid_each_process_is_an_app, "by pid, each process is an app");
	TEST(by_pid_another_user_is_not_let_in, "by pid, another user is not let in");
	TEST(by_uid_a_user_is_an_app_whatever_the_process, "Q-5: by uid, a user is an app, whatever the process");
	TEST(by_uid_an_account_and_its_subordinate_uids_are_one_app,
	     "by uid, an account and its subordinate uids are one app");
	TEST(by_uid_no_user_can_read_its_command_line, "by uid, no user can read its command line");
	TEST(all_apps_together_have_so_many_connections, "all apps together have so many connections");
	TEST(it_reports_when_it_is_ready_and_when_it_stops, "it tells when it is ready, and when it stops");
	TEST(it_reports_to_an_abstract_socket_too, "it tells an abstract socket, too");
	TEST(it_reports_what_it_holds, "it reports what it holds");
	TEST(it_stops_under_load, "it stops under load");
	TEST(any_number_of_signals_stops_it_once, "any number of signals stops it once");
	TEST(a_silent_connection_does_not_keep_it, "a silent connection does not keep it");
	TEST(spinning_or_not_the_answers_are_the_same, "spinning or not, the answers are the same");
	return _cmocka_run_group_tests("nnburstd", tests, n_tests, NULL, NULL);
}
