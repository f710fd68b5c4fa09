/*
 * buffers.c -- memory domains: buffers that the device keeps for clients, and the calls about them.
 *
 * CONCURRENCY  Like calls.c. The device counts the references to a buffer: that of its connection, and those of calls
 *           that copy. The app is charged for the buffer until its last use has ended; no thread waits for that, but
 *           the device calls back.
 * TRUST     Like calls.c. By id, a client finds only its own buffers. Any client can name any token: the device
 *           checks at each use whether it is allowed.
 */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "base/saturating.h"
#include "base/sys.h"
#include "driver/buffer.h"
#include "model/roles.h"
#include "service/service.h"

enum { MODELS_MAX = 2 * NNB_BUFFER_ROLES_MAX }; /* one for each role */

struct nnb__buffer {
	struct nnb__app *app;
	uint32_t id;
	struct nnb_buffer *kept; /* the device's buffer, with a reference */
	_Atomic uint64_t lent;   /* bytes charged for the buffer */
	uint64_t beside;         /* memory that the app holds at least when it asks for more */
	uint32_t conn, n_roles;
	uint64_t since;
};

static void allocation_emit(const struct nnb__buffer *b, enum nnb_status status, uint64_t since)
{
	NBT(buffer_allocate, .buffer = status ? 0 : b->id, .conn = b->conn,
	    .bytes = atomic_load_explicit(&b->lent, memory_order_relaxed), .roles = (uint16_t)b->n_roles,
	    .status = (uint8_t)status, .since = since);
}

void nnb__buffer_emit_state(const struct nnb__buffer *b)
{
	allocation_emit(b, NNB_STATUS_NONE, b->since);
}

/* The device has freed the buffer: no execution can use it any more. */
static void buffer_freed(void *arg)
{
	struct nnb__buffer *b = arg;

	nnb__id_give(&b->app->service->ids, b->id);
	nnb__app_give(b->app, NNB__BUFFERS, 1);
	free(b);
}

/* ---- the buffer's budget ---- */

/* Whether the app could ever hold so many bytes. */
static bool may_have(const struct nnb__app *app, uint64_t bytes)
{
	return nnb__could_have(app->service, NNB__BYTES, bytes);
}

static bool budget_ever(void *arg, uint32_t pools, uint64_t bytes)
{
	const struct nnb__buffer *b = arg;

	(void)pools;
	return may_have(
		b->app,
		nnb__saturating_sum(b->beside,
	                            nnb__saturating_sum(bytes, atomic_load_explicit(&b->lent, memory_order_relaxed))));
}

static enum nnb_status budget_take(void *arg, uint32_t pools, uint64_t bytes)
{
	struct nnb__buffer *b = arg;
	enum nnb_status status = nnb__app_take_pools_if(b->app, pools, bytes, budget_ever(b, pools, bytes), NULL);

	if (!status)
		atomic_fetch_add_explicit(&b->lent, bytes, memory_order_relaxed);
	return status;
}

static void budget_give(void *arg, uint32_t pools, uint64_t bytes)
{
	struct nnb__buffer *b = arg;

	uint64_t lent = atomic_fetch_sub_explicit(&b->lent, bytes, memory_order_relaxed);

	assert(bytes <= lent);
	nnb__app_give_pools(b->app, pools, bytes);
}

/* ---- allocating ---- */

/* The arguments of a call; the lists are owned. */
struct wish {
	struct nnb_buffer_desc desc;
	struct nnb_buffer_role *inputs, *outputs;
	uint32_t *ids, n_ids;
	struct nnb__model **models; /* the models with these ids that were found so far, with references */
	struct nnb_prepared **prepared;
};

static void wish_fini(struct wish *w)
{
	free(w->inputs);
	free(w->outputs);
	for (uint32_t i = 0; w->models && i < w->n_ids && w->models[i]; i++)
		nnb__model_unref(w->models[i]);
	free(w->ids);
	free(w->models);
	free(w->prepared);
}

