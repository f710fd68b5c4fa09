/*
 * local.c -- a burst whose service is a thread of this process.
 *
 * CONCURRENCY  configure, close, execute and release: the burst's owner, one at a time. The callbacks of the server
 *              run on the server's thread (server.c).
 */
#include <stdlib.h>
#include <unistd.h>

#include "burst/result.h"
#include "nnb/burst.h"
#include "sched/run.h"
#include "trace/own.h"
#include "trace/trace.h"

struct local {
	struct nnb_prepared *prepared;
	bool cached;
	uint64_t window_ns;
	struct nnb__own calls; /* calls on the ordinary path; stream 0 before the first one */
	uint32_t n_calls;
};

static enum nnb_status local_configure(void *arg, const struct nnb_burst_callback *callback,
                                       const struct nnb_fmq_desc *request, const struct nnb_fmq_desc *result,
                                       void **context, struct nnb_reason *reason)
{
	struct local *l = arg;
	struct nnb_burst_server_config c = { .request = request,
		                             .result = result,
		                             .callback = *callback,
		                             .n_outputs_max = nnb_prepared_model(l->prepared)->n_outputs,
		                             .extended = true,
		                             .window_ns = l->window_ns,
		                             .priority = nnb_prepared_how(l->prepared)->priority,
		                             .plain = !l->cached };
	struct nnb_burst_server *server;
	enum nnb_status status;

	if (l->cached ? nnb_burst_executor_cached(&c.executor, l->prepared)
	              : nnb_burst_executor_plain(&c.executor, l->prepared)) {
		nnb_because(reason, "no memory for a burst");
		return NNB_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
	}
	status = nnb_burst_server_new(&server, &c, reason);
	if (!status)
		*context = server;
	return status;
}

static enum nnb_status free_memory(void *context, int32_t slot)
{
	nnb_burst_server_free_memory(context, slot);
	return NNB_STATUS_NONE;
}

static void close_server(void *context)
{
	nnb_burst_server_free(context);
}

/*
 * ---- what the queues cannot carry: a call on the caller's thread. Such a call has no messages: traces show 0 items
 * in their place ----
 */

static enum nnb_status execution_run(struct nnb_prepared *p, const struct nnb_request *request,
                                     const struct nnb_terms *terms, struct nnb__trace *t,
                                     struct nnb_output_shape *shapes, struct nnb_reason *reason)
{
	struct nnb__runner runner;
	struct nnb_execution *e;
	enum nnb_status status = nnb_execution_begin(p, request, NULL, false, shapes, &e, reason);

	if (status)
		return status;
	nnb__runner_init(&runner, NULL, NULL, NULL, nnb_prepared_how(p)->priority, NULL);
	runner.seat.trace = t;
	status = nnb__admit(&runner, terms, reason);
	if (!status)
		status = nnb__run(&runner, e, terms, NULL, reason);
	nnb_execution_end(e);
	return status;
}

/* @pools: room for as many as the call has. */
static enum nnb_status run_call(struct local *l, const struct nnb_call *call, struct nnb_memory *pools,
                                struct nnb__trace *t, struct nnb_answer *answer, struct nnb_reason *reason)
{
	struct nnb_request request = nnb__call_request(call);
	struct nnb_result result = { .timing = NNB_NO_TIMING, .shapes = answer ? answer->shapes : NULL };

	for (uint32_t i = 0; i < call->n_pools; i++)
		pools[i] = *nnb_pool_memory(call->pools[i]);
	request.pools = pools;
	result.status = execution_run(l->prepared, &request, &call->terms, t, result.shapes, reason);
	result.n_shapes = call->n_outputs;
	nnb__trace_refused(t, result.status);
	nnb__trace_answers(t, NBT_queue_call_result, 0, 0, 0);
	nnb__trace_end(t);
	return nnb__answer_from_result(nnb_prepared_model(l->prepared), call, &result, answer, reason);
}

static enum nnb_status local_execute(void *arg, const struct nnb_call *call, struct nnb_answer *answer,
                                     struct nnb_reason *reason)
{
	static const struct nnb_fmq_waited nothing;
	struct local *l = arg;
	struct nnb_memory *pools = calloc((size_t)call->n_pools + 1, sizeof(*pools));
	struct nnb__call_trace asked;
	struct nnb__trace t;
	enum nnb_status status;

	if (!pools) {
		nnb_because(reason, "no memory for the request");
		return NNB_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
	}
	/* the calls' stream begins with the first call */
	if (!l->calls.stream) {
		l->calls = (struct nnb__own){ .stream = nnb__own_number(), .path = NBT_path_sync };
		nnb__own_begin(&l->calls);
	}
	nnb__own_news(&l->calls);
	NNB__CALL_BEGIN(&asked, nnb__exec_of(l->calls.stream, ++l->n_calls), .path = NBT_path_sync,
	                .deadline_ns = call->terms.deadline_ns, .pools = call->n_pools, .measure = call->measure,
	                .fallback = true);
	nnb__call_asks(&asked, NBT_queue_call_request, 0, 0, 0);

	t = (struct nnb__trace){ .who = { .stream = l->calls.stream,
		                          .app = (uint32_t)getpid(),
		                          .priority = (uint8_t)nnb_prepared_how(l->prepared)->priority,
		                          .path = NBT_path_sync } };
	nnb__trace_begin(&t, asked.exec);
	if (nnb__trace_asks(&t))
		nnb__trace_taken(&t, NBT_queue_call_request, 0, 0, &nothing);
	nnb__trace_decoded(&t, call->n_inputs + call->n_outputs, call->n_pools, call->terms.deadline_ns,
	                   NNB_STATUS_NONE);

	status = run_call(l, call, pools, &t, answer, reason);
	nnb__call_hears(&asked, NBT_queue_call_result, 0, 0, NULL);
	if (answer)
		answer->exec = asked.exec;
	nnb__call_end(&asked, status);
	free(pools);
	return status;
}

static void local_release(void *arg)
{
	struct local *l = arg;

	nnb__own_end(&l->calls);
	nnb_prepared_unref(l->prepared);
	free(l);
}

enum nnb_status nnb_burst_local(struct nnb_burst **ret, struct nnb_prepared *prepared, bool cached,
                                const struct nnb_burst_config *config, struct nnb_reason *reason)
{
	struct nnb_burst_service service = { .configure = local_configure,
		                             .free_memory = free_memory,
		                             .close = close_server,
		                             .execute = local_execute,
		                             .release = local_release,
		                             .model = nnb_prepared_model(prepared),
		                             .extended = true };
	struct local *l = calloc(1, sizeof(*l));

	if (!l) {
		nnb_because(reason, "no memory for a burst");
		return NNB_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
	}
	l->prepared = nnb_prepared_ref(prepared);
	l->cached = cached;
	l->window_ns = config ? config->window_ns : 0;
	service.arg = l;
	return nnb_burst_new(ret, &service, config, reason);
}
