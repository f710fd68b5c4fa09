/* make.c -- runs the commands whose answers a report has, and writes the report to a file. */
#include "report/make.h"

#include <malloc.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "audit/kept.h"
#include "base/numbers.h"
#include "base/scoped.h"
#include "base/template.h"
#include "base/text.h"
#include "export/output.h"
#include "input/input.h"
#include "render/render.h"
#include "report/report.h"

#define USUAL_BYTES INT64_C(20000000)

enum {
	ROWS_MOST = 500,       /* limit of the rows of each part of an answer */
	MEMORY_KEPT = 32 << 20 /* bytes of freed memory that the process keeps for the next query */
};

/* The commands whose answers are in the page, in its order. */
static const struct bsv_command *const answers[] = {
	&bsv_summary,  &bsv_misses,     &bsv_latency,     &bsv_overhead, &bsv_fairness,
	&bsv_priority, &bsv_starvation, &bsv_preemptions, &bsv_slots,    &bsv_memory,
};

enum { N_ANSWERS = sizeof(answers) / sizeof(*answers) };

/* Tables of the page that are asked for by burstscope sql. */
static const struct {
	const char *name, *query;
} queries[] = {
	{ "settings", bsv_sql_report_settings },
	{ "traces", bsv_sql_report_traces },
};

enum { N_QUERIES = sizeof(queries) / sizeof(*queries), N_ALWAYS = N_ANSWERS + N_QUERIES };

struct making {
	const struct bsv_call *call;
	const struct bsv_page_wanted *wanted;
	struct bsv_input input, other; /* other: what it is compared with */
	struct bsv_input whole;        /* the same recording, for commands that cannot be asked for a part */
	struct bsv_page_asked asked;
	int64_t executions; /* executions that are drawn */
};

static bool asks_part(const struct bsv_asked *asked)
{
	return asked->where || asked->from.given || asked->to.given;
}

/*
 * The question of @call again, by @command, about the database @about, with another operand or
 * NULL, and, where a command can be asked so, its part.
 */
static int ask_command(const struct making *m, const struct bsv_command *command, const char *about, const char *second,
                       const void *options, FILE *to, struct bsa_err *err)
{
	const char *operands[] = { about, second, NULL };
	struct bsv_call call = { .command = command,
		                 .common = m->call->common,
		                 .options = options,
		                 .operands = operands,
		                 .n_operands = second ? 2 : 1,
		                 .n_before = second ? 2 : 1,
		                 .to = to,
		                 .most = ROWS_MOST,
		                 .known_as = about == m->input.path ? m->call->known_as : NULL };

	call.common.quiet = true;
	call.asked.format = BSV_JSON;
	if (command->asks & BSV_ASK_WHERE)
		call.asked.where = m->call->asked.where;
	if (command->asks & BSV_ASK_WHEN) {
		call.asked.from = m->call->asked.from;
		call.asked.to = m->call->asked.to;
	}
	if (about == m->input.path)
		call.open = m->whole.db && !asks_part(&call.asked) ? &m->whole : &m->input;
	else if (about == m->other.path)
		call.open = &m->other;
	return command->run(&call, err);
}

static int write_answer(void *ctx, size_t i, const char **name, FILE *to, struct bsa_err *err)
{
	static const _Alignas(max_align_t) char none[BSV_OPTIONS_MAX];
	const struct making *m = ctx;
	const struct bsv_call *first = m->wanted->first;

	if (first && i == 0) {
		*name = first->command->name;
		return ask_command(m, first->command, m->input.path, NULL, first->options, to, err);
	}
	i -= first ? 1 : 0;
	if (i < N_ANSWERS) {
		*name = answers[i]->name;
		return ask_command(m, answers[i], m->input.path, NULL, none, to, err);
	}
	if (i < N_ALWAYS) {
		*name = queries[i - N_ANSWERS].name;
		return ask_command(m, &bsv_sql, m->input.path, queries[i - N_ANSWERS].query, none, to, err);
	}
	if (i > N_ALWAYS + 1 || !m->wanted->compare)
		return BSV_PAGE_NO_MORE;
	*name = i == N_ALWAYS ? bsv_diff.name : "other";
	return i == N_ALWAYS ? ask_command(m, &bsv_diff, m->input.path, m->other.path, none, to, err)
	                     : ask_command(m, &bsv_summary, m->other.path, NULL, none, to, err);
}

static int write_page(void *ctx, FILE *to, struct bsa_err *err)
{
	struct making *m = ctx;

	return bsv_page_write(&m->input, &m->asked, to, err);
}

