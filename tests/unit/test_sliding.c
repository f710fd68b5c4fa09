/*
 * test_sliding.c -- rules over the last seconds: each window's verdict is that of `burstscope check --from
 * --to` on the same time, in simulated services, recorded in full and compact. A window that was not recorded
 * whole has no verdict.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyzer/ctf_writer.h"
#include "analyzer/folders.h"
#include "analyzer/schedule_sim.h"
#include "base.h"
#include "base/command.h"
#include "bsa/import.h"
#include "conditions/folding.h"
#include "conditions/sliding.h"
#include "input/input.h"
#include "record/packets.h"
#include "slo/measure.h"

#ifndef SEEDS
#define SEEDS 6
#endif

enum { WINDOWS_MAX = 4096, COMPARED = 12 /* windows of each world */ };

/* ---- windows against check ---- */

static const char rules_text[] =
	"p50 e2e <= 3ms\np90 queue <= 1ms\np99 run of path=burst <= 4ms\np50 overhead share <= 40 %\n"
	"p90 overhead of warm <= 2ms\np50 slots of cold <= 10us\nmiss ratio <= 10 %\n"
	"miss ratio of priority=high <= 0 %\nexecutions of path=fenced >= 3\np100 reply of app=alpha <= 1ms\n"
	"p50 e2e of model=net <= 3ms\nexecutions of app=alpha >= 3\n"
	"p50 signal <= 1ms\n";

enum { RULES_MAX = 16 };

/* The last verdict of each window, by the number of the window's last part. */
struct verdicts {
	struct bsv_slid of[WINDOWS_MAX];
	bool there[WINDOWS_MAX];
	uint64_t step, n_again;
};

struct world {
	struct bsv_slo slo;
	struct bsv_sliding *sliding[RULES_MAX];
	struct verdicts *verdicts; /* by rule */
	struct bsa_live *live;
	uint64_t began, ended, latest, window;
};

static void judged(void *ctx, const struct bsv_slid *slid)
{
	struct verdicts *v = ctx;
	uint64_t i = slid->to / v->step % WINDOWS_MAX;

	v->n_again += v->there[i] && v->of[i].from == slid->from;
	v->there[i] = true;
	v->of[i] = *slid;
}

/* A window is judged as soon as it may be over; a later event has it judged again. */
static void execution(void *ctx, const struct bsa_live_execution *x)
{
	struct world *w = ctx;
	uint64_t ended = x->e2e_ns == BSA_LIVE_UNKNOWN ? x->began : x->began + x->e2e_ns;

	for (size_t i = 0; i < w->slo.n; i++) {
		bsv_sliding_execution(w->sliding[i], x, w->ended);
		bsv_sliding_until(w->sliding[i], w->began, w->latest);
	}
	if (ended > w->latest && ended <= w->ended)
		w->latest = ended;
}

static void lost(void *ctx, uint64_t began, uint64_t ended, const char *why)
{
	struct world *w = ctx;

	for (size_t i = 0; i < w->slo.n; i++)
		bsv_sliding_lost(w->sliding[i], began, ended, why);
}

static void follow(struct world *w, const char *whole)
{
	const struct bsa_live_options options = { .directory = whole,
		                                  .settle_ns = 1,
		                                  .calls_only = true,
		                                  .calls = { .ctx = w, .execution = execution, .lost = lost } };
	struct bsa_err err = { "" };

	assert_int_equal(bsa_live_open(&w->live, &options, &err), 0);
	assert_int_equal(bsa_live_finish(w->live, &err), 0);
	assert_true(bsa_live_began(w->live) == w->began);
	for (size_t i = 0; i < w->slo.n; i++)
		bsv_sliding_until(w->sliding[i], w->began, w->ended + w->window);
	bsa_live_free(w->live);
}

static void import(const char *whole, const char *database, struct bsv_input *ret, int64_t *ret_offset)
{
	const struct bsa_import_options options = { .traces = &whole, .n_traces = 1, .output = database };
	const struct bsv_call call = { .command = &bsv_check, .common.quiet = true };
	struct bsv_rows *rows = NULL;
	struct bsa_err err = { "" };

	if (bsa_import(&options, NULL, &err) || bsv_input_open(ret, database, &call, &err) < 0 ||
	    bsv_rows_query(&rows, ret->db, "SELECT clock_offset FROM trace", &err) < 0)
		fail_msg("%s", err.text);
	assert_int_equal(bsv_rows_step(rows, &err), 1);
	*ret_offset = bsv_rows_get(rows, 0, 0);
	bsv_rows_free(rows);
}

