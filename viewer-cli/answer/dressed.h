/*
 * dressed.h -- rows as people like to read them: what is as in the row above is not said again, and there are bars.
 */
#ifndef BSV_DRESSED_H
#define BSV_DRESSED_H

#include "answer/rows.h"
#include "answer/screen.h"

enum { BSV_DRESSED_COLUMNS = 24 };

/* All 0 is fine for bsv_dressed_fini. It must outlive the rows that are made. */
struct bsv_dressed {
	struct bsv_rows *from;
	struct bsv_column columns[BSV_DRESSED_COLUMNS];
};

/*
 * Those of @sql. @keys are the columns at the beginning that say whose row it is; @bar is the one with a percentage that is drawn, too; of a
 * group, what is below @least of that is put together in a row at its end. *ret is owned by the caller.
 */
int bsv_dressed_shares(struct bsv_rows **ret, struct bsv_dressed *d, struct bsa_db *db, const char *sql, size_t keys,
                       double least, const struct bsv_screen *screen, struct bsa_err *err);

/*
 * Those of a histogram (reports/histogram.sql): eighths of octaves, put together so that no group has more than @most rows; with a percentage of
 * the group and a bar in place of where a bucket ends.
 */
int bsv_dressed_histogram(struct bsv_rows **ret, struct bsv_dressed *d, struct bsa_db *db, const char *sql, size_t keys,
                          size_t most, const struct bsv_screen *screen, struct bsa_err *err);

void bsv_dressed_fini(struct bsv_dressed *d);

#endif
