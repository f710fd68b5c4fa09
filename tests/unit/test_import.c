/*
 * test_import.c -- import refuses some sound traces: the same recording twice, and times that the database
 * cannot store.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyzer/ctf_writer.h"
#include "analyzer/folders.h"
#include "analyzer/script.h"
#include "bsa/db.h"
#include "bsa/import.h"
#include "decode/decode.h"
#include "importer.h"

/* A trace of these lines, recorded on @host; NULL: the usual host. */
static const char *trace(const char *name, const char *lines, const char *host)
{
	const struct ctf_options options = { .host = host };
	struct ctf_writer *w = ctf_writer_new(folder_at("%s", name), &options);

	ctf_writer_script(w, lines, 1);
	ctf_writer_free(w);
	return folder_at("%s", name);
}

static int import(const char *first, const char *second, bool append, struct bsa_err *err)
{
	const char *const traces[] = { first, second };
	const struct bsa_import_options options = {
		.traces = traces, .n_traces = second ? 2 : 1, .output = folder_at("db"), .append = append
	};

	*err = (struct bsa_err){ "" };
	return bsa_import(&options, NULL, err);
}

static void expect_import(const char *first, const char *second, bool append)
{
	struct bsa_err err;

	if (import(first, second, append, &err))
		fail_msg("%s, %s: %s", first, second ? second : "-", err.text);
}

static void expect_refusal(const char *first, const char *second, bool append, const char *words)
{
	struct bsa_err err;

	assert_int_equal(import(first, second, append, &err), BSA_E_INPUT);
	if (!strstr(err.text, words))
		fail_msg("%s, %s: %s", first, second ? second : "-", err.text);
}

#define THERE                                                          \
	"1 service_state pid=9 lanes=1 instance=1\n"                   \
	"2 client_connect conn=1 pid=20 uid=1000 app=20 name=camera\n" \
	"3 model_prepare model=2 conn=1 name=net priority=high\n"      \
	"4 stream_open stream=3 conn=1 path=burst model=2 cache=slots\n"
#define RUN(t, n)                                                                                                   \
#t "000 exec_submit exec=3:" #n " model=2 path=burst\n" #t "010 fmq_write exec=3:" #n " queue=request\n" #t \
	   "030 fmq_read exec=3:" #n " queue=request\n" #t "040 request_decode exec=3:" #n " model=2\n" #t          \
	   "060 sched_enqueue exec=3:" #n " model=2 app=20 priority=high\n" #t "065 sched_dispatch exec=3:" #n      \
	   " lane=0\n" #t "400 exec_end exec=3:" #n " lane=0\n" #t "410 fmq_write exec=3:" #n " queue=result\n" #t  \
	   "450 fmq_read exec=3:" #n " queue=result\n" #t "460 exec_return exec=3:" #n "\n"

static void one_run_in_two_sessions_is_refused(void **state)
{
	const char *one = trace("one", THERE RUN(1, 1) RUN(2, 2), NULL),
		   *both = trace("two", THERE RUN(1, 1) RUN(2, 2), NULL);

	(void)state;
	expect_refusal(one, both, false, "are of the same run");
	expect_refusal(one, trace("later", RUN(2, 2) RUN(3, 3), NULL), false, "are of the same run");
	expect_refusal(one, trace("clients", "2000 exec_submit exec=3:2 model=2 path=burst\n", NULL), false,
	               "are of the same run");
	expect_refusal(one, trace("compact", "1461 exec_client exec=3:1 model=2 path=burst began=1000\n", NULL), false,
	               "are of the same run");
	expect_refusal(trace("summary", "1500 exec_service exec=3:1 began=1030\n", NULL),
	               trace("again", "1501 exec_service exec=3:1 began=1030\n", NULL), false, "are of the same run");
}

static void one_run_in_two_sessions_is_not_appended(void **state)
{
	const char *one = trace("one", THERE RUN(1, 1) RUN(2, 2), NULL);

	(void)state;
	expect_import(one, NULL, false);
	expect_refusal(trace("two", THERE RUN(1, 1) RUN(2, 2), NULL), NULL, true, "in the database already");
	expect_refusal(trace("part", RUN(2, 2) RUN(3, 3), NULL), NULL, true, "in the database already");
	expect_import(trace("rest", RUN(3, 3), NULL), NULL, true);
}

