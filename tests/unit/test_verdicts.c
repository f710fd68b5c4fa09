/* test_verdicts.c -- what facts come to: at each bound and one beyond it, with losses, and with too little to tell. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "audit/verdicts.h"

#define MS(n) ((int64_t)((n)*1e6))

static void is(const char *story, enum bsv_outcome got, enum bsv_outcome wanted)
{
	if (got != wanted)
		fail_msg("%s: %s, and not %s", story, bsv_outcome_name(got), bsv_outcome_name(wanted));
}

/* ---- fairness ---- */

static const struct {
	const char *story;
	struct bsv_fairness_facts facts;
	double bound;
	enum bsv_outcome outcome;
} fairness[] = {
	/* clang-format off */
	{ "two apps on one lane may lag two stretches and a millisecond",
	  { .apps = 2, .lanes = 1, .max_lag_ns = MS(5), .stretch_ns = MS(2) }, 5e6, BSV_PASS },
	{ "and not a nanosecond more",
	  { .apps = 2, .lanes = 1, .max_lag_ns = MS(5) + 1, .stretch_ns = MS(2) }, 5e6, BSV_FAIL },
	{ "as may three",
	  { .apps = 3, .lanes = 1, .max_lag_ns = MS(5), .stretch_ns = MS(2) }, 5e6, BSV_PASS },
	{ "four apps: 1 + 1/2 + 1/3 is still less than two",
	  { .apps = 4, .lanes = 1, .max_lag_ns = MS(5) + 1, .stretch_ns = MS(2) }, 5e6, BSV_FAIL },
	{ "five apps: 1 + 1/2 + 1/3 + 1/4 stretches and half milliseconds",
	  { .apps = 5, .lanes = 1, .max_lag_ns = 5208333, .stretch_ns = MS(2) }, 2.5e6 * 25 / 12, BSV_PASS },
	{ "and not a nanosecond more",
	  { .apps = 5, .lanes = 1, .max_lag_ns = 5208334, .stretch_ns = MS(2) }, 2.5e6 * 25 / 12, BSV_FAIL },
	{ "two apps on two lanes: twice one stretch and half a millisecond",
	  { .apps = 2, .lanes = 2, .max_lag_ns = MS(5), .stretch_ns = MS(2) }, 5e6, BSV_PASS },
	{ "three apps on two lanes: three of them",
	  { .apps = 3, .lanes = 2, .max_lag_ns = MS(7.5), .stretch_ns = MS(2) }, 7.5e6, BSV_PASS },
	{ "and not a nanosecond more",
	  { .apps = 3, .lanes = 2, .max_lag_ns = MS(7.5) + 1, .stretch_ns = MS(2) }, 7.5e6, BSV_FAIL },
	{ "a lane that can always be had: a millisecond",
	  { .apps = 2, .lanes = 1, .max_lag_ns = MS(1), .stretch_ns = 0 }, 1e6, BSV_PASS },
	{ "more lanes than anybody knows of are as one",
	  { .apps = 2, .lanes = 0, .max_lag_ns = MS(5), .stretch_ns = MS(2) }, 5e6, BSV_PASS },
	{ "one app alone is fair, however far behind",
	  { .apps = 1, .lanes = 1, .max_lag_ns = MS(5000), .stretch_ns = MS(2) }, 5e6, BSV_PASS },
	{ "with losses there may have been others",
	  { .apps = 1, .lanes = 1, .max_lag_ns = 0, .stretch_ns = MS(2), .losses = true }, 5e6, BSV_CANNOT_TELL },
	{ "nobody to judge by", { .lanes = 1 }, 1e6, BSV_CANNOT_TELL },
	{ "what is fair as far as it was seen may not have been",
	  { .apps = 2, .lanes = 1, .max_lag_ns = 0, .stretch_ns = MS(2), .losses = true }, 5e6, BSV_CANNOT_TELL },
	{ "a lag that was seen is no less of one for losses elsewhere",
	  { .apps = 2, .lanes = 1, .max_lag_ns = MS(5) + 1, .stretch_ns = MS(2), .losses = true }, 5e6, BSV_FAIL },
	{ "numbers without bounds", { .apps = INT64_MAX, .lanes = INT64_MAX, .max_lag_ns = INT64_MAX, .stretch_ns = INT64_MAX },
	  NAN, BSV_PASS },
	/* clang-format on */
};

static void fairness_is_judged_by_the_largest_lag(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(fairness) / sizeof(*fairness); i++) {
		struct bsv_judgement j;

		bsv_rule_fairness(&j, &fairness[i].facts, NULL);
		is(fairness[i].story, j.rules[0].outcome, fairness[i].outcome);
		assert_int_equal(j.n, 1);
		assert_string_equal(j.rules[0].name, "max_lag_ns");
		assert_true(j.rules[0].figure == (double)fairness[i].facts.max_lag_ns);
		if (!isnan(fairness[i].bound))
			assert_true(fabs(j.rules[0].bound - fairness[i].bound) < 1);
		assert_non_null(j.rules[0].why);
		assert_true(*j.rules[0].why);
	}
}

