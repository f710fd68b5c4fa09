/*
 * measure.h -- measures what rules need in a database, and has them judged.
 */
#ifndef BSV_SLO_MEASURE_H
#define BSV_SLO_MEASURE_H

#include "slo/judge.h"

/*
 * Judge @n @rules, and set @ret of each. @baseline may be NULL if none of them mentions a baseline. 0, or the code of
 * the failure, with a sentence in @err.
 */
int bsv_slo_measure(struct bsv_slo_result *ret, const struct bsv_slo_rule *rules, size_t n, struct bsv_input *input,
                    struct bsv_input *baseline, struct bsa_err *err);

/*
 * Set *ret to the SQL of @rule, owned by the caller; "": an audit, whose own command shows its SQL. @baseline may be
 * NULL as above. 0, or the code of the failure, with a sentence in @err.
 */
int bsv_slo_sql(char **ret, const struct bsv_slo_rule *rule, struct bsv_input *input, struct bsv_input *baseline,
                struct bsa_err *err);

#endif
