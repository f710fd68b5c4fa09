/*
 * burst_helpers.h -- models and calls for tests of bursts, a service that a test can hold and make fail, and a
 * client that writes datums itself.
 */
#ifndef BURST_HELPERS_H
#define BURST_HELPERS_H

#include "unit/fmq_helpers.h"

#include "unit/device_helpers.h"

#include "nnb/burst.h"

enum { ARGUMENTS_MAX = 32, SLOTS_MAX = 64 };

/* ---- the two sides of a burst, in order ---- */

/*
 * Order two sides for the thread sanitizer: what one side wrote before this call, the other side sees after it.
 * The queues order the two sides as well, but through two mappings of one file, which the sanitizer takes for
 * different memory.
 */
static inline void hand_over(void)
{
	static _Atomic unsigned baton;

	atomic_fetch_add(&baton, 1);
}

static inline enum nnb_status burst_execute(struct nnb_burst *b, const struct nnb_call *call, struct nnb_answer *answer,
                                            struct nnb_reason *reason)
{
	enum nnb_status status;

	hand_over();
	status = nnb_burst_execute(b, call, answer, reason);
	hand_over();
	return status;
}

/* ---- a gate, at which threads wait while it is shut ---- */

struct gate {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	bool shut;
	unsigned inside; /* the number of waiting threads */
};

#define GATE_INIT                                                   \
	{                                                           \
		PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER \
	}

static inline void gate_set(struct gate *g, bool shut)
{
	pthread_mutex_lock(&g->lock);
	g->shut = shut;
	pthread_cond_broadcast(&g->changed);
	pthread_mutex_unlock(&g->lock);
}

static inline void gate_pass(struct gate *g)
{
	pthread_mutex_lock(&g->lock);
	g->inside++;
	pthread_cond_broadcast(&g->changed);
	while (g->shut)
		pthread_cond_wait(&g->changed, &g->lock);
	g->inside--;
	pthread_mutex_unlock(&g->lock);
}

/* Wait until a thread waits at the gate. */
static inline void gate_await(struct gate *g)
{
	pthread_mutex_lock(&g->lock);
	while (!g->inside)
		pthread_cond_wait(&g->changed, &g->lock);
	pthread_mutex_unlock(&g->lock);
}

/* Make a request of the call; the memories of its pools go into @memories. */
static inline struct nnb_request request_of_call(const struct nnb_call *c, struct nnb_memory *memories)
{
	for (uint32_t i = 0; memories && i < c->n_pools; i++)
		memories[i] = *nnb_pool_memory(c->pools[i]);
	return (struct nnb_request){ .inputs = c->inputs,
		                     .outputs = c->outputs,
		                     .n_inputs = c->n_inputs,
		                     .n_outputs = c->n_outputs,
		                     .n_pools = c->n_pools,
		                     .pools = memories };
}

/* ---- a vector model's arguments, in pools of the caller's: y = x + c + c ---- */

enum { LENGTH = 16, FIRST = 3 };

struct sum {
	struct nnb_argument in, out;
	struct nnb_pool *pools[2];
	struct nnb_call call;
};

static inline void sum_init(struct sum *s, struct nnb_pool *x, struct nnb_pool *y)
{
	*s = (struct sum){ .in.location = { 0, 0, LENGTH * 4 },
		           .out.location = { 1, LENGTH * 4, LENGTH * 4 },
		           .pools = { x, y },
		           .call = { .inputs = &s->in,
		                     .outputs = &s->out,
		                     .pools = s->pools,
		                     .n_inputs = 1,
		                     .n_outputs = 1,
		                     .n_pools = 2 } };
}

static inline struct nnb_pool *new_pool(void)
{
	struct nnb_pool *p;

	assert_int_equal(nnb_pool_new(&p, LENGTH * 8), 0);
	return p;
}

static inline void sum_prepare(const struct sum *s, float seed)
{
	float *x = nnb_pool_data(s->pools[0]), *y = (float *)nnb_pool_data(s->pools[1]) + LENGTH;

	for (uint32_t i = 0; i < LENGTH; i++) {
		x[i] = seed + (float)i;
		y[i] = -1000;
	}
}

