/* shapes_sequence.c -- the shapes of recurrent cells that process a sequence. */
#include "model/shaping.h"

/* ---- LSTM ---- */

struct cell {
	uint32_t inputs, aux_inputs, cells, outputs;
};

/* Require these dimensions of every given input among the @n gates from input @k on. */
static int gates_are(const view *v, uint32_t k, uint32_t n, uint32_t rank, const uint32_t *dims)
{
	for (uint32_t i = 0; i < n; i++)
		if (dims_are_if_given(v, k + i, rank, dims))
			return -EINVAL;
	return 0;
}

/* Require that all of these inputs are given (@given), or that all are omitted. */
static int inputs_go_together(const view *v, bool given, uint32_t k, uint32_t n, const char *what)
{
	for (uint32_t i = 0; i < n; i++)
		if (is_given(v, k + i) != given)
			return REFUSE(v, "only a part of the %s is there", what);
	return 0;
}

static int cell_is(const view *v, const struct nnb_cell_places *p, struct cell *c, uint32_t batch)
{
	bool coupled, peeps, norms, aux;

	if (rank_between(v, p->weights + 3, 2, 2) || rank_between(v, p->recurrent + 3, 2, 2))
		return -EINVAL;
	c->cells = nnb__in(v, p->weights + 3)->dims[0];
	c->outputs = nnb__in(v, p->recurrent + 3)->dims[1];
	if (!c->cells || !c->outputs)
		return REFUSE(v, "it has no cells");
	if (gates_are(v, p->weights, 4, DIMS(c->cells, c->inputs)) ||
	    gates_are(v, p->recurrent, 4, DIMS(c->cells, c->outputs)) ||
	    gates_are(v, p->peepholes, 3, DIMS(c->cells)) || gates_are(v, p->biases, 4, DIMS(c->cells)) ||
	    gates_are(v, p->norms, 4, DIMS(c->cells)) ||
	    (p->aux && gates_are(v, p->aux, 4, DIMS(c->cells, c->aux_inputs))) ||
	    dims_are_if_given(v, p->projection, DIMS(c->outputs, c->cells)) ||
	    dims_are_if_given(v, p->projection_bias, DIMS(c->outputs)) ||
	    dims_are(v, p->state, DIMS(batch, c->outputs)) || dims_are(v, p->cells, DIMS(batch, c->cells)))
		return -EINVAL;
	/* Inputs that belong together must be omitted together. */
	coupled = !is_given(v, p->weights);
	peeps = is_given(v, p->peepholes + 2);
	norms = is_given(v, p->norms + 3);
	aux = p->aux && is_given(v, p->aux + 3);
	if (inputs_go_together(v, !coupled, p->recurrent, 1, "input gate") ||
	    inputs_go_together(v, !coupled, p->biases, 1, "input gate") ||
	    inputs_go_together(v, peeps, p->peepholes + 1, 2, "peephole connections") ||
	    inputs_go_together(v, peeps && !coupled, p->peepholes, 1, "peephole connections") ||
	    inputs_go_together(v, norms, p->norms + 1, 3, "layer normalisation") ||
	    inputs_go_together(v, norms && !coupled, p->norms, 1, "layer normalisation") ||
	    (p->aux && (inputs_go_together(v, aux, p->aux + 1, 3, "auxiliary weights") ||
	                inputs_go_together(v, aux && !coupled, p->aux, 1, "auxiliary weights"))))
		return -EINVAL;
	if (!is_given(v, p->projection) && (is_given(v, p->projection_bias) || c->cells != c->outputs))
		return REFUSE(v, "the weights of the projection are missing");
	return 0;
}

/* [time, batch, width] or [batch, time, width] */
static void shape_rows(struct nnb_shape *ret, const struct nnb_shape *in, uint32_t width)
{
	shape_set(ret, DIMS(in->dims[0], in->dims[1], width));
}

/* HAL 1.3 can return the states as outputs. */
static void shape_states(struct nnb_shape *ret, uint32_t batch, const struct cell *c)
{
	shape_set(&ret[0], DIMS(batch, c->outputs));
	shape_set(&ret[1], DIMS(batch, c->cells));
}

