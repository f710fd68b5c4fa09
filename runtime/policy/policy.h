/*
 * policy.h -- who gets a lane: the decisions, and nothing else.
 *
 * A policy is told what happens (a job is ready, one leaves its lane, one gives up) and when, and says who goes where and
 * when the one on a lane is to make room. It has no clock, no thread, no lock, allocates nothing and calls nothing, so
 * that a recorded workload can be put through the very same code. Apps and jobs are the caller's memory.
 *
 * Time is in ns on any one clock. Where it is not needed, which nnb__policy_wants_time tells, it may be 0.
 *
 * FAIRNESS  While somebody waits, each app with a job ready or running is entitled to an equal share of the lanes, but no
 *           more than it has jobs (max-min). Its lag is what it was entitled to and did not receive since it last had no
 *           job. All policies keep these accounts.
 *           NNB_POLICY_FAIR goes by claims: an app's lag, but never less than nothing, or who once had what nobody else
 *           could use would starve for it later; and not more than a second. A free lane goes to the app that needs it
 *           most, whose claim would be the largest a quantum from now. Who runs makes room at the next checkpoint once
 *           somebody else needs the lane a quantum more than its app would without it.
 * BOUND     On one lane no lag exceeds (S + Q) (1 + 1/2 + ... + 1/(n-1)): S the longest stretch between two checkpoints,
 *           Q the quantum, n the most apps with something to do at a time. That is 2 S + 1 ms for four apps.
 *           Let A(k) be the mean of the k largest claims. While one app runs for a stretch the others gain S/n each at
 *           most. When it began or went on, it was the neediest, or less than Q from it. If it is not one of the k
 *           largest afterwards, then these and it were k + 1 before, and A(k) is at most A(k+1) + (S + Q)/(k + 1). If it
 *           is, what it loses makes up for what they gain, as far as its claim goes down to nothing: A(k) grows to
 *           (1 - 1/k)(S + Q) at most. So A(n) is at most (1 - 1/n)(S + Q), and from there A(1) is as above.
 *           No policy could do much better: of n apps that come at once with one step each, the last lags
 *           S (1/2 + ... + 1/n) before it gets the lane.
 *           Two lanes: twice that. More: an app that has all it can use keeps its lag, whatever one does, so that many
 *           short contentions may add up; what it may claim of it ends at a second.
 *           Without preemption, or where jobs start over, a stretch is a whole execution.
 * CONCURRENCY  None: calls on one policy are ordered by the caller.
 */
#ifndef NNB_POLICY_POLICY_H
#define NNB_POLICY_POLICY_H

#include <stdbool.h>
#include <stdint.h>

#include "nnb/policy.h"

enum {
	NNB__LANES_MAX = 64,
	NNB__RESTARTS_MAX = 3, /* of one job: then it finishes */
	NNB__NO_LANE = -1
};

#define NNB__QUANTUM_NS UINT64_C(500000)
#define NNB__CLAIM_MAX_NS 1e9
#define NNB__NEVER UINT64_MAX

struct nnb__policy_job {
	/* the caller's, set before it is ready and left alone until it is done */
	struct nnb__policy_app *app;
	uint32_t priority;    /* higher goes first */
	uint64_t deadline_ns; /* NNB__NEVER: none */
	uint64_t floor_ns;    /* the least it will take of a lane; 0: unknown */

	/* the policy's */
	struct nnb__policy_job *next;
	uint64_t arrival;  /* a number that grows */
	uint64_t since;    /* waiting: since when; running: on the lane since, or 0: unknown */
	int lane;          /* NNB__NO_LANE: it waits */
	bool begun;        /* it has been on a lane */
	uint32_t restarts; /* so far; set to 0 for a new job */
};

/* All zeroes is an app that has nothing to do. */
struct nnb__policy_app {
	struct nnb__policy_app *next, **from; /* of those with something to do */
	struct nnb__policy_job *queue;        /* its jobs that wait, who goes first first */
	struct nnb__policy_job *at;           /* of the queue: while making room */
	uint32_t waiting, running;            /* jobs */
	double rate;                          /* lanes it is entitled to */
	double lag;                           /* ns */
	double claim;                         /* ns: its lag, as far as decisions go by it */
	double received, entitled;            /* ns while somebody waited, ever */
	double max_lag;                       /* ns, ever */
	uint64_t preemptions, restarts;
};

struct nnb__policy {
	enum nnb_policy kind;
	enum nnb_preempt preempt;
	uint32_t lanes;
	uint64_t quantum_ns;

	struct nnb__policy_app *apps; /* with something to do */
	struct nnb__policy_job *running[NNB__LANES_MAX];
	uint64_t yield_at[NNB__LANES_MAX]; /* when the one on a lane is to ask nnb__policy_yield; NNB__NEVER */
	uint64_t free;                     /* lanes, a bit each */
	uint32_t waiting;                  /* jobs */
	uint64_t arrivals;
	uint64_t accounted; /* until then */
};

/* @lanes: 1 to NNB__LANES_MAX. NNB_POLICY_NATIVE decides nothing and has no business here. */
void nnb__policy_init(struct nnb__policy *p, enum nnb_policy kind, enum nnb_preempt preempt, uint32_t lanes);

/* Must the next nnb__policy_ready (and with @leave the next nnb__policy_leave) be told the time? */
static inline bool nnb__policy_wants_time(const struct nnb__policy *p, bool leave)
{
	return p->waiting || (!leave && !p->free);
}

/* @job is ready. True: it is on job->lane. Otherwise it waits. */
bool nnb__policy_ready(struct nnb__policy *p, struct nnb__policy_job *job, uint64_t now);

/*
 * The job on @lane leaves it: because it is done, or with @again to make room and be ready to go on. Who is on the lane
 * now (perhaps the same), or NULL: nobody waits.
 */
struct nnb__policy_job *nnb__policy_leave(struct nnb__policy *p, int lane, bool again, uint64_t now);

/* @job, which waits, waits no more. */
void nnb__policy_cancel(struct nnb__policy *p, struct nnb__policy_job *job, uint64_t now);

/* Its yield_at has come: is the job on @lane to leave, with @again? If not, yield_at has moved. */
bool nnb__policy_yield(struct nnb__policy *p, int lane, uint64_t now);

/* For how long @job, which is not ready yet, would wait at least: as far as can be told, and never too much. */
uint64_t nnb__policy_wait(const struct nnb__policy *p, const struct nnb__policy_job *job, uint64_t now);

/* Account for the time until now, so that apps' figures are up to date. */
void nnb__policy_account(struct nnb__policy *p, uint64_t now);

#endif
