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

struct bsa_selected {
	uint64_t n, min, max; /* n 0: no value, and the rest means nothing */
	uint64_t sum;         /* never BSA_NEVER: at most one less */
	uint64_t rank[RANKS_MAX];
};

struct bsa_selection;

/* NULL: no memory. */
struct bsa_selection *bsa_selection_new(void);
struct bsa_selection *bsa_selection_free(struct bsa_selection *selection);

/*
 * Select, over all executions of @groups together, for each figure of @figures (bits) the nearest ranks of
 * @permille[@n_ranks], which ascend. 0, or negative: bsa_spill_error has the message.
 */
int bsa_selection_run(struct bsa_selection *selection, struct bsa_spill *spill,
                      const struct bsa_spill_group *const *groups, size_t n_groups, uint32_t figures,
                      const unsigned *permille, unsigned n_ranks, struct bsa_selected ret[FIGURES]);

#endif
