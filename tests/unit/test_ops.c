/*
 * test_ops.c -- operations of random shapes and forms, with operands of every type they take, against their
 * definitions in doubles (op_oracle.h): test_ops first|newer|cells|boxes. test_ops rows: each operation with
 * each type of its signatures has an oracle; wrong indexes, axes and extents are errors and do no other harm.
 */
#include "model/ops.h"
#include "unit/op_oracle.h"

/* ---- wrong operands ---- */

static struct tensor *floats_tensor(struct maker *k, uint32_t n)
{
	return tensor_give(k, tensor_make(k, NNB_TENSOR_FLOAT32, 1, &n, 0, 0), 4, false);
}

/* A vector of ten, and parameters from @how for what to take of it. */
static enum nnb_status operation_take(uint32_t op, void (*how)(struct maker *k), uint32_t n_out)
{
	struct nnb_device *d = open_device("xnnpack");
	struct maker *k = malloc(sizeof(*k));
	struct nnb_reason reason = { "" };
	enum nnb_status status;

	assert_non_null(k);
	op_maker_init(k, op, NNB_TENSOR_FLOAT32);
	floats_tensor(k, 10);
	how(k);
	for (uint32_t i = 0; i < n_out; i++)
		tensor_want(k, k->type, 1, (uint32_t[]){ 5 }, 0, 0);
	status = op_run(d, k, NULL, &reason);
	nnb_model_free(k->m);
	free(k);
	nnb_device_unref(d);
	return status;
}

/* Begin, size and similar lists that are inputs of the request. */
static void by_request(struct maker *k, int32_t value)
{
	integers_give(k, 1, &value, false);
}

static void slice_behind(struct maker *k)
{
	by_request(k, 6);
	by_request(k, 5);
}

static void slice_before(struct maker *k)
{
	by_request(k, -1);
	by_request(k, 5);
}

static void slice_wrapping(struct maker *k)
{
	by_request(k, INT32_MAX);
	by_request(k, INT32_MAX);
}

static void gather_make(struct maker *k, int32_t index)
{
	integer_give(k, 0);
	integers_give(k, 5, (const int32_t[]){ 0, 9, 3, 4, index }, false);
}

static void gather_behind(struct maker *k)
{
	gather_make(k, 10);
}

static void gather_before(struct maker *k)
{
	gather_make(k, INT32_MIN);
}

static void split_in_three(struct maker *k)
{
	integer_give(k, 0);
	integer_give(k, 3);
}

static void split_elsewhere(struct maker *k)
{
	integer_give(k, 1);
	integer_give(k, 2);
}

static void tile_many(struct maker *k)
{
	by_request(k, INT32_MAX);
}

static void tile_less(struct maker *k)
{
	by_request(k, -1);
}

static void transpose_elsewhere(struct maker *k)
{
	by_request(k, 7);
}

static void stride_of_0(struct maker *k)
{
	by_request(k, 0);
	by_request(k, 5);
	by_request(k, 0);
	integer_give(k, 0);
	integer_give(k, 0);
	integer_give(k, 0);
}

static void what_is_wrong_is_an_error(void **state)
{
	static const struct {
		uint32_t op;
		void (*how)(struct maker *k);
		uint32_t n_out;
	} rows[] = {
		{ NNB_SLICE, slice_behind, 1 },
		{ NNB_SLICE, slice_before, 1 },
		{ NNB_SLICE, slice_wrapping, 1 },
		{ NNB_GATHER, gather_behind, 1 },
		{ NNB_GATHER, gather_before, 1 },
		{ NNB_SPLIT, split_in_three, 2 },
		{ NNB_SPLIT, split_elsewhere, 2 },
		{ NNB_TILE, tile_many, 1 },
		{ NNB_TILE, tile_less, 1 },
		{ NNB_TRANSPOSE, transpose_elsewhere, 1 },
		{ NNB_STRIDED_SLICE, stride_of_0, 1 },
	};

	(void)state;
	for (size_t i = 0; i < N_OF(rows); i++)
		if (!operation_take(rows[i].op, rows[i].how, rows[i].n_out))
			fail_msg("row %zu (%s) was taken", i, nnb_op_name(rows[i].op));
}

