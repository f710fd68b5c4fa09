/*
 * suite_burst.c -- ValidateBurst: the suite's own controller writes packets that differ from a valid packet in one
 * datum.
 *
 * Each such packet must be answered by a failure without shapes or timing (B-18), and the burst must then execute the
 * valid packet.
 *
 * CONCURRENCY  One thread writes and reads the queues. The callback runs on another thread (the server's, or the
 *              client's), and reads only members that were set before the queues existed.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/validate/abort_unless.h"
#include "conformance/validate/sample_models.h"
#include "conformance/validate/subject.h"

#define SUITE "burst"
#define PATIENCE UINT64_C(10000000000)

enum { POOLS = 2, RESULT_MAX = 512 };

/* ---- a controller that writes raw datums ---- */

struct peer {
	struct nnb_fmq *request, *result;
	struct nnb_memory memories[POOLS]; /* the memory of slot i; borrowed */
	struct nnb_burst_server *server;   /* set in this process; otherwise the client's burst is set */
	struct nnb_burst_service service;
	void *context;
};

/* S-7 */
static enum nnb_status peer_memories(void *arg, const int32_t *slots, uint32_t n, struct nnb_memory *ret)
{
	const struct peer *p = arg;
	uint32_t done = 0;

	while (done < n && slots[done] >= 0 && slots[done] < POOLS &&
	       !nnb_memory_dup(&ret[done], &p->memories[slots[done]]))
		done++;
	if (done == n)
		return NNB_STATUS_NONE;
	while (done)
		nnb_memory_close(&ret[--done]);
	return NNB_STATUS_INVALID_ARGUMENT;
}

static struct nnb_fmq *queue_new(size_t elem_size)
{
	const struct nnb_fmq_config c = { .elem_size = elem_size,
		                          .capacity = NNB_BURST_CAPACITY,
		                          .flavour = NNB_FMQ_SYNCHRONIZED,
		                          .event_flag = true };
	struct nnb_fmq *q;

	abort_unless(!nnb_fmq_new(&q, &c));
	return q;
}

static enum nnb_status serve_here(struct peer *p, const struct prepared *model, const struct nnb_fmq_desc *request,
                                  const struct nnb_fmq_desc *result, struct nnb_reason *reason)
{
	struct nnb_burst_server_config c = { .request = request,
		                             .result = result,
		                             .callback = { peer_memories, p },
		                             .extended = true,
		                             .n_outputs_max = prepared_model(model)->n_outputs,
		                             .window_ns = NNB_FMQ_WINDOW_NONE };

	abort_unless(!nnb_burst_executor_cached(&c.executor, model->here));
	return nnb_burst_server_new(&p->server, &c, reason);
}

static enum nnb_status serve_there(struct peer *p, const struct prepared *model, const struct nnb_fmq_desc *request,
                                   const struct nnb_fmq_desc *result, struct nnb_reason *reason)
{
	const struct nnb_burst_callback callback = { peer_memories, p };
	enum nnb_status status = nnb_remote_burst_service(model->there, &p->service, reason);

	if (status)
		return status;
	status = p->service.configure(p->service.arg, &callback, request, result, &p->context, reason);
	if (status) {
		p->service.release(p->service.arg);
		p->context = NULL;
	}
	return status;
}

static enum nnb_status peer_init(struct peer *p, const struct prepared *model, const struct job *j,
                                 struct nnb_reason *reason)
{
	struct nnb_fmq_desc request, result;

	*p = (struct peer){ .request = queue_new(sizeof(struct nnb_request_datum)),
		            .result = queue_new(sizeof(struct nnb_result_datum)) };
	for (uint32_t i = 0; i < POOLS; i++)
		p->memories[i] = *nnb_pool_memory(j->pools[i]);
	nnb_fmq_describe(p->request, &request);
	nnb_fmq_describe(p->result, &result);
	return model->here ? serve_here(p, model, &request, &result, reason)
	                   : serve_there(p, model, &request, &result, reason);
}

static void peer_free_slot(struct peer *p, int32_t slot)
{
	if (p->server)
		nnb_burst_server_free_memory(p->server, slot);
	else
		p->service.free_memory(p->context, slot);
}

/*
 * Write a packet and wait for the result. Returns its number of datums; 0: no result in time, or more datums than any
 * valid result has.
 */
