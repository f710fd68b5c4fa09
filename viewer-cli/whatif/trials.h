/*
 * trials.h -- one recording, replayed under many changes: what each would save, what the urgent
 * would wait, and who would pay.
 *
 * CONCURRENCY  bsv_trials_run shares the replays among threads, as many as there are cpus. They
 *              read the recording and the changes, which nothing writes meanwhile, and each writes
 *              the draws that it took; the caller reads them when all threads have ended.
 */
#ifndef BSV_WHATIF_TRIALS_H
#define BSV_WHATIF_TRIALS_H

#include "whatif/draws.h"

enum {
	BSV_TRIAL_DRAWS = 11 /* at most */
};

/* One replay. */
struct bsv_trial_draw {
	uint64_t due, missed; /* executions with a deadline, and those of them that missed it */
	double urgent_p99_ns; /* NAN: too few were served */
};

struct bsv_trial {
	struct bsv_whatif_change change; /* its groups are borrowed, or NULL: rules alone */
	struct bsv_trial_draw draws[BSV_TRIAL_DRAWS];
	double *waits;       /* owned; by draw and app: the mean response; NAN: fewer than 30 executions */
	uint64_t *n;         /* owned; by draw and app */
	double *group_waits; /* owned; as waits, by draw and group */
	uint64_t *missed;    /* owned; by draw and group */
};

struct bsv_trials {
	const struct bsv_past *past;
	struct bsv_trial *all; /* owned */
	size_t n;
	unsigned draws;
	bool *urgent; /* owned; by group */
};

/* Least, median and most of the draws; NAN: unknown in one of them, at least. */
struct bsv_spread {
	double low, median, high;
};

/*
 * Choose the calls whose 99th percentile is judged: of the highest recorded priority; if all have
 * one priority, those with deadlines. False: no memory.
 */
bool bsv_trials_init(struct bsv_trials *t, const struct bsv_past *past);

/* Another one. NULL: no memory. The pointer is borrowed until the next one is added. */
struct bsv_trial *bsv_trials_add(struct bsv_trials *t, struct bsa_replay_rules rules);

/* Replay all. @progress, which may be NULL, is called in the caller's thread. False: no memory. */
bool bsv_trials_run(struct bsv_trials *t, void (*progress)(void *ctx, size_t done, size_t of), void *ctx);

/* All 0 is fine. */
void bsv_trials_fini(struct bsv_trials *t);

/* Sorts @values. */
struct bsv_spread bsv_spread_of(double *values, unsigned n);

/* Of executions with a deadline. NAN: there are none. */
struct bsv_spread bsv_trial_missed_percent(const struct bsv_trials *t, const struct bsv_trial *x);

/* For urgent calls, the value of the slowest of their models. */
struct bsv_spread bsv_trial_urgent(const struct bsv_trials *t, const struct bsv_trial *x);

/*
 * How many times as long as under @ideal the app waits that loses most by it; *ret_app, where that
 * is not NULL, is that app.
 */
struct bsv_spread bsv_trial_slowest(const struct bsv_trials *t, const struct bsv_trial *x,
                                    const struct bsv_trial *ideal, uint32_t *ret_app);

#endif
