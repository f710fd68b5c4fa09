/* cells.c -- adds up how much of each cell of a span is covered, and draws it to the eighth. */
#include "render/cells.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct bsv_place bsv_span_place(const struct bsv_span *s, int64_t at)
{
	uint64_t parts = bsv_span_parts(s);
	unsigned __int128 far;

	if (at <= s->from)
		return (struct bsv_place){ 0, 0 };
	if (at >= s->to)
		return (struct bsv_place){ s->cells, 0 };
	far = (unsigned __int128)((uint64_t)at - (uint64_t)s->from) * (unsigned)s->cells;
	return (struct bsv_place){ (int)(far / parts), (uint64_t)(far % parts) };
}

int bsv_span_cell(const struct bsv_span *s, int64_t at)
{
	int cell = bsv_span_place(s, at).cell;

	return cell < s->cells ? cell : s->cells - 1;
}

void bsv_cover_add(struct bsv_cover *cells, const struct bsv_span *s, int64_t began, int64_t ended)
{
	struct bsv_place a = bsv_span_place(s, began), b = bsv_span_place(s, ended);
	uint64_t parts = bsv_span_parts(s);

	for (int i = a.cell; i <= b.cell && i < s->cells; i++) {
		struct bsv_cover *c = &cells[i];
		uint64_t first = i == a.cell ? a.part : 0;
		uint64_t last = i == b.cell ? b.part : parts;

		if (first >= last)
			continue;
		if (!c->covered || first < c->first)
			c->first = first;
		if (last > c->last)
			c->last = last;
		c->covered += last - first;
	}
}

int bsv_eighths(uint64_t covered, uint64_t parts)
{
	unsigned __int128 eighths = (unsigned __int128)covered * 8 / parts;

	if (covered && !eighths)
		return 1;
	return eighths < 8 ? (int)eighths : 8;
}

const char *bsv_bar_glyph(const struct bsv_cover *c, const struct bsv_span *s, bool unicode)
{
	static const char *const left[] = { "▏", "▎", "▍", "▌", "▋", "▊", "▉", "█" };
	uint64_t parts = bsv_span_parts(s);
	int eighths = bsv_eighths(c->covered, parts);

	if (!eighths)
		return NULL;
	if (!unicode)
		return eighths >= 4 ? "#" : "|";
	if (c->first <= parts - c->last)
		return left[eighths - 1];
	return eighths > 6 ? "█" : eighths > 2 ? "▐" : "▕"; /* there are no others that stand at the right */
}

const char *bsv_height_glyph(int eighths, bool unicode)
{
	static const char *const blocks[] = { " ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█" };
	static const char *const digits[] = { " ", "1", "2", "3", "4", "5", "6", "7", "8" };

	return (unicode ? blocks : digits)[eighths];
}

const struct bsv_unit *bsv_unit_for(int64_t most)
{
	static const struct bsv_unit units[] = { { "ns", 1 }, { "us", 1000 }, { "ms", 1000000 }, { "s", 1000000000 } };

	if (most < 10000)
		return &units[0];
	if (most < 1000000000)
		return &units[1];
	return most < 1000000000000 ? &units[2] : &units[3];
}

const char *bsv_amount(char to[BSV_AMOUNT_TEXT], int64_t ns, const struct bsv_unit *unit, bool plus)
{
	uint64_t size = ns < 0 ? -(uint64_t)ns : (uint64_t)ns, thousandth = (uint64_t)unit->ns / 1000;
	const char *sign = ns < 0 ? "-" : plus && ns > 0 ? "+" : "";

	if (unit->ns == 1) {
		snprintf(to, BSV_AMOUNT_TEXT, "%s%" PRIu64, sign, size);
		return to;
	}
	size = (size + thousandth / 2) / thousandth;
	snprintf(to, BSV_AMOUNT_TEXT, "%s%" PRIu64 ".%03" PRIu64, size ? sign : "", size / 1000, size % 1000);
	return to;
}

const char *bsv_exact(char to[BSV_AMOUNT_TEXT], int64_t ns)
{
	char digits[BSV_AMOUNT_TEXT];
	uint64_t size = ns < 0 ? -(uint64_t)ns : (uint64_t)ns;
	int n = snprintf(digits, sizeof(digits), "%" PRIu64, size);
	char *at = to;

	if (ns < 0)
		*at++ = '-';
	for (int i = 0; i < n; i++) {
		if (i && (n - i) % 3 == 0)
			*at++ = ' ';
		*at++ = digits[i];
	}
	*at = 0;
	return to;
}
