/*
 * generated.h -- files made from the table of metrics: rules for Prometheus, a dashboard for
 * Grafana, and the table for people.
 */
#ifndef BSV_METRICS_GENERATED_H
#define BSV_METRICS_GENERATED_H

#include "metrics/metrics.h"
#include "slo/rules.h"

/* Windows of alerts are divided by this: 1 is what is shipped, more is for tests that cannot wait for hours. */
enum { BSV_SCALE_MAX = 3600 };

/*
 * The buckets in which histograms show whether each rule of @slo is kept: the usual ones and the
 * bounds of its latencies. false: one has no room.
 */
bool bsv_metrics_buckets(struct bsv_buckets *ret, const struct bsv_slo *slo);

/* The number of rules of @slo that metrics do not show. */
size_t bsv_metrics_untold(const struct bsv_slo *slo);

/*
 * Recording and alerting rules of Prometheus, YAML. A rule of @slo that metrics do not show is a
 * comment with the reason. @file: its name.
 */
void bsv_metrics_rules(FILE *to, const struct bsv_slo *slo, const char *file, unsigned scale);

/* A dashboard of Grafana, JSON: a panel for each metric. */
void bsv_metrics_dashboard(FILE *to);

/* A table in Markdown, a row for each metric. */
void bsv_metrics_table(FILE *to);

#endif
