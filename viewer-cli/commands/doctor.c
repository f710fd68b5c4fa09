/* doctor.c -- burstscope doctor: checks this installation, or finds out what a recording lost and how to avoid that. */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "answer/answer.h"
#include "base/command.h"
#include "base/numbers.h"
#include "base/scoped.h"
#include "input/apart.h"
#include "input/places.h"
#include "input/shared.h"
#include "record/lost.h"
#include "record/record.h"
#include "record/registers.h"
#include "record/scratch.h"

enum { MIB = 1 << 20, TEXT = 512, CLOCK_READS = 1000, SLOW_CLOCK_NS = 1000 };

enum result { OK, WARNING, PROBLEM };

struct checks {
	struct bsv_rows *rows;
	unsigned warnings, problems;
};

static void __attribute__((format(printf, 5, 6)))
add_check(struct checks *c, const char *check, enum result result, const char *remedy, const char *format, ...)
{
	static const char *const results[] = { "ok", "warning", "problem" };
	char detail[TEXT];
	va_list args;

	va_start(args, format);
	vsnprintf(detail, sizeof(detail), format, args);
	va_end(args);
	bsv_rows_text(c->rows, check);
	bsv_rows_text(c->rows, results[result]);
	bsv_rows_text(c->rows, detail);
	bsv_rows_text(c->rows, result == OK ? NULL : remedy);
	c->warnings += result == WARNING;
	c->problems += result == PROBLEM;
}

/* ---- programs ---- */

static void check_sessiond(struct checks *c)
{
	const char *asked = getenv("LTTNG_SESSIOND_PATH");
	char path[PATH_MAX], version[TEXT] = "", command[PATH_MAX + 64];
	FILE *f = NULL;

	if (!bsv_place_program(asked && *asked ? asked : "lttng-sessiond", path) &&
	    !(asked && !access(asked, X_OK) && snprintf(path, sizeof(path), "%s", asked) < (int)sizeof(path))) {
		add_check(c, "lttng-sessiond", PROBLEM, "install lttng-tools", "not in $PATH%s",
		          asked && *asked ? ", nor at $LTTNG_SESSIOND_PATH" : "");
		return;
	}
	if (!strchr(path, '\'')) {
		snprintf(command, sizeof(command), "'%s' --version 2>/dev/null", path);
		f = popen(command, "re");
	}
	if (f && !fgets(version, sizeof(version), f))
		*version = 0;
	version[strcspn(version, "\n")] = 0;
	if (!f || pclose(f) || !*version)
		add_check(c, "lttng-sessiond", PROBLEM, "install lttng-tools again", "%s cannot be run", path);
	else
		add_check(c, "lttng-sessiond", OK, NULL, "%.40s: %s", version, path);
}

static void check_program(struct checks *c, const char *name, const char *use)
{
	char path[PATH_MAX];

	if (bsv_place_program(name, path))
		add_check(c, name, OK, NULL, "%s", path);
	else
		add_check(c, name, WARNING, "install all of burstscope", "neither beside burstscope nor in $PATH; %s",
		          use);
}

/* With the libraries in place the importer ends at once, with a status of its own. */
static void check_importer(struct checks *c)
{
	const char *const argv[] = { "burstscope-importer", NULL };
	char path[PATH_MAX];
	struct bsa_err err;
	int status = 0;
	pid_t pid;

	if (bsv_importer_find(path, &err) < 0) {
		add_check(c, "importer", PROBLEM, "install all of burstscope", "%s", err.text);
		return;
	}
	pid = fork();
	if (!pid) {
		int null = open("/dev/null", O_WRONLY | O_CLOEXEC);

		dup2(null, STDERR_FILENO);
		execv(path, (char *const *)argv);
		_exit(127);
	}
	if (pid > 0)
		waitpid(pid, &status, 0);
	if (pid > 0 && WIFEXITED(status) && WEXITSTATUS(status) == BSV_IMPORTER_STRANGE)
		add_check(c, "importer", OK, NULL, "%s", path);
	else
		add_check(c, "importer", PROBLEM, "install libbabeltrace2, or all of burstscope again",
		          "%s cannot be run", path);
}

/* ---- LTTng ---- */

