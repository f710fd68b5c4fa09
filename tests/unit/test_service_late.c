/*
 * test_service_late.c -- executions whose output shapes are found while they run, on every path: outputs
 * without elements, and outputs too short for what is found.
 *
 * Every path must give the same status, the same shapes and the same bytes, and write nothing where there is
 * no room. A fenced execution answers when it has begun, so it needs the shapes before: it is refused.
 */
#include <pthread.h>

#include "service_helpers.h"

enum { TENSORS = 4, ROOM = 256, GUARD = 0x5a };

/* ---- models ---- */

static uint32_t given(struct nnb_model *m, uint32_t type, uint32_t rank, uint32_t a, uint32_t b)
{
	return operand(m, &(struct nnb_operand){ .type = type, .rank = rank, .dims = { a, b } });
}

static uint32_t real_constant(struct nnb_model *m, float value)
{
	uint32_t index = operand(m, &(struct nnb_operand){ .type = NNB_FLOAT32 });

	assert_int_equal(nnb_model_value(m, index, &value, sizeof(value)), 0);
	return index;
}

/*
 * A model that fills a tensor with sevens; another operation makes them sixes. The tensor's shape is the sum
 * of an input and zeroes.
 */
static struct nnb_model *fill_model(void)
{
	struct nnb_model *m;
	uint32_t shape, zeroes, sum, none, value, filled, out;

	assert_int_equal(nnb_model_new(&m, "fill", NNB_HAL_1_3), 0);
	shape = given(m, NNB_TENSOR_INT32, 1, 2, 0);
	zeroes = given(m, NNB_TENSOR_INT32, 1, 2, 0);
	assert_int_equal(nnb_model_value(m, zeroes, (int32_t[2]){ 0 }, 8), 0);
	none = int_scalar(m, NNB_FUSED_NONE);
	sum = given(m, NNB_TENSOR_INT32, 1, 2, 0);
	value = real_constant(m, 7);
	filled = given(m, NNB_TENSOR_FLOAT32, 2, 0, 0);
	out = given(m, NNB_TENSOR_FLOAT32, 2, 0, 0);
	assert_true(nnb_model_operation(m, NNB_ADD, (uint32_t[]){ shape, zeroes, none }, 3, &sum, 1) >= 0);
	assert_true(nnb_model_operation(m, NNB_FILL, (uint32_t[]){ sum, value }, 2, &filled, 1) >= 0);
	assert_true(nnb_model_operation(m, NNB_RELU6, &filled, 1, &out, 1) >= 0);
	assert_int_equal(nnb_model_finish(m, &shape, 1, &out, 1), 0);
	return m;
}

/* A model that keeps those of three boxes of one class that score more than a half. */
static struct nnb_model *boxes_model(void)
{
	struct nnb_model *m;
	uint32_t in[9], out[4];

	assert_int_equal(nnb_model_new(&m, "boxes", NNB_HAL_1_3), 0);
	in[0] = given(m, NNB_TENSOR_FLOAT32, 2, 3, 2);
	in[1] = given(m, NNB_TENSOR_FLOAT32, 2, 3, 8);
	in[2] = given(m, NNB_TENSOR_INT32, 1, 3, 0);
	in[3] = real_constant(m, 0.5f);
	in[4] = int_scalar(m, -1);
	in[5] = int_scalar(m, 0);
	for (int i = 6; i < 9; i++)
		in[i] = real_constant(m, 0.5f);
	out[0] = given(m, NNB_TENSOR_FLOAT32, 1, 0, 0);
	out[1] = given(m, NNB_TENSOR_FLOAT32, 2, 0, 4);
	out[2] = given(m, NNB_TENSOR_INT32, 1, 0, 0);
	out[3] = given(m, NNB_TENSOR_INT32, 1, 0, 0);
	assert_true(nnb_model_operation(m, NNB_BOX_WITH_NMS_LIMIT, in, 9, out, 4) >= 0);
	assert_int_equal(nnb_model_finish(m, in, 3, out, 4), 0);
	return m;
}

/* ---- cases ---- */

struct expected {
	uint32_t room; /* bytes; of an input: the room that the output is given */
	uint32_t rank, dims[2];
	bool short_of; /* the output has no room */
};

struct late_case {
	const char *name;
	struct nnb_model *(*model)(void);
	int32_t shape[2]; /* for fill_model */
	float scores[3];  /* for boxes_model */
	enum nnb_status status;
	uint32_t n_outputs;
	struct expected out[TENSORS];
};

