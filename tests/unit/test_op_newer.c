/*
 * test_op_newer.c -- operations of HAL 1.1 to 1.3, of random shapes and every type they take, against their definitions in
 * doubles; and indexes, axes and extents that are wrong, which are errors and nothing else.
 *
 * Each round makes a model of one operation, works out from the reals that its inputs' bytes stand for what should come out,
 * one element of the output at a time, and runs it. Kernels go through memory in steps; the oracle asks for each output where
 * it comes from.
 */
#include <math.h>

#include "nnb/half.h"
#include "unit/device_helpers.h"

enum { ROUNDS = 30, TENSORS_MAX = 12, ELEMENTS_MAX = 4096, RANK = 4 };

static uint64_t random_state;

static uint32_t random_below(uint32_t n)
{
	random_state = random_state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(random_state >> 33) % n;
}

static uint32_t between(uint32_t least, uint32_t most)
{
	return least + random_below(most - least + 1);
}

/* ---- tensors ---- */

struct tensor {
	struct nnb_operand o;
	uint32_t index;
	size_t n;
	uint8_t bytes[4 * ELEMENTS_MAX];
	double reals[ELEMENTS_MAX];
};

struct maker {
	struct nnb_model *m;
	uint32_t type, op;
	struct tensor pool[TENSORS_MAX], *given[TENSORS_MAX], *wanted[TENSORS_MAX];
	uint32_t n_pool, n_given, n_wanted;
	uint32_t inputs[24], n_inputs;
};

static double decode(const struct tensor *t, size_t i)
{
	const void *at = t->bytes;

	switch (t->o.type) {
	case NNB_TENSOR_FLOAT32:
		return (double)((const float *)at)[i];
	case NNB_TENSOR_FLOAT16:
		return (double)nnb_half_to_float(((const uint16_t *)at)[i]);
	case NNB_TENSOR_INT32:
		return ((const int32_t *)at)[i];
	case NNB_TENSOR_BOOL8:
		return t->bytes[i];
	case NNB_TENSOR_QUANT8_ASYMM:
		return (double)t->o.scale * (t->bytes[i] - t->o.zero_point);
	default:
		return (double)t->o.scale * ((const int8_t *)at)[i] - (double)t->o.scale * t->o.zero_point;
	}
}

static void encode(struct tensor *t, size_t i, double real)
{
	float f = (float)real;
	uint16_t h = nnb_float_to_half(f);
	int32_t n = (int32_t)real;

	if (t->o.type == NNB_TENSOR_FLOAT32)
		memcpy(t->bytes + 4 * i, &f, 4);
	else if (t->o.type == NNB_TENSOR_FLOAT16)
		memcpy(t->bytes + 2 * i, &h, 2);
	else if (t->o.type == NNB_TENSOR_INT32)
		memcpy(t->bytes + 4 * i, &n, 4);
	else
		t->bytes[i] = (uint8_t)random_below(t->o.type == NNB_TENSOR_BOOL8 ? 2 : 256);
}

static struct tensor *tensor(struct maker *k, uint32_t type, uint32_t rank, const uint32_t *dims)
{
	struct tensor *t = &k->pool[k->n_pool++];

	assert_true(k->n_pool <= TENSORS_MAX);
	*t = (struct tensor){ .o = { .type = type, .rank = rank }, .n = 1 };
	memcpy(t->o.dims, dims, rank * sizeof(*dims));
	for (uint32_t d = 0; d < rank; d++)
		t->n *= dims[d];
	assert_true(t->n <= ELEMENTS_MAX);
	if (type == NNB_TENSOR_QUANT8_ASYMM || type == NNB_TENSOR_QUANT8_ASYMM_SIGNED) {
		t->o.scale = 1.0f / 32;
		t->o.zero_point = type == NNB_TENSOR_QUANT8_ASYMM ? 120 : -8;
	}
	return t;
}

/* Elements from @least to @most; of quantised types, all that there are. */
static struct tensor *fill(struct maker *k, uint32_t type, uint32_t rank, const uint32_t *dims, double least,
                           double most)
{
	struct tensor *t = tensor(k, type, rank, dims);

	for (size_t i = 0; i < t->n; i++) {
		encode(t, i, least + (most - least) * random_below(20001) / 20000);
		t->reals[i] = decode(t, i);
	}
	t->index = operand(k->m, &t->o);
	k->given[k->n_given++] = t;
	k->inputs[k->n_inputs++] = t->index;
	return t;
}

static struct tensor *own(struct maker *k, uint32_t rank, const uint32_t *dims)
{
	return fill(k, k->type, rank, dims, -4, 4);
}

static void integer(struct maker *k, int32_t value)
{
	k->inputs[k->n_inputs++] = int_scalar(k->m, value);
}

static void constant(struct maker *k, uint32_t type, uint32_t rank, const uint32_t *dims, const void *value,
                     uint32_t bytes)
{
	struct nnb_operand o = { .type = type, .rank = rank };

	memcpy(o.dims, dims, rank * sizeof(*dims));
	k->inputs[k->n_inputs] = operand(k->m, &o);
	assert_int_equal(nnb_model_value(k->m, k->inputs[k->n_inputs++], value, bytes), 0);
}

static void truth(struct maker *k, bool value)
{
	constant(k, NNB_BOOL, 0, (uint32_t[]){ 0 }, &value, 1);
}

static double real(struct maker *k, double value)
{
	bool half = k->type == NNB_TENSOR_FLOAT16;
	float f = (float)value;
	uint16_t h = nnb_float_to_half(f);

	constant(k, half ? NNB_FLOAT16 : NNB_FLOAT32, 0, (uint32_t[]){ 0 }, half ? (void *)&h : &f, half ? 2 : 4);
	return (double)(half ? nnb_half_to_float(h) : f);
}

static void list(struct maker *k, uint32_t n, const int32_t *values)
{
	constant(k, NNB_TENSOR_INT32, 1, &n, values, n * 4);
}

