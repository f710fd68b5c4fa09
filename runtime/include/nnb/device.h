/*
 * device.h -- devices, prepared models and executions in one process.
 *
 * Any thread may call anything here, except that the caller orders the calls on one nnb_execution.
 * nnb_device(3).
 */
#ifndef NNB_DEVICE_H
#define NNB_DEVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "nnb/defs.h"
#include "nnb/driver.h"
#include "nnb/memory.h"
#include "nnb/model.h"
#include "nnb/status.h"

NNB_BEGIN_DECLS

enum {
	NNB_TOKEN_BYTES = 32,      /* bytes of a cache token (O-22) */
	NNB_KEY_BYTES = 16,        /* bytes of the key that seals cache entries */
	NNB_MODEL_CACHE_FILES = 1, /* files of a cache entry: for the model ... */
	NNB_DATA_CACHE_FILES = 1   /* ... and for its constants */
};

/* ---- devices ---- */

struct nnb_device;

/*
 * Open the driver @name: "null", "xnnpack", or the path of a shared object (a name with a slash).
 * 0, and the caller owns *ret; -ENOENT: no such driver, or -EACCES and others: its file cannot be read; -ELIBACC: the
 * file is not a driver, or has another ABI; or the error of the driver's open.
 */
NNB_PUBLIC int nnb_device_open(struct nnb_device **ret, const char *name, struct nnb_reason *reason);

/* Release the device. Every prepared model holds a reference, too. NULL is fine. Returns NULL. */
NNB_PUBLIC struct nnb_device *nnb_device_unref(struct nnb_device *device);

NNB_PUBLIC const char *nnb_device_name(const struct nnb_device *device);
NNB_PUBLIC const char *nnb_device_version(const struct nnb_device *device);
NNB_PUBLIC void nnb_device_capabilities(struct nnb_device *device, struct nnb_capabilities *ret);

/*
 * Set the key that seals this device's cache entries. Without this call the key is random, and entries can be read only
 * while the device is open. Call before the first prepare.
 */
NNB_PUBLIC void nnb_device_cache_key(struct nnb_device *device, const uint8_t key[NNB_KEY_BYTES]);

/* Hold the device's fast state: the first hold switches it on, the last release switches it off (B-2). */
NNB_PUBLIC void nnb_device_hold_performance(struct nnb_device *device);
NNB_PUBLIC void nnb_device_release_performance(struct nnb_device *device);

/*
 * Write for each operation whether the device supports it. An operation with a constant in a pool that cannot be
 * mapped is not supported (P-14). NONE; INVALID_ARGUMENT: the model is not valid.
 */
NNB_PUBLIC enum nnb_status nnb_device_supported(struct nnb_device *device, const struct nnb_model *model, bool *ret,
                                                struct nnb_reason *reason);

/*
 * Refuse with RESOURCE_EXHAUSTED_PERSISTENT executions whose estimate, made from their shapes, exceeds @ns on one
 * idle core, and models of which every execution would. 0: refuse none, the default. Call before any other use of the
 * device.
 */
NNB_PUBLIC void nnb_device_limit_work(struct nnb_device *device, uint64_t ns);

/* ---- prepared models ---- */

struct nnb_prepared;

/* The files of a cache entry: open fds, read-write for saving, and their counts, which the library checks. */
struct nnb_cache {
	const int *model_files, *data_files;
	uint32_t n_model_files, n_data_files;
	uint8_t token[NNB_TOKEN_BYTES];
};

/*
 * Prepare a model, and save the result in @cache unless that is NULL; saving never makes the preparation fail (O-22).
 * @model is borrowed for the call. NONE, and the caller owns *ret; otherwise *ret is untouched: INVALID_ARGUMENT: the
 * model or @how is not valid, or an operation is not supported; GENERAL_FAILURE: a pool cannot be mapped (P-13);
 * MISSED_DEADLINE_PERSISTENT: the deadline had passed before the preparation began, or the preparation alone takes
 * longer than the deadline allowed; MISSED_DEADLINE_TRANSIENT: the deadline passed meanwhile; or another status.
 */
NNB_PUBLIC enum nnb_status nnb_prepare(struct nnb_device *device, const struct nnb_model *model,
                                       const struct nnb_prepare *how, const struct nnb_cache *cache,
                                       struct nnb_prepared **ret, struct nnb_reason *reason);

