/*
 * bench_models -- real models and MobileNets through our driver against the same operators in a bare loop; and what
 * XNNPACK saves over the plain kernels, by operation.
 *
 * The driver is driver_times.c. Real models are the .tflite files in the directory $NNB_TFLITE_DIR, as `npm install`
 * of MediaPipe's packages leaves them (./run bench models fetches them); without it there are only the MobileNets.
 */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "driver_times.h"
#include "mobilenet.h"
#include "nnb/device.h"

enum { MODELS_MAX = 16, RUNS = 6, ALIGNMENT = 64, MOST_USED = 10, KERNEL_MOST = 3 };

static void die(const char *what, const struct nnb_reason *reason)
{
	fprintf(stderr, "bench_models: %s: %s\n", what, reason && reason->text[0] ? reason->text : strerror(errno));
	exit(5);
}

static struct times *times;

/* ---- a model and its arguments ---- */

struct subject {
	char name[40];
	struct nnb_model *model;
	struct nnb_prepared *prepared;
	struct nnb_memory pool;
	struct nnb_mapping *mapping;
	struct nnb_argument args[32];
	struct nnb_request request;
	size_t bare, driver; /* rows */
};

static uint64_t bytes_of(const struct nnb_model *m, uint32_t operand)
{
	const struct nnb_operand *o = &m->operands[operand];
	uint64_t bytes;

	if (nnb_operand_bytes(o->type, o->rank, o->dims, &bytes))
		die("an extent is not known", NULL);
	return bytes;
}

