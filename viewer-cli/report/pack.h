/*
 * pack.h -- columns of numbers for a page: small, and quick to read in a browser.
 *
 * FORM  A pack is a run of <script type="text/plain" data-pack=NAME data-rows=N
 *       data-widths=W,W,...> elements, PACK_ROWS rows each but the last. Each holds base64 of a
 *       zlib stream of its columns, one after the other. A column of width W is W planes of N
 *       bytes: the lowest bytes of all rows, then the next ones. A plain value is 0 for NULL,
 *       otherwise 1 + zigzag(value). A value of a delta column is zigzag(value - the value of the
 *       row before, 0 before the first row of the pack); it is never NULL.
 */
#ifndef BSV_REPORT_PACK_H
#define BSV_REPORT_PACK_H

#include "bsa/err.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define BSV_PACK_NULL INT64_MIN

struct bsv_pack_column {
	const char *name;
	bool delta;
};

struct bsv_pack;

/* @name, @columns and @to are borrowed. NULL: no memory. */
struct bsv_pack *bsv_pack_new(FILE *to, const char *name, const struct bsv_pack_column *columns, size_t n_columns);

/* NULL is fine. Returns NULL. */
struct bsv_pack *bsv_pack_free(struct bsv_pack *p);

/* @values are n_columns numbers of less than 2^62 on either side of 0, or BSV_PACK_NULL. */
int bsv_pack_row(struct bsv_pack *p, const int64_t *values, struct bsa_err *err);

/* Write the rows that are left. */
int bsv_pack_end(struct bsv_pack *p, struct bsa_err *err);

uint64_t bsv_pack_rows(const struct bsv_pack *p);

/* Base64 of @n bytes, with padding. */
void bsv_base64(FILE *to, const unsigned char *bytes, size_t n);

#endif
