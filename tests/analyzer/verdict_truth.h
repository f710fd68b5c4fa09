/*
 * verdict_truth.h -- the verdicts of docs/figures.md about a simulated schedule, worked out from what the simulator
 * kept, and without a line of the viewer's.
 *
 * A recording need not show everything that happened in its time. So there are three questions: was a rule broken in
 * the recorded time (then it may not pass); was it kept (then it may not fail); and does the recording show, whatever
 * was lost, that it was broken (then it must fail).
 */
#ifndef VERDICT_TRUTH_H
#define VERDICT_TRUTH_H

#include "analyzer/collect.h"
#include "analyzer/schedule_cut.h"

enum truth_rule { TRUTH_FAIRNESS, TRUTH_STARVATION, TRUTH_INVERSION, TRUTH_HONOURED, TRUTH_SHARING, TRUTH_RULES };

struct truth_verdict {
	bool broken;          /* in the recorded time, for certain: "pass" is a lie */
	bool kept;            /* not broken, for certain: "fail" is a lie */
	bool shown;           /* broken, and all that proves it was recorded: anything but "fail" is wrong */
	bool unsure;          /* the verdict is not worked out */
	bool nothing;         /* there is nothing to judge: the right answer is "cannot tell" */
	double figure, bound; /* for starvation: the worst wait longer than 100 ms; figure 0: no such wait */
	uint64_t count;       /* episodes, inversions, choices */
	uint64_t from, until; /* time of the worst violation */
	char what[200];       /* the worst that happened, for people */
};

/* The facts that are worked out once for each world. */
struct truth_world {
	const struct sim *s;
	struct collected facts; /* as truth_tell gives them */
	struct collected fine;  /* the same with small windows, of which the lags are used */
	uint64_t window_ns;     /* windows of @fine */
	bool native;            /* a service without lanes is there: its rules are not worked out */
};

void truth_world_make(struct truth_world *ret, const struct sim *s);
void truth_world_fini(struct truth_world *w);

/* @horizon: of the fold; what lies so far before a loss, summaries may have reported. */
void truth_judge(struct truth_verdict ret[TRUTH_RULES], const struct truth_world *w, const struct cut *c,
                 uint64_t horizon);

#endif
