/*
 * test_fold_schedules.c -- the fold against the truth, in thousands of simulated schedules: events in full,
 * compact, both, with holes, from the middle on, and hostile.
 *
 * A failure prints its seed: test_fold_schedules SEED plays that schedule alone. NNB_SOAK_SECONDS sets how long
 * it goes on.
 */
#include <malloc.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "analyzer/collect.h"
#include "analyzer/schedule_again.h"
#include "analyzer/schedule_sim.h"
#include "analyzer/schedule_truth.h"
#include "base.h"
#include "fold/blame.h"
#include "fold/fold.h"
#include "fold/overhead.h"
#include "fold/voices.h"

#ifndef SEEDS
#define SEEDS 250
#endif
#define NEVER BSA_NEVER

enum { SHOWN = 6, CLIENTS_LATE = 20000000 }; /* CLIENTS_LATE: ns, in some_terms */

/* ---- reports of failures ---- */

static uint64_t seed_now;
static const char *doing;

static void __attribute__((format(printf, 1, 2), noreturn)) wrong(const char *format, ...)
{
	char text[2000];
	va_list list;

	va_start(list, format);
	vsnprintf(text, sizeof(text), format, list);
	va_end(list);
	fail_msg("seed %llu, %s: %s", (unsigned long long)seed_now, doing, text);
	abort();
}

#define HOLDS(what, ...)                    \
	do {                                \
		if (!(what))                \
			wrong(__VA_ARGS__); \
	} while (0)

/* Print the lines that only one of two sorted texts has. */
static void show_lines(const char *name, const char *text, const char *other, unsigned most)
{
	char line[4096];

	for (; *text && most; text += strcspn(text, "\n") + 1) {
		snprintf(line, sizeof(line), "%.*s\n", (int)strcspn(text, "\n"), text);
		if (!strstr(other, line)) {
			printf("%s: %s", name, line);
			most--;
		}
	}
}

/*
 * Clear what only full events report: what the answer to a launch had to wait for, and the model of an
 * execution that is under way.
 */
static void forget_full(struct collected *c)
{
	for (size_t i = 0; i < c->exhausted.n; i++)
		c->exhausted.items[i].model = 0;
	for (size_t i = 0; i < c->execution.n; i++)
		if (c->execution.items[i].at[BSA_SIGNALLED] != NEVER)
			c->execution.items[i].result.blocked = 0;
}

static void expect_same(char *one, const char *one_name, char *other, const char *other_name)
{
	bool same = !strcmp(one, other);

	if (!same) {
		printf("seed %llu, %s\n", (unsigned long long)seed_now, doing);
		show_lines(one_name, one, other, SHOWN);
		show_lines(other_name, other, one, SHOWN);
	}
	free(one);
	free(other);
	HOLDS(same, "%s is not as %s", one_name, other_name);
}

/* ---- events, and their fold ---- */

struct tape {
	const struct bsa_event **events;
	size_t n;
	struct sim_event *own; /* events that the simulator did not make */
	size_t n_own;
};

struct outcome {
	struct collected facts;
	struct bsa_left_out left_out;
	uint64_t latest;
	bool passed_doubts;
};

static void tape_free(struct tape *t)
{
	free(t->events);
	free(t->own);
}

static struct tape tape_of(const struct sim *s, unsigned forms)
{
	struct tape t = { .events = calloc(s->n_events + 1, sizeof(*t.events)) };

	assert_non_null(t.events);
	for (size_t i = 0; i < s->n_events; i++)
		if (s->events[i].forms & forms && !s->events[i].lost)
			t.events[t.n++] = &s->events[i].event;
	return t;
}

struct keyed {
	const struct sim_event *e;
	uint64_t key;
};

static int by_key(const void *one, const void *other)
{
	const struct keyed *a = one, *b = other;

	if (a->e->event.at != b->e->event.at)
		return a->e->event.at < b->e->event.at ? -1 : 1;
	if (a->key != b->key)
		return a->key < b->key ? -1 : 1;
	return a->e->order < b->e->order ? -1 : 1;
}

/* As tape_of, but events of one time come in any order, unless they are of one execution. */
static struct tape shuffled_tape_of(const struct sim *s, unsigned forms, uint64_t series)
{
	struct tape t = tape_of(s, forms);
	struct keyed *all = calloc(t.n + 1, sizeof(*all));
	uint64_t salt = sim_random(&series, UINT64_MAX), key;

	assert_non_null(all);
	for (size_t i = 0; i < t.n; i++) {
		all[i].e = (const struct sim_event *)t.events[i];
		key = salt ^ all[i].e->whose;
		all[i].key = sim_random(&key, UINT64_MAX);
	}
	qsort(all, t.n, sizeof(*all), by_key);
	for (size_t i = 0; i < t.n; i++)
		t.events[i] = &all[i].e->event;
	free(all);
	return t;
}

static bool notifies_when_quiet; /* the fold is notified of each time without records */
static unsigned long n_doubts;   /* folds that reported what the end might have left unknown */
static unsigned long n_quiet;    /* notified times that were longer than a horizon */

/* The fold has event @i: notify it that no record comes before the next event. */
static void notify_quiet(struct bsa_fold *f, const struct tape *t, size_t i, uint64_t horizon)
{
	uint64_t at = t->events[i]->at, until = i + 1 < t->n ? t->events[i + 1]->at : at + 10 * horizon;

	n_quiet += until > at + horizon;
	assert_int_equal(bsa_fold_quiet(f, until), 0);
}

static void fold_tape(struct outcome *ret, const struct tape *t, const struct bsa_fold_options *options)
{
	struct bsa_facts facts = collect_facts(&ret->facts);
	struct bsa_fold *f;

	facts.fmq_op = NULL;
	facts.lookup = NULL;
	facts.operation = NULL;
	f = bsa_fold_new(&facts, options);
	assert_non_null(f);
	for (size_t i = 0; i < t->n; i++) {
		assert_int_equal(bsa_fold_event(f, t->events[i]), 0);
		if (notifies_when_quiet)
			notify_quiet(f, t, i, options->horizon_ns);
	}
	assert_int_equal(bsa_fold_finish(f), 0);
	ret->left_out = bsa_fold_left_out(f);
	ret->latest = bsa_fold_latest_summary(f);
	ret->passed_doubts = bsa_fold_passed_doubts(f);
	bsa_fold_free(f);
}

/* A fold that is notified of times without records must find the same facts, only earlier. */
static void check_quiet(const struct tape *t, const struct bsa_fold_options *options, const struct outcome *told)
{
	struct outcome o = { .latest = 0 };

	notifies_when_quiet = true;
	fold_tape(&o, t, options);
	notifies_when_quiet = false;
	n_doubts += o.passed_doubts;
	if (!o.passed_doubts)
		expect_same(collect_text(&told->facts, false), "as records come", collect_text(&o.facts, false),
		            "notified of quiet times");
	collect_fini(&o.facts);
}

static struct outcome fold_forms(const struct sim *s, unsigned forms, const struct bsa_fold_options *options)
{
	struct tape t = tape_of(s, forms);
	struct outcome o = { .latest = 0 };

	fold_tape(&o, &t, options);
	tape_free(&t);
	return o;
}

static void outcome_free(struct outcome *o)
{
	collect_fini(&o->facts);
}

/* ---- sums ---- */

static uint64_t phases_ns(const struct bsa_execution *x)
{
	uint64_t sum = 0;

	for (int i = 0; i < BSA_PHASES; i++) {
		if (x->sides != BSA_SIDES_BOTH && x->phase[i] == NEVER)
			continue; /* a phase of the other side */
		HOLDS(x->phase[i] <= x->e2e, "exec %#llx: phase %d is negative, or unknown",
		      (unsigned long long)x->exec, i);
		sum += x->phase[i];
	}
	return sum;
}

/* The facts about one execution that bsa_blame needs. */
struct execution_facts {
	struct bsa_wait *waits;
	struct bsa_preemption *preemptions;
	struct bsa_slice *slices;
	struct bsa_refused *refused;
	size_t n_waits, n_preemptions, n_slices;
};

static int by_beginning(const void *one, const void *other)
{
	const struct bsa_wait *a = one, *b = other;

	return (a->began > b->began) - (a->began < b->began);
}

static struct execution_facts execution_facts_of(const struct collected *c, uint64_t id)
{
	struct execution_facts b = { .waits = calloc(c->wait.n + 1, sizeof(*b.waits)),
		                     .preemptions = calloc(c->preemption.n + 1, sizeof(*b.preemptions)),
		                     .slices = calloc(c->slice.n + 1, sizeof(*b.slices)) };

	for (size_t i = 0; i < c->wait.n; i++)
		if (c->wait.items[i].execution == id)
			b.waits[b.n_waits++] = c->wait.items[i];
	for (size_t i = 0; i < c->preemption.n; i++)
		if (c->preemption.items[i].execution == id)
			b.preemptions[b.n_preemptions++] = c->preemption.items[i];
	for (size_t i = 0; i < c->slice.n; i++)
		if (c->slice.items[i].execution == id)
			b.slices[b.n_slices++] = c->slice.items[i];
	for (size_t i = 0; i < c->refused.n; i++)
		if (c->refused.items[i].execution == id)
			b.refused = &c->refused.items[i];
	qsort(b.waits, b.n_waits, sizeof(*b.waits), by_beginning);
	return b;
}

static void execution_facts_free(struct execution_facts *b)
{
	free(b->waits);
	free(b->preemptions);
	free(b->slices);
}

