/*
 * test_model_file.c -- model files: what the reader accepts, what it refuses and in which words, and that no
 * other bytes do harm.
 *
 * Most rows are the model below with one part replaced. Beside it are a few side files.
 */
#include "fmq_helpers.h"

#include <dirent.h>
#include <sys/stat.h>

#include "base.h"
#include "nnb/model.h"

/* Operands: 0 input, 1 constant copy, 2 constant reference, 3 activation, 4 temporary, 5 output. */
static const char base[] =
	"{\"name\": \"base\", \"hal\": \"V1_1\", \"relaxed\": true,\n"
	"\"operands\": [\n"
	"{\"type\": \"TENSOR_FLOAT32\", \"dims\": [2, 3], \"scale\": 0.0, \"zero_point\": 0,"
	" \"lifetime\": \"MODEL_INPUT\"},\n"
	"{\"type\": \"TENSOR_FLOAT32\", \"dims\": [3], \"lifetime\": \"CONSTANT_COPY\", \"value\": [1, -2.5, 3e2]},\n"
	"{\"type\": \"TENSOR_FLOAT32\", \"dims\": [1, 3], \"lifetime\": \"CONSTANT_REFERENCE\","
	" \"value\": [4, 5, 6]},\n"
	"{\"type\": \"INT32\", \"dims\": [], \"lifetime\": \"CONSTANT_COPY\", \"value\": [0]},\n"
	"{\"type\": \"TENSOR_FLOAT32\", \"dims\": [2, 3], \"lifetime\": \"TEMPORARY_VARIABLE\"},\n"
	"{\"type\": \"TENSOR_FLOAT32\", \"dims\": [2, 3], \"lifetime\": \"MODEL_OUTPUT\"}],\n"
	"\"operations\": [{\"type\": \"ADD\", \"inputs\": [0, 1, 3], \"outputs\": [4]},\n"
	"{\"type\": \"MUL\", \"inputs\": [4, 2, 3], \"outputs\": [5]}],\n"
	"\"inputs\": [0], \"outputs\": [5],\n"
	"\"examples\": [{\"inputs\": [[1, 2, 3, 4, 5, 6]], \"outputs\": [[8, 0, 18, 20, 12, 36]]}]}\n";

#define COPY "[1, -2.5, 3e2]"   /* operands[1].value */
#define REFERENCE "[4, 5, 6]"   /* operands[2].value */
#define SCALAR "\"value\": [0]" /* the value of operands[3] */

/* Operand 3, a constant, replaced. */
#define OPERAND_3 "{\"type\": \"INT32\", \"dims\": [], \"lifetime\": \"CONSTANT_COPY\", \"value\": [0]}"
#define CONSTANT(type, dims, value) \
	"{\"type\": \"" type "\", \"dims\": " dims ", \"lifetime\": \"CONSTANT_COPY\", \"value\": " value "}"

#define PER_CHANNEL(dim, scales)                                                                             \
	"{\"type\": \"TENSOR_QUANT8_SYMM_PER_CHANNEL\", \"dims\": [2, 2], \"lifetime\": \"CONSTANT_COPY\", " \
	"\"channel_dim\": " dim ", \"scales\": " scales ", \"value\": [-1, 1, 2, 3]}"

#define SIDE(name, offset, length) "{\"file\": \"" name "\", \"offset\": " #offset ", \"length\": " #length "}"

static char dir[] = "/tmp/test_model_file.XXXXXX";

struct row {
	const char *name;
	const char *find, *replace; /* in the model above; find NULL: replace is the whole text */
	int want;
	const char *reason;                            /* the beginning of the reason, when the file is refused */
	void (*check)(const struct nnb_model_file *f); /* the check of a file that is read */
};

/* ---- texts ---- */

/* The row's text in memory of exactly its size, whose end the address sanitizer watches. */
static char *text_of(const struct row *row, size_t *ret_bytes)
{
	const char *at = row->find ? strstr(base, row->find) : base;
	size_t before = row->find ? (size_t)(at - base) : 0;
	size_t after = row->find ? strlen(at + strlen(row->find)) : 0;
	size_t middle = strlen(row->replace);
	char *text;

	if (!at)
		fail_msg("the model has no '%s'", row->find);
	*ret_bytes = before + middle + after;
	text = malloc(*ret_bytes ? *ret_bytes : 1);
	memcpy(text, base, before);
	memcpy(text + before, row->replace, middle);
	memcpy(text + before + middle, base + sizeof(base) - 1 - after, after);
	return text;
}

static void assert_begins(const char *text, const char *with)
{
	if (strncmp(text, with, strlen(with)) != 0)
		fail_msg("'%s' does not begin with '%s'", text, with);
}

static void is_refused(const struct row *row, const char *text, size_t bytes)
{
	struct nnb_model_file *untouched = (struct nnb_model_file *)&bytes;
	struct nnb_model_file *f = untouched;
	struct nnb_reason reason = { "" };

	assert_int_equal(nnb_model_file_parse(&f, text, bytes, dir, &reason), row->want);
	assert_begins(reason.text, row->reason);
	assert_ptr_equal(f, untouched);
	assert_int_equal(nnb_model_file_parse(&f, text, bytes, dir, NULL), row->want);
	assert_ptr_equal(f, untouched);
}

static void is_read(const struct row *row, const char *text, size_t bytes)
{
	struct nnb_model_file *f = NULL;
	struct nnb_reason reason = { "" };

	if (nnb_model_file_parse(&f, text, bytes, dir, &reason) != 0)
		fail_msg("refused: %s", reason.text);
	assert_string_equal(reason.text, "");
	if (row->check)
		row->check(f);
	assert_null(nnb_model_file_free(f));
}

static void run_row(void **state)
{
	const struct row *row = *state;
	unsigned fds = count_fds();
	size_t bytes;
	char *text = text_of(row, &bytes);

	(row->want ? is_refused : is_read)(row, text, bytes);
	free(text);
	assert_int_equal(count_fds(), fds);
}

/* ---- what is read ---- */

/* The bytes of a constant in either place; the caller frees them. */
static void *constant(const struct nnb_model *m, uint32_t index)
{
	const struct nnb_location *l = &m->operands[index].location;
	struct nnb_mapping *mapping;
	uint8_t *copy = malloc(l->length + 1);

	if (m->operands[index].lifetime == NNB_CONSTANT_COPY) {
		assert_int_equal(l->pool, 0);
		assert_true((uint64_t)l->offset + l->length <= m->n_values);
		memcpy(copy, m->values + l->offset, l->length);
		return copy;
	}
	assert_true(l->pool < m->n_pools);
	assert_int_equal(nnb_map(&mapping, &m->pools[l->pool]), 0);
	assert_true((uint64_t)l->offset + l->length <= nnb_mapping_size(mapping));
	memcpy(copy, (uint8_t *)nnb_mapping_data(mapping) + l->offset, l->length);
	nnb_mapping_unref(mapping);
	return copy;
}

static void constant_is(const struct nnb_model *m, uint32_t index, const void *want, uint32_t bytes)
{
	void *have = constant(m, index);

	assert_int_equal(m->operands[index].location.length, bytes);
	assert_memory_equal(have, want, bytes);
	free(have);
}

