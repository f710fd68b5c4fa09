/*
 * driver.c -- the driver that computes: XNNPACK's operators on the calling thread.
 *
 * A prepared model keeps, for each set of shapes it was run with lately, a plan: where temporaries lie, and two
 * lists of what runs need, made once and reused: frames (the memory of one run, kept from its first operation to its
 * end) and sets (one step an operation, with packed weights, needed only while operations run). So runs that wait for
 * the device have neither, runs that take turns on it, preempted ones included, share one set, and runs side by side
 * have one each. A run that waits within an operation (nnb_look) keeps its set: meanwhile another run of the model has one of
 * its own.
 *
 * A plan keeps KEPT_RUNS frames and sets at most; those that were not used last, KEPT_MAX bytes together.
 *
 * TRUST        A few bytes of model can ask for any amount of memory. What a plan would need (temporaries, packed
 *              weights, XNNPACK's pointers) is added up before any of it is allocated, and too much is refused as
 *              larger than the device's memory, a part of this machine's. Plans, frames and sets are charged to the
 *              model's account for as long as they are there. If the account refuses, the driver frees what it keeps and
 *              asks once more.
 * CONCURRENCY  The lock of a prepared model guards its list of plans and their lists. It is not held while a frame
 *              or a set is made or freed, while the account is asked, nor while an operation runs. A frame or a set off its
 *              list has one user.
 */
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "arena.h"
#include "kernels/look.h"
#include "latency.h"
#include "loose.h"
#include "memory.h"
#include "operand.h"
#include "seen.h"
#include "step.h"

enum {
	PLANS_MAX = 4,       /* limit of the plans kept for shapes that no run uses now */
	MEMORY_SHARE = 4,    /* the device's memory is this part of the machine's */
	KEPT_MAX = 64 << 20, /* bytes of frames and sets that are kept for other shapes than those used last */
	KEPT_RUNS = 16,      /* limit of the frames, and of the sets, that one plan keeps */
	STEP_UNITS = 100     /* to look at an operation (kernels/look.h) */
};

struct set {
	struct set *next;
	uint64_t bytes;          /* charged, besides the tally's */
	struct nnbx_tally tally; /* XNNPACK's operators */
	struct step steps[];     /* one an operation */
};

struct frame {
	struct frame *next;
	struct prepared *prepared;
	struct plan *plan; /* for as long as a run has it */
	struct set *set;   /* NULL: parked, or no operation has run yet */
	uint64_t bytes;    /* charged */
	void *arena;
	size_t arena_bytes;
	void *at[]; /* by operand */
};

struct run {
	struct run *next;
	struct prepared *prepared;
	struct plan *plan;
	struct frame *frame; /* NULL: no operation has run yet */
	const void *const *inputs;
	void *const *outputs;
	const struct nnb_look *look;
	struct loose *loose; /* instead of plan and frame: shapes are found on the way */
};

struct plan {
	struct plan *next;
	bool fixed;               /* the plan is for graph->shapes; a run with that pointer needs no comparison */
	struct nnb_shape *shapes; /* by operand */
	size_t *offsets;          /* by operand, in the arena */
	size_t arena_bytes, scratch_at;
	uint64_t bytes; /* charged for the plan itself */
	unsigned runs;  /* under way */
	unsigned n_frames, n_sets;
	struct frame *frames;
	struct set *sets;
};

struct prepared {
	const struct nnb_graph *graph;
	/* by part of the model, the main graph first: the operands as operations see them (seen.h); NULL: as they are */
	struct nnb_operand **bases;
	uint64_t bases_bytes; /* charged */
	uint64_t constants_bytes;
	pthread_mutex_t lock;
	struct plan *plans; /* the latest used first */
	struct run *runs;   /* runs that have ended, to be used again */
};

/* ---- making and unmaking; no lock is held ---- */

