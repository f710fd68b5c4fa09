/*
 * test_terms.c -- admission by deadline, and estimates of a model's time, by hand.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base.h"
#include "policy/estimate.h"
#include "policy/terms.h"

#define NEVER NNB__NEVER
#define ABORT NNB_DEADLINES_ABORT
#define REFUSE NNB_DEADLINES_REFUSE
#define ADVISE NNB_DEADLINES_ADVISE

/* ---- deadlines ---- */

static void it_is_admitted_if_the_least_it_takes_fits_behind_those_before_it(void **state) /* */
{
	static const struct {
		const char *says;
		enum nnb_deadlines deadlines;
		uint64_t deadline, now, least, wait;
		enum nnb__admission want;
	} rows[] = {
		{ "without a deadline there is nothing to miss", ABORT, NEVER, 900, 500, 500, NNB__ADMITTED },
		{ "advice refuses nothing", ADVISE, 100, 900, 500, 500, NNB__ADMITTED },
		{ "it is over at the deadline itself", ABORT, 900, 900, 0, 0, NNB__PASSED },
		{ "and after it", REFUSE, 900, 901, 0, 0, NNB__PASSED },
		{ "just enough time is enough", ABORT, 1000, 900, 100, 0, NNB__ADMITTED },
		{ "a little less is not, even alone", ABORT, 1000, 901, 100, 0, NNB__TOO_LONG },
		{ "which is said first", ABORT, 1000, 901, 100, 5000, NNB__TOO_LONG },
		{ "just behind the others is in time", REFUSE, 1000, 900, 40, 60, NNB__ADMITTED },
		{ "a little further behind is not", REFUSE, 1000, 900, 40, 61, NNB__TOO_FULL },
		{ "an endless wait is no short one", ABORT, 1000, 900, 40, NEVER, NNB__TOO_FULL },
		{ "what is unknown is no reason to refuse", ABORT, 1000, 999, 0, 0, NNB__ADMITTED },
	};

	(void)state;
	for (size_t i = 0; i < N_OF(rows); i++)
		if (nnb__admission(rows[i].deadlines, rows[i].deadline, rows[i].now, rows[i].least, rows[i].wait) !=
		    rows[i].want)
			fail_msg("%s", rows[i].says);
}

static void a_deadline_that_has_passed_gains_no_place(void **state)
{
	(void)state;
	assert_int_equal(nnb__ordered_by(1000, 999), 1000);
	assert_int_equal(nnb__ordered_by(1000, 1000), NEVER);
	assert_int_equal(nnb__ordered_by(1, 1000), NEVER);
	assert_int_equal(nnb__ordered_by(NEVER, 1000), NEVER);
}

static void it_waits_as_long_as_it_can_still_be_in_time(void **state)
{
	(void)state;
	assert_int_equal(nnb__waits_until(ABORT, 1000, 300), 700);
	assert_int_equal(nnb__waits_until(REFUSE, 1000, 300), 700);
	assert_int_equal(nnb__waits_until(ADVISE, 1000, 300), NEVER);
	assert_int_equal(nnb__waits_until(ABORT, NEVER, 300), NEVER);
	assert_int_equal(nnb__waits_until(ABORT, 1000, 1000), 0);
	assert_int_equal(nnb__waits_until(ABORT, 1000, 1001), 0);
}

static void only_where_deadlines_abort_is_anything_given_up(void **state)
{
	(void)state;
	assert_int_equal(nnb__given_up_for(ABORT, 1000), 1000);
	assert_int_equal(nnb__given_up_for(REFUSE, 1000), NEVER);
	assert_int_equal(nnb__given_up_for(ADVISE, 1000), NEVER);
	assert_int_equal(nnb__too_late(NEVER, 400), NEVER);
	assert_int_equal(nnb__too_late(1000, 400), 600);
	assert_int_equal(nnb__too_late(300, 400), 0);
}

