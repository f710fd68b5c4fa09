/*
 * input.c -- finds the database of an input, or has the trace imported; and makes the relations of
 * the picked executions.
 *
 * REUSE  A database is reused for a trace directory if it is not older than any file in the
 *        directory, and if all of its traces were read from there. An older database is made again.
 *        A database of other traces is left alone: the database of the trace is then made in the
 *        cache.
 */
#include "input/input.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/letters.h"
#include "base/nearest.h"
#include "base/numbers.h"
#include "base/rows.h"
#include "base/scoped.h"
#include "base/screen.h"
#include "base/template.h"
#include "base/text.h"
#include "input/conjunct.h"
#include "input/importing.h"
#include "input/recording.h"

/* Print @text, which is owned here, to standard error; names of files in it may contain anything. NULL is allowed. */
static void print_notice(char *text)
{
	char *shown = text ? bsv_printable(text, strlen(text), 0) : NULL;

	if (shown)
		bsv_print_line(stderr, shown);
	free(shown);
	free(text);
}

/* ---- the database of a trace ---- */

enum made { MADE_NOT, MADE_OLD, MADE, MADE_OTHERWISE };

/* Were all traces in @db read from below the directory @whole? */
static bool is_made_from(struct bsa_db *db, const char *whole)
{
	bsv_scoped_rows *r = NULL;
	bool all = true;
	size_t n = strlen(whole);
	int came = bsv_rows_query(&r, db, bsv_sql_input_traces, NULL);

	while (came >= 0 && (came = bsv_rows_step(r, NULL)) > 0) {
		const char *path = bsv_rows_cell(r, 0).text;

		all = all && path && !strncmp(path, whole, n) && (!path[n] || path[n] == '/');
	}
	return all && !came;
}

/* The state of the database at @path for the trace in @whole, which was changed at @changed. */
static enum made database_state(const char *path, const char *whole, int64_t changed)
{
	int64_t at = bsv_file_changed(path);
	struct bsa_db *db = NULL;
	enum made ret;

	if (access(path, F_OK))
		return MADE_NOT;
	if (bsa_db_open(&db, path, NULL) < 0)
		return MADE_OTHERWISE;
	ret = !is_made_from(db, whole) ? MADE_OTHERWISE : at < changed ? MADE_OLD : MADE;
	bsa_db_close(db);
	return ret;
}

static bool can_be_made(const char *path)
{
	char directory[PATH_MAX];
	char *end;

	snprintf(directory, sizeof(directory), "%s", path);
	end = strrchr(directory, '/');
	if (!end)
		return false;
	end[end == directory] = 0;
	return !access(directory, W_OK);
}

/* Find the database of the trace directory @trace, or make it. */
/* Call the database @ret beside @trace as the user called the trace, where that names the same file. */
static void name_as_given(const char *trace, char ret[PATH_MAX])
{
	char name[PATH_MAX], whole[PATH_MAX];
	size_t length = strlen(trace);
	int n;

	while (length > 1 && trace[length - 1] == '/')
		length--;
	n = snprintf(name, sizeof(name), "%.*s.db", (int)length, trace);
	/* A name that begins with '-' would be an option in the commands that an answer suggests. */
	if (n > 0 && n < PATH_MAX && *name != '-' && realpath(name, whole) && !strcmp(whole, ret))
		memcpy(ret, name, (size_t)n + 1);
}

