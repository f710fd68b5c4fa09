/*
 * bench_whatif.c -- how far what burstscope whatif predicts is from what is recorded, and from what recording the
 * same twice differs by; and how many executions it replays a second.
 *
 * whatif.sh records nine scenarios under four policies, each twice: first under all of them, then under all of them
 * again. What is recorded under A is replayed under B, and held against what was recorded under B; and also without
 * one app, and with models that are faster. The verdict of an import on missed deadlines, "met without that app", is
 * held against the recording without it, too. The recordings are kept in $NNB_WHATIF_DIR, if that is given: those
 * that are there are not made again. $NNB_WHATIF_SECONDS is how long it records at most. $NNB_WHATIF_EACH: print each
 * error.
 */
#include "bench.h"

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

enum { SCENARIOS = 9, POLICIES = 4, TIMES = 2, DRAWS = BSV_DRAWS, FEW = 20, ENOUGH = 100, ERRORS_MOST = 1 << 14 };

static const char *const scenarios[SCENARIOS] = { "deadline-mix", "noisy-neighbour",   "starvation",
	                                          "inversion",    "camera+background", "two-lanes",
	                                          "closed-fight", "edf-infeasible",    "arrival-bursts" };
static const char *const policies[POLICIES] = { "fair", "priority", "fifo",
	                                        "edf" }; /* as bsa_replay_rules numbers them */

/* ---- errors ---- */

enum figure { MISSED, P50, P99, MEAN, FIGURES };
static const char *const figure_names[FIGURES] = { "missed, points", "p50, %", "p99, %", "mean, %" };

struct errors {
	double all[FIGURES][ERRORS_MOST];
	size_t n[FIGURES];
};

static struct errors noise, predicted, at_speed, told, saved, saved_noise;
static struct errors without, without_at_speed, faster, faster_at_speed;
static struct errors paired,
	/* of cases that were recorded twice before and after the change: their predictions and their noise */
	paired_noise;
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

static void add_error(struct errors *e, enum figure figure, double got, double want)
{
	double off = fabs(got - want);

	if (isnan(got) || isnan(want) || e->n[figure] == ERRORS_MOST)
		return;
	e->all[figure][e->n[figure]++] = figure == MISSED ? off : 100 * off / want;
}

/* ---- recordings ---- */

struct recording {
	struct bsv_past past;
	struct bsv_group_figures *figures;
	const char *cannot;
	bool there;
};

static struct recording all[SCENARIOS][POLICIES][TIMES];

static void must(bool fine, const char *what, const char *why)
{
	if (fine)
		return;
	fprintf(stderr, "bench_whatif: %s: %s\n", what, why);
	exit(1);
}

static void read_recording(struct recording *r, const char *dir, const char *name)
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
	must(r->figures && bsv_figures_recorded(&r->past, r->figures, NULL), path, "out of memory");
	r->there = true;
}

static void recording_fini(struct recording *r)
{
	bsv_past_fini(&r->past);
	free(r->figures);
}

/* The group of the same app and model in @r. NULL: it has none. */
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
	return bsv_prediction_spread(&from->past, values, figure == MEAN ? BSV_FIGURE_P50 : BSV_FIGURE_MISSED + figure)
	        .median;
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
			add_error(e, f, got, is);
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
			add_error(&noise, f, got, is);
			tell_each(what, a, i, f, got, is);
		}
	}
}

/*
 * The predictions of @to[0] from @from[0], and the noise of the same figures in both pairs of recordings: where all
 * four have the figure.
 */