int nnb__shape_sequence_lstm(const view *v, struct nnb_shape *ret)
{
	static const struct nnb_cell_places places = NNB_UNIDIRECTIONAL_CELL;
	const struct nnb_shape *in = nnb__in(v, 0);
	struct cell c = { .inputs = in->dims[2] };
	uint32_t batch;
	bool time_major;

	if (rank_between(v, 0, 3, 3) || activation_is_known(v, NNB_UNIDIRECTIONAL_ACTIVATION))
		return -EINVAL;
	if (flag_of(v, NNB_UNIDIRECTIONAL_TIME_MAJOR, &time_major))
		return -ENODATA;
	batch = in->dims[time_major ? 1 : 0];
	if (cell_is(v, &places, &c, batch))
		return -EINVAL;
	shape_rows(&ret[0], in, c.outputs);
	if (v->op->n_outputs > 1)
		shape_states(&ret[1], batch, &c);
	return 0;
}

/* The auxiliary input of both directions. Without weights of its own it is the input of the second direction. */
static int aux_is(const view *v, uint32_t k, uint32_t weights, uint32_t *ret)
{
	const struct nnb_shape *in = nnb__in(v, 0), *aux = nnb__in(v, k);

	*ret = 0;
	if (!is_given(v, k))
		return is_given(v, weights)
		               ? REFUSE(v, "the weights of the auxiliary input are given, but not the input")
		               : 0;
	if (rank_between(v, k, 3, 3) || aux->dims[0] != in->dims[0] || aux->dims[1] != in->dims[1])
		return REFUSE(v, "the first two dimensions of the auxiliary input differ from those of the input");
	*ret = aux->dims[2];
	return 0;
}

int nnb__shape_both_lstm(const view *v, struct nnb_shape *ret)
{
	static const struct nnb_cell_places forward = NNB_FORWARD_CELL, backward = NNB_BACKWARD_CELL;
	const struct nnb_shape *in = nnb__in(v, 0);
	struct cell f, b;
	uint32_t batch, aux, out;
	bool time_major, merge, own;

	if (rank_between(v, 0, 3, 3) || activation_is_known(v, NNB_BOTH_ACTIVATION) ||
	    aux_is(v, NNB_BOTH_AUX, forward.aux + 3, &aux))
		return -EINVAL;
	if (flag_of(v, NNB_BOTH_TIME_MAJOR, &time_major) || flag_of(v, NNB_BOTH_MERGE, &merge))
		return -ENODATA;
	batch = in->dims[time_major ? 1 : 0];
	own = aux && !is_given(v, forward.aux + 3); /* the auxiliary input is the second direction's own input */
	f = (struct cell){ .inputs = in->dims[2], .aux_inputs = aux };
	b = (struct cell){ .inputs = own ? aux : in->dims[2], .aux_inputs = aux };
	if (cell_is(v, &forward, &f, batch) || cell_is(v, &backward, &b, batch))
		return -EINVAL;
	if (is_given(v, forward.aux + 3) != is_given(v, backward.aux + 3))
		return REFUSE(v, "only one direction has weights of the auxiliary input");
	out = merge ? 1 : 2;
	if (v->op->n_outputs != out && v->op->n_outputs != out + 4)
		return REFUSE(v, "it has %u outputs; expected %u or %u", v->op->n_outputs, out, out + 4);
	if (merge && (uint64_t)f.outputs + b.outputs > UINT32_MAX)
		return REFUSE(v, "its output is too large");
	shape_rows(&ret[0], in, merge ? f.outputs + b.outputs : f.outputs);
	if (!merge)
		shape_rows(&ret[1], in, b.outputs);
	if (v->op->n_outputs > out) {
		shape_states(&ret[out], batch, &f);
		shape_states(&ret[out + 2], batch, &b);
	}
	return 0;
}

/* ---- RNN ---- */

/* Check a unit whose inputs from @k on are the weights of the input, those of the state, the bias and the state. */
static int unit_is(const view *v, uint32_t k, uint32_t inputs, uint32_t batch, uint32_t *units)
{
	if (rank_between(v, k, 2, 2))
		return -EINVAL;
	*units = nnb__in(v, k)->dims[0];
	if (!*units)
		return REFUSE(v, "it has no units");
	return dims_are(v, k, DIMS(*units, inputs)) || dims_are(v, k + 1, DIMS(*units, *units)) ||
	                       dims_are(v, k + 2, DIMS(*units)) || dims_are(v, k + 3, DIMS(batch, *units))
	               ? -EINVAL
	               : 0;
}

