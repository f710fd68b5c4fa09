/* view.c -- draws the figures of a growing recording: as a screen, as lines, and as JSON. */
#include "live/view.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/letters.h"
#include "base/numbers.h"
#include "base/scoped.h"
#include "render/cells.h"

enum { CELL = 64, SLOTS = BSA_LIVE_SECONDS * 2, CAUSES_SHOWN = 6, INDENT = 2 };

static const double percent = 100, second = 1e9;

const char *bsv_view_sort_name(enum bsv_view_sort sort)
{
	static const char *const names[] = { "rate", "p99", "misses", "share", "name" };

	return names[sort];
}

/* ---- rows ---- */

/* Received / entitled; negative: unknown, or entitled to nothing. */
static double share_of(const struct bsa_live_row *r)
{
	return r->entitled_ns ? (double)r->received_ns / (double)r->entitled_ns : -1;
}

static uint64_t p99_of(const struct bsa_live_row *r)
{
	return r->p99_ns == BSA_LIVE_UNKNOWN ? 0 : r->p99_ns;
}

static int compare_descending(double x, double y)
{
	return (x < y) - (x > y);
}

static int compare_rows(const void *a, const void *b, void *arg)
{
	const struct bsa_live_row *x = *(const struct bsa_live_row *const *)a,
				  *y = *(const struct bsa_live_row *const *)b;
	int d = 0;

	switch (*(enum bsv_view_sort *)arg) {
	case BSV_BY_RATE:
		d = compare_descending((double)x->executions, (double)y->executions);
		break;
	case BSV_BY_P99:
		d = compare_descending((double)p99_of(x), (double)p99_of(y));
		break;
	case BSV_BY_MISSES:
		d = compare_descending((double)x->missed, (double)y->missed);
		break;
	case BSV_BY_SHARE:
		d = compare_descending(share_of(x), share_of(y));
		break;
	default:
		break;
	}
	d = d ? d : strcmp(x->app, y->app);
	return d ? d : strcmp(x->model, y->model);
}

const char *bsv_view_next_app(const struct bsv_view *v, const char *app)
{
	const char *next = NULL;

	for (uint32_t i = 0; i < v->figures->n_rows; i++) {
		const char *name = v->rows[i].app;

		if ((!app || strcmp(name, app) > 0) && (!next || strcmp(name, next) < 0))
			next = name;
	}
	return next;
}

/* The sum of the shown rows. */
static struct bsa_live_row all_of(const struct bsa_live_row *const *list, size_t n)
{
	struct bsa_live_row all = { .app_id = 0 };

	for (size_t i = 0; i < n; i++) {
		all.executions += list[i]->executions;
		all.missed += list[i]->missed;
		all.slot_misses += list[i]->slot_misses;
		all.run_ns += list[i]->run_ns;
		all.queue_ns += list[i]->queue_ns;
		for (unsigned k = 0; k < BSA_LIVE_CAUSES; k++)
			all.by_cause[k] += list[i]->by_cause[k];
	}
	return all;
}

/* ---- cells ---- */

struct column {
	const char *name;
	int width;
	bool left;
};

static const struct column columns[] = {
	{ "APP", 9, true },   { "MODEL", 9, true },  { "EXEC/S", 6, false }, { "P50", 7, false },
	{ "P99", 7, false },  { "SHARE", 5, false }, { "LANE", 4, false },   { "WAIT", 4, false },
	{ "MISS", 5, false }, { "SLOT", 4, false },  { "TREND", 10, true },
};

enum { APP, MODEL, RATE, P50, P99, SHARE, LANE, WAIT, MISS, SLOT, TREND, COLUMNS };

static double rate_of(const struct bsv_view *v, uint64_t n)
{
	uint64_t window = v->figures->state.window_ns;

	return window ? (double)n * second / (double)window : 0;
}

static double part_of_window(const struct bsv_view *v, uint64_t ns)
{
	uint64_t window = v->figures->state.window_ns;

	return window ? (double)ns / (double)window : 0;
}

