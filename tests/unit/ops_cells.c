/* ops_cells.c -- oracles of cells with a state: one step, sequences in both directions, and quantised cells. */
#include "unit/op_oracle.h"

/* ---- tensors ---- */

static struct tensor *state_tensor(struct maker *k, uint32_t rank, const uint32_t *dims)
{
	return tensor_give(k, tensor_make(k, k->type, rank, dims, 0, 0), 2, false);
}

static struct tensor *weights_tensor(struct maker *k, uint32_t rank, const uint32_t *dims)
{
	return tensor_give(k, tensor_make(k, k->type, rank, dims, 0, 0), 1, random_chance(70));
}

static struct tensor *tensor_unless(struct maker *k, bool omitted, uint32_t rank, const uint32_t *dims)
{
	if (!omitted)
		return weights_tensor(k, rank, dims);
	operand_omit(k, k->type, rank, dims);
	return NULL;
}

static struct tensor *tensor_like(struct maker *k, uint32_t rank, const uint32_t *dims)
{
	return tensor_want(k, k->type, rank, dims, 0, 0);
}

/* ---- one step ---- */

static void make_rnn(struct maker *k)
{
	uint32_t batch = random_between(1, 3), inputs = random_between(1, 6), units = random_between(1, 6),
		 activation = random_below(5);
	struct tensor *in = state_tensor(k, DIMS(batch, inputs)), *w = weights_tensor(k, DIMS(units, inputs));
	struct tensor *r = weights_tensor(k, DIMS(units, units)), *bias = weights_tensor(k, DIMS(units));
	struct tensor *state = state_tensor(k, DIMS(batch, units)), *out[2];

	integer_give(k, (int32_t)activation);
	for (int i = 0; i < 2; i++)
		out[i] = tensor_like(k, DIMS(batch, units));
	for (size_t i = 0; i < out[0]->n; i++) {
		size_t b = i / units, u = i % units;
		double x = bias->reals[u] + times_row(w, u, in->reals + b * inputs, inputs) +
		           times_row(r, u, state->reals + b * units, units);

		out[0]->reals[i] = out[1]->reals[i] = value_activated(activation, x);
	}
}

static void make_svdf(struct maker *k)
{
	uint32_t batch = random_between(1, 3), inputs = random_between(1, 5), rank = random_between(1, 2),
		 units = random_between(1, 4);
	uint32_t filters = rank * units, memory = random_between(1, 5), activation = random_below(4);
	struct tensor *in = state_tensor(k, DIMS(batch, inputs)), *feature = weights_tensor(k, DIMS(filters, inputs));
	struct tensor *time = weights_tensor(k, DIMS(filters, memory)), *bias = NULL, *state, *next, *out;

	if (random_chance(50))
		bias = weights_tensor(k, DIMS(units));
	else
		operand_omit(k, k->type, DIMS(units));
	state = state_tensor(k, DIMS(batch, filters * memory));
	integer_give(k, (int32_t)rank);
	integer_give(k, (int32_t)activation);
	next = tensor_like(k, DIMS(batch, filters * memory));
	out = tensor_like(k, DIMS(batch, units));
	for (uint32_t b = 0; b < batch; b++)
		for (uint32_t f = 0; f < filters; f++) {
			size_t at = ((size_t)b * filters + f) * memory;

			for (uint32_t i = 1; i < memory; i++)
				next->reals[at + i - 1] = state->reals[at + i];
			if (memory > 1)
				next->reals[at + memory - 2] =
					times_row(feature, f, in->reals + (size_t)b * inputs, inputs);
			next->reals[at + memory - 1] = 0;
		}
	for (size_t i = 0; i < out->n; i++) {
		size_t b = i / units, u = i % units;
		double sum = bias ? bias->reals[u] : 0;

		for (size_t f = u * rank; f < (u + 1) * rank; f++) {
			const double *was = state->reals + (b * filters + f) * memory;

			for (size_t j = 0; j + 1 < memory; j++)
				sum += time->reals[f * memory + j] * was[j];
			sum += time->reals[f * memory + memory - 1] *
			       times_row(feature, f, in->reals + b * inputs, inputs);
		}
		out->reals[i] = value_activated(activation, sum);
	}
}

/* ---- LSTM ---- */

enum { CELLS_MAX = 8 };

