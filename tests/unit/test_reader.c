/*
 * test_reader.c -- the exporter while the process that reads the recording is busy; the test has the other
 * ends of its pipes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "live/reader.h"

struct busy {
	struct bsv_reader reader;
	int asked, answers; /* the process's ends */
	int interrupt[2];   /* readable: a signal is pending, so that no test waits */
};

static void busy_begin(struct busy *b)
{
	int to[2], from[2];

	memset(b, 0, sizeof(*b));
	assert_int_equal(pipe(to), 0);
	assert_int_equal(pipe(from), 0);
	assert_int_equal(pipe(b->interrupt), 0);
	assert_int_equal(write(b->interrupt[1], "x", 1), 1);
	b->reader.pid = getpid(); /* the test ends no process: it does not call bsv_reader_close */
	b->reader.to = to[1];
	b->reader.from = from[0];
	b->asked = to[0];
	b->answers = from[1];
}

static void busy_end(struct busy *b)
{
	const int fds[] = { b->reader.to, b->reader.from, b->asked, b->answers, b->interrupt[0], b->interrupt[1] };

	for (size_t i = 0; i < sizeof(fds) / sizeof(*fds); i++)
		close(fds[i]);
}

static void busy_answers(const struct busy *b, const char *metrics)
{
	struct bsv_figures figures;

	memset(&figures, 0, sizeof(figures));
	figures.magic = BSV_FIGURES_MAGIC;
	figures.metrics_bytes = (uint32_t)strlen(metrics);
	assert_int_equal(write(b->answers, &figures, sizeof(figures)), sizeof(figures));
	assert_int_equal(write(b->answers, metrics, strlen(metrics)), strlen(metrics));
}

static void busy_was_asked(const struct busy *b, const char *words)
{
	char got[64];
	ssize_t n = read(b->asked, got, sizeof(got) - 1);

	assert_true(n > 0);
	got[n] = 0;
	assert_string_equal(got, words);
}

static void scrape(struct busy *b, enum bsv_metrics_form form, const char *wanted)
{
	struct bsa_err err = { "" };
	char *text = NULL;
	size_t bytes = 0;
	int r = bsv_reader_metrics(&b->reader, form, b->interrupt[0], &text, &bytes, &err);

	assert_int_equal(r, wanted ? 1 : 0);
	assert_int_equal(bytes, wanted ? strlen(wanted) : 0);
	if (wanted)
		assert_memory_equal(text, wanted, bytes);
	free(text);
}

static void a_signal_ends_the_wait_and_the_question_stays_open(void **state)
{
	struct busy b;

	(void)state;
	busy_begin(&b);
	scrape(&b, BSV_OPENMETRICS, NULL);
	assert_false(bsv_reader_take_metrics(&b.reader));
	scrape(&b, BSV_OPENMETRICS, NULL);
	busy_was_asked(&b, "openmetrics\n"); /* once */
	busy_end(&b);
}

static void an_answer_that_came_late_is_that_of_the_next_scrape(void **state)
{
	struct busy b;

	(void)state;
	busy_begin(&b);
	scrape(&b, BSV_OPENMETRICS, NULL);
	busy_answers(&b, "one 1");
	assert_true(bsv_reader_take_metrics(&b.reader));
	scrape(&b, BSV_OPENMETRICS, "one 1");
	busy_was_asked(&b, "openmetrics\n");
	scrape(&b, BSV_OPENMETRICS, NULL);
	busy_was_asked(&b, "openmetrics\n");
	busy_end(&b);
}

static void an_answer_in_another_form_is_dropped_and_asked_for_again(void **state)
{
	struct busy b;

	(void)state;
	busy_begin(&b);
	scrape(&b, BSV_OPENMETRICS, NULL);
	busy_was_asked(&b, "openmetrics\n");
	busy_answers(&b, "one 1");
	scrape(&b, BSV_PROMETHEUS_TEXT, NULL);
	busy_was_asked(&b, "text\n");
	busy_answers(&b, "two 2");
	scrape(&b, BSV_PROMETHEUS_TEXT, "two 2");
	busy_end(&b);
}

