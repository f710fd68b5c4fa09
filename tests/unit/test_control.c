/*
 * test_control.c -- IF and WHILE: results, ends, memory, and refusals.
 *
 * Runs ask the test (driver_loops.c): it counts iterations, executes other runs in the middle of a run, and
 * ends runs.
 */
#include "unit/device_helpers.h"

#include <dlfcn.h>
#include <malloc.h>
#include <time.h>

#include "base.h"
#include "loop_models.h"
#include "nnb/burst.h"
#include "unit/fmq_helpers.h"
#include "unit/loops.h"

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
#define LOOK_NS (30 * MS)
enum { FEWER = 50 }; /* operands: a sanitizer copies all of them when one is added */
#else
#define LOOK_NS MS
enum { FEWER = 1 };
#endif
enum {
	ROOM = 1 << 16, /* room for this many floats of y */
	ENOUGH = 10000,
	ROUNDED = 256 /* bytes that malloc adds to a request; they depend on what was freed before */
};

struct fixture {
	struct nnb_device *device;
	struct loops *loops;
};

static struct fixture fixture;

static int set_up(void **state)
{
	void *driver;

	(void)state;
	fixture.device = open_device(DRIVER_LOOPS);
	driver = dlopen(DRIVER_LOOPS, RTLD_NOW | RTLD_NOLOAD);
	assert_non_null(driver);
	fixture.loops = dlsym(driver, "nnb_loops");
	assert_non_null(fixture.loops);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	nnb_device_unref(fixture.device);
	return 0;
}

/* ---- one model, and its arguments in one pool ---- */

struct bound {
	struct nnb_prepared *prepared;
	struct nnb_memory pool;
	struct nnb_mapping *mapping;
	float *x, *y;
	int32_t *n;
	struct nnb_argument in[2], out;
	struct nnb_output_shape shape;
	struct nnb_request request;
};

static void bind_to(struct bound *b, struct nnb_prepared *p, int32_t n)
{
	*b = (struct bound){ .prepared = nnb_prepared_ref(p),
		             .in = { { .location = { 0, 0, LOOP_N * 4 } }, { .location = { 0, LOOP_N * 4, 4 } } },
		             .out.location = { 0, LOOP_N * 4 + 64, ROOM * 4 } };
	if (nnb_prepared_model(p)->operands[nnb_prepared_model(p)->outputs[0]].dims[0])
		b->out.location.length = LOOP_N * 4;
	assert_int_equal(nnb_memory_ashmem(&b->pool, (LOOP_N + 16 + ROOM) * 4), 0);
	assert_int_equal(nnb_map(&b->mapping, &b->pool), 0);
	b->x = nnb_mapping_data(b->mapping);
	b->n = (int32_t *)(b->x + LOOP_N);
	b->y = b->x + LOOP_N + 16;
	*b->n = n;
	for (uint32_t i = 0; i < LOOP_N; i++)
		b->x[i] = (float)i - 3;
	b->request = (struct nnb_request){
		.inputs = b->in, .outputs = &b->out, .n_inputs = 2, .n_outputs = 1, .n_pools = 1, .pools = &b->pool
	};
}

/* @model is taken. */
static void bound_init(struct bound *b, struct nnb_model *model, int32_t n)
{
	struct nnb_prepared *p = prepared(fixture.device, model);

	nnb_model_free(model);
	bind_to(b, p, n);
	nnb_prepared_unref(p);
}

static void bound_fini(struct bound *b)
{
	nnb_mapping_unref(b->mapping);
	nnb_memory_close(&b->pool);
	nnb_prepared_unref(b->prepared);
}

static enum nnb_status run(struct bound *b)
{
	return nnb_execute(b->prepared, &b->request, &b->shape, NULL);
}

static void runs_well(struct bound *b)
{
	struct nnb_reason reason = { "" };
	enum nnb_status status = nnb_execute(b->prepared, &b->request, &b->shape, &reason);

	if (status)
		fail_msg("%s: %s", nnb_status_name(status), reason.text);
}

static void is_counted(const struct bound *b, int32_t n)
{
	for (uint32_t i = 0; i < LOOP_N; i++)
		if (b->y[i] != b->x[i] + (float)n)
			fail_msg("element %u is %g, not %g", i, (double)b->y[i], (double)b->x[i] + n);
}

