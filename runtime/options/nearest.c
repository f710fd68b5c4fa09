/* nearest.c -- compares two words by the number of letters to change, add or remove. */
#include "options/nearest.h"

#include <stdbool.h>
#include <string.h>

enum {
	LONGEST = 32,
	SHORTEST = 3,
	FAR = 4
}; /* FAR: the distance at which a word is no longer near; for a short word it is half its length */

static size_t word_distance(const char *a, const char *b)
{
	size_t row[LONGEST + 1], next[LONGEST + 1], n = strlen(b);

	if (strlen(a) > LONGEST || n > LONGEST)
		return FAR;
	for (size_t j = 0; j <= n; j++)
		row[j] = j;
	for (size_t i = 1; a[i - 1]; i++) {
		next[0] = i;
		for (size_t j = 1; j <= n; j++) {
			size_t best = row[j - 1] + (a[i - 1] != b[j - 1]), one_more = next[j - 1] + 1;

			if (row[j] + 1 < one_more)
				one_more = row[j] + 1;
			next[j] = best < one_more ? best : one_more;
		}
		memcpy(row, next, sizeof(row));
	}
	return row[n];
}

const char *nearest_word(const char *word, const void *words, size_t n, size_t stride)
{
	size_t length = strlen(word), least = length / 2 + 1;
	const char *nearest = NULL;

	if (least > FAR)
		least = FAR;
	for (size_t i = 0; i < n; i++) {
		const char *each = *(const char *const *)((const char *)words + i * stride);
		bool begins =
			length >= SHORTEST && strncmp(each, word, length) == 0; /* the user typed only the beginning */
		size_t distance = begins ? 1 : word_distance(word, each);

		if (distance < least) {
			least = distance;
			nearest = each;
		}
	}
	return nearest;
}
