/*
 * buffer.c -- buffers that a device keeps: found by their token, allocated for roles, used by one writer or many
 * readers.
 *
 * LAYOUT    A device has all of its buffers in lists, by the low bits of their tokens, which are random.
 * CONCURRENCY  Any thread. Each device has one lock, for the lists and for the state of each buffer. It is held for one
 *           buffer at a time, and no thread waits, allocates or copies under it. A user of a buffer holds a lease,
 *           under which it reads or writes without the lock: many leases to read, or one to write. A lease is granted
 *           at once or refused. The memory belongs to the writer while there is one, and does not change otherwise.
 * ORDERING  A lease is taken and given back under the lock, so the next user sees what the last writer wrote.
 * LIFETIME  There are two counts: references keep the token valid; leases, and holders that will use the buffer
 *           later, keep the memory. The buffer is freed when both are 0.
 * TRUST     Tokens, roles, extents and memories to copy are untrusted. Each use looks the token up and checks the
 *           buffer's owner and roles (M-21).
 */
#include "driver/buffer.h"

#include <assert.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/lock.h"
#include "base/pages.h"
#include "driver/device.h"
#include "memory/gate.h"
#include "memory/handle.h"
#include "model/reason.h"
#include "model/roles.h"
#include "nbt/nbt.h"

#define REFUSED(reason, ...) (nnb_because(reason, __VA_ARGS__), NNB_STATUS_INVALID_ARGUMENT)
#define FAILED(reason, ...) (nnb_because(reason, __VA_ARGS__), NNB_STATUS_GENERAL_FAILURE)

enum { LOOKS_MAX = 1 << 24 }; /* limit of the comparisons of an output's token with earlier arguments */

struct nnb_buffer {
	struct nnb_device *device; /* held */
	struct nnb__buffer_keeper keeper;
	struct nnb_memory memory; /* its token */
	uint64_t token;
	struct nnb__buffer_kind kind; /* its kind before the first write */
	/* sorted; graph is the prepared model's id: another at the same address has another */
	struct nnb_driver_role *roles;
	uint32_t n_roles;

	struct nnb_buffer *next; /* in its list; the lock guards this and the following fields */
	uint32_t refs, holds, readers;
	bool writing, initialised;
	uint32_t rank; /* the extents written last */
	uint32_t dims[NNB_RANK_MAX];

	void *place;                    /* the driver's; NULL until it is made. See CONCURRENCY */
	_Atomic uint64_t room, refused; /* bytes; refused: of the last allocation that failed */
};

void nnb__buffers_init(struct nnb__buffers *all)
{
	*all = (struct nnb__buffers){ 0 };
	pthread_mutex_init(&all->lock, NULL);
}

void nnb__buffers_fini(struct nnb__buffers *all)
{
	pthread_mutex_destroy(&all->lock);
}

/* ---- the lists; under the lock ---- */

static struct nnb_buffer **list_of(struct nnb__buffers *all, uint64_t token)
{
	return &all->by_token[token % (sizeof(all->by_token) / sizeof(all->by_token[0]))];
}

static struct nnb_buffer *buffer_find(struct nnb__buffers *all, uint64_t token)
{
	struct nnb_buffer *b = *list_of(all, token);

	assert(nnb__is_locked(&all->lock));
	while (b && b->token != token)
		b = b->next;
	return b;
}

/* M-4 */
static int buffer_enlist(struct nnb__buffers *all, struct nnb_buffer *b)
{
	struct nnb_buffer **list;
	uint64_t token;

	assert(nnb__is_locked(&all->lock));
	do {
		if (getrandom(&token, sizeof(token), 0) != sizeof(token))
			return -EIO;
	} while (!token || buffer_find(all, token));
	b->token = token;
	list = list_of(all, token);
	b->next = *list;
	*list = b;
	return 0;
}

/* ---- roles ---- */

static int by_role(const void *a, const void *b)
{
	const struct nnb_driver_role *x = a, *y = b;

	if (x->graph != y->graph)
		return x->graph < y->graph ? -1 : 1;
	if (x->output != y->output)
		return x->output < y->output ? -1 : 1;
	return (x->index > y->index) - (x->index < y->index);
}

static bool has_role(const struct nnb_buffer *b, const struct nnb_prepared *p, bool output, uint32_t index)
{
	const struct nnb_driver_role role = { .graph = p->id, .index = index, .output = output };

	return bsearch(&role, b->roles, b->n_roles, sizeof(role), by_role);
}

static struct nnb_driver_role role_of(const struct nnb_prepared *p, const struct nnb_buffer_role *role, bool output)
{
	return (struct nnb_driver_role){ .graph = p->id,
		                         .index = role->index,
		                         .output = output,
		                         .frequency = role->frequency,
		                         .preference = p->how.preference,
		                         .priority = p->how.priority };
}