/* The parts of waits must follow each other, and add up to the phases queue and preempted. */
static void check_waits(const struct bsa_execution *x, const struct execution_facts *b)
{
	uint64_t queue = 0, preempted = 0, until = 0;

	for (size_t i = 0; i < b->n_waits; i++) {
		const struct bsa_wait *w = &b->waits[i];

		HOLDS(w->began < w->ended && w->began >= until, "exec %#llx: waits overlap",
		      (unsigned long long)x->exec);
		HOLDS((w->occupancy == BSA_HELD) == (w->blocker != 0),
		      "exec %#llx: a blocker of a lane that is not held", (unsigned long long)x->exec);
		HOLDS(w->blocker != x->id, "exec %#llx: waits for itself", (unsigned long long)x->exec);
		*(w->kind == BSA_WAIT_QUEUE ? &queue : &preempted) += w->ended - w->began;
		until = w->ended;
	}
	if (x->idle) {
		HOLDS(!queue, "exec %#llx: idle, and has waits in the queue", (unsigned long long)x->exec);
		queue = x->queue;
	}
	HOLDS(queue == x->queue && preempted == x->preempted, "exec %#llx: waits are %llu and %llu, not %llu and %llu",
	      (unsigned long long)x->exec, (unsigned long long)queue, (unsigned long long)preempted,
	      (unsigned long long)x->queue, (unsigned long long)x->preempted);
}

static struct bsa_typical some_typical(const struct bsa_execution *x)
{
	uint64_t series = x->exec ^ seed_now;
	struct bsa_typical t = { .n = sim_random(&series, 10) };

	for (int i = 0; i < BSA_PHASES; i++)
		t.phase[i] = sim_random(&series, x->phase[i] == NEVER ? MS : 2 * x->phase[i] + 2);
	return t;
}

static void check_rows(const struct bsa_execution *x, const struct bsa_blamed *rows, size_t n)
{
	uint64_t start = x->at[x->at[BSA_SUBMITTED] != NEVER ? BSA_SUBMITTED : BSA_REQUEST_READ];
	int64_t late = 0, budget = 0;
	bool unknown = false;
	unsigned primaries = 0;

	for (size_t i = 0; i < n; i++) {
		late += rows[i].late_ns;
		unknown |= rows[i].budget_ns == INT64_MIN;
		budget += rows[i].budget_ns == INT64_MIN ? 0 : rows[i].budget_ns;
		primaries += rows[i].is_primary;
	}
	HOLDS(late == x->lateness, "exec %#llx: the late ledger is %lld, not %lld", (unsigned long long)x->exec,
	      (long long)late, (long long)x->lateness);
	HOLDS(unknown || budget == (int64_t)(x->deadline - start), "exec %#llx: the budget ledger is %lld, not %lld",
	      (unsigned long long)x->exec, (long long)budget, (long long)(x->deadline - start));
	HOLDS(primaries == 1, "exec %#llx: %u primary causes", (unsigned long long)x->exec, primaries);
}

static void check_blame(const struct bsa_execution *x, const struct execution_facts *b)
{
	size_t max = BSA_CAUSES + b->n_waits + b->n_preemptions;
	struct bsa_blamed *rows = calloc(max, sizeof(*rows));
	struct bsa_typical typical = some_typical(x);
	struct bsa_missed m = { .execution = x,
		                .typical = &typical,
		                .waits = b->waits,
		                .n_waits = b->n_waits,
		                .preemptions = b->preemptions,
		                .n_preemptions = b->n_preemptions,
		                .slices = b->slices,
		                .n_slices = b->n_slices,
		                .refused = b->refused,
		                .lanes = 2 };

	check_rows(x, rows, bsa_blame(&m, rows, max));
	free(rows);
}

/* The time that an execution waited for each cause must be the sum of its waits, whatever was lost. */
static void check_waited(const struct bsa_execution *x, const struct execution_facts *b)
{
	uint64_t sums[BSA_WAIT_CAUSES] = { 0 };

	for (size_t i = 0; i < b->n_waits; i++)
		if (b->waits[i].cause != BSA_CAUSE_UNKNOWN)
			sums[b->waits[i].cause - BSA_QUEUED_BEHIND] += b->waits[i].ended - b->waits[i].began;
	for (unsigned i = 0; i < BSA_WAIT_CAUSES; i++)
		HOLDS(sums[i] == x->waited[i], "exec %#llx: waited %llu for cause %u, reported as %llu",
		      (unsigned long long)x->exec, (unsigned long long)sums[i], BSA_QUEUED_BEHIND + i,
		      (unsigned long long)x->waited[i]);
}

/* All time outside the useful run must have causes. */
static void check_overhead(const struct bsa_execution *x)
{
	uint64_t by_cause[BSA_CAUSES], all = bsa_overhead(x, by_cause), sum = 0;

	for (unsigned i = 0; i < BSA_CAUSES; i++)
		sum += by_cause[i];
	HOLDS(all == x->e2e - (x->run - x->redo) && sum == all,
	      "exec %#llx: an overhead of %llu, of which causes have %llu", (unsigned long long)x->exec,
	      (unsigned long long)all, (unsigned long long)sum);
}

static void check_sums(const struct collected *c)
{
	for (size_t i = 0; i < c->execution.n; i++) {
		const struct bsa_execution *x = &c->execution.items[i];
		struct execution_facts b = execution_facts_of(c, x->id);

		if (x->quality == BSA_QUALITY_COMPLETE && x->sides != BSA_SIDES_CLIENT) {
			HOLDS(phases_ns(x) == x->e2e, "exec %#llx: phases are %llu, end to end %llu",
			      (unsigned long long)x->exec, (unsigned long long)phases_ns(x),
			      (unsigned long long)x->e2e);
			check_waits(x, &b);
			check_overhead(x);
		}
		check_waited(x, &b);
		if (x->miss != BSA_MISS_NONE)
			check_blame(x, &b);
		execution_facts_free(&b);
	}
}

static int by_lane(const void *one, const void *other)
{
	const struct bsa_slice *a = one, *b = other;

	if (a->instance != b->instance)
		return a->instance < b->instance ? -1 : 1;
	if (a->lane != b->lane)
		return a->lane < b->lane ? -1 : 1;
	return (a->began > b->began) - (a->began < b->began);
}

/*
 * All stretches on lanes: the reported slices, and those of executions that had a single one. Owned by the
 * caller.
 */
static struct bsa_slice *all_slices(const struct collected *c, size_t *n)
{
	struct bsa_slice *all = calloc(c->slice.n + c->execution.n + 1, sizeof(*all));

	*n = c->slice.n;
	for (size_t i = 0; i < c->slice.n; i++)
		all[i] = c->slice.items[i];
	for (size_t i = 0; i < c->execution.n; i++) {
		const struct bsa_execution *x = &c->execution.items[i];

		if (x->lane < 0)
			continue;
		HOLDS(x->at[BSA_DISPATCHED] != NEVER && x->at[BSA_RUN_ENDED] != NEVER,
		      "exec %#llx: on a lane, from when to when?", (unsigned long long)x->exec);
		all[(*n)++] = (struct bsa_slice){ .execution = x->id,
			                          .began = x->at[BSA_DISPATCHED],
			                          .ended = x->at[BSA_RUN_ENDED],
			                          .instance = (uint16_t)(x->exec >> 52),
			                          .lane = (uint8_t)x->lane };
	}
	return all;
}

static void check_lanes(const struct collected *c)
{
	size_t n;
	struct bsa_slice *all = all_slices(c, &n);

	qsort(all, n, sizeof(*all), by_lane);
	for (size_t i = 1; i < n; i++)
		HOLDS(all[i].instance != all[i - 1].instance || all[i].lane != all[i - 1].lane ||
		              all[i].began >= all[i - 1].ended,
		      "lane %u: two at once at %llu", all[i].lane, (unsigned long long)all[i].began);
	free(all);
}

/* ---- without losses ---- */

static bool has_native(const struct sim *s)
{
	for (uint32_t i = 0; i < s->n_services; i++)
		if (s->services[i].native)
			return true;
	return false;
}

static void check_truth(const struct sim *s, const struct collected *truth, const struct collected *facts)
{
	static const enum collect_kind kinds[] = { COLLECT_slice,      COLLECT_wait,       COLLECT_execution,
		                                   COLLECT_preemption, COLLECT_inverted,   COLLECT_starved,
		                                   COLLECT_chosen,     COLLECT_interfered, COLLECT_share,
		                                   COLLECT_lag,        COLLECT_refused };

	for (size_t i = 0; i < N_OF(kinds) && !has_native(s); i++)
		expect_same(collect_kind_text(truth, kinds[i], true), "truth", collect_kind_text(facts, kinds[i], true),
		            "full");
}

static void check_nothing_left_out(const struct outcome *o)
{
	HOLDS(!o->left_out.stragglers && !o->left_out.absurd && !o->left_out.evicted && !o->left_out.late &&
	              !o->left_out.forgotten,
	      "left out: %llu stragglers, %llu absurd, %llu evicted, %llu late, %llu forgotten",
	      (unsigned long long)o->left_out.stragglers, (unsigned long long)o->left_out.absurd,
	      (unsigned long long)o->left_out.evicted, (unsigned long long)o->left_out.late,
	      (unsigned long long)o->left_out.forgotten);
}

