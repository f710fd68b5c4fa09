/* buffer.h -- inside of buffers: for who keeps them for others, and for executions. */
#ifndef NNB_DRIVER_BUFFER_H
#define NNB_DRIVER_BUFFER_H

#include <pthread.h>

#include "memory/budget.h"
#include "nnb/buffer.h"

struct nnb_shape;

/* All of a device's: part of it. */
struct nnb__buffers {
	pthread_mutex_t lock; /* of the lists, and of the state of each */
	struct nnb_buffer *by_token[256];
};

void nnb__buffers_init(struct nnb__buffers *buffers);
void nnb__buffers_fini(struct nnb__buffers *buffers); /* there are none any more */

/* Whose a buffer is, and who lends its memory (pools are always 0). All zeroes: everybody's, and nobody. */
struct nnb__buffer_keeper {
	uint32_t owner;
	uint32_t serial; /* what traces call it; 0: nothing is said of it */
	struct nnb__budget budget;
	void (*gone)(
		void *arg); /* the budget's arg is of no more use: the buffer is gone, leases and all. May be NULL */
};

/* nnb_buffer_new for one of those. */
enum nnb_status nnb__buffer_new(struct nnb_buffer **ret, struct nnb_device *device, struct nnb_prepared *const *models,
                                uint32_t n_models, const struct nnb_buffer_desc *desc,
                                const struct nnb__buffer_keeper *keeper, struct nnb_reason *reason);

/* Whose the prepared model is: 0 until it is said. Before it is used. */
void nnb__prepared_own(struct nnb_prepared *prepared, uint32_t owner);

uint64_t nnb__buffer_token(const struct nnb_buffer *buffer);

/*
 * What nnb_buffer_copy_from is not even called for, for want of memory. INVALID_ARGUMENT: that would have come first; NONE:
 * it is a failed copy, and leaves the buffer uninitialised.
 */
enum nnb_status nnb__buffer_not_copied(struct nnb_buffer *buffer, const struct nnb_memory *from, uint32_t rank,
                                       const uint32_t *dims, struct nnb_reason *reason);

/* Likewise of nnb_buffer_copy_to: what would have come first; NONE: nothing. */
enum nnb_status nnb__buffer_not_read(struct nnb_buffer *buffer, const struct nnb_memory *to, struct nnb_reason *reason);

/* ---- the other side of copies, for who has what is like a buffer ---- */

struct nnb__buffer_kind;

/* M-31: may it be copied to what is of this kind? NONE: *kind has these extents, and *ret is owned (nnb_mapping_unref). */
enum nnb_status nnb__copy_source(struct nnb_mapping **ret, struct nnb__buffer_kind *kind, const struct nnb_memory *from,
                                 uint32_t rank, const uint32_t *dims, struct nnb_reason *reason);

/* M-32: may @bytes be copied there? Likewise. */
enum nnb_status nnb__copy_target(struct nnb_mapping **ret, uint64_t bytes, const struct nnb_memory *to,
                                 struct nnb_reason *reason);

/* The bytes are copied, from or to (@written) the mapping, whose mark was taken before: NONE or GENERAL_FAILURE. */
enum nnb_status nnb__copied(struct nnb_mapping *mapping, bool written, uint32_t mark, struct nnb_reason *reason);

/* ---- executions ---- */

/* An argument that lies in one. */
struct nnb__buffer_use {
	struct nnb_buffer *buffer;
	bool output, was_initialised;
	uint32_t index;       /* of the input or output */
	uint32_t rank;        /* of an input: what it is */
	const uint32_t *dims; /* valid while it is used */
	void *place;          /* where; the driver's. NULL: an output that has no room yet */
};

/*
 * M-20, for what lies in tokens; the request is otherwise valid. @later: it is not to begin yet: whether inputs are
 * initialised, and what their extents are, is not looked at. Nothing changes.
 */
enum nnb_status nnb__buffers_check(const struct nnb_prepared *prepared, const struct nnb_request *request, bool later,
                                   struct nnb_reason *reason);

/*
 * The same, and take them, all or none: until they are given back, nobody writes the inputs, and nobody else uses the
 * outputs, which are uninitialised from now on. @held, where it is not NULL, is what the pools are. @ret has room for every
 * argument. *n: how many lie in buffers.
 */
enum nnb_status nnb__buffers_take(const struct nnb_prepared *prepared, const struct nnb_request *request,
                                  struct nnb_buffer *const *held, struct nnb__buffer_use *ret, uint32_t *n,
                                  struct nnb_reason *reason);

/*
 * For who executes later: have what the request names stay what it is, whatever becomes of its token. @ret: by pool; NULL:
 * there is none. Use it with nnb__execution_begin_held.
 */
void nnb__buffers_hold(const struct nnb_prepared *prepared, const struct nnb_request *request, struct nnb_buffer **ret);
void nnb__buffers_let_go(struct nnb_buffer *const *held, uint32_t n);

/* Nothing has happened: they are as they were. */
void nnb__buffers_take_back(struct nnb__buffer_use *uses, uint32_t n);

/*
 * Have room for an output of this shape: use->place. GENERAL_FAILURE: it contradicts what the buffer was allocated with
 * (M-22), or RESOURCE_EXHAUSTED_*.
 */
enum nnb_status nnb__buffer_fit(struct nnb__buffer_use *use, const struct nnb_shape *shape, struct nnb_reason *reason);

/* Give them back. @shapes, of the operands: it went well, and the outputs are that; NULL: it did not. */
void nnb__buffers_give(const struct nnb_prepared *prepared, struct nnb__buffer_use *uses, uint32_t n,
                       const struct nnb_shape *shapes);

/*
 * A request that is not executed after all, for want of time or memory: that is a failed execution, and leaves its outputs
 * uninitialised (section 11), but for those that somebody else uses, or that it must not.
 */
void nnb__buffers_fail(const struct nnb_prepared *prepared, const struct nnb_request *request);

/*
 * What those of the owner's have that are among @pools; @refused: and what they last wanted and did not get. For who is to
 * say whether there is ever room for an execution.
 */
uint64_t nnb__buffers_bytes(const struct nnb_prepared *prepared, const struct nnb_memory *pools, uint32_t n,
                            bool refused);

/* An input's first @bytes as the app sees them. */
void nnb__buffer_peek(const struct nnb__buffer_use *use, void *to, uint64_t bytes);

#endif
