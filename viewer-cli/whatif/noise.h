/*
 * noise.h -- how far the figures of a replay depend on which part of the time was recorded: a block
 * bootstrap over time.
 *
 * The time of the recording is cut into 32 blocks and into 8, blocks are drawn anew, and the wider
 * range counts: calls near each other resemble each other, and neither length of a block fits all
 * recordings. Seeded: the same outcomes give the same ranges.
 */
#ifndef BSV_WHATIF_NOISE_H
#define BSV_WHATIF_NOISE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { BSV_BLOCK_BITS = 5, BSV_BLOCKS = 1 << BSV_BLOCK_BITS };

/* The outcomes of the calls of a group, by block of the time of their submission. */
struct bsv_blocked {
	uint64_t *latencies; /* owned; of served calls: ns << BSV_BLOCK_BITS | block */
	size_t n_latencies;
	uint64_t lane_ns[BSV_BLOCKS];
	uint32_t n[BSV_BLOCKS], missed[BSV_BLOCKS];
};

/* The range of all but the least and the greatest of 40 replicates; low > high: no replicate had the figure. */
struct bsv_range {
	double low, high;
};

struct bsv_group_noise {
	struct bsv_range missed;   /* percent of the calls */
	struct bsv_range p50, p99; /* ns */
};

struct bsv_noise {
	struct bsv_group_noise *groups; /* owned; by group */
	struct bsv_range *shares;       /* owned; by app: percent of the lane time */
};

/* False: no memory. */
bool bsv_blocked_add(struct bsv_blocked *b, unsigned block, uint64_t latency_ns);

/* By nearest rank, once the latencies are sorted; there is one, at least. */
uint64_t bsv_blocked_percentile(const struct bsv_blocked *b, unsigned percent);

/*
 * The latencies of @groups are sorted; @apps: the app of each group. False: no memory; *ret is for
 * bsv_noise_fini in any case.
 */
bool bsv_noise_estimate(struct bsv_noise *ret, const struct bsv_blocked *groups, const uint32_t *apps, size_t n_groups,
                        size_t n_apps);

/* Accepts a struct that is all 0. */
void bsv_noise_fini(struct bsv_noise *noise);

#endif
