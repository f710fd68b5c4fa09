/*
 * test_cases.c -- FILE...: each case of each file (case_file.h), its events full, compact and both, as records, and
 * of either form as a trace on disk, imported; then the database answers its questions, exactly.
 *
 * Its executions, read by bsa/executions.h, are those of the view execution, column by column.
 *
 * --ask DB NUMBER FILE: that database answers what the case with that number (from 0) asks, of compact events.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <sqlite3.h>

#include "analyzer/case_file.h"
#include "analyzer/checker.h"
#include "analyzer/ctf_writer.h"
#include "analyzer/imported.h"
#include "analyzer/script.h"
#include "analyzer/timeline.h"
#include "bsa/executions.h"
#include "bsa/import.h"

enum { PATH_SIZE = 512, NAME_SIZE = 400, GOT_MAX = 16384, N_WAYS = 5 };

/* How the events get into the database. */
enum way { AS_RECORDS, AS_A_TRACE };

struct one {
	const char *file;
	const struct a_case *the_case;
	unsigned forms; /* TIMELINE_FULL, TIMELINE_COMPACT or both of its events */
	enum way way;
	char name[NAME_SIZE];
};

static char directory[PATH_SIZE];
static struct checker *checker;

/*
 * Short forms in questions: executions by STREAM:SEQ, apps by name, us instead of ns.
 * Nothing of ours is registered: what is asked, any SQLite client can ask.
 */
static const char *const shorthand =
	"CREATE TEMP VIEW x AS SELECT id, (exec >> 32 & 1048575) || ':' || (exec & 4294967295) AS name FROM execution;"
	"CREATE TEMP VIEW execution_us AS SELECT x.name AS x, a.name AS app, e.e2e_ns / 1000 AS e2e, e.run_ns / 1000 "
	"AS run,"
	"  e.redo_ns / 1000 AS redo, e.queue_ns / 1000 AS queue, e.preempted_ns / 1000 AS preempted,"
	"  e.slots_ns / 1000 AS slots, e.lateness_ns / 1000 AS late, e.* FROM execution e JOIN x USING (id)"
	"  LEFT JOIN app a ON a.id = e.app_id;"
	"CREATE TEMP VIEW ledger AS SELECT x.name AS x, m.cause, c.name AS culprit, a.name AS culprit_app,"
	"  late_ns / 1000 AS late, budget_ns / 1000 AS budget,"
	"  iif(is_primary, 'primary', '') || CASE saved WHEN 0 THEN '' ELSE iif(is_primary, ', ', '') ||"
	"  iif(saved, 'saves', 'perhaps') END AS verdict"
	"  FROM miss_cause m JOIN x ON x.id = m.execution_id LEFT JOIN x c ON c.id = m.culprit_execution_id"
	"  LEFT JOIN app a ON a.id = m.culprit_app_id;"
	"CREATE TEMP VIEW phase_us AS SELECT x.name AS x, phase, began, dur_ns / 1000 AS us"
	"  FROM execution_phase p JOIN x ON x.id = p.execution_id;"
	"CREATE TEMP VIEW wait_us AS SELECT x.name AS x, kind, lane, occupancy, b.name AS blocker, began,"
	"  (ended - began) / 1000 AS us FROM wait w JOIN x ON x.id = w.execution_id LEFT JOIN x b ON b.id = "
	"w.blocker_id;"
	"CREATE TEMP VIEW slice_us AS SELECT x.name AS x, lane, began / 1000 AS began, ended / 1000 AS ended"
	"  FROM lane_slice s JOIN x ON x.id = s.execution_id;";

/* ---- into a database ---- */

static void import_records(const char *text, const char *output, bool compact, bool kept)
{
	const struct bsa_importer_options options = { .output = output, .keep_operations = kept };
	const struct bsa_trace trace = { .path = "case",
		                         .uuid = "00000000-0000-0000-0000-000000000001",
		                         .host = "host",
		                         .session = "",
		                         .clock = "monotonic",
		                         .clock_uuid = "",
		                         .compact = compact };

	import_script(text, &options, &trace);
}

