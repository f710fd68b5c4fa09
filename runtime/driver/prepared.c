/*
 * prepared.c -- prepared models: from a model, or from a cache entry.
 *
 * The library aborts a preparation when its caller cancels it, or when its deadline has passed: the library checks
 * both (patience.h) in its own loops, and the driver in its own.
 *
 * CONCURRENCY  A prepared model has a reference count, and holds its device; a thread with a reference may call any
 *              function. Its lock guards the list of idle executions. No lock is held while a model is prepared.
 * TRUST        The model was validated before it is copied, and the copy is validated before it is used; its pools
 *              stay untrusted.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/close.h"
#include "base/sys.h"
#include "driver/device.h"
#include "driver/execution.h"
#include "model/patience.h"
#include "model/reason.h"
#include "model/status.h"

enum { PREFERENCE_MAX = 2, PRIORITY_MAX = 2 };

struct nnb_prepared *nnb_prepared_ref(struct nnb_prepared *p)
{
	atomic_fetch_add_explicit(&p->refs, 1, memory_order_relaxed);
	return p;
}

struct nnb_prepared *nnb_prepared_unref(struct nnb_prepared *p)
{
	unsigned had;

	if (!p)
		return NULL;
	had = atomic_fetch_sub_explicit(&p->refs, 1, memory_order_acq_rel);
	assert(had > 0);
	if (had == 1) {
		nnb__executions_free(p);
		if (p->handle)
			p->device->driver->release(p->handle);
		nnb__graph_free(p->graph);
		nnb_model_free(p->model);
		nnb_device_unref(p->device);
		pthread_mutex_destroy(&p->lock);
		free(p);
	}
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
	assert(pool < p->model->n_pools);
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

/* Fail if a pool was truncated while it was read: then its bytes are not the model's. */
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

#define GRACE_NS UINT64_C(3000000)

struct haste {
	uint64_t deadline; /* 0: no deadline */
	uint64_t budget;   /* time until the deadline when the preparation began; 0: no deadline */
	uint64_t cpu;      /* CPU time of the thread when the preparation began */
	uint64_t late_cpu; /* the same when a check first found the deadline passed; 0: not yet */
	const struct nnb_look *callers;
	struct nnb__patience outer; /* the callback that this thread had before */
	struct nnb_look look;       /* the driver's */
	enum nnb_status ended;      /* the status with which the preparation must end; NONE: it continues */
	const char *why;
};

static enum nnb_status haste_stop(struct haste *h, enum nnb_status status, const char *why)
{
	assert(status && !h->ended); /* the first reason stays */
	h->ended = status;
	h->why = why;
	return status;
}

/*
 * Returns NONE if the preparation may continue. A deadline that has passed is a permanent miss if half of the CPU
 * time so far exceeds the time that there was: the preparation would be late even on an idle machine. Otherwise the
 * preparation continues for GRACE_NS of CPU time at most, because its whole CPU time may still show that. Then the
 * miss is transient.
 */
static enum nnb_status in_time(struct haste *h, bool done)
{
	uint64_t cpu;

	if (h->ended || !h->deadline || nnb__now() < h->deadline)
		return h->ended;
	if (!h->budget)
		return haste_stop(h, NNB_STATUS_MISSED_DEADLINE_PERSISTENT, "the deadline has passed");
	cpu = nnb__cpu_now();
	if ((cpu - h->cpu) / 2 > h->budget)
		return haste_stop(h, NNB_STATUS_MISSED_DEADLINE_PERSISTENT,
		                  "to prepare the model takes longer than until the deadline, even alone");
	if (!h->late_cpu)
		h->late_cpu = cpu;
	if (!done && cpu - h->late_cpu < GRACE_NS)
		return NNB_STATUS_NONE;
	return haste_stop(h, NNB_STATUS_MISSED_DEADLINE_TRANSIENT, "the deadline passed while the model was prepared");
}

static bool is_wanted(const struct haste *h)
{
	if (h->callers && h->callers->goes_on && !h->callers->goes_on(h->callers->arg))
		return false;
	return !h->outer.goes_on || h->outer.goes_on(h->outer.arg);
}

/* The library and the driver call this during long work: must the preparation continue? */
static bool haste_goes_on(void *arg)
{
	struct haste *h = arg;

	if (!h->ended && !is_wanted(h))
		haste_stop(h, NNB_STATUS_GENERAL_FAILURE, "the caller ended the preparation");
	return !in_time(h, false);
}

