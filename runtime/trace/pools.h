/* pools.h -- events about mappings of pools. Any thread; without a trace session, one branch. */
#ifndef NNB_TRACE_POOLS_H
#define NNB_TRACE_POOLS_H

#include "nbt/nbt.h"
#include "nnb/memory.h"
#include "nnb/status.h"

/*
 * A pool was mapped, or mapping failed. @id: the owner's number; @slot: of a burst, or the index of the owner's pool.
 * @since: 0: mapped now; otherwise the event repeats an earlier one.
 */
static inline void nnb__emit_pool_map(enum nbt_owner owner, uint64_t id, int32_t slot, const struct nnb_memory *memory,
                                      uint64_t took_ns, enum nnb_status status, uint64_t since)
{
	_Static_assert((int)NNB_MEMORY_TOKEN == NBT_pool_kind_device, "they go by number");
	enum nnb_memory_kind kind;

	if (!nbt_on(NBT_EVENT_pool_map) || !id)
		return;
	kind = nnb_memory_kind(memory);
	if (kind != NNB_MEMORY_UNKNOWN) /* an unknown kind is not a pool */
		NBT(pool_map, .owner = owner, .owner_id = id, .slot = slot, .kind = (uint8_t)kind,
		    .bytes = memory->size, .took_ns = took_ns, .status = (uint8_t)status, .since = since);
}

static inline void nnb__emit_pool_unmap(enum nbt_owner owner, uint64_t id, int32_t slot, enum nbt_cause cause)
{
	if (id)
		NBT(pool_unmap, .owner = owner, .owner_id = id, .slot = slot, .cause = cause);
}

#endif
