/*
 * test_live.c -- figures of a recording that grows. For any sizes of its pieces, the sums at the end are those
 * of an import; and the memory is limited by what is under way.
 */
#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <malloc.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>
#include <sqlite3.h>

#include "analyzer/case_file.h"
#include "analyzer/ctf_writer.h"
#include "analyzer/folders.h"
#include "analyzer/schedule_sim.h"
#include "analyzer/timeline.h"
#include "base.h"
#include "bsa/import.h"
#include "bsa/live.h"

#ifndef SEEDS
#define SEEDS 6
#endif

enum { PATH = 1024, FILES_MAX = 8, TEXT_MAX = 1 << 16, ROWS_MAX = 256, FOR_EVER = 1000000000 };

static char doing[512];

static void __attribute__((format(printf, 2, 3))) print_text(char *text, const char *format, ...)
{
	size_t n = strlen(text);
	va_list list;

	va_start(list, format);
	n += (size_t)vsnprintf(text + n, TEXT_MAX - n, format, list);
	va_end(list);
	assert_true(n < TEXT_MAX);
}

/* ---- a recording that grows ---- */

struct file {
	char name[64];
	uint8_t *bytes;
	size_t n, there;
};

static struct file files[FILES_MAX];
static size_t n_files;

static void load(const char *directory)
{
	DIR *d = opendir(directory);
	const struct dirent *e;

	assert_non_null(d);
	for (n_files = 0; (e = readdir(d));) {
		struct file *f = &files[n_files];
		char path[PATH];
		struct stat st;
		int fd;

		if (e->d_name[0] == '.' || strlen(e->d_name) >= sizeof(f->name))
			continue;
		assert_true(n_files < FILES_MAX);
		snprintf(path, sizeof(path), "%s/%s", directory, e->d_name);
		fd = open(path, O_RDONLY | O_CLOEXEC);
		if (fd < 0 || fstat(fd, &st) || !S_ISREG(st.st_mode)) {
			close(fd);
			continue;
		}
		*f = (struct file){ .n = (size_t)st.st_size, .bytes = malloc((size_t)st.st_size + 1) };
		strcpy(f->name, e->d_name);
		assert_int_equal(read(fd, f->bytes, f->n), f->n);
		close(fd);
		n_files++;
	}
	closedir(d);
}

/* Append the next @piece bytes of @f; the file is made if it does not exist. */
static void grow(struct file *f, const char *directory, size_t piece)
{
	size_t n = f->n - f->there < piece ? f->n - f->there : piece;
	char path[PATH];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", directory, f->name);
	fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, f->bytes + f->there, n), n);
	close(fd);
	f->there += n;
}

static bool is_all_there(void)
{
	for (size_t i = 0; i < n_files; i++)
		if (files[i].there < files[i].n)
			return false;
	return true;
}

static void unload(void)
{
	for (size_t i = 0; i < n_files; i++)
		free(files[i].bytes);
	n_files = 0;
}

/* ---- sums of it, live and imported ---- */

static void print_row(char *text, const struct bsa_live_row *r)
{
	print_text(text,
	           "app %u model %s: %" PRIu64 " executions, %" PRIu64 " missed, %" PRIu64 " incomplete, slots %" PRIu64
	           ", run %" PRIu64 ", queue %" PRIu64 "\n",
	           r->app_id, r->model, r->sum.executions, r->sum.missed, r->sum.incomplete, r->sum.slot_misses,
	           r->sum.run_ns, r->sum.queue_ns);
	for (unsigned i = 0; i < BSA_LIVE_CAUSES; i++)
		if (r->sum.by_cause[i])
			print_text(text, "app %u model %s: %s %" PRIu64 "\n", r->app_id, r->model, bsa_live_cause(i),
			           r->sum.by_cause[i]);
}

static void print_shares(char *text, const struct bsa_live *l)
{
	uint64_t received, entitled;

	for (uint32_t app = 1; app < ROWS_MAX; app++)
		if (bsa_live_share(l, app, &received, &entitled))
			print_text(text, "app %u got %" PRIu64 " of %" PRIu64 "\n", app, received, entitled);
}

