/* nearest.c -- compares two words by the number of letters to change, add or remove. */
#include "base/nearest.h"

#include <stdbool.h>
#include <string.h>

/* FAR: of long words. Of short words half of the letters must be right, the first among them if no more are. */
enum { LONGEST = 32, SHORTEST = 3, FAR = 4 };

static unsigned smaller_of(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

static unsigned word_distance(const char *a, const char *b)
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
			next[j] = smaller_of(row[j - 1] + (a[i - 1] != b[j - 1]), smaller_of(row[j], next[j - 1]) + 1);
		memcpy(row, next, sizeof(row));
	}
	return row[n];
}

const char *bsv_nearest(const char *word, const char *const *words, size_t n, size_t stride)
{
	const char *nearest = NULL;
	const size_t length = strlen(word);
	unsigned at = smaller_of(FAR, (unsigned)length / 2 + 1);

	for (size_t i = 0; i < n; i++) {
		const char *each = *(const char *const *)((const char *)words + i * stride);
		bool is_beginning = length >= SHORTEST && !strncmp(each, word, length); /* all that the user typed */
		unsigned d = is_beginning ? 1 : word_distance(word, each);

		if (d < at && (2 * d < length || *each == *word)) {
			at = d;
			nearest = each;
		}
	}
	return nearest;
}