static void pairs(struct maker *k, uint32_t n, const int32_t *values)
{
	constant(k, NNB_TENSOR_INT32, 2, (uint32_t[]){ n, 2 }, values, n * 8);
}

static struct tensor *want(struct maker *k, uint32_t type, uint32_t rank, const uint32_t *dims)
{
	return k->wanted[k->n_wanted++] = tensor(k, type, rank, dims);
}

static void random_dims(uint32_t rank, uint32_t *ret)
{
	for (uint32_t d = 0; d < rank; d++)
		ret[d] = between(1, 5);
}

/* The index of element @i, and the element at an index. */
static void index_of(const struct tensor *t, size_t i, uint32_t *ret)
{
	for (uint32_t d = t->o.rank; d-- > 0; i /= t->o.dims[d])
		ret[d] = (uint32_t)(i % t->o.dims[d]);
}

static double at(const struct tensor *t, const uint32_t *index)
{
	size_t i = 0;

	for (uint32_t d = 0; d < t->o.rank; d++)
		i = i * t->o.dims[d] + index[d];
	return t->reals[i];
}

#define EACH_ELEMENT(t, i, index) \
	for (uint32_t i = 0, index[2 * RANK] = { 0 }; i < (t)->n && (index_of(t, i, index), true); i++)

/* ---- moved ---- */

static void make_transpose(struct maker *k)
{
	uint32_t rank = between(1, 4), dims[RANK], out[RANK], from[RANK] = { 0 };
	int32_t order[RANK] = { 0, 1, 2, 3 };
	struct tensor *in, *t;

	random_dims(rank, dims);
	in = own(k, rank, dims);
	for (uint32_t d = rank; d-- > 1;) {
		uint32_t other = random_below(d + 1);
		int32_t swap = order[d];

		order[d] = order[other];
		order[other] = swap;
	}
	list(k, rank, order);
	for (uint32_t d = 0; d < rank; d++)
		out[d] = dims[order[d]];
	t = want(k, k->type, rank, out);
	EACH_ELEMENT(t, i, x)
	{
		for (uint32_t d = 0; d < rank; d++)
			from[order[d]] = x[d];
		t->reals[i] = at(in, from);
	}
}

static void make_slice(struct maker *k)
{
	uint32_t rank = between(1, 4), dims[RANK], out[RANK];
	int32_t begin[RANK], size[RANK];
	struct tensor *in, *t;

	random_dims(rank, dims);
	in = own(k, rank, dims);
	for (uint32_t d = 0; d < rank; d++) {
		begin[d] = (int32_t)random_below(dims[d]);
		out[d] = between(1, dims[d] - (uint32_t)begin[d]);
		size[d] = out[d] == dims[d] - (uint32_t)begin[d] ? -1 : (int32_t)out[d];
	}
	list(k, rank, begin);
	list(k, rank, size);
	t = want(k, k->type, rank, out);
	EACH_ELEMENT(t, i, x)
	{
		for (uint32_t d = 0; d < rank; d++)
			x[d] += (uint32_t)begin[d];
		t->reals[i] = at(in, x);
	}
}

/* From either end, forwards and backwards; some dimensions are cut down to one. */
static void make_strided_slice(struct maker *k)
{
	uint32_t rank = between(1, 4), dims[RANK], out[RANK], n = 0, from[RANK], left[RANK];
	int32_t begin[RANK], end[RANK], stride[RANK], shrink = 0, first = 0;
	struct tensor *in, *t;

	random_dims(rank, dims);
	in = own(k, rank, dims);
	for (uint32_t d = 0; d < rank; d++) {
		bool one = n + (rank - d) > 1 && random_below(4) == 0;

		stride[d] = (int32_t)between(1, 2) * (one || random_below(2) ? 1 : -1);
		begin[d] = (int32_t)random_below(dims[d]);
		end[d] = stride[d] > 0 ? (int32_t)between((uint32_t)begin[d] + 1, dims[d]) : -(int32_t)dims[d] - 1;
		from[d] = (uint32_t)begin[d];
		if (stride[d] > 0 && !one && random_below(3) == 0) {
			first |= 1 << d;
			from[d] = 0;
		}
		if (random_below(2))
			begin[d] -= (int32_t)dims[d];
		if (one) {
			shrink |= 1 << d;
			continue;
		}
		left[n] = d;
		out[n++] = stride[d] > 0 ? ((uint32_t)end[d] - from[d] + (uint32_t)stride[d] - 1) / (uint32_t)stride[d]
		                         : from[d] / (uint32_t)-stride[d] + 1;
	}
	list(k, rank, begin);
	list(k, rank, end);
	list(k, rank, stride);
	integer(k, first);
	integer(k, 0);
	integer(k, shrink);
	t = want(k, k->type, n, out);
	EACH_ELEMENT(t, i, x)
	{
		uint32_t there[RANK];

		memcpy(there, from, sizeof(there));
		for (uint32_t d = 0; d < n; d++)
			there[left[d]] = (uint32_t)((int32_t)from[left[d]] + (int32_t)x[d] * stride[left[d]]);
		t->reals[i] = at(in, there);
	}
}

static void make_pad(struct maker *k)
{
	uint32_t rank = between(1, 4), dims[RANK], out[RANK];
	int32_t pads[2 * RANK];
	bool quant = k->type == NNB_TENSOR_QUANT8_ASYMM || k->type == NNB_TENSOR_QUANT8_ASYMM_SIGNED;
	struct tensor *in, *t;
	double value = 0;

	random_dims(rank, dims);
	in = own(k, rank, dims);
	for (uint32_t d = 0; d < rank; d++) {
		pads[2 * d] = (int32_t)random_below(3);
		pads[2 * d + 1] = (int32_t)random_below(3);
		out[d] = dims[d] + (uint32_t)(pads[2 * d] + pads[2 * d + 1]);
	}
	pairs(k, rank, pads);
	if (k->op == NNB_PAD_V2 && quant) {
		integer(k, in->o.zero_point + 9);
		value = 9 * (double)in->o.scale;
	} else if (k->op == NNB_PAD_V2) {
		value = real(k, 1.5);
	}
	t = want(k, k->type, rank, out);
	EACH_ELEMENT(t, i, x)
	{
		bool inside = true;

		for (uint32_t d = 0; d < rank; d++) {
			x[d] -= (uint32_t)pads[2 * d];
			inside &= x[d] < dims[d];
		}
		t->reals[i] = inside ? at(in, x) : value;
	}
}

