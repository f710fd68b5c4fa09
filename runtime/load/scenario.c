/*
 * scenario.c -- reads scenarios.
 *
 * Three tables have a row for each key: the kind of its value, the field for it, and its bounds. The parser reads an
 * object by its table, so it reports every key that the table does not have. Conditions between keys are checked
 * afterwards.
 */
#include "scenario.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/regular.h"
#include "load.h"
#include "nnb/fmq.h"
#include "options/nearest.h"
#include "options/quantity.h"
#include "zoo.h"

enum { TEXT_MAX = 1 << 20, DEPTH_OF_PLACE = 128 };

const char *const load_path_names[4] = { "burst", "sync", "async", "fenced" };
const char *const load_priority_names[3] = { "low", "medium", "high" };
const char *const load_hal_names[4] = { "1.0", "1.1", "1.2", "1.3" };
const char *const load_keeping_names[3] = { "none", "pools", "device" };

/* ---- places in the file, for error messages ---- */

/* "apps[1].streams[0].fps": a chain on the stack, from the inside out. */
struct place {
	const struct place *in; /* NULL: the file itself */
	const char *key;        /* NULL: an element of a list, by its index */
	size_t index;
};

static size_t print_place(char *to, size_t room, const struct place *at)
{
	size_t n = at->in ? print_place(to, room, at->in) : 0;

	if (n >= room)
		return n;
	if (at->key)
		return n + (size_t)snprintf(to + n, room - n, "%s%s", n ? "." : "", at->key);
	return n + (size_t)snprintf(to + n, room - n, "[%zu]", at->index);
}

void load_make_printable(char *text)
{
	for (; *text; text++)
		if (*text < 0x20 || *text > 0x7e)
			*text = '?';
}

static __attribute__((format(printf, 3, 4))) int fail_at(struct nnb_reason *reason, const struct place *at,
                                                         const char *format, ...)
{
	char where[DEPTH_OF_PLACE] = "", text[sizeof(reason->text)];
	va_list ap;

	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	load_make_printable(text);
	if (at)
		print_place(where, sizeof(where), at);
	nnb_because(reason, "%s%s%s", where, at ? ": " : "", text);
	return -EINVAL;
}

/* "; did you mean 'WORD'?", or nothing. */
struct hint {
	char text[LOAD_NAME + 24];
};

static struct hint fail_with_hint(const char *word, const void *words, size_t n, size_t stride)
{
	const char *nearest = nearest_word(word, words, n, stride);
	struct hint h = { "" };

	if (nearest)
		snprintf(h.text, sizeof(h.text), "; did you mean '%s'?", nearest);
	return h;
}

/* ---- the tables of keys ---- */

enum kind {
	NAME,   /* a string: a name */
	ABOUT,  /* a string: a sentence */
	MODEL,  /* a string: of the zoo, or a file */
	TIME,   /* a string: number and unit */
	RATE,   /* a number a second, kept as a period */
	NUMBER, /* an integer */
	CHOICE, /* one of some words */
	WINDOW, /* auto, none, always, or a time */
	TRUTH,  /* true or false */
	PAIRS,  /* a list of [output, input] */
	LIST    /* a list of objects, which another table reads */
};

struct key {
	const char *name;
	enum kind kind;
	size_t offset;    /* offset of the field in its struct */
	int64_t min, max; /* bounds of a NUMBER, or of a TIME in ns */
	const char *const *choices;
};

#define N_OF(a) (sizeof(a) / sizeof((a)[0]))
#define A_WEEK (7 * 24 * 3600 * (int64_t)LOAD_S)

/* clang-format off */
#define IN(field) offsetof(struct load_scenario, field)
static const struct key scenario_keys[] = {
	{ "name",       NAME,   IN(name),        0, 0, NULL },
	{ "about",      ABOUT,  IN(about),       0, 0, NULL },
	{ "seed",       NUMBER, IN(seed),        0, INT64_MAX, NULL },
	{ "duration",   TIME,   IN(duration_ns), LOAD_MS, (int64_t)LOAD_DURATION_MAX, NULL },
	{ "executions", NUMBER, IN(executions),  1, 1000000000000, NULL },
	{ "timeout",    TIME,   IN(timeout_ns),  LOAD_MS, (int64_t)LOAD_DURATION_MAX, NULL },
	{ "apps",       LIST,   0,               0, 0, NULL },
};
#undef IN

