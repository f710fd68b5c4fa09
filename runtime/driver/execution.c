/*
 * execution.c -- one execution of a prepared model: checks the request, binds it, runs one operation at a time,
 * unbinds.
 *
 * CONCURRENCY  The caller orders the calls on one execution. The executions of one prepared model share only its list
 *              of idle executions, under its lock. An execution that has ended keeps its memory on that list, so that
 *              an execution like an earlier one allocates nothing.
 * TRUST        The app can change its request's pools at any time. The numbers of the request were copied before they
 *              were checked; the few inputs whose values decide shapes are copied before they are read. The app can
 *              truncate a pool of kind mmap_fd: the marks show whether that happened during the execution, which then
 *              fails, whatever it computed.
 */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/sys.h"
#include "driver/device.h"
#include "driver/execution.h"
#include "memory/gate.h"
#include "memory/handle.h"
#include "model/reason.h"
#include "model/request.h"
#include "trace/pools.h"

enum {
	IDLE_MAX = 16,                     /* limit of the ended executions that a model keeps */
	DECIDING_BYTES = NNB_RANK_MAX * 4, /* the longest input that decides shapes is RESHAPE's shape */
	TOUCHED_MOST = 1 << 20, /* limit of the bytes of outputs whose pages are mapped before the execution runs */
	LOOKS_MAX = 4096 /* limit of the comparisons of outputs with inputs and pools (nnb__execution_can_restart) */
};

/* A hardware buffer that the driver has open as an argument. */
struct image {
	void *buffer; /* the driver's */
	bool output;
};

/* The bytes from @from to before @to. */
struct span {
	uint64_t from, to;
};

struct nnb_execution {
	struct nnb_prepared *prepared;
	struct nnb_execution *next_idle;
	void *run;                 /* the driver's run; NULL: it has not begun, or has ended */
	struct nnb_run driver_run; /* what the driver gets when a run begins, each time until the next binding */
	uint32_t next_op;
	uint32_t n_mappings, room; /* mappings of the request's pools */
	bool mapped_here;          /* the execution owns the mappings; otherwise it borrows them */
	struct nnb_memory *taken;  /* the request's pools while they are bound, if the mappings own their fds then */
	uint64_t exec; /* if it owns pools: the number of the execution in their events (nnb_request's exec) */
	bool files;    /* some pools, of the request or the model, are files: check for tears */
	bool flushes;  /* some outputs lie in files that are flushed: nnb__execution_publish */
	bool computed; /* all operations have run, and nnb__execution_publish is due */
	bool accesses; /* the accesses to its mappings have begun (nnb__mapping_access_begin) */
	bool tokens;   /* some arguments lie in buffers of the device */
	bool images;   /* some arguments lie in hardware buffers that are not BLOBs */
	/* by pool; NULL: the pool is a buffer of the device, or such a hardware buffer */
	struct nnb_mapping **mappings;
	uint32_t *marks;      /* marks of the mappings, then of the model's pools */
	struct span *written; /* by pool: where its outputs lie; empty: none does */
	const void **inputs;  /* by model input */
	void **outputs;       /* by model output */
	/* the leases of buffers; kept: by argument, inputs first: whether the argument lies in a buffer */
	struct nnb__buffer_use *uses;
	uint32_t n_uses;
	bool *kept;
	struct image *open_images; /* the hardware buffers that the driver has open */
	uint32_t n_images;
	/* unless shapes are fixed: the shapes by operand; the values of deciding inputs, DECIDING_BYTES each */
	struct nnb_shape *shapes;
	const void **values;
	uint8_t *deciding;
	const struct nnb_shape *now; /* the shapes of this run: the array above, or the graph's */
	struct nnb_look look;        /* the driver has its address */
	struct nnb_loops loops;      /* likewise */
	struct nnb_run_terms terms;  /* likewise */
	uint64_t charged;            /* bytes charged for its memory, without what depends on the request */
	bool shapes_charged;         /* the arrays for shapes that are not fixed are charged, too */
	/* if only the run shows the shapes: the shapes at its beginning, the request's room, and where to report
	 * shapes */
	struct nnb_shape *asked;
	uint64_t *room_bytes;             /* by model output; UINT64_MAX: the output lies in a buffer */
	struct nnb_output_shape *reports; /* owned by the caller; NULL: no report */
};

/* ---- memory ---- */

/* An execution is charged to the model's account until it is freed, also while it is idle. */
static bool execution_charge(struct nnb_execution *e, const struct nnb_prepared *p, uint64_t bytes)
{
	const struct nnb_account *a = &p->graph->seen.account;

	if (a->charge && a->charge(a->arg, bytes))
		return false;
	e->charged += bytes;
	return true;
}

static struct nnb_execution *execution_free(struct nnb_execution *e, const struct nnb_prepared *p)
{
	const struct nnb_account *a = &p->graph->seen.account;
	uint64_t charged = e->charged;

	assert(!e->run && !e->n_uses && !e->n_mappings && !e->n_images);
	free(e->mappings);
	free(e->marks);
	free(e->written);
	free(e->inputs);
	free(e->outputs);
	free(e->uses);
	free(e->kept);
	free(e->open_images);
	free(e->shapes);
	free(e->values);
	free(e->deciding);
	free(e->asked);
	free(e->room_bytes);
	free(e);
	if (a->give_back)
		a->give_back(a->arg, charged);
	return NULL;
}

void nnb__executions_free(struct nnb_prepared *p)
{
	while (p->idle) {
		struct nnb_execution *e = p->idle;

		p->idle = e->next_idle;
		execution_free(e, p);
	}
}

static struct nnb_execution *execution_new(const struct nnb_prepared *p)
{
	uint64_t arguments = (uint64_t)p->model->n_inputs + p->model->n_outputs;
	struct nnb_execution *e = calloc(1, sizeof(*e));

