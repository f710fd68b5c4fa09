/*
 * device.h -- devices, prepared models, executions: what runs a model.
 *
 * Any thread may call anything here, except that the calls on one nnb_execution are ordered by the caller.
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
	NNB_TOKEN_BYTES = 32,      /* of a cache token (O-22) */
	NNB_KEY_BYTES = 16,        /* of the key that cache entries are sealed with */
	NNB_MODEL_CACHE_FILES = 1, /* files of a cache entry: what the model is ... */
	NNB_DATA_CACHE_FILES = 1   /* ... and its constants */
};

/* ---- devices ---- */

struct nnb_device;

/*
 * Open the driver @name: "null", "xnnpack", or the path of a shared object (a name with a slash).
 * 0 and *ret owned; -ENOENT: there is none; -ELIBACC: the file is no driver, or of another ABI; or what the
 * driver's open said.
 */
NNB_PUBLIC int nnb_device_open(struct nnb_device **ret, const char *name, struct nnb_reason *reason);

/* Every prepared model holds the device. NULL is fine. Returns NULL. */
NNB_PUBLIC struct nnb_device *nnb_device_unref(struct nnb_device *device);

NNB_PUBLIC const char *nnb_device_name(const struct nnb_device *device);
NNB_PUBLIC const char *nnb_device_version(const struct nnb_device *device);
NNB_PUBLIC void nnb_device_capabilities(struct nnb_device *device, struct nnb_capabilities *ret);

/*
 * The key that this device's cache entries are sealed with. Without one it is random, and entries are good for as
 * long as the device is open. To be called before the first prepare.
 */
NNB_PUBLIC void nnb_device_cache_key(struct nnb_device *device, const uint8_t key[NNB_KEY_BYTES]);

/* Counted: the first hold switches the fast state on, the last release off (B-2). */
NNB_PUBLIC void nnb_device_hold_performance(struct nnb_device *device);
NNB_PUBLIC void nnb_device_release_performance(struct nnb_device *device);

/*
 * Which operations can run: one bool each. An operation is not supported either if a constant of it lies in a
 * pool that cannot be mapped (P-14). NONE; INVALID_ARGUMENT: the model is not valid.
 */
NNB_PUBLIC enum nnb_status nnb_device_supported(struct nnb_device *device, const struct nnb_model *model, bool *ret,
                                                struct nnb_reason *reason);

/*
 * Refuse executions that are estimated, from their shapes, to take more than @ns of one core alone, and models of which every
 * execution is: with RESOURCE_EXHAUSTED_PERSISTENT. 0: refuse none, as at first. Before anything else is done with the device.
 */
NNB_PUBLIC void nnb_device_limit_work(struct nnb_device *device, uint64_t ns);

/* ---- prepared models ---- */

struct nnb_prepared;

/* Where a cache entry is kept: open files, read-write to save, and their number as the caller believes it. */
struct nnb_cache {
	const int *model_files, *data_files;
	uint32_t n_model_files, n_data_files;
	uint8_t token[NNB_TOKEN_BYTES];
};

/*
 * Prepare a model; @cache, where it is not NULL, says where to save it too, and never makes this fail (O-22).
 * @model is borrowed for the call. NONE and *ret owned; else *ret is untouched: INVALID_ARGUMENT: the model or
 * @how is not valid, or an operation not supported; GENERAL_FAILURE: a pool cannot be mapped (P-13);
 * MISSED_DEADLINE_PERSISTENT: the deadline had passed before it began, or preparing alone takes longer than there was
 * time; MISSED_DEADLINE_TRANSIENT: it passed meanwhile; and others.
 */
NNB_PUBLIC enum nnb_status nnb_prepare(struct nnb_device *device, const struct nnb_model *model,
                                       const struct nnb_prepare *how, const struct nnb_cache *cache,
                                       struct nnb_prepared **ret, struct nnb_reason *reason);

/*
 * The same from what was saved, with the preference and the priority that it was saved with: who wants another
 * uses another token. @deadline_ns is as in nnb_prepare. GENERAL_FAILURE: the entry is missing, spoilt, or another's.
 */
NNB_PUBLIC enum nnb_status nnb_prepare_from_cache(struct nnb_device *device, uint64_t deadline_ns,
                                                  const struct nnb_cache *cache, struct nnb_prepared **ret,
                                                  struct nnb_reason *reason);

/*
 * Prepare from the entry of @token and @how in directory @dir; where there is none that is good, ordinarily, and then leave
 * one for the next time. What nnb_prepare says; *from_cache tells which it was.
 */
NNB_PUBLIC enum nnb_status nnb_prepare_cached(struct nnb_device *device, const struct nnb_model *model,
                                              const struct nnb_prepare *how, const char *dir,
                                              const uint8_t token[NNB_TOKEN_BYTES], struct nnb_prepared **ret,
                                              bool *from_cache, struct nnb_reason *reason);

/* The key in the file @path, which is made, for its owner only, if there is none. 0 or -errno. */
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
 * Begin an execution: validate, work out the shapes, bind. @mappings, where it is not NULL, holds a mapping for
 * each pool (a burst's cache has them already; NULL for tokens), borrowed until the execution has ended; otherwise the pools are mapped
 * for this execution.
 * @shapes, where it is not NULL, has room for n_outputs, and is written with NONE and OUTPUT_INSUFFICIENT_SIZE
 * (P-31). NONE and *ret owned (nnb_execution_end), or another status.
 */
NNB_PUBLIC enum nnb_status nnb_execution_begin(struct nnb_prepared *prepared, const struct nnb_request *request,
                                               struct nnb_mapping *const *mappings, bool fenced,
                                               struct nnb_output_shape *shapes, struct nnb_execution **ret,
                                               struct nnb_reason *reason);

/*
 * Begin another on the same prepared model, in place of this one, finished or not: as end and begin, for less. It is
 * to be ended even if this fails.
 */
NNB_PUBLIC enum nnb_status nnb_execution_again(struct nnb_execution *execution, const struct nnb_request *request,
                                               struct nnb_mapping *const *mappings, bool fenced,
                                               struct nnb_output_shape *shapes, struct nnb_reason *reason);

/*
 * Run from where it stands. Before each operation but the first of this call, @checkpoint (NULL: none) is asked;
 * if it answers false the run is parked and *finished is false. NONE, or the status it failed with; once it has
 * finished or failed there is nothing more to run.
 */
NNB_PUBLIC enum nnb_status nnb_execution_run(struct nnb_execution *execution,
                                             bool (*checkpoint)(void *arg, uint32_t next_op), void *arg,
                                             bool *finished);

/*
 * Forget what has run: the next nnb_execution_run begins with the first operation (preemption by restart). One that is
 * over, and had to do with buffers (nnb/buffer.h), has none any more: GENERAL_FAILURE.
 */
NNB_PUBLIC enum nnb_status nnb_execution_restart(struct nnb_execution *execution);

NNB_PUBLIC uint32_t nnb_execution_next_op(const struct nnb_execution *execution);

/* Release everything. Finished or not. NULL is fine. Returns NULL. */
NNB_PUBLIC struct nnb_execution *nnb_execution_end(struct nnb_execution *execution);

/* All of it at once: begin, run, end. */
NNB_PUBLIC enum nnb_status nnb_execute(struct nnb_prepared *prepared, const struct nnb_request *request,
                                       struct nnb_output_shape *shapes, struct nnb_reason *reason);

NNB_END_DECLS

#endif
