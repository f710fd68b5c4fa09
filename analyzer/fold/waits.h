/*
 * waits.h -- executions that are ready without a lane: the holders that they waited for, and the executions
 * chosen before them.
 */
#ifndef BSA_FOLD_WAITS_H
#define BSA_FOLD_WAITS_H

#include "base/index.h"
#include "fold/device.h"

/* ns that one app waited while another one held lanes, by pair. */
struct bsa_pairs {
	struct bsa_interfered *all; /* owned */
	size_t room, n;
	struct bsa_index index; /* of all */
	uint64_t waits, joined; /* waits reported; stretches of waits without a pair of their own */
};

void bsa_pairs_fini(struct bsa_pairs *p);
void bsa_pairs_report(const struct bsa_pairs *p, const struct bsa_facts *facts);

/* @x, whose tenant and level are set, begins to wait. */
void bsa_waits_add(struct bsa_device *d, struct bsa_scheduled *x);

/* @x no longer waits. */
void bsa_waits_remove(struct bsa_device *d, struct bsa_scheduled *x);

/* Events are being lost: all waiting executions become doubtful. */
void bsa_waits_doubt(struct bsa_device *d);

/* Begin of the longest current wait. */
uint64_t bsa_waits_oldest(const struct bsa_device *d);

/* @x, still among the waiting ones, gets its first lane: count the executions that it bypassed. */
void bsa_waits_bypass(struct bsa_device *d, const struct bsa_scheduled *x);

/*
 * @x, still among the waiting ones, will wait no more: remember it, if others wait, as it could have been chosen at
 * a time before. @given: since when its lane was on its way to it; 0: unknown; BSA_NEVER: it gets none.
 */
void bsa_waits_note_leaver(struct bsa_device *d, const struct bsa_scheduled *x, uint64_t given);

/* Whether an execution that waits was perhaps not the only one at @at. */
bool bsa_waits_had_others(const struct bsa_device *d, uint64_t at);

/*
 * @x was chosen at @at among the executions of its app that were ready then, those included that have left since;
 * @others other lanes were available for better ones.
 */
void bsa_waits_choose(struct bsa_device *d, const struct bsa_scheduled *x, uint64_t at, unsigned others);

/*
 * Does an execution wait of the app of @x, which does not wait itself, whose priority is, or may be, another
 * one than that of @x?
 */
bool bsa_waits_have_rival(const struct bsa_scheduled *x);

/* Is there one among the doubtful executions? Of many, one may always be. */
bool bsa_waits_may_have_rival(const struct bsa_device *d, const struct bsa_scheduled *x);

/* The cause (enum bsa_cause) of a wait of @t at @level while @s holds the lane. */
uint8_t bsa_waits_cause(const struct bsa_tenant *t, uint8_t level, const struct bsa_stretch *s);

/*
 * Report the wait of @x, already removed, which ended at @at; it is charged to lane @number, whose history is
 * @l, or NULL. @entered: it ended because @x entered that lane. Sets idle. 0 or -ENOMEM.
 */
int bsa_waits_report(struct bsa_device *d, struct bsa_pairs *pairs, struct bsa_scheduled *x, uint64_t at,
                     unsigned number, const struct bsa_lane *l, bool entered);

/* Report a queue phase on an idle lane that the execution's fact alone does not show. */
void bsa_waits_report_idle(struct bsa_device *d, struct bsa_scheduled *x, unsigned lane);

/*
 * @x was stalled until now. @may_have_waited: it may have waited for a lane in some of that time. All of it is
 * reported as one stretch among the waits, because these tile the time of an execution off the lane: caused by the
 * stall, or of unknown cause.
 */
void bsa_waits_report_stalled(struct bsa_device *d, struct bsa_scheduled *x, bool may_have_waited);

#endif
