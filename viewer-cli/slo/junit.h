/*
 * junit.h -- what came of rules, as continuous integration reads it: JUnit's XML.
 */
#ifndef BSV_SLO_JUNIT_H
#define BSV_SLO_JUNIT_H

#include "slo/judge.h"

#include <stdio.h>

/* A test case per rule: a failed one has a failure, and one that nobody can tell an error: it was not shown to hold. */
/* @coverage: what all of it rests on, a sentence. */
void bsv_slo_junit(FILE *to, const char *file, const char *input, const char *coverage, const struct bsv_slo *slo,
                   const struct bsv_slo_result *results);

#endif
