/* dressed.h -- rows for people: a repeated key is printed once, and percentages are drawn as bars. */
#ifndef BSV_DRESSED_H
#define BSV_DRESSED_H

#include "base/rows.h"
#include "base/screen.h"

enum { BSV_DRESSED_COLUMNS = 24 };

/* All 0 is valid for bsv_dressed_fini. It must outlive the rows made with it. */
struct bsv_dressed {
	struct bsv_rows *from;
	struct bsv_column columns[BSV_DRESSED_COLUMNS];
};

/*
 * The rows of @sql, with a bar beside the percentage in the last column. The first @keys columns
 * name the group of a row. The rows of a group that are below @least are added up in one row at the
 * end of the group. *ret is owned by the caller.
 */
int bsv_dressed_shares(struct bsv_rows **ret, struct bsv_dressed *d, struct bsa_db *db, const char *sql, size_t keys,
                       double least, const struct bsv_screen *screen, struct bsa_err *err);

/*
 * The rows of a histogram (reports/histogram.sql): eighths of octaves, merged so that a group has
 * at most @most rows. A percentage of the group and a bar replace the end of a bucket.
 */
int bsv_dressed_histogram(struct bsv_rows **ret, struct bsv_dressed *d, struct bsa_db *db, const char *sql, size_t keys,
                          size_t most, const struct bsv_screen *screen, struct bsa_err *err);

void bsv_dressed_fini(struct bsv_dressed *d);

#endif
