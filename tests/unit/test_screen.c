/*
 * test_screen.c -- output for people: the width of letters, escapes that a terminal would obey, lines,
 * durations, tables.
 */
#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pty.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base.h"
#include "base/command.h"
#include "base/letters.h"
#include "base/numbers.h"
#include "base/screen.h"
#include "render/render.h"
#include "render/scale.h"

/* ---- letters ---- */

static void letters_are_as_wide_as_a_terminal_shows_them(void **state)
{
	static const struct {
		const char *s;
		int width;
	} rows[] = {
		{ "", 0 },
		{ "abc", 3 },
		{ "é", 1 },
		{ "e\xcc\x81", 1 },        /* with an accent that goes on it */
		{ "写真", 4 },             /* wide */
		{ "a\xe2\x80\x8b", 1 },    /* with a space of no width */
		{ "\xf0\x9f\x93\xb7", 2 }, /* a camera */
		{ "\xff\xfe", 2 },         /* not UTF-8: one column a byte */
		{ "\xe5\x86", 2 },         /* cut in the middle */
	};

	(void)state;
	for (size_t i = 0; i < N_OF(rows); i++)
		if (bsv_width(rows[i].s) != rows[i].width)
			fail_msg("'%s' is %d wide, not %d", rows[i].s, bsv_width(rows[i].s), rows[i].width);
}

static void a_precision_does_not_part_a_letter(void **state)
{
	static const struct {
		const char *s;
		int most, bytes;
	} rows[] = {
		{ "", 8, 0 },
		{ "abc", 8, 3 },
		{ "abc", 2, 2 },
		{ "caf\xc3\xa9", 4, 3 },
		{ "caf\xc3\xa9", 5, 5 },
		{ "\xe5\x86\x99\xe7\x9c\x9f", 5, 3 },
		{ "\xe5\x86\x99\xe7\x9c\x9f", 2, 0 },
		{ "a\xf0\x9f\x93\xb7", 4, 1 },
		{ "\xff\xfe\xfd", 2, 2 }, /* not UTF-8: one column a byte */
		{ "a\xe5\x86", 3, 3 },    /* a letter whose end is missing */
		{ "a\xe5\x86", 0, 0 },
	};

	(void)state;
	for (size_t i = 0; i < N_OF(rows); i++)
		if (bsv_cut(rows[i].s, rows[i].most) != rows[i].bytes)
			fail_msg("row %zu: %d bytes, not %d", i, bsv_cut(rows[i].s, rows[i].most), rows[i].bytes);
}

static void a_terminal_has_nothing_to_obey(void **state)
{
	static const struct {
		const char *s, *shown;
	} rows[] = {
		{ "plain", "plain" },
		{ "\033[31mred", "\\x1b[31mred" },
		{ "two\nlines\tand\rmore\177", "two\\x0alines\\x09and\\x0dmore\\x7f" },
		{ "\xc2\x9b"
		  "31m",
		  "\\u009b31m" }, /* C1, as UTF-8 */
		{ "\x9b"
		  "31m",
		  "\\x9b31m" }, /* C1, as a bare byte */
		{ "\xe2\x80\xae"
		  "evil",
		  "\\u202eevil" },                     /* reverses the text that follows */
		{ "\xf3\xa0\x80\xa1", "\\U000e0021" }, /* an invisible letter */
		{ "cam\xe2\x80\x8b"
		  "era",
		  "cam\\u200bera" }, /* has no width: the name would look like another one */
		{ "\xe2\x80\x8d\xe2\x81\xa0\xc2\xad\xe3\x85\xa4\xef\xb8\x8f", "\\u200d\\u2060\\u00ad\\u3164\\ufe0f" },
		{ "e\xcc\x81", "e\xcc\x81" }, /* has no width, but is visible */
		{ "写真", "写真" },
		{ "\xc0\xaf", "\\xc0\\xaf" },          /* longer than it has to be */
		{ "\xed\xa0\x80", "\\xed\\xa0\\x80" }, /* half of a pair */
	};

	(void)state;
	for (size_t i = 0; i < N_OF(rows); i++) {
		char *shown = bsv_printable(rows[i].s, strlen(rows[i].s), 0);

		assert_string_equal(shown, rows[i].shown);
		free(shown);
	}
}

