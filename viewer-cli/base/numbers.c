/* numbers.c -- prints and rounds numbers for people: counts, durations and sizes. */
#include "base/numbers.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>

/* ---- counts ---- */

const char *bsv_count(char to[BSV_COUNT_MAX], uint64_t n)
{
	char digits[BSV_COUNT_MAX];
	int length = snprintf(digits, sizeof(digits), "%" PRIu64, n);
	char *at = to;

	for (int i = 0; i < length; i++) {
		if (i && (length - i) % 3 == 0)
			*at++ = ' ';
		*at++ = digits[i];
	}
	*at = 0;
	return to;
}

const char *bsv_plural(uint64_t n, const char *one, const char *many)
{
	return n == 1 ? one : many;
}

int64_t bsv_whole(double value)
{
	static const int64_t most = INT64_C(1) << 62;

	if (value != value)
		return 0;
	return value >= 0x1p62 ? most : value <= -0x1p62 ? -most : (int64_t)value;
}

/* ---- durations ---- */

struct duration_unit {
	const char *name;
	double of;
};

#define ROUNDS_UP 0.99995 /* part of a power of ten from which on four digits round up to it */

/* The largest unit of which @ns is one or more, with four digits; NULL: ns. */
static const struct duration_unit *unit_of(int64_t ns)
{
	static const struct duration_unit units[] = { { "s", 1e9 }, { "ms", 1e6 }, { "us", 1e3 } };
	double size = ns < 0 ? -(double)ns : (double)ns;

	for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++)
		if (size >= ROUNDS_UP * units[i].of)
			return &units[i];
	return NULL;
}

static const char *duration_print(char to[BSV_DURATION_TEXT], int64_t ns, const struct duration_unit *unit)
{
	double value = unit ? (double)ns / unit->of : 0, size = value < 0 ? -value : value;
	int decimals = 3;

	/* Decimals that leave four digits, no more than three. */
	for (double most = 10 * ROUNDS_UP; decimals > 0 && size >= most; most *= 10)
		decimals--;
	if (unit)
		snprintf(to, BSV_DURATION_TEXT, "%.*f %s", decimals, value, unit->name);
	else
		snprintf(to, BSV_DURATION_TEXT, "%" PRId64 " ns", ns);
	return to;
}

const char *bsv_duration(char to[BSV_DURATION_TEXT], int64_t ns)
{
	return duration_print(to, ns, unit_of(ns));
}

const char *bsv_duration_beside(char to[BSV_DURATION_TEXT], int64_t ns, int64_t other)
{
	const struct duration_unit *unit = unit_of(other), *own = unit_of(ns);
	bool shows = unit && (double)ns >= 0.01 * unit->of;

	return duration_print(to, ns, shows && (!own || own->of < unit->of) ? unit : own);
}

/* ---- sizes ---- */

enum { MIB = 1 << 20 };

const char *bsv_bytes(char to[BSV_BYTES_TEXT], uint64_t bytes)
{
	static const char *const units[] = { "bytes", "KiB", "MiB", "GiB", "TiB" };
	double n = (double)bytes;
	size_t u = 0;

	while (n >= 1023.5 && u < 4) { /* from there on it would be printed as 1024 */
		n /= 1024;
		u++;
	}
	snprintf(to, BSV_BYTES_TEXT, n < 10 && u && n != (double)(int)n ? "%.1f %s" : "%.0f %s", n, units[u]);
	return to;
}

const char *bsv_size_option(char to[BSV_BYTES_TEXT], uint64_t bytes)
{
	if (bytes >= MIB)
		snprintf(to, BSV_BYTES_TEXT, "%" PRIu64 "M", bytes / MIB);
	else
		snprintf(to, BSV_BYTES_TEXT, "%" PRIu64 "K", bytes / 1024);
	return to;
}
