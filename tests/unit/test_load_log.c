/* test_load_log.c -- the log of nnburst-load: it writes added lines in their form, as far as there is room. */
#include <inttypes.h>
#include <stdio.h>

#include "log.h"
#include "scenario.h"
#include "unit/fmq_helpers.h"

/* this table of scenario.c is all that the log needs of it */
const char *const load_path_names[4] = { "burst", "sync", "async", "fenced" };

static struct load_log *log_new(uint64_t room)
{
	struct load_log *log = calloc(1, load_log_bytes(room));

	assert_non_null(log);
	log->room = room;
	return log;
}

/* The content that the file would have; freed by the caller. */
static char *written(const struct load_log *log)
{
	char *text = NULL;
	size_t n;
	FILE *f = open_memstream(&text, &n);

	assert_non_null(f);
	load_log_write(f, log);
	assert_int_equal(fclose(f), 0);
	return text;
}

static void an_entry_is_a_line(void **state)
{
	const struct load_log_entry entries[] = {
		{ UINT64_MAX, 1000000007, UINT64_MAX - 1, NNB_STATUS_NONE, LOAD_BURST },
		{ 0, 0, 1, NNB_STATUS_MISSED_DEADLINE_TRANSIENT, LOAD_FENCED },
	};
	struct load_log *log = log_new(4);
	char *text;

	(void)state;
	for (size_t i = 0; i < N_OF(entries); i++)
		load_log_add(log, &entries[i]);
	text = written(log);
	assert_string_equal(text, "18446744073709551615\t1000000007\t18446744073709551614\tNONE\tburst\n"
	                          "0\t0\t1\tMISSED_DEADLINE_TRANSIENT\tfenced\n");
	assert_int_equal(load_log_dropped(log), 0);
	free(text);
	free(log);
}

static void entries_without_room_are_counted(void **state)
{
	struct load_log *log = log_new(2);
	char *text;

	(void)state;
	for (uint64_t i = 1; i <= 5; i++)
		load_log_add(log, &(struct load_log_entry){ .exec = i });
	text = written(log);
	assert_string_equal(text, "1\t0\t0\tNONE\tburst\n2\t0\t0\tNONE\tburst\n");
	assert_int_equal(load_log_dropped(log), 3);
	free(text);
	free(log);
}

static void a_log_without_entries_takes_no_memory(void **state)
{
	(void)state;
	assert_int_equal(load_log_bytes(0), 0);
}

int main(void)
{
	add_test(an_entry_is_a_line, NULL, NULL, NULL, "an entry is a line");
	add_test(entries_without_room_are_counted, NULL, NULL, NULL, "entries without room are counted");
	add_test(a_log_without_entries_takes_no_memory, NULL, NULL, NULL, "a log without entries takes no memory");
	return _cmocka_run_group_tests("load log", tests, n_tests, NULL, NULL);
}
