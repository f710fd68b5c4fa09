/*
 * vector.h -- arrays that grow one element at a time.
 */
#ifndef BSV_BASE_VECTOR_H
#define BSV_BASE_VECTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/*
 * Make room for one more element. @array is the address of a pointer to @n elements of @size bytes,
 * NULL for none, that only this function has allocated: its room is 1, and doubles at each power of
 * two. False: no memory; the array is unchanged.
 */
static inline bool bsv_array_grow(void *array, size_t n, size_t size)
{
	void *old, *larger;

	if (n & (n - 1)) /* n is not 0 and no power of two: there is room */
		return true;
	memcpy(&old, array, sizeof(old));
	larger = reallocarray(old, n ? 2 * n : 1, size);
	if (!larger)
		return false;
	memcpy(array, &larger, sizeof(larger));
	return true;
}

/* Add an element of zeros to such an array, and 1 to *@n. NULL: no memory; nothing is changed. */
static inline void *bsv_array_add(void *array, size_t *n, size_t size)
{
	char *of;

	if (!bsv_array_grow(array, *n, size))
		return NULL;
	memcpy(&of, array, sizeof(of));
	return memset(of + (*n)++ * size, 0, size);
}

#endif