int nnb__shape_sequence_rnn(const view *v, struct nnb_shape *ret)
{
	const struct nnb_shape *in = nnb__in(v, 0);
	uint32_t batch, units;
	int32_t time_major;

	if (rank_between(v, 0, 3, 3) || activation_is_known(v, 5))
		return -EINVAL;
	if (!nnb__in_i32(v, 6, &time_major))
		return -ENODATA;
	batch = in->dims[time_major ? 1 : 0];
	if (unit_is(v, 1, in->dims[2], batch, &units))
		return -EINVAL;
	shape_rows(&ret[0], in, units);
	if (v->op->n_outputs > 1)
		shape_set(&ret[1], DIMS(batch, units));
	return 0;
}

int nnb__shape_both_rnn(const view *v, struct nnb_shape *ret)
{
	const struct nnb_shape *in = nnb__in(v, 0);
	uint32_t batch, aux, forward, backward, out;
	bool time_major, merge, own;

	if (rank_between(v, 0, 3, 3) || activation_is_known(v, 12) || aux_is(v, 9, 10, &aux))
		return -EINVAL;
	if (flag_of(v, 13, &time_major) || flag_of(v, NNB_BOTH_RNN_MERGE, &merge))
		return -ENODATA;
	batch = in->dims[time_major ? 1 : 0];
	own = aux && !is_given(v, 10);
	if (is_given(v, 10) != is_given(v, 11))
		return REFUSE(v, "only one direction has weights of the auxiliary input");
	if (unit_is(v, 1, in->dims[2], batch, &forward) || unit_is(v, 5, own ? aux : in->dims[2], batch, &backward) ||
	    dims_are_if_given(v, 10, DIMS(forward, aux)) || dims_are_if_given(v, 11, DIMS(backward, aux)))
		return -EINVAL;
	out = merge ? 1 : 2;
	if (v->op->n_outputs != out && v->op->n_outputs != out + 2)
		return REFUSE(v, "it has %u outputs; expected %u or %u", v->op->n_outputs, out, out + 4);
	if (merge && (uint64_t)forward + backward > UINT32_MAX)
		return REFUSE(v, "its output is too large");
	shape_rows(&ret[0], in, merge ? forward + backward : forward);
	if (!merge)
		shape_rows(&ret[1], in, backward);
	if (v->op->n_outputs > out) {
		shape_set(&ret[out], DIMS(batch, forward));
		shape_set(&ret[out + 1], DIMS(batch, backward));
	}
	return 0;
}

/* ---- quantised LSTM ---- */

int nnb__shape_quantized_16bit_lstm(const view *v, struct nnb_shape *ret)
{
	const struct nnb_shape *in = nnb__in(v, 0);
	uint32_t batch = in->dims[0], inputs = in->dims[1], outputs = nnb__in(v, 13)->dims[1];

	if (rank_between(v, 0, 2, 2) || rank_between(v, 13, 2, 2) || dims_are(v, 13, DIMS(batch, outputs)) ||
	    dims_are(v, 14, DIMS(batch, outputs)) || gates_are(v, 1, 4, DIMS(outputs, inputs)) ||
	    gates_are(v, 5, 4, DIMS(outputs, outputs)) || gates_are(v, 9, 4, DIMS(outputs)))
		return -EINVAL;
	shape_set(&ret[0], DIMS(batch, outputs));
	shape_set(&ret[1], DIMS(batch, outputs));
	return 0;
}

int nnb__shape_quantized_lstm(const view *v, struct nnb_shape *ret)
{
	static const struct nnb_cell_places places = NNB_QUANTIZED_CELL;
	const struct nnb_shape *in = nnb__in(v, 0);
	struct cell c = { .inputs = in->dims[1] };
	float scale;

	if (rank_between(v, 0, 2, 2) || cell_is(v, &places, &c, in->dims[0]))
		return -EINVAL;
	for (uint32_t k = NNB_QUANTIZED_SCALES; k < NNB_QUANTIZED_SCALES + 4; k++)
		if (is_given(v, places.norms + 3) && nnb__in_real(v, k, &scale) && !(scale > 0))
			return REFUSE(v, "input %u is not above 0", k);
	if (nnb__in_real(v, NNB_QUANTIZED_HIDDEN_SCALE, &scale) && !(scale > 0))
		return REFUSE(v, "input %u is not above 0", NNB_QUANTIZED_HIDDEN_SCALE);
	shape_set(&ret[0], DIMS(in->dims[0], c.outputs));
	shape_set(&ret[1], DIMS(in->dims[0], c.cells));
	shape_set(&ret[2], DIMS(in->dims[0], c.outputs));
	return 0;
}
