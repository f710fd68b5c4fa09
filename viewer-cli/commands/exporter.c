/* exporter.c -- burstscope exporter: serves metrics of the running service to Prometheus. */
#include "base/command.h"
#include "live/top.h"
#include "live/url.h"
#include "metrics/generated.h"
#include "record/options.h"
#include "slo/rules.h"

#define USUAL_PLACE "127.0.0.1:9464"

/*
 * ns: much longer than top's, because no user waits, and on a busy machine the consumer daemon may
 * write a cpu's packet late.
 */
static const int64_t settle = 250000000;

struct options {
	int detail;
	struct bsv_quantity buffer, duration;
	const char *listen, *slo, *url;
};

static const struct bsv_option options[] = {
	{ .name = "listen",
	  .kind = BSV_TEXT,
	  .argument = "ADDRESS:PORT",
	  .says = "serve the metrics at this address (default: " USUAL_PLACE ")",
	  .offset = offsetof(struct options, listen),
	  .meant_by = "port" },
	{ .name = "slo",
	  .kind = BSV_TEXT,
	  .argument = "FILE",
	  .says = "use buckets that end at the latencies of these rules: burstscope-slo(5)",
	  .offset = offsetof(struct options, slo) },
	BSV_OPTION_DETAIL(struct options, bsv_details_compact, "as burstscope record has it, but compact by default"),
	BSV_OPTION_BUFFER(struct options),
	BSV_OPTION_FOR(struct options),
	BSV_OPTION_URL(struct options),
	{ .name = NULL },
};

static int exporter_run(const struct bsv_call *call, struct bsa_err *err)
{
	const struct options *o = call->options;
	struct bsv_top_options wanted = {
		.session = call->n_operands ? call->operands[0] : NULL,
		.url = o->url,
		.detail = bsv_detail_compact(o->detail),
		.buffer = (uint64_t)o->buffer.value,
		.duration = o->duration.given ? o->duration.value : -1,
		.settle = settle,
		.listen = o->listen ? o->listen : USUAL_PLACE,
	};
	struct bsv_slo slo = { 0 };
	bool lags = false;
	int r = bsv_live_options_check(o->url, wanted.session || o->detail || o->buffer.given, err);

	if (r >= 0 && o->slo)
		r = bsv_slo_read(&slo, o->slo, err);
	if (r >= 0 && !bsv_metrics_buckets(&wanted.buckets, &slo))
		r = bsa_fail(err, BSA_E_INPUT, "%s: too many different latencies; at most %d buckets are possible",
		             o->slo, BSV_BUCKETS_MAX);

	/* In detail compact the lag of an app is certain at the end of a recording only. */
	for (size_t i = 0; i < slo.n; i++)
		lags = lags || (slo.rules[i].kind == BSV_SLO_FAIRNESS && slo.rules[i].bounded);
	bsv_slo_fini(&slo);
	if (r >= 0 && lags && wanted.detail != BSV_DETAIL_FULL && !wanted.session && !o->url && !call->common.quiet)
		fputs("--slo has a rule about lag, and no metric of lag is served in detail compact: add --detail "
		      "full\n",
		      stderr);
	if (r >= 0)
		r = bsv_top_run(&wanted, err);
	return r < 0 ? r : BSV_DONE;
}

const struct bsv_command bsv_exporter = {
	.name = "exporter",
	.operands = "[SESSION]",
	.says = "serve metrics of the running service to Prometheus",
	.examples = "  burstscope exporter\n"
		    "  burstscope exporter --listen 127.0.0.1:9000 --slo camera.slo\n"
		    "  curl http://127.0.0.1:9464/metrics\n",
	.more = "The metrics are those of burstscope export --to openmetrics (docs/metrics.md), counted from 0 "
		"while the exporter runs. A missed deadline counts for the cause found at once, by the times that "
		"were typical until then. /metrics has OpenMetrics or the older text format, as the client asks; "
		"/healthz is 200 while the exporter records, and 503 while it cannot.\n"
		"All clients that reach the port can read the names of apps and models: the exporter warns of an "
		"address that other machines can reach.\n"
		"Without SESSION the exporter records into a ring of files in memory, which it removes at its "
		"end.\n"
		"SESSION is a running session of LTTng; with --url it is one of another host. The exporter ends "
		"when the session does. The status is 0; 2 after a wrong option; 4 if the file of --slo cannot be read "
		"or is wrong; 5 if the exporter cannot start or listen.\n",
	.options = options,
	.options_size = sizeof(struct options),
	.max = 1,
	.lasts = true,
	.run = exporter_run,
};
