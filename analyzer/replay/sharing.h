/*
 * sharing.h -- plays recorded arrivals under ideal fair sharing: docs/figures.md, "Verdicts".
 *
 * Each execution needs a lane for the lane time that it had, with its hand-overs. The service's policy `fair`
 * decides which execution gets which lane, on the same number of lanes. So only the order differs; a machine
 * that was busy slows both.
 * ARRIVALS  The executions of a stream are those of its threads: of a burst, one; of the calls of a connection, some.
 *           Of the executions that ended before an execution was ready, and that no other execution follows yet, it
 *           follows the one that ended last. Such a chain is taken for a thread. An execution that can follow no
 *           other one begins the chain of another thread, at the recorded time.
 *           An execution is ready at its recorded time. But if it became ready after its predecessor in the
 *           chain, within a shorter time than the predecessor took, the replay assumes that the same thread
 *           submitted it after the answer: then it follows the answer at the recorded distance. So a thread
 *           that always has one execution under way has one, not more or fewer. Not so in a chain whose
 *           executions come at distances from each other that vary no more than those from the answers: there
 *           a late answer proves nothing, and the execution that follows it came into the same stall.
 * PARTS     A recording is played in parts, each up to a time when no execution was ready, or of a limited
 *           number of executions. Each part begins with empty lanes.
 * STEPS     An execution can leave its lane between two steps. A step is as long as the caller sets, and
 *           longer in proportion if the run was longer than usual. The time without a CPU comes in stretches
 *           that no step ends, and so do hand-overs after the first.
 * GIVEN UP  An execution that was refused or given up for its deadline needs a usual run, or the lane time
 *           that it had, whichever is longer. One that was refused before it was ready takes part from then
 *           on, unless its thread still waits for the answer before in the replay: then that thread would not
 *           have asked. It has no response and no work, as recorded and in the replay.
 * DEADLINES The replay gives up what the service would: an execution that was not answered, and in the replay
 *           is still waiting or on a lane at its deadline, leaves by the service's rules. One that was
 *           refused, and needs longer than it had, is refused again and takes no lane: so executions that no
 *           service can finish in time do not slow the others. What was answered is answered in the replay,
 *           however late. Which of them would have been off their last lane by their deadlines depends on
 *           lane times that are unknown, so a part in which some were not, as recorded or in the replay, is
 *           replayed twice more: with the least that each may have needed, and with the most. With the least the
 *           time without a CPU is spread over all of the run: when it was is not known, and what was asked for
 *           meanwhile, by threads of a machine that had no CPU for them either, comes at other times in the replay.
 *           What is in time in all replays, with a quarter to spare, would have been; what is late with the least
 *           would not.
 * STALLED   An execution that was stalled was off its lane, and wanted none: fair sharing makes that no
 *           shorter. The replay leaves that time out of its response, and takes it from the time that it has until
 *           its deadline: with the least lane time, only the time in which it certainly wanted no lane, and otherwise
 *           the wait after that, too. One that was given up while it was stalled needs the lane time that it had, and
 *           is never certainly in time: how long the stall would have gone on is not known.
 * LOOKED AT One that was given up after its deadline did not look at its clock before, as where it slept: nor does it
 *           in the replay.
 * WAITED    What missed its deadline, and did not wait for held lanes for as long as it was late, nor was refused, is
 *           not certainly in time: it would have been late on a lane of its own.
 * ALONE     Nor is what its app would have missed under the recorded policy, too, if there had been no other app: then
 *           another order within the app is what met it, and no other app's share.
 * LACKING   A thread that asked more than once, and has all its answers sooner than in the recording, would have
 *           asked for more. What came before it ended there is not certainly in time: the replay lacks that load.
 * REFUSED   How long an execution that was refused would have taken is an estimate. So a part in which one
 *           takes a lane is replayed without all that was refused, too.
 * CONCURRENCY  None: a replay belongs to its caller.
 */
#ifndef BSA_REPLAY_SHARING_H
#define BSA_REPLAY_SHARING_H

#include <stdbool.h>
#include <stdint.h>

/* Times in ns on any one clock; lengths in ns. */
struct bsa_sharing_call {
	uint64_t ready, response; /* response: from ready until it left its last lane, or was given up */
	uint64_t hand, run, off;  /* times: of hand-overs; on lanes; and of that, without a CPU */
	uint64_t hand_most;       /* the longest hand-over */
	uint64_t waited;          /* for lanes that were held, by whomever */
	/* off its lanes, and no part of the response: while it was stalled; and with its waits for a lane after that */
	uint64_t stalled, stalled_most;
	uint32_t n_hands;
	uint64_t deadline;    /* UINT64_MAX: no deadline */
	uint64_t step, usual; /* for its model: how often it can leave its lane, and the usual run; 0: unknown */
	uint64_t need_least,
		/* if it was refused or given up: bounds of the lane time that it needed; need_most 0: unknown */
		need_most;
	uint64_t stream; /* a number that identifies the stream */
	uint32_t app, priority;
	bool given_up;           /* for its deadline: it needs a usual run, or what it had, whichever is longer */
	bool refused;            /* given up before it was ready; @ready: when that was decided */
	bool stalled_to_its_end; /* given up while it was stalled */
	bool asked;              /* the verdict on its app includes it */
	bool answered;           /* the execution and its response are complete */
	bool left;               /* so are they, but the app's call had failed by then, after the deadline */
};

struct bsa_sharing_app {
	uint64_t n; /* answered */
	double mean_ns, ideal_mean_ns;
	uint64_t p95_ns, ideal_p95_ns;   /* nearest rank; of more than 65536, of every second, fourth ... */
	uint64_t p95_least_ns;           /* lower confidence bound of p95_ns, 99 %; 0: of a single execution */
	uint64_t work_ns, ideal_work_ns; /* for so long an execution of it was ready or on a lane */
	uint64_t received_ns;            /* lane time */
	/* executions that were refused take lanes in the replay; if they took none, ideal would be: */
	bool refused_runs;
	double ideal_mean_without_ns;
	uint64_t ideal_p95_without_ns, ideal_work_without_ns;
	/* executions with a deadline that were answered, refused or given up. Of them, off their last lane in
	 * time: */
	uint64_t due;
	uint64_t met;                             /* as recorded */
	uint64_t ideal_met_least, ideal_met_most; /* in the replay */
	uint64_t played;                          /* executions, asked for or not */
};

struct bsa_sharing {
	uint32_t lanes, policy, preempt, deadlines; /* as recorded; numbers of the event contract */
	uint32_t n_apps;
	uint64_t stall; /* the time without a CPU comes in stretches no longer than this; 0: in one stretch */
	/* The next one to be ready: they come in that order. 1: there is one; 0: no more; below 0: failed. */
	int (*next)(void *arg, struct bsa_sharing_call *ret);
	void *arg;
};

enum { BSA_SHARING_DONE, BSA_SHARING_TOO_MANY = 1, BSA_SHARING_NO_MEMORY = -1, BSA_SHARING_FAILED = -2 };

/*
 * Play all of it. @ret has n_apps, which become what came of each. TOO_MANY: more executions than are played
 * were ready at a time;
 * FAILED: next did.
 */
int bsa_sharing_run(const struct bsa_sharing *sharing, struct bsa_sharing_app *ret);

#endif
