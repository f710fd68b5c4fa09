/*
 * explained_bars.c -- one execution to scale: its phases, the lanes it was on, its waits, and who
 * it was taken off its lane for.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "base/numbers.h"
#include "base/scoped.h"
#include "render/explained_own.h"

enum { MOST_LANES = 16 };

/* ---- phases ---- */

static void cell_amount(const struct bsv_drawing *d, int64_t v, bool plus)
{
	char text[BSV_AMOUNT_TEXT];

	bsv_bars_cell(d->bars, bsv_known(v) ? bsv_amount(text, v, &d->unit, plus) : "-");
}

static void cell_share(const struct bsv_drawing *d, int64_t part)
{
	char text[32] = "-";

	if (bsv_known(part) && bsv_known(d->x->e2e) && d->x->e2e > 0)
		snprintf(text, sizeof(text), "%.1f%%", 100.0 * (double)part / (double)d->x->e2e);
	bsv_bars_cell(d->bars, text);
}

static void add_stretch(const struct bsv_drawing *d, int64_t began, int64_t dur)
{
	int64_t ended = bsv_plus(began, dur);

	if (bsv_known(ended))
		bsv_bars_stretch(d->bars, began, ended);
}

/* Where the phase was: in several places, if it was on a lane more than once. */
static void phase_stretches(const struct bsv_drawing *d, const struct bsv_explained_phase *p)
{
	const struct bsv_explained *x = d->x;

	if (bsv_is(p->phase, "run") && x->n_stretches) {
		for (size_t i = 0; i < x->n_stretches; i++)
			bsv_bars_stretch(d->bars, x->stretches[i].began, x->stretches[i].ended);
		return;
	}
	if (bsv_is(p->phase, "preempted")) {
		for (size_t i = 0; i < x->n_waits; i++)
			if (bsv_is(x->waits[i].kind, "preempted"))
				add_stretch(d, x->waits[i].began, x->waits[i].dur);
		return;
	}
	add_stretch(d, p->began, p->dur);
}

/* Is of all phases but the run not known what is typical, because too few executions found a free lane? */
static bool is_run_alone(const struct bsv_explained *x)
{
	if (!bsv_known(x->typical_runs))
		return false;
	for (size_t i = 0; i < x->n_phases; i++)
		if (!bsv_is(x->phases[i].phase, "run") && bsv_known(x->phases[i].typical))
			return false;
	return true;
}

/* Are the typical durations of a lesser kind, which a note explains? */
static bool is_starred(const struct bsv_explained *x)
{
	return x->typical_estimated == 1 || is_run_alone(x);
}

/* Print the typical durations in words. */
static void add_typical(const struct bsv_drawing *d)
{
	const struct bsv_explained *x = d->x;
	char text[BSV_TEXT_MOST], amount[BSV_AMOUNT_TEXT];

	if (!bsv_known(x->typical_n))
		snprintf(text, sizeof(text), "what is typical of this model is unknown");
	else if (x->typical_estimated == 1)
		snprintf(text, sizeof(text),
		         "* no whole run of this model and path was recorded: typical is the run that the service "
		         "estimated, and 0 for the other phases");
	else if (is_run_alone(x) && !x->typical_n)
		snprintf(text, sizeof(text),
		         "* no warm execution of this model and path found a free lane: typical is, for the run, the "
		         "median of all %" PRId64 " that ran, and 0 for the other phases",
		         x->typical_runs);
	else if (is_run_alone(x))
		snprintf(text, sizeof(text),
		         "* only %" PRId64 " warm %s of this model and path found a free lane: typical is, for the "
		         "run, the median of all %" PRId64 " that ran, and 0 for the other phases",
		         x->typical_n, bsv_plural((uint64_t)x->typical_n, "execution", "executions"), x->typical_runs);
	else
		snprintf(text, sizeof(text),
		         "typical: the median of %" PRId64 " of this model and path, warm and with a free lane",
		         x->typical_n);
	bsv_bars_text(d->bars, text);
	if (bsv_known(x->redo) && x->redo > 0) {
		bsv_amount(amount, x->redo, &d->unit, false);
		snprintf(text, sizeof(text), "of its run, %s %s was work done again", amount, d->unit.name);
		bsv_bars_text(d->bars, text);
	}
}