/* Until haste_end, checks of this thread and of the driver ask @h. */
static void haste_begin(struct haste *h, uint64_t deadline, const struct nnb_look *callers)
{
	uint64_t now = deadline ? nnb__now() : 0;

	*h = (struct haste){ .deadline = deadline, .callers = callers, .look = { haste_goes_on, h } };
	h->cpu = nnb__cpu_now();
	if (now < deadline)
		h->budget = deadline - now;
	h->outer = nnb__patience_begin(haste_goes_on, h);
}

/*
 * Restore the thread's callback. Returns @status or, if the preparation was given up, the status of that, with its
 * reason.
 */
static enum nnb_status haste_end(const struct haste *h, enum nnb_status status, struct nnb_reason *reason)
{
	nnb__patience_end(&h->outer);
	if (!status || !h->ended)
		return status;
	nnb_because(reason, "%s", h->why);
	return h->ended;
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
                                     const struct nnb_account *account, struct haste *haste, struct nnb_prepared **ret,
                                     struct nnb_reason *reason)
{
	__attribute__((cleanup(prepared_unrefp))) struct nnb_prepared *p = prepared_blank(d, model);
	struct nnb_prepare asked = *how;
	uint64_t kind = nnb__past_kind(model);
	enum nnb_status status;

	/* Refuse the preparation if earlier preparations of this kind of model took longer than its deadline allows. */
	if (!haste->ended && haste->budget && nnb__past_refuses(&d->past, kind, haste->budget))
		haste_stop(haste, NNB_STATUS_MISSED_DEADLINE_PERSISTENT,
		           "to prepare such a model has taken longer than until the deadline");
	if (haste->ended) {
		if (p)
			p->model = NULL;
		return haste->ended;
	}
	if (!p) {
		nnb_because(reason, "no memory for the prepared model");
		return NNB_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
	}
	asked.look = &haste->look;
	p->how = *how;
	p->how.deadline_ns = 0;
	p->how.look = NULL;
	status = nnb__graph_new(&p->graph, p->model, reason);
	if (!status)
		p->graph->seen.id = p->id;
	if (!status && account)
		p->graph->seen.account = *account;
	if (!status)
		status = pools_mapped(p->graph, reason);
	if (!status)
		status = nnb__device_affords(d, p->graph, p->graph->shapes, reason);
	if (!status)
		status = in_time(haste, false);
	if (!status)
		status = d->driver->prepare(d->handle, &p->graph->seen, &asked, &p->handle, reason);
	if (!status)
		status = pools_whole(p->graph, reason);
	if (!status)
		status = in_time(haste, true);
	if (status) {
		p->model = NULL;
		return status;
	}
	nnb__past_learn(&d->past, kind, nnb__cpu_now() - haste->cpu);
	for (uint32_t i = 0; i < p->model->n_pools; i++) /* all pools are mapped now */
		for (uint32_t k = 0; k < p->model->pools[i].n_fds; k++) {
			nnb__close(p->model->pools[i].fds[k]);
			p->model->pools[i].fds[k] = -1;
		}
	*ret = p;
	p = NULL;
	return NNB_STATUS_NONE;
}

static enum nnb_status check_all(const struct nnb_model *model, const struct nnb_prepare *how, struct haste *haste,
                                 struct nnb_reason *reason)
{
	enum nnb_status status;

	if (how->preference > PREFERENCE_MAX) {
		nnb_because(reason, "%u is no execution preference", how->preference);
		return NNB_STATUS_INVALID_ARGUMENT;
	}
	if (how->priority > PRIORITY_MAX) { /* */
		nnb_because(reason, "%u is no priority", how->priority);
		return NNB_STATUS_INVALID_ARGUMENT;
	}
	status = nnb_model_validate(model, reason);
	return status ? status : in_time(haste, false);
}

/* The model is prepared, and in time: only the caller ends this, which never makes a preparation fail (O-22). */
static void prepared_save(const struct nnb_prepared *p, const struct nnb_prepare *how, const struct nnb_cache *cache)
{
	struct haste haste;

	if (!cache)
		return;
	haste_begin(&haste, 0, how->look);
	nnb__cache_save(p, cache, NULL);
	haste_end(&haste, NNB_STATUS_NONE, NULL);
}