static int note_roles(struct nnb_buffer *b, struct nnb_prepared *const *models, const struct nnb_buffer_desc *desc)
{
	b->roles = calloc((size_t)desc->n_inputs + desc->n_outputs, sizeof(*b->roles));
	if (!b->roles)
		return -ENOMEM;
	for (uint32_t i = 0; i < desc->n_inputs; i++)
		b->roles[b->n_roles++] = role_of(models[desc->inputs[i].model], &desc->inputs[i], false);
	for (uint32_t i = 0; i < desc->n_outputs; i++)
		b->roles[b->n_roles++] = role_of(models[desc->outputs[i].model], &desc->outputs[i], true);
	assert(b->n_roles == desc->n_inputs + desc->n_outputs);
	qsort(b->roles, b->n_roles, sizeof(*b->roles), by_role);
	return 0;
}

/* ---- places ---- */

static void budget_give_room(const struct nnb__budget *budget, uint64_t bytes)
{
	if (budget->give)
		budget->give(budget->arg, 0, bytes);
}

static void buffer_vacate(struct nnb_buffer *b)
{
	if (!b->place)
		return;
	b->device->driver->buffer_free(b->device->handle, b->place, b->room);
	budget_give_room(&b->keeper.budget, b->room);
	b->place = NULL;
	b->room = 0;
}

/* Make room for contents of @kind. If the memory must grow, the old contents are lost. */
static enum nnb_status buffer_make_room(struct nnb_buffer *b, const struct nnb__buffer_kind *kind,
                                        struct nnb_reason *reason)
{
	const struct nnb__budget *budget = &b->keeper.budget;
	uint64_t bytes = kind->bytes ? kind->bytes : 1; /* an output without elements needs an address, too */
	struct nnb_driver_buffer what = { .bytes = bytes,
		                          .type = kind->type,
		                          .rank = kind->rank,
		                          .fixed = b->kind.bytes,
		                          .roles = b->roles,
		                          .n_roles = b->n_roles };
	enum nnb_status status = NNB_STATUS_NONE;
	int r;

	if (b->place && bytes <= b->room)
		return status;
	buffer_vacate(b);
	if (budget->take)
		status = budget->take(budget->arg, 0, bytes);
	b->refused = status ? bytes : 0;
	if (status) {
		nnb_because(reason, "the budget has no room for %llu bytes now", (unsigned long long)bytes);
		return status;
	}
	memcpy(what.dims, kind->dims, sizeof(what.dims));
	r = b->device->driver->buffer_new(b->device->handle, &what, &b->place);
	if (!r) {
		b->room = bytes;
		return status;
	}
	b->place = NULL;
	budget_give_room(budget, bytes);
	nnb_because(reason, "the driver has no %llu bytes for a buffer: %s", (unsigned long long)bytes, strerror(-r));
	return r == -ENOMEM ? NNB_STATUS_RESOURCE_EXHAUSTED_TRANSIENT : NNB_STATUS_GENERAL_FAILURE;
}

static uint64_t with_slack(uint64_t bytes)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);

	return (bytes + NNB_MAPPING_SLACK + page - 1) / page * page;
}

/* Touch all pages now, so that the first execution has no page faults. */
int nnb_plain_buffer_new(void *device, const struct nnb_driver_buffer *what, void **ret)
{
	void *p;

	(void)device;
	if (what->bytes > INT64_MAX / 2)
		return -ENOMEM;
	p = mmap(NULL, with_slack(what->bytes), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED)
		return -errno;
	nnb__pages_make(p, with_slack(what->bytes));
	*ret = p;
	return 0;
}

void nnb_plain_buffer_free(void *device, void *buffer, uint64_t bytes)
{
	(void)device;
	nnb__pages_drop(buffer, with_slack(bytes));
	munmap(buffer, with_slack(bytes));
}

/* ---- life ---- */

static void buffer_free(struct nnb_buffer *b)
{
	buffer_vacate(b);
	nnb_device_unref(b->device);
	free(b->roles);
	free(b);
}

/*
 * Call this under the lock. True: the buffer has no reference and no holder, and the caller must free it after
 * unlocking.
 */
static bool is_unused(const struct nnb_buffer *b)
{
	return !b->refs && !b->holds && !b->readers && !b->writing;
}

/* Without the lock. */
static void buffer_end(struct nnb_buffer *b)
{
	const struct nnb__buffer_keeper keeper = b->keeper;

	assert(is_unused(b));
	buffer_free(b);
	if (keeper.gone)
		keeper.gone(keeper.budget.arg);
}

static enum nnb_status buffer_no_memory(struct nnb_reason *reason)
{
	nnb_because(reason, "no memory for a buffer");
	return NNB_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
}

