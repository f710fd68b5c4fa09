/* burst.c -- one model, executed again and again by nnburstd: cc burst.c $(pkg-config --cflags --libs nnburst) */
#include <nnb/client.h>
#include <stdio.h>

int main(void)
{
	const struct nnb_operand vector = { .type = NNB_TENSOR_FLOAT32, .rank = 1, .dims = { 4 } };
	const struct nnb_operand number = { .type = NNB_INT32 };
	const float half[4] = { 0.5f, 0.5f, 0.5f, 0.5f };
	const int32_t relu = NNB_FUSED_RELU;
	struct nnb_reason why = { "" };
	struct nnb_client *client;
	struct nnb_model *model;
	struct nnb_remote *remote;
	struct nnb_burst *burst;
	struct nnb_pool *pool;

	/* y = relu(x + 0.5) */
	nnb_model_new(&model, "add_half", NNB_HAL_1_0);
	for (int i = 0; i < 4; i++)
		nnb_model_operand(model, i == 2 ? &number : &vector);
	nnb_model_value(model, 1, half, sizeof(half));
	nnb_model_value(model, 2, &relu, sizeof(relu));
	nnb_model_operation(model, NNB_ADD, (uint32_t[]){ 0, 1, 2 }, 3, (uint32_t[]){ 3 }, 1);
	nnb_model_finish(model, (uint32_t[]){ 0 }, 1, (uint32_t[]){ 3 }, 1);

	if (nnb_client_open(&client, NULL, &why) || nnb_remote_prepare(client, model, NULL, NULL, &remote, &why) ||
	    nnb_remote_burst(remote, NULL, &burst, &why) || nnb_pool_new(&pool, 32)) {
		fprintf(stderr, "%s\n", why.text);
		return 1;
	}

	/* x and y lie in one pool, which the service maps when it first sees it */
	struct nnb_argument x = { .location = { 0, 0, 16 } }, y = { .location = { 0, 16, 16 } };
	struct nnb_call call = {
		.inputs = &x, .outputs = &y, .pools = &pool, .n_inputs = 1, .n_outputs = 1, .n_pools = 1
	};
	float *at = nnb_pool_data(pool);

	for (int round = 0; round < 3; round++) {
		for (int i = 0; i < 4; i++)
			at[i] = (float)(round * i) - 1;
		if (nnb_burst_execute(burst, &call, NULL, &why)) {
			fprintf(stderr, "%s\n", why.text);
			return 1;
		}
		printf("%g %g %g %g\n", at[4], at[5], at[6], at[7]);
	}
	nnb_pool_free(pool);
	nnb_burst_free(burst);
	nnb_remote_release(remote);
	nnb_client_close(client);
	nnb_model_free(model);
	return 0;
}
