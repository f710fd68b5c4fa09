/*
 * nnburst-conformance -- executes every model file of a directory, by a driver or through the service, and compares outputs.
 */
#include <dirent.h>
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "conformance/validate/validate.h"
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

static enum nnb_status target_prepare(struct session *s, const struct nnb_model *m, struct target *ret,
                                      struct nnb_reason *reason)
{
	enum nnb_status status;

	if (s->client)
		status = nnb_remote_prepare(s->client, m, NULL, NULL, &ret->remote, reason);
	else
		status = prepare_here(s, m, &ret->prepared, reason);
	if (!status && s->ways.paths & BY_BURST)
		status = nnb_remote_burst(ret->remote, NULL, &ret->burst, reason);
	if (!status && s->ways.memories[DEVICE])
		status = buffers_allocate(s, ret, reason);
	return status;
}

/* Does the status refuse the model itself, and not for lack of a resource? */
static bool is_refusal(enum nnb_status status)
{
	return status == NNB_STATUS_INVALID_ARGUMENT || status == NNB_STATUS_GENERAL_FAILURE;
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
	if (!status)
		status = target_prepare(s, file->model, &target, reason);
	if (file->expect_failure && is_refusal(status))
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
 * Print the line of one model. The line names the file already, so the file's path or name is removed from the start of the
 * reason.
 */
static void print_line(enum verdict verdict, const char *name, const char *path, const char *reason)
{
	size_t n = strlen(path);

	if (strncmp(reason, path, n) != 0) {
		n = strlen(name);
		path = name;
	}
	if (strncmp(reason, path, n) == 0 && strncmp(reason + n, ": ", 2) == 0)
		reason += n + 2;
	printf("%-7s %.*s%s%s\n", verdict_names[verdict], (int)(strrchr(name, '.') - name), name, *reason ? ": " : "",
	       reason);
	fflush(stdout);
}

static unsigned count_ways(const struct ways *w)
{
	return (unsigned)__builtin_popcount(w->paths) * ((unsigned)w->memories[SHARED] + w->memories[DEVICE]);
}

/*
 * Run a model without expected outputs, such as a .tflite file: random inputs, and all ways must agree. In this process the
 * execution is preempted, too, so that at least two ways are compared.
 */
static enum verdict run_random(struct session *s, const struct nnb_model_file *file, struct nnb_reason *reason)
{
	unsigned asked = s->ways.paths;
	enum verdict verdict;

	if (asked == AT_ONE_GO && !s->ways.memories[DEVICE])
		s->ways.paths |= SAVED;
	verdict = run_model(s, file, reason);
	if (verdict == PASSED && count_ways(&s->ways) == 1) {
		verdict = SKIPPED;
		snprintf(reason->text, sizeof(reason->text),
		         "it ran, but by one way, and the file holds no outputs to compare with");
	}
	s->ways.paths = asked;
	return verdict;
}

static int read_file(struct nnb_model_file **ret, const char *path, struct nnb_reason *reason)
{
	struct nnb_model *model;
	int r;

	if (!has_ending(path, ".tflite"))
		return nnb_model_file_read(ret, path, reason);
	r = nnb_model_load_tflite(&model, path, reason);
	return r ? r : random_inputs(ret, model, reason);
}

static void run_file(struct session *s, const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	struct nnb_model_file *file = NULL;
	struct nnb_reason reason = { "" };
	enum verdict verdict;
	int r = read_file(&file, path, &reason);

	if (r)
		verdict = r == -ENOTSUP ? SKIPPED : FAILED;
	else if (has_ending(path, ".tflite"))
		verdict = run_random(s, file, &reason);
	else
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

static void run_entry(struct session *s, const char *dir, const char *name)
{
	char *path;

	if (asprintf(&path, "%s/%s", dir, name) < 0)
		abort();
	run_file(s, path);
	free(path);
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
		run_entry(s, dir, entries[i]->d_name);
		free(entries[i]);
	}
	free(entries);
	return DONE;
}

/* Run all model files of a directory, or one file. */
static int run_all(struct session *s, const char *path)
{
	struct stat st;

	if (!stat(path, &st) && S_ISREG(st.st_mode) && (has_ending(path, ".json") || has_ending(path, ".tflite")))
		run_file(s, path);
	else if (run_directory(s, path))
		return INPUT;
	printf("%u passed, %u failed, %u skipped", s->count[PASSED], s->count[FAILED], s->count[SKIPPED]);
	if (s->ways.memories[DEVICE])
		printf("; %" PRIu64 " of %" PRIu64 " arguments in device memory", s->ways.kept, s->ways.arguments);
	putchar('\n');
	return s->count[FAILED] ? DIFFERED : DONE;
}

static int open_device(struct session *s, const char *driver)
{
	struct nnb_reason reason = { "" };
	uint8_t key[NNB_KEY_BYTES];
	char *path = NULL;
	int r = nnb_device_open(&s->device, driver, &reason);

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

static void print_usage(FILE *to)
{
	fputs("usage: nnburst-conformance [--driver NAME] [--cache DIR] [--preempt save|restart|both]\n"
	      "                           [--memory shared|device|both] [--quiet] DIR|FILE\n"
	      "       nnburst-conformance --path burst|sync|fenced|both|all [--socket PATH]\n"
	      "                           [--memory shared|device|both] [--quiet] DIR|FILE\n"
	      "       nnburst-conformance --validate [--driver NAME | --socket PATH] [--only SUITE|RULE] [--junit "
	      "FILE]\n"
	      "                           [--quiet]\n"
	      "       nnburst-conformance --help | --version\n"
	      "\n"
	      "Execute every model file (*.json, *.tflite) in DIR, or one FILE, and compare its outputs with the "
	      "file's\n"
	      "expected outputs. A .tflite file has none: its inputs are random, and all ways must produce the same "
	      "bits.\n"
	      "  --driver NAME  xnnpack (the default), null, or the path of a driver-NAME.so\n"
	      "  --cache DIR    fill a cache in DIR, then prepare each model from the cache\n"
	      "  --preempt HOW  execute again, and at every checkpoint let another execution preempt this one, which "
	      "then\n"
	      "                 continues (save), restarts (restart), or once each (both); the bits must be the same\n"
	      "  --path WAY     execute through nnburstd: by burst, by synchronous call (sync), behind fences "
	      "(fenced), by the\n"
	      "                 first two (both), or by all three (all); the bits must be the same\n"
	      "  --socket PATH  the socket of nnburstd, if it is not the default one\n"
	      "  --memory WHERE inputs and outputs in shared memory (shared, the default), in the driver's buffers "
	      "(device),\n"
	      "                 or once in each (both); the bits must be the same\n"
	      "  --validate     check the HAL's rules instead of models: on a driver in this process, or on the "
	      "service at PATH\n"
	      "  --only WHAT    one suite (model, request, burst, deadline, memory, fence, hooks) or one rule (O-11)\n"
	      "  --junit FILE   write the result of each check to FILE as JUnit's XML\n"
	      "  --quiet        print no line for models or checks that passed\n"
	      "\n"
	      "Exit status: 0 none failed, 1 some failed, 2 wrong usage, 4 no model file found, 5 environment.\n"
	      "nnburst-conformance(1) explains the lines.\n",
	      to);
}

/* The path's bit; 0: there is no such path. */
static unsigned path_of(const char *name)
{
	if (strcmp(name, "all") == 0)
		return BY_SYNC | BY_BURST | BY_FENCED;
	if (strcmp(name, "both") == 0)
		return BY_SYNC | BY_BURST;
	for (unsigned i = 0; i < SERVICE_PATHS; i++)
		if (strcmp(name, path_names[i]) == 0)
			return 1u << i;
	return 0;
}

/* The bit of a kind of preemption; 0: there is no such kind. */
static unsigned preemption_of(const char *name)
{
	if (strcmp(name, "save") == 0)
		return SAVED;
	if (strcmp(name, "restart") == 0)
		return RESTARTED;
	return strcmp(name, "both") == 0 ? SAVED | RESTARTED : 0;
}

/* Set ret[] by name. False: there is no such memory. */
static bool memories_of(const char *name, bool ret[N_MEMORIES])
{
	bool both = strcmp(name, "both") == 0;

	ret[SHARED] = both || strcmp(name, "shared") == 0;
	ret[DEVICE] = both || strcmp(name, "device") == 0;
	return ret[SHARED] || ret[DEVICE];
}

struct options {
	const char *driver, *socket;
	unsigned preempted;
	bool validates;
	struct validation validation;
	bool over; /* --help or --version has printed its text */
};

static int wrong_usage(void)
{
	print_usage(stderr);
	return USAGE;
}

static int take_option(struct session *s, struct options *o, int option)
{
	switch (option) {
	case 'd':
		o->driver = optarg;
		return DONE;
	case 'c':
		s->cache_dir = optarg;
		return DONE;
	case 'p':
		s->ways.paths = path_of(optarg);
		if (s->ways.paths)
			return DONE;
		fprintf(stderr,
		        "nnburst-conformance: --path: '%s' is unknown; write burst, sync, fenced, both or all\n",
		        optarg);
		return USAGE;
	case 'e':
		o->preempted = preemption_of(optarg);
		if (o->preempted)
			return DONE;
		fprintf(stderr, "nnburst-conformance: --preempt: '%s' is unknown; write save, restart or both\n",
		        optarg);
		return USAGE;
	case 'm':
		if (memories_of(optarg, s->ways.memories))
			return DONE;
		fprintf(stderr, "nnburst-conformance: --memory: '%s' is unknown; write shared, device or both\n",
		        optarg);
		return USAGE;
	case 's':
		o->socket = optarg;
		return DONE;
	case 'q':
		s->quiet = o->validation.quiet = true;
		return DONE;
	case 'V':
		o->validates = true;
		return DONE;
	case 'o':
		o->validation.only = optarg;
		return DONE;
	case 'j':
		o->validation.junit = optarg;
		return DONE;
	case 'h':
		print_usage(stdout);
		o->over = true;
		return DONE;
	case 'v':
		puts("nnburst-conformance " BURSTSCOPE_VERSION);
		o->over = true;
		return DONE;
	default:
		return wrong_usage();
	}
}

/* --validate accepts no model, and no option that selects how models are executed. */
static int validation_usage(const struct session *s, const struct options *o, int rest)
{
	bool shared = s->ways.memories[SHARED] && !s->ways.memories[DEVICE];

	return rest || (o->driver && o->socket) || s->ways.paths || s->cache_dir || o->preempted || !shared
	               ? wrong_usage()
	               : DONE;
}

static int read_options(struct session *s, struct options *o, int argc, char **argv)
{
	static const struct option options[] = { { "driver", required_argument, NULL, 'd' },
		                                 { "cache", required_argument, NULL, 'c' },
		                                 { "path", required_argument, NULL, 'p' },
		                                 { "preempt", required_argument, NULL, 'e' },
		                                 { "memory", required_argument, NULL, 'm' },
		                                 { "socket", required_argument, NULL, 's' },
		                                 { "quiet", no_argument, NULL, 'q' },
		                                 { "help", no_argument, NULL, 'h' },
		                                 { "validate", no_argument, NULL, 'V' },
		                                 { "only", required_argument, NULL, 'o' },
		                                 { "junit", required_argument, NULL, 'j' },
		                                 { "version", no_argument, NULL, 'v' },
		                                 { 0 } };
	int option, status = DONE;

	while (!status && !o->over && (option = getopt_long(argc, argv, "", options, NULL)) >= 0)
		status = take_option(s, o, option);
	if (status || o->over)
		return status;
	if (o->validates)
		return validation_usage(s, o, argc - optind);
	if (argc - optind != 1 || o->validation.only || o->validation.junit ||
	    (s->ways.paths && (o->driver || s->cache_dir || o->preempted)) || (o->socket && !s->ways.paths))
		return wrong_usage();
	return DONE;
}

/* Validate the service if the user has named one, otherwise the driver. */
static int run_validation(struct session *s, struct options *o)
{
	static const int ends[] = { [VALIDATE_GOOD] = DONE,
		                    [VALIDATE_FAILED] = DIFFERED,
		                    [VALIDATE_NOTHING] = USAGE,
		                    [VALIDATE_ENVIRONMENT] = ENVIRONMENT };
	int status = o->socket ? connect_service(s, o->socket) : open_device(s, o->driver ? o->driver : "xnnpack");

	if (status)
		return status;
	o->validation.device = s->device;
	o->validation.client = s->client;
	return ends[validate_subject(&o->validation)];
}

static int run_models(struct session *s, const struct options *o, const char *path)
{
	int status;

	if (s->ways.paths) {
		status = connect_service(s, o->socket);
	} else {
		s->ways.paths = AT_ONE_GO | o->preempted;
		status = open_device(s, o->driver ? o->driver : "xnnpack");
	}
	return status ? status : run_all(s, path);
}

int main(int argc, char **argv)
{
	struct session session = { .ways.memories = { [SHARED] = true } };
	struct options options = { 0 };
	int status = read_options(&session, &options, argc, argv);

	if (status || options.over)
		return status;
	status = options.validates ? run_validation(&session, &options) : run_models(&session, &options, argv[optind]);
	nnb_device_unref(session.device);
	nnb_client_close(session.client);
	if (fflush(stdout) || ferror(stdout)) {
		fprintf(stderr, "nnburst-conformance: cannot write the output\n");
		return ENVIRONMENT;
	}
	return status;
}
