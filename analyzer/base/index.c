/* index.c -- a hash table of places with open addressing, grown by doubling. */
#include "base/index.h"

#include <assert.h>
#include <stdlib.h>

enum { ROOM_LEAST = 16 };

void bsa_index_fini(struct bsa_index *x)
{
	free(x->slots);
	*x = (struct bsa_index){ 0 };
}

/* Put @slot into the first free slot from where its hash belongs. */
static void slot_put(const struct bsa_index *x, struct bsa_index_slot slot)
{
	size_t at = slot.hash;

	while (x->slots[at & (x->room - 1)].place)
		at++;
	x->slots[at & (x->room - 1)] = slot;
}

static bool index_grow(struct bsa_index *x)
{
	struct bsa_index more = { .room = x->room ? 2 * x->room : ROOM_LEAST, .n = x->n };

	more.slots = calloc(more.room, sizeof(*more.slots));
	if (!more.slots)
		return false;
	for (size_t i = 0; i < x->room; i++)
		if (x->slots[i].place)
			slot_put(&more, x->slots[i]);
	free(x->slots);
	*x = more;
	return true;
}

bool bsa_index_add(struct bsa_index *x, uint64_t number, uint32_t place)
{
	assert(place < BSA_INDEX_NONE);
	if (2 * (x->n + 1) > x->room && !index_grow(x))
		return false;
	slot_put(x, (struct bsa_index_slot){ .hash = (uint32_t)bsa_mixed(number), .place = place + 1 });
	x->n++;
	return true;
}
