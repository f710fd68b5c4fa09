/*
 * test_explained.c -- one execution as a drawing: to scale, exact where it claims to be, and never wider than
 * the screen, for every input.
 */
#include <inttypes.h>
#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base.h"
#include "render/bars.h"
#include "render/cells.h"
#include "render/explained.h"
#include "unit/assert_fits.h"

enum { MANY = 300 };

/* One execution with arrays for each of its lists. */
struct sample {
	struct bsv_explained x;
	struct bsv_explained_phase phases[12];
	struct bsv_explained_stretch stretches[MANY];
	struct bsv_explained_preemption preemptions[MANY];
	struct bsv_explained_wait waits[MANY];
	struct bsv_explained_cause causes[MANY];
};

static const char *const hostile =
	"\033[2J\r\n\xe2\x80\xae\xff\x9b\x07 a name that is much longer than any terminal is wide, and goes on, and on";

static uint64_t seed;

static uint64_t any(uint64_t most)
{
	return (lcg_next(&seed) >> 33) % (most + 1);
}

static struct sample *sample_new(void)
{
	struct sample *s = calloc(1, sizeof(*s));

	assert_non_null(s);
	s->x = (struct bsv_explained){
		.who = { 7, "camera", "mobilenet", "high" },
		.exec = "0x1/7",
		.path = "burst",
		.status = "NONE",
		.quality = "complete",
		.sides = "both",
		.input = "x.db",
		.deadline = BSV_UNKNOWN,
		.lateness = BSV_UNKNOWN,
		.cold = 0,
		.typical_n = 5,
		.phases = s->phases,
		.stretches = s->stretches,
		.preemptions = s->preemptions,
		.waits = s->waits,
		.causes = s->causes,
	};
	return s;
}

static void add_phase(struct sample *s, const char *name, int64_t dur)
{
	struct bsv_explained *x = &s->x;

	s->phases[x->n_phases++] = (struct bsv_explained_phase){ name, x->ended, dur, dur / 2 };
	x->ended += dur;
	x->e2e += dur;
}

/* An execution that runs in @n stretches of 10 us, with waits of 5 us between them. */
static struct sample *preempted(size_t n)
{
	struct sample *s = sample_new();
	struct bsv_explained *x = &s->x;
	int64_t at = 3000;

	add_phase(s, "prepare", 1000);
	add_phase(s, "send", 2000);
	add_phase(s, "run", (int64_t)n * 10000);
	add_phase(s, "preempted", (int64_t)(n - 1) * 5000);
	for (size_t i = 0; i < n; i++, at += 15000) {
		s->stretches[x->n_stretches++] = (struct bsv_explained_stretch){ (int64_t)(i % 3), at, at + 10000 };
		if (i + 1 == n)
			break;
		s->preemptions[x->n_preemptions++] = (struct bsv_explained_preemption){
			at + 9000, at + 10000, at + 15000, 0, { 9, "other", "heavy", "low" }, "save"
		};
		s->waits[x->n_waits++] = (struct bsv_explained_wait){
			at + 10000, 5000, 0, "preempted", "held", "preempted", { 9, "other", "heavy", "low" }
		};
	}
	return s;
}

/* An execution that is late for @n causes. */
static struct sample *late(size_t n)
{
	struct sample *s = preempted(3);

	s->x.miss = "late";
	s->x.deadline = 10000;
	s->x.lateness = 0;
	for (size_t i = 0; i < n; i++) {
		int64_t late = (int64_t)any(2000000) - 500000;

		s->causes[s->x.n_causes++] = (struct bsv_explained_cause){
			i % 2 ? "hogged" : "too_tight", { (int64_t)i, "other", "heavy", "low" }, late, 5, i == 1, i == 0
		};
		s->x.lateness += late;
	}
	return s;
}

/* The drawing; owned by the caller. */
static char *drawn(const struct bsv_explained *x, int width, bool unicode)
{
	struct bsv_screen screen = { .width = width, .unicode = unicode };
	struct bsa_err err = { "" };
	char *text = NULL;
	size_t n = 0;
	FILE *to = open_memstream(&text, &n);

	assert_non_null(to);
	assert_int_equal(bsv_explained_draw(x, to, &screen, &err), 0);
	fclose(to);
	return text;
}

