/*
 * nnburst-conformance -- executes every model file of a directory, by a driver or through the service, and compares
 * outputs.
 */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "conformance/validate/validate.h"
#include "options/narrow.h"
#include "options/options.h"
#include "random_inputs.h"
#include "ways.h"

enum { DONE = 0, DIFFERED = 1, USAGE = 2, INPUT = 4, ENVIRONMENT = 5 };

enum verdict { PASSED, FAILED, SKIPPED, N_VERDICTS };
static const char *const verdict_names[N_VERDICTS] = { "passed", "FAILED", "skipped" };

struct session {
	struct nnb_device *device; /* set for a driver in this process; otherwise client is set */
	struct nnb_client *client;
	struct ways ways;
	const char *cache_dir; /* NULL: do not test the cache */
	bool quiet;
	unsigned count[N_VERDICTS];
};

/* ---- one model ---- */

/*
 * Does the driver support every operation? NONE, and *supported; the reason names the first operation that is not
 * supported.
 */
static enum nnb_status ask_supported(struct session *s, const struct nnb_model *m, bool *supported,
                                     struct nnb_reason *reason)
{
	bool *each = calloc(m->n_operations + 1, sizeof(*each));
	enum nnb_status status = NNB_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;

	if (each)
		status = s->client ? nnb_client_supported(s->client, m, each, reason)
		                   : nnb_device_supported(s->device, m, each, reason);

	*supported = true;
	for (uint32_t i = 0; !status && *supported && i < m->n_operations; i++)
		if (!each[i]) {
			const char *name = nnb_op_name(m->operations[i].type);

			*supported = false;
			snprintf(reason->text, sizeof(reason->text), "driver %s does not support operation %u (%s)",
			         s->client ? nnb_client_info(s->client)->driver : nnb_device_name(s->device), i,
			         name ? name : "OEM_OPERATION");
		}
	free(each);
	return status;
}

/* The cache token. It depends on the model's form only, not on the name of its file. */
static enum nnb_status token_of(const struct nnb_model *m, uint8_t token[NNB_TOKEN_BYTES])
{
	uint64_t words[NNB_TOKEN_BYTES / sizeof(uint64_t)];
	size_t bytes;
	uint8_t *form;

	if (nnb_model_encode(m, &form, &bytes))
		return NNB_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
	for (size_t w = 0; w < sizeof(words) / sizeof(words[0]); w++) {
		words[w] = UINT64_C(0xcbf29ce484222325) + w;
		for (size_t i = 0; i < bytes; i++)
			words[w] = (words[w] ^ form[i]) * UINT64_C(0x100000001b3);
	}
	free(form);
	memcpy(token, words, NNB_TOKEN_BYTES);
	return NNB_STATUS_NONE;
}

static enum nnb_status prepare_here(struct session *s, const struct nnb_model *m, struct nnb_prepared **ret,
                                    struct nnb_reason *reason)
{
	struct nnb_prepare how = { .preference = 1, .priority = 1 };
	uint8_t token[NNB_TOKEN_BYTES];
	enum nnb_status status;
	bool from_cache;

	if (!s->cache_dir)
		return nnb_prepare(s->device, m, &how, NULL, ret, reason);
	/* prepare twice: the second time must find what the first has cached */
	status = token_of(m, token);
	if (!status)
		status = nnb_prepare_cached(s->device, m, &how, s->cache_dir, token, ret, &from_cache, reason);
	if (status || from_cache)
		return status;
	*ret = nnb_prepared_unref(*ret);
	status = nnb_prepare_cached(s->device, m, &how, s->cache_dir, token, ret, &from_cache, reason);
	if (!status && !from_cache) {
		*ret = nnb_prepared_unref(*ret); /* NULL now, so that target_free does not release it again */
		snprintf(reason->text, sizeof(reason->text), "was not found in the cache it had been saved to");
		status = NNB_STATUS_GENERAL_FAILURE;
	}
	return status;
}

static enum nnb_status buffers_allocate(struct session *s, struct target *t, struct nnb_reason *reason)
{
	struct device_memory *d = &t->memory;

	if (s->client ? !device_memory_init_remote(d, s->client, t->remote)
	              : !device_memory_init(d, s->device, t->prepared)) {
		snprintf(reason->text, sizeof(reason->text), "no memory to name buffers");
		return NNB_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
	}
	return NNB_STATUS_NONE;
}

static enum verdict run_model(struct session *s, const struct nnb_model_file *file, struct nnb_reason *reason)
{
	__attribute__((cleanup(target_free))) struct target target = { 0 };
	enum verdict verdict = PASSED;
	enum nnb_status status;
	bool supported;

