/* csv.c -- comma-separated values as RFC 4180 has them, but with lines that end as all others here; NULL is empty. */
#include <inttypes.h>
#include <string.h>

#include "render/render.h"

static void text(FILE *to, const char *s, size_t n)
{
	bool quoted = strcspn(s, ",\"\r\n") < n || n == 0; /* an empty text is not nothing */

	if (!quoted) {
		fwrite(s, 1, n, to);
		return;
	}
	fputc('"', to);
	for (size_t i = 0; i < n; i++) {
		if (s[i] == '"')
			fputc('"', to);
		fputc(s[i], to);
	}
	fputc('"', to);
}

static void cell(FILE *to, const struct bsa_query *q, size_t column)
{
	const char *s;
	size_t n;

	switch (bsa_query_type(q, column)) {
	case BSA_NULL:
		break;
	case BSA_INT:
		fprintf(to, "%" PRId64, bsa_query_get_int(q, column));
		break;
	case BSA_REAL:
		fprintf(to, "%.17g", bsa_query_get_real(q, column));
		break;
	case BSA_STRING:
	case BSA_BYTES:
		s = bsa_query_get_string(q, column, &n);
		text(to, s, n);
		break;
	}
}

int bsv_render_csv(FILE *to, struct bsa_query *q, struct bsa_err *err)
{
	size_t n = bsa_query_columns(q);
	int r;

	for (size_t i = 0; i < n; i++) {
		text(to, bsa_query_name(q, i), strlen(bsa_query_name(q, i)));
		fputc(i + 1 < n ? ',' : '\n', to);
	}
	while ((r = bsa_query_step(q, err)) > 0 && !ferror(to))
		for (size_t i = 0; i < n; i++) {
			cell(to, q, i);
			fputc(i + 1 < n ? ',' : '\n', to);
		}
	return r < 0 ? r : 0;
}
