/* store.c -- writes the facts of the fold into the tables of a SQLite file. */
#include "store/store.h"

#include "base/scratch.h"
#include "bsa/db.h"
#include "bsa/import.h"
#include "store/blame_run.h"
#include "store/crowd.h"
#include "store/execution.h"
#include "store/header.h"
#include "store/lags.h"
#include "store/numbers.h"
#include "store/own.h"
#include "store/pages.h"
#include "store/pool_stat.h"
#include "store/rows.h"
#include "store/schema.h"
#include "store/sharing_run.h"
#include "store/sort.h"
#include "store/spill.h"
#include "store/sql.h"
#include "store/statement.h"
#include "store/stats.h"
#include "store/tally.h"
#include "store/temporary.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- what went wrong ---- */

int bsa_store_fail(struct bsa_store *s, int code, const char *format, ...)
{
	va_list args;

	if (s->code)
		return s->code;
	va_start(args, format);
	vsnprintf(s->err.text, sizeof(s->err.text), format, args);
	va_end(args);
	return s->code = code;
}

int bsa_store_sql_failed(struct bsa_store *s)
{
	int error = sqlite3_system_errno(s->db);

	if (s->stopped)
		return bsa_store_fail(s, BSA_E_STOPPED, "stopped");
	switch (sqlite3_errcode(s->db)) {
	case SQLITE_FULL:
		return bsa_store_fail(s, BSA_E_ENV, "cannot write %s: no space left", s->file.output);
	case SQLITE_NOMEM:
		return bsa_store_fail(s, BSA_E_ENV, "no memory");
	case SQLITE_IOERR:
	case SQLITE_CANTOPEN:
		return bsa_store_fail(s, BSA_E_ENV, "cannot write %s: %s", s->file.output,
		                      error ? strerror(error) : sqlite3_errmsg(s->db));
	case SQLITE_CORRUPT:
	case SQLITE_NOTADB:
		return bsa_store_fail(s, BSA_E_INPUT, "%s is damaged: %s", s->file.output, sqlite3_errmsg(s->db));
	default:
		return bsa_store_fail(s, BSA_E_ENV, "cannot write %s: %s", s->file.output, sqlite3_errmsg(s->db));
	}
}

int bsa_store_check(const struct bsa_store *s, struct bsa_err *err)
{
	if (s->code && err)
		*err = s->err;
	return s->code;
}

void bsa_store_stop(struct bsa_store *s)
{
	s->stopped = 1;
}

/* ---- statements ---- */

int bsa_store_run(struct bsa_store *s, const char *sql)
{
	if (!s->code && sqlite3_exec(s->db, sql, NULL, NULL, NULL) != SQLITE_OK)
		bsa_store_sql_failed(s);
	return s->code;
}

sqlite3_stmt *bsa_store_prepare(struct bsa_store *s, const char *sql)
{
	sqlite3_stmt *q = NULL;

	if (!s->code && sqlite3_prepare_v3(s->db, sql, -1, SQLITE_PREPARE_PERSISTENT, &q, NULL) != SQLITE_OK)
		bsa_store_sql_failed(s);
	return q;
}

bool bsa_store_step(struct bsa_store *s, sqlite3_stmt *q)
{
	int r = s->code ? SQLITE_DONE : sqlite3_step(q);

	if (r != SQLITE_ROW && r != SQLITE_DONE)
		bsa_store_sql_failed(s);
	return r == SQLITE_ROW;
}

int bsa_store_do(struct bsa_store *s, sqlite3_stmt *q)
{
	bsa_store_step(s, q);
	sqlite3_reset(q);
	return s->code;
}

/* Returns the number that @sql selects; 0 if it selects no row. */
static int64_t select_number(struct bsa_store *s, const char *sql)
{
	cleanup_stmt sqlite3_stmt *q = bsa_store_prepare(s, sql);

	return q && bsa_store_step(s, q) ? sqlite3_column_int64(q, 0) : 0;
}

