/*
 * test_mutated_traces.c -- after any mutation of a trace's values, its import ends with a refusal, or with a
 * database that passes all of tests/analyzer/check.sql.
 *
 * test_mutated_traces [TRACE...]
 *
 * The traces: TRACEs, or else the cases of tests/analyzer/cases and the traces of tests/golden, full and
 * compact. Each round mutates one (analyzer/mutated.h), by the number of the round. NNB_MUTATED: the number
 * of rounds of each kind (150), from round NNB_MUTATED_FROM on (0); NNB_SOAK_SECONDS: as many rounds as fit.
 * NNB_SEED=N: only round N; the test prints the path of the database, and keeps it with KEEP=1.
 */
#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <inttypes.h>
#include <malloc.h>
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
#include "analyzer/checker.h"
#include "analyzer/ctf_writer.h"
#include "analyzer/folders.h"
#include "analyzer/mutated.h"
#include "analyzer/timeline.h"
#include "base.h"
#include "bsa/import.h"
#include "decode/decode.h"
#include "decode/failed.h"
#include "importer.h"

#ifndef ROUNDS
#define ROUNDS 150
#endif

enum { TRACES_MAX = 512, SAID = 1024, PATH_SIZE = 512, FAILED_MAX = 20, APART_MAX = 64 };

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
	size_t n = 0;
	char *text = file_content(path, &n);

	assert_true(n > 0);
	return text;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st, (void)type, (void)ftw;
	return remove(path);
}

static void remove_all(const char *path)
{
	assert_int_equal(nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS), 0);
}

/* The databases need not survive a power failure (ld --wrap). */
int __wrap_fsync(int fd);
int __wrap_fsync(int fd)
{
	(void)fd;
	return 0;
}

/*
 * As long as this decoder is open, the plugins of babeltrace2 stay loaded, and no import, nor the process that
 * import_apart makes for it, loads them again.
 */
static struct bsa_decode *keeps_plugins;

static void keep_plugins(const char *path)
{
	const char *const paths[] = { path };
	const struct bsa_decode_options options = { .threads = 1 };
	const struct bsa_event *e;
	struct bsa_err err = { "" };

	if (bsa_decode_open(&keeps_plugins, paths, 1, &options, &err) || bsa_decode_next(keeps_plugins, &e, &err) < 0)
		fail_msg("%s", err.text);
}

