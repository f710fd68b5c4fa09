/*
 * test_slo.c -- rules: how they are read, the refusals of wrong ones, and the outcome of each.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "slo/judge.h"
#include "slo/junit.h"
#include "slo/rules.h"

/* ---- reading ---- */

/* The only rule of @text. */
static struct bsv_slo_rule *only(struct bsv_slo *slo, const char *text)
{
	struct bsa_err err = { "" };

	if (bsv_slo_parse(slo, text, strlen(text), &err) < 0)
		fail_msg("%s: %s", text, err.text);
	assert_int_equal(slo->n, 1);
	return slo->rules;
}

static void a_rule_is_read_as_it_is_meant(void **ctx)
{
	static const struct {
		const char *text, *written;
		enum bsv_slo_kind kind;
		double percent, bound;
	} rows[] = {
		{ "p99 e2e <= 5ms", "p99 e2e <= 5ms", BSV_SLO_TIME, 99, 5e6 },
		{ "  p99.9\te2e<=5   ms # fast", "p99.9 e2e <= 5 ms", BSV_SLO_TIME, 99.9, 5e6 },
		{ "p50 queue <= 1.5us\r", "p50 queue <= 1.5us", BSV_SLO_TIME, 50, 1500 },
		{ "p50 queue <= 2min", "p50 queue <= 2min", BSV_SLO_TIME, 50, 120e9 },
		{ "p50 queue <= 1.5 h", "p50 queue <= 1.5 h", BSV_SLO_TIME, 50, 5400e9 },
		{ "p100 overhead <= 2 s", "p100 overhead <= 2 s", BSV_SLO_TIME, 100, 2e9 },
		{ "p1 preempted <= 0ns", "p1 preempted <= 0ns", BSV_SLO_TIME, 1, 0 },
		{ "p50 overhead share <= 30 %", "p50 overhead share <= 30 %", BSV_SLO_OVERHEAD, 50, 30 },
		{ "miss ratio <= 0%", "miss ratio <= 0 %", BSV_SLO_MISSES, 0, 0 },
		{ "at most 0 misses in any 1", "at most 0 misses in any 1", BSV_SLO_STREAK, 0, 0 },
		{ "at most 1 miss in any 10", "at most 1 miss in any 10", BSV_SLO_STREAK, 0, 1 },
		{ "starvation none", "starvation none", BSV_SLO_STARVATION, 0, 0 },
		{ "starvation none over 200ms", "starvation none over 200ms", BSV_SLO_STARVATION, 0, 2e8 },
		{ "fairness", "fairness", BSV_SLO_FAIRNESS, 0, 0 },
		{ "fairness lag <= 5ms", "fairness lag <= 5ms", BSV_SLO_FAIRNESS, 0, 5e6 },
		{ "priority", "priority", BSV_SLO_PRIORITY, 0, 0 },
		{ "priority inversion <= 1ms", "priority inversion <= 1ms", BSV_SLO_INVERSION, 0, 1e6 },
		{ "priority honoured >= 99.5 %", "priority honoured >= 99.5 %", BSV_SLO_HONOURED, 0, 99.5 },
		{ "coverage >= 100 %", "coverage >= 100 %", BSV_SLO_COVERAGE, 0, 100 },
		{ "executions >= 1000", "executions >= 1000", BSV_SLO_EXECUTIONS, 0, 1000 },
	};

	(void)ctx;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct bsv_slo slo;
		struct bsv_slo_rule *r = only(&slo, rows[i].text);

		assert_string_equal(r->text, rows[i].written);
		assert_int_equal(r->kind, rows[i].kind);
		assert_true(r->percent == rows[i].percent && fabs(r->bound - rows[i].bound) < 1e-6);
		assert_false(r->baseline);
		assert_true(!r->of.app && !r->of.model && !r->of.path && !r->of.priority && r->of.cold == -1);
		bsv_slo_fini(&slo);
	}
}

static void a_selection_may_have_each_key_once_in_any_order(void **ctx)
{
	struct bsv_slo slo;
	struct bsv_slo_rule *r;

	(void)ctx;
	r = only(&slo, "p99 e2e of priority=high path = burst cold model=\"my \\\"net\\\" #1\" app=a-b.c <= 5ms");
	assert_string_equal(r->of.app, "a-b.c");
	assert_string_equal(r->of.model, "my \"net\" #1");
	assert_string_equal(r->of.path, "burst");
	assert_string_equal(r->of.priority, "high");
	assert_int_equal(r->of.cold, 1);
	bsv_slo_fini(&slo);
	r = only(&slo, "at most 2 misses in any 10 of app=of warm");
	assert_string_equal(r->of.app, "of");
	assert_int_equal(r->of.cold, 0);
	assert_int_equal(r->most, 2);
	assert_int_equal(r->window, 10);
	bsv_slo_fini(&slo);
	r = only(&slo, "miss ratio of app=\"<=\" <= 1 %");
	assert_string_equal(r->of.app, "<=");
	bsv_slo_fini(&slo);
}

static void a_baseline_may_be_left_behind_by_a_share_or_a_time(void **ctx)
{
	static const struct {
		const char *text;
		double times, bound;
	} rows[] = {
		{ "p50 e2e <= baseline", 1, 0 },
		{ "p50 e2e <= baseline + 10 %", 1.1, 0 },
		{ "p50 e2e <= baseline+10%", 1.1, 0 },
		{ "p50 e2e <= baseline + 1000 %", 11, 0 },
		{ "p50 e2e <= baseline + 50us", 1, 50000 },
	};

	(void)ctx;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct bsv_slo slo;
		struct bsv_slo_rule *r = only(&slo, rows[i].text);

		assert_true(r->baseline && fabs(r->times - rows[i].times) < 1e-9 &&
		            fabs(r->bound - rows[i].bound) < 1e-6);
		bsv_slo_fini(&slo);
	}
}

static void a_rule_is_printed_as_it_can_be_read(void **ctx)
{
	static const char text[] = "p50 run of app=\"a \\\"b\\\" \\\\c\" <= 1ms";
	struct bsv_slo slo, again;
	struct bsv_slo_rule *r = only(&slo, text);

	(void)ctx;
	assert_string_equal(r->text, text);
	assert_string_equal(only(&again, r->text)->of.app, "a \"b\" \\c");
	bsv_slo_fini(&again);
	bsv_slo_fini(&slo);
}

static void lines_are_counted_whatever_is_in_them(void **ctx)
{
	static const char text[] = "# what\n\n   \t\r\nfairness\n#\npriority # last";
	struct bsa_err err = { "" };
	struct bsv_slo slo;

	(void)ctx;
	assert_int_equal(bsv_slo_parse(&slo, text, strlen(text), &err), 0);
	assert_int_equal(slo.n, 2);
	assert_int_equal(slo.rules[0].line, 4);
	assert_int_equal(slo.rules[1].line, 6);
	bsv_slo_fini(&slo);
}

