/*
 * cells.h -- time to scale: a span of it cut into cells, how much of each is covered, and the
 * glyphs that show it to the eighth.
 */
#ifndef BSV_RENDER_CELLS_H
#define BSV_RENDER_CELLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bsv_span {
	int64_t from, to; /* to > from, by less than 2^63 */
	int cells;        /* at least 1 */
};

/* Where a time is. Parts are of a cell, of which it has to - from: so that places are exact. */
struct bsv_place {
	int cell;
	uint64_t part;
};

/* The cell of @at; outside of the span, the nearest cell. @to is the end of the last cell: cells, 0. */
struct bsv_place bsv_span_place(const struct bsv_span *s, int64_t at);

/* The cell that shows @at; what is outside is in the nearest one. */
int bsv_span_cell(const struct bsv_span *s, int64_t at);

static inline uint64_t bsv_span_parts(const struct bsv_span *s)
{
	return (uint64_t)s->to - (uint64_t)s->from;
}

/* How much of a cell is covered, and from where to where that lies. Zero it. */
struct bsv_cover {
	uint64_t covered, first, last;
};

/* Cover @cells from @began to @ended, which do not overlap what is covered already. */
void bsv_cover_add(struct bsv_cover *cells, const struct bsv_span *s, int64_t began, int64_t ended);

/* From 0 to 8: rounded down, but what is there at all is at least 1. */
int bsv_eighths(uint64_t covered, uint64_t parts);

/* A piece of a bar that lies, at the side of the cell that it is at; NULL: nothing is covered. */
const char *bsv_bar_glyph(const struct bsv_cover *c, const struct bsv_span *s, bool unicode);

/* A bar that stands, so many eighths high; 0 is a blank. */
const char *bsv_height_glyph(int eighths, bool unicode);

/* How a column of durations is printed: all in one unit, to the nanosecond where there is room for it. */
struct bsv_unit {
	const char *name;
	int64_t ns;
};

/* The unit for durations up to @most. */
const struct bsv_unit *bsv_unit_for(int64_t most);

enum { BSV_AMOUNT_TEXT = 32 };

/* "1234.567", "-0.020", rounded to the nearest; with @plus also "+0.020". Into @to, which is returned. */
const char *bsv_amount(char to[BSV_AMOUNT_TEXT], int64_t ns, const struct bsv_unit *unit, bool plus);

/* "-6 544 987": exact. */
const char *bsv_exact(char to[BSV_AMOUNT_TEXT], int64_t ns);

#endif
