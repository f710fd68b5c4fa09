/*
 * test_prepare_ends.c -- the preparation of a large model asks every few milliseconds whether to go on. The
 * asking does not change its result. It ends soon after the answer is no, or its deadline has passed.
 *
 * The tests measure cpu time of one thread.
 */
#include <fcntl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "base.h"
#include "unit/device_helpers.h"

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
enum { SLOWER = 30, SMALLER = 8 };
#else
enum { SLOWER = 1, SMALLER = 1 };
#endif
#define LOOK_NS (10 * MS * SLOWER)

enum { TRIES = 3, CHAIN = 100000 / SMALLER };

/* ---- models that take long ---- */

#define DIMS(...) ((uint32_t[]){ __VA_ARGS__ })

static struct nnb_operand tensor(uint32_t type, float scale, uint32_t rank, const uint32_t *dims)
{
	struct nnb_operand o = { .type = type, .rank = rank, .scale = scale };

	memcpy(o.dims, dims, rank * sizeof(*dims));
	return o;
}

/* A constant for operand @o: a pattern that is no denormal, as float or as bytes. */
static uint32_t constant(struct nnb_model *m, const struct nnb_operand *o)
{
	uint32_t index = operand(m, o);
	uint64_t bytes;
	uint8_t *values;

	assert_int_equal(nnb_operand_bytes(o->type, o->rank, o->dims, &bytes), 0);
	values = calloc(1, bytes);
	assert_non_null(values);
	for (uint64_t i = 0; o->type != NNB_TENSOR_INT32 && i + 4 <= bytes; i += 4) {
		float f = (float)(i / 4 % 61) / 64 - 0.5f;

		memcpy(values + i, &f, 4);
	}
	assert_int_equal(nnb_model_value(m, index, values, bytes), 0);
	free(values);
	return index;
}

static void finish(struct nnb_model *m, enum nnb_op op, const uint32_t *in, uint32_t n_in, uint32_t out)
{
	assert_true(nnb_model_operation(m, op, in, n_in, &out, 1) >= 0);
	assert_int_equal(nnb_model_finish(m, in, 1, &out, 1), 0);
}

static void fully_connected(struct nnb_model *m, uint32_t type, uint32_t size, uint32_t units)
{
	bool quant = type == NNB_TENSOR_QUANT8_ASYMM;
	struct nnb_operand o = tensor(type, quant ? 0.5f : 0, 2, DIMS(1, size));
	uint32_t in[4], out;

	in[0] = operand(m, &o);
	o = tensor(type, quant ? 0.5f : 0, 2, DIMS(units, size));
	in[1] = constant(m, &o);
	o = quant ? tensor(NNB_TENSOR_INT32, 0.25f, 1, DIMS(units)) : tensor(type, 0, 1, DIMS(units));
	in[2] = constant(m, &o);
	in[3] = int_scalar(m, NNB_FUSED_NONE);
	o = tensor(type, quant ? 5000 : 0, 2, DIMS(1, units));
	out = operand(m, &o);
	finish(m, NNB_FULLY_CONNECTED, in, 4, out);
}

static void float_weights(struct nnb_model *m)
{
	fully_connected(m, NNB_TENSOR_FLOAT32, 8192, 8192 / SMALLER);
}

static void quant_weights(struct nnb_model *m)
{
	fully_connected(m, NNB_TENSOR_QUANT8_ASYMM, 8192, 16384 / SMALLER);
}

static void few_weights(struct nnb_model *m)
{
	fully_connected(m, NNB_TENSOR_FLOAT32, 1024, 1024);
}

static void window(struct nnb_model *m, enum nnb_op op, uint32_t side, uint32_t channels, uint32_t filter)
{
	struct nnb_operand o = tensor(NNB_TENSOR_FLOAT32, 0, 4, DIMS(1, side, side, channels));
	uint32_t in[8], n = 0, out;

	in[n++] = operand(m, &o);
	if (op == NNB_CONV_2D) {
		o = tensor(NNB_TENSOR_FLOAT32, 0, 4, DIMS(channels, filter, filter, channels));
		in[n++] = constant(m, &o);
		o = tensor(NNB_TENSOR_FLOAT32, 0, 1, DIMS(channels));
		in[n++] = constant(m, &o);
	}
	in[n++] = int_scalar(m, NNB_PADDING_VALID);
	in[n++] = int_scalar(m, 1);
	in[n++] = int_scalar(m, 1);
	if (op != NNB_CONV_2D) {
		in[n++] = int_scalar(m, (int32_t)filter);
		in[n++] = int_scalar(m, (int32_t)filter);
	}
	in[n++] = int_scalar(m, NNB_FUSED_NONE);
	o = tensor(NNB_TENSOR_FLOAT32, 0, 4, DIMS(1, side - filter + 1, side - filter + 1, channels));
	out = operand(m, &o);
	finish(m, op, in, n, out);
}

