/*
 * remote.c -- models that the service has prepared, and their executions by call.
 *
 * CONCURRENCY  Any thread. A model is reference-counted: by its user, its bursts, and asynchronous executions under
 *              way.
 */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "burst/result.h"
#include "client/client.h"

/* ---- models ---- */

static enum nnb_status put_model(const struct nnb_client *c, struct nnb__message *m, const struct nnb_model *model,
                                 struct nnb_reason *reason)
{
	uint8_t *form;
	size_t bytes;
	int r = nnb_model_encode(model, &form, &bytes);

	if (r == -ENOMEM)
		return nnb__status_exhausted(c, reason);
	if (r || bytes > NNB__BODY_MAX) {
		nnb_because(reason, "the model cannot be sent: it is invalid or too large");
		return NNB_STATUS_INVALID_ARGUMENT;
	}
	nnb__put_u32(m, (uint32_t)bytes);
	nnb__put_bytes(m, form, bytes);
	free(form);
	for (uint32_t i = 0; i < model->n_pools; i++)
		for (uint32_t k = 0; k < model->pools[i].n_fds; k++)
			nnb__put_fd(m, model->pools[i].fds[k]);
	return NNB_STATUS_NONE;
}

enum nnb_status nnb_client_supported(struct nnb_client *c, const struct nnb_model *model, bool *ret,
                                     struct nnb_reason *reason)
{
	struct nnb__channel *ch;
	enum nnb_status status = nnb__channel_take(c, NNB__SUPPORTED, 0, &ch, reason);
	int r;

	if (status)
		return status;
	status = put_model(c, &ch->out, model, reason);
	if (!status) {
		r = nnb__channel_exchange(c, ch, 0);
		status = r ? nnb__status_lost(c, r, reason) : nnb__answer_status(&ch->in, reason);
	}
	if (!status && ch->in.bytes - ch->in.at != model->n_operations)
		status = nnb__no_answer(reason);
	for (uint32_t i = 0; !status && i < model->n_operations; i++)
		ret[i] = ch->in.body[ch->in.at + i];
	nnb__channel_give(c, ch);
	return status;
}

static void put_cache(struct nnb__message *m, const struct nnb_cache *cache)
{
	static const struct nnb_cache none;

	nnb__put_u32(m, cache != NULL);
	if (!cache)
		cache = &none;
	nnb__put_u32(m, cache->n_model_files);
	nnb__put_u32(m, cache->n_data_files);
	nnb__put_bytes(m, cache->token, sizeof(cache->token));
	for (uint32_t i = 0; i < cache->n_model_files; i++)
		nnb__put_fd(m, cache->model_files[i]);
	for (uint32_t i = 0; i < cache->n_data_files; i++)
		nnb__put_fd(m, cache->data_files[i]);
}

/* Call the service, and fill in @remote from the answer. The channel goes back. */
static enum nnb_status remote_prepare(struct nnb_client *c, struct nnb__channel *ch, const struct nnb_model *model,
                                      uint64_t deadline_ns, struct nnb_remote **ret, struct nnb_reason *reason)
{
	struct nnb_remote *remote = calloc(1, sizeof(*remote));
	struct nnb_model bare = *model;
	uint32_t answer[2]; /* its id; the preference it was prepared with */
	enum nnb_status status;

	if (!remote) {
		nnb__channel_give(c, ch);
		return nnb__status_exhausted(c, reason);
	}
	status = nnb__call_for(c, ch, answer, sizeof(answer), reason);
	if (status) {
		free(remote);
		return status;
	}
	remote->id = answer[0];
	remote->low_power = answer[1] == 0;
	atomic_init(&remote->refs, 1);
	remote->client = nnb__client_ref(c);
	bare.n_pools = 0; /* a copy to look operands up in */
	if (nnb_model_copy(&remote->model, &bare)) {
		nnb_remote_release(remote);
		return nnb__status_exhausted(c, reason);
	}
	*ret = remote;
	if (deadline_ns && nbt_on(NBT_EVENT_deadline_miss)) {
		/* The app has the model, and wanted it by @deadline_ns. */
		uint64_t now = nnb__now();

		if (now > deadline_ns)
			NBT(deadline_miss, .model = remote->id, .kind = NBT_miss_late, .stage = NBT_stage_returned,
			    .deadline_ns = deadline_ns, .over_ns = (int64_t)(now - deadline_ns));
	}
	return NNB_STATUS_NONE;
}

