/*
 * test_advice.c -- advice fits the settings: each piece under each of its conditions, and never advice to set
 * what is set already.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "audit/advice.h"
#include "base.h"
#include "base/causes.h"

static const struct row {
	const char *name;
	struct bsv_advised what;
	struct bsv_settings settings;
	const char *says; /* a part of the advice; NULL: no advice */
} rows[] = {
	{ "hogged under fifo: a policy that shares", { .cause = "hogged" }, { .known = true }, "--policy fair" },
	{ "hogged under fair, which never preempts",
	  { .cause = "hogged" },
	  { .known = true, .fair = true, .heeds_priority = true },
	  "--preempt save" },
	{ "hogged under fair, which preempts: nothing to set",
	  { .cause = "hogged" },
	  { .known = true, .fair = true, .heeds_priority = true, .preempts = true, .saves = true },
	  NULL },
	{ "hogged, and no rules were recorded", { .cause = "hogged" }, { .known = false }, NULL },
	{ "inversion under fifo", { .cause = "inversion" }, { .known = true }, "--policy fair --preempt save" },
	{ "inversion under fifo, with --preempt save",
	  { .cause = "inversion" },
	  { .known = true, .saves = true },
	  "heeds priority within an app: nnburstd --policy fair" },
	{ "inversion under edf, which preempts",
	  { .cause = "inversion" },
	  { .known = true, .preempts = true, .saves = true },
	  "--policy fair." },
	{ "inversion under fair, which never preempts",
	  { .cause = "inversion" },
	  { .known = true, .fair = true, .heeds_priority = true },
	  "Preemption: nnburstd --preempt save" },
	{ "inversion under priority, which preempts: nothing to set",
	  { .cause = "inversion" },
	  { .known = true, .heeds_priority = true, .preempts = true },
	  NULL },
	{ "queued behind a model of a higher priority",
	  { .cause = "queued_behind", .priority = "low", .culprit_priority = "medium" },
	  { .known = true, .fair = true, .heeds_priority = true },
	  "Raise the priority" },
	{ "queued behind a model of a higher priority, where no policy heeds it",
	  { .cause = "queued_behind", .priority = "low", .culprit_priority = "medium" },
	  { .known = true },
	  "one more lane" },
	{ "queued behind a model of the same priority",
	  { .cause = "queued_behind", .priority = "medium", .culprit_priority = "medium" },
	  { .known = true, .heeds_priority = true },
	  "one more lane" },
	{ "crowded out", { .cause = "crowded_out" }, { .known = true }, "More lanes" },
	{ "crowded out of a service without lanes",
	  { .cause = "crowded_out" },
	  { .known = true, .native = true },
	  NULL },
	{ "redo, where executions start over",
	  { .cause = "redo" },
	  { .known = true, .preempts = true },
	  "--preempt save" },
	{ "redo, where what was done is kept",
	  { .cause = "redo" },
	  { .known = true, .preempts = true, .saves = true },
	  NULL },
	{ "woken late, a burst", { .cause = "woken_late", .path = "burst" }, { .known = true }, "--spin" },
	{ "woken late by milliseconds: no cpu, which polling would take",
	  { .cause = "woken_late", .path = "burst", .mean_ns = 2000000 },
	  { .known = true },
	  "less other work" },
	{ "woken late by microseconds",
	  { .cause = "woken_late", .path = "burst", .mean_ns = 50000 },
	  { .known = true },
	  "--spin" },
	{ "woken late, a burst of a service that polls always",
	  { .cause = "woken_late", .path = "burst" },
	  { .known = true, .polls_always = true },
	  NULL },
	{ "woken late, a call, for which no thread polls",
	  { .cause = "woken_late", .path = "sync" },
	  { .known = true },
	  "A burst" },
	{ "woken late, a fence", { .cause = "woken_late", .path = "fenced" }, { .known = true }, NULL },
	{ "woken late, a burst, which cost a deadline: as summary advises against the machine",
	  { .cause = "woken_late", .path = "burst", .is_miss = true },
	  { .known = true },
	  "less other work" },
	{ "woken late, a call, which cost a deadline",
	  { .cause = "woken_late", .path = "sync", .is_miss = true },
	  { .known = true },
	  "less other work" },
	{ "a lane handed over late, which cost a deadline",
	  { .cause = "handover", .is_miss = true },
	  { .known = false },
	  "less other work" },
	{ "a slow run, which cost a deadline",
	  { .cause = "slow_compute", .is_miss = true },
	  { .known = false },
	  "less other work" },
	{ "a slow run, on which no deadline depended", { .cause = "slow_compute" }, { .known = true }, NULL },
	{ "read late", { .cause = "polled_late" }, { .known = false }, "less other work" },
	{ "a busy machine", { .cause = "machine_busy" }, { .known = false }, "less other work" },
	{ "service, a call", { .cause = "service", .path = "sync" }, { .known = true }, "a call costs more" },
	{ "service, a burst: it is one already", { .cause = "service", .path = "burst" }, { .known = true }, NULL },
	{ "service, of an unknown path", { .cause = "service" }, { .known = true }, NULL },
	{ "unknown, where events were dropped", { .cause = "unknown" }, { .lost = true }, "Larger buffers" },
	{ "unknown, where nothing was lost", { .cause = "unknown" }, { .known = true }, NULL },
	{ "submitted late", { .cause = "submitted_late" }, { .known = false }, "Submit it earlier" },
	{ "a run that is longer than its budget", { .cause = "too_big" }, { .known = false }, "A longer deadline" },
	{ "starvation under priority",
	  { .cause = "starvation" },
	  { .known = true, .heeds_priority = true },
	  "--policy fair" },
	{ "starvation under fair: nothing to set, but lanes to add",
	  { .cause = "starvation" },
	  { .known = true, .fair = true },
	  "One more lane" },
	{ "less than its share, under fifo", { .cause = "unfair" }, { .known = true }, "--policy fair" },
	{ "a service that is silent", { .cause = "silent" }, { .known = false }, "gdb -p" },
	{ "a burst per call", { .cause = "burst_per_call" }, { .known = false }, "Make one burst" },
	{ "a cause that there is no advice for", { .cause = "preempted" }, { .known = true }, NULL },
	{ "no cause", { .cause = NULL }, { .known = true }, NULL },
};