static void make_tile(struct maker *k)
{
	uint32_t rank = between(1, 3), dims[RANK], out[RANK];
	int32_t times[RANK];
	struct tensor *in, *t;

	random_dims(rank, dims);
	in = own(k, rank, dims);
	for (uint32_t d = 0; d < rank; d++) {
		times[d] = (int32_t)between(1, 2);
		out[d] = dims[d] * (uint32_t)times[d];
	}
	list(k, rank, times);
	t = want(k, k->type, rank, out);
	EACH_ELEMENT(t, i, x)
	{
		for (uint32_t d = 0; d < rank; d++)
			x[d] %= dims[d];
		t->reals[i] = at(in, x);
	}
}

static void make_split(struct maker *k)
{
	uint32_t rank = between(1, 4), dims[RANK], axis = random_below(rank), n = between(1, 4);
	struct tensor *in;

	random_dims(rank, dims);
	dims[axis] = n * between(1, 3);
	in = own(k, rank, dims);
	integer(k, (int32_t)axis - (random_below(2) ? (int32_t)rank : 0));
	integer(k, (int32_t)n);
	dims[axis] /= n;
	for (uint32_t part = 0; part < n; part++) {
		struct tensor *t = want(k, k->type, rank, dims);

		EACH_ELEMENT(t, i, x)
		{
			x[axis] += part * dims[axis];
			t->reals[i] = at(in, x);
		}
	}
}

static void make_gather(struct maker *k)
{
	uint32_t rank = between(1, 3), dims[RANK], out[2 * RANK], axis = random_below(rank), n = between(1, 6);
	struct tensor *in, *indices, *t;

	random_dims(rank, dims);
	in = own(k, rank, dims);
	integer(k, (int32_t)axis);
	indices = fill(k, NNB_TENSOR_INT32, 1, &n, 0, dims[axis] - 0.001);
	memcpy(out, dims, sizeof(dims));
	out[axis] = n;
	t = want(k, k->type, rank, out);
	EACH_ELEMENT(t, i, x)
	{
		x[axis] = (uint32_t)indices->reals[x[axis]];
		t->reals[i] = at(in, x);
	}
}

static void make_shuffle(struct maker *k)
{
	uint32_t rank = between(1, 4), dims[RANK], axis = random_below(rank), groups = between(1, 3), each;
	struct tensor *in, *t;

	random_dims(rank, dims);
	each = dims[axis];
	dims[axis] *= groups;
	in = own(k, rank, dims);
	integer(k, (int32_t)groups);
	integer(k, (int32_t)axis);
	t = want(k, k->type, rank, dims);
	EACH_ELEMENT(t, i, x)
	{
		x[axis] = x[axis] % groups * each + x[axis] / groups;
		t->reals[i] = at(in, x);
	}
}

/* ---- blocks, in both layouts ---- */

static uint32_t *image(uint32_t ret[4], bool nchw, uint32_t b, uint32_t y, uint32_t x, uint32_t c)
{
	memcpy(ret, nchw ? (uint32_t[]){ b, c, y, x } : (uint32_t[]){ b, y, x, c }, 16);
	return ret;
}

#define EACH_CELL(b_, h_, w_, c_)                           \
	for (uint32_t b = 0; b < (b_); b++)                 \
		for (uint32_t y = 0; y < (h_); y++)         \
			for (uint32_t x = 0; x < (w_); x++) \
				for (uint32_t c = 0; c < (c_); c++)

static size_t place(const struct tensor *t, const uint32_t *index)
{
	size_t i = 0;

	for (uint32_t d = 0; d < t->o.rank; d++)
		i = i * t->o.dims[d] + index[d];
	return i;
}

static void make_space_to_batch(struct maker *k)
{
	uint32_t n = between(1, 2), deep = between(1, 3), block[2] = { between(1, 3), between(1, 3) }, dims[4];
	int32_t pads[4] = { (int32_t)random_below(3), 0, (int32_t)random_below(3), 0 };
	uint32_t h = between(1, 6), w = between(1, 6), out_h, out_w;
	bool nchw = random_below(2);
	struct tensor *in, *t;

	while ((h + (uint32_t)pads[0] + (uint32_t)pads[1]) % block[0])
		pads[1]++;
	while ((w + (uint32_t)pads[2] + (uint32_t)pads[3]) % block[1])
		pads[3]++;
	out_h = (h + (uint32_t)pads[0] + (uint32_t)pads[1]) / block[0];
	out_w = (w + (uint32_t)pads[2] + (uint32_t)pads[3]) / block[1];
	in = own(k, 4, image(dims, nchw, n, h, w, deep));
	list(k, 2, (int32_t *)block);
	pairs(k, 2, pads);
	truth(k, nchw);
	t = want(k, k->type, 4, image(dims, nchw, n * block[0] * block[1], out_h, out_w, deep));
	EACH_CELL(n * block[0] * block[1], out_h, out_w, deep)
	{
		uint32_t of = b / n, from_y = y * block[0] + of / block[1] - (uint32_t)pads[0];
		uint32_t from_x = x * block[1] + of % block[1] - (uint32_t)pads[2], from[4];
		bool inside = from_y < h && from_x < w;

		t->reals[place(t, image(dims, nchw, b, y, x, c))] =
			inside ? at(in, image(from, nchw, b % n, from_y, from_x, c)) : 0;
	}
}

