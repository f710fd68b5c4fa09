/* explained_ledger.c -- why one execution missed its deadline: rows that sum to the lateness, exactly, and what they come to. */
#include <inttypes.h>

#include "base/causes.h"
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

static struct sums add_up(const struct bsv_explained_cause *causes, size_t n)
{
	struct sums s = { 0, 0, 1, n };

	for (size_t i = 0; i < n; i++) {
		s.late = bsv_plus(s.late, causes[i].late);
		s.budget = bsv_plus(s.budget, causes[i].budget);
		if (bsv_known(causes[i].late) && causes[i].late > s.most)
			s.most = causes[i].late;
	}
	return s;
}

static void add_sum(const struct bsv_drawing *d, const char *what, int64_t late, int64_t budget)
{
	bsv_bars_row(d->bars, BSV_PLAIN);
	bsv_bars_cell(d->bars, what);
	cell_exact(d->bars, late);
	if (d->x->verbose)
		cell_exact(d->bars, budget);
}

/* Whether the row is in this ledger: a row without lateness is in the budget's ledger only. */
static bool in_ledger(const struct bsv_drawing *d, const struct bsv_explained_cause *c)
{
	return d->x->verbose || c->late || c->primary;
}

static void add_ledger(const struct bsv_drawing *d, const struct sums *all)
{
	const struct bsv_explained *x = d->x;
	struct sums rest = { 0, 0, 1, 0 };
	char text[64];
	size_t n = 0;

	for (size_t i = 0; i < x->n_causes; i++) {
		const struct bsv_explained_cause *c = &x->causes[i];

		if (!in_ledger(d, c))
			continue;
		if (n++ < BSV_ROWS_MOST) {
			char who[BSV_TEXT_MOST];

			bsv_who_numbered(who, &c->culprit); /* an execution, or just an app */
			bsv_bars_row(d->bars, c->primary ? BSV_BAD : BSV_HUE);
			bsv_bars_cell(d->bars, c->cause);
			cell_exact(d->bars, c->late);
			if (d->x->verbose)
				cell_exact(d->bars, c->budget);
			bsv_bars_cell(d->bars, remark_on(c));
			bsv_bars_cell(d->bars, who);
			if (bsv_known(c->late) && c->late > 0)
				bsv_bars_stretch(d->bars, 0, c->late);
			continue;
		}
		rest.late = bsv_plus(rest.late, c->late);
		rest.budget = bsv_plus(rest.budget, c->budget);
		rest.n++;
	}
	snprintf(text, sizeof(text), "and %zu more", rest.n);
	if (rest.n)
		add_sum(d, text, rest.late, rest.budget);
	add_sum(d, "sum", all->late, all->budget);
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
	struct sums all = add_up(x->causes, x->n_causes);
	struct bsv_drawing d = { .x = x, .screen = screen, .to = to };
	int r;

	d.bars = bsv_bars_new(0, all.most);
	bsv_bars_text(d.bars, "");
	bsv_bars_text(d.bars, "why it was late:");
	bsv_bars_section(d.bars, NULL, x->verbose ? both : brief);
	add_ledger(&d, &all);
	r = bsv_bars_print(d.bars, to, screen, err);
	bsv_bars_free(d.bars);
	if (r >= 0 && bsv_known(x->lateness) && all.late != x->lateness)
		bsv_explained_say(&d, BSV_UNSURE_PAINT,
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

/* Does it say what would have to be different? */
static bool cause_saves(const struct bsv_explained_cause *c)
{
	return c->saved == 1;
}

/* Only more time would have been enough. */
static bool is_short_of_time(const struct bsv_explained *x)
{
	bool ret = false;

	for (size_t i = 0; i < x->n_causes; i++) {
		const char *cause = x->causes[i].cause;
		bool budget = bsv_is(cause, "submitted_late") || bsv_is(cause, "too_tight") || bsv_is(cause, "too_big");

		if (x->causes[i].primary)
			ret = budget;
		if (!budget && !bsv_known(x->causes[i].saved))
			return false;
	}
	return ret;
}

static const char *what_saves(const struct bsv_explained *x, size_t unknown)
{
	for (size_t i = 0; i < x->n_causes; i++)
		if (bsv_is(x->causes[i].cause, "unknown") && x->causes[i].late > 0)
			return "cannot tell, because not all of it was recorded";
	if (is_short_of_time(x))
		return "only more time, because at best it takes longer than it had";
	if (unknown)
		return "cannot tell: the recording does not say enough for a replay without each of them";
	return "no single cause would have";
}

static void draw_saved(const struct bsv_drawing *d)
{
	const struct bsv_explained *x = d->x;
	char text[2 * BSV_TEXT_MOST];
	size_t n = 0, unknown = 0;

	for (size_t i = 0; i < x->n_causes; i++) {
		n += cause_saves(&x->causes[i]);
		unknown += !bsv_known(x->causes[i].saved);
	}
	if (!n) {
		bsv_explained_say(d, BSV_PLAIN, "what would have saved it: %s", what_saves(x, unknown));
		return;
	}
	bsv_explained_say(d, BSV_PLAIN, "what would have saved it: %s",
	                  n == 1 ? "without this it would have been in time"
	                         : "without any one of these it would have been in time");
	for (size_t i = 0, left = MOST_SAVING; i < x->n_causes && left; i++)
		if (cause_saves(&x->causes[i])) {
			cause_text(text, &x->causes[i]);
			bsv_explained_say(d, BSV_GOOD, "  %s", text);
			left--;
		}
	if (n > MOST_SAVING)
		bsv_explained_say(d, BSV_PLAIN, "  and %zu more", n - MOST_SAVING);
}

/* A time of four digits that is no shorter: less would not be what was replayed. */
static int64_t no_shorter(int64_t ns)
{
	int64_t step = 1;

	while (ns / step >= 10000)
		step *= 10;
	return (ns + step - 1) / step * step;
}

/* Draw the results of replays, without lines for unknown ones. */
static void draw_without(const struct bsv_drawing *d)
{
	char text[2 * BSV_TEXT_MOST];

	for (size_t i = 0, left = MOST_SAVING; i < d->x->n_without && left; i++) {
		const struct bsv_explained_without *w = &d->x->without[i];
		const char *app = w->app ? w->app : "?";
		char by[BSV_DURATION_TEXT];

		if (!bsv_known(w->met))
			continue;
		if (bsv_known(w->earlier))
			snprintf(text, 2 * BSV_TEXT_MOST, "submitted %s earlier",
			         bsv_duration(by, no_shorter(w->earlier)));
		else if (w->cause)
			snprintf(text, 2 * BSV_TEXT_MOST, "without all that %.40s took", w->cause);
		else if (w->model)
			snprintf(text, 2 * BSV_TEXT_MOST, "without %.*s of %.*s", bsv_cut(w->model, NAME_MOST),
			         w->model, bsv_cut(app, NAME_MOST), app);
		else
			snprintf(text, 2 * BSV_TEXT_MOST, "without %.*s altogether", bsv_cut(app, NAME_MOST), app);
		bsv_explained_say(d, w->met ? BSV_GOOD : BSV_PLAIN, "  %s: %s", text,
		                  w->met ? "met" : "missed all the same");
		left--;
	}
}

/* How much time there was, next to what others have. */
static void draw_budget(const struct bsv_drawing *d)
{
	char had[BSV_DURATION_TEXT], usual[BSV_DURATION_TEXT];
	const struct bsv_explained *x = d->x;
	int64_t budget;

	if (!bsv_known(x->deadline) || !bsv_known(x->submitted))
		return;
	budget = bsv_minus(x->deadline, x->submitted);
	if (!bsv_known(budget))
		return;
	if (budget <= 0)
		bsv_explained_say(d, BSV_PLAIN, "  its deadline had passed %s before it was submitted",
		                  bsv_duration(had, -budget));
	else if (bsv_known(x->usual_budget))
		bsv_explained_say(d, BSV_PLAIN, "  submitted %s before its deadline; others of this model had %s",
		                  bsv_duration(had, budget), bsv_duration(usual, x->usual_budget));
}

/* Whether its thread was late because it waited for a cpu. */
static void draw_thread(const struct bsv_drawing *d)
{
	char waited[BSV_DURATION_TEXT], gap[BSV_DURATION_TEXT], lead[BSV_DURATION_TEXT];
	const struct bsv_explained *x = d->x;

	if (!bsv_known(x->submit_delay) || !bsv_known(x->submit_gap))
		return;
	bsv_explained_say(d, BSV_PLAIN, "  its thread waited for a cpu for %s of the %s since its call before",
	                  bsv_duration(waited, x->submit_delay), bsv_duration(gap, x->submit_gap));
	if (!bsv_known(x->lead_met))
		return;
	if (bsv_known(x->lead))
		bsv_explained_say(d, x->lead_met ? BSV_GOOD : BSV_PLAIN, "  submitted %s earlier, without that: %s",
		                  bsv_duration(lead, x->lead), x->lead_met ? "met" : "missed all the same");
	else
		bsv_explained_say(d, BSV_PLAIN, "  without that it would have been submitted too late, too");
}

static void draw_late_start(const struct bsv_drawing *d)
{
	draw_budget(d);
	draw_thread(d);
}

static void draw_why(const struct bsv_drawing *d)
{
	const struct bsv_explained *x = d->x;
	char text[2 * BSV_TEXT_MOST];

	fputc('\n', d->to);
	for (size_t i = 0; i < x->n_causes; i++)
		if (x->causes[i].primary) {
			cause_text(text, &x->causes[i]);
			bsv_explained_say(d, BSV_BAD, "primary cause: %s", text);
			bsv_explained_say(d, BSV_PLAIN, "  %s", bsv_cause_says(x->causes[i].cause));
			if (bsv_is(x->causes[i].cause, "submitted_late"))
				draw_late_start(d);
			break;
		}
	draw_saved(d);
	draw_without(d);
	if (x->advice) {
		bsv_explained_say(d, BSV_PLAIN,
		                  x->advised_by_finding ? "what may help (burstscope summary says why):"
		                                        : "what may help:");
		bsv_explained_say(d, BSV_PLAIN, "  %s", x->advice);
	}
}

int bsv_explained_ledger(const struct bsv_explained *x, FILE *to, const struct bsv_screen *screen, struct bsa_err *err)
{
	struct bsv_drawing d = { .x = x, .screen = screen, .to = to };
	int r = draw_ledger(x, to, screen, err);

	if (r >= 0)
		draw_why(&d);
	return r;
}