struct lstm {
	uint32_t inputs, aux_inputs, cells, outputs, activation;
	bool coupled, peeps, projects, projects_bias, norms;
	double cell_clip, projection_clip;
	/* by gate: input, forget, cell, output */
	struct tensor *w[4], *r[4], *peep[4], *bias[4], *norm[4], *aux[4], *projection, *projection_bias, *state, *cell;
};

static struct lstm random_lstm(uint32_t inputs)
{
	static const uint32_t activations[] = { 0, 1, 3, 4, 6 };
	struct lstm l = { .inputs = inputs,
		          .cells = random_between(4, CELLS_MAX),
		          .activation = activations[random_below(5)],
		          .coupled = random_chance(40),
		          .peeps = random_chance(50),
		          .projects = random_chance(50),
		          .norms = random_chance(50) };

	l.outputs = l.projects ? random_between(1, 5) : l.cells;
	l.projects_bias = l.projects && random_chance(50);
	return l;
}

/* Weights of input and state, peepholes, biases, projection. */
static void lstm_cell(struct maker *k, struct lstm *l)
{
	for (int g = 0; g < 4; g++)
		l->w[g] = tensor_unless(k, g == 0 && l->coupled, DIMS(l->cells, l->inputs));
	for (int g = 0; g < 4; g++)
		l->r[g] = tensor_unless(k, g == 0 && l->coupled, DIMS(l->cells, l->outputs));
	for (int g = 0; g < 4; g++)
		if (g != 2)
			l->peep[g] = tensor_unless(k, !l->peeps || (g == 0 && l->coupled), DIMS(l->cells));
	for (int g = 0; g < 4; g++)
		l->bias[g] = tensor_unless(k, g == 0 && l->coupled, DIMS(l->cells));
	l->projection = tensor_unless(k, !l->projects, DIMS(l->outputs, l->cells));
	l->projection_bias = tensor_unless(k, !l->projects_bias, DIMS(l->outputs));
}

static void lstm_states(struct maker *k, struct lstm *l, uint32_t batch)
{
	l->state = state_tensor(k, DIMS(batch, l->outputs));
	l->cell = state_tensor(k, DIMS(batch, l->cells));
}

static void lstm_scalars(struct maker *k, struct lstm *l)
{
	integer_give(k, (int32_t)l->activation);
	l->cell_clip = number_give(k, random_chance(50) ? 0 : 1.25);
	l->projection_clip = number_give(k, random_chance(50) ? 0 : 0.75);
}

static void lstm_norms(struct maker *k, struct lstm *l)
{
	for (int g = 0; g < 4; g++)
		l->norm[g] = tensor_unless(k, !l->norms || (g == 0 && l->coupled), DIMS(l->cells));
}

/* An item at one of its steps. */
struct moment {
	const double *in, *aux, *state, *cells;
};

/* The values of gate @g; @peeped: the cell state that its peepholes read. */
static void lstm_gate(const struct lstm *l, int g, const struct moment *m, const double *peeped, uint32_t activation,
                      double *ret)
{
	double mean = 0, variance = 0;

	for (size_t u = 0; u < l->cells; u++) {
		ret[u] = times_row(l->w[g], u, m->in, l->inputs) + times_row(l->r[g], u, m->state, l->outputs) +
		         (l->peep[g] ? l->peep[g]->reals[u] * peeped[u] : 0) +
		         (l->aux[g] ? times_row(l->aux[g], u, m->aux, l->aux_inputs) : 0);
		mean += ret[u] / l->cells;
	}
	for (size_t u = 0; u < l->cells; u++)
		variance += (ret[u] - mean) * (ret[u] - mean) / l->cells;
	for (size_t u = 0; u < l->cells; u++) {
		if (l->norms)
			ret[u] = (ret[u] - mean) / sqrt(variance) * l->norm[g]->reals[u];
		ret[u] = value_activated(activation, ret[u] + l->bias[g]->reals[u]);
	}
}

static double value_clip(double x, double limit)
{
	return limit > 0 ? fmin(fmax(x, -limit), limit) : x;
}

