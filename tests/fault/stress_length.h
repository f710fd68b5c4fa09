/* stress_length.h -- how long a stress test goes on. */
#ifndef FAULT_STRESS_LENGTH_H
#define FAULT_STRESS_LENGTH_H

#include <stdint.h>
#include <stdlib.h>

/* One of @parts tests goes on for its part of NNB_SOAK_SECONDS, or for @usual_ns. */
static inline uint64_t stress_length_ns(size_t parts, uint64_t usual_ns)
{
	const char *s = getenv("NNB_SOAK_SECONDS");

	return s && atoi(s) > 0 ? (uint64_t)atoi(s) * 1000000000 / parts : usual_ns;
}

#endif
