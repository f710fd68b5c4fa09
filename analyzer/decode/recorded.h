/*
 * recorded.h -- until when a trace was recorded, where its recorder has written that down: burstscope.record, in the trace's
 * directory or above it. A tracer whose disk is full stops writing streams, and nothing in the trace says that it should have
 * gone on.
 *
 *   session NAME    of LTTng, whose traces this is about
 *   ended NS        of CLOCK_MONOTONIC: just before the session was stopped, so every stream has a packet that ends later
 *
 * Other lines mean nothing here. A trace of another session, or another clock, is not meant.
 */
#ifndef BSA_DECODE_RECORDED_H
#define BSA_DECODE_RECORDED_H

#include <stdint.h>

/* In ns of that clock; 0: unknown. */
uint64_t bsa_recorded_until(const char *directory, const char *session);

#endif
