/*
 * checker.h -- whether the databases of a test pass check.sql.
 *
 * SQLite takes ten times longer to compile check.sql than to run it on the small database of a test. A compiled
 * statement holds for all databases whose schema is the same, down to the numbers of the root pages. So the checker
 * copies every database into the same file, and keeps a connection with the compiled statement for each schema.
 */
#ifndef ANALYZER_CHECKER_H
#define ANALYZER_CHECKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Each of these fails the running cmocka test where a file cannot be read or written. */

/* @rules: the path of check.sql. @copy: the path of the copies, which checker_free removes. Owned by the caller. */
struct checker *checker_new(const char *rules, const char *copy);
/* Returns NULL. */
struct checker *checker_free(struct checker *c);

/* Whether the database at @path breaks a rule; @ret has the first row of check.sql then. */
bool checker_objects(struct checker *c, const char *path, char *ret, size_t size);

/* How often check.sql was compiled. */
uint64_t checker_compiled(const struct checker *c);

#endif
