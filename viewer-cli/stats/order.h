/* order.h -- compares and sorts samples, and measures how much larger those of one set are than those of another. */
#ifndef BSV_STATS_ORDER_H
#define BSV_STATS_ORDER_H

#include <stddef.h>
#include <stdint.h>

/* For qsort, of int64_t and of doubles that are numbers. */
static inline int bsv_by_integer(const void *a, const void *b)
{
	const int64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static inline int bsv_by_double(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* Sort @n values in linear time; @scratch has room for @n values, too. */
void bsv_sort(int64_t *values, size_t n, int64_t *scratch);

/*
 * Cliff's delta: how often a value of @b is larger than one of @a, less how often it is smaller,
 * over all pairs: -1 to 1, and 0 where the sets are alike. Both are sorted and not empty.
 */
double bsv_cliff(const int64_t *a, size_t n_a, const int64_t *b, size_t n_b);

#endif
