/* explain.c -- burstscope explain: explains one execution: where its time went, and what delayed it. */
#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "answer/answer.h"
#include "audit/findings.h"
#include "base/letters.h"
#include "base/scoped.h"
#include "base/template.h"
#include "base/vector.h"
#include "input/which.h"
#include "render/explained.h"
#include "render/render.h"

/* The result that is drawn, with copies of all texts in it. */
struct kept {
	struct bsv_explained x;
	char **texts;
	size_t n;
};

struct asked {
	struct bsv_input input;
	struct bsv_answer *answer;
	struct kept kept;
	int64_t id;
};

static void asked_fini(struct asked *a)
{
	struct bsv_explained *x = &a->kept.x;

	bsv_answer_free(a->answer);
	bsv_input_close(&a->input);
	for (size_t i = 0; i < a->kept.n; i++)
		free(a->kept.texts[i]);
	free(a->kept.texts);
	free(x->phases);
	free(x->stretches);
	free(x->preemptions);
	free(x->waits);
	free(x->causes);
	free(x->without);
}

/* ---- rows ---- */

/* Find a column of the row by name: there are few columns. */
static struct bsv_cell named_cell(const struct bsv_rows *rows, const char *name)
{
	for (size_t i = 0; i < bsv_rows_columns(rows); i++)
		if (!strcmp(bsv_rows_column(rows, i)->name, name))
			return bsv_rows_cell(rows, i);
	return (struct bsv_cell){ .type = BSA_NULL };
}

static int64_t named_integer(const struct bsv_rows *rows, const char *name)
{
	struct bsv_cell c = named_cell(rows, name);

	return c.type == BSA_INT ? c.integer : BSV_UNKNOWN;
}

/* Keep @own until the end of the command. NULL: no memory, or @own was NULL. */
static const char *text_keep(struct kept *k, char *own)
{
	if (own && !bsv_array_grow(&k->texts, k->n, sizeof(*k->texts))) {
		free(own);
		return NULL;
	}
	return own ? (k->texts[k->n++] = own) : NULL;
}

/* A copy of a text; NULL: NULL, or no memory. */
static const char *named_text(struct kept *k, const struct bsv_rows *rows, const char *name)
{
	struct bsv_cell c = named_cell(rows, name);

	return c.text ? text_keep(k, strndup(c.text, c.bytes)) : NULL;
}

static struct bsv_who named_who(struct kept *k, const struct bsv_rows *rows, const char *prefix)
{
	char id_name[32], app[32], model[32], priority[32];
	int64_t id;

	snprintf(id_name, sizeof(id_name), "%s%s", prefix,
	         !strcmp(prefix, "by_") || !strcmp(prefix, "culprit_") ? "execution_id" : "id");
	snprintf(app, sizeof(app), "%sapp", prefix);
	snprintf(model, sizeof(model), "%smodel", prefix);
	snprintf(priority, sizeof(priority), "%spriority", prefix);
	id = named_integer(rows, id_name);
	return (struct bsv_who){ .id = id == BSV_UNKNOWN ? 0 : id,
		                 .app = named_text(k, rows, app),
		                 .model = named_text(k, rows, model),
		                 .priority = named_text(k, rows, priority) };
}

/* ---- parts: a function that reads a row of each ---- */

static bool execution_take(struct kept *k, const struct bsv_rows *r)
{
	struct bsv_explained *x = &k->x;

	x->who = named_who(k, r, "");
	x->exec = named_text(k, r, "exec");
	x->path = named_text(k, r, "path");
	x->status = named_text(k, r, "status");
	x->miss = named_text(k, r, "miss");
	x->quality = named_text(k, r, "quality");
	x->sides = named_text(k, r, "sides");
	x->began = named_integer(r, "began_at");
	x->ended = named_integer(r, "ended_at");
	x->submitted = named_integer(r, "submitted_at");
	x->deadline = named_integer(r, "deadline_at");
	x->lateness = named_integer(r, "lateness_ns");
	x->usual_budget = named_integer(r, "usual_budget_ns");
	x->submit_delay = named_integer(r, "submit_delay_ns");
	x->submit_gap = named_integer(r, "submit_gap_ns");
	x->lead = named_integer(r, "lead_ns");
	x->lead_met = named_integer(r, "lead_met");
	x->left = named_integer(r, "left_at");
	x->e2e = named_integer(r, "e2e_ns");
	x->run = named_integer(r, "run_ns");
	x->redo = named_integer(r, "redo_ns");
	x->cold = named_integer(r, "cold");
	x->losses = named_integer(r, "n_losses");
	x->typical_n = named_integer(r, "n_typical");
	x->typical_runs = named_integer(r, "n_typical_runs");
	x->typical_estimated = named_integer(r, "typical_estimated");
	return true;
}