static void a_text_is_cut_between_letters(void **state)
{
	static const struct {
		const char *s;
		int most;
		const char *shown;
	} rows[] = {
		{ "abcdef", 6, "abcdef" }, { "abcdef", 5, "abcd…" }, { "abcdef", 1, "…" },  { "写真帳", 6, "写真帳" },
		{ "写真帳", 5, "写真…" },  { "写真帳", 4, "写…" },   { "a\033b", 4, "a…" }, { "", 3, "" },
	};

	(void)state;
	for (size_t i = 0; i < N_OF(rows); i++) {
		char *shown = bsv_printable(rows[i].s, strlen(rows[i].s), rows[i].most);

		assert_string_equal(shown, rows[i].shown);
		assert_true(bsv_width(shown) <= rows[i].most);
		free(shown);
	}
}

static void a_line_ends_where_a_word_does(void **state)
{
	static const struct {
		const char *s;
		int width;
		size_t bytes;
	} rows[] = {
		{ "one two three", 13, 13 },
		{ "one two three", 12, 7 },
		{ "one two three", 4, 3 },
		{ "onetwothree", 5, 5 },
		{ "one\ntwo", 20, 3 },
		{ "写真 帳", 4, 6 },
		{ "写真", 1, 3 },
		{ "ab\xe0\xa0 c", 4, 4 }, /* two bytes that are not UTF-8, and no space */
		{ "", 5, 0 },
	};

	(void)state;
	for (size_t i = 0; i < N_OF(rows); i++)
		assert_int_equal(bsv_line(rows[i].s, rows[i].width), rows[i].bytes);
}

static void a_size_has_the_unit_that_fits(void **state)
{
	static const struct {
		uint64_t bytes;
		const char *text;
	} rows[] = { { 0, "0 bytes" },
		     { 1023, "1023 bytes" },
		     { 1024, "1 KiB" },
		     { 1536, "1.5 KiB" },
		     { 1047000, "1022 KiB" },
		     { 1048575, "1.0 MiB" },
		     { 1048576, "1 MiB" },
		     { 1073741823, "1.0 GiB" },
		     { UINT64_C(1) << 40, "1 TiB" },
		     { UINT64_MAX, "16777216 TiB" } };
	char text[BSV_BYTES_TEXT];

	(void)state;
	for (size_t i = 0; i < N_OF(rows); i++)
		assert_string_equal(bsv_bytes(text, rows[i].bytes), rows[i].text);
}

static void a_duration_has_the_unit_that_fits_and_four_digits(void **state)
{
	static const struct {
		int64_t ns;
		const char *text;
	} rows[] = {
		{ 0, "0 ns" },
		{ 999, "999 ns" },
		{ 1250000, "1.250 ms" },
		{ -1500, "-1.500 us" },
		{ 2000000000, "2.000 s" },
		{ INT64_MIN, "-9223372037 s" },
		{ 21548000, "21.55 ms" },
		{ 284517000, "284.5 ms" },
		{ 9999400, "9.999 ms" },
		{ 9999500, "10.00 ms" },
		{ 99994999, "99.99 ms" },
		{ 99995000, "100.0 ms" },
		{ 999949999, "999.9 ms" },
		{ 999950000, "1.000 s" },
		{ 1000, "1.000 us" },
		{ 12345600000000, "12346 s" },
	};
	char text[BSV_DURATION_TEXT];

	(void)state;
	for (size_t i = 0; i < N_OF(rows); i++)
		assert_string_equal(bsv_duration(text, rows[i].ns), rows[i].text);
}

static void a_duration_beside_another_has_its_unit(void **state)
{
	static const struct {
		int64_t ns, other;
		const char *text;
	} rows[] = {
		{ 496919, 22288000, "0.497 ms" }, { 22288000, 496919, "22.29 ms" }, { 388416, 2491000, "0.388 ms" },
		{ 4000, 22288000, "4.000 us" },   { 516, 8347, "0.516 us" },        { 70, 9, "70 ns" },
	};
	char text[BSV_DURATION_TEXT];

	(void)state;
	for (size_t i = 0; i < N_OF(rows); i++)
		assert_string_equal(bsv_duration_beside(text, rows[i].ns, rows[i].other), rows[i].text);
}

