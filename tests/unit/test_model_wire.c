/*
 * test_model_wire.c -- a model as bytes: encoded, decoded, always as the same bytes; and the forms that are
 * refused.
 */
#include "fmq_helpers.h"

#include "nnb/model.h"

/* Offsets in the form of the model below. The test states the layout a second time, by hand. */
enum {
	AT_ORDER = 4,
	AT_VERSION = 8,
	AT_ZERO = 12,
	AT_BYTES = 16,
	AT_HAL = 24,
	AT_RELAXED = 28,
	AT_N_OPERANDS = 32,
	AT_N_OPERATIONS = 36,
	AT_N_INPUTS = 40,
	AT_N_OUTPUTS = 44,
	AT_N_INDEXES = 48,
	AT_N_POOLS = 52,
	AT_N_REFERENCED = 56,
	AT_N_VALUES = 60,
	AT_NAME = 64,
	AT_COUNTS = 128, /* the counts of two subgraphs */
	COUNTS = 20,
	AT_OPERANDS = AT_COUNTS + 2 * COUNTS,
	OPERAND = 80,
	AT_RANK = 8,
	AT_DIMS = 12,
	AT_CHANNELS = 52,
	AT_OPERATIONS = AT_OPERANDS + 3 * OPERAND,
	OPERATION = 12,
	AT_INDEXES = AT_OPERATIONS + 2 * OPERATION,
	AT_INPUTS = AT_INDEXES + 4 * 4,
	AT_OUTPUTS = AT_INPUTS + 4,
	/* the first subgraph: an operand, an operation of an input, an input; the second: an operand */
	AT_GRAPH = AT_OUTPUTS + 2 * 4,
	AT_GRAPH_OPERATION = AT_GRAPH + OPERAND,
	AT_GRAPH_INDEX = AT_GRAPH_OPERATION + OPERATION,
	AT_GRAPH_INPUT = AT_GRAPH_INDEX + 4,
	AT_SECOND = AT_GRAPH_INPUT + 4,
	AT_POOLS = AT_SECOND + OPERAND,
	POOL = 80,
	AT_N_FDS = 40,
	AT_N_INTS = 44,
	AT_INTS = 48,
	AT_VALUES = AT_POOLS + 2 * POOL,
	WHOLE = AT_VALUES + 5
};

/* Every field has a value of its own, so that a mix-up shows. The model is not valid. */
static const struct nnb_operand operands[] = {
	{ .type = 3,
	  .lifetime = 1,
	  .rank = 2,
	  .dims = { 11, 12 },
	  .scale = 0.5F,
	  .zero_point = -7,
	  .channel_dim = 17,
	  .n_scales = 18,
	  .scales_at = 19,
	  .consumers = 13,
	  .location = { 14, 15, 16 } },
	{ .type = 0xfffffff1,
	  .lifetime = 0xfffffff2,
	  .scale = -0.0F,
	  .zero_point = INT32_MIN,
	  .consumers = UINT32_MAX,
	  .location = { UINT32_MAX, UINT32_MAX, UINT32_MAX } },
	{ .type = 5, .lifetime = 4, .rank = 8, .dims = { 21, 22, 23, 24, 25, 26, 27, 28 }, .consumers = 1 },
};
static uint32_t indexes[] = { 31, 32, 33, UINT32_MAX };
static uint32_t inputs[] = { 41 };
static uint32_t outputs[] = { 51, 52 };
static struct nnb_operation operations[] = {
	{ .type = 18, .n_inputs = 3, .inputs = indexes, .n_outputs = 1, .outputs = indexes + 3 },
	{ .type = 0xfffffff3 },
};
static uint8_t values[] = { 61, 62, 63, 64, 65 };
static struct nnb_operand graph_operands[] = { { .type = 81, .lifetime = 82 }, { .type = 83, .consumers = 84 } };
static struct nnb_operation graph_operations[] = { { .type = 85, .n_inputs = 1, .inputs = indexes + 1 } };
static struct nnb_subgraph referenced[] = { { .n_operands = 1,
	                                      .operands = graph_operands,
	                                      .n_operations = 1,
	                                      .operations = graph_operations,
	                                      .n_inputs = 1,
	                                      .inputs = inputs },
	                                    { .n_operands = 1, .operands = graph_operands + 1 } };
