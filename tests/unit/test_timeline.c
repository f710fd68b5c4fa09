/*
 * test_timeline.c -- the drawing of lanes and queues: no cell shows more than is known.
 */
#include <inttypes.h>
#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "render/timeline.h"
#include "unit/assert_fits.h"

/* On a screen of 100 columns, 20 are labels, and 80 are cells. */
enum { WIDTH = 100, LABEL = 20, CELLS = 80 };

static const char *const names[] = { "camera", "gallery", "calendar" };

static char *name(void *ctx, int64_t id)
{
	char *text = NULL;

	if (ctx)
		return strdup(ctx);
	if (id >= 1 && id <= 3)
		return strdup(names[id - 1]);
	return asprintf(&text, "app number %" PRId64, id) < 0 ? NULL : text;
}

/* The drawing of @t; the caller owns the text. */
static char *drawn(const struct bsv_timeline *t, bool unicode, char *hostile)
{
	struct bsv_timeline_names its = { name, name, hostile, "app" };
	struct bsv_screen screen = { .unicode = unicode };
	struct bsa_err err = { "" };
	char *text = NULL;
	size_t n = 0;
	FILE *to = open_memstream(&text, &n);

	assert_non_null(to);
	if (bsv_timeline_draw(t, &its, to, &screen, &err))
		fail_msg("%s", err.text);
	fclose(to);
	return text;
}

/* The row that begins with @label, drawn in ASCII: @CELLS cells, with blanks where nothing was printed. */
static void row(const char *text, const char *label, char ret[CELLS + 1])
{
	char wanted[64];
	const char *line;
	size_t n;

	snprintf(wanted, sizeof(wanted), "\n%s", label);
	line = strstr(text, wanted);
	if (!line)
		fail_msg("no row '%s' in\n%s", label, text);
	line++;
	n = (size_t)(strchrnul(line, '\n') - line);
	assert_true(n <= LABEL + CELLS);
	memset(ret, ' ', CELLS);
	ret[CELLS] = 0;
	if (n > LABEL)
		memcpy(ret, line + LABEL, n - LABEL);
}

static void assert_cells(const char *cells, int from, int to, char wanted)
{
	for (int i = from; i < to; i++)
		if (cells[i] != wanted)
			fail_msg("cell %d is '%c', not '%c', of %s", i, cells[i], wanted, cells);
}

/* A cell is 10 ns. */
static struct bsv_timeline *of_800_ns(void)
{
	struct bsv_timeline *t = bsv_timeline_new(0, 10 * CELLS, WIDTH);

	bsv_timeline_lane(t, 1, 0);
	return t;
}

static void a_cell_shows_the_longest_holder(void **state)
{
	struct bsv_timeline *t = of_800_ns();
	char cells[CELLS + 1], *text;

	(void)state;
	bsv_timeline_held(t, 1, 0, 1, 0, 104);   /* 10 cells, and 4 of the next */
	bsv_timeline_held(t, 1, 0, 2, 104, 109); /* 5 of that one */
	bsv_timeline_held(t, 1, 0, 3, 200, 300);
	text = drawn(t, false, NULL);
	row(text, "lane 0", cells);
	assert_cells(cells, 0, 10, 'C');
	assert_cells(cells, 10, 11, 'G');
	assert_cells(cells, 11, 20, '.');
	assert_cells(cells, 20, 30, 'A'); /* calendar: C is taken by the app that held the lane longer */
	assert_cells(cells, 30, CELLS, '.');
	row(text, "  held", cells);
	assert_cells(cells, 0, 10, '8');
	assert_cells(cells, 10, 11, '7');
	assert_cells(cells, 11, 20, ' ');
	free(text);
	bsv_timeline_free(t);
}

