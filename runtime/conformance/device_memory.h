/* device_memory.h -- a model's inputs and outputs in buffers that the driver keeps, as far as it will. */
#ifndef DEVICE_MEMORY_H
#define DEVICE_MEMORY_H

#include "nnb/client.h"

/* One argument's. */
struct kept {
	struct nnb_buffer *here;
	struct nnb_remote_buffer *there;
	struct nnb_pool *pool; /* that names it. NULL: it was refused; borrowed from what is there */
};

struct device_memory {
	struct kept *inputs, *outputs;
	uint32_t n_inputs, n_outputs;
};

/* Ask for each of them: of @prepared on @device, or of @remote for @client. False: no memory. */
bool device_memory_init(struct device_memory *ret, struct nnb_device *device, struct nnb_prepared *prepared);
bool device_memory_init_remote(struct device_memory *ret, struct nnb_client *client, struct nnb_remote *remote);
void device_memory_fini(struct device_memory *d); /* all zeroes are fine */

/* Between all of one that was not refused and @bytes here. */
enum nnb_status kept_write(const struct kept *k, const void *from, uint64_t bytes, struct nnb_reason *reason);
enum nnb_status kept_read(const struct kept *k, void *to, uint64_t bytes, struct nnb_reason *reason);

#endif
