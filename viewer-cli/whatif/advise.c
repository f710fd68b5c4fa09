/*
 * advise.c -- finds the smallest single change that saves most misses, and the app and model that would pay for it.
 *
 * It tries each option of the service; a higher priority for the app with the most misses; a lower
 * one for the app with the most lane time; shorter steps; and, for the app with the most lane time,
 * half of its calls, models twice as fast, and none of its calls. If a change takes work away from
 * an app, the misses of that work do not count as saved.
 */
#include "whatif/search.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/vector.h"

enum { TOP = 6 /* groups or apps of a kind */, LOW = 1, HIGH = 3 /* priorities, from 1 */ };
enum {
	ENOUGH_PERCENT = 90 /* percent of the misses saved by the best change: above that, a smaller change is better */
};

static const char *const policies[] = { "fair", "priority", "fifo", "edf" };
static const char *const preempts[] = { "none", "restart", "save" };
static const char *const deadlines[] = { "abort", "refuse", "advise" };

/* ---- what is tried ---- */

struct maker {
	struct bsv_advices *ret;
	struct bsv_trials *trials;
	const struct bsv_past *past;
	struct bsa_replay_rules now;
	uint64_t *busy, *missed; /* by group, as recorded */
	bool failed;
};

static struct bsv_advice *add_trial(struct maker *m, enum bsv_size size)
{
	struct bsv_trial *x = bsv_trials_add(m->trials, m->now);

	if (!x || !bsv_array_add(&m->ret->all, &m->ret->n, sizeof(*m->ret->all))) {
		m->failed = true;
		return NULL;
	}
	m->ret->all[m->ret->n - 1] =
		(struct bsv_advice){ .trial = m->trials->n - 1, .size = size, .app = UINT32_MAX, .payer = UINT32_MAX };
	return &m->ret->all[m->ret->n - 1];
}

static struct bsv_whatif_change *change_of(const struct maker *m, const struct bsv_advice *a)
{
	return &m->trials->all[a->trial].change;
}

/* @service: the option's name for nnburstd. */
static void try_rules(struct maker *m, const char *option, const char *service, const char *const *names, uint32_t n,
                      size_t offset)
{
	for (uint32_t i = 0; i < n; i++) {
		struct bsa_replay_rules rules = m->now;
		struct bsv_advice *a;

		*(uint32_t *)((char *)&rules + offset) = i;
		if (!memcmp(&rules, &m->now, sizeof(rules)))
			continue;
		a = add_trial(m, BSV_SMALL);
		if (!a)
			return;
		change_of(m, a)->rules = rules;
		snprintf(a->option, sizeof(a->option), "--%s %s", option, names[i]);
		snprintf(a->service, sizeof(a->service), "--%s %s", service, names[i]);
	}
}

static void try_lanes(struct maker *m, unsigned lanes_up_to)
{
	for (uint32_t lanes = 1; lanes <= lanes_up_to; lanes++) {
		struct bsv_advice *a = lanes == m->now.lanes ? NULL : add_trial(m, BSV_SMALL);

		if (!a)
			continue;
		change_of(m, a)->rules.lanes = lanes;
		snprintf(a->option, sizeof(a->option), "--lanes %u", lanes);
		snprintf(a->service, sizeof(a->service), "--lanes %u", lanes);
	}
}

/* For which groups a change is tried. */
typedef bool (*setter)(struct bsv_group_change *c, const struct bsv_past_group *g);

static bool set_high(struct bsv_group_change *c, const struct bsv_past_group *g)
{
	(void)g;
	c->priority = HIGH;
	return true;
}

static bool set_low(struct bsv_group_change *c, const struct bsv_past_group *g)
{
	(void)g;
	c->priority = LOW;
	return true;
}

static bool set_half(struct bsv_group_change *c, const struct bsv_past_group *g)
{
	(void)g;
	c->rate = 0.5;
	return true;
}

static bool set_fast(struct bsv_group_change *c, const struct bsv_past_group *g)
{
	(void)g;
	c->speed = 2;
	return true;
}

