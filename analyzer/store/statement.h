/* statement.h -- write a row with a statement of its own: for tables with text, and for tables with few rows. */
#ifndef BSA_STORE_STATEMENT_H
#define BSA_STORE_STATEMENT_H

#include "store/relations.h"

struct bsa_store;

enum statement_of {
#define REL_STATEMENT(name, table, about, columns) STATEMENT_##name,
#include "store/relations.def"
	STATEMENTS
};

/* Call when the tables exist. 0, or the code that is kept. */
int bsa_statements_init(struct bsa_store *s);
void bsa_statements_fini(struct bsa_store *s);

/*
 * bsa_statement_app(s, row) and so on. The row replaces a row with the same key. Text must be UTF-8 and is
 * borrowed for the call.
 */
#define REL_STATEMENT(name, table, about, columns) \
	void bsa_statement_##name(struct bsa_store *s, const struct row_##name *row);
#include "store/relations.def"

/* STATEMENT_ROW(s, app, .id = 1, ...), every column once. */
#define STATEMENT_ROW(s, name, ...)                 \
	do {                                        \
		struct row_##name row_;             \
                                                    \
		FILL_ROW(&row_, name, __VA_ARGS__); \
		bsa_statement_##name((s), &row_);   \
	} while (0)

#endif
