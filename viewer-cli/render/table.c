/* table.c -- columns as wide as what is in the first rows; what is wider later pushes the rest aside. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "render/render.h"

enum { FIRST_ROWS = 1000, WIDEST = 64 };

/* The first rows as text, a cell after the other. */
struct table {
	FILE *to;
	const struct bsa_query *q;
	size_t n, kept, room;
	char **cells;
	bool *right; /* numbers stand at the right */
	int *width;
};

static void table_fini(struct table *t)
{
	for (size_t i = 0; i < t->kept; i++)
		free(t->cells[i]);
	free(t->cells);
	free(t->right);
	free(t->width);
}

/* Names come from strangers: nothing that a terminal would obey. What is no letter is counted as it is printed. */
static char *printable(const char *s, size_t n)
{
	char *out = malloc(n * 4 + 1), *at = out;

	if (!out)
		return NULL;
	for (size_t i = 0; i < n; i++) {
		unsigned char c = (unsigned char)s[i];
		bool c1 = c == 0xc2 && i + 1 < n && (unsigned char)s[i + 1] < 0xa0;

		if (c < 0x20 || c == 0x7f || c1)
			at += sprintf(at, "\\x%02x", c);
		else
			*at++ = (char)c;
	}
	*at = 0;
	return out;
}

static char *cell(const struct bsa_query *q, size_t column)
{
	char number[32];
	const char *s;
	size_t n;

	switch (bsa_query_type(q, column)) {
	case BSA_INT:
		snprintf(number, sizeof(number), "%" PRId64, bsa_query_get_int(q, column));
		return strdup(number);
	case BSA_REAL:
		snprintf(number, sizeof(number), "%.6g", bsa_query_get_real(q, column));
		return strdup(number);
	case BSA_STRING:
	case BSA_BYTES:
		s = bsa_query_get_string(q, column, &n);
		return printable(s, n);
	default:
		return strdup("-");
	}
}

/* In characters: UTF-8 that goes on is none. */
static int width(const char *s)
{
	int n = 0;

	for (; *s; s++)
		n += (*s & 0xc0) != 0x80;
	return n;
}

static void print(const struct table *t, size_t column, const char *s)
{
	int pad = t->width[column] - width(s);
	bool last = column + 1 == t->n;

	if (t->right[column])
		fprintf(t->to, "%*s%s", pad > 0 ? pad : 0, "", s);
	else
		fprintf(t->to, "%s%*s", s, !last && pad > 0 ? pad : 0, "");
	fputs(last ? "\n" : "  ", t->to);
}

static bool keep_row(struct table *t)
{
	for (size_t i = 0; i < t->n; i++) {
		char *s = cell(t->q, i);
		enum bsa_type type = bsa_query_type(t->q, i);

		if (!s)
			return false;
		t->cells[t->kept++] = s;
		if (width(s) > t->width[i])
			t->width[i] = width(s) < WIDEST ? width(s) : WIDEST;
		t->right[i] |= type == BSA_INT || type == BSA_REAL;
	}
	return true;
}

static bool print_row(const struct table *t)
{
	for (size_t i = 0; i < t->n; i++) {
		char *s = cell(t->q, i);

		if (!s)
			return false;
		print(t, i, s);
		free(s);
	}
	return true;
}

static bool table_init(struct table *t, FILE *to, const struct bsa_query *q)
{
	size_t n = bsa_query_columns(q);

	*t = (struct table){ .to = to, .q = q, .n = n };
	t->cells = calloc(n * FIRST_ROWS + 1, sizeof(*t->cells));
	t->right = calloc(n + 1, sizeof(*t->right));
	t->width = calloc(n + 1, sizeof(*t->width));
	for (size_t i = 0; t->width && i < n; i++)
		t->width[i] = width(bsa_query_name(q, i));
	return t->cells && t->right && t->width;
}

static void print_kept(const struct table *t)
{
	for (size_t i = 0; i < t->n; i++)
		print(t, i, bsa_query_name(t->q, i));
	for (size_t i = 0; i < t->kept; i++)
		print(t, i % t->n, t->cells[i]);
}

int bsv_render_table(FILE *to, struct bsa_query *q, struct bsa_err *err)
{
	__attribute__((cleanup(table_fini))) struct table t;
	bool fine = table_init(&t, to, q);
	int r = 1;

	for (size_t i = 0; fine && i < FIRST_ROWS && (r = bsa_query_step(q, err)) > 0; i++)
		fine = keep_row(&t);
	if (fine && r >= 0)
		print_kept(&t);
	while (fine && r > 0 && !ferror(to) && (r = bsa_query_step(q, err)) > 0)
		fine = print_row(&t);
	return fine ? r < 0 ? r : 0 : bsa_fail(err, BSA_E_ENV, "no memory");
}
