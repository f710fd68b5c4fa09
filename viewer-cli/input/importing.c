/* importing.c -- imports a trace, and shows the progress and how far to trust the result. */
#include "input/importing.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/coverage.h"
#include "base/letters.h"
#include "base/numbers.h"
#include "base/scoped.h"
#include "base/screen.h"
#include "input/apart.h"

/* ---- progress and result ---- */

struct watch {
	struct bsv_progress line;
	uint64_t began;
};

static double seconds_since(uint64_t since)
{
	return (double)(bsv_now() - since) / 1e9;
}

static void draw_progress(void *ctx, const struct bsa_import_progress *p)
{
	struct watch *w = ctx;
	double percent = p->all_bytes ? 100 * (double)p->bytes / (double)p->all_bytes : 0;

	if (!bsv_progress_due(&w->line) && !p->finishing)
		return;
	if (p->finishing)
		bsv_progress_draw(&w->line, "%.2f M events read; sorting", (double)p->events / 1e6);
	else
		bsv_progress_draw(&w->line, "%3.0f %%  %.2f M events, %.2f M/s", percent, (double)p->events / 1e6,
		                  (double)p->events / 1e6 / seconds_since(w->began));
}

/* How far the database is to be trusted. */
static void print_trust(const struct bsa_imported *done, const char *output)
{
	char a[BSV_COUNT_MAX], b[BSV_COUNT_MAX], duration[BSV_DURATION_TEXT];
	struct bsv_coverage coverage = { .traces = 0 };
	struct bsa_db *db = NULL;
	char *text = NULL;
	size_t n = 0;
	FILE *to = open_memstream(&text, &n);

	if (!to)
		return;
	if (done->lost_events || done->lost_packets)
		fprintf(to, "trust: %s events and %s packets were lost, which touches %" PRIu64 " executions",
		        bsv_count(a, done->lost_events), bsv_count(b, done->lost_packets), done->touched_by_loss);
	else
		fputs(done->holes ? "trust: LTTng counted no lost events" : "trust: no event was lost", to);
	if (done->holes)
		fprintf(to, "; %s %s not recorded (table loss: when and why)", bsv_count(a, done->holes),
		        bsv_plural(done->holes, "interval was", "intervals were"));
	if (done->incomplete)
		fprintf(to, "; %s of %s executions are incomplete (execution.quality says why)",
		        bsv_count(a, done->incomplete), bsv_count(b, done->executions));
	else
		fputs(done->executions ? "; every execution is complete" : "; there are no executions", to);
	if (done->cut)
		fprintf(to, "; the end of %s %s is missing", bsv_count(a, done->cut),
		        bsv_plural(done->cut, "trace", "traces"));
	if (done->repeated)
		fprintf(to, "; %s %s found twice and read once", bsv_count(a, done->repeated),
		        bsv_plural(done->repeated, "packet was", "packets were"));
	if (done->doubtful)
		fprintf(to, "; %s %s of their streams and %s left out", bsv_count(a, done->doubtful),
		        bsv_plural(done->doubtful, "packet contradicts others", "packets contradict others"),
		        bsv_plural(done->doubtful, "was", "were"));
	if (done->wrong_indices)
		fprintf(to, "; %s of LTTng's %s ignored, because packets contradict them",
		        bsv_count(a, done->wrong_indices),
		        bsv_plural(done->wrong_indices, "indices was", "indices were"));
	if (done->unusable)
		fprintf(to, "; %s invalid %s left out", bsv_count(a, done->unusable),
		        bsv_plural(done->unusable, "event was", "events were"));
	if (done->unreadable)
		fprintf(to, "; files of %s %s unreadable and were left out (trace.unreadable)",
		        bsv_count(a, done->unreadable),
		        bsv_plural(done->unreadable, "user or process are", "users or processes are"));
	if (done->impostors)
		fprintf(to, "; %s %s another user's uid and %s left out (trace.impostor_events)",
		        bsv_count(a, done->impostors), bsv_plural(done->impostors, "event claims", "events claim"),
		        bsv_plural(done->impostors, "is", "are"));
	if (bsa_db_open(&db, output, NULL) >= 0 && bsv_coverage_read(&coverage, db, NULL) >= 0 &&
	    coverage.silent_services)
		fprintf(to, "; " BSV_SILENT, BSV_SILENT_WHO(coverage.silent_services),
		        bsv_duration(duration, coverage.silent_ns));
	bsa_db_close(db);
	fclose(to);
	bsv_print_line(stderr, text);
	free(text);
}

/* ---- the import ---- */

/* Absolute paths of the traces, because the database stores them and must be valid in every directory. */
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

		w->names[i] =
			name ? name : strdup(options->traces[i]); /* the import reports that there is no such trace */
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
	import.progress = draw_progress;
	import.progress_ctx = &w;
	bsv_progress_init(&w.line, !call->common.quiet);
	r = bsv_import_apart(&import, &done, err);
	bsv_progress_fini(&w.line);
	if (r == BSA_E_STOPPED)
		return bsa_fail(err, r, "stopped; %s is as it was before", import.output);
	if (r < 0)
		return r;
	if (!call->common.quiet) {
		double took = seconds_since(w.began);
		char traces[BSV_COUNT_MAX], events[BSV_COUNT_MAX], executions[BSV_COUNT_MAX];
		char *name = bsv_printable(import.output, strlen(import.output), 0);

		fprintf(stderr, "%s: %s %s, %s %s in %.2f s (%.2f M/s), %s %s\n", name ? name : "",
		        bsv_count(traces, done.traces), bsv_plural(done.traces, "trace", "traces"),
		        bsv_count(events, done.events), bsv_plural(done.events, "event", "events"), took,
		        (double)done.events / 1e6 / took, bsv_count(executions, done.executions),
		        bsv_plural(done.executions, "execution", "executions"));
		free(name);
		print_trust(&done, import.output);
	}
	if (call->common.verbose)
		fprintf(stderr, "ignored: %" PRIu64 " events of other programs, or not in the catalogue\n",
		        done.foreign);
	return 0;
}

int bsv_importing_beside(const char *trace, char ret[PATH_MAX], struct bsa_err *err)
{
	char whole[PATH_MAX];
	int n;

	/* The trace may have no name of its own: ".", "/tmp/". */
	if (!realpath(trace, whole))
		return bsa_fail(err, BSA_E_INPUT, "%s: %s", trace, strerror(errno));
	n = snprintf(ret, PATH_MAX, "%s.db", whole);
	if (!whole[1] || n >= PATH_MAX)
		return bsa_fail(err, BSA_E_USAGE, "%s: no place beside it for a database; name one with -o", trace);
	return 0;
}
