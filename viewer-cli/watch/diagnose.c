/*
 * diagnose.c -- asks the database of a case about each condition that fired, and words what it
 * finds.
 *
 * A miss is put down to the primary cause that the import found (docs/figures.md), an error to its
 * status, a death to the client whose connection ended. Where the recording does not hold what
 * fired, the summary states that, and names no cause.
 */
#include "watch/diagnosing.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/causes.h"
#include "base/numbers.h"
#include "base/scoped.h"
#include "base/text.h"
#include "watch/diagnose.h"

enum {
	SLACK_NS = 200000000
}; /* an event is heard of so much later than it happened, at the most, as far as it matters */

static struct bsv_cell cell_named(const struct bsv_rows *rows, const char *name)
{
	for (size_t i = 0; i < bsv_rows_columns(rows); i++)
		if (!strcmp(bsv_rows_column(rows, i)->name, name))
			return bsv_rows_cell(rows, i);
	return (struct bsv_cell){ .type = BSA_NULL };
}

int64_t bsv_diagnosing_number(const struct bsv_rows *rows, const char *name, int64_t otherwise)
{
	struct bsv_cell c = cell_named(rows, name);

	return c.type == BSA_INT ? c.integer : c.type == BSA_REAL ? bsv_whole(c.real) : otherwise;
}

const char *bsv_diagnosing_text(const struct bsv_rows *rows, const char *name)
{
	return cell_named(rows, name).text;
}

/* Owned by the caller; NULL where @text is. */
static char *copy_text(const char *text)
{
	return text ? strdup(text) : NULL;
}

char *bsv_diagnosing_whose(const char *app, const char *model)
{
	if (app && model)
		return bsv_text("%s's %s", app, model);
	return strdup(app ? app : model ? model : "an app that is not known");
}

/* ---- what is asked ---- */

/* As a list of SQL; "NULL", if there is none. */
static char *execs_of(const struct bsv_case_fired *f)
{
	char *all = strdup("NULL"), *longer;

	for (size_t i = 0; all && i < f->n_execs; i++) {
		longer = bsv_text("%s, %" PRId64, all, (int64_t)f->execs[i]);
		free(all);
		all = longer;
	}
	return all;
}

/* One more condition of SQL, unless @value is empty. @all is taken. */
static char *and_is(char *all, const char *column, const char *value)
{
	return bsv_and_equal(all, column, *value ? value : NULL);
}

/* The apps of the scope, by the names that they give themselves; "1": all. */
static char *in_scope(const struct bsv_diagnosing *d, const char *column)
{
	if (!d->input.scope)
		return strdup("1");
	return bsv_fill(bsv_sql_case_scope, (const struct bsv_placeholder[]){ { "column", column },
	                                                                      { "streams", d->input.scope },
	                                                                      { NULL, NULL } });
}

/* A condition as SQL, over rows with some of the columns app, model, cause, culprit, kind and status. */
static char *condition_as_sql(const struct bsv_diagnosing *d)
{
	const struct bsv_condition *c = d->condition;
	char *all = in_scope(d, "app");

	all = and_is(all, "app", c->app);
	all = and_is(all, "model", c->model);
	all = and_is(all, "cause", c->cause);
	all = and_is(all, "culprit", c->culprit);
	all = and_is(all, "kind", c->kind);
	return and_is(all, "status", c->status);
}

int bsv_diagnosing_ask(struct bsv_rows **ret, struct bsv_diagnosing *d, const char *template, char *only,
                       struct bsa_err *err)
{
	bsv_scoped_text *owned = only, *execs = execs_of(d->fired);
	bsv_scoped_text *since = bsv_text("%" PRId64, d->at - d->c->before - d->slack);
	bsv_scoped_text *until = bsv_text("%" PRId64, d->at + d->c->after + d->slack);
	const struct bsv_placeholder placeholders[] = { { "since", since },
		                                        { "until", until },
		                                        { "execs", execs },
		                                        { "only", owned },
		                                        { "episodes", d->episodes ? d->episodes : "" },
		                                        { NULL, NULL } };
	bsv_scoped_text *sql =
		owned && execs && since && until ? bsv_input_fill(&d->input, template, placeholders) : NULL;

