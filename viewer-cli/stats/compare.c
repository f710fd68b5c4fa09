/* compare.c -- see compare.h. */
#include "stats/compare.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "stats/order.h"

/* One phase of one group, in order and sorted. */
struct side {
	const struct bsv_group *group;
	int64_t *sorted, *scratch;
};

bool bsv_pair_has(const struct bsv_pair *p, int phase)
{
	return (p->a && p->a->ns[phase]) || (p->b && p->b->ns[phase]);
}

static void side_sort(struct side *s, int phase)
{
	const struct bsv_group *g = s->group;

	if (!g->ns[phase]) {
		memset(s->sorted, 0, g->n * sizeof(*s->sorted));
		return;
	}
	memcpy(s->sorted, g->ns[phase], g->n * sizeof(*s->sorted));
	bsv_sort(s->sorted, g->n, s->scratch);
}

static struct bsv_sample sample(const struct side *s, int phase, double percent)
{
	struct bsv_sample ret = { s->sorted, s->group->n, { 1, 0 } };
	int64_t at = bsv_percentile(s->sorted, s->group->n, percent);

	if (s->group->ns[phase])
		ret.effect = bsv_sequence_effect(s->group->ns[phase], s->group->n, at);
	return ret;
}

static void percentile(struct bsv_change *ret, const struct side *a, const struct side *b, int phase, double percent,
                       size_t least)
{
	ret->a = bsv_percentile(a->sorted, a->group->n, percent);
	ret->b = bsv_percentile(b->sorted, b->group->n, percent);
	if (a->group->n >= least && b->group->n >= least) {
		struct bsv_sample from = sample(a, phase, percent), to = sample(b, phase, percent);

		ret->by = bsv_sequence_difference(&from, &to, percent, 1);
		ret->verdict = BSV_SAME;
	} else {
		ret->verdict = BSV_TOO_FEW;
	}
}

static int64_t rounded(long double x)
{
	return x >= 0x1p62L ? INT64_C(1) << 62 : x <= -0x1p62L ? -(INT64_C(1) << 62) : (int64_t)llroundl(x);
}

static long double mean(const struct bsv_group *g, int phase)
{
	return g && g->n ? (long double)g->sum[phase] / g->n : 0;
}

/* Rounded so that the phases sum to e2e: each is what the sum of all so far, rounded, has grown by. */
static void means(struct bsv_pair *p)
{
	long double so_far = 0;
	int64_t told = 0;

	for (int phase = BSV_PREPARE; phase < BSV_PHASES; phase++) {
		so_far += mean(p->b, phase) - mean(p->a, phase);
		p->mean_by[phase] = rounded(so_far) - told;
		told += p->mean_by[phase];
	}
	p->mean_by[BSV_E2E] = told;
	p->mean_by[BSV_OVERHEAD] = rounded(mean(p->b, BSV_OVERHEAD) - mean(p->a, BSV_OVERHEAD));
}

/* What is in both: all that needs the samples in order. @room is for them. */
static void pair_percentiles(struct bsv_comparison *c, struct bsv_pair *p, int64_t *room, size_t most)
{
	struct side a = { p->a, room, room + 2 * most }, b = { p->b, room + most, room + 2 * most };

	for (int phase = 0; phase < BSV_PHASES; phase++) {
		if (!bsv_pair_has(p, phase))
			continue;
		side_sort(&a, phase);
		side_sort(&b, phase);
		percentile(&p->p50[phase], &a, &b, phase, 50, BSV_COMPARED_MIN);
		percentile(&p->p99[phase], &a, &b, phase, 99, BSV_TAILED_MIN);
		p->cliff[phase] = bsv_cliff(a.sorted, a.group->n, b.sorted, b.group->n);
		c->intervals += (p->p50[phase].verdict == BSV_SAME) + (p->p99[phase].verdict == BSV_SAME);
	}
}

static void judge(struct bsv_change *change, size_t intervals, double least, bool negligible)
{
	if (change->verdict == BSV_TOO_FEW)
		return;
	change->by = bsv_one_of(change->by, intervals);
	if (change->by.low < -(double)change->a && change->a >= 0) /* nothing takes less than no time */
		change->by.low = -(double)change->a;
	if (!negligible && (change->by.low > 0 || change->by.high < 0) && fabs(change->by.value) >= least)
		change->verdict = BSV_CHANGED;
}

