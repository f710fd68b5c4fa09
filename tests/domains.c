/* domains.c -- models, buffers, copies and executions for tests of memory domains. */
#include "domains.h"

#include <semaphore.h>

#include "nnb/fence.h"

const uint32_t full_dims[RANK] = { 1, 32, 32, 8 }, dynamic_dims[RANK] = { 0, 32, 32, 8 };

const struct type types[] = {
	[FLOATS] = { "FLOAT32", { .type = NNB_TENSOR_FLOAT32 }, 4 },
	[QUANTS] = { "QUANT8_ASYMM", { .type = NNB_TENSOR_QUANT8_ASYMM, .scale = 0.5F }, 1 },
	[INTS] = { "INT32", { .type = NNB_TENSOR_INT32 }, 4 },
};

const enum nnb_memory_kind copy_kinds[] = { NNB_MEMORY_ASHMEM, NNB_MEMORY_MMAP_FD, NNB_MEMORY_HARDWARE_BUFFER_BLOB };
const char *const path_names[] = { "sync", "async", "fenced", "burst", "here", "burst here" };

/* ---- numbers ---- */

static uint32_t number(uint32_t i, uint32_t seed)
{
	return (i + seed * 7) % 101 + 1;
}

static void put(const struct type *t, void *to, uint32_t i, uint32_t value)
{
	if (t->operand.type == NNB_TENSOR_FLOAT32)
		((float *)to)[i] = (float)value;
	else if (t->operand.type == NNB_TENSOR_INT32)
		((uint32_t *)to)[i] = value;
	else
		((uint8_t *)to)[i] = (uint8_t)value;
}

static uint32_t get(const struct type *t, const void *from, uint32_t i)
{
	if (t->operand.type == NNB_TENSOR_FLOAT32)
		return (uint32_t)((const float *)from)[i];
	if (t->operand.type == NNB_TENSOR_INT32)
		return ((const uint32_t *)from)[i];
	return ((const uint8_t *)from)[i];
}

void fill(const struct type *t, void *to, uint32_t n, uint32_t seed)
{
	for (uint32_t i = 0; i < n; i++)
		put(t, to, i, number(i, seed));
}

static bool is_times(const struct type *t, const void *is, uint32_t n, uint32_t seed, uint32_t times)
{
	for (uint32_t i = 0; i < n; i++)
		if (get(t, is, i) != number(i, seed) * times)
			return false;
	return true;
}

bool is_filled(const struct type *t, const void *is, uint32_t n, uint32_t seed)
{
	return is_times(t, is, n, seed, 1);
}

bool is_computed(const struct type *t, const void *is, uint32_t n, uint32_t seed)
{
	return is_times(t, is, n, seed, t->operand.type == NNB_TENSOR_INT32 ? 1 : 2);
}

/* ---- models ---- */

static uint32_t tensor(struct nnb_model *m, const struct nnb_operand *kind, uint32_t rank, const uint32_t *dims)
{
	struct nnb_operand o = *kind;

	o.rank = rank;
	memcpy(o.dims, dims, rank * sizeof(*dims));
	return operand(m, &o);
}

/*
 * Output row i is row i of the table. For floats and bytes the model uses ADD. ADD takes no integers, but this
 * operation takes every type.
 */
static void look_up(struct nnb_model *m, uint32_t x, uint32_t y, uint32_t rows)
{
	uint32_t rows_of[ROW], lookups;

	rows = rows ? rows : 1;
	for (uint32_t i = 0; i < rows; i++)
		rows_of[i] = i;
	lookups = operand(m, &(struct nnb_operand){ .type = NNB_TENSOR_INT32, .rank = 1, .dims = { rows } });
	assert_int_equal(nnb_model_value(m, lookups, rows_of, rows * 4), 0);
	assert_true(nnb_model_operation(m, NNB_EMBEDDING_LOOKUP, (uint32_t[]){ lookups, x }, 2, &y, 1) >= 0);
}

struct nnb_model *domain_model(const struct nnb_operand *o, uint32_t n, uint32_t rank, const uint32_t *dims)
{
	uint32_t x[ARGUMENTS], y[ARGUMENTS], act;
	struct nnb_model *m;

