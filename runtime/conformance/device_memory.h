/* device_memory.h -- places a model's inputs and outputs in the driver's buffers, as far as the driver accepts them. */
#ifndef DEVICE_MEMORY_H
#define DEVICE_MEMORY_H

#include "nnb/client.h"

/* The buffer of one argument. */
struct kept {
	struct nnb_buffer *here;
	struct nnb_remote_buffer *there;
	struct nnb_pool *pool; /* the pool that refers to the buffer, borrowed; NULL: the driver refused the buffer */
};

struct device_memory {
	struct kept *inputs, *outputs;
	uint32_t n_inputs, n_outputs;
};

/* Request a buffer for each argument: of @prepared on @device, or of @remote for @client. False: out of memory. */
bool device_memory_init(struct device_memory *ret, struct nnb_device *device, struct nnb_prepared *prepared);
bool device_memory_init_remote(struct device_memory *ret, struct nnb_client *client, struct nnb_remote *remote);
void device_memory_fini(struct device_memory *d); /* @d may be all zeroes */

/* Copy @bytes between the buffer of @k, which must exist, and memory of the caller. */
enum nnb_status kept_write(const struct kept *k, const void *from, uint64_t bytes, struct nnb_reason *reason);
enum nnb_status kept_read(const struct kept *k, void *to, uint64_t bytes, struct nnb_reason *reason);

#endif
