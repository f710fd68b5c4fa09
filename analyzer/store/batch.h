/*
 * batch.h -- rows of numbers on their way into a table, a batch at a time.
 *
 * One INSERT ... SELECT from a virtual table over a batch costs a third of a statement for each row.
 */
#ifndef BSA_STORE_BATCH_H
#define BSA_STORE_BATCH_H

#include "store/relations.h"

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

struct bsa_store;

enum batch_of {
#define REL_BATCH(name, table, room, about, columns) BATCH_##name,
#include "store/relations.def"
	BATCHES
};

struct bsa_store_batch {
	const char *table;
	int64_t *rows;
	sqlite3_stmt *insert;
	struct bsa_pages *pages; /* instead of that; NULL for tables without pages */
	unsigned columns, room, n;
};

/* Make what is needed to write, once the tables are there. 0, or the code that is kept. */
int bsa_batches_init(struct bsa_store *s);
void bsa_batches_fini(struct bsa_store *s);

/* Prepare the statement of one batch again, because its rows go into another table from now on. */
int bsa_batch_prepare(struct bsa_store *s, enum batch_of of);

/* Finalize the statements, which keep the database open. */
void bsa_batches_finalize(struct bsa_store *s);

/* Space for one struct row_ of the table @of, which the caller fills. NULL: the store has failed. */
void *bsa_batch_row(struct bsa_store *s, enum batch_of of);

const char *bsa_batch_table(enum batch_of of);

/* Write what is there. 0, or the code that is kept. */
int bsa_batches_flush(struct bsa_store *s);

/*
 * From now on, rows of tables that no other table refers to (their first column is NOTHING) go into pages,
 * because these tables are empty. The pages are attached while no transaction is open. 0, or the code that is
 * kept.
 */
int bsa_batches_to_pages(struct bsa_store *s);
int bsa_batches_attach(struct bsa_store *s, const uint32_t roots[BATCHES]);

/* Add a row to a batch: ROW(s, wait, .id = NOTHING, .execution_id = ...), every column once. */
#define ROW(s, name, ...)                                                   \
	do {                                                                \
		struct row_##name *row_ = bsa_batch_row((s), BATCH_##name); \
                                                                            \
		if (row_)                                                   \
			FILL_ROW(row_, name, __VA_ARGS__);                  \
	} while (0)

#endif
