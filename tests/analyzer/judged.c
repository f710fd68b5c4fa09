/* judged.c -- see judged.h. */
#include "analyzer/judged.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/command.h"
#include "base/rows.h"
#include "fold/fold.h"
#include "input/apart.h"
#include "input/input.h"
#include "slo/measure.h"
#include "store/store.h"

#define NEVER BSA_NEVER

static void __attribute__((format(printf, 1, 2), noreturn)) give_up(const char *format, ...)
{
	va_list list;

	va_start(list, format);
	vfprintf(stderr, format, list);
	va_end(list);
	fputc('\n', stderr);
	abort();
}

/* The input is a database already: nothing is imported. */
int bsv_import_apart(const struct bsa_import_options *options, struct bsa_imported *ret, struct bsa_err *err)
{
	(void)options;
	(void)ret;
	return bsa_fail(err, BSA_E_INPUT, "a database was expected");
}

/* The database need not survive a power failure (ld --wrap). */
int __wrap_fsync(int fd);
int __wrap_fsync(int fd)
{
	(void)fd;
	return 0;
}

/* ---- facts, to two who want them ---- */

struct both {
	struct bsa_facts kept, stored;
};

#define K(kind)                                                              \
	static void pass_on_##kind(void *ctx, const struct bsa_##kind *fact) \
	{                                                                    \
		const struct both *b = ctx;                                  \
                                                                             \
		b->kept.kind(b->kept.ctx, fact);                             \
		if (b->stored.kind)                                          \
			b->stored.kind(b->stored.ctx, fact);                 \
	}
COLLECT_KINDS(K)
#undef K

static struct bsa_facts facts_for(struct both *b)
{
	struct bsa_facts f = { .ctx = b };

#define K(kind) f.kind = pass_on_##kind;
	COLLECT_KINDS(K)
#undef K
	f.fmq_op = NULL;
	f.lookup = NULL;
	f.operation = NULL;
	return f;
}

/* ---- a database ---- */

static struct bsa_trace_row trace_row(const struct cut *c)
{
	struct bsa_trace_row row = { .id = 1,
		                     .uuid = "world",
		                     .path = "/world",
		                     .host = "here",
		                     .session = "one",
		                     .clock = "monotonic",
		                     .began = c->began,
		                     .ended = c->ended,
		                     .events = c->n_events };

	for (size_t i = 0; i < c->n_holes; i++)
		row.lost_events += c->holes[i].events[0] + c->holes[i].events[1];
	return row;
}

static void fold_all(struct judged *ret, struct bsa_store *store, const struct cut *c, uint64_t horizon_ns)
{
	struct both both = { .kept = collect_facts(&ret->facts), .stored = bsa_store_facts(store) };
	struct bsa_fold_options options = { .horizon_ns = c->forms == SIM_FULL ? 0 : horizon_ns };
	struct bsa_facts facts = facts_for(&both);
	struct bsa_fold *f = bsa_fold_new(&facts, &options);
	struct bsa_left_out left_out;

	if (!f)
		give_up("no memory");
	for (size_t i = 0; i < c->n_events; i++)
		if (bsa_fold_event(f, c->events[i]))
			give_up("no memory");
	if (bsa_fold_finish(f))
		give_up("no memory");
	ret->latest_summary = bsa_fold_latest_summary(f);
	left_out = bsa_fold_left_out(f);
	bsa_store_left_out(store, &left_out);
	bsa_fold_free(f);
}

static void make_database(struct judged *ret, const struct cut *c, uint64_t horizon_ns, const char *path)
{
	struct bsa_store_options options = { .output = path };
	struct bsa_trace_row row = trace_row(c);
	struct bsa_store *store = NULL;
	struct bsa_err err = { "" };

	if (bsa_store_new(&store, &options, &err) || bsa_store_trace(store, &row, &err))
		give_up("%s", err.text);
	bsa_store_clock(store, 0);
	fold_all(ret, store, c, horizon_ns);
	if (bsa_store_finish(store, &err))
		give_up("%s", err.text);
	bsa_store_free(store);
}

/* ---- and what the viewer says of it ---- */

