/*
 * driver_both.c -- the xnnpack driver, with every operation run twice: as it is, and by the plain kernel.
 *
 * Linked with the driver's own sources and --wrap=nnbx_step_run. Where the two differ by more than an operation may
 * be off, that operation fails.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "step.h"

enum nnb_status __real_nnbx_step_run(struct step *step, const struct site *site);
enum nnb_status __wrap_nnbx_step_run(struct step *step, const struct site *site);

/* By operation: how often both ways were gone. The test looks at it. */
NNB_PUBLIC unsigned nnb_both_ways[29];

/* Twice D-10's, since each of the two may be off; sums of many products may be off by more than that. */
static bool near(float a, float b)
{
	return a == b || fabsf(a - b) <= 2e-5f + 2e-5f * fabsf(b) || (isnan(a) && isnan(b));
}

static bool same(const struct site *s, uint32_t type, const void *xnn, const void *plain, size_t n)
{
	const float *f = xnn, *g = plain;
	const uint8_t *q = xnn, *r = plain;

	for (size_t i = 0; i < n; i++) {
		bool is_near = type == NNB_TENSOR_FLOAT32 ? near(f[i], g[i]) : abs(q[i] - r[i]) <= 1;

		if (is_near)
			continue;
		fprintf(stderr, "%s: element %zu of %zu: XNNPACK %g, kernel %g\n", nnb_op_name(s->op->type), i, n,
		        type == NNB_TENSOR_FLOAT32 ? f[i] : q[i], type == NNB_TENSOR_FLOAT32 ? g[i] : r[i]);
		return false;
	}
	return true;
}

enum nnb_status __wrap_nnbx_step_run(struct step *step, const struct site *site)
{
	enum nnb_status status = __real_nnbx_step_run(step, site);
	uint32_t n = site->graph->model->n_operands, type = out_operand(site, 0)->type;
	size_t elements = shape_elements(out_shape(site, 0));
	struct site plain = *site;
	void **at;

	if (status || !step->xnn)
		return status;
	at = malloc(n * sizeof(*at));
	memcpy(at, site->at, n * sizeof(*at));
	at[site->op->outputs[0]] = calloc(elements + 16, 4);
	plain.at = at;
	status = nnbx_step_run_kernel(step, &plain);
	if (!status && !same(site, type, out_at(site, 0), out_at(&plain, 0), elements))
		status = NNB_STATUS_GENERAL_FAILURE;
	nnb_both_ways[site->op->type]++;
	free(at[site->op->outputs[0]]);
	free(at);
	return status;
}
