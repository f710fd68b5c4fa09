/*
 * test_burst.c -- bursts, client and service in one process: the same answers as without a burst, one request
 * at a time, a fallback where the client sent nothing, and an end whatever the other side does.
 *
 * A gate of the test's own service stops one side in the middle of an action where a test needs that.
 */
#include <dirent.h>

#include "conformance/validate/job.h"
#include "unit/burst_helpers.h"

#include "conformance/validate/sample_models.h"

/* ---- the same answers as nnb_execute, for every sample ---- */

struct path {
	const char *driver;
	bool cached;
	size_t sample;
};

static const struct {
	const char *driver;
	bool cached;
} paths[] = { { "xnnpack", true }, { "xnnpack", false }, { "null", true }, { "null", false } };

/* Run without a burst, and keep the output. */
static enum nnb_status run_plainly(struct nnb_prepared *p, const struct job *j, struct nnb_output_shape *shapes,
                                   void *bytes)
{
	struct nnb_memory memories[2];
	struct nnb_request request = request_of_call(&j->call, memories);
	enum nnb_status status;

	memset(nnb_pool_data(j->pools[1]), 0x5a, nnb_pool_size(j->pools[1]));
	status = nnb_execute(p, &request, shapes, NULL);
	memcpy(bytes, nnb_pool_data(j->pools[1]), nnb_pool_size(j->pools[1]));
	return status;
}

static void expect_same(struct nnb_burst *b, struct job *j, const struct nnb_output_shape *shapes, const void *bytes)
{
	struct nnb_output_shape got[ARGUMENTS_MAX];
	struct nnb_answer answer = { .shapes = got };
	struct nnb_reason reason = { "" };

	memset(nnb_pool_data(j->pools[1]), 0x5a, nnb_pool_size(j->pools[1]));
	if (burst_execute(b, &j->call, &answer, &reason))
		fail_msg("%s", reason.text);
	assert_false(answer.fallback);
	assert_int_equal(answer.n_shapes, j->call.n_outputs);
	for (uint32_t i = 0; i < answer.n_shapes; i++) {
		assert_int_equal(got[i].rank, shapes[i].rank);
		assert_memory_equal(got[i].dims, shapes[i].dims, shapes[i].rank * sizeof(uint32_t));
		assert_true(got[i].sufficient);
	}
	assert_memory_equal(nnb_pool_data(j->pools[1]), bytes, nnb_pool_size(j->pools[1]));
}

static void it_answers_as_without_a_burst(void **state)
{
	const struct path *at = *state;
	struct nnb_output_shape shapes[ARGUMENTS_MAX];
	struct nnb_device *d = open_device(at->driver);
	struct nnb_model *m = sample_new(at->sample);
	struct nnb_prepared *p;
	struct nnb_burst *b;
	struct job j;
	void *bytes;

	if (supports(d, m)) {
		p = prepared(d, m);
		assert_true(job_init(&j, m));
		assert_true(j.call.n_outputs <= ARGUMENTS_MAX);
		bytes = malloc(nnb_pool_size(j.pools[1]));
		assert_non_null(bytes);
		assert_int_equal(run_plainly(p, &j, shapes, bytes), NNB_STATUS_NONE);
		assert_int_equal(nnb_burst_local(&b, p, at->cached, NULL, NULL), NNB_STATUS_NONE);
		for (int i = 0; i < 3; i++) /* without, then with mappings in the cache */
			expect_same(b, &j, shapes, bytes);
		nnb_burst_free(b);
		free(bytes);
		job_fini(&j);
		nnb_prepared_unref(p);
	}
	nnb_model_free(m);
	nnb_device_unref(d);
}

/* ---- the fixture: a prepared sum, a service of its own, two pools ---- */

struct bench {
	struct desk desk;
	struct sum sum;
	bool plain;
};

static int bench_init(void **state)
{
	struct bench *t = calloc(1, sizeof(*t));

	if (!t)
		return -1;
	desk_init(&t->desk, prepared_sum("xnnpack"));
	t->desk.plain = t->plain = *state && *(const bool *)*state;
	sum_init(&t->sum, new_pool(), new_pool());
	*state = t;
	alarm(WATCHDOG_S);
	return 0;
}

static int bench_fini(void **state)
{
	struct bench *t = *state;

	alarm(0);
	nnb_pool_free(t->sum.pools[0]);
	nnb_pool_free(t->sum.pools[1]);
	nnb_prepared_unref(t->desk.prepared);
	free(t);
	return 0;
}

/* An execution on a thread of its own. */
struct execution {
	struct actor actor;
	struct nnb_burst *burst;
	const struct nnb_call *call;
	struct nnb_answer answer;
};

static int executes(struct actor *a)
{
	struct execution *e = a->arg;

	return (int)burst_execute(e->burst, e->call, &e->answer, NULL);
}

static void execute_elsewhere(struct execution *e, struct nnb_burst *b, const struct nnb_call *call)
{
	*e = (struct execution){ .actor = { .act = executes, .arg = e }, .burst = b, .call = call };
	start(&e->actor);
}

static const struct {
	const char *name;
	uint64_t ns;
} windows[] = { { "AUTO", NNB_FMQ_WINDOW_AUTO }, { "NONE", NNB_FMQ_WINDOW_NONE }, { "ALWAYS", NNB_FMQ_WINDOW_ALWAYS } };

static void a_burst_works_with_any_window(void **state)
{
	struct bench *t = *state;

	for (size_t i = 0; i < N_OF(windows); i++) {
		struct nnb_burst_config c = { .window_ns = windows[i].ns };
		struct nnb_fmq_waited last, total;
		struct nnb_burst *b;

		assert_int_equal(nnb_burst_local(&b, t->desk.prepared, !t->plain, &c, NULL), NNB_STATUS_NONE);
		for (int k = 0; k < 20; k++)
			expect_sum(b, &t->sum, false);
		nnb_burst_waited(b, &last, &total);
		assert_true(last.slept_ns <= total.slept_ns && last.spun_ns <= total.spun_ns);
		nnb_burst_free(b);
	}
}

static void the_answer_may_be_null(void **state)
{
	struct bench *t = *state;
	struct nnb_burst *b = desk_burst(&t->desk, NULL);

	sum_prepare(&t->sum, 4);
	assert_int_equal(burst_execute(b, &t->sum.call, NULL, NULL), NNB_STATUS_NONE);
	assert_true(sum_is_right(&t->sum, 4));
	t->sum.call.n_outputs = 0;
	assert_int_equal(burst_execute(b, &t->sum.call, NULL, NULL), NNB_STATUS_INVALID_ARGUMENT);
	nnb_burst_free(b);
}

static void freeing_null_is_fine(void **state)
{
	(void)state;
	assert_null(nnb_burst_free(NULL));
	assert_null(nnb_pool_free(NULL));
	assert_null(nnb_burst_server_free(NULL));
}

/* ---- one request at a time: B-4, B-28 ---- */

