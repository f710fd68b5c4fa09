/* whatif.c -- burstscope whatif: the recorded arrivals again, under other rules. */
#include "answer/answer.h"
#include "answer/scoped.h"
#include "command.h"
#include "whatif/alternatives.h"
#include "whatif/changes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
	DRAWS = 11,
	FEW = 20,   /* served executions: of fewer there is no median */
	FEWER = 100 /* and no 99th percentile */
};

struct options {
	int policy, preempt, deadlines;
	unsigned lanes, lanes_up_to;
	bool search, advise;
	struct bsv_quantity step;
	const char *priority, *deadline, *speed, *rate, *without, *submit;
};

static const char *const policies[] = { "recorded", "fair", "priority", "fifo", "edf", NULL };
static const char *const preempts[] = { "recorded", "none", "restart", "save", NULL };
static const char *const deadlines[] = { "recorded", "abort", "refuse", "advise", NULL };

#define LIST(option, what, sentence)                                                   \
	{                                                                              \
		.name = #option, .kind = BSV_TEXT, .argument = what, .says = sentence, \
		.offset = offsetof(struct options, option)                             \
	}

static const struct bsv_option options[] = {
	{ .name = "policy",
	  .kind = BSV_CHOICE,
	  .argument = "recorded|fair|priority|fifo|edf",
	  .says = "who gets a lane first",
	  .offset = offsetof(struct options, policy),
	  .choices = policies },
	{ .name = "lanes",
	  .kind = BSV_NUMBER,
	  .argument = "N",
	  .says = "so many executions run at a time; the machine is taken to have a cpu for each",
	  .offset = offsetof(struct options, lanes),
	  .least = 1,
	  .most = BSA_REPLAY_LANES_MAX },
	{ .name = "preempt",
	  .kind = BSV_CHOICE,
	  .argument = "recorded|none|restart|save",
	  .says = "what happens to who runs when another one should",
	  .offset = offsetof(struct options, preempt),
	  .choices = preempts },
	{ .name = "deadline-mode",
	  .kind = BSV_CHOICE,
	  .argument = "recorded|abort|refuse|advise",
	  .says = "what a deadline is worth to the service",
	  .offset = offsetof(struct options, deadlines),
	  .choices = deadlines },
	LIST(priority, "APP[/MODEL]=P,...", "their priority: low, medium or high"),
	LIST(deadline, "APP[/MODEL]=TIME,...", "their deadline, counted from when each is due; or none"),
	LIST(speed, "MODEL=X,...", "models run so many times as fast (2x), or so much shorter (-1ms)"),
	LIST(rate, "APP[/MODEL]=X,...", "they are submitted so many times as often, as in 1.5x"),
	LIST(without, "APP[/MODEL],...", "they do not come at all"),
	{ .name = "step",
	  .kind = BSV_DURATION,
	  .argument = "TIME",
	  .says = "the longest that an execution runs between two checkpoints",
	  .offset = offsetof(struct options, step) },
	LIST(submit, "APP[/MODEL]=TIME,...", "they are submitted earlier, as in -3ms, for the same deadline"),
	{ .name = "search",
	  .kind = BSV_SWITCH,
	  .says = "try all policies, ways to preempt and deadline modes, and show those that no other beats",
	  .offset = offsetof(struct options, search) },
	{ .name = "lanes-up-to",
	  .kind = BSV_NUMBER,
	  .argument = "N",
	  .says = "with --search or --advise: also from one to N lanes",
	  .offset = offsetof(struct options, lanes_up_to),
	  .least = 1,
	  .most = BSA_REPLAY_LANES_MAX },
	{ .name = "advise",
	  .kind = BSV_SWITCH,
	  .says = "the smallest single change that saves most misses, and who pays for it",
	  .offset = offsetof(struct options, advise) },
	{ .name = NULL },
};

/* All replays of a group: [0] as recorded, [1] changed; and the recording. */
struct told {
	struct bsv_past past;
	struct bsv_whatif_change change;
	struct bsv_group_figures *recorded, *draws[2][DRAWS];
	struct bsv_alternatives alternatives; /* where those are asked for */
	const char *cannot;
};

