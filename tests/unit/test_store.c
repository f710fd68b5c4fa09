/*
 * test_store.c -- facts become rows: each column of each relation, smallest, largest and unknown, in any
 * order, for any reader.
 */
#include "analyzer/stored.h"

#include <fcntl.h>
#include <inttypes.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define FACT(call, type, ...) facts.call(facts.ctx, &(struct type)__VA_ARGS__)

/* ---- every relation ---- */

/*
 * The database has exactly the relations of schema_doc, and an SQLite without our functions can read all of
 * them.
 */
static void what_is_there_is_described_and_can_be_read_by_anybody(void **state)
{
	const char *path = *state;
	char relations[4096], *save = NULL, sql[256];
	unsigned n = 0;

	stored_finish(stored_new(path, "a", false));
	strcpy(relations, stored_ask(path, "SELECT relation FROM schema_doc WHERE column = ''"));
	for (char *r = strtok_r(relations, "\n", &save); r; r = strtok_r(NULL, "\n", &save), n++) {
		snprintf(sql, sizeof(sql), "SELECT * FROM \"%s\" LIMIT 1", r);
		stored_ask(path, sql);
	}
	assert_int_equal(n, 63);
	assert_rows(
		path,
		"SELECT name FROM sqlite_schema WHERE type IN ('table', 'view') AND name NOT LIKE 'stored!_%' ESCAPE "
		"'!'"
		" AND name NOT LIKE 'sqlite!_%' ESCAPE '!' EXCEPT SELECT relation FROM schema_doc WHERE column = ''",
		"");
	assert_rows(path,
	            "SELECT s.name, i.name FROM sqlite_schema s JOIN pragma_table_info(s.name) i WHERE s.type IN "
	            "('table', 'view')"
	            " AND s.name NOT LIKE 'stored!_%' ESCAPE '!' AND s.name NOT LIKE 'sqlite!_%' ESCAPE '!'"
	            " EXCEPT SELECT relation, column FROM schema_doc",
	            "");
	assert_rows(
		path,
		"SELECT relation, column FROM schema_doc WHERE column <> '' EXCEPT"
		" SELECT r.relation, i.name FROM schema_doc r JOIN pragma_table_info(r.relation) i WHERE r.column = ''",
		"");
	assert_rows(path,
	            "SELECT DISTINCT unit FROM schema_doc WHERE unit NOT IN ('ns', 'time', 'id', 'label', 'count', "
	            "'number',"
	            " 'bytes', '0/1', 'ratio', 'text', '')",
	            "");
	assert_rows(path, "SELECT relation, column FROM schema_doc WHERE about = ''", "");
	/* A column's unit is the one that its name ends with. */
	assert_rows(path,
	            "SELECT relation, column, unit FROM schema_doc WHERE (column LIKE '%!_ns' ESCAPE '!') <> (unit = "
	            "'ns') AND"
	            " (relation, column) NOT IN (VALUES('trace', 'clock_offset'), ('interference', 'ns'))",
	            "");
	assert_rows(path,
	            "SELECT relation, column FROM schema_doc WHERE unit <> 'id' AND (column LIKE '%!_id' ESCAPE '!' OR "
	            "column = 'id')"
	            " AND column <> 'owner_id'",
	            "");
	assert_rows(path, "PRAGMA user_version", "5\n");
	assert_rows(path, "SELECT value FROM meta WHERE key = 'schema_version'", "5\n");
	stored_sound(path);
}

static void what_the_contract_names_is_there(void **state)
{
	static const char *const contract[] = {
		"SELECT key, value FROM meta",
		"SELECT id, uuid, path, host, session, began, ended, events, lost_events, lost_packets, clock, "
		"clock_offset FROM trace",
		"SELECT trace_id, cpu, pid, began, ended, events, packets FROM loss",
		"SELECT id, trace_id, key, uid, name FROM app",
		"SELECT id, trace_id, pid, app_id, role, name FROM process",
		"SELECT id, trace_id, process_id, app_id, name, priority, operations, const_bytes, step_ns, "
		"look_ns, measured_ns, prepare_ns, status FROM model",
		"SELECT id, trace_id, number, path, app_id, model_id, opened, closed, reason FROM stream",
		"SELECT id, trace_id, number, path, app_id, model_id, opened, closed, reason, executions, cold, "
		"first_ns FROM burst",
		"SELECT id, trace_id, stream_id, burst_id, seq, app_id, model_id, priority, path, fallback, submitted, "
		"request_written,"
		" request_read, decoded, fenced, enqueued, dispatched, run_ended, result_written, result_read, "
		"returned, signalled, e2e_ns,"
		" run_ns, redo_ns, cpu_ns, queue_ns, preempted_ns, slots_ns, request_blocked_ns, request_spun_ns, "
		"request_slept_ns,"
		" result_blocked_ns, result_spun_ns, result_slept_ns, slot_lookups, slot_misses, cold, preemptions, "
		"deadline, status, miss,"
		" lateness_ns, bypassed, complete, quality, sides FROM execution",
		"SELECT trace_id, lane, execution_id, began, ended FROM lane_slice",
		"SELECT execution_id, began, ended, kind, lane, occupancy, blocker_id FROM wait",
		"SELECT execution_id, by_execution_id, asked, stopped, resumed, at_op, mode, redo_ns FROM preemption",
		"SELECT execution_id, model_id, at, kind, stage, deadline, estimate_ns, over_ns FROM deadline_miss",
		"SELECT owner, execution_id, model_id, app_id, at, kind, resource, asked, limit_value FROM "
		"resource_exhausted",
		"SELECT execution_id, at, slot, fetch_ns, map_ns FROM slot_miss",
		"SELECT id, stream_id, slot, kind, bytes, mapped, unmapped, took_ns, cause FROM pool_mapping",
		"SELECT owner, kind, n, failed, never_unmapped, bytes, largest, took_ns, took_p50_ns, took_p99_ns, "
		"lived_p50_ns FROM pool_stat",
		"SELECT bytes, pools, at FROM pool_peak",
		"SELECT id, app_id, bytes, roles, allocated, freed FROM buffer",
		"SELECT buffer_id, at, op, bytes, took_ns, status, cause FROM buffer_use",
		"SELECT execution_id, cause, culprit_execution_id, culprit_app_id, budget_ns, late_ns, saved, "
		"is_primary FROM miss_cause",
		"SELECT app_id, model, priority, cause, n, misses, persistent, saved, lost_ns, worst_ns, late_ns, "
		"budget_ns, unsure FROM "
		"miss_stat",
		"SELECT app_id, culprit_app_id, culprit_model, culprit_priority, cause, misses, lost_ns FROM "
		"culprit_stat",
		"SELECT app_id, model_id, priority, cause, culprit_app_id, culprit_model_id, culprit_priority, n, "
		"executions_known, persistent, late_ns, saved, unsure, saved_without_app, unsure_without_app FROM "
		"primary_miss",
		"SELECT execution_id, outcome FROM miss_replay",
		"SELECT execution_id, planned, after_id, stood_ns, delay_ns, lead_ns, met, by_itself FROM late_start",
		"SELECT app_id, model_id, priority, cause, blamed, blamed_app_id, blamed_model_id, blamed_priority, "
		"proved, followed, n, persistent, late_ns, first, last FROM miss_blame",
		"SELECT app_id, model, cause, n, p50_ns FROM short_budget",
		"SELECT victim_id, holder_id, lane, began, dur_ns FROM inversion",
		"SELECT execution_id, app_id, began, gap_ns, bypassed, top_culprit_app_id, top_culprit_ns FROM "
		"starvation",
		"SELECT app_id, received_ns, entitled_ns, ratio, max_lag_ns, max_lag_at FROM app_share",
		"SELECT window_began, app_id, received_ns, entitled_ns, lag_ns FROM app_lag",
		"SELECT by_app_id, app_id, ns FROM interference",
		"SELECT at, chosen_id, passed_over_id, honoured, app_id FROM priority_choice",
		"SELECT execution_id, app_id, model_id, priority, status, complete, run_ns, redo_ns, cpu_ns, "
		"preempted_ns, run_delay_ns FROM involved",
		"SELECT execution_id, phase, began, dur_ns FROM execution_phase",
		"SELECT execution_id, queue, op, at, items, used, blocked_ns, spun_ns, slept_ns FROM fmq_op",
		"SELECT execution_id, at, slot, hit FROM slot_lookup",
		"SELECT execution_id, op, type, began, ended FROM operation",
	};
	const char *path = *state;

	stored_finish(stored_new(path, "a", false));
	for (size_t i = 0; i < N_OF(contract); i++)
		stored_ask(path, contract[i]);
}

/* ---- apps, models, processes ---- */

/* Answers show each app by a label of its own. */
static void apps_of_one_name_are_shown_apart(void **state)
{
	const char *path = *state;
	struct bsa_store *s = stored_new(path, "a", false);
	struct bsa_facts facts = bsa_store_facts(s);

	FACT(app, bsa_app, { .id = 1, .trace = 1, .key = 1000, .name = "camera" });
	FACT(app, bsa_app, { .id = 2, .trace = 1, .key = 1001, .name = "one" });
	FACT(app, bsa_app, { .id = 3, .trace = 1, .key = 1001, .name = "camera" });
	FACT(app, bsa_app, { .id = 4, .trace = 2, .key = 1000, .name = "camera" });
	stored_finish(s);
	assert_rows(path, "SELECT id, shown FROM app",
	            "1|camera (1000, 1)\n2|-\n3|camera (1001)\n4|camera (1000, 4)\n");
}

static void apps_processes_and_rules_have_rows(void **state)
{
	const char *path = *state;
	struct bsa_store *s = stored_new(path, "a", false);
	struct bsa_facts facts = bsa_store_facts(s);

	FACT(app, bsa_app, { .id = 1, .trace = 1, .key = 1000, .uid = 0, .uid_known = true, .name = "camera" });
	FACT(app, bsa_app, { .id = UINT32_MAX, .key = UINT32_MAX, .uid = 7, .name = "" });
	FACT(process, bsa_process, { .id = 1, .trace = 1, .pid = 4711, .role = BSA_ROLE_SERVICE, .name = "nnburstd" });
	FACT(process, bsa_process, { .id = 2, .trace = 1, .pid = UINT32_MAX, .app = 1, .role = BSA_ROLE_CLIENT });
	FACT(rules, bsa_rules,
	     { .at = 10,
	       .trace = 1,
	       .process = 1,
	       .instance = 4095,
	       .policy = 3,
	       .preempt_mode = 2,
	       .lanes = 63,
	       .spin_us = 20,
	       .deadlines = 2 });
	FACT(rules, bsa_rules,
	     { .at = BSA_NEVER,
	       .policy = 5,
	       .preempt_mode = 3,
	       .lanes = 255,
	       .spin_us = UINT32_MAX,
	       .deadlines = 255 });
	FACT(process, bsa_process, { .id = 3, .trace = 1, .pid = 77, .app = 9, .name = "x" });
	stored_finish(s);
	assert_rows(path, "SELECT * FROM app", "1|1|1000|0|camera|-\n4294967295|-|4294967295|-||app 4294967295\n");
	assert_rows(path, "SELECT * FROM process",
	            "1|1|4711|-|service|nnburstd\n2|1|4294967295|1|client|\n3|1|77|9|client|x\n");
	assert_rows(path, "SELECT * FROM service_rules",
	            "1|1|4095|1000010|edf|save|63|20|advise\n-|-|0|-|-|-|255|4294967295|-\n");
	assert_rows(path, "SELECT * FROM trace",
	            "1|a|/trace|here|one|1000005|1000095|-|-|12|0|0|monotonic|1000000|0|0|0|0|0|-|0\n");
}

static void models_have_rows(void **state)
{
	const char *path = *state;
	struct bsa_store *s = stored_new(path, "a", false);
	struct bsa_facts facts = bsa_store_facts(s);

	FACT(model, bsa_model,
	     { .id = 1,
	       .trace = 1,
	       .process = 2,
	       .app = 1,
	       .number = 0xabc00001,
	       .const_bytes = UINT64_MAX - 1,
	       .step_ns = 5,
	       .look_ns = 4,
	       .estimate_ns = 6,
	       .measured_ns = 3,
	       .prepare_ns = 7,
	       .prepared = 8,
	       .released = 9,
	       .deadline = 11,
	       .digest = UINT32_MAX,
	       .operations = UINT16_MAX,
	       .priority = BSA_PRIORITY_HIGH,
	       .status = 9,
	       .name = "mobilenet" });
	FACT(model, bsa_model,
	     { .id = 2,
	       .const_bytes = BSA_NEVER,
	       .step_ns = BSA_NEVER,
	       .look_ns = BSA_NEVER,
	       .estimate_ns = BSA_NEVER,
	       .measured_ns = BSA_NEVER,
	       .prepare_ns = BSA_NEVER,
	       .prepared = BSA_NEVER,
	       .released = BSA_NEVER,
	       .priority = 255,
	       .status = 255 });
	stored_finish(s);
	assert_rows(path, "SELECT * FROM model",
	            "1|1|2|1|mobilenet|high|65535|9223372036854775807|5|7|DEAD_OBJECT|2881486849|6|1000008|1000009|"
	            "1000011|4294967295|4|3\n"
	            "2|-|-|-||-|0|-|-|-|-|-|-|-|-|-|-|-|-\n");
}

