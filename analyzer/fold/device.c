/*
 * device.c -- the lanes and tenants of a service, made when they are first heard of.
 */
#include "fold/device.h"

#include "base/vector.h"
#include "fold/shares.h"

#include <assert.h>
#include <stdlib.h>

int bsa_device_init(struct bsa_device *d)
{
	*d = (struct bsa_device){ 0 };
	return bsa_table_init(&d->table);
}

/* Make room for @n tenants in each list, so that nothing later can fail. False: no memory. */
static bool lists_grow(struct bsa_device *d, size_t n)
{
	size_t room = bsa_room_doubled(d->lists_room, n, 4);
	struct bsa_tenant ***lists[] = { &d->backlogged, &d->waiting, &d->window };

	for (size_t i = 0; i < sizeof(lists) / sizeof(*lists); i++) {
		struct bsa_tenant **more = realloc(*lists[i], room * sizeof(*more));

		if (!more)
			return false;
		*lists[i] = more;
	}
	d->lists_room = room;
	return true;
}

/* ---- idle tenants ---- */

static void mark_history(struct bsa_device *d, bool in_history)
{
	for (unsigned i = 0; i < d->lanes_room; i++)
		bsa_lane_mark_history(&d->lanes[i], in_history);
}

/* Keep what is needed if the app returns: bounds of its lag, and that it may have held a lane until it became idle. */
static void remember_dropped(struct bsa_device *d, const struct bsa_tenant *t)
{
	struct bsa_shut *all = &d->dropped;
	bsa_parts most = t->most_lag > t->most_dropped ? t->most_lag : t->most_dropped;
	bsa_parts least = t->least_shut < t->shut.least ? t->least_shut : t->shut.least;

	all->closed = t->shut.closed > all->closed ? t->shut.closed : all->closed;
	most = t->shut.most > most ? t->shut.most : most;
	all->most = most > all->most ? most : all->most;
	all->least = least < all->least ? least : all->least;
	d->dropped_app = t->app > d->dropped_app ? t->app : d->dropped_app;
}

/* While mark_history is on. */
static bool may_be_dropped(const struct bsa_tenant *t)
{
	return t->app && bsa_shares_is_idle(t) && !t->in_window && !t->in_history;
}

static void unlist_dropped(struct bsa_device *d)
{
	struct bsa_tenant **next = &d->shut_in_loss;

	while (*next) {
		if (may_be_dropped(*next))
			*next = (*next)->shuts;
		else
			next = &(*next)->shuts;
	}
}

static void drop_idle_of(struct bsa_device *d)
{
	struct bsa_table_walk walk = { 0 };
	struct bsa_tenant *t;

	mark_history(d, true);
	unlist_dropped(d);
	bsa_table_sort(&d->table, NULL); /* for the order of the reports */
	while ((t = bsa_table_walk(&d->table, &walk)))
		if (may_be_dropped(t))
			bsa_shares_report(t, false);
	bsa_table_unsort(&d->table);
	walk = (struct bsa_table_walk){ 0 };
	while ((t = bsa_table_walk(&d->table, &walk))) {
		if (!may_be_dropped(t))
			continue;
		assert(!t->n_waiting && d->tenants->n);
		remember_dropped(d, t);
		d->left->parts++;
		bsa_table_remove(&d->table, &t->entry);
		d->tenants->n--;
		free(t);
	}
	mark_history(d, false);
	d->last = NULL;
}

/* @in_window: also those that had an execution in the current window, which is then reported in parts. */
static void drop_idle_tenants(const struct bsa_tenants *all, bool in_window)
{
	for (size_t i = 0; i < all->n_devices; i++) {
		struct bsa_device *d = all->devices[i];

		if (!d || !d->table.n)
			continue;
		if (in_window)
			bsa_shares_split_window(d);
		drop_idle_of(d);
	}
}

/* ---- tenants by app ---- */

static struct bsa_tenant *make_tenant(struct bsa_device *d, uint32_t app)
{
	struct bsa_tenants *all = d->tenants;
	struct bsa_tenant *t;

	/*
	 * Dropping visits all tenants, of which those with executions under way stay: so max more are made
	 * before the next time.
	 */
	if (all->max && all->n >= all->max && all->n >= all->drop_at) {
		drop_idle_tenants(all, false);
		if (all->n >= 2 * all->max)
			drop_idle_tenants(all, true);
		all->drop_at = all->n + all->max;
	}
	if (d->table.n == d->lists_room && !lists_grow(d, d->table.n + 1))
		return NULL;
	t = calloc(1, sizeof(*t));
	if (!t)
		return NULL;
	t->device = d;
	t->app = app;
	assert(d->table.n < d->lists_room);
	bsa_table_add(&d->table, &t->entry, app);
	if (app <= d->dropped_app) { /* the app may have had a tenant before */
		t->shut = d->dropped;
		t->shut.opened = t->shut.closed; /* the lane may have been idle several times before that */
		t->least_shut = d->dropped.least;
		t->split = true;
		t->most_dropped = d->dropped.most;
		for (int p = 0; p < BSA_LEVELS; p++)
			t->last_on[p] = d->dropped.closed;
	}
	d->tenants->n++;
	return t;
}

struct bsa_tenant *bsa_device_tenant(struct bsa_device *d, uint32_t app)
{
	struct bsa_tenant *t = d->last;

	if (t && t->app == app)
		return t;
	t = bsa_table_find(&d->table, app);
	if (!t)
		t = make_tenant(d, app);
	d->last = t;
	return t;
}

struct bsa_lane *bsa_device_lane(struct bsa_device *d, unsigned lane)
{
	assert(lane < BSA_LANES_MAX);
	if (lane >= d->lanes_room) {
		struct bsa_lane *more = realloc(d->lanes, (lane + 1) * sizeof(*more));

		if (!more)
			return NULL;
		d->lanes = more;
		while (d->lanes_room <= lane)
			d->lanes[d->lanes_room++] = (struct bsa_lane){ .known_from = BSA_NEVER };
	}
	return &d->lanes[lane];
}

void bsa_device_fini(struct bsa_device *d)
{
	struct bsa_table_walk walk = { 0 };
	struct bsa_tenant *t;

	while ((t = bsa_table_walk(&d->table, &walk)))
		free(t);
	bsa_table_fini(&d->table);
	for (unsigned i = 0; i < d->lanes_room; i++)
		bsa_lane_fini(d, &d->lanes[i]);
	free(d->lanes);
	free(d->backlogged);
	free(d->waiting);
	free(d->window);
	free(d->refusals.all);
	free(d->held_lags.all);
}
