/*
 * group_truth.h -- rules of burstscope-slo(5) about groups of a simulated schedule's executions, with bounds beside
 * the true figure, and whether each rule was kept: worked out from what the simulator kept.
 */
#ifndef GROUP_TRUTH_H
#define GROUP_TRUTH_H

#include "analyzer/schedule_cut.h"
#include "analyzer/verdict_truth.h"

enum { GROUP_RULES = 16 };

struct group_truth {
	char text[160]; /* the rule */
	bool broken;    /* whatever the executions without an answer would have taken: "pass" is a lie */
	bool kept;      /* likewise: "fail" is a lie */
	uint32_t n;     /* executions of the group */
};

/* Draw GROUP_RULES rules about what @c asks for. @series: where chance comes from. */
void group_truth_draw(struct group_truth ret[GROUP_RULES], const struct truth_world *w, const struct cut *c,
                      uint64_t *series);

/* Give each app and each model of the world a name of its own. */
void group_names_give(struct sim *s);

#endif