static void is_nested(const struct bound *b, int32_t n)
{
	for (uint32_t i = 0; i < LOOP_N; i++)
		if (b->y[i] != loop_nested_expected(i, b->x[i], n))
			fail_msg("element %u is %g, not %g", i, (double)b->y[i],
			         (double)loop_nested_expected(i, b->x[i], n));
}

/* ---- results ---- */

static void a_loop_counts(void **state)
{
	static const int32_t counts[] = { 0, 1, 2, 1000 };
	struct bound b;

	(void)state;
	bound_init(&b, loop_counting(), 0);
	for (size_t i = 0; i < N_OF(counts); i++) {
		*b.n = counts[i];
		memset(b.y, 0x55, LOOP_N * 4);
		runs_well(&b);
		is_counted(&b, counts[i]);
	}
	bound_fini(&b);
}

static void branches_and_loops_lie_in_loops(void **state)
{
	struct bound b;

	(void)state;
	bound_init(&b, loop_nested(), 0);
	for (int32_t n = 0; n < 7; n++) {
		*b.n = n;
		runs_well(&b);
		is_nested(&b, n);
	}
	bound_fini(&b);
}

static void shapes_change_from_iteration_to_iteration(void **state)
{
	struct bound b;

	(void)state;
	bound_init(&b, loop_growing(), 0);
	for (int32_t n = 0; n < 5; n++) {
		*b.n = n;
		memset(b.y, 0x55, ROOM * 4);
		runs_well(&b);
		assert_int_equal(b.shape.rank, 1);
		assert_int_equal(b.shape.dims[0], LOOP_N << n);
		for (uint32_t i = 0; i < b.shape.dims[0]; i++)
			assert_true(b.y[i] == b.x[i % LOOP_N]);
	}
	b.out.location.length = 2 * LOOP_N * 4; /* not enough room */
	*b.n = 3;
	assert_int_equal(run(&b), NNB_STATUS_OUTPUT_INSUFFICIENT_SIZE);
	assert_true(b.shape.dims[0] == LOOP_N << 3 && !b.shape.sufficient);
	bound_fini(&b);
}

static void a_value_decides_a_shape_in_a_subgraph(void **state)
{
	struct bound b;

	(void)state;
	bound_init(&b, loop_shaped(), 0);
	for (int32_t n = 1; n < 5; n++) {
		*b.n = n;
		runs_well(&b);
		assert_true(b.shape.rank == 1 && b.shape.dims[0] == LOOP_N * (uint32_t)n);
		assert_memory_equal(b.x, b.y + LOOP_N * (n - 1), LOOP_N * 4);
	}
	*b.n = -1;
	assert_int_equal(run(&b), NNB_STATUS_GENERAL_FAILURE);
	bound_fini(&b);
}

/* ---- models copied, encoded and cached ---- */

static void a_copy_and_a_decoded_model_run_the_same(void **state)
{
	struct nnb_model *m = loop_nested(), *copy, *back;
	uint8_t *form, *again;
	size_t n, again_n;
	struct bound b;

	(void)state;
	assert_int_equal(nnb_model_copy(&copy, m), 0);
	assert_int_equal(nnb_model_encode(m, &form, &n), 0);
	assert_int_equal(nnb_model_encode(copy, &again, &again_n), 0);
	assert_int_equal(n, again_n);
	assert_memory_equal(form, again, n);
	assert_int_equal(nnb_model_decode(&back, form, n, NULL), 0);
	for (uint32_t i = 0; i < back->n_pools; i++) /* fds are not part of the encoded form */
		back->pools[i].fds[0] = dup(m->pools[i].fds[0]);
	nnb_model_free(m);
	bound_init(&b, copy, 4);
	runs_well(&b);
	is_nested(&b, 4);
	bound_fini(&b);
	bound_init(&b, back, 5);
	runs_well(&b);
	is_nested(&b, 5);
	bound_fini(&b);
	free(form);
	free(again);
}