enum nnb_status nnb__buffer_new(struct nnb_buffer **ret, struct nnb_device *d, struct nnb_prepared *const *models,
                                uint32_t n_models, const struct nnb_buffer_desc *desc,
                                const struct nnb__buffer_keeper *keeper, struct nnb_reason *reason)
{
	const struct nnb_model **known = calloc((size_t)n_models + 1, sizeof(struct nnb_model *));
	struct nnb__buffer_kind kind;
	enum nnb_status status;
	struct nnb_buffer *b;
	int r = 0;

	if (!known)
		return buffer_no_memory(reason);
	/* Combine all of its roles into one kind. */
	for (uint32_t i = 0; i < n_models; i++)
		known[i] = models[i] && models[i]->device == d ? models[i]->model : NULL;
	status = nnb__roles_combine(&kind, known, n_models, desc, reason);
	free(known);
	if (status)
		return status;
	if (!d->driver->buffer_new)
		return FAILED(reason, "driver %s keeps no buffers", d->driver->name); /* M-2 */
	b = calloc(1, sizeof(*b));
	if (!b)
		return buffer_no_memory(reason);
	b->device = nnb__device_ref(d);
	b->keeper = *keeper;
	b->kind = kind;
	b->refs = 1;
	if (note_roles(b, models, desc))
		status = buffer_no_memory(reason);
	/* M-33: if the size is unknown, the memory is allocated later. */
	if (!status && kind.bytes)
		status = buffer_make_room(b, &kind, reason);
	if (!status) {
		pthread_mutex_lock(&d->buffers.lock);
		r = buffer_enlist(&d->buffers, b);
		pthread_mutex_unlock(&d->buffers.lock);
	}
	if (r)
		status = FAILED(reason, "no random number for its token");
	if (status) {
		buffer_free(b);
		return status;
	}
	nnb_memory_token(&b->memory, b->token);
	*ret = b;
	return NNB_STATUS_NONE;
}

enum nnb_status nnb_buffer_new(struct nnb_buffer **ret, struct nnb_device *device, struct nnb_prepared *const *models,
                               uint32_t n_models, const struct nnb_buffer_desc *desc, struct nnb_reason *reason)
{
	return nnb__buffer_new(ret, device, models, n_models, desc, &(struct nnb__buffer_keeper){ 0 }, reason);
}

struct nnb_buffer *nnb_buffer_ref(struct nnb_buffer *b)
{
	pthread_mutex_lock(&b->device->buffers.lock);
	assert(b->refs > 0);
	b->refs++;
	pthread_mutex_unlock(&b->device->buffers.lock);
	return b;
}

struct nnb_buffer *nnb_buffer_unref(struct nnb_buffer *b)
{
	struct nnb__buffers *all = b ? &b->device->buffers : NULL;
	bool unused = false;

	if (!b)
		return NULL;
	pthread_mutex_lock(&all->lock);
	assert(b->refs > 0);
	if (--b->refs == 0) {
		struct nnb_buffer **at = list_of(all, b->token);

		while (*at != b) {
			assert(*at); /* the buffer is in its list */
			at = &(*at)->next;
		}
		*at = b->next;
		unused = is_unused(b);
	}
	pthread_mutex_unlock(&all->lock);
	if (unused)
		buffer_end(b);
	return NULL;
}

const struct nnb_memory *nnb_buffer_memory(const struct nnb_buffer *b)
{
	return &b->memory;
}

uint64_t nnb__buffer_token(const struct nnb_buffer *b)
{
	return b->token;
}

/* ---- leases; to take one, under the lock ---- */

static enum nnb_status in_use(struct nnb_reason *reason)
{
	return FAILED(reason, "the buffer is in use"); /* M-11 */
}

static enum nnb_status may_read(const struct nnb_buffer *b, struct nnb_reason *reason)
{
	assert(nnb__is_locked(&b->device->buffers.lock));
	if (b->writing)
		return in_use(reason);
	return b->initialised ? NNB_STATUS_NONE : FAILED(reason, "the buffer is not initialised");
}

static enum nnb_status may_write(const struct nnb_buffer *b, struct nnb_reason *reason)
{
	assert(nnb__is_locked(&b->device->buffers.lock));
	return b->writing || b->readers ? in_use(reason) : NNB_STATUS_NONE;
}

static void read_lease(struct nnb_buffer *b)
{
	assert(nnb__is_locked(&b->device->buffers.lock));
	assert(!b->writing);
	b->readers++;
}

static void write_lease(struct nnb_buffer *b)
{
	assert(nnb__is_locked(&b->device->buffers.lock));
	assert(!b->writing && !b->readers);
	b->writing = true;
	b->initialised = false;
}

static void give_read(struct nnb_buffer *b)
{
	pthread_mutex_t *lock = &b->device->buffers.lock;
	bool unused;

	pthread_mutex_lock(lock);
	assert(b->readers > 0 && !b->writing);
	b->readers--;
	unused = is_unused(b);
	pthread_mutex_unlock(lock);
	if (unused)
		buffer_end(b);
}