static void check_base(const struct nnb_model_file *f)
{
	static const uint32_t consumers[] = { 1, 1, 1, 2, 1, 0 };
	static const uint32_t lifetimes[] = { NNB_MODEL_INPUT,   NNB_CONSTANT_COPY, NNB_CONSTANT_REFERENCE,
		                              NNB_CONSTANT_COPY, NNB_TEMPORARY,     NNB_MODEL_OUTPUT };
	static const float example[] = { 8, 0, 18, 20, 12, 36 };
	const struct nnb_model *m = f->model;

	assert_string_equal(m->name, "base");
	assert_int_equal(m->hal, NNB_HAL_1_1);
	assert_true(m->relaxed);
	assert_int_equal(m->n_operands, 6);
	for (unsigned i = 0; i < 6; i++) {
		assert_int_equal(m->operands[i].consumers, consumers[i]);
		assert_int_equal(m->operands[i].lifetime, lifetimes[i]);
	}
	assert_int_equal(m->operands[0].rank, 2);
	assert_int_equal(m->operands[0].dims[1], 3);
	assert_int_equal(m->operands[3].type, NNB_INT32);
	constant_is(m, 1, (float[]){ 1, -2.5F, 300 }, 12);
	constant_is(m, 2, (float[]){ 4, 5, 6 }, 12);
	constant_is(m, 3, (int32_t[]){ 0 }, 4);
	assert_int_equal(m->n_operations, 2);
	assert_int_equal(m->operations[1].type, NNB_MUL);
	assert_int_equal(m->operations[1].n_inputs, 3);
	assert_memory_equal(m->operations[1].inputs, ((uint32_t[]){ 4, 2, 3 }), 12);
	assert_int_equal(m->operations[1].outputs[0], 5);
	assert_int_equal(m->n_inputs, 1);
	assert_int_equal(m->n_outputs, 1);
	assert_int_equal(m->outputs[0], 5);
	assert_int_equal(f->n_examples, 1);
	assert_int_equal(f->examples[0].input_bytes[0], 24);
	assert_int_equal(f->examples[0].output_bytes[0], 24);
	assert_memory_equal(f->examples[0].outputs[0], example, 24);
}

static void check_defaults(const struct nnb_model_file *f)
{
	assert_int_equal(f->model->hal, NNB_HAL_1_0);
	assert_false(f->model->relaxed);
	assert_int_equal(f->model->n_operands, 1);
	assert_true(f->model->operands[0].scale == 0);
	assert_int_equal(f->model->operands[0].zero_point, 0);
	assert_int_equal(f->n_examples, 0);
	assert_null(f->examples);
}

static void check_quantized(const struct nnb_model_file *f)
{
	assert_true(f->model->operands[0].scale == 0.25F);
	assert_int_equal(f->model->operands[0].zero_point, -128);
}

static void check_unknown_extent(const struct nnb_model_file *f)
{
	assert_int_equal(f->model->operands[0].rank, 2);
	assert_int_equal(f->model->operands[0].dims[0], 0);
	assert_int_equal(f->examples[0].input_bytes[0], 24);
}

static void check_hal_1_3(const struct nnb_model_file *f)
{
	assert_int_equal(f->model->hal, NNB_HAL_1_3);
}

static void check_cut_name(const struct nnb_model_file *f)
{
	assert_int_equal(strlen(f->model->name), 62);
	assert_string_equal(f->model->name + 60, "yz");
}

static void check_long_name(const struct nnb_model_file *f)
{
	assert_int_equal(strlen(f->model->name), 63);
}

static void check_omitted(const struct nnb_model_file *f)
{
	assert_null(f->examples[0].inputs[0]);
	assert_int_equal(f->examples[0].input_bytes[0], 0);
	assert_non_null(f->examples[0].outputs[0]);
}

static void check_not_compared(const struct nnb_model_file *f)
{
	assert_non_null(f->examples[0].inputs[0]);
	assert_null(f->examples[0].outputs[0]);
	assert_int_equal(f->examples[0].output_bytes[0], 0);
}

static void check_floats(const struct nnb_model_file *f)
{
	constant_is(f->model, 3, (float[]){ 0x1.fffffep127F, -0x1.fffffep127F, 0x1p-149F, 16777216, -0.0F, 0.1F }, 24);
}

static void check_ints(const struct nnb_model_file *f)
{
	constant_is(f->model, 3, (int32_t[]){ INT32_MIN, INT32_MAX, -1 }, 12);
}

static void check_uint(const struct nnb_model_file *f)
{
	constant_is(f->model, 3, (uint32_t[]){ UINT32_MAX }, 4);
}

static void check_bytes(const struct nnb_model_file *f)
{
	constant_is(f->model, 3, (uint8_t[]){ 0, 255, 7 }, 3);
}

/* The three bytes of operand 1 push operand 3 to the next multiple of its size. */
static void check_alignment(const struct nnb_model_file *f)
{
	assert_int_equal(f->model->operands[1].location.offset, 0);
	assert_int_equal(f->model->operands[3].location.offset, 4);
	assert_int_equal(f->model->n_values, 8);
	assert_int_equal(f->model->values[3], 0);
	constant_is(f->model, 1, "\1\2\3", 3);
}

/* 1, -65504 and a number that is rounded to 0x3555. */
static void check_halves(const struct nnb_model_file *f)
{
	constant_is(f->model, 3, "\x00\x3c\xff\xfb\x55\x35", 6);
}

static void check_truths(const struct nnb_model_file *f)
{
	constant_is(f->model, 3, "\1\0\1\0", 4);
}

static void check_signed(const struct nnb_model_file *f)
{
	constant_is(f->model, 3, "\x80\x7f", 2);
}

static void check_words(const struct nnb_model_file *f)
{
	constant_is(f->model, 3, "\x00\x80\xff\x7f", 4);
}

static void check_channels(const struct nnb_model_file *f)
{
	const struct nnb_operand *o = &f->model->operands[3];
	const float *scales = nnb_operand_scales(f->model, o);

	assert_int_equal(o->channel_dim, 1);
	assert_int_equal(o->n_scales, 2);
	assert_int_equal(o->scales_at % 4, 0);
	assert_true(scales[0] == 0.5F && scales[1] == 2);
	constant_is(f->model, 3, "\xff\1\2\3", 4);
}

static void check_one_pool(const struct nnb_model_file *f)
{
	const struct nnb_model *m = f->model;

	assert_int_equal(m->n_pools, 1);
	assert_int_equal(nnb_memory_kind(&m->pools[0]), NNB_MEMORY_ASHMEM);
	assert_int_equal(m->operands[2].location.offset, 0);
	assert_int_equal(m->operands[3].location.offset, 64);
	assert_int_equal(m->pools[0].size, 68);
	assert_int_equal(m->n_values, 12);
	constant_is(m, 3, (int32_t[]){ 9 }, 4);
}

static void check_empty_constant(const struct nnb_model_file *f)
{
	assert_int_equal(f->model->operands[2].location.length, 0);
	assert_int_equal(f->model->n_pools, 0);
}

static void check_stray_index(const struct nnb_model_file *f)
{
	assert_int_equal(f->model->operations[1].inputs[1], UINT32_MAX);
	assert_int_equal(f->model->operands[2].consumers, 0);
}

static void check_oem(const struct nnb_model_file *f)
{
	assert_int_equal(f->model->operands[3].type, NNB_OEM);
	assert_int_equal(f->model->operands[3].location.length, 5);
	assert_int_equal(f->model->operations[1].type, NNB_MUL);
}

/* weights.bin holds the float32s 0, 1, 2, ... 7. */
static void check_side_reference(const struct nnb_model_file *f)
{
	const struct nnb_model *m = f->model;

	assert_int_equal(m->n_pools, 1);
	assert_int_equal(nnb_memory_kind(&m->pools[0]), NNB_MEMORY_MMAP_FD);
	assert_int_equal(m->pools[0].size, 32);
	assert_int_equal(m->pools[0].ints[0], PROT_READ);
	assert_int_equal(m->operands[2].location.offset, 20);
	constant_is(m, 2, (float[]){ 5, 6, 7 }, 12);
}

