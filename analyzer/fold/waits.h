/*
 * waits.h -- those that are ready and not on a lane: whom they waited for, and who was chosen before them.
 */
#ifndef BSA_FOLD_WAITS_H
#define BSA_FOLD_WAITS_H

#include "fold/device.h"

/* ns that one app's holding made another one wait. */
struct bsa_pairs {
	struct bsa_interfered *table; /* owned; app 0: free */
	size_t room, n;
	uint64_t waits, joined; /* waits that were told; stretches of them without a pair of their own */
};

void bsa_pairs_fini(struct bsa_pairs *p);
void bsa_pairs_tell(const struct bsa_pairs *p, const struct bsa_facts *facts);

/* @x, of tenant and level, waits from now on. */
void bsa_waits_add(struct bsa_device *d, struct bsa_scheduled *x);

/* It does not any more. */
void bsa_waits_remove(struct bsa_device *d, struct bsa_scheduled *x);

/* Events are being lost: of those who wait now it is not certain any more that they do. */
void bsa_waits_doubt(struct bsa_device *d);

/* When the one that waits longest began. */
uint64_t bsa_waits_oldest(const struct bsa_device *d);

/* @x, still among them, is on a lane for the first time: whom it passed. */
void bsa_waits_bypass(struct bsa_device *d, const struct bsa_scheduled *x);

/* @x was chosen, at @at, out of those of its app that were ready. For the best of those there were @others lanes. */
void bsa_waits_choose(struct bsa_device *d, const struct bsa_scheduled *x, uint64_t at, unsigned others);

/* Why one of @t and @level waits while @s holds the lane. enum bsa_cause */
uint8_t bsa_waits_cause(const struct bsa_tenant *t, uint8_t level, const struct bsa_stretch *s);

/*
 * The wait of @x, removed, is over at @at; it is charged to lane @number, of which @l is what is known, or NULL. 0 or
 * -ENOMEM. Sets idle.
 */
int bsa_waits_tell(struct bsa_device *d, struct bsa_pairs *pairs, struct bsa_scheduled *x, uint64_t at, unsigned number,
                   const struct bsa_lane *l);

/* That its queue phase was on an idle lane is not to be seen from the execution alone: tell it. */
void bsa_waits_tell_idle(struct bsa_device *d, struct bsa_scheduled *x, unsigned lane);

#endif
