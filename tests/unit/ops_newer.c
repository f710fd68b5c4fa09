/*
 * ops_newer.c -- oracles of operations of HAL 1.1 to 1.3, except those of ops_cells.c and ops_boxes.c. An
 * oracle computes one element of the output at a time from the inputs it depends on; kernels go through memory
 * in steps.
 */
#include "unit/op_oracle.h"

enum { RANK = 4 };

/* ---- tensors ---- */

/* A scale and a zero point that suit all types. */
static struct tensor *plain_tensor(struct maker *k, uint32_t type, uint32_t rank, const uint32_t *dims)
{
	return tensor_make(k, type, rank, dims, 1.0f / 32, 120);
}

/* Elements from @least to @most; quantised types use their full range. */
static struct tensor *tensor_fill(struct maker *k, uint32_t type, uint32_t rank, const uint32_t *dims, double least,
                                  double most)
{
	return give_between(k, plain_tensor(k, type, rank, dims), least, most, false);
}

static struct tensor *own_tensor(struct maker *k, uint32_t rank, const uint32_t *dims)
{
	return tensor_fill(k, k->type, rank, dims, -4, 4);
}

static void list_tensor(struct maker *k, uint32_t n, const int32_t *values)
{
	integers_give(k, n, values, true);
}

static void pairs_tensor(struct maker *k, uint32_t n, const int32_t *values)
{
	struct tensor *t = tensor_make(k, NNB_TENSOR_INT32, 2, (uint32_t[]){ n, 2 }, 0, 0);

	memcpy(t->bytes, values, n * 8);
	give_filled(k, t, true);
}

static struct tensor *wanted_tensor(struct maker *k, uint32_t type, uint32_t rank, const uint32_t *dims)
{
	return tensor_want(k, type, rank, dims, 1.0f / 32, 120);
}

static void random_dims(uint32_t rank, uint32_t *ret)
{
	for (uint32_t d = 0; d < rank; d++)
		ret[d] = random_between(1, 5);
}

/* The index of element @i, and the element at an index. */
static void index_of(const struct tensor *t, size_t i, uint32_t *ret)
{
	for (uint32_t d = t->operand.rank; d-- > 0; i /= t->operand.dims[d])
		ret[d] = (uint32_t)(i % t->operand.dims[d]);
}

static double value_at(const struct tensor *t, const uint32_t *index)
{
	size_t i = 0;

	for (uint32_t d = 0; d < t->operand.rank; d++)
		i = i * t->operand.dims[d] + index[d];
	return t->reals[i];
}

#define EACH_ELEMENT(t, i, index) \
	for (uint32_t i = 0, index[2 * RANK] = { 0 }; i < (t)->n && (index_of(t, i, index), true); i++)

/* ---- moved ---- */

static void make_transpose(struct maker *k)
{
	uint32_t rank = random_between(1, 4), dims[RANK], out[RANK], from[RANK] = { 0 };
	int32_t order[RANK] = { 0, 1, 2, 3 };
	struct tensor *in, *t;

	random_dims(rank, dims);
	in = own_tensor(k, rank, dims);
	for (uint32_t d = rank; d-- > 1;) {
		uint32_t other = random_below(d + 1);
		int32_t swap = order[d];

		order[d] = order[other];
		order[other] = swap;
	}
	list_tensor(k, rank, order);
	for (uint32_t d = 0; d < rank; d++)
		out[d] = dims[order[d]];
	t = wanted_tensor(k, k->type, rank, out);
	EACH_ELEMENT(t, i, x)
	{
		for (uint32_t d = 0; d < rank; d++)
			from[order[d]] = x[d];
		t->reals[i] = value_at(in, from);
	}
}

static void make_slice(struct maker *k)
{
	uint32_t rank = random_between(1, 4), dims[RANK], out[RANK];
	int32_t begin[RANK], size[RANK];
	struct tensor *in, *t;

	random_dims(rank, dims);
	in = own_tensor(k, rank, dims);
	for (uint32_t d = 0; d < rank; d++) {
		begin[d] = (int32_t)random_below(dims[d]);
		out[d] = random_between(1, dims[d] - (uint32_t)begin[d]);
		size[d] = out[d] == dims[d] - (uint32_t)begin[d] ? -1 : (int32_t)out[d];
	}
	list_tensor(k, rank, begin);
	list_tensor(k, rank, size);
	t = wanted_tensor(k, k->type, rank, out);
	EACH_ELEMENT(t, i, x)
	{
		for (uint32_t d = 0; d < rank; d++)
			x[d] += (uint32_t)begin[d];
		t->reals[i] = value_at(in, x);
	}
}

