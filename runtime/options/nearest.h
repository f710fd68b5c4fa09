/* nearest.h -- the known word that a mistyped one was probably meant to be. */
#ifndef NNB_OPTIONS_NEAREST_H
#define NNB_OPTIONS_NEAREST_H

#include <stddef.h>

/* @words: a const char * at the start of each @stride bytes. NULL if no word of the @n is near. */
const char *nearest_word(const char *word, const void *words, size_t n, size_t stride);

#endif
