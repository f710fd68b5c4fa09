/*
 * table.c -- columns as wide as what is in the first rows, and no wider together than the screen:
 * texts are cut, or go on in the next line where they are sentences; then columns are left out from
 * the right.
 */
#include <stdlib.h>
#include <string.h>

#include "base/scoped.h"
#include "base/template.h"
#include "render/render.h"
#include "render/scale.h"

enum { FIRST_ROWS = 1000, GAP = 2, SHORT_TEXT = 12, SENTENCE = 24, NARROW_SCREEN = 48, MARKED_BELOW = 100 };

struct column {
	char *head;
	struct bsv_scale scale;
	struct bsv_extent extent;
	bool right, text, marked, id;
	int content, head_word; /* as wide as what is in it; as the longest word of its head */
	int sentence;           /* the least width in which a sentence goes on in the next line */
	int natural, width;     /* natural: with all of its head in a line */
	size_t samples;         /* percentiles of fewer samples are marked */
};

/* The first rows, a cell after the other. */
struct table {
	FILE *to;
	struct bsv_rows *rows;
	const struct bsv_screen *screen;
	bool raw;
	const char *whole; /* options that print all columns */
	size_t n, shown;   /* columns, and how many of them fit */
	size_t n_at;       /* the column with the number of samples; n: there is none */
	struct column *columns;
	struct bsv_extent durations; /* the range over all columns */
	struct bsv_cell *cells;
	size_t kept;
	struct bsv_cell *row; /* room for one */
	char **line;
	int pending; /* spaces, if anything comes behind them */
};

static void table_fini(struct table *t)
{
	for (size_t i = 0; i < t->kept; i++)
		free((char *)t->cells[i].text);
	free(t->cells);
	for (size_t i = 0; t->columns && i < t->n; i++)
		free(t->columns[i].head);
	free(t->columns);
	free(t->row);
	free(t->line);
}

/* ---- what is in a column ---- */

static bool is_number(struct bsv_cell c)
{
	return c.type == BSA_INT || c.type == BSA_REAL;
}

static bool has_few_samples(const struct table *t, const struct bsv_cell *row, size_t column)
{
	return !t->raw && t->columns[column].samples && t->n_at < t->n && row[t->n_at].type == BSA_INT &&
	       row[t->n_at].integer < (int64_t)t->columns[column].samples && is_number(row[column]);
}

/* Owned by the caller. */
static char *cell_text(const struct table *t, const struct bsv_cell *row, size_t column)
{
	const struct column *c = &t->columns[column];
	char number[BSV_SCALED_TEXT + 1];

	switch (row[column].type) {
	case BSA_NULL:
		return strdup("-");
	case BSA_INT:
	case BSA_REAL:
		bsv_scaled(number, &c->scale, row[column]);
		if (c->marked)
			strcat(number, has_few_samples(t, row, column) ? "*" : " ");
		return strdup(number);
	default:
		return bsv_printable(row[column].text, row[column].bytes, 0);
	}
}

