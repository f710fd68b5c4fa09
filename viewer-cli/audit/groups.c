/*
 * groups.c -- puts the SQL of groups together from the words of --by: reports/fragments/groups.sql
 * has what each word means in it.
 */
#include "audit/groups.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "audit/kept.h"
#include "base/nearest.h"
#include "base/numbers.h"
#include "base/rows.h"
#include "base/scoped.h"
#include "base/template.h"

/*
 * A word of --by: its column in picked executions and in phase_stat, and the column that must be
 * equal within a group.
 */
static const struct {
	const char *word, *name, *stored, *same;
} words[] = {
	{ "app", bsv_sql_by_app, bsv_sql_by_stored_app, bsv_sql_by_same_app },
	{ "model", bsv_sql_by_model, bsv_sql_by_stored_model, bsv_sql_by_same_model },
	{ "priority", bsv_sql_by_priority, bsv_sql_by_stored_priority, bsv_sql_by_same_priority },
	{ "path", bsv_sql_by_path, bsv_sql_by_stored_path, bsv_sql_by_same_path },
	{ "burst", bsv_sql_by_burst, bsv_sql_by_stored_burst, bsv_sql_by_same_burst },
};

enum { SLOW = 300000 /* to read this many executions takes a second */, NAMES = 3 /* models_alike.sql */ };

enum { N_WORDS = sizeof(words) / sizeof(*words), APP_MODEL = BSV_BY_APP | BSV_BY_MODEL };

static void text_append(char *to, size_t room, const char *separator, const char *text)
{
	size_t n = strlen(to);

	snprintf(to + n, room - n, "%s%s", n ? separator : "", text);
}

/* A percentile cannot be computed from percentiles: is each group one group of phase_stat? */
static int groups_find_stored(struct bsv_groups *g, struct bsv_input *input, struct bsa_err *err)
{
	struct bsv_kept *kept = input->kept;
	int64_t counts[BSV_GROUPS_COUNTS] = { 0 };
	bsv_scoped_rows *rows = NULL;
	char same[128] = "", *sql;
	int r;

	if (kept && kept->has_groups && kept->groups_by == g->by) {
		memcpy(counts, kept->groups, sizeof(counts));
	} else {
		for (unsigned i = 0; i < N_WORDS; i++)
			if (g->by & 1u << i)
				text_append(same, sizeof(same), ", ", words[i].same);
		sql = bsv_fill(bsv_sql_groups_stored,
		               (const struct bsv_placeholder[]){ { "same", same }, { NULL, NULL } });
		if (!sql)
			return bsv_no_memory(err);
		r = bsv_rows_query(&rows, input->db, sql, err);
		free(sql);
		if (r >= 0)
			r = bsv_rows_step(rows, err);
		if (r < 0)
			return r;
		for (size_t i = 0; i < BSV_GROUPS_COUNTS; i++)
			counts[i] = bsv_rows_get(rows, i, 0);
	}
	if (kept) {
		kept->has_groups = true;
		kept->groups_by = g->by;
		memcpy(kept->groups, counts, sizeof(counts));
	}
	g->n = counts[0];
	g->answered = counts[1];
	g->stored = bsv_input_with_groups(input) && !(g->by & BSV_BY_BURST) && counts[2] <= 1;
	g->paired = g->stored && counts[3] == 0;
	return 0;
}

int bsv_groups_parse(struct bsv_groups *ret, const char *by, struct bsa_err *err)
{
	struct bsv_groups g = { .by = 0 };

	/* Words with commas between them. */
	for (const char *at = by ? by : "app,model,path";; at++) {
		size_t n = strcspn(at, ",");
		char word[32];
		unsigned i = 0;

		snprintf(word, sizeof(word), "%.*s", (int)(n < sizeof(word) ? n : sizeof(word) - 1), at);
		while (i < N_WORDS && strcmp(word, words[i].word))
			i++;
		if (i == N_WORDS) {
			const char *nearest = bsv_nearest(word, &words[0].word, N_WORDS, sizeof(words[0]));

			if (nearest)
				return bsa_fail(err, BSA_E_USAGE, "--by: no '%s'; did you mean '%s'?", word, nearest);
			return bsa_fail(err, BSA_E_USAGE,
			                "--by: no '%s'; there are app, model, priority, path and burst", word);
		}
		g.by |= 1u << i;
		at += n;
		if (!*at)
			break;
	}
	if (g.by & BSV_BY_BURST) /* a burst belongs to one app and one model */
		g.by |= APP_MODEL;
	*ret = g;
	return 0;
}