static void compare_window(const struct world *w, uint64_t end, const char *database, int64_t began, const char *doing)
{
	uint64_t from = w->verdicts[0].of[end % WINDOWS_MAX].from, to = w->verdicts[0].of[end % WINDOWS_MAX].to;
	struct bsv_call call = { .command = &bsv_check, .common.quiet = true };
	struct bsv_slo_result wanted;
	struct bsv_input input;
	struct bsa_err err = { "" };

	call.asked.from = (struct bsv_quantity){ true, (int64_t)from - began };
	call.asked.to = (struct bsv_quantity){ true, (int64_t)to - began };
	if (bsv_input_open(&input, database, &call, &err) < 0)
		fail_msg("%s: %s", doing, err.text);
	for (size_t i = 0; i < w->slo.n; i++) {
		const struct bsv_slid *is = &w->verdicts[i].of[end % WINDOWS_MAX];

		assert_true(is->from == from);
		assert_int_equal(bsv_slo_measure(&wanted, &w->slo.rules[i], 1, &input, NULL, &err), 0);
		if (is->result.outcome != wanted.outcome || is->result.n != wanted.n || is->lost ||
		    (strncmp(wanted.why, "there is no ", 12) && strcmp(is->result.why, wanted.why)))
			fail_msg("%s, %s, from %" PRIu64 " to %" PRIu64 ": %s: %s (n %" PRId64
			         "), check: %s: %s (n %" PRId64 ")",
			         doing, w->slo.rules[i].text, from, to, bsv_slo_word(is->result.outcome),
			         is->result.why, is->result.n, bsv_slo_word(wanted.outcome), wanted.why, wanted.n);
	}
	bsv_input_close(&input);
}

static unsigned outcomes[3];
static uint64_t judged_again;

static void begin_world(struct world *w, const struct bsv_input *input, int64_t offset)
{
	struct bsa_err err = { "" };

	w->began = (uint64_t)(input->began - offset);
	w->ended = (uint64_t)(input->ended - offset);
	w->window = (w->ended - w->began) / 4;
	if (bsv_slo_parse(&w->slo, rules_text, strlen(rules_text), &err) < 0)
		fail_msg("%s", err.text);
	w->verdicts = calloc(w->slo.n, sizeof(*w->verdicts));
	for (size_t i = 0; i < w->slo.n; i++) {
		const struct bsv_sliding_options options = { .rule = &w->slo.rules[i],
			                                     .window_ns = w->window,
			                                     .lag_ns = w->window / 8,
			                                     .judged = judged,
			                                     .ctx = &w->verdicts[i] };

		assert_true(bsv_sliding_takes(options.rule));
		w->verdicts[i].step = w->window / BSV_SLIDING_PARTS;
		w->sliding[i] = bsv_sliding_new(&options);
	}
}

static void end_world(struct world *w)
{
	for (size_t i = 0; i < w->slo.n; i++) {
		assert_int_equal(bsv_sliding_too_late(w->sliding[i]), 0);
		judged_again += w->verdicts[i].n_again;
		bsv_sliding_free(w->sliding[i]);
	}
	bsv_slo_fini(&w->slo);
	free(w->verdicts);
}

/* The recording of the clients stopped at @at, before that of the service. */
static bool is_stopped(const struct sim_event *e, uint64_t at)
{
	unsigned kind = e->event.kind;

	return e->event.at >= at && (kind == BSA_exec_submit || kind == BSA_exec_return || kind == BSA_exec_client);
}

enum lacking { NOTHING, CLIENTS_LATER, NAMES };

/* Who the apps and the models are, and so the priorities of executions. */
static bool is_name(const struct sim_event *e)
{
	return e->event.kind == BSA_client_connect || e->event.kind == BSA_model_prepare;
}