static void an_answer_that_has_begun_is_waited_for_no_longer_and_goes_on_at_the_next_scrape(void **state)
{
	struct bsv_figures figures;
	struct busy b;

	(void)state;
	busy_begin(&b);
	scrape(&b, BSV_OPENMETRICS, NULL);
	memset(&figures, 0, sizeof(figures));
	figures.magic = BSV_FIGURES_MAGIC;
	figures.metrics_bytes = 5;
	assert_int_equal(write(b.answers, &figures, 100), 100);
	scrape(&b, BSV_OPENMETRICS, NULL);
	assert_int_equal(write(b.answers, (char *)&figures + 100, sizeof(figures) - 100), sizeof(figures) - 100);
	assert_false(bsv_reader_take_metrics(&b.reader));
	scrape(&b, BSV_OPENMETRICS, NULL);
	assert_int_equal(write(b.answers, "one", 3), 3);
	scrape(&b, BSV_OPENMETRICS, NULL);
	assert_false(bsv_reader_take_metrics(&b.reader));
	assert_int_equal(write(b.answers, " 1", 2), 2);
	assert_true(bsv_reader_take_metrics(&b.reader));
	scrape(&b, BSV_OPENMETRICS, "one 1");
	busy_was_asked(&b, "openmetrics\n"); /* once */
	scrape(&b, BSV_OPENMETRICS, NULL);
	busy_was_asked(&b, "openmetrics\n");
	busy_end(&b);
}

static void busy_answers_rows(const struct busy *b, uint32_t n, const char *app)
{
	struct bsv_figures figures;
	struct bsa_live_row row;

	memset(&figures, 0, sizeof(figures));
	memset(&row, 0, sizeof(row));
	figures.magic = BSV_FIGURES_MAGIC;
	figures.n_rows = n;
	snprintf(row.app, sizeof(row.app), "%s", app);
	assert_int_equal(write(b->answers, &figures, sizeof(figures)), sizeof(figures));
	for (uint32_t i = 0; i < n; i++)
		assert_int_equal(write(b->answers, &row, sizeof(row)), sizeof(row));
}

static void ask_rows(struct busy *b, enum bsv_reader_rows which, const char *app)
{
	static struct bsa_live_row rows[BSV_FIGURES_ROWS];
	static struct bsv_figures figures;
	struct bsa_err err = { "" };

	figures.n_rows = 77;
	assert_int_equal(bsv_reader_ask(&b->reader, which, b->interrupt[0], &figures, rows, &err), app ? 1 : 0);
	assert_int_equal(figures.n_rows, app ? 2 : 77);
	if (app)
		assert_string_equal(rows[1].app, app);
}

static void a_signal_ends_the_wait_for_rows_which_are_asked_for_once(void **state)
{
	struct busy b;

	(void)state;
	busy_begin(&b);
	ask_rows(&b, BSV_ROWS_LAST, NULL);
	ask_rows(&b, BSV_ROWS_LAST, NULL);
	busy_was_asked(&b, "look\n");
	busy_answers_rows(&b, 2, "one");
	ask_rows(&b, BSV_ROWS_LAST, "one");
	busy_end(&b);
}

static void rows_of_another_question_are_dropped(void **state)
{
	struct busy b;

	(void)state;
	busy_begin(&b);
	ask_rows(&b, BSV_ROWS_LAST, NULL);
	ask_rows(&b, BSV_ROWS_FINISH, NULL);
	busy_was_asked(&b, "look\n");
	busy_answers_rows(&b, 2, "one");
	ask_rows(&b, BSV_ROWS_FINISH, NULL);
	busy_was_asked(&b, "finish\n");
	busy_answers_rows(&b, 2, "two");
	ask_rows(&b, BSV_ROWS_FINISH, "two");
	busy_end(&b);
}

static void rows_that_do_not_come_for_a_minute_are_an_error(void **state)
{
	static struct bsa_live_row rows[BSV_FIGURES_ROWS];
	static struct bsv_figures figures;
	struct bsa_err err = { "" };
	struct busy b;

	(void)state;
	busy_begin(&b);
	ask_rows(&b, BSV_ROWS_LAST, NULL);
	b.reader.asking_since -= UINT64_C(61000000000);
	assert_int_equal(bsv_reader_ask(&b.reader, BSV_ROWS_LAST, b.interrupt[0], &figures, rows, &err), BSA_E_ENV);
	busy_end(&b);
}