static void at_a_checkpoint_giving_up_comes_before_making_room(void **state)
{
	(void)state;
	assert_int_equal(nnb__at_checkpoint(10, NEVER, NEVER), NNB__GOES_ON);
	assert_int_equal(nnb__at_checkpoint(10, 11, 11), NNB__GOES_ON);
	assert_int_equal(nnb__at_checkpoint(10, 11, 10), NNB__IS_ASKED);
	assert_int_equal(nnb__at_checkpoint(10, 10, 11), NNB__GIVES_UP);
	assert_int_equal(nnb__at_checkpoint(10, 10, 10), NNB__GIVES_UP);
	assert_true(nnb__leaves_inside(NNB_PREEMPT_SAVE));
	assert_false(nnb__leaves_inside(NNB_PREEMPT_RESTART));
	assert_false(nnb__leaves_inside(NNB_PREEMPT_NONE));
}

/* ---- estimates ---- */

static void a_floor_goes_down_and_an_estimate_follows_by_eighths(void **state)
{
	struct nnb__estimate e = { .fixed = true, .floor_ns = 900, .lately_ns = 1000 };

	(void)state;
	assert_int_equal(nnb__estimate_least(&e), 450); /* no run has confirmed the estimate */
	nnb__estimate_learn(&e, 1800);
	assert_int_equal(e.floor_ns, 900);
	assert_int_equal(e.lately_ns, 1100);
	assert_int_equal(nnb__estimate_least(&e), 675);
	nnb__estimate_learn(&e, 800);
	assert_int_equal(e.floor_ns, 800);
	assert_int_equal(e.lately_ns, 1100 - 137 + 100);
	assert_int_equal(nnb__estimate_least(&e), 600);
}

static void what_was_cut_short_is_no_floor(void **state)
{
	struct nnb__estimate e = { .fixed = true, .floor_ns = 500 }; /* no estimate is left */

	(void)state;
	nnb__estimate_learn(&e, 1600);
	assert_int_equal(e.floor_ns, 1600);
	assert_int_equal(e.lately_ns, 1600);
}

static void a_model_of_many_shapes_has_no_floor(void **state)
{
	struct nnb__estimate e = { 0 };

	(void)state;
	nnb__estimate_learn(&e, 1600);
	nnb__estimate_learn(&e, 800);
	assert_int_equal(e.floor_ns, 0);
	assert_int_equal(nnb__estimate_least(&e), 0);
	assert_int_equal(e.lately_ns, 1500);
}

static void the_rest_is_a_part_of_the_least(void **state)
{
	(void)state;
	assert_int_equal(nnb__estimate_rest(1000, 1), 1000);
	assert_int_equal(nnb__estimate_rest(1000, 0.25F), 250);
	assert_int_equal(nnb__estimate_rest(1000, 0), 0);
}

static void runs_that_are_long_or_first_or_of_a_sample_are_timed(void **state)
{
	const struct nnb__estimate of_10 = { .lately_ns = 10 }, of_50000 = { .lately_ns = 50000 },
				   of_49999 = { .floor_ns = 50000, .lately_ns = 49999 },
				   stopped_after_50000 = { .floor_ns = 50000 };

	(void)state;
	assert_true(nnb__estimate_is_long(&of_50000));
	assert_false(nnb__estimate_is_long(&of_49999));
	assert_true(nnb__estimate_is_long(&stopped_after_50000)); /* a trial run without an end */
	assert_true(nnb__estimate_due(&of_10, 15));
	assert_false(nnb__estimate_due(&of_10, 16));
	assert_true(nnb__estimate_due(&of_10, 128));
	assert_false(nnb__estimate_due(&of_10, 129));
	assert_true(nnb__estimate_due(&of_50000, 129));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_is_admitted_if_the_least_it_takes_fits_behind_those_before_it),
		cmocka_unit_test(a_deadline_that_has_passed_gains_no_place),
		cmocka_unit_test(it_waits_as_long_as_it_can_still_be_in_time),
		cmocka_unit_test(only_where_deadlines_abort_is_anything_given_up),
		cmocka_unit_test(at_a_checkpoint_giving_up_comes_before_making_room),
		cmocka_unit_test(a_floor_goes_down_and_an_estimate_follows_by_eighths),
		cmocka_unit_test(what_was_cut_short_is_no_floor),
		cmocka_unit_test(a_model_of_many_shapes_has_no_floor),
		cmocka_unit_test(the_rest_is_a_part_of_the_least),
		cmocka_unit_test(runs_that_are_long_or_first_or_of_a_sample_are_timed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