static void check_quiet_forms(const struct sim *s, unsigned forms, const struct bsa_fold_options *options)
{
	struct outcome told = fold_forms(s, forms, options);
	struct tape t = tape_of(s, forms);

	check_quiet(&t, options, &told);
	tape_free(&t);
	outcome_free(&told);
}

static void check_form(const struct sim *s, unsigned forms, const char *name, const struct outcome *full,
                       struct bsa_fold_options options)
{
	struct outcome o, again = { .latest = 0 };

	doing = name;
	options.horizon_ns = 100000 * MS;
	o = fold_forms(s, forms, &options);
	check_nothing_left_out(&o);
	check_sums(&o.facts);
	check_lanes(&o.facts);
	forget_full(&o.facts);
	expect_same(collect_text(&full->facts, true), "full", collect_text(&o.facts, true), name);
	if (forms == SIM_COMPACT) { /* with a horizon that is just long enough */
		options.horizon_ns = o.latest + CLIENTS_LATE;
		again = fold_forms(s, forms, &options);
		check_nothing_left_out(&again);
		forget_full(&again.facts);
		expect_same(collect_text(&o.facts, false), "at once", collect_text(&again.facts, false), "in time");
		check_quiet_forms(s, forms, &options);
	}
	outcome_free(&o);
	outcome_free(&again);
}

/* The order of events at the same time must not matter. */
static void check_ties(const struct sim *s, const struct outcome *full, const struct bsa_fold_options *options,
                       uint64_t series)
{
	struct tape t = shuffled_tape_of(s, SIM_FULL, series);
	struct outcome o = { .latest = 0 };

	doing = "full, shuffled";
	fold_tape(&o, &t, options);
	check_nothing_left_out(&o);
	expect_same(collect_text(&full->facts, false), "as written", collect_text(&o.facts, false), "shuffled");
	tape_free(&t);
	outcome_free(&o);
}

/* ---- worlds ---- */

static struct bsa_fold_options some_options(uint64_t *series)
{
	static const uint64_t windows[] = { 0, 1000000, 7777777 }, hungers[] = { 0, 300000, 5000000 };

	return (struct bsa_fold_options){ .window_ns = windows[sim_random(series, N_OF(windows))],
		                          .starvation_ns = hungers[sim_random(series, N_OF(hungers))],
		                          .declared = UINT64_MAX };
}

static struct sim_terms some_terms(uint64_t seed, uint64_t *series)
{
	static const uint64_t late[] = { 0, 100000, CLIENTS_LATE };

	return (struct sim_terms){ .seed = seed,
		                   .executions = 5 + (uint32_t)sim_random(series, 150),
		                   .summaries_late_ns = late[sim_random(series, N_OF(late))],
		                   .no_ends = sim_random(series, 2) };
}

static void play_lossless(uint64_t seed)
{
	uint64_t series = seed;
	struct sim_terms terms = some_terms(seed, &series);
	struct bsa_fold_options options = some_options(&series);
	struct collected truth = { .app = { 0 } };
	struct outcome full;
	struct sim s;

	seed_now = seed;
	sim_play(&s, &terms);
	truth_tell(&truth, &s, &options);
	doing = "the truth itself";
	if (!has_native(&s)) {
		check_sums(&truth);
		check_lanes(&truth);
	}
	doing = "full";
	full = fold_forms(&s, SIM_FULL, &options);
	check_nothing_left_out(&full);
	check_truth(&s, &truth, &full.facts);
	check_sums(&full.facts);
	check_lanes(&full.facts);
	check_ties(&s, &full, &options, series);
	forget_full(&full.facts);
	check_form(&s, SIM_RARE, "both", &full, options);
	if (!terms.no_ends) /* otherwise summaries may still be missing, and less is certain */
		check_form(&s, SIM_COMPACT, "compact", &full, options);
	sim_free(&s);
	terms.early_ns = 300;
	sim_play(&s, &terms);
	check_form(&s, SIM_RARE, "both, as clocks are read before events are written", &full, options);
	outcome_free(&full);
	collect_fini(&truth);
	sim_free(&s);
}

/* ---- facts with losses against facts without ---- */

/* Facts of a recording that has holes, and those of the same one without. */
static bool dropping; /* a fold drops idle tenants as early as it can */

struct against {
	const struct sim *s;
	const struct outcome *some, *all;
	const struct collected *truth;
	unsigned forms;
	uint64_t window_ns; /* a fold's option */
	bool late;          /* the recording begins in the middle, so apps' earlier shares are unknown */
};

/* The trace's number of the execution that a fold numbered @id. 0: none. */
static uint64_t exec_of(const struct collected *c, uint64_t id)
{
	for (size_t i = 0; i < c->execution.n; i++)
		if (c->execution.items[i].id == id)
			return c->execution.items[i].exec;
	return 0;
}

static uint32_t app_key(const struct collected *c, uint32_t id)
{
	for (size_t i = 0; i < c->app.n; i++)
		if (c->app.items[i].id == id)
			return c->app.items[i].key;
	return 0;
}

static bool same_exec(const struct against *a, uint64_t one, uint64_t other)
{
	return exec_of(&a->some->facts, one) == exec_of(&a->all->facts, other);
}

static void check_known(const struct bsa_execution *x, const char *what, int which, uint64_t some, uint64_t all)
{
	HOLDS(some == NEVER || some == all, "exec %#llx: %s %d is %llu, and was %llu", (unsigned long long)x->exec,
	      what, which, (unsigned long long)some, (unsigned long long)all);
}

/* The end-to-end time as the recorded sides see it. */
static uint64_t end_to_end(uint8_t sides, const struct bsa_execution *is)
{
	if (sides == BSA_SIDES_BOTH)
		return is->e2e;
	if (sides == BSA_SIDES_CLIENT)
		return is->at[BSA_RETURNED] - is->at[BSA_SUBMITTED];
	return is->at[is->at[BSA_SIGNALLED] != NEVER ? BSA_SIGNALLED : BSA_RESULT_WRITTEN] - is->at[BSA_REQUEST_READ];
}

/* A count must be unknown or right. */
static void check_count(const struct bsa_execution *x, const char *what, uint32_t count, uint32_t is)
{
	HOLDS(count == BSA_COUNT_UNKNOWN || count == is, "exec %#llx: %s: %u, and it was %u",
	      (unsigned long long)x->exec, what, count, is);
}

/*
 * Whether the execution failed after its deadline, and after the recording: while it is under way, it counts as late by
 * an unknown time, as its service has not answered by the deadline. A failure that is recorded is no miss.
 */
static bool was_overdue(const struct bsa_execution *x, const struct bsa_execution *is)
{
	uint64_t answered = is->at[is->at[BSA_SIGNALLED] != NEVER ? BSA_SIGNALLED : BSA_RESULT_WRITTEN];

	return x->miss == BSA_MISS_LATE && x->lateness == BSA_LATENESS_UNKNOWN && x->status == BSA_STATUS_UNKNOWN &&
	       x->quality != BSA_QUALITY_COMPLETE && is->status != BSA_STATUS_NONE && answered > is->deadline;
}

static void check_execution(const struct bsa_execution *x, const struct bsa_execution *is)
{
	for (int b = 0; b < BSA_BOUNDARIES; b++)
		check_known(x, "boundary", b, x->at[b], is->at[b]);
	for (int p = 0; p < BSA_PHASES; p++)
		check_known(x, "phase", p, x->phase[p], is->phase[p]);
	check_known(x, "e2e", 0, x->e2e, end_to_end(x->sides, is));
	check_known(x, "run", 0, x->run, is->run);
	for (int i = 0; i < BSA_DELAYS; i++)
		check_known(x, "delay", i, x->delay[i], is->delay[i]);
	check_known(x, "queue", 0, x->queue, is->queue);
	check_known(x, "preempted", 0, x->preempted, is->preempted);
	check_known(x, "slots", 0, x->slots, is->slots);
	HOLDS(x->lane < 0 || x->lane == is->lane, "exec %#llx: on lane %d all the time, and was on %d",
	      (unsigned long long)x->exec, x->lane, is->lane);
	HOLDS(!x->idle || is->idle, "exec %#llx: an idle lane that was not", (unsigned long long)x->exec);
	HOLDS(x->status == BSA_STATUS_UNKNOWN || x->status == is->status, "exec %#llx: status %d, and was %d",
	      (unsigned long long)x->exec, x->status, is->status);
	HOLDS(x->miss == BSA_MISS_NONE || is->miss != BSA_MISS_NONE || was_overdue(x, is),
	      "exec %#llx: an execution in time is reported as a miss", (unsigned long long)x->exec);
	check_count(x, "bypassed", x->bypassed, is->bypassed);
	check_count(x, "preempted", x->preemptions, is->preemptions);
	check_count(x, "slots looked up", x->lookups, is->lookups);
	check_count(x, "slots missed", x->misses, is->misses);
}

