/*
 * test_ties.c -- events of several cpus with equal times: the database is the same whichever cpu each event
 * was on, and keeps the promises of every recording without losses. Of random records, none is lost, and the
 * order of each stream holds.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <sqlite3.h>

#include "analyzer/ctf_writer.h"
#include "analyzer/folders.h"
#include "analyzer/script.h"
#include "base.h"
#include "bsa/import.h"
#include "decode/ties.h"

enum { CPUS = 3, WAYS = 60, LINE = 200 };

/* ---- a story with only one possible order ---- */

#define SENT(t, x)                                                                                               \
	t " exec_submit exec=" x " path=burst\n" t " fmq_write exec=" x " queue=request\n" t " fmq_read exec=" x \
	  " queue=request\n" t " request_decode exec=" x "\n"
#define QUEUED(t, x, app, priority) t " sched_enqueue exec=" x " app=" app " priority=" priority "\n"
#define STARTED(t, x) t " sched_dispatch exec=" x " lane=0\n"
#define ENDED(t, x) t " exec_end exec=" x " lane=0\n"
#define ANSWERED(t, x) \
	t " fmq_write exec=" x " queue=result\n" t " fmq_read exec=" x " queue=result\n" t " exec_return exec=" x "\n"

#define CAMERA "0x100003"
#define AUDIO "0x100006"
#define ALL_AT(t, x, app) \
	SENT(t, x)        \
	t " slot_lookup exec=" x " slot=0 hit=1\n" QUEUED(t, x, app, "medium") STARTED(t, x) ENDED(t, x) ANSWERED(t, x)

/*
 * At 2000 the first execution of the camera ends; one of each app begins and ends; and one of audio begins.
 * At 5000 one of audio preempts the camera's, begins and ends; then the camera's resumes. At 6000 all end.
 */
static const char story[] = "1 service_state pid=9 lanes=1 instance=1 preempt_mode=save\n"
			    "2 client_connect conn=0x100001 pid=20 uid=1 app=20 name=camera\n"
			    "2 client_connect conn=0x100004 pid=21 uid=1 app=21 name=audio\n"
			    "2 model_prepare model=0x100002 conn=0x100001 name=net priority=medium ops=4\n"
			    "2 model_prepare model=0x100005 conn=0x100004 name=voice priority=high ops=4\n"
			    "2 stream_open stream=" CAMERA " conn=0x100001 path=burst model=0x100002 cache=slots\n"
			    "2 stream_open stream=" AUDIO " conn=0x100004 path=burst model=0x100005 cache=slots\n"
	/* clang-format off */
	SENT("1000", CAMERA ":1") QUEUED("1000", CAMERA ":1", "20", "medium") STARTED("1100", CAMERA ":1")
	ENDED("2000", CAMERA ":1") ANSWERED("2000", CAMERA ":1")
	ALL_AT("2000", CAMERA ":2", "20")
	ALL_AT("2000", AUDIO ":1", "21")
	SENT("2000", AUDIO ":2") QUEUED("2000", AUDIO ":2", "21", "medium") STARTED("2000", AUDIO ":2")
	ENDED("3000", AUDIO ":2") ANSWERED("3000", AUDIO ":2")
	SENT("4000", CAMERA ":3") QUEUED("4000", CAMERA ":3", "20", "medium") STARTED("4000", CAMERA ":3")
	SENT("5000", AUDIO ":3") QUEUED("5000", AUDIO ":3", "21", "high")
	"5000 sched_preempt exec=" CAMERA ":3 by=" AUDIO ":3 lane=0 at_op=1 mode=save\n"
	STARTED("5000", AUDIO ":3") ENDED("5000", AUDIO ":3") ANSWERED("5000", AUDIO ":3")
	"5000 sched_resume exec=" CAMERA ":3 lane=0 from_op=1\n"
	ENDED("6000", CAMERA ":3") ANSWERED("6000", CAMERA ":3")
	/* clang-format on */
	"6000 stream_close stream=" CAMERA "\n6000 stream_close stream=" AUDIO "\n"
	"6000 model_release model=0x100002\n6000 model_release model=0x100005\n"
	"6000 client_disconnect conn=0x100001\n6000 client_disconnect conn=0x100004\n";

/* Each event is on a random cpu; @seed 0: all on the first one. Some cpus have few events or none. */
static void write_story(const char *directory, uint64_t seed)
{
	const struct ctf_options options = { .cpus = CPUS };
	struct ctf_writer *w = ctf_writer_new(directory, &options);
	char line[LINE];
	uint64_t state = seed;

	for (const char *at = story; *at; at = strchr(at, '\n') + 1) {
		snprintf(line, sizeof(line), "%.*s cpu=%u\n", (int)strcspn(at, "\n"), at,
		         seed ? (unsigned)(splitmix_next(&state) % CPUS) : 0);
		ctf_writer_script(w, line, 1);
	}
	ctf_writer_free(w);
}

