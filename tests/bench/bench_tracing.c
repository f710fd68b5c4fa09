/*
 * bench_tracing -- what it costs to be observed: an event by the seam against one of LTTng alone; and executions
 * without a session daemon, with one that does not record, and recorded, compact, full and verbose.
 *
 * Each of these ways is a service and an app of its own (pair.h), all there at once and measured in turns. LTTng
 * records by process, so that each session has its own.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "bench.h"
#include "emit.h"
#include "mobilenet.h"
#include "nbt/nbt.h"
#include "nnb/fmq.h"
#include "pair.h"
#include "peers.h"
#include "recorder.h"

/* ---- who listens ---- */

enum { NOTRACE, ABSENT, DISABLED, COMPACT, FULL, VERBOSE, N_KINDS };

/* clang-format off */
static const struct kind {
	const char *name;
	bool provider;
	const char *const events[4]; /* event rules of a session */
} kinds[N_KINDS] = {
	[NOTRACE] = { "a build without tracing", false, { NULL } },
	[ABSENT] = { "no provider", false, { NULL } },
	[DISABLED] = { "nobody listens", true, { NULL } },
	[COMPACT] = { "compact", true, { "'nnburst:*' --loglevel=NOTICE", "nnburst:exec_client", "nnburst:exec_service" } },
	[FULL] = { "full", true, { "'nnburst:*' --loglevel=DEBUG_FUNCTION" } },
	[VERBOSE] = { "verbose", true, { "'nnburst:*' --loglevel=DEBUG_LINE" } },
};
/* clang-format on */

enum { NULL_POLLING, NULL_BLOCKING, REAL, N_PATHS };

static const struct path {
	const char *driver;
	uint64_t window_ns;
	bool kinds[N_KINDS];
} paths[N_PATHS] = {
	[NULL_POLLING] = { "null", NNB_FMQ_WINDOW_ALWAYS, { true, true, true, true, true, true } },
	[NULL_BLOCKING] = { "null", NNB_FMQ_WINDOW_NONE, { [DISABLED] = true, [COMPACT] = true, [FULL] = true } },
	[REAL] = { "xnnpack",
	           NNB_FMQ_WINDOW_ALWAYS,
	           { [DISABLED] = true, [COMPACT] = true, [FULL] = true, [VERBOSE] = true } },
};

/* ---- what is measured ---- */

enum { NOOP, NOOP_BLOCKING, NET_NULL, NET, NET_SMALL, N_WORKS };

static const struct work {
	const char *name;
	int path;
	bool kinds[N_KINDS];
	unsigned openings, quick_openings; /* openings of a burst, in a round */
	struct pair_order order, quick;
} works[N_WORKS] = {
	[NOOP] = { "no-op burst, polling",
	           NULL_POLLING,
	           { true, true, true, true, true },
	           8,
	           1,
	           { .warm_up = 200, .batches = 5, .batch = 100 },
	           { .warm_up = 10, .batches = 1, .batch = 10 } },
	[NOOP_BLOCKING] = { "no-op burst, blocking",
	                    NULL_BLOCKING,
	                    { [DISABLED] = true, [COMPACT] = true, [FULL] = true },
	                    2,
	                    1,
	                    { .warm_up = 10, .batches = 100, .batch = 1 },
	                    { .warm_up = 2, .batches = 3, .batch = 1 } },
	[NET_NULL] = { "MobileNet, null driver",
	               NULL_POLLING,
	               { [DISABLED] = true, [COMPACT] = true, [FULL] = true, [VERBOSE] = true },
	               4,
	               1,
	               { .mobilenet = 1, .warm_up = 100, .batches = 5, .batch = 50 },
	               { .mobilenet = 1, .warm_up = 10, .batches = 1, .batch = 5 } },
	[NET] = { "MobileNet",
	          REAL,
	          { [DISABLED] = true, [COMPACT] = true, [FULL] = true, [VERBOSE] = true },
	          1,
	          1,
	          { .mobilenet = 4, .warm_up = 1, .batches = 5, .batch = 1 },
	          { .mobilenet = 4, .warm_up = 1, .batches = 1, .batch = 1 } },
	[NET_SMALL] = { "MobileNet 0.25",
	                REAL,
	                { [DISABLED] = true, [COMPACT] = true, [FULL] = true, [VERBOSE] = true },
	                2,
	                1,
	                { .mobilenet = 1, .warm_up = 2, .batches = 10, .batch = 1 },
	                { .mobilenet = 1, .warm_up = 1, .batches = 1, .batch = 1 } },
};

enum { BATCHES_MAX = 128 };

static const char *const emits[N_EMITS] = {
	[EMIT_ONE] = "an event of 1 field",
	[EMIT_THREE] = "an event of 3 fields",
	[EMIT_SEVEN] = "an event of 7 fields",
	[EMIT_NINE] = "an event of 9 fields",
	[EMIT_ARRAY] = "an event of an array as well",
};