static void streams_and_bursts_have_rows(void **state)
{
	const char *path = *state;
	struct bsa_store *s = stored_new(path, "a", false);
	struct bsa_facts facts = bsa_store_facts(s);

	FACT(stream, bsa_stream,
	     { .id = 1,
	       .trace = 1,
	       .number = 0xabc00001,
	       .app = 1,
	       .model = 1,
	       .process = 2,
	       .path = BSA_PATH_BURST,
	       .opened = 10,
	       .closed = 90,
	       .reason = 1,
	       .executions = 3,
	       .cold = 1,
	       .first = 25,
	       .last = 85,
	       .spin_us = 20,
	       .client_spin_us = UINT32_MAX,
	       .cache = 1 });
	FACT(stream, bsa_stream,
	     { .id = 2,
	       .number = UINT32_MAX,
	       .path = BSA_PATH_ASYNC,
	       .opened = BSA_NEVER,
	       .closed = BSA_NEVER,
	       .reason = 255,
	       .executions = BSA_NEVER,
	       .cold = BSA_NEVER,
	       .first = BSA_NEVER,
	       .last = BSA_NEVER,
	       .spin_us = UINT32_MAX,
	       .client_spin_us = 8,
	       .cache = 255 });
	stored_finish(s);
	assert_rows(path, "SELECT * FROM stream",
	            "1|1|2881486849|burst|1|1|1000010|1000090|peer_death|2|3|slots|20|1000085\n2|-|4294967295|async|-|-"
	            "|-|-|-|-"
	            "|-|-|-|-\n");
	assert_rows(path, "SELECT * FROM burst",
	            "1|1|2881486849|burst|1|1|1000010|1000090|peer_death|2|3|1|15|20|-|slots\n");
}

static void spans_and_losses_have_rows(void **state)
{
	const char *path = *state;
	struct bsa_store *s = stored_new(path, "a", false);
	struct bsa_facts facts = bsa_store_facts(s);

	FACT(spanned, bsa_spanned,
	     { .trace = 1,
	       .began = 30,
	       .ended = 35,
	       .value = 7,
	       .app = 1,
	       .process = 2,
	       .stream = 1,
	       .kind = BSA_SPAN_BURST_MAKE });
	FACT(spanned, bsa_spanned, { .trace = 1, .began = 36, .ended = 36, .pid = 77, .kind = 4, .status = 9 });
	FACT(process, bsa_process, { .id = 3, .trace = 1, .pid = 77, .app = 9, .name = "x" });
	FACT(lost, bsa_lost,
	     { .trace = 1,
	       .began = 20,
	       .ended = 30,
	       .events = 4,
	       .packets = 1,
	       .cpu = 0,
	       .pid = 4711,
	       .cause = BSA_LOSS_PACKETS });
	FACT(lost, bsa_lost,
	     { .trace = 1,
	       .began = 40,
	       .ended = 50,
	       .events = BSA_NEVER,
	       .packets = BSA_NEVER,
	       .cpu = UINT32_MAX,
	       .cause = BSA_LOSS_GAP });
	stored_finish(s);
	assert_rows(path, "SELECT * FROM span",
	            "burst_make|1|2|-|1|1000030|5|7|NONE|1\npool_make|9|-|77|-|1000036|0|0|DEAD_OBJECT|1\n");
	assert_rows(path, "SELECT * FROM loss",
	            "1|0|4711|1000020|1000030|4|1|packets\n1|-|-|1000040|1000050|-|-|gap\n");
}

static void a_fact_that_comes_again_replaces_the_first(void **state)
{
	const char *path = *state;
	struct bsa_store *s = stored_new(path, "a", false);
	struct bsa_facts facts = bsa_store_facts(s);
	struct bsa_trace_row trace = { .id = 1,
		                       .uuid = "a",
		                       .path = "/trace",
		                       .began = 5,
		                       .ended = 99,
		                       .recorded_until = 120,
		                       .over_by = 250,
		                       .events = 77,
		                       .lost_events = 3,
		                       .lost_packets = BSA_NEVER,
		                       .foreign = 2,
		                       .unusable = 1,
		                       .cut = true,
		                       .boottime_known = true,
		                       .boottime = INT64_MAX,
		                       .clock_offset = OFFSET };

	for (unsigned i = 0; i < 1000; i++) { /* more than a batch */
		FACT(app, bsa_app, { .id = 1, .key = i });
		FACT(process, bsa_process, { .id = 1, .pid = i });
		FACT(model, bsa_model, { .id = 1, .number = i });
		FACT(stream, bsa_stream, { .id = 1, .number = i });
		FACT(mapping, bsa_mapping, { .id = 1, .bytes = i });
		FACT(buffer, bsa_buffer, { .id = 1, .bytes = i });
	}
	assert_int_equal(bsa_store_trace(s, &trace, NULL), 0);
	stored_finish(s);
	assert_rows(path,
	            "SELECT key, pid, m.number, s.number, p.bytes, b.bytes FROM app, process, model m, stream s, "
	            "pool_mapping p, buffer b",
	            "999|999|999|999|999|999\n");
	assert_rows(
		path, "SELECT * FROM trace",
		"1|a|/trace|-|-|1000005|1000099|1000120|1000250|77|3|-|-|1000000|2|1|1|0|0|4611686018427387904|0\n");
}

static void names_are_text_for_readers_that_insist(void **state)
{
	static const struct {
		const char *said, *stored;
	} names[] = {
		{ "plain", "plain" },
		{ "\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80", "\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80" },
		{ "cut \xe2\x82", "cut ??" },
		{ "\xff\xfe", "??" },
		{ "\xc0\xaf long form", "?? long form" },
		{ "\xed\xa0\x80 surrogate", "??? surrogate" },
		{ "\xf5\x80\x80\x80 beyond", "???? beyond" },
		{ "'; DROP TABLE app; --", "'; DROP TABLE app; --" },
	};
	const char *path = *state;
	struct bsa_store *s = stored_new(path, "a", false);
	struct bsa_facts facts = bsa_store_facts(s);
	char sql[64], row[80];

	for (uint32_t i = 0; i < N_OF(names); i++) {
		struct bsa_app app = { .id = i + 1 };

		strcpy(app.name, names[i].said);
		facts.app(facts.ctx, &app);
	}
	stored_finish(s);
	for (size_t i = 0; i < N_OF(names); i++) {
		snprintf(sql, sizeof(sql), "SELECT name FROM app WHERE id = %zu", i + 1);
		snprintf(row, sizeof(row), "%s\n", names[i].stored);
		assert_rows(path, sql, row);
	}
}

/* ---- executions ---- */

#define TIMES                                                                                                     \
	"SELECT id, submitted, request_written, request_read, decoded, fenced, enqueued, dispatched, run_ended, " \
	"result_written, result_read,"                                                                            \
	" returned, signalled FROM execution"
#define DURATIONS "SELECT id, e2e_ns, run_ns, redo_ns, cpu_ns, queue_ns, preempted_ns, slots_ns FROM execution"
#define WAITED                                                                                              \
	"SELECT request_blocked_ns, request_spun_ns, request_slept_ns, result_blocked_ns, result_spun_ns, " \
	"result_slept_ns FROM execution"
#define NAMES                                                                                                   \
	"SELECT trace_id, stream_id, burst_id, seq, app_id, model_id, priority, path, fallback, slot_lookups, " \
	"slot_misses, cold, preemptions,"                                                                       \
	" deadline, status, miss, lateness_ns, bypassed, complete, quality, sides, lane, missed_at FROM execution"

static void a_warm_burst_on_an_idle_lane(void **state)
{
	const char *path = *state;
	struct bsa_store *s = stored_new(path, "a", false);
	struct bsa_facts facts = bsa_store_facts(s);
	struct bsa_execution x = stored_warm(1, 100);

	FACT(stream, bsa_stream, { .id = 1, .trace = 1, .number = 0xabc00001 });
	x.request = (struct bsa_waited){ 1, 2, 3 };
	x.result = (struct bsa_waited){ 4, 5, 6 };
	x.cpu = 59;
	x.deadline = 1000;
	x.floor = 57;
	x.reference = 61;
	facts.execution(facts.ctx, &x);
	stored_finish(s);

	assert_rows(path, "SELECT floor_ns, reference_ns FROM execution", "57|61\n");
	assert_rows(path, TIMES,
	            "1|1000100|1000110|1000130|1000160|-|1000200|1000250|1000310|1000380|1000460|1000550|-\n");
	assert_rows(path, DURATIONS, "1|450|60|0|59|50|0|40\n");
	assert_rows(path, WAITED, "1|2|3|4|5|6\n");
	assert_rows(path, NAMES, "1|1|1|1|1|1|medium|burst|0|2|0|0|0|1001000|NONE|-|-|0|1|complete|both|0|-\n");
	assert_rows(path, "SELECT exec FROM execution", "-6070852293400461311\n"); /* 0xabc0000100000001 */
	assert_rows(
		path, "SELECT * FROM execution_phase",
		"1|prepare|1000100|10\n1|send|1000110|20\n1|decode|1000130|30\n1|slots|1000160|40\n1|queue|1000200|50\n"
		"1|run|1000250|60\n1|reply|1000310|70\n1|return|1000380|80\n1|finish|1000460|90\n");
	assert_rows(path, "SELECT * FROM wait", "1|1000200|1000250|queue|0|idle|-|-|handover|-\n");
	assert_rows(path, "SELECT * FROM lane_slice", "1|0|1|1000250|1000310|2748\n");
	assert_rows(path, "SELECT count(*) FROM stored_phases", "0\n"); /* the execution takes one row */
	assert_rows(path, "SELECT * FROM meta WHERE key IN ('executions', 'incomplete', 'missed') ORDER BY key",
	            "executions|1\nincomplete|0\nmissed|0\n");
}

static void one_of_which_nothing_is_known(void **state)
{
	const char *path = *state;
	struct bsa_store *s = stored_new(path, "a", false);
	struct bsa_facts facts = bsa_store_facts(s);
	struct bsa_execution x = stored_unknown(7);

	facts.execution(facts.ctx, &x);
	stored_finish(s);
	assert_rows(path, TIMES, "7|-|-|-|-|-|-|-|-|-|-|-|-\n");
	assert_rows(path, "SELECT floor_ns, reference_ns FROM execution", "-|-\n");
	assert_rows(path, DURATIONS, "7|-|-|-|-|-|-|-\n");
	assert_rows(path, WAITED, "-|-|-|-|-|-\n");
	assert_rows(path, NAMES, "-|-|-|7|-|-|-|-|-|0|0|-|0|-|-|-|-|0|0|open|both|-|-\n");
	assert_rows(path, "SELECT * FROM execution_phase", "");
	assert_rows(path, "SELECT * FROM wait", "");
	assert_rows(path, "SELECT * FROM lane_slice", "");
	assert_rows(path, "SELECT * FROM phase_stat", "");
	assert_rows(path, "SELECT value FROM meta WHERE key = 'incomplete'", "1\n");
}

/*
 * Numbers that a broken or hostile trace may have: the store bounds them so that sums in queries stay
 * numbers.
 */