static void a_second_caller_is_refused_at_once(void **state)
{
	struct bench *t = *state;
	struct gate *gates[] = { &t->desk.asking, &t->desk.executing };
	struct nnb_burst *b = desk_burst(&t->desk, NULL);
	struct sum second;

	sum_init(&second, new_pool(), new_pool());
	for (size_t i = 0; i < N_OF(gates); i++) {
		struct execution e;

		sum_prepare(&t->sum, 8);
		gate_set(gates[i], true);
		execute_elsewhere(&e, b, &t->sum.call);
		gate_await(gates[i]);
		expect_failure(b, &second.call, NNB_STATUS_GENERAL_FAILURE);
		expect_failure(b, &second.call, NNB_STATUS_GENERAL_FAILURE);
		gate_set(gates[i], false);
		assert_int_equal(finish(&e.actor), NNB_STATUS_NONE);
		assert_true(sum_is_right(&t->sum, 8));
	}
	assert_int_equal(t->desk.executions, 2);
	assert_int_equal(t->desk.fallbacks, 0);
	expect_sum(b, &second, false); /* the burst serves the refused request now */
	nnb_burst_free(b);
	nnb_pool_free(second.pools[0]);
	nnb_pool_free(second.pools[1]);
}

static void two_bursts_of_a_prepared_model_do_not_wait_for_each_other(void **state) /* B-1, B-4 */
{
	struct bench *t = *state;
	struct nnb_burst *held = desk_burst(&t->desk, NULL), *b;
	struct execution e;

	assert_int_equal(nnb_burst_local(&b, t->desk.prepared, true, NULL, NULL), NNB_STATUS_NONE);
	gate_set(&t->desk.executing, true);
	execute_elsewhere(&e, held, &t->sum.call);
	gate_await(&t->desk.executing);
	expect_it_works(b);
	gate_set(&t->desk.executing, false);
	assert_int_equal(finish(&e.actor), NNB_STATUS_NONE);
	nnb_burst_free(b);
	nnb_burst_free(held);
}

/* ---- falling back: B-26 ---- */

enum { SUM_DATUMS = 6, SUM_RESULT = 4 };

static void a_packet_that_does_not_fit_falls_back(void **state) /* B-16, B-26 */
{
	struct bench *t = *state;
	struct nnb_burst_config c = { .request_capacity = SUM_DATUMS - 1 };
	struct nnb_burst *b = desk_burst(&t->desk, &c);
	struct nnb_burst_counts counts;

	for (int i = 0; i < 3; i++)
		expect_sum(b, &t->sum, true);
	nnb_burst_server_counts(t->desk.server, &counts);
	assert_int_equal(counts.requests, 0);
	assert_int_equal(t->desk.fallbacks, 3);
	nnb_burst_free(b);
}

static void a_packet_that_just_fits_does_not_fall_back(void **state)
{
	struct bench *t = *state;
	struct nnb_burst_config c = { .request_capacity = SUM_DATUMS, .result_capacity = SUM_RESULT };
	struct nnb_burst *b = desk_burst(&t->desk, &c);

	for (int i = 0; i < 3; i++)
		expect_sum(b, &t->sum, false);
	assert_int_equal(t->desk.fallbacks, 0);
	nnb_burst_free(b);
}

/* The burst in this process has its own fallback. */
static void a_local_burst_falls_back_with_the_shapes_and_the_status(void **state)
{
	struct bench *t = *state;
	struct nnb_burst_config c = { .request_capacity = SUM_DATUMS - 1 };
	struct nnb_output_shape shape;
	struct nnb_answer answer = { .shapes = &shape };
	struct nnb_burst *b;

	assert_int_equal(nnb_burst_local(&b, t->desk.prepared, !t->plain, &c, NULL), NNB_STATUS_NONE);
	expect_sum(b, &t->sum, true);
	assert_int_equal(burst_execute(b, &t->sum.call, &answer, NULL), NNB_STATUS_NONE);
	assert_true(answer.fallback && answer.n_shapes == 1 && shape.rank == 1 && shape.dims[0] == LENGTH);
	t->sum.in.location.length--;
	assert_int_equal(burst_execute(b, &t->sum.call, &answer, NULL), NNB_STATUS_INVALID_ARGUMENT);
	assert_true(answer.fallback && answer.n_shapes == 0 && answer.timing.in_driver_ns == UINT64_MAX);
	nnb_burst_free(b);
}

/* INVALID_ARGUMENT is an answer, and no reason for a fallback. */
static void a_request_that_fails_does_not_fall_back(void **state)
{
	struct bench *t = *state;
	struct nnb_burst *b = desk_burst(&t->desk, NULL);

	t->sum.in.location.pool = 2;
	expect_failure(b, &t->sum.call, NNB_STATUS_INVALID_ARGUMENT);
	t->sum.in.location.pool = 0;
	t->sum.in.rank = NNB_RANK_MAX + 1;
	expect_failure(b, &t->sum.call, NNB_STATUS_INVALID_ARGUMENT);
	t->sum.in.rank = 0;
	expect_sum(b, &t->sum, false);
	assert_int_equal(t->desk.fallbacks, 0);
	nnb_burst_free(b);
}

/* ---- terms: Q-13 ---- */

static const struct nnb_terms some_terms[] = {
	{ INT64_MAX, 0 }, { UINT64_MAX, 0 }, { UINT64_MAX - 1, 1 }, { 0, UINT64_MAX }
};

static void expect_terms(const struct desk *d, const struct nnb_terms *want)
{
	hand_over();
	assert_memory_equal(&d->terms, want, sizeof(*want));
}

static void terms_reach_the_executor_by_burst_and_by_fallback(void **state)
{
	struct bench *t = *state;
	/* the request queue is one datum too small for terms */
	struct nnb_burst_config bare = { .request_capacity = SUM_DATUMS };
	struct nnb_burst *b = desk_burst(&t->desk, NULL);

	for (size_t i = 0; i < 2 * N_OF(some_terms); i++) {
		if (i == N_OF(some_terms)) {
			nnb_burst_free(b);
			b = desk_burst(&t->desk, &bare);
		}
		t->sum.call.terms = (struct nnb_terms){ 0 };
		expect_sum(b, &t->sum, false);
		t->sum.call.terms = some_terms[i % N_OF(some_terms)];
		expect_sum(b, &t->sum, i >= N_OF(some_terms));
		expect_terms(&t->desk, &t->sum.call.terms);
	}
	nnb_burst_free(b);
}

/* Requests that differ in terms alone are the same request to the executor. */
static void a_new_deadline_does_not_make_a_new_request(void **state)
{
	struct bench *t = *state;
	struct nnb_burst *b = desk_burst(&t->desk, NULL);
	uint64_t changes = 0;

	for (uint64_t i = 0; i < 10; i++) {
		t->sum.call.terms.deadline_ns = INT64_MAX + i;
		expect_sum(b, &t->sum, false);
		expect_terms(&t->desk, &t->sum.call.terms);
		assert_true(!i || t->desk.changes == changes);
		changes = t->desk.changes;
	}
	nnb_burst_free(b);
}