static struct nnb_memory pools[] = {
	{ .name = "ashmem", .size = 0x0102030405060708, .n_fds = 1, .fds = { 30 } },
	{ .name = "a name of one and thirty bytes.",
	  .size = 9,
	  .n_fds = 2,
	  .fds = { 31, 32 },
	  .n_ints = 8,
	  .ints = { 71, -72, 73, 74, 75, 76, 77, 78 } },
};

/* The model. Its arrays are the test's: a test may change them and must not free them. */
static struct nnb_model sample(void)
{
	return (struct nnb_model){
		.name = "sample",
		.hal = 0xfffffff4,
		.relaxed = true,
		.n_operands = N_OF(operands),
		.operands = (struct nnb_operand *)operands,
		.n_operations = N_OF(operations),
		.operations = operations,
		.n_inputs = N_OF(inputs),
		.inputs = inputs,
		.n_outputs = N_OF(outputs),
		.outputs = outputs,
		.n_pools = N_OF(pools),
		.pools = pools,
		.n_referenced = N_OF(referenced),
		.referenced = referenced,
		.n_values = N_OF(values),
		.values = values,
	};
}

/* The model's form, of *@ret_bytes bytes; the caller frees it. */
static uint8_t *form_of(const struct nnb_model *m, size_t *ret_bytes)
{
	uint8_t *form = NULL;

	assert_int_equal(nnb_model_encode(m, &form, ret_bytes), 0);
	return form;
}

/* Decode from an odd address, in memory whose end the address sanitizer watches. */
static int decode(struct nnb_model **ret, const uint8_t *form, size_t n, struct nnb_reason *reason)
{
	uint8_t *exact = malloc(n + 1);
	int s;

	if (n)
		memcpy(exact + 1, form, n);
	s = nnb_model_decode(ret, exact + 1, n, reason);
	free(exact);
	return s;
}

static void same_numbers(const uint32_t *a, const uint32_t *b, uint32_t n)
{
	if (n)
		assert_memory_equal(a, b, n * sizeof(*a));
}

/* Operands, operations and lists. */
static void same_graphs(const struct nnb_model *a, const struct nnb_model *b)
{
	assert_int_equal(a->n_operands, b->n_operands);
	assert_int_equal(a->n_operations, b->n_operations);
	assert_int_equal(a->n_inputs, b->n_inputs);
	assert_int_equal(a->n_outputs, b->n_outputs);
	if (a->n_operands)
		assert_memory_equal(a->operands, b->operands, a->n_operands * sizeof(*a->operands));
	for (uint32_t i = 0; i < a->n_operations; i++) {
		assert_int_equal(a->operations[i].type, b->operations[i].type);
		assert_int_equal(a->operations[i].n_inputs, b->operations[i].n_inputs);
		assert_int_equal(a->operations[i].n_outputs, b->operations[i].n_outputs);
		same_numbers(a->operations[i].inputs, b->operations[i].inputs, a->operations[i].n_inputs);
		same_numbers(a->operations[i].outputs, b->operations[i].outputs, a->operations[i].n_outputs);
	}
	same_numbers(a->inputs, b->inputs, a->n_inputs);
	same_numbers(a->outputs, b->outputs, a->n_outputs);
}

/* Equal except for the pools' fds, which are -1 in @b. */
static void same_models(const struct nnb_model *a, const struct nnb_model *b)
{
	assert_memory_equal(a->name, b->name, sizeof(a->name));
	assert_int_equal(a->hal, b->hal);
	assert_int_equal(a->relaxed, b->relaxed);
	assert_int_equal(a->n_pools, b->n_pools);
	assert_int_equal(a->n_values, b->n_values);
	assert_int_equal(a->n_referenced, b->n_referenced);
	same_graphs(a, b);
	for (uint32_t i = 0; i < a->n_referenced; i++) {
		const struct nnb_model of_a = nnb_model_view(a, i), of_b = nnb_model_view(b, i);

		same_graphs(&of_a, &of_b);
	}
	for (uint32_t i = 0; i < a->n_pools; i++) {
		assert_memory_equal(a->pools[i].name, b->pools[i].name, NNB_MEMORY_NAME);
		assert_int_equal(a->pools[i].size, b->pools[i].size);
		assert_int_equal(a->pools[i].n_fds, b->pools[i].n_fds);
		assert_int_equal(a->pools[i].n_ints, b->pools[i].n_ints);
		assert_memory_equal(a->pools[i].ints, b->pools[i].ints, sizeof(a->pools[i].ints));
		for (uint32_t k = 0; k < a->pools[i].n_fds; k++)
			assert_int_equal(b->pools[i].fds[k], -1);
	}
	if (a->n_values)
		assert_memory_equal(a->values, b->values, a->n_values);
}

