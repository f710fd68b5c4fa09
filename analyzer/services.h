/*
 * services.h -- two services that hand out the same numbers.
 *
 * The upper 12 bits of every number are the instance of its service, which is chosen by chance: one of 4095. The process and the time it
 * began tell services apart that have the same instance. Their executions can be told apart only if the first service had no client any
 * more when the second one began.
 */
#ifndef BSA_SERVICES_H
#define BSA_SERVICES_H

#include "bsa/err.h"
#include "fold/event.h"

struct services;

/* NULL: no memory. */
struct services *services_new(void);

/* NULL is fine. Returns NULL. */
struct services *services_free(struct services *services);

/* The next record of one clock. 0, or negative: what it says cannot belong to one service alone; or no memory. */
int services_event(struct services *services, const struct bsa_event *e, struct bsa_err *err);

#endif
