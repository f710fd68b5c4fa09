/*
 * device.c -- the lanes and tenants of a service, made when they are first heard of.
 */
#include "fold/device.h"

#include <stdlib.h>

/* Room for all tenants in each list, so that nothing later can fail. */
static bool lists_grow(struct bsa_device *d, size_t room)
{
	struct bsa_tenant ***lists[] = { &d->backlogged, &d->waiting, &d->window };

	for (size_t i = 0; i < sizeof(lists) / sizeof(*lists); i++) {
		struct bsa_tenant **more = realloc(*lists[i], room * sizeof(*more));

		if (!more)
			return false;
		*lists[i] = more;
	}
	return true;
}

static size_t place_of(size_t room, uint32_t app)
{
	return (app * UINT64_C(0x9e3779b97f4a7c15) >> 32) & (room - 1);
}

static bool table_grows(struct bsa_device *d)
{
	size_t room = d->table_room ? 2 * d->table_room : 4;
	struct bsa_tenant **table;

	if (!lists_grow(d, room))
		return false;
	table = calloc(room, sizeof(struct bsa_tenant *));
	if (!table)
		return false;
	for (size_t i = 0; i < d->table_room; i++) {
		for (struct bsa_tenant *t = d->table[i], *next; t; t = next) {
			struct bsa_tenant **to = &table[place_of(room, t->app)];

			next = t->chain;
			t->chain = *to;
			*to = t;
		}
	}
	free(d->table);
	d->table = table;
	d->table_room = room;
	return true;
}

static struct bsa_tenant *make_tenant(struct bsa_device *d, uint32_t app)
{
	struct bsa_tenant *t;
	struct bsa_tenant **to;

	if (d->n_tenants == d->table_room && !table_grows(d))
		return NULL;
	t = calloc(1, sizeof(*t));
	if (!t)
		return NULL;
	to = &d->table[place_of(d->table_room, app)];
	t->device = d;
	t->app = app;
	t->chain = *to;
	*to = t;
	d->n_tenants++;
	return t;
}

struct bsa_tenant *bsa_device_tenant(struct bsa_device *d, uint32_t app)
{
	struct bsa_tenant *t = d->last;

	if (t && t->app == app)
		return t;
	t = d->table_room ? d->table[place_of(d->table_room, app)] : NULL;
	while (t && t->app != app)
		t = t->chain;
	if (!t)
		t = make_tenant(d, app);
	d->last = t;
	return t;
}

struct bsa_lane *bsa_device_lane(struct bsa_device *d, unsigned lane)
{
	if (lane >= d->lanes_room) {
		struct bsa_lane *more = realloc(d->lanes, (lane + 1) * sizeof(*more));

		if (!more)
			return NULL;
		d->lanes = more;
		while (d->lanes_room <= lane)
			d->lanes[d->lanes_room++] = (struct bsa_lane){ .known = BSA_NEVER };
	}
	return &d->lanes[lane];
}

void bsa_device_fini(struct bsa_device *d)
{
	for (size_t i = 0; i < d->table_room; i++) {
		for (struct bsa_tenant *t = d->table[i], *next; t; t = next) {
			next = t->chain;
			free(t);
		}
	}
	for (unsigned i = 0; i < d->lanes_room; i++)
		bsa_lane_fini(&d->lanes[i], d);
	free(d->lanes);
	free(d->table);
	free(d->backlogged);
	free(d->waiting);
	free(d->window);
	free(d->refusals.all);
	free(d->held_lags.all);
}
