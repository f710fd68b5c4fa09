/* bars.c -- draws tables that have a bar at the end of each row. */
#include "render/bars.h"

#include <stdlib.h>
#include <string.h>

#include "base/letters.h"
#include "base/scoped.h"
#include "base/vector.h"
#include "render/cells.h"

enum { COLUMNS_MAX = 8, GAP = 2, BAR_LEAST = 8, BAR_ENOUGH = 14 };

struct stretch {
	int64_t began, ended;
	const char *glyph; /* a mark, at began */
};

struct row {
	const struct bsv_bars_column *columns; /* NULL: a line of text, in cells[0] */
	char *cells[COLUMNS_MAX];
	struct stretch *stretches;
	size_t n_cells, n;
	int paint;
	bool head;
};

struct bsv_bars {
	struct row *rows;
	size_t n;
	const struct bsv_bars_column *columns;
	int64_t from, to, line;
	bool lined, failed;
};

static void free_pointee(void *p)
{
	free(*(void **)p);
}

/* How it is laid out. */
struct layout {
	struct bsv_span span;
	int width, left, bar, line;    /* bar: where it begins; cells 0: nothing is drawn */
	bool without[COLUMNS_MAX + 1]; /* columns that are as dear */
	int dearest;
};

struct bsv_bars *bsv_bars_new(int64_t from, int64_t to)
{
	struct bsv_bars *b = calloc(1, sizeof(*b));

	if (!b)
		return NULL;
	b->from = from;
	b->to = to > from ? to : from + 1;
	return b;
}

struct bsv_bars *bsv_bars_free(struct bsv_bars *b)
{
	if (!b)
		return NULL;
	for (size_t i = 0; i < b->n; i++) {
		for (size_t j = 0; j < b->rows[i].n_cells; j++)
			free(b->rows[i].cells[j]);
		free(b->rows[i].stretches);
	}
	free(b->rows);
	free(b);
	return NULL;
}

void bsv_bars_line(struct bsv_bars *b, int64_t at)
{
	if (!b)
		return;
	b->line = at;
	b->lined = true;
}

static struct row *add_row(struct bsv_bars *b, const struct bsv_bars_column *columns)
{
	if (!b || b->failed)
		return NULL;
	if (!bsv_array_grow(&b->rows, b->n, sizeof(*b->rows))) {
		b->failed = true;
		return NULL;
	}
	b->rows[b->n] = (struct row){ .columns = columns };
	return &b->rows[b->n++];
}

void bsv_bars_cell(struct bsv_bars *b, const char *text)
{
	struct row *row;

	if (!b || b->failed || !b->n)
		return;
	row = &b->rows[b->n - 1];
	if (row->n_cells == COLUMNS_MAX)
		return;
	row->cells[row->n_cells] = bsv_printable(text ? text : "", text ? strlen(text) : 0, 0);
	if (row->cells[row->n_cells])
		row->n_cells++;
	else
		b->failed = true;
}

void bsv_bars_text(struct bsv_bars *b, const char *text)
{
	if (add_row(b, NULL))
		bsv_bars_cell(b, text);
}

void bsv_bars_section(struct bsv_bars *b, const char *title, const struct bsv_bars_column *columns)
{
	struct row *row;

	if (title)
		bsv_bars_text(b, title);
	row = add_row(b, columns);
	if (!row)
		return;
	b->columns = columns;
	row->head = true;
	for (; columns->name; columns++)
		bsv_bars_cell(b, columns->name);
}

void bsv_bars_row(struct bsv_bars *b, int paint)
{
	struct row *row = b ? add_row(b, b->columns) : NULL;

	if (row)
		row->paint = paint;
}

static void add_stretch(struct bsv_bars *b, struct stretch s)
{
	struct row *row;

	if (!b || b->failed || !b->n)
		return;
	row = &b->rows[b->n - 1];
	if (bsv_array_grow(&row->stretches, row->n, sizeof(*row->stretches)))
		row->stretches[row->n++] = s;
	else
		b->failed = true;
}

