/*
 * schedule_cut.h -- a recording of a simulated schedule, with a part of its events missing: what a fold is given, and
 * what was recorded when.
 */
#ifndef SCHEDULE_CUT_H
#define SCHEDULE_CUT_H

#include "analyzer/schedule_sim.h"

enum cut_kind {
	CUT_NOTHING,   /* every event is recorded */
	CUT_ONE_HOLE,  /* all events of 1 % of the time are lost */
	CUT_HOLES,     /* all events of several stretches of random length are lost */
	CUT_HEADS,     /* a ring buffer per cpu: each cpu's events before its own head are lost */
	CUT_LATE,      /* the recording begins in the middle; the service reports what exists then */
	CUT_EARLY,     /* the recording ends in the middle */
	CUT_CLIENTS,   /* only the clients are recorded */
	CUT_SERVICE,   /* only the services are recorded */
	CUT_UNCOUNTED, /* the recording is stopped and started again: the number of lost events is unknown */
	CUT_ONE_CPU,   /* one cpu loses its events for a while */
	/* holes that begin and end exactly at events, which are lost or not; the second hole touches the first */
	CUT_EDGES,
	CUT_AFTER, /* a loss after the last event */
	/* a hole that --from or --to excludes, with an idle service between the hole and the part that is judged */
	CUT_OUTSIDE,
	CUT_WORST, /* a hole over a violation: over all of it, its beginning, its middle or its end */
	CUT_ASKED, /* every event is recorded; --from and --to select a part */
	/* a session is stopped and started; the service is not recorded for some time before and after that */
	CUT_STOP,
	CUT_LATE_SERVICE,  /* like CUT_LATE; the clients are recorded for some time before the service */
	CUT_EARLY_SERVICE, /* like CUT_EARLY; the clients are recorded for some time after the service */
	/* some of the events are lost that have names and priorities: of connections, models and streams */
	CUT_GROUPS,
	CUT_KIND, /* no event of one kind is recorded, and no loss is told */
	CUT_KINDS
};

/* "one hole of 1 %" */
const char *cut_name(enum cut_kind kind);

struct cut_hole {
	uint64_t from, until;           /* both ends included, as in bsa_loss */
	uint64_t events[2];             /* lost, by cpu */
	uint64_t told_from, told_until; /* for CUT_STOP: the time that no process is recorded */
};

enum { CUT_HOLES_MAX = 8 };

struct cut {
	enum cut_kind kind;
	unsigned forms;                  /* SIM_FULL, ... */
	const struct bsa_event **events; /* owned; n_events of them, in the order of time */
	struct sim_event *own;           /* owned: losses, and reports of what exists */
	size_t n_events, n_own, n_holes;
	struct cut_hole holes[CUT_HOLES_MAX];
	uint64_t from, until;             /* the recorded time: nothing before and after it is known */
	uint64_t asked_from, asked_until; /* --from and --to, as times of the trace; 0 and BSA_NEVER: not given */
	uint64_t began, ended;            /* times of the first and the last event, a loss included */
};

/* A stretch of time that a hole may aim at. */
struct cut_target {
	uint64_t from, until;
};

/*
 * @target: what CUT_WORST hides; NULL for other kinds. False: this world has no such cut (for example: it is never
 * idle). Marks the lost events in @s->events. @series: where chance comes from.
 */
bool cut_make(struct cut *ret, struct sim *s, enum cut_kind kind, unsigned forms, const struct cut_target *target,
              uint64_t *series);

/* Unmarks the events of @s. */
void cut_free(struct cut *c, struct sim *s);

/* Does a hole touch the time from @from to @until, both included? */
bool cut_touches(const struct cut *c, uint64_t from, uint64_t until);

#endif