/* ---- a call is compared with the last one ---- */

static void no_input(struct sum *s)
{
	s->call.n_inputs = 0;
}

static void no_output(struct sum *s)
{
	s->call.n_outputs = 0;
}

static void one_pool(struct sum *s)
{
	s->call.n_pools = 1;
}

static void pool_of_null(struct sum *s)
{
	s->pools[1] = NULL;
}

static void an_omitted_input(struct sum *s)
{
	s->in.no_value = true;
}

static void a_pool_too_far(struct sum *s)
{
	s->out.location.pool = 2;
}

static void an_offset_too_far(struct sum *s)
{
	s->out.location.offset += 4;
}

static void a_length_too_small(struct sum *s)
{
	s->in.location.length--;
}

static void a_rank_too_large(struct sum *s)
{
	s->in.rank = NNB_RANK_MAX + 1;
}

static void another_dimension(struct sum *s)
{
	s->in.rank = 1;
	s->in.dims[0] = LENGTH + 1;
}

static void (*const spoilers[])(struct sum *s) = { no_input,          no_output,          one_pool,
	                                           pool_of_null,      an_omitted_input,   a_pool_too_far,
	                                           an_offset_too_far, a_length_too_small, a_rank_too_large,
	                                           another_dimension };

static void a_call_that_differs_in_one_field_is_another_request(void **state)
{
	struct bench *t = *state;
	struct nnb_burst *b = desk_burst(&t->desk, NULL);
	struct sum other = t->sum;

	for (size_t i = 0; i < N_OF(spoilers); i++) {
		for (int k = 0; k < 3; k++)
			expect_sum(b, &t->sum, false);
		sum_init(&other, t->sum.pools[0], t->sum.pools[1]);
		spoilers[i](&other);
		expect_failure(b, &other.call, NNB_STATUS_INVALID_ARGUMENT);
		sum_init(&other, t->sum.pools[1], t->sum.pools[0]);
		expect_sum(b, &other, false);
		other.out.rank = 1;
		other.out.dims[0] = LENGTH;
		expect_sum(b, &other, false);
	}
	nnb_burst_free(b);
}

static void a_repeated_result_reaches_every_answer(void **state)
{
	struct bench *t = *state;
	struct nnb_burst *b = desk_burst(&t->desk, NULL);
	struct nnb_output_shape shapes[4];
	struct nnb_answer answer;

	for (size_t i = 0; i < 32; i++) {
		bool has_shapes = i % 8 < 4;

		memset(shapes, 0xff, sizeof(shapes));
		answer = (struct nnb_answer){ .shapes = has_shapes ? &shapes[i % 4] : NULL, .n_shapes = 7 };
		assert_int_equal(burst_execute(b, &t->sum.call, i % 8 == 7 ? NULL : &answer, NULL), NNB_STATUS_NONE);
		if (i % 8 == 7)
			continue;
		assert_int_equal(answer.n_shapes, 1);
		assert_true(answer.timing.on_device_ns == UINT64_MAX && answer.timing.in_driver_ns == UINT64_MAX);
		assert_false(answer.fallback);
		if (!has_shapes)
			continue;
		assert_int_equal(shapes[i % 4].rank, 1);
		assert_int_equal(shapes[i % 4].dims[0], LENGTH);
		assert_true(shapes[i % 4].sufficient);
	}
	nnb_burst_free(b);
}

static void a_burst_that_has_not_agreed_to_terms_takes_none(void **state)
{
	struct bench *t = *state;
	struct nnb_burst_counts counts;
	struct nnb_burst *b;

	t->desk.old = true;
	b = desk_burst(&t->desk, NULL);
	for (size_t i = 0; i < N_OF(some_terms); i++) {
		t->sum.call.terms = some_terms[i];
		expect_failure(b, &t->sum.call, NNB_STATUS_INVALID_ARGUMENT);
	}
	nnb_burst_server_counts(t->desk.server, &counts);
	assert_int_equal(counts.requests, 0);
	assert_int_equal(t->desk.fallbacks, 0);
	t->sum.call.terms = (struct nnb_terms){ 0 };
	expect_sum(b, &t->sum, false);
	nnb_burst_free(b);
}

static const enum nnb_status newer_statuses[] = { NNB_STATUS_MISSED_DEADLINE_TRANSIENT,
	                                          NNB_STATUS_MISSED_DEADLINE_PERSISTENT,
	                                          NNB_STATUS_RESOURCE_EXHAUSTED_TRANSIENT,
	                                          NNB_STATUS_RESOURCE_EXHAUSTED_PERSISTENT };

/* The server asks for no memory of a request that is not admitted. */
static void a_request_that_is_not_admitted_is_answered_at_once(void **state)
{
	struct bench *t = *state;
	struct nnb_burst *b;

	for (size_t i = 0; i < 2 * N_OF(newer_statuses); i++) {
		t->desk.old = i & 1;
		t->desk.admits = newer_statuses[i / 2];
		b = desk_burst(&t->desk, NULL);
		expect_failure(b, &t->sum.call,
		               t->desk.old ? NNB_STATUS_GENERAL_FAILURE : newer_statuses[i / 2]); /* */
		assert_int_equal(t->desk.calls, i);
		t->desk.admits = NNB_STATUS_NONE;
		expect_sum(b, &t->sum, false);
		assert_int_equal(t->desk.calls, i + 1);
		nnb_burst_free(b);
	}
	assert_int_equal(t->desk.fallbacks, 0);
}

/* for the burst in this process, and for its fallback. */
static void a_local_burst_and_its_fallback_keep_deadlines(void **state)
{
	struct bench *t = *state;
	struct nnb_burst_config bare = { .request_capacity = SUM_DATUMS };
	struct nnb_answer answer;
	struct nnb_burst *b;

	for (int falls_back = 0; falls_back < 2; falls_back++) {
		assert_int_equal(nnb_burst_local(&b, t->desk.prepared, !t->plain, falls_back ? &bare : NULL, NULL),
		                 NNB_STATUS_NONE);
		for (uint64_t deadline = 1; deadline < 3; deadline++) {
			t->sum.call.terms.deadline_ns = deadline;
			answer = (struct nnb_answer){ 0 };
			assert_int_equal(burst_execute(b, &t->sum.call, &answer, NULL),
			                 NNB_STATUS_MISSED_DEADLINE_PERSISTENT);
			assert_int_equal(answer.fallback, falls_back);
		}
		t->sum.call.terms.deadline_ns = INT64_MAX;
		expect_sum(b, &t->sum, falls_back);
		t->sum.call.terms.deadline_ns = 0;
		nnb_burst_free(b);
	}
}

/* ---- results: B-35, section 11 ---- */

