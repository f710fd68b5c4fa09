/*
 * builder.h -- builds the models of the zoo from layers with pseudo-random weights.
 *
 * After an error all further calls do nothing: the caller checks for an error once, at the end.
 */
#ifndef LOAD_BUILDER_H
#define LOAD_BUILDER_H

#include <stdint.h>

#include "nnb/model.h"

struct builder {
	struct nnb_model *model;
	uint64_t random;
	int error; /* 0, or the first -errno */
	/* the picture that the last layer gives */
	uint32_t at; /* operand */
	uint32_t height, width, channels;
};

/* Operands: their index. @dims: as many as @rank. */
uint32_t builder_tensor(struct builder *b, uint32_t rank, const uint32_t *dims);
uint32_t builder_int(struct builder *b, int32_t value);
uint32_t builder_float(struct builder *b, float value);
uint32_t builder_omitted(struct builder *b, uint32_t rank); /* an optional tensor, left out */

/* A constant tensor of random numbers whose sums of @fan_in products keep the size of what goes in. */
uint32_t builder_weights(struct builder *b, uint32_t rank, const uint32_t *dims, uint32_t fan_in);
uint32_t builder_bias(struct builder *b, uint32_t n);

void builder_operation(struct builder *b, enum nnb_op type, const uint32_t *inputs, uint32_t n_inputs,
                       const uint32_t *outputs, uint32_t n_outputs);
void builder_finish(struct builder *b, const uint32_t *inputs, uint32_t n_inputs, const uint32_t *outputs,
                    uint32_t n_outputs);

/* Layers on the picture, from b->at to b->at. */
void builder_picture(struct builder *b, uint32_t height, uint32_t width, uint32_t channels); /* an input */
struct builder_filter {
	uint32_t height, width, stride;
	enum nnb_fused fused;
};
void builder_conv(struct builder *b, struct builder_filter filter, uint32_t out);
void builder_depthwise(struct builder *b, struct builder_filter filter);
void builder_average(struct builder *b); /* to 1 x 1 */

/* Layers on a row: from operand @in, {1, @inputs}, to what is returned, {1, @outputs}. */
uint32_t builder_dense(struct builder *b, uint32_t in, uint32_t inputs, uint32_t outputs, enum nnb_fused fused);
uint32_t builder_softmax(struct builder *b, uint32_t in, uint32_t n);

/* The models, each in a file of its own. */
void load_zoo_mlp(struct builder *b, uint32_t size);
void load_zoo_keyword(struct builder *b, uint32_t size);
void load_zoo_mobilenet(struct builder *b, uint32_t side);
void load_zoo_recurrent(struct builder *b, uint32_t size);
void load_zoo_svdf(struct builder *b, uint32_t units);

#endif