static inline bool sum_is_right(const struct sum *s, float seed)
{
	const float *y = (const float *)nnb_pool_data(s->pools[1]) + LENGTH;

	for (uint32_t i = 0; i < LENGTH; i++)
		if (y[i] != vector_expected(NNB_ADD, FIRST, i, seed + (float)i))
			return false;
	return true;
}

/* Execute @s, and check the outputs. */
static inline void expect_sum(struct nnb_burst *b, const struct sum *s, bool fallback)
{
	static _Thread_local float seed;
	struct nnb_answer answer = { 0 };
	struct nnb_reason reason = { "" };

	sum_prepare(s, ++seed);
	if (burst_execute(b, &s->call, &answer, &reason))
		fail_msg("%s", reason.text);
	assert_int_equal(answer.fallback, fallback);
	if (!sum_is_right(s, seed))
		fail_msg("the result is wrong");
}

/* Execute once with two new pools. */
static inline void expect_it_works(struct nnb_burst *b)
{
	struct sum s;

	sum_init(&s, new_pool(), new_pool());
	expect_sum(b, &s, false);
	nnb_pool_free(s.pools[0]);
	nnb_pool_free(s.pools[1]);
}

/* Expect that the call fails with @status, and that no fallback executed it. */
static inline void expect_failure(struct nnb_burst *b, const struct nnb_call *call, enum nnb_status status)
{
	struct nnb_output_shape shapes[ARGUMENTS_MAX];
	struct nnb_answer answer = { .shapes = shapes, .n_shapes = 7, .fallback = true };
	struct nnb_reason reason = { "" };

	assert_int_equal(burst_execute(b, call, &answer, &reason), status);
	assert_false(answer.fallback);
	assert_int_equal(answer.n_shapes, 0);
	assert_true(answer.timing.on_device_ns == UINT64_MAX && answer.timing.in_driver_ns == UINT64_MAX);
}

static inline struct nnb_prepared *prepared_sum(const char *driver)
{
	struct nnb_device *d = open_device(driver);
	struct nnb_model *m = vector_model(NNB_ADD, LENGTH, FIRST);
	struct nnb_prepared *p = prepared(d, m);

	nnb_model_free(m);
	nnb_device_unref(d);
	return p;
}

/* ---- a service of the test's own: an executor of the library's, watched, held up, made to fail ---- */

struct desk {
	struct nnb_prepared *prepared;
	bool plain, old;         /* old: the service has not agreed to terms */
	enum nnb_status refuses; /* result of configure */
	/* result of the executor before it looks for pools; NONE: the result of the library's executor */
	atomic_uint admits;
	enum nnb_status told;  /* status that replaces the result of the client's callback */
	enum nnb_status keeps; /* result of free_memory */
	struct gate executing; /* all pools are present */
	struct gate asking;    /* in the callback, before it asks the client */
	struct gate freeing;   /* in free_memory, before the library frees the slot */
	struct nnb_burst_executor inner;
	struct nnb_burst_callback callback;
	struct nnb_burst_server *server;
	struct nnb_fmq_desc request, result; /* borrowed from the burst */
	enum nnb_status answered;            /* the result of the last callback */
	enum nnb_status executed;            /* the last status of the executor */
	_Atomic uint32_t executions, calls, frees, fallbacks, closes, releases, executors_freed;
	_Atomic bool cancelled;
	struct nnb_terms terms;                     /* terms of the last request, on either path */
	uint64_t changes;                           /* changes of the last request */
	int32_t asked[SLOTS_MAX], freed[SLOTS_MAX]; /* asked: slots of the last callback; freed: all freed slots */
	uint32_t n_asked;
};

static inline void desk_init(struct desk *d, struct nnb_prepared *p)
{
	*d = (struct desk){ .prepared = p, .executing = GATE_INIT, .asking = GATE_INIT, .freeing = GATE_INIT };
}

static inline enum nnb_status desk_admit(void *arg, const struct nnb_packet_request *request, struct nnb_reason *reason)
{
	struct desk *d = arg;
	enum nnb_status admits = (enum nnb_status)atomic_load(&d->admits);

	hand_over();
	d->terms = request->terms;
	d->changes = request->changes;
	hand_over();
	return admits ? admits : d->inner.admit(d->inner.arg, request, reason);
}

static inline uint32_t desk_missing(void *arg, const int32_t *slots, uint32_t n, int32_t *ret)
{
	struct desk *d = arg;

	return d->inner.missing(d->inner.arg, slots, n, ret);
}

