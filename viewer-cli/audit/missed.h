/* missed.h -- findings about missed deadlines, by whose doing they were. */
#ifndef BSV_MISSED_H
#define BSV_MISSED_H

#include "audit/findings.h"

/* @fairness: where fair sharing would have met more deadlines, it speaks against the app that had too much. */
int bsv_missed_add(struct bsv_findings *f, struct bsv_input *input, const struct bsv_judgement *fairness,
                   struct bsa_err *err);

/*
 * SQL, for a WITH: missed deadlines by the doers that are named for them (miss_doers.sql), the same for everything that names one. Owned by the caller;
 * NULL: no memory.
 */
char *bsv_missed_doers(const struct bsv_judgement *fairness);

#endif
