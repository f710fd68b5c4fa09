/*
 * test_folds.c -- FILE...: each case of these files (fold_file.h) through a fold, which must find its answer. A case
 * about both forms of events must give the same facts in either, and with both the full form holds.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyzer/expect.h"
#include "analyzer/fold_file.h"

/* With a stream that is open, a summary may be to come, so that compact events have less of the end. */
static const char all_closed[] = "1600 stream_close stream=3\n1600 stream_close stream=4\n1600 stream_close "
				 "stream=5\n1600 stream_close stream=6\n";

/*
 * The lines of both, in the order of their times; of lines of the same time, those of @one come first. Owned by the
 * caller.
 */
static char *merged(const char *one, const char *two)
{
	char *text = calloc(1, strlen(one) + strlen(two) + 1), *end = text;

	assert_non_null(text);
	while (*one || *two) {
		bool first = !*two || (*one && strtoull(one, NULL, 10) <= strtoull(two, NULL, 10));
		const char **from = first ? &one : &two;
		size_t n = strcspn(*from, "\n") + 1;

		memcpy(end, *from, n);
		end += n;
		*from += n;
	}
	return text;
}

/* The script of @c with the lines of one form, or of both, and then of @more. Owned by the caller. */
static char *script_of(const struct fold_case *c, bool full, bool compact, const char *more)
{
	char *forms = merged(full ? c->full : "", compact ? c->compact : "");
	char *lines = merged(c->script, forms), *all = merged(lines, more);

	free(forms);
	free(lines);
	return all;
}

/* The facts of @script, which is freed, as text. Owned by the caller. */
static char *facts_of(char *script, const struct bsa_fold_options *options, uint64_t *ret_too_late)
{
	struct folded f;
	char *facts;

	fold_script(&f, script, options);
	facts = collect_text(&f.facts, true);
	*ret_too_late = f.left_out.late + f.left_out.stragglers;
	folded_fini(&f);
	free(script);
	return facts;
}

/* Frees both texts. A difference fails with the lines in which it is. */
static void expect_same(const char *what, char *want, char *is)
{
	size_t at = 0;

	while (want[at] && want[at] == is[at])
		at++;
	while (at && want[at - 1] != '\n')
		at--;
	if (strcmp(want, is))
		fail_msg("%s: %.*s\nis not\n%.*s", what, (int)strcspn(is + at, "\n"), is + at,
		         (int)strcspn(want + at, "\n"), want + at);
	free(want);
	free(is);
}

static void forms_agree(const struct fold_case *c)
{
	bool rare = strstr(c->compact, "sched_preempt") || strstr(c->compact, "deadline_miss");
	const struct bsa_fold_options of_full = { .declared = c->options.declared };
	uint64_t too_late;
	char *full = facts_of(script_of(c, true, false, all_closed), &of_full, &too_late);
	char *compact = facts_of(script_of(c, false, true, all_closed), &c->options, &too_late);

	expect_same("in compact", full, compact);
	assert_int_equal(too_late, 0);
	if (rare) /* both forms have these events, which would be there twice */
		return;
	full = facts_of(script_of(c, true, false, ""), &of_full, &too_late);
	expect_same("in both", full, facts_of(script_of(c, true, true, ""), &c->options, &too_late));
}

static void finds_the_answer(void **state)
{
	const struct fold_case *c = *state;
	struct folded f;

	if (c->full) {
		forms_agree(c);
		return;
	}
	fold_script_until(&f, c->script, &c->options, &c->end);
	assert_true(expect_facts(c->name, &f, c->wants));
	folded_fini(&f);
}

int main(int argc, char **argv)
{
	struct fold_file file = { 0 };
	struct CMUnitTest *tests;
	int failed = 1;

	for (int i = 1; i < argc; i++)
		fold_file_read(&file, argv[i]);
	tests = calloc(file.n_cases + 1, sizeof(*tests));
	if (!tests)
		abort();
	for (size_t i = 0; i < file.n_cases; i++)
		tests[i] = (struct CMUnitTest){ .name = file.cases[i].name,
			                        .test_func = finds_the_answer,
			                        .initial_state = &file.cases[i] };
	if (file.n_cases)
		failed = _cmocka_run_group_tests(argv[argc - 1], tests, file.n_cases, NULL, NULL);
	free(tests);
	fold_file_fini(&file);
	return failed;
}
