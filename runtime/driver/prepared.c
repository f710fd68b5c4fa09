/*
 * prepared.c -- prepared models: from a model, or from a cache entry.
 *
 * CONCURRENCY  A prepared model is counted, and holds its device; whoever holds a count may call from any thread. Its
 *              lock guards the list of idle executions. No lock is held while a model is prepared.
 * TRUST        The model was validated before it is copied, and the copy is validated before it is used; its pools
 *              stay a stranger's.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "driver/device.h"
#include "model/reason.h"

enum { PREFERENCE_MAX = 2, PRIORITY_MAX = 2 };

static void prepared_free(struct nnb_prepared *p)
{
	nnb__executions_free(p->idle);
	if (p->handle)
		p->device->driver->release(p->handle);
	nnb__graph_free(p->graph);
	nnb_model_free(p->model);
	nnb_device_unref(p->device);
	pthread_mutex_destroy(&p->lock);
	free(p);
}

struct nnb_prepared *nnb_prepared_ref(struct nnb_prepared *p)
{
	atomic_fetch_add_explicit(&p->refs, 1, memory_order_relaxed);
	return p;
}

struct nnb_prepared *nnb_prepared_unref(struct nnb_prepared *p)
{
	if (p && atomic_fetch_sub_explicit(&p->refs, 1, memory_order_acq_rel) == 1)
		prepared_free(p);
	return NULL;
}

static void prepared_unrefp(struct nnb_prepared **p)
{
	nnb_prepared_unref(*p);
}

const struct nnb_model *nnb_prepared_model(const struct nnb_prepared *p)
{
	return p->model;
}

/* P-13: every pool must be there, used or not. */
static enum nnb_status pools_mapped(const struct nnb__graph *g, struct nnb_reason *reason)
{
	for (uint32_t i = 0; i < g->model->n_pools; i++)
		if (!g->mappings[i]) {
			nnb_because(reason, "pool %u (%s) cannot be mapped", i, g->model->pools[i].name);
			return NNB_STATUS_GENERAL_FAILURE;
		}
	return NNB_STATUS_NONE;
}

/* What lay in a pool that was cut short while it was read is not the model. */
static enum nnb_status pools_whole(const struct nnb__graph *g, struct nnb_reason *reason)
{
	for (uint32_t i = 0; i < g->model->n_pools; i++)
		if (nnb_mapping_torn(g->mappings[i], 0)) {
			nnb_because(reason, "pool %u was cut short while the model was prepared", i);
			return NNB_STATUS_GENERAL_FAILURE;
		}
	return NNB_STATUS_NONE;
}

static struct nnb_prepared *prepared_blank(struct nnb_device *d, struct nnb_model *taken)
{
	struct nnb_prepared *p = calloc(1, sizeof(*p));

	if (!p) {
		nnb_model_free(taken);
		return NULL;
	}
	atomic_init(&p->refs, 1);
	pthread_mutex_init(&p->lock, NULL);
	p->device = nnb__device_ref(d);
	p->model = taken;
	return p;
}

enum nnb_status nnb__prepare_taken(struct nnb_device *d, struct nnb_model *model, const struct nnb_prepare *how,
                                   struct nnb_prepared **ret, struct nnb_reason *reason)
{
	__attribute__((cleanup(prepared_unrefp))) struct nnb_prepared *p = prepared_blank(d, model);
	enum nnb_status status;

	if (!p) {
		nnb_because(reason, "no memory for the prepared model");
		return NNB_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
	}
	status = nnb__graph_new(&p->graph, p->model, reason);
	if (!status)
		status = pools_mapped(p->graph, reason);
	if (!status)
		status = d->driver->prepare(d->handle, &p->graph->seen, how, &p->handle, reason);
	if (!status)
		status = pools_whole(p->graph, reason);
	if (status)
		return status;
	for (uint32_t i = 0; i < p->model->n_pools; i++) /* mapped: the fds have done their duty */
		for (uint32_t k = 0; k < p->model->pools[i].n_fds; k++) {
			close(p->model->pools[i].fds[k]);
			p->model->pools[i].fds[k] = -1;
		}
	*ret = p;
	p = NULL;
	return NNB_STATUS_NONE;
}

static enum nnb_status check_how(const struct nnb_prepare *how, struct nnb_reason *reason)
{
	if (how->preference > PREFERENCE_MAX) {
		nnb_because(reason, "%u is no execution preference", how->preference);
		return NNB_STATUS_INVALID_ARGUMENT;
	}
	if (how->priority > PRIORITY_MAX) { /* */
		nnb_because(reason, "%u is no priority", how->priority);
		return NNB_STATUS_INVALID_ARGUMENT;
	}
	return NNB_STATUS_NONE;
}

enum nnb_status nnb_prepare(struct nnb_device *d, const struct nnb_model *model, const struct nnb_prepare *how,
                            const struct nnb_cache *cache, struct nnb_prepared **ret, struct nnb_reason *reason)
{
	enum nnb_status status = check_how(how, reason);
	struct nnb_prepared *p = NULL;
	struct nnb_model *copy;
	int r;

	if (!status)
		status = nnb_model_validate(model, reason); /* only what is valid can be copied */
	if (status)
		return status;
	r = nnb_model_copy(&copy, model);
	if (r) {
		nnb_because(reason, "cannot copy the model: %s", strerror(-r));
		return NNB_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
	}
	status = nnb__prepare_taken(d, copy, how, &p, reason);
	if (status)
		return status;
	if (cache)
		nnb__cache_save(p, cache, NULL); /* O-22: never makes this fail */
	*ret = p;
	return NNB_STATUS_NONE;
}

enum nnb_status nnb_prepare_from_cache(struct nnb_device *d, const struct nnb_prepare *how,
                                       const struct nnb_cache *cache, struct nnb_prepared **ret,
                                       struct nnb_reason *reason)
{
	enum nnb_status status = check_how(how, reason);
	struct nnb_model *model;

	if (status)
		return status;
	status = nnb__cache_load(d, cache, &model, reason);
	if (status)
		return status;
	/* An entry of ours holds a model that could be prepared. If it no longer can, it is no good: O-22. */
	return nnb__prepare_taken(d, model, how, ret, reason) ? NNB_STATUS_GENERAL_FAILURE : NNB_STATUS_NONE;
}
