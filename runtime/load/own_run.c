/*
 * own_run.c -- starts a service, burstscope and apps of its own for a model.
 *
 * The programs are looked for beside this one, in ../sbin and ../viewer-cli (as in a build), and then in $PATH.
 */
#include "own_run.h"

#include <dirent.h>
#include <errno.h>
#include <jansson.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "load.h"
#include "scenario.h"

enum { LOOK_MS = 10, PATIENCE_LOOKS = 1000, WORDS_MAX = 32 };

/* "my" of ".../my.tflite", and of "mlp". */
static void base_of(char to[LOAD_NAME], const char *model)
{
	const char *slash = strrchr(model, '/'), *base = slash ? slash + 1 : model, *dot = strrchr(base, '.');
	size_t n = dot && dot > base ? (size_t)(dot - base) : strlen(base);

	snprintf(to, LOAD_NAME, "%.*s", (int)(n < LOAD_NAME ? n : LOAD_NAME - 1), base);
	load_make_printable(to);
}

/* ---- a scenario ---- */

/*
 * The absolute path of a file. Links stay: a model's format is known by its name, which may be a link to a file of
 * any name. 0 or -errno.
 */
static int path_of(const char *file, char ret[PATH_MAX])
{
	char here[PATH_MAX] = "";
	int n;

	if (access(file, F_OK) || (*file != '/' && !getcwd(here, sizeof(here))))
		return -errno;
	n = snprintf(ret, PATH_MAX, "%s%s%s", here, *file == '/' ? "" : "/", file);
	return n < PATH_MAX ? 0 : -ENAMETOOLONG;
}

char *load_own_scenario(const char *model, struct nnb_reason *reason)
{
	char path[PATH_MAX], base[LOAD_NAME], *text = NULL;
	json_t *json;
	int r = load_is_file(model) ? path_of(model, path) : 0;

	base_of(base, model);
	if (r < 0) {
		nnb_because(reason, "%s", strerror(-r));
		return NULL;
	}
	if (!load_is_file(model))
		snprintf(path, sizeof(path), "%s", model);
	if (strlen(path) >= LOAD_MODEL) {
		nnb_because(reason, "the path is longer than %d bytes", LOAD_MODEL - 1);
		return NULL;
	}
	json = json_pack("{ss ss ss s[{ss s[{ss ss ss}]}]}", "name", base, "about",
	                 "one app that runs one model by bursts", "duration", "2s", "apps", "name", "app", "streams",
	                 "name", base, "model", path, "path", "burst");
	if (json)
		text = json_dumps(json, 0);
	json_decref(json);
	if (!text)
		nnb_because(reason, "its name is not UTF-8, or there is no memory");
	return text;
}

/* ---- programs ---- */