static void different_recordings_are_imported(void **state)
{
	(void)state;
	/*
	 * a service and its client, a recording after it, one of another host, and a later one, with the same
	 * numbers
	 */
	expect_import(
		trace("client", "1000 exec_submit exec=3:1 model=2 path=burst\n1460 exec_return exec=3:1\n", NULL),
		trace("service", THERE "1400 exec_end exec=3:1 lane=0\n", NULL), false);
	expect_import(trace("first", THERE RUN(1, 1), NULL), trace("second", RUN(2, 2), NULL), false);
	expect_import(trace("here", THERE RUN(1, 1), NULL), trace("there", THERE RUN(1, 1), "another"), false);
	expect_import(trace("early", RUN(1, 1), NULL), trace("much_later", RUN(5000000, 1), NULL), false);
	expect_import(folder_at("here"), folder_at("there"), false);
	expect_import(trace("third", THERE RUN(1, 1), "a third"), NULL, true);
	expect_import(trace("fourth", THERE RUN(4, 4), NULL), NULL, true);
}

#define SERVICE(t, pid, since) #t " service_state pid=" #pid " lanes=1 instance=1 since=" #since "\n"
#define CLIENT(t, conn) #t " client_connect conn=" #conn " pid=20 uid=1000 app=20 name=camera\n"
#define GONE(t, conn) #t " client_disconnect conn=" #conn "\n"

static void services_with_equal_numbers_are_refused(void **state)
{
	static const char words[] = "processes 9 and 10, have the same instance number (1)";

	(void)state;
	/* equal numbers would merge executions of both */
	expect_refusal(trace("both",
	                     SERVICE(1, 9, 0) CLIENT(2, 0x100001) RUN(1, 1) SERVICE(2000, 10, 0) CLIENT(2001, 0x100001)
	                             RUN(3, 1) RUN(4, 2),
	                     NULL),
	               NULL, false, words);
	expect_refusal(trace("attached",
	                     SERVICE(100, 9, 50) CLIENT(101, 0x100001) GONE(102, 0x100001) SERVICE(103, 10, 70), NULL),
	               NULL, false, words);
	expect_refusal(trace("idle", SERVICE(1, 9, 0) SERVICE(2, 10, 0) CLIENT(3, 0x100001) CLIENT(4, 0x100001), NULL),
	               NULL, false, "processes 10 and 9");
	expect_refusal(trace("told_again", SERVICE(1, 9, 0) SERVICE(2, 10, 0) SERVICE(3, 9, 1), NULL), NULL, false,
	               "processes 10 and 9");
	expect_refusal(trace("same_pid",
	                     SERVICE(3000000000, 9, 1) CLIENT(3000000001, 0x100001) SERVICE(3000000002, 9, 2000000000),
	                     NULL),
	               NULL, false, "processes 9 and 9 (which began 2.000 s later)");
	/* both report their beginning: the second one had the number before the first one began */
	expect_refusal(trace("same_pid_before",
	                     SERVICE(5000000000, 9, 4000000000) CLIENT(5000000001, 0x100001)
	                             SERVICE(5000000002, 9, 1000000000),
	                     NULL),
	               NULL, false, "processes 9 and 9 (which began 3.000 s earlier)");
	expect_refusal(
		trace("same_pid_later", SERVICE(1, 9, 0) CLIENT(2, 0x100001) SERVICE(5000000002, 9, 4000000000), NULL),
		NULL, false, "processes 9 and 9 (which began 4.000 s later)");
}

/*
 * A service reads the clock, and is stopped before its first event; or the machine is so busy that it waits for a cpu
 * as long. A session that began meanwhile has both the first event and the repeated one.
 */
