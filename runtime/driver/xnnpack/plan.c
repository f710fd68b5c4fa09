/*
 * plan.c -- the plans of a prepared model (plan.h).
 *
 * A plan keeps KEPT_RUNS frames and sets at most; the plans that were not used last keep KEPT_MAX bytes together.
 *
 * TRUST        A few bytes of model can ask for any amount of memory. The needs of a plan (temporaries, packed
 *              weights, XNNPACK's pointers) are added up before any of them is allocated, and too much is refused as
 *              larger than the device's memory. Plans, frames and sets are charged to the model's account for as
 *              long as they are there. If the account refuses, what is kept is freed, and the account is asked once
 *              more.
 * CONCURRENCY  The lock guards the list of plans and their lists. It is not held while a frame or a set is made or
 *              freed, nor while the account is asked. A frame or a set off its list has one user.
 */
#include "plan.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "arena.h"
#include "kernels/look.h"
#include "saturated.h"

enum {
	PLANS_MAX = 4,       /* limit of the plans kept for shapes that no run uses now */
	KEPT_MAX = 64 << 20, /* bytes of frames and sets that are kept for other shapes than those used last */
	KEPT_RUNS = 16       /* limit of the frames, and of the sets, that one plan keeps */
};

/* ---- making and unmaking; no lock is held ---- */

struct site nnbx_plan_site(const struct plan_frame *f, uint32_t op)
{
	struct site site = nnbx_site(f->plans->graph, f->plans->base, op, f->plan->shapes);

	site.at = f->at;
	site.scratch = (char *)f->arena + f->plan->scratch_at;
	return site;
}

static uint64_t set_bytes(const struct set *set)
{
	return set->bytes + set->tally.bytes;
}

static void set_free(const struct plans *p, struct set *set)
{
	uint64_t bytes;

	if (!set)
		return;
	bytes = set_bytes(set);
	for (uint32_t i = 0; i < p->graph->model->n_operations; i++)
		nnbx_step_fini(&set->steps[i]);
	free(set);
	nnbx_give_back(&p->graph->account, bytes);
}

static enum nnb_status set_new(struct set **ret, const struct plan_frame *f)
{
	const struct plans *p = f->plans;
	uint32_t n = p->graph->model->n_operations;
	uint64_t bytes = sizeof(struct set) + n * sizeof(struct step);
	enum nnb_status status = nnbx_charge(&p->graph->account, bytes);
	struct set *set;

	if (status)
		return status;
	set = calloc(1, bytes);
	if (!set) {
		nnbx_give_back(&p->graph->account, bytes);
		return NNB_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
	}
	set->bytes = bytes;
	set->tally.account = &p->graph->account;
	status = NNB_STATUS_NONE;
	nnbx_tally_begin(&set->tally);
	for (uint32_t i = 0; !status && i < f->plans->graph->model->n_operations; i++) {
		struct site site = nnbx_plan_site(f, i);

		if (!nnbx_worked(NNBX_STEP_UNITS))
			break;
		status = nnbx_step_init(&set->steps[i], &site);
	}
	nnbx_tally_end();
	if (!status && nnbx_work.stopped)
		status = NNB_STATUS_GENERAL_FAILURE;
	status = set->tally.refused ? set->tally.refused : status;
	if (status)
		set_free(p, set);
	else
		*ret = set;
	return status;
}

static void frame_free(struct plan_frame *f)
{
	const struct nnb_account *account;
	uint64_t bytes;

	if (!f)
		return;
	assert(!f->set);
	account = &f->plans->graph->account;
	bytes = f->bytes;
	if (f->arena != MAP_FAILED)
		nnbx_unmap(f->arena, f->arena_bytes);
	free(f);
	nnbx_give_back(account, bytes);
}

/* The caller sets the addresses of inputs and outputs. */
static enum nnb_status frame_new(struct plan_frame **ret, struct plans *p, struct plan *plan)
{
	const struct nnb_model *m = p->graph->model;
	uint64_t own = sizeof(struct plan_frame) + m->n_operands * sizeof(void *), bytes = own + plan->arena_bytes;
	enum nnb_status status = nnbx_charge(&p->graph->account, bytes);
	struct plan_frame *f;

