/*
 * device.h -- one service as the schedule sees it: its lanes, its tenants (the apps that share them), and who waits.
 *
 * Tenants live as long as the schedule. Who waits is in a list of its tenant, one for each priority, the longest ready
 * first, so that nothing here goes through all who wait.
 */
#ifndef BSA_FOLD_DEVICE_H
#define BSA_FOLD_DEVICE_H

#include "fold/lanes.h"
#include "fold/losses.h"
#include "fold/schedule.h"

enum {
	BSA_LEVELS = 4, /* low, medium, high, and unknown */
	BSA_LEVEL_UNKNOWN = BSA_LEVELS - 1
};

typedef __int128 bsa_parts; /* of a ns, BSA_PARTS of them */

/*
 * Those of one priority that wait. How often they were bypassed is kept as differences: of @x it is the sum of pending from
 * @x to the tail. @total is that of the head.
 */
struct bsa_level {
	struct bsa_scheduled *head, *tail;
	uint32_t total;
};

/* When a tenant seemed to be backlogged last, and what its lag can have been at the end of that. */
struct bsa_shut {
	uint64_t opened, closed; /* 0: never yet */
	bsa_parts most, least;
};

struct bsa_tenant {
	struct bsa_device *device;
	struct bsa_tenant *chain;  /* in the device's table */
	struct bsa_tenant *closes; /* the next one that may not be backlogged any more */
	struct bsa_tenant *blamed; /* the next one of those that held a lane during the wait in hand */
	uint64_t blamed_ns;
	uint32_t app;

	uint32_t ready, running;                       /* cap of its share: both */
	uint32_t place;                                /* in the device's backlogged ones */
	uint32_t waits_place;                          /* in the device's waiting ones */
	bool backlogged, closing, in_window, doubtful; /* doubtful: since a loss; its lag is not known */
	bool looked;                                   /* window_lag is of this window */

	uint32_t n_waiting; /* in levels */
	struct bsa_level levels[BSA_LEVELS];
	uint32_t on[BSA_LEVELS];      /* lanes it is on */
	uint64_t last_on[BSA_LEVELS]; /* when it last left one, or 0 */

	uint64_t clock;    /* the device's, up to which the rest is right */
	uint64_t lag_from; /* its lag began, with 0 */
	uint64_t opened;   /* when it became backlogged */
	struct bsa_shut shut;
	uint64_t max_lag_at, sure_lag_at;
	bsa_parts sure_lag; /* max_lag, as of the first hole */
	bsa_parts lag_before,
		rises; /* while it is not certain who is backlogged, or has a lane: lag as counted before, and how far it can rise */
	bsa_parts equal, lag, max_lag, rate, before; /* before: the rate with one lane less */
	bsa_parts over, under, most_lag;             /* the lag may be by so much above, or below: holes */
	bsa_parts least_shut;                        /* the least of shut.least so far */
	bsa_parts entitled, window_entitled, window_lag, window_most;
	unsigned __int128 received, window_received; /* ns */
};

/* Of those that were refused and do not know yet when a lane was free for them. */
struct bsa_refusals {
	struct bsa_refused *all; /* owned */
	size_t n, room;
	size_t n_lane_free; /* for the first n_lane_free refusals, the time when a lane was free is known */
};

/* Windows since the first hole, which are told at the end: what turns up later may lower what is known of their lags. */
struct bsa_held_lags {
	struct bsa_lag *all; /* owned */
	size_t n, room;
};

struct bsa_device {
	const struct bsa_facts *facts;   /* borrowed, like the next five */
	const struct bsa_losses *losses; /* when events were lost */
	const struct bsa_losses *unsure; /* when one may have been on a lane of whom nobody tells */
	struct bsa_left_out *left;
	size_t *history;                /* stretches kept by all lanes of all devices */
	size_t *held;                   /* lags of windows kept by all devices */
	const uint64_t *began;          /* the recording */
	const bool *unsummed;           /* at its end executions may be on lanes of which no event tells, */
	const uint64_t *unsummed_since; /* or wait for lanes, since then */
	uint64_t window_ns, starvation_ns;
	uint64_t bypassed_more; /* the last time at which so many apps waited that bypasses were not counted */
	int64_t *quiet;         /* rows that may yet be told of windows in which nothing happened */

	uint16_t instance;
	uint64_t now;   /* of the last step */
	uint64_t ended; /* the recording of it, 0: at the same time as that of all */
	bool native;
	bool finding;     /* what was under way when the recording began is not all told yet */
	unsigned n_lanes; /* as was said, or at least seen */
	bool lanes_told;  /* the service said how many; otherwise an execution may be on a lane that was not seen yet */
	unsigned lanes_room;
	struct bsa_lane *lanes; /* owned */

	struct bsa_tenant **table; /* owned, and its tenants */
	size_t table_room, n_tenants;
	struct bsa_tenant *last;                             /* the one that was asked for last */
	struct bsa_tenant **backlogged, **waiting, **window; /* owned; room for all tenants each */
	size_t n_backlogged, n_waiting_tenants, n_window;
	struct bsa_tenant *closing;
	bool strangers; /* executions are ready, or on a lane, whose app is unknown */

	size_t n_waiting;                /* executions, the doubtful ones included */
	struct bsa_scheduled *doubtful;  /* waiting when events were lost: perhaps they do not any more */
	struct bsa_scheduled *on_native; /* those that have a lane which is none */
	struct bsa_refusals refusals;
	struct bsa_held_lags held_lags;

	bool in_loss, dirty;
	bool had_hole;
	uint64_t proof, proof_hole; /* from proof on, since a hole that ended at proof_hole, a lane was idle for long */
	uint64_t
		none_waited; /* since the last hole: the first time at which the service said that none waits; 0: it did not yet */
	bool handed;               /* an execution that was ready was seen to get a lane that was idle, */
	uint64_t longest_handover; /* and this is the longest that one took */
	bool haunted;              /* since a hole some may seem to be ready, or on a lane, that are not */
	uint64_t hole_began;       /* in_loss: when */
	uint32_t n_running;        /* lanes that are taken */
	uint64_t rose;             /* when somebody last had a lane */
	uint64_t counts_from;      /* nothing before the last loss's end does */
	uint64_t unseen_until;     /* somebody may have been on a lane of whom nobody knew */
	uint64_t losses_over;      /* losses up to here have been dealt with */
	uint64_t clock;            /* now, without the time of losses */
	uint64_t window_began, window_ended;
	bsa_parts equal; /* what each had so far, at times when all had the same */
};

/* NULL: no memory. */
struct bsa_tenant *bsa_device_tenant(struct bsa_device *d, uint32_t app);
void bsa_device_fini(struct bsa_device *d);

/* The lane of that number, made if need be. NULL: no memory. */
struct bsa_lane *bsa_device_lane(struct bsa_device *d, unsigned lane);

static inline bool bsa_device_lost(const struct bsa_device *d, uint64_t began, uint64_t ended)
{
	return d->losses->n && bsa_losses_touch(d->losses, began, ended);
}

static inline bool bsa_device_unsure(const struct bsa_device *d, uint64_t began, uint64_t ended)
{
	return d->unsure->n && bsa_losses_touch(d->unsure, began, ended);
}

#endif