static void there_and_back(const struct nnb_model *m)
{
	struct nnb_model *back = NULL;
	size_t n, again_n;
	uint8_t *form = form_of(m, &n);
	uint8_t *again;

	assert_int_equal(decode(&back, form, n, NULL), 0);
	same_models(m, back);
	again = form_of(back, &again_n);
	assert_int_equal(again_n, n);
	assert_memory_equal(again, form, n);
	nnb_model_free(back);
	free(form);
	free(again);
}

/* ---- bytes ---- */

static void word_is(const uint8_t *form, size_t at, uint32_t want)
{
	uint32_t have;

	memcpy(&have, form + at, sizeof(have));
	assert_int_equal(have, want);
}

static void bytes_are_as_written_down(void **state)
{
	struct nnb_model m = sample();
	size_t n;
	uint8_t *form = form_of(&m, &n);

	(void)state;
	assert_int_equal(n, WHOLE);
	assert_memory_equal(form, "NNBM", 4);
	word_is(form, AT_ORDER, 0x01020304);
	word_is(form, AT_VERSION, 3);
	word_is(form, AT_ZERO, 0);
	word_is(form, AT_BYTES, WHOLE);
	word_is(form, AT_HAL, 0xfffffff4);
	word_is(form, AT_RELAXED, 1);
	word_is(form, AT_N_OPERANDS, 3);
	word_is(form, AT_N_OPERATIONS, 2);
	word_is(form, AT_N_INPUTS, 1);
	word_is(form, AT_N_OUTPUTS, 2);
	word_is(form, AT_N_POOLS, 2);
	word_is(form, AT_N_INDEXES, 4);
	word_is(form, AT_N_REFERENCED, 2);
	word_is(form, AT_N_VALUES, 5);
	for (uint32_t i = 0; i < 5; i++) {
		word_is(form, AT_COUNTS + 4 * i, ((const uint32_t[]){ 1, 1, 1, 0, 1 })[i]);
		word_is(form, AT_COUNTS + COUNTS + 4 * i, i == 0);
	}
	word_is(form, AT_GRAPH, 81);
	word_is(form, AT_GRAPH_OPERATION, 85);
	word_is(form, AT_GRAPH_INDEX, 32);
	word_is(form, AT_GRAPH_INPUT, 41);
	word_is(form, AT_SECOND, 83);
	assert_string_equal((char *)form + AT_NAME, "sample");
	word_is(form, AT_OPERANDS, 3);
	word_is(form, AT_OPERANDS + AT_RANK, 2);
	word_is(form, AT_OPERANDS + AT_DIMS + 4, 12);
	word_is(form, AT_OPERANDS + AT_CHANNELS, 17);
	word_is(form, AT_OPERANDS + AT_CHANNELS + 4, 18);
	word_is(form, AT_OPERANDS + AT_CHANNELS + 8, 19);
	word_is(form, AT_OPERANDS + 2 * OPERAND + AT_DIMS + 28, 28);
	word_is(form, AT_OPERANDS + OPERAND - 4, 16);
	word_is(form, AT_OPERATIONS + OPERATION, 0xfffffff3);
	word_is(form, AT_INDEXES + 4, 32);
	word_is(form, AT_INPUTS, 41);
	word_is(form, AT_OUTPUTS + 4, 52);
	assert_string_equal((char *)form + AT_POOLS, "ashmem");
	word_is(form, AT_POOLS + AT_N_FDS, 1);
	word_is(form, AT_POOLS + POOL + AT_INTS + 4, (uint32_t)-72);
	assert_memory_equal(form + AT_VALUES, values, sizeof(values));
	free(form);
}