static int by_line(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void sort_lines(char *text)
{
	static char sorted[TEXT_MAX];
	char *lines[TEXT_MAX / 16], *save = NULL;
	size_t n = 0;

	for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
		lines[n++] = line;
	qsort(lines, n, sizeof(*lines), by_line);
	sorted[0] = 0;
	for (size_t i = 0; i < n; i++)
		print_text(sorted, "%s\n", lines[i]);
	strcpy(text, sorted);
}

static void look(struct bsa_live *l)
{
	struct bsa_err err = { "" };

	if (bsa_live_look(l, 1, &err))
		fail_msg("%s: %s", doing, err.text);
}

static struct bsa_live *follow(const char *directory)
{
	const struct bsa_live_options options = { .directory = directory, .settle_ns = FOR_EVER };
	struct bsa_live *l = NULL;
	struct bsa_err err = { "" };

	if (bsa_live_open(&l, &options, &err))
		fail_msg("%s: %s", doing, err.text);
	return l;
}

/* A database also separates different models of one name, but by other names: add them up, as MODEL below does. */
static size_t join_models(struct bsa_live_row *rows, size_t n)
{
	size_t kept = 0;

	for (size_t i = 0; i < n; i++) {
		char *differs = strstr(rows[i].model, " (");
		size_t k = 0;

		if (differs)
			*differs = 0;
		while (k < kept && (rows[k].app_id != rows[i].app_id || strcmp(rows[k].model, rows[i].model) != 0))
			k++;
		if (k < kept)
			bsa_live_sum_add(&rows[k].sum, &rows[i].sum);
		else
			rows[kept++] = rows[i];
	}
	return kept;
}

static void print_all(char *text, const struct bsa_live *l)
{
	static struct bsa_live_row rows[ROWS_MAX];
	const struct bsa_live_state s = bsa_live_state(l);
	size_t n = join_models(rows, bsa_live_rows(l, true, rows, ROWS_MAX));

	if (!s.exact)
		fail_msg("%s: not exact: %s", doing, s.why);
	text[0] = 0;
	for (size_t i = 0; i < n; i++)
		print_row(text, &rows[i]);
	print_shares(text, l);
	print_text(text, "losses %" PRIu64 ", events %" PRIu64 ", packets %" PRIu64 "\n", s.losses, s.lost_events,
	           s.lost_packets);
	sort_lines(text);
}

/* Read the whole recording, @piece bytes of each file at a time. */
static void live(char *text, const char *whole, size_t piece)
{
	const char *grows = folder_at("grows");
	struct bsa_err err = { "" };
	struct bsa_live *l;

	assert_int_equal(mkdir(grows, 0700), 0);
	load(whole);
	for (size_t i = 0; i < n_files; i++)
		grow(&files[i], grows, strcmp(files[i].name, "metadata") ? 0 : SIZE_MAX);
	l = follow(grows);
	while (!is_all_there()) {
		for (size_t i = 0; i < n_files; i++)
			grow(&files[i], grows, piece);
		look(l);
	}
	if (bsa_live_finish(l, &err))
		fail_msg("%s: %s", doing, err.text);
	print_all(text, l);
	bsa_live_free(l);
	unload();
	for (size_t i = 0; i < N_OF(files); i++)
		if (files[i].name[0]) {
			char path[PATH];

			snprintf(path, sizeof(path), "%s/%s", grows, files[i].name);
			unlink(path);
			files[i].name[0] = 0;
		}
	assert_int_equal(rmdir(grows), 0);
}

static void ask(sqlite3 *db, const char *sql, char *text)
{
	sqlite3_stmt *q = NULL;

	if (sqlite3_prepare_v2(db, sql, -1, &q, NULL))
		fail_msg("%s", sqlite3_errmsg(db));
	while (sqlite3_step(q) == SQLITE_ROW)
		print_text(text, "%s\n", (const char *)sqlite3_column_text(q, 0));
	sqlite3_finalize(q);
}

/* In a database, different models of one name have the difference after their names: " (3 operations...". */
#define MODEL "coalesce(iif(instr(m.name, ' ('), substr(m.name, 1, instr(m.name, ' (') - 1), m.name), '')"

static void imported(char *text, const char *whole)
{
	const char *db_path = folder_at("db");
	const struct bsa_import_options options = { .traces = &whole, .n_traces = 1, .output = db_path };
	struct bsa_err err = { "" };
	sqlite3 *db = NULL;

	if (bsa_import(&options, NULL, &err))
		fail_msg("%s: %s", doing, err.text);
	assert_int_equal(sqlite3_open_v2(db_path, &db, SQLITE_OPEN_READONLY, NULL), 0);
	text[0] = 0;
	ask(db,
	    "SELECT 'app ' || coalesce(x.app_id, 0) || ' model ' || " MODEL
	    " || ': ' || count(*) || ' executions, ' || "
	    "count(x.miss) || ' missed, ' || sum(x.quality <> 'complete') || ' incomplete, slots ' || "
	    "coalesce(sum(x.slot_misses), 0) || ', run ' || coalesce(sum(x.run_ns), 0) || ', queue ' || "
	    "coalesce(sum(x.queue_ns), 0) FROM execution x LEFT JOIN model m ON m.id = x.model_id "
	    "WHERE x.path IS NOT 'prepare' GROUP BY coalesce(x.app_id, 0), " MODEL,
	    text);
	ask(db,
	    "SELECT 'app ' || coalesce(x.app_id, 0) || ' model ' || " MODEL " || ': ' || c.cause || ' ' || "
	    "count(DISTINCT c.execution_id) FROM miss_cause c JOIN execution x ON x.id = c.execution_id "
	    "LEFT JOIN model m ON m.id = x.model_id WHERE c.is_primary "
	    "GROUP BY coalesce(x.app_id, 0), " MODEL ", c.cause",
	    text);
	ask(db, "SELECT 'app ' || app_id || ' got ' || received_ns || ' of ' || entitled_ns FROM app_share", text);
	ask(db,
	    "SELECT 'losses ' || (SELECT count(*) FROM loss) || ', events ' || coalesce(sum(lost_events), 0) || ', "
	    "packets ' || "
	    "coalesce(sum(lost_packets), 0) FROM trace",
	    text);
	sqlite3_close(db);
	unlink(db_path);
	sort_lines(text);
}

static void compare(const char *whole, size_t n_pieces)
{
	static const size_t pieces[] = { 700, 5000, 1 << 20 };
	static char is[TEXT_MAX], wanted[TEXT_MAX];

	imported(wanted, whole);
	for (size_t i = 0; i < n_pieces; i++) {
		live(is, whole, pieces[i]);
		if (strcmp(is, wanted)) {
			fprintf(stderr, "live\n%simported\n%s", is, wanted); /* longer than cmocka prints */
			fail_msg("%s, in pieces of %zu bytes", doing, pieces[i]);
		}
	}
}

static void remove_trace(const char *whole)
{
	char command[PATH];

	snprintf(command, sizeof(command), "rm -rf '%s'", whole);
	assert_int_equal(system(command), 0);
}

/* ---- recordings ---- */

static void compare_world(uint64_t seed, unsigned forms)
{
	const struct sim_terms terms = { .seed = seed, .executions = 200, .no_ends = seed % 3 == 0 };
	const struct ctf_options how = { .packet = 16, .cpus = 2 };
	const char *whole = folder_at("whole");
	struct ctf_writer *w = ctf_writer_new(whole, &how);
	struct sim s;

	snprintf(doing, sizeof(doing), "world %" PRIu64 ", %s", seed, forms == SIM_FULL ? "full" : "compact");
	sim_play(&s, &terms);
	for (size_t i = 0; i < s.n_events; i++)
		if (s.events[i].forms & forms)
			ctf_writer_record(w, s.events[i].cpu, &s.events[i].event);
	ctf_writer_free(w);
	compare(whole, 3);
	remove_trace(whole);
	sim_free(&s);
}

static void random_recordings_have_the_sums_of_an_import(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		compare_world(seed, SIM_FULL);
		compare_world(seed, SIM_COMPACT);
	}
}

