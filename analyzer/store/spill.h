/*
 * spill.h -- the durations of every complete execution, by group, kept until percentiles can be taken of them.
 *
 * Memory is bounded: what is more goes to a file without a name beside the output, in chunks of one group
 * each. So is the number of groups, by that of executions: where there are too many, further ones of a path
 * are one group, of app 0 and model 0.
 */
#ifndef BSA_STORE_SPILL_H
#define BSA_STORE_SPILL_H

#include "fold/facts.h"

struct bsa_spill;
struct bsa_store_file;

/*
 * The figures kept for each execution: its phases, two sums, its e2e_ns in ten-thousandths of its run_ns, and its
 * run_ns without redo_ns.
 */
enum { FIGURE_E2E = BSA_PHASES, FIGURE_OVERHEAD, FIGURE_SLOWDOWN, FIGURE_OWN_RUN, FIGURES };

/* The part of the overhead that belongs to one cause. */
struct bsa_spill_cost {
	uint64_t n, ns; /* ns: at most UINT64_MAX */
};

/* A group of executions that are counted together, by the model's id: its name may arrive later. */
struct bsa_spill_group {
	uint32_t app, model;
	uint8_t priority, path; /* 255: unknown */
	int8_t cold;            /* -1: not said */
	bool quiet;             /* the execution got an idle lane, and kept it */
	uint64_t n;
	uint64_t least[BSA_PHASES]; /* BSA_NEVER: unknown; run is without redo */
	struct bsa_spill_cost costs[BSA_CAUSES];
	/* the spill's own */
	uint64_t last; /* chunk in the file, plus 1 */
	struct chunk *narrow, *wide;
};

/* @file is borrowed. NULL: no memory. */
struct bsa_spill *bsa_spill_new(const struct bsa_store_file *file);
struct bsa_spill *bsa_spill_free(struct bsa_spill *spill);

/* 0, or negative: bsa_spill_error has the reason. */
int bsa_spill_add(struct bsa_spill *spill, const struct bsa_execution *x);
const char *bsa_spill_error(const struct bsa_spill *spill);

/* All groups, borrowed until the next bsa_spill_add, in any order. */
struct bsa_spill_group *bsa_spill_groups(struct bsa_spill *spill, size_t *ret_n);

/* Executions that are in the group of app 0 and model 0, and would not be if there were fewer groups. */
uint64_t bsa_spill_joined(const struct bsa_spill *spill);

/*
 * Call @take for the executions of @group, some at a time, in any order but always the same: @n of them, one
 * behind the other, FIGURES values each; BSA_NEVER: unknown. 0, or negative: bsa_spill_error has the reason.
 */
int bsa_spill_walk(struct bsa_spill *spill, const struct bsa_spill_group *group,
                   void (*take)(void *ctx, const uint64_t *values, size_t n), void *ctx);

#endif
