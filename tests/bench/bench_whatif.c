/*
 * bench_whatif.c -- how far what burstscope whatif predicts is from what is recorded, and from what recording the
 * same twice differs by; and how many executions it replays a second.
 *
 * whatif.sh records nine scenarios under four policies, each twice: first under all of them, then under all of them
 * again. What is recorded under A is replayed under B, and held against what was recorded under B; and also without
 * one app, and with models that are faster. The verdict of an import on missed deadlines, "met without that app", is
 * held against the recording without it, too.
 *
 * $NNB_WHATIF_DIR: keep the recordings there. Directories with colons between them are several sets of recordings:
 * each set is recorded and analysed by itself, and the errors of all sets are pooled. A recording that exists is not
 * made again. $NNB_WHATIF_SECONDS is the longest time to record a set. $NNB_WHATIF_EACH: print each error.
 */
#include "bench.h"

#include "base.h"
#include "bsa/db.h"
#include "whatif/changes.h"
#include "whatif/prediction.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { SCENARIOS = 9, POLICIES = 4, TIMES = 2, DRAWS = BSV_DRAWS, FEW = 20, ENOUGH = 100 };
enum { GROUPS_MOST = 256, RESAMPLES = 2000 };

static const char *const scenarios[SCENARIOS] = { "deadline-mix", "noisy-neighbour",   "starvation",
	                                          "inversion",    "camera+background", "two-lanes",
	                                          "closed-fight", "edf-infeasible",    "arrival-bursts" };
static const char *const policies[POLICIES] = { "fair", "priority", "fifo",
	                                        "edf" }; /* as bsa_replay_rules numbers them */

/* ---- errors ---- */

enum figure { MISSED, P50, P99, MEAN, FIGURES };
static const char *const figure_names[FIGURES] = { "missed, points", "p50, %", "p99, %", "mean, %" };

struct error {
	double off;
	unsigned group; /* of groups */
};

struct errors {
	struct error *all[FIGURES];
	size_t n[FIGURES], room[FIGURES];
};

static struct errors noise, predicted, at_speed, told, saved, saved_noise;
static struct errors without, without_at_speed, faster, faster_at_speed;
static struct errors crossed; /* predicted from both recordings, and held against both */

/* Figures that were recorded after a change, and not predicted, because too few executions were served before it. */
static size_t not_told[FIGURES];

/* @part: of the fewest executions, one in so many are enough. */
static double figure_of(const struct bsv_group_figures *f, enum figure figure, unsigned part)
{
	switch (figure) {
	case MISSED:
		return f->n >= FEW / part ? 100.0 * (double)f->missed / (double)f->n : NAN;
	case P50:
		return f->served >= ENOUGH / part ? (double)f->p50_ns : NAN;
	case P99:
		return f->served >= ENOUGH / part ? (double)f->p99_ns : NAN;
	default:
		return f->served >= ENOUGH / part ? (double)f->mean_ns : NAN;
	}
}

static void must(bool fine, const char *what, const char *why)
{
	if (fine)
		return;
	fprintf(stderr, "bench_whatif: %s: %s\n", what, why);
	exit(1);
}

static void add_error(struct errors *e, enum figure figure, unsigned group, double got, double want)
{
	double off = fabs(got - want);

	if (isnan(got) || isnan(want))
		return;
	if (e->n[figure] == e->room[figure]) {
		e->room[figure] = e->room[figure] ? 2 * e->room[figure] : 256;
		e->all[figure] = realloc(e->all[figure], e->room[figure] * sizeof(**e->all));
		must(e->all[figure] != NULL, "an error", "out of memory");
	}
	e->all[figure][e->n[figure]++] = (struct error){ figure == MISSED ? off : 100 * off / want, group };
}

static int errors_order(const void *a, const void *b)
{
	double x = ((const struct error *)a)->off, y = ((const struct error *)b)->off;

	return (x > y) - (x < y);
}

static void errors_sort(struct errors *e)
{
	for (enum figure f = MISSED; f < FIGURES; f++)
		if (e->n[f])
			qsort(e->all[f], e->n[f], sizeof(**e->all), errors_order);
}

static void errors_fini(struct errors *e)
{
	for (enum figure f = MISSED; f < FIGURES; f++)
		free(e->all[f]);
}

/* Nearest rank, of sorted errors. @times: how often each group counts; NULL: once. NAN: there is no error. */
static double errors_percentile(const struct errors *e, enum figure f, unsigned percent, const unsigned *times)
{
	size_t all = 0, rank, seen = 0, i = 0;

	for (size_t k = 0; k < e->n[f]; k++)
		all += times ? times[e->all[f][k].group] : 1;
	if (!all)
		return NAN;
	rank = (all * percent + 99) / 100;
	for (; seen < rank; i++)
		seen += times ? times[e->all[f][i].group] : 1;
	return e->all[f][i - 1].off;
}

