/* timeline_draw.c -- draws the sums that timeline.c has made. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/letters.h"
#include "base/numbers.h"
#include "base/scoped.h"
#include "render/axis.h"
#include "render/bars.h"
#include "render/timeline_own.h"

enum {
	NAME_MOST = 20,
	LETTERS_MOST = 26, /* apps with a letter of their own */
	WAITING_MOST = 12, /* rows of those that wait */
	TEXT = 256,
};

/* ---- what comes of it ---- */

/* The app that held a lane for most of a cell. */
struct top {
	uint64_t parts;
	uint32_t app;
};

struct sums {
	struct top *tops;           /* for each cell of each lane */
	bsv_sum *of_app;            /* sums by the number of the app */
	uint32_t *order;            /* apps, the largest first */
	char letters[BSV_WHO_MOST]; /* letters by the number of the app */
	char *names[LETTERS_MOST];
	uint32_t lettered[LETTERS_MOST]; /* the apps that have these letters */
	size_t n_letters;
};

/* For qsort_r: numbers by what they have, the most first. */
static int most_first(const void *a, const void *b, void *amounts)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	bsv_sum p = ((bsv_sum *)amounts)[x], q = ((bsv_sum *)amounts)[y];

	return p != q ? (p < q ? 1 : -1) : x < y ? -1 : x > y;
}

static uint32_t *order_by_amount(bsv_sum *amounts, size_t n)
{
	uint32_t *order = calloc(n + 1, sizeof(*order));

	for (size_t i = 0; order && i < n; i++)
		order[i] = (uint32_t)i;
	if (order)
		qsort_r(order, n, sizeof(*order), most_first, amounts);
	return order;
}

/* A letter that no other has: one of the name's, if there is one left. */
static char letter_of(const char *name, bool taken[LETTERS_MOST])
{
	for (const char *s = name; *s; s++) {
		char c = (char)(*s >= 'a' && *s <= 'z' ? *s - 'a' + 'A' : *s);

		if (c >= 'A' && c <= 'Z' && !taken[c - 'A']) {
			taken[c - 'A'] = true;
			return c;
		}
	}
	for (int i = 0; i < LETTERS_MOST; i++)
		if (!taken[i]) {
			taken[i] = true;
			return (char)('A' + i);
		}
	return '+';
}

static bool sums_init(const struct bsv_timeline *t, const struct bsv_timeline_names *names, struct sums *s)
{
	bool taken[LETTERS_MOST] = { false };

	s->tops = calloc(t->n_lanes * (size_t)t->span.cells + 1, sizeof(*s->tops));
	s->of_app = calloc(t->apps.n + 1, sizeof(*s->of_app));
	if (!s->tops || !s->of_app)
		return false;
	for (size_t i = 0; i < t->held.room; i++) {
		struct bsv_map_place e = t->held.places[i];
		struct top *top = &s->tops[e.key >> 32];
		uint32_t app = (uint32_t)e.key;

		if (!e.value)
			continue;
		if (app != BSV_UNKNOWN_WHO)
			s->of_app[app] += e.value;
		if (e.value > top->parts || (e.value == top->parts && app < top->app))
			*top = (struct top){ e.value, app };
	}
	s->order = order_by_amount(s->of_app, t->apps.n);
	if (!s->order)
		return false;

	/* The apps that held lanes longest get letters. */
	memset(s->letters, '+', sizeof(s->letters));
	for (size_t i = 0; i < t->apps.n && s->n_letters < LETTERS_MOST; i++) {
		uint32_t app = s->order[i];
		char *own, *name;

		if (app == BSV_WHO_MOST - 1 && t->apps.many)
			continue;
		own = names->app(names->ctx, t->apps.ids[app]);
		name = own ? bsv_printable(own, strlen(own), NAME_MOST) : NULL;
		free(own);
		if (!name)
			return false;
		s->names[s->n_letters] = name;
		s->letters[app] = letter_of(name, taken);
		s->lettered[s->n_letters++] = app;
	}
	return true;
}

/* ---- drawing ---- */

