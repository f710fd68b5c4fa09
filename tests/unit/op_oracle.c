/* op_oracle.c -- see op_oracle.h. */
#include "op_oracle.h"

#include <dlfcn.h>

#include "base.h"

static uint64_t random_state;

uint32_t random_below(uint32_t n)
{
	return (uint32_t)(lcg_next(&random_state) >> 33) % n;
}

uint32_t random_between(uint32_t least, uint32_t most)
{
	return least + random_below(most - least + 1);
}

bool random_chance(uint32_t percent)
{
	return random_below(100) < percent;
}

/* ---- tensors ---- */

bool is_real(uint32_t type)
{
	return type == NNB_TENSOR_FLOAT32 || type == NNB_TENSOR_FLOAT16;
}

static bool is_signed(uint32_t type)
{
	return type == NNB_TENSOR_QUANT8_ASYMM_SIGNED || type == NNB_TENSOR_QUANT8_SYMM ||
	       type == NNB_TENSOR_QUANT8_SYMM_PER_CHANNEL || type == NNB_TENSOR_QUANT16_SYMM;
}

/* The integer at index @i of a quantised type. */
static int32_t raw_at(const struct tensor *t, size_t i)
{
	const void *at = t->bytes;
	bool wide = nnb_type_info(t->operand.type)->bytes == 2;

	if (is_signed(t->operand.type))
		return wide ? ((const int16_t *)at)[i] : ((const int8_t *)at)[i];
	return wide ? ((const uint16_t *)at)[i] : ((const uint8_t *)at)[i];
}

double element_decode(const struct tensor *t, size_t i)
{
	const struct nnb_operand *o = &t->operand;
	const void *at = t->bytes;
	size_t slice = 1;
	double scale = (double)o->scale;

	for (uint32_t d = o->channel_dim + 1; d < o->rank; d++)
		slice *= o->dims[d];
	if (t->scales)
		scale = (double)t->scales[i / slice % o->dims[o->channel_dim]];
	switch (o->type) {
	case NNB_TENSOR_FLOAT32:
		return (double)((const float *)at)[i];
	case NNB_TENSOR_FLOAT16:
		return (double)nnb_half_to_float(((const uint16_t *)at)[i]);
	case NNB_TENSOR_INT32:
		return ((const int32_t *)at)[i] * (scale != 0 ? scale : 1);
	case NNB_INT32:
		return ((const int32_t *)at)[i];
	case NNB_TENSOR_BOOL8:
		return t->bytes[i];
	default:
		return scale * (raw_at(t, i) - o->zero_point);
	}
}

static void put_raw(struct tensor *t, size_t i, int32_t raw)
{
	uint16_t wide = (uint16_t)raw;

	if (nnb_type_info(t->operand.type)->bytes == 2)
		memcpy(t->bytes + 2 * i, &wide, 2);
	else
		t->bytes[i] = (uint8_t)raw;
}

void element_encode(struct tensor *t, size_t i, double real)
{
	float f = (float)real;
	uint16_t h = nnb_float_to_half(f);
	int32_t n = (int32_t)real;

	if (t->operand.type == NNB_TENSOR_FLOAT32)
		memcpy(t->bytes + 4 * i, &f, 4);
	else if (t->operand.type == NNB_TENSOR_FLOAT16)
		memcpy(t->bytes + 2 * i, &h, 2);
	else if (t->operand.type == NNB_TENSOR_INT32)
		memcpy(t->bytes + 4 * i, &n, 4);
	else if (t->operand.type == NNB_TENSOR_BOOL8)
		t->bytes[i] = (uint8_t)random_below(2);
	else
		put_raw(t, i, (int32_t)random_below(65536));
}

/* The least and the greatest integer of a quantised type. */
static void raw_range(uint32_t type, double ret[2])
{
	double span = nnb_type_info(type)->bytes == 2 ? 65536 : 256;

	ret[0] = is_signed(type) ? -span / 2 : 0;
	ret[1] = ret[0] + span - 1;
}

