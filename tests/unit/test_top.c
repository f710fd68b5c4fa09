/*
 * test_top.c -- the screens of burstscope top: of any size, with hostile names, in any order, and for
 * programs.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base.h"
#include "base/letters.h"
#include "live/view.h"

#define SECOND UINT64_C(1000000000)

/* Causes, as numbers of the relation miss_cause. */
enum { QUEUED_BEHIND = 2, CROWDED_OUT = 4 };

static struct bsa_live_row rows[] = {
	{ .app = "camera",
	  .model = "face",
	  .app_id = 1,
	  .executions = 500,
	  .answered = 490,
	  .missed = 10,
	  .by_cause[CROWDED_OUT] = 7,
	  .by_cause[QUEUED_BEHIND] = 2,
	  .p50_ns = 1250000,
	  .p99_ns = 9960000,
	  .run_ns = 4 * SECOND,
	  .queue_ns = SECOND,
	  .received_ns = 3 * SECOND,
	  .entitled_ns = 2 * SECOND,
	  .per_slot = { 0, 10, 20, 40, 50, 60, 70, 80, 90, 80 } },
	{ .app = "batch",
	  .model = "net",
	  .app_id = 2,
	  .executions = 600,
	  .answered = 600,
	  .p50_ns = 999999,
	  .p99_ns = 1000000,
	  .received_ns = SECOND,
	  .entitled_ns = 2 * SECOND,
	  .per_slot = { 60, 60 } },
	{ .app = "audio",
	  .model = "word",
	  .app_id = 3,
	  .executions = 1,
	  .p50_ns = BSA_LIVE_UNKNOWN,
	  .p99_ns = BSA_LIVE_UNKNOWN },
};

static struct bsv_figures figures = {
	.n_rows = N_OF(rows),
	.state = { .until = 10 * SECOND,
	           .window_ns = 5 * SECOND,
	           .lanes = 2,
	           .sum = { .executions = 1101, .missed = 10 } },
};

static struct bsv_view view(void)
{
	return (struct bsv_view){ .figures = &figures,
		                  .rows = rows,
		                  .screen = { .width = 80, .unicode = true },
		                  .source = "its own session, compact",
		                  .now = 10 * SECOND + 15000000,
		                  .keys = true };
}

/* The text for the view; the caller owns it. */
static char *print(const struct bsv_view *v)
{
	char *text = NULL;
	size_t n = 0;
	FILE *f = open_memstream(&text, &n);
	struct bsa_err err = { "" };

	assert_non_null(f);
	assert_int_equal(bsv_view_print(v, f, &err), 0);
	fclose(f);
	return text;
}

static unsigned lines_of(const char *text)
{
	unsigned n = 0;

	for (; *text; text++)
		n += *text == '\n';
	return n;
}

static int widest(const char *text)
{
	char line[1024];
	int most = 0;

	while (*text) {
		size_t n = strcspn(text, "\n");

		assert_true(n < sizeof(line));
		memcpy(line, text, n);
		line[n] = 0;
		most = bsv_width(line) > most ? bsv_width(line) : most;
		text += n + (text[n] == '\n');
	}
	return most;
}

static void shows(const struct bsv_view *v, const char *words)
{
	char *text = print(v);

	if (!strstr(text, words))
		fail_msg("not shown: %s\n%s", words, text);
	free(text);
}

static void shows_not(const struct bsv_view *v, const char *words)
{
	char *text = print(v);

	if (strstr(text, words))
		fail_msg("shown: %s\n%s", words, text);
	free(text);
}

/* ---- figures ---- */

static void figures_are_those_of_the_window(void **state)
{
	const struct bsv_view v = view();

	(void)state;
	shows(&v, "220/s; lanes 0.80 of 2, 0.20 waiting; age 15.0 ms; no event lost\n");
	shows(&v, "10 of 1101 missed in 5 s: crowded_out 7, queued_behind 2, 1 not explained yet\n");
	shows(&v, "camera    face         100 1.25 ms 9.96 ms  150% 0.80 0.20    10    0  ▁▂▄▄▅▆▇█▇");
	shows(&v, "batch     net          120 1.00 ms 1.00 ms   50%    0    0     0    0 ██");
	shows(&v, "audio     word        0.20       -       -     -    0    0     0    0");
}

static void unknown_figures_are_shown_as_unknown(void **state)
{
	static const struct bsv_figures none = { .n_rows = 0 };
	struct bsv_view v = view();

	(void)state;
	v.figures = &none;
	shows(&v, "its own session, compact; lanes unknown\n");
	shows(&v, "-/s; lanes - of -, - waiting; age -; no loss seen yet\n");
	shows(&v, "misses unknown: no event has arrived yet\n");
	shows(&v, "(no execution of the last seconds has been seen)\n");
	v.unheard = "no service has been heard";
	shows(&v, "(no execution of the last seconds has been seen)\nno service has been heard\n");
}

