/* types.c -- the tables of types, lifetimes and operations, by number and by name. */
#include <errno.h>
#include <string.h>

#include "nnb/model.h"

#define SCALAR(name, bytes, hal)                                                   \
	{                                                                          \
		NNB_##name, #name, bytes, false, false, false, 0, 0, NNB_HAL_##hal \
	}
#define TENSOR(name, bytes, hal)                                                                   \
	{                                                                                          \
		NNB_TENSOR_##name, "TENSOR_" #name, bytes, true, false, false, 0, 0, NNB_HAL_##hal \
	}
#define QUANTIZED(name, bytes, hal, low, high)                                                         \
	{                                                                                              \
		NNB_TENSOR_##name, "TENSOR_" #name, bytes, true, true, false, low, high, NNB_HAL_##hal \
	}

static const struct nnb_type_info types[] = {
	SCALAR(FLOAT32, 4, 1_0),
	SCALAR(INT32, 4, 1_0),
	SCALAR(UINT32, 4, 1_0),
	TENSOR(FLOAT32, 4, 1_0),
	TENSOR(INT32, 4, 1_0),
	QUANTIZED(QUANT8_ASYMM, 1, 1_0, 0, UINT8_MAX),
	SCALAR(BOOL, 1, 1_2),
	QUANTIZED(QUANT16_SYMM, 2, 1_2, 0, 0),
	TENSOR(FLOAT16, 2, 1_2),
	TENSOR(BOOL8, 1, 1_2),
	SCALAR(FLOAT16, 2, 1_2),
	{ NNB_TENSOR_QUANT8_SYMM_PER_CHANNEL, "TENSOR_QUANT8_SYMM_PER_CHANNEL", 1, true, false, true, 0, 0,
	  NNB_HAL_1_2 },
	QUANTIZED(QUANT16_ASYMM, 2, 1_2, 0, UINT16_MAX),
	QUANTIZED(QUANT8_SYMM, 1, 1_2, 0, 0),
	QUANTIZED(QUANT8_ASYMM_SIGNED, 1, 1_3, INT8_MIN, INT8_MAX),
	SCALAR(SUBGRAPH, 0, 1_3),
	SCALAR(OEM, 0, 1_0),
	TENSOR(OEM_BYTE, 1, 1_0),
};

static const struct {
	uint32_t op;
	const char *name;
	uint32_t hal;
} ops[] = {
#define NNB_OP(name, code, hal) { code, #name, NNB_HAL_##hal },
#include "nnb/operations.def"
#undef NNB_OP
	{ NNB_OEM_OPERATION, "OEM_OPERATION", NNB_HAL_1_0 },
};

#define N_OF(a) (sizeof(a) / sizeof((a)[0]))

const struct nnb_type_info *nnb_type_info(enum nnb_type type)
{
	for (size_t i = 0; i < N_OF(types); i++)
		if (types[i].type == type)
			return &types[i];
	return NULL;
}

int nnb_type_from_name(const char *name, uint32_t *ret)
{
	for (size_t i = 0; i < N_OF(types); i++)
		if (strcmp(types[i].name, name) == 0) {
			*ret = types[i].type;
			return 0;
		}
	return -ENOENT;
}

const char *nnb_op_name(uint32_t op)
{
	for (size_t i = 0; i < N_OF(ops); i++)
		if (ops[i].op == op)
			return ops[i].name;
	return NULL;
}

uint32_t nnb_op_hal(uint32_t op)
{
	for (size_t i = 0; i < N_OF(ops); i++)
		if (ops[i].op == op)
			return ops[i].hal;
	return 0;
}

int nnb_op_from_name(const char *name, uint32_t *ret)
{
	for (size_t i = 0; i < N_OF(ops); i++)
		if (strcmp(ops[i].name, name) == 0) {
			*ret = ops[i].op;
			return 0;
		}
	return -ENOENT;
}

const char *nnb_lifetime_name(enum nnb_lifetime lifetime)
{
	static const char *const names[] = {
		[NNB_TEMPORARY] = "TEMPORARY_VARIABLE",
		[NNB_MODEL_INPUT] = "MODEL_INPUT",
		[NNB_MODEL_OUTPUT] = "MODEL_OUTPUT",
		[NNB_CONSTANT_COPY] = "CONSTANT_COPY",
		[NNB_CONSTANT_REFERENCE] = "CONSTANT_REFERENCE",
		[NNB_NO_VALUE] = "NO_VALUE",
		[NNB_LIFETIME_SUBGRAPH] = "SUBGRAPH",
	};

	return (unsigned)lifetime < N_OF(names) ? names[lifetime] : "?";
}

int nnb_operand_bytes(uint32_t type, uint32_t rank, const uint32_t *dims, uint64_t *ret)
{
	const struct nnb_type_info *info = nnb_type_info(type);
	uint64_t bytes = info ? info->bytes : 0;

	if (info && info->tensor && rank == 0)
		bytes = 0;
	for (uint32_t d = 0; d < rank; d++)
		if (dims[d] == 0)
			bytes = 0;
	for (uint32_t d = 0; bytes && d < rank; d++)
		if (__builtin_mul_overflow(bytes, dims[d], &bytes))
			return -EOVERFLOW;
	*ret = bytes;
	return 0;
}
