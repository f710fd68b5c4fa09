/* explain.c -- burstscope explain: one execution: where its time went, and what would have saved it. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "answer/answer.h"
#include "answer/scoped.h"
#include "answer/template.h"
#include "audit/advice.h"
#include "input/which.h"
#include "render/explained.h"
#include "render/render.h"

/* The rows of a query, kept while their texts are borrowed. */
struct kept {
	struct bsv_explained x;
	char **texts;
	size_t n, room;
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

/* A row's columns are read by name: they are few. */
static struct bsv_cell cell(const struct bsv_rows *rows, const char *name)
{
	for (size_t i = 0; i < bsv_rows_columns(rows); i++)
		if (!strcmp(bsv_rows_column(rows, i)->name, name))
			return bsv_rows_cell(rows, i);
	return (struct bsv_cell){ .type = BSA_NULL };
}

static int64_t integer(const struct bsv_rows *rows, const char *name)
{
	struct bsv_cell c = cell(rows, name);

	return c.type == BSA_INT ? c.integer : BSV_UNKNOWN;
}

/* 0 for none. */
static int64_t id(const struct bsv_rows *rows, const char *name)
{
	int64_t v = integer(rows, name);

	return v == BSV_UNKNOWN ? 0 : v;
}

/* @own is taken. NULL: no memory, or it was NULL. */
static const char *keep(struct kept *k, char *own)
{
	if (own && k->n == k->room) {
		size_t room = k->room ? 2 * k->room : 64;
		char **larger = reallocarray(k->texts, room, sizeof(*larger));

		if (!larger) {
			free(own);
			return NULL;
		}
		k->texts = larger;
		k->room = room;
	}
	return own ? (k->texts[k->n++] = own) : NULL;
}

/* NULL: none, or no memory. */
static const char *text(struct kept *k, const struct bsv_rows *rows, const char *name)
{
	struct bsv_cell c = cell(rows, name);

	return c.text ? keep(k, strndup(c.text, c.bytes)) : NULL;
}

static struct bsv_who who(struct kept *k, const struct bsv_rows *rows, const char *prefix)
{
	char id_name[32], app[32], model[32], priority[32];