static struct site site_of(const struct frame *f, uint32_t op)
{
	struct site site = nnbx_site(f->prepared->graph, f->prepared->bases[0], op, f->plan->shapes);

	site.at = f->at;
	site.scratch = (char *)f->arena + f->plan->scratch_at;
	return site;
}

static const struct nnb_account *account_of(const struct prepared *p)
{
	return &p->graph->account;
}

static uint64_t set_bytes(const struct set *set)
{
	return set->bytes + set->tally.bytes;
}

static void set_free(const struct prepared *p, struct set *set)
{
	uint64_t bytes;

	if (!set)
		return;
	bytes = set_bytes(set);
	for (uint32_t i = 0; i < p->graph->model->n_operations; i++)
		nnbx_step_fini(&set->steps[i]);
	free(set);
	nnbx_give_back(account_of(p), bytes);
}

static enum nnb_status set_fill(struct set *set, const struct frame *f)
{
	enum nnb_status status = NNB_STATUS_NONE;

	nnbx_tally_begin(&set->tally);
	for (uint32_t i = 0; !status && i < f->prepared->graph->model->n_operations; i++) {
		struct site site = site_of(f, i);

		if (!nnbx_worked(STEP_UNITS))
			break;
		status = nnbx_step_init(&set->steps[i], &site);
	}
	nnbx_tally_end();
	if (!status && nnbx_work.stopped)
		status = NNB_STATUS_GENERAL_FAILURE;
	return set->tally.refused ? set->tally.refused : status;
}

static enum nnb_status set_new(struct set **ret, const struct frame *f)
{
	const struct prepared *p = f->prepared;
	uint32_t n = p->graph->model->n_operations;
	uint64_t bytes = sizeof(struct set) + n * sizeof(struct step);
	enum nnb_status status = nnbx_charge(account_of(p), bytes);
	struct set *set;

	if (status)
		return status;
	set = calloc(1, bytes);
	if (!set) {
		nnbx_give_back(account_of(p), bytes);
		return NNB_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
	}
	set->bytes = bytes;
	set->tally.account = account_of(p);
	status = set_fill(set, f);
	if (status)
		set_free(p, set);
	else
		*ret = set;
	return status;
}

static void frame_free(struct frame *f)
{
	const struct nnb_account *account;
	uint64_t bytes;

	if (!f)
		return;
	assert(!f->set);
	account = account_of(f->prepared);
	bytes = f->bytes;
	if (f->arena != MAP_FAILED)
		munmap(f->arena, f->arena_bytes);
	free(f);
	nnbx_give_back(account, bytes);
}

/* A frame; run_bind sets the addresses of its inputs and outputs. */
static enum nnb_status frame_new(struct frame **ret, struct prepared *p, struct plan *plan)
{
	const struct nnb_model *m = p->graph->model;
	uint64_t own = sizeof(struct frame) + m->n_operands * sizeof(void *), bytes = own + plan->arena_bytes;
	enum nnb_status status = nnbx_charge(account_of(p), bytes);
	struct frame *f;

	if (status)
		return status;
	f = calloc(1, own);
	if (!f) {
		nnbx_give_back(account_of(p), bytes);
		return NNB_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
	}
	f->prepared = p;
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

static void sets_free(const struct prepared *p, struct set *set)
{
	while (set) {
		struct set *next = set->next;

		set_free(p, set);
		set = next;
	}
}

static void frames_free(struct frame *f)
{
	while (f) {
		struct frame *next = f->next;

		frame_free(f);
		f = next;
	}
}

static void plan_free(const struct prepared *p, struct plan *plan)
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
	nnbx_give_back(account_of(p), bytes);
}

static void plans_free(const struct prepared *p, struct plan *plan)
{
	while (plan) {
		struct plan *next = plan->next;

		plan_free(p, plan);
		plan = next;
	}
}

uint64_t nnbx_device_memory(void)
{
	return (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE) / MEMORY_SHARE;
}

