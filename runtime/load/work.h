/*
 * work.h -- the work of a stream: its model, its inputs, and the pools for inputs and outputs.
 */
#ifndef LOAD_WORK_H
#define LOAD_WORK_H

#include "nnb/burst.h"
#include "nnb/model.h"
#include "scenario.h"

/* A model and one set of inputs for it. Once made it is only read. */
struct load_work {
	struct nnb_model *model;
	struct nnb_model_file *file; /* file of the model; NULL: from the zoo, or a .tflite file */
	void **inputs;               /* NULL: omitted */
	size_t *input_bytes, *output_bytes;
	char *name;              /* the zoo's, or the file's path */
	struct load_pairs state; /* pairs of state; none: the inputs are the same each time */
};

/*
 * 0, and the caller owns *ret; -errno, with a reason: the file cannot be read, the model is not valid, or no valid
 * input for it is known.
 */
int load_work_new(struct load_work **ret, const struct load_stream *stream, const char *dir, uint64_t seed,
                  struct nnb_reason *reason);
struct load_work *load_work_free(struct load_work *work); /* NULL is fine. Returns NULL. */

/*
 * Keep the state that @stream describes, which is zeroes at first. 0; -EINVAL, with a reason: an output or an input
 * does not exist in the model, or they differ in type or shape; -ENOMEM.
 */
int load_work_keep(struct load_work *work, const struct load_stream *stream, struct nnb_reason *reason);

bool load_is_state_input(const struct load_work *work, uint32_t input);
bool load_is_state_output(const struct load_work *work, uint32_t output);

/* Pools with the inputs in them and room for outputs, and the call that uses them. @work is borrowed until fini. */
struct load_buffers {
	const struct load_work *work;
	struct nnb_pool **pools; /* followed by room for two pools for each pair, which the caller owns */
	struct nnb_argument *inputs, *outputs;
	uint32_t n_pools;
	bool elsewhere; /* the state is not in them */
};

/* Spread the operands over @n_pools pools. 0 or -errno, and then there is nothing to end. */
int load_buffers_init(struct load_buffers *ret, const struct load_work *work, uint32_t n_pools, bool elsewhere);
void load_buffers_fini(struct load_buffers *buffers); /* all zeroes are fine */

void *load_input_at(const struct load_buffers *buffers, uint32_t input);
void *load_output_at(const struct load_buffers *buffers, uint32_t output);

/* Fill the outputs with values that no model computes, so that an unwritten output is detected. */
void load_buffers_spoil(const struct load_buffers *buffers);

/* A number that only the same outputs have, without those that are a state; never 0. */
uint64_t load_buffers_digest(const struct load_buffers *buffers);

/* The same of any bytes, after those that gave @before; 0: they are the first. */
uint64_t load_digest(uint64_t before, const void *bytes, size_t n);

/* All outputs, one after the other: copy them to @to, or compare them with what was copied. */
size_t load_outputs_bytes(const struct load_work *work);
void load_outputs_copy(const struct load_buffers *buffers, uint8_t *to);
bool load_outputs_equal(const struct load_buffers *buffers, const uint8_t *reference);

#endif
