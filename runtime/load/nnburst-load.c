/* nnburst-load -- run apps as a scenario file says, each a process of its own, and tell what they measured. */
#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "apps.h"
#include "load.h"
#include "own_run.h"
#include "report.h"
#include "work.h"

struct options {
	const char *socket, *scenario, *log;
	const char *model; /* NULL: the scenario says which */
	const char *into;  /* file to record into; NULL: named after the model */
	bool own_service, record;
	uint64_t duration_ns; /* 0: as the scenario says */
	int64_t seed;         /* -1: as the scenario says */
	bool json, list, check, quiet;
};

static void print_usage(FILE *to)
{
	fputs("usage: nnburst-load [--socket PATH] [--duration TIME] [--seed N] [--format table|json] [--check] "
	      "[--quiet]\n"
	      "                    [--log FILE] [--service] SCENARIO | --model FILE\n"
	      "       nnburst-load --model FILE --record[=DIR] [--socket PATH] [--duration TIME] [--seed N]\n"
	      "       nnburst-load --list | --help | --version\n"
	      "\n"
	      "Run the apps of a scenario against the service, each as a process of its own, and print what they "
	      "measured.\n"
	      "SCENARIO is a file (with a slash, or ending in .json), or the name of one that comes with the program.\n"
	      "  --model FILE     instead of a scenario: one app runs this model (.tflite, or nnb_model(5)), or one of "
	      "the\n"
	      "                   program's own, by bursts for two seconds\n"
	      "  --record[=DIR]   record that run with burstscope into DIR, by default a directory named after the\n"
	      "                   model, and print the overhead of bursts; without --socket it implies --service\n"
	      "  --service        start an nnburstd for this run\n"
	      "  --socket PATH    socket of the service; default: $NNBURST_SOCKET, or where nnburstd listens\n"
	      "  --duration TIME  replaces the scenario's duration, as in 500ms\n"
	      "  --seed N         replaces the scenario's seed\n"
	      "  --format KIND    table (the default) or json\n"
	      "  --log FILE       write the times and the status of each execution, as its app saw them\n"
	      "  --check          read the scenario and its models, but run nothing\n"
	      "  --quiet          show no progress\n"
	      "  --list           list the scenarios that come with the program\n"
	      "\n"
	      "Exit status: 0 done, 1 an app or an execution failed, 2 wrong usage, 4 a wrong scenario,\n"
	      "5 environment: no service, no permission. nnburst-load(1), nnburst-scenario(5).\n",
	      to);
}

static void print_error(const char *about, const char *what)
{
	fprintf(stderr, "nnburst-load: %s%s%s\n", about, *about ? ": " : "", what);
}

/* ---- options ---- */

enum { SOCKET = 256, DURATION, SEED, FORMAT, LOG, LIST, CHECK, QUIET, MODEL, RECORD, SERVICE, HELP, VERSION };

static const struct option long_options[] = {
	{ "socket", required_argument, NULL, SOCKET }, { "duration", required_argument, NULL, DURATION },
	{ "seed", required_argument, NULL, SEED },     { "format", required_argument, NULL, FORMAT },
	{ "log", required_argument, NULL, LOG },       { "list", no_argument, NULL, LIST },
	{ "model", required_argument, NULL, MODEL },   { "record", optional_argument, NULL, RECORD },
	{ "service", no_argument, NULL, SERVICE },     { "check", no_argument, NULL, CHECK },
	{ "quiet", no_argument, NULL, QUIET },         { "help", no_argument, NULL, HELP },
	{ "version", no_argument, NULL, VERSION },     { 0 }
};

enum { N_OPTIONS = sizeof(long_options) / sizeof(long_options[0]) - 1 };

static int wrong_option(const char *word)
{
	const char *nearest = strncmp(word, "--", 2) ? NULL
	                                             : load_nearest(word + 2, &long_options[0].name, N_OPTIONS,
	                                                            sizeof(long_options[0]));

	if (nearest)
		fprintf(stderr, "nnburst-load: no option '%s'; did you mean '--%s'?\n", word, nearest);
	else
		fprintf(stderr, "nnburst-load: no option '%s'; see nnburst-load --help\n", word);
	return LOAD_USAGE;
}

static bool take_seed(const char *text, int64_t *ret)
{
	char *end;
	long long n;

	errno = 0;
	n = strtoll(text, &end, 10);
	*ret = n;
	return *text >= '0' && *text <= '9' && !*end && !errno;
}

