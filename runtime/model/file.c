/*
 * file.c -- reads model files: JSON of the form that nnb_model(5) describes.
 *
 * TRUST     The text is untrusted. jansson parses all of it first, with a bound on depth. No allocation depends on a
 *           number in the text, only on the length of a list that exists. A value that does not fit the struct is
 *           refused with its place; nnb_model_validate checks what the values mean together.
 */
#include "nnb/model.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/regular.h"
#include "model/constants.h"
#include "model/json.h"
#include "model/parts.h"
#include "model/reason.h"

enum {
	TEXT_MAX = 256 << 20, /* bytes; reading needs 20 times as much memory */
	READ_FIRST = 64 << 10
};

/* A file that is being read. */
struct reading {
	struct nnb_reason *reason;
	json_t *root;
	struct nnb_model_file *file;
	struct nnb_model *model; /* owned; the result */
	struct nnb__constants constants;
};

/* Read the list of indexes @at->key of @object to *ret and *ret_n. The indexes may still be out of range. */
static int read_indexes(const struct reading *r, const struct nnb__place *at, const json_t *object, uint32_t **ret,
                        uint32_t *ret_n)
{
	const json_t *list = nnb__json_member(r->reason, at, object, JSON_ARRAY);
	size_t n = json_array_size(list);
	uint32_t *all;

	if (!list)
		return -EINVAL;
	if (n > NNB_OPERANDS_MAX)
		return nnb__json_wrong(r->reason, at, -EINVAL, "%zu are more than %d", n, NNB_OPERANDS_MAX);
	all = n ? calloc(n, sizeof(*all)) : NULL;
	if (n && !all)
		return nnb__no_memory(r->reason);
	*ret = all; /* the model owns the list from here on */
	*ret_n = (uint32_t)n;
	for (size_t i = 0; i < n; i++) {
		struct nnb__place here = { at, NULL, i };
		int64_t index;
		int s = nnb__json_integer(r->reason, &here, json_array_get(list, i), 0, UINT32_MAX, &index);

		if (s < 0)
			return s;
		all[i] = (uint32_t)index;
	}
	return 0;
}

/* ---- operands ---- */

/* Read which of the file's subgraphs the operand refers to: a list of one index. */
static int read_reference(const struct reading *r, const struct nnb__place *at, const json_t *value,
                          struct nnb_operand *o)
{
	struct nnb__place here = { at, NULL, 0 };
	int64_t index;
	int s = nnb__json_want(r->reason, at, value, JSON_ARRAY);

	if (s == 0 && json_array_size(value) != 1)
		return nnb__json_wrong(r->reason, at, -EINVAL, "%zu indexes of subgraphs instead of one",
		                       json_array_size(value));
	if (s == 0)
		s = nnb__json_integer(r->reason, &here, json_array_get(value, 0), 0, UINT32_MAX, &index);
	if (s == 0)
		o->location.offset = (uint32_t)index;
	return s;
}

static int read_value(struct reading *r, const struct nnb__place *at, const json_t *operand, struct nnb_operand *o)
{
	struct nnb__place here = { at, "value", 0 };
	const json_t *value = json_object_get(operand, "value");
	bool constant = nnb__is_constant(o);

	if (o->lifetime == NNB_LIFETIME_SUBGRAPH)
		return read_reference(r, &here, value, o);
	if (!constant && (!value || json_is_null(value) || (json_is_array(value) && !json_array_size(value))))
		return 0;
	if (!constant)
		return nnb__json_wrong(r->reason, &here, -EINVAL, "a %s has none", nnb_lifetime_name(o->lifetime));
	return nnb__constants_add(&r->constants, &here, value, o);
}

