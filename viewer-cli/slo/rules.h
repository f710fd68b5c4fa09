/*
 * rules.h -- reads a file of rules (burstscope-slo(5)), against which a recording is judged.
 *
 * The author of the file is not trusted: its size, its lines and its numbers are bounded, and
 * messages about it contain no control bytes for a terminal.
 */
#ifndef BSV_SLO_RULES_H
#define BSV_SLO_RULES_H

#include "bsa/err.h"
#include "input/group.h"

#include <stdbool.h>

enum bsv_slo_kind {
	BSV_SLO_TIME,     /* a percentile of a phase */
	BSV_SLO_OVERHEAD, /* a percentile of the share that is overhead */
	BSV_SLO_MISSES,   /* the share of missed deadlines */
	BSV_SLO_STREAK,   /* at most m misses in any k executions in sequence */
	BSV_SLO_STARVATION,
	BSV_SLO_FAIRNESS,
	BSV_SLO_INVERSION,
	BSV_SLO_HONOURED,
	BSV_SLO_PRIORITY, /* inversion and honoured */
	BSV_SLO_COVERAGE,
	BSV_SLO_EXECUTIONS, /* the number of executions */
};

/* The executions that a rule judges. NULL: any value. */
struct bsv_slo_selection {
	char *app, *model, *path, *priority;
	int cold; /* 1: cold ones, 0: warm ones, -1: both */
};

struct bsv_slo_rule {
	enum bsv_slo_kind kind;
	unsigned line; /* line number in the file, from 1 */
	char *text;    /* the rule as written, with single spaces and without control bytes */
	struct bsv_slo_selection of;
	double percent; /* the percentile, 0 to 100 */
	enum bsv_phase phase;
	bool bounded;  /* the rule has a bound; false: the audit's own bound applies */
	double bound;  /* ns, percent, or executions */
	bool baseline; /* the limit is the baseline's figure * times + bound */
	double times;
	unsigned most, window; /* a streak's misses and executions */
};

struct bsv_slo {
	struct bsv_slo_rule *rules;
	size_t n;
};

/*
 * Parse @text. BSA_E_INPUT: a line is not a rule (the sentence begins with its line number), or
 * there is no rule. The caller owns *ret.
 */
int bsv_slo_parse(struct bsv_slo *ret, const char *text, size_t bytes, struct bsa_err *err);

/* Is @word the first one of a rule, as "p99" and "miss" are? */
bool bsv_slo_begins_with(const char *word);

/* Parse the file @path, with the same errors. */
int bsv_slo_read(struct bsv_slo *ret, const char *path, struct bsa_err *err);

/* Free the rules. A zeroed @slo is accepted. */
void bsv_slo_fini(struct bsv_slo *slo);

#endif