int bsv_groups_read(struct bsv_groups *g, struct bsv_input *input, struct bsa_err *err)
{
	static const char *const who[] = { bsv_sql_key_of_all, bsv_sql_key_of_app, bsv_sql_key_of_model,
		                           bsv_sql_key_of_app_model };
	struct bsv_groups of = { .by = g->by };
	bsv_scoped_text *key = NULL;
	int r;

	key = bsv_fill(bsv_sql_key_of_group,
	               (const struct bsv_placeholder[]){
			       { "who", of.by & BSV_BY_BURST ? bsv_sql_key_of_burst : who[of.by & APP_MODEL] },
			       { "path", of.by & BSV_BY_PATH ? bsv_sql_key_path : "" },
			       { "priority", of.by & BSV_BY_PRIORITY ? bsv_sql_key_priority : "" },
			       { NULL, NULL },
		       });
	if (!key)
		return bsv_no_memory(err);
	assert(strlen(key) < sizeof(of.key));
	snprintf(of.key, sizeof(of.key), "%s", key);
	snprintf(of.kind, sizeof(of.kind), "%s", of.by & BSV_BY_APP ? bsv_sql_kind_of_app : bsv_sql_kind_of_any);

	for (unsigned i = 0; i < N_WORDS; i++)
		if (of.by & 1u << i) {
			text_append(of.names, sizeof(of.names), ", ", words[i].name);
			text_append(of.stored_names, sizeof(of.stored_names), ", ", words[i].stored);
			text_append(of.order, sizeof(of.order), ", ", words[i].word);
			of.keys++;
		}
	of.keys++; /* start */
	assert(*of.names && *of.order);
	r = groups_find_stored(&of, input, err);
	if (r >= 0)
		*g = of;
	return r;
}

char *bsv_groups_sql(const struct bsv_groups *g, const struct bsv_input *input, const char *stored, const char *picked,
                     const char *phase, const char *value)
{
	const struct bsv_placeholder start[] = { { "by", g->stored ? g->stored_names : g->names },
		                                 { "of", g->stored ? "s" : "x" },
		                                 { NULL, NULL } };
	const struct bsv_placeholder by[] = { { "by", g->order }, { NULL, NULL } };
	bool kept = input->kept && input->kept->has_picked && !strcmp(g->kind, bsv_sql_kind_of_app);
	bsv_scoped_text *kinds = bsv_fill(kept ? bsv_sql_kinds_kept : bsv_sql_kinds,
	                                  (const struct bsv_placeholder[]){ { "kind", g->kind }, { NULL, NULL } });
	bsv_scoped_text *keys = bsv_fill(bsv_sql_by_start, start), *order = bsv_fill(bsv_sql_by_order, by);
	bsv_scoped_text *only = g->by & BSV_BY_BURST
	                                ? bsv_fill(bsv_sql_only_of_burst,
	                                           (const struct bsv_placeholder[]){ { "more", "" }, { NULL, NULL } })
	                                : strdup("");
	char *ret = NULL;

	if (kinds && keys && order && only)
		ret = bsv_fill(g->stored ? stored : picked,
		               (const struct bsv_placeholder[]){
				       { "with", g->stored ? bsv_input_with_groups(input) : input->with },
				       { "keys", keys },
				       { "who", g->stored ? g->stored_names : g->names },
				       { "by", g->order },
				       { "order", order },
				       { "kinds", kinds },
				       { "key", g->key },
				       { "only", only },
				       { "phase", phase },
				       { "value", value },
				       { NULL, NULL },
			       });
	return ret;
}

/* ---- executions in no group ---- */

