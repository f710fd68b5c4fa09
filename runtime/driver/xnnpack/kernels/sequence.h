/*
 * sequence.h -- LSTM and RNN cells that go through a sequence, in float32.
 *
 * States and scratch are private memory. Everything else may change at any time.
 */
#ifndef NNBX_SEQUENCE_H
#define NNBX_SEQUENCE_H

#include "tensor.h"

/*
 * Where the items of a sequence are: by batch and time. Elements of a row; of out, more than a cell gives where two
 * are merged.
 */
struct nnbx_sequence {
	size_t batch, time;
	bool time_major, backward;
	const float *in, *aux; /* [time, batch, inputs], or [batch, time, inputs]; aux: NULL, or a second input */
	const struct nnbx_tensor *out;
	size_t out_width, out_first;
};

/* A gate: what is multiplied by the inputs, by the state and by the cell. NULL: not there. */
struct nnbx_cell_gate {
	const float *weights;                /* [cells, inputs] */
	const float *aux;                    /* [cells, aux_inputs] */
	const float *recurrent;              /* [cells, outputs] */
	const float *peephole, *bias, *norm; /* [cells] */
};

struct nnbx_cell {
	size_t inputs, aux_inputs, cells, outputs;
	uint32_t activation;
	struct nnbx_cell_gate input, forget, cell, output; /* input without weights: coupled with forget */
	const float *projection, *projection_bias;         /* [outputs, cells], [outputs] */
	float cell_clip, projection_clip;
};

enum { NNBX_CELL_GATES = 4 }; /* scratch: so many floats for each cell */

/* state [batch, outputs] and cells [batch, cells] are the first ones, and then the last. */
void nnbx_sequence_lstm(const struct nnbx_cell *cell, const struct nnbx_sequence *sequence, float *scratch,
                        float *state, float *cells);

struct nnbx_unit {
	size_t inputs, aux_inputs, units;
	uint32_t activation;
	const float *weights, *aux, *recurrent, *bias;
};

/* scratch: a float for each unit */
void nnbx_sequence_rnn(const struct nnbx_unit *unit, const struct nnbx_sequence *sequence, float *scratch,
                       float *state);

#endif