static void told_fini(struct told *t)
{
	for (int i = 0; i < DRAWS; i++) {
		free(t->draws[0][i]);
		free(t->draws[1][i]);
	}
	free(t->recorded);
	bsv_alternatives_fini(&t->alternatives);
	bsv_whatif_fini(&t->change);
	bsv_past_fini(&t->past);
}

/* ---- replays ---- */

static struct bsv_said said_by(const struct options *o)
{
	return (struct bsv_said){ .policy = o->policy,
		                  .preempt = o->preempt,
		                  .deadlines = o->deadlines,
		                  .lanes = o->lanes,
		                  .step_ns = o->step.given ? (uint64_t)o->step.value : 0,
		                  .priority = o->priority,
		                  .deadline = o->deadline,
		                  .speed = o->speed,
		                  .rate = o->rate,
		                  .without = o->without,
		                  .submit = o->submit };
}

static int replay_all(struct told *t, struct bsa_err *err)
{
	size_t n = t->past.n_groups + 1;
	bool done = true;

	t->recorded = calloc(n, sizeof(*t->recorded));
	done = t->recorded && bsv_figures_recorded(&t->past, t->recorded);
	for (int i = 0; done && i < DRAWS; i++)
		for (int changed = 0; done && changed < 2; changed++) {
			t->draws[changed][i] = calloc(n, sizeof(***t->draws));
			done = t->draws[changed][i] &&
			       bsv_draw(&t->past, changed ? &t->change : NULL, (uint64_t)i, t->draws[changed][i]);
		}
	return done ? 0 : bsv_no_memory(err);
}

static int replay_what_is_asked(struct told *t, const struct options *o, bool quiet, struct bsa_err *err)
{
	t->alternatives = (struct bsv_alternatives){
		.past = &t->past, .base = &t->change, .lanes_up_to = o->lanes_up_to, .quiet = quiet
	};
	if (o->search)
		return bsv_alternatives_search(&t->alternatives, err);
	return o->advise ? bsv_alternatives_advise(&t->alternatives, err) : replay_all(t, err);
}

/* What is searched for is not said, and what is advised is one change. */
static int check_options(const struct options *o, struct bsa_err *err)
{
	const char *which = o->search ? "search" : "advise";
	bool rules = o->policy || o->preempt || o->deadlines || o->lanes;
	bool changes = o->priority || o->deadline || o->speed || o->rate || o->without || o->submit || o->step.given;

	if (o->search && o->advise)
		return bsa_fail(err, BSA_E_USAGE, "--search and --advise are two questions: ask one of them");
	if (o->lanes_up_to && !o->search && !o->advise)
		return bsa_fail(err, BSA_E_USAGE, "--lanes-up-to goes with --search or --advise");
	if ((o->search || o->advise) && rules)
		return bsa_fail(err, BSA_E_USAGE,
		                "--%s tries policies, preemption, deadline modes and lanes itself: none can be given",
		                which);
	if (o->advise && changes)
		return bsa_fail(err, BSA_E_USAGE, "--advise is about a single change: no other can be given");
	return 0;
}

static int tell(struct told *t, const struct options *o, bool quiet, struct bsv_input *input, struct bsa_err *err)
{
	const struct bsv_said said = said_by(o);
	int r;

	bsa_db_own_queries(input->db, true);
	r = bsv_past_read(&t->past, input->db, input->with, input->began, &t->cannot, err);
	if (r >= 0)
		r = bsv_whatif_read(&t->change, &t->past, &said, &t->cannot, err);
	if (r >= 0 && !t->cannot && said.deadline && t->past.rules.deadlines == 3 && !said.deadlines)
		t->cannot =
			"the recording does not say what a deadline is worth to the service: give --deadline-mode, too";
	return r < 0 || t->cannot ? r : replay_what_is_asked(t, o, quiet, err);
}

/* ---- figures ---- */

enum figure { MISSED, P50, P99, SHARE };

static double total_of(const struct told *t, const struct bsv_group_figures *f, uint32_t app)
{
	double sum = 0;

	for (size_t i = 0; i < t->past.n_groups; i++)
		if (app == UINT32_MAX || t->past.groups[i].app == app)
			sum += (double)f[i].lane_ns;
	return sum;
}

