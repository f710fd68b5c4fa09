/*
 * changes.h -- a comparison of recordings, as rows and sentences.
 */
#ifndef BSV_CHANGES_H
#define BSV_CHANGES_H

#include "base/rows.h"
#include "stats/compare.h"

enum { BSV_CHANGES_COLUMNS = 20, BSV_CHANGES_TEXTS = 8 };

/* Number of tests by result. */
struct bsv_changes_count {
	size_t worse, better, same, unsure, few; /* unsure: hidden, or vanished */
};

struct bsv_changes {
	const struct bsv_comparison *found; /* borrowed */
	struct bsv_pair **order; /* pairs, the most important first: those in both recordings, then the others */
	bool people;             /* whether the rows are for people, who get only the notable ones */
	struct bsv_changes_count latency, misses, answers, failures;
	size_t only_in_b; /* groups */
	/* memory that rows and answers borrow */
	struct bsv_column columns[4][BSV_CHANGES_COLUMNS];
	char *texts[BSV_CHANGES_TEXTS];
	size_t n_texts;
};

/* BSA_E_ENV: no memory. */
int bsv_changes_init(struct bsv_changes *ret, const struct bsv_comparison *found, bool people, struct bsa_err *err);

/* Accepts a struct that is all 0. */
void bsv_changes_fini(struct bsv_changes *c);

/* Titles. Borrowed from @c. */
const char *bsv_changes_headline(struct bsv_changes *c);
const char *bsv_changes_mean(struct bsv_changes *c);

/*
 * One row per test; people get the tests with a result. NULL: no memory. The caller owns the rows,
 * which borrow from @c.
 */
struct bsv_rows *bsv_changes_tests(struct bsv_changes *c);

/* One row per group. */
struct bsv_rows *bsv_changes_groups(struct bsv_changes *c);
/* *ret_n: number of rows. People get none if neither mix nor speed moved the mean, or there is but one group. */
struct bsv_rows *bsv_changes_mix(struct bsv_changes *c, size_t *ret_n);

/*
 * One row per app, model and path. *ret_n: number of rows. People get those with deadlines, or with
 * executions that were not answered.
 */
struct bsv_rows *bsv_changes_endings(struct bsv_changes *c, size_t *ret_n);

/*
 * One row per group and phase. People get the groups that changed, and of these the phases that
 * took part in the change.
 */
struct bsv_rows *bsv_changes_phases(struct bsv_changes *c, size_t *ret_n);

#endif
