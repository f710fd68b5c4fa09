/* types.c -- what there is: types, lifetimes, operations, by number and by name. */
#include <errno.h>
#include <string.h>

#include "nnb/model.h"

static const struct nnb_type_info types[] = {
	{ NNB_FLOAT32, "FLOAT32", 4, false, false, 0, 0 },
	{ NNB_INT32, "INT32", 4, false, false, 0, 0 },
	{ NNB_UINT32, "UINT32", 4, false, false, 0, 0 },
	{ NNB_TENSOR_FLOAT32, "TENSOR_FLOAT32", 4, true, false, 0, 0 },
	{ NNB_TENSOR_INT32, "TENSOR_INT32", 4, true, false, 0, 0 },
	{ NNB_TENSOR_QUANT8_ASYMM, "TENSOR_QUANT8_ASYMM", 1, true, true, 0, 255 },
	{ NNB_OEM, "OEM", 0, false, false, 0, 0 },
	{ NNB_TENSOR_OEM_BYTE, "TENSOR_OEM_BYTE", 1, true, false, 0, 0 },
};

static const struct {
	uint32_t op;
	const char *name;
} ops[] = {
#define NNB_OP(name, code) { code, #name },
#include "nnb/operations.def"
#undef NNB_OP
	{ NNB_OEM_OPERATION, "OEM_OPERATION" },
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
