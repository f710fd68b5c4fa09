/* tflite.c -- opens .tflite files, and reads the top level of the model. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "model/reason.h"
#include "model/tflite/load.h"
#include "model/tflite/schema.h"

enum { VERSION = 3 };

/* ---- the model ---- */

static void check_count(struct nnb__loading *l, const char *what, uint32_t n)
{
	if (n > NNB_OPERANDS_MAX)
		nnb__tflite_wrong(l, -ENOTSUP, "%u %s are more than %d", n, what, NNB_OPERANDS_MAX);
}

static void read_frame(struct nnb__loading *l)
{
	struct nnb__flat *f = &l->flat;
	struct nnb__flat_table model, graph = { 0 };
	struct nnb__flat_vector graphs;
	int32_t version;

	if (!nnb__flat_is(f, NNB__TFLITE_IDENTIFIER)) {
		nnb__tflite_wrong(l, -EINVAL,
		                  "it is no .tflite file: bytes 4 to 7 are not '" NNB__TFLITE_IDENTIFIER "'");
		return;
	}
	model = nnb__flat_root(f);
	version = nnb__flat_i32(f, model, MODEL_VERSION, 0);
	graphs = nnb__flat_vector(f, model, MODEL_SUBGRAPHS, sizeof(uint32_t));
	nnb__tflite_look(l);
	if (version != VERSION)
		nnb__tflite_wrong(l, -ENOTSUP, "its schema is of version %d, and not %d", version, VERSION);
	if (graphs.n > 1)
		nnb__tflite_wrong(l, -ENOTSUP, "it has %u subgraphs, and a model here has one", graphs.n);
	if (!graphs.n)
		nnb__tflite_wrong(l, -EINVAL, "it has no subgraph");
	if (l->error)
		return;
	graph = nnb__flat_table_of(f, graphs, 0);
	l->codes = nnb__flat_vector(f, model, MODEL_OPERATOR_CODES, sizeof(uint32_t));
	l->buffers = nnb__flat_vector(f, model, MODEL_BUFFERS, sizeof(uint32_t));
	l->tensors = nnb__flat_vector(f, graph, SUBGRAPH_TENSORS, sizeof(uint32_t));
	l->operators = nnb__flat_vector(f, graph, SUBGRAPH_OPERATORS, sizeof(uint32_t));
	l->inputs = nnb__flat_vector(f, graph, SUBGRAPH_INPUTS, sizeof(int32_t));
	l->outputs = nnb__flat_vector(f, graph, SUBGRAPH_OUTPUTS, sizeof(int32_t));
	nnb__tflite_look(l);
	check_count(l, "tensors", l->tensors.n);
	check_count(l, "operators", l->operators.n);
	if (!l->error && !l->operators.n)
		nnb__tflite_wrong(l, -EINVAL, "it has no operator");
}

static bool make_tensors(struct nnb__loading *l)
{
	l->tensor = malloc((l->tensors.n + (size_t)1) * sizeof(*l->tensor));
	for (uint32_t i = 0; l->tensor && i < l->tensors.n; i++)
		l->tensor[i] = (struct nnb__tensor){ NNB__NOWHERE, NNB__NOWHERE, NNB__NOWHERE };
	if (!l->tensor)
		nnb__tflite_kept(l, -ENOMEM);
	return !l->error;
}

/* The operands of the model's inputs or outputs; the caller frees the list. */
static uint32_t *operands_of(struct nnb__loading *l, struct nnb__flat_vector tensors, const char *what)
{
	uint32_t *list = nnb__tflite_listed(l, tensors.n) ? malloc((tensors.n + (size_t)1) * sizeof(*list)) : NULL;

	for (uint32_t i = 0; list && i < tensors.n; i++) {
		list[i] = nnb__tflite_operand(l, nnb__flat_i32_of(&l->flat, tensors, i));
		if (!l->error && l->model->operands[list[i]].lifetime != NNB_TEMPORARY)
			nnb__tflite_wrong(l, -EINVAL, "%s %u is a constant", what, i);
	}
	if (!list)
		nnb__tflite_kept(l, -ENOMEM);
	return list;
}

static void read_model(struct nnb__loading *l)
{
	uint32_t *inputs, *outputs;

	read_frame(l);
	if (l->error || !make_tensors(l))
		return;
	inputs = operands_of(l, l->inputs, "input");
	nnb__tflite_operators(l);
	outputs = operands_of(l, l->outputs, "output");
	nnb__tflite_look(l);
	if (!l->error)
		nnb__tflite_kept(l, nnb_model_finish(l->model, inputs, l->inputs.n, outputs, l->outputs.n));
	free(inputs);
	free(outputs);
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
		nnb_because(reason, "%s", strerror(-r));
		return r;
	}
	mark = nnb_mapping_mark(mapping);
	l.flat.bytes = nnb_mapping_data(mapping);
	l.flat.n = (uint32_t)nnb_mapping_size(mapping);
	nnb__tflite_kept(&l, nnb_model_new(&l.model, name, NNB_HAL_1_3));
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

/* The model's name: "my" for "my.tflite", cut off if it is too long. */
static void name_after(char to[NNB_NAME_MAX], const char *base)
{
	size_t n = strlen(base);

	if (n > 7 && strcmp(base + n - 7, ".tflite") == 0)
		n -= 7;
	snprintf(to, NNB_NAME_MAX, "%.*s", (int)(n < NNB_NAME_MAX ? n : NNB_NAME_MAX - 1), base);
	for (; *to; to++)
		if (*to < 0x20 || *to > 0x7e)
			*to = '?';
}

/* Open the file as a pool, which keeps its own descriptor. */
static int open_file(struct nnb_memory *ret, const char *path, struct nnb_reason *reason)
{
	/* O_NONBLOCK: opening a FIFO would wait for its writer */
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY), r = 0;
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0) {
		r = -errno;
		nnb_because(reason, "%s", strerror(-r));
	} else if (!S_ISREG(st.st_mode) || !st.st_size) {
		r = -EINVAL;
		nnb_because(reason, S_ISREG(st.st_mode) ? "it is empty" : "it is no regular file");
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
	char name[NNB_NAME_MAX];
	struct nnb_memory file;
	int r = open_file(&file, path, reason);

	name_after(name, base);
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