	if (status)
		return status;
	f = calloc(1, own);
	if (!f) {
		nnbx_give_back(&p->graph->account, bytes);
		return NNB_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
	}
	f->plans = p;
	f->plan = plan;
	f->bytes = bytes;
	f->arena_bytes = plan->arena_bytes;
	f->arena = mmap(NULL, plan->arena_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (f->arena == MAP_FAILED) {
		frame_free(f);
		return NNB_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
	}
	for (uint32_t i = 0; i < m->n_operands; i++) {
		if (plan->offsets[i] != SIZE_MAX)
			f->at[i] = (char *)f->arena + plan->offsets[i];
		else
			f->at[i] = (void *)p->graph->constants[i];
	}
	*ret = f;
	return NNB_STATUS_NONE;
}

static void sets_free(const struct plans *p, struct set *set)
{
	while (set) {
		struct set *next = set->next;

		set_free(p, set);
		set = next;
	}
}

static void frames_free(struct plan_frame *f)
{
	while (f) {
		struct plan_frame *next = f->next;

		frame_free(f);
		f = next;
	}
}

static void plan_free(const struct plans *p, struct plan *plan)
{
	uint64_t bytes;

	if (!plan)
		return;
	assert(!plan->runs);
	bytes = plan->bytes;
	sets_free(p, plan->sets);
	frames_free(plan->frames);
	free(plan->shapes);
	free(plan->offsets);
	free(plan);
	nnbx_give_back(&p->graph->account, bytes);
}

static void plans_free(const struct plans *p, struct plan *plan)
{
	while (plan) {
		struct plan *next = plan->next;

		plan_free(p, plan);
		plan = next;
	}
}

/* Put room for the kernel that wants the most behind the temporaries. Returns all that the plan would need. */
static uint64_t plan_measure(const struct plans *p, struct plan *plan)
{
	const struct nnb_model *m = p->graph->model;
	uint64_t need = p->constants_bytes, scratch = 0;

	for (uint32_t i = 0; i < m->n_operations; i++) {
		struct site site = nnbx_site(p->graph, p->base, i, plan->shapes);
		uint64_t bytes = nnbx_step_scratch(&site);

		if (!nnbx_worked(NNBX_STEP_UNITS))
			return UINT64_MAX;
		need = saturated_sum(need, nnbx_step_bytes(&site));
		if (bytes > scratch)
			scratch = bytes;
	}
	plan->scratch_at = (plan->arena_bytes + NNBX_ALIGNMENT - 1) & ~(size_t)(NNBX_ALIGNMENT - 1);
	plan->arena_bytes = saturated_sum(plan->scratch_at + NNB_MAPPING_SLACK, scratch);
	return saturated_sum(need, plan->arena_bytes);
}

static enum nnb_status plan_new(struct plan **ret, const struct plans *p, const struct nnb_shape *shapes)
{
	uint32_t n = p->graph->model->n_operands;
	uint64_t bytes = sizeof(struct plan) + n * (sizeof(struct nnb_shape) + sizeof(size_t));
	enum nnb_status status = nnbx_charge(&p->graph->account, bytes);
	struct plan *plan;

