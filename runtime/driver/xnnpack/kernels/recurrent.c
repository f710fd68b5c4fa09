/* recurrent.c -- RNN, SVDF and LSTM. */
#include "arith.h"

/* ---- RNN ---- */

void nnbx_rnn_f32(const struct nnbx_rnn *p, const float *in, const float *state_in, float *state_out, float *out)
{
	for (size_t b = 0; b < p->batch && nnbx_worked(1); b++, in += p->inputs, state_in += p->units)
		for (size_t u = 0; u < p->units && nnbx_worked(30); u++) {
			float x = p->bias[u] + nnbx_dot_f32(p->weights + u * p->inputs, in, p->inputs) +
			          nnbx_dot_f32(p->recurrent + u * p->units, state_in, p->units);

			x = nnbx_activated(p->activation, x);
			*state_out++ = x;
			*out++ = x;
		}
}

/* ---- SVDF ---- */

/* One filter of one item: put the newest feature last, weigh what is remembered, forget the oldest. */
static float svdf_filter(const struct nnbx_svdf *p, size_t filter, const float *in, const float *state_in,
                         float *state_out)
{
	const float *time = p->time + filter * p->memory;
	size_t older = p->memory - 1;
	float newest = nnbx_dot_f32(p->feature + filter * p->inputs, in, p->inputs);

	NNBX_IN_PARTS (older ? older - 1 : 0, 1, at, part)
		for (size_t i = at; i < at + part; i++)
			state_out[i] = state_in[i + 1];
	if (older)
		state_out[older - 1] = newest;
	state_out[older] = 0;
	return nnbx_dot_f32(time, state_in, older) + time[older] * newest;
}

void nnbx_svdf_f32(const struct nnbx_svdf *p, const float *in, const float *state_in, float *state_out, float *out)
{
	size_t units = p->filters / p->rank;

	for (size_t b = 0; b < p->batch && nnbx_worked(1); b++, in += p->inputs)
		for (size_t u = 0; u < units && nnbx_worked(30); u++) {
			float sum = p->bias ? p->bias[u] : 0;

			for (size_t r = 0; r < p->rank && nnbx_worked(5);
			     r++, state_in += p->memory, state_out += p->memory)
				sum += svdf_filter(p, u * p->rank + r, in, state_in, state_out);
			*out++ = nnbx_activated(p->activation, sum);
		}
}

/* ---- LSTM ---- */

/* An item of the batch. Its gates are parts of its row of the scratch buffer; coupled: input is NULL. */
struct lstm_item {
	const float *in, *state_in, *cell_in;
	float *input, *forget, *cell, *output;
	float *state_out, *cell_out, *out;
};

/* Bring @x to a mean of 0 and a variance of 1. Without any variance, all of it is 0. */
static void row_normalise(size_t n, float *x)
{
	double sum = 0, squares = 0, mean, deviation;

	NNBX_IN_PARTS (n, 1, at, part)
		for (size_t i = at; i < at + part; i++)
			sum += (double)x[i];
	mean = sum / (double)n;
	NNBX_IN_PARTS (n, 1, at, part)
		for (size_t i = at; i < at + part; i++)
			squares += (x[i] - mean) * (x[i] - mean);
	deviation = sqrt(squares / (double)n);
	NNBX_IN_PARTS (n, 2, at, part)
		for (size_t i = at; i < at + part; i++)
			x[i] = deviation > 0 ? (float)((x[i] - mean) / deviation) : 0;
}

static void lstm_gate(const struct nnbx_lstm *p, const struct nnbx_lstm_gate *gate, const struct lstm_item *item,
                      const float *peeped, uint32_t activation, float *ret)
{
	for (size_t i = 0; i < p->cells && nnbx_worked(30); i++) {
		float x = nnbx_dot_f32(gate->weights + i * p->inputs, item->in, p->inputs) +
		          nnbx_dot_f32(gate->recurrent + i * p->outputs, item->state_in, p->outputs);

		if (peeped && gate->peephole)
			x += gate->peephole[i] * peeped[i];
		ret[i] = x;
	}
	if (gate->norm)
		row_normalise(p->cells, ret);
	for (size_t i = 0; i < p->cells && nnbx_worked(30); i++)
		ret[i] = nnbx_activated(activation, ret[i] * (gate->norm ? gate->norm[i] : 1) + gate->bias[i]);
}

static void lstm_step(const struct nnbx_lstm *p, const struct lstm_item *item)
{
	if (item->input)
		lstm_gate(p, &p->input, item, item->cell_in, NNBX_SIGMOID, item->input);
	lstm_gate(p, &p->forget, item, item->cell_in, NNBX_SIGMOID, item->forget);
	lstm_gate(p, &p->cell, item, NULL, p->activation, item->cell);
	for (size_t i = 0; i < p->cells && nnbx_worked(30); i++) {
		float let_in = item->input ? item->input[i] : 1 - item->forget[i];

		item->cell_out[i] =
			nnbx_clip(item->forget[i] * item->cell_in[i] + let_in * item->cell[i], p->cell_clip);
	}
	lstm_gate(p, &p->output, item, item->cell_out, NNBX_SIGMOID, item->output);
	for (size_t i = 0; i < p->cells && nnbx_worked(30); i++)
		item->output[i] *= nnbx_activated(p->activation, item->cell_out[i]);
	for (size_t i = 0; p->projection && i < p->outputs && nnbx_worked(5); i++) {
		float x = p->projection_bias ? p->projection_bias[i] : 0;

		x += nnbx_dot_f32(p->projection + i * p->cells, item->output, p->cells);
		item->out[i] = nnbx_clip(x, p->projection_clip);
	}
	if (!p->projection)
		nnbx_copy(item->out, item->output, p->outputs * sizeof(*item->out));
	nnbx_copy(item->state_out, item->out, p->outputs * sizeof(*item->out));
}

void nnbx_lstm_f32(const struct nnbx_lstm *p, const float *in, const float *state_in, const float *cell_in,
                   float *scratch, float *state_out, float *cell_out, float *out)
{
	size_t gates = p->input.weights ? 4 : 3;

	for (size_t b = 0; b < p->batch && nnbx_worked(1); b++) {
		float *gate = scratch + b * gates * p->cells;
		size_t cells = b * p->cells, outputs = b * p->outputs;
		struct lstm_item item = {
			.in = in + b * p->inputs,
			.state_in = state_in + outputs,
			.cell_in = cell_in + cells,
			.input = p->input.weights ? gate : NULL,
			.forget = gate + (gates - 3) * p->cells,
			.cell = gate + (gates - 2) * p->cells,
			.output = gate + (gates - 1) * p->cells,
			.state_out = state_out + outputs,
			.cell_out = cell_out + cells,
			.out = out + outputs,
		};

		lstm_step(p, &item);
	}
}