	assert_int_equal(nnb_model_new(&m, "domain", NNB_HAL_1_2), 0);
	act = int_scalar(m, NNB_FUSED_NONE);
	for (uint32_t i = 0; i < n; i++) {
		x[i] = tensor(m, o, rank, dims);
		y[i] = tensor(m, o, rank, dims);
		if (o->type == NNB_TENSOR_INT32)
			look_up(m, x[i], y[i], dims[0]);
		else
			assert_true(nnb_model_operation(m, NNB_ADD, (uint32_t[]){ x[i], x[i], act }, 3, &y[i], 1) >= 0);
	}
	assert_int_equal(nnb_model_finish(m, x, n, y, n), 0);
	return m;
}

struct nnb_model *sum_model(const struct nnb_operand *o)
{
	struct nnb_model *m;
	uint32_t in[3], y;

	assert_int_equal(nnb_model_new(&m, "sum", NNB_HAL_1_2), 0);
	in[0] = tensor(m, o, RANK, full_dims);
	in[1] = tensor(m, o, RANK, full_dims);
	in[2] = operand(m, &(struct nnb_operand){ .type = NNB_INT32 });
	y = tensor(m, o, RANK, full_dims);
	assert_true(nnb_model_operation(m, NNB_ADD, in, 3, &y, 1) >= 0);
	assert_int_equal(nnb_model_finish(m, in, 3, &y, 1), 0);
	return m;
}

/* ---- places ---- */

static unsigned n_places;

void place_init(struct place *p, const struct service *s)
{
	*p = (struct place){ 0 };
	n_places++;
	if (s)
		p->client = app_open(s);
	else
		p->device = open_device("xnnpack");
}

void place_fini(struct place *p)
{
	nnb_client_close(p->client);
	nnb_device_unref(p->device);
	n_places--;
}

bool places_were_left(void)
{
	bool left = n_places > 0;

	n_places = 0;
	return left;
}

void model_init(struct model *m, struct place *p, struct nnb_model *taken)
{
	*m = (struct model){ .place = p };
	if (p->client)
		m->remote = app_prepare(p->client, taken);
	else
		m->prepared = prepared(p->device, taken);
	nnb_model_free(taken);
}

void model_fini(struct model *m)
{
	nnb_burst_free(m->burst);
	nnb_remote_release(m->remote);
	nnb_prepared_unref(m->prepared);
}

/* ---- buffers ---- */

enum { MODELS = 4 };

enum nnb_status buffer_new(struct buffer *ret, struct place *p, const struct model *models, uint32_t n_models,
                           const struct nnb_buffer_desc *desc, struct nnb_reason *why)
{
	struct nnb_remote *remotes[MODELS];
	struct nnb_prepared *here[MODELS];
	enum nnb_status status;

	for (uint32_t i = 0; i < n_models; i++) {
		remotes[i] = models[i].remote;
		here[i] = models[i].prepared;
	}
	if (p->client) {
		status = nnb_remote_buffer_new(&ret->remote, p->client, remotes, n_models, desc, false, why);
		if (!status)
			ret->pool = nnb_remote_buffer_pool(ret->remote);
		return status;
	}
	status = nnb_buffer_new(&ret->here, p->device, here, n_models, desc, why);
	if (!status)
		assert_int_equal(nnb_pool_from(&ret->pool, nnb_buffer_memory(ret->here)), 0);
	return status;
}

void buffer_init(struct buffer *b, const struct model *m, uint32_t n_inputs, uint32_t n_outputs)
{
	static const struct nnb_buffer_role roles[] = { { 0, 0, 1 }, { 0, 1, 0.5F } };
	const struct nnb_buffer_desc desc = {
		.inputs = roles, .outputs = roles, .n_inputs = n_inputs, .n_outputs = n_outputs
	};

	*b = (struct buffer){ 0 };
	expect(NONE, buffer_new(b, m->place, m, 1, &desc, &why));
	assert_true(buffer_token(b) != 0); /* M-4 */
}

void buffer_fini(struct buffer *b)
{
	if (b->here)
		nnb_pool_free(b->pool);
	nnb_remote_buffer_free(b->remote);
	nnb_buffer_unref(b->here);
	*b = (struct buffer){ 0 };
}

uint64_t buffer_token(const struct buffer *b)
{
	const struct nnb_memory *m = nnb_pool_memory(b->pool);

	assert_int_equal(nnb_memory_kind(m), NNB_MEMORY_TOKEN);
	return (uint32_t)m->ints[0] | (uint64_t)(uint32_t)m->ints[1] << 32;
}