#define FIRST                                                                                                  \
	"expected p50, p99 or the like, 'miss ratio', 'at most', starvation, fairness, priority, coverage or " \
	"executions"

static const struct {
	const char *text, *says;
} refused_rows[] = {
	{ "", "the file has no rule; see burstscope-slo(5)" },
	{ "# nothing\n\n", "the file has no rule; see burstscope-slo(5)" },
	{ "fairness\nfairnes", "line 2: " FIRST ", not 'fairnes'; did you mean 'fairness'?" },
	{ "latency <= 5ms", "line 1: " FIRST ", not 'latency'" },
	{ "\"fairness\"", "line 1: " FIRST ", not 'fairness'; did you mean 'fairness'?" },
	{ "p0 e2e <= 5ms", "line 1: " FIRST ", not 'p0'" },
	{ "p101 e2e <= 5ms", "line 1: " FIRST ", not 'p101'" },
	{ "p-1 e2e <= 5ms", "line 1: " FIRST ", not 'p-1'" },
	{ "p99. e2e <= 5ms", "line 1: " FIRST ", not 'p99.'" },
	{ "p1e1 e2e <= 5ms", "line 1: " FIRST ", not 'p1e1'" },
	{ "pinf e2e <= 5ms", "line 1: " FIRST ", not 'pinf'" },
	{ "p99", "line 1: expected e2e, overhead, overhead share, or a phase, but the line ends" },
	{ "p99 quue <= 5ms",
	  "line 1: expected e2e, overhead, overhead share, or a phase, not 'quue'; did you mean 'queue'?" },
	{ "p99 e2e", "line 1: expected 'of' and a selection, or '<=' and a limit, but the line ends" },
	{ "p99 e2e < 5ms", "line 1: expected 'of' and a selection, or '<=' and a limit, not '<'" },
	{ "p99 e2e >= 5ms", "line 1: expected 'of' and a selection, or '<=' and a limit, not '>='" },
	{ "p99 e2e <=", "line 1: expected a time as in '5ms' (ns, us, ms, s, min or h), but the line ends" },
	{ "p99 e2e <= 5", "line 1: expected a time as in '5ms' (ns, us, ms, s, min or h), not '5'" },
	{ "p99 e2e <= -5ms", "line 1: expected a time as in '5ms' (ns, us, ms, s, min or h), not '-5ms'" },
	{ "p99 e2e <= 5d", "line 1: expected a time as in '5ms' (ns, us, ms, s, min or h), not '5d'" },
	{ "p99 e2e <= 5m", "line 1: expected a time as in '5ms' (ns, us, ms, s, min or h), not '5m'" },
	{ "p99 e2e <= 5 m", "line 1: expected a time as in '5ms' (ns, us, ms, s, min or h), not '5'" },
	{ "p99 e2e <= 5 %", "line 1: expected a time as in '5ms' (ns, us, ms, s, min or h), not '5'" },
	{ "p99 e2e <= 1e3ns", "line 1: expected a time as in '5ms' (ns, us, ms, s, min or h), not '1e3ns'" },
	{ "p99 e2e <= 0x1ms", "line 1: expected a time as in '5ms' (ns, us, ms, s, min or h), not '0x1ms'" },
	{ "p99 e2e <= 9999999999999s",
	  "line 1: expected a time as in '5ms' (ns, us, ms, s, min or h), not '9999999999999s'" },
	{ "p99 e2e <= 99999999999999999999ns",
	  "line 1: expected a time as in '5ms' (ns, us, ms, s, min or h), not '99999999999999999999ns'" },
	{ "p99 e2e <= 5ms please", "line 1: expected the end of the line, not 'please'" },
	{ "p99 e2e of <= 5ms", "line 1: expected app=, model=, path=, priority=, cold or warm, not '<='" },
	{ "p99 e2e of ap=camera <= 5ms",
	  "line 1: expected app=, model=, path=, priority=, cold or warm, not 'ap'; did you mean 'app'?" },
	{ "miss ratio of app=camera < 5%",
	  "line 1: expected app=, model=, path=, priority=, cold, warm, <= or >=, not '<'" },
	{ "p99 e2e of app <= 5ms", "line 1: expected '=', not '<='" },
	{ "p99 e2e of app= <= 5ms", "line 1: expected a name, not '<='" },
	{ "p99 e2e of app=", "line 1: expected a name, but the line ends" },
	{ "p99 e2e of app=a app=b <= 5ms", "line 1: app is given twice" },
	{ "p99 e2e of cold warm <= 5ms", "line 1: give cold or warm, once" },
	{ "p99 e2e of path=brust <= 5ms",
	  "line 1: expected burst, sync, fenced or async, not 'brust'; did you mean 'burst'?" },
	{ "p99 e2e of priority=7 <= 5ms", "line 1: expected low, medium or high, not '7'" },
	{ "p99 e2e of app=\"a <= 5ms", "line 1: a \" is not closed" },
	{ "p50 overhead share <= 5ms", "line 1: expected a percentage as in '1 %', of 100 % at most, not '5ms'" },
	{ "p50 overhead share <= 101 %", "line 1: expected a percentage as in '1 %', of 100 % at most, not '101'" },
	{ "p50 e2e <= baseline + 5",
	  "line 1: expected how much more than the baseline, as in '+ 10 %' or '+ 50us' (ns, us, ms, s, min or "
	  "h), not '5'" },
	{ "p50 e2e <= baseline + 1m",
	  "line 1: expected how much more than the baseline, as in '+ 10 %' or '+ 50us' (ns, us, ms, s, min or "
	  "h), not '1m'" },
	{ "p50 e2e <= baseline +",
	  "line 1: expected how much more than the baseline, as in '+ 10 %' or '+ 50us' (ns, us, ms, s, min or "
	  "h), but the line ends" },
	{ "p50 e2e <= baseline - 5 %", "line 1: expected the end of the line, not '-'" },
	{ "p50 overhead share <= baseline",
	  "line 1: expected a percentage as in '1 %', of 100 % at most, not 'baseline'" },
	{ "miss rate <= 1 %", "line 1: expected 'ratio', not 'rate'" },
	{ "miss ratio <= 1", "line 1: expected '%', but the line ends" },
	{ "miss ratio = 1 %", "line 1: expected 'of' and a selection, or '<=' and a limit, not '='" },
	{ "at least 2 misses in any 10", "line 1: expected 'most', not 'least'" },
	{ "at most two misses in any 10", "line 1: expected a number from 0 to 1000000, not 'two'" },
	{ "at most 2.5 misses in any 10", "line 1: expected a number from 0 to 1000000, not '2.5'" },
	{ "at most 2 misses in any 0", "line 1: expected a number from 1 to 1000000, not '0'" },
	{ "at most 2 misses in any 1000001", "line 1: expected a number from 1 to 1000000, not '1000001'" },
	{ "at most 10 misses in any 10",
	  "line 1: no more than 10 of 10 executions can miss: give fewer misses than executions" },
	{ "at most 2 misses in any 10 <= 5", "line 1: expected the end of the line, not '<='" },
	{ "starvation", "line 1: expected 'none', but the line ends" },
	{ "starvation none over 5", "line 1: expected a time as in '5ms' (ns, us, ms, s, min or h), not '5'" },
	{ "starvation none of app=a", "line 1: expected the end of the line, not 'of'" },
	{ "fairness <= 5ms", "line 1: expected the end of the line, not '<='" },
	{ "fairness lag >= 5ms", "line 1: expected '<=', not '>='" },
	{ "priority honoured <= 99 %", "line 1: expected '>=', not '<='" },
	{ "coverage 99 %", "line 1: expected '>=', not '99'" },
	{ "coverage >= 99", "line 1: expected '%', but the line ends" },
	{ "executions >= 0", "line 1: expected a number from 1 to 1000000000, not '0'" },
	{ "executions >= 1 %", "line 1: expected the end of the line, not '%'" },
	{ "\x1b[2J <= 5ms", "line 1: " FIRST ", not '?[2J'" },
	{ "\xff\xfe", "line 1: " FIRST ", not '?\?'" },
	{ "a-very-long-word-that-goes-on-and-on-and-on-and-on",
	  "line 1: " FIRST ", not 'a-very-long-word-that-goes-on-and-on-and-on-...'" },
	{ "fairness fairness fairness", "line 1: expected the end of the line, not 'fairness'" },
};

