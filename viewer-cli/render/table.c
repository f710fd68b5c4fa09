/*
 * table.c -- columns as wide as what is in the first rows, and no wider together than the screen:
 * texts are cut, or go on in the next line where they are sentences. Where that is not enough, the
 * table is broken: the columns that have no room follow below, in a block that repeats the names at
 * the beginning of each row. A figure is never cut or left out.
 *
 * A broken table is printed in pages of FIRST_ROWS rows: all blocks of a page, then those of the
 * next. Each row is read once, because a query that is run again may return other rows (random(),
 * an order with ties), and no more than a page of rows is kept.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/letters.h"
#include "base/scoped.h"
#include "base/text.h"
#include "render/render.h"
#include "render/scale.h"

enum { FIRST_ROWS = 1000, GAP = 2, SHORT_TEXT = 12, SENTENCE = 24, NARROW_SCREEN = 48, MARKED_BELOW = 100 };

struct column {
	char *head;
	struct bsv_scale scale;
	struct bsv_extent extent;
	bool right, text, marked, id;
	bool lines;             /* line breaks in a text begin new lines */
	bool judges;            /* has verdicts, which are painted */
	int content, head_word; /* as wide as what is in it; as the longest word of its head */
	int sentence;           /* the least width in which a sentence goes on in the next line */
	int natural, width;     /* natural: with all of its head in a line */
	size_t samples;         /* percentiles of fewer samples are marked */
};

struct table {
	FILE *to;
	struct bsv_rows *rows;
	const struct bsv_screen *screen;
	bool raw;
	size_t n;
	size_t keys;   /* leading columns that name a row, and are repeated in each block */
	size_t *block; /* the columns of the block that is being printed */
	size_t shown;  /* number of those */
	size_t n_at;   /* the column with the number of samples; n: there is none */
	struct column *columns;
	struct bsv_extent durations; /* the range over all columns */
	struct bsv_cell *cells;      /* the rows of the page, a cell after the other */
	size_t kept;                 /* number of those cells */
	bool empty;                  /* there are no rows */
	struct bsv_cell *row;        /* room for one */
	char **line;
	int pending; /* spaces, if anything comes behind them */
};

static void drop_rows(struct table *t)
{
	for (size_t i = 0; i < t->kept; i++)
		free((char *)t->cells[i].text);
	t->kept = 0;
}