static void add_phases(struct bsv_drawing *d, int64_t from, int64_t to)
{
	const struct bsv_explained *x = d->x;
	int64_t typical = 0;
	char n[32];

	snprintf(d->at, sizeof(d->at), "at %s", d->unit.name);
	snprintf(d->took, sizeof(d->took), "took %s", d->unit.name);
	snprintf(d->typical, sizeof(d->typical), "typical%s", is_starred(x) ? "*" : "");
	snprintf(d->beyond, sizeof(d->beyond), "beyond%s", is_starred(x) ? "*" : "");
	memcpy(d->phases,
	       (struct bsv_bars_column[]){ { "phase", false, 0, 0 },
	                                   { d->at, true, 4, 0 },
	                                   { d->took, true, 0, 0 },
	                                   { "share", true, 3, 0 },
	                                   { d->typical, true, 2, 0 },
	                                   { d->beyond, true, 1, 0 },
	                                   { NULL, 0, 0, 0 } },
	       sizeof(d->phases));
	bsv_bars_section(d->bars, NULL, d->phases);
	for (size_t i = 0; i < x->n_phases; i++) {
		const struct bsv_explained_phase *p = &x->phases[i];
		bool waits = bsv_is(p->phase, "queue") || bsv_is(p->phase, "preempted");

		bsv_bars_row(d->bars, bsv_is(p->phase, "run") ? BSV_GOOD : waits ? BSV_BAD : BSV_HUE);
		bsv_bars_cell(d->bars, p->phase);
		cell_amount(d, bsv_minus(p->began, x->began), false);
		cell_amount(d, p->dur, false);
		cell_share(d, p->dur);
		cell_amount(d, p->typical, false);
		cell_amount(d, bsv_minus(p->dur, p->typical), true);
		phase_stretches(d, p);
		typical = bsv_plus(typical, p->typical);
	}

	/* Below the bars: where it was taken off its lane, the sum, and where the deadline was. */
	if (x->n_preemptions) {
		snprintf(n, sizeof(n), "stopped %zux", x->n_preemptions);
		bsv_bars_row(d->bars, BSV_BAD);
		bsv_bars_cell(d->bars, n);
	}
	for (size_t i = 0; i < x->n_preemptions; i++)
		if (bsv_known(x->preemptions[i].stopped))
			bsv_bars_mark(d->bars, x->preemptions[i].stopped, "^");

	bsv_bars_row(d->bars, BSV_FAINT);
	bsv_bars_cell(d->bars, "end to end");
	cell_amount(d, 0, false);
	cell_amount(d, x->e2e, false);
	cell_share(d, x->e2e);
	cell_amount(d, typical, false);
	cell_amount(d, bsv_minus(x->e2e, typical), true);

	if (!bsv_known(x->deadline))
		return;
	bsv_bars_row(d->bars, BSV_BAD);
	bsv_bars_cell(d->bars, "deadline");
	cell_amount(d, bsv_minus(x->deadline, from), true);
	if (x->deadline < from)
		bsv_bars_mark(d->bars, from, "<");
	else if (x->deadline > to)
		bsv_bars_mark(d->bars, to, ">");
	else
		bsv_bars_mark(d->bars, x->deadline, d->screen->unicode ? "▲" : "^");
}

/* ---- lanes: if there were several ---- */