/* Three digits, or so: "0.04", "12.5", "813", "21k". More than anything does is no figure. */
static void number_text(char to[CELL], double n)
{
	if (n >= 1e8)
		snprintf(to, CELL, ">99M");
	else if (n >= 1e7)
		snprintf(to, CELL, "%.0fM", n / 1e6);
	else if (n >= 1e6)
		snprintf(to, CELL, "%.1fM", n / 1e6);
	else if (n >= 1e4)
		snprintf(to, CELL, "%.0fk", n / 1e3);
	else
		snprintf(to, CELL, n >= 100 || n == (double)(uint64_t)n ? "%.0f" : n >= 10 ? "%.1f" : "%.2f", n);
}

static void duration_text(char to[CELL], uint64_t ns)
{
	static const char *const units[] = { "ns", "us", "ms", "s" };
	double n = (double)ns;
	unsigned u = 0;

	if (ns == BSA_LIVE_UNKNOWN || n >= 1e13) {
		snprintf(to, CELL, ns == BSA_LIVE_UNKNOWN ? "-" : ">9999 s");
		return;
	}
	for (; u < 3 && n >= 999.5; u++)
		n /= 1000;
	snprintf(to, CELL, n >= 99.95 ? "%.0f %s" : n >= 9.995 ? "%.1f %s" : "%.2f %s", n, units[u]);
}

/* @text in @width columns, or a little less. */
static void name_cell(const char *text, int width, char to[CELL])
{
	char *shown = bsv_printable(*text ? text : "-", strlen(*text ? text : "-"), width);

	snprintf(to, CELL, "%s", shown ? shown : "?");
	free(shown);
}

static void trend_text(const struct bsv_view *v, const struct bsa_live_row *r, char to[CELL])
{
	uint64_t most = 0;

	*to = 0;
	for (unsigned i = 0; i < SLOTS; i++)
		most = r->per_slot[i] > most ? r->per_slot[i] : most;
	for (unsigned i = 0; i < SLOTS; i++) {
		int eighths = (int)(most ? (double)r->per_slot[i] / (double)most * 7 : 0) + (r->per_slot[i] > 0);

		strcat(to, bsv_height_glyph(eighths, v->screen.unicode));
	}
}

static void cell_text(const struct bsv_view *v, const struct bsa_live_row *r, int column, int width, char to[CELL])
{
	switch (column) {
	case APP:
		name_cell(r->app, width, to);
		break;
	case MODEL:
		name_cell(r->model, width, to);
		break;
	case RATE:
		number_text(to, rate_of(v, r->executions));
		break;
	case P50:
		duration_text(to, r->p50_ns);
		break;
	case P99:
		duration_text(to, r->p99_ns);
		break;
	case SHARE:
		if (share_of(r) < 0)
			snprintf(to, CELL, "-");
		else
			snprintf(to, CELL, "%.0f%%", share_of(r) < 99 ? share_of(r) * percent : 9999);
		break;
	case LANE:
		number_text(to, part_of_window(v, r->run_ns));
		break;
	case WAIT:
		number_text(to, part_of_window(v, r->queue_ns));
		break;
	case MISS:
		number_text(to, (double)r->missed);
		break;
	case SLOT:
		number_text(to, (double)r->slot_misses);
		break;
	default:
		trend_text(v, r, to);
	}
}

/* ---- lines ---- */

struct out {
	const struct bsv_view *v;
	FILE *to;
	int lines, width, columns; /* columns: as many of them, from the left, as there is room for */
};

static bool has_room(const struct out *o)
{
	return !o->v->height || o->lines < o->v->height;
}

static void end_line(struct out *o)
{
	fputc('\n', o->to);
	o->lines++;
}

/* Cut to the screen. */
static void put_line(struct out *o, int paint, const char *text)
{
	char *shown = bsv_printable(text, strlen(text), o->width);

	if (has_room(o)) {
		fprintf(o->to, "%s%s%s", bsv_paint_on(&o->v->screen, paint), shown ? shown : "",
		        bsv_paint_off(&o->v->screen, paint));
		end_line(o);
	}
	free(shown);
}