/* A complete execution must have all facts of its side, except its reported lateness, which may have been lost. */
static void check_complete(const struct bsa_execution *x, const struct bsa_execution *is)
{
	bool whole = x->sides == BSA_SIDES_BOTH && x->at[BSA_SIGNALLED] == NEVER;

	if (x->quality != BSA_QUALITY_COMPLETE)
		return;
	HOLDS(!whole || !memcmp(x->at, is->at, sizeof(x->at)), "exec %#llx: complete, and is not",
	      (unsigned long long)x->exec);
	HOLDS(x->e2e == end_to_end(x->sides, is), "exec %#llx: complete, and its time is not as it was",
	      (unsigned long long)x->exec);
	if (x->sides == BSA_SIDES_CLIENT)
		return;
	HOLDS(phases_ns(x) == x->e2e, "exec %#llx: complete, and does not tile", (unsigned long long)x->exec);
	HOLDS(x->status == is->status && x->redo == is->redo && x->preemptions == is->preemptions,
	      "exec %#llx: complete, and its end is not as it was", (unsigned long long)x->exec);
	HOLDS(!whole || x->missed_at != is->missed_at || (x->miss == is->miss && x->lateness == is->lateness),
	      "exec %#llx: complete, and late by %lld, not %lld", (unsigned long long)x->exec, (long long)x->lateness,
	      (long long)is->lateness);
}

static bool sim_had_slice(const struct against *a, const struct bsa_slice *l)
{
	uint64_t exec = exec_of(&a->some->facts, l->execution);

	for (size_t i = 0; i < a->s->n_slices; i++) {
		const struct sim_slice *is = &a->s->slices[i];

		if (is->began == l->began && is->ended == l->ended && is->lane == l->lane &&
		    a->s->execs[is->exec].exec == exec)
			return true;
	}
	return false;
}

static void check_slices(const struct against *a)
{
	size_t n;
	struct bsa_slice *all = all_slices(&a->some->facts, &n);

	for (size_t i = 0; i < n; i++)
		HOLDS(sim_had_slice(a, &all[i]), "exec %#llx: on lane %u from %llu to %llu, and was not",
		      (unsigned long long)exec_of(&a->some->facts, all[i].execution), all[i].lane,
		      (unsigned long long)all[i].began, (unsigned long long)all[i].ended);
	free(all);
}

/* Whether @w is the wait @is; an open end of @w may be cut off. */
static bool same_part(const struct bsa_wait *is, const struct bsa_wait *w)
{
	return (is->began == w->began || (w->open & BSA_OPEN_START && is->began < w->began)) &&
	       (is->ended == w->ended || (w->open & BSA_OPEN_END && is->ended > w->ended));
}

/* Whether @w is a whole part of a real wait, or a whole wait for an idle lane. */
static bool had_part(const struct against *a, const struct bsa_wait *w)
{
	uint64_t exec = exec_of(&a->some->facts, w->execution);

	for (size_t i = 0; i < a->all->facts.wait.n; i++) {
		const struct bsa_wait *is = &a->all->facts.wait.items[i];

		if (same_part(is, w) && is->kind == w->kind && is->lane == w->lane && is->occupancy == w->occupancy &&
		    same_exec(a, w->execution, is->execution) && same_exec(a, w->blocker, is->blocker) &&
		    (is->cause == w->cause || w->cause == BSA_CAUSE_UNKNOWN ||
		     (is->cause == BSA_HOGGED && w->cause == BSA_CROWDED_OUT) ||
		     (a->late && is->cause == BSA_CROWDED_OUT && w->cause == BSA_HOGGED)))
			return true;
	}
	const struct bsa_execution *x = collect_execution(&a->all->facts, exec);
	struct bsa_wait idle = { .began = x->at[BSA_ENQUEUED], .ended = x->at[BSA_ENQUEUED] + x->queue };
	return w->occupancy == BSA_IDLE && x->idle && same_part(&idle, w);
}

static void check_parts(const struct against *a)
{
	for (size_t i = 0; i < a->some->facts.wait.n; i++) {
		const struct bsa_wait *w = &a->some->facts.wait.items[i];

		HOLDS(w->occupancy == BSA_UNKNOWN || had_part(a, w),
		      "exec %#llx: waited from %llu to %llu for %#llx, occupancy %u, cause %u, and did not",
		      (unsigned long long)exec_of(&a->some->facts, w->execution), (unsigned long long)w->began,
		      (unsigned long long)w->ended, (unsigned long long)exec_of(&a->some->facts, w->blocker),
		      w->occupancy, w->cause);
		HOLDS(w->occupancy != BSA_UNKNOWN || (!w->blocker && w->cause == BSA_CAUSE_UNKNOWN),
		      "exec %#llx: a culprit of what is unknown",
		      (unsigned long long)exec_of(&a->some->facts, w->execution));
	}
}

static bool had_preemption(const struct against *a, const struct bsa_preemption *p)
{
	for (size_t i = 0; i < a->all->facts.preemption.n; i++) {
		const struct bsa_preemption *is = &a->all->facts.preemption.items[i];

		if (is->stopped == p->stopped && is->lane == p->lane && is->asked == p->asked && is->redo == p->redo &&
		    (p->resumed == NEVER || p->resumed == is->resumed) && same_exec(a, p->execution, is->execution) &&
		    (!p->by || same_exec(a, p->by, is->by)))
			return true;
	}
	return false;
}

/*
 * If a loss hides a lane that an execution waits for, the fold reports only the part in which the lane was certainly
 * held.
 */
static bool had_inversion(const struct against *a, const struct bsa_inverted *v)
{
	for (size_t i = 0; i < a->all->facts.inverted.n; i++) {
		const struct bsa_inverted *is = &a->all->facts.inverted.items[i];

		bool begins = is->began == v->began || (v->open & BSA_OPEN_START && is->began < v->began);

		if (begins && is->began + is->dur >= v->began + v->dur && is->lane == v->lane &&
		    same_exec(a, v->victim, is->victim) && same_exec(a, v->holder, is->holder))
			return true;
	}
	return false;
}

/* Whether the execution that was passed over really waited then, with another priority. */
static bool could_be_chosen(const struct against *a, const struct bsa_chosen *c)
{
	uint64_t over = exec_of(&a->some->facts, c->passed_over);
	const struct bsa_execution *y = collect_execution(&a->all->facts, exec_of(&a->some->facts, c->chosen));

	for (size_t i = 0; i < a->s->n_waits; i++) {
		const struct sim_wait *w = &a->s->waits[i];
		const struct sim_exec *x = &a->s->execs[w->exec];

		if (x->exec == over && w->began <= c->at && c->at < w->ended)
			return x->priority != y->priority && c->honoured == (x->priority < y->priority);
	}
	return false;
}

static bool had_hunger(const struct against *a, const struct bsa_starved *v)
{
	uint64_t exec = exec_of(&a->some->facts, v->execution);

	for (size_t i = 0; i < a->s->n_waits; i++) {
		const struct sim_wait *w = &a->s->waits[i];

		struct bsa_wait starved = { .began = v->began, .ended = v->began + v->gap, .open = v->open };

		if (a->s->execs[w->exec].exec == exec &&
		    same_part(&(struct bsa_wait){ .began = w->began, .ended = w->ended }, &starved))
			return true;
	}
	return false;
}

static bool had_interference(const struct against *a, const struct bsa_interfered *v)
{
	const struct collected *some = &a->some->facts, *all = &a->all->facts;

	for (size_t i = 0; i < all->interfered.n; i++)
		if (app_key(all, all->interfered.items[i].by) == app_key(some, v->by) &&
		    app_key(all, all->interfered.items[i].app) == app_key(some, v->app) &&
		    v->ns <= all->interfered.items[i].ns)
			return true;
	return false;
}

static void check_others(const struct against *a)
{
	const struct collected *c = &a->some->facts;

	for (size_t i = 0; i < c->preemption.n; i++)
		HOLDS(had_preemption(a, &c->preemption.items[i]), "exec %#llx: preempted at %llu, and was not",
		      (unsigned long long)exec_of(c, c->preemption.items[i].execution),
		      (unsigned long long)c->preemption.items[i].stopped);
	for (size_t i = 0; i < c->inverted.n; i++)
		HOLDS(had_inversion(a, &c->inverted.items[i]), "exec %#llx: inverted at %llu, and was not",
		      (unsigned long long)exec_of(c, c->inverted.items[i].victim),
		      (unsigned long long)c->inverted.items[i].began);
	for (size_t i = 0; i < c->chosen.n; i++)
		HOLDS(could_be_chosen(a, &c->chosen.items[i]), "exec %#llx: passed over at %llu, and was not",
		      (unsigned long long)exec_of(c, c->chosen.items[i].passed_over),
		      (unsigned long long)c->chosen.items[i].at);
	for (size_t i = 0; i < c->starved.n; i++)
		HOLDS(had_hunger(a, &c->starved.items[i]), "exec %#llx: starved from %llu, and did not",
		      (unsigned long long)exec_of(c, c->starved.items[i].execution),
		      (unsigned long long)c->starved.items[i].began);
	for (size_t i = 0; i < c->interfered.n; i++)
		HOLDS(had_interference(a, &c->interfered.items[i]), "app %u made app %u wait for %llu ns, and did not",
		      app_key(c, c->interfered.items[i].by), app_key(c, c->interfered.items[i].app),
		      (unsigned long long)c->interfered.items[i].ns);
}

/* ---- hidden time ---- */

/* Whether the facts have the begin and the end of that wait, as far as it was recorded. */
static bool is_told(const struct against *a, const struct sim_wait *w)
{
	const struct collected *c = &a->some->facts;
	const struct bsa_execution *x = collect_execution(c, a->s->execs[w->exec].exec);
	struct bsa_wait told = { .began = NEVER };

	if (!x)
		return false;
	if (x->idle && x->at[BSA_ENQUEUED] == w->began && x->at[BSA_DISPATCHED] == w->ended)
		return true;
	for (size_t i = 0; i < c->wait.n; i++) {
		const struct bsa_wait *part = &c->wait.items[i];

		if (part->execution != x->id || part->ended <= w->began || part->began >= w->ended)
			continue;
		told.began = part->began < told.began ? part->began : told.began;
		told.ended = part->ended > told.ended ? part->ended : told.ended;
		told.open |= part->open;
	}
	return told.began != NEVER && same_part(&(struct bsa_wait){ .began = w->began, .ended = w->ended }, &told);
}

