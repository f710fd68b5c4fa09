/*
 * load.c -- loads .tflite files: the file, its tensors, its constants. nnb_model(3), nnb_model(5).
 *
 * LAYOUT    Constants up to NNB_COPY_MAX bytes are copied into the model. Larger ones stay in the file, which becomes
 *           a pool of the model, mapped whole and read-only, like a side file of a model file. Three kinds of
 *           constants are converted and stored in the model's other pool: float16 that an operator converts to
 *           float32, bytes that are the weights of a float32 operator, and 64-bit integers that are 32-bit integers
 *           in the HAL.
 * TRUST     The file is untrusted and may change while it is read: each number is read once, then checked (flat.h). The
 *           memory that is allocated stays in proportion to the file, however often the file names the same bytes
 *           (COPIES, LISTED). A file truncated meanwhile reads as zeroes from its new end on, and is refused at the
 *           end. The file can change after loading, too; the mapping handles that (memory.h).
 */
#include "model/tflite/load.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/reason.h"
#include "model/tflite/schema.h"
#include "nnb/half.h"

enum {
	COPIES = 8, /* bound on the bytes of copied constants, in multiples of the file's size */
	COPIES_LEAST = 1 << 20,
	LISTED = 4 << 20, /* bound on the elements of lists: operators' tensors, channels' scales */
	LINE = 120
};

void nnb__tflite_wrong(struct nnb__loading *l, int error, const char *format, ...)
{
	char text[sizeof(l->reason->text)], line[LINE];
	va_list args;

	if (l->error)
		return;
	l->error = error;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (l->taken == NNB__NOWHERE && l->graph)
		nnb_because(l->reason, "subgraph %u: %s", l->graph, text);
	else if (l->taken == NNB__NOWHERE)
		nnb_because(l->reason, "%s", text);
	else
		nnb_because(l->reason, "subgraph %u, operator %u (%s): %s", l->graph, l->taken,
		            nnb__tflite_describe(l, l->taken, line, sizeof(line)), text);
}

void nnb__tflite_check_form(struct nnb__loading *l)
{
	if (l->flat.wrong)
		nnb__tflite_wrong(l, -EINVAL, "byte %u: %s", l->flat.wrong_at, l->flat.wrong);
}

uint32_t nnb__tflite_keep_error(struct nnb__loading *l, int index)
{
	if (index >= 0)
		return (uint32_t)index;
	nnb__tflite_wrong(l, index, "%s", strerror(-index));
	return 0;
}

bool nnb__tflite_charge_list(struct nnb__loading *l, uint32_t n)
{
	l->listed += n;
	if (l->listed > LISTED)
		nnb__tflite_wrong(l, -EINVAL, "its lists have more than %d elements in total", LISTED);
	return !l->error;
}

/* ---- tensors ---- */

static const struct {
	uint8_t is;
	const char *name;
	uint32_t type; /* number of the HAL's type; 0: the HAL has no such type */
} types[] = {
	{ TFLITE_FLOAT32, "FLOAT32", NNB_TENSOR_FLOAT32 },
	{ TFLITE_FLOAT16, "FLOAT16", NNB_TENSOR_FLOAT16 },
	{ TFLITE_INT32, "INT32", NNB_TENSOR_INT32 },
	{ TFLITE_UINT8, "UINT8", NNB_TENSOR_QUANT8_ASYMM },
	{ TFLITE_INT64, "INT64", 0 },
	{ 5, "STRING", 0 },
	{ TFLITE_BOOL, "BOOL", NNB_TENSOR_BOOL8 },
	{ TFLITE_INT16, "INT16", NNB_TENSOR_QUANT16_SYMM },
	{ 8, "COMPLEX64", 0 },
	{ TFLITE_INT8, "INT8", NNB_TENSOR_QUANT8_ASYMM_SIGNED },
	{ 10, "FLOAT64", 0 },
	{ 13, "RESOURCE", 0 },
	{ 15, "UINT32", 0 },
	{ 16, "UINT16", 0 },
	{ 17, "INT4", 0 },
};

static bool tensor_exists(struct nnb__loading *l, int64_t tensor)
{
	if (tensor >= 0 && tensor < l->tensors.n)
		return true;
	nnb__tflite_wrong(l, -EINVAL, "there is no tensor %" PRId64, tensor);
	return false;
}

