/* hostile_models.c -- see hostile_models.h. */
#include "hostile_models.h"

#include "unit/device_helpers.h"

struct nnb_model *model_of_unknown_work(int32_t filter)
{
	struct nnb_operand image = { .type = NNB_TENSOR_QUANT8_ASYMM,
		                     .rank = 4,
		                     .dims = { 1, UNKNOWN_SIDE, UNKNOWN_SIDE, UNKNOWN_CHANNELS },
		                     .scale = 1 };
	const struct nnb_operand times = { .type = NNB_TENSOR_INT32, .rank = 1, .dims = { 4 } };
	uint32_t given[2], add[3], tile[2], pool[7], out;
	struct nnb_model *m;

	assert_int_equal(nnb_model_new(&m, "unknown", NNB_HAL_1_3), 0);
	given[0] = tile[0] = operand(m, &image);
	given[1] = add[0] = add[1] = operand(m, &times);
	tile[1] = operand(m, &times);
	memset(image.dims, 0, sizeof(image.dims));
	pool[0] = operand(m, &image);
	pool[1] = int_scalar(m, NNB_PADDING_VALID);
	pool[2] = pool[3] = int_scalar(m, 1);
	pool[4] = pool[5] = int_scalar(m, filter);
	add[2] = pool[6] = int_scalar(m, NNB_FUSED_NONE);
	out = operand(m, &image);
	assert_true(nnb_model_operation(m, NNB_ADD, add, 3, &tile[1], 1) >= 0);
	assert_true(nnb_model_operation(m, NNB_TILE, tile, 2, pool, 1) >= 0);
	assert_true(nnb_model_operation(m, NNB_MAX_POOL_2D, pool, 7, &out, 1) >= 0);
	assert_int_equal(nnb_model_finish(m, given, 2, &out, 1), 0);
	return m;
}