static void a_cell_is_full_only_if_all_of_it_was_held(void **state)
{
	(void)state;
	for (int held = 0; held <= 10; held++) {
		struct bsv_timeline *t = of_800_ns();
		char cells[CELLS + 1], *text;
		int eighths = held * 8 / 10;

		bsv_timeline_held(t, 1, 0, 1, 50, 50 + held);
		text = drawn(t, false, NULL);
		row(text, "  held", cells);
		assert_int_equal(cells[5], held ? '0' + (eighths ? eighths : 1) : ' ');
		row(text, "lane 0", cells);
		assert_int_equal(cells[5], held ? 'C' : '.');
		free(text);
		bsv_timeline_free(t);
	}
}

static void an_unknown_holder_is_not_guessed(void **state)
{
	struct bsv_timeline *t = of_800_ns();
	char cells[CELLS + 1], *text;

	(void)state;
	bsv_timeline_held(t, 1, 0, 1, 0, 103);
	bsv_timeline_unknown(t, 1, 0, 103, 200);
	bsv_timeline_lost(t, 120, 125);
	text = drawn(t, false, NULL);
	row(text, "lane 0", cells);
	assert_cells(cells, 0, 10, 'C');
	assert_cells(cells, 10, 20, '?'); /* 7 of the first cell are unknown, and 3 were held */
	assert_cells(cells, 20, CELLS, '.');
	row(text, "  held", cells);
	assert_cells(cells, 10, 11, '2');
	assert_cells(cells, 11, 20, ' ');
	row(text, "losses 1", cells);
	assert_cells(cells, 12, 13, '?');
	assert_cells(cells, 13, CELLS, ' ');
	free(text);
	bsv_timeline_free(t);
}

static void behind_the_last_event_an_open_execution_may_have_the_lane(void **state)
{
	struct bsv_timeline *t = of_800_ns();
	char cells[CELLS + 1], *text;

	(void)state;
	bsv_timeline_lane(t, 1, 1);
	bsv_timeline_lane(t, 2, 0);
	bsv_timeline_held(t, 1, 0, 1, 100, 300);
	bsv_timeline_open(t, 1, 200, 500); /* on lane 0 from 300 on, and on lane 1 from 200 on, as far as is known */
	text = drawn(t, false, NULL);
	row(text, "lane 1:0", cells);
	assert_cells(cells, 0, 10, '.');
	assert_cells(cells, 10, 30, 'C');
	assert_cells(cells, 30, 50, '?');
	assert_cells(cells, 50, CELLS, '.');
	row(text, "lane 1:1", cells);
	assert_cells(cells, 0, 20, '.');
	assert_cells(cells, 20, 50, '?');
	row(text, "lane 2:0", cells);
	assert_cells(cells, 0, CELLS, '.');
	free(text);
	bsv_timeline_free(t);
}

static void before_and_after_the_recording_there_is_nothing(void **state)
{
	struct bsv_timeline *t = bsv_timeline_new(-100, 700, WIDTH);
	char cells[CELLS + 1], *text;

	(void)state;
	bsv_timeline_lane(t, 1, 0);
	bsv_timeline_recorded(t, 0, 605);
	text = drawn(t, false, NULL);
	row(text, "lane 0", cells);
	assert_cells(cells, 0, 10, ' ');
	assert_cells(cells, 10, 71, '.');
	assert_cells(cells, 71, CELLS, ' ');
	free(text);
	bsv_timeline_free(t);
}

static void queues_are_as_high_as_they_were_long(void **state)
{
	struct bsv_timeline *t = of_800_ns();
	char cells[CELLS + 1], *text;

	(void)state;
	for (int i = 0; i < 4; i++)
		bsv_timeline_waited(t, 1, 100, 200); /* four at a time is the most */
	bsv_timeline_waited(t, 1, 300, 400);
	bsv_timeline_waited(t, 2, 405, 410);
	text = drawn(t, false, NULL);
	assert_non_null(strstr(text, "8 is 4:"));
	row(text, "camera", cells);
	assert_cells(cells, 0, 10, ' ');
	assert_cells(cells, 10, 20, '8');
	assert_cells(cells, 20, 30, ' ');
	assert_cells(cells, 30, 40, '2');
	row(text, "gallery", cells);
	assert_cells(cells, 40, 41, '1');
	assert_cells(cells, 41, CELLS, ' ');
	free(text);
	bsv_timeline_free(t);
}

