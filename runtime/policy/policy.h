/*
 * policy.h -- decides which execution gets a lane; nothing else.
 *
 * The caller reports events (a job is ready, a job leaves its lane, a job gives up) with their time; the policy
 * returns the job for each lane, and the time at which a running job must yield. The policy has no clock, no thread
 * and no lock, does not allocate and calls no other code, so that the analyzer can replay a recorded workload through
 * the very same code. Apps and jobs are the caller's memory.
 *
 * Times are in ns on any one clock. While nnb__policy_wants_time is false, a time may be 0.
 *
 * FAIRNESS  While a job waits, each app with a job ready or running is entitled to an equal share of the lanes, but
 *           not to more lanes than it has jobs (max-min). An app's lag is entitled minus received time since it last
 *           had no job. All policies keep these accounts. NNB_POLICY_FAIR decides by claims. An app's claim is the
 *           sum of the same differences, but at least 0 (otherwise an app that once used idle lanes would starve for
 *           it later), and at most a second. An app without a job keeps its claim, but no more than H = NNB__KEPT_NS
 *           of it: an app that executes, waits for the answer and executes again is without a job each time, and
 *           would wait for a quantum each time if its claim began at 0 again. When no app has had a job for H, all
 *           claims become 0, so that nothing earlier matters: a replay may begin there. All claims also become 0 when
 *           a job comes and no app but its own has had a job for NNB__ALONE_NS, so that the policy does not want the
 *           time for ever beside an app that never pauses; but not while that app has jobs and a lag above 0. A free
 *           lane goes to the app with the largest need: its claim a quantum from now. A running job yields at its
 *           next checkpoint once another app needs the lane a quantum more than the job's app would need it without
 *           the lane.
 * BOUND     On one lane no claim, and so no lag, exceeds H + (S + Q) (1 + 1/2 + ... + 1/(n-1)): S the longest stretch
 *           between two checkpoints, Q the quantum, n the largest number of apps with a job at the same time. For
 *           four apps this is at most 2 S + 1 ms + H = 2 S + 2 ms. As long as no claim reaches a second, a lag is no
 *           more than the claim: both change by the same, the lag starts at 0, and the claim at 0 or more. An app
 *           with jobs and a lag above 0 keeps its claim. Proof: the excess of an app is its claim minus H, but at
 *           least 0. An app that gets a job begins with an excess of 0, because it kept no more than H. Two excesses
 *           differ by no more than the claims do. Let A(k) be the mean of the k largest excesses. While one app runs
 *           for a stretch, the others gain S/n each at most. When the app began or continued, it was the neediest, or
 *           less than Q from it. If it is not among the k largest afterwards, then these and the app were k + 1
 *           before, and A(k) is at most A(k+1) + (S + Q)/(k + 1). If it is, its loss makes up for their gain, as far
 *           as its excess falls to 0: A(k) grows to (1 - 1/k)(S + Q) at most. So A(n) is at most
 *           (1 - 1/n)(S + Q), and A(1) follows as above.
 *           No policy can do much better: of n apps that arrive at once with one step each, the last one lags
 *           S (1/2 + ... + 1/n) before it gets the lane.
 *           On two lanes the excess is at most twice that. On more lanes an app that has all it can use keeps its lag
 *           under any policy, so that many short contentions may add up; its claim ends at a second. Without
 *           preemption, or with preemption by restart, a stretch is a whole execution.
 * CONCURRENCY  None: the caller orders the calls on one policy.
 */
#ifndef NNB_POLICY_POLICY_H
#define NNB_POLICY_POLICY_H

#include <stdbool.h>
#include <stdint.h>

#include "nnb/policy.h"

enum {
	NNB__LANES_MAX = 64,
	NNB__RESTARTS_MAX = 3, /* restarts of one job, before it may finish */
	NNB__NO_LANE = -1
};

#define NNB__QUANTUM_NS UINT64_C(500000)
/* The claim that an app without a job keeps at most; and how long all apps are without a job until claims become 0. */
#define NNB__KEPT_NS (2 * NNB__QUANTUM_NS)
#define NNB__CLAIM_MAX_NS 1e9
/*
 * How long one app is alone until claims become 0. Far longer than the usual interval between two jobs of an app: an
 * app with a job every 33 ms would wait for a quantum each time beside an app that never pauses.
 */
#define NNB__ALONE_NS UINT64_C(1000000000)
#define NNB__NEVER UINT64_MAX

struct nnb__policy_job {
	/* set by the caller before the job is ready, and constant until it is done */
	struct nnb__policy_app *app;
	uint32_t priority;    /* higher goes first */
	uint64_t deadline_ns; /* NNB__NEVER: none */
	uint64_t floor_ns;    /* lower bound of its lane time; 0: unknown */

