/* import.c -- burstscope import: traces in, a database out. */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apart.h"
#include "command.h"
#include "say.h"

enum { MOST_THREADS = 64, MOST_TRACES = 4096 };

struct options {
	const char *output;
	bool append, keep_operations;
	unsigned threads;
};

static const struct bsv_option options[] = {
	{ .name = "output",
	  .letter = 'o',
	  .kind = BSV_TEXT,
	  .argument = "DB",
	  .says = "the database; otherwise NAME.db beside the trace NAME",
	  .offset = offsetof(struct options, output) },
	{ .name = "append",
	  .says = "add to the database that is there, instead of replacing it",
	  .offset = offsetof(struct options, append) },
	{ .name = "keep-operations",
	  .says = "keep each operation of queues, slots and models, too",
	  .offset = offsetof(struct options, keep_operations) },
	{ .name = "threads",
	  .kind = BSV_NUMBER,
	  .argument = "N",
	  .says = "that read; 0, the default: as many as pay",
	  .offset = offsetof(struct options, threads),
	  .most = MOST_THREADS },
	{ .name = NULL },
};

/* ---- while it goes on, and when it is done ---- */

struct watch {
	struct bsv_progress line;
	uint64_t began;
};

static double seconds(uint64_t since)
{
	return (double)(bsv_now() - since) / 1e9;
}

static void watch(void *ctx, const struct bsa_import_progress *p)
{
	struct watch *w = ctx;
	double percent = p->all_bytes ? 100 * (double)p->bytes / (double)p->all_bytes : 0;

	if (!bsv_progress_due(&w->line) && !p->finishing)
		return;
	if (p->finishing)
		bsv_progress_draw(&w->line, "%.2f M events read; putting it in order", (double)p->events / 1e6);
	else
		bsv_progress_draw(&w->line, "%3.0f %%  %.2f M events, %.2f M/s", percent, (double)p->events / 1e6,
		                  (double)p->events / 1e6 / seconds(w->began));
}

static void say_done(const char *output, const struct bsa_imported *done, double took)
{
	char traces[BSV_COUNT_MAX], events[BSV_COUNT_MAX], executions[BSV_COUNT_MAX];

	fprintf(stderr, "%s: %s %s, %s %s in %.2f s (%.2f M/s), %s %s\n", output, bsv_count(traces, done->traces),
	        bsv_plural(done->traces, "trace", "traces"), bsv_count(events, done->events),
	        bsv_plural(done->events, "event", "events"), took, (double)done->events / 1e6 / took,
	        bsv_count(executions, done->executions), bsv_plural(done->executions, "execution", "executions"));
}

/* One line: how far it is to be trusted. */
static void say_trust(const struct bsa_imported *done)
{
	char a[BSV_COUNT_MAX], b[BSV_COUNT_MAX];

	if (done->lost_events || done->lost_packets)
		fprintf(stderr, "trust: %s events and %s packets were lost, which touches %" PRIu64 " executions",
		        bsv_count(a, done->lost_events), bsv_count(b, done->lost_packets), done->touched_by_loss);
	else
		fputs("trust: nothing was lost", stderr);
	if (done->incomplete)
		fprintf(stderr, "; %s of %s executions are incomplete (execution.quality says why)",
		        bsv_count(a, done->incomplete), bsv_count(b, done->executions));
	else
		fputs(done->executions ? "; every execution is complete" : "; there are no executions", stderr);
	if (done->cut)
		fprintf(stderr, "; the end of %s %s is missing", bsv_count(a, done->cut),
		        bsv_plural(done->cut, "trace", "traces"));
	if (done->unusable)
		fprintf(stderr, "; %s %s could not be used", bsv_count(a, done->unusable),
		        bsv_plural(done->unusable, "event", "events"));
	fputc('\n', stderr);
}

/* ---- what it is to do ---- */

/* NAME.db beside NAME. */
static int default_output(const char *trace, char ret[PATH_MAX], struct bsa_err *err)
{
	char whole[PATH_MAX];
	int n;

	/* Where this is not a name yet: ".", "/tmp/". */
	if (!realpath(trace, whole))
		return bsa_fail(err, BSA_E_INPUT, "%s: %s", trace, strerror(errno));
	n = snprintf(ret, PATH_MAX, "%s.db", whole);
	if (!whole[1] || n >= PATH_MAX)
		return bsa_fail(err, BSA_E_USAGE, "%s: no place beside it for a database; say where with -o", trace);
	return 0;
}

static int run(const struct bsv_call *call, struct bsa_err *err)
{
	const struct options *o = call->options;
	struct watch w = { .began = bsv_now() };
	struct bsa_import_options import = {
		.traces = call->operands,
		.n_traces = call->n_operands,
		.output = o->output,
		.keep_operations = o->keep_operations,
		.append = o->append,
		.threads = o->threads,
		.progress = watch,
		.progress_ctx = &w,
	};
	struct bsa_imported done;
	char beside[PATH_MAX];
	int r;

	if (!import.output) {
		r = default_output(call->operands[0], beside, err);
		if (r < 0)
			return r;
		import.output = beside;
	}
	bsv_progress_init(&w.line, !call->common.quiet);
	r = bsv_import_apart(&import, &done, err);
	bsv_progress_fini(&w.line);
	if (r == BSA_E_STOPPED)
		return bsa_fail(err, r, "stopped; %s is as it was before", import.output);
	if (r < 0)
		return r;
	if (!call->common.quiet) {
		say_done(import.output, &done, seconds(w.began));
		say_trust(&done);
	}
	if (call->common.verbose)
		fprintf(stderr, "left aside: %" PRIu64 " events of other programs, or that are not in the catalogue\n",
		        done.foreign);
	return BSV_DONE;
}

const struct bsv_command bsv_import = {
	.name = "import",
	.operands = "TRACE...",
	.says = "put traces into a database",
	.examples = "  burstscope import bursts                  bursts.db, beside the trace\n"
		    "  burstscope import -o all.db host1 host2   two traces, one database\n"
		    "  burstscope import --append -o all.db third\n",
	.more = "TRACE is a directory that LTTng recorded, or one with such directories below it. The database appears "
		"when it\n"
		"is whole; Ctrl-C leaves everything as it was before.\n",
	.options = options,
	.options_size = sizeof(struct options),
	.min = 1,
	.max = MOST_TRACES,
	.run = run,
};
