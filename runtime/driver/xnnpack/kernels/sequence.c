/* sequence.c -- LSTM and RNN cells that go through a sequence. */
#include "sequence.h"

#include "arith.h"

/* The row of item @b at step @t, in rows of inputs or outputs. */
static size_t row_of(const struct nnbx_sequence *s, size_t b, size_t t)
{
	size_t time = s->backward ? s->time - 1 - t : t;

	return s->time_major ? time * s->batch + b : b * s->time + time;
}

/* ---- LSTM ---- */

/* An item at one step. */
struct moment {
	const float *in, *aux;
	float *state, *cells;
	float *input, *forget, *cell, *output;
};

/* To a mean of 0 and a deviation of 1, then by @norm. */
static void row_normalize(const float *norm, const float *bias, size_t n, float *x)
{
	double sum = 0, squares = 0, mean, by;

	for (size_t i = 0; i < n && nnbx_worked(2); i++)
		sum += (double)x[i];
	mean = sum / (double)n;
	for (size_t i = 0; i < n && nnbx_worked(2); i++)
		squares += ((double)x[i] - mean) * ((double)x[i] - mean);
	squares /= (double)n;
	by = 1 / sqrt(squares > 0 ? squares : 1e-8);
	for (size_t i = 0; i < n && nnbx_worked(4); i++)
		x[i] = (float)(((double)x[i] - mean) * by * (double)norm[i] + (double)bias[i]);
}

static void gate_run(const struct nnbx_cell *c, const struct nnbx_cell_gate *g, const struct moment *m,
                     uint32_t activation, float *ret)
{
	for (size_t i = 0; i < c->cells && nnbx_worked(20); i++) {
		float x = g->norm ? 0 : g->bias[i];

		x += nnbx_dot_f32(g->weights + i * c->inputs, m->in, c->inputs) +
		     nnbx_dot_f32(g->recurrent + i * c->outputs, m->state, c->outputs);
		if (g->aux && m->aux)
			x += nnbx_dot_f32(g->aux + i * c->aux_inputs, m->aux, c->aux_inputs);
		if (g->peephole)
			x += g->peephole[i] * m->cells[i];
		ret[i] = x;
	}
	if (g->norm)
		row_normalize(g->norm, g->bias, c->cells, ret);
	for (size_t i = 0; i < c->cells && nnbx_worked(20); i++)
		ret[i] = nnbx_activated(activation, ret[i]);
}

static void cell_output(const struct nnbx_cell *c, const struct moment *m)
{
	for (size_t i = 0; i < c->cells && nnbx_worked(30); i++)
		m->output[i] *= nnbx_activated(c->activation, m->cells[i]);
	if (!c->projection) {
		nnbx_copy(m->state, m->output, c->outputs * sizeof(float));
		return;
	}
	for (size_t i = 0; i < c->outputs && nnbx_worked(5); i++) {
		float x = c->projection_bias ? c->projection_bias[i] : 0;

		x += nnbx_dot_f32(c->projection + i * c->cells, m->output, c->cells);
		m->state[i] = nnbx_clip(x, c->projection_clip);
	}
}

void nnbx_sequence_lstm(const struct nnbx_cell *c, const struct nnbx_sequence *s, float *scratch, float *state,
                        float *cells)
{
	for (size_t b = 0; b < s->batch && nnbx_worked(1); b++)
		for (size_t t = 0; t < s->time && nnbx_worked(20); t++) {
			size_t row = row_of(s, b, t);
			struct moment m = { .in = s->in + row * c->inputs,
				            .aux = s->aux ? s->aux + row * c->aux_inputs : NULL,
				            .state = state + b * c->outputs,
				            .cells = cells + b * c->cells,
				            .input = scratch,
				            .forget = scratch + c->cells,
				            .cell = scratch + 2 * c->cells,
				            .output = scratch + 3 * c->cells };
			bool coupled = !c->input.weights;

			if (!coupled)
				gate_run(c, &c->input, &m, NNBX_SIGMOID, m.input);
			gate_run(c, &c->forget, &m, NNBX_SIGMOID, m.forget);
			gate_run(c, &c->cell, &m, c->activation, m.cell);
			for (size_t i = 0; i < c->cells && nnbx_worked(5); i++) {
				float let_in = coupled ? 1 - m.forget[i] : m.input[i];

				m.cells[i] = nnbx_clip(m.forget[i] * m.cells[i] + let_in * m.cell[i], c->cell_clip);
			}
			gate_run(c, &c->output, &m, NNBX_SIGMOID, m.output);
			cell_output(c, &m);
			nnbx_store_floats(s->out, row * s->out_width + s->out_first, c->outputs, m.state);
		}
}

/* ---- RNN ---- */

static void unit_step(const struct nnbx_unit *u, const float *in, const float *aux, float *scratch, float *state)
{
	for (size_t i = 0; i < u->units && nnbx_worked(30); i++) {
		float x = u->bias[i] + nnbx_dot_f32(u->weights + i * u->inputs, in, u->inputs) +
		          nnbx_dot_f32(u->recurrent + i * u->units, state, u->units);

		if (u->aux && aux)
			x += nnbx_dot_f32(u->aux + i * u->aux_inputs, aux, u->aux_inputs);
		scratch[i] = nnbx_activated(u->activation, x);
	}
	nnbx_copy(state, scratch, u->units * sizeof(float));
}

void nnbx_sequence_rnn(const struct nnbx_unit *u, const struct nnbx_sequence *s, float *scratch, float *state)
{
	for (size_t b = 0; b < s->batch && nnbx_worked(1); b++)
		for (size_t t = 0; t < s->time && nnbx_worked(20); t++) {
			size_t row = row_of(s, b, t);

			unit_step(u, s->in + row * u->inputs, s->aux ? s->aux + row * u->aux_inputs : NULL, scratch,
			          state + b * u->units);
			nnbx_store_floats(s->out, row * s->out_width + s->out_first, u->units, state + b * u->units);
		}
}
