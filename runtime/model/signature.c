/* signature.c -- how many operands of which types an operation has, and how their quantisations relate. */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "model/ops.h"
#include "model/reason.h"

/*
 * A form is one letter an operand:
 *   i, f      INT32 and FLOAT32 scalars
 *   F, I, Q   float32, int32, quant8 tensors          *  any tensor
 *   x         the operation's own type, one of those in "own", the same for every x
 *   b         the bias of x: float32 of float32, int32 of quant8
 *   ?         the operand before may be left out      +  the operand before may be repeated
 */
struct signature {
	uint32_t op;
	const char *own;
	const char *inputs[2]; /* the forms; the first that has the right number of operands is meant */
	const char *outputs;
	int (*relations)(const struct nnb_model *model, const struct nnb_operation *op, struct nnb_reason *reason);
};

static const struct nnb_operand *in(const struct nnb_model *m, const struct nnb_operation *op, uint32_t k)
{
	return &m->operands[op->inputs[k]];
}

static const struct nnb_operand *out(const struct nnb_model *m, const struct nnb_operation *op, uint32_t k)
{
	return &m->operands[op->outputs[k]];
}

/* ---- relations between quantisations ---- */

static bool is_quant(const struct nnb_operand *o)
{
	return o->type == NNB_TENSOR_QUANT8_ASYMM;
}

static int quantised_as(const struct nnb_operand *o, float scale, int32_t zero_point, struct nnb_reason *reason)
{
	if (!is_quant(o) || (o->scale == scale && o->zero_point == zero_point))
		return 0;
	nnb_because(reason, "the output is quantised by %g and %d, not by %g and %d", (double)o->scale, o->zero_point,
	            (double)scale, zero_point);
	return -EINVAL;
}

/* Output 0 keeps the quantisation of the tensor it comes from. */
static int keeps(const struct nnb_model *m, const struct nnb_operation *op, struct nnb_reason *reason)
{
	return quantised_as(out(m, op, 0), in(m, op, 0)->scale, in(m, op, 0)->zero_point, reason);
}

static int keeps_values(const struct nnb_model *m, const struct nnb_operation *op, struct nnb_reason *reason)
{
	uint32_t values = op->type == NNB_HASHTABLE_LOOKUP ? 2 : 1;
	int r = quantised_as(out(m, op, 0), in(m, op, values)->scale, in(m, op, values)->zero_point, reason);

	return !r && op->type == NNB_HASHTABLE_LOOKUP ? quantised_as(out(m, op, 1), 1, 0, reason) : r;
}

static int concatenates(const struct nnb_model *m, const struct nnb_operation *op, struct nnb_reason *reason)
{
	for (uint32_t k = 0; m->hal < NNB_HAL_1_2 && k < op->n_inputs - 1; k++)
		if (quantised_as(out(m, op, 0), in(m, op, k)->scale, in(m, op, k)->zero_point, reason))
			return -EINVAL;
	return 0;
}

static int gives_256ths(const struct nnb_model *m, const struct nnb_operation *op, struct nnb_reason *reason)
{
	return quantised_as(out(m, op, 0), 1.0f / 256, 0, reason);
}

static int gives_128ths(const struct nnb_model *m, const struct nnb_operation *op, struct nnb_reason *reason)
{
	if (is_quant(in(m, op, 0)) && m->hal < NNB_HAL_1_2) {
		nnb_because(reason, "quant8 is for HAL 1.2 and later");
		return -EINVAL;
	}
	return quantised_as(out(m, op, 0), 1.0f / 128, 128, reason);
}

/* O-34 wants a multiplier below 1, which HAL 1.2 lifts for sums of products but not for MUL. */
static int above_product(const struct nnb_model *m, const struct nnb_operation *op, struct nnb_reason *reason)
{
	double product = (double)in(m, op, 0)->scale * (double)in(m, op, 1)->scale;

	if (!is_quant(in(m, op, 0)) || (double)out(m, op, 0)->scale > product)
		return 0;
	nnb_because(reason, "the output's scale %g is not above the product of the inputs' scales, %g",
	            (double)out(m, op, 0)->scale, product);
	return -EINVAL;
}

