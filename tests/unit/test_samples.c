/*
 * test_samples.c -- every sample model, and so every operation, on the xnnpack driver. Its arguments end
 * where pools of whole pages end, so that a read beyond a tensor is caught; a warm execution allocates
 * nothing.
 */
#include <unistd.h>

#include "allocations.h"
#include "conformance/validate/sample_models.h"
#include "unit/device_helpers.h"

enum { ARGUMENTS_MAX = 32 };

struct run {
	uint32_t n;
	struct nnb_memory pools[ARGUMENTS_MAX];
	struct nnb_mapping *mappings[ARGUMENTS_MAX];
	struct nnb_argument args[ARGUMENTS_MAX];
	struct nnb_request request;
};

/*
 * Argument @i is operand @index, alone at the end of pool @i. It holds small numbers, which can be indexes
 * and hashes.
 */
static void place(struct run *r, uint32_t i, const struct nnb_model *m, uint32_t index)
{
	const struct nnb_operand *o = &m->operands[index];
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), bytes, size;
	char *at;

	assert_int_equal(nnb_operand_bytes(o->type, o->rank, o->dims, &bytes), 0);
	if (bytes == 0) { /* an optional input of HAL 1.0, to be left out (D-6) */
		r->args[i].no_value = true;
		bytes = 1;
	}
	size = (bytes + page - 1) / page * page;
	assert_int_equal(nnb_memory_ashmem(&r->pools[i], size), 0);
	assert_int_equal(nnb_map(&r->mappings[i], &r->pools[i]), 0);
	at = (char *)nnb_mapping_data(r->mappings[i]) + size - bytes;
	for (uint64_t k = 0; k < bytes / 4; k++)
		if (o->type == NNB_TENSOR_FLOAT32)
			((float *)at)[k] = (float)(k % 7) / 4 - 0.5f;
	if (m->operations[0].type == NNB_RESHAPE && o->type == NNB_TENSOR_INT32)
		memcpy(at, m->operands[m->outputs[0]].dims, bytes);
	if (o->type == NNB_TENSOR_QUANT8_ASYMM)
		for (uint64_t k = 0; k < bytes; k++)
			at[k] = (char)(k * 37);
	if (!r->args[i].no_value)
		r->args[i].location = (struct nnb_location){ i, (uint32_t)(size - bytes), (uint32_t)bytes };
}

static void run_init(struct run *r, const struct nnb_model *m)
{
	*r = (struct run){ .n = m->n_inputs + m->n_outputs };
	assert_true(r->n <= ARGUMENTS_MAX);
	for (uint32_t i = 0; i < r->n; i++)
		place(r, i, m, i < m->n_inputs ? m->inputs[i] : m->outputs[i - m->n_inputs]);
	r->request = (struct nnb_request){ .inputs = r->args,
		                           .outputs = r->args + m->n_inputs,
		                           .n_inputs = m->n_inputs,
		                           .n_outputs = m->n_outputs,
		                           .n_pools = r->n,
		                           .pools = r->pools };
}

static void run_fini(struct run *r)
{
	for (uint32_t i = 0; i < r->n; i++) {
		nnb_mapping_unref(r->mappings[i]);
		nnb_memory_close(&r->pools[i]);
	}
}

static void run_once(struct run *r, struct nnb_prepared *p)
{
	struct nnb_execution *e;
	struct nnb_reason reason = { "" };
	bool finished;

	if (nnb_execution_begin(p, &r->request, r->mappings, false, NULL, &e, &reason))
		fail_msg("%s", reason.text);
	assert_int_equal(nnb_execution_run(e, NULL, NULL, &finished), NNB_STATUS_NONE);
	nnb_execution_end(e);
}

static void it_runs_at_the_end_of_its_pools_and_warm_without_allocating(void **state)
{
	struct nnb_device *d = open_device("xnnpack");
	struct nnb_model *m = sample_new(*(size_t *)*state);
	struct nnb_prepared *p = NULL;
	unsigned long before;
	struct run r;

	if (!supports(d, m)) { /* preparing must fail, too */
		assert_int_equal(nnb_prepare(d, m, &ordinary, NULL, &p, NULL), NNB_STATUS_INVALID_ARGUMENT);
		nnb_model_free(m);
		nnb_device_unref(d);
		return;
	}
	p = prepared(d, m);
	run_init(&r, m);
	run_once(&r, p); /* the first execution allocates what later ones use */
	before = allocations();
	for (int i = 0; i < 5; i++)
		run_once(&r, p);
	assert_int_equal(allocations() - before, 0);
	run_fini(&r);
	nnb_prepared_unref(p);
	nnb_model_free(m);
	nnb_device_unref(d);
}

static void allocations_are_counted(void **state)
{
	unsigned long before = allocations();
	void *volatile some = malloc(100); /* volatile: the compiler must not remove the allocation */

	(void)state;
	free(some);
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
	assert_int_equal(allocations(), before);
#else
	assert_int_equal(allocations(), before + 1);
#endif
}

int main(void)
{
	size_t n = sample_count();
	struct CMUnitTest *tests = calloc(n + 1, sizeof(*tests));
	size_t *indexes = calloc(n, sizeof(*indexes));
	int status;

	for (size_t i = 0; i < n; i++) {
		indexes[i] = i;
		tests[i] =
			(struct CMUnitTest){ .name = sample_name(i),
			                     .test_func = it_runs_at_the_end_of_its_pools_and_warm_without_allocating,
			                     .initial_state = &indexes[i] };
	}
	tests[n] = (struct CMUnitTest){ .name = "allocations are counted", .test_func = allocations_are_counted };
	status = _cmocka_run_group_tests("samples", tests, n + 1, NULL, NULL);
	free(tests);
	free(indexes);
	return status;
}