static bool measure_columns(struct table *t)
{
	for (size_t i = 0; i < t->n; i++) {
		const struct bsv_column *of = bsv_rows_column(t->rows, i);
		struct column *c = &t->columns[i];
		struct bsv_extent extent = c->extent;

		/* Columns that are compared have one unit and as many decimals. */
		for (size_t j = 0; j < t->n; j++)
			if (bsv_are_compared(of->name, bsv_rows_column(t->rows, j)->name))
				bsv_extent_join(&extent, &t->columns[j].extent);
		c->scale = t->raw ? bsv_scale_none : bsv_scale_of(of->class, &extent, &t->durations);
		c->head = t->raw ? bsv_printable(of->name, strlen(of->name), 0) : bsv_name_in_words(of->name);
		if (c->head && !t->raw && *c->scale.unit) {
			char *said = c->head;

			c->head = bsv_text("%s %s", said, c->scale.unit);
			free(said);
		}
		if (!c->head)
			return false;
		c->sentence = t->screen->width && t->screen->width < NARROW_SCREEN ? SHORT_TEXT : SENTENCE;
		for (const char *at = c->head; *at;) {
			size_t n = strcspn(at, " ");
			char *word = strndup(at, n);
			int width = word ? bsv_width(word) : (int)n;

			c->head_word = width > c->head_word ? width : c->head_word;
			free(word);
			at += n + strspn(at + n, " ");
		}
		c->id = of->class && !strcmp(of->class, "id");
		c->right |= !t->raw && of->class && strcmp(of->class, "text") && strcmp(of->class, "label") && !c->text;
		/* p99 of fewer than 100 is only the longest. */
		c->samples = strstr(of->name, "p999") ? 10 * MARKED_BELOW : strstr(of->name, "p99") ? MARKED_BELOW : 0;
		for (size_t j = 0; j < t->kept; j += t->n)
			c->marked |= has_few_samples(t, t->cells + j, i);
		for (size_t j = 0; j < t->kept; j += t->n) {
			char *s = cell_text(t, t->cells + j, i);
			int width = s ? bsv_width(s) : 0;

			if (!s)
				return false;
			c->content = width > c->content ? width : c->content;
			free(s);
		}
		c->natural = bsv_width(c->head);
		c->natural = c->content > c->natural ? c->content : c->natural;
	}
	return true;
}

static bool keep_row(struct table *t)
{
	for (size_t i = 0; i < t->n; i++) {
		const char *class = bsv_rows_column(t->rows, i)->class;
		struct bsv_cell c = bsv_rows_cell(t->rows, i);

		if (c.text) {
			char *own = malloc(c.bytes + 1);

			if (!own)
				return false;
			memcpy(own, c.text, c.bytes);
			own[c.bytes] = 0;
			c.text = own;
		}
		t->cells[t->kept++] = c;
		t->columns[i].right |= is_number(c);
		t->columns[i].text |= c.type == BSA_STRING || c.type == BSA_BYTES;
		bsv_extent_add(&t->columns[i].extent, c);
		if (class && !strcmp(class, "duration"))
			bsv_extent_add(&t->durations, c);
	}
	return true;
}

/* ---- how wide they may be ---- */

static int larger_of(int a, int b)
{
	return a > b ? a : b;
}

/* With its head in several lines. */
static int least_whole(const struct column *c)
{
	return larger_of(c->content, c->head_word);
}

static int least_width(const struct column *c)
{
	if (c->id) /* to be typed: half of it is of no use */
		return least_whole(c);

	int least = larger_of(c->content > c->sentence ? c->sentence : SHORT_TEXT, c->head_word);

	return c->text && c->content > least ? least : least_whole(c);
}

/* Where there is only one column left, of texts, and no room even for that. */
static int least_any(const struct column *c)
{
	return c->text ? 1 : c->width;
}

/* Take up to @over columns off the first @n, the widest first; what is left of it. */
static int shrink_columns(struct column *columns, size_t n, int over, int (*least)(const struct column *))
{
	while (over > 0) {
		struct column *widest = NULL;

		for (size_t i = 0; i < n; i++)
			if (columns[i].width > least(&columns[i]) && (!widest || columns[i].width > widest->width))
				widest = &columns[i];
		if (!widest)
			break;
		widest->width--;
		over--;
	}
	return over;
}

static void fit_columns(struct table *t)
{
	for (t->shown = t->n; t->shown > 0; t->shown--) {
		int natural = 0, least = 0, gaps = GAP * (int)(t->shown - 1);

		for (size_t i = 0; i < t->shown; i++) {
			natural += t->columns[i].width = t->columns[i].natural;
			least += least_width(&t->columns[i]);
		}
		if (!t->screen->width || natural + gaps <= t->screen->width)
			break;
		if (least + gaps <= t->screen->width || t->shown == 1) {
			int over = natural + gaps - t->screen->width;

			over = shrink_columns(t->columns, t->shown, over, least_whole);
			over = shrink_columns(t->columns, t->shown, over, least_width);
			shrink_columns(t->columns, t->shown, over, least_any);
			break;
		}
	}
}

