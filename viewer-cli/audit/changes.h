/*
 * changes.h -- a comparison of two recordings in words and rows.
 */
#ifndef BSV_CHANGES_H
#define BSV_CHANGES_H

#include "answer/rows.h"
#include "stats/compare.h"

enum { BSV_CHANGES_COLUMNS = 16, BSV_CHANGES_TEXTS = 8 };

struct bsv_changes {
	const struct bsv_comparison *found; /* borrowed */
	struct bsv_pair **order;            /* the most important first: all that are in both, then the others */
	bool people;                        /* who want what is to be seen, and not all */
	struct {
		size_t slower, faster, same, few;
	} n; /* groups */
	/* what rows and answers borrow */
	struct bsv_column columns[4][BSV_CHANGES_COLUMNS];
	char *texts[BSV_CHANGES_TEXTS];
	size_t n_texts;
};

/* BSA_E_ENV: no memory. */
int bsv_changes_init(struct bsv_changes *ret, const struct bsv_comparison *found, bool people, struct bsa_err *err);

/* All 0 is fine. */
void bsv_changes_fini(struct bsv_changes *c);

/* The answer in a line; and what became of the mean of all. Borrowed from @c. */
const char *bsv_changes_headline(struct bsv_changes *c);
const char *bsv_changes_mean(struct bsv_changes *c);

/* One row per group; NULL: no memory. They are the caller's, and borrow from @c. */
struct bsv_rows *bsv_changes_groups(struct bsv_changes *c);
struct bsv_rows *bsv_changes_mix(struct bsv_changes *c);

/* *ret_n: how many there are: people get those with enough executions. */
struct bsv_rows *bsv_changes_tails(struct bsv_changes *c, size_t *ret_n);

/* One row per group and phase: people get those that changed, or had a part in what did. */
struct bsv_rows *bsv_changes_phases(struct bsv_changes *c, size_t *ret_n);

#endif
