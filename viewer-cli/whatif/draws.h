/*
 * draws.h -- a recording, replayed: as it was, or with changes; with what its own figures leave to
 * chance drawn from a seed.
 *
 * The same seed draws the same for a recording and for what is changed of it, so that two replays
 * differ by the change alone.
 */
#ifndef BSV_WHATIF_DRAWS_H
#define BSV_WHATIF_DRAWS_H

#include "whatif/noise.h"
#include "whatif/past.h"

/* Changes to the calls of a group. No change: all 0, but rate and speed 1 and budget BSV_UNCHANGED. */
#define BSV_UNCHANGED (UINT64_MAX - 1)

#define BSV_LEAST_RUN_NS 1000 /* no changed run is shorter */

struct bsv_group_change {
	bool without;
	int priority;        /* from 1; 0: as it was */
	uint64_t budget_ns;  /* BSA_REPLAY_NEVER: no deadline */
	double speed, rate;  /* factors of speed and of the number of calls */
	int64_t run_ns;      /* added to each run */
	uint64_t earlier_ns; /* submitted so much earlier */
};

enum { BSV_SEEDS = 11 /* seeds are below it; a prime, so that over all of them each model gets each speed once */ };

struct bsv_whatif_change {
	struct bsa_replay_rules rules;
	uint64_t step_ns; /* the longest there is between two checkpoints; 0: as it was */
	struct bsv_group_change *groups;
};

struct bsv_group_figures {
	uint64_t n, missed, due;          /* due: calls with a deadline */
	uint64_t p50_ns, p99_ns, mean_ns; /* for calls that were served; BSA_REPLAY_NEVER: no call was */
	uint64_t served, lane_ns;
	double waited_ns; /* by all, in all; who was not served waited until its deadline, at least */
};

/*
 * With @seed, a thread of which a single call was recorded submits no other; otherwise it submits the next one when
 * it has its answer.
 */
bool bsv_draw_is_silent(uint64_t seed);

/*
 * One replay. @change NULL: as recorded. @seed 0 draws nothing: each call runs as long as it did;
 * @seed below BSV_SEEDS. @ret has room for all groups. False: no memory.
 */
bool bsv_draw(const struct bsv_past *past, const struct bsv_whatif_change *change, uint64_t seed,
              struct bsv_group_figures *ret);

/*
 * The same, and how far its figures depend on the part of the time that was recorded. *ret_noise is
 * for bsv_noise_fini in any case.
 */
bool bsv_draw_noise(const struct bsv_past *past, const struct bsv_whatif_change *change, uint64_t seed,
                    struct bsv_group_figures *ret, struct bsv_noise *ret_noise);

/* The same figures of the recording itself; *ret_noise, unless NULL, as bsv_draw_noise fills it. */
bool bsv_figures_recorded(const struct bsv_past *past, struct bsv_group_figures *ret, struct bsv_noise *ret_noise);

#endif
