/*
 * test_impostors.c -- an app that emits events of the service, or of other apps, changes nothing in a database
 * except the count of impostor events, as long as LTTng keeps its buffers apart from theirs.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>
#include <sqlite3.h>

#include "analyzer/ctf_writer.h"
#include "analyzer/folders.h"
#include "analyzer/script.h"
#include "base.h"
#include "bsa/import.h"

enum { TEXT_MAX = 65536, PATH_SIZE = 512 };

/* ---- the recordings ---- */

enum { FORGED = 24 }; /* events of forged.events */

static const char *trace_of(const char *name, const char *lines, const struct ctf_options *options)
{
	struct ctf_writer *w = ctf_writer_new(folder_at("%s", name), options);

	ctf_writer_script(w, lines, 1);
	ctf_writer_free(w);
	return folder_at("%s", name);
}

/* The events of the file @events in EVENTS, as the trace @name. */
static const char *trace_from(const char *events, const char *name, const struct ctf_options *options)
{
	char path[PATH_SIZE], *lines;
	const char *trace;

	snprintf(path, sizeof(path), EVENTS "/%s.events", events);
	lines = script_read_file(path);
	trace = trace_of(name, lines, options);
	free(lines);
	return trace;
}

static const char *trace(const char *events, const char *uid)
{
	return trace_from(events, events, &(struct ctf_options){ .uid = uid });
}

/* ---- the answers ---- */

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

/* All answers about the recording. Owned by the caller. */
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