static int64_t count_at(const struct bsv_rows *rows, size_t column)
{
	return bsv_rows_get(rows, column, -1);
}

static void read_counts(struct judged *ret, struct bsa_db *db)
{
	struct bsv_rows *rows = NULL;
	struct bsa_err err = { "" };
	int r = bsv_rows_query(&rows, db,
	                       "SELECT exec, preemptions, bypassed, slot_lookups, slot_misses FROM execution", &err);

	ret->counts = calloc(ret->facts.execution.n + 1, sizeof(*ret->counts));
	if (!ret->counts)
		give_up("no memory");
	while (r >= 0 && (r = bsv_rows_step(rows, &err)) > 0 && ret->n_counts < ret->facts.execution.n)
		ret->counts[ret->n_counts++] = (struct judged_counts){ .exec = (uint64_t)bsv_rows_get(rows, 0, 0),
			                                               .preemptions = count_at(rows, 1),
			                                               .bypassed = count_at(rows, 2),
			                                               .lookups = count_at(rows, 3),
			                                               .misses = count_at(rows, 4) };
	if (r < 0)
		give_up("%s", err.text);
	bsv_rows_free(rows);
}

static void keep_rule(struct judged_rule *ret, const struct bsv_verdict *v)
{
	*ret = (struct judged_rule){ .outcome = v->outcome, .figure = v->figure, .bound = v->bound };
	snprintf(ret->why, sizeof(ret->why), "%s", v->why ? v->why : "");
}

static void judge(struct judged *ret, struct bsv_input *input)
{
	static const enum bsv_audit audits[] = { BSV_FAIRNESS, BSV_STARVATION, BSV_PRIORITY, BSV_FAIRNESS };
	static const struct bsv_bounds by_lag = { .by_lag = true };
	struct bsv_judgement judgement;
	struct bsa_err err = { "" };
	size_t n = 0;

	for (size_t i = 0; i < sizeof(audits) / sizeof(*audits); i++) {
		if (bsv_judge(&judgement, audits[i], input, i ? NULL : &by_lag, &err) < 0)
			give_up("%s", err.text);
		for (size_t k = 0; k < judgement.n; k++)
			keep_rule(&ret->rules[n++], &judgement.rules[k]);
	}
}

/* A recording without executions is refused as input: then there is no verdict. */
static void refuse(struct judged *ret, const char *why)
{
	for (size_t i = 0; i < JUDGED_RULES; i++) {
		ret->rules[i] = (struct judged_rule){ .outcome = BSV_CANNOT_TELL };
		snprintf(ret->rules[i].why, sizeof(ret->rules[i].why), "%.*s", (int)sizeof(ret->rules[i].why) - 1, why);
	}
}

void judged_make(struct judged *ret, const struct cut *c, uint64_t horizon_ns, const char *path,
                 const struct bsv_slo *slo)
{
	static const struct bsv_command command = { .name = "judged", .asks = BSV_ASK_WHEN };
	struct bsv_call call = { .command = &command, .common = { .quiet = true } };
	struct bsv_input input;
	struct bsa_err err = { "" };

	memset(ret, 0, sizeof(*ret));
	make_database(ret, c, horizon_ns, path);
	if (c->asked_from)
		call.asked.from = (struct bsv_quantity){ true, (int64_t)(c->asked_from - c->began) };
	if (c->asked_until != NEVER)
		call.asked.to = (struct bsv_quantity){ true, (int64_t)(c->asked_until - c->began) };
	if (bsv_input_open(&input, path, &call, &err) < 0)
		give_up("%s", err.text);
	if (bsv_input_needs_executions(&input, &err) < 0)
		refuse(ret, err.text);
	else
		judge(ret, &input);
	if (slo) {
		ret->slo = calloc(slo->n, sizeof(*ret->slo));
		if (!ret->slo || bsv_slo_measure(ret->slo, slo->rules, slo->n, &input, NULL, &err) < 0)
			give_up("%s", err.text);
	}
	read_counts(ret, input.db);
	bsv_input_close(&input);
	unlink(path);
}

void judged_free(struct judged *j)
{
	collect_fini(&j->facts);
	free(j->counts);
	free(j->slo);
	j->counts = NULL;
	j->slo = NULL;
}
