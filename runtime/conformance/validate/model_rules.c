/*
 * model_rules.c -- invalid models made by hand, for each rule of sections 7.1 and 7.2 of the HAL.
 */
#include "conformance/validate/model_rules.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "conformance/validate/abort_unless.h"
#include "conformance/validate/sample_models.h"
#include "nnb/memory.h"

#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

/* The operands of "ADD of float32, broadcast": x {2, 1, 3}, a constant {4, 1}, the activation, y {2, 4, 3}. */
enum { X, C, ACT, Y };

static void no_operands(struct nnb_model *m)
{
	m->n_operands = 0;
}

static void no_operations(struct nnb_model *m)
{
	free(m->operations[0].inputs);
	free(m->operations[0].outputs);
	m->n_operations = 0;
}

static void an_input_and_nothing_else(struct nnb_model *m)
{
	no_operations(m);
	m->n_operands = 1;
	m->n_outputs = 0;
	m->operands[X].consumers = 0;
}

static void operands_null(struct nnb_model *m)
{
	free(m->operands);
	m->operands = NULL;
}

static void operations_null(struct nnb_model *m)
{
	free(m->operations[0].inputs);
	free(m->operations[0].outputs);
	free(m->operations);
	m->operations = NULL;
}

static void inputs_null(struct nnb_model *m)
{
	free(m->inputs);
	m->inputs = NULL;
}

static void outputs_null(struct nnb_model *m)
{
	free(m->outputs);
	m->outputs = NULL;
}

static void pools_null(struct nnb_model *m)
{
	m->n_pools = 1;
}

static void values_null(struct nnb_model *m)
{
	free(m->values);
	m->values = NULL;
}

static void operation_inputs_null(struct nnb_model *m)
{
	free(m->operations[0].inputs);
	m->operations[0].inputs = NULL;
}

static void operation_outputs_null(struct nnb_model *m)
{
	free(m->operations[0].outputs);
	m->operations[0].outputs = NULL;
}

/* The arrays are shorter than the counts: a validator that reads before it checks the counts reads out of bounds. */
static void operands_without_end(struct nnb_model *m)
{
	m->n_operands = UINT32_MAX;
}

/* Add operands up to @n in total, without a reader or a writer. */
static void operands_up_to(struct nnb_model *m, uint32_t n)
{
	m->operands = realloc(m->operands, n * sizeof(*m->operands));
	abort_unless(m->operands);
	memset(m->operands + m->n_operands, 0, (n - m->n_operands) * sizeof(*m->operands));
	for (; m->n_operands < n; m->n_operands++)
		m->operands[m->n_operands].lifetime = NNB_NO_VALUE;
}

static void one_operand_too_many(struct nnb_model *m)
{
	operands_up_to(m, NNB_OPERANDS_MAX + 1);
}

static void operands_max(struct nnb_model *m)
{
	operands_up_to(m, NNB_OPERANDS_MAX);
}

static void too_many_operations(struct nnb_model *m)
{
	free(m->operations[0].inputs);
	free(m->operations[0].outputs);
	free(m->operations);
	/* allocated, because nnb_model_free reads them all */
	m->operations = calloc(NNB_OPERANDS_MAX + 1, sizeof(*m->operations));
	m->n_operations = NNB_OPERANDS_MAX + 1;
	abort_unless(m->operations);
}

static void too_many_inputs(struct nnb_model *m)
{
	m->n_inputs = NNB_OPERANDS_MAX + 1;
}

static void too_many_outputs(struct nnb_model *m)
{
	m->n_outputs = UINT32_MAX;
}

static void too_many_pools(struct nnb_model *m)
{
	m->pools = calloc(NNB_OPERANDS_MAX + 1, sizeof(*m->pools)); /* all without fds */
	m->n_pools = NNB_OPERANDS_MAX + 1;
	abort_unless(m->pools);
}

static void too_many_operation_inputs(struct nnb_model *m)
{
	m->operations[0].n_inputs = NNB_OPERANDS_MAX + 1;
}

static void too_many_operation_outputs(struct nnb_model *m)
{
	m->operations[0].n_outputs = UINT32_MAX;
}

