/*
 * top.h -- what `burstscope top` and `burstscope exporter` do: a session of its own, or one that is there, followed and shown, or served to
 * whoever scrapes metrics, until a signal or a key ends it.
 */
#ifndef BSV_LIVE_TOP_H
#define BSV_LIVE_TOP_H

#include "answer/screen.h"
#include "bsa/err.h"
#include "metrics/metrics.h"
#include "record/sizing.h"

#include <stdbool.h>
#include <stdint.h>

struct bsv_top_options {
	const char *session; /* one that is there; NULL: one of its own */
	enum bsv_detail detail;
	uint64_t buffer, ring; /* bytes, for each cpu and user; 0: as many as seem right */
	int64_t duration;      /* ns; negative: until somebody says so */
	int64_t interval, settle;
	const char *app; /* of this one alone; NULL: of all */
	struct bsv_screen screen;
	bool once, json;
	const char *listen;         /* where metrics are served, and nothing is shown; NULL: it is shown */
	struct bsv_buckets buckets; /* of those metrics */
};

/* 0, or negative. */
int bsv_top_run(const struct bsv_top_options *options, struct bsa_err *err);

#endif
