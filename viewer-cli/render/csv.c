/* csv.c -- comma-separated values as RFC 4180 has them, but with lines that end as all others here; NULL is empty. */
#include <stdlib.h>
#include <string.h>

#include "base/letters.h"
#include "base/scoped.h"
#include "render/render.h"

static void print_text(FILE *to, const char *s, size_t n, unsigned how)
{
	static const char wide[] =
		"\357\274"; /* U+FF0B, U+FF0D, U+FF1D and U+FF20 begin so, which some take for + - = @ */
	/* A spreadsheet takes what begins so for a formula; what it does with a quote before it is to show the rest. */
	bool formula = n && (memchr("=+-@\t\r\n", *s, 7) ||
	                     (n > 2 && !memcmp(s, wide, 2) && memchr("\213\215\235\240", s[2], 4)));
	bool quoted = n == 0; /* an empty text is not nothing */

	for (size_t i = 0; i < n; i++)
		quoted |= s[i] == ',' || s[i] == ';' || s[i] == '"' || s[i] == '\r' || s[i] == '\n';
	if (quoted)
		fputc('"', to);
	if (formula && how & BSV_CSV_SAFE)
		fputc('\'', to);
	if (!quoted) {
		fwrite(s, 1, n, to);
		return;
	}
	for (size_t i = 0; i < n; i++) {
		if (s[i] == '"')
			fputc('"', to);
		fputc(s[i], to);
	}
	fputc('"', to);
}

static bool print_cell(FILE *to, struct bsv_cell c, unsigned how)
{
	bsv_scoped_text *shown = NULL;

	switch (c.type) {
	case BSA_NULL:
		break;
	case BSA_INT:
		bsv_print_int(to, c.integer);
		break;
	case BSA_REAL:
		fprintf(to, "%.17g", c.real);
		break;
	case BSA_STRING:
	case BSA_BYTES:
		if (!(how & BSV_CSV_ESCAPED)) {
			print_text(to, c.text, c.bytes, how);
			break;
		}
		shown = bsv_printable(c.text, c.bytes, 0);
		if (!shown)
			return false;
		print_text(to, shown, strlen(shown), how);
		break;
	}
	return true;
}

static struct bsv_cell text_cell(const char *text)
{
	return (struct bsv_cell){ .type = BSA_STRING, .text = text, .bytes = strlen(text) };
}

/* End a line, after the cell of the column "replayed_with", if there is one. */
static bool print_last(FILE *to, const char *replayed, unsigned how)
{
	bool fine = true;

	if (replayed) {
		fputc(',', to);
		fine = print_cell(to, text_cell(replayed), how);
	}
	fputc('\n', to);
	return fine;
}

int bsv_render_csv(FILE *to, struct bsv_rows *rows, const char *replayed, unsigned how, struct bsa_err *err)
{
	size_t n = bsv_rows_columns(rows);
	bool fine = true;
	int r;

	for (size_t i = 0; i < n; i++) {
		fputs(i ? "," : "", to);
		fine = fine && print_cell(to, text_cell(bsv_rows_column(rows, i)->name), how);
	}
	fine = (!n || print_last(to, replayed ? "replayed_with" : NULL, how)) && fine;
	while ((r = bsv_rows_step(rows, err)) > 0 && fine && !ferror(to)) {
		for (size_t i = 0; i < n; i++) {
			fputs(i ? "," : "", to);
			fine = fine && print_cell(to, bsv_rows_cell(rows, i), how);
		}
		fine = print_last(to, replayed, how) && fine;
	}
	if (!fine)
		return bsv_no_memory(err);
	return r < 0 ? r : 0;
}