static uint32_t peer_ask(struct peer *p, const struct nnb_request_datum *datums, uint32_t n,
                         struct nnb_result_datum ret[RESULT_MAX])
{
	struct nnb_fmq_tx tx;
	size_t got;

	if (nnb_fmq_write_blocking(p->request, datums, n, PATIENCE) ||
	    nnb_fmq_begin_read_blocking(p->result, 1, PATIENCE, &tx))
		return 0;
	got = nnb_fmq_available_to_read(p->result);
	return got <= RESULT_MAX && !nnb_fmq_read(p->result, ret, got) ? (uint32_t)got : 0;
}

/* ---- packets ---- */

static struct nnb_request_datum *datums_of(const struct nnb_call *call, bool measure, uint32_t *n)
{
	const struct nnb_request request = { .inputs = call->inputs,
		                             .outputs = call->outputs,
		                             .n_inputs = call->n_inputs,
		                             .n_outputs = call->n_outputs,
		                             .n_pools = call->n_pools };
	const int32_t slots[POOLS] = { 0, 1 };
	struct nnb_fmq_tx tx = { .elem_size = sizeof(struct nnb_request_datum) };

	*n = (uint32_t)nnb_packet_request_size(&request, NULL);
	tx.first = (struct nnb_fmq_region){ calloc(*n, tx.elem_size), *n };
	abort_unless(tx.first.base);
	nnb_packet_request_build(&tx, &request, slots, measure, NULL);
	return tx.first.base;
}

static const struct nnb_request_datum bad[] = {
	{ .kind = NNB_REQUEST_PACKET, .packet = { 10, 10, 10, 10 } },
	{ .kind = NNB_REQUEST_INPUT, .operand = { .rank = 10 } },
	{ .kind = NNB_REQUEST_INPUT_DIMENSION, .dimension = 0 },
	{ .kind = NNB_REQUEST_OUTPUT, .operand = { .rank = 10 } },
	{ .kind = NNB_REQUEST_OUTPUT_DIMENSION, .dimension = 0 },
	{ .kind = NNB_REQUEST_SLOT, .slot = INT32_MAX },
	{ .kind = NNB_REQUEST_MEASURE, .measure = 1 },
};
enum { N_BAD = sizeof(bad) / sizeof(bad[0]) };

enum mutation { REMOVE, INSERT, REPLACE, N_MUTATIONS };
static const char *const mutation_names[] = { "removed", "inserted", "replaced" };

static bool is_dimension(const struct nnb_request_datum *d)
{
	return d->kind == NNB_REQUEST_INPUT_DIMENSION || d->kind == NNB_REQUEST_OUTPUT_DIMENSION;
}

/*
 * Write to @ret the packet @good with a datum removed, added or changed at @at. Returns its length; 0: there is no such
 * mutation.
 */
static uint32_t packet_mutate(struct nnb_request_datum *ret, const struct nnb_request_datum *good, uint32_t n,
                              enum mutation how, uint32_t at, const struct nnb_request_datum *with)
{
	size_t one = sizeof(*good);

	memcpy(ret, good, at * one);
	switch (how) {
	case REMOVE:
		memcpy(ret + at, good + at + 1, (n - at - 1) * one);
		return n - 1;
	case INSERT:
		ret[at] = *with;
		memcpy(ret + at + 1, good + at, (n - at) * one);
		return n + 1;
	default:
		if (at == n)
			return 0;
		memcpy(ret + at, good + at, (n - at) * one);
		ret[at] = *with;
		/* Section 2.9: the datum must differ, other than by another dimension value of the same kind. */
		if (!memcmp(&good[at], with, one) || (is_dimension(&good[at]) && good[at].kind == with->kind))
			return 0;
		return n;
	}
}

/* Check that a result is a failure without shapes and timing. NULL: it is. */
static const char *not_a_failure(const struct nnb_result_datum *r, uint32_t n)
{
	if (!n)
		return "no result arrives";
	if (r[0].kind != NNB_RESULT_PACKET || r[0].packet.size != n)
		return "the result is no packet of its size";
	if (r[0].packet.status == NNB_STATUS_NONE)
		return "it is executed";
	if (n != NNB_RESULT_MIN || r[0].packet.n_operands)
		return "the failure has shapes";
	if (r[1].kind != NNB_RESULT_TIMING || r[1].timing.on_device_us != UINT64_MAX ||
	    r[1].timing.in_driver_us != UINT64_MAX)
		return "the failure has a timing";
	return NULL;
}

