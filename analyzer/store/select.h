/*
 * select.h -- exact percentiles of more values than fit into memory: by counting, in a few passes over them.
 *
 * The first pass counts in buckets that get wider with the values; each next one looks only at the buckets
 * that ranks asked for fell into, 4096 times finer, until a bucket is one value.
 */
#ifndef BSA_STORE_SELECT_H
#define BSA_STORE_SELECT_H

#include "store/spill.h"

enum { RANKS_MAX = 5 };

struct selected {
	uint64_t n, min, max; /* n 0: no value, and the rest means nothing */
	uint64_t sum;         /* never BSA_NEVER: at most one less */
	uint64_t rank[RANKS_MAX];
};

struct selection;

/* NULL: no memory. */
struct selection *bsa_selection_new(void);
struct selection *bsa_selection_free(struct selection *selection);

/*
 * Select, over all executions of @groups together, for each figure of @figures (bits) the nearest ranks of
 * @permille[@n_ranks], which ascend. 0, or negative: bsa_spill_error has the message.
 */
int bsa_selection_run(struct selection *selection, struct spill *spill, const struct group *const *groups,
                      size_t n_groups, uint32_t figures, const unsigned *permille, unsigned n_ranks,
                      struct selected ret[FIGURES]);

#endif
