/*
 * times.c -- how long executions of a model take.
 *
 * CONCURRENCY  Any thread may learn and ask; all accesses are relaxed, because a lost or late sample does no harm.
 *           The fields from `fixed` on are constant once the model has been prepared.
 */
#include "sched/times.h"

#include <assert.h>
#include <stdlib.h>

static struct nnb__estimate times_estimate(const struct nnb__times *t)
{
	return (struct nnb__estimate){ .floor_ns = atomic_load_explicit(&t->floor_ns, memory_order_relaxed),
		                       .lately_ns = atomic_load_explicit(&t->estimate_ns, memory_order_relaxed),
		                       .confirmed = atomic_load_explicit(&t->confirmed, memory_order_relaxed),
		                       .fixed = t->fixed };
}

void nnb__times_init(struct nnb__times *t, uint32_t n, bool fixed, const uint64_t *op_ns, uint64_t floor_ns,
                     uint64_t look_ns)
{
	uint64_t all = 0, left;

	*t = (struct nnb__times){ .n_operations = n, .fixed = fixed, .look_ns = look_ns };
	atomic_init(&t->floor_ns, floor_ns);
	if (!op_ns)
		return;
	for (uint32_t i = 0; i < n; i++) {
		all += op_ns[i];
		t->step_ns = op_ns[i] > t->step_ns ? op_ns[i] : t->step_ns;
	}
	left = all;
	atomic_init(&t->floor_ns, all < floor_ns ? all : floor_ns);
	atomic_init(&t->estimate_ns, all);
	t->left = calloc(n + (size_t)1,
	                 sizeof(*t->left)); /* NULL (no memory): a run that has begun is expected to end soon */
	for (uint32_t i = 0; t->left && all && i < n; i++) {
		t->left[i] = (float)((double)left / (double)all);
		assert(left >= op_ns[i]);
		left -= op_ns[i];
	}
}

void nnb__times_fini(struct nnb__times *t)
{
	free(t->left);
	t->left = NULL;
}

bool nnb__times_is_long(const struct nnb__times *t)
{
	struct nnb__estimate e = times_estimate(t);

	return nnb__estimate_is_long(&e);
}

struct nnb__times_now nnb__times_now(const struct nnb__times *t)
{
	struct nnb__estimate e = times_estimate(t);

	return (struct nnb__times_now){ .estimate_ns = e.lately_ns,
		                        .least_ns = nnb__estimate_least(&e),
		                        .is_long = nnb__estimate_is_long(&e) };
}

bool nnb__times_due(struct nnb__times *t)
{
	unsigned n = atomic_load_explicit(&t->runs, memory_order_relaxed);
	struct nnb__estimate e = times_estimate(t);

	atomic_store_explicit(&t->runs, n + 1, memory_order_relaxed);
	return nnb__estimate_due(&e, n);
}

bool nnb__times_pass(struct nnb__times *t)
{
	unsigned n = atomic_load_explicit(&t->runs, memory_order_relaxed);
	struct nnb__estimate e = times_estimate(t);

	if (nnb__estimate_due(&e, n))
		return false;
	atomic_store_explicit(&t->runs, n + 1, memory_order_relaxed);
	return true;
}

void nnb__times_learn(struct nnb__times *t, uint64_t ns)
{
	struct nnb__estimate e = times_estimate(t);
	uint64_t floor = e.floor_ns;

	nnb__estimate_learn(&e, ns);
	if (e.floor_ns != floor)
		atomic_store_explicit(&t->floor_ns, e.floor_ns, memory_order_relaxed);
	atomic_store_explicit(&t->estimate_ns, e.lately_ns, memory_order_relaxed);
	atomic_store_explicit(&t->confirmed, e.confirmed, memory_order_relaxed);
}

void nnb__times_stretch(struct nnb__times *t, uint64_t ns)
{
	if (ns > atomic_load_explicit(&t->longest_ns, memory_order_relaxed))
		atomic_store_explicit(&t->longest_ns, ns, memory_order_relaxed);
}

uint64_t nnb__times_least(const struct nnb__times *t, uint32_t op)
{
	struct nnb__estimate e = times_estimate(t);
	uint64_t least = nnb__estimate_least(&e);

	if (!op)
		return least;
	return t->left ? nnb__estimate_rest(least, t->left[op]) : 0;
}

void nnb__times_get(const struct nnb__times *t, struct nnb_times *ret)
{
	ret->floor_ns = atomic_load_explicit(&t->floor_ns, memory_order_relaxed);
	ret->estimate_ns = atomic_load_explicit(&t->estimate_ns, memory_order_relaxed);
	ret->step_ns = t->step_ns;
	ret->longest_ns = atomic_load_explicit(&t->longest_ns, memory_order_relaxed);
}
