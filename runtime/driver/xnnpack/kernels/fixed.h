/*
 * fixed.h -- the fixed-point numbers of the HAL's quantised cells: what they approximate, they approximate the same
 * way.
 *
 * A 16-bit activation is a few steps off the real function. Public models have those steps in what they expect of
 * QUANTIZED_LSTM. The series, the reciprocal and their roundings here are those that are publicly known of gemmlowp,
 * which they were made with.
 */
#ifndef NNBX_FIXED_H
#define NNBX_FIXED_H

#include <stdint.h>

/* The sigmoid of @x, which is in 4096ths, in 32768ths. */
int32_t nnbx_fixed_sigmoid(int32_t x);

/* The tanh of @x in 32768ths. @x has 16 bits: a sign, and @integer bits before its point (up to 6). */
int32_t nnbx_fixed_tanh(int32_t x, unsigned integer);

/* A real as multiplier * 2^(shift - 31). */
struct nnbx_multiplier {
	int32_t multiplier, shift; /* shift <= 0 */
};

/* 1 / sqrt(x), where x is above 0. */
struct nnbx_multiplier nnbx_fixed_inverse_root(int32_t x);

/* @x times it, rounded twice: where it is multiplied, and where it is shifted. */
int32_t nnbx_fixed_times(int32_t x, struct nnbx_multiplier by);

#endif
