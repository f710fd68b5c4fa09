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
const char *bsv_cause_says(const char *cause);

/*
 * The continuation of "19 of them": why a deadline was missed. @ stands for the culprit. @shares_known: what each app had of its share is
 * known throughout; otherwise nothing is said of it where it is not certain. NULL: no such cause.
 */
const char *bsv_cause_of_miss(const char *cause, bool shares_known);

/* @phrase with @culprit for its @; NULL: it is unknown. Owned by the caller. NULL: no memory. */
char *bsv_cause_with_culprit(const char *phrase, const char *culprit);

#define BSV_OWN_DOING "the app itself"

/* The doer of the cause, unless that is an app that held a lane: "the machine", "the service" or BSV_OWN_DOING. NULL: another, or unknown. */
const char *bsv_cause_doer(const char *cause);

/* The continuation of "43 % of it": what the time was spent on. @shares_known: as above. NULL: no such cause. */
const char *bsv_cause_of_overhead(const char *cause, bool shares_known);

#endif
