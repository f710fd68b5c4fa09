/*
 * test_options.c -- command lines by their tables: what is read, and the words of each refusal.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "base/nearest.h"
#include "base/quantity.h"
#include "options/options.h"
#include "unit/spellings.h"

static const char *const colours[] = { "red", "green", NULL };

struct own {
	bool flag;
	const char *text;
	unsigned number;
	int colour, shade;
	struct bsv_quantity time, size;
};

static const struct bsv_option options[] = {
	{ .name = "flag", .letter = 'f', .says = "x", .offset = offsetof(struct own, flag) },
	{ .name = "text",
	  .letter = 't',
	  .kind = BSV_TEXT,
	  .argument = "TEXT",
	  .says = "x",
	  .offset = offsetof(struct own, text) },
	{ .name = "number",
	  .kind = BSV_NUMBER,
	  .argument = "N",
	  .says = "x",
	  .offset = offsetof(struct own, number),
	  .most = 64 },
	{ .name = "colour",
	  .kind = BSV_CHOICE,
	  .argument = "red|green",
	  .says = "x",
	  .offset = offsetof(struct own, colour),
	  .choices = colours },
	{ .name = "shade",
	  .kind = BSV_CHOICE,
	  .argument = "SHADE",
	  .says = "x",
	  .offset = offsetof(struct own, shade),
	  .choices = colours },
	{ .name = "time", .kind = BSV_DURATION, .argument = "TIME", .says = "x", .offset = offsetof(struct own, time) },
	{ .name = "size", .kind = BSV_SIZE, .argument = "SIZE", .says = "x", .offset = offsetof(struct own, size) },
	{ .name = NULL },
};

static const struct bsv_command command = {
	.name = "test",
	.operands = "A [B]",
	.says = "x",
	.examples = "",
	.options = options,
	.options_size = sizeof(struct own),
	.min = 1,
	.max = 2,
	.asks = BSV_ASK_WHEN,
};

/* Read @line; single spaces separate its words. */
static int read_line(const char *line, struct own *own, struct bsv_call *call, struct bsa_err *err)
{
	static char text[512];
	static char *argv[32];
	int argc = 0;

	snprintf(text, sizeof(text), "test %s", line);
	for (char *word = strtok(text, " "); word; word = strtok(NULL, " "))
		argv[argc++] = word;
	argv[argc] = NULL;
	*err = (struct bsa_err){ "" };
	return bsv_options_read(&command, argc, argv, own, call, err);
}

static void what_is_given_is_read(void **state)
{
	struct own own;
	struct bsv_call call;
	struct bsa_err err;

	(void)state;
	assert_int_equal(read_line("a --flag -t word --number=64 b --colour green --time 1.5ms --size 4M -qv --from 2s",
	                           &own, &call, &err),
	                 0);
	assert_true(own.flag && call.common.quiet && call.common.verbose && !call.common.help);
	assert_string_equal(own.text, "word");
	assert_int_equal(own.number, 64);
	assert_int_equal(own.colour, 1);
	assert_true(own.time.given && own.time.value == 1500000);
	assert_true(own.size.given && own.size.value == 4 << 20);
	assert_true(call.asked.from.given && call.asked.from.value == 2000000000 && !call.asked.to.given);
	assert_int_equal(call.n_operands, 2);
	assert_string_equal(call.operands[0], "a");
	assert_string_equal(call.operands[1], "b");
	assert_int_equal(read_line("a", &own, &call, &err), 0);
	assert_true(!own.flag && !own.text && !own.time.given);
}

static void a_wrong_line_is_refused_in_words(void **state)
{
	static const struct {
		const char *line, *said;
	} rows[] = {
		{ "", "expected A [B]" },
		{ "a b c", "unexpected operand 'c'" },
		{ "a --flg", "no option '--flg'; did you mean '--flag'?" },
		{ "a --fla", "no option '--fla'; did you mean '--flag'?" }, /* no name is abbreviated */
		{ "a --fl=1", "no option '--fl'; did you mean '--flag'?" },
		{ "a --numb 3", "no option '--numb'; did you mean '--number'?" },
		{ "--n=3 a", "no option '--n'; did you mean '--number'?" },
		{ "a --tex", "no option '--tex'; did you mean '--text'?" },
		{ "a --te -t", "no option '--te'; did you mean '--text'?" },
		{ "a --hel", "no option '--hel'; did you mean '--help'?" },
		{ "a --t 1s", "no option '--t'; see burstscope test --help" }, /* several begin like that */
		{ "a --where x", "no option '--where'" },                      /* the command has no --where */
		{ "a --zzzzzzzz", "no option '--zzzzzzzz'; see burstscope test --help" },
		{ "a -x", "no option '-x'" },
		{ "a --text", "--text: TEXT is missing" },
		{ "a -t", "--text: TEXT is missing" },
		{ "a --flag=1", "--flag takes no argument" },
		{ "a --number 65", "'65' is not a number from 0 to 64" },
		{ "a --number -1", "'-1' is not a number" },
		{ "a --number 1x", "'1x' is not a number" },
		{ "a --number 99999999999999999999", "is not a number" },
		{ "a --colour gren", "no 'gren'; did you mean 'green'?" },
		{ "a --colour violet", "no 'violet'; write red|green" },
		{ "a --shade violet", "no 'violet'; there are red, green" },
		{ "a --time 5", "'5' is not a time; write 1.5s" },
		{ "a --time 5m", "'5m' is not a time; write 5min or 5ms" },
		{ "a --time 0x5s", "'0x5s' is not a time; write 1.5s" },
		{ "a --time -5s", "'-5s' is not a time; write 1.5s" },
		{ "a --time nans", "'nans' is not a time; write 1.5s" },
		{ "a --time 1e99s", "'1e99s' is not a time; write 1.5s" },
		{ "a --size 5s", "'5s' is not a size; write 512K" },
	};
	struct own own;
	struct bsv_call call;
	struct bsa_err err;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		if (read_line(rows[i].line, &own, &call, &err) != BSA_E_USAGE)
			fail_msg("'%s' is read", rows[i].line);
		if (!strstr(err.text, rows[i].said))
			fail_msg("of '%s' it is said: %s, not: %s", rows[i].line, err.text, rows[i].said);
	}
}

