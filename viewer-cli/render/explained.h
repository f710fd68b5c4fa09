/*
 * explained.h -- all that is known of one execution, and how it is drawn for people.
 *
 * Times are ns since the recording began; BSV_UNKNOWN is what is not known. Texts are borrowed,
 * NULL where there is none; those of strangers may be anything.
 */
#ifndef BSV_RENDER_EXPLAINED_H
#define BSV_RENDER_EXPLAINED_H

#include "base/screen.h"
#include "bsa/err.h"

#define BSV_UNKNOWN INT64_MIN

/* An execution, as it is called: 0 is none. */
struct bsv_who {
	int64_t id;
	const char *app, *model, *priority;
};

struct bsv_explained_phase {
	const char *phase;
	int64_t began, dur, typical; /* typical BSV_UNKNOWN: nothing is */
};

/* On a lane. */
struct bsv_explained_stretch {
	int64_t lane, began, ended;
};

struct bsv_explained_preemption {
	int64_t asked, stopped, resumed, redo;
	struct bsv_who by;
	const char *mode;
};

struct bsv_explained_wait {
	int64_t began, dur, lane;
	const char *kind, *occupancy, *cause;
	struct bsv_who blocker;
};

struct bsv_explained_cause {
	const char *cause;
	struct bsv_who culprit;
	int64_t late, budget;
	int64_t saved; /* 1, 0; BSV_UNKNOWN: undecided */
	bool primary;
};

/* The result of a replay without one cause, app or model: the members that are not NULL name it. */
struct bsv_explained_without {
	const char *cause, *app, *model;
	int64_t earlier;
	int64_t met; /* 1, 0; BSV_UNKNOWN: undecided */
};

struct bsv_explained {
	struct bsv_who who;
	const char *exec, *path, *status, *miss, *quality, *sides, *input;
	int64_t began, ended, e2e, deadline, lateness; /* began, ended: the first and the last that is known */
	int64_t submitted;                             /* where the budget begins */
	int64_t left;         /* when the app's call failed, before the service had answered; BSV_UNKNOWN: it did not */
	int64_t usual_budget; /* the usual budget of executions of the same model and path */
	int64_t submit_delay,
		submit_gap; /* how long its thread waited for a cpu since its call before, and how long ago that was */
	/* submitted so much earlier: met; lead unknown: earlier by submit_delay, and too late by definition */
	int64_t lead, lead_met;
	int64_t cold, redo, run, losses;      /* losses: intervals of lost events that touch it */
	int64_t typical_n, typical_estimated; /* how many executions are behind what is typical */
	int64_t typical_runs; /* how many recorded runs the typical run is the median of; BSV_UNKNOWN: an estimate */
	const char *advice;   /* about the primary cause */
	/*
	 * How long it waited for the run that is the primary cause, how long of that the run was on no cpu, and how
	 * long of that its thread had not asked for one. 0: the run had a cpu for most of the delay, or none is known.
	 */
	int64_t held, off, asleep;
	bool advised_by_finding; /* whether the advice is that of a finding of burstscope summary */
	bool replayable;         /* whether burstscope whatif --advise may find a change that meets more deadlines */
	bool verbose;

	struct bsv_explained_phase *phases;
	struct bsv_explained_stretch *stretches;
	struct bsv_explained_preemption *preemptions;
	struct bsv_explained_wait *waits;
	struct bsv_explained_cause *causes; /* the primary one first, then those that took most */
	struct bsv_explained_without *without;
	size_t n_phases, n_stretches, n_preemptions, n_waits, n_causes, n_without;
};

/* Was the run that it waited for on no cpu for most of the delay? And had its thread mostly not asked for one? */
static inline bool bsv_explained_unrun(const struct bsv_explained *x)
{
	return x->held > 0;
}

static inline bool bsv_explained_slept(const struct bsv_explained *x)
{
	return x->asleep > 0 && 2 * x->asleep >= x->off;
}

/* 0, or negative. */
int bsv_explained_draw(const struct bsv_explained *x, FILE *to, const struct bsv_screen *screen, struct bsa_err *err);

#endif
