/*
 * model.h -- models and requests as the HAL describes them: operands, operations, pools; building them, reading them
 * from files, validating them.
 *
 * Both are plain structs, and any field may be wrong, because they can come from an untrusted peer.
 * nnb_model_validate and nnb_request_validate check them (rules O-10 to O-17, P-1 to P-4, R1 to R11 of the HAL); the
 * functions that prepare or run a model call these first. nnb_model(3), nnb_model(5).
 *
 * Several threads may read a struct at the same time; a thread that changes one must have it alone.
 */
#ifndef NNB_MODEL_H
#define NNB_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "nnb/defs.h"
#include "nnb/memory.h"
#include "nnb/status.h"

NNB_BEGIN_DECLS

enum {
	NNB_RANK_MAX = 8,   /* largest number of dimensions of an operand */
	NNB_NAME_MAX = 64,  /* bytes of a model's name, the last one zero */
	NNB_COPY_MAX = 128, /* nnb_model_value copies values of up to so many bytes into the model itself (P-1) */
	NNB_OPERANDS_MAX = 1 << 20, /* limit of operands, operations, pools, indexes, subgraphs of a model */
	NNB_NESTING_MAX = 16        /* limit of the nesting of subgraphs */
};

/* O-1. The numbers are the HAL's. */
enum nnb_type {
	NNB_FLOAT32 = 0,
	NNB_INT32 = 1,
	NNB_UINT32 = 2,
	NNB_TENSOR_FLOAT32 = 3,
	NNB_TENSOR_INT32 = 4,
	NNB_TENSOR_QUANT8_ASYMM = 5,
	/* HAL 1.2 */
	NNB_BOOL = 6,
	NNB_TENSOR_QUANT16_SYMM = 7,
	NNB_TENSOR_FLOAT16 = 8,
	NNB_TENSOR_BOOL8 = 9,
	NNB_FLOAT16 = 10,
	NNB_TENSOR_QUANT8_SYMM_PER_CHANNEL = 11,
	NNB_TENSOR_QUANT16_ASYMM = 12,
	NNB_TENSOR_QUANT8_SYMM = 13,
	/* HAL 1.3 */
	NNB_TENSOR_QUANT8_ASYMM_SIGNED = 14,
	NNB_SUBGRAPH = 15, /* a graph that IF or WHILE runs: one of the model's referenced */
	NNB_OEM = 10000,
	NNB_TENSOR_OEM_BYTE = 10001
};

/* The properties of a type; there is one row for each type. */
struct nnb_type_info {
	enum nnb_type type;
	const char *name; /* "TENSOR_FLOAT32" */
	uint32_t bytes;   /* bytes of an element; 0: none (SUBGRAPH), or defined by the vendor (OEM) */
	bool tensor;
	bool quantized;  /* has one scale, above 0 */
	bool by_channel; /* has one scale for each slice of a dimension */
	int32_t zero_point_min, zero_point_max;
	uint32_t hal; /* enum nnb_hal: the first version with this type */
};

NNB_PUBLIC const struct nnb_type_info *nnb_type_info(enum nnb_type type); /* NULL: no such type. Static. */

/* O-3 */
enum nnb_lifetime {
	NNB_TEMPORARY = 0,
	NNB_MODEL_INPUT = 1,
	NNB_MODEL_OUTPUT = 2,
	NNB_CONSTANT_COPY = 3,
	NNB_CONSTANT_REFERENCE = 4,
	NNB_NO_VALUE = 5,
	/* HAL 1.3; for type SUBGRAPH: location.offset is an index into the model's referenced */
	NNB_LIFETIME_SUBGRAPH = 6
};

NNB_PUBLIC const char *nnb_lifetime_name(enum nnb_lifetime lifetime); /* "?" for an invalid one. Static. */

/* The version of the HAL whose rules apply to a model. */
enum nnb_hal { NNB_HAL_1_0 = 0x10, NNB_HAL_1_1 = 0x11, NNB_HAL_1_2 = 0x12, NNB_HAL_1_3 = 0x13 };

