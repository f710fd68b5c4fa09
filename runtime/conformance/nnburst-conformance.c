/* nnburst-conformance -- run every model file of a directory, by a driver or through the service, and compare. */
#include <dirent.h>
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "nnb/client.h"
#include "nnb/fence.h"

enum { DONE = 0, DIFFERED = 1, USAGE = 2, INPUT = 4, ENVIRONMENT = 5 };
enum { ALIGNMENT = 64, ROOM = 1 << 20 };

enum verdict { PASSED, FAILED, SKIPPED, N_VERDICTS };
static const char *const verdict_names[N_VERDICTS] = { "passed", "FAILED", "skipped" };

/* The ways an execution can take: through a service, or in this process, where it can be preempted. */
enum { BY_SYNC = 1, BY_BURST = 2, BY_FENCED = 4, AT_ONE_GO = 8, SAVED = 16, RESTARTED = 32 };
enum { SERVICE_PATHS = 3, N_PATHS = 6 };
static const char *const path_names[N_PATHS] = { "sync", "burst", "fenced", "one go", "save", "restart" };

struct session {
	struct nnb_device *device; /* in this process; or else */
	struct nnb_client *client;
	unsigned paths;
	const char *cache_dir; /* NULL: not through a cache */
	bool quiet;
	unsigned count[N_VERDICTS];
};

/* ---- tolerances, as the models' own harness has them (D-10) ---- */

struct tolerance {
	double absolute, relative;
};

static struct tolerance tolerance_of(const struct nnb_model *m, uint32_t type)
{
	if (type == NNB_TENSOR_FLOAT32 || type == NNB_FLOAT32)
		return m->relaxed ? (struct tolerance){ 5e-3, 5e-3 } : (struct tolerance){ 1e-5, 5e-6 };
	if (type == NNB_TENSOR_QUANT8_ASYMM)
		return (struct tolerance){ 1, 0 };
	return (struct tolerance){ 0, 0 };
}

static double element(uint32_t type, const void *data, size_t i)
{
	switch (type) {
	case NNB_FLOAT32:
	case NNB_TENSOR_FLOAT32:
		return ((const float *)data)[i];
	case NNB_UINT32:
		return ((const uint32_t *)data)[i];
	case NNB_INT32:
	case NNB_TENSOR_INT32:
		return ((const int32_t *)data)[i];
	default:
		return ((const uint8_t *)data)[i];
	}
}

static bool near(double got, double want, struct tolerance t)
{
	return got == want || fabs(got - want) <= t.absolute + t.relative * fabs(want); /* a NaN is near nothing */
}

/* How many of an output's elements are off, and the first of them in words. */
static size_t compare(const struct nnb_model *m, uint32_t output, const void *got, const void *want, size_t bytes,
                      struct nnb_reason *reason)
{
	uint32_t type = m->operands[m->outputs[output]].type;
	struct tolerance t = tolerance_of(m, type);
	size_t n = bytes / nnb_type_info(type)->bytes, off = 0;

	for (size_t i = 0; i < n; i++) {
		double g = element(type, got, i), w = element(type, want, i);

		if (near(g, w, t))
			continue;
		if (off++ == 0)
			snprintf(reason->text, sizeof(reason->text), "output %u[%zu] is %.9g, not %.9g", output, i, g,
			         w);
	}
	if (off > 1) {
		size_t used = strlen(reason->text);

		snprintf(reason->text + used, sizeof(reason->text) - used, "; %zu of %zu elements differ", off, n);
	}
	return off;
}

/* ---- one example ---- */

/* Inputs in one pool, outputs in another, and the call that says so. */
struct arrangement {
	struct nnb_pool *pools[2];
	struct nnb_argument *inputs, *outputs;
	struct nnb_call call;
	void *kept;       /* what another path made of it ... */
	unsigned kept_of; /* ... this one */
};

static void arrangement_free(struct arrangement *a)
{
	for (int i = 0; i < 2; i++)
		nnb_pool_free(a->pools[i]);
	free(a->inputs);
	free(a->outputs);
	free(a->kept);
}