static void a_bound_that_is_given_holds_instead(void **state)
{
	const struct bsv_bounds bounds = { .lag = { true, MS(3) } };
	struct bsv_fairness_facts f = { .apps = 2, .lanes = 1, .max_lag_ns = MS(3), .stretch_ns = MS(100) };
	struct bsv_judgement j;

	(void)state;
	bsv_rule_fairness(&j, &f, &bounds);
	is("equal to it", j.rules[0].outcome, BSV_PASS);
	f.max_lag_ns++;
	f.app = "an app with a name";
	bsv_rule_fairness(&j, &f, &bounds);
	is("above it", j.rules[0].outcome, BSV_FAIL);
	assert_non_null(strstr(j.rules[0].why, "an app with a name"));
	assert_null(strstr(j.rules[0].why, "100")); /* it is not by that */
}

static void a_bound_of_nothing_is_one(void **state)
{
	const struct bsv_bounds bounds = { .lag = { true, 0 } };
	const struct bsv_fairness_facts f = { .apps = 2, .lanes = 1, .max_lag_ns = 1, .stretch_ns = MS(1) };
	struct bsv_judgement j;

	(void)state;
	bsv_rule_fairness(&j, &f, &bounds);
	is("one ns above 0", j.rules[0].outcome, BSV_FAIL);
}

/* ---- starvation ---- */

static const struct {
	const char *story;
	struct bsv_starvation_facts facts;
	enum bsv_outcome outcome;
} starvation[] = {
	{ "nobody was", { .executions = 1 }, BSV_PASS },
	{ "one time is enough", { .episodes = 1, .max_gap_ns = MS(101), .executions = 1000000 }, BSV_FAIL },
	{ "nobody was, as far as it was seen", { .executions = 1000, .losses = true }, BSV_CANNOT_TELL },
	{ "somebody was, whatever was not seen", { .episodes = 1, .executions = 5, .losses = true }, BSV_FAIL },
	{ "nobody there", { 0 }, BSV_CANNOT_TELL },
};

static void starvation_is_judged_by_episodes(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(starvation) / sizeof(*starvation); i++) {
		struct bsv_judgement j;

		bsv_rule_starvation(&j, &starvation[i].facts, NULL);
		is(starvation[i].story, j.rules[0].outcome, starvation[i].outcome);
		assert_string_equal(j.rules[0].name, "starvation_episodes");
		assert_true(j.rules[0].figure == (double)starvation[i].facts.episodes && j.rules[0].bound == 0);
		assert_true(*j.rules[0].why);
	}
}

static void a_threshold_that_is_given_is_named(void **state)
{
	const struct bsv_bounds bounds = { .threshold = { true, MS(20) } };
	const struct bsv_starvation_facts f = { .executions = 3 };
	struct bsv_judgement j;

	(void)state;
	bsv_rule_starvation(&j, &f, &bounds);
	assert_non_null(strstr(j.rules[0].why, "20"));
}

/* ---- priority ---- */

static const struct {
	const char *story;
	struct bsv_priority_facts facts;
	enum bsv_outcome inversion, honoured;
} priority[] = {
	/* clang-format off */
	{ "a hundred choices, all honoured, and no inversion", { .choices = 100, .honoured = 100, .mixed = true }, BSV_PASS, BSV_PASS },
	{ "one in a hundred may not be", { .choices = 100, .honoured = 99, .mixed = true }, BSV_PASS, BSV_PASS },
	{ "two in two hundred, too", { .choices = 200, .honoured = 198, .mixed = true }, BSV_PASS, BSV_PASS },
	{ "a hundred in ten thousand, too", { .choices = 10000, .honoured = 9900, .mixed = true }, BSV_PASS, BSV_PASS },
	{ "and not one more", { .choices = 10000, .honoured = 9899, .mixed = true }, BSV_PASS, BSV_FAIL },
	{ "three may not", { .choices = 200, .honoured = 197, .mixed = true }, BSV_PASS, BSV_FAIL },
	{ "99 choices are too few to tell", { .choices = 99, .honoured = 99, .mixed = true }, BSV_PASS, BSV_CANNOT_TELL },
	{ "even with one that was not, which may be the one in a hundred",
	  { .choices = 50, .honoured = 49, .mixed = true }, BSV_PASS, BSV_CANNOT_TELL },
	{ "but two are more than that, however many had followed up to a hundred",
	  { .choices = 50, .honoured = 48, .mixed = true }, BSV_PASS, BSV_FAIL },
	{ "two of two", { .choices = 2, .honoured = 0, .mixed = true }, BSV_PASS, BSV_FAIL },
	{ "priorities, but no choice between them", { .mixed = true }, BSV_PASS, BSV_CANNOT_TELL },
	{ "one priority: nothing to choose", { 0 }, BSV_PASS, BSV_PASS },
	{ "one priority, as far as it was seen", { .losses = true }, BSV_CANNOT_TELL, BSV_CANNOT_TELL },
	{ "fine, as far as it was seen", { .choices = 100, .honoured = 100, .mixed = true, .losses = true },
	  BSV_CANNOT_TELL, BSV_CANNOT_TELL },
	{ "choices that were seen are proof", { .choices = 100, .honoured = 98, .mixed = true, .losses = true },
	  BSV_CANNOT_TELL, BSV_FAIL },
	{ "an inversion may be a stretch and a millisecond long",
	  { .inversions = 1, .dur_ns = MS(3), .stretch_ns = MS(2), .choices = 100, .honoured = 100, .mixed = true },
	  BSV_PASS, BSV_PASS },
	{ "and not a nanosecond more",
	  { .inversions = 9, .dur_ns = MS(3) + 1, .stretch_ns = MS(2), .choices = 100, .honoured = 100, .mixed = true },
	  BSV_FAIL, BSV_PASS },
	{ "an inversion that was seen is proof",
	  { .inversions = 1, .dur_ns = MS(3) + 1, .stretch_ns = MS(2), .choices = 100, .honoured = 100, .mixed = true, .losses = true },
	  BSV_FAIL, BSV_CANNOT_TELL },
	{ "one within its bound does not tell what was not seen",
	  { .inversions = 1, .dur_ns = MS(3), .stretch_ns = MS(2), .choices = 100, .honoured = 100, .mixed = true, .losses = true },
	  BSV_CANNOT_TELL, BSV_CANNOT_TELL },
	/* clang-format on */
};

