/* cases.c -- burstscope cases: lists the cases that burstscope watch kept, counts them by cause, or opens one. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "answer/answer.h"
#include "base/browser.h"
#include "base/numbers.h"
#include "base/scoped.h"
#include "base/text.h"
#include "input/recording.h"
#include "render/render.h"
#include "watch/store.h"

#define USUAL_DIRECTORY "burstscope-cases"

enum by { BY_NONE, BY_CAUSE, BY_APP, BY_CULPRIT, BY_DAY, BY_HOUR };

struct options {
	int by;
	const char *open;
};

static const char *const groupings[] = { "none", "cause", "app", "culprit", "day", "hour", NULL };

static const struct bsv_option options[] = {
	{ .name = "by",
	  .kind = BSV_CHOICE,
	  .argument = "none|cause|app|culprit|day|hour",
	  .says = "print a row for each of these with its number of cases, not a row for each case",
	  .offset = offsetof(struct options, by),
	  .choices = groupings },
	{ .name = "open",
	  .kind = BSV_TEXT,
	  .argument = "CASE",
	  .says = "open the page of this case in a browser; last: the newest",
	  .offset = offsetof(struct options, open) },
	{ .name = NULL },
};

struct cases {
	struct bsv_case *of;
	size_t n, unreadable, half;
	char **names;
};

static void cases_fini(struct cases *c)
{
	for (size_t i = 0; i < c->n; i++)
		bsv_case_fini(&c->of[i]);
	free(c->of);
	bsv_store_list_free(c->names, c->n + c->unreadable);
}

static int read_cases(struct cases *c, const char *directory, struct bsa_err *err)
{
	char **half;
	char found[PATH_MAX];
	size_t n = 0, all = 0;
	int r;

	if (access(directory, F_OK) && errno == ENOENT)
		return bsa_fail(err, BSA_E_INPUT,
		                "there is no directory %s; burstscope watch makes it, and keeps its cases there",
		                directory);
	if (bsv_recording_case(directory, found) == BSV_A_CASE)
		return bsa_fail(err, BSA_E_USAGE,
		                "%s is one case; name the directory that it is in, or ask for burstscope summary %s",
		                directory, directory);
	r = bsv_store_list(directory, true, &half, &n, err);
	if (r < 0)
		return r;
	bsv_store_list_free(half, n);
	c->half = n;
	r = bsv_store_list(directory, false, &c->names, &all, err);
	c->of = r >= 0 ? calloc(all + 1, sizeof(*c->of)) : NULL;
	for (size_t i = 0; c->of && i < all; i++)
		if (bsv_case_read(&c->of[c->n], c->names[i], NULL) >= 0)
			c->n++;
		else
			c->unreadable++;
	return r < 0 ? r : c->of ? 0 : bsv_no_memory(err);
}

static const struct bsv_case_cause *primary_cause(const struct bsv_case *c)
{
	static const struct bsv_case_cause none = { .finding = NULL };

	return c->n_causes ? &c->causes[0] : &none;
}

/* ---- one row a case ---- */

static struct bsv_rows *rows_of_all(const struct cases *c)
{
	static const struct bsv_column columns[] = { { "name", "id", NULL },       { "n_again", "count", NULL },
		                                     { "summary", "text", NULL },  { "condition", "text", NULL },
		                                     { "finding", "label", NULL }, { "app", "text", NULL },
		                                     { "model", "text", NULL },    { "culprit", "text", NULL } };
	struct bsv_rows *rows = bsv_rows_new(columns, sizeof(columns) / sizeof(*columns));

	for (size_t i = c->n; rows && i-- > 0;) { /* newest first */
		const struct bsv_case_cause *cause = primary_cause(&c->of[i]);
		bsv_scoped_text *line = bsv_case_line(&c->of[i]);

		bsv_rows_text(rows, c->of[i].name);
		bsv_rows_int(rows, (int64_t)c->of[i].again);
		bsv_rows_text(rows, line);
		bsv_rows_text(rows, cause->condition   ? cause->condition
		                    : c->of[i].n_fired ? c->of[i].fired[0].on
		                                       : NULL);
		bsv_rows_text(rows, cause->finding ? cause->finding : c->of[i].state);
		bsv_rows_text(rows, cause->app);
		bsv_rows_text(rows, cause->model);
		bsv_rows_text(rows, cause->culprit);
	}
	return rows;
}

/* ---- one row a group ---- */

struct group {
	char *name;
	uint64_t cases, again;
	const struct bsv_case *first, *last;
};

/* The most frequent first, then by name. */
static int frequency_order(const void *a, const void *b)
{
	const struct group *x = a, *y = b;
	uint64_t n = x->cases + x->again, m = y->cases + y->again;

	if (n != m)
		return n < m ? 1 : -1;
	return strcmp(x->name ? x->name : "", y->name ? y->name : "");
}

static int name_order(const void *a, const void *b)
{
	return strcmp(((const struct group *)a)->name, ((const struct group *)b)->name);
}

static struct bsv_rows *rows_of_groups(const struct cases *c, enum by by)
{
	static struct bsv_column columns[] = { { NULL, "text", NULL },
		                               { "n_cases", "count", NULL },
		                               { "n_again", "count", NULL },
		                               { "first", "text", NULL },
		                               { "last", "text", NULL } };
	struct group *groups = calloc(c->n + 1, sizeof(*groups));
	struct bsv_rows *rows;
	size_t n = 0;

