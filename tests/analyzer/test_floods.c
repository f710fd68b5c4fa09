/*
 * test_floods.c -- measures the cost of floods (floods.h): the memory and time of their import, the size of the
 * database, and the time of each command that is asked of it.
 *
 *   test_floods BURSTSCOPE [FLOOD...]
 *
 * $NNB_FLOOD is how much a flood has of its thing; without it, only the import is judged, and not the time of
 * answers. Without names: all floods but those that are known to break a bar.
 *
 * Bars: 64 MiB of memory, a database of twice the trace and 1 MiB (beyond what a database of nothing has), and 1 s
 * for each answer, 1.25 s for a page of ten, 2 s for nine rules, 3 s for a comparison of two recordings: of cpu time,
 * because what else the machine does is no fault of burstscope.
 * $NNB_FLOOD_MS is another bar for answers: one that finds what grows with the square, on a machine that is busy, or
 * in a build that is slow. $NNB_FLOOD_IMPORT_MS is one for the cpu time of imports; without it, they have none.
 * With $NNB_FLOOD_TIMES, each answer is asked so many times, and the median of its cpu time is printed.
 */
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "analyzer/ctf_writer.h"
#include "analyzer/floods.h"
#include "base.h"

enum { FEW = 4000, PATH = 128, ARGS = 8, MOST_KIB = 64 << 10, MOST_MS = 1000, LONGEST_S = 60 };

struct ran {
	int status;
	double ms, cpu_ms;
	long kib;
};

static const char *burstscope;
static double most_ms = MOST_MS; /* for an answer */
static double most_import_ms;    /* 0: any */
static off_t empty;              /* bytes of a database of nothing */
static char dir[PATH], trace[PATH], db[PATH], slo[PATH];

/* ---- files ---- */

static off_t bytes;

static int add(const char *path, const struct stat *st, int type, struct FTW *at)
{
	(void)path;
	(void)at;
	if (type == FTW_F)
		bytes += st->st_size;
	return 0;
}

static off_t bytes_below(const char *path)
{
	bytes = 0;
	nftw(path, add, 8, FTW_PHYS);
	return bytes;
}

static int drop(const char *path, const struct stat *st, int type, struct FTW *at)
{
	(void)st;
	(void)type;
	(void)at;
	return remove(path);
}

static void drop_all(const char *path)
{
	nftw(path, drop, 8, FTW_PHYS | FTW_DEPTH);
}

/* ---- programs ---- */

static double now_ms(void)
{
	return (double)now_ns() / 1e6;
}

static struct ran ended(pid_t pid, double began)
{
	struct ran ret = { .status = -1 };
	struct rusage used;
	int status;

