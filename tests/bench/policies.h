/*
 * policies.h -- the same arrivals under every policy: who misses its deadlines, and how fair that is. Each policy has a
 * service of its own with one lane; nnburst-load brings the apps.
 */
#ifndef POLICIES_H
#define POLICIES_H

#include "bench.h"

struct policies;

/* All three are borrowed until close: nnburstd, nnburst-load, and what it is to run. Owned by the caller. */
struct policies *policies_open(const char *service, const char *load, const char *scenario);

/* Run it under each of them, all with the same seed. */
void policies_round(struct bench *b, struct policies *policies, unsigned seed);
void policies_close(struct policies *policies);

#endif