static int read_lifetime(const struct reading *r, const struct nnb__place *at, const json_t *operand, uint32_t *ret)
{
	struct nnb__place here = { at, "lifetime", 0 };
	const json_t *name = nnb__json_member(r->reason, &here, operand, JSON_STRING);
	const char *lifetime;

	if (!name)
		return -EINVAL;
	lifetime = json_string_value(name);
	if (strncmp(lifetime, "SUBGRAPH_", 9) == 0) /* HAL 1.3's name for the same lifetime */
		lifetime = strcmp(lifetime, "SUBGRAPH_INPUT") == 0    ? "MODEL_INPUT"
		           : strcmp(lifetime, "SUBGRAPH_OUTPUT") == 0 ? "MODEL_OUTPUT"
		                                                      : lifetime;
	for (uint32_t i = NNB_TEMPORARY; i <= NNB_LIFETIME_SUBGRAPH; i++)
		if (strcmp(lifetime, nnb_lifetime_name(i)) == 0) {
			*ret = i;
			return 0;
		}
	return nnb__json_wrong(r->reason, &here, -EINVAL, "no lifetime %.80s", json_string_value(name));
}

/* Read the name at @at->key. -ENOTSUP: the name is not one that this library knows. */
static int known_name(const struct reading *r, const struct nnb__place *at, const json_t *object,
                      int (*from_name)(const char *, uint32_t *), const char *what, uint32_t *ret)
{
	const json_t *name = nnb__json_member(r->reason, at, object, JSON_STRING);

	if (!name)
		return -EINVAL;
	if (from_name(json_string_value(name), ret) < 0)
		return nnb__json_wrong(r->reason, at, -ENOTSUP, "no %s %.80s here", what, json_string_value(name));
	return 0;
}

static int read_dims(const struct reading *r, const struct nnb__place *at, const json_t *operand, struct nnb_operand *o)
{
	struct nnb__place here = { at, "dims", 0 };
	const json_t *dims = nnb__json_member(r->reason, &here, operand, JSON_ARRAY);
	size_t n = json_array_size(dims);

	if (!dims)
		return -EINVAL;
	if (n > NNB_RANK_MAX)
		return nnb__json_wrong(r->reason, &here, -EINVAL, "%zu are more than %d", n, NNB_RANK_MAX);
	o->rank = (uint32_t)n;
	for (size_t i = 0; i < n; i++) {
		struct nnb__place each = { &here, NULL, i };
		int64_t extent;
		int s = nnb__json_integer(r->reason, &each, json_array_get(dims, i), 0, UINT32_MAX, &extent);

		if (s < 0)
			return s;
		o->dims[i] = (uint32_t)extent;
	}
	return 0;
}

static int read_quantization(const struct reading *r, const struct nnb__place *at, const json_t *operand,
                             struct nnb_operand *o)
{
	struct nnb__place scale_place = { at, "scale", 0 };
	struct nnb__place zero_place = { at, "zero_point", 0 };
	const json_t *scale = json_object_get(operand, "scale");
	const json_t *zero = json_object_get(operand, "zero_point");
	int64_t zero_point = 0;
	int s = 0;

	if (scale)
		s = nnb__json_real(r->reason, &scale_place, scale, &o->scale);
	if (s == 0 && zero)
		s = nnb__json_integer(r->reason, &zero_place, zero, INT32_MIN, INT32_MAX, &zero_point);
	o->zero_point = (int32_t)zero_point;
	return s;
}

static int read_channels(struct reading *r, const struct nnb__place *at, const json_t *operand, struct nnb_operand *o)
{
	struct nnb__place dim_place = { at, "channel_dim", 0 };
	struct nnb__place scales_place = { at, "scales", 0 };
	const json_t *dim = json_object_get(operand, "channel_dim");
	const json_t *scales = json_object_get(operand, "scales");
	int64_t channel_dim = 0;
	int s = dim ? nnb__json_integer(r->reason, &dim_place, dim, 0, NNB_RANK_MAX - 1, &channel_dim) : 0;

	o->channel_dim = (uint32_t)channel_dim;
	if (s == 0 && scales)
		s = nnb__json_want(r->reason, &scales_place, scales, JSON_ARRAY);
	if (s == 0 && json_array_size(scales))
		s = nnb__constants_scales(&r->constants, &scales_place, scales, o);
	return s;
}

/* A graph in the file: the main one or a subgraph. Its owner frees the arrays, also after a failure. */
struct graph_place {
	const struct nnb__place *at; /* NULL: the top level of the file */
	const json_t *json;
};