/* ---- printing ---- */

static void print_padded(struct table *t, size_t column, const char *s, size_t bytes, int paint)
{
	static const struct {
		const char *word;
		int paint;
	} words[] = {
		{ "pass", BSV_GOOD },
		{ "faster", BSV_GOOD },
		{ "fail", BSV_BAD },
		{ "slower", BSV_BAD },
		{ "inconclusive", BSV_UNSURE_PAINT },
		{ "cannot tell", BSV_UNSURE_PAINT },
	};
	const char *name = bsv_rows_column(t->rows, column)->name;
	bool judges = !strcmp(name, "verdict") || !strcmp(name, "result");
	const struct column *c = &t->columns[column];
	char *shown = strndup(s, bytes);
	int pad;

	if (!shown)
		return;
	for (size_t i = 0; judges && !paint && i < sizeof(words) / sizeof(*words); i++)
		if (!strcasecmp(shown, words[i].word)) /* painted where it stands alone */
			paint = words[i].paint;
	pad = c->width - bsv_width(shown);
	pad = pad > 0 ? pad : 0;
	if (*shown)
		fprintf(t->to, "%*s%s%s%s", t->pending + (c->right ? pad : 0), "", bsv_paint_on(t->screen, paint),
		        shown, bsv_paint_off(t->screen, paint));
	t->pending = (*shown ? c->right ? 0 : pad : t->pending + c->width) + GAP;
	free(shown);
}

static void print_end(struct table *t)
{
	fputc('\n', t->to);
	t->pending = 0;
}

static bool column_wraps(const struct column *c)
{
	return c->text && !c->right && c->width < c->natural && c->width >= c->sentence;
}

static bool print_row(struct table *t, const struct bsv_cell *row)
{
	char **cells = t->line;
	bool fine = true, more;

	for (size_t i = 0; i < t->shown; i++) {
		const struct column *c = &t->columns[i];

		cells[i] = cell_text(t, row, i);
		if (cells[i] && c->text && !column_wraps(c) && bsv_width(cells[i]) > c->width) {
			char *whole = cells[i];

			cells[i] = bsv_printable(whole, strlen(whole), c->width);
			free(whole);
		}
		fine = fine && cells[i];
	}

	/* As many lines as the longest sentence takes; what was printed is taken off the beginnings of the cells. */
	for (more = fine; more;) {
		more = false;
		for (size_t i = 0; i < t->shown; i++) {
			size_t n = column_wraps(&t->columns[i]) ? bsv_line(cells[i], t->columns[i].width)
			                                        : strlen(cells[i]);
			char *rest = cells[i] + n;

			print_padded(t, i, cells[i], n, BSV_PLAIN);
			rest += strspn(rest, " ");
			more |= *rest != 0;
			memmove(cells[i], rest, strlen(rest) + 1);
		}
		print_end(t);
	}
	for (size_t i = 0; i < t->shown; i++)
		free(cells[i]);
	return fine;
}

/* Line @line of @head; NULL: it has not so many. */
static const char *head_line(const struct column *c, int line, size_t *ret_bytes)
{
	const char *at = c->head;

	while (*at) {
		*ret_bytes = bsv_line(at, c->width);
		if (line-- == 0)
			return at;
		at += *ret_bytes;
		at += strspn(at, " ");
	}
	return NULL;
}