static struct nnb__flat_table table_of(struct nnb__loading *l, int64_t tensor)
{
	if (!tensor_exists(l, tensor))
		return (struct nnb__flat_table){ 0 };
	return nnb__flat_table_of(&l->flat, l->tensors, (uint32_t)tensor);
}

static char *tensor_name_of(struct nnb__loading *l, int64_t tensor, char to[LINE])
{
	struct nnb__flat_table t = { 0 };

	if (tensor >= 0 && tensor < l->tensors.n)
		t = nnb__flat_table_of(&l->flat, l->tensors, (uint32_t)tensor);
	return nnb__flat_line(&l->flat, t, TENSOR_NAME, to, LINE);
}

/* Read a tensor's shape. A scalar becomes a tensor of one element; an unknown extent becomes 0. */
static void read_shape(struct nnb__loading *l, struct nnb__flat_table t, int64_t tensor, struct nnb_operand *o)
{
	struct nnb__flat_vector shape = nnb__flat_vector(&l->flat, t, TENSOR_SHAPE, sizeof(int32_t));
	char name[LINE];

	if (shape.n > NNB_RANK_MAX) {
		nnb__tflite_wrong(l, -ENOTSUP, "tensor '%s' has rank %u, which is beyond %d",
		                  tensor_name_of(l, tensor, name), shape.n, NNB_RANK_MAX);
		return;
	}
	o->rank = shape.n;
	for (uint32_t d = 0; d < shape.n; d++) {
		int32_t extent = nnb__flat_i32_of(&l->flat, shape, d);

		o->dims[d] = extent > 0 ? (uint32_t)extent : 0;
	}
	if (!o->rank) {
		o->rank = 1;
		o->dims[0] = 1;
	}
}

/* Read a tensor's quantisation. A quantised type without a scale gets scale 1 and zero point 0. */
static void read_quantization(struct nnb__loading *l, struct nnb__flat_table t, int64_t tensor, struct nnb_operand *o)
{
	struct nnb__flat_table q = nnb__flat_table(&l->flat, t, TENSOR_QUANTIZATION);
	struct nnb__flat_vector scales = nnb__flat_vector(&l->flat, q, QUANTIZATION_SCALE, sizeof(float));
	struct nnb__flat_vector zeroes = nnb__flat_vector(&l->flat, q, QUANTIZATION_ZERO_POINT, sizeof(int64_t));
	const struct nnb_type_info *info = nnb_type_info(o->type);
	bool quantized = info && info->quantized;
	int64_t zero;
	char name[LINE];

	if (!quantized && o->type != NNB_TENSOR_INT32)
		return;
	if (scales.n > 1 && o->type == NNB_TENSOR_QUANT8_ASYMM_SIGNED) {
		o->type = NNB_TENSOR_QUANT8_SYMM_PER_CHANNEL;
		o->channel_dim = (uint32_t)nnb__flat_i32(&l->flat, q, QUANTIZATION_DIMENSION, 0);
		o->n_scales = scales.n;
		return;
	}
	if (scales.n > 1 && quantized) {
		nnb__tflite_wrong(l, -ENOTSUP, "tensor '%s' is quantised by channel, which only INT8 can be",
		                  tensor_name_of(l, tensor, name));
		return;
	}
	if (scales.n == 1)
		o->scale = nnb__flat_f32_of(&l->flat, scales, 0);
	else if (quantized)
		o->scale = 1;
	zero = zeroes.n == 1 ? nnb__flat_i64_of(&l->flat, zeroes, 0) : 0;
	/* validation refuses this value */
	o->zero_point = zero < INT32_MIN || zero > INT32_MAX ? INT32_MAX : (int32_t)zero;
}

