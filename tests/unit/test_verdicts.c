/*
 * test_verdicts.c -- facts and their verdicts: at each bound and one beyond it, with losses, and with too few
 * facts.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "audit/sharing.h"
#include "audit/verdicts.h"

#define MS(n) ((int64_t)((n)*1e6))

/* A recording of a service without a loss. */
#define SEEN .sight = { .service = true }
#define LOST(...) .sight = { .service = true, .losses = true, __VA_ARGS__ }
#define MIXED .mixed = true, .may_be_mixed = true
#define LAG(apps_, lanes_, ns, stretch)                                                                    \
	.apps = (apps_), .most_apps = (apps_), .lanes = (lanes_), .max_lag_ns = (ns), .most_lag_ns = (ns), \
	.stretch_ns = (stretch), .most_stretch = (stretch)

static void expect_outcome(const char *story, enum bsv_outcome got, enum bsv_outcome wanted)
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
	{ "two apps on one lane may lag two stretches and two milliseconds", { LAG(2, 1, MS(6), MS(2)), SEEN }, 6e6, BSV_PASS },
	{ "and not a nanosecond more", { LAG(2, 1, MS(6) + 1, MS(2)), SEEN }, 6e6, BSV_FAIL },
	{ "but for a time in which the service was stopped", { LAG(2, 1, MS(6) + 1, MS(2)), .paused_ns = 1, SEEN }, 6e6, BSV_CANNOT_TELL },
	{ "and not longer", { LAG(2, 1, MS(6) + 2, MS(2)), .paused_ns = 1, SEEN }, 6e6, BSV_FAIL },
	{ "as may three", { LAG(3, 1, MS(6), MS(2)), SEEN }, 6e6, BSV_PASS },
	{ "four apps: 1 + 1/2 + 1/3 is still less than two", { LAG(4, 1, MS(6) + 1, MS(2)), SEEN }, 6e6, BSV_FAIL },
	{ "five apps: 1 + 1/2 + 1/3 + 1/4 stretches and half milliseconds, and one", { LAG(5, 1, 6208333, MS(2)), SEEN }, 2.5e6 * 25 / 12 + 1e6, BSV_PASS },
	{ "and not a nanosecond more", { LAG(5, 1, 6208334, MS(2)), SEEN }, 2.5e6 * 25 / 12 + 1e6, BSV_FAIL },
	{ "two apps on two lanes: twice one stretch and half a millisecond, and one more", { LAG(2, 2, MS(6), MS(2)), SEEN }, 6e6, BSV_PASS },
	{ "three apps on two lanes: three of them, and one millisecond", { LAG(3, 2, MS(8.5), MS(2)), SEEN }, 8.5e6, BSV_PASS },
	{ "and not a nanosecond more", { LAG(3, 2, MS(8.5) + 1, MS(2)), SEEN }, 8.5e6, BSV_FAIL },
	{ "a lane that can always be had: two milliseconds", { LAG(2, 1, MS(2), 0), SEEN }, 2e6, BSV_PASS },
	{ "an unknown number of lanes is as one", { LAG(2, 0, MS(6), MS(2)), SEEN }, 6e6, BSV_PASS },
	{ "one app alone is fair, however far behind", { LAG(1, 1, MS(5000), MS(2)), SEEN }, 6e6, BSV_PASS },
	{ "no app ran", { .lanes = 1, SEEN }, 2e6, BSV_CANNOT_TELL },
	{ "clients alone were recorded", { LAG(2, 1, 0, MS(2)) }, NAN, BSV_CANNOT_TELL },
	{ "native services have no lanes", { LAG(2, 1, 0, MS(2)), .sight = { .service = true, .native = true } }, 6e6, BSV_CANNOT_TELL },
	{ "another service has lanes, and was unfair", { LAG(2, 1, MS(50), MS(2)), .sight = { .service = true, .native = true } }, 6e6, BSV_FAIL },
	{ "no execution was asked for", { LAG(2, 1, 0, MS(2)), .sight = { .nothing = true } }, 6e6, BSV_CANNOT_TELL },
	{ "a hole twice as long as the limit hides no lag above it", { LAG(2, 1, MS(1), MS(2)), LOST(.hole_ns = MS(12)) }, 6e6, BSV_PASS },
	{ "a longer one may", { LAG(2, 1, MS(1), MS(2)), LOST(.hole_ns = MS(12) + 1) }, 6e6, BSV_CANNOT_TELL },
	{ "on two lanes half as long a hole may", { LAG(2, 2, MS(1), MS(2)), LOST(.hole_ns = MS(6) + 1) }, 6e6, BSV_CANNOT_TELL },
	{ "so may a wait that was not recorded in full", { LAG(2, 1, MS(1), MS(2)), LOST(.wait_ns = MS(13)) }, 6e6, BSV_CANNOT_TELL },
	{ "a wait from before the recording may be of any length",
	  { LAG(2, 1, MS(1), MS(2)), .sight = { .service = true, .wait_ns = BSV_UNBOUNDED } }, 6e6, BSV_CANNOT_TELL },
	{ "a lag that is uncertain may be above the limit",
	  { .apps = 2, .most_apps = 2, .lanes = 1, .max_lag_ns = MS(1), .most_lag_ns = MS(6) + 1, .stretch_ns = MS(2), .most_stretch = MS(2), LOST() }, 6e6, BSV_CANNOT_TELL },
	{ "a lag that was seen is no less of one for losses elsewhere", { LAG(2, 1, MS(6) + 1, MS(2)), LOST(.hole_ns = MS(9)) }, 6e6, BSV_FAIL },
	{ "but longer runs may have been lost",
	  { .apps = 2, .most_apps = 2, .lanes = 1, .max_lag_ns = MS(7), .most_lag_ns = MS(7), .stretch_ns = MS(2), .most_stretch = MS(3), LOST() }, 6e6, BSV_CANNOT_TELL },
	{ "or more apps",
	  { .apps = 2, .most_apps = 5, .lanes = 1, .max_lag_ns = 6208333, .most_lag_ns = 6208333, .stretch_ns = MS(2), .most_stretch = MS(2), LOST() }, 6e6, BSV_CANNOT_TELL },
	{ "the rules of the service were lost", { LAG(2, 1, MS(50), -1), LOST() }, NAN, BSV_CANNOT_TELL },
	{ "S of a model was lost: with it the limit can only be larger",
	  { .apps = 2, .most_apps = 2, .lanes = 1, .max_lag_ns = MS(1), .most_lag_ns = MS(6), .stretch_ns = MS(2), .most_stretch = -1, LOST() }, 6e6, BSV_PASS },
	{ "and how much larger is not known",
	  { .apps = 2, .most_apps = 2, .lanes = 1, .max_lag_ns = MS(7), .most_lag_ns = MS(7), .stretch_ns = MS(2), .most_stretch = -1, LOST() }, NAN, BSV_CANNOT_TELL },
	{ "an app had work before the recording", { LAG(2, 1, MS(1), MS(2)), .begun = true, SEEN }, 6e6, BSV_CANNOT_TELL },
	{ "one app, and a hole that can hide no lag", { LAG(1, 1, 0, MS(2)), LOST(.hole_ns = MS(1)) }, 6e6, BSV_PASS },
	{ "one app, and a hole that can hide another", { LAG(1, 1, 0, MS(2)), .others = true, LOST(.hole_ns = MS(13)) }, 6e6, BSV_CANNOT_TELL },
	{ "one app, and a hole that hides no execution", { LAG(1, 1, 0, MS(2)), LOST(.hole_ns = MS(13)) }, 6e6, BSV_PASS },
	{ "one app, and a wait of an unknown one", { LAG(1, 1, 0, MS(2)), .stranger_ns = MS(13), LOST(.wait_ns = MS(13)) }, 6e6, BSV_CANNOT_TELL },
	{ "numbers without bounds", { LAG(INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX), SEEN }, NAN, BSV_PASS },
	/* clang-format on */
};