static void a_model_survives(void **state)
{
	struct nnb_model m = sample();

	(void)state;
	there_and_back(&m);
}

static void an_empty_model_survives(void **state)
{
	struct nnb_model m = { .name = "" };

	(void)state;
	there_and_back(&m);
}

/* Models of random numbers, among them names of 63 bytes and counts of 0. */
static void any_model_survives(void **state)
{
	uint64_t chance = 5;

	(void)state;
	for (unsigned k = 0; k < 500; k++) {
		struct nnb_operand any[8] = { 0 };
		struct nnb_operation doing[6] = { 0 };
		struct nnb_model m = sample();

		memset(m.name, 0, sizeof(m.name));
		memset(m.name, 'n', next_random(&chance) % sizeof(m.name));
		m.operands = any;
		m.n_operands = (uint32_t)(next_random(&chance) % 9);
		for (uint32_t i = 0; i < m.n_operands; i++) {
			any[i].type = (uint32_t)next_random(&chance);
			any[i].rank = (uint32_t)(next_random(&chance) % (NNB_RANK_MAX + 1));
			for (uint32_t d = 0; d < any[i].rank; d++)
				any[i].dims[d] = (uint32_t)next_random(&chance);
			memcpy(&any[i].scale, &(uint32_t){ (uint32_t)next_random(&chance) }, sizeof(any[i].scale));
			any[i].location.offset = (uint32_t)next_random(&chance);
		}
		m.operations = doing;
		m.n_operations = (uint32_t)(next_random(&chance) % 7);
		for (uint32_t i = 0; i < m.n_operations; i++)
			doing[i] = (struct nnb_operation){ .type = (uint32_t)next_random(&chance),
				                           .n_inputs = (uint32_t)(next_random(&chance) % 5),
				                           .inputs = indexes,
				                           .n_outputs = (uint32_t)(next_random(&chance) % 3),
				                           .outputs = outputs };
		m.n_inputs = (uint32_t)(next_random(&chance) % 2);
		m.n_outputs = (uint32_t)(next_random(&chance) % 3);
		m.n_pools = (uint32_t)(next_random(&chance) % 3);
		m.n_referenced = (uint32_t)(next_random(&chance) % 3);
		m.n_values = (uint32_t)(next_random(&chance) % 6);
		there_and_back(&m);
	}
}

/* Bytes behind the rank, behind the integers and behind a name's end, and fds, do not change the form. */
static void equal_models_have_equal_bytes(void **state)
{
	struct nnb_operand dirty[N_OF(operands)];
	struct nnb_memory dirty_pools[N_OF(pools)];
	struct nnb_model clean = sample();
	struct nnb_model m = sample();
	size_t n, clean_n;
	uint8_t *want = form_of(&clean, &clean_n);
	uint8_t *form;

	(void)state;
	memcpy(dirty, operands, sizeof(dirty));
	memset(dirty[0].dims + 2, 0x5a, 6 * sizeof(uint32_t));
	memset(dirty[1].dims, 0x5a, sizeof(dirty[1].dims));
	memcpy(dirty_pools, pools, sizeof(pools));
	memset(dirty_pools[0].ints, 0x5a, sizeof(dirty_pools[0].ints));
	memset(dirty_pools[0].name + 7, 0x5a, NNB_MEMORY_NAME - 7);
	dirty_pools[0].fds[0] = 99;
	memset(m.name + 7, 0x5a, sizeof(m.name) - 7);
	m.operands = dirty;
	m.pools = dirty_pools;
	form = form_of(&m, &n);
	assert_int_equal(n, clean_n);
	assert_memory_equal(form, want, n);
	free(form);
	free(want);
}

/* ---- refused ---- */

static void refused_as(const uint8_t *form, size_t n, const char *reason_begins)
{
	struct nnb_model *untouched = (struct nnb_model *)&n;
	struct nnb_model *m = untouched;
	struct nnb_reason reason = { "" };

	assert_int_equal(decode(&m, form, n, &reason), -EINVAL);
	assert_ptr_equal(m, untouched);
	if (strncmp(reason.text, reason_begins, strlen(reason_begins)) != 0)
		fail_msg("'%s' does not begin with '%s'", reason.text, reason_begins);
	assert_int_equal(decode(&m, form, n, NULL), -EINVAL);
}

