/* lower_layout.c -- operations that move elements or look them up. */
#include <string.h>

#include "lowering.h"
#include "seen.h"

static size_t element_bytes(const struct site *s, uint32_t input)
{
	return nnb_type_info(s->graph->model->operands[s->op->inputs[input]].type)->bytes;
}

/* Elements of @shape before and from dimension @axis on. */
static size_t dims_product(const struct nnb_shape *shape, uint32_t from, uint32_t to)
{
	size_t n = 1;

	for (uint32_t d = from; d < to; d++)
		n *= shape->dims[d];
	return n;
}

/* A signed byte as an unsigned one's zero point. */
static struct nnbx_quant unsigned_quant(const struct nnb_operand *o)
{
	struct nnb_operand seen = nnbx_see(o);

	return quant_of(&seen);
}

/* nnbx_copy_rows, of bytes that are quantised otherwise than the output is. */
static void requantize_rows(const struct site *s, uint32_t k, size_t rows, size_t row_bytes, size_t out_step,
                            uint8_t *out)
{
	struct nnbx_quant from = unsigned_quant(in_operand(s, k)), to = unsigned_quant(out_operand(s, 0));
	bool is_signed = in_operand(s, k)->type == NNB_TENSOR_QUANT8_ASYMM_SIGNED;
	const uint8_t *in = in_at(s, k);

	for (size_t row = 0; row < rows && nnbx_worked(2000); row++, in += row_bytes, out += out_step)
		nnbx_requantize_q8(row_bytes, from, in, to, is_signed, out);
}

enum nnb_status nnbx_run_concatenation(const struct site *s)
{
	const struct nnb_shape *out = out_shape(s, 0);
	uint32_t n = s->op->n_inputs - 1;
	int32_t axis = in_i32(s, n);
	uint32_t from = (uint32_t)(axis < 0 ? axis + (int32_t)out->rank : axis);
	size_t elem = element_bytes(s, 0), out_step = dims_product(out, from, out->rank) * elem;
	uint8_t *to = out_at(s, 0);

	for (uint32_t k = 0; k < n; k++) {
		const struct nnb_shape *in = in_shape(s, k);
		size_t rows = dims_product(in, 0, from), row_bytes = dims_product(in, from, in->rank) * elem;

		if (in_operand(s, k)->scale == out_operand(s, 0)->scale &&
		    in_operand(s, k)->zero_point == out_operand(s, 0)->zero_point)
			nnbx_copy_rows(rows, row_bytes, in_at(s, k), out_step, to);
		else
			requantize_rows(s, k, rows, row_bytes, out_step, to);
		to += row_bytes;
	}
	return NNB_STATUS_NONE;
}

enum nnb_status nnbx_run_reshape(const struct site *s)
{
	nnbx_copy(out_at(s, 0), in_at(s, 0), shape_elements(in_shape(s, 0)) * element_bytes(s, 0));
	return NNB_STATUS_NONE;
}

enum nnb_status nnbx_run_blocks(const struct site *s)
{
	const struct nnb_shape *in = in_shape(s, 0);
	uint32_t block = (uint32_t)in_i32(s, 1);

	(s->op->type == NNB_DEPTH_TO_SPACE ? nnbx_depth_to_space : nnbx_space_to_depth)(
		in->dims[0], in->dims[1], in->dims[2], in->dims[3], block, element_bytes(s, 0), in_at(s, 0),
		out_at(s, 0));
	return NNB_STATUS_NONE;
}

static enum xnn_status setup_depth_to_space(xnn_operator_t xnn, const struct site *s)
{
	const struct nnb_shape *in = in_shape(s, 0);

	return xnn_setup_depth_to_space_nhwc_x32(xnn, in->dims[0], in->dims[1], in->dims[2], in_at(s, 0), out_at(s, 0),
	                                         NULL);
}

/* XNNPACK has it for elements of four bytes only. */
enum xnn_status nnbx_create_depth_to_space(struct step *step, const struct site *s)
{
	uint32_t in_c = last_dim(in_shape(s, 0)), out_c = last_dim(out_shape(s, 0));

	if (element_bytes(s, 0) != 4 || in_c > NNBX_TILE_WORK / 4)
		return xnn_status_unsupported_parameter;
	step->setup = setup_depth_to_space;
	return xnn_create_depth_to_space_nhwc_x32(out_c, in_c, out_c, (uint32_t)in_i32(s, 1), 0, &step->xnn);
}

/* ---- looking up ---- */

enum nnb_status nnbx_run_embedding_lookup(const struct site *s)
{
	const struct nnb_shape *values = in_shape(s, 1);
	size_t row_bytes = dims_product(values, 1, values->rank) * element_bytes(s, 1);
	bool inside = nnbx_embedding_lookup(in_shape(s, 0)->dims[0], in_at(s, 0), values->dims[0], row_bytes,
	                                    in_at(s, 1), out_at(s, 0));

	return inside ? NNB_STATUS_NONE : NNB_STATUS_GENERAL_FAILURE;
}

enum nnb_status nnbx_run_hashtable_lookup(const struct site *s)
{
	const struct nnb_shape *values = in_shape(s, 2);
	size_t row_bytes = dims_product(values, 1, values->rank) * element_bytes(s, 2);

	nnbx_hashtable_lookup(in_shape(s, 0)->dims[0], in_at(s, 0), in_shape(s, 1)->dims[0], in_at(s, 1), row_bytes,
	                      in_at(s, 2), out_at(s, 0), out_at(s, 1));
	return NNB_STATUS_NONE;
}

static struct nnbx_lsh_projection lsh_of(const struct site *s)
{
	const struct nnb_shape *hash = in_shape(s, 0), *in = in_shape(s, 1);

	return (struct nnbx_lsh_projection){ .hashes = hash->dims[0],
		                             .bits = hash->dims[1],
		                             .items = in->dims[0],
		                             .item_bytes = dims_product(in, 1, in->rank) * element_bytes(s, 1),
		                             .type = (enum nnbx_lsh)in_i32(s, 3) };
}

size_t nnbx_lsh_scratch(const struct site *s)
{
	struct nnbx_lsh_projection p = lsh_of(s);

	return nnbx_lsh_projection_scratch(&p);
}

enum nnb_status nnbx_run_lsh_projection(const struct site *s)
{
	struct nnbx_lsh_projection p = lsh_of(s);

	nnbx_lsh_projection(&p, in_at(s, 0), in_at(s, 1), in_at(s, 2), s->scratch, out_at(s, 0));
	return NNB_STATUS_NONE;
}