enum nnb_status buffer_copy_from(const struct buffer *b, const struct nnb_memory *from, uint32_t rank,
                                 const uint32_t *dims, struct nnb_reason *why)
{
	return b->remote ? nnb_remote_buffer_copy_from(b->remote, from, rank, dims, why)
	                 : nnb_buffer_copy_from(b->here, from, rank, dims, why);
}

enum nnb_status buffer_copy_to(const struct buffer *b, const struct nnb_memory *to, struct nnb_reason *why)
{
	return b->remote ? nnb_remote_buffer_copy_to(b->remote, to, why) : nnb_buffer_copy_to(b->here, to, why);
}

/* ---- copies ---- */

void memory_new(struct nnb_memory *ret, enum nnb_memory_kind kind, uint64_t bytes)
{
	int fd;

	if (kind == NNB_MEMORY_ASHMEM) {
		assert_int_equal(nnb_memory_ashmem(ret, bytes), 0);
	} else if (kind == NNB_MEMORY_HARDWARE_BUFFER_BLOB) {
		assert_int_equal(nnb_memory_hardware_buffer_blob(ret, bytes), 0);
	} else {
		fd = new_file(bytes, 0);
		assert_int_equal(nnb_memory_mmap_fd(ret, fd, bytes, PROT_READ | PROT_WRITE, 0), 0);
		close(fd);
	}
}

void memory_fill(const struct nnb_memory *m, const struct type *t, uint32_t seed)
{
	struct nnb_mapping *mapping;

	assert_int_equal(nnb_map(&mapping, m), 0);
	fill(t, nnb_mapping_data(mapping), (uint32_t)(m->size / t->bytes), seed);
	nnb_mapping_unref(mapping);
}

enum nnb_status copy_in(const struct buffer *b, const struct type *t, uint32_t rows, const uint32_t *dims,
                        uint32_t seed, struct nnb_reason *why)
{
	enum nnb_status status;
	struct nnb_memory memory;

	memory_new(&memory, NNB_MEMORY_ASHMEM, (uint64_t)rows * ROW * t->bytes);
	memory_fill(&memory, t, seed);
	status = buffer_copy_from(b, &memory, dims ? RANK : 0, dims, why);
	nnb_memory_close(&memory);
	return status;
}

void initialise(const struct buffer *b, const struct type *t, uint32_t seed)
{
	expect(NONE, copy_in(b, t, 1, full_dims, seed, &why));
}

enum nnb_status copy_out(const struct buffer *b, uint64_t bytes, void *ret, struct nnb_reason *why)
{
	struct nnb_mapping *mapping;
	enum nnb_status status;
	struct nnb_memory memory;

	memory_new(&memory, NNB_MEMORY_ASHMEM, bytes);
	status = buffer_copy_to(b, &memory, why);
	if (!status) {
		assert_int_equal(nnb_map(&mapping, &memory), 0);
		memcpy(ret, nnb_mapping_data(mapping), bytes);
		nnb_mapping_unref(mapping);
	}
	nnb_memory_close(&memory);
	return status;
}

void expect_holds(const struct buffer *b, const struct type *t, uint32_t rows, uint32_t seed, bool computed)
{
	static uint32_t room[ROWS_MAX * ROW];

	expect(NONE, copy_out(b, (uint64_t)rows * ROW * t->bytes, room, &why));
	if (!(computed ? is_computed : is_filled)(t, room, rows * ROW, seed))
		fail_msg("the buffer holds something else");
}

void expect_uninitialised(const struct buffer *b, const struct type *t, uint32_t rows)
{
	static uint32_t room[ROWS_MAX * ROW];

	expect(GENERAL_FAILURE, copy_out(b, (uint64_t)rows * ROW * t->bytes, room, &why));
}

/* ---- requests ---- */

void request_init(struct request *r, const struct type *t, uint32_t n, uint32_t rows, bool dims)
{
	uint32_t bytes = rows * ROW * t->bytes;

	*r = (struct request){ .type = t, .n = n, .rows = rows };
	assert_int_equal(nnb_pool_new(&r->pools[0], 2 * ARGUMENTS * (uint64_t)bytes), 0);
	r->call = (struct nnb_call){ .inputs = r->in,
		                     .outputs = r->out,
		                     .pools = r->pools,
		                     .n_inputs = n,
		                     .n_outputs = n,
		                     .n_pools = 1,
		                     .measure = true };
	for (uint32_t i = 0; i < n; i++) {
		r->in[i] = (struct nnb_argument){ .location = { 0, i * bytes, bytes } };
		if (dims) {
			r->in[i].rank = RANK;
			memcpy(r->in[i].dims, full_dims, sizeof(full_dims));
			r->in[i].dims[0] = rows;
		}
		r->out[i] = r->in[i];
		r->out[i].location.offset += ARGUMENTS * bytes;
	}
	request_refresh(r, 1);
}