static void place_all(struct subject *s)
{
	const struct nnb_model *m = s->model;
	uint64_t at = 0;
	float *inputs;

	if (m->n_inputs + m->n_outputs > sizeof(s->args) / sizeof(s->args[0]))
		die("too many arguments", NULL);
	for (uint32_t i = 0; i < m->n_inputs + m->n_outputs; i++) {
		uint64_t bytes = bytes_of(m, i < m->n_inputs ? m->inputs[i] : m->outputs[i - m->n_inputs]);

		s->args[i].location = (struct nnb_location){ 0, (uint32_t)at, (uint32_t)bytes };
		at += (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
	}
	if (nnb_memory_ashmem(&s->pool, at) || nnb_map(&s->mapping, &s->pool))
		die("memory", NULL);
	inputs = nnb_mapping_data(s->mapping);
	for (uint64_t i = 0; i < s->args[m->n_inputs].location.offset / sizeof(*inputs); i++)
		inputs[i] = (float)(i % 255) / 127.5f - 1;
	s->request = (struct nnb_request){ .inputs = s->args,
		                           .outputs = s->args + m->n_inputs,
		                           .n_inputs = m->n_inputs,
		                           .n_outputs = m->n_outputs,
		                           .n_pools = 1,
		                           .pools = &s->pool };
}

static void subject_init(struct subject *s, struct bench *b, struct nnb_device *device, struct nnb_model *m)
{
	struct nnb_prepare how = { .preference = 1, .priority = 1 };
	struct nnb_reason reason = { "" };
	char row[64];

	*s = (struct subject){ .model = m };
	snprintf(s->name, sizeof(s->name), "%.39s", m->name);
	if (nnb_prepare(device, m, &how, NULL, &s->prepared, &reason))
		die(s->name, &reason);
	place_all(s);
	snprintf(row, sizeof(row), "%.39s, bare loop", s->name);
	s->bare = bench_row(b, row);
	snprintf(row, sizeof(row), "%.39s, driver", s->name);
	s->driver = bench_row(b, row);
}

static void subject_fini(struct subject *s)
{
	nnb_prepared_unref(s->prepared);
	nnb_mapping_unref(s->mapping);
	nnb_memory_close(&s->pool);
	nnb_model_free(s->model);
}

/* As a burst makes it: the pool's mapping is there already. */
static void run(const struct subject *s, enum times_mode mode)
{
	struct nnb_execution *e;
	struct nnb_reason reason = { "" };
	bool finished;

	times->mode = mode;
	if (nnb_execution_begin(s->prepared, &s->request, &s->mapping, false, NULL, &e, &reason) ||
	    nnb_execution_run(e, NULL, NULL, &finished))
		die(s->name, &reason);
	nnb_execution_end(e);
}

static void measure(struct bench *b, const struct subject *s)
{
	for (int i = 0; i < RUNS; i++) {
		uint64_t began;

		run(s, TIMES_BARE);
		bench_sample(b, s->bare, (double)times->bare_ns);
		run(s, TIMES_OFF); /* the caches are the driver's again */
		began = bench_now();
		run(s, TIMES_OFF);
		bench_sample(b, s->driver, (double)(bench_now() - began));
	}
	bench_round_done(b, s->bare);
	bench_round_done(b, s->driver);
}

/* ---- which models ---- */

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The .tflite files in @dir, owned; those that the library refuses are left out with a line. */
static uint32_t find_files(const char *dir, char *ret[MODELS_MAX])
{
	DIR *d = opendir(dir);
	struct dirent *e;
	uint32_t n = 0;

	if (!d)
		die(dir, NULL);
	while ((e = readdir(d)) && n < MODELS_MAX) {
		size_t length = strlen(e->d_name);

		if (length < 7 || strcmp(e->d_name + length - 7, ".tflite") != 0)
			continue;
		if (asprintf(&ret[n++], "%s/%s", dir, e->d_name) < 0)
			die("memory", NULL);
	}
	closedir(d);
	qsort(ret, n, sizeof(*ret), by_name);
	return n;
}

static uint32_t add_files(const char *dir, struct subject *subjects, uint32_t n, struct bench *b,
                          struct nnb_device *device)
{
	char *files[MODELS_MAX];
	uint32_t found = find_files(dir, files);

	for (uint32_t i = 0; i < found; i++) {
		struct nnb_reason reason = { "" };
		struct nnb_model *m;

		if (nnb_model_load_tflite(&m, files[i], &reason))
			fprintf(stderr, "bench_models: left out: %s\n", reason.text);
		else if (n < MODELS_MAX)
			subject_init(&subjects[n++], b, device, m);
		else
			nnb_model_free(m);
		free(files[i]);
	}
	return n;
}

/* ---- plain kernels ---- */

static int by_runs(const void *a, const void *b)
{
	const uint32_t *x = a, *y = b;

	return times->runs[*x] < times->runs[*y] ? 1 : times->runs[*x] > times->runs[*y] ? -1 : 0;
}

/* For the operations that these models have most of, how many times as long the plain kernel takes. */
static void judge_kernels(struct bench *b, const struct subject *subjects, uint32_t n)
{
	uint32_t ops[TIMES_OPS];
	char name[64];

	for (uint32_t i = 0; i < n; i++)
		for (int k = 0; k < 2; k++) /* the first is to warm up */
			run(&subjects[i], k ? TIMES_EACH : TIMES_OFF);
	for (uint32_t op = 0; op < TIMES_OPS; op++)
		ops[op] = op;
	qsort(ops, TIMES_OPS, sizeof(*ops), by_runs);
	for (uint32_t i = 0; i < MOST_USED && times->runs[ops[i]]; i++) {
		uint32_t op = ops[i];

		snprintf(name, sizeof(name), "kernel / XNNPACK, %s", nnb_op_name(op));
		bench_at_most(b, name, (double)times->kernel_ns[op] / (double)times->xnnpack_ns[op], KERNEL_MOST);
	}
}

/* The operations that are not XNNPACK's. */
static void show_kernels(const struct subject *s)
{
	run(s, TIMES_BARE);
	fprintf(stderr, "bench_models: %.39s: %ju operations; by plain kernels:", s->name,
	        (uintmax_t)times->operations);
	for (uint32_t op = 0; op < TIMES_OPS; op++)
		if (times->by_kernel[op])
			fprintf(stderr, " %s (%ju)", nnb_op_name(op), (uintmax_t)times->by_kernel[op]);
	fprintf(stderr, "\n");
}

int main(int argc, char **argv)
{
	static struct subject subjects[MODELS_MAX];
	struct nnb_reason reason = { "" };
	const char *dir = getenv("NNB_TFLITE_DIR");
	struct nnb_device *device;
	struct bench b;
	char ratio[64];
	uint32_t n = 0;
	void *object;

	bench_open(&b, "models", 9, argc, argv);
	if (nnb_device_open(&device, DRIVER_TIMES, &reason))
		die("device", &reason);
	object = dlopen(DRIVER_TIMES, RTLD_NOW | RTLD_NOLOAD);
	times = object ? dlsym(object, "nnb_times") : NULL;
	if (!times)
		die("driver", NULL);
	subject_init(&subjects[n++], &b, device, mobilenet_new());
	subject_init(&subjects[n++], &b, device, mobilenet_v2_new());
	subject_init(&subjects[n++], &b, device, mobilenet_v3_new());
	if (dir)
		n = add_files(dir, subjects, n, &b, device);
	else
		fprintf(stderr, "bench_models: NNB_TFLITE_DIR names no directory: MobileNets only\n");
	for (unsigned i = 0; i < b.rounds; i++)
		for (uint32_t k = 0; k < n; k++)
			measure(&b, &subjects[k]);
	for (uint32_t k = 0; k < n; k++) {
		show_kernels(&subjects[k]);
		snprintf(ratio, sizeof(ratio), "%.39s, driver / bare loop", subjects[k].name);
		bench_at_most(&b, ratio, bench_ratio(&b, ratio, subjects[k].driver, subjects[k].bare, SIZE_MAX), 1.05);
	}
	judge_kernels(&b, subjects, n);
	for (uint32_t k = 0; k < n; k++)
		subject_fini(&subjects[k]);
	dlclose(object);
	nnb_device_unref(device);
	return bench_close(&b);
}
