/*
 * packet.h -- what travels through the two queues of a burst: requests and results as datums of fixed size.
 *
 * The variants, their order and what is malformed are the HAL's (1.2, FmqRequestDatum and FmqResultDatum; rules
 * B-10 to B-19), and there is one more: a request with a deadline or a loop timeout ends with NNB_REQUEST_TERMS. HIDL's
 * bursts have no such thing, so a parser takes it only where both sides have agreed to. A packet is built and parsed in place, in a transaction of the queue (nnb/fmq.h); the client's
 * controller and the service's server of nnb/burst.h do it with these functions, and so can a driver that brings a
 * burst context of its own. nnb_packet(3).
 *
 * Trust: what is parsed lies in memory that the peer can change. Every datum is copied once, then judged; nothing
 * is believed for its count alone, nothing outside the transaction is read.
 */
#ifndef NNB_PACKET_H
#define NNB_PACKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "nnb/defs.h"
#include "nnb/device.h"
#include "nnb/fmq.h"
#include "nnb/model.h"
#include "nnb/status.h"

NNB_BEGIN_DECLS

enum nnb_request_kind {
	NNB_REQUEST_PACKET = 0,
	NNB_REQUEST_INPUT = 1,
	NNB_REQUEST_INPUT_DIMENSION = 2,
	NNB_REQUEST_OUTPUT = 3,
	NNB_REQUEST_OUTPUT_DIMENSION = 4,
	NNB_REQUEST_SLOT = 5,
	NNB_REQUEST_MEASURE = 6,
	NNB_REQUEST_TERMS = 7
};

enum nnb_result_kind { NNB_RESULT_PACKET = 0, NNB_RESULT_OPERAND = 1, NNB_RESULT_DIMENSION = 2, NNB_RESULT_TIMING = 3 };

/* What a variant does not use is zero, whoever builds it (B-13). */
struct nnb_request_datum {
	uint8_t kind; /* enum nnb_request_kind */
	uint8_t zero[3];
	union {
		struct {
			uint32_t size; /* datums, this one included */
			uint32_t n_inputs, n_outputs, n_pools;
		} packet;
		struct {
			uint8_t no_value, zero[3];
			uint32_t pool, offset, length;
			uint32_t rank;
		} operand; /* of an input or output */
		uint32_t dimension;
		int32_t slot;
		uint32_t measure; /* 0 no, 1 yes */
		struct {
			uint32_t deadline_low, deadline_high, loop_low, loop_high; /* halves of nnb_terms */
		} terms;
		uint32_t words[5];
	};
};

struct nnb_result_datum {
	uint8_t kind; /* enum nnb_result_kind */
	uint8_t zero[7];
	union {
		struct {
			uint32_t size; /* datums, this one included */
			uint32_t status;
			uint32_t n_operands;
			uint32_t zero;
		} packet;
		struct {
			uint8_t sufficient, zero[3];
			uint32_t rank;
		} operand;
		uint32_t dimension;
		struct {
			uint64_t on_device_us, in_driver_us; /* UINT64_MAX: not measured */
		} timing;
		uint64_t words[2];
	};
};

/* Datums of the smallest result: one that reports a failure. */
enum { NNB_RESULT_MIN = 2 };

/* ---- requests ---- */

/* By when, and for how long a loop. */
struct nnb_terms {
	uint64_t deadline_ns;     /* of CLOCK_MONOTONIC; 0: none */
	uint64_t loop_timeout_ns; /* of each WHILE; 0: the default */
};

/*
 * How many datums carry it: 2 + inputs + outputs + pools + their dimensions, and one if there are terms. The pools
 * themselves are not looked at. @terms may be NULL.
 */
NNB_PUBLIC size_t nnb_packet_request_size(const struct nnb_request *request, const struct nnb_terms *terms);

/*
 * Build it in @tx, which has nnb_packet_request_size elements. @slots: one for each of the request's pools.
 */
NNB_PUBLIC void nnb_packet_request_build(const struct nnb_fmq_tx *tx, const struct nnb_request *request,
                                         const int32_t *slots, bool measure, const struct nnb_terms *terms);

/* A request that was parsed. A rank beyond NNB_RANK_MAX is kept as it came, with its first dimensions. */
struct nnb_packet_request {
	struct nnb_argument *inputs, *outputs;
	int32_t *slots; /* where the pools are to be found */
	uint32_t n_inputs, n_outputs, n_slots;
	uint32_t measure; /* as it came; 0 or 1 is right */
	struct nnb_terms terms;
	bool extended; /* set by who parses: NNB_REQUEST_TERMS is not malformed */
	uint64_t
		changes; /* requests so far that were not the same, to the last bit but their terms, as the one before */
	/* the memory of the lists, for packets of up to @room datums; and the last packet that was good */
	struct nnb_argument *arguments;
	struct nnb_request_datum *datums;
	uint32_t room, n_datums;
	struct nnb__trace *trace; /* this library's; NULL: nobody is told what becomes of it */
};

/* Room to parse packets of up to @capacity datums into. 0, or -ENOMEM. */
NNB_PUBLIC int nnb_packet_request_init(struct nnb_packet_request *ret, size_t capacity);
NNB_PUBLIC void nnb_packet_request_fini(struct nnb_packet_request *request); /* all zeroes are fine */

/*
 * Parse all of @tx. 0; or -EBADMSG, where B-17 says that it is malformed, and the reason says where. What the
 * numbers mean is for who executes it (B-19).
 */
NNB_PUBLIC int nnb_packet_request_parse(struct nnb_packet_request *ret, const struct nnb_fmq_tx *tx,
                                        struct nnb_reason *reason);

/* ---- results ---- */

/* How long an execution took, in ns; UINT64_MAX: not measured. A packet carries microseconds, rounded up. */
struct nnb_timing {
	uint64_t on_device_ns, in_driver_ns;
};

#define NNB_NO_TIMING ((struct nnb_timing){ UINT64_MAX, UINT64_MAX })

struct nnb_result {
	enum nnb_status status;
	struct nnb_timing timing;
	struct nnb_output_shape *shapes; /* the caller's memory */
	uint32_t n_shapes;               /* used of it */
	uint64_t exec;                   /* no packet carries it: what traces call the execution; 0: nothing */
};

/* How many datums carry it. */
NNB_PUBLIC size_t nnb_packet_result_size(const struct nnb_result *result);

/* Build it in @tx, which has nnb_packet_result_size elements. */
NNB_PUBLIC void nnb_packet_result_build(const struct nnb_fmq_tx *tx, const struct nnb_result *result);

/*
 * Parse all of @tx into @ret, whose shapes have room for @room, or are NULL: then they are counted only. 0; or
 * -EBADMSG where it is malformed, or says what no execution can (a status that is none, more shapes than @room, a
 * rank beyond NNB_RANK_MAX). Then *ret is as it was, its shapes aside.
 */
NNB_PUBLIC int nnb_packet_result_parse(struct nnb_result *ret, uint32_t room, const struct nnb_fmq_tx *tx,
                                       struct nnb_reason *reason);

NNB_END_DECLS

#endif