static void a_service_that_reports_itself_long_after_it_began_is_one(void **state)
{
	(void)state;
	expect_import(trace("late",
	                    SERVICE(6000000000, 9, 0) SERVICE(6000250000, 9, 250000000) CLIENT(6000250001, 0x100001)
	                            SERVICE(6000260000, 9, 250000000) SERVICE(6000270000, 9, 0),
	                    NULL),
	              NULL, false);
	/* the reported time is the service's: another one is another service */
	expect_refusal(trace("late_and_other",
	                     SERVICE(6000000000, 9, 0) SERVICE(6000250000, 9, 250000000) CLIENT(6000250001, 0x100001)
	                             SERVICE(6000260000, 9, 5000000000),
	                     NULL),
	               NULL, false, "processes 9 and 9 (which began 4.750 s later)");
}

static void services_that_follow_each_other_are_imported(void **state)
{
	(void)state;
	expect_import(trace("restart",
	                    SERVICE(1, 9, 0) CLIENT(2, 0x100001) GONE(3, 0x100001) SERVICE(4, 10, 0)
	                            CLIENT(5, 0x100001),
	                    NULL),
	              NULL, false);
	expect_import(trace("one",
	                    SERVICE(1, 9, 0) CLIENT(2, 0x100001) SERVICE(3, 9, 0) SERVICE(4, 9, 1) CLIENT(5, 0x100001),
	                    NULL),
	              NULL, false);
}

static void times_that_cannot_be_stored_are_refused(void **state)
{
	struct ctf_options options = { .clock_offset = INT64_C(1) << 62 };
	struct ctf_writer *w = ctf_writer_new(folder_at("offset"), &options);

	(void)state;
	ctf_writer_script(w, RUN(1, 1), 1);
	ctf_writer_free(w);
	expect_refusal(folder_at("offset"), NULL, false, "2^62");
	expect_refusal(trace("late", "4611686018427387904 exec_return exec=3:1\n", NULL), NULL, false, "2^62");
	expect_import(trace("last", "4611686018427387903 exec_return exec=3:1\n", NULL), NULL, false);
}

static void expect_answer(const char *question, const char *expected)
{
	struct bsa_err err = { "" };
	struct bsa_db *db = NULL;
	struct bsa_query *q = NULL;

	if (bsa_db_open(&db, folder_at("db"), &err) || bsa_query_new(&q, db, question, &err) ||
	    bsa_query_step(q, &err) <= 0)
		fail_msg("%s", err.text);
	assert_string_equal(bsa_query_get_string(q, 0, NULL), expected);
	bsa_query_free(q);
	bsa_db_close(db);
}

/* The losses in the database: cause, trace, pid, begin, end. */
static void expect_losses(const char *expected)
{
	expect_answer("SELECT ifnull(group_concat(cause || ' ' || trace_id || ' ' || pid || ' ' || began || ' ' || "
	              "ended, ', '), 'none') FROM loss",
	              expected);
}

/* The unknown stretches of lanes: lane, begin, end, and the execution that may have had the lane. */
static void expect_unknown_lanes(const char *expected)
{
	expect_answer("SELECT ifnull(group_concat(lane || ' ' || began || ' ' || ended || ' ' || "
	              "ifnull(execution_id, 'any'), ', '), 'none') FROM unknown_lane",
	              expected);
}

/*
 * Each process's recording stops by itself. If a client gets an answer after the last event of its service, the
 * end of the service is missing.
 */
#define BEGINS "1 service_state pid=9 lanes=1 instance=1\n"
#define FIRST                                                              \
	BEGINS                                                             \
	"2 client_connect conn=0x100001 pid=20 uid=1 app=20 name=camera\n" \
	"3 stream_open stream=0x100003 conn=0x100001 path=burst\n"         \
	"1000 exec_submit exec=0x100003:1 path=burst\n"                    \
	"1400 exec_end exec=0x100003:1 lane=0\n"                           \
	"1460 exec_return exec=0x100003:1\n"
#define ASKS "200000000 exec_submit exec=0x100003:2 path=burst\n"
#define SUMMARY "1500 exec_service exec=0x100003:1 began=1030\n"
#define ENDED "1500 exec_service exec=0x100003:1 began=1030 at=-,-,-,-,370\n"
#define ANSWER(began, at, exec, path) #at " exec_client exec=" exec " path=" path " began=" #began "\n"

struct silence_row {
	const char *name, *events, *losses;
};

static void expect_silences(const struct silence_row *rows, size_t n)
{
	for (const struct silence_row *row = rows; row < rows + n; row++) {
		expect_import(trace(row->name, row->events, NULL), NULL, false);
		expect_losses(row->losses);
	}
}

