/*
 * explained_ledger.c -- why one execution missed its deadline: rows that sum to the lateness,
 * exactly, and what they come to.
 */
#include <inttypes.h>

#include "base/causes.h"
#include "base/letters.h"
#include "base/numbers.h"
#include "render/explained_own.h"

enum { MOST_SAVING = 6, NAME_MOST = 80 };

/* ---- the ledgers ---- */

static void cell_exact(struct bsv_bars *b, int64_t v)
{
	char text[BSV_AMOUNT_TEXT];

	bsv_bars_cell(b, bsv_known(v) ? bsv_exact(text, v) : "-");
}

static const char *remark_on(const struct bsv_explained_cause *c)
{
	if (c->primary)
		return c->saved == 1 ? "primary, saves" : "primary";
	if (bsv_known(c->late) && c->late < 0)
		return bsv_is(c->cause, "too_tight") ? "to spare"
		       : bsv_is(c->cause, "unused")  ? "not used"
		                                     : "less than usual";
	return c->saved == 1 ? "saves" : "";
}

struct sums {
	int64_t late, budget, most;
	size_t n;
};

static void add_sum(const struct bsv_drawing *d, const char *what, int64_t late, int64_t budget)
{
	bsv_bars_row(d->bars, BSV_PLAIN);
	bsv_bars_cell(d->bars, what);
	cell_exact(d->bars, late);
	if (d->x->verbose)
		cell_exact(d->bars, budget);
}

static int draw_ledger(const struct bsv_explained *x, FILE *to, const struct bsv_screen *screen, struct bsa_err *err)
{
	static const struct bsv_bars_column brief[] = { { "cause", false, 0, 0 },
		                                        { "late ns", true, 0, 0 },
		                                        { "", false, 1, 0 },
		                                        { "culprit", false, 2, 8 },
		                                        { NULL, 0, 0, 0 } };
	static const struct bsv_bars_column both[] = { { "cause", false, 0, 0 },    { "late ns", true, 0, 0 },
		                                       { "budget ns", true, 0, 0 }, { "", false, 1, 0 },
		                                       { "culprit", false, 2, 8 },  { NULL, 0, 0, 0 } };
	struct sums all = { 0, 0, 1, x->n_causes }, rest = { 0, 0, 1, 0 };
	struct bsv_drawing d = { .x = x, .screen = screen, .to = to };
	char text[64];
	size_t n = 0;
	int r;

	for (size_t i = 0; i < x->n_causes; i++) {
		all.late = bsv_plus(all.late, x->causes[i].late);
		all.budget = bsv_plus(all.budget, x->causes[i].budget);
		if (bsv_known(x->causes[i].late) && x->causes[i].late > all.most)
			all.most = x->causes[i].late;
	}
	d.bars = bsv_bars_new(0, all.most);
	bsv_bars_text(d.bars, "");
	bsv_bars_text(d.bars, "why it was late:");
	bsv_bars_section(d.bars, NULL, x->verbose ? both : brief);
	for (size_t i = 0; i < x->n_causes; i++) {
		const struct bsv_explained_cause *c = &x->causes[i];
		char who[BSV_TEXT_MOST];

		/* A row without lateness is in the budget's ledger only. */
		if (!x->verbose && !c->late && !c->primary)
			continue;
		if (n++ >= BSV_ROWS_MOST) {
			rest.late = bsv_plus(rest.late, c->late);
			rest.budget = bsv_plus(rest.budget, c->budget);
			rest.n++;
			continue;
		}
		bsv_who_numbered(who, &c->culprit); /* an execution, or just an app */
		bsv_bars_row(d.bars, c->primary ? BSV_BAD : BSV_HUE);
		bsv_bars_cell(d.bars, c->cause);
		cell_exact(d.bars, c->late);
		if (x->verbose)
			cell_exact(d.bars, c->budget);
		bsv_bars_cell(d.bars, remark_on(c));
		bsv_bars_cell(d.bars, who);
		if (bsv_known(c->late) && c->late > 0)
			bsv_bars_stretch(d.bars, 0, c->late);
	}
	snprintf(text, sizeof(text), "and %zu more", rest.n);
	if (rest.n)
		add_sum(&d, text, rest.late, rest.budget);
	add_sum(&d, "sum", all.late, all.budget);
	r = bsv_bars_print(d.bars, to, screen, err);
	bsv_bars_free(d.bars);
	if (r >= 0 && bsv_known(x->lateness) && all.late != x->lateness)
		bsv_explained_print(&d, BSV_UNSURE_PAINT,
		                    "the sum is not its lateness, %" PRId64 " ns: the database is not right",
		                    x->lateness);
	return r;
}