static void fairness_is_judged_by_the_largest_lag(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(fairness) / sizeof(*fairness); i++) {
		struct bsv_judgement j;

		bsv_rule_fairness(&j, &fairness[i].facts, NULL);
		expect_outcome(fairness[i].story, j.rules[0].outcome, fairness[i].outcome);
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
	struct bsv_fairness_facts f = { LAG(2, 1, MS(3), MS(100)), SEEN };
	struct bsv_judgement j;

	(void)state;
	bsv_rule_fairness(&j, &f, &bounds);
	expect_outcome("equal to it", j.rules[0].outcome, BSV_PASS);
	f.most_lag_ns = ++f.max_lag_ns;
	f.app = "an app with a name";
	bsv_rule_fairness(&j, &f, &bounds);
	expect_outcome("above it", j.rules[0].outcome, BSV_FAIL);
	assert_non_null(strstr(j.rules[0].why, "an app with a name"));
	assert_null(strstr(j.rules[0].why, "100")); /* the judgement is not by that bound */
}

static void a_lag_without_an_upper_bound_may_be_of_any_length(void **state)
{
	const struct bsv_bounds bounds = { .lag = { true, MS(3) } };
	struct bsv_fairness_facts f = { LAG(2, 1, MS(1), MS(1)), SEEN };
	struct bsv_judgement j;

	(void)state;
	f.most_lag_ns = INT64_C(1) << 62; /* the value in the database for a lag without an upper bound */
	bsv_rule_fairness(&j, &f, &bounds);
	expect_outcome("it is not known", j.rules[0].outcome, BSV_CANNOT_TELL);
	assert_string_equal(
		j.rules[0].why,
		"not all was recorded: an app may have been behind its share by a time of any length; limit 3.000 ms");
}

/* The printed limit is the one that a pass needs, even if a fail needs more because of losses. */
static void the_limit_of_a_pass_is_the_least(void **state)
{
	const struct bsv_fairness_facts f = { .apps = 2,
		                              .most_apps = 2,
		                              .lanes = 1,
		                              .max_lag_ns = MS(1),
		                              .most_lag_ns = MS(1),
		                              .stretch_ns = MS(2),
		                              .most_stretch = INT64_MAX / 2,
		                              LOST() };
	struct bsv_judgement j;

	(void)state;
	bsv_rule_fairness(&j, &f, NULL);
	expect_outcome("within it", j.rules[0].outcome, BSV_PASS);
	assert_true(j.rules[0].bound == 6e6);
}

static void a_bound_of_nothing_is_one(void **state)
{
	const struct bsv_bounds bounds = { .lag = { true, 0 } };
	const struct bsv_fairness_facts f = { LAG(2, 1, 1, MS(1)), SEEN };
	struct bsv_judgement j;

	(void)state;
	bsv_rule_fairness(&j, &f, &bounds);
	expect_outcome("one ns above 0", j.rules[0].outcome, BSV_FAIL);
}

/* ---- fairness: against ideal sharing ---- */

#define RESPONSES_SURE(n_, mean, ideal_mean, p95, p95_least, ideal_p95)                                            \
	.n = (n_), .mean_ns = (mean), .ideal_mean_ns = (ideal_mean), .p95_ns = (p95), .p95_least_ns = (p95_least), \
	.ideal_p95_ns = (ideal_p95)
#define RESPONSES(n_, mean, ideal_mean, p95, ideal_p95) RESPONSES_SURE(n_, mean, ideal_mean, p95, p95, ideal_p95)
#define WORK(work, ideal) .work_ns = (work), .ideal_work_ns = (ideal), .received_ns = 1
#define DUE(due_, met_, least, most) .due = (due_), .met = (met_), .ideal_met_least = (least), .ideal_met_most = (most)
#define WITHOUT_REFUSED(mean, p95, work) \
	.ideal_mean_without_ns = (mean), .ideal_p95_without_ns = (p95), .ideal_work_without_ns = (work)
#define FINE RESPONSES(100, MS(10), MS(10), MS(20), MS(20)), WORK(MS(1000), MS(1000))

