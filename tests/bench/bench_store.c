/*
 * bench_store.c -- measures the cost of a fact until it can be asked for: a million executions through the store, and
 * queries to them.
 */
#include "bench.h"
#include "facts.h"

#include "base.h"
#include "bsa/db.h"
#include "store/store.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
	EXECUTIONS = 1000000,
	QUICK = 20000,
	EVENTS = 12,       /* events of one execution in a trace */
	TRACE_BYTES = 341, /* bytes of one execution in a full trace */
};

static void must(int r, const struct bsa_err *err)
{
	if (r < 0) {
		fprintf(stderr, "bench_store: %s\n", err->text);
		exit(1);
	}
}

struct load {
	double all, load; /* ns for each execution */
	long rss_kb;
};

static double cpu_now(void)
{
	return (double)clock_ns(CLOCK_PROCESS_CPUTIME_ID);
}

static struct load load(const char *path, uint64_t n)
{
	struct bsa_store_options options = { .output = path };
	struct bsa_trace_row trace = { .id = 1, .uuid = "a-b-c", .path = "trace", .clock_offset = 1700000000000000000 };
	struct bsa_store *s = NULL;
	struct bsa_facts facts;
	struct bsa_err err;
	struct rusage usage;
	double began = cpu_now(), made, loaded;
	struct load ret;

	must(bsa_store_new(&s, &options, &err), &err);
	must(bsa_store_trace(s, &trace, &err), &err);
	bsa_store_clock(s, trace.clock_offset);
	facts = bsa_store_facts(s);
	facts_who(&facts);
	for (uint64_t i = 0; i < n; i++)
		facts_execution(&facts, i);
	loaded = cpu_now();
	must(bsa_store_finish(s, &err), &err);
	bsa_store_free(s);
	made = cpu_now();
	getrusage(RUSAGE_SELF, &usage);
	ret = (struct load){ (made - began) / (double)n, (loaded - began) / (double)n, usage.ru_maxrss };
	return ret;
}

/* The cost of making them up, which is not the store's. */
static void ignore_execution(void *ctx, const struct bsa_execution *x)
{
	__asm__ volatile("" ::"r"(ctx), "r"(x) : "memory");
}

static void ignore_wait(void *ctx, const struct bsa_wait *w)
{
	__asm__ volatile("" ::"r"(ctx), "r"(w) : "memory");
}

static double made_up(uint64_t n)
{
	struct bsa_facts facts = { .execution = ignore_execution, .wait = ignore_wait };
	double began = cpu_now();

	for (uint64_t i = 0; i < n; i++)
		facts_execution(&facts, i);
	return (cpu_now() - began) / (double)n;
}

static const struct question {
	const char *name, *sql;
	double most_ms;
} questions[] = {
	{ "latency and overhead, default", "SELECT * FROM phase_stat WHERE phase IN ('e2e', 'overhead')", 100 },
	{ "causes", "SELECT cause, sum(late_ns), count(*) FROM miss_cause GROUP BY cause", 100 },
	{ "shares", "SELECT * FROM app_share", 100 },
	{ "e2e by app",
	  "SELECT app_id, percentile(e2e_ns, 50), percentile(e2e_ns, 99) FROM execution WHERE complete GROUP BY app_id",
	  2000 },
	{ "e2e by model, path",
	  "SELECT m.name, x.path, count(*), percentile(e2e_ns, 99) FROM execution x JOIN model m ON m.id = x.model_id"
	  " WHERE complete GROUP BY m.name, x.path",
	  2000 },
	{ "run by burst",
	  "SELECT burst_id, percentile(run_ns, 50), percentile(run_ns, 99) FROM execution WHERE complete GROUP BY "
	  "burst_id",
	  2000 },
	{ "a phase by priority",
	  "SELECT x.priority, percentile(p.dur_ns, 99) FROM execution_phase p JOIN execution x ON x.id = p.execution_id"
	  " WHERE p.phase = 'return' GROUP BY x.priority",
	  2000 },
	{ "overhead by app",
	  "SELECT app_id, percentile(e2e_ns - (run_ns - redo_ns), 99) FROM execution WHERE complete GROUP BY app_id",
	  2000 },
	{ "missed", "SELECT count(*), sum(lateness_ns) FROM execution WHERE miss IS NOT NULL", 2000 },
	{ "one execution", "SELECT * FROM execution WHERE id = 15001", 50 },
	{ "its phases", "SELECT * FROM execution_phase WHERE execution_id = 15001", 50 },
	{ "its waits", "SELECT * FROM wait WHERE execution_id = 15001", 50 },
	{ "its slices", "SELECT * FROM lane_slice WHERE execution_id = 15001", 50 },
	{ "its preemptions", "SELECT * FROM preemption WHERE execution_id = 15001", 50 },
	{ "its waits, joined", "SELECT * FROM execution x JOIN wait w ON w.execution_id = x.id WHERE x.id = 15001",
	  50 },
	{ "by number",
	  "SELECT x.* FROM stream s JOIN execution x ON x.stream_id = s.id WHERE s.number = 0x12300003 AND x.seq = 101",
	  50 },
};

