/*
 * scale.h -- one unit for a whole column of durations, times or bytes.
 */
#ifndef BSV_SCALE_H
#define BSV_SCALE_H

#include "base/rows.h"

#include <stdbool.h>

struct bsv_scale {
	const char *unit; /* ""; what stands in the header */
	double of;        /* number of ns or bytes in one unit */
	int decimals;     /* -1: a number as it is */
};

/* The range of a column's values, in any order, from which a unit is chosen. */
struct bsv_extent {
	bool any, real;
	double least, most; /* least: of those that are not 0; both without signs */
};

void bsv_extent_add(struct bsv_extent *e, struct bsv_cell cell);

/* Make @e the range of what it has and of @other. */
void bsv_extent_join(struct bsv_extent *e, const struct bsv_extent *other);

/*
 * Are columns @a and @b the same figure under two conditions, to be compared, and so in one unit?
 * p95_ns and fair_p95_ns, predicted_ns and low_ns.
 */
bool bsv_are_compared(const char *a, const char *b);

/*
 * NULL @class is fine. @all (may be NULL) is of all durations beside it: they have one unit
 * together, if that leaves this column its digits.
 */
struct bsv_scale bsv_scale_of(const char *class, const struct bsv_extent *e, const struct bsv_extent *all);

/* Numbers as they are. */
extern const struct bsv_scale bsv_scale_none;

/*
 * The name of a figure, for people, without what it is counted in: p50_ns is p50. Owned by the
 * caller; NULL: no memory.
 */
char *bsv_name_in_words(const char *name);

enum { BSV_SCALED_TEXT = 64 };

/* @cell, a number, into @to. What is not 0, and would look like it, is shown as less than the least there is. */
void bsv_scaled(char to[BSV_SCALED_TEXT], const struct bsv_scale *scale, struct bsv_cell cell);

#endif