bool nnb__tflite_tensor(struct nnb__loading *l, int64_t tensor, struct nnb_operand *ret)
{
	struct nnb__flat_table t = table_of(l, tensor);
	uint8_t type = nnb__flat_u8(&l->flat, t, TENSOR_TYPE, TFLITE_FLOAT32);
	size_t known = 0, n = sizeof(types) / sizeof(types[0]);
	char name[LINE];

	while (known < n && types[known].is != type)
		known++;
	*ret = (struct nnb_operand){ .type = known < n ? types[known].type : 0 };
	if (!l->error && nnb__flat_has(&l->flat, t, TENSOR_SPARSITY))
		nnb__tflite_wrong(l, -ENOTSUP, "tensor '%s' is sparse", tensor_name_of(l, tensor, name));
	if (type == TFLITE_INT64) /* only constants are accepted with this type */
		ret->type = NNB_TENSOR_INT32;
	if (!l->error && (!ret->type || !nnb_type_info(ret->type)))
		nnb__tflite_wrong(l, -ENOTSUP, "tensor '%s' is of type %s, which is not supported",
		                  tensor_name_of(l, tensor, name), known < n ? types[known].name : "another");
	if (!l->error)
		read_shape(l, t, tensor, ret);
	if (!l->error)
		read_quantization(l, t, tensor, ret);
	nnb__tflite_check_form(l);
	return !l->error;
}

/* ---- constants ---- */

/* The range of a constant's bytes in the file; length 0: the tensor is no constant. */
static struct nnb_location constant_stored(struct nnb__loading *l, int64_t tensor)
{
	uint32_t index = (uint32_t)nnb__flat_i32(&l->flat, table_of(l, tensor), TENSOR_BUFFER, 0);
	struct nnb__flat_table buffer = { 0 };
	struct nnb__flat_vector data;
	uint64_t offset, size;
	char name[LINE];

	if (index && index >= l->buffers.n)
		nnb__tflite_wrong(l, -EINVAL, "tensor '%s': there is no buffer %u", tensor_name_of(l, tensor, name),
		                  index);
	else if (index)
		buffer = nnb__flat_table_of(&l->flat, l->buffers, index);
	data = nnb__flat_vector(&l->flat, buffer, BUFFER_DATA, 1);
	offset = nnb__flat_u64(&l->flat, buffer, BUFFER_OFFSET, 0);
	size = nnb__flat_u64(&l->flat, buffer, BUFFER_SIZE, 0);
	nnb__tflite_check_form(l);
	if (data.n || offset <= 1 || !size)
		return (struct nnb_location){ .offset = data.at, .length = data.n };
	if (size > l->flat.n || offset > l->flat.n - size) {
		nnb__tflite_wrong(l, -EINVAL, "tensor '%s': its buffer is beyond the file",
		                  tensor_name_of(l, tensor, name));
		return (struct nnb_location){ 0 };
	}
	return (struct nnb_location){ .offset = (uint32_t)offset, .length = (uint32_t)size };
}

static uint64_t copies_most(const struct nnb__loading *l)
{
	return (uint64_t)COPIES * l->flat.n + COPIES_LEAST;
}

uint32_t nnb__tflite_zeroes(struct nnb__loading *l, const struct nnb_operand *operand, uint32_t n)
{
	uint64_t bytes = (uint64_t)n * 4;
	uint32_t index = 0;
	void *zeroes;

	if (bytes > copies_most(l)) /* before the memory is asked for */
		nnb__tflite_wrong(l, -EINVAL, "it has %u channels, which is beyond what a file of this size can say",
		                  n);
	if (l->error)
		return 0;
	zeroes = calloc(n + (size_t)1, 4);
	if (zeroes)
		index = nnb__tflite_constant(l, operand, zeroes, bytes);
	else
		nnb__tflite_keep_error(l, -ENOMEM);
	free(zeroes);
	return index;
}

uint32_t nnb__tflite_constant(struct nnb__loading *l, const struct nnb_operand *operand, const void *value,
                              uint64_t bytes)
{
	uint32_t index = l->error ? 0 : nnb__tflite_keep_error(l, nnb_model_operand(l->model, operand));

	if (bytes > NNB_COPY_MAX)
		l->copied += bytes;
	if (l->copied > copies_most(l))
		nnb__tflite_wrong(l, -EINVAL, "its constants overlap so much that their copies would outgrow it");
	if (!l->error)
		nnb__tflite_keep_error(l, nnb_model_value(l->model, index, value, (uint32_t)bytes));
	return index;
}