static int sums_products(const struct nnb_model *m, const struct nnb_operation *op, struct nnb_reason *reason)
{
	double product = (double)in(m, op, 0)->scale * (double)in(m, op, 1)->scale, bias = (double)in(m, op, 2)->scale;

	if (is_quant(in(m, op, 0)) && !(fabs(product - bias) <= 1e-6 * fmin(product, bias))) {
		nnb_because(reason, "the bias's scale %g is not the product of the inputs' scales, %g", bias, product);
		return -EINVAL;
	}
	return m->hal < NNB_HAL_1_2 ? above_product(m, op, reason) : 0;
}

/* ---- the table ---- */

#define POOL(of)                            \
	{                                   \
		of "iiiiiiiii", of "iiiiii" \
	}
#define LSTM_INPUTS "FF?FFFF?FFFF?F?F?F?FFFF?F?FFiff"

static const struct signature signatures[] = {
	{ NNB_ADD, "FQ", { "xxi" }, "x", NULL },
	{ NNB_AVERAGE_POOL_2D, "FQ", POOL("x"), "x", keeps },
	{ NNB_CONCATENATION, "FQ", { "x+i" }, "x", concatenates },
	{ NNB_CONV_2D, "FQ", { "xxbiiiiiii", "xxbiiii" }, "x", sums_products },
	{ NNB_DEPTHWISE_CONV_2D, "FQ", { "xxbiiiiiiii", "xxbiiiii" }, "x", sums_products },
	{ NNB_DEPTH_TO_SPACE, "FQ", { "xi" }, "x", keeps },
	{ NNB_DEQUANTIZE, "", { "Q" }, "F", NULL },
	{ NNB_EMBEDDING_LOOKUP, "FQI", { "Ix" }, "x", keeps_values },
	{ NNB_FLOOR, "", { "F" }, "F", NULL },
	{ NNB_FULLY_CONNECTED, "FQ", { "xxbi" }, "x", sums_products },
	{ NNB_HASHTABLE_LOOKUP, "FQI", { "IIx" }, "xQ", keeps_values },
	{ NNB_L2_NORMALIZATION, "", { "F" }, "F", NULL },
	{ NNB_L2_POOL_2D, "", POOL("F"), "F", NULL },
	{ NNB_LOCAL_RESPONSE_NORMALIZATION, "", { "Fifff" }, "F", NULL },
	{ NNB_LOGISTIC, "FQ", { "x" }, "x", gives_256ths },
	{ NNB_LSH_PROJECTION, "", { "F*F?i" }, "I", NULL },
	{ NNB_LSTM, "", { LSTM_INPUTS }, "FFFF", NULL },
	{ NNB_MAX_POOL_2D, "FQ", POOL("x"), "x", keeps },
	{ NNB_MUL, "FQ", { "xxi" }, "x", above_product },
	{ NNB_RELU, "FQ", { "x" }, "x", keeps },
	{ NNB_RELU1, "FQ", { "x" }, "x", keeps },
	{ NNB_RELU6, "FQ", { "x" }, "x", keeps },
	{ NNB_RESHAPE, "FQ", { "xI" }, "x", keeps },
	{ NNB_RESIZE_BILINEAR, "", { "Fii" }, "F", NULL },
	{ NNB_RNN, "", { "FFFFFi" }, "FF", NULL },
	{ NNB_SOFTMAX, "FQ", { "xf" }, "x", gives_256ths },
	{ NNB_SPACE_TO_DEPTH, "FQ", { "xi" }, "x", keeps },
	{ NNB_SVDF, "", { "FFFF?Fii" }, "FF", NULL },
	{ NNB_TANH, "FQ", { "x" }, "x", gives_128ths },
};

static const struct signature *signature_of(uint32_t op)
{
	for (size_t i = 0; i < sizeof(signatures) / sizeof(signatures[0]); i++)
		if (signatures[i].op == op)
			return &signatures[i];
	return NULL;
}

/* ---- matching ---- */