/* Names get what is left beside the figures. */
static int width_of(const struct out *o, int column)
{
	int spare = o->width > BSV_VIEW_WHOLE ? o->width - BSV_VIEW_WHOLE : 0;

	return columns[column].width + (column == APP || column == MODEL ? spare / 2 : 0);
}

static void put_cell(struct out *o, int column, const char *text, int paint)
{
	int width = width_of(o, column), blanks = width - bsv_width(text);

	if (!columns[column].left)
		fprintf(o->to, "%*s", blanks > 0 ? blanks : 0, "");
	fprintf(o->to, "%s%s%s", bsv_paint_on(&o->v->screen, paint), text, bsv_paint_off(&o->v->screen, paint));
	if (column == o->columns - 1)
		return;
	if (columns[column].left)
		fprintf(o->to, "%*s", blanks > 0 ? blanks : 0, "");
	fputc(' ', o->to);
}

/* Is cause @k to be named before @than? An unknown cause comes last, however often it is. */
static bool cause_precedes(const uint64_t by_cause[BSA_LIVE_CAUSES], unsigned k, unsigned than)
{
	const bool is_unknown = !strcmp(bsa_live_cause(k), "unknown"),
		   was_unknown = !strcmp(bsa_live_cause(than), "unknown");

	return is_unknown != was_unknown ? was_unknown : by_cause[k] > by_cause[than];
}

/* The @most_shown most frequent ones. */
static void list_causes(const uint64_t by_cause[BSA_LIVE_CAUSES], unsigned most_shown, FILE *to)
{
	bool shown[BSA_LIVE_CAUSES] = { false };

	for (unsigned n = 0; n < most_shown; n++) {
		unsigned most = BSA_LIVE_CAUSES;

		for (unsigned k = 0; k < BSA_LIVE_CAUSES; k++)
			if (!shown[k] && by_cause[k] && (most == BSA_LIVE_CAUSES || cause_precedes(by_cause, k, most)))
				most = k;
		if (most == BSA_LIVE_CAUSES)
			return;
		shown[most] = true;
		fprintf(to, "%s %s %" PRIu64, n ? "," : "", bsa_live_cause(most), by_cause[most]);
	}
}

/*
 * The output of @make as one line, or @whole, as the lines that it needs, where these are not more
 * than the screen has.
 */
static void line_of(struct out *o, int paint, bool whole,
                    void (*make)(const struct bsv_view *, const struct bsa_live_row *, FILE *),
                    const struct bsa_live_row *all)
{
	char *text = NULL, *shown;
	size_t n = 0;
	FILE *f = open_memstream(&text, &n);

	if (!f)
		return;
	make(o->v, all, f);
	fclose(f);
	if (!whole)
		put_line(o, paint, text);
	shown = whole ? bsv_printable(text, strlen(text), 0) : NULL;
	for (const char *at = shown; at && *at && has_room(o);) {
		size_t bytes = bsv_line(at, at == shown ? o->width : o->width - INDENT);

		fprintf(o->to, "%*s%s%.*s%s", at == shown ? 0 : INDENT, "", bsv_paint_on(&o->v->screen, paint),
		        (int)bytes, at, bsv_paint_off(&o->v->screen, paint));
		end_line(o);
		at += bytes;
		at += strspn(at, " ");
	}
	free(shown);
	free(text);
}

static void make_first(const struct bsv_view *v, const struct bsa_live_row *all, FILE *to)
{
	const struct bsa_live_state *s = &v->figures->state;

	(void)all;
	fprintf(to, "burstscope top: %s; ", v->source);
	if (s->lanes)
		fprintf(to, "%u %s", s->lanes, bsv_plural(s->lanes, "lane", "lanes"));
	else
		fputs("lanes unknown", to); /* a service has one at least, and reports how many */
	if (v->app)
		fprintf(to, "; app %s alone", v->app);
	if (v->paused)
		fputs("; PAUSED", to);
}

/* By clocks of two hosts that do not agree the time of a figure may be to come: then the age is unknown. */
static uint64_t age_of(const struct bsv_view *v)
{
	const struct bsa_live_state *s = &v->figures->state;

	if (!s->until || v->held_back || (s->clock_lead_ns && v->now < s->until))
		return BSA_LIVE_UNKNOWN;
	return v->now > s->until ? v->now - s->until : 0;
}

