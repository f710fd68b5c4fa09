/*
 * wide.h -- loops compiled twice: for every x86-64, and for cpus with AVX2 and FMA, whose vectors are twice as long.
 *
 *	static NNBX_INLINE void scale_body(size_t n, const float *in, float *out) { ... }
 *	NNBX_TWICE(scale, (size_t n, const float *in, float *out), (n, in, out))
 *
 * defines scale(n, in, out), which runs the body that suits the cpu. With FMA a product is not rounded before it is
 * added, so the two give other last bits: results are the same on one machine, whatever the path, and not on any two.
 */
#ifndef NNBX_WIDE_H
#define NNBX_WIDE_H

#include <stdbool.h>
#include <stdint.h>

/* For tests: this cpu is like any. */
extern bool nnbx_narrow;

#define NNBX_INLINE inline __attribute__((always_inline))

#ifdef __x86_64__
#define NNBX_TWICE(name, parameters, arguments)                                                      \
	__attribute__((target("avx2,fma"), noinline)) static void name##_wide parameters             \
	{                                                                                            \
		name##_body arguments;                                                               \
	}                                                                                            \
	static void name parameters                                                                  \
	{                                                                                            \
		if (!nnbx_narrow && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) \
			name##_wide arguments;                                                       \
		else                                                                                 \
			name##_body arguments;                                                       \
	}
#else
#define NNBX_TWICE(name, parameters, arguments) \
	static void name parameters             \
	{                                       \
		name##_body arguments;          \
	}
#endif

/* Eight floats that lie anywhere, and are added and multiplied one by one. */
typedef float nnbx_float8 __attribute__((vector_size(32), aligned(4), may_alias));
typedef int32_t nnbx_int8 __attribute__((vector_size(32), aligned(4),
                                         may_alias)); /* the bits of floats, and the results of comparisons */

/*
 * Where @mask is set, @a, elsewhere @b. A macro: vectors are no arguments where a cpu may not have registers of their
 * length.
 */
#define NNBX_CHOOSE(mask, a, b) ((nnbx_float8)(((nnbx_int8)(a) & (mask)) | ((nnbx_int8)(b) & ~(mask))))

#endif
