/*
 * sql.c -- burstscope sql: runs any query on a database that is opened read-only; the queries of
 * other commands have names.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "answer/answer.h"
#include "base/command.h"
#include "base/nearest.h"
#include "base/scoped.h"
#include "base/template.h"
#include "input/relations.h"

struct options {
	bool list;
};

static const struct bsv_option options[] = {
	{ .name = "list", .says = "list the queries that have a name", .offset = offsetof(struct options, list) },
	{ .name = NULL },
};

/* ---- queries with names ---- */

/* The text of the comment at the beginning, after "-- NAME: ". Owned by the caller. */
static char *report_about(const struct bsv_named_sql *report)
{
	char *ret = calloc(1, strlen(report->text) + 1), *to = ret;
	size_t n = strlen(report->name);

	for (const char *line = report->text; ret && !strncmp(line, "--", 2);) {
		const char *from = line + 2 + strspn(line + 2, " ");
		size_t length = strcspn(from, "\n");

		line = from + length + (from[length] == '\n');
		if (to == ret && !strncmp(from, report->name, n) && !strncmp(from + n, ": ", 2)) {
			from += n + 2;
			length -= n + 2;
		}
		to = stpncpy(to != ret ? stpcpy(to, " ") : to, from, length);
	}
	return ret;
}

/*
 * May the query be called by name? It must be a whole query, which begins with @with@, and need no
 * placeholder that only its command can fill.
 */
static bool has_name(const struct bsv_named_sql *report)
{
	static const char *const known[] = { "@with@", "@began@", "@only_preempted@", "@only_victims@" };

	for (const char *at = report->text; (at = strchr(at, '@'));) {
		bool is_known = false;

		for (size_t i = 0; i < sizeof(known) / sizeof(*known) && !is_known; i++) {
			size_t n = strlen(known[i]);

			is_known = !strncmp(at, known[i], n);
			at += is_known ? n : 0;
		}
		if (!is_known)
			return false;
	}
	return strstr(report->text, "@with@");
}

/* NULL: there is no such query. */
static const struct bsv_named_sql *report_find(const char *name)
{
	for (const struct bsv_named_sql *r = bsv_reports; r->name; r++)
		if (has_name(r) && !strcmp(r->name, name))
			return r;
	return NULL;
}

/* @before: the word before it, or NULL. */
static int report_missing(const char *name, const char *before, struct bsa_err *err)
{
	const char **names, *nearest;
	size_t n = 0;

	for (const struct bsv_named_sql *r = bsv_reports; r->name; r++)
		n++;
	names = calloc(n + 1, sizeof(*names));
	if (!names)
		return bsv_no_memory(err);
	n = 0;
	for (const struct bsv_named_sql *r = bsv_reports; r->name; r++)
		if (has_name(r)) /* a suggestion must work; a nearer query without a name does not hide it */
			names[n++] = r->name;
	nearest = bsv_nearest(name, names, n, sizeof(*names));
	free(names);
	if (nearest)
		return bsa_fail(err, BSA_E_USAGE, "no query '%s'; did you mean '%s'?", name, nearest);
	if (!access(name, F_OK) && before && access(before, F_OK))
		return bsa_fail(err, BSA_E_USAGE, "%s is a file; the query comes last, behind it", name);
	if (!access(name, F_OK))
		return bsa_fail(err, BSA_E_USAGE, "%s is a file; add a query", name);
	return bsa_fail(err, BSA_E_USAGE,
	                "'%s' is neither a query nor the name of one; burstscope sql --list shows the names", name);
}

