/* emit_bare.c -- see emit.h: as LTTng's manual has it. */
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "bench/bare.h"

#include "emit.h"

static void one(uint64_t n)
{
	for (uint64_t i = 0; i < n; i++)
		lttng_ust_tracepoint(bare, performance_hold, (uint8_t)i);
}

static void three(uint64_t n)
{
	for (uint64_t i = 0; i < n; i++)
		lttng_ust_tracepoint(bare, slot_lookup, i, (int32_t)i, 1);
}

static void seven(uint64_t n)
{
	for (uint64_t i = 0; i < n; i++)
		lttng_ust_tracepoint(bare, fmq_read, i, NBT_queue_result, 6, (uint32_t)i, i, 0, 1);
}

static void nine(uint64_t n)
{
	for (uint64_t i = 0; i < n; i++)
		lttng_ust_tracepoint(bare, service_state, (uint32_t)i, 1, NBT_policy_edf, NBT_preempt_save, 2, 50,
		                     NBT_CONTRACT, i, NBT_deadlines_abort);
}

static void array(uint64_t n)
{
	for (uint64_t i = 0; i < n; i++) {
		const uint64_t at[4] = { i, i + 1, i + 2, 0 };

		lttng_ust_tracepoint(bare, exec_client, i, 1, NBT_path_burst, 0, NBT_status_none, 0, i, at, 0, i);
	}
}

void (*const emit_bare[N_EMITS])(uint64_t n) = {
	[EMIT_ONE] = one, [EMIT_THREE] = three, [EMIT_SEVEN] = seven, [EMIT_NINE] = nine, [EMIT_ARRAY] = array,
};