static void import(const char *directory, unsigned threads)
{
	const char *const traces[] = { directory };
	const struct bsa_import_options options = {
		.traces = traces, .n_traces = 1, .output = folder_at("db"), .threads = threads
	};
	struct bsa_err err = { "" };

	if (bsa_import(&options, NULL, &err))
		fail_msg("%s", err.text);
}

static char *file(const char *path, size_t *ret_n)
{
	char *ret = file_content(path, ret_n);

	assert_non_null(ret);
	return ret;
}

/* @sql must return no row. */
static void expect_no_row(const char *sql)
{
	sqlite3 *db = NULL;
	sqlite3_stmt *s = NULL;

	assert_int_equal(sqlite3_open_v2(folder_at("db"), &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
	if (sqlite3_prepare_v2(db, sql, -1, &s, NULL))
		fail_msg("%s", sqlite3_errmsg(db));
	if (sqlite3_step(s) == SQLITE_ROW)
		fail_msg("%s: %s: %s", sqlite3_column_text(s, 0), sqlite3_column_text(s, 1), sqlite3_column_text(s, 2));
	sqlite3_finalize(s);
	sqlite3_close(db);
}

static void expect_no_row_of_file(const char *path)
{
	size_t n;
	char *sql = file(path, &n);

	expect_no_row(sql);
	free(sql);
}

/* ---- tests ---- */

static void the_story_is_stored_as_it_was(void **state)
{
	(void)state;
	write_story(folder_at("trace"), 0);
	import(folder_at("trace"), 1);
	expect_no_row_of_file(CHECK_SQL);
	expect_no_row_of_file(LOSSLESS_SQL);
	expect_no_row("SELECT 'an execution is there', 6, n FROM (SELECT count(*) AS n FROM execution WHERE complete) "
	              "WHERE n "
	              "!= 6");
	expect_no_row("SELECT 'runs of 0 ns are kept', id, run_ns FROM execution WHERE run_ns != CASE id % 6 "
	              "WHEN 1 THEN 900 WHEN 4 THEN 1000 WHEN 5 THEN 2000 ELSE 0 END");
}

static void whichever_cpus_the_events_were_on(void **state)
{
	size_t n, m;
	char *expected, *got;

	(void)state;
	write_story(folder_at("trace"), 0);
	import(folder_at("trace"), 1);
	expect_no_row_of_file(CHECK_SQL);
	expect_no_row_of_file(LOSSLESS_SQL);
	expected = file(folder_at("db"), &n);
	for (uint64_t seed = 1; seed <= WAYS; seed++) {
		char command[2 * LINE];

		snprintf(command, sizeof(command), "rm -r '%s'", folder_at("trace"));
		assert_int_equal(system(command), 0);
		write_story(folder_at("trace"), seed);
		import(folder_at("trace"), 1 + seed % 3);
		got = file(folder_at("db"), &m);
		if (n != m || memcmp(expected, got, n)) {
			expect_no_row_of_file(CHECK_SQL); /* to say more: the expected one breaks none */
			expect_no_row_of_file(LOSSLESS_SQL);
			fail_msg("seed %d: another database", (int)seed);
		}
		free(got);
	}
	free(expected);
}

/*
 * Random records that contradict each other: each of them comes out once, after the earlier ones of its
 * stream.
 */
static void what_contradicts_itself_comes_out_as_well(void **state)
{
	enum { STREAMS = 7 };
	static const char *const kinds[] = { "exec_submit",  "sched_enqueue", "sched_dispatch", "sched_preempt",
		                             "sched_resume", "exec_end",      "exec_return" };
	struct bsa_ties *t = bsa_ties_new();
	uint64_t seen[STREAMS] = { 0 }, told[STREAMS] = { 0 }, chance = 1;
	const struct bsa_event *e;

	(void)state;
	assert_non_null(t);
	for (unsigned round = 0; round < 20; round++) {
		for (size_t i = 0; i < BSA_TIES_MAX; i++) {
			unsigned stream = (unsigned)(splitmix_next(&chance) % STREAMS);
			char line[LINE];
			struct bsa_event *record;

			snprintf(line, sizeof(line), "1000 %s exec=0x100003:%u trace=%u",
			         kinds[splitmix_next(&chance) % 7], 1 + (unsigned)(splitmix_next(&chance) % 5),
			         stream + 1);
			record = script_record(line);
			record->at = told[stream]++; /* to recognise the record */
			bsa_ties_add(t, stream + 1, record);
			free(record);
		}
		assert_int_equal(bsa_ties_count(t), BSA_TIES_MAX);
		while ((e = bsa_ties_next(t)))
			assert_int_equal(e->at, seen[e->trace - 1]++);
		assert_int_equal(bsa_ties_count(t), 0);
	}
	assert_memory_equal(seen, told, sizeof(seen));
	bsa_ties_free(t);
}

#define T(name) cmocka_unit_test_setup(name, folder_begin)

int main(void)
{
	const struct CMUnitTest all[] = {
		T(the_story_is_stored_as_it_was),
		T(whichever_cpus_the_events_were_on),
		T(what_contradicts_itself_comes_out_as_well),
	};

	return cmocka_run_group_tests(all, folders_make, folders_remove);
}