static void a_wrong_rule_is_refused_with_a_reason(void **ctx)
{
	(void)ctx;
	for (size_t i = 0; i < sizeof(refused_rows) / sizeof(*refused_rows); i++) {
		struct bsa_err err = { "" };
		struct bsv_slo slo;

		assert_int_equal(bsv_slo_parse(&slo, refused_rows[i].text, strlen(refused_rows[i].text), &err),
		                 BSA_E_INPUT);
		assert_string_equal(err.text, refused_rows[i].says);
		assert_null(slo.rules);
	}
}

static void what_is_too_much_is_refused(void **ctx)
{
	static char text[300 * 16], line[1100];
	struct bsa_err err = { "" };
	int large = memfd_create("rules", MFD_CLOEXEC), ends[2];
	char path[64];
	struct bsv_slo slo;

	(void)ctx;
	for (int i = 0; i < 201; i++)
		strcat(text, "fairness\n");
	assert_int_equal(bsv_slo_parse(&slo, text, strlen(text), &err), BSA_E_INPUT);
	assert_string_equal(err.text, "line 201: there are more than 200 rules");
	assert_int_equal(bsv_slo_parse(&slo, text, strlen(text) - 9, &err), 0);
	assert_int_equal(slo.n, 200);
	bsv_slo_fini(&slo);
	memset(line, 'x', sizeof(line) - 1);
	assert_int_equal(bsv_slo_parse(&slo, line, strlen(line), &err), BSA_E_INPUT);
	assert_string_equal(err.text, "line 1: the line is longer than 1024 bytes");
	memset(line, ' ', sizeof(line) - 1);
	for (int i = 0; i < 130; i += 2)
		line[i] = 'x';
	assert_int_equal(bsv_slo_parse(&slo, line, 1000, &err), BSA_E_INPUT);
	assert_string_equal(err.text, "line 1: too many words");
	assert_int_equal(bsv_slo_parse(&slo, "fair\0ness", 9, &err), BSA_E_INPUT);
	assert_string_equal(err.text, "line 1: the line contains a byte of value 0");
	assert_int_equal(bsv_slo_read(&slo, "/nowhere/rules", &err), BSA_E_INPUT);
	assert_string_equal(err.text, "/nowhere/rules: No such file or directory");
	assert_int_equal(bsv_slo_read(&slo, "/", &err), BSA_E_INPUT);
	assert_string_equal(err.text, "/: it is not a regular file; write the rules to a file");
	assert_int_equal(bsv_slo_read(&slo, "/dev/zero", &err), BSA_E_INPUT);
	assert_string_equal(err.text, "/dev/zero: it is not a regular file; write the rules to a file");
	snprintf(path, sizeof(path), "/proc/self/fd/%d", large);
	assert_int_equal(ftruncate(large, (1 << 20) + 1), 0);
	assert_int_equal(bsv_slo_read(&slo, path, &err), BSA_E_INPUT);
	assert_non_null(strstr(err.text, ": the file is larger than 1 MiB, the limit for a file of rules"));
	close(large);
	/* a pipe without a writer, and one whose writer writes nothing: the reader waits for neither */
	assert_int_equal(pipe(ends), 0);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", ends[0]);
	assert_int_equal(bsv_slo_read(&slo, path, &err), BSA_E_INPUT);
	assert_non_null(strstr(err.text, ": it is not a regular file; write the rules to a file"));
	close(ends[0]);
	close(ends[1]);
}

/* Each example of the manual and the documentation is a valid file of rules. */
static void the_example_is_read(void **ctx)
{
	struct bsa_err err = { "" };
	struct bsv_slo slo;

	(void)ctx;
	if (bsv_slo_read(&slo, EXAMPLES "/camera.slo", &err) < 0)
		fail_msg("%s", err.text);
	assert_int_equal(slo.n, 13);
	bsv_slo_fini(&slo);
}

/* The text between .Bd and .Ed in the manual is rules. */
static void the_rules_in_the_manual_are_read(void **ctx)
{
	FILE *f = fopen(MANUAL, "r");
	char *line = NULL;
	size_t room = 0;
	int looked = 0;
	bool inside = false;

	(void)ctx;
	assert_non_null(f);
	while (getline(&line, &room, f) > 0) {
		struct bsa_err err = { "" };
		struct bsv_slo slo;

		if (!strncmp(line, ".Bd", 3) || !strncmp(line, ".Ed", 3)) {
			inside = line[1] == 'B';
			continue;
		}
		if (!inside || *line == '#')
			continue;
		if (bsv_slo_parse(&slo, line, strlen(line), &err) < 0)
			fail_msg("%s: %s", line, err.text);
		bsv_slo_fini(&slo);
		looked++;
	}
	free(line);
	fclose(f);
	assert_true(looked >= 20);
}

/* ---- judging ---- */

struct judged_row {
	const char *story, *rule;
	struct bsv_slo_counts c;
	enum bsv_outcome outcome;
	const char *why;
};

