/* inside.h -- struct bsa_fold, for the files of the fold. */
#ifndef BSA_FOLD_INSIDE_H
#define BSA_FOLD_INSIDE_H

#include "fold/exec.h"
#include "fold/fold.h"
#include "fold/losses.h"
#include "fold/numbers.h"
#include "fold/pending.h"
#include "fold/schedule.h"
#include "fold/voices.h"
#include "fold/world.h"

/* How long streams and models are kept after their end, because events of their executions may arrive later. */
#define BSA_PARTING_NS UINT64_C(1000000000)

/*
 * Limits of executions under way: MAX; and FEW while all objects under way take more than CROWDED bytes.
 * Executions take 16.5 MB at most, and the memory of those that are over is kept for others.
 */
enum { BSA_UNDER_WAY_MAX = 1 << 15, BSA_UNDER_WAY_FEW = 1 << 12, BSA_CROWDED = 18 << 20 };

/* The end of the recording of a trace, where it is known. */
struct bsa_recorded_until {
	uint64_t until;
	uint32_t trace;
};

/* The latest execution of a recorded client of which the service alone emitted events. */
struct bsa_unasked {
	uint64_t began; /* first event of the service */
	uint32_t trace;
};

struct bsa_fold {
	struct bsa_facts facts;
	struct bsa_fold_options options;
	struct bsa_fold_ids last;
	struct bsa_left_out left_out;
	struct bsa_schedule *schedule;
	uint64_t now; /* time of the latest event so far */
	/*
	 * the current event: its time, which is before now if the event came late; its time for the schedule;
	 * and its trace
	 */
	uint64_t at, step_at;
	uint32_t trace;
	uint64_t began;                      /* time of the first event */
	uint64_t known;                      /* the time passed to the schedule as known */
	struct bsa_recorded_until *recorded; /* owned */
	size_t n_recorded, recorded_room;
	uint64_t over_by; /* the recording may have gone on until then, but not longer; 0: unknown */
	uint64_t latest_summary;
	uint64_t latest_written;    /* largest delay of a service's summary after the last boundary in it */
	uint64_t holes;             /* number of losses that the tracer does not count */
	int failed;                 /* 0, or -ENOMEM for ever */
	struct bsa_unasked unasked; /* of the executions that are over */
	uint64_t n_of[BSA_N_KINDS]; /* events of each kind */
	uint64_t missing;    /* 1 << kind: such an event of an execution was not recorded, although nothing was lost */
	bool may_stop;       /* a service may stop executions for others */
	bool summed_stops;   /* a summary has a stop that was not recorded, although nothing was lost */
	bool any, finished;  /* any: an event was seen */
	bool full;           /* events of boundaries are recorded, not only summaries */
	bool full_lanes;     /* a service recorded an execution's ready event, not only its summary */
	bool summed_lanes;   /* a service recorded only the summary of an execution, although nothing was lost */
	uint32_t n_given_up; /* executions reported as over that became ready afterwards; without those on lanes */
	uint64_t given_up_ready; /* time at which the first of them became ready */
	unsigned n_listing;      /* number of services that are emitting what was under way when the recording began */
	struct bsa_losses losses;
	struct bsa_pending pending;
	struct bsa_voices voices;
	struct bsa_numbers numbers;
	struct bsa_world world;
	struct bsa_execs execs;
};

/* Allocate zeroed memory. NULL: the fold has failed. */
void *bsa_fold_alloc(struct bsa_fold *f, size_t n);

/*
 * Whether the objects under way take so much memory that each kind of object is limited to a few. A trace can
 * open any number of streams, models, connections and executions; the limit of each kind is generous, and all
 * limits together exceed the memory of an import several times.
 */
bool bsa_fold_is_crowded(const struct bsa_fold *f);

/* Lanes are unknown in this time, because steps of it were lost. */
void bsa_fold_unknown(struct bsa_fold *f, uint64_t began, uint64_t ended);

/* Whether executions leave lanes without an event, as far as is known by now. */
bool bsa_fold_lacks_stops(const struct bsa_fold *f, const struct bsa_exec *x);

/*
 * @x gets a lane: lanes of its service are unknown from now on if the session does not have when executions leave them.
 */
void bsa_fold_lane_given(struct bsa_fold *f, const struct bsa_exec *x);

/* Like bsa_fold_unknown, and report a loss: a service was not recorded in this time. */
void bsa_fold_lose(struct bsa_fold *f, uint64_t began, uint64_t ended, enum bsa_loss_cause cause);

/* All processes of @trace were recorded until then, at least; 0: unknown. */
uint64_t bsa_fold_recorded_until(const struct bsa_fold *f, uint32_t trace);

/* How long what is under way now may go on in the recording: at its end perhaps longer than until the last event. */
static inline uint64_t bsa_fold_goes_on_until(const struct bsa_fold *f)
{
	return f->finished && f->over_by > f->now ? f->over_by : f->now;
}

/*
 * Whether events of @kind are recorded of the service of @x, or of its clients, as far as is known by now. If not, an
 * execution that has none may have had one all the same. What another service records says nothing of this one.
 */
static inline bool bsa_fold_has_kind(const struct bsa_fold *f, const struct bsa_exec *x, enum bsa_kind kind)
{
	return (f->voices.kinds[x->sched.instance & (BSA_INSTANCES - 1)] | f->options.declared) >> kind & 1;
}

/* Count an impossible event. */
static inline void bsa_fold_absurd(struct bsa_fold *f)
{
	f->left_out.absurd++;
}

/* The time of an object reported now: @since, unless that is 0 or in the future. */
static inline uint64_t bsa_fold_since(struct bsa_fold *f, uint64_t since)
{
	return since && since < f->now ? since : f->now;
}

#endif