static int read_operands(struct reading *r, const struct graph_place *from, struct nnb_subgraph *m)
{
	struct nnb__place here = { from->at, "operands", 0 };
	const json_t *list = nnb__json_member(r->reason, &here, from->json, JSON_ARRAY);
	size_t n = json_array_size(list);
	int s = 0;

	if (!list)
		return -EINVAL;
	if (n > NNB_OPERANDS_MAX)
		return nnb__json_wrong(r->reason, &here, -EINVAL, "%zu are more than %d", n, NNB_OPERANDS_MAX);
	m->operands = n ? calloc(n, sizeof(*m->operands)) : NULL;
	if (n && !m->operands)
		return nnb__no_memory(r->reason);
	m->n_operands = (uint32_t)n;
	for (uint32_t i = 0; i < n && s == 0; i++) {
		struct nnb__place each = { &here, NULL, i };
		const json_t *operand = json_array_get(list, i);
		struct nnb_operand *o = &m->operands[i];
		struct nnb__place type_place = { &each, "type", 0 };

		s = nnb__json_want(r->reason, &each, operand, JSON_OBJECT);
		if (s == 0)
			s = known_name(r, &type_place, operand, nnb_type_from_name, "type", &o->type);
		if (s == 0)
			s = read_dims(r, &each, operand, o);
		if (s == 0)
			s = read_quantization(r, &each, operand, o);
		if (s == 0)
			s = read_channels(r, &each, operand, o);
		if (s == 0)
			s = read_lifetime(r, &each, operand, &o->lifetime);
		if (s == 0)
			s = read_value(r, &each, operand, o);
	}
	return s;
}

/* ---- operations ---- */

static int read_operations(struct reading *r, const struct graph_place *from, struct nnb_subgraph *m)
{
	struct nnb__place here = { from->at, "operations", 0 };
	const json_t *list = nnb__json_member(r->reason, &here, from->json, JSON_ARRAY);
	size_t n = json_array_size(list);
	int s = 0;

	if (!list)
		return -EINVAL;
	if (n > NNB_OPERANDS_MAX)
		return nnb__json_wrong(r->reason, &here, -EINVAL, "%zu are more than %d", n, NNB_OPERANDS_MAX);
	m->operations = n ? calloc(n, sizeof(*m->operations)) : NULL;
	if (n && !m->operations)
		return nnb__no_memory(r->reason);
	m->n_operations = (uint32_t)n;
	for (uint32_t i = 0; i < n && s == 0; i++) {
		struct nnb__place each = { &here, NULL, i };
		const json_t *operation = json_array_get(list, i);
		struct nnb_operation *o = &m->operations[i];
		struct nnb__place type_place = { &each, "type", 0 };
		struct nnb__place inputs_place = { &each, "inputs", 0 };
		struct nnb__place outputs_place = { &each, "outputs", 0 };

		s = nnb__json_want(r->reason, &each, operation, JSON_OBJECT);
		if (s == 0)
			s = known_name(r, &type_place, operation, nnb_op_from_name, "operation", &o->type);
		if (s == 0)
			s = read_indexes(r, &inputs_place, operation, &o->inputs, &o->n_inputs);
		if (s == 0)
			s = read_indexes(r, &outputs_place, operation, &o->outputs, &o->n_outputs);
	}
	return s;
}

static int read_graph(struct reading *r, const struct graph_place *from, struct nnb_subgraph *ret)
{
	struct nnb__place inputs_place = { from->at, "inputs", 0 };
	struct nnb__place outputs_place = { from->at, "outputs", 0 };
	int s = from->at ? nnb__json_want(r->reason, from->at, from->json, JSON_OBJECT) : 0;

	if (s == 0)
		s = read_operands(r, from, ret);
	if (s == 0)
		s = read_operations(r, from, ret);
	if (s == 0)
		s = read_indexes(r, &inputs_place, from->json, &ret->inputs, &ret->n_inputs);
	if (s == 0)
		s = read_indexes(r, &outputs_place, from->json, &ret->outputs, &ret->n_outputs);
	if (s == 0) {
		/* Count each operand's consumers, which a file does not state (O-13). Validation refuses indexes out
		 * of range. */
		for (uint32_t i = 0; i < ret->n_operations; i++)
			for (uint32_t k = 0; k < ret->operations[i].n_inputs; k++)
				if (ret->operations[i].inputs[k] < ret->n_operands)
					ret->operands[ret->operations[i].inputs[k]].consumers++;
	}
	return s;
}