/* Compute the cells' state after this step, and the step's output. */
static void lstm_step(const struct lstm *l, const struct moment *m, double *cell_out, double *out)
{
	double gates[4][CELLS_MAX], hidden[CELLS_MAX];

	lstm_gate(l, 1, m, m->cells, 6, gates[1]);
	lstm_gate(l, 2, m, NULL, l->activation, gates[2]);
	if (!l->coupled)
		lstm_gate(l, 0, m, m->cells, 6, gates[0]);
	for (size_t u = 0; u < l->cells; u++) {
		double let_in = l->coupled ? 1 - gates[1][u] : gates[0][u];

		cell_out[u] = value_clip(gates[1][u] * m->cells[u] + let_in * gates[2][u], l->cell_clip);
	}
	lstm_gate(l, 3, m, cell_out, 6, gates[3]);
	for (size_t u = 0; u < l->cells; u++)
		hidden[u] = gates[3][u] * value_activated(l->activation, cell_out[u]);
	for (size_t i = 0; i < l->outputs; i++) {
		double sum = l->projection_bias ? l->projection_bias->reals[i] : 0;

		out[i] = l->projects
		                 ? value_clip(sum + times_row(l->projection, i, hidden, l->cells), l->projection_clip)
		                 : hidden[i];
	}
}

static void make_lstm(struct maker *k)
{
	uint32_t batch = random_between(1, 3), inputs = random_between(1, 5);
	struct tensor *in = state_tensor(k, DIMS(batch, inputs)), *state, *cells, *out;
	struct lstm l = random_lstm(inputs);

	lstm_cell(k, &l);
	lstm_states(k, &l, batch);
	lstm_scalars(k, &l);
	if (l.norms || random_chance(50))
		lstm_norms(k, &l);
	tensor_like(k, DIMS(batch, l.cells * (l.coupled ? 3 : 4)));
	state = tensor_like(k, DIMS(batch, l.outputs));
	cells = tensor_like(k, DIMS(batch, l.cells));
	out = tensor_like(k, DIMS(batch, l.outputs));
	for (uint32_t b = 0; b < batch; b++) {
		struct moment m = { in->reals + (size_t)b * inputs, NULL, l.state->reals + (size_t)b * l.outputs,
			            l.cell->reals + (size_t)b * l.cells };

		lstm_step(&l, &m, cells->reals + (size_t)b * l.cells, out->reals + (size_t)b * l.outputs);
	}
	memcpy(state->reals, out->reals, out->n * sizeof(*out->reals));
	k->wanted[0]->n = 0; /* the content of the scratch buffer is unspecified */
}

/* ---- sequences ---- */

struct sequence {
	uint32_t batch, time;
	bool time_major, backward;
	const struct tensor *in, *aux; /* aux: NULL where the cell has no weights for it */
	struct tensor *out;
	uint32_t width, first; /* the length of a row of out, and the offset of this direction's part */
};

static struct sequence random_sequence(void)
{
	return (struct sequence){ .batch = random_between(1, 3),
		                  .time = random_between(1, 4),
		                  .time_major = random_chance(50) };
}

static struct tensor *give_sequence(struct maker *k, const struct sequence *s, uint32_t width)
{
	return state_tensor(k, DIMS(s->time_major ? s->time : s->batch, s->time_major ? s->batch : s->time, width));
}

static struct tensor *want_sequence(struct maker *k, const struct sequence *s, uint32_t width)
{
	struct tensor *t =
		tensor_like(k, DIMS(s->time_major ? s->time : s->batch, s->time_major ? s->batch : s->time, width));

	t->off = 4;
	return t;
}

static struct tensor *want_state(struct maker *k, const struct tensor *from)
{
	struct tensor *t = tensor_like(k, from->operand.rank, from->operand.dims);

	t->off = 4;
	return t;
}

/* The row of item @b at step @step, in the direction of the sequence. */
static size_t sequence_row(const struct sequence *s, uint32_t b, uint32_t step)
{
	uint32_t t = s->backward ? s->time - 1 - step : step;

	return s->time_major ? (size_t)t * s->batch + b : (size_t)b * s->time + t;
}

/* @state, @cells: outputs for the last state; NULL: not wanted. */
static void run_lstm(const struct lstm *l, const struct sequence *s, struct tensor *state, struct tensor *cells)
{
	for (uint32_t b = 0; b < s->batch; b++) {
		double now[CELLS_MAX], held[CELLS_MAX], next[CELLS_MAX], given[CELLS_MAX];

		memcpy(now, l->state->reals + (size_t)b * l->outputs, l->outputs * sizeof(double));
		memcpy(held, l->cell->reals + (size_t)b * l->cells, l->cells * sizeof(double));
		for (uint32_t step = 0; step < s->time; step++) {
			size_t row = sequence_row(s, b, step);
			struct moment m = { s->in->reals + row * l->inputs,
				            s->aux ? s->aux->reals + row * l->aux_inputs : NULL, now, held };

			lstm_step(l, &m, next, given);
			memcpy(held, next, sizeof(held));
			memcpy(now, given, sizeof(now));
			memcpy(s->out->reals + row * s->width + s->first, now, l->outputs * sizeof(double));
		}
		if (state)
			memcpy(state->reals + (size_t)b * l->outputs, now, l->outputs * sizeof(double));
		if (cells)
			memcpy(cells->reals + (size_t)b * l->cells, held, l->cells * sizeof(double));
	}
}