/*
 * Prepare from a saved cache entry, with the preference and priority that were saved: for others use another
 * token. @deadline_ns has the meaning it has in nnb_prepare. GENERAL_FAILURE: the entry is missing, corrupt, or of
 * another model.
 */
NNB_PUBLIC enum nnb_status nnb_prepare_from_cache(struct nnb_device *device, uint64_t deadline_ns,
                                                  const struct nnb_cache *cache, struct nnb_prepared **ret,
                                                  struct nnb_reason *reason);

/*
 * Prepare from the cache entry of @token and @how in directory @dir. If there is no usable entry, prepare @model and
 * save an entry. Returns the statuses of nnb_prepare; *from_cache: whether the entry was used.
 */
NNB_PUBLIC enum nnb_status nnb_prepare_cached(struct nnb_device *device, const struct nnb_model *model,
                                              const struct nnb_prepare *how, const char *dir,
                                              const uint8_t token[NNB_TOKEN_BYTES], struct nnb_prepared **ret,
                                              bool *from_cache, struct nnb_reason *reason);

/* Read the key from the file @path; make the file, readable by its owner only, if it does not exist. 0 or -errno. */
NNB_PUBLIC int nnb_cache_key_file(const char *path, uint8_t ret[NNB_KEY_BYTES]);

NNB_PUBLIC struct nnb_prepared *nnb_prepared_ref(struct nnb_prepared *prepared);
NNB_PUBLIC struct nnb_prepared *nnb_prepared_unref(struct nnb_prepared *prepared); /* NULL is fine. Returns NULL. */
NNB_PUBLIC const struct nnb_model *nnb_prepared_model(const struct nnb_prepared *prepared); /* borrowed */
NNB_PUBLIC const struct nnb_prepare *nnb_prepared_how(const struct nnb_prepared *prepared); /* borrowed; no deadline */

/* ---- executions ---- */

struct nnb_output_shape {
	uint32_t rank;
	uint32_t dims[NNB_RANK_MAX];
	bool sufficient;
};

struct nnb_execution;

/*
 * Begin an execution: validate the request, compute the shapes, bind the memory. @mappings has a mapping for each
 * pool (from a burst's cache; NULL for tokens), borrowed until the execution has ended; if @mappings is NULL, the
 * pools are mapped for this execution. @shapes has room for n_outputs, or is NULL; it is written with NONE and
 * OUTPUT_INSUFFICIENT_SIZE (P-31). NONE, and the caller owns *ret (nnb_execution_end); or another status.
 */
NNB_PUBLIC enum nnb_status nnb_execution_begin(struct nnb_prepared *prepared, const struct nnb_request *request,
                                               struct nnb_mapping *const *mappings, bool fenced,
                                               struct nnb_output_shape *shapes, struct nnb_execution **ret,
                                               struct nnb_reason *reason);

/*
 * End this execution, finished or not, and begin another one on the same prepared model; cheaper than end and begin. If
 * this fails, the caller must still call nnb_execution_end.
 */
NNB_PUBLIC enum nnb_status nnb_execution_again(struct nnb_execution *execution, const struct nnb_request *request,
                                               struct nnb_mapping *const *mappings, bool fenced,
                                               struct nnb_output_shape *shapes, struct nnb_reason *reason);

/*
 * Run from the next operation on. Before each operation except the first of this call, the library calls @checkpoint
 * (may be NULL); if it returns false, the execution is parked and *finished is false. NONE, or the status of a
 * failure. A finished or failed execution cannot run again.
 */
NNB_PUBLIC enum nnb_status nnb_execution_run(struct nnb_execution *execution,
                                             bool (*checkpoint)(void *arg, uint32_t next_op), void *arg,
                                             bool *finished);

/*
 * Start over: the next nnb_execution_run begins with the first operation (preemption by restart). GENERAL_FAILURE for a
 * finished execution that used buffers (nnb/buffer.h), because it has released them.
 */
NNB_PUBLIC enum nnb_status nnb_execution_restart(struct nnb_execution *execution);

NNB_PUBLIC uint32_t nnb_execution_next_op(const struct nnb_execution *execution);

/* End the execution, finished or not, and release everything. NULL is fine. Returns NULL. */
NNB_PUBLIC struct nnb_execution *nnb_execution_end(struct nnb_execution *execution);

/* Begin, run and end in one call. */
NNB_PUBLIC enum nnb_status nnb_execute(struct nnb_prepared *prepared, const struct nnb_request *request,
                                       struct nnb_output_shape *shapes, struct nnb_reason *reason);

NNB_END_DECLS

#endif
