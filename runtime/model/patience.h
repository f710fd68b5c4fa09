/*
 * patience.h -- long work on models that its caller can end in the midst: decoding, checking, copying, preparing.
 *
 * The loops of this library that a large model makes long call nnb__patient with what they are about to do, in units of about a
 * nanosecond. After every NNB__PATIENCE units nnb__patient asks the question that was set on this thread. Once the answer is
 * no, nnb__patient returns false at once each time: loops end, and the caller frees what they made.
 *
 * CONCURRENCY  The question belongs to a thread, and so do the loops.
 */
#ifndef NNB_MODEL_PATIENCE_H
#define NNB_MODEL_PATIENCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "nnb/status.h"

enum { NNB__PATIENCE = 500000 /* units between two questions */ };

/* What it takes, in units, to look at one of these. */
enum { NNB__OPERAND_UNITS = 100, NNB__OPERATION_UNITS = 300, NNB__POOL_UNITS = 5000 };

struct nnb__patience {
	bool (*goes_on)(void *arg); /* NULL: no question is set */
	void *arg;
	bool over; /* the answer was no */
	uint64_t left;
};

/* Set the question of this thread. Returns the one before, which nnb__patience_end sets again. */
struct nnb__patience nnb__patience_begin(bool (*goes_on)(void *arg), void *arg);
void nnb__patience_end(const struct nnb__patience *before);

/* Ask now. True where no question is set. */
bool nnb__patience_ask(void);

/* @units of work are next. False: end here. */
bool nnb__patient(uint64_t units);

/* What a function that was ended returns: GENERAL_FAILURE, with its reason. */
enum nnb_status nnb__impatient(struct nnb_reason *reason);

/* memcpy, ended in the midst where nnb__patient says so: then false. */
bool nnb__patient_copy(void *to, const void *from, size_t bytes);

#endif
