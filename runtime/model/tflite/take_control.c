/* take_control.c -- converts IF and WHILE, which run other subgraphs of the file. */
#include <inttypes.h>

#include "model/tflite/taking.h"

/* Subgraph 0 is the model; subgraph 1 is the first that the model refers to, and so on (tflite.c). */
static void add_subgraph(struct taking *t, unsigned field)
{
	int32_t graph = int_option(t, field, 0);
	uint32_t index = temporary_add(t, &(struct nnb_operand){ .type = NNB_SUBGRAPH });

	if (!graph)
		nnb__tflite_wrong(t->l, -EINVAL, "it runs subgraph 0, which is the model itself");
	else if (graph < 0 || (uint32_t)graph >= t->l->graphs.n)
		nnb__tflite_wrong(t->l, -EINVAL, "it runs subgraph %" PRId32 " of %u", graph, t->l->graphs.n);
	if (!t->l->error)
		nnb__tflite_keep_error(t->l, nnb_model_subgraph(t->l->model, index, (uint32_t)graph - 1));
	operand_add(t, index);
}

/* The fields @first and @second of the options are the indexes of two subgraphs. */
static void take_control(struct taking *t, uint32_t inputs_before, unsigned first, unsigned second)
{
	for (uint32_t k = 0; k < inputs_before; k++)
		nnb__add_input(t, k);
	add_subgraph(t, first);
	add_subgraph(t, second);
	for (uint32_t k = inputs_before; k < t->inputs.n; k++)
		nnb__add_input(t, k);
	nnb__emit_operation(t, t->row->op);
}

void nnb__take_if(struct taking *t)
{
	take_control(t, 1 /* its condition */, IF_THEN, IF_ELSE);
}

void nnb__take_while(struct taking *t)
{
	take_control(t, 0, WHILE_CONDITION, WHILE_BODY);
}