#define IN(field) offsetof(struct load_app, field)
static const struct key app_keys[] = {
	{ "name",    NAME,   IN(name), 0, 0, NULL },
	{ "uid",     NUMBER, IN(uid),  0, UINT32_MAX - 1, NULL },
	{ "nice",    NUMBER, IN(nice), -20, 19, NULL },
	{ "hal",     CHOICE, IN(hal),  0, 3, load_hal_names },
	{ "streams", LIST,   0,        0, 0, NULL },
};
#undef IN

#define IN(field) offsetof(struct load_stream, field)
static const struct key stream_keys[] = {
	{ "name",         NAME,   IN(name),         0, 0, NULL },
	{ "model",        MODEL,  IN(model),        0, 0, NULL },
	{ "priority",     CHOICE, IN(priority),     0, 2, load_priority_names },
	{ "path",         CHOICE, IN(path),         0, 3, load_path_names },
	{ "threads",      NUMBER, IN(threads),      1, LOAD_THREADS_MAX, NULL },
	{ "period",       TIME,   IN(period_ns),    10 * LOAD_US, (int64_t)LOAD_DURATION_MAX, NULL },
	{ "fps",          RATE,   IN(period_ns),    0, 0, NULL },
	{ "think",        TIME,   IN(think_ns),     0, (int64_t)LOAD_DURATION_MAX, NULL },
	{ "jitter",       TIME,   IN(jitter_ns),    0, (int64_t)LOAD_DURATION_MAX, NULL },
	{ "deadline",     TIME,   IN(deadline_ns),  1, A_WEEK, NULL },
	{ "told",         TRUTH,  IN(told),         0, 0, NULL },
	{ "prepare_deadline", TIME, IN(prepare_deadline_ns), 1, A_WEEK, NULL },
	{ "retries",      NUMBER, IN(retries),      0, 1000, NULL },
	{ "retry_after",  TIME,   IN(retry_after_ns), 0, (int64_t)LOAD_DURATION_MAX, NULL },
	{ "start",        TIME,   IN(start_ns),     0, (int64_t)LOAD_DURATION_MAX, NULL },
	{ "burst_length", NUMBER, IN(burst_length), 0, 1000000000000, NULL },
	{ "pools",        NUMBER, IN(pools),        1, LOAD_POOLS_MAX, NULL },
	{ "fresh_pools",  NUMBER, IN(fresh_pools),  0, 1000000000000, NULL },
	{ "polling",      WINDOW, IN(window_ns),    2, (int64_t)LOAD_S * 60, NULL },
	{ "state",        CHOICE, IN(state),        0, 2, load_keeping_names },
	{ "state_pairs",  PAIRS,  IN(state_pairs),  0, 0, NULL },
	{ "measure",      TRUTH,  IN(measure),      0, 0, NULL },
};
#undef IN
/* clang-format on */

const char *load_scenario_key(size_t i)
{
	const struct {
		const struct key *keys;
		size_t n;
	} tables[] = { { scenario_keys, N_OF(scenario_keys) },
		       { app_keys, N_OF(app_keys) },
		       { stream_keys, N_OF(stream_keys) } };

	for (size_t t = 0; t < N_OF(tables); t++) {
		if (i < tables[t].n)
			return tables[t].keys[i].name;
		i -= tables[t].n;
	}
	return NULL;
}

/* ---- values ---- */