static void a_service_that_was_not_recorded_to_the_end_is_a_tail(void **state)
{
	static const struct silence_row rows[] = {
		{ "silent", FIRST ASKS "200000500 exec_return exec=0x100003:2\n", "tail 1 9 1400 200000500" },
		{ "summaries", BEGINS SUMMARY ANSWER(200000000, 200001000, "0x100003:2", "burst"),
		  "tail 1 9 1500 200001000" },
		/* the service emits a summary before it takes the next request of the burst */
		{ "twice",
		  BEGINS ENDED ANSWER(2000, 1500000, "0x100003:2", "burst")
		          ANSWER(1600000, 3000000, "0x100003:3", "burst"),
		  "tail 1 9 1500 3000000" },
		{ "full_clients",
		  BEGINS ENDED "2000 exec_submit exec=0x100003:2 path=burst\n1500000 exec_return exec=0x100003:2\n"
		               "1600000 exec_submit exec=0x100003:3 path=burst\n3000000 exec_return exec=0x100003:3\n",
		  "tail 1 9 1500 3000000" },
		/* exec_end comes before the answer */
		{ "both",
		  BEGINS "1400 exec_end exec=0x100003:1 lane=0\n" ENDED ANSWER(2000, 3000000, "0x100003:2", "burst"),
		  "tail 1 9 1500 3000000" },
	};

	(void)state;
	expect_silences(rows, sizeof(rows) / sizeof(*rows));
}

/* A lane that was idle, or held, at the last event may have been held by anyone since. */
static void lanes_of_a_service_that_was_not_recorded_to_the_end_are_unknown(void **state)
{
	(void)state;
	expect_import(trace("silent_lane", FIRST ASKS "200000500 exec_return exec=0x100003:2\n", NULL), NULL, false);
	expect_unknown_lanes("0 1400 200000500 any");
	expect_import(trace("held",
	                    FIRST
	                    "1500 sched_enqueue exec=0x100003:2 app=20\n1510 sched_dispatch exec=0x100003:2 lane=0\n"
	                    "200000000 exec_submit exec=0x100003:3 path=burst\n"
	                    "200000500 exec_return exec=0x100003:3\n",
	                    NULL),
	              NULL, false);
	expect_unknown_lanes("0 1510 200000500 any");
	expect_import(trace("summaries_lane", BEGINS SUMMARY ANSWER(200000000, 200001000, "0x100003:2", "burst"), NULL),
	              NULL, false);
	expect_unknown_lanes("0 1 200001000 any");
}

static void a_service_that_may_still_emit_its_summary_is_no_tail(void **state)
{
	static const struct silence_row rows[] = {
		{ "behind", BEGINS SUMMARY ANSWER(2000, 50001000, "0x100003:2", "burst"), "none" },
		/* perhaps the service answered the second one first */
		{ "twice_at_once",
		  BEGINS ENDED ANSWER(2000, 1500000, "0x100003:2", "burst")
		          ANSWER(1400000, 3000000, "0x100003:3", "burst"),
		  "none" },
		/* two threads, each about to emit its summary */
		{ "two_bursts",
		  BEGINS ENDED ANSWER(2000, 1500000, "0x100003:2", "burst")
		          ANSWER(1600000, 3000000, "0x100004:1", "burst"),
		  "none" },
		/* one connection may have several executions under way */
		{ "two_calls",
		  BEGINS ENDED ANSWER(2000, 1500000, "0x100003:2", "async")
		          ANSWER(1600000, 3000000, "0x100003:3", "async"),
		  "none" },
		{ "full_at_first",
		  BEGINS "900 exec_end exec=0x100003:1 lane=0\n"
		         "1500 exec_service exec=0x100003:2 began=1030 at=-,-,-,-,370\n" ANSWER(2000, 3000000,
		                                                                                "0x100003:3", "burst"),
		  "none" },
	};

	(void)state;
	expect_silences(rows, sizeof(rows) / sizeof(*rows));
}