static void one_of_which_everything_is_too_much(void **state)
{
	const char *path = *state;
	struct bsa_store *s = stored_new(path, "a", false);
	struct bsa_facts facts = bsa_store_facts(s);
	struct bsa_execution x = stored_warm(INT64_MAX, 0);

	for (unsigned i = 0; i < BSA_BOUNDARIES; i++)
		x.at[i] = BSA_NEVER - 1;
	for (unsigned i = 0; i < BSA_PHASES; i++)
		x.phase[i] = BSA_NEVER - 1;
	x.at[BSA_SUBMITTED] = 0;
	x.exec = UINT64_MAX;
	x.e2e = x.run = x.redo = x.cpu = x.queue = x.preempted = x.slots = BSA_NEVER - 1;
	x.request = x.result = (struct bsa_waited){ BSA_NEVER - 1, BSA_NEVER - 1, BSA_NEVER - 1 };
	x.deadline = x.estimate = x.floor = x.reference = BSA_NEVER - 1;
	x.missed_at = 0;
	x.lateness = INT64_MIN + 1;
	x.trace = x.stream = x.app = x.model = UINT32_MAX;
	x.lookups = x.misses = x.preemptions = x.bypassed = BSA_COUNT_UNKNOWN - 1;
	x.path = BSA_PATH_ASYNC;
	x.priority = BSA_PRIORITY_HIGH;
	x.fallback = 1;
	x.status = 9;
	x.miss = BSA_MISS_LATE;
	x.sides = BSA_SIDES_CLIENT;
	x.cold = 1;
	x.lane = 63;
	facts.execution(facts.ctx, &x);
	stored_finish(s);
#define MOST "4611686018427387904"
	assert_rows(path, TIMES,
	            "9223372036854775807|1000000|" MOST "|" MOST "|" MOST "|" MOST "|" MOST "|" MOST "|" MOST "|" MOST
	            "|" MOST "|" MOST "|" MOST "\n");
	assert_rows(path, DURATIONS, "9223372036854775807|" MOST "|" MOST "|-|" MOST "|" MOST "|" MOST "|" MOST "\n");
	assert_rows(path, WAITED, MOST "|" MOST "|" MOST "|" MOST "|" MOST "|" MOST "\n");
	assert_rows(path, "SELECT floor_ns, reference_ns FROM execution", MOST "|" MOST "\n");
	assert_rows(path, NAMES,
	            "4294967295|4294967295|-|4294967295|4294967295|4294967295|high|async|1|4294967294|4294967294|1|"
	            "4294967294|" MOST "|DEAD_OBJECT|late|-" MOST "|4294967294|1|complete|client|63|1000000\n");
	assert_rows(path, "SELECT phase, dur_ns FROM execution_phase WHERE phase = 'queue'", "queue|" MOST "\n");
	stored_sound(path);
}

/* Invalid labels in the packed numbers do not change the numbers beside them. */
static void invalid_names_are_unknown(void **state)
{
	const char *path = *state;
	struct bsa_store *s = stored_new(path, "a", false);
	struct bsa_facts facts = bsa_store_facts(s);
	struct bsa_execution x = stored_warm(1, 100);

	x.path = 9;
	x.priority = 77;
	x.fallback = 200;
	x.status = 33;
	x.quality = 99;
	x.cold = 5;
	x.lane = 1000;
	facts.execution(facts.ctx, &x);
	stored_finish(s);
	assert_rows(path, NAMES, "1|1|-|1|1|1|-|-|-|2|0|-|0|-|-|-|-|0|0|-|both|-|-\n");
}

/* Execution 1. */
static struct bsa_execution fenced_and_answered(void)
{
	struct bsa_execution x = stored_warm(1, 100);

	x.path = BSA_PATH_FENCED;
	x.cold = -1;
	x.at[BSA_FENCED] = 165;
	x.phase[BSA_FENCE] = 5;
	x.phase[BSA_SLOTS] = x.slots = 35;
	x.phase[BSA_REPLY] = x.phase[BSA_RETURN] = x.phase[BSA_FINISH] = 0;
	x.at[BSA_SIGNALLED] = 333;
	x.phase[BSA_SIGNAL] = 23;
	x.e2e = 233;
	x.at[BSA_RESULT_WRITTEN] = 140; /* the answer of the launch: even before the execution was decoded */
	return x;
}

/* Execution 2: the open phase ends with the refusal. */
static struct bsa_execution refused_at_admission(void)
{
	struct bsa_execution x = stored_warm(2, 100);

	x.at[BSA_ENQUEUED] = x.at[BSA_DISPATCHED] = BSA_NEVER;
	x.phase[BSA_SLOTS] = x.slots = 150;
	x.phase[BSA_QUEUE] = x.queue = x.phase[BSA_RUN] = x.run = 0;
	x.status = BSA_STATUS_MISSED_DEADLINE_PERSISTENT;
	x.lane = -1;
	x.idle = false;
	return x;
}

/* Execution 3. */
static struct bsa_execution preempted_once(void)
{
	struct bsa_execution x = stored_warm(3, 100);

	x.phase[BSA_PREEMPTED] = x.preempted = 25;
	x.phase[BSA_RUN] = x.run = 35;
	x.preemptions = 1;
	x.lane = -1;
	x.idle = false;
	return x;
}

/* The waits, the slices and the preemption of execution 3. */
static void report_preemption(struct bsa_facts facts)
{
	FACT(wait, bsa_wait,
	     { .execution = 3,
	       .began = 200,
	       .ended = 250,
	       .kind = BSA_WAIT_QUEUE,
	       .occupancy = BSA_IDLE,
	       .cause = BSA_HANDOVER });
	FACT(wait, bsa_wait,
	     { .execution = 3,
	       .began = 270,
	       .ended = 295,
	       .kind = BSA_WAIT_PREEMPTED,
	       .lane = 63,
	       .occupancy = BSA_HELD,
	       .cause = BSA_CAUSE_PREEMPTED,
	       .blocker = 9,
	       .blocker_app = 2 });
	FACT(slice, bsa_slice,
	     { .execution = 3, .began = 250, .ended = 270, .trace = 1, .instance = 2748, .lane = 63 });
	FACT(slice, bsa_slice,
	     { .execution = 3, .began = 295, .ended = 310, .trace = 1, .instance = 2748, .lane = 63 });
	FACT(preemption, bsa_preemption,
	     { .execution = 3,
	       .by = 9,
	       .asked = 268,
	       .stopped = 270,
	       .resumed = 295,
	       .at_op = 4,
	       .mode = 1,
	       .lane = 63,
	       .redo = 7 });
}

/* Execution 4: the client was not recorded. */
static struct bsa_execution seen_by_the_service(void)
{
	struct bsa_execution x = stored_warm(4, 100);

	x.sides = BSA_SIDES_SERVICE;
	x.at[BSA_SUBMITTED] = x.at[BSA_REQUEST_WRITTEN] = x.at[BSA_RESULT_READ] = x.at[BSA_RETURNED] = BSA_NEVER;
	x.phase[BSA_PREPARE] = x.phase[BSA_SEND] = x.phase[BSA_RETURN] = x.phase[BSA_FINISH] = BSA_NEVER;
	x.e2e = 250;
	return x;
}

/* Execution 5: the service was not recorded. */
static struct bsa_execution seen_by_the_client(void)
{
	struct bsa_execution x = stored_unknown(5);

	x.sides = BSA_SIDES_CLIENT;
	x.path = BSA_PATH_SYNC;
	x.at[BSA_SUBMITTED] = 100;
	x.at[BSA_RETURNED] = 550;
	x.e2e = 450;
	x.quality = BSA_QUALITY_COMPLETE;
	return x;
}

/* Execution 6: the boundaries are known, the time between them is not. */
static struct bsa_execution with_a_loss_inside(void)
{
	struct bsa_execution x = stored_warm(6, 100);

	x.phase[BSA_RUN] = x.run = x.phase[BSA_PREEMPTED] = x.preempted = BSA_NEVER;
	x.quality = BSA_QUALITY_GAP;
	x.lane = -1;
	x.idle = false;
	return x;
}

/*
 * One execution of each path and side, with phases from the fold. Where the boundaries give other phases, the
 * fold's phases are stored.
 */
static void phases_are_those_of_the_facts(void **state)
{
	const struct bsa_execution x[] = { fenced_and_answered(), refused_at_admission(), preempted_once(),
		                           seen_by_the_service(), seen_by_the_client(),   with_a_loss_inside() };
	const char *path = *state;
	struct bsa_store *s = stored_new(path, "a", false);
	struct bsa_facts facts = bsa_store_facts(s);

	for (size_t i = 0; i < N_OF(x); i++)
		facts.execution(facts.ctx, &x[i]);
	report_preemption(facts);
	stored_finish(s);

	assert_rows(path, DURATIONS,
	            "1|233|60|0|-|50|0|35\n2|450|0|0|-|0|0|150\n3|450|35|0|-|50|25|40\n4|250|60|0|-|50|0|40\n5|450|-|-|"
	            "-|-|-|-\n"
	            "6|450|-|0|-|50|-|40\n");
	assert_rows(path, "SELECT phase, began, dur_ns FROM execution_phase WHERE execution_id = 1",
	            "prepare|1000100|10\nsend|1000110|20\ndecode|1000130|30\nfence|1000160|5\nslots|1000165|35\nqueue|"
	            "1000200|50\nrun|1000250|60\n"
	            "signal|1000310|23\n");
	assert_rows(path, "SELECT phase, began, dur_ns FROM execution_phase WHERE execution_id = 2",
	            "prepare|1000100|10\nsend|1000110|20\ndecode|1000130|30\nslots|1000160|150\nreply|1000310|"
	            "70\nreturn|1000380|80\n"
	            "finish|1000460|90\n");
	assert_rows(path,
	            "SELECT phase, began, dur_ns FROM execution_phase WHERE execution_id = 3 AND phase IN ('run', "
	            "'preempted')",
	            "run|1000250|35\npreempted|1000270|25\n");
	assert_rows(path, "SELECT phase FROM execution_phase WHERE execution_id = 4",
	            "decode\nslots\nqueue\nrun\nreply\n");
	assert_rows(path, "SELECT phase FROM execution_phase WHERE execution_id = 5", "");
	assert_rows(path, "SELECT sum(dur_ns) FROM execution_phase WHERE execution_id = 6", "390\n");
	assert_rows(path,
	            "SELECT id, prepare_ns, send_ns, decode_ns, fence_ns, reply_ns, return_ns, finish_ns, signal_ns "
	            "FROM execution"
	            " WHERE id IN (1, 2, 4)",
	            "1|10|20|30|5|0|0|0|23\n2|10|20|30|0|70|80|90|0\n4|-|-|30|0|70|-|-|0\n");
	assert_rows(path,
	            "SELECT x.id FROM execution x WHERE complete AND sides = 'both' AND e2e_ns <> "
	            "(SELECT sum(dur_ns) FROM execution_phase p WHERE p.execution_id = x.id)",
	            "");
	assert_rows(
		path, "SELECT * FROM wait WHERE execution_id = 3",
		"3|1000200|1000250|queue|0|idle|-|-|handover|-\n3|1000270|1000295|preempted|63|held|9|2|preempted|-\n");
	assert_rows(path, "SELECT execution_id, lane, began, ended FROM lane_slice ORDER BY 1, 3",
	            "1|0|1000250|1000310\n3|63|1000250|1000270\n3|63|1000295|1000310\n4|0|1000250|1000310\n");
	assert_rows(path, "SELECT * FROM preemption", "3|9|1000268|1000270|1000295|4|restart|7|63\n");
	/* Only phases that the boundaries do not give take a row more. */
	assert_rows(path, "SELECT execution_id FROM stored_phases", "2\n5\n");
}

/* ---- everything else ---- */

static void waits_and_preemptions_of_which_little_is_known(void **state)
{
	const char *path = *state;
	struct bsa_store *s = stored_new(path, "a", false);
	struct bsa_facts facts = bsa_store_facts(s);

	FACT(wait, bsa_wait,
	     { .execution = 1,
	       .began = 1,
	       .ended = 2,
	       .lane = 255,
	       .occupancy = BSA_UNKNOWN,
	       .cause = BSA_CAUSE_UNKNOWN });
	FACT(preemption, bsa_preemption,
	     { .execution = 1,
	       .asked = BSA_NEVER,
	       .stopped = BSA_NEVER,
	       .resumed = BSA_NEVER,
	       .redo = BSA_NEVER,
	       .at_op = UINT16_MAX,
	       .mode = 9,
	       .lane = 255 });
	stored_finish(s);
	assert_rows(path, "SELECT * FROM wait", "1|1000001|1000002|queue|-|unknown|-|-|unknown|-\n");
	assert_rows(path, "SELECT * FROM preemption", "1|-|-|-|-|65535|-|-|255\n");
}

static void missed_deadlines_and_refusals(void **state)
{
	const char *path = *state;
	struct bsa_store *s = stored_new(path, "a", false);
	struct bsa_facts facts = bsa_store_facts(s);

	FACT(deadline_missed, bsa_deadline_missed,
	     { .execution = 1,
	       .at = 10,
	       .deadline = 20,
	       .estimate = 30,
	       .over = -5,
	       .model = 2,
	       .trace = 1,
	       .kind = 1,
	       .stage = 4 });
	FACT(deadline_missed, bsa_deadline_missed,
	     { .at = 10, .estimate = BSA_NEVER, .over = INT64_MAX, .kind = 3, .stage = 7 });
	FACT(refused, bsa_refused,
	     { .execution = 1,
	       .lane_free = 40,
	       .held_until = 40,
	       .holder = 2,
	       .holder_app = 3,
	       .holder_cause = BSA_HOGGED,
	       .queue_free = 50,
	       .queue_cause = BSA_QUEUED_BEHIND,
	       .queue = 5,
	       .queue_app = 6,
	       .own_ns = 7,
	       .others_ns = BSA_NEVER });
	FACT(refused, bsa_refused,
	     { .execution = 2,
	       .lane_free = BSA_NEVER,
	       .held_until = 30,
	       .holder_cause = BSA_CAUSE_UNKNOWN,
	       .queue_free = BSA_NEVER,
	       .queue_cause = BSA_CROWDED_OUT });
	stored_finish(s);
	assert_rows(path, "SELECT * FROM deadline_miss",
	            "1|2|1000010|persistent|done|1000020|30|-5|1\n-|-|1000010|-|-|-|-|4611686018427387904|-\n");
	assert_rows(path, "SELECT * FROM refusal",
	            "1|1000040|1000040|2|3|hogged|1000050|queued_behind|5|6|7|-\n2|-|1000030|-|-|unknown|-|crowded_out|"
	            "-|-|0|0\n");
}