static void make_sequence_lstm(struct maker *k)
{
	struct sequence s = random_sequence();
	uint32_t inputs = random_between(1, 5);
	struct tensor *state = NULL, *cells = NULL;
	struct lstm l = random_lstm(inputs);

	s.in = give_sequence(k, &s, inputs);
	lstm_cell(k, &l);
	lstm_states(k, &l, s.batch);
	lstm_scalars(k, &l);
	truth_give(k, s.time_major);
	lstm_norms(k, &l);
	s.out = want_sequence(k, &s, l.outputs);
	s.width = l.outputs;
	if (random_chance(50)) {
		state = want_state(k, l.state);
		cells = want_state(k, l.cell);
	}
	run_lstm(&l, &s, state, cells);
}

/* How a bidirectional operation uses its second input. PARALLEL: the backward cell reads it instead of the first. */
enum linking { NO_AUX, CROSS_LINKED /* has its own weights */, PARALLEL };

static void make_both_lstm(struct maker *k)
{
	struct sequence s[2] = { random_sequence() };
	enum linking linking = (enum linking)random_below(3);
	bool merge = random_chance(50), states = random_chance(50);
	uint32_t inputs = random_between(1, 4), aux_inputs = linking == PARALLEL ? inputs : random_between(1, 4);
	struct lstm l[2] = { random_lstm(inputs), random_lstm(inputs) };
	struct tensor *in = give_sequence(k, &s[0], inputs), *aux = NULL, *last[4] = { NULL };
	bool time_major = s[0].time_major;

	s[1] = s[0];
	l[1].activation = l[0].activation;
	lstm_cell(k, &l[0]);
	lstm_cell(k, &l[1]);
	lstm_states(k, &l[0], s->batch);
	lstm_states(k, &l[1], s->batch);
	if (linking != NO_AUX)
		aux = give_sequence(k, s, aux_inputs);
	else
		operand_omit(k, k->type,
		             DIMS(time_major ? s->time : s->batch, time_major ? s->batch : s->time, aux_inputs));
	for (int i = 0; i < 2; i++)
		for (int g = 0; g < 4; g++)
			l[i].aux[g] = tensor_unless(k, linking != CROSS_LINKED || (g == 0 && l[i].coupled),
			                            DIMS(l[i].cells, aux_inputs));
	lstm_scalars(k, &l[0]);
	l[1].cell_clip = l[0].cell_clip;
	l[1].projection_clip = l[0].projection_clip;
	truth_give(k, merge);
	truth_give(k, time_major);
	lstm_norms(k, &l[0]);
	lstm_norms(k, &l[1]);
	s[0].width = s[1].width = l[0].outputs + l[1].outputs;
	s[1].first = l[0].outputs;
	if (!merge)
		s[1].first = 0, s[0].width = l[0].outputs, s[1].width = l[1].outputs;
	s[0].out = s[1].out = want_sequence(k, s, s[0].width);
	if (!merge)
		s[1].out = want_sequence(k, s, s[1].width);
	for (int i = 0; states && i < 2; i++) {
		last[2 * i] = want_state(k, l[i].state);
		last[2 * i + 1] = want_state(k, l[i].cell);
	}
	for (int i = 0; i < 2; i++) {
		s[i].backward = i == 1;
		s[i].in = i && linking == PARALLEL ? aux : in;
		s[i].aux = linking == CROSS_LINKED ? aux : NULL;
		l[i].aux_inputs = aux_inputs;
		run_lstm(&l[i], &s[i], last[2 * i], last[2 * i + 1]);
	}
}

struct unit {
	uint32_t inputs, units, aux_inputs, activation;
	struct tensor *w, *r, *bias, *state, *aux;
};