static void compare_world(uint64_t seed, unsigned forms, enum lacking lacking)
{
	const struct sim_terms terms = { .seed = seed, .executions = 400 };
	const struct ctf_options how = { .packet = 16, .cpus = 2 };
	const char *whole = folder_at("whole"), *database = folder_at("db");
	struct ctf_writer *writer = ctf_writer_new(whole, &how);
	static struct world w;
	struct bsv_input input;
	uint64_t stopped = UINT64_MAX;
	int64_t offset;
	char doing[64];
	struct sim s;
	unsigned compared = 0;

	memset(&w, 0, sizeof(w));
	snprintf(doing, sizeof(doing), "world %" PRIu64 ", %s", seed, forms == SIM_FULL ? "full" : "compact");
	sim_play(&s, &terms);
	if (lacking == CLIENTS_LATER)
		stopped = s.events[s.n_events / 2].event.at;
	for (size_t i = 0; i < s.n_events; i++)
		if (s.events[i].forms & forms && !is_stopped(&s.events[i], stopped) &&
		    !(lacking == NAMES && is_name(&s.events[i])))
			ctf_writer_record(writer, s.events[i].cpu, &s.events[i].event);
	ctf_writer_free(writer);
	sim_free(&s);
	import(whole, database, &input, &offset);
	begin_world(&w, &input, offset);
	follow(&w, whole);
	for (uint64_t end = 0; end < WINDOWS_MAX; end += 3)
		if (w.verdicts[0].there[end] && w.verdicts[0].of[end].from < w.ended && compared++ < COMPARED) {
			compare_window(&w, end, database, (int64_t)w.began, doing);
			for (size_t i = 0; i < w.slo.n; i++)
				outcomes[w.verdicts[i].of[end].result.outcome]++;
		}
	assert_true(compared >= COMPARED / 2);
	bsv_input_close(&input);
	end_world(&w);
	bsv_remove_tree(whole);
	remove(database);
}

static void each_window_is_judged_as_check_judges_that_time(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		compare_world(seed, SIM_FULL, NOTHING);
		compare_world(seed, SIM_COMPACT, NOTHING);
	}
	for (enum lacking lacking = CLIENTS_LATER; lacking <= NAMES; lacking++) {
		compare_world(1, SIM_FULL, lacking);
		compare_world(1, SIM_COMPACT, lacking);
	}
	/* otherwise the worlds prove nothing */
	assert_true(outcomes[BSV_PASS] > 50 && outcomes[BSV_FAIL] > 50 && outcomes[BSV_CANNOT_TELL] > 50);
	assert_true(judged_again > 100);
}

/* ---- one rule at a time ---- */

struct one {
	struct bsv_slo slo;
	struct bsv_sliding *sliding;
	unsigned n, n_lost, n_silent, n_of[3];
	struct bsv_slid last;
};

static void count(void *ctx, const struct bsv_slid *slid)
{
	struct one *o = ctx;

	o->n++;
	o->n_lost += slid->lost;
	o->n_silent += slid->silent;
	o->n_of[slid->result.outcome]++;
	o->last = *slid;
}

/* Windows of 1 s, judged 100 ms later. */
static void begin_one(struct one *o, const char *rule)
{
	struct bsv_sliding_options options = { .window_ns = 1000 * MS, .lag_ns = 100 * MS, .judged = count, .ctx = o };

	memset(o, 0, sizeof(*o));
	assert_int_equal(bsv_slo_parse(&o->slo, rule, strlen(rule), NULL), 0);
	options.rule = o->slo.rules;
	o->sliding = bsv_sliding_new(&options);
}

static void end_one(struct one *o)
{
	bsv_sliding_free(o->sliding);
	bsv_slo_fini(&o->slo);
}

static void run_one(struct one *o, const char *app, uint64_t began_ms, uint64_t took_ms)
{
	struct bsa_live_execution x = { .app = app,
		                        .model = "net",
		                        .path = "burst",
		                        .status = "NONE",
		                        .quality = "complete",
		                        .sides = "both",
		                        .began = began_ms * MS,
		                        .e2e_ns = took_ms * MS,
		                        .run_ns = took_ms * MS,
		                        .redo_ns = BSA_LIVE_UNKNOWN,
		                        .complete = true,
		                        .app_named = true,
		                        .model_named = true,
		                        .cold = 0 };

	bsv_sliding_execution(o->sliding, &x, (began_ms + took_ms) * MS);
}

/* Executions of @app from @from_ms to @to_ms, one every @every_ms. */
static void run_some(struct one *o, const char *app, uint64_t from_ms, uint64_t to_ms, uint64_t every_ms,
                     uint64_t took_ms)
{
	for (uint64_t at = from_ms; at < to_ms; at += every_ms)
		run_one(o, app, at, took_ms);
}

static void until(struct one *o, uint64_t ms)
{
	bsv_sliding_until(o->sliding, 10020 * MS, ms * MS);
}

