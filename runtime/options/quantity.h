/*
 * quantity.h -- durations, sizes and counts, as a user of one of the programs writes them.
 *
 * burstscope reads durations by the same grammar (viewer-cli/base/quantity.h): a number is decimal digits, and
 * perhaps a point between digits, without a sign, space, exponent or hexadecimal digit. Sizes and counts are whole
 * numbers.
 */
#ifndef NNB_OPTIONS_QUANTITY_H
#define NNB_OPTIONS_QUANTITY_H

#include <stdbool.h>
#include <stdint.h>

/*
 * A number and one of ns, us, ms, s, min and h, at most 2^62 ns. False: @text is not a duration, and *ret is
 * unchanged.
 */
bool quantity_duration_read(const char *text, uint64_t *ret_ns);

/* The reverse, in the largest unit up to min that leaves a whole number: "2500us". Returns @to. */
enum { QUANTITY_DURATION_TEXT = 32 };
char *quantity_duration_text(char to[QUANTITY_DURATION_TEXT], uint64_t ns);

/*
 * A whole number, alone or with one of K, M and G, powers of 1024. False: @text is not a size, or 2^64 or more; *ret
 * is unchanged.
 */
bool quantity_size_read(const char *text, uint64_t *ret_bytes);

/* A whole number. False: @text is not a count, or 2^64 or more; *ret is unchanged. */
bool quantity_count_read(const char *text, uint64_t *ret);

#endif