static int trace_database(const char *trace, char ret[PATH_MAX], const struct bsv_call *call, struct bsa_err *err)
{
	int64_t changed = bsv_recording_changed(trace);
	struct bsa_import_options options = { .traces = &trace, .n_traces = 1, .output = ret };
	char whole[PATH_MAX];
	enum made made;
	int r;

	if (!changed && errno == EACCES)
		return bsa_fail(err, BSA_E_INPUT, "cannot read %s%s: %s",
		                access(trace, R_OK | X_OK) ? "" : "a directory below ", trace, strerror(EACCES));
	if (!changed && errno == ENODATA)
		return bsa_fail(err, BSA_E_INPUT,
		                "%s: the streams of a trace are here, but not its file 'metadata', without which they "
		                "cannot be read",
		                trace);
	if (!changed)
		return bsa_fail(err, BSA_E_INPUT, "%s: this directory contains no trace", trace);
	if (!realpath(trace, whole))
		return bsa_fail(err, BSA_E_INPUT, "%s: %s", trace, strerror(errno));
	made = bsv_importing_beside(trace, ret, NULL) < 0 ? MADE_OTHERWISE : database_state(ret, whole, changed);
	if (made == MADE_OTHERWISE || (made != MADE && !can_be_made(ret))) {
		r = bsv_recording_cache(trace, ret, err);
		if (r < 0)
			return r;
		made = database_state(ret, whole, changed);
	}
	if (made == MADE) {
		name_as_given(trace, ret);
		return 0;
	}
	if (!call->common.quiet)
		print_notice(bsv_text("importing %s into %s, once", trace, ret));
	r = bsv_importing(&options, call, err);
	if (r >= 0)
		name_as_given(trace, ret);
	return r;
}

/* ---- the database ---- */

static int database_find(const char *name, char ret[PATH_MAX], const struct bsv_call *call, struct bsa_err *err)
{
	char newest[PATH_MAX];
	struct stat st;

	if (!name) {
		int r = bsv_recording_newest(newest, err);

		if (r < 0)
			return r;
		name = newest;
		if (!call->common.quiet)
			print_notice(bsv_text("reading %s, the newest recording here", name));
	}
	if (!stat(name, &st) && S_ISDIR(st.st_mode)) {
		char found[PATH_MAX];

		switch (bsv_recording_case(name, found)) {
		case BSV_A_CASE:
			strcpy(ret, found);
			return 0;
		case BSV_THE_CASES:
			return bsa_fail(err, BSA_E_USAGE,
			                "%s is a directory of cases; name one of them, as %s: burstscope cases lists "
			                "them",
			                name, found);
		case BSV_NO_CASE:
			return trace_database(name, ret, call, err);
		}
	}
	if (snprintf(ret, PATH_MAX, "%s", name) >= PATH_MAX)
		return bsa_fail(err, BSA_E_USAGE, "%.100s...: the name is too long", name);
	return 0;
}

/* ---- picked executions ---- */

/* The sum, limited to INT64_MAX, because a database may contain any number as its start. @by is not negative. */
static int64_t time_later(int64_t at, int64_t by)
{
	int64_t ret;

	return __builtin_add_overflow(at, by, &ret) ? INT64_MAX : ret;
}

bool bsv_input_is_timed(const struct bsv_input *input)
{
	return input->from != INT64_MIN || input->to != INT64_MAX;
}

int64_t bsv_input_length(const struct bsv_input *input)
{
	int64_t ret;

	if (__builtin_sub_overflow(input->ended, input->began, &ret))
		return input->ended < input->began ? 0 : INT64_MAX;
	return ret;
}

static int read_from_and_to(struct bsv_input *input, const struct bsv_call *call, struct bsa_err *err)
{
	const struct bsv_quantity *from = &call->asked.from, *to = &call->asked.to;
	char a[BSV_DURATION_TEXT], b[BSV_DURATION_TEXT];

	assert(!from->given || !to->given || from->value < to->value); /* otherwise options.c refuses them */
	input->from = from->given ? time_later(input->began, from->value) : INT64_MIN;
	input->to = to->given ? time_later(input->began, to->value) : INT64_MAX;
	input->coverage.timed = from->given || to->given;
	if (from->given && from->value > bsv_input_length(input))
		return bsa_fail(err, BSA_E_USAGE, "--from %s is after the end of the recording, which is %s long",
		                bsv_duration(a, from->value), bsv_duration(b, bsv_input_length(input)));
	return 0;
}

/*
 * The beginning of every query; owned by the caller. NULL: no memory. @of_apps and @only, which may
 * be empty, follow the executions.
 */
