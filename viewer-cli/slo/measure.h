/*
 * measure.h -- measures what a rule needs in a database, and has it judged.
 */
#ifndef BSV_SLO_MEASURE_H
#define BSV_SLO_MEASURE_H

#include "slo/judge.h"

/*
 * Judge @rule. @baseline may be NULL if @rule does not mention a baseline. 0, or the code of the failure, with a
 * sentence in @err.
 */
int bsv_slo_measure(struct bsv_slo_result *ret, const struct bsv_slo_rule *rule, struct bsv_input *input,
                    struct bsv_input *baseline, struct bsa_err *err);

/* The SQL of @rule, owned by the caller. NULL: no memory; "": an audit, whose own command shows its SQL. */
char *bsv_slo_sql(const struct bsv_slo_rule *rule, const struct bsv_input *input);

#endif