/* End a write. @dims: the extents of what was written; NULL: the write failed. */
static void give_write(struct nnb_buffer *b, uint32_t rank, const uint32_t *dims)
{
	pthread_mutex_t *lock = &b->device->buffers.lock;
	bool unused;

	pthread_mutex_lock(lock);
	assert(b->writing && !b->readers);
	b->writing = false;
	if (dims) {
		assert(rank <= NNB_RANK_MAX);
		b->initialised = true;
		b->rank = rank;
		memcpy(b->dims, dims, rank * sizeof(dims[0]));
	}
	unused = is_unused(b);
	pthread_mutex_unlock(lock);
	if (unused)
		buffer_end(b);
}

/* ---- copies ---- */

static void put_bytes(struct nnb_buffer *b, const void *from, uint64_t bytes)
{
	assert(bytes <= b->room);
	if (b->device->driver->buffer_write)
		b->device->driver->buffer_write(b->place, from, bytes);
	else
		memcpy(b->place, from, bytes);
}

static void get_bytes(const struct nnb_buffer *b, void *to, uint64_t bytes)
{
	assert(bytes <= b->room);
	if (b->device->driver->buffer_read)
		b->device->driver->buffer_read(b->place, to, bytes);
	else
		memcpy(to, b->place, bytes);
}

/* The other side of a copy. */
static enum nnb_status map_other(struct nnb_mapping **ret, const struct nnb_memory *memory, bool to_write,
                                 struct nnb_reason *reason)
{
	int r;

	if (nnb_memory_check(memory) == -EINVAL)
		return REFUSED(reason, "the memory's handle does not match its kind");
	r = nnb_map(ret, memory);
	if (r == -EBUSY)
		return nnb_because(reason, NNB__GATE_REASON), NNB_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
	if (r)
		return FAILED(reason, "the memory (%s) cannot be mapped", memory->name);
	if (to_write ? nnb_mapping_writable(*ret) : nnb_mapping_readable(*ret))
		return NNB_STATUS_NONE;
	nnb_mapping_unref(*ret);
	return REFUSED(reason, "the memory may not be %s", to_write ? "written" : "read");
}

/* Give the kind these extents. */
static enum nnb_status with_extents(struct nnb__buffer_kind *kind, uint32_t rank, const uint32_t *dims,
                                    struct nnb_reason *reason)
{
	struct nnb__buffer_kind k = *kind;

	if (rank && !nnb_type_info(k.type)->tensor)
		return REFUSED(reason, "a scalar has no dimensions");
	if (!rank && !k.bytes)
		return REFUSED(reason, "the buffer's dimensions are not all known: they must be given");
	if (rank > NNB_RANK_MAX)
		return REFUSED(reason, "%u dimensions", rank);
	for (uint32_t d = 0; d < rank; d++)
		if (!dims[d])
			return REFUSED(reason, "dimension %u is 0", d);
	if (!nnb__kind_combine(&k, rank, dims))
		return REFUSED(reason, "the dimensions contradict what the buffer was allocated with");
	if (nnb_operand_bytes(k.type, k.rank, k.dims, &k.bytes))
		return REFUSED(reason, "it is larger than 2^64 bytes");
	*kind = k;
	return NNB_STATUS_NONE;
}

static enum nnb_status wrong_size(const struct nnb_memory *memory, uint64_t bytes, struct nnb_reason *reason)
{
	return REFUSED(reason, "the memory has %llu bytes and not %llu", (unsigned long long)memory->size,
	               (unsigned long long)bytes);
}

static enum nnb_status check_source(struct nnb__buffer_kind *kind, const struct nnb_memory *from, uint32_t rank,
                                    const uint32_t *dims, struct nnb_reason *reason)
{
	enum nnb_status status = with_extents(kind, rank, dims, reason);

	return status || from->size == kind->bytes ? status : wrong_size(from, kind->bytes, reason);
}

/* Emit, for the buffer's keeper, that the copy is not allowed. */
static void copy_emit_reject(const struct nnb_buffer *b, enum nbt_reject cause)
{
	if (b->keeper.serial)
		NBT(buffer_reject, .buffer = b->keeper.serial, .cause = cause);
}

static enum nnb_status check_source_of(const struct nnb_buffer *b, struct nnb__buffer_kind *kind,
                                       const struct nnb_memory *from, uint32_t rank, const uint32_t *dims,
                                       struct nnb_reason *reason)
{
	enum nnb_status status;

	*kind = b->kind;
	status = check_source(kind, from, rank, dims, reason);
	if (status == NNB_STATUS_INVALID_ARGUMENT)
		copy_emit_reject(b, NBT_reject_dimensions);
	return status;
}

