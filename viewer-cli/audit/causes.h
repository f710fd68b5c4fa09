/*
 * causes.h -- what the causes of missed deadlines and of overhead are, in words.
 */
#ifndef BSV_CAUSES_H
#define BSV_CAUSES_H

#include <stddef.h>

/* The @i-th cause; NULL: there are no more. */
const char *bsv_cause_name(size_t i);

/* What it means, a clause that stands alone, for people who do not know it; "": no such cause. */
const char *bsv_cause_says(const char *cause);

/* What goes on after "19 of them": why a deadline was missed. @ stands for the culprit. NULL: no such cause. */
const char *bsv_cause_of_miss(const char *cause);

/* What goes on after "43 % of it": what the time was spent on. NULL: no such cause. */
const char *bsv_cause_of_overhead(const char *cause);

#endif
