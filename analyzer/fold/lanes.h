/*
 * lanes.h -- the known history of a lane: its holder, and its former holders as far back as a waiting
 * execution needs them.
 */
#ifndef BSA_FOLD_LANES_H
#define BSA_FOLD_LANES_H

#include "fold/facts.h"

#include <stddef.h>

struct bsa_device;
struct bsa_scheduled;
struct bsa_tenant;

enum {
	BSA_LANES_MAX = 64,
	BSA_HISTORY_OF_LANE = 1 << 18, /* limit of the kept stretches of one lane */
	BSA_HISTORY_OF_ALL = 1 << 20,  /* limit for all lanes together */
	BSA_IDLE_PROVES_NS = 10000000, /* a lane idle for so long proves that no execution is ready, */
	/* or, if hand-overs were measured, a lane that is idle so much longer than four times the longest
	 * hand-over */
	BSA_IDLE_SLACK_NS = 1000000,
	BSA_HISTORY_OF_A_WAIT = 1 << 17 /* limit of the stretches of one wait: the rest of the wait is unknown */
};

/* A stretch of a lane with one holder. @tenant NULL: no holder, or an unknown one. */
struct bsa_stretch {
	uint64_t began, ended;
	uint64_t id, step_ns;
	struct bsa_tenant *tenant;
	uint8_t level, occupancy; /* enum bsa_occupancy */
	bool hogging;
};

/* An execution that was refused. */
struct bsa_refusal {
	struct bsa_refused told;
	/* a lane that seemed idle at told.queue_free, or else at told.lane_free, and may prove not to have been;
	 * otherwise BSA_LANE_NONE */
	uint8_t idle_lane;
	bool all_held; /* no lane was free at the refusal */
};

/* In the order of their times. */
struct bsa_refusals {
	struct bsa_refusal *all; /* owned */
	size_t n, room;
};

struct bsa_lane {
	struct bsa_scheduled *holder; /* borrowed; NULL: none, or unknown */
	uint64_t since;               /* begin of this holder's time, or of the time without a holder */
	/*
	 * heard: latest end of an execution that was last on this lane, but not known to be its holder.
	 * heard_id: the execution that certainly held the lane until that end; 0: none, or several may have.
	 */
	uint64_t heard, heard_id;
	uint64_t known_from;    /* before this time nothing is known; BSA_NEVER: nothing is known at all */
	uint64_t dropped_until; /* end of the last stretch that was dropped because no wait needed it */
	bool doubtful;          /* the time since @since is unknown */
	bool hogging;           /* its holder had received more than its share when it entered */
	bool truncated;         /* stretches that a wait may need were forgotten, for want of room */
	bool over;              /* the recording is over: report no facts from now on */
	/* executions that would have had the lane, if it proves to have been idle since its last step */
	struct bsa_refusals unproven;
	bool claimed; /* one of the device's refusals, too, has it as the lane that was free */

	struct bsa_stretch *ring; /* owned; a power of 2 */
	size_t room, first, n;
};

void bsa_lane_fini(struct bsa_device *d, struct bsa_lane *l);

/* The lane, unknown so far, is idle at @at. */
void bsa_lane_begin(const struct bsa_device *d, struct bsa_lane *l, uint64_t at);

/* @x holds the lane, which is free, from @at on. */
void bsa_lane_enter(struct bsa_device *d, struct bsa_lane *l, struct bsa_scheduled *x, uint64_t at, bool hogging);

/* @x ended at @at, and was last on this lane; @certain: it held the lane until then. */
void bsa_lane_end_heard(const struct bsa_device *d, struct bsa_lane *l, const struct bsa_scheduled *x, uint64_t at,
                        bool certain);

/*
 * The holder leaves the lane; @gone: it may have left earlier, and another execution may hold the lane,
 * unless the holder is @certain to have held it until @at. Returns whether the stretch was certain.
 */
bool bsa_lane_leave(struct bsa_device *d, struct bsa_lane *l, uint64_t at, bool gone, bool certain);

/*
 * The lane's holder is unknown from its last step until @at. Returns the former holder, if there was one.
 * From @at on the lane is free; or, if not @freed, still unknown. @last: the execution that held the lane at
 * @at, and leaves it; NULL: unknown.
 */
struct bsa_scheduled *bsa_lane_doubt(struct bsa_device *d, struct bsa_lane *l, uint64_t at, bool freed,
                                     const struct bsa_scheduled *last);

/*
 * The holder left the lane before @at, at a time that a hole hides, and another execution enters. Returns the
 * former holder.
 */
struct bsa_scheduled *bsa_lane_vacate(struct bsa_device *d, struct bsa_lane *l, uint64_t at);

/*
 * For an execution that no event has mentioned since a hole that ended at @hole, and that may still be ready
 * at @at: the time until which it may have been ready, because a service does not leave a lane idle for long
 * while an execution is ready.
 */
uint64_t bsa_lanes_ready_until(const struct bsa_device *d, uint64_t hole, uint64_t at);

/*
 * The recording ends at @at, or in a hole that begins at @at or before: report the time for which the lane's holder
 * is unknown, if it is. @unsummed: an execution without any event may be on the lane.
 */
void bsa_lane_end(struct bsa_device *d, struct bsa_lane *l, uint64_t at, bool unsummed);

/*
 * A wait ended at @at. If the lane's holder may have left the lane without a step, the wait's rows do not have the
 * holder: report that it may have held the lane until @at. A later step may show that it did, and no row would.
 */
void bsa_lane_report_may_be_gone(const struct bsa_device *d, const struct bsa_lane *l, uint64_t at);

/* The time before the present holder, or before the present time without one, is unknown. */
void bsa_lane_doubt_past(struct bsa_device *d, struct bsa_lane *l);

/* Whether the lane is certainly idle at @at. */
bool bsa_lane_is_idle(const struct bsa_device *d, const struct bsa_lane *l, uint64_t at);

/* Whether the lane's holder at @at is certain. */
bool bsa_lane_is_held(const struct bsa_device *d, const struct bsa_lane *l, uint64_t at);

/* Set in_history of all tenants in the lane's history: a tenant must not be dropped while the history points to it. */
void bsa_lane_mark_history(const struct bsa_lane *l, bool in_history);

/* Iterates over the stretches from @from to @to, as far as they are known now. */
struct bsa_lane_walk {
	const struct bsa_device *d;
	const struct bsa_lane *l;
	uint64_t at, to;
	uint64_t known; /* before this time the history is unknown */
	size_t next;    /* index in the history */
	bool truncated; /* a part of the time is unknown only for want of room */
};

struct bsa_lane_walk bsa_lane_walk(const struct bsa_device *d, const struct bsa_lane *l, uint64_t from, uint64_t to);

/* The next stretch, never of length 0; the stretches have no gaps between them. False: the end. */
bool bsa_lane_next(struct bsa_lane_walk *w, struct bsa_stretch *ret);

#endif
