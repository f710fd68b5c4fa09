/* device.h -- inside of devices and prepared models, for this folder only. */
#ifndef NNB_DRIVER_DEVICE_H
#define NNB_DRIVER_DEVICE_H

#include <pthread.h>
#include <stdatomic.h>

#include "driver/buffer.h"
#include "driver/past.h"
#include "model/graph.h"
#include "nnb/device.h"

struct nnb_device {
	atomic_uint refs;
	const struct nnb_driver *driver;
	void *handle; /* from the driver's open function */
	void *object; /* from dlopen */
	pthread_mutex_t lock;
	/* users of the fast state. The lock guards it, and orders the driver's calls that switch the state */
	unsigned holds;
	uint8_t key[NNB_KEY_BYTES];
	struct nnb__buffers buffers;
	struct nnb__past past;
	uint64_t work_ns; /* limit of the estimated time of an execution; 0: no limit */
};

struct nnb_prepared {
	atomic_uint refs;
	uint64_t id;    /* unique in the process */
	uint32_t owner; /* the owner whose buffers it may use */
	struct nnb_device *device;
	struct nnb_model *model; /* owned: a copy without its pools' fds */
	struct nnb_prepare how;  /* without its deadline */
	struct nnb__graph *graph;
	void *handle; /* the driver's */
	pthread_mutex_t lock;
	struct nnb_execution *idle; /* ended executions, kept to be begun again; under lock */
	unsigned n_idle;            /* under lock */
};

/* May an execution with these shapes run here? NONE; RESOURCE_EXHAUSTED_PERSISTENT: it would take too long. */
enum nnb_status nnb__device_affords(const struct nnb_device *device, const struct nnb__graph *graph,
                                    const struct nnb_shape *shapes, struct nnb_reason *reason);

struct nnb_device *nnb__device_ref(struct nnb_device *device);

/* Free the idle executions. */
void nnb__executions_free(struct nnb_prepared *prepared);

/* cache.c: save what was prepared, or get the model back, and how it was prepared. NONE or GENERAL_FAILURE. */
enum nnb_status nnb__cache_save(const struct nnb_prepared *prepared, const struct nnb_cache *cache,
                                struct nnb_reason *reason);
enum nnb_status nnb__cache_load(const struct nnb_device *device, const struct nnb_cache *cache, struct nnb_model **ret,
                                struct nnb_prepare *ret_how, struct nnb_reason *reason);

#endif
