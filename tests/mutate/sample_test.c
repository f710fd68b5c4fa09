/* sample_test.c -- a test of sample.c that looks at range_holds() and at little else. */
#include "sample.h"

#include <stdio.h>

void range_note(int least, int most, const char *text)
{
	(void)least, (void)most, (void)text;
}

int main(void)
{
	struct range range = { 2, 4 };
	int values[] = { 1, 2, 3 };

	for (int i = 0; i < 7; i++) {
		if (range_holds(&range, i) != (i == 2 || i == 3 || i == 4)) {
			puts("[  FAILED  ] range_holds");
			return 1;
		}
	}
	if (range_sum(&range, values, 3) != 16) {
		puts("[  FAILED  ] range_sum");
		return 1;
	}
	return 0;
}
