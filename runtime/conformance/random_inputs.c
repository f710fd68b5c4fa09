/* random_inputs.c -- random inputs. The same model gets the same inputs in every run. */
#include "random_inputs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "nnb/half.h"

/*
 * Write one random element: reals from -1 to 1; any quantised value; integers of one digit, because they may be
 * indexes.
 */
static void put_random(void *to, uint32_t type, uint64_t *state)
{
	uint64_t next = *state * 6364136223846793005u + 1442695040888963407u;
	uint32_t bits = (uint32_t)(next >> 33);
	float real = (float)(bits & 0xffff) / 32768 - 1;
	uint16_t half = nnb_float_to_half(real);
	uint8_t truth = bits & 1;
	int32_t digit = (int32_t)(bits % 10);

	*state = next;
	switch (type) {
	case NNB_TENSOR_FLOAT32:
	case NNB_FLOAT32:
		memcpy(to, &real, sizeof(real));
		break;
	case NNB_TENSOR_FLOAT16:
	case NNB_FLOAT16:
		memcpy(to, &half, sizeof(half));
		break;
	case NNB_TENSOR_INT32:
	case NNB_INT32:
	case NNB_UINT32:
		memcpy(to, &digit, sizeof(digit));
		break;
	case NNB_TENSOR_BOOL8:
	case NNB_BOOL:
		memcpy(to, &truth, sizeof(truth));
		break;
	default:
		memcpy(to, &bits, nnb_type_info(type)->bytes);
	}
}

static int fill_inputs(struct nnb_example *x, const struct nnb_model *m, struct nnb_reason *reason)
{
	uint64_t state = 1, bytes;

	for (uint32_t i = 0; i < m->n_inputs; i++) {
		const struct nnb_operand *o = &m->operands[m->inputs[i]];
		uint32_t element = nnb_type_info(o->type)->bytes;

		if (nnb_operand_bytes(o->type, o->rank, o->dims, &bytes) || !bytes || bytes > UINT32_MAX) {
			nnb_because(reason, "input %u has an extent that is not known", i);
			return -EINVAL;
		}
		x->inputs[i] = malloc(bytes);
		if (!x->inputs[i])
			return -ENOMEM;
		x->input_bytes[i] = bytes;
		for (uint64_t at = 0; at < bytes; at += element)
			put_random((char *)x->inputs[i] + at, o->type, &state);
	}
	return 0;
}

int random_inputs(struct nnb_model_file **ret, struct nnb_model *model, struct nnb_reason *reason)
{
	struct nnb_model_file *file = calloc(1, sizeof(*file));
	struct nnb_example *x = calloc(1, sizeof(*x));
	int r = -ENOMEM;

	if (!file || !x) {
		free(file);
		free(x);
		nnb_model_free(model);
		nnb_because(reason, "no memory");
		return r;
	}
	*file = (struct nnb_model_file){ .model = model, .examples = x, .n_examples = 1 };
	x->inputs = calloc(model->n_inputs + (size_t)1, sizeof(*x->inputs));
	x->outputs = calloc(model->n_outputs + (size_t)1, sizeof(*x->outputs));
	x->input_bytes = calloc(model->n_inputs + (size_t)1, sizeof(*x->input_bytes));
	x->output_bytes = calloc(model->n_outputs + (size_t)1, sizeof(*x->output_bytes));
	if (x->inputs && x->outputs && x->input_bytes && x->output_bytes)
		r = fill_inputs(x, model, reason);
	if (r == -ENOMEM)
		nnb_because(reason, "no memory");
	if (r)
		nnb_model_file_free(file);
	else
		*ret = file;
	return r;
}
