/*
 * replay.h -- a service that is played: calls come, the service's own policy decides, and a clock of its own goes on.
 *
 * Who gets a lane, who makes room, who is admitted and who is given up is asked of runtime/policy, which the
 * service asks. Here is only what happens in between: time. It knows no database, draws nothing, and plays
 * the same for the same calls.
 * MODEL     A call is submitted, looked at (admission) after send_ns, and asks for a lane ready_ns later. It
 *           runs begin_ns after it had a free lane, or wake_ns, or the time that the source gives, after it
 *           was handed one. It looks at the clock and at the policy between two steps, never within one,
 *           unless the source has how long it takes to stop. It leaves its lane give_ns after its end, and is
 *           answered answer_ns after its end, or fail_ns if it was refused or given up.
 * TIES      Of what happens at the same time, what was decided on first happens first; lanes come last.
 * CONCURRENCY  None: a replay is its caller's.
 */
#ifndef BSA_REPLAY_REPLAY_H
#define BSA_REPLAY_REPLAY_H

#include <stdbool.h>
#include <stdint.h>

#define BSA_REPLAY_NEVER UINT64_MAX

enum { BSA_REPLAY_LANES_MAX = 64 };

/* How a call gets a lane that another call leaves. */
enum bsa_replay_hand {
	BSA_REPLAY_HAND_ENDED,  /* the other call has ended */
	BSA_REPLAY_HAND_POLLED, /* the other call made room for a call that waits no longer than its thread polls */
	BSA_REPLAY_HAND_SLEPT,  /* the other call made room for a call whose thread sleeps, and that never ran */
	BSA_REPLAY_HAND_BACK,   /* the other call made room for a call that had made room itself */
	BSA_REPLAY_HANDS,
	BSA_REPLAY_HAND_NONE = BSA_REPLAY_HANDS /* the lane was free */
};

/* As in the database: numbers of the event contract. */
struct bsa_replay_rules {
	uint32_t policy, preempt, deadlines, lanes;
};

/* The service's knowledge of a model when the replay begins. */
struct bsa_replay_model {
	uint64_t floor_ns, estimate_ns; /* 0: not known */
	bool confirmed, fixed;          /* as in policy/estimate.h */
};

struct bsa_replay_call {
	uint64_t at, deadline; /* submitted; BSA_REPLAY_NEVER: no deadline */
	uint64_t send_ns, ready_ns, begin_ns, wake_ns, give_ns, answer_ns, fail_ns;
	uint64_t run_ns, step_ns; /* on the lane; between two checkpoints, 0 if it has no checkpoints */
	/* lane time that the service expected it to take, for a replay of what was recorded; 0: unknown */
	uint64_t least_ns;
	const uint64_t *steps; /* borrowed until it is answered; n_steps of them make run_ns. NULL: all are step_ns */
	uint32_t n_steps;
	uint32_t app, model, priority, chain;
	uint32_t tag, place, nth; /* the source's */
	bool apart;               /* the next call of its chain does not wait for its answer */
	bool stays;               /* the call may not be made to start over */
	bool advised; /* the call is neither refused nor given up for its deadline, whatever the rules are */
};

enum bsa_replay_fate { BSA_REPLAY_ANSWERED, BSA_REPLAY_REFUSED, BSA_REPLAY_GAVE_UP, BSA_REPLAY_ABORTED };

struct bsa_replay_outcome {
	enum bsa_replay_fate fate;
	uint64_t ready, began, ended, answered; /* BSA_REPLAY_NEVER: it did not come to that */
	uint32_t preemptions;
	bool missed; /* answered after its deadline, or not served for it */
};

struct bsa_replay_app {
	double received_ns, entitled_ns, max_lag_ns; /* as the policy accounts for them */
};

/* The source of calls, and the receiver of their outcomes. */
struct bsa_replay_source {
	/* Returns the next call of @chain, not before @now. False: no more calls. */
	bool (*next)(void *arg, uint32_t chain, uint64_t now, struct bsa_replay_call *ret);
	void (*done)(void *arg, const struct bsa_replay_call *call, const struct bsa_replay_outcome *outcome);
	/* The call held @lane. NULL: not wanted. */
	void (*held)(void *arg, const struct bsa_replay_call *call, uint32_t lane, uint64_t began, uint64_t ended);
	/* How long after @now the call runs, which is handed a lane for the @times-th time, from 0. NULL: wake_ns. */
	uint64_t (*hand)(void *arg, const struct bsa_replay_call *call, enum bsa_replay_hand how, uint32_t times,
	                 uint64_t now);
	/*
	 * How long after it is asked to make room the call stops; asked for each time on a lane. NULL: it
	 * stops at its next checkpoint.
	 */
	uint64_t (*stop)(void *arg, const struct bsa_replay_call *call, uint32_t times, uint64_t now);
	/* How long after its end the call is answered, which came to its lane like this. NULL: answer_ns. */
	uint64_t (*answer)(void *arg, const struct bsa_replay_call *call, enum bsa_replay_hand how);
	void *arg;
};

struct bsa_replay {
	struct bsa_replay_rules rules; /* not native, and 1 to BSA_REPLAY_LANES_MAX lanes */
	uint32_t n_apps, n_models, n_chains;
	/* each call has the service's estimate of it; otherwise the replay learns from the runs of each model, as the
	 * service does */
	bool recorded;
	const struct bsa_replay_model *models; /* n_models; recorded: of no interest */
	struct bsa_replay_app *ret_apps;       /* n_apps; NULL: of no interest */
};

/*
 * @room: the other call made room. @first: this call never ran; it waited for @waited until the other call
 * left the lane.
 */
enum bsa_replay_hand bsa_replay_hand(bool room, bool first, uint64_t waited);

/* False: there is no memory for it. */
bool bsa_replay_run(const struct bsa_replay *replay, const struct bsa_replay_source *source);

#endif
