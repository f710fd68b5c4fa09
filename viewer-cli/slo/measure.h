/*
 * measure.h -- rules, held against a database.
 */
#ifndef BSV_SLO_MEASURE_H
#define BSV_SLO_MEASURE_H

#include "slo/judge.h"

/* @baseline: NULL where there is none, and no rule asks for one. */
int bsv_slo_measure(struct bsv_slo_result *ret, const struct bsv_slo_rule *rule, struct bsv_input *input,
                    struct bsv_input *baseline, struct bsa_err *err);

/* The SQL behind it; owned by the caller. NULL: no memory; "": an audit, whose command shows its own. */
char *bsv_slo_sql(const struct bsv_slo_rule *rule, const struct bsv_input *input);

#endif
