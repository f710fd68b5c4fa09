/* tflite.c -- opens .tflite files, and reads the top level of the model. */
#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/regular.h"
#include "model/reason.h"
#include "model/tflite/load.h"
#include "model/tflite/schema.h"

enum { VERSION = 3, GRAPHS_MAX = 256 };

/* ---- the model ---- */

static void check_count(struct nnb__loading *l, const char *what, uint32_t n)
{
	if (n > NNB_OPERANDS_MAX)
		nnb__tflite_wrong(l, -ENOTSUP, "%u %s are more than %d", n, what, NNB_OPERANDS_MAX);
}

static void read_frame(struct nnb__loading *l)
{
	struct nnb__flat *f = &l->flat;
	struct nnb__flat_table model;
	int32_t version;

	if (!nnb__flat_is(f, NNB__TFLITE_IDENTIFIER)) {
		nnb__tflite_wrong(l, -EINVAL,
		                  "it is not a .tflite file: bytes 4 to 7 are not '" NNB__TFLITE_IDENTIFIER "'");
		return;
	}
	model = nnb__flat_root(f);
	version = nnb__flat_i32(f, model, MODEL_VERSION, 0);
	l->graphs = nnb__flat_vector(f, model, MODEL_SUBGRAPHS, sizeof(uint32_t));
	l->codes = nnb__flat_vector(f, model, MODEL_OPERATOR_CODES, sizeof(uint32_t));
	l->buffers = nnb__flat_vector(f, model, MODEL_BUFFERS, sizeof(uint32_t));
	nnb__tflite_check_form(l);
	if (version != VERSION)
		nnb__tflite_wrong(l, -ENOTSUP, "its schema is of version %d, and not %d", version, VERSION);
	if (l->graphs.n > GRAPHS_MAX)
		nnb__tflite_wrong(l, -ENOTSUP, "it has %u subgraphs, more than %d", l->graphs.n, GRAPHS_MAX);
	if (!l->graphs.n)
		nnb__tflite_wrong(l, -EINVAL, "it has no subgraph");
}

/* From here on, subgraph @graph is in progress. */
static void open_graph(struct nnb__loading *l, uint32_t graph)
{
	struct nnb__flat *f = &l->flat;
	struct nnb__flat_table table = nnb__flat_table_of(f, l->graphs, graph);

	assert(graph < l->graphs.n);
	l->graph = graph;
	l->tensors = nnb__flat_vector(f, table, SUBGRAPH_TENSORS, sizeof(uint32_t));
	l->operators = nnb__flat_vector(f, table, SUBGRAPH_OPERATORS, sizeof(uint32_t));
	l->inputs = nnb__flat_vector(f, table, SUBGRAPH_INPUTS, sizeof(int32_t));
	l->outputs = nnb__flat_vector(f, table, SUBGRAPH_OUTPUTS, sizeof(int32_t));
	nnb__tflite_check_form(l);
	check_count(l, "tensors", l->tensors.n);
	check_count(l, "operators", l->operators.n);
	/* a file can name one subgraph many times */
	if (graph && !l->error)
		nnb__tflite_charge_list(l, l->tensors.n + l->operators.n);
}

static bool is_listed(const uint32_t *list, uint32_t n, uint32_t operand)
{
	for (uint32_t i = 0; i < n; i++)
		if (list[i] == operand)
			return true;
	return false;
}

/* Add an operation that copies @operand. Returns the copy. */
static uint32_t copy_of(struct nnb__loading *l, uint32_t operand)
{
	struct nnb_operand o;
	uint32_t copy;

	assert(operand < l->model->n_operands);
	o = l->model->operands[operand];
	o.lifetime = NNB_TEMPORARY;
	copy = nnb__tflite_keep_error(l, nnb_model_operand(l->model, &o));
	if (!l->error)
		nnb__tflite_keep_error(l, nnb_model_operation(l->model, NNB_CAST, &operand, 1, &copy, 1));
	return copy;
}

/*
 * The operands of the graph's outputs; the caller frees the list. In a .tflite file a subgraph may return an input or
 * a constant. The HAL does not allow that, so the loader adds a copy.
 */
