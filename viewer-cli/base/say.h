/* say.h -- counts, names and progress for people; progress goes to standard error. */
#ifndef BSV_BASE_SAY_H
#define BSV_BASE_SAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/clock.h"

enum { BSV_COUNT_MAX = 32 };

/* Writes "12 345 678" into @to and returns @to. */
const char *bsv_count(char to[BSV_COUNT_MAX], uint64_t n);

/* Returns @one if @n is 1, otherwise @many: "1 trace", "2 traces". */
const char *bsv_plural(uint64_t n, const char *one, const char *many);

/*
 * A progress line that is redrawn in place, at most ten times a second; never drawn where standard
 * error is not a terminal.
 */
struct bsv_progress {
	bool on, shown;
	uint64_t drawn_ns;
};

void bsv_progress_init(struct bsv_progress *p, bool wanted);

/* Is it time to redraw? */
bool bsv_progress_due(struct bsv_progress *p);
void bsv_progress_draw(struct bsv_progress *p, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Erase the line. */
void bsv_progress_fini(struct bsv_progress *p);

/* "noisy's mobilenet"; owned by the caller. NULL: neither is known, or no memory. */
char *bsv_full_name(const char *app, const char *model);

/* Owned by the caller. NULL: @text is NULL, or no memory. */
char *bsv_text_copy(const char *text);

/* Append to *text, which may be NULL, behind "; " if it has text already. False: no memory. @more is freed. */
bool bsv_text_join(char **text, char *more);

#endif
