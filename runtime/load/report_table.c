/*
 * report_table.c -- the report for people: each column has one unit, in its header; a table without rows is left out.
 * \v: a cell (options/narrow.h).
 */
#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "load.h"
#include "options/narrow.h"
#include "options/quantity.h"
#include "report.h"

enum { BAR = 40 };

/* Names are cut to the width of their columns. */
#define WHO "%-14.14s %-16.16s"
#define WHOSE(row) (row)->app->name, (row)->stream->name

/* The times of one table are in one unit. */
static double text_us(uint64_t ns)
{
	return (double)ns / 1e3;
}

static double text_ms(uint64_t ns)
{
	return (double)ns / 1e6;
}

/* A percentile in a column of @width, a dash where there is none. */
static void text_percentile(struct load_distribution *d, unsigned permille, int width)
{
	if (d->n)
		printf("\v%*.1f", width, text_us(load_percentile(d, permille)));
	else
		printf("\v%*s", width, "-");
}

/* ---- the tables ---- */

static void print_latencies(const struct load_report *r)
{
	static const unsigned permilles[] = { 500, 900, 990, 1000 };

	printf("\n" WHO "\v%-14s\v%-6s\v%-6s\v%10s\v%9s\v%9s\v%9s\v%9s\v%9s\n", "app", "stream", "model", "prio",
	       "path", "executions", "per s", "p50 us", "p90 us", "p99 us", "max us");
	for (uint32_t i = 0; i < r->n_rows; i++) {
		const struct load_row *row = &r->rows[i];
		const char *slash = strrchr(row->stream->model, '/'); /* a file is shown without its directory */
		uint64_t n = row->figures->executions;
		char model[LOAD_MODEL];

		snprintf(model, sizeof(model), "%s", slash ? slash + 1 : row->stream->model);
		load_make_printable(model);
		printf(WHO "\v%-14.14s\v%-6s\v%-6s\v%10" PRIu64 "\v%9.1f", WHOSE(row), model,
		       load_priority_names[row->stream->priority], load_path_names[row->stream->path], n,
		       row->seconds > 0 ? (double)n / row->seconds : 0);
		for (size_t k = 0; k < sizeof(permilles) / sizeof(permilles[0]); k++)
			text_percentile(row->all, permilles[k], 9);
		putchar('\n');
	}
}

static void print_deadlines(const struct load_report *r)
{
	bool any = false;

	for (uint32_t i = 0; i < r->n_rows; i++) {
		const struct load_row *row = &r->rows[i];
		struct load_figures *f = row->figures;
		uint64_t missed = f->misses[LOAD_LATE] + f->misses[LOAD_ABORTED] + f->misses[LOAD_PREDICTED];
		char deadline[QUANTITY_DURATION_TEXT] = "-";

		if (!row->stream->deadline_ns && !row->stream->period_ns)
			continue;
		if (!any)
			printf("\n" WHO "\v%9s\v%7s\v%8s\v%9s\v%9s\v%8s\v%12s\v%12s\n", "app", "stream", "deadline",
			       "late", "aborted", "predicted", "missed %", "skipped", "begun p99 us", "frame p99 us");
		any = true;
		if (row->stream->deadline_ns)
			quantity_duration_text(deadline, row->stream->deadline_ns);
		printf(WHO "\v%9s\v%7" PRIu64 "\v%8" PRIu64 "\v%9" PRIu64 "\v%9.1f\v%8" PRIu64, WHOSE(row), deadline,
		       f->misses[LOAD_LATE], f->misses[LOAD_ABORTED], f->misses[LOAD_PREDICTED],
		       f->executions ? 100 * (double)missed / (double)f->executions : 0, f->skipped);
		text_percentile(&f->start_late, 990, 12);
		text_percentile(&f->from_due, 990, 12);
		putchar('\n');
	}
}

/* Print the service's statuses of missed deadlines, and the effect of retries. */
static void print_refusals(const struct load_report *r)
{
	bool any = false;

	for (uint32_t i = 0; i < r->n_rows; i++) {
		const struct load_row *row = &r->rows[i];
		const struct load_figures *f = row->figures;
		uint64_t transient = f->statuses[NNB_STATUS_MISSED_DEADLINE_TRANSIENT];
		uint64_t persistent = f->statuses[NNB_STATUS_MISSED_DEADLINE_PERSISTENT];

		if (!transient && !persistent && !f->retries)
			continue;
		if (!any)
			printf("\n" WHO "\v%16s\v%17s\v%11s\v%9s\n", "app", "stream", "missed transient",
			       "missed persistent", "tried again", "went well");
		any = true;
		printf(WHO "\v%16" PRIu64 "\v%17" PRIu64 "\v%11" PRIu64 "\v%9" PRIu64 "\n", WHOSE(row), transient,
		       persistent, f->retries, f->recovered);
	}
}