/* No execution was seen, and events of executions may exist that were not read yet: then zeros are no figures. */
static bool nothing_known(const struct bsv_view *v, const struct bsa_live_row *all)
{
	return !all->executions && (v->held_back || !v->figures->state.until);
}

static void make_totals(const struct bsv_view *v, const struct bsa_live_row *all, FILE *to)
{
	const struct bsa_live_state *s = &v->figures->state;
	bool unknown = nothing_known(v, all);
	char each[CELL] = "-", held[CELL] = "-", waiting[CELL] = "-", lanes[CELL] = "-", age[CELL];

	if (!unknown) {
		number_text(each, rate_of(v, all->executions));
		snprintf(held, sizeof(held), "%.2f", part_of_window(v, all->run_ns));
		snprintf(waiting, sizeof(waiting), "%.2f", part_of_window(v, all->queue_ns));
	}
	if (s->lanes)
		snprintf(lanes, sizeof(lanes), "%u", s->lanes);
	duration_text(age, age_of(v));
	fprintf(to, "%s/s; lanes %s of %s, %s waiting; age %s; ", each, held, lanes, waiting, age);
	if (s->lost_events || s->lost_packets)
		fprintf(to, "LOST %" PRIu64 " events, %" PRIu64 " packets", s->lost_events, s->lost_packets);
	else
		fputs(unknown ? "no loss seen yet" : "no event lost", to);
}

static void make_misses(const struct bsv_view *v, const struct bsa_live_row *all, FILE *to)
{
	enum { TENTHS = 10 };
	uint64_t explained = 0, tenths = v->figures->state.window_ns / (second / TENTHS);
	char window[CELL];

	/* How long "the last seconds" are: less than all of them in the beginning. */
	if (tenths && tenths < BSA_LIVE_SECONDS * TENTHS - TENTHS / 2)
		snprintf(window, sizeof(window), "%" PRIu64 ".%" PRIu64 " s", tenths / TENTHS, tenths % TENTHS);
	else
		snprintf(window, sizeof(window), "%d s", BSA_LIVE_SECONDS);
	if (!all->missed) {
		if (nothing_known(v, all) && v->held_back)
			fprintf(to, "misses in the last %s unknown: LTTng holds back events (no switch timer)", window);
		else if (nothing_known(v, all))
			fputs("misses unknown: no event has arrived yet", to);
		else if (v->held_back)
			fprintf(to,
			        "none of %" PRIu64 " executions seen missed a deadline; LTTng holds back newer ones",
			        all->executions);
		else
			fprintf(to, "no deadline missed in the last %s", window);
		return;
	}
	for (unsigned k = 0; k < BSA_LIVE_CAUSES; k++)
		explained += all->by_cause[k];
	fprintf(to, "%" PRIu64 " of %" PRIu64 " missed in %s:", all->missed, all->executions, window);
	list_causes(all->by_cause, v->causes ? BSA_LIVE_CAUSES : CAUSES_SHOWN, to);
	if (explained < all->missed)
		fprintf(to, "%s %" PRIu64 " not explained yet", explained ? "," : "", all->missed - explained);
}

enum { SILENT_NS = 1000000000 };

static bool is_silent(const struct bsa_live_state *s)
{
	return s->silent_ns != BSA_LIVE_UNKNOWN && s->silent_ns >= SILENT_NS;
}

static bool any_overdue(const struct bsv_view *v)
{
	const struct bsa_live_state *s = &v->figures->state;

	return !v->held_back && !v->app && s->awaited != BSA_LIVE_UNKNOWN && s->awaited && (s->overdue || is_silent(s));
}

/* Executions that should be over: no row has them before they end, and where a service hangs they never do. */
static void make_overdue(const struct bsv_view *v, const struct bsa_live_row *all, FILE *to)
{
	const struct bsa_live_state *s = &v->figures->state;
	char longest[CELL], since[CELL];

	(void)all;
	duration_text(longest, s->awaited_ns);
	fprintf(to, "%" PRIu64 " under way, the longest for %s", s->awaited, longest);
	if (s->overdue)
		fprintf(to, "; %" PRIu64 " past %s deadline", s->overdue, bsv_plural(s->overdue, "its", "their"));
	if (is_silent(s)) {
		duration_text(since, s->silent_ns);
		fprintf(to, "; NO EVENT of the service for %s", since);
	}
}