static void row_has_its_advice(void **state)
{
	const struct row *r = *state;
	const char *says = bsv_advice(&r->what, &r->settings);

	if (!r->says && says)
		fail_msg("%s", says);
	if (r->says && (!says || !strstr(says, r->says)))
		fail_msg("%s", says ? says : "nothing");
}

enum { N_CAUSES = 26 }; /* the findings after these are not causes */

static const char *const causes[] = {
	"too_big",     "too_tight",  "submitted_late", "queued_behind", "inversion",      "crowded_out",
	"hogged",      "preempted",  "redo",           "handover",      "cold",           "woken_late",
	"polled_late", "queue_full", "slow_compute",   "off_core",      "machine_busy",   "service",
	"client",      "dependency", "bad_estimate",   "stalled",       "stopped",        "long_run",
	"unknown",     "overbooked", "starvation",     "unfair",        "burst_per_call", "silent"
};
static const char *const paths[] = { "burst", "sync", "fenced", "async", NULL };
static const char *const priorities[] = { "low", "medium", "high", NULL };

static void check(const struct bsv_advised *a, const struct bsv_settings *s)
{
	const char *says = bsv_advice(a, s);

	if (!says)
		return;
	assert_false(s->fair && strstr(says, "--policy fair"));
	assert_false(s->saves && strstr(says, "--preempt save"));
	assert_false(s->polls_always && strstr(says, "--spin"));
	assert_false(!s->known && strstr(says, "--p"));
	assert_false(!s->lost && strstr(says, "buffers"));
}

static void advice_never_repeats_a_setting(void **state)
{
	(void)state;
	for (size_t c = 0; c < N_OF(causes); c++)
		for (size_t p = 0; p < N_OF(paths); p++)
			for (unsigned bits = 0; bits < 256; bits++)
				for (size_t q = 0; q < N_OF(priorities) * N_OF(priorities); q++) {
					const struct bsv_settings s = { .known = bits & 1,
						                        .fair = bits & 2,
						                        .heeds_priority = bits & 4 || bits & 2,
						                        .preempts = bits & 8,
						                        .saves = bits & 16,
						                        .native = bits & 32,
						                        .polls_always = bits & 64,
						                        .lost = bits & 128 };
					const struct bsv_advised a = { causes[c],         paths[p], priorities[q % 4],
						                       priorities[q / 4], false,    0 };

					check(&a, &s);
				}
}

static void bursts_are_advised_only_for_calls_without_one(void **state)
{
	(void)state;
	for (size_t c = 0; c < N_OF(causes); c++)
		for (size_t p = 0; p < N_OF(paths); p++)
			for (unsigned bits = 0; bits < 4; bits++) {
				const struct bsv_settings s = { .known = bits & 1, .polls_always = bits & 2 };
				const struct bsv_advised a = { causes[c], paths[p], NULL, NULL, false, 0 };
				const char *says = bsv_advice(&a, &s);
				bool is_call = paths[p] && !strcmp(paths[p], "sync");
				bool costs = !strcmp(causes[c], "woken_late") || !strcmp(causes[c], "service");

				if ((says && strstr(says, "A burst:")) != (is_call && costs))
					fail_msg("%s, %s: %s", causes[c], paths[p] ? paths[p] : "any path",
					         says ? says : "nothing");
			}
}

/* A new cause needs a sentence that explains it. */
static void every_cause_is_explained(void **state)
{
	(void)state;
	for (size_t c = 0; c < N_CAUSES; c++) {
		assert_string_not_equal(bsv_cause_text(causes[c]), "");
		assert_non_null(bsv_cause_of_miss(causes[c], true));
		assert_null(strstr(bsv_cause_of_miss(causes[c], false), "within its share"));
	}
}

int main(void)
{
	static const struct CMUnitTest properties[] = {
		cmocka_unit_test(advice_never_repeats_a_setting),
		cmocka_unit_test(bursts_are_advised_only_for_calls_without_one),
		cmocka_unit_test(every_cause_is_explained),
	};
	struct CMUnitTest tests[N_OF(rows) + N_OF(properties)];

	for (size_t i = 0; i < N_OF(rows); i++)
		tests[i] = (struct CMUnitTest){ .name = rows[i].name,
			                        .test_func = row_has_its_advice,
			                        .initial_state = (void *)&rows[i] };
	memcpy(tests + N_OF(rows), properties, sizeof(properties));
	return cmocka_run_group_tests_name("advice", tests, NULL, NULL);
}