/* (a, b) = (x + x, x * x), of rank 4: the result has 12 datums. */
static struct nnb_prepared *prepared_pair(const char *driver)
{
	const struct nnb_operand four = { .type = NNB_TENSOR_FLOAT32, .rank = 4, .dims = { 1, 2, 2, 4 } };
	struct nnb_device *d = open_device(driver);
	struct nnb_prepared *p;
	struct nnb_model *m;
	uint32_t x, act, y[2];

	assert_int_equal(nnb_model_new(&m, "pair", NNB_HAL_1_0), 0);
	x = operand(m, &four);
	act = int_scalar(m, NNB_FUSED_NONE);
	y[0] = operand(m, &four);
	y[1] = operand(m, &four);
	assert_true(nnb_model_operation(m, NNB_ADD, (uint32_t[]){ x, x, act }, 3, &y[0], 1) >= 0);
	assert_true(nnb_model_operation(m, NNB_MUL, (uint32_t[]){ x, x, act }, 3, &y[1], 1) >= 0);
	assert_int_equal(nnb_model_finish(m, &x, 1, y, 2), 0);
	p = prepared(d, m);
	nnb_model_free(m);
	nnb_device_unref(d);
	return p;
}

static void a_result_that_does_not_fit_is_a_failure_and_no_fallback(void **state)
{
	struct nnb_prepared *p = prepared_pair("xnnpack");
	struct nnb_burst_config c = { .result_capacity = 8 };
	struct nnb_answer answer = { 0 };
	struct nnb_burst *small, *usual;
	struct job j;

	assert_true(job_init(&j, nnb_prepared_model(p)));
	j.call.measure = true;
	assert_int_equal(nnb_burst_local(&small, p, !*(const bool *)*state, &c, NULL), NNB_STATUS_NONE);
	assert_int_equal(nnb_burst_local(&usual, p, !*(const bool *)*state, NULL, NULL), NNB_STATUS_NONE);
	for (int i = 0; i < 3; i++) {
		expect_failure(small, &j.call, NNB_STATUS_GENERAL_FAILURE);
		assert_int_equal(burst_execute(usual, &j.call, &answer, NULL), NNB_STATUS_NONE);
		assert_false(answer.fallback);
		assert_int_equal(answer.n_shapes, 2);
	}
	nnb_burst_free(small);
	nnb_burst_free(usual);
	job_fini(&j);
	nnb_prepared_unref(p);
}

/* y = relu(x); only the request states the extent. */
static struct nnb_prepared *prepared_relu(const char *driver)
{
	struct nnb_device *d = open_device(driver);
	struct nnb_prepared *p;
	struct nnb_model *m = relu_model_of_any_extent(2);

	p = prepared(d, m);
	nnb_model_free(m);
	nnb_device_unref(d);
	return p;
}

/* The same must hold after any earlier request: one burst, ever other shapes, and sometimes too little room. */
static void the_shape_of_an_output_that_is_too_small_is_reported(void **state)
{
	struct nnb_argument in = { .rank = 2, .dims = { 2, 3 } }, out = { .location = { 0, 128, 0 } };
	struct nnb_prepared *p = prepared_relu("xnnpack");
	struct nnb_output_shape shape;
	struct nnb_answer answer = { .shapes = &shape };
	struct nnb_pool *pool = new_pool();
	struct nnb_call call = {
		.inputs = &in, .outputs = &out, .pools = &pool, .n_inputs = 1, .n_outputs = 1, .n_pools = 1
	};
	struct nnb_burst *b;

	nnb_pool_free(pool);
	assert_int_equal(nnb_pool_new(&pool, 256), 0);
	assert_int_equal(nnb_burst_local(&b, p, !*(const bool *)*state, NULL, NULL), NNB_STATUS_NONE);
	for (uint32_t i = 0; i < 40; i++) {
		bool enough = i % 3 != 1;
		uint32_t rows = 1 + i / 2 % 8;
		float *x = nnb_pool_data(pool), *y = x + 32;

		in.dims[0] = rows;
		in.location.length = rows * 12;
		out.location.length = rows * 12 - !enough;
		x[3 * rows - 1] = y[3 * rows - 1] = (float)i + 1;
		memset(&shape, 0xff, sizeof(shape));
		assert_int_equal(burst_execute(b, &call, &answer, NULL),
		                 enough ? NNB_STATUS_NONE : NNB_STATUS_OUTPUT_INSUFFICIENT_SIZE);
		assert_int_equal(answer.n_shapes, 1);
		assert_int_equal(shape.sufficient, enough);
		assert_true(shape.rank == 2 && shape.dims[0] == rows && shape.dims[1] == 3);
		assert_true(y[3 * rows - 1] == (float)i + 1);
	}
	nnb_burst_free(b);
	nnb_pool_free(pool);
	nnb_prepared_unref(p);
}

/* B-36, Q-38 */
static void an_execution_is_measured_if_asked_for(void **state)
{
	struct bench *t = *state;
	struct nnb_burst *b = desk_burst(&t->desk, NULL);
	struct nnb_answer answer = { 0 };

	for (int i = 0; i < 6; i++) {
		t->sum.call.measure = i % 2;
		assert_int_equal(burst_execute(b, &t->sum.call, &answer, NULL), NNB_STATUS_NONE);
		if (!t->sum.call.measure) {
			assert_true(answer.timing.on_device_ns == UINT64_MAX);
			assert_true(answer.timing.in_driver_ns == UINT64_MAX);
			continue;
		}
		assert_true(answer.timing.on_device_ns <= answer.timing.in_driver_ns);
		assert_true(answer.timing.in_driver_ns < PATIENCE);
		assert_int_equal(answer.timing.on_device_ns % 1000, 0); /* the datum has whole microseconds */
	}
	t->sum.call.measure = true;
	t->sum.in.location.length--;
	expect_failure(b, &t->sum.call, NNB_STATUS_INVALID_ARGUMENT); /* an expected failure has no time */
	nnb_burst_free(b);
}

/* ---- making a burst: B-7 ---- */

static void a_refused_burst_returns_the_status(void **state)
{
	static const enum nnb_status refusals[] = { NNB_STATUS_DEVICE_UNAVAILABLE, NNB_STATUS_GENERAL_FAILURE,
		                                    NNB_STATUS_INVALID_ARGUMENT,
		                                    NNB_STATUS_RESOURCE_EXHAUSTED_TRANSIENT };
	struct bench *t = *state;
	struct nnb_burst_service service = desk_service(&t->desk);
	struct nnb_burst *b = NULL;
	unsigned fds = count_fds();

	for (uint32_t i = 0; i < N_OF(refusals); i++) {
		t->desk.refuses = refusals[i];
		assert_int_equal(nnb_burst_new(&b, &service, NULL, NULL), refusals[i]);
		assert_int_equal(t->desk.releases, i + 1);
	}
	assert_null(b);
	assert_int_equal(t->desk.closes, 0);
	assert_int_equal(count_fds(), fds);
}