static int print_list(const struct bsv_call *call, struct bsa_err *err)
{
	static const struct bsv_column columns[] = { { "query", "text", NULL }, { "about", "text", NULL } };
	bsv_scoped_answer *a = bsv_answer_new(call, NULL);
	struct bsv_rows *rows = bsv_rows_new(columns, 2);

	for (const struct bsv_named_sql *r = bsv_reports; r->name; r++) {
		char *text = has_name(r) ? report_about(r) : NULL;

		if (text) {
			bsv_rows_text(rows, r->name);
			bsv_rows_text(rows, text);
		}
		free(text);
	}
	bsv_answer_rows(a, "queries", NULL, rows);
	return bsv_answer_print(a, false, err);
}

/* ---- run a query ---- */

static int sql_run(const struct bsv_call *call, struct bsa_err *err)
{
	static const char no_table[] = "no such table: ";
	const struct options *o = call->options;
	const char *query = call->n_operands ? call->operands[call->n_operands - 1] : NULL;
	const struct bsv_named_sql *report = query ? report_find(query) : NULL;
	bsv_scoped_input input = { 0 };
	bsv_scoped_answer *a = NULL;
	const struct bsv_asked *asked = &call->asked;
	const char *operand = call->n_operands > 1 ? call->operands[0] : NULL;
	char began[32], name[sizeof(err->text)];
	int r;

	if (o->list)
		return print_list(call, err);
	if (!query)
		return bsa_fail(err, BSA_E_USAGE, "expected [INPUT] QUERY; see burstscope sql --help");
	if (!report && !query[strspn(query, "abcdefghijklmnopqrstuvwxyz_0123456789-./ABCDEFGHIJKLMNOPQRSTUVWXYZ")])
		return report_missing(query, operand, err);
	if (!report && (asked->where || asked->from.given || asked->to.given))
		return bsa_fail(
			err, BSA_E_USAGE,
			"--where, --from and --to need a query with a name; write the condition into the query");
	r = bsv_input_open(&input, operand, call, err);
	if (r < 0)
		return r;
	if (!report)
		bsa_db_own_queries(input.db, false);
	a = bsv_answer_new(call, &input);
	if (report) {
		const struct bsv_placeholder placeholders[] = { { "with", input.with },
			                                        { "began", began },
			                                        { "only_preempted", "" },
			                                        { "only_victims", "" },
			                                        { NULL, NULL } };

		snprintf(began, sizeof(began), "%" PRId64, input.began);
		bsv_answer_sql(a, "rows", NULL, bsv_fill(report->text, placeholders));
	} else {
		bsv_answer_sql(a, "rows", NULL, strdup(query));
		bsv_answer_raw(a, "rows");
	}
	r = bsv_answer_print(a, false, err);
	if (r != BSA_E_USAGE || strncmp(err->text, no_table, strlen(no_table)))
		return r;

	/* Name the relation that may have been meant, because the query failed for an unknown one. */
	snprintf(name, sizeof(name), "%s", err->text + strlen(no_table));
	bsv_relation_check(input.db, name, err);
	return BSA_E_USAGE;
}

const struct bsv_command bsv_sql = {
	.name = "sql",
	.operands = "[INPUT] QUERY",
	.says = "query a database in SQL",
	.examples = "  burstscope sql 'SELECT path, percentile(e2e_ns, 99) FROM execution GROUP BY path'\n"
		    "  burstscope sql --format csv bursts.db 'SELECT * FROM miss_cause' >causes.csv\n"
		    "  burstscope sql --list\n"
		    "  burstscope sql --limit 10 --where \"app = 'camera'\" slowest\n",
	.more = "QUERY is one statement that only reads, or the name of one. burstscope schema shows the tables.\n"
		"Beside SQLite's functions there are percentile(value, p), which is exact, jain(x) and "
		"duration(ns).\n",
	.options = options,
	.options_size = sizeof(struct options),
	.max = 2,
	.parts = (const char *const[]){ "rows", "queries", NULL },
	.asks = BSV_ASK_FORMAT | BSV_ASK_LIMIT | BSV_ASK_WHERE | BSV_ASK_WHEN | BSV_ASK_ANY,
	.whole = true,
	.run = sql_run,
};
