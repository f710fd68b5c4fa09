/*
 * test_impostors.c -- an app that emits events of the service, and of other apps, changes nothing in a database but the count of its
 * events: as long as LTTng keeps its buffers apart from theirs.
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
#include "bsa/import.h"

enum { TRACES_MAX = 4, TEXT_MAX = 65536 };

/* ---- what was recorded ---- */

#define EXEC(n) "exec=0x100003:" #n
#define ASKED(t, n)                                                                                                  \
#t "000 exec_submit " EXEC(n) " model=0x100002 path=burst deadline_ns=" #t "300\n" #t "010 fmq_write " EXEC( \
		n) " queue=request\n" #t "450 fmq_read " EXEC(n) " queue=result\n" #t "460 exec_return " EXEC(n) "\n"
#define SERVED(t, n)                                                                                               \
#t "030 fmq_read " EXEC(n) " queue=request\n" #t                                                           \
				   "040 request_decode " EXEC(n) " model=0x100002\n" #t "060 sched_enqueue " EXEC( \
					   n) " model=0x100002 app=20 priority=high deadline_ns=" #t "300\n" #t    \
					      "065 sched_dispatch " EXEC(n) " lane=0\n" #t "400 exec_end " EXEC(   \
						      n) " lane=0\n" #t "410 fmq_write " EXEC(n) " queue=result\n"
#define SERVICE(pid)                                                            \
	"1 service_state pid=" #pid " lanes=1 instance=1\n"                     \
	"2 client_connect conn=0x100001 pid=20 uid=1000 app=20 name=camera\n"   \
	"3 model_prepare model=0x100002 conn=0x100001 name=net priority=high\n" \
	"4 stream_open stream=0x100003 conn=0x100001 path=burst model=0x100002 cache=slots\n"

static const char service[] = SERVICE(9) SERVED(1, 1) SERVED(2, 2) SERVED(3, 3);
static const char client[] = ASKED(1, 1) ASKED(2, 2) ASKED(3, 3);

/* All that somebody could wish to have said. */
static const char forged[] =
	"5 service_state pid=66 lanes=4 instance=1 policy=fifo\n"
	"6 service_state pid=66 lanes=2 instance=7\n"
	"7 client_disconnect conn=0x100001 reason=peer_death\n"
	"8 client_connect conn=0x100001 pid=66 uid=1001 app=66 name=camera\n"
	"9 client_connect conn=0x700001 pid=20 uid=1000 app=20 name=camera\n"
	"10 stream_open stream=0x100003 conn=0x700001 path=sync\n"
	"11 stream_close stream=0x100003 reason=peer_death\n"
	"12 model_release model=0x100002\n"
	"900 exec_submit " EXEC(
		1) " model=0x100002 path=burst deadline_ns=901\n"
		   "1063 sched_dispatch " EXEC(
			   1) " lane=3\n"
			      "1064 exec_end " EXEC(
				      1) " lane=3 status=general_failure\n"
					 "1100 sched_preempt " EXEC(
						 1) " by=0x100003:2 lane=0\n"
						    "1101 sched_resume " EXEC(
							    1) " lane=63\n"
							       "1200 deadline_miss " EXEC(
								       2) " kind=transient stage=queue deadline_ns=1 "
									  "over_ns=999999\n"
									  "1300 exec_service " EXEC(
										  3) " began=1200 "
										     "at=1,-,2,3,4,5,0,0,0,- "
										     "status=general_failure\n"
										     "1301 exec_client " EXEC(
											     3) " began=1200 "
												"at=1,2,3,4\n"
												"1302 "
												"exec_return " EXEC(
													2) " status="
													   "dead_"
													   "object\n"
													   "1303 "
													   "app_span "
													   "kind=burst_"
													   "make "
													   "owner="
													   "stream "
													   "owner_id="
													   "0x100003 "
													   "took_ns="
													   "1ns\n"
													   "1304 "
													   "app_span "
													   "kind="
													   "connect "
													   "owner="
													   "connection "
													   "owner_id="
													   "0x100001 "
													   "took_ns="
													   "1200ns\n"
													   "1305 "
													   "resource_"
													   "exhausted "
													   "owner="
													   "service "
													   "owner_id=0 "
													   "kind="
													   "persistent "
													   "resource="
													   "memory\n"
													   "1306 "
													   "exec_state "
													   "exec="
													   "0x100003:9 "
													   "phase="
													   "running "
													   "lane=0\n"
													   "1307 "
													   "pool_map "
													   "owner="
													   "stream "
													   "owner_id="
													   "0x100003 "
													   "slot=3 "
													   "bytes=99 "
													   "took_ns="
													   "900ns\n"
													   "1308 "
													   "buffer_"
													   "allocate "
													   "buffer="
													   "0x100009 "
													   "conn="
													   "0x100001 "
													   "bytes="
													   "99999\n"
													   "1309 "
													   "exec_end "
													   "exec=0:1 "
													   "lane=0\n"; /* and what cannot be: it is no loss of the service's */
