/* alternatives.c -- the answers of burstscope whatif --search and --advise. */
#include "whatif/alternatives.h"

#include "base/numbers.h"
#include "base/scoped.h"
#include "base/screen.h"
#include "base/text.h"
#include "whatif/notes.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ADVICE_MOST = 10 /* rows */ };

#define COUNT(list) (sizeof(list) / sizeof(*(list)))

static const char *const policies[] = { "fair", "priority", "fifo", "edf" };
static const char *const preempts[] = { "none", "restart", "save" };
static const char *const deadlines[] = { "abort", "refuse", "advise" };

/* ---- replays ---- */

static void draw_progress(void *ctx, size_t done, size_t of)
{
	enum { BAR = 30 };
	static const char full[] = "##############################", none[] = "..............................";
	struct bsv_progress *line = ctx;
	int filled = (int)(done * BAR / (of ? of : 1));

	if (bsv_progress_due(line))
		bsv_progress_draw(line, "replaying [%.*s%.*s] %zu of %zu", filled, full, BAR - filled, none, done, of);
}

static int replay_all(struct bsv_alternatives *a, struct bsa_err *err)
{
	struct bsv_progress line;
	bool done;

	bsv_progress_init(&line, !a->quiet);
	done = bsv_trials_run(&a->trials, draw_progress, &line);
	bsv_progress_fini(&line);
	return done ? 0 : bsv_no_memory(err);
}

int bsv_alternatives_search(struct bsv_alternatives *a, struct bsa_err *err)
{
	const struct bsa_replay_rules *now = &a->base->rules;
	int r;

	if (!bsv_trials_init(&a->trials, a->past) || !bsv_search_fill(&a->trials, now, a->base->groups, a->lanes_up_to))
		return bsv_no_memory(err);
	r = replay_all(a, err);
	if (r < 0)
		return r;
	a->goals = calloc(a->trials.n + 1, sizeof(*a->goals));
	a->front = calloc(a->trials.n + 1, sizeof(*a->front));
	if (!a->goals || !a->front)
		return bsv_no_memory(err);
	for (size_t i = 0; i < a->trials.n; i++)
		a->goals[i] = bsv_search_goals(&a->trials, &a->trials.all[i]);
	a->n_front = bsv_search_front(&a->trials, a->goals, now, a->front);
	return 0;
}

int bsv_alternatives_advise(struct bsv_alternatives *a, struct bsa_err *err)
{
	int r;

	if (!bsv_trials_init(&a->trials, a->past) ||
	    !bsv_advise_fill(&a->advices, &a->trials, &a->base->rules, a->lanes_up_to))
		return bsv_no_memory(err);
	r = replay_all(a, err);
	if (r >= 0)
		bsv_advise_rank(&a->advices, &a->trials);
	return r;
}

void bsv_alternatives_fini(struct bsv_alternatives *a)
{
	bsv_trials_fini(&a->trials);
	bsv_advise_fini(&a->advices);
	free(a->goals);
	free(a->front);
	a->goals = NULL;
	a->front = NULL;
}

/* ---- rows ---- */

static void put_number(struct bsv_rows *rows, double x, double parts)
{
	if (isnan(x) || isinf(x))
		bsv_rows_null(rows);
	else if (parts == 1)
		bsv_rows_int(rows, (int64_t)llround(x));
	else
		bsv_rows_real(rows, round(x * parts) / parts);
}

static void put_spread(struct bsv_rows *rows, struct bsv_spread s, double parts)
{
	put_number(rows, s.median, parts);
	put_number(rows, s.low, parts);
	put_number(rows, s.high, parts);
}

#define WHOLE 1
#define TENTHS 10
#define HUNDREDTHS 100

