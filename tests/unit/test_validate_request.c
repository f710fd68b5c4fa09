/*
 * test_validate_request.c -- invalid requests: R1 to R9, and VTS's ValidateRequest (section 4.4).
 *
 * Each row spoils a valid request. nnb_request_validate must return INVALID_ARGUMENT and a reason.
 * nnb_execution_begin and nnb_execute must do so, too, without an execution or shapes.
 */
#include <sys/mman.h>
#include <unistd.h>

#include "conformance/validate/sample_models.h"
#include "unit/device_helpers.h"
#include "unit/named_tests.h"

#define UNTOUCHED ((struct nnb_execution *)(uintptr_t)0x5a5a)
enum { LINE = 64, OUTPUTS_MAX = 4 };

static struct nnb_device *device;

/* ---- a valid request ---- */

/* Each array is an allocation of exactly its length, so that a sanitizer sees a read beyond it. */
struct bench {
	struct nnb_model *model;
	struct nnb_argument *inputs, *outputs;
	uint32_t n_inputs, n_outputs, n_pools;
	struct nnb_memory *pools;
};

static uint32_t bytes_of(const struct nnb_operand *o)
{
	uint64_t bytes;

	assert_int_equal(nnb_operand_bytes(o->type, o->rank, o->dims, &bytes), 0);
	assert_true(bytes <= UINT32_MAX);
	return (uint32_t)bytes;
}

/* An argument at *@at for each of these operands; an operand of unknown length is omitted. */
static struct nnb_argument *arguments(const struct nnb_model *m, const uint32_t *indexes, uint32_t n, uint32_t *at)
{
	struct nnb_argument *args = calloc(n, sizeof(*args));

	assert_non_null(args);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t bytes = bytes_of(&m->operands[indexes[i]]);

		args[i].no_value = bytes == 0;
		if (!bytes)
			continue;
		args[i].location = (struct nnb_location){ 0, *at, bytes };
		*at += (bytes + LINE - 1) & ~(LINE - 1u);
	}
	return args;
}

static void bench_init(struct bench *b, struct nnb_model *m)
{
	uint32_t bytes = 0;

	*b = (struct bench){ .model = m, .n_inputs = m->n_inputs, .n_outputs = m->n_outputs, .n_pools = 1 };
	b->inputs = arguments(m, m->inputs, m->n_inputs, &bytes);
	b->outputs = arguments(m, m->outputs, m->n_outputs, &bytes);
	b->pools = calloc(1, sizeof(*b->pools));
	assert_non_null(b->pools);
	assert_int_equal(nnb_memory_ashmem(b->pools, bytes ? bytes : LINE), 0);
}

static void bench_fini(struct bench *b)
{
	for (uint32_t i = 0; b->pools && i < b->n_pools; i++)
		nnb_memory_close(&b->pools[i]);
	free(b->pools);
	free(b->inputs);
	free(b->outputs);
	nnb_model_free(b->model);
}

static struct nnb_request request_of(const struct bench *b)
{
	return (struct nnb_request){ .inputs = b->inputs,
		                     .outputs = b->outputs,
		                     .n_inputs = b->n_inputs,
		                     .n_outputs = b->n_outputs,
		                     .n_pools = b->n_pools,
		                     .pools = b->pools };
}

/* ---- all functions that judge a request ---- */

static void expect_valid(const struct bench *b, bool fenced)
{
	struct nnb_request request = request_of(b);
	struct nnb_reason reason = { "" };

	if (nnb_request_validate(b->model, &request, fenced, &reason))
		fail_msg("refused: %s", reason.text);
	assert_string_equal(reason.text, "");
	assert_int_equal(nnb_request_validate(b->model, &request, fenced, NULL), NNB_STATUS_NONE);
}

static void expect_no_execution(const struct bench *b, struct nnb_prepared *p, bool fenced)
{
	struct nnb_request request = request_of(b);
	struct nnb_output_shape shapes[OUTPUTS_MAX], before[OUTPUTS_MAX];
	struct nnb_execution *execution = UNTOUCHED;
	struct nnb_reason reason = { "" };

	memset(shapes, 0x5a, sizeof(shapes));
	memcpy(before, shapes, sizeof(before));
	assert_int_equal(nnb_execution_begin(p, &request, NULL, fenced, shapes, &execution, &reason),
	                 NNB_STATUS_INVALID_ARGUMENT);
	assert_ptr_equal(execution, UNTOUCHED);
	assert_memory_equal(shapes, before, sizeof(shapes));
	assert_string_not_equal(reason.text, "");
	if (fenced)
		return;
	assert_int_equal(nnb_execute(p, &request, shapes, NULL), NNB_STATUS_INVALID_ARGUMENT);
	assert_memory_equal(shapes, before, sizeof(shapes));
}