	status = ask_supported(s, file->model, &supported, reason);
	if (!status && !supported)
		return SKIPPED;
	if (!status && !file->n_examples) {
		snprintf(reason->text, sizeof(reason->text), "the file holds no example");
		return SKIPPED;
	}
	if (!status) {
		if (s->client)
			status = nnb_remote_prepare(s->client, file->model, NULL, NULL, &target.remote, reason);
		else
			status = prepare_here(s, file->model, &target.prepared, reason);
		if (!status && s->ways.paths & BY_BURST)
			status = nnb_remote_burst(target.remote, NULL, &target.burst, reason);
		if (!status && s->ways.memories[DEVICE])
			status = buffers_allocate(s, &target, reason);
	}
	if (file->expect_failure && (status == NNB_STATUS_INVALID_ARGUMENT || status == NNB_STATUS_GENERAL_FAILURE))
		return PASSED;
	target.fails = file->expect_failure;
	if (status) {
		struct nnb_reason why = *reason;

		snprintf(reason->text, sizeof(reason->text), "%s: %.200s", nnb_status_name(status), why.text);
		return FAILED;
	}
	for (uint32_t i = 0; verdict == PASSED && i < file->n_examples; i++) {
		struct nnb_reason why = { "" };

		if (run_example(&s->ways, &target, &file->examples[i], &why))
			continue;
		verdict = FAILED;
		snprintf(reason->text, sizeof(reason->text), "example %u: %.230s", i, why.text);
	}
	return verdict;
}

static bool has_ending(const char *name, const char *ending)
{
	size_t n = strlen(name), e = strlen(ending);

	return n > e && strcmp(name + n - e, ending) == 0;
}

/*
 * Print the line of one model. The line names the file already, so the file's path or name is removed from the start
 * of the reason.
 */
static void print_line(enum verdict verdict, const char *name, const char *path, const char *reason)
{
	size_t n = strlen(path);
	struct narrow fitted;

	if (strncmp(reason, path, n) != 0) {
		n = strlen(name);
		path = name;
	}
	if (strncmp(reason, path, n) == 0 && strncmp(reason + n, ": ", 2) == 0)
		reason += n + 2;
	narrow_begin(&fitted);
	printf("%-7s %.*s%s%s\n", verdict_names[verdict], (int)(strrchr(name, '.') - name), name, *reason ? ": " : "",
	       reason);
	narrow_end(&fitted);
	fflush(stdout);
}

static unsigned count_ways(const struct ways *w)
{
	return (unsigned)__builtin_popcount(w->paths) * ((unsigned)w->memories[SHARED] + w->memories[DEVICE]);
}

static void run_file(struct session *s, const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	struct nnb_model_file *file = NULL;
	struct nnb_reason reason = { "" };
	bool tflite = has_ending(path, ".tflite");
	struct nnb_model *model;
	enum verdict verdict;
	int r = tflite ? nnb_model_load_tflite(&model, path, &reason) : nnb_model_file_read(&file, path, &reason);

	if (tflite && !r)
		r = random_inputs(&file, model, &reason);
	if (r)
		verdict = r == -ENOTSUP ? SKIPPED : FAILED;
	else if (tflite) {
		unsigned asked = s->ways.paths;

		/*
		 * Run a model without expected outputs, such as a .tflite file: random inputs, and all ways must
		 * agree. In this process the execution is preempted, too, so that at least two ways are compared.
		 */
		if (asked == AT_ONE_GO && !s->ways.memories[DEVICE])
			s->ways.paths |= SAVED;
		verdict = run_model(s, file, &reason);
		if (verdict == PASSED && count_ways(&s->ways) == 1) {
			verdict = SKIPPED;
			snprintf(reason.text, sizeof(reason.text),
			         "it ran, but by one way, and the file holds no outputs to compare with");
		}
		s->ways.paths = asked;
	} else
		verdict = run_model(s, file, &reason);
	if (verdict == PASSED)
		reason.text[0] = '\0';
	s->count[verdict]++;
	if (verdict != PASSED || !s->quiet)
		print_line(verdict, name, path, reason.text);
	nnb_model_file_free(file);
}

/* ---- the directory ---- */

static int is_model(const struct dirent *entry)
{
	return has_ending(entry->d_name, ".json") || has_ending(entry->d_name, ".tflite");
}

static int run_directory(struct session *s, const char *dir)
{
	struct dirent **entries;
	int n = scandir(dir, &entries, is_model, alphasort);

	if (n <= 0) {
		fprintf(stderr, "nnburst-conformance: %s: %s\n", dir,
		        n < 0 ? strerror(errno) : "no model file (*.json, *.tflite)");
		if (n == 0)
			free(entries);
		return INPUT;
	}
	for (int i = 0; i < n; i++) {
		char *path;

		if (asprintf(&path, "%s/%s", dir, entries[i]->d_name) < 0)
			abort();
		run_file(s, path);
		free(path);
		free(entries[i]);
	}
	free(entries);
	return DONE;
}

