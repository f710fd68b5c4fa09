/* tensor.c -- tensors of any type as doubles, and back. */
#include "tensor.h"

#include <assert.h>
#include <math.h>

#include "nnb/half.h"

size_t nnbx_extent(const struct nnbx_tensor *t, uint32_t from, uint32_t to)
{
	size_t n = 1;

	assert(to <= t->rank);
	for (uint32_t d = from; d < to; d++)
		n *= t->dims[d];
	return n;
}

size_t nnbx_elements(const struct nnbx_tensor *t)
{
	return nnbx_extent(t, 0, t->rank);
}

size_t nnbx_element_bytes(const struct nnbx_tensor *t)
{
	const struct nnb_type_info *info = nnb_type_info((enum nnb_type)t->type);

	return info ? info->bytes : 1;
}

size_t nnbx_steps(uint32_t rank, const uint32_t *dims, size_t *ret)
{
	size_t step = 1;

	for (uint32_t d = rank; d-- > 0;) {
		ret[d] = step;
		step *= dims[d];
	}
	return step;
}

/* ---- reading ---- */

#define LOAD(ctype, expression)                                   \
	do {                                                      \
		const ctype *from = (const ctype *)t->at + first; \
		for (size_t i = 0; i < n; i++) {                  \
			ctype q = from[i * step];                 \
			ret[i] = (expression);                    \
		}                                                 \
	} while (0)

void nnbx_load(const struct nnbx_tensor *t, size_t first, size_t step, size_t n, double *ret)
{
	double scale = t->scale == 0 ? 1 : (double)t->scale;
	int32_t zero = t->scale == 0 ? 0 : t->zero_point;

	assert(n <= NNBX_BLOCK);
	switch (t->type) {
	case NNB_TENSOR_FLOAT32:
	case NNB_FLOAT32:
		LOAD(float, (double)q);
		break;
	case NNB_TENSOR_INT32:
	case NNB_INT32:
		LOAD(int32_t, q);
		break;
	case NNB_TENSOR_FLOAT16:
	case NNB_FLOAT16:
		LOAD(uint16_t, (double)nnb_half_to_float(q));
		break;
	case NNB_TENSOR_BOOL8:
	case NNB_BOOL:
		LOAD(uint8_t, q != 0);
		break;
	case NNB_TENSOR_QUANT8_ASYMM:
		LOAD(uint8_t, scale * (q - zero));
		break;
	case NNB_TENSOR_QUANT16_ASYMM:
		LOAD(uint16_t, scale * (q - zero));
		break;
	case NNB_TENSOR_QUANT16_SYMM:
		LOAD(int16_t, scale * q);
		break;
	case NNB_TENSOR_QUANT8_SYMM_PER_CHANNEL:
		LOAD(int8_t, q);
		break;
	default:
		LOAD(int8_t, scale * (q - zero));
	}
}

double nnbx_load_one(const struct nnbx_tensor *t, size_t at)
{
	double value;

	nnbx_load(t, at, 0, 1, &value);
	return value;
}

void nnbx_load_floats(const struct nnbx_tensor *t, size_t first, size_t n, float *ret)
{
	double block[NNBX_BLOCK];

	if (t->type == NNB_TENSOR_FLOAT32) {
		nnbx_copy(ret, (const float *)t->at + first, n * sizeof(*ret));
		return;
	}
	for (size_t at = 0, part; at < n && nnbx_worked(2 * NNBX_BLOCK); at += part) {
		part = n - at < NNBX_BLOCK ? n - at : NNBX_BLOCK;
		nnbx_load(t, first + at, 1, part, block);
		for (size_t i = 0; i < part; i++)
			ret[at + i] = (float)block[i];
	}
}

/* ---- writing ---- */

/* The integer nearest to @x from @min to @max. */
static inline double round_bounded(double x, double min, double max)
{
	x = round(x);
	return x > min ? x < max ? x : max : min; /* a NaN is min */
}

#define STORE(ctype, expression)                     \
	do {                                         \
		ctype *to = (ctype *)t->at + first;  \
		for (size_t i = 0; i < n; i++) {     \
			double x = values[i];        \
			to[i] = (ctype)(expression); \
		}                                    \
	} while (0)

void nnbx_store(const struct nnbx_tensor *t, size_t first, size_t n, const double *values)
{
	double scale = t->scale == 0 ? 1 : (double)t->scale;
	double zero = t->scale == 0 ? 0 : (double)t->zero_point;

	switch (t->type) {
	case NNB_TENSOR_FLOAT32:
	case NNB_FLOAT32:
		STORE(float, x);
		break;
	case NNB_TENSOR_INT32:
	case NNB_INT32:
		STORE(int32_t, isnan(x) ? 0 : round_bounded(x, INT32_MIN, INT32_MAX));
		break;
	case NNB_TENSOR_FLOAT16:
	case NNB_FLOAT16:
		STORE(uint16_t, nnb_float_to_half((float)x));
		break;
	case NNB_TENSOR_BOOL8:
	case NNB_BOOL:
		STORE(uint8_t, x != 0);
		break;
	case NNB_TENSOR_QUANT8_ASYMM:
		STORE(uint8_t, round_bounded(round(x / scale) + zero, 0, UINT8_MAX));
		break;
	case NNB_TENSOR_QUANT16_ASYMM:
		STORE(uint16_t, round_bounded(round(x / scale) + zero, 0, UINT16_MAX));
		break;
	case NNB_TENSOR_QUANT16_SYMM:
		STORE(int16_t, round_bounded(x / scale, INT16_MIN, INT16_MAX));
		break;
	default:
		STORE(int8_t, round_bounded(round(x / scale) + zero, INT8_MIN, INT8_MAX));
	}
}

void nnbx_store_one(const struct nnbx_tensor *t, size_t at, double value)
{
	nnbx_store(t, at, 1, &value);
}

void nnbx_store_floats(const struct nnbx_tensor *t, size_t first, size_t n, const float *values)
{
	double block[NNBX_BLOCK];

	for (size_t at = 0, part; at < n && nnbx_worked(2 * NNBX_BLOCK); at += part) {
		part = n - at < NNBX_BLOCK ? n - at : NNBX_BLOCK;
		for (size_t i = 0; i < part; i++)
			block[i] = (double)values[at + i];
		nnbx_store(t, first + at, part, block);
	}
}
