/*
 * latency.h -- the fast state of this driver's device, which is the CPU: it does not go to deep sleep while a burst
 * is open.
 */
#ifndef NNBX_LATENCY_H
#define NNBX_LATENCY_H

#include <stdbool.h>

/* nnb_driver's performance: ask the kernel for CPUs that wake up within NNBX_WAKE_UP_US, or stop asking. */
void nnbx_performance(void *device, bool on);

enum { NNBX_WAKE_UP_US = 20 };

#endif
