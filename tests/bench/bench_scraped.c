/*
 * bench_scraped.c -- measures what an app has of the service while ten programs scrape burstscope exporter and a
 * thousand hostile requests a second come in, held against the same with an exporter that is let alone, and against
 * the same requests to a server of a static page: those take cpu time from the app, too, and only the rest is the
 * exporter's.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "bench.h"

enum { FIGURES = 6, ALONE = 0, STATIC, SCRAPED, KINDS };

static const char *const kinds[KINDS] = { "alone", "static", "scraped" };
static const char *const names[FIGURES] = { "executions/s", "p50, us", "p99, us",
	                                    "scrapes",      "failed",  "hostile requests" };
static size_t figures[KINDS][FIGURES];

/* The kind of the next line of @f, and its values; KINDS: no line is left. */
static int line_read(FILE *f, double value[KINDS][FIGURES])
{
	char kind[16];
	double v[FIGURES];
	int k = 0;

	if (!f || fscanf(f, "%15s %lf %lf %lf %lf %lf %lf", kind, &v[0], &v[1], &v[2], &v[3], &v[4], &v[5]) != 7)
		return KINDS;
	while (k < KINDS && strcmp(kind, kinds[k]) != 0)
		k++;
	if (k == KINDS)
		return KINDS;
	v[1] /= 1000;
	v[2] /= 1000;
	memcpy(value[k], v, sizeof(v));
	return k;
}

static void add_figures(struct bench *b)
{
	char name[64];

	for (int k = 0; k < KINDS; k++)
		for (int i = 0; i < (k ? FIGURES : 3); i++) {
			snprintf(name, sizeof(name), "%s: %s", kinds[k], names[i]);
			figures[k][i] = bench_figure(b, name);
		}
}

int main(int argc, char **argv)
{
	double value[KINDS][FIGURES], failed = 0;
	size_t rate, p50, p99;
	char command[4096];
	struct bench b;
	int status, k;
	FILE *f;

	bench_open(&b, "scraped", 7, argc, argv);
	snprintf(command, sizeof(command), "'%s' %u %u '%s' '%s' '%s' '%s'", SCRAPED_SH, b.rounds, b.quick ? 1 : 5,
	         BURSTSCOPE, NNBURSTD, NNBURST_LOAD, STATIC_PAGE);
	add_figures(&b);
	rate = bench_figure(&b, "scraped / alone: executions/s");
	p50 = bench_figure(&b, "scraped / static: p50");
	p99 = bench_figure(&b, "scraped / static: p99");
	f = popen(command, "r");
	while ((k = line_read(f, value)) < KINDS) {
		for (int i = 0; i < (k ? FIGURES : 3); i++)
			bench_figure_is(&b, figures[k][i], value[k][i]);
		if (k != SCRAPED)
			continue;
		bench_figure_is(&b, rate, value[SCRAPED][0] / value[ALONE][0]);
		bench_figure_is(&b, p50, value[SCRAPED][1] / value[STATIC][1]);
		bench_figure_is(&b, p99, value[SCRAPED][2] / value[STATIC][2]);
		failed += value[SCRAPED][4];
	}
	status = f ? pclose(f) : -1;
	if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
		return 77;
	if (status) {
		fprintf(stderr, "bench_scraped: scraped.sh failed\n");
		return 1;
	}
	bench_at_least(&b, "scraped / alone: executions/s", bench_figure_median(&b, rate), 0.99);
	bench_at_most(&b, "scraped / static: p50", bench_figure_median(&b, p50), 1.1);
	bench_at_most(&b, "scraped / static: p99", bench_figure_median(&b, p99), 1.25);
	bench_at_most(&b, "scrapes that failed", failed, 0);
	return bench_close(&b);
}
