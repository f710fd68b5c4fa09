/* noise.c -- a block bootstrap of the figures of a replay. */
#include "whatif/noise.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/vector.h"
#include "stats/order.h"

enum { REPLICATES = 40, CUTS = 2 /* lengths of a block */, FEWER_BLOCKS = 8 };

/* One figure in each replicate that has it. */
struct values {
	double of[REPLICATES];
	unsigned n;
};

struct group_values {
	struct values missed, p50, p99;
};

static void values_add(struct values *v, double x)
{
	v->of[v->n++] = x;
}

/* Leave out the least and the greatest. */
static void widen(struct bsv_range *ret, struct values *v)
{
	if (v->n < 3)
		return;
	qsort(v->of, v->n, sizeof(*v->of), bsv_by_double);
	ret->low = fmin(ret->low, v->of[1]);
	ret->high = fmax(ret->high, v->of[v->n - 2]);
}

/* ---- outcomes ---- */

bool bsv_blocked_add(struct bsv_blocked *b, unsigned block, uint64_t latency_ns)
{
	uint64_t most = UINT64_MAX >> BSV_BLOCK_BITS;

	if (!bsv_array_add(&b->latencies, &b->n_latencies, sizeof(*b->latencies)))
		return false;
	b->latencies[b->n_latencies - 1] = (latency_ns < most ? latency_ns : most) << BSV_BLOCK_BITS | block;
	return true;
}

uint64_t bsv_blocked_percentile(const struct bsv_blocked *b, unsigned percent)
{
	return b->latencies[(b->n_latencies * percent + 99) / 100 - 1] >> BSV_BLOCK_BITS;
}

/* ---- one replicate ---- */

/*
 * Draw blocks with replacement; @weights counts how often each is in the replicate. If @blocks <
 * BSV_BLOCKS, neighbours form one block.
 */
static void draw_blocks(unsigned weights[BSV_BLOCKS], unsigned blocks, uint64_t *state)
{
	unsigned together = BSV_BLOCKS / blocks;

	memset(weights, 0, BSV_BLOCKS * sizeof(*weights));
	for (unsigned i = 0; i < blocks; i++) {
		unsigned first;

		*state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
		first = (unsigned)((*state >> 33) % blocks) * together;
		for (unsigned k = 0; k < together; k++)
			weights[first + k]++;
	}
}

static void replicate_group(struct group_values *v, const struct bsv_blocked *b, const unsigned *weights)
{
	uint64_t n = 0, missed = 0, served = 0, seen = 0;
	bool halfway = false;

	for (unsigned i = 0; i < BSV_BLOCKS; i++) {
		n += (uint64_t)b->n[i] * weights[i];
		missed += (uint64_t)b->missed[i] * weights[i];
	}
	if (n)
		values_add(&v->missed, 100 * (double)missed / (double)n);
	for (size_t i = 0; i < b->n_latencies; i++)
		served += weights[b->latencies[i] % BSV_BLOCKS];
	for (size_t i = 0; i < b->n_latencies && served; i++) {
		double ns = (double)(b->latencies[i] >> BSV_BLOCK_BITS);

		seen += weights[b->latencies[i] % BSV_BLOCKS];
		if (!halfway && seen * 2 >= served) {
			values_add(&v->p50, ns);
			halfway = true;
		}
		if (seen * 100 >= served * 99) {
			values_add(&v->p99, ns);
			break;
		}
	}
}

/* ---- all of them ---- */

static void replicate_all(struct bsv_noise *ret, const struct bsv_blocked *groups, const uint32_t *apps,
                          size_t n_groups, size_t n_apps, unsigned blocks, struct group_values *of_groups,
                          struct values *of_apps, double *sums)
{
	uint64_t state = blocks;
	unsigned weights[BSV_BLOCKS];

	memset(of_groups, 0, n_groups * sizeof(*of_groups));
	memset(of_apps, 0, n_apps * sizeof(*of_apps));
	for (int k = 0; k < REPLICATES; k++) {
		double all = 0;

		draw_blocks(weights, blocks, &state);
		for (size_t i = 0; i < n_groups; i++)
			replicate_group(&of_groups[i], &groups[i], weights);

		/* The apps' shares of the lanes' time. */
		memset(sums, 0, n_apps * sizeof(*sums));
		for (size_t i = 0; i < n_groups; i++) {
			double sum = 0;

			for (unsigned b = 0; b < BSV_BLOCKS; b++)
				sum += (double)groups[i].lane_ns[b] * weights[b];
			sums[apps[i]] += sum;
			all += sum;
		}
		for (size_t i = 0; i < n_apps && all > 0; i++)
			values_add(&of_apps[i], 100 * sums[i] / all);
	}
	for (size_t i = 0; i < n_groups; i++) {
		widen(&ret->groups[i].missed, &of_groups[i].missed);
		widen(&ret->groups[i].p50, &of_groups[i].p50);
		widen(&ret->groups[i].p99, &of_groups[i].p99);
	}
	for (size_t i = 0; i < n_apps; i++)
		widen(&ret->shares[i], &of_apps[i]);
}

bool bsv_noise_estimate(struct bsv_noise *ret, const struct bsv_blocked *groups, const uint32_t *apps, size_t n_groups,
                        size_t n_apps)
{
	static const unsigned cuts[CUTS] = { BSV_BLOCKS, FEWER_BLOCKS };
	static const struct bsv_range none = { INFINITY, -INFINITY };
	struct group_values *of_groups = calloc(n_groups + 1, sizeof(*of_groups));
	struct values *of_apps = calloc(n_apps + 1, sizeof(*of_apps));
	double *sums = calloc(n_apps + 1, sizeof(*sums));
	bool done;

	*ret = (struct bsv_noise){ .groups = calloc(n_groups + 1, sizeof(*ret->groups)),
		                   .shares = calloc(n_apps + 1, sizeof(*ret->shares)) };
	done = of_groups && of_apps && sums && ret->groups && ret->shares;
	for (size_t i = 0; done && i < n_groups; i++)
		ret->groups[i] = (struct bsv_group_noise){ none, none, none };
	for (size_t i = 0; done && i < n_apps; i++)
		ret->shares[i] = none;
	for (int i = 0; done && i < CUTS; i++)
		replicate_all(ret, groups, apps, n_groups, n_apps, cuts[i], of_groups, of_apps, sums);
	free(of_groups);
	free(of_apps);
	free(sums);
	return done;
}

void bsv_noise_fini(struct bsv_noise *noise)
{
	free(noise->groups);
	free(noise->shares);
	*noise = (struct bsv_noise){ .groups = NULL };
}
