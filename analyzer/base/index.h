/*
 * base/index.h -- where elements are in an array, by a number made of their keys: a hash table of 32-bit places.
 *
 * For elements in an array of the caller's that grows, and so moves, or that are many and small: an index
 * takes 16 to 32 bytes for each element, wherever that is. Elements cannot be removed one by one. For other
 * elements, see base/table.h.
 *
 * The index knows the number of each place, not the element: elements with different keys can have the same
 * number, or seem to. So the caller compares keys:
 *
 *	for (place = bsa_index_find(x, number, &at); place != BSA_INDEX_NONE; place = bsa_index_next(x, number, &at))
 *		if (element_has(&array[place], key))
 *			return &array[place];
 *
 * Numbers are untrusted, and mixed before use. The index is at most half full.
 */
#ifndef BSA_BASE_INDEX_H
#define BSA_BASE_INDEX_H

#include "base/mixed.h"

#include <stdbool.h>
#include <stddef.h>

#define BSA_INDEX_NONE UINT32_MAX

struct bsa_index_slot {
	uint32_t hash;  /* lower half of the mixed number */
	uint32_t place; /* plus 1; 0: the slot is free */
};

/* All zeroes: an empty index. */
struct bsa_index {
	struct bsa_index_slot *slots; /* owned */
	size_t room;                  /* number of slots: 0, or a power of 2 */
	size_t n;                     /* number of places */
};

/* Free the index; it is empty then. */
void bsa_index_fini(struct bsa_index *x);

/* Add @place, which is less than BSA_INDEX_NONE. False: there is no memory, and nothing has changed. */
bool bsa_index_add(struct bsa_index *x, uint64_t number, uint32_t place);

/* The first place from slot @at on that may have the mixed number @hash. */
static inline uint32_t bsa_index_from(const struct bsa_index *x, uint32_t hash, size_t *at)
{
	const struct bsa_index_slot *slot;

	while ((slot = &x->slots[*at & (x->room - 1)])->place && slot->hash != hash)
		++*at;
	return slot->place - 1; /* of a free slot: BSA_INDEX_NONE */
}

/* The first place that may have @number, or BSA_INDEX_NONE. *ret_at is for bsa_index_next. */
static inline uint32_t bsa_index_find(const struct bsa_index *x, uint64_t number, size_t *ret_at)
{
	uint32_t hash = (uint32_t)bsa_mixed(number);

	*ret_at = hash;
	return x->room ? bsa_index_from(x, hash, ret_at) : BSA_INDEX_NONE;
}

/* The next one. @number and @at are those of bsa_index_find; the index has not changed since. */
static inline uint32_t bsa_index_next(const struct bsa_index *x, uint64_t number, size_t *at)
{
	++*at;
	return bsa_index_from(x, (uint32_t)bsa_mixed(number), at);
}

#endif
