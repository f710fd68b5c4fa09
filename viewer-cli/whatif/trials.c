/* trials.c -- one recording, replayed under many changes. */
#include "whatif/trials.h"

#include <assert.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/vector.h"
#include "stats/order.h"

enum {
	FEW = 30 /* executions of an app, or of an app and model: of fewer no mean is compared */,
	FEWER = 100 /* with fewer calls, no 99th percentile is reported */,
	THREADS_MOST = 16
};

#define REPLAYED_MOST UINT64_C(50000000) /* executions in all: then there are fewer draws */
enum { DRAWS_LEAST = 1 };

static_assert((int)BSV_TRIAL_DRAWS <= (int)BSV_SEEDS, "each replay has a seed of its own");

/* ---- whose is the hurry ---- */

bool bsv_trials_init(struct bsv_trials *t, const struct bsv_past *p)
{
	uint32_t most = 0, least = UINT32_MAX;
	bool any;

	*t = (struct bsv_trials){ .past = p,
		                  .draws = BSV_TRIAL_DRAWS,
		                  .urgent = calloc(p->n_groups + 1, sizeof(bool)) };
	if (!t->urgent)
		return false;
	for (size_t i = 0; i < p->n_calls; i++) {
		if (p->calls[i].trial)
			continue;
		most = p->calls[i].priority > most ? p->calls[i].priority : most;
		least = p->calls[i].priority < least ? p->calls[i].priority : least;
	}
	any = most > least;
	for (size_t i = 0; i < p->n_calls; i++) {
		const struct bsv_past_call *c = &p->calls[i];

		if (!c->trial && (most > least ? c->priority == most : c->deadline != BSA_REPLAY_NEVER))
			any = t->urgent[p->models[c->model].group] = true;
	}
	for (size_t i = 0; !any && i < p->n_groups; i++)
		t->urgent[i] = true;
	return true;
}

struct bsv_trial *bsv_trials_add(struct bsv_trials *t, struct bsa_replay_rules rules)
{
	struct bsv_trial *trial = bsv_array_add(&t->all, &t->n, sizeof(*trial));

	if (trial)
		trial->change.rules = rules;
	return trial;
}

void bsv_trials_fini(struct bsv_trials *t)
{
	for (size_t i = 0; i < t->n; i++) {
		free(t->all[i].waits);
		free(t->all[i].group_waits);
		free(t->all[i].missed);
		free(t->all[i].n);
	}
	free(t->all);
	free(t->urgent);
	*t = (struct bsv_trials){ 0 };
}

/* ---- the replays ---- */

struct work {
	struct bsv_trials *trials;
	atomic_size_t next, done;
	atomic_bool failed;
	void (*progress)(void *ctx, size_t done, size_t of);
	void *ctx;
};

static bool replay_trial(struct bsv_trials *t, size_t which, struct bsv_group_figures *figures)
{
	struct bsv_trial *x = &t->all[which / t->draws];
	unsigned draw = (unsigned)(which % t->draws);
	const struct bsv_past *p = t->past;
	struct bsv_trial_draw *d = &x->draws[draw];
	double *waits = x->waits + draw * p->n_apps;
	double *group_waits = x->group_waits + draw * p->n_groups;
	uint64_t *missed = x->missed + draw * p->n_groups, *n = x->n + draw * p->n_apps;

	if (!bsv_draw(p, &x->change, draw, figures))
		return false;
	*d = (struct bsv_trial_draw){ .urgent_p99_ns = NAN };
	for (size_t i = 0; i < p->n_groups; i++) {
		uint32_t app = p->groups[i].app;

		d->due += figures[i].due;
		d->missed += figures[i].missed;
		n[app] += figures[i].n;
		missed[i] = figures[i].missed;
		group_waits[i] = figures[i].n < FEW ? NAN : figures[i].waited_ns / (double)figures[i].n;
		waits[app] += figures[i].waited_ns;
		if (t->urgent[i] && figures[i].served >= FEWER && !((double)figures[i].p99_ns <= d->urgent_p99_ns))
			d->urgent_p99_ns = (double)figures[i].p99_ns;
	}
	for (size_t i = 0; i < p->n_apps; i++)
		waits[i] = n[i] < FEW ? NAN : waits[i] / (double)n[i];
	return true;
}