static void expect_rows(const char *sql, const char *rows)
{
	char *text = calloc(1, TEXT_MAX);
	sqlite3 *db = NULL;

	assert_int_equal(sqlite3_open_v2(folder_at("db"), &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
	append_rows(db, sql, text);
	sqlite3_close(db);
	assert_string_equal(text, rows);
	free(text);
}

/* The answers must be the same with the forged trace, at any position, in the first and in the second pass. */
static void expect_no_change(const char *const *with, size_t n, const char *true_answers)
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
	const char *both[] = { trace("service", "0"), trace("client", "1000") };
	const char *with[] = { both[0], both[1], trace("forged", "1001") };
	struct bsa_imported imported = import(both, 2, NULL);
	char *text = answers();

	(void)state;
	assert_int_equal(imported.impostors, 0);
	assert_int_equal(imported.executions, 3);
	assert_int_equal(imported.incomplete, 0);
	expect_no_change(with, 3, text);
	expect_rows("SELECT uid, impostor_events FROM trace ORDER BY id", "0 0 \n 1000 0 \n 1001 24 \n ");
	expect_rows("SELECT key, value FROM meta WHERE key LIKE 'service%'", "service_uid 0 \n ");
	free(text);
}

static void forged_events_that_come_first_change_nothing(void **state)
{
	const char *both[] = { trace("service", "0"), trace("client", "1000") };
	const char *with[] = { both[0], both[1], trace("early", "1001") };
	char *text;

	(void)state;
	import(both, 2, NULL);
	text = answers();
	assert_int_equal(import(with, 3, NULL).impostors, 7);
	expect_rows("SELECT uid, impostor_events FROM trace ORDER BY id", "0 0 \n 1000 0 \n 1001 7 \n ");
	free(text);
	text = answers();
	assert_null(strstr(text, "66"));
	free(text);
}

/* The separate buffers prove who emitted an event: with common buffers the answers differ. */
static void forged_events_in_common_buffers_change_answers(void **state)
{
	const char *both[] = { trace("service", NULL), trace("client", NULL) };
	const char *with[] = {
		both[0], both[1],
		trace_of("forged",
		         "1200 deadline_miss exec=0x100003:2 kind=transient stage=queue deadline_ns=1 over_ns=9\n",
		         &(struct ctf_options){ 0 })
	};
	char *without, *text;

	(void)state;
	import(both, 2, NULL);
	without = answers();
	assert_int_equal(import(with, 3, NULL).impostors, 0);
	text = answers();
	assert_string_not_equal(text, without);
	expect_rows("SELECT count(*) FROM trace WHERE uid IS NULL", "3 \n ");
	free(text);
	free(without);
}

static void a_rival_of_the_service_is_named(void **state)
{
	const char *three[] = { trace("service", "990"), trace("client", "1000"), trace("forged", "1001") };
	const uint32_t right = 990, wrong = 1001;

	(void)state;
	assert_int_equal(import(three, 3, NULL).impostors, FORGED);
	expect_rows("SELECT key, value FROM meta WHERE key LIKE 'service%' ORDER BY key",
	            "service_rival_uid 1001 \n service_uid 990 \n ");
	assert_int_equal(import(three, 3, &right).impostors, FORGED);
	expect_rows("SELECT key, value FROM meta WHERE key LIKE 'service%'", "service_uid 990 \n ");
	three[1] = three[2];
	assert_int_equal(import(three, 2, &wrong).impostors, 22); /* all forged events of the service */
}

/* The same events, recorded on another machine. */
static const char *elsewhere(const char *events, const char *name, const char *uid)
{
	return trace_from(events, name,
	                  &(struct ctf_options){ .uid = uid,
	                                         .host = "elsewhere",
	                                         .clock_uuid = "99112233-4455-4677-8899-aabbccddeeff",
	                                         .clock_offset = 1000000000 });
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

/*
 * On one machine the recording does not prove which process is the service, on the other it does: in one pass,
 * or one after the other.
 */
static void a_service_unproven_on_one_machine_is_unproven_in_all(void **state)
{
	const char *all[] = { strdup(trace("service", "990")), strdup(trace("client", "1000")),
		              strdup(trace("forged", "1001")), strdup(elsewhere("service", "service2", "0")),
		              strdup(elsewhere("client", "client2", "1000")) };
	static const char users[] = "SELECT key, value FROM meta WHERE key LIKE 'service%' ORDER BY key";
	static const char pair[] = "service_rival_uid 1001 \n service_uid 990 \n ";

	(void)state;
	import(all, 5, NULL);
	expect_rows(users, pair);
	import(all, 3, NULL);
	append(all + 3, 2);
	expect_rows(users, pair);
	import(all + 3, 2, NULL);
	expect_rows(users, "service_uid 0 \n ");
	append(all, 3);
	expect_rows(users, pair);
	for (size_t i = 0; i < 5; i++)
		free((char *)all[i]);
}

#define T(name) cmocka_unit_test_setup(name, folder_begin)

/* ---- whatever a forger emits ---- */

enum { RANDOM_LINES = 40, RANDOM_ROUNDS = 40 };

static uint64_t next_random(uint64_t *state, uint64_t below)
{
	return (lcg_next(state) >> 33) % below;
}

/* A number of the honest recording, one near these, or one of another instance. */
static unsigned any_number(uint64_t *state)
{
	static const unsigned numbers[] = { 0x100001, 0x100002, 0x100003, 0x100004, 0x700001, 1, 0 };

	return numbers[next_random(state, sizeof(numbers) / sizeof(*numbers))];
}

/* One line of any kind, about any process. */
static void forge_line(FILE *to, uint64_t *state, uint64_t at)
{
	static const char *const of_exec[] = {
		"exec_submit exec=%u:%u model=1048578 path=burst deadline_ns=5us",
		"fmq_write exec=%u:%u queue=request",
		"fmq_read exec=%u:%u queue=result",
		"exec_return exec=%u:%u status=general_failure",
		"exec_client exec=%u:%u began=1 at=1,2,3,4",
		"exec_service exec=%u:%u began=1 at=1,-,2,3,4,5,0,0,0,-",
		"sched_enqueue exec=%u:%u model=1048578 app=20 priority=high",
		"sched_dispatch exec=%u:%u lane=0",
		"exec_end exec=%u:%u lane=0 status=general_failure",
		"deadline_miss exec=%u:%u kind=late stage=returned deadline_ns=1 over_ns=999999",
		"exec_state exec=%u:%u phase=running lane=0",
		"slot_lookup exec=%u:%u slot=1 hit=0",
	};
	static const char *const of_number[] = {
		"service_state pid=66 lanes=4 instance=%u policy=fifo",
		"client_connect conn=%u pid=20 uid=1000 app=20 name=camera",
		"client_connect conn=%u pid=66 uid=1001 app=66 name=other",
		"client_disconnect conn=%u reason=peer_death",
		"model_prepare model=%u conn=1048577 name=forged",
		"model_release model=%u",
		"stream_open stream=%u conn=1048577 path=sync",
		"stream_close stream=%u reason=peer_death",
		"app_span kind=burst_make owner=stream owner_id=%u took_ns=1",
		"app_span kind=connect owner=connection owner_id=%u took_ns=1",
		"deadline_miss exec=0 model=%u stage=returned deadline_ns=1",
		"pool_map owner=stream owner_id=%u slot=3 bytes=99",
	};
	const size_t n_exec = sizeof(of_exec) / sizeof(*of_exec), n = n_exec + sizeof(of_number) / sizeof(*of_number);
	size_t kind = next_random(state, n);
	unsigned number = any_number(state), seq = (unsigned)next_random(state, 5);

	fprintf(to, "%llu ", (unsigned long long)at);
	/* NOLINTNEXTLINE: formats of this table */
	if (kind < n_exec)
		fprintf(to, of_exec[kind], number, seq);
	else
		fprintf(to, of_number[kind - n_exec], kind == n_exec ? number >> 20 : number);
	fputc('\n', to);
}

/* Owned by the caller. */
static char *forge(uint64_t seed)
{
	uint64_t state = seed, at = next_random(&state, 2) ? 1 : 900;
	char *text = NULL;
	size_t bytes;
	FILE *to = open_memstream(&text, &bytes);

	assert_non_null(to);
	for (unsigned i = 0; i < RANDOM_LINES; i++) {
		forge_line(to, &state, at);
		at += next_random(&state, 300);
	}
	fclose(to);
	return text;
}

/* Rows about the honest app, the service and lanes. Forged streams of the impostor's own may have rows. */
static const char *const honest[] = {
	"SELECT e.path, e.status, e.submitted, e.returned, e.dispatched, e.run_ended, e.quality, e.miss, e.sides, "
	"e.deadline, e.e2e_ns, e.seq "
	"FROM execution e JOIN app a ON a.id = e.app_id WHERE a.name = 'camera' ORDER BY e.seq",
	"SELECT s.began, s.ended, s.lane, x.seq FROM lane_slice s JOIN execution x ON x.id = s.execution_id JOIN app a "
	"ON a.id = x.app_id "
	"WHERE a.name = 'camera' ORDER BY 1",
	"SELECT w.began, w.ended, w.cause, x.seq FROM wait w JOIN execution x ON x.id = w.execution_id JOIN app a ON "
	"a.id = x.app_id "
	"WHERE a.name = 'camera' ORDER BY 1",
	"SELECT key, uid, name FROM app WHERE name = 'camera'",
	"SELECT pid, role, name FROM process WHERE name = 'camera' OR role = 'service' ORDER BY pid",
	"SELECT policy, lanes, instance FROM service_rules",
	"SELECT m.number, m.name, m.priority FROM model m WHERE m.number = 1048578",
	"SELECT s.number, s.path, s.closed, s.executions FROM stream s WHERE s.number = 1048579",
	"SELECT x.seq, c.cause, c.late_ns, c.is_primary FROM miss_cause c JOIN execution x ON x.id = c.execution_id "
	"JOIN app a ON a.id = x.app_id "
	"WHERE a.name = 'camera' ORDER BY 1, 2",
	"SELECT a.name, s.received_ns, s.entitled_ns, s.max_lag_ns FROM app_share s JOIN app a ON a.id = s.app_id "
	"WHERE a.name = 'camera'",
	"SELECT model, phase, n, sum_ns FROM phase_stat p JOIN app a ON a.id = p.app_id WHERE a.name = 'camera' ORDER "
	"BY 1, 2",
	"SELECT count(*) FROM loss",
	"SELECT count(*) FROM preemption",
};

static char *honest_rows(void)
{
	char *text = calloc(1, TEXT_MAX);
	sqlite3 *db = NULL;

	assert_non_null(text);
	assert_int_equal(sqlite3_open_v2(folder_at("db"), &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
	for (size_t i = 0; i < sizeof(honest) / sizeof(*honest); i++)
		append_rows(db, honest[i], text);
	sqlite3_close(db);
	return text;
}

/* NNB_SOAK_SECONDS: as many forgeries as fit; NNB_FORGED: that one alone. */
static void honest_rows_stay_with_any_forged_events(void **state)
{
	const char *seconds = getenv("NNB_SOAK_SECONDS"), *one = getenv("NNB_FORGED");
	char *both[] = { strdup(trace("service", "0")), strdup(trace("client", "1000")) };
	const time_t began = time(NULL);
	uint64_t seed = one ? strtoull(one, NULL, 10) : 1, bad = 0;
	const uint32_t root = 0;
	char *truth;

	(void)state;
	import((const char *const *)both, 2, NULL);
	truth = honest_rows();
	for (uint64_t n = 0; seconds ? time(NULL) - began < atoi(seconds) / 2 : n < (one ? 1 : RANDOM_ROUNDS);
	     n++, seed++) {
		char *lines = forge(seed), *rows, name[32];
		const char *with[3] = { both[0], both[1] };

		snprintf(name, sizeof(name), "forged%llu", (unsigned long long)seed);
		with[2] = trace_of(name, lines, &(struct ctf_options){ .uid = "1001" });
		import(with, 3, seed % 2 ? &root : NULL);
		rows = honest_rows();
		if (strcmp(rows, truth)) {
			size_t at = 0;

			while (rows[at] == truth[at])
				at++;
			print_error("NNB_FORGED=%llu: ...%.300s\nnot ...%.300s\n", (unsigned long long)seed,
			            rows + (at > 80 ? at - 80 : 0), truth + (at > 80 ? at - 80 : 0));
			bad++;
		}
		free(rows);
		free(lines);
		assert_true(bad < 3);
	}
	free(truth);
	free(both[0]);
	free(both[1]);
	assert_int_equal(bad, 0);
}

int main(void)
{
	const struct CMUnitTest all[] = {
		T(forged_events_change_nothing),
		T(forged_events_that_come_first_change_nothing),
		T(forged_events_in_common_buffers_change_answers),
		T(a_rival_of_the_service_is_named),
		T(a_service_unproven_on_one_machine_is_unproven_in_all),
		cmocka_unit_test_setup(honest_rows_stay_with_any_forged_events, folder_begin),
	};

	return cmocka_run_group_tests(all, folders_make, folders_remove);
}
