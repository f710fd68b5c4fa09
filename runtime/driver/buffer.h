/* buffer.h -- the inside of buffers, for the modules that keep buffers for apps, and for executions. */
#ifndef NNB_DRIVER_BUFFER_H
#define NNB_DRIVER_BUFFER_H

#include <pthread.h>

#include "memory/budget.h"
#include "nnb/buffer.h"

struct nnb_shape;

/* The buffers of a device; a part of struct nnb_device. */
struct nnb__buffers {
	pthread_mutex_t lock; /* guards the lists, and the state of each buffer */
	struct nnb_buffer *by_token[256];
};

void nnb__buffers_init(struct nnb__buffers *buffers);
void nnb__buffers_fini(struct nnb__buffers *buffers); /* the device has no buffer left */

/*
 * The app that owns a buffer, and the budget its memory is charged to (its pool is always 0). All zeroes: models
 * without an owner may use it, and no budget is charged.
 */
struct nnb__buffer_keeper {
	uint32_t owner;
	uint32_t serial; /* the buffer's number in traces; 0: the buffer is not traced */
	struct nnb__budget budget;
	/* called when the buffer is freed, after its last lease; the budget's arg is not used then. May be NULL */
	void (*gone)(void *arg);
};

/* nnb_buffer_new for a buffer with this keeper. */
enum nnb_status nnb__buffer_new(struct nnb_buffer **ret, struct nnb_device *device, struct nnb_prepared *const *models,
                                uint32_t n_models, const struct nnb_buffer_desc *desc,
                                const struct nnb__buffer_keeper *keeper, struct nnb_reason *reason);

/* Set the app that owns the prepared model (at first 0). Call it before the model is used. */
void nnb__prepared_own(struct nnb_prepared *prepared, uint32_t owner);

uint64_t nnb__buffer_token(const struct nnb_buffer *buffer);

/*
 * For a copy that is not begun, for want of memory. INVALID_ARGUMENT: nnb_buffer_copy_from would have refused it for
 * this first; NONE: the copy counts as failed, and the buffer is uninitialised now.
 */
enum nnb_status nnb__buffer_not_copied(struct nnb_buffer *buffer, const struct nnb_memory *from, uint32_t rank,
                                       const uint32_t *dims, struct nnb_reason *reason);

/* The same for nnb_buffer_copy_to: the error it would have reported first, or NONE. The buffer stays as it is. */
enum nnb_status nnb__buffer_not_read(struct nnb_buffer *buffer, const struct nnb_memory *to, struct nnb_reason *reason);

/* ---- the other side of a copy, for modules that keep something like a buffer ---- */

struct nnb__buffer_kind;

/*
 * M-31: check a copy from @from to a buffer of this kind. NONE: *kind has these extents, and *ret is owned
 * (nnb_mapping_unref).
 */
enum nnb_status nnb__copy_source(struct nnb_mapping **ret, struct nnb__buffer_kind *kind, const struct nnb_memory *from,
                                 uint32_t rank, const uint32_t *dims, struct nnb_reason *reason);

/* M-32: check a copy of @bytes to @to. NONE: *ret is owned (nnb_mapping_unref). */
enum nnb_status nnb__copy_target(struct nnb_mapping **ret, uint64_t bytes, const struct nnb_memory *to,
                                 struct nnb_reason *reason);

/* Finish a copy from or to (@written) the mapping, whose mark was read before it. NONE or GENERAL_FAILURE. */
enum nnb_status nnb__copy_finish(struct nnb_mapping *mapping, bool written, uint32_t mark, struct nnb_reason *reason);

/* ---- executions ---- */

/* An argument of an execution that lies in a buffer. */
struct nnb__buffer_use {
	struct nnb_buffer *buffer;
	bool output, was_initialised;
	uint32_t index;       /* index among the inputs or the outputs */
	uint32_t rank;        /* rank of an input */
	const uint32_t *dims; /* extents of an input; valid while the buffer is used */
	void *place;          /* address in the driver's buffer; NULL: an output without memory yet */
};

/*
 * M-20 for the arguments that lie in buffers; the rest of the request is valid. @later: the execution does not begin
 * yet, so do not check whether inputs are initialised, nor their extents. Changes nothing.
 */
enum nnb_status nnb__buffers_check(const struct nnb_prepared *prepared, const struct nnb_request *request, bool later,
                                   struct nnb_reason *reason);

/*
 * Check the same and lease the buffers, all or none. Until they are given back, no other execution or copy writes the
 * inputs or uses the outputs. The outputs are uninitialised from now on. @held: the buffers of the pools, or NULL.
 * @ret has room for every argument. *n: the number of arguments that lie in buffers.
 */
enum nnb_status nnb__buffers_take(const struct nnb_prepared *prepared, const struct nnb_request *request,
                                  struct nnb_buffer *const *held, struct nnb__buffer_use *ret, uint32_t *n,
                                  struct nnb_reason *reason);

/*
 * For an execution that begins later: hold the buffers that the request names, so that they stay even if their tokens
 * become invalid. @ret: a buffer or NULL for each pool. Begin with nnb__execution_begin_held.
 */
void nnb__buffers_hold(const struct nnb_prepared *prepared, const struct nnb_request *request, struct nnb_buffer **ret);
void nnb__buffers_let_go(struct nnb_buffer *const *held, uint32_t n);

/* Undo nnb__buffers_take for an execution that did not begin: the buffers are as they were. */
void nnb__buffers_take_back(struct nnb__buffer_use *uses, uint32_t n);

/*
 * Allocate memory for an output of this shape: use->place. GENERAL_FAILURE: the shape contradicts the buffer's
 * description (M-22); or RESOURCE_EXHAUSTED_*.
 */
enum nnb_status nnb__buffer_fit(struct nnb__buffer_use *use, const struct nnb_shape *shape, struct nnb_reason *reason);

/*
 * Give the leases back. @shapes of the operands: the execution succeeded, and the outputs have these shapes; NULL: it
 * failed.
 */
void nnb__buffers_give(const struct nnb_prepared *prepared, struct nnb__buffer_use *uses, uint32_t n,
                       const struct nnb_shape *shapes);

/*
 * For a request that is not executed, for want of time or memory: it counts as a failed execution, and its outputs
 * become uninitialised (section 11), except those that another execution or copy uses, or that the request must not
 * use.
 */
void nnb__buffers_fail(const struct nnb_prepared *prepared, const struct nnb_request *request);

/*
 * The bytes of the owner's buffers among @pools; @refused: plus, once, the bytes that their last refused allocations
 * wanted. The caller decides with it whether an execution can ever have room.
 */
uint64_t nnb__buffers_bytes(const struct nnb_prepared *prepared, const struct nnb_memory *pools, uint32_t n,
                            bool refused);

/* Copy the first @bytes of an input, in the layout that the app uses. */
void nnb__buffer_peek(const struct nnb__buffer_use *use, void *to, uint64_t bytes);

#endif
