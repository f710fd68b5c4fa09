/* nearest.c -- see nearest.h: by how many letters must change to make one word the other. */
#include "options/nearest.h"

#include <stdbool.h>
#include <string.h>

enum { LONGEST = 32, SHORTEST = 3, FAR = 4 }; /* FAR: for long words; of short ones half must be right */

static unsigned least(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

static unsigned distance(const char *a, const char *b)
{
	unsigned row[LONGEST + 1], next[LONGEST + 1];
	size_t n = strlen(b);

	if (strlen(a) > LONGEST || n > LONGEST)
		return FAR;
	for (size_t j = 0; j <= n; j++)
		row[j] = (unsigned)j;
	for (size_t i = 1; a[i - 1]; i++) {
		next[0] = (unsigned)i;
		for (size_t j = 1; j <= n; j++)
			next[j] = least(row[j - 1] + (a[i - 1] != b[j - 1]), least(row[j], next[j - 1]) + 1);
		memcpy(row, next, sizeof(row));
	}
	return row[n];
}

/* Somebody was too lazy to write all of it. */
static bool begins(const char *each, const char *word)
{
	size_t n = strlen(word);

	return n >= SHORTEST && !strncmp(each, word, n);
}

const char *bsv_nearest(const char *word, const char *const *words, size_t n, size_t stride)
{
	const char *nearest = NULL;
	unsigned at = least(FAR, (unsigned)strlen(word) / 2 + 1);

	for (size_t i = 0; i < n; i++) {
		const char *each = *(const char *const *)((const char *)words + i * stride);
		unsigned d = begins(each, word) ? 1 : distance(word, each);

		if (d < at) {
			at = d;
			nearest = each;
		}
	}
	return nearest;
}