static void a_length_that_is_no_whole_number_is_cut_and_never_overflows(void **state)
{
	(void)state;
	assert_int_equal(bsv_whole(1.9), 1);
	assert_int_equal(bsv_whole(-1.9), -1);
	assert_int_equal(bsv_whole(1e300), INT64_C(1) << 62);
	assert_int_equal(bsv_whole(-1e300), -(INT64_C(1) << 62));
	assert_int_equal(bsv_whole(0.0 / 0.0), 0);
}

static void colours_are_optional(void **state)
{
	struct bsv_screen s;

	(void)state;
	unsetenv("COLUMNS");
	s = bsv_screen_get(BSV_COLOR_AUTO); /* no terminal, in a test */
	assert_false(s.color);
	assert_string_equal(bsv_paint_on(&s, BSV_BAD), "");
	assert_string_equal(bsv_paint_off(&s, BSV_BAD), "");
	setenv("NO_COLOR", "1", 1);
	s = bsv_screen_get(BSV_COLOR_ALWAYS); /* the option on the command line wins */
	assert_true(s.color);
	assert_string_not_equal(bsv_paint_on(&s, BSV_BAD), "");
	assert_string_equal(bsv_paint_on(&s, BSV_PLAIN), "");
	assert_string_equal(bsv_paint_on(&s, 1000), "");
	unsetenv("NO_COLOR");
	assert_false(bsv_screen_get(BSV_COLOR_NEVER).color);
	setenv("COLUMNS", "33", 1);
	assert_int_equal(bsv_screen_get(BSV_COLOR_AUTO).width, 33);
	setenv("COLUMNS", "-5", 1);
	assert_int_equal(bsv_screen_get(BSV_COLOR_AUTO).width, 0);
	unsetenv("COLUMNS");
}

/* ---- tables ---- */

/* The text printed for @rows; takes @rows. */
static const char *table(struct bsv_rows *rows, int width, bool raw)
{
	static char text[16384];
	struct bsv_screen screen = { .width = width, .unicode = true };
	FILE *to = fmemopen(text, sizeof(text), "w");
	struct bsa_err err = { "" };

	assert_int_equal(bsv_render_table(to, rows, &screen, raw, &err), 0);
	assert_int_equal(fclose(to), 0);
	bsv_rows_free(rows);
	return text;
}

static const struct bsv_column columns[] = { { "app", "text", NULL },
	                                     { "n", "count", NULL },
	                                     { "p50_ns", "duration", "ns" },
	                                     { "p99_ns", "duration", "ns" },
	                                     { "size_bytes", "bytes", "bytes" },
	                                     { "share_percent", "percent", "%" } };

static void add_row(struct bsv_rows *r, const char *app, int64_t n, int64_t p50, int64_t p99, int64_t size,
                    double share)
{
	bsv_rows_text(r, app);
	bsv_rows_int(r, n);
	bsv_rows_int(r, p50);
	bsv_rows_int(r, p99);
	bsv_rows_int(r, size);
	bsv_rows_real(r, share);
}

static struct bsv_rows *some_rows(void)
{
	struct bsv_rows *r = bsv_rows_new(columns, N_OF(columns));

	add_row(r, "camera", 500, 1250000, 20000000, 4096, 50.04);
	add_row(r, "写真\033", 99, 300000, 900000, 1 << 20, 49.96);
	bsv_rows_text(r, NULL);
	for (int i = 0; i < 5; i++)
		bsv_rows_null(r);
	return r;
}

static void a_table_has_a_unit_for_each_column(void **state)
{
	(void)state;
	assert_string_equal(table(some_rows(), 0, false),
	                    "app         n  p50 ms   p99 ms  size MiB  share %\n"
	                    "camera    500   1.250  20.000      0.004     50.0\n"
	                    "写真\\x1b   99   0.300   0.900*     1.000     50.0\n"
	                    "-           -       -        -         -        -\n"
	                    "* of fewer than 100 (p999: 1000): the longest of them, or nearly\n");
}

static void figures_that_are_compared_have_one_unit(void **state)
{
	static const struct bsv_column of[] = { { "p95_ns", "duration", "ns" },
		                                { "fair_p95_ns", "duration", "ns" },
		                                { "work_ns", "duration", "ns" } };
	static const int64_t ns[][3] = { { 163400000, 23000000, 3728000000 }, { 2430000, 15900000, 133000000 } };
	struct bsv_rows *r = bsv_rows_new(of, N_OF(of));

	(void)state;
	for (size_t i = 0; i < N_OF(ns); i++)
		for (size_t k = 0; k < N_OF(of); k++)
			bsv_rows_int(r, ns[i][k]);
	assert_string_equal(table(r, 0, false), "p95 ms  fair p95 ms  work s\n"
	                                        "163.40        23.00   3.728\n"
	                                        "  2.43        15.90   0.133\n");
}