static double ask(struct bsa_db *db, const char *sql)
{
	struct bsa_query *q = NULL;
	struct bsa_err err;
	uint64_t began = bench_now();
	int r;

	must(bsa_query_new(&q, db, sql, &err), &err);
	while ((r = bsa_query_step(q, &err)) == 1)
		continue;
	must(r, &err);
	bsa_query_free(q);
	return (double)(bench_now() - began) / 1e6;
}

int main(int argc, char **argv)
{
	char dir[] = "/tmp/bench_store.XXXXXX", path[64];
	struct bench b;
	size_t each, loading, bytes, rss, asked[sizeof(questions) / sizeof(questions[0])];
	size_t n_questions = sizeof(questions) / sizeof(questions[0]);
	uint64_t n;
	struct stat st;

	bench_open(&b, "store", 3, argc, argv);
	n = b.quick ? QUICK : EXECUTIONS;
	if (!mkdtemp(dir))
		return 5;
	snprintf(path, sizeof(path), "%s/x.db", dir);
	each = bench_figure(&b, "cpu, ns an execution");
	loading = bench_figure(&b, "of it, until the last one is told");
	bytes = bench_figure(&b, "bytes an execution");
	rss = bench_figure(&b, "peak memory, MiB");
	for (size_t i = 0; i < n_questions; i++) {
		char name[80];

		snprintf(name, sizeof(name), "ms: %s", questions[i].name);
		asked[i] = bench_figure(&b, name);
	}
	for (unsigned round = 0; round < b.rounds; round++) {
		double not_ours = made_up(n);
		struct load l = load(path, n);
		struct bsa_db *db = NULL;
		struct bsa_err err;

		stat(path, &st);
		bench_figure_is(&b, each, l.all - not_ours);
		bench_figure_is(&b, loading, l.load - not_ours);
		bench_figure_is(&b, bytes, (double)st.st_size / (double)n);
		bench_figure_is(&b, rss, (double)l.rss_kb / 1024);
		must(bsa_db_open(&db, path, &err), &err);
		for (size_t i = 0; i < n_questions; i++)
			bench_figure_is(&b, asked[i], ask(db, questions[i].sql));
		bsa_db_close(db);
	}
	bench_at_most(&b, "cpu, ns an execution", bench_figure_median(&b, each), 1200);
	bench_at_most(&b, "bytes, over those of a full trace", bench_figure_median(&b, bytes) / TRACE_BYTES, 0.8);
	for (size_t i = 0; i < n_questions; i++)
		bench_at_most(&b, questions[i].name, bench_figure_median(&b, asked[i]), questions[i].most_ms);
	unlink(path);
	rmdir(dir);
	return bench_close(&b);
}