static void assert_fits_everywhere(const struct bsv_explained *x)
{
	for (int width = 40; width <= 200; width++)
		for (int unicode = 0; unicode < 2; unicode++) {
			char *text = drawn(x, width, unicode);

			assert_fits(text, width);
			free(text);
		}
}

/* The first number in a line, with blanks between its thousands: "hogged 1 234 567 primary". */
static int64_t exact_in(const char *line)
{
	int64_t value = 0;
	bool minus = false;
	const char *at = strstr(line, "  ");

	assert_non_null(at);
	at += strspn(at, " ");
	if (*at == '-') {
		minus = true;
		at++;
	}
	for (; (*at >= '0' && *at <= '9') || (*at == ' ' && at[1] >= '0' && at[1] <= '9'); at++)
		if (*at != ' ')
			value = value * 10 + *at - '0';
	return minus ? -value : value;
}

static void the_printed_rows_sum_to_the_printed_lateness(void **state)
{
	(void)state;
	for (size_t n = 1; n < 60; n++) {
		struct sample *s = late(n);
		char *text = drawn(&s->x, 120, false), *at = strstr(text, "\ncause ");
		int64_t sum = 0;

		assert_non_null(at);
		for (at = strchr(at + 1, '\n') + 1; strncmp(at, "sum ", 4); at = strchr(at, '\n') + 1)
			sum += exact_in(at);
		assert_int_equal(sum, s->x.lateness);
		assert_int_equal(exact_in(at), s->x.lateness);
		assert_null(strstr(text, "database is not right"));
		free(text);
		free(s);
	}
}

static void a_ledger_that_does_not_sum_is_marked_wrong(void **state)
{
	struct sample *s = late(3);
	char *text;

	(void)state;
	s->x.lateness++;
	text = drawn(&s->x, 120, false);
	assert_non_null(strstr(text, "the sum is not its lateness"));
	free(text);
	free(s);
}

static void each_stretch_is_drawn_to_scale(void **state)
{
	(void)state;
	for (int round = 0; round < 2000; round++) {
		struct bsv_span span = { -(int64_t)any(1000), 1 + (int64_t)any(100000), 1 + (int)any(199) };
		int64_t began = span.from + (int64_t)any(bsv_span_parts(&span)), ended;
		struct bsv_cover cells[200] = { 0 };
		unsigned __int128 all = 0;

		ended = began + (int64_t)any((uint64_t)(span.to - began));
		bsv_cover_add(cells, &span, began, ended);
		for (int i = 0; i < span.cells; i++) {
			all += cells[i].covered;
			assert_true(cells[i].covered <= bsv_span_parts(&span));
			if (cells[i].covered) {
				assert_true(i >= bsv_span_cell(&span, began));
				assert_true(i <= bsv_span_cell(&span, ended));
			}
		}
		assert_true(all == (unsigned __int128)(ended - began) * (unsigned)span.cells);
	}
}

static void enormous_times_fit(void **state)
{
	int64_t most = (int64_t)1 << 62;
	struct bsv_span span = { -most, most - 1, 100 };

	(void)state;
	assert_int_equal(bsv_span_cell(&span, -most), 0);
	assert_int_equal(bsv_span_cell(&span, 0), 50);
	assert_int_equal(bsv_span_cell(&span, most - 1), 99);
	assert_int_equal(bsv_span_cell(&span, INT64_MAX), 99);
	assert_int_equal(bsv_span_cell(&span, INT64_MIN), 0);
}

static void eighths_are_rounded_down_but_never_to_nothing(void **state)
{
	(void)state;
	assert_int_equal(bsv_eighths(0, 1000), 0);
	assert_int_equal(bsv_eighths(1, 1000), 1);
	assert_int_equal(bsv_eighths(249, 1000), 1);
	assert_int_equal(bsv_eighths(250, 1000), 2);
	assert_int_equal(bsv_eighths(999, 1000), 7);
	assert_int_equal(bsv_eighths(1000, 1000), 8);
	assert_int_equal(bsv_eighths(INT64_MAX, INT64_MAX), 8);
}