static void expect_refused(const struct bench *b, struct nnb_prepared *p, bool fenced)
{
	struct nnb_request request = request_of(b);
	struct nnb_reason reason = { "" };

	assert_int_equal(nnb_request_validate(b->model, &request, fenced, &reason), NNB_STATUS_INVALID_ARGUMENT);
	assert_string_not_equal(reason.text, "");
	assert_int_equal(nnb_request_validate(b->model, &request, fenced, NULL), NNB_STATUS_INVALID_ARGUMENT);
	expect_no_execution(b, p, fenced);
}

/* ---- every sample, spoilt at every argument ---- */

struct spoil {
	const char *name;
	void (*run)(struct bench *b, struct nnb_argument *arg);
};

static void drop(struct nnb_argument **args, uint32_t *n, const struct nnb_argument *arg)
{
	size_t at = (size_t)(arg - *args);

	(*n)--;
	memmove(*args + at, *args + at + 1, (*n - at) * sizeof(*arg));
	*args = realloc(*args, *n ? *n * sizeof(*arg) : 1);
	assert_non_null(*args);
}

static bool is_output(const struct bench *b, const struct nnb_argument *arg)
{
	return arg >= b->outputs && arg < b->outputs + b->n_outputs;
}

static void remove_argument(struct bench *b, struct nnb_argument *arg)
{
	if (is_output(b, arg))
		drop(&b->outputs, &b->n_outputs, arg);
	else
		drop(&b->inputs, &b->n_inputs, arg);
}

static void a_byte_short(struct bench *b, struct nnb_argument *arg)
{
	(void)b;
	arg->location.length--;
}

static void a_byte_long(struct bench *b, struct nnb_argument *arg)
{
	b->pools[0].size += LINE; /* there is room, so the room is not the fault */
	arg->location.length++;
}

static void no_bytes(struct bench *b, struct nnb_argument *arg)
{
	(void)b;
	arg->location.length = 0;
}

static void a_byte_beyond(struct bench *b, struct nnb_argument *arg)
{
	arg->location.offset = (uint32_t)b->pools[0].size;
}

static void no_such_pool(struct bench *b, struct nnb_argument *arg)
{
	arg->location.pool = b->n_pools;
}

static void too_high_a_rank(struct bench *b, struct nnb_argument *arg)
{
	(void)b;
	arg->rank = NNB_RANK_MAX + 1;
}

static void left_out(struct bench *b, struct nnb_argument *arg)
{
	(void)b;
	*arg = (struct nnb_argument){ .no_value = true };
}

enum { REMOVED, LEFT_OUT = 7 };
static const struct spoil spoils[] = {
	{ "4.4, R1: is removed", remove_argument },
	{ "R7: is a byte short", a_byte_short },
	{ "R7: is a byte long", a_byte_long },
	{ "R7: has no bytes", no_bytes },
	{ "R4: begins where the pool ends", a_byte_beyond },
	{ "R3: lies in a pool there is none of", no_such_pool },
	{ "R6: has rank 9", too_high_a_rank },
	[LEFT_OUT] = { "R2: is left out", left_out },
};

struct sample_row {
	size_t sample;
	const struct spoil *spoil;
	uint32_t i;
	bool output;
	bool valid;
};

static struct nnb_argument *argument_of(struct bench *b, const struct sample_row *row)
{
	return row->output ? &b->outputs[row->i] : &b->inputs[row->i];
}

static void sample_is_valid(void **state)
{
	const struct sample_row *row = *state;
	struct bench b;

	bench_init(&b, sample_new(row->sample));
	expect_valid(&b, false);
	expect_valid(&b, true);
	bench_fini(&b);
}

/*
 * The reason begins with the place of the fault. A request with too few or too many arguments is wrong as a
 * whole.
 */
static void expect_place(const struct bench *b, const struct sample_row *row)
{
	struct nnb_request request = request_of(b);
	struct nnb_reason reason = { "" };
	char place[32];

	if (row->spoil == &spoils[REMOVED])
		return;
	snprintf(place, sizeof(place), "%s %u: ", row->output ? "output" : "input", row->i);
	nnb_request_validate(b->model, &request, false, &reason);
	if (strncmp(reason.text, place, strlen(place)))
		fail_msg("'%s' is not of %s", reason.text, place);
}

static void spoilt_sample(void **state)
{
	const struct sample_row *row = *state;
	struct nnb_prepared *p;
	struct bench b;

	bench_init(&b, sample_new(row->sample));
	p = prepared(device, b.model);
	row->spoil->run(&b, argument_of(&b, row));
	for (int fenced = 0; fenced < 2; fenced++)
		if (row->valid)
			expect_valid(&b, fenced);
		else
			expect_refused(&b, p, fenced);
	if (!row->valid)
		expect_place(&b, row);
	nnb_prepared_unref(p);
	bench_fini(&b);
}

/* The inputs that section 7.6 calls optional. */
static bool optional_at(const struct nnb_operation *op, uint32_t k)
{
	switch (op->type) {
	case NNB_LSH_PROJECTION:
		return k == 2;
	case NNB_SVDF:
		return k == 3;
	case NNB_LSTM: /* the input gate's, the peepholes, the projection */
		return k == 1 || k == 5 || (k >= 9 && k <= 12) || k == 16 || k == 17;
	default:
		return false;
	}
}

