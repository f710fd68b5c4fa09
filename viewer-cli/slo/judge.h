/*
 * judge.h -- judges a rule by counts: pass, fail, or cannot tell.
 *
 * An execution that was not recorded in full, or that was never answered, may have kept the rule or
 * broken it. A rule passes only if it would pass for every possible value of these executions, and
 * fails only if it would fail for every one. With too few samples for the rule a verdict can only
 * be a failure: if a system that keeps the rule would show these counts in less than 5 of 100
 * cases.
 */
#ifndef BSV_SLO_JUDGE_H
#define BSV_SLO_JUDGE_H

#include "answer/answer.h"
#include "slo/rules.h"
#include "stats/bootstrap.h"

enum { BSV_SLO_WHY_MAX = 320 };

struct bsv_slo_result {
	enum bsv_outcome outcome;
	bool idle;            /* passed, because nothing happened that the rule could judge */
	double figure, bound; /* NaN: unknown, or not applicable */
	const char *class;    /* class of the figure, like bsv_column.class; NULL: a plain number */
	int64_t n;            /* number of samples of the figure; -1: not applicable */
	char why[BSV_SLO_WHY_MAX];
};

struct bsv_slo_counts {
	int64_t executions; /* executions that the rule selects, recorded in full or not */
	int64_t unsure;     /* executions that it may select: what it selects by is unknown. In no other number here */
	/* of a rule about their number: what it may select, but may be trial runs; in neither of these */
	int64_t trials;
	int64_t lacking; /* executions whose path does not have the phase that the rule is about: in none of the next */
	int64_t n, over; /* executions judged; those of them above the bound, or missed */
	int64_t unknown; /* executions that are known to have run, but not with which result */
	int64_t vanished;   /* upper bound of executions that a loss hides entirely; -1: no bound known */
	int64_t strangers;  /* upper bound of those whose streams have no event either; -1: no bound known */
	int64_t hidden;     /* executions that may be under way at the end without an event */
	int64_t given_up;   /* executions without an answer, so without a latency: not in n */
	int64_t open_ended; /* streams whose begin or end a loss may hide */
	int64_t perhaps;    /* executions that may have had a deadline */
	int64_t no_client,
		no_service; /* executions recorded on one side only, whose figure needs the other side: not in n */
	double figure;      /* NaN: no execution */
};

/* Add what was counted of executions; not what hides others, nor the figure. */
void bsv_slo_counts_add(struct bsv_slo_counts *to, const struct bsv_slo_counts *from);

/*
 * What was counted of executions that a rule may select, because what it selects by is unknown. They decide as two
 * groups do: worst, those that can break the rule, and best, those that can keep it; what may do either is in both.
 * More misses or longer times never help a rule, so the verdict that holds without all of them, with worst alone and
 * with best alone holds with any of them.
 */
struct bsv_slo_may_be {
	struct bsv_slo_counts worst, best;
};

/* What a verdict is asked of: the executions that the rule selects for certain; those and worst; those and best. */
enum bsv_slo_way { BSV_SLO_SURE, BSV_SLO_WORST, BSV_SLO_BEST, BSV_SLO_WAYS };

/* Add one such execution, of which @counts was counted. */
void bsv_slo_may_be_add(struct bsv_slo_may_be *to, const struct bsv_slo_counts *counts);

void bsv_slo_judge_percentile(struct bsv_slo_result *ret, const struct bsv_slo_rule *rule,
                              const struct bsv_slo_counts *c);
void bsv_slo_judge_misses(struct bsv_slo_result *ret, const struct bsv_slo_rule *rule, const struct bsv_slo_counts *c);

/* Judge a percentile or a miss ratio by @c, and by what may be of the group, too. */
void bsv_slo_judge_group(struct bsv_slo_result *ret, const struct bsv_slo_rule *rule, const struct bsv_slo_counts *c,
                         const struct bsv_slo_may_be *may_be);
void bsv_slo_judge_executions(struct bsv_slo_result *ret, const struct bsv_slo_rule *rule,
                              const struct bsv_slo_counts *c);

/* @beyond: the percentile minus @allowed, the limit, with its interval; @base: the baseline's counts. */
void bsv_slo_judge_baseline(struct bsv_slo_result *ret, const struct bsv_slo_rule *rule, const struct bsv_slo_counts *c,
                            const struct bsv_slo_counts *base, struct bsv_interval beyond, double allowed);

/* Counts misses in a window that slides over the executions of one stream after the other. */
struct bsv_slo_streaks {
	unsigned char *window; /* states of the last executions, a ring */
	unsigned most, length; /* the rule's misses and window */
	unsigned held, at, missed, unknown;
	int64_t longest, in_stream; /* executions with a deadline in the longest stream; in this stream so far */
	unsigned most_missed,
		most_ever; /* maximum over windows: misses recorded; misses if every unknown execution missed */
};

enum bsv_slo_state { BSV_SLO_NOT_MEANT, BSV_SLO_MET, BSV_SLO_MISSED, BSV_SLO_UNKNOWN };

enum { BSV_SLO_MAY_BE = 4 }; /* added to the state of an execution that the rule may select */

/* Each function is of all ways together. Returns -1 without memory; call bsv_slo_streaks_fini even then. */
int bsv_slo_streaks_init(struct bsv_slo_streaks ways[BSV_SLO_WAYS], const struct bsv_slo_rule *rule);
void bsv_slo_streaks_stream(struct bsv_slo_streaks ways[BSV_SLO_WAYS]); /* begin another stream */
/* @state: one of enum bsv_slo_state, or that and BSV_SLO_MAY_BE */
void bsv_slo_streaks_add(struct bsv_slo_streaks ways[BSV_SLO_WAYS], unsigned state);
void bsv_slo_streaks_fini(struct bsv_slo_streaks ways[BSV_SLO_WAYS]);
void bsv_slo_judge_streaks(struct bsv_slo_result *ret, const struct bsv_slo_rule *rule, const struct bsv_slo_counts *c,
                           const struct bsv_slo_streaks ways[BSV_SLO_WAYS]);

/* Recorded and lost events and executions. */
struct bsv_slo_kept {
	int64_t events, lost_events, executions, lost_executions;
	bool lost_known;  /* the number of lost events is known */
	int64_t headless; /* executions without their beginning, which are neither */
};

void bsv_slo_judge_coverage(struct bsv_slo_result *ret, const struct bsv_slo_rule *rule, const struct bsv_slo_kept *k);

/* PASS, FAIL, INCONCLUSIVE */
const char *bsv_slo_word(enum bsv_outcome outcome);

/* The same for people: of a pass in which nothing was judged NOTHING TO JUDGE. */
const char *bsv_slo_result_word(const struct bsv_slo_result *r);

#endif
