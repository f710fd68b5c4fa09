/* report.c -- computes the report from the apps' boards: rows, shares, and problems. */
#include "report.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "load.h"
#include "nnb/service.h"
#include "work.h"

static __attribute__((format(printf, 2, 3))) void report_problem(struct load_report *r, const char *format, ...)
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
	assert(first + (uint64_t)row->stream->threads <= row->app->n_threads);
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
			int status;

			assert(r->n_rows < n);
			status = make_row(&r->rows[r->n_rows++], s, i, k, first);
			if (status)
				return status;
			first += (uint32_t)s->scenario->apps[i].streams[k].threads;
		}
	}
	return 0;
}

uint64_t load_report_digest(const struct load_row *row)
{
	const struct load_sequence *s = &row->figures->sequence;

	return s->state ? load_digest(s->digest, &s->state, sizeof(s->state)) : 0;
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

/* ---- the service's counts ---- */

static const char *report_name_of(const char *const *names, size_t n, uint32_t i)
{
	return i < n ? names[i] : "?";
}

const char *load_policy_name(uint32_t policy)
{
	static const char *const names[] = { [NNB_POLICY_FAIR] = "fair",
		                             [NNB_POLICY_PRIORITY] = "priority",
		                             [NNB_POLICY_FIFO] = "fifo",
		                             [NNB_POLICY_EDF] = "edf",
		                             [NNB_POLICY_NATIVE] = "native" };

	return report_name_of(names, sizeof(names) / sizeof(names[0]), policy);
}

const char *load_preempt_name(uint32_t preempt)
{
	static const char *const names[] = {
		[NNB_PREEMPT_NONE] = "none", [NNB_PREEMPT_RESTART] = "restart", [NNB_PREEMPT_SAVE] = "save"
	};

	return report_name_of(names, sizeof(names) / sizeof(names[0]), preempt);
}

const char *load_deadlines_name(uint32_t deadlines)
{
	static const char *const names[] = {
		[NNB_DEADLINES_ABORT] = "abort", [NNB_DEADLINES_REFUSE] = "refuse", [NNB_DEADLINES_ADVISE] = "advise"
	};

	return report_name_of(names, sizeof(names) / sizeof(names[0]), deadlines);
}

/*
 * Several apps of the scenario may be one app for the service: count from before the first began until the last
 * disconnected.
 */
struct load_received load_report_received(const struct load_report *r, uint32_t app)
{
	const struct load_session *s = r->session;
	const struct load_board *first = NULL, *last = NULL;
	struct load_received found = { 0 };

	assert(app < s->scenario->n_apps);
	for (uint32_t i = s->scenario->n_apps; i-- > 0;) {
		const struct load_board *b = s->processes[i].board;

		if (!b->counted || b->service.app != s->processes[app].board->service.app)
			continue;
		found.n_apps++;
		found.first = i;
		if (!first || b->before.executions < first->before.executions)
			first = b;
		if (!last || b->ended > last->ended)
			last = b;
	}
	if (!found.n_apps)
		return found;
	/* the counts between two queries */
	found.counts = last->after;
	found.counts.executions -= first->before.executions;
	found.counts.preemptions -= first->before.preemptions;
	found.counts.restarts -= first->before.restarts;
	found.counts.missed_transient -= first->before.missed_transient;
	found.counts.missed_persistent -= first->before.missed_persistent;
	found.counts.late -= first->before.late;
	found.counts.received_ns -= first->before.received_ns;
	found.counts.entitled_ns -= first->before.entitled_ns;
	if (found.counts.entitled_ns)
		found.ratio = (double)found.counts.received_ns / (double)found.counts.entitled_ns;
	return found;
}

/*
 * The longest time that an execution can hold a lane: to its end, or to its next checkpoint if every execution yields
 * there.
 */
static uint64_t longest_hold(const struct load_report *r)
{
	bool whole = r->session->processes[0].board->service.preempt != NNB_PREEMPT_SAVE;
	uint64_t longest = 0;

	for (uint32_t i = 0; i < r->n_rows; i++) {
		const struct load_distribution *device = &r->rows[i].figures->on_device;
		const struct nnb_times *t = &r->rows[i].outcome->times;
		uint64_t step = t->longest_ns > t->step_ns ? t->longest_ns : t->step_ns;
		uint64_t each = !whole ? step : device->n ? device->max : t->estimate_ns;

		if (each > longest)
			longest = each;
	}
	return longest;
}

/*
 * The bound of the lag under fair sharing (nnburstd(8)): 2 holds and 2 ms, or (1 + 1/2 + ... 1/(n - 1)) holds and half
 * milliseconds for n apps, for each lane, and 1 ms. 0: unknown, or more lanes than the bound covers.
 */
static uint64_t lag_bound(const struct load_report *r, uint32_t n_apps)
{
	uint32_t lanes = r->session->processes[0].board->service.lanes;
	uint64_t hold = longest_hold(r), natural = 2 * hold + 2 * LOAD_MS;
	double sum = 0;

	if (!hold || lanes > 2)
		return 0;
	for (uint32_t k = 1; k < n_apps; k++)
		sum += 1.0 / k;
	sum = sum * lanes * ((double)hold + (double)LOAD_MS / 2) + (double)LOAD_MS;
	return sum > (double)natural ? (uint64_t)sum : natural;
}

struct load_fairness load_report_fairness(const struct load_report *r)
{
	struct load_fairness f = { 0 };
	double ratios[LOAD_APPS_MAX];

	for (uint32_t i = 0; i < r->session->scenario->n_apps; i++) {
		struct load_received each = load_report_received(r, i);

		if (!each.n_apps || each.first != i)
			continue;
		if (each.counts.max_lag_ns > f.max_lag_ns)
			f.max_lag_ns = each.counts.max_lag_ns;
		assert(f.n_apps < LOAD_APPS_MAX);
		if (each.counts.entitled_ns)
			ratios[f.n_apps++] = each.ratio;
	}
	f.jain = load_jain(ratios, f.n_apps);
	f.bound_ns = lag_bound(r, f.n_apps);
	return f;
}

/* ---- problems ---- */

static void judge_row(struct load_report *r, const struct load_row *row)
{
	const struct load_figures *f = row->figures;

	for (int i = 0; i < LOAD_STATUSES; i++)
		if (f->statuses[i] && !load_expected((enum nnb_status)i, row->stream->retries > 0))
			report_problem(r, "%s/%s: %" PRIu64 " of %" PRIu64 " executions ended with %s: %.120s",
			               row->app->name, row->stream->name, f->statuses[i], (uint64_t)f->executions,
			               nnb_status_name((enum nnb_status)i), row->outcome->reasons[i].text);
	if (f->wrong)
		report_problem(r, "%s/%s: %" PRIu64 " of %" PRIu64 " executions gave other outputs than %s",
		               row->app->name, row->stream->name, f->wrong, (uint64_t)f->executions,
		               row->stream->state ? "the same step before" : "the first");
}

int load_report_init(struct load_report *ret, const struct load_session *session)
{
	const struct load_scenario *s = session->scenario;

	*ret = (struct load_report){ .session = session };
	if (make_rows(ret)) {
		load_report_fini(ret);
		return -ENOMEM;
	}
	ret->device_known = true;
	for (uint32_t i = 0; i < ret->n_rows; i++) {
		const struct load_figures *f = ret->rows[i].figures;

		ret->executions += f->executions;
		ret->device_ns += f->on_device.sum;
		ret->device_known &= f->on_device.n == f->statuses[NNB_STATUS_NONE];
	}
	ret->device_known &= ret->device_ns > 0;
	for (uint32_t i = 0; i < s->n_apps; i++) {
		const struct load_app *app = &s->apps[i];
		const struct load_process *p = &session->processes[i];
		int state = atomic_load(&p->board->state);

		if (load_process_fine(p))
			continue;
		if (p->slow)
			report_problem(ret, "app '%s' did not stop, and was killed", app->name);
		else if (state == LOAD_BROKEN)
			report_problem(ret, "app '%s': %.200s", app->name, p->board->problem.text);
		else if (p->gone && WIFSIGNALED(p->wait_status))
			report_problem(ret, "app '%s' died of signal %d (%s) after %" PRIu64 " executions", app->name,
			               WTERMSIG(p->wait_status), strsignal(WTERMSIG(p->wait_status)),
			               load_report_share(ret, app).executions);
		else
			report_problem(ret, "app '%s' ended with status %d", app->name, WEXITSTATUS(p->wait_status));
	}
	for (uint32_t i = 0; i < ret->n_rows; i++) {
		judge_row(ret, &ret->rows[i]);
		for (uint32_t k = 0; k < i; k++) {
			const struct load_row *a = &ret->rows[k];
			const struct load_row *b = &ret->rows[i];
			uint64_t x = a->figures->digest, y = b->figures->digest;
			bool differ = (x && y && x != y) ||
			              !load_sequence_agrees(&a->figures->sequence, &b->figures->sequence);
			bool alike = !strcmp(a->stream->model, b->stream->model) &&
			             !a->stream->state == !b->stream->state &&
			             !memcmp(&a->stream->state_pairs, &b->stream->state_pairs,
			                     sizeof(a->stream->state_pairs));

			/* The same model with the same inputs must compute the same outputs, for every app, path and
			 * place of its state. */
			if (differ && alike) {
				b->figures->wrong++;
				report_problem(ret, "%s/%s and %s/%s: outputs of one model differ", a->app->name,
				               a->stream->name, b->app->name, b->stream->name);
			}
		}
	}
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
