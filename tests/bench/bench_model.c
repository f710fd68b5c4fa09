/*
 * bench_model -- a MobileNet through our driver against the same XNNPACK operators in a bare loop, preparing from
 * a cache against preparing, what a checkpoint costs, and what a warm run allocates.
 *
 * The network is the one of tests/mobilenet.h: float32, 3.4 MB of operands, 30 operations.
 */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xnnpack.h>

#include "allocations.h"
#include "bench.h"
#include "mobilenet.h"
#include "nnb/device.h"

static void die(const char *what, const struct nnb_reason *reason)
{
	fprintf(stderr, "bench_model: %s: %s\n", what, reason ? reason->text : strerror(errno));
	exit(5);
}

/* ---- the bare loop: what somebody would write for this one network ---- */

struct bare {
	xnn_operator_t ops[MOBILENET_OPERATIONS];
	float *buffers[2]; /* an operation reads one and writes the other */
	float *input, *output;
};

static const void *constant(const struct nnb_model *m, const struct nnb_mapping *pool, uint32_t operand)
{
	const struct nnb_location *at = &m->operands[operand].location;

	return m->operands[operand].lifetime == NNB_CONSTANT_COPY ? (const char *)m->values + at->offset
	                                                          : (const char *)nnb_mapping_data(pool) + at->offset;
}

static uint32_t number(const struct nnb_model *m, uint32_t operand)
{
	uint32_t n;

	memcpy(&n, m->values + m->operands[operand].location.offset, sizeof(n));
	return n;
}

/* The padding before and in all that SAME means. */
static uint32_t same_padding(uint32_t in, uint32_t stride, uint32_t filter)
{
	uint32_t need = ((in + stride - 1) / stride - 1) * stride + filter;

	return need > in ? need - in : 0;
}

static enum xnn_status bare_conv(const struct nnb_model *m, const struct nnb_mapping *pool,
                                 const struct nnb_operation *op, const float *in, float *out, xnn_operator_t *ret)
{
	bool depthwise = op->type == NNB_DEPTHWISE_CONV_2D;
	const uint32_t *i = m->operands[op->inputs[0]].dims, *o = m->operands[op->outputs[0]].dims;
	const uint32_t *f = m->operands[op->inputs[1]].dims;
	uint32_t stride = number(m, op->inputs[4]), pad = same_padding(i[1], stride, f[1]);
	float max = number(m, op->inputs[depthwise ? 7 : 6]) == NNB_FUSED_RELU6 ? 6 : INFINITY;
	enum xnn_status status;

	status = xnn_create_convolution2d_nhwc_f32(pad / 2, pad - pad / 2, pad - pad / 2, pad / 2, f[1], f[2], stride,
	                                           stride, 1, 1, depthwise ? i[3] : 1, depthwise ? 1 : i[3],
	                                           depthwise ? 1 : o[3], i[3], o[3], constant(m, pool, op->inputs[1]),
	                                           constant(m, pool, op->inputs[2]), max == 6 ? 0 : -INFINITY, max,
	                                           depthwise ? XNN_FLAG_DEPTHWISE_CONVOLUTION : 0, ret);
	return status ? status : xnn_setup_convolution2d_nhwc_f32(*ret, 1, i[1], i[2], in, out, NULL);
}

static enum xnn_status bare_op(const struct nnb_model *m, const struct nnb_mapping *pool,
                               const struct nnb_operation *op, const float *in, float *out, xnn_operator_t *ret)
{
	const uint32_t *i = m->operands[op->inputs[0]].dims;
	enum xnn_status status;

	switch (op->type) {
	case NNB_AVERAGE_POOL_2D:
		status = xnn_create_average_pooling2d_nhwc_f32(0, 0, 0, 0, i[1], i[2], 1, 1, i[3], i[3], i[3],
		                                               -INFINITY, INFINITY, 0, ret);
		return status ? status : xnn_setup_average_pooling2d_nhwc_f32(*ret, 1, i[1], i[2], in, out, NULL);
	case NNB_LOGISTIC:
		status = xnn_create_sigmoid_nc_f32(1, 1, 1, 0, ret);
		return status ? status : xnn_setup_sigmoid_nc_f32(*ret, i[1] * i[2] * i[3], in, out, NULL);
	default:
		return bare_conv(m, pool, op, in, out, ret);
	}
}

