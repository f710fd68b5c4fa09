/* top.c -- burstscope top: what the service does now. */
#include <unistd.h>

#include "command.h"
#include "live/top.h"
#include "record/options.h"

#define MS INT64_C(1000000)

static const int64_t usual_interval = 1000 * MS, least_interval = 50 * MS, usual_settle = 15 * MS,
		     most_settle = 60000 * MS;

struct options {
	int detail, format, color;
	struct bsv_quantity buffer, duration, interval, settle, ring;
	const char *app;
	bool once;
};

static const char *const formats[] = { "table", "json", NULL };
static const char *const colors[] = { "auto", "always", "never", NULL };

static const struct bsv_option options[] = {
	BSV_OPTION_DETAIL(struct options, bsv_details_compact, "as burstscope record has it, but compact by default"),
	BSV_OPTION_BUFFER(struct options),
	BSV_OPTION_RING(struct options),
	BSV_OPTION_FOR(struct options),
	{ .name = "once",
	  .says = "one table, after one interval (2s), and end",
	  .offset = offsetof(struct options, once) },
	{ .name = "interval",
	  .kind = BSV_DURATION,
	  .argument = "TIME",
	  .says = "between tables where the output is no terminal, and between JSON objects: 1s",
	  .offset = offsetof(struct options, interval) },
	{ .name = "settle",
	  .kind = BSV_DURATION,
	  .argument = "TIME",
	  .says = "wait so long for what other cpus have to tell of the same time: 15ms; more, where records come late",
	  .offset = offsetof(struct options, settle) },
	{ .name = "app",
	  .kind = BSV_TEXT,
	  .argument = "NAME",
	  .says = "of this one alone",
	  .offset = offsetof(struct options, app) },
	{ .name = "format",
	  .kind = BSV_CHOICE,
	  .argument = "table|json",
	  .says = "a table, or a line of JSON for each interval",
	  .offset = offsetof(struct options, format),
	  .choices = formats },
	{ .name = "color",
	  .kind = BSV_CHOICE,
	  .argument = "auto|always|never",
	  .says = "colours; auto: on a terminal, unless NO_COLOR is set",
	  .offset = offsetof(struct options, color),
	  .choices = colors },
	{ .name = NULL },
};

static int64_t time_or(const struct bsv_quantity *given, int64_t otherwise)
{
	return given->given ? given->value : otherwise;
}

static int run(const struct bsv_call *call, struct bsa_err *err)
{
	const struct options *o = call->options;
	struct bsv_top_options wanted = {
		.session = call->n_operands ? call->operands[0] : NULL,
		.detail = bsv_detail_compact(o->detail),
		.buffer = (uint64_t)o->buffer.value,
		.duration = time_or(&o->duration, -1),
		.interval = time_or(&o->interval, o->once ? 2 * usual_interval : usual_interval),
		.settle = time_or(&o->settle, usual_settle),
		.app = o->app,
		.screen = bsv_screen_get(o->color),
		.once = o->once,
		.json = o->format > 0,
	};
	int r;

	if (wanted.interval < least_interval)
		return bsa_fail(err, BSA_E_USAGE, "--interval: 50ms is the least");
	if (wanted.settle > most_settle)
		return bsa_fail(err, BSA_E_USAGE, "--settle: a minute is the most");
	r = bsv_option_ring(&wanted.ring, &o->ring, err);
	if (r >= 0)
		r = bsv_top_run(&wanted, err);
	return r < 0 ? r : BSV_DONE;
}

const struct bsv_command bsv_top = {
	.name = "top",
	.operands = "[SESSION]",
	.says = "show what happens now: rates, misses and their causes, shares, lanes",
	.examples = "  burstscope top\n"
		    "  burstscope top --once\n"
		    "  burstscope top --format json --for 10s\n"
		    "  burstscope top --detail full --app camera\n",
	.more = "A row for each app and model, of the last five seconds: executions a second, how long half and 99 of "
		"100 of them\n"
		"took at the most, what the app had of the lanes of what it was entitled to, lanes that it held and "
		"executions "
		"that\n"
		"waited on average, deadlines missed, slots missed, and how that went. Above it: why deadlines are "
		"missed, how "
		"far\n"
		"behind the figures are, and what was lost. Keys: q ends, o orders, a shows one app after the other, p "
		"stops and "
		"goes\n"
		"on, s saves the last 30 s as a recording.\n"
		"Without SESSION it records into a ring of files in memory, which are gone in the end; SESSION is one "
		"of LTTng's "
		"that\n"
		"runs already. The last line sums up all of it. The status is 0, or 5 where it cannot begin.\n",
	.options = options,
	.options_size = sizeof(struct options),
	.max = 1,
	.run = run,
};
