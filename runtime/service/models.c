/*
 * models.c -- models that the service has prepared for clients, and the calls about them.
 *
 * CONCURRENCY  As in calls.c. A model has a reference count: its connection, its bursts, its buffers and executions
 *           under way hold references.
 * TRUST     As in calls.c. The app is charged for the memory that a model may take before the model is prepared.
 */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/close.h"
#include "base/saturating.h"
#include "base/sys.h"
#include "driver/buffer.h"
#include "driver/execution.h"
#include "model/digest.h"
#include "model/graph.h"
#include "model/parts.h"
#include "model/patience.h"
#include "service/service.h"

struct nnb__model *nnb__model_ref(struct nnb__model *m)
{
	atomic_fetch_add_explicit(&m->refs, 1, memory_order_relaxed);
	return m;
}

/* Free a model that is in no list. */
static void model_discard(struct nnb__model *m)
{
	nnb_prepared_unref(m->prepared);
	nnb__times_fini(&m->times);
	nnb__account_fini(&m->account);
	nnb__id_give(&m->app->service->ids, m->id);
	nnb__app_give(m->app, NNB__POOLS, m->pools);
	nnb__app_give(m->app, NNB__MODELS, 1);
	free(m);
}

void nnb__model_unref(struct nnb__model *m)
{
	pthread_mutex_t *lock = &m->app->service->lock;

	unsigned refs = atomic_fetch_sub_explicit(&m->refs, 1, memory_order_acq_rel);

	assert(refs);
	if (refs != 1)
		return;
	pthread_mutex_lock(lock);
	assert(*m->from == m);
	*m->from = m->next;
	if (m->next)
		m->next->from = m->from;
	nnb__emit_release(m);
	pthread_mutex_unlock(lock);
	model_discard(m);
}

bool nnb__model_fits(const struct nnb__model *m, uint32_t pools, uint64_t bytes)
{
	const struct nnb_service *s = m->app->service;

	return nnb__could_have(s, NNB__POOLS, nnb__saturating_sum(pools, m->pools)) &&
	       nnb__could_have(s, NNB__BYTES, nnb__saturating_sum(bytes, m->bytes));
}

/* Whether the app could ever hold this and a frame, which each execution and each burst has, beside the model. */
static bool budget_ever(void *arg, uint32_t pools, uint64_t bytes)
{
	const struct nnb__model *m = arg;

	return nnb__model_fits(m, pools, nnb__saturating_sum(bytes, m->frame_bytes));
}

enum nnb_status nnb__model_take(struct nnb__model *m, uint32_t pools, uint64_t bytes, struct nnb_reason *reason)
{
	return nnb__app_take_pools_if(m->app, pools, bytes, budget_ever(m, pools, bytes), reason);
}

enum nnb_status nnb__model_reserve(struct nnb__model *m, uint64_t bytes, struct nnb_reason *reason)
{
	return nnb__account_reserve(&m->account, m->frame_bytes, budget_ever(m, 0, bytes), reason);
}

void nnb__model_release(struct nnb__model *m)
{
	nnb__account_release(&m->account, m->frame_bytes);
}

static enum nnb_status budget_take(void *arg, uint32_t pools, uint64_t bytes)
{
	return nnb__model_take(arg, pools, bytes, NULL);
}

static void budget_give(void *arg, uint32_t pools, uint64_t bytes)
{
	struct nnb__model *m = arg;

	nnb__app_give_pools(m->app, pools, bytes);
}

struct nnb__budget nnb__model_budget(struct nnb__model *m)
{
	return (struct nnb__budget){ .take = budget_take, .give = budget_give, .ever = budget_ever, .arg = m };
}

struct nnb__model *nnb__model_get(struct nnb__connection *c, uint32_t id)
{
	struct nnb__model *m;

	pthread_mutex_lock(&c->lock);
	m = nnb__table_get(&c->models, id);
	if (m)
		nnb__model_ref(m);
	pthread_mutex_unlock(&c->lock);
	return m;
}

struct nnb__model *nnb__call_model(struct nnb__channel *ch)
{
	uint32_t id = nnb__get_u32(&ch->in);
	struct nnb__model *m = nnb__model_get(ch->connection, id);
	struct nnb_reason why = { "" };

	if (!m) {
		nnb_because(&why, "there is no model %u", id);
		nnb__call_answer(ch, NNB_STATUS_INVALID_ARGUMENT, &why);
	}
	return m;
}