/* Where @program is; its bare name where only $PATH may know. Returns @to. */
static char *place_of(const char *program, char to[PATH_MAX])
{
	static const char *const places[] = { ".", "../sbin", "../bin", "../viewer-cli" };
	char exe[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", exe, sizeof(exe) - 1);
	char *slash;

	exe[n > 0 ? n : 0] = '\0';
	slash = strrchr(exe, '/');
	for (size_t i = 0; slash && i < sizeof(places) / sizeof(places[0]); i++)
		if (snprintf(to, PATH_MAX, "%.*s/%s/%s", (int)(slash - exe), exe, places[i], program) < PATH_MAX &&
		    access(to, X_OK) == 0)
			return to;
	snprintf(to, PATH_MAX, "%s", program);
	return to;
}

static const int ending[] = { SIGINT, SIGTERM, SIGHUP }; /* signals that end a run early */

enum { N_ENDING = sizeof(ending) / sizeof(ending[0]) };

/* All that load_signals_hold may hold: the ending signals, and those of children. */
static void holdable_signals(sigset_t *ret)
{
	sigemptyset(ret);
	sigaddset(ret, SIGCHLD);
	for (int i = 0; i < N_ENDING; i++)
		sigaddset(ret, ending[i]);
}

void load_signals_hold(sigset_t *ret_before)
{
	struct sigaction action;
	sigset_t held;

	holdable_signals(&held);
	for (int i = 0; i < N_ENDING; i++)
		if (!sigaction(ending[i], NULL, &action) && action.sa_handler == SIG_IGN)
			sigdelset(&held, ending[i]); /* nohup: a blocked signal is kept even if it is ignored */
	signal(SIGCHLD, SIG_DFL);                    /* where it is ignored, the statuses of children are lost */
	sigprocmask(SIG_BLOCK, &held, ret_before);
}

void load_signals_release(const sigset_t *before)
{
	sigprocmask(SIG_SETMASK, before, NULL);
}

/* Whether an ending signal has come that was not passed on. */
static bool is_stopped(void)
{
	sigset_t pending;
	bool stopped = false;

	sigpending(&pending);
	for (int i = 0; i < N_ENDING; i++)
		stopped |= sigismember(&pending, ending[i]) == 1;
	return stopped;
}

/* Start it. -errno: it cannot be run, or there is no memory. @dies_with_us: by SIGTERM. */
static pid_t program_start(const char *program, char *const *argv, bool dies_with_us)
{
	char path[PATH_MAX];
	pid_t parent = getpid(), pid = fork();
	sigset_t held;

	if (pid < 0)
		return -errno;
	if (pid)
		return pid;
	if (dies_with_us && (prctl(PR_SET_PDEATHSIG, SIGTERM) || getppid() != parent || setpgid(0, 0)))
		_exit(LOAD_ENVIRONMENT); /* in a group of its own, Ctrl-C is for the apps first */
	holdable_signals(&held);
	sigprocmask(SIG_UNBLOCK, &held, NULL);
	execvp(place_of(program, path), argv);
	fprintf(stderr, "nnburst-load: %s: %s\n", program, strerror(errno));
	_exit(LOAD_ENVIRONMENT);
}

/* ---- a service ---- */

int load_service_start(struct load_service *s, struct nnb_reason *reason)
{
	const struct timespec a_while = { .tv_nsec = LOOK_MS * 1000000L };
	char *const argv[] = { "nnburstd", "--socket", s->socket, "--app-identity", "pid", NULL };
	struct stat st;

	strcpy(s->dir, "/tmp/nnburst-load.XXXXXX");
	if (!mkdtemp(s->dir)) {
		int r = -errno;

		nnb_because(reason, "%s: %s", s->dir, strerror(-r));
		return r;
	}
	snprintf(s->socket, sizeof(s->socket), "%s/socket", s->dir);
	s->pid = program_start("nnburstd", argv, true);
	for (int i = 0; s->pid > 0 && stat(s->socket, &st) && i < PATIENCE_LOOKS; i++) {
		if (waitpid(s->pid, NULL, WNOHANG))
			s->pid = 0;
		nanosleep(&a_while, NULL);
	}
	if (s->pid > 0 && !stat(s->socket, &st))
		return 0;
	load_service_stop(s);
	nnb_because(reason, "nnburstd does not start");
	return -ESRCH;
}

void load_service_stop(struct load_service *s)
{
	if (s->pid > 0) {
		kill(s->pid, SIGTERM);
		waitpid(s->pid, NULL, 0);
	}
	if (s->dir[0]) {
		char lock[sizeof(s->socket) + sizeof(".lock")];

		snprintf(lock, sizeof(lock), "%s.lock", s->socket);
		unlink(lock); /* nnburstd leaves its lock, for the next service at the same socket */
		unlink(s->socket);
		rmdir(s->dir);
	}
	*s = (struct load_service){ 0 };
}

/* ---- a recording ---- */

/*
 * Run the program to its end, with the ending signals held. They are passed on to it, except those from the terminal
 * (SI_KERNEL): the terminal sends them to the program, too. Returns the program's status; LOAD_ENVIRONMENT if it was
 * killed, cannot be run, or was not run because a signal came before.
 */
static int run_command(const char *program, char *const *argv)
{
	pid_t pid = is_stopped() ? 0 : program_start(program, argv, false), ended = 0;
	int status = 0;
	sigset_t held;

	holdable_signals(&held);
	while (pid > 0 && !ended) {
		siginfo_t info;

		ended = waitpid(pid, &status, WNOHANG);
		if (!ended && sigwaitinfo(&held, &info) > 0 && info.si_signo != SIGCHLD && info.si_code != SI_KERNEL)
			kill(pid, info.si_signo);
	}
	return ended > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : LOAD_ENVIRONMENT;
}

/* Whether @path is there, and is not an empty directory. */
static bool is_taken(const char *path)
{
	DIR *d = opendir(path);
	int n = 0;

	if (!d)
		return errno != ENOENT;
	while (n < 3 && readdir(d)) /* "." and ".." are in an empty one */
		n++;
	closedir(d);
	return n == 3;
}

int load_record(const char *model, const char *into, const char *socket, char *const *argv)
{
	char base[PATH_MAX], *words[WORDS_MAX] = { "burstscope", "record", "-o" };
	char *const asked[] = { "burstscope", "overhead", "--no-pager", base, NULL };
	int n = 3, status, answered;
	char self[PATH_MAX], *slash, *path;
	const char *before;

	base_of(base, model);
	if (into)
		snprintf(base, sizeof(base), "%s", into);
	if (is_taken(base)) {
		fprintf(stderr,
		        "nnburst-load: %s exists already; write --record=DIR to record into another directory\n", base);
		return LOAD_USAGE;
	}
	words[n++] = base;
	words[n++] = "--service";
	words[n++] = (char *)socket;
	words[n++] = "--";
	words[n++] = "nnburst-load";
	while (*argv && n < WORDS_MAX - 1)
		words[n++] = *argv++;
	/* Add this program's directory to PATH, because the recorder starts it by its name. */
	before = getenv("PATH");
	place_of("nnburst-load", self);
	slash = strrchr(self, '/');
	if (slash && asprintf(&path, "%.*s:%s", (int)(slash - self), self, before ? before : "") >= 0) {
		setenv("PATH", path, 1);
		free(path);
	}
	fflush(stdout);
	status = run_command("burstscope", words);
	if (!status || status == LOAD_FAILED) { /* the status of the run, which was recorded */
		putchar('\n');
		fflush(stdout);
		answered = run_command("burstscope", asked);
		status = status ? status : answered;
	}
	return status;
}