static int read_text(struct nnb_reason *reason, const struct place *at, const json_t *json, size_t room, char *ret)
{
	const char *text = json_string_value(json);

	if (!text)
		return fail_at(reason, at, "not a string");
	if (!*text)
		return fail_at(reason, at, "empty");
	if (strlen(text) >= room)
		return fail_at(reason, at, "%zu bytes are more than %zu", strlen(text), room - 1);
	strcpy(ret, text);
	load_make_printable(ret);
	return 0;
}

bool load_is_file(const char *model)
{
	size_t n = strlen(model);

	return strchr(model, '/') || (n > 5 && strcmp(model + n - 5, ".json") == 0) || load_is_tflite(model);
}

bool load_is_tflite(const char *model)
{
	size_t n = strlen(model);

	return n > 7 && strcmp(model + n - 7, ".tflite") == 0;
}

static int read_model(struct nnb_reason *reason, const struct place *at, const json_t *json, char *ret)
{
	const char *text = json_string_value(json);
	uint32_t size;

	if (text && strlen(text) < LOAD_MODEL && (load_is_file(text) || load_zoo_find(text, &size))) {
		strcpy(ret, text);
		return 0;
	}
	if (!text || !*text || strlen(text) >= LOAD_MODEL)
		return fail_at(reason, at, "not a model's name, nor the path of one");
	for (size_t i = 0; i < LOAD_ZOO_MODELS; i++)
		if (load_zoo[i].size_is && strncmp(text, load_zoo[i].name, strlen(load_zoo[i].name)) == 0)
			return fail_at(reason, at, "no model '%.40s': the %s of %s is a multiple of %u from %u to %u",
			               text, load_zoo[i].size_is, load_zoo[i].name, load_zoo[i].size_step,
			               load_zoo[i].size_min, load_zoo[i].size_max);
	return fail_at(reason, at, "no model '%.40s'%s (a file's name has a slash, or ends in .json or .tflite)", text,
	               fail_with_hint(text, &load_zoo[0].name, LOAD_ZOO_MODELS, sizeof(load_zoo[0])).text);
}

static int read_time(struct nnb_reason *reason, const struct place *at, const json_t *json, const struct key *key,
                     uint64_t *ret)
{
	char least[QUANTITY_DURATION_TEXT], most[QUANTITY_DURATION_TEXT];
	const char *text = json_string_value(json);
	uint64_t ns;

	if (!text || !quantity_duration_read(text, &ns))
		return fail_at(reason, at, "not a time, such as \"5ms\" (units are ns, us, ms, s, min and h)");
	if (ns < (uint64_t)key->min || ns > (uint64_t)key->max)
		return fail_at(reason, at, "%.20s is not from %s to %s", text,
		               quantity_duration_text(least, (uint64_t)key->min),
		               quantity_duration_text(most, (uint64_t)key->max));
	*ret = ns;
	return 0;
}

static int read_rate(struct nnb_reason *reason, const struct place *at, const json_t *json, uint64_t *ret)
{
	double rate = json_number_value(json);

	if (!json_is_number(json))
		return fail_at(reason, at, "not a number");
	if (!(rate >= 0.001 && rate <= 100000))
		return fail_at(reason, at, "%g is not from 0.001 to 100000", rate);
	*ret = (uint64_t)llround((double)LOAD_S / rate);
	return 0;
}

static int read_number(struct nnb_reason *reason, const struct place *at, const json_t *json, const struct key *key,
                       int64_t *ret)
{
	int64_t n = json_integer_value(json);

	if (!json_is_integer(json))
		return fail_at(reason, at, "not an integer");
	if (n < key->min || n > key->max)
		return fail_at(reason, at, "%" PRId64 " is not from %" PRId64 " to %" PRId64, n, key->min, key->max);
	*ret = n;
	return 0;
}