static void print_bursts(const struct load_report *r)
{
	bool any = false;

	for (uint32_t i = 0; i < r->n_rows; i++) {
		const struct load_row *row = &r->rows[i];
		struct load_figures *f = row->figures;

		if (row->stream->path != LOAD_BURST)
			continue;
		if (!any)
			printf("\n" WHO "\v%8s\v%8s\v%8s\v%9s\v%12s\v%12s\v%11s\v%9s\n", "app", "stream", "bursts",
			       "pools", "cold", "fallbacks", "cold p50 us", "warm p50 us", "polled ms", "sleeps");
		any = true;
		printf(WHO "\v%8" PRIu64 "\v%8" PRIu64 "\v%8" PRIu64 "\v%9" PRIu64, WHOSE(row), f->bursts, f->pools,
		       f->cold.n, f->fallbacks);
		text_percentile(&f->cold, 500, 12);
		text_percentile(&f->warm, 500, 12);
		printf("\v%11.1f\v%9" PRIu64 "\n", (double)f->spun_ns / 1e6, f->wakeups);
	}
}

/*
 * Print the places of states, and the digests: after equal numbers of steps, equal digests mean equal outputs and
 * states.
 */
static void print_states(const struct load_report *r)
{
	bool any = false;

	for (uint32_t i = 0; i < r->n_rows; i++) {
		const struct load_row *row = &r->rows[i];
		const struct load_figures *f = row->figures;
		char digest[20] = "-";

		if (!row->stream->state)
			continue;
		if (!any)
			printf("\n" WHO "\v%8s\v%8s\v%9s\v%7s\v%10s\v%10s\v%16s\n", "app", "stream", "state", "buffers",
			       "fell back", "resets", "steps", "copied ms", "digest");
		any = true;
		if (load_report_digest(row))
			snprintf(digest, sizeof(digest), "%016" PRIx64, load_report_digest(row));
		printf(WHO "\v%8s\v%8" PRIu64 "\v%9" PRIu64 "\v%7" PRIu64 "\v%10" PRIu64 "\v%10.1f\v%16s\n", WHOSE(row),
		       load_keeping_names[row->stream->state], f->state_buffers, f->state_fallen, f->state_resets,
		       f->sequence.steps, text_ms(f->state_copy_ns), digest);
	}
}

static void print_shares(const struct load_report *r)
{
	const struct load_scenario *s = r->session->scenario;

	printf("\n%-14s\v%8s\v%8s\v%12s\v%12s\v%10s \v%s\n", "app", "pid", "known as", "executions %", "device %",
	       "cpu ms", "end");
	for (uint32_t i = 0; i < s->n_apps; i++) {
		const struct load_process *p = &r->session->processes[i];
		struct load_share share = load_report_share(r, &s->apps[i]);
		char device[16] = "-";

		if (r->device_known)
			snprintf(device, sizeof(device), "%.1f", 100 * share.of_device);
		printf("%-14.14s\v%8d\v%8" PRIu32 "\v%12.1f\v%12s\v%10.1f \v%s\n", s->apps[i].name, (int)p->pid,
		       p->board->service.app, 100 * share.of_executions, device,
		       (double)(p->usage.ru_utime.tv_sec + p->usage.ru_stime.tv_sec) * 1e3 +
		               (double)(p->usage.ru_utime.tv_usec + p->usage.ru_stime.tv_usec) / 1e3,
		       load_process_fine(p) ? "done" : "FAILED");
	}
}

/* A row for each app of the service, with the name of its first app in the scenario. */
static void print_received(const struct load_report *r)
{
	const struct load_scenario *s = r->session->scenario;

	printf("\n%-14s\v%10s\v%11s\v%11s\v%7s\v%11s\v%15s\v%9s\v%9s\n", "app", "lane runs", "received ms",
	       "entitled ms", "ratio", "max lag ms", "longest wait ms", "preempted", "restarted");
	for (uint32_t i = 0; i < s->n_apps; i++) {
		struct load_received got = load_report_received(r, i);
		const struct nnb_app_counts *c = &got.counts;
		char ratio[16] = "-";

		if (got.n_apps && got.first != i)
			continue;
		if (!got.n_apps) {
			printf("%-14.14s\v%10s\n", s->apps[i].name, "-");
			continue;
		}
		if (c->entitled_ns)
			snprintf(ratio, sizeof(ratio), "%.3f", got.ratio);
		printf("%-14.14s\v%10" PRIu64 "\v%11.1f\v%11.1f\v%7s\v%11.3f\v%15.3f\v%9" PRIu64 "\v%9" PRIu64 "\n",
		       s->apps[i].name, c->executions, text_ms(c->received_ns), text_ms(c->entitled_ns), ratio,
		       (double)c->max_lag_ns / 1e6, text_ms(c->longest_wait_ns), c->preemptions, c->restarts);
	}
}

