/* missed.h -- findings about missed deadlines, by whose doing they were. */
#ifndef BSV_MISSED_H
#define BSV_MISSED_H

#include "audit/finding.h"
#include "audit/verdicts.h"
#include "base/rows.h"

/* @fairness: where fair sharing would have met more deadlines, it speaks against the app that had too much. */
int bsv_missed_add(struct bsv_findings *f, struct bsv_input *input, const struct bsv_judgement *fairness,
                   struct bsa_err *err);

/*
 * SQL, for a WITH: missed deadlines by the doers that are named for them (miss_doers.sql), the same
 * for everything that names one. Owned by the caller; NULL: no memory.
 */
char *bsv_missed_doers(const struct bsv_judgement *fairness);

/*
 * A sentence for people: how many of @missed misses no replay decides, and why. @rows: of
 * misses_undecided.sql, which begin again before and after. Owned by the caller; NULL: a replay
 * decides all, or no memory.
 */
char *bsv_missed_undecided(struct bsv_rows *rows, int64_t missed);

/* The same for a whole recording. *ret: the rows, owned by the caller. Negative: an error. */
int bsv_missed_undecided_rows(struct bsv_rows **ret, const struct bsv_input *input, struct bsa_err *err);
char *bsv_missed_undecided_whole(struct bsv_rows *rows, const struct bsv_input *input);

#endif