static const struct {
	const char *story;
	struct bsa_shared app; /* beside an app without a violation */
	int64_t step_ns;
	bool native;
	int64_t hidden;
	enum bsv_outcome outcome;
	const char *says;
	int64_t given_up;
	bool unseen;
} sharing[] = {
	/* clang-format off */
	{ "as fair sharing has it", { FINE }, MS(1), false, 0, BSV_PASS, "no app with 30 executions or more would have been quicker", 0, false },
	{ "the mean is worse by a quarter", { RESPONSES(100, MS(12.5), MS(10), MS(20), MS(20)), WORK(MS(1), MS(1)) }, MS(1), false, 0, BSV_PASS, "on average", 0, false },
	{ "and by more", { RESPONSES(100, MS(12.5) + 1, MS(10), MS(20), MS(20)), WORK(MS(1), MS(1)) }, MS(1), false, 0, BSV_FAIL, "on average", 0, false },
	{ "and by no more than two steps", { RESPONSES(100, MS(14), MS(10), MS(20), MS(20)), WORK(MS(1), MS(1)) }, MS(2), false, 0, BSV_PASS, "4.000 ms more", 0, false },
	{ "and by more than two steps", { RESPONSES(100, MS(14) + 1, MS(10), MS(20), MS(20)), WORK(MS(1), MS(1)) }, MS(2), false, 0, BSV_FAIL, "hog", 0, false },
	{ "p95 is worse", { RESPONSES(100, MS(10), MS(10), MS(25) + 1, MS(20)), WORK(MS(1), MS(1)) }, MS(1), false, 0, BSV_FAIL, "at p95", 0, false },
	{ "p95 is worse by ten times, and may rest on a stall", { RESPONSES_SURE(60, MS(12), MS(10), MS(200), MS(25), MS(20)), WORK(MS(1), MS(1)) }, MS(1), false, 0, BSV_PASS, "25.00 ms or more at p95", 0, false },
	{ "p95 is worse by ten times, and its lower bound by more than a quarter", { RESPONSES_SURE(60, MS(12), MS(10), MS(200), MS(25) + 1, MS(20)), WORK(MS(1), MS(1)) }, MS(1), false, 0, BSV_FAIL, "25.00 ms or more at p95 (99 % confidence)", 0, false },
	{ "p95 has no lower bound", { RESPONSES_SURE(60, MS(10), MS(10), MS(200), 0, MS(20)), WORK(MS(1), MS(1)) }, MS(1), false, 0, BSV_PASS, "", 0, false },
	{ "of thirty executions", { RESPONSES(30, MS(30), MS(10), MS(20), MS(20)), WORK(MS(1), MS(1)) }, MS(1), false, 0, BSV_FAIL, "meek", 0, false },
	{ "29 are too few, but the other app has enough", { RESPONSES(29, MS(30), MS(10), MS(20), MS(20)), WORK(MS(1), MS(1)) }, MS(1), false, 0, BSV_PASS, "1 app had too little work", 0, false },
	{ "half of what it would have got", { RESPONSES(1, MS(10), MS(10), MS(20), MS(20)), WORK(MS(200), MS(100)) }, MS(1), false, 0, BSV_PASS, "", 0, false },
	{ "less than half", { RESPONSES(1, MS(10), MS(10), MS(20), MS(20)), WORK(MS(200), MS(100) - 1) }, MS(1), false, 0, BSV_FAIL, "got 50 %", 0, false },
	{ "in too short a time to be judged", { RESPONSES(1, MS(10), MS(10), MS(20), MS(20)), WORK(MS(200) - 1, MS(10)) }, MS(1), false, 0, BSV_PASS, "", 0, false },
	{ "nothing at all, though a lane was to be had", { .work_ns = MS(200), .ideal_work_ns = MS(100) }, MS(1), false, 0, BSV_FAIL, "got 0 %", 0, false },
	{ "nothing, and fair sharing had none to give either", { .work_ns = MS(200), .ideal_work_ns = MS(200) }, MS(1), false, 0, BSV_PASS, "", 0, false },
	{ "nothing, and what it needed is not known", { .work_ns = MS(200), .ideal_work_ns = MS(200), DUE(117, 0, 7, 117) }, MS(1), false, 0, BSV_CANNOT_TELL, "117 of meek's executions were refused or given up", 117, false },
	{ "and if it had needed the least, fair sharing could have let no more than seven in time", { .work_ns = MS(200), .ideal_work_ns = MS(200), DUE(117, 0, 0, 7) }, MS(1), false, 0, BSV_PASS, "", 117, false },
	{ "most were given up, and the others waited long", { RESPONSES(30, MS(30), MS(10), MS(20), MS(20)), WORK(MS(1), MS(1)) }, MS(1), false, 0, BSV_FAIL, "on average", 31, false },
	{ "most were given up, and the others waited as under fair sharing", { RESPONSES(30, MS(10), MS(10), MS(20), MS(20)), WORK(MS(1), MS(1)), DUE(61, 30, 30, 38) }, MS(1), false, 0, BSV_CANNOT_TELL, "30 to 38 of 61; as recorded, 30", 31, false },
	{ "most were given up, and fair sharing could not have let a quarter more in time", { RESPONSES(30, MS(10), MS(10), MS(20), MS(20)), WORK(MS(1), MS(1)), DUE(61, 32, 30, 40) }, MS(1), false, 0, BSV_PASS, "", 31, false },
	{ "half were given up", { RESPONSES(30, MS(10), MS(10), MS(20), MS(20)), WORK(MS(1), MS(1)), DUE(60, 30, 30, 60) }, MS(1), false, 0, BSV_PASS, "", 30, false },
	{ "fair sharing would have let many more in time", { DUE(62, 1, 41, 62) }, MS(1), false, 0, BSV_FAIL, "meek's executions left the lane in time for 1 of 62 deadlines, and under fair sharing for at least 41 (fails if that is over 25 % more); of other apps, mostly hog held the lane", 61, false },
	{ "and none was in time", { DUE(62, 0, 41, 62) }, MS(1), false, 0, BSV_FAIL, "in time for 0 of 62 deadlines", 62, false },
	{ "though they were answered, late", { RESPONSES(62, MS(10), MS(10), MS(20), MS(20)), DUE(62, 1, 41, 62) }, MS(1), false, 0, BSV_FAIL, "in time for 1 of 62", 0, false },
	{ "eight more of thirty", { DUE(30, 1, 9, 9) }, MS(1), false, 0, BSV_FAIL, "at least 9", 0, false },
	{ "a stall or two decide about seven", { DUE(30, 1, 8, 8) }, MS(1), false, 0, BSV_PASS, "nearest to the limit, meek's executions left the lane in time for 1 of 30 deadlines", 0, false },
	{ "of 29 executions too little is seen", { DUE(29, 0, 29, 29) }, MS(1), false, 0, BSV_PASS, "1 app had too little work", 29, false },
	{ "a quarter more", { DUE(100, 40, 50, 50) }, MS(1), false, 0, BSV_PASS, "at least 50", 0, false },
	{ "more than a quarter more", { DUE(100, 40, 51, 51) }, MS(1), false, 0, BSV_FAIL, "at least 51", 0, false },
	{ "it depends on what was refused whether the mean is worse", { FINE, WITHOUT_REFUSED(MS(8) - 1, MS(20), MS(1000)) }, MS(1), false, 0, BSV_CANNOT_TELL, "took 10.00 ms on average from ready to done; under fair sharing they would have taken 10.00 ms, or 8.000 ms if what was refused", 0, false },
	{ "it does not", { FINE, WITHOUT_REFUSED(MS(8), MS(16), MS(500)) }, MS(1), false, 0, BSV_PASS, "", 0, false },
	{ "it depends on that whether p95 is worse", { FINE, WITHOUT_REFUSED(MS(8), MS(16) - 1, MS(500)) }, MS(1), false, 0, BSV_CANNOT_TELL, "at p95", 0, false },
	{ "it depends on that what it got", { FINE, WITHOUT_REFUSED(MS(8), MS(16), MS(500) - 1) }, MS(1), false, 0, BSV_CANNOT_TELL, "had work for 1.000 s", 0, false },
	{ "it is worse either way", { RESPONSES(100, MS(30), MS(20), MS(20), MS(20)), WORK(MS(1), MS(1)), WITHOUT_REFUSED(MS(10), MS(16), MS(1)) }, MS(1), false, 0, BSV_FAIL, "they would have taken 20", 0, false },
	{ "a native service has no lanes that a replay could give", { RESPONSES(40, MS(10), MS(10), MS(20), MS(20)), DUE(62, 1, 41, 62) }, MS(1), true, 0, BSV_PASS, "", 0, false },
	{ "steps are not known", { RESPONSES(100, MS(30), MS(10), MS(20), MS(20)), WORK(MS(1), MS(1)) }, -1, false, 0, BSV_CANNOT_TELL, "checkpoints", 0, false },
	{ "and do not matter for who is slower by no more than a quarter", { RESPONSES(100, MS(12.5), MS(10), MS(25), MS(20)), WORK(MS(1), MS(1)) }, -1, false, 0, BSV_PASS, "", 0, false },
	{ "and do not matter for what it got", { RESPONSES(100, MS(30), MS(10), MS(20), MS(20)), WORK(MS(300), MS(100)) }, -1, false, 0, BSV_FAIL, "got 33 %", 0, false },
	{ "steps that decide about the ideal were not recorded: no pass", { FINE }, -1, false, 0, BSV_CANNOT_TELL, "checkpoints", 0, true },
	{ "and no failure for what it got", { WORK(MS(300), MS(100)) }, -1, false, 0, BSV_CANNOT_TELL, "checkpoints", 0, true },
	{ "and none for deadlines", { DUE(62, 1, 41, 62) }, -1, false, 0, BSV_CANNOT_TELL, "checkpoints", 61, true },
	{ "responses of a native service are not judged", { RESPONSES(100, MS(30), MS(10), MS(20), MS(20)), WORK(MS(300), MS(200)) }, MS(1), true, 0, BSV_PASS, "at least half", 0, false },
	{ "but what its apps got is", { RESPONSES(100, MS(10), MS(10), MS(20), MS(20)), WORK(MS(300), MS(100)) }, MS(1), true, 0, BSV_FAIL, "hog took most", 0, false },
	{ "what was not recorded may have been anything: no pass", { FINE }, MS(1), false, 1, BSV_CANNOT_TELL, "not all was recorded", 0, false },
	{ "and no failure", { RESPONSES(100, MS(30), MS(10), MS(20), MS(20)), WORK(MS(1), MS(1)) }, MS(1), false, 1, BSV_CANNOT_TELL, "not all was recorded", 0, false },
	/* clang-format on */
};

static void fairness_is_judged_by_ideal_sharing(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(sharing) / sizeof(*sharing); i++) {
		char meek[] = "meek", hog[] = "hog";
		struct bsv_sharing_app apps[2] = { { .of = sharing[i].app,
			                             .name = meek,
			                             .taker = hog,
			                             .waited_ns = MS(1e6),
			                             .given_up = sharing[i].given_up,
			                             .step_ns = sharing[i].step_ns,
			                             .unseen = sharing[i].unseen,
			                             .native = sharing[i].native },
			                           { .of = { FINE },
			                             .name = hog,
			                             .step_ns = sharing[i].step_ns,
			                             .unseen = sharing[i].unseen,
			                             .native = sharing[i].native } };
		const struct bsv_sharing_facts f = {
			.apps = apps, .n = 2, .services = 1, .played = 1, .hidden = sharing[i].hidden, SEEN
		};
		struct bsv_judgement j;

		bsv_rule_sharing(&j, &f);
		expect_outcome(sharing[i].story, j.rules[0].outcome, sharing[i].outcome);
		assert_int_equal(j.n, 1);
		assert_string_equal(j.rules[0].name, "slower_percent");
		if (!strstr(j.rules[0].why, sharing[i].says))
			fail_msg("%s: it says '%s', and not '%s'", sharing[i].story, j.rules[0].why, sharing[i].says);
		if (j.rules[0].outcome == BSV_FAIL) {
			assert_string_equal(j.who, "meek");
			assert_string_equal(j.by, "hog");
			/* Of an app that got nothing there is no figure, so that none is below the bound. */
			if (strstr(j.rules[0].why, "got 0 %"))
				assert_true(isnan(j.rules[0].figure));
			else
				assert_true(j.rules[0].figure >= j.rules[0].bound);
		}
	}
}