/* No event shows that something is missing. */
static void a_service_that_has_nothing_to_emit_is_no_tail(void **state)
{
	static const struct silence_row rows[] = {
		{ "hangs", FIRST ASKS, "none" },
		/* it is slow to wake an app */
		{ "slow", FIRST "200000500 fmq_read exec=0x100003:1 queue=result\n", "none" },
		/* it did not take the request */
		{ "refused", FIRST ASKS "200000500 exec_return exec=0x100003:2 status=dead_object\n", "none" },
		/* the execution still runs when the app has its answer */
		{ "fenced",
		  FIRST "200000000 exec_submit exec=0x100003:2 path=fenced\n200000500 exec_return exec=0x100003:2\n",
		  "none" },
		{ "fenced_summaries", BEGINS SUMMARY ANSWER(200000000, 200001000, "0x100003:2", "fenced"), "none" },
	};

	(void)state;
	expect_silences(rows, sizeof(rows) / sizeof(*rows));
}

/*
 * One pass over a recording that was stopped at @until, and of which all programs were recorded until @recorded_until;
 * @ends is the importer's option. Returns whether another pass is needed.
 */
static bool import_recorded(const char *text, uint64_t until, uint64_t recorded_until, bool compact, bool ends,
                            struct bsa_importer_counts *ret)
{
	const struct bsa_importer_options options = { .output = folder_at("db"), .ends = ends };
	const struct bsa_trace traced = { .path = "one",
		                          .uuid = "1",
		                          .host = "",
		                          .session = "",
		                          .clock = "",
		                          .clock_uuid = "",
		                          .uid = UINT32_MAX,
		                          .compact = compact,
		                          .until = until,
		                          .recorded_until = recorded_until };
	struct bsa_decoded decoded = { .began = 1 };
	struct script *s = script_new(text);
	struct bsa_importer *im = NULL;
	const struct bsa_event *e;
	struct bsa_err err = { "" };
	bool again;

	assert_int_equal(bsa_importer_new(&im, &options, &err), 0);
	assert_int_equal(bsa_importer_trace(im, &traced, &err), 0);
	for (; (e = script_next(s)); decoded.events++, decoded.ended = e->at)
		assert_int_equal(bsa_importer_event(im, e, &err), 0);
	script_free(s);
	again = bsa_importer_wants_ends(im);
	assert_int_equal(bsa_importer_decoded(im, 1, &decoded, &err), 0);
	if (bsa_importer_finish(im, &err))
		fail_msg("%s", err.text);
	*ret = bsa_importer_counts(im);
	bsa_importer_free(im);
	return again;
}

static bool import_pass(const char *text, uint64_t until, bool ends, struct bsa_importer_counts *ret)
{
	return import_recorded(text, until, 0, false, ends, ret);
}

static void expect_rows(const char *sql, const char *expected)
{
	struct bsa_err err = { "" };
	struct bsa_db *db = NULL;
	struct bsa_query *q = NULL;

	if (bsa_db_open(&db, folder_at("db"), &err) || bsa_query_new(&q, db, sql, &err) || bsa_query_step(q, &err) <= 0)
		fail_msg("%s", err.text);
	assert_string_equal(bsa_query_get_string(q, 0, NULL), expected);
	bsa_query_free(q);
	bsa_db_close(db);
}

/*
 * LTTng stops recording a service, and its clients a little later: the clients' later events are not part of
 * the recording.
 */
