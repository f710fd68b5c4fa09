/*
 * bare.h -- some events of the catalogue as one would write them for LTTng-UST alone, which reads this several times
 * over.
 */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER bare
#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "bench/bare.h"

#if !defined(BARE_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define BARE_H

#include <lttng/tracepoint.h>
#include <stdint.h>

#include "nbt/events.h"

#define NBT_ENUMERATION(name, labels) LTTNG_UST_TRACEPOINT_ENUM(bare, name, LTTNG_UST_TP_ENUM_VALUES(labels))
#define NBT_VALUE(enumeration, label, number) lttng_ust_field_enum_value(#label, number)
#include "nbt/enums.def"

/* clang-format off */
LTTNG_UST_TRACEPOINT_EVENT(bare, performance_hold,
	LTTNG_UST_TP_ARGS(uint8_t, on),
	LTTNG_UST_TP_FIELDS(lttng_ust_field_integer(uint8_t, on, on)))

LTTNG_UST_TRACEPOINT_EVENT(bare, slot_lookup,
	LTTNG_UST_TP_ARGS(uint64_t, exec, int32_t, slot, uint8_t, hit),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_integer(uint64_t, exec, exec)
		lttng_ust_field_integer(int32_t, slot, slot)
		lttng_ust_field_integer(uint8_t, hit, hit)))

LTTNG_UST_TRACEPOINT_EVENT(bare, fmq_read,
	LTTNG_UST_TP_ARGS(uint64_t, exec, uint8_t, queue, uint32_t, items, uint32_t, used, uint64_t, spun_ns,
	                  uint64_t, slept_ns, uint16_t, wakeups),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_integer(uint64_t, exec, exec)
		lttng_ust_field_enum(bare, queue, uint8_t, queue, queue)
		lttng_ust_field_integer(uint32_t, items, items)
		lttng_ust_field_integer(uint32_t, used, used)
		lttng_ust_field_integer(uint64_t, spun_ns, spun_ns)
		lttng_ust_field_integer(uint64_t, slept_ns, slept_ns)
		lttng_ust_field_integer(uint16_t, wakeups, wakeups)))

LTTNG_UST_TRACEPOINT_EVENT(bare, service_state,
	LTTNG_UST_TP_ARGS(uint32_t, pid, uint16_t, instance, uint8_t, policy, uint8_t, preempt_mode, uint8_t, lanes,
	                  uint32_t, spin_us, uint16_t, contract, uint64_t, since, uint8_t, deadlines),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_integer(uint32_t, pid, pid)
		lttng_ust_field_integer(uint16_t, instance, instance)
		lttng_ust_field_enum(bare, policy, uint8_t, policy, policy)
		lttng_ust_field_enum(bare, preempt, uint8_t, preempt_mode, preempt_mode)
		lttng_ust_field_integer(uint8_t, lanes, lanes)
		lttng_ust_field_integer(uint32_t, spin_us, spin_us)
		lttng_ust_field_integer(uint16_t, contract, contract)
		lttng_ust_field_integer(uint64_t, since, since)
		lttng_ust_field_enum(bare, deadlines, uint8_t, deadlines, deadlines)))

LTTNG_UST_TRACEPOINT_EVENT(bare, exec_client,
	LTTNG_UST_TP_ARGS(uint64_t, exec, uint32_t, model, uint8_t, path, uint64_t, deadline_ns, uint8_t, status,
	                  uint8_t, fallback, uint64_t, began, const uint64_t *, at, uint64_t, duration_ns,
	                  uint64_t, delay_ns), /* ten at most */
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_integer(uint64_t, exec, exec)
		lttng_ust_field_integer(uint32_t, model, model)
		lttng_ust_field_enum(bare, path, uint8_t, path, path)
		lttng_ust_field_integer(uint64_t, deadline_ns, deadline_ns)
		lttng_ust_field_enum(bare, status, uint8_t, status, status)
		lttng_ust_field_integer(uint8_t, fallback, fallback)
		lttng_ust_field_integer(uint64_t, began, began)
		lttng_ust_field_array(uint64_t, at, at, 4)
		lttng_ust_field_integer(uint64_t, duration_ns, duration_ns)
		lttng_ust_field_integer(uint64_t, delay_ns, delay_ns)
		lttng_ust_field_integer(uint64_t, gap_ns, delay_ns)
		lttng_ust_field_integer(uint32_t, turns, (uint32_t)delay_ns)))
/* clang-format on */

#endif

#include <lttng/tracepoint-event.h>
