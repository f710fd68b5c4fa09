/*
 * metrics.h -- metrics with their label sets and values, in Prometheus's text format; bounded in
 * number, because names of apps and models are untrusted.
 *
 * One thread. Memory: at most as many label sets as metrics.def allows. If a metric has all of them
 * and another one is needed, the idle sets are dropped, as if their apps were never seen. A set is
 * idle if it was not asked for during the last BSV_METRIC_IDLE_NS, and if a scraper has read it
 * since. So each sample is read at least once: in its own set, or in `other`.
 *
 * If no set is idle, the user who has the most sets of the metric gives one up for a user who has
 * fewer, the one that was not used for the longest time. What came after the last scrape is then
 * not read: no user can keep others out, or take samples from one who has no more than they.
 *
 * Prometheus ends a series that a scrape does not have. If the series appears again, it begins at
 * 0: rate() and increase() take a counter that falls for one that was reset. The value of a dropped
 * set is not added to `other`, because increase() would count it twice; so `other` never falls, and
 * never rises but by samples of its own. If no set gives way, the samples of the new one are added
 * to `other`.
 */
#ifndef BSV_METRICS_H
#define BSV_METRICS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum bsv_metric {
#define METRIC(id, type, name, unit, most, labels, whole, help) BSV_METRIC_##id,
#include "metrics/metrics.def"
	BSV_METRICS
};

enum bsv_metric_type { BSV_COUNTER, BSV_GAUGE, BSV_HISTOGRAM };
enum bsv_metric_unit { BSV_UNIT_NONE, BSV_UNIT_SECONDS, BSV_UNIT_BYTES };

/* A row of metrics.def. */
struct bsv_metric_info {
	const char *name, *labels, *help;
	enum bsv_metric_type type;
	enum bsv_metric_unit unit;
	unsigned most;
	bool whole;
};

extern const struct bsv_metric_info bsv_metric_infos[BSV_METRICS];

/* Much longer than the usual interval of scrapes, so that Prometheus has the last value of a set that is dropped. */
#define BSV_METRIC_IDLE_NS UINT64_C(600000000000)

enum { BSV_METRIC_LABELS_MAX = 4, BSV_BUCKETS_MAX = 40, BSV_SERIES_MAX = 20000, BSV_LABEL_BYTES_MAX = 200 };

/* The family and its series: nnburst_deadlines has the series nnburst_deadlines_total. */
const char *bsv_metric_suffix(const struct bsv_metric_info *m);

/* Upper bounds of buckets, ns, rising. */
struct bsv_buckets {
	int64_t bounds[BSV_BUCKETS_MAX];
	size_t n;
};

/* The usual ones. */
void bsv_buckets_init(struct bsv_buckets *b);

/* One more, if it is not there yet. false: there is no room for it, or it is not above 0. */
bool bsv_buckets_add(struct bsv_buckets *b, int64_t bound);

/* A bound as a label `le` has it: seconds, in the form that OpenMetrics calls canonical. */
enum { BSV_BOUND_TEXT = 40 };
const char *bsv_bound_text(char to[BSV_BOUND_TEXT], int64_t ns);

struct bsv_metrics;

/* The value of one label set, valid until the next call of bsv_metrics_set for the same metric. */
struct bsv_metric_set;

/* @buckets are copied. NULL: no memory. */
struct bsv_metrics *bsv_metrics_new(const struct bsv_buckets *buckets);

/* NULL is fine. Returns NULL. */
struct bsv_metrics *bsv_metrics_free(struct bsv_metrics *m);

/* The time of a monotonic clock is @now, ns. Without this call no time passes, and no set is dropped. */
void bsv_metrics_at(struct bsv_metrics *m, uint64_t now);

/*
 * Make sets for @user, a uid, from now on. Without this call, and for BSV_METRIC_NOBODY, sets count
 * as those of one unknown user.
 */
#define BSV_METRIC_NOBODY UINT32_MAX
void bsv_metrics_for(struct bsv_metrics *m, uint32_t user);

/* A scraper has read all sets as they are now. */
void bsv_metrics_scraped(struct bsv_metrics *m);

/*
 * The set with these values of the labels, in their order; NULL and "" are `unknown`. It is made if
 * it is not there; if that metric has all its sets and none of them gives way, it is the set
 * `other`. NULL: no memory, which bsv_metrics_print will return, too; the functions below are fine
 * with it.
 */
struct bsv_metric_set *bsv_metrics_set(struct bsv_metrics *m, enum bsv_metric id, const char *const *values);

/* Counters and gauges: so much more; it saturates. A gauge that is `other` keeps the largest. */
void bsv_metric_add(struct bsv_metric_set *s, int64_t value);

/* Gauges: at least so much. */
void bsv_metric_raise(struct bsv_metric_set *s, int64_t value);

/* Gauges: the value from now on. */
void bsv_metric_put(struct bsv_metric_set *s, int64_t value);

/* Histograms. */
void bsv_metric_observe(struct bsv_metric_set *s, int64_t ns);

/*
 * For a counter: an exemplar, an execution with its lateness in ns at a time since 1970. The one
 * with the largest value is kept.
 */
void bsv_metric_exemplar(struct bsv_metric_set *s, int64_t execution, int64_t value, int64_t at);

/* Series, over all metrics: lines with a value. */
size_t bsv_metrics_series(const struct bsv_metrics *m);

enum bsv_metrics_form { BSV_OPENMETRICS, BSV_PROMETHEUS_TEXT };

/*
 * OpenMetrics 1.0 with exemplars, or the text format of Prometheus without them. -1: there was no
 * memory for all of it.
 */
int bsv_metrics_print(const struct bsv_metrics *m, enum bsv_metrics_form form, FILE *to);

/* A string as both formats and PromQL have it, with its quotes. */
void bsv_metrics_quoted(FILE *to, const char *s);

#endif
