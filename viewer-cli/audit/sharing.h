/*
 * sharing.h -- the rule `fairness`: did an app wait longer, get less, or miss more deadlines, than
 * under ideal fair sharing of the same arrivals? docs/figures.md, "Verdicts".
 *
 * bsv_sharing_read reads the facts from a database; bsv_rule_sharing judges facts without any.
 */
#ifndef BSV_AUDIT_SHARING_H
#define BSV_AUDIT_SHARING_H

#include "audit/verdicts.h"
#include "bsa/sharing.h"

/* An app of one service. */
struct bsv_sharing_app {
	struct bsa_shared of;
	/*
	 * owned; taker: the other app that this app waited for longest, or that had the
	 * lane when it was refused; NULL: none
	 */
	char *name, *taker;
	/*
	 * how long its executions waited for lanes that other apps held, added up; of a service with several lanes, for
	 * its own executions, too, because others may have held the other lanes
	 */
	int64_t waited_ns;
	int64_t refused;  /* its executions that were refused */
	int64_t given_up; /* executions that were refused or given up: the lane time that they needed is unknown */
	int64_t step_ns;  /* longest step of the models of its service that had a lane; -1: unknown */
	/* ideal sharing depends on the step or the estimate of a model of its service, and these were not recorded */
	bool unseen;
	bool restarts; /* a preemption throws work away at its service: others make it slower by more than its waits */
	/* whether the service has no lanes: then only the work that the app got is judged, not its responses */
	bool native;
	/*
	 * of a native service: the most for which its executions were on no cpu and had not asked for one,
	 * added up. Policy native records no stalls, so they may have waited for pages of their own app.
	 */
	int64_t asleep_ns;
};

struct bsv_sharing_facts {
	struct bsv_sharing_app *apps; /* owned, unless is_kept; apps of one service are adjacent */
	size_t n, services;           /* services: number of services recorded */
	size_t played;                /* number of services that were replayed */
	int64_t hidden; /* number of losses, and of executions and lanes not wholly recorded, in the asked time */
	struct bsv_sight sight;
	struct bsv_pauses pauses;
	bool is_kept; /* others use the apps, too: audit/kept.h owns them */
};

/*
 * Read the facts about the executions picked by --from and --to. *ret is owned by the caller, for
 * bsv_sharing_fini, also after an error.
 */
int bsv_sharing_read(struct bsv_sharing_facts *ret, const struct bsv_input *input, struct bsa_err *err);

/*
 * SQL: how long apps waited for apps, of the picked executions, for a FROM: bsv_sharing_read has made a temporary table
 * of that. @apart: for people, who have no such table.
 */
const char *bsv_sharing_pairs(const struct bsv_input *input, bool apart);

/* Accepts a struct that is all 0. */
void bsv_sharing_fini(struct bsv_sharing_facts *facts);

/*
 * The work that an app got, as a share (0 to 1) of what it would have got under fair sharing while
 * it had work; NAN: it had no work.
 */
double bsv_sharing_got(const struct bsa_shared *of);

/* Judge one rule, slower_percent; if it fails, name the app behind and the app ahead. */
void bsv_rule_sharing(struct bsv_judgement *ret, const struct bsv_sharing_facts *f);

/* The same, but CANNOT TELL where it fails only with what the stops of the service may have added. */
void bsv_rule_sharing_paused(struct bsv_judgement *ret, const struct bsv_sharing_facts *f);

/* The same, but also CANNOT TELL where the recording may be incomplete. */
void bsv_judge_sharing(struct bsv_judgement *ret, const struct bsv_sharing_facts *facts, const struct bsv_input *input);

#endif
