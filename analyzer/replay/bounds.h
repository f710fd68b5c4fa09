/*
 * bounds.h -- how far the times of a replay can be from what would have happened, where the lengths of some
 * of its runs are not known. Under fifo with one lane.
 *
 * A replay takes one length of each run. With another length the lane is free earlier or later, and so each
 * call behind it runs, is answered, and lets its thread go on, earlier or later. That alone moves a time no
 * further than the lengths are apart. But it can change a decision, too: which call asks for the lane first,
 * which one is given up, or refused. After that all can be different: a call that is given up leaves its time
 * to others, so that a longer run can let others end earlier. So times have bounds up to the first decision
 * that can be different, and from there on nothing is known.
 * CONCURRENCY None: pure functions.
 */
#ifndef BSA_REPLAY_BOUNDS_H
#define BSA_REPLAY_BOUNDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BSA_BOUNDS_NEVER UINT64_MAX
#define BSA_BOUNDS_FIRST UINT32_MAX

static inline uint64_t bsa_later_of(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* When a call is submitted. */
enum bsa_bounds_comes {
	BSA_COMES_AT,       /* at its time */
	BSA_COMES_NOT_LESS, /* at its time, or when the call before it is answered, if that is later */
	BSA_COMES_AFTER,    /* a while after the call before it is answered */
	BSA_COMES_BESIDE    /* a while after the call before it is submitted */
};

struct bsa_bounds_call {
	enum bsa_bounds_comes comes;
	uint32_t before;            /* number of the call before it; BSA_BOUNDS_FIRST: it is the first of its thread */
	bool taken;                 /* the call is not there: its thread goes on at once */
	bool moves;                 /* its deadline moves with its submission */
	bool served, can_abort;     /* can_abort: at its checkpoints */
	bool as_recorded;           /* the call is given up where it was in truth */
	uint64_t at, looked, ready; /* in the replay; ready BSA_BOUNDS_NEVER: it was refused */
	uint64_t began, ended, answered;     /* began BSA_BOUNDS_NEVER: it was given up before */
	uint64_t hand, hand_less, hand_more; /* the hand-over can take so much less, or more */
	uint64_t idle_less, idle_more;       /* the same where the call may find the lane idle; the greater one holds */
	uint64_t run_less, run_more;         /* and the run */
	uint64_t run_least;                  /* least run of a call that is given up while it runs */
	uint64_t answer_less, answer_more;
	uint64_t until, deadline, least; /* the end of its wait; BSA_BOUNDS_NEVER: none */

	/* Results: it ends, and is answered, between this much earlier and this much later than in the replay. */
	uint64_t ret_end_early, ret_end_late, ret_early, ret_late;
	uint64_t ret_at_early, ret_at_late;
};

/* When the call asks for the lane, or is refused; when it would be submitted if it is not there. */
uint64_t bsa_bounds_asks(const struct bsa_bounds_call *call);

/*
 * Fill in the results of all calls. @order: n numbers, by bsa_bounds_asks and then by began. Returns the time
 * from which on decisions can be different; BSA_BOUNDS_NEVER: no decision can.
 */
uint64_t bsa_bounds_find(struct bsa_bounds_call *calls, const uint32_t *order, size_t n);

#endif
