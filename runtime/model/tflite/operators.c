/*
 * operators.c -- converts TFLite's operators to the HAL's operations: a table with a row for each. The converters are
 * in take_*.c, one file for each kind of operator.
 *
 * An operator without a row is refused, and so is an operator whose options the HAL cannot express, such as a fused
 * tanh. The HAL's scalars are options of a TFLite operator, or constants that are read here.
 */
#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "model/tflite/taking.h"

enum { MORE = 16 /* maximum number of operands that a converter adds to the operator's inputs */ };

enum { KINDS = 6, KIND = 72 }; /* refused kinds of operators that are listed, and the length of their description */

/* ---- the table ---- */

/* clang-format off */
static const struct row rows[] = {
	{ 0, "ADD", NNB_ADD, ADD_OPTIONS, nnb__take_fused },
	{ 1, "AVERAGE_POOL_2D", NNB_AVERAGE_POOL_2D, POOL_OPTIONS, nnb__take_pool },
	{ 2, "CONCATENATION", NNB_CONCATENATION, CONCATENATION_OPTIONS, nnb__take_concatenation },
	{ 3, "CONV_2D", NNB_CONV_2D, CONV_OPTIONS, nnb__take_conv },
	{ 4, "DEPTHWISE_CONV_2D", NNB_DEPTHWISE_CONV_2D, DEPTHWISE_OPTIONS, nnb__take_depthwise },
	{ 5, "DEPTH_TO_SPACE", NNB_DEPTH_TO_SPACE, DEPTH_TO_SPACE_OPTIONS, nnb__take_block },
	{ 6, "DEQUANTIZE", NNB_DEQUANTIZE, NO_OPTIONS, nnb__take_dequantize },
	{ 7, "EMBEDDING_LOOKUP", NNB_EMBEDDING_LOOKUP, NO_OPTIONS, nnb__take_embedding },
	{ 8, "FLOOR", NNB_FLOOR, NO_OPTIONS, nnb__take_plain },
	{ 9, "FULLY_CONNECTED", NNB_FULLY_CONNECTED, FULLY_CONNECTED_OPTIONS, nnb__take_fully_connected },
	{ 10, "HASHTABLE_LOOKUP", NNB_HASHTABLE_LOOKUP, NO_OPTIONS, nnb__take_plain },
	{ 11, "L2_NORMALIZATION", NNB_L2_NORMALIZATION, L2_NORMALIZATION_OPTIONS, nnb__take_l2_normalization },
	{ 12, "L2_POOL_2D", NNB_L2_POOL_2D, POOL_OPTIONS, nnb__take_pool },
	{ 13, "LOCAL_RESPONSE_NORMALIZATION", NNB_LOCAL_RESPONSE_NORMALIZATION, LOCAL_RESPONSE_OPTIONS, nnb__take_local_response },
	{ 14, "LOGISTIC", NNB_LOGISTIC, NO_OPTIONS, nnb__take_plain },
	{ 17, "MAX_POOL_2D", NNB_MAX_POOL_2D, POOL_OPTIONS, nnb__take_pool },
	{ 18, "MUL", NNB_MUL, MUL_OPTIONS, nnb__take_fused },
	{ 19, "RELU", NNB_RELU, NO_OPTIONS, nnb__take_plain },
	{ 20, "RELU_N1_TO_1", NNB_RELU1, NO_OPTIONS, nnb__take_plain },
	{ 21, "RELU6", NNB_RELU6, NO_OPTIONS, nnb__take_plain },
	{ 22, "RESHAPE", NNB_RESHAPE, RESHAPE_OPTIONS, nnb__take_reshape },
	{ 23, "RESIZE_BILINEAR", NNB_RESIZE_BILINEAR, RESIZE_BILINEAR_OPTIONS, nnb__take_resize_bilinear },
	{ 25, "SOFTMAX", NNB_SOFTMAX, SOFTMAX_OPTIONS, nnb__take_softmax },
	{ 26, "SPACE_TO_DEPTH", NNB_SPACE_TO_DEPTH, SPACE_TO_DEPTH_OPTIONS, nnb__take_block },
	{ 28, "TANH", NNB_TANH, NO_OPTIONS, nnb__take_plain },
	{ 34, "PAD", NNB_PAD, NO_OPTIONS, nnb__take_plain },
	{ 36, "GATHER", NNB_GATHER, GATHER_OPTIONS, nnb__take_gather },
	{ 37, "BATCH_TO_SPACE_ND", NNB_BATCH_TO_SPACE_ND, NO_OPTIONS, nnb__take_batch_to_space },
	{ 38, "SPACE_TO_BATCH_ND", NNB_SPACE_TO_BATCH_ND, NO_OPTIONS, nnb__take_plain },
	{ 39, "TRANSPOSE", NNB_TRANSPOSE, NO_OPTIONS, nnb__take_plain },
	{ 40, "MEAN", NNB_MEAN, REDUCER_OPTIONS, nnb__take_mean },
	{ 41, "SUB", NNB_SUB, SUB_OPTIONS, nnb__take_fused },
	{ 42, "DIV", NNB_DIV, DIV_OPTIONS, nnb__take_fused },
	{ 43, "SQUEEZE", NNB_RESHAPE, NO_OPTIONS, nnb__take_reshaped },
	{ 45, "STRIDED_SLICE", NNB_STRIDED_SLICE, STRIDED_SLICE_OPTIONS, nnb__take_strided_slice },
	{ 47, "EXP", NNB_EXP, NO_OPTIONS, nnb__take_plain },
	{ 48, "TOPK_V2", NNB_TOPK_V2, NO_OPTIONS, nnb__take_numbered },
	{ 49, "SPLIT", NNB_SPLIT, SPLIT_OPTIONS, nnb__take_split },
	{ 50, "LOG_SOFTMAX", NNB_LOG_SOFTMAX, NO_OPTIONS, nnb__take_log_softmax },
	{ 53, "CAST", NNB_CAST, NO_OPTIONS, nnb__take_plain },
	{ 54, "PRELU", NNB_PRELU, NO_OPTIONS, nnb__take_plain },
	{ 55, "MAXIMUM", NNB_MAXIMUM, NO_OPTIONS, nnb__take_plain },
	{ 56, "ARG_MAX", NNB_ARGMAX, NO_OPTIONS, nnb__take_numbered },
	{ 57, "MINIMUM", NNB_MINIMUM, NO_OPTIONS, nnb__take_plain },
	{ 58, "LESS", NNB_LESS, NO_OPTIONS, nnb__take_plain },
	{ 59, "NEG", NNB_NEG, NO_OPTIONS, nnb__take_plain },
	{ 60, "PADV2", NNB_PAD_V2, NO_OPTIONS, nnb__take_pad_with },
	{ 61, "GREATER", NNB_GREATER, NO_OPTIONS, nnb__take_plain },
	{ 62, "GREATER_EQUAL", NNB_GREATER_EQUAL, NO_OPTIONS, nnb__take_plain },
	{ 63, "LESS_EQUAL", NNB_LESS_EQUAL, NO_OPTIONS, nnb__take_plain },
	{ 64, "SELECT", NNB_SELECT, NO_OPTIONS, nnb__take_plain },
	{ 65, "SLICE", NNB_SLICE, NO_OPTIONS, nnb__take_plain },
	{ 66, "SIN", NNB_SIN, NO_OPTIONS, nnb__take_plain },
	{ 67, "TRANSPOSE_CONV", NNB_TRANSPOSE_CONV_2D, TRANSPOSE_CONV_OPTIONS, nnb__take_transpose_conv },
	{ 69, "TILE", NNB_TILE, NO_OPTIONS, nnb__take_plain },
	{ 70, "EXPAND_DIMS", NNB_RESHAPE, NO_OPTIONS, nnb__take_reshaped },
	{ 71, "EQUAL", NNB_EQUAL, NO_OPTIONS, nnb__take_plain },
	{ 72, "NOT_EQUAL", NNB_NOT_EQUAL, NO_OPTIONS, nnb__take_plain },
	{ 73, "LOG", NNB_LOG, NO_OPTIONS, nnb__take_plain },
	{ 74, "SUM", NNB_REDUCE_SUM, REDUCER_OPTIONS, nnb__take_reduce },
	{ 75, "SQRT", NNB_SQRT, NO_OPTIONS, nnb__take_plain },
	{ 76, "RSQRT", NNB_RSQRT, NO_OPTIONS, nnb__take_plain },
	{ 78, "POW", NNB_POW, NO_OPTIONS, nnb__take_plain },
	{ 79, "ARG_MIN", NNB_ARGMIN, NO_OPTIONS, nnb__take_numbered },
	{ 81, "REDUCE_PROD", NNB_REDUCE_PROD, REDUCER_OPTIONS, nnb__take_reduce },
	{ 82, "REDUCE_MAX", NNB_REDUCE_MAX, REDUCER_OPTIONS, nnb__take_reduce },
	{ 84, "LOGICAL_OR", NNB_LOGICAL_OR, NO_OPTIONS, nnb__take_plain },
	{ 86, "LOGICAL_AND", NNB_LOGICAL_AND, NO_OPTIONS, nnb__take_plain },
	{ 87, "LOGICAL_NOT", NNB_LOGICAL_NOT, NO_OPTIONS, nnb__take_plain },
	{ 89, "REDUCE_MIN", NNB_REDUCE_MIN, REDUCER_OPTIONS, nnb__take_reduce },
	{ 91, "REDUCE_ANY", NNB_REDUCE_ANY, REDUCER_OPTIONS, nnb__take_reduce },
	{ 92, "SQUARE", NNB_MUL, NO_OPTIONS, nnb__take_square },
	{ 97, "RESIZE_NEAREST_NEIGHBOR", NNB_RESIZE_NEAREST_NEIGHBOR, RESIZE_NEAREST_OPTIONS, nnb__take_resize_nearest },
	{ 98, "LEAKY_RELU", NNB_PRELU, LEAKY_RELU_OPTIONS, nnb__take_leaky_relu },
	{ 101, "ABS", NNB_ABS, NO_OPTIONS, nnb__take_plain },
	{ 111, "ELU", NNB_ELU, NO_OPTIONS, nnb__take_elu },
	{ 114, "QUANTIZE", NNB_QUANTIZE, NO_OPTIONS, nnb__take_plain },
	{ 117, "HARD_SWISH", NNB_HARD_SWISH, NO_OPTIONS, nnb__take_plain },
	{ TFLITE_IF, "IF", NNB_IF, IF_OPTIONS, nnb__take_if },
	{ TFLITE_WHILE, "WHILE", NNB_WHILE, WHILE_OPTIONS, nnb__take_while },
	{ 140, "REDUCE_ALL", NNB_REDUCE_ALL, REDUCER_OPTIONS, nnb__take_reduce },
};

