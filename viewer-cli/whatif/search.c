/* search.c -- all the rules that a service could have, and which of them are worth a look. */
#include "whatif/search.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FAIR = 0, SAVE = 2 }; /* values of bsa_replay_rules */
enum { GOALS = 3 };

bool bsv_search_fill(struct bsv_trials *t, const struct bsa_replay_rules *now, struct bsv_group_change *groups,
                     unsigned lanes_up_to)
{
	uint32_t first = lanes_up_to ? 1 : now->lanes, last = lanes_up_to ? lanes_up_to : now->lanes;
	struct bsv_trial *x;

	if (lanes_up_to && now->lanes > last)
		last = now->lanes;
	for (uint32_t lanes = first; lanes <= last; lanes++)
		for (uint32_t i = 0; i < BSV_POLICIES * BSV_PREEMPTS * BSV_DEADLINE_MODES; i++) {
			x = bsv_trials_add(t, (struct bsa_replay_rules){ .policy = i % BSV_POLICIES,
			                                                 .preempt = i / BSV_POLICIES % BSV_PREEMPTS,
			                                                 .deadlines = i / (BSV_POLICIES * BSV_PREEMPTS),
			                                                 .lanes = lanes });
			if (!x)
				return false;
			x->change.groups = groups;
		}
	return true;
}

const struct bsv_trial *bsv_search_find(const struct bsv_trials *t, struct bsa_replay_rules rules)
{
	for (size_t i = 0; i < t->n; i++)
		if (!memcmp(&t->all[i].change.rules, &rules, sizeof(rules)))
			return &t->all[i];
	return NULL;
}

struct bsv_goals bsv_search_goals(const struct bsv_trials *t, const struct bsv_trial *x)
{
	struct bsa_replay_rules ideal = x->change.rules;
	struct bsv_goals ret = { 0 };

	ideal.policy = FAIR;
	ideal.preempt = SAVE;
	ret.missed_percent = bsv_trial_missed_percent(t, x);
	ret.urgent_ns = bsv_trial_urgent(t, x);
	ret.slowest = bsv_trial_slowest(t, x, bsv_search_find(t, ideal), &ret.slowest_app);
	return ret;
}

/* Nowhere worse, and somewhere better. */
static bool is_better(const double *a, const double *b)
{
	bool better = false;

	for (int i = 0; i < GOALS; i++) {
		if (a[i] > b[i])
			return false;
		better |= a[i] < b[i];
	}
	return better;
}

struct ranked {
	double steps[GOALS];
	size_t which;
	int distance;
};

static int by_rank(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;

	for (int i = 0; i < GOALS; i++)
		if (x->steps[i] != y->steps[i])
			return x->steps[i] < y->steps[i] ? -1 : 1;
	if (x->distance != y->distance)
		return x->distance - y->distance;
	return x->which < y->which ? -1 : x->which > y->which;
}

size_t bsv_search_front(const struct bsv_trials *t, const struct bsv_goals *goals, const struct bsa_replay_rules *now,
                        size_t *ret)
{
	struct ranked *all = calloc(t->n + 1, sizeof(*all));
	size_t n = 0;

	for (size_t i = 0; all && i < t->n; i++) {
		const struct bsa_replay_rules *a = &t->all[i].change.rules;
		double *steps = all[i].steps;

		all[i].which = i;
		all[i].distance = (a->policy != now->policy) + (a->preempt != now->preempt) +
		                  (a->deadlines != now->deadlines) + 2 * (a->lanes != now->lanes);
		/* In steps, so that what is as good is equal, and better is an order. */
		steps[0] = round(goals[i].missed_percent.median * 10);
		steps[1] = round(log(goals[i].urgent_ns.median + 1) / log(1.02));
		steps[2] = round(goals[i].slowest.median * 20);
		for (int k = 0; k < GOALS; k++)
			steps[k] = isnan(steps[k]) ? INFINITY : steps[k];
	}
	if (all)
		qsort(all, t->n, sizeof(*all), by_rank);
	for (size_t i = 0; all && i < t->n; i++) {
		bool front = !i || memcmp(all[i].steps, all[i - 1].steps, sizeof(all->steps)) != 0;

		for (size_t k = 0; front && k < t->n; k++)
			front = !is_better(all[k].steps, all[i].steps);
		if (front)
			ret[n++] = all[i].which;
	}
	free(all);
	return n;
}
