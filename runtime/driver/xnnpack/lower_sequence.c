/*
 * lower_sequence.c -- cells that go through a sequence.
 *
 * Kernels have floats. Tensors of other types are converted into scratch memory first: nnbx_*_bytes counts the memory
 * with the rules by which take() hands it out.
 */
#include <string.h>

#include "kernels/sequence.h"
#include "operand.h"
#include "saturated.h"

/* Scratch memory that is given out from the front. */
struct bench {
	const struct site *site;
	float *free;
};

static bool is_given(const struct site *s, uint32_t k)
{
	return k < s->op->n_inputs && !in_shape(s, k)->omitted && in_operand(s, k)->lifetime != NNB_NO_VALUE;
}

/* An input as floats; NULL: it is left out. */
static const float *bench_floats(struct bench *b, uint32_t k)
{
	struct nnbx_tensor t;
	float *ret = b->free;
	size_t n;

	if (!is_given(b->site, k))
		return NULL;
	t = tensor_in(b->site, k);
	if (t.type == NNB_TENSOR_FLOAT32)
		return t.at;
	n = nnbx_elements(&t);
	nnbx_load_floats(&t, 0, n, ret);
	b->free += n;
	return ret;
}

/* A copy of an input, for its own. */
static float *bench_copy(struct bench *b, uint32_t k)
{
	struct nnbx_tensor t = tensor_in(b->site, k);
	size_t n = nnbx_elements(&t);
	float *ret = b->free;

	nnbx_load_floats(&t, 0, n, ret);
	b->free += n;
	return ret;
}

static float *bench_take(struct bench *b, size_t n)
{
	float *ret = b->free;

	b->free += n;
	return ret;
}

/* Every input twice, as states are, and what the cells of either direction take. */
uint64_t nnbx_sequence_bytes(const struct site *s)
{
	uint64_t n = 0, widest = 0;

	for (uint32_t k = 0; k < s->op->n_inputs; k++) {
		const struct nnb_shape *shape = in_shape(s, k);

		if (!nnb_type_info(in_operand(s, k)->type)->tensor)
			continue;
		n = saturated_sum(n, saturated_elements(shape));
		if (shape->rank && shape->dims[0] > widest) /* weights have a row for each cell */
			widest = shape->dims[0];
	}
	return saturated_product(saturated_sum(n, saturated_product(widest, 2 * NNBX_CELL_GATES)), 2 * sizeof(float));
}

/* ---- LSTM ---- */

static struct nnbx_cell_gate gate_of(struct bench *b, const struct nnb_cell_places *p, uint32_t i)
{
	static const uint32_t peephole[] = { 0, 1, 3, 2 }; /* the cell has none */

	return (struct nnbx_cell_gate){ .weights = bench_floats(b, p->weights + i),
		                        .aux = p->aux ? bench_floats(b, p->aux + i) : NULL,
		                        .recurrent = bench_floats(b, p->recurrent + i),
		                        .peephole = i == 2 ? NULL : bench_floats(b, p->peepholes + peephole[i]),
		                        .bias = bench_floats(b, p->biases + i),
		                        .norm = bench_floats(b, p->norms + i) };
}

static struct nnbx_cell cell_of(struct bench *b, const struct nnb_cell_places *p, uint32_t activation)
{
	const struct site *s = b->site;
	const struct nnb_shape *weights = in_shape(s, p->weights + 3);

	return (struct nnbx_cell){
		.inputs = weights->dims[1],
		.aux_inputs = p->aux && is_given(s, p->aux + 3) ? in_shape(s, p->aux + 3)->dims[1] : 0,
		.cells = weights->dims[0],
		.outputs = in_shape(s, p->recurrent + 3)->dims[1],
		.activation = (uint32_t)int_in(s, activation, 0),
		.input = gate_of(b, p, 0),
		.forget = gate_of(b, p, 1),
		.cell = gate_of(b, p, 2),
		.output = gate_of(b, p, 3),
		.projection = bench_floats(b, p->projection),
		.projection_bias = bench_floats(b, p->projection_bias),
		.cell_clip = (float)real_in(s, activation + 1),
		.projection_clip = (float)real_in(s, activation + 2),
	};
}

/* Where the items are; the rest depends on the direction. */
static struct nnbx_sequence sequence_of(const struct site *s, bool time_major, const float *in,
                                        const struct nnbx_tensor *out)
{
	const struct nnb_shape *shape = in_shape(s, 0);

	return (struct nnbx_sequence){ .batch = shape->dims[time_major ? 1 : 0],
		                       .time = shape->dims[time_major ? 0 : 1],
		                       .time_major = time_major,
		                       .in = in,
		                       .out = out,
		                       .out_width = out->dims[2] };
}

