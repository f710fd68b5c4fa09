/*
 * quantity.h -- durations, sizes and percentages, as a user writes them: one grammar for options, rules and changes.
 *
 * A number is decimal digits, and perhaps a point between digits: no sign, space, exponent or
 * hexadecimal digit. nnburstd and nnburst-load read durations by the same grammar
 * (runtime/options/quantity.h).
 */
#ifndef BSV_BASE_QUANTITY_H
#define BSV_BASE_QUANTITY_H

#include <stdbool.h>
#include <stdint.h>

/* The forms that an error message asks the user to write. */
#define BSV_DURATIONS_SUCH_AS "1.5s, 200ms, 40us or 5ns"
#define BSV_SIZES_SUCH_AS "512K, 4M or 1G"

/*
 * Parse a number at the beginning of @text. Returns what follows it; NULL: @text begins with no
 * number, and *ret is unchanged.
 */
const char *bsv_number_read(const char *text, double *ret);

/*
 * A number and one of ns, us, ms, s, min and h, at most 2^62 ns. False: @text is not a duration,
 * and *ret is unchanged.
 */
bool bsv_duration_read(const char *text, int64_t *ret_ns);

/* A duration, perhaps with a sign before it. False: @text is none, and *ret is unchanged. */
bool bsv_difference_read(const char *text, int64_t *ret_ns);

/*
 * A number and one of K (k), M and G, powers of 1024, at most 2^62 bytes. False: @text is not a
 * size, and *ret is unchanged.
 */
bool bsv_size_read(const char *text, int64_t *ret_bytes);

/*
 * A number up to @most, perhaps with a %, which spaces may precede. False: @text is not such a
 * percentage, and *ret is unchanged.
 */
bool bsv_percent_read(const char *text, double most, double *ret);

#endif