static void name_does_not_end(struct nnb_model *m)
{
	memset(m->name, 'x', sizeof(m->name));
}

static void name_is_full(struct nnb_model *m)
{
	memset(m->name, 'x', sizeof(m->name) - 1);
}

static void hal_0(struct nnb_model *m)
{
	m->hal = 0;
}

static void hal_before(struct nnb_model *m)
{
	m->hal = NNB_HAL_1_0 - 1;
}

static void hal_after(struct nnb_model *m)
{
	m->hal = NNB_HAL_1_3 + 1;
}

static void hal_1_1_relaxed(struct nnb_model *m)
{
	m->hal = NNB_HAL_1_1;
	m->relaxed = true;
}

static void hal_1_3(struct nnb_model *m)
{
	m->hal = NNB_HAL_1_3;
}

/* O-2, O-3 */

static void lifetime_6(struct nnb_model *m)
{
	for (uint32_t i = 0; i < m->n_operands; i++)
		if (m->operands[i].lifetime == NNB_NO_VALUE)
			m->operands[i].lifetime++;
}

static void lifetime_max(struct nnb_model *m)
{
	m->operands[X].lifetime = UINT32_MAX;
}

static void scale_nan(struct nnb_model *m)
{
	m->operands[0].scale = NAN;
}

static void scale_infinite(struct nnb_model *m)
{
	m->operands[0].scale = INFINITY;
}

static void scale_below_0(struct nnb_model *m)
{
	m->operands[0].scale = -0.5f;
}

static void zero_points_at_their_ends(struct nnb_model *m)
{
	m->operands[0].zero_point = 0;
	m->operands[1].zero_point = 255;
}

static void zero_point_min(struct nnb_model *m)
{
	m->operands[0].zero_point = INT32_MIN;
}

/* O-11 */

static void writes_input(struct nnb_model *m)
{
	m->operations[0].outputs[0] = X;
	m->operands[Y].lifetime = NNB_TEMPORARY;
}

static void writes_constant(struct nnb_model *m)
{
	m->operations[0].outputs[0] = C;
}

static void writes_no_value(struct nnb_model *m)
{
	struct nnb_operand o = m->operands[Y];

	o.lifetime = NNB_NO_VALUE;
	m->operations[0].outputs[0] = sample_operand(m, &o);
}

static void reads_own_output(struct nnb_model *m)
{
	m->operations[0].inputs[0] = Y;
	m->operands[X].consumers--;
	m->operands[Y].consumers++;
}

/* An operand without a use is valid, unless its lifetime requires a writer. */
static void idle_constant(struct nnb_model *m)
{
	struct nnb_operand o = m->operands[C];
	uint32_t index = sample_operand(m, &o);

	abort_unless(nnb_model_value(m, index, "0123456789abcdef", 16) == 0);
}

static void two_at_one_place(struct nnb_model *m)
{
	struct nnb_operand o = m->operands[C];
	uint32_t index = sample_operand(m, &o);

	m->operands[index].location = m->operands[C].location;
}

static void idle_temporary(struct nnb_model *m)
{
	struct nnb_operand o = m->operands[Y];

	o.lifetime = NNB_TEMPORARY;
	sample_operand(m, &o);
}

/* O-12 */

static void list_push(uint32_t **list, uint32_t *n, uint32_t index)
{
	*list = realloc(*list, (*n + 1) * sizeof(**list));
	abort_unless(*list);
	(*list)[(*n)++] = index;
}

static void input_twice(struct nnb_model *m)
{
	list_push(&m->inputs, &m->n_inputs, m->inputs[0]);
}

static void output_twice(struct nnb_model *m)
{
	list_push(&m->outputs, &m->n_outputs, m->outputs[0]);
}

static void input_out_of_range(struct nnb_model *m)
{
	m->inputs[0] = m->n_operands;
}

static void output_out_of_range(struct nnb_model *m)
{
	m->outputs[0] = UINT32_MAX;
}

static void output_among_inputs(struct nnb_model *m)
{
	list_push(&m->inputs, &m->n_inputs, Y);
}

