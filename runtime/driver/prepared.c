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
#include "driver/execution.h"
#include "fmq/sys.h"
#include "model/reason.h"
#include "model/status.h"

enum { PREFERENCE_MAX = 2, PRIORITY_MAX = 2 };

static void prepared_free(struct nnb_prepared *p)
{
	nnb__executions_free(p);
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

const struct nnb_prepare *nnb_prepared_how(const struct nnb_prepared *p)
{
	return &p->how;
}

void nnb__prepared_own(struct nnb_prepared *p, uint32_t owner)
{
	p->owner = owner;
}

const struct nnb_model *nnb_prepared_model(const struct nnb_prepared *p)
{
	return p->model;
}

uint64_t nnb__prepared_map_ns(const struct nnb_prepared *p, uint32_t pool)
{
	return p->graph->map_ns[pool];
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

/* ---- deadlines (Q-13, Q-26) ---- */

struct haste {
	uint64_t deadline; /* 0: none */
	uint64_t budget;   /* how much time there was at first; 0: none */
	uint64_t cpu;
};

static struct haste make_haste(uint64_t deadline)
{
	struct haste h = { .deadline = deadline };
	uint64_t now = deadline ? nnb__now() : 0;

	if (now < deadline) {
		h.budget = deadline - now;
		h.cpu = nnb__cpu_now();
	}
	return h;
}

/*
 * Is there any time left? If not: what has taken this much of the cpu, less a half for bad luck, will never be in time.
 * Where that is not so yet, one has to go on to see what it takes in all, and so what to say.
 */
static enum nnb_status in_time(const struct haste *h, bool done, struct nnb_reason *reason)
{
	if (!h->deadline || nnb__now() < h->deadline)
		return NNB_STATUS_NONE;
	if (!h->budget) {
		nnb_because(reason, "the deadline has passed");
		return NNB_STATUS_MISSED_DEADLINE_PERSISTENT;
	}
	if ((nnb__cpu_now() - h->cpu) / 2 > h->budget) {
		nnb_because(reason, "to prepare the model takes longer than until the deadline, even alone");
		return NNB_STATUS_MISSED_DEADLINE_PERSISTENT;
	}
	if (!done)
		return NNB_STATUS_NONE;
	nnb_because(reason, "the deadline passed while the model was prepared");
	return NNB_STATUS_MISSED_DEADLINE_TRANSIENT;
}

/* ---- preparing ---- */

static struct nnb_prepared *prepared_blank(struct nnb_device *d, struct nnb_model *taken)
{
	static atomic_uint_least64_t last;
	struct nnb_prepared *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	atomic_init(&p->refs, 1);
	p->id = atomic_fetch_add_explicit(&last, 1, memory_order_relaxed) + 1;
	pthread_mutex_init(&p->lock, NULL);
	p->device = nnb__device_ref(d);
	p->model = taken;
	return p;
}

/* Prepare @model, which with NONE is taken. @account may be NULL. */
static enum nnb_status prepare_taken(struct nnb_device *d, struct nnb_model *model, const struct nnb_prepare *how,
                                     const struct nnb_account *account, const struct haste *haste,
                                     struct nnb_prepared **ret, struct nnb_reason *reason)
{
	__attribute__((cleanup(prepared_unrefp))) struct nnb_prepared *p = prepared_blank(d, model);
	enum nnb_status status;

	if (!p) {
		nnb_because(reason, "no memory for the prepared model");
		return NNB_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
	}
	p->how = *how;
	p->how.deadline_ns = 0;
	status = nnb__graph_new(&p->graph, p->model, reason);
	if (!status && account)
		p->graph->seen.account = *account;
	if (!status)
		status = pools_mapped(p->graph, reason);
	if (!status)
		status = in_time(haste, false, reason);
	if (!status)
		status = d->driver->prepare(d->handle, &p->graph->seen, how, &p->handle, reason);
	if (!status)
		status = pools_whole(p->graph, reason);
	if (!status)
		status = in_time(haste, true, reason);
	if (status) {
		p->model = NULL;
		return status;
	}
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

static enum nnb_status check_all(const struct nnb_model *model, const struct nnb_prepare *how,
                                 const struct haste *haste, struct nnb_reason *reason)
{
	enum nnb_status status = check_how(how, reason);

	if (!status)
		status = nnb_model_validate(model, reason);
	return status ? status : in_time(haste, false, reason);
}

enum nnb_status nnb__prepare_for(struct nnb_device *d, struct nnb_model *model, const struct nnb_prepare *how,
                                 const struct nnb_cache *cache, const struct nnb_account *account,
                                 struct nnb_prepared **ret, struct nnb_reason *reason)
{
	struct haste haste = make_haste(how->deadline_ns);
	enum nnb_status status = check_all(model, how, &haste, reason);

	if (!status)
		status = prepare_taken(d, model, how, account, &haste, ret, reason);
	if (!status && cache)
		nnb__cache_save(*ret, cache, NULL); /* O-22: never makes this fail */
	return status;
}

enum nnb_status nnb_prepare(struct nnb_device *d, const struct nnb_model *model, const struct nnb_prepare *how,
                            const struct nnb_cache *cache, struct nnb_prepared **ret, struct nnb_reason *reason)
{
	struct haste haste = make_haste(how->deadline_ns);
	enum nnb_status status = check_all(model, how, &haste, reason); /* only what is valid can be copied */
	struct nnb_prepared *p = NULL;
	struct nnb_model *copy;
	int r;

	if (status)
		return status;
	r = nnb_model_copy(&copy, model);
	if (r) {
		nnb_because(reason, "cannot copy the model: %s", strerror(-r));
		return NNB_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
	}
	status = prepare_taken(d, copy, how, NULL, &haste, &p, reason);
	if (status) {
		nnb_model_free(copy);
		return status;
	}
	if (cache)
		nnb__cache_save(p, cache, NULL); /* O-22: never makes this fail */
	*ret = p;
	return NNB_STATUS_NONE;
}

enum nnb_status nnb__prepare_from_cache_for(struct nnb_device *d, uint64_t deadline_ns, const struct nnb_cache *cache,
                                            const struct nnb_account *account, struct nnb_prepared **ret,
                                            struct nnb_reason *reason)
{
	struct nnb_prepare how = { 0 };
	struct haste haste = make_haste(deadline_ns);
	enum nnb_status status = in_time(&haste, false, reason);
	struct nnb_model *model;

	if (!status)
		status = nnb__cache_load(d, cache, &model, &how, reason);
	if (status)
		return status;
	status = prepare_taken(d, model, &how, account, &haste, ret, reason);
	if (status)
		nnb_model_free(model);
	/* An entry of ours holds a model that could be prepared. If it no longer can, it is no good (O-22), unless it is
	 * only time or memory that there is too little of. */
	return status && nnb__status_of_1_2(status) == status ? NNB_STATUS_GENERAL_FAILURE : status;
}

enum nnb_status nnb_prepare_from_cache(struct nnb_device *d, uint64_t deadline_ns, const struct nnb_cache *cache,
                                       struct nnb_prepared **ret, struct nnb_reason *reason)
{
	return nnb__prepare_from_cache_for(d, deadline_ns, cache, NULL, ret, reason);
}