static inline enum nnb_status desk_add(void *arg, const int32_t *slots, uint32_t n, struct nnb_memory *memories,
                                       struct nnb_reason *reason)
{
	struct desk *d = arg;

	return d->inner.add(d->inner.arg, slots, n, memories, reason);
}

static inline void desk_remove(void *arg, int32_t slot)
{
	struct desk *d = arg;

	d->inner.remove(d->inner.arg, slot);
}

static inline void desk_run(void *arg, const struct nnb_packet_request *request, struct nnb_result *result,
                            struct nnb_reason *reason)
{
	struct desk *d = arg;

	hand_over();
	gate_pass(&d->executing);
	d->inner.execute(d->inner.arg, request, result, reason);
	d->executed = result->status;
	d->executions++;
	hand_over();
}

static inline void desk_forgo(void *arg, const struct nnb_packet_request *request)
{
	struct desk *d = arg;

	d->inner.forgo(d->inner.arg, request);
}

static inline void desk_cancel(void *arg)
{
	struct desk *d = arg;

	d->inner.cancel(d->inner.arg);
	d->cancelled = true;
}

static inline void desk_forget(void *arg)
{
	struct desk *d = arg;

	d->inner.free(d->inner.arg);
	d->executors_freed++;
}

static inline enum nnb_status desk_memories(void *arg, const int32_t *slots, uint32_t n, struct nnb_memory *ret)
{
	struct desk *d = arg;
	enum nnb_status told;

	hand_over();
	gate_pass(&d->asking);
	d->calls++;
	d->n_asked = n < SLOTS_MAX ? n : SLOTS_MAX;
	memcpy(d->asked, slots, d->n_asked * sizeof(*slots));
	told = d->told;
	told = told ? told : d->callback.memories(d->callback.arg, slots, n, ret);
	d->answered = told;
	hand_over();
	return told;
}

static inline struct nnb_burst_executor desk_executor(struct desk *d)
{
	if (d->plain ? nnb_burst_executor_plain(&d->inner, d->prepared)
	             : nnb_burst_executor_cached(&d->inner, d->prepared))
		abort();
	return (struct nnb_burst_executor){ .arg = d,
		                            .missing = desk_missing,
		                            .add = desk_add,
		                            .remove = desk_remove,
		                            .admit = desk_admit,
		                            .forgo = desk_forgo,
		                            .execute = desk_run,
		                            .cancel = desk_cancel,
		                            .free = desk_forget };
}

static inline enum nnb_status desk_configure(void *arg, const struct nnb_burst_callback *callback,
                                             const struct nnb_fmq_desc *request, const struct nnb_fmq_desc *result,
                                             void **context, struct nnb_reason *reason)
{
	struct desk *d = arg;
	struct nnb_burst_server_config c = { .request = request,
		                             .result = result,
		                             .callback = { desk_memories, d },
		                             .extended = !d->old,
		                             .n_outputs_max = nnb_prepared_model(d->prepared)->n_outputs,
		                             .window_ns = NNB_FMQ_WINDOW_NONE };

	if (d->refuses)
		return d->refuses;
	d->callback = *callback;
	d->request = *request;
	d->result = *result;
	c.executor = desk_executor(d);
	if (nnb_burst_server_new(&d->server, &c, reason))
		return NNB_STATUS_GENERAL_FAILURE;
	*context = d;
	return NNB_STATUS_NONE;
}

static inline enum nnb_status desk_free_memory(void *context, int32_t slot)
{
	struct desk *d = context;

	gate_pass(&d->freeing);
	if (d->frees < SLOTS_MAX)
		d->freed[d->frees] = slot;
	d->frees++;
	if (!d->keeps)
		nnb_burst_server_free_memory(d->server, slot);
	return d->keeps;
}

static inline void desk_close(void *context)
{
	struct desk *d = context;

	d->server = nnb_burst_server_free(d->server);
	d->closes++;
}

static inline enum nnb_status desk_execute(void *arg, const struct nnb_call *call, struct nnb_answer *answer,
                                           struct nnb_reason *reason)
{
	struct desk *d = arg;
	struct nnb_memory memories[SLOTS_MAX];
	struct nnb_request request = request_of_call(call, memories);