static void conv_of_many_channels(struct nnb_model *m)
{
	window(m, NNB_CONV_2D, 12, 1536 / SMALLER, 3);
}

static void conv_of_many_pixels(struct nnb_model *m)
{
	window(m, NNB_CONV_2D, 1800 / SMALLER, 2, 3);
}

static void pool_of_many_pixels(struct nnb_model *m)
{
	window(m, NNB_MAX_POOL_2D, 1800 / SMALLER, 2, 3);
}

/* Indexes decide what GATHER reads, so the driver copies them. */
static void many_indexes(struct nnb_model *m)
{
	const uint32_t n = (1 << 26) / SMALLER;
	struct nnb_operand o = tensor(NNB_TENSOR_INT32, 0, 1, DIMS(n));
	uint32_t in[2], out;

	in[0] = constant(m, &o);
	o = tensor(NNB_TENSOR_FLOAT32, 0, 2, DIMS(4, 1));
	in[1] = operand(m, &o);
	o = tensor(NNB_TENSOR_FLOAT32, 0, 2, DIMS(n, 1));
	out = operand(m, &o);
	assert_true(nnb_model_operation(m, NNB_EMBEDDING_LOOKUP, in, 2, &out, 1) >= 0);
	assert_int_equal(nnb_model_finish(m, &in[1], 1, &out, 1), 0);
}

static void many_operations(struct nnb_model *m)
{
	chain_of_adds(m, CHAIN);
}

static const struct row {
	const char *name;
	void (*make)(struct nnb_model *m);
} rows[] = {
	{ "weights, float32", float_weights },
	{ "weights, quant8", quant_weights },
	{ "weights of a convolution", conv_of_many_channels },
	{ "pointers of a convolution", conv_of_many_pixels },
	{ "pointers of a pool", pool_of_many_pixels },
	{ "indexes", many_indexes },
	{ "operations", many_operations },
};

static struct nnb_model *make_model(void (*make)(struct nnb_model *m))
{
	struct nnb_model *m;

	assert_int_equal(nnb_model_new(&m, "large", NNB_HAL_1_0), 0);
	make(m);
	return m;
}

/* ---- looks ---- */

struct looks {
	uint64_t n, ends_at; /* how often the driver asked; the question that is answered no */
	uint64_t began, last, longest;
};

static void note(struct looks *l)
{
	uint64_t now = thread_cpu_ns();

	l->longest = now - l->last > l->longest ? now - l->last : l->longest;
	l->last = now;
}

static bool goes_on(void *arg)
{
	struct looks *l = arg;

	note(l);
	return ++l->n < l->ends_at;
}

static enum nnb_status prepare(struct nnb_device *d, const struct nnb_model *m, const struct nnb_cache *cache,
                               struct looks *l, struct nnb_prepared **ret)
{
	const struct nnb_look look = { goes_on, l };
	struct nnb_prepare how = ordinary;
	struct nnb_reason why = { "" };
	enum nnb_status status;

	how.look = &look;
	l->n = l->longest = 0;
	l->began = l->last = thread_cpu_ns();
	status = nnb_prepare(d, m, &how, cache, ret, &why);
	note(l);
	assert_true(!status || why.text[0]);
	return status;
}

