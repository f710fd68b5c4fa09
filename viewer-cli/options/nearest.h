/*
 * nearest.h -- what somebody may have meant.
 */
#ifndef BSV_NEAREST_H
#define BSV_NEAREST_H

#include <stddef.h>

/* The one of @n words at @stride bytes from each other, the first at @words, that is nearest to @word; NULL: none is near. */
const char *bsv_nearest(const char *word, const char *const *words, size_t n, size_t stride);

#endif
