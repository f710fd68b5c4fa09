/*
 * kernels_oracle.h -- a second implementation of the operations, from their definitions and in doubles.
 *
 * All numbers are reals: the oracle reads a quantised tensor as the reals that it stands for, and rounds the
 * answer to its quantisation last. It computes each element of an output separately, from its indexes.
 */
#ifndef KERNELS_ORACLE_H
#define KERNELS_ORACLE_H

#include <math.h>

#include "driver/xnnpack/kernels/kernels.h"

struct oracle_bounds {
	double min, max;
};

/* O-33 */
static inline struct oracle_bounds oracle_bounds(uint32_t fused)
{
	switch (fused) {
	case NNB_FUSED_RELU:
		return (struct oracle_bounds){ 0, INFINITY };
	case NNB_FUSED_RELU1:
		return (struct oracle_bounds){ -1, 1 };
	case NNB_FUSED_RELU6:
		return (struct oracle_bounds){ 0, 6 };
	default:
		return (struct oracle_bounds){ -INFINITY, INFINITY };
	}
}

static inline double oracle_clamp(double x, struct oracle_bounds b)
{
	return fmin(fmax(x, b.min), b.max);
}

static inline double oracle_real(uint8_t value, struct nnbx_quant q)
{
	return ((double)value - q.zero_point) * (double)q.scale;
}

static inline int oracle_quantise(double x, struct nnbx_quant q)
{
	return (int)fmin(fmax(round(x / (double)q.scale) + q.zero_point, 0), 255);
}

/* ---- windows ---- */

/* O-30 */
static inline uint32_t oracle_extent(uint32_t in, uint32_t filter, uint32_t stride, uint32_t pads)
{
	return (in - filter + stride + pads) / stride;
}

/* The position of an output element. */
struct oracle_place {
	int b, y, x, c;
};

static inline struct oracle_place oracle_place(const struct nnbx_planes *p, size_t i)
{
	struct oracle_place at = { .c = (int)(i % p->out_c) };

	i /= p->out_c;
	at.x = (int)(i % p->out_w);
	i /= p->out_w;
	at.y = (int)(i % p->out_h);
	at.b = (int)(i / p->out_h);
	return at;
}

/* The input's element under window cell (fy, fx) at that position. NULL: padding. */
static inline const double *oracle_under(const struct nnbx_planes *p, const double *in, struct oracle_place at, int fy,
                                         int fx, int channel)
{
	int y = at.y * (int)p->window.stride_h + fy - (int)p->window.pad_top;
	int x = at.x * (int)p->window.stride_w + fx - (int)p->window.pad_left;

	if (y < 0 || y >= (int)p->in_h || x < 0 || x >= (int)p->in_w)
		return NULL;
	return &in[(((size_t)at.b * p->in_h + (size_t)y) * p->in_w + (size_t)x) * p->in_c + (size_t)channel];
}

static inline double oracle_conv(const struct nnbx_planes *p, const double *in, const double *filter,
                                 const double *bias, size_t i)
{
	struct oracle_place at = oracle_place(p, i);
	int fh = (int)p->window.filter_h, fw = (int)p->window.filter_w, ci = (int)p->in_c;
	double sum = bias[at.c];

	for (int fy = 0; fy < fh; fy++)
		for (int fx = 0; fx < fw; fx++)
			for (int c = 0; c < ci; c++) {
				const double *x = oracle_under(p, in, at, fy, fx, c);

				sum += x ? *x * filter[((at.c * fh + fy) * fw + fx) * ci + c] : 0;
			}
	return sum;
}

static inline double oracle_depthwise(const struct nnbx_planes *p, const double *in, const double *filter,
                                      const double *bias, size_t i)
{
	struct oracle_place at = oracle_place(p, i);
	int fh = (int)p->window.filter_h, fw = (int)p->window.filter_w;
	double sum = bias[at.c];

	for (int fy = 0; fy < fh; fy++)
		for (int fx = 0; fx < fw; fx++) {
			const double *x = oracle_under(p, in, at, fy, fx, at.c / (int)p->window.multiplier);

			sum += x ? *x * filter[(fy * fw + fx) * (int)p->out_c + at.c] : 0;
		}
	return sum;
}

/* Sums over the cells of a window, for the pooling operations. */
struct oracle_window {
	int cells;
	double sum, squares, most;
};

static inline struct oracle_window oracle_window(const struct nnbx_planes *p, const double *in, size_t i)
{
	struct oracle_place at = oracle_place(p, i);
	struct oracle_window w = { .most = -INFINITY };

	for (int fy = 0; fy < (int)p->window.filter_h; fy++)
		for (int fx = 0; fx < (int)p->window.filter_w; fx++) {
			const double *x = oracle_under(p, in, at, fy, fx, at.c);

			if (!x)
				continue;
			w.cells++;
			w.sum += *x;
			w.squares += *x * *x;
			w.most = fmax(w.most, *x);
		}
	return w;
}