static const struct late_case cases[] = {
	{ "room enough", fill_model, .shape = { 2, 3 }, .n_outputs = 1, .out = { { 24, 2, { 2, 3 } } } },
	{ "more room", fill_model, .shape = { 2, 3 }, .n_outputs = 1, .out = { { 60, 2, { 2, 3 } } } },
	{ "no elements", fill_model, .shape = { 0, 3 }, .n_outputs = 1, .out = { { 4, 2, { 0, 3 } } } },
	{ "no elements in the last dimension", fill_model, .shape = { 3, 0 }, .n_outputs = 1,
	  .out = { { 4, 2, { 3, 0 } } } },
	{ "a byte too little", fill_model, .shape = { 2, 3 }, .status = NNB_STATUS_OUTPUT_INSUFFICIENT_SIZE,
	  .n_outputs = 1, .out = { { 23, 2, { 2, 3 }, true } } },
	{ "far too little", fill_model, .shape = { 1000, 1000 }, .status = NNB_STATUS_OUTPUT_INSUFFICIENT_SIZE,
	  .n_outputs = 1, .out = { { 24, 2, { 1000, 1000 }, true } } },
	{ "a shape that there is not", fill_model, .shape = { -2, 3 }, .status = NNB_STATUS_GENERAL_FAILURE,
	  .n_outputs = 1, .out = { { 24 } } },
	{ "two boxes", boxes_model, .scores = { 0.9f, 0.2f, 0.8f }, .n_outputs = 4,
	  .out = { { 8, 1, { 2 } }, { 32, 2, { 2, 4 } }, { 8, 1, { 2 } }, { 8, 1, { 2 } } } },
	{ "no boxes", boxes_model, .scores = { 0.1f, 0.2f, 0.3f }, .n_outputs = 4,
	  .out = { { 8, 1, { 0 } }, { 32, 2, { 0, 4 } }, { 8, 1, { 0 } }, { 8, 1, { 0 } } } },
	{ "room for one box", boxes_model, .scores = { 0.9f, 0.2f, 0.8f },
	  .status = NNB_STATUS_OUTPUT_INSUFFICIENT_SIZE, .n_outputs = 4,
	  .out = { { 8, 1, { 2 } }, { 16, 2, { 2, 4 }, true }, { 8, 1, { 2 } }, { 8, 1, { 2 } } } },
	{ "room for the last output only", boxes_model, .scores = { 0.9f, 0.2f, 0.8f },
	  .status = NNB_STATUS_OUTPUT_INSUFFICIENT_SIZE, .n_outputs = 4,
	  .out = { { 4, 1, { 2 }, true }, { 16, 2, { 2, 4 }, true }, { 4, 1, { 2 }, true }, { 8, 1, { 2 } } } },
};

/* ---- one case by one path ---- */

struct scene {
	const struct late_case *is;
	struct nnb_pool *pools[2];
	struct nnb_argument in[TENSORS], out[TENSORS];
	struct nnb_output_shape shapes[TENSORS];
	struct nnb_call call;
	struct nnb_answer answer;
};

static uint8_t *output_at(const struct scene *s, uint32_t i)
{
	return (uint8_t *)nnb_pool_data(s->pools[1]) + s->out[i].location.offset;
}

static void place_input(struct scene *s, uint32_t i, const void *data, uint32_t bytes)
{
	s->in[i].location = (struct nnb_location){ 0, i * ROOM, bytes };
	memcpy((char *)nnb_pool_data(s->pools[0]) + (size_t)i * ROOM, data, bytes);
}

/* Boxes that do not overlap: each has a place of its own, the same for both classes. */
static void place_boxes(struct scene *s)
{
	float scores[6], boxes[24];

	for (int i = 0; i < 24; i++)
		boxes[i] = (float)(i / 8 * 10 + (i % 4 > 1 ? 5 : 0));
	for (int i = 0; i < 6; i++)
		scores[i] = i % 2 ? s->is->scores[i / 2] : 0;
	place_input(s, 0, scores, sizeof(scores));
	place_input(s, 1, boxes, sizeof(boxes));
	place_input(s, 2, (int32_t[3]){ 0 }, 12);
}

