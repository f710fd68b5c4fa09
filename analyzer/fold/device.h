/*
 * device.h -- the schedule's state of one service: its lanes, its tenants (the apps that share them), and the
 * waiting executions.
 *
 * Tenants live as long as the schedule; or, with bsa_tenants.max, until there are too many: then the idle
 * ones are dropped. So a pointer to a tenant is only kept in the lists and lanes here, by the executions that
 * wait or are on a lane, and by the lanes' history. A waiting execution is in a list of its tenant, one for
 * each priority, the longest ready first, so that no operation visits all waiting executions.
 */
#ifndef BSA_FOLD_DEVICE_H
#define BSA_FOLD_DEVICE_H

#include "base/table.h"
#include "fold/lanes.h"
#include "fold/losses.h"
#include "fold/schedule.h"

enum {
	BSA_LEVELS = 4, /* low, medium, high, and unknown */
	BSA_LEVEL_UNKNOWN = BSA_LEVELS - 1,
	BSA_LEAVERS = 64 /* a power of 2 */
};

/*
 * An execution that waited beside others, and waits no more: it has a lane, or is over. A choice that was made while
 * it waited may be reported later, when the chosen one is on its lane.
 */
struct bsa_leaver {
	uint64_t id, ready_since, at; /* at: end of the wait */
	uint64_t given;               /* since when its lane was on its way to it; 0: unknown; BSA_NEVER: it got none */
	uint32_t app;
	uint8_t level;
	bool doubtful; /* perhaps it waited no more when its wait ended */
};

#define BSA_ESTIMATE_MAX (UINT64_C(1) << 40) /* a longer one counts as unknown: sums must fit */

/* The work that executions wait for, as their service estimates it. */
struct bsa_queued {
	uint64_t ns;        /* of those with an estimate */
	size_t n_estimated; /* their number */
};

typedef __int128 bsa_parts; /* a ns has BSA_PARTS of them */

/*
 * The waiting executions of one priority. Their counts of bypasses are kept as differences: the count of @x
 * is the sum of pending from @x to the tail. @total is the head's count.
 */
struct bsa_level {
	struct bsa_scheduled *head, *tail;
	uint32_t total;
};

/* The last time for which a tenant seemed to be backlogged, and the bounds of its lag at the end of it. */
struct bsa_shut {
	uint64_t opened, closed; /* 0: never yet */
	bsa_parts most, least;
};

struct bsa_tenant {
	struct bsa_entry entry; /* app */
	struct bsa_device *device;
	struct bsa_tenant *closes; /* the next tenant that may no longer be backlogged */
	struct bsa_tenant *shuts;  /* the next tenant that seemed to become idle in this loss */
	struct bsa_tenant *blamed; /* the next tenant that held a lane during the current wait */
	uint64_t blamed_ns;
	uint32_t app;

	uint32_t ready, running;                       /* their sum limits its share */
	uint32_t place;                                /* index in device.backlogged */
	uint32_t waits_place;                          /* index in device.waiting */
	bool backlogged, closing, in_window, doubtful; /* doubtful: since a loss, its lag is unknown */
	bool looked;                                   /* window_lag belongs to this window */
	bool split;                                    /* a part of this window may have been reported already */
	bool dormant;      /* it waits, and nothing was computed of it since a window began (shares.c) */
	bool shut_in_loss; /* it is in the device's list of these */
	bool in_history;   /* a lane's history has it; valid while idle tenants are dropped */

	uint32_t n_waiting; /* sum over levels */
	struct bsa_queued queued;
	struct bsa_level levels[BSA_LEVELS];
	uint32_t on[BSA_LEVELS];      /* lanes that it holds, by priority */
	uint64_t last_on[BSA_LEVELS]; /* time at which it last left a lane, or 0 */

