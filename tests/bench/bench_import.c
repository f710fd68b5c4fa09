/*
 * bench_import -- a trace becoming a database, against the time that babeltrace2 takes to do nothing but read it, and
 * against a script; and how long the database then takes to answer.
 *
 * Traces are recorded by the bench itself, of a service and an app that execute no-op bursts. Each round measures
 * every program once, in turns forwards and backwards, each a process of its own that starts at nothing.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench.h"
#include "importing.h"
#include "peers.h"

#define MIB (1024.0 * 1024)

/* Executions: full has 14 events for each. */
enum { FULL = 440000, SHORT = 10000, MANY = 1000000 };
enum { QUICK_FULL = 5000, QUICK_SHORT = 500, QUICK_MANY = 5000 };
enum { FULL_EVENTS = 14 };

enum { READING, IMPORT, KEEPING, SCRIPT, N_PROGRAMS };

static const char *const names[N_PROGRAMS] = {
	[READING] = "babeltrace2, reading alone",
	[IMPORT] = "import",
	[KEEPING] = "import --keep-operations",
	[SCRIPT] = "a python3-bt2 script, scaled",
};

/* clang-format off */
static const struct question {
	const char *name, *sql;
	double most_ms;
} questions[] = {
	{ "shares of apps", "SELECT * FROM app_share", 100 },
	{ "shares over time", "SELECT app_id, count(*), max(lag_ns) FROM app_lag GROUP BY app_id", 100 },
	{ "interference", "SELECT * FROM interference", 100 },
	{ "inversions", "SELECT count(*), max(dur_ns) FROM inversion", 100 },
	{ "starvation", "SELECT count(*), max(gap_ns) FROM starvation", 100 },
	{ "causes of misses", "SELECT cause, count(*), sum(late_ns) FROM miss_cause GROUP BY cause", 100 },
	{ "preemptions", "SELECT count(*) FROM preemption", 100 },
	{ "latency, by default", "SELECT * FROM phase_stat WHERE phase = 'e2e'", 100 },
	{ "overhead, by default", "SELECT * FROM phase_stat WHERE phase <> 'e2e'", 100 },
	{ "latency, by anything else",
	  "SELECT status, quality, slot_lookups, count(*), percentile(e2e_ns, 50), percentile(e2e_ns, 99) FROM execution "
	  "GROUP BY 1, 2, 3", 2000 },
	{ "overhead, by anything else",
	  "SELECT stream_id, cold, percentile(e2e_ns - run_ns + redo_ns, 50), percentile(e2e_ns - run_ns + redo_ns, 99) "
	  "FROM execution WHERE complete GROUP BY 1, 2", 2000 },
	{ "a phase, by anything else",
	  "SELECT stream_id, percentile(dispatched - enqueued, 50), percentile(dispatched - enqueued, 99) FROM execution "
	  "GROUP BY 1", 2000 },
	{ "one execution", "SELECT * FROM execution WHERE id = 4321", 50 },
	{ "the phases of one execution", "SELECT * FROM execution_phase WHERE execution_id = 4321", 50 },
	{ "the waits of one execution", "SELECT * FROM wait WHERE execution_id = 4321", 50 },
};
/* clang-format on */

enum { N_QUESTIONS = sizeof(questions) / sizeof(questions[0]) };

struct world {
	struct trace full, few, many;
	char db[PATH_BYTES], kept[PATH_BYTES], scripted[PATH_BYTES], many_db[PATH_BYTES];
	const char *python; /* the one that has python3-bt2; NULL if python3-bt2 is not installed */
	size_t rows[N_PROGRAMS], answers[N_QUESTIONS];
	uint64_t peak;
};

static bool is_there(const struct world *w, int program)
{
	return program != SCRIPT || w->python;
}

static struct ran run_it(const struct world *w, int program)
{
	const char *const reading[] = { "babeltrace2", w->full.path, "--output-format=dummy", NULL };
	const char *const import[] = { BURSTSCOPE, "import", "-q", "-o", w->db, w->full.path, NULL };
	const char *const keeping[] = { BURSTSCOPE, "import", "-q",         "--keep-operations",
		                        "-o",       w->kept,  w->full.path, NULL };
	const char *const script[] = { w->python, IMPORT_PY, w->few.path, w->scripted, NULL };
	const char *const *const programs[N_PROGRAMS] = { reading, import, keeping, script };

	unlink(w->scripted); /* ours replace theirs */
	return must_run(programs[program]);
}

/* A script takes its time for a shorter trace: what it takes for each event there, for all of these. */
static void measure(struct bench *b, struct world *w, int program)
{
	struct ran ran = run_it(w, program);
	double ns = (double)ran.ns;

	if (program == SCRIPT)
		ns *= (double)w->full.got.events / (double)w->few.got.events;
	if (program == IMPORT && ran.peak_bytes > w->peak)
		w->peak = ran.peak_bytes;
	bench_sample(b, w->rows[program], ns);
	bench_round_done(b, w->rows[program]);
}

static void ask(struct bench *b, struct world *w, int question)
{
	const char *const argv[] = { BURSTSCOPE, "sql", "-q", "--format", "csv", w->many_db, questions[question].sql,
		                     NULL };

	bench_sample(b, w->answers[question], (double)must_run(argv).ns);
	bench_round_done(b, w->answers[question]);
}

