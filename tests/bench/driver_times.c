/*
 * driver_times.c -- the xnnpack driver, which is told to run its XNNPACK operators once more: in a bare loop, all of a run, or
 * each by itself against the plain kernel.
 *
 * Linked with the driver's own sources and --wrap=nnbx_step_run. For one thread. What is replayed is replayed within the run,
 * behind its last operation, while all its memory is there.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench/driver_times.h"
#include "kernels/look.h"
#include "step.h"

enum { STEPS_MAX = 1024 };

enum nnb_status __real_nnbx_step_run(struct step *step, const struct site *site);
enum nnb_status __wrap_nnbx_step_run(struct step *step, const struct site *site);

NNB_PUBLIC struct times nnb_times;

static struct recorded {
	struct step *step;
	struct site site;
} recorded[STEPS_MAX];
static uint32_t n_recorded;

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* Is its XNNPACK operator all there is to the step? */
static bool is_operator(const struct step *step)
{
	return step->xnn && !step->seen && !step->run_in_parts && !step->nothing;
}

/* Operators as somebody would run them who knows this network; what XNNPACK has not, as the driver does. */
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

static void time_both(struct step *step, const struct site *site)
{
	uint32_t op = site->op->type;
	uint64_t t0 = now_ns(), t1;

	__real_nnbx_step_run(step, site);
	t1 = now_ns();
	nnbx_step_run_kernel(step, site);
	nnb_times.kernel_ns[op] += now_ns() - t1;
	nnb_times.xnnpack_ns[op] += t1 - t0;
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