/* Fewer misses than under the recorded rules, in all replays? NULL: unknown, or no execution has a deadline. */
static const char *effect_of(const struct bsv_trials *t, const struct bsv_trial *now, const struct bsv_trial *x)
{
	double values[BSV_TRIAL_DRAWS];
	struct bsv_spread d;

	for (unsigned i = 0; i < t->draws; i++)
		values[i] = (double)x->draws[i].missed / (double)x->draws[i].due -
		            (double)now->draws[i].missed / (double)now->draws[i].due;
	d = bsv_spread_of(values, t->draws);
	if (isnan(d.median) || t->draws < 2)
		return NULL;
	if (d.low == 0 && d.high == 0)
		return "same";
	return d.high < 0 ? "less" : d.low > 0 ? "more" : "cannot tell";
}

static const struct bsv_trial *trial_now(const struct bsv_alternatives *a)
{
	return bsv_search_find(&a->trials, a->base->rules);
}

static struct bsv_rows *front_rows(const struct bsv_alternatives *a)
{
	static const struct bsv_column columns[] = { { "command", "text", NULL },
		                                     { "deadlines_missed_percent", "percent", "%" },
		                                     { "urgent_p99_ns", "duration", "ns" },
		                                     { "slowest_ratio", "ratio", NULL } };
	struct bsv_rows *rows = bsv_rows_new(columns, COUNT(columns));

	for (size_t i = 0; rows && i < a->n_front; i++) {
		const struct bsv_goals *g = &a->goals[a->front[i]];
		const struct bsa_replay_rules *r = &a->trials.all[a->front[i]].change.rules;
		bsv_scoped_text *line =
			bsv_text("nnburstd --policy %s --preempt %s --deadline %s --lanes %u", policies[r->policy],
		                 preempts[r->preempt], deadlines[r->deadlines], r->lanes);

		bsv_rows_text(rows, line);
		put_number(rows, g->missed_percent.median, TENTHS);
		put_number(rows, g->urgent_ns.median, WHOLE);
		put_number(rows, g->slowest.median, HUNDREDTHS);
	}
	return rows;
}

static void put_alternative(struct bsv_rows *rows, const struct bsv_alternatives *a, size_t i)
{
	const struct bsv_trial *x = &a->trials.all[i], *now = trial_now(a);
	const struct bsv_goals *g = &a->goals[i];
	bool front = false;

	for (size_t k = 0; k < a->n_front; k++)
		front |= a->front[k] == i;
	bsv_rows_text(rows, policies[x->change.rules.policy]);
	bsv_rows_text(rows, preempts[x->change.rules.preempt]);
	bsv_rows_text(rows, deadlines[x->change.rules.deadlines]);
	bsv_rows_int(rows, x->change.rules.lanes);
	bsv_rows_text(rows, x == now ? "replayed" : front ? "front" : "worse");
	put_spread(rows, g->missed_percent, HUNDREDTHS);
	bsv_rows_text(rows, effect_of(&a->trials, now, x));
	bsv_rows_text(rows, isnan(g->slowest.median) ? NULL : a->past->apps[g->slowest_app]);
	put_spread(rows, g->urgent_ns, WHOLE);
	put_spread(rows, g->slowest, HUNDREDTHS);
}

/* Rows of the alternatives on the front and of the recording, or with @all of all alternatives. */
static struct bsv_rows *alternative_rows(const struct bsv_alternatives *a, bool all)
{
	static const struct bsv_column columns[] = { { "policy", "text", NULL },
		                                     { "preempt", "text", NULL },
		                                     { "deadlines", "text", NULL },
		                                     { "lanes", "count", NULL },
		                                     { "place", "text", NULL },
		                                     { "deadlines_missed_percent", "percent", "%" },
		                                     { "deadlines_missed_low_percent", "percent", "%" },
		                                     { "deadlines_missed_high_percent", "percent", "%" },
		                                     { "effect", "text", NULL },
		                                     { "slowest_app", "text", NULL },
		                                     { "urgent_p99_ns", "duration", "ns" },
		                                     { "urgent_low_ns", "duration", "ns" },
		                                     { "urgent_high_ns", "duration", "ns" },
		                                     { "slowest_ratio", "ratio", NULL },
		                                     { "slowest_low_ratio", "ratio", NULL },
		                                     { "slowest_high_ratio", "ratio", NULL } };
	struct bsv_rows *rows = bsv_rows_new(columns, COUNT(columns));
	const struct bsv_trial *now = a->trials.n ? trial_now(a) : NULL;
	bool told = false;