/* @driver: NULL: xnnpack. */
static int open_device(struct session *s, const char *driver)
{
	struct nnb_reason reason = { "" };
	uint8_t key[NNB_KEY_BYTES];
	char *path = NULL;
	int r = nnb_device_open(&s->device, driver ? driver : "xnnpack", &reason);

	if (r) {
		fprintf(stderr, "nnburst-conformance: %s\n", reason.text[0] ? reason.text : strerror(-r));
		return ENVIRONMENT;
	}
	if (!s->cache_dir)
		return DONE;
	if (asprintf(&path, "%s/key", s->cache_dir) < 0)
		abort();
	r = nnb_cache_key_file(path, key);
	if (r)
		fprintf(stderr, "nnburst-conformance: %s: %s\n", path, strerror(-r));
	else
		nnb_device_cache_key(s->device, key);
	free(path);
	return r ? ENVIRONMENT : DONE;
}

static int connect_service(struct session *s, const char *socket)
{
	const struct nnb_client_config config = { .socket = socket };
	struct nnb_reason reason = { "" };

	if (!nnb_client_open(&s->client, &config, &reason))
		return DONE;
	fprintf(stderr, "nnburst-conformance: %s\n", reason.text);
	return ENVIRONMENT;
}

/* ---- options ---- */

enum { NOT_GIVEN = 0x7fffffff };

static const char *const paths[] = { "burst", "sync", "fenced", "both", "all", NULL };
static const unsigned path_bits[] = { BY_BURST, BY_SYNC, BY_FENCED, BY_SYNC | BY_BURST,
	                              BY_SYNC | BY_BURST | BY_FENCED };
static const char *const preemptions[] = { "save", "restart", "both", NULL };
static const unsigned preemption_bits[] = { SAVED, RESTARTED, SAVED | RESTARTED };
static const char *const memories[] = { "shared", "device", "both", NULL };
static const bool memory_sets[][N_MEMORIES] = { { [SHARED] = true },
	                                        { [DEVICE] = true },
	                                        { [SHARED] = true, [DEVICE] = true } };

struct options {
	const char *driver, *socket, *cache_dir, *only, *junit;
	unsigned path, preempt, memory; /* index of the choice, or NOT_GIVEN */
	bool validates, quiet;
};

static const struct option_row option_rows[] = {
	{ "driver", OPTION_TEXT, "xnnpack|null|FILE", "xnnpack (the default), null, or the path of a driver-NAME.so",
	  .offset = offsetof(struct options, driver) },
	{ "cache", OPTION_TEXT, "DIR", "fill a cache in DIR, then prepare each model from the cache",
	  .offset = offsetof(struct options, cache_dir) },
	{ "preempt", OPTION_CHOICE, NULL,
	  "execute again, and at every checkpoint let another execution preempt this one, which then continues (save), "
	  "restarts (restart), or once each (both); the bits must be the same",
	  .offset = offsetof(struct options, preempt), .choices = preemptions },
	{ "path", OPTION_CHOICE, NULL,
	  "execute through nnburstd: by burst, by synchronous call (sync), behind fences (fenced), by the first two "
	  "(both), "
	  "or by all three (all); the bits must be the same",
	  .offset = offsetof(struct options, path), .choices = paths },
	{ "socket", OPTION_TEXT, "PATH", "the socket of nnburstd, if it is not the default one",
	  .offset = offsetof(struct options, socket) },
	{ "memory", OPTION_CHOICE, NULL,
	  "inputs and outputs in shared memory (shared, the default), in the driver's buffers (device), or once in "
	  "each "
	  "(both); the bits must be the same",
	  .offset = offsetof(struct options, memory), .choices = memories },
	{ "validate", OPTION_SWITCH, NULL,
	  "check the HAL's rules instead of models: on a driver in this process, or on the service at --socket PATH",
	  .offset = offsetof(struct options, validates) },
	{ "only", OPTION_TEXT, "SUITE|RULE",
	  "one suite (model, request, burst, deadline, memory, fence, hooks) or one rule (O-11)",
	  .offset = offsetof(struct options, only), .offers = "model request burst deadline memory fence hooks" },
	{ "junit", OPTION_TEXT, "FILE", "write the result of each check to FILE as JUnit's XML",
	  .offset = offsetof(struct options, junit) },
	{ "quiet", OPTION_SWITCH, NULL, "print no line for models or checks that passed",
	  .offset = offsetof(struct options, quiet) },
};