static void a_remark_before_sql_is_no_option(void **state)
{
	static char name[] = "test", query[] = "-- what it is\n-- and more\nSELECT 1", odd[] = "-- nothing but this";
	char *argv[] = { name, query, NULL }, *other[] = { name, odd, NULL };
	struct own own;
	struct bsv_call call;
	struct bsa_err err;

	(void)state;
	assert_int_equal(bsv_options_read(&command, 2, argv, &own, &call, &err), 0);
	assert_string_equal(call.operands[0], "SELECT 1");
	assert_int_equal(bsv_options_read(&command, 2, other, &own, &call, &err), BSA_E_USAGE);
}

static void help_needs_no_operands(void **state)
{
	struct own own;
	struct bsv_call call;
	struct bsa_err err;

	(void)state;
	assert_int_equal(read_line("--help", &own, &call, &err), 0);
	assert_true(call.common.help);
}

static void the_nearest_word_is_found(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(mistyped) / sizeof(*mistyped); i++) {
		const char *found = bsv_nearest(mistyped[i].word, known_words,
		                                sizeof(known_words) / sizeof(*known_words), sizeof(*known_words));

		assert_string_equal(found ? found : "-", mistyped[i].nearest ? mistyped[i].nearest : "-");
	}
}

/* ---- quantities ---- */

static void durations_are_read_as_the_runtime_reads_them(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(durations) / sizeof(*durations); i++) {
		int64_t ns = REFUSED;

		if (bsv_duration_read(durations[i].text, &ns) != (durations[i].ns != REFUSED) || ns != durations[i].ns)
			fail_msg("'%s' is %lld ns", durations[i].text, (long long)ns);
	}
}

static void differences_are_durations_with_a_sign(void **state)
{
	static const char *const refused[] = { "", "-", "--3ms", "+-3ms", "- 3ms", "-0x3ms", "-3", "-1e3ms", "-.5ms" };
	int64_t ns = 77;

	(void)state;
	for (size_t i = 0; i < sizeof(refused) / sizeof(*refused); i++)
		if (bsv_difference_read(refused[i], &ns) || ns != 77)
			fail_msg("'%s' is %lld ns", refused[i], (long long)ns);
	assert_true(bsv_difference_read("-3ms", &ns) && ns == -3000000);
	assert_true(bsv_difference_read("+1.5us", &ns) && ns == 1500);
	assert_true(bsv_difference_read("2min", &ns) && ns == 120000000000);
	assert_true(bsv_difference_read("-0s", &ns) && ns == 0);
}

static void sizes_have_a_unit(void **state)
{
	static const char *const refused[] = { "",    "4",     "K",    ".5K",  "1.K", "1KB",
		                               "-1K", "0x10K", "1e3K", "nanK", "1 K", "9999999999999999999G" };
	int64_t bytes = 77;

	(void)state;
	for (size_t i = 0; i < sizeof(refused) / sizeof(*refused); i++)
		if (bsv_size_read(refused[i], &bytes) || bytes != 77)
			fail_msg("'%s' is %lld bytes", refused[i], (long long)bytes);
	assert_true(bsv_size_read("512K", &bytes) && bytes == 512 << 10);
	assert_true(bsv_size_read("64k", &bytes) && bytes == 64 << 10);
	assert_true(bsv_size_read("1.5M", &bytes) && bytes == 3 << 19);
	assert_true(bsv_size_read("2G", &bytes) && bytes == INT64_C(2) << 30);
}

static void percentages_are_limited(void **state)
{
	static const char *const refused[] = { "",
		                               "%",
		                               " 5",
		                               "5 %%",
		                               "-0",
		                               "-1",
		                               "+1",
		                               "100.1",
		                               "1e1",
		                               "0x5",
		                               "nan",
		                               "inf",
		                               ".5",
		                               "1.",
		                               "5x",
		                               "5\t%",
		                               "99999999999999999999" };
	static const struct {
		const char *text;
		double percent;
	} rows[] = { { "99", 99 }, { "99.9", 99.9 }, { "5%", 5 }, { "5 %", 5 }, { "0", 0 }, { "100", 100 } };
	double percent = 77;

	(void)state;
	for (size_t i = 0; i < sizeof(refused) / sizeof(*refused); i++)
		if (bsv_percent_read(refused[i], 100, &percent) || percent != 77)
			fail_msg("'%s' is %g %%", refused[i], percent);
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		assert_true(bsv_percent_read(rows[i].text, 100, &percent) && percent == rows[i].percent);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_given_is_read),
		cmocka_unit_test(a_wrong_line_is_refused_in_words),
		cmocka_unit_test(a_remark_before_sql_is_no_option),
		cmocka_unit_test(help_needs_no_operands),
		cmocka_unit_test(the_nearest_word_is_found),
		cmocka_unit_test(durations_are_read_as_the_runtime_reads_them),
		cmocka_unit_test(differences_are_durations_with_a_sign),
		cmocka_unit_test(sizes_have_a_unit),
		cmocka_unit_test(percentages_are_limited),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