	return sql ? bsv_rows_query(ret, d->input.db, sql, err) : bsv_no_memory(err);
}

/* ---- what is found ---- */

void bsv_diagnosing_add(struct bsv_diagnosing *d, struct bsv_case_cause cause)
{
	cause.condition = strdup(bsv_condition_name(d->condition));
	bsv_case_add(d->c, cause);
}

void bsv_diagnosing_add_row(struct bsv_diagnosing *d, const struct bsv_rows *row, struct bsv_case_cause cause)
{
	int64_t user = bsv_diagnosing_number(row, "user", -1);

	cause.app = copy_text(bsv_diagnosing_text(row, "app"));
	cause.model = copy_text(bsv_diagnosing_text(row, "model"));
	cause.has_user = user >= 0 && user <= UINT32_MAX;
	cause.user = cause.has_user ? (uint32_t)user : 0;
	bsv_diagnosing_add(d, cause);
}

static void add_miss(struct bsv_diagnosing *d, const struct bsv_rows *row)
{
	/* the trace of a case has the last seconds alone, so what apps had of their shares is not known */
	const char *cause = bsv_diagnosing_text(row, "cause"), *phrase = bsv_cause_of_miss(cause, false);
	const char *by = bsv_diagnosing_text(row, "culprit");
	uint64_t n = (uint64_t)bsv_diagnosing_number(row, "n_misses", 1),
		 gone = (uint64_t)bsv_diagnosing_number(row, "n_persistent", 0);
	int64_t worst_ns = bsv_diagnosing_number(row, "worst_ns", -1);
	int64_t budget_ns = bsv_diagnosing_number(row, "budget_ns", -1);
	int64_t run_ns = bsv_diagnosing_number(row, "run_ns", -1);
	bool guessed = bsv_diagnosing_number(row, "run_estimated", 0) == 1;
	char a[BSV_COUNT_MAX], b[BSV_COUNT_MAX], *what = NULL;
	char worst[BSV_DURATION_TEXT], run[BSV_DURATION_TEXT], allowed[BSV_DURATION_TEXT];
	bsv_scoped_text *victim =
		bsv_diagnosing_whose(bsv_diagnosing_text(row, "app"), bsv_diagnosing_text(row, "model"));
	bsv_scoped_text *culprit = by ? bsv_diagnosing_whose(by, bsv_diagnosing_text(row, "culprit_model")) : NULL;
	bsv_scoped_text *why = bsv_cause_with_culprit(phrase ? phrase : "for a reason that is not known here", culprit);
	bsv_scoped_text *late =
		worst_ns > 0 ? bsv_text(" by %s%s", n == 1 ? "" : "up to ", bsv_duration(worst, worst_ns)) : strdup("");
	bsv_scoped_text *budget =
		!strcmp(cause, "too_big") && budget_ns >= 0 && run_ns >= 0
			? bsv_text(": its run takes %s%s, and its budget is %s", bsv_duration(run, run_ns),
	                           guessed ? " by the service's estimate" : "", bsv_duration(allowed, budget_ns))
			: strdup("");
	bsv_scoped_text *persistent =
		gone ? bsv_text("; %s answered as impossible (persistent)", bsv_count(b, gone)) : strdup("");

	/* "camera's mobilenet missed 3 deadlines, waiting for ..." */
	if (victim && why && late && budget && persistent)
		what = bsv_text("%s missed %s %s%s, %s%s%s", victim, bsv_count(a, n),
		                bsv_plural(n, "deadline", "deadlines"), late, why, budget, persistent);
	bsv_diagnosing_add_row(
		d, row,
		(struct bsv_case_cause){ .finding = copy_text(cause), .culprit = copy_text(by), .what = what, .n = n });
}