static const char *find_provider(struct checks *c, char path[PATH_MAX])
{
	const char *asked = secure_getenv("NNBURST_TRACEPOINTS");
	struct stat st;

	if (asked && !*asked) {
		add_check(c, "provider", WARNING, "unset it",
		          "$NNBURST_TRACEPOINTS is empty: programs started from here emit nothing");
		return NULL;
	}
	if (asked && (access(asked, R_OK) || !realpath(asked, path))) {
		add_check(c, "provider", PROBLEM, "unset $NNBURST_TRACEPOINTS", "%s, which it names, cannot be read",
		          asked);
		return NULL;
	}
	if (!asked && !bsv_place_provider(path)) {
		add_check(c, "provider", PROBLEM, "install all of burstscope",
		          "no nnburst/tracepoints.so near burstscope");
		return NULL;
	}
	/* The conditions under which programs load the provider, see nbt(3). */
	if (stat(path, &st) || !S_ISREG(st.st_mode) || (st.st_uid && st.st_uid != geteuid()) ||
	    st.st_mode & (S_IWGRP | S_IWOTH)) {
		add_check(c, "provider", PROBLEM, "chown it to root, and chmod go-w",
		          "%s: users other than its owner and root can change it, so programs do not load it", path);
		return NULL;
	}
	add_check(c, "provider", OK, NULL, "%s", path);
	return path;
}

static bool user_is_in_group(const char *name)
{
	gid_t groups[1024];
	const struct group *g = getgrnam(name);
	int n = getgroups(1024, groups);

	for (int i = 0; g && i < n; i++)
		if (groups[i] == g->gr_gid)
			return true;
	return false;
}

static void check_lttng(struct checks *c)
{
	struct bsv_daemon daemon = { .output = -1 };
	const struct bsv_lttng *lttng;
	struct bsv_session s = { .buffers = bsv_buffers_of(1) };
	struct bsa_err err;
	char path[PATH_MAX], directory[PATH_MAX];
	const char *provider = find_provider(c, path);
	int r;

	if (bsv_lttng_load(&lttng, &err) < 0) {
		add_check(c, "liblttng-ctl", PROBLEM, "install lttng-tools", "%s", err.text);
		return;
	}
	add_check(c, "liblttng-ctl", OK, NULL, "found, with all functions needed");
	if (bsv_daemon_open(&daemon, lttng, false, &err) < 0) {
		bool missing = strstr(err.text, strerror(ENOENT));
		char *here = strstr(err.text, "; run burstscope doctor");

		if (here)
			*here = 0;
		add_check(c, "session daemon", PROBLEM,
		          missing ? "install lttng-tools, or name it in $LTTNG_SESSIOND_PATH"
		                  : "see its message; $HOME, or as root /var/run/lttng, must be writable",
		          "%s", err.text);
		return;
	}
	add_check(c, "session daemon", OK, NULL, daemon.pid ? "not running; record starts it" : "running, and answers");
	if (provider && bsv_registers(lttng, provider, &err) < 0)
		add_check(c, "events", PROBLEM,
		          "check that LTTng-UST and lttng-tools fit together, and LTTNG_UST_* in the environment", "%s",
		          err.text);
	else if (provider)
		add_check(c, "events", OK, NULL, "a program that loads the provider can be recorded");

	/* Make, start and stop a session at once: a test of its buffers and of the consumer daemon. */
	if (!bsv_scratch_make("/tmp", directory)) {
		add_check(c, "recording", WARNING, "make /tmp writable",
		          "/tmp cannot be written, so recording was not tried");
		bsv_daemon_close(&daemon);
		return;
	}
	bsv_session_name(s.name);
	s.directory = directory;
	s.lttng = lttng;
	r = bsv_session_start(&s, &err);
	if (r >= 0)
		r = bsv_session_stop(&s, &err);
	bsv_remove_tree(directory);
	if (r < 0)
		add_check(c, "recording", PROBLEM, "see the output of lttng-sessiond --verbose, and /dev/shm", "%s",
		          err.text);
	else
		add_check(c, "recording", OK, NULL, "a session was made, started and stopped");
	bsv_daemon_close(&daemon);
}

/* ---- the machine ---- */

