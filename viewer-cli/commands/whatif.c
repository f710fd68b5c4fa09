/* whatif.c -- burstscope whatif: replays the recorded arrivals under other rules. */
#include "answer/answer.h"
#include "audit/missed.h"
#include "base/command.h"
#include "base/scoped.h"
#include "whatif/alternatives.h"
#include "whatif/changes.h"
#include "whatif/notes.h"
#include "whatif/prediction.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct options {
	int policy, preempt, deadlines;
	unsigned lanes, lanes_up_to;
	bool search, advise;
	struct bsv_quantity step;
	struct bsv_texts priority, deadline, speed, rate, without, submit;
};

static const char *const policies[] = { "recorded", "fair", "priority", "fifo", "edf", NULL };
static const char *const preempts[] = { "recorded", "none", "restart", "save", NULL };
static const char *const deadlines[] = { "recorded", "abort", "refuse", "advise", NULL };

#define LIST(option, what, sentence)                                                    \
	{                                                                               \
		.name = #option, .kind = BSV_TEXTS, .argument = what, .says = sentence, \
		.offset = offsetof(struct options, option)                              \
	}

static const struct bsv_option options[] = {
	{ .name = "policy",
	  .kind = BSV_CHOICE,
	  .argument = "recorded|fair|priority|fifo|edf",
	  .says = "order in which executions get a lane",
	  .offset = offsetof(struct options, policy),
	  .choices = policies },
	{ .name = "lanes",
	  .kind = BSV_NUMBER,
	  .argument = "N",
	  .says = "number of executions that run at a time; assumes a cpu for each",
	  .offset = offsetof(struct options, lanes),
	  .least = 1,
	  .most = BSA_REPLAY_LANES_MAX },
	{ .name = "preempt",
	  .kind = BSV_CHOICE,
	  .argument = "recorded|none|restart|save",
	  .says = "treatment of the running execution when another one should run",
	  .offset = offsetof(struct options, preempt),
	  .choices = preempts },
	{ .name = "deadline-mode",
	  .kind = BSV_CHOICE,
	  .argument = "recorded|abort|refuse|advise",
	  .says = "treatment of deadlines by the service",
	  .offset = offsetof(struct options, deadlines),
	  .choices = deadlines },
	LIST(priority, "APP[/MODEL]=P,...", "set their priority: low, medium or high"),
	LIST(deadline, "APP[/MODEL]=TIME,...", "set their deadline, counted from the time when each is due; or none"),
	LIST(speed, "MODEL=X,...", "change the run of models: 2x is twice as fast, -1ms is 1 ms shorter"),
	LIST(rate, "APP[/MODEL]=X,...", "change how often they are submitted: 1.5x is 1.5 times as often"),
	LIST(without, "APP[/MODEL],...", "leave them out"),
	{ .name = "step",
	  .kind = BSV_DURATION,
	  .argument = "TIME",
	  .says = "longest time that an execution runs between two checkpoints",
	  .offset = offsetof(struct options, step) },
	LIST(submit, "APP[/MODEL]=TIME,...", "submit them earlier, for the same deadline: -3ms"),
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
	  .says = "find the smallest single change that avoids most misses, and its costs for other apps",
	  .offset = offsetof(struct options, advise) },
	{ .name = NULL },
};

struct replays {
	struct bsv_past past;
	struct bsv_whatif_change change;
	struct bsv_prediction prediction;
	struct bsv_alternatives alternatives; /* result of --search or --advise */
	const char *cannot;
};

/* ---- the options in words ---- */

/* Print @word so that a shell reads it as one word: names of apps and models may have spaces and quotes. */
static void print_shell_word(FILE *to, const char *word)
{
	static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_./=,+:@%";

	if (word[strspn(word, plain)] == 0) {
		fputs(word, to);
		return;
	}
	fputc('\'', to);
	for (; *word; word++)
		if (*word == '\'')
			fputs("'\\''", to);
		else
			fputc(*word, to);
	fputc('\'', to);
}

/* Print @ns exactly, in the largest unit of which it is a multiple. */
static void print_exact_duration(FILE *to, int64_t ns)
{
	static const struct {
		const char *name;
		int64_t of;
	} units[] = { { "s", 1000000000 }, { "ms", 1000000 }, { "us", 1000 }, { "ns", 1 } };
	size_t i = 0;

	while (ns % units[i].of)
		i++;
	fprintf(to, "%" PRId64 "%s", ns / units[i].of, units[i].name);
}