	/* private to the policy */
	struct nnb__policy_job *next;
	uint64_t arrival;  /* number of its arrival, increasing */
	uint64_t since;    /* start of its wait, or of its time on the lane; 0: unknown */
	int lane;          /* NNB__NO_LANE: the job waits */
	bool begun;        /* the job has been on a lane */
	uint32_t restarts; /* restarts so far; the caller sets 0 for a new job */
};

/* All zeroes: an idle app that is owed nothing. */
struct nnb__policy_app {
	struct nnb__policy_app *next, **from; /* list of apps that are not idle */
	struct nnb__policy_job *queue;        /* waiting jobs, in their order */
	struct nnb__policy_job *at;           /* position in the queue during yield_in_order */
	uint32_t waiting, running;            /* number of jobs */
	double rate;                          /* lanes it is entitled to */
	double lag;                           /* ns */
	double claim;                         /* ns: what it is owed, for decisions; an idle app keeps it */
	uint64_t left_in;                     /* idle: the policy's pauses, when it became so */
	uint64_t alone;                       /* the policy's alones, when it was alone last */
	double received, entitled;            /* ns, total, while a job waited */
	double max_lag;                       /* ns, maximum so far */
	uint64_t preemptions, restarts;
};

struct nnb__policy {
	enum nnb_policy kind;
	enum nnb_preempt preempt;
	uint32_t lanes;
	uint64_t quantum_ns;

	struct nnb__policy_app *apps; /* apps that are not idle */
	struct nnb__policy_job *running[NNB__LANES_MAX];
	uint64_t yield_at[NNB__LANES_MAX]; /* time to call nnb__policy_yield for the lane; NNB__NEVER */
	uint64_t free;                     /* free lanes, one bit each */
	uint32_t waiting;                  /* number of jobs */
	uint64_t arrivals;
	bool claims_kept;   /* with claims: a job has waited since all claims were 0 */
	uint64_t pauses;    /* how often all claims became 0: those from before are 0 */
	uint64_t paused_at; /* no app has a job: since then */
	uint64_t alones;    /* how often another app became the only one with a job */
	uint64_t alone_at;  /* at most one app has a job: since then, no other one has had one */
	uint64_t accounted; /* the accounts are complete up to this time */
};

/*
 * @lanes: 1 to NNB__LANES_MAX. NNB_POLICY_NATIVE has no decisions: of the calls below, only nnb__policy_account is
 * allowed.
 */
void nnb__policy_init(struct nnb__policy *p, enum nnb_policy kind, enum nnb_preempt preempt, uint32_t lanes);

/* Whether the next nnb__policy_ready (or with @leave the next nnb__policy_leave) needs the time. */
static inline bool nnb__policy_wants_time(const struct nnb__policy *p, bool leave)
{
	return p->waiting || p->claims_kept || (!leave && !p->free);
}

/* @job is ready. True: it is on job->lane; false: it waits. */
bool nnb__policy_ready(struct nnb__policy *p, struct nnb__policy_job *job, uint64_t now);

/*
 * The job on @lane leaves it: because it is done, or with @again because it yields, and is ready to continue. Returns
 * the job that is on the lane now (perhaps the same one); NULL: no job waits.
 */
struct nnb__policy_job *nnb__policy_leave(struct nnb__policy *p, int lane, bool again, uint64_t now);

/*
 * The job on @lane makes no use of it yet: would another job get the lane if it were given now, at the time of the last
 * event, and this one waited too? If so, and not otherwise, nnb__policy_recall gives the lane to that one, and this one
 * waits again. Returns the job that is on the lane now; if it is the same one, nothing has changed.
 */
bool nnb__policy_regrets(const struct nnb__policy *p, int lane);
struct nnb__policy_job *nnb__policy_recall(struct nnb__policy *p, int lane, uint64_t now);

/* @job, which waits, gives up. */
void nnb__policy_cancel(struct nnb__policy *p, struct nnb__policy_job *job, uint64_t now);

/* yield_at is due: must the job on @lane leave, with @again? If not, yield_at has a new value. */
bool nnb__policy_yield(struct nnb__policy *p, int lane, uint64_t now);

/* A lower bound of the time that @job, which is not ready yet, would wait. */
uint64_t nnb__policy_wait(const struct nnb__policy *p, const struct nnb__policy_job *job, uint64_t now);

/* Account for the time until @now, so that the apps' figures are up to date. */
void nnb__policy_account(struct nnb__policy *p, uint64_t now);

#endif
