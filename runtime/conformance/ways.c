/* ways.c -- executes an example in every requested way, and compares the results. */
#include "ways.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "compare.h"
#include "nnb/fence.h"

enum { ALIGNMENT = 64, ROOM = 1 << 20 };

const char *const path_names[] = { "sync", "burst", "fenced", "one go", "save", "restart" };

/* ---- placing arguments ---- */

/* Arguments and their pools, with the call and the request that refer to them. */
struct placing {
	struct nnb_argument *inputs, *outputs;
	struct nnb_pool **pools; /* the first two are in shared memory: inputs and outputs */
	struct nnb_memory *memories;
	struct nnb_call call;
	struct nnb_request request;
};

/* Inputs in one pool and outputs in another; and the same arguments in the device's memory. */
struct arrangement {
	struct nnb_pool *pools[2];
	struct placing placings[N_MEMORIES];
	struct nnb_output_shape *shapes; /* the shapes of the last execution's outputs ... */
	bool has_shapes;                 /* ... if it returned them; a fenced or preempted execution does not */
	void *kept;                      /* outputs of the first path, with which all others are compared ... */
	char kept_of[32];                /* ... and the name of that path */
};

static void arrangement_free(struct arrangement *a)
{
	for (int i = 0; i < N_MEMORIES; i++) {
		free(a->placings[i].inputs);
		free(a->placings[i].outputs);
		free(a->placings[i].pools);
		free(a->placings[i].memories);
	}
	for (int i = 0; i < 2; i++)
		nnb_pool_free(a->pools[i]);
	free(a->shapes);
	free(a->kept);
}

static bool placing_init(struct placing *p, const struct nnb_model *m)
{
	size_t n = (size_t)m->n_inputs + m->n_outputs + 2;

	p->inputs = calloc(m->n_inputs + 1, sizeof(*p->inputs));
	p->outputs = calloc(m->n_outputs + 1, sizeof(*p->outputs));
	p->pools = calloc(n, sizeof(struct nnb_pool *));
	p->memories = calloc(n, sizeof(*p->memories));
	p->call = (struct nnb_call){ .inputs = p->inputs,
		                     .outputs = p->outputs,
		                     .n_inputs = m->n_inputs,
		                     .n_outputs = m->n_outputs,
		                     .pools = p->pools };
	p->request = (struct nnb_request){ .inputs = p->inputs,
		                           .outputs = p->outputs,
		                           .n_inputs = m->n_inputs,
		                           .n_outputs = m->n_outputs,
		                           .pools = p->memories };
	return p->inputs && p->outputs && p->pools && p->memories;
}

static uint32_t add_pool(struct placing *p, struct nnb_pool *pool)
{
	uint32_t i = p->call.n_pools++;

	p->pools[i] = pool;
	p->memories[i] = *nnb_pool_memory(pool);
	p->request.n_pools = p->call.n_pools;
	return i;
}

/* The bytes of a model's input or output: the example's size if it has one, otherwise the model's. */
static uint64_t way_bytes_of(const struct nnb_model *m, uint32_t operand, size_t given)
{
	const struct nnb_operand *o = &m->operands[operand];
	uint64_t bytes = given;

	if (!given && (nnb_operand_bytes(o->type, o->rank, o->dims, &bytes) || !bytes))
		return ROOM; /* an output that is not compared, of any size */
	return bytes;
}

