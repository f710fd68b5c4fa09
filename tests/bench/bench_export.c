/*
 * bench_export.c -- how long a database of a million executions takes to become a trace for a viewer, how large that is, and how much memory that
 * takes: burstscope export as a process, into a file.
 *
 * The limit is the file itself: a process that writes as many bytes, and does nothing else, is measured beside it.
 */
#include "bench.h"
#include "facts.h"

#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { EXECUTIONS = 1000000, QUICK = 20000, ARGS_MAX = 8, MEMORY_MOST = 64, SECONDS_MOST = 10 };

/* bytes_most 0: shown, not judged */
static const struct form {
	const char *name, *args[ARGS_MAX];
	double bytes_most;
} forms[] = {
	{ "all", { "--to", "perfetto" }, 640 },
	{ "all, compressed", { "--to", "perfetto", "--compress" }, 200 },
	{ "lanes", { "--to", "perfetto", "--detail", "lanes" }, 120 },
	{ "chrome", { "--to", "chrome" }, 0 },
};

enum { FORMS = sizeof(forms) / sizeof(*forms) };

struct cost {
	double seconds, mib, bytes;
};

static struct cost export(const struct form *f, const char *db, const char *to)
{
	char *argv[ARGS_MAX + 6] = { (char *)"burstscope", (char *)"export", (char *)"-o", (char *)to };
	uint64_t began = bench_now();
	struct rusage usage;
	struct cost ret;
	struct stat st;
	int status, n = 4;
	pid_t pid;

	for (int i = 0; f->args[i]; i++)
		argv[n++] = (char *)f->args[i];
	argv[n] = (char *)db;
	if (posix_spawn(&pid, BURSTSCOPE, NULL, NULL, argv, environ) || wait4(pid, &status, 0, &usage) != pid ||
	    status || stat(to, &st)) {
		fprintf(stderr, "bench_export: %s was not exported\n", f->name);
		exit(1);
	}
	ret.seconds = (double)(bench_now() - began) / 1e9;
	ret.mib = (double)usage.ru_maxrss / 1024;
	ret.bytes = (double)st.st_size;
	return ret;
}

/* What it takes to write as many bytes, and to have them on the disk as export has. */
static double write_alone(const char *to, double bytes)
{
	enum { CHUNK = 1 << 18 };
	static char chunk[CHUNK];
	uint64_t began = bench_now();
	int fd = open(to, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	for (double left = bytes; left > 0; left -= CHUNK)
		if (write(fd, chunk, left < CHUNK ? (size_t)left : CHUNK) < 0)
			exit(1);
	fsync(fd);
	close(fd);
	return (double)(bench_now() - began) / 1e9;
}

static void judge(struct bench *b, const struct form *f, const size_t figures[4])
{
	char name[80];

	snprintf(name, sizeof(name), "%s: seconds", f->name);
	if (f->bytes_most > 0) {
		bench_at_most(b, name, bench_figure_median(b, figures[0]), SECONDS_MOST);
		snprintf(name, sizeof(name), "%s: bytes an execution", f->name);
		bench_at_most(b, name, bench_figure_median(b, figures[2]), f->bytes_most);
	}
	snprintf(name, sizeof(name), "%s: MiB of memory", f->name);
	bench_at_most(b, name, bench_figure_median(b, figures[1]), MEMORY_MOST);
}

int main(int argc, char **argv)
{
	static const char *const what[] = { "seconds", "MiB of memory", "bytes an execution",
		                            "times as long as its bytes alone" };
	char dir[] = "/tmp/bench_export.XXXXXX", db[64], to[64];
	size_t figures[FORMS][4];
	struct bench b;
	uint64_t n;

	bench_open(&b, "export", 3, argc, argv);
	n = b.quick ? QUICK : EXECUTIONS;
	if (!mkdtemp(dir))
		return 5;
	snprintf(db, sizeof(db), "%s/x.db", dir);
	snprintf(to, sizeof(to), "%s/x.trace", dir);
	facts_database(db, n, 0);
	for (size_t i = 0; i < FORMS; i++)
		for (size_t k = 0; k < 4; k++) {
			char name[80];

			snprintf(name, sizeof(name), "%s: %s", forms[i].name, what[k]);
			figures[i][k] = bench_figure(&b, name);
		}
	for (unsigned round = 0; round < b.rounds; round++)
		for (size_t i = 0; i < FORMS; i++) {
			struct cost c = export(&forms[i], db, to);

			bench_figure_is(&b, figures[i][0], c.seconds);
			bench_figure_is(&b, figures[i][1], c.mib);
			bench_figure_is(&b, figures[i][2], c.bytes / (double)n);
			bench_figure_is(&b, figures[i][3], c.seconds / write_alone(to, c.bytes));
			unlink(to);
		}
	for (size_t i = 0; i < FORMS; i++)
		judge(&b, &forms[i], figures[i]);
	unlink(db);
	rmdir(dir);
	return bench_close(&b);
}