	if (!e)
		return NULL;
	if (!execution_charge(e, p, sizeof(*e) + arguments * (sizeof(void *) + sizeof(*e->uses) + sizeof(*e->kept))))
		return execution_free(e, p);
	e->inputs = calloc(p->model->n_inputs + 1, sizeof(void *));
	e->outputs = calloc(p->model->n_outputs + 1, sizeof(void *));
	return e->inputs && e->outputs ? e : execution_free(e, p);
}

static bool room_for_pools(struct nnb_execution *e, uint32_t n)
{
	uint32_t marks = n + e->prepared->model->n_pools;

	if (n <= e->room && e->mappings && e->marks && e->written)
		return true;
	free(e->mappings);
	free(e->marks);
	free(e->written);
	e->mappings = calloc(n + 1, sizeof(struct nnb_mapping *));
	e->marks = calloc(marks + 1, sizeof(uint32_t));
	e->written = calloc(n + 1, sizeof(struct span));
	e->room = n;
	return e->mappings && e->marks && e->written;
}

static bool room_for_shapes(struct nnb_execution *e)
{
	const struct nnb_model *m = e->prepared->model;
	size_t deciding = ((size_t)m->n_inputs + 2) / 2 * 2 * DECIDING_BYTES;

	if (e->shapes && e->values && e->deciding && e->asked && e->room_bytes)
		return true;
	if (!e->shapes_charged)
		e->shapes_charged = execution_charge(e, e->prepared,
		                                     m->n_operands * (2 * sizeof(*e->shapes) + sizeof(*e->values)) +
		                                             deciding + m->n_outputs * sizeof(*e->room_bytes));
	if (!e->shapes_charged)
		return false;
	if (!e->shapes)
		e->shapes = calloc(m->n_operands, sizeof(*e->shapes));
	if (!e->values)
		e->values = calloc(m->n_operands, sizeof(*e->values));
	if (!e->deciding)
		e->deciding = aligned_alloc(64, deciding);
	if (!e->asked)
		e->asked = calloc(m->n_operands, sizeof(*e->asked));
	if (!e->room_bytes)
		e->room_bytes = calloc(m->n_outputs + (size_t)1, sizeof(*e->room_bytes));
	return e->shapes && e->values && e->deciding && e->asked && e->room_bytes;
}

static enum nnb_status execution_no_memory(struct nnb_reason *reason)
{
	nnb_because(reason, "no memory for the execution");
	return NNB_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
}

/* ---- pools ---- */

static int map_pool(struct nnb_execution *e, uint32_t i, const struct nnb_memory *memory)
{
	uint64_t began = nbt_on(NBT_EVENT_pool_map) ? nnb__now() : 0;
	int r = e->taken ? nnb__map_taking(&e->mappings[i], &e->taken[i]) : nnb_map(&e->mappings[i], memory);

	if (nbt_on(NBT_EVENT_pool_map))
		nnb__emit_pool_map(NBT_owner_exec, e->exec, (int32_t)i, memory, began ? nnb__now() - began : 0,
		                   r ? NNB_STATUS_GENERAL_FAILURE : NNB_STATUS_NONE, 0);
	return r;
}

static enum nnb_status pools_refused(struct nnb_reason *reason)
{
	nnb_because(reason, NNB__GATE_REASON);
	return NNB_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
}

enum nnb_status nnb__execution_passes(const struct nnb_execution *e, struct nnb_reason *reason)
{
	bool passes = true;

	if (!e->files)
		return NNB_STATUS_NONE;
	for (uint32_t i = 0; passes && i < e->n_mappings; i++)
		passes = !e->mappings[i] || nnb__mapping_passes(e->mappings[i]);
	for (uint32_t i = 0; passes && i < e->prepared->model->n_pools; i++)
		passes = nnb__mapping_passes(e->prepared->graph->mappings[i]);
	return passes ? NNB_STATUS_NONE : pools_refused(reason);
}

static enum nnb_status bind_pools(struct nnb_execution *e, const struct nnb_request *request,
                                  struct nnb_mapping *const *mappings, struct nnb_reason *reason)
{
	int r;

	assert(!e->run && !e->n_mappings);
	if (!room_for_pools(e, request->n_pools))
		return execution_no_memory(reason);
	e->mapped_here = !mappings;
	e->exec = request->exec;
	e->files = e->flushes = false;
	for (uint32_t i = 0; !e->files && i < e->prepared->model->n_pools; i++)
		e->files = nnb__mapping_is_file(e->prepared->graph->mappings[i]);
	e->tokens = e->images = false;
	for (uint32_t i = 0; i < request->n_pools; i++) {
		e->written[i] = (struct span){ 0 };
		if (nnb_memory_kind(&request->pools[i]) == NNB_MEMORY_TOKEN) {
			e->tokens = true;
			e->mappings[e->n_mappings++] = NULL;
			continue;
		}
		if (nnb__device_opens(e->prepared->device, &request->pools[i])) {
			e->images = true;
			e->mappings[e->n_mappings++] = NULL;
			continue;
		}
		if (mappings) {
			assert(nnb_mapping_size(mappings[i]) >=
			       request->pools[i].size); /* otherwise the checks above would not apply to the mapping */
			e->mappings[i] = mappings[i];
		} else if ((r = map_pool(e, i, &request->pools[i])) == -EBUSY) {
			return pools_refused(reason);
		} else if (r) {
			nnb_because(reason, "pool %u (%s) cannot be mapped", i, request->pools[i].name);
			return NNB_STATUS_GENERAL_FAILURE; /* P-13 */
		}
		e->files |= nnb__mapping_is_file(e->mappings[i]);
		e->n_mappings++;
	}
	return nnb__execution_passes(e, reason);
}