static void a_queue_too_large_or_too_small_is_refused(void **state)
{
	static const struct {
		struct nnb_burst_config config;
		enum nnb_status want;
	} rows[] = {
		{ { .request_capacity = NNB_BURST_CAPACITY_MAX + 1 }, NNB_STATUS_INVALID_ARGUMENT },
		{ { .result_capacity = NNB_BURST_CAPACITY_MAX + 1 }, NNB_STATUS_INVALID_ARGUMENT },
		{ { .request_capacity = UINT32_MAX }, NNB_STATUS_INVALID_ARGUMENT },
		{ { .result_capacity = 1 }, NNB_STATUS_GENERAL_FAILURE },
		{ { .result_capacity = 2 }, NNB_STATUS_NONE }, /* room for failures */
		{ { .request_capacity = NNB_BURST_CAPACITY_MAX, .result_capacity = NNB_BURST_CAPACITY_MAX },
		  NNB_STATUS_NONE },
	};
	struct bench *t = *state;

	for (size_t i = 0; i < N_OF(rows); i++) {
		struct nnb_burst_service service = desk_service(&t->desk);
		struct nnb_reason reason = { "" };
		struct nnb_burst *b = NULL;

		assert_int_equal(nnb_burst_new(&b, &service, &rows[i].config, &reason), rows[i].want);
		assert_true(!rows[i].want == !reason.text[0]);
		nnb_burst_free(b);
		assert_int_equal(t->desk.releases, i + 1);
	}
}

/* ---- the end of a burst: B-32, B-33 ---- */

static void freeing_a_burst_releases_everything(void **state)
{
	struct bench *t = *state;
	unsigned fds = count_fds(), threads = count_threads(), mappings = count_memfd_mappings();

	for (int i = 0; i < 3; i++) {
		struct nnb_burst *b = desk_burst(&t->desk, NULL);

		assert_int_equal(count_threads(), threads + 1);
		for (int k = 0; k < i; k++)
			expect_sum(b, &t->sum, false);
		nnb_burst_free(b);
		await_threads(threads);
		assert_int_equal(count_fds(), fds);
		assert_int_equal(count_memfd_mappings(), mappings);
	}
	assert_int_equal(t->desk.closes, 3);
	assert_int_equal(t->desk.releases, 3);
	assert_int_equal(t->desk.executors_freed, 3);
}

static int frees(struct actor *a)
{
	nnb_burst_free(a->arg);
	return 0;
}

static void freeing_a_burst_cancels_its_execution_and_waits(void **state)
{
	struct bench *t = *state;
	struct nnb_burst *b = desk_burst(&t->desk, NULL);
	struct actor freeing = { .act = frees, .arg = b };

	gate_set(&t->desk.executing, true);
	t->sum.call.timeout_ns = 1 * MS;
	expect_failure(b, &t->sum.call, NNB_STATUS_GENERAL_FAILURE); /* the client gives up waiting */
	gate_await(&t->desk.executing);
	start(&freeing);
	while (!t->desk.cancelled)
		nap();
	assert_int_equal(t->desk.closes, 0);
	gate_set(&t->desk.executing, false);
	finish(&freeing);
	/* the model has two operations, and the run stopped between them */
	assert_int_equal(t->desk.executed, NNB_STATUS_GENERAL_FAILURE);
	assert_int_equal(t->desk.closes, 1);
}

static void a_service_that_dies_wakes_its_client_which_falls_back(void **state)
{
	struct bench *t = *state;
	struct nnb_burst *b = desk_burst(&t->desk, NULL);
	struct execution e;

	gate_set(&t->desk.executing, true);
	execute_elsewhere(&e, b, &t->sum.call);
	gate_await(&t->desk.executing);
	assert_true(actor_sleeps(&e.actor));
	nnb_burst_dead(b);
	assert_int_equal(finish(&e.actor), NNB_STATUS_GENERAL_FAILURE);
	assert_false(e.answer.fallback); /* the service may have executed it */
	assert_int_equal(t->desk.fallbacks, 0);
	gate_set(&t->desk.executing, false);
	while (!t->desk.executions) /* the answer comes too late, and the next request must not get it */
		nap();
	for (int i = 0; i < 3; i++)
		expect_sum(b, &t->sum, true);
	nnb_burst_dead(b);
	expect_sum(b, &t->sum, true);
	assert_int_equal(t->desk.executions, 1);
	nnb_burst_free(b);
}

static void a_late_answer_ends_the_burst(void **state)
{
	struct bench *t = *state;
	struct nnb_burst *b = desk_burst(&t->desk, NULL);
	uint64_t began;

	t->sum.call.timeout_ns = PATIENCE;
	expect_sum(b, &t->sum, false);
	gate_set(&t->desk.executing, true);
	t->sum.call.timeout_ns = 20 * MS;
	began = now_ns();
	expect_failure(b, &t->sum.call, NNB_STATUS_GENERAL_FAILURE);
	assert_true(now_ns() - began >= 20 * MS);
	gate_set(&t->desk.executing, false);
	while (t->desk.executions < 2)
		nap();
	for (int i = 0; i < 3; i++)
		expect_sum(b, &t->sum, true);
	nnb_burst_free(b);
}

/* ---- a client that writes into the queues itself ---- */

struct raw_bench {
	struct bench *bench;
	struct peer peer;
	struct nnb_request_datum *datums;
	uint32_t n;
};

static void raw_bench_init(struct raw_bench *r, struct bench *t)
{
	*r = (struct raw_bench){ .bench = t };
	peer_init(&r->peer, t->desk.prepared);
	for (uint32_t i = 0; i < 2; i++)
		r->peer.memories[i] = *nnb_pool_memory(t->sum.pools[i]);
	r->datums = datums_of(&t->sum.call, false, &r->n);
	assert_int_equal(r->n, SUM_DATUMS);
}

static void raw_bench_fini(struct raw_bench *r)
{
	free(r->datums);
	peer_fini(&r->peer);
}

static void expect_raw_sum(struct raw_bench *r, float seed)
{
	sum_prepare(&r->bench->sum, seed);
	expect_service(&r->peer, r->datums, r->n);
	assert_true(sum_is_right(&r->bench->sum, seed));
}

/* B-18 */
static void a_malformed_request_is_answered_and_the_next_one_executed(void **state)
{
	struct nnb_burst_counts counts;
	struct raw_bench r;

	raw_bench_init(&r, *state);
	for (uint32_t i = 1; i < 20; i++) {
		expect_refusal(&r.peer, r.datums, 1 + i % (r.n - 1), NNB_STATUS_GENERAL_FAILURE);
		expect_raw_sum(&r, (float)i);
		nnb_burst_server_counts(r.peer.server, &counts);
		assert_int_equal(counts.malformed, i);
		assert_int_equal(counts.requests, 2 * i);
		assert_int_equal(counts.lookups, 2 * i); /* only good requests look memory up */
		assert_int_equal(counts.misses, 2);
		assert_int_equal(counts.fetches, 1);
	}
	raw_bench_fini(&r);
}