enum { FORGED = 24 };

static const char *trace(const char *name, const char *lines, const char *uid)
{
	const struct ctf_options options = { .uid = uid };
	struct ctf_writer *w = ctf_writer_new(folder_at("%s", name), &options);

	ctf_writer_script(w, lines, 1);
	ctf_writer_free(w);
	return folder_at("%s", name);
}

/* ---- what comes of it ---- */

static struct bsa_imported import(const char *const *traces, size_t n, const uint32_t *service_uid)
{
	const struct bsa_import_options options = {
		.traces = traces, .n_traces = n, .output = folder_at("db"), .service_uid = service_uid
	};
	struct bsa_imported imported;
	struct bsa_err err = { "" };

	if (bsa_import(&options, &imported, &err))
		fail_msg("%s", err.text);
	return imported;
}

static void append_rows(sqlite3 *db, const char *sql, char *text)
{
	sqlite3_stmt *q = NULL;
	size_t n = strlen(text);

	if (sqlite3_prepare_v2(db, sql, -1, &q, NULL))
		fail_msg("%s: %s", sql, sqlite3_errmsg(db));
	while (sqlite3_step(q) == SQLITE_ROW)
		for (int i = 0; i <= sqlite3_column_count(q); i++) {
			const char *value =
				i < sqlite3_column_count(q) ? (const char *)sqlite3_column_text(q, i) : "\n";

			n += (size_t)snprintf(text + n, TEXT_MAX - n, "%s ", value ? value : "-");
			assert_true(n < TEXT_MAX);
		}
	sqlite3_finalize(q);
}

