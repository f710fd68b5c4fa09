/*
 * test_mutated_traces.c -- after any mutation of a trace's values, its import ends with a refusal, or with a
 * database that passes all of tests/analyzer/check.sql.
 *
 * test_mutated_traces [TRACE...]
 *
 * The traces: TRACEs, or else the cases of tests/analyzer/cases and the traces of tests/golden, full and
 * compact. Each round mutates one (analyzer/mutated.h), by the number of the round. NNB_MUTATED: the number
 * of rounds of each kind (150), from round NNB_MUTATED_FROM on (0); NNB_SOAK_SECONDS: as many rounds as fit.
 * NNB_SEED=N: only round N; the test keeps the database and prints its path.
 */
#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>
#include <sqlite3.h>

#include "analyzer/case_file.h"
#include "analyzer/ctf_writer.h"
#include "analyzer/folders.h"
#include "analyzer/mutated.h"
#include "analyzer/timeline.h"
#include "bsa/import.h"
#include "decode/decode.h"
#include "importer.h"

#ifndef ROUNDS
#define ROUNDS 150
#endif

enum { TRACES_MAX = 512, SAID = 1024, PATH_SIZE = 512, COMMAND = 2 * PATH_SIZE, FAILED_MAX = 20 };

struct trace {
	char path[PATH_SIZE];
	struct records records;
	bool compact;
};

#define HORIZON_MAX UINT64_C(60000000000) /* the horizon of bsa_import */

static struct trace traces[TRACES_MAX];
static size_t n_traces;
static char **given;
static int n_given;
static char scratch[PATH_SIZE - 32];

/* ---- the traces that are mutated ---- */

static char *read_file(const char *path)
{
	FILE *in = fopen(path, "r");
	char *text = NULL;
	size_t room = 0;

	assert_non_null(in);
	assert_true(getdelim(&text, &room, 0, in) > 0);
	fclose(in);
	return text;
}

static void remove_all(const char *path)
{
	char command[COMMAND];

	snprintf(command, sizeof(command), "rm -rf '%s'", path);
	assert_int_equal(system(command), 0);
}

/* The records that the decoder makes of the trace. */
static void read_records(struct trace *t)
{
	const char *const paths[] = { t->path };
	const struct bsa_decode_options options = { .threads = 1 };
	struct bsa_decode *d = NULL;
	const struct bsa_event *e;
	struct bsa_err err = { "" };

	if (bsa_decode_open(&d, paths, 1, &options, &err))
		fail_msg("%s", err.text);
	t->compact = bsa_decode_trace(d, 0)->compact;
	records_init(&t->records);
	while (bsa_decode_next(d, &e, &err) > 0)
		if (e->trace == 1)
			records_add(&t->records, e);
	assert_true(t->records.n > 0);
	bsa_decode_free(d);
}

static struct trace *trace_new(void)
{
	assert_true(n_traces < TRACES_MAX);
	snprintf(traces[n_traces].path, PATH_SIZE, "%s/trace%zu", scratch, n_traces);
	return &traces[n_traces++];
}

static void add_text(const char *text, unsigned forms)
{
	const struct ctf_options how = { .packet = 64 };
	char *lines = timeline(text, forms);
	struct trace *t = trace_new();
	struct ctf_writer *w = ctf_writer_new(t->path, &how);

	ctf_writer_script(w, lines, 1);
	ctf_writer_free(w);
	free(lines);
	read_records(t);
}

static void add_cases(const char *path)
{
	struct case_file f;

	case_file_read(&f, path);
	for (size_t i = 0; i < f.n; i++)
		for (unsigned form = TIMELINE_FULL; form <= TIMELINE_COMPACT; form++)
			if (f.cases[i].forms & form)
				add_text(f.cases[i].trace, form);
	case_file_fini(&f);
}

static void add_golden(const char *path)
{
	char *text = read_file(path);

	add_text(text, TIMELINE_FULL);
	add_text(text, TIMELINE_COMPACT);
	free(text);
}

static int has_suffix(const struct dirent *e, const char *suffix)
{
	size_t n = strlen(e->d_name), k = strlen(suffix);

	return n > k && !strcmp(e->d_name + n - k, suffix);
}

static int is_case(const struct dirent *e)
{
	return has_suffix(e, ".case");
}

static int is_golden(const struct dirent *e)
{
	return has_suffix(e, ".trace");
}