/* ---- beginning ---- */

static int stop_if_asked(void *ctx)
{
	return ((struct bsa_store *)ctx)->stopped;
}

static int open_db(struct bsa_store *s)
{
	if (sqlite3_open_v2(s->file.path, &s->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, bsa_temporary_vfs()) !=
	    SQLITE_OK)
		return bsa_store_sql_failed(s);
	sqlite3_progress_handler(s->db, 1000, stop_if_asked, s);
	/*
	 * No other process reads the file, and an incomplete file is removed: so there is no journal, and one
	 * fsync, of bsa_store_file_publish.
	 */
	bsa_store_run(s, "PRAGMA page_size = 16384; PRAGMA auto_vacuum = NONE; PRAGMA journal_mode = OFF; PRAGMA "
	                 "synchronous = OFF;"
	                 "PRAGMA locking_mode = EXCLUSIVE; PRAGMA cache_size = -8192; PRAGMA secure_delete = OFF;"
	                 "PRAGMA foreign_keys = OFF; PRAGMA cell_size_check = ON");
	/* A copied file is untrusted. (The defensive mode forbids to turn the journal off: so that was done before.) */
	sqlite3_db_config(s->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	sqlite3_db_config(s->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
	sqlite3_db_config(s->db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
	return bsa_store_run(s, "BEGIN");
}

/* Pages go into an empty table only; what comes too late for them waits in one like it. */
static int begin_pages(struct bsa_store *s)
{
	cleanup_stmt sqlite3_stmt *q = bsa_store_prepare(s, "SELECT replace(sql, 'stored_execution', '" LATE_EXECUTIONS
	                                                    "') FROM sqlite_schema WHERE name = 'stored_execution'");

	if (q && bsa_store_step(s, q))
		bsa_store_run(s, (const char *)sqlite3_column_text(q, 0));
	bsa_store_run(s, bsa_sql_execution_index);
	s->window = bsa_window_new();
	s->by_seq = bsa_sort_new(&s->file);
	s->pages = bsa_pages_new(&s->file, COLUMNS_execution);
	if (!s->window || !s->by_seq || !s->pages)
		return bsa_store_fail(s, BSA_E_ENV, "no memory");
	return s->code;
}

static int begin_writing(struct bsa_store *s)
{
	cleanup_stmt sqlite3_stmt *users = NULL;
	char sql[128];
	bool blank = s->file.old_fd < 0, there;

	if (blank)
		s->code = bsa_store_file_blank(&s->file, &s->err);
	if (s->code || open_db(s))
		return s->code;
	there = !blank && select_number(s, "SELECT count(*) FROM sqlite_schema") > 0;
	if (there && !s->code)
		s->code = bsa_schema_check(s->db, s->file.output, &s->err);
	if (there && !s->code)
		bsa_store_run(s, bsa_sql_no_indices);
	if (!blank && !there && !s->code) /* a header of ours, and nothing else */
		bsa_store_run(s, bsa_sql_schema);
	if (!there && !s->code) {
		snprintf(sql, sizeof(sql),
		         "INSERT INTO meta VALUES('schema_version', %d), ('schema_digest', %" PRId64 ")",
		         BSA_SCHEMA_VERSION, bsa_header_schema_digest());
		if (!bsa_store_run(s, sql))
			begin_pages(s);
	}
	s->before = s->last_trace = (uint32_t)select_number(s, "SELECT max(id) FROM trace");
	s->last = (struct bsa_fold_ids){
		.execution = (uint64_t)select_number(s, "SELECT max(id) FROM stored_execution"),
		.mapping = (uint64_t)select_number(s, "SELECT max(id) FROM stored_mapping"),
		.app = (uint32_t)select_number(s, "SELECT max(id) FROM app"),
		.process = (uint32_t)select_number(s, "SELECT max(id) FROM stored_process"),
		.model = (uint32_t)select_number(s, "SELECT max(id) FROM stored_model"),
		.stream = (uint32_t)select_number(s, "SELECT max(id) FROM stored_stream"),
		.buffer = (uint32_t)select_number(s, "SELECT max(id) FROM stored_buffer"),
	};
	users = bsa_store_prepare(s, "SELECT u.value, r.value FROM meta u, meta r WHERE u.key = 'service_uid' AND "
	                             "r.key = 'service_rival_uid'");
	if (users && bsa_store_step(s, users)) {
		s->service_uid = sqlite3_column_int64(users, 0);
		s->rival_uid = sqlite3_column_int64(users, 1);
	}
	s->first_execution = s->last.execution + 1;
	bsa_batches_init(s);
	bsa_statements_init(s);
	return s->code || !s->pages ? s->code : bsa_batches_to_pages(s);
}

int bsa_store_new(struct bsa_store **ret, const struct bsa_store_options *options, struct bsa_err *err)
{
	struct bsa_store *s = calloc(1, sizeof(*s));
	int r;

	if (!s)
		return bsa_fail(err, BSA_E_ENV, "no memory");
	s->service_uid = s->rival_uid = NOTHING;
	s->append = options->append;
	s->keep_operations = options->keep_operations;
	r = bsa_store_file_init(&s->file, options->output, options->append, err);
	if (!r) {
		s->spill = bsa_spill_new(&s->file);
		s->tally = bsa_tally_new();
		s->crowd = bsa_crowd_new();
		s->lags = bsa_lags_new();
		r = s->spill && s->tally && s->crowd && s->lags ? begin_writing(s)
		                                                : bsa_store_fail(s, BSA_E_ENV, "no memory");
		bsa_store_check(s, err);
	}
	if (r) {
		bsa_store_free(s);
		return r;
	}
	*ret = s;
	return 0;
}

struct bsa_store *bsa_store_free(struct bsa_store *s)
{
	if (!s)
		return NULL;
	bsa_batches_fini(s);
	bsa_statements_fini(s);
	sqlite3_close_v2(s->db);
	bsa_spill_free(s->spill);
	bsa_tally_free(s->tally);
	bsa_crowd_free(s->crowd);
	bsa_lags_free(s->lags);
	bsa_pages_free(s->pages);
	bsa_window_free(s->window);
	bsa_sort_free(s->by_seq);
	bsa_store_file_fini(&s->file);
	free(s);
	return NULL;
}

void bsa_store_clean(const char *output)
{
	bsa_store_file_clean(output);
}

/* Here, because the process that cleans up after an importer has no decoder. */
void bsa_import_clean(const char *output)
{
	bsa_store_clean(output);
	bsa_scratch_clean();
}

struct bsa_fold_ids bsa_store_last_ids(const struct bsa_store *s)
{
	return s->last;
}

uint32_t bsa_store_last_trace(const struct bsa_store *s)
{
	return s->last_trace;
}

struct bsa_store_counts bsa_store_counts(const struct bsa_store *s)
{
	return s->counts;
}

void bsa_store_clock(struct bsa_store *s, int64_t offset)
{
	/* The rows in the batches have their times added already. */
	bsa_crowd_finish(s);
	bsa_inverted_finish(s);
	bsa_lags_finish(s);
	s->offset = sql_clamped(offset);
}

void bsa_store_left_out(struct bsa_store *s, const struct bsa_left_out *left_out)
{
	s->left_out.stragglers += left_out->stragglers;
	s->left_out.unusable += left_out->unusable;
	s->left_out.absurd += left_out->absurd;
	s->left_out.evicted += left_out->evicted;
	s->left_out.late += left_out->late;
	s->left_out.forgotten += left_out->forgotten;
	s->left_out.pairs += left_out->pairs;
	s->left_out.parts += left_out->parts;
	s->left_out.untold += left_out->untold;
	s->left_out.not_yet += left_out->not_yet;
	s->left_out.no_more += left_out->no_more;
	s->left_out.inside += left_out->inside;
	s->left_out.streamless += left_out->streamless;
	s->left_out.absent |= left_out->absent;
	if (s->left_out.unseen != BSA_NEVER)
		s->left_out.unseen = left_out->unseen == BSA_NEVER ? BSA_NEVER : s->left_out.unseen + left_out->unseen;
}

/*
 * A pair of uids stays: if the service's user is not proven for one part of the database, it is not proven
 * for the whole.
 */
void bsa_store_service(struct bsa_store *s, uint32_t uid, uint32_t rival)
{
	if (s->rival_uid != NOTHING)
		return;
	s->service_uid = uid;
	s->rival_uid = rival == UINT32_MAX ? NOTHING : (int64_t)rival;
}

/* ---- the end ---- */

static void write_number(struct bsa_store *s, const char *key, int64_t value)
{
	cleanup_stmt sqlite3_stmt *q = value == NOTHING ? NULL : bsa_store_prepare(s, "REPLACE INTO meta VALUES(?, ?)");

	if (!q)
		return;
	sqlite3_bind_text(q, 1, key, -1, SQLITE_STATIC);
	sqlite3_bind_int64(q, 2, value);
	bsa_store_do(s, q);
}

void bsa_store_scope(struct bsa_store *s, const char *app, uint32_t pid, uint32_t service)
{
	cleanup_stmt sqlite3_stmt *q = *app ? bsa_store_prepare(s, "REPLACE INTO meta VALUES('scope_app', ?)") : NULL;

	if (q) {
		sqlite3_bind_text(q, 1, app, -1, SQLITE_STATIC);
		bsa_store_do(s, q);
	}
	write_number(s, "scope_pid", pid ? pid : NOTHING);
	write_number(s, "scope_service", service ? service : NOTHING);
}

void bsa_store_others(struct bsa_store *s, uint64_t executions)
{
	write_number(s, "scope_others", (int64_t)executions);
}

void bsa_store_after_end(struct bsa_store *s, uint64_t events)
{
	s->after_end = events;
}

void bsa_store_kernel(struct bsa_store *s, uint64_t read, uint64_t left_out, uint64_t delays)
{
	if (!read && !left_out)
		return;
	write_number(s, "kernel_traces", (int64_t)read);
	write_number(s, "kernel_left_out", (int64_t)left_out);
	write_number(s, "kernel_delays", (int64_t)delays);
}

/* Counts are added to those in the database; the version is that of the last writer. */
static int write_meta(struct bsa_store *s)
{
	const struct bsa_store_counts *c = &s->counts;
	static const char *const absent[] = {
#define K(name) "absent_" #name,
		BSA_KINDS(K)
#undef K
	};
	const struct {
		const char *key;
		uint64_t value;
	} counts[] = {
		{ "executions", c->executions },
		{ "incomplete", c->executions - c->quality[BSA_QUALITY_COMPLETE] },
		{ "touched_by_loss", c->quality[BSA_QUALITY_GAP] + c->quality[BSA_QUALITY_TAIL] },
		{ "missed", s->missed },
		{ "left_out_stragglers", s->left_out.stragglers },
		{ "left_out_unusable", s->left_out.unusable },
		{ "left_out_absurd", s->left_out.absurd },
		{ "left_out_evicted", s->left_out.evicted },
		{ "left_out_late", s->left_out.late },
		{ "left_out_forgotten", s->left_out.forgotten },
		{ "left_out_after_end", s->after_end },
		{ "joined_statistics", s->joined_statistics },
		{ "joined_counts", bsa_tally_joined(s->tally) },
		{ "joined_interference", s->left_out.pairs },
		{ "joined_causes", s->joined_causes },
		{ "share_parts", s->left_out.parts },
		{ "saved_asked", s->saved_asked },
		{ "saved_replayed", s->saved_replayed },
		{ "joined_inversions", s->inverted.joined },
		{ "joined_streams", s->left_out.streamless },
		{ "unseen_unknown", s->left_out.unseen == BSA_NEVER },
		{ "unseen_executions", s->left_out.unseen == BSA_NEVER ? 0 : s->left_out.unseen },
		{ "untold_choices", s->left_out.untold },
		{ "app_not_yet", s->left_out.not_yet },
		{ "app_no_more", s->left_out.no_more },
		{ "began_inside", s->left_out.inside },
		{ "timeless", s->timeless },
	};
	cleanup_stmt sqlite3_stmt *q = NULL;

	for (size_t i = 0; i < BSA_N_KINDS; i++)
		if (s->left_out.absent >> i & 1)
			write_number(s, absent[i], 1);
	write_number(s, "service_uid", s->service_uid);
	write_number(s, "service_rival_uid", s->rival_uid);
	bsa_store_run(s, "REPLACE INTO meta VALUES('tool_version', 'burstscope " BSA_VERSION "')");
	q = bsa_store_prepare(
		s, "REPLACE INTO meta VALUES(?1, ?2 + coalesce((SELECT value FROM meta WHERE key = ?1), 0))");
	for (size_t i = 0; q && i < sizeof(counts) / sizeof(counts[0]); i++) {
		sqlite3_bind_text(q, 1, counts[i].key, -1, SQLITE_STATIC);
		sqlite3_bind_int64(q, 2, sql_count(counts[i].value));
		bsa_store_do(s, q);
	}
	return s->code;
}

/*
 * An import may bring a run that is in the database already, recorded by another session: then the same
 * executions of the same stream of one host are complete twice, at the same time. A service that two
 * recordings follow one another of has others in each.
 */
static int refuse_twice(struct bsa_store *s)
{
	cleanup_stmt sqlite3_stmt *q = bsa_store_prepare(
		s, "SELECT t.path, u.path FROM stored_stream b "
		   "JOIN stored_stream a ON a.number = b.number AND a.trace_id <= ?1 "
		   "JOIN trace t ON t.id = b.trace_id JOIN trace u ON u.id = a.trace_id AND u.host = t.host "
		   "JOIN stored_execution y ON y.stream_id = b.id AND y.flags >> 13 & 7 = 0 "
		   "JOIN stored_execution x ON x.stream_id = a.id AND x.seq = y.seq AND x.flags >> 13 & 7 = 0 "
		   "AND abs(x.base - y.base) < 1000000000 WHERE b.trace_id > ?1 LIMIT 1");

	if (!q)
		return s->code;
	sqlite3_bind_int64(q, 1, s->before);
	if (bsa_store_step(s, q))
		bsa_store_fail(s, BSA_E_INPUT,
		               "%s is of a run that is in the database already (as %s), and would count it twice",
		               (const char *)sqlite3_column_text(q, 0), (const char *)sqlite3_column_text(q, 1));
	return s->code;
}

/* Everything that is open of the database. */
static int close_db(struct bsa_store *s)
{
	bsa_batches_finalize(s);
	bsa_statements_fini(s);
	if (!s->code && sqlite3_close(s->db) != SQLITE_OK)
		return bsa_store_sql_failed(s);
	if (!s->code)
		s->db = NULL;
	return s->code;
}

static int next_by_seq(void *ctx, int64_t *entry)
{
	struct bsa_sort_pair pair;

	if (bsa_sort_next(ctx, &pair))
		return -1;
	entry[0] = pair.key >> 32 ? (int64_t)(pair.key >> 32) : NOTHING;
	entry[1] = (int64_t)(pair.key & UINT32_MAX);
	entry[2] = (int64_t)pair.id;
	return 0;
}

static uint32_t root_of(struct bsa_store *s, const char *name)
{
	cleanup_stmt sqlite3_stmt *q = bsa_store_prepare(s, "SELECT rootpage FROM sqlite_schema WHERE name = ?");

	if (!q)
		return 0;
	sqlite3_bind_text(q, 1, name, -1, SQLITE_STATIC);
	return bsa_store_step(s, q) ? (uint32_t)sqlite3_column_int64(q, 0) : 0;
}

/*
 * Each sorter takes as much memory as the cache of pages. Where there are so many apps that the fold reports them in
 * parts, both have less.
 */
static int bound_sorting(struct bsa_store *s)
{
	return s->left_out.parts ? bsa_store_run(s, "PRAGMA cache_size = -2048") : s->code;
}

/*
 * While no transaction is open, attach the pages. Then move the late executions into the table. The connection stays:
 * SQLite takes milliseconds to read the schema, as long as all else of a small import.
 */
static int attach_pages(struct bsa_store *s)
{
	uint32_t table = root_of(s, "stored_execution"), by_seq = root_of(s, "stored_execution_seq"), roots[BATCHES];

	for (unsigned of = 0; of < BATCHES; of++)
		roots[of] = root_of(s, bsa_batch_table(of));
	/* The lock goes with the next transaction that ends: so one reads. */
	if (bsa_store_run(s, "COMMIT; PRAGMA locking_mode = NORMAL; SELECT 1 FROM sqlite_schema LIMIT 1") ||
	    bsa_batches_attach(s, roots))
		return s->code;
	if (bsa_pages_attach(s->pages, s->file.fd, table) ||
	    bsa_pages_index(s->pages, s->file.fd, by_seq, 3, bsa_sort_n(s->by_seq), next_by_seq, s->by_seq) ||
	    bsa_pages_changed(s->pages, s->file.fd))
		return bsa_store_fail(s, BSA_E_ENV, "cannot write %s: %s", s->file.output, bsa_pages_error(s->pages));
	s->pages = bsa_pages_free(s->pages);
	s->by_seq = bsa_sort_free(s->by_seq);
	bsa_store_run(s,
	              "PRAGMA locking_mode = EXCLUSIVE; BEGIN;"
	              "REPLACE INTO stored_execution SELECT * FROM " LATE_EXECUTIONS "; DROP TABLE " LATE_EXECUTIONS);
	return bsa_batch_prepare(s, BATCH_execution);
}

int bsa_store_finish(struct bsa_store *s, struct bsa_err *err)
{
	int r;

	bsa_window_empty(s);
	bsa_crowd_finish(s);
	bsa_inverted_finish(s);
	bsa_lags_finish(s);
	bsa_rows_finish(s);
	bsa_batches_flush(s);
	bound_sorting(s);
	bsa_store_run(s, bsa_sql_names);
	bsa_stats_run(s);
	s->joined_statistics = bsa_spill_joined(s->spill);
	s->spill = bsa_spill_free(s->spill); /* what follows sorts rows, and needs the room */
	bsa_pool_stat_run(s);
	if (s->pages)
		attach_pages(s);
	else
		bsa_store_run(s, bsa_sql_execution_index);
	if (s->left_out.parts)
		bsa_store_run(s, bsa_sql_parts);
	bsa_store_run(s, bsa_sql_indices);
	if (s->before)
		refuse_twice(s);
	bsa_blame_run(s);
	bsa_sharing_write(s);
	bsa_tally_write(s);
	bsa_store_run(s, bsa_sql_misses);
	write_meta(s);
	bsa_store_run(s, "COMMIT");
	if (s->stopped)
		bsa_store_fail(s, BSA_E_STOPPED, "stopped");
	close_db(s);
	r = bsa_store_check(s, err);
	if (r)
		return r;
	r = bsa_store_file_publish(&s->file, err);
	if (r)
		bsa_store_fail(s, r, "%s", err ? err->text : "cannot publish");
	return r;
}