/* O-4 */
enum nnb_fused { NNB_FUSED_NONE = 0, NNB_FUSED_RELU = 1, NNB_FUSED_RELU1 = 2, NNB_FUSED_RELU6 = 3 };
enum nnb_padding { NNB_PADDING_SAME = 1, NNB_PADDING_VALID = 2 };

/* The operations, with the HAL's codes and names. */
enum nnb_op {
#define NNB_OP(name, code, hal) NNB_##name = (code),
#include "nnb/operations.def"
#undef NNB_OP
	NNB_OEM_OPERATION = 10000
};

NNB_PUBLIC const char *nnb_op_name(uint32_t op); /* NULL: no such operation. Static. */
NNB_PUBLIC uint32_t nnb_op_hal(uint32_t op);     /* The first version of the HAL with this operation; 0: none. */
/* Whether the operation has a layout argument: channels last, or second if its first BOOL is true. */
NNB_PUBLIC bool nnb_op_has_layout(uint32_t op);
NNB_PUBLIC int nnb_op_from_name(const char *name, uint32_t *ret);   /* -ENOENT */
NNB_PUBLIC int nnb_type_from_name(const char *name, uint32_t *ret); /* -ENOENT */

/* P-4: the place of an operand's bytes. For a constant copy, @pool is 0 and the range lies in the model's values. */
struct nnb_location {
	uint32_t pool, offset, length;
};

struct nnb_operand {
	uint32_t type;     /* enum nnb_type */
	uint32_t lifetime; /* enum nnb_lifetime */
	uint32_t rank;
	uint32_t dims[NNB_RANK_MAX]; /* 0: unknown */
	float scale;
	int32_t zero_point;
	/*
	 * For a type quantised by channel: n_scales floats at byte scales_at of the model's values, one for each
	 * slice of dimension channel_dim. Otherwise 0.
	 */
	uint32_t channel_dim, n_scales, scales_at;
	uint32_t consumers; /* number of reads by operations */
	struct nnb_location location;
};

struct nnb_operation {
	uint32_t type; /* enum nnb_op */
	uint32_t n_inputs, n_outputs;
	uint32_t *inputs, *outputs; /* operand indexes; owned by the model, from malloc */
};

/*
 * A graph that IF or WHILE runs. It has its own operands, but uses the values, the pools and the referenced subgraphs
 * of the model. Its inputs and outputs have the lifetimes MODEL_INPUT and MODEL_OUTPUT.
 */
struct nnb_subgraph {
	uint32_t n_operands, n_operations, n_inputs, n_outputs;
	struct nnb_operand *operands;
	struct nnb_operation *operations;
	uint32_t *inputs, *outputs;
};

/* Every pointer comes from malloc and is owned by the model; each array has exactly n_... elements. */
struct nnb_model {
	char name[NNB_NAME_MAX];
	uint32_t hal; /* enum nnb_hal */
	bool relaxed; /* float32 may be computed as float16 (1.1) */
	uint32_t n_operands, n_operations, n_inputs, n_outputs, n_pools;
	uint32_t n_values; /* bytes */
	struct nnb_operand *operands;
	struct nnb_operation *operations;
	uint32_t *inputs, *outputs;
	uint8_t *values;
	struct nnb_memory *pools; /* their fds are owned too */
	uint32_t n_referenced;    /* HAL 1.3 */
	struct nnb_subgraph *referenced;
};

/* ---- building: 0 (or an index) or -errno; a failure leaves the model unchanged ---- */

NNB_PUBLIC int nnb_model_new(struct nnb_model **ret, const char *name, enum nnb_hal hal);
NNB_PUBLIC struct nnb_model *nnb_model_free(struct nnb_model *model); /* NULL is fine. Returns NULL. */
static inline void nnb_model_freep(struct nnb_model **model)
{
	*model = nnb_model_free(*model);
}

/* Copy a model whose arrays exist (a valid one, or one that was built). The pools' fds are duplicated. */
NNB_PUBLIC int nnb_model_copy(struct nnb_model **ret, const struct nnb_model *model);