static int read_choice(struct nnb_reason *reason, const struct place *at, const json_t *json, const struct key *key,
                       uint32_t *ret)
{
	const char *text = json_string_value(json);
	size_t n = (size_t)key->max + 1, length = 0;
	char all[LOAD_NAME] = "";

	for (uint32_t i = 0; text && i < n; i++)
		if (strcmp(text, key->choices[i]) == 0) {
			*ret = i;
			return 0;
		}
	for (size_t i = 0; i < n; i++)
		length += (size_t)snprintf(all + length, sizeof(all) - length, "%s%s",
		                           i == 0      ? ""
		                           : i + 1 < n ? ", "
		                                       : " and ",
		                           key->choices[i]);
	return fail_at(reason, at, "not one of %s%s", all,
	               text ? fail_with_hint(text, key->choices, n, sizeof(*key->choices)).text : "");
}

static int read_window(struct nnb_reason *reason, const struct place *at, const json_t *json, const struct key *key,
                       uint64_t *ret)
{
	static const struct {
		const char *name;
		uint64_t window;
	} words[] = { { "auto", NNB_FMQ_WINDOW_AUTO },
		      { "none", NNB_FMQ_WINDOW_NONE },
		      { "always", NNB_FMQ_WINDOW_ALWAYS } };
	const char *text = json_string_value(json);
	uint64_t ns;

	for (size_t i = 0; text && i < N_OF(words); i++)
		if (strcmp(text, words[i].name) == 0) {
			*ret = words[i].window;
			return 0;
		}
	if (!text || !quantity_duration_read(text, &ns))
		return fail_at(reason, at, "not auto, none, always or a time%s",
		               text ? fail_with_hint(text, &words[0].name, N_OF(words), sizeof(words[0])).text : "");
	return read_time(reason, at, json, key, ret);
}

/* Nothing goes to two inputs, and no input has two. */
static int read_pair(struct nnb_reason *reason, const struct place *at, const json_t *json, struct load_pairs *pairs)
{
	const json_t *output = json_array_get(json, 0), *input = json_array_get(json, 1);
	struct load_pair p = { (uint32_t)json_integer_value(output), (uint32_t)json_integer_value(input) };

	if (json_array_size(json) != 2 || !json_is_integer(output) || !json_is_integer(input) ||
	    p.output != json_integer_value(output) || p.input != json_integer_value(input))
		return fail_at(reason, at, "not a pair [output, input] of two indexes");
	for (uint32_t i = 0; i < pairs->n; i++)
		if (pairs->list[i].output == p.output || pairs->list[i].input == p.input)
			return fail_at(reason, at, "%s %u is in pair %u too",
			               pairs->list[i].output == p.output ? "output" : "input",
			               pairs->list[i].output == p.output ? p.output : p.input, i);
	pairs->list[pairs->n++] = p;
	return 0;
}

static int read_pairs(struct nnb_reason *reason, const struct place *at, const json_t *json, struct load_pairs *ret)
{
	int r = 0;

	if (!json_is_array(json))
		return fail_at(reason, at, "not a list");
	if (!json_array_size(json))
		return fail_at(reason, at, "empty");
	if (json_array_size(json) > LOAD_PAIRS_MAX)
		return fail_at(reason, at, "%zu are more than %d", json_array_size(json), LOAD_PAIRS_MAX);
	for (size_t i = 0; !r && i < json_array_size(json); i++)
		r = read_pair(reason, &(struct place){ at, NULL, i }, json_array_get(json, i), ret);
	return r;
}

static int read_value(struct nnb_reason *reason, const struct place *at, const json_t *json, const struct key *key,
                      void *to)
{
	switch (key->kind) {
	case NAME:
		return read_text(reason, at, json, LOAD_NAME, to);
	case ABOUT:
		return read_text(reason, at, json, LOAD_ABOUT, to);
	case MODEL:
		return read_model(reason, at, json, to);
	case TIME:
		return read_time(reason, at, json, key, to);
	case RATE:
		return read_rate(reason, at, json, to);
	case NUMBER:
		return read_number(reason, at, json, key, to);
	case CHOICE:
		return read_choice(reason, at, json, key, to);
	case WINDOW:
		return read_window(reason, at, json, key, to);
	case TRUTH:
		if (!json_is_boolean(json))
			return fail_at(reason, at, "not true or false");
		*(bool *)to = json_is_true(json);
		return 0;
	case PAIRS:
		return read_pairs(reason, at, json, to);
	case LIST:
		break;
	}
	return 0;
}

