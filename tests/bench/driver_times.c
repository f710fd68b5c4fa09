/*
 * driver_times.c -- the xnnpack driver, which is asked to run its XNNPACK operators once more: in a bare loop, all of
 * a run, or each by itself against the plain kernel.
 *
 * Linked with the driver's own sources and --wrap=nnbx_step_run. For one thread. What is replayed is replayed within
 * the run, behind its last operation, while all its memory is there.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base.h"
#include "bench/driver_times.h"
#include "kernels/look.h"
#include "step.h"

enum { STEPS_MAX = 1024, BEST_OF = 5 };

enum nnb_status __real_nnbx_step_run(struct step *step, const struct site *site);
enum nnb_status __wrap_nnbx_step_run(struct step *step, const struct site *site);

NNB_PUBLIC struct times nnb_times;

static struct recorded {
	struct step *step;
	struct site site;
} recorded[STEPS_MAX];
static uint32_t n_recorded;

/* Is its XNNPACK operator all there is to the step? */
static bool is_operator(const struct step *step)
{
	return step->xnn && !step->seen && !step->run_in_parts && !step->nothing;
}

/* Operators as a program made for this network would run them; what XNNPACK has not, as the driver does. */
static void replay(void)
{
	uint64_t began = now_ns();

	for (uint32_t i = 0; i < n_recorded; i++) {
		struct step *step = recorded[i].step;

		if (is_operator(step))
			xnn_run_operator(step->xnn, NULL);
		else
			__real_nnbx_step_run(step, &recorded[i].site);
	}
	nnb_times.bare_ns = now_ns() - began;
}

static uint64_t ns_of(enum nnb_status (*way)(struct step *, const struct site *), struct step *step,
                      const struct site *site)
{
	uint64_t began = now_ns();

	way(step, site);
	return now_ns() - began;
}

static uint64_t lesser(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/*
 * The fastest of some runs by each, in turn: others on the machine only add to a time. The first runs are not
 * counted: code and weights of both are in the caches then.
 */
static void time_both(struct step *step, const struct site *site)
{
	uint64_t xnnpack = UINT64_MAX, kernel = UINT64_MAX;
	uint32_t op = site->op->type;

	for (int i = 0; i < 1 + BEST_OF; i++) {
		uint64_t x = ns_of(__real_nnbx_step_run, step, site), k = ns_of(nnbx_step_run_kernel, step, site);

		xnnpack = i ? lesser(xnnpack, x) : UINT64_MAX;
		kernel = i ? lesser(kernel, k) : UINT64_MAX;
	}
	nnb_times.xnnpack_ns[op] += xnnpack;
	nnb_times.kernel_ns[op] += kernel;
	nnb_times.runs[op]++;
}

static void begin_record(void)
{
	n_recorded = 0;
	nnb_times.operations = 0;
	memset(nnb_times.by_kernel, 0, sizeof(nnb_times.by_kernel));
}

enum nnb_status __wrap_nnbx_step_run(struct step *step, const struct site *site)
{
	enum nnb_status status = __real_nnbx_step_run(step, site);
	bool last = site->index + 1 == site->graph->model->n_operations;

	if (nnb_times.mode == TIMES_OFF || status)
		return status;
	if (!site->index)
		begin_record();
	nnb_times.operations++;
	if (!step->xnn && site->op->type < TIMES_OPS)
		nnb_times.by_kernel[site->op->type]++;
	if (nnb_times.mode == TIMES_EACH && step->xnn && site->op->type < TIMES_OPS)
		time_both(step, site);
	if (n_recorded < STEPS_MAX)
		recorded[n_recorded++] = (struct recorded){ step, *site };
	if (nnb_times.mode == TIMES_BARE && last)
		replay();
	return status;
}