/* Does the file hold as many bytes as the shape needs? */
static bool file_holds(struct nnb__loading *l, int64_t tensor, const struct nnb_operand *o, uint32_t element,
                       uint32_t length)
{
	uint64_t want = element;
	char name[LINE];

	for (uint32_t d = 0; d < o->rank; d++)
		if (__builtin_mul_overflow(want, o->dims[d], &want))
			want = UINT64_MAX;
	if (!l->error && want != length)
		nnb__tflite_wrong(l, -EINVAL, "tensor '%s' has %u bytes, but its shape and type say %" PRIu64,
		                  tensor_name_of(l, tensor, name), length, want);
	return !l->error;
}

/* Add a constant of @n floats that the file stores in fewer bytes. */
static uint32_t constant_widened(struct nnb__loading *l, const struct nnb_operand *o, const float *values, uint32_t n)
{
	uint64_t bytes = (uint64_t)n * sizeof(*values);

	if (bytes > UINT32_MAX) {
		nnb__tflite_wrong(l, -ENOTSUP, "a constant would have %" PRIu64 " bytes as float32, beyond 4 GiB",
		                  bytes);
		return 0;
	}
	l->n_widened++;
	l->widened += bytes;
	return nnb__tflite_constant(l, o, values, bytes);
}

/* Convert constant @from, float16, to float32 operand @o. */
static uint32_t fold_half(struct nnb__loading *l, struct nnb_operand *o, int64_t from)
{
	struct nnb_location at = constant_stored(l, from);
	uint32_t n = at.length / 2, operand = 0;
	float *values = NULL;

	if (!file_holds(l, from, o, 2, at.length))
		return 0;
	values = malloc((size_t)n * sizeof(*values) + 1);
	for (uint32_t i = 0; values && i < n; i++) {
		uint16_t half;

		memcpy(&half, l->flat.bytes + at.offset + (size_t)2 * i, sizeof(half));
		values[i] = nnb_half_to_float(half);
	}
	if (values)
		operand = constant_widened(l, o, values, n);
	else
		nnb__tflite_keep_error(l, -ENOMEM);
	free(values);
	return operand;
}

/* Convert 64-bit integers to 32 bits: the HAL has no 64-bit tensors. */
static int32_t *constant_narrowed(struct nnb__loading *l, int64_t tensor, struct nnb_location at, uint32_t *ret_n)
{
	uint32_t n = at.length / 8;
	int32_t *values = malloc((size_t)n * sizeof(*values) + 1);
	char name[LINE];

	if (!values)
		nnb__tflite_keep_error(l, -ENOMEM);
	for (uint32_t i = 0; values && i < n; i++) {
		int64_t value;

		memcpy(&value, l->flat.bytes + at.offset + (size_t)8 * i, sizeof(value));
		values[i] = (int32_t)value;
		if (value != values[i])
			nnb__tflite_wrong(l, -ENOTSUP, "tensor '%s' holds %" PRId64 ", which is beyond 32 bits",
			                  tensor_name_of(l, tensor, name), value);
	}
	*ret_n = n;
	return values;
}

static bool is_wide(struct nnb__loading *l, int64_t tensor)
{
	return nnb__flat_u8(&l->flat, table_of(l, tensor), TENSOR_TYPE, TFLITE_FLOAT32) == TFLITE_INT64;
}

/* Add the scales of a type that is quantised by channel. Every zero point must be 0. */
static void give_scales(struct nnb__loading *l, int64_t tensor, const struct nnb_operand *o, uint32_t operand)
{
	struct nnb__flat_table q = nnb__flat_table(&l->flat, table_of(l, tensor), TENSOR_QUANTIZATION);
	struct nnb__flat_vector from = nnb__flat_vector(&l->flat, q, QUANTIZATION_SCALE, sizeof(float));
	struct nnb__flat_vector zeroes = nnb__flat_vector(&l->flat, q, QUANTIZATION_ZERO_POINT, sizeof(int64_t));
	float *scales;

	if (!o->n_scales || !nnb__tflite_charge_list(l, from.n + zeroes.n))
		return;
	for (uint32_t i = 0; i < zeroes.n; i++)
		if (nnb__flat_i64_of(&l->flat, zeroes, i))
			nnb__tflite_wrong(l, -ENOTSUP, "channel %u has a zero point that is not 0", i);
	scales = malloc((from.n + (size_t)1) * sizeof(*scales));
	for (uint32_t i = 0; scales && i < from.n; i++)
		scales[i] = nnb__flat_f32_of(&l->flat, from, i);
	if (!scales)
		nnb__tflite_keep_error(l, -ENOMEM);
	else if (!l->error)
		nnb__tflite_keep_error(l, nnb_model_channels(l->model, operand, o->channel_dim, scales, from.n));
	free(scales);
}