static void priority_is_judged_by_inversions_and_choices(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(priority) / sizeof(*priority); i++) {
		struct bsv_judgement j;

		bsv_rule_priority(&j, &priority[i].facts, NULL);
		is(priority[i].story, j.rules[0].outcome, priority[i].inversion);
		is(priority[i].story, j.rules[1].outcome, priority[i].honoured);
		assert_int_equal(j.n, 2);
		assert_string_equal(j.rules[0].name, "inversion_ns");
		assert_string_equal(j.rules[1].name, "honoured_percent");
		for (int rule = 0; rule < 2; rule++)
			assert_true(j.rules[rule].why && *j.rules[rule].why);
	}
}

static void bounds_of_priority_can_be_given(void **state)
{
	const struct bsv_bounds strict = { .inversion = { true, MS(1) }, .honoured_given = true, .honoured = 100 };
	const struct bsv_bounds lax = { .inversion = { true, MS(9) }, .honoured_given = true, .honoured = 0 };
	const struct bsv_priority_facts f = { .inversions = 1,
		                              .dur_ns = MS(1) + 1,
		                              .stretch_ns = MS(5),
		                              .choices = 1000,
		                              .honoured = 999,
		                              .mixed = true };
	struct bsv_judgement j;

	(void)state;
	bsv_rule_priority(&j, &f, &strict);
	is("longer than was given", j.rules[0].outcome, BSV_FAIL);
	is("fewer than all", j.rules[1].outcome, BSV_FAIL);
	bsv_rule_priority(&j, &f, &lax);
	is("shorter than was given", j.rules[0].outcome, BSV_PASS);
	is("as many as nobody wants", j.rules[1].outcome, BSV_PASS);
}

/* ---- the worst ---- */

static void failed_is_worse_than_cannot_tell(void **state)
{
	static const struct {
		enum bsv_outcome a, b, worst;
	} pairs[] = {
		{ BSV_PASS, BSV_PASS, BSV_PASS },
		{ BSV_PASS, BSV_CANNOT_TELL, BSV_CANNOT_TELL },
		{ BSV_CANNOT_TELL, BSV_PASS, BSV_CANNOT_TELL },
		{ BSV_CANNOT_TELL, BSV_FAIL, BSV_FAIL },
		{ BSV_FAIL, BSV_CANNOT_TELL, BSV_FAIL },
		{ BSV_FAIL, BSV_PASS, BSV_FAIL },
		{ BSV_PASS, BSV_FAIL, BSV_FAIL },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(pairs) / sizeof(*pairs); i++) {
		const struct bsv_judgement j = { .n = 2,
			                         .rules = { { .outcome = pairs[i].a }, { .outcome = pairs[i].b } } };

		is("the worst of two", bsv_judged(&j), pairs[i].worst);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fairness_is_judged_by_the_largest_lag),
		cmocka_unit_test(a_bound_that_is_given_holds_instead),
		cmocka_unit_test(a_bound_of_nothing_is_one),
		cmocka_unit_test(starvation_is_judged_by_episodes),
		cmocka_unit_test(a_threshold_that_is_given_is_named),
		cmocka_unit_test(priority_is_judged_by_inversions_and_choices),
		cmocka_unit_test(bounds_of_priority_can_be_given),
		cmocka_unit_test(failed_is_worse_than_cannot_tell),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