static void a_cache_entry_has_its_subgraphs(void **state)
{
	char dir[] = "/tmp/nnb-test-XXXXXX", command[64];
	struct nnb_model *m = loop_nested();
	uint8_t token[NNB_TOKEN_BYTES] = { 1 };
	struct bound b;

	(void)state;
	assert_non_null(mkdtemp(dir));
	for (int i = 0; i < 2; i++) {
		struct nnb_prepared *p;
		bool from_cache;

		assert_int_equal(nnb_prepare_cached(fixture.device, m, &ordinary, dir, token, &p, &from_cache, NULL),
		                 NNB_STATUS_NONE);
		assert_true(from_cache == (i == 1));
		bind_to(&b, p, 6);
		nnb_prepared_unref(p);
		runs_well(&b);
		is_nested(&b, 6);
		bound_fini(&b);
	}
	snprintf(command, sizeof(command), "rm -r %s", dir);
	assert_int_equal(system(command), 0);
	nnb_model_free(m);
}

/* ---- iterations ---- */

struct heard {
	unsigned n;
	struct {
		uint32_t op, depth;
		uint64_t iteration;
	} all[32];
};

static void hear(void *arg, uint32_t op, uint32_t depth, uint64_t iteration)
{
	struct heard *h = arg;

	assert_true(h->n < N_OF(h->all));
	h->all[h->n].op = op;
	h->all[h->n].depth = depth;
	h->all[h->n++].iteration = iteration;
}

static void iterations_are_reported(void **state)
{
	/* two iterations that add, and two that double by a loop of one iteration */
	static const uint32_t depths[] = { 0, 0, 1, 0, 1, 0 };
	static const uint64_t iterations[] = { 1, 2, 1, 3, 1, 4 };
	struct heard heard = { 0 };
	struct bound b;

	(void)state;
	bound_init(&b, loop_nested(), 4);
	fixture.loops->loops = (struct nnb_loops){ NNB_LOOP_DEFAULT_NS, hear, &heard };
	runs_well(&b);
	fixture.loops->loops = (struct nnb_loops){ 0 };
	assert_int_equal(heard.n, N_OF(depths));
	for (unsigned i = 0; i < heard.n; i++) {
		assert_int_equal(heard.all[i].op, 0);
		assert_int_equal(heard.all[i].depth, depths[i]);
		assert_int_equal(heard.all[i].iteration, iterations[i]);
	}
	bound_fini(&b);
}

/* ---- looks ---- */

struct looking {
	unsigned looks, end_at; /* end_at 0: never */
	struct bound *other;    /* runs in the middle */
	uint64_t wait_ns;
	bool inside;
};

static bool looked(void *arg)
{
	struct looking *l = arg;

	if (l->inside)
		return true;
	l->looks++;
	l->inside = true;
	if (l->other)
		runs_well(l->other);
	l->inside = false;
	if (l->wait_ns)
		nanosleep(&(struct timespec){ .tv_nsec = (long)l->wait_ns }, NULL);
	return l->looks != l->end_at;
}

static void look_with(struct looking *l)
{
	fixture.loops->look = (struct nnb_look){ l ? looked : NULL, l };
}

/* In the middle of each iteration, another run of the same model starts and ends. */
static void a_loop_preempted_after_every_iteration_gives_the_same_bits(void **state) /* */
{
	struct bound b, other;
	struct looking l = { .other = &other };

	(void)state;
	bound_init(&b, loop_nested(), 6);
	bind_to(&other, b.prepared, 3);
	other.x[5] = 77;
	look_with(&l);
	runs_well(&b);
	look_with(NULL);
	assert_true(l.looks >= 6 + 4);
	is_nested(&b, 6);
	is_nested(&other, 3);
	bound_fini(&other);
	bound_fini(&b);
}

static void a_loop_ends_at_the_look_that_ends_it(void **state)
{
	struct heard heard = { 0 };
	struct looking l = { .end_at = 3 };
	struct bound b;

	(void)state;
	bound_init(&b, loop_counting(), -1);
	fixture.loops->loops = (struct nnb_loops){ NNB_LOOP_MAX_NS, hear, &heard };
	look_with(&l);
	assert_int_equal(run(&b), NNB_STATUS_GENERAL_FAILURE);
	look_with(NULL);
	fixture.loops->loops = (struct nnb_loops){ 0 };
	assert_int_equal(l.looks, 3);
	assert_true(heard.n >= 1 && heard.n <= 3);
	bound_fini(&b);
}

/* ---- nested IFs with many operands ---- */