/*
 * The queue of a refused execution is divided by the lanes of its own service: an execution of a service with one lane
 * that had room for its own run only, beside a service with @lanes.
 */
static void refused_beside(const char *path, uint8_t lanes)
{
	struct bsa_store *s = stored_new(path, "a", false);
	struct bsa_facts facts = bsa_store_facts(s);
	struct bsa_execution x = refused_at_admission();

	FACT(app, bsa_app, { .id = 1, .trace = 1, .key = 1, .name = "app" });
	FACT(app, bsa_app, { .id = 2, .trace = 1, .key = 2, .name = "app" });
	FACT(process, bsa_process, { .id = 1, .trace = 1, .role = BSA_ROLE_SERVICE, .name = "nnburstd" });
	FACT(process, bsa_process, { .id = 2, .trace = 1, .role = BSA_ROLE_SERVICE, .name = "nnburstd" });
	FACT(rules, bsa_rules, { .at = 1, .trace = 1, .process = 1, .instance = 0xabc, .policy = 2, .lanes = 1 });
	FACT(rules, bsa_rules, { .at = 1, .trace = 1, .process = 2, .instance = 0xdef, .policy = 2, .lanes = lanes });
	FACT(stream, bsa_stream, { .id = 1, .trace = 1, .number = 0xabc00001 });
	x.app = 1;
	x.estimate = 500;
	x.deadline = x.at[BSA_SUBMITTED] + 1000;
	x.miss = BSA_MISS_PREDICTED;
	x.lateness = -550; /* when it was answered */
	facts.execution(facts.ctx, &x);
	FACT(refused, bsa_refused,
	     { .execution = x.id,
	       .lane_free = x.at[BSA_RUN_ENDED],
	       .holder_cause = BSA_CAUSE_UNKNOWN,
	       .queue_free = x.at[BSA_RUN_ENDED] + 900,
	       .queue_cause = BSA_CROWDED_OUT,
	       .others_ns = 900 });
	stored_finish(s);
}

static void a_refusal_is_judged_by_the_lanes_of_its_service(void **state)
{
	for (uint8_t lanes = 1; lanes <= 2; lanes++) {
		refused_beside(*state, lanes);
		assert_rows(*state,
		            "SELECT count(*) FILTER (WHERE cause = 'crowded_out'), count(*) FILTER (WHERE cause = "
		            "'unknown') FROM miss_cause WHERE late_ns > 0",
		            "1|0\n");
		unlink(*state);
	}
}

static void exhausted_resources(void **state)
{
	const char *path = *state;
	struct bsa_store *s = stored_new(path, "a", false);
	struct bsa_facts facts = bsa_store_facts(s);
	struct bsa_execution x = stored_unknown(7);

	FACT(exhausted, bsa_exhausted,
	     { .execution = 1,
	       .owner_id = UINT64_MAX,
	       .at = 10,
	       .asked = UINT64_MAX - 1,
	       .limit = 0,
	       .model = 2,
	       .app = 3,
	       .trace = 1,
	       .owner = 4,
	       .kind = 1,
	       .resource = 4 });
	FACT(exhausted, bsa_exhausted, { .at = 11, .owner = 7, .kind = 2, .resource = 8 });
	FACT(exhausted, bsa_exhausted, { .execution = 7, .at = 12 }); /* the other columns come from the execution */
	x.model = 8;
	x.app = 9;
	facts.execution(facts.ctx, &x);
	stored_finish(s);
	assert_rows(path, "SELECT * FROM resource_exhausted",
	            "service|1|2|3|1000010|persistent|streams|9223372036854775807|0|-1|1\n-|-|-|-|"
	            "1000011|-|-|0|0|0|-\n"
	            "model|7|8|9|1000012|transient|memory|0|0|0|-\n");
}

static void slot_misses_and_mappings(void **state)
{
	const char *path = *state;
	struct bsa_store *s = stored_new(path, "a", false);
	struct bsa_facts facts = bsa_store_facts(s);

	FACT(slot_missed, bsa_slot_missed, { .execution = 1, .at = 1, .fetch_ns = 2, .map_ns = 3, .slot = INT32_MAX });
	FACT(slot_missed, bsa_slot_missed,
	     { .execution = 1, .at = 1, .fetch_ns = BSA_NEVER, .map_ns = BSA_NEVER, .slot = INT32_MIN });
	FACT(mapping, bsa_mapping,
	     { .id = 1,
	       .trace = 1,
	       .bytes = 4096,
	       .mapped = 1,
	       .unmapped = 2,
	       .took = 3,
	       .owner_id = 5,
	       .stream = 4,
	       .slot = 0,
	       .owner = 1,
	       .kind = 4,
	       .status = 8,
	       .cause = 1 });
	FACT(mapping, bsa_mapping,
	     { .id = 2,
	       .bytes = BSA_NEVER,
	       .mapped = BSA_NEVER,
	       .unmapped = BSA_NEVER,
	       .took = BSA_NEVER,
	       .owner = 9,
	       .kind = 9,
	       .status = 255,
	       .cause = 255 });
	stored_finish(s);
	assert_rows(path, "SELECT * FROM slot_miss", "1|1000001|2147483647|2|3\n1|1000001|-2147483648|-|-\n");
	assert_rows(path, "SELECT * FROM pool_mapping",
	            "1|4|0|device|4096|1000001|1000002|3|evicted|1|stream|5|RESOURCE_EXHAUSTED_PERSISTENT\n2|-|0|-|-|-|"
	            "-|-|-|-|-|0|-\n");
}

static void buffers_and_their_uses(void **state)
{
	const char *path = *state;
	struct bsa_store *s = stored_new(path, "a", false);
	struct bsa_facts facts = bsa_store_facts(s);

	FACT(buffer, bsa_buffer,
	     { .id = 1,
	       .trace = 1,
	       .app = 2,
	       .number = 3,
	       .bytes = 4,
	       .allocated = 5,
	       .freed = 6,
	       .roles = 7,
	       .status = 0,
	       .cause = 2 });
	FACT(buffer, bsa_buffer,
	     { .id = 2, .bytes = BSA_NEVER, .allocated = BSA_NEVER, .freed = BSA_NEVER, .status = 255, .cause = 255 });
	FACT(buffer_used, bsa_buffer_used,
	     { .buffer = 1,
	       .execution = 2,
	       .at = 3,
	       .bytes = 4,
	       .took = 5,
	       .op = BSA_BUFFER_REJECT,
	       .status = 4,
	       .cause = 3 });
	FACT(buffer_used, bsa_buffer_used,
	     { .buffer = 1,
	       .at = 3,
	       .bytes = BSA_NEVER,
	       .took = BSA_NEVER,
	       .op = BSA_BUFFER_TO,
	       .status = 255,
	       .cause = 255 });
	stored_finish(s);
	assert_rows(path, "SELECT * FROM buffer", "1|2|4|7|1000005|1000006|1|3|NONE|owner_end\n2|-|-|0|-|-|-|-|-|-\n");
	assert_rows(path, "SELECT * FROM buffer_use",
	            "1|1000003|reject|4|5|INVALID_ARGUMENT|dimensions|2\n1|1000003|to|-|-|-|-|-\n");
}

static void queues_lookups_and_operations(void **state)
{
	const char *path = *state;
	struct bsa_store *s = stored_new(path, "a", false);
	struct bsa_facts facts = bsa_store_facts(s);

	FACT(fmq_op, bsa_fmq_op,
	     { .execution = 1,
	       .at = 2,
	       .blocked = 3,
	       .spun = 4,
	       .slept = 5,
	       .items = 6,
	       .used = 7,
	       .queue = 3,
	       .write = 1 });
	FACT(fmq_op, bsa_fmq_op,
	     { .execution = 1,
	       .at = 2,
	       .blocked = BSA_NEVER,
	       .spun = BSA_NEVER,
	       .slept = BSA_NEVER,
	       .items = UINT32_MAX });
	FACT(fmq_op, bsa_fmq_op, { .at = 2, .items = 1, .queue = 4, .write = 1, .number = 8 });
	FACT(lookup, bsa_lookup, { .execution = 1, .at = 2, .slot = -1, .hit = 1, .look = 3 });
	FACT(operation, bsa_operation,
	     { .execution = 1, .began = BSA_NEVER, .ended = 9, .type = UINT32_MAX, .op = UINT16_MAX });
	stored_finish(s);
	assert_rows(path, "SELECT * FROM fmq_op",
	            "1|call_result|write|1000002|6|7|3|4|5|-\n1|request|read|1000002|4294967295|0|-|-|-|-\n"
	            "-|other|write|1000002|1|0|0|0|0|8\n");
	assert_rows(path, "SELECT * FROM slot_lookup", "1|1000002|-1|1|client\n");
	assert_rows(path, "SELECT * FROM operation", "1|65535|4294967295|-|1000009\n");
}

/* The event of a preparation that is given up comes before the model's, and lacks the model's number. */
static void a_preparation_that_is_given_up_has_its_model(void **state)
{
	const char *path = *state;
	struct bsa_store *s = stored_new(path, "a", false);
	struct bsa_facts facts = bsa_store_facts(s);
	static const struct {
		uint64_t deadline;
		uint8_t kind, status; /* transient, persistent; the model's number */
	} given_up[] = { { 100, 0, 5 }, { 200, 1, 6 }, { 300, 0, 6 }, { 400, 0, 5 }, { 400, 0, 5 } };

	for (uint32_t i = 0; i < N_OF(given_up); i++) {
		FACT(deadline_missed, bsa_deadline_missed,
		     { .at = 90 + i,
		       .deadline = given_up[i].deadline,
		       .estimate = BSA_NEVER,
		       .over = 1,
		       .trace = 1,
		       .kind = given_up[i].kind,
		       .stage = BSA_STAGE_PREPARE });
		FACT(model, bsa_model,
		     { .id = 1 + i,
		       .trace = 1,
		       .app = 1,
		       .name = "m",
		       .deadline = given_up[i].deadline,
		       .status = given_up[i].status });
	}
	stored_finish(s);
	/* Another model of the third preparation was given up; for the last two, either model is possible. */
	assert_rows(path, "SELECT deadline, model_id, kind, stage FROM deadline_miss",
	            "1000100|1|transient|prepare\n1000200|2|persistent|prepare\n1000300|-|transient|prepare\n"
	            "1000400|-|transient|prepare\n1000400|-|transient|prepare\n");
	stored_sound(path);
}

/* One owner and kind has all columns unknown, one has few rows, one has more than a sort keeps in memory. */
static void tell_pools(const struct bsa_facts *given, uint64_t first, unsigned many)
{
	struct bsa_facts facts = *given;

	for (unsigned i = 0; i < many; i++)
		FACT(mapping, bsa_mapping,
		     { .id = first + i,
		       .bytes = i % 97 * 4096,
		       .mapped = i / 3 * 10, /* several at the same time */
		       .unmapped = i % 50 == 0 ? BSA_NEVER : i / 3 * 10 + i % 1009,
		       .took = i * 7919 % 30011,
		       .owner = 2,
		       .status = i % 11 == 10 ? 2 : 0,
		       .kind = i % 2 });
	FACT(mapping, bsa_mapping,
	     { .id = first + many, .bytes = 5, .mapped = 3, .unmapped = 4, .took = 6, .owner = 1 });
	FACT(mapping, bsa_mapping,
	     { .id = first + many + 1, .bytes = 6, .mapped = 3, .unmapped = 9, .took = 8, .owner = 1 });
	FACT(mapping, bsa_mapping,
	     { .id = first + many + 2,
	       .bytes = BSA_NEVER,
	       .mapped = 3,
	       .unmapped = BSA_NEVER,
	       .took = BSA_NEVER,
	       .owner = 200,
	       .kind = 201 });
	FACT(mapping, bsa_mapping, { .id = first + many + 3, .mapped = BSA_NEVER, .unmapped = 4, .owner = 1 });
}

