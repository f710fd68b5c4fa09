/* report.c -- what the apps left on their boards put together: rows, shares, and what was not as it should be. */
#include "report.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

static __attribute__((format(printf, 2, 3))) void problem(struct load_report *r, const char *format, ...)
{
	va_list ap;

	if (r->n_problems == LOAD_PROBLEMS)
		return;
	va_start(ap, format);
	vsnprintf(r->problems[r->n_problems++].text, sizeof(r->problems[0].text), format, ap);
	va_end(ap);
}

/* ---- rows ---- */

static int make_row(struct load_row *row, const struct load_session *s, uint32_t app, uint32_t stream, uint32_t first)
{
	const struct load_process *p = &s->processes[app];

	*row = (struct load_row){ .app = &s->scenario->apps[app],
		                  .stream = &s->scenario->apps[app].streams[stream],
		                  .process = p,
		                  .outcome = &p->board->outcomes[stream],
		                  .figures = calloc(1, sizeof(*row->figures)),
		                  .all = calloc(1, sizeof(*row->all)) };
	if (!row->figures || !row->all)
		return -ENOMEM;
	for (uint32_t i = 0; i < row->stream->threads; i++)
		load_figures_merge(row->figures, &p->board->figures[first + i]);
	load_distribution_merge(row->all, &row->figures->cold);
	load_distribution_merge(row->all, &row->figures->warm);
	row->seconds = (double)(row->figures->ended - row->figures->began) / 1e9;
	return 0;
}

static int make_rows(struct load_report *r)
{
	const struct load_session *s = r->session;
	uint32_t n = 0;

	for (uint32_t i = 0; i < s->scenario->n_apps; i++)
		n += s->scenario->apps[i].n_streams;
	r->rows = calloc(n, sizeof(*r->rows));
	if (!r->rows)
		return -ENOMEM;
	for (uint32_t i = 0; i < s->scenario->n_apps; i++) {
		uint32_t first = 0;

		for (uint32_t k = 0; k < s->scenario->apps[i].n_streams; k++) {
			int status = make_row(&r->rows[r->n_rows++], s, i, k, first);

			if (status)
				return status;
			first += (uint32_t)s->scenario->apps[i].streams[k].threads;
		}
	}
	return 0;
}

static void sum_up(struct load_report *r)
{
	r->device_known = true;
	for (uint32_t i = 0; i < r->n_rows; i++) {
		const struct load_figures *f = r->rows[i].figures;

		r->executions += f->executions;
		r->device_ns += f->on_device.sum;
		r->device_known &= f->on_device.n == f->statuses[NNB_STATUS_NONE];
	}
	r->device_known &= r->device_ns > 0;
}

struct load_share load_report_share(const struct load_report *r, const struct load_app *app)
{
	struct load_share s = { 0 };

	for (uint32_t i = 0; i < r->n_rows; i++)
		if (r->rows[i].app == app) {
			s.executions += r->rows[i].figures->executions;
			s.device_ns += r->rows[i].figures->on_device.sum;
		}
	s.of_executions = r->executions ? (double)s.executions / (double)r->executions : 0;
	s.of_device = r->device_known ? (double)s.device_ns / (double)r->device_ns : 0;
	return s;
}

/* ---- what was not as it should be ---- */

static void judge_process(struct load_report *r, const struct load_app *app, const struct load_process *p)
{
	int state = atomic_load(&p->board->state);

	if (load_process_fine(p))
		return;
	if (p->slow)
		problem(r, "app '%s' did not stop, and was killed", app->name);
	else if (state == LOAD_BROKEN)
		problem(r, "app '%s': %.200s", app->name, p->board->problem.text);
	else if (p->gone && WIFSIGNALED(p->wait_status))
		problem(r, "app '%s' died of signal %d (%s) after %" PRIu64 " executions", app->name,
		        WTERMSIG(p->wait_status), strsignal(WTERMSIG(p->wait_status)),
		        load_report_share(r, app).executions);
	else
		problem(r, "app '%s' ended with status %d", app->name, WEXITSTATUS(p->wait_status));
}

static void judge_row(struct load_report *r, const struct load_row *row)
{
	const struct load_figures *f = row->figures;

	for (int i = 0; i < LOAD_STATUSES; i++)
		if (f->statuses[i] && !load_expected((enum nnb_status)i))
			problem(r, "%s/%s: %" PRIu64 " of %" PRIu64 " executions ended with %s: %.120s", row->app->name,
			        row->stream->name, f->statuses[i], (uint64_t)f->executions,
			        nnb_status_name((enum nnb_status)i), row->outcome->reasons[i].text);
	if (f->wrong)
		problem(r, "%s/%s: %" PRIu64 " of %" PRIu64 " executions gave other outputs than the first",
		        row->app->name, row->stream->name, f->wrong, (uint64_t)f->executions);
}

/* The same model with the same inputs gives the same, whoever runs it and by whichever path. */
static void compare_rows(struct load_report *r, const struct load_row *a, const struct load_row *b)
{
	uint64_t x = a->figures->digest, y = b->figures->digest;

	if (x && y && x != y && !strcmp(a->stream->model, b->stream->model)) {
		b->figures->wrong++;
		problem(r, "%s/%s and %s/%s: outputs of one model differ", a->app->name, a->stream->name, b->app->name,
		        b->stream->name);
	}
}

static void judge(struct load_report *r)
{
	const struct load_scenario *s = r->session->scenario;

	for (uint32_t i = 0; i < s->n_apps; i++)
		judge_process(r, &s->apps[i], &r->session->processes[i]);
	for (uint32_t i = 0; i < r->n_rows; i++) {
		judge_row(r, &r->rows[i]);
		for (uint32_t k = 0; k < i; k++)
			compare_rows(r, &r->rows[k], &r->rows[i]);
	}
}

int load_report_init(struct load_report *ret, const struct load_session *session)
{
	*ret = (struct load_report){ .session = session };
	if (make_rows(ret)) {
		load_report_fini(ret);
		return -ENOMEM;
	}
	sum_up(ret);
	judge(ret);
	return 0;
}

void load_report_fini(struct load_report *r)
{
	for (uint32_t i = 0; r->rows && i < r->n_rows; i++) {
		free(r->rows[i].figures);
		free(r->rows[i].all);
	}
	free(r->rows);
}
