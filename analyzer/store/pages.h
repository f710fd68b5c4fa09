/*
 * pages.h -- writes rows of integers as pages of a table, without SQLite: twelve times faster than by
 * prepared INSERTs, for the tables with a row for each execution or wait.
 *
 * Rows arrive in the order of their ids. bsa_pages_row writes their pages to a file without a name;
 * bsa_pages_attach copies them to the end of the database while the database is closed.
 */
#ifndef BSA_STORE_PAGES_H
#define BSA_STORE_PAGES_H

#include <stddef.h>
#include <stdint.h>

enum { PAGE_BYTES = 16384 };

struct bsa_pages;
struct bsa_store_file;

/* @file is borrowed. NULL: no memory. */
struct bsa_pages *bsa_pages_new(const struct bsa_store_file *file, unsigned columns);
struct bsa_pages *bsa_pages_free(struct bsa_pages *p);

/*
 * Add a row. Its first column is the id, which must be larger than that of the row before. 0, or negative:
 * bsa_pages_error.
 */
int bsa_pages_row(struct bsa_pages *p, const int64_t *row);

/* The id of the last row; 0 before the first. */
int64_t bsa_pages_last(const struct bsa_pages *p);

/*
 * Put all rows into the empty table with page @root of database @fd. No connection may have a lock on the database;
 * bsa_pages_changed is called before any connection reads it.
 */
int bsa_pages_attach(struct bsa_pages *p, int fd, uint32_t root);

/*
 * Put @n entries of @columns integers, of which the last is the id, into the empty index with page @root.
 * @next gives the entries one by one, in order; it returns 0, or another number and errno.
 */
int bsa_pages_index(struct bsa_pages *p, int fd, uint32_t root, unsigned columns, size_t n,
                    int (*next)(void *ctx, int64_t *entry), void *ctx);

/*
 * Increment the change counter of database @fd: a connection that is open drops the pages that it has read, and keeps
 * the schema, because no root has moved.
 */
int bsa_pages_changed(struct bsa_pages *p, int fd);

const char *bsa_pages_error(const struct bsa_pages *p);

#endif