struct rows {
	size_t work[N_WORKS][N_KINDS], bare[N_EMITS], ours[N_EMITS];
	/* figures */
	size_t more[N_KINDS], compact_of_full, share[N_KINDS], share_blocking[N_KINDS];
	size_t net_more[N_WORKS][N_KINDS], net_computed[N_WORKS][N_KINDS]; /* rows for NET and NET_SMALL */
};

struct world {
	struct pair pairs[N_PATHS][N_KINDS];
	const char *notrace; /* directory of a build without tracing; NULL if it was not built */
};

static bool is_there(const struct world *w, const bool in[N_KINDS], int kind)
{
	return in[kind] && (kind != NOTRACE || w->notrace);
}

/* ---- an event ---- */

enum { EVENTS = 500, EVENT_BATCHES = 20, CLOCK_READS = 100 };

static void emit(struct bench *b, size_t row, void (*one)(uint64_t n))
{
	uint64_t start = bench_now();

	one(EVENTS);
	bench_sample(b, row, (double)(bench_now() - start) / EVENTS);
}

/* Each first as often as second. */
static void events(struct bench *b, const struct rows *r)
{
	settle(TWO_CPUS, CLIENT);
	for (int e = 0; e < N_EMITS; e++) {
		for (int i = 0; i < (b->quick ? 2 : EVENT_BATCHES); i++) {
			if (i % 2)
				emit(b, r->ours[e], emit_ours[e]);
			emit(b, r->bare[e], emit_bare[e]);
			if (i % 2 == 0)
				emit(b, r->ours[e], emit_ours[e]);
		}
		bench_round_done(b, r->bare[e]);
		bench_round_done(b, r->ours[e]);
	}
	settle(UNPINNED, CLIENT);
}

static void events_open(void)
{
	static const char *const both[] = { "'nnburst:*'", "'bare:*'", NULL };
	const pid_t self = getpid();
	const char *why;

	if (nbt_open(PROVIDER, &why)) {
		fprintf(stderr, "bench_tracing: %s: %s\n", PROVIDER, why);
		exit(5);
	}
	recorder_start("events", RECORDER_AMPLE, both, &self, 1);
}

/* ---- executions ---- */

static void execute(struct bench *b, const struct rows *r, const struct world *w, int work, int kind)
{
	const struct work *it = &works[work];
	const struct pair_order *o = b->quick ? &it->quick : &it->order;
	double times[BATCHES_MAX];

	pair_run(&w->pairs[it->path][kind], o, times);
	for (uint32_t i = 0; i < o->batches; i++)
		bench_sample(b, r->work[work][kind], times[i]);
}

/* Every kind, forwards and backwards in turn, beginning with another one each time. */
static void works_round(struct bench *b, const struct rows *r, const struct world *w, int work, unsigned round)
{
	const struct work *it = &works[work];
	unsigned openings = b->quick ? it->quick_openings : it->openings;

	for (unsigned i = 0; i < openings; i++)
		for (unsigned k = 0; k < N_KINDS; k++) {
			unsigned at = (round + i) / 2 + ((round + i) % 2 ? N_KINDS - 1 - k : k);

			if (is_there(w, it->kinds, (int)(at % N_KINDS)))
				execute(b, r, w, work, (int)(at % N_KINDS));
		}
	for (int kind = 0; kind < N_KINDS; kind++)
		if (is_there(w, it->kinds, kind))
			bench_round_done(b, r->work[work][kind]);
}

static double last(const struct bench *b, const struct rows *r, int work, int kind)
{
	const struct bench_row *row = &b->rows[r->work[work][kind]];

	return row->per_round[row->n_rounds - 1];
}

static double more(const struct bench *b, const struct rows *r, int work, int kind)
{
	return last(b, r, work, kind) - last(b, r, work, DISABLED);
}

/*
 * The clock reads that a service asks for in a network that takes long, recorded, and in one that computes nothing it
 * does not.
 */
static double cpu_clock_ns(void)
{
	struct timespec t;
	uint64_t start = bench_now();

	for (int i = 0; i < CLOCK_READS; i++)
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return 2.0 * (double)(bench_now() - start) / CLOCK_READS;
}

/*
 * More for the real one, and what is more where none of its operations computes, which can be measured to the
 * nanosecond, as a share of the real one.
 */
static void work_out_net(struct bench *b, const struct rows *r, int work)
{
	double net = last(b, r, work, DISABLED), clock = cpu_clock_ns();

	for (int kind = COMPACT; kind < N_KINDS; kind++) {
		bench_figure_is(b, r->net_more[work][kind], 100 * more(b, r, work, kind) / net);
		bench_figure_is(b, r->net_computed[work][kind], 100 * (more(b, r, NET_NULL, kind) + clock) / net);
	}
}