/* An operation is refused by the rules of a HAL that did not have it yet. */
static void later_operations_are_refused(void **state)
{
	struct nnb_reason reason = { "" };
	struct nnb_model *m;
	uint32_t x, y;

	(void)state;
	assert_int_equal(nnb_model_new(&m, "later", NNB_HAL_1_1), 0);
	x = float_tensor(m, 3);
	y = float_tensor(m, 3);
	assert_true(nnb_model_operation(m, NNB_ABS, &x, 1, &y, 1) >= 0);
	assert_int_equal(nnb_model_finish(m, &x, 1, &y, 1), 0);
	assert_int_equal(nnb_model_validate(m, &reason), NNB_STATUS_INVALID_ARGUMENT);
	m->hal = NNB_HAL_1_2;
	assert_int_equal(nnb_model_validate(m, &reason), NNB_STATUS_NONE);
	nnb_model_free(m);
}

/* ---- the table of rows ---- */

static const struct file {
	const char *name;
	const struct op_family *families;
} files[] = {
	{ "first", op_families_first },
	{ "newer", op_families_newer },
	{ "cells", op_families_cells },
	{ "boxes", op_families_boxes },
};

static bool has_oracle(uint32_t op, char x, char y)
{
	for (size_t i = 0; i < N_OF(files); i++)
		for (const struct op_family *f = files[i].families; f->types; f++)
			if (f->op == op && strchr(f->types, x) &&
			    (y ? f->seconds && strchr(f->seconds, y) : !f->seconds))
				return true;
	return false;
}

/* Count the types that the signatures have and no family tests. */
static uint32_t count_missing(uint32_t op, const char *name)
{
	char xs[NNB_OP_LETTERS], ys[NNB_OP_LETTERS];
	uint32_t missing = 0;

	if (op == NNB_IF || op == NNB_WHILE) /* these compute nothing themselves: see test_control */
		return 0;
	for (uint32_t form = 0; nnb__op_letters(op, form, xs, ys); form++)
		for (const char *x = xs; *x; x++)
			for (const char *y = *ys ? ys : NULL;; y++) {
				if (y && !*y)
					break;
				if (!has_oracle(op, *x, y ? *y : 0)) {
					fprintf(stderr, "%s of %c %c has no oracle\n", name, *x, y ? *y : ' ');
					missing++;
				}
				if (!y)
					break;
			}
	return missing;
}

static void every_operation_of_every_type_has_an_oracle(void **state)
{
	uint32_t missing = 0;

	(void)state;
#define NNB_OP(name, code, hal) missing += count_missing(code, #name);
#include "nnb/operations.def"
#undef NNB_OP
	assert_int_equal(missing, 0);
}

enum { OPS_MAX = 128, FORMS_MAX = 8 };

/* Mark the forms that the rounds of @row have. */
static void mark_forms(const struct op_row *row, struct maker *k, bool made[OPS_MAX][FORMS_MAX])
{
	for (uint32_t round = 0; round < OP_ROUNDS; round++) {
		uint32_t form;

		op_round_make(k, row, round);
		op_model_finish(k, NULL);
		form = nnb__op_form(k->m, &k->m->operations[0]);
		assert_true(k->op < OPS_MAX && form < FORMS_MAX);
		made[k->op][form] = true;
		nnb_model_free(k->m);
	}
}

/* Returns the rows of a file of tests; owned by the caller. */
static struct op_row *rows_of(size_t file, size_t *ret_n)
{
	struct op_row *all;

	*ret_n = op_rows(files[file].families, NULL);
	all = calloc(*ret_n, sizeof(*all));
	assert_non_null(all);
	op_rows(files[file].families, all);
	return all;
}

/* Layouts, padding schemes, factors instead of sizes and so on: no test computes a form that no round has. */
static void every_form_has_a_round(void **state)
{
	static bool made[OPS_MAX][FORMS_MAX];
	struct maker *k = malloc(sizeof(*k));
	char x[NNB_OP_LETTERS], y[NNB_OP_LETTERS];
	uint32_t missing = 0;

	(void)state;
	assert_non_null(k);
	for (size_t i = 0; i < N_OF(files); i++) {
		size_t n;
		struct op_row *all = rows_of(i, &n);

		for (size_t row = 0; row < n; row++)
			mark_forms(&all[row], k, made);
		free(all);
	}
	for (uint32_t op = 0; op < OPS_MAX; op++)
		for (uint32_t form = 0; op != NNB_IF && op != NNB_WHILE && nnb__op_letters(op, form, x, y); form++)
			if (!made[op][form]) {
				fprintf(stderr, "%s has a form, number %u, that no round has\n", nnb_op_name(op), form);
				missing++;
			}
	free(k);
	assert_int_equal(missing, 0);
}

/* ---- extents of 0 ---- */