enum nnb_status nnb__copy_source(struct nnb_mapping **ret, struct nnb__buffer_kind *kind, const struct nnb_memory *from,
                                 uint32_t rank, const uint32_t *dims, struct nnb_reason *reason)
{
	enum nnb_status status = check_source(kind, from, rank, dims, reason);

	return status ? status : map_other(ret, from, false, reason);
}

enum nnb_status nnb__copy_target(struct nnb_mapping **ret, uint64_t bytes, const struct nnb_memory *to,
                                 struct nnb_reason *reason)
{
	return to->size == bytes ? map_other(ret, to, true, reason) : wrong_size(to, bytes, reason);
}

enum nnb_status nnb__copy_finish(struct nnb_mapping *m, bool written, uint32_t mark, struct nnb_reason *reason)
{
	if (!(written && nnb_mapping_flush(m)) && !nnb_mapping_torn(m, mark))
		return NNB_STATUS_NONE;
	return FAILED(reason, "the memory was cut short meanwhile, or cannot be written to its file");
}

/* The write failed: the buffer has no valid contents, unless it is in use and keeps the old ones. */
static void buffer_spoil(struct nnb_buffer *b)
{
	pthread_mutex_lock(&b->device->buffers.lock);
	if (!may_write(b, NULL))
		b->initialised = false;
	pthread_mutex_unlock(&b->device->buffers.lock);
}

enum nnb_status nnb__buffer_not_copied(struct nnb_buffer *b, const struct nnb_memory *from, uint32_t rank,
                                       const uint32_t *dims, struct nnb_reason *reason)
{
	struct nnb__buffer_kind k;
	enum nnb_status status = check_source_of(b, &k, from, rank, dims, reason);

	if (!status)
		buffer_spoil(b);
	return status;
}

enum nnb_status nnb_buffer_copy_from(struct nnb_buffer *b, const struct nnb_memory *from, uint32_t rank,
                                     const uint32_t *dims, struct nnb_reason *reason)
{
	struct nnb__buffer_kind k;
	struct nnb_mapping *m;
	enum nnb_status status = check_source_of(b, &k, from, rank, dims, reason);
	uint32_t mark;

	if (!status)
		status = map_other(&m, from, false, reason);
	if (status) {
		if (status != NNB_STATUS_INVALID_ARGUMENT)
			buffer_spoil(b);
		return status;
	}
	pthread_mutex_lock(&b->device->buffers.lock);
	status = may_write(b, reason);
	if (!status)
		write_lease(b);
	pthread_mutex_unlock(&b->device->buffers.lock);
	if (!status) {
		status = buffer_make_room(b, &k, reason);
		mark = nnb_mapping_mark(m);
		if (!status)
			put_bytes(b, nnb_mapping_data(m), k.bytes);
		if (!status)
			status = nnb__copy_finish(m, false, mark, reason);
		b->refused = 0; /* the refusal concerned executions */
		give_write(b, k.rank, status ? NULL : k.dims);
	}
	nnb_mapping_unref(m);
	return status;
}

/*
 * M-32: check that the whole contents may be copied to @to. *bytes: their size; 0: unknown. @take: with NONE, the
 * caller gets a lease.
 */
static enum nnb_status copy_out_check(struct nnb_buffer *b, const struct nnb_memory *to, bool take, uint64_t *bytes,
                                      struct nnb_reason *reason)
{
	enum nnb_status status;

	*bytes = b->kind.bytes;
	pthread_mutex_lock(&b->device->buffers.lock);
	status = may_read(b, reason);
	if (!status)
		nnb_operand_bytes(b->kind.type, b->rank, b->dims, bytes);
	if (*bytes && to->size != *bytes) { /* the size comes first, where there is one */
		status = wrong_size(to, *bytes, reason);
		copy_emit_reject(b, NBT_reject_dimensions);
	} else if (status && !b->writing) {
		copy_emit_reject(b, NBT_reject_uninitialised);
	}
	if (!status && take)
		read_lease(b);
	pthread_mutex_unlock(&b->device->buffers.lock);
	return status;
}

enum nnb_status nnb__buffer_not_read(struct nnb_buffer *b, const struct nnb_memory *to, struct nnb_reason *reason)
{
	uint64_t bytes;

	return copy_out_check(b, to, false, &bytes, reason);
}

enum nnb_status nnb_buffer_copy_to(struct nnb_buffer *b, const struct nnb_memory *to, struct nnb_reason *reason)
{
	struct nnb_mapping *m;
	uint64_t bytes;
	enum nnb_status status = copy_out_check(b, to, true, &bytes, reason);
	uint32_t mark;

