/*
 * sharing.h -- the rule `fairness`: was an app slower, or did it get less, than under ideal fair sharing of the same arrivals? docs/figures.md,
 * "Verdicts".
 *
 * Facts are read from a database (bsv_sharing_read), and what they come to is decided without any (bsv_rule_sharing).
 */
#ifndef BSV_AUDIT_SHARING_H
#define BSV_AUDIT_SHARING_H

#include "audit/verdicts.h"
#include "bsa/sharing.h"

/* An app of one service. */
struct bsv_sharing_app {
	struct bsa_shared of;
	char *name, *taker; /* owned; taker: the other app that it waited for longest; NULL: there is none */
	int64_t step_ns;    /* the longest of the models prepared for its service; -1: not known */
	bool native;        /* its service has no lanes: then responses are not judged, only what it got */
};

struct bsv_sharing_facts {
	struct bsv_sharing_app *apps; /* owned; those of one service behind each other */
	size_t n, services;           /* services: how many were recorded */
	size_t played;                /* of them */
	int64_t hidden; /* losses, and executions and lanes of which not all was recorded, in the asked time */
	struct bsv_sight sight;
};

/* Of what was picked by --from and --to. *ret is owned by the caller, for bsv_sharing_fini, on failure too. */
int bsv_sharing_read(struct bsv_sharing_facts *ret, const struct bsv_input *input, struct bsa_err *err);

/* All 0 is fine. */
void bsv_sharing_fini(struct bsv_sharing_facts *facts);

/* Of an app, as a share of 1, what it got of what it would have got while it had work; NAN: it had none. */
double bsv_sharing_got(const struct bsa_shared *of);

/* One rule, slower_percent; and whose it is that it failed. */
void bsv_rule_sharing(struct bsv_judgement *ret, const struct bsv_sharing_facts *f);

/* The same, where it is not known whether all was recorded, too. */
void bsv_judge_sharing(struct bsv_judgement *ret, const struct bsv_sharing_facts *facts, const struct bsv_input *input);

#endif
