/*
 * driver_looks.c -- the xnnpack driver, which runs each operation three times: without a look function; with
 * one, and the bits of the output must be the same; and with one that ends the operation at the first look.
 *
 * Linked with the driver's own sources and --wrap=nnbx_step_run.
 */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base.h"
#include "kernels/look.h"
#include "model/cost.h"
#include "step.h"
#include "tiles.h"
#include "unit/looks.h"

enum nnb_status __real_nnbx_step_run(struct step *step, const struct site *site);
enum nnb_status __wrap_nnbx_step_run(struct step *step, const struct site *site);

NNB_PUBLIC struct looks nnb_looks;

static uint64_t last, longest, looks;

static bool goes_on(void *ends)
{
	uint64_t now = thread_cpu_ns();

	longest = now - last > longest ? now - last : longest;
	last = now;
	looks++;
	return !ends;
}

/* Run the step once, and measure its time. *whole: the step ended by itself. */
static enum nnb_status watched(struct step *step, const struct site *site, bool end, bool *whole)
{
	const struct nnb_look look = { goes_on, end ? &last : NULL };
	enum nnb_status status;

	longest = looks = 0;
	last = thread_cpu_ns();
	nnbx_work_begin(&look);
	status = __real_nnbx_step_run(step, site);
	*whole = nnbx_work_end();
	longest = thread_cpu_ns() - last > longest ? thread_cpu_ns() - last : longest;
	return status;
}

static uint64_t digest_of(const uint8_t *bytes, size_t n)
{
	uint64_t h = UINT64_C(0xcbf29ce484222325);

	for (size_t i = 0; i < n; i++)
		h = (h ^ bytes[i]) * UINT64_C(0x100000001b3);
	return h;
}

/* Whether the step leaves the output's rows alone behind those that it counted: they were zeroes. */
static bool counts_rows(const struct site *site)
{
	return site->op->type == NNB_BOX_WITH_NMS_LIMIT || site->op->type == NNB_GENERATE_PROPOSALS;
}

enum nnb_status __wrap_nnbx_step_run(struct step *step, const struct site *site)
{
	uint32_t type = site->graph->model->operands[site->op->outputs[0]].type;
	size_t bytes = shape_elements(out_shape(site, 0)) * nnb_type_info(type)->bytes;
	uint64_t began = thread_cpu_ns();
	enum nnb_status status;
	void *out;
	bool whole;

	nnbx_work_begin(NULL);
	status = __real_nnbx_step_run(step, site);
	nnb_looks.took_ns = thread_cpu_ns() - began;
	if (status)
		return status;
	out = malloc(bytes);
	memcpy(out, out_at(site, 0), bytes);
	nnb_looks.digest = digest_of(out, bytes);
	memset(out_at(site, 0), counts_rows(site) ? 0 : 0x55, bytes);
	status = watched(step, site, false, &whole);
	nnb_looks.looks = looks;
	nnb_looks.longest_ns = longest;
	nnb_looks.same = !status && whole && memcmp(out, out_at(site, 0), bytes) == 0;
	watched(step, site, true, &whole);
	nnb_looks.ended = !whole && looks == 1;
	nnb_looks.end_ns = longest;
	nnb_looks.cost_ns = nnb__operation_cost(site->graph, site->index, site->shapes);
	nnb_looks.xnnpack = step->xnn != NULL;
	nnb_looks.tiles_ours = nnbx_tiles_ours();
	free(out);
	return NNB_STATUS_NONE;
}