/* Put room for the kernel that wants the most behind the temporaries. Returns all that the plan would need. */
static uint64_t add_up(const struct prepared *p, struct plan *plan)
{
	const struct nnb_model *m = p->graph->model;
	uint64_t need = p->constants_bytes, scratch = 0;

	for (uint32_t i = 0; i < m->n_operations; i++) {
		struct site site = nnbx_site(p->graph, p->bases[0], i, plan->shapes);
		uint64_t bytes = nnbx_step_scratch(&site);

		if (!nnbx_worked(STEP_UNITS))
			return UINT64_MAX;
		need = saturated_sum(need, nnbx_step_bytes(&site));
		if (bytes > scratch)
			scratch = bytes;
	}
	plan->scratch_at = (plan->arena_bytes + NNBX_ALIGNMENT - 1) & ~(size_t)(NNBX_ALIGNMENT - 1);
	plan->arena_bytes = saturated_sum(plan->scratch_at + NNB_MAPPING_SLACK, scratch);
	return saturated_sum(need, plan->arena_bytes);
}

static enum nnb_status plan_new(struct plan **ret, const struct prepared *p, const struct nnb_shape *shapes)
{
	uint32_t n = p->graph->model->n_operands;
	uint64_t bytes = sizeof(struct plan) + n * (sizeof(struct nnb_shape) + sizeof(size_t));
	enum nnb_status status = nnbx_charge(account_of(p), bytes);
	struct plan *plan;

	if (status)
		return status;
	status = NNB_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
	plan = calloc(1, sizeof(*plan));
	if (!plan) {
		nnbx_give_back(account_of(p), bytes);
		return status;
	}
	plan->bytes = bytes;
	plan->fixed = shapes == p->graph->shapes;
	plan->shapes = malloc(n * sizeof(*plan->shapes));
	plan->offsets = malloc(n * sizeof(*plan->offsets));
	if (plan->shapes && plan->offsets) {
		memcpy(plan->shapes, shapes, n * sizeof(*shapes));
		if (!nnbx_arena_plan(p->graph, shapes, plan->offsets, &plan->arena_bytes))
			status = add_up(p, plan) > nnbx_device_memory() ? NNB_STATUS_RESOURCE_EXHAUSTED_PERSISTENT
			                                                : NNB_STATUS_NONE;
	}
	if (status)
		plan_free(p, plan);
	else
		*ret = plan;
	return status;
}

/* ---- plans; the lock is held ---- */

static bool is_for(const struct plan *plan, const struct prepared *p, const struct nnb_shape *shapes)
{
	if (plan->fixed && shapes == p->graph->shapes)
		return true;
	for (uint32_t i = 0; i < p->graph->model->n_operands; i++)
		if (!same_shape(&plan->shapes[i], &shapes[i]))
			return false;
	return true;
}

/* The plan for these shapes, moved to the front, or NULL. */
static struct plan *plan_find(struct prepared *p, const struct nnb_shape *shapes)
{
	for (struct plan **at = &p->plans, *plan; (plan = *at); at = &plan->next)
		if (is_for(plan, p, shapes)) {
			*at = plan->next;
			plan->next = p->plans;
			p->plans = plan;
			return plan;
		}
	return NULL;
}

static uint64_t plan_kept(const struct plan *plan)
{
	uint64_t bytes = 0;

	for (const struct frame *f = plan->frames; f; f = f->next)
		bytes += f->bytes;
	for (const struct set *set = plan->sets; set; set = set->next)
		bytes += set_bytes(set);
	return bytes;
}

/* Remove the least recently used plan from the list, if there are too many plans, or too much memory is kept for them. */
static struct plan *plan_surplus(struct prepared *p)
{
	struct plan **oldest = NULL, *plan;
	uint64_t kept = 0;
	unsigned idle = 0;