static void add_all(const char *directory, int (*wanted)(const struct dirent *), void (*add)(const char *path))
{
	struct dirent **names;
	int n = scandir(directory, &names, wanted, alphasort);

	assert_true(n > 0);
	for (int i = 0; i < n; i++) {
		char path[PATH_SIZE];

		snprintf(path, sizeof(path), "%s/%s", directory, names[i]->d_name);
		add(path);
		free(names[i]);
	}
	free(names);
}

static void add_traces(void)
{
	if (n_traces)
		return;
	assert_true(snprintf(scratch, sizeof(scratch), "%s", folder_at("..")) < (int)sizeof(scratch));
	for (int i = 0; i < n_given; i++) {
		struct trace *t = trace_new();

		snprintf(t->path, sizeof(t->path), "%s", given[i]);
		read_records(t);
	}
	if (n_given)
		return;
	add_all(CASES, is_case, add_cases);
	add_all(GOLDEN, is_golden, add_golden);
}

/* ---- into a database ---- */

/* *horizon: how late summaries may be (0: the default); the import raises it to how late they were. */
static int import_once(const struct trace *t, const struct records *records, const char *output, uint64_t *horizon,
                       struct bsa_err *err)
{
	const struct bsa_importer_options options = { .output = output,
		                                      .keep_operations = records->n % 2,
		                                      .horizon_ns = *horizon };
	const struct bsa_trace trace = { .path = "mutated",
		                         .uuid = "00000000-0000-0000-0000-000000000001",
		                         .host = "host",
		                         .session = "",
		                         .clock = "monotonic",
		                         .clock_uuid = "",
		                         .compact = t->compact };
	struct bsa_decoded decoded = { .began = BSA_NEVER, .ended = BSA_NEVER };
	struct bsa_importer *im = NULL;
	int r = bsa_importer_new(&im, &options, err);

	if (!r)
		r = bsa_importer_trace(im, &trace, err);
	for (size_t i = 0; !r && i < records->n; i++) {
		const struct bsa_event *e = records_get(records, i);

		decoded.began = decoded.began < e->at ? decoded.began : e->at;
		decoded.ended = e->at;
		decoded.events++;
		r = bsa_importer_event(im, e, err);
	}
	if (!r)
		r = bsa_importer_decoded(im, 1, &decoded, err);
	if (!r)
		r = bsa_importer_finish(im, err);
	*horizon = bsa_importer_wants_horizon(im);
	bsa_importer_free(im);
	return r;
}

/* Import a second time if summaries came too late the first time, as bsa_import does. */
static int import_records(const struct trace *t, const struct records *records, const char *output, struct bsa_err *err)
{
	uint64_t horizon = 0;
	int r = import_once(t, records, output, &horizon, err);

	if (r || !horizon)
		return r;
	horizon = horizon < HORIZON_MAX ? horizon : HORIZON_MAX;
	return import_once(t, records, output, &horizon, err);
}

static int import_fields(const struct trace *t, uint64_t seed, const char *output, char *said, struct bsa_err *err)
{
	struct records records;
	int r;

	records_init(&records);
	mutate_fields(&t->records, seed, &records, said, SAID);
	r = import_records(t, &records, output, err);
	records_fini(&records);
	return r;
}

/*
 * libbabeltrace2 aborts over some traces, and prints this. burstscope reads traces in a process of its own.
 */
static bool is_end_by_babeltrace2(int status, const char *stderr_path)
{
	char *text;
	bool is;

	if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGABRT)
		return false;
	text = read_file(stderr_path); /* an empty file fails: then the abort was ours */
	is = strstr(text, "\u253b\u2501\u253b");
	free(text);
	return is;
}

