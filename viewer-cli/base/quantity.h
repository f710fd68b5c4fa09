/*
 * quantity.h -- durations and sizes, as a user writes them.
 */
#ifndef BSV_BASE_QUANTITY_H
#define BSV_BASE_QUANTITY_H

#include <stdbool.h>
#include <stdint.h>

/* The forms that an error message tells the user to write. */
#define BSV_DURATIONS_SUCH_AS "1.5s, 200ms, 40us or 5ns"
#define BSV_SIZES_SUCH_AS "512K, 4M or 1G"

/* A decimal number and one of ns, us, ms, s, m, min and h, at most 2^62 ns. False: @text is not a duration, and *ret is unchanged. */
bool bsv_duration_read(const char *text, int64_t *ret_ns);

/* A decimal number and one of K (k), M and G, powers of 1024, at most 2^62 bytes. False: @text is not a size, and *ret is unchanged. */
bool bsv_size_read(const char *text, int64_t *ret_bytes);

#endif