static void unit_inputs(struct maker *k, struct unit *u, uint32_t batch)
{
	u->w = weights_tensor(k, DIMS(u->units, u->inputs));
	u->r = weights_tensor(k, DIMS(u->units, u->units));
	u->bias = weights_tensor(k, DIMS(u->units));
	u->state = state_tensor(k, DIMS(batch, u->units));
}

static void run_unit(const struct unit *u, const struct sequence *s, struct tensor *last)
{
	for (uint32_t b = 0; b < s->batch; b++) {
		double now[CELLS_MAX], next[CELLS_MAX];

		memcpy(now, u->state->reals + (size_t)b * u->units, u->units * sizeof(double));
		for (uint32_t step = 0; step < s->time; step++) {
			size_t row = sequence_row(s, b, step);

			for (uint32_t i = 0; i < u->units; i++) {
				double x = u->bias->reals[i] +
				           times_row(u->w, i, s->in->reals + row * u->inputs, u->inputs) +
				           times_row(u->r, i, now, u->units);

				if (u->aux)
					x += times_row(u->aux, i, s->aux->reals + row * u->aux_inputs, u->aux_inputs);
				next[i] = value_activated(u->activation, x);
			}
			memcpy(now, next, sizeof(now));
			memcpy(s->out->reals + row * s->width + s->first, now, u->units * sizeof(double));
		}
		if (last)
			memcpy(last->reals + (size_t)b * u->units, now, u->units * sizeof(double));
	}
}

/* An activation whose values do not grow from step to step. */
static uint32_t unit_activation(void)
{
	static const uint32_t activations[] = { 3, 4 };

	return activations[random_below(2)];
}

static void make_sequence_rnn(struct maker *k)
{
	struct sequence s = random_sequence();
	struct unit u = { .inputs = random_between(1, 5),
		          .units = random_between(1, 6),
		          .activation = unit_activation() };

	s.in = give_sequence(k, &s, u.inputs);
	unit_inputs(k, &u, s.batch);
	integer_give(k, (int32_t)u.activation);
	integer_give(k, s.time_major);
	s.out = want_sequence(k, &s, u.units);
	s.width = u.units;
	run_unit(&u, &s, random_chance(50) ? want_state(k, u.state) : NULL);
}

static void make_both_rnn(struct maker *k)
{
	struct sequence s[2] = { random_sequence() };
	enum linking linking = (enum linking)random_below(3);
	bool merge = random_chance(50), states = random_chance(50);
	uint32_t inputs = random_between(1, 4), aux_inputs = linking == PARALLEL ? inputs : random_between(1, 4);
	uint32_t activation = unit_activation();
	struct unit u[2] = { { inputs, random_between(1, 6), aux_inputs, activation },
		             { inputs, random_between(1, 6), aux_inputs, activation } };
	struct tensor *in = give_sequence(k, s, inputs), *aux = NULL, *last[2] = { NULL };

	unit_inputs(k, &u[0], s->batch);
	unit_inputs(k, &u[1], s->batch);
	if (linking != NO_AUX)
		aux = give_sequence(k, s, aux_inputs);
	else
		operand_omit(k, k->type,
		             DIMS(s->time_major ? s->time : s->batch, s->time_major ? s->batch : s->time, aux_inputs));
	for (int i = 0; i < 2; i++)
		u[i].aux = tensor_unless(k, linking != CROSS_LINKED, DIMS(u[i].units, aux_inputs));
	integer_give(k, (int32_t)activation);
	truth_give(k, s->time_major);
	truth_give(k, merge);
	s[1] = s[0];
	for (int i = 0; i < 2; i++) {
		s[i].width = merge ? u[0].units + u[1].units : u[i].units;
		s[i].first = merge && i ? u[0].units : 0;
		s[i].out = merge && i ? s[0].out : want_sequence(k, s, s[i].width);
		s[i].backward = i == 1;
		s[i].in = i && linking == PARALLEL ? aux : in;
		s[i].aux = aux;
	}
	for (int i = 0; states && i < 2; i++)
		last[i] = want_state(k, u[i].state);
	for (int i = 0; i < 2; i++)
		run_unit(&u[i], &s[i], last[i]);
}

/* ---- quantised cells: the output if no intermediate result were rounded ---- */

static struct tensor *give_raw(struct maker *k, uint32_t type, uint32_t rank, const uint32_t *dims, float scale,
                               int32_t zero_point)
{
	return tensor_give(k, tensor_make(k, type, rank, dims, scale, zero_point), 0, false);
}

