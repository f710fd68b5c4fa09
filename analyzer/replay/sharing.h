/*
 * sharing.h -- what recorded arrivals would have had under ideal fair sharing: docs/figures.md, "Verdicts".
 *
 * Each execution needs a lane for as long as it had one, with the hand-overs to it; who has which lane is decided by the service's policy
 * `fair`, on as many lanes. So only the order differs: a machine that was busy slows both.
 * ARRIVALS  An execution is ready when it was. But one that followed the one before it in its stream sooner than that one took is taken
 *           to come of its answer: it follows as soon as it did. So a thread that always has one under way has one, and not more or fewer.
 * PARTS     A recording is played in parts: up to a time when none was ready, or after so many executions. Each begins with empty lanes.
 * STEPS     An execution can leave its lane between two steps. A step is as long as the longest of its model; longer by as much as
 *           the run was longer than usual; and the time for which it was on no cpu is one stretch, in the middle.
 * GIVEN UP  What was given up while it waited, or in the midst of its run, needs what it had: what else it would have taken is not known.
 * CONCURRENCY  None: a replay is its caller's.
 */
#ifndef BSA_REPLAY_SHARING_H
#define BSA_REPLAY_SHARING_H

#include <stdbool.h>
#include <stdint.h>

/* Times in ns on any one clock; lengths in ns. */
struct bsa_sharing_call {
	uint64_t ready, response; /* response: from then until it left its last lane, or was given up */
	uint64_t hand, run, off;  /* handed its lanes; on lanes, of which on no cpu */
	uint64_t deadline;        /* UINT64_MAX: none */
	uint64_t step, usual;     /* of its model: the longest step, and a usual run; 0: unknown */
	uint64_t stream;          /* any number that those of one stream have */
	uint32_t app, priority;
	bool asked;    /* its app is judged by it */
	bool answered; /* and so is its response */
};

struct bsa_sharing_app {
	uint64_t n; /* answered */
	double mean_ns, ideal_mean_ns;
	uint64_t p95_ns, ideal_p95_ns;   /* nearest rank; of more than 65536, of every second, fourth ... */
	uint64_t work_ns, ideal_work_ns; /* for so long an execution of it was ready or on a lane */
	uint64_t received_ns;            /* of lanes */
	uint64_t played;                 /* executions, asked for or not */
};

struct bsa_sharing {
	uint32_t lanes, preempt; /* preempt: a number of the event contract */
	uint32_t n_apps;
	/* The next one to be ready: they come in that order. 1: there is one; 0: no more; below 0: failed. */
	int (*next)(void *arg, struct bsa_sharing_call *ret);
	void *arg;
};

enum { BSA_SHARING_DONE, BSA_SHARING_TOO_MANY = 1, BSA_SHARING_NO_MEMORY = -1, BSA_SHARING_FAILED = -2 };

/*
 * Play all of it. @ret has n_apps, which become what came of each. TOO_MANY: more executions than are played were ready at a time;
 * FAILED: next did.
 */
int bsa_sharing_run(const struct bsa_sharing *sharing, struct bsa_sharing_app *ret);

#endif
