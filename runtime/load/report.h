/* report.h -- what was measured, as tables for people or as JSON for programs. nnburst-load(1) says what it means. */
#ifndef LOAD_REPORT_H
#define LOAD_REPORT_H

#include <stdbool.h>

#include "apps.h"

/* Of a stream: its threads put together. */
struct load_row {
	const struct load_app *app;
	const struct load_stream *stream;
	const struct load_process *process;
	const struct load_outcome *outcome;
	struct load_figures *figures;  /* owned */
	struct load_distribution *all; /* cold and warm; owned */
	double seconds;                /* from the first submitted to the last returned */
};

enum { LOAD_PROBLEMS = 64 };

struct load_report {
	const struct load_session *session;
	struct load_row *rows; /* stream by stream, app by app; owned */
	uint32_t n_rows;
	uint64_t executions, device_ns; /* of all */
	bool device_known;              /* every execution was measured */
	struct nnb_reason problems[LOAD_PROBLEMS];
	uint32_t n_problems;
};

/* 0, or -ENOMEM. */
int load_report_init(struct load_report *ret, const struct load_session *session);
void load_report_fini(struct load_report *report);

/* Of all that came out of a stream with state, and of the state after it; 0: nothing, or nobody could read it. */
uint64_t load_report_digest(const struct load_row *row);

/* What an app had of the whole, from 0 to 1: of the executions, or of the time on the device. */
struct load_share {
	uint64_t executions, device_ns;
	double of_executions, of_device;
};
struct load_share load_report_share(const struct load_report *report, const struct load_app *app);

/* What the service says of an app, as it tells apps apart: several of the scenario's may be one to it. */
struct load_received {
	uint32_t n_apps; /* of the scenario's; 0: it does not say */
	uint32_t first;  /* which of them is the first */
	/* While the scenario ran; but max_lag_ns and longest_wait_ns are since the service has known the app. */
	struct nnb_app_counts counts;
	double ratio; /* of received to entitled; 0 where nothing was to be had */
};
struct load_received load_report_received(const struct load_report *report, uint32_t app);

/* Of all of them. */
struct load_fairness {
	uint32_t n_apps; /* that were entitled to something */
	double jain;     /* of what they received for what they were entitled to */
	int64_t max_lag_ns;
	uint64_t bound_ns; /* that fair sharing keeps the lag below; 0: not known */
};
struct load_fairness load_report_fairness(const struct load_report *report);

/* The service's rules in words (nnb/service.h), "?" for one that we do not know. */
const char *load_policy_name(uint32_t policy);
const char *load_preempt_name(uint32_t preempt);
const char *load_deadlines_name(uint32_t deadlines);

/* 0, or -1: nobody took it. */
int load_report_table(const struct load_report *report);
int load_report_json(const struct load_report *report);

#endif
