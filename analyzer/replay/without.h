/*
 * without.h -- would a missed deadline have been met without a cause, an execution, an app? Recorded
 * executions are replayed without it.
 *
 * WINDOW      The replay begins at an instant at which all lanes were idle and no execution waited. No policy
 *             but fair depends on earlier events. Fair does not either, if all lanes were idle for
 *             BSA_WITHOUT_PAUSE_NS before the next call, or no execution has waited since such a pause. Or,
 *             under other policies than fair, with calls that were there before: they stay as they were, so
 *             that an app is then only reported to have cost the deadline. The window ends at the horizon.
 * WAYS        A recording leaves things open: whether the next call of a stream comes at its time or a while
 *             after the answer before, where an execution can leave its lane, how long the rest of an
 *             execution would have taken that was given up. Each way to fill that in is a world of its own,
 *             and so are some in which each stream and each call is drawn by itself. The replay without any
 *             change must miss the deadline in it, as recorded. The largest error of that replay, over the
 *             executions up to the miss, is the margin of the way; ways with far larger errors than the best
 *             are dropped. All ways that are left must agree, each by more than its margin; otherwise the
 *             answer is undecided. Under fifo with one lane bounds.h has how far the times of a way can be
 *             wrong.
 * HAND-OVERS  A call that waited slept, and was woken to run; one that finds a lane idle need not sleep. Where a call
 *             of the replay finds a lane idle that it waited for as recorded, its hand-over is as recorded, or
 *             shorter: both must agree. The hand-over of a call that never had a lane has bounds only, as the
 *             length of a run that was given up has.
 * NOT IN IT   What an execution takes is as recorded: a machine that is less busy without an app makes no run
 *             shorter. What signals a fence is not known: an execution that waited for one takes part in no
 *             window.
 * CONCURRENCY None: a world is its caller's.
 */
#ifndef BSA_REPLAY_WITHOUT_H
#define BSA_REPLAY_WITHOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BSA_WITHOUT_UNKNOWN UINT64_MAX
#define BSA_WITHOUT_PAUSE_NS 1000000 /* policy.h: after such a pause of all apps, none is owed anything */

enum { BSA_WITHOUT_CALLS_MOST = 4096 /* limit of a window */ };

/* Times in ns on any one clock; lengths in ns, none of them longer than 2^56. */
struct bsa_without_call {
	uint64_t id, stream; /* stream: any number that the calls of one stream have; they are of one app */
	uint64_t submitted;
	uint64_t send, ready; /* from submitted until admission looks at it; from there until it asks for a lane */
	uint64_t hand;        /* from when it is given a lane until it runs there */
	/* by how much the hand-over can be shorter where it does not wait: as recorded, it waited and slept */
	uint64_t hand_less;
	/* by how much it can be longer: the call never had a lane, and hand is the least that it may be; and the most
	 * that it may be where the call finds a lane idle */
	uint64_t hand_more, idle_most;
	/* time on lanes, least and most: they differ where the time that it would have taken is not known. Of another
	 * than the victim, BSA_WITHOUT_UNKNOWN as run_most: there is no bound */
	uint64_t run, run_most;
	uint64_t ran; /* time that it ran until it was given up; 0: it was not given up, or the time is unknown */
	uint64_t answer, answer_most, fail; /* from its end to its answer; fail: of one that was given up */
	uint64_t step;                      /* the longest between two checkpoints; 0 if it has no checkpoints */
	uint64_t deadline;                  /* BSA_WITHOUT_UNKNOWN: none */
	uint64_t least;                     /* the service's estimate of the least lane time; 0: unknown */
	uint64_t ended, answered;           /* as recorded; ended BSA_WITHOUT_UNKNOWN: it was under way to the end */
	uint32_t app, model, priority;
	bool served;  /* the call was answered with a result */
	bool waits;   /* the call is not submitted before the previous one in its stream is answered */
	bool refused; /* the call was refused when admission looked at it */
	bool waited;  /* the call was given up while it waited for a lane, before it ran */
	/* a lane may have been the call's, and idle, until another call got it, or until it was given up: hand may be
	 * shorter than what that hand-over would have been */
	bool absent;
	/* the call was under way when the replay begins, and is not taken away: if it ran, the run is the part that
	 * was left */
	bool before;
};

struct bsa_without_world {
	uint32_t policy, preempt, deadlines, lanes; /* numbers of the event contract; not native */
	uint32_t n_apps;
	bool one_model; /* all calls of a stream, those behind the horizon too, are of one model */
	/* borrowed until the world is freed; in the order of submitted + send + ready */
	const struct bsa_without_call *calls;
	size_t n;                 /* 1 to BSA_WITHOUT_CALLS_MOST */
	size_t victim;            /* index of the call that missed its deadline */
	uint64_t answered_before; /* the latest answer of a call of its stream before the window; 0: no answer */
	uint64_t begins;          /* all lanes were idle then, or calls were there before; */
	uint64_t horizon; /* calls that became ready later are not included; BSA_WITHOUT_UNKNOWN: all are included */
};

/* The calls that are taken away from a replay. All zeroes: nothing. */
struct bsa_without_change {
	const uint64_t *executions; /* borrowed for the call: ids */
	size_t n_executions;
	bool without_app, without_model; /* calls other than the victim: all of that app; or only those of the model */
	uint32_t app, model;
	/*
	 * Reductions of the victim's times: before from submission until ready, later of its deadline. Below
	 * 0 is an increase.
	 */
	int64_t before, hand, run, after, later;
	uint64_t earlier; /* submitted so much earlier, with the same deadline */
};

struct bsa_without;

/*
 * Replays the window as it was, in each way. *ret is owned by the caller; NULL: there is no way in which the
 * replay misses the deadline as recorded, so that nothing can be decided. False: no memory, and *ret is
 * untouched.
 */
bool bsa_without_new(struct bsa_without **ret, const struct bsa_without_world *world);

/* NULL is fine. Returns NULL. */
struct bsa_without *bsa_without_free(struct bsa_without *w);

/* *ret: 1: the deadline would have been met; 0: it would have been missed; -1: undecided. False: no memory. */
bool bsa_without_ask(struct bsa_without *w, const struct bsa_without_change *change, int *ret);

/* How many calls were replayed so far. */
uint64_t bsa_without_played(const struct bsa_without *w);

#endif