/* B-19 */
static void the_executor_refuses_what_the_parser_accepts(void **state)
{
	struct raw_bench r;

	raw_bench_init(&r, *state);
	r.datums[r.n - 1].measure = 2;
	expect_refusal(&r.peer, r.datums, r.n, NNB_STATUS_INVALID_ARGUMENT);
	r.datums[r.n - 1].measure = UINT32_MAX;
	expect_refusal(&r.peer, r.datums, r.n, NNB_STATUS_INVALID_ARGUMENT);
	r.datums[r.n - 1].measure = 0;
	r.datums[1].operand.pool = 2;
	expect_refusal(&r.peer, r.datums, r.n, NNB_STATUS_INVALID_ARGUMENT);
	r.datums[1].operand.pool = 0;
	r.datums[1].operand.no_value = 255;
	expect_refusal(&r.peer, r.datums, r.n, NNB_STATUS_INVALID_ARGUMENT);
	r.datums[1].operand.no_value = 0;
	expect_raw_sum(&r, 6);
	raw_bench_fini(&r);
}

static void a_rank_beyond_the_largest_is_refused(void **state)
{
	enum { RANK = 500, N = SUM_DATUMS + RANK };
	struct nnb_request_datum *datums = calloc(N, sizeof(*datums));
	struct raw_bench r;

	assert_non_null(datums);
	raw_bench_init(&r, *state);
	memcpy(datums, r.datums, 2 * sizeof(*datums));
	datums[0].packet.size = N;
	datums[1].operand.rank = RANK;
	for (int i = 0; i < RANK; i++)
		datums[2 + i] = (struct nnb_request_datum){ .kind = NNB_REQUEST_INPUT_DIMENSION, .dimension = 1 };
	memcpy(datums + 2 + RANK, r.datums + 2, (SUM_DATUMS - 2) * sizeof(*datums));
	for (int i = 0; i < 3; i++) {
		expect_refusal(&r.peer, datums, N, NNB_STATUS_INVALID_ARGUMENT);
		expect_raw_sum(&r, (float)i);
	}
	raw_bench_fini(&r);
	free(datums);
}

/* B-15: the server answers once, and then sleeps, or its thread ends. */
static const struct spoilt_counter {
	const char *name;
	uint64_t written; /* bytes */
	bool heals;       /* the queue drops what is pending (F-18), and works again */
} spoilt_counters[] = {
	{ "more datums were written than fit", 24 * UINT64_C(2000), true },
	{ "less was written than was read", 24, true },
	{ "more was written than fits", UINT64_C(1) << 40 },
	{ "half a datum was written", SUM_DATUMS * 24 + 12 },
	{ "everything was written", UINT64_MAX },
};

/* The other thread: the process has two. */
static int other_thread(void)
{
	DIR *dir = opendir("/proc/self/task");
	struct dirent *e;
	int tid = 0;

	assert_non_null(dir);
	while ((e = readdir(dir)))
		if (atoi(e->d_name) && atoi(e->d_name) != getpid())
			tid = atoi(e->d_name);
	closedir(dir);
	return tid;
}

static void a_spoilt_request_queue_is_answered_once(void **state)
{
	struct nnb_result_datum result[RESULT_MAX];
	const struct spoilt_counter *c = *state;
	unsigned threads = count_threads();
	struct nnb_burst_counts counts;
	struct raw raw;
	struct peer p;
	struct nnb_prepared *prepared_model = prepared_sum("null");

	alarm(WATCHDOG_S);
	peer_init(&p, prepared_model);
	expect_refusal(&p, (struct nnb_request_datum[SUM_DATUMS]){ { 0 } }, SUM_DATUMS, NNB_STATUS_GENERAL_FAILURE);
	raw_open(&raw, p.request);
	atomic_store(raw_counter(&raw, NNB_FMQ_WRITE_COUNTER), c->written);
	nnb_event_flag_wake(nnb_fmq_event_flag(p.request), NNB_FMQ_NOT_EMPTY);
	assert_null(not_a_failure(result, peer_receive(&p, result), NNB_STATUS_GENERAL_FAILURE));
	if (c->heals)
		assert_true(falls_asleep(getpid(), other_thread()));
	else
		await_threads(threads);
	nnb_burst_server_counts(p.server, &counts);
	assert_int_equal(counts.malformed, 2);
	assert_int_equal(counts.requests, 2);
	assert_int_equal(nnb_fmq_available_to_read(p.result), 0);
	raw_close(&raw);
	peer_fini(&p);
	nnb_prepared_unref(prepared_model);
	alarm(0);
}

/* A client must not spin on a wrong counter, nor believe it. */
static void a_spoilt_result_queue_is_a_failure_and_then_everything_falls_back(void **state)
{
	struct bench *t = *state;

	for (size_t i = 0; i < N_OF(spoilt_counters); i++) {
		struct nnb_burst *b = desk_burst(&t->desk, NULL);
		struct execution e;
		struct nnb_fmq *q;
		struct nnb_fmq_attach how = { .elem_size = sizeof(struct nnb_result_datum), .keep_counters = true };
		struct raw raw;

		for (int k = 0; k < 2; k++) /* results of 4 datums: as many as SUM_DATUMS, and more */
			expect_sum(b, &t->sum, false);
		assert_int_equal(nnb_fmq_attach(&q, &t->desk.result, &how), 0);
		raw_open(&raw, q);
		gate_set(&t->desk.executing, true);
		execute_elsewhere(&e, b, &t->sum.call);
		gate_await(&t->desk.executing);
		atomic_store(raw_counter(&raw, NNB_FMQ_WRITE_COUNTER), spoilt_counters[i].written);
		nnb_event_flag_wake(nnb_fmq_event_flag(q), NNB_FMQ_NOT_EMPTY);
		assert_int_equal(finish(&e.actor), NNB_STATUS_GENERAL_FAILURE);
		assert_false(e.answer.fallback);
		gate_set(&t->desk.executing, false);
		expect_sum(b, &t->sum, true);
		raw_close(&raw);
		nnb_fmq_free(q);
		nnb_burst_free(b);
	}
}

/* B-32: no stray result. */
static int frees_server(struct actor *a)
{
	nnb_burst_server_free(a->arg);
	return 0;
}

static void a_server_freed_in_an_execution_sends_no_result(void **state)
{
	struct bench *t = *state;
	struct peer p = { .request = burst_queue(sizeof(struct nnb_request_datum), NNB_BURST_CAPACITY),
		          .result = burst_queue(sizeof(struct nnb_result_datum), NNB_BURST_CAPACITY) };
	struct nnb_burst_executor executor = desk_executor(&t->desk);
	struct actor freeing = { .act = frees_server };
	struct nnb_request_datum *datums;
	uint32_t n;

	for (uint32_t i = 0; i < 2; i++)
		p.memories[i] = *nnb_pool_memory(t->sum.pools[i]);
	datums = datums_of(&t->sum.call, false, &n);
	assert_int_equal(peer_serve(&p, &executor, 1, NULL), NNB_STATUS_NONE);
	gate_set(&t->desk.executing, true);
	peer_send(&p, datums, n);
	gate_await(&t->desk.executing);
	peer_send(&p, datums, n); /* the server takes no further request */
	freeing.arg = p.server;
	start(&freeing);
	while (!t->desk.cancelled)
		nap();
	gate_set(&t->desk.executing, false);
	finish(&freeing);
	assert_int_equal(nnb_fmq_available_to_read(p.result), 0);
	assert_int_equal(t->desk.executions, 1);
	assert_int_equal(t->desk.executors_freed, 1);
	p.server = NULL;
	free(datums);
	peer_fini(&p);
}

