/* map.c -- a hash map with open addressing; removing an entry leaves no tombstone. */
#include "burst/map.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

void nnb__map_fini(struct nnb__map *m)
{
	free(m->entries);
	*m = (struct nnb__map){ 0 };
}

static void entry_insert(struct nnb__map *m, uint64_t key, uint32_t value)
{
	uint32_t i = nnb__map_home(m, key);

	while (m->entries[i].used)
		i = (i + 1) & m->mask;
	assert(m->n < m->mask); /* one entry stays unused, so that a lookup ends */
	m->entries[i] = (struct nnb__map_entry){ key, value, true };
	m->n++;
}

static int map_grow(struct nnb__map *m)
{
	struct nnb__map larger = { .mask = m->entries ? m->mask * 2 + 1 : 15 };

	larger.entries = calloc((size_t)larger.mask + 1, sizeof(*larger.entries));
	if (!larger.entries)
		return -ENOMEM;
	for (uint32_t i = 0; m->entries && i <= m->mask; i++)
		if (m->entries[i].used)
			entry_insert(&larger, m->entries[i].key, m->entries[i].value);
	assert(larger.n == m->n);
	free(m->entries);
	*m = larger;
	return 0;
}

int nnb__map_put(struct nnb__map *m, uint64_t key, uint32_t value)
{
	if ((!m->entries || m->n >= m->mask / 2) && map_grow(m))
		return -ENOMEM;
	entry_insert(m, key, value);
	return 0;
}

/* Close the gap at @gap: move each later entry that a lookup could not reach across the gap. */
static void close_gap(struct nnb__map *m, uint32_t gap)
{
	for (uint32_t i = (gap + 1) & m->mask; m->entries[i].used; i = (i + 1) & m->mask) {
		uint32_t home = nnb__map_home(m, m->entries[i].key);

		if (((i - home) & m->mask) < ((i - gap) & m->mask))
			continue; /* its home lies behind the gap */
		m->entries[gap] = m->entries[i];
		gap = i;
	}
	m->entries[gap].used = false;
}

bool nnb__map_take(struct nnb__map *m, uint64_t key, uint32_t *ret)
{
	if (!m->n)
		return false;
	for (uint32_t i = nnb__map_home(m, key); m->entries[i].used; i = (i + 1) & m->mask) {
		if (m->entries[i].key != key)
			continue;
		*ret = m->entries[i].value;
		close_gap(m, i);
		assert(m->n > 0);
		m->n--;
		return true;
	}
	return false;
}
