/*
 * test_fold_bounds.c -- the memory, time and delay of a fold, and its numbering: properties that the cases of
 * analyzer/folds cannot show.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "analyzer/expect.h"
#include "analyzer/fold_file.h"
#include "base.h"

static struct fold_file scripts;

static const struct fold_case *case_named(const char *name)
{
	for (size_t i = 0; i < scripts.n_cases; i++)
		if (!strcmp(scripts.cases[i].name, name))
			return &scripts.cases[i];
	fail_msg("%s: no such case", name);
	abort();
}

/* More events than the fold keeps back after a gap: a hole, although none of these events was lost. */
static void what_is_kept_back_is_bounded(void **state)
{
	enum { MANY = 200000 };
	static const char line[] = "+1 exec_submit exec=4:1 path=sync\n";
	const char *gap = case_named("a gap")->script;
	char *script = malloc(strlen(gap) + MANY * strlen(line) + 1);
	char *end = script;
	struct folded f;

	(void)state;
	assert_non_null(script);
	end = stpcpy(end, gap);
	for (int i = 0; i < MANY; i++)
		end = stpcpy(end, line);
	fold_script(&f, script, &(struct bsa_fold_options){ 0 });
	assert_true(expect_facts("many", &f, "1 lost\nlost began=11 ended=30"));
	folded_fini(&f);
	free(script);
}

static double cpu_seconds(void)
{
	return (double)thread_cpu_ns() / 1e9;
}

/* The events of an execution until it is on the lane. */
static void print_until_dispatched(FILE *to, unsigned at, unsigned stream, unsigned n, unsigned app)
{
	fprintf(to,
	        "%u exec_submit exec=%u:%u path=burst model=2\n%u fmq_write exec=%u:%u queue=request\n"
	        "%u fmq_read exec=%u:%u queue=request\n%u request_decode exec=%u:%u model=2\n"
	        "%u sched_enqueue exec=%u:%u model=2 app=%u priority=high\n%u sched_dispatch exec=%u:%u lane=0\n",
	        at, stream, n, at + 10, stream, n, at + 20, stream, n, at + 30, stream, n, at + 40, stream, n, app,
	        at + 50, stream, n);
}

/*
 * One service completes ROUNDS executions. If @dies, another service stopped after it had dispatched an
 * execution, for which the schedule waits. Returns seconds.
 */
static double fold_beside(bool dies)
{
	enum { ROUNDS = 16000, DEAD = 10 };
	char *text = NULL;
	size_t bytes;
	FILE *to = open_memstream(&text, &bytes);
	struct folded f;
	double began;

	for (unsigned i = 1; i <= 2; i++)
		fprintf(to,
		        "%u service_state pid=%u lanes=1 instance=%u\n%u client_connect conn=%u pid=%u uid=1 app=%u "
		        "name=a\n"
		        "%u stream_open stream=%u conn=%u path=burst model=%u\n",
		        i, i, i, i, (i << 20) + 1, i + 20, i + 20, i, (i << 20) + 3, (i << 20) + 1, (i << 20) + 2);
	if (dies)
		print_until_dispatched(to, 100, 0x100003, 1, 21);
	for (unsigned i = 2; dies && i <= 1 + DEAD; i++)
		fprintf(to,
		        "%u exec_submit exec=0x100003:%u path=burst model=2\n%u exec_return exec=0x100003:%u "
		        "status=dead_object\n",
		        200 + i, i, 200 + i, i);
	for (unsigned i = 1; i <= ROUNDS; i++) {
		print_until_dispatched(to, 100 * (10 + i), 0x200003, i, 22);
		fprintf(to,
		        "%u exec_end exec=0x200003:%u lane=0\n%u fmq_write exec=0x200003:%u queue=result\n"
		        "%u fmq_read exec=0x200003:%u queue=result\n%u exec_return exec=0x200003:%u\n",
		        100 * (10 + i) + 60, i, 100 * (10 + i) + 70, i, 100 * (10 + i) + 80, i, 100 * (10 + i) + 90, i);
	}
	fclose(to);
	began = cpu_seconds();
	fold_script(&f, text, NULL);
	began = cpu_seconds() - began;
	assert_int_equal(f.facts.execution.n, ROUNDS + (1 + DEAD) * dies);
	folded_fini(&f);
	free(text);
	return began;
}

/* Events of one service must not search what waits for another service. */
static void a_service_that_stops_emitting_does_not_delay_others(void **state)
{
	double alone = fold_beside(false), beside = fold_beside(true);

	(void)state;
	print_message("%.3f s, and %.3f s beside one that is not heard again\n", alone, beside);
	assert_true(beside < 4 * alone + 0.05);
}