/* ---- objects ---- */

static int read_object(struct nnb_reason *reason, const struct place *at, const json_t *object, const struct key *keys,
                       size_t n, void *to)
{
	const char *name;
	json_t *value;

	if (!json_is_object(object))
		return fail_at(reason, at, "not an object");
	json_object_foreach((json_t *)object, name, value)
	{
		struct place here = { at, name, 0 };
		size_t i = 0;
		int r;

		while (i < n && strcmp(name, keys[i].name) != 0)
			i++;
		if (i == n)
			return fail_at(reason, at, "no key '%.40s'%s", name,
			               fail_with_hint(name, keys, n, sizeof(*keys)).text);
		r = read_value(reason, &here, value, &keys[i], (char *)to + keys[i].offset);
		if (r)
			return r;
	}
	return 0;
}

/*
 * The list @key of @object, of 1 to @max elements. NULL: the object has no such list, or the list is malformed
 * (@reason).
 */
static const json_t *read_list(struct nnb_reason *reason, const struct place *at, const json_t *object, size_t max)
{
	const json_t *list = json_object_get(object, at->key);

	if (!list)
		fail_at(reason, at, "missing");
	else if (!json_is_array(list))
		fail_at(reason, at, "not a list");
	else if (!json_array_size(list))
		fail_at(reason, at, "empty");
	else if (json_array_size(list) > max)
		fail_at(reason, at, "%zu are more than %zu", json_array_size(list), max);
	else
		return list;
	return NULL;
}

/* Built-in models know which of their outputs are their state; for the model of a file, the scenario names them. */
static int state_agrees(struct nnb_reason *reason, const struct place *at, const struct load_stream *s)
{
	struct place state = { at, "state", 0 }, pairs = { at, "state_pairs", 0 };
	const struct load_zoo_model *m;
	uint32_t size;

	m = load_is_file(s->model) ? NULL : load_zoo_find(s->model, &size);
	if (s->state && m && !m->state.n)
		return fail_at(reason, &state, "model %s has none", m->name);
	if (s->state_pairs.n && !s->state)
		return fail_at(reason, &pairs, "there is no state");
	if (s->state_pairs.n && m)
		return fail_at(reason, &pairs, "model %s has its own", m->name);
	if (s->state && !m && !s->state_pairs.n)
		return fail_at(reason, &pairs, "missing: which outputs of the file's model are its state");
	return 0;
}

/* Keys that do not go together. */
static int stream_agrees(struct nnb_reason *reason, const struct place *at, const json_t *json,
                         const struct load_stream *s)
{
	const char *const of_bursts[] = { "burst_length", "polling" };
	struct place here = { at, NULL, 0 };

	if (json_object_get(json, "period") && json_object_get(json, "fps")) {
		here.key = "fps";
		return fail_at(reason, &here, "there is a period already");
	}
	here.key = "think";
	if (s->period_ns && json_object_get(json, "think"))
		return fail_at(reason, &here, "a stream with a %s does not think",
		               json_object_get(json, "fps") ? "rate" : "period");
	here.key = "jitter";
	if (s->jitter_ns && s->jitter_ns >= s->period_ns)
		return fail_at(reason, &here, s->period_ns ? "not shorter than the period" : "there is no period");
	for (size_t i = 0; i < N_OF(of_bursts); i++) {
		here.key = of_bursts[i];
		if (s->path != LOAD_BURST && json_object_get(json, of_bursts[i]))
			return fail_at(reason, &here, "path %s has no bursts", load_path_names[s->path]);
	}
	here.key = "told";
	if (json_object_get(json, "told") && !s->deadline_ns)
		return fail_at(reason, &here, "there is no deadline");
	here.key = "retry_after";
	if (json_object_get(json, "retry_after") && !s->retries)
		return fail_at(reason, &here, "there are no retries");
	return state_agrees(reason, at, s);
}