struct pace {
	uint64_t last, longest, looks;
	bool ends;
};

static bool paced(void *arg)
{
	struct pace *p = arg;
	uint64_t now = thread_cpu_ns();

	p->longest = now - p->last > p->longest ? now - p->last : p->longest;
	p->last = now;
	p->looks++;
	return !p->ends;
}

static enum nnb_status run_paced(struct bound *b, struct pace *p)
{
	enum nnb_status status;

	fixture.loops->look = (struct nnb_look){ paced, p };
	p->last = thread_cpu_ns();
	status = run(b);
	p->longest = thread_cpu_ns() - p->last > p->longest ? thread_cpu_ns() - p->last : p->longest;
	look_with(NULL);
	return status;
}

static const struct nest {
	const char *name;
	uint32_t levels, each, spare;
} nests[] = {
	{ "3 branches in each of 9 levels", 10, 3, 0 },
	{ "64 branches in each of 2 levels", 3, 64, 0 },
	{ "2 branches with 400000 operands in each of 2 levels", 3, 2, 400000 / FEWER },
	{ "one branch in each of 16 levels, with 30000 operands", 16, 1, 30000 / FEWER },
};

/* The model's only operation is the IF, so the looks come from its branch. */
static void branches_ask_whether_to_go_on(void **state)
{
	const struct nest *nest = *state;
	struct pace p = { .longest = UINT64_MAX }, end = { .longest = UINT64_MAX };
	int32_t adds = 1;
	struct bound b;

	for (uint32_t i = 1; i < nest->levels; i++)
		adds *= (int32_t)nest->each;
	bound_init(&b, loop_wide(nest->levels, nest->each, nest->spare), 0);
	for (int i = 0; i < 5 && p.longest > LOOK_NS; i++) { /* a page fault may interrupt once, but not always */
		p = (struct pace){ 0 };
		assert_int_equal(run_paced(&b, &p), NNB_STATUS_NONE);
		is_counted(&b, adds);
	}
	for (int i = 0; i < 5 && end.longest > LOOK_NS; i++) {
		end = (struct pace){ .ends = true };
		assert_int_equal(run_paced(&b, &end), NNB_STATUS_GENERAL_FAILURE);
		assert_int_equal(end.looks, 1);
	}
	print_message("%ju looks, %.3f ms apart at most; ends after %.3f ms\n", (uintmax_t)p.looks,
	              (double)p.longest / 1e6, (double)end.longest / 1e6);
	assert_true(p.longest <= LOOK_NS && end.longest <= LOOK_NS);
	bound_fini(&b);
}

/* ---- time ---- */

static void out_of_time(struct bound *b, uint64_t timeout_ns)
{
	fixture.loops->loops = (struct nnb_loops){ .timeout_ns = timeout_ns };
	assert_int_equal(run(b), NNB_STATUS_MISSED_DEADLINE_TRANSIENT);
	fixture.loops->loops = (struct nnb_loops){ 0 };
}

/* Note the loop's timeout, and end the run. */
static bool note_timeout(void *arg)
{
	*(_Atomic uint64_t *)arg = fixture.loops->librarys->timeout_ns; /* the thread of a burst runs this */
	return false;
}

