/* lower_each.c -- operations element by element that are of any type. */
#include <math.h>

#include "operand.h"

static enum nnb_status pair_run(const struct site *s, float min, float max)
{
	struct nnbx_tensor a = tensor_in(s, 0), b = tensor_in(s, 1), out = tensor_out(s, 0);

	return status_of(nnbx_pairs((enum nnb_op)s->op->type, &a, &b, (double)min, (double)max, &out));
}

enum nnb_status nnbx_run_fused_pairs(const struct site *s)
{
	float min, max;

	nnb_fused_range((uint32_t)int_in(s, 2, NNB_FUSED_NONE), &min, &max);
	return pair_run(s, min, max);
}

enum nnb_status nnbx_run_plain_pairs(const struct site *s)
{
	return pair_run(s, -INFINITY, INFINITY);
}

enum nnb_status nnbx_run_select(const struct site *s)
{
	struct nnbx_tensor condition = tensor_in(s, 0), a = tensor_in(s, 1), b = tensor_in(s, 2);
	struct nnbx_tensor out = tensor_out(s, 0);

	nnbx_select(&condition, &a, &b, &out);
	return NNB_STATUS_NONE;
}

enum nnb_status nnbx_run_each(const struct site *s)
{
	struct nnbx_tensor in = tensor_in(s, 0), out = tensor_out(s, 0);

	nnbx_each((enum nnb_op)s->op->type, s->op->type == NNB_ELU ? real_in(s, 1) : 0, &in, &out);
	return NNB_STATUS_NONE;
}

enum nnb_status nnbx_run_cast(const struct site *s)
{
	struct nnbx_tensor in = tensor_in(s, 0), out = tensor_out(s, 0);

	if (in.type == out.type)
		nnbx_copy(out.at, in.at, nnbx_elements(&in) * nnbx_element_bytes(&in));
	else
		nnbx_cast(&in, &out);
	return NNB_STATUS_NONE;
}

enum nnb_status nnbx_run_fill(const struct site *s)
{
	struct nnbx_tensor out = tensor_out(s, 0);

	nnbx_fill(nnbx_elements(&out), nnbx_element_bytes(&out), value_at(s, 1), out.at);
	return NNB_STATUS_NONE;
}

enum nnb_status nnbx_run_rank(const struct site *s)
{
	*(int32_t *)out_at(s, 0) = (int32_t)in_shape(s, 0)->rank;
	return NNB_STATUS_NONE;
}