static double nearest_raw(const struct tensor *t, double real)
{
	double range[2];

	raw_range(t->operand.type, range);
	return fmin(fmax(round(real / (double)t->operand.scale) + t->operand.zero_point, range[0]), range[1]);
}

void encode_nearest(struct tensor *t, size_t i, double real)
{
	if (nnb_type_info(t->operand.type)->quantized)
		put_raw(t, i, (int32_t)nearest_raw(t, real));
	else
		element_encode(t, i, real);
	t->reals[i] = element_decode(t, i);
}

struct tensor *tensor_make(struct maker *k, uint32_t type, uint32_t rank, const uint32_t *dims, float scale,
                           int32_t zero_point)
{
	struct tensor *t = &k->pool[k->n_tensors++];

	assert_true(k->n_tensors <= TENSORS_MAX);
	*t = (struct tensor){ .operand = { .type = type, .rank = rank }, .n = 1, .off = 1 };
	memcpy(t->operand.dims, dims, rank * sizeof(*dims));
	for (uint32_t d = 0; d < rank; d++)
		t->n *= dims[d];
	assert_true(t->n <= ELEMENTS_MAX);
	if (type == NNB_TENSOR_QUANT8_ASYMM_SIGNED)
		zero_point -= 128;
	else if (is_signed(type))
		zero_point = 0;
	if (nnb_type_info(type)->quantized) {
		t->operand.scale = scale;
		t->operand.zero_point = zero_point;
	}
	return t;
}

static void give_scales(struct maker *k, const struct tensor *t, uint32_t index)
{
	if (t->scales)
		assert_int_equal(nnb_model_channels(k->m, index, t->operand.channel_dim, t->scales,
		                                    t->operand.dims[t->operand.channel_dim]),
		                 0);
}

struct tensor *give_filled(struct maker *k, struct tensor *t, bool constant)
{
	size_t bytes = t->n * nnb_type_info(t->operand.type)->bytes;

	t->index = operand(k->m, &t->operand);
	give_scales(k, t, t->index);
	if (constant) {
		assert_int_equal(nnb_model_value(k->m, t->index, t->bytes, (uint32_t)bytes), 0);
	} else {
		k->tensors[k->n_given] = t;
		k->given[k->n_given++] = t->index;
	}
	for (size_t i = 0; i < t->n; i++)
		t->reals[i] = element_decode(t, i);
	k->inputs[k->n_inputs++] = t->index;
	return t;
}

struct tensor *give_between(struct maker *k, struct tensor *t, double least, double most, bool constant)
{
	for (size_t i = 0; i < t->n; i++)
		element_encode(t, i, least + (most - least) * random_below(20001) / 20000);
	return give_filled(k, t, constant);
}

struct tensor *tensor_give(struct maker *k, struct tensor *t, double most, bool constant)
{
	return give_between(k, t, -most, most, constant);
}

struct tensor *integers_give(struct maker *k, uint32_t n, const int32_t *values, bool constant)
{
	struct tensor *t = tensor_make(k, NNB_TENSOR_INT32, 1, &n, 0, 0);

	memcpy(t->bytes, values, n * sizeof(*values));
	return give_filled(k, t, constant);
}

void operand_omit(struct maker *k, uint32_t type, uint32_t rank, const uint32_t *dims)
{
	struct nnb_operand o = { .type = type, .lifetime = NNB_NO_VALUE, .rank = rank };

	memcpy(o.dims, dims, rank * sizeof(*dims));
	if (nnb_type_info(type)->quantized)
		o.scale = 1;
	k->inputs[k->n_inputs++] = operand(k->m, &o);
}

void integer_give(struct maker *k, int32_t value)
{
	k->inputs[k->n_inputs++] = int_scalar(k->m, value);
}

