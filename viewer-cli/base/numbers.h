/*
 * numbers.h -- numbers as people read them: counts, durations and sizes. quantity.h reads durations and sizes as a user
 * writes them.
 */
#ifndef BSV_BASE_NUMBERS_H
#define BSV_BASE_NUMBERS_H

#include <stdint.h>

enum { BSV_COUNT_MAX = 32 };

/* Writes "12 345 678" into @to and returns @to. */
const char *bsv_count(char to[BSV_COUNT_MAX], uint64_t n);

/* Returns @one if @n is 1, otherwise @many: "1 trace", "2 traces". */
const char *bsv_plural(uint64_t n, const char *one, const char *many);

/*
 * @value, truncated and limited to plus or minus 2^62, so that the difference of two results does not
 * overflow. Not a number: 0.
 */
int64_t bsv_whole(double value);

enum { BSV_DURATION_TEXT = 32 };

/* Writes "1.25 ms", in the unit that fits, into @to and returns @to: as duration() of SQL prints it. */
const char *bsv_duration(char to[BSV_DURATION_TEXT], int64_t ns);

/*
 * The same in the unit of @other, with which a sentence compares it, if that is the larger one and
 * @ns is at least a hundredth of it.
 */
const char *bsv_duration_beside(char to[BSV_DURATION_TEXT], int64_t ns, int64_t other);

enum { BSV_BYTES_TEXT = 32 };

/* "1.5 MiB", into @to, which is returned. */
const char *bsv_bytes(char to[BSV_BYTES_TEXT], uint64_t bytes);

/* The same as --buffer takes it: "16M". */
const char *bsv_size_option(char to[BSV_BYTES_TEXT], uint64_t bytes);

#endif