/* Names of other operators found in files, for the error message. */
static const struct {
	uint8_t code;
	const char *name;
} others[] = {
	{ 15, "LSH_PROJECTION" }, { 16, "LSTM" }, { 24, "RNN" }, { 27, "SVDF" }, { 29, "CONCAT_EMBEDDINGS" }, { 30, "SKIP_GRAM" },
	{ 31, "CALL" }, { 33, "EMBEDDING_LOOKUP_SPARSE" }, { 35, "UNIDIRECTIONAL_SEQUENCE_RNN" },
	{ 44, "UNIDIRECTIONAL_SEQUENCE_LSTM" }, { 46, "BIDIRECTIONAL_SEQUENCE_RNN" }, { 51, "DELEGATE" },
	{ 52, "BIDIRECTIONAL_SEQUENCE_LSTM" }, { 68, "SPARSE_TO_DENSE" }, { 77, "SHAPE" }, { 80, "FAKE_QUANT" }, { 83, "PACK" },
	{ 85, "ONE_HOT" }, { 88, "UNPACK" }, { 90, "FLOOR_DIV" }, { 93, "ZEROS_LIKE" }, { 94, "FILL" }, { 95, "FLOOR_MOD" },
	{ 96, "RANGE" }, { 99, "SQUARED_DIFFERENCE" }, { 100, "MIRROR_PAD" }, { 102, "SPLIT_V" }, { 103, "UNIQUE" },
	{ 104, "CEIL" }, { 105, "REVERSE_V2" }, { 106, "ADD_N" }, { 107, "GATHER_ND" }, { 108, "COS" }, { 109, "WHERE" },
	{ 110, "RANK" }, { 112, "REVERSE_SEQUENCE" }, { 113, "MATRIX_DIAG" }, { 115, "MATRIX_SET_DIAG" }, { 116, "ROUND" },
	{ 120, "NON_MAX_SUPPRESSION_V4" }, { 121, "NON_MAX_SUPPRESSION_V5" },
	{ 122, "SCATTER_ND" }, { 123, "SELECT_V2" }, { 124, "DENSIFY" }, { 125, "SEGMENT_SUM" }, { 126, "BATCH_MATMUL" },
	{ 128, "CUMSUM" }, { 129, "CALL_ONCE" }, { 130, "BROADCAST_TO" }, { 131, "RFFT2D" }, { 132, "CONV_3D" },
	{ 142, "VAR_HANDLE" }, { 143, "READ_VARIABLE" }, { 144, "ASSIGN_VARIABLE" }, { 145, "BROADCAST_ARGS" }, { 150, "GELU" },
	{ 151, "DYNAMIC_UPDATE_SLICE" }, { 152, "RELU_0_TO_1" },
};
/* clang-format on */

