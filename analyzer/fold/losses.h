/*
 * losses.h -- the times of which events were lost: a union of intervals, both ends included.
 */
#ifndef BSA_FOLD_LOSSES_H
#define BSA_FOLD_LOSSES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bsa_span {
	uint64_t began, ended;
};

/* Zero it; fini frees what it holds. Bounded: of too many, old neighbours become one. */
struct bsa_losses {
	struct bsa_span *spans; /* owned; ascending, apart */
	size_t n, room;
};

void bsa_losses_fini(struct bsa_losses *l);

/* 0 or -ENOMEM. */
int bsa_losses_add(struct bsa_losses *l, uint64_t began, uint64_t ended);

/* The first loss that ends at @at or later; NULL: no loss does. Borrowed until the next add. */
const struct bsa_span *bsa_losses_from(const struct bsa_losses *l, uint64_t at);

/* Where the first loss after @at begins, or @at if that is within one; BSA_NEVER: no loss follows. */
uint64_t bsa_losses_begin(const struct bsa_losses *l, uint64_t at);

/* Where the last loss before @at ends, or @at if that is within one; 0: no loss came before. */
uint64_t bsa_losses_end(const struct bsa_losses *l, uint64_t at);

static inline bool bsa_losses_touch(const struct bsa_losses *l, uint64_t began, uint64_t ended)
{
	const struct bsa_span *s;

	if (!l->n || began > l->spans[l->n - 1].ended)
		return false;
	s = bsa_losses_from(l, began);
	return s && s->began <= ended;
}

/*
 * The times of which events of one service may be missing: the losses, which concern all services, and one time of its
 * own.
 */
struct bsa_holes {
	const struct bsa_losses *losses; /* borrowed */
	const struct bsa_span *own;      /* borrowed; empty if it begins at BSA_NEVER */
};

/* The first hole that ends at @at or later; it begins at BSA_NEVER: no hole does. */
struct bsa_span bsa_holes_from(const struct bsa_holes *h, uint64_t at);

/* As of losses. */
uint64_t bsa_holes_begin(const struct bsa_holes *h, uint64_t at);
uint64_t bsa_holes_end(const struct bsa_holes *h, uint64_t at);

static inline bool bsa_holes_any(const struct bsa_holes *h)
{
	return h->losses->n || h->own->began != UINT64_MAX;
}

static inline bool bsa_holes_touch(const struct bsa_holes *h, uint64_t began, uint64_t ended)
{
	return bsa_losses_touch(h->losses, began, ended) ||
	       (h->own->began != UINT64_MAX && began <= h->own->ended && ended >= h->own->began);
}

#endif