/* The rights of the user, the buffers of LTTng, the clock, and the place for recordings. */
static void check_machine(struct checks *c)
{
	const bool has_roots_daemon = !access("/var/run/lttng/client-lttng-sessiond", F_OK);
	struct bsv_machine m = bsv_machine_look();
	uint64_t want = bsv_size_for(BSV_DETAIL_FULL, 0), room = bsv_room(&m, 2) / 2;
	char a[BSV_BYTES_TEXT], b[BSV_BYTES_TEXT], source[64] = "unknown";
	FILE *f = fopen("/sys/devices/system/clocksource/clocksource0/current_clocksource", "re");
	struct timespec began, ended;
	struct statvfs fs;
	double ns;

	if (!geteuid())
		add_check(c, "rights", OK, NULL, "root: can record programs of all users");
	else if (has_roots_daemon && user_is_in_group("tracing"))
		add_check(c, "rights", OK, NULL,
		          "member of group tracing: uses root's session daemon for programs of this user");
	else
		add_check(c, "rights", OK, NULL,
		          "can record programs of this user; only root can record those of others");

	bsv_bytes(a, m.shm);
	bsv_bytes(b, want);
	if (room >= want)
		add_check(c, "/dev/shm", OK, NULL, "%s free; record takes %s for each of %u cpus", a, b, m.cpus);
	else
		add_check(c, "/dev/shm", bsv_room(&m, 1) < 64 << 10 ? PROBLEM : WARNING,
		          "mount -o remount,size=1G /dev/shm; in a container: --shm-size",
		          "%s free, and %s for each of %u cpus does not fit well", a, b, m.cpus);

	if (f) {
		if (fgets(source, sizeof(source), f))
			source[strcspn(source, "\n")] = 0;
		fclose(f);
	}
	clock_gettime(CLOCK_MONOTONIC, &began);
	for (int i = 0; i < CLOCK_READS; i++)
		clock_gettime(CLOCK_MONOTONIC, &ended);
	ns = ((double)(ended.tv_sec - began.tv_sec) * 1e9 + (double)(ended.tv_nsec - began.tv_nsec)) / CLOCK_READS;
	if (ns < SLOW_CLOCK_NS)
		add_check(c, "clock", OK, NULL, "%s: %.0f ns to read it", source, ns);
	else
		add_check(c, "clock", WARNING,
		          "select another clocksource of the kernel (tsc), or record with --detail compact",
		          "%s takes %.0f ns to read, and each event does", source, ns);

	if (access(".", W_OK | X_OK) || statvfs(".", &fs)) {
		add_check(c, "working directory", WARNING, "change to another directory, or name one with -o",
		          "cannot be written, and recordings are made here");
		return;
	}
	bsv_bytes(a, (uint64_t)fs.f_bavail * fs.f_frsize);
	if ((uint64_t)fs.f_bavail * fs.f_frsize < 1024 * (uint64_t)MIB)
		add_check(c, "working directory", WARNING, "free space, or name another directory with -o",
		          "%s free: minutes of a busy service", a);
	else
		add_check(c, "working directory", OK, NULL, "%s free", a);
}

/* ---- the command ---- */

static int doctor_run(const struct bsv_call *call, struct bsa_err *err)
{
	static const struct bsv_column columns[] = { { "check", "text", NULL },
		                                     { "result", "text", NULL },
		                                     { "detail", "text", NULL },
		                                     { "remedy", "text", NULL } };
	struct checks c = { .rows = NULL };
	bsv_scoped_answer *a = NULL;

	if (call->n_operands)
		return bsv_doctor_recording(call, err);
	a = bsv_answer_new(call, NULL);
	c.rows = bsv_rows_new(columns, 4);
	if (!c.rows)
		return bsv_no_memory(err);
	check_lttng(&c);
	check_sessiond(&c);
	check_machine(&c);
	check_importer(&c);
	check_program(&c, "nnburstd", "not needed to record a service of your own");
	check_program(&c, "nnburst-load", "not needed to record an app of your own");
	bsv_answer_rows(a, "checks", NULL, c.rows);
	bsv_answer_verdict(a, &(struct bsv_verdict){ .name = "problems",
	                                             .class = "count",
	                                             .figure = c.problems,
	                                             .bound = 0,
	                                             .outcome = c.problems ? BSV_FAIL : BSV_PASS,
	                                             .why = c.problems   ? "recording is not possible"
	                                                    : c.warnings ? "recording is possible; see the warnings"
	                                                                 : "the installation is complete" });
	return bsv_answer_print(a, true, err);
}

const struct bsv_command bsv_doctor = {
	.name = "doctor",
	.operands = "[INPUT]",
	.says = "check this installation, or find out what a recording lost",
	.examples = "  burstscope doctor              # this installation\n"
		    "  burstscope doctor bursts.db    # what a recording lost, and how to avoid that\n",
	.more = "The status is 1 if there is a problem, or if the recording lost anything.\n",
	.min = 0,
	.max = 1,
	.parts = (const char *const[]){ "checks", "losses", "impostors", "advice", NULL },
	.asks = BSV_ASK_FORMAT,
	.whole = true,
	.run = doctor_run,
};
