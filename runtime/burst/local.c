/* local.c -- a burst whose service is a thread of this process. */
#include <stdlib.h>

#include "burst/result.h"
#include "nnb/burst.h"
#include "sched/run.h"

struct local {
	struct nnb_prepared *prepared;
	bool cached;
	uint64_t window_ns;
};

static enum nnb_status configure(void *arg, const struct nnb_burst_callback *callback,
                                 const struct nnb_fmq_desc *request, const struct nnb_fmq_desc *result, void **context,
                                 struct nnb_reason *reason)
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

static enum nnb_status run(struct nnb_prepared *p, const struct nnb_request *request, const struct nnb_terms *terms,
                           struct nnb_output_shape *shapes, struct nnb_reason *reason)
{
	struct nnb__runner runner;
	struct nnb_execution *e;
	enum nnb_status status = nnb_execution_begin(p, request, NULL, false, shapes, &e, reason);

	if (status)
		return status;
	nnb__runner_init(&runner, NULL, NULL, NULL, nnb_prepared_how(p)->priority, NULL);
	status = nnb__admit(&runner, terms, reason);
	if (!status)
		status = nnb__run(&runner, e, terms, NULL, reason);
	nnb_execution_end(e);
	return status;
}

static enum nnb_status execute(void *arg, const struct nnb_call *call, struct nnb_answer *answer,
                               struct nnb_reason *reason)
{
	struct local *l = arg;
	struct nnb_request request = nnb__call_request(call);
	struct nnb_result result = { .timing = NNB_NO_TIMING, .shapes = answer ? answer->shapes : NULL };
	struct nnb_memory *pools = calloc((size_t)call->n_pools + 1, sizeof(*pools));

	if (!pools) {
		nnb_because(reason, "no memory for the request");
		return NNB_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
	}
	for (uint32_t i = 0; i < call->n_pools; i++)
		pools[i] = *nnb_pool_memory(call->pools[i]);
	request.pools = pools;
	result.status = run(l->prepared, &request, &call->terms, result.shapes, reason);
	result.n_shapes = call->n_outputs;
	free(pools);
	return nnb__answer(nnb_prepared_model(l->prepared), call, &result, answer, reason);
}

static void release(void *arg)
{
	struct local *l = arg;

	nnb_prepared_unref(l->prepared);
	free(l);
}

enum nnb_status nnb_burst_local(struct nnb_burst **ret, struct nnb_prepared *prepared, bool cached,
                                const struct nnb_burst_config *config, struct nnb_reason *reason)
{
	struct nnb_burst_service service = { .configure = configure,
		                             .free_memory = free_memory,
		                             .close = close_server,
		                             .execute = execute,
		                             .release = release,
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
