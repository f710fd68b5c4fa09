/* lower_wide_conv.c -- convolutions in groups, and transposed ones. */
#include "kernels/wide_conv.h"

#include <math.h>

#include "operand.h"
#include "saturated.h"

/* Scratch: the input and the filter as floats. */
uint64_t nnbx_wide_conv_bytes(const struct site *s)
{
	uint64_t n = saturated_sum(saturated_elements(in_shape(s, 0)), saturated_elements(in_shape(s, 1)));

	return saturated_product(n, sizeof(float));
}

static enum nnb_status wide_conv_run(const struct site *s, struct nnbx_wide_conv *p)
{
	struct nnbx_tensor in = tensor_units(s, 0), filter = tensor_units(s, 1), bias = tensor_in(s, 2);
	struct nnbx_tensor out = tensor_out(s, 0);
	size_t n = nnbx_elements(&in);
	float *floats = s->scratch, min, max;

	nnbx_load_floats(&in, 0, n, floats);
	nnbx_load_floats(&filter, 0, nnbx_elements(&filter), floats + n);
	p->in = floats;
	p->filter = floats + n;
	p->scale = in.scale == 0 ? 1 : (double)in_operand(s, 0)->scale;
	if (filter.scale != 0)
		p->scale *= (double)in_operand(s, 1)->scale;
	p->scales = nnb_operand_scales(s->graph->model, in_operand(s, 1));
	nnb_fused_range(p->window.fused, &min, &max);
	p->min = (double)min;
	p->max = (double)max;
	nnbx_wide_conv(p, in.dims, &bias, &out);
	return NNB_STATUS_NONE;
}

enum nnb_status nnbx_run_grouped_conv(const struct site *s)
{
	struct nnbx_wide_conv p = { .groups = (uint32_t)int_in(s, s->op->n_inputs - 3, 1),
		                    .nchw = flag_in(s, s->op->n_inputs - 1) };

	if (nnb_window(s->graph, s->index, s->shapes, &p.window))
		return NNB_STATUS_GENERAL_FAILURE;
	return wide_conv_run(s, &p);
}

enum nnb_status nnbx_run_transpose_conv(const struct site *s)
{
	struct nnbx_wide_conv p = { .groups = 1, .transposed = true, .nchw = flag_in(s, s->op->n_inputs - 1) };

	if (nnb_window(s->graph, s->index, s->shapes, &p.window))
		return NNB_STATUS_GENERAL_FAILURE;
	return wide_conv_run(s, &p);
}