static bool take_option(struct options *o, int option)
{
	switch (option) {
	case SOCKET:
		o->socket = optarg;
		return strlen(optarg) < PATH_MAX;
	case DURATION:
		return !load_time(optarg, &o->duration_ns) && o->duration_ns >= LOAD_MS &&
		       o->duration_ns <= LOAD_DURATION_MAX;
	case SEED:
		return take_seed(optarg, &o->seed);
	case FORMAT:
		o->json = strcmp(optarg, "json") == 0;
		return o->json || strcmp(optarg, "table") == 0;
	case LOG:
		o->log = optarg;
		return *optarg;
	case MODEL:
		o->model = optarg;
		return *optarg;
	case RECORD:
		o->into = optarg;
		return o->record = !optarg || *optarg;
	case SERVICE:
		return o->own_service = true;
	case LIST:
		return o->list = true;
	case CHECK:
		return o->check = true;
	default:
		return o->quiet = true;
	}
}

/* Returns -1, or the exit status of the program. */
static int read_options(struct options *o, int argc, char **argv)
{
	int option, index = 0;

	opterr = 0;
	while ((option = getopt_long(argc, argv, ":", long_options, &index)) >= 0) {
		if (option == HELP || option == VERSION) {
			if (option == HELP)
				print_usage(stdout);
			else
				puts("nnburst-load " BURSTSCOPE_VERSION);
			return LOAD_DONE;
		}
		if (option == ':' || (option == '?' && optopt >= SOCKET)) {
			fprintf(stderr, "nnburst-load: '%s' %s; see nnburst-load --help\n", argv[optind - 1],
			        option == ':' ? "needs a value" : "takes no value");
			return LOAD_USAGE;
		}
		if (option == '?')
			return wrong_option(argv[optind - 1]);
		if (!take_option(o, option)) {
			fprintf(stderr, "nnburst-load: --%s: '%s' is not a valid value; see nnburst-load --help\n",
			        long_options[index].name, optarg);
			return LOAD_USAGE;
		}
	}
	if ((o->list || o->model ? optind == argc : argc - optind == 1) && (o->model || !o->record) &&
	    !(o->own_service && o->socket) && !(o->record && (o->check || o->log || o->json))) {
		o->scenario = argv[optind];
		return -1;
	}
	print_usage(stderr);
	return LOAD_USAGE;
}

/* ---- scenarios that come with the program ---- */

/* The directory of the scenarios: beside the program in a build, or where they are installed. Owned; NULL: not found. */
static char *shipped_dir(void)
{
	char exe[PATH_MAX], *dir;
	ssize_t n = readlink("/proc/self/exe", exe, sizeof(exe) - 1);
	const char *const places[] = { "scenarios", "../share/burstscope/scenarios" };

	exe[n > 0 ? n : 0] = '\0';
	*strrchr(n > 0 ? exe : strcpy(exe, "/"), '/') = '\0';
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		if (asprintf(&dir, "%s/%s", exe, places[i]) < 0)
			return NULL;
		if (access(dir, R_OK | X_OK) == 0)
			return dir;
		free(dir);
	}
	return access(SCENARIOS_DIR, R_OK | X_OK) == 0 ? strdup(SCENARIOS_DIR) : NULL;
}

static int is_scenario(const struct dirent *entry)
{
	size_t n = strlen(entry->d_name);

	return n > 5 && strcmp(entry->d_name + n - 5, ".json") == 0;
}

/* The sorted names of the scenarios, without .json, in *ret. Returns their number. */
static int shipped_names(const char *dir, struct dirent ***ret)
{
	int n = dir ? scandir(dir, ret, is_scenario, alphasort) : 0;

	for (int i = 0; i < n; i++)
		(*ret)[i]->d_name[strlen((*ret)[i]->d_name) - 5] = '\0';
	if (!dir)
		*ret = NULL;
	return n;
}

static void free_names(struct dirent **entries, int n)
{
	for (int i = 0; i < n; i++)
		free(entries[i]);
	if (n >= 0)
		free(entries);
}

static int print_list(void)
{
	char *dir = shipped_dir();
	struct dirent **entries;
	int n = shipped_names(dir, &entries);

	for (int i = 0; i < n; i++) {
		struct load_scenario *s;
		struct nnb_reason why = { "" };
		char *path;

		if (asprintf(&path, "%s/%s.json", dir, entries[i]->d_name) < 0)
			abort();
		if (load_scenario_read(&s, path, NULL, NULL, &why) == 0) {
			printf("%-20s %s\n", entries[i]->d_name, s->about);
			load_scenario_free(s);
		} else {
			print_error(path, why.text);
		}
		free(path);
	}
	free_names(entries, n);
	free(dir);
	if (n > 0)
		return LOAD_DONE;
	print_error("", "the scenarios of this program are not where they were installed");
	return LOAD_ENVIRONMENT;
}