	while (wait4(pid, &status, 0, &used) != pid)
		if (errno != EINTR)
			exit(5);
	ret.ms = now_ms() - began;
	ret.kib = used.ru_maxrss;
	ret.cpu_ms = (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1e3 +
	             (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e3;
	if (WIFEXITED(status))
		ret.status = WEXITSTATUS(status);
	return ret;
}

/* @args: up to a NULL; @input: the last argument. */
static struct ran run(const char *const *args, const char *input)
{
	char *argv[ARGS + 3] = { (char *)burstscope };
	double began = now_ms();
	pid_t pid;
	int n = 1;

	for (; args[n - 1]; n++)
		argv[n] = (char *)args[n - 1];
	argv[n] = (char *)input;
	pid = fork();
	if (pid < 0)
		exit(5);
	if (!pid) {
		int null = open("/dev/null", O_WRONLY | O_CLOEXEC);

		dup2(null, STDOUT_FILENO);
		dup2(null, STDERR_FILENO);
		alarm(LONGEST_S);
		execv(burstscope, argv);
		_exit(5);
	}
	return ended(pid, began);
}

/* In a process of its own, whose memory is none of ours. */
static void write_trace(const struct flood *f, unsigned n)
{
	const struct ctf_options options = { 0 };
	pid_t pid = fork();

	if (pid < 0)
		exit(5);
	if (!pid) {
		struct ctf_writer *w = ctf_writer_new(trace, &options);
		char *lines = flood_lines(f, n);

		ctf_writer_script(w, lines, 1);
		free(lines);
		ctf_writer_free(w);
		_exit(0);
	}
	if (ended(pid, 0).status)
		exit(5);
}

/* ---- floods ---- */

/* Rules of each kind that reads executions, and the verdicts. */
static const char rules[] = "coverage >= 99 %\n"
			    "executions >= 100\n"
			    "p50 e2e <= 20ms\n"
			    "p99 queue <= 40ms\n"
			    "p50 overhead share of path=burst warm <= 60 %\n"
			    "miss ratio <= 5 %\n"
			    "starvation none\n"
			    "fairness\n"
			    "priority\n";

static const char *const questions[][ARGS] = {
	{ "summary" },
	{ "misses" },
	{ "starvation" },
	{ "priority" },
	{ "fairness" },
	{ "preemptions" },
	{ "latency" },
	{ "overhead" },
	{ "explain", "worst" },
	{ "explain", "1" },
	{ "slots" },
	{ "memory" },
	{ "timeline" },
	{ "doctor" },
	/* no sums are stored for a part of the recording */
	{ "misses", "--from", "10ms" },
	{ "fairness", "--from", "10ms" },
	{ "report", "--from", "10ms" },
	{ "check", "--slo", slo },
	{ "report" },
	{ "diff", db },
};

/* The bar of an answer, as a multiple of the usual one: a page has ten answers, and diff reads two recordings. */
static double bars_of(const char *command)
{
	if (!strcmp(command, "report"))
		return 1.25;
	if (!strcmp(command, "diff"))
		return 3;
	return strcmp(command, "check") ? 1 : 2; /* each rule reads all executions */
}

static bool import(const struct flood *f, unsigned n)
{
	const char *const args[] = { "import", "-q", "-o", db, NULL };
	struct ran ran;
	off_t of_trace, of_db;
	bool good;

	write_trace(f, n);
	of_trace = bytes_below(trace);
	ran = run(args, trace);
	of_db = bytes_below(db);
	drop_all(trace);
	good = ran.kib <= MOST_KIB && of_db <= 2 * of_trace + (1 << 20) + empty &&
	       (ran.status == 0 || ran.status == 3) && (most_import_ms <= 0 || ran.cpu_ms <= most_import_ms);
	printf("%-18s %7u %9.2f %9.2f %6.2f %7.1f %8.2f %3d", f->name, n, (double)of_trace / (1 << 20),
	       (double)of_db / (1 << 20), (double)of_db / (double)of_trace, (double)ran.kib / 1024, ran.ms / 1e3,
	       ran.status);
	fflush(stdout);
	return good;
}

static void write_rules(void)
{
	FILE *to = fopen(slo, "we");

	if (!to || fputs(rules, to) < 0 || fclose(to))
		exit(5);
}

/* A trace of one event. */
static void measure_nothing(void)
{
	const struct flood nothing = { .name = "nothing", .write = flood_nothing };

	import(&nothing, 0);
	putchar('\n');
	empty = bytes_below(db);
	unlink(db);
}

static int by_ms(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* The cpu time of an answer; with $NNB_FLOOD_TIMES the median of so many, which is printed. */
static double ask_one(const char *const *args)
{
	enum { TIMES_MOST = 99 };
	const char *given = getenv("NNB_FLOOD_TIMES");
	int times = given ? atoi(given) : 1;
	double ms[TIMES_MOST];

	times = times < 1 ? 1 : times > TIMES_MOST ? TIMES_MOST : times;
	for (int i = 0; i < times; i++) {
		struct ran ran = run(args, db);

		ms[i] = ran.status < 0 ? LONGEST_S * 1e3 : ran.cpu_ms; /* below 0: ended by its alarm */
	}
	qsort(ms, (size_t)times, sizeof(*ms), by_ms);
	if (given)
		printf("\n%8.0f ms: %s %s", ms[times / 2], args[0], args[1] && !strchr(args[1], '/') ? args[1] : "");
	return ms[times / 2];
}

static bool ask(void)
{
	const char *slowest = "";
	double most = 0, ms = 0; /* ms: of the answer that takes most of its bar; most: of one with the usual bar */

	for (size_t i = 0; i < sizeof(questions) / sizeof(*questions); i++) {
		const char *name = questions[i][0];
		double took = ask_one(questions[i]), one = took / bars_of(name);

		if (one > most) {
			most = one;
			ms = took;
			slowest = name;
		}
	}
	printf(" %8.0f %s", ms, slowest);
	return most <= most_ms;
}

static bool flood(const struct flood *f, unsigned n, bool asked)
{
	bool good = import(f, n);

	good = (!asked || ask()) && good;
	printf("%s\n", good ? "" : "  FAILS");
	unlink(db);
	return good;
}

int main(int argc, char **argv)
{
	const char *given = getenv("NNB_FLOOD"), *ms = getenv("NNB_FLOOD_MS"),
		   *import_ms = getenv("NNB_FLOOD_IMPORT_MS"), *tmp = getenv("TMPDIR");
	unsigned n = given ? (unsigned)atoi(given) : FEW;
	int failed = 0;

	if (argc < 2)
		return 2;
	if (ms)
		most_ms = atof(ms);
	if (import_ms)
		most_import_ms = atof(import_ms);
	burstscope = argv[1];
	snprintf(dir, sizeof(dir), "%s/floods.XXXXXX", tmp ? tmp : "/tmp");
	if (!mkdtemp(dir))
		return 5;
	snprintf(trace, sizeof(trace), "%.100s/trace", dir);
	snprintf(db, sizeof(db), "%.100s/x.db", dir);
	snprintf(slo, sizeof(slo), "%.100s/rules.slo", dir);
	write_rules();
	printf("%-18s %7s %9s %9s %6s %7s %8s %3s %8s\n", "flood", "n", "trace MiB", "db MiB", "ratio", "MiB", "s",
	       "st", "answer ms");
	measure_nothing();
	for (const struct flood *f = floods; f->name; f++) {
		bool wanted = argc == 2 && !f->known;

		for (int i = 2; i < argc; i++)
			wanted = wanted || !strcmp(argv[i], f->name);
		if (wanted && !flood(f, n, given))
			failed = 1;
	}
	drop_all(dir);
	return failed;
}