static void judges_as_expected(const struct judged_row *rows, size_t n,
                               void (*judge)(struct bsv_slo_result *ret, const struct bsv_slo_rule *rule,
                                             const struct bsv_slo_counts *c))
{
	for (size_t i = 0; i < n; i++) {
		struct bsv_slo slo;
		struct bsv_slo_rule *rule = only(&slo, rows[i].rule);
		struct bsv_slo_result r;

		judge(&r, rule, &rows[i].c);
		if (r.outcome != rows[i].outcome || strcmp(r.why, rows[i].why))
			fail_msg("%s: %s: %s", rows[i].story, bsv_slo_word(r.outcome), r.why);
		bsv_slo_fini(&slo);
	}
}

static const struct judged_row percentile_rows[] = {
	{ "just as many above as may be",
	  "p99 e2e <= 5ms",
	  { .n = 200, .over = 2 },
	  BSV_PASS,
	  "2 of 200 are above, 2 allowed" },
	{ "one more", "p99 e2e <= 5ms", { .n = 200, .over = 3 }, BSV_FAIL, "3 of 200 are above, 2 allowed" },
	{ "a hundred is enough for a p99",
	  "p99 e2e <= 5ms",
	  { .n = 100, .over = 1 },
	  BSV_PASS,
	  "1 of 100 are above, 1 allowed" },
	{ "one less is not, however good",
	  "p99 e2e <= 5ms",
	  { .n = 99 },
	  BSV_CANNOT_TELL,
	  "a p99 takes 100 executions, there are 99" },
	{ "one above of 50 comes by chance",
	  "p99 e2e <= 5ms",
	  { .n = 50, .over = 1 },
	  BSV_CANNOT_TELL,
	  "a p99 takes 100 executions, there are 50" },
	{ "four of 50 do not",
	  "p99 e2e <= 5ms",
	  { .n = 50, .over = 4 },
	  BSV_FAIL,
	  "4 of only 50 are above: by chance in 0.16 of 100 cases" },
	{ "all of many do not",
	  "p99 e2e <= 5ms",
	  { .n = 50, .over = 50 },
	  BSV_FAIL,
	  "50 of only 50 are above: by chance in less than 1 of 10000 cases" },
	{ "all of many, and an unknown number was lost",
	  "p99 e2e <= 5ms",
	  { .n = 50, .over = 50, .vanished = -1 },
	  BSV_CANNOT_TELL,
	  "50 of 50 are above, 0 allowed; these could change the verdict: an unknown number lost" },
	{ "one above by chance, and an unknown number was lost",
	  "p99 e2e <= 5ms",
	  { .n = 50, .over = 1, .vanished = -1 },
	  BSV_CANNOT_TELL,
	  "a p99 takes 100 executions, there are 50" },
	{ "six make a median", "p50 e2e <= 5ms", { .n = 6, .over = 3 }, BSV_PASS, "3 of 6 are above, 3 allowed" },
	{ "five do not",
	  "p50 e2e <= 5ms",
	  { .n = 5, .over = 0 },
	  BSV_CANNOT_TELL,
	  "a p50 takes 6 executions, there are 5" },
	{ "five that are all above",
	  "p50 e2e <= 5ms",
	  { .n = 5, .over = 5 },
	  BSV_FAIL,
	  "5 of only 5 are above: by chance in 3.1 of 100 cases" },
	{ "four of five",
	  "p50 e2e <= 5ms",
	  { .n = 5, .over = 4 },
	  BSV_CANNOT_TELL,
	  "a p50 takes 6 executions, there are 5" },
	{ "the longest may be one", "p100 e2e <= 5ms", { .n = 1 }, BSV_PASS, "0 of 1 are above, 0 allowed" },
	{ "and then none is above", "p100 e2e <= 5ms", { .n = 1, .over = 1 }, BSV_FAIL, "1 of 1 are above, 0 allowed" },
	{ "none", "p50 e2e <= 5ms", { .n = 0 }, BSV_CANNOT_TELL, "a p50 takes 6 executions, there are 0" },
	{ "unknown ones that change nothing",
	  "p90 e2e <= 5ms",
	  { .n = 190, .over = 10, .unknown = 10 },
	  BSV_PASS,
	  "10 of 190 are above, 19 allowed" },
	{ "unknown ones that could",
	  "p90 e2e <= 5ms",
	  { .n = 190, .over = 11, .unknown = 10 },
	  BSV_CANNOT_TELL,
	  "11 of 190 are above, 19 allowed; these could change the verdict: 10 not known in "
	  "full" },
	{ "too many above, whatever they were",
	  "p90 e2e <= 5ms",
	  { .n = 190, .over = 21, .unknown = 10 },
	  BSV_FAIL,
	  "21 of 190 are above, 19 allowed" },
	{ "not if they were all fast",
	  "p90 e2e <= 5ms",
	  { .n = 190, .over = 20, .unknown = 10 },
	  BSV_CANNOT_TELL,
	  "20 of 190 are above, 19 allowed; these could change the verdict: 10 not known in "
	  "full" },
	{ "any number lost",
	  "p50 e2e <= 5ms",
	  { .n = 1000, .over = 999, .vanished = -1 },
	  BSV_CANNOT_TELL,
	  "999 of 1000 are above, 500 allowed; these could change the verdict: an unknown number "
	  "lost" },
	{ "one above is too many for any number",
	  "p100 e2e <= 5ms",
	  { .n = 1000, .over = 1, .vanished = -1 },
	  BSV_FAIL,
	  "1 of 1000 are above, 0 allowed" },
	{ "none above yet, and any number lost",
	  "p100 e2e <= 5ms",
	  { .n = 1000, .vanished = -1 },
	  BSV_CANNOT_TELL,
	  "0 of 1000 are above, 0 allowed; these could change the verdict: an unknown number lost" },
	{ "one above is allowed of enough",
	  "p99.999 e2e <= 5ms",
	  { .n = 1000000, .over = 11, .vanished = -1 },
	  BSV_CANNOT_TELL,
	  "11 of 1000000 are above, 10 allowed; these could change the verdict: an unknown number lost" },
	{ "lost by number",
	  "p50 e2e <= 5ms",
	  { .n = 1000, .over = 999, .vanished = 100 },
	  BSV_FAIL,
	  "999 of 1000 are above, 500 allowed" },
	{ "most were given up: the others prove nothing",
	  "p50 e2e <= 5ms",
	  { .n = 30, .over = 0, .given_up = 200 },
	  BSV_CANNOT_TELL,
	  "0 of 30 are above, 15 allowed; these could change the verdict: 200 without an answer" },
	{ "all of that",
	  "p50 e2e <= 5ms",
	  { .n = 30, .given_up = 200, .unknown = 1, .vanished = 2 },
	  BSV_CANNOT_TELL,
	  "0 of 30 are above, 15 allowed; these could change the verdict: 200 without an answer, "
	  "1 not known "
	  "in full, up to 2 lost" },
	{ "under way at the end, as far as compact events go",
	  "p100 e2e <= 5ms",
	  { .n = 30, .hidden = 2 },
	  BSV_CANNOT_TELL,
	  "0 of 30 are above, 0 allowed; these could change the verdict: 2 that may be under way at the end, without "
	  "an "
	  "event" },
};