static bool optional_input(const struct nnb_model *m, uint32_t i)
{
	for (uint32_t o = 0; o < m->n_operations; o++)
		for (uint32_t k = 0; k < m->operations[o].n_inputs; k++)
			if (m->operations[o].inputs[k] == m->inputs[i] && !optional_at(&m->operations[o], k))
				return false;
	return true;
}

/* ---- rules by hand, of the broadcasting ADD: x {2, 1, 3} of 24 bytes; y {2, 4, 3} of 96 ---- */

static struct nnb_model *adds(void)
{
	return sample_named("ADD of float32, broadcast");
}

/* The operands of adds(), and of those below. */
enum { X = 0, ACT = 2, Y = 3 };

static struct nnb_model *adds_unknown(enum nnb_hal hal)
{
	struct nnb_model *m = adds();

	m->hal = hal;
	m->operands[X].dims[0] = 0;
	m->operands[Y].dims[0] = 0;
	return m;
}

/* The first extent of both tensors is unknown. */
static struct nnb_model *adds_unknown_1_0(void)
{
	return adds_unknown(NNB_HAL_1_0);
}

static struct nnb_model *adds_unknown_1_1(void)
{
	return adds_unknown(NNB_HAL_1_1);
}

static struct nnb_model *adds_unknown_1_2(void)
{
	return adds_unknown(NNB_HAL_1_2);
}

/* The ranks are unknown, too. */
static struct nnb_model *adds_any_1_2(void)
{
	struct nnb_model *m = adds();

	m->hal = NNB_HAL_1_2;
	m->operands[X].rank = m->operands[Y].rank = 0;
	memset(m->operands[X].dims, 0x5a, sizeof(m->operands[X].dims)); /* dims beyond the rank are ignored */
	memset(m->operands[Y].dims, 0x5a, sizeof(m->operands[Y].dims));
	return m;
}

static struct nnb_model *adds_1_2(void)
{
	struct nnb_model *m = adds();

	m->hal = NNB_HAL_1_2;
	return m;
}

static struct nnb_model *relu_quant8(void)
{
	return sample_named("RELU of quant8");
}

/* The activation is an input of the model, too. */
static struct nnb_model *scalar_input(void)
{
	struct nnb_model *m = adds();

	m->operands[ACT].location = (struct nnb_location){ 0 };
	assert_int_equal(nnb_model_finish(m, (uint32_t[]){ X, ACT }, 2, (uint32_t[]){ Y }, 1), 0);
	return m;
}

static struct nnb_model *lstm_bias(void)
{
	return sample_named("LSTM, projection whose bias is an input that may be omitted");
}

/* LSH_PROJECTION's weight is optional there, but TANH reads it, too. */
static struct nnb_model *needed_elsewhere(void)
{
	struct nnb_model *m = sample_named("LSH_PROJECTION, sparse");
	uint32_t weight = m->inputs[1];
	struct nnb_operand o = m->operands[weight];
	uint32_t outputs[] = { m->outputs[0], operand(m, &o) };

	assert_int_equal(nnb_model_operation(m, NNB_TANH, &weight, 1, &outputs[1], 1), 1);
	assert_int_equal(nnb_model_finish(m, (uint32_t[]){ m->inputs[0], weight }, 2, outputs, 2), 0);
	return m;
}

static void give(struct nnb_argument *arg, uint32_t rank, const uint32_t *dims)
{
	arg->rank = rank;
	memcpy(arg->dims, dims, rank * sizeof(*dims));
}

#define GIVE(arg, ...) \
	give(arg, sizeof((const uint32_t[]){ __VA_ARGS__ }) / sizeof(uint32_t), (const uint32_t[]){ __VA_ARGS__ })

/* Set what bench_init omits for the models with unknown extents. */
static void place(struct bench *b)
{
	b->inputs[0] = (struct nnb_argument){ .location = { 0, 0, 24 } };
	b->outputs[0] = (struct nnb_argument){ .location = { 0, LINE, 96 } };
	nnb_memory_close(&b->pools[0]);
	assert_int_equal(nnb_memory_ashmem(&b->pools[0], LINE + 96), 0);
}

static void place_and_give_input(struct bench *b)
{
	place(b);
	GIVE(&b->inputs[0], 2, 1, 3);
}

static void place_and_give(struct bench *b)
{
	place_and_give_input(b);
	GIVE(&b->outputs[0], 2, 4, 3);
}

/* R1 */

static void grow(struct nnb_argument **args, uint32_t *n)
{
	*args = realloc(*args, (*n + 1) * sizeof(**args));
	assert_non_null(*args);
	(*args)[*n] = (*args)[0];
	(*n)++;
}

static void one_more_input(struct bench *b)
{
	grow(&b->inputs, &b->n_inputs);
}