static void one_round(struct bench *b, struct world *w, unsigned round)
{
	for (int i = 0; i < N_PROGRAMS; i++) {
		int program = round % 2 ? N_PROGRAMS - 1 - i : i;

		if (is_there(w, program))
			measure(b, w, program);
	}
	for (int i = 0; i < N_QUESTIONS; i++)
		ask(b, w, i);
}

/* ---- what it is measured on ---- */

static void record(struct bench *b, struct world *w)
{
	struct pair p;

	importing_open(&p);
	importing_record(&w->full, "full", DETAIL_FULL, &p, b->quick ? QUICK_FULL : FULL);
	importing_record(&w->few, "few", DETAIL_FULL, &p, b->quick ? QUICK_SHORT : SHORT);
	importing_record(&w->many, "many", DETAIL_COMPACT, &p, b->quick ? QUICK_MANY : MANY);
	pair_close(&p);
	bench_figure_is(b, bench_figure(b, "events of the trace, millions"), (double)w->full.got.events / 1e6);
	bench_figure_is(b, bench_figure(b, "events of the script's trace, millions"), (double)w->few.got.events / 1e6);
	bench_at_most(b, "events lost while recording", (double)(w->full.got.lost + w->few.got.lost + w->many.got.lost),
	              0);
	bench_at_least(b, "events of the trace", (double)w->full.got.events, (double)w->full.executions * FULL_EVENTS);
}

/* The first one may be the user's own, without the distribution's packages. */
static const char *find_python(void)
{
	static const char *const pythons[] = { "python3", "/usr/bin/python3" };

	for (size_t i = 0; i < sizeof(pythons) / sizeof(pythons[0]); i++)
		if (!run_program((const char *const[]){ pythons[i], "-c", "import bt2, sqlite3", NULL }).status)
			return pythons[i];
	return NULL;
}

static void open_world(struct bench *b, struct world *w)
{
	const char *traces = getenv("NNB_TRACES");

	snprintf(w->db, sizeof(w->db), "%s/full.db", traces);
	snprintf(w->kept, sizeof(w->kept), "%s/kept.db", traces);
	snprintf(w->scripted, sizeof(w->scripted), "%s/scripted.db", traces);
	snprintf(w->many_db, sizeof(w->many_db), "%s/many.db", traces);
	w->python = find_python();
	if (!w->python)
		fprintf(stderr, "bench_import: python3-bt2 is not there: without the script\n");
	record(b, w);
	for (int i = 0; i < N_PROGRAMS; i++)
		if (is_there(w, i))
			w->rows[i] = bench_row(b, names[i]);
	for (int i = 0; i < N_QUESTIONS; i++)
		w->answers[i] = bench_row(b, questions[i].name);
}

/* ---- what came of it ---- */

/* All of them, and each of them whole; or it was not the work that was to be measured. */
static void judge_import(struct bench *b, const struct trace *t, const char *db, const char *name)
{
	char title[80];

	snprintf(title, sizeof(title), "%s: executions too few, or too many", name);
	bench_at_most(b, title, fabs(t->executions - answer_of(db, "SELECT count(*) FROM execution WHERE complete")),
	              0);
}

static void judge_ratio(struct bench *b, const struct world *w, int program, double most)
{
	char name[80];

	snprintf(name, sizeof(name), "%s / %s", names[program], names[READING]);
	bench_at_most(b, name, bench_ratio_bound(b, name, w->rows[program], w->rows[READING]), most);
}

static void judge(struct bench *b, const struct world *w)
{
	char name[80];

	judge_ratio(b, w, IMPORT, .75);
	judge_ratio(b, w, KEEPING, 1.1);
	if (w->python)
		bench_at_least(b, "the script / import",
		               bench_ratio(b, "the script / import", w->rows[SCRIPT], w->rows[IMPORT], SIZE_MAX), 40);
	bench_at_most(b, "import: peak memory, MiB", (double)w->peak / MIB, 64);
	bench_at_most(b, "bytes of the database / of the trace", (double)bytes_of(w->db) / (double)w->full.got.bytes,
	              .8);
	for (int i = 0; i < N_QUESTIONS;
	     i++) { /* when no other program is at work: there is nothing to hold it against */
		const struct bench_row *r = &b->rows[w->answers[i]];

		snprintf(name, sizeof(name), "%s, ms at best", questions[i].name);
		bench_at_most(b, name, bench_percentile(r->per_round, r->n_rounds, 0) / 1e6, questions[i].most_ms);
	}
	judge_import(b, &w->full, w->db, "the trace");
	judge_import(b, &w->many, w->many_db, "the one that is asked");
}

int main(int argc, char **argv)
{
	static struct world w;
	struct bench b;

	recorder_inside(TRACING_SH, argv);
	bench_open(&b, "import", 7, argc, argv);
	find_cpus();
	open_world(&b, &w);
	must_run((const char *const[]){ BURSTSCOPE, "import", "-q", "-o", w.many_db, w.many.path, NULL });
	run_it(&w, READING); /* warms up: the first one need not wait for the disk */
	for (unsigned round = 0; round < b.rounds; round++)
		one_round(&b, &w, round);
	judge(&b, &w);
	return bench_close(&b);
}