static void add_late_model(struct bsv_diagnosing *d, const struct bsv_rows *row)
{
	bsv_scoped_text *victim =
		bsv_diagnosing_whose(bsv_diagnosing_text(row, "app"), bsv_diagnosing_text(row, "model"));

	bsv_diagnosing_add_row(
		d, row,
		(struct bsv_case_cause){ .finding = strdup("prepared_late"),
	                                 .what = victim ? bsv_text("preparing %s missed its deadline", victim) : NULL,
	                                 .n = (uint64_t)bsv_diagnosing_number(row, "n_misses", 1) });
}

/* The meaning of a status, in words. */
static const char *status_text(const char *status)
{
	static const char *const says[][2] = {
		{ "DEVICE_UNAVAILABLE", "the device was not there" },
		{ "GENERAL_FAILURE", "the driver or the service failed" },
		{ "OUTPUT_INSUFFICIENT_SIZE", "an output was larger than the room that the app gave it" },
		{ "INVALID_ARGUMENT", "what the app asked for was not valid" },
		{ "RESOURCE_EXHAUSTED_TRANSIENT", "more was asked for than there was; later there may be enough" },
		{ "RESOURCE_EXHAUSTED_PERSISTENT", "more was asked for than there ever is" },
		{ "DEAD_OBJECT", "the app's connection to the service, or the service, had ended" },
	};

	for (size_t i = 0; i < sizeof(says) / sizeof(*says); i++)
		if (!strcmp(status, says[i][0]))
			return says[i][1];
	return "the status is not known here";
}

static void add_error(struct bsv_diagnosing *d, const struct bsv_rows *row)
{
	const char *status = bsv_diagnosing_text(row, "status") ? bsv_diagnosing_text(row, "status") : "?",
		   *resource = bsv_diagnosing_text(row, "resource");
	uint64_t n = (uint64_t)bsv_diagnosing_number(row, "n_failed", 1);
	bsv_scoped_text *victim =
		bsv_diagnosing_whose(bsv_diagnosing_text(row, "app"), bsv_diagnosing_text(row, "model"));
	bsv_scoped_text *more = resource ? bsv_text(": %s", resource) : strdup("");
	char *what = NULL, count[BSV_COUNT_MAX];

	if (victim && more && bsv_diagnosing_number(row, "prepared", 0))
		what = bsv_text("%s could not be prepared: %s: %s%s", victim, status, status_text(status), more);
	else if (victim && more)
		what = bsv_text("%s failed %s %s: %s: %s%s", victim, bsv_count(count, n),
		                bsv_plural(n, "time", "times"), status, status_text(status), more);
	bsv_diagnosing_add_row(d, row, (struct bsv_case_cause){ .finding = copy_text(status), .what = what, .n = n });
}

static void add_death(struct bsv_diagnosing *d, const struct bsv_rows *row)
{
	uint64_t open = (uint64_t)bsv_diagnosing_number(row, "n_open", 0),
		 under_way = (uint64_t)bsv_diagnosing_number(row, "n_under_way", 0);
	const char *app = bsv_diagnosing_text(row, "app");
	char a[BSV_COUNT_MAX], b[BSV_COUNT_MAX];

	bsv_diagnosing_add_row(
		d, row,
		(struct bsv_case_cause){
			.finding = strdup("death"),
			.what = bsv_text("%s (pid %" PRId64
	                                 ") died: its connection ended without a goodbye, with %s %s open "
	                                 "and %s %s under way",
	                                 app ? app : "an app that is not known", bsv_diagnosing_number(row, "pid", 0),
	                                 bsv_count(a, open), bsv_plural(open, "stream", "streams"),
	                                 bsv_count(b, under_way), bsv_plural(under_way, "execution", "executions")),
			.n = 1 });
}

int bsv_diagnosing_add_all(struct bsv_diagnosing *d, const char *template, char *only,
                           void (*add)(struct bsv_diagnosing *d, const struct bsv_rows *row), struct bsa_err *err)
{
	bsv_scoped_rows *rows = NULL;
	int r = bsv_diagnosing_ask(&rows, d, template, only, err);

	while (r >= 0 && (r = bsv_rows_step(rows, err)) > 0)
		add(d, rows);
	return r;
}

