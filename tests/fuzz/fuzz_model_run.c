/*
 * fuzz_model_run.c -- valid models with a few changes: validated, prepared by the xnnpack driver, and
 * executed with any bytes as inputs.
 *
 * The first byte of the input chooses a sample model, or one with loops; the second is the number of changes
 * to its wire form, of three bytes each (two for the place, one for the new byte); the rest is the contents
 * of the inputs.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "conformance/validate/sample_models.h"
#include "loop_models.h"
#include "nnb/device.h"

enum { LARGE = 1 << 20 }; /* bytes of an operand: a larger one only takes longer */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static struct nnb_device *device;

static const struct nnb_prepare ordinary = { .preference = 1, .priority = 1 };

/* The remaining bytes of the input. */
struct bytes {
	const uint8_t *at;
	size_t left;
};

static uint8_t bytes_next(struct bytes *b)
{
	if (!b->left)
		return 0;
	b->left--;
	return *b->at++;
}

static void result_must(bool fine)
{
	if (!fine)
		abort();
}

static struct nnb_model *model_chosen(size_t i)
{
	static struct nnb_model *(*const loops[])(void) = { loop_counting, loop_nested, loop_growing, loop_shaped };
	size_t n = sizeof(loops) / sizeof(loops[0]);

	i %= sample_count() + n;
	return i < n ? loops[i]() : sample_new(i - n);
}

/* A sample with changes; NULL if the result is no wire form. */
static struct nnb_model *changed_sample(struct bytes *b)
{
	struct nnb_model *sample = model_chosen(bytes_next(b)), *m = NULL;
	uint8_t *wire;
	size_t n;

	result_must(!nnb_model_encode(sample, &wire, &n));
	for (uint8_t changes = bytes_next(b) % 8; changes; changes--) {
		size_t where = bytes_next(b);

		where = (where << 8 | bytes_next(b)) % n;
		wire[where] = bytes_next(b);
	}
	if (!nnb_model_decode(&m, wire, n, NULL))
		for (uint32_t i = 0; i < m->n_pools && i < sample->n_pools; i++)
			for (uint32_t k = 0; k < m->pools[i].n_fds; k++)
				m->pools[i].fds[k] = dup(sample->pools[i].fds[0]);
	free(wire);
	nnb_model_free(sample);
	return m;
}

static bool too_large(const struct nnb_model *m)
{
	uint64_t bytes;

	for (uint32_t i = 0; i < m->n_operands; i++) {
		const struct nnb_operand *o = &m->operands[i];

		if (o->rank > NNB_RANK_MAX || nnb_operand_bytes(o->type, o->rank, o->dims, &bytes) || bytes > LARGE)
			return true;
	}
	return false;
}

struct run {
	uint32_t n;
	struct nnb_memory *pools;
	struct nnb_argument *args;
};

/* Each argument ends where a pool of its own, of whole pages, ends: a write beyond it is caught. */
static void argument_place(struct run *r, uint32_t i, const struct nnb_operand *o, bool loops, struct bytes *b)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), bytes, size;
	struct nnb_mapping *mapping;
	uint8_t *at;

	result_must(!nnb_operand_bytes(o->type, o->rank, o->dims, &bytes));
	if (!bytes) {
		r->args[i].no_value = true;
		result_must(!nnb_memory_ashmem(&r->pools[i], page));
		return;
	}
	size = (bytes + page - 1) / page * page;
	result_must(!nnb_memory_ashmem(&r->pools[i], size) && !nnb_map(&mapping, &r->pools[i]));
	at = (uint8_t *)nnb_mapping_data(mapping) + size - bytes;
	for (uint64_t k = 0; k < bytes && b->left; k++)
		at[k] = bytes_next(b);
	for (uint64_t k = 0; loops && o->type == NNB_TENSOR_INT32 && k < bytes; k++)
		at[k] &= k % 4 ? 0 : 15; /* a loop of 2^31 iterations only takes longer */
	nnb_mapping_unref(mapping);
	r->args[i].location = (struct nnb_location){ i, (uint32_t)(size - bytes), (uint32_t)bytes };
}

static void prepared_execute(struct nnb_prepared *p, struct bytes *b)
{
	const struct nnb_model *m = nnb_prepared_model(p);
	struct run r = { .n = m->n_inputs + m->n_outputs };
	struct nnb_request request;

	r.pools = calloc(r.n + 1, sizeof(*r.pools));
	r.args = calloc(r.n + 1, sizeof(*r.args));
	result_must(r.pools && r.args);
	for (uint32_t i = 0; i < r.n; i++)
		argument_place(&r, i, &m->operands[i < m->n_inputs ? m->inputs[i] : m->outputs[i - m->n_inputs]],
		               m->n_referenced, b);
	request = (struct nnb_request){ .inputs = r.args,
		                        .outputs = r.args + m->n_inputs,
		                        .n_inputs = m->n_inputs,
		                        .n_outputs = m->n_outputs,
		                        .n_pools = r.n,
		                        .pools = r.pools };
	nnb_execute(p, &request, NULL, NULL);
	nnb_execute(p, &request, NULL, NULL);
	for (uint32_t i = 0; i < r.n; i++)
		nnb_memory_close(&r.pools[i]);
	free(r.pools);
	free(r.args);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct bytes b = { data, n };
	struct nnb_model *m = changed_sample(&b);
	struct nnb_prepared *p;
	bool *supported;

	if (!device)
		result_must(!nnb_device_open(&device, "xnnpack", NULL));
	if (m && !too_large(m)) {
		supported = calloc(m->n_operations + 1, sizeof(*supported));
		result_must(supported);
		nnb_device_supported(device, m, supported, NULL);
		free(supported);
		if (!nnb_prepare(device, m, &ordinary, NULL, &p, NULL)) {
			prepared_execute(p, &b);
			nnb_prepared_unref(p);
		}
	}
	nnb_model_free(m);
	return 0;
}
