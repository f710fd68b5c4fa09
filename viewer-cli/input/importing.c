/* importing.c -- see importing.h. */
#include "input/importing.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "answer/say.h"
#include "answer/scoped.h"
#include "answer/screen.h"
#include "input/apart.h"

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
	char *name = bsv_printable(output, strlen(output), 0);

	fprintf(stderr, "%s: %s %s, %s %s in %.2f s (%.2f M/s), %s %s\n", name ? name : "",
	        bsv_count(traces, done->traces), bsv_plural(done->traces, "trace", "traces"),
	        bsv_count(events, done->events), bsv_plural(done->events, "event", "events"), took,
	        (double)done->events / 1e6 / took, bsv_count(executions, done->executions),
	        bsv_plural(done->executions, "execution", "executions"));
	free(name);
}

/* One line: how far it is to be trusted. */
static void say_trust(const struct bsa_imported *done)
{
	char a[BSV_COUNT_MAX], b[BSV_COUNT_MAX];

	if (done->lost_events || done->lost_packets)
		fprintf(stderr, "trust: %s events and %s packets were lost, which touches %" PRIu64 " executions",
		        bsv_count(a, done->lost_events), bsv_count(b, done->lost_packets), done->touched_by_loss);
	else
		fputs(done->holes ? "trust: LTTng counted no lost events" : "trust: nothing was lost", stderr);
	if (done->holes)
		fprintf(stderr, "; %s %s not recorded (table loss: when and why)", bsv_count(a, done->holes),
		        bsv_plural(done->holes, "stretch of time was", "stretches of time were"));
	if (done->incomplete)
		fprintf(stderr, "; %s of %s executions are incomplete (execution.quality says why)",
		        bsv_count(a, done->incomplete), bsv_count(b, done->executions));
	else
		fputs(done->executions ? "; every execution is complete" : "; there are no executions", stderr);
	if (done->cut)
		fprintf(stderr, "; the end of %s %s is missing", bsv_count(a, done->cut),
		        bsv_plural(done->cut, "trace", "traces"));
	if (done->repeated)
		fprintf(stderr, "; %s %s there twice, and read once", bsv_count(a, done->repeated),
		        bsv_plural(done->repeated, "packet was", "packets were"));
	if (done->doubtful)
		fprintf(stderr, "; %s %s of their streams, and left out", bsv_count(a, done->doubtful),
		        bsv_plural(done->doubtful, "packet contradicts others", "packets contradict others"));
	if (done->wrong_indices)
		fprintf(stderr, "; %s of LTTng's %s not believed, for packets say otherwise",
		        bsv_count(a, done->wrong_indices),
		        bsv_plural(done->wrong_indices, "indices was", "indices were"));
	if (done->unusable)
		fprintf(stderr, "; %s %s cannot be right, and could not be used", bsv_count(a, done->unusable),
		        bsv_plural(done->unusable, "event", "events"));
	if (done->unreadable)
		fprintf(stderr, "; what %s %s written cannot be read, and is left out (trace.unreadable)",
		        bsv_count(a, done->unreadable),
		        bsv_plural(done->unreadable, "user or process has", "users or processes have"));
	if (done->impostors)
		fprintf(stderr, "; %s %s to be another user's, and %s left out (trace.impostor_events)",
		        bsv_count(a, done->impostors), bsv_plural(done->impostors, "event claims", "events claim"),
		        bsv_plural(done->impostors, "is", "are"));
	fputc('\n', stderr);
}

/* ---- all of it ---- */

/* A database says where it is from by names that hold in every directory. */
struct whole {
	char **names;
	size_t n;
};

static void whole_fini(struct whole *w)
{
	for (size_t i = 0; i < w->n; i++)
		free(w->names[i]);
	free(w->names);
}

static int whole_names(struct whole *w, const struct bsa_import_options *options, struct bsa_err *err)
{
	w->names = calloc(options->n_traces + 1, sizeof(*w->names));
	for (size_t i = 0; w->names && i < options->n_traces; i++) {
		char *name = realpath(options->traces[i], NULL);

		w->names[i] = name ? name : strdup(options->traces[i]); /* which the import says then */
		if (!w->names[i])
			break;
		w->n++;
	}
	return w->names && w->n == options->n_traces ? 0 : bsv_no_memory(err);
}

int bsv_importing(const struct bsa_import_options *options, const struct bsv_call *call, struct bsa_err *err)
{
	struct watch w = { .began = bsv_now() };
	struct bsa_import_options import = *options;
	__attribute__((cleanup(whole_fini))) struct whole whole = { 0 };
	struct bsa_imported done;
	int r = whole_names(&whole, options, err);

	if (r < 0)
		return r;
	import.traces = (const char *const *)whole.names;
	import.progress = watch;
	import.progress_ctx = &w;
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
	return 0;
}

int bsv_importing_beside(const char *trace, char ret[PATH_MAX], struct bsa_err *err)
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