static void one_more_output(struct bench *b)
{
	grow(&b->outputs, &b->n_outputs);
}

static void inputs_without_end(struct bench *b)
{
	b->n_inputs = UINT32_MAX;
}

static void inputs_null(struct bench *b)
{
	free(b->inputs);
	b->inputs = NULL;
}

static void outputs_null(struct bench *b)
{
	free(b->outputs);
	b->outputs = NULL;
}

static void pools_null(struct bench *b)
{
	nnb_memory_close(b->pools);
	free(b->pools);
	b->pools = NULL;
}

static void no_pools(struct bench *b)
{
	nnb_memory_close(b->pools);
	b->n_pools = 0;
}

/* R2 */

static void left_out_and_rank(struct bench *b)
{
	b->inputs[1].no_value = true;
	b->inputs[1].location = (struct nnb_location){ 0 };
	GIVE(&b->inputs[1], 3);
}

static void left_out_in_pool(struct bench *b)
{
	b->inputs[1] = (struct nnb_argument){ .no_value = true, .location = { 1, 0, 0 } };
}

static void left_out_at_offset(struct bench *b)
{
	b->inputs[1] = (struct nnb_argument){ .no_value = true, .location = { 0, 4, 0 } };
}

static void left_out_with_length(struct bench *b)
{
	b->inputs[1] = (struct nnb_argument){ .no_value = true, .location = { 0, 0, 12 } };
}

static void left_out_weight(struct bench *b)
{
	b->inputs[1] = (struct nnb_argument){ .no_value = true };
}

/* R3 */

static void pool_max(struct bench *b)
{
	b->inputs[0].location.pool = UINT32_MAX;
}

/* R4 */

static void input_wraps_to_0(struct bench *b)
{
	b->inputs[0].location.offset = UINT32_MAX - 23;
}

static void output_wraps_to_0(struct bench *b)
{
	b->outputs[0].location.offset = UINT32_MAX - 95;
}

static void input_wraps_beyond_0(struct bench *b)
{
	b->inputs[0].location.offset = UINT32_MAX - 3;
}

static void ends_a_line_beyond(struct bench *b)
{
	b->outputs[0].location.offset = (uint32_t)b->pools[0].size - 92;
}

static void ends_at_the_end(struct bench *b)
{
	b->outputs[0].location.offset = (uint32_t)b->pools[0].size - 96;
}

/* A range that needs 64 bits, in a pool that contains it. */
static void beyond_4_gib(struct bench *b)
{
	b->pools[0].size = UINT64_C(5) << 30;
	b->inputs[0].location.offset = UINT32_MAX - 3;
}

static void offset_max(struct bench *b)
{
	b->inputs[0].location = (struct nnb_location){ 0, UINT32_MAX, UINT32_MAX };
}

/* R5, R6 */

static void same_dims(struct bench *b)
{
	GIVE(&b->inputs[0], 2, 1, 3);
	GIVE(&b->outputs[0], 2, 4, 3);
}

static void input_rank_2(struct bench *b)
{
	GIVE(&b->inputs[0], 2, 1); /* each as in the model */
	b->inputs[0].location.length = 8;
}

static void input_rank_4(struct bench *b)
{
	GIVE(&b->inputs[0], 2, 1, 3, 1);
}

static void output_rank_2(struct bench *b)
{
	GIVE(&b->outputs[0], 2, 4);
	b->outputs[0].location.length = 32;
}

static void input_rank_max(struct bench *b)
{
	b->inputs[0].rank = UINT32_MAX;
}

static void input_other_extent(struct bench *b)
{
	GIVE(&b->inputs[0], 1, 2, 3); /* as many bytes, in another shape */
}

static void output_other_extent(struct bench *b)
{
	GIVE(&b->outputs[0], 4, 2, 3);
}

static void input_zero(struct bench *b)
{
	GIVE(&b->inputs[0], 0, 1, 3);
}

static void output_zero(struct bench *b)
{
	GIVE(&b->outputs[0], 0, 4, 3);
}

static void scalar_with_rank(struct bench *b)
{
	GIVE(&b->inputs[1], 1);
}

static void nothing(struct bench *b)
{
	(void)b;
}

static void unknown_output_zero(struct bench *b)
{
	place_and_give_input(b);
	GIVE(&b->outputs[0], 0, 4, 3);
}

static void unknown_output_other_extent(struct bench *b)
{
	place_and_give_input(b);
	GIVE(&b->outputs[0], 0, 5, 3);
}

static void unknown_output_other_rank(struct bench *b)
{
	place_and_give_input(b);
	GIVE(&b->outputs[0], 8, 3);
}

static void unknown_input_zero(struct bench *b)
{
	place_and_give(b);
	GIVE(&b->inputs[0], 0, 1, 3);
}

static void unknown_output_of_any_length(struct bench *b)
{
	place_and_give_input(b);
	b->outputs[0].location.length = 1;
}

