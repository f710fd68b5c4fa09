/* fill.c -- fills the placeholders that every template may have from the options of a command. */
#include "input/fill.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>

#include "base/scoped.h"

enum { COMMON = 7, OWN_MAX = 12, NUMBER_TEXT = 24 };

char *bsv_input_fill(const struct bsv_input *input, const char *template, const struct bsv_placeholder *own)
{
	char began[NUMBER_TEXT], from[NUMBER_TEXT], to[NUMBER_TEXT];
	bool picks = input->picks; /* only executions picked by the options need the joins below */
	struct bsv_placeholder placeholders[COMMON + OWN_MAX + 1] = {
		{ "with", input->with },
		{ "began", began },
		{ "from", from },
		{ "to", to },
		{ "only_preempted", picks ? bsv_sql_only_preempted : "" },
		{ "only_victims", picks ? bsv_sql_only_victims : "" },
		{ "only_chosen", picks ? bsv_sql_only_chosen : "" },
	};
	size_t n = COMMON;

	/* the smallest number cannot be written as a literal of SQL */
	snprintf(from, sizeof(from), "%" PRId64, input->from == INT64_MIN ? -INT64_MAX : input->from);
	snprintf(to, sizeof(to), "%" PRId64, input->to);
	snprintf(began, sizeof(began), "%" PRId64, input->began);
	for (; own && own->name; own++) {
		assert(n < COMMON + OWN_MAX);
		if (!own->text)
			return NULL;
		placeholders[n++] = *own;
	}
	placeholders[n] = (struct bsv_placeholder){ NULL, NULL };
	return bsv_fill(template, placeholders);
}

int bsv_input_rows(struct bsv_rows **ret, const struct bsv_input *input, const char *template,
                   const struct bsv_placeholder *own, struct bsa_err *err)
{
	bsv_scoped_text *sql = bsv_input_fill(input, template, own);

	return sql ? bsv_rows_query(ret, input->db, sql, err) : bsv_no_memory(err);
}

int bsv_input_row(struct bsv_rows **ret, const struct bsv_input *input, const char *template,
                  const struct bsv_placeholder *own, struct bsa_err *err)
{
	int r = bsv_input_rows(ret, input, template, own, err);

	return r < 0 ? r : bsv_rows_step(*ret, err);
}