/* ---- groups ---- */

/*
 * An app and model of a scenario, in all sets. One odd recording makes the noise of a group large, and the errors of
 * all predictions from that recording and of it. So the bootstrap draws groups, not single errors.
 */
static struct {
	unsigned scenario;
	char app[64], model[64];
} groups[GROUPS_MOST];
static unsigned n_groups;

static unsigned group_number(unsigned scenario, const char *app, const char *model)
{
	for (unsigned i = 0; i < n_groups; i++)
		if (groups[i].scenario == scenario && !strcmp(groups[i].app, app) && !strcmp(groups[i].model, model))
			return i;
	must(n_groups < GROUPS_MOST, app, "there are too many groups");
	groups[n_groups].scenario = scenario;
	snprintf(groups[n_groups].app, sizeof(groups->app), "%s", app);
	snprintf(groups[n_groups].model, sizeof(groups->model), "%s", model);
	return n_groups++;
}

/* Draw as many groups as there are, with replacement: *times is how often each is drawn. */
static void groups_draw(unsigned *times, uint64_t *random)
{
	memset(times, 0, n_groups * sizeof(*times));
	for (unsigned i = 0; i < n_groups; i++) {
		*random = *random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
		times[(*random >> 32) % n_groups]++;
	}
}

/* ---- recordings ---- */

struct recording {
	struct bsv_past past;
	struct bsv_group_figures *figures;
	unsigned *numbers; /* of its groups, in all recordings */
	const char *cannot;
	bool there;
};

static struct recording all[SCENARIOS][POLICIES][TIMES]; /* of one set */

static void read_recording(struct recording *r, unsigned scenario, const char *dir, const char *name)
{
	struct bsa_query *q = NULL;
	struct bsa_db *db = NULL;
	struct bsa_err err = { 0 };
	char path[512];

	snprintf(path, sizeof(path), "%s/%s.db", dir, name);
	if (access(path, R_OK))
		return;
	must(bsa_db_open(&db, path, &err) >= 0, path, err.text);
	must(bsa_query_new(&q, db, "SELECT min(began) FROM trace", &err) >= 0 && bsa_query_step(q, &err) > 0, path,
	     err.text);
	must(bsv_past_read(&r->past, db,
	                   "WITH apps AS (SELECT id, name FROM app), models AS (SELECT id, name FROM model)",
	                   bsa_query_get_int(q, 0), &r->cannot, &err) >= 0,
	     path, err.text);
	bsa_query_free(q);
	bsa_db_close(db);
	if (r->cannot) {
		fprintf(stderr, "bench_whatif: %s: %s\n", name, r->cannot);
		return;
	}
	r->figures = calloc(r->past.n_groups + 1, sizeof(*r->figures));
	r->numbers = calloc(r->past.n_groups + 1, sizeof(*r->numbers));
	must(r->figures && r->numbers && bsv_figures_recorded(&r->past, r->figures, NULL), path, "out of memory");
	for (size_t i = 0; i < r->past.n_groups; i++)
		r->numbers[i] = group_number(scenario, r->past.groups[i].app_name, r->past.groups[i].model_name);
	r->there = true;
}

static void recording_fini(struct recording *r)
{
	bsv_past_fini(&r->past);
	free(r->figures);
	free(r->numbers);
	*r = (struct recording){ 0 };
}

/* The group of the same app and model in @r. NULL if @r has no such group. */
static const struct bsv_group_figures *same_in(const struct recording *r, const struct bsv_past_group *g)
{
	for (size_t i = 0; i < r->past.n_groups; i++)
		if (!strcmp(r->past.groups[i].app_name, g->app_name) &&
		    !strcmp(r->past.groups[i].model_name, g->model_name))
			return &r->figures[i];
	return NULL;
}

/* ---- predictions ---- */

struct prediction {
	struct bsv_group_figures *draws[DRAWS];
	size_t n_groups;
};

static struct prediction predict(const struct recording *from, const struct bsv_whatif_change *change)
{
	struct prediction p = { .n_groups = from->past.n_groups };

	for (unsigned i = 0; i < DRAWS; i++) {
		p.draws[i] = calloc(p.n_groups + 1, sizeof(**p.draws));
		must(p.draws[i] && bsv_draw(&from->past, change, i, p.draws[i]), "a replay", "out of memory");
	}
	return p;
}

static void prediction_fini(struct prediction *p)
{
	for (unsigned i = 0; i < DRAWS; i++)
		free(p->draws[i]);
}

/*
 * A prediction needs as many executions in @from as the command asks for; a mean is not a figure of the command, and
 * needs as many as a median.
 */