/* A bias with the scale of the products that it is added to. */
static struct tensor *give_bias(struct maker *k, uint32_t n, float scale, double most)
{
	struct tensor *t = tensor_make(k, NNB_TENSOR_INT32, 1, &n, 0, 0);

	t->operand.scale = scale;
	return tensor_give(k, t, most / (double)scale, false);
}

/* The weights of the state apply to the input, and those of the input to the state (docs/operations.md). */
static double row_crossed(const struct tensor *w, const struct tensor *r, size_t row, const double *in,
                          const double *state)
{
	uint32_t inputs = w->operand.dims[1], outputs = r->operand.dims[1];
	double sum = 0;

	for (uint32_t i = 0; i < inputs + outputs; i++)
		sum += (i < outputs ? r->reals[row * outputs + i] : w->reals[row * inputs + i - outputs]) *
		       (i < inputs ? in[i] : state[i - inputs]);
	return sum;
}

static void make_16bit_lstm(struct maker *k)
{
	uint32_t batch = random_between(1, 2), inputs = random_between(1, 6), n = random_between(1, 6);
	struct tensor *in = give_raw(k, NNB_TENSOR_QUANT8_ASYMM, DIMS(batch, inputs), 1.0f / 128, 128);
	struct tensor *w[4], *r[4], *bias[4], *cell, *state, *cells, *out;

	for (int g = 0; g < 4; g++)
		w[g] = give_raw(k, NNB_TENSOR_QUANT8_ASYMM, DIMS(n, inputs), 1.0f / 200, 100);
	for (int g = 0; g < 4; g++)
		r[g] = give_raw(k, NNB_TENSOR_QUANT8_ASYMM, DIMS(n, n), 1.0f / 200, 100);
	for (int g = 0; g < 4; g++)
		bias[g] = give_bias(k, n, 1.0f / 128 / 200, 2);
	cell = give_raw(k, NNB_TENSOR_QUANT16_SYMM, DIMS(batch, n), 0x1p-11f, 0);
	state = give_raw(k, NNB_TENSOR_QUANT8_ASYMM, DIMS(batch, n), 1.0f / 128, 128);
	cells = tensor_want(k, NNB_TENSOR_QUANT16_SYMM, DIMS(batch, n), 0x1p-11f, 0);
	out = tensor_want(k, NNB_TENSOR_QUANT8_ASYMM, DIMS(batch, n), 1.0f / 128, 128);
	/* a gate of 16 bits may be off by 4 steps of 2^-15; a cell of up to 16 makes that 4 steps of 2^-11 */
	cells->off = 6;
	for (size_t i = 0; i < cells->n; i++) {
		size_t b = i / n;
		double gates[4];

		for (int g = 0; g < 4; g++)
			gates[g] = value_activated(g == 2 ? 4 : 6,
			                           bias[g]->reals[i % n] + row_crossed(w[g], r[g], i % n,
			                                                               in->reals + b * inputs,
			                                                               state->reals + b * n));
		cells->reals[i] = value_clip(gates[1] * cell->reals[i] + gates[0] * gates[2], 0x1p15 * 0x1p-11);
		out->reals[i] = gates[3] * tanh(cells->reals[i]);
	}
}

static struct tensor *give_unless(struct maker *k, bool omitted, uint32_t type, uint32_t rank, const uint32_t *dims,
                                  float scale)
{
	if (!omitted)
		return give_raw(k, type, rank, dims, scale, 0);
	operand_omit(k, type, rank, dims);
	return NULL;
}

/* The operands, in their order. */
static void quantized_cell(struct maker *k, struct lstm *l, float in_scale)
{
	const uint32_t bytes = NNB_TENSOR_QUANT8_SYMM, wide = NNB_TENSOR_QUANT16_SYMM;
	const float weight = 1.0f / 256, norm = 0x1p-15f;

	for (int g = 0; g < 4; g++)
		l->w[g] = give_unless(k, g == 0 && l->coupled, bytes, DIMS(l->cells, l->inputs), weight);
	for (int g = 0; g < 4; g++)
		l->r[g] = give_unless(k, g == 0 && l->coupled, bytes, DIMS(l->cells, l->outputs), weight);
	for (int g = 0; g < 4; g++)
		if (g != 2)
			l->peep[g] =
				give_unless(k, !l->peeps || (g == 0 && l->coupled), wide, DIMS(l->cells), 0x1p-16f);
	for (int g = 0; g < 4; g++) {
		if (g == 0 && l->coupled)
			operand_omit(k, NNB_TENSOR_INT32, DIMS(l->cells));
		else
			l->bias[g] = give_bias(k, l->cells, l->norms ? norm / 1024 : in_scale * weight, 1);
	}
	l->projection = give_unless(k, !l->projects, bytes, DIMS(l->outputs, l->cells), 1.0f / 128);
	if (l->projects_bias)
		l->projection_bias = give_bias(k, l->outputs, 1.0f / 128 / 128, 1);
	else
		operand_omit(k, NNB_TENSOR_INT32, DIMS(l->outputs));
}