static int read_referenced(struct reading *r)
{
	struct nnb_model *m = r->model;
	struct nnb__place here = { NULL, "referenced", 0 };
	const json_t *list = json_object_get(r->root, "referenced");
	size_t n = json_array_size(list);
	int s = list ? nnb__json_want(r->reason, &here, list, JSON_ARRAY) : 0;

	if (s < 0 || !n)
		return s;
	if (n > NNB_OPERANDS_MAX)
		return nnb__json_wrong(r->reason, &here, -EINVAL, "%zu are more than %d", n, NNB_OPERANDS_MAX);
	m->referenced = calloc(n, sizeof(*m->referenced));
	if (!m->referenced)
		return nnb__no_memory(r->reason);
	m->n_referenced = (uint32_t)n;
	for (uint32_t i = 0; i < n && s == 0; i++) {
		struct nnb__place each = { &here, NULL, i };
		struct graph_place from = { &each, json_array_get(list, i) };

		s = read_graph(r, &from, &m->referenced[i]);
	}
	return s;
}

/* ---- examples ---- */

/* Read one input or output of an example. @buffer stays NULL where the file has null. */
static int read_data(const struct reading *r, const struct nnb__place *at, const json_t *list, uint32_t index,
                     void **buffer, size_t *ret_bytes)
{
	const struct nnb_model *m = r->model;
	const struct nnb_operand *o;
	size_t bytes;
	int s;

	if (json_is_null(list))
		return 0;
	if (!json_is_array(list))
		return nnb__json_wrong(r->reason, at, -EINVAL, "neither a list nor null");
	if (index >= m->n_operands)
		return nnb__json_wrong(r->reason, at, -EINVAL, "is for operand %u, and there are %u", index,
		                       m->n_operands);
	o = &m->operands[index];
	s = nnb__list_bytes(r->reason, at, list, o, true, &bytes);
	if (s < 0)
		return s;
	*buffer = malloc(bytes ? bytes : 1);
	if (!*buffer)
		return nnb__no_memory(r->reason);
	*ret_bytes = bytes;
	return nnb__list_convert(r->reason, at, list, o->type, *buffer);
}

/* Read the inputs or outputs of an example: as many buffers as the model has inputs or outputs. */
static int read_buffers(const struct reading *r, const struct nnb__place *at, const json_t *example, bool inputs,
                        void ***ret, size_t **ret_bytes)
{
	struct nnb__place here = { at, inputs ? "inputs" : "outputs", 0 };
	const json_t *lists = nnb__json_member(r->reason, &here, example, JSON_ARRAY);
	uint32_t n = inputs ? r->model->n_inputs : r->model->n_outputs;
	const uint32_t *operands = inputs ? r->model->inputs : r->model->outputs;
	int s = 0;

	if (!lists)
		return -EINVAL;
	if (json_array_size(lists) != n)
		return nnb__json_wrong(r->reason, &here, -EINVAL, "%zu, but the model has %u", json_array_size(lists),
		                       n);
	*ret = calloc(n ? n : 1, sizeof(**ret));
	*ret_bytes = calloc(n ? n : 1, sizeof(**ret_bytes));
	if (!*ret || !*ret_bytes)
		return nnb__no_memory(r->reason);
	for (uint32_t i = 0; i < n && s == 0; i++) {
		struct nnb__place each = { &here, NULL, i };
		const json_t *list = json_array_get(lists, i);

		if (inputs && json_is_array(list) &&
		    !json_array_size(list)) /* D-6: an empty list is an omitted input */
			continue;
		s = read_data(r, &each, list, operands[i], &(*ret)[i], &(*ret_bytes)[i]);
	}
	return s;
}

