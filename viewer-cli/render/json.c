/* json.c -- what is in an object: columns with their units, and rows. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "answer/scoped.h"
#include "render/render.h"

/* So many bytes of @s may stand in a string as they are. */
static size_t plain(const char *s, size_t n)
{
	size_t i = 0;

	while (i < n && s[i] >= ' ' && s[i] < 0x7f && s[i] != '"' && s[i] != '\\')
		i++;
	return i;
}

/* Names come from strangers: what is no UTF-8 is shown as U+FFFD, and what a terminal would obey is written as a number. */
void bsv_json_text(FILE *to, const char *s, size_t n)
{
	fputc('"', to);
	while (n) {
		size_t run = plain(s, n), length;
		uint32_t c;

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

static void cell(FILE *to, struct bsv_cell c)
{
	switch (c.type) {
	case BSA_NULL:
		fputs("null", to);
		break;
	case BSA_INT:
		bsv_print_int(to, c.integer);
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

static void columns(FILE *to, const struct bsv_rows *rows)
{
	size_t n = bsv_rows_columns(rows);

	fputs("\"columns\":[", to);
	for (size_t i = 0; i < n; i++) {
		const struct bsv_column *c = bsv_rows_column(rows, i);

		fputc('{', to);
		bsv_json_field(to, "name", c->name);
		fputc(',', to);
		bsv_json_field(to, "class", c->class);
		fputc(',', to);
		bsv_json_field(to, "unit", c->unit);
		fputs(i + 1 < n ? "}," : "}", to);
	}
	fputc(']', to);
}

/* The names of the columns, as each row has them. Owned by the caller. */
static char *members(const struct bsv_rows *rows)
{
	char *ret = NULL;
	size_t bytes;
	FILE *to = open_memstream(&ret, &bytes);

	for (size_t i = 0; to && i < bsv_rows_columns(rows); i++) {
		const char *name = bsv_rows_column(rows, i)->name;

		fputc(i ? ',' : '{', to);
		bsv_json_text(to, name, strlen(name));
		fputc(':', to);
		fputc(0, to);
	}
	if (!to || fclose(to)) {
		free(ret);
		return NULL;
	}
	return ret;
}

int bsv_render_json(FILE *to, struct bsv_rows *rows, struct bsa_err *err)
{
	size_t n = bsv_rows_columns(rows), shown = 0;
	char *names = members(rows);
	int r;

	if (!names)
		return bsv_no_memory(err);
	columns(to, rows);
	fputs(",\"rows\":[", to);
	while ((r = bsv_rows_step(rows, err)) > 0 && !ferror(to)) {
		const char *name = names;

		fputs(shown++ ? ",\n" : "\n", to);
		for (size_t i = 0; i < n; i++, name += strlen(name) + 1) {
			fputs(name, to);
			cell(to, bsv_rows_cell(rows, i));
		}
		fputc('}', to);
	}
	fputc(']', to);
	free(names);
	return r < 0 ? r : 0;
}