/* A head is aligned like the values below it. */
static void print_heads(struct table *t)
{
	int most = 1;
	size_t n;

	for (size_t i = 0; i < t->shown; i++)
		while (head_line(&t->columns[i], most, &n))
			most++;
	for (int line = 0; line < most; line++) {
		for (size_t i = 0; i < t->shown; i++) {
			int has = 0;
			const char *s;

			while (head_line(&t->columns[i], has, &n))
				has++;
			s = line + has < most ? NULL : head_line(&t->columns[i], line + has - most, &n);
			print_padded(t, i, s ? s : "", s ? n : 0, BSV_TITLE);
		}
		print_end(t);
	}
}

/*
 * What a column that has no room is called. NULL: nothing is missing without it, because it is a
 * bar, which draws a column of figures and has no name. A column of a query (raw) may have no name,
 * either, and has values of its own.
 */
static const char *missed_column(const struct table *t, size_t i)
{
	if (*t->columns[i].head)
		return t->columns[i].head;
	return t->raw ? "a column without a name" : NULL;
}

static void print_remarks(const struct table *t)
{
	static const char few_samples[] = "* of fewer than 100 (p999: 1000): the longest of them, or nearly";
	const char *separator = "", *name;
	bool marked = false;
	char *text = NULL;
	size_t bytes;
	FILE *to;

	for (size_t i = 0; i < t->shown; i++)
		marked |= t->columns[i].marked;
	if (!t->kept)
		fputs("(none)\n", t->to);
	if (marked)
		bsv_print_wrapped(t->to, t->screen, BSV_PLAIN, few_samples, 2);
	to = t->shown < t->n ? open_memstream(&text, &bytes) : NULL;
	if (!to)
		return;

	/* "(no room for p99 ms, max ms; --part phases --format csv has all)" */
	for (size_t i = t->shown; i < t->n; i++) {
		name = missed_column(t, i);
		if (!name)
			continue;
		fprintf(to, "%s %s", *separator ? separator : "(no room for", name);
		separator = ",";
	}
	if (*separator)
		fprintf(to, "; %s has all)", t->whole);
	if (!fclose(to) && *text)
		bsv_print_wrapped(t->to, t->screen, BSV_PLAIN, text, 2);
	free(text);
}

int bsv_render_table(FILE *to, struct bsv_rows *rows, const struct bsv_screen *screen, bool raw, const char *whole,
                     struct bsa_err *err)
{
	__attribute__((cleanup(table_fini))) struct table t = {
		.to = to, .rows = rows, .screen = screen, .raw = raw, .whole = whole, .n = bsv_rows_columns(rows)
	};
	bool fine;
	int r = 1;

	t.columns = calloc(t.n + 1, sizeof(*t.columns));
	t.cells = calloc(t.n * FIRST_ROWS + 1, sizeof(*t.cells));
	t.row = calloc(t.n + 1, sizeof(*t.row));
	t.line = calloc(t.n + 1, sizeof(*t.line));
	t.n_at = t.n;
	for (size_t i = 0; i < t.n; i++)
		if (!strcmp(bsv_rows_column(rows, i)->name, "n"))
			t.n_at = i;
	fine = t.columns && t.cells && t.row && t.line;

	/* The first rows decide how wide the columns are. */
	for (size_t i = 0; fine && i < FIRST_ROWS && (r = bsv_rows_step(rows, err)) > 0; i++)
		fine = keep_row(&t);
	if (fine && r >= 0 && (fine = measure_columns(&t))) {
		fit_columns(&t);
		print_heads(&t);
		for (size_t i = 0; fine && i < t.kept; i += t.n)
			fine = print_row(&t, t.cells + i);
	}
	while (fine && r > 0 && !ferror(to) && (r = bsv_rows_step(rows, err)) > 0) {
		for (size_t i = 0; i < t.n; i++)
			t.row[i] = bsv_rows_cell(rows, i);
		fine = print_row(&t, t.row);
	}
	if (fine && r >= 0)
		print_remarks(&t);
	return fine ? r < 0 ? r : 0 : bsv_no_memory(err);
}