static bool set_away(struct bsv_group_change *c, const struct bsv_past_group *g)
{
	(void)g;
	c->without = true;
	return true;
}

struct kind {
	const char *option, *value;
	setter set;
	enum bsv_size size;
	bool by_misses; /* the app with the most misses; otherwise the app with the most lane time */
	bool takes;     /* work away */
};

/* The @k-th most of @by; n: there is none. */
static size_t kth_largest(const uint64_t *by, size_t n, unsigned k)
{
	size_t best = n;
	uint64_t below = UINT64_MAX;
	size_t after = 0;

	for (unsigned round = 0; round <= k; round++) {
		best = n;
		for (size_t i = 0; i < n; i++)
			if (by[i] && (by[i] < below || (by[i] == below && i >= after)) &&
			    (best == n || by[i] > by[best]))
				best = i;
		if (best == n)
			return n;
		below = by[best];
		after = best + 1;
	}
	return best;
}

static void try_group(struct maker *m, const struct kind *k, size_t i)
{
	const struct bsv_past_group *g = &m->past->groups[i];
	struct bsv_advice *a = add_trial(m, k->size);
	struct bsv_group_change *groups = a ? calloc(m->past->n_groups + 1, sizeof(*groups)) : NULL;

	if (!groups || !bsv_array_add(&m->ret->groups, &m->ret->n_groups, sizeof(*m->ret->groups))) {
		free(groups);
		m->failed = true;
		return;
	}
	m->ret->groups[m->ret->n_groups - 1] = groups; /* owned by the advices */
	for (size_t all = 0; all < m->past->n_groups; all++)
		groups[all] = (struct bsv_group_change){ .budget_ns = BSV_UNCHANGED, .speed = 1, .rate = 1 };
	k->set(&groups[i], g);
	change_of(m, a)->groups = groups;
	a->app = k->takes ? g->app : UINT32_MAX;
	snprintf(a->option, sizeof(a->option), "--%s %s/%s%s", k->option, g->app_name, g->model_name, k->value);
}

static void try_groups(struct maker *m)
{
	static const struct kind kinds[] = { { "priority", "=high", set_high, BSV_SMALL, true, false },
		                             { "priority", "=low", set_low, BSV_SMALL, false, false },
		                             { "rate", "=0.5x", set_half, BSV_LARGE, false, true },
		                             { "speed", "=2x", set_fast, BSV_LARGE, false, false },
		                             { "without", "", set_away, BSV_LARGE, false, true } };

	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		for (unsigned k = 0; k < TOP; k++) {
			size_t g = kth_largest(kinds[i].by_misses ? m->missed : m->busy, m->past->n_groups, k);

			if (g < m->past->n_groups)
				try_group(m, &kinds[i], g);
		}
}

bool bsv_advise_fill(struct bsv_advices *ret, struct bsv_trials *t, const struct bsa_replay_rules *now,
                     unsigned lanes_up_to)
{
	struct maker m = { .ret = ret,
		           .trials = t,
		           .past = t->past,
		           .now = *now,
		           .busy = calloc(t->past->n_groups + 1, sizeof(uint64_t)),
		           .missed = calloc(t->past->n_groups + 1, sizeof(uint64_t)) };
	struct bsv_advice *steps;
	bool long_steps = false;

	*ret = (struct bsv_advices){ 0 };
	m.failed = !m.busy || !m.missed || !bsv_trials_add(t, *now);
	if (!m.failed) {
		for (size_t i = 0; i < m.past->n_calls; i++) {
			const struct bsv_past_call *c = &m.past->calls[i];
			uint32_t g = m.past->models[c->model].group;

			if (c->trial || c->imagined)
				continue;
			m.missed[g] += c->missed;
			m.busy[g] += c->run_ns == BSA_REPLAY_NEVER ? 0 : c->run_ns;
		}
		try_rules(&m, "policy", "policy", policies, BSV_POLICIES, offsetof(struct bsa_replay_rules, policy));
		try_rules(&m, "preempt", "preempt", preempts, BSV_PREEMPTS, offsetof(struct bsa_replay_rules, preempt));
		try_rules(&m, "deadline-mode", "deadline", deadlines, BSV_DEADLINE_MODES,
		          offsetof(struct bsa_replay_rules, deadlines));
		try_lanes(&m, lanes_up_to);

		/* Steps of 1 ms, if those of any model are longer. */
		for (size_t i = 0; i < m.past->n_models; i++)
			long_steps |= m.past->models[i].step_ns > 1000000;
		steps = long_steps ? add_trial(&m, BSV_MIDDLE) : NULL;
		if (steps) {
			change_of(&m, steps)->step_ns = 1000000;
			snprintf(steps->option, sizeof(steps->option), "--step 1ms");
		}

		try_groups(&m);
	}
	free(m.busy);
	free(m.missed);
	return !m.failed;
}