/* ---- arguments of calls ---- */

uint64_t nnb__pools_bytes(const struct nnb_memory *pools, uint32_t n)
{
	uint64_t bytes = 0;

	for (uint32_t i = 0; i < n; i++)
		bytes = nnb__saturating_sum(bytes, pools[i].size);
	return bytes;
}

/* Read a model of the client's HAL or an earlier one, with its fds. NONE, and the caller owns *ret. */
static enum nnb_status get_model(struct nnb__message *in, uint32_t hal, struct nnb_model **ret, struct nnb_reason *why)
{
	uint32_t bytes = nnb__get_u32(in);
	struct nnb_model *m;
	int r;

	if (!nnb__message_holds(in, bytes, 1)) {
		nnb_because(why, "the call is malformed");
		return NNB_STATUS_INVALID_ARGUMENT;
	}
	r = nnb_model_decode(&m, in->body + in->at, bytes, why);
	in->at += bytes;
	if (r == -ECANCELED)
		return nnb__impatient(why);
	if (r)
		return r == -ENOMEM ? NNB_STATUS_RESOURCE_EXHAUSTED_TRANSIENT : NNB_STATUS_INVALID_ARGUMENT;
	for (uint32_t i = 0; i < m->n_pools; i++)
		for (uint32_t k = 0; k < m->pools[i].n_fds && k < NNB_MEMORY_FDS; k++)
			m->pools[i].fds[k] = nnb__get_fd(in);
	if (!nnb__message_taken(in)) {
		nnb_because(why, "the call is malformed");
		nnb_model_free(m);
		return NNB_STATUS_INVALID_ARGUMENT;
	}
	if (m->hal > hal) {
		nnb_because(why, "the model is for HAL %u.%u, and the client for %u.%u", m->hal >> 4, m->hal & 15,
		            hal >> 4, hal & 15);
		nnb_model_free(m);
		return NNB_STATUS_INVALID_ARGUMENT;
	}
	nnb__message_drop_body(in); /* release the message's memory, because preparing the model may need it */
	*ret = m;
	return NNB_STATUS_NONE;
}

/* The charges of a model before it is prepared. */
struct weight {
	uint64_t beside;      /* the model and its pools, its inputs and outputs */
	uint64_t temporaries; /* temporaries of known shapes, in which an execution computes */
	uint64_t constants;   /* constants, of which the driver makes a packed copy */
};

/* The bytes of the model's structs, here and in the graph. */
static uint64_t weight_of_structs(const struct nnb_model *m)
{
	const uint64_t operand =
		sizeof(struct nnb_operand) + sizeof(struct nnb_shape) + sizeof(void *) + sizeof(uint32_t);
	uint64_t bytes = m->n_referenced * (uint64_t)(sizeof(struct nnb_subgraph) + sizeof(struct nnb__graph));

	for (uint32_t part = 0; part <= m->n_referenced; part++) {
		const struct nnb_model g = nnb__part(m, part);

		bytes += g.n_operands * operand + g.n_operations * (uint64_t)sizeof(struct nnb_operation);
		for (uint32_t i = 0; i < g.n_operations; i++)
			bytes += ((uint64_t)g.operations[i].n_inputs + g.operations[i].n_outputs) * sizeof(uint32_t);
	}
	return bytes;
}

static struct weight weight_of(const struct nnb_model *m)
{
	struct weight w = { .beside = nnb__saturating_sum(nnb__pools_bytes(m->pools, m->n_pools),
		                                          nnb__saturating_sum(m->n_values, weight_of_structs(m))) };
	struct nnb__operands all;

	for (uint32_t part = 0; nnb__part_operands(m, part, &all); part++)
		for (uint32_t i = 0; i < all.n; i++) {
			const struct nnb_operand *o = &all.at[i];
			uint64_t *is = &w.beside, n;

			if (o->rank > NNB_RANK_MAX)
				continue; /* not valid: it will be refused */
			if (nnb_operand_bytes(o->type, o->rank, o->dims, &n))
				n = UINT64_MAX;
			if (o->lifetime == NNB_TEMPORARY)
				is = &w.temporaries;
			else if (o->lifetime == NNB_CONSTANT_COPY || o->lifetime == NNB_CONSTANT_REFERENCE)
				is = &w.constants;
			*is = nnb__saturating_sum(*is, n);
		}
	return w;
}

