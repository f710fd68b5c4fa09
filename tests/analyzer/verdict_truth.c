/* verdict_truth.c -- see verdict_truth.h. */
#include "analyzer/verdict_truth.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/schedule_truth.h"
#include "base.h"
#include "replay/sharing.h"

#define NEVER BSA_NEVER

enum { MODE_RESTART = 1, MODE_SAVE }; /* values of service_state.preempt_mode */

/* From least to most, where the recorded time cuts something in two. */
struct range {
	uint64_t least, most;
};

struct judge {
	const struct truth_world *w;
	const struct sim *s;
	const struct cut *c;
	uint64_t horizon;
	uint64_t from, until; /* the recorded time, and of that what was asked for */
	bool picked;          /* --from or --to was given: executions that begin in between are judged */
	bool whole;           /* all of the world is judged */
	uint32_t service;     /* apps whose fairness is judged */
	bool set_up;          /* the properties of services, models and apps were recorded */
};

/* ---- what is there ---- */

static uint64_t max_of(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static uint64_t min_of(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static bool is_native(const struct judge *j, uint32_t service)
{
	return j->s->services[service].native;
}

static uint64_t run_of(const struct sim *s, uint32_t exec)
{
	uint64_t ns = 0;

	for (size_t i = 0; i < s->n_slices; i++)
		if (s->slices[i].exec == exec)
			ns += s->slices[i].ended - s->slices[i].began;
	return ns;
}

/* The last event that can be about it, a late summary included. */
static uint64_t over_of(const struct judge *j, uint32_t exec)
{
	uint64_t over = j->s->execs[exec].over_at;

	return j->c->forms == SIM_FULL ? over : over + j->horizon;
}

static bool began_in(const struct judge *j, uint32_t exec)
{
	return j->s->execs[exec].at[BSA_SUBMITTED] >= j->from && j->s->execs[exec].at[BSA_SUBMITTED] < j->until;
}

static bool is_picked(const struct judge *j, uint32_t exec)
{
	return !j->picked || began_in(j, exec);
}

/* All events of it were recorded, and no loss lies in it. */
static bool is_clean(const struct judge *j, uint32_t exec)
{
	uint64_t began = j->s->execs[exec].at[BSA_SUBMITTED], over = over_of(j, exec);

	return began >= j->c->from && (over <= j->c->until || j->c->until == NEVER) && !cut_touches(j->c, began, over);
}

/* For every execution of @service that is under way at some time from @from to @until. */
static bool are_clean(const struct judge *j, uint32_t service, uint64_t from, uint64_t until)
{
	for (uint32_t i = 0; i < j->s->n_execs; i++) {
		const struct sim_exec *x = &j->s->execs[i];

		if (x->service == service && x->at[BSA_SUBMITTED] <= until && x->over_at >= from && !is_clean(j, i))
			return false;
	}
	return from >= j->c->from && !cut_touches(j->c, from, until + (j->c->forms == SIM_FULL ? 0 : j->horizon));
}

/* ---- S: how long a lane could not be had ---- */

static bool is_in(const struct judge *j, uint64_t began, uint64_t ended)
{
	return began >= j->from && ended <= j->until;
}

/* In the recorded time, whatever part of it was asked for. */
static bool is_recorded(const struct judge *j, uint64_t began, uint64_t ended)
{
	return began >= j->c->from && ended <= j->c->until;
}

static bool overlaps(const struct judge *j, uint64_t began, uint64_t ended)
{
	return began < j->until && ended > j->from;
}

static void widen(struct range *r, uint64_t ns, bool certain)
{
	r->most = max_of(r->most, ns);
	if (certain)
		r->least = max_of(r->least, ns);
}

static struct range longest_run(const struct judge *j)
{
	struct range r = { 0, 0 };

	for (uint32_t i = 0; i < j->s->n_execs; i++)
		if (!is_native(j, j->s->execs[i].service) && j->s->execs[i].service == j->service)
			widen(&r, run_of(j->s, i),
			      is_recorded(j, j->s->execs[i].at[BSA_SUBMITTED], j->s->execs[i].over_at));
	return r;
}

/* The longest that stopping one of @model took; @model UINT32_MAX: of any of the service. */
static struct range longest_stop(const struct judge *j, uint32_t model)
{
	struct range r = { 0, 0 };

	for (size_t i = 0; i < j->s->n_preemptions; i++) {
		const struct sim_preemption *p = &j->s->preemptions[i];

		if (model == UINT32_MAX ? j->s->execs[p->exec].service == j->service
		                        : j->s->execs[p->exec].model == model)
			widen(&r, p->stopped - p->asked, is_recorded(j, p->asked, p->stopped));
	}
	return r;
}

static struct range longest_step(const struct judge *j)
{
	struct range r = longest_stop(j, UINT32_MAX);

	for (size_t i = 0; i < j->s->n_slices; i++) {
		const struct sim_slice *l = &j->s->slices[i];

		if (!is_native(j, l->service) && l->service == j->service)
			widen(&r, j->s->models[j->s->execs[l->exec].model].step_ns, is_recorded(j, l->began, l->ended));
	}
	return r;
}

/* ---- fairness ---- */

/* Executions of @app are ready or on a lane. */
static bool is_backlogged(const struct judge *j, uint32_t app, uint64_t from, uint64_t until)
{
	for (size_t i = 0; i < j->s->n_waits; i++)
		if (j->s->execs[j->s->waits[i].exec].app == app && j->s->waits[i].began < until &&
		    j->s->waits[i].ended > from)
			return true;
	for (size_t i = 0; i < j->s->n_slices; i++)
		if (j->s->execs[j->s->slices[i].exec].app == app && j->s->slices[i].began < until &&
		    j->s->slices[i].ended > from)
			return true;
	return false;
}

/* The most apps that had something in one window of 100 ms, which lies in the judged time, or partly. */
static struct range most_apps(const struct judge *j)
{
	const struct collected *f = &j->w->facts;
	struct range r = { 0, 0 };

	for (size_t i = 0; i < f->lag.n; i++) {
		uint64_t at = f->lag.items[i].window_began;
		uint32_t n = 0, sure = 0;

		for (size_t k = 0; k < f->lag.n; k++) {
			const struct bsa_lag *l = &f->lag.items[k];

			if (l->window_began != at || j->s->apps[l->app - 1].service != j->service)
				continue;
			n++;
			sure += is_in(j, at, at + 100 * MS) ||
			        is_backlogged(j, l->app - 1, max_of(at, j->from), min_of(at + 100 * MS, j->until));
		}
		if (j->picked ? is_in(j, at, at + 100 * MS) : overlaps(j, at, at + 100 * MS)) {
			r.most = max_of(r.most, n);
			r.least = max_of(r.least, j->whole || j->picked ? n : sure);
		}
	}
	return r;
}

static double lag_bound(uint64_t stretch_ns, uint64_t apps, uint32_t lanes)
{
	double f = 0;

	for (uint64_t i = 1; i < apps; i++)
		f += 1.0 / (double)i;
	f *= lanes;
	return (f < 2 ? 2 : f) * ((double)stretch_ns + 500000) + 1000000;
}

/* When @app became backlogged, the last time before @at. */
static uint64_t backlogged_since(const struct judge *j, uint32_t app, uint64_t at)
{
	uint64_t since = at;
	bool further;

	do {
		further = false;
		for (size_t i = 0; i < j->s->n_waits; i++) {
			const struct sim_wait *w = &j->s->waits[i];

			if (j->s->execs[w->exec].app == app && w->began < since && w->ended >= since) {
				since = w->began;
				further = true;
			}
		}
		for (size_t i = 0; i < j->s->n_slices; i++) {
			const struct sim_slice *l = &j->s->slices[i];

			if (j->s->execs[l->exec].app == app && l->began < since && l->ended >= since) {
				since = l->began;
				further = true;
			}
		}
	} while (further);
	return since;
}

/* Since when each lane of the service is known: since the end of the slice on it before @at. */
static uint64_t lanes_known_since(const struct judge *j, uint32_t service, uint64_t at)
{
	uint64_t since = at;

	for (uint32_t lane = 0; lane < j->s->services[service].lanes; lane++) {
		uint64_t last = j->s->began;

		for (size_t i = 0; i < j->s->n_slices; i++) {
			const struct sim_slice *l = &j->s->slices[i];

			if (l->service == service && l->lane == lane && l->began < at)
				last = max_of(last, l->began);
		}
		since = min_of(since, last);
	}
	return since;
}

static void judge_service(struct truth_verdict *ret, const struct judge *j)
{
	const struct collected *f = j->picked ? &j->w->facts : &j->w->fine; /* windows of 100 ms are picked whole */
	uint64_t window = j->picked ? 100 * MS : j->w->window_ns;
	struct range apps = most_apps(j), stretch;
	int64_t least = INT64_MIN, most = INT64_MIN;
	const struct bsa_lag *worst = NULL;
	bool whole_runs = false;
	double bound_least, bound_most;
	uint32_t lanes = j->s->services[j->service].lanes;

	for (size_t i = 0; i < j->s->n_events; i++)
		if (j->s->events[i].event.kind == BSA_service_state &&
		    j->s->events[i].of.service_state.instance == j->s->services[j->service].instance)
			whole_runs |= j->s->events[i].of.service_state.preempt_mode != MODE_SAVE;
	lanes = lanes ? lanes : 1;
	stretch = whole_runs ? longest_run(j) : longest_step(j);
	bound_least = lag_bound(stretch.least, apps.least, lanes);
	bound_most = lag_bound(stretch.most, apps.most, lanes);
	for (size_t i = 0; i < f->lag.n; i++) {
		const struct bsa_lag *l = &f->lag.items[i];
		bool in = is_in(j, l->window_began, l->window_began + window);

		if (j->s->apps[l->app - 1].service != j->service ||
		    (!j->whole && !in && !(overlaps(j, l->window_began, l->window_began + window) && !j->picked)))
			continue;
		most = l->lag > most ? l->lag : most;
		if (!in && !j->whole)
			continue;
		least = l->lag > least ? l->lag : least;
		if (!worst || l->lag > worst->lag)
			worst = l;
		if ((double)l->lag > bound_most && apps.least > 1 && j->set_up && !ret->shown) {
			uint32_t service = j->s->apps[l->app - 1].service;
			uint64_t since = backlogged_since(j, l->app - 1, l->window_began);

			ret->shown =
				are_clean(j, service, lanes_known_since(j, service, since), l->window_began + window);
		}
	}
	ret->nothing = !apps.most;
	ret->figure = worst ? (double)worst->lag : 0;
	ret->bound = bound_most;
	ret->broken = worst && apps.least > 1 && (double)least > bound_most;
	ret->kept = apps.most <= 1 || most == INT64_MIN || (double)most <= bound_least;
	if (worst) {
		ret->from = worst->window_began;
		ret->until = worst->window_began + window;
	}
	snprintf(ret->what, sizeof(ret->what),
	         "app %u lags %.0f ns, bound %.0f ns, S %" PRIu64 " ns, %" PRIu64 " apps, %u lanes%s",
	         worst ? j->s->apps[worst->app - 1].key : 0, ret->figure, ret->bound, stretch.most, apps.most, lanes,
	         whole_runs ? ", nobody can be stopped" : "");
}

/* For each service by itself: lanes are shared by its apps alone. */
static void judge_fairness(struct truth_verdict *ret, const struct judge *j)
{
	double worst = -1e300;

	*ret = (struct truth_verdict){ .kept = true, .nothing = true };
	for (uint32_t i = 0; i < j->s->n_services; i++) {
		struct truth_verdict of = { .kept = false };
		struct judge one = *j;
		double beyond;

		one.service = i;
		judge_service(&of, &one);
		of.broken |= ret->broken;
		of.kept &= ret->kept;
		of.shown |= ret->shown;
		of.nothing &= ret->nothing;
		beyond = most_apps(&one).most > 1 ? of.figure / of.bound : -1; /* an app that is alone has no limit */
		if (!i || beyond > worst) {
			worst = beyond;
			*ret = of;
			continue;
		}
		ret->broken = of.broken;
		ret->kept = of.kept;
		ret->shown = of.shown;
		ret->nothing = of.nothing;
	}
}

/* ---- starvation ---- */

/* Median run of the answered executions of @model, if @within of those in the judged time; 0: none was answered. */
static uint64_t median_run(const struct judge *j, uint32_t model, bool within)
{
	uint64_t *runs = calloc(j->s->n_execs + 1, sizeof(*runs)), median = 0;
	size_t n = 0;

	assert(runs);
	for (uint32_t i = 0; i < j->s->n_execs; i++) {
		const struct sim_exec *x = &j->s->execs[i];

		if (x->model == model && !x->status && (!within || is_in(j, x->at[BSA_SUBMITTED], x->over_at)))
			runs[n++] = run_of(j->s, i);
	}
	qsort(runs, n, sizeof(*runs), by_number);
	if (n)
		median = runs[(n + 1) / 2 - 1];
	free(runs);
	return median;
}

static uint64_t longest_run_of(const struct judge *j, uint32_t model)
{
	uint64_t most = 0;

	for (uint32_t i = 0; i < j->s->n_execs; i++)
		if (j->s->execs[i].model == model)
			most = max_of(most, run_of(j->s, i));
	return most;
}

/* All of the wait was recorded; only full events have what is still open. Its model's median is no matter. */
static bool is_shown(const struct judge *j, const struct sim_wait *w, uint64_t gap)
{
	const struct sim_exec *x = &j->s->execs[w->exec];

	if (gap <= 10 * longest_run_of(j, x->model) || !j->set_up || x->at[BSA_SUBMITTED] < j->c->from)
		return false;
	if (w->ended > j->c->until)
		return j->c->forms & SIM_FULL && !cut_touches(j->c, x->at[BSA_SUBMITTED], NEVER);
	return is_clean(j, w->exec);
}

static void judge_starvation(struct truth_verdict *ret, const struct judge *j)
{
	int64_t worst = INT64_MIN;

	ret->kept = true;
	ret->nothing = true;
	for (uint32_t i = 0; i < j->s->n_execs; i++)
		if (is_picked(j, i) && overlaps(j, j->s->execs[i].at[BSA_SUBMITTED], j->s->execs[i].over_at))
			ret->nothing = false;
	for (size_t i = 0; i < j->s->n_waits; i++) {
		const struct sim_wait *w = &j->s->waits[i];
		uint32_t model = j->s->execs[w->exec].model;
		uint64_t until = min_of(w->ended, j->c->until), gap = until > w->began ? until - w->began : 0;
		uint64_t all, some, least, most;
		bool shown;

		if (is_native(j, w->service) || !is_picked(j, w->exec) || w->began >= j->c->until ||
		    w->ended <= j->c->from || gap <= 100 * MS)
			continue;
		all = median_run(j, model, false);
		some = j->whole || j->picked ? all : median_run(j, model, true);
		least = max_of(100 * MS, 10 * min_of(all, some));
		most = max_of(100 * MS, 10 * max_of(all, some));
		shown = gap > most && is_shown(j, w, gap);
		ret->broken |= gap > most;
		ret->count += gap > most;
		ret->kept &= gap <= least;
		ret->shown |= shown;
		if ((int64_t)(gap - most) <= worst)
			continue;
		worst = (int64_t)(gap - most);
		ret->figure = (double)gap;
		ret->bound = (double)most;
		ret->from = w->began;
		ret->until = w->ended;
		snprintf(ret->what, sizeof(ret->what),
		         "exec %#" PRIx64 " waits %" PRIu64 " ns without a lane, ten times the median run is %" PRIu64
		         " ns",
		         j->s->execs[w->exec].exec, gap, 10 * all);
	}
}

/* ---- inversions ---- */

static uint32_t index_of(const struct judge *j, uint64_t id)
{
	(void)j;
	return (uint32_t)id - 1;
}

/* The last time before @at at which an execution entered or left that lane; 0: no execution did. */
static uint64_t last_step(const struct judge *j, uint32_t service, uint32_t lane, uint64_t at)
{
	uint64_t last = 0;

	for (size_t i = 0; i < j->s->n_slices; i++) {
		const struct sim_slice *l = &j->s->slices[i];
		uint64_t step = l->ended < at ? l->ended : l->began;

		if (l->service == service && l->lane == lane && step < at)
			last = max_of(last, step);
	}
	return last;
}

/*
 * The longest that a lost preemption may have taken, as far as recordings show: it ended in a hole, and began when no
 * execution's step on the lane was recorded any more. NEVER: no bound.
 */
static uint64_t longest_unseen_stop(const struct judge *j)
{
	uint64_t first = NEVER, last = 0, since, back = j->c->forms == SIM_FULL ? 0 : j->horizon;

	for (size_t i = 0; i < j->c->n_holes; i++) {
		first = min_of(first, j->c->holes[i].from);
		last = max_of(last, j->c->holes[i].until);
	}
	if (first == NEVER)
		return 0;
	since = first;
	for (uint32_t i = 0; i < j->s->n_services; i++)
		for (uint32_t lane = 0; lane < j->s->services[i].lanes; lane++)
			since = min_of(since, last_step(j, i, lane, first));
	return !since || since < j->c->from || since < back ? NEVER : last - since + back;
}

static void judge_inversion(struct truth_verdict *ret, const struct judge *j)
{
	uint64_t unseen = longest_unseen_stop(j);
	double worst = -1e300;

	ret->kept = true;
	for (size_t i = 0; i < j->w->facts.inverted.n; i++) {
		const struct bsa_inverted *v = &j->w->facts.inverted.items[i];
		uint32_t holder = index_of(j, v->holder), victim = index_of(j, v->victim);
		const struct sim_exec *h = &j->s->execs[holder];
		uint64_t until = min_of(v->began + v->dur, j->c->until), step = j->s->models[h->model].step_ns, run,
			 off = 0;
		struct range stop = longest_stop(j, h->model);
		double dur, least, most;

		if (v->began >= j->c->until || v->began + v->dur <= j->c->from || !is_picked(j, victim))
			continue;
		ret->count++;
		dur = (double)(until - v->began);
		run = run_of(j->s, holder);
		if (h->cpu != NEVER && run > h->cpu)
			off = run - h->cpu;
		most = (double)(max_of(step, stop.most) + MS + off);
		least = (double)(max_of(step, stop.least) + MS +
		                 (is_recorded(j, h->at[BSA_SUBMITTED], h->over_at) ? off : 0));
		ret->broken |= dur > most;
		ret->kept &= dur <= least;
		if (dur > most && dur > (double)unseen + (double)(MS + off) && j->set_up && is_clean(j, holder) &&
		    is_clean(j, victim))
			ret->shown = true;
		if (dur - most > worst) {
			worst = dur - most;
			ret->figure = dur;
			ret->bound = most;
			ret->from = v->began;
			ret->until = v->began + v->dur;
			snprintf(ret->what, sizeof(ret->what),
			         "exec %#" PRIx64 " waits %.0f ns while exec %#" PRIx64 " holds lane %u, bound %.0f ns",
			         j->s->execs[victim].exec, dur, h->exec, v->lane, most);
		}
	}
}

/* ---- choices ---- */

struct choices {
	uint64_t n, honoured;
};

static bool fails(const struct choices *c)
{
	uint64_t n = c->n < 100 ? 100 : c->n;

	return (n - (c->n - c->honoured)) * 100 < 99 * n;
}

/* When the chosen one was on its lane. */
static uint64_t dispatched_at(const struct judge *j, const struct bsa_chosen *v)
{
	uint64_t at = NEVER;

	for (size_t i = 0; i < j->s->n_slices; i++)
		if (j->s->slices[i].exec + 1 == v->chosen && j->s->slices[i].began >= v->at)
			at = min_of(at, j->s->slices[i].began);
	return at;
}

static void judge_honoured(struct truth_verdict *ret, const struct judge *j)
{
	struct choices sure = { 0, 0 }, all = { 0, 0 };
	uint64_t shown = 0, n;

	for (size_t i = 0; i < j->w->facts.chosen.n; i++) {
		const struct bsa_chosen *v = &j->w->facts.chosen.items[i];
		uint32_t chosen = index_of(j, v->chosen);
		uint64_t at = dispatched_at(j, v);

		if (!is_picked(j, chosen) || v->at > j->c->until || at < j->c->from)
			continue;
		all.n++;
		all.honoured += v->honoured;
		if (!v->honoured) {
			ret->from = v->at;
			ret->until = at;
		}
		if (v->at < j->c->from || at > j->c->until)
			continue;
		sure.n++;
		sure.honoured += v->honoured;
		if (!v->honoured && j->set_up) {
			uint32_t service = j->s->execs[chosen].service;

			shown += are_clean(j, service, lanes_known_since(j, service, v->at), at);
		}
	}
	n = all.n < 100 ? 100 : all.n;
	ret->broken = fails(&sure) && fails(&all);
	ret->kept = !fails(&sure) && !fails(&all);
	ret->shown = (n - shown) * 100 < 99 * n;
	ret->nothing = ret->kept && all.n && all.n < 100;
	ret->count = all.n;
	ret->figure = all.n ? 100 * (double)all.honoured / (double)all.n : 100;
	ret->bound = 99;
	snprintf(ret->what, sizeof(ret->what), "%" PRIu64 " of %" PRIu64 " choices are honoured", all.honoured, all.n);
}

/* ---- ideal sharing ---- */

/* The executions of a service that were ready, in that order. */
struct arrivals {
	struct bsa_sharing_call *calls;
	size_t n, next;
};

static int next_arrival(void *arg, struct bsa_sharing_call *ret)
{
	struct arrivals *a = arg;

	if (a->next == a->n)
		return 0;
	*ret = a->calls[a->next++];
	return 1;
}

static int by_ready(const void *one, const void *other)
{
	const struct bsa_sharing_call *a = one, *b = other;

	return (a->ready > b->ready) - (a->ready < b->ready);
}

enum { ANY_MODEL = UINT32_MAX, STOPS_LEAST = 10 };

/*
 * How long those who were asked to leave a lane took: those that took no more than 1 ms, and the others, who had no
 * cpu.
 */
struct stops {
	uint64_t quick, quick_ns, stalled, stalled_ns;
};

static struct stops stops_of(const struct judge *j, uint32_t model)
{
	struct stops s = { 0 };

	for (size_t i = 0; i < j->s->n_preemptions; i++) {
		const struct sim_preemption *p = &j->s->preemptions[i];
		const struct sim_exec *x = &j->s->execs[p->exec];
		uint64_t ns = p->stopped - p->asked;

		if (x->service != j->service || (model != ANY_MODEL && x->model != model))
			continue;
		if (ns > MS) {
			s.stalled++;
			s.stalled_ns += ns;
		} else {
			s.quick++;
			s.quick_ns += ns;
		}
	}
	return s;
}

/* An execution that is asked between two checkpoints leaves after half the time between them, in the mean. */
static uint64_t step_truth(const struct judge *j, uint32_t model)
{
	const struct stops s = stops_of(j, model);
	uint64_t step = j->s->models[model].step_ns, seen = s.quick ? 2 * s.quick_ns / s.quick + 1 : 0;

	return s.quick + s.stalled >= STOPS_LEAST && s.quick >= s.stalled && seen < step ? seen : step;
}

/* The longest stretch without a cpu; 0: not known. */
static uint64_t stall_truth(const struct judge *j)
{
	const struct stops s = stops_of(j, ANY_MODEL);

	if (s.quick + s.stalled < STOPS_LEAST)
		return 0;
	return s.stalled ? 2 * s.stalled_ns / s.stalled : MS;
}

/* The share of its time on a lane for which an execution has no cpu. */
static double stalled_truth(const struct judge *j)
{
	const struct stops s = stops_of(j, ANY_MODEL);
	uint64_t n = s.quick + s.stalled;

	return n >= STOPS_LEAST ? (double)s.stalled / (double)n : 0;
}

/* From when a lane was free, and the execution that got it ready, until that was on it. */
static uint64_t handed_in(const struct sim *s, const struct sim_slice *slice)
{
	uint64_t free = 0, ready = slice->began;

	for (size_t i = 0; i < s->n_slices; i++)
		if (s->slices[i].service == slice->service && s->slices[i].lane == slice->lane &&
		    s->slices[i].ended <= slice->began && &s->slices[i] != slice)
			free = max_of(free, s->slices[i].ended);
	for (size_t i = 0; i < s->n_waits; i++)
		if (s->waits[i].exec == slice->exec && s->waits[i].ended == slice->began)
			ready = min_of(ready, s->waits[i].began);
	return slice->began - max_of(free, ready);
}

static int by_length(const void *one, const void *other)
{
	const uint64_t *a = one, *b = other;

	return (*a > *b) - (*a < *b);
}

enum { SAMPLE = 64 };

/*
 * The time that @exec may have needed of a lane, though it was refused or given up: from what whole runs of its model
 * took. False: there are too many of them, and not all are looked at.
 */
static bool need_truth(const struct judge *j, uint32_t exec, struct bsa_sharing_call *ret)
{
	const struct sim *s = j->s;
	uint64_t n = 0, most = 0, given_up = 0, trial = s->models[s->execs[exec].model].estimate_ns;
	uint64_t longer[SAMPLE], n_longer = 0;

	for (uint32_t i = 0; i < s->n_execs; i++) {
		uint64_t run = run_of(s, i) - s->execs[i].redo;

		if (s->execs[i].model != s->execs[exec].model || !run)
			continue;
		if (s->execs[i].status) {
			given_up = max_of(given_up, run);
			continue;
		}
		n++;
		most = max_of(most, run);
		if (run >= ret->run && n <= SAMPLE)
			longer[n_longer++] = run;
	}
	qsort(longer, n_longer, sizeof(*longer), by_length);
	if (n < 3 && !trial)
		return true;
	ret->need_least = n < 3      ? trial / 4
	                  : n_longer ? longer[(ret->ready * UINT64_C(0x9e3779b97f4a7c15) >> 32) % n_longer]
	                             : 0;
	ret->need_most = n < 3 ? max_of(most, 4 * trial + MS / 10) : n < 20 ? 2 * most : most;
	ret->need_most = given_up > ret->need_most ? 2 * given_up : ret->need_most;
	return n <= SAMPLE;
}

/* False: it was neither ready nor refused for its deadline, or is not over. */
static bool arrival_of(const struct judge *j, uint32_t exec, struct bsa_sharing_call *ret, bool *ret_unsure)
{
	const struct sim *s = j->s;
	const struct sim_exec *x = &s->execs[exec];
	uint64_t run = run_of(s, exec), began = s->events[0].event.at; /* as of the trace: runs are drawn by it */
	bool given_up = x->miss == BSA_MISS_PREDICTED || x->miss == BSA_MISS_ABORTED,
	     refused = x->at[BSA_ENQUEUED] == NEVER;

	if (refused && !given_up)
		return false;
	*ret = (struct bsa_sharing_call){ .ready = x->at[refused ? BSA_RUN_ENDED : BSA_ENQUEUED] - began,
		                          .response = run,
		                          .run = run - x->redo,
		                          .deadline = x->deadline ? x->deadline - min_of(x->deadline, began) : NEVER,
		                          .step = step_truth(j, x->model),
		                          .usual = s->models[x->model].estimate_ns,
		                          .stream = x->stream,
		                          .app = x->app,
		                          .priority = x->priority,
		                          .given_up = given_up,
		                          .refused = refused,
		                          .asked = is_picked(j, exec),
		                          .answered = !x->status && x->path != BSA_PATH_PREPARE };
	if (given_up)
		*ret_unsure |= !need_truth(j, exec, ret);
	if (refused)
		return true;
	if (x->cpu == NEVER)
		ret->off = (uint64_t)((double)ret->run * stalled_truth(j));
	else if (x->cpu < ret->run)
		ret->off = ret->run - x->cpu;
	for (size_t i = 0; i < s->n_waits; i++)
		if (s->waits[i].exec == exec)
			ret->waited += s->waits[i].ended - s->waits[i].began;
	ret->response += ret->waited;
	for (size_t i = 0; i < s->n_slices; i++)
		if (s->slices[i].exec == exec) {
			uint64_t hand = handed_in(s, &s->slices[i]);

			ret->hand += hand;
			ret->hand_most = max_of(ret->hand_most, hand);
			ret->n_hands += hand > 0;
		}
	ret->waited -= min_of(ret->waited, ret->hand);
	return true;
}

/* Its rules, as the events have them. */
static uint32_t preempt_mode(const struct judge *j)
{
	for (size_t i = 0; i < j->s->n_events; i++)
		if (j->s->events[i].event.kind == BSA_service_state &&
		    j->s->events[i].of.service_state.instance == j->s->services[j->service].instance)
			return j->s->events[i].of.service_state.preempt_mode;
	return MODE_SAVE;
}

struct shared {
	unsigned apps, judged;
	bool shared; /* a service has more than one app */
	/* whether an app was treated fairly depends on how long the executions needed that were refused; or of an app
	 * that shares, more executions were refused or given up than answered, and fair sharing may have served many
	 * more in time */
	bool given_up;
};

/* What others did to an app, beside what they made it wait for: then waits are not all of it. */
struct suffered {
	uint64_t waited; /* for lanes that others held; or its own, where there are more lanes */
	uint64_t refused;
	bool restarts;
};

static struct suffered suffered_by(const struct judge *j, uint32_t app, bool restarts)
{
	const struct sim *s = j->s;
	struct suffered of = { .restarts = restarts };

	for (uint32_t i = 0; i < s->n_execs; i++)
		of.refused += s->execs[i].app == app && is_picked(j, i) && s->execs[i].at[BSA_ENQUEUED] == NEVER &&
		              s->execs[i].miss == BSA_MISS_PREDICTED;
	for (size_t i = 0; i < s->n_waits; i++) {
		const struct sim_wait *w = &s->waits[i];

		if (s->execs[w->exec].app != app || !is_picked(j, w->exec))
			continue;
		for (size_t k = 0; k < s->n_slices; k++) {
			const struct sim_slice *l = &s->slices[k];
			uint64_t from = max_of(w->began, l->began), until = min_of(w->ended, l->ended);
			bool counts = s->execs[l->exec].app != app || s->services[j->service].lanes > 1;

			if (l->service == w->service && l->lane == w->lane && from < until && counts)
				of.waited += until - from;
		}
	}
	return of;
}

/* Whether waits of @of can account for @more. */
static bool accounts_for(const struct suffered *of, double more)
{
	return more <= (double)of->waited || (of->restarts && of->waited);
}

static bool is_more(uint64_t ideal, uint64_t met)
{
	return ideal >= met + 8 && 4 * ideal > 5 * met;
}

static bool is_worse(double is, double ideal, uint64_t step, uint64_t n, const struct suffered *of)
{
	double limit = 1.25 * ideal > ideal + 2 * (double)step ? 1.25 * ideal : ideal + 2 * (double)step;

	return is > limit && accounts_for(of, (double)n * (is - limit));
}

static bool had_less(uint64_t work, uint64_t ideal, const struct suffered *of)
{
	return work >= 200 * MS && 2 * ideal < work && accounts_for(of, (double)work - 2 * (double)ideal);
}

/* An app that has its service for itself is not judged. */
static void judge_apps(struct truth_verdict *ret, struct shared *of, const struct bsa_sharing_app apps[SIM_APPS],
                       uint64_t step, const uint64_t given_up[SIM_APPS], const struct suffered by_app[SIM_APPS])
{
	unsigned judged = 0, with_work = 0, asked = 0;

	for (unsigned i = 0; i < SIM_APPS; i++) {
		const struct bsa_sharing_app *a = &apps[i];
		bool by_work = a->work_ns >= 200 * MS, by_responses = a->n >= 30 || a->due >= 30;

		with_work += a->played > 0;
		asked += a->work_ns > 0 || a->n > 0 || a->due > 0;
		judged += by_work || by_responses;
	}
	for (unsigned i = 0; i < SIM_APPS && with_work > 1; i++) {
		const struct bsa_sharing_app *a = &apps[i];
		const struct suffered *by = &by_app[i];

		of->given_up |= given_up[i] > a->n && a->due >= 30 && is_more(a->ideal_met_most, a->met);
		of->given_up |= a->refused_runs && a->n >= 30 &&
		                (is_worse(a->mean_ns, a->ideal_mean_without_ns, step, a->n, by) ||
		                 is_worse((double)a->p95_least_ns, (double)a->ideal_p95_without_ns, step, 1, by));
		of->given_up |= a->refused_runs && had_less(a->work_ns, a->ideal_work_without_ns, by);
		ret->broken |= a->due >= 30 && is_more(a->ideal_met_least, a->met) && (by->waited || by->refused);
		ret->broken |= had_less(a->work_ns, a->ideal_work_ns, by);
		ret->broken |= a->n >= 30 && (is_worse(a->mean_ns, a->ideal_mean_ns, step, a->n, by) ||
		                              is_worse((double)a->p95_least_ns, (double)a->ideal_p95_ns, step, 1, by));
	}
	of->apps += asked;
	of->judged += with_work > 1 ? judged : 0;
	of->shared |= with_work > 1 && asked;
}

static bool had_lane(const struct judge *j, uint32_t model)
{
	for (size_t i = 0; i < j->s->n_slices; i++)
		if (j->s->execs[j->s->slices[i].exec].model == model && j->s->slices[i].service == j->service)
			return true;
	return false;
}

/*
 * The step bound is no longer than a model's longest run. How much shorter it may be depends on the model's median
 * run, and on what was measured with the step: a verdict that a bound of 0 would change is not sure.
 */
static uint64_t step_most(const struct judge *j, bool *unsure)
{
	uint64_t most = 0;

	for (uint32_t i = 0; i < j->s->n_models; i++) {
		uint64_t step = j->s->models[i].step_ns, run = longest_run_of(j, i);

		if (j->s->apps[j->s->models[i].app].service != j->service || !had_lane(j, i))
			continue;
		*unsure |= !step;
		most = max_of(most, run && run < step ? run : step);
	}
	return most;
}

static void judge_sharing_of(struct truth_verdict *ret, struct shared *of, const struct judge *j)
{
	struct arrivals a = { .calls = calloc(j->s->n_execs + 1, sizeof(*a.calls)) };
	struct bsa_sharing_app apps[SIM_APPS];
	const struct bsa_sharing sharing = { .lanes = j->s->services[j->service].lanes,
		                             .policy = j->s->services[j->service].policy,
		                             .preempt = preempt_mode(j),
		                             .deadlines = j->s->services[j->service].deadlines,
		                             .n_apps = SIM_APPS,
		                             .stall = stall_truth(j),
		                             .next = next_arrival,
		                             .arg = &a };
	struct truth_verdict strict = { .broken = false };
	struct shared strictly = { 0, 0, false, false };
	uint64_t step, given_up[SIM_APPS] = { 0 };
	struct suffered by_app[SIM_APPS];

	assert(a.calls);
	for (uint32_t i = 0; i < j->s->n_execs; i++) {
		const struct sim_exec *x = &j->s->execs[i];

		given_up[x->app] += x->service == j->service && is_picked(j, i) &&
		                    (x->miss == BSA_MISS_PREDICTED || x->miss == BSA_MISS_ABORTED);
		ret->unsure |= j->s->execs[i].over_at > j->s->ended;
		a.n += j->s->execs[i].service == j->service && arrival_of(j, i, &a.calls[a.n], &ret->unsure);
	}
	step = step_most(j, &ret->unsure);
	qsort(a.calls, a.n, sizeof(*a.calls), by_ready);
	if (!ret->unsure && bsa_sharing_run(&sharing, apps) == BSA_SHARING_DONE) {
		bool broken = ret->broken;

		for (uint32_t i = 0; i < SIM_APPS; i++)
			by_app[i] = suffered_by(j, i, preempt_mode(j) == MODE_RESTART);
		judge_apps(ret, of, apps, step, given_up, by_app);
		strict.broken = broken;
		judge_apps(&strict, &strictly, apps, 0, given_up, by_app);
		ret->unsure |= strict.broken != ret->broken || (strictly.given_up && !of->given_up);
	} else {
		ret->unsure = true;
	}
	free(a.calls);
}

/* In a recording that was cut, what was before it, or after it, has a part in it that is not worked out. */
static void judge_sharing(struct truth_verdict *ret, const struct judge *j)
{
	struct shared of = { 0, 0, false, false };

	ret->unsure = j->w->native || !(j->whole || j->picked) || j->c->from || j->c->until != NEVER ||
	              (j->picked && j->s->ended - j->s->began > 1000 * MS);
	for (uint32_t i = 0; i < j->s->n_services && !ret->unsure; i++) {
		struct judge one = *j;

		one.service = i;
		judge_sharing_of(ret, &of, &one);
	}
	ret->nothing = !of.apps || (of.shared && !of.judged) || (of.given_up && !ret->broken);
	ret->kept = !ret->broken;
	snprintf(ret->what, sizeof(ret->what), "ideal sharing");
}

/* ---- all of it ---- */

static bool is_set_up(const struct judge *j)
{
	const struct sim *s = j->s;

	if (j->c->kind == CUT_HEADS) /* the recording begins with them, if at all */
		return s->n_execs && j->c->holes[0].from <= s->began &&
		       j->c->holes[0].until < s->execs[0].at[BSA_SUBMITTED];
	if (j->c->kind == CUT_LATE || j->c->kind == CUT_EARLY || j->c->kind == CUT_SERVICE ||
	    j->c->kind == CUT_LATE_SERVICE || j->c->kind == CUT_EARLY_SERVICE)
		return true;
	return j->c->kind != CUT_CLIENTS &&
	       !cut_touches(j->c, 0, s->n_execs ? s->execs[0].at[BSA_SUBMITTED] : s->ended);
}

static void judge(struct truth_verdict ret[TRUTH_RULES], const struct truth_world *w, const struct cut *c,
                  uint64_t horizon)
{
	struct judge j = { .w = w, .s = w->s, .c = c, .horizon = horizon };

	memset(ret, 0, TRUTH_RULES * sizeof(*ret));
	j.from = max_of(c->from, c->asked_from);
	j.until = min_of(c->until, c->asked_until);
	j.picked = c->asked_from || c->asked_until != NEVER;
	j.whole = !j.from && j.until == NEVER;
	j.set_up = is_set_up(&j);
	judge_fairness(&ret[TRUTH_FAIRNESS], &j);
	judge_starvation(&ret[TRUTH_STARVATION], &j);
	judge_inversion(&ret[TRUTH_INVERSION], &j);
	judge_honoured(&ret[TRUTH_HONOURED], &j);
	judge_sharing(&ret[TRUTH_SHARING], &j);
}

void truth_judge(struct truth_verdict ret[TRUTH_RULES], const struct truth_world *w, const struct cut *c,
                 uint64_t horizon)
{
	struct truth_verdict all[TRUTH_RULES];
	struct cut from_the_beginning = *c;

	judge(ret, w, c, horizon);
	if (!c->from)
		return;
	from_the_beginning.from = 0; /* cpus with earlier heads, and summaries, report what was before */
	judge(all, w, &from_the_beginning, horizon);
	for (unsigned i = 0; i < TRUTH_RULES; i++)
		ret[i].kept &= all[i].kept;
}

void truth_world_make(struct truth_world *ret, const struct sim *s)
{
	struct bsa_fold_options options = { 0 };

	memset(ret, 0, sizeof(*ret));
	ret->s = s;
	for (uint32_t i = 0; i < s->n_services; i++)
		ret->native |= s->services[i].native;
	ret->window_ns = (s->ended - s->began) / 200 + 1;
	truth_tell(&ret->facts, s, &options);
	options.window_ns = ret->window_ns;
	truth_tell(&ret->fine, s, &options);
}

void truth_world_fini(struct truth_world *w)
{
	collect_fini(&w->facts);
	collect_fini(&w->fine);
}