static void a_percentile_is_judged_by_what_is_above_its_bound(void **ctx)
{
	(void)ctx;
	judges_as_expected(percentile_rows, sizeof(percentile_rows) / sizeof(*percentile_rows),
	                   bsv_slo_judge_percentile);
}

/* An execution of which what the rule selects by is unknown is one of the group or not: a verdict holds both ways. */
static void what_may_be_of_the_group_changes_no_verdict(void **ctx)
{
	static const struct {
		const char *rule;
		struct bsv_slo_counts c, may_be[2]; /* as many of each as its unsure */
		enum bsv_outcome outcome;
		const char *why;
	} rows[] = {
		{ "p50 e2e <= 5ms",
		  { .n = 10, .over = 5 },
		  { { .unsure = 2, .n = 1 } },
		  BSV_PASS,
		  "5 of 10 are above, 5 allowed" },
		{ "p50 e2e <= 5ms",
		  { .n = 10, .over = 4 },
		  { { .unsure = 2, .n = 1, .over = 1 } },
		  BSV_PASS,
		  "4 of 10 are above, 5 allowed" },
		{ "p50 e2e <= 5ms",
		  { .n = 10, .over = 5 },
		  { { .unsure = 2, .n = 1, .over = 1 } },
		  BSV_CANNOT_TELL,
		  "5 of 10 are above, 5 allowed; these could change the verdict: 2 that the rule may select: what it "
		  "selects by "
		  "is not known" },
		{ "p50 e2e <= 5ms",
		  { .n = 10, .over = 5 },
		  { { .unsure = 2, .unknown = 1 } },
		  BSV_CANNOT_TELL,
		  "5 of 10 are above, 5 allowed; these could change the verdict: 2 that the rule may select: what it "
		  "selects by "
		  "is not known" },
		{ "p50 e2e <= 5ms",
		  { .n = 10, .over = 6 },
		  { { .unsure = 1, .n = 1 } },
		  BSV_FAIL,
		  "6 of 10 are above, 5 allowed" },
		{ "p50 e2e <= 5ms",
		  { .n = 10, .over = 6 },
		  { { .unsure = 4, .n = 1, .over = 1 } },
		  BSV_FAIL,
		  "6 of 10 are above, 5 allowed" },
		{ "p50 e2e <= 5ms",
		  { .n = 10, .over = 6 },
		  { { .unsure = 2, .n = 1 }, { .unsure = 5, .n = 1, .over = 1 } },
		  BSV_CANNOT_TELL,
		  "6 of 10 are above, 5 allowed; these could change the verdict: 7 that the rule may select: what it "
		  "selects by "
		  "is not known" },
		{ "p50 e2e <= 5ms",
		  { .n = 0 },
		  { { .unsure = 9, .n = 1 } },
		  BSV_CANNOT_TELL,
		  "a p50 takes 6 executions, there are 0; the rule may select 9 more: what it selects by is not known "
		  "of them" },
		{ "p100 e2e <= 5ms",
		  { .n = 3, .over = 1 },
		  { { .unsure = 9, .n = 1 } },
		  BSV_FAIL,
		  "1 of 3 are above, 0 allowed" },
		{ "p50 fence <= 5ms",
		  { .executions = 40, .lacking = 40 },
		  { { .executions = 1, .unsure = 9, .n = 1, .over = 1 } },
		  BSV_CANNOT_TELL,
		  "no execution that the rule certainly selects has the phase; these could change the verdict: 9 that "
		  "the rule may select: what it selects by is not known" },
		{ "p50 fence <= 5ms",
		  { .executions = 40, .lacking = 40 },
		  { { .executions = 1, .unsure = 9, .lacking = 1 } },
		  BSV_PASS,
		  "executions of these paths have no fence" },
		{ "miss ratio <= 10 %",
		  { .n = 20, .over = 2 },
		  { { .unsure = 9, .n = 1 } },
		  BSV_PASS,
		  "2 of 20 missed" },
		{ "miss ratio <= 10 %",
		  { .n = 20, .over = 2 },
		  { { .unsure = 1, .n = 1, .over = 1 } },
		  BSV_CANNOT_TELL,
		  "2 of 20 missed; these could change the verdict: 1 that the rule may select: what it selects by is "
		  "not known" },
		{ "miss ratio <= 10 %",
		  { .n = 20, .over = 3 },
		  { { .unsure = 10, .n = 1 } },
		  BSV_CANNOT_TELL,
		  "3 of 20 missed; these could change the verdict: 10 that the rule may select: what it selects by is "
		  "not known" },
		{ "miss ratio <= 10 %",
		  { .n = 20, .over = 3 },
		  { { .unsure = 9, .n = 1 } },
		  BSV_FAIL,
		  "3 of 20 missed" },
	};

	(void)ctx;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct bsv_slo_counts c = rows[i].c;
		struct bsv_slo_may_be may_be = { .worst.n = 0 };
		struct bsv_slo_result r;
		struct bsv_slo slo;
		struct bsv_slo_rule *rule = only(&slo, rows[i].rule);

		for (int k = 0; k < 2; k++) {
			c.unsure += rows[i].may_be[k].unsure;
			for (int64_t n = 0; n < rows[i].may_be[k].unsure; n++)
				bsv_slo_may_be_add(&may_be, &rows[i].may_be[k]);
		}
		bsv_slo_judge_group(&r, rule, &c, &may_be);
		if (r.outcome != rows[i].outcome || strcmp(r.why, rows[i].why))
			fail_msg("row %zu, %s: %s: %s", i, rows[i].rule, bsv_slo_word(r.outcome), r.why);
		assert_int_equal(r.idle, r.outcome == BSV_PASS && c.lacking);
		bsv_slo_fini(&slo);
	}
}

