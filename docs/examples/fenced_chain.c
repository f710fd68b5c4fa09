/*
 * fenced_chain.c -- three executions, each behind the one before: cc fenced_chain.c $(pkg-config --cflags --libs
 * nnburst)
 */
#include <nnb/client.h>
#include <nnb/fence.h>
#include <stdio.h>
#include <unistd.h>

enum { STEPS = 3 };

int main(void)
{
	const struct nnb_operand vector = { .type = NNB_TENSOR_FLOAT32, .rank = 1, .dims = { 4 } };
	const struct nnb_operand number = { .type = NNB_INT32 };
	const int32_t none = NNB_FUSED_NONE;
	struct nnb_reason why = { "" };
	struct nnb_client *client;
	struct nnb_model *model;
	struct nnb_remote *remote;
	struct nnb_pool *pool;
	struct nnb_fenced *steps[STEPS];
	int fences[1 + STEPS], done;

	/* y = x + x */
	nnb_model_new(&model, "double", NNB_HAL_1_0);
	for (int i = 0; i < 3; i++)
		nnb_model_operand(model, i == 1 ? &number : &vector);
	nnb_model_value(model, 1, &none, sizeof(none));
	nnb_model_operation(model, NNB_ADD, (uint32_t[]){ 0, 0, 1 }, 3, (uint32_t[]){ 2 }, 1);
	nnb_model_finish(model, (uint32_t[]){ 0 }, 1, (uint32_t[]){ 2 }, 1);

	if (nnb_client_open(&client, NULL, &why) || nnb_remote_prepare(client, model, NULL, NULL, &remote, &why) ||
	    nnb_pool_new(&pool, 16 * (1 + STEPS)) || nnb_fence_new(&fences[0]))
		return fprintf(stderr, "%s\n", why.text), 1;

	/* what one step writes the next one reads; the first waits for us */
	for (uint32_t i = 0; i < STEPS; i++) {
		struct nnb_argument x = { .location = { 0, 16 * i, 16 } }, y = { .location = { 0, 16 * (i + 1), 16 } };
		struct nnb_call call = { &x, &y, &pool, .n_inputs = 1, .n_outputs = 1, .n_pools = 1 };
		struct nnb_fenced_how how = { .wait_for = &fences[i], .n_wait_for = 1 };

		if (nnb_remote_execute_fenced(remote, &call, &how, &steps[i], &fences[i + 1], &why))
			return fprintf(stderr, "%s\n", why.text), 1;
	}
	float *at = nnb_pool_data(pool);

	for (int i = 0; i < 4; i++)
		at[i] = (float)(i + 1);
	nnb_fence_signal(fences[0], false);
	done = nnb_fence_wait(&fences[STEPS], 1, 0); /* the service needs no app meanwhile */
	printf("%s %g %g %g %g\n", done == NNB_FENCE_SIGNALLED ? "done" : "failed", at[12], at[13], at[14], at[15]);
	for (int i = 0; i <= STEPS; i++)
		close(fences[i]);
	for (int i = 0; i < STEPS; i++)
		nnb_fenced_free(steps[i]);
	nnb_pool_free(pool);
	nnb_remote_release(remote);
	nnb_client_close(client);
	nnb_model_free(model);
	return 0;
}
