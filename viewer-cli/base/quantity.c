#include "base/quantity.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct unit {
	const char *name;
	double of;
};

/* @text is a number followed by one of @units, whose last row has an empty name. */
static bool quantity_read(const char *text, const struct unit *units, int64_t *ret)
{
	double value;
	char *end;

	errno = 0;
	value = strtod(text, &end);
	while (*units->name && strcmp(end, units->name))
		units++;
	if (errno || ((*text < '0' || *text > '9') && *text != '.') || end == text || !*units->name ||
	    strpbrk(text, "xX") || !(value * units->of < 0x1p62))
		return false;
	*ret = (int64_t)(value * units->of + 0.5);
	return true;
}

bool bsv_duration_read(const char *text, int64_t *ret_ns)
{
	static const struct unit units[] = { { "ns", 1 },   { "us", 1e3 },   { "ms", 1e6 },   { "s", 1e9 },
		                             { "m", 60e9 }, { "min", 60e9 }, { "h", 3600e9 }, { "", 0 } };

	return quantity_read(text, units, ret_ns);
}

bool bsv_size_read(const char *text, int64_t *ret_bytes)
{
	static const struct unit units[] = {
		{ "K", 0x1p10 }, { "M", 0x1p20 }, { "G", 0x1p30 }, { "k", 0x1p10 }, { "", 0 }
	};

	return quantity_read(text, units, ret_bytes);
}