static void preparing_asks_and_ends(void **state)
{
	const struct row *row = *state;
	struct nnb_device *d = open_device("xnnpack");
	struct nnb_model *m = make_model(row->make);
	struct looks whole, ended;
	uint64_t freeing = 0; /* freeing half of what the model took */

	for (int i = 0; i < TRIES; i++) { /* an interrupt may come in between, but not every time */
		struct nnb_prepared *p = NULL;

		whole = ended = (struct looks){ .ends_at = UINT64_MAX };
		assert_int_equal(prepare(d, m, NULL, &whole, &p), NNB_STATUS_NONE);
		nnb_prepared_unref(p);
		p = NULL;
		ended.ends_at = whole.n / 2 + 1;
		assert_int_equal(prepare(d, m, NULL, &ended, &p), NNB_STATUS_GENERAL_FAILURE);
		assert_null(p);
		freeing = (whole.last - whole.began) / 8;
		if (whole.longest <= LOOK_NS && ended.longest <= LOOK_NS + freeing)
			break;
	}
	print_message("%-28s %7.1f ms: %5ju looks, %.2f ms apart at most; ended, %.2f ms\n", row->name,
	              (double)(whole.last - whole.began) / 1e6, (uintmax_t)whole.n, (double)whole.longest / 1e6,
	              (double)ended.longest / 1e6);
	assert_int_equal(ended.n, ended.ends_at);
	assert_true(whole.longest <= LOOK_NS);
	assert_true(ended.longest <= LOOK_NS + freeing);
	nnb_model_free(m);
	nnb_device_unref(d);
}

/* ---- the cache ---- */

static void saving_an_entry_asks_too(void **state)
{
	struct nnb_device *d = open_device("xnnpack");
	struct nnb_model *m = make_model(float_weights);
	int files[2] = { memfd_create("model", MFD_CLOEXEC), memfd_create("data", MFD_CLOEXEC) };
	const struct nnb_cache cache = { &files[0], &files[1], 1, 1, { 7 } };
	struct looks alone = { .ends_at = UINT64_MAX }, saves = alone;
	struct nnb_prepared *p;

	(void)state;
	assert_int_equal(prepare(d, m, NULL, &alone, &p), NNB_STATUS_NONE);
	nnb_prepared_unref(p);
	assert_int_equal(prepare(d, m, &cache, &saves, &p), NNB_STATUS_NONE);
	nnb_prepared_unref(p);
	print_message("%ju looks, %ju with an entry, %.2f ms apart at most\n", (uintmax_t)alone.n, (uintmax_t)saves.n,
	              (double)saves.longest / 1e6);
	assert_true(saves.n > alone.n + 10);
	assert_true(saves.longest <= LOOK_NS);

	/* The preparation ends while it saves: the model exists, and the entry does not. */
	saves.ends_at = saves.n - 1;
	assert_int_equal(prepare(d, m, &cache, &saves, &p), NNB_STATUS_NONE);
	nnb_prepared_unref(p);
	assert_int_equal(nnb_prepare_from_cache(d, 0, &cache, &p, NULL), NNB_STATUS_GENERAL_FAILURE);
	close(files[0]);
	close(files[1]);
	nnb_model_free(m);
	nnb_device_unref(d);
}

/* ---- deadlines ---- */

/*
 * A deadline ends a preparation of hundreds of ms after at most 10 ms more of the cpu, and frees what it made
 * (0.1 ms a MiB).
 */
static void deadline_ends_it(uint64_t ms)
{
	struct nnb_device *d = open_device("xnnpack");
	struct nnb_model *m = make_model(float_weights);
	struct nnb_prepare how = ordinary;
	uint64_t least = UINT64_MAX;

	for (int i = 0; i < TRIES; i++) {
		struct nnb_prepared *p = NULL;
		uint64_t began = thread_cpu_ns(), took;
		enum nnb_status status;

		how.deadline_ns = now_ns() + ms * MS;
		status = nnb_prepare(d, m, &how, NULL, &p, NULL);
		took = thread_cpu_ns() - began;
		assert_true(status == NNB_STATUS_MISSED_DEADLINE_TRANSIENT ||
		            status == NNB_STATUS_MISSED_DEADLINE_PERSISTENT);
		assert_null(p);
		least = took < least ? took : least;
	}
	print_message("a deadline of %ju ms ends it after %.1f ms of cpu\n", (uintmax_t)ms, (double)least / 1e6);
	assert_true(least <= (ms + 10) * MS * SLOWER);
	nnb_model_free(m);
	nnb_device_unref(d);
}

static void a_deadline_ends_it(void **state)
{
	(void)state;
	deadline_ends_it(20);
	deadline_ends_it(5);
}

/*
 * Prepare with a deadline of 5 ms from now. True: the driver refused, because such a model took longer
 * before.
 */