/* No app is blamed for what another one lacks that did not wait for it that long. */
static void what_others_cannot_have_taken_is_no_failure(void **state)
{
	static const struct {
		const char *story;
		struct bsa_shared app;
		int64_t waited_ns, refused;
		bool native, restarts;
		enum bsv_outcome outcome;
	} rows[] = {
		/* clang-format off */
		{ "100 executions, each by 7.5 ms too long: waits for as long account for it", { RESPONSES(100, MS(20), MS(10), MS(20), MS(20)), WORK(MS(1), MS(1)) }, MS(750), 0, false, false, BSV_FAIL },
		{ "shorter ones do not", { RESPONSES(100, MS(20), MS(10), MS(20), MS(20)), WORK(MS(1), MS(1)) }, MS(750) - 1, 0, false, false, BSV_PASS },
		{ "unless preemptions throw work away", { RESPONSES(100, MS(20), MS(10), MS(20), MS(20)), WORK(MS(1), MS(1)) }, 1, 0, false, true, BSV_FAIL },
		{ "of which there was none", { RESPONSES(100, MS(20), MS(10), MS(20), MS(20)), WORK(MS(1), MS(1)) }, 0, 0, false, true, BSV_PASS },
		{ "p95: one wait that long accounts for it", { RESPONSES(100, MS(10), MS(10), MS(30), MS(20)), WORK(MS(1), MS(1)) }, MS(5), 0, false, false, BSV_FAIL },
		{ "a shorter one does not", { RESPONSES(100, MS(10), MS(10), MS(30), MS(20)), WORK(MS(1), MS(1)) }, MS(5) - 1, 0, false, false, BSV_PASS },
		{ "work: waits of 600 ms account for 1000 ms with an ideal of 200", { WORK(MS(1000), MS(200)) }, MS(600), 0, false, false, BSV_FAIL },
		{ "shorter ones do not", { WORK(MS(1000), MS(200)) }, MS(600) - 1, 0, false, false, BSV_PASS },
		{ "who waits for a native service is not known", { WORK(MS(1000), MS(200)) }, 0, 0, true, false, BSV_FAIL },
		{ "nor does it decide what the ideal is without what was refused", { FINE, WITHOUT_REFUSED(MS(10), MS(20), MS(200)) }, MS(600) - 1, 0, false, false, BSV_PASS },
		{ "but it may", { FINE, WITHOUT_REFUSED(MS(10), MS(20), MS(200)) }, MS(600), 0, false, false, BSV_CANNOT_TELL },
		{ "deadlines of who never waited", { DUE(62, 1, 41, 62) }, 0, 0, false, false, BSV_PASS },
		{ "deadlines of who did", { DUE(62, 1, 41, 62) }, 1, 0, false, false, BSV_FAIL },
		{ "deadlines of who was refused", { DUE(62, 1, 41, 62) }, 0, 1, false, false, BSV_FAIL },
		/* clang-format on */
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		char meek[] = "meek", hog[] = "hog";
		struct bsv_sharing_app apps[2] = { { .of = rows[i].app,
			                             .name = meek,
			                             .taker = hog,
			                             .waited_ns = rows[i].waited_ns,
			                             .refused = rows[i].refused,
			                             .native = rows[i].native,
			                             .restarts = rows[i].restarts,
			                             .step_ns = MS(1) },
			                           { .of = { FINE }, .name = hog, .step_ns = MS(1) } };
		const struct bsv_sharing_facts f = { .apps = apps, .n = 2, .services = 1, .played = 1, SEEN };
		struct bsv_judgement j;

		bsv_rule_sharing(&j, &f);
		expect_outcome(rows[i].story, j.rules[0].outcome, rows[i].outcome);
		if (rows[i].outcome != BSV_PASS || rows[i].app.ideal_mean_without_ns)
			continue;
		if (!strstr(j.rules[0].why, "not because of other apps") || j.by[0])
			fail_msg("%s: it says '%s', and blames '%s'", rows[i].story, j.rules[0].why, j.by);
	}
}

/* No app is blamed for what is worse only by what a stop of the service may have added. */
static void a_service_that_was_stopped_need_not_be_unfair(void **state)
{
	static const struct {
		const char *story;
		struct bsa_shared app;
		struct bsv_pauses pauses;
		enum bsv_outcome outcome;
	} rows[] = {
		/* clang-format off */
		{ "the mean, with it", { RESPONSES(100, MS(30), MS(20), MS(20), MS(20)) }, { MS(500), 2, MS(1000) }, BSV_CANNOT_TELL },
		{ "the mean, without it, too", { RESPONSES(100, MS(30), MS(20), MS(20), MS(20)) }, { MS(100), 2, MS(200) }, BSV_FAIL },
		{ "what it got, with it", { WORK(MS(3000), MS(1000)) }, { MS(1000), 1, MS(1000) }, BSV_CANNOT_TELL },
		{ "what it got, without it, too", { WORK(MS(3000), MS(1000)) }, { MS(999), 1, MS(999) }, BSV_FAIL },
		{ "deadlines, with it", { DUE(30, 1, 9, 9) }, { MS(100), 1, MS(100) }, BSV_CANNOT_TELL },
		{ "deadlines, without it, too", { DUE(30, 1, 10, 10) }, { MS(100), 1, MS(100) }, BSV_FAIL },
		{ "p95 of few", { RESPONSES(100, MS(20), MS(20), MS(40), MS(20)) }, { MS(100), 2, MS(200) }, BSV_CANNOT_TELL },
		{ "p95 of many", { RESPONSES(200, MS(20), MS(20), MS(40), MS(20)) }, { MS(100), 2, MS(200) }, BSV_FAIL },
		{ "no failure, no doubt", { FINE }, { MS(1000), 9, MS(9000) }, BSV_PASS },
		/* clang-format on */
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		char meek[] = "meek", hog[] = "hog";
		struct bsv_sharing_app apps[2] = {
			{ .of = rows[i].app, .name = meek, .taker = hog, .waited_ns = MS(1e6), .step_ns = MS(1) },
			{ .of = { FINE }, .name = hog, .step_ns = MS(1) }
		};
		const struct bsv_sharing_facts f = {
			.apps = apps, .n = 2, .services = 1, .played = 1, .pauses = rows[i].pauses, SEEN
		};
		struct bsv_judgement j;

		bsv_rule_sharing_paused(&j, &f);
		expect_outcome(rows[i].story, j.rules[0].outcome, rows[i].outcome);
		assert_true((rows[i].outcome == BSV_CANNOT_TELL) ==
		            !strncmp(j.rules[0].why, "the service was stopped", 23));
	}
}

