/*
 * report.c -- burstscope report: makes one page of a recording that any browser opens, with the
 * answers of other commands.
 */
#include <unistd.h>

#include "base/browser.h"
#include "base/command.h"
#include "report/make.h"

#define LEAST_BYTES INT64_C(1000000)

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
	  .says = "write the page to this file, which appears when it is complete (default: the standard output)",
	  .offset = offsetof(struct options, output) },
	{ .name = "title",
	  .kind = BSV_TEXT,
	  .argument = "TEXT",
	  .says = "title of the page (default: the name of the recording)",
	  .offset = offsetof(struct options, title) },
	{ .name = "compare",
	  .kind = BSV_TEXT,
	  .argument = "INPUT2",
	  .says = "show INPUT2 beside INPUT, with the differences that burstscope diff finds",
	  .offset = offsetof(struct options, compare) },
	{ .name = "max-size",
	  .kind = BSV_SIZE,
	  .argument = "SIZE",
	  .says = "largest size of the page (default: 20M); a larger recording is shown with a stated share of its "
	          "executions",
	  .offset = offsetof(struct options, max_size) },
	{ .name = "open", .says = "open the page in a browser", .offset = offsetof(struct options, open) },
	{ .name = NULL },
};

static int report_run(const struct bsv_call *call, struct bsa_err *err)
{
	const struct options *o = call->options;
	const struct bsv_page_wanted wanted = {
		.output = o->output, .title = o->title, .compare = o->compare, .bytes = o->max_size.value
	};
	int r;

	if (!o->output && o->open)
		return bsa_fail(err, BSA_E_USAGE, "--open needs a file: add -o FILE.html");
	if (!o->output && isatty(STDOUT_FILENO))
		return bsa_fail(err, BSA_E_USAGE, "a page cannot be printed on a terminal: add -o FILE.html");
	if (o->max_size.given && o->max_size.value < LEAST_BYTES)
		return bsa_fail(err, BSA_E_USAGE, "--max-size: write at least 1M");
	r = bsv_page_make(call, call->operands[0], &wanted, err);
	return r >= 0 && o->open ? bsv_browser_open(o->output, err) : r;
}

const struct bsv_command bsv_report_command = {
	.name = "report",
	.operands = "[INPUT]",
	.says = "make one page for a browser: findings, timeline, latency, misses, fairness",
	.examples = "  burstscope report -o bursts.html bursts.db\n"
		    "  burstscope report -o slow.html --from 2s --to 3s --open bursts.db\n"
		    "  burstscope report -o change.html --compare after.db before.db\n",
	.more = "The page needs no network and no server, and can be sent as a file. Its tables are the answers of "
		"the commands, with the first 500 rows of each part.\n",
	.options = options,
	.options_size = sizeof(struct options),
	.max = 1,
	.asks = BSV_ASK_WHERE | BSV_ASK_WHEN | BSV_ASK_ANY,
	.run = report_run,
};
