/*
 * test_half.c -- half floats (half.h) against their definition in doubles: all 65536 of them, and floats around each.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "nnb/half.h"

static double value_of(uint16_t half)
{
	int exponent = half >> 10 & 31, fraction = half & 1023;
	double sign = half & 0x8000 ? -1 : 1;

	if (exponent == 31)
		return fraction ? NAN : sign * INFINITY;
	return sign * (exponent ? ldexp(1024 + fraction, exponent - 25) : ldexp(fraction, -24));
}

static void every_half_becomes_its_float(void **state)
{
	(void)state;
	for (uint32_t h = 0; h < 65536; h++) {
		double want = value_of((uint16_t)h), got = (double)nnb_half_to_float((uint16_t)h);

		if (isnan(want) ? !isnan(got) : got != want || signbit(got) != signbit(want))
			fail_msg("%#x is %g, not %g", h, got, want);
	}
}

static void every_half_comes_back(void **state)
{
	(void)state;
	for (uint32_t h = 0; h < 65536; h++) {
		uint16_t back = nnb_float_to_half(nnb_half_to_float((uint16_t)h));

		if (isnan(value_of((uint16_t)h)) ? !isnan(value_of(back)) : back != h)
			fail_msg("%#x comes back as %#x", h, back);
	}
}

/*
 * Rounding takes the nearer of two neighbours, in the middle the even one. From half a step above the greatest
 * half on: infinity.
 */
static void rounding_takes_the_nearer_half(void **state)
{
	(void)state;
	for (uint16_t h = 0; h < 0x7c00; h++) {
		double low = value_of(h), high = h == 0x7bff ? 65536 : value_of((uint16_t)(h + 1));
		float middle = (float)((low + high) / 2);
		uint16_t even = h & 1 ? (uint16_t)(h + 1) : h;

		assert_true((double)middle == (low + high) / 2);
		if (nnb_float_to_half(middle) != even || nnb_float_to_half(nextafterf(middle, 0)) != h ||
		    nnb_float_to_half(nextafterf(middle, INFINITY)) != h + 1 ||
		    nnb_float_to_half(-middle) != (even | 0x8000))
			fail_msg("%.9g, between %#x and the next: %#x", (double)middle, h, nnb_float_to_half(middle));
	}
}

static void numbers_beyond_half_become_infinite(void **state)
{
	(void)state;
	assert_int_equal(nnb_float_to_half(1e30F), 0x7c00);
	assert_int_equal(nnb_float_to_half(-1e30F), 0xfc00);
	assert_int_equal(nnb_float_to_half(0x1p-149F), 0);
	assert_int_equal(nnb_float_to_half(-0x1p-149F), 0x8000);
	assert_true(isnan(nnb_half_to_float(nnb_float_to_half(NAN))));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_half_becomes_its_float),
		cmocka_unit_test(every_half_comes_back),
		cmocka_unit_test(rounding_takes_the_nearer_half),
		cmocka_unit_test(numbers_beyond_half_become_infinite),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