/*
 * Weights fall linearly around the position of the output in the input; beyond the last cell the last cell
 * counts.
 */
static inline double oracle_resize(const struct nnbx_planes *p, const double *in, size_t i)
{
	struct oracle_place at = oracle_place(p, i);
	double y = fmin((double)at.y * p->in_h / p->out_h, p->in_h - 1.0);
	double x = fmin((double)at.x * p->in_w / p->out_w, p->in_w - 1.0);
	double sum = 0;

	for (size_t k = 0; k < (size_t)p->in_h * p->in_w; k++) {
		double near_y = fmax(0, 1 - fabs(y - (double)(k / p->in_w)));
		double near_x = fmax(0, 1 - fabs(x - (double)(k % p->in_w)));

		sum += near_y * near_x * in[((size_t)at.b * p->in_h * p->in_w + k) * p->in_c + (size_t)at.c];
	}
	return sum;
}

/* ---- broadcasting ---- */

/* O-32: the index into a tensor of @dims of element @i of the tensor @out_dims. */
static inline size_t oracle_broadcast(size_t i, uint32_t out_rank, const uint32_t *out_dims, uint32_t rank,
                                      const uint32_t *dims)
{
	size_t index = 0, step = 1;

	for (uint32_t back = 1; back <= out_rank; back++) {
		size_t at = i % out_dims[out_rank - back];

		i /= out_dims[out_rank - back];
		if (back > rank)
			continue;
		index += dims[rank - back] == 1 ? 0 : at * step;
		step *= dims[rank - back];
	}
	return index;
}

/* ---- with state ---- */

static inline double oracle_sigmoid(double x)
{
	return 0.5 * tanh(x / 2) + 0.5;
}

static inline double oracle_activate(uint32_t activation, double x)
{
	if (activation == NNBX_TANH)
		return tanh(x);
	if (activation == NNBX_SIGMOID)
		return oracle_sigmoid(x);
	return oracle_clamp(x, oracle_bounds(activation));
}

/* Row @row of a matrix of @n columns, times x. */
static inline double oracle_row(const float *matrix, size_t row, const float *x, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += (double)matrix[row * n + i] * (double)x[i];
	return sum;
}

/* The value of gate @g for cell @u of item @b, before any activation. */
static inline double oracle_gate(const struct nnbx_lstm *p, const struct nnbx_lstm_gate *g, size_t b, size_t u,
                                 const float *in, const float *state, double peeped)
{
	return oracle_row(g->weights, u, in + b * p->inputs, p->inputs) +
	       oracle_row(g->recurrent, u, state + b * p->outputs, p->outputs) + (double)g->bias[u] +
	       (g->peephole ? (double)g->peephole[u] * peeped : 0);
}

static inline double oracle_clip(double x, double limit)
{
	return limit > 0 ? oracle_clamp(x, (struct oracle_bounds){ -limit, limit }) : x;
}

/* The cell's new state; *hidden: what the output gate passes on. */
static inline double oracle_lstm_cell(const struct nnbx_lstm *p, size_t b, size_t u, const float *in,
                                      const float *state, const float *cells, double *hidden)
{
	double before = (double)cells[b * p->cells + u], after, forget, input;

	forget = oracle_sigmoid(oracle_gate(p, &p->forget, b, u, in, state, before));
	input = p->input.weights ? oracle_sigmoid(oracle_gate(p, &p->input, b, u, in, state, before)) : 1 - forget;
	after = forget * before + input * oracle_activate(p->activation, oracle_gate(p, &p->cell, b, u, in, state, 0));
	after = oracle_clip(after, (double)p->cell_clip);
	*hidden = oracle_sigmoid(oracle_gate(p, &p->output, b, u, in, state, after)) *
	          oracle_activate(p->activation, after);
	return after;
}

/* Output @i of item @b. */
static inline double oracle_lstm_output(const struct nnbx_lstm *p, size_t b, size_t i, const float *in,
                                        const float *state, const float *cells)
{
	double sum = p->projection_bias ? (double)p->projection_bias[i] : 0, hidden;

	if (!p->projection) {
		oracle_lstm_cell(p, b, i, in, state, cells, &hidden);
		return hidden;
	}
	for (size_t u = 0; u < p->cells; u++) {
		oracle_lstm_cell(p, b, u, in, state, cells, &hidden);
		sum += (double)p->projection[i * p->cells + u] * hidden;
	}
	return oracle_clip(sum, (double)p->projection_clip);
}

#endif