static void check_side_copy(const struct nnb_model_file *f)
{
	assert_int_equal(f->model->n_pools, 1); /* the pool of operand 2 */
	constant_is(f->model, 1, (float[]){ 1, 2, 3 }, 12);
	constant_is(f->model, 2, (float[]){ 4, 5, 6 }, 12);
}

/* Operands 1, 2 and 3 are references: to a file, to a list, to the same file. */
static void check_pools_shared(const struct nnb_model_file *f)
{
	const struct nnb_model *m = f->model;

	assert_int_equal(m->n_pools, 2);
	assert_int_equal(m->operands[1].location.pool, 0);
	assert_int_equal(m->operands[2].location.pool, 1);
	assert_int_equal(m->operands[3].location.pool, 0);
	assert_int_equal(nnb_memory_kind(&m->pools[0]), NNB_MEMORY_MMAP_FD);
	assert_int_equal(nnb_memory_kind(&m->pools[1]), NNB_MEMORY_ASHMEM);
	constant_is(m, 1, (float[]){ 0, 1, 2 }, 12);
	constant_is(m, 2, (float[]){ 4, 5, 6 }, 12);
	constant_is(m, 3, (float[]){ 7 }, 4);
}

/* clang-format off */
static const struct row reads[] = {
	{ "a model is read as it is written, consumers counted (O-13)", COPY, COPY, .check = check_base },
	{ "what may be left out has its default", NULL,
	  "{\"name\": \"\", \"operands\": [{\"type\": \"UINT32\", \"dims\": [], \"lifetime\": \"NO_VALUE\"}],"
	  " \"operations\": [], \"inputs\": [], \"outputs\": []}", .check = check_defaults },
	{ "keys that are not known are passed over", "\"name\": \"base\"",
	  "\"author\": {\"name\": [null]}, \"name\": \"base\"", .check = check_base },
	{ "keys that are not known are passed over in an operand", "\"dims\": [3]", "\"extraParams\": 1, \"dims\": [3]",
	  .check = check_base },
	{ "HAL 1.3", "V1_1", "V1_3", .check = check_hal_1_3 },
	{ "a name that fits", "\"base\"",
	  "\"012345678901234567890123456789012345678901234567890123456789xyz\"", .check = check_long_name },
	{ "a name is cut between characters", "\"base\"",
	  "\"012345678901234567890123456789012345678901234567890123456789yz\xc3\xa4 and more\"",
	  .check = check_cut_name },
	{ "scale and zero point", "\"scale\": 0.0, \"zero_point\": 0", "\"scale\": 0.25, \"zero_point\": -128",
	  .check = check_quantized },
	{ "an unknown extent, and an example of any length", "\"dims\": [2, 3], \"scale\"",
	  "\"dims\": [0, 3], \"scale\"", .check = check_unknown_extent },
	{ "an empty list omits an input (D-6)", "[1, 2, 3, 4, 5, 6]", "[]", .check = check_omitted },
	{ "null omits an input (D-6)", "[1, 2, 3, 4, 5, 6]", "null", .check = check_omitted },
	{ "null for an output: not compared", "[8, 0, 18, 20, 12, 36]", "null", .check = check_not_compared },
	{ "the ends of float32", OPERAND_3,
	  CONSTANT("TENSOR_FLOAT32", "[6]", "[3.4028235677e38, -3.4028235e38, 1e-45, 16777217, -0.0, 0.1]"),
	  .check = check_floats },
	{ "the ends of int32", OPERAND_3, CONSTANT("TENSOR_INT32", "[3]", "[-2147483648, 2147483647, -1]"),
	  .check = check_ints },
	{ "the end of uint32", OPERAND_3, CONSTANT("UINT32", "[]", "[4294967295]"), .check = check_uint },
	{ "the ends of quant8", OPERAND_3, CONSTANT("TENSOR_QUANT8_ASYMM", "[1, 3]", "[0, 255, 7]"),
	  .check = check_bytes },
	{ "half floats, rounded", OPERAND_3, CONSTANT("TENSOR_FLOAT16", "[3]", "[1, -65504, 0.33333]"),
	  .check = check_halves },
	{ "truth values, and 1 and 0", OPERAND_3, CONSTANT("TENSOR_BOOL8", "[4]", "[true, false, 1, 0]"),
	  .check = check_truths },
	{ "the ends of signed quant8", OPERAND_3, CONSTANT("TENSOR_QUANT8_ASYMM_SIGNED", "[2]", "[-128, 127]"),
	  .check = check_signed },
	{ "the ends of symmetric quant8", OPERAND_3, CONSTANT("TENSOR_QUANT8_SYMM", "[2]", "[-128, 127]"),
	  .check = check_signed },
	{ "the ends of symmetric quant16", OPERAND_3, CONSTANT("TENSOR_QUANT16_SYMM", "[2]", "[-32768, 32767]"),
	  .check = check_words },
	{ "the ends of quant16", OPERAND_3, CONSTANT("TENSOR_QUANT16_ASYMM", "[2]", "[32768, 32767]"),
	  .check = check_words },
	{ "scales of channels", OPERAND_3, PER_CHANNEL("1", "[0.5, 2]"), .check = check_channels },
	{ "HAL 1.3's names of what goes in", "\"MODEL_INPUT\"", "\"SUBGRAPH_INPUT\"", .check = check_base },
	{ "and of what comes out", "\"MODEL_OUTPUT\"", "\"SUBGRAPH_OUTPUT\"", .check = check_base },
	{ "the ends of an OEM byte", OPERAND_3, CONSTANT("TENSOR_OEM_BYTE", "[3]", "[0, 255, 7]"),
	  .check = check_bytes },
	{ "copies are aligned to their elements (P-1)",
	  "{\"type\": \"TENSOR_FLOAT32\", \"dims\": [3], \"lifetime\": \"CONSTANT_COPY\", \"value\": " COPY "}",
	  CONSTANT("TENSOR_QUANT8_ASYMM", "[3]", "[1, 2, 3]"), .check = check_alignment },
	{ "references share a pool, on lines of 64 bytes (P-2, P-19)", "\"CONSTANT_COPY\", " SCALAR,
	  "\"CONSTANT_REFERENCE\", \"value\": [9]", .check = check_one_pool },
	{ "a constant of no elements needs no pool", "\"dims\": [1, 3], \"lifetime\": \"CONSTANT_REFERENCE\", \"value\": "
	  REFERENCE, "\"dims\": [0], \"lifetime\": \"CONSTANT_REFERENCE\", \"value\": []",
	  .check = check_empty_constant },
	{ "an index of nothing is validation's business (O-10)", "[4, 2, 3]", "[4, 4294967295, 3]",
	  .check = check_stray_index },
	{ "an OEM constant of any length", OPERAND_3, CONSTANT("OEM", "[]", SIDE("weights.bin", 3, 5)),
	  .check = check_oem },
	{ "null as the value of what has none", "\"lifetime\": \"TEMPORARY_VARIABLE\"",
	  "\"lifetime\": \"TEMPORARY_VARIABLE\", \"value\": null", .check = check_base },
	{ "an empty value of what has none", "\"lifetime\": \"TEMPORARY_VARIABLE\"",
	  "\"lifetime\": \"TEMPORARY_VARIABLE\", \"value\": []", .check = check_base },
	{ "a reference into a file is a mapping of it (P-2)", REFERENCE, SIDE("weights.bin", 20, 12),
	  .check = check_side_reference },
	{ "a copy from a file (P-1)", COPY, SIDE("weights.bin", 4, 12), .check = check_side_copy },
	{ "a name with dots is a plain name", COPY, SIDE("..weights", 0, 12), .check = NULL },
};

