/* elementwise.c -- functions of one tensor, element by element and row by row. */
#include "arith.h"

enum { VALUES = UINT8_MAX + 1 }; /* of a quant8 */

/* ---- by the element ---- */

void nnbx_clamp_f32(size_t n, const float *in, float min, float max, float *out)
{
	NNBX_IN_PARTS (n, 1, at, part)
		for (size_t i = at; i < at + part; i++)
			out[i] = nnbx_clamp(in[i], min, max);
}

void nnbx_clamp_q8(size_t n, const uint8_t *in, uint8_t min, uint8_t max, uint8_t *out)
{
	NNBX_IN_PARTS (n, 1, at, part)
		for (size_t i = at; i < at + part; i++) {
			uint8_t low = in[i] > min ? in[i] : min;

			out[i] = low < max ? low : max;
		}
}

void nnbx_floor_f32(size_t n, const float *in, float *out)
{
	NNBX_IN_PARTS (n, 1, at, part)
		for (size_t i = at; i < at + part; i++)
			out[i] = floorf(in[i]);
}

void nnbx_logistic_f32(size_t n, const float *in, float *out)
{
	NNBX_IN_PARTS (n, 10, at, part)
		for (size_t i = at; i < at + part; i++)
			out[i] = 1 / (1 + expf(-in[i]));
}

void nnbx_tanh_f32(size_t n, const float *in, float *out)
{
	NNBX_IN_PARTS (n, 20, at, part)
		for (size_t i = at; i < at + part; i++)
			out[i] = tanhf(in[i]);
}

static double real(struct nnbx_quant q, int32_t value)
{
	return (double)q.scale * (value - q.zero_point);
}

static void look_up(size_t n, const uint8_t *table, const uint8_t *in, uint8_t *out)
{
	NNBX_IN_PARTS (n, 1, at, part)
		for (size_t i = at; i < at + part; i++)
			out[i] = table[in[i]];
}

void nnbx_logistic_q8(size_t n, struct nnbx_quant q, const uint8_t *in, uint8_t *out)
{
	uint8_t table[VALUES];

	for (int i = 0; i < VALUES; i++)
		table[i] = nnbx_to_q8(256 / (1 + exp(-real(q, i))), 0, UINT8_MAX);
	look_up(n, table, in, out);
}

void nnbx_tanh_q8(size_t n, struct nnbx_quant q, const uint8_t *in, uint8_t *out)
{
	uint8_t table[VALUES];

	for (int i = 0; i < VALUES; i++)
		table[i] = nnbx_to_q8(128 * tanh(real(q, i)) + 128, 0, UINT8_MAX);
	look_up(n, table, in, out);
}

void nnbx_dequantize_q8(size_t n, struct nnbx_quant q, const uint8_t *in, float *out)
{
	NNBX_IN_PARTS (n, 1, at, part)
		for (size_t i = at; i < at + part; i++)
			out[i] = q.scale * (float)(in[i] - q.zero_point);
}

/* ---- by the row ---- */

static void softmax_row_f32(size_t size, float beta, const float *in, float *out)
{
	float most = -INFINITY, sum = 0;

	NNBX_IN_PARTS (size, 1, at, part)
		for (size_t i = at; i < at + part; i++)
			most = in[i] > most ? in[i] : most;
	NNBX_IN_PARTS (size, 10, at, part)
		for (size_t i = at; i < at + part; i++) {
			out[i] = expf((in[i] - most) * beta);
			sum += out[i];
		}
	NNBX_IN_PARTS (size, 2, at, part)
		for (size_t i = at; i < at + part; i++)
			out[i] /= sum;
}

void nnbx_softmax_f32(size_t n, size_t size, float beta, const float *in, float *out)
{
	for (size_t row = 0; row < n && nnbx_worked(1); row++)
		softmax_row_f32(size, beta, in + row * size, out + row * size);
}

/* @powers[d]: e to the power of a value that is d below the row's greatest. */
static void softmax_row_q8(size_t size, const float *powers, const uint8_t *in, uint8_t *out)
{
	uint8_t most = 0;
	double sum = 0;

	NNBX_IN_PARTS (size, 1, at, part)
		for (size_t i = at; i < at + part; i++)
			most = in[i] > most ? in[i] : most;
	NNBX_IN_PARTS (size, 3, at, part)
		for (size_t i = at; i < at + part; i++)
			sum += (double)powers[(uint8_t)(most - in[i])];
	NNBX_IN_PARTS (size, 10, at, part)
		for (size_t i = at; i < at + part; i++)
			out[i] = nnbx_to_q8(256 * (double)powers[(uint8_t)(most - in[i])] / sum, 0, UINT8_MAX);
}

void nnbx_softmax_q8(size_t n, size_t size, struct nnbx_quant q, float beta, const uint8_t *in, uint8_t *out)
{
	float powers[VALUES];

	for (int i = 0; i < VALUES; i++)
		powers[i] = expf(-q.scale * beta * (float)i);
	for (size_t row = 0; row < n && nnbx_worked(1); row++)
		softmax_row_q8(size, powers, in + row * size, out + row * size);
}

static double square_sum(const float *x, size_t n)
{
	double sum = 0;

	NNBX_IN_PARTS (n, 1, at, part)
		for (size_t i = at; i < at + part; i++)
			sum += (double)x[i] * x[i];
	return sum;
}

void nnbx_l2_normalization_f32(size_t n, size_t size, const float *in, float *out)
{
	for (size_t row = 0; row < n && nnbx_worked(1); row++, in += size, out += size) {
		double norm = sqrt(square_sum(in, size));

		NNBX_IN_PARTS (size, 2, at, part)
			for (size_t i = at; i < at + part; i++)
				out[i] = norm == 0 ? 0 : (float)(in[i] / norm);
	}
}

void nnbx_local_response_normalization_f32(size_t n, size_t size, uint32_t radius, float bias, float alpha, float beta,
                                           const float *in, float *out)
{
	for (size_t row = 0; row < n && nnbx_worked(1); row++, in += size, out += size)
		for (size_t i = 0; i < size && nnbx_worked(80); i++) {
			size_t begin = i > radius ? i - radius : 0;
			size_t end = size - i > radius ? i + radius + 1 : size;
			double around = square_sum(in + begin, end - begin);

			out[i] = (float)(in[i] / pow(bias + (double)alpha * around, (double)beta));
		}
}
