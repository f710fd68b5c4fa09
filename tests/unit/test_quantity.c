/*
 * test_quantity.c -- durations, sizes and counts on the command lines of the runtime's programs, and the
 * words of their refusals.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "base.h"
#include "options/nearest.h"
#include "options/quantity.h"
#include "unit/spellings.h"

static void durations_are_read_as_burstscope_reads_them(void **state)
{
	(void)state;
	for (size_t i = 0; i < N_OF(durations); i++) {
		uint64_t ns = (uint64_t)REFUSED;

		if (quantity_duration_read(durations[i].text, &ns) != (durations[i].ns != REFUSED) ||
		    ns != (uint64_t)durations[i].ns)
			fail_msg("'%s' is %llu ns", durations[i].text, (unsigned long long)ns);
	}
}

static void a_duration_is_written_in_the_largest_unit_that_leaves_no_rest(void **state)
{
	static const struct {
		uint64_t ns;
		const char *text;
	} rows[] = {
		{ 0, "0s" },
		{ 5, "5ns" },
		{ 200000, "200us" },
		{ 2500000, "2500us" },
		{ 5000000, "5ms" },
		{ 1000000000, "1s" },
		{ 90000000000, "90s" },
		{ 120000000000, "2min" },
		{ 3600000000000, "60min" },
		{ UINT64_MAX, "18446744073709551615ns" },
	};

	(void)state;
	for (size_t i = 0; i < N_OF(rows); i++) {
		char text[QUANTITY_DURATION_TEXT];

		assert_string_equal(quantity_duration_text(text, rows[i].ns), rows[i].text);
	}
}

static void sizes_and_counts_are_whole_numbers(void **state)
{
	static const struct {
		const char *text;
		bool is_count, is_size;
		uint64_t n;
	} rows[] = {
		{ "0", true, true, 0 },
		{ "8", true, true, 8 },
		{ "007", true, true, 7 },
		{ "18446744073709551615", true, true, UINT64_MAX },
		{ "18446744073709551616", false, false, 0 },
		{ "99999999999999999999", false, false, 0 },
		{ "4K", false, true, 4 << 10 },
		{ "512M", false, true, 512 << 20 },
		{ "16G", false, true, UINT64_C(16) << 30 },
		{ "17179869183G", false, true, UINT64_C(17179869183) << 30 },
		{ "17179869184G", false, false, 0 },
		{ "", false, false, 0 },
		{ "K", false, false, 0 },
		{ "1.5G", false, false, 0 },
		{ "1KB", false, false, 0 },
		{ "1 K", false, false, 0 },
		{ " 1", false, false, 0 },
		{ "+1", false, false, 0 },
		{ "-0", false, false, 0 },
		{ "-1", false, false, 0 },
		{ "0x10", false, false, 0 },
		{ "1e3", false, false, 0 },
		{ "nan", false, false, 0 },
	};

	(void)state;
	for (size_t i = 0; i < N_OF(rows); i++) {
		uint64_t count = 77, size = 77;

		if (quantity_count_read(rows[i].text, &count) != rows[i].is_count ||
		    count != (rows[i].is_count ? rows[i].n : 77))
			fail_msg("the count '%s' is %llu", rows[i].text, (unsigned long long)count);
		if (quantity_size_read(rows[i].text, &size) != rows[i].is_size ||
		    size != (rows[i].is_size ? rows[i].n : 77))
			fail_msg("the size '%s' is %llu", rows[i].text, (unsigned long long)size);
	}
}

static void the_nearest_word_is_the_one_that_burstscope_suggests(void **state)
{
	(void)state;
	for (size_t i = 0; i < N_OF(mistyped); i++) {
		const char *found =
			nearest_word(mistyped[i].word, known_words, N_OF(known_words), sizeof(known_words[0]));

		assert_string_equal(found ? found : "-", mistyped[i].nearest ? mistyped[i].nearest : "-");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(durations_are_read_as_burstscope_reads_them),
		cmocka_unit_test(a_duration_is_written_in_the_largest_unit_that_leaves_no_rest),
		cmocka_unit_test(sizes_and_counts_are_whole_numbers),
		cmocka_unit_test(the_nearest_word_is_the_one_that_burstscope_suggests),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