static const struct row refusals[] = {
	/* texts that are not JSON */
	{ "nothing", NULL, "", -EINVAL, "line 1, column 0: " },
	{ "a missing comma", "\"hal\": \"V1_1\",", "\"hal\": \"V1_1\"", -EINVAL,
	  "line 1, column 40: '}' expected near '\"relaxed\"'" },
	{ "an error further down", "\"outputs\": [5]", "\"outputs\": [5", -EINVAL, "line 10, column 51: ']' expected near '}'" },
	{ "something behind the end", "]}\n", "]} x", -EINVAL, "line 12, column 86: end of file expected near 'x'" },
	{ "a key twice", "\"name\": \"base\"", "\"name\": \"base\", \"name\": \"base\"", -EINVAL,
	  "line 1, column 23: duplicate object key near '\"name\"'" },
	{ "a number beyond double", COPY, "[1, -2.5, 1e400]", -EINVAL, "line 4, column 93: real number overflow" },
	{ "an integer beyond 63 bits", COPY, "[1, -2.5, 9223372036854775808]", -EINVAL,
	  "line 4, column 107: too big integer" },
	{ "not a number", COPY, "[1, NaN, 3]", -EINVAL, "line 4, column 85: invalid token near 'NaN'" },
	{ "a letter that no terminal should see", NULL, "{\x1b[2J", -EINVAL,
	  "line 1, column 2: string or '}' expected near '?'" },
	{ "a string that is no UTF-8", "\"base\"", "\"\xff\"", -EINVAL, "line 1, column 10: unable to decode byte 0xff" },
	{ "a zero character in a name", "\"base\"", "\"\\u0000\"", -EINVAL, "line 1, column 17: \\u0000 is not allowed" },

	/* the whole file */
	{ "a list", NULL, "[]", -EINVAL, "the file is not an object" },
	{ "a string for a file", NULL, "\"x\"", -EINVAL, "line 1, column 3: '[' or '{' expected near '\"x\"'" },
	{ "no name", "\"name\": ", "\"game\": ", -EINVAL, "name: missing" },
	{ "a name that is a number", "\"base\"", "1", -EINVAL, "name: not a string" },
	{ "a HAL that is a number", "\"V1_1\"", "1.1", -EINVAL, "hal: not a string" },
	{ "a HAL of later", "\"V1_1\"", "\"V2_0\"", -ENOTSUP, "hal: no HAL V2_0 here" },
	{ "relaxed by number", "\"relaxed\": true", "\"relaxed\": 1", -EINVAL, "relaxed: not true or false" },
	{ "no operands", "\"operands\"", "\"operand\"", -EINVAL, "operands: missing" },
	{ "no operations", "\"operations\"", "\"operation\"", -EINVAL, "operations: missing" },
	{ "no inputs", "\"inputs\": [0], ", "", -EINVAL, "inputs: missing" },
	{ "no outputs", ", \"outputs\": [5],", ",", -EINVAL, "outputs: missing" },
	{ "operands that are no list", NULL, "{\"name\": \"\", \"operands\": {}}", -EINVAL, "operands: not a list" },
	{ "operations that are no list", NULL, "{\"name\": \"\", \"operands\": [], \"operations\": 3}", -EINVAL,
	  "operations: not a list" },
	{ "an input that is a string", "\"inputs\": [0], ", "\"inputs\": [0, \"0\"], ", -EINVAL,
	  "inputs[1]: not an integer" },
	{ "an input below zero", "\"inputs\": [0], ", "\"inputs\": [-1], ", -EINVAL,
	  "inputs[0]: -1 is not from 0 to 4294967295" },
	{ "an output beyond 32 bits", "\"outputs\": [5],\n", "\"outputs\": [4294967296],\n", -EINVAL,
	  "outputs[0]: 4294967296 is not from 0 to 4294967295" },

	/* operands */
	{ "an operand that is a number", OPERAND_3, "7", -EINVAL, "operands[3]: not an object" },
	{ "no type", OPERAND_3, "{}", -EINVAL, "operands[3].type: missing" },
	{ "a type by number", "\"INT32\"", "1", -EINVAL, "operands[3].type: not a string" },
	{ "a type of later (O-1)", "\"INT32\"", "\"TENSOR_INT64\"", -ENOTSUP,
	  "operands[3].type: no type TENSOR_INT64 here" },
	{ "a type in letters that no terminal should see", "\"INT32\"", "\"\\u001b[2J\xc3\xa4\"", -ENOTSUP,
	  "operands[3].type: no type ?[2J?? here" },
	{ "no dims", "\"dims\": [], ", "", -EINVAL, "operands[3].dims: missing" },
	{ "dims that are a number", "\"dims\": []", "\"dims\": 1", -EINVAL, "operands[3].dims: not a list" },
	{ "nine dims", "\"dims\": []", "\"dims\": [1, 1, 1, 1, 1, 1, 1, 1, 1]", -EINVAL,
	  "operands[3].dims: 9 are more than 8" },
	{ "an extent below zero", "\"dims\": [1, 3]", "\"dims\": [1, -4]", -EINVAL,
	  "operands[2].dims[1]: -4 is not from 0 to 4294967295" },
	{ "an extent beyond 32 bits", "\"dims\": [1, 3]", "\"dims\": [4294967296, 3]", -EINVAL,
	  "operands[2].dims[0]: 4294967296 is not from 0 to 4294967295" },
	{ "half an extent", "\"dims\": [1, 3]", "\"dims\": [1, 3.0]", -EINVAL, "operands[2].dims[1]: not an integer" },
	{ "a scale that is a string", "\"scale\": 0.0", "\"scale\": \"0\"", -EINVAL, "operands[0].scale: not a number" },
	{ "a scale beyond float32", "\"scale\": 0.0", "\"scale\": 1e39", -EINVAL,
	  "operands[0].scale: 1e+39 is beyond float32" },
	{ "half a zero point", "\"zero_point\": 0", "\"zero_point\": 0.5", -EINVAL,
	  "operands[0].zero_point: not an integer" },
	{ "a zero point beyond 32 bits", "\"zero_point\": 0", "\"zero_point\": -2147483649", -EINVAL,
	  "operands[0].zero_point: -2147483649 is not from -2147483648 to 2147483647" },
	{ "no lifetime", "\"lifetime\": \"MODEL_INPUT\"", "\"life\": 1", -EINVAL, "operands[0].lifetime: missing" },
	{ "no such lifetime (O-3)", "MODEL_OUTPUT", "MODEL_OUPUT", -EINVAL,
	  "operands[5].lifetime: no lifetime MODEL_OUPUT" },

	/* values */
	{ "a constant without a value", ", " SCALAR, "", -EINVAL, "operands[3].value: missing" },
	{ "a constant of null", SCALAR, "\"value\": null", -EINVAL,
	  "operands[3].value: neither a list nor the place in a file" },
	{ "a value that is a bare number", SCALAR, "\"value\": 0", -EINVAL,
	  "operands[3].value: neither a list nor the place in a file" },
	{ "an input with a value", "\"MODEL_INPUT\"", "\"MODEL_INPUT\", \"value\": [1]", -EINVAL,
	  "operands[0].value: a MODEL_INPUT has none" },
	{ "a temporary with a value", "\"TEMPORARY_VARIABLE\"", "\"TEMPORARY_VARIABLE\", \"value\": {}", -EINVAL,
	  "operands[4].value: a TEMPORARY_VARIABLE has none" },
	{ "too few values", COPY, "[1, 2]", -EINVAL, "operands[1].value: 2 values, but the dims say 3" },
	{ "too many values", COPY, "[1, 2, 3, 4]", -EINVAL, "operands[1].value: 4 values, but the dims say 3" },
	{ "a value of unknown extent (O-14)", "\"dims\": [1, 3]", "\"dims\": [0, 3]", -EINVAL,
	  "operands[2].value: 3 values, but the dims say 0" },
	{ "a nested list", REFERENCE, "[[4], 5, 6]", -EINVAL, "operands[2].value[0]: not a number" },
	{ "a truth value among floats", REFERENCE, "[4, true, 6]", -EINVAL, "operands[2].value[1]: not a number" },
	{ "a real beyond float32", COPY, "[1, -3.4028236e38, 3]", -EINVAL,
	  "operands[1].value[1]: -3.40282e+38 is beyond float32" },
	{ "a real just beyond float32", COPY, "[1, 3, 3.4028236e38]", -EINVAL,
	  "operands[1].value[2]: 3.40282e+38 is beyond float32" },
	{ "a real among integers", SCALAR, "\"value\": [1.0]", -EINVAL, "operands[3].value[0]: not an integer" },
	{ "an integer beyond int32", SCALAR, "\"value\": [2147483648]", -EINVAL,
	  "operands[3].value[0]: 2147483648 is not from -2147483648 to 2147483647" },
	{ "an integer below uint32", OPERAND_3, CONSTANT("UINT32", "[]", "[-1]"), -EINVAL,
	  "operands[3].value[0]: -1 is not from 0 to 4294967295" },
	{ "an integer beyond quant8", OPERAND_3, CONSTANT("TENSOR_QUANT8_ASYMM", "[2]", "[0, 256]"), -EINVAL,
	  "operands[3].value[1]: 256 is not from 0 to 255" },
	{ "an integer below quant8", OPERAND_3, CONSTANT("TENSOR_QUANT8_ASYMM", "[2]", "[-1, 0]"), -EINVAL,
	  "operands[3].value[0]: -1 is not from 0 to 255" },
	{ "a truth value of 2", OPERAND_3, CONSTANT("TENSOR_BOOL8", "[1]", "[2]"), -EINVAL,
	  "operands[3].value[0]: 2 is not from 0 to 1" },
	{ "an integer beyond signed quant8", OPERAND_3, CONSTANT("TENSOR_QUANT8_ASYMM_SIGNED", "[1]", "[128]"), -EINVAL,
	  "operands[3].value[0]: 128 is not from -128 to 127" },
	{ "channels in a dimension that cannot be", OPERAND_3, PER_CHANNEL("8", "[0.5, 2]"), -EINVAL,
	  "operands[3].channel_dim: 8 is not from 0 to 7" },
	{ "a scale that is no number", OPERAND_3, PER_CHANNEL("1", "[0.5, null]"), -EINVAL,
	  "operands[3].scales[1]: not a number" },
	{ "scales that are no list", OPERAND_3, PER_CHANNEL("1", "0.5"), -EINVAL, "operands[3].scales: not a list" },
	{ "another lifetime of subgraphs", "\"MODEL_INPUT\"", "\"SUBGRAPH_VALUE\"", -EINVAL,
	  "operands[0].lifetime: no lifetime SUBGRAPH_VALUE" },
	{ "dims whose product wraps around 64 bits", OPERAND_3,
	  CONSTANT("TENSOR_FLOAT32", "[2147483648, 2147483648, 4]", "[]"), -EINVAL,
	  "operands[3].value: its dims make it larger than 4 GiB" },
	{ "dims beyond what a location can name (P-4)", OPERAND_3,
	  CONSTANT("TENSOR_FLOAT32", "[1073741824]", "[0]"), -EINVAL,
	  "operands[3].value: its dims make it larger than 4 GiB" },
	{ "an OEM value as a list", OPERAND_3, CONSTANT("OEM", "[]", "[0]"), -EINVAL,
	  "operands[3].value: values of type OEM cannot be listed" },

	/* operations */
	{ "an operation that is a list", "{\"type\": \"MUL\", \"inputs\": [4, 2, 3], \"outputs\": [5]}", "[]", -EINVAL,
	  "operations[1]: not an object" },
	{ "an operation of later", "\"MUL\"", "\"BATCH_MATMUL\"", -ENOTSUP, "operations[1].type: no operation BATCH_MATMUL here" },
	{ "an operation by number", "\"MUL\"", "18", -EINVAL, "operations[1].type: not a string" },
	{ "an operation without inputs", "\"MUL\", \"inputs\"", "\"MUL\", \"input\"", -EINVAL,
	  "operations[1].inputs: missing" },
	{ "an operation without outputs", ", \"outputs\": [4]", "", -EINVAL, "operations[0].outputs: missing" },
	{ "an operation's input below zero", "[4, 2, 3]", "[4, 2, -3]", -EINVAL,
	  "operations[1].inputs[2]: -3 is not from 0 to 4294967295" },
	{ "an operation's output that is null", "\"outputs\": [4]", "\"outputs\": [null]", -EINVAL,
	  "operations[0].outputs[0]: not an integer" },

	/* examples */
	{ "examples that are an object", NULL, "{\"name\": \"\", \"operands\": [], \"operations\": [], \"inputs\": [],"
	  " \"outputs\": [], \"examples\": {}}", -EINVAL, "examples: not a list" },
	{ "an example that is a list", "{\"inputs\": [[1, 2, 3, 4, 5, 6]], \"outputs\": [[8, 0, 18, 20, 12, 36]]}", "[]",
	  -EINVAL, "examples[0]: not an object" },
	{ "an example without outputs", "]], \"outputs\": [[8", "]], \"output\": [[8", -EINVAL,
	  "examples[0].outputs: missing" },
	{ "an example with an input too many", "[[1, 2, 3, 4, 5, 6]]", "[[1, 2, 3, 4, 5, 6], []]", -EINVAL,
	  "examples[0].inputs: 2, but the model has 1" },
	{ "an example with an output too few", "[[8, 0, 18, 20, 12, 36]]", "[]", -EINVAL,
	  "examples[0].outputs: 0, but the model has 1" },
	{ "an input that is a number", "[[1, 2, 3, 4, 5, 6]]", "[1]", -EINVAL,
	  "examples[0].inputs[0]: neither a list nor null" },
	{ "an input of too few values", "[[1, 2, 3, 4, 5, 6]]", "[[1, 2, 3, 4, 5]]", -EINVAL,
	  "examples[0].inputs[0]: 5 values, but the dims say 6" },
	{ "an output of no values", "[[8, 0, 18, 20, 12, 36]]", "[[]]", -EINVAL,
	  "examples[0].outputs[0]: 0 values, but the dims say 6" },
	{ "an example's value that is a string", "18, 20", "18, \"20\"", -EINVAL,
	  "examples[0].outputs[0][3]: not a number" },
	{ "an example of an operand that is not there", "\"inputs\": [0], ", "\"inputs\": [6], ", -EINVAL,
	  "examples[0].inputs[0]: is for operand 6, and there are 6" },

	/* side files */
	{ "no file's name", REFERENCE, "{\"offset\": 0, \"length\": 12}", -EINVAL, "operands[2].value.file: missing" },
	{ "a file's name that is a number", REFERENCE, "{\"file\": 1}", -EINVAL, "operands[2].value.file: not a string" },
	{ "no offset", REFERENCE, "{\"file\": \"weights.bin\", \"length\": 12}", -EINVAL,
	  "operands[2].value.offset: missing" },
	{ "no length", REFERENCE, "{\"file\": \"weights.bin\", \"offset\": 0}", -EINVAL,
	  "operands[2].value.length: missing" },
	{ "an offset below zero", REFERENCE, SIDE("weights.bin", -4, 12), -EINVAL,
	  "operands[2].value.offset: -4 is not from 0 to 4294967295" },
	{ "an offset that would wrap 32 bits (P-4)", REFERENCE, SIDE("weights.bin", 4294967288, 12), -EINVAL,
	  "operands[2].value: weights.bin has 32 bytes, and bytes 4294967288 to 4294967300 are asked for" },
	{ "an offset beyond 32 bits", REFERENCE, SIDE("weights.bin", 4294967296, 12), -EINVAL,
	  "operands[2].value.offset: 4294967296 is not from 0 to 4294967295" },
	{ "an offset inside an element", REFERENCE, SIDE("weights.bin", 2, 12), -EINVAL,
	  "operands[2].value.offset: 2 is no multiple of 4, an element's bytes" },
	{ "a length that is not the operand's", REFERENCE, SIDE("weights.bin", 0, 8), -EINVAL,
	  "operands[2].value.length: 8 bytes, but the dims say 12" },
	{ "a length of none", REFERENCE, SIDE("weights.bin", 0, 0), -EINVAL,
	  "operands[2].value.length: 0 is not from 1 to 4294967295" },
	{ "beyond the end of a file, referred to", REFERENCE, SIDE("weights.bin", 24, 12), -EINVAL,
	  "operands[2].value: weights.bin has 32 bytes, and bytes 24 to 36 are asked for" },
	{ "beyond the end of a file, copied", COPY, SIDE("weights.bin", 24, 12), -EINVAL,
	  "operands[1].value: weights.bin has 32 bytes, and bytes 24 to 36 are asked for" },
	{ "an empty file", REFERENCE, SIDE("empty", 0, 12), -EINVAL,
	  "operands[2].value: empty has 0 bytes, and bytes 0 to 12 are asked for" },
	{ "a file that is missing", REFERENCE, SIDE("missing.bin", 0, 12), -ENOENT,
	  "operands[2].value.file: missing.bin: No such file or directory" },
	{ "a symbolic link", REFERENCE, SIDE("link", 0, 12), -EINVAL, "operands[2].value.file: link is no regular file" },
	{ "a directory", REFERENCE, SIDE("folder", 0, 12), -EINVAL,
	  "operands[2].value.file: folder is no regular file" },
	{ "a FIFO, without a wait for a writer", REFERENCE, SIDE("fifo", 0, 12), -EINVAL,
	  "operands[2].value.file: fifo is no regular file" },
	{ "a file further down", REFERENCE, SIDE("folder/inner", 0, 12), -EINVAL,
	  "operands[2].value.file: 'folder/inner' is not a plain file name" },
	{ "a file further up", REFERENCE, SIDE("../x", 0, 12), -EINVAL,
	  "operands[2].value.file: '../x' is not a plain file name" },
	{ "a file at the root", REFERENCE, SIDE("/etc/passwd", 0, 12), -EINVAL,
	  "operands[2].value.file: '/etc/passwd' is not a plain file name" },
	{ "the directory", REFERENCE, SIDE(".", 0, 12), -EINVAL, "operands[2].value.file: '.' is not a plain file name" },
	{ "the directory above", REFERENCE, SIDE("..", 0, 12), -EINVAL,
	  "operands[2].value.file: '..' is not a plain file name" },
	{ "no name at all", REFERENCE, SIDE("", 0, 12), -EINVAL, "operands[2].value.file: '' is not a plain file name" },
};
/* clang-format on */

