/* group_truth.c -- see group_truth.h. */
#include "analyzer/group_truth.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NEVER BSA_NEVER

enum { ANY = UINT32_MAX, PID_OF_APP = 3000 /* of the first one, as the simulator numbers them */ };

/* The group of a rule. ANY, or -1: not selected by that. */
struct group {
	uint32_t app /* its pid */, model, path, priority;
	int cold;
};

/* What a group is drawn and judged in. */
struct drawing {
	const struct truth_world *w;
	const struct cut *c;
	uint64_t *series;
	struct group group;
};

void group_names_give(struct sim *s)
{
	for (size_t i = 0; i < s->n_events; i++) {
		struct sim_event *e = &s->events[i];

		if (e->event.kind == BSA_model_prepare)
			snprintf(e->of.model_prepare.name, BSA_TEXT, "net%u", e->of.model_prepare.model);
		else if (e->event.kind == BSA_client_connect)
			snprintf(e->of.client_connect.name, BSA_TEXT, "phone%u", e->of.client_connect.pid);
	}
}

static const struct bsa_execution *facts_of(const struct drawing *d, uint32_t exec)
{
	return &d->w->facts.execution.items[exec];
}

static bool is_member(const struct drawing *d, uint32_t exec)
{
	const struct sim *s = d->w->s;
	const struct sim_exec *x = &s->execs[exec];
	const struct group *g = &d->group;

	if (x->at[BSA_SUBMITTED] < d->c->asked_from || x->at[BSA_SUBMITTED] >= d->c->asked_until)
		return false;
	return (g->app == ANY || PID_OF_APP + x->app == g->app) &&
	       (g->model == ANY || s->models[x->model].number == g->model) && (g->path == ANY || x->path == g->path) &&
	       (g->priority == ANY || x->priority == g->priority) &&
	       (g->cold < 0 || facts_of(d, exec)->cold == g->cold);
}

static void group_draw(struct drawing *d)
{
	const struct sim *s = d->w->s;
	const struct sim_exec *like = &s->execs[sim_random(d->series, s->n_execs)];

	d->group = (struct group){ ANY, ANY, ANY, ANY, -1 };
	switch (sim_random(d->series, 8)) {
	case 0:
		break;
	case 1:
		d->group.app = PID_OF_APP + like->app;
		break;
	case 2:
		d->group.model = s->models[like->model].number;
		break;
	case 3:
		d->group.path = like->path;
		d->group.priority = like->priority;
		break;
	case 4:
		d->group.cold = (int)sim_random(d->series, 2);
		break;
	case 5:
		d->group.app = PID_OF_APP + like->app;
		d->group.cold = 0;
		break;
	default:
		d->group.priority = like->priority;
	}
}

/* " of app=phone7 warm", or nothing. */
static const char *group_text(const struct group *g, char ret[80])
{
	static const char *const paths[] = { "burst", "sync", "fenced", "async" };
	static const char *const priorities[] = { "low", "medium", "high" };
	int n = snprintf(ret, 80, " of");

	if (g->app != ANY)
		n += snprintf(ret + n, 80 - (size_t)n, " app=phone%u", g->app);
	if (g->model != ANY)
		n += snprintf(ret + n, 80 - (size_t)n, " model=net%u", g->model);
	if (g->path != ANY)
		n += snprintf(ret + n, 80 - (size_t)n, " path=%s", paths[g->path]);
	if (g->priority != ANY)
		n += snprintf(ret + n, 80 - (size_t)n, " priority=%s", priorities[g->priority]);
	if (g->cold >= 0)
		n += snprintf(ret + n, 80 - (size_t)n, " %s", g->cold ? "cold" : "warm");
	if (n == 3)
		*ret = 0;
	return ret;
}

/* ---- percentiles ---- */

static uint64_t allowed_above(uint64_t n, unsigned percent)
{
	uint64_t rank = (n * percent + 99) / 100;

	return n - (rank ? rank : 1);
}