	if (status)
		return status;
	/* M-32, with a lease */
	status = nnb__copy_target(&m, bytes, to, reason);
	if (!status) {
		mark = nnb_mapping_mark(m);
		get_bytes(b, nnb_mapping_data(m), bytes);
		status = nnb__copy_finish(m, true, mark, reason);
		nnb_mapping_unref(m);
	}
	give_read(b);
	return status;
}

/* ---- executions ---- */

/* A search of a request for arguments that lie in buffers. */
struct walk {
	const struct nnb_prepared *prepared;
	const struct nnb_request *request;
	/* by pool: the buffers that the caller holds; NULL: find the buffers by their tokens */
	struct nnb_buffer *const *held;
	bool later;
};

static struct nnb__buffers *buffers_of(const struct nnb_prepared *p)
{
	return &p->device->buffers;
}

static const struct nnb_argument *argument_of(const struct walk *w, bool output, uint32_t index)
{
	return output ? &w->request->outputs[index] : &w->request->inputs[index];
}

/* Does the argument lie in a buffer? *token: the buffer's. */
static bool is_kept(const struct walk *w, const struct nnb_argument *a, uint64_t *token)
{
	const struct nnb_memory *pools = w->request->pools;
	uint32_t i = a->location.pool;

	if (a->no_value || i >= w->request->n_pools || nnb_memory_kind(&pools[i]) != NNB_MEMORY_TOKEN)
		return false;
	*token = nnb__handle_token(&pools[i]);
	return true;
}

/* Has an argument before this output the same token? */
static bool is_named_before(const struct walk *w, uint32_t output, uint64_t token)
{
	const struct nnb_request *r = w->request;
	uint64_t other;

	for (uint32_t i = 0; i < r->n_inputs; i++)
		if (is_kept(w, &r->inputs[i], &other) && other == token)
			return true;
	for (uint32_t i = 0; i < output; i++)
		if (is_kept(w, &r->outputs[i], &other) && other == token)
			return true;
	return false;
}

static bool kind_agrees(const struct nnb__buffer_kind *kind, uint32_t rank, const uint32_t *dims,
                        const struct nnb_argument *a)
{
	struct nnb__buffer_kind k = *kind;

	return nnb__kind_combine(&k, rank, dims) && nnb__kind_combine(&k, a->rank, a->dims);
}

/*
 * The buffer with that token, if it belongs to the same owner: a caller cannot find out whether another owner has the
 * token. Under the lock.
 */
static struct nnb_buffer *find_own(const struct nnb_prepared *p, uint64_t token)
{
	struct nnb_buffer *b = buffer_find(buffers_of(p), token);

	return b && b->keeper.owner == p->owner ? b : NULL;
}

/* The buffer with that token, if the model may use it for this argument. Call this under the lock. */
static enum nnb_status find_for(const struct walk *w, uint64_t token, bool output, uint32_t index,
                                struct nnb_buffer **ret, struct nnb_reason *reason)
{
	const struct nnb_argument *a = argument_of(w, output, index);
	struct nnb_buffer *b = w->held ? w->held[a->location.pool] : find_own(w->prepared, token);

	assert(nnb__is_locked(&buffers_of(w->prepared)->lock));
	if (!b)
		return REFUSED(reason, "there is no such buffer");
	if (!has_role(b, w->prepared, output, index))
		return REFUSED(reason, "the buffer was not allocated for this role");
	*ret = b;
	return NNB_STATUS_NONE;
}

/* M-20. Under the lock. */
static enum nnb_status use_check(const struct walk *w, struct nnb_buffer *b, bool output, const struct nnb_argument *a,
                                 struct nnb_reason *reason)
{
	enum nnb_status status = NNB_STATUS_NONE;

	assert(nnb__is_locked(&b->device->buffers.lock));
	if (output) {
		if (!kind_agrees(&b->kind, 0, NULL, a))
			return REFUSED(reason, "its dimensions contradict the buffer's");
		return w->later ? status : may_write(b, reason);
	}
	if (!w->later)
		status = may_read(b, reason);
	if (status)
		return status;
	if (!kind_agrees(&b->kind, w->later ? 0 : b->rank, b->dims, a))
		return REFUSED(reason, "its dimensions contradict the buffer's");
	return status;
}

/* Emit why the use was not allowed. A buffer that is in use has no event. Under the lock. */
static void use_emit_reject(const struct walk *w, uint64_t token, bool output, uint32_t index, bool twice,
                            enum nnb_status status)
{
	const struct nnb_prepared *p = w->prepared;
	const struct nnb_buffer *b;
	enum nbt_reject cause = NBT_reject_role;