static void a_window_that_began_before_the_recording_is_not_judged(void **state)
{
	struct one o;

	(void)state;
	begin_one(&o, "p90 e2e <= 5ms");
	bsv_sliding_until(o.sliding, BSA_LIVE_UNKNOWN, 11149 * MS); /* nothing was recorded yet */
	run_some(&o, "a", 10020, 11000, 10, 50);
	until(&o, 11149);
	assert_int_equal(o.n, 0); /* the first whole window begins at 10.05 s */
	run_some(&o, "a", 11000, 11100, 10, 50);
	until(&o, 11150);
	assert_int_equal(o.n, 1);
	assert_int_equal(o.n_of[BSV_FAIL], 1);
	assert_true(o.last.from == 10050 * MS && o.last.to == 11050 * MS);
	end_one(&o);
}

/* LTTng starts and stops programs one after the other: meanwhile only the service records executions. */
static void executions_without_their_beginning_may_break_a_rule(void **state)
{
	static const struct {
		const char *rule, *status;
		uint64_t seen_ms, open_since_ms; /* 0: unknown */
		enum bsv_outcome outcome;
		int64_t n;
	} rows[] = {
		{ "p95 e2e <= 5ms", "NONE", 1, 0, BSV_CANNOT_TELL, 90 },
		{ "p90 e2e <= 5ms", "NONE", 1, 0, BSV_PASS, 90 }, /* even if the unseen parts of all of them
		                                                   * took longer */
		{ "p95 e2e <= 5ms", "NONE", 6, 0, BSV_FAIL, 100 },
		{ "p95 overhead <= 5ms", "NONE", 1, 0, BSV_CANNOT_TELL, 90 },
		{ "p95 overhead <= 5ms", "NONE", 8, 0, BSV_FAIL, 100 },
		{ "p95 queue <= 5ms", "NONE", 1, 0, BSV_PASS, 100 }, /* the service records the queue */
		{ "p95 queue <= 5ms", "NONE", 0, 0, BSV_CANNOT_TELL, 90 },
		{ "p95 e2e <= 5ms", "MISSED_DEADLINE", 1, 0, BSV_CANNOT_TELL, 90 },
		{ "p95 e2e <= 5ms", NULL, 0, 0, BSV_CANNOT_TELL, 90 },
		{ "p95 e2e <= 5ms", NULL, 0, 10900, BSV_CANNOT_TELL, 90 },
		{ "p95 e2e <= 5ms", NULL, 0, 11048, BSV_PASS, 90 }, /* the rest of the bound passed before the
		                                                     * recording */
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct one o;

		begin_one(&o, rows[i].rule);
		run_some(&o, "a", 10050, 10950, 10, 1);
		for (uint64_t k = 0; k < 10; k++) {
			struct bsa_live_execution x = {
				.app = "a",
				.model = "net",
				.path = "burst",
				.status = rows[i].status,
				.quality = "head",
				.sides = "both",
				.began = (10960 + k) * MS,
				.open_since = rows[i].open_since_ms ? rows[i].open_since_ms * MS : BSA_LIVE_UNKNOWN,
				.e2e_ns = BSA_LIVE_UNKNOWN,
				.seen_ns = rows[i].seen_ms ? rows[i].seen_ms * MS : BSA_LIVE_UNKNOWN,
				.run_ns = 1 * MS,
				.redo_ns = BSA_LIVE_UNKNOWN,
			};

			bsv_sliding_execution(o.sliding, &x, 11050 * MS);
		}
		until(&o, 11150);
		if (o.n != 1 || o.last.result.outcome != rows[i].outcome || o.last.result.n != rows[i].n)
			fail_msg("row %zu: %s: %s (n %" PRId64 ")", i, rows[i].rule, o.last.result.why,
			         o.last.result.n);
		end_one(&o);
	}
}

static void fewer_executions_than_a_rule_needs_are_no_verdict(void **state)
{
	struct one o;

	(void)state;
	begin_one(&o, "p99 e2e <= 5ms");
	run_some(&o, "a", 10050, 11050, 20, 1); /* 50 executions: a p99 takes 100 */
	until(&o, 11150);
	assert_int_equal(o.n_of[BSV_CANNOT_TELL], 1);
	run_some(&o, "a", 11050, 12050, 10, 1);
	until(&o, 12150);
	assert_int_equal(o.last.result.outcome, BSV_PASS);
	end_one(&o);
}