/* ---- arguments ---- */

/* Does the argument lie in a buffer of the device's, or in a hardware buffer that is not a BLOB? */
static bool is_kept(const struct nnb_execution *e, const struct nnb_argument *a)
{
	assert(a->no_value || a->location.pool < e->n_mappings); /* nnb__request_validate has checked the pool */
	return !a->no_value && !e->mappings[a->location.pool];
}

static uint64_t argument_bytes(const struct nnb_execution *e, const struct nnb_argument *a)
{
	const struct nnb_mapping *m = e->mappings[a->location.pool];

	if (!a->location.length && nnb_mapping_kind(m) == NNB_MEMORY_HARDWARE_BUFFER_BLOB)
		return nnb_mapping_size(m);
	return a->location.length;
}

/*
 * The address of an argument; NULL: it has no value, or lies in a buffer. Offset and length 0 mean a whole hardware
 * buffer (P-18).
 */
static uint8_t *argument_at(const struct nnb_execution *e, const struct nnb_argument *a)
{
	if (a->no_value || is_kept(e, a))
		return NULL;
	if (e->taken)
		nnb__mapping_use(e->mappings[a->location.pool], a->location.offset, argument_bytes(e, a));
	return (uint8_t *)nnb_mapping_data(e->mappings[a->location.pool]) + a->location.offset;
}

/* An output lies there: what is flushed of a pool is one span around its outputs. */
static void note_written(struct nnb_execution *e, const struct nnb_argument *a)
{
	struct span *w = &e->written[a->location.pool];
	uint64_t from = a->location.offset, to = from + argument_bytes(e, a);

	if (!nnb__mapping_flush_waits(e->mappings[a->location.pool]))
		return;
	e->flushes = true;
	if (w->from == w->to) {
		*w = (struct span){ from, to };
		return;
	}
	w->from = from < w->from ? from : w->from;
	w->to = to > w->to ? to : w->to;
}

/*
 * The execution ends with @status before it uses its buffers. An error in the buffers comes first, and changes
 * nothing.
 */
static enum nnb_status without_buffers(struct nnb_execution *e, const struct nnb_request *request,
                                       struct nnb_buffer *const *held, enum nnb_status status,
                                       struct nnb_reason *reason)
{
	struct nnb_reason why;
	enum nnb_status wrong = NNB_STATUS_NONE;

	if (!held) /* a caller that holds the buffers has checked them */
		wrong = nnb__buffers_check(e->prepared, request, false, &why);
	if (wrong) {
		nnb_because(reason, "%s", why.text);
		return wrong;
	}
	nnb__buffers_fail(e->prepared, request);
	return status;
}

/* Mark all arguments as not in a buffer. False: no memory. */
static bool kept_none(struct nnb_execution *e)
{
	size_t n = (size_t)e->prepared->model->n_inputs + e->prepared->model->n_outputs;

	if (!e->kept)
		e->kept = calloc(n + 1, sizeof(*e->kept));
	else
		memset(e->kept, 0, n * sizeof(*e->kept));
	return e->kept;
}

/* Lease the buffers of the request, until leave_buffers. */
static enum nnb_status bind_buffers(struct nnb_execution *e, const struct nnb_request *request,
                                    struct nnb_buffer *const *held, struct nnb_reason *reason)
{
	const struct nnb_model *m = e->prepared->model;
	size_t n = (size_t)m->n_inputs + m->n_outputs;
	enum nnb_status status;

	if (!e->uses)
		e->uses = calloc(n + 1, sizeof(*e->uses));
	if (!e->uses)
		return without_buffers(e, request, held, execution_no_memory(reason), reason);
	status = nnb__buffers_take(e->prepared, request, held, e->uses, &e->n_uses, reason);
	if (status)
		return status;
	e->tokens = e->n_uses > 0;
	for (uint32_t i = 0; i < e->n_uses; i++) {
		assert(e->uses[i].index < (e->uses[i].output ? m->n_outputs : m->n_inputs));
		e->kept[(e->uses[i].output ? m->n_inputs : 0) + e->uses[i].index] = true;
		if (!e->uses[i].output)
			e->inputs[e->uses[i].index] = e->uses[i].place;
	}
	return NNB_STATUS_NONE;
}

static bool is_late(const struct nnb_execution *e)
{
	return e->prepared->graph->seen.late;
}

/* The shapes are known now: allocate the outputs that lie in buffers. */
static enum nnb_status fit_buffers(struct nnb_execution *e, struct nnb_reason *reason)
{
	const struct nnb_model *m = e->prepared->model;
	enum nnb_status status = NNB_STATUS_NONE;

	for (uint32_t i = 0; !status && i < e->n_uses; i++) {
		struct nnb__buffer_use *use = &e->uses[i];

		if (!use->output || is_late(e))
			continue;
		status = nnb__buffer_fit(use, &e->now[m->outputs[use->index]], reason);
		e->outputs[use->index] = use->place;
	}
	return status;
}

/* Give the leases back. @well: the execution succeeded, and the buffers hold its outputs. */
static inline void leave_buffers(struct nnb_execution *e, bool well)
{
	if (!e->n_uses)
		return;
	nnb__buffers_give(e->prepared, e->uses, e->n_uses, well ? e->now : NULL);
	e->n_uses = 0;
}

/* ---- hardware buffers ---- */

/* Have the driver open a hardware buffer as input or output @index. */
static enum nnb_status image_open(struct nnb_execution *e, const struct nnb_memory *memory, bool output, uint32_t index,
                                  struct nnb_reason *reason)
{
	const struct nnb_prepared *p = e->prepared;
	const struct nnb_shape *shape = &e->now[output ? p->model->outputs[index] : p->model->inputs[index]];
	struct nnb_driver_image what = { .memory = memory, .index = index, .output = output, .shape = shape };
	struct image *image = &e->open_images[e->n_images];
	const char *side = output ? "output" : "input";

