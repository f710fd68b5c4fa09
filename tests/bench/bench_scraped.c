/*
 * bench_scraped.c -- what an app has of the service while ten programs scrape burstscope exporter and a thousand hostile requests a second come in,
 * held against the same with an exporter that is let alone.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "bench.h"

enum { FIGURES = 6 };

static const char *const names[FIGURES] = { "executions/s", "p50, us", "p99, us",
	                                    "scrapes",      "failed",  "hostile requests" };

int main(int argc, char **argv)
{
	size_t alone[FIGURES], scraped[FIGURES], rate, p50;
	double value[FIGURES], first[FIGURES] = { 0 }, failed = 0;
	char command[4096], kind[16], name[64];
	struct bench b;
	int status;
	FILE *f;

	bench_open(&b, "scraped", 7, argc, argv);
	snprintf(command, sizeof(command), "'%s' %u %u '%s' '%s' '%s'", SCRAPED_SH, b.rounds, b.quick ? 1 : 5,
	         BURSTSCOPE, NNBURSTD, NNBURST_LOAD);
	for (unsigned i = 0; i < FIGURES; i++) {
		snprintf(name, sizeof(name), "alone: %s", names[i]);
		alone[i] = i < 3 ? bench_figure(&b, name) : 0;
		snprintf(name, sizeof(name), "scraped: %s", names[i]);
		scraped[i] = bench_figure(&b, name);
	}
	rate = bench_figure(&b, "scraped / alone: executions/s");
	p50 = bench_figure(&b, "scraped / alone: p50");
	f = popen(command, "r");
	while (f && fscanf(f, "%15s %lf %lf %lf %lf %lf %lf", kind, &value[0], &value[1], &value[2], &value[3],
	                   &value[4], &value[5]) == 7) {
		value[1] /= 1000;
		value[2] /= 1000;
		if (!strcmp(kind, "alone")) {
			memcpy(first, value, sizeof(first));
			for (unsigned i = 0; i < 3; i++)
				bench_figure_is(&b, alone[i], value[i]);
			continue;
		}
		for (unsigned i = 0; i < FIGURES; i++)
			bench_figure_is(&b, scraped[i], value[i]);
		bench_figure_is(&b, rate, value[0] / first[0]);
		bench_figure_is(&b, p50, value[1] / first[1]);
		failed += value[4];
	}
	status = f ? pclose(f) : -1;
	if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
		return 77;
	if (status) {
		fprintf(stderr, "bench_scraped: scraped.sh failed\n");
		return 1;
	}
	bench_at_least(&b, "scraped / alone: executions/s", bench_figure_median(&b, rate), 0.99);
	bench_at_most(&b, "scraped / alone: p50", bench_figure_median(&b, p50), 1.25);
	bench_at_most(&b, "scrapes that failed", failed, 0);
	return bench_close(&b);
}
