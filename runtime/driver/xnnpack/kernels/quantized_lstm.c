/* quantized_lstm.c -- QUANTIZED_16BIT_LSTM and QUANTIZED_LSTM. */
#include "quantized_lstm.h"

#include <math.h>

#include "fixed.h"

/* As a number of @scale that 16 bits hold. */
static double in_16_bits(double x, double scale)
{
	double q = round(x / scale);

	return fmin(fmax(q, INT16_MIN), INT16_MAX) * scale;
}

#define GATE_UNIT 0x1p-12 /* a gate is from -8 to 8 before its activation, */
#define GATE_STEPS 0x1p15 /* after it, a number of such steps */

enum { INTEGER_MAX = 6 };

/* The tanh of a cell of this scale: with the fixed-point tables if the scale is a power of two, as the HAL requires. */
static double cell_tanh(double x, double scale)
{
	int integer = ilogb(scale) + 15;

	if (integer < 0 || integer > INTEGER_MAX || fabs(scale - ldexp(1, integer - 15)) > scale * 1e-3)
		return fmin(round(tanh(x) * GATE_STEPS), GATE_STEPS - 1) / GATE_STEPS; /* in the steps of a gate */
	return nnbx_fixed_tanh((int32_t)fmin(fmax(round(x / scale), INT16_MIN), INT16_MAX), (unsigned)integer) /
	       GATE_STEPS;
}

/* The products of row @row of @weights with @n values. */
static double row_dot(const struct nnbx_tensor *weights, size_t row, const struct nnbx_tensor *in, size_t first,
                      size_t n)
{
	double a[NNBX_BLOCK], b[NNBX_BLOCK], sum = 0;

	for (size_t at = 0, part; at < n; at += part) {
		part = n - at < NNBX_BLOCK ? n - at : NNBX_BLOCK;
		if (!nnbx_worked(5 + part * 3))
			break;
		nnbx_load(weights, row * n + at, 1, part, a);
		nnbx_load(in, first + at, 1, part, b);
		for (size_t i = 0; i < part; i++)
			sum += a[i] * b[i];
	}
	return sum;
}

/* The same of all weights with all values, where they cross. */
static double crossed_dot(const struct nnbx_quantized_lstm *p, const struct nnbx_quantized_gate *g, size_t row,
                          size_t b)
{
	size_t inputs = g->weights.dims[1], outputs = g->recurrent.dims[1];
	double sum = 0;

	for (size_t i = 0; i < inputs + outputs && nnbx_worked(10); i++) {
		double weight = i < outputs ? nnbx_load_one(&g->recurrent, row * outputs + i)
		                            : nnbx_load_one(&g->weights, row * inputs + i - outputs);

		sum += weight * (i < inputs ? nnbx_load_one(&p->in, b * inputs + i)
		                            : nnbx_load_one(&p->state, b * outputs + i - inputs));
	}
	return sum;
}

static double bias_of(const struct nnbx_tensor *bias, double scale, size_t i)
{
	return bias->at ? nnbx_load_one(bias, i) * scale : 0;
}

/* The sum of a gate, in units of @unit: each part of the sum is rounded by itself. */
static double gate_sum(const struct nnbx_quantized_lstm *p, const struct nnbx_quantized_gate *g, size_t b, size_t i,
                       const double *cells, double unit)
{
	size_t inputs = g->weights.dims[1], outputs = g->recurrent.dims[1];
	double bias = g->norm.at ? 0 : bias_of(&g->bias, g->bias_scale, i), sum;

	if (p->crossed)
		return round((bias + crossed_dot(p, g, i, b)) / unit);
	sum = round((bias + row_dot(&g->weights, i, &p->in, b * inputs, inputs)) / unit) +
	      round(row_dot(&g->recurrent, i, &p->state, b * outputs, outputs) / unit);
	if (g->peephole.at)
		sum += round(nnbx_load_one(&g->peephole, i) * cells[i] / unit);
	return sum;
}

enum { NORM_STEPS = 1024 };

/* @x are integers, and so is their variance; what is normalised is in steps. */
static void gate_normalize(const struct nnbx_quantized_gate *g, size_t n, double *x)
{
	struct nnbx_tensor norm = g->norm;
	double sum = 0, squares = 0, mean, variance;
	struct nnbx_multiplier root;

	norm.scale = 0;
	for (size_t i = 0; i < n && nnbx_worked(10); i++) {
		sum += x[i];
		squares += x[i] * x[i];
	}
	mean = trunc(sum * NORM_STEPS / (double)n);
	variance = floor(squares / (double)n - mean * mean / NORM_STEPS / NORM_STEPS);
	root = nnbx_fixed_inverse_root((int32_t)fmin(fmax(variance, 1), INT32_MAX)); /* a NaN: 1 */
	for (size_t i = 0; i < n && nnbx_worked(30); i++) {
		double steps = nnbx_fixed_times((int32_t)(x[i] * NORM_STEPS - mean), root);

		/* the bias and the product are integers of the same unit */
		x[i] = round((steps * nnbx_load_one(&norm, i) + bias_of(&g->bias, 1, i)) / NORM_STEPS) *
		       (double)g->norm.scale;
	}
}

