/*
 * judge.h -- what a rule comes to, from what was counted: pass, fail, or cannot tell.
 *
 * Of executions that are not known in full, or were never answered, either may be true. A rule passes if it passes whatever they were, and fails if it
 * fails whatever they were. Where there are too few samples for the rule to mean anything, it can only fail: if what was
 * seen comes up in less than 5 of 100 cases where the rule holds.
 */
#ifndef BSV_SLO_JUDGE_H
#define BSV_SLO_JUDGE_H

#include "answer/answer.h"
#include "slo/rules.h"
#include "stats/bootstrap.h"

enum { BSV_SLO_WHY_MAX = 320 };

struct bsv_slo_result {
	enum bsv_outcome outcome;
	double figure, bound; /* NaN: unknown, or none */
	const char *class;    /* as in bsv_column; NULL: plain numbers */
	int64_t n;            /* what it was drawn from; -1: does not apply */
	char why[BSV_SLO_WHY_MAX];
};

struct bsv_slo_counts {
	int64_t executions;            /* that the rule means, in any condition */
	int64_t n, over;               /* judged; and of them, above the bound, or missed */
	int64_t unknown;               /* known to have been, and not what of them */
	int64_t vanished;              /* may have been, and nobody saw them; -1: any number */
	int64_t given_up;              /* without an answer, and so without a latency: not in n */
	int64_t open_ended;            /* of streams, a loss may hide where they begin or end */
	int64_t perhaps;               /* may have had a deadline */
	int64_t no_client, no_service; /* seen from one side alone, and what is judged the other side knows: not in n */
	double figure;                 /* NaN: of none */
};

void bsv_slo_judge_percentile(struct bsv_slo_result *ret, const struct bsv_slo_rule *rule,
                              const struct bsv_slo_counts *c);
void bsv_slo_judge_misses(struct bsv_slo_result *ret, const struct bsv_slo_rule *rule, const struct bsv_slo_counts *c);
void bsv_slo_judge_executions(struct bsv_slo_result *ret, const struct bsv_slo_rule *rule,
                              const struct bsv_slo_counts *c);

/* @beyond: the percentile less what is allowed, which is @allowed, with its interval; @base: executions of the baseline. */
void bsv_slo_judge_baseline(struct bsv_slo_result *ret, const struct bsv_slo_rule *rule, const struct bsv_slo_counts *c,
                            const struct bsv_slo_counts *base, struct bsv_interval beyond, double allowed);

/* One stream after the other, one execution after the other. All 0 is the beginning; free with bsv_slo_streaks_fini. */
struct bsv_slo_streaks {
	unsigned char *window; /* the last ones, as a ring */
	unsigned most, length; /* of the rule */
	unsigned held, at, missed, unknown;
	int64_t longest, in_stream;      /* executions of a stream */
	unsigned most_missed, most_ever; /* in any window: seen, and if all that is unknown was missed */
};

enum bsv_slo_state { BSV_SLO_NOT_MEANT, BSV_SLO_MET, BSV_SLO_MISSED, BSV_SLO_UNKNOWN };

/* -1: no memory. */
int bsv_slo_streaks_init(struct bsv_slo_streaks *s, const struct bsv_slo_rule *rule);
void bsv_slo_streaks_stream(struct bsv_slo_streaks *s); /* another one begins */
void bsv_slo_streaks_add(struct bsv_slo_streaks *s, enum bsv_slo_state state);
void bsv_slo_streaks_fini(struct bsv_slo_streaks *s);
void bsv_slo_judge_streaks(struct bsv_slo_result *ret, const struct bsv_slo_rule *rule, const struct bsv_slo_counts *c,
                           const struct bsv_slo_streaks *s);

/* Of so many events and executions, so many are there; lost_known: how many events were lost is known. */
struct bsv_slo_kept {
	int64_t events, lost_events, executions, lost_executions;
	bool lost_known;
};

void bsv_slo_judge_coverage(struct bsv_slo_result *ret, const struct bsv_slo_rule *rule, const struct bsv_slo_kept *k);

/* PASS, FAIL, INCONCLUSIVE */
const char *bsv_slo_word(enum bsv_outcome outcome);

#endif
