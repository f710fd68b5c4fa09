/* test_compare.c -- how nnburst-conformance compares outputs with the expected ones. */
#include <math.h>

#include "conformance/compare.h"
#include "unit/device_helpers.h"

static const struct row {
	const char *name;
	double got, want;
	bool same;
} rows[] = {
	{ "the same number", 1, 1, true },
	{ "within the tolerance", 1 + 1e-6, 1, true },
	{ "beyond it", 1.001, 1, false },
	{ "a number for an infinity", 12345, INFINITY, false },
	{ "the other infinity", -INFINITY, INFINITY, false },
	{ "the same infinity", -INFINITY, -INFINITY, true },
	{ "an infinity for a number", INFINITY, 1, false },
	{ "NaN for a number", NAN, 1, false },
	{ "a number for NaN", 1, NAN, false },
	{ "NaN for an infinity", NAN, INFINITY, false },
};

static void outputs_are_compared(void **state)
{
	struct nnb_reason why = { "" };
	struct nnb_model *m;
	uint32_t x, y, act;

	(void)state;
	assert_int_equal(nnb_model_new(&m, "adds", NNB_HAL_1_0), 0);
	x = float_tensor(m, 1);
	y = float_tensor(m, 1);
	act = int_scalar(m, NNB_FUSED_NONE);
	assert_true(nnb_model_operation(m, NNB_ADD, (uint32_t[]){ x, x, act }, 3, &y, 1) >= 0);
	assert_int_equal(nnb_model_finish(m, &x, 1, &y, 1), 0);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		float got = (float)rows[i].got, want = (float)rows[i].want;

		if ((compare_output(m, 0, &got, &want, sizeof(got), &why) == 0) != rows[i].same)
			fail_msg("%s: %g and %g are%s the same", rows[i].name, rows[i].got, rows[i].want,
			         rows[i].same ? " not" : "");
	}
	nnb_model_free(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(outputs_are_compared) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