static void a_window_in_which_events_were_lost_is_no_verdict(void **state)
{
	static const struct {
		uint64_t began, ended;
		unsigned n_lost; /* losses of 41 windows, from [10.05, 11.05) to [12.05, 13.05) */
	} rows[] = {
		{ 9000, 9500, 0 },    { 10060, 10070, 1 }, { 11100, 11100, 20 },
		{ 10000, 20000, 41 }, { 12999, 13040, 2 }, { 13050, 14000, 0 },
	};

	(void)state;
	for (size_t i = 0; i < N_OF(rows); i++) {
		struct one o;

		begin_one(&o, "p90 e2e <= 5ms");
		run_some(&o, "a", 10020, 13050, 10, 50);
		bsv_sliding_lost(o.sliding, rows[i].began * MS, rows[i].ended * MS, "packets are missing");
		until(&o, 13150);
		assert_int_equal(o.n, 41);
		if (o.n_lost != rows[i].n_lost || o.n_of[BSV_CANNOT_TELL] != o.n_lost ||
		    o.n_of[BSV_FAIL] != 41 - o.n_lost)
			fail_msg("row %zu: %u of 41 windows are lost, %u failed", i, o.n_lost, o.n_of[BSV_FAIL]);
		end_one(&o);
	}
}

/* More losses than the windows keep apart hide no less than a few. */
static void many_losses_hide_no_less_than_a_few(void **state)
{
	struct one o;

	(void)state;
	begin_one(&o, "p90 e2e <= 5ms");
	run_some(&o, "a", 10020, 13050, 10, 50);
	for (uint64_t i = 0; i < 1000; i++)
		bsv_sliding_lost(o.sliding, (10000 + i) * MS, (10000 + i) * MS, "packets are missing");
	until(&o, 13150);
	assert_int_equal(o.n_lost, 19); /* the windows that begin before 11 s; a later window begins at 11 s */
	end_one(&o);
}

/* Of 41 windows, from [10.05, 11.05) to [12.05, 13.05). The silence becomes known bit by bit, as it grows. */
static void a_window_in_which_a_service_was_silent_passes_nothing(void **state)
{
	static const struct {
		uint64_t took_ms;
		uint64_t began, seen, ended;
		unsigned n_silent;
	} rows[] = {
		{ 1, 10000, 10040, 10049, 0 },  { 1, 10060, 10062, 10070, 1 }, { 1, 11100, 11100, 11100, 20 },
		{ 1, 10000, 12000, 20000, 41 }, { 1, 12999, 13010, 13040, 2 }, { 1, 13050, 13500, 14000, 0 },
		{ 50, 10000, 12000, 20000, 0 }, /* what is known breaks the rule, whatever else comes */
	};

	(void)state;
	for (size_t i = 0; i < N_OF(rows); i++) {
		enum bsv_outcome otherwise = rows[i].took_ms > 5 ? BSV_FAIL : BSV_PASS;
		struct one o;

		begin_one(&o, "p90 e2e <= 5ms");
		run_some(&o, "a", 10020, 13050, 10, rows[i].took_ms);
		bsv_sliding_silent(o.sliding, rows[i].began * MS, rows[i].seen * MS);
		bsv_sliding_silent(o.sliding, rows[i].began * MS, rows[i].ended * MS);
		until(&o, 13150);
		assert_int_equal(o.n, 41);
		if (o.n_silent != rows[i].n_silent || o.n_of[BSV_CANNOT_TELL] != o.n_silent || o.n_lost ||
		    o.n_of[otherwise] != 41 - o.n_silent)
			fail_msg("row %zu: in %u of 41 windows a service is silent, %u fail, %u pass", i, o.n_silent,
			         o.n_of[BSV_FAIL], o.n_of[BSV_PASS]);
		end_one(&o);
	}
}

/* A window with both is one in which events were lost: what is silent is known only where all is known. */
static void silences_apart_are_kept_apart(void **state)
{
	struct one o;

	(void)state;
	begin_one(&o, "p90 e2e <= 5ms");
	run_some(&o, "a", 10020, 13050, 10, 1);
	for (uint64_t at = 10050; at < 10050 + 40; at += 2)
		bsv_sliding_silent(o.sliding, at * MS, (at + 1) * MS);
	bsv_sliding_silent(o.sliding, 13000 * MS, 13010 * MS);
	bsv_sliding_lost(o.sliding, 13000 * MS, 13010 * MS, "packets are missing");
	until(&o, 13150);
	assert_int_equal(o.n_silent, 1);
	assert_int_equal(o.n_lost, 1);
	end_one(&o);
}