static void assert_pools_are_added_up(const char *path)
{
	assert_rows(
		path,
		"WITH ranked AS (SELECT *, unmapped - mapped AS lived, count(took_ns) OVER g AS n_took, "
		"count(unmapped) OVER g AS n_lived, row_number() OVER (PARTITION BY owner, kind ORDER BY took_ns IS "
		"NULL, took_ns) AS nth, row_number() OVER (PARTITION BY owner, kind ORDER BY unmapped IS NULL, "
		"unmapped - "
		"mapped) AS nth_lived FROM pool_mapping WHERE mapped IS NOT NULL WINDOW g AS (PARTITION BY owner, "
		"kind)), "
		"summed AS (SELECT owner, kind, count(*), sum(status IS NOT 'NONE'), sum(unmapped IS NULL AND "
		"status IS 'NONE'), sum(bytes), max(bytes), sum(took_ns), max(iif(nth = (n_took + 1) / 2, took_ns, "
		"NULL)), max(iif(nth = (n_took * 99 + 99) / 100, took_ns, NULL)), max(iif(nth_lived = (n_lived + 1) / "
		"2, "
		"lived, NULL)) FROM ranked GROUP BY owner, kind) "
		"SELECT * FROM (SELECT * FROM summed EXCEPT SELECT * FROM pool_stat) UNION ALL "
		"SELECT * FROM (SELECT * FROM pool_stat EXCEPT SELECT * FROM summed)",
		"");
	assert_rows(
		path,
		"WITH steps AS (SELECT mapped AS at, bytes, 1 AS n FROM pool_mapping WHERE status = 'NONE' UNION ALL "
		"SELECT unmapped, -bytes, -1 FROM pool_mapping WHERE status = 'NONE' AND mapped IS NOT NULL AND "
		"unmapped "
		"IS NOT NULL), "
		"levels AS (SELECT at, sum(bytes) OVER w AS bytes, sum(n) OVER w AS n FROM steps WHERE at IS NOT NULL "
		"WINDOW w AS (ORDER BY at)), "
		"top AS (SELECT bytes, n, at FROM levels ORDER BY bytes DESC, at LIMIT 1) "
		"SELECT * FROM (SELECT * FROM top EXCEPT SELECT * FROM pool_peak) UNION ALL "
		"SELECT * FROM (SELECT * FROM pool_peak EXCEPT SELECT * FROM top)",
		"");
	stored_sound(path);
}

static void pools_are_added_up_by_owner_and_kind(void **state)
{
	const char *path = *state;
	struct bsa_store *s = stored_new(path, "a", false);
	struct bsa_facts facts = bsa_store_facts(s);

	tell_pools(&facts, 1, 150000);
	stored_finish(s);
	assert_pools_are_added_up(path);
	assert_rows(path, "SELECT n, took_p50_ns, took_p99_ns, lived_p50_ns FROM pool_stat WHERE owner = 'stream'",
	            "2|6|8|1\n");
	assert_rows(path, "SELECT n, bytes, took_ns, took_p50_ns FROM pool_stat WHERE owner IS NULL", "1|-|-|-\n");
}

static void pools_of_a_second_import_are_added_to_those_of_the_first(void **state)
{
	const char *path = *state;
	struct bsa_store *s = stored_new(path, "a", false);
	struct bsa_facts facts = bsa_store_facts(s);

	tell_pools(&facts, 1, 100);
	stored_finish(s);
	s = stored_new(path, "b", true);
	facts = bsa_store_facts(s);
	tell_pools(&facts, 1000, 200);
	stored_finish(s);
	assert_pools_are_added_up(path);
	assert_rows(path, "SELECT n FROM pool_stat WHERE owner = 'stream'", "4\n");
	assert_rows(path, "SELECT count(*) FROM pool_peak", "1\n");
}

static void without_pools_there_is_no_peak(void **state)
{
	const char *path = *state;

	stored_finish(stored_new(path, "a", false));
	assert_rows(path, "SELECT count(*) FROM pool_stat", "0\n");
	assert_rows(path, "SELECT count(*) FROM pool_peak", "0\n");
}

/* A hostile trace may have any sizes: a sum that does not fit is stored as the largest number. */
static void sizes_that_do_not_fit_together_are_cut(void **state)
{
	const char *path = *state;
	struct bsa_store *s = stored_new(path, "a", false);
	struct bsa_facts facts = bsa_store_facts(s);

	for (uint64_t i = 1; i <= 3; i++)
		FACT(mapping, bsa_mapping,
		     { .id = i, .bytes = UINT64_MAX - 1, .mapped = i, .unmapped = BSA_NEVER, .took = UINT64_MAX - 1 });
	stored_finish(s);
	assert_rows(path, "SELECT bytes, largest, took_ns, took_p99_ns FROM pool_stat",
	            "9223372036854775807|9223372036854775807|9223372036854775807|4611686018427387904\n");
	assert_rows(path, "SELECT bytes, pools FROM pool_peak", "9223372036854775807|3\n");
}

static void between_apps(void **state)
{
	const char *path = *state;
	struct bsa_store *s = stored_new(path, "a", false);
	struct bsa_facts facts = bsa_store_facts(s);

	FACT(inverted, bsa_inverted,
	     { .victim = 1, .holder = 2, .began = 3, .dur = 4, .lane = 63, .open = BSA_OPEN_END });
	FACT(starved, bsa_starved,
	     { .execution = 1,
	       .began = 2,
	       .gap = 3,
	       .top_culprit_ns = 4,
	       .app = 5,
	       .top_culprit_app = 6,
	       .bypassed = 7,
	       .open = BSA_OPEN_START });
	FACT(share, bsa_share,
	     { .app = 1, .received = 3, .entitled = 4, .max_lag = -1, .max_lag_at = BSA_NEVER, .most_lag = 5 });
	FACT(share, bsa_share,
	     { .app = 2, .received = 0, .entitled = 0, .max_lag = INT64_MAX, .max_lag_at = 9, .most_lag = INT64_MAX });
	FACT(lag, bsa_lag, { .window_began = 0, .received = 1, .entitled = 2, .lag = INT64_MIN, .most = 7, .app = 3 });
	FACT(interfered, bsa_interfered, { .ns = 1, .by = 2, .app = 3 });
	FACT(chosen, bsa_chosen, { .at = 1, .chosen = 2, .passed_over = 3, .app = 7, .honoured = true });
	bsa_store_left_out(s,
	                   &(struct bsa_left_out){ 1, 6, 2, 3, 4, 5, 7, 0, 8, 9, 11, 12, 13, 14, 1U << BSA_exec_end });
	bsa_store_left_out(s, &(struct bsa_left_out){ 10, 60, 20, 30, 40, 50, 70, 0, 80, 90, 110, 120, 130, 140,
	                                              1U << BSA_model_prepare });
	bsa_store_after_end(s, 9);
	stored_finish(s);
	assert_rows(path, "SELECT * FROM inversion", "1|2|63|1000003|4|end\n");
	assert_rows(path, "SELECT * FROM starvation", "1|5|1000002|3|7|6|4|-|start\n");
	assert_rows(path, "SELECT * FROM app_share", "1|3|4|0.75|-1|-|5\n2|0|0|-|4611686018427387904|1000009|-\n");
	assert_rows(path, "SELECT * FROM app_lag", "1000000|3|1|2|-|7\n");
	assert_rows(path, "SELECT * FROM interference", "2|3|1\n");
	assert_rows(path, "SELECT * FROM priority_choice", "1000001|2|3|1|7\n");
	assert_rows(path, "SELECT * FROM meta WHERE key LIKE 'left%' ORDER BY key",
	            "left_out_absurd|22\nleft_out_after_end|9\nleft_out_evicted|33\nleft_out_forgotten|55\nleft_out_"
	            "late|44\nleft_out_"
	            "stragglers|11\nleft_out_unusable|66\n");
	assert_rows(path, "SELECT * FROM meta WHERE key GLOB 'absent_*' ORDER BY key",
	            "absent_exec_end|1\nabsent_model_prepare|1\n");
	assert_rows(path,
	            "SELECT * FROM meta WHERE key IN ('app_no_more', 'app_not_yet', 'began_inside', "
	            "'joined_streams', 'untold_choices') ORDER BY key",
	            "app_no_more|132\napp_not_yet|121\nbegan_inside|143\njoined_streams|154\nuntold_choices|99\n");
}

static void shares_and_windows_in_parts_become_whole(void **state)
{
	const char *path = *state;
	struct bsa_store *s = stored_new(path, "a", false);
	struct bsa_facts facts = bsa_store_facts(s);

	for (uint64_t i = 0; i < 3; i++) {
		FACT(share, bsa_share,
		     { .app = 1,
		       .received = i,
		       .entitled = 4,
		       .max_lag = i == 1 ? 9 : 5,
		       .max_lag_at = 10 + i,
		       .most_lag = 10 });
		FACT(share, bsa_share,
		     { .app = 2, .received = 7, .max_lag = 0, .max_lag_at = BSA_NEVER, .most_lag = i ? 5 : INT64_MAX });
		FACT(lag, bsa_lag,
		     { .window_began = 0,
		       .received = 1,
		       .entitled = 2,
		       .lag = -5 + (int64_t)i,
		       .most = 7,
		       .app = 3,
		       .in_parts = true });
		FACT(lag, bsa_lag,
		     { .window_began = 100,
		       .received = 3,
		       .lag = i ? 6 : INT64_MIN,
		       .most = 7 + (int64_t)i,
		       .app = 3,
		       .in_parts = true });
		FACT(lag, bsa_lag, { .window_began = 0, .lag = 1, .most = 7, .app = 4, .in_parts = true });
	}
	FACT(lag, bsa_lag,
	     { .window_began = 100, .entitled = 3, .lag = 1, .most = INT64_MAX, .app = 4, .in_parts = true });
	FACT(lag, bsa_lag, { .window_began = 100, .entitled = 3, .lag = 1, .most = 7, .app = 4, .in_parts = true });
	bsa_store_left_out(s, &(struct bsa_left_out){ .parts = 5 });
	stored_finish(s);
	assert_rows(path,
	            "SELECT app_id, received_ns, entitled_ns, max_lag_ns, max_lag_at, most_lag_ns FROM app_share ORDER "
	            "BY 1",
	            "1|3|12|9|1000011|10\n2|21|0|0|-|-\n");
	assert_rows(path, "SELECT * FROM app_lag ORDER BY 1, 2",
	            "1000000|3|3|6|-3|7\n1000100|3|9|0|6|9\n1000100|4|0|6|1|-\n");
	assert_rows(path, "SELECT value FROM meta WHERE key = 'share_parts'", "5\n");
}

/* The nearest whole number of ns, a half away from 0, and the rest. */
static int64_t whole_and_part(int64_t parts, int32_t *ret_part)
{
	int64_t whole = (parts + (parts < 0 ? -BSA_LAG_PARTS / 2 : BSA_LAG_PARTS / 2)) / BSA_LAG_PARTS;

	*ret_part = (int32_t)(parts - whole * BSA_LAG_PARTS);
	return whole;
}

static void add_row(char **to, uint64_t window, const struct bsa_lag *l)
{
	char low[24] = "-";

	if (l->lag != INT64_MIN)
		snprintf(low, sizeof(low), "%" PRId64, l->lag);
	*to += sprintf(*to, "%" PRIu64 "|%u|%" PRIu64 "|%" PRIu64 "|%s|%" PRId64 "\n", window + 1000000, l->app,
	               l->received, l->entitled, low, l->most);
}

/*
 * Three apps wait through fifty windows, and their lags are halves of a ns, some below 0. Most lags of the first one
 * are reported at the end; the second one receives lane time in one window; the lag of the third becomes unknown.
 */
