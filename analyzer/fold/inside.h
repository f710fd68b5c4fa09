/* inside.h -- the fold itself, as its files see it. */
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

/* How long streams and models stay after their end, at least: their executions' last events may come after it. */
#define BSA_PARTING_NS UINT64_C(1000000000)

/* Executions under way: at most MAX; and no more than FEW while all that is under way, whatever it is, takes more than CROWDED bytes. */
enum { BSA_UNDER_WAY_MAX = 1 << 15, BSA_UNDER_WAY_FEW = 1 << 12, BSA_CROWDED = 28 << 20 };

struct bsa_fold {
	struct bsa_facts facts;
	struct bsa_fold_options options;
	struct bsa_fold_ids last;
	struct bsa_left_out left_out;
	struct bsa_schedule *schedule;
	/* the event in hand: its time, and whose it is */
	uint64_t now;
	uint32_t trace;
	uint64_t began; /* the first event */
	uint64_t known; /* what the schedule was told to be known */
	uint64_t latest_summary;
	uint64_t latest_written; /* how long after the last boundary in it a service's summary was written, at most */
	uint64_t holes;          /* losses that no tracer counts */
	int failed;              /* 0, or -ENOMEM for ever */
	bool any, finished;      /* any: event */
	bool full;               /* events of boundaries are recorded, not only summaries */
	bool full_lanes;         /* a service recorded when an execution was ready, not only its summary */
	bool summed_lanes;       /* and of another execution it recorded the summary alone, though nothing was lost */
	uint32_t
		n_given_up; /* executions that were told as over, and became ready afterwards; those on lanes not counted */
	uint64_t given_up_ready; /* when the first of them did */
	unsigned finding;        /* services that tell of what was under way when the recording began */
	struct bsa_losses losses;
	struct bsa_pending pending;
	struct bsa_voices voices;
	struct bsa_numbers numbers;
	struct bsa_world world;
	struct bsa_execs execs;
};

/* Zeroed memory, or the fold has failed. */
void *bsa_fold_alloc(struct bsa_fold *f, size_t n);

/*
 * What is under way takes so much memory that no kind of it may have more than a few. A trace can open streams, models, connections and
 * executions without end; each kind has a limit that is generous on its own, and all limits together are several times the memory of an import.
 */
bool bsa_fold_is_crowded(const struct bsa_fold *f);

/* Lanes are unknown at this time: steps of it were lost. */
void bsa_fold_unknown(struct bsa_fold *f, uint64_t began, uint64_t ended);

/* The same, and tell it as a fact: nothing was recorded of a service. */
void bsa_fold_lose(struct bsa_fold *f, uint64_t began, uint64_t ended, enum bsa_loss_cause cause);

/* It cannot be. */
static inline void bsa_fold_absurd(struct bsa_fold *f)
{
	f->left_out.absurd++;
}

/* When something that is told now happened: @since, unless that is 0, or cannot be. */
static inline uint64_t bsa_fold_since(struct bsa_fold *f, uint64_t since)
{
	return since && since < f->now ? since : f->now;
}

#endif