	(void)answer;
	d->terms = call->terms;
	d->fallbacks++;
	return nnb_execute(d->prepared, &request, NULL, reason);
}

static inline void desk_release(void *arg)
{
	struct desk *d = arg;

	d->releases++;
}

static inline struct nnb_burst_service desk_service(struct desk *d)
{
	return (struct nnb_burst_service){ .configure = desk_configure,
		                           .free_memory = desk_free_memory,
		                           .close = desk_close,
		                           .execute = desk_execute,
		                           .release = desk_release,
		                           .model = nnb_prepared_model(d->prepared),
		                           .extended = !d->old,
		                           .arg = d };
}

/* A burst to the service @d. */
static inline struct nnb_burst *desk_burst(struct desk *d, const struct nnb_burst_config *config)
{
	struct nnb_burst_service service = desk_service(d);
	struct nnb_burst *b = NULL;
	struct nnb_reason reason = { "" };

	if (nnb_burst_new(&b, &service, config, &reason))
		fail_msg("%s", reason.text);
	return b;
}

/* ---- a client with its own queues, into which it writes datums ---- */

struct peer {
	struct nnb_fmq *request, *result;
	struct nnb_burst_server *server;
	struct nnb_memory memories[SLOTS_MAX]; /* by slot; all zeroes: none. Borrowed */
	bool answers_first;
	_Atomic uint32_t calls;
};

/* The shortest implementation of S-7: slot @i is memory @i. */
static inline enum nnb_status peer_memories(void *arg, const int32_t *slots, uint32_t n, struct nnb_memory *ret)
{
	struct peer *p = arg;
	uint32_t done = 0;

	hand_over();
	p->calls++;
	while (done < n && slots[done] >= 0 && slots[done] < SLOTS_MAX && p->memories[slots[done]].size &&
	       !nnb_memory_dup(&ret[done], &p->memories[slots[done]]))
		done++;
	if (done == n)
		return NNB_STATUS_NONE;
	while (done)
		nnb_memory_close(&ret[--done]);
	return NNB_STATUS_INVALID_ARGUMENT;
}

static inline struct nnb_fmq *burst_queue(size_t elem_size, size_t capacity)
{
	struct nnb_fmq_config c = {
		.elem_size = elem_size, .capacity = capacity, .flavour = NNB_FMQ_SYNCHRONIZED, .event_flag = true
	};
	struct nnb_fmq *q;

	assert_int_equal(nnb_fmq_new(&q, &c), 0);
	return q;
}

static inline enum nnb_status peer_serve(struct peer *p, const struct nnb_burst_executor *executor, uint32_t n_outputs,
                                         struct nnb_reason *reason)
{
	struct nnb_fmq_desc request, result;
	struct nnb_burst_server_config c = { .request = &request,
		                             .result = &result,
		                             .callback = { peer_memories, p },
		                             .executor = *executor,
		                             .extended = true,
		                             .n_outputs_max = n_outputs,
		                             .window_ns = NNB_FMQ_WINDOW_NONE,
		                             .answers_first = p->answers_first };

	nnb_fmq_describe(p->request, &request);
	nnb_fmq_describe(p->result, &result);
	return nnb_burst_server_new(&p->server, &c, reason);
}

/* Queues of the default size, and a server for @prepared with a cache. */
static inline void peer_init(struct peer *p, struct nnb_prepared *prepared)
{
	struct nnb_burst_executor executor;
	struct nnb_reason reason = { "" };

	*p = (struct peer){ .request = burst_queue(sizeof(struct nnb_request_datum), NNB_BURST_CAPACITY),
		            .result = burst_queue(sizeof(struct nnb_result_datum), NNB_BURST_CAPACITY) };
	assert_int_equal(nnb_burst_executor_cached(&executor, prepared), 0);
	if (peer_serve(p, &executor, nnb_prepared_model(prepared)->n_outputs, &reason))
		fail_msg("%s", reason.text);
}

static inline void peer_fini(struct peer *p)
{
	nnb_burst_server_free(p->server);
	nnb_fmq_free(p->request);
	nnb_fmq_free(p->result);
}