/* ---- checks ---- */

/* A sample on a burst, with a valid packet. */
struct scene {
	struct prepared model;
	struct job job;
	struct peer peer;
	struct nnb_request_datum *good;
	uint32_t n;
};

static void scene_fini(struct scene *s)
{
	nnb_burst_server_free(s->peer.server);
	if (s->peer.context) {
		s->peer.service.close(s->peer.context);
		s->peer.service.release(s->peer.service.arg);
	}
	nnb_fmq_free(s->peer.request);
	nnb_fmq_free(s->peer.result);
	free(s->good);
	job_fini(&s->job);
	prepared_free(&s->model);
}

/* False: the subject does not support the sample. */
static bool scene_init(struct scene *s, const struct subject *subject, struct checks *c, size_t sample)
{
	struct nnb_model *m = sample_new(sample);
	struct nnb_reason reason = { "" };
	bool good;

	*s = (struct scene){ 0 };
	good = subject_takes(subject, m) && !prepared_new(&s->model, subject, m, NULL, NULL) && job_init(&s->job, m);
	nnb_model_free(m);
	if (!good) {
		prepared_free(&s->model);
		return false;
	}
	s->good = datums_of(&s->job.call, true, &s->n);
	if (!wants_status(c, peer_init(&s->peer, &s->model, &s->job, &reason), NNB_STATUS_NONE, "a burst", &reason)) {
		scene_fini(s);
		return false;
	}
	return true;
}

static bool expect_service(struct scene *s, struct checks *c, const char *when)
{
	struct nnb_result_datum result[RESULT_MAX];
	uint32_t n = peer_ask(&s->peer, s->good, s->n, result);

	return checks_row(c, n && result[0].kind == NNB_RESULT_PACKET && result[0].packet.status == NNB_STATUS_NONE,
	                  "%s: %s the valid packet %s%s", prepared_model(&s->model)->name, when,
	                  n ? "returns " : "has no answer",
	                  n ? nnb_status_name((enum nnb_status)result[0].packet.status) : "");
}

static bool expect_row(struct scene *s, struct checks *c, enum mutation how, uint32_t at,
                       const struct nnb_request_datum *with, struct nnb_request_datum *room)
{
	struct nnb_result_datum result[RESULT_MAX];
	uint32_t length = packet_mutate(room, s->good, s->n, how, at, with);
	const char *trouble;

	if (!length)
		return true;
	trouble = not_a_failure(result, peer_ask(&s->peer, room, length, result));
	checks_row(c, !trouble, "%s: datum %u of %u %s%s%d: %s", prepared_model(&s->model)->name, at, s->n,
	           mutation_names[how], with ? ", kind " : "", with ? with->kind : 0, trouble ? trouble : "");
	/* after a missing or an additional answer, later answers would be matched to the wrong packets */
	return !trouble || expect_service(s, c, "after that");
}

static void check_mutation(const struct subject *s, struct checks *c, enum mutation how)
{
	char name[64];
	struct scene scene;

	if (!checks_wants(c, SUITE, "B-18"))
		return;
	snprintf(name, sizeof(name), "a packet with one datum %s is answered by a failure", mutation_names[how]);
	checks_begin(c, SUITE, "B-18", name);
	for (size_t i = 0; i < sample_count(); i++) {
		struct nnb_request_datum *room;
		bool goes_on;

		if (!scene_init(&scene, s, c, i))
			continue;
		room = calloc((size_t)scene.n + 1, sizeof(*room));
		goes_on = true;
		abort_unless(room);
		for (uint32_t at = 0; goes_on && at <= scene.n; at++) {
			if (how == REMOVE && at < scene.n)
				goes_on = expect_row(&scene, c, how, at, NULL, room);
			for (size_t j = 0; how != REMOVE && goes_on && j < N_BAD; j++)
				goes_on = expect_row(&scene, c, how, at, &bad[j], room);
		}
		if (goes_on)
			expect_service(&scene, c, "after all that");
		free(room);
		scene_fini(&scene);
	}
	checks_skip(c, "no sample model is supported");
	checks_end(c);
}

