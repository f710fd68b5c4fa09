/*
 * buffer.h -- memory domains: buffers that a driver keeps between executions, where and how it likes (HAL 1.3).
 *
 * A buffer is allocated for roles: these inputs and outputs of these prepared models, and nothing else. Executions name
 * it by its token, a memory of kind NNB_MEMORY_TOKEN, as a pool: such an argument has offset and length 0, and is all of
 * it. What it holds comes from executions and from nnb_buffer_copy_from, and goes to executions and nnb_buffer_copy_to.
 *
 * It is uninitialised until something was written to it, and again while something is being written, and if that fails.
 * Its extents are what its roles and its description say; those that none of them knows are of the last that was written.
 *
 * Any thread may call anything here. Executions and copies that only read a buffer go side by side. One that writes it
 * has it alone: what comes meanwhile is refused, with GENERAL_FAILURE, and nobody waits.
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

enum { NNB_BUFFER_ROLES_MAX = 1024 }; /* as an input, and again as an output: a buffer with more is refused */

struct nnb_buffer_role {
	uint32_t model;  /* which of the models it was allocated with */
	uint32_t index;  /* which of that model's inputs, or outputs */
	float frequency; /* how likely it is to be used so: more than 0, up to 1. A hint */
};

/* All is borrowed for the call that it is given to. */
struct nnb_buffer_desc {
	uint32_t rank;               /* M-3: what is known besides what the roles say. 0: nothing */
	uint32_t dims[NNB_RANK_MAX]; /* 0: unknown */
	const struct nnb_buffer_role *inputs, *outputs;
	uint32_t n_inputs, n_outputs;
};

struct nnb_buffer;

/*
 * Allocate one for roles of @models, of this device. NONE and *ret owned (nnb_buffer_unref); INVALID_ARGUMENT: M-5;
 * GENERAL_FAILURE: the device has no such buffers, or will not; RESOURCE_EXHAUSTED_TRANSIENT: no memory for it. All but
 * the first of these are answers to be expected: shared memory does as well.
 */
NNB_PUBLIC enum nnb_status nnb_buffer_new(struct nnb_buffer **ret, struct nnb_device *device,
                                          struct nnb_prepared *const *models, uint32_t n_models,
                                          const struct nnb_buffer_desc *desc, struct nnb_reason *reason);

/* With the last reference its token means nothing any more; executions under way end well. */
NNB_PUBLIC struct nnb_buffer *nnb_buffer_ref(struct nnb_buffer *buffer);
NNB_PUBLIC struct nnb_buffer *nnb_buffer_unref(struct nnb_buffer *buffer); /* NULL is fine. Returns NULL. */

/* Its token, to be given to executions as a pool. Borrowed. */
NNB_PUBLIC const struct nnb_memory *nnb_buffer_memory(const struct nnb_buffer *buffer);

/*
 * Write all of it from all of @from (ashmem, mmap_fd, hardware_buffer_blob), its extents being @dims; @rank 0: those it
 * was allocated with, if they are all known. NONE; INVALID_ARGUMENT: a size or extents that are not its own (M-31);
 * GENERAL_FAILURE: @from cannot be mapped, or the buffer is in use; RESOURCE_EXHAUSTED_*: no memory for so much. What is
 * INVALID_ARGUMENT, or meets somebody, changes nothing; otherwise a failure leaves it uninitialised.
 */
NNB_PUBLIC enum nnb_status nnb_buffer_copy_from(struct nnb_buffer *buffer, const struct nnb_memory *from, uint32_t rank,
                                                const uint32_t *dims, struct nnb_reason *reason);

/*
 * Read all of it into all of @to. NONE; INVALID_ARGUMENT: @to has another size (M-32); GENERAL_FAILURE: uninitialised, @to
 * cannot be mapped, or the buffer is being written.
 */
NNB_PUBLIC enum nnb_status nnb_buffer_copy_to(struct nnb_buffer *buffer, const struct nnb_memory *to,
                                              struct nnb_reason *reason);

NNB_END_DECLS

#endif