static void input_not_listed(struct nnb_model *m)
{
	m->n_inputs = 0;
}

static void output_not_listed(struct nnb_model *m)
{
	m->n_outputs = 0;
}

/* O-13 */

static void twice_by_one(struct nnb_model *m)
{
	m->operations[0].inputs[1] = X;
	m->operands[C].consumers = 0;
	m->operands[X].consumers = 2;
	m->operands[Y].dims[1] = 1;
}

static void twice_by_one_says_1(struct nnb_model *m)
{
	twice_by_one(m);
	m->operands[X].consumers = 1;
}

/* O-14 */

static void rank_9(struct nnb_model *m)
{
	m->operands[X].rank = NNB_RANK_MAX + 1;
}

static void rank_8(struct nnb_model *m)
{
	for (uint32_t i = 0; i < m->n_operands; i++) {
		m->operands[i].rank = NNB_RANK_MAX;
		for (uint32_t d = 0; d < NNB_RANK_MAX; d++)
			m->operands[i].dims[d] = d + 1;
	}
}

static void rank_max(struct nnb_model *m)
{
	m->operands[X].rank = UINT32_MAX;
}

static void scalar_of_rank_1(struct nnb_model *m)
{
	m->operands[ACT].rank = 1;
	m->operands[ACT].dims[0] = 1;
}

static void constant_of_extent_0(struct nnb_model *m)
{
	m->operands[C].dims[0] = 0;
	m->operands[C].location = (struct nnb_location){ 0 };
}

static void constant_of_extent_0_in_1_2(struct nnb_model *m)
{
	m->hal = NNB_HAL_1_2;
	constant_of_extent_0(m);
}

static void constant_of_rank_0_in_1_2(struct nnb_model *m)
{
	m->hal = NNB_HAL_1_2;
	m->operands[C].rank = 0;
	memset(m->operands[C].dims, 0, sizeof(m->operands[C].dims));
}

static void extent_0(struct nnb_model *m)
{
	m->operands[X].dims[0] = 0;
}

static void rank_0_in_1_1(struct nnb_model *m)
{
	m->hal = NNB_HAL_1_1;
	m->operands[X].rank = 0;
}

static void unknown_extents_in_1_2(struct nnb_model *m)
{
	m->hal = NNB_HAL_1_2;
	m->operands[X].dims[0] = 0;
	m->operands[Y].dims[2] = 0;
}

static void unknown_ranks_in_1_2(struct nnb_model *m)
{
	m->hal = NNB_HAL_1_2;
	m->operands[X].rank = 0;
	m->operands[Y].rank = 0;
}

static void size_overflows(struct nnb_model *m)
{
	m->operands[X].rank = 4;
	for (int d = 0; d < 4; d++)
		m->operands[X].dims[d] = 1 << 16;
}

/* 4 elements, modulo 2^62: 16 bytes, modulo 2^64. */
static void size_wraps_to_right(struct nnb_model *m)
{
	m->operands[C].rank = 4;
	memcpy(m->operands[C].dims, (uint32_t[]){ 4, 5, 3340214413, 276131137 }, 16);
}

static void size_beyond_32_bits(struct nnb_model *m)
{
	m->operands[X].dims[0] = 1u << 30; /* a location's length cannot represent 3 * 2^32 bytes */
}

/* P-4, O-15 */

static void input_in_a_pool(struct nnb_model *m)
{
	m->operands[X].location.pool = 1;
}

static void input_with_offset(struct nnb_model *m)
{
	m->operands[X].location.offset = 4;
}

static void output_with_length(struct nnb_model *m)
{
	m->operands[Y].location.length = 96;
}

static void no_value_with_length(struct nnb_model *m)
{
	for (uint32_t i = 0; i < m->n_operands; i++)
		if (m->operands[i].lifetime == NNB_NO_VALUE)
			m->operands[i].location.length = 4;
}

static void temporary_with_offset(struct nnb_model *m)
{
	for (uint32_t i = 0; i < m->n_operands; i++)
		if (m->operands[i].lifetime == NNB_TEMPORARY)
			m->operands[i].location.offset = 4;
}

