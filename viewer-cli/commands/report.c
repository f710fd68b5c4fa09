/* report.c -- burstscope report: a recording as one page that any browser opens, with what the commands answer in it. */
#include <errno.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "answer/scoped.h"
#include "answer/template.h"
#include "command.h"
#include "export/output.h"
#include "render/render.h"
#include "report/report.h"

#define USUAL_BYTES INT64_C(20000000)
#define LEAST_BYTES INT64_C(1000000)

enum { ROWS_MOST = 500 }; /* of each part of an answer */

extern char **environ;

struct options {
	const char *output, *title, *compare;
	struct bsv_quantity max_size;
	bool open;
};

static const struct bsv_option options[] = {
	{ .name = "output",
	  .letter = 'o',
	  .kind = BSV_TEXT,
	  .argument = "FILE.html",
	  .says = "the page, written when it is whole; otherwise the standard output",
	  .offset = offsetof(struct options, output) },
	{ .name = "title",
	  .kind = BSV_TEXT,
	  .argument = "TEXT",
	  .says = "what the page is called; otherwise the recording's name",
	  .offset = offsetof(struct options, title) },
	{ .name = "compare",
	  .kind = BSV_TEXT,
	  .argument = "INPUT2",
	  .says = "add how INPUT2 differs from INPUT, as burstscope diff answers",
	  .offset = offsetof(struct options, compare) },
	{ .name = "max-size",
	  .kind = BSV_SIZE,
	  .argument = "SIZE",
	  .says = "how large the page may become (20M); beyond it, the page has a stated share of the executions",
	  .offset = offsetof(struct options, max_size) },
	{ .name = "open", .says = "open the page in a browser", .offset = offsetof(struct options, open) },
	{ .name = NULL },
};

/* Whose answers are in the page, in its order. */
static const struct bsv_command *const answers[] = {
	&bsv_summary,  &bsv_misses,     &bsv_latency,     &bsv_overhead, &bsv_fairness,
	&bsv_priority, &bsv_starvation, &bsv_preemptions, &bsv_slots,    &bsv_memory,
};

enum { N_ANSWERS = sizeof(answers) / sizeof(*answers) };

struct reporting {
	const struct bsv_call *call;
	struct bsv_input *input;
	struct bsv_report_asked asked;
};

/* The JSON that @command prints for what the report is about. */
static int answer_of(const struct reporting *r, const struct bsv_command *command, FILE *to, struct bsa_err *err)
{
	const struct options *o = r->call->options;
	const _Alignas(max_align_t) char none[BSV_OPTIONS_MAX] = { 0 };
	const char *operands[] = { r->input->path, o->compare, NULL };
	struct bsv_call call = { .command = command,
		                 .common = r->call->common,
		                 .options = none,
		                 .operands = operands,
		                 .to = to,
		                 .most = ROWS_MOST };

	call.common.quiet = true;
	call.asked.format = BSV_JSON;
	if (command->asks & BSV_ASK_WHERE)
		call.asked.where = r->call->asked.where;
	if (command->asks & BSV_ASK_WHEN) {
		call.asked.from = r->call->asked.from;
		call.asked.to = r->call->asked.to;
	}
	call.n_operands = call.n_before = command == &bsv_diff ? 2 : 1;
	if (command != &bsv_diff)
		operands[1] = NULL;
	return command->run(&call, err);
}

static int answer(void *ctx, size_t i, const char **name, FILE *to, struct bsa_err *err)
{
	const struct reporting *r = ctx;
	const struct options *o = r->call->options;

	if (i > N_ANSWERS || (i == N_ANSWERS && !o->compare))
		return -1;
	*name = i < N_ANSWERS ? answers[i]->name : bsv_diff.name;
	return answer_of(r, i < N_ANSWERS ? answers[i] : &bsv_diff, to, err);
}

static int write_page(void *ctx, FILE *to, struct bsa_err *err)
{
	struct reporting *r = ctx;

	return bsv_report_write(r->input, &r->asked, to, err);
}

static int check(const struct bsv_call *call, struct bsa_err *err)
{
	const struct options *o = call->options;

	if (!o->output && o->open)
		return bsa_fail(err, BSA_E_USAGE, "--open opens a file: give -o FILE.html");
	if (!o->output && isatty(STDOUT_FILENO))
		return bsa_fail(err, BSA_E_USAGE, "a page is for a browser: give -o FILE.html");
	if (o->max_size.given && o->max_size.value < LEAST_BYTES)
		return bsa_fail(err, BSA_E_USAGE, "--max-size: a page takes at least 1M");
	return 0;
}

static int open_browser(const char *page, struct bsa_err *err)
{
	char *const argv[] = { "xdg-open", (char *)page, NULL };
	pid_t pid;
	int r = posix_spawnp(&pid, argv[0], NULL, NULL, argv, environ);

	return r ? bsa_fail(err, BSA_E_ENV, "%s is written; it cannot be opened: xdg-open: %s", page, strerror(r)) : 0;
}

static int run(const struct bsv_call *call, struct bsa_err *err)
{
	const struct options *o = call->options;
	bsv_scoped_input input = { 0 };
	struct reporting reporting = { .call = call,
		                       .input = &input,
		                       .asked = { .title = o->title,
		                                  .bytes = o->max_size.given ? o->max_size.value : USUAL_BYTES,
		                                  .answer = answer,
		                                  .ctx = &reporting } };
	int r = check(call, err);

	if (r >= 0)
		r = bsv_input_open(&input, call->operands[0], call, err);
	if (r >= 0 && o->output && bsv_output_is(o->output, input.path))
		r = bsa_fail(err, BSA_E_USAGE, "-o %s would replace what the page is about", o->output);
	if (r >= 0)
		r = o->output ? bsv_output_write(o->output, write_page, &reporting, err)
		              : write_page(&reporting, stdout, err);
	return r >= 0 && o->open ? open_browser(o->output, err) : r;
}

const struct bsv_command bsv_report_command = {
	.name = "report",
	.operands = "[INPUT]",
	.says = "one page that any browser opens: findings, timeline, latency, misses, fairness",
	.examples = "  burstscope report -o bursts.html bursts.db\n"
		    "  burstscope report -o slow.html --from 2s --to 3s --open bursts.db\n"
		    "  burstscope report -o change.html --compare after.db before.db\n",
	.more = "The page needs no network and no server: it can be sent as it is. Its tables are what the commands "
		"answer, of\n"
		"each part the first 500 rows.\n",
	.options = options,
	.options_size = sizeof(struct options),
	.max = 1,
	.asks = BSV_ASK_WHERE | BSV_ASK_WHEN | BSV_ASK_ANY,
	.run = run,
};