/* Append "3 incomplete" to @to. */
static void add_count(char *to, size_t room, int64_t n, const char *what)
{
	char number[BSV_COUNT_MAX];
	size_t length = strlen(to);

	if (n > 0)
		snprintf(to + length, room - length, "%s%s %s", length ? ", " : "", bsv_count(number, (uint64_t)n),
		         what);
}

int bsv_groups_taken(struct bsv_taken *ret, const struct bsv_groups *g, struct bsv_input *input, struct bsa_err *err)
{
	bsv_scoped_rows *rows = NULL;
	char *sql = g->stored ? bsv_fill(bsv_sql_groups_taken,
	                                 (const struct bsv_placeholder[]){
						 { "relations", bsv_input_with_groups(input) }, { NULL, NULL } })
	                      : bsv_groups_sql(g, input, NULL, bsv_sql_left_out, "", "");
	int r = sql ? bsv_rows_query(&rows, input->db, sql, err) : bsv_no_memory(err);

	free(sql);
	if (r >= 0)
		r = bsv_rows_step(rows, err);
	if (r < 0)
		return r;
	*ret = (struct bsv_taken){
		.n = bsv_rows_get(rows, 0, 0),
		.incomplete = bsv_rows_get(rows, 1, 0),
		.not_answered = bsv_rows_get(rows, 2, 0),
		.of_service = bsv_rows_get(rows, 3, 0),
		.of_client = bsv_rows_get(rows, 4, 0),
	};
	ret->slow = !g->stored && ret->n > SLOW;
	return 0;
}

void bsv_groups_remark(struct bsv_answer *a, const struct bsv_groups *g, const struct bsv_taken *taken)
{
	char why[128] = "", n[BSV_COUNT_MAX], all[BSV_COUNT_MAX];

	if (!taken->n)
		bsv_answer_note(a, "No execution fits.");
	add_count(why, sizeof(why), taken->incomplete, "incomplete");
	add_count(why, sizeof(why), taken->not_answered, "not answered");
	if (*why)
		bsv_answer_note(a, "%s of %s %s left out: %s",
		                bsv_count(n, (uint64_t)(taken->incomplete + taken->not_answered)),
		                bsv_count(all, (uint64_t)taken->n),
		                g->by & BSV_BY_BURST ? "executions of bursts are" : "executions are", why);
	if (taken->of_service)
		bsv_answer_note(
			a, "%s %s seen from the service alone: from when it had the request until it wrote the result",
			bsv_count(n, (uint64_t)taken->of_service),
			bsv_plural((uint64_t)taken->of_service, "was", "were"));
	if (taken->of_client)
		bsv_answer_note(a, "%s %s seen from the client alone: what the service did meanwhile is unknown",
		                bsv_count(n, (uint64_t)taken->of_client),
		                bsv_plural((uint64_t)taken->of_client, "was", "were"));
}

int bsv_groups_warn(struct bsv_answer *a, const struct bsv_groups *g, struct bsv_input *input, struct bsa_err *err)
{
	bsv_scoped_rows *rows = NULL;
	char *sql, n[BSV_COUNT_MAX], more[BSV_COUNT_MAX + 16] = "";
	int64_t many;
	int r;

	/* A stored group is of one app alone. */
	if ((g->by & APP_MODEL) != BSV_BY_MODEL || g->stored)
		return 0;
	sql = bsv_groups_sql(g, input, NULL, bsv_sql_models_alike, "", "");
	r = sql ? bsv_rows_query(&rows, input->db, sql, err) : bsv_no_memory(err);
	free(sql);
	if (r >= 0)
		r = bsv_rows_step(rows, err);
	if (r < 0)
		return r;
	many = bsv_rows_get(rows, 1, 0);
	if (many > NAMES)
		snprintf(more, sizeof(more), " and %s more", bsv_count(n, (uint64_t)(many - NAMES)));
	if (many)
		bsv_answer_note(a,
		                "Apps have different models of one name, which are added up: %s%s. "
		                "--by app,model tells them apart.",
		                bsv_rows_cell(rows, 0).text, more);
	return 0;
}