	if (status)
		return status;
	status = NNB_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
	plan = calloc(1, sizeof(*plan));
	if (!plan) {
		nnbx_give_back(&p->graph->account, bytes);
		return status;
	}
	plan->bytes = bytes;
	plan->fixed = shapes == p->graph->shapes;
	plan->shapes = malloc(n * sizeof(*plan->shapes));
	plan->offsets = malloc(n * sizeof(*plan->offsets));
	if (plan->shapes && plan->offsets) {
		memcpy(plan->shapes, shapes, n * sizeof(*shapes));
		if (!nnbx_arena_plan(p->graph, shapes, plan->offsets, &plan->arena_bytes))
			status = plan_measure(p, plan) > nnbx_device_memory() ? NNB_STATUS_RESOURCE_EXHAUSTED_PERSISTENT
			                                                      : NNB_STATUS_NONE;
	}
	if (status)
		plan_free(p, plan);
	else
		*ret = plan;
	return status;
}

/* ---- plans; the lock is held ---- */

static bool plan_is_for(const struct plan *plan, const struct plans *p, const struct nnb_shape *shapes)
{
	if (plan->fixed && shapes == p->graph->shapes)
		return true;
	for (uint32_t i = 0; i < p->graph->model->n_operands; i++)
		if (!same_shape(&plan->shapes[i], &shapes[i]))
			return false;
	return true;
}

/* The plan for these shapes, moved to the front, or NULL. */
static struct plan *plan_find(struct plans *p, const struct nnb_shape *shapes)
{
	for (struct plan **at = &p->first, *plan; (plan = *at); at = &plan->next)
		if (plan_is_for(plan, p, shapes)) {
			*at = plan->next;
			plan->next = p->first;
			p->first = plan;
			return plan;
		}
	return NULL;
}

/*
 * Remove the least recently used plan from the list, if there are too many plans, or too much memory is kept for
 * them.
 */
static struct plan *plan_surplus(struct plans *p)
{
	struct plan **oldest = NULL, *plan;
	uint64_t kept = 0;
	unsigned idle = 0;

	for (struct plan **at = &p->first; *at; at = &(*at)->next) {
		if ((*at)->runs)
			continue;
		idle++;
		if (at == &p->first)
			continue;
		oldest = at;
		for (const struct plan_frame *f = (*at)->frames; f; f = f->next)
			kept += f->bytes;
		for (const struct set *set = (*at)->sets; set; set = set->next)
			kept += set_bytes(set);
	}
	if (!oldest || (idle <= PLANS_MAX && kept <= KEPT_MAX))
		return NULL;
	plan = *oldest;
	*oldest = plan->next;
	return plan;
}

/* Kept objects that were taken from all lists. */
struct kept {
	struct plan *plans;
	struct plan_frame *frames;
	struct set *sets;
};

/* Unlist all that no run is using: the plans, and of those that are used, what is on their lists. */
static struct kept plans_take_kept(struct plans *p)
{
	struct kept kept = { 0 };

	for (struct plan **at = &p->first, *plan; (plan = *at);) {
		if (!plan->runs) {
			*at = plan->next;
			plan->next = kept.plans;
			kept.plans = plan;
			continue;
		}
		while (plan->frames) {
			struct plan_frame *f = plan->frames;

			plan->frames = f->next;
			f->next = kept.frames;
			kept.frames = f;
		}
		while (plan->sets) {
			struct set *set = plan->sets;

			plan->sets = set->next;
			set->next = kept.sets;
			kept.sets = set;
		}
		plan->n_frames = plan->n_sets = 0;
		at = &plan->next;
	}
	return kept;
}

/* ---- taking and giving ---- */

/* The account has refused: free what is kept. True: something was freed, so the caller may ask the account again. */
static bool plans_release_kept(struct plans *p)
{
	struct kept kept;

	pthread_mutex_lock(&p->lock);
	kept = plans_take_kept(p);
	pthread_mutex_unlock(&p->lock);
	plans_free(p, kept.plans);
	frames_free(kept.frames); /* their plans may have been freed */
	sets_free(p, kept.sets);
	return kept.plans || kept.frames || kept.sets;
}

static bool is_refusal(enum nnb_status status)
{
	return status == NNB_STATUS_RESOURCE_EXHAUSTED_TRANSIENT || status == NNB_STATUS_RESOURCE_EXHAUSTED_PERSISTENT;
}

enum nnb_status nnbx_plan_take(struct plan **ret, struct plans *p, const struct nnb_shape *shapes)
{
	struct plan *plan, *made = NULL;
	enum nnb_status status;

