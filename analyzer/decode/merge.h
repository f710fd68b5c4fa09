/*
 * merge.h -- merges several sequences, each in the order of time: a heap of their heads.
 *
 * Ties go to the lower rank, so the result does not depend on the order of reading. ties.h puts records of
 * one time into their order.
 */
#ifndef BSA_DECODE_MERGE_H
#define BSA_DECODE_MERGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bsa_head {
	uint64_t at, rank;
	size_t who;
};

struct bsa_merge {
	struct bsa_head *heap; /* the caller's, with room for all */
	size_t n;
};

static inline bool bsa_head_before(const struct bsa_head *a, const struct bsa_head *b)
{
	return a->at < b->at || (a->at == b->at && a->rank < b->rank);
}

void bsa_merge_add(struct bsa_merge *m, struct bsa_head head);

/* @heap[0] has changed. */
void bsa_merge_settle(struct bsa_merge *m);

/* There is one, and it is over. */
void bsa_merge_drop(struct bsa_merge *m);

/* The first one's head is now that of @at and @rank: mostly it remains the first. */
static inline void bsa_merge_move(struct bsa_merge *m, uint64_t at, uint64_t rank)
{
	struct bsa_head *heap = m->heap;

	heap[0].at = at;
	heap[0].rank = rank;
	if ((m->n > 1 && bsa_head_before(&heap[1], &heap[0])) || (m->n > 2 && bsa_head_before(&heap[2], &heap[0])))
		bsa_merge_settle(m);
}

#endif