static void add_lanes(struct bsv_drawing *d)
{
	const struct bsv_explained *x = d->x;
	int64_t latest = -1, next;
	bool several = false;
	int n = 0;

	for (size_t i = 1; i < x->n_stretches; i++)
		several |= x->stretches[i].lane != x->stretches[0].lane;
	if (!several)
		return;
	memcpy(d->lanes,
	       (struct bsv_bars_column[]){ { "on", false, 0, 0 }, { d->took, true, 0, 0 }, { NULL, 0, 0, 0 } },
	       sizeof(d->lanes));
	bsv_bars_text(d->bars, "");
	bsv_bars_section(d->bars, NULL, d->lanes);
	for (;; latest = next) {
		char text[32];
		int64_t took;

		next = INT64_MAX;
		for (size_t i = 0; i < x->n_stretches; i++)
			if (x->stretches[i].lane > latest && x->stretches[i].lane < next)
				next = x->stretches[i].lane;
		if (next == INT64_MAX)
			return;
		if (n++ == MOST_LANES) {
			bsv_bars_text(d->bars, "and more lanes");
			return;
		}
		took = 0;
		for (size_t i = 0; i < x->n_stretches; i++)
			if (x->stretches[i].lane == next)
				took = bsv_plus(took, bsv_minus(x->stretches[i].ended, x->stretches[i].began));
		snprintf(text, sizeof(text), "lane %" PRId64, next);
		bsv_bars_row(d->bars, BSV_GOOD);
		bsv_bars_cell(d->bars, text);
		cell_amount(d, took, false);
		for (size_t i = 0; i < x->n_stretches; i++)
			if (x->stretches[i].lane == next)
				bsv_bars_stretch(d->bars, x->stretches[i].began, x->stretches[i].ended);
	}
}

/* ---- rows that are many: the longest are shown ---- */

static int longest_first(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return x < y ? 1 : x > y ? -1 : 0;
}

/* The BSV_ROWS_MOST largest rows are shown: those above @least, and some of those that are equal to it. */
struct chosen {
	int64_t least;
	size_t ties;
};

static bool is_chosen(struct chosen *c, int64_t size)
{
	if (size != c->least)
		return size > c->least;
	return c->ties && c->ties--;
}

/* ---- waits ---- */

/* Those that have no row of their own share one. */
static void add_other_waits(const struct bsv_drawing *d, struct chosen c)
{
	const struct bsv_explained *x = d->x;
	char text[64];
	int64_t took = 0;
	size_t n = 0;

	if (x->n_waits <= BSV_ROWS_MOST)
		return;
	bsv_bars_row(d->bars, BSV_FAINT);
	for (size_t i = 0; i < x->n_waits; i++)
		if (!is_chosen(&c, x->waits[i].dur)) {
			took = bsv_plus(took, x->waits[i].dur);
			n++;
			add_stretch(d, x->waits[i].began, x->waits[i].dur);
		}
	snprintf(text, sizeof(text), "and %zu more", n);
	bsv_bars_cell(d->bars, text);
	bsv_bars_cell(d->bars, "");
	cell_amount(d, took, false);
	bsv_bars_cell(d->bars, "shorter ones");
}

static int add_waits(struct bsv_drawing *d, struct bsa_err *err)
{
	const struct bsv_explained *x = d->x;
	int64_t *sizes = calloc(x->n_waits + 1, sizeof(*sizes));
	struct chosen c = { INT64_MIN, x->n_waits }, again;

	if (!sizes)
		return bsv_no_memory(err);
	for (size_t i = 0; i < x->n_waits; i++)
		sizes[i] = x->waits[i].dur;
	if (x->n_waits > BSV_ROWS_MOST) {
		qsort(sizes, x->n_waits, sizeof(*sizes), longest_first);
		c = (struct chosen){ sizes[BSV_ROWS_MOST - 1], 0 };
		for (size_t i = 0; i < BSV_ROWS_MOST; i++)
			c.ties += sizes[i] == c.least;
	}
	free(sizes);
	again = c;
	if (!x->n_waits)
		return 0;
	memcpy(d->waits,
	       (struct bsv_bars_column[]){ { "waited", false, 0, 0 },
	                                   { d->at, true, 4, 0 },
	                                   { d->took, true, 0, 0 },
	                                   { "while this had the lane", false, 0, 8 },
	                                   { NULL, 0, 0, 0 } },
	       sizeof(d->waits));
	bsv_bars_text(d->bars, "");
	bsv_bars_section(d->bars, NULL, d->waits);
	for (size_t i = 0; i < x->n_waits; i++)
		if (is_chosen(&c, x->waits[i].dur)) {
			const struct bsv_explained_wait *w = &x->waits[i];
			int64_t at = bsv_minus(w->began, d->x->began);
			char text[BSV_TEXT_MOST];
			unsigned hash = 0;

			for (const char *s = w->blocker.app ? w->blocker.app : ""; *s; s++) /* an app has one colour */
				hash = hash * 31 + (unsigned char)*s;
			bsv_bars_row(d->bars, bsv_is(w->occupancy, "held") ? BSV_HUE + (int)(hash % 6) : BSV_FAINT);
			bsv_bars_cell(d->bars, w->cause ? w->cause : "unknown");
			cell_amount(d, at, false);
			cell_amount(d, w->dur, false);
			bsv_who_numbered(text, &w->blocker);
			if (bsv_is(w->occupancy, "idle"))
				bsv_bars_cell(d->bars, "no app");
			else if (!bsv_is(w->occupancy, "held"))
				bsv_bars_cell(d->bars, d->x->losses > 0 ? "unknown: events were lost"
				                                        : "unknown: no event tells");
			else
				bsv_bars_cell(d->bars, *text ? text : "unknown app");
			add_stretch(d, w->began, w->dur);
		}
	add_other_waits(d, again);
	return 0;
}