static void an_interval_has_the_unit_of_its_prediction(void **state)
{
	static const struct bsv_column of[] = { { "predicted_ns", "duration", "ns" },
		                                { "low_ns", "duration", "ns" },
		                                { "high_ns", "duration", "ns" } };
	static const int64_t ns[][3] = { { 163400000, 53000, 3728000000 }, { 2430000, 900, 13300000 } };
	struct bsv_rows *r = bsv_rows_new(of, N_OF(of));

	(void)state;
	for (size_t i = 0; i < N_OF(ns); i++)
		for (size_t k = 0; k < N_OF(of); k++)
			bsv_rows_int(r, ns[i][k]);
	assert_string_equal(table(r, 0, false), "predicted ms  low ms  high ms\n"
	                                        "      163.40    0.05  3728.00\n"
	                                        "        2.43   <0.01    13.30\n");
}

static void raw_means_as_it_is(void **state)
{
	(void)state;
	assert_string_equal(table(some_rows(), 0, true),
	                    "app         n   p50_ns    p99_ns  size_bytes  share_percent\n"
	                    "camera    500  1250000  20000000        4096          50.04\n"
	                    "写真\\x1b   99   300000    900000     1048576          49.96\n"
	                    "-           -        -         -           -              -\n");
}

/* The width of the widest line. */
static int widest_line(const char *s)
{
	int ret = 0;

	while (*s) {
		size_t n = strcspn(s, "\n");
		char *line = strndup(s, n);
		int width = bsv_width(line);

		ret = width > ret ? width : ret;
		free(line);
		s += n + (s[n] == '\n');
	}
	return ret;
}

static void no_line_is_wider_than_the_screen(void **state)
{
	(void)state;
	for (int width = 20; width < 120; width++) {
		struct bsv_rows *r = some_rows();
		const char *s;

		add_row(r, "an app with a name that is long enough for three lines or more of them, of any width", 7, 1,
		        2, 3, 4);
		s = table(r, width, false);
		if (widest_line(s) > width)
			fail_msg("%d wide, and not %d:\n%s", widest_line(s), width, s);
	}
}

static void columns_without_room_follow_below_with_the_names_of_the_rows(void **state)
{
	(void)state;
	assert_string_equal(table(some_rows(), 30, false), "app         n  p50 ms   p99 ms\n"
	                                                   "camera    500   1.250  20.000 \n"
	                                                   "写真\\x1b   99   0.300   0.900*\n"
	                                                   "-           -       -        -\n"
	                                                   "\n"
	                                                   "app       size MiB  share %\n"
	                                                   "camera       0.004     50.0\n"
	                                                   "写真\\x1b     1.000     50.0\n"
	                                                   "-                -        -\n"
	                                                   "* of fewer than 100 (p999:\n"
	                                                   "  1000): the longest of them,\n"
	                                                   "  or nearly\n");
}

/* However narrow the screen is, each figure is printed, and in full. */
static void no_figure_is_cut_or_left_out(void **state)
{
	static const char *const figures[] = { "1234567891", "987654321", "192837465", "564738291" };
	static const struct bsv_column wide[] = { { "app", "text", NULL },       { "model", "text", NULL },
		                                  { "first", "number", NULL },   { "second", "number", NULL },
		                                  { "effect", "text", NULL },    { "third", "number", NULL },
		                                  { "the last", "number", NULL } };

	(void)state;
	for (int width = 20; width < 120; width++) {
		struct bsv_rows *r = bsv_rows_new(wide, N_OF(wide));
		const char *s;

		bsv_rows_text(r, "an app with a name that is long");
		bsv_rows_text(r, "a model with a name that is long");
		for (size_t i = 0; i < N_OF(figures); i++) {
			if (i == 2)
				bsv_rows_text(r, "cannot tell");
			bsv_rows_int(r, atoll(figures[i]));
		}
		s = table(r, width, true);
		for (size_t i = 0; i < N_OF(figures); i++)
			if (!strstr(s, figures[i]))
				fail_msg("%d wide, %s is missing:\n%s", width, figures[i], s);
		assert_non_null(strstr(s, "cannot tell"));
	}
}

