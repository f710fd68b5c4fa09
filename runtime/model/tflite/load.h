/*
 * load.h -- a .tflite file that is being read: tensors become operands (load.c), operators operations (operators.c).
 *
 * An error is kept, with its reason, and what is called after it does nothing: callers look once, in the end.
 */
#ifndef NNB_MODEL_TFLITE_LOAD_H
#define NNB_MODEL_TFLITE_LOAD_H

#include "model/tflite/flat.h"
#include "nnb/model.h"

#define NNB__NOWHERE UINT32_MAX

struct nnb__tensor {
	uint32_t operand; /* NNB__NOWHERE: none yet */
	uint32_t half;    /* it is to be a constant: this tensor's float16 as float32. NNB__NOWHERE: it is not */
	uint32_t reals;   /* the operand that holds its bytes as float32; NNB__NOWHERE: none yet */
};

struct nnb__loading {
	struct nnb__flat flat;
	struct nnb_reason *reason;
	int error; /* 0, or the first -errno */
	struct nnb_model *model;
	const struct nnb_memory *file;
	uint32_t pool; /* the file's, in the model; NNB__NOWHERE: nothing refers to it yet */
	struct nnb__flat_vector codes, buffers, tensors, operators, inputs, outputs;
	struct nnb__tensor *tensor; /* of tensors.n */
	uint64_t copied;            /* bytes of constants that became others */
	uint32_t n_widened;         /* constants of float16 or bytes that became float32, */
	uint64_t widened;           /* and bytes they have so */
	uint64_t listed;            /* elements of lists that were read */
	uint32_t taken;             /* that is being taken; NNB__NOWHERE: none is */
};

/* Keep this error, unless there is one, said of the operator that is being taken. */
__attribute__((format(printf, 3, 4))) void nnb__tflite_wrong(struct nnb__loading *l, int error, const char *format,
                                                             ...);

/* Errors of the file's form, and of the model's growth. */
void nnb__tflite_look(struct nnb__loading *l);
uint32_t nnb__tflite_kept(struct nnb__loading *l, int index);

/* What tensor @tensor is, its constant aside. False: there is an error. */
bool nnb__tflite_tensor(struct nnb__loading *l, int64_t tensor, struct nnb_operand *ret);

/* The operand of tensor @tensor, which is made when it is first asked for. */
uint32_t nnb__tflite_operand(struct nnb__loading *l, int64_t tensor);

/*
 * The operand of weights that an operator of float32 takes. Constants of bytes become float32, which is what they stand for;
 * anything else stays as it is.
 */
uint32_t nnb__tflite_reals(struct nnb__loading *l, int64_t tensor);

/* The elements of a constant tensor of integers. Returns how many, which are at most @room; 0 is an error. */
uint32_t nnb__tflite_integers(struct nnb__loading *l, int64_t tensor, int32_t *to, uint32_t room);

/* Are @n more elements of lists still in proportion? A file can name one list many times. */
bool nnb__tflite_listed(struct nnb__loading *l, uint32_t n);

/* A constant. */
uint32_t nnb__tflite_constant(struct nnb__loading *l, const struct nnb_operand *operand, const void *value,
                              uint64_t bytes);

/* Take all operators (operators.c), or refuse what cannot be taken. */
void nnb__tflite_operators(struct nnb__loading *l);

/* A line of an operator: "CONV_2D, which gives 'x'". */
char *nnb__tflite_describe(struct nnb__loading *l, uint32_t which, char *to, uint32_t room);

#endif