/* One word of the form replaced. */
static const struct poke {
	const char *name;
	size_t at;
	uint32_t word;
	const char *reason;
} pokes[] = {
	{ "another magic", 0, 0x12345678, "no model's bytes" },
	{ "another byte order", AT_ORDER, 0x04030201, "a model's bytes from a machine of another byte order" },
	{ "another version", AT_VERSION, 1, "version 1 of a model's bytes; known is 3" },
	{ "the zero", AT_ZERO, 1, "header: a number that should be zero is not" },
	{ "a length too short", AT_BYTES, WHOLE - 1,
	  "header: 805 bytes, but the header states 804, and its counts need 805" },
	{ "a length too long", AT_BYTES, WHOLE + 1,
	  "header: 805 bytes, but the header states 806, and its counts need 805" },
	{ "a length beyond 32 bits", AT_BYTES + 4, 1, "header: 805 bytes, but the header states 4294968101," },
	{ "relaxed by 2", AT_RELAXED, 2, "header: relaxed is 2" },
	{ "an operand too many", AT_N_OPERANDS, 4,
	  "header: 805 bytes, but the header states 805, and its counts need 885" },
	{ "all operands there can be", AT_N_OPERANDS, UINT32_MAX, "header: 4294967295 operands are more than 1048576" },
	{ "one more operand than there may be", AT_N_OPERANDS, NNB_OPERANDS_MAX + 1,
	  "header: 1048577 operands are more than 1048576" },
	{ "as many operands as there may be", AT_N_OPERANDS, NNB_OPERANDS_MAX,
	  "header: 805 bytes, but the header states 805, and its counts need 83886645" },
	{ "one more operation than there may be", AT_N_OPERATIONS, NNB_OPERANDS_MAX + 1,
	  "header: 1048577 operations are more than 1048576" },
	{ "one more input than there may be", AT_N_INPUTS, NNB_OPERANDS_MAX + 1,
	  "header: 1048577 inputs are more than 1048576" },
	{ "one more output than there may be", AT_N_OUTPUTS, NNB_OPERANDS_MAX + 1,
	  "header: 1048577 outputs are more than 1048576" },
	{ "one more pool than there may be", AT_N_POOLS, NNB_OPERANDS_MAX + 1,
	  "header: 1048577 pools are more than 1048576" },
	{ "one more subgraph than there may be", AT_N_REFERENCED, NNB_OPERANDS_MAX + 1,
	  "header: 1048577 subgraphs are more than 1048576" },
	{ "as many subgraphs as there may be", AT_N_REFERENCED, NNB_OPERANDS_MAX, "subgraph 4: header: " },
	{ "a subgraph less", AT_N_REFERENCED, 1,
	  "header: 805 bytes, but the header states 805, and its counts need 705" },
	{ "all operands of a subgraph that there can be", AT_COUNTS + COUNTS, UINT32_MAX,
	  "subgraph 1: header: 4294967295 operands are more than 1048576" },
	{ "an operand of a subgraph too many", AT_COUNTS, 2,
	  "header: 805 bytes, but the header states 805, and its counts need 885" },
	{ "all indexes of a subgraph that there can be", AT_COUNTS + 16, UINT32_MAX, "header: 805 bytes" },
	{ "more inputs of a subgraph's operation than indexes", AT_GRAPH_OPERATION + 4, 2,
	  "subgraph 0: operation 0: 2 inputs and 0 outputs are more than there are or may be" },
	{ "a rank of 9 in a subgraph", AT_SECOND + AT_RANK, 9, "subgraph 1: operand 0: 9 dimensions are more than 8" },
	{ "all indexes there can be", AT_N_INDEXES, UINT32_MAX,
	  "header: 805 bytes, but the header states 805, and its counts need 171" },
	{ "all values there can be", AT_N_VALUES, UINT32_MAX,
	  "header: 805 bytes, but the header states 805, and its counts need 4294" },
	{ "a name with something at its very end", AT_NAME + 60, 0x61616161,
	  "header: the name does not end in zeroes" },
	{ "a name with something behind its end", AT_NAME + 8, 1, "header: the name does not end in zeroes" },
	{ "a rank of 9", AT_OPERANDS + OPERAND + AT_RANK, 9, "operand 1: 9 dimensions are more than 8" },
	{ "a rank of 2^32 - 1", AT_OPERANDS + OPERAND + AT_RANK, UINT32_MAX,
	  "operand 1: 4294967295 dimensions are more than 8" },
	{ "a dimension beyond the rank", AT_OPERANDS + AT_DIMS + 28, 1, "operand 0: dimension 7 of 2" },
	{ "a rank below its dimensions", AT_OPERANDS + AT_RANK, 1, "operand 0: dimension 1 of 1" },
	{ "more inputs of an operation than indexes", AT_OPERATIONS + 4, 4,
	  "operation 0: 4 inputs and 1 outputs are more than there are or may be" },
	{ "all inputs of an operation that there can be", AT_OPERATIONS + 4, UINT32_MAX,
	  "operation 0: 4294967295 inputs and 1 outputs are more than there are or may be" },
	{ "more outputs of an operation than indexes", AT_OPERATIONS + OPERATION + 8, 1,
	  "operation 1: 0 inputs and 1 outputs are more than there are or may be" },
	{ "indexes that belong to no operation", AT_OPERATIONS + 8, 0, "1 indexes belong to no operation" },
	{ "a pool's name without an end", AT_POOLS + POOL + 28, 0x61616161, "pool 1: its handle is impossible" },
	{ "a pool's name with something behind its end", AT_POOLS + 8, 1, "pool 0: its handle is impossible" },
	{ "a pool of three fds", AT_POOLS + AT_N_FDS, 3, "pool 0: its handle is impossible" },
	{ "a pool of nine integers", AT_POOLS + POOL + AT_N_INTS, 9, "pool 1: its handle is impossible" },
	{ "an integer beyond their number", AT_POOLS + AT_INTS, 1, "pool 0: its handle is impossible" },
};