	assert(nnb__is_locked(&buffers_of(p)->lock));
	if (!p->owner || !nbt_on(NBT_EVENT_buffer_reject))
		return;
	b = w->held ? w->held[argument_of(w, output, index)->location.pool] : buffer_find(buffers_of(p), token);
	if (!b)
		cause = NBT_reject_unknown;
	else if (b->keeper.owner != p->owner)
		cause = NBT_reject_owner;
	else if (has_role(b, p, output, index) && !twice) {
		if (status != NNB_STATUS_INVALID_ARGUMENT && (output || b->writing))
			return;
		cause = status == NNB_STATUS_INVALID_ARGUMENT ? NBT_reject_dimensions : NBT_reject_uninitialised;
	}
	NBT(buffer_reject, .buffer = b ? b->keeper.serial : 0, .exec = w->request->exec, .cause = cause);
}

static void buffer_lease(struct nnb_buffer *b, bool output, uint32_t index, struct nnb__buffer_use *ret)
{
	*ret = (struct nnb__buffer_use){
		.buffer = b, .output = output, .index = index, .was_initialised = b->initialised
	};
	if (output) {
		write_lease(b);
		b->refused = 0;
		return;
	}
	read_lease(b);
	ret->rank = b->rank;
	ret->dims = b->dims;
	ret->place = b->place;
}

/* Check one argument, and lease its buffer; @ret NULL: check only. */
static enum nnb_status use_look_at(const struct walk *w, bool output, uint32_t index, struct nnb__buffer_use *ret,
                                   uint32_t *n, struct nnb_reason *reason)
{
	const struct nnb_argument *a = argument_of(w, output, index);
	struct nnb__buffers *all = buffers_of(w->prepared);
	struct nnb_buffer *b = NULL;
	enum nnb_status status;
	uint64_t token;
	bool twice;

	if (!is_kept(w, a, &token))
		return NNB_STATUS_NONE;
	twice = output && is_named_before(w, index, token);
	pthread_mutex_lock(&all->lock);
	status = find_for(w, token, output, index, &b, reason);
	if (!status && (a->location.offset || a->location.length))
		status = REFUSED(reason,
		                 "a part of a buffer"); /* an earlier check without the pools did not find this */
	if (!status && twice)
		status = REFUSED(reason, "the buffer is used twice, and written");
	if (!status)
		status = use_check(w, b, output, a, reason);
	if (!status && ret)
		buffer_lease(b, output, index, &ret[(*n)++]);
	else if (status)
		use_emit_reject(w, token, output, index, twice, status);
	pthread_mutex_unlock(&all->lock);
	if (status)
		nnb__within(reason, "%s %u", output ? "output" : "input", index);
	return status;
}

static enum nnb_status look_at_all(const struct walk *w, struct nnb__buffer_use *ret, uint32_t *n,
                                   struct nnb_reason *reason)
{
	const struct nnb_request *r = w->request;
	enum nnb_status status = NNB_STATUS_NONE;
	uint64_t kept = 0, token;

	/* Would the search take so many steps that other threads would wait too long for the lock? */
	for (uint32_t i = 0; i < r->n_outputs; i++)
		kept += is_kept(w, &r->outputs[i], &token);
	if (kept * ((uint64_t)r->n_inputs + r->n_outputs) > LOOKS_MAX)
		return REFUSED(reason, "too many arguments lie in buffers");
	for (uint32_t i = 0; !status && i < r->n_inputs; i++)
		status = use_look_at(w, false, i, ret, n, reason);
	for (uint32_t i = 0; !status && i < r->n_outputs; i++)
		status = use_look_at(w, true, i, ret, n, reason);
	return status;
}

enum nnb_status nnb__buffers_check(const struct nnb_prepared *p, const struct nnb_request *request, bool later,
                                   struct nnb_reason *reason)
{
	const struct walk w = { .prepared = p, .request = request, .later = later };

	for (uint32_t i = 0; i < request->n_pools; i++)
		if (nnb_memory_kind(&request->pools[i]) == NNB_MEMORY_TOKEN)
			return look_at_all(&w, NULL, NULL, reason);
	return NNB_STATUS_NONE;
}

void nnb__buffers_take_back(struct nnb__buffer_use *uses, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		struct nnb_buffer *b = uses[i].buffer;

		if (!uses[i].output) {
			give_read(b);
			continue;
		}
		pthread_mutex_lock(&b->device->buffers.lock);
		b->initialised = uses[i].was_initialised;
		pthread_mutex_unlock(&b->device->buffers.lock);
		give_write(b, 0, NULL);
	}
}

void nnb__buffers_hold(const struct nnb_prepared *p, const struct nnb_request *request, struct nnb_buffer **ret)
{
	struct nnb__buffers *all = buffers_of(p);

	for (uint32_t i = 0; i < request->n_pools; i++) {
		ret[i] = NULL;
		if (nnb_memory_kind(&request->pools[i]) != NNB_MEMORY_TOKEN)
			continue;
		pthread_mutex_lock(&all->lock);
		ret[i] = find_own(p, nnb__handle_token(&request->pools[i]));
		if (ret[i])
			ret[i]->holds++;
		pthread_mutex_unlock(&all->lock);
	}
}