/* All blocks of a thousand rows come before the next rows, because no row is read twice. */
static void a_long_table_is_broken_as_a_short_one_page_by_page(void **state)
{
	enum { PAGE = 1000, ROWS = 2 * PAGE + 101, WIDE = 12, PAGES = 3 };
	static const struct bsv_column two[] = { { "id", "id", NULL },
		                                 { "first", "text", NULL },
		                                 { "last", "text", NULL } };
	static char text[1 << 17];
	struct bsv_screen screen = { .width = 20, .unicode = true };
	struct bsv_rows *r = bsv_rows_new(two, N_OF(two));
	FILE *to = fmemopen(text, sizeof(text), "w");
	struct bsa_err err = { "" };
	unsigned lines = 0, seen[2] = { 0 }, ids = 0;

	(void)state;
	assert_non_null(r);
	for (int i = 0; i < ROWS; i++) {
		bsv_rows_int(r, 100000 + i);
		bsv_rows_text(r, "first-of-row");
		bsv_rows_text(r, "last-of-row!");
	}
	bsv_rows_limit(r, ROWS - 1);
	assert_int_equal(bsv_render_table(to, r, &screen, false, &err), 0);
	assert_int_equal(bsv_rows_beyond(r, 10), 1);
	assert_int_equal(fclose(to), 0);
	bsv_rows_free(r);
	for (const char *at = text; *at; at += strcspn(at, "\n") + 1, lines++) {
		unsigned page = ids / (2 * PAGE), rows = page < PAGES - 1 ? PAGE : ROWS - 1 - page * PAGE;

		if (*at == '1') { /* each block of a page has its rows */
			assert_int_equal(atoi(at), 100000 + page * PAGE + (ids - page * 2 * PAGE) % rows);
			ids++;
		}
		seen[0] += !strncmp(at + 8, "first-of-row", WIDE);
		seen[1] += !strncmp(at + 8, "last-of-row!", WIDE);
	}
	assert_int_equal(seen[0], ROWS - 1);
	assert_int_equal(seen[1], ROWS - 1);
	assert_int_equal(ids, 2 * (ROWS - 1));
	/* Two heads a page, and an empty line between the blocks. */
	assert_int_equal(lines, 2 * (ROWS - 1) + PAGES * 4 - 1);
}

/*
 * A bar draws the figures before it, has no name, and is left out where it has no room. A column of a query may have
 * no name, either, and stays.
 */
static void a_bar_without_room_is_left_out(void **state)
{
	static const struct bsv_column bars[] = { { "phase", "text", NULL },
		                                  { "share_percent", "percent", "%" },
		                                  { "", "text", NULL } };

	(void)state;
	for (int raw = 0; raw < 2; raw++)
		for (int width = 20; width < 60; width++) {
			struct bsv_rows *r = bsv_rows_new(bars, N_OF(bars));
			const char *s;

			bsv_rows_text(r, "queue");
			bsv_rows_real(r, 50);
			bsv_rows_text(r, "####################");
			s = table(r, width, raw);
			assert_non_null(strstr(s, "50"));
			if (raw)
				assert_non_null(strstr(s, "####"));
			else
				assert_null(strstr(s, "\n\n"));
		}
}

/* A narrow screen has room for a sentence in several lines. */
static void a_sentence_stays_on_a_narrow_screen(void **state)
{
	static const struct bsv_column sentences[] = { { "finding", "label", NULL }, { "what", "text", NULL } };
	struct bsv_rows *r = bsv_rows_new(sentences, 2);

	(void)state;
	assert_non_null(r);
	bsv_rows_text(r, "a_word_of_12");
	bsv_rows_text(r, "well-behaved missed 60 of 65 deadlines");
	assert_string_equal(table(r, 30, false), "finding       what\n"
	                                         "a_word_of_12  well-behaved\n"
	                                         "              missed 60 of 65\n"
	                                         "              deadlines\n");
}

static void an_empty_table_has_a_line_for_that(void **state)
{
	(void)state;
	assert_string_equal(table(bsv_rows_new(columns, 2), 0, false), "app  n\n(none)\n");
}