static void unknown_output_of_no_length(struct bench *b)
{
	place_and_give_input(b);
	b->outputs[0].location.length = 0;
}

static void combined_too_short(struct bench *b)
{
	place_and_give(b);
	b->inputs[0].location.length = 20;
}

static void combined_too_long(struct bench *b)
{
	place_and_give(b);
	b->inputs[0].location.length = 28;
}

static void combined_output_too_short(struct bench *b)
{
	place_and_give(b);
	b->outputs[0].location.length = 92;
}

/* @dims ends at NNB_RANK_MAX; the field behind it is no dimension. */
static void rank_9_of_any(struct bench *b)
{
	place_and_give(b);
	b->inputs[0].rank = NNB_RANK_MAX + 1;
	for (uint32_t d = 3; d < NNB_RANK_MAX; d++)
		b->inputs[0].dims[d] = 1;
}

/* 4 elements, modulo 2^62: 16 bytes, modulo 2^64. */
static void combined_wraps(struct bench *b)
{
	place_and_give(b);
	GIVE(&b->inputs[0], 4, 5, 3340214413, 276131137);
	b->inputs[0].location.length = 16;
}

static void lstm_bias_given(struct bench *b)
{
	b->inputs[1] = (struct nnb_argument){ .location = { 0, 0, 8 } };
	GIVE(&b->inputs[1], 2);
}

static void lstm_bias_given_without_dims(struct bench *b)
{
	b->inputs[1] = (struct nnb_argument){ .location = { 0, 0, 8 } };
}

static void lstm_bias_given_by_length_0(struct bench *b)
{
	b->inputs[1] = (struct nnb_argument){ .location = { 0, 0, 0 } };
}

/* alignment of an element */

static void input_offset_2(struct bench *b)
{
	b->inputs[0].location.offset = 2;
}

static void output_offset_odd(struct bench *b)
{
	b->outputs[0].location.offset--;
}

static void input_offset_4(struct bench *b)
{
	b->inputs[0].location.offset = 4;
}

static void bytes_at_odd_offset(struct bench *b)
{
	b->inputs[0].location.offset = 1;
}

/* R8 */

static void unknown_name(struct bench *b)
{
	strcpy(b->pools[0].name, "ion");
}

static void token(struct bench *b)
{
	strcpy(b->pools[0].name, "token");
}

static void no_name(struct bench *b)
{
	b->pools[0].name[0] = '\0';
}

static void name_does_not_end(struct bench *b)
{
	memset(b->pools[0].name, 'a', sizeof(b->pools[0].name));
}

static void no_fd(struct bench *b)
{
	close(b->pools[0].fds[0]);
	b->pools[0].n_fds = 0;
}

static void fd_below_0(struct bench *b)
{
	close(b->pools[0].fds[0]);
	b->pools[0].fds[0] = -1;
}

static void many_fds(struct bench *b)
{
	b->pools[0].n_fds = UINT32_MAX;
}

static void two_fds(struct bench *b)
{
	b->pools[0].n_fds = 2;
	b->pools[0].fds[1] = dup(b->pools[0].fds[0]);
}

static void an_integer(struct bench *b)
{
	b->pools[0].n_ints = 1;
}

static void many_integers(struct bench *b)
{
	b->pools[0].n_ints = UINT32_MAX;
}

static void size_0(struct bench *b)
{
	b->pools[0].size = 0;
}

/* Add pool 1, which no argument uses. */
static struct nnb_memory *idle_pool(struct bench *b)
{
	b->pools = realloc(b->pools, 2 * sizeof(*b->pools));
	assert_non_null(b->pools);
	assert_int_equal(nnb_memory_ashmem(&b->pools[1], LINE), 0);
	b->n_pools = 2;
	return &b->pools[1];
}

static void idle_pool_right(struct bench *b)
{
	idle_pool(b);
}

static void idle_pool_of_unknown_name(struct bench *b)
{
	strcpy(idle_pool(b)->name, "ion");
}

static void idle_pool_not_canonical(struct bench *b)
{
	idle_pool(b)->n_ints = 3;
}

static void replace_pool(struct bench *b, const struct nnb_memory *by)
{
	nnb_memory_close(&b->pools[0]);
	b->pools[0] = *by;
}

static void as_file(struct bench *b, int prot)
{
	struct nnb_memory file;

	assert_int_equal(nnb_memory_mmap_fd(&file, b->pools[0].fds[0], b->pools[0].size, prot, 0), 0);
	replace_pool(b, &file);
}

static void file_both(struct bench *b)
{
	as_file(b, PROT_READ | PROT_WRITE);
}

static void file_read_only(struct bench *b)
{
	as_file(b, PROT_READ);
}

static void file_write_only(struct bench *b)
{
	as_file(b, PROT_WRITE);
}

static void file_neither(struct bench *b)
{
	as_file(b, PROT_NONE);
}

