/*
 * buffer.h -- memory domains: buffers that a driver keeps between executions, where and how it likes (HAL 1.3).
 *
 * A buffer is allocated for roles: certain inputs and outputs of certain prepared models, and for no other use. An
 * execution names the buffer by its token, a memory of kind NNB_MEMORY_TOKEN, as a pool: such an argument has offset
 * and length 0, and means the whole buffer. Executions and nnb_buffer_copy_from write a buffer; executions and
 * nnb_buffer_copy_to read it.
 *
 * A buffer is uninitialised until its first write has ended, while a write is under way, and after a write has failed.
 * Its roles and its description give its dimensions; a dimension that they leave unknown is that of the last write.
 *
 * Any thread may call anything here. Several executions and copies may read a buffer at the same time. A writer has the
 * buffer exclusively: any other use meanwhile is refused at once, with GENERAL_FAILURE.
 *
 * Rules M-1 to M-33 of the HAL. Buffers of a service: nnb/client.h. nnb_buffer(3).
 */
#ifndef NNB_BUFFER_H
#define NNB_BUFFER_H

#include <stdint.h>

#include "nnb/defs.h"
#include "nnb/device.h"
#include "nnb/memory.h"
#include "nnb/model.h"
#include "nnb/status.h"

NNB_BEGIN_DECLS

enum { NNB_BUFFER_ROLES_MAX = 1024 }; /* most roles as an input, and most as an output */

struct nnb_buffer_role {
	uint32_t model;  /* index into the models that the buffer is allocated with */
	uint32_t index;  /* index into that model's inputs, or outputs */
	float frequency; /* how likely this use is: above 0, at most 1. A hint */
};

/* All pointers are borrowed for the call. */
struct nnb_buffer_desc {
	uint32_t rank;               /* M-3: dimensions known in addition to those of the roles; rank 0: none */
	uint32_t dims[NNB_RANK_MAX]; /* 0: unknown */
	const struct nnb_buffer_role *inputs, *outputs;
	uint32_t n_inputs, n_outputs;
};

struct nnb_buffer;

/*
 * Allocate a buffer for roles of @models, which are prepared on @device. NONE, and the caller owns *ret
 * (nnb_buffer_unref); INVALID_ARGUMENT: M-5; GENERAL_FAILURE: the driver has no buffers, or refuses this one;
 * RESOURCE_EXHAUSTED_TRANSIENT: no memory. Callers must expect the last two, and can use shared memory instead.
 */
NNB_PUBLIC enum nnb_status nnb_buffer_new(struct nnb_buffer **ret, struct nnb_device *device,
                                          struct nnb_prepared *const *models, uint32_t n_models,
                                          const struct nnb_buffer_desc *desc, struct nnb_reason *reason);

/* The last unref invalidates the token; executions under way keep the buffer and end normally. */
NNB_PUBLIC struct nnb_buffer *nnb_buffer_ref(struct nnb_buffer *buffer);
NNB_PUBLIC struct nnb_buffer *nnb_buffer_unref(struct nnb_buffer *buffer); /* NULL is fine. Returns NULL. */

/* The token, which executions take as a pool. Borrowed. */
NNB_PUBLIC const struct nnb_memory *nnb_buffer_memory(const struct nnb_buffer *buffer);

/*
 * Write the whole buffer from the whole of @from (ashmem, mmap_fd, hardware_buffer_blob). @dims are the data's
 * dimensions; @rank 0: those the buffer was allocated with, if all are known. NONE; INVALID_ARGUMENT: the size or the
 * dimensions do not fit the buffer (M-31); GENERAL_FAILURE: @from cannot be mapped, or the buffer is in use;
 * RESOURCE_EXHAUSTED_*: too little memory. INVALID_ARGUMENT and a buffer in use leave the buffer as it was; any other
 * failure leaves it uninitialised.
 */
NNB_PUBLIC enum nnb_status nnb_buffer_copy_from(struct nnb_buffer *buffer, const struct nnb_memory *from, uint32_t rank,
                                                const uint32_t *dims, struct nnb_reason *reason);

/*
 * Read the whole buffer into the whole of @to. NONE; INVALID_ARGUMENT: @to has another size (M-32); GENERAL_FAILURE:
 * the buffer is uninitialised or is being written, or @to cannot be mapped.
 */
NNB_PUBLIC enum nnb_status nnb_buffer_copy_to(struct nnb_buffer *buffer, const struct nnb_memory *to,
                                              struct nnb_reason *reason);

NNB_END_DECLS

#endif