static size_t largest(const struct nnb_model *m)
{
	uint64_t most = 0, bytes;

	for (uint32_t i = 0; i < m->n_operands; i++) {
		const struct nnb_operand *o = &m->operands[i];

		if (!nnb_operand_bytes(o->type, o->rank, o->dims, &bytes) && bytes > most)
			most = bytes;
	}
	return (most / 64 + 2) * 64; /* XNNPACK reads past the end */
}

static void bare_make(struct bare *b, const struct nnb_model *m, float *input)
{
	struct nnb_mapping *pool;

	if (xnn_initialize(NULL) || nnb_map(&pool, &m->pools[0]))
		die("XNNPACK", NULL);
	for (int i = 0; i < 2; i++)
		b->buffers[i] = aligned_alloc(64, largest(m));
	b->input = input;
	for (uint32_t i = 0; i < MOBILENET_OPERATIONS; i++) {
		const float *in = i ? b->buffers[(i - 1) % 2] : input;

		b->output = b->buffers[i % 2];
		if (bare_op(m, pool, &m->operations[i], in, b->output, &b->ops[i]))
			die("XNNPACK's operator", NULL);
	}
	nnb_mapping_unref(pool);
}

static void bare_run(const struct bare *b)
{
	for (int i = 0; i < MOBILENET_OPERATIONS; i++)
		xnn_run_operator(b->ops[i], NULL);
}

static void bare_free(struct bare *b)
{
	for (int i = 0; i < MOBILENET_OPERATIONS; i++)
		xnn_delete_operator(b->ops[i]);
	for (int i = 0; i < 2; i++)
		free(b->buffers[i]);
	xnn_deinitialize();
}

/* ---- ours ---- */

struct ours {
	struct nnb_prepared *xnnpack, *null;
	struct nnb_memory pool;
	struct nnb_mapping *mapping;
	struct nnb_argument in, out;
	struct nnb_request request;
};

enum { INPUT_BYTES = MOBILENET_SIDE * MOBILENET_SIDE * 3 * 4, OUTPUT_BYTES = MOBILENET_CLASSES * 4 };

static void ours_make(struct ours *o)
{
	o->in.location = (struct nnb_location){ 0, 0, INPUT_BYTES };
	o->out.location = (struct nnb_location){ 0, INPUT_BYTES, OUTPUT_BYTES };
	if (nnb_memory_ashmem(&o->pool, INPUT_BYTES + OUTPUT_BYTES) || nnb_map(&o->mapping, &o->pool))
		die("memory", NULL);
	o->request = (struct nnb_request){
		.inputs = &o->in, .outputs = &o->out, .n_inputs = 1, .n_outputs = 1, .n_pools = 1, .pools = &o->pool
	};
	for (int i = 0; i < MOBILENET_SIDE * MOBILENET_SIDE * 3; i++)
		((float *)nnb_mapping_data(o->mapping))[i] = (float)(i % 255) / 127.5f - 1;
}

/* One execution as a burst makes it: the pool's mapping is there already. */
static void ours_run(const struct ours *o, struct nnb_prepared *p, bool (*checkpoint)(void *, uint32_t))
{
	struct nnb_execution *e;
	struct nnb_reason reason = { "" };
	bool finished;

	if (nnb_execution_begin(p, &o->request, &o->mapping, false, NULL, &e, &reason) ||
	    nnb_execution_run(e, checkpoint, NULL, &finished))
		die("execution", &reason);
	nnb_execution_end(e);
}

static bool go_on(void *arg, uint32_t next_op)
{
	(void)arg;
	(void)next_op;
	return true;
}

static struct nnb_device *device_of(const char *name)
{
	struct nnb_device *device;
	struct nnb_reason reason = { "" };

	if (nnb_device_open(&device, name, &reason))
		die("device", &reason);
	return device;
}

