/*
 * nearest.h -- a suggestion for a mistyped word.
 */
#ifndef BSV_BASE_NEAREST_H
#define BSV_BASE_NEAREST_H

#include <stddef.h>

/* The word nearest to @word. @words is the first of @n pointers, @stride bytes apart. NULL: no word is near. */
const char *bsv_nearest(const char *word, const char *const *words, size_t n, size_t stride);

#endif
