/*
 * driver_loops.c -- the xnnpack driver, whose runs report iterations and memory to the test instead of the
 * library, and ask the test.
 */
#include "unit/loops.h"

#include <stdlib.h>

extern const struct nnb_driver nnb_driver_xnnpack;

NNB_PUBLIC extern struct loops nnb_loops;
struct loops nnb_loops;

struct model {
	struct nnb_graph graph; /* the library's graph with another account */
	void *inner;
};

static enum nnb_status charge(void *arg, uint64_t bytes)
{
	(void)arg;
	if (nnb_loops.limit && nnb_loops.charged + bytes > nnb_loops.limit)
		return NNB_STATUS_RESOURCE_EXHAUSTED_PERSISTENT;
	nnb_loops.charged += bytes;
	if (nnb_loops.charged > nnb_loops.most)
		nnb_loops.most = nnb_loops.charged;
	return NNB_STATUS_NONE;
}

static void give_back(void *arg, uint64_t bytes)
{
	(void)arg;
	nnb_loops.charged -= bytes;
}

static enum nnb_status prepare(void *device, const struct nnb_graph *graph, const struct nnb_prepare *how, void **ret,
                               struct nnb_reason *reason)
{
	struct model *m = calloc(1, sizeof(*m));
	enum nnb_status status;

	if (!m)
		return NNB_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
	m->graph = *graph;
	m->graph.account = (struct nnb_account){ charge, give_back, NULL };
	status = nnb_driver_xnnpack.prepare(device, &m->graph, how, &m->inner, reason);
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
	struct nnb_run ours = *run;

	nnb_loops.librarys = run->loops;
	if (nnb_loops.look.goes_on)
		ours.look = &nnb_loops.look;
	if (nnb_loops.loops.timeout_ns)
		ours.loops = &nnb_loops.loops;
	return nnb_driver_xnnpack.run_begin(m->inner, &ours, ret);
}

NNB_PUBLIC extern struct nnb_driver nnb_driver_loops;
struct nnb_driver nnb_driver_loops;

static __attribute__((constructor)) void become_a_driver(void)
{
	nnb_driver_loops = nnb_driver_xnnpack;
	nnb_driver_loops.name = "loops";
	nnb_driver_loops.prepare = prepare;
	nnb_driver_loops.release = release;
	nnb_driver_loops.run_begin = run_begin;
}