/* The path of a scenario that comes with the program. Owned; NULL: an error was printed. */
static char *shipped_scenario(const char *name)
{
	char *dir = shipped_dir(), *path = NULL;
	const char *words[64], *nearest;
	struct dirent **entries;
	int n = shipped_names(dir, &entries), n_words = 0;

	for (int i = 0; i < n; i++) {
		if (strcmp(name, entries[i]->d_name) == 0 && asprintf(&path, "%s/%s.json", dir, name) < 0)
			abort();
		if (n_words < 64)
			words[n_words++] = entries[i]->d_name;
	}
	if (!path) {
		nearest = load_nearest(name, words, (size_t)n_words, sizeof(words[0]));
		if (nearest)
			fprintf(stderr, "nnburst-load: no scenario '%s'; did you mean '%s'?\n", name, nearest);
		else
			fprintf(stderr, "nnburst-load: no scenario '%s'; see nnburst-load --list\n", name);
	}
	free_names(entries, n);
	free(dir);
	return path;
}

/* ---- running ---- */

/* Validate the models as the apps will read them. @own: the scenario is generated, so errors do not mention a place in it. */
static int check_models(const struct load_scenario *s, uint64_t seed, bool own, struct nnb_reason *reason)
{
	for (uint32_t i = 0; i < s->n_apps; i++)
		for (uint32_t k = 0; k < s->apps[i].n_streams; k++) {
			const struct load_stream *stream = &s->apps[i].streams[k];
			struct load_work *work = NULL;
			struct nnb_reason why = { "" };
			const char *key = NULL;

			if (load_work_new(&work, stream, s->dir, seed, &why))
				key = "model";
			else if (own && why.text[0]) /* reports the memory of constants */
				fprintf(stderr, "nnburst-load: %s\n", why.text);
			if (!key && load_work_keep(work, stream, &why))
				key = "state_pairs";
			load_work_free(work);
			if (key && own) {
				*reason = why;
				return LOAD_INPUT;
			}
			if (key) {
				nnb_because(reason, "apps[%u].streams[%u].%s: %.200s", i, k, key, why.text);
				return LOAD_INPUT;
			}
		}
	return LOAD_DONE;
}

static int print_report(const struct options *o, const struct load_session *session)
{
	struct load_report report;
	int status = LOAD_DONE;

	if (load_report_init(&report, session)) {
		print_error("", "no memory for a report");
		return LOAD_ENVIRONMENT;
	}
	if (o->json ? load_report_json(&report) : load_report_table(&report)) {
		print_error("", "cannot write the output");
		status = LOAD_ENVIRONMENT;
	}
	for (uint32_t i = 0; i < report.n_problems; i++)
		print_error("", report.problems[i].text);
	if (!status && report.n_problems)
		status = LOAD_FAILED;
	load_report_fini(&report);
	return status;
}

/* Closes @log. */
static int write_log(const struct options *o, const struct load_session *session, FILE *log)
{
	uint64_t dropped = load_session_log(session, log);
	bool failed = ferror(log);

	failed |= fclose(log) != 0;
	if (failed)
		print_error(o->log, "cannot be written");
	else if (dropped)
		fprintf(stderr, "nnburst-load: %s: %" PRIu64 " executions are not in it: it has %d of a thread\n",
		        o->log, dropped, LOAD_LOG_ROOM);
	return failed ? LOAD_ENVIRONMENT : LOAD_DONE;
}

static int run_session(const struct options *o, struct load_session *session)
{
	struct nnb_reason why = { "" };
	FILE *log = o->log ? fopen(o->log, "we") : NULL;
	int status, logged = LOAD_DONE;

	if (o->log && !log) {
		print_error(o->log, strerror(errno));
		return LOAD_ENVIRONMENT;
	}
	session->log_room = log ? LOAD_LOG_ROOM : 0;
	status = load_session_run(session, &why);
	if (log)
		logged = write_log(o, session, log);
	if (status)
		print_error("", why.text);
	else
		status = print_report(o, session);
	load_session_fini(session);
	return status ? status : logged;
}