/* ---- records that come late ---- */

/*
 * Read all files but one, as if no records were to come; then the last one. Returns missed deadlines; *ret:
 * executions.
 */
static uint64_t missed_with_one_late(const char *whole, const char *late, uint64_t *ret)
{
	const char *grows = folder_at("grows");
	struct bsa_live_state state;
	struct bsa_err err = { "" };
	struct bsa_live *l;

	assert_int_equal(mkdir(grows, 0700), 0);
	load(whole);
	for (size_t i = 0; i < n_files; i++)
		grow(&files[i], grows, strcmp(files[i].name, late) ? SIZE_MAX : 0);
	l = follow(grows);
	assert_int_equal(bsa_live_look(l, INT64_MAX, &err), 0);
	for (size_t i = 0; i < n_files; i++)
		grow(&files[i], grows, SIZE_MAX);
	assert_int_equal(bsa_live_look(l, INT64_MAX, &err), 0);
	assert_int_equal(bsa_live_finish(l, &err), 0);
	state = bsa_live_state(l);
	assert_true(state.late);
	assert_false(state.exact);
	bsa_live_free(l);
	unload();
	remove_trace(grows);
	*ret = state.sum.executions;
	return state.sum.missed;
}

static uint64_t count(const char *whole, const char *of)
{
	const char *db_path = folder_at("db");
	const struct bsa_import_options options = { .traces = &whole, .n_traces = 1, .output = db_path };
	char sql[256], text[64] = "";
	struct bsa_err err = { "" };
	sqlite3 *db = NULL;

	assert_int_equal(bsa_import(&options, NULL, &err), 0);
	assert_int_equal(sqlite3_open_v2(db_path, &db, SQLITE_OPEN_READONLY, NULL), 0);
	snprintf(sql, sizeof(sql), "SELECT count(%s) FROM execution WHERE path IS NOT 'prepare'", of);
	ask(db, sql, text);
	sqlite3_close(db);
	unlink(db_path);
	return strtoull(text, NULL, 10);
}