/* Kitagawa's: what is due to shares, against the mean of all of A, and what to means. */
static void shifts(struct bsv_comparison *c, const struct bsv_samples *a, const struct bsv_samples *b)
{
	long double all_a = 0, all_b = 0, mix = 0, speed = 0;

	for (size_t i = 0; i < c->n; i++) {
		struct bsv_pair *p = &c->pairs[i];

		p->share_a = p->a ? (double)p->a->n / (double)a->executions : 0;
		p->share_b = p->b ? (double)p->b->n / (double)b->executions : 0;
		all_a += p->a ? (long double)p->a->sum[BSV_E2E] / a->executions : 0;
		all_b += p->b ? (long double)p->b->sum[BSV_E2E] / b->executions : 0;
	}
	for (size_t i = 0; i < c->n; i++) {
		struct bsv_pair *p = &c->pairs[i];
		long double w_a = p->a ? (long double)p->a->n / a->executions : 0;
		long double w_b = p->b ? (long double)p->b->n / b->executions : 0;
		long double m_a = mean(p->a ? p->a : p->b, BSV_E2E), m_b = mean(p->b ? p->b : p->a, BSV_E2E);
		int64_t told_mix = rounded(mix), told_speed = rounded(speed);

		mix += (w_b - w_a) * ((m_a + m_b) / 2 - all_a);
		speed += (w_a + w_b) / 2 * (m_b - m_a);
		p->by_mix = rounded(mix) - told_mix;
		p->by_speed = rounded(speed) - told_speed;
		c->by_mix += p->by_mix;
		c->by_speed += p->by_speed;
	}
	/* of two numbers that were rounded, the sum may be 1 off: the larger one has it */
	c->by = rounded(all_b - all_a);
	if (c->n && c->by != c->by_mix + c->by_speed) {
		int64_t off = c->by - c->by_mix - c->by_speed;
		bool to_speed = fabsl(speed) >= fabsl(mix);

		*(to_speed ? &c->by_speed : &c->by_mix) += off;
		*(to_speed ? &c->pairs[c->n - 1].by_speed : &c->pairs[c->n - 1].by_mix) += off;
	}
}

/* Both lists of groups are in order. */
static void merge(struct bsv_comparison *c, const struct bsv_samples *a, const struct bsv_samples *b, size_t *ret_most)
{
	size_t i = 0, j = 0;

	while (i < a->n || j < b->n) {
		int r = i == a->n ? 1 : j == b->n ? -1 : bsv_group_compare(&a->groups[i], &b->groups[j]);
		struct bsv_pair *p = &c->pairs[c->n++];

		p->a = r <= 0 ? &a->groups[i++] : NULL;
		p->b = r >= 0 ? &b->groups[j++] : NULL;
		if (r)
			continue;
		c->common++;
		*ret_most = p->a->n > *ret_most ? p->a->n : *ret_most;
		*ret_most = p->b->n > *ret_most ? p->b->n : *ret_most;
	}
}

int bsv_compare(struct bsv_comparison *ret, const struct bsv_samples *a, const struct bsv_samples *b, double least,
                struct bsa_err *err)
{
	size_t most = 0;
	int64_t *room;

	*ret = (struct bsv_comparison){ .pairs = calloc(a->n + b->n + 1, sizeof(*ret->pairs)) };
	if (!ret->pairs)
		return bsa_fail(err, BSA_E_ENV, "no memory");
	merge(ret, a, b, &most);
	room = malloc((3 * most + 1) * sizeof(*room));
	if (!room)
		return bsa_fail(err, BSA_E_ENV, "no memory");
	for (size_t i = 0; i < ret->n; i++)
		if (ret->pairs[i].a && ret->pairs[i].b)
			pair_percentiles(ret, &ret->pairs[i], room, most);
	for (size_t i = 0; i < ret->n; i++) {
		struct bsv_pair *p = &ret->pairs[i];
		double bar = least / 100 * (double)p->p50[BSV_E2E].a;

		if (p->a && p->b)
			means(p);
		for (int phase = 0; phase < BSV_PHASES; phase++) {
			judge(&p->p50[phase], ret->intervals, bar, fabs(p->cliff[phase]) < BSV_NEGLIGIBLE);
			judge(&p->p99[phase], ret->intervals, bar, false);
		}
	}
	shifts(ret, a, b);
	free(room);
	return 0;
}

void bsv_comparison_fini(struct bsv_comparison *c)
{
	free(c->pairs);
	memset(c, 0, sizeof(*c));
}