void bsv_bars_stretch(struct bsv_bars *b, int64_t began, int64_t ended)
{
	add_stretch(b, (struct stretch){ began, ended, NULL });
}

void bsv_bars_mark(struct bsv_bars *b, int64_t at, const char *glyph)
{
	add_stretch(b, (struct stretch){ at, at, glyph });
}

/* ---- as wide as the screen allows ---- */

/* How wide column @nth of a section is. */
static int column_width(const struct bsv_bars *b, const struct bsv_bars_column *columns, size_t nth)
{
	int most = 0;

	for (size_t i = 0; i < b->n; i++) {
		const struct row *row = &b->rows[i];
		int width = row->columns == columns && nth < row->n_cells ? bsv_width(row->cells[nth]) : 0;

		if (width > most)
			most = width;
	}
	return most;
}

/* The width of a section's columns with their gaps, without hidden columns; with @cut, as narrow as possible. */
static int section_width(const struct bsv_bars *b, const struct layout *l, const struct bsv_bars_column *columns,
                         bool cut)
{
	int width = 0;

	for (size_t i = 0; columns[i].name; i++) {
		int own = l->without[columns[i].dear] ? -GAP : column_width(b, columns, i);

		if (cut && columns[i].least && own > columns[i].least)
			own = columns[i].least;
		width += own + GAP;
	}
	return width;
}

static int left_width(const struct bsv_bars *b, const struct layout *l, bool cut)
{
	const struct bsv_bars_column *latest = NULL;
	int most = 0;

	for (size_t i = 0; i < b->n; i++) {
		int width;

		if (!b->rows[i].columns || b->rows[i].columns == latest)
			continue;
		latest = b->rows[i].columns;
		width = section_width(b, l, latest, cut);
		if (width > most)
			most = width;
	}
	return most;
}

/* ---- lines of text ---- */

/* How many bytes of @s fit into @columns: whole letters. */
static size_t fitting_bytes(const char *s, int columns)
{
	size_t n = strlen(s), at = 0;
	int width = 0;

	while (at < n) {
		char letter[8] = "";
		uint32_t c;
		size_t length = bsv_letter(s + at, n - at, &c);

		memcpy(letter, s + at, length ? length : 1);
		width += bsv_width(letter);
		if (width > columns && at)
			break;
		at += length ? length : 1;
	}
	return at;
}

void bsv_wrap(FILE *to, const struct bsv_screen *screen, int indent, const char *text)
{
	int room = bsv_columns(screen);
	bool first = true;

	while (*text) {
		size_t n = fitting_bytes(text, first ? room : room - indent), cut = n;

		if (text[n]) { /* not inside of a word, if there is another place */
			while (cut && text[cut] != ' ')
				cut--;
			if (!cut)
				cut = n;
		}
		for (n = cut; n && text[n - 1] == ' ';)
			n--;
		fprintf(to, "%*s%.*s\n", first ? 0 : indent, "", (int)n, text);
		text += cut;
		text += strspn(text, " ");
		first = false;
	}
	if (first)
		fputc('\n', to);
}

/* ---- printing ---- */

struct line {
	FILE *to;
	const struct bsv_screen *screen;
	int blanks; /* number of blanks to print before the next character; a line does not end with blanks */
};

static void owe_blanks(struct line *out, int n)
{
	out->blanks += n > 0 ? n : 0;
}

static void put_text(struct line *out, int paint, const char *text)
{
	if (!*text)
		return;
	fprintf(out->to, "%*s%s%s%s", out->blanks, "", bsv_paint_on(out->screen, paint), text,
	        bsv_paint_off(out->screen, paint));
	out->blanks = 0;
}

