/*
 * in_order.c -- keeps calls in a heap by the time at which they were ready; calls stay in their
 * places, and the heap has the numbers of the places.
 */
#include "store/in_order.h"

#include <assert.h>

static bool call_before(const struct waiting *a, const struct waiting *b)
{
	return a->ready != b->ready ? a->ready < b->ready : a->came < b->came;
}

void bsa_in_order_put(struct bsa_in_order *o, const struct bsa_sharing_call *call)
{
	const struct waiting w = { call->ready, o->came++, o->n_free ? o->free[--o->n_free] : o->n };
	uint32_t i;

	assert(o->n < IN_ORDER_MOST);
	for (i = o->n++; i && call_before(&w, &o->heap[(i - 1) / 2]); i = (i - 1) / 2)
		o->heap[i] = o->heap[(i - 1) / 2];
	o->heap[i] = w;
	o->calls[w.place] = *call;
}

bool bsa_in_order_take(struct bsa_in_order *o, struct bsa_sharing_call *ret)
{
	const struct waiting first = o->heap[0];
	struct waiting last;
	uint32_t i = 0, child;

	assert(o->n);
	last = o->heap[--o->n];
	while ((child = 2 * i + 1) < o->n) {
		child += child + 1 < o->n && call_before(&o->heap[child + 1], &o->heap[child]);
		if (!call_before(&o->heap[child], &last))
			break;
		o->heap[i] = o->heap[child];
		i = child;
	}
	o->heap[i] = last;
	o->free[o->n_free++] = first.place;
	*ret = o->calls[first.place];
	if (first.ready < o->latest)
		return false;
	o->latest = first.ready;
	return true;
}