static void compare_pairs(const struct recording *from, const struct prediction *p, const struct recording *to)
{
	for (size_t i = 0; i < p->n_groups; i++) {
		const struct bsv_past_group *g = &from->past.groups[i];
		const struct bsv_group_figures *again = same_in(&from[1], g);
		const struct bsv_group_figures *first = same_in(to, g), *second = same_in(&to[1], g);

		for (enum figure f = MISSED; again && first && second && f < FIGURES; f++) {
			double got = predicted_of(from, p, i, f), is = figure_of(first, f, 1);
			double was = figure_of(&from->figures[i], f, 1);

			if (isnan(got + is + was + figure_of(again, f, 1) + figure_of(second, f, 1)))
				continue;
			add_error(&paired, f, got, is);
			add_error(&paired_noise, f, was, figure_of(again, f, 1));
			add_error(&paired_noise, f, is, figure_of(second, f, 1));
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
			if (!k && from[1].there && to[0].there && to[1].there)
				compare_pairs(from, &p, to);
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
		add_error(&saved, MISSED, is < least ? least : is > most ? most : is, is);
		if (again->there && same_in(again, &normal->past.groups[i]))
			add_error(&saved_noise, MISSED, figure_of(&normal->figures[i], MISSED, 1),
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
	read_recording(&other, dir, name);
	snprintf(name, sizeof(name), "%s-slow-%s", scenarios[scenario], policies[policy]);
	read_recording(&slow, dir, name);
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
	return e->n[f] ? bench_percentile(e->all[f], e->n[f], percent) : NAN;
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

static void judge(struct bench *b)
{
	char name[64];

	bench_at_most(b, "predicted: missed, points, median", at_percent(&predicted, MISSED, 50), 1);
	bench_at_most(b, "predicted: missed, points, p90", at_percent(&predicted, MISSED, 90), 5);
	for (enum figure f = P50; f < FIGURES; f++)
		for (unsigned percent = 50; percent <= 90; percent += 40) {
			snprintf(name, sizeof(name), "predicted / noise: %s, %s", figure_names[f],
			         percent == 50 ? "median" : "p90");
			bench_at_most(b, name, at_percent(&predicted, f, percent) / at_percent(&noise, f, percent),
			              1.25);
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

static uint64_t cpu_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * UINT64_C(1000000000) + (uint64_t)t.tv_nsec;
}

/* For each core: of cpu time. */
static double replayed_per_second(void)
{
	const struct recording *r = &all[6][0][0];
	struct bsv_group_figures *f = calloc(r->past.n_groups + 1, sizeof(*f));
	uint64_t began = cpu_now(), n = 0;

	must(f != NULL, "a replay", "out of memory");
	for (uint64_t seed = 0; cpu_now() - began < UINT64_C(1000000000); seed++) {
		must(bsv_draw(&r->past, NULL, seed % DRAWS, f), "a replay", "out of memory");
		for (size_t i = 0; i < r->past.n_groups; i++)
			n += f[i].n;
	}
	free(f);
	return (double)n / ((double)(cpu_now() - began) / 1e9);
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

int main(int argc, char **argv)
{
	char own[] = "/tmp/bench_whatif.XXXXXX", name[64], command[64];
	const char *dir = getenv("NNB_WHATIF_DIR");
	struct bench b;

	bench_open(&b, "whatif", 1, argc, argv);
	if (!dir)
		dir = mkdtemp(own);
	must(dir != NULL, "a directory", "there is none");
	record(dir, b.quick);
	for (unsigned s = 0; s < SCENARIOS; s++)
		for (unsigned p = 0; p < POLICIES; p++)
			for (unsigned k = 0; k < TIMES; k++) {
				snprintf(name, sizeof(name), "%s-%s-%u", scenarios[s], policies[p], k + 1);
				read_recording(&all[s][p][k], dir, name);
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
	tell(&b, "noise", &noise);
	tell(&b, "as recorded", &told);
	tell(&b, "predicted", &predicted);
	tell_not_told(&b);
	tell(&b, "crossed", &crossed);
	tell(&b, "paired", &paired);
	tell(&b, "paired noise", &paired_noise);
	tell_ratios(&b, "crossed / noise", &crossed, &noise);
	tell_ratios(&b, "paired / its noise", &paired, &paired_noise);
	tell(&b, "at its speed", &at_speed);
	tell(&b, "without", &without);
	tell(&b, "without, at its speed", &without_at_speed);
	tell(&b, "faster", &faster);
	tell(&b, "faster, at its speed", &faster_at_speed);
	tell(&b, "saved", &saved);
	tell(&b, "saved's noise", &saved_noise);
	tell_saved(&b);
	judge(&b);
	if (all[6][0][0].there)
		bench_at_least(&b, "executions replayed, M/s", replayed_per_second() / 1e6, 1);
	for (unsigned s = 0; s < SCENARIOS; s++)
		for (unsigned p = 0; p < POLICIES; p++)
			for (unsigned k = 0; k < TIMES; k++)
				recording_fini(&all[s][p][k]);
	snprintf(command, sizeof(command), "rm -r '%s'", own);
	if (dir == own && system(command))
		fprintf(stderr, "bench_whatif: %s is still there\n", own);
	return bench_close(&b);
}