static void work_off(struct work *w, bool tells)
{
	size_t of = w->trials->n * w->trials->draws, which;
	struct bsv_group_figures *figures = calloc(w->trials->past->n_groups + 1, sizeof(*figures));

	if (!figures)
		w->failed = true;
	while (!w->failed && (which = atomic_fetch_add(&w->next, 1)) < of) {
		if (tells && w->progress)
			w->progress(w->ctx, w->done, of);
		if (!replay_trial(w->trials, which, figures))
			w->failed = true;
		w->done++;
	}
	free(figures);
}

static void *worker_thread(void *arg)
{
	work_off(arg, false);
	return NULL;
}

bool bsv_trials_run(struct bsv_trials *t, void (*progress)(void *ctx, size_t done, size_t of), void *ctx)
{
	struct work w = { .trials = t, .progress = progress, .ctx = ctx };
	uint64_t each = (t->past->n_calls + 1) * (t->n + 1), draws = REPLAYED_MOST / each;
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	pthread_t threads[THREADS_MOST];
	unsigned n = 0;

	t->draws = draws >= BSV_TRIAL_DRAWS ? BSV_TRIAL_DRAWS : draws < DRAWS_LEAST ? DRAWS_LEAST : (unsigned)draws;
	for (size_t i = 0; i < t->n; i++) {
		size_t apps = t->draws * t->past->n_apps + 1, groups = t->draws * t->past->n_groups + 1;

		t->all[i].waits = calloc(apps, sizeof(double));
		t->all[i].n = calloc(apps, sizeof(uint64_t));
		t->all[i].group_waits = calloc(groups, sizeof(double));
		t->all[i].missed = calloc(groups, sizeof(uint64_t));
		if (!t->all[i].waits || !t->all[i].n || !t->all[i].group_waits || !t->all[i].missed)
			return false;
	}
	while (n + 1 < cpus && n < THREADS_MOST && !pthread_create(&threads[n], NULL, worker_thread, &w))
		n++;
	work_off(&w, true);
	while (n)
		pthread_join(threads[--n], NULL);
	return !w.failed;
}

/* ---- what they come to ---- */

struct bsv_spread bsv_spread_of(double *values, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		if (isnan(values[i]))
			return (struct bsv_spread){ NAN, NAN, NAN };
	qsort(values, n, sizeof(*values), bsv_by_double);
	return (struct bsv_spread){ values[0], values[n / 2], values[n - 1] };
}

struct bsv_spread bsv_trial_missed_percent(const struct bsv_trials *t, const struct bsv_trial *x)
{
	double values[BSV_TRIAL_DRAWS];

	for (unsigned i = 0; i < t->draws; i++)
		values[i] = x->draws[i].due ? 100.0 * (double)x->draws[i].missed / (double)x->draws[i].due : NAN;
	return bsv_spread_of(values, t->draws);
}

struct bsv_spread bsv_trial_urgent(const struct bsv_trials *t, const struct bsv_trial *x)
{
	double values[BSV_TRIAL_DRAWS];

	for (unsigned i = 0; i < t->draws; i++)
		values[i] = x->draws[i].urgent_p99_ns;
	return bsv_spread_of(values, t->draws);
}

struct bsv_spread bsv_trial_slowest(const struct bsv_trials *t, const struct bsv_trial *x,
                                    const struct bsv_trial *ideal, uint32_t *ret_app)
{
	double values[BSV_TRIAL_DRAWS];
	uint32_t app = 0;

	for (unsigned i = t->draws; i-- > 0;) { /* the last one is draw 0, which draws nothing */
		const double *waits = x->waits + i * t->past->n_apps, *fair = ideal->waits + i * t->past->n_apps;

		values[i] = NAN; /* no app has enough executions in both */
		for (size_t k = 0; k < t->past->n_apps; k++) {
			double times = fair[k] > 0 ? waits[k] / fair[k] : NAN;

			if (isnan(times) || times <= values[i])
				continue;
			values[i] = times;
			app = (uint32_t)k;
		}
	}
	if (ret_app)
		*ret_app = app;
	return bsv_spread_of(values, t->draws);
}