static struct nnb__flat_table operator_at(struct nnb__loading *l, uint32_t i)
{
	return nnb__flat_table_of(&l->flat, l->operators, i);
}

static struct nnb__flat_table code_table_of(struct nnb__loading *l, struct nnb__flat_table taken)
{
	uint32_t index = (uint32_t)nnb__flat_i32(&l->flat, taken, OPERATOR_CODE, 0);

	if (index >= l->codes.n) {
		nnb__tflite_wrong(l, -EINVAL, "there is no operator code %u", index);
		return (struct nnb__flat_table){ 0 };
	}
	return nnb__flat_table_of(&l->flat, l->codes, index);
}

/* The number of an operator. Files from before TFLite had more than 127 operators store it in another field. */
static int32_t code_of(struct nnb__loading *l, struct nnb__flat_table code)
{
	int32_t now = nnb__flat_i32(&l->flat, code, CODE_BUILTIN, 0),
		before = (int8_t)nnb__flat_u8(&l->flat, code, CODE_DEPRECATED, 0);

	return now > before ? now : before;
}

static const struct row *row_of(int32_t code)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (rows[i].code == code)
			return &rows[i];
	return NULL;
}

static void name_code(struct nnb__loading *l, struct nnb__flat_table code, char *to, uint32_t room)
{
	int32_t is = code_of(l, code);
	char custom[48];
	int n = 0;

	if (is == TFLITE_CUSTOM)
		n = snprintf(to, room, "custom operator %s",
		             nnb__flat_line(&l->flat, code, CODE_CUSTOM, custom, sizeof(custom)));
	for (size_t i = 0; !n && i < sizeof(rows) / sizeof(rows[0]); i++)
		if (rows[i].code == is)
			n = snprintf(to, room, "%s", rows[i].name);
	for (size_t i = 0; !n && i < sizeof(others) / sizeof(others[0]); i++)
		if (others[i].code == is)
			n = snprintf(to, room, "%s", others[i].name);
	if (!n)
		snprintf(to, room, "operator %" PRId32, is);
}