/* Without a switch timer, executions that missed deadlines may still be in LTTng's buffers. */
static void misses_that_are_held_back_are_not_denied(void **state)
{
	struct bsv_figures some = figures;
	struct bsa_live_row met = rows[1];
	struct bsv_view v = view();

	(void)state;
	some.n_rows = 0;
	v.figures = &some;
	v.held_back = true;
	shows(&v, "-/s; lanes - of 2, - waiting; age -; no loss seen yet\n"
	          "misses in the last 5 s unknown: LTTng holds back events (no switch timer)\n");
	shows(&v, "(no execution of the last seconds has been seen)\n");
	some.n_rows = 1;
	v.rows = &met;
	shows(&v, "none of 600 executions seen missed a deadline; LTTng holds back newer ones\n");
	v.held_back = false;
	shows(&v, "no deadline missed in the last 5 s\n");
	some.n_rows = 0;
	shows(&v, "0/s; lanes 0.00 of 2, 0.00 waiting; age 15.0 ms; no event lost\n"
	          "no deadline missed in the last 5 s\n");
	shows(&v, "(nothing was executed in the last seconds)\n");
}

/* In the first seconds the window has less than five seconds. */
static void the_first_seconds_are_not_called_five(void **state)
{
	struct bsv_figures young = figures;
	struct bsv_view v = view();

	(void)state;
	v.figures = &young;
	young.state.window_ns = SECOND * 23 / 10;
	shows(&v, "10 of 1101 missed in 2.3 s:");
	young.state.window_ns = SECOND / 2;
	young.n_rows = 0;
	shows(&v, "no deadline missed in the last 0.5 s\n");
	young.state.window_ns = SECOND * 47 / 10; /* the last half second is not over */
	shows(&v, "no deadline missed in the last 5 s\n");
}

static void help_explains_every_key_and_every_column(void **state)
{
	struct bsv_view v = view();
	char *rows_text = print(&v), *text;
	char word[16];

	(void)state;
	v.help = true;
	text = print(&v);
	shows_not(&v, "camera");
	for (const char *key = "qoacps?"; *key; key++) {
		snprintf(word, sizeof(word), "\n%c     ", *key);
		shows(&v, word);
	}
	for (const char *at = strstr(rows_text, "EXEC/S"); *at != '\n'; at += strspn(at, " ")) {
		size_t n = strcspn(at, " \n");

		snprintf(word, sizeof(word), "%.*s", (int)n, at);
		if (!strstr(strstr(text, "\nEXEC/S"), word))
			fail_msg("%s is not explained:\n%s", word, text);
		at += n;
	}
	assert_true(lines_of(text) <= 24);
	free(text);
	free(rows_text);
}

static void an_idle_service_is_no_unheard_one(void **state)
{
	struct bsv_figures idle = { .n_rows = 0, .state = { .until = SECOND, .lanes = 2 } };
	struct bsv_view v = view();

	(void)state;
	v.figures = &idle;
	v.unheard = "no service has been heard";
	shows_not(&v, "no service has been heard");
	shows(&v, "(nothing was executed in the last seconds)");
}

static void losses_are_shown_beside_the_figures(void **state)
{
	struct bsv_figures doubtful = figures;
	struct bsv_view v = view();

	(void)state;
	doubtful.state.lost_events = 3;
	doubtful.state.late = 2;
	doubtful.state.late_ns = 1500000;
	doubtful.state.gaps = 1;
	doubtful.state.overwritten = 4;
	v.figures = &doubtful;
	v.message = "lttng-sessiond has gone";
	v.screen.width = 200;
	shows(&v, "LOST 3 events, 0 packets");
	shows(&v, "lttng-sessiond has gone  began anew 1 time  4 tracefiles overwritten unread  2 records came late, "
	          "by up to 1.5 ms: a larger --settle waits for them");
}

static void executions_of_a_service_that_hangs_are_shown(void **state)
{
	struct bsv_figures hung = figures;
	struct bsv_view v = view();

	(void)state;
	hung.state.awaited = 3;
	hung.state.awaited_ns = 5200000000;
	hung.state.silent_ns = 5100000000;
	v.figures = &hung;
	v.screen.width = 200;
	shows(&v, "3 under way, the longest for 5.2");
	shows(&v, "; NO EVENT of the service for 5.1");
	hung.state.overdue = 1;
	hung.state.silent_ns = 0;
	shows(&v, "; 1 past its deadline");
	shows_not(&v, "NO EVENT");
	hung.state.overdue = 0; /* they wait, and nothing is wrong with that */
	shows_not(&v, "under way");
	hung.state.overdue = 1;
	v.held_back = true;
	shows_not(&v, "under way");
}

