/* diagnose.h -- finds in the database of a case, for each condition that fired, the app, the cause and the culprit. */
#ifndef BSV_DIAGNOSE_H
#define BSV_DIAGNOSE_H

#include "input/input.h"
#include "watch/case.h"

/* When the case was caught, on the clock of its database; below 0: why that is not known. */
int64_t bsv_diagnose_when(const struct bsv_case *c, struct bsv_input *input, struct bsa_err *err);

/*
 * Fill in @c what @database, of its trace, has: causes, the most important first, summary, held.
 * @c->state becomes "explained", if there is a cause; otherwise @c->summary states what fired and
 * that the recording does not show why. Only the time of the case counts, from @c->before before to
 * @c->after after it. *ret_met: there was one that the conditions mean, or perhaps one. 0, or why
 * it cannot be asked.
 */
int bsv_diagnose(struct bsv_case *c, const char *database, bool *ret_met, struct bsa_err *err);

#endif
