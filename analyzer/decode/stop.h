/*
 * stop.h -- whether the session was stopped in a gap, a time without a packet of any stream.
 *
 * A stop ends the packets of all streams, and writes an empty one of a stream without events (unseen.h). So the session
 * was not stopped where a stream has no packet that ended since an event before the gap, provided that no stream lacks
 * a packet there: the missing one may be that of the stop.
 */
#ifndef BSA_DECODE_STOP_H
#define BSA_DECODE_STOP_H

#include <stdbool.h>
#include <stdint.h>

/* What the streams show of one gap. The reader sets @event, adds all streams, and asks then. */
struct bsa_stop {
	uint64_t event; /* time of an event before the gap; 0: none is known */
	bool unflushed; /* a stream has no packet that ended since @event */
	bool missing;   /* a stream lacks a packet */
};

/* Add a stream: number and end of its last packet that began before the end of the gap, and number of the next one. */
static inline void bsa_stop_add(struct bsa_stop *stop, uint64_t last, uint64_t ended, uint64_t next)
{
	stop->unflushed |= ended < stop->event;
	stop->missing |= last + 1 != next;
}

/* True: the session was not stopped, so nothing is missing. False: nothing proves that. */
static inline bool bsa_stop_is_refuted(const struct bsa_stop *stop)
{
	return stop->unflushed && !stop->missing;
}

#endif