static void what_is_not_zero_does_not_look_like_it(void **state)
{
	static const struct bsv_column one[] = { { "x_ns", "duration", "ns" } };
	struct bsv_rows *r = bsv_rows_new(one, 1);

	(void)state;
	bsv_rows_int(r, 5000000000);
	bsv_rows_int(r, 1);
	bsv_rows_int(r, 0);
	assert_string_equal(table(r, 0, false), "   x ms\n"
	                                        "5000.00\n"
	                                        "  <0.01\n"
	                                        "   0.00\n");
}

static void numbers_that_are_absurd_are_printed(void **state)
{
	static const struct bsv_column two[] = { { "x_ns", "duration", "ns" }, { "y_ratio", "ratio", NULL } };
	struct bsv_rows *r = bsv_rows_new(two, 2);

	(void)state;
	bsv_rows_int(r, INT64_MAX);
	bsv_rows_real(r, 1e300);
	bsv_rows_int(r, INT64_MIN);
	bsv_rows_real(r, -0.0 / 0.0);
	bsv_rows_null(r);
	bsv_rows_real(r, 1e-300);
	assert_non_null(strstr(table(r, 0, false), "9223372037"));
}

/* ---- output for programs ---- */

static void json_is_json_whatever_the_names(void **state)
{
	static const struct bsv_column two[] = { { "a\"b", NULL, NULL }, { "n", "count", NULL } };
	struct bsv_rows *r = bsv_rows_new(two, 2);
	char text[1024];
	FILE *to = fmemopen(text, sizeof(text), "w");
	struct bsa_err err = { "" };

	(void)state;
	bsv_rows_text(r, "\\ \" \033 \xff \xc2\x9b 写");
	bsv_rows_int(r, INT64_MIN);
	bsv_rows_null(r);
	bsv_rows_real(r, 1.0 / 0.0);
	assert_int_equal(bsv_render_json(to, r, NULL, &err), 0);
	fclose(to);
	bsv_rows_free(r);
	assert_string_equal(text,
	                    "\"columns\":[{\"name\":\"a\\\"b\",\"class\":null,\"unit\":null},"
	                    "{\"name\":\"n\",\"class\":\"count\",\"unit\":null}],\"rows\":[\n"
	                    "{\"a\\\"b\":\"\\\\ \\\" \\u001b \\ufffd \\u009b 写\",\"n\":\"-9223372036854775808\"},\n"
	                    "{\"a\\\"b\":null,\"n\":null}]");
}

static void json_has_strings_for_what_a_double_cannot_hold(void **state)
{
	static const struct bsv_column wide[] = { { "began", "time", "ns" },
		                                  { "seen_at", "time", "ns" },
		                                  { "exec", "number", NULL },
		                                  { "n", "count", NULL } };
	static const int64_t exact = (int64_t)1 << 53, start = 1000;
	const int64_t rows[][4] = { { 1700, 700, 5, exact },
		                    { INT64_MIN, -5, -1, exact + 1 },
		                    { exact + 1001, -exact - 1, 0, -exact } };
	struct bsv_rows *r = bsv_rows_new(wide, 4);
	char text[2048];
	FILE *to = fmemopen(text, sizeof(text), "w");
	struct bsa_err err = { "" };

	(void)state;
	for (size_t i = 0; i < 3; i++)
		for (size_t j = 0; j < 4; j++)
			bsv_rows_int(r, rows[i][j]);
	assert_int_equal(bsv_render_json(to, r, &start, &err), 0);
	fclose(to);
	bsv_rows_free(r);
	assert_non_null(strstr(text, "{\"name\":\"began_since_start\",\"class\":\"time\",\"unit\":\"ns\"}"));
	assert_string_equal(strstr(text, "\"rows\""),
	                    "\"rows\":[\n"
	                    "{\"began\":\"1700\",\"began_since_start\":700,\"seen_at\":700,\"exec\":\"5\",\"n\":"
	                    "9007199254740992},\n"
	                    "{\"began\":\"-9223372036854775808\",\"began_since_start\":null,\"seen_at\":-5,\"exec\":\"-"
	                    "1\",\"n\":\"9007199254740993\"},\n"
	                    "{\"began\":\"9007199254741993\",\"began_since_start\":\"9007199254740993\",\"seen_at\":\"-"
	                    "9007199254740993\",\"exec\":\"0\","
	                    "\"n\":-9007199254740992}]");
}

