/*
 * verdicts.h -- rules that judge fairness, starvation and priority: docs/figures.md, "Verdicts".
 *
 * bsv_judge reads the facts by SQL; bsv_rule_... judge facts without any SQL.
 */
#ifndef BSV_VERDICTS_H
#define BSV_VERDICTS_H

#include "answer/answer.h"

enum bsv_audit { BSV_FAIRNESS, BSV_STARVATION, BSV_PRIORITY };

/* Limits that options may change; an option that was not given leaves the rule its own limit. */
struct bsv_bounds {
	/* limit of fairness: the most that an app may be behind its share; no other rule of fairness is judged then */
	struct bsv_quantity lag;
	bool by_lag;                   /* whether to judge by lag, also without a given limit */
	struct bsv_quantity inversion; /* limit of priority: the longest inversion */
	struct bsv_quantity threshold; /* limit of starvation: a longer wait is starvation */
	bool honoured_given;
	double honoured; /* limit of priority: the least percentage of choices that honour it */
};

enum { BSV_RULES_MAX = 2, BSV_WHY_MAX = 480, BSV_WHO_MAX = 256 };

/* The result of one report's rules. Not to be copied, because the verdicts point to the sentences in it. */
struct bsv_judgement {
	size_t n;
	struct bsv_verdict rules[BSV_RULES_MAX]; /* n verdicts, for bsv_answer_verdict */
	char why[BSV_RULES_MAX][BSV_WHY_MAX];
	char who[BSV_WHO_MAX], by[BSV_WHO_MAX]; /* fairness, failed: the app behind, and the app ahead; "": unknown */
	bool of_deadlines; /* fairness, failed: by the deadlines that fair sharing would have let the app meet */
};

/*
 * Judge the picked executions (fairness with a limit: by --from and --to, to the nearest windows
 * within). @bounds NULL: the rules' own limits. The names of the rules: slower_percent (sharing.h),
 * with a limit max_lag_ns; starvation_episodes; inversion_ns and honoured_percent.
 */
int bsv_judge(struct bsv_judgement *ret, enum bsv_audit audit, struct bsv_input *input, const struct bsv_bounds *bounds,
              struct bsa_err *err);

/* The worst outcome of the rules: FAIL is worse than CANNOT TELL. */
enum bsv_outcome bsv_judged(const struct bsv_judgement *j);

/* Did every rule pass because nothing happened that it could judge? */
bool bsv_judged_nothing(const struct bsv_judgement *j);

/* Make the first rule of @from the only rule of @ret, and name its service in the sentence. */
void bsv_judgement_take(struct bsv_judgement *ret, const struct bsv_judgement *from, int64_t service);

/* Add the rules to the answer. @judgement is borrowed until the answer is printed. */
void bsv_judgement_show(struct bsv_answer *answer, const struct bsv_judgement *judgement);

/* "pass", "fail", "cannot tell" */
const char *bsv_outcome_name(enum bsv_outcome outcome);

/* ---- the rules themselves ---- */

/* What the limit of an inversion allows for messages and for threads that wake up; in C, and as a text for SQL. */
#define BSV_SLACK_NS 1000000
#define BSV_SLACK_TEXT BSV_NUMBER_TEXT(BSV_SLACK_NS)
#define BSV_NUMBER_TEXT(number) BSV_QUOTED_TEXT(number)
#define BSV_QUOTED_TEXT(number) #number

#define BSV_UNBOUNDED (INT64_MAX / 4) /* a hidden time of this length or longer has no known limit */

#define BSV_ANY_NUMBER INT64_C(1000000000000000) /* for choices: this many or more have no known limit */

#define BSV_STARVED_NS INT64_C(100000000)

/* How much of the asked time a recording did not observe. Times are the longest that may be hidden, 0: none. */
struct bsv_sight {
	bool service;    /* whether events of a service were recorded */
	bool nothing;    /* whether no execution was asked for */
	bool losses;     /* whether anything was lost, anywhere in the recording */
	bool native;     /* whether a service has the policy native: its lanes are unknown */
	int64_t hole_ns; /* longest time of one loss, or of several that touch */
	int64_t wait_ns; /* longest wait, parts of which may have been recorded */
	int64_t lane_ns; /* longest time for which the holder of one lane is unknown */
	/* longest time for which work of an app or a model may have waited of which no event was recorded */
	int64_t strange_ns;
	int64_t partly; /* number of executions that were not recorded whole, with or without a loss */
};

enum { BSV_UNSEEN_TEXT = 96 };

/*
 * Write the possible reasons why something is hidden to @to, which is returned. Without a loss it
 * is by executions that began before the recording, had not ended when it did, or were seen from
 * one side.
 */
const char *bsv_unseen_text(char to[BSV_UNSEEN_TEXT], const struct bsv_sight *s);