/* Add an operand; @operand is copied, its consumers and location are ignored. Returns its index. */
NNB_PUBLIC int nnb_model_operand(struct nnb_model *model, const struct nnb_operand *operand);

/* Quantise operand @index by channel: a scale for each slice of dimension @channel_dim. @scales are copied. */
NNB_PUBLIC int nnb_model_channels(struct nnb_model *model, uint32_t index, uint32_t channel_dim, const float *scales,
                                  uint32_t n_scales);

/*
 * Make operand @index a constant of these bytes: a CONSTANT_COPY up to NNB_COPY_MAX bytes, and beyond that a
 * CONSTANT_REFERENCE into a pool that nnb_model_finish makes. @data is copied, and must not lie in the model.
 */
NNB_PUBLIC int nnb_model_value(struct nnb_model *model, uint32_t index, const void *data, uint32_t bytes);

/* Make operand @index a constant in pool @pool, which nnb_model_pool added. */
NNB_PUBLIC int nnb_model_reference(struct nnb_model *model, uint32_t index, uint32_t pool, uint32_t offset,
                                   uint32_t bytes);

/* Add a pool; the fds are duplicated. Returns its index. */
NNB_PUBLIC int nnb_model_pool(struct nnb_model *model, const struct nnb_memory *pool);

/* Add an operation; the index lists are copied. Returns its index. */
NNB_PUBLIC int nnb_model_operation(struct nnb_model *model, enum nnb_op type, const uint32_t *inputs, uint32_t n_inputs,
                                   const uint32_t *outputs, uint32_t n_outputs);

/*
 * Add a copy of @graph to the model's referenced subgraphs. @graph is a finished model without referenced subgraphs
 * of its own. Its values and pools are added to the model's; a SUBGRAPH operand in it refers to a subgraph of the
 * model. Returns its index.
 */
NNB_PUBLIC int nnb_model_refer(struct nnb_model *model, const struct nnb_model *graph);

/* Make operand @index, a SUBGRAPH, refer to subgraph @referenced, which may be added later. */
NNB_PUBLIC int nnb_model_subgraph(struct nnb_model *model, uint32_t index, uint32_t referenced);

/*
 * Referenced subgraph @index as a model, for reading: all pointers are borrowed from @model, with which it shares
 * values, pools and referenced subgraphs. @index is below n_referenced.
 */
NNB_PUBLIC struct nnb_model nnb_model_view(const struct nnb_model *model, uint32_t index);

/*
 * Finish the model: set its inputs and outputs (and their lifetimes), count consumers, and put the large constants
 * into one pool. Call once, last.
 */
NNB_PUBLIC int nnb_model_finish(struct nnb_model *model, const uint32_t *inputs, uint32_t n_inputs,
                                const uint32_t *outputs, uint32_t n_outputs);

/* ---- files: nnb_model(5) ---- */

/* One example of a model file: a buffer for each input and output, with values of the operand's type. */
struct nnb_example {
	void **inputs;  /* NULL: the input is omitted */
	void **outputs; /* NULL: the output is not compared */
	size_t *input_bytes, *output_bytes;
};

struct nnb_model_file {
	struct nnb_model *model;
	struct nnb_example *examples;
	uint32_t n_examples;
	/* every execution must fail, or already the preparation; there are no outputs to compare */
	bool expect_failure;
};

/*
 * Read a model file. 0, and the caller owns *ret; -EINVAL: the file is malformed; -ENOTSUP: the file names an
 * operation, a type or a version of the HAL that this library does not know; another -errno: the file cannot be read.
 * @reason names the place in the file, or the error. The model that was read is not validated yet.
 */
NNB_PUBLIC int nnb_model_file_read(struct nnb_model_file **ret, const char *path, struct nnb_reason *reason);

/* Like nnb_model_file_read, from memory. Side files are read from directory @dir, and refused if it is NULL. */
NNB_PUBLIC int nnb_model_file_parse(struct nnb_model_file **ret, const char *text, size_t bytes, const char *dir,
                                    struct nnb_reason *reason);
