/*
 * bench_answers.c -- how long a question takes, from the command line: each command on a million executions and four
 * million pools, as a process, with its output thrown away.
 *
 * NNB_ANSWERS_DB: a database to ask instead of one that is made up, as from a recording. Then nothing is judged that
 * is not there.
 */
#include "bench.h"
#include "facts.h"

#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { EXECUTIONS = 1000000, QUICK = 20000, POOLS_OF_EACH = 4, ARGS_MAX = 8, VERDICT_FAILED = 1, CANNOT_TELL = 3 };

#define APP "--where", "app = (SELECT min(name) FROM apps)"
#define OF_APP \
	"--where", "app = (SELECT min(name) FROM apps) AND run_ns > 0" /* about single executions: all are looked at */

/* Each is followed by the database; most_ms 0: shown, not judged. */
static const struct question {
	double most_ms;
	const char *name, *args[ARGS_MAX];
} questions[] = {
	{ 10, "--help", { "--help" } },
	{ 100, "summary", { "summary" } },
	{ 100, "misses", { "misses" } },
	{ 100, "starvation", { "starvation" } },
	{ 100, "priority", { "priority" } },
	{ 100, "fairness", { "fairness" } },
	{ 100, "preemptions", { "preemptions" } },
	{ 100, "latency", { "latency" } },
	{ 100, "overhead", { "overhead" } },
	{ 50, "explain worst", { "explain", "worst" } },
	{ 50, "explain 15001", { "explain", "15001" } },
	{ 2000, "misses, one app", { "misses", APP } },
	{ 2000, "starvation, one app", { "starvation", APP } },
	{ 2000, "priority, one app", { "priority", APP } },
	{ 2000, "fairness, 5 s of it", { "fairness", "--from", "200ms", "--to", "5s" } },
	{ 2000, "preemptions, one app", { "preemptions", APP } },
	{ 2000, "latency, one app", { "latency", APP } },
	{ 2000, "overhead, one app", { "overhead", APP } },
	{ 2000, "latency, some of one app", { "latency", OF_APP } },
	{ 0, "overhead, some of one app", { "overhead", OF_APP } },
	{ 2000, "latency, 5 s of it", { "latency", "--from", "200ms", "--to", "5s" } },
	{ 2000, "latency by model", { "latency", "--by", "model" } },
	{ 1000, "slots", { "slots" } },
	{ 1000, "memory", { "memory" } },
	{ 1000, "timeline", { "timeline" } },
};

enum { QUESTIONS = sizeof(questions) / sizeof(*questions) };

/* ms from asking to having the answer. */
static double ask(const struct question *q, const char *path)
{
	char *argv[ARGS_MAX + 3] = { (char *)"burstscope" };
	posix_spawn_file_actions_t files;
	uint64_t began;
	int status, n = 1;
	pid_t pid;

	for (; q->args[n - 1]; n++)
		argv[n] = (char *)q->args[n - 1];
	if (q->args[0][0] != '-')
		argv[n] = (char *)path;
	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
	began = bench_now();
	if (posix_spawn(&pid, BURSTSCOPE, &files, NULL, argv, environ) || waitpid(pid, &status, 0) != pid)
		status = -1;
	posix_spawn_file_actions_destroy(&files);
	if (status == -1 || !WIFEXITED(status) ||
	    (WEXITSTATUS(status) && WEXITSTATUS(status) != VERDICT_FAILED && WEXITSTATUS(status) != CANNOT_TELL)) {
		fprintf(stderr, "bench_answers: %s did not answer\n", q->name);
		exit(1);
	}
	return (double)(bench_now() - began) / 1e6;
}

int main(int argc, char **argv)
{
	char dir[] = "/tmp/bench_answers.XXXXXX", made[64];
	const char *given = getenv("NNB_ANSWERS_DB"), *path = given ? given : made;
	size_t figures[QUESTIONS];
	struct bench b;

	bench_open(&b, "answers", 11, argc, argv);
	if (!mkdtemp(dir))
		return 5;
	snprintf(made, sizeof(made), "%s/x.db", dir);
	if (!given)
		facts_database(made, b.quick ? QUICK : EXECUTIONS, POOLS_OF_EACH, 0);
	for (size_t i = 0; i < QUESTIONS; i++) {
		char name[80];

		snprintf(name, sizeof(name), "ms: %s", questions[i].name);
		figures[i] = bench_figure(&b, name);
	}
	for (unsigned round = 0; round < b.rounds; round++)
		for (size_t i = 0; i < QUESTIONS; i++)
			bench_figure_is(&b, figures[i], ask(&questions[i], path));
	for (size_t i = 0; i < QUESTIONS; i++)
		if (questions[i].most_ms > 0)
			bench_at_most(&b, questions[i].name, bench_figure_median(&b, figures[i]), questions[i].most_ms);
	unlink(made);
	rmdir(dir);
	return bench_close(&b);
}