/* Gate @g of item @b; @cells: what its peephole sees. */
static void gate_run(const struct nnbx_quantized_lstm *p, const struct nnbx_quantized_gate *g, size_t b,
                     const double *cells, bool is_cell, double *ret)
{
	size_t n = g->weights.dims[0];
	double unit = g->norm.at ? g->scale : GATE_UNIT;

	for (size_t i = 0; i < n && nnbx_worked(20); i++)
		ret[i] = fmin(fmax(gate_sum(p, g, b, i, cells, unit), INT16_MIN), INT16_MAX);
	if (g->norm.at)
		gate_normalize(g, n, ret);
	for (size_t i = 0; i < n && nnbx_worked(30); i++) {
		double units = g->norm.at ? in_16_bits(ret[i], GATE_UNIT) / GATE_UNIT : ret[i];

		ret[i] = (is_cell ? nnbx_fixed_tanh((int32_t)units, 3) : nnbx_fixed_sigmoid((int32_t)units)) /
		         GATE_STEPS;
	}
}

static double clip_to(double x, double limit)
{
	return limit > 0 ? fmin(fmax(x, -limit), limit) : x;
}

/* The output of the item, from its hidden cells. */
static void put_out(const struct nnbx_quantized_lstm *p, size_t b, size_t n, const double *hidden, double *ret)
{
	size_t outputs = p->out_state.dims[1];

	for (size_t i = 0; i < outputs && nnbx_worked(20); i++) {
		double x = p->projection.at ? bias_of(&p->projection_bias, p->projection_bias_scale, i) : hidden[i];

		for (size_t k = 0; p->projection.at && k < n && nnbx_worked(5); k++)
			x += nnbx_load_one(&p->projection, i * n + k) * hidden[k];
		ret[i] = p->projection.at ? clip_to(x, p->projection_clip) : x;
	}
	for (size_t i = 0; i < outputs && nnbx_worked(5); i++) {
		nnbx_store_one(&p->out_state, b * outputs + i, ret[i]);
		if (p->out.at)
			nnbx_store_one(&p->out, b * outputs + i, ret[i]);
	}
}

static double hidden_value(const struct nnbx_quantized_lstm *p, double x)
{
	double q;

	if (!p->projection.at)
		return x;
	q = round(x / p->hidden_scale) + p->hidden_zero;
	return (fmin(fmax(q, INT8_MIN), INT8_MAX) - p->hidden_zero) * p->hidden_scale;
}

void nnbx_quantized_lstm(const struct nnbx_quantized_lstm *p, double *scratch)
{
	for (size_t b = 0; b < p->in.dims[0] && nnbx_worked(1); b++) {
		size_t n = p->out_cells.dims[1];
		double *input = scratch, *forget = input + n, *cell = forget + n, *output = cell + n,
		       *cells = output + n;
		bool coupled = !p->gates[0].weights.at;

		for (size_t i = 0; i < n && nnbx_worked(5); i++)
			cells[i] = nnbx_load_one(&p->cells, b * n + i);
		if (!coupled)
			gate_run(p, &p->gates[0], b, cells, false, input);
		gate_run(p, &p->gates[1], b, cells, false, forget);
		gate_run(p, &p->gates[2], b, cells, true, cell);
		for (size_t i = 0; i < n && nnbx_worked(20); i++) {
			double unit = (double)p->out_cells.scale,
			       let_in = coupled ? 1 - 1 / GATE_STEPS - forget[i] : input[i];
			double x = in_16_bits(forget[i] * cells[i], unit) + in_16_bits(let_in * cell[i], unit);

			cells[i] = clip_to(in_16_bits(x, unit), p->cell_clip);
			nnbx_store_one(&p->out_cells, b * n + i, cells[i]);
		}
		gate_run(p, &p->gates[3], b, cells, false, output);
		for (size_t i = 0; i < n && nnbx_worked(30); i++)
			output[i] = hidden_value(p, output[i] * cell_tanh(cells[i], (double)p->out_cells.scale));
		put_out(p, b, n, output, cells + n);
	}
}