static void csv_is_as_it_came_but_for_a_terminal(void **state)
{
	static const struct bsv_column one[] = { { "name", "text", NULL } };
	static const char *const wanted[] = { "name\n\"a,\"\"b\"\n\"\"\n\n\033[31m\n",
		                              "name\n\"a,\"\"b\"\n\"\"\n\n\\x1b[31m\n" };

	(void)state;
	for (int escape = 0; escape < 2; escape++) {
		struct bsv_rows *r = bsv_rows_new(one, 1);
		char text[256];
		FILE *to = fmemopen(text, sizeof(text), "w");

		bsv_rows_text(r, "a,\"b");
		bsv_rows_text(r, "");
		bsv_rows_null(r);
		bsv_rows_text(r, "\033[31m");
		assert_int_equal(bsv_render_csv(to, r, NULL, escape, NULL), 0);
		fclose(to);
		bsv_rows_free(r);
		assert_string_equal(text, wanted[escape]);
	}
}

/* Programs read notices and errors from a pipe, where each stays one line. */
static void a_line_is_broken_on_a_terminal_alone(void **state)
{
	static const char line[] = "burstscope: summary: recordings/of/november.db: No such file or directory";
	static const char wanted[] =
		"burstscope: summary:\r\n  recordings/of/november.db: No such\r\n  file or directory\r\n";
	const struct winsize size = { .ws_row = 24, .ws_col = 40 };
	char text[256] = "";
	int there, here;
	FILE *f;

	(void)state;
	unsetenv("COLUMNS");
	assert_int_equal(openpty(&there, &here, NULL, NULL, &size), 0);
	f = fdopen(here, "w");
	assert_non_null(f);
	bsv_print_line(f, line);
	assert_int_equal(fflush(f), 0);
	for (size_t n = 0; n < strlen(wanted);) {
		ssize_t r = read(there, text + n, sizeof(text) - 1 - n);

		assert_true(r > 0);
		n += (size_t)r;
	}
	assert_string_equal(text, wanted);
	fclose(f);
	close(there);
	memset(text, 0, sizeof(text));
	f = fmemopen(text, sizeof(text), "w");
	assert_non_null(f);
	bsv_print_line(f, line);
	fclose(f);
	assert_int_equal(strlen(text), strlen(line) + 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(letters_are_as_wide_as_a_terminal_shows_them),
		cmocka_unit_test(a_precision_does_not_part_a_letter),
		cmocka_unit_test(a_terminal_has_nothing_to_obey),
		cmocka_unit_test(a_text_is_cut_between_letters),
		cmocka_unit_test(a_line_ends_where_a_word_does),
		cmocka_unit_test(a_size_has_the_unit_that_fits),
		cmocka_unit_test(a_duration_has_the_unit_that_fits_and_four_digits),
		cmocka_unit_test(a_duration_beside_another_has_its_unit),
		cmocka_unit_test(a_length_that_is_no_whole_number_is_cut_and_never_overflows),
		cmocka_unit_test(colours_are_optional),
		cmocka_unit_test(a_table_has_a_unit_for_each_column),
		cmocka_unit_test(figures_that_are_compared_have_one_unit),
		cmocka_unit_test(an_interval_has_the_unit_of_its_prediction),
		cmocka_unit_test(raw_means_as_it_is),
		cmocka_unit_test(no_line_is_wider_than_the_screen),
		cmocka_unit_test(columns_without_room_follow_below_with_the_names_of_the_rows),
		cmocka_unit_test(no_figure_is_cut_or_left_out),
		cmocka_unit_test(a_long_table_is_broken_as_a_short_one_page_by_page),
		cmocka_unit_test(a_bar_without_room_is_left_out),
		cmocka_unit_test(a_sentence_stays_on_a_narrow_screen),
		cmocka_unit_test(an_empty_table_has_a_line_for_that),
		cmocka_unit_test(what_is_not_zero_does_not_look_like_it),
		cmocka_unit_test(numbers_that_are_absurd_are_printed),
		cmocka_unit_test(json_is_json_whatever_the_names),
		cmocka_unit_test(json_has_strings_for_what_a_double_cannot_hold),
		cmocka_unit_test(csv_is_as_it_came_but_for_a_terminal),
		cmocka_unit_test(a_line_is_broken_on_a_terminal_alone),
	};

	setlocale(LC_CTYPE, "C.UTF-8");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