	if (!shape->known || (output && is_late(e))) {
		nnb_because(reason, "%s %u lies in a %s, and its dimensions are only found by running", side, index,
		            memory->name);
		return NNB_STATUS_GENERAL_FAILURE;
	}
	assert(e->n_images < (uint64_t)p->model->n_inputs + p->model->n_outputs);
	nnb_memory_description(memory, &what.description);
	if (p->device->driver->hardware_buffer_open(p->handle, &what, &image->buffer)) {
		nnb_because(reason, "%s %u: the driver cannot use this %s of format %#x, %u by %u by %u", side, index,
		            memory->name, what.description.format, what.description.width, what.description.height,
		            what.description.layers);
		return NNB_STATUS_GENERAL_FAILURE; /* P-15 */
	}
	image->output = output;
	e->n_images++;
	if (output)
		e->outputs[index] = image->buffer;
	else
		e->inputs[index] = image->buffer;
	return NNB_STATUS_NONE;
}

static bool is_image(const struct nnb_request *request, const struct nnb_argument *a)
{
	return !a->no_value && nnb_memory_kind(&request->pools[a->location.pool]) == NNB_MEMORY_HARDWARE_BUFFER;
}

/* The shapes are known now: have the driver open each argument that lies in a hardware buffer. */
static enum nnb_status open_images(struct nnb_execution *e, const struct nnb_request *request,
                                   struct nnb_reason *reason)
{
	enum nnb_status status = NNB_STATUS_NONE;

	assert(e->kept && !e->n_images && !e->run);
	if (!e->open_images)
		e->open_images = calloc((size_t)request->n_inputs + request->n_outputs + 1, sizeof(*e->open_images));
	if (!e->open_images)
		return execution_no_memory(reason);
	for (uint32_t i = 0; !status && i < request->n_inputs; i++)
		if (is_image(request, &request->inputs[i])) {
			status = image_open(e, &request->pools[request->inputs[i].location.pool], false, i, reason);
			e->kept[i] = true;
		}
	for (uint32_t i = 0; !status && i < request->n_outputs; i++)
		if (is_image(request, &request->outputs[i])) {
			status = image_open(e, &request->pools[request->outputs[i].location.pool], true, i, reason);
			e->kept[request->n_inputs + i] = true;
		}
	return status;
}

/* @well: the execution succeeded. */
static __attribute__((noinline)) void close_all_images(struct nnb_execution *e, bool well)
{
	while (e->n_images) {
		const struct image *image = &e->open_images[--e->n_images];

		e->prepared->device->driver->hardware_buffer_close(e->prepared->handle, image->buffer,
		                                                   well && image->output);
	}
}

static inline void close_images(struct nnb_execution *e, bool well)
{
	assert(!e->run); /* the driver's run uses the buffers until it ends */
	if (e->n_images)
		close_all_images(e, well);
}

/* ---- files ---- */

static __attribute__((noinline)) bool mappings_torn(const struct nnb_execution *e)
{
	const struct nnb__graph *g = e->prepared->graph;

	for (uint32_t i = 0; i < e->n_mappings; i++)
		if (e->mappings[i] && nnb_mapping_torn(e->mappings[i], e->marks[i]))
			return true;
	for (uint32_t i = 0; i < g->model->n_pools; i++)
		if (nnb_mapping_torn(g->mappings[i], e->marks[e->room + i]))
			return true;
	return false;
}

/* Until accesses_end, the CPU may access the request's dma-bufs. Both functions may be called twice. */
static __attribute__((noinline)) void begin_accesses(struct nnb_execution *e)
{
	e->accesses = true;
	for (uint32_t i = 0; i < e->n_mappings; i++)
		if (e->mappings[i])
			nnb__mapping_access_begin(e->mappings[i]);
}

static inline void accesses_begin(struct nnb_execution *e)
{
	if (e->files && !e->accesses)
		begin_accesses(e);
}

static __attribute__((noinline)) void end_accesses(struct nnb_execution *e)
{
	e->accesses = false;
	for (uint32_t i = 0; i < e->n_mappings; i++)
		if (e->mappings[i])
			nnb__mapping_access_end(e->mappings[i]);
}

static inline void accesses_end(struct nnb_execution *e)
{
	if (e->accesses)
		end_accesses(e);
}

/* ---- shapes ---- */

/* Add what the request specifies of an operand to the model's shape. */
static void shape_add_argument(struct nnb_shape *s, const struct nnb_argument *a, uint32_t type)
{
	if (a->no_value) {
		*s = (struct nnb_shape){ .omitted = true };
		return;
	}
	if (!a->rank)
		return;
	for (uint32_t d = 0; d < a->rank; d++)
		if (a->dims[d])
			s->dims[d] = a->dims[d];
	s->rank = a->rank;
	nnb__shape_look(s, type);
}

/* Add the extents of buffers to the shapes. */
static void shapes_add_buffers(struct nnb_execution *e)
{
	const struct nnb_model *m = e->prepared->model;

	for (uint32_t i = 0; i < e->n_uses; i++) {
		const struct nnb__buffer_use *use = &e->uses[i];
		struct nnb_shape *s;

		if (use->output)
			continue;
		s = &e->shapes[m->inputs[use->index]];
		s->rank = use->rank;
		memcpy(s->dims, use->dims, use->rank * sizeof(use->dims[0]));
		nnb__shape_look(s, m->operands[m->inputs[use->index]].type);
	}
}

