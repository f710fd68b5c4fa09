/*
 * span.h -- events about work around executions: connecting, making and freeing bursts and pools. Any thread.
 *
 * Without a trace session: one branch at the beginning, one at the end.
 */
#ifndef NNB_TRACE_SPAN_H
#define NNB_TRACE_SPAN_H

#include <unistd.h>

#include "base/sys.h"
#include "nbt/nbt.h"
#include "nnb/status.h"

/* The time at which a span begins; 0: no trace session. */
static inline uint64_t nnb__span_begin(void)
{
	return nbt_on(NBT_EVENT_app_span) ? nnb__now() : 0;
}

/* The span ends. @value depends on the kind (docs/events.md). */
static inline void nnb__span_end(uint64_t began, enum nbt_span_kind kind, enum nbt_owner owner, uint64_t id,
                                 uint64_t value, enum nnb_status status)
{
	if (began)
		NBT(app_span, .kind = kind, .owner = owner, .owner_id = id, .value = value,
		    .took_ns = nnb__now() - began, .status = (uint8_t)status);
}

/* Like nnb__span_end, for spans of this process that belong to no service. */
static inline void nnb__span_end_own(uint64_t began, enum nbt_span_kind kind, uint64_t value, enum nnb_status status)
{
	if (began)
		nnb__span_end(began, kind, NBT_owner_process, (uint64_t)getpid(), value, status);
}

#endif