/* Policy native records no stalls: an app whose executions slept may have got too little by its own doing. */
static void a_native_app_that_slept_need_not_be_wronged(void **state)
{
	static const struct {
		const char *story;
		int64_t asleep;
		bool native;
		enum bsv_outcome outcome;
	} rows[] = {
		/* clang-format off */
		{ "none slept", 0, true, BSV_FAIL },
		{ "too little, without the sleep, too", MS(999), true, BSV_FAIL },
		{ "half, without the sleep", MS(1000), true, BSV_CANNOT_TELL },
		{ "all of it slept, one beside the other", MS(9000), true, BSV_CANNOT_TELL },
		{ "lanes: the waits are known", MS(1000), false, BSV_FAIL },
		/* clang-format on */
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		char meek[] = "meek", hog[] = "hog", worse[] = "worse";
		struct bsv_sharing_app apps[3] = {
			{ .of = { .app = 1, WORK(MS(3000), MS(1000)) },
			  .name = meek,
			  .waited_ns = MS(1e6),
			  .native = rows[i].native,
			  .asleep_ns = rows[i].asleep },
			{ .of = { .app = 2, FINE }, .name = hog, .step_ns = MS(1) },
			{ .of = { .app = 3, WORK(MS(3000), MS(1400)) }, .name = worse, .native = true }
		};
		struct bsv_sharing_facts f = { .apps = apps, .n = 2, .services = 1, .played = 1, SEEN };
		struct bsv_judgement j;

		bsv_rule_sharing(&j, &f);
		expect_outcome(rows[i].story, j.rules[0].outcome, rows[i].outcome);
		assert_true((rows[i].outcome == BSV_CANNOT_TELL) == !!strstr(j.rules[0].why, "had not asked for one"));
		f.n = 3; /* and one that did not sleep */
		bsv_rule_sharing(&j, &f);
		expect_outcome(rows[i].story, j.rules[0].outcome, BSV_FAIL);
		assert_string_equal(j.who, rows[i].outcome == BSV_FAIL ? meek : worse);
	}
}

static void what_ideal_sharing_cannot_judge(void **state)
{
	char meek[] = "meek";
	struct bsv_sharing_app apps[2] = { { .of = { RESPONSES(29, MS(30), MS(10), 0, 0), WORK(MS(100), MS(1)) },
		                             .name = meek },
		                           { .of = { .app = 2, WORK(MS(100), MS(100)) } } };
	struct bsv_sharing_facts f = { .apps = apps, .n = 2, .services = 1, .played = 1, SEEN };
	struct bsv_judgement j;

	(void)state;
	bsv_rule_sharing(&j, &f);
	expect_outcome("too little of both", j.rules[0].outcome, BSV_CANNOT_TELL);
	f.n = 1;
	bsv_rule_sharing(&j, &f);
	expect_outcome("one app alone", j.rules[0].outcome, BSV_PASS);
	f.n = 2;
	apps[1].of.instance = 7;
	f.services = f.played = 2;
	bsv_rule_sharing(&j, &f);
	expect_outcome("each app alone, at services of their own", j.rules[0].outcome, BSV_PASS);
	f.played = 1;
	bsv_rule_sharing(&j, &f);
	expect_outcome("a service that was not replayed", j.rules[0].outcome, BSV_CANNOT_TELL);
	f.played = 2;
	f.sight.service = false;
	bsv_rule_sharing(&j, &f);
	expect_outcome("clients alone", j.rules[0].outcome, BSV_CANNOT_TELL);
	f.sight = (struct bsv_sight){ .service = true, .nothing = true };
	bsv_rule_sharing(&j, &f);
	expect_outcome("nothing was asked for", j.rules[0].outcome, BSV_CANNOT_TELL);
	f = (struct bsv_sharing_facts){ SEEN };
	bsv_rule_sharing(&j, &f);
	expect_outcome("nothing was ready", j.rules[0].outcome, BSV_CANNOT_TELL);
}

/* ---- starvation ---- */

static const struct {
	const char *story;
	struct bsv_starvation_facts facts;
	enum bsv_outcome outcome;
} starvation[] = {
	{ "no wait was too long", { SEEN }, BSV_PASS },
	{ "one episode is enough", { .episodes = 1, .max_gap_ns = MS(101), SEEN }, BSV_FAIL },
	{ "an episode was recorded, whatever was lost",
	  { .episodes = 1, .max_gap_ns = MS(101), LOST(.wait_ns = BSV_UNBOUNDED) },
	  BSV_FAIL },
	{ "a hole of 100 ms hides no longer wait", { LOST(.hole_ns = MS(100)) }, BSV_PASS },
	{ "a longer hole may", { LOST(.hole_ns = MS(100) + 1) }, BSV_CANNOT_TELL },
	{ "so may events before and after a hole",
	  { LOST(.hole_ns = MS(1), .wait_ns = MS(100) + 1) },
	  BSV_CANNOT_TELL },
	{ "a wait from before the recording",
	  { .sight = { .service = true, .wait_ns = BSV_UNBOUNDED } },
	  BSV_CANNOT_TELL },
	{ "a lane that is not known is no wait", { LOST(.lane_ns = BSV_UNBOUNDED) }, BSV_PASS },
	{ "ten times the usual run is not known", { .unsure_ns = MS(200), LOST() }, BSV_CANNOT_TELL },
	{ "they are episodes by the runs that were recorded, and not by all that may have been lost",
	  { .recorded = 4, .unsure_ns = MS(200), LOST() },
	  BSV_CANNOT_TELL },
	{ "one of four is certain",
	  { .episodes = 1, .recorded = 4, .max_gap_ns = MS(300), .unsure_ns = MS(200), LOST() },
	  BSV_FAIL },
	{ "clients alone were recorded", { 0 }, BSV_CANNOT_TELL },
	{ "a native service kept work for 100 ms",
	  { .native_ns = MS(100), .sight = { .service = true, .native = true } },
	  BSV_PASS },
	{ "and not a nanosecond more",
	  { .native_ns = MS(100) + 1, .sight = { .service = true, .native = true } },
	  BSV_CANNOT_TELL },
	{ "or for an unknown time",
	  { .native_ns = BSV_UNBOUNDED, .sight = { .service = true, .native = true } },
	  BSV_CANNOT_TELL },
};

static void starvation_is_judged_by_episodes(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(starvation) / sizeof(*starvation); i++) {
		struct bsv_judgement j;

		bsv_rule_starvation(&j, &starvation[i].facts, NULL);
		expect_outcome(starvation[i].story, j.rules[0].outcome, starvation[i].outcome);
		assert_string_equal(j.rules[0].name, "starvation_episodes");
		assert_true(j.rules[0].figure == (double)(starvation[i].facts.recorded > starvation[i].facts.episodes
		                                                  ? starvation[i].facts.recorded
		                                                  : starvation[i].facts.episodes));
		assert_true(j.rules[0].bound == 0);
		assert_true(*j.rules[0].why);
	}
}

static void a_threshold_that_is_given_is_named(void **state)
{
	const struct bsv_bounds bounds = { .threshold = { true, MS(20) } };
	struct bsv_starvation_facts f = { LOST(.wait_ns = MS(20)) };
	struct bsv_judgement j;

	(void)state;
	bsv_rule_starvation(&j, &f, &bounds);
	expect_outcome("a wait as long as it", j.rules[0].outcome, BSV_PASS);
	assert_non_null(strstr(j.rules[0].why, "20"));
	f.sight.wait_ns++;
	bsv_rule_starvation(&j, &f, &bounds);
	expect_outcome("a longer one", j.rules[0].outcome, BSV_CANNOT_TELL);
	f = (struct bsv_starvation_facts){ .native_ns = BSV_UNBOUNDED, .sight = { .service = true, .native = true } };
	bsv_rule_starvation(&j, &f, &bounds);
	assert_non_null(strstr(j.rules[0].why, "a wait of any length; limit 20"));
}

/* ---- priority ---- */