static uint64_t operand_bytes_of(const struct nnb_execution *e, uint32_t operand)
{
	const struct nnb_shape *s = &e->now[operand];
	uint64_t bytes = 0;

	nnb_operand_bytes(e->prepared->model->operands[operand].type, s->rank, s->dims, &bytes);
	return bytes;
}

/* Copy the inputs whose values decide shapes: the app cannot change the copies. */
static enum nnb_status copy_deciding(struct nnb_execution *e, const struct nnb_request *request,
                                     struct nnb_reason *reason)
{
	const struct nnb__graph *g = e->prepared->graph;
	const struct nnb__buffer_use *use = e->uses; /* uses of inputs, in their order */

	memcpy(e->values, g->constants, g->model->n_operands * sizeof(*e->values));
	for (uint32_t i = 0; i < request->n_inputs; i++) {
		uint8_t *copy = e->deciding + (size_t)i * DECIDING_BYTES;
		bool kept = is_kept(e, &request->inputs[i]);
		uint64_t bytes;

		if (!g->value_decides[i] || request->inputs[i].no_value)
			continue;
		if (is_image(request, &request->inputs[i])) {
			nnb_because(reason, "input %u decides a shape, and lies in a hardware buffer", i);
			return NNB_STATUS_GENERAL_FAILURE;
		}
		bytes = kept ? operand_bytes_of(e, g->model->inputs[i]) : argument_bytes(e, &request->inputs[i]);
		if (bytes > DECIDING_BYTES) {
			nnb_because(reason, "input %u: %u bytes are too many to say what shape to make", i,
			            (unsigned)bytes);
			return NNB_STATUS_INVALID_ARGUMENT;
		}
		if (kept) {
			while (use->index < i)
				use++;
			assert(use < e->uses + e->n_uses && !use->output && use->index == i);
			nnb__buffer_peek(use, copy, bytes);
			e->kept[i] = false;
		} else {
			memcpy(copy, e->inputs[i], bytes);
		}
		e->inputs[i] = copy;
		e->values[g->model->inputs[i]] = copy;
	}
	return NNB_STATUS_NONE;
}

static bool as_prepared(const struct nnb__graph *g, const struct nnb_request *request)
{
	if (!g->fixed)
		return false;
	for (uint32_t i = 0; i < request->n_inputs; i++)
		if (request->inputs[i].no_value)
			return false;
	return true;
}

static enum nnb_status find_shapes(struct nnb_execution *e, const struct nnb_request *request,
                                   struct nnb_reason *reason)
{
	const struct nnb__graph *g = e->prepared->graph;
	const struct nnb_model *m = g->model;
	enum nnb_status status;

	e->now = g->shapes;
	if (as_prepared(g, request))
		return NNB_STATUS_NONE;
	if (!room_for_shapes(e))
		return execution_no_memory(reason);
	memcpy(e->shapes, g->shapes, m->n_operands * sizeof(*e->shapes));
	for (uint32_t i = 0; i < m->n_inputs; i++)
		shape_add_argument(&e->shapes[m->inputs[i]], &request->inputs[i], m->operands[m->inputs[i]].type);
	for (uint32_t i = 0; i < m->n_outputs; i++)
		shape_add_argument(&e->shapes[m->outputs[i]], &request->outputs[i], m->operands[m->outputs[i]].type);
	shapes_add_buffers(e);
	e->now = e->shapes;
	status = copy_deciding(e, request, reason);
	if (!status)
		status = nnb__graph_run_shapes(g, e->shapes, e->values, reason);
	return status ? status : nnb__device_affords(e->prepared->device, g, e->shapes, reason);
}

/* P-31: report the outputs' shapes, and whether each output has room for its shape. */
static enum nnb_status report_shapes(const struct nnb_execution *e, const struct nnb_request *request,
                                     struct nnb_output_shape *ret, struct nnb_reason *reason)
{
	const struct nnb_model *m = e->prepared->model;
	enum nnb_status status = NNB_STATUS_NONE;

	for (uint32_t i = 0; i < m->n_outputs; i++) {
		const struct nnb_shape *s = &e->now[m->outputs[i]];
		bool kept = is_kept(e, &request->outputs[i]); /* M-22: a buffer has room, or the execution fails */
		uint64_t have = kept ? UINT64_MAX : argument_bytes(e, &request->outputs[i]), need = 0;
		bool enough =
			!nnb_operand_bytes(m->operands[m->outputs[i]].type, s->rank, s->dims, &need) && need <= have;

		if (!enough) {
			if (!status)
				nnb_because(reason, "output %u: %llu bytes are needed and %llu were given", i,
				            (unsigned long long)need, (unsigned long long)have);
			status = NNB_STATUS_OUTPUT_INSUFFICIENT_SIZE;
		}
		if (ret) {
			ret[i] = (struct nnb_output_shape){ .rank = s->rank, .sufficient = enough };
			memcpy(ret[i].dims, s->dims, s->rank * sizeof(s->dims[0]));
		}
	}
	return status;
}

/* ---- where shapes are found on the way ---- */

/* nnb_run's place: the driver has found the shape of an output. */
static enum nnb_status place_output(void *arg, uint32_t output, void **ret)
{
	struct nnb_execution *e = arg;
	uint32_t operand = e->prepared->model->outputs[output];
	const struct nnb_shape *s = &e->shapes[operand];
	struct nnb__buffer_use *use = NULL; /* the output's buffer */
	enum nnb_status status = NNB_STATUS_NONE;
	uint64_t need = 0;

