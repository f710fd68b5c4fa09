/* select.c -- counts values into buckets, pass by pass, until each bucket holds one percentile. */
#include "store/select.h"

#include <stdlib.h>
#include <string.h>

enum {
	SUB_BITS = 7, /* buckets per power of two in the first pass: 128 */
	FIRST_BUCKETS = (64 - SUB_BITS + 1) << SUB_BITS,
	FINER_BITS = 12,
	FINER = 1 << FINER_BITS,
	SMALL = 2048, /* up to so many values are sorted */
};

/* Where the value of a rank is: among those from @from, of @bits bits, its @rank-th, from 0. */
struct target {
	uint64_t from, rank;
	unsigned bits;
	uint32_t *counts; /* FINER of them; shared by targets of the same values */
};

struct figure {
	struct bsa_selected *ret;
	struct target targets[RANKS_MAX];
};

struct bsa_selection {
	uint32_t first[FIGURES][FIRST_BUCKETS];
	uint32_t finer[FIGURES][RANKS_MAX][FINER];
	uint64_t small[FIGURES][SMALL];
	struct figure figures[FIGURES];
	unsigned n_ranks;
	uint32_t wanted; /* figures */
};

/* The next figure that is wanted, from @f on. */
static unsigned next_wanted(const struct bsa_selection *s, unsigned f)
{
	while (f < FIGURES && !(s->wanted >> f & 1))
		f++;
	return f;
}

struct bsa_selection *bsa_selection_new(void)
{
	return calloc(1, sizeof(struct bsa_selection));
}

struct bsa_selection *bsa_selection_free(struct bsa_selection *s)
{
	free(s);
	return NULL;
}

/* ---- buckets of the first pass ---- */

static unsigned bucket_of(uint64_t v)
{
	unsigned shift;

	if (v < 1 << (SUB_BITS + 1))
		return (unsigned)v;
	shift = 63 - (unsigned)__builtin_clzll(v) - SUB_BITS;
	return (shift << SUB_BITS) + (unsigned)(v >> shift);
}

/* ---- few values ---- */

static int select_by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static void take_small(void *ctx, const uint64_t *values, size_t n)
{
	struct bsa_selection *s = ctx;

	for (unsigned f = next_wanted(s, 0); f < FIGURES; f = next_wanted(s, f + 1))
		for (size_t i = 0; i < n; i++)
			if (values[i * FIGURES + f] != BSA_NEVER)
				s->small[f][s->figures[f].ret->n++] = values[i * FIGURES + f];
}

/* At most the largest number that is one. */
static uint64_t add_saturating(uint64_t a, uint64_t b)
{
	return a + b < a || a + b == BSA_NEVER ? BSA_NEVER - 1 : a + b;
}

/* The nearest rank of @permille among @n, from 0. */
static uint64_t select_rank_of(uint64_t n, unsigned permille)
{
	unsigned __int128 r = ((unsigned __int128)n * permille + 999) / 1000;

	return r ? (uint64_t)r - 1 : 0;
}

static void rank_small(struct bsa_selection *s, const unsigned *permille)
{
	for (unsigned f = next_wanted(s, 0); f < FIGURES; f = next_wanted(s, f + 1)) {
		struct bsa_selected *ret = s->figures[f].ret;
		uint64_t *v = s->small[f];

		if (!ret->n)
			continue;
		qsort(v, ret->n, sizeof(*v), select_by_value);
		ret->min = v[0];
		ret->max = v[ret->n - 1];
		for (size_t i = 0; i < ret->n; i++)
			ret->sum = add_saturating(ret->sum, v[i]);
		for (unsigned k = 0; k < s->n_ranks; k++)
			ret->rank[k] = v[select_rank_of(ret->n, permille[k])];
	}
}

/* ---- many values ---- */

static void select_take_first(void *ctx, const uint64_t *values, size_t n)
{
	struct bsa_selection *s = ctx;

	for (unsigned f = next_wanted(s, 0); f < FIGURES; f = next_wanted(s, f + 1)) {
		struct bsa_selected *ret = s->figures[f].ret;
		uint64_t min = ret->min, max = ret->max, sum = ret->sum, unknown = 0;
		uint32_t *counts = s->first[f];

		for (size_t i = 0; i < n; i++) {
			uint64_t v = values[i * FIGURES + f];

			if (v == BSA_NEVER) {
				unknown++;
				continue;
			}
			min = v < min ? v : min;
			max = v > max ? v : max;
			sum = add_saturating(sum, v);
			counts[bucket_of(v)]++;
		}
		*ret = (struct bsa_selected){ .n = ret->n + n - unknown, .min = min, .max = max, .sum = sum };
	}
}