static const struct {
	const char *story;
	struct bsv_priority_facts facts;
	enum bsv_outcome inversion, honoured;
} priority[] = {
	/* clang-format off */
	{ "a hundred choices, all honoured, and no inversion", { .choices = 100, .honoured = 100, MIXED, SEEN }, BSV_PASS, BSV_PASS },
	{ "one in a hundred may not be", { .choices = 100, .honoured = 99, MIXED, SEEN }, BSV_PASS, BSV_PASS },
	{ "two in two hundred, too", { .choices = 200, .honoured = 198, MIXED, SEEN }, BSV_PASS, BSV_PASS },
	{ "a hundred in ten thousand, too", { .choices = 10000, .honoured = 9900, MIXED, SEEN }, BSV_PASS, BSV_PASS },
	{ "and not one more", { .choices = 10000, .honoured = 9899, MIXED, SEEN }, BSV_PASS, BSV_FAIL },
	{ "three may not", { .choices = 200, .honoured = 197, MIXED, SEEN }, BSV_PASS, BSV_FAIL },
	{ "99 choices are too few to tell", { .choices = 99, .honoured = 99, MIXED, SEEN }, BSV_PASS, BSV_CANNOT_TELL },
	{ "even with one that was not, which may be the one in a hundred",
	  { .choices = 50, .honoured = 49, MIXED, SEEN }, BSV_PASS, BSV_CANNOT_TELL },
	{ "but two are more than that, however many had followed up to a hundred",
	  { .choices = 50, .honoured = 48, MIXED, SEEN }, BSV_PASS, BSV_FAIL },
	{ "two of two", { .choices = 2, .honoured = 0, MIXED, SEEN }, BSV_PASS, BSV_FAIL },
	{ "inversions of a probation prove nothing",
	  { .inversions_on_probation = 1, .on_probation_ns = MS(9), MIXED, SEEN }, BSV_CANNOT_TELL, BSV_PASS },
	{ "others do", { .inversions = 1, .dur_ns = MS(9), .stretch_ns = MS(1), .inversions_on_probation = 1, .on_probation_ns = MS(9),
	  MIXED, SEEN }, BSV_FAIL, BSV_PASS },
	{ "those that are within their limits do no harm", { .inversions_on_probation = 1, MIXED, SEEN }, BSV_PASS, BSV_PASS },
	{ "half of the choices or more are left without those of a probation",
	  { .choices = 100, .honoured = 100, .on_probation = 100, MIXED, SEEN }, BSV_PASS, BSV_PASS },
	{ "fewer than half of an app's are left",
	  { .choices = 100, .honoured = 100, .on_probation = 101, .mostly_on_probation = true, MIXED, SEEN }, BSV_PASS, BSV_CANNOT_TELL },
	{ "too few are left",
	  { .choices = 99, .honoured = 99, .on_probation = 1, MIXED, SEEN }, BSV_PASS, BSV_CANNOT_TELL },
	{ "none is left", { .on_probation = 1, .mostly_on_probation = true, MIXED, SEEN }, BSV_PASS, BSV_CANNOT_TELL },
	{ "too many of those left are wrong, whatever the others were",
	  { .choices = 100, .honoured = 96, .on_probation = 200, .mostly_on_probation = true, MIXED, SEEN }, BSV_PASS, BSV_FAIL },
	{ "those left are wrong, but not too many if all others were right",
	  { .choices = 100, .honoured = 97, .on_probation = 200, .mostly_on_probation = true, MIXED, SEEN }, BSV_PASS, BSV_CANNOT_TELL },
	{ "priorities, but no choice between them", { MIXED, SEEN }, BSV_PASS, BSV_PASS },
	{ "no choice was seen, and one may be hidden", { .hidden_choices = 1, MIXED, LOST() }, BSV_PASS, BSV_CANNOT_TELL },
	{ "one priority: nothing to choose", { SEEN }, BSV_PASS, BSV_PASS },
	{ "clients alone were recorded", { 0 }, BSV_CANNOT_TELL, BSV_CANNOT_TELL },
	{ "native services have no lanes", { .choices = 100, .honoured = 100, MIXED, .sight = { .service = true, .native = true } },
	  BSV_CANNOT_TELL, BSV_CANNOT_TELL },
	{ "another service has lanes, and chose wrongly", { .choices = 100, .honoured = 0, MIXED, .sight = { .service = true, .native = true } },
	  BSV_CANNOT_TELL, BSV_FAIL },
	{ "one priority, as far as it was seen", { .may_be_mixed = true, LOST() }, BSV_PASS, BSV_CANNOT_TELL },
	{ "one priority for certain", { LOST(.hole_ns = MS(500)) }, BSV_PASS, BSV_PASS },
	{ "an app may have come and gone in a hole, and waited for longer than the allowance",
	  { LOST(.hole_ns = MS(500), .strange_ns = MS(1) + 1) }, BSV_CANNOT_TELL, BSV_CANNOT_TELL },
	{ "or for no longer than that: but it may have been passed over",
	  { LOST(.hole_ns = MS(1), .strange_ns = MS(1)) }, BSV_PASS, BSV_CANNOT_TELL },
	{ "what such an app may have been, is no more than was lost",
	  { .choices = 198, .honoured = 198, .strange_choices = 2, MIXED, LOST(.strange_ns = MS(1)) }, BSV_PASS, BSV_PASS },
	{ "and one choice more is too many",
	  { .choices = 198, .honoured = 198, .strange_choices = 3, MIXED, LOST(.strange_ns = MS(1)) }, BSV_PASS, BSV_CANNOT_TELL },
	{ "any number of them", { .choices = 1000, .honoured = 1000, .strange_choices = BSV_ANY_NUMBER, MIXED, LOST(.strange_ns = MS(1)) }, BSV_PASS, BSV_CANNOT_TELL },
	{ "another app excuses none whose choices were not honoured",
	  { .choices = 100, .honoured = 97, .strange_choices = BSV_ANY_NUMBER, MIXED, LOST(.strange_ns = MS(500)) }, BSV_CANNOT_TELL, BSV_FAIL },
	{ "choices that were lost may not have been honoured: 99 of 100 are enough",
	  { .choices = 198, .honoured = 198, .hidden_choices = 2, MIXED, LOST() }, BSV_PASS, BSV_PASS },
	{ "and with one more they are not", { .choices = 198, .honoured = 198, .hidden_choices = 3, MIXED, LOST() }, BSV_PASS, BSV_CANNOT_TELL },
	{ "choices that were seen are proof", { .choices = 100, .honoured = 97, .hidden_choices = 100, MIXED, LOST() }, BSV_PASS, BSV_FAIL },
	{ "but not against as many that were lost", { .choices = 100, .honoured = 97, .hidden_choices = 200, MIXED, LOST() }, BSV_PASS, BSV_CANNOT_TELL },
	{ "an inversion may be a stretch and a millisecond long",
	  { .inversions = 1, .dur_ns = MS(3), .stretch_ns = MS(2), .choices = 100, .honoured = 100, MIXED, SEEN }, BSV_PASS, BSV_PASS },
	{ "and not a nanosecond more",
	  { .inversions = 9, .dur_ns = MS(3) + 1, .stretch_ns = MS(2), .choices = 100, .honoured = 100, MIXED, SEEN }, BSV_FAIL, BSV_PASS },
	{ "an inversion that was seen is proof",
	  { .inversions = 1, .dur_ns = MS(3) + 1, .stretch_ns = MS(2), .hidden_ns = MS(9), .choices = 100, .honoured = 100, MIXED, LOST() }, BSV_FAIL, BSV_PASS },
	{ "one within its bound does not tell what was not seen",
	  { .inversions = 1, .dur_ns = MS(3), .stretch_ns = MS(2), .hidden_ns = MS(2) + 1, .least_ns = MS(1), .choices = 100, .honoured = 100, MIXED, LOST() },
	  BSV_CANNOT_TELL, BSV_PASS },
	{ "what may be hidden is within the least bound",
	  { .hidden_ns = MS(2), .least_ns = MS(1), .choices = 100, .honoured = 100, MIXED, LOST() }, BSV_PASS, BSV_PASS },
	{ "inversions that were added up, none of which is long",
	  { .inversions = 1, .dur_ns = MS(1), .stretch_ns = MS(2), .joined_ns = MS(2), .least_ns = MS(1), .choices = 100, .honoured = 100, MIXED, SEEN }, BSV_PASS, BSV_PASS },
	{ "and one that may be too long",
	  { .inversions = 1, .dur_ns = MS(1), .stretch_ns = MS(2), .joined_ns = MS(2) + 1, .least_ns = MS(1), .choices = 100, .honoured = 100, MIXED, SEEN }, BSV_CANNOT_TELL, BSV_PASS },
	{ "an inversion whose bound was lost is no proof",
	  { .inversions = 1, .unsure_ns = MS(50), .choices = 100, .honoured = 100, MIXED, LOST() }, BSV_CANNOT_TELL, BSV_PASS },
	/* clang-format on */
};

