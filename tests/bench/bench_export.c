/*
 * bench_export.c -- how long a database of a million executions takes to become a trace for a viewer, how large that
 * is, and how much memory that takes: burstscope export as a process, into a file.
 *
 * The limit is the file itself: a process that writes as many bytes, and does nothing else, is measured beside it.
 * And what a scrape of the exporter costs, when there are as many series as there may be.
 */
#include "base.h"
#include "bench.h"
#include "exporter/http.h"
#include "facts.h"
#include "metrics/metrics.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { EXECUTIONS = 1000000, QUICK = 20000, ARGS_MAX = 8, MEMORY_MOST = 64, SECONDS_MOST = 10, SCRAPE_MS_MOST = 20 };

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

/* The time to write as many bytes, and to have them on the disk as export has. */
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

/* ---- the exporter's scrapes: of as many series as there may be, made, sent and read in this thread ---- */

static struct bsv_metrics *most_series(void)
{
	struct bsv_buckets buckets;
	struct bsv_metrics *m;

	bsv_buckets_init(&buckets);
	for (int64_t ms = 3; buckets.n < BSV_BUCKETS_MAX; ms++)
		bsv_buckets_add(&buckets, ms * 1000000);
	m = bsv_metrics_new(&buckets);
	for (unsigned id = 0; m && id < BSV_METRICS; id++)
		for (unsigned i = 0; i < 2 * bsv_metric_infos[id].most; i++) {
			char app[32], model[32];
			const char *values[BSV_METRIC_LABELS_MAX] = { app, model, "burst", "NONE" };
			struct bsv_metric_set *s;

			snprintf(app, sizeof(app), "application %u", i);
			snprintf(model, sizeof(model), "model %u", i % 7);
			s = bsv_metrics_set(m, id, values);
			if (bsv_metric_infos[id].type == BSV_HISTOGRAM)
				bsv_metric_observe(s, 1234567 + i);
			else
				bsv_metric_add(s, 1);
		}
	return m;
}

static struct bsv_http_page page_of(void *context, const char *path, const char *accept, uint64_t arrived_ns)
{
	struct bsv_http_page page = { .status = 200, .type = "text/plain" };
	FILE *to = open_memstream(&page.body, &page.bytes);

	(void)path, (void)accept, (void)arrived_ns;
	if (to) {
		bsv_metrics_print(context, BSV_PROMETHEUS_TEXT, to);
		fclose(to);
	}
	return page;
}

static size_t scrape(struct bsv_http *h)
{
	static const char request[] = "GET /metrics HTTP/1.1\r\nHost: bench\r\n\r\n";
	struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	static char read_into[1 << 18];
	size_t bytes = 0;
	ssize_t n = -1;

	at.sin_port = htons((uint16_t)atoi(strrchr(bsv_http_where(h), ':') + 1));
	if (fd < 0 || connect(fd, (struct sockaddr *)&at, sizeof(at)) || write(fd, request, sizeof(request) - 1) < 0)
		return 0;
	while (n) {
		bsv_http_run(h);
		while ((n = recv(fd, read_into, sizeof(read_into), MSG_DONTWAIT)) > 0)
			bytes += (size_t)n;
	}
	close(fd);
	return bytes;
}

static double cpu_ms(void)
{
	return (double)clock_ns(CLOCK_PROCESS_CPUTIME_ID) / 1e6;
}

static void scrapes(struct bench *b)
{
	size_t ms = bench_figure(b, "a scrape: ms of cpu"), of = bench_figure(b, "a scrape: series");
	struct bsv_metrics *m = most_series();
	struct bsv_http *h = NULL;
	struct bsa_err err = { "" };

	if (!m || bsv_http_open(&h, "127.0.0.1:0", page_of, m, &err) < 0) {
		fprintf(stderr, "bench_export: no scrapes: %s\n", err.text);
		exit(1);
	}
	for (unsigned i = 0; i < 10 * b->rounds; i++) {
		double began = cpu_ms();

		if (scrape(h) < 1000000) {
			fprintf(stderr, "bench_export: a scrape was not answered\n");
			exit(1);
		}
		bench_figure_is(b, ms, cpu_ms() - began);
	}
	bench_figure_is(b, of, (double)bsv_metrics_series(m));
	bench_at_most(b, "a scrape: ms of cpu", bench_figure_median(b, ms), SCRAPE_MS_MOST);
	bsv_http_free(h);
	bsv_metrics_free(m);
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
	facts_database(db, n, 0, 0);
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
	scrapes(&b);
	unlink(db);
	rmdir(dir);
	return bench_close(&b);
}