static const struct program program = {
	.name = "nnburst-conformance",
	.manual = "nnburst-conformance(1)",
	.version = BURSTSCOPE_VERSION,
	.usage = "[OPTION...] MODELS\n--validate [OPTION...]",
	.about = "Execute every model file (*.json, *.tflite) of the directory MODELS, or one file, and compare its "
		 "outputs "
		 "with the file's expected outputs. A .tflite file has none: its inputs are random, and all ways must "
		 "produce the same bits.",
	.statuses = "0 none failed, 1 some failed, 2 wrong usage, 4 no model file found, 5 environment.",
	.rows = option_rows,
	.n_rows = sizeof(option_rows) / sizeof(option_rows[0]),
	.operand_files = "json|tflite",
};

/* The names of two given options that exclude each other, and a reason; NULL if all given options go together. */
static const char *contradiction_of(const struct options *o)
{
	if (o->validates && o->driver && o->socket)
		return "--driver is validated in this process, --socket names a service: give one of them";
	if (o->validates && (o->path != NOT_GIVEN || o->preempt != NOT_GIVEN || o->memory != NOT_GIVEN || o->cache_dir))
		return "--validate executes no models: it goes with none of --path, --preempt, --memory and --cache";
	if (!o->validates && (o->only || o->junit))
		return "--only and --junit go with --validate";
	if (!o->validates && o->path == NOT_GIVEN && o->socket)
		return "--socket names a service: give --path, by which it executes, or --validate";
	if (o->path != NOT_GIVEN && (o->driver || o->preempt != NOT_GIVEN || o->cache_dir))
		return "--path executes by a service: it goes with none of --driver, --preempt and --cache";
	return NULL;
}

/* ---- the two things that it does ---- */

/* Validate the service if the user has named one, otherwise the driver. */
static int run_validation(struct session *s, const struct options *o)
{
	static const int ends[] = { [VALIDATE_GOOD] = DONE,
		                    [VALIDATE_FAILED] = DIFFERED,
		                    [VALIDATE_NOTHING] = USAGE,
		                    [VALIDATE_ENVIRONMENT] = ENVIRONMENT };
	struct validation validation = { .only = o->only, .junit = o->junit, .quiet = o->quiet };
	int status = o->socket ? connect_service(s, o->socket) : open_device(s, o->driver);

	if (status)
		return status;
	validation.device = s->device;
	validation.client = s->client;
	return ends[validate_subject(&validation)];
}

/* Run all model files of a directory, or one file. */
static int run_models(struct session *s, const struct options *o, const char *path)
{
	struct stat st;
	int status;

	memcpy(s->ways.memories, memory_sets[o->memory == NOT_GIVEN ? 0 : o->memory], sizeof(s->ways.memories));
	s->quiet = o->quiet;
	s->cache_dir = o->cache_dir;
	if (o->path != NOT_GIVEN) {
		s->ways.paths = path_bits[o->path];
		status = connect_service(s, o->socket);
	} else {
		s->ways.paths = AT_ONE_GO | (o->preempt == NOT_GIVEN ? 0 : preemption_bits[o->preempt]);
		status = open_device(s, o->driver);
	}
	if (status)
		return status;
	if (!stat(path, &st) && S_ISREG(st.st_mode) && (has_ending(path, ".json") || has_ending(path, ".tflite"))) {
		if (access(path, R_OK)) {
			fprintf(stderr, "nnburst-conformance: %s: %s\n", path, strerror(errno));
			return INPUT;
		}
		run_file(s, path);
	} else if (run_directory(s, path)) {
		return INPUT;
	}
	printf("%u passed, %u failed, %u skipped", s->count[PASSED], s->count[FAILED], s->count[SKIPPED]);
	if (s->ways.memories[DEVICE])
		printf("; %" PRIu64 " of %" PRIu64 " arguments in device memory", s->ways.kept, s->ways.arguments);
	putchar('\n');
	return s->count[FAILED] ? DIFFERED : DONE;
}

int main(int argc, char **argv)
{
	struct options options = { .path = NOT_GIVEN, .preempt = NOT_GIVEN, .memory = NOT_GIVEN };
	struct session session = { .device = NULL };
	int first, status = options_read(&program, &options, argc, argv, &first);
	const char *contradiction;

	if (status != OPTIONS_READ)
		return status;
	contradiction = contradiction_of(&options);
	if (contradiction)
		return options_wrong(&program, "%s", contradiction);
	if (!options.validates && first == argc)
		return options_wrong(&program, "expected MODELS, a directory or a file");
	if (argc - first > !options.validates)
		return options_wrong(&program, "unexpected argument '%s'", argv[first + !options.validates]);
	status = options.validates ? run_validation(&session, &options) : run_models(&session, &options, argv[first]);
	nnb_device_unref(session.device);
	nnb_client_close(session.client);
	return options_written(&program) ? ENVIRONMENT : status;
}