/* Print the apps as the service sees them, and how equally they shared the lanes. */
static void print_fairness(const struct load_report *r)
{
	const struct load_session *s = r->session;
	struct load_fairness f = load_report_fairness(r);

	for (uint32_t i = 0; i < s->scenario->n_apps; i++) {
		struct load_received got = load_report_received(r, i);

		if (got.n_apps > 1 && got.first == i)
			printf("%s: %" PRIu32 " apps that are one to the service, %" PRIu32 "\n",
			       s->scenario->apps[i].name, got.n_apps, s->processes[i].board->service.app);
	}
	if (!(f.jain > 0))
		return;
	printf("Jain's index %.3f of %" PRIu32 " %s; max lag %.3f ms", f.jain, f.n_apps, f.n_apps == 1 ? "app" : "apps",
	       (double)f.max_lag_ns / 1e6);
	if (f.bound_ns)
		printf(", bound %.3f ms%s", text_ms(f.bound_ns),
		       f.max_lag_ns > (int64_t)f.bound_ns ? ": exceeded" : "");
	putchar('\n');
}

/* A line for each doubling from the shortest to the longest. */
static void print_histogram(const struct load_row *row)
{
	uint64_t buckets[LOAD_BUCKETS], most = 0;
	unsigned first = load_bucket_of(row->all->min) / 4, last = load_bucket_of(row->all->max) / 4;

	assert(row->all->n && last < LOAD_BUCKETS / 4);
	load_histogram(row->all, buckets);
	for (unsigned i = 0; i < LOAD_BUCKETS / 4; i++) {
		for (int k = 1; k < 4; k++)
			buckets[4 * i] += buckets[4 * i + k];
		if (buckets[4 * i] > most)
			most = buckets[4 * i];
	}
	printf("\n%s/%s, from us\n", row->app->name, row->stream->name);
	for (unsigned i = first; i <= last; i++) {
		int bar = (int)((buckets[4 * i] * BAR + most - 1) / most);

		assert(bar <= BAR);
		printf("%12.1f %10" PRIu64 " %.*s\n", text_us(load_bucket_begin(4 * i)), buckets[4 * i], bar,
		       "########################################");
	}
}

int load_report_table(const struct load_report *r)
{
	const struct load_session *s = r->session;
	const struct nnb_service_info *service = &s->processes[0].board->service;
	struct narrow n;
	bool any = false;

	narrow_begin(&n);
	printf("%s%s%s\n", s->scenario->name, s->scenario->about[0] ? ": " : "", s->scenario->about);
	printf("%.2f s%s, seed %" PRIu64 ", driver %s, %ld cpus\n", (double)(s->ended - s->began) / 1e9,
	       s->interrupted ? " (interrupted)" : "", s->seed, service->driver, sysconf(_SC_NPROCESSORS_ONLN));
	printf("policy %s, preempt %s, deadlines %s, %" PRIu32 " %s\n", load_policy_name(service->policy),
	       load_preempt_name(service->preempt), load_deadlines_name(service->deadlines), service->lanes,
	       service->lanes == 1 ? "lane" : "lanes");
	print_latencies(r);
	print_deadlines(r);
	print_refusals(r);
	print_bursts(r);
	print_states(r);
	/* the timings that the service measured */
	for (uint32_t i = 0; i < r->n_rows; i++) {
		const struct load_row *row = &r->rows[i];
		struct load_figures *f = row->figures;

		if (!f->on_device.n)
			continue;
		if (!any)
			printf("\n" WHO "\v%14s\v%14s\v%14s\v%14s\n", "app", "stream", "device p50 us", "device p99 us",
			       "driver p50 us", "driver p99 us");
		any = true;
		printf(WHO "\v%14.1f\v%14.1f\v%14.1f\v%14.1f\n", WHOSE(row),
		       text_us(load_percentile(&f->on_device, 500)), text_us(load_percentile(&f->on_device, 990)),
		       text_us(load_percentile(&f->in_driver, 500)), text_us(load_percentile(&f->in_driver, 990)));
	}
	print_shares(r);
	print_received(r);
	print_fairness(r);
	/* models that were not prepared, and executions that failed */
	for (uint32_t i = 0; i < r->n_rows; i++) {
		const struct load_figures *f = r->rows[i].figures;

		if (r->rows[i].outcome->prepared)
			printf("\n%s/%s: not prepared: %s\n", WHOSE(&r->rows[i]),
			       nnb_status_name(r->rows[i].outcome->prepared));
		for (int k = 1; k < LOAD_STATUSES; k++)
			if (f->statuses[k] && !load_expected((enum nnb_status)k, false))
				printf("\n%s/%s: %" PRIu64 " of %" PRIu64 " executions ended with %s\n",
				       WHOSE(&r->rows[i]), f->statuses[k], (uint64_t)f->executions,
				       nnb_status_name((enum nnb_status)k));
	}
	for (uint32_t i = 0; i < r->n_rows; i++)
		if (r->rows[i].all->n)
			print_histogram(&r->rows[i]);
	return !narrow_end(&n) || fflush(stdout) || ferror(stdout) ? -1 : 0;
}