enum nnb_status nnb__prepare_for(struct nnb_device *d, struct nnb_model *model, const struct nnb_prepare *how,
                                 const struct nnb_cache *cache, const struct nnb_account *account,
                                 struct nnb_prepared **ret, struct nnb_reason *reason)
{
	struct haste haste;
	enum nnb_status status;

	haste_begin(&haste, how->deadline_ns, how->look);
	status = check_all(model, how, &haste, reason);
	if (!status)
		status = prepare_taken(d, model, how, account, &haste, ret, reason);
	status = haste_end(&haste, status, reason);
	if (!status)
		prepared_save(*ret, how, cache);
	return status;
}

/* Prepare a copy of @model. */
static enum nnb_status prepare_copy(struct nnb_device *d, const struct nnb_model *model, const struct nnb_prepare *how,
                                    struct haste *haste, struct nnb_prepared **ret, struct nnb_reason *reason)
{
	enum nnb_status status = check_all(model, how, haste, reason); /* only what is valid can be copied */
	struct nnb_model *copy;
	int r;

	if (status)
		return status;
	r = nnb_model_copy(&copy, model);
	if (r) {
		nnb_because(reason, "cannot copy the model: %s", strerror(-r));
		return NNB_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
	}
	status = prepare_taken(d, copy, how, NULL, haste, ret, reason);
	if (status)
		nnb_model_free(copy);
	return status;
}

enum nnb_status nnb_prepare(struct nnb_device *d, const struct nnb_model *model, const struct nnb_prepare *how,
                            const struct nnb_cache *cache, struct nnb_prepared **ret, struct nnb_reason *reason)
{
	struct nnb_prepared *p = NULL;
	enum nnb_status status;
	struct haste haste;

	haste_begin(&haste, how->deadline_ns, how->look);
	status = haste_end(&haste, prepare_copy(d, model, how, &haste, &p, reason), reason);
	if (status)
		return status;
	prepared_save(p, how, cache);
	*ret = p;
	return NNB_STATUS_NONE;
}

enum nnb_status nnb__prepare_from_cache_for(struct nnb_device *d, uint64_t deadline_ns, const struct nnb_cache *cache,
                                            const struct nnb_account *account, struct nnb_prepared **ret,
                                            struct nnb_reason *reason)
{
	struct nnb_prepare how = { 0 };
	struct nnb_model *model;
	enum nnb_status status;
	struct haste haste;

	haste_begin(&haste, deadline_ns, NULL);
	status = in_time(&haste, false);
	if (!status)
		status = nnb__cache_load(d, cache, &model, &how, reason);
	if (!status) {
		status = prepare_taken(d, model, &how, account, &haste, ret, reason);
		if (status)
			nnb_model_free(model);
	}
	status = haste_end(&haste, status, reason);
	/* The entry holds a model that could be prepared once. If that fails now, the entry is of no use (O-22),
	 * unless only time or memory is short. */
	return status && nnb__status_of_1_2(status) == status ? NNB_STATUS_GENERAL_FAILURE : status;
}

enum nnb_status nnb_prepare_from_cache(struct nnb_device *d, uint64_t deadline_ns, const struct nnb_cache *cache,
                                       struct nnb_prepared **ret, struct nnb_reason *reason)
{
	return nnb__prepare_from_cache_for(d, deadline_ns, cache, NULL, ret, reason);
}

/* ---- bursts ---- */

bool nnb__device_opens(const struct nnb_device *d, const struct nnb_memory *memory)
{
	return d->driver->hardware_buffer_open && nnb_memory_kind(memory) == NNB_MEMORY_HARDWARE_BUFFER;
}

bool nnb__prepared_opens(const struct nnb_prepared *p, const struct nnb_memory *memory)
{
	return nnb__device_opens(p->device, memory);
}

void nnb__burst_context_begin(struct nnb__burst_context *ret, struct nnb_prepared *p)
{
	const struct nnb_driver *driver = p->device->driver;

	nnb_device_hold_performance(p->device);
	if (!driver->burst_new || driver->burst_new(p->handle, &ret->driver))
		ret->driver = NULL;
}

void nnb__burst_context_end(struct nnb__burst_context *context, struct nnb_prepared *p)
{
	if (context->driver)
		p->device->driver->burst_free(context->driver);
	context->driver = NULL;
	nnb_device_release_performance(p->device);
}