static void work_out(struct bench *b, const struct rows *r)
{
	double noop = last(b, r, NOOP, DISABLED), blocking = last(b, r, NOOP_BLOCKING, DISABLED);

	for (int kind = COMPACT; kind <= FULL; kind++) {
		bench_figure_is(b, r->more[kind], more(b, r, NOOP, kind));
		bench_figure_is(b, r->share[kind], 100 * more(b, r, NOOP, kind) / noop);
		bench_figure_is(b, r->share_blocking[kind], 100 * more(b, r, NOOP_BLOCKING, kind) / blocking);
	}
	bench_figure_is(b, r->compact_of_full, more(b, r, NOOP, COMPACT) / more(b, r, NOOP, FULL));
	work_out_net(b, r, NET);
	work_out_net(b, r, NET_SMALL);
}

/* ---- counting ---- */

enum { COUNTED = 5000, COUNTED_WARM = 10 };

/* One session for it: its trace has what these executions have emitted. */
static void count(struct bench *b, const struct world *w, int kind, unsigned bound)
{
	const struct pair_order o = { .warm_up = COUNTED_WARM, .batches = 1, .batch = b->quick ? 100 : COUNTED };
	const struct pair *p = &w->pairs[NULL_POLLING][kind];
	const pid_t pids[] = { p->service.pid, p->app };
	unsigned fewest, most;
	struct recorded got;
	char name[80];
	double time;

	recorder_start("count", RECORDER_AMPLE, kinds[kind].events, pids, 2);
	pair_run(p, &o, &time);
	recorder_stop("count", &got);
	recorder_per_execution("count", COUNTED_WARM, &fewest, &most);
	if (fewest != most || got.lost)
		fprintf(stderr, "bench_tracing: %s: %u to %u events an execution, %llu were lost\n", kinds[kind].name,
		        fewest, most, (unsigned long long)got.lost);
	snprintf(name, sizeof(name), "%s: bytes an execution", kinds[kind].name);
	bench_figure_is(b, bench_figure(b, name), (double)got.bytes / (o.batch + o.warm_up));
	snprintf(name, sizeof(name), "%s: events of a warm execution with 2 pools", kinds[kind].name);
	bench_at_most(b, name, most, bound);
	snprintf(name, sizeof(name), "%s: the fewest events of one", kinds[kind].name);
	bench_at_least(b, name, fewest, 1);
	recorder_forget("count");
}

/* ---- the whole ---- */

static size_t figure(struct bench *b, const char *of, const char *kind, const char *what)
{
	char name[80];

	snprintf(name, sizeof(name), "%s: %s: %s", of, kind, what);
	return bench_figure(b, name);
}

static void make_figures(struct bench *b, struct rows *r)
{
	for (int kind = COMPACT; kind <= FULL; kind++) {
		r->more[kind] = figure(b, works[NOOP].name, kinds[kind].name, "more, ns");
		r->share[kind] = figure(b, works[NOOP].name, kinds[kind].name, "more, %");
		r->share_blocking[kind] = figure(b, works[NOOP_BLOCKING].name, kinds[kind].name, "more, %");
	}
	r->compact_of_full = bench_figure(b, "what compact costs / what full costs");
	for (int work = NET; work <= NET_SMALL; work++)
		for (int kind = COMPACT; kind < N_KINDS; kind++) {
			r->net_more[work][kind] = figure(b, works[work].name, kinds[kind].name, "more, %");
			r->net_computed[work][kind] =
				figure(b, works[work].name, kinds[kind].name, "more by the null driver, %");
		}
}

static void make_rows(struct bench *b, struct rows *r, const struct world *w)
{
	char name[64];

	for (int e = 0; e < N_EMITS; e++) {
		snprintf(name, sizeof(name), "%s/LTTng", emits[e]);
		r->bare[e] = bench_row(b, name);
		snprintf(name, sizeof(name), "%s/the seam", emits[e]);
		r->ours[e] = bench_row(b, name);
	}
	for (int work = 0; work < N_WORKS; work++)
		for (int kind = 0; kind < N_KINDS; kind++)
			if (is_there(w, works[work].kinds, kind)) {
				snprintf(name, sizeof(name), "%s/%s", works[work].name, kinds[kind].name);
				r->work[work][kind] = bench_row(b, name);
			}
	make_figures(b, r);
}