	columns[0].name = groupings[by];
	rows = groups ? bsv_rows_new(columns, 5) : NULL;
	for (size_t i = 0; groups && i < c->n; i++) {
		const struct bsv_case_cause *cause = primary_cause(&c->of[i]);
		const char *text = by == BY_CAUSE ? cause->finding : by == BY_APP ? cause->app : cause->culprit;
		struct group *g = groups;
		char time[BSV_CASE_TIME], *name; /* NULL: unknown, none, or no memory */

		bsv_case_time(time, c->of[i].caught);
		if (by == BY_DAY)
			name = strndup(time, strlen("2026-11-23"));
		else if (by == BY_HOUR)
			name = bsv_text("%.13s:00Z", time);
		else
			name = text ? strdup(text) : NULL;

		while (g < groups + n && (g->name && name ? strcmp(g->name, name) : g->name != name))
			g++;
		if (g == groups + n) {
			*g = (struct group){ .name = name, .first = &c->of[i] };
			name = NULL;
			n++;
		}
		free(name);
		g->cases++;
		g->again += c->of[i].again;
		g->last = &c->of[i];
	}
	if (n)
		qsort(groups, n, sizeof(*groups), by == BY_DAY || by == BY_HOUR ? name_order : frequency_order);
	for (size_t i = 0; i < n; i++) {
		bsv_rows_text(rows, groups[i].name);
		bsv_rows_int(rows, (int64_t)groups[i].cases);
		bsv_rows_int(rows, (int64_t)groups[i].again);
		bsv_rows_text(rows, groups[i].first->name);
		bsv_rows_text(rows, groups[i].last->name);
		free(groups[i].name);
	}
	free(groups);
	return rows;
}

/* ---- the command ---- */

static int page_open(const struct cases *c, const char *directory, const char *wanted, struct bsa_err *err)
{
	const char *name = !strcmp(wanted, "last") && c->n ? c->of[c->n - 1].name : wanted;
	bsv_scoped_text *directory_case = bsv_text("%s/%s", directory, name);
	bsv_scoped_text *page = bsv_text("%s/%s/report.html", directory, name);
	struct stat file, folder;
	size_t i = 0;
	int r;

	while (i < c->n && strcmp(c->of[i].name, name))
		i++;
	if (!c->n)
		return bsa_fail(err, BSA_E_INPUT, "--open: there is no case in %s yet", directory);
	if (i == c->n)
		return bsa_fail(err, BSA_E_USAGE, "--open: there is no case '%s' in %s", wanted, directory);
	if (!directory_case || !page)
		return bsv_no_memory(err);
	if (!lstat(page, &file) &&
	    (!S_ISREG(file.st_mode) || lstat(directory_case, &folder) || !S_ISDIR(folder.st_mode)))
		return bsa_fail(err, BSA_E_INPUT,
		                "%s: a browser is sent to no link, because another user may have made it; open its "
		                "report.html yourself",
		                name);
	if (access(page, R_OK))
		return bsa_fail(err, BSA_E_INPUT, "%s has no page; make one from its trace.db with burstscope report",
		                name);
	r = bsv_browser_open(page, err);
	return r < 0 ? r : BSV_DONE;
}

static int cases_run(const struct bsv_call *call, struct bsa_err *err)
{
	const struct options *o = call->options;
	const char *directory = call->n_operands ? call->operands[0] : USUAL_DIRECTORY;
	__attribute__((cleanup(cases_fini))) struct cases c = { .n = 0 };
	bsv_scoped_answer *a = NULL;
	char n[BSV_COUNT_MAX];
	int r = read_cases(&c, directory, err);

	if (r >= 0 && o->open)
		return page_open(&c, directory, o->open, err);
	if (r < 0)
		return r;
	a = bsv_answer_new(call, NULL);
	if (o->by)
		bsv_answer_rows(a, "groups", NULL, rows_of_groups(&c, (enum by)o->by));
	else
		bsv_answer_rows(a, "cases", NULL, rows_of_all(&c));
	if (c.half)
		bsv_answer_note(
			a, "%s %s unfinished: a watcher is at work, or was killed, and then the next one finishes %s",
			bsv_count(n, c.half), bsv_plural(c.half, "case is", "cases are"),
			bsv_plural(c.half, "it", "them"));
	if (c.unreadable)
		bsv_answer_note(a, "%s %s no readable case.json", bsv_count(n, c.unreadable),
		                bsv_plural(c.unreadable, "case has", "cases have"));
	if (c.n)
		bsv_answer_note(a, "next: burstscope summary %s/%s", directory, c.of[c.n - 1].name);
	return bsv_answer_print(a, false, err);
}

const struct bsv_command bsv_cases = {
	.name = "cases",
	.operands = "[DIR]",
	.says = "list, count and open the cases that burstscope watch kept",
	.examples = "  burstscope cases\n"
		    "  burstscope cases --by cause /var/lib/burstscope\n"
		    "  burstscope cases --by day --format csv /var/lib/burstscope\n"
		    "  burstscope cases --open last\n",
	.more = "DIR is where burstscope watch keeps them: " USUAL_DIRECTORY
		" by default. The name of a case is the time of its "
		"capture, in UTC; n_again counts how often the same cause occurred again within the cooldown. The "
		"newest case is first.\n",
	.options = options,
	.options_size = sizeof(struct options),
	.max = 1,
	.parts = (const char *const[]){ "cases", "groups", NULL },
	.asks = BSV_ASK_FORMAT | BSV_ASK_LIMIT | BSV_ASK_ANY,
	.run = cases_run,
};
