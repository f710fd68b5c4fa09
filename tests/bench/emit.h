/*
 * emit.h -- the same events in two ways, to be held against each other: by the seam, and by lttng_ust_tracepoint of
 * LTTng, called with the fields as arguments.
 */
#ifndef EMIT_H
#define EMIT_H

#include <stdint.h>

enum { EMIT_ONE, EMIT_THREE, EMIT_SEVEN, EMIT_NINE, EMIT_ARRAY, N_EMITS };

extern void (*const emit_ours[N_EMITS])(uint64_t n); /* emits @n times */
extern void (*const emit_bare[N_EMITS])(uint64_t n);

#endif