static void take_finer(void *ctx, const uint64_t *values, size_t n)
{
	struct bsa_selection *s = ctx;

	for (unsigned f = next_wanted(s, 0); f < FIGURES; f = next_wanted(s, f + 1))
		for (unsigned k = 0; k < s->n_ranks; k++) {
			const struct target *t = &s->figures[f].targets[k];
			/* One that shares its counts with the one before has had them counted. */
			bool counts = t->bits && (!k || t->counts != t[-1].counts);
			unsigned shift = t->bits > FINER_BITS ? t->bits - FINER_BITS : 0;
			uint64_t width = (uint64_t)1 << t->bits;

			for (size_t i = 0; counts && i < n; i++) {
				uint64_t d = values[i * FIGURES + f] - t->from;

				if (d < width) /* BSA_NEVER, if it is counted, is behind every rank */
					t->counts[d >> shift]++;
			}
		}
}

/* The bucket of the @rank-th, and which it is in there. */
static unsigned bucket_of_rank(const uint32_t *counts, uint64_t *rank)
{
	unsigned i = 0;

	for (; *rank >= counts[i]; i++)
		*rank -= counts[i];
	return i;
}

/* Give those that are more than one value counters. false: all are one value. */
static bool give_counters(struct bsa_selection *s, unsigned f)
{
	struct figure *figure = &s->figures[f];
	bool any = false;

	for (unsigned k = 0; k < s->n_ranks; k++) {
		struct target *t = &figure->targets[k];

		if (!t->bits)
			continue;
		any = true;
		if (k && t[-1].bits == t->bits && t[-1].from == t->from) {
			t->counts = t[-1].counts;
		} else {
			t->counts = s->finer[f][k];
			memset(t->counts, 0, FINER * sizeof(*t->counts));
		}
	}
	return any;
}

static int walk_groups(struct bsa_spill *spill, const struct bsa_spill_group *const *groups, size_t n_groups,
                       void (*take)(void *ctx, const uint64_t *values, size_t n), struct bsa_selection *s)
{
	for (size_t i = 0; i < n_groups; i++)
		if (bsa_spill_walk(spill, groups[i], take, s))
			return -1;
	return 0;
}

static int rank_many(struct bsa_selection *s, struct bsa_spill *spill, const struct bsa_spill_group *const *groups,
                     size_t n_groups, const unsigned *permille)
{
	bool more = true;

	memset(s->first, 0, sizeof(s->first));
	if (walk_groups(spill, groups, n_groups, select_take_first, s))
		return -1;

	/* Narrow the range of each rank by the counts of the first pass. */
	for (unsigned f = next_wanted(s, 0); f < FIGURES; f = next_wanted(s, f + 1))
		for (unsigned k = 0; k < s->n_ranks; k++) {
			struct target *t = &s->figures[f].targets[k];
			uint64_t n = s->figures[f].ret->n;
			unsigned bucket;

			*t = (struct target){ .rank = select_rank_of(n, permille[k]) };
			if (!n)
				continue;
			bucket = bucket_of_rank(s->first[f], &t->rank); /* bucket of a range, from bucket_of() */
			t->bits = bucket < 1 << (SUB_BITS + 1) ? 0 : (bucket >> SUB_BITS) - 1;
			t->from = (uint64_t)(bucket - (t->bits << SUB_BITS)) << t->bits;
		}

	while (more) {
		more = false;
		for (unsigned f = next_wanted(s, 0); f < FIGURES; f = next_wanted(s, f + 1))
			more |= give_counters(s, f);
		if (more && walk_groups(spill, groups, n_groups, take_finer, s))
			return -1;
		for (unsigned f = next_wanted(s, 0); f < FIGURES; f = next_wanted(s, f + 1))
			for (unsigned k = 0; k < s->n_ranks; k++) {
				struct target *t = &s->figures[f].targets[k];
				unsigned shift = t->bits > FINER_BITS ? t->bits - FINER_BITS : 0;

				if (!t->bits)
					continue;
				t->from += (uint64_t)bucket_of_rank(t->counts, &t->rank) << shift;
				t->bits = shift;
			}
	}
	for (unsigned f = next_wanted(s, 0); f < FIGURES; f = next_wanted(s, f + 1))
		for (unsigned k = 0; k < s->n_ranks; k++)
			s->figures[f].ret->rank[k] = s->figures[f].targets[k].from;
	return 0;
}

int bsa_selection_run(struct bsa_selection *s, struct bsa_spill *spill, const struct bsa_spill_group *const *groups,
                      size_t n_groups, uint32_t figures, const unsigned *permille, unsigned n_ranks,
                      struct bsa_selected ret[FIGURES])
{
	uint64_t n = 0;

	for (size_t i = 0; i < n_groups; i++)
		n += groups[i]->n;
	s->n_ranks = n_ranks;
	s->wanted = figures;
	memset(ret, 0, sizeof(*ret) * FIGURES);
	for (unsigned f = next_wanted(s, 0); f < FIGURES; f = next_wanted(s, f + 1))
		s->figures[f] = (struct figure){ .ret = &ret[f] };
	if (n <= SMALL) {
		if (walk_groups(spill, groups, n_groups, take_small, s))
			return -1;
		rank_small(s, permille);
		return 0;
	}
	for (unsigned f = next_wanted(s, 0); f < FIGURES; f = next_wanted(s, f + 1))
		ret[f].min = UINT64_MAX;
	return rank_many(s, spill, groups, n_groups, permille);
}