static int session_run(const struct options *o, const char *path, const struct load_scenario *scenario,
                       const char *text, size_t bytes)
{
	struct load_session session = { .scenario = scenario,
		                        .text = text,
		                        .text_bytes = bytes,
		                        .socket = o->socket,
		                        .seed = (uint64_t)(o->seed >= 0 ? o->seed : scenario->seed),
		                        .duration_ns = o->duration_ns ? o->duration_ns : scenario->duration_ns,
		                        .progress = !o->quiet && isatty(STDERR_FILENO) };
	struct load_service service = { .pid = 0 };
	struct nnb_reason why = { "" };
	int status = check_models(scenario, session.seed, o->model, &why);

	if (status) {
		print_error(o->model ? "" : path, why.text);
		return status;
	}
	if (o->check)
		return LOAD_DONE;
	for (uint32_t i = 0; geteuid() && i < scenario->n_apps; i++) /* only root can run apps of other users */
		if (scenario->apps[i].uid >= 0 && scenario->apps[i].uid != (int64_t)geteuid()) {
			nnb_because(&why, "apps[%u].uid: only root can be user %" PRId64, i, scenario->apps[i].uid);
			print_error(path, why.text);
			return LOAD_ENVIRONMENT;
		}
	if (!o->own_service)
		return run_session(o, &session);
	if (load_service_start(&service, &why)) {
		print_error("", why.text);
		return LOAD_ENVIRONMENT;
	}
	session.socket = service.socket;
	status = run_session(o, &session);
	load_service_stop(&service);
	return status;
}

static int read_and_run(const struct options *o, const char *path)
{
	struct load_scenario *scenario;
	struct nnb_reason why = { "" };
	size_t bytes;
	char *text;
	int status;

	if (load_scenario_read(&scenario, path, &text, &bytes, &why)) {
		print_error(path, why.text);
		return LOAD_INPUT;
	}
	status = session_run(o, path, scenario, text, bytes);
	free(text);
	load_scenario_free(scenario);
	return status;
}

/* Run a generated scenario of one app. */
static int run_model(const struct options *o)
{
	struct load_scenario *scenario;
	struct nnb_reason why = { "" };
	char *text = load_own_scenario(o->model, &why);
	int status = LOAD_INPUT;

	if (!text || load_scenario_parse(&scenario, text, strlen(text), "own", ".", &why)) {
		print_error(o->model, why.text);
	} else {
		status = session_run(o, o->model, scenario, text, strlen(text));
		load_scenario_free(scenario);
	}
	free(text);
	return status;
}

/* Record a run of the model: start this program again under burstscope, without --record. */
static int record_model(const struct options *o)
{
	char seed[32], duration[LOAD_TIME_TEXT], *argv[16] = { "--quiet", "--model", (char *)o->model };
	int n = 3;

	snprintf(seed, sizeof(seed), "%" PRId64, o->seed);
	argv[n++] = o->socket ? "--socket" : "--service";
	if (o->socket)
		argv[n++] = (char *)o->socket;
	if (o->seed >= 0) {
		argv[n++] = "--seed";
		argv[n++] = seed;
	}
	if (o->duration_ns) {
		argv[n++] = "--duration";
		argv[n++] = load_time_text(duration, o->duration_ns);
	}
	assert((size_t)n < sizeof(argv) / sizeof(argv[0])); /* the last one stays NULL */
	return load_record(o->model, o->into, o->socket, argv);
}

int main(int argc, char **argv)
{
	struct options o = { .seed = -1 };
	struct load_fds fds;
	char *path;
	int status;

	/* "--app A,B,C": this process is an app, and these are its fds (apps.c) */
	if (argc == 3 && strcmp(argv[1], "--app") == 0 &&
	    sscanf(argv[2], "%d,%d,%d", &fds.orders, &fds.scenario, &fds.board) == 3)
		return load_app_main(&fds);
	status = read_options(&o, argc, argv);
	if (status >= 0)
		return status;
	if (o.list)
		return print_list();
	if (o.record)
		return record_model(&o);
	if (o.model)
		return run_model(&o);
	if (load_is_tflite(o.scenario)) {
		fprintf(stderr, "nnburst-load: %s is a model and no scenario; run it with --model %s\n", o.scenario,
		        o.scenario);
		return LOAD_INPUT;
	}
	path = load_is_file(o.scenario) ? strdup(o.scenario) : shipped_scenario(o.scenario);
	status = path ? read_and_run(&o, path) : LOAD_INPUT;
	free(path);
	return status;
}
