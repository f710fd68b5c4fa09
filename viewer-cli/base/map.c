/*
 * map.c -- looks for a key from the place that a multiplication spreads it to, up to its own place
 * or the first free one.
 */
#include "base/map.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_ROOM = 256 };

void bsv_map_fini(struct bsv_map *m)
{
	free(m->places);
	*m = (struct bsv_map){ 0 };
}

void bsv_map_clear(struct bsv_map *m)
{
	if (m->room)
		memset(m->places, 0, m->room * sizeof(*m->places));
	m->n = 0;
}

/* The place of @key, or the free one where it would be; the map has room. */
static struct bsv_map_place *map_place(const struct bsv_map *m, uint64_t key)
{
	size_t i = (key * 0x9e3779b97f4a7c15u >> 20) & (m->room - 1);

	while (m->places[i].value && m->places[i].key != key)
		i = (i + 1) & (m->room - 1);
	return &m->places[i];
}

uint64_t *bsv_map_at(struct bsv_map *m, uint64_t key)
{
	struct bsv_map_place *place;

	if (m->n * 4 >= m->room * 3) {
		struct bsv_map larger = { .room = m->room ? 2 * m->room : FIRST_ROOM };

		larger.places = calloc(larger.room, sizeof(*larger.places));
		if (!larger.places)
			return NULL;
		for (size_t i = 0; i < m->room; i++)
			if (m->places[i].value) {
				*map_place(&larger, m->places[i].key) = m->places[i];
				larger.n++;
			}
		free(m->places);
		*m = larger;
	}
	place = map_place(m, key);
	if (!place->value) {
		/*
		 * The caller may leave the value 0. The key is then counted again the next time,
		 * and the map only grows earlier.
		 */
		place->key = key;
		m->n++;
	}
	return &place->value;
}

uint64_t bsv_map_get(const struct bsv_map *m, uint64_t key)
{
	return m->room ? map_place(m, key)->value : 0;
}

uint64_t bsv_hash(uint64_t hash, const void *bytes, size_t n)
{
	const unsigned char *at = bytes;

	for (size_t i = 0; i < n; i++)
		hash = (hash ^ at[i]) * UINT64_C(0x100000001b3);
	return hash;
}
