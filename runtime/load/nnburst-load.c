/* nnburst-load -- run the apps of a scenario file, each in a process of its own, and print what they measured. */
#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "apps.h"
#include "load.h"
#include "options/narrow.h"
#include "options/nearest.h"
#include "options/options.h"
#include "options/quantity.h"
#include "own_run.h"
#include "report.h"
#include "work.h"

struct options {
	const char *socket, *scenario, *log;
	const char *model; /* NULL: that of the scenario */
	const char *into;  /* file to record into; NULL: named after the model */
	bool own_service, record;
	enum { TABLE, JSON } format;
	uint64_t duration_ns; /* 0: that of the scenario */
	int64_t seed;         /* -1: that of the scenario */
	bool list, check, quiet;
};

static void print_error(const char *about, const char *what)
{
	fprintf(stderr, "nnburst-load: %s%s%s\n", about, *about ? ": " : "", what);
}

/* ---- options ---- */

static bool seed_parse(const char *text, void *to)
{
	uint64_t n;

	if (!quantity_count_read(text, &n) || n > INT64_MAX)
		return false;
	*(int64_t *)to = (int64_t)n;
	return true;
}

static bool duration_parse(const char *text, void *to)
{
	uint64_t *ret = to;

	return quantity_duration_read(text, ret) && *ret >= LOAD_MS && *ret <= LOAD_DURATION_MAX;
}

static const char *const formats[] = { "table", "json", NULL };

static const struct option_row option_rows[] = {
	{ "model", OPTION_TEXT, "FILE",
	  "instead of a scenario: one app runs this model (.tflite, or nnb_model(5)), or one of the program's own, by "
	  "bursts for two seconds",
	  .offset = offsetof(struct options, model) },
	{ "record", OPTION_TEXT, "DIR",
	  "record that run with burstscope into DIR, by default a directory named after the model, and print the "
	  "overhead "
	  "of bursts; without --socket it implies --service",
	  .offset = offsetof(struct options, into), .bare = true, .given = offsetof(struct options, record) },
	{ "service", OPTION_SWITCH, NULL, "start an nnburstd for this run",
	  .offset = offsetof(struct options, own_service) },
	{ "socket", OPTION_TEXT, "PATH", "socket of the service; default: $NNBURST_SOCKET, or where nnburstd listens",
	  .offset = offsetof(struct options, socket) },
	{ "duration", OPTION_PARSED, "TIME", "replaces the scenario's duration, as in 500ms",
	  .offset = offsetof(struct options, duration_ns), .parse = duration_parse,
	  .such_as = "a time from 1ms to 1h, such as 500ms" },
	{ "seed", OPTION_PARSED, "N", "replaces the scenario's seed", .offset = offsetof(struct options, seed),
	  .parse = seed_parse, .such_as = "a number of digits" },
	{ "format", OPTION_CHOICE, NULL, "table (the default) or json", .offset = offsetof(struct options, format),
	  .choices = formats },
	{ "log", OPTION_TEXT, "FILE", "write the times and the status of each execution, as its app saw them",
	  .offset = offsetof(struct options, log) },
	{ "check", OPTION_SWITCH, NULL, "read the scenario and its models, but run nothing",
	  .offset = offsetof(struct options, check) },
	{ "quiet", OPTION_SWITCH, NULL, "show no progress", .offset = offsetof(struct options, quiet) },
	{ "list", OPTION_SWITCH, NULL, "list the scenarios that come with the program",
	  .offset = offsetof(struct options, list) },
};

static const struct program program = {
	.name = "nnburst-load",
	.manual = "nnburst-load(1), nnburst-scenario(5)",
	.version = BURSTSCOPE_VERSION,
	.usage = "[OPTION...] SCENARIO\n[OPTION...] --model FILE [--record[=DIR]]\n--list",
	.about = "Run the apps of a scenario against the service, each as a process of its own, and print what they "
		 "measured. SCENARIO is a file (with a slash, or ending in .json), or the name of one that comes with "
		 "the program.",
	.statuses = "0 done, 1 an app or an execution failed, 2 wrong usage, 4 a wrong scenario, 5 environment: no "
		    "service, no permission.",
	.rows = option_rows,
	.n_rows = sizeof(option_rows) / sizeof(option_rows[0]),
	.operand_list = "list",
	.operand_files = "json",
};