static uint64_t for_driver(const struct weight *w)
{
	return nnb__saturating_sum(w->temporaries, w->constants);
}

static uint64_t in_all(const struct weight *w)
{
	return nnb__saturating_sum(w->beside, for_driver(w));
}

/*
 * Charge for the model's pools instead of their fds, which arrived with the message; @others of the message's fds are
 * not the model's. After NONE, the caller gives the pools back once the model is freed.
 */
static enum nnb_status adopt_pools(struct nnb__app *app, struct nnb__message *in, uint32_t others,
                                   const struct nnb_model *m, struct nnb_reason *why)
{
	uint32_t came = in->arriving > others ? in->arriving - others : 0;
	enum nnb_status status = nnb__app_swap(app, NNB__ARRIVING, came, NNB__POOLS, m->n_pools, why);

	if (!status)
		in->arriving -= came;
	return status;
}

/* Whether the client of a long call is still connected. */
static bool client_waits(void *arg)
{
	const struct nnb__connection *c = arg;

	return !atomic_load_explicit(&c->closing, memory_order_relaxed);
}

/*
 * An invalid model is reported as invalid, even if it is also too large: impossible sizes are an error in the model
 * (O-14).
 */
static enum nnb_status rather_invalid(const struct nnb_model *m, enum nnb_status status, struct nnb_reason *why)
{
	struct nnb_reason invalid;

	if (status != NNB_STATUS_RESOURCE_EXHAUSTED_PERSISTENT || !m ||
	    nnb_model_validate(m, &invalid) != NNB_STATUS_INVALID_ARGUMENT)
		return status;
	*why = invalid;
	return NNB_STATUS_INVALID_ARGUMENT;
}

/* Wait for a place at the app's desk. NONE, and the call has it until call_leaves_desk. */
static enum nnb_status call_enters_desk(struct nnb__channel *ch, uint64_t deadline_ns, struct nnb_reason *why)
{
	struct nnb__connection *c = ch->connection;

	assert(!ch->at_desk);
	switch (nnb__desk_enter(&c->app->desk, &c->closing, deadline_ns)) {
	case NNB__DESK_PLACE:
		ch->at_desk = true;
		return NNB_STATUS_NONE;
	case NNB__DESK_LATE:
		nnb_because(why, "the deadline passed while the service worked on other models of the app");
		return NNB_STATUS_MISSED_DEADLINE_TRANSIENT;
	default:
		return nnb__impatient(why);
	}
}

static void call_leaves_desk(struct nnb__channel *ch)
{
	if (ch->at_desk)
		nnb__desk_leave(&ch->connection->app->desk);
	ch->at_desk = false;
}

void nnb__call_supported(struct nnb__channel *ch)
{
	struct nnb__patience before = nnb__patience_begin(client_waits, ch->connection);
	struct nnb__app *app = ch->connection->app;
	struct nnb_reason why = { "" };
	struct nnb_model *m = NULL;
	enum nnb_status status = call_enters_desk(ch, 0, &why);
	uint64_t bytes = 0, answer;
	uint32_t n, pools = 0;
	bool *each;

	if (!status)
		status = get_model(&ch->in, ch->connection->hal, &m, &why);
	n = m ? m->n_operations : 0;
	each = m ? calloc((size_t)n + 1, sizeof(*each)) : NULL;
	if (!status && !each)
		status = NNB_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
	if (!status)
		status = adopt_pools(app, &ch->in, 0, m, &why);
	if (!status) {
		const struct weight w = weight_of(m);

		pools = m->n_pools;
		answer = nnb__charged_of(3 * (uint64_t)n); /* once here, and up to twice in the message */
		status = nnb__app_take(app, NNB__BYTES, nnb__saturating_sum(in_all(&w), answer), &why);
		if (!status) {
			bytes = in_all(&w);
			ch->owed = answer;
			status = nnb_device_supported(ch->connection->service->config.device, m, each, &why);
		}
	}
	status = rather_invalid(m, status, &why);
	nnb__patience_end(&before);
	nnb__call_answer(ch, status, &why);
	for (uint32_t i = 0; !status && i < n; i++)
		nnb__put_bytes(&ch->out, &(uint8_t){ each[i] }, 1);
	free(each);
	nnb_model_free(m);
	nnb__app_give_pools(app, pools, bytes); /* after the pools are closed */
	call_leaves_desk(ch);
}

