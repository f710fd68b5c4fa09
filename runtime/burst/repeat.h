/* repeat.h -- packets that equal an earlier one: a burst sends the same request, and gets the same result, again. */
#ifndef NNB_BURST_REPEAT_H
#define NNB_BURST_REPEAT_H

#include "nnb/burst.h"

/*
 * Would nnb_packet_request_build write the @n datums of @packet again for this call, apart from the slots and the
 * values of the terms? @packet: as nnb_packet_request_build wrote it, in memory of this process.
 */
bool nnb__packet_repeats(const struct nnb_request_datum *packet, size_t n, const struct nnb_call *call);

/* Do the terms have a deadline, or a loop timeout? */
static inline bool nnb__has_terms(const struct nnb_terms *terms)
{
	return terms->deadline_ns || terms->loop_timeout_ns;
}

/* Write other values into the terms of @packet, if it has terms. */
void nnb__packet_set_terms(struct nnb_request_datum *packet, size_t n, const struct nnb_terms *terms);

/*
 * Compares bytes where they lie in the queue, for a caller that then uses @packet only: the peer may change them
 * meanwhile. @tx has @n datums.
 */
bool nnb__tx_equals(const struct nnb_fmq_tx *tx, const void *packet, size_t n);

/* Copy all datums of @tx to @packet, which has room for them. */
void nnb__tx_read(const struct nnb_fmq_tx *tx, void *packet);

#endif
