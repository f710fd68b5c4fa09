/* parts.h -- the parts of a model: the main graph, then the subgraphs. */
#ifndef NNB_MODEL_PARTS_H
#define NNB_MODEL_PARTS_H

#include <assert.h>

#include "nnb/model.h"

struct nnb__operands {
	struct nnb_operand *at;
	uint32_t n;
};

/* The operands of part @part: part 0 is the main graph, part 1 the first subgraph. False: no such part. */
static inline bool nnb__part_operands(const struct nnb_model *m, uint32_t part, struct nnb__operands *ret)
{
	if (part > m->n_referenced)
		return false;
	*ret = part ? (struct nnb__operands){ m->referenced[part - 1].operands, m->referenced[part - 1].n_operands }
	            : (struct nnb__operands){ m->operands, m->n_operands };
	return true;
}

/* Part @part as a read-only model: the model itself, or nnb_model_view of a subgraph. */
static inline struct nnb_model nnb__part(const struct nnb_model *m, uint32_t part)
{
	assert(part <= m->n_referenced);
	return part ? nnb_model_view(m, part - 1) : *m;
}

static inline bool nnb__is_constant(const struct nnb_operand *o)
{
	return o->lifetime == NNB_CONSTANT_COPY || o->lifetime == NNB_CONSTANT_REFERENCE;
}

static inline bool nnb__is_control(uint32_t op)
{
	return op == NNB_IF || op == NNB_WHILE;
}

#endif