static void a_late_execution_has_its_windows_judged_again(void **state)
{
	struct one o;

	(void)state;
	begin_one(&o, "p90 e2e <= 5ms");
	run_some(&o, "a", 10050, 12050, 10, 1);
	until(&o, 12150);
	assert_int_equal(o.n_of[BSV_PASS], 21);
	for (unsigned i = 0; i < 30; i++) /* the executions began in the last window, and ended now */
		run_one(&o, "a", 11900, 1000);
	until(&o, 12950);
	assert_int_equal(o.n_of[BSV_FAIL], 18 - 1 + 2); /* the windows that hold them: those from 11.95 s on */
	run_one(&o, "a", 5000, 7000);
	assert_int_equal(bsv_sliding_too_late(o.sliding), 1);
	until(&o, 12960);
	end_one(&o);
}

static void an_app_that_comes_and_goes_is_judged_while_it_is_there(void **state)
{
	struct one o;

	(void)state;
	begin_one(&o, "p90 e2e of app=guest <= 5ms");
	run_some(&o, "host", 10020, 14050, 10, 50);
	run_some(&o, "guest", 12000, 12500, 10, 50);
	until(&o, 14150);
	assert_int_equal(o.n, 61);
	assert_int_equal(o.n_of[BSV_PASS], 0);
	assert_int_equal(o.n_of[BSV_FAIL],
	                 29); /* windows with 50 ms of it or more: five executions are too few for a p90, 6
	                       * would be enough; a p90 takes 10 */
	assert_int_equal(o.n_of[BSV_CANNOT_TELL], 32);
	end_one(&o);
}

/* ---- conditions ---- */

static void read_conditions(struct bsv_condition ret[], const char *const texts[], size_t n)
{
	struct bsa_err err = { "" };

	for (size_t i = 0; i < n; i++)
		if (bsv_condition_read(&ret[i], texts[i], &err) < 0)
			fail_msg("%s: %s", texts[i], err.text);
}

static void a_condition_fires_for_longer_waits_of_its_app(void **state)
{
	static const char *const texts[] = { "starvation>200ms", "starvation>50ms:app=camera", "inversion>5ms",
		                             "miss" };
	struct bsv_condition conditions[N_OF(texts)];
	struct bsv_folded folded[BSV_CONDITIONS_MOST];
	struct bsa_live_options options = { .directory = "" };
	struct bsa_live_starved s = { .app = "camera", .model = "net", .ended = 7, .gap_ns = 200 * MS };
	struct bsv_folding *f;

	(void)state;
	read_conditions(conditions, texts, N_OF(texts));
	assert_int_equal(bsv_folding_new(&f, conditions, N_OF(texts), 1000 * MS, NULL), 0);
	bsv_folding_options(f, &options);
	assert_true(options.starvation_ns == 50 * MS); /* the fold reports such waits */
	options.calls.starved(options.calls.ctx, &s);
	s.app = "other";
	s.gap_ns++;
	options.calls.starved(options.calls.ctx, &s);
	options.calls.inverted(options.calls.ctx, 9, 5 * MS);
	options.calls.inverted(options.calls.ctx, 10, 5 * MS + 1);
	bsv_folding_get(f, folded);
	assert_int_equal(folded[0].fired, 1);
	assert_int_equal(folded[1].fired, 1);
	assert_int_equal(folded[2].fired, 1);
	assert_true(folded[2].to == 10 && !folded[2].from);
	assert_int_equal(folded[3].fired, 0);
	bsv_folding_free(f);
}

int main(void)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test_setup(each_window_is_judged_as_check_judges_that_time, folder_begin),
		cmocka_unit_test(a_window_that_began_before_the_recording_is_not_judged),
		cmocka_unit_test(executions_without_their_beginning_may_break_a_rule),
		cmocka_unit_test(fewer_executions_than_a_rule_needs_are_no_verdict),
		cmocka_unit_test(a_window_in_which_events_were_lost_is_no_verdict),
		cmocka_unit_test(many_losses_hide_no_less_than_a_few),
		cmocka_unit_test(a_window_in_which_a_service_was_silent_passes_nothing),
		cmocka_unit_test(silences_apart_are_kept_apart),
		cmocka_unit_test(a_late_execution_has_its_windows_judged_again),
		cmocka_unit_test(an_app_that_comes_and_goes_is_judged_while_it_is_there),
		cmocka_unit_test(a_condition_fires_for_longer_waits_of_its_app),
	};

	return cmocka_run_group_tests(all, folders_make, folders_remove);
}