enum nnb_status nnb_remote_prepare(struct nnb_client *c, const struct nnb_model *model, const struct nnb_prepare *how,
                                   const struct nnb_cache *cache, struct nnb_remote **ret, struct nnb_reason *reason)
{
	static const struct nnb_prepare usual = { .preference = 1, .priority = 1 };
	struct nnb__channel *ch;
	enum nnb_status status = nnb__channel_take(c, NNB__PREPARE, 0, &ch, reason);

	if (status)
		return status;
	if (!how)
		how = &usual;
	nnb__put_u32(&ch->out, how->preference);
	nnb__put_u32(&ch->out, how->priority);
	nnb__put_u64(&ch->out, how->deadline_ns);
	put_cache(&ch->out, cache);
	status = put_model(c, &ch->out, model, reason);
	if (!status)
		return remote_prepare(c, ch, model, how->deadline_ns, ret, reason);
	nnb__channel_give(c, ch);
	return status;
}

enum nnb_status nnb_remote_prepare_from_cache(struct nnb_client *c, const struct nnb_model *model, uint64_t deadline_ns,
                                              const struct nnb_cache *cache, struct nnb_remote **ret,
                                              struct nnb_reason *reason)
{
	struct nnb__channel *ch;
	enum nnb_status status = nnb__channel_take(c, NNB__PREPARE_FROM_CACHE, 0, &ch, reason);

	if (status)
		return status;
	nnb__put_u64(&ch->out, deadline_ns);
	put_cache(&ch->out, cache);
	return remote_prepare(c, ch, model, deadline_ns, ret, reason);
}

const struct nnb_model *nnb_remote_model(const struct nnb_remote *r)
{
	return r->model;
}

uint32_t nnb_remote_id(const struct nnb_remote *r)
{
	return r->id;
}

enum nnb_status nnb_remote_times(struct nnb_remote *remote, struct nnb_times *ret, struct nnb_reason *reason)
{
	struct nnb__channel *ch;
	enum nnb_status status = nnb__channel_take(remote->client, NNB__TIMES, 0, &ch, reason);
	struct nnb_times times;

	if (status)
		return status;
	nnb__put_u32(&ch->out, remote->id);
	status = nnb__answer_await(remote->client, ch, reason);
	if (!status)
		nnb__get_times(&ch->in, &times);
	status = nnb__answer_end(remote->client, ch, status, reason);
	if (!status)
		*ret = times;
	return status;
}

struct nnb_remote *nnb__remote_ref(struct nnb_remote *r)
{
	atomic_fetch_add_explicit(&r->refs, 1, memory_order_relaxed);
	return r;
}

struct nnb_remote *nnb_remote_release(struct nnb_remote *r)
{
	struct nnb__channel *ch;
	unsigned had;

	if (!r)
		return NULL;
	had = atomic_fetch_sub_explicit(&r->refs, 1, memory_order_acq_rel);
	assert(had > 0);
	if (had != 1)
		return NULL;
	if (!nnb__channel_take(r->client, NNB__RELEASE, 0, &ch, NULL)) {
		nnb__put_u32(&ch->out, r->id);
		nnb__call_for(r->client, ch, NULL, 0, NULL);
	}
	nnb__client_unref(r->client);
	nnb_model_free(r->model);
	free(r);
	return NULL;
}

/* ---- executing ---- */

static void put_call(struct nnb__message *m, const struct nnb_remote *remote, uint32_t number,
                     const struct nnb_call *call)
{
	nnb__put_u32(m, remote->id);
	nnb__put_u32(m, number);
	nnb__put_u32(m, call->measure);
	nnb__put_terms(m, &call->terms);
	nnb__put_request(m, call);
}