static bool is_told(const struct recording *from, size_t group, enum figure figure)
{
	static const unsigned least[FIGURES] = { 0, BSV_P50_LEAST, BSV_P99_LEAST, BSV_P50_LEAST };

	return from->figures[group].served >= least[figure];
}

/* What the command makes of the draws. NAN: @from has too few executions, or a draw has. */
static double predicted_of(const struct recording *from, const struct prediction *p, size_t group, enum figure figure)
{
	double values[DRAWS];

	if (!is_told(from, group, figure))
		return NAN;
	for (unsigned i = 0; i < DRAWS; i++) {
		values[i] = figure_of(&p->draws[i][group], figure, i ? 2 : 1); /* as the command has it */
		if (isnan(values[i]))
			return NAN;
	}
	return bsv_prediction_spread(&from->past, values).median;
}

static struct {
	unsigned inside, all; /* counts of the intervals of missed deadlines, and of latencies */
} held[2];

static struct {
	unsigned right, wrong, all; /* all: figures that are known before and after the change */
} ways[BSV_FIGURE_SHARE + 1];

static const char *const ways_names[] = { "misses", "p50", "p99", "shares" };

static bool is_inside(double is, struct bsv_spread s, double tolerance)
{
	return s.low - tolerance <= is && is <= s.high + tolerance;
}

/* Percent of the lane time. */
static double share_of(const struct recording *r, const char *app)
{
	double own = 0, sum = 0;

	for (size_t i = 0; i < r->past.n_groups; i++) {
		own += strcmp(r->past.groups[i].app_name, app) ? 0 : (double)r->figures[i].lane_ns;
		sum += (double)r->figures[i].lane_ns;
	}
	return sum > 0 ? 100 * own / sum : NAN;
}

/* Where the command predicts that a figure is less, or more: was less, or more, recorded? */
static void judge_effect(const struct bsv_prediction *p, size_t i, enum bsv_figure figure, double was, double is)
{
	const char *effect = bsv_prediction_effect(p, i, figure);
	bool less = effect && !strcmp(effect, "less"), more = effect && !strcmp(effect, "more");

	if (isnan(was) || isnan(is) || !effect)
		return;
	ways[figure].all++;
	ways[figure].right += (less && is < was) || (more && is > was);
	ways[figure].wrong += (less && is >= was) || (more && is <= was);
}

/*
 * Is what was recorded in @to inside the intervals that the command shows for @change of @from? Misses within a point
 * count as inside.
 */
static void hold_intervals(const struct recording *from, const struct bsv_whatif_change *change,
                           const struct recording *to)
{
	struct bsv_prediction p;

	must(bsv_predict(&p, &from->past, change), "a prediction", "out of memory");
	for (size_t i = 0; i < from->past.n_groups; i++) {
		const struct bsv_group_figures *want = same_in(to, &from->past.groups[i]);

		for (enum figure f = MISSED; want && f <= P99; f++) {
			struct bsv_spread s = bsv_prediction_interval(&p, i, BSV_FIGURE_MISSED + f);
			double is = figure_of(want, f, 1);

			judge_effect(&p, i, BSV_FIGURE_MISSED + f, figure_of(&from->figures[i], f, 1), is);
			if (isnan(is) || isnan(s.median))
				continue;
			held[f != MISSED].all++;
			held[f != MISSED].inside += is_inside(is, s, f == MISSED);
		}
	}
	for (size_t i = 0; i < from->past.n_apps; i++)
		judge_effect(&p, i, BSV_FIGURE_SHARE, share_of(from, from->past.apps[i]),
		             share_of(to, from->past.apps[i]));
	bsv_prediction_fini(&p);
}

/* With $NNB_WHATIF_EACH: each error, and what the same figure was in the recording that is replayed. */
static void tell_each(const char *what, const struct recording *from, size_t i, enum figure f, double got, double is)
{
	const struct bsv_past_group *g = &from->past.groups[i];

	if (what && getenv("NNB_WHATIF_EACH"))
		fprintf(stderr, "%s\t%s\t%s\t%s\tserved %llu\trecorded %.6g\tpredicted %.6g\tis %.6g\n", what,
		        g->app_name, g->model_name, figure_names[f], (unsigned long long)from->figures[i].served,
		        figure_of(&from->figures[i], f, 1), got, is);
}

/* The predictions for @from's groups, against what was recorded in @to. @what: for people; NULL: they have seen it. */
static void compare(struct errors *e, const char *what, const struct recording *from, const struct prediction *p,
                    const struct recording *to)
{
	for (size_t i = 0; i < p->n_groups; i++) {
		const struct bsv_group_figures *want = same_in(to, &from->past.groups[i]);

		for (enum figure f = MISSED; want && f < FIGURES; f++) {
			double got = predicted_of(from, p, i, f), is = figure_of(want, f, 1);

			not_told[f] += e == &predicted && !isnan(is) && !is_told(from, i, f);
			if (isnan(got) || isnan(is))
				continue;
			add_error(e, f, from->numbers[i], got, is);
			tell_each(what, from, i, f, got, is);
		}
	}
}