struct drawing {
	const struct bsv_timeline *t;
	const struct bsv_timeline_names *names;
	const struct bsv_screen *screen;
	struct sums *sums;
	FILE *to;
};

__attribute__((format(printf, 3, 4))) static void print_line(const struct drawing *d, int paint, const char *format,
                                                             ...)
{
	char text[4 * TEXT];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	fputs(bsv_paint_on(d->screen, paint), d->to);
	bsv_wrap(d->to, d->screen, 2, text);
	fputs(bsv_paint_off(d->screen, paint), d->to);
}

/* Blanks are owed until something follows: no line ends with one. */
struct cells {
	const struct drawing *d;
	int owed;
};

static void put_glyph(struct cells *c, int paint, const char *glyph)
{
	if (!strcmp(glyph, " ")) {
		c->owed++;
		return;
	}
	fprintf(c->d->to, "%*s%s%s%s", c->owed, "", bsv_paint_on(c->d->screen, paint), glyph,
	        bsv_paint_off(c->d->screen, paint));
	c->owed = 0;
}

/* A row begins with its label, as wide as all are. */
static struct cells print_label(const struct drawing *d, const char *text)
{
	char *s = bsv_printable(text, strlen(text), d->t->label - 1);
	int width = s ? bsv_width(s) : 0;

	fputs(s ? s : "", d->to);
	free(s);
	return (struct cells){ d, d->t->label - width };
}

static int app_paint(const struct drawing *d, uint32_t app)
{
	char c = d->sums->letters[app];

	return c >= 'A' && c <= 'Z' ? BSV_HUE + (c - 'A') % 6 : BSV_PLAIN;
}

/* Was anything of this cell recorded? */
static bool cell_recorded(const struct bsv_timeline *t, int cell)
{
	struct bsv_place a = bsv_span_place(&t->span, t->began), b = bsv_span_place(&t->span, t->ended);

	return t->began < t->span.to && t->ended > t->span.from && cell >= a.cell &&
	       (cell < b.cell || (cell == b.cell && b.part));
}

static int by_lane(const void *a, const void *b, void *timeline)
{
	const struct bsv_timeline *t = timeline;
	const struct bsv_lane *x = &t->lanes[*(const uint32_t *)a], *y = &t->lanes[*(const uint32_t *)b];

	if (x->service != y->service)
		return x->service < y->service ? -1 : 1;
	return x->lane < y->lane ? -1 : x->lane > y->lane;
}

static void draw_lanes(const struct drawing *d)
{
	enum { FILLS_MOST = 8 };
	const struct bsv_timeline *t = d->t;
	uint32_t order[BSV_LANES_MOST];
	bool several = false;
	char text[64];

	for (uint32_t i = 0; i < t->n_lanes; i++) {
		order[i] = i;
		several |= t->lanes[i].service != t->lanes[0].service;
	}
	qsort_r(order, t->n_lanes, sizeof(*order), by_lane, (void *)t);
	for (size_t i = 0; i < t->n_lanes; i++) {
		const struct bsv_lane *lane = &t->lanes[order[i]];
		const struct top *tops = &d->sums->tops[order[i] * (size_t)t->span.cells];
		struct cells c;

		/* The app that held the lane for most of each cell. */
		if (several)
			snprintf(text, sizeof(text), "lane %" PRId64 ":%" PRId64, lane->service, lane->lane);
		else
			snprintf(text, sizeof(text), "lane %" PRId64, lane->lane);
		c = print_label(d, text);
		for (int k = 0; k < t->span.cells; k++) {
			uint32_t app = tops[k].app;

			if (tops[k].parts && app != BSV_UNKNOWN_WHO)
				put_glyph(&c, app_paint(d, app), (char[]){ d->sums->letters[app], 0 });
			else if (tops[k].parts)
				put_glyph(&c, BSV_UNSURE_PAINT, "?");
			else if (cell_recorded(t, k))
				put_glyph(&c, BSV_FAINT, d->screen->unicode ? "·" : ".");
			else
				put_glyph(&c, BSV_PLAIN, " ");
		}
		fputc('\n', d->to);
		if (t->n_lanes > FILLS_MOST)
			continue;

		/* How much of each cell was held at all. */
		c = print_label(d, "  held");
		for (int k = 0; k < t->span.cells; k++) {
			int eighths = bsv_eighths(lane->covers[k].covered, bsv_span_parts(&t->span));

			put_glyph(&c, tops[k].app != BSV_UNKNOWN_WHO ? app_paint(d, tops[k].app) : BSV_PLAIN,
			          bsv_height_glyph(eighths, d->screen->unicode));
		}
		fputc('\n', d->to);
	}
	if (t->n_lanes > FILLS_MOST)
		print_line(d, BSV_FAINT, "(of so many lanes it is not shown how much of each cell was held)");
	if (t->more_lanes)
		print_line(d, BSV_UNSURE_PAINT, "(there are more than %d lanes: the others are not shown)",
		           BSV_LANES_MOST);
}

