/* tally.c -- adds numbers up by a key, in an open hash table that grows by doubling. */
#include "render/tally.h"

#include <stdbool.h>
#include <stdlib.h>

enum { FIRST_ROOM = 256 };

void bsv_tally_fini(struct bsv_tally *t)
{
	free(t->slots);
	*t = (struct bsv_tally){ 0 };
}

static struct bsv_tallied *find_tallied(const struct bsv_tally *t, uint64_t key)
{
	size_t i = (key * 0x9e3779b97f4a7c15u >> 20) & (t->room - 1);

	while (t->slots[i].value && t->slots[i].key != key)
		i = (i + 1) & (t->room - 1);
	return &t->slots[i];
}

uint64_t *bsv_tally_at(struct bsv_tally *t, uint64_t key)
{
	struct bsv_tallied *slot;

	if (t->n * 4 >= t->room * 3) {
		struct bsv_tally larger = { .room = t->room ? 2 * t->room : FIRST_ROOM };

		larger.slots = calloc(larger.room, sizeof(*larger.slots));
		if (!larger.slots)
			return NULL;
		for (size_t i = 0; i < t->room; i++)
			if (t->slots[i].value) {
				*find_tallied(&larger, t->slots[i].key) = t->slots[i];
				larger.n++;
			}
		free(t->slots);
		*t = larger;
	}
	slot = find_tallied(t, key);
	if (!slot->value) { /* a new one, if something is added to it: counted too often, it is only more room */
		slot->key = key;
		t->n++;
	}
	return &slot->value;
}
