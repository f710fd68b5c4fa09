/*
 * bench_live.c -- burstscope top beside a busy service: how long after its last event an execution is in the figures, what that costs, and
 * whether anything is lost. What is measured is what top itself says in the end (live.sh).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "bench.h"

enum { FIGURES_MAX = 32 };

struct said {
	char name[48];
	double value;
};

static struct said said[FIGURES_MAX];
static size_t n_said;

static double value_of(const char *name)
{
	for (size_t i = 0; i < n_said; i++)
		if (!strcmp(said[i].name, name))
			return said[i].value;
	fprintf(stderr, "bench_live: live.sh says nothing of %s\n", name);
	exit(1);
}

static void measure(unsigned seconds)
{
	char command[4096];
	FILE *f;
	int status;

	snprintf(command, sizeof(command), "'%s' %u '%s' '%s' '%s'", LIVE_SH, seconds, BURSTSCOPE, NNBURSTD,
	         NNBURST_LOAD);
	f = popen(command, "r");
	while (f && n_said < FIGURES_MAX && fscanf(f, "%47s %lf", said[n_said].name, &said[n_said].value) == 2)
		n_said++;
	status = f ? pclose(f) : -1;
	if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
		exit(77);
	if (status) {
		fprintf(stderr, "bench_live: recording failed\n");
		exit(1);
	}
}

int main(int argc, char **argv)
{
	struct bench b;

	bench_open(&b, "live", 1, argc, argv);
	measure(b.quick ? 2 : 20);
	for (size_t i = 0; i < n_said; i++)
		bench_figure_is(&b, bench_figure(&b, said[i].name), said[i].value);
	/* Of as many as are asked for: on a machine that has not enough cpu for those, that is less. */
	bench_at_least(&b, "compact: executions a second", value_of("compact.per_second"), 18000);
	bench_at_most(&b, "compact: p50 of the lag, ms", value_of("compact.p50_ms"), 15);
	bench_at_most(&b, "compact: cpu, percent of one", value_of("compact.cpu_percent"), 5);
	bench_at_most(&b, "full: p50 of the lag, ms", value_of("full.p50_ms"), 15);
	bench_at_most(&b, "full: cpu, percent of one", value_of("full.cpu_percent"), 25);
	bench_at_most(&b, "events lost", value_of("compact.lost") + value_of("full.lost"), 0);
	return bench_close(&b);
}
