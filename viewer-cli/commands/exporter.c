/* exporter.c -- burstscope exporter: metrics of what the service does now, for Prometheus. */
#include "command.h"
#include "live/top.h"
#include "metrics/generated.h"
#include "record/options.h"
#include "slo/rules.h"

#define USUAL_PLACE "127.0.0.1:9464"

static const int64_t settle =
	50000000; /* ns: later than top, for nobody waits, and records may come late where many are written */

struct options {
	int detail;
	struct bsv_quantity buffer, duration;
	const char *listen, *slo;
};

static const struct bsv_option options[] = {
	{ .name = "listen",
	  .kind = BSV_TEXT,
	  .argument = "ADDRESS:PORT",
	  .says = "serve the metrics there: " USUAL_PLACE,
	  .offset = offsetof(struct options, listen) },
	{ .name = "slo",
	  .kind = BSV_TEXT,
	  .argument = "FILE",
	  .says = "have buckets that end at the latencies of its rules, see burstscope-slo(5)",
	  .offset = offsetof(struct options, slo) },
	BSV_OPTION_DETAIL(struct options, bsv_details_compact, "as burstscope record has it, but compact by default"),
	BSV_OPTION_BUFFER(struct options),
	BSV_OPTION_FOR(struct options),
	{ .name = NULL },
};

static int read_buckets(const char *slo_file, struct bsv_buckets *ret, struct bsa_err *err)
{
	struct bsv_slo slo = { 0 };
	int r = slo_file ? bsv_slo_read(&slo, slo_file, err) : 0;

	if (r >= 0 && !bsv_metrics_buckets(ret, &slo))
		r = bsa_fail(err, BSA_E_INPUT, "%s: too many different latencies: there are at most %d buckets",
		             slo_file, BSV_BUCKETS_MAX);
	bsv_slo_fini(&slo);
	return r;
}

static int run(const struct bsv_call *call, struct bsa_err *err)
{
	const struct options *o = call->options;
	struct bsv_top_options wanted = {
		.session = call->n_operands ? call->operands[0] : NULL,
		.detail = bsv_detail_compact(o->detail),
		.buffer = (uint64_t)o->buffer.value,
		.duration = o->duration.given ? o->duration.value : -1,
		.settle = settle,
		.listen = o->listen ? o->listen : USUAL_PLACE,
	};
	int r = read_buckets(o->slo, &wanted.buckets, err);

	if (r >= 0)
		r = bsv_top_run(&wanted, err);
	return r < 0 ? r : BSV_DONE;
}

const struct bsv_command bsv_exporter = {
	.name = "exporter",
	.operands = "[SESSION]",
	.says = "serve metrics of what happens now to Prometheus",
	.examples = "  burstscope exporter\n"
		    "  burstscope exporter --listen 127.0.0.1:9000 --slo camera.slo\n"
		    "  curl http://127.0.0.1:9464/metrics\n",
	.more = "The metrics of burstscope export --to openmetrics (docs/metrics.md), counted while the service works, "
		"until it is\n"
		"stopped: counters begin with 0. A missed deadline counts for the cause that is found at once, by what "
		"was typical until\n"
		"then. /metrics has them in OpenMetrics or in the older text format, whichever the client asks for; "
		"/healthz is 200 while\n"
		"it records, and 503 while it cannot.\n"
		"Whoever reaches the port reads what apps and models are called: addresses other than this machine's "
		"own are warned of.\n"
		"Without SESSION it records into a ring of files in memory, which are gone in the end; SESSION is one "
		"of LTTng's that\n"
		"runs already, and the exporter ends when that does. The status is 0, or 5 where it cannot begin or "
		"listen.\n",
	.options = options,
	.options_size = sizeof(struct options),
	.max = 1,
	.run = run,
};