static void amounts_are_rounded_to_the_nearest(void **state)
{
	char text[BSV_AMOUNT_TEXT];

	(void)state;
	assert_string_equal(bsv_amount(text, 1234567, bsv_unit_for(1234567), false), "1234.567");
	assert_string_equal(bsv_amount(text, -20, bsv_unit_for(1234567), true), "-0.020");
	assert_string_equal(bsv_amount(text, 20, bsv_unit_for(1234567), true), "+0.020");
	assert_string_equal(bsv_amount(text, 1499, bsv_unit_for(2000000000), false), "0.001");
	assert_string_equal(bsv_amount(text, -400, bsv_unit_for(2000000000), false), "0.000");
	assert_string_equal(bsv_amount(text, 9999, bsv_unit_for(9999), false), "9999");
	assert_string_equal(bsv_exact(text, -1234567), "-1 234 567");
	assert_string_equal(bsv_exact(text, INT64_MIN), "-9 223 372 036 854 775 808");
}

/* The first and the last column of @phase's bar; -1: no bar. */
static void bar_of(const char *text, const char *phase, int *first, int *last)
{
	char wanted[32];
	const char *line, *end;

	snprintf(wanted, sizeof(wanted), "\n%s ", phase);
	line = strstr(text, wanted);
	assert_non_null(line);
	line++;
	end = strchr(line, '\n');
	*first = *last = -1;
	for (const char *c = line; c < end; c++)
		if (*c == '#' || *c == '|') {
			*first = *first < 0 ? (int)(c - line) : *first;
			*last = (int)(c - line);
		}
}

static void phases_are_drawn_one_after_the_other_within_a_cell(void **state)
{
	static const char *const names[] = { "prepare", "send",  "decode", "slots", "queue",
		                             "run",     "reply", "return", "finish" };

	(void)state;
	for (int round = 0; round < 200; round++) {
		int width = 60 + (int)any(140), before, first, last, begins;
		struct sample *s = sample_new();
		char *text;

		for (size_t i = 0; i < 9; i++)
			add_phase(s, names[i], 1 + (int64_t)any(round % 2 ? 1000 : 1000000));
		text = drawn(&s->x, width, false);
		bar_of(text, "prepare", &begins, &last);
		before = begins;
		for (size_t i = 0; i < 9; i++) {
			bar_of(text, names[i], &first, &last);
			assert_true(first >= 0);
			if (first < before - 1 || first > before + 1)
				fail_msg("%s at %d, not %d:\n%s", names[i], first, before, text);
			before = last + 1;
		}
		assert_true(last == width - 1);
		/* each bar has the phase's length, to a cell at either end */
		for (size_t i = 0; i < 9; i++) {
			double cells = (double)s->phases[i].dur / (double)s->x.e2e * (width - begins);

			bar_of(text, names[i], &first, &last);
			assert_true(last - first + 1 >= cells - 0.001 && last - first + 1 < cells + 2);
		}
		free(text);
		free(s);
	}
}

static void hundreds_of_preemptions_fit_on_a_page(void **state)
{
	struct sample *s = preempted(MANY);
	char *text = drawn(&s->x, 100, true);
	size_t lines = 0;

	(void)state;
	for (const char *c = text; *c; c++)
		lines += *c == '\n';
	assert_true(lines < 90);
	assert_non_null(strstr(text, "and 275 more"));
	assert_non_null(strstr(text, "stopped 299x"));
	assert_fits_everywhere(&s->x);
	free(text);
	free(s);
}

static void the_waits_that_are_left_out_are_added_up(void **state)
{
	struct sample *s = preempted(MANY);
	char *text;

	(void)state;
	for (size_t i = 0; i < 24; i++)
		s->waits[i * 10].dur = 6000;
	text = drawn(&s->x, 100, false);
	/* 299 stretches less 24, of 5 us each */
	assert_non_null(strstr(text, "1375.000  shorter ones"));
	free(text);
	free(s);
}

