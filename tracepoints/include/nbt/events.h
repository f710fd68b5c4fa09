/*
 * events.h -- the catalogue for C: a struct an event, a number an event, the named numbers.
 *
 * `struct nbt_exec_end` has the fields of exec_end, in their order. NBT_EVENT_exec_end is its number, which is of this
 * version of the catalogue only. NBT_status_none is a named number.
 */
#ifndef NBT_EVENTS_H
#define NBT_EVENTS_H

#include <stdint.h>

/* the version of the catalogue; service_state carries it. From 2 on, it has sched_ready */
enum { NBT_CONTRACT = 3 };
enum { NBT_TEXT_MAX = 63 }; /* bytes of a text, its zero not counted */

#define NBT_ENUMERATION(name, labels) enum nbt_##name{ labels };
#define NBT_VALUE(enumeration, label, number) NBT_##enumeration##_##label = (number),
#include "nbt/enums.def"

typedef uint8_t nbt_u8;
typedef uint16_t nbt_u16;
typedef uint32_t nbt_u32;
typedef uint64_t nbt_u64;
typedef int32_t nbt_i32;
typedef int64_t nbt_i64;

#define NBT_EVENT(name, sides, level, about, fields) \
	struct nbt_##name {                          \
		fields                               \
	};
#define NBT_INT(type, name) nbt_##type name;
#define NBT_LABEL(enumeration, name) uint8_t name; /* enum nbt_ENUMERATION */
#define NBT_ARRAY(type, name, n) nbt_##type name[n];
#define NBT_TEXT(name) const char *name; /* at most NBT_TEXT_MAX bytes and a zero; NULL: none */
#include "nbt/events.def"

enum nbt_event {
#define NBT_EVENT(name, sides, level, about, fields) NBT_EVENT_##name,
#define NBT_INT(type, name)
#define NBT_LABEL(enumeration, name)
#define NBT_ARRAY(type, name, n)
#define NBT_TEXT(name)
#include "nbt/events.def"
	NBT_EVENTS
};

#endif