static uint32_t refer_to_file(struct nnb__loading *l, const struct nnb_operand *o, struct nnb_location at)
{
	uint32_t index = nnb__tflite_keep_error(l, nnb_model_operand(l->model, o));

	if (!l->error && l->pool == NNB__NOWHERE)
		l->pool = nnb__tflite_keep_error(l, nnb_model_pool(l->model, l->file));
	if (!l->error)
		nnb__tflite_keep_error(l, nnb_model_reference(l->model, index, l->pool, at.offset, at.length));
	return index;
}

static uint32_t make_operand(struct nnb__loading *l, int64_t tensor)
{
	struct nnb_location at = constant_stored(l, tensor);
	struct nnb_operand o;
	char name[LINE];

	if (l->error || !nnb__tflite_tensor(l, tensor, &o))
		return 0;
	if (l->tensor[tensor].half != NNB__NOWHERE)
		return fold_half(l, &o, l->tensor[tensor].half);
	if (at.length) {
		bool wide = is_wide(l, tensor);
		uint32_t operand = 0, n;
		int32_t *values;

		if (!file_holds(l, tensor, &o, wide ? 8 : nnb_type_info(o.type)->bytes, at.length))
			return 0;
		if (!wide) {
			operand = at.length > NNB_COPY_MAX
			                  ? refer_to_file(l, &o, at)
			                  : nnb__tflite_constant(l, &o, l->flat.bytes + at.offset, at.length);
			if (!l->error)
				give_scales(l, tensor, &o, operand);
			return operand;
		}
		values = constant_narrowed(l, tensor, at, &n);
		if (!l->error)
			operand = nnb__tflite_constant(l, &o, values, (uint64_t)n * sizeof(*values));
		free(values);
		return operand;
	}
	if (nnb__flat_u8(&l->flat, table_of(l, tensor), TENSOR_IS_VARIABLE, 0))
		nnb__tflite_wrong(l, -ENOTSUP,
		                  "tensor '%s' keeps its value from run to run, and here runs keep nothing",
		                  tensor_name_of(l, tensor, name));
	else if (is_wide(l, tensor))
		nnb__tflite_wrong(l, -ENOTSUP, "tensor '%s' is of type INT64, and no constant",
		                  tensor_name_of(l, tensor, name));
	return l->error ? 0 : nnb__tflite_keep_error(l, nnb_model_operand(l->model, &o));
}

uint32_t nnb__tflite_operand(struct nnb__loading *l, int64_t tensor)
{
	uint32_t operand;

	if (!tensor_exists(l, tensor) || l->error)
		return 0;
	if (l->tensor[tensor].operand != NNB__NOWHERE)
		return l->tensor[tensor].operand;
	operand = make_operand(l, tensor);
	if (!l->error)
		l->tensor[tensor].operand = operand;
	return operand;
}

/* The scaling of a constant of bytes: one scale, or one scale for each slice of a dimension. */
struct scaling {
	struct nnb__flat_vector scales, zeroes;
	uint32_t channels, slice; /* number of consecutive elements with one scale */
};

static struct scaling scaling_of(struct nnb__loading *l, int64_t tensor, const struct nnb_operand *o)
{
	struct nnb__flat_table q = nnb__flat_table(&l->flat, table_of(l, tensor), TENSOR_QUANTIZATION);
	struct scaling s = { .scales = nnb__flat_vector(&l->flat, q, QUANTIZATION_SCALE, sizeof(float)),
		             .zeroes = nnb__flat_vector(&l->flat, q, QUANTIZATION_ZERO_POINT, sizeof(int64_t)),
		             .slice = 1 };
	uint32_t dim = o->n_scales ? o->channel_dim : 0;
	char name[LINE];

	s.channels = s.scales.n;
	for (uint32_t d = dim + 1; d < o->rank; d++)
		s.slice *= o->dims[d]; /* cannot wrap: file_holds has compared the product with the file's bytes */
	if (!s.channels || (s.channels > 1 && (dim >= o->rank || o->dims[dim] != s.channels)))
		nnb__tflite_wrong(l, -EINVAL, "tensor '%s' has %u scales, which do not go with its shape",
		                  tensor_name_of(l, tensor, name), s.channels);
	nnb__tflite_charge_list(l, s.scales.n + s.zeroes.n);
	return s;
}

