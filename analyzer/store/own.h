/* own.h -- shared by the files of the store only. */
#ifndef BSA_STORE_OWN_H
#define BSA_STORE_OWN_H

#include "store/batch.h"
#include "store/file.h"
#include "store/inverted.h"
#include "store/statement.h"
#include "store/store.h"

#include <signal.h>
#include <sqlite3.h>

enum { APPLICATION_ID = 0x62757273 }; /* "burs" */

/*
 * Where executions go that were reported long after later ones, when those are in pages already; a table like
 * stored_execution.
 */
#define LATE_EXECUTIONS "late_execution"

/* The last possible wait of an execution of which nothing is known; it has no row yet. */
struct bsa_stranger {
	bool waits;
	int64_t began, ended; /* NOTHING: before the recording, after it */
};

struct bsa_store {
	struct bsa_store_file file;
	sqlite3 *db;
	bool append, keep_operations;
	volatile sig_atomic_t stopped;
	int64_t offset;
	struct bsa_fold_ids last;
	uint32_t last_trace;
	uint32_t before; /* the last trace of those that were in the database already */
	struct bsa_store_counts counts;
	struct bsa_left_out left_out;
	int64_t service_uid, rival_uid;       /* NOTHING: unknown */
	uint64_t timeless;                    /* executions of which no event has a time */
	uint64_t after_end;                   /* events later than the end of their recording */
	uint64_t missed, joined_causes;       /* causes: misses of which culprits were added up */
	uint64_t joined_statistics;           /* executions that the groups of spill had no room for */
	uint64_t saved_asked, saved_replayed; /* misses of the sample; those that were replayed without their causes */
	uint64_t first_execution;             /* the first id of this import */
	struct bsa_store_batch batches[BATCHES];
	sqlite3_stmt *statements[STATEMENTS];
	struct bsa_spill *spill;
	struct bsa_tally *tally;
	struct bsa_crowd *crowd;
	struct bsa_lags *lags;
	struct bsa_inverted_wait inverted;
	struct bsa_stranger stranger;
	/* rows of stored_execution; NULL if the table had rows before, and after the pages were attached */
	struct bsa_pages *pages;
	struct window *window;
	struct bsa_sort *by_seq; /* entries of the index of the rows in pages */
	int code;                /* code and message of the first failure */
	struct bsa_err err;
};

/* Keep what went wrong, if it is the first. Returns the code that is kept. */
int bsa_store_fail(struct bsa_store *s, int code, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* The same, with the last error of SQLite. */
int bsa_store_sql_failed(struct bsa_store *s);

/* Run statements. 0, or the code that is kept. */
int bsa_store_run(struct bsa_store *s, const char *sql);

/* Owned by the caller; NULL: bsa_store_fail has kept the error. */
sqlite3_stmt *bsa_store_prepare(struct bsa_store *s, const char *sql);

/* True: the statement has a row. False: no more rows, or an error, which s->code has. */
bool bsa_store_step(struct bsa_store *s, sqlite3_stmt *q);

/* Step once and reset: for what has no rows. */
int bsa_store_do(struct bsa_store *s, sqlite3_stmt *q);

static inline bool column_is_null(sqlite3_stmt *q, int column)
{
	return sqlite3_column_type(q, column) == SQLITE_NULL;
}

/* The number in a column of the row that @q is at; NOTHING: NULL. */
static inline int64_t column_or_nothing(sqlite3_stmt *q, int column)
{
	return column_is_null(q, column) ? NOTHING : sqlite3_column_int64(q, column);
}

static inline void finalize_(sqlite3_stmt **q)
{
	sqlite3_finalize(*q);
}

#define cleanup_stmt __attribute__((cleanup(finalize_)))

#endif