static bool is_refused_at_once(struct nnb_device *d, const struct nnb_model *m, uint64_t *took)
{
	struct nnb_prepare how = ordinary;
	struct nnb_prepared *p = NULL;
	struct nnb_reason why = { "" };
	uint64_t began = thread_cpu_ns();
	enum nnb_status status;

	how.deadline_ns = now_ns() + 5 * MS;
	status = nnb_prepare(d, m, &how, NULL, &p, &why);
	*took = thread_cpu_ns() - began;
	assert_true(status == NNB_STATUS_MISSED_DEADLINE_TRANSIENT || status == NNB_STATUS_MISSED_DEADLINE_PERSISTENT);
	assert_null(p);
	return strstr(why.text, "such a model has taken longer");
}

static void what_took_too_long_before_is_refused_at_once(void **state)
{
	struct nnb_device *d = open_device("xnnpack");
	struct nnb_model *m = make_model(float_weights), *other = make_model(few_weights);
	uint64_t took, most = UINT64_MAX;
	int refusals = 0;

	(void)state;
	assert_false(is_refused_at_once(d, m, &took)); /* the driver has no estimate yet */
	nnb_prepared_unref(prepared(d, m));
	for (int i = 0; i < TRIES; i++) {
		assert_true(is_refused_at_once(d, m, &took));
		most = took < most ? took : most;
	}
	print_message("refused at once: after %.3f ms of cpu\n", (double)most / 1e6);
	assert_true(most <= MS * SLOWER);
	nnb_prepared_unref(prepared(d, other)); /* models of another kind, in time or not, have estimates of
	                                         * their own */
	while (is_refused_at_once(d, m, &took)) /* the refusals end: the last preparation may have been slow for
	                                         * another reason */
		assert_true(++refusals < 200);
	nnb_model_free(other);
	nnb_model_free(m);
	nnb_device_unref(d);
}

/* ---- the same results ---- */

static void execute(struct nnb_prepared *p, uint8_t *ret, uint32_t bytes)
{
	struct nnb_memory pool;
	struct nnb_mapping *mapping;
	struct nnb_argument args[2] = { { .location = { 0, 0, 4096 } }, { .location = { 0, 4096, bytes } } };
	const struct nnb_request request = {
		.inputs = &args[0], .outputs = &args[1], .n_inputs = 1, .n_outputs = 1, .n_pools = 1, .pools = &pool
	};

	assert_int_equal(nnb_memory_ashmem(&pool, 4096 + bytes), 0);
	assert_int_equal(nnb_map(&mapping, &pool), 0);
	for (int i = 0; i < 1024; i++)
		((float *)nnb_mapping_data(mapping))[i] = (float)(i % 37) / 8 - 2;
	assert_int_equal(nnb_execute(p, &request, NULL, NULL), NNB_STATUS_NONE);
	memcpy(ret, (uint8_t *)nnb_mapping_data(mapping) + 4096, bytes);
	nnb_mapping_unref(mapping);
	nnb_memory_close(&pool);
}

static void a_watched_preparation_comes_to_the_same(void **state)
{
	struct nnb_device *d = open_device("xnnpack");
	struct nnb_model *m = make_model(few_weights);
	struct looks looks = { .ends_at = UINT64_MAX };
	uint8_t watched[4096], unwatched[4096];
	struct nnb_prepared *p;

	(void)state;
	assert_int_equal(prepare(d, m, NULL, &looks, &p), NNB_STATUS_NONE);
	execute(p, watched, sizeof(watched));
	nnb_prepared_unref(p);
	p = prepared(d, m);
	execute(p, unwatched, sizeof(unwatched));
	nnb_prepared_unref(p);
	assert_true(looks.n >= 3); /* 4 MiB of weights were packed in parts */
	assert_memory_equal(watched, unwatched, sizeof(watched));
	nnb_model_free(m);
	nnb_device_unref(d);
}

int main(void)
{
	struct CMUnitTest tests[N_OF(rows) + 4] = { cmocka_unit_test(saving_an_entry_asks_too),
		                                    cmocka_unit_test(a_deadline_ends_it),
		                                    cmocka_unit_test(what_took_too_long_before_is_refused_at_once),
		                                    cmocka_unit_test(a_watched_preparation_comes_to_the_same) };

	for (size_t i = 0; i < N_OF(rows); i++)
		tests[4 + i] = (struct CMUnitTest){ .name = rows[i].name,
			                            .test_func = preparing_asks_and_ends,
			                            .initial_state = (void *)&rows[i] };
	return cmocka_run_group_tests_name("preparing asks whether to go on", tests, NULL, NULL);
}