static int by_value(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* Executions that were not answered may have taken any time. */
static void percentile_draw(struct group_truth *ret, struct drawing *d)
{
	static const char *const names[] = { "e2e", "queue", "run", "slots", "overhead" };
	static const enum bsa_phase phases[] = { 0, BSA_QUEUE, BSA_RUN, BSA_SLOTS, 0 };
	static const unsigned percents[] = { 50, 75, 90, 100 };
	unsigned of = (unsigned)sim_random(d->series, 5), percent = percents[sim_random(d->series, 4)];
	uint64_t *values = calloc(d->w->s->n_execs + 1, sizeof(*values)), n = 0, any = 0, over = 0, bound, all;
	char group[80];

	assert(values);
	for (uint32_t i = 0; i < d->w->s->n_execs; i++) {
		const struct bsa_execution *x = facts_of(d, i);

		if (!is_member(d, i))
			continue;
		if (x->status)
			any++;
		else
			values[n++] = of == 0 ? x->e2e : of == 4 ? x->e2e - (x->run - x->redo) : x->phase[phases[of]];
	}
	qsort(values, n, sizeof(*values), by_value);
	bound = n ? values[n - 1 - allowed_above(n, percent)] + sim_random(d->series, 3) : 1;
	bound -= bound > 0;
	for (uint64_t i = 0; i < n; i++)
		over += values[i] > bound;
	free(values);
	all = n + any;
	ret->n = (uint32_t)all;
	ret->broken = all && over > allowed_above(all, percent);
	ret->kept = !all || over + any <= allowed_above(all, percent);
	snprintf(ret->text, sizeof(ret->text), "p%u %s%s <= %" PRIu64 "ns", percent, names[of],
	         group_text(&d->group, group), bound);
}

/* ---- deadlines ---- */

static void misses_draw(struct group_truth *ret, struct drawing *d)
{
	uint64_t n = 0, missed = 0, most;
	double bound;
	char group[80];

	for (uint32_t i = 0; i < d->w->s->n_execs; i++) {
		if (!is_member(d, i) || !facts_of(d, i)->deadline)
			continue;
		n++;
		missed += facts_of(d, i)->miss != BSA_MISS_NONE;
	}
	most = missed - (missed && sim_random(d->series, 2));
	bound = n ? ceil(100000.0 * (double)most / (double)n) / 1000 : 50;
	ret->n = (uint32_t)n;
	ret->broken = n && 100.0 * (double)missed / (double)n > bound;
	ret->kept = !ret->broken;
	snprintf(ret->text, sizeof(ret->text), "miss ratio%s <= %.3f %%", group_text(&d->group, group), bound);
}

/* The most misses in @window executions of one stream in sequence, of those that are members and have a deadline. */
static unsigned most_missed(const struct drawing *d, unsigned window)
{
	unsigned most = 0;

	for (uint32_t stream = 0; stream < d->w->s->n_streams; stream++) {
		unsigned char states[16] = { 0 };
		unsigned missed = 0;
		uint32_t n = 0;

		for (uint32_t seq = 0; seq <= d->w->s->streams[stream].next; seq++)
			for (uint32_t i = 0; i < d->w->s->n_execs; i++) {
				unsigned is;

				if (d->w->s->execs[i].stream != stream || (uint32_t)d->w->s->execs[i].exec != seq ||
				    !is_member(d, i) || !facts_of(d, i)->deadline)
					continue;
				is = facts_of(d, i)->miss != BSA_MISS_NONE;
				missed += is;
				missed -= n >= window ? states[n % window] : 0;
				states[n++ % window] = (unsigned char)is;
				most = missed > most ? missed : most;
			}
	}
	return most;
}

static void streak_draw(struct group_truth *ret, struct drawing *d)
{
	unsigned window = 2 + (unsigned)sim_random(d->series, 6), is = most_missed(d, window), most;
	char group[80];

	most = is - (is && sim_random(d->series, 2));
	most = most < window ? most : window - 1;
	ret->n = 1;
	ret->broken = is > most;
	ret->kept = !ret->broken;
	snprintf(ret->text, sizeof(ret->text), "at most %u misses in any %u%s", most, window,
	         group_text(&d->group, group));
}

/* ---- their number ---- */

static void number_draw(struct group_truth *ret, struct drawing *d)
{
	char group[80];
	uint32_t least;

	ret->n = 0;
	for (uint32_t i = 0; i < d->w->s->n_execs; i++)
		ret->n += is_member(d, i);
	least = ret->n + (uint32_t)sim_random(d->series, 2);
	least += !least;
	ret->broken = ret->n < least;
	ret->kept = !ret->broken;
	snprintf(ret->text, sizeof(ret->text), "executions%s >= %u", group_text(&d->group, group), least);
}

void group_truth_draw(struct group_truth ret[GROUP_RULES], const struct truth_world *w, const struct cut *c,
                      uint64_t *series)
{
	static void (*const kinds[])(struct group_truth *, struct drawing *) = { percentile_draw, percentile_draw,
		                                                                 percentile_draw, percentile_draw,
		                                                                 misses_draw,     misses_draw,
		                                                                 streak_draw,     number_draw };
	struct drawing d = { .w = w, .c = c, .series = series };

	for (size_t i = 0; i < GROUP_RULES; i++) {
		ret[i] = (struct group_truth){ .n = 0 };
		group_draw(&d);
		kinds[i % (sizeof(kinds) / sizeof(*kinds))](&ret[i], &d);
	}
}
