/* axis.c -- chooses the unit and the step of an axis of time. */
#include "render/axis.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* "1.25", in @unit, with as many digits as steps of @step need. */
void bsv_tick_text(char to[BSV_TICK_TEXT], int64_t at, int64_t step, const struct bsv_unit *unit)
{
	uint64_t size = at < 0 ? -(uint64_t)at : (uint64_t)at, of = (uint64_t)unit->ns, one = 1;
	int decimals = 0;

	while (one < of && (uint64_t)step % (of / one)) {
		one *= 10;
		decimals++;
	}
	if (decimals)
		snprintf(to, BSV_TICK_TEXT, "%s%" PRIu64 ".%0*" PRIu64, at < 0 ? "-" : "", size / of, decimals % 10,
		         size % of / (of / one));
	else
		snprintf(to, BSV_TICK_TEXT, "%s%" PRIu64, at < 0 ? "-" : "", size / of);
}

/* The unit in which multiples of @step up to @most are short. */
static const struct bsv_unit *tick_unit(int64_t step, int64_t most)
{
	static const struct bsv_unit units[] = { { "s", 1000000000 }, { "ms", 1000000 }, { "us", 1000 }, { "ns", 1 } };

	for (size_t i = 0; i < 3; i++)
		if (step >= units[i].ns || (most >= units[i].ns && step * 100 >= units[i].ns))
			return &units[i];
	return &units[3];
}

/* Ticks count from the beginning of the recording, or where that would be long numbers, from the first column. */
struct bsv_axis bsv_axis_of(const struct bsv_span *s)
{
	enum { APART = 12, LONGEST = 9 };
	unsigned __int128 least = (unsigned __int128)bsv_span_parts(s) * APART / (unsigned)s->cells + 1;
	struct bsv_axis a = { .step = 1 };
	char text[BSV_TICK_TEXT];

	/* A round number of ns that puts ticks at least APART cells from each other. */
	while ((unsigned __int128)a.step * 5 < least && a.step <= INT64_MAX / 10)
		a.step *= 10;
	if ((unsigned __int128)a.step * 5 < least)
		a.step = INT64_MAX;
	else if ((unsigned __int128)a.step * 2 < least)
		a.step *= 5;
	else if ((unsigned __int128)a.step < least)
		a.step *= 2;

	a.unit = tick_unit(a.step, s->to > 0 ? s->to : 1);
	bsv_tick_text(text, s->to, a.step, a.unit);
	a.first = s->from / a.step * a.step;
	if (a.first < s->from)
		a.first += a.step;
	if (strlen(text) <= LONGEST)
		return a;
	a.base = s->from;
	a.first = 0;
	a.unit = tick_unit(a.step, s->to - s->from);
	return a;
}

/* The cell of the tick at *@tick, and on to the next one; -1: there are no more. */
int bsv_axis_next(const struct bsv_span *s, const struct bsv_axis *a, int64_t *tick)
{
	int64_t at;
	int cell;

	if (*tick == INT64_MAX || __builtin_add_overflow(a->base, *tick, &at) || at >= s->to)
		return -1;
	cell = bsv_span_cell(s, at);
	if (__builtin_add_overflow(*tick, a->step, tick))
		*tick = INT64_MAX;
	return cell;
}
