/* emit_ours.c -- see emit.h: by the seam. */
#include "emit.h"
#include "nbt/nbt.h"

static void one(uint64_t n)
{
	for (uint64_t i = 0; i < n; i++)
		NBT(performance_hold, .on = (uint8_t)i);
}

static void three(uint64_t n)
{
	for (uint64_t i = 0; i < n; i++)
		NBT(slot_lookup, .exec = i, .slot = (int32_t)i, .hit = 1);
}

static void seven(uint64_t n)
{
	for (uint64_t i = 0; i < n; i++)
		NBT(fmq_read, .exec = i, .queue = NBT_queue_result, .items = 6, .used = (uint32_t)i, .spun_ns = i,
		    .slept_ns = 0, .wakeups = 1);
}

static void nine(uint64_t n)
{
	for (uint64_t i = 0; i < n; i++)
		NBT(service_state, .pid = (uint32_t)i, .instance = 1, .policy = NBT_policy_edf,
		    .preempt_mode = NBT_preempt_save, .lanes = 2, .spin_us = 50, .contract = NBT_CONTRACT, .since = i,
		    .deadlines = NBT_deadlines_abort);
}

static void array(uint64_t n)
{
	for (uint64_t i = 0; i < n; i++)
		NBT(exec_client, .exec = i, .model = 1, .path = NBT_path_burst, .deadline_ns = 0,
		    .status = NBT_status_none, .fallback = 0, .began = i, .at = { i, i + 1, i + 2, 0 },
		    .duration_ns = 0, .delay_ns = i, .gap_ns = i, .turns = (uint32_t)i);
}

void (*const emit_ours[N_EMITS])(uint64_t n) = {
	[EMIT_ONE] = one, [EMIT_THREE] = three, [EMIT_SEVEN] = seven, [EMIT_NINE] = nine, [EMIT_ARRAY] = array,
};
