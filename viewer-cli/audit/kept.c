/* kept.c -- see kept.h. */
#include "audit/kept.h"

#include <stdlib.h>
#include <string.h>

#include "base/scoped.h"
#include "base/template.h"

struct bsv_kept *bsv_kept_new(struct bsv_input *input)
{
	struct bsv_kept *ret = calloc(1, sizeof(*ret));

	if (!ret)
		return NULL;
	ret->n_unknown = ret->n_unseen = -1;
	ret->has_picked = input->picks && bsv_input_keep_picked(input, NULL) >= 0;
	return ret;
}

char *bsv_kept_rows(const struct bsv_input *input, char *sql)
{
	const struct bsv_placeholder placeholders[] = { { "rows", sql }, { NULL, NULL } };
	struct bsv_kept *kept = sql ? input->kept : NULL;
	bsv_scoped_text *made = kept && !kept->rows_of ? bsv_fill(bsv_sql_kept_rows, placeholders) : NULL;

	if (made && bsa_db_make_temporary(input->db, made, NULL) >= 0)
		kept->rows_of = strdup(sql);
	if (!kept || !kept->rows_of || strcmp(kept->rows_of, sql) != 0)
		return sql;
	free(sql);
	return strdup(bsv_sql_rows_kept);
}

struct bsv_kept *bsv_kept_free(struct bsv_kept *kept)
{
	if (!kept)
		return NULL;
	kept->sharing.is_kept = false; /* the last user is gone */
	bsv_sharing_fini(&kept->sharing);
	free(kept->rows_of);
	free(kept);
	return NULL;
}