/* NAN: unknown. Of a share, @i is an app. */
static double figure_of(const struct told *t, const struct bsv_group_figures *all, size_t i, enum figure figure)
{
	const struct bsv_group_figures *f = &all[i];
	double total;

	switch (figure) {
	case MISSED:
		return f->n ? 100.0 * (double)f->missed / (double)f->n : NAN;
	case P50:
		return f->served >= FEW ? (double)f->p50_ns : NAN;
	case P99:
		return f->served >= FEWER ? (double)f->p99_ns : NAN;
	default:
		total = total_of(t, all, UINT32_MAX);
		return total > 0 ? 100 * total_of(t, all, (uint32_t)i) / total : NAN;
	}
}

struct spread {
	double low, median, high; /* NAN: unknown in one of the draws, at least */
};

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static struct spread spread_of(double values[DRAWS])
{
	for (int i = 0; i < DRAWS; i++)
		if (isnan(values[i]))
			return (struct spread){ NAN, NAN, NAN };
	qsort(values, DRAWS, sizeof(*values), by_size);
	return (struct spread){ values[0], values[DRAWS / 2], values[DRAWS - 1] };
}

static struct spread replayed(const struct told *t, bool changed, size_t i, enum figure figure)
{
	double values[DRAWS];

	for (int k = 0; k < DRAWS; k++)
		values[k] = figure_of(t, t->draws[changed][k], i, figure);
	return spread_of(values);
}

/* Draw by draw: what the change alone makes of it. */
static struct spread difference(const struct told *t, size_t i, enum figure figure)
{
	double values[DRAWS];

	for (int k = 0; k < DRAWS; k++)
		values[k] = figure_of(t, t->draws[1][k], i, figure) - figure_of(t, t->draws[0][k], i, figure);
	return spread_of(values);
}

/* Less, more, or the same in every draw, and by more than the replay of what was recorded is wrong. */
static const char *effect(const struct told *t, size_t i, enum figure figure)
{
	struct spread d = difference(t, i, figure), before = replayed(t, false, i, figure);
	double off = fabs(before.median - figure_of(t, t->recorded, i, figure));

	if (isnan(d.median))
		return NULL;
	if (d.low == 0 && d.high == 0)
		return "same";
	if ((d.low <= 0 && d.high >= 0) || isnan(off) || fabs(d.median) <= off)
		return "cannot tell";
	return d.median < 0 ? "less" : "more";
}

/* ---- answers ---- */

static void put(struct bsv_rows *rows, double x, bool whole)
{
	if (isnan(x))
		bsv_rows_null(rows);
	else if (whole)
		bsv_rows_int(rows, (int64_t)llround(x));
	else
		bsv_rows_real(rows, round(x * 100) / 100);
}

static void put_names(struct bsv_rows *rows, const struct bsv_past_group *g)
{
	bsv_rows_text(rows, g->app_name);
	bsv_rows_text(rows, g->model_name);
}

static const char *arrivals(const struct bsv_past_group *g)
{
	if (g->apart)
		return "launched";
	return g->open && g->closed ? "open and closed" : g->open ? "open" : "closed";
}

static struct bsv_rows *reproduced(const struct told *t)
{
	static const struct bsv_column columns[] = { { "app", "text", NULL },
		                                     { "model", "text", NULL },
		                                     { "arrivals", "text", NULL },
		                                     { "n", "count", NULL },
		                                     { "missed_percent", "percent", "%" },
		                                     { "replayed_missed_percent", "percent", "%" },
		                                     { "p50_ns", "duration", "ns" },
		                                     { "replayed_p50_ns", "duration", "ns" },
		                                     { "p99_ns", "duration", "ns" },
		                                     { "replayed_p99_ns", "duration", "ns" } };
	struct bsv_rows *rows = bsv_rows_new(columns, sizeof(columns) / sizeof(*columns));