static void late_records_do_not_make_a_miss(void **state)
{
	static const char *const cpus[] = { "cpu_0", "cpu_1" };
	const struct ctf_options how = { .packet = 16, .cpus = 2 };
	char whole[PATH / 2];
	uint64_t all_missed = 0;

	(void)state;
	snprintf(whole, sizeof(whole), "%s", folder_at("whole")); /* folder_at keeps its last few results only */
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		const struct sim_terms terms = { .seed = seed, .executions = 200 };
		struct ctf_writer *w = ctf_writer_new(whole, &how);
		struct sim s;

		sim_play(&s, &terms);
		for (size_t i = 0; i < s.n_events; i++)
			if (s.events[i].forms & SIM_FULL)
				ctf_writer_record(w, s.events[i].cpu, &s.events[i].event);
		ctf_writer_free(w);
		for (size_t i = 0; i < N_OF(cpus); i++) {
			uint64_t executions, missed = missed_with_one_late(whole, cpus[i], &executions);

			if (executions != count(whole, "*") || missed > count(whole, "miss"))
				fail_msg("world %" PRIu64 ", %s late: %" PRIu64 " of %" PRIu64 " missed, not %" PRIu64
				         " of %" PRIu64,
				         seed, cpus[i], missed, executions, count(whole, "miss"), count(whole, "*"));
			all_missed += missed;
		}
		remove_trace(whole);
		sim_free(&s);
	}
	assert_true(all_missed > 0);
}

static void compare_case(const struct a_case *c, unsigned form)
{
	const struct ctf_options how = { .packet = 16 };
	const char *whole = folder_at("whole");
	struct ctf_writer *w = ctf_writer_new(whole, &how);
	char *lines = timeline(c->trace, form);

	snprintf(doing, sizeof(doing), "%s, %s", c->name, form == TIMELINE_FULL ? "full" : "compact");
	ctf_writer_script(w, lines, 1);
	ctf_writer_free(w);
	compare(whole, 1);
	remove_trace(whole);
	free(lines);
}

static void compare_cases(const char *path)
{
	struct case_file f;

	case_file_read(&f, path);
	for (size_t i = 0; i < f.n; i++) {
		if (f.cases[i].forms & CASE_FULL)
			compare_case(&f.cases[i], TIMELINE_FULL);
		if (f.cases[i].forms & CASE_COMPACT)
			compare_case(&f.cases[i], TIMELINE_COMPACT);
	}
	case_file_fini(&f);
}

static void each_cause_is_that_of_an_import(void **state)
{
	(void)state;
	compare_cases(CASES "/causes.case");
}

static void losses_are_those_of_an_import(void **state)
{
	(void)state;
	compare_cases(CASES "/losses.case");
}

/* ---- models that share a name ---- */

