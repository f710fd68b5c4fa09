/* dashboard.c -- a dashboard for Grafana, and the table of docs/metrics.md. */
#include "metrics/generated.h"

#include <string.h>

enum { PANEL_WIDTH = 12, PANEL_HEIGHT = 8, PANELS_PER_ROW = 2 };

static const char *first_labels(const struct bsv_metric_info *m)
{
	return *m->labels ? m->labels : "instance";
}

static void panel(FILE *to, const struct bsv_metric_info *m, unsigned n)
{
	static const char *const what[] = { ", per second", "", ", 99th percentile" };
	const char *label = first_labels(m), *unit = m->unit == BSV_UNIT_SECONDS ? "s" : "none";

	if (m->type == BSV_COUNTER) /* a counter of seconds that is shown as a rate is a share of the time */
		unit = m->unit == BSV_UNIT_SECONDS ? "percentunit" : m->unit == BSV_UNIT_BYTES ? "Bps" : "cps";
	fprintf(to, "    {\"id\": %u, \"type\": \"timeseries\", \"title\": \"%s%s\",\n     \"description\": ", n + 1,
	        m->name, what[m->type]);
	bsv_metrics_quoted(to, m->help);
	fprintf(to,
	        ",\n     \"datasource\": {\"type\": \"prometheus\", \"uid\": \"${datasource}\"},\n"
	        "     \"gridPos\": {\"x\": %u, \"y\": %u, \"w\": %d, \"h\": %d},\n"
	        "     \"fieldConfig\": {\"defaults\": {\"unit\": \"%s\", \"min\": 0}, \"overrides\": []},\n"
	        "     \"targets\": [{\"refId\": \"A\", \"expr\": \"",
	        n % PANELS_PER_ROW * PANEL_WIDTH, n / PANELS_PER_ROW * PANEL_HEIGHT, PANEL_WIDTH, PANEL_HEIGHT, unit);

	/* The query: the 99th percentile, the rate per second, or the value. */
	switch (m->type) {
	case BSV_HISTOGRAM:
		fprintf(to, "histogram_quantile(0.99, sum by (le,%s) (rate(%s_bucket[$__rate_interval])))", m->labels,
		        m->name);
		break;
	case BSV_COUNTER:
		fprintf(to, "sum by (%s) (rate(%s_total[$__rate_interval]))", first_labels(m), m->name);
		break;
	case BSV_GAUGE:
		fprintf(to, "max by (%s) (%s)", first_labels(m), m->name);
		break;
	}

	/* "{{app}} {{model}}" */
	fputs("\", \"legendFormat\": \"", to);
	while (*label) {
		int length = (int)strcspn(label, ",");

		fprintf(to, "{{%.*s}}%s", length, label, label[length] ? " " : "");
		label += length + (label[length] == ',');
	}
	fputs("\"}]}", to);
}

void bsv_metrics_dashboard(FILE *to)
{
	fputs("{\n  \"title\": \"burstscope\", \"uid\": \"burstscope\", \"schemaVersion\": 38, \"refresh\": \"10s\",\n"
	      "  \"time\": {\"from\": \"now-15m\", \"to\": \"now\"},\n"
	      "  \"templating\": {\"list\": [{\"name\": \"datasource\", \"type\": \"datasource\", \"query\": "
	      "\"prometheus\"}]},\n"
	      "  \"panels\": [\n",
	      to);
	for (unsigned i = 0, n = 0; i < BSV_METRICS; i++) {
		if (i == BSV_METRIC_BUILD)
			continue;
		fputs(n ? ",\n" : "", to);
		panel(to, &bsv_metric_infos[i], n++);
	}
	fputs("\n  ]\n}\n", to);
}

void bsv_metrics_table(FILE *to)
{
	static const char *const types[] = { "counter", "gauge", "histogram" };

	fputs("| metric | type | labels | label sets | |\n|---|---|---|---|---|\n", to);
	for (size_t i = 0; i < BSV_METRICS; i++) {
		const struct bsv_metric_info *m = &bsv_metric_infos[i];

		fprintf(to, "| `%s%s` | %s | %s | %u | %s%s |\n", m->name, bsv_metric_suffix(m), types[m->type],
		        m->labels, m->most, m->help, m->whole ? "; of whole recordings only" : "");
	}
}
