/* nnburst.h -- the catalogue for LTTng-UST, which reads it several times over. */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER nnburst
#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "provider/nnburst.h"

#if !defined(PROVIDER_NNBURST_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define PROVIDER_NNBURST_H

#include <lttng/tracepoint.h>

#include "nbt/events.h"

#define NBT_ENUMERATION(name, labels) LTTNG_UST_TRACEPOINT_ENUM(nnburst, name, LTTNG_UST_TP_ENUM_VALUES(labels))
#define NBT_VALUE(enumeration, label, number) lttng_ust_field_enum_value(#label, number)
#include "nbt/enums.def"

#define NBT_LEVEL_RARE LTTNG_UST_TRACEPOINT_LOGLEVEL_NOTICE
#define NBT_LEVEL_FULL LTTNG_UST_TRACEPOINT_LOGLEVEL_DEBUG_FUNCTION
#define NBT_LEVEL_VERBOSE LTTNG_UST_TRACEPOINT_LOGLEVEL_DEBUG_LINE
#define NBT_LEVEL_COMPACT LTTNG_UST_TRACEPOINT_LOGLEVEL_DEBUG

#define NBT_EVENT(name, sides, level, about, fields)                                               \
	LTTNG_UST_TRACEPOINT_EVENT(nnburst, name, LTTNG_UST_TP_ARGS(const struct nbt_##name *, e), \
	                           LTTNG_UST_TP_FIELDS(fields))                                    \
	LTTNG_UST_TRACEPOINT_LOGLEVEL(nnburst, name, NBT_LEVEL_##level)
#define NBT_INT(type, name) lttng_ust_field_integer(nbt_##type, name, e->name)
#define NBT_LABEL(enumeration, name) lttng_ust_field_enum(nnburst, enumeration, uint8_t, name, e->name)
#define NBT_ARRAY(type, name, n) lttng_ust_field_array(nbt_##type, name, e->name, n)
#define NBT_TEXT(name) lttng_ust_field_string(name, e->name ? e->name : "")
#include "nbt/events.def"

#endif

#include <lttng/tracepoint-event.h>