/* Times in which services were stopped, or had no cpu: they emitted nothing, though they had requests, and went on. */
struct bsv_pauses {
	int64_t paused_ns;  /* in all */
	int64_t n_awaited;  /* number of executions that waited at the end of one, summed */
	int64_t awaited_ns; /* the most that this added to how long these took, summed over them */
};

/* Of the asked time. 0 or a negative error. */
int bsv_pauses_read(struct bsv_pauses *ret, const struct bsv_input *input, struct bsa_err *err);

struct bsv_fairness_facts {
	int64_t apps, most_apps; /* most apps with an execution ready or on a lane in one window: at least, at most */
	int64_t lanes;           /* greatest number of lanes */
	int64_t max_lag_ns, most_lag_ns; /* greatest lag of an app: at least, at most */
	const char *app;                 /* app with the lag @max_lag_ns, printable; NULL: unknown */
	/*
	 * longest time for which a lane could not be had, see docs/figures.md: at least, at
	 * most; -1: unknown
	 */
	int64_t stretch_ns, most_stretch;
	/* longest possible wait of an execution without any recorded event, or without a recorded app */
	int64_t stranger_ns;
	bool no_rules;     /* whether the rules of the service were not recorded, so that the stretch is unknown */
	bool begun;        /* whether the lag of an app at the start of the recording is unknown */
	bool others;       /* whether an app without any recorded execution may have had work */
	int64_t paused_ns; /* for so long services were stopped, or had no cpu: no app had the lanes then */
	struct bsv_sight sight;
};

struct bsv_starvation_facts {
	int64_t episodes, max_gap_ns; /* episodes that are certain: starvation for any duration of the lost runs */
	int64_t recorded;             /* episodes by the runs that were recorded, as reports count them */
	int64_t unsure_ns;            /* longest wait that is or is not starvation, depending on runs that were lost */
	int64_t native_ns;            /* longest time for which an execution of a native service was not on a cpu */
	/*
	 * for the longest wait: the app that waited, and the one that held the lane longest
	 * meanwhile; printable; NULL: unknown
	 */
	const char *victim, *holder;
	int64_t holder_ns, idle_ns, unknown_ns; /* for max_gap_ns: the holder had the lane; no app had it; unknown */
	int64_t silent_ns; /* of max_gap_ns: no event of the service was recorded, until the end, or it was stopped */
	int64_t silent_idle_ns; /* of silent_ns: no app had the lane */
	int64_t unrun_ns;       /* part of max_gap_ns: at least this long the run that had the lane was on no cpu */
	struct bsv_sight sight;
};

struct bsv_priority_facts {
	int64_t inversions; /* number of inversions stored */
	/*
	 * for the inversion furthest above its limit: its length, and how long its holder
	 * could not be stopped
	 */
	int64_t dur_ns, stretch_ns;
	int64_t unsure_ns; /* longest inversion that has an unknown limit and is above the known part of it */
	int64_t hidden_ns; /* longest inversion that may be hidden */
	int64_t joined_ns; /* longest inversion that the import added up, so that its limit is unknown */
	int64_t least_ns;  /* least S of a model that can make more urgent work wait; -1: unknown */
	int64_t choices, honoured;
	int64_t hidden_choices; /* upper bound of the choices that were not recorded */
	/* upper bound of those of apps of which no event was recorded; they excuse no other app */
	int64_t strange_choices;
	int64_t on_probation;     /* number of further choices, which do not count: the app was on probation */
	bool mostly_on_probation; /* whether fewer than half of the choices of an app count, because of that */
	/* number of further inversions, which do not count for that reason either; the longest above its limit */
	int64_t inversions_on_probation, on_probation_ns;
	bool mixed; /* whether an app had executions of more than one priority */
	/*
	 * whether losses may hide that work of several priorities of an app was ready at the same
	 * time, though no choice is hidden
	 */
	bool together;
	bool may_be_mixed; /* whether an app may have had executions of more than one priority */
	/*
	 * for the inversion furthest above its limit: the app that waited, and the model on
	 * the lane; printable; NULL: unknown
	 */
	const char *victim, *holder;
	struct bsv_sight sight;
};

/*
 * No verdict of @audit is possible about a recording that may be incomplete, or that lacks a kind of events which the
 * verdict needs.
 */
void bsv_rules_check(struct bsv_judgement *j, enum bsv_audit audit, const struct bsv_coverage *c);

void bsv_rule_fairness(struct bsv_judgement *ret, const struct bsv_fairness_facts *f, const struct bsv_bounds *bounds);
void bsv_rule_starvation(struct bsv_judgement *ret, const struct bsv_starvation_facts *f,
                         const struct bsv_bounds *bounds);
void bsv_rule_priority(struct bsv_judgement *ret, const struct bsv_priority_facts *f, const struct bsv_bounds *bounds);

#endif
