/*
 * findings.h -- what is wrong in a recording, the most important first.
 *
 * Missed deadlines, by their primary causes; starvation; inversions, if the priority verdict fails; shares, if the fairness verdict
 * fails; an app that makes a burst per call; and last, what most of the overhead was spent on.
 */
#ifndef BSV_FINDINGS_H
#define BSV_FINDINGS_H

#include "audit/advice.h"
#include "audit/verdicts.h"
#include "input/input.h"

struct bsv_finding {
	char *finding;       /* a cause, starvation, inversion, unfair or burst_per_call */
	char *what;          /* a sentence; names in it come from strangers */
	char *who, *culprit; /* NULL: nobody */
	int64_t lost_ns;     /* below 0: unknown */
	const char *see;     /* the command that tells more */
	const char *advice;  /* what to do; NULL: nothing that is known to help */
};

struct bsv_findings {
	struct bsv_finding *of;
	size_t n;
	struct bsv_settings settings; /* of what was recorded: no advice is to set what is set already */
};

/* @judgements: by enum bsv_audit. *ret is to be given to bsv_findings_fini, whatever comes of it. */
int bsv_findings_read(struct bsv_findings *ret, struct bsv_input *input, const struct bsv_judgement *judgements,
                      struct bsa_err *err);

void bsv_findings_fini(struct bsv_findings *f);

#endif