/* Returns OPTIONS_READ, or the exit status of the program. */
static int read_options(struct options *o, int argc, char **argv)
{
	int first, status = options_read(&program, o, argc, argv, &first);
	bool needs_scenario = !o->list && !o->model;

	if (status != OPTIONS_READ)
		return status;
	if (needs_scenario && first == argc)
		return options_wrong(&program, "expected SCENARIO, --model FILE or --list");
	if (argc - first > needs_scenario)
		return options_wrong(&program, "unexpected argument '%s'", argv[first + needs_scenario]);
	if (o->own_service && o->socket)
		return options_wrong(&program,
		                     "--service starts a service; --socket names one that runs: give one of them");
	if (o->record && !o->model)
		return options_wrong(&program, "--record needs --model FILE; burstscope record records a scenario");
	if (o->record && (o->check || o->log || o->format == JSON))
		return options_wrong(&program, "--record does not go with --%s",
		                     o->check ? "check"
		                     : o->log ? "log"
		                              : "format json");
	o->scenario = argv[first];
	return OPTIONS_READ;
}

/* ---- scenarios that come with the program ---- */

/*
 * The directory of the scenarios: beside the program in a build, or where they are installed. Owned; NULL: not found.
 */
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
	struct narrow narrow;

	narrow_begin(&narrow);
	for (int i = 0; i < n; i++) {
		struct load_scenario *s;
		struct nnb_reason why = { "" };
		char *path;

		if (asprintf(&path, "%s/%s.json", dir, entries[i]->d_name) < 0)
			abort();
		if (load_scenario_read(&s, path, NULL, NULL, &why) == 0) {
			printf("%-20s  %s\n", entries[i]->d_name, s->about);
			load_scenario_free(s);
		} else {
			print_error(path, why.text);
		}
		free(path);
	}
	free_names(entries, n);
	free(dir);
	if (!narrow_end(&narrow))
		return LOAD_ENVIRONMENT;
	if (n > 0)
		return options_written(&program);
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
		nearest = nearest_word(name, words, (size_t)n_words, sizeof(words[0]));
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

/*
 * Validate the models as the apps will read them. Where --model names one, the scenario is generated, so errors do
 * not mention a place in it. Before a recording nothing is printed of a valid model, because the recorded run prints
 * that.
 */
static int check_models(const struct options *o, const struct load_scenario *s, uint64_t seed,
                        struct nnb_reason *reason)
{
	const bool own = o->model;

	for (uint32_t i = 0; i < s->n_apps; i++)
		for (uint32_t k = 0; k < s->apps[i].n_streams; k++) {
			const struct load_stream *stream = &s->apps[i].streams[k];
			struct load_work *work = NULL;
			struct nnb_reason why = { "" };
			const char *key = NULL;

			if (load_work_new(&work, stream, s->dir, seed, &why))
				key = "model";
			else if (own && !o->record && why.text[0]) /* reports the memory of constants */
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
	if (o->format == JSON ? load_report_json(&report) : load_report_table(&report)) {
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
	if (log) {
		uint64_t dropped = load_session_log(session, log);
		bool failed = ferror(log);

		failed |= fclose(log) != 0;
		if (failed)
			print_error(o->log, "cannot be written");
		else if (dropped)
			fprintf(stderr,
			        "nnburst-load: %s: %" PRIu64 " executions are not in it: it has %d of a thread\n",
			        o->log, dropped, LOAD_LOG_ROOM);
		logged = failed ? LOAD_ENVIRONMENT : LOAD_DONE;
	}
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
	int status = check_models(o, scenario, session.seed, &why);

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

/*
 * Record a run of the model with the service at @socket: start this program again under burstscope, without --record.
 */
static int record_run(const struct options *o, const char *socket)
{
	char seed[32], duration[QUANTITY_DURATION_TEXT];
	char *argv[16] = { "--quiet", "--model", (char *)o->model, "--socket", (char *)socket };
	int n = 5;

	snprintf(seed, sizeof(seed), "%" PRId64, o->seed);
	if (o->seed >= 0) {
		argv[n++] = "--seed";
		argv[n++] = seed;
	}
	if (o->duration_ns) {
		argv[n++] = "--duration";
		argv[n++] = quantity_duration_text(duration, o->duration_ns);
	}
	assert((size_t)n < sizeof(argv) / sizeof(argv[0])); /* the last one stays NULL */
	return load_record(o->model, o->into, socket, argv);
}

/* The service is started here, and not by the recorded run: so the recording is of that service alone. */
static int record_model(const struct options *o)
{
	struct load_service service = { .pid = 0 };
	struct nnb_reason why = { "" };
	sigset_t before;
	struct options checked = *o;
	int status;

	/* Is the model one that can be run? Found out before anything is recorded. */
	checked.check = true;
	status = run_model(&checked);
	if (status)
		return status;
	load_signals_hold(&before);
	if (!o->socket && load_service_start(&service, &why)) {
		print_error("", why.text);
		status = LOAD_ENVIRONMENT;
	} else {
		status = record_run(o, o->socket ? o->socket : service.socket);
	}
	load_service_stop(&service);
	load_signals_release(&before);
	return status;
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