static void make_batch_to_space(struct maker *k)
{
	uint32_t n = between(1, 2), deep = between(1, 3), block[2] = { between(1, 3), between(1, 3) }, dims[4], from[4];
	uint32_t h = between(1, 4), w = between(1, 4);
	bool nchw = random_below(2);
	struct tensor *in = own(k, 4, image(dims, nchw, n * block[0] * block[1], h, w, deep)), *t;

	list(k, 2, (int32_t *)block);
	truth(k, nchw);
	t = want(k, k->type, 4, image(dims, nchw, n, h * block[0], w * block[1], deep));
	EACH_CELL(n, h * block[0], w * block[1], deep)
	{
		uint32_t of = y % block[0] * block[1] + x % block[1];

		t->reals[place(t, image(dims, nchw, b, y, x, c))] =
			at(in, image(from, nchw, of * n + b, y / block[0], x / block[1], c));
	}
}

static void make_resize(struct maker *k)
{
	uint32_t n = between(1, 2), deep = between(1, 3), h = between(1, 5), w = between(1, 5), dims[4], from[4];
	uint32_t out_h = between(1, 8), out_w = between(1, 8), how = random_below(3);
	bool nchw = random_below(2);
	struct tensor *in = own(k, 4, image(dims, nchw, n, h, w, deep)), *t;
	double scale[2] = { (double)h / out_h, (double)w / out_w };

	integer(k, (int32_t)out_w);
	integer(k, (int32_t)out_h);
	truth(k, nchw);
	truth(k, how == 1);
	truth(k, how == 2);
	if (how == 1 && out_h > 1)
		scale[0] = (double)(h - 1) / (out_h - 1);
	if (how == 1 && out_w > 1)
		scale[1] = (double)(w - 1) / (out_w - 1);
	t = want(k, k->type, 4, image(dims, nchw, n, out_h, out_w, deep));
	EACH_CELL(n, out_h, out_w, deep)
	{
		double half = how == 2 ? 0.5 : 0, fy = (y + half) * scale[0], fx = (x + half) * scale[1];

		fy = fmin(how == 1 ? round(fy) : floor(fy), h - 1);
		fx = fmin(how == 1 ? round(fx) : floor(fx), w - 1);
		t->reals[place(t, image(dims, nchw, b, y, x, c))] =
			at(in, image(from, nchw, b, (uint32_t)fy, (uint32_t)fx, c));
	}
}

/* ---- computed ---- */

static double pair_of(uint32_t op, double a, double b)
{
	switch (op) {
	case NNB_SUB:
		return a - b;
	case NNB_DIV:
		return a / b;
	case NNB_MAXIMUM:
		return fmax(a, b);
	case NNB_MINIMUM:
		return fmin(a, b);
	case NNB_POW:
		return pow(a, b);
	case NNB_PRELU:
		return a < 0 ? a * b : a;
	case NNB_EQUAL:
		return a == b;
	case NNB_NOT_EQUAL:
		return a != b;
	case NNB_GREATER:
		return a > b;
	case NNB_GREATER_EQUAL:
		return a >= b;
	case NNB_LESS:
		return a < b;
	case NNB_LESS_EQUAL:
		return a <= b;
	case NNB_LOGICAL_AND:
		return a != 0 && b != 0;
	default:
		return a != 0 || b != 0;
	}
}

static bool compares(uint32_t op)
{
	return op == NNB_EQUAL || op == NNB_NOT_EQUAL || op == NNB_GREATER || op == NNB_GREATER_EQUAL ||
	       op == NNB_LESS || op == NNB_LESS_EQUAL;
}

static void make_pair(struct maker *k)
{
	uint32_t rank = between(1, 4), dims[2][RANK], out[RANK], less = random_below(rank);
	bool positive = k->op == NNB_DIV || k->op == NNB_POW;
	struct tensor *a, *b, *t;

	random_dims(rank, out);
	for (uint32_t d = 0; d < rank; d++) {
		uint32_t one = random_below(4);

		dims[0][d] = one == 1 ? 1 : out[d];
		dims[1][d] = one == 2 || d < less ? 1 : out[d];
		out[d] = dims[0][d] > dims[1][d] ? dims[0][d] : dims[1][d];
	}
	a = fill(k, k->type, rank, dims[0], positive ? 0.5 : -4, 4);
	b = fill(k, k->type, rank - less, dims[1] + less, positive ? 0.5 : -4, positive ? 2 : 4);
	for (uint32_t d = 0; k->type == NNB_TENSOR_INT32 && k->op == NNB_DIV && d < b->n; d++) {
		encode(b, d, d % 2 ? -3 : 2);
		b->reals[d] = decode(b, d);
	}
	if (k->op == NNB_SUB || k->op == NNB_DIV)
		integer(k, NNB_FUSED_NONE);
	t = want(k, compares(k->op) ? NNB_TENSOR_BOOL8 : k->type, rank, out);
	EACH_ELEMENT(t, i, x)
	{
		uint32_t xa[RANK], xb[RANK];
		double y;

		for (uint32_t d = 0; d < rank; d++) {
			xa[d] = dims[0][d] == 1 ? 0 : x[d];
			xb[d] = dims[1][d] == 1 ? 0 : x[d];
		}
		y = pair_of(k->op, at(a, xa), at(b, xb + less));
		t->reals[i] = k->type == NNB_TENSOR_INT32 ? floor(y) : y;
	}
}

static double each_of(uint32_t op, double x)
{
	switch (op) {
	case NNB_ABS:
		return fabs(x);
	case NNB_NEG:
		return -x;
	case NNB_EXP:
		return exp(x);
	case NNB_LOG:
		return log(x);
	case NNB_SQRT:
		return sqrt(x);
	case NNB_RSQRT:
		return 1 / sqrt(x);
	case NNB_SIN:
		return sin(x);
	case NNB_LOGICAL_NOT:
		return x == 0;
	case NNB_ELU:
		return x > 0 ? x : 0.75 * expm1(x);
	default: /* HARD_SWISH */
		return x * fmin(fmax(x + 3, 0), 6) / 6;
	}
}