NNB_PUBLIC struct nnb_model_file *nnb_model_file_free(struct nnb_model_file *file); /* NULL is fine. Returns NULL. */

/*
 * Read a .tflite file (schema version 3, one model) as a model of HAL 1.3, named like the file. Its large constants
 * stay in the file, which becomes a read-only pool of the model and stays open. 0, and the caller owns *ret; -EINVAL:
 * the file is malformed: not a .tflite file, truncated, or with an offset out of range; -ENOTSUP: an operator or a
 * type without an equivalent here, or a subgraph that no IF or WHILE runs; -EFBIG: larger than 4 GiB; another -errno:
 * the file cannot be read. @reason names the place: for an operator its subgraph, its index, its name, and its output
 * tensor. On success @reason gives the memory of constants that were converted to float32, or is empty. The model
 * that was read is not validated yet.
 */
NNB_PUBLIC int nnb_model_load_tflite(struct nnb_model **ret, const char *path, struct nnb_reason *reason);

/* Like nnb_model_load_tflite, from memory: @bytes are copied into a pool of the model. */
NNB_PUBLIC int nnb_model_parse_tflite(struct nnb_model **ret, const void *bytes, size_t n, const char *name,
                                      struct nnb_reason *reason);

/* ---- wire form: a sequence of bytes, without the pools ---- */

/*
 * Encode @model without the fds of its pools. 0, and *ret has *ret_bytes, which the caller frees. The form depends on
 * this library's version and this machine's byte order.
 */
NNB_PUBLIC int nnb_model_encode(const struct nnb_model *model, uint8_t **ret, size_t *ret_bytes);

/*
 * Decode a model; the bytes are not trusted. The pools have their names, sizes and integers, and -1 for each fd.
 * 0; -EINVAL: malformed; -ENOMEM. The decoded model is not validated yet.
 */
NNB_PUBLIC int nnb_model_decode(struct nnb_model **ret, const uint8_t *bytes, size_t n, struct nnb_reason *reason);

/* ---- validating ---- */

/*
 * Check the graph against the HAL's rules. The values of constants and the consistency of dimensions are not checked
 * here. NONE; INVALID_ARGUMENT; RESOURCE_EXHAUSTED_TRANSIENT: no memory for the check.
 */
NNB_PUBLIC enum nnb_status nnb_model_validate(const struct nnb_model *model, struct nnb_reason *reason);

/* The scales of an operand of a valid model that is quantised by channel; NULL: it is not. */
static inline const float *nnb_operand_scales(const struct nnb_model *model, const struct nnb_operand *operand)
{
	return operand->n_scales ? (const float *)(const void *)(model->values + operand->scales_at) : NULL;
}

/* The bytes of an operand of this type and these dimensions; 0 if a dimension is unknown; -EOVERFLOW. */
NNB_PUBLIC int nnb_operand_bytes(uint32_t type, uint32_t rank, const uint32_t *dims, uint64_t *ret);

/* ---- requests ---- */

struct nnb_argument {
	bool no_value; /* R2: omitted; the rest is zero */
	struct nnb_location location;
	uint32_t rank; /* 0: the dimensions of the model (R5) */
	uint32_t dims[NNB_RANK_MAX];
};

/* All pointers are borrowed from the caller. */
struct nnb_request {
	const struct nnb_argument *inputs, *outputs;
	uint32_t n_inputs, n_outputs, n_pools;
	const struct nnb_memory *pools;
	uint64_t exec; /* number of the execution in traces (docs/events.md); 0: no events */
};

/*
 * Check the request against this valid model: R1 to R9. @fenced: outputs must be fully specified (R5).
 * NONE; INVALID_ARGUMENT; RESOURCE_EXHAUSTED_TRANSIENT: no memory for the check.
 */
NNB_PUBLIC enum nnb_status nnb_request_validate(const struct nnb_model *model, const struct nnb_request *request,
                                                bool fenced, struct nnb_reason *reason);

NNB_END_DECLS

#endif