static void windows_of_apps_that_wait_are_stored_once(void **state)
{
	enum { WINDOWS = 50, APPS = 3, HALF = BSA_LAG_PARTS / 2, KEPT_FROM = 10, UNKNOWN_FROM = 30 };
	static char rows[WINDOWS * APPS * 100];
	const char *path = *state;
	struct bsa_store *s = stored_new(path, "a", false);
	struct bsa_facts facts = bsa_store_facts(s);
	char *end = rows;

	for (uint64_t w = 0; w < WINDOWS; w++) {
		int64_t sum = (int64_t)(w + 1) * (33333 * (int64_t)BSA_LAG_PARTS + HALF);
		const struct bsa_lag_window window = { .number = w + 1,
			                               .began = 100 * w,
			                               .entitled = 33334,
			                               .sum = (uint64_t)(sum / BSA_LAG_PARTS),
			                               .sum_part = (int32_t)(sum % BSA_LAG_PARTS),
			                               .instance = 7,
			                               .kept = w >= KEPT_FROM };

		facts.lag_window(facts.ctx, &window);
		for (uint32_t app = 1; app <= APPS; app++) {
			struct bsa_lag l = { .window_began = 100 * w,
				             .received = app == 2 && w == 20 ? 5 : 0,
				             .entitled = 33334,
				             .app = app,
				             .first = w + 1,
				             .last = w + 1,
				             .sum = window.sum,
				             .sum_part = window.sum_part,
				             .instance = 7 };

			l.lag = l.most =
				whole_and_part(sum - (int64_t)app * 100000 * (int64_t)BSA_LAG_PARTS, &l.lag_part);
			l.most_part = l.lag_part;
			if (app == 3 && w >= UNKNOWN_FROM)
				l.lag = INT64_MIN;
			add_row(&end, 100 * w, &l);
			if (app == 1 && w >= KEPT_FROM)
				l.first = KEPT_FROM + 1;
			if (l.received)
				l.first = l.last = 0;
			if (app != 1 || w < KEPT_FROM || w + 1 == WINDOWS)
				facts.lag(facts.ctx, &l);
		}
	}
	stored_finish(s);
	assert_rows(path, "SELECT * FROM app_lag ORDER BY window_began, app_id", rows);
	assert_rows(path, "SELECT (SELECT count(*) FROM stored_lag), (SELECT count(*) FROM stored_lag_run)", "1|5\n");
	assert_rows(path, "SELECT count(DISTINCT window_began), count(*) FROM stored_lag_window", "50|50\n");
}

/* Many possible waits may lie within each other; only the outermost is stored. */
static void possible_waits_within_others_have_no_row(void **state)
{
	const char *path = *state;
	struct bsa_store *s = stored_new(path, "a", false);
	struct bsa_facts facts = bsa_store_facts(s);

	for (uint64_t i = 0; i < 3; i++) /* each around the one before */
		FACT(possible_wait, bsa_possible_wait, { .began = BSA_NEVER, .ended = 10 + i });
	FACT(possible_wait, bsa_possible_wait, { .began = 3, .ended = 5 }); /* within it */
	FACT(possible_wait, bsa_possible_wait, { .began = 3, .ended = 5, .app = 1 });
	FACT(possible_wait, bsa_possible_wait, { .execution = 8, .began = 3, .ended = 5, .app = 1, .model = 2 });
	FACT(possible_wait, bsa_possible_wait, { .began = 11, .ended = 20 }); /* not within either */
	FACT(possible_wait, bsa_possible_wait, { .began = 11, .ended = BSA_NEVER });
	FACT(possible_wait, bsa_possible_wait, { .began = 12, .ended = BSA_NEVER });
	stored_finish(s);
	assert_rows(path, "SELECT * FROM possible_wait ORDER BY execution_id, app_id, began",
	            "-|-|-|-|1000012\n-|-|-|1000011|-\n-|1|-|1000003|1000005\n8|1|2|1000003|1000005\n");
}

/* Each number of the fold has exactly one name. */
static void every_number_has_a_name(void **state)
{
	static const struct {
		const char *sql;
		unsigned names;
	} all[] = {
		{ "SELECT group_concat(DISTINCT cause) FROM wait WHERE execution_id = 1", BSA_CAUSES },
		{ "SELECT group_concat(DISTINCT miss) FROM execution", BSA_MISS_LATE },
		{ "SELECT group_concat(DISTINCT quality) FROM execution", BSA_QUALITY_OPEN + 1 },
		{ "SELECT group_concat(DISTINCT sides) FROM execution", BSA_SIDES_CLIENT + 1 },
		{ "SELECT group_concat(DISTINCT status) FROM execution", 10 },
		{ "SELECT group_concat(name) FROM stored_phase", BSA_PHASES },
	};
	const char *path = *state;
	struct bsa_store *s = stored_new(path, "a", false);
	struct bsa_facts facts = bsa_store_facts(s);

	for (uint8_t i = 0; i < 32; i++) {
		struct bsa_execution x = stored_warm(i + 1U, 100);

		x.miss = i % 4;
		x.quality = i % 8;
		x.sides = i % 4 == 3 ? 0 : i % 4;
		x.status = i % 16;
		facts.execution(facts.ctx, &x);
		if (i < BSA_CAUSES)
			FACT(wait, bsa_wait, { .execution = 1, .began = i, .ended = i + 1U, .cause = i });
	}
	stored_finish(s);
	for (size_t i = 0; i < N_OF(all); i++) {
		unsigned names = 1;

		for (const char *p = stored_ask(path, all[i].sql); *p; p++)
			names += *p == ',';
		if (names != all[i].names)
			fail_msg("%s: %u names, not %u", all[i].sql, names, all[i].names);
	}
}

/* ---- many ---- */

static uint64_t seed;

static uint64_t random_below(uint64_t n)
{
	return xorshift_next(&seed) % n;
}

/* A random number of a random size. */
static uint64_t any(void)
{
	uint64_t v = random_below(UINT64_MAX) >> random_below(64);

	return random_below(20) ? v : BSA_NEVER;
}

static struct bsa_execution anything(uint64_t id)
{
	struct bsa_execution x = stored_warm(id, 1000 + id * 100);

	x.exec = (UINT64_C(0xabc00000) << 32) + id / 7;
	x.stream = 1 + (uint32_t)(id % 7);
	if (random_below(3) == 0)
		for (unsigned i = 0; i < BSA_BOUNDARIES; i++)
			x.at[i] = any();
	if (random_below(4) == 0)
		for (unsigned i = 0; i < BSA_PHASES; i++)
			x.phase[i] = any();
	x.request = (struct bsa_waited){ any(), any(), any() };
	x.result = (struct bsa_waited){ any(), any(), any() };
	x.cpu = any();
	x.redo = any();
	x.deadline = any();
	x.bypassed = (uint32_t)random_below(UINT32_MAX);
	x.quality = (uint8_t)random_below(5);
	x.status = (uint8_t)random_below(10);
	return x;
}

enum { MANY = 20000, NEVER_TOLD = 17 };

/* Report an execution and facts of it that may be many. */
static void tell_one(const struct bsa_facts *facts, const struct bsa_execution *x)
{
	uint64_t id = x->id, v = id % 10 ? id * UINT64_C(0x9e3779b97f4a7c15) >> id % 60 : BSA_NEVER;

	facts->execution(facts->ctx, x);
	facts->wait(facts->ctx, &(struct bsa_wait){ .execution = id, .began = id, .ended = id + 5, .blocker = id / 2 });
	facts->slice(facts->ctx, &(struct bsa_slice){ .execution = id, .began = id, .ended = v, .lane = 1 });
	facts->fmq_op(facts->ctx, &(struct bsa_fmq_op){ .execution = id, .at = v, .spun = v, .queue = id % 4 });
	facts->lookup(facts->ctx, &(struct bsa_lookup){ .execution = id, .at = v, .slot = -1 });
	facts->operation(facts->ctx, &(struct bsa_operation){ .execution = id, .began = v, .ended = v });
	facts->chosen(facts->ctx, &(struct bsa_chosen){ .at = v, .chosen = id, .passed_over = v });
}

/* Report executions in the order of their ends; some come much later, long after the rest. */
static void tell_many(const struct bsa_facts *facts, uint64_t first, unsigned disorder, unsigned late)
{
	static struct bsa_execution x[MANY];
	static uint32_t order[MANY], tail[MANY];
	unsigned n = 0, n_tail = 0;

	seed = 88172645463325252;
	for (unsigned i = 0; i < MANY; i++) {
		x[i] = anything(first + i);
		order[i] = i;
	}
	for (unsigned i = 0; disorder && i + disorder < MANY; i++) {
		unsigned k = i + (unsigned)random_below(disorder);
		uint32_t swap = order[i];

		order[i] = order[k];
		order[k] = swap;
	}
	for (unsigned i = 0; i < MANY; i++)
		if (order[i] % NEVER_TOLD == 0)
			continue;
		else if (late && random_below(late) == 0)
			tail[n_tail++] = order[i];
		else
			order[n++] = order[i];
	for (unsigned i = 0; i < n; i++)
		tell_one(facts, &x[order[i]]);
	for (unsigned i = 0; i < n_tail; i++)
		tell_one(facts, &x[tail[i]]);
}

static char *everything_of(const char *path)
{
	/* A number computed from all rows and all columns; SQLite has no checksums. */
	return strdup(stored_ask(
		path,
		"SELECT count(*), sum(id % 1009 * (flags % 1013)), sum(base % 1019 * (seq % 1021)),"
		" sum(coalesce(submitted, 3) % 1031), sum(coalesce(request_read, 3) % 1033 * (id % 7)),"
		" sum(coalesce(signalled, 5) % 1039), sum(coalesce(result_slept_ns, 7) % 1049 * (id % 11)),"
		" sum(coalesce(redo_ns, 7) % 1051), sum(coalesce(cpu_ns, 7) % 1061), sum(bypassed),"
		" sum(coalesce(deadline, 7) % 1063 * (id % 13)) FROM stored_execution"
		" UNION ALL SELECT count(*), sum(execution_id), sum(coalesce(prepare_ns, 1) % 997),"
		" sum(coalesce(e2e_ns, 1) % 997), 0, 0, 0, 0, 0, 0, 0 FROM stored_phases"
		" UNION ALL SELECT count(*), sum(e2e_ns % 997), sum(coalesce(run_ns, 3) % 991), 0, 0, 0, 0, 0, 0, 0, 0"
		" FROM execution"
		" UNION ALL SELECT count(*), sum(began % 997 * (execution_id % 7)), sum(ended % 997), sum(blocker_id),"
		" 0, 0, 0, 0, 0, 0, 0 FROM wait"
		" UNION ALL SELECT count(*), sum(execution_id % 7 * (lane + 3)), sum(coalesce(ended, 3) % 997), 0, 0, "
		"0, 0,"
		" 0, 0, 0, 0 FROM lane_slice"
		" UNION ALL SELECT count(*), sum(execution_id % 7 * coalesce(at, 3) % 997), sum(coalesce(spun_ns, 5) % "
		"997),"
		" count(DISTINCT queue), 0, 0, 0, 0, 0, 0, 0 FROM fmq_op"
		" UNION ALL SELECT count(*), sum(execution_id % 7 * coalesce(at, 3) % 997), sum(slot), 0, 0, 0, 0, 0, "
		"0, 0, 0"
		" FROM slot_lookup"
		" UNION ALL SELECT count(*), sum(execution_id % 7 * coalesce(began, 3) % 997),"
		" sum(coalesce(ended, 3) % 997), 0, 0, 0, 0, 0, 0, 0, 0 FROM operation"
		" UNION ALL SELECT count(*), sum(chosen_id % 7 * coalesce(at, 3) % 997),"
		" sum(coalesce(passed_over_id, 3) % 997), 0, 0, 0, 0, 0, 0, 0, 0 FROM priority_choice"));
}

/* The pages that the store writes and those of SQLite give the same table, in any order. */
static void order_does_not_matter(void **state)
{
	static const struct {
		const char *what;
		unsigned disorder, late;
	} orders[] = {
		{ "in order", 0, 0 },   { "a little out of order", 20, 0 }, { "as far as the window sees", 500, 0 },
		{ "farther", 5000, 0 }, { "some at the end", 20, 50 },
	};
	char *path = *state, *expected = NULL;

	for (size_t i = 0; i < N_OF(orders); i++)
		for (unsigned appended = 0; appended < 2; appended++) {
			struct bsa_store *s;
			struct bsa_facts facts;
			char *got;

			if (appended)
				stored_finish(stored_new(path, "before", false));
			s = stored_new(path, "a", appended);
			facts = bsa_store_facts(s);
			tell_many(&facts, 1, orders[i].disorder, orders[i].late);
			stored_finish(s);
			stored_sound(path);
			got = everything_of(path);
			if (!expected)
				expected = strdup(got);
			if (strcmp(got, expected))
				fail_msg("%s%s: %s, not %s", orders[i].what, appended ? ", appended" : "", got,
				         expected);
			free(got);
			assert_rows(path,
			            "SELECT count(*) FROM execution x WHERE (SELECT count(*) FROM execution y"
			            " WHERE y.stream_id = x.stream_id AND y.seq = x.seq) <> 1",
			            "0\n");
			unlink(path);
		}
	free(expected);
}

enum { SHARED = 3 * 4096 };

/*
 * The shares of a database whose ids are in the order of their times or, with @backwards, in the reverse
 * order, which no window can sort.
 */
