/* lower_quantized_lstm.c -- LSTM cells whose operands are quantised. */
#include "kernels/quantized_lstm.h"
#include "operand.h"
#include "saturated.h"

/* An input that may be left out: then it is nowhere. */
static struct nnbx_tensor tensor_given(const struct site *s, uint32_t k)
{
	struct nnbx_tensor t = tensor_in(s, k);

	if (in_shape(s, k)->omitted || in_operand(s, k)->lifetime == NNB_NO_VALUE)
		t.at = NULL;
	return t;
}

uint64_t nnbx_quantized_lstm_bytes(const struct site *s)
{
	const struct nnb_shape *cells = in_shape(s, s->op->type == NNB_QUANTIZED_LSTM ? 19 : 13);
	const struct nnb_shape *outputs = in_shape(s, s->op->type == NNB_QUANTIZED_LSTM ? 18 : 14);
	uint64_t n = saturated_product(saturated_elements(cells), NNBX_QUANTIZED_PARTS);

	return saturated_product(saturated_sum(n, saturated_elements(outputs)), sizeof(double));
}

/* Inputs and weights have one scale each, and biases that of their products. */
enum nnb_status nnbx_run_quantized_16bit_lstm(const struct site *s)
{
	struct nnbx_quantized_lstm p = { .crossed = true,
		                         .in = tensor_in(s, 0),
		                         .cells = tensor_in(s, 13),
		                         .state = tensor_in(s, 14),
		                         .out_cells = tensor_out(s, 0),
		                         .out_state = tensor_out(s, 1) };

	for (uint32_t i = 0; i < 4; i++)
		p.gates[i] = (struct nnbx_quantized_gate){ .weights = tensor_in(s, 1 + i),
			                                   .recurrent = tensor_in(s, 5 + i),
			                                   .bias = tensor_in(s, 9 + i),
			                                   .bias_scale = (double)in_operand(s, 0)->scale *
			                                                 (double)in_operand(s, 1 + i)->scale };
	nnbx_quantized_lstm(&p, s->scratch);
	return NNB_STATUS_NONE;
}

enum nnb_status nnbx_run_quantized_lstm(const struct site *s)
{
	static const struct nnb_cell_places places = NNB_QUANTIZED_CELL;
	struct nnbx_quantized_lstm p = { .projection = tensor_given(s, places.projection),
		                         .projection_bias = tensor_given(s, places.projection_bias),
		                         .cell_clip = real_in(s, NNB_QUANTIZED_CLIPS),
		                         .projection_clip = real_in(s, NNB_QUANTIZED_CLIPS + 1),
		                         .hidden_scale = real_in(s, NNB_QUANTIZED_HIDDEN_SCALE),
		                         .hidden_zero = int_in(s, NNB_QUANTIZED_HIDDEN_ZERO, 0),
		                         .in = tensor_in(s, 0),
		                         .state = tensor_in(s, places.state),
		                         .cells = tensor_in(s, places.cells),
		                         .out_state = tensor_out(s, 0),
		                         .out_cells = tensor_out(s, 1),
		                         .out = tensor_out(s, 2) };

	p.projection_bias_scale = p.hidden_scale * (double)p.projection.scale;
	for (uint32_t i = 0; i < 4; i++) {
		static const uint32_t peephole[] = { 0, 1, 3, 2 }; /* the cell has none */
		struct nnbx_quantized_gate g = { .weights = tensor_given(s, places.weights + i),
			                         .recurrent = tensor_given(s, places.recurrent + i),
			                         .bias = tensor_given(s, places.biases + i),
			                         .norm = tensor_given(s, places.norms + i),
			                         .scale = real_in(s, NNB_QUANTIZED_SCALES + i) };

		if (i != 2)
			g.peephole = tensor_given(s, places.peepholes + peephole[i]);
		/* behind a normalisation, 1024ths of its weights; otherwise the products of inputs and weights */
		g.bias_scale = g.norm.at ? (double)g.norm.scale / 1024
		                         : (double)in_operand(s, 0)->scale * (double)g.weights.scale;
		p.gates[i] = g;
	}
	nnbx_quantized_lstm(&p, s->scratch);
	return NNB_STATUS_NONE;
}