/* ---- layout ---- */

static void nothing_is_wider_or_higher_than_the_screen(void **state)
{
	(void)state;
	for (int width = 1; width < 300; width++)
		for (int height = 0; height < 14; height++) {
			struct bsv_view v = view();
			char *text;

			v.screen.width = width;
			v.height = height;
			v.help = width % 2;
			v.message =
				"a session was made anew: nothing was recorded for 12.5 s; and more that has to be cut";
			text = print(&v);
			if (widest(text) > (width) || (height && lines_of(text) > (unsigned)height))
				fail_msg("%d columns, %d lines:\n%s", width, height, text);
			free(text);
		}
}

static void names_do_nothing_to_the_terminal(void **state)
{
	struct bsa_live_row strange[] = {
		{ .app = "\033[2J\033]0;title\a", .model = "a\nb\tc", .executions = 1 },
		{ .app = "\xff\xfe",
		  .model = "漢字漢字漢字漢字漢字",
		  .executions = UINT64_MAX,
		  .missed = UINT64_MAX,
		  .run_ns = UINT64_MAX,
		  .p50_ns = UINT64_MAX - 1,
		  .received_ns = UINT64_MAX,
		  .entitled_ns = 1,
		  .slot_misses = UINT64_MAX,
		  .per_slot = { UINT64_MAX / 9 } },
	};
	struct bsv_figures f = figures;
	struct bsv_view v = view();
	char *text;

	(void)state;
	f.n_rows = 2;
	v.figures = &f;
	v.rows = strange;
	text = print(&v);
	if (strchr(text, '\033') || strchr(text, '\a') || strchr(text, '\t') || widest(text) > 80 ||
	    lines_of(text) != 8)
		fail_msg("%s", text);
	free(text);
}

/* ---- order, and one app alone ---- */

static void in_order(enum bsv_view_sort sort, const char *first, const char *second, const char *third)
{
	struct bsv_view v = view();
	char *text, *at;

	v.sort = sort;
	text = print(&v);
	at = strstr(strstr(text, "APP "), first);
	if (!at || !(at = strstr(at, second)) || !(at = strstr(at, third)))
		fail_msg("by %s:\n%s", bsv_view_sort_name(sort), text);
	free(text);
}

static void each_order_is_one(void **state)
{
	(void)state;
	in_order(BSV_BY_RATE, "batch", "camera", "audio");
	in_order(BSV_BY_P99, "camera", "batch", "audio");
	in_order(BSV_BY_MISSES, "camera", "audio", "batch");
	in_order(BSV_BY_SHARE, "camera", "batch", "audio");
	in_order(BSV_BY_NAME, "audio", "batch", "camera");
}

static void apps_come_one_after_the_other(void **state)
{
	struct bsv_view v = view();
	char *text;

	(void)state;
	assert_string_equal(bsv_view_next_app(&v, NULL), "audio");
	assert_string_equal(bsv_view_next_app(&v, "audio"), "batch");
	assert_string_equal(bsv_view_next_app(&v, "been"), "camera"); /* the app existed when the user chose it */
	v.app = "batch";
	text = print(&v);
	assert_null(strstr(text, "camera"));
	assert_non_null(strstr(text, "120/s"));
	free(text);
	v.app = "camera";
	assert_null(bsv_view_next_app(&v, v.app));
}

/* ---- output for programs, and at the end ---- */

static void json_is_one_line_of_what_is_known(void **state)
{
	struct bsa_live_row strange = { .app = "a\"\\\n\xff\x01", .p50_ns = BSA_LIVE_UNKNOWN, .p99_ns = 5 };
	struct bsv_figures f = figures;
	struct bsv_view v = view();
	char *text = NULL;
	size_t n = 0;
	FILE *to = open_memstream(&text, &n);

	(void)state;
	f.n_rows = 1;
	strcpy(f.why, "it began anew");
	v.figures = &f;
	v.rows = &strange;
	bsv_view_json(&v, true, to);
	fclose(to);
	assert_int_equal(lines_of(text), 1);
	assert_non_null(strstr(text, "{\"final\":true,"));
	assert_non_null(strstr(text, "\"app\":\"a\\u0022\\u005c\\u000a?\\u0001\""));
	assert_non_null(strstr(text, "\"p50_ns\":null,\"p99_ns\":5,"));
	assert_non_null(strstr(text, "\"exact\":false,\"why\":\"it began anew\""));
	free(text);
}

