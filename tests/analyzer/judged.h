/*
 * judged.h -- judges a recording as burstscope does: its events are folded and stored, and the viewer's own code
 * judges the database, all in this process.
 */
#ifndef ANALYZER_JUDGED_H
#define ANALYZER_JUDGED_H

#include "analyzer/collect.h"
#include "analyzer/schedule_cut.h"
#include "audit/verdicts.h"
#include "slo/judge.h"

/* The figures that a database has of an execution. -1: NULL. */
struct judged_counts {
	uint64_t exec;
	int64_t preemptions, bypassed, lookups, misses;
};

struct judged_rule {
	enum bsv_outcome outcome;
	double figure, bound;
	char why[BSV_WHY_MAX];
};

enum { JUDGED_FAIRNESS, JUDGED_STARVATION, JUDGED_INVERSION, JUDGED_HONOURED, JUDGED_SHARING, JUDGED_RULES };

struct judged {
	struct collected facts;
	struct judged_rule rules[JUDGED_RULES];
	struct judged_counts *counts;
	size_t n_counts;
	uint64_t latest_summary;
	struct bsv_slo_result *slo; /* owned: one of each rule of the @slo that was passed */
};

/*
 * The database is made at @path, where there is none, and removed. --from and --to are those of @c. @slo: rules to
 * judge it by, too; NULL: none.
 */
void judged_make(struct judged *ret, const struct cut *c, uint64_t horizon_ns, const char *path,
                 const struct bsv_slo *slo);
void judged_free(struct judged *j);

#endif