static void names_cannot_control_the_terminal(void **state)
{
	struct sample *s = late(3);
	char *text;

	(void)state;
	s->x.who = (struct bsv_who){ 7, hostile, hostile, hostile };
	s->x.status = s->x.path = s->x.exec = hostile;
	for (size_t i = 0; i < s->x.n_waits; i++)
		s->waits[i].blocker.app = s->waits[i].blocker.model = hostile;
	for (size_t i = 0; i < s->x.n_causes; i++)
		s->causes[i].culprit.app = s->causes[i].culprit.model = hostile;
	text = drawn(&s->x, 80, true);
	assert_null(strchr(text, '\033'));
	assert_null(strstr(text, "\xe2\x80\xae"));
	assert_null(strchr(text, '\r'));
	free(text);
	free(s);
}

static void hostile_names_fit(void **state)
{
	struct sample *s = late(5);

	(void)state;
	s->x.who.app = s->x.who.model = hostile;
	s->causes[0].culprit.app = s->causes[1].culprit.model = hostile;
	s->waits[0].blocker.app = hostile;
	assert_fits_everywhere(&s->x);
	free(s);
}

static void unknown_times_are_not_invented(void **state)
{
	struct sample *s = sample_new();
	char *text;

	(void)state;
	s->x.quality = "gap";
	s->x.status = NULL;
	s->x.began = s->x.ended = s->x.e2e = s->x.submitted = BSV_UNKNOWN;
	s->x.typical_n = s->x.cold = s->x.redo = BSV_UNKNOWN;
	s->phases[s->x.n_phases++] = (struct bsv_explained_phase){ "send", BSV_UNKNOWN, BSV_UNKNOWN, BSV_UNKNOWN };
	assert_fits_everywhere(&s->x);
	text = drawn(&s->x, 100, false);
	assert_non_null(strstr(text, "NOT COMPLETE"));
	assert_non_null(strstr(text, "an unknown time"));
	assert_null(strstr(text, "-9223372036854775808"));
	assert_null(strstr(text, "9223372036"));
	free(text);
	free(s);
}

static void zero_and_the_largest_time_are_drawn(void **state)
{
	struct sample *s = late(4);

	(void)state;
	for (size_t i = 0; i < s->x.n_phases; i++)
		s->phases[i].dur = 0;
	s->x.ended = s->x.began;
	s->x.e2e = 0;
	assert_fits_everywhere(&s->x);
	s->x.began = -((int64_t)1 << 62);
	s->x.ended = (int64_t)1 << 62;
	s->x.e2e = INT64_MAX;
	s->x.deadline = INT64_MAX;
	s->x.lateness = INT64_MIN + 1;
	s->phases[0] = (struct bsv_explained_phase){ "prepare", s->x.began, INT64_MAX, 0 };
	s->causes[0].late = INT64_MIN + 1;
	s->causes[1].late = INT64_MAX;
	assert_fits_everywhere(&s->x);
	free(s);
}

static void without_colours_the_text_is_the_same(void **state)
{
	struct bsv_screen screen = { .width = 80, .color = true, .unicode = true };
	struct sample *s = late(3);
	char *plain = drawn(&s->x, 80, true), *colored = NULL, *at, *to;
	size_t n = 0;
	FILE *out = open_memstream(&colored, &n);

	(void)state;
	assert_int_equal(bsv_explained_draw(&s->x, out, &screen, NULL), 0);
	fclose(out);
	assert_null(strchr(plain, '\033'));
	assert_non_null(strchr(colored, '\033'));
	for (at = to = colored; *at;) /* without the colours the text is the same */
		if (*at == '\033')
			at = strchr(at, 'm') + 1;
		else
			*to++ = *at++;
	*to = 0;
	assert_string_equal(plain, colored);
	free(plain);
	free(colored);
	free(s);
}