static void misses_are_judged_by_their_share(void **ctx)
{
	static const struct judged_row rows[] = {
		{ "at the bound", "miss ratio <= 5 %", { .n = 100, .over = 5 }, BSV_PASS, "5 of 100 missed" },
		{ "above", "miss ratio <= 5 %", { .n = 100, .over = 6 }, BSV_FAIL, "6 of 100 missed" },
		{ "none at all is asked for", "miss ratio <= 0 %", { .n = 1, .over = 0 }, BSV_PASS, "0 of 1 missed" },
		{ "and there is one", "miss ratio <= 0 %", { .n = 1000, .over = 1 }, BSV_FAIL, "1 of 1000 missed" },
		{ "one would be too much: too few",
		  "miss ratio <= 5 %",
		  { .n = 19, .over = 0 },
		  BSV_CANNOT_TELL,
		  "0 of 19 missed: it takes 20 for one not to be more than 5 %" },
		{ "too few, and yet",
		  "miss ratio <= 5 %",
		  { .n = 19, .over = 4 },
		  BSV_FAIL,
		  "4 of 19 missed: by chance in 1.3 of 100 cases" },
		{ "no deadlines", "miss ratio <= 5 %", { .n = 0 }, BSV_CANNOT_TELL, "no execution had a deadline" },
		{ "deadlines, and none of them is known to be met or missed",
		  "miss ratio <= 5 %",
		  { .unknown = 30, .executions = 30 },
		  BSV_CANNOT_TELL,
		  "30 had a deadline, and whether they met it is not known" },
		{ "one deadline, which is not known to be met or missed",
		  "miss ratio <= 5 %",
		  { .unknown = 1, .executions = 1 },
		  BSV_CANNOT_TELL,
		  "1 had a deadline, and whether it was met is not known" },
		{ "no deadline was seen",
		  "miss ratio <= 5 %",
		  { .perhaps = 100, .executions = 150 },
		  BSV_CANNOT_TELL,
		  "no execution with a deadline was recorded; whether 100 of 150 had one was not recorded" },
		{ "of misses alone one knows",
		  "miss ratio <= 5 %",
		  { .over = 3, .perhaps = 100 },
		  BSV_CANNOT_TELL,
		  "at least 3 of 100 missed; these could change the verdict: 100 not known in full" },
		{ "few are known, and all would be enough",
		  "miss ratio <= 5 %",
		  { .n = 13, .over = 13, .unknown = 529 },
		  BSV_CANNOT_TELL,
		  "at least 13 of 542 missed; these could change the verdict: 529 not known in full" },
		{ "few are known, and all would be too few",
		  "miss ratio <= 5 %",
		  { .n = 9, .over = 0, .unknown = 10 },
		  BSV_CANNOT_TELL,
		  "at least 0 of 19 missed: it takes 20 for one not to be more than 5 %" },
		{ "unknown ones that could",
		  "miss ratio <= 5 %",
		  { .n = 98, .over = 4, .unknown = 2 },
		  BSV_CANNOT_TELL,
		  "at least 4 of 100 missed; these could change the verdict: 2 not known in full" },
		{ "unknown ones that cannot",
		  "miss ratio <= 5 %",
		  { .n = 98, .over = 3, .unknown = 2 },
		  BSV_PASS,
		  "at least 3 of 100 missed" },
		{ "one is too many for any number",
		  "miss ratio <= 0 %",
		  { .n = 98, .over = 1, .unknown = 2, .vanished = -1 },
		  BSV_FAIL,
		  "at least 1 of 100 missed" },
		{ "one is too many, whether the others had deadlines or not",
		  "miss ratio <= 0 %",
		  { .over = 3, .perhaps = 100, .vanished = -1 },
		  BSV_FAIL,
		  "at least 3 of 100 missed" },
		{ "none yet, and any number lost",
		  "miss ratio <= 0 %",
		  { .n = 98, .vanished = -1 },
		  BSV_CANNOT_TELL,
		  "0 of 98 missed; these could change the verdict: an unknown number lost" },
		{ "any number lost may have met",
		  "miss ratio <= 5 %",
		  { .n = 98, .over = 90, .vanished = -1 },
		  BSV_CANNOT_TELL,
		  "90 of 98 missed; these could change the verdict: an unknown number lost" },
		{ "proven",
		  "miss ratio <= 5 %",
		  { .n = 98, .over = 6, .unknown = 2 },
		  BSV_FAIL,
		  "at least 6 of 100 missed" },
	};

	(void)ctx;
	judges_as_expected(rows, sizeof(rows) / sizeof(*rows), bsv_slo_judge_misses);
}

/* Executions as letters: m missed, + met, ? unknown, . not of the rule; / begins another stream. */
/* Upper case: the rule may select it. */
static unsigned state_of(char execution)
{
	switch (execution) {
	case 'm':
		return BSV_SLO_MISSED;
	case '+':
		return BSV_SLO_MET;
	case '?':
		return BSV_SLO_UNKNOWN;
	case 'M':
		return BSV_SLO_MAY_BE + BSV_SLO_MISSED;
	case 'P':
		return BSV_SLO_MAY_BE + BSV_SLO_MET;
	case 'Q':
		return BSV_SLO_MAY_BE + BSV_SLO_UNKNOWN;
	default:
		return BSV_SLO_NOT_MEANT;
	}
}

static int64_t n_may_be(const char *executions)
{
	int64_t n = 0;

	for (; *executions; executions++)
		n += state_of(*executions) >= BSV_SLO_MAY_BE;
	return n;
}

