/*
 * tap.h -- one stream of a trace: babeltrace2's messages in, records of fold/event.h out.
 *
 * bsa_tap_look returns whether a record comes of a message, and of what time, which is never before the last one's;
 * bsa_tap_write makes it. Messages are looked at one by one, in the stream's order.
 */
#ifndef BSA_DECODE_TAP_H
#define BSA_DECODE_TAP_H

#include "counts.h"
#include "mend.h"
#include "plan.h"

struct bsa_tap {
	struct bsa_counts *counts; /* borrowed */
	struct bsa_plans *plans;   /* borrowed */
	uint32_t trace, pid;
	uint64_t ended; /* the trace's end, in cycles: a stream that is cut or broken is lost until then; 0: unknown */
	const struct bsa_span *spans; /* of its packets, by their begin; borrowed */
	size_t n_spans;
	uint64_t bytes, packets; /* how much there is to read, for who shows progress; 0: unknown */

	/* its own */
	const struct bsa_plan *plan; /* the plan of the last message; NULL: the message is about a loss */
	uint64_t last, at, frequency, told;
	uint64_t since; /* the packet that it is in began */
	size_t next_span;
	uint64_t packet_ended; /* end of the packet that it is in, in cycles; UINT64_MAX: unknown */
	bool spoilt;           /* an event of this packet was later than its end: the rest of the packet is lost */
	uint64_t lost,
		/* losses counted by its packets so far, less the count of the first packet; and the highest of
		 * them */
		lost_most;
	uint64_t n_lost; /* at the last message looked at; BSA_NEVER: some */
	uint32_t cpu;
	bool clocked, packets_timed, lost_events_timed, lost_packets_timed;
};

/* Before the first message: what is given is there. */
void bsa_tap_init(struct bsa_tap *tap);

/* The stream that a message is of, borrowed from it. NULL: it is of no stream. */
const bt_stream *bsa_tap_stream(const bt_message *message);

/* 1: the event gives a record; 0: it gives no record; -1: no memory. */
int bsa_tap_look(struct bsa_tap *tap, const bt_message *message, uint64_t *ret_at);

/* The record of the message that was last looked at, or NULL after bsa_tap_cut, with room for BSA_RECORD_MAX bytes. */
void bsa_tap_write(const struct bsa_tap *tap, const bt_message *message, struct bsa_event *ret);

/* The packet context has the stream's cpu; a loss may be reported before it. */
void bsa_tap_packet(struct bsa_tap *tap, const bt_message *packet_beginning);

/* There are no more messages. */
void bsa_tap_end(struct bsa_tap *tap);

/* The messages ended too early: everything from here to the trace's end is lost. True: this makes a record. */
bool bsa_tap_cut(struct bsa_tap *tap, uint64_t *ret_at);

#endif