/* From both ends, forwards and backwards; some dimensions shrink to one. */
static void make_strided_slice(struct maker *k)
{
	uint32_t rank = random_between(1, 4), dims[RANK], out[RANK], n = 0, from[RANK], left[RANK];
	int32_t begin[RANK], end[RANK], stride[RANK], shrink = 0, first = 0;
	struct tensor *in, *t;

	random_dims(rank, dims);
	in = own_tensor(k, rank, dims);
	for (uint32_t d = 0; d < rank; d++) {
		bool one = n + (rank - d) > 1 && random_below(4) == 0;

		stride[d] = (int32_t)random_between(1, 2) * (one || random_below(2) ? 1 : -1);
		begin[d] = (int32_t)random_below(dims[d]);
		end[d] = stride[d] > 0 ? (int32_t)random_between((uint32_t)begin[d] + 1, dims[d])
		                       : -(int32_t)dims[d] - 1;
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
	list_tensor(k, rank, begin);
	list_tensor(k, rank, end);
	list_tensor(k, rank, stride);
	integer_give(k, first);
	integer_give(k, 0);
	integer_give(k, shrink);
	t = wanted_tensor(k, k->type, n, out);
	EACH_ELEMENT(t, i, x)
	{
		uint32_t there[RANK];

		memcpy(there, from, sizeof(there));
		for (uint32_t d = 0; d < n; d++)
			there[left[d]] = (uint32_t)((int32_t)from[left[d]] + (int32_t)x[d] * stride[left[d]]);
		t->reals[i] = value_at(in, there);
	}
}

static void make_pad(struct maker *k)
{
	uint32_t rank = random_between(1, 4), dims[RANK], out[RANK];
	int32_t pads[2 * RANK];
	bool quant = k->type == NNB_TENSOR_QUANT8_ASYMM || k->type == NNB_TENSOR_QUANT8_ASYMM_SIGNED;
	struct tensor *in, *t;
	double value = 0;

	random_dims(rank, dims);
	in = own_tensor(k, rank, dims);
	for (uint32_t d = 0; d < rank; d++) {
		pads[2 * d] = (int32_t)random_below(3);
		pads[2 * d + 1] = (int32_t)random_below(3);
		out[d] = dims[d] + (uint32_t)(pads[2 * d] + pads[2 * d + 1]);
	}
	pairs_tensor(k, rank, pads);
	if (k->op == NNB_PAD_V2 && quant) {
		integer_give(k, in->operand.zero_point + 9);
		value = 9 * (double)in->operand.scale;
	} else if (k->op == NNB_PAD_V2) {
		value = number_give(k, 1.5);
	}
	t = wanted_tensor(k, k->type, rank, out);
	EACH_ELEMENT(t, i, x)
	{
		bool inside = true;

		for (uint32_t d = 0; d < rank; d++) {
			x[d] -= (uint32_t)pads[2 * d];
			inside &= x[d] < dims[d];
		}
		t->reals[i] = inside ? value_at(in, x) : value;
	}
}

static void make_tile(struct maker *k)
{
	uint32_t rank = random_between(1, 3), dims[RANK], out[RANK];
	int32_t times[RANK];
	struct tensor *in, *t;

	random_dims(rank, dims);
	in = own_tensor(k, rank, dims);
	for (uint32_t d = 0; d < rank; d++) {
		times[d] = (int32_t)random_between(1, 2);
		out[d] = dims[d] * (uint32_t)times[d];
	}
	list_tensor(k, rank, times);
	t = wanted_tensor(k, k->type, rank, out);
	EACH_ELEMENT(t, i, x)
	{
		for (uint32_t d = 0; d < rank; d++)
			x[d] %= dims[d];
		t->reals[i] = value_at(in, x);
	}
}

static void make_split(struct maker *k)
{
	uint32_t rank = random_between(1, 4), dims[RANK], axis = random_below(rank), n = random_between(1, 4);
	struct tensor *in;

	random_dims(rank, dims);
	dims[axis] = n * random_between(1, 3);
	in = own_tensor(k, rank, dims);
	integer_give(k, (int32_t)axis - (random_below(2) ? (int32_t)rank : 0));
	integer_give(k, (int32_t)n);
	dims[axis] /= n;
	for (uint32_t part = 0; part < n; part++) {
		struct tensor *t = wanted_tensor(k, k->type, rank, dims);

		EACH_ELEMENT(t, i, x)
		{
			x[axis] += part * dims[axis];
			t->reals[i] = value_at(in, x);
		}
	}
}

static void make_gather(struct maker *k)
{
	uint32_t rank = random_between(1, 3), dims[RANK], out[2 * RANK], axis = random_below(rank),
		 n = random_between(1, 6);
	struct tensor *in, *indices, *t;

	random_dims(rank, dims);
	in = own_tensor(k, rank, dims);
	integer_give(k, (int32_t)axis);
	indices = tensor_fill(k, NNB_TENSOR_INT32, 1, &n, 0, dims[axis] - 0.001);
	memcpy(out, dims, sizeof(dims));
	out[axis] = n;
	t = wanted_tensor(k, k->type, rank, out);
	EACH_ELEMENT(t, i, x)
	{
		x[axis] = (uint32_t)indices->reals[x[axis]];
		t->reals[i] = value_at(in, x);
	}
}

static void make_shuffle(struct maker *k)
{
	uint32_t rank = random_between(1, 4), dims[RANK], axis = random_below(rank), groups = random_between(1, 3),
		 each;
	struct tensor *in, *t;

	random_dims(rank, dims);
	each = dims[axis];
	dims[axis] *= groups;
	in = own_tensor(k, rank, dims);
	integer_give(k, (int32_t)groups);
	integer_give(k, (int32_t)axis);
	t = wanted_tensor(k, k->type, rank, dims);
	EACH_ELEMENT(t, i, x)
	{
		x[axis] = x[axis] % groups * each + x[axis] / groups;
		t->reals[i] = value_at(in, x);
	}
}

static void make_expand_dims(struct maker *k)
{
	uint32_t rank = random_between(1, 3), dims[RANK], axis = random_below(rank + 1), out[RANK];
	struct tensor *in, *t;

	random_dims(rank, dims);
	in = own_tensor(k, rank, dims);
	integer_give(k, (int32_t)axis - (random_chance(50) ? (int32_t)rank + 1 : 0));
	for (uint32_t d = 0; d <= rank; d++)
		out[d] = d == axis ? 1 : dims[d - (d > axis)];
	t = wanted_tensor(k, k->type, rank + 1, out);
	memcpy(t->reals, in->reals, in->n * sizeof(*in->reals));
}

/* Named dimensions of 1, or all of them. */
static void make_squeeze(struct maker *k)
{
	uint32_t rank = random_between(2, 4), dims[RANK], out[RANK], n = 0;
	bool all = random_chance(40);
	int32_t named[RANK], n_named = 0;
	struct tensor *in, *t;

	for (uint32_t d = 0; d < rank; d++) {
		dims[d] = d && random_chance(60) ? 1 : random_between(2, 5);
		if (dims[d] == 1 && (all || random_chance(50)))
			named[n_named++] = (int32_t)d;
		else
			out[n++] = dims[d];
	}
	in = own_tensor(k, rank, dims);
	if (all || !n_named)
		operand_omit(k, NNB_TENSOR_INT32, DIMS(1));
	else
		list_tensor(k, (uint32_t)n_named, named);
	for (uint32_t d = n = 0; d < rank; d++) { /* naming no dimension names all */
		bool is_named = all || !n_named;

		for (int32_t i = 0; i < n_named; i++)
			is_named |= named[i] == (int32_t)d;
		if (dims[d] != 1 || !is_named)
			out[n++] = dims[d];
	}
	t = wanted_tensor(k, k->type, n, out);
	memcpy(t->reals, in->reals, in->n * sizeof(*in->reals));
}

/* The model states the shape, or the request does. */
static void make_fill(struct maker *k)
{
	uint32_t rank = random_between(1, 3), dims[RANK];
	int32_t shape[RANK];
	double value = -7;
	struct tensor *t;

	random_dims(rank, dims);
	for (uint32_t d = 0; d < rank; d++)
		shape[d] = (int32_t)dims[d];
	integers_give(k, rank, shape, !(k->late = random_chance(50)));
	if (k->type == NNB_TENSOR_INT32)
		integer_give(k, (int32_t)value);
	else
		value = number_give(k, 1.625);
	t = wanted_tensor(k, k->type, rank, dims);
	for (size_t i = 0; i < t->n; i++)
		t->reals[i] = value;
}

static void make_rank(struct maker *k)
{
	static const float scales[] = { 0.5f, 0.25f, 1, 2, 3 };
	uint32_t rank = random_between(1, 4), dims[RANK];
	struct tensor *in, *t;

	random_dims(rank, dims);
	in = plain_tensor(k, k->type, rank, dims);
	if (k->type == NNB_TENSOR_QUANT8_SYMM_PER_CHANNEL)
		in->scales = scales;
	tensor_give(k, in, 1, false);
	t = wanted_tensor(k, NNB_INT32, 0, dims);
	t->reals[0] = rank;
}

/* Raw numbers without scale and zero point, cut to integers, and at the borders of a byte. */
static void make_cast(struct maker *k)
{
	uint32_t rank = random_between(1, 4), dims[RANK], to = k->second ? k->second : k->type;
	static const float scales[] = { 0.5f, 0.25f, 1, 2, 3 };
	struct tensor *in, *t;

	random_dims(rank, dims);
	in = tensor_make(k, k->type, rank, dims, 0.5f, 3);
	if (k->type == NNB_TENSOR_QUANT8_SYMM_PER_CHANNEL)
		in->scales = scales;
	tensor_give(k, in, 300, false);
	t = tensor_want(k, to, rank, dims, 0.5f, 3);
	t->scales = in->scales;
	t->off = is_real(to);
	for (size_t i = 0; i < t->n; i++) {
		double x = in->reals[i];

		t->reals[i] = x;
		if (to == k->type)
			continue;
		if (k->type == NNB_TENSOR_QUANT8_ASYMM)
			x = x * 2 + 3;
		if (!is_real(to))
			x = trunc(x);
		if (to == NNB_TENSOR_QUANT8_ASYMM)
			x = (fmin(fmax(x, 0), 255) - 3) / 2;
		t->reals[i] = x;
	}
}

/* ---- blocks, in both layouts ---- */

static uint32_t *image_index(uint32_t ret[4], bool nchw, uint32_t b, uint32_t y, uint32_t x, uint32_t c)
{
	memcpy(ret, nchw ? (uint32_t[]){ b, c, y, x } : (uint32_t[]){ b, y, x, c }, 16);
	return ret;
}

#define EACH_PLACE(b_, h_, w_, c_)                          \
	for (uint32_t b = 0; b < (b_); b++)                 \
		for (uint32_t y = 0; y < (h_); y++)         \
			for (uint32_t x = 0; x < (w_); x++) \
				for (uint32_t c = 0; c < (c_); c++)

static size_t index_place(const struct tensor *t, const uint32_t *index)
{
	size_t i = 0;

	for (uint32_t d = 0; d < t->operand.rank; d++)
		i = i * t->operand.dims[d] + index[d];
	return i;
}

static void make_space_to_batch(struct maker *k)
{
	uint32_t n = random_between(1, 2), deep = random_between(1, 3),
		 block[2] = { random_between(1, 3), random_between(1, 3) }, dims[4];
	int32_t pads[4] = { (int32_t)random_below(3), 0, (int32_t)random_below(3), 0 };
	uint32_t h = random_between(1, 6), w = random_between(1, 6), out_h, out_w;
	bool nchw = random_below(2);
	struct tensor *in, *t;

	while ((h + (uint32_t)pads[0] + (uint32_t)pads[1]) % block[0])
		pads[1]++;
	while ((w + (uint32_t)pads[2] + (uint32_t)pads[3]) % block[1])
		pads[3]++;
	out_h = (h + (uint32_t)pads[0] + (uint32_t)pads[1]) / block[0];
	out_w = (w + (uint32_t)pads[2] + (uint32_t)pads[3]) / block[1];
	in = own_tensor(k, 4, image_index(dims, nchw, n, h, w, deep));
	list_tensor(k, 2, (int32_t *)block);
	pairs_tensor(k, 2, pads);
	if (nchw || random_chance(50))
		truth_give(k, nchw);
	t = wanted_tensor(k, k->type, 4, image_index(dims, nchw, n * block[0] * block[1], out_h, out_w, deep));
	EACH_PLACE(n * block[0] * block[1], out_h, out_w, deep)
	{
		uint32_t of = b / n, from_y = y * block[0] + of / block[1] - (uint32_t)pads[0];
		uint32_t from_x = x * block[1] + of % block[1] - (uint32_t)pads[2], from[4];
		bool inside = from_y < h && from_x < w;

		t->reals[index_place(t, image_index(dims, nchw, b, y, x, c))] =
			inside ? value_at(in, image_index(from, nchw, b % n, from_y, from_x, c)) : 0;
	}
}

static void make_batch_to_space(struct maker *k)
{
	uint32_t n = random_between(1, 2), deep = random_between(1, 3),
		 block[2] = { random_between(1, 3), random_between(1, 3) }, dims[4], from[4];
	uint32_t h = random_between(1, 4), w = random_between(1, 4);
	bool nchw = random_below(2);
	struct tensor *in = own_tensor(k, 4, image_index(dims, nchw, n * block[0] * block[1], h, w, deep)), *t;

	list_tensor(k, 2, (int32_t *)block);
	if (nchw || random_chance(50))
		truth_give(k, nchw);
	t = wanted_tensor(k, k->type, 4, image_index(dims, nchw, n, h * block[0], w * block[1], deep));
	EACH_PLACE(n, h * block[0], w * block[1], deep)
	{
		uint32_t of = y % block[0] * block[1] + x % block[1];

		t->reals[index_place(t, image_index(dims, nchw, b, y, x, c))] =
			value_at(in, image_index(from, nchw, of * n + b, y / block[0], x / block[1], c));
	}
}

static void make_resize(struct maker *k)
{
	uint32_t n = random_between(1, 2), deep = random_between(1, 3), h = random_between(1, 5),
		 w = random_between(1, 5), dims[4], from[4];
	uint32_t out_h = random_between(1, 8), out_w = random_between(1, 8), how = random_below(3);
	bool nchw = random_below(2);
	struct tensor *in = own_tensor(k, 4, image_index(dims, nchw, n, h, w, deep)), *t;
	double scale[2];

	if (random_chance(50)) { /* by factors that both types hold exactly */
		out_w = (uint32_t)floor(w * number_give(k, 1.5));
		out_h = (uint32_t)floor(h * number_give(k, 2.25));
	} else {
		integer_give(k, (int32_t)out_w);
		integer_give(k, (int32_t)out_h);
	}
	scale[0] = (double)h / out_h;
	scale[1] = (double)w / out_w;
	truth_give(k, nchw);
	if (how || random_chance(50)) {
		truth_give(k, how == 1);
		if (how == 2 || random_chance(50))
			truth_give(k, how == 2);
	}
	if (how == 1 && out_h > 1)
		scale[0] = (double)(h - 1) / (out_h - 1);
	if (how == 1 && out_w > 1)
		scale[1] = (double)(w - 1) / (out_w - 1);
	t = wanted_tensor(k, k->type, 4, image_index(dims, nchw, n, out_h, out_w, deep));
	EACH_PLACE(n, out_h, out_w, deep)
	{
		double half = how == 2 ? 0.5 : 0, fy = (y + half) * scale[0], fx = (x + half) * scale[1];

		fy = fmin(how == 1 ? round(fy) : floor(fy), h - 1);
		fx = fmin(how == 1 ? round(fx) : floor(fx), w - 1);
		t->reals[index_place(t, image_index(dims, nchw, b, y, x, c))] =
			value_at(in, image_index(from, nchw, b, (uint32_t)fy, (uint32_t)fx, c));
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

static bool op_compares(uint32_t op)
{
	return op == NNB_EQUAL || op == NNB_NOT_EQUAL || op == NNB_GREATER || op == NNB_GREATER_EQUAL ||
	       op == NNB_LESS || op == NNB_LESS_EQUAL;
}

static void make_pair(struct maker *k)
{
	uint32_t rank = random_between(1, 4), dims[2][RANK], out[RANK], less = random_below(rank);
	bool positive = k->op == NNB_DIV || k->op == NNB_POW, slopes = k->op == NNB_PRELU && random_chance(50);
	struct tensor *a, *b, *t;

	random_dims(rank, out);
	for (uint32_t d = 0; d < rank; d++) {
		uint32_t one = slopes ? (d < rank - 1 ? 2 : 3) : random_below(4); /* one slope for each channel */

		dims[0][d] = one == 1 ? 1 : out[d];
		dims[1][d] = one == 2 || d < less ? 1 : out[d];
		out[d] = dims[0][d] > dims[1][d] ? dims[0][d] : dims[1][d];
	}
	a = tensor_fill(k, k->type, rank, dims[0], positive ? 0.5 : -4, 4);
	b = plain_tensor(k, k->type, rank - less, dims[1] + less);
	give_between(k, b, positive ? 0.5 : -4, positive ? 2 : 4, slopes);
	for (uint32_t d = 0; k->type == NNB_TENSOR_INT32 && k->op == NNB_DIV && d < b->n; d++) {
		element_encode(b, d, d % 2 ? -3 : 2);
		b->reals[d] = element_decode(b, d);
	}
	if (k->op == NNB_SUB || k->op == NNB_DIV)
		integer_give(k, NNB_FUSED_NONE);
	t = wanted_tensor(k, op_compares(k->op) ? NNB_TENSOR_BOOL8 : k->type, rank, out);
	EACH_ELEMENT(t, i, x)
	{
		uint32_t xa[RANK], xb[RANK];
		double y;

		for (uint32_t d = 0; d < rank; d++) {
			xa[d] = dims[0][d] == 1 ? 0 : x[d];
			xb[d] = dims[1][d] == 1 ? 0 : x[d];
		}
		y = pair_of(k->op, value_at(a, xa), value_at(b, xb + less));
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
	uint32_t rank = random_between(1, 4), dims[RANK];
	bool positive = k->op == NNB_LOG || k->op == NNB_SQRT || k->op == NNB_RSQRT;
	struct tensor *in, *t;

	random_dims(rank, dims);
	in = tensor_fill(k, k->type, rank, dims, positive ? 0.25 : -4, 4);
	if (k->op == NNB_ELU)
		number_give(k, 0.75);
	t = wanted_tensor(k, k->type, rank, dims);
	for (size_t i = 0; i < t->n; i++)
		t->reals[i] = each_of(k->op, in->reals[i]);
}

static void make_quantize(struct maker *k)
{
	uint32_t rank = random_between(1, 4), dims[RANK];
	struct tensor *in, *t;

	random_dims(rank, dims);
	in = own_tensor(k, rank, dims);
	t = wanted_tensor(k, k->second ? k->second : k->type, rank, dims);
	memcpy(t->reals, in->reals, in->n * sizeof(*in->reals));
}

static double value_reduced(uint32_t op, double so_far, double x, bool first)
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
	uint32_t rank = random_between(1, 4), dims[RANK], out[RANK], n = 0, counts[ELEMENTS_MAX] = { 0 }, set = 0,
		 axes = 0;
	bool keep = random_below(2);
	int32_t list_of[RANK];
	struct tensor *in, *t;

	random_dims(rank, dims);
	in = tensor_fill(k, k->type, rank, dims, k->op == NNB_REDUCE_PROD ? 0.7 : -4,
	                 k->op == NNB_REDUCE_PROD ? 1.3 : 4);
	for (uint32_t d = 0; d < rank; d++) {
		if (random_below(2) || (d == rank - 1 && !axes)) {
			list_of[axes++] = (int32_t)d - (random_below(2) ? (int32_t)rank : 0);
			set |= 1u << d;
		}
		if (!(set >> d & 1) || keep)
			out[n++] = set >> d & 1 ? 1 : dims[d];
	}
	list_tensor(k, axes, list_of);
	if (k->op == NNB_MEAN)
		integer_give(k, keep);
	else
		truth_give(k, keep);
	if (!n)
		out[n++] = 1;
	t = wanted_tensor(k, k->type, n, out);
	EACH_ELEMENT(in, i, x)
	{
		size_t to = 0;

		for (uint32_t d = 0; d < rank; d++)
			if (!(set >> d & 1))
				to = to * dims[d] + x[d];
		t->reals[to] = value_reduced(k->op, t->reals[to], in->reals[i], !counts[to]);
		counts[to]++;
	}
	for (size_t i = 0; k->op == NNB_MEAN && i < t->n; i++)
		t->reals[i] /= counts[i];
}

static void make_arg(struct maker *k)
{
	uint32_t rank = random_between(1, 4), dims[RANK], out[RANK], axis = random_below(rank), n = 0;
	struct tensor *in, *t;

	random_dims(rank, dims);
	in = own_tensor(k, rank, dims);
	integer_give(k, (int32_t)axis);
	for (uint32_t d = 0; d < rank; d++)
		if (d != axis)
			out[n++] = dims[d];
	if (!n)
		out[n++] = 1;
	t = wanted_tensor(k, NNB_TENSOR_INT32, n, out);
	EACH_ELEMENT(t, i, x)
	{
		uint32_t from[RANK] = { 0 };
		double best = 0;

		for (uint32_t d = 0, o = 0; d < rank; d++)
			if (d != axis)
				from[d] = x[o++];
		for (from[axis] = 0; from[axis] < dims[axis]; from[axis]++) {
			double value = value_at(in, from) * (k->op == NNB_ARGMAX ? 1 : -1);

			if (from[axis] && value <= best)
				continue;
			best = value;
			t->reals[i] = from[axis];
		}
	}
}

/* The rank of each element is the number of elements before it. */
static void make_topk(struct maker *k)
{
	uint32_t rows = random_between(1, 4), n = random_between(1, 12), most = random_between(1, n);
	struct tensor *in = own_tensor(k, 2, (uint32_t[]){ rows, n }), *values, *indices;

	integer_give(k, (int32_t)most);
	values = wanted_tensor(k, k->type, 2, (uint32_t[]){ rows, most });
	indices = wanted_tensor(k, NNB_TENSOR_INT32, 2, (uint32_t[]){ rows, most });
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
	uint32_t rows = random_between(1, 4), n = random_between(1, 8), inner = random_between(1, 3);
	struct tensor *in = own_tensor(k, 3, (uint32_t[]){ rows, n, inner }), *t;
	double beta = number_give(k, 0.5);

	integer_give(k, -2);
	t = wanted_tensor(k, k->type, 3, (uint32_t[]){ rows, n, inner });
	EACH_ELEMENT(t, i, x)
	{
		double sum = 0;

		for (uint32_t other = 0; other < n; other++)
			sum += exp(beta * value_at(in, (uint32_t[]){ x[0], other, x[2] }));
		t->reals[i] = beta * in->reals[i] - log(sum);
	}
}

/* Divided by the root of the mean square (docs/operations.md). */
static void make_instance_normalization(struct maker *k)
{
	struct image s = { random_between(1, 2), random_between(1, 5), random_between(2, 5), random_between(1, 3) };
	uint32_t dims[4];
	struct tensor *in, *t;
	double gamma, beta, epsilon, n = s.h * s.w;

	k->nchw = random_chance(50);
	image_dims(k, s, dims);
	in = own_tensor(k, 4, dims);
	gamma = number_give(k, 1.5);
	beta = number_give(k, -0.25);
	epsilon = number_give(k, 0.125);
	truth_give(k, k->nchw);
	t = wanted_tensor(k, k->type, 4, dims);
	for (uint32_t b = 0; b < s.b; b++)
		for (uint32_t c = 0; c < s.c; c++) {
			double sum = 0, squares = 0;

			for (uint32_t i = 0; i < s.h * s.w; i++) {
				double x = in->reals[image_cell(k, s, b, i / s.w, i % s.w, c)];

				sum += x;
				squares += x * x;
			}
			for (uint32_t i = 0; i < s.h * s.w; i++) {
				size_t here = image_cell(k, s, b, i / s.w, i % s.w, c);

				t->reals[here] =
					gamma * (in->reals[here] - sum / n) / sqrt(squares / n + epsilon) + beta;
			}
		}
}

/* ---- chance ---- */

static void make_multinomial(struct maker *k)
{
	uint32_t batch = random_between(1, 2), n = random_between(1, 6), samples = 2000;
	int32_t seeds[2] = { (int32_t)random_below(1000000), (int32_t)random_below(1000000) };

	tensor_fill(k, k->type, 2, (uint32_t[]){ batch, n }, -2, 2);
	integer_give(k, (int32_t)samples);
	integers_give(k, 2, seeds, false);
	wanted_tensor(k, NNB_TENSOR_INT32, 2, (uint32_t[]){ batch, samples });
}

/* Each class is drawn in proportion to its share, within five standard deviations. */
static void judge_multinomial(const struct maker *k)
{
	const struct tensor *logits = k->tensors[0], *out = k->wanted[0];
	uint32_t batch = logits->operand.dims[0], n = logits->operand.dims[1], samples = out->operand.dims[1];

	for (uint32_t b = 0; b < batch; b++) {
		double drawn[8] = { 0 }, sum = 0;

		for (uint32_t i = 0; i < samples; i++) {
			double class = element_decode(out, (size_t)b * samples + i);

			assert_true(class >= 0 && class < n);
			drawn[(int)class]++;
		}
		for (uint32_t c = 0; c < n; c++)
			sum += exp(logits->reals[b * n + c]);
		for (uint32_t c = 0; c < n; c++) {
			double share = exp(logits->reals[b * n + c]) / sum, wanted_of = share * samples;

			if (fabs(drawn[c] - wanted_of) > 1 + 5 * sqrt(wanted_of * (1 - share)))
				fail_msg("class %u was drawn %g times, not %g", c, drawn[c], wanted_of);
		}
	}
}

static void make_select(struct maker *k)
{
	uint32_t rank = random_between(1, 4), dims[RANK];
	struct tensor *condition, *a, *b, *t;

	random_dims(rank, dims);
	condition = tensor_fill(k, NNB_TENSOR_BOOL8, rank, dims, 0, 1);
	a = own_tensor(k, rank, dims);
	b = own_tensor(k, rank, dims);
	t = wanted_tensor(k, k->type, rank, dims);
	for (size_t i = 0; i < t->n; i++)
		t->reals[i] = condition->reals[i] != 0 ? a->reals[i] : b->reals[i];
}

/* ---- convolutions: each input is added to each output that it is a part of ---- */

/* A filter and its bias. If the filter is quantised by channel, the bias has no scale, else that of the products. */
static struct tensor *give_filter(struct maker *k, const uint32_t dims[4], struct tensor **bias)
{
	static float scales[16];
	bool quant = !is_real(k->type), by_channel = quant && random_chance(30), constant = random_chance(60);
	struct tensor *filter = tensor_make(k, by_channel ? NNB_TENSOR_QUANT8_SYMM_PER_CHANNEL : k->type, 4, dims,
	                                    1.0f / 32, random_chance(50) ? 128 : 120);

	for (uint32_t i = 0; i < dims[0]; i++)
		scales[i] = (float)random_between(1, 8) / 256;
	filter->scales = by_channel ? scales : NULL;
	tensor_give(k, filter, 4, constant);
	*bias = tensor_make(k, quant ? NNB_TENSOR_INT32 : k->type, 1, dims, 0, 0);
	if (quant && !by_channel)
		(*bias)->operand.scale = 1.0f / 1024;
	tensor_give(k, *bias, quant ? 1000 : 4, constant);
	for (uint32_t i = 0; by_channel && i < dims[0]; i++)
		(*bias)->reals[i] *= 1.0 / 32 * (double)scales[i];
	return filter;
}

/* One axis of a convolution: from @in cells to @out cells, or, transposed, the other way. */
struct way {
	uint32_t in, filter, stride, head, tail, out;
};

static void way_explicit(struct way *w, bool transposed)
{
	w->head = random_below(2);
	w->tail = random_below(2);
	w->out = transposed ? (w->in - 1) * w->stride + w->filter - w->head - w->tail
	                    : (w->in + w->head + w->tail - w->filter) / w->stride + 1;
}

/* VALID or SAME. A transposed convolution crops what SAME pads in the convolution that leads back. */
static void way_by_scheme(struct way *w, bool transposed, bool same)
{
	uint32_t few, many, covered;

	w->head = w->tail = 0;
	if (!same) {
		w->out = transposed ? (w->in - 1) * w->stride + w->filter : (w->in - w->filter) / w->stride + 1;
		return;
	}
	w->out = transposed ? random_between((w->in - 1) * w->stride + 1, w->in * w->stride)
	                    : (w->in + w->stride - 1) / w->stride;
	few = transposed ? w->in : w->out;
	many = transposed ? w->out : w->in;
	covered = (few - 1) * w->stride + w->filter;
	if (covered > many)
		w->head = (covered - many) / 2;
}

static void make_conv(struct maker *k)
{
	bool transposed = k->op == NNB_TRANSPOSE_CONV_2D, nchw = random_below(2), scheme = random_chance(50),
	     same = random_chance(60);
	uint32_t groups = transposed ? 1 : random_between(1, 3), deep = random_between(1, 3), n = random_between(1, 2);
	uint32_t h = random_between(3, 6), w = random_between(3, 6), fh = random_between(1, 3),
		 fw = random_between(1, 3), outs = groups * random_between(1, 3);
	uint32_t stride[2] = { random_between(1, 2), random_between(1, 2) }, dims[4], out_h, out_w, to[4];
	struct way down = { .in = h, .filter = fh, .stride = stride[0] },
		   across = { .in = w, .filter = fw, .stride = stride[1] };
	struct tensor *in = own_tensor(k, 4, image_index(dims, nchw, n, h, w, groups * deep));
	struct tensor *bias, *filter = give_filter(k, (uint32_t[]){ outs, fh, fw, deep }, &bias), *t;

	if (scheme) {
		way_by_scheme(&down, transposed, same);
		way_by_scheme(&across, transposed, same);
		if (transposed) {
			image_index(to, nchw, n, down.out, across.out, outs);
			integers_give(k, 4,
			              (int32_t[]){ (int32_t)to[0], (int32_t)to[1], (int32_t)to[2], (int32_t)to[3] },
			              random_chance(50));
		}
		integer_give(k, same ? NNB_PADDING_SAME : NNB_PADDING_VALID);
	} else {
		way_explicit(&down, transposed);
		way_explicit(&across, transposed);
		integer_give(k, (int32_t)across.head);
		integer_give(k, (int32_t)across.tail);
		integer_give(k, (int32_t)down.head);
		integer_give(k, (int32_t)down.tail);
	}
	out_h = down.out;
	out_w = across.out;
	integer_give(k, (int32_t)stride[1]);
	integer_give(k, (int32_t)stride[0]);
	if (!transposed)
		integer_give(k, (int32_t)groups);
	integer_give(k, NNB_FUSED_NONE);
	truth_give(k, nchw);
	t = wanted_tensor(k, k->type, 4, image_index(dims, nchw, n, out_h, out_w, outs));
	if (t->operand.scale != 0)
		t->operand.scale = 2;
	EACH_PLACE(n, out_h, out_w, outs)
	t->reals[index_place(t, image_index(to, nchw, b, y, x, c))] = bias->reals[c];
	EACH_PLACE(n, h, w, groups * deep)
	for (uint32_t o = 0; o < outs; o++)
		for (uint32_t f = 0; f < fh * fw; f++) {
			uint32_t fy = f / fw, fx = f % fw;
			uint32_t oy = transposed ? y * stride[0] + fy - down.head : y + down.head - fy;
			uint32_t ox = transposed ? x * stride[1] + fx - across.head : x + across.head - fx;

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
			t->reals[index_place(t, image_index(to, nchw, b, oy, ox, o))] +=
				value_at(in, image_index(dims, nchw, b, y, x, c)) *
				value_at(filter, (uint32_t[]){ o, fy, fx, c % deep });
		}
}

/* ---- the rows ---- */

const struct op_family op_families_newer[] = {
	{ NNB_TRANSPOSE, make_transpose, "FHQS" },
	{ NNB_SLICE, make_slice, "FHIQS" },
	{ NNB_STRIDED_SLICE, make_strided_slice, "FHQS" },
	{ NNB_PAD, make_pad, "FHQS" },
	{ NNB_PAD_V2, make_pad, "FHQS" },
	{ NNB_TILE, make_tile, "FHIQS" },
	{ NNB_SPLIT, make_split, "FHIQS" },
	{ NNB_GATHER, make_gather, "FHIQS" },
	{ NNB_CHANNEL_SHUFFLE, make_shuffle, "FHQS" },
	{ NNB_SPACE_TO_BATCH_ND, make_space_to_batch, "FHQS" },
	{ NNB_BATCH_TO_SPACE_ND, make_batch_to_space, "FHQS" },
	{ NNB_RESIZE_NEAREST_NEIGHBOR, make_resize, "FHQS" },
	{ NNB_SUB, make_pair, "FHIQS", .xnnpack = "FQS" },
	{ NNB_DIV, make_pair, "FHI", .xnnpack = "F" },
	{ NNB_MAXIMUM, make_pair, "FHIQS", .xnnpack = "F" },
	{ NNB_MINIMUM, make_pair, "FHIQS", .xnnpack = "F" },
	{ NNB_POW, make_pair, "FH" },
	{ NNB_PRELU, make_pair, "FHQS", .xnnpack = "F" },
	{ NNB_EQUAL, make_pair, "BFHIQS" },
	{ NNB_NOT_EQUAL, make_pair, "BFHIQS" },
	{ NNB_GREATER, make_pair, "BFHIQS" },
	{ NNB_GREATER_EQUAL, make_pair, "BFHIQS" },
	{ NNB_LESS, make_pair, "BFHIQS" },
	{ NNB_LESS_EQUAL, make_pair, "BFHIQS" },
	{ NNB_LOGICAL_AND, make_pair, "B" },
	{ NNB_LOGICAL_OR, make_pair, "B" },
	{ NNB_ABS, make_each, "FHI", .xnnpack = "F" },
	{ NNB_NEG, make_each, "FHI", .xnnpack = "F" },
	{ NNB_EXP, make_each, "FH" },
	{ NNB_LOG, make_each, "FH" },
	{ NNB_SQRT, make_each, "FH", .xnnpack = "F" },
	{ NNB_RSQRT, make_each, "FH" },
	{ NNB_SIN, make_each, "FH" },
	{ NNB_LOGICAL_NOT, make_each, "B" },
	{ NNB_ELU, make_each, "FH", .xnnpack = "F" },
	{ NNB_HARD_SWISH, make_each, "FHQS", .xnnpack = "F" },
	{ NNB_MEAN, make_reduce, "FHQS", .xnnpack = "FQS" },
	{ NNB_REDUCE_SUM, make_reduce, "FH" },
	{ NNB_REDUCE_PROD, make_reduce, "FH" },
	{ NNB_REDUCE_MAX, make_reduce, "FHQS" },
	{ NNB_REDUCE_MIN, make_reduce, "FHQS" },
	{ NNB_REDUCE_ALL, make_reduce, "B" },
	{ NNB_REDUCE_ANY, make_reduce, "B" },
	{ NNB_ARGMAX, make_arg, "FHIQS" },
	{ NNB_ARGMIN, make_arg, "FHIQS" },
	{ NNB_TOPK_V2, make_topk, "FHIQS" },
	{ NNB_LOG_SOFTMAX, make_log_softmax, "FH" },
	{ NNB_SELECT, make_select, "FHIQS" },
	{ NNB_GROUPED_CONV_2D, make_conv, "FHQS", .xnnpack = "FQS" },
	{ NNB_TRANSPOSE_CONV_2D, make_conv, "FHQS", .xnnpack = "FQS" },
	{ NNB_EXPAND_DIMS, make_expand_dims, "FHIQS" },
	{ NNB_SQUEEZE, make_squeeze, "FHQS" },
	{ NNB_CAST, make_cast, "FHIQ", "FHIQ" },
	{ NNB_CAST, make_cast, "BSYCWA" },
	{ NNB_QUANTIZE, make_quantize, "FH", "QS", .xnnpack = "F" },
	{ NNB_QUANTIZE, make_quantize, "FH" },
	{ NNB_FILL, make_fill, "FHI" },
	{ NNB_RANK, make_rank, "FHIBQSYCWA" },
	{ NNB_INSTANCE_NORMALIZATION, make_instance_normalization, "FH" },
	{ NNB_RANDOM_MULTINOMIAL, make_multinomial, "FH", .judge = judge_multinomial },
	{ .types = NULL },
};