static bool take_phase(struct kept *k, const struct bsv_rows *r)
{
	struct bsv_explained_phase *p = bsv_array_add(&k->x.phases, &k->x.n_phases, sizeof(*p));

	if (p)
		*p = (struct bsv_explained_phase){ .phase = named_text(k, r, "phase"),
			                           .began = named_integer(r, "began_at"),
			                           .dur = named_integer(r, "dur_ns"),
			                           .typical = named_integer(r, "typical_ns") };
	return p && p->phase;
}

static bool take_stretch(struct kept *k, const struct bsv_rows *r)
{
	struct bsv_explained_stretch *s = bsv_array_add(&k->x.stretches, &k->x.n_stretches, sizeof(*s));

	if (s)
		*s = (struct bsv_explained_stretch){ .lane = named_integer(r, "lane"),
			                             .began = named_integer(r, "began_at"),
			                             .ended = named_integer(r, "ended_at") };
	return s;
}

static bool take_preemption(struct kept *k, const struct bsv_rows *r)
{
	struct bsv_explained_preemption *p = bsv_array_add(&k->x.preemptions, &k->x.n_preemptions, sizeof(*p));

	if (p)
		*p = (struct bsv_explained_preemption){ .asked = named_integer(r, "asked_at"),
			                                .stopped = named_integer(r, "stopped_at"),
			                                .resumed = named_integer(r, "resumed_at"),
			                                .redo = named_integer(r, "redo_ns"),
			                                .by = named_who(k, r, "by_"),
			                                .mode = named_text(k, r, "mode") };
	return p;
}

static bool take_wait(struct kept *k, const struct bsv_rows *r)
{
	struct bsv_explained_wait *w = bsv_array_add(&k->x.waits, &k->x.n_waits, sizeof(*w));

	if (w)
		*w = (struct bsv_explained_wait){ .began = named_integer(r, "began_at"),
			                          .dur = named_integer(r, "dur_ns"),
			                          .lane = named_integer(r, "lane"),
			                          .kind = named_text(k, r, "kind"),
			                          .occupancy = named_text(k, r, "occupancy"),
			                          .cause = named_text(k, r, "cause"),
			                          .blocker = named_who(k, r, "blocker_") };
	return w;
}

static bool take_cause(struct kept *k, const struct bsv_rows *r)
{
	struct bsv_explained_cause *c = bsv_array_add(&k->x.causes, &k->x.n_causes, sizeof(*c));

	if (c)
		*c = (struct bsv_explained_cause){ .cause = named_text(k, r, "cause"),
			                           .culprit = named_who(k, r, "culprit_"),
			                           .late = named_integer(r, "late_ns"),
			                           .budget = named_integer(r, "budget_ns"),
			                           .saved = named_integer(r, "saved"),
			                           .primary = named_integer(r, "is_primary") == 1 };
	return c && c->cause;
}

static bool take_without(struct kept *k, const struct bsv_rows *r)
{
	struct bsv_explained_without *w = bsv_array_add(&k->x.without, &k->x.n_without, sizeof(*w));

	if (w)
		*w = (struct bsv_explained_without){ .cause = named_text(k, r, "cause"),
			                             .app = named_text(k, r, "app"),
			                             .model = named_text(k, r, "model"),
			                             .earlier = named_integer(r, "earlier_ns"),
			                             .met = named_integer(r, "met") };
	return w;
}

