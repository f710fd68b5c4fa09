/*
 * rules.h -- a file of rules (burstscope-slo(5)), read: what a recording is held against.
 *
 * Whoever wrote the file is not trusted: its size, its lines and its numbers are bounded, and what is said of it has no bytes
 * that a terminal would obey.
 */
#ifndef BSV_SLO_RULES_H
#define BSV_SLO_RULES_H

#include "bsa/err.h"
#include "stats/group.h"

#include <stdbool.h>

enum bsv_slo_kind {
	BSV_SLO_TIME,     /* a percentile of a phase */
	BSV_SLO_OVERHEAD, /* a percentile of the share that is overhead */
	BSV_SLO_MISSES,   /* the share of deadlines that are missed */
	BSV_SLO_STREAK,   /* m of k in sequence */
	BSV_SLO_STARVATION,
	BSV_SLO_FAIRNESS,
	BSV_SLO_INVERSION,
	BSV_SLO_HONOURED,
	BSV_SLO_PRIORITY, /* both of them */
	BSV_SLO_COVERAGE,
	BSV_SLO_EXECUTIONS, /* how many there are */
};

/* Which executions; NULL: any. */
struct bsv_slo_selection {
	char *app, *model, *path, *priority;
	int cold; /* -1: both */
};

struct bsv_slo_rule {
	enum bsv_slo_kind kind;
	unsigned line; /* of the file, from 1 */
	char *text;    /* the rule as it was written, with single spaces, and without what a terminal would obey */
	struct bsv_slo_selection of;
	double percent; /* of a percentile */
	enum bsv_phase phase;
	bool bounded;  /* a bound was given; false: the audit's own */
	double bound;  /* ns, percent, or executions */
	bool baseline; /* the bound is what a baseline has, times times, plus bound */
	double times;
	unsigned most, window; /* of a streak */
};

struct bsv_slo {
	struct bsv_slo_rule *rules;
	size_t n;
};

/* BSA_E_INPUT: a line is no rule, or there is no rule: the sentence begins with its line's number. *ret is owned by the caller. */
int bsv_slo_parse(struct bsv_slo *ret, const char *text, size_t bytes, struct bsa_err *err);

/* The same of a file. */
int bsv_slo_read(struct bsv_slo *ret, const char *path, struct bsa_err *err);

/* All 0 is fine. */
void bsv_slo_fini(struct bsv_slo *slo);

#endif
