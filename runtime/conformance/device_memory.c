/* device_memory.c -- requests a driver's buffers for a model's arguments, and copies to and from them. */
#include "device_memory.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* The driver or client that the buffers belong to. */
struct owner {
	struct nnb_device *device; /* set in this process; otherwise client is set */
	struct nnb_client *client;
	struct nnb_prepared *prepared;
	struct nnb_remote *remote;
};

/* Request one buffer. @desc has one role. If it is refused, *k stays all zeroes. */
static bool buffer_request(struct kept *k, const struct owner *o, const struct nnb_buffer_desc *desc)
{
	assert(desc->n_inputs + desc->n_outputs == 1 && !k->pool);
	if (o->client) {
		if (!nnb_remote_buffer_new(&k->there, o->client, &o->remote, 1, desc, false, NULL))
			k->pool = nnb_remote_buffer_pool(k->there);
		return true;
	}
	return nnb_buffer_new(&k->here, o->device, &o->prepared, 1, desc, NULL) ||
	       !nnb_pool_from(&k->pool, nnb_buffer_memory(k->here));
}

static bool buffers_request(struct device_memory *d, const struct owner *o, const struct nnb_model *m)
{
	assert((o->client && o->remote) || (o->device && o->prepared));
	d->inputs = calloc(m->n_inputs + 1, sizeof(*d->inputs));
	d->outputs = calloc(m->n_outputs + 1, sizeof(*d->outputs));
	if (!d->inputs || !d->outputs)
		return false;
	d->n_inputs = m->n_inputs;
	d->n_outputs = m->n_outputs;
	for (uint32_t i = 0; i < m->n_inputs + m->n_outputs; i++) {
		bool output = i >= m->n_inputs;
		const struct nnb_buffer_role role = { .index = output ? i - m->n_inputs : i, .frequency = 1 };
		const struct nnb_buffer_desc desc = {
			.inputs = &role, .outputs = &role, .n_inputs = !output, .n_outputs = output
		};
		struct kept *k = output ? &d->outputs[role.index] : &d->inputs[role.index];

		if (!buffer_request(k, o, &desc))
			return false;
	}
	return true;
}

bool device_memory_init(struct device_memory *ret, struct nnb_device *device, struct nnb_prepared *prepared)
{
	return buffers_request(ret, &(struct owner){ .device = device, .prepared = prepared },
	                       nnb_prepared_model(prepared));
}

bool device_memory_init_remote(struct device_memory *ret, struct nnb_client *client, struct nnb_remote *remote)
{
	return buffers_request(ret, &(struct owner){ .client = client, .remote = remote }, nnb_remote_model(remote));
}

static void kept_fini(struct kept *k)
{
	assert(!k->here || !k->there);
	if (k->here)
		nnb_pool_free(k->pool);
	nnb_buffer_unref(k->here);
	nnb_remote_buffer_free(k->there);
}

void device_memory_fini(struct device_memory *d)
{
	for (uint32_t i = 0; i < d->n_inputs; i++)
		kept_fini(&d->inputs[i]);
	for (uint32_t i = 0; i < d->n_outputs; i++)
		kept_fini(&d->outputs[i]);
	free(d->inputs);
	free(d->outputs);
}

/* Shared memory of the same size as the buffer: copies transfer a whole buffer and a whole memory. */
static struct nnb_pool *staging_pool(uint64_t bytes, struct nnb_reason *reason)
{
	struct nnb_pool *pool = NULL;

	if (nnb_pool_new(&pool, bytes))
		nnb_because(reason, "no memory to copy by");
	return pool;
}

enum nnb_status kept_write(const struct kept *k, const void *from, uint64_t bytes, struct nnb_reason *reason)
{
	struct nnb_pool *pool = staging_pool(bytes, reason);
	enum nnb_status status = NNB_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;

	if (!pool)
		return status;
	memcpy(nnb_pool_data(pool), from, bytes);
	status = k->there ? nnb_remote_buffer_copy_from(k->there, nnb_pool_memory(pool), 0, NULL, reason)
	                  : nnb_buffer_copy_from(k->here, nnb_pool_memory(pool), 0, NULL, reason);
	nnb_pool_free(pool);
	return status;
}

enum nnb_status kept_read(const struct kept *k, void *to, uint64_t bytes, struct nnb_reason *reason)
{
	struct nnb_pool *pool = staging_pool(bytes, reason);
	enum nnb_status status = NNB_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;

	if (!pool)
		return status;
	status = k->there ? nnb_remote_buffer_copy_to(k->there, nnb_pool_memory(pool), reason)
	                  : nnb_buffer_copy_to(k->here, nnb_pool_memory(pool), reason);
	if (!status)
		memcpy(to, nnb_pool_data(pool), bytes);
	nnb_pool_free(pool);
	return status;
}