static char *with_text(const char *of_apps, const char *only)
{
	bsv_scoped_text *with = bsv_fill(
		bsv_sql_picked,
		(const struct bsv_placeholder[]){
			{ "names", bsv_sql_with_names }, { "of_apps", of_apps }, { "only", only }, { NULL, NULL } });

	return with ? bsv_text("%s\n", with) : NULL;
}

/* ---- --where ---- */

struct names {
	char **names;
	size_t n;
};

static void names_fini(struct names *names)
{
	for (size_t i = 0; i < names->n; i++)
		free(names->names[i]);
	free(names->names);
}

/*
 * Fill @template, a query of the executions that @with picks, for which @condition holds. Owned by
 * the caller; NULL: no memory.
 */
static char *where_text(const char *template, const char *with, const char *condition)
{
	return bsv_fill(template, (const struct bsv_placeholder[]){
					  { "relations", with }, { "condition", condition }, { NULL, NULL } });
}

/* Report what is wrong with --where; @why is SQLite's message. */
static int where_failed(struct bsa_db *db, const char *with, const char *why, struct bsa_err *err)
{
	static const char no_column[] = "no such column: ";
	__attribute__((cleanup(names_fini))) struct names names = { 0 };
	bsv_scoped_text *all = NULL;
	bsv_scoped_rows *r = NULL;
	const char *nearest = NULL, *name = why + strlen(no_column);

	if (strncmp(why, no_column, strlen(no_column)))
		return bsa_fail(err, BSA_E_USAGE, "--where is not a condition on executions: %s", why);
	all = where_text(bsv_sql_where_columns, with, "");
	if (all && bsv_rows_query(&r, db, all, NULL) >= 0)
		names.names = calloc(bsv_rows_columns(r), sizeof(*names.names));
	for (size_t i = 0; names.names && i < bsv_rows_columns(r); i++) {
		char *column = strdup(bsv_rows_column(r, i)->name);

		if (column)
			names.names[names.n++] = column;
	}
	if (names.n)
		nearest = bsv_nearest(name, (const char *const *)names.names, names.n, sizeof(*names.names));
	if (nearest)
		return bsa_fail(err, BSA_E_USAGE, "--where: executions have no '%s'; did you mean '%s'?", name,
		                nearest);
	return bsa_fail(err, BSA_E_USAGE,
	                "--where: executions have no '%s'; they have app, model and the columns that burstscope schema "
	                "execution shows",
	                name);
}

/*
 * The condition becomes part of a larger query, in brackets. So it must be an expression both with
 * and without brackets: a condition that closes our bracket ("1) OR (1") is not one without them.
 */
static int check_where(struct bsa_db *db, const char *with, const char *where, struct bsa_err *err)
{
	struct bsa_err why = { "" };

	for (int bare = 1; bare >= 0; bare--) { /* first as it was written, for the message */
		bsv_scoped_text *condition = bsv_text(bare ? "%s" : "(%s)", where);
		bsv_scoped_text *sql = condition ? where_text(bsv_sql_where_check, with, condition) : NULL;
		struct bsa_query *q = NULL;
		size_t end = sql ? strlen(sql) : 0;
		int r;

		while (end && sql[end - 1] == '\n') /* of the template: SQLite would quote it with an open string */
			sql[--end] = 0;
		r = sql ? bsa_query_new(&q, db, sql, &why) : bsv_no_memory(err);

		if (!r && bsa_query_parameter(q))
			r = bsa_fail(&why, BSA_E_USAGE, "%s has no value", bsa_query_parameter(q));
		bsa_query_free(q);
		if (r == BSA_E_USAGE)
			return where_failed(db, with, why.text, err);
		if (r < 0)
			return sql ? bsa_fail(err, r, "%s", why.text) : r;
	}
	return 0;
}

/* ---- --where that picks whole groups ---- */

static bool can_be_prepared(struct bsa_db *db, const char *sql)
{
	struct bsa_query *q = NULL;
	int r = bsa_query_new(&q, db, sql, NULL);

	bsa_query_free(q);
	return !r;
}

