/*
 * axis.h -- an axis of time: round numbers in a unit that is fit, not too near to each other.
 *
 * Ticks count from the beginning of the recording, or where those would be long numbers, from the first cell.
 */
#ifndef BSV_RENDER_AXIS_H
#define BSV_RENDER_AXIS_H

#include "render/cells.h"

struct bsv_axis {
	int64_t base, first, step; /* ticks are at base + first, + step, ... */
	const struct bsv_unit *unit;
};

struct bsv_axis bsv_axis_of(const struct bsv_span *s);

/* The cell of the tick at *@tick, which goes on to the next one; it begins as @first. -1: there are no more. */
int bsv_axis_next(const struct bsv_span *s, const struct bsv_axis *a, int64_t *tick);

enum { BSV_TICK_TEXT = 64 };

/* "1.25", in @unit, with as many digits as steps of @step need. */
void bsv_tick_text(char to[BSV_TICK_TEXT], int64_t at, int64_t step, const struct bsv_unit *unit);

#endif
