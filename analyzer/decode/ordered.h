/*
 * ordered.h -- hands out records of several sequences in the order of time.
 *
 * All three readers use it: decode.c has a sequence for each of its readers, follow.c for each stream, and
 * remote.c one for all that a relay passes on.
 *
 * TIME   The earliest record of all sequences is next (merge.h), if it is before @until. A record that is
 *        earlier than one before it is late: it is handed out all the same, and counted.
 * TIES   Records of one time are collected from all sequences, and put into order (ties.h).
 * RANK   The rank of a stream, from 1 on, decides where time does not. A record of rank 0 belongs to no stream:
 *        a time that was not seen. It is never late, and comes before the other records of its time, as each loss
 *        does (ties.h).
 */
#ifndef BSA_DECODE_ORDERED_H
#define BSA_DECODE_ORDERED_H

#include "bsa/err.h"
#include "merge.h"
#include "ties.h"

/*
 * Step sequence @head->who past its first record, *ret, which is borrowed until the next step. 1: *head has time
 * and rank of its next record; 0: it has none now; negative: the error.
 */
typedef int bsa_step(void *owner, struct bsa_head *head, const struct bsa_event **ret, struct bsa_err *err);

/* The owner sets the members before @tied. */
struct bsa_ordered {
	struct bsa_merge merge; /* the heads of all sequences that have a record; the owner adds them */
	struct bsa_ties *ties;  /* the owner frees it */
	uint64_t until;         /* BSA_NEVER: all records may be handed out */

	bool tied;              /* @ties has records, which are next */
	uint64_t last;          /* the latest time of a record so far */
	uint64_t late, late_ns; /* the number of late records, and the most that one of them was late by */
};

/* The head of the next record behind those in @ties. NULL: no sequence has a record now. */
static inline const struct bsa_head *bsa_ordered_head(const struct bsa_ordered *o)
{
	return o->merge.n && o->merge.heap[0].at < o->until ? o->merge.heap : NULL;
}

/*
 * Parts of bsa_ordered_next(), which no other file calls. bsa_ordered_late and bsa_ordered_collect are called rarely,
 * so they are no inline functions.
 */
void bsa_ordered_late(struct bsa_ordered *o, uint64_t at);
int bsa_ordered_collect(struct bsa_ordered *o, struct bsa_head head, bsa_step *step, void *owner,
                        const struct bsa_event *first, const struct bsa_event **ret, struct bsa_err *err);

/* Take the first record of the merge. 1; negative: the error. */
static inline int bsa_ordered_take(struct bsa_ordered *o, bsa_step *step, void *owner, const struct bsa_event **ret,
                                   struct bsa_err *err)
{
	struct bsa_head head = o->merge.heap[0];
	int r;

	if (__builtin_expect(head.at >= o->last, 1))
		o->last = head.rank ? head.at : o->last;
	else if (head.rank)
		bsa_ordered_late(o, head.at);
	r = step(owner, &head, ret, err);
	if (__builtin_expect(r > 0, 1))
		bsa_merge_move(&o->merge, head.at, head.rank);
	else if (r == 0)
		bsa_merge_drop(&o->merge);
	return r < 0 ? r : 1;
}

/* Does the next record belong to the tie at @at? A record of an earlier time, which is late, does. */
static inline bool bsa_ordered_is_tied(const struct bsa_ordered *o, uint64_t at)
{
	const struct bsa_head *head = bsa_ordered_head(o);

	return head && head->at <= at;
}

/*
 * The next record, borrowed until the next call. Returns 1; 0 if no sequence has a record now; or the error
 * of @step, which is negative, and then *ret is untouched. An import calls this function for each event: it is
 * inline, so that @step is no indirect call.
 */
static inline __attribute__((always_inline)) int bsa_ordered_next(struct bsa_ordered *o, bsa_step *step, void *owner,
                                                                  const struct bsa_event **ret, struct bsa_err *err)
{
	const struct bsa_event *e;
	struct bsa_head first;
	int r;

	if (__builtin_expect(o->tied, 0)) {
		e = bsa_ties_next(o->ties);
		o->tied = e;
		if (e) {
			*ret = e;
			return 1;
		}
	}
	if (__builtin_expect(!bsa_ordered_head(o), 0))
		return 0;
	first = o->merge.heap[0];
	r = bsa_ordered_take(o, step, owner, &e, err);
	if (__builtin_expect(r < 0, 0))
		return r;
	if (__builtin_expect(bsa_ordered_is_tied(o, first.at), 0))
		return bsa_ordered_collect(o, first, step, owner, e, ret, err);
	*ret = e;
	return 1;
}

#endif