void *argument_data(const struct request *r, const struct nnb_argument *a)
{
	return (char *)nnb_pool_data(r->pools[a->location.pool]) + a->location.offset;
}

/* Refresh the arguments that lie in shared memory. */
void request_refresh(struct request *r, uint32_t seed)
{
	for (uint32_t i = 0; i < r->n; i++) {
		if (!r->in[i].location.pool)
			fill(r->type, argument_data(r, &r->in[i]), r->rows * ROW, seed + i);
		if (!r->out[i].location.pool)
			memset(argument_data(r, &r->out[i]), 0xee, r->out[i].location.length);
	}
}

void request_fini(struct request *r)
{
	nnb_pool_free(r->pools[0]);
}

void put_into(struct request *r, struct nnb_argument *a, struct nnb_pool *pool)
{
	assert_true(r->call.n_pools < POOLS);
	a->location = (struct nnb_location){ .pool = r->call.n_pools };
	r->pools[r->call.n_pools++] = pool;
}

void put_in(struct request *r, struct nnb_argument *a, const struct buffer *b)
{
	put_into(r, a, b->pool);
}

/* ---- executions ---- */

struct told {
	sem_t told;
	atomic_uint times;
	struct outcome *to;
};

static void on_done(void *arg, const struct nnb_result *result)
{
	struct told *t = arg;

	if (atomic_fetch_add(&t->times, 1))
		return;
	t->to->status = result->status;
	t->to->n_shapes = result->n_shapes;
	t->to->timing = result->timing;
	sem_post(&t->told);
}

static void execute_async(struct model *m, struct request *r, struct outcome *ret, struct nnb_reason *why)
{
	struct told t = { .to = ret };

	sem_init(&t.told, 0, 0);
	ret->launch = nnb_remote_execute_async(m->remote, &r->call, on_done, &t, why);
	while (sem_wait(&t.told))
		;
	ret->n_callbacks = atomic_load(&t.times);
	sem_destroy(&t.told);
}

static void execute_fenced(struct model *m, struct request *r, struct outcome *ret, struct nnb_reason *why)
{
	struct nnb_fenced *none = (struct nnb_fenced *)m, *fenced = none;
	struct nnb_timing since;
	int fence = -7, state;

	ret->status = ret->launch = nnb_remote_execute_fenced(m->remote, &r->call, NULL, &fenced, &fence, why);
	ret->nothing_to_wait_for = fence == -7 && fenced == none;
	if (ret->launch)
		return;
	do
		state = nnb_fence_wait(&fence, 1, 0);
	while (state == -EINTR);
	ret->status = nnb_fenced_info(fenced, &ret->timing, &since, why);
	assert_true((state == NNB_FENCE_SIGNALLED) == !ret->status);
	nnb_fenced_free(fenced);
	close(fence);
}

static void have_burst(struct model *m)
{
	if (m->burst)
		return;
	if (m->remote)
		m->burst = app_burst(m->remote);
	else
		expect(NONE, nnb_burst_local(&m->burst, m->prepared, true, NULL, &why));
}

static void execute_here(struct model *m, struct request *r, struct outcome *ret, struct nnb_reason *why)
{
	struct nnb_memory memories[POOLS];
	const struct nnb_request request = { .inputs = r->in,
		                             .outputs = r->out,
		                             .n_inputs = r->call.n_inputs,
		                             .n_outputs = r->call.n_outputs,
		                             .n_pools = r->call.n_pools,
		                             .pools = memories };

	for (uint32_t i = 0; i < r->call.n_pools; i++)
		memories[i] = *nnb_pool_memory(r->pools[i]);
	ret->status = ret->launch = nnb_execute(m->prepared, &request, r->shapes, why);
	if (!ret->status)
		ret->n_shapes = r->n;
}

static void execute_and_wait(struct model *m, bool burst, struct request *r, struct outcome *ret,
                             struct nnb_reason *why)
{
	struct nnb_answer answer = { .shapes = r->shapes, .n_shapes = 7, .timing = NNB_NO_TIMING };