/* The timeout that follows from the caller's terms: by a call of an app, and by a burst. */
static void terms_are_within_bounds(void **state) /* R11 */
{
	static const uint64_t asked[] = { 0, 5 * MS, NNB_LOOP_MAX_NS, NNB_LOOP_MAX_NS + 1, UINT64_MAX };
	static const uint64_t granted[] = { NNB_LOOP_DEFAULT_NS, 5 * MS, NNB_LOOP_MAX_NS, NNB_LOOP_MAX_NS,
		                            NNB_LOOP_MAX_NS };
	struct nnb_burst *burst;
	struct nnb_call call;
	struct nnb_pool *pool;
	struct bound b;
	_Atomic uint64_t noted;

	(void)state;
	bound_init(&b, loop_counting(), -1);
	assert_int_equal(nnb_burst_local(&burst, b.prepared, false, NULL, NULL), NNB_STATUS_NONE);
	assert_int_equal(nnb_pool_new(&pool, (LOOP_N + 16 + ROOM) * 4), 0);
	((int32_t *)nnb_pool_data(pool))[LOOP_N] = -1;
	call = (struct nnb_call){
		.inputs = b.in, .outputs = &b.out, .n_inputs = 2, .n_outputs = 1, .pools = &pool, .n_pools = 1
	};
	fixture.loops->look = (struct nnb_look){ note_timeout, &noted };
	for (size_t i = 0; i < N_OF(asked); i++) {
		call.terms.loop_timeout_ns = asked[i];
		noted = 0;
		assert_int_equal(nnb_burst_execute(burst, &call, NULL, NULL), NNB_STATUS_GENERAL_FAILURE);
		assert_int_equal(noted, granted[i]);
	}
	call.terms.loop_timeout_ns = 1;
	assert_int_equal(nnb_burst_execute(burst, &call, NULL, NULL), NNB_STATUS_MISSED_DEADLINE_TRANSIENT);
	noted = 0;
	assert_int_equal(run(&b), NNB_STATUS_GENERAL_FAILURE); /* a call without terms */
	assert_int_equal(noted, NNB_LOOP_DEFAULT_NS);
	look_with(NULL);
	nnb_burst_free(burst);
	nnb_pool_free(pool);
	bound_fini(&b);
}

static void a_loop_without_end_is_ended(void **state) /* */
{
	struct bound b;
	uint64_t began;

	(void)state;
	bound_init(&b, loop_counting(), -1);
	began = now_ns();
	out_of_time(&b, 20 * MS);
	assert_true(now_ns() - began >= 20 * MS);
	*b.n = 7; /* the execution can be used again */
	runs_well(&b);
	is_counted(&b, 7);
	bound_fini(&b);
}

/* The loop waits for longer than its timeout, but waiting is not its own time. */
static void waiting_does_not_count_as_loop_time(void **state)
{
	struct looking l = { .wait_ns = 10 * MS };
	struct bound b;

	(void)state;
	bound_init(&b, loop_counting(), 50);
	fixture.loops->loops = (struct nnb_loops){ .timeout_ns = 400 * MS };
	look_with(&l);
	runs_well(&b);
	look_with(NULL);
	fixture.loops->loops = (struct nnb_loops){ 0 };
	is_counted(&b, 50);
	bound_fini(&b);
}

/* *ret: the most memory that the runs used. */
static void run_endlessly(struct bound *b, unsigned looks, uint64_t *ret)
{
	struct looking l = { .end_at = looks };

	fixture.loops->loops = (struct nnb_loops){ .timeout_ns = NNB_LOOP_MAX_NS };
	fixture.loops->most = 0;
	look_with(&l);
	assert_int_equal(run(b), NNB_STATUS_GENERAL_FAILURE);
	look_with(NULL);
	fixture.loops->loops = (struct nnb_loops){ 0 };
	assert_int_equal(l.looks, looks);
	*ret = fixture.loops->most;
}

static void an_endless_loop_takes_no_more_memory_than_at_first(void **state)
{
	uint64_t before, at_first, later;
	struct bound b;

	(void)state;
	bound_init(&b, loop_counting(), -1);
	before = fixture.loops->charged;
	run_endlessly(&b, 5, &at_first);
	run_endlessly(&b, ENOUGH, &later);
	assert_true(at_first > before);
	/* if each iteration kept a byte, ENOUGH of them would be out of range */
	assert_in_range(later, at_first > ROUNDED ? at_first - ROUNDED : 0, at_first + ROUNDED);
	assert_int_equal(fixture.loops->charged, before); /* the run gives all of it back */
	bound_fini(&b);
	assert_int_equal(fixture.loops->charged, 0);
}

static void a_loop_that_grows_without_end_is_refused(void **state)
{
	uint64_t before;
	struct bound b;

	(void)state;
	bound_init(&b, loop_growing(), -1);
	before = fixture.loops->charged;
	fixture.loops->loops = (struct nnb_loops){ .timeout_ns = NNB_LOOP_MAX_NS };
	fixture.loops->limit = 64 << 20;
	assert_int_equal(run(&b), NNB_STATUS_RESOURCE_EXHAUSTED_PERSISTENT);
	fixture.loops->limit = 0;
	fixture.loops->loops = (struct nnb_loops){ 0 };
	assert_int_equal(fixture.loops->charged, before);
	*b.n = 2;
	runs_well(&b);
	bound_fini(&b);
}

