/* state.c -- a model whose state stays with the driver: cc state.c $(pkg-config --cflags --libs nnburst) */
#include <nnb/client.h>
#include <stdio.h>

enum { MEMORY = 4, INPUTS = 7, X = 0, STATE_IN = 4, STATE_OUT = 7, Y = 8 };

/* The mean of the last four x: an SVDF with one filter, which takes its memory as an input, and gives the next one. */
static struct nnb_model *mean_of_four(void)
{
	const struct nnb_operand one = { .type = NNB_TENSOR_FLOAT32, .rank = 2, .dims = { 1, 1 } };
	const struct nnb_operand bias = { .type = NNB_TENSOR_FLOAT32, .rank = 1, .dims = { 1 } };
	const struct nnb_operand state = { .type = NNB_TENSOR_FLOAT32, .rank = 2, .dims = { 1, MEMORY } };
	const struct nnb_operand number = { .type = NNB_INT32 };
	const struct nnb_operand *const operands[] = {
		&one, &one, &state, &bias, &state, &number, &number, &state, &one
	};
	const float feature = 1, time[MEMORY] = { 0.25f, 0.25f, 0.25f, 0.25f }, no_bias = 0;
	const int32_t rank = 1, none = NNB_FUSED_NONE;
	struct nnb_model *m;

	nnb_model_new(&m, "mean", NNB_HAL_1_0);
	for (int i = 0; i <= Y; i++)
		nnb_model_operand(m, operands[i]);
	nnb_model_value(m, 1, &feature, sizeof(feature));
	nnb_model_value(m, 2, time, sizeof(time));
	nnb_model_value(m, 3, &no_bias, sizeof(no_bias));
	nnb_model_value(m, 5, &rank, sizeof(rank));
	nnb_model_value(m, 6, &none, sizeof(none));
	nnb_model_operation(m, NNB_SVDF, (uint32_t[]){ X, 1, 2, 3, STATE_IN, 5, 6 }, INPUTS,
	                    (uint32_t[]){ STATE_OUT, Y }, 2);
	nnb_model_finish(m, (uint32_t[]){ X, STATE_IN }, 2, (uint32_t[]){ Y, STATE_OUT }, 2);
	return m;
}

int main(void)
{
	/* Either buffer may be the model's input 1, and its output 1, and nothing else. */
	const struct nnb_buffer_role state_role = { .model = 0, .index = 1, .frequency = 1 };
	const struct nnb_buffer_desc roles = {
		.inputs = &state_role, .outputs = &state_role, .n_inputs = 1, .n_outputs = 1
	};
	struct nnb_model *model = mean_of_four();
	struct nnb_reason why = { "" };
	struct nnb_client *client;
	struct nnb_remote *remote;
	struct nnb_burst *burst;
	struct nnb_remote_buffer *state[2];
	struct nnb_pool *io, *look;

	if (nnb_client_open(&client, NULL, &why) || nnb_remote_prepare(client, model, NULL, NULL, &remote, &why) ||
	    nnb_remote_burst(remote, NULL, &burst, &why) || nnb_pool_new(&io, 8) || nnb_pool_new(&look, 4 * MEMORY))
		return fprintf(stderr, "%s\n", why.text), 1;
	for (int i = 0; i < 2; i++) { /* where they are refused, let them be shared memory */
		if (nnb_remote_buffer_new(&state[i], client, &remote, 1, &roles, true, &why))
			return fprintf(stderr, "%s\n", why.text), 1;
		printf("state %d: %s\n", i, nnb_remote_buffer_fell_back(state[i]) ? "shared memory" : "the driver's");
	}
	if (nnb_remote_buffer_copy_from(state[0], nnb_pool_memory(look), 0, NULL, &why)) /* to begin with: zeroes */
		return fprintf(stderr, "%s\n", why.text), 1;

	float *x = nnb_pool_data(io), *y = x + 1, *held = nnb_pool_data(look);

	for (int t = 0; t < 6; t++) {
		struct nnb_remote_buffer *in = state[t % 2], *out = state[(t + 1) % 2];
		struct nnb_pool *pools[] = { io, nnb_remote_buffer_pool(in), nnb_remote_buffer_pool(out) };
		struct nnb_argument inputs[] = { { .location = { 0, 0, 4 } }, nnb_remote_buffer_argument(in, 1) };
		struct nnb_argument outputs[] = { { .location = { 0, 4, 4 } }, nnb_remote_buffer_argument(out, 2) };
		struct nnb_call call = { inputs, outputs, pools, .n_inputs = 2, .n_outputs = 2, .n_pools = 3 };

		*x = (float)(t + 1);
		if (nnb_burst_execute(burst, &call, NULL, &why))
			return fprintf(stderr, "%s\n", why.text), 1;
		printf("%g: %g\n", *x, *y);
	}
	if (nnb_remote_buffer_copy_to(state[0], nnb_pool_memory(look), &why)) /* it can be looked at, by a copy */
		return fprintf(stderr, "%s\n", why.text), 1;
	printf("it holds %g %g %g\n", held[0], held[1], held[2]);
	for (int i = 0; i < 2; i++)
		nnb_remote_buffer_free(state[i]);
	nnb_pool_free(look);
	nnb_pool_free(io);
	nnb_burst_free(burst);
	nnb_remote_release(remote);
	nnb_client_close(client);
	nnb_model_free(model);
	return 0;
}