char *nnb__tflite_describe(struct nnb__loading *l, uint32_t which, char *to, uint32_t room)
{
	struct nnb__flat_table o = operator_at(l, which), t = { 0 };
	struct nnb__flat_vector outputs = nnb__flat_vector(&l->flat, o, OPERATOR_OUTPUTS, sizeof(int32_t));
	uint32_t index = (uint32_t)nnb__flat_i32(&l->flat, o, OPERATOR_CODE, 0);
	int32_t out = outputs.n ? nnb__flat_i32_of(&l->flat, outputs, 0) : -1;
	char kind[KIND] = "of no code", name[64];

	if (index < l->codes.n)
		name_code(l, nnb__flat_table_of(&l->flat, l->codes, index), kind, sizeof(kind));
	if (out >= 0 && (uint32_t)out < l->tensors.n)
		t = nnb__flat_table_of(&l->flat, l->tensors, (uint32_t)out);
	snprintf(to, room, "%s, which gives '%s'", kind, nnb__flat_line(&l->flat, t, TENSOR_NAME, name, sizeof(name)));
	return to;
}

/* ---- refused operators ---- */

/* The operators that cannot be converted, by description. */
struct refused {
	uint32_t first, n, n_kinds;
	struct {
		char name[KIND];
		uint32_t n;
	} kinds[KINDS];
};

