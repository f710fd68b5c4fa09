/*
 * store.h -- facts into a SQLite file, which appears when it is whole.
 *
 * One thread. Written beside the output path, in one transaction, and renamed. The first failure (no space,
 * mostly) is kept, and everything after it does nothing: bsa_store_check returns it.
 */
#ifndef BSA_STORE_STORE_H
#define BSA_STORE_STORE_H

#include "bsa/err.h"
#include "fold/fold.h"

struct bsa_store;

struct bsa_store_options {
	const char *output;
	bool keep_operations, append;
};

/* A row of `trace`; strings are borrowed for the call. */
struct bsa_trace_row {
	uint32_t id;
	const char *uuid, *path, *host, *session, *clock;
	int64_t clock_offset;
	uint64_t began, ended, events, lost_events, lost_packets; /* BSA_NEVER: unknown */
	uint64_t recorded_until, over_by;                         /* 0: unknown; over_by: later than ended */
	uint64_t foreign, unusable, impostors;
	uint32_t uid; /* UINT32_MAX: unknown */
	bool cut, boottime_known, unreadable;
	int64_t boottime; /* CLOCK_BOOTTIME less its clock, if known */
};

/*
 * 0 and *ret owned by the caller. BSA_E_USAGE: @output is a directory, or something that an import has not
 * made and that would be lost; BSA_E_INPUT: append, and it is no database of this version; BSA_E_ENV: its
 * directory is not there or cannot be written. What a process that has died left of an import into @output is
 * removed.
 */
int bsa_store_new(struct bsa_store **ret, const struct bsa_store_options *options, struct bsa_err *err);

/* NULL is fine. What was not finished leaves nothing. Returns NULL. */
struct bsa_store *bsa_store_free(struct bsa_store *s);

/* Remove what a process that has died left of an import into @output, which is otherwise done by the next one. */
void bsa_store_clean(const char *output);

/* The last ids of the database (append), and the number of the last trace. */
struct bsa_fold_ids bsa_store_last_ids(const struct bsa_store *s);
uint32_t bsa_store_last_trace(const struct bsa_store *s);

/* BSA_E_INPUT if there is one of this uuid. Stored again at the end, with the rest known: the last one holds. */
int bsa_store_trace(struct bsa_store *s, const struct bsa_trace_row *row, struct bsa_err *err);

/* Store the scope that the recording was limited to: @app a name or a uid, "": any; pids, 0: any. */
void bsa_store_scope(struct bsa_store *s, const char *app, uint32_t pid, uint32_t service);

/*
 * How many executions of other services than the asked one the import left out, at least. Of apps and
 * processes it leaves out none.
 */
void bsa_store_others(struct bsa_store *s, uint64_t executions);

/* How many events of this import were left out, because their recording was over. */
void bsa_store_after_end(struct bsa_store *s, uint64_t events);

/* A stretch of time of a cpu; times are raw. @did as label cpu_did; @tid 0: no thread; @khz 0: unknown. */
struct bsa_cpu_state {
	uint64_t began, ended, khz;
	uint32_t cpu, tid;
	uint8_t did;
	const char *name; /* borrowed for the call; NULL: unknown */
};
void bsa_store_cpu_state(struct bsa_store *s, const struct bsa_cpu_state *state);

/* Traces of kernels: how many were read, how many were not, and of how many executions they had the delays. */
void bsa_store_kernel(struct bsa_store *s, uint64_t read, uint64_t left_out, uint64_t delays);

/* Raw times of the facts that follow are @offset ns before those of the database: one for each clock group. */
void bsa_store_clock(struct bsa_store *s, int64_t offset);

/* The number of executions since bsa_store_new, by quality. Any time. */
struct bsa_store_counts {
	uint64_t executions, quality[BSA_QUALITY_OPEN + 1];
};
struct bsa_store_counts bsa_store_counts(const struct bsa_store *s);

/* Stop: the current call, and all later ones, fail with BSA_E_STOPPED. Async-signal-safe. */
void bsa_store_stop(struct bsa_store *s);

/* The calls that a fold is to make. Valid until the store is freed. */
struct bsa_facts bsa_store_facts(struct bsa_store *s);

/*
 * The uid of the service's user in a clock group. @rival: another uid with the same claim, or UINT32_MAX. The
 * first pair with a rival stays, also one that is in the database already (append); otherwise the last call
 * counts.
 */
void bsa_store_service(struct bsa_store *s, uint32_t uid, uint32_t rival);

/* Add up what a fold left out. */
void bsa_store_left_out(struct bsa_store *s, const struct bsa_left_out *left_out);

/* 0, or what went wrong first. Cheap. */
int bsa_store_check(const struct bsa_store *s, struct bsa_err *err);

/* Typical phases, percentiles, causes, indices; then the file appears. */
int bsa_store_finish(struct bsa_store *s, struct bsa_err *err);

#endif
