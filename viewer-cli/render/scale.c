/* scale.c -- chooses the largest unit that keeps the digits of the smallest number of a column. */
#include "render/scale.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/letters.h"

static const double long_number = 1e6; /* digits before the point that are too many to read */

struct unit {
	const char *name;
	double of;
};

static const struct unit durations[] = { { "s", 1e9 }, { "ms", 1e6 }, { "us", 1e3 }, { "ns", 1 }, { NULL, 0 } };
static const struct unit sizes[] = {
	{ "GiB", 0x1p30 }, { "MiB", 0x1p20 }, { "KiB", 0x1p10 }, { "bytes", 1 }, { NULL, 0 }
};

static const struct unit plain = { "", 1.0 };
const struct bsv_scale bsv_scale_none = { "", 1, -1 };

static double cell_number(struct bsv_cell cell)
{
	return cell.type == BSA_REAL ? cell.real : (double)cell.integer;
}

void bsv_extent_add(struct bsv_extent *e, struct bsv_cell cell)
{
	double size = fabs(cell_number(cell));

	if (cell.type != BSA_INT && cell.type != BSA_REAL)
		return;
	e->real |= cell.type == BSA_REAL;
	if (!isfinite(size) || size == 0)
		return;
	e->least = e->any && e->least < size ? e->least : size;
	e->most = e->any && e->most > size ? e->most : size;
	e->any = true;
}

void bsv_extent_join(struct bsv_extent *e, const struct bsv_extent *other)
{
	if (!other->any)
		return;
	e->least = e->any && e->least < other->least ? e->least : other->least;
	e->most = e->any && e->most > other->most ? e->most : other->most;
	e->any = true;
}

/* @name behind the condition that it is for. */
static const char *figure_of(const char *name)
{
	static const char *const conditions[] = { "fair_",     "cold_",      "warm_", "burst_", "sync_",
		                                  "replayed_", "predicted_", "low_",  "high_" };

	for (size_t i = 0; i < sizeof(conditions) / sizeof(*conditions); i++)
		if (!strncmp(name, conditions[i], strlen(conditions[i])))
			return name + strlen(conditions[i]);
	return name;
}

bool bsv_are_compared(const char *a, const char *b)
{
	return strcmp(a, b) && !strcmp(figure_of(a), figure_of(b));
}

/* As many as show three digits of the least, if that does not make the others long. */
static int decimals_for(const struct unit *u, const struct bsv_extent *e)
{
	double most = e->most / u->of;
	int n = 0, enough = most < 1000 ? 3 : most < 10000 ? 2 : 1;

	if (u->of == 1 && *u->name) /* ns and bytes have no parts */
		return 0;
	for (double size = e->least / u->of; size < 100 && n < enough; size *= 10)
		n++;
	return n;
}

static struct bsv_scale scale_by(const struct unit *u, const struct bsv_extent *e)
{
	while (u->of > 1 && e->most < u->of)
		u++;
	while (u->of > 1 && e->least / u->of < 0.001 && e->most / u[1].of < long_number)
		u++;
	return (struct bsv_scale){ u->name, u->of, decimals_for(u, e) };
}

static struct bsv_scale scale_durations(const struct bsv_extent *e, const struct bsv_extent *all)
{
	struct bsv_scale together = scale_by(durations, all ? all : e);

	if (!e->any)
		return (struct bsv_scale){ together.unit, together.of, 0 };
	/* The column's own unit, where that of all makes some of it or all of it small, or too long. */
	if (e->least / together.of < 0.01 || e->most / together.of < 0.1 || e->most / together.of >= long_number)
		return scale_by(durations, e);
	for (const struct unit *u = durations; u->name; u++)
		if (u->of == together.of)
			together.decimals = decimals_for(u, e);
	return together;
}

struct bsv_scale bsv_scale_of(const char *class, const struct bsv_extent *e, const struct bsv_extent *all)
{
	if (!class)
		class = "";
	if (!strcmp(class, "duration"))
		return e->any || (all && all->any) ? scale_durations(e, all) : (struct bsv_scale){ "ns", 1, 0 };
	if (!strcmp(class, "time")) {
		/* Where something was: to the microsecond, so that it can be given to --from. */
		if (e->most >= 10e9)
			return (struct bsv_scale){ "s", 1e9, 6 };
		return (struct bsv_scale){ "ms", 1e6, 3 };
	}
	if (!strcmp(class, "bytes"))
		return e->any ? scale_by(sizes, e) : (struct bsv_scale){ "bytes", 1, 0 };
	if (!strcmp(class, "percent"))
		return (struct bsv_scale){ "%", 1, e->real ? e->any && e->least < 0.1 ? 3 : 1 : 0 };
	if (!strcmp(class, "ratio") && e->real)
		return (struct bsv_scale){ "", 1, 3 };
	if (e->real && !*class)
		return (struct bsv_scale){ "", 1, e->any ? decimals_for(&plain, e) : 0 };
	return bsv_scale_none;
}

char *bsv_name_in_words(const char *name)
{
	static const char *const ends[] = { "_ns", "_percent", "_bytes" };
	char *ret = bsv_printable(name, strlen(name), 0);
	size_t n = ret ? strlen(ret) : 0;

	if (!ret)
		return NULL;
	for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++) {
		size_t m = strlen(ends[i]);

		if (n > m && !strcmp(ret + n - m, ends[i]))
			ret[n -= m] = 0;
	}
	if (n > 2 && !strncmp(ret, "n_", 2))
		memmove(ret, ret + 2, n - 1);
	for (char *at = ret; *at; at++)
		if (*at == '_')
			*at = ' ';
	return ret;
}

void bsv_scaled(char to[BSV_SCALED_TEXT], const struct bsv_scale *scale, struct bsv_cell cell)
{
	double value = cell_number(cell) / scale->of, least;

	if (cell.type == BSA_INT &&
	    (scale->decimals < 0 || (!scale->decimals && scale->of == 1 && fabs(value) < 1e15))) {
		uint64_t rest = cell.integer < 0 ? -(uint64_t)cell.integer : (uint64_t)cell.integer;
		char digits[BSV_SCALED_TEXT], *at = digits + sizeof(digits);

		*--at = 0; /* as "%lld", in a tenth of its time: a table may have a million integers */
		do
			*--at = (char)('0' + rest % 10);
		while (rest /= 10);
		if (cell.integer < 0)
			*--at = '-';
		strcpy(to, at);
		return;
	}
	least = value != 0 && fabs(value) < 1 ? pow(10, -scale->decimals) : 0;
	if (scale->decimals < 0 || !isfinite(value) || fabs(value) >= 1e15)
		snprintf(to, BSV_SCALED_TEXT, "%.6g", value);
	else if (value != 0 && fabs(value) < least / 2)
		snprintf(to, BSV_SCALED_TEXT, "%s%.*f", value > 0 ? "<" : ">-", scale->decimals, least);
	else
		snprintf(to, BSV_SCALED_TEXT, "%.*f", scale->decimals, value);
}