/* Whether one hole has all of that time. Losses that touch are one hole, as for the verdicts. */
static bool is_in_hole(const struct collected *c, uint64_t began, uint64_t ended)
{
	uint64_t until = began;

	for (bool more = true; more && until < ended;) {
		more = false;
		for (size_t i = 0; i < c->lost.n; i++)
			if (c->lost.items[i].began <= until && c->lost.items[i].ended > until) {
				until = c->lost.items[i].ended;
				more = true;
			}
	}
	return until >= ended;
}

/* Whether the facts report that there may have been such a wait. */
static bool is_possible(const struct against *a, const struct sim_wait *w, uint64_t from, uint64_t until)
{
	const struct collected *c = &a->some->facts;
	uint64_t exec = a->s->execs[w->exec].exec, began = w->began > from ? w->began : from,
		 ended = w->ended < until ? w->ended : until;

	if (is_in_hole(c, began, ended))
		return true;
	for (size_t i = 0; i < c->possible_wait.n; i++) {
		const struct bsa_possible_wait *p = &c->possible_wait.items[i];

		if ((!p->execution || exec_of(c, p->execution) == exec) && p->ended >= ended &&
		    (p->began == NEVER || p->began <= began))
			return true;
	}
	return false;
}

/*
 * Each wait of the recorded time must be reported, or reported as possible. Then what holds for all reported
 * waits holds for all waits.
 */
static void check_nothing_hidden(const struct against *a, uint64_t from, uint64_t until)
{
	for (size_t i = 0; i < a->s->n_waits; i++) {
		const struct sim_wait *w = &a->s->waits[i];

		if (w->began == w->ended || w->ended <= from || w->began >= until)
			continue;
		HOLDS(is_told(a, w) || is_possible(a, w, from, until),
		      "exec %#llx: waited from %llu to %llu, unsuspected",
		      (unsigned long long)a->s->execs[w->exec].exec, (unsigned long long)w->began,
		      (unsigned long long)w->ended);
	}
}

/*
 * If the stretch from @began to @ended covers @at and began more than @ns before, the time since it began; else
 * @ns.
 */
static uint64_t longer_hidden(uint64_t ns, uint64_t began, uint64_t ended, uint64_t at)
{
	return began <= at && at <= ended && at - began > ns ? at - began : ns;
}

/*
 * The longest time before @at for which an app may have been backlogged without an event. @from: the beginning
 * of the recording. @accounted: bounds account for waits of executions that are known.
 */
static uint64_t hidden_before(const struct collected *c, uint64_t at, uint64_t from, bool accounted)
{
	uint64_t longest = 0;

	for (size_t i = 0; i < c->lost.n; i++)
		longest = longer_hidden(longest, c->lost.items[i].began, c->lost.items[i].ended, at);
	for (size_t i = 0; i < c->possible_wait.n; i++) {
		const struct bsa_possible_wait *p = &c->possible_wait.items[i];

		if (!accounted || !p->execution || !p->app)
			longest = longer_hidden(longest, p->began == NEVER ? from : p->began, p->ended, at);
	}
	return longest;
}

/* The greatest lag, because two services may have an app of the same key. */
static struct bsa_share largest_lag(const struct collected *c, uint32_t key)
{
	struct bsa_share largest = { .app = 0 };

	for (size_t i = 0; i < c->share.n; i++) {
		const struct bsa_share *share = &c->share.items[i];

		if (app_key(c, share->app) != key)
			continue;
		if (share->max_lag > largest.max_lag)
			largest.max_lag_at = share->max_lag_at;
		largest.max_lag = share->max_lag > largest.max_lag ? share->max_lag : largest.max_lag;
		largest.most_lag = share->most_lag > largest.most_lag ? share->most_lag : largest.most_lag;
	}
	return largest;
}

/* The lanes of the service that has most of them. */
static uint64_t lanes_of(const struct sim *s)
{
	uint64_t most = 1;

	for (uint32_t i = 0; i < s->n_services; i++)
		most = s->services[i].lanes > most ? s->services[i].lanes : most;
	return most;
}

/* The largest lag of each app must lie between the reported bounds, plus what may be hidden. */
static void check_lags(const struct against *a)
{
	const struct collected *all = &a->all->facts, *some = &a->some->facts;

	for (size_t i = 0; i < all->share.n; i++) {
		uint32_t key = app_key(all, all->share.items[i].app);
		struct bsa_share is = largest_lag(all, key), told = largest_lag(some, key);
		int64_t hidden =
			(int64_t)(lanes_of(a->s) * hidden_before(some, is.max_lag_at, a->s->began, true) + 1) / 2;

		HOLDS(told.max_lag <= is.max_lag, "app %u: a lag of %lld at least, and it was %lld", key,
		      (long long)told.max_lag, (long long)is.max_lag);
		HOLDS(is.max_lag <= told.most_lag || is.max_lag <= hidden,
		      "app %u: a lag of %lld at most, %lld where it is unseen, and it was %lld", key,
		      (long long)told.most_lag, (long long)hidden, (long long)is.max_lag);
	}
}

/*
 * The window with the greatest lag, because each service may have an app of @key. NULL: no app of that @key was
 * backlogged then.
 */
static const struct bsa_lag *window_of(const struct collected *c, uint32_t key, uint64_t began)
{
	const struct bsa_lag *ret = NULL;

	for (size_t i = 0; i < c->lag.n; i++) {
		const struct bsa_lag *l = &c->lag.items[i];

		if (l->window_began == began && app_key(c, l->app) == key && (!ret || l->lag > ret->lag))
			ret = l;
	}
	return ret;
}

/* The longest such time in the window that began at @began. */
static uint64_t hidden_within(const struct against *a, uint64_t began)
{
	const struct collected *c = &a->some->facts;
	uint64_t ended = began + a->window_ns, longest = hidden_before(c, ended, a->s->began, false), at, ns;

	for (size_t i = 0; i < c->lost.n + c->possible_wait.n; i++) {
		at = i < c->lost.n ? c->lost.items[i].ended : c->possible_wait.items[i - c->lost.n].ended;
		ns = at > began && at <= ended ? hidden_before(c, at, a->s->began, false) : 0;
		longest = ns > longest ? ns : longest;
	}
	return longest;
}

/* The maximum, because each service may have an app of @key. */
static int64_t most_lag_in_window(const struct collected *c, uint32_t key, uint64_t began)
{
	int64_t most = INT64_MIN;

	for (size_t i = 0; i < c->lag.n; i++)
		if (c->lag.items[i].window_began == began && app_key(c, c->lag.items[i].app) == key &&
		    c->lag.items[i].most > most)
			most = c->lag.items[i].most;
	return most;
}

/*
 * As check_lags, for each window. Lags below 0 are not compared, because an app that was first seen in a hole
 * has lost its earlier share.
 */
static void check_windows(const struct against *a)
{
	const struct collected *all = &a->all->facts, *some = &a->some->facts;

	for (size_t i = 0; i < some->lag.n; i++) {
		const struct bsa_lag *told = &some->lag.items[i];
		uint32_t key = app_key(some, told->app);
		const struct bsa_lag *is = window_of(all, key, told->window_began);
		int64_t most;

		HOLDS(dropping || told->lag <= largest_lag(some, key).max_lag,
		      "app %u: a lag of %lld in a window, and of %lld at most in all", key, (long long)told->lag,
		      (long long)largest_lag(some, key).max_lag);
		if (!is)
			continue;
		HOLDS(told->lag <= 0 || told->lag <= is->lag,
		      "app %u: a lag of %lld at least in a window, and it was %lld", key, (long long)told->lag,
		      (long long)is->lag);
		most = most_lag_in_window(some, key, told->window_began);
		HOLDS(is->lag <= most || hidden_within(a, told->window_began),
		      "app %u: a lag of %lld at most in a window, and it was %lld", key, (long long)most,
		      (long long)is->lag);
	}
}

/* Whether losses, or waits or lanes that they may hide, tell that an app of @key may have had work in that window. */
static bool may_have_worked(const struct against *a, uint32_t key, uint64_t began)
{
	const struct collected *c = &a->some->facts;
	uint64_t ended = began + a->window_ns;

	for (size_t i = 0; i < c->lost.n; i++)
		if (c->lost.items[i].began < ended && c->lost.items[i].ended >= began)
			return true;
	for (size_t i = 0; i < c->possible_wait.n; i++) {
		const struct bsa_possible_wait *p = &c->possible_wait.items[i];

		if ((p->began == NEVER || p->began < ended) && p->ended >= began &&
		    (!p->app || app_key(c, p->app) == key))
			return true;
	}
	for (size_t i = 0; i < c->unknown_lane.n; i++) {
		const struct bsa_unknown_lane *l = &c->unknown_lane.items[i];

		if ((l->began == NEVER || l->began < ended) && l->ended >= began)
			return true;
	}
	return false;
}