static void make_each(struct maker *k)
{
	uint32_t rank = between(1, 4), dims[RANK];
	bool positive = k->op == NNB_LOG || k->op == NNB_SQRT || k->op == NNB_RSQRT;
	struct tensor *in, *t;

	random_dims(rank, dims);
	in = fill(k, k->type, rank, dims, positive ? 0.25 : -4, 4);
	if (k->op == NNB_ELU)
		real(k, 0.75);
	t = want(k, k->type, rank, dims);
	for (size_t i = 0; i < t->n; i++)
		t->reals[i] = each_of(k->op, in->reals[i]);
}

static double reduced(uint32_t op, double so_far, double x, bool first)
{
	if (first)
		return x;
	switch (op) {
	case NNB_REDUCE_MAX:
		return fmax(so_far, x);
	case NNB_REDUCE_MIN:
		return fmin(so_far, x);
	case NNB_REDUCE_PROD:
	case NNB_REDUCE_ALL:
		return so_far * x;
	case NNB_REDUCE_ANY:
		return so_far + x > 0;
	default:
		return so_far + x;
	}
}

static void make_reduce(struct maker *k)
{
	uint32_t rank = between(1, 4), dims[RANK], out[RANK], n = 0, counts[ELEMENTS_MAX] = { 0 }, set = 0, axes = 0;
	bool keep = random_below(2);
	int32_t list_of[RANK];
	struct tensor *in, *t;

	random_dims(rank, dims);
	in = fill(k, k->type, rank, dims, k->op == NNB_REDUCE_PROD ? 0.7 : -4, k->op == NNB_REDUCE_PROD ? 1.3 : 4);
	for (uint32_t d = 0; d < rank; d++) {
		if (random_below(2) || (d == rank - 1 && !axes)) {
			list_of[axes++] = (int32_t)d - (random_below(2) ? (int32_t)rank : 0);
			set |= 1u << d;
		}
		if (!(set >> d & 1) || keep)
			out[n++] = set >> d & 1 ? 1 : dims[d];
	}
	list(k, axes, list_of);
	if (k->op == NNB_MEAN)
		integer(k, keep);
	else
		truth(k, keep);
	if (!n)
		out[n++] = 1;
	t = want(k, k->type, n, out);
	EACH_ELEMENT(in, i, x)
	{
		size_t to = 0;

		for (uint32_t d = 0; d < rank; d++)
			if (!(set >> d & 1))
				to = to * dims[d] + x[d];
		t->reals[to] = reduced(k->op, t->reals[to], in->reals[i], !counts[to]);
		counts[to]++;
	}
	for (size_t i = 0; k->op == NNB_MEAN && i < t->n; i++)
		t->reals[i] /= counts[i];
}

static void make_arg(struct maker *k)
{
	uint32_t rank = between(1, 4), dims[RANK], out[RANK], axis = random_below(rank), n = 0;
	struct tensor *in, *t;

	random_dims(rank, dims);
	in = own(k, rank, dims);
	integer(k, (int32_t)axis);
	for (uint32_t d = 0; d < rank; d++)
		if (d != axis)
			out[n++] = dims[d];
	if (!n)
		out[n++] = 1;
	t = want(k, NNB_TENSOR_INT32, n, out);
	EACH_ELEMENT(t, i, x)
	{
		uint32_t from[RANK] = { 0 };
		double best = 0;

		for (uint32_t d = 0, o = 0; d < rank; d++)
			if (d != axis)
				from[d] = x[o++];
		for (from[axis] = 0; from[axis] < dims[axis]; from[axis]++) {
			double value = at(in, from) * (k->op == NNB_ARGMAX ? 1 : -1);

			if (from[axis] && value <= best)
				continue;
			best = value;
			t->reals[i] = from[axis];
		}
	}
}

/* The place of each by how many come before it. */
static void make_topk(struct maker *k)
{
	uint32_t rows = between(1, 4), n = between(1, 12), most = between(1, n);
	struct tensor *in = own(k, 2, (uint32_t[]){ rows, n }), *values, *indices;

	integer(k, (int32_t)most);
	values = want(k, k->type, 2, (uint32_t[]){ rows, most });
	indices = want(k, NNB_TENSOR_INT32, 2, (uint32_t[]){ rows, most });
	for (uint32_t row = 0; row < rows; row++)
		for (uint32_t i = 0; i < n; i++) {
			double x = in->reals[row * n + i];
			uint32_t before = 0;

			for (uint32_t other = 0; other < n; other++) {
				double y = in->reals[row * n + other];

				before += y > x || (y == x && other < i);
			}
			if (before < most) {
				values->reals[row * most + before] = x;
				indices->reals[row * most + before] = i;
			}
		}
}

static void make_log_softmax(struct maker *k)
{
	uint32_t rows = between(1, 4), n = between(1, 8), inner = between(1, 3);
	struct tensor *in = own(k, 3, (uint32_t[]){ rows, n, inner }), *t;
	double beta = real(k, 0.5);

	integer(k, -2);
	t = want(k, k->type, 3, (uint32_t[]){ rows, n, inner });
	EACH_ELEMENT(t, i, x)
	{
		double sum = 0;

		for (uint32_t other = 0; other < n; other++)
			sum += exp(beta * at(in, (uint32_t[]){ x[0], other, x[2] }));
		t->reals[i] = beta * in->reals[i] - log(sum);
	}
}

static void make_select(struct maker *k)
{
	uint32_t rank = between(1, 4), dims[RANK];
	struct tensor *condition, *a, *b, *t;

	random_dims(rank, dims);
	condition = fill(k, NNB_TENSOR_BOOL8, rank, dims, 0, 1);
	a = own(k, rank, dims);
	b = own(k, rank, dims);
	t = want(k, k->type, rank, dims);
	for (size_t i = 0; i < t->n; i++)
		t->reals[i] = condition->reals[i] != 0 ? a->reals[i] : b->reals[i];
}

/* ---- convolutions: each input is added to every output that it is a part of ---- */

static struct tensor *bias_of(struct maker *k, uint32_t n)
{
	bool quant = k->type == NNB_TENSOR_QUANT8_ASYMM || k->type == NNB_TENSOR_QUANT8_ASYMM_SIGNED;
	struct tensor *t;