static void scene_init(struct scene *s, const struct late_case *is)
{
	*s = (struct scene){ .is = is };
	for (int i = 0; i < 2; i++)
		assert_int_equal(nnb_pool_new(&s->pools[i], TENSORS * ROOM), 0);
	memset(nnb_pool_data(s->pools[1]), GUARD, TENSORS * ROOM);
	if (is->n_outputs == 1)
		place_input(s, 0, is->shape, sizeof(is->shape));
	else
		place_boxes(s);
	for (uint32_t i = 0; i < is->n_outputs; i++)
		s->out[i].location = (struct nnb_location){ 1, i * ROOM, is->out[i].room };
	s->answer.shapes = s->shapes;
	s->call = (struct nnb_call){ .inputs = s->in,
		                     .outputs = s->out,
		                     .pools = s->pools,
		                     .n_inputs = is->n_outputs == 1 ? 1 : 3,
		                     .n_outputs = is->n_outputs,
		                     .n_pools = 2 };
}

static void scene_fini(struct scene *s)
{
	for (int i = 0; i < 2; i++)
		nnb_pool_free(s->pools[i]);
}

static uint32_t bytes_of(const struct expected *e)
{
	uint32_t bytes = 4;

	for (uint32_t d = 0; d < e->rank; d++)
		bytes *= e->dims[d];
	return bytes;
}

/* An output with room is written; behind it, and in an output without room, no byte is written. */
static void expect_written(const struct scene *s, const char *path)
{
	for (uint32_t i = 0; i < s->is->n_outputs; i++) {
		uint32_t bytes = s->is->status ? 0 : bytes_of(&s->is->out[i]), from = bytes;

		if (s->is->status && !s->is->out[i].short_of)
			from = s->is->out[i].room; /* an output with room may have been written */
		for (uint32_t k = from; k < ROOM; k++)
			if (output_at(s, i)[k] != GUARD)
				fail_msg("%s, %s: output %u: byte %u was written", s->is->name, path, i, k);
	}
	for (uint32_t k = 0; s->is->n_outputs == 1 && !s->is->status && k < bytes_of(&s->is->out[0]) / 4; k++)
		if (((const float *)(const void *)output_at(s, 0))[k] != 6)
			fail_msg("%s, %s: element %u is wrong", s->is->name, path, k);
	for (uint32_t k = 0; s->is->n_outputs == 4 && !s->is->status && k < bytes_of(&s->is->out[0]) / 4; k++)
		if (((const float *)(const void *)output_at(s, 0))[k] != s->is->scores[2 * k])
			fail_msg("%s, %s: score %u is wrong", s->is->name, path, k);
}

static void expect(const struct scene *s, const char *path, enum nnb_status status)
{
	if (status != s->is->status)
		fail_msg("%s, %s: %s, not %s", s->is->name, path, nnb_status_name(status),
		         nnb_status_name(s->is->status));
	for (uint32_t i = 0; (!status || status == NNB_STATUS_OUTPUT_INSUFFICIENT_SIZE) && i < s->is->n_outputs; i++) {
		const struct expected *e = &s->is->out[i];
		const struct nnb_output_shape *is = &s->shapes[i];

		if (is->rank != e->rank || memcmp(is->dims, e->dims, e->rank * 4) || is->sufficient == e->short_of)
			fail_msg("%s, %s: output %u: rank %u, %u by %u, %s", s->is->name, path, i, is->rank,
			         is->dims[0], is->dims[1], is->sufficient ? "with room" : "without room");
	}
	expect_written(s, path);
}

/* ---- paths ---- */

struct fixture {
	struct service s;
	struct nnb_client *client;
	struct nnb_device *device;
};

struct target {
	struct nnb_remote *remote;
	struct nnb_burst *burst;
	struct nnb_prepared *prepared;
};

static enum nnb_status by_sync(const struct target *t, struct scene *s)
{
	return nnb_remote_execute(t->remote, &s->call, &s->answer, NULL);
}

static enum nnb_status by_burst(const struct target *t, struct scene *s)
{
	enum nnb_status status = nnb_burst_execute(t->burst, &s->call, &s->answer, NULL);

	assert_false(s->answer.fallback);
	return status;
}

struct done {
	pthread_mutex_t lock;
	pthread_cond_t cond;
	struct scene *scene;
	bool is;
	enum nnb_status status;
};

static void done(void *arg, const struct nnb_result *result)
{
	struct done *d = arg;

	pthread_mutex_lock(&d->lock);
	d->is = true;
	d->status = result->status;
	for (uint32_t i = 0; i < result->n_shapes; i++)
		d->scene->shapes[i] = result->shapes[i];
	pthread_cond_signal(&d->cond);
	pthread_mutex_unlock(&d->lock);
}

static enum nnb_status by_async(const struct target *t, struct scene *s)
{
	struct done d = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, s, false, NNB_STATUS_NONE };

	assert_none(nnb_remote_execute_async(t->remote, &s->call, done, &d, NULL));
	pthread_mutex_lock(&d.lock);
	while (!d.is)
		pthread_cond_wait(&d.cond, &d.lock);
	pthread_mutex_unlock(&d.lock);
	return d.status;
}