static void copy_in_a_pool(struct nnb_model *m)
{
	m->operands[C].location.pool = 1;
}

static void copy_a_byte_short(struct nnb_model *m)
{
	m->operands[C].location.length--;
}

static void copy_a_byte_long(struct nnb_model *m)
{
	m->operands[C].location.length++;
	m->values = realloc(m->values, m->n_values + 16);
	m->n_values += 16;
	abort_unless(m->values);
}

static void scalar_a_byte_short(struct nnb_model *m)
{
	m->operands[ACT].location.length = 3;
}

static void copy_a_byte_beyond(struct nnb_model *m)
{
	m->operands[C].location.offset = m->n_values - m->operands[C].location.length + 1;
}

static void copy_at_the_very_end(struct nnb_model *m)
{
	m->operands[C].location.offset = m->n_values - m->operands[C].location.length;
}

static void copy_wraps(struct nnb_model *m)
{
	m->operands[C].location.offset = UINT32_MAX - m->operands[C].location.length + 1; /* the sum is 2^32 */
}

/*
 * The operands of "constants in an ashmem and an mmap_fd pool": x, the activation, a constant of 16 bytes at 48 of
 * 64, a constant at 0.
 */
enum { P_X, P_ACT, P_ASHMEM, P_FILE };

static void reference_no_pool(struct nnb_model *m)
{
	m->operands[P_ASHMEM].location.pool = 2;
}

static void reference_pool_max(struct nnb_model *m)
{
	m->operands[P_ASHMEM].location.pool = UINT32_MAX;
}

static void reference_a_byte_beyond(struct nnb_model *m)
{
	m->operands[P_ASHMEM].location.offset++;
}

static void reference_wraps(struct nnb_model *m)
{
	m->operands[P_ASHMEM].location.offset = UINT32_MAX - 15;
}

static void reference_a_byte_short(struct nnb_model *m)
{
	m->operands[P_FILE].location.length--;
}

static void reference_misaligned(struct nnb_model *m)
{
	m->operands[P_ASHMEM].location.offset = 1; /* no rule requires aligned constants */
}

/* R8, P-11: pools */

static void pool_of_unknown_name(struct nnb_model *m)
{
	strcpy(m->pools[0].name, "ion");
}

static void pool_without_name(struct nnb_model *m)
{
	m->pools[0].name[0] = '\0';
}

static void pool_name_does_not_end(struct nnb_model *m)
{
	memset(m->pools[0].name, 'a', sizeof(m->pools[0].name));
}

static void pool_of_size_0(struct nnb_model *m)
{
	m->operands[P_ASHMEM].lifetime = NNB_CONSTANT_REFERENCE;
	m->pools[0].size = 0;
}

static void pool_without_fd(struct nnb_model *m)
{
	close(m->pools[0].fds[0]);
	m->pools[0].n_fds = 0;
}

static void pool_of_many_fds(struct nnb_model *m)
{
	m->pools[0].n_fds = UINT32_MAX;
}

static void pool_of_an_integer(struct nnb_model *m)
{
	m->pools[0].n_ints = 1;
}

static void file_of_two_integers(struct nnb_model *m)
{
	m->pools[1].n_ints = 2;
}

static void file_executable(struct nnb_model *m)
{
	m->pools[1].ints[0] |= 4;
}

static void pool_of_fd_below_0(struct nnb_model *m)
{
	close(m->pools[0].fds[0]);
	m->pools[0].fds[0] = -1;
}

static void replace_pool(struct nnb_model *m, const struct nnb_memory *by)
{
	nnb_memory_close(&m->pools[0]);
	m->pools[0] = *by;
}

static void pool_a_hardware_buffer(struct nnb_model *m)
{
	struct nnb_memory image;

	abort_unless(nnb_memory_hardware_buffer(&image, &(struct nnb_hardware_buffer){ .width = 8,
	                                                                               .height = 8,
	                                                                               .layers = 1,
	                                                                               .format = NNB_FORMAT_R8G8B8A8,
	                                                                               .stride = 8 }) == 0);
	replace_pool(m, &image);
}