/* An app of an earlier HAL cannot use what HAL 1.3 added. */
static int stream_fits_hal(struct nnb_reason *reason, const struct place *at, const struct load_stream *s, uint32_t hal)
{
	struct place here = { at, NULL, 0 };
	const char *what = NULL;

	if (NNB_HAL_1_0 + hal >= NNB_HAL_1_3)
		return 0;
	if (s->deadline_ns && s->told) {
		here.key = "deadline";
		what = "deadlines that a service is told of";
	} else if (s->prepare_deadline_ns) {
		here.key = "prepare_deadline";
		what = "deadlines";
	} else if (s->priority != 1) {
		here.key = "priority";
		what = "priorities";
	} else if (s->path == LOAD_FENCED) {
		here.key = "path";
		what = "fenced executions";
	}
	return what ? fail_at(reason, &here, "HAL %s has no %s", load_hal_names[hal], what) : 0;
}

static int read_stream(struct nnb_reason *reason, const struct place *at, const json_t *json, struct load_stream *s)
{
	int r;

	*s = (struct load_stream){ .priority = 1, .threads = 1, .pools = 2, .told = true, .retry_after_ns = LOAD_MS };
	r = read_object(reason, at, json, stream_keys, N_OF(stream_keys), s);
	if (r)
		return r;
	if (!s->model[0])
		return fail_at(reason, &(struct place){ at, "model", 0 }, "missing");
	if (!s->name[0]) {
		const char *base = strrchr(s->model, '/');

		snprintf(s->name, sizeof(s->name), "%.*s", LOAD_NAME - 1, base ? base + 1 : s->model);
	}
	return stream_agrees(reason, at, json, s);
}

static int read_streams(struct nnb_reason *reason, const struct place *at, const json_t *json, struct load_app *app)
{
	struct place list_place = { at, "streams", 0 };
	const json_t *list = read_list(reason, &list_place, json, LOAD_STREAMS_MAX);
	int r;

	if (!list)
		return -EINVAL;
	app->streams = calloc(json_array_size(list), sizeof(*app->streams));
	if (!app->streams)
		return -ENOMEM;
	for (size_t i = 0; i < json_array_size(list); i++) {
		struct place here = { &list_place, NULL, i };

		r = read_stream(reason, &here, json_array_get(list, i), &app->streams[i]);
		if (!r)
			r = stream_fits_hal(reason, &here, &app->streams[i], app->hal);
		if (r)
			return r;
		for (size_t k = 0; k < i; k++)
			if (strcmp(app->streams[k].name, app->streams[i].name) == 0)
				return fail_at(reason, &(struct place){ &here, "name", 0 },
				               "stream %zu is called '%s' too", k, app->streams[k].name);
		app->n_streams++;
		app->n_threads += (uint32_t)app->streams[i].threads;
	}
	if (app->n_threads > LOAD_THREADS_MAX)
		return fail_at(reason, &list_place, "%u threads in all are more than %d", app->n_threads,
		               LOAD_THREADS_MAX);
	return 0;
}

static int read_apps(struct nnb_reason *reason, const json_t *root, struct load_scenario *s)
{
	struct place list_place = { NULL, "apps", 0 };
	const json_t *list = read_list(reason, &list_place, root, LOAD_APPS_MAX);
	int r;

	if (!list)
		return -EINVAL;
	s->apps = calloc(json_array_size(list), sizeof(*s->apps));
	if (!s->apps)
		return -ENOMEM;
	for (size_t i = 0; i < json_array_size(list); i++) {
		struct place here = { &list_place, NULL, i }, name = { &here, "name", 0 };
		struct load_app *app = &s->apps[i];

		app->uid = -1;
		app->hal = NNB_HAL_1_3 - NNB_HAL_1_0;
		s->n_apps++;
		r = read_object(reason, &here, json_array_get(list, i), app_keys, N_OF(app_keys), app);
		if (!r && !app->name[0])
			r = fail_at(reason, &name, "missing");
		for (size_t k = 0; !r && k < i; k++)
			if (strcmp(s->apps[k].name, app->name) == 0)
				r = fail_at(reason, &name, "app %zu is called '%s' too", k, app->name);
		if (!r)
			r = read_streams(reason, &here, json_array_get(list, i), app);
		if (r)
			return r;
	}
	return 0;
}