static void scalar_give(struct maker *k, uint32_t type, const void *value, uint32_t bytes)
{
	uint32_t index = operand(k->m, &(struct nnb_operand){ .type = type });

	assert_int_equal(nnb_model_value(k->m, index, value, bytes), 0);
	k->inputs[k->n_inputs++] = index;
}

void truth_give(struct maker *k, bool value)
{
	uint8_t byte = value;

	scalar_give(k, NNB_BOOL, &byte, 1);
}

double float_number(struct maker *k, double value)
{
	float f = (float)value;

	scalar_give(k, NNB_FLOAT32, &f, 4);
	return (double)f;
}

double number_give(struct maker *k, double value)
{
	uint16_t h = nnb_float_to_half((float)value);

	if (k->type != NNB_TENSOR_FLOAT16)
		return float_number(k, value);
	scalar_give(k, NNB_FLOAT16, &h, 2);
	return (double)nnb_half_to_float(h);
}

struct tensor *tensor_want(struct maker *k, uint32_t type, uint32_t rank, const uint32_t *dims, float scale,
                           int32_t zero_point)
{
	return k->wanted[k->n_outputs++] = tensor_make(k, type, rank, dims, scale, zero_point);
}

void fit_scale(struct tensor *t, double at_least)
{
	double most = at_least;

	if (is_real(t->operand.type) || t->operand.type == NNB_TENSOR_INT32)
		return;
	for (size_t i = 0; i < t->n; i++)
		most = fmax(most, fabs(t->reals[i]) / 100);
	t->operand.scale = (float)most;
}

double value_fused(uint32_t fused, double x)
{
	static const double ranges[][2] = { { -INFINITY, INFINITY }, { 0, INFINITY }, { -1, 1 }, { 0, 6 } };

	return fmin(fmax(x, ranges[fused][0]), ranges[fused][1]);
}

double value_activated(uint32_t activation, double x)
{
	return activation == 4 ? tanh(x) : activation == 6 ? 1 / (1 + exp(-x)) : value_fused(activation, x);
}

double times_row(const struct tensor *matrix, size_t row, const double *x, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += matrix->reals[row * n + i] * x[i];
	return sum;
}

/* ---- images ---- */

void image_dims(const struct maker *k, struct image s, uint32_t ret[4])
{
	memcpy(ret, k->nchw ? (uint32_t[]){ s.b, s.c, s.h, s.w } : (uint32_t[]){ s.b, s.h, s.w, s.c }, 16);
}

size_t image_cell(const struct maker *k, struct image s, uint32_t b, uint32_t y, uint32_t x, uint32_t c)
{
	if (k->nchw)
		return (((size_t)b * s.c + c) * s.h + y) * s.w + x;
	return (((size_t)b * s.h + y) * s.w + x) * s.c + c;
}

/* Weights fall linearly around the point. */
double image_sample(const struct maker *k, struct image s, const struct tensor *in, uint32_t b, double y, double x,
                    uint32_t c)
{
	double sum = 0;

	y = fmin(fmax(y, 0), s.h - 1.0);
	x = fmin(fmax(x, 0), s.w - 1.0);
	for (uint32_t i = 0; i < s.h; i++)
		for (uint32_t j = 0; j < s.w; j++)
			sum += fmax(0, 1 - fabs(y - i)) * fmax(0, 1 - fabs(x - j)) *
			       in->reals[image_cell(k, s, b, i, j, c)];
	return sum;
}

/* ---- rows ---- */

static const char letters[] = {
	[NNB_TENSOR_FLOAT32] = 'F',      [NNB_TENSOR_FLOAT16] = 'H',
	[NNB_TENSOR_INT32] = 'I',        [NNB_TENSOR_BOOL8] = 'B',
	[NNB_TENSOR_QUANT8_ASYMM] = 'Q', [NNB_TENSOR_QUANT8_ASYMM_SIGNED] = 'S',
	[NNB_TENSOR_QUANT8_SYMM] = 'Y',  [NNB_TENSOR_QUANT8_SYMM_PER_CHANNEL] = 'C',
	[NNB_TENSOR_QUANT16_SYMM] = 'W', [NNB_TENSOR_QUANT16_ASYMM] = 'A',
};