	assert(is_late(e) && output < e->prepared->model->n_outputs);
	for (uint32_t i = 0; !use && i < e->n_uses; i++)
		if (e->uses[i].output && e->uses[i].index == output)
			use = &e->uses[i];
	if (nnb_operand_bytes(e->prepared->model->operands[operand].type, s->rank, s->dims, &need) ||
	    need > e->room_bytes[output])
		status = NNB_STATUS_OUTPUT_INSUFFICIENT_SIZE;
	if (e->reports) {
		e->reports[output] = (struct nnb_output_shape){ .rank = s->rank, .sufficient = !status };
		memcpy(e->reports[output].dims, s->dims, s->rank * sizeof(s->dims[0]));
	}
	if (!status && use) {
		status = nnb__buffer_fit(use, s, NULL);
		e->outputs[output] = use->place;
	}
	*ret = e->outputs[output];
	return status;
}

/* ---- the life of an execution ---- */

static __attribute__((noinline)) void mark_mappings(struct nnb_execution *e)
{
	for (uint32_t i = 0; i < e->n_mappings; i++)
		e->marks[i] = e->mappings[i] ? nnb_mapping_mark(e->mappings[i]) : 0;
	for (uint32_t i = 0; i < e->prepared->model->n_pools; i++)
		e->marks[e->room + i] = nnb_mapping_mark(e->prepared->graph->mappings[i]);
}

static void run_describe(struct nnb_execution *e)
{
	e->driver_run = (struct nnb_run){
		.shapes = e->now, .inputs = e->inputs, .outputs = e->outputs, .look = &e->look, .terms = &e->terms
	};
	if (is_late(e)) {
		e->driver_run.found = e->shapes;
		e->driver_run.place = place_output;
		e->driver_run.arg = e;
		e->driver_run.loops = &e->loops;
	}
	if (e->n_uses || e->n_images) {
		e->driver_run.inputs_kept = e->kept;
		e->driver_run.outputs_kept = e->kept + e->prepared->model->n_inputs;
	}
}

static enum nnb_status begin_run(struct nnb_execution *e)
{
	enum nnb_status status;

	assert(!e->run);
	if (is_late(e))
		memcpy(e->shapes, e->asked, e->prepared->model->n_operands * sizeof(*e->shapes));
	e->next_op = 0;
	accesses_begin(e);
	if (e->files)
		mark_mappings(e);
	status = e->prepared->device->driver->run_begin(e->prepared->handle, &e->driver_run, &e->run);
	if (status) /* a burst may free a mapping before the next call for @e */
		accesses_end(e);
	return status;
}

static void execution_end_run(struct nnb_execution *e)
{
	if (e->run)
		e->prepared->device->driver->run_end(e->run);
	e->run = NULL;
}

/* Unbind the request: end the driver's run, and give back mappings and leases. */
static void execution_unbind(struct nnb_execution *e)
{
	e->computed = false;
	execution_end_run(e);
	close_images(e, false);
	leave_buffers(e, false);
	accesses_end(e);
	for (uint32_t i = 0; e->mapped_here && i < e->n_mappings; i++) {
		nnb_mapping_unref(e->mappings[i]);
		if (e->mappings[i])
			nnb__emit_pool_unmap(NBT_owner_exec, e->exec, (int32_t)i, NBT_cause_owner_end);
	}
	e->n_mappings = 0;
}

static enum nnb_status execution_bind(struct nnb_execution *e, const struct nnb_request *request,
                                      struct nnb_mapping *const *mappings, struct nnb_buffer *const *held,
                                      struct nnb_output_shape *shapes, struct nnb_reason *reason)
{
	const struct nnb_model *m = e->prepared->model;
	uint64_t untouched = TOUCHED_MOST;
	enum nnb_status status = bind_pools(e, request, mappings, reason);

	if (!status) {
		accesses_begin(e);
		for (uint32_t i = 0; i < request->n_inputs; i++)
			e->inputs[i] = argument_at(e, &request->inputs[i]);
		for (uint32_t i = 0; i < request->n_outputs; i++) {
			e->outputs[i] = argument_at(e, &request->outputs[i]);
			if (e->files && e->outputs[i])
				note_written(e, &request->outputs[i]);
			if (e->mapped_here && e->outputs[i])
				untouched -= nnb__mapping_touch(e->mappings[request->outputs[i].location.pool],
				                                e->outputs[i], argument_bytes(e, &request->outputs[i]),
				                                untouched);
		}
		if ((e->tokens || e->images) && !kept_none(e))
			status = without_buffers(e, request, held, execution_no_memory(reason), reason);
		if (!status && e->tokens)
			status = bind_buffers(e, request, held, reason);
	} else {
		status = without_buffers(e, request, held, status, reason);
	}
	if (!status)
		status = find_shapes(e, request, reason);
	if (status == NNB_STATUS_INVALID_ARGUMENT) { /* no buffer was changed then */
		nnb__buffers_take_back(e->uses, e->n_uses);
		e->n_uses = 0;
	}
	if (!status)
		status = report_shapes(e, request, shapes, reason);
	/* shapes are found on the way: note the room of each output before the first operation runs */
	if (!status && is_late(e)) {
		memcpy(e->asked, e->shapes, m->n_operands * sizeof(*e->asked));
		e->reports = shapes;
		for (uint32_t i = 0; i < m->n_outputs; i++)
			e->room_bytes[i] =
				is_kept(e, &request->outputs[i]) ? UINT64_MAX : argument_bytes(e, &request->outputs[i]);
	}
	if (!status)
		status = fit_buffers(e, reason);
	if (!status && e->images)
		status = open_images(e, request, reason);
	if (!status) {
		run_describe(e);
		status = begin_run(e);
	}
	if (status)
		execution_unbind(e);
	return status;
}

static enum nnb_status execution_begin(struct nnb_prepared *p, const struct nnb_request *request,
                                       struct nnb_mapping *const *mappings, struct nnb_buffer *const *held,
                                       struct nnb_memory *taken, bool fenced, struct nnb_output_shape *shapes,
                                       struct nnb_execution **ret, struct nnb_reason *reason)
{
	enum nnb_status status = nnb__request_validate(p->model, p->graph->may_omit, request, fenced, reason);
	struct nnb_execution *e;