/* Print the reasons why figures may be too low. */
static void make_doubts(const struct bsv_view *v, const struct bsa_live_row *all, FILE *to)
{
	const struct bsa_live_state *s = &v->figures->state;

	(void)all;
	if (v->message)
		fprintf(to, "%s  ", v->message);
	if (s->gaps)
		fprintf(to, "began anew %" PRIu64 " %s  ", s->gaps, bsv_plural(s->gaps, "time", "times"));
	if (s->overwritten)
		fprintf(to, "%" PRIu64 " tracefiles overwritten unread  ", s->overwritten);
	if (s->late)
		fprintf(to, "%" PRIu64 " records came late, by up to %.1f ms: a larger --settle waits for them  ",
		        s->late, (double)s->late_ns / 1e6);
	if (s->impostors)
		fprintf(to, "%" PRIu64 " events of impostors left out", s->impostors);
}

static const char *const help[] = {
	"q        end, and print the sums; Ctrl-C ends, too",
	"o        order the rows by rate, p99, misses, share, name",
	"a        show the next app alone; after the last one, all apps",
	"c        show all causes, and all of the notice; again: in one line each",
	"p        pause the display; the recording continues",
	"s        save the last 30 s as a recording, in the working directory",
	"?        show this, or the rows again",
	"",
	"EXEC/S   executions that ended, per second",
	"P50 P99  time from end to end of answered executions",
	"SHARE    lane time received, as a share of what the app was entitled to",
	"LANE     executions that held a lane, on average",
	"WAIT     executions that waited for a lane, on average",
	"MISS     missed deadlines; the line above has their causes",
	"SLOT     slots that the service did not know",
	"TREND    executions, by half seconds",
	"age      how old the newest complete figures are",
	"man burstscope-top says more.",
};

/* The rows, or why there are none, above @keys lines. */
static void print_rows(struct out *o, const struct bsa_live_row *const *list, size_t n, int keys)
{
	const struct bsa_live_row all = all_of(list, n);

	if (has_room(o)) {
		for (int c = 0; c < o->columns; c++)
			put_cell(o, c, columns[c].name, BSV_TITLE);
		end_line(o);
	}
	for (size_t i = 0; i < n && (!o->v->height || o->lines < o->v->height - keys); i++) {
		const struct bsa_live_row *r = list[i];
		char text[CELL];

		for (int c = 0; c < o->columns; c++) {
			cell_text(o->v, r, c, width_of(o, c), text);
			put_cell(o, c, text, c == MISS && r->missed ? BSV_BAD : BSV_PLAIN);
		}
		end_line(o);
	}
	if (!n && (!o->v->height || o->lines < o->v->height - keys))
		put_line(o, BSV_FAINT,
		         nothing_known(o->v, &all) ? "(no execution of the last seconds has been seen)"
		                                   : "(nothing was executed in the last seconds)");
	if (!n && !o->v->figures->state.lanes && o->v->unheard && (!o->v->height || o->lines < o->v->height - keys))
		put_line(o, BSV_UNSURE_PAINT, o->v->unheard);
}