/*
 * Print an option that was given, as a user types it, after a space where others precede it. Prints
 * nothing for an option that was not given.
 */
static void print_option(FILE *to, const struct bsv_option *option, const char *values, bool *any)
{
	const void *value = values + option->offset;
	const struct bsv_texts *texts = value;
	const struct bsv_quantity *quantity = value;
	bool given = option->kind == BSV_SWITCH     ? *(const bool *)value
	             : option->kind == BSV_CHOICE   ? *(const int *)value != 0 /* 0: recorded */
	             : option->kind == BSV_NUMBER   ? *(const unsigned *)value != 0
	             : option->kind == BSV_DURATION ? quantity->given
	                                            : texts->n != 0;

	if (!given)
		return;
	fprintf(to, "%s--%s", *any ? " " : "", option->name);
	*any = true;
	if (option->kind == BSV_CHOICE)
		fprintf(to, " %s", option->choices[*(const int *)value]);
	if (option->kind == BSV_NUMBER)
		fprintf(to, " %u", *(const unsigned *)value);
	if (option->kind == BSV_DURATION) {
		fputc(' ', to);
		print_exact_duration(to, quantity->value);
	}
	for (size_t i = 0; option->kind == BSV_TEXTS && i < texts->n; i++) {
		fprintf(to, i ? " --%s " : " ", option->name);
		print_shell_word(to, texts->of[i]);
	}
}

/*
 * The options that decide what is replayed, as a user types them; "": none, so the recorded rules.
 * Owned by the caller; NULL: no memory.
 */
static char *replayed_text(const struct options *o)
{
	char *ret = NULL;
	size_t bytes;
	FILE *to = open_memstream(&ret, &bytes);
	bool any = false;

	if (!to)
		return NULL;
	for (const struct bsv_option *option = options; option->name; option++)
		print_option(to, option, (const char *)o, &any);
	if (fclose(to)) {
		free(ret);
		return NULL;
	}
	return ret;
}

/* ---- replays ---- */

static struct bsv_lists lists_of(const struct bsv_texts *texts)
{
	return (struct bsv_lists){ .of = texts->of, .n = texts->n };
}

static int replays_read(struct replays *t, const struct options *o, const struct bsv_name_in_words *said, bool quiet,
                        struct bsv_input *input, struct bsa_err *err)
{
	int r;

	bsa_db_own_queries(input->db, true);
	r = bsv_past_read(&t->past, input->db, input->with, input->began, &t->cannot, err);
	if (r >= 0)
		r = bsv_whatif_read(&t->change, &t->past, said, &t->cannot, err);
	if (r >= 0 && !t->cannot && said->deadline.n && t->past.rules.deadlines == 3 && !said->deadlines)
		t->cannot = "the recording does not contain the service's treatment of deadlines: add --deadline-mode";
	if (r < 0 || t->cannot)
		return r;

	t->alternatives = (struct bsv_alternatives){
		.past = &t->past, .base = &t->change, .lanes_up_to = o->lanes_up_to, .quiet = quiet
	};
	if (o->search)
		return bsv_alternatives_search(&t->alternatives, err);
	if (o->advise)
		return bsv_alternatives_advise(&t->alternatives, err);
	return bsv_predict(&t->prediction, &t->past, &t->change) ? 0 : bsv_no_memory(err);
}

/* ---- answers ---- */

static void add_figure(struct bsv_rows *rows, double x, bool whole)
{
	if (isnan(x))
		bsv_rows_null(rows);
	else if (whole)
		bsv_rows_int(rows, (int64_t)llround(x));
	else
		bsv_rows_real(rows, round(x * 100) / 100);
}

static void add_names(struct bsv_rows *rows, const struct bsv_past_group *g)
{
	bsv_rows_text(rows, g->app_name);
	bsv_rows_text(rows, g->model_name);
}

static struct bsv_rows *reproduced_rows(const struct replays *t)
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
		const struct bsv_past_group *g = &t->past.groups[i];

		if (!g->n)
			continue;
		add_names(rows, g);
		bsv_rows_text(rows, g->apart               ? "launched"
		                    : g->open && g->closed ? "open and closed"
		                    : g->open              ? "open"
		                                           : "closed");
		bsv_rows_int(rows, (int64_t)g->n);
		for (enum bsv_figure f = BSV_FIGURE_MISSED; f <= BSV_FIGURE_P99; f++) {
			add_figure(rows, bsv_prediction_recorded(&t->prediction, i, f), f != BSV_FIGURE_MISSED);
			add_figure(rows, bsv_prediction_replayed(&t->prediction, i, f).median, f != BSV_FIGURE_MISSED);
		}
	}
	return rows;
}