static void compare_recorded(const char *what, const struct recording *a, const struct recording *b)
{
	for (size_t i = 0; i < a->past.n_groups; i++) {
		const struct bsv_group_figures *other = same_in(b, &a->past.groups[i]);

		for (enum figure f = MISSED; other && f < FIGURES; f++) {
			double got = figure_of(&a->figures[i], f, 1), is = figure_of(other, f, 1);

			if (isnan(got) || isnan(is))
				continue;
			add_error(&noise, f, a->numbers[i], got, is);
			tell_each(what, a, i, f, got, is);
		}
	}
}

/* ---- the order of policies ---- */

static struct {
	unsigned right, wrong;
} ranks;

static double missed_in_all(const struct bsv_group_figures *f, size_t n)
{
	double missed = 0, of = 0;

	for (size_t i = 0; i < n; i++) {
		missed += (double)f[i].missed;
		of += (double)f[i].n;
	}
	return of > 0 ? 100 * missed / of : NAN;
}

static double predicted_in_all(const struct prediction *p)
{
	double values[DRAWS];

	for (unsigned i = 0; i < DRAWS; i++)
		values[i] = missed_in_all(p->draws[i], p->n_groups);
	return bench_median(values, DRAWS);
}

/* ---- the comparisons ---- */

static struct bsv_whatif_change unchanged(const struct recording *r)
{
	struct bsv_whatif_change change = { .rules = r->past.rules,
		                            .groups = calloc(r->past.n_groups + 1, sizeof(*change.groups)) };

	must(change.groups != NULL, "a change", "out of memory");
	for (size_t i = 0; i < r->past.n_groups; i++)
		change.groups[i] = (struct bsv_group_change){ .budget_ns = BSV_UNCHANGED, .speed = 1, .rate = 1 };
	return change;
}

static void judge_ranks(unsigned scenario, const double *miss)
{
	for (unsigned a = 0; a < POLICIES; a++)
		for (unsigned b = a + 1; b < POLICIES; b++) {
			struct recording *x = all[scenario][a], *y = all[scenario][b];
			double is[2][TIMES], apart;

			if (!x[0].there || !x[1].there || !y[0].there || !y[1].there || isnan(miss[a]) ||
			    isnan(miss[b]))
				continue;
			for (unsigned k = 0; k < TIMES; k++) {
				is[0][k] = missed_in_all(x[k].figures, x[k].past.n_groups);
				is[1][k] = missed_in_all(y[k].figures, y[k].past.n_groups);
			}
			apart = (is[0][0] + is[0][1] - is[1][0] - is[1][1]) / 2;
			if (fabs(apart) <= fabs(is[0][0] - is[0][1]) + fabs(is[1][0] - is[1][1]))
				continue;
			if ((apart < 0) == (miss[a] < miss[b]) && miss[a] != miss[b])
				ranks.right++;
			else
				ranks.wrong++;
		}
}

/* Mean time on a lane, of whole runs. NAN: there are few. */
static double mean_run(const struct recording *r, const struct bsv_past_group *g)
{
	double sum = 0, n = 0;

	for (size_t i = 0; i < r->past.n_calls; i++) {
		const struct bsv_past_call *c = &r->past.calls[i];
		const struct bsv_past_group *of = &r->past.groups[r->past.models[c->model].group];

		if (!c->whole || c->imagined || c->trial || strcmp(of->app_name, g->app_name) != 0 ||
		    strcmp(of->model_name, g->model_name) != 0)
			continue;
		sum += (double)c->run_ns;
		n++;
	}
	return n >= FEW ? sum / n : NAN;
}

/* The same prediction, with runs as long in the mean as they were in the recording that is predicted. */
static void predict_at_speed(struct errors *e, const char *what, const struct recording *from,
                             const struct recording *to, const struct bsv_whatif_change *change)
{
	struct bsv_whatif_change own = unchanged(from);
	struct prediction p;

	own.rules = change->rules;
	for (size_t i = 0; i < from->past.n_groups; i++) {
		double here = mean_run(from, &from->past.groups[i]), there = mean_run(to, &from->past.groups[i]);

		own.groups[i] = change->groups[i];
		if (here > 0 && there > 0)
			own.groups[i].speed = here / there;
	}
	p = predict(from, &own);
	compare(e, what, from, &p, to);
	prediction_fini(&p);
	free(own.groups);
}

