/*
 * counting.h -- counts what rules are about in the executions of an input: in one pass for several rules, because
 * most of the time is spent on reading executions.
 */
#ifndef BSV_SLO_COUNTING_H
#define BSV_SLO_COUNTING_H

#include "slo/judge.h"

struct bsv_slo_counting {
	const struct bsv_slo_rule *rule; /* borrowed */
	double bound;                    /* ns or percent: the rule's, or what follows from a baseline */
	/* set by bsv_slo_count, without what losses and the end of the recording hide */
	struct bsv_slo_counts counts;
	struct bsv_slo_may_be may_be; /* the executions of counts.unsure, except of a rule about their number */
	struct bsv_slo_kept kept;     /* executions, lost_executions and headless, of a rule about coverage */
};

/* Does bsv_slo_count count for @rule? Otherwise an audit judges it. */
bool bsv_slo_is_counted(const struct bsv_slo_rule *rule);

/* Count for @n rules. 0, or the code of the failure, with a sentence in @err. */
int bsv_slo_count(struct bsv_slo_counting *of, size_t n, const struct bsv_input *input, struct bsa_err *err);

#endif