	snprintf(id_name, sizeof(id_name), "%s%s", prefix,
	         !strcmp(prefix, "by_") || !strcmp(prefix, "culprit_") ? "execution_id" : "id");
	snprintf(app, sizeof(app), "%sapp", prefix);
	snprintf(model, sizeof(model), "%smodel", prefix);
	snprintf(priority, sizeof(priority), "%spriority", prefix);
	return (struct bsv_who){ .id = id(rows, id_name),
		                 .app = text(k, rows, app),
		                 .model = text(k, rows, model),
		                 .priority = text(k, rows, priority) };
}

/* One more of @size bytes in *@array, zeroed. NULL: no memory. */
static void *one_more(void *array, size_t *n, size_t size)
{
	void **at = array, *larger;

	if (!(*n & (*n - 1))) { /* 0, or a power of two: full */
		larger = reallocarray(*at, *n ? 2 * *n : 1, size);
		if (!larger)
			return NULL;
		*at = larger;
	}
	return memset((char *)*at + (*n)++ * size, 0, size);
}

/* ---- what becomes of a row of each part ---- */

static bool take_execution(struct kept *k, const struct bsv_rows *r)
{
	struct bsv_explained *x = &k->x;

	x->who = who(k, r, "");
	x->exec = text(k, r, "exec");
	x->path = text(k, r, "path");
	x->status = text(k, r, "status");
	x->miss = text(k, r, "miss");
	x->quality = text(k, r, "quality");
	x->sides = text(k, r, "sides");
	x->began = integer(r, "began_at");
	x->ended = integer(r, "ended_at");
	x->submitted = integer(r, "submitted_at");
	x->deadline = integer(r, "deadline_at");
	x->lateness = integer(r, "lateness_ns");
	x->usual_budget = integer(r, "usual_budget_ns");
	x->e2e = integer(r, "e2e_ns");
	x->run = integer(r, "run_ns");
	x->redo = integer(r, "redo_ns");
	x->cold = integer(r, "cold");
	x->losses = integer(r, "n_losses");
	x->typical_n = integer(r, "n_typical");
	x->typical_estimated = integer(r, "typical_estimated");
	return true;
}

static bool take_phase(struct kept *k, const struct bsv_rows *r)
{
	struct bsv_explained_phase *p = one_more(&k->x.phases, &k->x.n_phases, sizeof(*p));

	if (p)
		*p = (struct bsv_explained_phase){ .phase = text(k, r, "phase"),
			                           .began = integer(r, "began_at"),
			                           .dur = integer(r, "dur_ns"),
			                           .typical = integer(r, "typical_ns") };
	return p && p->phase;
}

static bool take_stretch(struct kept *k, const struct bsv_rows *r)
{
	struct bsv_explained_stretch *s = one_more(&k->x.stretches, &k->x.n_stretches, sizeof(*s));

	if (s)
		*s = (struct bsv_explained_stretch){ .lane = integer(r, "lane"),
			                             .began = integer(r, "began_at"),
			                             .ended = integer(r, "ended_at") };
	return s;
}

static bool take_preemption(struct kept *k, const struct bsv_rows *r)
{
	struct bsv_explained_preemption *p = one_more(&k->x.preemptions, &k->x.n_preemptions, sizeof(*p));

	if (p)
		*p = (struct bsv_explained_preemption){ .asked = integer(r, "asked_at"),
			                                .stopped = integer(r, "stopped_at"),
			                                .resumed = integer(r, "resumed_at"),
			                                .redo = integer(r, "redo_ns"),
			                                .by = who(k, r, "by_"),
			                                .mode = text(k, r, "mode") };
	return p;
}

static bool take_wait(struct kept *k, const struct bsv_rows *r)
{
	struct bsv_explained_wait *w = one_more(&k->x.waits, &k->x.n_waits, sizeof(*w));

	if (w)
		*w = (struct bsv_explained_wait){ .began = integer(r, "began_at"),
			                          .dur = integer(r, "dur_ns"),
			                          .lane = integer(r, "lane"),
			                          .kind = text(k, r, "kind"),
			                          .occupancy = text(k, r, "occupancy"),
			                          .cause = text(k, r, "cause"),
			                          .blocker = who(k, r, "blocker_") };
	return w;
}

static bool take_cause(struct kept *k, const struct bsv_rows *r)
{
	struct bsv_explained_cause *c = one_more(&k->x.causes, &k->x.n_causes, sizeof(*c));

	if (c)
		*c = (struct bsv_explained_cause){ .cause = text(k, r, "cause"),
			                           .culprit = who(k, r, "culprit_"),
			                           .late = integer(r, "late_ns"),
			                           .budget = integer(r, "budget_ns"),
			                           .saved = integer(r, "saved"),
			                           .primary = integer(r, "is_primary") == 1 };
	return c && c->cause;
}

static bool take_without(struct kept *k, const struct bsv_rows *r)
{
	struct bsv_explained_without *w = one_more(&k->x.without, &k->x.n_without, sizeof(*w));

	if (w)
		*w = (struct bsv_explained_without){ .cause = text(k, r, "cause"),
			                             .app = text(k, r, "app"),
			                             .model = text(k, r, "model"),
			                             .earlier = integer(r, "earlier_ns"),
			                             .met = integer(r, "met") };
	return w;
}

static const struct part {
	const char *name, *title, *sql;
	bool (*take)(struct kept *k, const struct bsv_rows *row);
} parts[] = {
	{ "execution", "the execution", bsv_sql_explain_execution, take_execution },
	{ "phases", "its phases", bsv_sql_explain_phases, take_phase },
	{ "waits", "its waits, and who had the lane", bsv_sql_explain_waits, take_wait },
	{ "ledger", "why it missed its deadline", bsv_sql_explain_ledger, take_cause },
	{ "without", "what a replay says without it", bsv_sql_explain_without, take_without },
	{ "lanes", "when it was on a lane", bsv_sql_explain_lanes, take_stretch },
	{ "preemptions", "when it was taken off its lane", bsv_sql_explain_preemptions, take_preemption },
};

enum { N_PARTS = sizeof(parts) / sizeof(*parts) };

static char *sql_of(const struct asked *a, const struct part *part)
{
	char began[32], id_text[32];
	struct bsv_hole holes[] = { { "with", a->input.with }, { "began", began }, { "id", id_text }, { NULL, NULL } };

	snprintf(began, sizeof(began), "%" PRId64, a->input.began);
	snprintf(id_text, sizeof(id_text), "%" PRId64, a->id);
	return bsv_fill(part->sql, holes);
}

static int read_part(struct asked *a, const struct part *part, struct bsa_err *err)
{
	bsv_scoped_text *sql = sql_of(a, part);
	bsv_scoped_rows *rows = NULL;
	int r = sql ? bsv_rows_query(&rows, a->input.db, sql, err) : bsv_no_memory(err);

	while (r >= 0 && (r = bsv_rows_step(rows, err)) > 0)
		if (!part->take(&a->kept, rows))
			return bsv_no_memory(err);
	return r;
}

/* ---- for people ---- */

/* As a shell reads it. */
static char *quoted(const char *path)
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

static int draw(FILE *to, const struct bsv_screen *screen, void *ctx, struct bsa_err *err)
{
	return bsv_explained_draw(&((struct asked *)ctx)->kept.x, to, screen, err);
}

static int read_advice(struct asked *a, struct bsa_err *err)
{
	struct bsv_settings settings = { .known = false };
	struct bsv_explained *x = &a->kept.x;
	int r = bsv_settings_read(&settings, &a->input, err);

	for (size_t i = 0; i < x->n_causes && r >= 0; i++)
		if (x->causes[i].primary)
			x->advice = bsv_advice(&(struct bsv_advised){ x->causes[i].cause, x->path, x->who.priority,
			                                              x->causes[i].culprit.priority },
			                       &settings);
	return r;
}

static int read_all(struct asked *a, const struct bsv_call *call, struct bsa_err *err)
{
	struct kept *k = &a->kept;

	for (size_t i = 0; i < N_PARTS; i++) {
		int r = read_part(a, &parts[i], err);

		if (r < 0)
			return r;
	}
	if (k->x.n_causes) {
		int r = read_advice(a, err);

		if (r < 0)
			return r;
	}
	k->x.input = keep(k, quoted(a->input.path));
	if (!k->x.input)
		return bsv_no_memory(err);
	k->x.verbose = call->common.verbose;
	bsv_answer_draw(a->answer, draw, a);
	return 0;
}

/* ---- the command ---- */

/* EXEC and INPUT, in either order. */
static int operands(const struct bsv_call *call, const char **exec, const char **input, struct bsa_err *err)
{
	const char *const *o = call->operands;
	bool swapped = call->n_operands == 2 && !bsv_is_which(o[0]) && bsv_is_which(o[1]);

	*exec = o[swapped];
	*input = call->n_operands == 2 ? o[!swapped] : NULL;
	if (bsv_is_which(*exec))
		return 0;
	return bsa_fail(err, BSA_E_USAGE, "which execution? '%s' is none: say its id, STREAM/SEQ, worst or slowest",
	                *exec);
}

static int run(const struct bsv_call *call, struct bsa_err *err)
{
	__attribute__((cleanup(asked_fini))) struct asked a = { .id = 0 };
	bool drawn = call->asked.format == BSV_TABLE && !call->asked.part && !call->asked.show_sql;
	const char *exec, *input;
	int r = operands(call, &exec, &input, err);

	if (r >= 0)
		r = bsv_input_open(&a.input, input, call, err);
	if (r >= 0)
		r = bsv_which(&a.id, &a.input, exec, err);
	if (r < 0)
		return r;
	a.answer = bsv_answer_new(call, &a.input);
	for (size_t i = 0; i < N_PARTS && !drawn; i++)
		bsv_answer_sql(a.answer, parts[i].name, parts[i].title, sql_of(&a, &parts[i]));
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
	.says = "one execution: where its time went, and what would have saved it",
	.examples = "  burstscope explain worst                           # the miss that was latest, of the newest "
		    "recording\n"
		    "  burstscope explain 4711 bursts.db                  # by execution.id\n"
		    "  burstscope explain slowest --where \"app = 'camera'\"\n"
		    "  burstscope explain 0x2fc00004/17 bursts.db -v      # by its stream and its place in it; both "
		    "ledgers\n",
	.more = "EXEC is an execution.id; STREAM/SEQ, as the trace has it; worst, the miss that was latest; or "
		"slowest, the\n"
		"longest from end to end. --where, --from and --to say which ones worst and slowest choose from.\n"
		"\n"
		"The late ledger says of each cause by how much it made the deadline be missed: it sums to the "
		"lateness.\n"
		"What is typical is the median of others of the same model and path that found a free lane, warm. -v\n"
		"shows where the time up to the deadline went, too: the budget ledger, which sums to the budget.\n",
	.min = 1,
	.max = 2,
	.asks = BSV_ASK_FORMAT | BSV_ASK_WHERE | BSV_ASK_WHEN,
	.run = run,
};