/* Does TILE take operand @i, which is a tensor that has elements? */
static bool can_be_emptied(const struct maker *k, uint32_t i)
{
	const struct nnb_operand *o = &k->m->operands[i];

	return o->lifetime != NNB_NO_VALUE && o->rank &&
	       (o->type == NNB_TENSOR_FLOAT32 || o->type == NNB_TENSOR_FLOAT16 || o->type == NNB_TENSOR_INT32 ||
	        o->type == NNB_TENSOR_QUANT8_ASYMM || o->type == NNB_TENSOR_QUANT8_ASYMM_SIGNED);
}

/* A TILE makes each extent of input @input that is @extent become 0. The multiples come with the request. */
static void empty_input(struct maker *k, uint32_t input, uint32_t extent)
{
	struct nnb_operand o = k->m->operands[k->inputs[input]];
	int32_t multiples[NNB_RANK_MAX];
	uint32_t tile[2] = { k->inputs[input] }, index;

	for (uint32_t d = 0; d < o.rank; d++)
		multiples[d] = o.dims[d] != extent;
	integers_give(k, o.rank, multiples, false);
	tile[1] = k->inputs[--k->n_inputs];
	o.lifetime = NNB_TEMPORARY;
	memset(&o.location, 0, sizeof(o.location));
	memset(o.dims, 0, sizeof(o.dims));
	index = (uint32_t)nnb_model_operand(k->m, &o);
	assert_true(nnb_model_operation(k->m, NNB_TILE, tile, 2, &index, 1) >= 0);
	k->inputs[input] = index;
}

/* Does the operation have an input with such an extent that can be emptied? */
static bool has_extent(const struct maker *k, uint32_t input, uint32_t extent)
{
	const struct nnb_operand *o = &k->m->operands[k->inputs[input]];
	bool has = false;

	for (uint32_t d = 0; can_be_emptied(k, k->inputs[input]) && d < o->rank; d++)
		has |= o->dims[d] == extent;
	return has;
}

/*
 * A round of @row with one extent of an input 0 and, every second time, the equal extents of the other
 * inputs, too.
 */
static bool run_emptied(struct nnb_device *d, const struct op_row *row, uint32_t round, struct maker *k)
{
	struct nnb_reason reason = { "" };
	uint32_t n, first = 0, extent;

	op_round_make(k, row, round);
	n = k->n_inputs;
	while (first < n && !can_be_emptied(k, k->inputs[first]))
		first++;
	if (first < n) {
		const struct nnb_operand *o = &k->m->operands[k->inputs[first]];

		extent = o->dims[round / 2 % o->rank];
		for (uint32_t i = first; i < (round % 2 ? n : first + 1); i++)
			if (has_extent(k, i, extent) && k->n_tensors + k->n_outputs < TENSORS_MAX)
				empty_input(k, i, extent);
		k->unknown = true;
		op_run(d, k, NULL, &reason); /* any status will do: the call must return */
	}
	nnb_model_free(k->m);
	return first < n;
}

static void an_extent_of_0_found_at_run_time_does_no_harm(void **state)
{
	struct nnb_device *d = open_device("xnnpack");
	struct maker *k = malloc(sizeof(*k));
	unsigned runs = 0;

	(void)state;
	assert_non_null(k);
	for (size_t i = 0; i < N_OF(files); i++) {
		size_t n;
		struct op_row *all = rows_of(i, &n);

		for (size_t row = 0; row < n; row++)
			for (uint32_t round = 0; round < OP_ROUNDS; round++)
				runs += run_emptied(d, &all[row], round, k);
		free(all);
	}
	print_message("counted: %u runs with extents of 0\n", runs);
	assert_true(runs > 5000);
	free(k);
	nnb_device_unref(d);
}

static const struct CMUnitTest rows[] = {
	cmocka_unit_test(an_extent_of_0_found_at_run_time_does_no_harm),
	cmocka_unit_test(every_operation_of_every_type_has_an_oracle),
	cmocka_unit_test(every_form_has_a_round),
	cmocka_unit_test(what_is_wrong_is_an_error),
	cmocka_unit_test(later_operations_are_refused),
};

int main(int argc, char **argv)
{
	const char *which = argc == 2 ? argv[1] : "";
	char name[32];

	for (size_t i = 0; i < N_OF(files); i++)
		if (!strcmp(which, files[i].name)) {
			snprintf(name, sizeof(name), "test_op_%s", which);
			return op_oracle_main(name, files[i].families);
		}
	if (strcmp(which, "rows")) {
		fprintf(stderr, "usage: test_ops first|newer|cells|boxes|rows\n");
		return 2;
	}
	return _cmocka_run_group_tests("test_op_rows", rows, N_OF(rows), NULL, NULL);
}
