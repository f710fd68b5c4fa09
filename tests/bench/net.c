/* net.c -- see net.h. */
#include "net.h"

#include "app.h"
#include "mobilenet.h"
#include "peers.h"

static void net_bind(struct net *n)
{
	const struct nnb_request request = {
		.inputs = &n->in, .outputs = &n->out, .n_inputs = 1, .n_outputs = 1, .n_pools = 1, .pools = &n->pool
	};
	struct nnb_reason reason = { "" };

	n->in.location = (struct nnb_location){ 0, 0, MOBILENET_IN_BYTES };
	n->out.location = (struct nnb_location){ 0, MOBILENET_IN_BYTES, MOBILENET_OUT_BYTES };
	if (nnb_memory_ashmem(&n->pool, MOBILENET_IN_BYTES + MOBILENET_OUT_BYTES) || nnb_map(&n->mapping, &n->pool))
		die("a pool");
	for (int i = 0; i < MOBILENET_IN_BYTES / 4; i++)
		((float *)nnb_mapping_data(n->mapping))[i] = (float)(i % 255) / 127.5f - 1;
	must(nnb_execution_begin(n->prepared, &request, &n->mapping, false, NULL, &n->execution, &reason),
	     "an execution", &reason);
}

void net_open(struct net *n, const char *driver)
{
	const struct nnb_prepare how = { .preference = 1, .priority = 1 };
	struct nnb_model *model = mobilenet_new();
	struct nnb_reason reason = { "" };

	if (nnb_device_open(&n->device, driver, &reason))
		must(NNB_STATUS_DEVICE_UNAVAILABLE, driver, &reason);
	must(nnb_prepare(n->device, model, &how, NULL, &n->prepared, &reason), "preparing", &reason);
	nnb_model_free(model);
	net_bind(n);
}

void net_close(struct net *n)
{
	nnb_execution_end(n->execution);
	nnb_mapping_unref(n->mapping);
	nnb_memory_close(&n->pool);
	nnb_prepared_unref(n->prepared);
	nnb_device_unref(n->device);
}

void net_again(const struct net *n)
{
	must(nnb_execution_restart(n->execution), "beginning again", NULL);
}