/* The first sample that the subject supports. */
static bool any_scene(struct scene *ret, const struct subject *s, struct checks *c)
{
	for (size_t i = 0; i < sample_count(); i++)
		if (scene_init(ret, s, c, i))
			return true;
	checks_skip(c, "no sample model is supported");
	return false;
}

static void check_values(const struct subject *s, struct checks *c)
{
	struct nnb_result_datum result[RESULT_MAX];
	struct nnb_request_datum kept;
	const char *trouble;
	struct scene scene;

	if (!checks_wants(c, SUITE, "B-19"))
		return;
	checks_begin(c, SUITE, "B-19", "a well-formed packet with wrong values fails");
	if (any_scene(&scene, s, c)) {
		for (uint32_t at = 0; at < 2 * scene.n; at++) {
			struct nnb_request_datum *d = &scene.good[at / 2];

			kept = *d;
			/* Change a value in a way that the parser accepts and the execution must refuse (B-19). */
			if (d->kind == NNB_REQUEST_INPUT || d->kind == NNB_REQUEST_OUTPUT)
				d->operand.pool = at % 2 ? 7 : UINT32_MAX;
			else if (d->kind == NNB_REQUEST_SLOT)
				d->slot = at % 2 ? 77 : -1;
			else if (d->kind == NNB_REQUEST_MEASURE)
				d->measure = 2 + at % 2;
			if (!memcmp(&kept, d, sizeof(kept)))
				continue;
			trouble = not_a_failure(result, peer_ask(&scene.peer, scene.good, scene.n, result));
			checks_row(c, !trouble, "datum %u, kind %d: %s", at / 2, kept.kind, trouble);
			*d = kept;
		}
		expect_service(&scene, c, "after that");
		scene_fini(&scene);
	}
	checks_end(c);
}

static void check_free(const struct subject *s, struct checks *c)
{
	struct scene scene;

	if (!checks_wants(c, SUITE, "S-13"))
		return;
	checks_begin(c, SUITE, "S-13", "freeMemory of a slot, of it again, and of an unknown one, is harmless");
	if (any_scene(&scene, s, c)) {
		expect_service(&scene, c, "at first");
		peer_free_slot(&scene.peer, 0);
		peer_free_slot(&scene.peer, 17);
		peer_free_slot(&scene.peer, 0);
		expect_service(&scene, c, "after freeMemory");
		scene_fini(&scene);
	}
	checks_end(c);
}

/* Result datums must not reveal the queue's memory: fields that a variant does not use must be zero. */
static bool is_sanitized(const struct nnb_result_datum *d)
{
	static const uint8_t used[][sizeof(struct nnb_result_datum)] = { [NNB_RESULT_PACKET] = { [8 ... 19] = 1 },
		                                                         [NNB_RESULT_OPERAND] = { [8] = 1,
		                                                                                  [12 ... 15] = 1 },
		                                                         [NNB_RESULT_DIMENSION] = { [8 ... 11] = 1 },
		                                                         [NNB_RESULT_TIMING] = { [8 ... 23] = 1 } };
	unsigned char bytes[sizeof(*d)];

	memcpy(bytes, d, sizeof(*d));
	for (size_t i = 1; i < sizeof(*d); i++)
		if (d->kind > NNB_RESULT_TIMING || (!used[d->kind][i] && bytes[i]))
			return false;
	return true;
}

void suite_burst(const struct subject *s, struct checks *c)
{
	struct nnb_result_datum result[RESULT_MAX];
	struct scene scene;
	uint32_t n;

	for (enum mutation how = 0; how < N_MUTATIONS; how++)
		check_mutation(s, c, how);
	check_values(s, c);
	check_free(s, c);
	if (!checks_wants(c, SUITE, "B-13"))
		return;
	checks_begin(c, SUITE, "B-13", "unused fields of a result's datums are zero");
	if (any_scene(&scene, s, c)) {
		for (int right = 0; right < 2; right++) {
			n = peer_ask(&scene.peer, scene.good, right ? scene.n : 1, result);
			checks_row(c, n > 0, "no result");
			for (uint32_t i = 0; i < n; i++)
				checks_row(c, is_sanitized(&result[i]), "datum %u of %u of a result", i, n);
		}
		scene_fini(&scene);
	}
	checks_end(c);
}