/* All that is told of what happened. Owned by the caller. */
static char *answers(void)
{
	static const char *const tables[] = { "app",
		                              "process",
		                              "service_rules",
		                              "model",
		                              "stream",
		                              "execution",
		                              "execution_phase",
		                              "lane_slice",
		                              "wait",
		                              "possible_wait",
		                              "preemption",
		                              "deadline_miss",
		                              "resource_exhausted",
		                              "miss_cause",
		                              "pool_mapping",
		                              "buffer",
		                              "app_share",
		                              "app_lag",
		                              "interference",
		                              "loss",
		                              "phase_stat",
		                              "execution_count",
		                              "span" };
	char *text = calloc(1, TEXT_MAX), sql[64];
	sqlite3 *db = NULL;

	assert_non_null(text);
	assert_int_equal(sqlite3_open_v2(folder_at("db"), &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
	for (size_t i = 0; i < sizeof(tables) / sizeof(*tables); i++) {
		snprintf(sql, sizeof(sql), "SELECT '%s', * FROM %s", tables[i], tables[i]);
		append_rows(db, sql, text);
	}
	sqlite3_close(db);
	return text;
}

static void has(const char *sql, const char *rows)
{
	char *text = calloc(1, TEXT_MAX);
	sqlite3 *db = NULL;

	assert_int_equal(sqlite3_open_v2(folder_at("db"), &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
	append_rows(db, sql, text);
	sqlite3_close(db);
	assert_string_equal(text, rows);
	free(text);
}

/* The same answers with the forged trace, in whatever place it is, and from the first or the second go. */
static void changes_nothing(const char *const *with, size_t n, const char *true_answers)
{
	struct bsa_imported imported = import(with, n, NULL);
	char *text = answers();

	assert_string_equal(text, true_answers);
	assert_int_equal(imported.impostors, FORGED);
	assert_int_equal(imported.unusable, 0);
	free(text);
}

static void forged_events_change_nothing(void **state)
{
	const char *both[] = { trace("service", service, "0"), trace("client", client, "1000") };
	const char *with[] = { both[0], both[1], trace("forged", forged, "1001") };
	struct bsa_imported imported = import(both, 2, NULL);
	char *text = answers();

	(void)state;
	assert_int_equal(imported.impostors, 0);
	assert_int_equal(imported.executions, 3);
	assert_int_equal(imported.incomplete, 0);
	changes_nothing(with, 3, text);
	has("SELECT uid, impostor_events FROM trace ORDER BY id", "0 0 \n 1000 0 \n 1001 24 \n ");
	has("SELECT key, value FROM meta WHERE key LIKE 'service%'", "service_uid 0 \n ");
	free(text);
}

static void nor_do_they_if_they_come_first(void **state)
{
	char early[sizeof(forged) + sizeof(SERVICE(66)) + sizeof(service)];
	const char *both[] = { trace("service", service, "0"), trace("client", client, "1000") };
	const char *with[] = { both[0], both[1], "" };
	char *text;

	(void)state;
	/* the very same that the service says, before it does; which would be two services of one number, or one run recorded twice */
	snprintf(early, sizeof(early), "%s", "0 service_state pid=66 lanes=1 instance=1\n" SERVED(1, 1));
	with[2] = trace("early", early, "1001");
	import(both, 2, NULL);
	text = answers();
	assert_int_equal(import(with, 3, NULL).impostors, 7);
	has("SELECT uid, impostor_events FROM trace ORDER BY id", "0 0 \n 1000 0 \n 1001 7 \n ");
	free(text);
	text = answers();
	assert_null(strstr(text, "66"));
	free(text);
}

/* It is the buffers that prove it: without them the answers are other ones. */
static void without_users_they_do(void **state)
{
	const char *both[] = { trace("service", service, NULL), trace("client", client, NULL) };
	const char *with[] = {
		both[0], both[1],
		trace("forged", "1200 deadline_miss " EXEC(2) " kind=transient stage=queue deadline_ns=1 over_ns=9\n",
		      NULL)
	};
	char *without, *text;

	(void)state;
	import(both, 2, NULL);
	without = answers();
	assert_int_equal(import(with, 3, NULL).impostors, 0);
	text = answers();
	assert_string_not_equal(text, without);
	has("SELECT count(*) FROM trace WHERE uid IS NULL", "3 \n ");
	free(text);
	free(without);
}

static void of_two_services_that_are_not_roots_one_is_named(void **state)
{
	const char *three[] = { trace("service", service, "990"), trace("client", client, "1000"),
		                trace("forged", forged, "1001") };
	const uint32_t right = 990, wrong = 1001;

	(void)state;
	assert_int_equal(import(three, 3, NULL).impostors, FORGED);
	has("SELECT key, value FROM meta WHERE key LIKE 'service%' ORDER BY key",
	    "service_rival_uid 1001 \n service_uid 990 \n ");
	assert_int_equal(import(three, 3, &right).impostors, FORGED);
	has("SELECT key, value FROM meta WHERE key LIKE 'service%'", "service_uid 990 \n ");
	three[1] = three[2];
	assert_int_equal(import(three, 2, &wrong).impostors, 22); /* all that the service says */
}

static const char *elsewhere(const char *name, const char *lines, const char *uid)
{
	const struct ctf_options options = { .uid = uid,
		                             .host = "elsewhere",
		                             .clock_uuid = "99112233-4455-4677-8899-aabbccddeeff",
		                             .clock_offset = 1000000000 };
	struct ctf_writer *w = ctf_writer_new(folder_at("%s", name), &options);

	ctf_writer_script(w, lines, 1);
	ctf_writer_free(w);
	return folder_at("%s", name);
}

static void append(const char *const *traces, size_t n)
{
	const struct bsa_import_options options = {
		.traces = traces, .n_traces = n, .output = folder_at("db"), .append = true
	};
	struct bsa_imported imported;
	struct bsa_err err = { "" };

	if (bsa_import(&options, &imported, &err))
		fail_msg("%s", err.text);
}

/* Of one machine it is not proven which is the service's, of the other one it is: in one go, or one after the other. */
static void what_is_not_proven_of_a_part_is_not_of_the_whole(void **state)
{
	const char *all[] = { strdup(trace("service", service, "990")), strdup(trace("client", client, "1000")),
		              strdup(trace("forged", forged, "1001")), strdup(elsewhere("service2", service, "0")),
		              strdup(elsewhere("client2", client, "1000")) };
	static const char users[] = "SELECT key, value FROM meta WHERE key LIKE 'service%' ORDER BY key";
	static const char pair[] = "service_rival_uid 1001 \n service_uid 990 \n ";

	(void)state;
	import(all, 5, NULL);
	has(users, pair);
	import(all, 3, NULL);
	append(all + 3, 2);
	has(users, pair);
	import(all + 3, 2, NULL);
	has(users, "service_uid 0 \n ");
	append(all, 3);
	has(users, pair);
	for (size_t i = 0; i < 5; i++)
		free((char *)all[i]);
}

#define T(name) cmocka_unit_test_setup(name, folder_begin)

int main(void)
{
	const struct CMUnitTest all[] = {
		T(forged_events_change_nothing),
		T(nor_do_they_if_they_come_first),
		T(without_users_they_do),
		T(of_two_services_that_are_not_roots_one_is_named),
		T(what_is_not_proven_of_a_part_is_not_of_the_whole),
	};

	return cmocka_run_group_tests(all, folders_make, folders_remove);
}