enum nnb_status nnb__remote_execute(struct nnb_remote *remote, const struct nnb_call *call, bool fallback,
                                    struct nnb_answer *answer, struct nnb_reason *reason)
{
	struct nnb_result result = { .timing = NNB_NO_TIMING, .shapes = answer ? answer->shapes : NULL };
	struct nnb__call_trace trace;
	struct nnb__channel *ch;
	enum nnb_status status;
	uint32_t number;
	int r;

	nnb__answer_none(answer);
	if (!nnb__call_packable(call, reason))
		return NNB_STATUS_INVALID_ARGUMENT;
	number = nnb__call_submit(remote, NBT_path_sync, call, 0, fallback, &trace);
	result.status = nnb__channel_take(remote->client, NNB__EXECUTE, call->timeout_ns, &ch, reason);
	if (!result.status) {
		put_call(&ch->out, remote, number, call);
		nnb__call_asks(&trace, NBT_queue_call_request, 1, 0, 0);
		r = nnb__channel_exchange(remote->client, ch, call->timeout_ns);
		if (!r)
			nnb__channel_heard(ch, &trace);
		result.status = r ? nnb__status_lost(remote->client, r, reason) : nnb__answer_status(&ch->in, reason);
		if (!r && ch->in.at < ch->in.bytes) {
			nnb__get_result(&ch->in, &result, call->n_outputs);
			if (ch->in.failed)
				nnb__no_answer(reason);
		}
		nnb__channel_give(remote->client, ch);
	}
	status = nnb__answer_from_result(remote->model, call, &result, answer, reason);
	if (answer)
		answer->exec = trace.exec;
	nnb__call_end(&trace, status);
	return status;
}

enum nnb_status nnb_remote_execute(struct nnb_remote *remote, const struct nnb_call *call, struct nnb_answer *answer,
                                   struct nnb_reason *reason)
{
	return nnb__remote_execute(remote, call, false, answer, reason);
}

/* The call failed before the service could send a completion: call back here. */
static enum nnb_status completion_fail(void (*done)(void *arg, const struct nnb_result *result), void *arg,
                                       enum nnb_status status)
{
	const struct nnb_result result = { .status = status, .timing = NNB_NO_TIMING };

	done(arg, &result);
	return status;
}

enum nnb_status nnb_remote_execute_async(struct nnb_remote *remote, const struct nnb_call *call,
                                         void (*done)(void *arg, const struct nnb_result *result), void *arg,
                                         struct nnb_reason *reason)
{
	struct nnb_client *c = remote->client;
	struct nnb__pending *p;
	struct nnb__channel *ch;
	enum nnb_status status;
	uint32_t number;
	uint64_t serial;
	int r;

	if (!nnb__call_packable(call, reason))
		return completion_fail(done, arg, NNB_STATUS_INVALID_ARGUMENT);
	p = nnb__pending_new(remote, call);
	if (!p)
		return completion_fail(done, arg, nnb__status_exhausted(c, reason));
	p->done = done;
	p->arg = arg;
	number = nnb__call_submit(remote, NBT_path_async, call, 0, false, &p->trace);
	status = nnb__channel_take(c, NNB__EXECUTE_ASYNC, 0, &ch, reason);
	if (status) {
		nnb__pending_fail(p, status);
		return status;
	}
	put_call(&ch->out, remote, number, call);
	nnb__call_asks(&p->trace, NBT_queue_call_request, 1, 0, 0);
	serial = nnb__pending_add(c, p); /* from here on, the events' thread may free it */
	if (!serial) {
		nnb__channel_give(c, ch);
		nnb__pending_fail(p, NNB_STATUS_DEAD_OBJECT);
		return nnb__status_dead(reason);
	}
	nnb__put_u64(&ch->out, serial);
	r = nnb__channel_exchange(c, ch, 0);
	status = r ? nnb__status_lost(c, r, reason) : nnb__answer_status(&ch->in, reason);
	/* The service sends a completion if it has promised one, or may have received the call. Otherwise call back
	 * here, unless done. */
	if (r ? r != -ETIMEDOUT : !nnb__get_u32(&ch->in) || !nnb__message_taken(&ch->in)) {
		p = nnb__pending_take(c, serial);
		if (p)
			nnb__pending_fail(p, status);
	}
	nnb__channel_give(c, ch);
	return status;
}