static void refused_count(struct nnb__loading *l, struct refused *r, uint32_t which, struct nnb__flat_table code)
{
	char name[KIND];
	uint32_t k = 0;

	if (!r->n++)
		r->first = which;
	name_code(l, code, name, sizeof(name));
	while (k < r->n_kinds && strcmp(r->kinds[k].name, name) != 0)
		k++;
	if (k == KINDS)
		return;
	if (k == r->n_kinds) {
		strcpy(r->kinds[r->n_kinds++].name, name);
		r->kinds[k].n = 0;
	}
	r->kinds[k].n++;
}

/* ---- all operators ---- */

static bool is_half_constant(struct nnb__loading *l, int64_t tensor)
{
	struct nnb__flat_table t = nnb__flat_table_of(&l->flat, l->tensors, (uint32_t)tensor), b = { 0 };
	uint32_t buffer = (uint32_t)nnb__flat_i32(&l->flat, t, TENSOR_BUFFER, 0);

	if (nnb__flat_u8(&l->flat, t, TENSOR_TYPE, TFLITE_FLOAT32) != TFLITE_FLOAT16 || !buffer ||
	    buffer >= l->buffers.n)
		return false;
	b = nnb__flat_table_of(&l->flat, l->buffers, buffer);
	return nnb__flat_vector(&l->flat, b, BUFFER_DATA, 1).n || nnb__flat_u64(&l->flat, b, BUFFER_OFFSET, 0) > 1;
}

static bool is_float32(struct nnb__loading *l, int64_t tensor)
{
	struct nnb__flat_table t = nnb__flat_table_of(&l->flat, l->tensors, (uint32_t)tensor);

	return nnb__flat_u8(&l->flat, t, TENSOR_TYPE, TFLITE_FLOAT32) == TFLITE_FLOAT32;
}

static void take_operator(struct nnb__loading *l, uint32_t i)
{
	struct nnb__flat_table o = operator_at(l, i);
	struct taking t = { .l = l, .row = row_of(code_of(l, code_table_of(l, o))) };
	uint8_t options = nnb__flat_u8(&l->flat, o, OPERATOR_OPTIONS_TYPE, 0);

	l->taken = i;
	t.inputs = nnb__flat_vector(&l->flat, o, OPERATOR_INPUTS, sizeof(int32_t));
	t.outputs = nnb__flat_vector(&l->flat, o, OPERATOR_OUTPUTS, sizeof(int32_t));
	nnb__tflite_check_form(l);
	if (l->error || !nnb__tflite_charge_list(l, t.inputs.n + t.outputs.n) || !t.row)
		return;
	if (t.row->options && options == t.row->options)
		t.options = nnb__flat_table(&l->flat, o, OPERATOR_OPTIONS);
	else if (t.row->options && options)
		nnb__tflite_wrong(l, -EINVAL, "its options are those of another operator");
	t.room = t.inputs.n + MORE;
	t.list = malloc(t.room * sizeof(*t.list));
	if (t.list)
		t.row->take(&t);
	else
		nnb__tflite_keep_error(l, -ENOMEM);
	nnb__tflite_check_form(l);
	free(t.list);
	l->taken = NNB__NOWHERE;
}

