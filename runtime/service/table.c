/* table.c -- the objects of a connection, by the ids that its client knows. */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "base/vector.h"
#include "service/service.h"

int nnb__table_put(struct nnb__table *t, uint32_t id, void *item)
{
	uint32_t i = 0;

	assert(item && t->n <= t->room);
	while (i < t->n && t->items[i])
		i++;
	if (!NNB__RESERVE(t->items, t->room, i + 1, 8))
		return -ENOMEM;
	if (nnb__map_put(&t->by_id, id, i))
		return -ENOMEM;
	t->items[i] = item;
	if (i == t->n)
		t->n++;
	return 0;
}

void *nnb__table_get(const struct nnb__table *t, uint32_t id)
{
	uint32_t i;

	return nnb__map_get(&t->by_id, id, &i) ? t->items[i] : NULL;
}

void *nnb__table_remove(struct nnb__table *t, uint32_t id)
{
	uint32_t i;
	void *item;

	if (!nnb__map_take(&t->by_id, id, &i))
		return NULL;
	assert(i < t->n && t->items[i]);
	item = t->items[i];
	t->items[i] = NULL;
	return item;
}

void nnb__table_fini(struct nnb__table *t)
{
	nnb__map_fini(&t->by_id);
	free(t->items);
}