static void events_after_the_end_are_not_a_loss(void **state)
{
	static const char late[] = FIRST "1600 exec_submit exec=0x100003:2 path=burst\n"
					 "200000500 exec_return exec=0x100003:2\n"
					 "200000600 exec_submit exec=0x100003:3 path=burst\n";
	struct bsa_importer_counts counts;

	(void)state;
	assert_true(import_pass(late, 2000, false, &counts));
	assert_int_equal(counts.after_end, 0); /* the first pass did not know yet that it must leave them out */
	assert_false(import_pass(late, 2000, true, &counts));
	assert_int_equal(counts.after_end, 2);
	assert_int_equal(counts.holes, 0);
	expect_losses("none");
	expect_rows("SELECT events || ' ' || (SELECT count(*) FROM execution) || ' ' || ended FROM trace", "7 2 2000");
	expect_rows("SELECT value || '' FROM meta WHERE key = 'left_out_after_end'", "2");
	/* the client was answered before the end, so the end of the service is missing */
	assert_false(import_pass(late, 200000500, false, &counts));
	expect_losses("tail 1 9 1400 200000500");
	assert_int_equal(counts.holes, 1);
	/* the loss stays, however long the client was recorded after the end */
	assert_true(import_pass(FIRST ASKS "200000500 exec_return exec=0x100003:2\n"
	                                   "200000600 exec_submit exec=0x100003:3 path=burst\n"
	                                   "400000000 exec_return exec=0x100003:3\n",
	                        300000000, false, &counts));
	assert_false(import_pass(FIRST ASKS "200000500 exec_return exec=0x100003:2\n"
	                                    "200000600 exec_submit exec=0x100003:3 path=burst\n"
	                                    "400000000 exec_return exec=0x100003:3\n",
	                         300000000, true, &counts));
	expect_losses("tail 1 9 1400 200000500");
	/* the time of the end is unknown */
	assert_false(import_pass(late, 0, false, &counts));
	expect_losses("tail 1 9 1400 200000500");
}

/* LTTng stops recording a client, and its service a little later: the same holds of the service's later events. */
static void executions_without_a_client_after_the_end_are_left_out(void **state)
{
	static const char late[] = FIRST "2100 fmq_read exec=0x100003:2 queue=request\n"
					 "2200 exec_end exec=0x100003:2 lane=0\n"
					 "2300 fmq_write exec=0x100003:2 queue=result\n"
					 "2400 fmq_read exec=0x100003:3 queue=request\n";
	struct bsa_importer_counts counts;

	(void)state;
	assert_true(import_pass(late, 2000, false, &counts));
	assert_int_equal(counts.after_end, 0);
	assert_false(import_pass(late, 2000, true, &counts));
	assert_int_equal(counts.after_end, 4);
	expect_rows("SELECT events || ' ' || (SELECT count(*) FROM execution) || ' ' || ended FROM trace", "6 1 2000");
	/* an execution that its client began before the end is recorded further */
	assert_false(import_pass(FIRST "1900 exec_submit exec=0x100003:2 path=burst\n"
	                               "2100 fmq_read exec=0x100003:2 queue=request\n",
	                         2000, false, &counts));
	/* the client was not recorded before the end either */
	assert_false(import_pass(late, 2500, false, &counts));
}

/*
 * LTTng waits for a program that does not answer, while others go on, such as apps of another service. All programs
 * were recorded until the end that was noted.
 */
static void programs_that_go_on_for_long_do_not_hide_the_end(void **state)
{
	static const char hangs[] = FIRST "1600 exec_submit exec=0x100003:2 path=burst\n"
					  "300000000 exec_submit exec=0x200003:1 path=burst\n"
					  "301500000 exec_return exec=0x200003:1 status=general_failure\n";
	static const char until[] = "SELECT ended || ' ' || ifnull(recorded_until, 'none') || ' ' || "
				    "(SELECT group_concat(instance || ' ' || ended) FROM silence) FROM trace";
	struct bsa_importer_counts counts;

	(void)state;
	assert_true(import_recorded(hangs, 300400000, 300400000, false, false, &counts));
	assert_false(import_recorded(hangs, 300400000, 300400000, false, true, &counts));
	assert_int_equal(counts.after_end, 1);
	expect_rows(until, "300000000 300400000 1 300400000");
	/* a stop takes as long */
	assert_false(import_recorded(hangs, 300600000, 300600000, false, false, &counts));
	expect_rows(until, "301500000 300600000 1 301500000"); /* the end is known, though events come after it */
	/* summaries come later */
	assert_false(import_recorded(hangs, 300400000, 300400000, true, false, &counts));
	assert_true(import_recorded(hangs, 201400000, 201400000, true, false, &counts));
	/* LTTng had reached no program before the end */
	assert_false(import_recorded("5000000 service_state pid=9\n", 1000, 1000, false, false, &counts));
	/* the packets of a cpu end earlier */
	assert_false(import_recorded(hangs, 300400000, 0, false, true, &counts));
	expect_rows("SELECT ended || ' ' || ifnull(recorded_until, 'none') FROM trace", "300400000 none");
}