/* bsa_import in a process of its own. */
static int import_apart(const struct bsa_import_options *options, struct bsa_err *err)
{
	const char *said = folder_at("said");
	int status;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (!pid) {
		int to = open(said, O_WRONLY | O_CREAT | O_TRUNC, 0600);

		if (to < 0 || dup2(to, STDERR_FILENO) < 0)
			_exit(1);
		status = bsa_import(options, NULL, err);
		_exit(status == BSA_E_INPUT ? 3 : status ? 2 : 0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (is_end_by_babeltrace2(status, said) || (WIFEXITED(status) && WEXITSTATUS(status) == 3))
		return BSA_E_INPUT;
	snprintf(err->text, sizeof(err->text), "the import ended with %x, see %s", status, said);
	return status ? BSA_E_ENV : 0;
}

static int import_bytes(const struct trace *t, uint64_t seed, const char *output, char *said, struct bsa_err *err)
{
	const char *copy = folder_at("copy");
	const char *const paths[] = { copy };
	const struct bsa_import_options options = { .traces = paths, .n_traces = 1, .output = output, .threads = 1 };
	int r;

	mutate_bytes(t->path, copy, seed, said, SAID);
	r = import_apart(&options, err);
	if (!getenv("NNB_SEED"))
		remove_all(copy);
	return r;
}

/* ---- and judged ---- */

static char *check; /* check.sql */

/* The first promise that the database breaks, in @ret; false: it keeps all. */
static bool broken_promise(const char *path, char *ret, size_t size)
{
	sqlite3 *db = NULL;
	sqlite3_stmt *s = NULL;
	int status;

	assert_int_equal(sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
	if (sqlite3_prepare_v2(db, check, -1, &s, NULL))
		fail_msg("%s", sqlite3_errmsg(db));
	status = sqlite3_step(s);
	if (status == SQLITE_ROW)
		snprintf(ret, size, "%s: %s: %s", (const char *)sqlite3_column_text(s, 0),
		         (const char *)sqlite3_column_text(s, 1), (const char *)sqlite3_column_text(s, 2));
	else if (status != SQLITE_DONE)
		fail_msg("%s", sqlite3_errmsg(db));
	sqlite3_finalize(s);
	sqlite3_close(db);
	return status == SQLITE_ROW;
}

typedef int how(const struct trace *t, uint64_t seed, const char *output, char *said, struct bsa_err *err);

/* 1: refused; 0: the database keeps all promises; -1: it breaks one. */
static int one_round(how *import, uint64_t seed)
{
	const struct trace *t = &traces[seed % n_traces];
	char said[SAID], wrong[SAID] = "";
	const char *output = folder_at("db");
	struct bsa_err err = { "" };
	int r = import(t, seed, output, said, &err), ret;

	if (r && r != BSA_E_INPUT)
		fail_msg("round %" PRIu64 ": %s (%s)", seed, err.text, said);
	ret = r ? 1 : broken_promise(output, wrong, sizeof(wrong)) ? -1 : 0;
	if (ret < 0)
		print_error("round %" PRIu64 " (%s): %s\n after%s\n", seed, t->path, wrong, said);
	if (getenv("NNB_SEED"))
		print_message("%s:%s\n %s\n", output, said, r ? err.text : "");
	else if (!r)
		unlink(output);
	return ret;
}

static uint64_t number(const char *name, uint64_t otherwise)
{
	const char *value = getenv(name);

	return value ? strtoull(value, NULL, 10) : otherwise;
}

/* Each of the two tests takes half of the soak. */
static bool is_over(uint64_t done, time_t began)
{
	uint64_t seconds = number("NNB_SOAK_SECONDS", 0);

	if (seconds && !getenv("NNB_MUTATED"))
		return (uint64_t)(time(NULL) - began) >= seconds / 2;
	return done >= number("NNB_MUTATED", ROUNDS);
}

static void rounds(how *import)
{
	uint64_t refused = 0, broken = 0, first = number("NNB_MUTATED_FROM", 0), done = 0;
	time_t began = time(NULL);

	add_traces();
	check = check ? check : read_file(CHECK_SQL);
	if (getenv("NNB_SEED")) {
		assert_true(one_round(import, number("NNB_SEED", 0)) >= 0);
		return;
	}
	for (; !is_over(done, began) && broken < FAILED_MAX; done++) {
		int r = one_round(import, first + done);

		refused += r > 0;
		broken += r < 0;
	}
	print_message("counted: %" PRIu64 " mutated traces\n", done);
	print_message("%" PRIu64 " mutated traces: %" PRIu64 " refused, %" PRIu64 " broke an invariant\n", done,
	              refused, broken);
	assert_int_equal(broken, 0);
	assert_true(refused < done);
}

static void changed_fields_break_no_invariant(void **state)
{
	(void)state;
	rounds(import_fields);
}

static void changed_bytes_break_no_invariant(void **state)
{
	(void)state;
	rounds(import_bytes);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test_setup(changed_fields_break_no_invariant, folder_begin),
		cmocka_unit_test_setup(changed_bytes_break_no_invariant, folder_begin),
	};
	int r;

	given = argv + 1;
	n_given = argc - 1;
	r = cmocka_run_group_tests(all, folders_make, folders_remove);
	for (size_t i = 0; i < n_traces; i++)
		records_fini(&traces[i].records);
	free(check);
	return r;
}