/*
 * A condition picks whole groups if it can be prepared against the columns of groups alone. Not
 * with double quotes, which would make an unknown column a text; and not with random numbers, which
 * differ for each execution. A condition that queries phase_stat would refer to the relation made
 * here, which SQLite does not prepare.
 */
static int make_with_groups(struct bsv_input *input, const char *where, struct bsa_err *err)
{
	bsv_scoped_text *seen = NULL, *groups = NULL, *all = NULL, *tried = NULL;
	bsv_scoped_rows *rows = NULL;
	int r = bsv_rows_query(&rows, input->db, bsv_sql_groups_nameless, err);
	bool nameless; /* models without a name are one group in the database, but have different names for people */

	if (r >= 0)
		r = bsv_rows_step(rows, err);
	nameless = r > 0;
	if (r < 0 || strchr(where, '"') || strcasestr(where, "random"))
		return r < 0 ? r : 0;
	seen = bsv_fill(bsv_sql_where_of_groups,
	                (const struct bsv_placeholder[]){ { "names", bsv_sql_with_names },
	                                                  { "model", nameless ? "" : bsv_sql_where_model },
	                                                  { "where", where },
	                                                  { NULL, NULL } });
	groups = bsv_fill(bsv_sql_groups, (const struct bsv_placeholder[]){
						  { "relations", input->with }, { "where", where }, { NULL, NULL } });
	all = groups ? bsv_text("%s\n", groups) : NULL;
	tried = all ? where_text(bsv_sql_where_groups_check, all, "") : NULL;
	if (!seen || !tried)
		return bsv_no_memory(err);
	if (can_be_prepared(input->db, seen) && can_be_prepared(input->db, tried)) {
		input->with_groups = all;
		all = NULL;
	}
	return 0;
}

const char *bsv_input_with_groups(const struct bsv_input *input)
{
	return input->picks ? input->with_groups : input->with;
}

/* ---- what alone was asked for when it was recorded (record/scope.h) ---- */

static char *scoped_streams(const char *app, int64_t pid, int64_t service)
{
	bsv_scoped_text *name = app ? bsv_quoted(app) : NULL, *by_app = NULL, *by_pid = NULL, *by_service = NULL;
	bool uid = app && *app && !app[strspn(app, "0123456789")];
	char number[24];

	by_app = !app ? strdup("")
	              : bsv_fill(uid ? bsv_sql_scope_uid : bsv_sql_scope_app,
	                         (const struct bsv_placeholder[]){ { "app", uid    ? app
	                                                                    : name ? name
	                                                                           : "''" },
	                                                           { NULL, NULL } });
	snprintf(number, sizeof(number), "%" PRId64, pid);
	by_pid = pid < 0 ? strdup("")
	                 : bsv_fill(bsv_sql_scope_pid,
	                            (const struct bsv_placeholder[]){ { "pid", number }, { NULL, NULL } });
	snprintf(number, sizeof(number), "%" PRId64, service);
	by_service = service < 0 ? strdup("")
	                         : bsv_fill(bsv_sql_scope_service,
	                                    (const struct bsv_placeholder[]){ { "pid", number }, { NULL, NULL } });
	return by_app && by_pid && by_service
	               ? bsv_fill(bsv_sql_scope, (const struct bsv_placeholder[]){ { "by_app", by_app },
	                                                                           { "by_pid", by_pid },
	                                                                           { "by_service", by_service },
	                                                                           { NULL, NULL } })
	               : NULL;
}

static char *scope_text(const struct bsv_command *command, const char *app, int64_t pid, int64_t service)
{
	char of_pid[40] = "", of_service[40] = "";

	if (pid >= 0)
		snprintf(of_pid, sizeof(of_pid), " pid=%" PRId64, pid);
	if (service >= 0)
		snprintf(of_service, sizeof(of_service), " service=%" PRId64, service);
	return bsv_text("scope:%s%s%s%s; other executions were not asked for when this was recorded, and %s%s",
	                of_service, app ? " app=" : "", app ? app : "", of_pid,
	                command->whole ? command->name : "are left out", command->whole ? " shows them, too" : "");
}