static void the_sum_shows_whether_it_is_exact(void **state)
{
	struct bsv_view v = view();
	char text[256] = "";
	FILE *to = fmemopen(text, sizeof(text), "w");

	(void)state;
	bsv_view_sum(&v, to);
	fclose(to);
	assert_string_equal(text, "in all: 1 101 executions, 10 missed; exact\n");
}

/* The key c shows the causes that a narrow screen cuts off, in several lines, none wider than the screen. */
static void causes_that_are_cut_off_can_be_shown(void **state)
{
	struct bsa_live_row many = rows[0];
	struct bsv_figures f = figures;
	struct bsv_view v = view();
	char *text;

	(void)state;
	for (unsigned k = 0; k < BSA_LIVE_CAUSES; k++)
		many.by_cause[k] = 1;
	many.by_cause[CROWDED_OUT] = 9;
	many.missed = 100;
	f.n_rows = 1;
	v.figures = &f;
	v.rows = &many;
	v.screen.width = 60;
	text = print(&v);
	assert_non_null(strstr(text, "100 of "));
	assert_null(strstr(text, bsa_live_cause(BSA_LIVE_CAUSES - 1)));
	free(text);
	v.causes = true;
	text = print(&v);
	assert_true(widest(text) <= 60);
	for (unsigned k = 0; k < BSA_LIVE_CAUSES; k++)
		if (!strstr(text, bsa_live_cause(k)))
			fail_msg("not shown: %s\n%s", bsa_live_cause(k), text);
	assert_non_null(strstr(text, " explained")); /* "not explained yet", on two lines perhaps */
	free(text);
	v.height = 4;
	text = print(&v);
	assert_int_equal(lines_of(text), 4);
	free(text);
}

static void the_sum_breaks_between_words_on_a_narrow_screen(void **state)
{
	struct bsv_figures f = figures;
	struct bsv_view v = view();
	char text[256] = "";
	FILE *to = fmemopen(text, sizeof(text), "w");

	(void)state;
	f.state.sum.by_cause[CROWDED_OUT] = 7;
	for (unsigned k = 0; k < BSA_LIVE_CAUSES; k++)
		if (!strcmp(bsa_live_cause(k), "unknown")) /* this cause is the least useful, so it is last */
			f.state.sum.by_cause[k] = 9;
	strcpy(f.why, "it began anew");
	v.figures = &f;
	v.screen.width = 42;
	bsv_view_sum(&v, to);
	fclose(to);
	assert_string_equal(
		text,
		"in all: 1 101 executions, 10 missed:\n  crowded_out 7, unknown 9; not exact: it\n  began anew\n");
}

static void the_sum_is_of_what_is_shown(void **state)
{
	const struct bsv_view_part part = { .sum = { .executions = 600 }, .apps = 1, .of_apps = 3 };
	struct bsv_view v = view();
	char text[256] = "", json[1 << 13] = "";
	FILE *to = fmemopen(text, sizeof(text), "w");

	(void)state;
	v.part = &part;
	bsv_view_sum(&v, to);
	fclose(to);
	assert_string_equal(text, "in all, of 1 of 3 apps: 600 executions, 0 missed; exact\n");
	to = fmemopen(json, sizeof(json), "w");
	bsv_view_json(&v, true, to);
	fclose(to);
	assert_non_null(strstr(json, "\"total\":{\"executions\":600,"));
}

int main(void)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(figures_are_those_of_the_window),
		cmocka_unit_test(unknown_figures_are_shown_as_unknown),
		cmocka_unit_test(misses_that_are_held_back_are_not_denied),
		cmocka_unit_test(the_first_seconds_are_not_called_five),
		cmocka_unit_test(help_explains_every_key_and_every_column),
		cmocka_unit_test(an_idle_service_is_no_unheard_one),
		cmocka_unit_test(losses_are_shown_beside_the_figures),
		cmocka_unit_test(executions_of_a_service_that_hangs_are_shown),
		cmocka_unit_test(nothing_is_wider_or_higher_than_the_screen),
		cmocka_unit_test(names_do_nothing_to_the_terminal),
		cmocka_unit_test(each_order_is_one),
		cmocka_unit_test(apps_come_one_after_the_other),
		cmocka_unit_test(json_is_one_line_of_what_is_known),
		cmocka_unit_test(the_sum_shows_whether_it_is_exact),
		cmocka_unit_test(the_sum_is_of_what_is_shown),
		cmocka_unit_test(causes_that_are_cut_off_can_be_shown),
		cmocka_unit_test(the_sum_breaks_between_words_on_a_narrow_screen),
	};

	return cmocka_run_group_tests(all, NULL, NULL);
}
