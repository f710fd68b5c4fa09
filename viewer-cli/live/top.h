/*
 * top.h -- runs `burstscope top` and `burstscope exporter`: follows an own or an existing session,
 * of this host or of another one, and shows its figures, or serves them as metrics, until a signal
 * or a key ends it.
 */
#ifndef BSV_LIVE_TOP_H
#define BSV_LIVE_TOP_H

#include "base/screen.h"
#include "bsa/err.h"
#include "metrics/metrics.h"
#include "record/scope.h"
#include "record/sizing.h"

#include <stdbool.h>
#include <stdint.h>

struct bsv_top_options {
	const char *session; /* name of an existing session; NULL: make one */
	const char *url;     /* URL of an existing session at a relay daemon (url.h), instead; NULL: none */
	enum bsv_detail detail;
	uint64_t buffer, ring; /* bytes, for each cpu and user; 0: as many as seem right */
	int64_t duration;      /* ns; negative: until it is interrupted */
	int64_t interval, settle;
	struct bsv_scope scope; /* scope of the recording, and of the rows */
	struct bsv_screen screen;
	bool once, json;
	const char *listen;         /* where metrics are served, and nothing is shown; NULL: it is shown */
	struct bsv_buckets buckets; /* buckets of the metrics' histograms */
};

/* 0, or negative. */
int bsv_top_run(const struct bsv_top_options *options, struct bsa_err *err);

#endif