static void ask_state(struct busy *b, bool comes)
{
	struct bsv_figures figures;
	struct bsa_err err = { "" };

	assert_int_equal(bsv_reader_state(&b->reader, b->interrupt[0], &figures, &err), comes);
}

static void a_signal_ends_the_wait_for_the_state_which_is_asked_for_once(void **state)
{
	struct busy b;

	(void)state;
	busy_begin(&b);
	ask_state(&b, false);
	assert_false(bsv_reader_is_asking(&b.reader));
	ask_state(&b, false);
	busy_was_asked(&b, "state\n");
	busy_answers_rows(&b, 0, "");
	ask_state(&b, true);
	ask_rows(&b, BSV_ROWS_LAST, NULL);
	assert_true(bsv_reader_is_asking(&b.reader));
	busy_end(&b);
}

static void a_state_that_came_late_is_no_page_of_metrics(void **state)
{
	struct busy b;

	(void)state;
	busy_begin(&b);
	ask_state(&b, false);
	scrape(&b, BSV_OPENMETRICS, NULL);
	busy_was_asked(&b, "state\n");
	busy_answers_rows(&b, 0, "");
	scrape(&b, BSV_OPENMETRICS, NULL);
	busy_was_asked(&b, "openmetrics\n");
	busy_answers(&b, "one 1");
	scrape(&b, BSV_OPENMETRICS, "one 1");
	busy_end(&b);
}

static void another_question_gets_its_own_answer(void **state)
{
	struct bsv_figures figures;
	struct bsa_err err = { "" };
	struct busy b;

	(void)state;
	busy_begin(&b);
	scrape(&b, BSV_OPENMETRICS, NULL);
	busy_answers(&b, "one 1");
	busy_answers(&b, "");
	assert_int_equal(bsv_reader_state(&b.reader, -1, &figures, &err), 1);
	busy_was_asked(&b, "openmetrics\nstate\n");
	scrape(&b, BSV_OPENMETRICS, NULL);
	busy_end(&b);
}

static void a_process_that_is_silent_for_a_minute_has_failed(void **state)
{
	struct bsa_err err = { "" };
	struct busy b;
	char *text = NULL;
	size_t bytes;

	(void)state;
	busy_begin(&b);
	scrape(&b, BSV_OPENMETRICS, NULL);
	b.reader.counting_since -= UINT64_C(61000000000);
	assert_int_equal(bsv_reader_metrics(&b.reader, BSV_OPENMETRICS, -1, &text, &bytes, &err), BSA_E_ENV);
	assert_null(text);
	busy_end(&b);
}

static int move_reader(struct busy *b, const char *directory)
{
	struct bsa_err err = { "" };

	return bsv_reader_move(&b->reader, directory, b->interrupt[0], &err);
}

static void a_signal_ends_the_wait_of_a_move_for_the_answer_before(void **state)
{
	struct busy b;

	(void)state;
	busy_begin(&b);
	ask_rows(&b, BSV_ROWS_LAST, NULL);
	assert_int_equal(move_reader(&b, "/two"), 0);
	busy_was_asked(&b, "look\n"); /* and not told to move */
	busy_answers_rows(&b, 2, "one");
	assert_int_equal(move_reader(&b, "/two"), 1);
	busy_was_asked(&b, "move /two\n");
	busy_end(&b);
}

static void a_move_ends_the_wait_for_the_answer_before_though_no_signal_comes(void **state)
{
	struct bsa_err err = { "" };
	struct busy b;

	(void)state;
	busy_begin(&b);
	scrape(&b, BSV_OPENMETRICS, NULL);
	assert_int_equal(bsv_reader_move(&b.reader, "/two", -1, &err), 0);
	busy_was_asked(&b, "openmetrics\n");
	busy_end(&b);
}