static void a_stopped_server_takes_no_request_and_has_its_last_counts(void **state)
{
	struct nnb_burst_counts counts;
	struct raw_bench r;

	raw_bench_init(&r, *state);
	for (int i = 0; i < 3; i++)
		expect_raw_sum(&r, (float)i);
	for (int i = 0; i < 2; i++) {
		nnb_burst_server_stop(r.peer.server);
		peer_send(&r.peer, r.datums, r.n);
		nnb_burst_server_free_memory(r.peer.server, 0);
		nnb_burst_server_counts(r.peer.server, &counts);
		assert_int_equal(counts.requests, 3);
		assert_int_equal(nnb_fmq_available_to_read(r.peer.result), 0);
	}
	raw_bench_fini(&r);
}

/* A client that never reads its results gets no more of them, and does not make the server wait. */
static void a_full_result_queue_does_not_block_the_server(void **state)
{
	struct nnb_burst_executor executor;
	struct nnb_burst_counts counts;
	struct bench *t = *state;
	struct raw_bench r = { .bench = t };

	r.peer.request = burst_queue(sizeof(struct nnb_request_datum), NNB_BURST_CAPACITY);
	r.peer.result = burst_queue(sizeof(struct nnb_result_datum), 8);
	for (uint32_t i = 0; i < 2; i++)
		r.peer.memories[i] = *nnb_pool_memory(t->sum.pools[i]);
	assert_int_equal(nnb_burst_executor_plain(&executor, t->desk.prepared), 0);
	assert_int_equal(peer_serve(&r.peer, &executor, 1, NULL), NNB_STATUS_NONE);
	r.datums = datums_of(&t->sum.call, false, &r.n);
	expect_raw_sum(&r, 1); /* B-8: a packet of 8 datums is no special case */
	for (uint64_t i = 1; i <= 10; i++) {
		peer_send(&r.peer, r.datums, r.n);
		do {
			nap();
			nnb_burst_server_counts(r.peer.server, &counts);
		} while (counts.requests < i + 1);
	}
	raw_bench_fini(&r);
}

/*
 * The counts of changes are equal, but the second request has no slots: its execution must not use the mappings
 * of the first.
 */
static void a_request_in_another_struct_is_another_request(void **state)
{
	struct bench *t = *state;
	int32_t slots[] = { 3, 5 }, missing[2];
	struct nnb_packet_request first = { .inputs = &t->sum.in,
		                            .outputs = &t->sum.out,
		                            .slots = slots,
		                            .n_inputs = 1,
		                            .n_outputs = 1,
		                            .n_slots = 2 },
				  second = first;
	struct nnb_output_shape shapes[1];
	struct nnb_result result = { .shapes = shapes };
	struct nnb_burst_executor executor;
	struct nnb_memory memories[2];

	second.n_slots = 0;
	for (int i = 0; i < 2; i++)
		assert_int_equal(nnb_memory_dup(&memories[i], nnb_pool_memory(t->sum.pools[i])), 0);
	assert_int_equal(
		(t->desk.plain ? nnb_burst_executor_plain : nnb_burst_executor_cached)(&executor, t->desk.prepared), 0);
	assert_int_equal(executor.missing(executor.arg, slots, 2, missing), 2);
	assert_int_equal(executor.add(executor.arg, slots, 2, memories, NULL), NNB_STATUS_NONE);
	assert_int_equal(executor.missing(executor.arg, slots, 2, missing), 0);
	executor.execute(executor.arg, &first, &result, NULL);
	assert_int_equal(result.status, NNB_STATUS_NONE);
	executor.remove(executor.arg, slots[1]);
	assert_int_equal(executor.missing(executor.arg, slots, 0, missing), 0);
	executor.execute(executor.arg, &second, &result, NULL);
	assert_int_equal(result.status, NNB_STATUS_INVALID_ARGUMENT);
	executor.free(executor.arg);
}

/* A server may have its shapes anywhere: a request that is repeated writes them to the array of that time. */
static void a_request_that_is_repeated_has_its_shapes_in_another_array(void **state)
{
	struct bench *t = *state;
	int32_t slots[] = { 3, 5 }, missing[2];
	struct nnb_packet_request request = { .inputs = &t->sum.in,
		                              .outputs = &t->sum.out,
		                              .slots = slots,
		                              .n_inputs = 1,
		                              .n_outputs = 1,
		                              .n_slots = 2 };
	struct nnb_output_shape shapes[3][1] = { 0 };
	struct nnb_burst_executor executor;
	struct nnb_memory memories[2];

	for (int i = 0; i < 2; i++)
		assert_int_equal(nnb_memory_dup(&memories[i], nnb_pool_memory(t->sum.pools[i])), 0);
	assert_int_equal(
		(t->desk.plain ? nnb_burst_executor_plain : nnb_burst_executor_cached)(&executor, t->desk.prepared), 0);
	assert_int_equal(executor.missing(executor.arg, slots, 2, missing), 2);
	assert_int_equal(executor.add(executor.arg, slots, 2, memories, NULL), NNB_STATUS_NONE);
	for (int i = 0; i < 3; i++) {
		struct nnb_result result = { .shapes = shapes[i] };

		assert_int_equal(executor.missing(executor.arg, slots, 2, missing), 0);
		executor.execute(executor.arg, &request, &result, NULL);
		assert_int_equal(result.status, NNB_STATUS_NONE);
		assert_int_equal(result.n_shapes, 1);
		assert_true(shapes[i][0].rank > 0);
		assert_memory_equal(&shapes[i], &shapes[0], sizeof(shapes[0]));
		if (executor.answered)
			executor.answered(executor.arg);
	}
	executor.free(executor.arg);
}

/* ---- a server's queues: B-7, B-8, B-23 ---- */

/* A member that is zero has the valid value. */
struct queue_kind {
	size_t elem_size, capacity;
	bool unsynchronized, flagless, packed;
};

