/*
 * header.h -- recognises a database of an import by its first hundred bytes, before SQLite opens it; and the
 * digest of its tables.
 */
#ifndef BSA_STORE_HEADER_H
#define BSA_STORE_HEADER_H

#include "bsa/err.h"

#include <stdint.h>

enum header_is {
	HEADER_OURS,
	HEADER_EMPTY,
	HEADER_FOREIGN,
	HEADER_OLDER,
	HEADER_NEWER,
	HEADER_CUT,
	HEADER_UNREADABLE,
	HEADER_OTHER_BUILD
};

/* The state of an open file. */
enum header_is bsa_header_look(int fd);

/*
 * A digest of the SQL that makes this build's tables and views; `meta` holds it as "schema_digest". Builds of one
 * BSA_SCHEMA_VERSION may differ by a column: neither can append to, or ask, the other's database.
 */
int64_t bsa_header_schema_digest(void);

/* 0 where it is ours and whole; otherwise the sentence, and its code. */
int bsa_header_refuse(enum header_is is, const char *path, struct bsa_err *err);

#endif
