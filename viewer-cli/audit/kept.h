/*
 * kept.h -- what the audits found out about an input, while several commands answer about it: a report has ten answers,
 * and some of them rest on the same facts.
 */
#ifndef BSV_AUDIT_KEPT_H
#define BSV_AUDIT_KEPT_H

#include "audit/sharing.h"
#include "audit/verdicts.h"

enum { BSV_GROUPS_COUNTS = 4 }; /* columns of groups_stored.sql */

/* Of the executions that the input picks, judged by the rules' own limits. */
struct bsv_kept {
	bool is_judged[BSV_PRIORITY + 1]; /* by enum bsv_audit */
	struct bsv_judgement judgements[BSV_PRIORITY + 1];
	/* number of executions that may or may not have had a deadline, and met theirs; -1: not counted yet */
	int64_t n_unknown, n_unseen;
	bool has_picked; /* whether bsv_input_keep_picked has written down what is picked */
	bool has_groups;
	unsigned groups_by; /* the words of --by of which @groups are the counts: audit/groups.h */
	int64_t groups[BSV_GROUPS_COUNTS];
	char *rows_of; /* the query whose rows are in a temporary table; NULL: none yet */
	bool has_sharing;
	struct bsv_sharing_facts sharing;
};

/*
 * For bsv_input.kept of @input; owned by the caller. NULL: no memory, and so nothing is kept. What is picked is
 * computed once, for the connection of @input.
 */
struct bsv_kept *bsv_kept_new(struct bsv_input *input);

/*
 * The query @sql, which is taken, or, where several commands answer about @input, one that reads the rows of the first
 * such query from a table. Owned by the caller. NULL: no memory, or @sql is.
 */
char *bsv_kept_rows(const struct bsv_input *input, char *sql);

/* Accepts NULL. No input may use @kept any more. Returns NULL. */
struct bsv_kept *bsv_kept_free(struct bsv_kept *kept);

#endif
