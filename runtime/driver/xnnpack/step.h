/*
 * step.h -- one operation made ready to run: an XNNPACK operator, or a plain kernel where XNNPACK has none.
 */
#ifndef NNBX_STEP_H
#define NNBX_STEP_H

#include <xnnpack.h>

#include "nnb/driver.h"

/* An operation in its place: all that creating, setting up and running it may ask about. */
struct site {
	const struct nnb_graph *graph;
	const struct nnb_operation *op;
	uint32_t index;                 /* of the operation */
	const struct nnb_shape *shapes; /* by operand */
	void *const *at;                /* by operand: where its bytes are; NULL: omitted */
	void *scratch;                  /* nnbx_step_scratch bytes, for kernels */
};

struct step {
	xnn_operator_t xnn; /* NULL: the kernel runs */
	enum xnn_status (*setup)(xnn_operator_t xnn, const struct site *site);
	enum nnb_status (*kernel)(const struct site *site);
	/* how many tiles it wants, as the threads that they would be for (tiles.h); 0 or 1: as few as possible */
	size_t threads;
	uint32_t tile_units; /* what a tile takes at most (kernels/look.h); 0: enough for a look before each */
	/* instead of one setup and one run: as many of both as there are parts; NULL: that is not needed */
	enum xnn_status (*run_in_parts)(xnn_operator_t xnn, const struct site *site);
	/* what xnn is set up for; an operator remembers its pointers */
	const void *in[2];
	void *out;
};

/* Can this operation be run here at all? */
bool nnbx_step_claims(const struct nnb_graph *graph, uint32_t op);

/* Bytes of scratch memory the operation wants in these shapes. */
uint64_t nnbx_step_scratch(const struct site *site);

/* Bytes that XNNPACK will need for it besides packed weights. */
uint64_t nnbx_step_bytes(const struct site *site);

/* Create (weights are packed here) and set up; *step is zeroed or whatever nnbx_step_fini left. */
enum nnb_status nnbx_step_init(struct step *step, const struct site *site);
void nnbx_step_fini(struct step *step);

enum nnb_status nnbx_step_run(struct step *step, const struct site *site);

/* ---- what a site knows ---- */

static inline const struct nnb_operand *in_operand(const struct site *s, uint32_t k)
{
	return &s->graph->model->operands[s->op->inputs[k]];
}

static inline const struct nnb_operand *out_operand(const struct site *s, uint32_t k)
{
	return &s->graph->model->operands[s->op->outputs[k]];
}

static inline const struct nnb_shape *in_shape(const struct site *s, uint32_t k)
{
	return &s->shapes[s->op->inputs[k]];
}

static inline const struct nnb_shape *out_shape(const struct site *s, uint32_t k)
{
	return &s->shapes[s->op->outputs[k]];
}

static inline const void *in_at(const struct site *s, uint32_t k)
{
	return s->at[s->op->inputs[k]];
}

static inline void *out_at(const struct site *s, uint32_t k)
{
	return s->at[s->op->outputs[k]];
}

/* A scalar input. It is a constant: nnbx_step_claims has seen to that. */
static inline int32_t in_i32(const struct site *s, uint32_t k)
{
	return *(const int32_t *)s->graph->constants[s->op->inputs[k]];
}

static inline float in_f32(const struct site *s, uint32_t k)
{
	return *(const float *)s->graph->constants[s->op->inputs[k]];
}

static inline bool in_is_constant(const struct site *s, uint32_t k)
{
	return s->graph->constants[s->op->inputs[k]] != NULL;
}

static inline size_t shape_elements(const struct nnb_shape *shape)
{
	size_t n = 1;

	for (uint32_t d = 0; d < shape->rank; d++)
		n *= shape->dims[d];
	return n;
}

static inline uint32_t last_dim(const struct nnb_shape *shape)
{
	return shape->dims[shape->rank - 1];
}

static inline bool is_quant(const struct nnb_operand *o)
{
	return o->type == NNB_TENSOR_QUANT8_ASYMM;
}

#endif