uint32_t op_type_of_letter(char letter)
{
	for (uint32_t type = 0; type < N_OF(letters); type++)
		if (letter && letters[type] == letter)
			return type;
	fail_msg("'%c' is the letter of no type", letter);
	return 0;
}

/* ---- running ---- */

static size_t bytes_of(const struct tensor *t)
{
	size_t n = 1;

	for (uint32_t d = 0; d < t->operand.rank; d++)
		n *= t->operand.dims[d];
	return n * nnb_type_info(t->operand.type)->bytes;
}

/*
 * Reals: within off times the tolerance of their type. Raw numbers of a quantised output: within off; a number
 * that the type cannot hold is its border.
 */
static bool is_near(const struct tensor *t, double got, double want)
{
	if (t->operand.type == NNB_TENSOR_FLOAT32)
		return fabs(got - want) <= t->off * (2e-5 + 1e-5 * fabs(want));
	if (t->operand.type == NNB_TENSOR_FLOAT16)
		return fabs(got - want) <= t->off * 5 * 0x1p-10 * (1 + fabs(want));
	if (nnb_type_info(t->operand.type)->quantized)
		return fabs(nearest_raw(t, got) - nearest_raw(t, want)) <= t->off;
	return got == want;
}

static void tensor_compare(const struct op_row *row, uint32_t round, const struct tensor *t, uint32_t output)
{
	for (size_t i = 0; i < t->n; i++) {
		double got = element_decode(t, i), want = t->reals[i];

		if (!is_near(t, got, want))
			fail_msg("%s, round %u: output %u[%zu] of %zu is %.9g, not %.9g", row->name, round, output, i,
			         t->n, got, want);
	}
}

struct place {
	struct nnb_memory pool;
	struct nnb_mapping *mapping;
	struct nnb_argument args[TENSORS_MAX];
	uint64_t bytes;
};

/* Place the tensors one after the other in a pool. */
static void place_all(struct place *p, struct tensor *const *tensors, uint32_t n, uint32_t pool)
{
	for (uint32_t i = 0; i < n; i++) {
		uint64_t bytes = bytes_of(tensors[i]);

		bytes = bytes ? bytes : 64; /* a pool of length 0 is refused */
		p->args[i].location = (struct nnb_location){ pool, (uint32_t)p->bytes, (uint32_t)bytes };
		p->bytes += (bytes + 63) / 64 * 64;
	}
	assert_int_equal(nnb_memory_ashmem(&p->pool, p->bytes ? p->bytes : 64), 0);
	assert_int_equal(nnb_map(&p->mapping, &p->pool), 0);
}

static void place_free(struct place *p)
{
	nnb_mapping_unref(p->mapping);
	nnb_memory_close(&p->pool);
}

enum nnb_status op_execute(struct nnb_prepared *p, struct maker *k, struct nnb_output_shape *shapes,
                           struct nnb_reason *reason)
{
	static struct place in, out;
	struct nnb_request request = {
		.inputs = in.args, .outputs = out.args, .n_inputs = k->n_given, .n_outputs = k->n_outputs, .n_pools = 2
	};
	enum nnb_status status;

	in = out = (struct place){ 0 };
	place_all(&in, k->tensors, k->n_given, 0);
	place_all(&out, k->wanted, k->n_outputs, 1);
	for (uint32_t i = 0; i < k->n_given; i++)
		memcpy((char *)nnb_mapping_data(in.mapping) + in.args[i].location.offset, k->tensors[i]->bytes,
		       in.args[i].location.length);
	request.pools = (struct nnb_memory[]){ in.pool, out.pool };
	status = nnb_execute(p, &request, shapes, reason);
	for (uint32_t i = 0; i < k->n_outputs; i++)
		memcpy(k->wanted[i]->bytes, (char *)nnb_mapping_data(out.mapping) + out.args[i].location.offset,
		       out.args[i].location.length);
	place_free(&in);
	place_free(&out);
	return status;
}

