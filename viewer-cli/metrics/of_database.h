/*
 * of_database.h -- the metrics of a database.
 */
#ifndef BSV_METRICS_OF_DATABASE_H
#define BSV_METRICS_OF_DATABASE_H

#include "input/input.h"
#include "metrics/metrics.h"

/*
 * All of @input, or what was picked of it: then metrics about all of a recording are left out.
 * Memory does not grow with the executions.
 */
int bsv_metrics_of_database(struct bsv_metrics *m, struct bsv_input *input, struct bsa_err *err);

#endif
