/*
 * driver_both.c -- the xnnpack driver, which runs each operation twice: by XNNPACK, where it would use XNNPACK,
 * and by the plain kernel.
 *
 * Linked with the driver's own sources and --wrap=nnbx_step_run. Where the two results differ by more than the
 * operation's tolerance, the operation fails.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "step.h"

enum nnb_status __real_nnbx_step_run(struct step *step, const struct site *site);
enum nnb_status __wrap_nnbx_step_run(struct step *step, const struct site *site);

/* By operation: how often both kernels ran. The test reads it. */
NNB_PUBLIC unsigned nnb_both_ways[128];
/* How many of these used an XNNPACK operator of signed bytes. */
NNB_PUBLIC unsigned nnb_both_signed[128];

/* The tolerance is twice that of D-10, because each result may be off. Sums of many products may be off by more. */
static bool near(double a, double b, double off)
{
	return a == b || fabs(a - b) <= off + off * fabs(b) || (isnan(a) && isnan(b));
}

/* Element @i, and its tolerance. */
static double element(uint32_t type, const void *data, size_t i, double *off)
{
	*off = type == NNB_TENSOR_FLOAT16 ? 2 * 0x1p-10 : 2e-5;
	if (type == NNB_TENSOR_FLOAT32)
		return (double)((const float *)data)[i];
	if (type == NNB_TENSOR_FLOAT16)
		return (double)nnb_half_to_float(((const uint16_t *)data)[i]);
	*off = 1;
	if (type == NNB_TENSOR_QUANT8_ASYMM)
		return ((const uint8_t *)data)[i];
	return type == NNB_TENSOR_INT32 ? ((const int32_t *)data)[i] : ((const int8_t *)data)[i];
}

static bool same(const struct site *s, uint32_t type, const void *xnn, const void *plain, size_t n)
{
	double off, a, b;

	for (size_t i = 0; i < n; i++) {
		a = element(type, xnn, i, &off);
		b = element(type, plain, i, &off);
		if (off == 1 ? fabs(a - b) <= 1 : near(a, b, off))
			continue;
		fprintf(stderr, "%s: element %zu of %zu: XNNPACK %g, kernel %g\n", nnb_op_name(s->op->type), i, n, a,
		        b);
		return false;
	}
	return true;
}

enum nnb_status __wrap_nnbx_step_run(struct step *step, const struct site *site)
{
	enum nnb_status status = __real_nnbx_step_run(step, site);
	uint32_t n = site->graph->model->n_operands, type = site->graph->model->operands[site->op->outputs[0]].type;
	size_t elements = shape_elements(out_shape(site, 0));
	struct site plain = *site;
	void **at;

	if (status || !step->xnn || step->nothing)
		return status;
	at = malloc(n * sizeof(*at));
	memcpy(at, site->at, n * sizeof(*at));
	at[site->op->outputs[0]] = calloc(elements + 16, 4);
	plain.at = at;
	status = nnbx_step_run_kernel(step, &plain);
	if (!status && !same(site, type, out_at(site, 0), out_at(&plain, 0), elements))
		status = NNB_STATUS_GENERAL_FAILURE;
	nnb_both_ways[site->op->type]++;
	nnb_both_signed[site->op->type] += step->is_signed;
	free(at[site->op->outputs[0]]);
	free(at);
	return status;
}