static int read_scope(struct bsv_input *input, const struct bsv_call *call, struct bsa_err *err)
{
	bsv_scoped_rows *r = NULL, *counts = NULL;
	bsv_scoped_text *outside = NULL;
	struct bsv_coverage *c = &input->coverage;
	int came = bsv_rows_query(&r, input->db, bsv_sql_input_scope, err);
	const char *app;
	int64_t pid, service, others;

	if (came >= 0)
		came = bsv_rows_step(r, err);
	if (came < 0)
		return came;
	app = bsv_rows_cell(r, 0).text;
	pid = bsv_rows_get(r, 1, -1);
	service = bsv_rows_get(r, 2, -1);
	others = bsv_rows_get(r, 3, -1);
	if (!app && pid < 0 && service < 0)
		return 0;
	input->scope = scoped_streams(app, pid, service);
	outside = input->scope
	                  ? bsv_fill(bsv_sql_scope_outside,
	                             (const struct bsv_placeholder[]){ { "streams", input->scope }, { NULL, NULL } })
	                  : NULL;
	if (!outside)
		return bsv_no_memory(err);
	if (c->service_alone || c->client_alone || c->headless) {
		came = bsv_rows_query(&counts, input->db, outside, err);
		if (came >= 0)
			came = bsv_rows_step(counts, err);
		for (size_t i = 0; came > 0 && i < sizeof(c->others) / sizeof(*c->others); i++)
			c->others[i] = bsv_rows_get(counts, i, 0);
		if (came < 0)
			return came;
	}
	if (call->common.quiet)
		return 0;
	if (app || pid >= 0 || others < 0)
		print_notice(scope_text(call->command, app, pid, service));
	else if (!others)
		print_notice(
			bsv_text("scope: service=%" PRId64 "; no execution of another service was recorded", service));
	else
		print_notice(bsv_text("scope: service=%" PRId64
		                      "; the import left out the executions of other services, %" PRId64 " at least",
		                      service, others));
	return 0;
}

/*
 * Split @where into *ret_apps, for with_text, and *ret_rest. Owned by the caller; "": none. False:
 * no memory. A condition that begins with one on the app alone, as most do: SQLite would ask that
 * of each execution, by a query of its name. Asked of each app once, it leaves the executions of
 * some app_id.
 */
static bool split_where(const struct bsv_input *input, const char *with, const char *where, char **ret_apps,
                        char **ret_rest)
{
	bsv_scoped_text *first = NULL, *alone = NULL, *later = NULL, *left = NULL;
	const char *rest = NULL;
	size_t n;
	bool splits = where && !strcasestr(where, "random") && bsv_first_conjunct(where, &n, &rest);

	if (splits) {
		first = strndup(where, n);
		alone = first ? bsv_fill(bsv_sql_where_of_apps,
		                         (const struct bsv_placeholder[]){
						 { "names", bsv_sql_with_names }, { "where", first }, { NULL, NULL } })
		              : NULL;
		later = bsv_text("(%s)", rest ? rest : "1");
		left = later ? where_text(bsv_sql_where_check, with, later) : NULL;
		if (!alone || !left)
			return false;
		splits = can_be_prepared(input->db, alone) && can_be_prepared(input->db, left);
	}
	*ret_apps = splits ? bsv_fill(bsv_sql_picked_of_apps,
	                              (const struct bsv_placeholder[]){ { "where", first }, { NULL, NULL } })
	                   : strdup("");
	*ret_rest = strdup(!splits ? where ? where : "" : rest ? rest : "");
	return *ret_apps && *ret_rest;
}

/* A condition on when executions began. Owned by the caller; NULL: no memory. */
static char *began_sql(const char *template, int64_t at)
{
	char ns[24];
	const struct bsv_placeholder placeholders[] = { { "began", bsv_sql_began }, { "at", ns }, { NULL, NULL } };

	snprintf(ns, sizeof(ns), "%" PRId64, at);
	return bsv_fill(template, placeholders);
}