/* From the first recording under @a: under all policies. */
static void predict_policies(unsigned scenario, unsigned a)
{
	struct recording *from = &all[scenario][a][0];
	struct bsv_whatif_change change = unchanged(from);
	double miss[POLICIES];

	for (unsigned b = 0; b < POLICIES; b++) {
		struct recording *to = &all[scenario][b][0];
		struct prediction p;
		char what[96];

		change.rules.policy = b;
		p = predict(from, &change);
		miss[b] = predicted_in_all(&p);
		snprintf(what, sizeof(what), "%s\t%s\t%s", scenarios[scenario], policies[a], policies[b]);
		if (to->there && a != b) {
			compare(&predicted, what, from, &p, to);
			hold_intervals(from, &change, to);
			snprintf(what, sizeof(what), "%s\t%s\t%s at its speed", scenarios[scenario], policies[a],
			         policies[b]);
			predict_at_speed(&at_speed, what, from, to, &change);
		}
		if (to->there && a == b)
			compare(&told, what, from, &p, to); /* replayed as it was */
		prediction_fini(&p);
	}
	judge_ranks(scenario, miss);
	free(change.groups);
}

/* From both recordings under @a, to both under each other policy. */
static void predict_crossed(unsigned scenario, unsigned a)
{
	for (unsigned k = 0; k < TIMES; k++) {
		const struct recording *from = &all[scenario][a][k];
		struct bsv_whatif_change change;

		if (!from->there)
			continue;
		change = unchanged(from);
		for (unsigned b = 0; b < POLICIES; b++) {
			const struct recording *to = all[scenario][b];
			struct prediction p;

			if (a == b)
				continue;
			change.rules.policy = b;
			p = predict(from, &change);
			for (unsigned j = 0; j < TIMES; j++)
				if (to[j].there)
					compare(&crossed, NULL, from, &p, &to[j]);
			prediction_fini(&p);
		}
		free(change.groups);
	}
}

/* ---- saved ---- */

static struct {
	uint64_t missed, met, unsure; /* in the recordings with the app; met: without it, by their import */
	double recorded;              /* in those without it, of as many executions */
} saved_in_all;

struct misses {
	double all, met, unsure;
};

/*
 * For an app and a model: the misses of @path, and the results of their replays without @app altogether. Undecided is
 * also a miss without such a replay that names the app as a culprit; one that does not name it would have been missed
 * without it, too.
 */
static struct misses read_misses(const char *path, const struct bsv_past_group *g, const char *app)
{
	struct misses m = { 0 };
	struct bsa_query *q = NULL;
	struct bsa_db *db = NULL;
	struct bsa_err err = { 0 };

	must(bsa_db_open(&db, path, &err) >= 0, path, err.text);
	must(bsa_query_new(&q, db,
	                   "WITH gone AS (SELECT id FROM app WHERE name = $without), asked AS ("
	                   "SELECT e.id, (SELECT max(w.met) FROM miss_without w WHERE w.execution_id = e.id "
	                   "AND w.model_id IS NULL AND w.app_id IN gone) AS met, EXISTS (SELECT 1 FROM miss_cause c "
	                   "WHERE c.execution_id = e.id AND c.culprit_app_id IN gone) AS named "
	                   "FROM execution e JOIN app a ON a.id = e.app_id JOIN model m ON m.id = e.model_id "
	                   "WHERE e.miss IS NOT NULL AND e.path <> 'prepare' AND a.name = $app AND m.name = $model) "
	                   "SELECT count(*), total(met = 1), total(met IS NULL AND named) FROM asked",
	                   &err) >= 0 &&
	             bsa_query_string(q, "$without", app) && bsa_query_string(q, "$app", g->app_name) &&
	             bsa_query_string(q, "$model", g->model_name) && bsa_query_step(q, &err) > 0,
	     path, err.text);
	m.all = (double)bsa_query_get_int(q, 0);
	m.met = bsa_query_get_real(q, 1);
	m.unsure = bsa_query_get_real(q, 2);
	bsa_query_free(q);
	bsa_db_close(db);
	return m;
}

/* Find the app of @normal that is missing in @other. NULL: @other has all of them. */
static const char *missing_app(const struct recording *normal, const struct recording *other)
{
	for (size_t i = 0; i < normal->past.n_groups; i++)
		if (normal->past.groups[i].n && !same_in(other, &normal->past.groups[i]))
			return normal->past.groups[i].app_name;
	return NULL;
}

/*
 * The distance of what was recorded without the app from what the misses with it leave, as few or as many as the
 * undecided ones allow.
 */
