/* importing.c -- see importing.h. */
#include "importing.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "nnb/fmq.h"
#include "peers.h"

/* Executions: with the buffers of a bench, nothing is lost. */
static const uint32_t per_second[] = { [DETAIL_COMPACT] = 100000, [DETAIL_FULL] = 40000 };

static const char *const events[][3] = {
	[DETAIL_COMPACT] = { "'nnburst:*' --loglevel=NOTICE", "nnburst:exec_client,nnburst:exec_service" },
	[DETAIL_FULL] = { "'nnburst:*' --loglevel=DEBUG_FUNCTION" },
};

void importing_open(struct pair *p)
{
	const struct pair_config config = { .nnburstd = NNBURSTD,
		                            .app = TRACING_APP,
		                            .provider = PROVIDER,
		                            .driver = "null",
		                            .window_ns = NNB_FMQ_WINDOW_AUTO };

	pair_open(p, &config);
}

void importing_record(struct trace *ret, const char *name, enum detail detail, const struct pair *p,
                      uint32_t executions)
{
	const struct pair_order order = { .batches = 1, .batch = executions, .per_second = per_second[detail] };
	const pid_t pids[] = { p->service.pid, p->app };
	double each;

	snprintf(ret->path, sizeof(ret->path), "%s/%s", getenv("NNB_TRACES"), name);
	ret->executions = executions;
	recorder_start(name, RECORDER_AMPLE, events[detail], pids, 2);
	pair_run(p, &order, &each);
	recorder_stop(name, &ret->got);
}

static void become(const char *const argv[], const char *said)
{
	int fd = open(said, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	if (fd < 0 || dup2(fd, STDOUT_FILENO) < 0 || dup2(fd, STDERR_FILENO) < 0)
		_exit(126);
	execvp(argv[0], (char *const *)argv);
	_exit(127);
}

static void said_path(char ret[PATH_BYTES])
{
	snprintf(ret, PATH_BYTES, "%s/program.said", getenv("NNB_TRACES"));
}

struct ran run_program(const char *const argv[])
{
	struct ran ran = { .status = 0 };
	struct rusage used;
	char said[PATH_BYTES];
	int status;
	pid_t pid;

	said_path(said);
	fflush(NULL);
	ran.ns = bench_now();
	pid = fork();
	if (pid < 0)
		die("fork");
	if (pid == 0)
		become(argv, said);
	if (wait4(pid, &status, 0, &used) != pid)
		die("wait4");
	ran.ns = bench_now() - ran.ns;
	ran.peak_bytes = (uint64_t)used.ru_maxrss * 1024;
	ran.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
	return ran;
}

struct ran must_run(const char *const argv[])
{
	struct ran ran = run_program(argv);
	char command[PATH_BYTES + 16], said[PATH_BYTES];

	if (!ran.status)
		return ran;
	said_path(said);
	snprintf(command, sizeof(command), "cat '%s' >&2", said);
	(void)!system(command);
	fprintf(stderr, "%s: %s %s: status %d\n", program_invocation_short_name, argv[0], argv[1] ? argv[1] : "",
	        ran.status);
	exit(5);
}

uint64_t bytes_of(const char *path)
{
	struct stat st;

	if (stat(path, &st))
		die(path);
	return (uint64_t)st.st_size;
}

double answer_of(const char *db, const char *query)
{
	const char *const argv[] = { BURSTSCOPE, "sql", "-q", "--format", "csv", db, query, NULL };
	char said[PATH_BYTES], line[200] = "";
	FILE *f;

	must_run(argv);
	said_path(said);
	f = fopen(said, "re");
	if (!f)
		die(said);
	for (int i = 0; i < 2; i++) /* a headline, and the number */
		if (!fgets(line, sizeof(line), f))
			die(query);
	fclose(f);
	return atof(line);
}
