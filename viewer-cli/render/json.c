/* json.c -- one object: what was asked, of what, how far it is to be trusted, the columns with their units, and the rows. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "render/render.h"

/* Length of the UTF-8 sequence that @s begins with; 0: it is none. */
static size_t sequence(const unsigned char *s, size_t n)
{
	static const struct {
		unsigned char from, to, second_from, second_to;
		size_t length;
	} kinds[] = {
		{ 0xc2, 0xdf, 0x80, 0xbf, 2 }, { 0xe0, 0xe0, 0xa0, 0xbf, 3 }, { 0xe1, 0xec, 0x80, 0xbf, 3 },
		{ 0xed, 0xed, 0x80, 0x9f, 3 }, { 0xee, 0xef, 0x80, 0xbf, 3 }, { 0xf0, 0xf0, 0x90, 0xbf, 4 },
		{ 0xf1, 0xf3, 0x80, 0xbf, 4 }, { 0xf4, 0xf4, 0x80, 0x8f, 4 },
	};

	if (*s < 0x80)
		return 1;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		size_t length = kinds[i].length;

		if (*s < kinds[i].from || *s > kinds[i].to || length > n || s[1] < kinds[i].second_from ||
		    s[1] > kinds[i].second_to)
			continue;
		for (size_t j = 2; j < length; j++)
			if ((s[j] & 0xc0) != 0x80)
				return 0;
		return length;
	}
	return 0;
}

/* Names come from strangers: what is no UTF-8 is shown as U+FFFD. */
static void text(FILE *to, const char *s, size_t n)
{
	fputc('"', to);
	for (size_t i = 0; i < n;) {
		size_t length = sequence((const unsigned char *)s + i, n - i);
		unsigned char c = (unsigned char)s[i];

		if (!length)
			fputs("\\ufffd", to);
		else if (c < 0x20 || c == 0x7f)
			fprintf(to, "\\u%04x", c);
		else if (c == '"' || c == '\\')
			fprintf(to, "\\%c", c);
		else
			fwrite(s + i, 1, length, to);
		i += length ? length : 1;
	}
	fputc('"', to);
}

static void field(FILE *to, const char *name, const char *value)
{
	text(to, name, strlen(name));
	fputc(':', to);
	if (value)
		text(to, value, strlen(value));
	else
		fputs("null", to);
}

static void cell(FILE *to, const struct bsa_query *q, size_t column)
{
	const char *s;
	double real;
	size_t n;

	switch (bsa_query_type(q, column)) {
	case BSA_NULL:
		fputs("null", to);
		break;
	case BSA_INT:
		fprintf(to, "%" PRId64, bsa_query_get_int(q, column));
		break;
	case BSA_REAL:
		real = bsa_query_get_real(q, column);
		if (isfinite(real))
			fprintf(to, "%.17g", real);
		else
			fputs("null", to);
		break;
	case BSA_STRING:
	case BSA_BYTES:
		s = bsa_query_get_string(q, column, &n);
		text(to, s, n);
		break;
	}
}

/* What sort of thing it is, and what it is counted in. */
static void column(FILE *to, struct bsa_db *db, const char *name)
{
	const char *unit = bsa_db_unit(db, name);
	bool time = !strcmp(unit, "time"), duration = !strcmp(unit, "ns");

	fputc('{', to);
	field(to, "name", name);
	fputc(',', to);
	field(to, "class", duration ? "duration" : *unit ? unit : NULL);
	fputc(',', to);
	field(to, "unit", time || duration ? "ns" : !strcmp(unit, "bytes") ? unit : NULL);
	fputc('}', to);
}

static void head(FILE *to, const struct bsv_answer *answer)
{
	const struct bsv_coverage *c = answer->coverage;

	fprintf(to, "{\"schema_version\":%d,", BSA_SCHEMA_VERSION);
	field(to, "command", answer->command);
	fputc(',', to);
	field(to, "input", answer->input);
	fprintf(to,
	        ",\"coverage\":{\"traces\":%" PRId64 ",\"events\":%" PRId64 ",\"lost_events\":%" PRId64
	        ",\"lost_packets\":%" PRId64 ",\"losses\":%" PRId64 ",\"cut\":%" PRId64 "}",
	        c->traces, c->events, c->lost_events, c->lost_packets, c->losses, c->cut);
}

int bsv_render_json(FILE *to, struct bsa_db *db, struct bsa_query *q, const struct bsv_answer *answer,
                    struct bsa_err *err)
{
	size_t n = bsa_query_columns(q), rows = 0;
	int r;

	head(to, answer);
	fputs(",\"columns\":[", to);
	for (size_t i = 0; i < n; i++) {
		column(to, db, bsa_query_name(q, i));
		if (i + 1 < n)
			fputc(',', to);
	}
	fputs("],\"rows\":[", to);
	while ((r = bsa_query_step(q, err)) > 0 && !ferror(to)) {
		fputs(rows++ ? ",\n{" : "\n{", to);
		for (size_t i = 0; i < n; i++) {
			const char *name = bsa_query_name(q, i);

			text(to, name, strlen(name));
			fputc(':', to);
			cell(to, q, i);
			if (i + 1 < n)
				fputc(',', to);
		}
		fputc('}', to);
	}
	fputs("]}\n", to);
	return r < 0 ? r : 0;
}
