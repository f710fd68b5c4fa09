/* elementwise.c -- functions of one tensor, element by element and row by row. */
#include "arith.h"
#include "wide.h"

enum { VALUES = UINT8_MAX + 1 }; /* number of values of a quant8 */

/* ---- by the element ---- */

static NNBX_INLINE void clamp_part_body(size_t n, const float *in, float min, float max, float *out)
{
	for (size_t i = 0; i < n; i++)
		out[i] = nnbx_clamp(in[i], min, max);
}

NNBX_TWICE(clamp_part, (size_t n, const float *in, float min, float max, float *out), (n, in, min, max, out))

void nnbx_clamp_f32(size_t n, const float *in, float min, float max, float *out)
{
	NNBX_IN_PARTS (n, 1, at, part)
		clamp_part(part, in + at, min, max, out + at);
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

/*
 * *@at becomes e to the power of it, off by at most 2.6e-7 of that (measured). The power of 2 nearest to the result
 * is an exponent, and a polynomial (Taylor's, to x^6) gives what is left, of at most half an octave. Beyond 87 it is
 * that of 87; a NaN stays one.
 */
static NNBX_INLINE void exp_near(nnbx_float8 *at)
{
	const nnbx_float8 most = (nnbx_float8){ 0 } + 87, magic = (nnbx_float8){ 0 } + 0x1.8p23f;
	nnbx_float8 x = *at, shifted, octaves, r, p;

	x = NNBX_CHOOSE(x < -most, -most, x);
	x = NNBX_CHOOSE(x > most, most, x);
	shifted = x * 0x1.715476p0f + magic; /* rounds to an integer, which is then in the lowest bits */
	octaves = shifted - magic;
	r = (x - octaves * 0x1.62e4p-1f) - octaves * 0x1.7f7d1cp-20f; /* ln 2 in two parts */
	p = r * (1.0f / 720) + 1.0f / 120;
	p = p * r + 1.0f / 24;
	p = p * r + 1.0f / 6;
	p = p * r + 0.5f;
	p = p * r + 1;
	p = p * r + 1;
	*at = p * (nnbx_float8)(((nnbx_int8)shifted + 127) << 23);
}

static NNBX_INLINE void logistic_eight(const float *in, float *out)
{
	nnbx_float8 x = -*(const nnbx_float8 *)in;

	exp_near(&x);
	*(nnbx_float8 *)out = 1 / (1 + x);
}

static NNBX_INLINE void logistic_part_body(size_t n, const float *in, float *out)
{
	float rest[8] = { 0 };
	size_t i = 0;

	for (; i + 8 <= n; i += 8)
		logistic_eight(in + i, out + i);
	memcpy(rest, in + i, (n - i) * sizeof(float));
	logistic_eight(rest, rest);
	memcpy(out + i, rest, (n - i) * sizeof(float));
}

NNBX_TWICE(logistic_part, (size_t n, const float *in, float *out), (n, in, out))

void nnbx_logistic_f32(size_t n, const float *in, float *out)
{
	NNBX_IN_PARTS (n, 3, at, part)
		logistic_part(part, in + at, out + at);
}

void nnbx_tanh_f32(size_t n, const float *in, float *out)
{
	NNBX_IN_PARTS (n, 20, at, part)
		for (size_t i = at; i < at + part; i++)
			out[i] = tanhf(in[i]);
}

static double real_value(struct nnbx_quant q, int32_t value)
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
		table[i] = nnbx_to_q8(256 / (1 + exp(-real_value(q, i))), 0, UINT8_MAX);
	look_up(n, table, in, out);
}

void nnbx_tanh_q8(size_t n, struct nnbx_quant q, const uint8_t *in, uint8_t *out)
{
	uint8_t table[VALUES];

	for (int i = 0; i < VALUES; i++)
		table[i] = nnbx_to_q8(128 * tanh(real_value(q, i)) + 128, 0, UINT8_MAX);
	look_up(n, table, in, out);
}

void nnbx_dequantize_q8(size_t n, struct nnbx_quant q, const uint8_t *in, float *out)
{
	NNBX_IN_PARTS (n, 1, at, part)
		for (size_t i = at; i < at + part; i++)
			out[i] = q.scale * (float)(in[i] - q.zero_point);
}

void nnbx_requantize_q8(size_t n, struct nnbx_quant from, const uint8_t *in, struct nnbx_quant to, bool flipped,
                        uint8_t *out)
{
	uint8_t table[VALUES], flip = flipped ? 0x80 : 0;

	for (int i = 0; i < VALUES; i++)
		table[i ^ flip] =
			nnbx_to_q8(round(real_value(from, i) / to.scale) + to.zero_point, 0, UINT8_MAX) ^ flip;
	look_up(n, table, in, out);
}

/* ---- by the row ---- */

/* The element that row @row begins at. */
static size_t row_at(size_t row, size_t size, size_t step)
{
	return row / step * size * step + row % step;
}