/* The records that the decoder makes of the trace. */
static void read_records(struct trace *t)
{
	const char *const paths[] = { t->path };
	const struct bsa_decode_options options = { .threads = 1 };
	struct bsa_decode *d = NULL;
	const struct bsa_event *e;
	struct bsa_err err = { "" };

	if (!keeps_plugins)
		keep_plugins(t->path);
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

/*
 * A process that imports, one trace after another: to make one for each trace took as long as to import it. The
 * process makes an import for each byte that it gets, and answers with a byte; where babeltrace2 ends the process,
 * the next trace gets another one.
 */
static struct {
	pid_t pid; /* 0: no process */
	int to, from;
	unsigned done;
} apart;

static _Noreturn void import_for_parent(const struct bsa_import_options *options, int from, int to)
{
	uint8_t byte;

	while (read(from, &byte, 1) == 1) {
		int r;

		if (ftruncate(STDERR_FILENO, 0))
			break;
		r = bsa_import(options, NULL, NULL);
		/* an error left on the thread would have the next call of babeltrace2 abort */
		byte = bsa_bt_forget() ? 4 : r == BSA_E_INPUT ? 3 : r ? 2 : 0;
		if (write(to, &byte, 1) != 1)
			break;
	}
	_exit(0);
}

static void apart_begin(const struct bsa_import_options *options, const char *said)
{
	int to[2], from[2], errors = open(said, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0600);

	assert_true(errors >= 0 && !pipe2(to, O_CLOEXEC) && !pipe2(from, O_CLOEXEC));
	apart.pid = fork();
	assert_true(apart.pid >= 0);
	if (!apart.pid) {
		close(to[1]);
		close(from[0]);
		if (dup2(errors, STDERR_FILENO) < 0)
			_exit(1);
		import_for_parent(options, to[0], from[1]);
	}
	close(errors);
	close(to[0]);
	close(from[1]);
	apart.to = to[1];
	apart.from = from[0];
	apart.done = 0;
}

/* Returns the status of the process. */
static int apart_end(void)
{
	int status = 0;

	if (!apart.pid)
		return 0;
	close(apart.to);
	close(apart.from);
	assert_int_equal(waitpid(apart.pid, &status, 0), apart.pid);
	apart.pid = 0;
	return status;
}

/* bsa_import in another process. */
static int import_apart(const struct bsa_import_options *options, struct bsa_err *err)
{
	const char *said = folder_at("said");
	uint8_t byte = 0;
	int status;

	if (apart.done == APART_MAX) /* what it may have lost of its memory */
		apart_end();
	if (!apart.pid)
		apart_begin(options, said);
	apart.done++;
	assert_int_equal(write(apart.to, &byte, 1), 1);
	if (read(apart.from, &byte, 1) == 1) {
		status = byte;
	} else {
		status = apart_end();
		if (is_end_by_babeltrace2(status, said))
			return BSA_E_INPUT;
		status = status ? status : 1;
	}
	if (status == 3 && apart.pid)
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

static struct checker *checker;

static void checker_begin(void)
{
	char copy[PATH_SIZE];

	if (checker)
		return;
	snprintf(copy, sizeof(copy), "%s/judged", scratch);
	checker = checker_new(CHECK_SQL, copy);
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
	ret = r ? 1 : checker_objects(checker, output, wrong, sizeof(wrong)) ? -1 : 0;
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
	checker_begin();
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
	print_message("check.sql was compiled %" PRIu64 " times\n", checker_compiled(checker));
	print_message("%" PRIu64 " mutated traces: %" PRIu64 " refused, %" PRIu64 " broke an invariant\n", done,
	              refused, broken);
	assert_int_equal(broken, 0);
	assert_true(refused < done);
}

/* The compiled check.sql looks at each database anew, and at all of it. */
static void a_database_is_judged_by_what_it_has_now(void **state)
{
	const char *output = folder_at("db");
	char wrong[SAID], said[SAID];
	struct bsa_err err = { "" };
	sqlite3 *db = NULL;

	(void)state;
	add_traces();
	checker_begin();
	for (int broken = 0; broken < 4; broken++) {
		if (import_fields(&traces[0], 0, output, said, &err))
			fail_msg("%s", err.text);
		assert_false(checker_objects(checker, output, wrong, sizeof(wrong)));
		assert_int_equal(sqlite3_open(output, &db), SQLITE_OK);
		assert_int_equal(sqlite3_exec(db, "REPLACE INTO meta VALUES('latest_miss', 12345)", NULL, NULL, NULL),
		                 SQLITE_OK);
		sqlite3_close(db);
		assert_true(checker_objects(checker, output, wrong, sizeof(wrong)));
	}
	unlink(output);
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
	apart_end();
}

int main(int argc, char **argv)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test_setup(a_database_is_judged_by_what_it_has_now, folder_begin),
		cmocka_unit_test_setup(changed_fields_break_no_invariant, folder_begin),
		cmocka_unit_test_setup(changed_bytes_break_no_invariant, folder_begin),
	};
	int r;

	/*
	 * Large tables of an import are mapped, as in a process that imports once: glibc would take them from the
	 * heap from the second import on, and set to 0 what is mostly never read. And the heap is kept for the next
	 * import.
	 */
	mallopt(M_MMAP_THRESHOLD, 256 << 10);
	mallopt(M_TRIM_THRESHOLD, 256 << 20);
	mallopt(M_TOP_PAD, 4 << 20);
	sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0); /* as bsa_db_open has it: less work for each allocation */
	given = argv + 1;
	n_given = argc - 1;
	r = cmocka_run_group_tests(all, folders_make, folders_remove);
	for (size_t i = 0; i < n_traces; i++)
		records_fini(&traces[i].records);
	checker_free(checker);
	bsa_decode_free(keeps_plugins);
	return r;
}
