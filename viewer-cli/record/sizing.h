/*
 * sizing.h -- how large a recording's buffers are to be: numbers in, numbers and reasons out.
 */
#ifndef BSV_SIZING_H
#define BSV_SIZING_H

#include <stdbool.h>
#include <stdint.h>

enum bsv_detail { BSV_DETAIL_FULL, BSV_DETAIL_COMPACT, BSV_DETAIL_VERBOSE };

/* As --detail takes it. Borrowed for good. */
const char *bsv_detail_name(enum bsv_detail detail);

/* For each cpu: sub-buffers are written to files one by one, when they are full. */
struct bsv_buffers {
	uint64_t each, n;
};

static inline uint64_t bsv_buffers_size(struct bsv_buffers b)
{
	return b.each * b.n;
}

#define BSV_BUFFER_MOST (UINT64_C(1) << 32)

/* The powers of two that hold @size bytes at least, and what LTTng takes. */
struct bsv_buffers bsv_buffers_of(uint64_t size);

struct bsv_machine {
	unsigned cpus;        /* that LTTng makes buffers for */
	uint64_t shm, memory; /* bytes that are free */
};

struct bsv_machine bsv_machine_look(void);

/* How many bytes @machine has room for, for each cpu, with one set of buffers for each of @users. */
uint64_t bsv_room(const struct bsv_machine *machine, unsigned users);

enum { BSV_LATENCY_MS = 2000 }; /* time for which the buffers hold events although the consumer does not empty them */

/* The size for @detail with a workload that is unknown, or that writes @rate bytes per second on its busiest cpu. */
uint64_t bsv_size_for(enum bsv_detail detail, uint64_t rate);

/* As bsv_size_for, and so much that the latest @ns of it are kept where the newest events replace the oldest. */
uint64_t bsv_size_to_hold(enum bsv_detail detail, uint64_t rate, uint64_t ns);

/* For how many ns buffers of @size bytes keep the latest of @rate bytes a second; not 0. */
uint64_t bsv_size_holds(uint64_t size, uint64_t rate);

/* The settings that would have lost nothing, and why. */
struct bsv_advice {
	uint64_t rate;       /* bytes a second on a cpu, at the most */
	uint64_t held_ns;    /* how long its buffers take that */
	uint64_t lost_bytes; /* that found no room, one event after the other */
	uint64_t stall_ns;   /* from that follows how long the buffers were not emptied */
	uint64_t size;       /* the buffers that would have done, with half of that to spare */
};

/*
 * Buffers of @size bytes; on the cpu that lost most in a row that was @lost_bytes, and it wrote
 * @rate bytes a second at the most.
 */
struct bsv_advice bsv_advise(uint64_t size, uint64_t rate, uint64_t lost_bytes);

/* @events of @each bytes. */
uint64_t bsv_bytes_of(uint64_t events, double each);

/* How large an event is, about, where they were not counted. */
unsigned bsv_event_bytes(enum bsv_detail detail);

#endif