static void compare_saved(const char *dir, const char *name, const struct recording *normal,
                          const struct recording *again, const struct recording *other)
{
	const char *app = missing_app(normal, other);
	char path[512];

	snprintf(path, sizeof(path), "%s/%s-1.db", dir, name);
	for (size_t i = 0; app && i < normal->past.n_groups; i++) {
		const struct bsv_group_figures *want = same_in(other, &normal->past.groups[i]);
		double n = (double)normal->figures[i].n, is = want ? figure_of(want, MISSED, 1) : NAN, most, least;
		struct misses m;

		if (isnan(is) || isnan(figure_of(&normal->figures[i], MISSED, 1)))
			continue;
		m = read_misses(path, &normal->past.groups[i], app);
		most = 100 * (m.all - m.met) / n;
		least = 100 * (m.all - m.met - m.unsure) / n;
		add_error(&saved, MISSED, normal->numbers[i], is < least ? least : is > most ? most : is, is);
		if (again->there && same_in(again, &normal->past.groups[i]))
			add_error(&saved_noise, MISSED, normal->numbers[i], figure_of(&normal->figures[i], MISSED, 1),
			          figure_of(same_in(again, &normal->past.groups[i]), MISSED, 1));
		saved_in_all.missed += (uint64_t)m.all;
		saved_in_all.met += (uint64_t)m.met;
		saved_in_all.unsure += (uint64_t)m.unsure;
		saved_in_all.recorded += is / 100 * n;
		if (getenv("NNB_WHATIF_EACH"))
			fprintf(stderr,
			        "%s, %s, %s without %s: %.0f of %.0f missed, %.0f met, %.0f unsure; %.1f %% are left, "
			        "recorded %.1f %%\n",
			        name, normal->past.groups[i].app_name, normal->past.groups[i].model_name, app, m.all, n,
			        m.met, m.unsure, most, is);
	}
}

/* Without the app that is not in the other recording; or with MobileNets twice as fast as in the slow one. */
static void predict_changes(const char *dir, unsigned scenario, unsigned policy)
{
	struct recording other = { 0 }, slow = { 0 }, *normal = &all[scenario][policy][0];
	char name[64];

	snprintf(name, sizeof(name), "%s-without-%s", scenarios[scenario], policies[policy]);
	read_recording(&other, scenario, dir, name);
	snprintf(name, sizeof(name), "%s-slow-%s", scenarios[scenario], policies[policy]);
	read_recording(&slow, scenario, dir, name);
	if (other.there && normal->there) {
		snprintf(name, sizeof(name), "%s-%s", scenarios[scenario], policies[policy]);
		compare_saved(dir, name, normal, &all[scenario][policy][1], &other);
	}
	if (other.there && normal->there) {
		struct bsv_whatif_change change = unchanged(normal);
		struct prediction p;

		for (size_t i = 0; i < normal->past.n_groups; i++)
			change.groups[i].without = !same_in(&other, &normal->past.groups[i]);
		p = predict(normal, &change);
		snprintf(name, sizeof(name), "%s\t%s\twithout", scenarios[scenario], policies[policy]);
		compare(&without, name, normal, &p, &other);
		predict_at_speed(&without_at_speed, NULL, normal, &other, &change);
		hold_intervals(normal, &change, &other);
		prediction_fini(&p);
		free(change.groups);
	}
	if (slow.there && normal->there) {
		struct bsv_whatif_change change = unchanged(&slow);
		struct prediction p;

		for (size_t i = 0; i < slow.past.n_groups; i++)
			if (!strncmp(slow.past.groups[i].model_name, "mobilenet", 9))
				change.groups[i].speed = 2;
		p = predict(&slow, &change);
		snprintf(name, sizeof(name), "%s\t%s\tfaster", scenarios[scenario], policies[policy]);
		compare(&faster, name, &slow, &p, normal);
		predict_at_speed(&faster_at_speed, NULL, &slow, normal, &change);
		hold_intervals(&slow, &change, normal);
		prediction_fini(&p);
		free(change.groups);
	}
	recording_fini(&other);
	recording_fini(&slow);
}

/* ---- what comes of it ---- */

static double at_percent(const struct errors *e, enum figure f, unsigned percent)
{
	return errors_percentile(e, f, percent, NULL);
}

static void tell(struct bench *b, const char *what, const struct errors *e)
{
	char name[64];

	for (enum figure f = MISSED; f < FIGURES; f++)
		for (unsigned percent = 50; percent <= 90 && e->n[f]; percent += 40) {
			snprintf(name, sizeof(name), "%s: %s, p%u of %zu", what, figure_names[f], percent, e->n[f]);
			bench_figure_is(b, bench_figure(b, name), at_percent(e, f, percent));
		}
}

static void tell_not_told(struct bench *b)
{
	char name[64];

	for (enum figure f = P50; f < FIGURES; f++) {
		snprintf(name, sizeof(name), "not predicted: %s, of %zu", figure_names[f],
		         predicted.n[f] + not_told[f]);
		bench_figure_is(b, bench_figure(b, name), (double)not_told[f]);
	}
}