static void marks_stand_where_they_were_and_are_counted(void **state)
{
	struct bsv_timeline *t = of_800_ns();
	char cells[CELLS + 1], *text;

	(void)state;
	bsv_timeline_recorded(t, 0, 1000);
	bsv_timeline_mark(t, BSV_MARK_MISSED, 0);
	bsv_timeline_mark(t, BSV_MARK_MISSED, 5);
	bsv_timeline_mark(t, BSV_MARK_MISSED, 799);
	bsv_timeline_mark(t, BSV_MARK_MISSED, 800); /* outside */
	bsv_timeline_mark(t, BSV_MARK_DEADLINE, -1);
	bsv_timeline_mark(t, BSV_MARK_STOPPED, 404);
	text = drawn(t, false, NULL);
	row(text, "missed 3 ", cells);
	assert_cells(cells, 0, 1, '!');
	assert_cells(cells, 1, 79, ' ');
	assert_cells(cells, 79, 80, '!');
	row(text, "preempted 1 ", cells);
	assert_cells(cells, 40, 41, '^');
	assert_null(strstr(text, "deadlines"));
	free(text);
	bsv_timeline_free(t);
}

static void one_execution_has_a_row_of_its_own(void **state)
{
	struct bsv_timeline *t = of_800_ns();
	char cells[CELLS + 1], *text;

	(void)state;
	bsv_timeline_focus(t, "exec 7", BSV_UNDER_WAY, 100, 500);
	bsv_timeline_focus(t, "exec 7", BSV_WAITING, 200, 300);
	bsv_timeline_focus(t, "exec 7", BSV_ON_LANE, 300, 400);
	text = drawn(t, false, NULL);
	row(text, "exec 7 ", cells);
	assert_cells(cells, 0, 10, ' ');
	assert_cells(cells, 10, 20, '-');
	assert_cells(cells, 20, 30, 'w');
	assert_cells(cells, 30, 40, '#');
	assert_cells(cells, 40, 50, '-');
	assert_cells(cells, 50, CELLS, ' ');
	free(text);
	bsv_timeline_free(t);
}

static void sixteen_lanes_and_thousands_of_apps_are_a_page(void **state)
{
	struct bsv_timeline *t = bsv_timeline_new(0, 1000000, 120);
	size_t lines = 0;
	char *text;

	(void)state;
	for (int64_t i = 0; i < 10000; i++) {
		bsv_timeline_held(t, 1, i % 16, 1000 + i, i / 16 * 1600, i / 16 * 1600 + 1600);
		bsv_timeline_waited(t, 1000 + i, 0, 100 + i);
	}
	text = drawn(t, true, NULL);
	for (const char *c = text; *c; c++)
		lines += *c == '\n';
	assert_true(lines < 60);
	assert_non_null(strstr(text, "over 4084 more"));
	assert_fits(text, 120);
	free(text);
	bsv_timeline_free(t);
}

static void a_note_counts_the_lanes_that_are_left_out(void **state)
{
	struct bsv_timeline *t = of_800_ns();
	char *text;

	(void)state;
	for (int64_t i = 0; i < 64; i++)
		bsv_timeline_held(t, i, i, 1, 0, 10);
	text = drawn(t, false, NULL);
	assert_non_null(strstr(text, "more than 32 lanes"));
	assert_fits(text, WIDTH);
	free(text);
	bsv_timeline_free(t);
}

