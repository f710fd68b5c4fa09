/* policies.c -- see policies.h. */
#include "policies.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "daemon.h"
#include "peers.h"

static const char *const names[] = { "fair", "priority", "edf", "fifo" };

enum { N_POLICIES = sizeof(names) / sizeof(names[0]), APPS_MAX = 16 };

struct policy {
	struct daemon daemon;
	size_t missed[APPS_MAX], jain, lag; /* figures */
	unsigned n_apps;                    /* 0: not known yet */
};

struct policies {
	const char *load, *scenario;
	struct policy policy[N_POLICIES];
};

/* ---- running nnburst-load ---- */

static pid_t start(const char *load, const char *socket, const char *scenario, unsigned seed, const char *duration,
                   int *ret)
{
	char number[16];
	int ends[2];
	pid_t pid;

	snprintf(number, sizeof(number), "%u", seed);
	if (pipe2(ends, O_CLOEXEC))
		die("a pipe");
	fflush(NULL);
	pid = fork();
	if (pid < 0)
		die("fork");
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGTERM);
		dup2(ends[1], STDOUT_FILENO);
		execl(load, load, "--socket", socket, "--seed", number, "--duration", duration, "--format", "json",
		      "--quiet", scenario, (char *)NULL);
		fprintf(stderr, "%s: %s\n", load, strerror(errno));
		_exit(5);
	}
	close(ends[1]);
	*ret = ends[0];
	return pid;
}

static json_t *run(const char *load, const char *socket, const char *scenario, unsigned seed, const char *duration)
{
	json_error_t error;
	json_t *report;
	int from, status;
	pid_t pid = start(load, socket, scenario, seed, duration, &from);

	report = json_loadfd(from, 0, &error);
	close(from);
	if (waitpid(pid, &status, 0) != pid || status || !report) {
		fprintf(stderr, "%s: %s ended with %#x\n", program_invocation_short_name, load, status);
		exit(1);
	}
	return report;
}

/* ---- what it says ---- */

static double number(const json_t *o, const char *key)
{
	return json_number_value(json_object_get(o, key));
}

/* Percent of frames that were due: those that were skipped, not done, or late. */
static double missed(const json_t *app)
{
	double due = 0, sum = 0;
	const json_t *stream;
	size_t i;

	json_array_foreach(json_object_get(app, "streams"), i, stream)
	{
		const json_t *misses = json_object_get(stream, "misses");
		double skipped = number(stream, "skipped");

		due += number(stream, "executions") + skipped;
		sum += skipped + number(misses, "late") + number(misses, "aborted") + number(misses, "predicted");
	}
	return due > 0 ? 100 * sum / due : 0;
}

/* The names of the figures are known when the first report is. */
static void make_figures(struct bench *b, struct policy *p, const char *policy, const json_t *report)
{
	const json_t *app;
	char name[80];
	size_t i;

	json_array_foreach(json_object_get(report, "apps"), i, app)
	{
		if (p->n_apps == APPS_MAX)
			break;
		snprintf(name, sizeof(name), "%s: missed by %s, %%", policy,
		         json_string_value(json_object_get(app, "name")));
		p->missed[p->n_apps++] = bench_figure(b, name);
	}
	snprintf(name, sizeof(name), "%s: Jain's index of received / entitled", policy);
	p->jain = bench_figure(b, name);
	snprintf(name, sizeof(name), "%s: largest lag, ms", policy);
	p->lag = bench_figure(b, name);
}

static void take(struct bench *b, const struct policy *p, const json_t *report)
{
	const json_t *fairness = json_object_get(report, "fairness");

	for (size_t i = 0; i < p->n_apps; i++)
		bench_figure_is(b, p->missed[i], missed(json_array_get(json_object_get(report, "apps"), i)));
	bench_figure_is(b, p->jain, number(fairness, "jain"));
	bench_figure_is(b, p->lag, number(fairness, "max_lag_ns") / 1e6);
}

/* ---- the whole ---- */

void policies_round(struct bench *b, struct policies *all, unsigned seed)
{
	for (int i = 0; i < N_POLICIES; i++) {
		struct policy *p = &all->policy[i];
		json_t *report = run(all->load, p->daemon.socket, all->scenario, seed, b->quick ? "200ms" : "1s");

		if (!p->n_apps)
			make_figures(b, p, names[i], report);
		take(b, p, report);
		json_decref(report);
	}
}

struct policies *policies_open(const char *service, const char *load, const char *scenario)
{
	struct policies *all = calloc(1, sizeof(*all));

	if (!all)
		die("memory");
	all->load = load;
	all->scenario = scenario;
	for (int i = 0; i < N_POLICIES; i++) {
		const char *const options[] = { "--policy", names[i], "--lanes", "1", NULL };

		daemon_start(&all->policy[i].daemon, service, options);
	}
	return all;
}

void policies_close(struct policies *all)
{
	for (int i = 0; i < N_POLICIES; i++)
		daemon_stop(&all->policy[i].daemon);
	free(all);
}