/* ---- what rows cannot express ---- */

static int parse(const char *text, size_t bytes, const char *in, struct nnb_reason *reason)
{
	struct nnb_model_file *f = NULL;
	char *exact = malloc(bytes ? bytes : 1);
	int s;

	memcpy(exact, text, bytes);
	s = nnb_model_file_parse(&f, exact, bytes, in, reason);
	free(exact);
	nnb_model_file_free(f);
	return s;
}

static void a_file_is_one_pool(void **state)
{
	static const struct row third = { .find = OPERAND_3,
		                          .replace = "{\"type\": \"FLOAT32\", \"dims\": [], \"lifetime\": "
		                                     "\"CONSTANT_REFERENCE\", \"value\": " SIDE("weights.bin", 28,
		                                                                                4) "}" };
	static const char second[] = "\"CONSTANT_COPY\", \"value\": " COPY;
	static const char other[] = "\"CONSTANT_REFERENCE\", \"value\": " SIDE("weights.bin", 0, 12);
	struct nnb_model_file *f = NULL;
	size_t bytes;
	char *text = text_of(&third, &bytes);
	char *at = memmem(text, bytes, second, strlen(second));
	char *all;
	int n;

	(void)state;
	n = asprintf(&all, "%.*s%s%.*s", (int)(at - text), text, other, (int)(text + bytes - at - strlen(second)),
	             at + strlen(second));
	assert_true(n > 0);
	assert_int_equal(nnb_model_file_parse(&f, all, (size_t)n, dir, NULL), 0);
	check_pools_shared(f);
	nnb_model_file_free(f);
	free(all);
	free(text);
}