static void import_trace(const char *text, const char *output, bool kept)
{
	char path[PATH_SIZE + 16];
	const char *const paths[] = { path };
	const struct bsa_import_options options = {
		.traces = paths, .n_traces = 1, .output = output, .keep_operations = kept
	};
	const struct ctf_options how = { .packet = 64 };
	struct ctf_writer *w;
	struct bsa_err err = { 0 };

	snprintf(path, sizeof(path), "%s/trace", directory);
	w = ctf_writer_new(path, &how);
	ctf_writer_script(w, text, 1);
	ctf_writer_free(w);
	if (bsa_import(&options, NULL, &err))
		fail_msg("%s", err.text);
}

static void clear(void)
{
	char command[PATH_SIZE + 32];

	snprintf(command, sizeof(command), "rm -rf '%s'/*", directory);
	assert_int_equal(system(command), 0);
}

/* ---- and questions to it ---- */

static void print_value(sqlite3_stmt *s, int column, char *ret, size_t size)
{
	if (sqlite3_column_type(s, column) == SQLITE_NULL)
		snprintf(ret, size, "-");
	else if (sqlite3_column_type(s, column) == SQLITE_FLOAT)
		snprintf(ret, size, "%.6g", sqlite3_column_double(s, column));
	else
		snprintf(ret, size, "%s", (const char *)sqlite3_column_text(s, column));
}

static void print_row(sqlite3_stmt *s, char *ret, size_t size)
{
	size_t n = 0;

	for (int i = 0; i < sqlite3_column_count(s); i++) {
		char value[256];

		print_value(s, i, value, sizeof(value));
		n += (size_t)snprintf(ret + n, size - n, "%s%s", i ? " | " : "", value);
		assert_true(n < size);
	}
	while (n && ret[n - 1] == ' ') /* blanks of an empty last column */
		ret[--n] = 0;
	snprintf(ret + n, size - n, "\n");
}

static void ask(const char *file, sqlite3 *db, const struct question *q)
{
	char got[GOT_MAX] = "";
	sqlite3_stmt *s = NULL;
	int status;

	if (sqlite3_prepare_v2(db, q->sql, -1, &s, NULL))
		fail_msg("%s:%u: %s\n%s", file, q->line, sqlite3_errmsg(db), q->sql);
	while ((status = sqlite3_step(s)) == SQLITE_ROW)
		print_row(s, got + strlen(got), sizeof(got) - strlen(got) - 1);
	if (status != SQLITE_DONE)
		fail_msg("%s:%u: %s", file, q->line, sqlite3_errmsg(db));
	sqlite3_finalize(s);
	if (strcmp(got, q->answer))
		fail_msg("%s:%u: asked\n%swhich is\n%sbut was answered\n%s", file, q->line, q->sql, q->answer, got);
}

/* The rules of every database hold of this one. */
static void keeps_the_rules(const char *path)
{
	char broken[1024], copy[PATH_SIZE + 16];

	if (!checker) {
		snprintf(copy, sizeof(copy), "%s.checked", directory); /* beside the directory, which clear() empties */
		checker = checker_new(CHECK_SQL, copy);
	}
	if (checker_objects(checker, path, broken, sizeof(broken)))
		fail_msg("%s: %s", CHECK_SQL, broken);
}

/* ---- the executions, read one after the other, are those of the view ---- */

/* clang-format off */
#define NUMBERS(NUMBER) \
	NUMBER(id) NUMBER(trace_id) NUMBER(app_id) NUMBER(model_id) \
	NUMBER(cold) NUMBER(submitted) NUMBER(request_written) NUMBER(request_read) \
	NUMBER(decoded) NUMBER(fenced) NUMBER(enqueued) NUMBER(dispatched) \
	NUMBER(run_ended) NUMBER(result_written) NUMBER(result_read) NUMBER(returned) \
	NUMBER(signalled) NUMBER(deadline) NUMBER(e2e_ns) NUMBER(prepare_ns) \
	NUMBER(send_ns) NUMBER(decode_ns) NUMBER(fence_ns) NUMBER(slots_ns) \
	NUMBER(queue_ns) NUMBER(run_ns) NUMBER(preempted_ns) NUMBER(reply_ns) \
	NUMBER(return_ns) NUMBER(finish_ns) NUMBER(signal_ns) NUMBER(redo_ns) \
	NUMBER(cpu_ns) NUMBER(request_spun_ns) NUMBER(run_delay_ns) NUMBER(reference_ns) \
	NUMBER(lane) NUMBER(preemptions) NUMBER(exec) NUMBER(missed_at) NUMBER(lateness_ns)