static struct nnb_prepared *prepared_on(struct nnb_device *device, const struct nnb_model *m,
                                        const struct nnb_cache *cache)
{
	struct nnb_prepare how = { .preference = 1, .priority = 1 };
	struct nnb_reason reason = { "" };
	struct nnb_prepared *p;

	if (nnb_prepare(device, m, &how, cache, &p, &reason))
		die("prepare", &reason);
	return p;
}

/* The bare loop and the driver must compute the same: the same operators on the same numbers. */
static void check_equal(const struct bare *b, const struct ours *o)
{
	const float *ours = (const float *)((const char *)nnb_mapping_data(o->mapping) + INPUT_BYTES);

	for (int i = 0; i < MOBILENET_CLASSES; i++)
		if (ours[i] != b->output[i] || !(ours[i] > 0) || !(ours[i] < 1)) {
			fprintf(stderr, "bench_model: class %d: %g by the driver, %g bare\n", i, ours[i], b->output[i]);
			exit(1);
		}
}

/* ---- rounds ---- */

enum { RUNS = 40, NULL_RUNS = 500, PREPARES = 5 };

struct rows {
	size_t bare, driver, null, null_checked, prepare, cached, file;
};

static void one_bare(struct bench *b, const struct rows *rows, const struct bare *bare)
{
	uint64_t began = bench_now();

	bare_run(bare);
	bench_sample(b, rows->bare, (double)(bench_now() - began));
}

static void one_driver(struct bench *b, const struct rows *rows, const struct ours *o)
{
	uint64_t began = bench_now();

	ours_run(o, o->xnnpack, NULL);
	bench_sample(b, rows->driver, (double)(bench_now() - began));
}

/* Turn and turn about, so that a slow moment hits both, and neither always finds what the other left in the caches. */
static void measure_runs(struct bench *b, const struct rows *rows, const struct bare *bare, const struct ours *o)
{
	for (int i = 0; i < RUNS; i++) {
		if (i % 2)
			one_bare(b, rows, bare);
		one_driver(b, rows, o);
		if (i % 2 == 0)
			one_bare(b, rows, bare);
	}
	bench_round_done(b, rows->bare);
	bench_round_done(b, rows->driver);
}

static void measure_null(struct bench *b, const struct rows *rows, const struct ours *o)
{
	for (int k = 0; k < 10; k++) {
		uint64_t t0 = bench_now(), t1, t2;

		for (int i = 0; i < NULL_RUNS; i++)
			ours_run(o, o->null, NULL);
		t1 = bench_now();
		for (int i = 0; i < NULL_RUNS; i++)
			ours_run(o, o->null, go_on);
		t2 = bench_now();
		bench_sample(b, rows->null, (double)(t1 - t0) / NULL_RUNS);
		bench_sample(b, rows->null_checked, (double)(t2 - t1) / NULL_RUNS);
	}
	bench_round_done(b, rows->null);
	bench_round_done(b, rows->null_checked);
}

static int cache_file(void)
{
	char name[] = "/tmp/bench_model.XXXXXX";
	int fd = mkostemp(name, O_CLOEXEC);

	if (fd < 0)
		die("a cache file", NULL);
	unlink(name);
	return fd;
}

/* The work of a client that has no cache: get the model from its file. */
static void measure_file(struct bench *b, const struct rows *rows, struct nnb_device *device, const char *text)
{
	struct nnb_model_file *file;
	struct nnb_reason reason = { "" };
	uint64_t began = bench_now();

	if (nnb_model_file_parse(&file, text, strlen(text), NULL, &reason))
		die("the model file", &reason);
	nnb_prepared_unref(prepared_on(device, file->model, NULL));
	bench_sample(b, rows->file, (double)(bench_now() - began));
	bench_round_done(b, rows->file);
	nnb_model_file_free(file);
}

