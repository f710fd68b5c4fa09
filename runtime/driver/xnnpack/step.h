/*
 * step.h -- one operation made ready to run: an XNNPACK operator, or a plain kernel where XNNPACK has none.
 */
#ifndef NNBX_STEP_H
#define NNBX_STEP_H

#include <assert.h>
#include <string.h>
#include <xnnpack.h>

#include "nnb/driver.h"
#include "nnb/half.h"

/*
 * An operation with its operands, shapes and memory: the input of creating, setting up and running it.
 *
 * Kernels and XNNPACK know four types (float32, quant8, int32 and bool8) and one layout (channels last), which the
 * functions in_ and out_ below show. seen.h converts other types and layouts: inputs before the operation, outputs
 * after it.
 */
struct site {
	const struct nnb_graph *graph;
	const struct nnb_operation *op;
	uint32_t index;                     /* index of the operation */
	const struct nnb_operand *operands; /* by operand: as the operation sees it */
	const struct nnb_shape *shapes;     /* by operand */
	void *const *at;                    /* by operand: its address; NULL: omitted */
	void *scratch;                      /* nnbx_step_scratch bytes, for kernels */
	/* by input and by output: converted operands; NULL if no operand is converted: at holds the addresses */
	void *const *ins, *const *outs;
	bool turned; /* input 0 and output 0 have channels second, and the operation sees these: */
	struct nnb_shape in_image, out_image;
	/* by output: a kernel writes shapes here that only its run shows; NULL: all shapes are known */
	struct nnb_shape *found;
};

struct seen;

struct step {
	xnn_operator_t xnn; /* NULL: the kernel runs */
	struct seen *seen;  /* NULL: the operation sees its operands as they are */
	bool nothing;       /* all outputs are empty: the step does nothing */
	bool is_signed;     /* xnn takes signed bytes, and sees the operands as they are */
	enum xnn_status (*setup)(xnn_operator_t xnn, const struct site *site);
	enum nnb_status (*kernel)(const struct site *site);
	/* the number of threads to report to XNNPACK, which makes about as many tiles (tiles.h); 0 or 1: as few tiles
	 * as possible */
	size_t threads;
	/* limit of the units of a tile (kernels/look.h); 0: small enough for a check before each */
	uint32_t tile_units;
	/* sets up and runs one part after the other; NULL: one setup and one run suffice */
	enum xnn_status (*run_in_parts)(xnn_operator_t xnn, const struct site *site);
	/* the pointers of the last setup: xnn is set up again only for others */
	const void *in[2];
	void *out;
};

/* Can this driver run the operation? */
bool nnbx_step_claims(const struct nnb_graph *graph, uint32_t op);

/* Operation @op of the graph. @base: the model's operands as nnbx_see makes them; NULL: as they are. */
struct site nnbx_site(const struct nnb_graph *graph, const struct nnb_operand *base, uint32_t op,
                      const struct nnb_shape *shapes);

/* Bytes of scratch memory that the operation needs for these shapes. */
uint64_t nnbx_step_scratch(const struct site *site);

/* Bytes that XNNPACK will need for it besides packed weights. */
uint64_t nnbx_step_bytes(const struct site *site);

/* Create (weights are packed here) and set up; *step is zeroed or whatever nnbx_step_fini left. */
enum nnb_status nnbx_step_init(struct step *step, const struct site *site);
void nnbx_step_fini(struct step *step);

enum nnb_status nnbx_step_run(struct step *step, const struct site *site);

/* The same by the plain kernel, whether there is an operator or not. */
enum nnb_status nnbx_step_run_kernel(struct step *step, const struct site *site);

/* ---- what a site knows ---- */

static inline const struct nnb_operand *in_operand(const struct site *s, uint32_t k)
{
	assert(k < s->op->n_inputs);
	return &s->operands[s->op->inputs[k]];
}

static inline const struct nnb_operand *out_operand(const struct site *s, uint32_t k)
{
	assert(k < s->op->n_outputs);
	return &s->operands[s->op->outputs[k]];
}

static inline const struct nnb_shape *in_shape(const struct site *s, uint32_t k)
{
	assert(k < s->op->n_inputs);
	return s->turned && k == 0 ? &s->in_image : &s->shapes[s->op->inputs[k]];
}

static inline const struct nnb_shape *out_shape(const struct site *s, uint32_t k)
{
	assert(k < s->op->n_outputs);
	return s->turned && k == 0 ? &s->out_image : &s->shapes[s->op->outputs[k]];
}

static inline const void *in_at(const struct site *s, uint32_t k)
{
	assert(k < s->op->n_inputs);
	return s->ins ? s->ins[k] : s->at[s->op->inputs[k]];
}

static inline void *out_at(const struct site *s, uint32_t k)
{
	assert(k < s->op->n_outputs);
	return s->outs ? s->outs[k] : s->at[s->op->outputs[k]];
}

/* A scalar input, which is a constant: nnbx_step_claims has checked that. */
static inline int32_t in_i32(const struct site *s, uint32_t k)
{
	assert(k < s->op->n_inputs && s->graph->constants[s->op->inputs[k]]);
	return *(const int32_t *)s->graph->constants[s->op->inputs[k]];
}

/* FLOAT32 or FLOAT16. */
static inline float in_f32(const struct site *s, uint32_t k)
{
	const void *value = s->graph->constants[s->op->inputs[k]];

	assert(k < s->op->n_inputs && value);
	return in_operand(s, k)->type == NNB_FLOAT16 ? nnb_half_to_float(*(const uint16_t *)value)
	                                             : *(const float *)value;
}

/* A BOOL; @otherwise: there is no such input. */
static inline bool in_bool(const struct site *s, uint32_t k, bool otherwise)
{
	return k < s->op->n_inputs ? *(const uint8_t *)s->graph->constants[s->op->inputs[k]] != 0 : otherwise;
}

static inline bool in_is_constant(const struct site *s, uint32_t k)
{
	assert(k < s->op->n_inputs);
	return s->graph->constants[s->op->inputs[k]] != NULL;
}

static inline size_t shape_elements(const struct nnb_shape *shape)
{
	size_t n = 1;

	for (uint32_t d = 0; d < shape->rank; d++)
		n *= shape->dims[d];
	return n;
}

/* The operand at @position among the operation's inputs, and then its outputs. */
static inline uint32_t operand_at(const struct nnb_operation *op, uint32_t position)
{
	assert(position < op->n_inputs + op->n_outputs);
	return position < op->n_inputs ? op->inputs[position] : op->outputs[position - op->n_inputs];
}

static inline bool same_shape(const struct nnb_shape *a, const struct nnb_shape *b)
{
	return a->rank == b->rank && a->omitted == b->omitted &&
	       memcmp(a->dims, b->dims, a->rank * sizeof(a->dims[0])) == 0;
}

static inline uint32_t last_dim(const struct nnb_shape *shape)
{
	assert(shape->rank > 0);
	return shape->dims[shape->rank - 1];
}

static inline bool is_quant(const struct nnb_operand *o)
{
	return o->type == NNB_TENSOR_QUANT8_ASYMM;
}

#endif