	uint64_t clock;        /* time of the device's clock up to which the rest is computed */
	uint64_t lag_from;     /* begin of its lag, which was 0 then */
	uint64_t opened;       /* time at which it became backlogged */
	uint64_t dormant_from; /* bsa_lag_window.number of the first window that it was dormant in; may be to come */
	struct bsa_shut shut;
	uint64_t max_lag_at, sure_lag_at;
	bsa_parts sure_lag; /* max_lag at the first hole */
	bsa_parts lag_before,
		rises; /* while backlogs or holders are uncertain: the lag before that, and how far it can rise */
	bsa_parts equal, lag, max_lag, rate, before; /* before: the rate with one lane fewer */
	bsa_parts over, under, most_lag;             /* because of holes, the lag may be so much above, or below */
	bsa_parts least_shut;                        /* minimum of shut.least so far */
	bsa_parts most_dropped;                      /* limit of its most_lag before it was dropped */
	bsa_parts entitled, window_entitled, window_lag, window_most;
	unsigned __int128 received, window_received; /* ns */
};

/* Windows since the first hole, reported at the end, because later events may lower the bounds of their lags. */
struct bsa_held_lags {
	struct bsa_lag *all; /* owned */
	size_t n, room;
};

/* The number of tenants of all devices, because a trace can have any number of services. */
struct bsa_tenants {
	struct bsa_device *const *devices; /* borrowed; may be NULL each */
	size_t n_devices;
	size_t n, max;  /* max 0: idle tenants are not dropped */
	size_t drop_at; /* number of tenants at which the idle ones are dropped next */
};

struct bsa_device {
	const struct bsa_facts *facts; /* borrowed, like all pointers until bypassed_more */
	struct bsa_holes lost;         /* times of events that were lost, or may be missing */
	struct bsa_holes unsure;       /* times at which an execution without events may have been on a lane */
	struct bsa_span unstopped; /* in this time, its steps off lanes were not recorded: a hole of its own, in both */
	bool lacks_stops;          /* that goes on */
	bool stops;                /* a step off a lane, or back to one, was taken */
	bool crowded;              /* no such step was, and an execution got a lane that another one held */
	struct bsa_left_out *left;
	size_t *history; /* number of stretches kept by all lanes of all devices */
	size_t *held;    /* number of windows' lags kept by all devices */
	struct bsa_tenants *tenants;
	const uint64_t *began;          /* begin of the recording */
	const bool *lists;              /* at its begin the recording has what was under way, from LISTING to LISTED */
	const bool *unsummed;           /* when the recording ends, executions without any event may hold lanes */
	const uint64_t *unsummed_since; /* if unsummed: they may have held them since then */
	uint64_t window_ns, starvation_ns;
	uint64_t bypassed_more; /* last time at which too many apps waited to count bypasses */
	int64_t *quiet_rows;    /* number of shares that may still be reported for windows without events */

	uint16_t instance;
	uint64_t now;   /* time of the last step */
	uint64_t ended; /* end of this service's recording; 0: at the end of the whole recording */
	/* from then on the service emitted nothing, until the end, and lane time is not shared; 0: it did */
	uint64_t silent;
	bool native;
	bool summed;            /* summaries may be missing: the execution on a lane that seems idle perhaps has none */
	bool listing;           /* executions under way at the begin of the recording are not all reported yet */
	uint64_t listing_since; /* begin of that report; 0: there was none */
	bool listed; /* each execution under way at that time was reported: no hole is before the end of the report */
	unsigned n_lanes; /* as reported, or at least as seen */
	bool tells_ready; /* it emits when a stalled execution is ready again */
	bool lanes_told;  /* the service reported the number; otherwise an execution may be on a lane not seen yet */
	unsigned lanes_room;
	struct bsa_lane *lanes; /* owned */

