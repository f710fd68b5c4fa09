/* quantity.c -- parses numbers with units. */
#include "base/quantity.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

struct unit {
	const char *name;
	int64_t of;
};

/* The length of the number at the beginning of @text; 0: no number. */
static size_t number_length(const char *text)
{
	size_t whole = strspn(text, "0123456789"), fraction;

	if (!whole || text[whole] != '.')
		return whole;
	fraction = strspn(text + whole + 1, "0123456789");
	return fraction ? whole + 1 + fraction : 0;
}

/* @text is a number followed by one of @units, whose last row has an empty name. */
static bool quantity_read(const char *text, const struct unit *units, int64_t *ret)
{
	size_t n = number_length(text);
	long double value;

	while (*units->name && strcmp(text + n, units->name) != 0)
		units++;
	if (!n || !*units->name)
		return false;
	value = strtold(text, NULL) * (long double)units->of;
	if (value > 0x1p62L)
		return false;
	*ret = (int64_t)llroundl(value);
	return true;
}

const char *bsv_number_read(const char *text, double *ret)
{
	size_t n = number_length(text);

	if (!n)
		return NULL;
	*ret = strtod(text, NULL);
	return text + n;
}

bool bsv_duration_read(const char *text, int64_t *ret_ns)
{
	static const struct unit units[] = { { "ns", 1 },
		                             { "us", 1000 },
		                             { "ms", 1000000 },
		                             { "s", 1000000000 },
		                             { "min", 60000000000 },
		                             { "h", 3600000000000 },
		                             { "", 0 } };

	return quantity_read(text, units, ret_ns);
}

bool bsv_difference_read(const char *text, int64_t *ret_ns)
{
	bool signs = *text == '-' || *text == '+';

	if (!bsv_duration_read(text + signs, ret_ns))
		return false;
	if (*text == '-')
		*ret_ns = -*ret_ns;
	return true;
}

bool bsv_size_read(const char *text, int64_t *ret_bytes)
{
	static const struct unit units[] = {
		{ "K", 1 << 10 }, { "M", 1 << 20 }, { "G", 1 << 30 }, { "k", 1 << 10 }, { "", 0 }
	};

	return quantity_read(text, units, ret_bytes);
}

bool bsv_percent_read(const char *text, double most, double *ret)
{
	double value = 0;
	const char *end = bsv_number_read(text, &value);

	if (!end || value > most)
		return false;
	end += strspn(end, " ");
	if (*end && strcmp(end, "%") != 0)
		return false;
	*ret = value;
	return true;
}