static void ids_go_on_after_the_last_ones(void **state)
{
	const struct bsa_fold_options options = { .last = { .execution = 10,
		                                            .mapping = 20,
		                                            .app = 30,
		                                            .process = 40,
		                                            .model = 50,
		                                            .stream = 60,
		                                            .buffer = 70 } };
	struct folded f;

	(void)state;
	fold_script(&f, case_named("an execution, a mapping and a buffer")->script, &options);
	assert_int_equal(f.facts.execution.items[0].id, 11);
	assert_int_equal(f.facts.mapping.items[0].id, 21);
	assert_int_equal(f.facts.app.items[0].id, 31);
	assert_int_equal(f.facts.process.items[0].id, 41);
	assert_int_equal(f.facts.model.items[0].id, 51);
	assert_int_equal(f.facts.stream.items[0].id, 61);
	assert_int_equal(f.facts.buffer.items[0].id, 71);
	assert_int_equal(f.last.execution, 11);
	assert_int_equal(f.last.mapping, 21);
	assert_int_equal(f.last.app, 31);
	assert_int_equal(f.last.process, 42);
	assert_int_equal(f.last.model, 51);
	assert_int_equal(f.last.stream, 64);
	assert_int_equal(f.last.buffer, 71);
	folded_fini(&f);
}

/*
 * The number of executions of that case that a fold has reported @quiet_ns after the last record and before its
 * end.
 */
static size_t reported_when_quiet(const char *name, uint64_t quiet_ns, bool *ret_doubts)
{
	const struct fold_case *one = case_named(name);
	struct script *s = script_new(one->script);
	struct collected c = { .app = { 0 } };
	struct bsa_facts facts = collect_facts(&c);
	struct bsa_fold *f = bsa_fold_new(&facts, &one->options);
	const struct bsa_event *e;
	uint64_t last = 0;
	size_t n;

	assert_non_null(f);
	while ((e = script_next(s))) {
		assert_int_equal(bsa_fold_event(f, e), 0);
		last = e->at;
	}
	assert_int_equal(bsa_fold_quiet(f, last + quiet_ns), 0);
	n = c.execution.n;
	*ret_doubts = bsa_fold_passed_doubts(f);
	assert_int_equal(bsa_fold_finish(f), 0);
	bsa_fold_free(f);
	script_free(s);
	collect_fini(&c);
	return n;
}

static void an_ended_execution_is_reported_in_quiet_times(void **state)
{
	static const char over[] = "one that is over", beside[] = "one that is over, beside one that goes on";
	bool doubts;

	(void)state;
	/* without numbers, each open stream may have an execution under way */
	assert_int_equal(reported_when_quiet(over, 30000, &doubts), 0);
	assert_false(doubts);
	assert_int_equal(reported_when_quiet(over, 30001, &doubts), 1);
	assert_true(doubts);
	assert_int_equal(reported_when_quiet(beside, 30000, &doubts), 0);
	assert_false(doubts);
	assert_int_equal(reported_when_quiet(beside, 30001, &doubts), 1);
	assert_true(doubts);
}

/* What is awaited 300 ms after the last record of @script. */
static struct bsa_awaited awaited_after(const char *script)
{
	struct script *s = script_new(script);
	struct collected c = { .app = { 0 } };
	struct bsa_facts facts = collect_facts(&c);
	struct bsa_fold *f = bsa_fold_new(&facts, &(struct bsa_fold_options){ 0 });
	const struct bsa_event *e;
	struct bsa_awaited ret;
	uint64_t last = 0;

	assert_non_null(f);
	while ((e = script_next(s))) {
		assert_int_equal(bsa_fold_event(f, e), 0);
		last = e->at;
	}
	ret = bsa_fold_awaited(f, last + 300000000);
	bsa_fold_free(f);
	script_free(s);
	collect_fini(&c);
	return ret;
}

#define SERVICE                                                        \
	"1000 service_state pid=9 lanes=1\n"                           \
	"1001 client_connect conn=1 pid=20 uid=1000 app=20 name=cam\n" \
	"1002 stream_open stream=3 conn=1 path=sync model=2\n"

static void a_silence_begins_with_the_request_that_ends_an_idle_time(void **state)
{
	struct bsa_awaited a;

	(void)state;
	a = awaited_after(SERVICE "10000000000 exec_submit exec=3:1 path=sync model=2\n"
	                          "10000000010 fmq_write exec=3:1 queue=request\n");
	assert_int_equal(a.n, 1);
	assert_int_equal(a.unheard, 10000000010);
	assert_int_equal(a.stalled, 10000000010);

	/* the service has read it since */
	a = awaited_after(SERVICE "10000000000 exec_submit exec=3:1 path=sync model=2\n"
	                          "10000000010 fmq_write exec=3:1 queue=request\n"
	                          "10000000030 fmq_read exec=3:1 queue=request\n");
	assert_int_equal(a.unheard, 10000000030);
	assert_int_equal(a.stalled, 10000000030);

	/* its client has not written it yet */
	a = awaited_after(SERVICE "10000000000 exec_submit exec=3:1 path=sync model=2\n");
	assert_int_equal(a.n, 1);
	assert_int_equal(a.unheard, 0);
	assert_int_equal(a.stalled, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_kept_back_is_bounded),
		cmocka_unit_test(a_service_that_stops_emitting_does_not_delay_others),
		cmocka_unit_test(ids_go_on_after_the_last_ones),
		cmocka_unit_test(an_ended_execution_is_reported_in_quiet_times),
		cmocka_unit_test(a_silence_begins_with_the_request_that_ends_an_idle_time),
	};

	int failed;

	fold_file_read(&scripts, FOLDS "/common.fold");
	fold_file_read(&scripts, FOLDS "/bounds.fold");
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	fold_file_fini(&scripts);
	return failed;
}
