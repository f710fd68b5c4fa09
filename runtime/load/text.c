/* text.c -- the nearest word, times as text, and the clock. */
#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "load.h"

enum { WORD_MAX = 32, NEAR = 3 };

uint64_t load_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * LOAD_S + (uint64_t)t.tv_nsec;
}

/* How many letters must change to make one word the other. Both are shorter than WORD_MAX. */
static size_t edit_distance(const char *a, const char *b)
{
	size_t n = strlen(b), row[WORD_MAX], next[WORD_MAX];

	assert(n < WORD_MAX);
	for (size_t j = 0; j <= n; j++)
		row[j] = j;
	for (size_t i = 1; a[i - 1]; i++) {
		next[0] = i;
		for (size_t j = 1; j <= n; j++) {
			size_t best = row[j - 1] + (a[i - 1] != b[j - 1]);

			if (row[j] + 1 < best)
				best = row[j] + 1;
			next[j] = next[j - 1] + 1 < best ? next[j - 1] + 1 : best;
		}
		memcpy(row, next, sizeof(row));
	}
	return row[n];
}

const char *load_nearest(const char *word, const void *words, size_t n, size_t stride)
{
	size_t least = NEAR + 1;
	const char *nearest = NULL;

	if (strlen(word) >= WORD_MAX)
		return NULL;
	for (size_t i = 0; i < n; i++) {
		const char *each = *(const char *const *)((const char *)words + i * stride);
		size_t d = each && strlen(each) < WORD_MAX ? edit_distance(word, each) : WORD_MAX;

		if (d < least && d < strlen(word)) {
			least = d;
			nearest = each;
		}
	}
	return nearest;
}

static const struct unit {
	const char *name;
	uint64_t ns;
} units[] = { { "min", 60 * LOAD_S }, { "s", LOAD_S }, { "ms", LOAD_MS }, { "us", LOAD_US }, { "ns", 1 } };

enum { N_UNITS = sizeof(units) / sizeof(units[0]) };

int load_time(const char *text, uint64_t *ret)
{
	size_t digits = strspn(text, "0123456789."), point = strcspn(text, ".");
	double value;
	char *end;

	/* No sign, no exponent, no second point, and a digit on either side of the first. */
	if (!digits || point == 0 || (point < digits && (point + 1 == digits || strchr(text + point + 1, '.'))))
		return -EINVAL;
	value = strtod(text, &end);
	for (int i = 0; i < N_UNITS; i++)
		if (strcmp(text + digits, units[i].name) == 0) {
			value *= (double)units[i].ns;
			if (value > (double)INT64_MAX)
				return -EINVAL;
			*ret = (uint64_t)llround(value);
			return 0;
		}
	return -EINVAL;
}

char *load_time_text(char to[LOAD_TIME_TEXT], uint64_t ns)
{
	int i = 0;

	while (ns % units[i].ns || (!ns && i < N_UNITS - 4))
		i++;
	assert(i < N_UNITS);
	snprintf(to, LOAD_TIME_TEXT, "%" PRIu64 "%s", ns / units[i].ns, units[i].name);
	return to;
}
