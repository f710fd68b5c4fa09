/*
 * changes.h -- a comparison of recordings in words and rows.
 */
#ifndef BSV_CHANGES_H
#define BSV_CHANGES_H

#include "answer/rows.h"
#include "stats/compare.h"

enum { BSV_CHANGES_COLUMNS = 20, BSV_CHANGES_TEXTS = 8 };

/* Tests by what came of them. */
struct bsv_changes_count {
	size_t worse, better, same, unsure, few; /* unsure: hidden, or vanished */
};

struct bsv_changes {
	const struct bsv_comparison *found; /* borrowed */
	struct bsv_pair **order;            /* the most important first: all that are in both, then the others */
	bool people;                        /* who want what is to be seen, and not all */
	struct bsv_changes_count latency, misses, answers, failures;
	/* what rows and answers borrow */
	struct bsv_column columns[4][BSV_CHANGES_COLUMNS];
	char *texts[BSV_CHANGES_TEXTS];
	size_t n_texts;
};

/* BSA_E_ENV: no memory. */
int bsv_changes_init(struct bsv_changes *ret, const struct bsv_comparison *found, bool people, struct bsa_err *err);

/* All 0 is fine. */
void bsv_changes_fini(struct bsv_changes *c);

/* Titles. Borrowed from @c. */
const char *bsv_changes_headline(struct bsv_changes *c);
const char *bsv_changes_mean(struct bsv_changes *c);

/* One row per test; people get those that say something. NULL: no memory. Rows are the caller's, and borrow from @c. */
struct bsv_rows *bsv_changes_tests(struct bsv_changes *c);

/* One row per group. */
struct bsv_rows *bsv_changes_groups(struct bsv_changes *c);
struct bsv_rows *bsv_changes_mix(struct bsv_changes *c);

/* One row per app, model and path. *ret_n: how many; people get those with deadlines, or with executions that were not answered. */
struct bsv_rows *bsv_changes_endings(struct bsv_changes *c, size_t *ret_n);

/* One row per group and phase: people get those of groups that changed, and of them those that had a part in it. */
struct bsv_rows *bsv_changes_phases(struct bsv_changes *c, size_t *ret_n);

#endif