static void softmax_row_f32(size_t size, size_t step, float beta, const float *in, float *out)
{
	float most = -INFINITY, sum = 0;

	NNBX_IN_PARTS (size, 1, at, part)
		for (size_t i = at; i < at + part; i++)
			most = in[i * step] > most ? in[i * step] : most;
	NNBX_IN_PARTS (size, 10, at, part)
		for (size_t i = at; i < at + part; i++) {
			float power = expf((in[i * step] - most) * beta);

			out[i * step] = power;
			sum += power;
		}
	NNBX_IN_PARTS (size, 2, at, part)
		for (size_t i = at; i < at + part; i++)
			out[i * step] /= sum;
}

void nnbx_softmax_f32(size_t n, size_t size, size_t step, float beta, const float *in, float *out)
{
	for (size_t row = 0; row < n && nnbx_worked(1); row++) {
		size_t at = row_at(row, size, step);

		softmax_row_f32(size, step, beta, in + at, out + at);
	}
}

/* @powers[d]: e to the power of a value that is d below the row's greatest. */
static void softmax_row_q8(size_t size, size_t step, const float *powers, const uint8_t *in, uint8_t *out)
{
	uint8_t most = 0;
	double sum = 0;

	NNBX_IN_PARTS (size, 1, at, part)
		for (size_t i = at; i < at + part; i++)
			most = in[i * step] > most ? in[i * step] : most;
	NNBX_IN_PARTS (size, 3, at, part)
		for (size_t i = at; i < at + part; i++)
			sum += (double)powers[(uint8_t)(most - in[i * step])];
	NNBX_IN_PARTS (size, 10, at, part)
		for (size_t i = at; i < at + part; i++) {
			double share = (double)powers[(uint8_t)(most - in[i * step])] / sum;

			out[i * step] = nnbx_to_q8(256 * share, 0, UINT8_MAX);
		}
}

void nnbx_softmax_q8(size_t n, size_t size, size_t step, struct nnbx_quant q, float beta, const uint8_t *in,
                     uint8_t *out)
{
	float powers[VALUES];

	for (int i = 0; i < VALUES; i++)
		powers[i] = expf(-q.scale * beta * (float)i);
	for (size_t row = 0; row < n && nnbx_worked(1); row++) {
		size_t at = row_at(row, size, step);

		softmax_row_q8(size, step, powers, in + at, out + at);
	}
}

static double square_sum(const float *x, size_t n, size_t step)
{
	double sum = 0;

	NNBX_IN_PARTS (n, 1, at, part)
		for (size_t i = at; i < at + part; i++)
			sum += (double)x[i * step] * x[i * step];
	return sum;
}

void nnbx_l2_normalization_f32(size_t n, size_t size, size_t step, const float *in, float *out)
{
	for (size_t row = 0; row < n && nnbx_worked(1); row++) {
		const float *from = in + row_at(row, size, step);
		float *to = out + row_at(row, size, step);
		double norm = sqrt(square_sum(from, size, step));

		NNBX_IN_PARTS (size, 2, at, part)
			for (size_t i = at; i < at + part; i++)
				to[i * step] = norm == 0 ? 0 : (float)(from[i * step] / norm);
	}
}

void nnbx_l2_normalization_q8(size_t n, size_t size, size_t step, int32_t zero_point, const uint8_t *in, uint8_t *out)
{
	for (size_t row = 0; row < n && nnbx_worked(1); row++) {
		const uint8_t *from = in + row_at(row, size, step);
		uint8_t *to = out + row_at(row, size, step);
		double sum = 0;

		NNBX_IN_PARTS (size, 2, at, part)
			for (size_t i = at; i < at + part; i++) {
				int32_t x = from[i * step] - zero_point;

				sum += (double)x * x;
			}
		NNBX_IN_PARTS (size, 5, at, part)
			for (size_t i = at; i < at + part; i++) {
				double share = sum > 0 ? (from[i * step] - zero_point) / sqrt(sum) : 0;

				to[i * step] = nnbx_to_q8(round(128 * share) + 128, 0, UINT8_MAX);
			}
	}
}

void nnbx_local_response_normalization_f32(size_t n, size_t size, size_t step, uint32_t radius, float bias, float alpha,
                                           float beta, const float *in, float *out)
{
	for (size_t row = 0; row < n && nnbx_worked(1); row++) {
		const float *from = in + row_at(row, size, step);
		float *to = out + row_at(row, size, step);

		for (size_t i = 0; i < size && nnbx_worked(80); i++) {
			size_t begin = i > radius ? i - radius : 0;
			size_t end = size - i > radius ? i + radius + 1 : size;
			double around = square_sum(from + begin * step, end - begin, step);

			to[i * step] = (float)(from[i * step] / pow(bias + (double)alpha * around, (double)beta));
		}
	}
}