static void tell_ratios(struct bench *b, const char *what, const struct errors *e, const struct errors *of)
{
	char name[64];

	for (enum figure f = P50; f < FIGURES; f++)
		for (unsigned percent = 50; percent <= 90 && e->n[f] && of->n[f]; percent += 40) {
			snprintf(name, sizeof(name), "%s: %s, p%u", what, figure_names[f], percent);
			bench_figure_is(b, bench_figure(b, name),
			                at_percent(e, f, percent) / at_percent(of, f, percent));
		}
}

/*
 * Add to the bar of crossed over noise, which was added last, the interval that encloses 90 % of the ratios of groups
 * drawn anew.
 */
static void add_ratio_interval(struct bench *b, enum figure f, unsigned percent)
{
	static double ratios[RESAMPLES];
	unsigned times[GROUPS_MOST];
	uint64_t random = 1;
	size_t n = 0;

	for (unsigned i = 0; i < RESAMPLES; i++) {
		double ratio;

		groups_draw(times, &random);
		ratio = errors_percentile(&crossed, f, percent, times) / errors_percentile(&noise, f, percent, times);
		if (isfinite(ratio))
			ratios[n++] = ratio;
	}
	if (n)
		bench_interval(b, bench_percentile(ratios, n, 5), bench_percentile(ratios, n, 95));
}

static void judge(struct bench *b, double replayed)
{
	char name[64];

	bench_at_most(b, "predicted: missed, points, median", at_percent(&predicted, MISSED, 50), 1);
	bench_at_most(b, "predicted: missed, points, p90", at_percent(&predicted, MISSED, 90), 5);
	for (enum figure f = P50; f < FIGURES; f++)
		for (unsigned percent = 50; percent <= 90; percent += 40) {
			snprintf(name, sizeof(name), "crossed / noise: %s, %s", figure_names[f],
			         percent == 50 ? "median" : "p90");
			bench_at_most(b, name, at_percent(&crossed, f, percent) / at_percent(&noise, f, percent), 1.25);
			add_ratio_interval(b, f, percent);
		}
	bench_at_most(b, "at its speed: p50, %, median", at_percent(&at_speed, P50, 50), 6);
	bench_at_most(b, "at its speed: p99, %, median", at_percent(&at_speed, P99, 50), 12);
	if (ranks.right + ranks.wrong)
		bench_at_least(b, "ranking of policies, % right", 100.0 * ranks.right / (ranks.right + ranks.wrong),
		               90);
	for (enum bsv_figure f = BSV_FIGURE_MISSED; f <= BSV_FIGURE_SHARE; f++) {
		unsigned n = ways[f].right + ways[f].wrong;

		if (!n)
			continue;
		snprintf(name, sizeof(name), "effects on %s: %u of %u told, %% right", ways_names[f], n, ways[f].all);
		bench_at_least(b, name, 100.0 * ways[f].right / n, 90);
	}
	for (int i = 0; i < 2; i++)
		if (held[i].all)
			bench_at_least(b, i ? "latencies inside the interval, %" : "misses inside the interval, %",
			               100.0 * held[i].inside / held[i].all, 80);
	if (!isnan(replayed))
		bench_at_least(b, "executions replayed, M/s", replayed / 1e6, 1);
}

static void tell_saved(struct bench *b)
{
	if (!saved.n[MISSED])
		return;
	bench_figure_is(b, bench_figure(b, "saved: misses"), (double)saved_in_all.missed);
	bench_figure_is(b, bench_figure(b, "saved: of them met without the app"), (double)saved_in_all.met);
	bench_figure_is(b, bench_figure(b, "saved: of them undecided"), (double)saved_in_all.unsure);
	bench_figure_is(b, bench_figure(b, "saved: misses recorded without the app"), saved_in_all.recorded);
	bench_at_most(b, "saved beyond its noise: missed, points, median",
	              at_percent(&saved, MISSED, 50) - at_percent(&saved_noise, MISSED, 50), 1);
	bench_at_most(b, "saved beyond its noise: missed, points, p90",
	              at_percent(&saved, MISSED, 90) - at_percent(&saved_noise, MISSED, 90), 5);
}

/* In a second of cpu time. */
static double replayed_per_second(void)
{
	const struct recording *r = &all[6][0][0];
	struct bsv_group_figures *f = calloc(r->past.n_groups + 1, sizeof(*f));
	uint64_t began = thread_cpu_ns(), n = 0;

	must(f != NULL, "a replay", "out of memory");
	for (uint64_t seed = 0; thread_cpu_ns() - began < UINT64_C(1000000000); seed++) {
		must(bsv_draw(&r->past, NULL, seed % DRAWS, f), "a replay", "out of memory");
		for (size_t i = 0; i < r->past.n_groups; i++)
			n += f[i].n;
	}
	free(f);
	return (double)n / ((double)(thread_cpu_ns() - began) / 1e9);
}

