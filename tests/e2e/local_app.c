/*
 * local_app.c DRIVER REFUSED STOPPED LATE CALLED -- an app without a service that misses deadlines by local
 * bursts: REFUSED executions whose deadline has passed, STOPPED ones that are given up between two
 * operations, LATE ones that are late at their end, and CALLED ones that are late and went without the
 * queues, which are too small. It prints a line for each late one: its number in traces, and its status.
 *
 * An operation of the model takes longer than the budget, so each misses its deadline; on a busy machine
 * perhaps earlier than meant.
 */
#include <inttypes.h>
#include <stdio.h>
#include <time.h>

#include "base.h"
#include "nnb/burst.h"
#include "unit/abort_unless.h"
#include "unit/device_helpers.h"

enum { N = 1 << 23, MARGIN_NS = 400000 }; /* an operation on N numbers takes longer than the margin */

static struct nnb_pool *in, *out;

/* One operation, so that there is no checkpoint. */
static struct nnb_model *one_operation(void)
{
	struct nnb_model *m;
	uint32_t x, act, y;

	abort_unless(!nnb_model_new(&m, "doubles", NNB_HAL_1_0));
	x = float_tensor(m, N);
	act = int_scalar(m, NNB_FUSED_NONE);
	y = float_tensor(m, N);
	abort_unless(nnb_model_operation(m, NNB_ADD, (uint32_t[]){ x, x, act }, 3, &y, 1) >= 0);
	abort_unless(!nnb_model_finish(m, &x, 1, &y, 1));
	return m;
}

/* @n executions with @budget ns each, after one with enough time. */
static void miss(struct nnb_device *d, struct nnb_model *m, unsigned n, int64_t budget,
                 const struct nnb_burst_config *config)
{
	struct nnb_argument x = { .location = { 0, 0, N * 4 } }, y = { .location = { 1, 0, N * 4 } };
	struct nnb_pool *pools[] = { in, out };
	struct nnb_call call = {
		.inputs = &x, .outputs = &y, .pools = pools, .n_inputs = 1, .n_outputs = 1, .n_pools = 2
	};
	struct nnb_prepared *p = prepared(d, m);
	struct nnb_answer answer = { 0 };
	struct nnb_burst *b;

	abort_unless(!nnb_burst_local(&b, p, true, config, NULL));
	abort_unless(!nnb_burst_execute(b, &call, &answer, NULL));
	for (unsigned i = 0; i < n; i++) {
		enum nnb_status status;

		call.terms.deadline_ns = now_ns() + (uint64_t)budget;
		status = nnb_burst_execute(b, &call, &answer, NULL);
		abort_unless(status || now_ns() > call.terms.deadline_ns);
		abort_unless(answer.fallback == !!config);
		printf("%" PRId64 " %s\n", (int64_t)answer.exec,
		       nnb_status_name(status)); /* signed, as in a database */
	}
	nnb_burst_free(b);
	nnb_prepared_unref(p);
	nnb_model_free(m);
}

int main(int argc, char **argv)
{
	static const struct nnb_burst_config too_small = { .request_capacity = 2 };
	struct nnb_device *d;

	abort_unless(argc == 6);
	d = open_device(argv[1]);
	abort_unless(!nnb_pool_new(&in, N * 4) && !nnb_pool_new(&out, N * 4));
	miss(d, vector_model(NNB_ADD, N, 3), (unsigned)atoi(argv[2]), -MARGIN_NS, NULL);
	miss(d, vector_model(NNB_ADD, N, 3), (unsigned)atoi(argv[3]), MARGIN_NS, NULL);
	miss(d, one_operation(), (unsigned)atoi(argv[4]), MARGIN_NS, NULL);
	miss(d, one_operation(), (unsigned)atoi(argv[5]), MARGIN_NS, &too_small);
	nnb_pool_free(in);
	nnb_pool_free(out);
	nnb_device_unref(d);
	return 0;
}