/* "hogged by 17: mobilenet of noisy, low" */
static void cause_text(char to[2 * BSV_TEXT_MOST], const struct bsv_explained_cause *c)
{
	char who[BSV_TEXT_MOST];

	bsv_who_numbered(who, &c->culprit);
	snprintf(to, 2 * BSV_TEXT_MOST, "%.40s%s%s", c->cause, *who ? " by " : "", who);
}

/* Does the row show what would have to be different? */
static bool cause_saves(const struct bsv_explained_cause *c)
{
	return c->saved == 1;
}

/* Is it that the execution had too little time? */
static bool is_of_budget(const char *cause)
{
	return bsv_is(cause, "submitted_late") || bsv_is(cause, "too_tight") || bsv_is(cause, "too_big");
}

static void draw_saved(const struct bsv_drawing *d)
{
	const struct bsv_explained *x = d->x;
	char text[2 * BSV_TEXT_MOST];
	size_t n = 0, unknown = 0;
	bool unrecorded = false, short_of_time = false, other_may_save = false, overbooked = false;

	for (size_t i = 0; i < x->n_causes; i++) {
		const struct bsv_explained_cause *c = &x->causes[i];
		bool budget = is_of_budget(c->cause);

		n += cause_saves(c);
		unknown += !bsv_known(c->saved);
		unrecorded |= bsv_is(c->cause, "unknown") && c->late > 0;
		short_of_time = c->primary ? budget : short_of_time;
		overbooked |= c->primary && bsv_is(c->cause, "overbooked");
		other_may_save |= !budget && !bsv_known(c->saved);
	}
	if (!n) {
		bsv_explained_print(d, BSV_PLAIN, "what would have saved it: %s",
		                    unrecorded   ? "cannot tell: what was recorded does not show all of its causes"
		                    : overbooked ? "by the service's estimates, less work queued both by its own app "
		                                   "and by others"
		                    : short_of_time && !other_may_save
		                            ? "only more time, because at best it takes longer than it had"
		                    : unknown ? "cannot tell: for some of these causes, the recording lacks what a "
		                                "replay without them needs"
		                              : "no single cause would have");
		return;
	}
	bsv_explained_print(d, BSV_PLAIN, "what would have saved it: %s",
	                    n == 1 ? "without this it would have been in time"
	                           : "without any one of these it would have been in time");
	for (size_t i = 0, left = MOST_SAVING; i < x->n_causes && left; i++)
		if (cause_saves(&x->causes[i])) {
			cause_text(text, &x->causes[i]);
			bsv_explained_print(d, BSV_GOOD, "  %s", text);
			left--;
		}
	if (n > MOST_SAVING)
		bsv_explained_print(d, BSV_PLAIN, "  and %zu more", n - MOST_SAVING);
}

/* Draw the results of replays, without lines for unknown ones. */
static void draw_without(const struct bsv_drawing *d)
{
	char text[2 * BSV_TEXT_MOST];

	for (size_t i = 0, left = MOST_SAVING; i < d->x->n_without && left; i++) {
		const struct bsv_explained_without *w = &d->x->without[i];
		const char *app = w->app ? w->app : "?";
		char by[BSV_DURATION_TEXT];
		int64_t step = 1;

		if (!bsv_known(w->met))
			continue;

		/* A time of four digits that the replay speaks for: if it met, no shorter; if it missed, no longer. */
		while (bsv_known(w->earlier) && w->earlier / step >= 10000)
			step *= 10;
		if (bsv_known(w->earlier))
			snprintf(text, 2 * BSV_TEXT_MOST, "submitted %s earlier",
			         bsv_duration(by, (w->earlier + (w->met ? step - 1 : 0)) / step * step));
		else if (w->cause)
			snprintf(text, 2 * BSV_TEXT_MOST, "without all that %.40s took", w->cause);
		else if (w->model)
			snprintf(text, 2 * BSV_TEXT_MOST, "without %.*s of %.*s", bsv_cut(w->model, NAME_MOST),
			         w->model, bsv_cut(app, NAME_MOST), app);
		else
			snprintf(text, 2 * BSV_TEXT_MOST, "without %.*s altogether", bsv_cut(app, NAME_MOST), app);
		bsv_explained_print(d, w->met ? BSV_GOOD : BSV_PLAIN, "  %s: %s", text,
		                    w->met ? "met" : "missed all the same");
		left--;
	}
}