static void different_models_of_one_name_have_rows_of_their_own(void **state)
{
	static const char lines[] = "1 service_state pid=9 lanes=1\n"
				    "2 client_connect conn=1 pid=20 uid=1 app=20 name=camera\n"
				    "3 model_prepare model=2 conn=1 name=net ops=3 const_bytes=40 digest=7\n"
				    "3 model_prepare model=3 conn=1 name=net ops=5 const_bytes=60 digest=8\n"
				    "3 model_prepare model=4 conn=1 name=net ops=5 const_bytes=60 digest=9\n"
				    "3 model_prepare model=5 conn=1 name=net ops=3 const_bytes=40 digest=7\n"
				    "4 stream_open stream=2 conn=1 path=sync model=2\n"
				    "4 stream_open stream=3 conn=1 path=sync model=3\n"
				    "4 stream_open stream=4 conn=1 path=sync model=4\n"
				    "4 stream_open stream=5 conn=1 path=sync model=5\n"
				    "10 exec_submit exec=2:1 model=2 path=sync\n11 exec_return exec=2:1\n"
				    "20 exec_submit exec=3:1 model=3 path=sync\n21 exec_return exec=3:1\n"
				    "30 exec_submit exec=4:1 model=4 path=sync\n31 exec_return exec=4:1\n"
				    "40 exec_submit exec=5:1 model=5 path=sync\n41 exec_return exec=5:1\n";
	static const struct {
		const char *model;
		uint64_t executions;
	} wanted[] = { { "net", 2 },
		       { "net (5 operations, 60 bytes, 00000009)", 1 },
		       { "net (5 operations, 60 bytes)", 1 } };
	const struct ctf_options how = { .packet = 16 };
	const char *whole = folder_at("whole");
	struct ctf_writer *w = ctf_writer_new(whole, &how);
	struct bsa_live_row rows[N_OF(wanted) + 1];
	struct bsa_err err = { "" };
	struct bsa_live *l;

	(void)state;
	ctf_writer_script(w, lines, 1);
	ctf_writer_free(w);
	l = follow(whole);
	look(l);
	assert_int_equal(bsa_live_finish(l, &err), 0);
	assert_int_equal(bsa_live_rows(l, true, rows, N_OF(rows)), N_OF(wanted));
	for (size_t i = 0; i < N_OF(wanted); i++) {
		assert_string_equal(rows[i].model, wanted[i].model);
		assert_int_equal(rows[i].sum.executions, wanted[i].executions);
	}
	bsa_live_free(l);
	remove_trace(whole);
}

/*
 * The figures compare 64 models of one app and name with each other. Each further model has its digest after
 * its name, even where its number of operations would be enough. The model that occurs twice is found again
 * among the first ones.
 */
static void many_models_of_one_name_are_kept_apart_without_comparing_all(void **state)
{
	static const char *const wanted[] = { "net", "net (64 operations, 8 bytes)",
		                              "net (65 operations, 8 bytes, 00000041)",
		                              "net (66 operations, 8 bytes, 00000042)" };
	enum { MODELS = 66, FIRST_AGAIN = MODELS + 1 };
	const struct ctf_options how = { .packet = 16 };
	const char *whole = folder_at("whole");
	struct ctf_writer *w = ctf_writer_new(whole, &how);
	struct bsa_live_row rows[MODELS + 1];
	struct bsa_err err = { "" };
	struct bsa_live *l;
	unsigned found[N_OF(wanted)] = { 0 };
	char line[256];

	(void)state;
	ctf_writer_script(w, "2 client_connect conn=1 pid=20 uid=1 app=20 name=camera\n", 1);
	for (unsigned m = 1; m <= FIRST_AGAIN; m++) {
		unsigned is = m == FIRST_AGAIN ? 1 : m;

		snprintf(line, sizeof(line),
		         "%u model_prepare model=%u conn=1 name=net ops=%u const_bytes=8 digest=%u\n"
		         "%u stream_open stream=%u conn=1 path=sync model=%u\n"
		         "%u exec_submit exec=%u:1 model=%u path=sync\n%u exec_return exec=%u:1\n",
		         10 * m, m, is, is, 10 * m + 1, m, m, 10 * m + 2, m, m, 10 * m + 3, m);
		ctf_writer_script(w, line, 1);
	}
	ctf_writer_free(w);
	l = follow(whole);
	look(l);
	assert_int_equal(bsa_live_finish(l, &err), 0);
	assert_int_equal(bsa_live_rows(l, true, rows, N_OF(rows)), MODELS);
	for (size_t k = 0; k < MODELS; k++)
		for (size_t i = 0; i < N_OF(wanted); i++)
			if (!strcmp(rows[k].model, wanted[i]))
				found[i] += (unsigned)rows[k].sum.executions;
	assert_int_equal(found[0], 2);
	for (size_t i = 1; i < N_OF(wanted); i++)
		assert_int_equal(found[i], 1);
	bsa_live_free(l);
	remove_trace(whole);
}

/* ---- metadata ---- */

