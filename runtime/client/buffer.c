/*
 * buffer.c -- buffers that the service's driver keeps, or shared memory instead of them.
 *
 * CONCURRENCY  Any thread. A buffer holds a reference to its client. Its kind never changes.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "client/client.h"
#include "driver/buffer.h"
#include "model/roles.h"

struct nnb_remote_buffer {
	struct nnb_client *client; /* held */
	struct nnb_pool *pool;     /* its token, or the memory */
	bool fell_back;
	uint32_t id;                  /* the service's number of the buffer; or else ... */
	struct nnb__buffer_kind kind; /* ... of what fell back, all of it known */
};

/* ---- life ---- */

struct nnb_remote_buffer *nnb_remote_buffer_free(struct nnb_remote_buffer *b)
{
	struct nnb__channel *ch;

	if (!b)
		return NULL;
	nnb_pool_free(b->pool);
	if (b->id && !nnb__channel_take(b->client, NNB__BUFFER_FREE, 0, &ch, NULL)) {
		nnb__put_u32(&ch->out, b->id);
		nnb__call_for(b->client, ch, NULL, 0, NULL);
	}
	nnb__client_unref(b->client);
	free(b);
	return NULL;
}

/* ---- allocating ---- */

static enum nnb_status buffer_check_desc(const struct nnb_client *c, struct nnb_remote *const *models,
                                         uint32_t n_models, const struct nnb_buffer_desc *desc,
                                         struct nnb_reason *reason)
{
	const char *wrong = NULL;

	for (uint32_t i = 0; i < n_models && !wrong; i++)
		if (models[i] && models[i]->client != c)
			wrong = "one of the models is another client's";
	if ((desc->n_inputs && !desc->inputs) || (desc->n_outputs && !desc->outputs))
		wrong = "a list of roles is missing";
	if (desc->n_inputs > NNB_BUFFER_ROLES_MAX || desc->n_outputs > NNB_BUFFER_ROLES_MAX)
		wrong = "too many roles";
	if (desc->rank > NNB_RANK_MAX)
		wrong = "too many dimensions";
	if (!wrong)
		return NNB_STATUS_NONE;
	nnb_because(reason, "%s", wrong);
	return NNB_STATUS_INVALID_ARGUMENT;
}

static enum nnb_status buffer_allocate(struct nnb_remote_buffer *b, struct nnb_remote *const *models, uint32_t n_models,
                                       const struct nnb_buffer_desc *desc, struct nnb_reason *reason)
{
	struct nnb__channel *ch;
	enum nnb_status status = nnb__channel_take(b->client, NNB__BUFFER, 0, &ch, reason);
	struct nnb_memory memory;
	uint64_t token;
	uint8_t answer[sizeof(b->id) + sizeof(token)]; /* the buffer's number and its token */

	if (status)
		return status;
	nnb__put_dims(&ch->out, desc->rank, desc->dims);
	nnb__put_u32(&ch->out, n_models);
	for (uint32_t i = 0; i < n_models; i++)
		nnb__put_u32(&ch->out, models[i] ? models[i]->id : 0); /* 0: no model, which the service refuses */
	nnb__put_roles(&ch->out, desc->inputs, desc->n_inputs);
	nnb__put_roles(&ch->out, desc->outputs, desc->n_outputs);
	status = nnb__call_for(b->client, ch, answer, sizeof(answer), reason);
	if (status)
		return status;
	assert(!b->id && !b->pool && !b->fell_back);
	memcpy(&b->id, answer, sizeof(b->id));
	memcpy(&token, answer + sizeof(b->id), sizeof(token));
	nnb_memory_token(&memory, token);
	return nnb_pool_from(&b->pool, &memory) ? nnb__status_exhausted(b->client, reason) : NNB_STATUS_NONE;
}

/* ---- falling back ---- */

/* @refused: the status of the service, which this function returns if no memory can stand in for the buffer. */
static enum nnb_status buffer_fall_back(struct nnb_remote_buffer *b, struct nnb_remote *const *models,
                                        uint32_t n_models, const struct nnb_buffer_desc *desc, enum nnb_status refused,
                                        struct nnb_reason *reason)
{
	const struct nnb_model **known = calloc((size_t)n_models + 1, sizeof(struct nnb_model *));
	struct nnb_reason wrong = { "" };
	enum nnb_status status;