	for (size_t i = 0; rows && !all && i < a->n_front; i++) {
		told |= &a->trials.all[a->front[i]] == now;
		put_alternative(rows, a, a->front[i]);
	}
	if (rows && now && !all && !told)
		put_alternative(rows, a, (size_t)(now - a->trials.all));
	for (size_t i = 0; rows && all && i < a->trials.n; i++)
		put_alternative(rows, a, i);
	return rows;
}

/* ---- answers ---- */

static void note_draws(const struct bsv_alternatives *a, struct bsv_answer *answer)
{
	bsv_notes_machine(answer, a->past);
	if (a->past->n_starved)
		bsv_answer_note(answer,
		                "%zu %s for most of the recording: what they would have submitted if they had "
		                "been answered sooner is hardly known.",
		                a->past->n_starved, a->past->n_starved == 1 ? "thread waited" : "threads waited");
	if (a->trials.draws > 1)
		bsv_answer_note(answer,
		                "%zu alternatives, each replayed %u times: runs are drawn from those near in time, "
		                "each model is slower or faster, and the load of the machine is higher or lower.",
		                a->trials.n, a->trials.draws);
	else
		bsv_answer_note(answer,
		                "%zu alternatives, each replayed once, because the recording is long: how sure it is "
		                "is not known. burstscope whatif says it of one.",
		                a->trials.n);
}

static void add_part(struct bsv_answer *answer, const char *name, const char *title, struct bsv_rows *rows, bool hide)
{
	bsv_answer_rows(answer, name, title, rows);
	if (hide)
		bsv_answer_hide(answer, name);
}

void bsv_alternatives_add_search(const struct bsv_alternatives *a, struct bsv_answer *answer, bool empty)
{
	add_part(answer, "front", "Pareto-optimal alternatives", front_rows(a), empty);
	add_part(answer, "sureness", "sureness of alternatives, beside the replay of what was recorded",
	         alternative_rows(a, false), empty);
	add_part(answer, "alternatives", "all alternatives tried", alternative_rows(a, true), true);
	if (empty)
		return;
	bsv_answer_note(answer, "Urgent: the slowest of the models of the highest priority, or, where all have one "
	                        "priority, of those with deadlines. Slowest: the app that loses most waits so many "
	                        "times as long as under the fair policy on the same lanes.");
	note_draws(a, answer);
	if (a->lanes_up_to > 1)
		bsv_answer_note(answer, "Another number of lanes is predicted much worse than the rest: executions "
		                        "beside each other slow each other down.");
}

static const char *const sizes[] = { "small", "middle", "large" };

/* "gallery/faces", as options take it; NULL: there is no payer, or no memory. Owned by the caller. */
static char *payer_of(const struct bsv_alternatives *a, const struct bsv_advice *x)
{
	const struct bsv_past_group *g = x->payer == UINT32_MAX ? NULL : &a->past->groups[x->payer];

	return g ? bsv_text("%s/%s", g->app_name, g->model_name) : NULL;
}

static struct bsv_rows *advice_rows(const struct bsv_alternatives *a)
{
	static const struct bsv_column columns[] = {
		{ "change", "text", NULL },        { "size", "text", NULL },
		{ "saved", "count", NULL },        { "saved_low", "count", NULL },
		{ "saved_high", "count", NULL },   { "payer", "text", NULL },
		{ "payer_missed", "count", NULL }, { "payer_waits_ratio", "ratio", NULL }
	};
	struct bsv_rows *rows = bsv_rows_new(columns, COUNT(columns));

