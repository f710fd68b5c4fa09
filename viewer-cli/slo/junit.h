/*
 * junit.h -- writes the verdicts of rules as JUnit's XML, which continuous integration reads.
 */
#ifndef BSV_SLO_JUNIT_H
#define BSV_SLO_JUNIT_H

#include "slo/judge.h"

#include <stdio.h>

/*
 * Write a test case for each rule: a failed rule has a failure, an inconclusive one an error,
 * because it was not shown to hold. @coverage: the sentence about what was recorded.
 */
void bsv_slo_junit(FILE *to, const char *file, const char *input, const char *coverage, const struct bsv_slo *slo,
                   const struct bsv_slo_result *results);

#endif