static void misses_in_sequence_are_counted_in_each_window(void **ctx)
{
	static const struct {
		const char *executions;
		int64_t open_ended;
		enum bsv_outcome outcome;
		double figure;
		const char *why;
		int64_t strangers, hidden;
	} rows[] = {
		{ "++++++++++", 0, BSV_PASS, 0, "at most 0 of 4 in sequence", 0, 0 },
		{ "mm++mm++mm", 0, BSV_PASS, 2, "at most 2 of 4 in sequence", 0, 0 },
		{ "mm+m++++++", 0, BSV_FAIL, 3, "3 of 4 in sequence", 0, 0 },
		{ "m.m.m.++++", 0, BSV_FAIL, 3, "3 of 4 in sequence", 0, 0 },
		{ "mm++/mm++", 0, BSV_PASS, 2, "at most 2 of 4 in sequence", 0, 0 },
		{ "++mm/m+++", 0, BSV_PASS, 2, "at most 2 of 4 in sequence", 0, 0 },
		{ "mmm", 0, BSV_FAIL, 3, "3 of 4 in sequence", 0, 0 },
		{ "+++", 0, BSV_CANNOT_TELL, 0, "no stream has 4 executions with a deadline in sequence: at most 3", 0,
		  0 },
		{ "++/++", 0, BSV_CANNOT_TELL, 0, "no stream has 4 executions with a deadline in sequence: at most 2",
		  0, 0 },
		{ "...", 0, BSV_CANNOT_TELL, NAN, "no execution had a deadline", 0, 0 },
		{ "", 0, BSV_CANNOT_TELL, NAN, "no execution had a deadline", 0, 0 },
		{ "mm?+++", 0, BSV_CANNOT_TELL, 2, "2 at most, but where not all was recorded it may have been 3", 0,
		  0 },
		{ "m++?++m", 0, BSV_PASS, 1, "at most 1 of 4 in sequence", 0, 0 },
		{ "mmm?+++", 0, BSV_FAIL, 3, "3 of 4 in sequence", 0, 0 },
		{ "++++++", 2, BSV_CANNOT_TELL, 0,
		  "0 at most, but a loss may hide the beginning or the end of 2 streams", 0, 0 },
		{ "m+++++", 0, BSV_CANNOT_TELL, 1,
		  "1 at most, but a loss may hide a whole stream, of which no event was recorded", -1, 0 },
		{ "m+++++", 0, BSV_CANNOT_TELL, 1,
		  "1 at most, but a loss may hide a whole stream, of which no event was recorded", 3, 0 },
		{ "m+++++", 0, BSV_PASS, 1, "at most 1 of 4 in sequence", 2, 0 },
		{ "mmm+++", 0, BSV_FAIL, 3, "3 of 4 in sequence", -1, 0 },
		{ "m+++++", 0, BSV_PASS, 1, "at most 1 of 4 in sequence", 0, 1 },
		{ "m+++++", 0, BSV_CANNOT_TELL, 1,
		  "1 at most, but 2 that may be under way at the end, without an event, may be late", 0, 2 },
		/* the rule may select these: with one, more than two of four missed; without it, two did */
		{ "m+mM++", 0, BSV_CANNOT_TELL, 2,
		  "at most 2 of 4 in sequence; these could change the verdict: 1 that the rule may select: what it "
		  "selects by is not known",
		  0, 0 },
		{ "m+mQ++", 0, BSV_CANNOT_TELL, 2,
		  "at most 2 of 4 in sequence; these could change the verdict: 1 that the rule may select: what it "
		  "selects by is not known",
		  0, 0 },
		/* without the one that met its deadline, three are in sequence */
		{ "mmPm+++", 0, BSV_FAIL, 3, "3 of 4 in sequence", 0, 0 },
		{ "mm+Pm++", 0, BSV_CANNOT_TELL, 3,
		  "3 of 4 in sequence; these could change the verdict: 1 that the rule may select: what it selects by "
		  "is "
		  "not known",
		  0, 0 },
		{ "+PM++P+", 0, BSV_PASS, 0, "at most 0 of 4 in sequence", 0, 0 },
		{ "MMMM", 0, BSV_CANNOT_TELL, NAN,
		  "no execution had a deadline; the rule may select 4 more: what it selects by is not known of them", 0,
		  0 },
	};

	(void)ctx;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct bsv_slo_counts c = { .unsure = n_may_be(rows[i].executions),
			                    .open_ended = rows[i].open_ended,
			                    .strangers = rows[i].strangers,
			                    .hidden = rows[i].hidden };
		struct bsv_slo_streaks s[BSV_SLO_WAYS];
		struct bsv_slo_result r;
		struct bsv_slo slo;
		struct bsv_slo_rule *rule = only(&slo, "at most 2 misses in any 4");

		assert_int_equal(bsv_slo_streaks_init(s, rule), 0);
		for (const char *e = rows[i].executions; *e; e++)
			if (*e == '/')
				bsv_slo_streaks_stream(s);
			else
				bsv_slo_streaks_add(s, state_of(*e));
		bsv_slo_judge_streaks(&r, rule, &c, s);
		if (r.outcome != rows[i].outcome || strcmp(r.why, rows[i].why))
			fail_msg("%s: %s: %s", rows[i].executions, bsv_slo_word(r.outcome), r.why);
		assert_true(r.figure == rows[i].figure || (r.figure != r.figure && rows[i].figure != rows[i].figure));
		bsv_slo_streaks_fini(s);
		bsv_slo_fini(&slo);
	}
}

static void a_baseline_is_judged_by_the_interval(void **ctx)
{
	static const struct {
		const char *story;
		struct bsv_slo_counts c, base;
		struct bsv_interval beyond;
		enum bsv_outcome outcome;
	} rows[] = {
		{ "certainly less", { .n = 100 }, { .n = 100 }, { -9, -5, 0 }, BSV_PASS },
		{ "certainly more", { .n = 100 }, { .n = 100 }, { 1, 5, 9 }, BSV_FAIL },
		{ "just not certain", { .n = 100 }, { .n = 100 }, { 0, 5, 9 }, BSV_CANNOT_TELL },
		{ "either", { .n = 100 }, { .n = 100 }, { -9, -5, 1 }, BSV_CANNOT_TELL },
		{ "too few", { .n = 31 }, { .n = 100 }, { 1, 5, 9 }, BSV_CANNOT_TELL },
		{ "too few in the baseline", { .n = 100 }, { .n = 31 }, { -9, -5, -1 }, BSV_CANNOT_TELL },
		{ "one of a hundred unknown", { .n = 100, .unknown = 1 }, { .n = 100 }, { 1, 5, 9 }, BSV_FAIL },
		{ "two of them",
		  { .n = 100, .unknown = 1, .given_up = 1 },
		  { .n = 100 },
		  { 1, 5, 9 },
		  BSV_CANNOT_TELL },
		{ "in the baseline", { .n = 100 }, { .n = 100, .vanished = -1 }, { 1, 5, 9 }, BSV_CANNOT_TELL },
		{ "none has the phase",
		  { .executions = 40, .lacking = 40 },
		  { .n = 100 },
		  { NAN, NAN, NAN },
		  BSV_PASS },
		{ "what may be of the group may have it",
		  { .executions = 40, .lacking = 40, .unsure = 1000 },
		  { .n = 100 },
		  { NAN, NAN, NAN },
		  BSV_CANNOT_TELL },
	};

	(void)ctx;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct bsv_slo slo;
		struct bsv_slo_rule *rule = only(&slo, "p50 e2e <= baseline + 10 %");
		struct bsv_slo_result r;

		bsv_slo_judge_baseline(&r, rule, &rows[i].c, &rows[i].base, rows[i].beyond, 1100);
		if (r.outcome != rows[i].outcome)
			fail_msg("%s: %s: %s", rows[i].story, bsv_slo_word(r.outcome), r.why);
		assert_true(r.bound == 1100);
		assert_int_equal(r.idle, r.outcome == BSV_PASS && rows[i].c.lacking);
		bsv_slo_fini(&slo);
	}
}