/* Run a cell, and put its last states into outputs @k and k + 1, if it has them. */
static void run_cell(struct bench *b, const struct nnb_cell_places *p, const struct nnbx_cell *cell,
                     const struct nnbx_sequence *sequence, uint32_t k)
{
	float *state = bench_copy(b, p->state), *cells = bench_copy(b, p->cells), *scratch;

	scratch = bench_take(b, NNBX_CELL_GATES * cell->cells);
	nnbx_sequence_lstm(cell, sequence, scratch, state, cells);
	if (k + 1 < b->site->op->n_outputs) {
		struct nnbx_tensor last[] = { tensor_out(b->site, k), tensor_out(b->site, k + 1) };

		nnbx_store_floats(&last[0], 0, nnbx_elements(&last[0]), state);
		nnbx_store_floats(&last[1], 0, nnbx_elements(&last[1]), cells);
	}
}

enum nnb_status nnbx_run_sequence_lstm(const struct site *s)
{
	static const struct nnb_cell_places places = NNB_UNIDIRECTIONAL_CELL;
	struct bench b = { s, s->scratch };
	struct nnbx_tensor out = tensor_out(s, 0);
	struct nnbx_sequence sequence =
		sequence_of(s, flag_in(s, NNB_UNIDIRECTIONAL_TIME_MAJOR), bench_floats(&b, 0), &out);
	struct nnbx_cell cell = cell_of(&b, &places, NNB_UNIDIRECTIONAL_ACTIVATION);

	run_cell(&b, &places, &cell, &sequence, 1);
	return NNB_STATUS_NONE;
}

enum nnb_status nnbx_run_both_lstm(const struct site *s)
{
	static const struct nnb_cell_places places[] = { NNB_FORWARD_CELL, NNB_BACKWARD_CELL };
	bool merge = flag_in(s, NNB_BOTH_MERGE), time_major = flag_in(s, NNB_BOTH_TIME_MAJOR);
	struct bench b = { s, s->scratch };
	struct nnbx_tensor outs[] = { tensor_out(s, 0), tensor_out(s, merge ? 0 : 1) };
	const float *in = bench_floats(&b, 0), *aux = bench_floats(&b, NNB_BOTH_AUX);
	size_t before = 0;

	for (uint32_t i = 0; i < 2; i++) {
		struct nnbx_cell cell = cell_of(&b, &places[i], NNB_BOTH_ACTIVATION);
		struct nnbx_sequence sequence = sequence_of(s, time_major, in, &outs[i]);

		sequence.backward = i == 1;
		sequence.aux = cell.aux_inputs ? aux : NULL;
		if (sequence.backward && aux && !cell.aux_inputs)
			sequence.in = aux;
		sequence.out_first = merge ? before : 0;
		before = cell.outputs;
		run_cell(&b, &places[i], &cell, &sequence, (merge ? 1 : 2) + 2 * i);
	}
	return NNB_STATUS_NONE;
}

/* ---- RNN ---- */

/* The unit whose weights are inputs @k on; @aux: its weights of the auxiliary input. */
static void run_unit(struct bench *b, uint32_t k, uint32_t aux, uint32_t activation,
                     const struct nnbx_sequence *sequence, uint32_t last)
{
	const struct site *s = b->site;
	struct nnbx_unit unit = { .inputs = in_shape(s, k)->dims[1],
		                  .units = in_shape(s, k)->dims[0],
		                  .activation = activation,
		                  .weights = bench_floats(b, k),
		                  .recurrent = bench_floats(b, k + 1),
		                  .bias = bench_floats(b, k + 2) };
	float *state = bench_copy(b, k + 3);

	if (aux && is_given(s, aux)) {
		unit.aux = bench_floats(b, aux);
		unit.aux_inputs = in_shape(s, aux)->dims[1];
	}
	nnbx_sequence_rnn(&unit, sequence, bench_take(b, unit.units), state);
	if (last < s->op->n_outputs) {
		struct nnbx_tensor out = tensor_out(s, last);

		nnbx_store_floats(&out, 0, nnbx_elements(&out), state);
	}
}

enum nnb_status nnbx_run_sequence_rnn(const struct site *s)
{
	struct bench b = { s, s->scratch };
	struct nnbx_tensor out = tensor_out(s, 0);
	struct nnbx_sequence sequence = sequence_of(s, int_in(s, 6, 0) != 0, bench_floats(&b, 0), &out);

	run_unit(&b, 1, 0, (uint32_t)int_in(s, 5, 0), &sequence, 1);
	return NNB_STATUS_NONE;
}

enum nnb_status nnbx_run_both_rnn(const struct site *s)
{
	bool time_major = flag_in(s, 13), merge = flag_in(s, 14), own = is_given(s, 9) && !is_given(s, 10);
	struct bench b = { s, s->scratch };
	struct nnbx_tensor outs[] = { tensor_out(s, 0), tensor_out(s, merge ? 0 : 1) };
	const float *in = bench_floats(&b, 0), *aux = bench_floats(&b, 9);

	for (uint32_t i = 0; i < 2; i++) {
		struct nnbx_sequence sequence = sequence_of(s, time_major, i && own ? aux : in, &outs[i]);

		sequence.backward = i == 1;
		sequence.aux = own ? NULL : aux;
		sequence.out_first = merge && i ? in_shape(s, 1)->dims[0] : 0;
		run_unit(&b, i ? 5 : 1, i ? 11 : 10, (uint32_t)int_in(s, 12, 0), &sequence, (merge ? 1 : 2) + i);
	}
	return NNB_STATUS_NONE;
}