static void side_files_need_a_directory(void **state)
{
	static const struct row row = { .find = REFERENCE, .replace = SIDE("weights.bin", 0, 12) };
	struct nnb_reason reason = { "" };
	size_t bytes;
	char *text = text_of(&row, &bytes);

	(void)state;
	assert_int_equal(parse(text, bytes, NULL, &reason), -EINVAL);
	assert_string_equal(reason.text, "operands[2].value.file: this model has no directory for side files");
	assert_int_equal(parse(text, bytes, "/nowhere", &reason), -ENOENT);
	assert_string_equal(reason.text, "operands[2].value.file: the model's directory: No such file or directory");
	free(text);
}

static void every_beginning_is_refused(void **state)
{
	size_t whole = sizeof(base) - 2; /* without the last newline */

	(void)state;
	for (size_t n = 0; n < whole; n++)
		assert_int_equal(parse(base, n, dir, NULL), -EINVAL);
	assert_int_equal(parse(base, whole, dir, NULL), 0);
}

/* Most changes make another good file or a bad one; no change does harm, and each failure has a reason. */
static void any_change_does_no_harm(void **state)
{
	static const struct row side = { .find = REFERENCE, .replace = SIDE("weights.bin", 0, 12) };
	size_t bytes;
	char *text = text_of(&side, &bytes);
	uint64_t chance = 3;
	unsigned fds = count_fds();
	unsigned good = 0;

	(void)state;
	for (size_t i = 0; i < bytes; i++)
		for (unsigned k = 0; k < 12; k++) {
			static const char likely[] = "0123456789-.,[]{}\":eE_ nXA";
			struct nnb_reason reason = { "" };
			char was = text[i];
			int s;

			text[i] = likely[next_random(&chance) % (sizeof(likely) - 1)];
			s = parse(text, bytes, dir, &reason);
			text[i] = was;
			assert_true(s <= 0);
			assert_int_equal(s == 0, !*reason.text);
			good += s == 0;
		}
	assert_true(good > 100); /* otherwise only the first check would have been reached */
	assert_int_equal(count_fds(), fds);
	free(text);
}

