/*
 * stored.h -- for tests of the store: a directory of one's own, facts into a database, and the answers about it of an
 * SQLite that knows nothing of us.
 */
#ifndef ANALYZER_STORED_H
#define ANALYZER_STORED_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base.h"
#include "bsa/db.h"
#include "store/store.h"

enum { OFFSET = 1000000 }; /* offset of the clock of stored_new's trace */

/* cmocka's set-up and tear-down: *state is the path of a database that is not there yet, in a directory of its own. */
int stored_setup(void **state);
int stored_teardown(void **state);

/* A path beside it, borrowed until the next call. */
const char *stored_beside(const char *path, const char *name);

/* A store for @path, with a trace whose number is the next and whose uuid is @uuid. */
struct bsa_store *stored_new(const char *path, const char *uuid, bool append);

/* Finish and free; must succeed. */
void stored_finish(struct bsa_store *s);

/*
 * An execution of which nothing is known but its numbers; and a warm burst that was served at @submitted on an idle
 * lane.
 */
struct bsa_execution stored_unknown(uint64_t id);
struct bsa_execution stored_warm(uint64_t id, uint64_t submitted);

/*
 * Rows of @sql, a line each, with | between the columns and - for NULL; borrowed until the next call. No functions of
 * ours.
 */
const char *stored_ask(const char *path, const char *sql);

/* @sql gives @rows. */
#define assert_rows(path, sql, rows) assert_string_equal(stored_ask(path, sql), rows)

/* The whole file is as SQLite wants it. */
void stored_sound(const char *path);

/* How many files there are where @path is. */
unsigned stored_files(const char *path);

#endif