int bsv_diagnose_misses(struct bsv_diagnosing *d, char *only, struct bsa_err *err)
{
	return bsv_diagnosing_add_all(d, bsv_sql_case_misses, only, add_miss, err);
}

/* ---- all of it ---- */

/* LTTng has written down by how much its clock, CLOCK_MONOTONIC, is behind that of the database. */
int64_t bsv_diagnose_when(const struct bsv_case *c, struct bsv_input *input, struct bsa_err *err)
{
	bsv_scoped_rows *rows = NULL;
	int r = bsv_rows_query(&rows, input->db, bsv_sql_case_clock, err);

	if (r >= 0)
		r = bsv_rows_step(rows, err);
	return r < 0 ? r : c->at + (r ? bsv_rows_get(rows, 0, 0) : 0);
}

/*
 * From the latest beginning of a cpu's buffer on, all is there, except for the names of apps and
 * models, if the events that have them came before. If nothing was written over, all is there since
 * the watcher began, although the first event may have come later, because nothing happened before.
 */
static int find_held(struct bsv_diagnosing *d, struct bsa_err *err)
{
	bsv_scoped_rows *rows = NULL, *unnamed = NULL;
	int r = bsv_rows_bound(&rows, d->input.db, bsv_sql_case_held,
	                       (const struct bsv_value[]){ { ":at", d->at, NULL }, { 0 } }, err);
	int64_t from = d->input.began;

	if (d->c->watched >= 0 && d->at - d->c->watched < from)
		from = d->at - d->c->watched;
	d->c->recorded = from <= d->at ? d->at - from : -1;
	if (r >= 0)
		r = bsv_rows_step(rows, err);
	if (r > 0 && bsv_rows_get(rows, 0, from) > from)
		from = bsv_rows_get(rows, 0, from);
	d->c->held = r >= 0 && from <= d->at ? d->at - from : -1;

	d->fired = &d->c->fired[0];
	if (r >= 0)
		r = bsv_diagnosing_ask(&unnamed, d, bsv_sql_case_unnamed, strdup("1"), err);
	if (r >= 0)
		r = bsv_rows_step(unnamed, err);
	d->c->unnamed = r > 0 ? (uint64_t)bsv_diagnosing_number(unnamed, "n_unnamed", 0) : 0;
	return r < 0 ? r : 0;
}

static char *unexplained_sentence(const struct bsv_case_fired *fired)
{
	char n[BSV_COUNT_MAX];

	return bsv_text("%s fired %s %s, and the recording does not hold what it was about", fired->on,
	                bsv_count(n, fired->n), bsv_plural(fired->n, "time", "times"));
}

/* One of the conditions that fired, if it is of the kind that is asked for now. */
static int diagnose_fired(struct bsv_diagnosing *d, const struct bsv_case_fired *fired, enum bsv_watched watched,
                          bool *ret_met, struct bsa_err *err)
{
	struct bsv_condition condition;
	const struct bsv_condition *c = &condition;
	size_t before = d->c->n_causes;
	char *only;
	int r = bsv_condition_read(&condition, fired->on, err);

	if (r < 0 || c->watched != watched)
		return r;
	d->condition = c;
	d->fired = fired;
	switch (c->watched) {
	case BSV_WATCH_MISS:
		r = bsv_diagnose_misses(d, condition_as_sql(d), err);
		if (r < 0)
			return r;
		only = and_is(in_scope(d, bsv_sql_case_late_app), bsv_sql_case_late_app, c->app);
		only = and_is(only, bsv_sql_case_late_kind, c->kind);
		if (*c->cause || *c->culprit) {
			free(only);
			only = strdup("0");
		} else {
			only = and_is(only, bsv_sql_case_late_model, c->model);
		}
		r = bsv_diagnosing_add_all(d, bsv_sql_case_late_models, only, add_late_model, err);
		break;
	case BSV_WATCH_ERROR:
		r = bsv_diagnosing_add_all(d, bsv_sql_case_errors, condition_as_sql(d), add_error, err);
		break;
	case BSV_WATCH_DEATH:
		only = !d->input.scope ? strdup("1")
		                       : bsv_fill(bsv_sql_case_dead_streams,
		                                  (const struct bsv_placeholder[]){ { "streams", d->input.scope },
		                                                                    { NULL, NULL } });
		only = and_is(only, bsv_sql_case_dead_app, c->app);
		r = bsv_diagnosing_add_all(d, bsv_sql_case_deaths, only, add_death, err);
		break;
	case BSV_WATCH_STARVATION:
		r = bsv_diagnose_starvation(d, condition_as_sql(d), err);
		break;
	case BSV_WATCH_INVERSION:
		r = bsv_diagnose_inversion(d, condition_as_sql(d), err);
		break;
	case BSV_WATCH_SILENCE:
		r = bsv_diagnose_silence(d, in_scope(d, "app"), err);
		break;
	case BSV_WATCH_RULE:
		r = bsv_diagnose_rule(d, err);
		break;
	}
	*ret_met = *ret_met || d->c->n_causes > before || (!bsv_condition_needs_database(c) && !d->input.scope);
	return r;
}