static int read_examples(struct reading *r)
{
	struct nnb__place here = { NULL, "examples", 0 };
	const json_t *list = json_object_get(r->root, "examples");
	size_t n = json_array_size(list);
	int s = 0;

	if (!list)
		return 0;
	if (nnb__json_want(r->reason, &here, list, JSON_ARRAY) < 0)
		return -EINVAL;
	r->file->examples = n ? calloc(n, sizeof(*r->file->examples)) : NULL;
	if (n && !r->file->examples)
		return nnb__no_memory(r->reason);
	r->file->n_examples = (uint32_t)n;
	for (size_t i = 0; i < n && s == 0; i++) {
		struct nnb__place each = { &here, NULL, i };
		struct nnb_example *e = &r->file->examples[i];
		const json_t *json = json_array_get(list, i);

		s = nnb__json_want(r->reason, &each, json, JSON_OBJECT);
		if (s == 0)
			s = read_buffers(r, &each, json, true, &e->inputs, &e->input_bytes);
		if (s == 0)
			s = read_buffers(r, &each, json, false, &e->outputs, &e->output_bytes);
	}
	return s;
}

/* ---- the file ---- */

/* Read the model's name. A long name is cut off between two UTF-8 characters. */
static int read_name(const struct reading *r)
{
	struct nnb__place here = { NULL, "name", 0 };
	const json_t *json = nnb__json_member(r->reason, &here, r->root, JSON_STRING);
	const char *name = json_string_value(json);
	size_t n = json_string_length(json);

	if (!json)
		return -EINVAL;
	if (n > NNB_NAME_MAX - 1)
		for (n = NNB_NAME_MAX - 1; (name[n] & 0xc0) == 0x80;)
			n--;
	memset(r->model->name, 0, sizeof(r->model->name));
	memcpy(r->model->name, name, n);
	return 0;
}

static int hal_from_name(const char *name, uint32_t *ret)
{
	static const struct {
		const char *name;
		enum nnb_hal hal;
	} hals[] = {
		{ "V1_0", NNB_HAL_1_0 }, { "V1_1", NNB_HAL_1_1 }, { "V1_2", NNB_HAL_1_2 }, { "V1_3", NNB_HAL_1_3 }
	};

	for (size_t i = 0; i < sizeof(hals) / sizeof(hals[0]); i++)
		if (strcmp(name, hals[i].name) == 0) {
			*ret = hals[i].hal;
			return 0;
		}
	return -ENOENT;
}

static int read_head(const struct reading *r)
{
	struct nnb__place hal_place = { NULL, "hal", 0 };
	struct nnb__place relaxed_place = { NULL, "relaxed", 0 };
	struct nnb__place failure_place = { NULL, "expect_failure", 0 };
	const json_t *relaxed = json_object_get(r->root, "relaxed");
	const json_t *failure = json_object_get(r->root, "expect_failure");
	int s = 0;

	if (!json_is_object(r->root))
		return nnb__json_wrong(r->reason, NULL, -EINVAL, "the file is not an object");
	if (json_object_get(r->root, "hal"))
		s = known_name(r, &hal_place, r->root, hal_from_name, "HAL", &r->model->hal);
	if (s == 0 && relaxed)
		s = nnb__json_want(r->reason, &relaxed_place, relaxed, JSON_TRUE);
	r->model->relaxed = json_is_true(relaxed);
	if (s == 0 && failure)
		s = nnb__json_want(r->reason, &failure_place, failure, JSON_TRUE);
	r->file->expect_failure = json_is_true(failure);
	return s < 0 ? s : read_name(r);
}

static int read_text(struct reading *r, const char *text, size_t bytes)
{
	json_error_t error = { .text = "" };

	if (bytes > TEXT_MAX)
		return nnb__json_wrong(r->reason, NULL, -EFBIG,
		                       "more than %d MiB of text: keep the values in a file beside it", TEXT_MAX >> 20);
	r->root = json_loadb(text, bytes, JSON_REJECT_DUPLICATES, &error);
	if (r->root)
		return 0;
	if (!*error.text || json_error_code(&error) == json_error_out_of_memory)
		return nnb__no_memory(r->reason);
	return nnb__json_wrong(r->reason, NULL, -EINVAL, "line %d, column %d: %s", error.line, error.column,
	                       error.text);
}