	if (!quant)
		return own(k, 1, &n);
	t = tensor(k, NNB_TENSOR_INT32, 1, &n);
	t->o.scale = 1.0f / 1024; /* of both scales */
	for (uint32_t i = 0; i < n; i++) {
		encode(t, i, (double)random_below(2000) - 1000);
		t->reals[i] = decode(t, i) / 1024;
	}
	t->index = operand(k->m, &t->o);
	k->given[k->n_given++] = t;
	k->inputs[k->n_inputs++] = t->index;
	return t;
}

static void make_conv(struct maker *k)
{
	bool transposed = k->op == NNB_TRANSPOSE_CONV_2D, nchw = random_below(2);
	uint32_t groups = transposed ? 1 : between(1, 3), deep = between(1, 3), n = between(1, 2);
	uint32_t h = between(3, 6), w = between(3, 6), fh = between(1, 3), fw = between(1, 3),
		 outs = groups * between(1, 3);
	uint32_t stride[2] = { between(1, 2), between(1, 2) }, pad[4], dims[4], out_h, out_w, to[4];
	struct tensor *in = own(k, 4, image(dims, nchw, n, h, w, groups * deep));
	struct tensor *filter = own(k, 4, (uint32_t[]){ outs, fh, fw, deep }), *bias = bias_of(k, outs), *t;

	for (int i = 0; i < 4; i++) {
		pad[i] = random_below(2); /* left, right, top, bottom */
		integer(k, (int32_t)pad[i]);
	}
	integer(k, (int32_t)stride[1]);
	integer(k, (int32_t)stride[0]);
	if (!transposed)
		integer(k, (int32_t)groups);
	integer(k, NNB_FUSED_NONE);
	truth(k, nchw);
	out_h = transposed ? (h - 1) * stride[0] + fh - pad[2] - pad[3] : (h + pad[2] + pad[3] - fh) / stride[0] + 1;
	out_w = transposed ? (w - 1) * stride[1] + fw - pad[0] - pad[1] : (w + pad[0] + pad[1] - fw) / stride[1] + 1;
	t = want(k, k->type, 4, image(dims, nchw, n, out_h, out_w, outs));
	if (t->o.scale != 0)
		t->o.scale = 2;
	EACH_CELL(n, out_h, out_w, outs)
	t->reals[place(t, image(to, nchw, b, y, x, c))] = bias->reals[c];
	EACH_CELL(n, h, w, groups * deep)
	for (uint32_t o = 0; o < outs; o++)
		for (uint32_t f = 0; f < fh * fw; f++) {
			uint32_t fy = f / fw, fx = f % fw;
			uint32_t oy = transposed ? y * stride[0] + fy - pad[2] : y + pad[2] - fy;
			uint32_t ox = transposed ? x * stride[1] + fx - pad[0] : x + pad[0] - fx;

			if (o / (outs / groups) != c / deep)
				continue;
			if (!transposed && (oy % stride[0] || ox % stride[1]))
				continue;
			if (!transposed) {
				oy /= stride[0];
				ox /= stride[1];
			}
			if (oy >= out_h || ox >= out_w)
				continue;
			t->reals[place(t, image(to, nchw, b, oy, ox, o))] +=
				at(in, image(dims, nchw, b, y, x, c)) * at(filter, (uint32_t[]){ o, fy, fx, c % deep });
		}
}

/* ---- the rows ---- */

static const struct family {
	uint32_t op;
	const char *types;
	void (*make)(struct maker *k);
} families[] = {
	{ NNB_TRANSPOSE, "FHQS", make_transpose },
	{ NNB_SLICE, "FHIQS", make_slice },
	{ NNB_STRIDED_SLICE, "FHQS", make_strided_slice },
	{ NNB_PAD, "FHQS", make_pad },
	{ NNB_PAD_V2, "FHQS", make_pad },
	{ NNB_TILE, "FHIQS", make_tile },
	{ NNB_SPLIT, "FHIQS", make_split },
	{ NNB_GATHER, "FHIQS", make_gather },
	{ NNB_CHANNEL_SHUFFLE, "FHQS", make_shuffle },
	{ NNB_SPACE_TO_BATCH_ND, "FHQS", make_space_to_batch },
	{ NNB_BATCH_TO_SPACE_ND, "FHQS", make_batch_to_space },
	{ NNB_RESIZE_NEAREST_NEIGHBOR, "FHQS", make_resize },
	{ NNB_SUB, "FHIQS", make_pair },
	{ NNB_DIV, "FHI", make_pair },
	{ NNB_MAXIMUM, "FHIQS", make_pair },
	{ NNB_MINIMUM, "FHIQS", make_pair },
	{ NNB_POW, "FH", make_pair },
	{ NNB_PRELU, "FHQS", make_pair },
	{ NNB_EQUAL, "BFHIQS", make_pair },
	{ NNB_NOT_EQUAL, "BFHIQS", make_pair },
	{ NNB_GREATER, "BFHIQS", make_pair },
	{ NNB_GREATER_EQUAL, "BFHIQS", make_pair },
	{ NNB_LESS, "BFHIQS", make_pair },
	{ NNB_LESS_EQUAL, "BFHIQS", make_pair },
	{ NNB_LOGICAL_AND, "B", make_pair },
	{ NNB_LOGICAL_OR, "B", make_pair },
	{ NNB_ABS, "FHI", make_each },
	{ NNB_NEG, "FHI", make_each },
	{ NNB_EXP, "FH", make_each },
	{ NNB_LOG, "FH", make_each },
	{ NNB_SQRT, "FH", make_each },
	{ NNB_RSQRT, "FH", make_each },
	{ NNB_SIN, "FH", make_each },
	{ NNB_LOGICAL_NOT, "B", make_each },
	{ NNB_ELU, "FH", make_each },
	{ NNB_HARD_SWISH, "FHQS", make_each },
	{ NNB_MEAN, "FHQS", make_reduce },
	{ NNB_REDUCE_SUM, "FH", make_reduce },
	{ NNB_REDUCE_PROD, "FH", make_reduce },
	{ NNB_REDUCE_MAX, "FHQS", make_reduce },
	{ NNB_REDUCE_MIN, "FHQS", make_reduce },
	{ NNB_REDUCE_ALL, "B", make_reduce },
	{ NNB_REDUCE_ANY, "B", make_reduce },
	{ NNB_ARGMAX, "FHIQS", make_arg },
	{ NNB_ARGMIN, "FHIQS", make_arg },
	{ NNB_TOPK_V2, "FHIQS", make_topk },
	{ NNB_LOG_SOFTMAX, "FH", make_log_softmax },
	{ NNB_SELECT, "FHIQS", make_select },
	{ NNB_GROUPED_CONV_2D, "FHQS", make_conv },
	{ NNB_TRANSPOSE_CONV_2D, "FHQS", make_conv },
};