static void the_answer_to_a_move_is_that_to_the_next_question_for_rows(void **state)
{
	struct busy b;

	(void)state;
	busy_begin(&b);
	assert_int_equal(move_reader(&b, "/two"), 1);
	ask_rows(&b, BSV_ROWS_LAST, NULL);
	busy_answers_rows(&b, 2, "two");
	ask_rows(&b, BSV_ROWS_LAST, "two");
	busy_was_asked(&b, "move /two\n"); /* and nothing since */
	busy_end(&b);
}

static void metrics_are_those_after_the_move(void **state)
{
	struct busy b;

	(void)state;
	busy_begin(&b);
	assert_int_equal(move_reader(&b, "/two"), 1);
	scrape(&b, BSV_OPENMETRICS, NULL);
	busy_was_asked(&b, "move /two\n");
	busy_answers_rows(&b, 2, "two");
	scrape(&b, BSV_OPENMETRICS, NULL);
	busy_was_asked(&b, "openmetrics\n");
	busy_answers(&b, "one 1");
	scrape(&b, BSV_OPENMETRICS, "one 1");
	busy_end(&b);
}

static void after_a_question_that_failed_each_question_fails_though_answers_come(void **state)
{
	static struct bsa_live_row rows[BSV_FIGURES_ROWS];
	static struct bsv_figures figures;
	struct bsa_err err = { "" };
	struct busy b;
	char *text;
	size_t bytes;

	(void)state;
	busy_begin(&b);
	scrape(&b, BSV_OPENMETRICS, NULL);
	b.reader.counting_since -= UINT64_C(61000000000);
	assert_int_equal(bsv_reader_move(&b.reader, "/one", -1, &err), BSA_E_ENV);
	busy_answers(&b, "one 1"); /* of the scrape */
	for (int i = 0; i < 3; i++) {
		busy_answers_rows(&b, 0, "");
		assert_int_equal(bsv_reader_move(&b.reader, "/two", -1, &err), BSA_E_ENV);
	}
	assert_int_equal(bsv_reader_metrics(&b.reader, BSV_OPENMETRICS, -1, &text, &bytes, &err), BSA_E_ENV);
	assert_null(text);
	assert_int_equal(bsv_reader_ask(&b.reader, BSV_ROWS_LAST, -1, &figures, rows, &err), BSA_E_ENV);
	assert_int_equal(bsv_reader_state(&b.reader, -1, &figures, &err), BSA_E_ENV);
	assert_int_equal(bsv_reader_conditions(&b.reader, &figures, &err), BSA_E_ENV);
	assert_true(bsv_reader_take_metrics(&b.reader));
	busy_was_asked(&b, "openmetrics\n"); /* and nothing since */
	busy_end(&b);
}

int main(void)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(a_signal_ends_the_wait_and_the_question_stays_open),
		cmocka_unit_test(an_answer_that_came_late_is_that_of_the_next_scrape),
		cmocka_unit_test(an_answer_in_another_form_is_dropped_and_asked_for_again),
		cmocka_unit_test(an_answer_that_has_begun_is_waited_for_no_longer_and_goes_on_at_the_next_scrape),
		cmocka_unit_test(a_signal_ends_the_wait_for_rows_which_are_asked_for_once),
		cmocka_unit_test(rows_of_another_question_are_dropped),
		cmocka_unit_test(rows_that_do_not_come_for_a_minute_are_an_error),
		cmocka_unit_test(a_signal_ends_the_wait_for_the_state_which_is_asked_for_once),
		cmocka_unit_test(a_state_that_came_late_is_no_page_of_metrics),
		cmocka_unit_test(another_question_gets_its_own_answer),
		cmocka_unit_test(a_process_that_is_silent_for_a_minute_has_failed),
		cmocka_unit_test(a_signal_ends_the_wait_of_a_move_for_the_answer_before),
		cmocka_unit_test(a_move_ends_the_wait_for_the_answer_before_though_no_signal_comes),
		cmocka_unit_test(the_answer_to_a_move_is_that_to_the_next_question_for_rows),
		cmocka_unit_test(metrics_are_those_after_the_move),
		cmocka_unit_test(after_a_question_that_failed_each_question_fails_though_answers_come),
	};

	return cmocka_run_group_tests(all, NULL, NULL);
}
