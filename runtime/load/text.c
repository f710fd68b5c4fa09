/* text.c -- times as text, and the clock. */
#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "load.h"

uint64_t load_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * LOAD_S + (uint64_t)t.tv_nsec;
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