/* Inputs in a file opened for reading, outputs in one opened for writing. */
static void file_each(struct bench *b)
{
	struct nnb_memory *second = idle_pool(b), file;

	assert_int_equal(nnb_memory_mmap_fd(&file, b->pools[0].fds[0], b->pools[0].size, PROT_WRITE, 0), 0);
	nnb_memory_close(second);
	*second = file;
	as_file(b, PROT_READ);
	b->outputs[0].location.pool = 1;
}

static void file_executable(struct bench *b)
{
	as_file(b, PROT_READ | PROT_WRITE);
	b->pools[0].ints[0] |= PROT_EXEC;
}

static void file_of_two_integers(struct bench *b)
{
	as_file(b, PROT_READ | PROT_WRITE);
	b->pools[0].n_ints = 2;
}

/* P-10, P-18: hardware buffers */

static void add_blob(struct bench *b, uint64_t bytes)
{
	struct nnb_memory *second = idle_pool(b);

	nnb_memory_close(second);
	assert_int_equal(nnb_memory_hardware_buffer_blob(second, bytes), 0);
	b->inputs[0].location = (struct nnb_location){ 1, 0, 0 };
}

static void blob_whole(struct bench *b)
{
	add_blob(b, 24);
}

static void blob_whole_too_small(struct bench *b)
{
	add_blob(b, 20);
}

static void blob_part(struct bench *b)
{
	add_blob(b, 32);
	b->inputs[0].location = (struct nnb_location){ 1, 8, 24 };
}

static void blob_first_part(struct bench *b)
{
	blob_part(b);
	b->inputs[0].location.offset = 0;
}

static void blob_part_beyond(struct bench *b)
{
	add_blob(b, 28);
	b->inputs[0].location = (struct nnb_location){ 1, 8, 24 };
}

static void blob_offset_alone(struct bench *b)
{
	add_blob(b, 32);
	b->inputs[0].location = (struct nnb_location){ 1, 8, 0 };
}

static void blob_whole_output(struct bench *b)
{
	struct nnb_location x = b->inputs[0].location;

	add_blob(b, 96);
	b->inputs[0].location = x;
	b->outputs[0].location = (struct nnb_location){ 1, 0, 0 };
}

static void blob_of_two_rows(struct bench *b)
{
	add_blob(b, 24);
	b->pools[1].ints[1] = 2;
}

static void blob_of_another_size(struct bench *b)
{
	add_blob(b, 24);
	b->pools[1].size = 32;
}

static void add_image(struct bench *b)
{
	struct nnb_memory *second = idle_pool(b);
	const struct nnb_hardware_buffer image = {
		.width = 3, .height = 2, .layers = 1, .format = NNB_FORMAT_R8G8B8A8, .stride = 3
	};

	nnb_memory_close(second);
	assert_int_equal(nnb_memory_hardware_buffer(second, &image), 0);
	b->inputs[0].location = (struct nnb_location){ 1, 0, 0 };
}

static void image_whole(struct bench *b)
{
	add_image(b);
}

static void image_with_length(struct bench *b)
{
	add_image(b);
	b->inputs[0].location.length = 24;
}

static void image_with_offset(struct bench *b)
{
	add_image(b);
	b->inputs[0].location.offset = 4;
}

static void image_wider_than_its_stride(struct bench *b)
{
	add_image(b);
	b->pools[1].ints[4] = 2;
}

/* ---- the table ---- */

struct rule {
	const char *name;
	struct nnb_model *(*model)(void); /* NULL: adds */
	void (*spoil)(struct bench *b);
	enum { REFUSED, VALID, UNLESS_FENCED } want;
};