/*
 * Memory by the account and by the heap in the middle of a run, beyond that before it. Under a sanitizer the
 * heap is unknown, and 0.
 */
struct weighed {
	uint64_t charged_before, charged;
	size_t heap_before, heap;
};

static bool weigh(void *arg)
{
	struct weighed *w = arg;
	size_t heap = mallinfo2().uordblks;

	if (heap - w->heap_before > w->heap)
		w->heap = heap - w->heap_before;
	if (fixture.loops->charged - w->charged_before > w->charged)
		w->charged = fixture.loops->charged - w->charged_before;
	return true;
}

/* An IF in another one is a run in a run: each has arrays and values of its own. */
static void nested_runs_are_charged(void **state)
{
	uint64_t charged_of_few = 0;

	(void)state;
	for (uint32_t levels = NNB_NESTING_MAX / 2; levels <= NNB_NESTING_MAX; levels += NNB_NESTING_MAX / 2) {
		struct weighed w = { 0 };
		struct bound b;

		bound_init(&b, loop_deep(levels, false), 0);
		w.charged_before = fixture.loops->charged;
		w.heap_before = mallinfo2().uordblks;
		fixture.loops->look = (struct nnb_look){ weigh, &w };
		runs_well(&b);
		fixture.loops->look = (struct nnb_look){ NULL, NULL };
		print_message("%u levels: %llu bytes charged, %zu on the heap\n", levels, (unsigned long long)w.charged,
		              w.heap);
		assert_true(w.charged >= w.heap - w.heap / 4); /* malloc uses some more bytes for each allocation */
		assert_true(w.charged > charged_of_few + charged_of_few / 2);
		charged_of_few = w.charged;
		bound_fini(&b);
		assert_int_equal(fixture.loops->charged, 0);
	}
}

/* ---- invalid models ---- */

enum { OF_MAIN = -1 };

static struct nnb_operand *operand_in(struct nnb_model *m, int graph, uint32_t index)
{
	return graph == OF_MAIN ? &m->operands[index] : &m->referenced[graph].operands[index];
}

static uint32_t output_of(struct nnb_model *m, int graph)
{
	return graph == OF_MAIN ? m->outputs[0] : m->referenced[graph].outputs[0];
}

static void hal_1_2(struct nnb_model *m)
{
	m->hal = NNB_HAL_1_2;
}

static void beyond_all(struct nnb_model *m)
{
	m->operands[0].location.offset = m->n_referenced;
}

static void beyond_32_bits(struct nnb_model *m)
{
	m->operands[1].location.offset = UINT32_MAX;
}

static void with_a_pool(struct nnb_model *m)
{
	m->operands[0].location.pool = 1;
}

static void with_a_length(struct nnb_model *m)
{
	m->operands[0].location.length = 4;
}

static void with_dimensions(struct nnb_model *m)
{
	m->operands[0].rank = 1;
	m->operands[0].dims[0] = 1;
}

static void as_a_constant(struct nnb_model *m)
{
	m->operands[0].lifetime = NNB_CONSTANT_COPY;
}

static void a_tensor_as_a_subgraph(struct nnb_model *m)
{
	m->operands[0].type = NNB_TENSOR_INT32;
}

static void itself(struct nnb_model *m)
{
	for (uint32_t i = 0; i < m->referenced[1].n_operands; i++)
		if (m->referenced[1].operands[i].type == NNB_SUBGRAPH)
			m->referenced[1].operands[i].location.offset = 1;
}

static void each_other(struct nnb_model *m)
{
	for (uint32_t i = 0; i < m->referenced[3].n_operands; i++)
		if (m->referenced[3].operands[i].type == NNB_SUBGRAPH)
			m->referenced[3].operands[i].location.offset = 1;
}

static void condition_of_int(struct nnb_model *m)
{
	operand_in(m, 0, output_of(m, 0))->type = NNB_TENSOR_INT32;
}

static void condition_of_two(struct nnb_model *m)
{
	operand_in(m, 0, output_of(m, 0))->dims[0] = 2;
}

static void condition_of_rank_2(struct nnb_model *m)
{
	operand_in(m, 0, output_of(m, 0))->rank = 2;
	operand_in(m, 0, output_of(m, 0))->dims[1] = 1;
}

