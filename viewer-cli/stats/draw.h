/* draw.h -- draws numbers, the same ones in each run. */
#ifndef BSV_STATS_DRAW_H
#define BSV_STATS_DRAW_H

#include <math.h>
#include <stdint.h>

/* The next number of the series of *@state, which may begin anywhere. splitmix64: small, and good enough for ranks. */
static inline uint64_t bsv_draw(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

/* A number above 0 and below 1. */
static inline double bsv_draw_uniform(uint64_t *state)
{
	return ((double)(bsv_draw(state) >> 11) + 0.5) * 0x1p-53;
}

/* Normal distribution by the polar method; the second number of each pair is dropped. */
static inline double bsv_draw_normal(uint64_t *state)
{
	double x, y, s;

	do {
		x = 2 * bsv_draw_uniform(state) - 1;
		y = 2 * bsv_draw_uniform(state) - 1;
		s = x * x + y * y;
	} while (s >= 1 || s == 0);
	return x * sqrt(-2 * log(s) / s);
}

#endif
