/*
 * taking.h -- what a rule counts of one execution. The queries slo_executions, slo_percentile, slo_misses and
 * slo_coverage, which check --show-sql prints, count the same.
 */
#ifndef BSV_SLO_TAKING_H
#define BSV_SLO_TAKING_H

#include "input/execution.h"
#include "slo/counting.h"

/* An execution, as far as all rules have the same view of it. */
struct bsv_slo_seen {
	const struct bsa_execution_row *x;
	bool head, lost, open, ended, answered, service, client, has_e2e, seen_run;
	int64_t waited; /* ns from its first event to the end of the recording; BSA_NULL_INT: unknown */
	/* ns that it took so far, if it is under way at the end of a recording whose end is known; or BSA_NULL_INT */
	int64_t so_far;
	int64_t lost_until; /* the end of the last loss of its trace; BSA_NULL_INT: no loss */
};

/* The values of a percentile; shares are stored as integers in their order. */
struct bsv_slo_values {
	int64_t *of; /* owned */
	size_t n;
};

/* Count for the rule of @of, about a percentile; keep the value in @values, unless that is NULL. False: no memory. */
bool bsv_slo_take_value(struct bsv_slo_counts *c, const struct bsv_slo_counting *of, struct bsv_slo_values *values,
                        const struct bsv_slo_seen *s);

/* Count for a rule about deadlines. @ended: the recording was over by then. */
void bsv_slo_take_deadline(struct bsv_slo_counts *c, const struct bsv_slo_seen *s, int64_t ended);

/* Count for a rule about coverage. */
void bsv_slo_take_kept(struct bsv_slo_kept *kept, const struct bsv_slo_seen *s);

/* Set the figure of the counts when all executions were taken. 0; BSA_E_ENV: no memory. */
int bsv_slo_set_figure(struct bsv_slo_counting *c, struct bsv_slo_values *values, struct bsa_err *err);

#endif