static void a_failed_execution_met_no_deadline(void **state)
{
	static const struct {
		const char *status, *says;
	} rows[] = {
		{ "NONE", "met its deadline, with 9.000 us to spare" },
		{ "DEAD_OBJECT", "it failed: whether it would have met its deadline is unknown" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct sample *s = sample_new();
		char *text;

		s->x.began = s->x.submitted = s->x.ended = s->x.e2e = 0;
		add_phase(s, "prepare", 1000);
		s->x.deadline = 10000;
		s->x.status = rows[i].status;
		text = drawn(&s->x, 120, false);
		if (!strstr(text, rows[i].says))
			fail_msg("%s: %s", rows[i].status, text);
		assert_int_equal(!strstr(text, "met its deadline, with"), i);
		free(text);
		free(s);
	}
}

/* The service alone was recorded: when the execution was submitted is unknown. */
static void what_the_service_took_too_late_is_not_called_submitted_late(void **state)
{
	static const struct {
		int64_t taken, usual;
		const char *cause, *says;
	} rows[] = {
		{ 15000, BSV_UNKNOWN, "unknown",
		  "  taken 5.000 us after its deadline\n  when it was submitted is unknown" },
		{ 8000, 9000, "unknown",
		  "  taken 2.000 us before its deadline; others of this model had 9.000 us\n  when it was submitted is "
		  "unknown" },
		{ 8000, BSV_UNKNOWN, "too_tight", "  less time was left to its deadline when the service took it" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct sample *s = late(1);
		char *text;

		s->x.sides = "service";
		s->x.submitted = rows[i].taken;
		s->x.usual_budget = rows[i].usual;
		s->causes[0].cause = rows[i].cause;
		s->causes[0].primary = true;
		text = drawn(&s->x, 120, false);
		if (!strstr(text, rows[i].says))
			fail_msg("no \"%s\" in: %s", rows[i].says, text);
		assert_null(strstr(text, "submitted_late"));
		assert_null(strstr(text, "before it was submitted"));
		assert_null(strstr(text, "budget was"));
		free(text);
		free(s);
	}
}

/* More would not be known to miss, and less not to meet. */
static void a_time_by_which_it_is_submitted_earlier_is_rounded_by_what_came_of_it(void **state)
{
	static const char *const says[] = { "submitted 1.585 ms earlier: missed all the same",
		                            "submitted 1.586 ms earlier: met" };

	(void)state;
	for (int met = 0; met < 2; met++) {
		struct bsv_explained_without without = { .earlier = 1585068, .met = met };
		struct sample *s = late(1);
		char *text;

		s->x.without = &without;
		s->x.n_without = 1;
		text = drawn(&s->x, 120, false);
		if (!strstr(text, says[met]))
			fail_msg("no \"%s\" in: %s", says[met], text);
		free(text);
		free(s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_failed_execution_met_no_deadline),
		cmocka_unit_test(a_time_by_which_it_is_submitted_earlier_is_rounded_by_what_came_of_it),
		cmocka_unit_test(what_the_service_took_too_late_is_not_called_submitted_late),
		cmocka_unit_test(the_printed_rows_sum_to_the_printed_lateness),
		cmocka_unit_test(a_ledger_that_does_not_sum_is_marked_wrong),
		cmocka_unit_test(each_stretch_is_drawn_to_scale),
		cmocka_unit_test(enormous_times_fit),
		cmocka_unit_test(eighths_are_rounded_down_but_never_to_nothing),
		cmocka_unit_test(amounts_are_rounded_to_the_nearest),
		cmocka_unit_test(phases_are_drawn_one_after_the_other_within_a_cell),
		cmocka_unit_test(hundreds_of_preemptions_fit_on_a_page),
		cmocka_unit_test(the_waits_that_are_left_out_are_added_up),
		cmocka_unit_test(names_cannot_control_the_terminal),
		cmocka_unit_test(hostile_names_fit),
		cmocka_unit_test(unknown_times_are_not_invented),
		cmocka_unit_test(zero_and_the_largest_time_are_drawn),
		cmocka_unit_test(without_colours_the_text_is_the_same),
	};

	setlocale(LC_CTYPE, "C.UTF-8");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
