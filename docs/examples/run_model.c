/* run_model.c -- build a model, prepare it, execute it: cc run_model.c $(pkg-config --cflags --libs nnburst) */
#include <nnb/device.h>
#include <stdio.h>

int main(void)
{
	const struct nnb_operand vector = { .type = NNB_TENSOR_FLOAT32, .rank = 1, .dims = { 4 } };
	const struct nnb_operand number = { .type = NNB_INT32 };
	const float half[4] = { 0.5f, 0.5f, 0.5f, 0.5f };
	const int32_t relu = NNB_FUSED_RELU;
	struct nnb_model *model;
	struct nnb_device *device;
	struct nnb_prepared *prepared;
	struct nnb_reason why = { "" };

	/* y = relu(x + 0.5): operands 0 to 3, one operation */
	nnb_model_new(&model, "add_half", NNB_HAL_1_0);
	for (int i = 0; i < 4; i++)
		nnb_model_operand(model, i == 2 ? &number : &vector);
	nnb_model_value(model, 1, half, sizeof(half));
	nnb_model_value(model, 2, &relu, sizeof(relu));
	nnb_model_operation(model, NNB_ADD, (uint32_t[]){ 0, 1, 2 }, 3, (uint32_t[]){ 3 }, 1);
	if (nnb_model_finish(model, (uint32_t[]){ 0 }, 1, (uint32_t[]){ 3 }, 1))
		return 1;

	if (nnb_device_open(&device, "xnnpack", &why) ||
	    nnb_prepare(device, model, &(struct nnb_prepare){ .priority = 1 }, NULL, &prepared, &why)) {
		fprintf(stderr, "%s\n", why.text);
		return 1;
	}

	/* x and y lie in one pool, 16 bytes each */
	struct nnb_memory pool;
	struct nnb_mapping *mapping;
	struct nnb_argument x = { .location = { 0, 0, 16 } }, y = { .location = { 0, 16, 16 } };
	struct nnb_request request = {
		.inputs = &x, .outputs = &y, .n_inputs = 1, .n_outputs = 1, .n_pools = 1, .pools = &pool
	};

	if (nnb_memory_ashmem(&pool, 32) || nnb_map(&mapping, &pool))
		return 1;
	float *at = nnb_mapping_data(mapping);

	for (int i = 0; i < 4; i++)
		at[i] = (float)i - 1;
	if (nnb_execute(prepared, &request, NULL, &why)) {
		fprintf(stderr, "%s\n", why.text);
		return 1;
	}
	printf("%g %g %g %g\n", at[4], at[5], at[6], at[7]);

	nnb_mapping_unref(mapping);
	nnb_memory_close(&pool);
	nnb_prepared_unref(prepared);
	nnb_device_unref(device);
	nnb_model_free(model);
	return 0;
}