void bsv_advise_fini(struct bsv_advices *a)
{
	for (size_t i = 0; i < a->n_groups; i++)
		free(a->groups[i]);
	free(a->groups);
	free(a->all);
	*a = (struct bsv_advices){ 0 };
}

/* ---- what it is worth ---- */

static double missed_of(const struct bsv_trials *t, const struct bsv_trial *x, unsigned draw, uint32_t group)
{
	return (double)x->missed[draw * t->past->n_groups + group];
}

/* Of apps and models, because what one model of an app gains must not hide what another one loses. */
static void judge_advice(struct bsv_advice *a, const struct bsv_trials *t)
{
	const struct bsv_trial *x = &t->all[a->trial];
	double values[BSV_TRIAL_DRAWS] = { 0 }, most = 0, longest = 1.1;

	for (uint32_t group = 0; group < t->past->n_groups; group++) {
		double more_misses[BSV_TRIAL_DRAWS], longer_waits[BSV_TRIAL_DRAWS];
		struct bsv_spread more, longer;

		if (t->past->groups[group].app == a->app)
			continue;
		for (unsigned i = 0; i < t->draws; i++) {
			double now = missed_of(t, &t->all[0], i, group), then = missed_of(t, x, i, group);
			size_t at = i * t->past->n_groups + group;

			values[i] += now - then;
			more_misses[i] = then - now;
			longer_waits[i] = x->group_waits[at] / t->all[0].group_waits[at];
		}
		more = bsv_spread_of(more_misses, t->draws);
		longer = bsv_spread_of(longer_waits, t->draws);
		if (more.low > 0 ? more.median > most : most == 0 && longer.low > 1 && longer.median > longest) {
			a->payer = group;
			a->payer_missed = more;
			a->payer_waits = longer;
			most = more.low > 0 ? more.median : 0;
			longest = longer.median > longest ? longer.median : longest;
		}
	}
	a->saved = bsv_spread_of(values, t->draws);
}

/* First of all the smallest of those that save nearly as much as the best of all; then by what they save. */
static int by_saving(const void *a, const void *b)
{
	const struct bsv_advice *x = a, *y = b;

	if (x->saved.median != y->saved.median)
		return x->saved.median > y->saved.median ? -1 : 1;
	if (x->size != y->size)
		return x->size < y->size ? -1 : 1;
	return x->trial < y->trial ? -1 : x->trial > y->trial;
}

void bsv_advise_rank(struct bsv_advices *r, const struct bsv_trials *t)
{
	struct bsv_advice first;
	size_t n = 0, best = 0;

	for (size_t i = 0; i < r->n; i++) {
		judge_advice(&r->all[i], t);
		if (r->all[i].saved.low > 0)
			r->all[n++] = r->all[i];
	}
	r->n = n;
	if (!n)
		return;
	qsort(r->all, n, sizeof(*r->all), by_saving);
	for (size_t i = 1; i < n; i++)
		if (r->all[i].size < r->all[best].size &&
		    r->all[i].saved.median * 100 >= r->all[0].saved.median * ENOUGH_PERCENT)
			best = i;
	first = r->all[best];
	memmove(&r->all[1], &r->all[0], best * sizeof(first));
	r->all[0] = first;
}