/* Blue has the lane, and the service is stopped for a second before it reads the request of red, which has 100 ms. */
static void a_miss_in_a_stop_of_the_service_is_not_blamed_on_the_app_on_the_lane(void **state)
{
	static const char stopped[] = "1 service_state pid=9 lanes=1 instance=1 contract=2\n"
				      "2 client_connect conn=0x100001 pid=20 uid=1 app=20 name=red\n"
				      "3 client_connect conn=0x100002 pid=30 uid=1 app=30 name=blue\n"
				      "4 stream_open stream=0x100003 conn=0x100001 path=burst\n"
				      "5 stream_open stream=0x100004 conn=0x100002 path=burst\n"
				      "900 exec_submit exec=0x100004:1 path=burst\n"
				      "910 fmq_write exec=0x100004:1 queue=request\n"
				      "920 fmq_read exec=0x100004:1 queue=request\n"
				      "930 request_decode exec=0x100004:1\n"
				      "1000 sched_enqueue exec=0x100004:1 app=30 priority=low\n"
				      "1001 sched_dispatch exec=0x100004:1 lane=0\n"
				      "2000 exec_submit exec=0x100003:1 path=burst deadline_ns=100002000\n"
				      "2010 fmq_write exec=0x100003:1 queue=request\n"
				      "1000001000 fmq_read exec=0x100003:1 queue=request\n"
				      "1000001010 request_decode exec=0x100003:1\n"
				      "1000001020 sched_enqueue exec=0x100003:1 app=20 priority=low\n"
				      "1050001000 exec_end exec=0x100004:1 lane=0 cpu_ns=50000400\n"
				      "1050001010 fmq_write exec=0x100004:1 queue=result\n"
				      "1050001020 fmq_read exec=0x100004:1 queue=result\n"
				      "1050001030 exec_return exec=0x100004:1\n"
				      "1050002100 sched_dispatch exec=0x100003:1 lane=0\n"
				      "1050002500 exec_end exec=0x100003:1 lane=0 cpu_ns=300\n"
				      "1050002510 fmq_write exec=0x100003:1 queue=result\n"
				      "1050002600 fmq_read exec=0x100003:1 queue=result spun_ns=0 slept_ns=1050000580\n"
				      "1050002700 exec_return exec=0x100003:1\n";

	(void)state;
	expect_import(trace("stopped", stopped, NULL), NULL, false);
	expect_rows("SELECT began || ' ' || ended FROM silence WHERE went_on", "2020 1000001000");
	expect_rows("SELECT group_concat(cause || ' ' || late_ns, ', ') FROM (SELECT cause, late_ns FROM miss_cause "
	            "WHERE late_ns > 1000000 ORDER BY late_ns DESC)",
	            "stopped 999998980, crowded_out 49999980");
	expect_rows("SELECT cause || ' ' || saved FROM miss_cause WHERE is_primary", "stopped 1");
	expect_rows("SELECT cause || ' ' || blamed || ' ' || proved FROM miss_blame", "stopped stopped 1");
}

#define T(name) cmocka_unit_test_setup(name, folder_begin)

int main(void)
{
	const struct CMUnitTest all[] = {
		T(one_run_in_two_sessions_is_refused),
		T(one_run_in_two_sessions_is_not_appended),
		T(different_recordings_are_imported),
		T(services_with_equal_numbers_are_refused),
		T(services_that_follow_each_other_are_imported),
		T(a_service_that_reports_itself_long_after_it_began_is_one),
		T(a_service_that_was_not_recorded_to_the_end_is_a_tail),
		T(lanes_of_a_service_that_was_not_recorded_to_the_end_are_unknown),
		T(a_service_that_may_still_emit_its_summary_is_no_tail),
		T(a_service_that_has_nothing_to_emit_is_no_tail),
		T(a_miss_in_a_stop_of_the_service_is_not_blamed_on_the_app_on_the_lane),
		T(events_after_the_end_are_not_a_loss),
		T(executions_without_a_client_after_the_end_are_left_out),
		T(programs_that_go_on_for_long_do_not_hide_the_end),
		T(times_that_cannot_be_stored_are_refused),
	};

	return cmocka_run_group_tests(all, folders_make, folders_remove);
}