static const struct queues_case {
	const char *name;
	struct queue_kind request, result;
	enum nnb_status want;
} queues_cases[] = {
	{ "as they should be", .want = NNB_STATUS_NONE },
	{ "libfmq's layout", { .packed = true }, { .packed = true }, NNB_STATUS_NONE },
	{ "8 results (B-8)", .result = { .capacity = 8 }, .want = NNB_STATUS_NONE },
	{ "2 results", .result = { .capacity = 2 }, .want = NNB_STATUS_NONE },
	{ "1 result", .result = { .capacity = 1 }, .want = NNB_STATUS_GENERAL_FAILURE },
	{ "1 request", .request = { .capacity = 1 }, .want = NNB_STATUS_NONE },
	{ "no event flag for requests (B-23)", .request = { .flagless = true }, .want = NNB_STATUS_GENERAL_FAILURE },
	{ "no event flag for results (B-23)", .result = { .flagless = true }, .want = NNB_STATUS_GENERAL_FAILURE },
	{ "requests of another size", .request = { .elem_size = 16 }, .want = NNB_STATUS_GENERAL_FAILURE },
	{ "results of another size", .result = { .elem_size = 32 }, .want = NNB_STATUS_GENERAL_FAILURE },
	{ "unsynchronized requests", .request = { .unsynchronized = true }, .want = NNB_STATUS_GENERAL_FAILURE },
	{ "unsynchronized results", .result = { .unsynchronized = true }, .want = NNB_STATUS_GENERAL_FAILURE },
	{ "more requests than anybody needs", .request = { .capacity = NNB_BURST_CAPACITY_MAX + 1 },
	  .want = NNB_STATUS_GENERAL_FAILURE },
};

static struct nnb_fmq *queue_of_kind(const struct queue_kind *k)
{
	const struct nnb_fmq_config c = {
		.elem_size = k->elem_size ? k->elem_size : 24,
		.capacity = k->capacity ? k->capacity : 64,
		.flavour = k->unsynchronized ? NNB_FMQ_UNSYNCHRONIZED : NNB_FMQ_SYNCHRONIZED,
		.layout = k->packed ? NNB_FMQ_LAYOUT_PACKED : NNB_FMQ_LAYOUT_SPREAD,
		.event_flag = !k->flagless,
	};
	struct nnb_fmq *q;

	assert_int_equal(nnb_fmq_new(&q, &c), 0);
	return q;
}

static void a_server_judges_its_queues(void **state) /* B-6 */
{
	const struct queues_case *c = *state;
	unsigned fds = count_fds(), threads = count_threads(), mappings = count_memfd_mappings();
	struct nnb_reason reason = { "" };
	struct nnb_burst_executor executor;
	struct peer p = { .server = NULL };
	struct desk d;

	desk_init(&d, prepared_sum("null"));
	executor = desk_executor(&d);
	p.request = queue_of_kind(&c->request);
	p.result = queue_of_kind(&c->result);
	assert_int_equal(peer_serve(&p, &executor, 1, &reason), c->want);
	assert_true(!c->want == !reason.text[0]);
	if (c->want) {
		assert_null(p.server);
		assert_int_equal(d.executors_freed, 1); /* taken, on success and on failure */
	}
	peer_fini(&p);
	nnb_prepared_unref(d.prepared);
	assert_int_equal(d.executors_freed, 1);
	await_threads(threads);
	assert_int_equal(count_fds(), fds);
	assert_int_equal(count_memfd_mappings(), mappings);
}

/* ---- */

static const bool both[] = { false, true };

#define TEST(f)                                    \
	for (size_t i_ = 0; i_ < N_OF(both); i_++) \
	add_test(f, bench_init, bench_fini, (void *)&both[i_], "%s: %s", both[i_] ? "plain" : "cached", #f)
#define TEST_WITHOUT_BENCH(f)                      \
	for (size_t i_ = 0; i_ < N_OF(both); i_++) \
	add_test(f, NULL, NULL, (void *)&both[i_], "%s: %s", both[i_] ? "plain" : "cached", #f)
#define ROWS(f, rows, of)                          \
	for (size_t i_ = 0; i_ < N_OF(rows); i_++) \
	add_test(f, NULL, NULL, (void *)&(rows)[i_], "%s: %s", of, (rows)[i_].name)

static void add_samples(struct path *at)
{
	for (size_t i = 0; i < sample_count(); i++)
		for (size_t k = 0; k < N_OF(paths); k++, at++) {
			*at = (struct path){ paths[k].driver, paths[k].cached, i };
			add_test(it_answers_as_without_a_burst, NULL, NULL, at, "%s, %s: %s", at->driver,
			         at->cached ? "cached" : "plain", sample_name(i));
		}
}

int main(void)
{
	struct path *samples = calloc(sample_count() * N_OF(paths), sizeof(*samples));
	int status;

	without_tracer();
	if (!samples)
		return 1;
	add_samples(samples);
	TEST(a_burst_works_with_any_window);
	TEST(the_answer_may_be_null);
	TEST(freeing_null_is_fine);
	TEST(a_second_caller_is_refused_at_once);
	TEST(two_bursts_of_a_prepared_model_do_not_wait_for_each_other);
	TEST(a_packet_that_does_not_fit_falls_back);
	TEST(a_packet_that_just_fits_does_not_fall_back);
	TEST(a_local_burst_falls_back_with_the_shapes_and_the_status);
	TEST(a_request_that_fails_does_not_fall_back);
	TEST(terms_reach_the_executor_by_burst_and_by_fallback);
	TEST(a_new_deadline_does_not_make_a_new_request);
	TEST(a_call_that_differs_in_one_field_is_another_request);
	TEST(a_repeated_result_reaches_every_answer);
	TEST(a_burst_that_has_not_agreed_to_terms_takes_none);
	TEST(a_request_that_is_not_admitted_is_answered_at_once);
	TEST(a_local_burst_and_its_fallback_keep_deadlines);
	TEST_WITHOUT_BENCH(a_result_that_does_not_fit_is_a_failure_and_no_fallback);
	TEST_WITHOUT_BENCH(the_shape_of_an_output_that_is_too_small_is_reported);
	TEST(an_execution_is_measured_if_asked_for);
	TEST(a_refused_burst_returns_the_status);
	TEST(a_queue_too_large_or_too_small_is_refused);
	TEST(freeing_a_burst_releases_everything);
	TEST(freeing_a_burst_cancels_its_execution_and_waits);
	TEST(a_service_that_dies_wakes_its_client_which_falls_back);
	TEST(a_late_answer_ends_the_burst);
	TEST(a_malformed_request_is_answered_and_the_next_one_executed);
	TEST(the_executor_refuses_what_the_parser_accepts);
	TEST(a_rank_beyond_the_largest_is_refused);
	ROWS(a_spoilt_request_queue_is_answered_once, spoilt_counters, "a spoilt request queue");
	TEST(a_spoilt_result_queue_is_a_failure_and_then_everything_falls_back);
	TEST(a_server_freed_in_an_execution_sends_no_result);
	TEST(a_stopped_server_takes_no_request_and_has_its_last_counts);
	TEST(a_request_in_another_struct_is_another_request);
	TEST(a_request_that_is_repeated_has_its_shapes_in_another_array);
	TEST(a_full_result_queue_does_not_block_the_server);
	ROWS(a_server_judges_its_queues, queues_cases, "a server's queues");
	status = _cmocka_run_group_tests("bursts", tests, n_tests, NULL, NULL);
	free(samples);
	return status;
}
