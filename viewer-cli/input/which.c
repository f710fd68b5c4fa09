/* which.c -- finds the execution that a user names: by id, by stream and number, or by rank. */
#include "input/which.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/nearest.h"
#include "base/rows.h"
#include "base/scoped.h"
#include "base/template.h"
#include "input/fill.h"

/* Read a number at the beginning of @s, up to @end. */
static bool number_read(const char *s, int base, char end, uint64_t most, uint64_t *ret, const char **ret_end)
{
	char *stop;

	if (*s < '0' || *s > '9')
		return false;
	errno = 0;
	*ret = strtoull(s, &stop, base);
	if (errno || *stop != end || *ret > most)
		return false;
	*ret_end = stop;
	return true;
}

static bool is_id(const char *name, uint64_t *ret)
{
	const char *end;

	return number_read(name, 10, 0, INT64_MAX, ret, &end);
}

/* STREAM/SEQ: the number of the stream as in the trace, decimal, or hexadecimal after 0x. */
static bool is_place(const char *name, uint64_t *ret_stream, uint64_t *ret_seq)
{
	int base = strncmp(name, "0x", 2) ? 10 : 16;
	const char *end;

	return number_read(name, base, '/', UINT32_MAX, ret_stream, &end) &&
	       number_read(end + 1, 10, 0, UINT32_MAX, ret_seq, &end);
}

bool bsv_is_which(const char *name)
{
	uint64_t a, b;

	return !strcmp(name, "worst") || !strcmp(name, "slowest") || is_id(name, &a) || is_place(name, &a, &b);
}

/* Read the first column of the first two rows. Returns how many there are; negative: an error. */
static int ids_read(int64_t ret[2], struct bsv_input *input, const char *sql, const struct bsv_value *values,
                    struct bsa_err *err)
{
	bsv_scoped_rows *rows = NULL;
	int r = bsv_rows_bound(&rows, input->db, sql, values, err), n = 0;

	while (r >= 0 && n < 2 && (r = bsv_rows_step(rows, err)) > 0)
		ret[n++] = bsv_rows_get(rows, 0, 0);
	return r < 0 ? r : n;
}

static int rank_find(int64_t *ret, struct bsv_input *input, const char *name, struct bsa_err *err)
{
	bool worst = !strcmp(name, "worst");
	bsv_scoped_text *ranked = NULL;
	int64_t found[2];
	int n = 0;

	/* meta may name the execution, for all executions. */
	if (!input->picks)
		n = ids_read(found, input, bsv_sql_which_stored,
		             (const struct bsv_value[]){ { ":key", 0, worst ? "latest_miss" : "slowest" }, { 0 } },
		             err);
	if (n > 0)
		*ret = found[0];
	if (n)
		return n < 0 ? n : 0;
	ranked = bsv_fill(worst ? bsv_sql_which_worst : bsv_sql_which_slowest,
	                  (const struct bsv_placeholder[]){ { "relations", input->with }, { NULL, NULL } });
	n = ranked ? ids_read(found, input, ranked, NULL, err) : bsv_no_memory(err);
	if (n < 0)
		return n;
	if (!n)
		return bsa_fail(err, BSA_E_USAGE, "%s: no execution %s in %s%s", name,
		                worst ? "missed its deadline" : "is known from end to end", input->path,
		                input->picks ? ", among the picked executions"
		                : worst      ? "; try slowest"
		                             : "");
	*ret = found[0];
	return 0;
}

int bsv_which_unknown(const char *name, struct bsa_err *err)
{
	static const char *const words[] = { "worst", "slowest" };
	const char *nearest = bsv_nearest(name, words, sizeof(words) / sizeof(*words), sizeof(*words));

	if (nearest)
		return bsa_fail(err, BSA_E_USAGE, "'%s' is not an execution; did you mean '%s'?", name, nearest);
	return bsa_fail(err, BSA_E_USAGE, "'%s' is not an execution; write an id, STREAM/SEQ, worst or slowest", name);
}

int bsv_which(int64_t *ret_id, struct bsv_input *input, const char *name, struct bsa_err *err)
{
	uint64_t id, stream, seq;
	int64_t found[2];
	int n;

	if (!strcmp(name, "worst") || !strcmp(name, "slowest"))
		return rank_find(ret_id, input, name, err);
	if (is_id(name, &id)) {
		n = ids_read(found, input, bsv_sql_which_id,
		             (const struct bsv_value[]){ { ":id", (int64_t)id, NULL }, { 0 } }, err);
		if (!n)
			return bsa_fail(err, BSA_E_USAGE, "there is no execution %" PRIu64 " in %s", id, input->path);
	} else if (is_place(name, &stream, &seq)) {
		n = ids_read(found, input, bsv_sql_which_place,
		             (const struct bsv_value[]){
				     { ":stream", (int64_t)stream, NULL }, { ":seq", (int64_t)seq, NULL }, { 0 } },
		             err);
		if (!n)
			return bsa_fail(err, BSA_E_USAGE, "there is no execution %s in %s", name, input->path);
		if (n > 1)
			return bsa_fail(err, BSA_E_USAGE,
			                "several executions are called %s in %s: name %" PRId64 ", or %" PRId64, name,
			                input->path, found[0], found[1]);
	} else {
		return bsv_which_unknown(name, err);
	}
	if (n < 0)
		return n;
	*ret_id = found[0];
	return 0;
}

char *bsv_which_fill(const struct bsv_input *input, const char *template, int64_t id)
{
	char id_text[24];
	bsv_scoped_text *estimate = NULL;

	snprintf(id_text, sizeof(id_text), "%" PRId64, id);
	estimate =
		bsv_fill(bsv_sql_which_estimate, (const struct bsv_placeholder[]){ { "id", id_text }, { NULL, NULL } });
	return bsv_input_fill(
		input, template,
		(const struct bsv_placeholder[]){ { "id", id_text }, { "estimate", estimate }, { NULL, NULL } });
}
