/*
 * lanes.h -- what is known of a lane: who holds it, and who held it for as long as somebody who waits can ask.
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
	BSA_HISTORY_MAX = 1 << 18,     /* stretches of one lane */
	BSA_HISTORY_ALL = 1 << 20,     /* and of all */
	BSA_IDLE_PROVES_NS = 10000000, /* a lane that is idle for so long proves that none is ready, */
	BSA_IDLE_SLACK_NS =
		1000000, /* or, where hand-overs were measured, one idle so much longer than four of the longest */
	BSA_HISTORY_OF_A_WAIT = 1 << 17 /* that one wait can consist of: the rest of it is unknown */
};

/* Who holds: nobody known if @tenant is NULL. */
struct bsa_stretch {
	uint64_t began, ended;
	uint64_t id, step_ns;
	struct bsa_tenant *tenant;
	uint8_t level, occupancy; /* enum bsa_occupancy */
	bool hogging;
};

struct bsa_lane {
	struct bsa_scheduled *holder; /* borrowed; NULL: nobody, or nobody known */
	uint64_t since;               /* this holder, or nobody */
	uint64_t heard; /* the last time that one ended which was last on this lane, and was not known to be there, */
	uint64_t heard_id; /* and which had it to that time for certain; 0: none did, or several may have */
	uint64_t known;    /* of the time before nothing is known; BSA_NEVER: of no time */
	uint64_t kept;     /* of the time before the history has only what a wait in hand can ask for */
	bool doubtful;     /* what has been since @since is unknown */
	bool hogging, cut; /* cut: there was more to know once */
	bool over;         /* the recording is: what becomes of it now is no fact */

	struct bsa_stretch *ring; /* owned; a power of 2 */
	size_t room, first, n;
};

void bsa_lane_fini(struct bsa_lane *l, struct bsa_device *d);

/* The lane, of which nothing is known, is idle at @at. */
void bsa_lane_begin(struct bsa_lane *l, uint64_t at);

/* @x holds the lane, which nobody has, from @at on. */
void bsa_lane_enter(struct bsa_device *d, struct bsa_lane *l, struct bsa_scheduled *x, uint64_t at, bool hogging);

/* One ended at @at that was last on this lane; @certain: it had the lane until then. */
void bsa_lane_heard(const struct bsa_device *d, struct bsa_lane *l, const struct bsa_scheduled *x, uint64_t at,
                    bool certain);

/*
 * Its holder leaves it; @gone: perhaps it had before, and the lane is somebody else's, unless the holder is @certain to have had it until
 * then. Was the stretch certain?
 */
bool bsa_lane_leave(struct bsa_device *d, struct bsa_lane *l, uint64_t at, bool gone, bool certain);

/*
 * Nobody knows who held it, if anybody, from the last step there until @at. Somebody who did is returned. From then on it
 * is free, or, if not @freed, unknown still. @last: it had the lane at @at, and leaves it; NULL: nobody knows who did.
 */
struct bsa_scheduled *bsa_lane_doubt(struct bsa_device *d, struct bsa_lane *l, uint64_t at, bool freed,
                                     const struct bsa_scheduled *last);

/* The holder left the lane before @at, and a hole hides when: another one enters. Returns the former holder. */
struct bsa_scheduled *bsa_lane_vacate(struct bsa_device *d, struct bsa_lane *l, uint64_t at);

/*
 * Until when one may have been ready that has not been seen since a hole that ended at @hole, if it was ready at @at still: a
 * service does not leave a lane idle for long while one is.
 */
uint64_t bsa_lane_proof(const struct bsa_device *d, uint64_t hole, uint64_t at);

/*
 * The recording ends at @at: tell how long the holder of the lane has been unknown, if it is. @unsummed: an execution may be on the
 * lane of which no event tells.
 */
void bsa_lane_cut(struct bsa_device *d, struct bsa_lane *l, uint64_t at, bool unsummed);

/* Nobody knows who had it before the present holder, or nobody. */
void bsa_lane_doubt_past(struct bsa_device *d, struct bsa_lane *l);

/* Is it certain that nobody has it at @at? */
bool bsa_lane_is_idle(const struct bsa_device *d, const struct bsa_lane *l, uint64_t at);

/* Is it certain who has it at @at? */
bool bsa_lane_is_held(const struct bsa_device *d, const struct bsa_lane *l, uint64_t at);

/* Goes over what was from @from to @to; what is known only as far as known to now. */
struct bsa_lane_walk {
	const struct bsa_device *d;
	const struct bsa_lane *l;
	uint64_t at, to, known;
	size_t next;
	bool cut;
};

struct bsa_lane_walk bsa_lane_walk(const struct bsa_device *d, const struct bsa_lane *l, uint64_t from, uint64_t to);

/* The next stretch, never of length 0: they tile it. False: that was all. */
bool bsa_lane_next(struct bsa_lane_walk *w, struct bsa_stretch *ret);

#endif