/* A cache as it was received; owns its fds. */
struct cache {
	struct nnb_cache cache;
	int *fds; /* charged with the message */
	uint32_t n;
	bool wanted;
};

/* Read whether the call has a cache, the number of files of each kind, and the token. */
static void get_cache(struct nnb__message *in, struct cache *ret)
{
	uint32_t n_model, n_data;

	*ret = (struct cache){ .wanted = nnb__get_u32(in) };
	n_model = nnb__get_u32(in);
	n_data = nnb__get_u32(in);
	nnb__get_bytes(in, ret->cache.token, sizeof(ret->cache.token));
	if ((uint64_t)n_model + n_data > in->n_fds)
		in->failed = true;
	if (in->failed)
		return;
	ret->fds = calloc((size_t)n_model + n_data + 1, sizeof(*ret->fds));
	if (!ret->fds) {
		in->failed = true;
		return;
	}
	while (ret->n < n_model + n_data)
		ret->fds[ret->n++] = nnb__get_fd(in);
	ret->cache.model_files = ret->fds;
	ret->cache.data_files = ret->fds + n_model;
	ret->cache.n_model_files = n_model;
	ret->cache.n_data_files = n_data;
}

/* Measure the model by trial runs, which wait for a lane and hold it like executions of the app, for a limited time. */
static void model_seed(struct nnb__model *m, struct nnb__connection *c, uint64_t deadline_ns)
{
	const uint8_t priority = (uint8_t)nnb_prepared_how(m->prepared)->priority;
	uint64_t bytes = nnb__seed_bytes(nnb_prepared_model(m->prepared));
	bool has_pool = nnb__app_lend(c->app, NNB__POOLS, 1);
	bool lent = has_pool && nnb__app_lend(c->app, NNB__BYTES, bytes);
	struct nnb__trial trial = { .trace.who = { c->streams[NBT_path_prepare], m->id, c->app->key, priority,
		                                   NBT_path_prepare } };
	struct nnb__runner runner;

	nnb__runner_init(&runner, &c->service->lanes, &c->app->lane_app, &m->times, priority, &c->closing);
	runner.seat.trace = &trial.trace;
	runner.trials = &c->n_trials;
	runner.seat.trial = true;
	pthread_mutex_lock(&c->lock);
	trial.next = c->trials;
	trial.from = &c->trials;
	if (trial.next)
		trial.next->from = &trial.next;
	c->trials = &trial;
	pthread_mutex_unlock(&c->lock);
	nnb__seed(&runner, m->prepared, !lent ? 0 : deadline_ns ? deadline_ns : NNB__NEVER);
	pthread_mutex_lock(&c->lock);
	assert(*trial.from == &trial);
	*trial.from = trial.next;
	if (trial.next)
		trial.next->from = trial.from;
	pthread_mutex_unlock(&c->lock);
	if (lent)
		nnb__app_give(c->app, NNB__BYTES, bytes);
	if (has_pool)
		nnb__app_give(c->app, NNB__POOLS, 1);
}

static int put_model(struct nnb__connection *c, struct nnb__model *m, uint32_t *id)
{
	struct nnb_service *s = c->service;
	int r;

	pthread_mutex_lock(&s->lock);
	pthread_mutex_lock(&c->lock);
	*id = m->id;
	r = nnb__table_put(&c->models, m->id, m);
	if (!r) {
		m->next = s->models;
		m->from = &s->models;
		if (m->next)
			m->next->from = &m->next;
		s->models = m;
		nnb__emit_prepare(m);
	}
	pthread_mutex_unlock(&c->lock);
	pthread_mutex_unlock(&s->lock);
	return r;
}

/* The memory that reading a cache entry may take. */
static uint64_t cache_bytes(const struct nnb_cache *cache)
{
	const struct nnb__errand_wait wait = { .limit_ns = NNB__ERRAND_FILE_NS, .goes_on = nnb__patience_ask };
	uint64_t bytes = 0, n;

	for (uint32_t i = 0; i < cache->n_model_files + cache->n_data_files; i++) {
		int fd = i < cache->n_model_files ? cache->model_files[i] : cache->data_files[i - cache->n_model_files];

		if (!nnb__errand_size(nnb__errands_mine(), fd, &wait, &n))
			bytes = nnb__saturating_sum(bytes, n);
	}
	return bytes;
}

