/*
 * findings.h -- the problems of a recording, the most important first.
 *
 * Services that are silent at the end; missed deadlines; late preparations; inversions, if the
 * priority verdict fails; starvation; shares, if the fairness verdict fails; an app that makes a
 * burst per call; and last, the cause of most of the overhead. What one app does to others is one
 * finding with one advice, whatever shows it.
 */
#ifndef BSV_FINDINGS_H
#define BSV_FINDINGS_H

#include "audit/finding.h"
#include "audit/verdicts.h"
#include "input/input.h"

/* @judgements: by enum bsv_audit. Pass *ret to bsv_findings_fini, also after an error. */
int bsv_findings_read(struct bsv_findings *ret, struct bsv_input *input, const struct bsv_judgement *judgements,
                      struct bsa_err *err);

/*
 * The advice of the finding that blames the app @holder for what it does to others, without the
 * findings that do not blame a holder. *ret is static; NULL: no such finding, or no advice is
 * known.
 */
int bsv_findings_holder_advice(const char **ret, struct bsv_input *input, const char *holder, struct bsa_err *err);

#endif
