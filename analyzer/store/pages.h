/*
 * pages.h -- writes rows of numbers as pages of a table, without SQLite: eight times faster, for the few tables where that
 * matters.
 *
 * Rows arrive in the order of their ids. Their pages go to a file without a name, and then behind the database's own while the
 * database is closed.
 */
#ifndef BSA_STORE_PAGES_H
#define BSA_STORE_PAGES_H

#include <stddef.h>
#include <stdint.h>

enum { PAGE_BYTES = 16384 };

struct pages;
struct store_file;

/* @file is borrowed. NULL: no memory. */
struct pages *bsa_pages_new(const struct store_file *file, unsigned columns);
struct pages *bsa_pages_free(struct pages *p);

/* The row after the last one: its first column is the id, and larger. 0, or negative: bsa_pages_error. */
int bsa_pages_row(struct pages *p, const int64_t *row);

/* Its id; 0 before the first. */
int64_t bsa_pages_last(const struct pages *p);

/* Put all rows into the empty table with page @root of database @fd, which must not be open. */
int bsa_pages_attach(struct pages *p, int fd, uint32_t root);

/*
 * Put @n entries of @columns numbers into the index with page @root, where nothing was; @next gives them one by one, in order,
 * the id last. It returns 0, or other than 0 and errno.
 */
int bsa_pages_index(struct pages *p, int fd, uint32_t root, unsigned columns, size_t n,
                    int (*next)(void *ctx, int64_t *entry), void *ctx);

const char *bsa_pages_error(const struct pages *p);

#endif