/* Read the arguments. False: no memory. The caller detects a malformed call by nnb__message_taken. */
static bool get_wish(struct nnb__message *in, struct wish *w)
{
	*w = (struct wish){ 0 };
	w->desc.rank = nnb__get_dims(in, w->desc.dims);
	w->n_ids = nnb__get_u32(in);
	if (w->n_ids > MODELS_MAX)
		in->failed = true;
	if (!nnb__message_holds(in, w->n_ids, sizeof(*w->ids)))
		return true;
	w->ids = calloc((size_t)w->n_ids + 1, sizeof(*w->ids));
	w->models = calloc((size_t)w->n_ids + 1, sizeof(struct nnb__model *));
	w->prepared = calloc((size_t)w->n_ids + 1, sizeof(struct nnb_prepared *));
	if (!w->ids || !w->models || !w->prepared)
		return false;
	nnb__get_bytes(in, w->ids, w->n_ids * sizeof(*w->ids));
	if (!nnb__get_roles(in, &w->inputs, &w->desc.n_inputs) || !nnb__get_roles(in, &w->outputs, &w->desc.n_outputs))
		return false;
	w->desc.inputs = w->inputs;
	w->desc.outputs = w->outputs;
	return true;
}

/* The bytes of all models of the call, which must exist while the buffer is made. */
static uint64_t models_bytes(const struct wish *w)
{
	uint64_t bytes = 0;

	for (uint32_t i = 0; i < w->n_ids; i++) {
		uint32_t first = 0; /* a call may name a model more than once */

		while (w->models[first] != w->models[i])
			first++;
		if (first == i)
			bytes = nnb__saturating_sum(bytes, w->models[i]->bytes);
	}
	return bytes;
}

/* The bytes of the smallest model that can write to the buffer, with its frame for an execution. */
static uint64_t least_model_bytes(const struct wish *w)
{
	uint64_t least = UINT64_MAX;

	for (uint32_t i = 0; i < w->desc.n_outputs; i++) {
		const struct nnb__model *m;

		assert(w->desc.outputs[i].model <
		       w->n_ids); /* the device has made the buffer, so it has checked the roles */
		m = w->models[w->desc.outputs[i].model];
		uint64_t bytes = nnb__saturating_sum(m->bytes, m->frame_bytes);

		if (bytes < least)
			least = bytes;
	}
	return w->desc.n_outputs ? least : 0;
}

/* Check the roles of a call that is refused for lack of room, because an error in them takes precedence. */
static enum nnb_status check_roles(const struct wish *w, struct nnb_reason *why)
{
	const struct nnb_model **models = calloc((size_t)w->n_ids + 1, sizeof(struct nnb_model *));
	struct nnb__buffer_kind kind;
	enum nnb_status status;

	if (!models)
		return NNB_STATUS_NONE;
	for (uint32_t i = 0; i < w->n_ids; i++)
		models[i] = nnb_prepared_model(w->prepared[i]);
	status = nnb__roles_combine(&kind, models, w->n_ids, &w->desc, why);
	free((void *)models);
	return status;
}

/* Allocate the device's buffer. After NONE, the device owns @b until it calls buffer_freed. */
static enum nnb_status device_buffer_new(struct nnb__connection *c, struct wish *w, struct nnb__buffer *b,
                                         struct nnb_reason *why)
{
	const struct nnb__buffer_keeper keeper = {
		.owner = c->id,
		.serial = b->id,
		.budget = { .take = budget_take, .give = budget_give, .ever = budget_ever, .arg = b },
		.gone = buffer_freed,
	};
	struct nnb_reason wrong = { "" };
	enum nnb_status status;

	for (uint32_t i = 0; i < w->n_ids; i++) {
		w->models[i] = nnb__model_get(c, w->ids[i]);
		if (!w->models[i]) {
			nnb_because(why, "there is no model %u", w->ids[i]);
			return NNB_STATUS_INVALID_ARGUMENT;
		}
		w->prepared[i] = w->models[i]->prepared;
	}
	status = nnb__app_take(b->app, NNB__BUFFERS, 1, why);
	if (status && check_roles(w, &wrong)) {
		*why = wrong;
		return NNB_STATUS_INVALID_ARGUMENT;
	}
	if (status)
		return status;
	b->beside = models_bytes(w);
	status = nnb__buffer_new(&b->kept, c->service->config.device, w->prepared, w->n_ids, &w->desc, &keeper, why);
	if (status)
		nnb__app_give(b->app, NNB__BUFFERS, 1);
	else
		b->beside = least_model_bytes(w);
	return status;
}