static void draw_late_start(const struct bsv_drawing *d)
{
	char had[BSV_DURATION_TEXT], usual[BSV_DURATION_TEXT];
	char waited[BSV_DURATION_TEXT], gap[BSV_DURATION_TEXT], lead[BSV_DURATION_TEXT];
	const struct bsv_explained *x = d->x;
	int64_t budget = bsv_minus(x->deadline, x->submitted);
	char taken[BSV_TAKEN_TEXT];

	/* How much time there was, next to what others have; where the service alone was recorded, when it took it. */
	if (bsv_is(x->sides, "service") && bsv_known(budget)) {
		bsv_explained_taken(taken, x);
		if (budget > 0 && bsv_known(x->usual_budget))
			bsv_explained_print(d, BSV_PLAIN, "  %s; others of this model had %s", taken,
			                    bsv_duration(usual, x->usual_budget));
		else
			bsv_explained_print(d, BSV_PLAIN, "  %s", taken);
		bsv_explained_print(d, BSV_PLAIN, "  when it was submitted is unknown");
		return;
	}
	if (bsv_known(budget) && budget <= 0)
		bsv_explained_print(d, BSV_PLAIN, "  its deadline had passed %s before it was submitted",
		                    bsv_duration(had, -budget));
	else if (bsv_known(budget) && bsv_known(x->usual_budget))
		bsv_explained_print(d, BSV_PLAIN, "  submitted %s before its deadline; others of this model had %s",
		                    bsv_duration(had, budget), bsv_duration(usual, x->usual_budget));

	/* Whether its thread was late because it waited for a cpu. */
	if (!bsv_known(x->submit_delay) || !bsv_known(x->submit_gap))
		return;
	bsv_explained_print(d, BSV_PLAIN, "  its thread waited for a cpu for %s of the %s since its call before",
	                    bsv_duration(waited, x->submit_delay), bsv_duration(gap, x->submit_gap));
	if (bsv_known(x->lead_met) && bsv_known(x->lead))
		bsv_explained_print(d, x->lead_met ? BSV_GOOD : BSV_PLAIN, "  submitted %s earlier, without that: %s",
		                    bsv_duration(lead, x->lead), x->lead_met ? "met" : "missed all the same");
	else if (bsv_known(x->lead_met))
		bsv_explained_print(d, BSV_PLAIN, "  without that it would have been submitted too late, too");
}

int bsv_explained_ledger(const struct bsv_explained *x, FILE *to, const struct bsv_screen *screen, struct bsa_err *err)
{
	struct bsv_drawing d = { .x = x, .screen = screen, .to = to };
	char text[2 * BSV_TEXT_MOST];
	int r = draw_ledger(x, to, screen, err);
	bool served = bsv_is(x->sides, "service");

	if (r < 0)
		return r;
	fputc('\n', to);
	for (size_t i = 0; i < x->n_causes; i++)
		if (x->causes[i].primary) {
			cause_text(text, &x->causes[i]);
			bsv_explained_print(&d, BSV_BAD, "primary cause: %s", text);
			bsv_explained_print(&d, BSV_PLAIN, "  %s",
			                    served && bsv_is(x->causes[i].cause, "too_tight")
			                            ? "less time was left to its deadline when the service took it "
			                              "than it usually takes"
			                            : bsv_cause_text(x->causes[i].cause));
			if (bsv_is(x->causes[i].cause, "submitted_late") ||
			    (served && (is_of_budget(x->causes[i].cause) || bsv_is(x->causes[i].cause, "unknown"))))
				draw_late_start(&d);
			if (bsv_explained_unrun(x))
				bsv_explained_print(&d, BSV_PLAIN,
				                    "  that run was on no cpu for %.0f %% of that time or more%s",
				                    100. * (double)x->off / (double)x->held,
				                    bsv_explained_slept(x) ? ", and mostly had not asked for one" : "");
			break;
		}
	draw_saved(&d);
	draw_without(&d);
	if (x->advice) {
		bsv_explained_print(&d, BSV_PLAIN,
		                    x->advised_by_finding ? "advice (with reasons in burstscope summary):" : "advice:");
		bsv_explained_print(&d, BSV_PLAIN, "  %s", x->advice);
	}
	if (x->replayable)
		bsv_explained_print(&d, BSV_PLAIN,
		                    "changes that may meet more deadlines: burstscope whatif --advise %s", x->input);
	return r;
}