	ret->status = burst ? nnb_burst_execute(m->burst, &r->call, &answer, why)
	                    : nnb_remote_execute(m->remote, &r->call, &answer, why);
	ret->launch = ret->status;
	ret->n_shapes = answer.n_shapes;
	ret->timing = answer.timing;
	ret->fallback = answer.fallback;
}

void execute(struct model *m, enum path path, struct request *r, struct outcome *ret)
{
	struct nnb_reason why = { "" };

	*ret = (struct outcome){ .timing = NNB_NO_TIMING };
	switch (path) {
	case BY_ASYNC:
		execute_async(m, r, ret, &why);
		break;
	case BY_FENCED:
		execute_fenced(m, r, ret, &why);
		break;
	case HERE:
		execute_here(m, r, ret, &why);
		break;
	case BY_SYNC:
		execute_and_wait(m, false, r, ret, &why);
		break;
	default:
		have_burst(m);
		execute_and_wait(m, true, r, ret, &why);
	}
	snprintf(ret->why, sizeof(ret->why), "%.190s", why.text);
}

void expect_run(struct model *m, enum path path, struct request *r, enum nnb_status want)
{
	struct outcome o;

	execute(m, path, r, &o);
	if (o.status != want)
		fail_msg("%s: %s (%s), not %s", path_names[path], nnb_status_name(o.status), o.why,
		         nnb_status_name(want));
	assert_false(o.fallback);
	if (path == BY_ASYNC)
		assert_int_equal(o.n_callbacks, 1);
	assert_true(o.launch == o.status || (path == BY_ASYNC && !o.launch));
	if (!want) {
		assert_true(path == BY_FENCED || o.n_shapes == r->n);
		return;
	}
	assert_true(o.n_shapes == 0 || want == NNB_STATUS_OUTPUT_INSUFFICIENT_SIZE);
	assert_true(o.timing.on_device_ns == UINT64_MAX && o.timing.in_driver_ns == UINT64_MAX);
	assert_true(path != BY_FENCED || o.nothing_to_wait_for);
}

/* ---- scenes ---- */

void scene_init(struct scene *c, const struct service *s, const struct type *t, enum path path, bool dynamic,
                uint32_t rows)
{
	const uint32_t *dims = dynamic ? dynamic_dims : full_dims;

	*c = (struct scene){ .type = t, .path = path, .dynamic = dynamic };
	place_init(&c->place, path >= HERE ? NULL : s);
	model_init(&c->model, &c->place, domain_model(&t->operand, ARGUMENTS, RANK, dims));
	model_init(&c->equal, &c->place, domain_model(&t->operand, ARGUMENTS, RANK, dims));
	request_init(&c->request, t, ARGUMENTS, rows, dynamic);
}

void scene_fini(struct scene *c)
{
	model_fini(&c->model);
	model_fini(&c->equal);
	buffer_fini(&c->buffer);
	request_fini(&c->request);
	place_fini(&c->place);
}

void scene_again(struct scene *c)
{
	uint32_t rows = c->request.rows;

	request_fini(&c->request);
	request_init(&c->request, c->type, ARGUMENTS, rows, c->dynamic);
}

struct nnb_argument *argument(struct scene *c, bool output, uint32_t i)
{
	return output ? &c->request.out[i] : &c->request.in[i];
}

void run_with(struct scene *c, struct model *m, bool output, uint32_t i, enum nnb_status want)
{
	scene_again(c);
	put_in(&c->request, argument(c, output, i), &c->buffer);
	expect_run(m, c->path, &c->request, want);
}

void expect_output(struct scene *c, uint32_t i, uint32_t seed)
{
	const struct request *r = &c->request;

	if (!is_computed(r->type, argument_data(r, &r->out[i]), r->rows * ROW, seed))
		fail_msg("output %u is wrong", i);
}

/* ---- executions held at the gate ---- */

static void on_landing(void *arg, const struct nnb_result *result)
{
	struct launched *l = arg;

	l->status = result->status;
	atomic_store(&l->told, true);
}

void launch(struct launched *l, struct model *m, struct request *r)
{
	*l = (struct launched){ .request = r };
	expect(NONE, nnb_remote_execute_async(m->remote, &r->call, on_landing, l, &why));
}

enum nnb_status landed(struct launched *l)
{
	uint64_t end = now_ns() + PATIENCE;

	for (; !atomic_load(&l->told); poll_pause())
		if (now_ns() >= end)
			fail_msg("an execution does not end");
	return l->status;
}