static enum nnb_status buffers_no_memory(struct nnb_reason *why)
{
	nnb_because(why, "no memory for a buffer");
	return NNB_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
}

static enum nnb_status make_buffer(struct nnb__connection *c, struct wish *w, uint32_t *id, uint64_t *token,
                                   struct nnb_reason *why)
{
	struct nnb__buffer *b = calloc(1, sizeof(*b));
	enum nnb_status status;
	struct nnb_buffer *kept;
	int r;

	if (!b)
		return buffers_no_memory(why);
	b->app = c->app;
	b->conn = c->id;
	b->n_roles = w->desc.n_inputs + w->desc.n_outputs;
	status = nnb__new_id(c->service, &b->id, why);
	if (!status)
		status = device_buffer_new(c, w, b, why);
	if (status) {
		allocation_emit(b, status, 0);
		nnb__id_give(&c->service->ids, b->id);
		free(b);
		return status;
	}
	*token = nnb__buffer_token(b->kept);
	/* Put the buffer into the connection's table; from then on another call may free it at any time. */
	kept = b->kept;
	pthread_mutex_lock(&c->lock);
	*id = b->id;
	r = nnb__table_put(&c->buffers, b->id, b);
	b->since = nnb__now();
	allocation_emit(b, r ? NNB_STATUS_RESOURCE_EXHAUSTED_TRANSIENT : NNB_STATUS_NONE, 0);
	pthread_mutex_unlock(&c->lock);
	if (!r)
		return NNB_STATUS_NONE;
	nnb_buffer_unref(kept);
	nnb_because(why, "no memory for a buffer");
	return NNB_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
}

void nnb__call_buffer(struct nnb__channel *ch)
{
	struct nnb_reason why = { "before HAL 1.3 there are no memory domains" };
	enum nnb_status status = NNB_STATUS_GENERAL_FAILURE;
	uint32_t id = 0;
	uint64_t token = 0;
	struct wish w;
	bool room = get_wish(&ch->in, &w);

	if (room && !nnb__message_taken(&ch->in)) {
		nnb__call_malformed(ch);
		wish_fini(&w);
		return;
	}
	if (!room)
		status = buffers_no_memory(&why);
	else if (nnb__has_qos(ch->connection))
		status = make_buffer(ch->connection, &w, &id, &token, &why);
	nnb__call_answer(ch, status, &why);
	if (!status) {
		nnb__put_u32(&ch->out, id);
		nnb__put_u64(&ch->out, token);
		ch->made_buffer = id;
	}
	wish_fini(&w);
}

/* ---- freeing ---- */

void nnb__buffer_drop(struct nnb__connection *c, uint32_t id, enum nbt_cause cause)
{
	struct nnb__buffer *b;

	pthread_mutex_lock(&c->lock);
	b = nnb__table_remove(&c->buffers, id);
	if (b)
		NBT(buffer_free, .buffer = b->id, .cause = cause);
	pthread_mutex_unlock(&c->lock);
	if (b)
		nnb_buffer_unref(b->kept);
}

void nnb__buffers_drop(struct nnb__table *taken)
{
	for (uint32_t i = 0; i < taken->n; i++) {
		struct nnb__buffer *b = taken->items[i];

		if (!b)
			continue;
		NBT(buffer_free, .buffer = b->id, .cause = NBT_cause_owner_end);
		nnb_buffer_unref(b->kept);
	}
}

void nnb__call_buffer_free(struct nnb__channel *ch)
{
	uint32_t id = nnb__get_u32(&ch->in);

	if (!nnb__message_taken(&ch->in)) {
		nnb__call_malformed(ch);
		return;
	}
	nnb__buffer_drop(ch->connection, id, NBT_cause_freed);
	nnb__call_answer(ch, NNB_STATUS_NONE, NULL); /* a buffer that does not exist is already freed, as requested */
}