/* Each window in which an app had work has a row of it, or may have had work that losses hide. */
static void check_no_window_missing(const struct against *a)
{
	const struct collected *all = &a->all->facts;

	for (size_t i = 0; i < all->lag.n; i++) {
		uint32_t key = app_key(all, all->lag.items[i].app);
		uint64_t began = all->lag.items[i].window_began;

		HOLDS(window_of(&a->some->facts, key, began) || may_have_worked(a, key, began),
		      "app %u: no row of the window from %llu to %llu, unsuspected", key, (unsigned long long)began,
		      (unsigned long long)(began + a->window_ns));
	}
}

/* Each reported fact must be a fact of the recording without losses. */
static void check_nothing_invented(const struct against *a)
{
	const struct collected *c = &a->some->facts;

	for (size_t i = 0; i < c->execution.n; i++) {
		const struct bsa_execution *x = &c->execution.items[i],
					   *is = collect_execution(&a->all->facts, x->exec);

		HOLDS(is, "exec %#llx was never there", (unsigned long long)x->exec);
		check_execution(x, is);
		check_complete(x, is);
	}
	check_slices(a);
	check_lanes(c);
	check_parts(a);
	check_others(a);
	check_sums(c);
}

/* ---- losses ---- */

struct hole {
	uint64_t from, until;
	uint64_t events;
	uint8_t cpu;
};

enum { HOLES = 64 };

/*
 * Whether this event is lost, with a chance of @odds in a hundred. Delays draw from a copy, so that their
 * number does not change what else is lost.
 */
static bool is_unlucky(const struct sim_event *e, unsigned odds, uint64_t *series)
{
	uint64_t aside = *series;

	return sim_random(e->event.kind == BSA_exec_delay ? &aside : series, 100) < odds;
}

/* Lose all or some events of one cpu in that time. */
static bool make_hole(struct sim *s, struct hole *h, uint64_t *series)
{
	unsigned odds = sim_random(series, 2) ? 100 : 1 + (unsigned)sim_random(series, 60);

	h->events = 0;
	for (size_t i = 0; i < s->n_events; i++) {
		struct sim_event *e = &s->events[i];

		if (e->cpu == h->cpu && e->event.at >= h->from && e->event.at <= h->until && !e->lost && e->forms &&
		    is_unlucky(e, odds, series)) {
			e->lost = true;
			h->events++;
		}
	}
	return h->events;
}

/*
 * Lose packets from @began to @ended: those of one cpu follow each other, and each may have a hole. Returns how many.
 */
static size_t make_holes(struct sim *s, uint64_t began, uint64_t ended, struct hole *holes, uint64_t *series)
{
	uint64_t length = s->ended - s->began, packet = length / (2 + sim_random(series, 200)) + 1, from;
	unsigned odds = 1 + (unsigned)sim_random(series, 15);
	size_t n = 0;

	for (uint8_t cpu = 0; cpu < 2; cpu++)
		for (from = began; from < ended && n < HOLES; from += packet / 2 + sim_random(series, packet)) {
			holes[n] = (struct hole){ .from = from, .until = from + packet / 4 + 1, .cpu = cpu };
			if (sim_random(series, 100) < odds && make_hole(s, &holes[n], series))
				n++;
		}
	return n;
}

/* Of one time, in the order in which the tape got them: losses first. */
static int by_at(const void *one, const void *other)
{
	const struct sim_event *a = one, *b = other;

	if (a->event.at != b->event.at)
		return a->event.at > b->event.at ? 1 : -1;
	return (a->order > b->order) - (a->order < b->order);
}

static struct sim_event loss_event(const struct hole *h)
{
	return (struct sim_event){ .event = { h->from, 1, BSA_loss,
		                              sizeof(struct bsa_event) + sizeof(struct bsa_loss) },
		                   .of.loss = { .ended = h->until, .events = h->events, .cpu = h->cpu } };
}

/* The tape of the events that are left, with the losses reported. */
static struct tape tape_with_holes(const struct sim *s, unsigned forms, const struct hole *holes, size_t n)
{
	struct tape left = tape_of(s, forms), t = { .n_own = n };
	size_t k = 0;

	t.own = calloc(n + 1, sizeof(*t.own));
	t.events = calloc(left.n + n + 1, sizeof(*t.events));
	assert_true(t.own && t.events);
	for (size_t i = 0; i < n; i++)
		t.own[i] = loss_event(&holes[i]);
	qsort(t.own, n, sizeof(*t.own), by_at);
	for (size_t i = 0; i < left.n; i++) {
		for (; k < n && t.own[k].event.at <= left.events[i]->at; k++)
			t.events[t.n++] = &t.own[k].event;
		t.events[t.n++] = left.events[i];
	}
	while (k < n)
		t.events[t.n++] = &t.own[k++].event;
	tape_free(&left);
	return t;
}

static bool is_summary(const struct sim_event *e)
{
	return e->event.kind == BSA_exec_client || e->event.kind == BSA_exec_service;
}

/* Whether the event belongs to an execution by itself. Other kinds do so only through their pool. */
static bool belongs_to_execution(const struct sim_event *e)
{
	return e->event.kind != BSA_pool_map && e->event.kind != BSA_pool_unmap &&
	       e->event.kind != BSA_resource_exhausted;
}

/*
 * Whether the event is a boundary that its service does not know. Of a launched execution, these are the
 * boundaries before the service took the request.
 */
static bool is_of_client(const struct sim *s, const struct sim_event *e)
{
	bool was_launched = e->whose && s->execs[e->whose - 1].at[BSA_SIGNALLED] != NEVER;

	switch (e->event.kind) {
	case BSA_exec_submit:
		return true;
	case BSA_exec_return:
		return !was_launched;
	case BSA_fmq_write:
		return e->of.fmq_write.queue == BSA_QUEUE_REQUEST || e->of.fmq_write.queue == BSA_QUEUE_CALL_REQUEST;
	case BSA_fmq_read:
		if (was_launched)
			return false;
		return e->of.fmq_read.queue == BSA_QUEUE_RESULT || e->of.fmq_read.queue == BSA_QUEUE_CALL_RESULT;
	default:
		return false;
	}
}

/*
 * The time of the first and the last event that is left of an execution, and the numbers of lost events and of
 * summaries.
 */
struct remains {
	uint64_t first, last, lost, lost_of_client, services, clients;
};

/*
 * Whether a launch returned after its fence was signalled: then the event is a mark, and the execution is
 * complete without it.
 */
static bool is_mark_after_end(const struct sim *s, const struct sim_event *e)
{
	uint64_t signalled = e->whose ? s->execs[e->whose - 1].at[BSA_SIGNALLED] : NEVER;

	return signalled != NEVER && e->event.at > signalled &&
	       (e->event.kind == BSA_fmq_read || e->event.kind == BSA_exec_return);
}

static struct remains *remains_of(const struct sim *s, unsigned forms)
{
	struct remains *r = calloc(s->n_execs + 1, sizeof(*r));

	assert_non_null(r);
	for (size_t i = 0; i < s->n_events; i++) {
		const struct sim_event *e = &s->events[i];
		struct remains *x = &r[e->whose];

		if (!(e->forms & forms) || !belongs_to_execution(e))
			continue;
		if (e->lost) {
			if (is_mark_after_end(s, e))
				continue;
			/* in this form the other events have reported everything */
			x->lost += !is_summary(e) || forms != SIM_RARE;
			x->lost_of_client += is_of_client(s, e);
			continue;
		}
		x->services += e->event.kind == BSA_exec_service;
		x->clients += e->event.kind == BSA_exec_client;
		if (is_summary(e) && forms == SIM_RARE)
			continue;
		if (!x->first)
			x->first = e->event.at;
		x->last = e->event.at;
	}
	return r;
}

static bool overlaps(const struct hole *holes, size_t n, uint64_t from, uint64_t until)
{
	for (size_t i = 0; i < n; i++)
		if (holes[i].from <= until && holes[i].until >= from)
			return true;
	return false;
}

/*
 * Whether the execution is certain in spite of losses: both summaries report everything; the service's reports
 * how many events there are.
 */
static bool is_certain(const struct remains *r, unsigned forms)
{
	return r->services && (r->clients || (forms == SIM_RARE && !r->lost_of_client));
}

/* Each execution that lost an event, or was under way when events were lost, must be marked. */
static void check_marked(const struct against *a, const struct hole *holes, size_t n)
{
	struct remains *r = remains_of(a->s, a->forms);

	for (uint32_t i = 0; i < a->s->n_execs; i++) {
		const struct bsa_execution *x = collect_execution(&a->some->facts, a->s->execs[i].exec);
		const struct remains *left = &r[i + 1];
		bool touched = left->lost || overlaps(holes, n, left->first, left->last);

		HOLDS(x || !left->first, "exec %#llx is not there", (unsigned long long)a->s->execs[i].exec);
		HOLDS(!x || !touched || is_certain(left, a->forms) || x->quality != BSA_QUALITY_COMPLETE,
		      "exec %#llx lost %llu events, and is complete", (unsigned long long)x->exec,
		      (unsigned long long)left->lost);
		HOLDS(!x || touched || a->forms == SIM_COMPACT || x->quality == BSA_QUALITY_COMPLETE,
		      "exec %#llx lost nothing, and is not complete: %d", (unsigned long long)x->exec, x->quality);
	}
	free(r);
}

/* With a horizon that is just long enough. */
static struct outcome fold_lossless(const struct sim *s, unsigned forms, struct bsa_fold_options *options)
{
	struct outcome o;

