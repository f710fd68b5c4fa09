/* render.c -- see render.h: which form it is to be. */
#include "render/render.h"

const char *const bsv_formats[] = { "table", "json", "csv", NULL };

int bsv_render(FILE *to, enum bsv_format format, struct bsa_db *db, struct bsa_query *q,
               const struct bsv_answer *answer, struct bsa_err *err)
{
	switch (format) {
	case BSV_JSON:
		return bsv_render_json(to, db, q, answer, err);
	case BSV_CSV:
		return bsv_render_csv(to, q, err);
	default:
		return bsv_render_table(to, q, err);
	}
}
