/*
 * findings.h -- the problems of a recording, the most important first.
 *
 * Missed deadlines, by their primary causes; late preparations; starvation; inversions, if the priority verdict fails; shares, if the fairness verdict
 * fails; an app that makes a burst per call; and last, the cause of most of the overhead.
 */
#ifndef BSV_FINDINGS_H
#define BSV_FINDINGS_H

#include "audit/advice.h"
#include "audit/verdicts.h"
#include "input/input.h"

struct bsv_finding {
	char *finding; /* name of the finding: a cause, starvation, inversion, unfair, late_preparation or burst_per_call */
	char *what;          /* sentence for people; names in it come from strangers */
	char *who, *culprit; /* app or model hurt, and the app or model that hurt it; NULL: none or unknown */
	int64_t lost_ns;     /* time lost; below 0: unknown */
	const char *see;     /* command that shows details */
	const char *advice;  /* advice; NULL: none is known */
};

struct bsv_findings {
	struct bsv_finding *of;
	size_t n;
	struct bsv_settings settings; /* settings of the services, so that no advice repeats a setting */
};

/* @judgements: by enum bsv_audit. Pass *ret to bsv_findings_fini, also after an error. */
int bsv_findings_read(struct bsv_findings *ret, struct bsv_input *input, const struct bsv_judgement *judgements,
                      struct bsa_err *err);

void bsv_findings_fini(struct bsv_findings *f);

#endif
