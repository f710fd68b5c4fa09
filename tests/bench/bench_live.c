/*
 * bench_live.c -- burstscope top and watch beside a busy service: how long after its last event an execution is in
 * the figures, what that costs, and whether anything is lost; and the same of babeltrace2's lttng-live. live.sh
 * describes what is measured.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "bench.h"

enum { FIGURES_MAX = 64, NAME_MAX_BYTES = 48 };

/* Ended packets wait for the timer, half of its period at the median. */
static const double half_timer_ms = 5;

static struct {
	char name[NAME_MAX_BYTES];
	size_t figure;
} said[FIGURES_MAX];
static size_t n_said;

static size_t figure_of(struct bench *b, const char *name)
{
	for (size_t i = 0; i < n_said; i++)
		if (!strcmp(said[i].name, name))
			return said[i].figure;
	if (n_said == FIGURES_MAX) {
		fprintf(stderr, "bench_live: live.sh says more than there is room for\n");
		exit(1);
	}
	strcpy(said[n_said].name, name);
	said[n_said].figure = bench_figure(b, name);
	return said[n_said++].figure;
}

/* The median of its rounds. */
static double value_of(const struct bench *b, const char *name)
{
	for (size_t i = 0; i < n_said; i++)
		if (!strcmp(said[i].name, name))
			return bench_figure_median(b, said[i].figure);
	fprintf(stderr, "bench_live: live.sh says nothing of %s\n", name);
	exit(1);
}

static void measure(struct bench *b, unsigned seconds)
{
	char command[4096], name[NAME_MAX_BYTES];
	double value;
	FILE *f;
	int status;

	snprintf(command, sizeof(command), "'%s' %u %u '%s' '%s' '%s' '%s'", LIVE_SH, seconds, b->rounds, BURSTSCOPE,
	         NNBURSTD, NNBURST_LOAD, LIVE_PEER);
	f = popen(command, "r");
	while (f && fscanf(f, "%47s %lf", name, &value) == 2)
		bench_figure_is(b, figure_of(b, name), value);
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

	bench_open(&b, "live", 7, argc, argv);
	measure(&b, b.quick ? 1 : 60);
	/* The part of those that are asked for: on a machine that has not enough cpu for those, that is less. */
	bench_at_least(&b, "compact: executions a second", value_of(&b, "compact.per_second"), 18000);
	bench_at_most(&b, "compact: p50 of the lag, ms", value_of(&b, "compact.p50_ms"), 15);
	bench_at_most(&b, "compact: p50 of the lag less half the timer, times the peer's",
	              (value_of(&b, "compact.p50_ms") - half_timer_ms) / value_of(&b, "peer.p50_ms"), 1);
	bench_at_most(&b, "compact: p99 of the lag, times the peer's",
	              value_of(&b, "compact.p99_ms") / value_of(&b, "peer.p99_ms"), 1.2);
	bench_at_most(&b, "compact: cpu, percent of one", value_of(&b, "compact.cpu_percent"), 5);
	bench_at_most(&b, "on a screen: cpu, percent of one", value_of(&b, "screen.cpu_percent"), 5);
	bench_at_least(&b, "on a screen: drawn, a second", value_of(&b, "screen.drawn_per_second"), 9.5);
	bench_at_most(&b, "full: p50 of the lag, ms", value_of(&b, "full.p50_ms"), 15);
	bench_at_most(&b, "full: cpu, percent of one", value_of(&b, "full.cpu_percent"), 25);
	bench_at_most(&b, "events lost", value_of(&b, "compact.lost") + value_of(&b, "full.lost"), 0);
	bench_at_most(&b, "watch, events: cpu, percent of one", value_of(&b, "idle.cpu_percent"), .5);
	bench_at_most(&b, "watch, events: bytes to disks", value_of(&b, "idle.written_bytes"), 0);
	bench_at_most(&b, "watch, fold: cpu, percent of one", value_of(&b, "fold.cpu_percent"), 5);
	bench_at_most(&b, "watch, events: an execution, times recorded", value_of(&b, "cost.watched_events"), 1.1);
	bench_at_most(&b, "watch, fold: an execution, times recorded", value_of(&b, "cost.watched_fold"), 1.1);
	return bench_close(&b);
}