static uint32_t *outputs_of(struct nnb__loading *l, const uint32_t *inputs)
{
	struct nnb__flat_vector tensors = l->outputs;
	uint64_t looks = (uint64_t)tensors.n * (l->inputs.n + (uint64_t)tensors.n);
	uint32_t *list = NULL;

	if (nnb__tflite_charge_list(l, looks > UINT32_MAX ? UINT32_MAX : (uint32_t)looks))
		list = malloc((tensors.n + (size_t)1) * sizeof(*list));
	for (uint32_t i = 0; list && !l->error && i < tensors.n; i++) {
		list[i] = nnb__tflite_operand(l, nnb__flat_i32_of(&l->flat, tensors, i));
		if (!l->error && (l->model->operands[list[i]].lifetime != NNB_TEMPORARY ||
		                  is_listed(inputs, l->inputs.n, list[i]) || is_listed(list, i, list[i])))
			list[i] = copy_of(l, list[i]);
	}
	if (!list)
		nnb__tflite_keep_error(l, -ENOMEM);
	return list;
}

/* Read the subgraph in progress into l->model. */
static void read_graph(struct nnb__loading *l)
{
	uint32_t *inputs, *outputs = NULL;
	struct nnb__flat_vector tensors;

	if (l->error)
		return;
	free(l->tensor);
	l->tensor = malloc((l->tensors.n + (size_t)1) * sizeof(*l->tensor));
	for (uint32_t i = 0; l->tensor && i < l->tensors.n; i++)
		l->tensor[i] = (struct nnb__tensor){ NNB__NOWHERE, NNB__NOWHERE, NNB__NOWHERE, 0, false };
	if (!l->tensor) {
		nnb__tflite_keep_error(l, -ENOMEM);
		return;
	}
	/* the operands of the graph's inputs */
	tensors = l->inputs;
	inputs = nnb__tflite_charge_list(l, tensors.n) ? malloc((tensors.n + (size_t)1) * sizeof(*inputs)) : NULL;
	for (uint32_t i = 0; inputs && i < tensors.n; i++) {
		inputs[i] = nnb__tflite_operand(l, nnb__flat_i32_of(&l->flat, tensors, i));
		if (!l->error && l->model->operands[inputs[i]].lifetime != NNB_TEMPORARY)
			nnb__tflite_wrong(l, -EINVAL, "input %u is a constant", i);
	}
	if (!inputs)
		nnb__tflite_keep_error(l, -ENOMEM);
	nnb__tflite_operators(l);
	if (!l->error)
		outputs = outputs_of(l, inputs);
	nnb__tflite_check_form(l);
	if (!l->error && !l->model->n_operations)
		nnb__tflite_wrong(l, -EINVAL, "it has no operator");
	if (!l->error)
		nnb__tflite_keep_error(l, nnb_model_finish(l->model, inputs, l->inputs.n, outputs, l->outputs.n));
	free(inputs);
	free(outputs);
}

static void read_model(struct nnb__loading *l)
{
	struct nnb_model *main = l->model;

	read_frame(l);
	if (!l->error) {
		bool runs[GRAPHS_MAX] = { true };

		/* Check that IF and WHILE run every subgraph but the first: otherwise the file holds several models. */
		for (uint32_t j = 0; l->graphs.n > 1 && !l->error && j < l->graphs.n; j++) {
			open_graph(l, j);
			nnb__tflite_mark_run(l, runs);
		}
		l->graph = 0;
		for (uint32_t j = 1; !l->error && j < l->graphs.n; j++)
			if (!runs[j])
				nnb__tflite_wrong(l, -ENOTSUP,
				                  "it has %u subgraphs, and no IF or WHILE runs subgraph %u: it is "
				                  "several models",
				                  l->graphs.n, j);
	}
	if (!l->error)
		open_graph(l, 0);
	read_graph(l);
	for (uint32_t i = 1; !l->error && i < l->graphs.n; i++) {
		/* the model refers to this subgraph */
		open_graph(l, i);
		l->pool = NNB__NOWHERE;
		l->model = NULL;
		nnb__tflite_keep_error(l, nnb_model_new(&l->model, "", NNB_HAL_1_3));
		read_graph(l);
		if (!l->error)
			nnb__tflite_keep_error(l, nnb_model_refer(main, l->model));
		nnb_model_free(l->model);
	}
	l->model = main;
}

