/*
 * places.h -- which apps may have workers, and how many.
 */
#ifndef NNB_MEMORY_PLACES_H
#define NNB_MEMORY_PLACES_H

#include "memory/errand.h"

#define NNB__SLICE_NS UINT64_C(20000000) /* between two questions whether the caller still wants the answer */

/*
 * BUSY: one caller has it. CLOSING: it closes files that it has refused, and tells when that is done. LEFT: no caller
 * gets it any more, and it has not ended.
 */
enum nnb__worker_state { NNB__WORKER_NONE, NNB__WORKER_IDLE, NNB__WORKER_BUSY, NNB__WORKER_CLOSING, NNB__WORKER_LEFT };

enum nnb__worker_kind { NNB__CALLERS, NNB__TRIERS, NNB__PORTERS, NNB__WORKER_KINDS };

struct nnb__worker {
	enum nnb__worker_state state;
	enum nnb__worker_kind kind; /* if it has a process */
	int sock;
	pid_t pid;      /* 0: its first message has not come */
	int process;    /* its pidfd; -1: not known */
	uint64_t began; /* of its last errand, or of its closing */
	bool is_stuck;  /* it slept where no signal ends the sleep when it was left behind. Of trials only */
	bool is_going;  /* its app is gone, and it ends once it has closed all that is left. Of porters only */
	bool is_beyond; /* its app is guaranteed this one: it does not count against the limit of all apps */
	struct nnb__keeper *keeper; /* it keeps files; NULL: it cannot. Of porters only */
};

/*
 * Take the place of an idle worker of @errands, or start one, until @until. 0 and *ret, borrowed until nnb__place_give,
 * BUSY: this thread alone uses it, without a lock; or -errno as in errand.h.
 */
int nnb__place_take(struct nnb__errands *errands, enum nnb__worker_kind kind, const struct nnb__errand_wait *wait,
                    uint64_t until, struct nnb__worker **ret);

/*
 * The errand of @worker is over: with an answer (@r is 0), for lack of time or because the caller has given up
 * (-ETIMEDOUT, -ECANCELED), or because the worker has ended. @closes: it closes files still. @is_stuck: it sleeps where
 * no signal ends the sleep.
 */
void nnb__place_give(struct nnb__errands *errands, struct nnb__worker *worker, int r, bool closes, bool is_stuck);

/* The number of @worker, and the worker of that number. */
int nnb__place_number(const struct nnb__errands *errands, const struct nnb__worker *worker);
struct nnb__worker *nnb__place_worker(struct nnb__errands *errands, int number);

static inline bool nnb__errand_is_wanted(const struct nnb__errand_wait *wait)
{
	return !wait->goes_on || wait->goes_on();
}

#endif
