/*
 * report.h -- prints the measurements as tables for people or as JSON for programs. nnburst-load(1) explains the
 * figures.
 */
#ifndef LOAD_REPORT_H
#define LOAD_REPORT_H

#include <stdbool.h>

#include "apps.h"

/* One stream, with its threads added up. */
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
	uint64_t executions, device_ns; /* executions and device time of all apps */
	bool device_known;              /* every execution was measured */
	struct nnb_reason problems[LOAD_PROBLEMS];
	uint32_t n_problems;
};

/* 0, or -ENOMEM. */
int load_report_init(struct load_report *ret, const struct load_session *session);
void load_report_fini(struct load_report *report);

/* A digest of all outputs and the final state of a stream with state; 0: no output, or the state could not be read. */
uint64_t load_report_digest(const struct load_row *row);

/* An app's share of the whole, from 0 to 1: of the executions, or of the device time. */
struct load_share {
	uint64_t executions, device_ns;
	double of_executions, of_device;
};
struct load_share load_report_share(const struct load_report *report, const struct load_app *app);

/*
 * The service's counts of an app, by the service's identity of apps: several apps of the scenario may be one app to
 * it.
 */
struct load_received {
	uint32_t n_apps; /* number of the scenario's apps in it; 0: the service gave no counts */
	uint32_t first;  /* index of the first of them */
	/* While the scenario ran; but max_lag_ns and longest_wait_ns are since the service has known the app. */
	struct nnb_app_counts counts;
	double ratio; /* received / entitled; 0 if the app was entitled to nothing */
};
struct load_received load_report_received(const struct load_report *report, uint32_t app);

/* Fairness over all apps. */
struct load_fairness {
	uint32_t n_apps; /* number of apps that were entitled to lane time */
	double jain;     /* Jain's index of received / entitled */
	int64_t max_lag_ns;
	uint64_t bound_ns; /* that fair sharing keeps the lag below; 0: not known */
};
struct load_fairness load_report_fairness(const struct load_report *report);

/* The service's rules in words (nnb/service.h), "?" for one that we do not know. */
const char *load_policy_name(uint32_t policy);
const char *load_preempt_name(uint32_t preempt);
const char *load_deadlines_name(uint32_t deadlines);

/* 0, or -1: the output could not be written */
int load_report_table(const struct load_report *report);
int load_report_json(const struct load_report *report);

#endif