/* ---- preemptions ---- */

static void add_preemptions(struct bsv_drawing *d)
{
	const struct bsv_explained *x = d->x;
	char text[64];

	if (!x->n_preemptions)
		return;
	snprintf(d->delay, sizeof(d->delay), "delay %s", d->unit.name);
	memcpy(d->preemptions,
	       (struct bsv_bars_column[]){ { "stopped", false, 0, 0 },
	                                   { d->at, true, 0, 0 },
	                                   { d->delay, true, 4, 0 },
	                                   { "for", false, 0, 8 },
	                                   { NULL, 0, 0, 0 } },
	       sizeof(d->preemptions));
	bsv_bars_text(d->bars, "");
	bsv_bars_section(d->bars, NULL, d->preemptions);
	for (size_t i = 0; i < x->n_preemptions && i < BSV_ROWS_MOST; i++) {
		const struct bsv_explained_preemption *p = &x->preemptions[i];
		int64_t at = bsv_minus(p->stopped, d->x->began);
		char who[BSV_TEXT_MOST];

		bsv_who_numbered(who, &p->by);
		bsv_bars_row(d->bars, BSV_BAD);
		bsv_bars_cell(d->bars, p->mode ? p->mode : "stopped");
		cell_amount(d, at, false);
		cell_amount(d, bsv_minus(p->stopped, p->asked), false);
		bsv_bars_cell(d->bars, *who ? who : "unknown");
		if (bsv_known(p->stopped))
			bsv_bars_mark(d->bars, p->stopped, "^");
	}
	if (x->n_preemptions > BSV_ROWS_MOST) {
		snprintf(text, sizeof(text), "  and %zu more", x->n_preemptions - BSV_ROWS_MOST);
		bsv_bars_text(d->bars, text);
	}
}

int bsv_explained_bars(const struct bsv_explained *x, FILE *to, const struct bsv_screen *screen, struct bsa_err *err)
{
	struct bsv_drawing d = { .x = x, .screen = screen, .to = to };
	int64_t from, until, length;
	int r;

	/* From where to where the bars go: with the deadline, unless it is far away. */
	from = bsv_known(x->began) && x->began < INT64_MAX ? x->began : 0;
	until = bsv_known(x->ended) && x->ended > from ? x->ended : from + 1;
	length = bsv_minus(until, from);
	if (!bsv_known(length)) /* absurd */
		until = from < 0 ? from + INT64_MAX : INT64_MAX;
	else if (bsv_known(x->deadline) && x->deadline > until && bsv_minus(x->deadline, until) < length)
		until = x->deadline;
	if (bsv_known(length) && !bsv_known(bsv_minus(until, from)))
		until = from + length;

	d.unit = *bsv_unit_for(until - from);
	d.bars = bsv_bars_new(from, until);
	if (bsv_known(x->deadline))
		bsv_bars_line(d.bars, x->deadline);
	add_phases(&d, from, until);
	add_typical(&d);
	add_lanes(&d);
	r = add_waits(&d, err);
	add_preemptions(&d);
	if (r >= 0)
		r = bsv_bars_print(d.bars, to, screen, err);
	bsv_bars_free(d.bars);
	return r;
}