/* @lent: the input that lends its connection, and has the same; NULL: none. */
static int make_with(struct bsv_input *input, const struct bsv_call *call, const struct bsv_input *lent,
                     struct bsa_err *err)
{
	const struct bsv_quantity *from = &call->asked.from, *to = &call->asked.to;
	const char *where = call->asked.where;
	bsv_scoped_text *all = with_text("", ""), *apps = NULL, *rest = NULL, *condition = NULL, *only = NULL;
	int r;

	if (!all)
		return bsv_no_memory(err);
	bsa_db_own_queries(input->db, !where); /* a user's condition may be valid and still fail on a row */
	if (lent) {
		input->picks = lent->picks;
		input->with = strdup(lent->with);
		input->with_groups = lent->with_groups ? strdup(lent->with_groups) : NULL;
		return input->with && !input->with_groups == !lent->with_groups ? 0 : bsv_no_memory(err);
	}
	r = where ? check_where(input->db, all, where, err) : 0;
	if (r < 0)
		return r;
	input->picks = where || from->given || to->given || input->scope;
	if (!split_where(input, all, where, &apps, &rest))
		return bsv_no_memory(err);
	condition = *rest ? bsv_text("(%s)", rest) : strdup("");
	if (input->scope)
		condition = bsv_and(condition, bsv_fill(bsv_sql_picked_streams,
		                                        (const struct bsv_placeholder[]){ { "streams", input->scope },
		                                                                          { NULL, NULL } }));
	if (from->given)
		condition = bsv_and(condition, began_sql(bsv_sql_picked_from, input->from));
	if (to->given)
		condition = bsv_and(condition, began_sql(bsv_sql_picked_to, input->to));
	if (condition)
		only = *condition ? bsv_fill(bsv_sql_picked_only,
		                             (const struct bsv_placeholder[]){ { "condition", condition },
		                                                               { NULL, NULL } })
		                  : strdup("");
	input->with = only ? with_text(apps, only) : NULL;
	if (!input->with)
		return bsv_no_memory(err);
	return where && !from->given && !to->given && !input->scope ? make_with_groups(input, where, err) : 0;
}

int bsv_input_keep_picked(struct bsv_input *input, struct bsa_err *err)
{
	const struct bsv_placeholder placeholders[] = { { "relations", input->with },
		                                        { "kind", bsv_sql_kind_of_app },
		                                        { NULL, NULL } };
	bsv_scoped_text *sql = bsv_fill(bsv_sql_kept_picked, placeholders);
	bsv_scoped_text *only =
		bsv_fill(bsv_sql_picked_only,
	                 (const struct bsv_placeholder[]){ { "condition", bsv_sql_picked_kept }, { NULL, NULL } });
	bsv_scoped_text *all = bsv_text("%" PRId64, input->executions);
	bsv_scoped_query *few = NULL;
	char *with = only ? with_text("", only) : NULL;
	int r = sql && with && all ? bsa_db_make_temporary(input->db, sql, err) : bsv_no_memory(err);

	if (r >= 0)
		r = bsv_query_new(&few, input->db, bsv_sql_kept_few,
		                  (const struct bsv_placeholder[]){ { "all", all }, { NULL, NULL } }, err);
	if (r >= 0)
		r = bsa_query_step(few, err);
	if (r <= 0) {
		free(with);
		return r;
	}
	free(input->with);
	input->with = with;
	return 0;
}

/* ---- open and close ---- */