static void priority_is_judged_by_inversions_and_choices(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(priority) / sizeof(*priority); i++) {
		struct bsv_judgement j;

		bsv_rule_priority(&j, &priority[i].facts, NULL);
		expect_outcome(priority[i].story, j.rules[0].outcome, priority[i].inversion);
		expect_outcome(priority[i].story, j.rules[1].outcome, priority[i].honoured);
		assert_int_equal(j.n, 2);
		assert_string_equal(j.rules[0].name, "inversion_ns");
		assert_string_equal(j.rules[1].name, "honoured_percent");
		for (int rule = 0; rule < 2; rule++)
			assert_true(j.rules[rule].why && *j.rules[rule].why);
	}
}

/* The figure is the wait that the reason names, and not the longest one of those that count. */
static void a_probation_that_may_be_why_is_the_figure(void **state)
{
	const struct bsv_bounds lax = { .inversion = { true, MS(4) } };
	const struct bsv_priority_facts f = { .inversions = 1,
		                              .dur_ns = MS(2),
		                              .stretch_ns = MS(3),
		                              .inversions_on_probation = 1,
		                              .on_probation_ns = MS(12),
		                              MIXED,
		                              SEEN };
	struct bsv_judgement j;

	(void)state;
	bsv_rule_priority(&j, &f, NULL);
	expect_outcome("beyond its limit", j.rules[0].outcome, BSV_CANNOT_TELL);
	assert_true(j.rules[0].figure == (double)MS(12));
	assert_true(isnan(j.rules[0].bound)); /* that of the wait is not known here */
	bsv_rule_priority(&j, &f, &lax);
	expect_outcome("beyond the one that is given", j.rules[0].outcome, BSV_CANNOT_TELL);
	assert_true(j.rules[0].figure == (double)MS(12));
	assert_true(j.rules[0].bound == (double)MS(4));
}

static void bounds_of_priority_can_be_given(void **state)
{
	const struct bsv_bounds strict = { .inversion = { true, MS(1) }, .honoured_given = true, .honoured = 100 };
	const struct bsv_bounds lax = { .inversion = { true, MS(9) }, .honoured_given = true, .honoured = 0 };
	const struct bsv_priority_facts f = {
		.inversions = 1, .dur_ns = MS(1) + 1, .stretch_ns = MS(5), .choices = 1000, .honoured = 999, MIXED, SEEN
	};
	struct bsv_judgement j;

	(void)state;
	bsv_rule_priority(&j, &f, &strict);
	expect_outcome("longer than was given", j.rules[0].outcome, BSV_FAIL);
	expect_outcome("fewer than all", j.rules[1].outcome, BSV_FAIL);
	bsv_rule_priority(&j, &f, &lax);
	expect_outcome("shorter than was given", j.rules[0].outcome, BSV_PASS);
	expect_outcome("as many as nobody wants", j.rules[1].outcome, BSV_PASS);
}

static void a_failure_names_the_first_waiting_app(void **state)
{
	const struct bsv_starvation_facts starved = { .episodes = 3,
		                                      .max_gap_ns = MS(1587),
		                                      .victim = "meek's mobilenet",
		                                      .holder = "hog",
		                                      .holder_ns = MS(800),
		                                      .idle_ns = MS(700),
		                                      SEEN };
	const struct bsv_priority_facts inverted = { .inversions = 1,
		                                     .dur_ns = MS(9),
		                                     .stretch_ns = MS(1),
		                                     .victim = "phone's keyword",
		                                     .holder = "mobilenet",
		                                     MIXED,
		                                     SEEN };
	struct bsv_judgement j;

	(void)state;
	bsv_rule_starvation(&j, &starved, NULL);
	assert_string_equal(j.rules[0].why, "meek's mobilenet waited for a lane for too long, up to 1.587 s at a time; "
	                                    "the lane was held mostly by hog");
	bsv_rule_priority(&j, &inverted, NULL);
	assert_string_equal(j.rules[0].why, "phone's keyword waited 9.000 ms while its own app's less urgent mobilenet "
	                                    "held a lane; limit 2.000 ms");
}

/* Without a loss, the reason must not claim that something was not recorded, beside "no event was lost". */
static void what_may_be_hidden_is_named(void **state)
{
	const struct bsv_priority_facts lost = { .hidden_ns = MS(9), MIXED, LOST(.partly = 3) };
	const struct bsv_priority_facts begun = { .hidden_ns = MS(9),
		                                  MIXED,
		                                  .sight = { .service = true, .partly = 3 } };
	const struct bsv_priority_facts unmeasured = { .hidden_ns = MS(9), MIXED, .sight = { .service = true } };
	const struct bsv_starvation_facts one = { .sight = { .service = true, .partly = 1, .wait_ns = MS(200) } };
	struct bsv_judgement j;

	(void)state;
	bsv_rule_priority(&j, &lost, NULL);
	assert_string_equal(j.rules[0].why,
	                    "not all was recorded: urgent work may have waited for its own app's less urgent "
	                    "work, for a time of up to 9.000 ms; limit 1.000 ms");
	bsv_rule_priority(&j, &begun, NULL);
	assert_string_equal(j.rules[0].why,
	                    "3 executions were not recorded from beginning to end: urgent work may have waited "
	                    "for its own app's less urgent work, for a time of up to 9.000 ms; limit 1.000 ms");
	bsv_rule_priority(&j, &unmeasured, NULL);
	assert_string_equal(j.rules[0].why,
	                    "how long less urgent work runs before it can stop was not measured (prepare its model "
	                    "within the recording, on a quieter machine): urgent work of its app may have waited for "
	                    "it, for a time of up to 9.000 ms; limit 1.000 ms");
	bsv_rule_starvation(&j, &one, NULL);
	assert_string_equal(j.rules[0].why,
	                    "1 execution was not recorded from beginning to end: there may have been a wait of up "
	                    "to 200.0 ms; limit 100 ms");
}

