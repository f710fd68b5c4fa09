/* order.c -- sorts by radix, and merges two sorted sets. */
#include "stats/order.h"

#include <assert.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { DIGIT_BITS = 11, DIGITS = 1 << DIGIT_BITS, SHORT = 256 };

/* Unsigned numbers in the same order. */
static uint64_t sort_key(int64_t value)
{
	return (uint64_t)value ^ UINT64_C(1) << 63;
}

/* Sort by the digit at @shift, stably. False: all values have the same digit, and nothing was moved. */
static bool sort_digit(const int64_t *from, size_t n, int64_t *to, unsigned shift)
{
	size_t count[DIGITS] = { 0 }, at = 0;

	for (size_t i = 0; i < n; i++)
		count[sort_key(from[i]) >> shift & (DIGITS - 1)]++;
	if (count[sort_key(from[0]) >> shift & (DIGITS - 1)] == n)
		return false;
	for (size_t d = 0; d < DIGITS; d++) {
		size_t c = count[d];

		count[d] = at;
		at += c;
	}
	for (size_t i = 0; i < n; i++)
		to[count[sort_key(from[i]) >> shift & (DIGITS - 1)]++] = from[i];
	return true;
}

void bsv_sort(int64_t *values, size_t n, int64_t *scratch)
{
	int64_t *from = values, *to = scratch;

	if (n < SHORT) {
		if (n > 1)
			qsort(values, n, sizeof(*values), bsv_by_integer);
		return;
	}
	for (unsigned shift = 0; shift < 64; shift += DIGIT_BITS)
		if (sort_digit(from, n, to, shift)) {
			int64_t *other = from;

			from = to;
			to = other;
		}
	if (from != values)
		memcpy(values, from, n * sizeof(*values));
}

double bsv_cliff(const int64_t *a, size_t n_a, const int64_t *b, size_t n_b)
{
	size_t below = 0, upto = 0; /* number of @a's values smaller than b[i], and not larger than b[i] */
	double larger = 0, smaller = 0;

	assert(n_a > 0 && n_b > 0);
	for (size_t i = 0; i < n_b; i++) {
		while (below < n_a && a[below] < b[i])
			below++;
		upto = upto < below ? below : upto;
		while (upto < n_a && a[upto] <= b[i])
			upto++;
		larger += (double)below;
		smaller += (double)(n_a - upto);
	}
	return (larger - smaller) / ((double)n_a * (double)n_b);
}