static void run_poke(void **state)
{
	const struct poke *poke = *state;
	struct nnb_model m = sample();
	size_t n;
	uint8_t *form = form_of(&m, &n);

	memcpy(form + poke->at, &poke->word, sizeof(poke->word));
	refused_as(form, n, poke->reason);
	free(form);
}

/* Cut anywhere, or with bytes behind; with the old length in the head, and with the new one. */
static void every_other_length_is_refused(void **state)
{
	struct nnb_model m = sample();
	uint8_t wider[WHOLE + 100] = { 0 };
	size_t n;
	uint8_t *form = form_of(&m, &n);

	(void)state;
	memcpy(wider, form, n);
	for (size_t size = 0; size < sizeof(wider); size++) {
		uint64_t says = size;

		if (size == n)
			continue;
		memcpy(wider + AT_BYTES, form + AT_BYTES, 8);
		refused_as(wider, size, size < AT_OPERANDS ? "" : "header: ");
		memcpy(wider + AT_BYTES, &says, 8);
		refused_as(wider, size, size < AT_OPERANDS ? "" : "header: ");
	}
	free(form);
}

/* The form has all those inputs, and is refused all the same. */
static void an_operation_of_too_many_inputs_is_refused(void **state)
{
	uint32_t *many = calloc(NNB_OPERANDS_MAX, sizeof(*many));
	struct nnb_operation op = { .n_inputs = NNB_OPERANDS_MAX, .inputs = many, .n_outputs = 1, .outputs = outputs };
	struct nnb_model m = { .name = "", .n_operations = 1, .operations = &op };
	static const uint32_t all_in[] = { NNB_OPERANDS_MAX + 1, 0 };
	static const uint32_t all_out[] = { 0, NNB_OPERANDS_MAX + 1 };
	size_t n;
	uint8_t *form = form_of(&m, &n);

	(void)state;
	there_and_back(&m);
	memcpy(form + AT_COUNTS + 4, all_in, sizeof(all_in));
	refused_as(form, n, "operation 0: 1048577 inputs and 0 outputs are more than there are or may be");
	memcpy(form + AT_COUNTS + 4, all_out, sizeof(all_out));
	refused_as(form, n, "operation 0: 0 inputs and 1048577 outputs are more than there are or may be");
	free(form);
	free(many);
}