int bsv_view_print(const struct bsv_view *v, FILE *to, struct bsa_err *err)
{
	const int width = v->screen.width ? v->screen.width : BSV_VIEW_WHOLE;
	const int keys = v->keys ? 1 : 0;
	const struct bsa_live_row **list = calloc(v->figures->n_rows + (size_t)1, sizeof(*list));
	enum bsv_view_sort sort = v->sort;
	struct out o = { v, to, 0, width, 0 };
	struct bsa_live_row all;
	size_t n = 0;

	if (!list)
		return bsv_no_memory(err);
	for (uint32_t i = 0; i < v->figures->n_rows; i++)
		if (!v->app || !strcmp(v->app, v->rows[i].app))
			list[n++] = &v->rows[i];
	qsort_r(list, n, sizeof(*list), compare_rows, &sort);
	all = all_of(list, n);
	for (int right = -1; o.columns < COLUMNS && (right += columns[o.columns].width + 1) <= width; o.columns++)
		;
	line_of(&o, BSV_TITLE, false, make_first, &all);
	line_of(&o, BSV_PLAIN, false, make_totals, &all);
	line_of(&o, all.missed ? BSV_BAD : BSV_PLAIN, v->causes, make_misses, &all);
	if (any_overdue(v))
		line_of(&o, BSV_BAD, v->causes, make_overdue, &all);
	line_of(&o, BSV_UNSURE_PAINT, v->causes, make_doubts, &all);
	for (size_t i = 0; v->help && i < sizeof(help) / sizeof(*help) && (!v->height || o.lines < v->height - keys);
	     i++)
		put_line(&o, BSV_PLAIN, help[i]);
	if (!v->help)
		print_rows(&o, list, n, keys);
	if (keys) {
		char text[CELL * 2];

		snprintf(text, sizeof(text), "q quit  ? help  o order: %s  a next app  c causes  p pause  s save 30 s",
		         bsv_view_sort_name(v->sort));
		put_line(&o, BSV_FAINT, text);
	}
	free(list);
	return 0;
}

static const struct bsa_live_sum *sum_of(const struct bsv_view *v)
{
	return v->part ? &v->part->sum : &v->figures->state.sum;
}

void bsv_view_sum(const struct bsv_view *v, FILE *to)
{
	char *text = NULL;
	size_t n = 0;
	FILE *f = open_memstream(&text, &n);
	const struct bsa_live_sum *sum = sum_of(v);
	char a[BSV_COUNT_MAX], b[BSV_COUNT_MAX];
	bool any_cause = false;

	if (!f)
		return;
	fputs("in all", f);
	if (v->part)
		fprintf(f, ", of %s of %s %s", bsv_count(a, v->part->apps), bsv_count(b, v->part->of_apps),
		        bsv_plural(v->part->of_apps, "app", "apps"));
	fprintf(f, ": %s %s, %s missed", bsv_count(a, sum->executions),
	        bsv_plural(sum->executions, "execution", "executions"), bsv_count(b, sum->missed));
	for (unsigned k = 0; k < BSA_LIVE_CAUSES; k++)
		any_cause |= sum->by_cause[k] > 0;
	if (any_cause) {
		fputc(':', f);
		list_causes(sum->by_cause, CAUSES_SHOWN, f);
	}
	fputs(*v->figures->why ? "; not exact: " : "; exact", f);
	fputs(v->figures->why, f);
	fclose(f);
	bsv_print_wrapped(to, &v->screen, BSV_PLAIN, text, 2);
	free(text);
}

/* ---- for programs ---- */

/* Text of strangers: what is no UTF-8 becomes a question mark. */
static void json_text(const char *text, FILE *to)
{
	size_t n = strlen(text);

	fputc('"', to);
	while (n) {
		uint32_t letter;
		size_t bytes = bsv_letter(text, n, &letter);

		if (!bytes)
			fputc('?', to);
		else if (letter < ' ' || letter == '"' || letter == '\\' || letter == 0x7f)
			fprintf(to, "\\u%04x", letter);
		else
			fwrite(text, 1, bytes, to);
		text += bytes ? bytes : 1;
		n -= bytes ? bytes : 1;
	}
	fputc('"', to);
}

static void json_number(const char *name, uint64_t n, FILE *to)
{
	if (n == BSA_LIVE_UNKNOWN)
		fprintf(to, "\"%s\":null,", name);
	else
		fprintf(to, "\"%s\":%" PRIu64 ",", name, n);
}

/* One that may be beyond 2^53, from where on many readers of JSON do not know one from the next. */
static void json_digits(const char *name, uint64_t n, FILE *to)
{
	if (n == BSA_LIVE_UNKNOWN)
		json_number(name, n, to);
	else
		fprintf(to, "\"%s\":\"%" PRIu64 "\",", name, n);
}