static const struct rule rules[] = {
	{ "R1: one input more", NULL, one_more_input },
	{ "R1: one output more", NULL, one_more_output },
	{ "R1: 2^32 - 1 inputs", NULL, inputs_without_end },
	{ "R1: inputs that are NULL", NULL, inputs_null },
	{ "R1: outputs that are NULL", NULL, outputs_null },
	{ "R3: pools that are NULL", NULL, pools_null },
	{ "R3: no pools", NULL, no_pools },
	{ "R3: pool 2^32 - 1", NULL, pool_max },
	{ "R2: what is left out has dimensions", lstm_bias, left_out_and_rank },
	{ "R2: what is left out has a pool", lstm_bias, left_out_in_pool },
	{ "R2: what is left out has an offset", lstm_bias, left_out_at_offset },
	{ "R2: what is left out has a length", lstm_bias, left_out_with_length },
	{ "R2: what one operation can do without is left out, and another needs it", needed_elsewhere,
	  left_out_weight },
	{ "R4: an input whose end wraps to 0", NULL, input_wraps_to_0 },
	{ "R4: an output whose end wraps to 0", NULL, output_wraps_to_0 },
	{ "R4: an input whose end wraps into the pool", NULL, input_wraps_beyond_0 },
	{ "R4: offset and length of 2^32 - 1", NULL, offset_max },
	{ "R4: an output that ends an element beyond the pool", NULL, ends_a_line_beyond },
	{ "R4: an output at the end of the pool", NULL, ends_at_the_end, VALID },
	{ "R4: an input across 4 GiB of a pool that is larger", NULL, beyond_4_gib, VALID },
	{ "R6: the dimensions that the model says", NULL, same_dims, VALID },
	{ "R6: an input of a lower rank", NULL, input_rank_2 },
	{ "R6: an input of a higher rank", NULL, input_rank_4 },
	{ "R6: an output of a lower rank", NULL, output_rank_2 },
	{ "R6: an input of rank 2^32 - 1", NULL, input_rank_max },
	{ "R6: an input of another extent", NULL, input_other_extent },
	{ "R6: an output of another extent", NULL, output_other_extent },
	{ "R5: a scalar without dimensions", scalar_input, nothing, VALID },
	{ "R6: a scalar with dimensions", scalar_input, scalar_with_rank },
	{ "R6: an input with a 0 among its dimensions", NULL, input_zero },
	{ "R6: an input with a 0 among its dimensions, HAL 1.2", adds_1_2, input_zero },
	{ "R6: an output with a 0 among its dimensions", NULL, output_zero },
	{ "R6: an output with a 0 where the model knows, HAL 1.2", adds_1_2, output_zero, UNLESS_FENCED },
	{ "R5: an input of unknown extent", adds_unknown_1_0, place },
	{ "R5: an input of unknown extent, HAL 1.2", adds_unknown_1_2, place },
	{ "R5: an input of unknown rank, HAL 1.2", adds_any_1_2, place },
	{ "R5: extents that only the request knows, HAL 1.0", adds_unknown_1_0, place_and_give, VALID },
	{ "R5: extents that only the request knows, HAL 1.2", adds_unknown_1_2, place_and_give, VALID },
	{ "R6: ranks that only the request knows, HAL 1.2", adds_any_1_2, place_and_give, VALID },
	{ "R5: an output of unknown extent, HAL 1.0", adds_unknown_1_0, place_and_give_input },
	{ "R5: an output of unknown extent, HAL 1.1", adds_unknown_1_1, place_and_give_input },
	{ "R5: an output of unknown extent, HAL 1.2", adds_unknown_1_2, place_and_give_input, UNLESS_FENCED },
	{ "R5: an output of unknown rank, HAL 1.2", adds_any_1_2, place_and_give_input, UNLESS_FENCED },
	{ "R6: an output with a 0 for an unknown extent, HAL 1.1", adds_unknown_1_1, unknown_output_zero },
	{ "R6: an output with a 0 for an unknown extent, HAL 1.2", adds_unknown_1_2, unknown_output_zero,
	  UNLESS_FENCED },
	{ "R6: an unknown output with another extent, HAL 1.2", adds_unknown_1_2, unknown_output_other_extent },
	{ "R6: an unknown output with another rank, HAL 1.2", adds_unknown_1_2, unknown_output_other_rank },
	{ "R6: an input with a 0 for an unknown extent, HAL 1.2", adds_unknown_1_2, unknown_input_zero },
	{ "R6: an input with a 0 and an unknown rank, HAL 1.2", adds_any_1_2, unknown_input_zero },
	{ "R7: an unknown output of a byte, HAL 1.2", adds_unknown_1_2, unknown_output_of_any_length, UNLESS_FENCED },
	{ "R7: an unknown output of no bytes, HAL 1.2", adds_unknown_1_2, unknown_output_of_no_length },
	{ "R7: shorter than what model and request say together", adds_unknown_1_2, combined_too_short },
	{ "R7: longer than what model and request say together", adds_unknown_1_0, combined_too_long },
	{ "R7: an output shorter than what they say together", adds_any_1_2, combined_output_too_short },
	{ "R6: rank 9 where the model's is not known", adds_any_1_2, rank_9_of_any },
	{ "R7: a length that is right modulo 2^64", adds_any_1_2, combined_wraps },
	{ "R5: an optional input of extent 0 that is given, with dimensions", lstm_bias, lstm_bias_given, VALID },
	{ "R5: an optional input of extent 0 that is given, without", lstm_bias, lstm_bias_given_without_dims },
	{ "R2: an optional input of no length that is not left out", lstm_bias, lstm_bias_given_by_length_0 },
	{ "a float32 input at offset 2", NULL, input_offset_2 },
	{ "a float32 output at an odd offset", NULL, output_offset_odd },
	{ "a float32 input at offset 4", NULL, input_offset_4, VALID },
	{ "a quant8 input at offset 1", relu_quant8, bytes_at_odd_offset, VALID },
	{ "R8: a pool of an unknown name", NULL, unknown_name },
	{ "R8: a token pool", NULL, token },
	{ "R8: a pool without a name", NULL, no_name },
	{ "R8: a pool whose name does not end", NULL, name_does_not_end },
	{ "R8: ashmem without a file", NULL, no_fd },
	{ "R8: ashmem of file -1", NULL, fd_below_0 },
	{ "R8: ashmem of two files", NULL, two_fds },
	{ "R8: ashmem of 2^32 - 1 files", NULL, many_fds },
	{ "R8: ashmem with an integer", NULL, an_integer },
	{ "R8: ashmem of 2^32 - 1 integers", NULL, many_integers },
	{ "R8: ashmem of size 0", NULL, size_0 },
	{ "R8: an unused pool", NULL, idle_pool_right, VALID },
	{ "R8: an unused pool of an unknown name", NULL, idle_pool_of_unknown_name },
	{ "R8: an unused pool that is not canonical", NULL, idle_pool_not_canonical },
	{ "R8: mmap_fd of two integers", NULL, file_of_two_integers },
	{ "R8: mmap_fd to be executed", NULL, file_executable },
	{ "mmap_fd to read and write", NULL, file_both, VALID },
	{ "an output in mmap_fd that may only be read", NULL, file_read_only },
	{ "an input in mmap_fd that may only be written", NULL, file_write_only },
	{ "mmap_fd that may be neither read nor written", NULL, file_neither },
	{ "an input in mmap_fd to read, an output in mmap_fd to write", NULL, file_each, VALID },
	{ "P-18: a whole BLOB as input", NULL, blob_whole, VALID },
	{ "P-18: a whole BLOB as output", NULL, blob_whole_output, VALID },
	{ "P-18, R7: a whole BLOB that is too small", NULL, blob_whole_too_small },
	{ "P-10: a part of a BLOB", NULL, blob_part, VALID },
	{ "P-10: the first part of a BLOB", NULL, blob_first_part, VALID },
	{ "R4: a part of a BLOB that it does not have", NULL, blob_part_beyond },
	{ "P-18, R7: an offset into a BLOB, and no length", NULL, blob_offset_alone },
	{ "R8: a BLOB of two rows", NULL, blob_of_two_rows },
	{ "R8: a BLOB whose description has another size", NULL, blob_of_another_size },
	{ "P-18: a whole hardware buffer", NULL, image_whole, VALID },
	{ "R9: a hardware buffer with a length", NULL, image_with_length },
	{ "R9: a hardware buffer with an offset", NULL, image_with_offset },
	{ "R8: a hardware buffer whose stride is less than its width", NULL, image_wider_than_its_stride },
};