/* A file that is there and is no page: a recording, a file of rules, or whatever else was named by mistake. */
static bool is_precious(const char *name)
{
	static const char page[] = "<!doctype html>";
	char begin[sizeof(page)] = "";
	struct stat st;
	FILE *f;
	bool precious;

	if (stat(name, &st) || !S_ISREG(st.st_mode) || !st.st_size)
		return false;
	f = fopen(name, "re");
	if (!f)
		return true;
	precious = !fgets(begin, sizeof(begin), f) || strcasecmp(begin, page) != 0;
	fclose(f);
	return precious;
}

/* In words, which part of the recording @call asks for. Owned by the caller; NULL: all of it, or no memory. */
static char *part_asked(const struct bsv_call *call)
{
	const struct bsv_asked *a = &call->asked;
	char at[BSV_DURATION_TEXT];
	bsv_scoped_text *from = a->from.given ? bsv_text("from %s", bsv_duration(at, a->from.value)) : strdup("");
	bsv_scoped_text *to = a->to.given ? bsv_text("up to %s", bsv_duration(at, a->to.value)) : strdup("");
	bsv_scoped_text *where = a->where ? bsv_text("where %s", a->where) : strdup("");

	if (!from || !to || !where || (!*from && !*to && !*where))
		return NULL;
	return bsv_text("%s%s%s%s%s", where, *where && (*from || *to) ? ", " : "", from, *from && *to ? " " : "", to);
}

int bsv_page_make(const struct bsv_call *call, const char *input, const struct bsv_page_wanted *wanted,
                  struct bsa_err *err)
{
	struct making m = { .call = call, .wanted = wanted };
	struct bsv_kept *kept = NULL, *others = NULL, *of_whole = NULL;
	bsv_scoped_text *part = part_asked(call);
	struct bsv_call many = *call;
	int r;

	/* A query frees the memory in which it sorts, and the next one would get it from the kernel again, by pages. */
	mallopt(M_MMAP_THRESHOLD, MEMORY_KEPT);
	mallopt(M_TRIM_THRESHOLD, MEMORY_KEPT);
	many.many = true;
	r = bsv_input_open(&m.input, input, &many, err);
	if (r >= 0 && wanted->compare) {
		struct bsv_call other = many;

		other.known_as = NULL;
		r = bsv_input_open(&m.other, wanted->compare, &other, err);
	}
	if (r >= 0 && asks_part(&call->asked)) {
		struct bsv_call whole = many;

		whole.open = &m.input;
		whole.asked.where = NULL;
		whole.asked.from = whole.asked.to = (struct bsv_quantity){ 0 };
		whole.common.quiet = true;
		r = bsv_input_open(&m.whole, m.input.path, &whole, err);
	}
	/* A page has many answers about each. */
	if (r >= 0)
		m.input.kept = kept = bsv_kept_new(&m.input);
	if (r >= 0 && m.whole.db)
		m.whole.kept = of_whole = bsv_kept_new(&m.whole);
	if (r >= 0 && wanted->compare)
		m.other.kept = others = bsv_kept_new(&m.other);
	if (r >= 0 && wanted->compare && bsv_output_is(m.input.path, m.other.path))
		r = bsa_fail(
			err, BSA_E_USAGE,
			"--compare %s: the page would be about that recording, too; name INPUT, which it is compared "
			"with",
			wanted->compare);
	m.asked = (struct bsv_page_asked){ .title = wanted->title,
		                           .part = part,
		                           .ret_executions = &m.executions,
		                           .bytes = wanted->bytes ? wanted->bytes : USUAL_BYTES,
		                           .other = wanted->compare ? &m.other : NULL,
		                           .answer = write_answer,
		                           .ctx = &m };
	if (r >= 0 && wanted->output && is_precious(wanted->output))
		r = bsa_fail(err, BSA_E_USAGE, "%s is there and is no page; write the name of a page, as in FILE.html",
		             wanted->output);
	if (r >= 0)
		r = wanted->output ? bsv_output_write(wanted->output, write_page, &m, err)
		                   : write_page(&m, stdout, err);
	if (r >= 0 && part && !m.executions && !call->common.quiet)
		fprintf(stderr, "the timeline and the charts of the page are empty: no execution fits \"%s\"\n", part);
	bsv_input_close(&m.other);
	bsv_input_close(&m.whole);
	bsv_input_close(&m.input);
	bsv_kept_free(others);
	bsv_kept_free(of_whole);
	bsv_kept_free(kept);
	return r;
}