/* Place these operands one after the other in pool @pool. Returns the bytes they need. */
static uint64_t lay_out(struct nnb_argument *args, const struct nnb_model *m, const uint32_t *operands, uint32_t n,
                        uint32_t pool, const size_t *given)
{
	uint64_t at = 0;

	for (uint32_t i = 0; i < n; i++) {
		uint64_t bytes = way_bytes_of(m, operands[i], given[i]);

		args[i].location = (struct nnb_location){ pool, (uint32_t)at, (uint32_t)bytes };
		at += (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
	}
	return at ? at : ALIGNMENT;
}

static bool arrange_shared(struct arrangement *a, const struct nnb_model *m, const struct nnb_example *x)
{
	struct placing *p = &a->placings[SHARED];
	uint64_t bytes[2];

	a->shapes = calloc(m->n_outputs + (size_t)1, sizeof(*a->shapes));
	if (!a->shapes || !placing_init(p, m))
		return false;
	bytes[0] = lay_out(p->inputs, m, m->inputs, m->n_inputs, 0, x->input_bytes);
	bytes[1] = lay_out(p->outputs, m, m->outputs, m->n_outputs, 1, x->output_bytes);
	for (int i = 0; i < 2; i++) {
		if (bytes[i] > UINT32_MAX || nnb_pool_new(&a->pools[i], bytes[i]))
			return false;
		add_pool(p, a->pools[i]);
	}
	for (uint32_t i = 0; i < m->n_inputs; i++) {
		if (x->inputs[i])
			memcpy((char *)nnb_pool_data(a->pools[0]) + p->inputs[i].location.offset, x->inputs[i],
			       x->input_bytes[i]);
		else
			p->inputs[i] = (struct nnb_argument){ .no_value = true };
	}
	return true;
}

/* ---- executing ---- */

static const struct nnb_model *model_of(const struct target *t)
{
	return t->remote ? nnb_remote_model(t->remote) : nnb_prepared_model(t->prepared);
}

void target_free(struct target *t)
{
	nnb_burst_free(t->burst);
	device_memory_fini(&t->memory);
	nnb_remote_release(t->remote);
	nnb_prepared_unref(t->prepared);
}

static bool is_not(void *op, uint32_t next_op)
{
	return next_op != *(const uint32_t *)op;
}

/*
 * Stop the execution at each checkpoint, and run @other, which uses all resources that it may use, before the execution
 * continues or restarts.
 */
static enum nnb_status run_with_stops(const struct target *t, const struct nnb_request *request,
                                      const struct nnb_request *other, bool over, struct nnb_reason *reason)
{
	struct nnb_execution *e;
	enum nnb_status status = nnb_execution_begin(t->prepared, request, NULL, false, NULL, &e, reason);
	bool finished = false;
	uint32_t stop = 1;

	if (status)
		return status;
	while (!status && !finished) {
		status = nnb_execution_run(e, is_not, &stop, &finished);
		if (status || finished)
			break;
		nnb_execute(t->prepared, other, NULL, NULL); /* its result does not matter */
		if (over)
			status = nnb_execution_restart(e);
		stop++;
	}
	nnb_execution_end(e);
	return status;
}

/* Execute while another execution, with arguments in shared memory, preempts this one. */
static enum nnb_status execute_preempted(const struct target *t, const struct arrangement *a, const struct placing *p,
                                         bool over, struct nnb_reason *reason)
{
	enum nnb_status status = NNB_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
	struct nnb_request other = a->placings[SHARED].request;
	struct nnb_pool *others[2] = { NULL, NULL };
	struct nnb_memory memories[2];

	if (!nnb_pool_new(&others[0], nnb_pool_size(a->pools[0])) &&
	    !nnb_pool_new(&others[1], nnb_pool_size(a->pools[1]))) {
		const struct nnb_model *m = model_of(t);

		/* The other execution's inputs: those of @a in reverse order of elements. */
		for (uint32_t i = 0; i < m->n_inputs; i++) {
			const struct nnb_argument *input = &a->placings[SHARED].inputs[i];
			size_t bytes = nnb_type_info(m->operands[m->inputs[i]].type)->bytes;
			size_t n = input->location.length / bytes;
			const char *from = (const char *)nnb_pool_data(a->pools[0]) + input->location.offset;
			char *to = (char *)nnb_pool_data(others[0]) + input->location.offset;

			for (size_t k = 0; !input->no_value && k < n; k++)
				memcpy(to + k * bytes, from + (n - 1 - k) * bytes, bytes);
		}
		for (int i = 0; i < 2; i++)
			memories[i] = *nnb_pool_memory(others[i]);
		other.pools = memories;
		status = run_with_stops(t, &p->request, &other, over, reason);
	}
	nnb_pool_free(others[0]);
	nnb_pool_free(others[1]);
	return status;
}

/* Execute after a fence that is signalled once the execution is under way. */
static enum nnb_status execute_fenced(const struct target *t, const struct nnb_call *call, struct nnb_reason *reason)
{
	struct nnb_fenced *fenced;
	int first, last = -1;
	const struct nnb_fenced_how how = { .wait_for = &first, .n_wait_for = 1 };
	enum nnb_status status;

	if (nnb_fence_new(&first)) {
		snprintf(reason->text, sizeof(reason->text), "no fence");
		return NNB_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
	}
	status = nnb_remote_execute_fenced(t->remote, call, &how, &fenced, &last, reason);
	nnb_fence_signal(first, false);
	close(first);
	if (status)
		return status;
	while (nnb_fence_wait(&last, 1, 0) == -EINTR)
		;
	status = nnb_fenced_info(fenced, NULL, NULL, reason);
	nnb_fenced_free(fenced);
	close(last);
	return status;
}

static enum nnb_status execute_path(const struct target *t, unsigned path, struct arrangement *a,
                                    const struct placing *p, struct nnb_reason *reason)
{
	struct nnb_answer answer = { .shapes = a->shapes };
	enum nnb_status status;

	if (t->prepared) {
		a->has_shapes = path == AT_ONE_GO;
		if (path == AT_ONE_GO)
			return nnb_execute(t->prepared, &p->request, a->shapes, reason);
		return execute_preempted(t, a, p, path == RESTARTED, reason);
	}
	a->has_shapes = false;
	if (path == BY_FENCED)
		return execute_fenced(t, &p->call, reason);
	status = path == BY_SYNC ? nnb_remote_execute(t->remote, &p->call, &answer, reason)
	                         : nnb_burst_execute(t->burst, &p->call, &answer, reason);
	a->has_shapes = answer.n_shapes == p->call.n_outputs;
	if (!status && answer.fallback) {
		snprintf(reason->text, sizeof(reason->text), "the burst could not carry it");
		status = NNB_STATUS_GENERAL_FAILURE;
	}
	return status;
}

static char *output_at(const struct arrangement *a, uint32_t i)
{
	return (char *)nnb_pool_data(a->pools[1]) + a->placings[SHARED].outputs[i].location.offset;
}

/* Whether output @i has as many elements as in the example. A file writes a single 0 for an output without elements. */
static bool is_as_large(const struct nnb_model *m, const struct nnb_example *x, const struct arrangement *a, uint32_t i,
                        struct nnb_reason *reason)
{
	uint64_t want = x->output_bytes[i] / nnb_type_info(m->operands[m->outputs[i]].type)->bytes, got = 1;

	if (!a->has_shapes)
		return true;
	for (uint32_t k = 0; k < a->shapes[i].rank; k++)
		got *= a->shapes[i].dims[k];
	if (got == want || (!got && want == 1))
		return true;
	snprintf(reason->text, sizeof(reason->text), "output %u has %" PRIu64 " elements, not %" PRIu64, i, got, want);
	return false;
}

static const char *way_name_of(unsigned path, unsigned memory, char ret[32])
{
	snprintf(ret, 32, "%s%s", path_names[__builtin_ctz(path)], memory == DEVICE ? " in device memory" : "");
	return ret;
}

/* Require that all ways produce the same bits. The output pool is filled with other bytes afterwards. */
static bool compare_ways(struct arrangement *a, const char *name, struct nnb_reason *reason)
{
	void *outputs = nnb_pool_data(a->pools[1]);
	size_t bytes = nnb_pool_size(a->pools[1]);
	bool same = true;

	if (a->kept && memcmp(a->kept, outputs, bytes)) {
		snprintf(reason->text, sizeof(reason->text), "by %s and by %s the outputs differ", name, a->kept_of);
		same = false;
	} else if (!a->kept) {
		a->kept = malloc(bytes);
		strcpy(a->kept_of, name);
		same = a->kept;
		if (same)
			memcpy(a->kept, outputs, bytes);
		else
			snprintf(reason->text, sizeof(reason->text), "out of memory while comparing the ways");
	}
	memset(outputs, 0, bytes);
	return same;
}

/* ---- device memory ---- */

/* The bytes of an output if the model determines them; 0: unknown, and the output stays in shared memory. */
static uint64_t known_bytes(const struct nnb_model *m, uint32_t output)
{
	const struct nnb_operand *o = &m->operands[m->outputs[output]];
	uint64_t bytes;

	return nnb_operand_bytes(o->type, o->rank, o->dims, &bytes) ? 0 : bytes;
}

/* Arrange the arguments as in shared memory, but in the device's buffers where it has accepted one. */
static bool arrange_in_device(struct arrangement *a, const struct target *t)
{
	const struct placing *shared = &a->placings[SHARED];
	struct placing *p = &a->placings[DEVICE];
	const struct nnb_model *m = model_of(t);

	if (!placing_init(p, m))
		return false;
	memcpy(p->inputs, shared->inputs, m->n_inputs * sizeof(*p->inputs));
	memcpy(p->outputs, shared->outputs, m->n_outputs * sizeof(*p->outputs));
	add_pool(p, a->pools[0]);
	add_pool(p, a->pools[1]);
	for (uint32_t i = 0; i < m->n_inputs; i++)
		if (t->memory.inputs[i].pool && !p->inputs[i].no_value)
			p->inputs[i].location = (struct nnb_location){ .pool = add_pool(p, t->memory.inputs[i].pool) };
	for (uint32_t i = 0; i < m->n_outputs; i++)
		if (t->memory.outputs[i].pool && known_bytes(m, i))
			p->outputs[i].location =
				(struct nnb_location){ .pool = add_pool(p, t->memory.outputs[i].pool) };
	return true;
}

static bool is_kept(const struct nnb_argument *a)
{
	return !a->no_value && a->location.pool >= 2;
}

/* Fill the buffers: inputs from the example, outputs of known size with other bytes. */
static enum nnb_status fill_device(const struct target *t, const struct arrangement *a, struct nnb_reason *reason)
{
	const struct placing *p = &a->placings[DEVICE], *shared = &a->placings[SHARED];
	enum nnb_status status = NNB_STATUS_NONE;
	const struct nnb_model *m = model_of(t);

	for (uint32_t i = 0; !status && i < m->n_inputs; i++) {
		const struct nnb_location *at = &shared->inputs[i].location;

		if (is_kept(&p->inputs[i]))
			status = kept_write(&t->memory.inputs[i], (char *)nnb_pool_data(a->pools[0]) + at->offset,
			                    at->length, reason);
	}
	for (uint32_t i = 0; !status && i < m->n_outputs; i++)
		if (is_kept(&p->outputs[i]) && way_bytes_of(m, m->outputs[i], 0) == shared->outputs[i].location.length)
			status = kept_write(&t->memory.outputs[i], output_at(a, i), shared->outputs[i].location.length,
			                    reason);
	return status;
}

/* ---- all ways ---- */

static bool run_way(const struct target *t, unsigned path, unsigned memory, const struct nnb_example *x,
                    struct arrangement *a, struct nnb_reason *reason)
{
	enum nnb_status status = memory == DEVICE ? fill_device(t, a, reason) : NNB_STATUS_NONE;
	const struct nnb_model *m = model_of(t);
	char name[32];

	if (!status)
		status = execute_path(t, path, a, &a->placings[memory], reason);
	if (!status && memory == DEVICE) {
		const struct placing *p = &a->placings[DEVICE], *shared = &a->placings[SHARED];

		/* Copy the outputs to their place in shared memory. */
		for (uint32_t i = 0; !status && i < p->call.n_outputs; i++)
			if (is_kept(&p->outputs[i]))
				status = kept_read(&t->memory.outputs[i], output_at(a, i),
				                   shared->outputs[i].location.length, reason);
	}
	if (t->fails) {
		if (!status)
			snprintf(reason->text, sizeof(reason->text), "by %s it succeeds, but must fail",
			         way_name_of(path, memory, name));
		return status;
	}
	if (status) {
		struct nnb_reason why = *reason;

		snprintf(reason->text, sizeof(reason->text), "%s: %.200s", nnb_status_name(status), why.text);
		return false;
	}
	for (uint32_t i = 0; i < m->n_outputs; i++)
		if (x->outputs[i] && !is_as_large(m, x, a, i, reason))
			return false;
	for (uint32_t i = 0; i < m->n_outputs; i++)
		if (x->outputs[i] && compare_output(m, i, output_at(a, i), x->outputs[i], x->output_bytes[i], reason))
			return false;
	return compare_ways(a, way_name_of(path, memory, name), reason);
}

/* A fenced execution requires that all dimensions of its outputs are known before (R5). */
static bool can_go(const struct nnb_model *m, unsigned path)
{
	for (uint32_t i = 0; path == BY_FENCED && i < m->n_outputs; i++)
		if (!known_bytes(m, i))
			return false;
	return true;
}

bool run_example(struct ways *ways, const struct target *t, const struct nnb_example *x, struct nnb_reason *reason)
{
	__attribute__((cleanup(arrangement_free))) struct arrangement a = { 0 };
	bool good = true;

	if (!arrange_shared(&a, model_of(t), x) || (ways->memories[DEVICE] && !arrange_in_device(&a, t))) {
		snprintf(reason->text, sizeof(reason->text), "no memory for inputs and outputs");
		return false;
	}
	if (ways->memories[DEVICE]) {
		const struct placing *p = &a.placings[DEVICE];

		for (uint32_t j = 0; j < p->call.n_inputs; j++) {
			ways->arguments += !p->inputs[j].no_value;
			ways->kept += is_kept(&p->inputs[j]);
		}
		for (uint32_t j = 0; j < p->call.n_outputs; j++)
			ways->kept += is_kept(&p->outputs[j]);
		ways->arguments += p->call.n_outputs;
	}
	for (unsigned i = 0; good && i < N_PATHS * N_MEMORIES; i++)
		if (ways->paths & 1u << i / N_MEMORIES && ways->memories[i % N_MEMORIES] &&
		    can_go(model_of(t), 1u << i / N_MEMORIES))
			good = run_way(t, 1u << i / N_MEMORIES, i % N_MEMORIES, x, &a, reason);
	return good;
}