	pthread_mutex_lock(&p->lock);
	plan = plan_find(p, shapes);
	if (!plan) {
		pthread_mutex_unlock(&p->lock);
		status = plan_new(&made, p, shapes);
		if (is_refusal(status) && plans_release_kept(p))
			status = plan_new(&made, p, shapes);
		if (status)
			return status;
		pthread_mutex_lock(&p->lock);
		plan = plan_find(p, shapes); /* another thread may have added the plan meanwhile */
		if (!plan) {
			made->next = p->first;
			p->first = plan = made;
			made = NULL;
		}
	}
	plan->runs++;
	pthread_mutex_unlock(&p->lock);
	plan_free(p, made);
	*ret = plan;
	return NNB_STATUS_NONE;
}

void nnbx_plan_give(struct plans *p, struct plan *plan)
{
	struct plan *surplus = NULL, *one;

	pthread_mutex_lock(&p->lock);
	assert(plan->runs > 0);
	plan->runs--;
	while ((one = plan_surplus(p))) {
		one->next = surplus;
		surplus = one;
	}
	pthread_mutex_unlock(&p->lock);
	plans_free(p, surplus);
}

enum nnb_status nnbx_plan_frame_take(struct plan_frame **ret, struct plans *p, struct plan *plan)
{
	enum nnb_status status;
	struct plan_frame *f;

	pthread_mutex_lock(&p->lock);
	f = plan->frames;
	if (f) {
		assert(plan->n_frames > 0);
		plan->frames = f->next;
		plan->n_frames--;
	}
	pthread_mutex_unlock(&p->lock);
	if (f) {
		*ret = f;
		return NNB_STATUS_NONE;
	}
	status = frame_new(ret, p, plan);
	return is_refusal(status) && plans_release_kept(p) ? frame_new(ret, p, plan) : status;
}

enum nnb_status nnbx_set_take(struct plan_frame *f)
{
	struct plans *p = f->plans;
	enum nnb_status status;

	assert(!f->set);
	pthread_mutex_lock(&p->lock);
	f->set = f->plan->sets;
	if (f->set) {
		assert(f->plan->n_sets > 0);
		f->plan->sets = f->set->next;
		f->plan->n_sets--;
	}
	pthread_mutex_unlock(&p->lock);
	if (f->set)
		return NNB_STATUS_NONE;
	status = set_new(&f->set, f);
	return is_refusal(status) && plans_release_kept(p) ? set_new(&f->set, f) : status;
}

void nnbx_set_give(struct plan_frame *f)
{
	struct plans *p = f->plans;
	struct set *surplus = NULL;

	if (!f->set)
		return;
	pthread_mutex_lock(&p->lock);
	if (f->plan->n_sets < KEPT_RUNS) {
		f->set->next = f->plan->sets;
		f->plan->sets = f->set;
		f->plan->n_sets++;
	} else {
		surplus = f->set;
	}
	pthread_mutex_unlock(&p->lock);
	set_free(p, surplus);
	f->set = NULL;
}

void nnbx_plan_frame_give(struct plan_frame *f)
{
	struct plans *p = f->plans;
	bool kept;

	nnbx_set_give(f);
	pthread_mutex_lock(&p->lock);
	assert(f->plan->runs > 0); /* a run keeps the plan */
	kept = f->plan->n_frames < KEPT_RUNS;
	if (kept) {
		f->next = f->plan->frames;
		f->plan->frames = f;
		f->plan->n_frames++;
	}
	pthread_mutex_unlock(&p->lock);
	if (!kept)
		frame_free(f);
}

/* ---- all plans ---- */

void nnbx_plans_init(struct plans *p, const struct nnb_graph *graph)
{
	*p = (struct plans){ .graph = graph };
	pthread_mutex_init(&p->lock, NULL);
	for (uint32_t i = 0; i < graph->model->n_operands; i++)
		p->constants_bytes += graph->model->operands[i].location.length;
}

void nnbx_plans_fini(struct plans *p)
{
	plans_free(p, p->first);
	pthread_mutex_destroy(&p->lock);
}
