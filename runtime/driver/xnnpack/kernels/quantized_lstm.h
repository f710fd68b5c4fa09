/*
 * quantized_lstm.h -- LSTM cells whose operands are quantised: one step of a batch.
 *
 * Computed in double; rounded where the HAL's fixed-point numbers are, so that results are theirs to the last bit or
 * next to it. A tensor whose at is NULL is left out.
 */
#ifndef NNBX_QUANTIZED_LSTM_H
#define NNBX_QUANTIZED_LSTM_H

#include "tensor.h"

struct nnbx_quantized_gate {
	struct nnbx_tensor weights, recurrent, peephole, bias, norm;
	double bias_scale;
	double scale; /* scale of the sum before it is normalised */
};

struct nnbx_quantized_lstm {
	/* input, forget, cell, output; without weights the first is coupled with the second */
	struct nnbx_quantized_gate gates[4];
	struct nnbx_tensor projection, projection_bias;
	double projection_bias_scale, cell_clip, projection_clip;
	double hidden_scale; /* scale of the values before the projection */
	int32_t hidden_zero;
	/* QUANTIZED_16BIT_LSTM: the weights of the state and then those of the input lie in a row, and are for the
	 * input and then the state */
	bool crossed;
	struct nnbx_tensor in, state, cells, out_state, out_cells,
		out; /* out.at NULL: the state is all that comes out */
};

/* scratch: five doubles for each cell, and one for each output */
enum { NNBX_QUANTIZED_PARTS = 5 };

void nnbx_quantized_lstm(const struct nnbx_quantized_lstm *p, double *scratch);

#endif
