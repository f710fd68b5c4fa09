/* test_findings.c -- all evidence against one app for one behaviour is one finding, with advice against each harm. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "audit/finding.h"
#include "base.h"

enum { MOST = 3 };

static const struct row {
	const char *name;
	struct found {
		const char *finding, *what, *blamed, *advice;
		enum bsv_blame blame;
	} found[MOST];
	/* the expected findings, with their evidence after a bar, and their advice */
	const char *says[MOST], *advice[MOST];
} rows[] = {
	{ "misses, starvation and shares of one taker are one finding, with advice against each",
	  { { "crowded_out", "a missed 3", "hog", "More lanes.", BSV_BLAMES_HOLDER },
	    { "starvation", "a starved", "hog", "Share.", BSV_BLAMES_HOLDER },
	    { "unfair", "a got less", "hog", NULL, BSV_BLAMES_HOLDER } },
	  { "a missed 3|a starved; a got less" },
	  { "Against the missed deadlines: More lanes. Against the starvation: Share." } },
	{ "one advice against all that a finding is about needs no more words",
	  { { "hogged", "a missed 3", "hog", "Share.", BSV_BLAMES_HOLDER },
	    { "unfair", "a got less", "hog", "Share.", BSV_BLAMES_HOLDER } },
	  { "a missed 3|a got less" },
	  { "Share." } },
	{ "advice against the second harm alone is not taken for one against the first",
	  { { "crowded_out", "a missed 3", "hog", NULL, BSV_BLAMES_HOLDER },
	    { "unfair", "a got less", "hog", "Share.", BSV_BLAMES_HOLDER } },
	  { "a missed 3|a got less" },
	  { "Against the unfair shares: Share." } },
	{ "two takers are two findings",
	  { { "hogged", "a missed 3", "hog", "Share.", BSV_BLAMES_HOLDER },
	    { "hogged", "a missed 2", "pig", "Share.", BSV_BLAMES_HOLDER } },
	  { "a missed 3|", "a missed 2|" },
	  { "Share.", "Share." } },
	{ "the order of an app's own work is another matter than what it takes from others",
	  { { "hogged", "a missed 3", "hog", "Share.", BSV_BLAMES_HOLDER },
	    { "inversion", "hog's urgent waited", "hog", "Preempt.", BSV_BLAMES_ORDER } },
	  { "a missed 3|", "hog's urgent waited|" },
	  { "Share.", "Preempt." } },
	{ "a taker that starves itself, too: one finding, with advice against both",
	  { { "hogged", "a missed 3", "hog", "Share.", BSV_BLAMES_HOLDER },
	    { "starvation", "hog waited for itself", "hog", "Fewer.", BSV_BLAMES_OWN } },
	  { "a missed 3|hog waited for itself" },
	  { "Against the missed deadlines: Share. Against its own starvation: Fewer." } },
	{ "an app that starves its urgent work by the order of its own: one finding",
	  { { "inversion", "hog's urgent waited", "hog", "Preempt.", BSV_BLAMES_ORDER },
	    { "starvation", "hog waited for itself", "hog", "Fewer.", BSV_BLAMES_OWN } },
	  { "hog's urgent waited|hog waited for itself" },
	  { "Against the inversions: Preempt. Against its own starvation: Fewer." } },
	{ "a taker that misses deadlines by its own work: two findings",
	  { { "hogged", "a missed 3", "hog", "Share.", BSV_BLAMES_HOLDER },
	    { "queued_behind", "hog missed 2", "hog", "Fewer.", BSV_BLAMES_OWN } },
	  { "a missed 3|", "hog missed 2|" },
	  { "Share.", "Fewer." } },
	{ "where no app is blamed, nothing is put together",
	  { { "woken_late", "a missed 3", NULL, NULL, BSV_BLAMES_NO_APP },
	    { "service", "a missed 2", NULL, NULL, BSV_BLAMES_NO_APP } },
	  { "a missed 3|", "a missed 2|" },
	  { NULL, NULL } },
};

