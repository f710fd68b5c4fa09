/*
 * bench_report.c -- the page of a recording: how long it takes to be made, how large it is, and how soon a browser
 * shows it and can be used (report.mjs). Made-up executions, 10 000 and a million.
 *
 * The peer is speedscope, from npm, with the same executions as Chrome's JSON: the most of 10 000 and 100 000 that it
 * opens.
 */
#include "bench.h"
#include "facts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FEW = 10000, MANY = 100000, MILLION = 1000000, QUICK = 20000 };

#define SPEEDSCOPE "speedscope@1.25.0"

struct place {
	char dir[32], peer[256]; /* peer: speedscope's page; empty: npm did not fetch it */
};

static struct place place = { .dir = "/tmp/bench_report.XXXXXX" };

/* At exit, whatever the reason. */
static void remove_scratch(void)
{
	char command[64];

	snprintf(command, sizeof(command), "rm -rf %s", place.dir);
	if (system(command))
		fprintf(stderr, "bench_report: %s is left\n", place.dir);
}

/*
 * A command of a shell; what its first line of output is goes to @ret, where that is not NULL. Ends the bench if it
 * fails.
 */
static void run(const char *command, char *ret, size_t size)
{
	FILE *f = popen(command, "r");

	if (f && ret && !fgets(ret, (int)size, f))
		*ret = 0;
	if (f && pclose(f) == 0)
		return;
	fprintf(stderr, "bench_report: this failed: %s\n", command);
	exit(1);
}

static void make_page(const struct place *p, const char *name, const char *size)
{
	char command[512];

	snprintf(command, sizeof(command), "'%s' report --max-size %s -o %s/%s.html %s/%s.db", BURSTSCOPE, size, p->dir,
	         name, p->dir, name);
	run(command, NULL, 0);
}

static double bytes_of(const struct place *p, const char *name)
{
	char path[96];
	struct stat st;

	snprintf(path, sizeof(path), "%s/%s.html", p->dir, name);
	return stat(path, &st) ? 0 : (double)st.st_size;
}

struct look {
	double first_ms, usable_ms, memory_mb, drawn_ms;
};

static struct look look_at(const struct place *p, const char *name)
{
	char command[512], line[128];
	struct look ret = { 0 };

	snprintf(command, sizeof(command), "node '%s/report.mjs' %s/%s.html", BENCH_DIR, p->dir, name);
	run(command, line, sizeof(line));
	if (sscanf(line, "%lf %lf %lf %lf", &ret.first_ms, &ret.usable_ms, &ret.memory_mb, &ret.drawn_ms) != 4) {
		fprintf(stderr, "bench_report: %s was not shown\n", name);
		exit(1);
	}
	return ret;
}

/* As the program speedscope hands a file to its page. false: npm does not reach it. */
static bool fetch_peer(struct place *p)
{
	char command[512];

	snprintf(command, sizeof(command),
	         "npm install --silent --no-audit --no-fund --prefix %s/npm " SPEEDSCOPE " >%s/npm.log 2>&1", p->dir,
	         p->dir);
	if (system(command))
		return false;
	snprintf(p->peer, sizeof(p->peer), "%s/npm/node_modules/speedscope/dist/release/index.html", p->dir);
	return !access(p->peer, R_OK);
}

static void export_for_peer(const struct place *p, const char *name)
{
	char command[1024];

	snprintf(command, sizeof(command),
	         "cd %s && '%s' export --to chrome --detail executions -o %s.json %s.db && (printf "
	         "'speedscope.loadFileFromBase64(\"%s.json\", \"' && "
	         "base64 -w0 %s.json && printf '\")') >%s.json.js",
	         p->dir, BURSTSCOPE, name, name, name, name, name);
	run(command, NULL, 0);
}

/* 0: it did not show it. */
static double peer_ms(const struct place *p, const char *name)
{
	char command[768], line[64];

	snprintf(command, sizeof(command), "node '%s/report.mjs' --peer %s %s/%s.json.js", BENCH_DIR, p->peer, p->dir,
	         name);
	run(command, line, sizeof(line));
	return atof(line);
}