static void coverage_is_the_worse_of_events_and_executions(void **ctx)
{
	static const struct {
		struct bsv_slo_kept kept;
		enum bsv_outcome outcome;
		double figure;
	} rows[] = {
		{ { 1000, 0, 100, 0, true, 0 }, BSV_PASS, 100 },
		{ { 990, 10, 100, 0, true, 0 }, BSV_PASS, 99 },
		{ { 989, 11, 100, 0, true, 0 }, BSV_FAIL, 98.9 },
		{ { 1000, 0, 98, 2, true, 0 }, BSV_FAIL, 98 },
		{ { 1000, 0, 100, 0, false, 0 }, BSV_CANNOT_TELL, 100 },
		{ { 900, 100, 100, 0, false, 0 }, BSV_FAIL, 90 },
		{ { 0, 0, 0, 0, true, 0 }, BSV_FAIL, 0 },
		{ { 1000, 0, 0, 0, true, 344 }, BSV_CANNOT_TELL, NAN },
		{ { 1000, 0, 0, 0, true, 0 }, BSV_CANNOT_TELL, NAN },
		{ { 900, 100, 0, 0, true, 344 }, BSV_FAIL, 90 },
		{ { 1000, 0, 1, 0, true, 344 }, BSV_PASS, 100 },
	};

	(void)ctx;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct bsv_slo slo;
		struct bsv_slo_rule *rule = only(&slo, "coverage >= 99 %");
		struct bsv_slo_result r;

		bsv_slo_judge_coverage(&r, rule, &rows[i].kept);
		assert_int_equal(r.outcome, rows[i].outcome);
		assert_true(isnan(rows[i].figure) ? isnan(r.figure) : fabs(r.figure - rows[i].figure) < 1e-9);
		bsv_slo_fini(&slo);
	}
}

static void coverage_reports_how_many_executions_do_not_count(void **ctx)
{
	const struct bsv_slo_kept kept = { 1000, 0, 576, 9, true, 139 };
	struct bsv_slo slo;
	struct bsv_slo_rule *rule = only(&slo, "coverage >= 98 %");
	struct bsv_slo_result r;

	(void)ctx;
	bsv_slo_judge_coverage(&r, rule, &kept);
	assert_int_equal(r.outcome, BSV_PASS);
	assert_string_equal(
		r.why,
		"0 events lost; 9 of 585 executions not known in full; 139 without their beginning do not count");
	bsv_slo_fini(&slo);
}

static void executions_may_be_asked_for(void **ctx)
{
	static const struct {
		struct bsv_slo_counts c;
		enum bsv_outcome outcome;
	} rows[] = {
		{ { .executions = 100 }, BSV_PASS },
		{ { .executions = 99 }, BSV_FAIL },
		{ { .executions = 99, .vanished = 1 }, BSV_CANNOT_TELL },
		{ { .executions = 98, .vanished = 1 }, BSV_FAIL },
		{ { .executions = 0, .vanished = -1 }, BSV_CANNOT_TELL },
		{ { .executions = 100, .vanished = -1 }, BSV_PASS },
		{ { .executions = 99, .unsure = 1 }, BSV_CANNOT_TELL },
		{ { .executions = 98, .unsure = 1 }, BSV_FAIL },
		{ { .executions = 98, .unsure = 1, .vanished = 1 }, BSV_CANNOT_TELL },
		{ { .executions = 100, .unsure = 1 }, BSV_PASS },
		{ { .executions = 99, .trials = 1 }, BSV_CANNOT_TELL },
		{ { .executions = 97, .trials = 1, .unsure = 1 }, BSV_FAIL },
		{ { .executions = 98, .trials = 1, .unsure = 1 }, BSV_CANNOT_TELL },
	};

	(void)ctx;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct bsv_slo slo;
		struct bsv_slo_rule *rule = only(&slo, "executions >= 100");
		struct bsv_slo_result r;

		bsv_slo_judge_executions(&r, rule, &rows[i].c);
		assert_int_equal(r.outcome, rows[i].outcome);
		bsv_slo_fini(&slo);
	}
}

/* ---- junit ---- */

static void junit_escapes_what_strangers_wrote(void **ctx)
{
	static const char text[] = "executions of app=\"<&>'\x01\xc3\xa9\xff\xed\xa0\x80\xef\xbf\xbf\xe0\xa6y\" >= 1";
	struct bsa_err err = { "" };
	struct bsv_slo slo;
	struct bsv_slo_result r = {
		.outcome = BSV_CANNOT_TELL, .figure = NAN, .bound = 1, .n = -1, .why = "a\nb\x1b\""
	};
	char *out = NULL;
	size_t bytes = 0;
	FILE *f;

	(void)ctx;
	assert_int_equal(bsv_slo_parse(&slo, text, sizeof(text) - 1, &err), 0);
	f = open_memstream(&out, &bytes);
	bsv_slo_junit(f, "a&b.slo", "x.db", "all of <it>", &slo, &r);
	fclose(f);
	assert_string_equal(
		out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		     "<testsuites tests=\"1\" failures=\"0\" errors=\"1\" time=\"0\">\n"
		     "  <testsuite tests=\"1\" failures=\"0\" errors=\"1\" skipped=\"0\" time=\"0\" name=\"x.db\">\n"
		     "    <properties>\n"
		     "      <property name=\"coverage\" value=\"all of &lt;it&gt;\"/>\n"
		     "    </properties>\n"
		     "    <testcase classname=\"a&amp;b.slo\" name=\"executions of app=&quot;&lt;&amp;&gt;'?\xc3\xa9"
		     "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd" /* of bytes that are not UTF-8 */
		     "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbdy&quot; &gt;= 1\" line=\"1\" time=\"0\">\n"
		     "      <properties>\n"
		     "        <property name=\"bound\" value=\"1\"/>\n"
		     "      </properties>\n"
		     "      <error type=\"INCONCLUSIVE\" message=\"a&#10;b\xef\xbf\xbd&quot;\"/>\n"
		     "    </testcase>\n"
		     "  </testsuite>\n"
		     "</testsuites>\n");
	free(out);
	bsv_slo_fini(&slo);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_rule_is_read_as_it_is_meant),
		cmocka_unit_test(a_selection_may_have_each_key_once_in_any_order),
		cmocka_unit_test(a_baseline_may_be_left_behind_by_a_share_or_a_time),
		cmocka_unit_test(a_rule_is_printed_as_it_can_be_read),
		cmocka_unit_test(lines_are_counted_whatever_is_in_them),
		cmocka_unit_test(a_wrong_rule_is_refused_with_a_reason),
		cmocka_unit_test(what_is_too_much_is_refused),
		cmocka_unit_test(the_example_is_read),
		cmocka_unit_test(the_rules_in_the_manual_are_read),
		cmocka_unit_test(a_percentile_is_judged_by_what_is_above_its_bound),
		cmocka_unit_test(what_may_be_of_the_group_changes_no_verdict),
		cmocka_unit_test(misses_are_judged_by_their_share),
		cmocka_unit_test(misses_in_sequence_are_counted_in_each_window),
		cmocka_unit_test(a_baseline_is_judged_by_the_interval),
		cmocka_unit_test(coverage_is_the_worse_of_events_and_executions),
		cmocka_unit_test(coverage_reports_how_many_executions_do_not_count),
		cmocka_unit_test(executions_may_be_asked_for),
		cmocka_unit_test(junit_escapes_what_strangers_wrote),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