int load_scenario_parse(struct load_scenario **ret, const char *text, size_t bytes, const char *name, const char *dir,
                        struct nnb_reason *reason)
{
	__attribute__((cleanup(load_scenario_freep))) struct load_scenario *s = calloc(1, sizeof(*s));
	json_error_t error;
	json_t *root;
	int r;

	if (!s)
		return -ENOMEM;
	s->seed = 1;
	s->timeout_ns = 10 * LOAD_S;
	snprintf(s->name, sizeof(s->name), "%s", name);
	snprintf(s->dir, sizeof(s->dir), "%s", dir);
	root = json_loadb(text, bytes, JSON_REJECT_DUPLICATES, &error);
	if (!root)
		return fail_at(reason, NULL, "line %d, column %d: %s", error.line, error.column, error.text);
	r = json_is_object(root) ? read_object(reason, NULL, root, scenario_keys, N_OF(scenario_keys), s)
	                         : fail_at(reason, NULL, "not an object");
	if (!r)
		r = read_apps(reason, root, s);
	if (!r && !s->duration_ns && !s->executions)
		r = fail_at(reason, &(struct place){ NULL, "duration", 0 }, "missing, and so is 'executions'");
	if (!s->duration_ns)
		s->duration_ns = LOAD_DURATION_MAX;
	json_decref(root);
	if (!r) {
		*ret = s;
		s = NULL;
	}
	return r;
}

struct load_scenario *load_scenario_free(struct load_scenario *s)
{
	if (!s)
		return NULL;
	for (uint32_t i = 0; i < s->n_apps; i++)
		free(s->apps[i].streams);
	free(s->apps);
	free(s);
	return NULL;
}

/* ---- files ---- */

/* All of a file, zero-ended. 0 and *ret; -errno; -EFBIG: it is no scenario. */
static int read_file(const char *path, char **ret, size_t *ret_bytes)
{
	int fd = nnb__regular_open(path);
	FILE *f = fd < 0 ? NULL : fdopen(fd, "r");
	char *text = f ? malloc(TEXT_MAX + 1) : NULL;
	size_t n = text ? fread(text, 1, TEXT_MAX + 1, f) : 0;
	int r = fd < 0 ? fd : !f ? -ENOMEM : !text ? -ENOMEM : ferror(f) ? -errno : n > TEXT_MAX ? -EFBIG : 0;

	if (f)
		fclose(f);
	else if (fd >= 0)
		close(fd);
	if (r) {
		free(text);
		return r;
	}
	text[n] = '\0';
	*ret = text;
	*ret_bytes = n;
	return 0;
}

int load_scenario_read(struct load_scenario **ret, const char *path, char **ret_text, size_t *ret_bytes,
                       struct nnb_reason *reason)
{
	const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
	size_t bytes, n = strlen(base);
	char name[LOAD_NAME], dir[LOAD_MODEL], *text;
	int r = read_file(path, &text, &bytes);

	if (r) {
		nnb_because(reason, "%s", nnb__regular_error(r));
		return r;
	}
	if (n > 5 && strcmp(base + n - 5, ".json") == 0)
		n -= 5;
	snprintf(name, sizeof(name), "%.*s", (int)(n < LOAD_NAME ? n : LOAD_NAME - 1), base);
	snprintf(dir, sizeof(dir), "%.*s", slash ? (int)(slash - path) : 1, slash ? path : ".");
	r = load_scenario_parse(ret, text, bytes, name, dir, reason);
	if (r || !ret_text) {
		free(text);
		return r;
	}
	*ret_text = text;
	*ret_bytes = bytes;
	return 0;
}