#define TEXTS(TEXT) \
	TEXT(path) TEXT(priority) TEXT(status) TEXT(miss) \
	TEXT(quality) TEXT(sides)
/* clang-format on */

static void same_number(sqlite3_stmt *s, int column, int64_t is)
{
	bool null = sqlite3_column_type(s, column) == SQLITE_NULL;

	if (null ? is != BSA_NULL_INT : is != sqlite3_column_int64(s, column))
		fail_msg("%s is %s, and was read as %lld", sqlite3_column_name(s, column),
		         null ? "NULL" : (const char *)sqlite3_column_text(s, column), (long long)is);
}

static void same_text(sqlite3_stmt *s, int column, const char *is)
{
	const char *wanted = (const char *)sqlite3_column_text(s, column);

	if (wanted ? !is || strcmp(wanted, is) : !!is)
		fail_msg("%s is %s, and was read as %s", sqlite3_column_name(s, column), wanted ? wanted : "NULL",
		         is ? is : "NULL");
}

/* @condition: what is picked of them; NULL: all. Returns how many there are. */
static unsigned read_as_the_view_has_them(sqlite3 *db, struct bsa_db *from, const char *condition)
{
#define NAMED(name) #name ", "
	static const char columns[] = NUMBERS(NAMED) TEXTS(NAMED);
	char sql[2048], picked[256];
	struct bsa_executions *e = NULL;
	struct bsa_execution_row x;
	struct bsa_err err = { "" };
	sqlite3_stmt *s = NULL;
	unsigned n = 0;

	snprintf(picked, sizeof(picked), "SELECT id FROM execution WHERE %s", condition ? condition : "1");
	snprintf(sql, sizeof(sql),
	         "SELECT %scomplete, coalesce(submitted, request_written, request_read, decoded, fenced, enqueued, "
	         "dispatched, "
	         "run_ended, result_written, result_read, returned, signalled, missed_at) AS began "
	         "FROM execution WHERE %s ORDER BY id",
	         columns, condition ? condition : "1");
	assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &s, NULL), SQLITE_OK);
	if (bsa_executions_new(&e, from, condition ? picked : NULL, true, &err))
		fail_msg("%s", err.text);
	for (; sqlite3_step(s) == SQLITE_ROW; n++) {
		int at = 0;

		if (bsa_executions_step(e, &x, &err) != 1)
			fail_msg("execution %s was not read %s", (const char *)sqlite3_column_text(s, 0), err.text);
#define COMPARE_NUMBER(name) same_number(s, at++, x.name);
#define COMPARE_TEXT(name) same_text(s, at++, x.name);
		NUMBERS(COMPARE_NUMBER)
		TEXTS(COMPARE_TEXT)
		assert_int_equal(x.complete, sqlite3_column_int(s, at++));
		same_number(s, at, x.began);
	}
	assert_int_equal(bsa_executions_step(e, &x, &err), 0);
	bsa_executions_free(e);
	sqlite3_finalize(s);
	return n;
}

static void executions_are_those_of_the_view(const char *path, sqlite3 *db)
{
	struct bsa_db *from = NULL;
	struct bsa_err err = { "" };
	unsigned all;

	if (bsa_db_open(&from, path, &err))
		fail_msg("%s", err.text);
	all = read_as_the_view_has_them(db, from, NULL);
	assert_int_equal(all, read_as_the_view_has_them(db, from, "id % 2") +
	                              read_as_the_view_has_them(db, from, "NOT id % 2"));
	bsa_db_close(from);
}

static void ask_all(const char *file, const struct a_case *c, const char *path, unsigned forms, bool always)
{
	sqlite3 *db = NULL;

	assert_int_equal(sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, shorthand, NULL, NULL, NULL), SQLITE_OK);
	for (size_t i = 0; i < c->n_questions; i++)
		if (c->questions[i].forms & forms)
			ask(file, db, &c->questions[i]);
	executions_are_those_of_the_view(path, db);
	sqlite3_close(db);
	if (always)
		keeps_the_rules(path);
}

