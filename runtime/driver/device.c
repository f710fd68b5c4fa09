/*
 * device.c -- devices: finding a driver, opening it, and querying it.
 *
 * CONCURRENCY  A device has a reference count; a thread with a reference may call any function. The lock orders
 *              switching the fast state, and nothing else.
 * TRUST        A driver is code: it is loaded from beside this library, or from the path that the caller gives.
 */
#include "driver/device.h"

#include <assert.h>
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/beside.h"
#include "model/cost.h"
#include "model/reason.h"

enum { FILE_BYTES = NNB_NAME_MAX + 16 };

/* ---- finding a driver ---- */

/* The file and the symbol that @name stands for: "null" or "PATH/driver-null.so" is nnb_driver_null. */
static int driver_locate(const char *name, char path[NNB__PATH_BYTES], char symbol[FILE_BYTES])
{
	const char *slash = strrchr(name, '/'), *base = slash ? slash + 1 : name;
	char file[FILE_BYTES];
	size_t stem;
	int n, r = 0;

	if (slash) {
		if (strncmp(base, "driver-", 7) != 0)
			return -ELIBACC;
		base += 7;
		n = snprintf(path, NNB__PATH_BYTES, "%s", name);
		r = n < 0 || n >= NNB__PATH_BYTES ? -ENAMETOOLONG : 0;
	} else {
		n = snprintf(file, sizeof(file), "driver-%s.so", name);
		r = n < 0 || (size_t)n >= sizeof(file) ? -ENAMETOOLONG : nnb__path_beside(file, path);
	}
	stem = strcspn(base, ".");
	if (!r && (stem == 0 || stem >= NNB_NAME_MAX))
		r = -ENAMETOOLONG;
	if (!r)
		snprintf(symbol, FILE_BYTES, "nnb_driver_%.*s", (int)stem, base);
	return r;
}

static int driver_load(struct nnb_device *d, const char *name, struct nnb_reason *reason)
{
	char path[NNB__PATH_BYTES], symbol[FILE_BYTES];
	int r = driver_locate(name, path, symbol);

	if (r) {
		nnb_because(reason, "'%s' names no driver: a name, or a PATH/driver-NAME.so", name);
		return r;
	}
	if (access(path, R_OK) < 0) {
		r = -errno;
		nnb_because(reason, "no driver '%s': %s: %s", name, path, strerror(-r));
		return r;
	}
	/* Once there, it stays: threads of its libraries may outlive the device. */
	d->object = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
	if (!d->object) {
		nnb_because(reason, "%s", dlerror());
		return -ELIBACC;
	}
	d->driver = dlsym(d->object, symbol);
	if (!d->driver) {
		nnb_because(reason, "%s is no driver: it has no %s", path, symbol);
		return -ELIBACC;
	}
	if (d->driver->abi != NNB_DRIVER_ABI) {
		nnb_because(reason, "%s is for driver interface %u; this is %d", path, d->driver->abi, NNB_DRIVER_ABI);
		return -ELIBACC;
	}
	return 0;
}

/* ---- devices ---- */

static void device_free(struct nnb_device *d)
{
	if (d->handle)
		d->driver->close(d->handle);
	if (d->object)
		dlclose(d->object);
	pthread_mutex_destroy(&d->lock);
	nnb__buffers_fini(&d->buffers);
	nnb__past_fini(&d->past);
	explicit_bzero(d->key, sizeof(d->key));
	free(d);
}

int nnb_device_open(struct nnb_device **ret, const char *name, struct nnb_reason *reason)
{
	struct nnb_device *d = calloc(1, sizeof(*d));
	int r;

	if (!d)
		return -ENOMEM;
	pthread_mutex_init(&d->lock, NULL);
	nnb__buffers_init(&d->buffers);
	nnb__past_init(&d->past);
	atomic_init(&d->refs, 1);
	r = driver_load(d, name, reason);
	if (!r && getrandom(d->key, sizeof(d->key), 0) != sizeof(d->key)) {
		r = -EIO;
		nnb_because(reason, "the kernel gives no random key");
	}
	if (!r) {
		r = d->driver->open(&d->handle);
		if (r)
			nnb_because(reason, "driver %s: cannot open the device: %s", d->driver->name, strerror(-r));
	}
	if (r) {
		device_free(d);
		return r;
	}
	*ret = d;
	return 0;
}

struct nnb_device *nnb__device_ref(struct nnb_device *d)
{
	atomic_fetch_add_explicit(&d->refs, 1, memory_order_relaxed);
	return d;
}

struct nnb_device *nnb_device_unref(struct nnb_device *d)
{
	/* acq_rel: what others did with the device comes before it is freed */
	unsigned had = d ? atomic_fetch_sub_explicit(&d->refs, 1, memory_order_acq_rel) : 0;

	assert(!d || had > 0);
	if (had == 1)
		device_free(d);
	return NULL;
}

const char *nnb_device_name(const struct nnb_device *d)
{
	return d->driver->name;
}

const char *nnb_device_version(const struct nnb_device *d)
{
	return d->driver->version;
}

void nnb_device_capabilities(struct nnb_device *d, struct nnb_capabilities *ret)
{
	d->driver->capabilities(d->handle, ret);
}

void nnb_device_cache_key(struct nnb_device *d, const uint8_t key[NNB_KEY_BYTES])
{
	memcpy(d->key, key, NNB_KEY_BYTES);
}

void nnb_device_limit_work(struct nnb_device *d, uint64_t ns)
{
	d->work_ns = ns;
}

enum nnb_status nnb__device_affords(const struct nnb_device *d, const struct nnb__graph *g,
                                    const struct nnb_shape *shapes, struct nnb_reason *reason)
{
	uint64_t ns = d->work_ns ? nnb__model_cost(&g->seen, shapes) : 0;

	if (ns <= d->work_ns)
		return NNB_STATUS_NONE;
	if (ns == UINT64_MAX)
		nnb_because(reason, "an execution would take centuries; at most %.3g s may be asked for (limit work)",
		            (double)d->work_ns / 1e9);
	else
		nnb_because(reason, "an execution would take some %.3g s; at most %.3g s may be asked for (limit work)",
		            (double)ns / 1e9, (double)d->work_ns / 1e9);
	return NNB_STATUS_RESOURCE_EXHAUSTED_PERSISTENT;
}

static void device_hold(struct nnb_device *d, bool on)
{
	bool edge;

	pthread_mutex_lock(&d->lock);
	assert(on || d->holds > 0);
	edge = on ? d->holds++ == 0 : --d->holds == 0;
	if (edge && d->driver->performance)
		d->driver->performance(d->handle, on);
	pthread_mutex_unlock(&d->lock);
}

void nnb_device_hold_performance(struct nnb_device *d)
{
	device_hold(d, true);
}

void nnb_device_release_performance(struct nnb_device *d)
{
	device_hold(d, false);
}

enum nnb_status nnb_device_supported(struct nnb_device *d, const struct nnb_model *model, bool *ret,
                                     struct nnb_reason *reason)
{
	__attribute__((cleanup(nnb__graph_freep))) struct nnb__graph *g = NULL;
	enum nnb_status status = nnb__graph_new(&g, model, reason);

	if (status)
		return status;
	status = d->driver->supported(d->handle, &g->seen, ret);
	for (uint32_t i = 0; !status && i < model->n_operations; i++)
		ret[i] = ret[i] && nnb__graph_mapped(g, i);
	return status;
}
