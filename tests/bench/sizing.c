/*
 * sizing.c -- measures the losses of a recording: none, with the buffers that docs/events.md recommends and
 * executions at the pace that it gives; and where there is no room, LTTng counts to the last event what is missing.
 *
 * The executions are a service's and an app's, and each of them emits the same number of events. $NNB_PACED_SECONDS
 * is how long each pace is kept up; by default it is so short that all of it would fit into the buffers, emptied or
 * not.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "nnb/fmq.h"
#include "pair.h"
#include "peers.h"
#include "recorder.h"

#define RECOMMENDED "--subbuf-size=1M --num-subbuf=16"
#define TIGHT "--subbuf-size=4K --num-subbuf=2"

enum { FULL_EVENTS = 14, COMPACT_EVENTS = 2 }; /* events of an execution with two pools: both sides look up both */
enum { FIRST_FULL_EVENTS = 4 }; /* more of the first one: the service does not know its slots, and looks again */

/* Events of executions alone: their number follows from that of the executions. */
static const char *const full[] = { "'nnburst:*' --loglevel-only=DEBUG_FUNCTION", NULL };
static const char *const compact[] = { "nnburst:exec_client", "nnburst:exec_service", NULL };

static const struct run {
	const char *name;
	const char *const *events;
	unsigned per_execution, more_of_first;
	uint32_t per_second; /* executions; 0: as many as there can be */
	const char *buffers;
	bool loses;
} runs[] = {
	{ "full", full, FULL_EVENTS, FIRST_FULL_EVENTS, (200000 + FULL_EVENTS - 1) / FULL_EVENTS, RECOMMENDED, false },
	{ "compact", compact, COMPACT_EVENTS, 0, 50000, RECOMMENDED, false },
	{ "full-unpaced", full, FULL_EVENTS, FIRST_FULL_EVENTS, 0, TIGHT, true },
	{ "compact-unpaced", compact, COMPACT_EVENTS, 0, 0, TIGHT, true },
};

enum { UNPACED = 50000 }; /* executions: hundreds of times what fits */

static bool recorded(const struct pair *p, const struct run *r, uint32_t seconds)
{
	const struct pair_order order = { .batches = 1,
		                          .batch = r->per_second ? r->per_second * seconds : UNPACED,
		                          .per_second = r->per_second };
	const pid_t pids[] = { p->service.pid, p->app };
	uint64_t emitted = (uint64_t)order.batch * r->per_execution + r->more_of_first;
	struct recorded got;
	double each;
	bool good;

	recorder_start(r->name, r->buffers, r->events, pids, 2);
	pair_run(p, &order, &each);
	recorder_stop(r->name, &got);
	recorder_forget(r->name);
	good = got.events + got.lost == emitted && (got.lost > 0) == r->loses;
	printf("%s: %" PRIu64 " events of %" PRIu32 " executions in %.1f s: %" PRIu64 " in the trace, %" PRIu64
	       " lost, %.1f MB%s\n",
	       r->name, emitted, order.batch, each * order.batch / 1e9, got.events, got.lost, (double)got.bytes / 1e6,
	       good ? "" : ": WRONG");
	return good;
}

int main(int argc, char **argv)
{
	const struct pair_config config = { .nnburstd = NNBURSTD,
		                            .app = TRACING_APP,
		                            .provider = PROVIDER,
		                            .driver = "null",
		                            .window_ns = NNB_FMQ_WINDOW_AUTO };
	const char *seconds = getenv("NNB_PACED_SECONDS");
	struct pair p;
	bool good = true;

	(void)argc;
	recorder_inside(TRACING_SH, argv);
	find_cpus();
	pair_open(&p, &config);
	for (size_t i = 0; i < sizeof(runs) / sizeof(runs[0]); i++)
		good &= recorded(&p, &runs[i], seconds ? (uint32_t)atoi(seconds) : 1);
	pair_close(&p);
	return !good;
}