/* What all answers about a database rest on: its coverage, its times, and how many executions it has. */
static int read_whole(struct bsv_input *input, struct bsa_err *err)
{
	bsv_scoped_rows *times = NULL;
	int r = bsv_coverage_read(&input->coverage, input->db, err);

	if (r >= 0)
		r = bsv_rows_query(&times, input->db, bsv_sql_input_times, err);
	if (r >= 0)
		r = bsv_rows_step(times, err);
	if (r < 0)
		return r;
	input->began = bsv_rows_get(times, 0, 0);
	input->ended = bsv_rows_get(times, 1, 0);
	input->executions = bsv_rows_get(times, 2, 0);
	input->over_by = bsv_rows_get(times, 3, input->ended);
	return 0;
}

/* The same, of @open, which is the same database. */
static void copy_whole(struct bsv_input *input, const struct bsv_input *open)
{
	input->coverage = open->coverage;
	input->began = open->began;
	input->ended = open->ended;
	input->executions = open->executions;
	input->over_by = open->over_by;
}

int bsv_input_open(struct bsv_input *ret, const char *name, const struct bsv_call *call, struct bsa_err *err)
{
	const struct bsv_asked *a = &call->asked, *b;
	const struct bsv_input *open;
	char path[PATH_MAX];
	int r;

	*ret = (struct bsv_input){ 0 };
	r = database_find(name, path, call, err);
	if (r < 0)
		return r;
	open = call->open && !strcmp(call->open->path, path) ? call->open : NULL;
	ret->path = strdup(path);
	ret->known_as = strdup(call->known_as ? call->known_as : path);
	ret->asked = call->asked;
	/* A connection has temporary tables of the executions that its first command picked (reports/hidden.sql). */
	b = open ? &open->asked : a;
	ret->db_is_borrowed = open && (a->where && b->where ? !strcmp(a->where, b->where) : a->where == b->where) &&
	                      a->from.given == b->from.given && a->from.value == b->from.value &&
	                      a->to.given == b->to.given && a->to.value == b->to.value;
	if (!ret->path || !ret->known_as) {
		r = bsv_no_memory(err);
	} else if (ret->db_is_borrowed) {
		ret->db = open->db;
		ret->kept = open->kept;
	} else {
		r = bsa_db_open(&ret->db, path, err);
	}
	if (r >= 0)
		bsa_db_own_queries(ret->db, true);
	if (r >= 0 && call->many)
		bsa_db_make_temporary(ret->db, bsv_sql_kept_counts, NULL); /* without it, queries ask the view */
	if (r >= 0 && open)
		copy_whole(ret, open);
	else if (r >= 0)
		r = read_whole(ret, err);
	if (r >= 0)
		r = read_scope(ret, call, err);
	if (r >= 0 && call->command->asks & BSV_ASK_WHERE && !(call->command->asks & BSV_ASK_ANY))
		r = bsv_input_needs_executions(ret, err);
	if (r >= 0)
		r = read_from_and_to(ret, call, err);
	if (r >= 0)
		r = make_with(ret, call, ret->db_is_borrowed ? open : NULL, err);
	if (r < 0)
		bsv_input_close(ret);
	return r;
}

int bsv_input_needs_executions(const struct bsv_input *input, struct bsa_err *err)
{
	if (input->executions)
		return 0;
	return bsa_fail(err, BSA_E_INPUT, "%s contains no executions; were the events of a service or an app recorded?",
	                input->known_as);
}

int bsv_input_executions(struct bsa_executions **ret, const struct bsv_input *input, bool more, struct bsa_err *err)
{
	bsv_scoped_text *picked = NULL;

	if (input->picks) {
		picked = bsv_fill(bsv_sql_picked_ids,
		                  (const struct bsv_placeholder[]){ { "with", input->with }, { NULL, NULL } });
		if (!picked)
			return bsv_no_memory(err);
	}
	return bsa_executions_new(ret, input->db, picked, more, err);
}

void bsv_input_close(struct bsv_input *input)
{
	if (input->db_is_borrowed)
		bsa_db_own_queries(input->db, !input->asked.where); /* as they are of the input that lends it */
	else
		bsa_db_close(input->db);
	free(input->path);
	free(input->known_as);
	free(input->scope);
	free(input->with);
	free(input->with_groups);
	*input = (struct bsv_input){ 0 };
}