	for (size_t i = 0; rows && i < a->advices.n && i < ADVICE_MOST; i++) {
		const struct bsv_advice *x = &a->advices.all[i];
		bsv_scoped_text *payer = payer_of(a, x);

		bsv_rows_text(rows, x->option);
		bsv_rows_text(rows, sizes[x->size]);
		put_spread(rows, x->saved, WHOLE);
		bsv_rows_text(rows, payer);
		put_number(rows, x->payer == UINT32_MAX ? NAN : x->payer_missed.median, WHOLE);
		put_number(rows, x->payer == UINT32_MAX ? NAN : x->payer_waits.median, HUNDREDTHS);
	}
	return rows;
}

/* "641 misses", or "641 misses (500 to 702)" where the replays differ. Owned by the caller; NULL: no memory. */
static char *spread_text(struct bsv_spread s, const char *unit)
{
	if (s.low == s.high)
		return bsv_text("%.0f%s", s.median, unit);
	return bsv_text("%.0f%s (%.0f to %.0f)", s.median, unit, s.low, s.high);
}

/* The app and model that pays for a change, in words. Owned by the caller. */
static char *price_of(const struct bsv_alternatives *a, const struct bsv_advice *x)
{
	bsv_scoped_text *payer = payer_of(a, x);

	if (!payer)
		return strdup("in no app and model do all replays miss more, or wait longer by a tenth");
	if (x->payer_missed.low > 0)
		return bsv_text("%s pays most for it, with %.0f misses more", payer, x->payer_missed.median);
	return bsv_text("%s pays most for it, and waits %.1f times as long", payer, x->payer_waits.median);
}

void bsv_alternatives_add_advice(const struct bsv_alternatives *a, struct bsv_answer *answer, bool empty)
{
	const struct bsv_advice *first = a->advices.n ? a->advices.all : NULL;
	bsv_scoped_text *price = NULL, *saved = NULL, *all = NULL;
	double values[BSV_TRIAL_DRAWS] = { 0 };
	struct bsv_spread replayed;
	size_t recorded = 0;

	add_part(answer, "advice", "single changes that save misses in all replays, the advice first", advice_rows(a),
	         empty);
	if (empty)
		return;
	price = first ? price_of(a, first) : NULL;
	saved = first ? spread_text(first->saved, "") : NULL;
	/*
	 * Misses in the replays under the recorded rules. No change saves more than these, neither
	 * in the middle nor at the ends of its interval.
	 */
	for (unsigned i = 0; a->trials.n && i < a->trials.draws; i++)
		values[i] = (double)a->trials.all[0].draws[i].missed;
	replayed = bsv_spread_of(values, a->trials.draws ? a->trials.draws : 1);
	all = spread_text(replayed, replayed.median == 1 ? " miss" : " misses");
	for (size_t i = 0; i < a->past->n_groups; i++)
		recorded += a->past->groups[i].n_missed;
	if (replayed.high == 0)
		bsv_answer_note(answer,
		                "No deadline is missed in the replay of what was recorded: there is nothing to save.");
	else if (!first)
		bsv_answer_note(answer,
		                "No change saves a miss in all replays. Under the recorded rules, the replays have %s; "
		                "%zu %s recorded.",
		                all ? all : "", recorded, bsv_plural(recorded, "was", "were"));
	else
		bsv_answer_note(answer,
		                "Advice: %s%s. It saves %s of the %s that the replays have under the recorded rules; "
		                "%zu %s recorded; %s.",
		                *first->service ? "nnburstd " : "", *first->service ? first->service : first->option,
		                saved ? saved : "", all ? all : "", recorded, bsv_plural(recorded, "was", "were"),
		                price ? price : "");
	bsv_answer_note(answer,
	                "Small is an option of the service or a priority; middle is a model with shorter steps; "
	                "large is work that is not done, or faster. Of changes that save nine tenths of the "
	                "most, the smallest is first. Misses of an app whose work is taken away do not count. The "
	                "payer misses so many deadlines more, and waits so many times as long.");
	note_draws(a, answer);
}
