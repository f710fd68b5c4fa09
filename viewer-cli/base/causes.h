/*
 * causes.h -- the causes of missed deadlines and of overhead, described in words.
 */
#ifndef BSV_BASE_CAUSES_H
#define BSV_BASE_CAUSES_H

#include <stdbool.h>
#include <stddef.h>

/* The name of cause @i; NULL: there are no more causes. */
const char *bsv_cause_name(size_t i);

/* The meaning of a cause: a clause that stands alone, for people who do not know the cause. "": no such cause. */
const char *bsv_cause_text(const char *cause);

/* The cause in a few plain words, for a list with numbers. Returns @cause if there is no such cause. */
const char *bsv_cause_brief(const char *cause);

/*
 * The continuation of "missed 19 deadlines": why a deadline was missed. @ stands for the culprit.
 * @shares_known: what each app had of its share is known throughout; otherwise it is left out where
 * it is not certain. NULL: no such cause.
 */
const char *bsv_cause_of_miss(const char *cause, bool shares_known);

/* @phrase with @culprit for its @; NULL: it is unknown. Owned by the caller. NULL: no memory. */
char *bsv_cause_with_culprit(const char *phrase, const char *culprit);

/* The continuation of "43 % of it": what the time was spent on. @shares_known: as above. NULL: no such cause. */
const char *bsv_cause_of_overhead(const char *cause, bool shares_known);

#endif
