/*
 * null.c -- the driver that computes nothing: what is measured with it is everything else.
 *
 * Every operation is supported and takes no time; outputs keep the bytes they had.
 */
#include "nnb/driver.h"

static int device_open(void **ret)
{
	static char device;

	*ret = &device;
	return 0;
}

static void device_close(void *device)
{
	(void)device;
}

static void null_capabilities(void *device, struct nnb_capabilities *ret)
{
	const struct nnb_performance as_the_cpu = { .time = 1, .power = 1 };

	(void)device;
	ret->relaxed = as_the_cpu;
	ret->n_types = NNB_TENSOR_QUANT8_ASYMM_SIGNED + 1; /* all but the vendor's */
	for (uint32_t i = 0; i < ret->n_types; i++)
		ret->types[i] = (struct nnb_type_performance){ i, as_the_cpu };
}

static enum nnb_status null_supported(void *device, const struct nnb_graph *graph, bool *ret)
{
	(void)device;
	for (uint32_t i = 0; i < graph->model->n_operations; i++)
		ret[i] = graph->model->operations[i].type != NNB_OEM_OPERATION;
	return NNB_STATUS_NONE;
}

static enum nnb_status null_prepare(void *device, const struct nnb_graph *graph, const struct nnb_prepare *how,
                                    void **ret, struct nnb_reason *reason)
{
	(void)how;
	(void)reason;
	for (uint32_t i = 0; i < graph->model->n_operations; i++)
		if (graph->model->operations[i].type == NNB_OEM_OPERATION)
			return NNB_STATUS_INVALID_ARGUMENT;
	*ret = device; /* there is nothing to prepare */
	return NNB_STATUS_NONE;
}

static void null_release(void *prepared)
{
	(void)prepared;
}

static enum nnb_status run_begin(void *prepared, const struct nnb_run *run, void **ret)
{
	(void)run;
	*ret = prepared;
	return NNB_STATUS_NONE;
}

static enum nnb_status run_op(void *run, uint32_t op)
{
	(void)run;
	(void)op;
	return NNB_STATUS_NONE;
}

static void run_end(void *run)
{
	(void)run;
}

NNB_PUBLIC extern const struct nnb_driver nnb_driver_null;
const struct nnb_driver nnb_driver_null = {
	.abi = NNB_DRIVER_ABI,
	.name = "null",
	.version = "1",
	.open = device_open,
	.close = device_close,
	.capabilities = null_capabilities,
	.supported = null_supported,
	.prepare = null_prepare,
	.release = null_release,
	.run_begin = run_begin,
	.run_op = run_op,
	.run_end = run_end,
	.buffer_new = nnb_plain_buffer_new,
	.buffer_free = nnb_plain_buffer_free,
};