static void measure_prepare(struct bench *b, const struct rows *rows, struct nnb_device *device,
                            const struct nnb_model *m, const char *text, const struct nnb_cache *cache)
{
	struct nnb_prepared *p;

	for (int i = 0; i < PREPARES; i++) {
		uint64_t t0 = bench_now(), t1, t2;
		struct nnb_reason reason = { "" };

		p = prepared_on(device, m, NULL);
		t1 = bench_now();
		nnb_prepared_unref(p);
		t2 = bench_now();
		if (nnb_prepare_from_cache(device, 0, cache, &p, &reason))
			die("prepare from cache", &reason);
		bench_sample(b, rows->cached, (double)(bench_now() - t2));
		bench_sample(b, rows->prepare, (double)(t1 - t0));
		nnb_prepared_unref(p);
	}
	measure_file(b, rows, device, text);
	bench_round_done(b, rows->prepare);
	bench_round_done(b, rows->cached);
}

/* Allocations of 100 warm runs. */
static double warm_allocations(const struct ours *o)
{
	unsigned long before = allocations();

	for (int i = 0; i < 100; i++)
		ours_run(o, o->xnnpack, go_on);
	return (double)(allocations() - before);
}

int main(int argc, char **argv)
{
	struct bench b;
	struct rows rows;
	struct bare bare;
	struct ours ours = { 0 };
	struct nnb_device *xnnpack = device_of("xnnpack"), *null = device_of("null");
	struct nnb_model *m = mobilenet_new();
	char *text = mobilenet_text(m);
	int files[2] = { cache_file(), cache_file() };
	struct nnb_cache cache = { .model_files = &files[0],
		                   .data_files = &files[1],
		                   .n_model_files = 1,
		                   .n_data_files = 1,
		                   .token = "bench" };
	double per_checkpoint;

	bench_open(&b, "model", 15, argc, argv);
	rows = (struct rows){ .bare = bench_row(&b, "MobileNet, XNNPACK's operators in a bare loop"),
		              .driver = bench_row(&b, "MobileNet, an execution through the driver"),
		              .null = bench_row(&b, "the same execution, null driver"),
		              .null_checked = bench_row(&b, "null driver, a checkpoint between operations"),
		              .prepare = bench_row(&b, "prepare"),
		              .cached = bench_row(&b, "prepare from cache"),
		              .file = bench_row(&b, "read the model file, prepare") };
	ours_make(&ours);
	ours.xnnpack = prepared_on(xnnpack, m, &cache);
	ours.null = prepared_on(null, m, NULL);
	bare_make(&bare, m, nnb_mapping_data(ours.mapping));
	bare_run(&bare);
	ours_run(&ours, ours.xnnpack, NULL);
	check_equal(&bare, &ours);

	for (unsigned i = 0; i < b.rounds; i++) {
		measure_runs(&b, &rows, &bare, &ours);
		measure_null(&b, &rows, &ours);
		measure_prepare(&b, &rows, xnnpack, m, text, &cache);
	}
	bench_at_most(&b, "driver / bare loop", bench_ratio(&b, "driver / bare loop", rows.driver, rows.bare, SIZE_MAX),
	              1.02);
	bench_ratio(&b, "from cache / prepare", rows.cached, rows.prepare, SIZE_MAX);
	bench_ratio(&b, "from cache / read the file, prepare", rows.cached, rows.file, SIZE_MAX);
	bench_ratio(&b, "checkpoints / none, null driver", rows.null_checked, rows.null, SIZE_MAX);
	per_checkpoint = (bench_median(b.rows[rows.null_checked].per_round, b.rows[rows.null_checked].n_rounds) -
	                  bench_median(b.rows[rows.null].per_round, b.rows[rows.null].n_rounds)) /
	                 (MOBILENET_OPERATIONS - 1);
	bench_at_most(&b, "one checkpoint, ns", per_checkpoint, 50);
	bench_at_most(&b, "allocations in 100 warm runs", warm_allocations(&ours), 0);

	bare_free(&bare);
	nnb_prepared_unref(ours.xnnpack);
	nnb_prepared_unref(ours.null);
	nnb_mapping_unref(ours.mapping);
	nnb_memory_close(&ours.pool);
	nnb_model_free(m);
	free(text);
	nnb_device_unref(xnnpack);
	nnb_device_unref(null);
	close(files[0]);
	close(files[1]);
	return bench_close(&b);
}
