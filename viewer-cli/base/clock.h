/* clock.h -- a clock that is never set: for lengths of time. */
#ifndef BSV_BASE_CLOCK_H
#define BSV_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

/* CLOCK_MONOTONIC, ns */
static inline uint64_t bsv_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* The same, for differences that may be negative. */
static inline int64_t bsv_now_signed(void)
{
	return (int64_t)bsv_now();
}

static inline uint64_t bsv_now_ms(void)
{
	return bsv_now() / 1000000;
}

#endif