/*
 * Beside conditions with a cause, one that fired on an event alone, of which the recording holds
 * nothing: it has a cause of its own, so that it is not counted as a repetition of the others. A
 * full case may have forgotten its causes, so their absence proves nothing.
 */
static int add_unexplained(struct bsv_diagnosing *d, const struct bsv_case_fired *fired, struct bsa_err *err)
{
	struct bsv_condition condition;
	int r = bsv_condition_read(&condition, fired->on, err);

	if (r < 0 || bsv_condition_needs_database(&condition) || d->input.scope || d->c->n_causes == BSV_CASE_CAUSES)
		return r;
	for (size_t i = 0; i < d->c->n_causes; i++)
		if (d->c->causes[i].condition && !strcmp(d->c->causes[i].condition, fired->on))
			return r;
	d->condition = &condition;
	bsv_diagnosing_add(d, (struct bsv_case_cause){ .finding = strdup("unexplained"),
	                                               .what = unexplained_sentence(fired),
	                                               .n = fired->n });
	return 0;
}

int bsv_diagnose(struct bsv_case *c, const char *database, bool *ret_met, struct bsa_err *err)
{
	/* An earlier one may be why a later one happened; it is not so the other way round. */
	static const enum bsv_watched order[] = { BSV_WATCH_DEATH, BSV_WATCH_SILENCE,    BSV_WATCH_ERROR,
		                                  BSV_WATCH_MISS,  BSV_WATCH_STARVATION, BSV_WATCH_INVERSION,
		                                  BSV_WATCH_RULE };
	enum { ORDERED = sizeof(order) / sizeof(*order) };
	const struct bsv_call call = { .command = &bsv_watch, .common.quiet = true };
	struct bsv_diagnosing d = { .c = c, .database = database, .slack = SLACK_NS };
	int r = bsv_input_open(&d.input, database, &call, err);

	*ret_met = false;
	if (r >= 0) {
		d.at = bsv_diagnose_when(c, &d.input, err);
		r = d.at < 0 ? (int)d.at : 0;
	}
	for (size_t i = 0; r >= 0 && i < ORDERED * c->n_fired; i++)
		r = diagnose_fired(&d, &c->fired[i % c->n_fired], order[i / c->n_fired], ret_met, err);
	for (size_t i = 0; r >= 0 && c->n_causes && i < c->n_fired; i++)
		r = add_unexplained(&d, &c->fired[i], err);
	if (r >= 0)
		r = find_held(&d, err);
	if (r >= 0) {
		free(c->summary);
		free(c->state);
		c->state = strdup(c->n_causes ? "explained" : "unexplained");
		if (c->n_causes && c->causes[0].what)
			c->summary = strdup(c->causes[0].what);
		else
			c->summary = unexplained_sentence(&c->fired[0]);
		if (!c->n_causes && !*ret_met)
			c->why = strdup("it was none that the conditions mean");
	}
	bsv_input_close(&d.input);
	return r < 0 ? r : 0;
}