	if (status)
		return status;
	pthread_mutex_lock(&p->lock);
	e = p->idle;
	if (e) {
		assert(p->n_idle > 0);
		p->idle = e->next_idle;
		p->n_idle--;
	}
	pthread_mutex_unlock(&p->lock);
	if (!e)
		e = execution_new(p);
	if (e) {
		e->prepared = nnb_prepared_ref(p);
		nnb__execution_loops(e, 0, NULL, NULL);
		e->terms = (struct nnb_run_terms){ .priority = p->how.priority };
	}
	if (!e) {
		nnb__buffers_fail(p, request);
		return execution_no_memory(reason);
	}
	e->taken = taken;
	status = execution_bind(e, request, mappings, held, shapes, reason);
	e->taken = NULL;
	if (status)
		nnb_execution_end(e);
	else
		*ret = e;
	return status;
}

enum nnb_status nnb_execution_begin(struct nnb_prepared *p, const struct nnb_request *request,
                                    struct nnb_mapping *const *mappings, bool fenced, struct nnb_output_shape *shapes,
                                    struct nnb_execution **ret, struct nnb_reason *reason)
{
	return execution_begin(p, request, mappings, NULL, NULL, fenced, shapes, ret, reason);
}

enum nnb_status nnb__execution_begin_held(struct nnb_prepared *p, const struct nnb_request *request,
                                          struct nnb_memory *pools, struct nnb_buffer *const *held,
                                          struct nnb_output_shape *shapes, struct nnb_execution **ret,
                                          struct nnb_reason *reason)
{
	assert(request->pools == pools);
	return execution_begin(p, request, NULL, held, pools, false, shapes, ret, reason);
}

enum nnb_status nnb_execution_again(struct nnb_execution *e, const struct nnb_request *request,
                                    struct nnb_mapping *const *mappings, bool fenced, struct nnb_output_shape *shapes,
                                    struct nnb_reason *reason)
{
	struct nnb_prepared *p = e->prepared;
	enum nnb_status status = nnb__request_validate(p->model, p->graph->may_omit, request, fenced, reason);

	execution_unbind(e);
	return status ? status : execution_bind(e, request, mappings, NULL, shapes, reason);
}

uint64_t nnb__execution_work_limit(const struct nnb_execution *e)
{
	return e->prepared->device->work_ns;
}

void nnb__execution_look(struct nnb_execution *e, bool (*goes_on)(void *arg), void *arg)
{
	e->look = (struct nnb_look){ goes_on, arg };
}

void nnb__execution_loops(struct nnb_execution *e, uint64_t timeout_ns,
                          void (*iterated)(void *arg, uint32_t op, uint32_t depth, uint64_t iteration), void *arg)
{
	if (!is_late(e)) /* it has no loops, and the driver does not get the address */
		return;
	if (!timeout_ns)
		timeout_ns = NNB_LOOP_DEFAULT_NS;
	e->loops.timeout_ns = timeout_ns < NNB_LOOP_MAX_NS ? timeout_ns : NNB_LOOP_MAX_NS;
	e->loops.iterated = iterated;
	e->loops.arg = arg;
}

void nnb__execution_deadline(struct nnb_execution *e, uint64_t deadline_ns)
{
	e->terms.deadline_ns = deadline_ns;
}

void nnb__execution_burst(struct nnb_execution *e, const struct nnb__burst_context *context)
{
	e->terms.burst = context->driver;
}

uint32_t nnb__execution_op_type(const struct nnb_execution *e, uint32_t op)
{
	assert(op < e->prepared->model->n_operations);
	return e->prepared->model->operations[op].type;
}

void nnb__execution_give_up(struct nnb_execution *e)
{
	e->computed = false;
	execution_end_run(e);
	accesses_end(e);
	close_images(e, false);
	leave_buffers(e, false);
}

enum nnb_status nnb__execution_compute(struct nnb_execution *e, bool (*checkpoint)(void *arg, uint32_t next_op),
                                       void *arg, bool *finished)
{
	const struct nnb_driver *driver = e->prepared->device->driver;
	uint32_t n = e->prepared->model->n_operations, first = e->next_op;
	enum nnb_status status;

	*finished = true;
	if (!e->run) /* the execution has finished or failed */
		return NNB_STATUS_GENERAL_FAILURE;
	while (e->next_op < n) {
		if (checkpoint && e->next_op > first && !checkpoint(arg, e->next_op)) {
			if (driver->run_park)
				driver->run_park(e->run);
			*finished = false;
			return NNB_STATUS_NONE;
		}
		status = driver->run_op(e->run, e->next_op);
		if (status) {
			nnb__execution_give_up(e);
			return status;
		}
		e->next_op++;
	}
	/* All operations have run. Publish the outputs, or fail if a pool was torn meanwhile. */
	assert(e->next_op == e->prepared->model->n_operations);
	execution_end_run(e);
	status = e->files && mappings_torn(e) ? NNB_STATUS_GENERAL_FAILURE : NNB_STATUS_NONE;
	close_images(e, !status);
	if (__builtin_expect(!status && e->flushes, 0)) { /* leases end, and buffers are valid, after the flush only */
		e->computed = true;
		return NNB_STATUS_NONE;
	}
	accesses_end(e);
	leave_buffers(e, !status);
	return status;
}

bool nnb__execution_is_computed(const struct nnb_execution *e)
{
	return e->computed;
}

enum nnb_status nnb__execution_publish(struct nnb_execution *e)
{
	enum nnb_status status = NNB_STATUS_NONE;