/* The datums of the call, whose pools are slots 0, 1, ...; the caller frees them. */
static inline struct nnb_request_datum *datums_of(const struct nnb_call *call, bool measure, uint32_t *n)
{
	struct nnb_request request = request_of_call(call, NULL);
	int32_t slots[SLOTS_MAX];
	struct nnb_fmq_tx tx = { .elem_size = sizeof(struct nnb_request_datum) };

	for (int32_t i = 0; i < SLOTS_MAX; i++)
		slots[i] = i;
	*n = (uint32_t)nnb_packet_request_size(&request, NULL);
	tx.first = (struct nnb_fmq_region){ calloc(*n, tx.elem_size), *n };
	assert_non_null(tx.first.base);
	nnb_packet_request_build(&tx, &request, slots, measure, NULL);
	return tx.first.base;
}

static inline void peer_send(struct peer *p, const struct nnb_request_datum *datums, uint32_t n)
{
	hand_over();
	assert_int_equal(nnb_fmq_write_blocking(p->request, datums, n, PATIENCE), 0);
}

enum { RESULT_MAX = 512 };

/* Wait for a packet, and take all its datums (B-14). Returns their number. */
static inline uint32_t peer_receive(struct peer *p, struct nnb_result_datum *ret)
{
	struct nnb_fmq_tx tx;
	size_t n;

	if (nnb_fmq_begin_read_blocking(p->result, 1, PATIENCE, &tx))
		fail_msg("no result came");
	n = nnb_fmq_available_to_read(p->result);
	assert_true(n && n <= RESULT_MAX);
	assert_int_equal(nnb_fmq_read(p->result, ret, n), 0);
	hand_over();
	return (uint32_t)n;
}

/*
 * Check the answer to a request that failed: status @status (NONE: any error), no shapes, no timing. Returns
 * NULL, or what is wrong.
 */
static inline const char *not_a_failure(const struct nnb_result_datum *r, uint32_t n, enum nnb_status status)
{
	if (n != NNB_RESULT_MIN || r[0].kind != NNB_RESULT_PACKET || r[0].packet.size != n)
		return "the packet is longer than a failure's";
	if (r[0].packet.status == NNB_STATUS_NONE || (status && r[0].packet.status != status))
		return "the status is another one";
	if (r[0].packet.n_operands)
		return "there are shapes";
	if (r[1].kind != NNB_RESULT_TIMING || r[1].timing.on_device_us != UINT64_MAX ||
	    r[1].timing.in_driver_us != UINT64_MAX)
		return "there is a timing";
	return NULL;
}

static inline void expect_refusal(struct peer *p, const struct nnb_request_datum *datums, uint32_t n,
                                  enum nnb_status status)
{
	struct nnb_result_datum result[RESULT_MAX];
	const char *trouble;

	peer_send(p, datums, n);
	trouble = not_a_failure(result, peer_receive(p, result), status);
	if (trouble)
		fail_msg("%s (%s)", trouble, nnb_status_name((enum nnb_status)result[0].packet.status));
}

static inline void expect_service(struct peer *p, const struct nnb_request_datum *datums, uint32_t n)
{
	struct nnb_result_datum result[RESULT_MAX];

	peer_send(p, datums, n);
	peer_receive(p, result);
	assert_int_equal(result[0].kind, NNB_RESULT_PACKET);
	if (result[0].packet.status)
		fail_msg("%s", nnb_status_name((enum nnb_status)result[0].packet.status));
}

/* ---- threads and mappings that are left ---- */

/* The number of threads of this process. */
static inline unsigned count_threads(void)
{
	char text[64] = "";
	unsigned n = 0;
	FILE *f = fopen("/proc/self/status", "re");

	assert_non_null(f);
	while (fgets(text, sizeof(text), f) && sscanf(text, "Threads: %u", &n) != 1)
		;
	fclose(f);
	return n;
}

/* The number of mappings of files that memfd_create made. */
static inline unsigned count_memfd_mappings(void)
{
	char line[512];
	unsigned n = 0;
	FILE *f = fopen("/proc/self/maps", "re");

	assert_non_null(f);
	while (fgets(line, sizeof(line), f))
		n += strstr(line, "/memfd:") != NULL;
	fclose(f);
	return n;
}

/* Wait until @n threads are left: the kernel counts a joined thread for a moment longer. */
static inline void await_threads(unsigned n)
{
	for (uint64_t end = now_ns() + PATIENCE; count_threads() != n; nap())
		if (now_ns() >= end)
			fail_msg("%u threads, and not %u", count_threads(), n);
}

#endif