static void it_fits_and_does_nothing_to_a_terminal(void **state)
{
	static char hostile[] = "\033[2J\r\n\xe2\x80\xae\xff\x9b a name that is longer than any label, and goes on";

	(void)state;
	for (int width = 40; width <= 200; width++)
		for (int unicode = 0; unicode < 2; unicode++) {
			struct bsv_timeline *t = bsv_timeline_new(1000 * width, 100000000, width);
			char *text;

			for (int64_t i = 0; i < 40; i++) {
				bsv_timeline_held(t, 1, i % 2, i, i * 2000000, i * 2000000 + 1900000);
				bsv_timeline_waited(t, i, i * 1000000, i * 3000000);
				bsv_timeline_mark(t, (enum bsv_mark)(i % 3), i * 2500000);
			}
			bsv_timeline_lost(t, 0, 50000000);
			bsv_timeline_focus(t, "exec 12345678901234567890", BSV_UNDER_WAY, 0, 90000000);
			text = drawn(t, unicode, hostile);
			assert_fits(text, width);
			assert_null(strchr(text, '\033'));
			free(text);
			bsv_timeline_free(t);
		}
}

static void absurd_spans_are_drawn_too(void **state)
{
	static const int64_t spans[][2] = { { 0, 1 },
		                            { -1, 0 },
		                            { ((int64_t)1 << 62) - 1, (int64_t)1 << 62 },
		                            { -((int64_t)1 << 61), (int64_t)1 << 62 },
		                            { 0, (int64_t)1 << 62 },
		                            { 1234567890123456789, 1234567890123456999 } };

	(void)state;
	for (size_t i = 0; i < sizeof(spans) / sizeof(*spans); i++)
		for (int width = 40; width <= 200; width += 40) {
			struct bsv_timeline *t = bsv_timeline_new(spans[i][0], spans[i][1], width);
			char *text;

			bsv_timeline_held(t, 1, 0, 1, INT64_MIN, INT64_MAX);
			bsv_timeline_waited(t, 1, INT64_MIN, INT64_MAX);
			bsv_timeline_mark(t, BSV_MARK_MISSED, INT64_MAX);
			bsv_timeline_mark(t, BSV_MARK_MISSED, spans[i][0]);
			text = drawn(t, false, NULL);
			assert_fits(text, width);
			assert_non_null(strstr(text, "missed 1"));
			free(text);
			bsv_timeline_free(t);
		}
}

/* The axis: numbers are above their ticks, and rise. */
static void ticks_are_where_they_say(void **state)
{
	struct bsv_timeline *t = bsv_timeline_new(0, 800000000, WIDTH);
	char *text = drawn(t, false, NULL);
	const char *numbers = strchr(text, '\n') + 1, *ticks = strchr(numbers, '\n') + 1;
	int n = 0;

	(void)state;
	for (int i = LABEL; i < WIDTH && numbers[i] != '\n'; i++) {
		double at;

		if (numbers[i] == ' ' || numbers[i - 1] != ' ')
			continue;
		at = atof(numbers + i); /* ms: a cell is 10 ms */
		assert_int_equal(i - LABEL, (int)(at / 10));
		assert_int_equal(ticks[i], '|');
		n++;
	}
	assert_true(n >= 4);
	assert_memory_equal(numbers, "ms ", 3);
	free(text);
	bsv_timeline_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_cell_shows_the_longest_holder),
		cmocka_unit_test(a_cell_is_full_only_if_all_of_it_was_held),
		cmocka_unit_test(an_unknown_holder_is_not_guessed),
		cmocka_unit_test(behind_the_last_event_an_open_execution_may_have_the_lane),
		cmocka_unit_test(before_and_after_the_recording_there_is_nothing),
		cmocka_unit_test(queues_are_as_high_as_they_were_long),
		cmocka_unit_test(marks_stand_where_they_were_and_are_counted),
		cmocka_unit_test(one_execution_has_a_row_of_its_own),
		cmocka_unit_test(sixteen_lanes_and_thousands_of_apps_are_a_page),
		cmocka_unit_test(a_note_counts_the_lanes_that_are_left_out),
		cmocka_unit_test(it_fits_and_does_nothing_to_a_terminal),
		cmocka_unit_test(absurd_spans_are_drawn_too),
		cmocka_unit_test(ticks_are_where_they_say),
	};

	setlocale(LC_CTYPE, "C.UTF-8");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