static uint32_t type_of(char letter)
{
	switch (letter) {
	case 'F':
		return NNB_TENSOR_FLOAT32;
	case 'H':
		return NNB_TENSOR_FLOAT16;
	case 'I':
		return NNB_TENSOR_INT32;
	case 'B':
		return NNB_TENSOR_BOOL8;
	case 'Q':
		return NNB_TENSOR_QUANT8_ASYMM;
	default:
		return NNB_TENSOR_QUANT8_ASYMM_SIGNED;
	}
}

/* ---- running ---- */

static uint32_t lay_out(struct tensor *const *tensors, uint32_t n, uint32_t pool, struct nnb_argument *ret)
{
	uint32_t end = 0;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t bytes = (uint32_t)tensors[i]->n * nnb_type_info(tensors[i]->o.type)->bytes;

		ret[i] = (struct nnb_argument){ .location = { pool, end, bytes } };
		end += (bytes + 63) / 64 * 64;
	}
	return end ? end : 64;
}

static enum nnb_status execute(struct nnb_device *d, struct maker *k, struct nnb_reason *reason)
{
	struct nnb_argument in[TENSORS_MAX], out[TENSORS_MAX];
	struct nnb_memory pools[2];
	struct nnb_mapping *maps[2];
	struct nnb_request request = { .inputs = in,
		                       .outputs = out,
		                       .n_inputs = k->n_given,
		                       .n_outputs = k->n_wanted,
		                       .pools = pools,
		                       .n_pools = 2 };
	struct nnb_prepared *p;
	enum nnb_status status = nnb_prepare(d, k->m, &ordinary, NULL, &p, reason);

	if (status)
		return status;
	assert_int_equal(nnb_memory_ashmem(&pools[0], lay_out(k->given, k->n_given, 0, in)), 0);
	assert_int_equal(nnb_memory_ashmem(&pools[1], lay_out(k->wanted, k->n_wanted, 1, out)), 0);
	for (int i = 0; i < 2; i++)
		assert_int_equal(nnb_map(&maps[i], &pools[i]), 0);
	for (uint32_t i = 0; i < k->n_given; i++)
		memcpy((char *)nnb_mapping_data(maps[0]) + in[i].location.offset, k->given[i]->bytes,
		       in[i].location.length);
	status = nnb_execute(p, &request, NULL, reason);
	for (uint32_t i = 0; i < k->n_wanted; i++)
		memcpy(k->wanted[i]->bytes, (char *)nnb_mapping_data(maps[1]) + out[i].location.offset,
		       out[i].location.length);
	for (int i = 0; i < 2; i++) {
		nnb_mapping_unref(maps[i]);
		nnb_memory_close(&pools[i]);
	}
	nnb_prepared_unref(p);
	return status;
}

/* One step of a quantised type is near; so is whatever the type cannot hold. */
static bool is_near(const struct tensor *t, double got, double wanted)
{
	double low = t->o.type == NNB_TENSOR_QUANT8_ASYMM ? 0 : -128, raw;

	if (t->o.type == NNB_TENSOR_FLOAT32)
		return fabs(got - wanted) <= 1e-5 + 5e-6 * fabs(wanted);
	if (t->o.type == NNB_TENSOR_FLOAT16)
		return fabs(got - wanted) <= 5 * 0x1p-10 * (1 + fabs(wanted));
	if (t->o.scale == 0 || t->o.type == NNB_TENSOR_INT32)
		return got == wanted;
	raw = fmin(fmax(round(wanted / (double)t->o.scale) + t->o.zero_point, low), low + 255);
	return fabs(round(got / (double)t->o.scale) + t->o.zero_point - raw) <= 1;
}

static void finish(struct maker *k)
{
	uint32_t inputs[TENSORS_MAX], outputs[TENSORS_MAX];

	for (uint32_t i = 0; i < k->n_wanted; i++)
		outputs[i] = operand(k->m, &k->wanted[i]->o);
	for (uint32_t i = 0; i < k->n_given; i++)
		inputs[i] = k->given[i]->index;
	assert_true(nnb_model_operation(k->m, k->op, k->inputs, k->n_inputs, outputs, k->n_wanted) >= 0);
	assert_int_equal(nnb_model_finish(k->m, inputs, k->n_given, outputs, k->n_wanted), 0);
}

struct row {
	const struct family *family;
	uint32_t type;
	char name[64];
};

static void as_defined(void **state)
{
	const struct row *row = *state;
	struct nnb_device *d = open_device("xnnpack");
	struct maker *k = malloc(sizeof(*k));
	struct nnb_reason reason = { "" };

	random_state = (uint64_t)row->family->op * 64 + row->type;
	for (int round = 0; round < ROUNDS; round++) {
		memset(k, 0, sizeof(*k));
		k->type = row->type;
		k->op = row->family->op;
		assert_int_equal(nnb_model_new(&k->m, row->name, NNB_HAL_1_3), 0);
		row->family->make(k);
		finish(k);
		if (execute(d, k, &reason))
			fail_msg("%s, round %d: %s", row->name, round, reason.text);
		for (uint32_t o = 0; o < k->n_wanted; o++)
			for (size_t i = 0; i < k->wanted[o]->n; i++) {
				double got = decode(k->wanted[o], i), wanted = k->wanted[o]->reals[i];

				if (!is_near(k->wanted[o], got, wanted))
					fail_msg("%s, round %d: output %u[%zu] is %.9g, not %.9g", row->name, round, o,
					         i, got, wanted);
			}
		nnb_model_free(k->m);
	}
	free(k);
	nnb_device_unref(d);
}

