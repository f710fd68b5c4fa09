/*
 * test_answer.c -- the client checks a result: it drops what the status does not allow, and makes a
 * result with impossible shapes a failure.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base.h"
#include "burst/result.h"

#define NONE NNB_STATUS_NONE
#define SMALL NNB_STATUS_OUTPUT_INSUFFICIENT_SIZE
#define MISSED NNB_STATUS_MISSED_DEADLINE_TRANSIENT
#define FAILED NNB_STATUS_GENERAL_FAILURE

/* A shape's rank, and its extents in braces. */
#define SHAPE(n, ...)                            \
	{                                        \
		.rank = (n), .dims = __VA_ARGS__ \
	}

/*
 * Two outputs: the model knows 2 x ? of the first, and nothing of the second; the call states ? x 3 for the
 * first.
 */
static struct nnb_operand operands[] = { { .rank = 2, .dims = { 2, 0 } }, { .rank = 0 } };
static uint32_t outputs[] = { 0, 1 };
static const struct nnb_model model = { .operands = operands, .n_operands = 2, .outputs = outputs, .n_outputs = 2 };
static const struct nnb_argument arguments[] = { { .rank = 2, .dims = { 0, 3 } }, { .rank = 0 } };

static struct row {
	const char *says;
	enum nnb_status status;
	uint32_t n_shapes;
	struct nnb_output_shape first;
	bool measured, with_room;
	enum nnb_status want;
	uint32_t want_shapes;
	bool want_timing;
} rows[] = {
	{ "a success keeps its shapes and its timing", NONE, 2, SHAPE(2, { 2, 3 }), true, true, NONE, 2, true },
	{ "a success without shapes is accepted", NONE, 0, { .rank = 0 }, true, true, NONE, 0, true },
	{ "a timing that was not asked for goes", NONE, 2, SHAPE(2, { 2, 3 }), false, true, NONE, 2, false },
	{ "an output that is too small keeps shapes and no timing", SMALL, 2, SHAPE(2, { 2, 3 }), true, true, SMALL, 2,
	  false },
	{ "an extent may still be unknown then", SMALL, 2, SHAPE(2, { 2, 0 }), true, true, SMALL, 2, false },
	{ "the rank may be unknown, too", SMALL, 2, { .rank = 0 }, true, true, SMALL, 2, false },
	{ "a failure has neither", MISSED, 2, SHAPE(2, { 2, 3 }), true, true, MISSED, 0, false },
	{ "a failure is not judged by shapes that it may not have", MISSED, 2, SHAPE(2, { 9, 9 }), true, true, MISSED,
	  0, false },
	{ "one shape for two outputs is a failure", NONE, 1, SHAPE(2, { 2, 3 }), true, true, FAILED, 0, false },
	{ "three shapes for two outputs are a failure", NONE, 3, SHAPE(2, { 2, 3 }), true, true, FAILED, 0, false },
	{ "one shape is a failure where the caller wanted none",
	  NONE,
	  1,
	  { .rank = 0 },
	  true,
	  false,
	  FAILED,
	  0,
	  false },
	{ "another extent than the model's is a failure", NONE, 2, SHAPE(2, { 4, 3 }), true, true, FAILED, 0, false },
	{ "another extent than the call's is a failure", NONE, 2, SHAPE(2, { 2, 4 }), true, true, FAILED, 0, false },
	{ "another rank is a failure", NONE, 2, SHAPE(3, { 2, 3, 1 }), true, true, FAILED, 0, false },
	{ "another extent of an output that is too small is a failure", SMALL, 2, SHAPE(2, { 4, 3 }), true, true,
	  FAILED, 0, false },
};

static void result_is_checked_as_in_the_row(void **state)
{
	const struct row *row = *state;
	const struct nnb_call call = { .outputs = arguments, .n_outputs = 2, .measure = row->measured };
	struct nnb_output_shape shapes[3] = { row->first, SHAPE(1, { 7 }), { .rank = 0 } };
	struct nnb_result result = { .status = row->status,
		                     .timing = { 5, 6 },
		                     .shapes = row->with_room ? shapes : NULL,
		                     .n_shapes = row->n_shapes };
	struct nnb_answer answer = { .shapes = shapes, .n_shapes = 9 };
	const struct nnb_timing timing = row->want_timing ? (struct nnb_timing){ 5, 6 } : NNB_NO_TIMING;

	assert_int_equal(nnb__answer_from_result(&model, &call, &result, &answer, NULL), row->want);
	assert_int_equal(answer.n_shapes, row->want_shapes);
	assert_memory_equal(&answer.timing, &timing, sizeof(timing));
}

int main(void)
{
	struct CMUnitTest tests[N_OF(rows)];

	for (size_t i = 0; i < N_OF(rows); i++)
		tests[i] = (struct CMUnitTest){ .name = rows[i].says,
			                        .test_func = result_is_checked_as_in_the_row,
			                        .initial_state = &rows[i] };
	return _cmocka_run_group_tests("answers", tests, N_OF(rows), NULL, NULL);
}
