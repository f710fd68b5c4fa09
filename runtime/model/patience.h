/*
 * patience.h -- long work on models that its caller can abort: decoding, checking, copying, preparing.
 *
 * Every loop of this library that may run long on a large model calls nnb__patient with the cost of its next step, in
 * units of about a nanosecond. After every NNB__PATIENCE units nnb__patient calls the callback that this thread has
 * set. Once the callback returns false, nnb__patient returns false at once each time, the loops end, and their caller
 * frees what they allocated.
 *
 * CONCURRENCY  Each thread has its own callback, which applies to loops on the same thread only.
 */
#ifndef NNB_MODEL_PATIENCE_H
#define NNB_MODEL_PATIENCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "nnb/status.h"

enum { NNB__PATIENCE = 500000 /* units between two calls of the callback */ };

/* The cost, in units, of checking one operand, operation or pool. */
enum { NNB__OPERAND_UNITS = 100, NNB__OPERATION_UNITS = 300, NNB__POOL_UNITS = 5000 };

struct nnb__patience {
	bool (*goes_on)(void *arg); /* the callback; NULL: none set */
	void *arg;
	bool over; /* the callback has returned false */
	uint64_t left;
};

/* Set the callback of this thread. Returns the previous one, for nnb__patience_end to restore. */
struct nnb__patience nnb__patience_begin(bool (*goes_on)(void *arg), void *arg);
void nnb__patience_end(const struct nnb__patience *before);

/* Call the callback now. True if none is set. */
bool nnb__patience_ask(void);

/* Announce @units of work. False: abort. */
bool nnb__patient(uint64_t units);

/* The status of an aborted function: GENERAL_FAILURE, with its reason. */
enum nnb_status nnb__impatient(struct nnb_reason *reason);

/* memcpy that nnb__patient can abort. False: aborted, and @to is incomplete. */
bool nnb__patient_copy(void *to, const void *from, size_t bytes);

#endif