static void record(const char *dir, bool quick)
{
	const char *most = getenv("NNB_WHATIF_SECONDS");
	char command[4096];
	int status;

	snprintf(command, sizeof(command), "'%s' '%s' %u %s '%s' '%s' '%s' '%s'", WHATIF_SH, dir,
	         quick  ? 20
	         : most ? (unsigned)atoi(most)
	                : 900,
	         quick ? "200ms" : "1800ms", BURSTSCOPE, NNBURSTD, NNBURST_LOAD, DRIVER_SLOWER);
	status = system(command);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
		exit(77);
	must(WIFEXITED(status) && (!WEXITSTATUS(status) || WEXITSTATUS(status) == 3), "recording", "that failed");
}

/* Read the recordings of a set, add their errors to those of the other sets, and forget them. */
static void analyse_set(const char *dir)
{
	char name[64];

	for (unsigned s = 0; s < SCENARIOS; s++)
		for (unsigned p = 0; p < POLICIES; p++)
			for (unsigned k = 0; k < TIMES; k++) {
				snprintf(name, sizeof(name), "%s-%s-%u", scenarios[s], policies[p], k + 1);
				read_recording(&all[s][p][k], s, dir, name);
			}
	for (unsigned s = 0; s < SCENARIOS; s++)
		for (unsigned p = 0; p < POLICIES; p++) {
			snprintf(name, sizeof(name), "%s\t%s\tagain", scenarios[s], policies[p]);
			if (all[s][p][0].there && all[s][p][1].there)
				compare_recorded(name, &all[s][p][0], &all[s][p][1]);
			if (all[s][p][0].there)
				predict_policies(s, p);
			predict_crossed(s, p);
			predict_changes(dir, s, p);
		}
}

static void forget_set(void)
{
	for (unsigned s = 0; s < SCENARIOS; s++)
		for (unsigned p = 0; p < POLICIES; p++)
			for (unsigned k = 0; k < TIMES; k++)
				recording_fini(&all[s][p][k]);
}

static const struct {
	const char *name;
	struct errors *errors;
} kinds[] = {
	{ "noise", &noise },
	{ "as recorded", &told },
	{ "predicted", &predicted },
	{ "crossed", &crossed },
	{ "at its speed", &at_speed },
	{ "without", &without },
	{ "without, at its speed", &without_at_speed },
	{ "faster", &faster },
	{ "faster, at its speed", &faster_at_speed },
	{ "saved", &saved },
	{ "saved's noise", &saved_noise },
};
enum { KINDS = sizeof(kinds) / sizeof(*kinds) };

/* @dirs: with colons between them, which are replaced. Returns executions replayed in a second; NAN: not known. */
static double analyse_sets(char *dirs, bool quick)
{
	double replayed = NAN;
	char *rest = NULL;

	for (char *dir = strtok_r(dirs, ":", &rest); dir; dir = strtok_r(NULL, ":", &rest)) {
		record(dir, quick);
		if (getenv("NNB_WHATIF_EACH"))
			fprintf(stderr, "%s:\n", dir);
		analyse_set(dir);
		if (isnan(replayed) && all[6][0][0].there)
			replayed = replayed_per_second();
		forget_set();
	}
	return replayed;
}

int main(int argc, char **argv)
{
	char own[] = "/tmp/bench_whatif.XXXXXX", command[64], *dirs = NULL;
	const char *given = getenv("NNB_WHATIF_DIR");
	double replayed;
	struct bench b;

	bench_open(&b, "whatif", 1, argc, argv);
	if (given || mkdtemp(own))
		dirs = strdup(given ? given : own);
	must(dirs && strspn(dirs, ":") < strlen(dirs), "NNB_WHATIF_DIR", "names no directory");
	replayed = analyse_sets(dirs, b.quick);
	for (unsigned i = 0; i < KINDS; i++) {
		errors_sort(kinds[i].errors);
		tell(&b, kinds[i].name, kinds[i].errors);
	}
	tell_not_told(&b);
	tell_ratios(&b, "predicted / noise", &predicted, &noise);
	tell_saved(&b);
	judge(&b, replayed);
	for (unsigned i = 0; i < KINDS; i++)
		errors_fini(kinds[i].errors);
	free(dirs);
	snprintf(command, sizeof(command), "rm -r '%s'", own);
	if (!given && system(command))
		fprintf(stderr, "bench_whatif: %s is still there\n", own);
	return bench_close(&b);
}
