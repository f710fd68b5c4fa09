/*
 * execution.h -- executions and prepared models, for the library's own modules: repeating, accounts, looks,
 * deadlines.
 */
#ifndef NNB_DRIVER_EXECUTION_H
#define NNB_DRIVER_EXECUTION_H

#include "nnb/device.h"

/*
 * Whether the execution, begun again with the same request and mappings, would go through the same steps. Then
 * nnb_execution_restart does that at less cost. False if an input's value decides a shape, or if an argument lies in
 * a buffer.
 */
bool nnb__execution_repeats(const struct nnb_execution *execution);

/* Does the execution use files, of its request or of its model, which may be torn or flushed? */
bool nnb__execution_uses_files(const struct nnb_execution *execution);

/*
 * Whether the execution may use the files of its request and of its model now, though these may be cut (memory/gate.h).
 * NONE or RESOURCE_EXHAUSTED_TRANSIENT. It may wait for seconds: call this without a lane, before nnb_execution_restart
 * for a further request. nnb_execution_begin asks this.
 */
enum nnb_status nnb__execution_passes(const struct nnb_execution *execution, struct nnb_reason *reason);

/*
 * Would the execution compute the same if it started over? False if an output overlaps an input or a pool of the
 * model's constants, even by two mappings of one file, or if there are too many of them to compare.
 */
bool nnb__execution_can_restart(const struct nnb_execution *execution);

struct nnb_account;

/*
 * nnb_prepare and nnb_prepare_from_cache, with an account that is charged for the prepared model: @account is
 * borrowed until the model is freed. If the status is NONE, the prepared model owns @model, without a copy.
 */
enum nnb_status nnb__prepare_for(struct nnb_device *device, struct nnb_model *model, const struct nnb_prepare *how,
                                 const struct nnb_cache *cache, const struct nnb_account *account,
                                 struct nnb_prepared **ret, struct nnb_reason *reason);
enum nnb_status nnb__prepare_from_cache_for(struct nnb_device *device, uint64_t deadline_ns,
                                            const struct nnb_cache *cache, const struct nnb_account *account,
                                            struct nnb_prepared **ret, struct nnb_reason *reason);

struct nnb_buffer;

/*
 * nnb_execution_begin, and the execution owns the fds of the pools that it maps from then on: those become -1, also on
 * failure. @pools: the request's. @held: its buffers, if the caller holds them (nnb__buffers_hold); otherwise NULL.
 */
enum nnb_status nnb__execution_begin_held(struct nnb_prepared *prepared, const struct nnb_request *request,
                                          struct nnb_memory *pools, struct nnb_buffer *const *held,
                                          struct nnb_output_shape *shapes, struct nnb_execution **ret,
                                          struct nnb_reason *reason);

/* Upper limit of the estimated time of an execution on its device, in ns; 0: no limit. */
uint64_t nnb__execution_work_limit(const struct nnb_execution *execution);

/*
 * The function that operations call while they run to ask whether to go on; NULL: they go on. If it returns false, the
 * execution fails.
 */
void nnb__execution_look(struct nnb_execution *execution, bool (*goes_on)(void *arg), void *arg);

/*
 * Set the timeout of each WHILE (0: NNB_LOOP_DEFAULT_NS; at most NNB_LOOP_MAX_NS), and the callback for iterations
 * (struct nnb_loops; NULL: none). Call this before the execution runs.
 */
void nnb__execution_loops(struct nnb_execution *execution, uint64_t timeout_ns,
                          void (*iterated)(void *arg, uint32_t op, uint32_t depth, uint64_t iteration), void *arg);

/* Set the deadline that the driver receives; 0: no deadline. Call this before the execution runs. */
void nnb__execution_deadline(struct nnb_execution *execution, uint64_t deadline_ns);

/*
 * The state of a device for a burst of a prepared model: its fast state is on (B-2), and the driver may have a
 * context. Any thread may begin and end one; @prepared must exist until the end, and executions of the burst have
 * ended by then.
 */
struct nnb__burst_context {
	void *driver; /* the driver's; NULL if the driver keeps nothing for this burst */
};

void nnb__burst_context_begin(struct nnb__burst_context *ret, struct nnb_prepared *prepared);
void nnb__burst_context_end(struct nnb__burst_context *context, struct nnb_prepared *prepared);

/*
 * The execution belongs to that burst. Call this before it runs; it stays so until the execution ends, however often
 * it is begun again.
 */
void nnb__execution_burst(struct nnb_execution *execution, const struct nnb__burst_context *context);

uint32_t nnb__execution_op_type(const struct nnb_execution *execution, uint32_t op);

/*
 * nnb_execution_run in two parts, the first of which needs a lane: compute runs the operations. If its outputs lie in
 * files of a disk, they are not published then (is_computed): publish waits until the file system has the written
 * pages, for as long as that takes. Its status is the execution's. It does nothing if nothing is left to do.
 */
enum nnb_status nnb__execution_compute(struct nnb_execution *execution, bool (*checkpoint)(void *arg, uint32_t next_op),
                                       void *arg, bool *finished);
bool nnb__execution_is_computed(const struct nnb_execution *execution);
enum nnb_status nnb__execution_publish(struct nnb_execution *execution);

/* The execution will not continue: its leases of buffers are given back. */
void nnb__execution_give_up(struct nnb_execution *execution);

/* nnb_request_validate. If request->pools is NULL, what depends on the pools is not checked. */
enum nnb_status nnb__prepared_check(const struct nnb_prepared *prepared, const struct nnb_request *request,
                                    struct nnb_reason *reason);

/* The time that it took to map pool @pool of the model. */
uint64_t nnb__prepared_map_ns(const struct nnb_prepared *prepared, uint32_t pool);

/*
 * Is @memory a hardware buffer that is not a BLOB, and can the driver open such buffers? Then it has no mapping, and
 * executions take NULL for it.
 */
bool nnb__device_opens(const struct nnb_device *device, const struct nnb_memory *memory);
bool nnb__prepared_opens(const struct nnb_prepared *prepared, const struct nnb_memory *memory);

/* Do all runs of the model have the same shapes, whatever the request? */
bool nnb__prepared_is_fixed(const struct nnb_prepared *prepared);

#endif
