/*
 * test_ordered.c -- records of several sequences come once each, in the order of time, those of one time by rank; what
 * comes before its time is up, or too late, is as ordered.h has it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "decode/ordered.h"

enum { SEQUENCES = 3, RECORDS_MAX = BSA_TIES_MAX };

/* A sequence of rank @rank: of each record its time, and its kind. */
struct sequence {
	uint64_t rank;
	const uint64_t *times;
	enum bsa_kind kind; /* a loss, or a kind whose records begin with an execution: then that is 1 */
	size_t n, next;
};

struct source {
	struct sequence sequences[SEQUENCES];
	struct bsa_head heads[SEQUENCES];
	struct bsa_ordered ordered;
	size_t fails; /* number of the step that fails; 0: none does */
	struct {
		struct bsa_event event;
		union {
			struct bsa_loss loss;
			uint64_t exec;
			char bytes[BSA_RECORD_MAX];
		};
	} record;
};

/* A record has the number of its sequence as its trace, and its own as its count of events. */
static int step(void *owner, struct bsa_head *head, const struct bsa_event **ret, struct bsa_err *err)
{
	struct source *source = owner;
	struct sequence *s = &source->sequences[head->who];

	if (source->fails && !--source->fails)
		return bsa_fail(err, BSA_E_INPUT, "step");
	source->record.event =
		(struct bsa_event){ .at = s->times[s->next], .trace = (uint32_t)head->who, .kind = s->kind };
	memset(source->record.bytes, 0, sizeof(source->record.bytes));
	if (s->kind == BSA_loss) {
		source->record.event.size = sizeof(source->record.event) + sizeof(source->record.loss);
		source->record.loss = (struct bsa_loss){ .ended = s->times[s->next], .events = s->next };
	} else {
		source->record.event.size = BSA_RECORD_MAX;
		source->record.exec = 1;
	}
	*ret = &source->record.event;
	if (++s->next == s->n)
		return 0;
	head->at = s->times[s->next];
	return 1;
}

static void add_sequence(struct source *source, size_t who, uint64_t rank, const uint64_t *times, size_t n)
{
	source->sequences[who] = (struct sequence){ .rank = rank, .times = times, .kind = BSA_loss, .n = n };
	bsa_merge_add(&source->ordered.merge, (struct bsa_head){ .at = times[0], .rank = rank, .who = who });
}

static struct source *source_new(void)
{
	struct source *source = calloc(1, sizeof(*source));

	assert_non_null(source);
	source->ordered =
		(struct bsa_ordered){ .merge.heap = source->heads, .ties = bsa_ties_new(), .until = BSA_NEVER };
	assert_non_null(source->ordered.ties);
	return source;
}

static void source_free(struct source *source)
{
	bsa_ties_free(source->ordered.ties);
	free(source);
}

static void expect_record(struct source *source, size_t who, uint64_t number)
{
	const struct bsa_event *e = NULL;

	assert_int_equal(bsa_ordered_next(&source->ordered, step, source, &e, NULL), 1);
	assert_int_equal(e->trace, who);
	assert_int_equal(BSA_OF(e, loss)->events, number);
	assert_int_equal(e->at, source->sequences[who].times[number]);
}

static void expect_none(struct source *source)
{
	const struct bsa_event *e;

	assert_int_equal(bsa_ordered_next(&source->ordered, step, source, &e, NULL), 0);
}

static void records_of_one_time_come_by_rank(void **state)
{
	static const uint64_t first[] = { 10, 10, 20 }, second[] = { 10, 20, 20 };
	struct source *source = source_new();

	(void)state;
	add_sequence(source, 0, 2, first, 3);
	add_sequence(source, 1, 1, second, 3);
	expect_record(source, 1, 0);
	expect_record(source, 0, 0);
	expect_record(source, 0, 1);
	expect_record(source, 1, 1);
	expect_record(source, 1, 2);
	expect_record(source, 0, 2);
	expect_none(source);
	expect_none(source);
	assert_int_equal(source->ordered.late, 0);
	source_free(source);
}

static void a_time_that_was_not_seen_comes_first(void **state)
{
	static const uint64_t stream[] = { 10, 20, 20 }, unseen[] = { 10, 10, 20 };
	struct source *source = source_new();

	(void)state;
	add_sequence(source, 0, 1, stream, 3);
	add_sequence(source, 1, 0, unseen, 3);
	expect_record(source, 1, 0);
	expect_record(source, 1, 1);
	expect_record(source, 0, 0);
	expect_record(source, 1, 2);
	expect_record(source, 0, 1);
	expect_record(source, 0, 2);
	expect_none(source);
	source_free(source);
}

