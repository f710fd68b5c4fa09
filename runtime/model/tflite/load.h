/*
 * load.h -- a .tflite file while it is loaded: tensors become operands (load.c), operators become operations
 * (operators.c).
 *
 * The first error is kept with its reason, and every later call does nothing: callers check for an error once, at the
 * end.
 */
#ifndef NNB_MODEL_TFLITE_LOAD_H
#define NNB_MODEL_TFLITE_LOAD_H

#include "model/tflite/flat.h"
#include "nnb/model.h"

#define NNB__NOWHERE UINT32_MAX

struct nnb__tensor {
	uint32_t operand; /* index of the tensor's operand; NNB__NOWHERE: not created yet */
	/* the float16 constant whose float32 form this tensor is; NNB__NOWHERE: it is no such form */
	uint32_t half;
	/* the operand with the tensor's bytes converted to float32; NNB__NOWHERE: not created yet */
	uint32_t reals;
	float bias_scale; /* the scale that an operator has given the operand as its bias; 0: no operator has */
	bool is_output;   /* the operand is an output of the subgraph */
};

struct nnb__loading {
	struct nnb__flat flat;
	struct nnb_reason *reason;
	int error; /* 0, or the first -errno */
	const struct nnb_memory *file;
	struct nnb__flat_vector codes, buffers, graphs;
	/* the subgraph in progress: its index, its model, its lists, and an array of tensors.n */
	uint32_t graph;
	struct nnb_model *model;
	struct nnb__flat_vector tensors, operators, inputs, outputs;
	struct nnb__tensor *tensor;
	uint32_t pool;      /* index of the file's pool in the model; NNB__NOWHERE: no operand refers to it yet */
	uint64_t copied;    /* bytes of constants beyond NNB_COPY_MAX that were copied or converted */
	uint32_t n_widened; /* number of float16 or byte constants that became float32 */
	uint64_t widened;   /* bytes of those constants as float32 */
	uint64_t listed;    /* elements of lists read so far */
	uint32_t taken;     /* index of the operator in progress; NNB__NOWHERE: none */
};

/* Keep this error, unless there is an earlier one. The reason names the operator in progress. */
__attribute__((format(printf, 3, 4))) void nnb__tflite_wrong(struct nnb__loading *l, int error, const char *format,
                                                             ...);

/* Keep the error that flat.h found in the file's form, if it found one. */
void nnb__tflite_check_form(struct nnb__loading *l);

/* @index: what a function that adds to the model returned. Keep it if it is an error (negative), and return 0. */
uint32_t nnb__tflite_keep_error(struct nnb__loading *l, int index);

/* Describe tensor @tensor as an operand, without its constant. False: an error was kept. */
bool nnb__tflite_tensor(struct nnb__loading *l, int64_t tensor, struct nnb_operand *ret);

/* The operand of tensor @tensor, created on first use. */
uint32_t nnb__tflite_operand(struct nnb__loading *l, int64_t tensor);

/*
 * The operand of weights for a float32 operator. Constants of bytes are converted to the float32 values that they
 * represent; every other tensor stays unchanged.
 */
uint32_t nnb__tflite_reals(struct nnb__loading *l, int64_t tensor);

/* Read the elements of a constant tensor of integers. Returns their number, at most @room; 0: error. */
uint32_t nnb__tflite_integers(struct nnb__loading *l, int64_t tensor, int32_t *to, uint32_t room);

/* May @n more elements of lists be read? The loader counts them, because a file can name one list many times. */
bool nnb__tflite_charge_list(struct nnb__loading *l, uint32_t n);

/* Add a constant operand of @n zeroes, of a type of 4 bytes. */
uint32_t nnb__tflite_zeroes(struct nnb__loading *l, const struct nnb_operand *operand, uint32_t n);

/* Add a constant operand with this value. */
uint32_t nnb__tflite_constant(struct nnb__loading *l, const struct nnb_operand *operand, const void *value,
                              uint64_t bytes);

/* Add the operations of all operators (operators.c), or refuse the file. */
void nnb__tflite_operators(struct nnb__loading *l);

/* Set the marks of the subgraphs that an IF or a WHILE of this subgraph runs. @runs: array of graphs.n. */
void nnb__tflite_mark_run(struct nnb__loading *l, bool *runs);

/* Describe an operator in one line: "CONV_2D, which gives 'x'". */
char *nnb__tflite_describe(struct nnb__loading *l, uint32_t which, char *to, uint32_t room);

#endif