static void open_pair(struct world *w, int path, int kind)
{
	char nnburstd[512] = NNBURSTD, app[512] = TRACING_APP;
	struct pair_config config = { .nnburstd = nnburstd, .app = app, .driver = paths[path].driver };
	struct pair *p = &w->pairs[path][kind];

	if (kind == NOTRACE) {
		snprintf(nnburstd, sizeof(nnburstd), "%s/runtime/nnburstd", w->notrace);
		snprintf(app, sizeof(app), "%s/tests/tracing_app", w->notrace);
	}
	config.window_ns = paths[path].window_ns;
	config.provider = kinds[kind].provider ? PROVIDER : "";
	pair_open(p, &config);
	if (pair_maps(p, PROVIDER) == kinds[kind].provider)
		return;
	fprintf(stderr, "bench_tracing: %s: it should be with %s provider\n", kinds[kind].name,
	        kinds[kind].provider ? "a" : "no");
	exit(1);
}

static void open_world(struct world *w)
{
	for (int path = 0; path < N_PATHS; path++)
		for (int kind = 0; kind < N_KINDS; kind++)
			if (is_there(w, paths[path].kinds, kind))
				open_pair(w, path, kind);
}

static void record(const struct world *w)
{
	for (int kind = 0; kind < N_KINDS; kind++) {
		pid_t pids[2 * N_PATHS];
		size_t n = 0;

		for (int path = 0; path < N_PATHS && *kinds[kind].events; path++)
			if (paths[path].kinds[kind]) {
				pids[n++] = w->pairs[path][kind].service.pid;
				pids[n++] = w->pairs[path][kind].app;
			}
		if (n)
			recorder_start(kinds[kind].name, RECORDER_AMPLE, kinds[kind].events, pids, n);
	}
}

static void stop(const char *session, uint64_t *lost, uint64_t *n)
{
	struct recorded got;

	recorder_stop(session, &got);
	recorder_forget(session);
	*lost += got.lost;
	*n += got.events;
}

/* An event that was lost has cost less than it should have. */
static void stop_all(struct bench *b)
{
	uint64_t lost = 0, n = 0;

	stop("events", &lost, &n);
	for (int kind = 0; kind < N_KINDS; kind++)
		if (*kinds[kind].events)
			stop(kinds[kind].name, &lost, &n);
	bench_figure_is(b, bench_figure(b, "events recorded in all, millions"), (double)n / 1e6);
	bench_at_most(b, "events lost meanwhile", (double)lost, 0);
}

static void judge(struct bench *b, const struct rows *r, const struct world *w)
{
	char name[80];
	double bound;

	for (int e = 0; e < N_EMITS; e++) {
		snprintf(name, sizeof(name), "%s: the seam / LTTng", emits[e]);
		bound = bench_ratio_bound(b, name, r->ours[e], r->bare[e]);
		bench_at_most(b, name, bound, 1.1);
	}
	if (w->notrace) {
		snprintf(name, sizeof(name), "no-op burst: no provider / a build without tracing");
		bound = bench_ratio_bound(b, name, r->work[NOOP][ABSENT], r->work[NOOP][NOTRACE]);
		bench_at_most(b, name, bound, 1.05);
		snprintf(name, sizeof(name), "no-op burst: nobody listens / a build without tracing");
		bound = bench_ratio_bound(b, name, r->work[NOOP][DISABLED], r->work[NOOP][NOTRACE]);
		bench_at_most(b, name, bound, 1.08);
	}
	bench_at_most(b, "what compact costs / what full costs", bench_figure_bound(b, r->compact_of_full), 0.35);
	bench_at_most(b, "MobileNet: full: more by the null driver, %",
	              bench_figure_bound(b, r->net_computed[NET][FULL]), 0.1);
	bench_at_most(b, "MobileNet: verbose: more by the null driver, %",
	              bench_figure_bound(b, r->net_computed[NET][VERBOSE]), 0.5);
}

static void measure(struct bench *b, const struct rows *r, const struct world *w, unsigned round)
{
	events(b, r);
	for (int work = 0; work < N_WORKS; work++)
		works_round(b, r, w, work, round);
	work_out(b, r);
}

int main(int argc, char **argv)
{
	static struct world w;
	struct rows rows;
	struct bench b;

	bench_open(&b, "tracing", 31, argc, argv);
	recorder_inside(TRACING_SH, argv);
	w.notrace = getenv("NNB_NOTRACE");
	if (!w.notrace && !b.quick) {
		fprintf(stderr, "bench_tracing: $NNB_NOTRACE should name the directory of a build without tracing\n");
		return 5;
	}
	find_cpus();
	settle(UNPINNED, CLIENT);
	open_world(&w);
	make_rows(&b, &rows, &w);
	events_open();
	record(&w);
	for (unsigned i = 0; i < b.rounds; i++)
		measure(&b, &rows, &w, i);
	stop_all(&b);
	judge(&b, &rows, &w);
	count(&b, &w, FULL, 14);
	count(&b, &w, COMPACT, 2);
	for (int path = 0; path < N_PATHS; path++)
		for (int kind = 0; kind < N_KINDS; kind++)
			if (is_there(&w, paths[path].kinds, kind))
				pair_close(&w.pairs[path][kind]);
	return bench_close(&b);
}