static void make_database(const struct place *p, const char *name, uint64_t n)
{
	char path[96];

	snprintf(path, sizeof(path), "%s/%s.db", p->dir, name);
	facts_database(path, n, 0, 0);
}

static void judge(struct bench *b, const size_t *f)
{
	bench_at_most(b, "a million: seconds to make", bench_figure_median(b, f[0]), 5);
	bench_at_most(b, "a million: MB", bench_figure_median(b, f[1]), 36);
	bench_at_most(b, "a million: ms to the first picture", bench_figure_median(b, f[2]), 250);
	bench_at_most(b, "a million: ms until it can be used", bench_figure_median(b, f[3]), 1500);
	bench_at_most(b, "a million: MB of script memory", bench_figure_median(b, f[4]), 150);
	bench_at_most(b, "a million: ms to draw, p95", bench_figure_median(b, f[5]), 16.7);
	bench_at_most(b, "10 000: kB", bench_figure_median(b, f[6]), 600);
	bench_at_most(b, "10 000: ms to the first picture", bench_figure_median(b, f[7]), 200);
}

static void measure(struct bench *b, const struct place *p, const char *peer, const size_t *f)
{
	uint64_t began = bench_now();
	struct look many, few;
	double other;

	make_page(p, "million", "40M");
	bench_figure_is(b, f[0], (double)(bench_now() - began) / 1e9);
	bench_figure_is(b, f[1], bytes_of(p, "million") / 1e6);
	many = look_at(p, "million");
	bench_figure_is(b, f[2], many.first_ms);
	bench_figure_is(b, f[3], many.usable_ms);
	bench_figure_is(b, f[4], many.memory_mb);
	bench_figure_is(b, f[5], many.drawn_ms);
	few = look_at(p, "few");
	bench_figure_is(b, f[6], bytes_of(p, "few") / 1e3);
	bench_figure_is(b, f[7], few.first_ms);
	if (!peer)
		return;
	other = peer_ms(p, peer);
	bench_figure_is(b, f[8], other);
	bench_figure_is(b, f[9], other / look_at(p, peer).first_ms);
}

int main(int argc, char **argv)
{
	static const char *const what[] = { "a million: seconds to make",
		                            "a million: MB",
		                            "a million: ms to the first picture",
		                            "a million: ms until it can be used",
		                            "a million: MB of script memory",
		                            "a million: ms to draw, p95",
		                            "10 000: kB",
		                            "10 000: ms to the first picture",
		                            "speedscope: ms to the first picture",
		                            "speedscope: times as long" };
	struct place *p = &place;
	const char *peer = NULL;
	size_t figures[10];
	struct bench b;

	bench_open(&b, "report", 3, argc, argv);
	if (system("command -v chromium node >/dev/null") || !mkdtemp(p->dir)) {
		fputs("bench_report: skipped: there is no chromium, or no node\n", stderr);
		return 77;
	}
	atexit(remove_scratch);
	make_database(p, "million", b.quick ? QUICK : MILLION);
	make_database(p, "many", b.quick ? FEW : MANY);
	make_database(p, "few", FEW);
	make_page(p, "few", "20M");
	make_page(p, "many", "20M");
	if (fetch_peer(p)) {
		export_for_peer(p, "many");
		export_for_peer(p, "few");
		peer = peer_ms(p, "many") > 0 ? "many" : "few";
	}
	for (size_t i = 0; i < sizeof(what) / sizeof(*what) - (peer ? 0 : 2); i++)
		figures[i] = bench_figure(&b, what[i]);
	for (unsigned round = 0; round < b.rounds; round++)
		measure(&b, p, peer, figures);
	judge(&b, figures);
	if (peer)
		bench_at_least(&b, "speedscope: times as long", bench_figure_median(&b, figures[9]), 5);
	return bench_close(&b);
}