static void run_rule(void **state)
{
	const struct rule *rule = *state;
	struct nnb_prepared *p;
	struct bench b;

	bench_init(&b, (rule->model ? rule->model : adds)());
	p = prepared(device, b.model);
	rule->spoil(&b);
	for (int fenced = 0; fenced < 2; fenced++)
		if (rule->want == VALID || (rule->want == UNLESS_FENCED && !fenced))
			expect_valid(&b, fenced);
		else
			expect_refused(&b, p, fenced);
	nnb_prepared_unref(p);
	bench_fini(&b);
}

/* ---- all ---- */

static void add_spoils(size_t sample, const struct nnb_model *m, uint32_t i, bool output)
{
	static struct sample_row rows[N_OF(tests)];
	const struct nnb_operand *o = &m->operands[output ? m->outputs[i] : m->inputs[i]];

	for (size_t k = 0; k < N_OF(spoils); k++) {
		struct sample_row *row = &rows[n_tests];

		if (k != REMOVED && !bytes_of(o)) /* the argument is omitted already */
			continue;
		*row = (struct sample_row){ sample, &spoils[k], i, output,
			                    k == LEFT_OUT && !output && optional_input(m, i) };
		add_test(spoilt_sample, row, "%s: %s %u %s: %s", sample_name(sample), output ? "output" : "input", i,
		         spoils[k].name, row->valid ? "valid" : "refused");
	}
}

static void add_sample(size_t sample)
{
	static struct sample_row rows[N_OF(tests)];
	struct nnb_model *m = sample_new(sample);

	rows[n_tests] = (struct sample_row){ .sample = sample };
	add_test(sample_is_valid, &rows[n_tests], "%s: valid, fenced or not", sample_name(sample));
	for (uint32_t i = 0; i < m->n_inputs; i++)
		add_spoils(sample, m, i, false);
	for (uint32_t i = 0; i < m->n_outputs; i++)
		add_spoils(sample, m, i, true);
	nnb_model_free(m);
}

static int open_null(void **state)
{
	(void)state;
	device = open_device("null");
	return 0;
}

static int close_null(void **state)
{
	(void)state;
	device = nnb_device_unref(device);
	return 0;
}

int main(void)
{
	static const char *const wants[] = { "refused", "valid", "valid, and refused when fenced" };

	for (size_t i = 0; i < sample_count(); i++)
		add_sample(i);
	for (size_t i = 0; i < N_OF(rules); i++)
		add_test(run_rule, &rules[i], "%s: %s", rules[i].name, wants[rules[i].want]);
	return cmocka_run_group_tests_name("validate_request", tests, open_null, close_null);
}
