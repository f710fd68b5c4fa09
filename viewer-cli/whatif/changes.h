/* changes.h -- the changes for a replay, as options of the command line. */
#ifndef BSV_WHATIF_CHANGES_H
#define BSV_WHATIF_CHANGES_H

#include "whatif/draws.h"

/* Lists with commas, as typed: an option may be given more than once. Borrowed for the call. */
struct bsv_lists {
	const char *const *of;
	size_t n;
};

/* As typed; NULL and 0: as it was. Numbers count from 1: the first policy, preemption or deadline mode there is. */
struct bsv_name_in_words {
	int policy, preempt, deadlines;
	unsigned lanes;
	uint64_t step_ns;
	struct bsv_lists priority, deadline, speed, rate, without, submit;
};

/* Can all of it be read, whatever the recording has? BSA_E_USAGE: no. */
int bsv_whatif_check(const struct bsv_name_in_words *said, struct bsa_err *err);

/*
 * BSA_E_USAGE: it names what is not there, or cannot be read. *cannot: it is well formed, and the
 * recording does not show what would come of it; borrowed for good; otherwise left alone. *ret is
 * owned by the caller, for bsv_whatif_fini, on failure too.
 */
int bsv_whatif_read(struct bsv_whatif_change *ret, const struct bsv_past *past, const struct bsv_name_in_words *said,
                    const char **cannot, struct bsa_err *err);

/*
 * How many recorded runs would be shorter than the least run under the change, for their models are made faster by a
 * difference (--speed M=-1ms); *ret_of: of so many.
 */
size_t bsv_whatif_cut_runs(const struct bsv_whatif_change *change, const struct bsv_past *past, size_t *ret_of);

/* All 0 is fine. */
void bsv_whatif_fini(struct bsv_whatif_change *change);

#endif
