/* json.c -- the members of an object: columns with their units, and rows. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/letters.h"
#include "base/scoped.h"
#include "base/text.h"
#include "render/render.h"

/*
 * Names come from strangers: what is no UTF-8 is shown as U+FFFD, and what a terminal would obey is
 * written as a number.
 */
void bsv_json_text(FILE *to, const char *s, size_t n)
{
	fputc('"', to);
	while (n) {
		size_t run = 0, length;
		uint32_t c;

		while (run < n && s[run] >= ' ' && s[run] < 0x7f && s[run] != '"' && s[run] != '\\')
			run++; /* these need no escape */
		fwrite(s, 1, run, to);
		s += run;
		n -= run;
		if (!n)
			break;
		length = bsv_letter(s, n, &c);

		if (!length)
			fputs("\\ufffd", to);
		else if (bsv_obeyed(c) && c < 0x10000)
			fprintf(to, "\\u%04" PRIx32, c);
		else if (c == '"' || c == '\\')
			fprintf(to, "\\%c", (char)c);
		else
			fwrite(s, 1, length, to);
		s += length ? length : 1;
		n -= length ? length : 1;
	}
	fputc('"', to);
}

void bsv_json_field(FILE *to, const char *name, const char *value)
{
	bsv_json_text(to, name, strlen(name));
	fputc(':', to);
	if (value)
		bsv_json_text(to, value, strlen(value));
	else
		fputs("null", to);
}

void bsv_json_real(FILE *to, double value)
{
	if (isfinite(value))
		fprintf(to, "%.17g", value);
	else
		fputs("null", to);
}

/*
 * MEMBERS of a row: one for each column, and beside a time since 1970 that same time since the
 * start of the recording. A reader that keeps numbers as doubles loses digits beyond 2^53, so these
 * are strings: times since 1970 and `exec` always, so that a column has one type; other integers
 * where they are that large.
 */
struct member {
	size_t column;
	bool since_start;
	char *name;
};

struct members {
	struct member *all;
	size_t n;
};

static const char since_start[] = "_since_start";
static const int64_t exact_most = (int64_t)1 << 53; /* every integer up to here is a double */

/*
 * A time whose name ends in _at is since the start already, but for those that a relation itself
 * has: they are strings by their size.
 */
static bool is_since_1970(const struct bsv_column *c)
{
	size_t n = strlen(c->name);

	return c->class && !strcmp(c->class, "time") && !(n > 3 && !strcmp(c->name + n - 3, "_at"));
}

static void print_int_cell(FILE *to, int64_t value, bool wide)
{
	bool quoted = wide || value > exact_most || value < -exact_most;

	if (quoted)
		fputc('"', to);
	bsv_print_int(to, value);
	if (quoted)
		fputc('"', to);
}

static void members_fini(struct members *m)
{
	for (size_t i = 0; i < m->n; i++)
		free(m->all[i].name);
	free(m->all);
}

/* Takes @name; NULL: no memory. */
static bool add_member(struct members *m, size_t column, bool relative, char *name)
{
	if (name)
		m->all[m->n++] = (struct member){ column, relative, name };
	return name;
}

static bool members_init(struct members *ret, const struct bsv_rows *rows, const int64_t *start)
{
	size_t n = bsv_rows_columns(rows);

	ret->all = calloc(2 * n + 1, sizeof(*ret->all));
	for (size_t i = 0; ret->all && i < n; i++) {
		const struct bsv_column *c = bsv_rows_column(rows, i);
		bsv_scoped_text *beside = NULL;
		bool given = false;

		if (!add_member(ret, i, false, strdup(c->name)))
			return false;
		if (!start || !is_since_1970(c))
			continue;
		beside = bsv_text("%s%s", c->name, since_start);
		if (!beside)
			return false;
		for (size_t k = 0; k < n; k++)
			given |= !strcmp(bsv_rows_column(rows, k)->name, beside);
		if (!given && !add_member(ret, i, true, strdup(beside)))
			return false;
	}
	return ret->all;
}

static void print_row(FILE *to, const struct bsv_rows *rows, const struct members *m, const char *heads,
                      const int64_t *start)
{
	for (size_t i = 0; i < m->n; i++, heads += strlen(heads) + 1) {
		const struct bsv_column *column = bsv_rows_column(rows, m->all[i].column);
		struct bsv_cell c = bsv_rows_cell(rows, m->all[i].column);
		bool wide = is_since_1970(column) || !strcmp(column->name, "exec");

		fputs(heads, to);
		if (m->all[i].since_start) {
			int64_t since;

			if (c.type != BSA_INT || __builtin_sub_overflow(c.integer, *start, &since))
				fputs("null", to);
			else
				print_int_cell(to, since, false);
		} else {
			switch (c.type) {
			case BSA_NULL:
				fputs("null", to);
				break;
			case BSA_INT:
				print_int_cell(to, c.integer, wide);
				break;
			case BSA_REAL:
				bsv_json_real(to, c.real);
				break;
			case BSA_STRING:
			case BSA_BYTES:
				bsv_json_text(to, c.text, c.bytes);
				break;
			}
		}
	}
	fputc('}', to);
}

int bsv_render_json(FILE *to, struct bsv_rows *rows, const int64_t *start, struct bsa_err *err)
{
	__attribute__((cleanup(members_fini))) struct members m = { 0 };
	bsv_scoped_text *heads = NULL;
	size_t bytes, shown = 0;
	FILE *head = members_init(&m, rows, start) ? open_memstream(&heads, &bytes) : NULL;
	int r;

	/* The text before each value of a row, each ended by 0. */
	for (size_t i = 0; head && i < m.n; i++) {
		fputc(i ? ',' : '{', head);
		bsv_json_text(head, m.all[i].name, strlen(m.all[i].name));
		fputc(':', head);
		fputc(0, head);
	}
	if (!head || fclose(head))
		return bsv_no_memory(err);

	fputs("\"columns\":[", to);
	for (size_t i = 0; i < m.n; i++) {
		const struct bsv_column *c = bsv_rows_column(rows, m.all[i].column);

		fputs(i ? ",{" : "{", to);
		bsv_json_field(to, "name", m.all[i].name);
		fputc(',', to);
		bsv_json_field(to, "class", c->class);
		fputc(',', to);
		bsv_json_field(to, "unit", c->unit);
		fputc('}', to);
	}
	fputs("],\"rows\":[", to);
	while ((r = bsv_rows_step(rows, err)) > 0 && !ferror(to)) {
		fputs(shown++ ? ",\n" : "\n", to);
		print_row(to, rows, &m, heads, start);
	}
	fputc(']', to);
	return r < 0 ? r : 0;
}