/* An app that connects, runs a model of its own once, and leaves. */
static void write_guest(struct ctf_writer *w, unsigned i)
{
	static const char lines[] =
		"%u000 client_connect conn=%u pid=%u uid=%u app=%u name=guest\n"
		"%u010 model_prepare model=%u conn=%u name=net priority=high\n"
		"%u020 stream_open stream=%u conn=%u path=burst model=%u\n"
		"%u412 exec_service exec=%u:1 model=%u app=%u priority=high path=burst lane=0 status=none "
		"began=%u030 at=10,-,30,35,370,380,6,7,0,300\n"
		"%u461 exec_client exec=%u:1 model=%u path=burst status=none began=%u025 at=5,430,432,9\n"
		"%u500 stream_close stream=%u\n"
		"%u510 model_release model=%u\n"
		"%u520 client_disconnect conn=%u\n";
	unsigned t = i + 2, n = i + 1;
	char text[1024];

	snprintf(text, sizeof(text), lines, t, n, n, n, n, t, n, n, t, n, n, n, t, n, n, n, t, t, n, n, t, t, n, t, n,
	         t, n);
	ctf_writer_script(w, text, 1);
}

/* Without a switch timer of its own, a session keeps its metadata in memory, and the files mean nothing yet. */
static void without_metadata_figures_are_not_exact(void **state)
{
	const struct ctf_options how = { .packet = 256 };
	const char *whole = folder_at("whole"), *grows = folder_at("grows");
	struct ctf_writer *w = ctf_writer_new(whole, &how);
	struct bsa_err err = { "" };
	struct bsa_live *l;

	(void)state;
	ctf_writer_script(w, "1 service_state pid=9 lanes=1 policy=fair\n", 1);
	write_guest(w, 0);
	ctf_writer_free(w);
	assert_int_equal(mkdir(grows, 0700), 0);
	load(whole);
	for (size_t i = 0; i < n_files; i++)
		grow(&files[i], grows, strcmp(files[i].name, "metadata") ? SIZE_MAX : 0);
	l = follow(grows);
	look(l);
	assert_false(bsa_live_state(l).exact);
	assert_non_null(strstr(bsa_live_state(l).why, "metadata"));
	for (size_t i = 0; i < n_files; i++)
		grow(&files[i], grows, SIZE_MAX);
	look(l);
	assert_int_equal(bsa_live_finish(l, &err), 0);
	assert_true(bsa_live_state(l).exact);
	assert_int_equal(bsa_live_state(l).sum.executions, 1);
	bsa_live_free(l);
	unload();
	for (size_t i = 0; i < N_OF(files); i++)
		files[i].name[0] = 0;
	remove_trace(grows);
	remove_trace(whole);
}

/* ---- memory ---- */

/* Bytes in use after @guests apps have come and gone. */
static size_t bytes_after(unsigned guests)
{
	const struct ctf_options how = { .packet = 256 };
	const char *whole = folder_at("whole");
	struct ctf_writer *w = ctf_writer_new(whole, &how);
	size_t before, after;
	struct bsa_live *l;
	struct bsa_err err = { "" };

	ctf_writer_script(w, "1 service_state pid=9 lanes=1 policy=fair\n", 1);
	for (unsigned i = 0; i < guests; i++)
		write_guest(w, i);
	ctf_writer_free(w);
	before = mallinfo2().uordblks;
	l = follow(whole);
	look(l);
	assert_int_equal(bsa_live_finish(l, &err), 0);
	after = mallinfo2().uordblks;
	assert_int_equal(bsa_live_state(l).sum.executions, guests);
	bsa_live_free(l);
	remove_trace(whole);
	return after > before ? after - before : 0;
}

static void ended_apps_leave_no_memory(void **state)
{
	size_t few = bytes_after(6000), many = bytes_after(12000);

	(void)state;
	if (many > few + 100000)
		fail_msg("%zu bytes after 6000 apps, %zu after 12000", few, many);
}

int main(void)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test_setup(random_recordings_have_the_sums_of_an_import, folder_begin),
		cmocka_unit_test_setup(each_cause_is_that_of_an_import, folder_begin),
		cmocka_unit_test_setup(losses_are_those_of_an_import, folder_begin),
		cmocka_unit_test_setup(late_records_do_not_make_a_miss, folder_begin),
		cmocka_unit_test_setup(different_models_of_one_name_have_rows_of_their_own, folder_begin),
		cmocka_unit_test_setup(many_models_of_one_name_are_kept_apart_without_comparing_all, folder_begin),
		cmocka_unit_test_setup(without_metadata_figures_are_not_exact, folder_begin),
		cmocka_unit_test_setup(ended_apps_leave_no_memory, folder_begin),
	};

	return cmocka_run_group_tests(all, folders_make, folders_remove);
}