void nnb__tflite_mark_run(struct nnb__loading *l, bool *runs)
{
	for (uint32_t i = 0; !l->error && i < l->operators.n; i++) {
		struct nnb__flat_table o = operator_at(l, i), options;
		uint8_t type = nnb__flat_u8(&l->flat, o, OPERATOR_OPTIONS_TYPE, 0);

		if (type != IF_OPTIONS && type != WHILE_OPTIONS)
			continue;
		options = nnb__flat_table(&l->flat, o, OPERATOR_OPTIONS);
		static_assert((int)IF_THEN == WHILE_CONDITION && (int)IF_ELSE == WHILE_BODY, "one pair of fields");
		for (unsigned field = IF_THEN; field <= IF_ELSE; field++) {
			int32_t graph = nnb__flat_i32(&l->flat, options, field, 0);

			if (graph >= 0 && (uint32_t)graph < l->graphs.n)
				runs[graph] = true;
		}
	}
	nnb__tflite_check_form(l);
}

void nnb__tflite_operators(struct nnb__loading *l)
{
	struct refused refused = { .n = 0 };
	bool charged;

	/* Check that each operator has a row. */
	for (uint32_t i = 0; !l->error && i < l->operators.n; i++) {
		struct nnb__flat_table o = operator_at(l, i), code = code_table_of(l, o);

		if (!row_of(code_of(l, code)))
			refused_count(l, &refused, i, code);
		nnb__tflite_check_form(l);
	}
	if (refused.n && !l->error) {
		char kinds[160] = "";
		size_t at = 0;

		for (uint32_t k = 0; k < refused.n_kinds && at < sizeof(kinds); k++)
			at += (size_t)snprintf(kinds + at, sizeof(kinds) - at, "%s%s (%u)", k ? ", " : "",
			                       refused.kinds[k].name, refused.kinds[k].n);
		l->taken = refused.first;
		nnb__tflite_wrong(l, -ENOTSUP, "not supported; %u of its %u operators are; these are not: %s",
		                  l->operators.n - refused.n, l->operators.n, kinds);
	}
	/* Find the tensors that are float16 constants converted to float32; outputs stay as they are. */
	charged = nnb__tflite_charge_list(l, l->outputs.n);
	for (uint32_t i = 0; charged && i < l->outputs.n; i++) {
		int64_t tensor = nnb__flat_i32_of(&l->flat, l->outputs, i);

		if (tensor >= 0 && tensor < l->tensors.n)
			l->tensor[tensor].is_output = true;
	}
	for (uint32_t i = 0; !l->error && i < l->operators.n; i++) {
		struct nnb__flat_table o = operator_at(l, i);
		struct nnb__flat_vector in = nnb__flat_vector(&l->flat, o, OPERATOR_INPUTS, sizeof(int32_t));
		struct nnb__flat_vector out = nnb__flat_vector(&l->flat, o, OPERATOR_OUTPUTS, sizeof(int32_t));
		int64_t from, to;

		if (in.n != 1 || out.n != 1 || code_of(l, code_table_of(l, o)) != TFLITE_DEQUANTIZE)
			continue;
		from = nnb__flat_i32_of(&l->flat, in, 0);
		to = nnb__flat_i32_of(&l->flat, out, 0);
		if (from >= 0 && from < l->tensors.n && to >= 0 && to < l->tensors.n && !l->tensor[to].is_output &&
		    is_half_constant(l, from) && is_float32(l, to))
			l->tensor[to].half = (uint32_t)from;
	}
	nnb__tflite_check_form(l);
	for (uint32_t i = 0; !l->error && i < l->operators.n; i++)
		take_operator(l, i);
}