static const struct part {
	const char *name, *title, *sql;
	bool (*take)(struct kept *k, const struct bsv_rows *row);
} parts[] = {
	{ "execution", "execution", bsv_sql_explain_execution, execution_take },
	{ "phases", "phases", bsv_sql_explain_phases, take_phase },
	{ "waits", "waits, by holder of the lane", bsv_sql_explain_waits, take_wait },
	{ "ledger", "causes of the missed deadline", bsv_sql_explain_ledger, take_cause },
	{ "without", "replays without a cause", bsv_sql_explain_without, take_without },
	{ "lanes", "times on a lane", bsv_sql_explain_lanes, take_stretch },
	{ "preemptions", "preemptions", bsv_sql_explain_preemptions, take_preemption },
};

enum { N_PARTS = sizeof(parts) / sizeof(*parts) };

/* ---- for people ---- */

/* Quote @path for a shell. */
static char *shell_quoted(const char *path)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._/+:=@%-";
	bsv_scoped_text *shown = NULL;
	char *ret, *at;

	if (*path != '-' && *path && !path[strspn(path, plain)])
		return strdup(path);
	shown = bsv_printable(path, strlen(path), 0);
	ret = at = shown ? malloc(4 * strlen(shown) + 3) : NULL;
	if (!ret)
		return NULL;
	*at++ = '\'';
	for (const char *s = shown; *s; s++)
		at = *s == '\'' ? stpcpy(at, "'\\''") : (*at = *s, at + 1);
	strcpy(at, "'");
	return ret;
}

static int draw_explained(FILE *to, const struct bsv_screen *screen, void *ctx, struct bsa_err *err)
{
	return bsv_explained_draw(&((struct asked *)ctx)->kept.x, to, screen, err);
}

/*
 * Did another app hold the lane? Then its finding in summary has more misses than this one, and may
 * show that it is beyond its share.
 */
static bool is_held_by_another(const struct bsv_explained *x, const struct bsv_explained_cause *cause)
{
	static const char *const causes[] = { "crowded_out", "hogged", "preempted", "redo" };

	for (size_t i = 0; i < sizeof(causes) / sizeof(*causes); i++)
		if (!strcmp(cause->cause, causes[i]))
			return x->who.app && cause->culprit.app && strcmp(x->who.app, cause->culprit.app) != 0;
	return false;
}

static int read_all(struct asked *a, const struct bsv_call *call, struct bsa_err *err)
{
	struct bsv_settings settings = { .known = false };
	struct kept *k = &a->kept;
	struct bsv_explained *x = &k->x;
	char id[24];
	bsv_scoped_text *sql = NULL;
	bsv_scoped_rows *held = NULL;
	int r = 0;

	snprintf(id, sizeof(id), "%" PRId64, a->id);
	sql = bsv_fill(bsv_sql_explain_held, (const struct bsv_placeholder[]){
						     { "relations", a->input.with }, { "id", id }, { NULL, NULL } });
	if (!sql)
		return bsv_no_memory(err);
	for (size_t i = 0; i < N_PARTS; i++) {
		bsv_scoped_text *part = bsv_which_fill(&a->input, parts[i].sql, a->id);
		bsv_scoped_rows *rows = NULL;

		r = part ? bsv_rows_query(&rows, a->input.db, part, err) : bsv_no_memory(err);
		while (r >= 0 && (r = bsv_rows_step(rows, err)) > 0)
			if (!parts[i].take(k, rows))
				return bsv_no_memory(err);
		if (r < 0)
			return r;
	}
	if (x->n_causes && call->asked.format == BSV_TABLE) /* the drawing alone has it */
		r = bsv_settings_read(&settings, &a->input, err);
	if (x->n_causes && call->asked.format == BSV_TABLE && r >= 0)
		r = bsv_rows_query(&held, a->input.db, sql, err);
	if (held && r >= 0 && (r = bsv_rows_step(held, err)) > 0) {
		x->held = named_integer(held, "waited_ns");
		x->off = named_integer(held, "off_ns");
		x->asleep = named_integer(held, "asleep_ns");
	}
	for (size_t i = 0; i < x->n_causes && call->asked.format == BSV_TABLE && r >= 0; i++) {
		const struct bsv_explained_cause *cause = &x->causes[i];
		const char *found = NULL, *own;

		if (!cause->primary)
			continue;
		/* If the run waited for a cpu, the advice is about the machine; if it slept, no advice is known. */
		own = bsv_explained_unrun(x) && bsv_explained_slept(x)
		              ? NULL
		              : bsv_advice(&(struct bsv_advised){ bsv_explained_unrun(x) ? "machine" : cause->cause,
		                                                  x->path, x->who.priority, cause->culprit.priority,
		                                                  true, 0 },
		                           &settings);

		/*
		 * The advice of summary against the culprit is the advice here, too; otherwise the
		 * advice is about the cause alone.
		 */
		if (settings.known && !settings.fair && !bsv_explained_unrun(x) && is_held_by_another(x, cause))
			r = bsv_findings_holder_advice(&found, &a->input, cause->culprit.app, err);
		x->replayable = settings.replayable;
		x->advised_by_finding = found && (!own || strcmp(found, own) != 0);
		x->advice = found ? found : own;
	}
	if (r < 0)
		return r;
	k->x.input = text_keep(k, shell_quoted(a->input.path));
	if (!k->x.input)
		return bsv_no_memory(err);
	k->x.verbose = call->common.verbose;
	bsv_answer_draw(a->answer, draw_explained, a);
	return 0;
}