/* A list of more than NNB_OPERANDS_MAX entries: "@before0,0,...0@after". */
static void too_many(const char *before, const char *after, const char *want)
{
	size_t n = NNB_OPERANDS_MAX + 1;
	char *text = malloc(strlen(before) + 2 * n + strlen(after) + 1);
	char *end = stpcpy(text, before);
	struct nnb_reason reason = { "" };

	for (size_t i = 0; i < n; i++)
		end = stpcpy(end, i ? ",0" : "0");
	end = stpcpy(end, after);
	assert_int_equal(parse(text, (size_t)(end - text), NULL, &reason), -EINVAL);
	assert_string_equal(reason.text, want);
	free(text);
}

static void counts_are_bounded(void **state)
{
	(void)state;
	too_many("{\"name\":\"\",\"operands\":[", "]}", "operands: 1048577 are more than 1048576");
	too_many("{\"name\":\"\",\"operands\":[],\"operations\":[", "]}", "operations: 1048577 are more than 1048576");
	too_many("{\"name\":\"\",\"operands\":[],\"operations\":[{\"type\":\"ADD\",\"inputs\":[", "]}]}",
	         "operations[0].inputs: 1048577 are more than 1048576");
	too_many("{\"name\":\"\",\"operands\":[],\"operations\":[],\"inputs\":[", "]}",
	         "inputs: 1048577 are more than 1048576");
}

static void depth_is_bounded(void **state)
{
	enum { DEPTH = 1000000 };
	char *text = malloc(DEPTH);
	struct nnb_reason reason = { "" };

	(void)state;
	memset(text, '[', DEPTH);
	assert_int_equal(parse(text, DEPTH, NULL, &reason), -EINVAL);
	assert_begins(reason.text, "line 1, column ");
	assert_non_null(strstr(reason.text, "maximum parsing depth reached"));
	free(text);
}

static void length_is_bounded(void **state)
{
	size_t bytes = ((size_t)256 << 20) + 1;
	char *text = mmap(NULL, bytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	struct nnb_model_file *f = NULL;
	struct nnb_reason reason = { "" };

	(void)state;
	assert_ptr_not_equal(text, MAP_FAILED);
	assert_int_equal(nnb_model_file_parse(&f, text, bytes, NULL, &reason), -EFBIG);
	assert_string_equal(reason.text, "more than 256 MiB of text: keep the values in a file beside it");
	assert_int_equal(nnb_model_file_parse(&f, text, bytes - 1, NULL, &reason), -EINVAL); /* zeroes are not JSON */
	munmap(text, bytes);
}

/* ---- memory ---- */

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define OTHERS_ALLOCATE
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define OTHERS_ALLOCATE
#endif

static bool scarce;
static size_t allocations_left;

#ifndef OTHERS_ALLOCATE
void *__libc_malloc(size_t n);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *p, size_t n);

static bool refuses(void)
{
	return scarce && (!allocations_left || !allocations_left--);
}

NNB_PUBLIC void *malloc(size_t n)
{
	return refuses() ? NULL : __libc_malloc(n);
}

NNB_PUBLIC void *calloc(size_t n, size_t size)
{
	return refuses() ? NULL : __libc_calloc(n, size);
}

NNB_PUBLIC void *realloc(void *p, size_t n)
{
	return refuses() ? NULL : __libc_realloc(p, n);
}
#endif

/* Allocation n and all later ones fail, for n = 1, 2, ..., until the reader needs no more. */
static void no_memory_does_no_harm(void **state)
{
	static const struct row side = { .find = REFERENCE, .replace = SIDE("weights.bin", 20, 12) };
	size_t bytes;
	char *text = text_of(&side, &bytes);
	unsigned fds = count_fds();
	unsigned told = 0;
	size_t n = 0;
	int s;

	(void)state;
	do {
		struct nnb_model_file *f = NULL;
		struct nnb_reason reason = { "" };

		scarce = true;
		allocations_left = n++;
		s = nnb_model_file_parse(&f, text, bytes, dir, &reason);
		scarce = false;
		assert_int_equal(s == 0, f != NULL);
		assert_int_equal(s == 0, !*reason.text);
		/* jansson takes some of its own for errors in the text. */
		assert_true(s == 0 || s == -ENOMEM || strncmp(reason.text, "line ", 5) == 0);
		told += s == -ENOMEM;
		nnb_model_file_free(f);
	} while (s < 0);
	assert_int_equal(count_fds(), fds);
	free(text);
#ifdef OTHERS_ALLOCATE
	skip();
#endif
	assert_true(told > 20);
}

static void freeing_nothing_is_fine(void **state)
{
	(void)state;
	assert_null(nnb_model_file_free(NULL));
}

/* ---- files ---- */

static char *path_of(const char *in, const char *name)
{
	char *path;

	if (asprintf(&path, "%s/%s", in, name) < 0)
		abort();
	return path;
}

/* Write a file below the test's directory. */
static void write_file(const char *name, const void *data, size_t bytes)
{
	char *path = path_of(dir, name);
	FILE *f = fopen(path, "w");

	if (!f || fwrite(data, 1, bytes, f) != bytes || fclose(f) != 0)
		abort();
	free(path);
}

/* The answer of nnb_model_file_read for a file, and the reason behind the path. */
static int read_file(const char *in, const char *name, struct nnb_reason *reason)
{
	struct nnb_model_file *f = NULL;
	char *path = path_of(in, name);
	struct nnb_reason whole = { "" };
	int s = nnb_model_file_read(&f, path, &whole);

	nnb_model_file_free(f);
	reason->text[0] = '\0';
	if (s < 0) {
		assert_begins(whole.text, path);
		assert_begins(whole.text + strlen(path), ": ");
		strcpy(reason->text, whole.text + strlen(path) + 2);
	}
	free(path);
	return s;
}

static void reasons_begin_with_the_path(void **state)
{
	struct nnb_reason reason;
	char *fifo;

	(void)state;
	assert_int_equal(read_file(dir, "nothing.json", &reason), -ENOENT);
	assert_string_equal(reason.text, "No such file or directory");
	assert_int_equal(read_file(dir, "folder", &reason), -EISDIR);
	assert_string_equal(reason.text, "Is a directory");
	fifo = path_of(dir, "fifo.json");
	assert_int_equal(mkfifo(fifo, 0600), 0);
	free(fifo);
	assert_int_equal(read_file(dir, "fifo.json", &reason), -EINVAL); /* the reader does not wait for a writer */
	assert_string_equal(reason.text, "it is not a regular file");
	write_file("bad.json", "[}", 2);
	assert_int_equal(read_file(dir, "bad.json", &reason), -EINVAL);
	assert_begins(reason.text, "line 1, column 2: ");
	write_file("worse.json", "{}", 2);
	assert_int_equal(read_file(dir, "worse.json", &reason), -EINVAL);
	assert_string_equal(reason.text, "name: missing");
}

/* A file larger than one read is read whole, with its side file beside it, from any working directory. */
static void large_files_are_read_whole(void **state)
{
	static const struct row side = { .find = REFERENCE, .replace = SIDE("weights.bin", 20, 12) };
	size_t bytes;
	char *text = text_of(&side, &bytes);
	char *large = malloc(500000 + bytes);
	struct nnb_reason reason;
	struct nnb_model_file *f = NULL;

	(void)state;
	memset(large, ' ', 500000);
	memcpy(large + 500000, text, bytes);
	write_file("large.json", large, 500000 + bytes);
	if (read_file(dir, "large.json", &reason) != 0)
		fail_msg("%s", reason.text);
	assert_int_equal(chdir(dir), 0);
	assert_int_equal(nnb_model_file_read(&f, "large.json", NULL), 0);
	check_side_reference(f);
	assert_int_equal(chdir("/"), 0);
	nnb_model_file_free(f);
	free(text);
	free(large);
}