/* "Mostly" is more than half of the wait. */
static void a_failure_of_starvation_names_a_holder_of_most_of_the_wait_only(void **state)
{
	static const struct {
		const char *story, *holder;
		int64_t holder_ns, idle_ns, unknown_ns;
		const char *says;
		int64_t silent_ns, silent_idle_ns;
	} rows[] = {
		{ "all of it", "hog", MS(200), 0, 0, "; the lane was held mostly by hog", 0, 0 },
		{ "just more than half", "hog", MS(100) + 1, MS(90), 0, "; the lane was held mostly by hog", 0, 0 },
		{ "half", "hog", MS(100), MS(10), MS(9), "; hog held the lane longest, 50 % of the longest wait", 0,
		  0 },
		{ "idle as long", "hog", MS(100), MS(100), 0, "; the lane was empty for 50 % of the longest wait", 0,
		  0 },
		{ "nearly none", "imp", MS(4), MS(196), 0, "; the lane was empty for 98 % of the longest wait", 0, 0 },
		{ "no holder", NULL, 0, MS(196), MS(4), "; the lane was empty for 98 % of the longest wait", 0, 0 },
		{ "one of many", "hog", MS(60), MS(50), MS(40), "; hog held the lane longest, 30 % of the longest wait",
		  0, 0 },
		{ "unknown", "cam", MS(9), MS(20), MS(170),
		  "; it is unknown who held the lane for 85 % of the longest wait", 0, 0 },
		{ "nothing to say", NULL, 0, 0, 0, "", 0, 0 },
		{ "the service is silent for most of it", "hog", MS(200), 0, 0,
		  "; no event of the service was recorded for 75 % of the longest wait", MS(150), 0 },
		{ "it is silent for half of it", "hog", MS(200), 0, 0,
		  "; hog held the lane longest, 50 % of the longest wait; no event of the service was recorded for 50 "
		  "% of "
		  "the longest wait",
		  MS(100), 0 },
		{ "hog may have held the lane for most of the rest", "hog", MS(200), 0, 0,
		  "; the lane was held mostly by hog; no event of the service was recorded for 40 % of the longest "
		  "wait",
		  MS(80), 0 },
		{ "the lane was empty while the service was silent", "hog", MS(120), MS(80), 0,
		  "; the lane was held mostly by hog; no event of the service was recorded for 40 % of the longest "
		  "wait",
		  MS(80), MS(80) },
		{ "it was empty before, too", "hog", MS(40), MS(160), 0,
		  "; the lane was empty for 50 % of the longest wait; no event of the service was recorded for 40 % of "
		  "the longest wait",
		  MS(80), MS(60) },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const struct bsv_starvation_facts starved = { .episodes = 1,
			                                      .max_gap_ns = MS(200),
			                                      .victim = "meek's mobilenet",
			                                      .holder = rows[i].holder,
			                                      .holder_ns = rows[i].holder_ns,
			                                      .idle_ns = rows[i].idle_ns,
			                                      .unknown_ns = rows[i].unknown_ns,
			                                      .silent_ns = rows[i].silent_ns,
			                                      .silent_idle_ns = rows[i].silent_idle_ns,
			                                      SEEN };
		char says[320];
		struct bsv_judgement j;

		snprintf(says, sizeof(says), "meek's mobilenet waited for a lane for too long, up to 200.0 ms%s",
		         rows[i].says);
		bsv_rule_starvation(&j, &starved, NULL);
		if (strcmp(j.rules[0].why, says) != 0)
			fail_msg("%s: %s", rows[i].story, j.rules[0].why);
	}
}

/* ---- nothing to judge ---- */

/* The reason of a verdict that passes because nothing happened states that; no other reason does. */
static void a_pass_with_nothing_to_judge_differs_from_a_pass(void **state)
{
	static const struct {
		const char *story;
		struct bsv_priority_facts facts;
		bool nothing;
	} rows[] = {
		{ "work of one priority", { SEEN }, true },
		{ "work of one priority, and an app that may have come and gone",
		  { LOST(.strange_ns = MS(1)) },
		  false },
		{ "work of one priority, as far as was recorded", { .may_be_mixed = true, SEEN }, false },
		{ "work of two priorities that was never ready at once", { MIXED, SEEN }, true },
		{ "the same, as far as was recorded", { MIXED, LOST() }, false },
		{ "one choice, and no inversion", { .choices = 1, .honoured = 1, MIXED, SEEN }, false },
		{ "no inversion among work of two priorities",
		  { .choices = 100, .honoured = 100, MIXED, SEEN },
		  false },
		{ "an inversion", { .inversions = 1, .dur_ns = MS(9), .stretch_ns = MS(1), MIXED, SEEN }, false },
		{ "no service", { .sight = { .service = false } }, false },
	};
	char only[] = "only";
	struct bsv_sharing_app app = { .of = { FINE }, .name = only, .step_ns = MS(1) };
	const struct bsv_fairness_facts alone = { LAG(1, 1, 0, MS(2)), SEEN }, two = { LAG(2, 1, 0, MS(2)), SEEN };
	struct bsv_judgement j;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		bsv_rule_priority(&j, &rows[i].facts, NULL);
		if (bsv_judged_nothing(&j) != rows[i].nothing)
			fail_msg("%s: nothing to judge: %d", rows[i].story, !rows[i].nothing);
	}
	bsv_rule_sharing(&j, &(struct bsv_sharing_facts){ .apps = &app, .n = 1, .services = 1, .played = 1, SEEN });
	assert_true(bsv_judged_nothing(&j));
	bsv_rule_fairness(&j, &alone, NULL);
	assert_true(bsv_judged_nothing(&j));
	bsv_rules_check(&j, BSV_FAIRNESS, &(struct bsv_coverage){ .unchecked = 1 });
	assert_false(bsv_judged_nothing(&j));
	bsv_rule_fairness(&j, &two, NULL);
	assert_false(bsv_judged_nothing(&j));
}

/* ---- kinds of events that were not recorded ---- */

static void a_verdict_needs_its_kinds_of_events(void **state)
{
	static const struct {
		enum bsv_audit audit;
		const char *absent, *why; /* NULL: the verdict stands */
	} rows[] = {
		{ BSV_FAIRNESS, "", NULL },
		{ BSV_FAIRNESS, "model_prepare", NULL },
		{ BSV_FAIRNESS, "exec_end",
		  "no exec_end was recorded, and that event tells when executions leave their lanes" },
		{ BSV_STARVATION, "exec_submit, sched_resume",
		  "no sched_resume was recorded, and that event tells when executions get their lanes back" },
		{ BSV_STARVATION, "exec_return, exec_submit", NULL },
		{ BSV_PRIORITY, "model_prepare",
		  "no model_prepare was recorded, and that event tells after how long a model can be stopped" },
	};
	const struct bsv_fairness_facts facts = { LAG(2, 1, 0, MS(2)), SEEN };

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct bsv_coverage c = { .traces = 1 };
		struct bsv_judgement j;

		snprintf(c.absent, sizeof(c.absent), "%s", rows[i].absent);
		bsv_rule_fairness(&j, &facts, NULL);
		bsv_rules_check(&j, rows[i].audit, &c);
		assert_int_equal(j.rules[0].outcome, rows[i].why ? BSV_CANNOT_TELL : BSV_PASS);
		if (rows[i].why)
			assert_string_equal(j.rules[0].why, rows[i].why);
	}
}

/* ---- the worst ---- */

static void fail_is_worse_than_inconclusive(void **state)
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

		expect_outcome("the worst of two", bsv_judged(&j), pairs[i].worst);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fairness_is_judged_by_the_largest_lag),
		cmocka_unit_test(a_lag_without_an_upper_bound_may_be_of_any_length),
		cmocka_unit_test(the_limit_of_a_pass_is_the_least),
		cmocka_unit_test(fairness_is_judged_by_ideal_sharing),
		cmocka_unit_test(a_service_that_was_stopped_need_not_be_unfair),
		cmocka_unit_test(what_others_cannot_have_taken_is_no_failure),
		cmocka_unit_test(a_native_app_that_slept_need_not_be_wronged),
		cmocka_unit_test(what_ideal_sharing_cannot_judge),
		cmocka_unit_test(a_bound_that_is_given_holds_instead),
		cmocka_unit_test(a_bound_of_nothing_is_one),
		cmocka_unit_test(starvation_is_judged_by_episodes),
		cmocka_unit_test(a_threshold_that_is_given_is_named),
		cmocka_unit_test(priority_is_judged_by_inversions_and_choices),
		cmocka_unit_test(a_probation_that_may_be_why_is_the_figure),
		cmocka_unit_test(a_failure_names_the_first_waiting_app),
		cmocka_unit_test(what_may_be_hidden_is_named),
		cmocka_unit_test(a_failure_of_starvation_names_a_holder_of_most_of_the_wait_only),
		cmocka_unit_test(bounds_of_priority_can_be_given),
		cmocka_unit_test(a_pass_with_nothing_to_judge_differs_from_a_pass),
		cmocka_unit_test(a_verdict_needs_its_kinds_of_events),
		cmocka_unit_test(fail_is_worse_than_inconclusive),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