static char *shared_by(const char *path, bool backwards)
{
	struct bsa_store *s = stored_new(path, "a", false);
	struct bsa_facts facts = bsa_store_facts(s);
	char *got;

	for (uint32_t app = 1; app <= 2; app++)
		FACT(app, bsa_app, { .id = app, .trace = 1, .key = app, .name = "app" });
	FACT(process, bsa_process, { .id = 1, .trace = 1, .role = BSA_ROLE_SERVICE, .name = "nnburstd" });
	FACT(rules, bsa_rules, { .at = 1, .trace = 1, .process = 1, .instance = 0xabc, .policy = 2, .lanes = 1 });
	FACT(stream, bsa_stream, { .id = 1, .trace = 1, .number = 0xabc00001 });
	for (uint64_t i = 0; i < SHARED; i++) {
		uint64_t id = 1 + (backwards ? SHARED - 1 - i : i);
		struct bsa_execution x = stored_warm(id, 1000 + i * 100 + (i % 5) * 7);

		x.app = 1 + (uint32_t)(i % 3 == 0);
		facts.execution(facts.ctx, &x);
	}
	stored_finish(s);
	got = strdup(stored_ask(path, "SELECT app_id, n, mean_ns, ideal_mean_ns, p95_ns, ideal_p95_ns, work_ns, "
	                              "ideal_work_ns, received_ns FROM app_sharing ORDER BY 1"));
	unlink(path);
	return got;
}

static void ideal_sharing_needs_no_order_of_ids(void **state)
{
	char *forwards = shared_by(*state, false), *backwards = shared_by(*state, true);

	assert_string_not_equal(forwards, "");
	assert_string_equal(forwards, backwards);
	free(forwards);
	free(backwards);
}

/* The recording goes on, because another service does. */
static void ideal_sharing_is_played_until_a_service_is_silent(void **state)
{
	struct bsa_store *s = stored_new(*state, "a", false);
	struct bsa_facts facts = bsa_store_facts(s);
	struct bsa_execution done = stored_warm(1, 1000), waits = stored_warm(2, 2000);
	uint64_t ready = waits.at[BSA_ENQUEUED];
	struct bsa_trace_row trace = { .id = 1,
		                       .uuid = "a",
		                       .path = "/trace",
		                       .host = "here",
		                       .session = "one",
		                       .clock = "monotonic",
		                       .clock_offset = OFFSET,
		                       .began = 5,
		                       .ended = ready + 900,
		                       .events = 12 };
	struct bsa_err err = { "" };

	assert_int_equal(bsa_store_trace(s, &trace, &err), 0);
	FACT(app, bsa_app, { .id = 1, .trace = 1, .key = 1, .name = "app" });
	FACT(process, bsa_process, { .id = 1, .trace = 1, .role = BSA_ROLE_SERVICE, .name = "nnburstd" });
	FACT(rules, bsa_rules, { .at = 1, .trace = 1, .process = 1, .instance = 0xabc, .policy = 2, .lanes = 1 });
	FACT(stream, bsa_stream, { .id = 1, .trace = 1, .number = 0xabc00001 });
	waits.quality = BSA_QUALITY_OPEN;
	waits.queue = waits.run = waits.preempted = waits.e2e = BSA_NEVER;
	for (int b = BSA_DISPATCHED; b < BSA_BOUNDARIES; b++)
		waits.at[b] = BSA_NEVER;
	for (int p = BSA_QUEUE; p < BSA_PHASES; p++)
		waits.phase[p] = BSA_NEVER;
	done.app = waits.app = 1;
	facts.execution(facts.ctx, &done);
	facts.execution(facts.ctx, &waits);
	FACT(silence, bsa_silence,
	     { .began = ready + 300,
	       .ended = ready + 900,
	       .execution = 2,
	       .trace = 1,
	       .process = 1,
	       .awaited = 1,
	       .instance = 0xabc });
	/* one that went on does not end the replay */
	FACT(silence, bsa_silence,
	     { .began = ready + 10,
	       .ended = ready + 20,
	       .trace = 1,
	       .instance = 0xabc,
	       .awaited = 1,
	       .went_on = true });
	stored_finish(s);
	assert_rows(*state, "SELECT h.work_ns - x.queue_ns - x.run_ns FROM app_sharing h JOIN execution x ON x.id = 1",
	            "300\n");
}

/* A query for one row finds it by a key. */
static void one_is_found_without_looking_at_all(void **state)
{
	static const char *const asked[] = {
		"SELECT * FROM execution WHERE id = 5",
		"SELECT * FROM execution WHERE stream_id = 5 AND seq = 4",
		"SELECT x.* FROM stream s JOIN execution x ON x.stream_id = s.id WHERE s.number = 3 AND x.seq = 4",
		"SELECT * FROM execution_phase WHERE execution_id = 5",
		"SELECT * FROM wait WHERE execution_id = 5",
		"SELECT * FROM lane_slice WHERE execution_id = 5",
		"SELECT * FROM preemption WHERE execution_id = 5",
		"SELECT * FROM miss_cause WHERE execution_id = 5",
		"SELECT * FROM deadline_miss WHERE execution_id = 5",
		"SELECT * FROM slot_miss WHERE execution_id = 5",
		"SELECT * FROM inversion WHERE victim_id = 5",
		"SELECT * FROM refusal WHERE execution_id = 5",
		"SELECT * FROM operation WHERE execution_id = 5",
		"SELECT * FROM execution x JOIN wait w ON w.execution_id = x.id WHERE x.id = 5",
		"SELECT * FROM execution x JOIN execution_phase p ON p.execution_id = x.id WHERE x.id = 5",
		"SELECT * FROM execution x JOIN lane_slice p ON p.execution_id = x.id WHERE x.id = 5",
		"SELECT * FROM execution WHERE id IN (5, 6)",
	};
	/* These scans cover few rows: of a view's or a query's own alias, and of the names of phases. */
	static const char *const few[] = { "SCAN p", "SCAN wait",     "SCAN lane_slice",
		                           "SCAN w", "SCAN CONSTANT", "SCAN 2 CONSTANT" };
	const char *path = *state;
	char sql[256];

	stored_finish(stored_new(path, "a", false));
	for (size_t i = 0; i < N_OF(asked); i++) {
		char *plan, *save = NULL;

		snprintf(sql, sizeof(sql), "EXPLAIN QUERY PLAN %s", asked[i]);
		plan = strdup(stored_ask(path, sql));
		for (char *line = strtok_r(plan, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
			char *scan = strstr(line, "SCAN ");
			bool fine = !scan;

			for (size_t k = 0; !fine && k < N_OF(few); k++)
				fine = !strcmp(scan, few[k]);
			if (!fine)
				fail_msg("%s: %s", asked[i], scan);
		}
		free(plan);
	}
}

static char *contents(const char *path, size_t *ret_n)
{
	char *ret = file_content(path, ret_n);

	assert_non_null(ret);
	return ret;
}

static void the_same_facts_are_the_same_bytes(void **state)
{
	const char *path = *state;
	char *bytes[2];
	size_t n[2];

	for (unsigned i = 0; i < 2; i++) {
		struct bsa_store *s = stored_new(path, "a", false);
		struct bsa_facts facts = bsa_store_facts(s);

		tell_many(&facts, 1, 20, 50);
		stored_finish(s);
		bytes[i] = contents(path, &n[i]);
	}
	assert_int_equal(n[0], n[1]);
	assert_memory_equal(bytes[0], bytes[1], n[0]);
	free(bytes[0]);
	free(bytes[1]);
}

/* ---- every fact is stored, whatever it leaves unknown ---- */

/* Every table that the import writes row by row. */
static const char *const written[] = {
#define REL_BATCH(name, table, room, about, columns) #table,
#define REL_STATEMENT(name, table, about, columns) #table,
#include "store/relations.def"
};

/* Three ways in which every number of a fact may be unknown: 0, the largest, and the least signed number. */
static void fill_with(void *fact, size_t n, int way)
{
	memset(fact, way == 1 ? 0xff : 0, n);
	for (size_t i = 7; way == 2 && i < n; i += 8)
		((unsigned char *)fact)[i] = 0x80;
}

/* A fact with only its id known, and its flags of which others are known. */
#define TELL_OF_NOTHING(hook, type, ...)                       \
	for (int way = 0; way < 3; way++) {                    \
		struct type fact;                              \
                                                               \
		fill_with(&fact, sizeof(fact), way);           \
		__VA_ARGS__;                                   \
		facts.hook(facts.ctx, &fact);                  \
		assert_int_equal(bsa_store_check(s, &err), 0); \
	}

static void tell_of_nothing(struct bsa_store *s)
{
	struct bsa_facts facts = bsa_store_facts(s);
	struct bsa_err err = { "" };

	TELL_OF_NOTHING(app, bsa_app, fact.id = 1 + way, fact.uid_known = false, fact.name[BSA_TEXT - 1] = 0)
	TELL_OF_NOTHING(process, bsa_process, fact.id = 1 + way, fact.name[BSA_TEXT - 1] = 0)
	TELL_OF_NOTHING(rules, bsa_rules, )
	TELL_OF_NOTHING(model, bsa_model, fact.id = 1 + way, fact.name[BSA_TEXT - 1] = 0)
	TELL_OF_NOTHING(stream, bsa_stream, fact.id = 1 + way)
	TELL_OF_NOTHING(slice, bsa_slice, )
	TELL_OF_NOTHING(wait, bsa_wait, )
	TELL_OF_NOTHING(possible_wait, bsa_possible_wait, )
	TELL_OF_NOTHING(unknown_lane, bsa_unknown_lane, )
	TELL_OF_NOTHING(preemption, bsa_preemption, )
	TELL_OF_NOTHING(deadline_missed, bsa_deadline_missed, )
	TELL_OF_NOTHING(refused, bsa_refused, fact.execution = 1 + way)
	TELL_OF_NOTHING(exhausted, bsa_exhausted, )
	TELL_OF_NOTHING(slot_missed, bsa_slot_missed, )
	TELL_OF_NOTHING(mapping, bsa_mapping, fact.id = 1 + way)
	TELL_OF_NOTHING(buffer, bsa_buffer, fact.id = 1 + way)
	TELL_OF_NOTHING(buffer_used, bsa_buffer_used, )
	TELL_OF_NOTHING(inverted, bsa_inverted, )
	TELL_OF_NOTHING(starved, bsa_starved, )
	TELL_OF_NOTHING(share, bsa_share, )
	TELL_OF_NOTHING(lag_window, bsa_lag_window, )
	TELL_OF_NOTHING(lag, bsa_lag, fact.in_parts = false)
	TELL_OF_NOTHING(interfered, bsa_interfered, )
	TELL_OF_NOTHING(chosen, bsa_chosen, fact.honoured = false)
	TELL_OF_NOTHING(fmq_op, bsa_fmq_op, )
	TELL_OF_NOTHING(lookup, bsa_lookup, )
	TELL_OF_NOTHING(operation, bsa_operation, )
	TELL_OF_NOTHING(lost, bsa_lost, )
	TELL_OF_NOTHING(spanned, bsa_spanned, )
	TELL_OF_NOTHING(silence, bsa_silence, fact.went_on = false)
	/* Executions that are complete, missed or answered are also in statistics and ledgers. */
	TELL_OF_NOTHING(execution, bsa_execution, fact.id = 1 + way, fact.idle = fact.fence_free = false)
	TELL_OF_NOTHING(execution, bsa_execution, fact.id = 4 + way, fact.idle = true, fact.fence_free = false,
	                fact.miss = BSA_MISS_LATE, fact.quality = BSA_QUALITY_COMPLETE, fact.status = BSA_STATUS_NONE,
	                fact.sides = BSA_SIDES_BOTH)
	TELL_OF_NOTHING(execution, bsa_execution, fact.id = 7 + way, fact.idle = true, fact.fence_free = false,
	                fact.miss = BSA_MISS_ABORTED, fact.quality = BSA_QUALITY_GAP, fact.sides = BSA_SIDES_SERVICE)
	TELL_OF_NOTHING(execution, bsa_execution, fact.id = 10 + way, fact.idle = true, fact.fence_free = false,
	                fact.miss = BSA_MISS_PREDICTED, fact.quality = BSA_QUALITY_OPEN, fact.sides = BSA_SIDES_CLIENT,
	                fact.path = BSA_PATH_PREPARE)
	TELL_OF_NOTHING(execution, bsa_execution, fact.id = 13 + way, fact.idle = fact.fence_free = false,
	                fact.path = BSA_PATH_FENCED, fact.duration = 1)
	bsa_store_cpu_state(s, &(struct bsa_cpu_state){ .began = BSA_NEVER,
	                                                .ended = BSA_NEVER,
	                                                .khz = BSA_NEVER,
	                                                .cpu = UINT32_MAX,
	                                                .tid = UINT32_MAX,
	                                                .did = 255,
	                                                .name = NULL });
	bsa_store_cpu_state(s, &(struct bsa_cpu_state){ .name = "\xff" });
}

/* No table that facts should reach is without a row. */
static void every_table_is_reached(const char *path)
{
	for (size_t i = 0; i < N_OF(written); i++) {
		char sql[128], wanted[128];

		if (!strcmp(written[i], "stored_wait_run") || !strcmp(written[i], "stored_occupancy") ||
		    !strcmp(written[i], "lesser_inversion"))
			continue; /* have waits of many stretches: test_crowd and test_joined cover these */
		if (!strcmp(written[i], "stored_lag_run") || !strcmp(written[i], "stored_lag_window"))
			continue; /* have several windows: windows_of_apps_that_wait_are_stored_once covers these */
		if (!strcmp(written[i], "app_sharing") || !strcmp(written[i], "stored_miss_without") ||
		    !strcmp(written[i], "stored_late_start") || !strcmp(written[i], "stored_miss_replay"))
			continue; /* services whose rules change are not replayed: cases_fairness and
			           * cases_saved cover the others */
		snprintf(sql, sizeof(sql), "SELECT '%s', count(*) > 0 FROM %s", written[i], written[i]);
		snprintf(wanted, sizeof(wanted), "%s|1\n", written[i]);
		assert_rows(path, sql, wanted);
	}
}

/* Each row of a fact has a value in each column that must not be NULL; otherwise the import would end. */
static void nothing_that_is_unknown_ends_an_import(void **state)
{
	const char *path = *state;
	struct bsa_store *s = stored_new(path, "a", false);

	tell_of_nothing(s);
	stored_finish(s);
	assert_rows(path, "SELECT count(*) FROM execution", "15\n");
	every_table_is_reached(path);
	assert_rows(path, "PRAGMA integrity_check", "ok\n");
}

/* ---- several traces ---- */

static void traces_are_added_each_with_its_own_clock(void **state)
{
	const char *path = *state;
	struct bsa_store *s = stored_new(path, "a", false);
	struct bsa_facts facts = bsa_store_facts(s);
	struct bsa_trace_row other = {
		.id = 2, .uuid = "b", .path = "/other", .clock_offset = -500, .began = 1000, .ended = 2000
	};
	struct bsa_execution x = stored_warm(1, 100);
	struct bsa_fold_ids last;

	facts.execution(facts.ctx, &x);
	FACT(app, bsa_app, { .id = 3 });
	FACT(mapping, bsa_mapping, { .id = 9 });
	assert_int_equal(bsa_store_trace(s, &other, NULL), 0);
	bsa_store_clock(s, -500);
	x = stored_warm(2, 1000);
	x.trace = 2;
	facts.execution(facts.ctx, &x);
	stored_finish(s);

	s = stored_new(path, "c", true);
	last = bsa_store_last_ids(s);
	assert_int_equal(last.execution, 2);
	assert_int_equal(last.app, 3);
	assert_int_equal(last.mapping, 9);
	assert_int_equal(last.model, 0);
	facts = bsa_store_facts(s);
	x = stored_warm(3, 100);
	x.trace = 3;
	facts.execution(facts.ctx, &x);
	assert_int_equal(bsa_store_counts(s).executions, 1);
	stored_finish(s);
	assert_rows(path, "SELECT id, uuid, began FROM trace", "1|a|1000005\n2|b|500\n3|c|1000005\n");
	assert_rows(path, "SELECT id, trace_id, submitted FROM execution", "1|1|1000100\n2|2|500\n3|3|1000100\n");
	assert_rows(path, "SELECT value FROM meta WHERE key = 'executions'", "3\n");
	stored_sound(path);
}

static void a_trace_is_in_it_once(void **state)
{
	const char *path = *state;
	struct bsa_store *s = stored_new(path, "a", false);
	struct bsa_trace_row again = { .id = 2, .uuid = "a", .path = "/again" };
	struct bsa_err err;

	assert_int_equal(bsa_store_trace(s, &again, &err), BSA_E_INPUT);
	assert_string_equal(err.text, "/again is in the database already (as /trace)");
	stored_finish(s);
	s = stored_new(path, "b", true);
	again.id = 3;
	assert_int_equal(bsa_store_trace(s, &again, &err), BSA_E_INPUT);
	bsa_store_free(s);
	assert_rows(path, "SELECT uuid FROM trace", "a\n");
}

/* ---- an output that cannot be written ---- */

static void refused(const char *path, bool append, int code, const char *words)
{
	struct bsa_store_options options = { .output = path, .append = append };
	struct bsa_store *s = NULL;
	struct bsa_err err = { "" };
	int r = bsa_store_new(&s, &options, &err);

	if (r != code || !strstr(err.text, words))
		fail_msg("%s: %d, %s", path, r, err.text);
	assert_null(s);
}

static void write_file(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static void patch(const char *path, long at, const char *bytes, size_t n)
{
	FILE *f = fopen(path, "r+");

	assert_non_null(f);
	fseek(f, at, SEEK_SET);
	fwrite(bytes, 1, n, f);
	fclose(f);
}

static void what_is_not_ours_is_kept(void **state)
{
	const char *path = *state;
	char text[16] = "";
	FILE *f;

	refused("", false, BSA_E_USAGE, "is no name of a file");
	refused(stored_beside(path, "x/"), false, BSA_E_USAGE, "is no name of a file");
	refused("/tmp", false, BSA_E_USAGE, "/tmp is a directory");
	refused("/dev/null", false, BSA_E_USAGE, "is not a file");
	refused(stored_beside(path, "none/x.db"), false, BSA_E_ENV, "No such file");
	write_file(path, "my notes");
	refused(path, false, BSA_E_USAGE, "will not be replaced");
	refused(path, true, BSA_E_INPUT, "is not a database of burstscope");
	f = fopen(path, "r");
	assert_int_equal(fread(text, 1, sizeof(text), f), 8);
	fclose(f);
	assert_string_equal(text, "my notes");
	write_file(path, ""); /* mktemp makes such a file */
	stored_finish(stored_new(path, "a", false));
	stored_finish(stored_new(path, "b", false)); /* a database of ours is replaced */
	assert_rows(path, "SELECT uuid FROM trace", "b\n");
}

static void change(const char *path, const char *sql)
{
	sqlite3 *db = NULL;

	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_changes(db), 1);
	sqlite3_close(db);
}

static void other_versions_are_refused(void **state)
{
	const char *path = *state;
	struct bsa_db *db = NULL;
	struct bsa_err err;

	stored_finish(stored_new(path, "a", false));
	patch(path, 60, "\0\0\0\6", 4);
	refused(path, true, BSA_E_INPUT, "made by a newer burstscope");
	assert_int_equal(bsa_db_open(&db, path, &err), BSA_E_INPUT);
	patch(path, 60, "\0\0\0\1", 4);
	refused(path, true, BSA_E_INPUT, "made by an older burstscope");
	assert_int_equal(bsa_db_open(&db, path, &err), BSA_E_INPUT);
	patch(path, 60, "\0\0\0\5", 4);
	patch(path, 68, "GIF8", 4);
	refused(path, true, BSA_E_INPUT, "is not a database of burstscope");
	assert_int_equal(bsa_db_open(&db, path, &err), BSA_E_INPUT);
	unlink(path);
	stored_finish(stored_new(path, "a", false));
	assert_int_equal(truncate(path, 16384 * 3), 0);
	refused(path, true, BSA_E_INPUT, "the end of ");
	assert_int_equal(bsa_db_open(&db, path, &err), BSA_E_INPUT);
	assert_null(db);
	stored_finish(stored_new(path, "a", false)); /* a new import may replace the file */
}

/* A build with one column more has the same version, but cannot append to the file or query that column. */
static void tables_of_another_build_are_refused(void **state)
{
	static const char *const others[] = { "UPDATE meta SET value = value + 1 WHERE key = 'schema_digest'",
		                              "DELETE FROM meta WHERE key = 'schema_digest'" };
	const char *path = *state;
	struct bsa_db *db = NULL;
	struct bsa_err err;

	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++) {
		stored_finish(stored_new(path, "a", false));
		stored_finish(stored_new(path, "b", true));
		change(path, others[i]);
		refused(path, true, BSA_E_INPUT, "made by another build of burstscope");
		assert_int_equal(bsa_db_open(&db, path, &err), BSA_E_INPUT);
		assert_non_null(strstr(err.text, "made by another build of burstscope"));
		assert_null(db);
	}
	stored_finish(stored_new(path, "a", false)); /* a new import may replace the file */
}