static int print_left(const struct bsv_bars *b, const struct layout *l, const struct row *row, struct line *out)
{
	int at = 0;

	for (size_t i = 0; i < row->n_cells; i++) {
		const struct bsv_bars_column *columns = row->columns;
		int most = column_width(b, columns, i), over = section_width(b, l, columns, false) - l->left, pad;
		char *text;

		if (l->without[columns[i].dear])
			continue;

		/* The excess is cut where it may be: columns on the right are narrowed first. */
		for (size_t k = i + 1; columns[k].name && over > 0; k++)
			if (columns[k].least && !l->without[columns[k].dear] &&
			    column_width(b, columns, k) > columns[k].least)
				over -= column_width(b, columns, k) - columns[k].least;
		if (over > 0 && columns[i].least && most > columns[i].least)
			most = most - over > columns[i].least ? most - over : columns[i].least;
		text = bsv_printable(row->cells[i], strlen(row->cells[i]), most);
		if (!text)
			return -1;
		pad = most - bsv_width(text);
		owe_blanks(out, row->columns[i].right ? pad : 0);
		put_text(out, row->head ? BSV_FAINT : BSV_PLAIN, text);
		owe_blanks(out, (row->columns[i].right ? 0 : pad) + GAP);
		at += most + GAP;
		free(text);
	}
	owe_blanks(out, l->left - at);
	return 0;
}

static int print_bar(const struct layout *l, const struct row *row, struct line *out)
{
	__attribute__((cleanup(free_pointee))) const char **cells = calloc((size_t)l->span.cells, sizeof(*cells));
	__attribute__((cleanup(free_pointee))) struct bsv_cover *covers =
		calloc((size_t)l->span.cells, sizeof(*covers));
	bool unicode = out->screen->unicode;

	if (!cells || !covers)
		return -1;

	/* The glyph of each cell, NULL where there is none. */
	for (size_t i = 0; i < row->n; i++)
		if (!row->stretches[i].glyph)
			bsv_cover_add(covers, &l->span, row->stretches[i].began, row->stretches[i].ended);
	for (int i = 0; i < l->span.cells; i++)
		cells[i] = bsv_bar_glyph(&covers[i], &l->span, unicode);
	for (size_t i = 0; i < row->n; i++)
		if (row->stretches[i].glyph)
			cells[bsv_span_cell(&l->span, row->stretches[i].began)] = row->stretches[i].glyph;

	for (int i = 0; i < l->span.cells; i++)
		if (cells[i])
			put_text(out, row->paint, cells[i]);
		else if (i == l->line)
			put_text(out, BSV_FAINT, unicode ? "┊" : ":");
		else
			owe_blanks(out, 1);
	return 0;
}

int bsv_bars_print(struct bsv_bars *b, FILE *to, const struct bsv_screen *screen, struct bsa_err *err)
{
	struct line out = { to, screen, 0 };
	struct layout l = { .width = bsv_columns(screen), .line = -1 };
	int r = 0, wanted = l.width / 4 > BAR_LEAST ? l.width / 4 : BAR_LEAST;

	if (!b || b->failed)
		return bsv_no_memory(err);

	/* Leave out what can be done without, until there is room for the bars. */
	for (int dear = COLUMNS_MAX; dear > 0 && l.width - left_width(b, &l, true) < wanted; dear--)
		l.without[dear] = true;
	l.left = left_width(b, &l, false);
	if (l.width - l.left < BAR_ENOUGH) { /* names whole before long bars */
		l.left = left_width(b, &l, true);
		if (l.width - l.left > BAR_ENOUGH)
			l.left = l.width - BAR_ENOUGH;
	}
	l.span = (struct bsv_span){ b->from, b->to, l.width - l.left };
	if (l.span.cells < BAR_LEAST)
		l.span.cells = 0;
	if (b->lined && l.span.cells && b->line >= b->from && b->line <= b->to)
		l.line = bsv_span_cell(&l.span, b->line);

	for (size_t i = 0; i < b->n && !r; i++) {
		const struct row *row = &b->rows[i];

		if (!row->columns) {
			bsv_wrap(to, screen, 2, row->n_cells ? row->cells[0] : "");
			continue;
		}
		r = print_left(b, &l, row, &out);
		if (!r && l.span.cells && !row->head)
			r = print_bar(&l, row, &out);
		if (r)
			break;
		fputc('\n', to);
		out.blanks = 0;
	}
	return r ? bsv_no_memory(err) : 0;
}