static void any_bit_may_flip(void **state)
{
	struct nnb_model m = sample();
	size_t n;
	uint8_t *form = form_of(&m, &n);
	unsigned good = 0;

	(void)state;
	for (size_t bit = 0; bit < n * 8; bit++) {
		struct nnb_model *back = NULL;
		struct nnb_reason reason = { "" };
		int s;

		form[bit / 8] ^= (uint8_t)(1U << bit % 8);
		s = decode(&back, form, n, &reason);
		if (s == 0) { /* a changed word may make another model; then this is its form */
			size_t again_n;
			uint8_t *again = form_of(back, &again_n);

			assert_int_equal(again_n, n);
			assert_memory_equal(again, form, n);
			free(again);
			good++;
		} else {
			assert_int_equal(s, -EINVAL);
			assert_true(*reason.text);
		}
		nnb_model_free(back);
		form[bit / 8] ^= (uint8_t)(1U << bit % 8);
	}
	assert_true(good > 500);
	free(form);
}

/* A model that the decoder would refuse is not encoded. */
static void not_encoded(const struct nnb_model *m)
{
	uint8_t *form = (uint8_t *)&m;
	size_t n = 77;

	assert_int_equal(nnb_model_encode(m, &form, &n), -EINVAL);
	assert_ptr_equal(form, &m);
	assert_int_equal(n, 77);
}

static void what_has_no_form_is_not_encoded(void **state)
{
	struct nnb_model m = sample();
	struct nnb_operand o = { .rank = 9 };
	struct nnb_operation op = { .n_inputs = NNB_OPERANDS_MAX + 1, .inputs = indexes };
	struct nnb_memory pool = { .name = "", .n_fds = 3 };

	(void)state;
	m.operands = &o;
	m.n_operands = 1;
	not_encoded(&m);
	m = sample();
	m.operations = &op;
	m.n_operations = 1;
	not_encoded(&m);
	op = (struct nnb_operation){ .n_outputs = NNB_OPERANDS_MAX + 1, .outputs = indexes };
	not_encoded(&m);
	m = sample();
	m.pools = &pool;
	m.n_pools = 1;
	not_encoded(&m);
	pool = (struct nnb_memory){ .name = "", .n_ints = 9 };
	not_encoded(&m);
	pool = (struct nnb_memory){ .n_fds = 1 };
	memset(pool.name, 'x', sizeof(pool.name));
	not_encoded(&m);
	m = sample();
	memset(m.name, 'x', sizeof(m.name));
	not_encoded(&m);
	m = sample();
	m.n_operands = NNB_OPERANDS_MAX + 1;
	not_encoded(&m);
	m = sample();
	m.n_operations = NNB_OPERANDS_MAX + 1;
	not_encoded(&m);
	m = sample();
	m.n_inputs = NNB_OPERANDS_MAX + 1;
	not_encoded(&m);
	m = sample();
	m.n_outputs = NNB_OPERANDS_MAX + 1;
	not_encoded(&m);
	m = sample();
	m.n_pools = NNB_OPERANDS_MAX + 1;
	not_encoded(&m);
}

int main(void)
{
	add_test(bytes_are_as_written_down, NULL, NULL, NULL, "the bytes are as written down");
	add_test(a_model_survives, NULL, NULL, NULL, "a model survives, however wrong");
	add_test(an_empty_model_survives, NULL, NULL, NULL, "an empty model survives");
	add_test(any_model_survives, NULL, NULL, NULL, "any model survives");
	add_test(equal_models_have_equal_bytes, NULL, NULL, NULL, "equal models have equal bytes");
	for (size_t i = 0; i < N_OF(pokes); i++)
		add_test(run_poke, NULL, NULL, (void *)&pokes[i], "refused: %s", pokes[i].name);
	add_test(every_other_length_is_refused, NULL, NULL, NULL, "every other length is refused");
	add_test(an_operation_of_too_many_inputs_is_refused, NULL, NULL, NULL,
	         "an operation of too many inputs is refused");
	add_test(any_bit_may_flip, NULL, NULL, NULL, "any bit may flip: another model, or refused");
	add_test(what_has_no_form_is_not_encoded, NULL, NULL, NULL, "what has no form is not encoded");
	return cmocka_run_group_tests_name("model_wire", tests, NULL, NULL);
}
