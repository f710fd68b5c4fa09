/*
 * verdicts.h -- was a service fair, did it starve nobody, did it honour priorities: the rules of docs/figures.md, "Verdicts".
 *
 * Facts are read by SQL (bsv_judge), and what they come to is decided without any (bsv_rule_...).
 */
#ifndef BSV_VERDICTS_H
#define BSV_VERDICTS_H

#include "answer/answer.h"

enum bsv_audit { BSV_FAIRNESS, BSV_STARVATION, BSV_PRIORITY };

/* What options may change; where nothing is given, the rules' own bounds hold. */
struct bsv_bounds {
	struct bsv_quantity lag;       /* fairness: the most that an app may be behind; then nothing else is judged */
	bool by_lag;                   /* the same, and where none is given, by what a fair policy can be held to */
	struct bsv_quantity inversion; /* priority: the longest that there may be */
	struct bsv_quantity threshold; /* starvation: what waits longer is starved */
	bool honoured_given;
	double honoured; /* priority: percent of choices, at least */
};

enum { BSV_RULES_MAX = 2, BSV_WHY_MAX = 480, BSV_WHO_MAX = 256 };

/* What came of one audit. Not to be copied: the verdicts' sentences are in it. */
struct bsv_judgement {
	size_t n;
	struct bsv_verdict rules[BSV_RULES_MAX]; /* n of them: for bsv_answer_verdict */
	char why[BSV_RULES_MAX][BSV_WHY_MAX];
	char who[BSV_WHO_MAX], by[BSV_WHO_MAX]; /* fairness, failed: the app, and who took it; "": not told */
};

/*
 * Of what was picked (fairness with a bound: by --from and --to, to the nearest windows within). @bounds NULL: the rules' own. The
 * rules' names: slower_percent (sharing.h), with a bound max_lag_ns; starvation_episodes; inversion_ns and honoured_percent.
 */
int bsv_judge(struct bsv_judgement *ret, enum bsv_audit audit, struct bsv_input *input, const struct bsv_bounds *bounds,
              struct bsa_err *err);

/* The worst of its rules: failed is worse than cannot tell. */
enum bsv_outcome bsv_judged(const struct bsv_judgement *j);

/* @from's first rule becomes the only one of @ret, and says of which service it is. */
void bsv_judgement_take(struct bsv_judgement *ret, const struct bsv_judgement *from, int64_t service);

/* "pass", "fail", "cannot tell" */
const char *bsv_outcome_name(enum bsv_outcome outcome);

/* ---- the rules themselves ---- */

#define BSV_UNBOUNDED \
	(INT64_MAX / 4) /* a time that may be hidden, of this length or longer: there is no telling how long */

#define BSV_STARVED_NS INT64_C(100000000)

/* What a recording can have missed of the asked time. Times are the longest that may be hidden, 0: none. */
struct bsv_sight {
	bool service;    /* it recorded events of a service */
	bool nothing;    /* no execution was asked for */
	bool losses;     /* anywhere in the recording */
	bool native;     /* a service has the policy native: its lanes are not known */
	int64_t hole_ns; /* of one loss, or of several that touch */
	int64_t wait_ns; /* of a wait, parts of which may have been recorded */
	int64_t lane_ns; /* for which the holder of one lane is not known */
};

struct bsv_fairness_facts {
	int64_t apps,
		most_apps; /* the most that had an execution ready or on a lane in one window: at least, at most */
	int64_t lanes;     /* the most there were */
	int64_t max_lag_ns, most_lag_ns; /* the most that one of them was behind: at least, at most */
	const char *app;                 /* the one that was @max_lag_ns behind, printable; NULL: unknown */
	int64_t stretch_ns,
		most_stretch; /* the longest that a lane could not be had, see docs/figures.md: at least, at most; -1: unknown */
	int64_t stranger_ns; /* the longest possible wait of an execution of which no event, or no app, was recorded */
	bool no_rules;       /* those of the service were not recorded: that is why the stretch is unknown */
	bool begun;          /* the lag of an app at the beginning is not known */
	struct bsv_sight sight;
};

struct bsv_starvation_facts {
	int64_t episodes, max_gap_ns;
	int64_t unsure_ns; /* the longest wait that is too long or not, depending on runs that were lost */
	int64_t native_ns; /* the longest that an execution of a native service was not on a cpu */
	struct bsv_sight sight;
};

struct bsv_priority_facts {
	int64_t inversions; /* all that are stored */
	int64_t dur_ns,
		stretch_ns; /* of the one that is furthest above its bound: all of it, and how long its holder could not be stopped */
	int64_t unsure_ns; /* the longest whose bound is not known, and above what is known of it */
	int64_t hidden_ns; /* the longest that may be hidden */
	int64_t joined_ns; /* the longest of those that the import added up: their bounds are not known */
	int64_t least_ns;  /* the least S of a model that can make more urgent work wait; -1: unknown */
	int64_t choices, honoured;
	int64_t hidden_choices; /* at most */
	bool mixed;             /* an app had executions of more than one priority */
	bool may_be_mixed;      /* or may have had */
	struct bsv_sight sight;
};

/* Of a recording of which it is not known whether it is all there, nothing can be told. */
void bsv_rules_unchecked(struct bsv_judgement *j);

void bsv_rule_fairness(struct bsv_judgement *ret, const struct bsv_fairness_facts *f, const struct bsv_bounds *bounds);
void bsv_rule_starvation(struct bsv_judgement *ret, const struct bsv_starvation_facts *f,
                         const struct bsv_bounds *bounds);
void bsv_rule_priority(struct bsv_judgement *ret, const struct bsv_priority_facts *f, const struct bsv_bounds *bounds);

#endif
