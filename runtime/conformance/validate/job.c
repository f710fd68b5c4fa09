/* job.c -- places the arguments of a model one behind the other, each on a multiple of 64 bytes. */
#include "conformance/validate/job.h"

#include <stdlib.h>
#include <string.h>

/* Place @n operands' arguments from *@at on; an operand of unknown size is omitted. */
static bool job_place(struct nnb_argument *args, uint32_t pool, const struct nnb_model *m, const uint32_t *indexes,
                      uint32_t n, uint64_t *at)
{
	for (uint32_t i = 0; i < n; i++) {
		const struct nnb_operand *o = &m->operands[indexes[i]];
		uint64_t bytes;

		if (nnb_operand_bytes(o->type, o->rank, o->dims, &bytes) || *at + bytes > INT32_MAX)
			return false;
		args[i].no_value = bytes == 0;
		if (bytes)
			args[i].location = (struct nnb_location){ pool, (uint32_t)*at, (uint32_t)bytes };
		*at += (bytes + 63) & ~UINT64_C(63);
	}
	return true;
}

bool job_init(struct job *j, const struct nnb_model *m)
{
	uint64_t in = 0, out = 0;

	*j = (struct job){ .args = calloc((size_t)m->n_inputs + m->n_outputs + 1, sizeof(*j->args)) };
	if (!j->args)
		return false;
	j->call = (struct nnb_call){ .inputs = j->args,
		                     .outputs = j->args + m->n_inputs,
		                     .pools = j->pools,
		                     .n_inputs = m->n_inputs,
		                     .n_outputs = m->n_outputs,
		                     .n_pools = 2 };
	if (!job_place(j->args, 0, m, m->inputs, m->n_inputs, &in) ||
	    !job_place(j->args + m->n_inputs, 1, m, m->outputs, m->n_outputs, &out) ||
	    nnb_pool_new(&j->pools[0], in ? in : 1) || nnb_pool_new(&j->pools[1], out ? out : 1)) {
		job_fini(j);
		return false;
	}
	/* Fill the inputs with small numbers, which are valid as indexes and as hash keys. */
	for (uint32_t i = 0; i < m->n_inputs; i++) {
		const struct nnb_operand *o = &m->operands[m->inputs[i]];
		const struct nnb_location *l = &j->args[i].location;
		char *at = (char *)nnb_pool_data(j->pools[0]) + l->offset;

		for (uint32_t k = 0; o->type == NNB_TENSOR_FLOAT32 && k < l->length / 4; k++)
			((float *)at)[k] = (float)(k % 7) / 4 - 0.5f;
		for (uint32_t k = 0; o->type == NNB_TENSOR_QUANT8_ASYMM && k < l->length; k++)
			at[k] = (char)(k * 37);
		if (m->operations[0].type == NNB_RESHAPE && o->type == NNB_TENSOR_INT32) {
			const struct nnb_operand *shaped = &m->operands[m->outputs[0]];
			size_t bytes = shaped->rank * sizeof(*shaped->dims);

			memcpy(at, shaped->dims, bytes < l->length ? bytes : l->length);
		}
	}
	return true;
}

void job_fini(struct job *j)
{
	nnb_pool_free(j->pools[0]);
	nnb_pool_free(j->pools[1]);
	free(j->args);
	*j = (struct job){ 0 };
}