	for (struct plan **at = &p->plans; *at; at = &(*at)->next) {
		if ((*at)->runs)
			continue;
		idle++;
		if (at == &p->plans)
			continue;
		oldest = at;
		kept += plan_kept(*at);
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
	struct frame *frames;
	struct set *sets;
};

/* All that no run is using: the plans, and of those that are used, what is on their lists. */
static struct kept take_kept(struct prepared *p)
{
	struct kept kept = { 0 };

	for (struct plan **at = &p->plans, *plan; (plan = *at);) {
		if (!plan->runs) {
			*at = plan->next;
			plan->next = kept.plans;
			kept.plans = plan;
			continue;
		}
		while (plan->frames) {
			struct frame *f = plan->frames;

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

/* ---- what runs need ---- */

/* The account has refused: free what is kept. True: something was freed, so the caller may ask the account again. */
static bool free_kept(struct prepared *p)
{
	struct kept kept;

	pthread_mutex_lock(&p->lock);
	kept = take_kept(p);
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

/* A plan for these shapes, with one more run under way. */
static enum nnb_status plan_take(struct plan **ret, struct prepared *p, const struct nnb_shape *shapes)
{
	struct plan *plan, *made = NULL;
	enum nnb_status status;

	pthread_mutex_lock(&p->lock);
	plan = plan_find(p, shapes);
	if (!plan) {
		pthread_mutex_unlock(&p->lock);
		status = plan_new(&made, p, shapes);
		if (is_refusal(status) && free_kept(p))
			status = plan_new(&made, p, shapes);
		if (status)
			return status;
		pthread_mutex_lock(&p->lock);
		plan = plan_find(p, shapes); /* another thread may have added the plan meanwhile */
		if (!plan) {
			made->next = p->plans;
			p->plans = plan = made;
			made = NULL;
		}
	}
	plan->runs++;
	pthread_mutex_unlock(&p->lock);
	plan_free(p, made);
	*ret = plan;
	return NNB_STATUS_NONE;
}

static void plan_give(struct prepared *p, struct plan *plan)
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

static enum nnb_status frame_take(struct frame **ret, struct prepared *p, struct plan *plan)
{
	enum nnb_status status;
	struct frame *f;

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
	return is_refusal(status) && free_kept(p) ? frame_new(ret, p, plan) : status;
}

static enum nnb_status set_take(struct frame *f)
{
	struct prepared *p = f->prepared;
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
	return is_refusal(status) && free_kept(p) ? set_new(&f->set, f) : status;
}

static void set_give(struct frame *f)
{
	struct prepared *p = f->prepared;
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

/* ---- runs ---- */

static struct run *take_run(struct prepared *p)
{
	struct run *r;

	pthread_mutex_lock(&p->lock);
	r = p->runs;
	if (r)
		p->runs = r->next;
	pthread_mutex_unlock(&p->lock);
	return r ? r : malloc(sizeof(*r));
}

static void run_keep(struct run *r)
{
	struct prepared *p = r->prepared;

	pthread_mutex_lock(&p->lock);
	r->next = p->runs;
	p->runs = r;
	pthread_mutex_unlock(&p->lock);
}

static enum nnb_status loose_begin(struct prepared *p, const struct nnb_run *run, void **ret)
{
	struct run *r = take_run(p);
	struct loose *loose;
	enum nnb_status status;

	if (!r)
		return NNB_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
	status = nnbx_loose_new(&loose, p->graph, (const struct nnb_operand *const *)p->bases, run);
	*r = (struct run){ .prepared = p, .look = run->look, .loose = status ? NULL : loose };
	if (status)
		run_keep(r);
	else
		*ret = r;
	return status;
}

static enum nnb_status run_begin(void *prepared, const struct nnb_run *run, void **ret)
{
	struct prepared *p = prepared;
	struct plan *plan;
	enum nnb_status status;
	struct run *r;

	if (run->found)
		return loose_begin(p, run, ret);
	status = plan_take(&plan, p, run->shapes);
	if (status)
		return status;
	r = take_run(p);
	if (!r) {
		plan_give(p, plan);
		return NNB_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
	}
	*r = (struct run){
		.prepared = p, .plan = plan, .inputs = run->inputs, .outputs = run->outputs, .look = run->look
	};
	*ret = r;
	return NNB_STATUS_NONE;
}

/* The first operation is about to run. */
static enum nnb_status run_bind(struct run *r)
{
	const struct nnb_model *m = r->prepared->graph->model;
	enum nnb_status status;

	assert(r->plan && !r->frame && !r->loose);
	status = frame_take(&r->frame, r->prepared, r->plan);
	if (status)
		return status;
	for (uint32_t i = 0; i < m->n_inputs; i++)
		r->frame->at[m->inputs[i]] = (void *)r->inputs[i];
	for (uint32_t i = 0; i < m->n_outputs; i++)
		r->frame->at[m->outputs[i]] = r->outputs[i];
	return NNB_STATUS_NONE;
}

static enum nnb_status run_op(void *run, uint32_t op)
{
	struct run *r = run;
	enum nnb_status status;
	struct frame *f;
	struct site site;

	assert(op < r->prepared->graph->model->n_operations);
	if (r->loose) {
		nnbx_work_begin(r->look && r->look->goes_on ? r->look : NULL);
		status = nnbx_loose_op(r->loose, op);
		return nnbx_work_end() ? status : NNB_STATUS_GENERAL_FAILURE;
	}
	status = r->frame ? NNB_STATUS_NONE : run_bind(r);
	f = r->frame;
	nnbx_work_begin(r->look && r->look->goes_on ? r->look : NULL);
	if (!status && !f->set)
		status = set_take(f);
	if (!status) {
		site = site_of(f, op);
		nnbx_tally_begin(&f->set->tally);
		status = nnbx_step_run(&f->set->steps[op], &site);
	}
	if (!nnbx_work_end())
		status = NNB_STATUS_GENERAL_FAILURE;
	nnbx_tally_end();
	return status;
}

static void run_park(void *run)
{
	struct run *r = run;

	if (r->frame)
		set_give(r->frame);
}

static void frame_give(struct frame *f)
{
	struct prepared *p = f->prepared;
	bool kept;

	set_give(f);
	pthread_mutex_lock(&p->lock);
	assert(f->plan->runs > 0); /* so that the plan stays */
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

static void run_end(void *run)
{
	struct run *r = run;
	struct prepared *p = r->prepared;
	struct plan *plan = r->plan;

	if (r->frame)
		frame_give(r->frame);
	nnbx_loose_free(r->loose);
	run_keep(r);
	if (plan)
		plan_give(p, plan);
}

/* ---- models ---- */

/* Can all of a graph be run? The caller checks the subgraphs of IF and WHILE. */
static bool claims_all(const struct nnb_graph *graph)
{
	for (uint32_t i = 0; i < graph->model->n_operations && nnbx_worked(STEP_UNITS); i++)
		if (!nnbx_step_claims(graph, i))
			return false;
	return true;
}

static enum nnb_status xnnpack_supported(void *device, const struct nnb_graph *graph, bool *ret)
{
	bool referenced = true; /* whether all that IF and WHILE could run is supported */

	(void)device;
	for (uint32_t i = 0; referenced && i < graph->model->n_referenced; i++)
		referenced = claims_all(graph->referenced[i]);
	for (uint32_t i = 0; i < graph->model->n_operations; i++) {
		uint32_t type = graph->model->operations[i].type;

		ret[i] = nnbx_step_claims(graph, i) && (referenced || (type != NNB_IF && type != NNB_WHILE));
	}
	return NNB_STATUS_NONE;
}

static const struct nnb_graph *part_of(const struct nnb_graph *main, uint32_t part)
{
	assert(part <= main->model->n_referenced);
	return part ? main->referenced[part - 1] : main;
}

/* Bytes to charge: a pointer for each part, and the operands of the parts that see them otherwise. */
static uint64_t bases_bytes(const struct nnb_graph *main)
{
	uint64_t bytes = (main->model->n_referenced + (uint64_t)1) * sizeof(struct nnb_operand *);

	for (uint32_t part = 0; part <= main->model->n_referenced; part++) {
		const struct nnb_model *m = part_of(main, part)->model;

		bytes += nnbx_sees_otherwise(m) ? m->n_operands * sizeof(struct nnb_operand) : 0;
	}
	return bytes;
}

static enum nnb_status see_operands(struct prepared *p)
{
	uint64_t bytes = bases_bytes(p->graph);
	enum nnb_status status = nnbx_charge(account_of(p), bytes);
	bool seen;

	if (status)
		return status;
	p->bases_bytes = bytes;
	p->bases = calloc(p->graph->model->n_referenced + (size_t)1, sizeof(*p->bases));
	seen = p->bases;
	for (uint32_t part = 0; seen && part <= p->graph->model->n_referenced; part++) {
		const struct nnb_model *m = part_of(p->graph, part)->model;
		struct nnb_operand *base;

		if (!nnbx_sees_otherwise(m))
			continue;
		base = p->bases[part] = malloc(m->n_operands * sizeof(*base));
		seen = base;
		for (uint32_t i = 0; seen && i < m->n_operands; i++)
			base[i] = nnbx_see(&m->operands[i]);
	}
	return seen ? NNB_STATUS_NONE : NNB_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
}

static void prepared_release(void *prepared)
{
	struct prepared *p = prepared;

	plans_free(p, p->plans);
	while (p->runs) {
		struct run *r = p->runs;

		p->runs = r->next;
		free(r);
	}
	pthread_mutex_destroy(&p->lock);
	for (uint32_t part = 0; p->bases && part <= p->graph->model->n_referenced; part++)
		free(p->bases[part]);
	free(p->bases);
	nnbx_give_back(account_of(p), p->bases_bytes);
	free(p);
}

/* The bytes of the largest input or output. */
static size_t largest_argument(const struct nnb_graph *g)
{
	const struct nnb_model *m = g->model;
	uint64_t most = 1, bytes;

	for (uint32_t i = 0; i < m->n_operands; i++) {
		uint32_t lifetime = m->operands[i].lifetime;

		if (lifetime != NNB_MODEL_INPUT && lifetime != NNB_MODEL_OUTPUT)
			continue;
		if (!nnb_operand_bytes(m->operands[i].type, g->shapes[i].rank, g->shapes[i].dims, &bytes) &&
		    bytes > most)
			most = bytes;
	}
	return most;
}

/*
 * Set a frame's operators up for arguments that are not there yet. XNNPACK computes addresses within an input and
 * tells them from that of its own zeroes, so the input must be an address range where nothing else is.
 */
static enum nnb_status set_up_for_nothing(struct frame *f)
{
	const struct nnb_model *m = f->prepared->graph->model;
	size_t bytes = largest_argument(f->prepared->graph);
	void *nowhere = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	enum nnb_status status;

	if (nowhere == MAP_FAILED)
		return NNB_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
	for (uint32_t i = 0; i < m->n_inputs; i++)
		f->at[m->inputs[i]] = nowhere;
	for (uint32_t i = 0; i < m->n_outputs; i++)
		f->at[m->outputs[i]] = nowhere;
	status = set_take(f);
	munmap(nowhere, bytes);
	return status;
}

/* All shapes are known: make what the first run needs, so that it takes no longer than later runs. */
static enum nnb_status prepared_warm(struct prepared *p)
{
	struct plan *plan;
	struct frame *f;
	enum nnb_status status = plan_take(&plan, p, p->graph->shapes);

	if (status)
		return status;
	status = frame_take(&f, p, plan);
	if (!status) {
		status = set_up_for_nothing(f);
		frame_give(f);
	}
	plan_give(p, plan);
	return status;
}

static enum nnb_status prepare_watched(const struct nnb_graph *graph, struct prepared **ret, struct nnb_reason *reason)
{
	struct prepared *p;
	enum nnb_status status = NNB_STATUS_NONE;

	for (uint32_t i = 0; i < graph->model->n_operations; i++) {
		if (!nnbx_worked(STEP_UNITS))
			return NNB_STATUS_GENERAL_FAILURE;
		if (!nnbx_step_claims(graph, i)) {
			nnb_because(reason, "operation %u is not supported", i);
			return NNB_STATUS_INVALID_ARGUMENT;
		}
	}
	for (uint32_t i = 0; i < graph->model->n_referenced; i++)
		if (!claims_all(graph->referenced[i])) {
			nnb_because(reason, "subgraph %u has an operation that is not supported", i);
			return NNB_STATUS_INVALID_ARGUMENT;
		}
	p = calloc(1, sizeof(*p));
	if (!p)
		return NNB_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
	p->graph = graph;
	pthread_mutex_init(&p->lock, NULL);
	for (uint32_t i = 0; i < graph->model->n_operands; i++)
		p->constants_bytes += graph->model->operands[i].location.length;
	status = see_operands(p);
	if (!status && graph->shapes_known)
		status = prepared_warm(p);
	if (status) {
		nnb_because(reason, "the driver cannot set the model up: %s", nnb_status_name(status));
		prepared_release(p);
		return status;
	}
	*ret = p;
	return NNB_STATUS_NONE;
}

/* The driver ignores preference and priority: it has one way to compute, and the scheduler assigns lanes. */
static enum nnb_status xnnpack_prepare(void *device, const struct nnb_graph *graph, const struct nnb_prepare *how,
                                       void **ret, struct nnb_reason *reason)
{
	struct prepared *p = NULL;
	enum nnb_status status;

	(void)device;
	nnbx_work_begin(how->look);
	status = prepare_watched(graph, &p, reason);
	if (!nnbx_work_end() && !status) {
		prepared_release(p);
		status = NNB_STATUS_GENERAL_FAILURE;
	}
	if (!status)
		*ret = p;
	return status;
}

/* ---- the device ---- */

static int device_open(void **ret)
{
	static char device;

	if (xnn_initialize(&nnbx_allocator) != xnn_status_success)
		return -ENODEV;
	*ret = &device;
	return 0;
}

static void device_close(void *device)
{
	(void)device;
	xnn_deinitialize();
}

static void xnnpack_capabilities(void *device, struct nnb_capabilities *ret)
{
	const struct nnb_performance as_the_cpu = { .time = 1, .power = 1 };

	(void)device;
	ret->relaxed = as_the_cpu;
	ret->n_types = NNB_TENSOR_QUANT8_ASYMM_SIGNED + 1; /* all but the vendor's */
	for (uint32_t i = 0; i < ret->n_types; i++)
		ret->types[i] = (struct nnb_type_performance){ i, as_the_cpu };
}

NNB_PUBLIC extern const struct nnb_driver nnb_driver_xnnpack;
const struct nnb_driver nnb_driver_xnnpack = {
	.abi = NNB_DRIVER_ABI,
	.name = "xnnpack",
	.version = "1", /* packed weights are not saved, so XNNPACK's own version decides nothing */
	.open = device_open,
	.close = device_close,
	.capabilities = xnnpack_capabilities,
	.supported = xnnpack_supported,
	.prepare = xnnpack_prepare,
	.release = prepared_release,
	.run_begin = run_begin,
	.run_op = run_op,
	.run_park = run_park,
	.run_end = run_end,
	.buffer_new = nnb_plain_buffer_new,
	.buffer_free = nnb_plain_buffer_free,
	.performance = nnbx_performance,
};
