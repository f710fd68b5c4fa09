/*
 * losses.c -- the times of which events were lost, or may be missing.
 */
#include "fold/losses.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/vector.h"

enum { LOSSES_MAX = 1 << 16 };

void bsa_losses_fini(struct bsa_losses *l)
{
	free(l->spans);
	*l = (struct bsa_losses){ 0 };
}

/* Number of losses that end before @at. */
static size_t number_before(const struct bsa_losses *l, uint64_t at)
{
	size_t from = 0, to = l->n;

	while (from < to) {
		size_t middle = from + (to - from) / 2;

		if (l->spans[middle].ended < at)
			from = middle + 1;
		else
			to = middle;
	}
	return from;
}

const struct bsa_span *bsa_losses_from(const struct bsa_losses *l, uint64_t at)
{
	if (!l->n || l->spans[l->n - 1].ended < at)
		return NULL;
	if (l->spans[0].ended >= at)
		return &l->spans[0];
	return &l->spans[number_before(l, at)];
}

uint64_t bsa_losses_begin(const struct bsa_losses *l, uint64_t at)
{
	const struct bsa_span *s = bsa_losses_from(l, at);

	return !s ? UINT64_MAX : s->began > at ? s->began : at;
}

uint64_t bsa_losses_end(const struct bsa_losses *l, uint64_t at)
{
	size_t i = number_before(l, at);

	if (i < l->n && l->spans[i].began <= at)
		return at;
	return i ? l->spans[i - 1].ended : 0;
}

int bsa_losses_add(struct bsa_losses *l, uint64_t began, uint64_t ended)
{
	size_t i, over;

	if (l->n == LOSSES_MAX) {
		/* Merge each two of the older half: more of the distant past becomes unknown than was lost. */
		size_t half = l->n / 2 & ~(size_t)1;

		for (i = 0; i < half / 2; i++)
			l->spans[i] = (struct bsa_span){ l->spans[2 * i].began, l->spans[2 * i + 1].ended };
		memmove(l->spans + half / 2, l->spans + half, (l->n - half) * sizeof(*l->spans));
		assert(half <= l->n);
		l->n -= half / 2;
		assert(l->n < LOSSES_MAX);
	}
	if (!BSA_RESERVE(l->spans, l->room, l->n + 1, 16))
		return -ENOMEM;
	assert(l->n < l->room);
	ended = ended < began ? began : ended;
	i = number_before(l, began);
	for (over = i; over < l->n && l->spans[over].began <= ended; over++) {
		began = l->spans[over].began < began ? l->spans[over].began : began;
		ended = l->spans[over].ended > ended ? l->spans[over].ended : ended;
	}
	assert(began <= ended && (!i || l->spans[i - 1].ended < began));
	memmove(l->spans + i + 1, l->spans + over, (l->n - over) * sizeof(*l->spans));
	l->spans[i] = (struct bsa_span){ began, ended };
	assert(over >= i && l->n + 1 - (over - i) <= l->room);
	l->n = l->n + 1 - (over - i);
	return 0;
}

/* @h->own, which there is, with the losses that touch it. */
static struct bsa_span own_hole(const struct bsa_holes *h)
{
	const struct bsa_span *first = bsa_losses_from(h->losses, h->own->began),
			      *last = bsa_losses_from(h->losses, h->own->ended);
	struct bsa_span all = *h->own;

	if (first && first->began < all.began)
		all.began = first->began;
	if (last && last->began <= all.ended)
		all.ended = last->ended;
	return all;
}

struct bsa_span bsa_holes_from(const struct bsa_holes *h, uint64_t at)
{
	const struct bsa_span *s = bsa_losses_from(h->losses, at);
	struct bsa_span own;

	if (h->own->began != UINT64_MAX) {
		own = own_hole(h);
		if (own.ended >= at && (!s || s->ended >= own.began))
			return own;
	}
	return s ? *s : (struct bsa_span){ UINT64_MAX, UINT64_MAX };
}

uint64_t bsa_holes_begin(const struct bsa_holes *h, uint64_t at)
{
	struct bsa_span s = bsa_holes_from(h, at);

	return s.began > at ? s.began : at;
}

uint64_t bsa_holes_end(const struct bsa_holes *h, uint64_t at)
{
	uint64_t lost = bsa_losses_end(h->losses, at), own = h->own->began > at   ? 0
	                                                     : h->own->ended < at ? h->own->ended
	                                                                          : at;

	return lost > own ? lost : own;
}