static void a_record_waits_for_its_time(void **state)
{
	static const uint64_t first[] = { 10, 20 }, second[] = { 20, 30 };
	struct source *source = source_new();

	(void)state;
	add_sequence(source, 0, 1, first, 2);
	add_sequence(source, 1, 2, second, 2);
	source->ordered.until = 10;
	expect_none(source);
	source->ordered.until = 20;
	expect_record(source, 0, 0);
	expect_none(source);
	source->ordered.until = 21;
	expect_record(source, 0, 1);
	source->ordered.until = 0; /* what was taken as a tie comes, whatever the time */
	expect_record(source, 1, 0);
	expect_none(source);
	source->ordered.until = BSA_NEVER;
	expect_record(source, 1, 1);
	expect_none(source);
	source_free(source);
}

static void a_late_record_is_counted(void **state)
{
	static const uint64_t first[] = { 10, 20, 30 }, second[] = { 12, 18, 30 }, unseen[] = { 15 };
	struct source *source = source_new();

	(void)state;
	add_sequence(source, 0, 1, first, 3);
	expect_record(source, 0, 0);
	expect_record(source, 0, 1);
	add_sequence(source, 1, 2, second, 3);
	add_sequence(source, 2, 0, unseen, 1);
	expect_record(source, 1, 0);
	expect_record(source, 2, 0);
	expect_record(source, 1, 1);
	expect_record(source, 0, 2);
	expect_record(source, 1, 2);
	expect_none(source);
	assert_int_equal(source->ordered.late, 2);
	assert_int_equal(source->ordered.late_ns, 8);
	source_free(source);
}

/* The effect of the first sequence comes after its cause of the second one, though a late record is between them. */
static void a_late_record_does_not_end_a_tie(void **state)
{
	static const uint64_t first[] = { 10, 5 }, second[] = { 10 };
	struct source *source = source_new();
	const struct bsa_event *e;

	(void)state;
	add_sequence(source, 0, 1, first, 2);
	add_sequence(source, 1, 2, second, 1);
	source->sequences[0].kind = BSA_exec_return;
	source->sequences[1].kind = BSA_exec_submit;
	for (size_t i = 0; i < 3; i++) {
		assert_int_equal(bsa_ordered_next(&source->ordered, step, source, &e, NULL), 1);
		assert_int_equal(e->kind, i ? BSA_exec_return : BSA_exec_submit);
		assert_int_equal(e->at, i == 2 ? 5 : 10);
	}
	expect_none(source);
	assert_int_equal(source->ordered.late, 1);
	assert_int_equal(source->ordered.late_ns, 5);
	source_free(source);
}

/* More records of one time than ties.h takes at once: each one comes, after those of its sequence before it. */
static void no_record_of_many_ties_is_lost(void **state)
{
	uint64_t times[RECORDS_MAX], seen[SEQUENCES] = { 0 }, last = 0;
	struct source *source = source_new();
	const struct bsa_event *e;

	(void)state;
	for (size_t i = 0; i < RECORDS_MAX; i++)
		times[i] = 10 + i / (RECORDS_MAX / 2);
	for (size_t i = 0; i < SEQUENCES; i++)
		add_sequence(source, i, i + 1, times, RECORDS_MAX);
	while (bsa_ordered_next(&source->ordered, step, source, &e, NULL) > 0) {
		assert_int_equal(BSA_OF(e, loss)->events, seen[e->trace]++);
		assert_true(e->at >= last);
		last = e->at;
	}
	for (size_t i = 0; i < SEQUENCES; i++)
		assert_int_equal(seen[i], RECORDS_MAX);
	source_free(source);
}

static void an_error_of_a_step_is_returned(void **state)
{
	static const uint64_t first[] = { 10, 10, 10 };
	static const struct bsa_event untouched;

	(void)state;
	for (size_t fails = 1; fails <= 3; fails++) {
		struct source *source = source_new();
		struct bsa_err err = { "" };
		const struct bsa_event *e = &untouched;

		source->fails = fails;
		add_sequence(source, 0, 1, first, 3);
		assert_int_equal(bsa_ordered_next(&source->ordered, step, source, &e, &err), BSA_E_INPUT);
		assert_string_equal(err.text, "step");
		assert_ptr_equal(e, &untouched);
		source_free(source);
	}
}

int main(void)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(records_of_one_time_come_by_rank),
		cmocka_unit_test(a_time_that_was_not_seen_comes_first),
		cmocka_unit_test(a_record_waits_for_its_time),
		cmocka_unit_test(a_late_record_is_counted),
		cmocka_unit_test(a_late_record_does_not_end_a_tie),
		cmocka_unit_test(no_record_of_many_ties_is_lost),
		cmocka_unit_test(an_error_of_a_step_is_returned),
	};

	return cmocka_run_group_tests(all, NULL, NULL);
}