	options->horizon_ns = forms == SIM_FULL ? 0 : 100000 * MS;
	o = fold_forms(s, forms, options);
	if (forms == SIM_COMPACT)
		options->horizon_ns = o.latest + CLIENTS_LATE;
	return o;
}

static void check_with_losses(struct sim *s, unsigned forms, const char *name, uint64_t *series,
                              struct bsa_fold_options options)
{
	struct hole holes[HOLES];
	struct outcome all, some = { .latest = 0 };
	struct against a = { .s = s,
		             .some = &some,
		             .all = &all,
		             .forms = forms,
		             .window_ns = options.window_ns ? options.window_ns : 100 * MS };
	struct tape t;
	size_t n;

	doing = name;
	all = fold_lossless(s, forms, &options);
	n = make_holes(s, s->began, s->ended, holes, series);
	t = tape_with_holes(s, forms, holes, n);
	options.tenants_max = dropping;
	fold_tape(&some, &t, &options);
	check_nothing_invented(&a);
	check_nothing_hidden(&a, s->began, s->ended);
	check_lags(&a);
	check_windows(&a);
	check_no_window_missing(&a);
	check_marked(&a, holes, n);
	if (forms == SIM_COMPACT)
		check_quiet(&t, &options, &some);
	HOLDS(some.facts.lost.n == n, "%zu losses are reported, and there are %zu", some.facts.lost.n, n);
	tape_free(&t);
	outcome_free(&all);
	outcome_free(&some);
	for (size_t i = 0; i < s->n_events; i++)
		s->events[i].lost = false;
}

static void play_lossy(uint64_t seed)
{
	uint64_t series = seed;
	struct sim_terms terms = some_terms(seed, &series);
	struct bsa_fold_options options = some_options(&series);
	struct sim s;

	seed_now = seed;
	sim_play(&s, &terms);
	check_with_losses(&s, SIM_FULL, "full, with losses", &series, options);
	check_with_losses(&s, SIM_RARE, "both, with losses", &series, options);
	sim_free(&s);
	terms.no_ends = false; /* otherwise less is certain at the end, even without a loss */
	sim_play(&s, &terms);
	check_with_losses(&s, SIM_COMPACT, "compact, with losses", &series, options);
	sim_free(&s);
}

/* ---- from the middle on ---- */

/*
 * The time of a session: it records events from @from to @until. The second member is the time at which the
 * service repeats its state.
 */
struct session {
	uint64_t from, told, until;
	bool knows_waits; /* the service knows since when each execution waits */
};

/* Lose some of the @n events of the service's report that are in a hole. Returns how many are left. */
static size_t lose_report(struct sim_event *report, size_t n, struct hole *holes, size_t n_holes, uint64_t *series)
{
	size_t left = 0;

	for (size_t i = 0; i < n; i++) {
		struct hole *in = NULL;

		for (size_t k = 0; k < n_holes; k++)
			if (holes[k].from <= report[i].event.at && report[i].event.at <= holes[k].until)
				in = &holes[k];
		if (in && sim_random(series, 2))
			in->events++;
		else
			report[left++] = report[i];
	}
	return left;
}

/* The tape of a session, of which @n holes lose events. */
static struct tape tape_within(const struct sim *s, unsigned forms, const struct session *when, struct hole *holes,
                               size_t n, uint64_t *series)
{
	struct tape all = tape_of(s, forms), t = { .n = 0 };
	struct sim_event *report;
	size_t k = 0;

	t.own = calloc(n + s->n_events + s->n_execs + 1, sizeof(*t.own));
	t.events = calloc(all.n + n + s->n_events + s->n_execs + 1, sizeof(*t.events));
	assert_true(t.own && t.events);
	report = t.own + n;
	t.n_own = n + lose_report(report, sim_tell_again(s, when->told, when->knows_waits, report), holes, n, series);
	for (size_t i = 0; i < n; i++)
		t.own[i] = loss_event(&holes[i]);
	for (size_t i = 0; i < t.n_own; i++)
		t.own[i].order = (uint32_t)i;
	qsort(t.own, t.n_own, sizeof(*t.own), by_at);
	for (size_t i = 0; i < all.n; i++) {
		uint64_t at = all.events[i]->at;

		if (at < when->from || at > when->until)
			continue;
		for (; k < t.n_own && t.own[k].event.at < at + (t.own[k].event.kind == BSA_loss); k++)
			t.events[t.n++] = &t.own[k].event;
		t.events[t.n++] = all.events[i];
	}
	while (k < t.n_own)
		t.events[t.n++] = &t.own[k++].event;
	tape_free(&all);
	return t;
}

/* The last event of each execution, by its index in @s, counted from 1. Owned by the caller. */
static uint64_t *lasts_of(const struct sim *s, unsigned forms)
{
	uint64_t *lasts = calloc(s->n_execs + 1, sizeof(*lasts));

	assert_non_null(lasts);
	for (size_t i = 0; i < s->n_events; i++)
		if (s->events[i].forms & forms && s->events[i].event.at > lasts[s->events[i].whose])
			lasts[s->events[i].whose] = s->events[i].event.at;
	return lasts;
}

/* Executions that were under way at the session's begin or end lack that part; all others must lack nothing. */
static void check_session(const struct against *a, const struct session *when)
{
	uint64_t *lasts = lasts_of(a->s, a->forms);

	for (uint32_t i = 0; i < a->s->n_execs; i++) {
		const struct bsa_execution *x = collect_execution(&a->some->facts, a->s->execs[i].exec),
					   *is = collect_execution(&a->all->facts, a->s->execs[i].exec);
		uint64_t began = is->at[BSA_SUBMITTED], over = began + is->e2e;

		HOLDS(x || began <= when->told || lasts[i + 1] > when->until, "exec %#llx is not there",
		      (unsigned long long)is->exec);
		if (!x)
			continue;
		HOLDS(a->forms != SIM_FULL || x->quality != BSA_QUALITY_COMPLETE ||
		              (began >= when->from && over <= when->until),
		      "exec %#llx is not all there, and complete", (unsigned long long)x->exec);
		HOLDS(x->quality == BSA_QUALITY_COMPLETE || began <= when->told || lasts[i + 1] > when->until,
		      "exec %#llx is all there, and %d", (unsigned long long)x->exec, x->quality);
	}
	free(lasts);
}

/*
 * A compact session that stops misses executions under way, even that their lanes are busy. So compact sessions
 * go on to the end.
 */
static struct session some_session(const struct sim *s, unsigned forms, uint64_t *series)
{
	uint64_t length = s->ended - s->began;
	struct session when = { .from = s->began + sim_random(series, length) };

	when.told = when.from + sim_random(series, 2) * sim_random(series, length / 50 + 1);
	when.until = sim_random(series, 2) || forms == SIM_COMPACT ? NEVER : when.told + sim_random(series, length);
	when.knows_waits = when.told % 7 != 1; /* takes nothing from @series, so the fixed seeds play what they did */
	return when;
}

/* The time of the earliest of the services' last events: after it, only clients report. */
static uint64_t services_until(const struct sim *s, const struct tape *t)
{
	uint64_t until = t->n ? t->events[t->n - 1]->at : 0;

	for (uint32_t i = 0; i < s->n_services; i++) {
		uint64_t last = until;

		for (size_t k = t->n; k-- > 0;)
			if (bsa_voice_of(t->events[k]) == s->services[i].instance) {
				last = t->events[k]->at;
				break;
			}
		until = last < until ? last : until;
	}
	return until;
}

static void check_late_session(const struct sim *s, unsigned forms, const char *name, uint64_t *series,
                               struct bsa_fold_options options)
{
	struct session when = some_session(s, forms, series);
	struct outcome all, some = { .latest = 0 };
	struct against a = { .s = s, .some = &some, .all = &all, .forms = forms, .late = true };
	struct tape t;

	doing = name;
	all = fold_lossless(s, forms, &options);
	t = tape_within(s, forms, &when, NULL, 0, series);
	options.tenants_max = dropping;
	fold_tape(&some, &t, &options);
	check_nothing_invented(&a);
	check_nothing_hidden(&a, when.from, services_until(s, &t));
	check_session(&a, &when);
	if (forms == SIM_COMPACT)
		check_quiet(&t, &options, &some);
	tape_free(&t);
	outcome_free(&all);
	outcome_free(&some);
}

static void play_late(uint64_t seed)
{
	uint64_t series = seed;
	struct sim_terms terms = some_terms(seed, &series);
	struct bsa_fold_options options = some_options(&series);
	struct sim s;

	seed_now = seed;
	sim_play(&s, &terms);
	check_late_session(&s, SIM_FULL, "full, from the middle on", &series, options);
	check_late_session(&s, SIM_RARE, "both, from the middle on", &series, options);
	sim_free(&s);
	terms.no_ends = false; /* otherwise less is certain at the end, even without a loss */
	sim_play(&s, &terms);
	check_late_session(&s, SIM_COMPACT, "compact, from the middle on", &series, options);
	sim_free(&s);
}

/* ---- from the middle on, with losses ---- */

/* Lose packets of the session @when, and perhaps a part of the service's report. Returns how many holes there are. */
static size_t make_session_holes(struct sim *s, const struct session *when, struct hole *holes, uint64_t *series)
{
	uint64_t length = s->ended - s->began, before = sim_random(series, length / 100 + 1),
		 after = sim_random(series, 2) * sim_random(series, length / 50 + 1);
	struct hole *first = &holes[0];
	size_t n = 0;

	*first = (struct hole){ .from = when->told - before, .until = when->told + after };
	first->from = first->from > when->from ? first->from : when->from;
	if (sim_random(series, 2)) {
		make_hole(s, first, series);
		n++;
	}
	return n + make_holes(s, when->from, when->until < s->ended ? when->until : s->ended, holes + n, series);
}

