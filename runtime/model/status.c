/* status.c -- the names of the HAL's statuses. */
#include "model/status.h"

enum nnb_status nnb__status_of_1_2(enum nnb_status status)
{
	return status >= NNB_STATUS_MISSED_DEADLINE_TRANSIENT && status <= NNB_STATUS_RESOURCE_EXHAUSTED_PERSISTENT
	               ? NNB_STATUS_GENERAL_FAILURE
	               : status;
}

const char *nnb_status_name(enum nnb_status status)
{
	static const char *const names[] = {
		[NNB_STATUS_NONE] = "NONE",
		[NNB_STATUS_DEVICE_UNAVAILABLE] = "DEVICE_UNAVAILABLE",
		[NNB_STATUS_GENERAL_FAILURE] = "GENERAL_FAILURE",
		[NNB_STATUS_OUTPUT_INSUFFICIENT_SIZE] = "OUTPUT_INSUFFICIENT_SIZE",
		[NNB_STATUS_INVALID_ARGUMENT] = "INVALID_ARGUMENT",
		[NNB_STATUS_MISSED_DEADLINE_TRANSIENT] = "MISSED_DEADLINE_TRANSIENT",
		[NNB_STATUS_MISSED_DEADLINE_PERSISTENT] = "MISSED_DEADLINE_PERSISTENT",
		[NNB_STATUS_RESOURCE_EXHAUSTED_TRANSIENT] = "RESOURCE_EXHAUSTED_TRANSIENT",
		[NNB_STATUS_RESOURCE_EXHAUSTED_PERSISTENT] = "RESOURCE_EXHAUSTED_PERSISTENT",
		[NNB_STATUS_DEAD_OBJECT] = "DEAD_OBJECT",
	};

	return (unsigned)status < sizeof(names) / sizeof(names[0]) ? names[status] : "?";
}
