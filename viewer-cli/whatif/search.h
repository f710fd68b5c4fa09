/* search.h -- searches for better rules: all alternatives, or the smallest single change. */
#ifndef BSV_WHATIF_SEARCH_H
#define BSV_WHATIF_SEARCH_H

#include "whatif/trials.h"

enum { BSV_PREEMPTS = 3, BSV_POLICIES = 4, BSV_DEADLINE_MODES = 3 };

/* The goals by which alternatives are judged. NAN: unknown, which ranks last. */
struct bsv_goals {
	struct bsv_spread missed_percent, urgent_ns, slowest;
	uint32_t slowest_app;
};

/*
 * All policies x preemption x deadline modes x lanes: from 1 to @lanes_up_to, or 0: as many as
 * there were. False: no memory.
 */
bool bsv_search_fill(struct bsv_trials *t, const struct bsa_replay_rules *now, struct bsv_group_change *groups,
                     unsigned lanes_up_to);

/* The alternative with these rules. NULL if no alternative has them. */
const struct bsv_trial *bsv_search_find(const struct bsv_trials *t, struct bsa_replay_rules rules);

struct bsv_goals bsv_search_goals(const struct bsv_trials *t, const struct bsv_trial *x);

/*
 * Numbers of those of @goals, one for each trial, than which no other is better in one goal and as
 * good in all: best first; of those that are as good as each other the one nearest to @now. What
 * differs by less than a tenth of a point, 2 % of a time or 0.05 is as good. @ret has room for all.
 */
size_t bsv_search_front(const struct bsv_trials *t, const struct bsv_goals *goals, const struct bsa_replay_rules *now,
                        size_t *ret);

/* ---- one change ---- */

enum bsv_size {
	BSV_SMALL,
	BSV_MIDDLE,
	BSV_LARGE
}; /* an option; a model made otherwise; work that is not done, or faster */

struct bsv_advice {
	size_t trial;     /* its number; number 0 is the recording as it was */
	char option[320]; /* the option of burstscope whatif */
	char service[64]; /* the option of nnburstd that does it; "": it is no option of the service */
	enum bsv_size size;
	uint32_t app; /* the app whose work the change takes away: its misses do not count; UINT32_MAX: no app */
	struct bsv_spread saved; /* misses; below 0: there are more */
	uint32_t payer;          /* the group that pays most; UINT32_MAX: no group pays in all replays */
	struct bsv_spread payer_missed, payer_waits; /* more misses; times its mean response */
};

struct bsv_advices {
	struct bsv_advice *all;           /* owned */
	struct bsv_group_change **groups; /* owned, and what they point to */
	size_t n, n_groups;
};

/* Single changes that may be worth something. False: no memory. */
bool bsv_advise_fill(struct bsv_advices *ret, struct bsv_trials *t, const struct bsa_replay_rules *now,
                     unsigned lanes_up_to);

/* After the trials have run: those that save misses in all replays, best first; @ret->n is their number. */
void bsv_advise_rank(struct bsv_advices *ret, const struct bsv_trials *t);

/* All 0 is fine. */
void bsv_advise_fini(struct bsv_advices *advices);

#endif
