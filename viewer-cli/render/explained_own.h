/* explained_own.h -- declarations shared by the files that draw one execution (explained.h). */
#ifndef BSV_RENDER_EXPLAINED_OWN_H
#define BSV_RENDER_EXPLAINED_OWN_H

#include <string.h>

#include "base/numbers.h"
#include "render/bars.h"
#include "render/cells.h"
#include "render/explained.h"

enum { BSV_ROWS_MOST = 24 /* limit of rows of waits, and of causes: the rest share one row */, BSV_TEXT_MOST = 512 };

/* The drawing of one execution, passed to all sections. */
struct bsv_drawing {
	const struct bsv_explained *x;
	const struct bsv_screen *screen;
	FILE *to;
	struct bsv_bars *bars;
	struct bsv_unit unit;
	char at[16], took[16], delay[16], typical[24], beyond[24];
	struct bsv_bars_column phases[7], waits[5], lanes[3], preemptions[5];
};

static inline bool bsv_known(int64_t v)
{
	return v != BSV_UNKNOWN;
}

static inline bool bsv_is(const char *a, const char *b)
{
	return a && !strcmp(a, b);
}

/* Unknown if one of them is, or the result is no number of this kind: what is stored may be anything. */
static inline int64_t bsv_plus(int64_t a, int64_t b)
{
	int64_t sum;

	return bsv_known(a) && bsv_known(b) && !__builtin_add_overflow(a, b, &sum) ? sum : BSV_UNKNOWN;
}

static inline int64_t bsv_minus(int64_t a, int64_t b)
{
	int64_t difference;

	return bsv_known(a) && bsv_known(b) && !__builtin_sub_overflow(a, b, &difference) ? difference : BSV_UNKNOWN;
}

/* A line of text, wrapped; nothing in it is obeyed by a terminal. */
void bsv_explained_print(const struct bsv_drawing *d, int paint, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* "743: mobilenet of camera, high", as far as it is known, with printable names; "" for an unknown execution. */
void bsv_who_numbered(char to[BSV_TEXT_MOST], const struct bsv_who *who);

enum { BSV_TAKEN_TEXT = BSV_DURATION_TEXT + 48 };

/*
 * "taken 20 ms before its deadline": what is known of the budget where the service alone was recorded. Deadline and
 * request_read (submitted) are known.
 */
void bsv_explained_taken(char to[BSV_TAKEN_TEXT], const struct bsv_explained *x);

/* Phases, lanes, waits, preemptions. 0, or negative. */
int bsv_explained_bars(const struct bsv_explained *x, FILE *to, const struct bsv_screen *screen, struct bsa_err *err);

/* Draw the ledgers of a miss, the primary cause, and the changes that would have saved it. 0, or negative. */
int bsv_explained_ledger(const struct bsv_explained *x, FILE *to, const struct bsv_screen *screen, struct bsa_err *err);

#endif
