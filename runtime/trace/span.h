/*
 * span.h -- what takes time around executions: connecting, making and freeing bursts and pools. Any thread.
 *
 * With nobody listening, a branch at the beginning, and one at the end.
 */
#ifndef NNB_TRACE_SPAN_H
#define NNB_TRACE_SPAN_H

#include <unistd.h>

#include "fmq/sys.h"
#include "nbt/nbt.h"
#include "nnb/status.h"

/* When it begins; 0: nobody listens. */
static inline uint64_t nnb__span_begin(void)
{
	return nbt_on(NBT_EVENT_app_span) ? nnb__now() : 0;
}

/* It is over. @value: what the kind says it is (docs/events.md). */
static inline void nnb__span_end(uint64_t began, enum nbt_span_kind kind, enum nbt_owner owner, uint64_t id,
                                 uint64_t value, enum nnb_status status)
{
	if (began)
		NBT(app_span, .kind = kind, .owner = owner, .owner_id = id, .value = value,
		    .took_ns = nnb__now() - began, .status = (uint8_t)status);
}

/* The same of what belongs to this process and no service. */
static inline void nnb__span_end_own(uint64_t began, enum nbt_span_kind kind, uint64_t value, enum nnb_status status)
{
	if (began)
		nnb__span_end(began, kind, NBT_owner_process, (uint64_t)getpid(), value, status);
}

#endif