static void row_has_its_findings(void **state)
{
	const struct row *r = *state;
	struct bsv_findings f = { .n = 0 };
	size_t wanted = 0;

	for (size_t i = 0; i < MOST && r->found[i].finding; i++)
		assert_int_equal(
			bsv_finding_add(
				&f,
				(struct bsv_finding){ .finding = strdup(r->found[i].finding),
		                                      .what = strdup(r->found[i].what),
		                                      .blame = r->found[i].blame,
		                                      .blamed = r->found[i].blamed ? strdup(r->found[i].blamed) : NULL,
		                                      .first_at = 1000000,
		                                      .last_at = 5000000,
		                                      .misses = strstr(r->found[i].what, "missed") ? 3 : -1,
		                                      .advice = r->found[i].advice },
				NULL),
			0);
	while (wanted < MOST && r->says[wanted])
		wanted++;
	assert_int_equal(f.n, wanted);
	for (size_t i = 0; i < f.n; i++) {
		const char *bar = strchr(r->says[i], '|');
		char *advised = bsv_finding_advised(&f.of[i]);

		assert_int_equal(strlen(f.of[i].what), bar - r->says[i]);
		assert_memory_equal(f.of[i].what, r->says[i], (size_t)(bar - r->says[i]));
		assert_string_equal(f.of[i].evidence ? f.of[i].evidence : "", bar + 1);
		assert_string_equal(advised, r->advice[i] ? r->advice[i] : "");
		free(advised);
	}
	bsv_findings_fini(&f);
}

static void a_finding_has_its_time(void **state)
{
	static const struct {
		int64_t first_at, last_at;
		const char *says;
	} times[] = { { BSV_WHEN_UNKNOWN, BSV_WHEN_UNKNOWN, "" },
		      { 0, BSV_WHEN_UNKNOWN, "at 0 ns of the recording" },
		      { 5000000, 5000000, "at 5.000 ms of the recording" },
		      { 5000000, 7000000, "from 5.000 to 7.000 ms of the recording" },
		      { 5000000, 7000000000, "from 0.005 to 7.000 s of the recording" } };

	(void)state;
	for (size_t i = 0; i < N_OF(times); i++) {
		char *when = bsv_finding_when(
			&(struct bsv_finding){ .first_at = times[i].first_at, .last_at = times[i].last_at });

		assert_string_equal(when, times[i].says);
		free(when);
	}
}

static void a_joined_finding_keeps_its_proof(void **state)
{
	struct bsv_findings f = { .n = 0 };

	(void)state;
	for (int i = 0; i < 2; i++)
		assert_int_equal(bsv_finding_add(&f,
		                                 (struct bsv_finding){
							 .finding = strdup("hogged"),
							 .what = strdup(i ? "b missed 2" : "a missed 3"),
							 .proof = strdup(i ? "a replay meets 2" : "a replay meets 3"),
							 .certainty = BSV_SURE,
							 .blame = BSV_BLAMES_HOLDER,
							 .blamed = strdup("hog") },
		                                 NULL),
		                 0);
	assert_int_equal(f.n, 1);
	assert_string_equal(f.of[0].proof, "a replay meets 3");
	assert_string_equal(f.of[0].evidence, "b missed 2; a replay meets 2");
	assert_string_equal(bsv_certainty_name(f.of[0].certainty), "sure");
	bsv_findings_fini(&f);
}

static void all_victims_are_named(void **state)
{
	static const struct {
		const char *first, *second, *both;
		enum bsv_blame blame; /* blame of the second finding */
	} cases[] = { { "camera's frames", "gallery's faces", "camera's frames, gallery's faces", BSV_BLAMES_HOLDER },
		      { "camera's frames", "camera", "camera's frames", BSV_BLAMES_HOLDER },
		      { "pad, camera's frames", "camera's faces", "pad, camera's frames", BSV_BLAMES_HOLDER },
		      { "camera's frames", "cam", "camera's frames, cam", BSV_BLAMES_HOLDER },
		      { "camera's frames", "hog's own", "camera's frames, hog's own (by itself)", BSV_BLAMES_OWN } };

	(void)state;
	for (size_t i = 0; i < N_OF(cases); i++) {
		struct bsv_findings f = { .n = 0 };

		for (int k = 0; k < 2; k++) {
			struct bsv_finding of = { .finding = strdup(k ? "starvation" : "hogged"),
				                  .what = strdup("it"),
				                  .who = strdup(k ? cases[i].second : cases[i].first),
				                  .blame = k ? cases[i].blame : BSV_BLAMES_HOLDER,
				                  .blamed = strdup("hog") };

			assert_int_equal(bsv_finding_add(&f, of, NULL), 0);
		}
		assert_int_equal(f.n, 1);
		assert_string_equal(f.of[0].who, cases[i].both);
		bsv_findings_fini(&f);
	}
}

