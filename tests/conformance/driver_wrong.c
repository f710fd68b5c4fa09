/*
 * driver_wrong.c -- the xnnpack driver with one defect, which $NNB_WRONG names and nnburst-conformance
 * --validate must find. It is linked with the driver's own sources.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "nnb/driver.h"

extern const struct nnb_driver nnb_driver_xnnpack;

NNB_PUBLIC extern struct nnb_driver nnb_driver_wrong;
struct nnb_driver nnb_driver_wrong;

static void sleep_ms(long ms)
{
	nanosleep(&(struct timespec){ .tv_nsec = ms * 1000000 }, NULL);
}

/* The driver reports that it supports nothing, and prepares the model all the same. */
static enum nnb_status supports_nothing(void *device, const struct nnb_graph *graph, bool *ret)
{
	(void)device;
	memset(ret, 0, graph->model->n_operations * sizeof(*ret));
	return NNB_STATUS_NONE;
}

/* The driver reports that it supports everything, and then refuses to prepare. */
static enum nnb_status supports_all(void *device, const struct nnb_graph *graph, bool *ret)
{
	(void)device;
	memset(ret, 1, graph->model->n_operations * sizeof(*ret));
	return NNB_STATUS_NONE;
}

static enum nnb_status prepares_nothing(void *device, const struct nnb_graph *graph, const struct nnb_prepare *how,
                                        void **ret, struct nnb_reason *reason)
{
	if (graph->model->operations[0].type == NNB_MUL)
		return NNB_STATUS_GENERAL_FAILURE;
	return nnb_driver_xnnpack.prepare(device, graph, how, ret, reason);
}

/* The preparation takes long and never checks its deadline. */
static enum nnb_status prepares_long(void *device, const struct nnb_graph *graph, const struct nnb_prepare *how,
                                     void **ret, struct nnb_reason *reason)
{
	if (graph->model->n_operations == 16)
		sleep_ms(200);
	return nnb_driver_xnnpack.prepare(device, graph, how, ret, reason);
}

/*
 * The first operation of an execution takes long, and never asks whether to go on. A trial run, whose inputs are
 * zeroes, is fast: otherwise the service would know that no execution can meet the deadlines of the check, and refuse
 * all of them.
 */
static bool is_trial;

static enum nnb_status begins_run(void *prepared, const struct nnb_run *run, void **ret)
{
	static const float zeroes[4];

	is_trial = !memcmp(run->inputs[0], zeroes, sizeof(zeroes));
	return nnb_driver_xnnpack.run_begin(prepared, run, ret);
}

static enum nnb_status runs_long(void *run, uint32_t op)
{
	(void)run;
	if (!op && !is_trial)
		sleep_ms(300);
	return NNB_STATUS_NONE;
}

static enum nnb_status computes_nothing(void *run, uint32_t op)
{
	(void)run;
	(void)op;
	return NNB_STATUS_NONE;
}

/* The last element is not written. */
static void writes_short(void *buffer, const void *from, uint64_t bytes)
{
	memcpy(buffer, from, bytes - 4);
}

/* A buffer that is rarely used is one element short. */
static bool is_short;

static int makes_rare_ones_short(void *device, const struct nnb_driver_buffer *what, void **ret)
{
	is_short = what->roles[0].frequency < 0.5F;
	return nnb_driver_xnnpack.buffer_new(device, what, ret);
}

static void writes_rare_ones_short(void *buffer, const void *from, uint64_t bytes)
{
	memcpy(buffer, from, is_short ? bytes - 4 : bytes);
}

/* A model of low priority computes nothing. */
static bool is_low;

static enum nnb_status prepares_by_priority(void *device, const struct nnb_graph *graph, const struct nnb_prepare *how,
                                            void **ret, struct nnb_reason *reason)
{
	is_low |= how->priority == NNB_PRIORITY_LOW;
	return nnb_driver_xnnpack.prepare(device, graph, how, ret, reason);
}

static enum nnb_status computes_by_priority(void *run, uint32_t op)
{
	return is_low ? NNB_STATUS_NONE : nnb_driver_xnnpack.run_op(run, op);
}

/* A device that was used by a fast model is never used again. */
static bool is_worn;

static void wears_out(void *device, bool on)
{
	(void)device;
	is_worn |= !on;
}

static enum nnb_status computes_unless_worn(void *run, uint32_t op)
{
	return is_worn ? NNB_STATUS_GENERAL_FAILURE : nnb_driver_xnnpack.run_op(run, op);
}

/* The end of one burst is the end of all contexts. */
static unsigned contexts, bursts;

static int context_new(void *prepared, void **ret)
{
	bursts++;
	contexts++;
	*ret = prepared;
	return 0;
}

static void contexts_free(void *burst)
{
	(void)burst;
	bursts--;
	contexts = 0;
}

static enum nnb_status computes_with_contexts(void *run, uint32_t op)
{
	return bursts && !contexts ? NNB_STATUS_GENERAL_FAILURE : nnb_driver_xnnpack.run_op(run, op);
}

static const struct wrong {
	const char *name;
	struct nnb_driver driver; /* the callbacks that differ from xnnpack's */
} wrongs[] = {
	{ "supports-nothing", { .supported = supports_nothing } },
	{ "supports-all", { .supported = supports_all, .prepare = prepares_nothing } },
	{ "prepares-long", { .prepare = prepares_long } },
	{ "runs-long", { .run_begin = begins_run, .run_op = runs_long } },
	{ "computes-nothing", { .run_op = computes_nothing } },
	{ "writes-short", { .buffer_write = writes_short } },
	{ "rare-is-short", { .buffer_new = makes_rare_ones_short, .buffer_write = writes_rare_ones_short } },
	{ "low-is-nothing", { .prepare = prepares_by_priority, .run_op = computes_by_priority } },
	{ "wears-out", { .performance = wears_out, .run_op = computes_unless_worn } },
	{ "one-context", { .burst_new = context_new, .burst_free = contexts_free, .run_op = computes_with_contexts } },
};

static void buffer_read(const void *buffer, void *to, uint64_t bytes)
{
	memcpy(to, buffer, bytes);
}

static void become(const struct nnb_driver *d)
{
	if (d->supported)
		nnb_driver_wrong.supported = d->supported;
	if (d->prepare)
		nnb_driver_wrong.prepare = d->prepare;
	if (d->run_begin)
		nnb_driver_wrong.run_begin = d->run_begin;
	if (d->run_op)
		nnb_driver_wrong.run_op = d->run_op;
	if (d->buffer_new)
		nnb_driver_wrong.buffer_new = d->buffer_new;
	if (d->performance)
		nnb_driver_wrong.performance = d->performance;
	if (d->burst_new) {
		nnb_driver_wrong.burst_new = d->burst_new;
		nnb_driver_wrong.burst_free = d->burst_free;
	}
	if (d->buffer_write) {
		nnb_driver_wrong.buffer_write = d->buffer_write;
		nnb_driver_wrong.buffer_read = buffer_read;
	}
}

static __attribute__((constructor)) void become_a_driver(void)
{
	const char *name = getenv("NNB_WRONG");

	nnb_driver_wrong = nnb_driver_xnnpack;
	nnb_driver_wrong.name = "wrong";
	for (size_t i = 0; name && i < sizeof(wrongs) / sizeof(wrongs[0]); i++)
		if (!strcmp(name, wrongs[i].name)) {
			become(&wrongs[i].driver);
			return;
		}
	if (name && *name)
		abort(); /* no such defect: the test would find nothing */
}