/* ---- who waits ---- */

static bsv_sum largest_of(const struct bsv_waiting *w, int cells, bsv_sum most)
{
	for (int i = 0; w->cells && i < cells; i++)
		if (w->cells[i] > most)
			most = w->cells[i];
	return most;
}

static void draw_waiting_row(const struct drawing *d, const char *name, const struct bsv_waiting *w, bsv_sum most)
{
	struct cells c = print_label(d, name);

	for (int i = 0; i < d->t->span.cells; i++) {
		bsv_sum eighths = w->cells[i] * 8 / most;
		int height = w->cells[i] && !eighths ? 1 : eighths < 8 ? (int)eighths : 8;

		put_glyph(&c, BSV_PLAIN, bsv_height_glyph(height, d->screen->unicode));
	}
	fputc('\n', d->to);
}

static bool draw_waiting(const struct drawing *d)
{
	const struct bsv_timeline *t = d->t;
	size_t n_all = t->waiting_ones.n, n = n_all <= WAITING_MOST ? n_all : WAITING_MOST;
	bsv_sum *all = calloc(n_all + 1, sizeof(*all)), most = 1;
	struct bsv_waiting rest = { calloc((size_t)t->span.cells, sizeof(*rest.cells)), 0 };
	uint32_t *order = NULL;
	char text[64];
	bool fine;

	for (size_t i = 0; all && i < n_all; i++)
		all[i] = t->waiting[i].all;
	order = all ? order_by_amount(all, n_all) : NULL;
	fine = order && rest.cells;
	for (size_t i = n; fine && i < n_all; i++) /* those that have no row of their own share one */
		for (int j = 0; j < t->span.cells; j++)
			rest.cells[j] += t->waiting[order[i]].cells[j];
	for (size_t i = 0; fine && i < n; i++)
		most = largest_of(&t->waiting[order[i]], t->span.cells, most);
	most = largest_of(&rest, t->span.cells, most);
	if (fine && !n_all)
		print_line(d, BSV_FAINT, "no execution was ready and waiting");
	else if (fine)
		print_line(d, BSV_PLAIN,
		           "ready and waiting, by %s, on average in each column; %s is %.3g:", d->names->what,
		           bsv_height_glyph(8, d->screen->unicode), (double)most / (double)bsv_span_parts(&t->span));
	for (size_t i = 0; fine && i < n; i++) {
		bool others = t->waiting_ones.many && order[i] == BSV_WHO_MOST - 1;
		char *name =
			others ? strdup("others") : d->names->waiting(d->names->ctx, t->waiting_ones.ids[order[i]]);

		if (name)
			draw_waiting_row(d, name, &t->waiting[order[i]], most);
		fine = name;
		free(name);
	}
	snprintf(text, sizeof(text), "%s%zu more", t->waiting_ones.many ? "over " : "", n_all - n);
	if (fine && n < n_all)
		draw_waiting_row(d, text, &rest, most);
	free(all);
	free(order);
	free(rest.cells);
	return fine;
}

/* ---- marks, and one execution ---- */