static void quantized_rest(struct maker *k, struct lstm *l, uint32_t batch)
{
	l->state = give_raw(k, NNB_TENSOR_QUANT8_ASYMM_SIGNED, DIMS(batch, l->outputs), 1.0f / 32, 128);
	l->cell = give_raw(k, NNB_TENSOR_QUANT16_SYMM, DIMS(batch, l->cells), 0x1p-13f, 0);
	for (int g = 0; g < 4; g++)
		l->norm[g] = give_unless(k, !l->norms || (g == 0 && l->coupled), NNB_TENSOR_QUANT16_SYMM,
		                         DIMS(l->cells), 0x1p-15f);
	l->cell_clip = float_number(k, random_chance(50) ? 0 : 1.25);
	l->projection_clip = float_number(k, random_chance(50) ? 0 : 0.75);
	for (int g = 0; g < 4; g++)
		float_number(k, 0x1p-10); /* the scale of what is normalised */
	integer_give(k, 0);
	float_number(k, 1.0 / 128); /* the scale of what is projected */
}

static void make_quantized_lstm(struct maker *k)
{
	uint32_t batch = random_between(1, 2), inputs = random_between(1, 6);
	const float in_scale = 1.0f / 64;
	struct tensor *in = give_raw(k, NNB_TENSOR_QUANT8_ASYMM_SIGNED, DIMS(batch, inputs), in_scale, 128), *out[2],
		      *cells;
	struct lstm l = random_lstm(inputs);

	l.activation = 4;
	quantized_cell(k, &l, in_scale);
	quantized_rest(k, &l, batch);
	out[0] = tensor_want(k, NNB_TENSOR_QUANT8_ASYMM_SIGNED, DIMS(batch, l.outputs), 1.0f / 32, 128);
	cells = tensor_want(k, NNB_TENSOR_QUANT16_SYMM, DIMS(batch, l.cells), 0x1p-13f, 0);
	out[1] = tensor_want(k, NNB_TENSOR_QUANT8_ASYMM_SIGNED, DIMS(batch, l.outputs), 1.0f / 32, 128);
	/*
	 * As with 16 bits above: gates that are off by 4 steps of 2^-15 make 4 steps of 2^-13 of a cell of up to 4, and
	 * 2 of what is added to it. Normalised numbers have fewer bits.
	 */
	cells->off = l.norms ? 15 : 6;
	for (uint32_t b = 0; b < batch; b++) {
		struct moment m = { in->reals + (size_t)b * inputs, NULL, l.state->reals + (size_t)b * l.outputs,
			            l.cell->reals + (size_t)b * l.cells };

		lstm_step(&l, &m, cells->reals + (size_t)b * l.cells, out[0]->reals + (size_t)b * l.outputs);
	}
	memcpy(out[1]->reals, out[0]->reals, out[0]->n * sizeof(double));
}

/* ---- the table ---- */

const struct op_family op_families_cells[] = {
	{ NNB_RNN, make_rnn, "FH" },
	{ NNB_SVDF, make_svdf, "FH" },
	{ NNB_LSTM, make_lstm, "FH" },
	{ NNB_UNIDIRECTIONAL_SEQUENCE_LSTM, make_sequence_lstm, "FH" },
	{ NNB_BIDIRECTIONAL_SEQUENCE_LSTM, make_both_lstm, "FH" },
	{ NNB_UNIDIRECTIONAL_SEQUENCE_RNN, make_sequence_rnn, "FH" },
	{ NNB_BIDIRECTIONAL_SEQUENCE_RNN, make_both_rnn, "FH" },
	{ NNB_QUANTIZED_16BIT_LSTM, make_16bit_lstm, "W" },
	{ NNB_QUANTIZED_LSTM, make_quantized_lstm, "S" },
	{ .types = NULL },
};
