/* compare.c -- compares an output with the expected one. */
#include "compare.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "nnb/half.h"

#define HALF_EPSILON 0.0009765625

struct tolerance {
	double absolute, relative;
};

static double element_value(uint32_t type, const void *data, size_t i)
{
	switch (type) {
	case NNB_FLOAT32:
	case NNB_TENSOR_FLOAT32:
		return ((const float *)data)[i];
	case NNB_FLOAT16:
	case NNB_TENSOR_FLOAT16:
		return nnb_half_to_float(((const uint16_t *)data)[i]);
	case NNB_TENSOR_QUANT16_SYMM:
		return ((const int16_t *)data)[i];
	case NNB_TENSOR_QUANT16_ASYMM:
		return ((const uint16_t *)data)[i];
	case NNB_TENSOR_QUANT8_ASYMM_SIGNED:
	case NNB_TENSOR_QUANT8_SYMM:
	case NNB_TENSOR_QUANT8_SYMM_PER_CHANNEL:
		return ((const int8_t *)data)[i];
	case NNB_UINT32:
		return ((const uint32_t *)data)[i];
	case NNB_INT32:
	case NNB_TENSOR_INT32:
		return ((const int32_t *)data)[i];
	default:
		return ((const uint8_t *)data)[i];
	}
}

size_t compare_output(const struct nnb_model *m, uint32_t output, const void *got, const void *want, size_t bytes,
                      struct nnb_reason *reason)
{
	struct tolerance t;
	size_t n, off = 0;
	uint32_t type;

	assert(output < m->n_outputs);
	type = m->operands[m->outputs[output]].type;
	assert(bytes % nnb_type_info(type)->bytes == 0);
	n = bytes / nnb_type_info(type)->bytes;
	if (type == NNB_TENSOR_FLOAT32 || type == NNB_FLOAT32)
		t = m->relaxed ? (struct tolerance){ 5e-3, 5e-3 } : (struct tolerance){ 1e-5, 5e-6 };
	else if (type == NNB_TENSOR_FLOAT16 || type == NNB_FLOAT16)
		t = (struct tolerance){ 5 * HALF_EPSILON, 5 * HALF_EPSILON };
	else
		t = (struct tolerance){ nnb_type_info(type)->quantized || nnb_type_info(type)->by_channel, 0 };
	for (size_t i = 0; i < n; i++) {
		double g = element_value(type, got, i), w = element_value(type, want, i);

		/* An infinity matches itself alone; a NaN never matches. */
		if (g == w || (isfinite(w) && fabs(g - w) <= t.absolute + t.relative * fabs(w)))
			continue;
		if (off++ == 0)
			snprintf(reason->text, sizeof(reason->text), "output %u[%zu] is %.9g, not %.9g", output, i, g,
			         w);
	}
	if (off > 1) {
		size_t used = strlen(reason->text);

		snprintf(reason->text + used, sizeof(reason->text) - used, "; %zu of %zu elements differ", off, n);
	}
	return off;
}