	if (!e->computed)
		return status;
	e->computed = false;
	for (uint32_t i = 0; !status && i < e->n_mappings; i++) {
		const struct span *w = &e->written[i];

		if (w->from < w->to &&
		    nnb__mapping_flush(e->mappings[i], w->from, w->to)) /* P-16: after success only */
			status = NNB_STATUS_GENERAL_FAILURE;
	}
	accesses_end(e);
	leave_buffers(e, !status);
	return status;
}

enum nnb_status nnb_execution_run(struct nnb_execution *e, bool (*checkpoint)(void *arg, uint32_t next_op), void *arg,
                                  bool *finished)
{
	enum nnb_status status = nnb__execution_compute(e, checkpoint, arg, finished);

	return status ? status : nnb__execution_publish(e);
}

enum nnb_status nnb_execution_restart(struct nnb_execution *e)
{
	if ((e->tokens && !e->n_uses) || (e->images && !e->n_images)) /* its buffers were given back */
		return NNB_STATUS_GENERAL_FAILURE;
	execution_end_run(e);
	return begin_run(e);
}

bool nnb__execution_repeats(const struct nnb_execution *e)
{
	return e->now == e->prepared->graph->shapes && !e->tokens && !e->images;
}

bool nnb__execution_uses_files(const struct nnb_execution *e)
{
	return e->files;
}

/* Find the mapping of the request that contains the address, and the offset in it. NULL: no mapping contains it. */
static const struct nnb_mapping *mapping_around(const struct nnb_execution *e, const void *at, uint64_t *offset)
{
	for (uint32_t i = 0; i < e->n_mappings; i++) {
		uintptr_t data;

		if (!e->mappings[i])
			continue;
		data = (uintptr_t)nnb_mapping_data(e->mappings[i]);
		*offset = (uintptr_t)at - data;
		if ((uintptr_t)at >= data && *offset < nnb_mapping_size(e->mappings[i]))
			return e->mappings[i];
	}
	return NULL;
}

/* Does the output overlap @bytes at offset @at of mapping @in? */
static bool output_overlaps(const struct nnb_execution *e, uint32_t output, const struct nnb_mapping *in, uint64_t at,
                            uint64_t bytes)
{
	uint64_t out_at;
	const struct nnb_mapping *out = mapping_around(e, e->outputs[output], &out_at);

	if (!in || !out || !nnb__mapping_same_file(in, &at, out, &out_at))
		return false;
	return at < out_at + operand_bytes_of(e, e->prepared->model->outputs[output]) && out_at < at + bytes;
}

/* Does the output overlap an input, or a pool of the model's constants? */
static bool output_spoils(const struct nnb_execution *e, uint32_t output)
{
	const struct nnb_model *m = e->prepared->model;
	const struct nnb_mapping *in;
	uint64_t at;

	for (uint32_t i = 0; i < m->n_inputs; i++) {
		in = e->inputs[i] ? mapping_around(e, e->inputs[i], &at) : NULL;
		if (output_overlaps(e, output, in, at, operand_bytes_of(e, m->inputs[i])))
			return true;
	}
	for (uint32_t i = 0; i < m->n_pools; i++) {
		in = e->prepared->graph->mappings[i];
		if (output_overlaps(e, output, in, 0, nnb_mapping_size(in)))
			return true;
	}
	return false;
}

bool nnb__execution_can_restart(const struct nnb_execution *e)
{
	const struct nnb_model *m = e->prepared->model;
	uint64_t looks = (uint64_t)m->n_outputs * ((uint64_t)m->n_inputs + m->n_pools) * (e->n_mappings + (uint64_t)1);

	if (is_late(e)) /* the lengths of its outputs are unknown */
		return false;
	if (e->images) /* only the driver knows which inputs and outputs share a hardware buffer */
		return false;
	if (looks > LOOKS_MAX) /* the check would take longer than a restart saves */
		return false;
	for (uint32_t i = 0; i < m->n_outputs; i++)
		if (output_spoils(e, i))
			return false;
	return true;
}

enum nnb_status nnb__prepared_check(const struct nnb_prepared *p, const struct nnb_request *request,
                                    struct nnb_reason *reason)
{
	return request->pools || !request->n_pools
	               ? nnb__request_validate(p->model, p->graph->may_omit, request, false, reason)
	               : nnb__request_validate_unplaced(p->model, p->graph->may_omit, request, reason);
}

bool nnb__prepared_is_fixed(const struct nnb_prepared *p)
{
	return p->graph->fixed;
}

uint32_t nnb_execution_next_op(const struct nnb_execution *e)
{
	return e->next_op;
}

struct nnb_execution *nnb_execution_end(struct nnb_execution *e)
{
	struct nnb_prepared *p;
	bool kept;

	if (!e)
		return NULL;
	p = e->prepared;
	execution_unbind(e);
	pthread_mutex_lock(&p->lock);
	kept = p->n_idle < IDLE_MAX;
	if (kept) {
		e->next_idle = p->idle;
		p->idle = e;
		p->n_idle++;
	}
	pthread_mutex_unlock(&p->lock);
	if (!kept)
		execution_free(e, p);
	nnb_prepared_unref(p); /* may free @e with it */
	return NULL;
}

enum nnb_status nnb_execute(struct nnb_prepared *p, const struct nnb_request *request, struct nnb_output_shape *shapes,
                            struct nnb_reason *reason)
{
	struct nnb_execution *e;
	enum nnb_status status = nnb_execution_begin(p, request, NULL, false, shapes, &e, reason);
	bool finished;

	if (status)
		return status;
	status = nnb_execution_run(e, NULL, NULL, &finished);
	if (status)
		nnb_because(reason, "running the model failed at operation %u", e->next_op);
	nnb_execution_end(e);
	return status;
}
