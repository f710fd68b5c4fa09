/* quantity.c -- parses numbers with units. */
#include "options/quantity.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct unit {
	const char *name;
	uint64_t of;
} durations[] = { { "h", 3600000000000 },
	          { "min", 60000000000 },
	          { "s", 1000000000 },
	          { "ms", 1000000 },
	          { "us", 1000 },
	          { "ns", 1 },
	          { NULL, 0 } },
  sizes[] = { { "", 1 }, { "K", 1 << 10 }, { "M", 1 << 20 }, { "G", 1 << 30 }, { NULL, 0 } },
  counts[] = { { "", 1 }, { NULL, 0 } };

/* The unit that @text is the name of. NULL if @units has no such unit. */
static const struct unit *unit_named(const struct unit *units, const char *text)
{
	while (units->name && strcmp(units->name, text) != 0)
		units++;
	return units->name ? units : NULL;
}

bool quantity_duration_read(const char *text, uint64_t *ret_ns)
{
	size_t whole = strspn(text, "0123456789"), fraction = 0;
	const struct unit *unit;
	long double ns;

	if (whole && text[whole] == '.')
		fraction = 1 + strspn(text + whole + 1, "0123456789");
	unit = unit_named(durations, text + whole + fraction);
	if (!whole || fraction == 1 || !unit)
		return false;
	ns = strtold(text, NULL) * (long double)unit->of;
	if (ns > 0x1p62L)
		return false;
	*ret_ns = (uint64_t)llroundl(ns);
	return true;
}

char *quantity_duration_text(char to[QUANTITY_DURATION_TEXT], uint64_t ns)
{
	const struct unit *unit = unit_named(durations, ns ? "min" : "s");

	while (ns % unit->of)
		unit++;
	assert(unit->name);
	snprintf(to, QUANTITY_DURATION_TEXT, "%" PRIu64 "%s", ns / unit->of, unit->name);
	return to;
}

/* @text is a whole number and one of @units. */
static bool whole_read(const char *text, const struct unit *units, uint64_t *ret)
{
	const struct unit *unit = unit_named(units, text + strspn(text, "0123456789"));
	uint64_t n;

	if (*text < '0' || *text > '9' || !unit)
		return false;
	errno = 0;
	n = strtoull(text, NULL, 10);
	if (errno || n > UINT64_MAX / unit->of)
		return false;
	*ret = n * unit->of;
	return true;
}

bool quantity_size_read(const char *text, uint64_t *ret_bytes)
{
	return whole_read(text, sizes, ret_bytes);
}

bool quantity_count_read(const char *text, uint64_t *ret)
{
	return whole_read(text, counts, ret);
}