/* ---- the command ---- */

static int explain_run(const struct bsv_call *call, struct bsa_err *err)
{
	__attribute__((cleanup(asked_fini))) struct asked a = { .id = 0 };
	bool drawn = call->asked.format == BSV_TABLE && !call->asked.part && !call->asked.show_sql;
	/* EXEC and INPUT, in either order */
	const char *const *o = call->operands;
	bool swapped = call->n_operands == 2 && !bsv_is_which(o[0]) && bsv_is_which(o[1]);
	const char *exec = o[swapped], *input = call->n_operands == 2 ? o[!swapped] : NULL;
	int r;

	if (!bsv_is_which(exec))
		return bsv_which_unknown(exec, err);
	r = bsv_input_open(&a.input, input, call, err);
	if (r >= 0)
		r = bsv_which(&a.id, &a.input, exec, err);
	if (r < 0)
		return r;
	a.answer = bsv_answer_new(call, &a.input);
	for (size_t i = 0; i < N_PARTS && !drawn; i++)
		bsv_answer_sql(a.answer, parts[i].name, parts[i].title, bsv_which_fill(&a.input, parts[i].sql, a.id));
	if (drawn) {
		r = read_all(&a, call, err);
		if (r < 0)
			return r;
	}
	return bsv_answer_print(a.answer, false, err);
}

const struct bsv_command bsv_explain = {
	.name = "explain",
	.operands = "EXEC [INPUT]",
	.says = "explain one execution: where its time went, and what delayed it",
	.examples = "  burstscope explain worst                    # of the newest recording\n"
		    "  burstscope explain 4711 bursts.db           # by execution.id\n"
		    "  burstscope explain slowest --where \"app = 'camera'\"\n"
		    "  burstscope explain 0x2fc00004/17 bursts.db  # by stream and place\n"
		    "  burstscope explain worst -v                 # with both ledgers\n",
	.more = "EXEC is an execution.id; STREAM/SEQ, as in the trace; worst, the most late miss; or slowest, the "
		"longest from end to end. worst and slowest choose among the executions that --where, --from and "
		"--to pick. Where there is no such execution, or worst and no deadline was missed, the exit status is "
		"2.\n"
		"\n"
		"The late ledger shows how much each cause contributed to the lateness; its rows add up to the "
		"lateness. Typical times are medians over warm executions of the same model and path that found a "
		"free lane. -v also shows where the time up to the deadline went: the budget ledger, whose rows "
		"add up to the budget.\n",
	.min = 1,
	.max = 2,
	.parts = (const char *const[]){ "execution", "phases", "waits", "ledger", "without", "lanes", "preemptions",
	                                NULL },
	.asks = BSV_ASK_FORMAT | BSV_ASK_WHERE | BSV_ASK_WHEN,
	.run = explain_run,
};
