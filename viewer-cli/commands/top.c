/* top.c -- burstscope top: shows what the service does now. */
#include <unistd.h>

#include "base/command.h"
#include "base/screen.h"
#include "live/top.h"
#include "live/url.h"
#include "record/options.h"

#define MS INT64_C(1000000)

static const int64_t usual_interval = 1000 * MS, least_interval = 50 * MS, usual_settle = 15 * MS,
		     most_settle = 60000 * MS;

struct options {
	int detail, format, color;
	struct bsv_quantity buffer, duration, interval, settle, ring;
	const char *service, *app, *url;
	unsigned pid;
	bool once;
};

static const char *const formats[] = { "table", "json", NULL };
static const char *const colors[] = { "auto", "always", "never", NULL };

static const struct bsv_option options[] = {
	BSV_OPTION_DETAIL(struct options, bsv_details_compact, "as burstscope record has it, but compact by default"),
	BSV_OPTION_BUFFER(struct options),
	BSV_OPTION_RING(struct options),
	BSV_OPTION_FOR(struct options),
	BSV_OPTION_URL(struct options),
	{ .name = "once",
	  .says = "print one table after one interval (2s), and end",
	  .offset = offsetof(struct options, once) },
	{ .name = "interval",
	  .kind = BSV_DURATION,
	  .argument = "TIME",
	  .says = "time between tables where the output is not a terminal, and between JSON objects (default: 1s)",
	  .offset = offsetof(struct options, interval) },
	{ .name = "settle",
	  .kind = BSV_DURATION,
	  .argument = "TIME",
	  .says = "wait this long for records of other cpus (default: 15ms); more where records arrive late",
	  .offset = offsetof(struct options, settle) },
	BSV_OPTIONS_SCOPE(struct options),
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

static int top_run(const struct bsv_call *call, struct bsa_err *err)
{
	const struct options *o = call->options;
	struct bsv_top_options wanted = {
		.session = call->n_operands ? call->operands[0] : NULL,
		.url = o->url,
		.detail = bsv_detail_compact(o->detail),
		.buffer = (uint64_t)o->buffer.value,
		.duration = time_or(&o->duration, -1),
		.interval = time_or(&o->interval, o->once ? 2 * usual_interval : usual_interval),
		.settle = time_or(&o->settle, usual_settle),
		.screen = bsv_screen_get(o->color),
		.once = o->once,
		.json = o->format > 0,
	};
	char scope[BSV_SCOPE_TEXT];
	int r = bsv_live_options_check(
		o->url, wanted.session || o->detail || o->buffer.given || o->ring.given || o->service || o->pid, err);

	if (r >= 0)
		r = bsv_scope_read(&wanted.scope, o->service, o->app, o->pid, err);
	if (r < 0)
		return r;
	if (!wanted.duration)
		return bsa_fail(err, BSA_E_USAGE, "--for: 0 is out of range");
	if (wanted.interval < least_interval)
		return bsa_fail(err, BSA_E_USAGE, "--interval: write at least 50ms");
	if (wanted.settle > most_settle)
		return bsa_fail(err, BSA_E_USAGE, "--settle: write at most 1min");
	r = bsv_option_ring(&wanted.ring, &o->ring, err);
	if (r >= 0 && bsv_scope_is_set(&wanted.scope) && !call->common.quiet)
		bsv_notice("%s",
		           wanted.session || o->url
		                   ? "scope: all that the session records is read, and rows of others are left out"
		                   : bsv_scope_describe(&wanted.scope, scope));
	if (r >= 0)
		r = bsv_top_run(&wanted, err);
	return r < 0 ? r : BSV_DONE;
}

const struct bsv_command bsv_top = {
	.name = "top",
	.operands = "[SESSION]",
	.says = "show the running service: rates, misses and their causes, shares, lanes",
	.examples = "  burstscope top\n"
		    "  burstscope top --once\n"
		    "  burstscope top --format json --for 10s\n"
		    "  burstscope top --detail full --app camera\n"
		    "  burstscope top --url net://192.0.2.2/host/phone/far\n",
	.more = "A row for each app and model, over the last five seconds: executions per second, the 50th and "
		"99th percentile of their latency, the app's part of its fair share, lanes held and executions "
		"waiting on average, missed deadlines, missed slots, and their course. Above the table: causes of "
		"missed deadlines, the delay of the figures, and losses. Keys: q ends, o changes the order, a "
		"shows one app after the other, c shows all causes, p pauses and continues, s saves the last 30 s "
		"as a recording.\n"
		"Without SESSION top records into a ring of files in memory, which it removes at its end. SESSION "
		"is a running session of LTTng. With --url top reads a session of another host, which lttng create "
		"--live made there. The last line is a summary. The status is 0, or 5 if top cannot start.\n",
	.options = options,
	.options_size = sizeof(struct options),
	.max = 1,
	.lasts = true,
	.run = top_run,
};