/* The bytes of a model's input or output: as the example has them, otherwise as the model does. */
static uint64_t bytes_of(const struct nnb_model *m, uint32_t operand, size_t given)
{
	const struct nnb_operand *o = &m->operands[operand];
	uint64_t bytes = given;

	if (!given && (nnb_operand_bytes(o->type, o->rank, o->dims, &bytes) || !bytes))
		return ROOM; /* an output nobody compares, of whatever size */
	return bytes;
}

/* Lay these operands out one after the other in pool @pool. Returns its bytes. */
static uint64_t lay_out(struct nnb_argument *args, const struct nnb_model *m, const uint32_t *operands, uint32_t n,
                        uint32_t pool, const size_t *given)
{
	uint64_t at = 0;

	for (uint32_t i = 0; i < n; i++) {
		uint64_t bytes = bytes_of(m, operands[i], given[i]);

		args[i].location = (struct nnb_location){ pool, (uint32_t)at, (uint32_t)bytes };
		at += (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
	}
	return at ? at : ALIGNMENT;
}

static bool arrange(struct arrangement *a, const struct nnb_model *m, const struct nnb_example *x)
{
	uint64_t bytes[2];

	a->inputs = calloc(m->n_inputs + 1, sizeof(*a->inputs));
	a->outputs = calloc(m->n_outputs + 1, sizeof(*a->outputs));
	if (!a->inputs || !a->outputs)
		return false;
	bytes[0] = lay_out(a->inputs, m, m->inputs, m->n_inputs, 0, x->input_bytes);
	bytes[1] = lay_out(a->outputs, m, m->outputs, m->n_outputs, 1, x->output_bytes);
	for (int i = 0; i < 2; i++)
		if (bytes[i] > UINT32_MAX || nnb_pool_new(&a->pools[i], bytes[i]))
			return false;
	for (uint32_t i = 0; i < m->n_inputs; i++) {
		if (x->inputs[i])
			memcpy((char *)nnb_pool_data(a->pools[0]) + a->inputs[i].location.offset, x->inputs[i],
			       x->input_bytes[i]);
		else
			a->inputs[i] = (struct nnb_argument){ .no_value = true };
	}
	a->call = (struct nnb_call){ .inputs = a->inputs,
		                     .outputs = a->outputs,
		                     .n_inputs = m->n_inputs,
		                     .n_outputs = m->n_outputs,
		                     .n_pools = 2,
		                     .pools = a->pools };
	return true;
}

/* A model that can be executed, one way or another. */
struct target {
	struct nnb_prepared *prepared;
	struct nnb_remote *remote;
	struct nnb_burst *burst;
};

static const struct nnb_model *model_of(const struct target *t)
{
	return t->remote ? nnb_remote_model(t->remote) : nnb_prepared_model(t->prepared);
}

static void target_free(struct target *t)
{
	nnb_burst_free(t->burst);
	nnb_remote_release(t->remote);
	nnb_prepared_unref(t->prepared);
}

/* @memories: room for two. */
static struct nnb_request request_of(const struct arrangement *a, struct nnb_pool *const pools[2],
                                     struct nnb_memory *memories)
{
	for (int i = 0; i < 2; i++)
		memories[i] = *nnb_pool_memory(pools[i]);
	return (struct nnb_request){ .inputs = a->inputs,
		                     .outputs = a->outputs,
		                     .n_inputs = a->call.n_inputs,
		                     .n_outputs = a->call.n_outputs,
		                     .n_pools = 2,
		                     .pools = memories };
}

static bool is_not(void *op, uint32_t next_op)
{
	return next_op != *(const uint32_t *)op;
}

/*
 * Stop at each checkpoint in turn, and have @other, which uses all that it may, run before it goes on or starts over.
 */
static enum nnb_status run_with_stops(const struct target *t, const struct nnb_request *request,
                                      const struct nnb_request *other, bool over, struct nnb_reason *reason)
{
	struct nnb_execution *e;
	enum nnb_status status = nnb_execution_begin(t->prepared, request, NULL, false, NULL, &e, reason);
	bool finished = false;
	uint32_t stop = 1;

	if (status)
		return status;
	while (!status && !finished) {
		status = nnb_execution_run(e, is_not, &stop, &finished);
		if (status || finished)
			break;
		nnb_execute(t->prepared, other, NULL, NULL); /* whatever becomes of it */
		if (over)
			status = nnb_execution_restart(e);
		stop++;
	}
	nnb_execution_end(e);
	return status;
}

/* Other inputs: those of @a with their elements the other way round. */
static void turn_inputs(const struct arrangement *a, const struct nnb_model *m, struct nnb_pool *to)
{
	const char *from = nnb_pool_data(a->pools[0]);

	for (uint32_t i = 0; i < m->n_inputs; i++) {
		const struct nnb_location *at = &a->inputs[i].location;
		size_t bytes = nnb_type_info(m->operands[m->inputs[i]].type)->bytes, n = at->length / bytes;
		char *turned = (char *)nnb_pool_data(to) + at->offset;

		for (size_t k = 0; !a->inputs[i].no_value && k < n; k++)
			memcpy(turned + k * bytes, from + at->offset + (n - 1 - k) * bytes, bytes);
	}
}

static enum nnb_status execute_preempted(const struct target *t, const struct arrangement *a, bool over,
                                         struct nnb_reason *reason)
{
	enum nnb_status status = NNB_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
	struct nnb_pool *others[2] = { NULL, NULL };
	struct nnb_memory memories[2], other_memories[2];
	struct nnb_request request = request_of(a, a->pools, memories), other;

	if (!nnb_pool_new(&others[0], nnb_pool_size(a->pools[0])) &&
	    !nnb_pool_new(&others[1], nnb_pool_size(a->pools[1]))) {
		turn_inputs(a, model_of(t), others[0]);
		other = request_of(a, others, other_memories);
		status = run_with_stops(t, &request, &other, over, reason);
	}
	nnb_pool_free(others[0]);
	nnb_pool_free(others[1]);
	return status;
}

static enum nnb_status execute_here(const struct target *t, unsigned path, const struct arrangement *a,
                                    struct nnb_reason *reason)
{
	struct nnb_memory memories[2];
	struct nnb_request request = request_of(a, a->pools, memories);

	if (path == AT_ONE_GO)
		return nnb_execute(t->prepared, &request, NULL, reason);
	return execute_preempted(t, a, path == RESTARTED, reason);
}

/* Behind a fence that is signalled when it is under way. */
static enum nnb_status execute_fenced(const struct target *t, const struct arrangement *a, struct nnb_reason *reason)
{
	struct nnb_fenced *fenced;
	int first, last = -1;
	const struct nnb_fenced_how how = { .wait_for = &first, .n_wait_for = 1 };
	enum nnb_status status;

	if (nnb_fence_new(&first)) {
		snprintf(reason->text, sizeof(reason->text), "no fence");
		return NNB_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
	}
	status = nnb_remote_execute_fenced(t->remote, &a->call, &how, &fenced, &last, reason);
	nnb_fence_signal(first, false);
	close(first);
	if (status)
		return status;
	while (nnb_fence_wait(&last, 1, 0) == -EINTR)
		;
	status = nnb_fenced_info(fenced, NULL, NULL, reason);
	nnb_fenced_free(fenced);
	close(last);
	return status;
}

static enum nnb_status execute(const struct target *t, unsigned path, const struct arrangement *a,
                               struct nnb_reason *reason)
{
	struct nnb_answer answer = { 0 };
	enum nnb_status status;

	if (t->prepared)
		return execute_here(t, path, a, reason);
	if (path == BY_SYNC)
		return nnb_remote_execute(t->remote, &a->call, &answer, reason);
	if (path == BY_FENCED)
		return execute_fenced(t, a, reason);
	status = nnb_burst_execute(t->burst, &a->call, &answer, reason);
	if (!status && answer.fallback) {
		snprintf(reason->text, sizeof(reason->text), "the burst could not carry it");
		status = NNB_STATUS_GENERAL_FAILURE;
	}
	return status;
}

static enum verdict compare_outputs(const struct nnb_model *m, const struct nnb_example *x, const struct arrangement *a,
                                    struct nnb_reason *reason)
{
	for (uint32_t i = 0; i < m->n_outputs; i++) {
		const char *got = (const char *)nnb_pool_data(a->pools[1]) + a->outputs[i].location.offset;

		if (x->outputs[i] && compare(m, i, got, x->outputs[i], x->output_bytes[i], reason))
			return FAILED;
	}
	return PASSED;
}

static const char *name_of(unsigned path)
{
	return path_names[__builtin_ctz(path)];
}

/* The other paths have to make the same of it, to the last bit. The output pool is left full of something else. */
static enum verdict compare_paths(struct arrangement *a, unsigned path, struct nnb_reason *reason)
{
	void *outputs = nnb_pool_data(a->pools[1]);
	size_t bytes = nnb_pool_size(a->pools[1]);
	enum verdict verdict = PASSED;

	if (a->kept && memcmp(a->kept, outputs, bytes)) {
		snprintf(reason->text, sizeof(reason->text), "by %s and by %s it does not give the same bits",
		         name_of(path), name_of(a->kept_of));
		verdict = FAILED;
	} else if (!a->kept) {
		a->kept = malloc(bytes);
		a->kept_of = path;
		if (a->kept)
			memcpy(a->kept, outputs, bytes);
	}
	memset(outputs, 0, bytes);
	return verdict;
}

static enum verdict run_path(const struct target *t, unsigned path, const struct nnb_example *x, struct arrangement *a,
                             struct nnb_reason *reason)
{
	enum nnb_status status = execute(t, path, a, reason);
	enum verdict verdict;

	if (status) {
		struct nnb_reason why = *reason;

		snprintf(reason->text, sizeof(reason->text), "%s: %.200s", nnb_status_name(status), why.text);
		return FAILED;
	}
	verdict = compare_outputs(model_of(t), x, a, reason);
	return verdict == PASSED ? compare_paths(a, path, reason) : verdict;
}

static enum verdict run_example(const struct session *s, const struct target *t, const struct nnb_example *x,
                                struct nnb_reason *reason)
{
	__attribute__((cleanup(arrangement_free))) struct arrangement a = { 0 };
	enum verdict verdict = PASSED;

	if (!arrange(&a, model_of(t), x)) {
		snprintf(reason->text, sizeof(reason->text), "no memory for inputs and outputs");
		return FAILED;
	}
	for (unsigned i = 0; verdict == PASSED && i < N_PATHS; i++)
		if (s->paths & 1u << i)
			verdict = run_path(t, 1u << i, x, &a, reason);
	return verdict;
}

/* ---- one model ---- */

/* Does the driver take all of it? NONE, and *supported; the reason names the first operation it does not take. */
static enum nnb_status ask(struct session *s, const struct nnb_model *m, bool *supported, struct nnb_reason *reason)
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

static enum nnb_status prepare_here(struct session *s, const struct nnb_model *m, struct nnb_prepared **ret,
                                    struct nnb_reason *reason)
{
	struct nnb_prepare how = { .preference = 1, .priority = 1 };
	uint8_t token[NNB_TOKEN_BYTES] = { 0 };
	enum nnb_status status;
	bool from_cache;

	if (!s->cache_dir)
		return nnb_prepare(s->device, m, &how, NULL, ret, reason);
	/* Twice: the second finds what the first has left. */
	memcpy(token, m->name, strnlen(m->name, sizeof(token)));
	status = nnb_prepare_cached(s->device, m, &how, s->cache_dir, token, ret, &from_cache, reason);
	if (status || from_cache)
		return status;
	nnb_prepared_unref(*ret);
	status = nnb_prepare_cached(s->device, m, &how, s->cache_dir, token, ret, &from_cache, reason);
	if (!status && !from_cache) {
		nnb_prepared_unref(*ret);
		snprintf(reason->text, sizeof(reason->text), "was not found in the cache it had been saved to");
		status = NNB_STATUS_GENERAL_FAILURE;
	}
	return status;
}

static enum nnb_status prepare(struct session *s, const struct nnb_model *m, struct target *ret,
                               struct nnb_reason *reason)
{
	enum nnb_status status;

	if (!s->client)
		return prepare_here(s, m, &ret->prepared, reason);
	status = nnb_remote_prepare(s->client, m, NULL, NULL, &ret->remote, reason);
	if (!status && s->paths & BY_BURST)
		status = nnb_remote_burst(ret->remote, NULL, &ret->burst, reason);
	return status;
}

static enum verdict run_model(struct session *s, const struct nnb_model_file *file, struct nnb_reason *reason)
{
	__attribute__((cleanup(target_free))) struct target target = { 0 };
	enum verdict verdict = PASSED;
	enum nnb_status status;
	bool supported;

	status = ask(s, file->model, &supported, reason);
	if (!status && !supported)
		return SKIPPED;
	if (!status && !file->n_examples) {
		snprintf(reason->text, sizeof(reason->text), "the file holds no example");
		return SKIPPED;
	}
	if (!status)
		status = prepare(s, file->model, &target, reason);
	if (status) {
		struct nnb_reason why = *reason;

		snprintf(reason->text, sizeof(reason->text), "%s: %.200s", nnb_status_name(status), why.text);
		return FAILED;
	}
	for (uint32_t i = 0; verdict == PASSED && i < file->n_examples; i++) {
		struct nnb_reason why = { "" };

		verdict = run_example(s, &target, &file->examples[i], &why);
		if (verdict != PASSED)
			snprintf(reason->text, sizeof(reason->text), "example %u: %.230s", i, why.text);
	}
	return verdict;
}

/* One line; a reason that begins with the file's path begins behind that, since the line names the file. */
static void print_line(enum verdict verdict, const char *name, const char *path, const char *reason)
{
	size_t n = strlen(path);

	if (strncmp(reason, path, n) == 0 && strncmp(reason + n, ": ", 2) == 0)
		reason += n + 2;
	printf("%-7s %.*s%s%s\n", verdict_names[verdict], (int)strlen(name) - 5, name, verdict == PASSED ? "" : ": ",
	       verdict == PASSED ? "" : reason);
	fflush(stdout);
}

static void run_file(struct session *s, const char *dir, const char *name)
{
	struct nnb_model_file *file = NULL;
	struct nnb_reason reason = { "" };
	enum verdict verdict;
	char *path;
	int r;

	if (asprintf(&path, "%s/%s", dir, name) < 0)
		abort();
	r = nnb_model_file_read(&file, path, &reason);
	if (r)
		verdict = r == -ENOTSUP ? SKIPPED : FAILED;
	else
		verdict = run_model(s, file, &reason);
	s->count[verdict]++;
	if (verdict != PASSED || !s->quiet)
		print_line(verdict, name, path, reason.text);
	nnb_model_file_free(file);
	free(path);
}

/* ---- the directory ---- */

static int is_model(const struct dirent *entry)
{
	size_t n = strlen(entry->d_name);

	return n > 5 && strcmp(entry->d_name + n - 5, ".json") == 0;
}

static int run_directory(struct session *s, const char *dir)
{
	struct dirent **entries;
	int n = scandir(dir, &entries, is_model, alphasort);

	if (n <= 0) {
		fprintf(stderr, "nnburst-conformance: %s: %s\n", dir,
		        n < 0 ? strerror(errno) : "no model file (*.json)");
		if (n == 0)
			free(entries);
		return INPUT;
	}
	for (int i = 0; i < n; i++) {
		run_file(s, dir, entries[i]->d_name);
		free(entries[i]);
	}
	free(entries);
	printf("%u passed, %u failed, %u skipped\n", s->count[PASSED], s->count[FAILED], s->count[SKIPPED]);
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

static void usage(FILE *to)
{
	fputs("usage: nnburst-conformance [--driver NAME] [--cache DIR] [--preempt save|restart|both] [--quiet] DIR\n"
	      "       nnburst-conformance --path burst|sync|fenced|both|all [--socket PATH] [--quiet] DIR\n"
	      "       nnburst-conformance --help | --version\n"
	      "\n"
	      "Run every model file (*.json) in DIR and compare its outputs with what the file expects.\n"
	      "  --driver NAME  xnnpack (the default), null, or the path of a driver-NAME.so\n"
	      "  --cache DIR    prepare each model from a cache in DIR, filling that first\n"
	      "  --preempt HOW  once more, interrupted at every checkpoint by another execution, and then gone on with "
	      "(save),\n"
	      "                 started over (restart), or both, which must give the same bits\n"
	      "  --path WAY     through nnburstd: by bursts, synchronous calls, executions behind fences; by the first "
	      "two\n"
	      "                 (both), or by all, which must give the same bits\n"
	      "  --socket PATH  where nnburstd listens, if not where it usually does\n"
	      "  --quiet        say nothing of models that passed\n"
	      "\n"
	      "Exit status: 0 none failed, 1 some did, 2 wrong usage, 4 no model files there, 5 environment.\n"
	      "nnburst-conformance(1) explains the lines.\n",
	      to);
}

/* 0: there is no such path. */
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

/* 0: there is no such thing. */
static unsigned preemption_of(const char *name)
{
	if (strcmp(name, "save") == 0)
		return SAVED;
	if (strcmp(name, "restart") == 0)
		return RESTARTED;
	return strcmp(name, "both") == 0 ? SAVED | RESTARTED : 0;
}

struct options {
	const char *driver, *socket;
	unsigned preempted;
	bool over; /* all that was asked for has been said */
};

static int wrong_usage(void)
{
	usage(stderr);
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
		s->paths = path_of(optarg);
		if (s->paths)
			return DONE;
		fprintf(stderr, "nnburst-conformance: no path '%s'; there are burst, sync, fenced, both and all\n",
		        optarg);
		return USAGE;
	case 'e':
		o->preempted = preemption_of(optarg);
		if (o->preempted)
			return DONE;
		fprintf(stderr, "nnburst-conformance: no preemption '%s'; there are save, restart and both\n", optarg);
		return USAGE;
	case 's':
		o->socket = optarg;
		return DONE;
	case 'q':
		s->quiet = true;
		return DONE;
	case 'h':
		usage(stdout);
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

static int read_options(struct session *s, struct options *o, int argc, char **argv)
{
	static const struct option options[] = { { "driver", required_argument, NULL, 'd' },
		                                 { "cache", required_argument, NULL, 'c' },
		                                 { "path", required_argument, NULL, 'p' },
		                                 { "preempt", required_argument, NULL, 'e' },
		                                 { "socket", required_argument, NULL, 's' },
		                                 { "quiet", no_argument, NULL, 'q' },
		                                 { "help", no_argument, NULL, 'h' },
		                                 { "version", no_argument, NULL, 'v' },
		                                 { 0 } };
	int option, status = DONE;

	while (!status && !o->over && (option = getopt_long(argc, argv, "", options, NULL)) >= 0)
		status = take_option(s, o, option);
	if (status || o->over)
		return status;
	if (argc - optind != 1 || (s->paths && (o->driver || s->cache_dir || o->preempted)) || (o->socket && !s->paths))
		return wrong_usage();
	return DONE;
}

int main(int argc, char **argv)
{
	struct session session = { 0 };
	struct options options = { 0 };
	int status = read_options(&session, &options, argc, argv);

	if (status || options.over)
		return status;
	if (session.paths) {
		status = connect_service(&session, options.socket);
	} else {
		session.paths = AT_ONE_GO | options.preempted;
		status = open_device(&session, options.driver ? options.driver : "xnnpack");
	}
	if (!status)
		status = run_directory(&session, argv[optind]);
	nnb_device_unref(session.device);
	nnb_client_close(session.client);
	if (fflush(stdout) || ferror(stdout)) {
		fprintf(stderr, "nnburst-conformance: cannot write the output\n");
		return ENVIRONMENT;
	}
	return status;
}