static void state_of_another_type(struct nnb_model *m)
{
	m->referenced[1].operands[m->referenced[1].inputs[0]].type = NNB_TENSOR_FLOAT16;
}

static void state_of_other_dimensions(struct nnb_model *m)
{
	m->referenced[1].operands[m->referenced[1].inputs[0]].dims[0] = LOOP_N + 1;
}

static void body_with_an_input_less(struct nnb_model *m)
{
	m->referenced[1].n_inputs--;
}

static void body_and_condition_change_places(struct nnb_model *m)
{
	m->operands[0].location.offset = 1;
	m->operands[1].location.offset = 0;
}

static void output_of_other_dimensions(struct nnb_model *m)
{
	m->operands[output_of(m, OF_MAIN)].dims[0] = LOOP_N + 1;
}

static void a_subgraph_of_nothing(struct nnb_model *m)
{
	m->referenced[2].n_operations = 0;
}

static void an_operation_of_no_operand(struct nnb_model *m)
{
	m->referenced[2].operations[0].inputs[0] = UINT32_MAX;
}

static void no_subgraphs_where_there_should_be(struct nnb_model *m)
{
	m->n_referenced = 0;
}

static void too_many_subgraphs(struct nnb_model *m)
{
	m->n_referenced = NNB_OPERANDS_MAX + 1;
}

static const struct mutation {
	const char *name;
	void (*change)(struct nnb_model *m);
	const char *reason;
} mutations[] = {
	{ "for HAL 1.2", hal_1_2, "subgraphs are for HAL 1.3 and later" },
	{ "a reference beyond all subgraphs", beyond_all, "operand 0: there is no subgraph 6" },
	{ "a reference of 2^32 - 1", beyond_32_bits, "operand 1: there is no subgraph 4294967295" },
	{ "a reference with a pool", with_a_pool, "operand 0: a subgraph has a location" },
	{ "a reference with a length", with_a_length, "operand 0: a subgraph has a location" },
	{ "a reference with dimensions", with_dimensions, "operand 0: SUBGRAPH is a scalar" },
	{ "a reference that is a constant", as_a_constant, "operand 0: a SUBGRAPH cannot be a CONSTANT_COPY" },
	{ "a tensor that is a reference", a_tensor_as_a_subgraph, "operand 0: a TENSOR_INT32 cannot be a SUBGRAPH" },
	{ "a subgraph that refers to itself", itself, "subgraph 1 refers to itself" },
	{ "subgraphs that refer to each other", each_other, "subgraph " },
	{ "a condition of TENSOR_INT32", condition_of_int, "operation 0 (WHILE): subgraph 0, the condition: " },
	{ "a condition of two elements", condition_of_two, "operation 0 (WHILE): subgraph 0, the condition: " },
	{ "a condition of rank 2", condition_of_rank_2, "operation 0 (WHILE): subgraph 0, the condition: " },
	{ "a state of another type", state_of_another_type, "operation 0 (WHILE): subgraph 1, the body: input 0 and" },
	{ "a state of other dimensions", state_of_other_dimensions,
	  "operation 0 (WHILE): subgraph 1, the body: input 0 and the subgraph's: they have different dimensions" },
	{ "a body with an input less", body_with_an_input_less, "subgraph 1: operand 2 is a MODEL_INPUT that is not" },
	{ "a condition instead of the body", body_and_condition_change_places,
	  "operation 0 (WHILE): subgraph 1, the condition: the subgraph has 2 outputs instead of 1" },
	{ "an output of other dimensions", output_of_other_dimensions,
	  "operation 0 (WHILE): subgraph 1, the body: output 0 and the subgraph's: " },
	{ "a subgraph of no operation", a_subgraph_of_nothing, "subgraph 2: there is no operation" },
	{ "an operation of no operand", an_operation_of_no_operand, "subgraph 2: operation 0 (ADD): input 0: " },
	{ "no subgraph at all", no_subgraphs_where_there_should_be, "operand 0: there is no subgraph 0" },
	{ "more subgraphs than there may be", too_many_subgraphs, "1048577 subgraphs are too many" },
};