	for (size_t i = 0; rows && !t->cannot && i < t->past.n_groups; i++) {
		if (!t->past.groups[i].n)
			continue;
		put_names(rows, &t->past.groups[i]);
		bsv_rows_text(rows, arrivals(&t->past.groups[i]));
		bsv_rows_int(rows, (int64_t)t->past.groups[i].n);
		for (enum figure f = MISSED; f <= P99; f++) {
			put(rows, figure_of(t, t->recorded, i, f), f != MISSED);
			put(rows, replayed(t, false, i, f).median, f != MISSED);
		}
	}
	return rows;
}

/* What was replayed, what is predicted, from where to where, and which way that is. */
static void put_change(struct bsv_rows *rows, const struct told *t, size_t i, enum figure f)
{
	struct spread after = replayed(t, true, i, f);
	bool whole = f == P50 || f == P99;

	put(rows, replayed(t, false, i, f).median, whole);
	put(rows, after.median, whole);
	put(rows, after.low, whole);
	put(rows, after.high, whole);
	bsv_rows_text(rows, effect(t, i, f));
}

static struct bsv_rows *misses(const struct told *t)
{
	static const struct bsv_column columns[] = { { "app", "text", NULL },
		                                     { "model", "text", NULL },
		                                     { "n", "count", NULL },
		                                     { "replayed_percent", "percent", "%" },
		                                     { "predicted_percent", "percent", "%" },
		                                     { "low_percent", "percent", "%" },
		                                     { "high_percent", "percent", "%" },
		                                     { "effect", "text", NULL } };
	struct bsv_rows *rows = bsv_rows_new(columns, sizeof(columns) / sizeof(*columns));

	for (size_t i = 0; rows && !t->cannot && i < t->past.n_groups; i++) {
		if (!t->past.groups[i].n)
			continue;
		put_names(rows, &t->past.groups[i]);
		bsv_rows_int(rows, (int64_t)t->draws[1][0][i].n);
		put_change(rows, t, i, MISSED);
	}
	return rows;
}

static struct bsv_rows *latencies(const struct told *t)
{
	static const struct bsv_column columns[] = { { "app", "text", NULL },
		                                     { "model", "text", NULL },
		                                     { "figure", "text", NULL },
		                                     { "replayed_ns", "duration", "ns" },
		                                     { "predicted_ns", "duration", "ns" },
		                                     { "low_ns", "duration", "ns" },
		                                     { "high_ns", "duration", "ns" },
		                                     { "effect", "text", NULL } };
	struct bsv_rows *rows = bsv_rows_new(columns, sizeof(columns) / sizeof(*columns));

	for (size_t i = 0; rows && !t->cannot && i < t->past.n_groups; i++)
		for (enum figure f = P50; f <= P99 && t->past.groups[i].n; f++) {
			put_names(rows, &t->past.groups[i]);
			bsv_rows_text(rows, f == P50 ? "p50" : "p99");
			put_change(rows, t, i, f);
		}
	return rows;
}

static struct bsv_rows *shares(const struct told *t)
{
	static const struct bsv_column columns[] = {
		{ "app", "text", NULL },
		{ "recorded_percent", "percent", "%" },
		{ "replayed_percent", "percent", "%" },
		{ "predicted_percent", "percent", "%" },
		{ "low_percent", "percent", "%" },
		{ "high_percent", "percent", "%" },
		{ "effect", "text", NULL },
	};
	struct bsv_rows *rows = bsv_rows_new(columns, sizeof(columns) / sizeof(*columns));

	for (size_t i = 0; rows && !t->cannot && i < t->past.n_apps; i++) {
		bsv_rows_text(rows, t->past.apps[i]);
		put(rows, figure_of(t, t->recorded, i, SHARE), false);
		put_change(rows, t, i, SHARE);
	}
	return rows;
}