/* The replayed figure, the predicted one with its low and high, and the effect. */
static void add_change(struct bsv_rows *rows, const struct replays *t, size_t i, enum bsv_figure f)
{
	struct bsv_spread after = bsv_prediction_interval(&t->prediction, i, f);
	bool whole = f == BSV_FIGURE_P50 || f == BSV_FIGURE_P99;
	uint64_t served;
	char few[64] = "";

	add_figure(rows, bsv_prediction_replayed(&t->prediction, i, f).median, whole);
	add_figure(rows, after.median, whole);
	add_figure(rows, after.low, whole);
	add_figure(rows, after.high, whole);
	if (bsv_prediction_lacks(&t->prediction, i, f)) {
		served = t->prediction.recorded[i].served;
		snprintf(few, sizeof(few), "cannot tell: %" PRIu64 " execution%s", served, served == 1 ? "" : "s");
	} else if (bsv_prediction_is_short(&t->prediction, i, f, &served)) {
		snprintf(few, sizeof(few), "cannot tell: %" PRIu64 " execution%s in a replay", served,
		         served == 1 ? "" : "s");
	}
	bsv_rows_text(rows, *few ? few : bsv_prediction_effect(&t->prediction, i, f));
}

/* Is no call of this group replayed under the change, so that nothing can be predicted of it? */
static bool is_left_out(const struct replays *t, size_t group)
{
	return t->change.groups && t->change.groups[group].without;
}

static bool is_app_left_out(const struct replays *t, size_t app)
{
	bool any = false;

	for (size_t i = 0; i < t->past.n_groups; i++) {
		if (t->past.groups[i].app != app || !t->past.groups[i].n)
			continue;
		if (!is_left_out(t, i))
			return false;
		any = true;
	}
	return any;
}

static struct bsv_rows *misses_rows(const struct replays *t)
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
		if (!t->past.groups[i].n || is_left_out(t, i))
			continue;
		add_names(rows, &t->past.groups[i]);
		bsv_rows_int(rows, (int64_t)t->prediction.draws[1][0][i].n);
		add_change(rows, t, i, BSV_FIGURE_MISSED);
	}
	return rows;
}

static struct bsv_rows *latencies_rows(const struct replays *t)
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
		for (enum bsv_figure f = BSV_FIGURE_P50;
		     f <= BSV_FIGURE_P99 && t->past.groups[i].n && !is_left_out(t, i); f++) {
			add_names(rows, &t->past.groups[i]);
			bsv_rows_text(rows, f == BSV_FIGURE_P50 ? "p50" : "p99");
			add_change(rows, t, i, f);
		}
	return rows;
}

static struct bsv_rows *shares_rows(const struct replays *t)
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
		if (is_app_left_out(t, i))
			continue;
		bsv_rows_text(rows, t->past.apps[i]);
		add_figure(rows, bsv_prediction_recorded(&t->prediction, i, BSV_FIGURE_SHARE), false);
		add_change(rows, t, i, BSV_FIGURE_SHARE);
	}
	return rows;
}

/* Are all apps left out by the change? */
static bool is_all_left_out(const struct replays *t)
{
	for (size_t i = 0; i < t->past.n_groups; i++)
		if (!is_left_out(t, i))
			return false;
	return t->past.n_groups > 0;
}

static void note_cut_runs(struct bsv_answer *a, const struct replays *t)
{
	size_t of, cut = bsv_whatif_cut_runs(&t->change, &t->past, &of);

	if (cut)
		bsv_answer_note(a, "%zu of %zu recorded runs would be shorter than 1 us by --speed: they take 1 us.",
		                cut, of);
}

