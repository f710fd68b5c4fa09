/* each.c -- functions of one tensor of any type, element by element. */
#include <math.h>

#include "arith.h"
#include "tensor.h"
#include "wide.h"

typedef void each_fn(const double *in, size_t n, double alpha, double *ret);

#define EACH(name, expression)                                                  \
	static void name(const double *in, size_t n, double alpha, double *ret) \
	{                                                                       \
		(void)alpha;                                                    \
		for (size_t i = 0; i < n; i++) {                                \
			double x = in[i];                                       \
			ret[i] = (expression);                                  \
		}                                                               \
	}

EACH(each_abs, fabs(x))
EACH(each_exp, (double)expf((float)x))
EACH(each_log, (double)logf((float)x))
EACH(each_neg, -x)
EACH(each_rsqrt, 1 / sqrt(x))
EACH(each_sin, (double)sinf((float)x))
EACH(each_sqrt, sqrt(x))
EACH(each_not, x == 0)
EACH(each_same, x)
EACH(each_elu, x > 0 ? x : alpha * (double)expm1f((float)x))
EACH(each_hard_swish, x *fmin(fmax(x + 3, 0), 6) / 6)

static const struct each {
	each_fn *fn;
	uint32_t units; /* units of look.h for an element */
} eachs[] = {
	[NNB_ABS] = { each_abs, 4 },       [NNB_EXP] = { each_exp, 10 },
	[NNB_LOG] = { each_log, 12 },      [NNB_NEG] = { each_neg, 4 },
	[NNB_RSQRT] = { each_rsqrt, 12 },  [NNB_SIN] = { each_sin, 20 },
	[NNB_SQRT] = { each_sqrt, 8 },     [NNB_LOGICAL_NOT] = { each_not, 4 },
	[NNB_QUANTIZE] = { each_same, 8 }, [NNB_DEQUANTIZE] = { each_same, 4 },
	[NNB_ELU] = { each_elu, 20 },      [NNB_HARD_SWISH] = { each_hard_swish, 8 },
};

/* For float32 in floats: vectors of floats are twice as long, and no conversion is needed. */
static NNBX_INLINE void hard_swish_floats_body(const float *in, size_t n, float *ret)
{
	for (size_t i = 0; i < n; i++) {
		float x = in[i], y = x + 3;

		ret[i] = x * (y < 0 ? 0 : y > 6 ? 6 : y) * (1.0f / 6);
	}
}

NNBX_TWICE(hard_swish_floats, (const float *in, size_t n, float *ret), (in, n, ret))

void nnbx_each(enum nnb_op op, double alpha, const struct nnbx_tensor *in, const struct nnbx_tensor *out)
{
	const struct each *each = &eachs[op];
	bool floats = op == NNB_HARD_SWISH && in->type == NNB_TENSOR_FLOAT32 && out->type == NNB_TENSOR_FLOAT32;
	double x[NNBX_BLOCK];
	size_t n = nnbx_elements(in);

	for (size_t at = 0, part; at < n && nnbx_worked(NNBX_BLOCK * (size_t)each->units); at += part) {
		part = n - at < NNBX_BLOCK ? n - at : NNBX_BLOCK;
		if (floats) {
			hard_swish_floats((const float *)in->at + at, part, (float *)out->at + at);
			continue;
		}
		nnbx_load(in, at, 1, part, x);
		each->fn(x, part, alpha, x);
		nnbx_store(out, at, part, x);
	}
}

void nnbx_cast(const struct nnbx_tensor *in, const struct nnbx_tensor *out)
{
	struct nnbx_tensor from = *in, to = *out;
	bool cuts = to.type != NNB_TENSOR_FLOAT32 && to.type != NNB_TENSOR_FLOAT16 && to.type != NNB_TENSOR_BOOL8;
	double x[NNBX_BLOCK];
	size_t n = nnbx_elements(in);

	from.scale = to.scale = 0;
	for (size_t at = 0, part; at < n && nnbx_worked(NNBX_BLOCK * (size_t)8); at += part) {
		part = n - at < NNBX_BLOCK ? n - at : NNBX_BLOCK;
		nnbx_load(&from, at, 1, part, x);
		for (size_t i = 0; cuts && i < part; i++)
			x[i] = trunc(x[i]);
		nnbx_store(&to, at, part, x);
	}
}