static float scaled_value(struct nnb__loading *l, const struct scaling *s, uint32_t element, int32_t raw)
{
	uint32_t channel = s->channels > 1 ? element / s->slice % s->channels : 0;
	float scale = nnb__flat_f32_of(&l->flat, s->scales, channel);
	int64_t zero = s->zeroes.n == s->channels ? nnb__flat_i64_of(&l->flat, s->zeroes, channel) : 0;

	if (!(scale > 0) || isinf(scale) || zero < -128 || zero > 255) {
		nnb__tflite_wrong(l, -EINVAL, "its weights have a scale of %g and a zero point of %" PRId64,
		                  (double)scale, zero);
		return 0;
	}
	return scale * (float)(raw - zero);
}

static uint32_t bytes_as_reals(struct nnb__loading *l, int64_t tensor, const struct nnb_operand *o,
                               struct nnb_location at)
{
	struct nnb_operand real = { .type = NNB_TENSOR_FLOAT32, .rank = o->rank };
	bool is_unsigned = o->type == NNB_TENSOR_QUANT8_ASYMM;
	struct scaling s = { .channels = 0 };
	uint32_t operand = 0;
	float *values = NULL;

	memcpy(real.dims, o->dims, sizeof(real.dims));
	if (file_holds(l, tensor, o, 1, at.length))
		s = scaling_of(l, tensor, o);
	if (l->error)
		return 0;
	values = malloc(at.length * sizeof(*values) + 1);
	for (uint32_t i = 0; values && !l->error && i < at.length; i++) {
		uint8_t byte = l->flat.bytes[at.offset + i];

		values[i] = scaled_value(l, &s, i, is_unsigned ? byte : (int8_t)byte);
	}
	if (values)
		operand = constant_widened(l, &real, values, at.length);
	else
		nnb__tflite_keep_error(l, -ENOMEM);
	free(values);
	return operand;
}

uint32_t nnb__tflite_reals(struct nnb__loading *l, int64_t tensor)
{
	struct nnb_location at = constant_stored(l, tensor);
	struct nnb_operand o;

	if (l->error || !nnb__tflite_tensor(l, tensor, &o))
		return 0;
	if (!at.length || (o.type != NNB_TENSOR_QUANT8_ASYMM && o.type != NNB_TENSOR_QUANT8_ASYMM_SIGNED &&
	                   o.type != NNB_TENSOR_QUANT8_SYMM_PER_CHANNEL))
		return nnb__tflite_operand(l, tensor);
	if (l->tensor[tensor].reals == NNB__NOWHERE) {
		uint32_t operand = bytes_as_reals(l, tensor, &o, at);

		if (!l->error)
			l->tensor[tensor].reals = operand;
		return operand;
	}
	return l->tensor[tensor].reals;
}

uint32_t nnb__tflite_integers(struct nnb__loading *l, int64_t tensor, int32_t *to, uint32_t room)
{
	struct nnb_location at = constant_stored(l, tensor);
	struct nnb_operand o = { 0 };
	bool wide = is_wide(l, tensor);
	int32_t *values = NULL;
	char name[LINE];
	uint32_t n = at.length / 4;

	if (l->error || !nnb__tflite_tensor(l, tensor, &o))
		return 0;
	if (!at.length || o.type != NNB_TENSOR_INT32)
		nnb__tflite_wrong(l, -ENOTSUP, "tensor '%s' is no constant of integers",
		                  tensor_name_of(l, tensor, name));
	else if (file_holds(l, tensor, &o, wide ? 8 : 4, at.length) && wide)
		values = constant_narrowed(l, tensor, at, &n);
	if (!l->error && n > room)
		nnb__tflite_wrong(l, -ENOTSUP, "tensor '%s' has %u elements, and not at most %u",
		                  tensor_name_of(l, tensor, name), n, room);
	if (!l->error)
		memcpy(to, values ? (const void *)values : l->flat.bytes + at.offset, (size_t)n * sizeof(*to));
	free(values);
	return l->error ? 0 : n;
}