static void draw_marks(const struct drawing *d)
{
	static const struct {
		const char *name, *glyph;
		int paint;
	} marks[] = {
		[BSV_MARK_MISSED] = { "missed", "!", BSV_BAD },
		[BSV_MARK_DEADLINE] = { "deadlines", "|", BSV_FAINT },
		[BSV_MARK_STOPPED] = { "preempted", "^", BSV_PLAIN },
	};
	const struct bsv_timeline *t = d->t;
	char text[64];

	for (size_t m = 0; m < BSV_MARKS; m++) {
		struct cells c;

		if (!t->counts[m])
			continue;
		snprintf(text, sizeof(text), "%s %" PRIu64, marks[m].name, t->counts[m]);
		c = print_label(d, text);
		for (int i = 0; i < t->span.cells; i++)
			put_glyph(&c, marks[m].paint, t->marks[m][i] ? marks[m].glyph : " ");
		fputc('\n', d->to);
	}
	if (t->losses) {
		struct cells c;

		snprintf(text, sizeof(text), "losses %" PRIu64, t->losses);
		c = print_label(d, text);
		for (int i = 0; i < t->span.cells; i++)
			put_glyph(&c, BSV_UNSURE_PAINT, t->lost[i].covered ? "?" : " ");
		fputc('\n', d->to);
	}
}

static void draw_focus(const struct drawing *d)
{
	static const char *const glyphs[][2] = {
		[BSV_UNDER_WAY] = { "-", "─" }, [BSV_WAITING] = { "w", "░" }, [BSV_ON_LANE] = { "#", "█" }
	};
	const struct bsv_timeline *t = d->t;
	bool unicode = d->screen->unicode;
	struct cells c;

	if (!t->focus)
		return;
	c = print_label(d, t->focus);
	for (int i = 0; i < t->span.cells; i++) {
		uint64_t waiting = t->states[BSV_WAITING][i].covered, lane = t->states[BSV_ON_LANE][i].covered;
		uint64_t all = t->states[BSV_UNDER_WAY][i].covered;
		uint64_t rest = all > waiting + lane ? all - waiting - lane : 0;
		enum bsv_state state = lane && lane >= waiting && lane >= rest ? BSV_ON_LANE
		                       : waiting && waiting >= rest            ? BSV_WAITING
		                                                               : BSV_UNDER_WAY;

		put_glyph(&c, BSV_TITLE, all || waiting || lane ? glyphs[state][unicode] : " ");
	}
	fputc('\n', d->to);
	print_line(d, BSV_FAINT,
	           "(%s under way, %s waiting for a lane, %s on a lane: what it was longest in the column)",
	           glyphs[BSV_UNDER_WAY][unicode], glyphs[BSV_WAITING][unicode], glyphs[BSV_ON_LANE][unicode]);
}

/* ---- the axis ---- */

static void draw_axis(const struct drawing *d)
{
	const struct bsv_axis a = bsv_axis_of(&d->t->span);
	bool unicode = d->screen->unicode;
	int64_t tick = a.first, at = tick;
	char text[BSV_TICK_TEXT], name[TEXT];
	struct cells c;
	int cell, i = 0;

	/* The numbers. */
	snprintf(name, sizeof(name), "%s%s", a.base ? "+ " : "", a.unit->name);
	c = print_label(d, name);
	for (; (cell = bsv_axis_next(&d->t->span, &a, &tick)) >= 0; at = tick) {
		bsv_tick_text(text, at, a.step, a.unit);
		if (cell < i || cell + (int)strlen(text) > d->t->span.cells)
			continue;
		c.owed += cell - i;
		put_glyph(&c, BSV_PLAIN, text);
		i = cell + (int)strlen(text);
	}
	fputc('\n', d->to);

	/* The line below them, with a tick for each number. */
	c = print_label(d, "");
	tick = a.first;
	cell = bsv_axis_next(&d->t->span, &a, &tick);
	for (i = 0; i < d->t->span.cells; i++) {
		put_glyph(&c, BSV_FAINT, cell == i ? (unicode ? "┬" : "|") : unicode ? "─" : "-");
		while (cell >= 0 && cell <= i)
			cell = bsv_axis_next(&d->t->span, &a, &tick);
	}
	fputc('\n', d->to);
}

/* ---- all of it ---- */