static void json_causes(const uint64_t by_cause[BSA_LIVE_CAUSES], FILE *to)
{
	bool any = false;

	fputs("\"causes\":{", to);
	for (unsigned k = 0; k < BSA_LIVE_CAUSES; k++)
		if (by_cause[k]) {
			fprintf(to, "%s\"%s\":%" PRIu64, any ? "," : "", bsa_live_cause(k), by_cause[k]);
			any = true;
		}
	fputc('}', to);
}

static void json_sum(const struct bsa_live_sum *s, FILE *to)
{
	fputs("\"total\":{", to);
	json_number("executions", s->executions, to);
	json_number("missed", s->missed, to);
	json_number("incomplete", s->incomplete, to);
	json_number("slot_misses", s->slot_misses, to);
	json_digits("run_ns", s->run_ns, to);
	json_digits("queue_ns", s->queue_ns, to);
	json_causes(s->by_cause, to);
	fputc('}', to);
}

void bsv_view_json(const struct bsv_view *v, bool final, FILE *to)
{
	const struct bsa_live_state *s = &v->figures->state;
	bool any = false;

	fprintf(to, "{\"final\":%s,\"source\":", final ? "true" : "false");
	json_text(v->source, to);
	fputs(",\"message\":", to);
	if (v->message)
		json_text(v->message, to);
	else
		fputs("null", to);
	fputc(',', to);
	json_digits("at_ns", v->now, to);
	json_digits("until_ns", s->until && !v->held_back ? s->until : BSA_LIVE_UNKNOWN, to);
	json_number("lag_ns", age_of(v), to);
	json_number("counted_p50_ns", s->counted_p50_ns, to);
	json_number("counted_p99_ns", s->counted_p99_ns, to);
	json_number("window_ns", s->window_ns, to);
	json_number("lanes", s->lanes, to);
	json_number("awaited", v->held_back ? BSA_LIVE_UNKNOWN : s->awaited, to);
	json_number("overdue", v->held_back ? BSA_LIVE_UNKNOWN : s->overdue, to);
	json_number("awaited_ns", v->held_back ? BSA_LIVE_UNKNOWN : s->awaited_ns, to);
	json_number("silent_ns", v->held_back ? BSA_LIVE_UNKNOWN : s->silent_ns, to);
	json_number("losses", s->losses, to);
	json_number("lost_events", s->lost_events, to);
	json_number("lost_packets", s->lost_packets, to);
	json_number("late", s->late, to);
	json_number("late_ns", s->late_ns, to);
	json_number("overwritten", s->overwritten, to);
	json_number("broken", s->broken, to);
	json_number("gaps", s->gaps, to);
	json_number("impostors", s->impostors, to);
	fprintf(to, "\"exact\":%s,\"why\":", *v->figures->why ? "false" : "true");
	if (*v->figures->why)
		json_text(v->figures->why, to);
	else
		fputs("null", to);
	fputc(',', to);
	json_sum(sum_of(v), to);
	fputs(",\"models\":[", to);
	for (uint32_t i = 0; i < v->figures->n_rows; i++) {
		const struct bsa_live_row *r = &v->rows[i];

		if (v->app && strcmp(v->app, r->app) != 0)
			continue;
		if (any)
			fputc(',', to);
		fputs("{\"app\":", to);
		json_text(r->app, to);
		fputs(",\"model\":", to);
		json_text(r->model, to);
		fputc(',', to);
		json_number("executions", r->executions, to);
		json_number("answered", r->answered, to);
		json_number("missed", r->missed, to);
		json_number("slot_misses", r->slot_misses, to);
		fprintf(to, "\"per_second\":%.3f,\"lanes\":%.4f,\"waiting\":%.4f,", rate_of(v, r->executions),
		        part_of_window(v, r->run_ns), part_of_window(v, r->queue_ns));
		json_number("p50_ns", r->p50_ns, to);
		json_number("p99_ns", r->p99_ns, to);
		json_number("received_ns", r->received_ns, to);
		json_number("entitled_ns", r->entitled_ns, to);
		json_causes(r->by_cause, to);
		fputc(',', to);
		json_sum(&r->sum, to);
		fputc('}', to);
		any = true;
	}
	fputs("]}\n", to);
}
