/*
 * recorded.h -- until when a trace was recorded, and by which clocks, where its recorder has written that
 * down: burstscope.record, in the trace's directory or above it. A tracer whose disk is full stops writing
 * streams, and nothing in the trace shows that it should have gone on.
 *
 *   session NAME    of LTTng, whose traces this is about
 *   ended NS        of CLOCK_MONOTONIC: just before the session was stopped, so every stream has a packet that ends
 *                   later
 *   streams N       how many streams each channel of each buffer had at the end, one for each cpu; 0: not known
 *   scope_app, scope_pid, scope_service
 *                   what the recording was limited to: an app by its name or uid, a process, the pid of a
 *                   service (record/scope.h of the viewer)
 *   boottime NS     by how much CLOCK_BOOTTIME was ahead of that clock, from the beginning to the end; below 0: not
 *                   always the same
 *
 * Ignore other lines, and the file for a trace of another session or clock.
 */
#ifndef BSA_DECODE_RECORDED_H
#define BSA_DECODE_RECORDED_H

#include "decode/decode.h"

struct bsa_recorded {
	uint64_t until; /* in ns of that clock; 0: unknown */
	bool boottime_known;
	int64_t boottime;
	uint32_t streams; /* number of each channel and buffer; 0: unknown */
	struct bsa_scoped scope;
};

/* All 0: nothing is written about this session. */
struct bsa_recorded bsa_recorded(const char *directory, const char *session);

#endif