static void draw_legend(const struct drawing *d)
{
	const struct bsv_timeline *t = d->t;
	const struct sums *s = d->sums;
	char text[4 * TEXT] = "";

	for (size_t i = 0; i < s->n_letters; i++) {
		size_t length = strlen(text);

		snprintf(text + length, sizeof(text) - length, "%s%c %s", *text ? "   " : "",
		         s->letters[s->lettered[i]], s->names[i]);
	}
	if (t->apps.n > s->n_letters) {
		size_t length = strlen(text);

		snprintf(text + length, sizeof(text) - length, "   + %s%zu more", t->apps.many ? "over " : "",
		         t->apps.n - s->n_letters);
	}
	if (*text)
		print_line(d, BSV_PLAIN, "%s", text);
	print_line(d, BSV_FAINT,
	           "A letter: the app that held the lane longest in the column. %s none, ? unknown. Held: how much of "
	           "it, %s "
	           "all, %s "
	           "some.",
	           d->screen->unicode ? "·" : ".", bsv_height_glyph(8, d->screen->unicode),
	           bsv_height_glyph(1, d->screen->unicode));
}

/* How much of each cell each cpu ran threads; ?: the kernel's trace has nothing of it. */
static void draw_cpus(const struct drawing *d)
{
	const struct bsv_timeline *t = d->t;
	bool unicode = d->screen->unicode;

	for (size_t i = 0; i < t->n_cpus; i++) {
		char text[32];
		struct cells c;

		snprintf(text, sizeof(text), "cpu %" PRId64, t->cpus[i].cpu);
		c = print_label(d, text);
		for (int k = 0; k < t->span.cells; k++) {
			uint64_t busy = t->cpus[i].busy[k].covered, idle = t->cpus[i].idle[k].covered;
			int eighths = bsv_eighths(busy, bsv_span_parts(&t->span));

			if (busy)
				put_glyph(&c, BSV_PLAIN, bsv_height_glyph(eighths, unicode));
			else if (idle)
				put_glyph(&c, BSV_FAINT, unicode ? "·" : ".");
			else
				put_glyph(&c, BSV_UNSURE_PAINT, cell_recorded(t, k) ? "?" : " ");
		}
		fputc('\n', d->to);
	}
	if (t->more_cpus)
		print_line(d, BSV_UNSURE_PAINT, "(there are more than %d cpus: the others are not shown)",
		           BSV_CPUS_MOST);
	if (t->n_cpus)
		print_line(d, BSV_FAINT,
		           "(cpu: how much of the column it ran threads, of any program; %s idle, ? unknown)",
		           unicode ? "·" : ".");
}

int bsv_timeline_draw(const struct bsv_timeline *t, const struct bsv_timeline_names *names, FILE *to,
                      const struct bsv_screen *screen, struct bsa_err *err)
{
	static const struct bsv_unit second = { "s", 1000000000 };
	struct sums *s = calloc(1, sizeof(*s));
	struct bsv_screen own = *screen;
	struct drawing d = { t, names, &own, s, to };
	bool fine = t && !t->failed && s && sums_init(t, names, s);

	if (fine) {
		char from[BSV_TICK_TEXT], all[BSV_DURATION_TEXT], one[BSV_DURATION_TEXT];
		int64_t step = 1, length = t->span.to - t->span.from;

		own.width = t->width;
		while (step <= length / t->span.cells / 10)
			step *= 10;
		bsv_tick_text(from, t->span.from, step, &second);
		print_line(&d, BSV_TITLE, "from %s s into the recording on: %s, %s a column", from,
		           bsv_duration(all, length), bsv_duration(one, length / t->span.cells));
		draw_axis(&d);
		draw_lanes(&d);
		draw_cpus(&d);
		draw_focus(&d);
		draw_marks(&d);
		fputc('\n', to);
		fine = draw_waiting(&d);
		fputc('\n', to);
		draw_legend(&d);
	}
	if (s) {
		free(s->tops);
		free(s->of_app);
		free(s->order);
		for (size_t i = 0; i < s->n_letters; i++)
			free(s->names[i]);
	}
	free(s);
	return fine ? 0 : bsv_no_memory(err);
}