static void what_is_given_up_leaves_nothing(void **state)
{
	const char *path = *state;
	struct bsa_err err;
	struct bsa_store *s = stored_new(path, "a", false);

	bsa_store_free(s);
	assert_int_equal(stored_files(path), 0);
	s = stored_new(path, "a", false);
	bsa_store_stop(s);
	assert_int_equal(bsa_store_finish(s, &err), BSA_E_STOPPED);
	assert_null(bsa_store_free(s));
	assert_int_equal(stored_files(path), 0);
	assert_null(bsa_store_free(NULL));
}

/* The store removes files of dead processes, and keeps those of living ones. */
static void only_the_dead_are_cleaned_up_after(void **state)
{
	const char *path = *state;
	struct bsa_store *alive = stored_new(path, "a", false);
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		stored_new(path, "b", false);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(stored_files(path), 2);
	stored_finish(stored_new(path, "c", false));
	assert_int_equal(stored_files(path), 2); /* the new database, and the file of the living process */
	stored_finish(alive);
	assert_int_equal(stored_files(path), 1);
	assert_rows(path, "SELECT uuid FROM trace", "a\n");
}

/* In a container, every process has one of the same few pids. */
static void the_dead_may_have_had_our_pid(void **state)
{
	const char *path = *state;
	char name[64];

	snprintf(name, sizeof(name), ".x.db.%d-0123456789abcdef.burstscope", (int)getpid());
	write_file(stored_beside(path, name), "left");
	stored_finish(stored_new(path, "a", false));
	assert_int_equal(stored_files(path), 1);
}

static void two_cannot_append_at_once(void **state)
{
	const char *path = *state;
	struct bsa_store *s;

	stored_finish(stored_new(path, "a", false));
	s = stored_new(path, "b", true);
	refused(path, true, BSA_E_ENV, "another import into ");
	stored_finish(s);
	stored_finish(stored_new(path, "c", true));
	assert_rows(path, "SELECT uuid FROM trace", "a\nb\nc\n");
}

static void a_link_is_followed(void **state)
{
	const char *path = *state;
	char real[256];
	struct stat st;

	strcpy(real, stored_beside(path, "real.db"));
	stored_finish(stored_new(real, "a", false));
	assert_int_equal(symlink(real, path), 0);
	stored_finish(stored_new(path, "b", false));
	assert_true(lstat(path, &st) == 0 && S_ISLNK(st.st_mode));
	assert_rows(real, "SELECT uuid FROM trace", "b\n");
}

#define T(f) cmocka_unit_test_setup_teardown(f, stored_setup, stored_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(what_is_there_is_described_and_can_be_read_by_anybody),
		T(what_the_contract_names_is_there),
		T(apps_of_one_name_are_shown_apart),
		T(apps_processes_and_rules_have_rows),
		T(models_have_rows),
		T(streams_and_bursts_have_rows),
		T(spans_and_losses_have_rows),
		T(a_fact_that_comes_again_replaces_the_first),
		T(names_are_text_for_readers_that_insist),
		T(a_warm_burst_on_an_idle_lane),
		T(one_of_which_nothing_is_known),
		T(one_of_which_everything_is_too_much),
		T(invalid_names_are_unknown),
		T(phases_are_those_of_the_facts),
		T(waits_and_preemptions_of_which_little_is_known),
		T(missed_deadlines_and_refusals),
		T(a_refusal_is_judged_by_the_lanes_of_its_service),
		T(exhausted_resources),
		T(a_preparation_that_is_given_up_has_its_model),
		T(slot_misses_and_mappings),
		T(buffers_and_their_uses),
		T(queues_lookups_and_operations),
		T(nothing_that_is_unknown_ends_an_import),
		T(pools_are_added_up_by_owner_and_kind),
		T(pools_of_a_second_import_are_added_to_those_of_the_first),
		T(without_pools_there_is_no_peak),
		T(sizes_that_do_not_fit_together_are_cut),
		T(between_apps),
		T(shares_and_windows_in_parts_become_whole),
		T(possible_waits_within_others_have_no_row),
		T(windows_of_apps_that_wait_are_stored_once),
		T(every_number_has_a_name),
		T(order_does_not_matter),
		T(ideal_sharing_needs_no_order_of_ids),
		T(ideal_sharing_is_played_until_a_service_is_silent),
		T(one_is_found_without_looking_at_all),
		T(the_same_facts_are_the_same_bytes),
		T(traces_are_added_each_with_its_own_clock),
		T(a_trace_is_in_it_once),
		T(what_is_not_ours_is_kept),
		T(other_versions_are_refused),
		T(tables_of_another_build_are_refused),
		T(what_is_given_up_leaves_nothing),
		T(only_the_dead_are_cleaned_up_after),
		T(the_dead_may_have_had_our_pid),
		T(two_cannot_append_at_once),
		T(a_link_is_followed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