void nnb__buffers_let_go(struct nnb_buffer *const *held, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		struct nnb_buffer *b = held[i];
		bool unused;

		if (!b)
			continue;
		pthread_mutex_lock(&b->device->buffers.lock);
		assert(b->holds > 0);
		b->holds--;
		unused = is_unused(b);
		pthread_mutex_unlock(&b->device->buffers.lock);
		if (unused)
			buffer_end(b);
	}
}

enum nnb_status nnb__buffers_take(const struct nnb_prepared *p, const struct nnb_request *request,
                                  struct nnb_buffer *const *held, struct nnb__buffer_use *ret, uint32_t *n,
                                  struct nnb_reason *reason)
{
	const struct walk w = { .prepared = p, .request = request, .held = held };
	enum nnb_status status;

	*n = 0;
	status = look_at_all(&w, ret, n, reason);
	if (status) {
		nnb__buffers_take_back(ret, *n);
		*n = 0;
	}
	return status;
}

enum nnb_status nnb__buffer_fit(struct nnb__buffer_use *use, const struct nnb_shape *shape, struct nnb_reason *reason)
{
	struct nnb_buffer *b = use->buffer;
	struct nnb__buffer_kind k = b->kind;
	enum nnb_status status = NNB_STATUS_NONE;

	assert(use->output && b->writing); /* only the writer may replace the memory */
	if (!nnb__kind_combine(&k, shape->rank, shape->dims) ||
	    nnb_operand_bytes(k.type, shape->rank, shape->dims, &k.bytes))
		status = FAILED(reason, "the shape contradicts what the buffer was allocated with"); /* M-22 */
	if (!status)
		status = buffer_make_room(b, &k, reason);
	if (status)
		nnb__within(reason, "output %u", use->index);
	use->place = b->place;
	return status;
}

void nnb__buffers_give(const struct nnb_prepared *p, struct nnb__buffer_use *uses, uint32_t n,
                       const struct nnb_shape *shapes)
{
	for (uint32_t i = 0; i < n; i++) {
		const struct nnb_shape *s;

		if (!uses[i].output) {
			give_read(uses[i].buffer);
			continue;
		}
		assert(uses[i].index < p->model->n_outputs);
		s = shapes ? &shapes[p->model->outputs[uses[i].index]] : NULL;
		give_write(uses[i].buffer, s ? s->rank : 0, s ? s->dims : NULL);
	}
}

void nnb__buffers_fail(const struct nnb_prepared *p, const struct nnb_request *request)
{
	const struct walk w = { .prepared = p, .request = request };
	struct nnb__buffers *all = buffers_of(p);
	struct nnb_buffer *b;
	uint64_t token;

	for (uint32_t i = 0; i < request->n_outputs; i++) {
		if (!is_kept(&w, &request->outputs[i], &token))
			continue;
		pthread_mutex_lock(&all->lock);
		if (!find_for(&w, token, true, i, &b, NULL) && !may_write(b, NULL))
			b->initialised = false;
		pthread_mutex_unlock(&all->lock);
	}
}

static int buffer_by_number(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* Sorted. NULL: none, or no memory for them. */
static uint64_t *tokens_of(const struct nnb_memory *pools, uint32_t n, uint32_t *ret_n)
{
	uint64_t *tokens = NULL;

	*ret_n = 0;
	for (uint32_t i = 0; i < n; i++) {
		if (nnb_memory_kind(&pools[i]) != NNB_MEMORY_TOKEN)
			continue;
		if (!tokens)
			tokens = calloc(n, sizeof(*tokens));
		if (!tokens)
			break;
		tokens[(*ret_n)++] = nnb__handle_token(&pools[i]);
	}
	if (tokens)
		qsort(tokens, *ret_n, sizeof(*tokens), buffer_by_number);
	return tokens;
}

uint64_t nnb__buffers_bytes(const struct nnb_prepared *p, const struct nnb_memory *pools, uint32_t n, bool refused)
{
	struct nnb__buffers *all = buffers_of(p);
	uint32_t n_tokens;
	uint64_t bytes = 0, *tokens = tokens_of(pools, n, &n_tokens);

	for (uint32_t i = 0; i < n_tokens; i++) {
		struct nnb_buffer *b;

		if (i && tokens[i] == tokens[i - 1])
			continue;
		pthread_mutex_lock(&all->lock);
		b = find_own(p, tokens[i]);
		if (b)
			bytes += b->room + (refused ? atomic_exchange(&b->refused, 0) : 0);
		pthread_mutex_unlock(&all->lock);
	}
	free(tokens);
	return bytes;
}

void nnb__buffer_peek(const struct nnb__buffer_use *use, void *to, uint64_t bytes)
{
	get_bytes(use->buffer, to, bytes);
}
