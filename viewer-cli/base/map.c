/*
 * map.c -- looks for a key from the place that a mix with a secret spreads it to, up to its own place or the first free
 * one.
 */
#include "base/map.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

enum { FIRST_ROOM = 256 };

/* The factor is odd. Drawn before main, and not changed since. */
static struct {
	uint64_t start, factor;
} secret;

__attribute__((constructor)) static void draw_secret(void)
{
	uint64_t drawn[2];
	struct timespec now;

	/* A kernel without random numbers yet: the secret is a poor one, and only time depends on it. */
	if (getrandom(drawn, sizeof(drawn), GRND_NONBLOCK) != (ssize_t)sizeof(drawn)) {
		clock_gettime(CLOCK_MONOTONIC, &now);
		drawn[0] = (uint64_t)now.tv_nsec * UINT64_C(0x9e3779b97f4a7c15) ^ (uint64_t)(uintptr_t)&now;
		drawn[1] = drawn[0] * UINT64_C(0x9e3779b97f4a7c15);
	}
	secret.start = drawn[0];
	secret.factor = drawn[1] | 1; /* an even factor would lose a bit of each key */
}

static uint64_t mixed(uint64_t key)
{
	key ^= secret.start;
	key ^= key >> 32;
	key *= secret.factor;
	key ^= key >> 32;
	key *= UINT64_C(0x9e3779b97f4a7c15);
	return key ^ key >> 32;
}

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
	size_t i = mixed(key) & (m->room - 1);

	while (m->places[i].value && m->places[i].key != key)
		i = (i + 1) & (m->room - 1);
	return &m->places[i];
}

bool bsv_map_reserve(struct bsv_map *m, size_t n)
{
	struct bsv_map larger = { .room = m->room ? m->room : FIRST_ROOM };

	while (n * 4 >= larger.room * 3)
		larger.room *= 2;
	if (larger.room == m->room)
		return true;
	larger.places = calloc(larger.room, sizeof(*larger.places));
	if (!larger.places)
		return false;
	for (size_t i = 0; i < m->room; i++)
		if (m->places[i].value) {
			*map_place(&larger, m->places[i].key) = m->places[i];
			larger.n++;
		}
	free(m->places);
	*m = larger;
	return true;
}

uint64_t *bsv_map_at(struct bsv_map *m, uint64_t key)
{
	struct bsv_map_place *place;

	if (m->n * 4 >= m->room * 3 && !bsv_map_reserve(m, m->n))
		return NULL;
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

uint64_t bsv_map_text(uint64_t key, const void *bytes, size_t n)
{
	const unsigned char *at = bytes;

	key = mixed(key);
	for (size_t i = 0; i < n; i++)
		key = (key ^ at[i]) * secret.factor;
	return mixed(key);
}

uint64_t bsv_hash(uint64_t hash, const void *bytes, size_t n)
{
	const unsigned char *at = bytes;

	for (size_t i = 0; i < n; i++)
		hash = (hash ^ at[i]) * UINT64_C(0x100000001b3);
	return hash;
}