/* An output as the model declares it. */
static uint32_t output_of(struct maker *k, const struct tensor *t)
{
	struct nnb_operand o = t->operand;
	uint32_t index;

	if (k->late)
		o.dims[0] = 0;
	if (k->unknown)
		memset(o.dims, 0, sizeof(o.dims));
	index = operand(k->m, &o);
	give_scales(k, t, index);
	return index;
}

void op_model_finish(struct maker *k, struct tensor *const *again)
{
	uint32_t n = k->n_outputs;

	assert_true((again ? 2 : 1) * n <= TENSORS_MAX);
	for (uint32_t i = 0; i < n; i++)
		k->outputs[i] = output_of(k, k->wanted[i]);
	assert_true(nnb_model_operation(k->m, k->op, k->inputs, k->n_inputs, k->outputs, n) >= 0);
	for (uint32_t i = 0; again && i < n; i++) {
		k->wanted[n + i] = again[i];
		k->outputs[n + i] = output_of(k, again[i]);
	}
	if (again) {
		assert_true(nnb_model_operation(k->m, k->op, k->inputs, k->n_inputs, k->outputs + n, n) >= 0);
		k->n_outputs = 2 * n;
	}
	assert_int_equal(nnb_model_finish(k->m, k->given, k->n_given, k->outputs, k->n_outputs), 0);
}

enum nnb_status op_run(struct nnb_device *d, struct maker *k, struct nnb_output_shape *shapes,
                       struct nnb_reason *reason)
{
	struct nnb_prepared *p;
	enum nnb_status status;

	op_model_finish(k, NULL);
	status = nnb_prepare(d, k->m, &ordinary, NULL, &p, reason);
	if (status)
		return status;
	status = op_execute(p, k, shapes, reason);
	nnb_prepared_unref(p);
	return status;
}

/* The reported shapes must be the wanted ones. */
static void compare_shapes(const struct op_row *row, uint32_t round, const struct maker *k,
                           const struct nnb_output_shape *shapes)
{
	for (uint32_t i = 0; i < k->n_outputs; i++) {
		const struct nnb_operand *o = &k->wanted[i]->operand;

		if (shapes[i].rank != o->rank || memcmp(shapes[i].dims, o->dims, o->rank * sizeof(*o->dims)))
			fail_msg("%s, round %u: output %u has rank %u and %u rows, not %u and %u", row->name, round, i,
			         shapes[i].rank, shapes[i].dims[0], o->rank, o->dims[0]);
	}
}

void op_maker_init(struct maker *k, uint32_t op, uint32_t type)
{
	memset(k, 0, sizeof(*k));
	k->op = op;
	k->type = type;
	assert_int_equal(nnb_model_new(&k->m, nnb_op_name((enum nnb_op)op), NNB_HAL_1_3), 0);
}

static void row_make(struct maker *k, const struct op_row *row)
{
	op_maker_init(k, row->family->op, row->type);
	k->second = row->second;
	row->family->make(k);
}

static uint64_t row_seed(const struct op_row *row)
{
	return (uint64_t)row->family->op * 64 + row->type + (uint64_t)row->second * 4096;
}

void op_round_make(struct maker *k, const struct op_row *row, uint32_t round)
{
	random_state = row_seed(row) + ((uint64_t)round << 32);
	random_below(2);
	row_make(k, row);
}

void op_outputs_judge(const struct op_row *row, uint32_t round, const struct maker *k)
{
	for (uint32_t i = 0; !row->family->judge && i < k->n_outputs; i++)
		tensor_compare(row, round, k->wanted[i], i);
	if (row->family->judge)
		row->family->judge(k);
}

