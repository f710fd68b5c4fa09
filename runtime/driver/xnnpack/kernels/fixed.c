/*
 * fixed.c -- arithmetic of numbers with fixed points. Qn is a number with n bits before its point and the rest behind
 * it, sign aside.
 */
#include "fixed.h"

#include <stdlib.h>

static int32_t clamp_to(int64_t x, int64_t most)
{
	return (int32_t)(x > most ? most : x < -most - 1 ? -most - 1 : x);
}

static int32_t in_16(int64_t x)
{
	return clamp_to(x, INT16_MAX);
}

static int32_t in_32(int64_t x)
{
	return clamp_to(x, INT32_MAX);
}

/* 2ab of the highest half of @bits twice, to the nearest; halves go away from zero, but below it towards it. */
static int64_t high_product(int64_t a, int64_t b, unsigned bits)
{
	int64_t unit = INT64_C(1) << (bits - 1), ab = a * b;

	return (ab + (ab < 0 ? 1 - unit / 2 : unit / 2)) / unit;
}

static int32_t times_16(int32_t a, int32_t b)
{
	return in_16(high_product(a, b, 16));
}

static int32_t times_32(int32_t a, int32_t b)
{
	return in_32(high_product(a, b, 32));
}

/* x / 2^by, to the nearest; halves go away from zero. */
static int32_t shifted_right(int32_t x, unsigned by)
{
	int64_t half = by ? INT64_C(1) << (by - 1) : 0;

	return (int32_t)((x + half - (x < 0 && by)) >> by);
}

/* ---- 16 bits ---- */

#define Q0_THIRD 10923      /* 1/3 */
#define Q0_EXP_EIGHTH 28918 /* exp(-1/8) */
#define Q2_48_17 23130      /* 48/17 */
#define Q2_32_17 (-15420)   /* -32/17 */
#define Q2_ONE (1 << 13)

/* exp(x) of Q0, where -1/4 <= x < 0: a series around -1/8. */
static int32_t exp_near_zero(int32_t x)
{
	int32_t d = x + (1 << 12), d2 = times_16(d, d), d3 = times_16(d2, d), d4 = times_16(d2, d2);
	int32_t tail = shifted_right(times_16(shifted_right(d4, 2) + d3, Q0_THIRD) + d2, 1);

	return in_16(Q0_EXP_EIGHTH + times_16(Q0_EXP_EIGHTH, d + tail));
}

/* exp(x) of Q@integer, where x <= 0, as Q0: of its last quarter, times that of each bit before it. */
static int32_t exp_below_zero(int32_t x, unsigned integer)
{
	static const struct {
		int power; /* exp(-2^power) of Q0 */
		int32_t exp;
	} bits[] = { { -2, 25520 }, { -1, 19875 }, { 0, 12055 }, { 1, 4435 }, { 2, 600 }, { 3, 11 }, { 4, 0 } };
	int fraction = 15 - (int)integer;
	int32_t quarter = 1 << (fraction - 2), last = (x & (quarter - 1)) - quarter, left = last - x, exp;

	if (!x)
		return INT16_MAX;
	exp = exp_near_zero(last * (1 << integer));
	for (unsigned i = 0; i < sizeof(bits) / sizeof(bits[0]) && bits[i].power < (int)integer; i++)
		if (left & 1 << (fraction + bits[i].power))
			exp = times_16(exp, bits[i].exp);
	return exp;
}

/* 2 / (1 + x) of Q0, where 0 <= x < 1, as Q2: three steps towards the reciprocal of (1 + x) / 2. */
static int32_t fixed_reciprocal(int32_t x)
{
	int32_t half = (x + INT16_MAX + 1) / 2, y = Q2_48_17 + times_16(half, Q2_32_17);

	for (int i = 0; i < 3; i++)
		y = in_16(y + in_16(times_16(y, Q2_ONE - times_16(half, y)) * INT64_C(4)));
	return y;
}

int32_t nnbx_fixed_sigmoid(int32_t x)
{
	int32_t y = in_16(fixed_reciprocal(exp_below_zero(-abs(x), 3)) * INT64_C(2));

	if (!x)
		return 1 << 14;
	return x > 0 ? y : INT16_MAX - y;
}

/* (1 - exp(-2x)) / (1 + exp(-2x)) */
int32_t nnbx_fixed_tanh(int32_t x, unsigned integer)
{
	int32_t y = in_16((fixed_reciprocal(exp_below_zero(-abs(x), integer + 1)) - Q2_ONE) * INT64_C(4));

	if (!x)
		return 0;
	return x > 0 ? y : -y;
}

/* ---- 32 bits ---- */

#define Q0_ROOT_OF_HALF 1518500250
#define Q3_ONE (1 << 28)

struct nnbx_multiplier nnbx_fixed_inverse_root(int32_t x)
{
	int32_t shift = 11, root = Q3_ONE, half, pairs;

	if (x <= 1)
		return (struct nnbx_multiplier){ INT32_MAX, 0 };
	for (; x >= 1 << 29; shift++)
		x /= 4;
	pairs = (__builtin_clz((unsigned)x) - 1) / 2 - 1;
	shift -= pairs;
	x *= 1 << (2 * pairs); /* now from 1/2 to 2, of Q3 twice */
	half = shifted_right(x / 2, 1);
	for (int i = 0; i < 5; i++) {
		int32_t cube = in_32(times_32(times_32(root, root), root) * INT64_C(64));

		root = in_32(((int64_t)times_32(Q3_ONE + Q3_ONE / 2, root) - times_32(half, cube)) * 8);
	}
	root = times_32(root, Q0_ROOT_OF_HALF);
	if (shift < 0)
		return (struct nnbx_multiplier){ root * (1 << -shift), 0 };
	return (struct nnbx_multiplier){ root, -shift };
}

int32_t nnbx_fixed_times(int32_t x, struct nnbx_multiplier by)
{
	return shifted_right(times_32(x, by.multiplier), (unsigned)-by.shift);
}