static void table_fini(struct table *t)
{
	drop_rows(t);
	free(t->cells);
	for (size_t i = 0; t->columns && i < t->n; i++)
		free(t->columns[i].head);
	free(t->columns);
	free(t->row);
	free(t->line);
	free(t->block);
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

/* The width of the widest line of @text. */
static int lines_width(const char *text)
{
	char *copy, *rest;
	int width = 0;

	if (!strchr(text, '\n'))
		return bsv_width(text);
	rest = copy = strdup(text);
	for (char *line; copy && (line = strsep(&rest, "\n"));) {
		int of = bsv_width(line);

		width = of > width ? of : width;
	}
	free(copy);
	return width;
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
		return c->lines ? bsv_printable_lines(row[column].text, row[column].bytes)
		                : bsv_printable(row[column].text, row[column].bytes, 0);
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
		c->lines = of->class && !strcmp(of->class, "lines");
		c->judges = !strcmp(of->name, "verdict") || !strcmp(of->name, "result");
		c->right |= !t->raw && of->class && strcmp(of->class, "text") && strcmp(of->class, "label") && !c->text;
		/* p99 of fewer than 100 is only the longest. */
		c->samples = strstr(of->name, "p999") ? 10 * MARKED_BELOW : strstr(of->name, "p99") ? MARKED_BELOW : 0;
		for (size_t j = 0; j < t->kept; j += t->n)
			c->marked |= has_few_samples(t, t->cells + j, i);
		for (size_t j = 0; j < t->kept; j += t->n) {
			char *s = cell_text(t, t->cells + j, i);
			int width = s ? lines_width(s) : 0;

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
	}
	return true;
}

/* What the row that was kept last means for its columns. */
static void note_row(struct table *t)
{
	for (size_t i = 0; i < t->n; i++) {
		const char *class = bsv_rows_column(t->rows, i)->class;
		struct bsv_cell c = t->cells[t->kept - t->n + i];

		t->columns[i].right |= is_number(c);
		t->columns[i].text |= c.type == BSA_STRING || c.type == BSA_BYTES;
		bsv_extent_add(&t->columns[i].extent, c);
		if (class && !strcmp(class, "duration"))
			bsv_extent_add(&t->durations, c);
	}
}

/* Keep the next rows, a page at most, in place of those before. 1: there may be more. 0: these are the last. */
static int keep_page(struct table *t, bool first, struct bsa_err *err)
{
	int r = 1;

	drop_rows(t);
	for (size_t i = 0; i < FIRST_ROWS && (r = bsv_rows_step(t->rows, err)) > 0; i++) {
		if (!keep_row(t))
			return bsv_no_memory(err);
		if (first) /* the first rows decide how wide the columns are */
			note_row(t);
	}
	return r;
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

/* Take up to @over off the widths of the block, the widest column first; what is left of it. */
static int shrink_columns(struct table *t, int over, int (*least)(const struct column *))
{
	while (over > 0) {
		struct column *widest = NULL;

		for (size_t i = 0; i < t->shown; i++) {
			struct column *c = &t->columns[t->block[i]];

			if (c->width > least(c) && (!widest || c->width > widest->width))
				widest = c;
		}
		if (!widest)
			break;
		widest->width--;
		over--;
	}
	return over;
}

/*
 * The columns that name a row: those before the first figure, as far as they take half of the
 * screen at most; at least the first one.
 */
static size_t count_keys(const struct table *t)
{
	size_t n = 0;
	int width = 0;

	for (; n + 1 < t->n; n++) {
		const struct column *c = &t->columns[n];

		width += least_width(c) + GAP;
		if (n && (width > t->screen->width / 2 || !(c->text || c->id)))
			break;
	}
	return n;
}

/* The sum of @width over the columns of the block, with the gaps between them. */
static int sum_widths(const struct table *t, int (*width)(const struct column *))
{
	int sum = GAP * ((int)t->shown - 1);

	for (size_t i = 0; i < t->shown; i++)
		sum += width(&t->columns[t->block[i]]);
	return sum;
}

static int natural_width(const struct column *c)
{
	return c->natural;
}

/*
 * Choose the columns of the block that begins with column @from, and their widths. Returns the
 * first column that has no room in it.
 */
static size_t fill_block(struct table *t, size_t from)
{
	int room = t->screen->width;
	size_t keys = from ? t->keys : 0, first;

	for (;; keys--) { /* without names, where there is no room for them beside a single column */
		for (t->shown = 0; t->shown < keys; t->shown++)
			t->block[t->shown] = t->shown;
		first = t->shown;
		t->block[t->shown++] = from;
		if (!keys || sum_widths(t, least_width) <= room)
			break;
	}
	for (from++; from < t->n; from++) {
		t->block[t->shown++] = from;
		if (room && sum_widths(t, natural_width) > room && sum_widths(t, least_width) > room) {
			t->shown--;
			break;
		}
	}
	assert(first < t->shown);
	for (size_t i = 0; i < t->shown; i++)
		t->columns[t->block[i]].width = t->columns[t->block[i]].natural;
	if (room) {
		int over = sum_widths(t, natural_width) - room;

		over = shrink_columns(t, over, least_whole);
		over = shrink_columns(t, over, least_width);
		shrink_columns(t, over, least_any);
	}
	/*
	 * A bar draws the column of figures before it, has no name, and nothing is missing without it. A column of a
	 * query (raw) may have no name, either, and has values of its own.
	 */
	while (from < t->n && !t->raw && !*t->columns[from].head)
		from++;
	return from;
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
	const struct column *c = &t->columns[column];
	bsv_scoped_text *part = s[bytes] ? strndup(s, bytes) : NULL;
	const char *shown = s[bytes] ? part : s;
	int pad;

	if (!shown)
		return;
	for (size_t i = 0; c->judges && !paint && i < sizeof(words) / sizeof(*words); i++)
		if (!strcasecmp(shown, words[i].word)) /* painted where it stands alone */
			paint = words[i].paint;
	pad = c->width - bsv_width(shown);
	pad = pad > 0 ? pad : 0;
	if (*shown) { /* no format: a table may have a million cells */
		for (int blanks = t->pending + (c->right ? pad : 0); blanks > 0; blanks--)
			putc(' ', t->to);
		fputs(bsv_paint_on(t->screen, paint), t->to);
		fputs(shown, t->to);
		fputs(bsv_paint_off(t->screen, paint), t->to);
	}
	t->pending = (*shown ? c->right ? 0 : pad : t->pending + c->width) + GAP;
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
		const struct column *c = &t->columns[t->block[i]];

		cells[i] = cell_text(t, row, t->block[i]);
		if (cells[i] && c->text && !column_wraps(c) && lines_width(cells[i]) > c->width) {
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
			const struct column *c = &t->columns[t->block[i]];
			size_t n = c->lines || column_wraps(c) ? bsv_line(cells[i], c->width) : strlen(cells[i]);
			char *rest = cells[i] + n;

			print_padded(t, t->block[i], cells[i], n, BSV_PLAIN);
			rest += *rest == '\n' ? 1 : strspn(rest, " ");
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
		while (head_line(&t->columns[t->block[i]], most, &n))
			most++;
	for (int line = 0; line < most; line++) {
		for (size_t i = 0; i < t->shown; i++) {
			const struct column *c = &t->columns[t->block[i]];
			int has = 0;
			const char *s;

			while (head_line(c, has, &n))
				has++;
			s = line + has < most ? NULL : head_line(c, line + has - most, &n);
			print_padded(t, t->block[i], s ? s : "", s ? n : 0, BSV_TITLE);
		}
		print_end(t);
	}
}

static void print_remarks(const struct table *t)
{
	static const char few_samples[] = "* of fewer than 100 (p999: 1000): the longest of them, or nearly";
	bool marked = false;

	for (size_t i = 0; i < t->n; i++)
		marked |= t->columns[i].marked;
	if (t->empty)
		fputs("(none)\n", t->to);
	if (marked)
		bsv_print_wrapped(t->to, t->screen, BSV_PLAIN, few_samples, 2);
}

/* Print the rows behind the page of a table that is not broken. Returns 0 or a bsa_code. */
static int print_rest(struct table *t, struct bsa_err *err)
{
	bool fine = true;
	int r = 0;

	while (fine && !ferror(t->to) && (r = bsv_rows_step(t->rows, err)) > 0) {
		for (size_t i = 0; i < t->n; i++)
			t->row[i] = bsv_rows_cell(t->rows, i);
		fine = print_row(t, t->row);
	}
	return !fine ? bsv_no_memory(err) : r < 0 ? r : 0;
}

/* Print the page, and, if there may be @more rows, those behind it. Returns 0 or a bsa_code. */
static int print_pages(struct table *t, bool more, struct bsa_err *err)
{
	bool fine = true, begun = false;
	int r = more;

	t->keys = count_keys(t);
	do {
		size_t from = 0, n_blocks = 0;

		for (; fine && from < t->n && (t->kept || !from) && !ferror(t->to); n_blocks++) {
			if (begun)
				fputc('\n', t->to);
			begun = true;
			from = fill_block(t, from);
			print_heads(t);
			for (size_t i = 0; fine && i < t->kept; i += t->n)
				fine = print_row(t, t->cells + i);
		}
		if (!fine)
			return bsv_no_memory(err);
		if (r <= 0)
			return r;
		if (n_blocks == 1)
			return print_rest(t, err);
		r = keep_page(t, false, err);
	} while (r >= 0 && t->kept && !ferror(t->to));
	return r < 0 ? r : 0;
}

int bsv_render_table(FILE *to, struct bsv_rows *rows, const struct bsv_screen *screen, bool raw, struct bsa_err *err)
{
	__attribute__((cleanup(table_fini))) struct table t = {
		.to = to, .rows = rows, .screen = screen, .raw = raw, .n = bsv_rows_columns(rows)
	};
	int r;

	t.columns = calloc(t.n + 1, sizeof(*t.columns));
	t.cells = calloc(t.n * FIRST_ROWS + 1, sizeof(*t.cells));
	t.row = calloc(t.n + 1, sizeof(*t.row));
	t.line = calloc(t.n + 1, sizeof(*t.line));
	t.block = calloc(t.n + 1, sizeof(*t.block));
	t.n_at = t.n;
	for (size_t i = 0; i < t.n; i++)
		if (!strcmp(bsv_rows_column(rows, i)->name, "n"))
			t.n_at = i;
	if (!t.columns || !t.cells || !t.row || !t.line || !t.block)
		return bsv_no_memory(err);
	r = keep_page(&t, true, err);
	t.empty = !t.kept;
	if (r >= 0 && !measure_columns(&t))
		return bsv_no_memory(err);
	if (r >= 0)
		r = print_pages(&t, r > 0, err);
	if (r >= 0)
		print_remarks(&t);
	return r < 0 ? r : 0;
}