static void run_round(struct nnb_device *d, const struct op_row *row, uint32_t round, struct maker *k)
{
	struct nnb_output_shape shapes[TENSORS_MAX];
	struct nnb_reason reason = { "" };

	row_make(k, row);
	if (op_run(d, k, shapes, &reason))
		fail_msg("%s, round %u: %s", row->name, round, reason.text);
	compare_shapes(row, round, k, shapes);
	op_outputs_judge(row, round, k);
	nnb_model_free(k->m);
}

static char letter_of(uint32_t type)
{
	return type < N_OF(letters) ? letters[type] : 0;
}

/* How often driver_both.c ran both kernels; @by_signed: how often with XNNPACK's operator of signed bytes. */
static unsigned both_ways(uint32_t op, unsigned *by_signed)
{
	void *object = dlopen(DRIVER_BOTH, RTLD_NOW | RTLD_NOLOAD);
	const unsigned *ways = object ? dlsym(object, "nnb_both_ways") : NULL;
	const unsigned *with_signed = object ? dlsym(object, "nnb_both_signed") : NULL;
	unsigned n;

	assert_non_null(ways);
	assert_non_null(with_signed);
	n = ways[op];
	*by_signed = with_signed[op];
	dlclose(object);
	return n;
}

static void as_defined(void **state)
{
	const struct op_row *row = *state;
	const struct op_family *f = row->family;
	struct nnb_device *d = open_device(DRIVER_BOTH);
	struct maker *k = malloc(sizeof(*k));
	unsigned signed_before, signed_after, before, after;
	bool by_xnnpack = f->xnnpack && strchr(f->xnnpack, letter_of(row->type));

	assert_non_null(k);
	before = both_ways(f->op, &signed_before);
	random_state = row_seed(row);
	for (uint32_t round = 0; round < OP_ROUNDS; round++)
		run_round(d, row, round, k);
	after = both_ways(f->op, &signed_after);
	if (by_xnnpack != (after > before))
		fail_msg("%s: XNNPACK was %s", row->name, by_xnnpack ? "not used" : "used");
	if (row->type != NNB_TENSOR_QUANT8_ASYMM_SIGNED)
		assert_int_equal(signed_before, signed_after);
	free(k);
	nnb_device_unref(d);
}

/* ---- the table ---- */

size_t op_rows(const struct op_family *families, struct op_row *ret)
{
	size_t n = 0;

	for (const struct op_family *f = families; f->types; f++)
		for (const char *x = f->types; *x; x++)
			for (const char *y = f->seconds ? f->seconds : " "; *y; y++, n++) {
				struct op_row *row = ret ? &ret[n] : &(struct op_row){ 0 };

				*row = (struct op_row){ f, op_type_of_letter(*x), *y == ' ' ? 0 : op_type_of_letter(*y),
					                "" };
				snprintf(row->name, sizeof(row->name), "%s of %s%s%s", nnb_op_name(f->op),
				         nnb_type_info(row->type)->name, row->second ? " and " : "",
				         row->second ? nnb_type_info(row->second)->name : "");
			}
	return n;
}

int op_oracle_main(const char *name, const struct op_family *families)
{
	size_t n = op_rows(families, NULL);
	struct op_row *rows = calloc(n, sizeof(*rows));
	struct CMUnitTest *tests = calloc(n, sizeof(*tests));
	int failed;

	if (!rows || !tests)
		return 5;
	op_rows(families, rows);
	for (size_t i = 0; i < n; i++)
		tests[i] = (struct CMUnitTest){ rows[i].name, as_defined, NULL, NULL, &rows[i] };
	failed = _cmocka_run_group_tests(name, tests, n, NULL, NULL);
	free(tests);
	free(rows);
	return failed;
}