/* Make a model that is in no list, and charge the app for one model. */
static enum nnb_status model_new(struct nnb__model **ret, struct nnb__connection *c,
                                 const struct nnb__model_birth *birth, struct nnb_reason *why)
{
	enum nnb_status status = nnb__app_take(c->app, NNB__MODELS, 1, why);
	struct nnb__model *m;

	if (status)
		return status;
	m = calloc(1, sizeof(*m));
	if (!m) {
		nnb__app_give(c->app, NNB__MODELS, 1);
		nnb_because(why, "no memory for the model");
		return NNB_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
	}
	atomic_init(&m->refs, 1);
	m->app = c->app;
	m->birth = *birth;
	nnb__account_init(&m->account, c->app);
	*ret = m;
	return NNB_STATUS_NONE;
}

/* Charge for the memory of @is, instead of what was charged until now. */
static enum nnb_status model_charge(struct nnb__model *m, const struct nnb_model *is, struct nnb_reason *why)
{
	const struct weight w = weight_of(is);

	m->frame_bytes = w.temporaries;
	return nnb__account_settle(&m->account, w.beside, for_driver(&w), why);
}

/* Prepare from the cache; the service knows the model only afterwards. */
static enum nnb_status prepare_from_cache(struct nnb__model *m, uint64_t deadline_ns, const struct nnb_cache *cache,
                                          struct nnb_reason *why)
{
	const struct nnb_account account = nnb__account_for_driver(&m->account);
	enum nnb_status status = nnb__account_settle(&m->account, 0, cache_bytes(cache), why);
	const struct nnb_model *is;

	if (!status)
		status = nnb__prepare_from_cache_for(m->app->service->config.device, deadline_ns, cache, &account,
		                                     &m->prepared, why);
	if (status)
		return status;
	is = nnb_prepared_model(m->prepared);
	status = nnb__app_take(m->app, NNB__POOLS, is->n_pools, why);
	if (status)
		return status;
	m->pools = is->n_pools;
	return model_charge(m, is, why);
}

/* Run the trial runs, and put the model into the connection's table. NONE and its id. */
static enum nnb_status keep_model(struct nnb__connection *c, struct nnb__model *m, uint64_t deadline_ns, uint32_t *id,
                                  struct nnb_reason *why)
{
	enum nnb_status status;

	nnb__prepared_own(m->prepared, c->id);
	m->low_power = nnb_prepared_how(m->prepared)->preference == 0;
	m->birth.digest = nnb__model_digest(nnb_prepared_model(m->prepared));
	status = nnb__new_id(c->service, &m->id, why); /* the events of its trial runs have the id already */
	if (status)
		return status;
	m->bytes = nnb__account_prepared(&m->account);
	model_seed(m, c, deadline_ns);
	if (!put_model(c, m, id))
		return NNB_STATUS_NONE;
	nnb_because(why, "no memory for the model");
	return NNB_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
}

/*
 * Charge the app, prepare the model, and keep it. *is: NULL: prepare from the cache, and set @how. Otherwise the
 * prepared model takes ownership of *is, which becomes NULL. @pools are charged already; after NONE, the model gives
 * them back.
 */
static enum nnb_status make_model(struct nnb__channel *ch, struct nnb_model **is, uint32_t pools,
                                  struct nnb_prepare *how, const struct nnb_cache *cache,
                                  const struct nnb__model_birth *birth, uint32_t *id, struct nnb_reason *why)
{
	struct nnb__connection *c = ch->connection;
	struct nnb__model *m;
	struct nnb_account account;
	enum nnb_status status = model_new(&m, c, birth, why);

	if (status)
		return status;
	account = nnb__account_for_driver(&m->account);
	if (!*is)
		status = prepare_from_cache(m, how->deadline_ns, cache, why);
	else
		status = model_charge(m, *is, why);
	if (!status && *is)
		status = nnb__prepare_for(c->service->config.device, *is, how, cache, &account, &m->prepared, why);
	if (m->prepared)
		*is = NULL;
	if (!status) {
		m->pools += pools;
		how->preference = nnb_prepared_how(m->prepared)->preference;
		call_leaves_desk(ch); /* its trial runs wait for a lane */
		status = keep_model(c, m, how->deadline_ns, id, why);
		if (status) { /* a model that is kept is in its table, so another thread may have released it */
			assert(m->pools >= pools);
			m->pools -= pools;
		}
	}
	if (status)
		model_discard(m);
	return status;
}