static void is_refused(void **state)
{
	const struct mutation *mutation = *state;
	struct nnb_model *m = loop_nested();
	uint32_t n_referenced = m->n_referenced, n_operations = m->referenced[2].n_operations,
		 n_inputs = m->referenced[1].n_inputs;
	struct nnb_prepared *p;
	struct nnb_reason reason = { "" };

	assert_int_equal(nnb_model_validate(m, &reason), NNB_STATUS_NONE);
	mutation->change(m);
	assert_int_equal(nnb_model_validate(m, &reason), NNB_STATUS_INVALID_ARGUMENT);
	if (strncmp(reason.text, mutation->reason, strlen(mutation->reason)) != 0)
		fail_msg("'%s' does not begin with '%s'", reason.text, mutation->reason);
	assert_int_equal(nnb_prepare(fixture.device, m, &ordinary, NULL, &p, NULL), NNB_STATUS_INVALID_ARGUMENT);
	m->n_referenced = n_referenced; /* the model frees all that it refers to */
	m->referenced[2].n_operations = n_operations;
	m->referenced[1].n_inputs = n_inputs;
	nnb_model_free(m);
}

static void subgraphs_nest_up_to_the_limit(void **state)
{
	struct nnb_model *m = loop_deep(NNB_NESTING_MAX + 1, false);
	struct bound b;

	(void)state;
	assert_int_equal(nnb_model_validate(m, NULL), NNB_STATUS_INVALID_ARGUMENT);
	nnb_model_free(m);
	m = loop_deep(NNB_NESTING_MAX, true);
	assert_int_equal(nnb_model_validate(m, NULL), NNB_STATUS_INVALID_ARGUMENT);
	nnb_model_free(m);
	bound_init(&b, loop_deep(NNB_NESTING_MAX, false), 0);
	runs_well(&b);
	is_counted(&b, 1);
	bound_fini(&b);
}

int main(void)
{
	add_test(a_loop_counts, NULL, NULL, NULL, "a loop counts");
	add_test(branches_and_loops_lie_in_loops, NULL, NULL, NULL, "branches and loops lie in loops");
	add_test(shapes_change_from_iteration_to_iteration, NULL, NULL, NULL,
	         "shapes change from iteration to iteration");
	add_test(a_value_decides_a_shape_in_a_subgraph, NULL, NULL, NULL, "a value decides a shape in a subgraph");
	add_test(a_copy_and_a_decoded_model_run_the_same, NULL, NULL, NULL, "a copy and a decoded model run the same");
	add_test(a_cache_entry_has_its_subgraphs, NULL, NULL, NULL, "a cache entry has its subgraphs");
	add_test(iterations_are_reported, NULL, NULL, NULL, "iterations are reported");
	add_test(a_loop_preempted_after_every_iteration_gives_the_same_bits, NULL, NULL, NULL,
	         "a loop preempted after every iteration gives the same bits");
	add_test(a_loop_ends_at_the_look_that_ends_it, NULL, NULL, NULL, "a loop ends at the look that ends it");
	add_test(terms_are_within_bounds, NULL, NULL, NULL, "terms are within bounds");
	add_test(a_loop_without_end_is_ended, NULL, NULL, NULL, "a loop without end is ended");
	add_test(waiting_does_not_count_as_loop_time, NULL, NULL, NULL, "waiting does not count as loop time");
	add_test(an_endless_loop_takes_no_more_memory_than_at_first, NULL, NULL, NULL,
	         "an endless loop takes no more memory than at first");
	add_test(nested_runs_are_charged, NULL, NULL, NULL, "nested runs are charged");
	add_test(a_loop_that_grows_without_end_is_refused, NULL, NULL, NULL,
	         "a loop that grows without end is refused");
	add_test(subgraphs_nest_up_to_the_limit, NULL, NULL, NULL, "16 lie within each other, and no more");
	for (size_t i = 0; i < N_OF(nests); i++)
		add_test(branches_ask_whether_to_go_on, NULL, NULL, (void *)&nests[i], "asked: %s", nests[i].name);
	for (size_t i = 0; i < N_OF(mutations); i++)
		add_test(is_refused, NULL, NULL, (void *)&mutations[i], "refused: %s", mutations[i].name);
	return cmocka_run_group_tests_name("control", tests, set_up, tear_down);
}