static bool is_mark(char c)
{
	return c == '?' || c == '+';
}

/* The letter of operand @k among @n in @form, NULL where it has none. */
static const char *letter(const char *form, uint32_t n, uint32_t k)
{
	uint32_t letters = 0, at = 0;

	for (const char *p = form; *p; p++)
		letters += !is_mark(*p);
	for (const char *p = form; *p; p++) {
		uint32_t times = p[1] == '+' && n > letters ? n - letters + 1 : 1;

		if (is_mark(*p))
			continue;
		if (k < at + times)
			return p;
		at += times;
	}
	return NULL;
}

static bool takes(const char *form, uint32_t n)
{
	uint32_t letters = 0;

	for (const char *p = form; *p; p++)
		letters += !is_mark(*p);
	return n == letters || (n > letters && strchr(form, '+'));
}

static const char *form_of(const struct signature *s, uint32_t n)
{
	for (int i = 0; i < 2; i++)
		if (s->inputs[i] && takes(s->inputs[i], n))
			return s->inputs[i];
	return NULL;
}

static char letter_of_type(uint32_t type)
{
	switch (type) {
	case NNB_FLOAT32:
		return 'f';
	case NNB_INT32:
		return 'i';
	case NNB_TENSOR_FLOAT32:
		return 'F';
	case NNB_TENSOR_INT32:
		return 'I';
	case NNB_TENSOR_QUANT8_ASYMM:
		return 'Q';
	default:
		return '-';
	}
}

/* Is @type what @want says? The first x decides what every x is. */
static bool fits(char want, uint32_t type, const char *own, char *x)
{
	char is = letter_of_type(type);

	switch (want) {
	case '*':
		return nnb_type_info(type)->tensor && is != '-';
	case 'x':
		if (!*x && strchr(own, is))
			*x = is;
		return is == *x;
	case 'b':
		return is == (*x == 'F' ? 'F' : 'I');
	default:
		return is == want;
	}
}

static int check_operands(const struct nnb_model *m, const char *form, const char *own, const uint32_t *indexes,
                          uint32_t n, char *x, const char *what, struct nnb_reason *reason)
{
	for (uint32_t k = 0; k < n; k++) {
		const struct nnb_operand *o = &m->operands[indexes[k]];
		const char *want = letter(form, n, k);

		if (!fits(*want, o->type, own, x)) {
			nnb_because(reason, "%s %u: %s is not the type it takes", what, k,
			            nnb_type_info(o->type)->name);
			return -EINVAL;
		}
		if (o->lifetime == NNB_NO_VALUE && want[1] != '?') {
			nnb_because(reason, "%s %u may not be left out", what, k);
			return -EINVAL;
		}
	}
	return 0;
}

int nnb__op_check(const struct nnb_model *m, const struct nnb_operation *op, struct nnb_reason *reason)
{
	const struct signature *s = signature_of(op->type);
	const char *form = s ? form_of(s, op->n_inputs) : NULL;
	char x = '\0';

	if (!form) {
		nnb_because(reason, "it does not take %u inputs", op->n_inputs);
		return -EINVAL;
	}
	if (op->n_outputs != strlen(s->outputs)) {
		nnb_because(reason, "it does not give %u outputs", op->n_outputs);
		return -EINVAL;
	}
	if (check_operands(m, form, s->own, op->inputs, op->n_inputs, &x, "input", reason) ||
	    check_operands(m, s->outputs, s->own, op->outputs, op->n_outputs, &x, "output", reason))
		return -EINVAL;
	return s->relations ? s->relations(m, op, reason) : 0;
}

bool nnb__op_optional(const struct nnb_operation *op, uint32_t position)
{
	const struct signature *s = signature_of(op->type);
	const char *form = s ? form_of(s, op->n_inputs) : NULL;

	return form && letter(form, op->n_inputs, position)[1] == '?';
}

bool nnb__op_needs_value(const struct nnb_model *m, const struct nnb_operation *op, uint32_t position)
{
	return !nnb_type_info(in(m, op, position)->type)->tensor || (op->type == NNB_RESHAPE && position == 1);
}