/* ---- copying ---- */

/* The buffer with this id, and a reference of its kept, which keeps both; NULL: the call has been answered. */
static struct nnb__buffer *buffer_find(struct nnb__channel *ch, uint32_t id)
{
	struct nnb__connection *c = ch->connection;
	struct nnb_reason why = { "" };
	struct nnb__buffer *b;

	pthread_mutex_lock(&c->lock);
	b = nnb__table_get(&c->buffers, id);
	if (b)
		nnb_buffer_ref(b->kept);
	pthread_mutex_unlock(&c->lock);
	if (!b) {
		nnb_because(&why, "there is no buffer %u", id);
		nnb__call_answer(ch, NNB_STATUS_INVALID_ARGUMENT, &why);
	}
	return b;
}

/* The status of a copy that lacked memory: PERSISTENT if the app could never hold both the memory and the buffer. */
static enum nnb_status for_good(const struct nnb__buffer *b, enum nnb_status status, uint64_t bytes)
{
	if (status != NNB_STATUS_RESOURCE_EXHAUSTED_TRANSIENT && status != NNB_STATUS_RESOURCE_EXHAUSTED_PERSISTENT)
		return status;
	return may_have(b->app, nnb__saturating_sum(bytes, bytes)) ? NNB_STATUS_RESOURCE_EXHAUSTED_TRANSIENT
	                                                           : NNB_STATUS_RESOURCE_EXHAUSTED_PERSISTENT;
}

/* Copy between the buffer and the memory, which is mapped for this call alone. @dims: NULL: from the buffer. */
static enum nnb_status memory_copy(struct nnb__buffer *b, const struct nnb_memory *m, uint32_t rank,
                                   const uint32_t *dims, struct nnb_reason *why)
{
	enum nnb_status status = nnb__app_take_pools_if(b->app, 1, m->size,
	                                                may_have(b->app, nnb__saturating_sum(m->size, m->size)), why),
			invalid;
	struct nnb_reason wrong = { "" };

	if (status) {
		invalid = dims ? nnb__buffer_not_copied(b->kept, m, rank, dims, &wrong)
		               : nnb__buffer_not_read(b->kept, m, &wrong);
		if (invalid)
			*why = wrong;
		return invalid ? invalid : for_good(b, status, m->size);
	}
	status = dims ? nnb_buffer_copy_from(b->kept, m, rank, dims, why) : nnb_buffer_copy_to(b->kept, m, why);
	nnb__app_give(b->app, NNB__POOLS, 1);
	nnb__app_give(b->app, NNB__BYTES, m->size);
	return for_good(b, status, m->size);
}

static void call_copy(struct nnb__channel *ch, bool write)
{
	uint32_t id = nnb__get_u32(&ch->in), dims[NNB_RANK_MAX], rank = write ? nnb__get_dims(&ch->in, dims) : 0;
	struct nnb_reason why = { "" };
	struct nnb_memory memory;
	struct nnb_buffer *kept;
	struct nnb__buffer *b;
	enum nnb_status status;
	uint64_t began;

	nnb__get_memory(&ch->in, &memory);
	if (!nnb__message_taken(&ch->in)) {
		nnb__call_malformed(ch);
	} else if ((b = buffer_find(ch, id))) {
		kept = b->kept;
		began = nbt_on(NBT_EVENT_buffer_copy) ? nnb__now() : 0;
		status = memory_copy(b, &memory, rank, write ? dims : NULL, &why);
		NBT(buffer_copy, .buffer = b->id, .dir = write ? NBT_dir_from : NBT_dir_to, .bytes = memory.size,
		    .took_ns = began ? nnb__now() - began : 0, .status = (uint8_t)status);
		nnb__call_answer(ch, status, &why);
		nnb_buffer_unref(kept);
	}
	nnb_memory_close(&memory);
}

void nnb__call_buffer_write(struct nnb__channel *ch)
{
	call_copy(ch, true);
}

void nnb__call_buffer_read(struct nnb__channel *ch)
{
	call_copy(ch, false);
}