static void answers_exactly(void **state)
{
	const struct one *one = *state;
	const struct a_case *c = one->the_case;
	/* full ones hold where there are both */
	unsigned answers = one->forms & TIMELINE_FULL ? CASE_FULL : CASE_COMPACT;
	char *text = timeline(c->trace, one->forms);
	char output[PATH_SIZE + 16];

	clear();
	snprintf(output, sizeof(output), "%s/case.db", directory);
	if (one->way == AS_RECORDS)
		import_records(text, output, one->forms & TIMELINE_COMPACT, c->kept);
	else
		import_trace(text, output, c->kept);
	free(text);
	ask_all(one->file, c, output, answers, one->way == AS_RECORDS);
}

/* ---- all of them ---- */

static size_t add(struct CMUnitTest *tests, size_t n, struct one *one)
{
	static const char *const ways[] = { "as records", "as a trace" }, *const forms[] = { "", "full", "compact",
		                                                                             "both" };

	snprintf(one->name, sizeof(one->name), "%s (%s, %s)", one->the_case->name, forms[one->forms], ways[one->way]);
	tests[n] = (struct CMUnitTest){ .name = one->name, .test_func = answers_exactly, .initial_state = one };
	return n + 1;
}

/*
 * Is there a test of these? A loss ends exactly where it should only as records, and takes what it takes of one form.
 */
static bool is_asked(const struct a_case *c, unsigned forms, enum way way)
{
	bool both = forms == (TIMELINE_FULL | TIMELINE_COMPACT);

	if (way == AS_A_TRACE ? c->lossy || both : c->lossy && both)
		return false;
	return both ? c->forms == CASE_BOTH : (c->forms & forms) != 0;
}

/* Every form and way of @c. Returns how many tests there are then. */
static size_t add_case(struct CMUnitTest *tests, size_t n, struct one *all, const char *file, const struct a_case *c)
{
	for (unsigned forms = TIMELINE_FULL; forms <= (TIMELINE_FULL | TIMELINE_COMPACT); forms++)
		for (enum way way = AS_RECORDS; way <= AS_A_TRACE; way++) {
			if (!is_asked(c, forms, way))
				continue;
			all[n] = (struct one){ .file = file, .the_case = c, .forms = forms, .way = way };
			n = add(tests, n, &all[n]);
		}
	return n;
}

static int run_file(const char *path)
{
	struct case_file f;
	struct CMUnitTest *tests;
	struct one *all;
	size_t n = 0;
	int failed;

	case_file_read(&f, path);
	tests = calloc(N_WAYS * f.n + 1, sizeof(*tests));
	all = calloc(N_WAYS * f.n + 1, sizeof(*all));
	if (!tests || !all)
		abort();
	for (size_t i = 0; i < f.n; i++)
		n = add_case(tests, n, all, path, &f.cases[i]);
	failed = n ? _cmocka_run_group_tests(path, tests, n, NULL, NULL) : 1;
	free(tests);
	free(all);
	case_file_fini(&f);
	return failed;
}

/* ---- a database that is there ---- */

static char **asked; /* DB NUMBER FILE */

static void that_one_answers(void **state)
{
	struct case_file f;
	size_t number = strtoul(asked[1], NULL, 10);

	(void)state;
	case_file_read(&f, asked[2]);
	assert_true(number < f.n);
	ask_all(asked[2], &f.cases[number], asked[0], CASE_COMPACT, true);
	case_file_fini(&f);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest that_one[] = { cmocka_unit_test(that_one_answers) };

	const char *tmp = getenv("TMPDIR");
	int failed = argc < 2;

	snprintf(directory, sizeof(directory), "%s/cases.XXXXXX", tmp && *tmp ? tmp : "/tmp");
	if (!mkdtemp(directory))
		abort();
	asked = argv + 2;
	if (argc == 5 && !strcmp(argv[1], "--ask"))
		failed = cmocka_run_group_tests(that_one, NULL, NULL);
	else
		for (int i = 1; i < argc; i++)
			failed += run_file(argv[i]) != 0;
	clear();
	rmdir(directory);
	checker_free(checker);
	return failed != 0;
}
