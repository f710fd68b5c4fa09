/* sample.h -- the declarations that sample.c and sample_test.c share. */
#ifndef SAMPLE_H
#define SAMPLE_H

#include <stdbool.h>

enum { WEIGHT_LOW = 1, WEIGHT_HIGH = 2 };

struct range {
	int least, most;
};

bool range_holds(const struct range *range, int value);
int range_sum(const struct range *range, const int *values, int n);
int range_clamp(struct range *range, int value);
void range_note(int least, int most, const char *text);

#endif