static struct nnb_request request_of(const struct scene *s, struct nnb_memory memories[2])
{
	for (int i = 0; i < 2; i++)
		memories[i] = *nnb_pool_memory(s->pools[i]);
	return (struct nnb_request){ .inputs = s->in,
		                     .outputs = s->out,
		                     .n_inputs = s->call.n_inputs,
		                     .n_outputs = s->call.n_outputs,
		                     .n_pools = 2,
		                     .pools = memories };
}

static enum nnb_status run_here(const struct target *t, struct scene *s)
{
	struct nnb_memory memories[2];
	struct nnb_request request = request_of(s, memories);

	return nnb_execute(t->prepared, &request, s->shapes, NULL);
}

static bool stop_at_first(void *arg, uint32_t next_op)
{
	(void)arg;
	(void)next_op;
	return false;
}

/* The execution stops at its first checkpoint, and then begins again. */
static enum nnb_status restarted(const struct target *t, struct scene *s)
{
	struct nnb_memory memories[2];
	struct nnb_request request = request_of(s, memories);
	struct nnb_execution *e;
	enum nnb_status status = nnb_execution_begin(t->prepared, &request, NULL, false, s->shapes, &e, NULL);
	bool finished = false;

	if (status)
		return status;
	status = nnb_execution_run(e, stop_at_first, NULL, &finished);
	if (!status && !finished) {
		assert_none(nnb_execution_restart(e));
		status = nnb_execution_run(e, NULL, NULL, &finished);
		assert_true(status || finished);
	}
	nnb_execution_end(e);
	return status;
}

static const struct path {
	const char *name;
	enum nnb_status (*run)(const struct target *t, struct scene *s);
} paths[] = {
	{ "sync", by_sync },  { "async", by_async },      { "burst", by_burst },
	{ "here", run_here }, { "restarted", restarted },
};

static void target_init(struct target *t, const struct fixture *f, const struct nnb_model *m)
{
	t->remote = app_prepare(f->client, m);
	t->burst = app_burst(t->remote);
	t->prepared = prepared(f->device, m);
}

static void target_fini(struct target *t)
{
	nnb_burst_free(t->burst);
	nnb_remote_release(t->remote);
	nnb_prepared_unref(t->prepared);
}

static void every_path_gives_the_same(void **state)
{
	struct fixture *f = *state;

	for (size_t i = 0; i < N_OF(cases); i++) {
		struct nnb_model *m = cases[i].model();
		struct target t;

		target_init(&t, f, m);
		for (size_t k = 0; k < 2 * N_OF(paths); k++) { /* twice: the first run leaves nothing behind */
			const struct path *path = &paths[k % N_OF(paths)];
			struct scene s;

			scene_init(&s, &cases[i]);
			expect(&s, path->name, path->run(&t, &s));
			scene_fini(&s);
		}
		target_fini(&t);
		nnb_model_free(m);
	}
}

static void a_fence_wants_shapes_that_are_known_before(void **state)
{
	struct fixture *f = *state;
	struct nnb_model *m = fill_model();
	struct nnb_remote *remote = app_prepare(f->client, m);
	struct nnb_fenced_how how = { 0 };
	struct nnb_fenced *fenced;
	struct scene s;
	int fence;

	scene_init(&s, &cases[0]);
	assert_int_equal(nnb_remote_execute_fenced(remote, &s.call, &how, &fenced, &fence, NULL),
	                 NNB_STATUS_INVALID_ARGUMENT);
	scene_fini(&s);
	nnb_remote_release(remote);
	nnb_model_free(m);
}

static int begin(void **state)
{
	static struct fixture f;

	service_init(&f.s);
	service_start(&f.s, OPTIONS("--driver", "xnnpack"));
	f.client = app_open(&f.s);
	f.device = open_device("xnnpack");
	*state = &f;
	return 0;
}

static int end(void **state)
{
	struct fixture *f = *state;

	nnb_client_close(f->client);
	nnb_device_unref(f->device);
	service_settles(&f->s);
	service_fini(&f->s);
	return 0;
}

int main(void)
{
	const struct CMUnitTest paths_and_fences[] = {
		cmocka_unit_test(every_path_gives_the_same),
		cmocka_unit_test(a_fence_wants_shapes_that_are_known_before),
	};

	return cmocka_run_group_tests_name("shapes that are found at run time", paths_and_fences, begin, end);
}