/* Read every model in a directory; return their number. */
static unsigned read_directory(const char *in)
{
	struct nnb_reason reason;
	struct dirent *e;
	unsigned n = 0;
	DIR *d = opendir(in);

	assert_non_null(d);
	while ((e = readdir(d))) {
		size_t length = strlen(e->d_name);

		if (length < 5 || strcmp(e->d_name + length - 5, ".json") != 0)
			continue;
		if (read_file(in, e->d_name, &reason) != 0)
			fail_msg("%s: %s", e->d_name, reason.text);
		n++;
	}
	closedir(d);
	return n;
}

static void the_projects_examples_are_read(void **state)
{
	(void)state;
	assert_int_equal(read_directory(EXAMPLES), 5);
}

static void the_shared_models_are_read(void **state)
{
	const char *in = getenv("NNB_MODELS_DIR");

	(void)state;
	if (!in)
		skip();
	assert_true(read_directory(in) > 0);
}

static char *whole_file(const char *path)
{
	char *text = file_content(path, NULL);

	if (!text || !*text)
		fail_msg("%s cannot be read", path);
	return text;
}

/* ---- subgraphs ---- */

static void subgraphs_are_read(void **state)
{
	struct nnb_model_file *f;
	struct nnb_reason reason;
	char *text = whole_file(EXAMPLES "/loop.json");

	(void)state;
	assert_int_equal(nnb_model_file_parse(&f, text, strlen(text), NULL, &reason), 0);
	assert_int_equal(f->model->n_referenced, 2);
	assert_int_equal(f->model->operands[1].lifetime, NNB_LIFETIME_SUBGRAPH);
	assert_int_equal(f->model->operands[1].location.offset, 1);
	assert_int_equal(f->model->referenced[1].operations[1].type, NNB_ADD);
	assert_int_equal(f->model->referenced[1].operands[0].consumers, 2);
	assert_int_equal(f->model->referenced[0].operands[2].location.length, 4);
	assert_false(f->expect_failure);
	assert_int_equal(nnb_model_validate(f->model, &reason), NNB_STATUS_NONE);
	nnb_model_file_free(f);
	free(text);
}

static const struct change {
	const char *name, *from, *to;
	int error;
	const char *reason; /* NULL: the file is read, and must fail */
} changes[] = {
	{ "that is to fail", "\"hal\"", "\"expect_failure\": true, \"hal\"", 0, NULL },
	{ "that is to fail a little", "\"hal\"", "\"expect_failure\": 1, \"hal\"", -EINVAL, "expect_failure: " },
	{ "a subgraph of no index", "\"value\": [1]}", "\"value\": []}", -EINVAL,
	  "operands[1].value: 0 indexes of subgraphs instead of one" },
	{ "a subgraph below all", "\"value\": [1]}", "\"value\": [-1]}", -EINVAL, "operands[1].value[0]: " },
	{ "a subgraph that is no list", "\"value\": [1]}", "\"value\": 1}", -EINVAL, "operands[1].value: not a list" },
	{ "subgraphs that are no list", "\"referenced\": [", "\"referenced\": 1, \"further\": [", -EINVAL,
	  "referenced: not a list" },
	{ "a subgraph that is no object", "\"referenced\": [", "\"referenced\": [7, ", -EINVAL, "referenced[0]: " },
	{ "an unknown operation in a subgraph", "LESS", "FEWER", -ENOTSUP,
	  "referenced[0].operations[0].type: no operation FEWER here" },
	{ "a subgraph without outputs", "\"outputs\": [4, 5]\n", "\"results\": []\n", -EINVAL,
	  "referenced[1].outputs: missing" },
};

static void run_change(void **state)
{
	const struct change *c = *state;
	char *text = whole_file(EXAMPLES "/loop.json"), *at = strstr(text, c->from), changed[1 << 13];
	struct nnb_model_file *f = NULL;
	struct nnb_reason reason = { "" };

	assert_non_null(at);
	snprintf(changed, sizeof(changed), "%.*s%s%s", (int)(at - text), text, c->to, at + strlen(c->from));
	assert_int_equal(nnb_model_file_parse(&f, changed, strlen(changed), NULL, &reason), c->error);
	if (c->error)
		assert_begins(reason.text, c->reason);
	else
		assert_true(f->expect_failure);
	nnb_model_file_free(f);
	free(text);
}

static void the_manual_shows_an_example_as_it_is(void **state)
{
	char *page = whole_file(MANUAL);
	char *example = whole_file(EXAMPLES "/add.json");
	char *shown = strstr(page, "\n{\n");

	(void)state;
	assert_non_null(shown);
	assert_begins(shown + 1, example);
	assert_begins(shown + 1 + strlen(example), ".Ed\n");
	free(page);
	free(example);
}

/* ---- the side files, and the rows ---- */

static int set_up_files(void **state)
{
	static const float weights[] = { 0, 1, 2, 3, 4, 5, 6, 7 };
	int fd;

	(void)state;
	if (!mkdtemp(dir))
		return -1;
	write_file("weights.bin", weights, sizeof(weights));
	write_file("..weights", weights, sizeof(weights));
	write_file("empty", "", 0);
	fd = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (symlinkat("weights.bin", fd, "link") < 0 || mkdirat(fd, "folder", 0700) < 0 ||
	    mkfifoat(fd, "fifo", 0600) < 0)
		return -1;
	close(fd);
	write_file("folder/inner", weights, sizeof(weights));
	return 0;
}

static int tear_down_files(void **state)
{
	static const char *const names[] = { "weights.bin",  "..weights",  "empty", "link",
		                             "folder/inner", "folder",     "fifo",  "bad.json",
		                             "worse.json",   "large.json", "." };

	(void)state;
	for (size_t i = 0; i < N_OF(names); i++) {
		char *path = path_of(dir, names[i]);

		if (i + 1 == N_OF(names))
			path[strlen(dir)] = '\0';
		remove(path);
		free(path);
	}
	return 0;
}

static void no_setup(const char *name, CMUnitTestFunction run)
{
	add_test(run, NULL, NULL, NULL, "%s", name);
}

int main(void)
{
	for (size_t i = 0; i < N_OF(reads); i++)
		add_test(run_row, NULL, NULL, (void *)&reads[i], "read: %s", reads[i].name);
	for (size_t i = 0; i < N_OF(refusals); i++)
		add_test(run_row, NULL, NULL, (void *)&refusals[i], "refused: %s", refusals[i].name);
	for (size_t i = 0; i < N_OF(changes); i++)
		add_test(run_change, NULL, NULL, (void *)&changes[i], "subgraphs: %s", changes[i].name);
	no_setup("subgraphs are read", subgraphs_are_read);
	no_setup("a file is one pool, however often it is named (P-2)", a_file_is_one_pool);
	no_setup("side files need a directory", side_files_need_a_directory);
	no_setup("every beginning of a file is refused", every_beginning_is_refused);
	no_setup("any change of a letter does no harm", any_change_does_no_harm);
	no_setup("counts are bounded", counts_are_bounded);
	no_setup("depth is bounded", depth_is_bounded);
	no_setup("length is bounded", length_is_bounded);
	no_setup("no memory does no harm", no_memory_does_no_harm);
	no_setup("freeing nothing is fine", freeing_nothing_is_fine);
	no_setup("reasons begin with the path", reasons_begin_with_the_path);
	no_setup("large files are read whole, their side files found", large_files_are_read_whole);
	no_setup("the project's examples are read", the_projects_examples_are_read);
	no_setup("the shared models are read", the_shared_models_are_read);
	no_setup("the manual shows an example as it is", the_manual_shows_an_example_as_it_is);
	return cmocka_run_group_tests_name("model_file", tests, set_up_files, tear_down_files);
}