static void pool_a_blob(struct nnb_model *m)
{
	struct nnb_memory blob;

	abort_unless(nnb_memory_hardware_buffer_blob(&blob, 64) == 0);
	replace_pool(m, &blob);
}

static void pool_that_nobody_uses(struct nnb_model *m)
{
	m->operands[P_ASHMEM].location = m->operands[P_FILE].location;
	strcpy(m->pools[0].name, "ion");
}

/* VTS's CycleTest: three ADDs, each of which reads the output of the one before. */
static void cycle_ring(struct nnb_model *m)
{
	uint32_t ring[3];
	struct nnb_operand t = m->operands[X];

	t.lifetime = NNB_TEMPORARY;
	for (int i = 0; i < 3; i++)
		ring[i] = sample_operand(m, &t);
	for (int i = 0; i < 3; i++) {
		uint32_t in[] = { ring[i], X, ACT };

		abort_unless(nnb_model_operation(m, NNB_ADD, in, 3, &ring[(i + 1) % 3], 1) > 0);
		m->operands[ring[i]].consumers = 1;
	}
	m->operands[X].consumers += 3;
	m->operands[ACT].consumers += 3;
}

/* O-16: relations between the operands of an operation */

static void fc_output_scale(struct nnb_model *m)
{
	m->operands[m->outputs[0]].scale = 0.125f; /* O-34: must be above 0.5 * 0.25 */
}

static void fc_output_scale_in_1_2(struct nnb_model *m)
{
	m->hal = NNB_HAL_1_2;
	fc_output_scale(m);
}

static void fc_output_scale_in_1_1(struct nnb_model *m)
{
	m->hal = NNB_HAL_1_1;
	fc_output_scale(m);
}

static void fc_bias_scale(struct nnb_model *m)
{
	m->operands[2].scale = 0.126f;
}

static void fc_bias_scale_within(struct nnb_model *m)
{
	m->operands[2].scale = nextafterf(0.125f, 1); /* relative difference 1.2e-7; O-34 allows 1e-6 */
}

static void fc_bias_of_float(struct nnb_model *m)
{
	m->operands[2].type = NNB_TENSOR_FLOAT32;
	m->operands[2].scale = 0;
}

static void output_scale_256th(struct nnb_model *m)
{
	m->operands[m->outputs[0]].scale = 1.0f / 128;
}

static void output_scale_half(struct nnb_model *m)
{
	m->operands[m->outputs[0]].scale *= 0.5f;
}

static void output_zero_point(struct nnb_model *m)
{
	m->operands[m->outputs[0]].zero_point++;
}

static void mul_output_scale(struct nnb_model *m)
{
	m->operands[m->outputs[0]].scale = 0.25f;
}

static void hits_scale(struct nnb_model *m)
{
	m->operands[m->outputs[1]].scale = 0.5f;
}

static void hits_zero_point(struct nnb_model *m)
{
	m->operands[m->outputs[1]].zero_point = 1;
}

static void concatenation_of_another_scale(struct nnb_model *m)
{
	m->operands[0].scale = 0.25f;
}

static void concatenation_of_another_scale_in_1_2(struct nnb_model *m)
{
	m->hal = NNB_HAL_1_2;
	concatenation_of_another_scale(m);
}

static void leave_out(struct nnb_model *m, uint32_t position)
{
	struct nnb_operand *o = &m->operands[m->operations[0].inputs[position]];

	o->lifetime = NNB_NO_VALUE;
	o->location = (struct nnb_location){ 0 };
}

static void no_bias(struct nnb_model *m)
{
	leave_out(m, 2);
}

static void no_activation(struct nnb_model *m)
{
	leave_out(m, 3);
}

static void no_svdf_bias(struct nnb_model *m)
{
	leave_out(m, 3);
}

static void no_lstm_cell_weights(struct nnb_model *m)
{
	leave_out(m, 3);
}

static void activation_an_input(struct nnb_model *m)
{
	m->operands[ACT].location = (struct nnb_location){ 0 };
	abort_unless(nnb_model_finish(m, (uint32_t[]){ X, ACT }, 2, (uint32_t[]){ Y }, 1) == 0);
}

