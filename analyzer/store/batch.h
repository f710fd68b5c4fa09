/*
 * batch.h -- rows of numbers on their way into a table, a batch at a time.
 *
 * One INSERT ... SELECT from a virtual table over a batch costs a third of a statement for each row.
 */
#ifndef BSA_STORE_BATCH_H
#define BSA_STORE_BATCH_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

struct bsa_store;

#define NOTHING INT64_MIN /* NULL, in a row */

enum { EXECUTION_COLUMNS = 34 };

/* Name, table, columns, rows in a batch. */
#define ALL_BATCHES(B)                                         \
	B(EXECUTION, stored_execution, EXECUTION_COLUMNS, 512) \
	B(PHASES, stored_phases, 14, 128)                      \
	B(MISSED, stored_missed, 4, 128)                       \
	B(SLICE, stored_slice, 7, 256)                         \
	B(WAIT, stored_wait, 7, 512)                           \
	B(PREEMPTION, stored_preemption, 9, 128)               \
	B(DEADLINE_MISS, stored_deadline_miss, 9, 128)         \
	B(REFUSAL, stored_refusal, 5, 128)                     \
	B(EXHAUSTED, stored_exhausted, 11, 64)                 \
	B(RULES, stored_rules, 8, 16)                          \
	B(STREAM, stored_stream, 13, 64)                       \
	B(SLOT_MISS, slot_miss, 5, 64)                         \
	B(MAPPING, stored_mapping, 13, 64)                     \
	B(BUFFER, stored_buffer, 10, 64)                       \
	B(BUFFER_USE, stored_buffer_use, 8, 128)               \
	B(INVERSION, inversion, 5, 128)                        \
	B(STARVATION, stored_starvation, 8, 64)                \
	B(SHARE, stored_share, 5, 16)                          \
	B(LAG, app_lag, 5, 128)                                \
	B(INTERFERENCE, interference, 3, 64)                   \
	B(CHOICE, stored_choice, 5, 256)                       \
	B(COUNT, stored_count, 11, 64)                         \
	B(BLOCK, id_block, 4, 64)                              \
	B(MISS_CAUSE, stored_miss_cause, 9, 256)               \
	B(FMQ_OP, stored_fmq_op, 9, 512)                       \
	B(LOOKUP, stored_slot_lookup, 5, 512)                  \
	B(OPERATION, stored_operation, 6, 512)                 \
	B(LOSS, loss, 7, 64)

enum batch_of {
#define B(name, table, columns, room) BATCH_##name,
	ALL_BATCHES(B)
#undef B
		BATCHES
};

struct batch {
	const char *table;
	int64_t *rows;
	sqlite3_stmt *insert;
	struct pages *pages; /* instead of that; NULL: none */
	unsigned columns, room, n;
};

/* Make what is needed to write, once the tables are there. 0, or the code that is kept. */
int batches_init(struct bsa_store *s);
void batches_fini(struct bsa_store *s);

/* What keeps the database open. Then only pages can still be attached. */
void batches_finalize(struct bsa_store *s);

/* A row of @columns numbers. NULL: something went wrong. */
int64_t *batch_row(struct bsa_store *s, enum batch_of of, unsigned columns);

const char *batch_table(enum batch_of of);

/* Write what is there. 0, or the code that is kept. */
int batches_flush(struct bsa_store *s);

/*
 * From now on, rows that nothing refers to (their first column is NOTHING) go into pages, for their tables are empty; until those are
 * attached, while nobody has the database open. 0, or the code that is kept.
 */
int batches_to_pages(struct bsa_store *s);
int batches_attach(struct bsa_store *s, const uint32_t roots[BATCHES]);

/* ROW(s, WAIT, column, column, ...) */
#define ROW(s, of, ...)                                                                             \
	do {                                                                                        \
		const int64_t columns_[] = { __VA_ARGS__ };                                         \
		int64_t *row_ = batch_row((s), BATCH_##of, sizeof(columns_) / sizeof(columns_[0])); \
                                                                                                    \
		if (row_)                                                                           \
			__builtin_memcpy(row_, columns_, sizeof(columns_));                         \
	} while (0)

#endif