static void deadlines_that_fair_sharing_meets_are_proof(void **state)
{
	static const struct {
		const char *victims, *who; /* the app whose deadlines fair sharing would have met */
		bool saves;
		int64_t sure; /* misses that replays prove */
		bool is_proof;
	} cases[] = {
		{ "meek's keyword", "meek", true, 0, true },   { "meek", "meek", true, 0, true },
		{ "meek's keyword", "meek", false, 0, false }, { "meek's keyword", "meek", true, 1, false },
		{ "meek's keyword", "mee", true, 0, false },   { "meek's keyword, other", "meek", true, 0, false }
	};

	(void)state;
	for (size_t i = 0; i < N_OF(cases); i++) {
		struct bsv_findings f = { .n = 0 };

		for (int k = 0; k < 2; k++) {
			struct bsv_finding of = { .finding = strdup(k ? "unfair" : "hogged"),
				                  .what = strdup(k ? "92 would be met" : "missed 3"),
				                  .who = strdup(k ? cases[i].who : cases[i].victims),
				                  .misses = k ? -1 : 3,
				                  .one_victim = !k && !strchr(cases[i].victims, ','),
				                  .saves = k && cases[i].saves,
				                  .sure = k ? 0 : cases[i].sure,
				                  .certainty = k ? BSV_SURE : BSV_LIKELY,
				                  .blame = BSV_BLAMES_HOLDER,
				                  .blamed = strdup("hog") };

			assert_int_equal(bsv_finding_add(&f, of, NULL), 0);
		}
		assert_int_equal(f.n, 1);
		assert_int_equal(f.of[0].certainty, BSV_LIKELY);
		assert_string_equal(cases[i].is_proof ? f.of[0].proof : f.of[0].evidence, "92 would be met");
		bsv_findings_fini(&f);
	}
}

static void the_certainty_counts_proved_misses(void **state)
{
	static const struct {
		enum bsv_certainty certainty;
		int64_t misses, sure;
		const char *says;
	} cases[] = { { BSV_SURE, 71, 71, "sure" },
		      { BSV_LIKELY, 71, 12, "12 sure, 59 likely" },
		      { BSV_LIKELY, 71, 0, "likely" },
		      { BSV_LIKELY, -1, 0, "likely" },
		      { BSV_CLAIMS_NOTHING, 71, 0, NULL } };

	(void)state;
	for (size_t i = 0; i < N_OF(cases); i++) {
		char *says = bsv_finding_certainty(&(struct bsv_finding){
			.certainty = cases[i].certainty, .misses = cases[i].misses, .sure = cases[i].sure });

		if (cases[i].says)
			assert_string_equal(says, cases[i].says);
		else
			assert_null(says);
		free(says);
	}
}

int main(void)
{
	static const struct CMUnitTest properties[] = {
		cmocka_unit_test(a_finding_has_its_time),
		cmocka_unit_test(a_joined_finding_keeps_its_proof),
		cmocka_unit_test(all_victims_are_named),
		cmocka_unit_test(deadlines_that_fair_sharing_meets_are_proof),
		cmocka_unit_test(the_certainty_counts_proved_misses),
	};
	struct CMUnitTest tests[N_OF(rows) + N_OF(properties)];

	for (size_t i = 0; i < N_OF(rows); i++)
		tests[i] = (struct CMUnitTest){ .name = rows[i].name,
			                        .test_func = row_has_its_findings,
			                        .initial_state = (void *)&rows[i] };
	memcpy(tests + N_OF(rows), properties, sizeof(properties));
	return cmocka_run_group_tests_name("findings", tests, NULL, NULL);
}