static void add_notes(struct bsv_answer *a, const struct told *t)
{
	bsv_answer_note(
		a,
		"Replayed: the recorded arrivals, under the recorded rules, by the service's own policy. How far that "
		"is from what was recorded is how far to trust the rest.");
	bsv_answer_note(
		a,
		"Low and high are the least and the most of %d replays: runs are drawn from those near in time, and "
		"each model is up to 15 %% slower or faster. Latencies are of what was served.",
		DRAWS);
	bsv_answer_note(a, "Effect: less or more, if all replays agree on it and it is more than the replay is off by; "
	                   "otherwise the replay cannot tell.");
	bsv_answer_note(
		a, "Between checkpoints the longest step of each model is taken, as it was measured when the model was "
		   "prepared; where what is preempted is saved, twice what it usually took to make room, or 1 ms. Runs "
		   "are as long as they were on their lanes.");
	if (t->past.n_unknown_runs)
		bsv_answer_note(
			a, "%zu %s not run to the end: it is taken that others of the model show how long that takes.",
			t->past.n_unknown_runs, t->past.n_unknown_runs == 1 ? "execution did" : "executions did");
	if (t->past.n_starved)
		bsv_answer_note(a,
		                "%zu %s for most of the recording: what they would have submitted if they had been "
		                "answered sooner is hardly known, and others would have had to wait for it.",
		                t->past.n_starved, t->past.n_starved == 1 ? "thread waited" : "threads waited");
	if (t->change.rules.lanes != t->past.rules.lanes)
		bsv_answer_note(
			a,
			"Another number of lanes is predicted much worse than the rest: executions beside each other "
			"slow each other down.");
}

/* With nothing in it, it is there for programs alone. */
static void part(struct bsv_answer *a, const struct told *t, const char *name, const char *title, struct bsv_rows *rows)
{
	bsv_answer_rows(a, name, title, rows);
	if (t->cannot)
		bsv_answer_hide(a);
}

static void parts(struct bsv_answer *a, const struct told *t)
{
	part(a, t, "replay", "what was recorded, and the same replayed", reproduced(t));
	part(a, t, "misses", "deadlines missed: replayed as recorded, and predicted", misses(t));
	part(a, t, "latency", "from submission to answer", latencies(t));
	part(a, t, "shares", "of the time on lanes", shares(t));
}

static int answer(struct bsv_answer *a, const struct told *t, const struct options *o, struct bsa_err *err)
{
	const struct bsv_verdict unsure = {
		.name = "replay", .figure = NAN, .bound = NAN, .outcome = BSV_CANNOT_TELL, .why = t->cannot
	};

	if (o->search)
		bsv_alternatives_tell_search(&t->alternatives, a, t->cannot != NULL);
	else if (o->advise)
		bsv_alternatives_tell_advice(&t->alternatives, a, t->cannot != NULL);
	else
		parts(a, t);
	if (t->cannot)
		bsv_answer_verdict(a, &unsure);
	else if (!o->search && !o->advise)
		add_notes(a, t);
	return bsv_answer_print(a, t->cannot != NULL, err);
}

static int run(const struct bsv_call *call, struct bsa_err *err)
{
	bsv_scoped_input input = { 0 };
	bsv_scoped_answer *a = NULL;
	struct told t = { 0 };
	int r = check_options(call->options, err);

	if (r >= 0)
		r = bsv_input_open(&input, call->n_operands ? call->operands[0] : NULL, call, err);
	if (r >= 0)
		r = tell(&t, call->options, call->common.quiet, &input, err);
	if (r >= 0) {
		a = bsv_answer_new(call, &input);
		r = answer(a, &t, call->options, err);
	}
	told_fini(&t);
	return r;
}

const struct bsv_command bsv_whatif = {
	.name = "whatif",
	.operands = "[INPUT]",
	.says = "what would have happened to the recorded arrivals under other rules",
	.examples = "  burstscope whatif --policy edf\n"
		    "  burstscope whatif --without noisy --preempt save recording.db\n"
		    "  burstscope whatif --speed mobilenet-640=2x --deadline camera=20ms --format json\n"
		    "  burstscope whatif --search --lanes-up-to 2\n"
		    "  burstscope whatif --advise recording.db\n",
	.more = "Parts: replay, misses, latency, shares; with --search front, sureness, alternatives; with --advise "
		"advice. Several changes can be made at once; without any, it shows "
		"how well the "
		"recording is\n"
		"reproduced. Where a recording does not tell (events were lost, the service was not recorded, its "
		"policy was native), the "
		"verdict is: cannot tell.\n",
	.options = options,
	.options_size = sizeof(struct options),
	.min = 0,
	.max = 1,
	.asks = BSV_ASK_FORMAT | BSV_ASK_LIMIT,
	.run = run,
};
