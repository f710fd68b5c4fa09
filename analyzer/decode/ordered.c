/* ordered.c -- collects ties and counts late records, which bsa_ordered_next() does seldom. */
#include "ordered.h"

void bsa_ordered_late(struct bsa_ordered *o, uint64_t at)
{
	o->late++;
	if (o->last - at > o->late_ns)
		o->late_ns = o->last - at;
}

int bsa_ordered_collect(struct bsa_ordered *o, struct bsa_head head, bsa_step *step, void *owner,
                        const struct bsa_event *first, const struct bsa_event **ret, struct bsa_err *err)
{
	uint64_t at = head.at;
	int r;

	bsa_ties_add(o->ties, head.rank, first);
	while (bsa_ordered_is_tied(o, at) && bsa_ties_count(o->ties) < BSA_TIES_MAX) {
		head = o->merge.heap[0];
		r = bsa_ordered_take(o, step, owner, &first, err);
		if (r < 0)
			return r;
		bsa_ties_add(o->ties, head.rank, first);
	}
	o->tied = true;
	*ret = bsa_ties_next(o->ties);
	return 1;
}