static int read_all(struct reading *r, const char *text, size_t bytes)
{
	struct nnb_model *m;
	int s = read_text(r, text, bytes);

	if (s < 0)
		return s;
	r->file = calloc(1, sizeof(*r->file));
	if (!r->file || nnb_model_new(&r->file->model, "", NNB_HAL_1_0) < 0)
		return nnb__no_memory(r->reason);
	m = r->model = r->file->model;
	r->constants.model = m;
	s = read_head(r);
	if (s == 0) {
		struct graph_place from = { NULL, r->root };
		struct nnb_subgraph graph = { 0 };

		s = read_graph(r, &from, &graph);
		r->model->n_operands = graph.n_operands;
		r->model->n_operations = graph.n_operations;
		r->model->n_inputs = graph.n_inputs;
		r->model->n_outputs = graph.n_outputs;
		r->model->operands = graph.operands;
		r->model->operations = graph.operations;
		r->model->inputs = graph.inputs;
		r->model->outputs = graph.outputs;
	}
	if (s == 0)
		s = read_referenced(r);
	if (s == 0)
		s = read_examples(r);
	if (s == 0)
		s = nnb__constants_place(&r->constants);
	return s;
}

int nnb_model_file_parse(struct nnb_model_file **ret, const char *text, size_t bytes, const char *dir,
                         struct nnb_reason *reason)
{
	struct reading r = { .reason = reason };
	int s;

	nnb__constants_init(&r.constants, dir, reason);
	s = read_all(&r, text, bytes);
	if (s == 0) {
		*ret = r.file;
		r.file = NULL;
	}
	json_decref(r.root);
	nnb__constants_fini(&r.constants);
	nnb_model_file_free(r.file);
	return s;
}

/* ---- reading ---- */

/* Read the whole of @fd, up to one byte beyond the limit, so that a longer text is noticed. *ret is owned. */
static int read_whole(int fd, char **ret, size_t *ret_bytes)
{
	size_t room = READ_FIRST;
	size_t bytes = 0;
	char *text = malloc(room);

	while (text) {
		ssize_t got = read(fd, text + bytes, room - bytes);
		char *larger;

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0) {
			int error = errno;

			free(text);
			return -error;
		}
		bytes += (size_t)got;
		if (!got || bytes > TEXT_MAX) {
			*ret = text;
			*ret_bytes = bytes;
			return 0;
		}
		if (bytes < room)
			continue;
		room *= 2;
		larger = realloc(text, room);
		if (!larger)
			free(text);
		text = larger;
	}
	return -ENOMEM;
}

/* The directory that contains @path; the caller frees it. */
static char *directory_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	if (!slash)
		return strdup(".");
	return slash == path ? strdup("/") : strndup(path, (size_t)(slash - path));
}

int nnb_model_file_read(struct nnb_model_file **ret, const char *path, struct nnb_reason *reason)
{
	char *dir = directory_of(path);
	char *text = NULL;
	size_t bytes = 0;
	int fd = nnb__regular_open(path);
	int s = fd < 0 ? fd : read_whole(fd, &text, &bytes);

	if (fd >= 0)
		close(fd);
	if (s == 0 && !dir)
		s = -ENOMEM;
	if (s < 0)
		nnb_because(reason, "%s: %s", path, nnb__regular_error(s));
	else {
		s = nnb_model_file_parse(ret, text, bytes, dir, reason);
		if (s < 0)
			nnb__within(reason, "%s", path);
	}
	free(text);
	free(dir);
	return s;
}

static void free_buffers(void **buffers, uint32_t n)
{
	for (uint32_t i = 0; buffers && i < n; i++)
		free(buffers[i]);
	free(buffers);
}

struct nnb_model_file *nnb_model_file_free(struct nnb_model_file *file)
{
	if (!file)
		return NULL;
	for (uint32_t i = 0; i < file->n_examples; i++) {
		struct nnb_example *e = &file->examples[i];

		free_buffers(e->inputs, file->model->n_inputs);
		free_buffers(e->outputs, file->model->n_outputs);
		free(e->input_bytes);
		free(e->output_bytes);
	}
	free(file->examples);
	nnb_model_free(file->model);
	free(file);
	return NULL;
}