	struct bsa_table table;                              /* of its tenants; owned, and they */
	uint32_t dropped_app;                                /* the highest number of an app whose tenant was dropped */
	struct bsa_shut dropped;                             /* bounds that hold for each of these apps */
	struct bsa_tenant *last;                             /* last result of a lookup */
	struct bsa_tenant **backlogged, **waiting, **window; /* owned; room for all tenants each */
	size_t lists_room, n_backlogged, n_waiting_tenants, n_window;
	struct bsa_tenant *closing;
	struct bsa_tenant *shut_in_loss; /* the tenants that seemed to become idle in this loss */
	bool strangers;                  /* executions of unknown apps are ready, or on a lane */

	size_t n_waiting;                       /* number of executions, the doubtful ones included */
	struct bsa_queued queued;               /* sum over tenants: without these */
	struct bsa_leaver leavers[BSA_LEAVERS]; /* the last ones; number n at n modulo BSA_LEAVERS */
	uint64_t n_leavers;                     /* number of all so far */
	struct bsa_scheduled *doubtful;  /* executions that waited when events were lost, and may no longer wait */
	struct bsa_scheduled *on_native; /* executions under the native policy, without a lane */
	/* executions for which it is unknown yet when a lane was free, and no execution waited */
	struct bsa_refusals refusals;
	/* this many of them, the first ones, have had their first free lane, and take no later one, even if that lane
	 * proves not to have been free */
	size_t n_lane_free;
	size_t n_unproven; /* number of the unproven refusals of all lanes */
	struct bsa_held_lags held_lags;

	bool in_loss, dirty;
	bool had_hole;
	uint64_t proof,
		proof_ns;    /* a lane was idle for long, for proof_ns from proof on; proof 0: no lane was so yet */
	uint64_t proof_hole; /* end of the last hole, after which that was */
	/* first time since the last hole at which the service reported that no execution waits; 0: not yet */
	uint64_t none_waited;
	bool handed;               /* a ready execution was seen to get an idle lane, */
	uint64_t longest_handover; /* duration of the longest such hand-over */
	bool haunted;          /* since a hole, executions that have ended may still seem to be ready, or on a lane */
	uint64_t hole_began;   /* begin of the loss, if in_loss */
	uint32_t n_running;    /* number of lanes in use */
	uint64_t rose;         /* last time at which a lane was in use */
	uint64_t counts_from;  /* end of the last loss: nothing earlier is counted */
	uint64_t unseen_until; /* until then an unknown execution may have been on a lane */
	uint64_t losses_over;  /* losses up to here are processed */
	uint64_t clock;        /* now, minus the time of losses */
	uint64_t window_began, window_ended;
	bsa_parts equal;                  /* entitlement of each app so far, while all were entitled to the same */
	bsa_parts over, under;            /* what the bounds of all dormant tenants widened by so far */
	bsa_parts window_equal;           /* equal at the begin of the window */
	uint64_t window_clock;            /* clock at the begin of the window */
	size_t n_dormant;                 /* number of dormant tenants: their over and under are less those here */
	bool widening;                    /* haunted, when time last passed */
	struct bsa_lag_window lag_window; /* the last one reported; number 0: none */
	uint64_t lag_window_rose;         /* rose at the end of it */
	bsa_parts lag_window_over;        /* over at the end of it */
};

/* 0 or -ENOMEM. */
int bsa_device_init(struct bsa_device *d);

/* NULL: no memory. */
struct bsa_tenant *bsa_device_tenant(struct bsa_device *d, uint32_t app);
void bsa_device_fini(struct bsa_device *d);

/* The lane with that number, which is created if needed. NULL: no memory. */
struct bsa_lane *bsa_device_lane(struct bsa_device *d, unsigned lane);

static inline bool bsa_device_lost(const struct bsa_device *d, uint64_t began, uint64_t ended)
{
	return bsa_holes_touch(&d->lost, began, ended);
}

static inline bool bsa_device_unsure(const struct bsa_device *d, uint64_t began, uint64_t ended)
{
	return bsa_holes_touch(&d->unsure, began, ended);
}

#endif