#define POOLS "constants in an ashmem and an mmap_fd pool"
#define ADD_Q "ADD of quant8"
#define FC_Q "FULLY_CONNECTED of quant8"

static const struct model_rule rules[] = {
	{ "O-10: a model without operands", NULL, no_operands },
	{ "O-10: a model without operations", NULL, no_operations },
	{ "O-10: a model of an input and nothing else", NULL, an_input_and_nothing_else },
	{ "operands that are NULL", NULL, operands_null },
	{ "operations that are NULL", NULL, operations_null },
	{ "inputs that are NULL", NULL, inputs_null },
	{ "outputs that are NULL", NULL, outputs_null },
	{ "pools that are NULL", NULL, pools_null },
	{ "values that are NULL", NULL, values_null },
	{ "an operation's inputs that are NULL", NULL, operation_inputs_null },
	{ "an operation's outputs that are NULL", NULL, operation_outputs_null },
	{ "2^32 - 1 operands", NULL, operands_without_end },
	{ "one operand more than NNB_OPERANDS_MAX", NULL, one_operand_too_many },
	{ "NNB_OPERANDS_MAX operands", NULL, operands_max, true },
	{ "more operations than NNB_OPERANDS_MAX", NULL, too_many_operations },
	{ "more inputs than NNB_OPERANDS_MAX", NULL, too_many_inputs },
	{ "more outputs than NNB_OPERANDS_MAX", NULL, too_many_outputs },
	{ "more pools than NNB_OPERANDS_MAX", NULL, too_many_pools },
	{ "an operation of more inputs than NNB_OPERANDS_MAX", NULL, too_many_operation_inputs },
	{ "an operation of more outputs than NNB_OPERANDS_MAX", NULL, too_many_operation_outputs },
	{ "a name that does not end", NULL, name_does_not_end },
	{ "a name of all its bytes", NULL, name_is_full, true },
	{ "O-10: HAL version 0", NULL, hal_0 },
	{ "O-10: a HAL version before 1.0", NULL, hal_before },
	{ "O-10: a HAL version after 1.3", NULL, hal_after },
	{ "HAL 1.1, relaxed", NULL, hal_1_1_relaxed, true },
	{ "HAL 1.3", NULL, hal_1_3, true },
	{ "O-3: lifetime 6", "SVDF without bias", lifetime_6 },
	{ "O-3: lifetime 2^32 - 1", NULL, lifetime_max },
	{ "O-2: a scale that is no number", ADD_Q, scale_nan },
	{ "O-2: a scale without end", ADD_Q, scale_infinite },
	{ "O-2: a scale below 0", ADD_Q, scale_below_0 },
	{ "O-2: of float32, a scale that is no number", NULL, scale_nan },
	{ "O-2: zero points 0 and 255", ADD_Q, zero_points_at_their_ends, true },
	{ "O-2: the least zero point there is", ADD_Q, zero_point_min },
	{ "O-11: an operation writes an input", NULL, writes_input },
	{ "O-11: an operation writes a constant", NULL, writes_constant },
	{ "O-11: an operation writes a NO_VALUE", NULL, writes_no_value },
	{ "O-11: an operation reads what it writes", NULL, reads_own_output },
	{ "O-11: CycleTest, three ADDs in a ring", NULL, cycle_ring },
	{ "O-11: a constant without readers", NULL, idle_constant, true },
	{ "O-15: two constants at one place", NULL, two_at_one_place, true },
	{ "O-11: a temporary without readers and writers", NULL, idle_temporary },
	{ "O-12: an input twice", NULL, input_twice },
	{ "O-12: an output twice", NULL, output_twice },
	{ "O-12: an input that is no operand", NULL, input_out_of_range },
	{ "O-12: an output that is no operand", NULL, output_out_of_range },
	{ "O-12: an output among the inputs", NULL, output_among_inputs },
	{ "O-12: an input that is not listed", NULL, input_not_listed },
	{ "O-12: an output that is not listed", NULL, output_not_listed },
	{ "O-13: an operand that an operation reads twice has two consumers", NULL, twice_by_one, true },
	{ "O-13: an operand that an operation reads twice has no single consumer", NULL, twice_by_one_says_1 },
	{ "O-14: rank 8", "DEQUANTIZE", rank_8, true },
	{ "O-14: rank 9", NULL, rank_9 },
	{ "O-14: rank 2^32 - 1", NULL, rank_max },
	{ "O-14: a scalar of rank 1", NULL, scalar_of_rank_1 },
	{ "O-14: a constant of extent 0", NULL, constant_of_extent_0 },
	{ "O-14: a constant of extent 0 in HAL 1.2", NULL, constant_of_extent_0_in_1_2 },
	{ "O-14: a constant of rank 0 in HAL 1.2", NULL, constant_of_rank_0_in_1_2 },
	{ "O-14: an input of extent 0 in HAL 1.0", NULL, extent_0, true },
	{ "O-14: an input of rank 0 in HAL 1.1", NULL, rank_0_in_1_1 },
	{ "O-14: an input and an output of unknown extents in HAL 1.2", NULL, unknown_extents_in_1_2, true },
	{ "O-14: an input and an output of unknown ranks in HAL 1.2", NULL, unknown_ranks_in_1_2, true },
	{ "O-14: a size that overflows", NULL, size_overflows },
	{ "O-14: a constant whose size is right modulo 2^64", NULL, size_wraps_to_right },
	{ "O-14: a size that no location can say", NULL, size_beyond_32_bits },
	{ "P-4: an input in a pool", NULL, input_in_a_pool },
	{ "P-4: an input at an offset", NULL, input_with_offset },
	{ "P-4: an output of a length", NULL, output_with_length },
	{ "P-4: a NO_VALUE of a length", "SVDF without bias", no_value_with_length },
	{ "P-4: a temporary at an offset", "a small network", temporary_with_offset },
	{ "P-4: a constant copy in a pool", NULL, copy_in_a_pool },
	{ "O-15: a constant copy that is a byte short", NULL, copy_a_byte_short },
	{ "O-15: a constant copy that is a byte long", NULL, copy_a_byte_long },
	{ "O-15: a scalar that is a byte short", NULL, scalar_a_byte_short },
	{ "O-15: a constant copy that ends a byte beyond the values", NULL, copy_a_byte_beyond },
	{ "O-15: a constant copy at the end of the values", NULL, copy_at_the_very_end, true },
	{ "O-15: a constant copy whose end wraps to 0", NULL, copy_wraps },
	{ "O-15: a constant in a pool that does not exist", POOLS, reference_no_pool },
	{ "O-15: a constant in pool 2^32 - 1", POOLS, reference_pool_max },
	{ "O-15: a constant that ends a byte beyond its pool", POOLS, reference_a_byte_beyond },
	{ "O-15: a constant in a pool whose end wraps to 0", POOLS, reference_wraps },
	{ "O-15: a constant in a pool that is a byte short", POOLS, reference_a_byte_short },
	{ "P-19: a constant in a pool that is not aligned", POOLS, reference_misaligned, true },
	{ "R8: a pool of an unknown name", POOLS, pool_of_unknown_name },
	{ "R8: an unused pool of an unknown name", POOLS, pool_that_nobody_uses },
	{ "R8: a pool without a name", POOLS, pool_without_name },
	{ "R8: a pool whose name does not end", POOLS, pool_name_does_not_end },
	{ "R8: a pool of size 0", POOLS, pool_of_size_0 },
	{ "R8: ashmem without a file", POOLS, pool_without_fd },
	{ "R8: ashmem of 2^32 - 1 files", POOLS, pool_of_many_fds },
	{ "R8: ashmem of file -1", POOLS, pool_of_fd_below_0 },
	{ "R8: ashmem with an integer", POOLS, pool_of_an_integer },
	{ "R8: mmap_fd of two integers", POOLS, file_of_two_integers },
	{ "R8: mmap_fd to be executed", POOLS, file_executable },
	{ "P-10: a pool that is a BLOB hardware buffer", POOLS, pool_a_blob, true },
	{ "P-10: a pool that is another hardware buffer", POOLS, pool_a_hardware_buffer },
	{ "O-34: an output scale that is the inputs' product", FC_Q, fc_output_scale },
	{ "O-34: an output scale that is the inputs' product, in HAL 1.2", FC_Q, fc_output_scale_in_1_2, true },
	{ "O-34: an output scale that is the inputs' product, in HAL 1.1", FC_Q, fc_output_scale_in_1_1 },
	{ "O-34: a bias of another scale than the inputs' product", FC_Q, fc_bias_scale },
	{ "O-34: a bias whose scale is nearly the inputs' product", FC_Q, fc_bias_scale_within, true },
	{ "O-16: a float32 bias among quant8", FC_Q, fc_bias_of_float },
	{ "O-16: the scale of LOGISTIC", "LOGISTIC of quant8", output_scale_256th },
	{ "O-16: the zero point of LOGISTIC", "LOGISTIC of quant8", output_zero_point },
	{ "O-16: the scale of SOFTMAX", "SOFTMAX of quant8", output_scale_256th },
	{ "O-16: the zero point of SOFTMAX", "SOFTMAX of quant8", output_zero_point },
	{ "O-16: the scale of AVERAGE_POOL_2D", "AVERAGE_POOL_2D of quant8, explicit", output_scale_half },
	{ "O-16: the zero point of AVERAGE_POOL_2D", "AVERAGE_POOL_2D of quant8, implicit", output_zero_point },
	{ "O-16: the scale of MAX_POOL_2D", "MAX_POOL_2D of quant8, implicit", output_scale_half },
	{ "O-16: the zero point of MAX_POOL_2D", "MAX_POOL_2D of quant8, explicit", output_zero_point },
	{ "O-16: the scale of RELU", "RELU of quant8", output_scale_half },
	{ "O-16: the zero point of RELU1", "RELU1 of quant8", output_zero_point },
	{ "O-16: the zero point of RELU6", "RELU6 of quant8", output_zero_point },
	{ "O-16: the scale of RESHAPE", "RESHAPE of quant8", output_scale_half },
	{ "O-16: the zero point of DEPTH_TO_SPACE", "DEPTH_TO_SPACE of quant8", output_zero_point },
	{ "O-16: the scale of SPACE_TO_DEPTH", "SPACE_TO_DEPTH of quant8", output_scale_half },
	{ "O-16: the scale of EMBEDDING_LOOKUP", "EMBEDDING_LOOKUP of quant8", output_scale_half },
	{ "O-16: the zero point of HASHTABLE_LOOKUP", "HASHTABLE_LOOKUP of quant8", output_zero_point },
	{ "O-16: the scale of HASHTABLE_LOOKUP's hits", "HASHTABLE_LOOKUP of int32", hits_scale },
	{ "O-16: the zero point of HASHTABLE_LOOKUP's hits", "HASHTABLE_LOOKUP of float32", hits_zero_point },
	{ "O-16: CONCATENATION of two scales", "CONCATENATION of three quant8", concatenation_of_another_scale },
	{ "O-16: CONCATENATION of two scales in HAL 1.2", "CONCATENATION of three quant8",
	  concatenation_of_another_scale_in_1_2, true },
	{ "O-16: MUL's output scale that is the inputs' product", "MUL of quant8", mul_output_scale },
	{ "O-16: an activation that is an input", NULL, activation_an_input, true },
	{ "O-16: FULLY_CONNECTED without bias", FC_Q, no_bias },
	{ "O-16: FULLY_CONNECTED without activation", FC_Q, no_activation },
	{ "O-16: SVDF without bias", "SVDF", no_svdf_bias, true },
	{ "O-16: LSTM without the cell's weights", "LSTM", no_lstm_cell_weights },
};

const struct model_rule *model_rules(size_t *ret_n)
{
	*ret_n = sizeof(rules) / sizeof(rules[0]);
	return rules;
}

struct nnb_model *model_rule_new(const struct model_rule *rule)
{
	struct nnb_model *m = sample_named(rule->sample ? rule->sample : "ADD of float32, broadcast");

	rule->spoil(m);
	return m;
}