static void prepare_one(struct nnb__channel *ch, bool from_cache)
{
	struct nnb__patience before = nnb__patience_begin(client_waits, ch->connection);
	struct nnb__message *in = &ch->in;
	struct nnb_prepare how = { .priority = NNB_PRIORITY_MEDIUM };
	struct nnb__model_birth birth = { .conn = ch->connection->id, .began = nnb__now() };
	struct nnb_reason why = { "" };
	struct nnb__app *app = ch->connection->app;
	struct nnb_model *m = NULL;
	struct cache cache;
	enum nnb_status status = NNB_STATUS_NONE;
	uint32_t id = 0, pools = 0;
	enum nnb_deadlines deadlines = ch->connection->service->config.deadlines;

	if (!from_cache) {
		how.preference = nnb__get_u32(in);
		how.priority = nnb__get_u32(in);
	}
	birth.deadline_ns = how.deadline_ns = nnb__get_u64(in);
	get_cache(in, &cache);
	if (in->failed || (from_cache && (!nnb__message_taken(in) || !cache.wanted))) {
		nnb_because(&why, "the call is malformed");
		status = NNB_STATUS_INVALID_ARGUMENT;
	}
	if (!status && !nnb__has_qos(ch->connection) && (how.priority != NNB_PRIORITY_MEDIUM || how.deadline_ns)) {
		nnb_because(&why, "there are no priorities and no deadlines before HAL 1.3");
		status = NNB_STATUS_INVALID_ARGUMENT;
	}
	/* With NNB_DEADLINES_REFUSE, a deadline that has not passed yet has no effect on the preparation. */
	if (deadlines == NNB_DEADLINES_ADVISE || (deadlines == NNB_DEADLINES_REFUSE && how.deadline_ns > nnb__now()))
		how.deadline_ns = 0;
	if (!status)
		status = call_enters_desk(ch, how.deadline_ns, &why);
	if (!status && !from_cache)
		status = get_model(in, ch->connection->hal, &m, &why);
	if (!status && m) {
		status = adopt_pools(app, in, cache.n, m, &why);
		pools = status ? 0 : m->n_pools;
	}
	if (!status)
		status = make_model(ch, &m, pools, &how, cache.wanted ? &cache.cache : NULL, &birth, &id, &why);
	status = rather_invalid(m, status, &why);
	nnb__patience_end(&before);
	if (status)
		nnb__emit_unprepared(&birth, m, how.priority, status);
	nnb__call_answer(ch, status, &why);
	if (!status) {
		nnb__put_u32(&ch->out, id);
		nnb__put_u32(&ch->out, how.preference);
	}
	ch->made_model = id;
	for (uint32_t i = 0; i < cache.n; i++)
		if (cache.fds[i] >= 0)
			nnb__close(cache.fds[i]);
	free(cache.fds);
	nnb_model_free(m);
	if (status)
		nnb__app_give(app, NNB__POOLS, pools); /* now that they are closed */
	call_leaves_desk(ch);
}

void nnb__call_prepare(struct nnb__channel *ch)
{
	prepare_one(ch, false);
}

void nnb__call_prepare_from_cache(struct nnb__channel *ch)
{
	prepare_one(ch, true);
}

void nnb__call_times(struct nnb__channel *ch)
{
	struct nnb__model *m = nnb__call_model(ch);
	struct nnb_times times;

	if (!m)
		return;
	if (nnb__message_taken(&ch->in)) {
		nnb__times_get(&m->times, &times);
		nnb__call_answer(ch, NNB_STATUS_NONE, NULL);
		nnb__put_times(&ch->out, &times);
	} else {
		nnb__call_malformed(ch);
	}
	nnb__model_unref(m);
}

void nnb__model_drop(struct nnb__connection *c, uint32_t id)
{
	struct nnb__model *m;

	pthread_mutex_lock(&c->lock);
	m = nnb__table_remove(&c->models, id);
	pthread_mutex_unlock(&c->lock);
	if (m)
		nnb__model_unref(m);
}

void nnb__call_release(struct nnb__channel *ch)
{
	uint32_t id = nnb__get_u32(&ch->in);

	if (!nnb__message_taken(&ch->in)) {
		nnb__call_malformed(ch);
		return;
	}
	nnb__model_drop(ch->connection, id);
	nnb__call_answer(ch, NNB_STATUS_NONE, NULL); /* a model that does not exist is already released, as requested */
}
