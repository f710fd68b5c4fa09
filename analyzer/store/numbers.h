/*
 * numbers.h -- numbers of facts as numbers of SQLite: signed, NULL where they are unknown, and so bounded
 * that what queries compute of them does not overflow.
 */
#ifndef BSA_STORE_NUMBERS_H
#define BSA_STORE_NUMBERS_H

#include "fold/facts.h"
#include "store/batch.h"

#define MOST (INT64_C(1) << 62) /* limit of times and durations: 146 years */

static inline int64_t sql_clamped(int64_t v)
{
	return v > MOST ? MOST : v < -MOST ? -MOST : v;
}

/* A value out of range becomes NULL. */
static inline int64_t sql_in_range(int64_t v)
{
	return v >= MOST || v <= -MOST ? NOTHING : v;
}

/* A duration in ns; BSA_NEVER becomes NULL. */
static inline int64_t sql_ns(uint64_t v)
{
	return v == BSA_NEVER ? NOTHING : v > (uint64_t)MOST ? MOST : (int64_t)v;
}

/* A time of a host whose clock is @offset before the file's. */
static inline int64_t sql_time(int64_t offset, uint64_t raw)
{
	return raw == BSA_NEVER ? NOTHING : sql_clamped(sql_ns(raw) + sql_clamped(offset));
}

/* The id of another fact; 0 becomes NULL. */
static inline int64_t sql_id(uint64_t id)
{
	return id == 0 ? NOTHING : id > INT64_MAX ? INT64_MAX : (int64_t)id;
}

/* A count, or a number of bytes; BSA_NEVER becomes NULL. */
static inline int64_t sql_count(uint64_t v)
{
	return v == BSA_NEVER ? NOTHING : v > INT64_MAX ? INT64_MAX : (int64_t)v;
}

/*
 * A 64-bit number of the trace. SQLite's integers are signed: from 2^63 on it is negative here, as
 * execution.exec is. 2^63, which no service gives out, would be NULL, and is stored as the number before it.
 */
static inline int64_t sql_given(uint64_t v)
{
	return (int64_t)v == NOTHING ? INT64_MAX : (int64_t)v;
}

/* A count of the events of an execution. */
static inline int64_t sql_event_count(uint32_t v)
{
	return v == BSA_COUNT_UNKNOWN ? NOTHING : v;
}

static inline int64_t sql_lateness(int64_t lateness)
{
	return lateness == BSA_LATENESS_UNKNOWN ? NOTHING : sql_clamped(lateness);
}

/* A number that labels.def names; 255 becomes NULL. */
static inline int64_t sql_label(uint8_t v)
{
	return v == 255 ? NOTHING : v;
}

static inline int64_t sql_minus(int64_t a, int64_t b)
{
	return a == NOTHING || b == NOTHING ? NOTHING : a - b;
}

#endif
