/*
 * driver_slower.c -- the xnnpack driver with slower operations of some models: the change that `burstscope
 * diff` must find.
 *
 * NNB_SLOWER="OPERATIONS PERCENT": each operation of a model with OPERATIONS operations burns PERCENT of its
 * own cpu time in addition. The driver times every operation of every model, also with 0 percent, so that
 * services with another PERCENT differ in nothing else.
 * While it burns time, it looks whether it must end or make room, as often as the operation did: a slower
 * model would otherwise make room later, too.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base.h"
#include "nnb/driver.h"

extern const struct nnb_driver nnb_driver_xnnpack;

struct model {
	void *inner;
	unsigned percent; /* percent of an operation's time, in addition */
};

struct run {
	const struct model *model;
	const struct nnb_look *look;
	void *inner;
};

static unsigned percent_of(uint32_t operations)
{
	const char *how = getenv("NNB_SLOWER");
	unsigned wanted, percent;

	return how && sscanf(how, "%u %u", &wanted, &percent) == 2 && wanted == operations ? percent : 0;
}

static enum nnb_status prepare(void *device, const struct nnb_graph *graph, const struct nnb_prepare *how, void **ret,
                               struct nnb_reason *reason)
{
	struct model *m = calloc(1, sizeof(*m));
	enum nnb_status status;

	if (!m)
		return NNB_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
	m->percent = percent_of(graph->model->n_operations);
	status = nnb_driver_xnnpack.prepare(device, graph, how, &m->inner, reason);
	if (status)
		free(m);
	else
		*ret = m;
	return status;
}

static void release(void *prepared)
{
	struct model *m = prepared;

	nnb_driver_xnnpack.release(m->inner);
	free(m);
}

static enum nnb_status run_begin(void *prepared, const struct nnb_run *run, void **ret)
{
	const struct model *m = prepared;
	struct run *r = calloc(1, sizeof(*r));
	enum nnb_status status;

	if (!r)
		return NNB_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
	r->model = m;
	r->look = run->look;
	status = nnb_driver_xnnpack.run_begin(m->inner, run, &r->inner);
	if (status)
		free(r);
	else
		*ret = r;
	return status;
}

static enum nnb_status run_op(void *run, uint32_t op)
{
	struct run *r = run;
	uint64_t began = thread_cpu_ns(), ended;
	enum nnb_status status = nnb_driver_xnnpack.run_op(r->inner, op);

	ended = thread_cpu_ns();
	ended += (ended - began) * r->model->percent / 100;
	while (thread_cpu_ns() < ended)
		if (r->look && r->look->goes_on && !r->look->goes_on(r->look->arg))
			return NNB_STATUS_GENERAL_FAILURE;
	return status;
}

static void run_park(void *run)
{
	struct run *r = run;

	if (nnb_driver_xnnpack.run_park)
		nnb_driver_xnnpack.run_park(r->inner);
}

static void run_end(void *run)
{
	struct run *r = run;

	nnb_driver_xnnpack.run_end(r->inner);
	free(r);
}

NNB_PUBLIC extern struct nnb_driver nnb_driver_slower;
struct nnb_driver nnb_driver_slower;

static __attribute__((constructor)) void become_a_driver(void)
{
	nnb_driver_slower = nnb_driver_xnnpack;
	nnb_driver_slower.name = "slower";
	nnb_driver_slower.prepare = prepare;
	nnb_driver_slower.release = release;
	nnb_driver_slower.run_begin = run_begin;
	nnb_driver_slower.run_op = run_op;
	nnb_driver_slower.run_park = run_park;
	nnb_driver_slower.run_end = run_end;
}