	if (!known)
		return refused;
	for (uint32_t i = 0; i < n_models; i++)
		known[i] = models[i] ? models[i]->model : NULL;
	status = nnb__roles_combine(&b->kind, known, n_models, desc, &wrong);
	free(known);
	/* an error that the service did not report, because it refused for another reason */
	if (status == NNB_STATUS_INVALID_ARGUMENT) {
		if (reason)
			*reason = wrong;
		return status;
	}
	if (status || !b->kind.bytes || b->kind.bytes > UINT32_MAX || nnb_pool_new(&b->pool, b->kind.bytes))
		return refused;
	b->fell_back = true;
	return NNB_STATUS_NONE;
}

enum nnb_status nnb_remote_buffer_new(struct nnb_remote_buffer **ret, struct nnb_client *c,
                                      struct nnb_remote *const *models, uint32_t n_models,
                                      const struct nnb_buffer_desc *desc, bool may_fall_back, struct nnb_reason *reason)
{
	enum nnb_status status = buffer_check_desc(c, models, n_models, desc, reason);
	struct nnb_remote_buffer *b;

	if (status)
		return status;
	b = calloc(1, sizeof(*b));
	if (!b)
		return nnb__status_exhausted(c, reason);
	b->client = nnb__client_ref(c);
	status = buffer_allocate(b, models, n_models, desc, reason);
	if (status && may_fall_back && status != NNB_STATUS_INVALID_ARGUMENT && status != NNB_STATUS_DEAD_OBJECT &&
	    !b->id)
		status = buffer_fall_back(b, models, n_models, desc, status, reason);
	if (status)
		nnb_remote_buffer_free(b);
	else
		*ret = b;
	return status;
}

/* ---- using ---- */

bool nnb_remote_buffer_fell_back(const struct nnb_remote_buffer *b)
{
	return b->fell_back;
}

struct nnb_pool *nnb_remote_buffer_pool(const struct nnb_remote_buffer *b)
{
	return b->pool;
}

struct nnb_argument nnb_remote_buffer_argument(const struct nnb_remote_buffer *b, uint32_t pool)
{
	return (struct nnb_argument){ .location = { pool, 0, b->fell_back ? (uint32_t)b->kind.bytes : 0 } };
}

/* Between the memory in its place, and another. */
static enum nnb_status copy_here(const struct nnb_remote_buffer *b, struct nnb_mapping *other, bool to,
                                 struct nnb_reason *reason)
{
	uint32_t mark = nnb_mapping_mark(other);
	void *own = nnb_pool_data(b->pool), *others = nnb_mapping_data(other);
	enum nnb_status status;

	assert(b->fell_back && b->kind.bytes <= nnb_mapping_size(other));
	memcpy(to ? others : own, to ? own : others, b->kind.bytes);
	status = nnb__copy_finish(other, to, mark, reason);
	nnb_mapping_unref(other);
	return status;
}

static enum nnb_status copy_there(const struct nnb_remote_buffer *b, uint16_t type, const struct nnb_memory *memory,
                                  uint32_t rank, const uint32_t *dims, struct nnb_reason *reason)
{
	struct nnb__channel *ch;
	enum nnb_status status = nnb__channel_take(b->client, type, 0, &ch, reason);

	if (status)
		return status;
	nnb__put_u32(&ch->out, b->id);
	if (type == NNB__BUFFER_WRITE)
		nnb__put_dims(&ch->out, rank, dims);
	nnb__put_memory(&ch->out, memory);
	return nnb__call_for(b->client, ch, NULL, 0, reason);
}

enum nnb_status nnb_remote_buffer_copy_from(struct nnb_remote_buffer *b, const struct nnb_memory *from, uint32_t rank,
                                            const uint32_t *dims, struct nnb_reason *reason)
{
	struct nnb__buffer_kind kind = b->kind;
	struct nnb_mapping *m;
	enum nnb_status status;

	if (rank > NNB_RANK_MAX || (rank && !dims)) {
		nnb_because(reason, "too many dimensions, or none");
		return NNB_STATUS_INVALID_ARGUMENT;
	}
	if (!b->fell_back)
		return copy_there(b, NNB__BUFFER_WRITE, from, rank, dims, reason);
	status = nnb__copy_source(&m, &kind, from, rank, dims, reason);
	return status ? status : copy_here(b, m, false, reason);
}

enum nnb_status nnb_remote_buffer_copy_to(struct nnb_remote_buffer *b, const struct nnb_memory *to,
                                          struct nnb_reason *reason)
{
	struct nnb_mapping *m;
	enum nnb_status status;

	if (!b->fell_back)
		return copy_there(b, NNB__BUFFER_READ, to, 0, NULL, reason);
	status = nnb__copy_target(&m, b->kind.bytes, to, reason);
	return status ? status : copy_here(b, m, true, reason);
}
