/*
 * status.h -- the statuses of the HAL, and reasons in words.
 *
 * Functions that implement a call of the HAL return an enum nnb_status. Other functions return 0 or -errno. Both
 * kinds may write a reason into the caller's struct nnb_reason; NULL is always accepted, and only a failure writes
 * it.
 */
#ifndef NNB_STATUS_H
#define NNB_STATUS_H

#include "nnb/defs.h"

NNB_BEGIN_DECLS

enum nnb_status {
	NNB_STATUS_NONE = 0,
	NNB_STATUS_DEVICE_UNAVAILABLE,
	NNB_STATUS_GENERAL_FAILURE,
	NNB_STATUS_OUTPUT_INSUFFICIENT_SIZE,
	NNB_STATUS_INVALID_ARGUMENT,
	NNB_STATUS_MISSED_DEADLINE_TRANSIENT,
	NNB_STATUS_MISSED_DEADLINE_PERSISTENT,
	NNB_STATUS_RESOURCE_EXHAUSTED_TRANSIENT,
	NNB_STATUS_RESOURCE_EXHAUSTED_PERSISTENT,
	NNB_STATUS_DEAD_OBJECT,
};

/* "NONE", "GENERAL_FAILURE", ...; "?" for a number that is no status. Static. */
NNB_PUBLIC const char *nnb_status_name(enum nnb_status status);

/* One sentence without a full stop, from the outside in: "operand 3: dimension 1: ...". */
struct nnb_reason {
	char text[256];
};

/* Write a reason; drivers use this. A text that is too long is cut off. @reason may be NULL. */
NNB_PUBLIC void nnb_because(struct nnb_reason *reason, const char *format, ...) __attribute__((format(printf, 2, 3)));

NNB_END_DECLS

#endif