/* Load a model. @file: a pool that consists of the file's bytes. */
static int model_load(struct nnb_model **ret, const struct nnb_memory *file, const char *name,
                      struct nnb_reason *reason)
{
	struct nnb_reason why = { "" };
	struct nnb__loading l = { .reason = &why, .file = file, .pool = NNB__NOWHERE, .taken = NNB__NOWHERE };
	struct nnb_mapping *mapping;
	uint32_t mark;
	int r = nnb_map(&mapping, file);

	if (r) {
		nnb_because(reason, "its %" PRIu64 " bytes cannot be mapped: %s", file->size, strerror(-r));
		return r;
	}
	mark = nnb_mapping_mark(mapping);
	l.flat.bytes = nnb_mapping_data(mapping);
	l.flat.n = (uint32_t)nnb_mapping_size(mapping);
	nnb__tflite_keep_error(&l, nnb_model_new(&l.model, name, NNB_HAL_1_3));
	if (!l.error)
		read_model(&l);
	if (nnb_mapping_torn(mapping, mark)) {
		l.error = -EINVAL;
		nnb_because(&why, "it was cut short while it was read");
	}
	nnb_mapping_unref(mapping);
	free(l.tensor);
	if (l.error) {
		nnb_model_free(l.model);
		nnb_because(reason, "%s", why.text);
	} else {
		*ret = l.model;
		if (l.n_widened)
			nnb_because(reason,
			            "%u constants of float16 or of bytes are kept as float32, which takes %" PRIu64
			            " bytes",
			            l.n_widened, l.widened);
	}
	return l.error;
}

/* ---- files ---- */

/* Open the file as a pool, which keeps its own descriptor. */
static int open_file(struct nnb_memory *ret, const char *path, struct nnb_reason *reason)
{
	int fd = nnb__regular_open(path), r = 0;
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0) {
		r = fd == -EISDIR ? -EINVAL : fd < 0 ? fd : -errno;
		nnb_because(reason, "%s", nnb__regular_error(r));
	} else if (!st.st_size) {
		r = -EINVAL;
		nnb_because(reason, "it is empty");
	} else if ((uint64_t)st.st_size > UINT32_MAX) {
		r = -EFBIG;
		nnb_because(reason, "it is larger than 4 GiB, beyond which no constant can be named");
	} else {
		r = nnb_memory_mmap_fd(ret, fd, (uint64_t)st.st_size, PROT_READ, 0);
		if (r)
			nnb_because(reason, "%s", strerror(-r));
	}
	if (fd >= 0)
		close(fd);
	return r;
}

int nnb_model_load_tflite(struct nnb_model **ret, const char *path, struct nnb_reason *reason)
{
	const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
	size_t n = strlen(base);
	char name[NNB_NAME_MAX];
	struct nnb_memory file;
	int r = open_file(&file, path, reason);

	/* The model's name: "my" for "my.tflite", cut off if it is too long. */
	if (n > 7 && strcmp(base + n - 7, ".tflite") == 0)
		n -= 7;
	snprintf(name, sizeof(name), "%.*s", (int)(n < NNB_NAME_MAX ? n : NNB_NAME_MAX - 1), base);
	for (char *c = name; *c; c++)
		if (*c < 0x20 || *c > 0x7e)
			*c = '?';
	if (!r) {
		r = model_load(ret, &file, name, reason);
		nnb_memory_close(&file);
	}
	if (r || (reason && reason->text[0]))
		/* @base is shortened, because the place in the file needs the room */
		nnb__within(reason, "%.60s", base);
	return r;
}

int nnb_model_parse_tflite(struct nnb_model **ret, const void *bytes, size_t n, const char *name,
                           struct nnb_reason *reason)
{
	struct nnb_mapping *mapping;
	struct nnb_memory copy;
	int r = n > UINT32_MAX ? -EFBIG : n ? nnb_memory_ashmem(&copy, n) : -EINVAL;

	if (r) {
		nnb_because(reason, "%s", n ? strerror(-r) : "it is empty");
		return r;
	}
	r = nnb_map(&mapping, &copy);
	if (r) {
		nnb_because(reason, "%s", strerror(-r));
	} else {
		memcpy(nnb_mapping_data(mapping), bytes, n);
		nnb_mapping_unref(mapping);
		r = model_load(ret, &copy, name, reason);
	}
	nnb_memory_close(&copy);
	return r;
}
