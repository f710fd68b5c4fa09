/* sample.c -- test_mutants.sh plants defects here. It has a bit of everything; x < 1 in a comment is nothing. */
#include "sample.h"

#include <assert.h>

#define LIMIT(x) ((x) < 100 && (x) > 1 ? (x) : 100)

static const int weights[] = { [0] = WEIGHT_LOW, [1] = WEIGHT_HIGH, [2] = 4 };

bool range_holds(const struct range *range, int value)
{
	return value >= range->least && value <= range->most;
}

int range_sum(const struct range *range, const int *values, int n)
{
	int sum = 0;

	assert(n >= 0);
	for (int i = 0; i < n; i++) {
		if (!range_holds(range, values[i]))
			continue;
		sum += values[i] * weights[i % 3];
	}
	return sum > 100 ? LIMIT(100) : sum;
}

int range_clamp(struct range *range, int value)
{
	const char *text = "a && b";

	switch (value) {
	case 7:
		range->most++;
		break;
	default:
		range_note(range->least, range->most, text);
	}
	while (value > range->most)
		value -= 1;
	return value;
}