static void add_notes(struct bsv_answer *a, const struct replays *t)
{
	if (is_all_left_out(t))
		bsv_answer_note(a, "--without leaves no app: there is nothing to predict.");
	bsv_answer_note(
		a,
		"Replayed: the recorded arrivals under the recorded rules, with the service's own policy. The distance "
		"from the recorded figures shows how far to trust the predictions.");
	bsv_answer_note(a,
	                "Low and high enclose the figures of %d replays, each with a block bootstrap over time. In a "
	                "replay, runs are drawn from those near in time, each model is up to 15 %% slower or faster, "
	                "and threads wait for a cpu from not at all to three times as long. The error of the replay "
	                "moves low and high further apart. So does a small number of deadlines: if none of 80 was "
	                "missed, high is at least 3.7 %%. Latencies cover served executions only.",
	                BSV_DRAWS);
	bsv_notes_machine(a, &t->past);
	bsv_answer_note(
		a,
		"Effect: the range from low to high is compared with that of the recorded figure (by a block bootstrap "
		"over time). less or more: the whole range is below it, or above it. same: the figure changes in no "
		"replay. Otherwise the replay cannot tell. A p50 is predicted if %d executions were served in the "
		"recording, a p99 if %d were, and at least half as many in each replay.",
		BSV_P50_LEAST, BSV_P99_LEAST);
	bsv_answer_note(
		a,
		"Assumed: runs are as long as recorded. The time between checkpoints is the longest step of the model, "
		"measured when the model was prepared. A preempted execution whose work is saved releases its lane "
		"sooner: within twice the usual time to release it; where that was not recorded, when the driver asks "
		"next, as a trial run measured it; and otherwise within 1 ms.");
	if (t->past.n_unknown_runs)
		bsv_answer_note(a, "%zu %s not run to the end: their length is taken from others of the same model.",
		                t->past.n_unknown_runs,
		                t->past.n_unknown_runs == 1 ? "execution did" : "executions did");
	if (t->past.n_starved)
		bsv_answer_note(
			a,
			"%zu %s for an answer for most of the recording; how soon the next submission would have "
			"followed an earlier answer is hardly known. In most replays, of which the predictions are, it "
			"follows at once; in the others the thread submits nothing more.",
			t->past.n_starved, t->past.n_starved == 1 ? "thread waited" : "threads waited");
	if (t->change.rules.lanes != t->past.rules.lanes)
		bsv_answer_note(a, "Predictions for another number of lanes are much less certain than others: "
		                   "parallel executions "
		                   "slow each other down.");
}

/*
 * The command that shows what the advice does to each app and model. @operand: INPUT as it was typed; NULL if none
 * was typed.
 */
static void note_next(struct bsv_answer *a, const struct bsv_advices *advices, const char *operand)
{
	const char *option = advices->n ? advices->all[0].option : "", *value = strchr(option, ' ');
	char *command = NULL;
	size_t bytes;
	FILE *to = value ? open_memstream(&command, &bytes) : NULL;

	if (!to)
		return;
	fprintf(to, "%.*s ", (int)(value - option), option);
	print_shell_word(to, value + 1);
	if (operand) {
		fputc(' ', to);
		print_shell_word(to, operand);
	}
	if (!fclose(to))
		bsv_answer_note(a, "next: burstscope whatif %s", command);
	free(command);
}

/* An empty part is for programs only. */
static void add_part(struct bsv_answer *a, const struct replays *t, const char *name, const char *title,
                     struct bsv_rows *rows)
{
	bsv_answer_rows(a, name, title, rows);
	if (t->cannot)
		bsv_answer_hide(a, name);
}

static int print_answer(struct bsv_answer *a, const struct replays *t, const struct options *o,
                        const struct bsv_input *input, const char *operand, struct bsa_err *err)
{
	const struct bsv_verdict unsure = {
		.name = "replay", .figure = NAN, .bound = NAN, .outcome = BSV_CANNOT_TELL, .why = t->cannot
	};
	struct bsv_rows *undecided = NULL;
	bsv_scoped_text *replayed = replayed_text(o);
	int r;

	if (!replayed)
		return bsv_no_memory(err);
	bsv_answer_replayed(a, replayed);
	r = bsv_missed_undecided_rows(&undecided, input, err);
	if (r < 0)
		return r;
	if (o->search)
		bsv_alternatives_add_search(&t->alternatives, a, t->cannot != NULL);
	else if (o->advise)
		bsv_alternatives_add_advice(&t->alternatives, a, t->cannot != NULL);
	else {
		add_part(a, t, "replay", "recorded figures, and their replay", reproduced_rows(t));
		add_part(a, t, "misses", "missed deadlines, replayed and predicted", misses_rows(t));
		add_part(a, t, "latency", "latency from submission to answer, replayed and predicted",
		         latencies_rows(t));
		add_part(a, t, "shares", "shares of the time on lanes, replayed and predicted", shares_rows(t));
	}
	if (t->cannot)
		bsv_answer_verdict(a, &unsure);
	else if (!o->search && !o->advise)
		add_notes(a, t);
	if (!t->cannot)
		note_cut_runs(a, t);
	if (undecided) {
		/* How many of the recorded misses no replay without their cause decides, and why. */
		bsv_scoped_text *why = bsv_missed_undecided_whole(undecided, input);

		if (why)
			bsv_answer_note(a, "%s", why);
		bsv_answer_rows(a, "undecided", "undecided misses by reason", undecided);
		bsv_answer_hide(a, "undecided");
	}
	if (!t->cannot && o->search)
		bsv_answer_note(a, "next: burstscope whatif with the options of a row, to see each app and model");
	else if (!t->cannot && !o->advise && *replayed && !is_all_left_out(t))
		bsv_answer_note(a, "next: record with the change, and compare: burstscope diff BEFORE AFTER");
	note_next(a, &t->alternatives.advices, operand);
	return bsv_answer_print(a, t->cannot != NULL, err);
}

