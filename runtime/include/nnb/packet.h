/*
 * packet.h -- the packets in the two queues of a burst: requests and results as datums of fixed size.
 *
 * The variants, their order and what counts as malformed follow the HAL (1.2, FmqRequestDatum and FmqResultDatum; rules
 * B-10 to B-19), with one addition: a request with a deadline or a loop timeout ends with NNB_REQUEST_TERMS. HIDL's
 * bursts have no such datum, so a parser accepts it only if both sides have agreed to it. Packets are built and
 * parsed in place, in a transaction of the queue (nnb/fmq.h). The controller and the server of nnb/burst.h use these
 * functions, and so can a driver with a burst context of its own. nnb_packet(3).
 *
 * Trust: a parsed packet lies in memory that the peer can change. Every datum is copied once, then checked; every
 * count is checked against the transaction, and nothing outside the transaction is read.
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

/* All bytes that a variant does not use are zero (B-13). */
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
		} operand; /* an input or output */
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

/* Datums of the smallest result, which reports a failure. */
enum { NNB_RESULT_MIN = 2 };

/* ---- requests ---- */

/* The deadline of a request, and the timeout of its loops. */
struct nnb_terms {
	uint64_t deadline_ns;     /* deadline on CLOCK_MONOTONIC; 0: none */
	uint64_t loop_timeout_ns; /* timeout of each WHILE; 0: the default */
};

/*
 * The number of datums of a request: 2 + inputs + outputs + pools + their dimensions, and one if there are terms. The
 * pools themselves are not read. @terms may be NULL.
 */
NNB_PUBLIC size_t nnb_packet_request_size(const struct nnb_request *request, const struct nnb_terms *terms);

/*
 * Build a request in @tx, which has nnb_packet_request_size elements. @slots: one slot for each pool of the request.
 */
NNB_PUBLIC void nnb_packet_request_build(const struct nnb_fmq_tx *tx, const struct nnb_request *request,
                                         const int32_t *slots, bool measure, const struct nnb_terms *terms);

/* A parsed request. A rank beyond NNB_RANK_MAX is kept as received, with its first dimensions. */
struct nnb_packet_request {
	struct nnb_argument *inputs, *outputs;
	int32_t *slots; /* the slots of the pools */
	uint32_t n_inputs, n_outputs, n_slots;
	uint32_t measure; /* as received; only 0 and 1 are valid */
	struct nnb_terms terms;
	bool extended;    /* set by the caller: NNB_REQUEST_TERMS is accepted */
	uint64_t changes; /* number of requests that differed from their predecessor in any bit outside the terms */
	/* memory of the lists, for packets of up to @room datums; and the last well-formed packet */
	struct nnb_argument *arguments;
	struct nnb_request_datum *datums;
	uint32_t room, n_datums;
	struct nnb__trace *trace; /* used by this library: the trace context of the execution; NULL: no events */
};

/* Allocate room to parse packets of up to @capacity datums. 0, or -ENOMEM. */
NNB_PUBLIC int nnb_packet_request_init(struct nnb_packet_request *ret, size_t capacity);
NNB_PUBLIC void nnb_packet_request_fini(struct nnb_packet_request *request); /* a zeroed struct is accepted */

/*
 * Parse all of @tx. 0; or -EBADMSG if the packet is malformed by B-17, and @reason names the place. The executor checks
 * what the numbers mean (B-19).
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
	uint32_t n_shapes;               /* number of shapes written there */
	uint64_t exec;                   /* number of the execution in traces; 0: unknown. Not part of the packet */
};

/* The number of datums of a result. */
NNB_PUBLIC size_t nnb_packet_result_size(const struct nnb_result *result);

/* Build a result in @tx, which has nnb_packet_result_size elements. */
NNB_PUBLIC void nnb_packet_result_build(const struct nnb_fmq_tx *tx, const struct nnb_result *result);

/*
 * Parse all of @tx into @ret, whose shapes have room for @room, or are NULL: then they are only counted. 0; or
 * -EBADMSG if the packet is malformed, or impossible (an unknown status, more shapes than @room, a rank beyond
 * NNB_RANK_MAX); then *ret is unchanged except for its shapes.
 */
NNB_PUBLIC int nnb_packet_result_parse(struct nnb_result *ret, uint32_t room, const struct nnb_fmq_tx *tx,
                                       struct nnb_reason *reason);

NNB_END_DECLS

#endif
