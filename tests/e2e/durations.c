/*
 * durations.c SOCKET -- an app that launches fenced executions with durations: one that is long enough, and
 * one of 1 ns. A service with --deadline abort refuses the latter; with advise it is late.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "nnb/client.h"
#include "nnb/fence.h"
#include "unit/abort_unless.h"
#include "unit/device_helpers.h"

enum { N = 1 << 16 };

static struct nnb_pool *pools[2];

/* The status of the launch, if it fails, or of the execution. */
static enum nnb_status execute(struct nnb_remote *remote, uint64_t duration_ns)
{
	struct nnb_argument arguments[2] = { { .location = { 0, 0, N * 4 } }, { .location = { 1, 0, N * 4 } } };
	const struct nnb_call call = { .inputs = &arguments[0],
		                       .outputs = &arguments[1],
		                       .pools = pools,
		                       .n_inputs = 1,
		                       .n_outputs = 1,
		                       .n_pools = 2 };
	const struct nnb_fenced_how how = { .duration_ns = duration_ns };
	struct nnb_reason why = { "" };
	struct nnb_fenced *fenced;
	enum nnb_status status;
	int fence;

	status = nnb_remote_execute_fenced(remote, &call, &how, &fenced, &fence, &why);
	if (status)
		return status;
	status = nnb_fence_wait(&fence, 1, UINT64_MAX) == NNB_FENCE_SIGNALLED ? NNB_STATUS_NONE
	                                                                      : NNB_STATUS_GENERAL_FAILURE;
	nnb_fenced_free(fenced);
	close(fence);
	return status;
}

int main(int argc, char **argv)
{
	const struct nnb_client_config config = { .socket = argc == 2 ? argv[1] : NULL, .name = "durations" };
	struct nnb_model *model = vector_model(NNB_ADD, N, 1);
	struct nnb_reason why = { "" };
	struct nnb_client *client;
	struct nnb_remote *remote;

	abort_unless(argc == 2 && !nnb_client_open(&client, &config, &why));
	abort_unless(!nnb_remote_prepare(client, model, NULL, NULL, &remote, &why));
	nnb_model_free(model);
	for (int i = 0; i < 2; i++)
		abort_unless(!nnb_pool_new(&pools[i], N * 4));
	for (int i = 0; i < 5; i++) {
		abort_unless(!execute(remote, 10000000000));
		printf("%s\n", nnb_status_name(execute(remote, 1)));
	}
	for (int i = 0; i < 2; i++)
		nnb_pool_free(pools[i]);
	nnb_remote_release(remote);
	nnb_client_close(client);
	return 0;
}