static int whatif_run(const struct bsv_call *call, struct bsa_err *err)
{
	bsv_scoped_input input = { 0 };
	bsv_scoped_answer *a = NULL;
	const char *operand = call->n_operands ? call->operands[0] : NULL;
	struct replays t = { 0 };
	const struct options *o = call->options;
	const char *which = o->search ? "search" : "advise";
	const struct bsv_name_in_words said = { .policy = o->policy,
		                                .preempt = o->preempt,
		                                .deadlines = o->deadlines,
		                                .lanes = o->lanes,
		                                .step_ns = o->step.given ? (uint64_t)o->step.value : 0,
		                                .priority = lists_of(&o->priority),
		                                .deadline = lists_of(&o->deadline),
		                                .speed = lists_of(&o->speed),
		                                .rate = lists_of(&o->rate),
		                                .without = lists_of(&o->without),
		                                .submit = lists_of(&o->submit) };
	bool rules = o->policy || o->preempt || o->deadlines || o->lanes;
	bool changes = o->priority.n || o->deadline.n || o->speed.n || o->rate.n || o->without.n || o->submit.n ||
	               o->step.given;
	int r;

	/* --search and --advise choose rules themselves, and --advise makes a single change. */
	if (o->search && o->advise)
		return bsa_fail(err, BSA_E_USAGE, "--search and --advise exclude each other: leave one out");
	if (o->lanes_up_to && !o->search && !o->advise)
		return bsa_fail(err, BSA_E_USAGE, "--lanes-up-to needs --search or --advise");
	if ((o->search || o->advise) && rules)
		return bsa_fail(
			err, BSA_E_USAGE,
			"--%s tries policies, preemption, deadline modes and lanes itself: leave these options out",
			which);
	if (o->advise && changes)
		return bsa_fail(err, BSA_E_USAGE, "--advise tries single changes: leave other changes out");

	r = bsv_whatif_check(&said, err);
	if (r >= 0)
		r = bsv_input_open(&input, operand, call, err);
	if (r >= 0)
		r = replays_read(&t, o, &said, call->common.quiet, &input, err);
	if (r >= 0) {
		a = bsv_answer_new(call, &input);
		r = print_answer(a, &t, o, &input, call->known_as ? call->known_as : operand, err);
	}
	bsv_prediction_fini(&t.prediction);
	bsv_alternatives_fini(&t.alternatives);
	bsv_whatif_fini(&t.change);
	bsv_past_fini(&t.past);
	return r;
}

const struct bsv_command bsv_whatif = {
	.name = "whatif",
	.operands = "[INPUT]",
	.says = "replay the recorded arrivals under other rules",
	.examples = "  burstscope whatif --policy edf\n"
		    "  burstscope whatif --without noisy --preempt save recording.db\n"
		    "  burstscope whatif --speed mobilenet-640=2x --deadline camera=20ms --format json\n"
		    "  burstscope whatif --search --lanes-up-to 2\n"
		    "  burstscope whatif --advise recording.db\n",
	.more = "Parts: replay, misses, latency, shares; with --search front, sureness, alternatives; with --advise "
		"advice; "
		"with all of them undecided. Several changes can be combined; without a change, the output shows how "
		"well the "
		"replay reproduces the recording. If the recording is not sufficient (events were lost, the "
		"service was not recorded, its policy was native), the verdict is: cannot tell, and the exit status "
		"is 3. Any other answer ends with 0, whatever is predicted.\n",
	.options = options,
	.options_size = sizeof(struct options),
	.min = 0,
	.max = 1,
	.parts = (const char *const[]){ "replay", "misses", "latency", "shares", "front", "sureness", "alternatives",
	                                "advice", "undecided", NULL },
	.asks = BSV_ASK_FORMAT | BSV_ASK_LIMIT,
	.whole = true,
	.refuses = true,
	.run = whatif_run,
};