static void check_torn_session(struct sim *s, unsigned forms, const char *name, uint64_t *series,
                               struct bsa_fold_options options)
{
	struct session when = some_session(s, forms, series);
	struct hole holes[HOLES + 1];
	struct outcome all, some = { .latest = 0 };
	struct against a = { .s = s, .some = &some, .all = &all, .forms = forms, .late = true };
	struct tape t;
	size_t n;

	doing = name;
	all = fold_lossless(s, forms, &options);
	n = make_session_holes(s, &when, holes, series);
	t = tape_within(s, forms, &when, holes, n, series);
	options.tenants_max = dropping;
	fold_tape(&some, &t, &options);
	check_nothing_invented(&a);
	check_nothing_hidden(&a, when.from, services_until(s, &t));
	tape_free(&t);
	outcome_free(&all);
	outcome_free(&some);
	for (size_t i = 0; i < s->n_events; i++)
		s->events[i].lost = false;
}

static void play_torn(uint64_t seed)
{
	uint64_t series = seed;
	struct sim_terms terms = some_terms(seed, &series);
	struct bsa_fold_options options = some_options(&series);
	struct sim s;

	seed_now = seed;
	sim_play(&s, &terms);
	check_torn_session(&s, SIM_FULL, "full, from the middle on, with losses", &series, options);
	check_torn_session(&s, SIM_RARE, "both, from the middle on, with losses", &series, options);
	sim_free(&s);
	terms.no_ends = false; /* otherwise less is certain at the end, even without a loss */
	sim_play(&s, &terms);
	check_torn_session(&s, SIM_COMPACT, "compact, from the middle on, with losses", &series, options);
	sim_free(&s);
}

/* ---- strangers ---- */

static const uint16_t sizes[] = {
#define K(name) sizeof(struct bsa_##name),
	BSA_KINDS(K)
#undef K
};

/* Numbers near others of the recording, and some arbitrary ones. */
static uint64_t some_number(uint64_t *series, uint64_t now)
{
	switch (sim_random(series, 8)) {
	case 0:
		return sim_random(series, 0) | sim_random(series, UINT64_MAX);
	case 1:
		return now + sim_random(series, 2000) - 1000;
	case 2:
		return UINT64_MAX - sim_random(series, 3);
	case 3:
		return UINT64_C(1) << sim_random(series, 64);
	default:
		return sim_random(series, 6);
	}
}

static void make_hostile(struct sim_event *e, uint64_t *series, uint64_t now)
{
	uint16_t kind = (uint16_t)sim_random(series, BSA_N_KINDS);
	uint64_t number;

	for (size_t at = 0; at < sizeof(e->of); at += 1 + sim_random(series, 8)) {
		number = some_number(series, now);
		memcpy((char *)&e->of + at, &number, sizeof(e->of) - at < 8 ? sizeof(e->of) - at : 8);
	}
	/* one of few executions, or events would never match */
	number = (1 + sim_random(series, 4)) << 32 | sim_random(series, 50);
	if (sim_random(series, 10))
		e->of.exec_submit.exec = number;
	if (kind == BSA_client_connect)
		e->of.client_connect.name[BSA_TEXT - 1] = 0;
	if (kind == BSA_model_prepare)
		e->of.model_prepare.name[BSA_TEXT - 1] = 0;
	e->event = (struct bsa_event){ now, 1 + (uint32_t)sim_random(series, 2), kind,
		                       (uint16_t)(sizeof(struct bsa_event) + (sizes[kind] + 7u) / 8 * 8) };
}

/* Facts that are read, but not kept. */
static uint64_t facts_told;

#define COUNT(kind)                                                     \
	static void count_##kind(void *ctx, const struct bsa_##kind *f) \
	{                                                               \
		facts_told += ((const unsigned char *)f)[0] & 1;        \
		facts_told += ctx == NULL;                              \
	}
COLLECT_KINDS(COUNT)
#undef COUNT

static size_t memory_in_use(void)
{
	return mallinfo2().uordblks;
}

enum { HOSTILE_EVENTS = 20000, HOSTILE_UNDER_WAY = 64, HOSTILE_BYTES = 32 << 20 };

static void play_hostile(uint64_t seed)
{
	uint64_t series = seed, now = sim_random(&series, 2) ? 0 : UINT64_MAX - HOSTILE_EVENTS * 500;
	struct bsa_fold_options options = { .under_way_max = HOSTILE_UNDER_WAY,
		                            .horizon_ns = sim_random(&series, 2) * 100000 };
	struct bsa_facts facts = { .ctx = NULL };
	size_t before = memory_in_use();
	struct bsa_fold *f;
	struct sim_event e;

#define K(kind) facts.kind = count_##kind;
	COLLECT_KINDS(K)
#undef K
	seed_now = seed;
	doing = "hostile events";
	f = bsa_fold_new(&facts, &options);
	assert_non_null(f);
	for (unsigned i = 0; i < HOSTILE_EVENTS; i++) {
		now += sim_random(&series, 4) ? sim_random(&series, 1000) : 0;
		memset(&e, 0, sizeof(e));
		make_hostile(&e, &series, now);
		assert_int_equal(bsa_fold_event(f, &e.event), 0);
	}
	HOLDS(memory_in_use() - before < HOSTILE_BYTES, "%zu bytes for %d events", memory_in_use() - before,
	      HOSTILE_EVENTS);
	assert_int_equal(bsa_fold_finish(f), 0);
	bsa_fold_free(f);
}

/* When to stop; 0: after a fixed number of tries. */
static time_t soak_end(unsigned parts)
{
	const char *soak = getenv("NNB_SOAK_SECONDS");

	return soak && atoi(soak) > 0 ? time(NULL) + atoi(soak) / (int)parts : 0;
}

static void play_all(void (*play)(uint64_t seed), unsigned seeds)
{
	time_t stop = soak_end(5);
	uint64_t seed = 1;

	do {
		dropping = seed % 2;
		play(seed++);
	} while (stop ? time(NULL) < stop : seed <= seeds);
	dropping = false;
	print_message("%llu worlds, %lu quiet times, %lu of them in doubt\n", (unsigned long long)seed - 1, n_quiet,
	              n_doubts);
}

static void the_truth_is_found_in_full_in_compact_and_in_both(void **state)
{
	(void)state;
	play_all(play_lossless, SEEDS);
}

static void losses_hide_facts_and_never_invent_any(void **state)
{
	(void)state;
	play_lossy(104);  /* an unknown lane is handed over, while another app becomes backlogged */
	play_lossy(263);  /* one step goes from before a hole to long after it */
	play_lossy(326);  /* an answer to a launch after the execution failed; neither return nor signal was recorded */
	play_lossy(776);  /* a hole hides a resume and the next preemption */
	play_lossy(258);  /* a lane is being handed to an execution when the service reports that no execution waits */
	play_lossy(304);  /* an app seems idle while a hidden execution of it waits: its lag goes on */
	play_lossy(905);  /* an unknown app has a lane, and may be one of the known apps */
	play_lossy(1813); /* an app seems idle in a hole */
	play_lossy(1556); /* a lane is handed to an execution that was not known to be ready */
	play_lossy(835);  /* a lane is being handed over when a hole begins */
	play_lossy(2162); /* an app hogs only because executions of unknown apps seemed to have lanes, too */
	play_lossy(4033); /* a hole hides the number of lanes: a lane that was unknown is handed over */
	play_lossy(4518); /* a hole hides the number of lanes: an execution is on an unknown lane */
	play_lossy(2057); /* two holes hide every step of an execution, and not its request and answer */
	play_lossy(4505); /* an app is first seen in a later window of a hole: its lag is still the one before it */
	play_lossy(1599); /* an execution is on a lane since a hole, and its app lags in the next window, too */
	play_lossy(1737); /* an app seems idle in a hole, and waits until the end of it */
	play_all(play_lossy, SEEDS);
}

static void a_late_session_reports_only_facts(void **state)
{
	(void)state;
	play_late(1039); /* the recording ends when it begins, while an execution waits */
	play_late(2583); /* an execution that is under way beyond its deadline at the end fails afterwards */
	play_all(play_late, SEEDS);
}

static void a_late_session_with_losses_hides_no_wait(void **state)
{
	(void)state;
	play_torn(2316); /* a call was under way at the begin, and what told of it and of its stream is lost */
	play_all(play_torn, SEEDS);
}

static void hostile_events_do_no_harm(void **state)
{
	(void)state;
	play_all(play_hostile, SEEDS / 10);
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_truth_is_found_in_full_in_compact_and_in_both),
		cmocka_unit_test(losses_hide_facts_and_never_invent_any),
		cmocka_unit_test(a_late_session_reports_only_facts),
		cmocka_unit_test(a_late_session_with_losses_hides_no_wait),
		cmocka_unit_test(hostile_events_do_no_harm),
	};
	uint64_t seed;

	if (argc == 2) {
		seed = strtoull(argv[1], NULL, 0);
		play_lossless(seed);
		play_lossy(seed);
		play_late(seed);
		play_torn(seed);
		play_hostile(seed);
		return 0;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