/* ---- what is wrong ---- */

/* A vector of ten, and what says what is taken of it. */
static enum nnb_status take(uint32_t op, void (*how)(struct maker *k), uint32_t n_out)
{
	struct nnb_device *d = open_device("xnnpack");
	struct maker *k = calloc(1, sizeof(*k));
	struct nnb_reason reason = { "" };
	enum nnb_status status;

	k->op = op;
	k->type = NNB_TENSOR_FLOAT32;
	assert_int_equal(nnb_model_new(&k->m, "wrong", NNB_HAL_1_3), 0);
	own(k, 1, (uint32_t[]){ 10 });
	how(k);
	for (uint32_t i = 0; i < n_out; i++)
		want(k, k->type, 1, (uint32_t[]){ 5 });
	finish(k);
	status = execute(d, k, &reason);
	nnb_model_free(k->m);
	free(k);
	nnb_device_unref(d);
	return status;
}

/* Begin, size and so on that come with the request. */
static void by_request(struct maker *k, int32_t value)
{
	struct tensor *t = fill(k, NNB_TENSOR_INT32, 1, (uint32_t[]){ 1 }, value, value);

	memcpy(t->bytes, &value, 4);
}

static void slice_behind(struct maker *k)
{
	by_request(k, 6);
	by_request(k, 5);
}

static void slice_before(struct maker *k)
{
	by_request(k, -1);
	by_request(k, 5);
}

static void slice_wrapping(struct maker *k)
{
	by_request(k, INT32_MAX);
	by_request(k, INT32_MAX);
}

static void gather(struct maker *k, int32_t index)
{
	struct tensor *t;

	integer(k, 0);
	t = fill(k, NNB_TENSOR_INT32, 1, (uint32_t[]){ 5 }, 0, 9);
	memcpy(t->bytes + 16, &index, 4);
}

static void gather_behind(struct maker *k)
{
	gather(k, 10);
}

static void gather_before(struct maker *k)
{
	gather(k, INT32_MIN);
}

static void split_in_three(struct maker *k)
{
	integer(k, 0);
	integer(k, 3);
}

static void split_elsewhere(struct maker *k)
{
	integer(k, 1);
	integer(k, 2);
}

static void tile_many(struct maker *k)
{
	by_request(k, INT32_MAX);
}

static void tile_less(struct maker *k)
{
	by_request(k, -1);
}

static void transpose_elsewhere(struct maker *k)
{
	by_request(k, 7);
}

static void stride_of_none(struct maker *k)
{
	by_request(k, 0);
	by_request(k, 5);
	by_request(k, 0);
	integer(k, 0);
	integer(k, 0);
	integer(k, 0);
}

static void what_is_wrong_is_an_error(void **state)
{
	static const struct {
		uint32_t op;
		void (*how)(struct maker *k);
		uint32_t n_out;
	} rows[] = {
		{ NNB_SLICE, slice_behind, 1 },
		{ NNB_SLICE, slice_before, 1 },
		{ NNB_SLICE, slice_wrapping, 1 },
		{ NNB_GATHER, gather_behind, 1 },
		{ NNB_GATHER, gather_before, 1 },
		{ NNB_SPLIT, split_in_three, 2 },
		{ NNB_SPLIT, split_elsewhere, 2 },
		{ NNB_TILE, tile_many, 1 },
		{ NNB_TILE, tile_less, 1 },
		{ NNB_TRANSPOSE, transpose_elsewhere, 1 },
		{ NNB_STRIDED_SLICE, stride_of_none, 1 },
	};

	(void)state;
	for (size_t i = 0; i < N_OF(rows); i++)
		if (!take(rows[i].op, rows[i].how, rows[i].n_out))
			fail_msg("row %zu (%s) was taken", i, nnb_op_name(rows[i].op));
}

/* An operation is refused by the rules of a HAL that did not have it yet. */
static void later_operations_are_refused(void **state)
{
	struct maker *k = calloc(1, sizeof(*k));
	struct nnb_reason reason = { "" };

	(void)state;
	k->op = NNB_ABS;
	k->type = NNB_TENSOR_FLOAT32;
	assert_int_equal(nnb_model_new(&k->m, "later", NNB_HAL_1_1), 0);
	own(k, 1, (uint32_t[]){ 3 });
	want(k, k->type, 1, (uint32_t[]){ 3 });
	finish(k);
	assert_int_equal(nnb_model_validate(k->m, &reason), NNB_STATUS_INVALID_ARGUMENT);
	k->m->hal = NNB_HAL_1_2;
	assert_int_equal(nnb_model_validate(k->m, &reason), NNB_STATUS_NONE);
	nnb_model_free(k->m);
	free(k);
}

int main(void)
{
	static struct row rows[N_OF(families) * 6];
	static struct CMUnitTest tests[N_OF(rows) + 2] = { cmocka_unit_test(what_is_wrong_is_an_error),
		                                           cmocka_unit_test(later_operations_are_refused) };
	size_t n = 0;

	for (size_t i = 0; i < N_OF(families); i++)
		for (const char *letter = families[i].types; *letter; letter++, n++) {
			rows[n] = (struct row){ &families[i], type_of(*letter), "" };
			snprintf(rows[n].name, sizeof(rows[n].name), "%s of %s", nnb_op_name(families[i].op),
			         nnb_type_info(rows[n].type)->name);
			tests[n + 2] = (struct CMUnitTest){ rows[n].name, as_defined, NULL, NULL, &rows[n] };
		}
	return _cmocka_run_group_tests("test_op_newer", tests, n + 2, NULL, NULL);
}
