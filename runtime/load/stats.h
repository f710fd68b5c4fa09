/*
 * stats.h -- counts of executions: distributions of times, statuses, missed deadlines.
 *
 * A distribution is exact: each ns below 2^20 ns has a counter, and longer times are kept one by one; at most
 * LOAD_LONG_MAX of these fit into LOAD_DURATION_MAX one after the other. The struct is large, and meant for memory
 * that is allocated when it is touched. It holds no pointers, because one process fills it and another reads it.
 */
#ifndef LOAD_STATS_H
#define LOAD_STATS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "nnb/status.h"

enum { LOAD_SHORT_MAX = 1 << 20, LOAD_LONG_MAX = 1 << 22, LOAD_STATUSES = NNB_STATUS_DEAD_OBJECT + 1 };

struct load_distribution {
	uint64_t n, sum, min, max;
	uint64_t n_long;
	bool sorted;
	uint32_t counts[LOAD_SHORT_MAX]; /* by ns */
	uint64_t longer[LOAD_LONG_MAX];  /* the first n_long */
};

void load_distribution_add(struct load_distribution *d, uint64_t ns);
void load_distribution_merge(struct load_distribution *into, const struct load_distribution *from);

/* The nearest rank: the least time that @permille of all do not exceed; 0 without times. Sorts the times. */
uint64_t load_percentile(struct load_distribution *d, unsigned permille);

/* Buckets that grow with what they hold, four to a doubling. */
enum { LOAD_BUCKETS = 252 };
unsigned load_bucket_of(uint64_t ns);
uint64_t load_bucket_begin(unsigned bucket); /* its least; of LOAD_BUCKETS: UINT64_MAX */
void load_histogram(const struct load_distribution *d, uint64_t ret[LOAD_BUCKETS]);

/* How a deadline was missed, as the analyzer has it. */
enum load_miss { LOAD_NOT_MISSED, LOAD_LATE, LOAD_ABORTED, LOAD_PREDICTED, LOAD_MISSES };
extern const char *const load_miss_names[LOAD_MISSES];

/* @deadline: 0 for an execution without one. Both times are on one clock. */
enum load_miss load_miss(enum nnb_status status, uint64_t deadline, uint64_t returned);

/*
 * The outputs of a model with state, step by step from zeroes: the same for every thread, as far as it got. All
 * zeroes is the beginning. No digest is 0.
 */
enum { LOAD_MARKS = 48 };

struct load_sequence {
	uint64_t steps, digest;
	uint64_t state;             /* digest of the state after the last step, if it was read; otherwise 0 */
	uint64_t marks[LOAD_MARKS]; /* the digest after 1, 2, 4, ... steps; 0: not reached yet */
};

/* One more step, of which @digest came out. False: that is not what came out before. */
bool load_sequence_add(struct load_sequence *s, uint64_t digest);

/* Back to zeroes; what has come out before is remembered. */
void load_sequence_restart(struct load_sequence *s);

/* Did the same come out of both, as far as both have come? */
bool load_sequence_agrees(const struct load_sequence *a, const struct load_sequence *b);

/* The counts of one thread of a stream, or of all its threads. All zeroes is the beginning. */
struct load_figures {
	/* executions that have returned, with any status; other threads may read this */
	atomic_uint_least64_t executions;
	uint64_t statuses[LOAD_STATUSES];
	uint64_t misses[LOAD_MISSES]; /* misses of executions with a deadline */
	uint64_t skipped;             /* frames that were due while no thread was free to run them */
	uint64_t retries, recovered;  /* attempts that were not a frame's first, and those of them that went well */
	uint64_t fallbacks, wrong, unmeasured;
	uint64_t bursts, pools;              /* made */
	uint64_t spun_ns, slept_ns, wakeups; /* waiting for results of bursts */
	uint64_t began, ended;               /* first submitted, last returned; 0: not yet */
	uint64_t digest;                     /* digest of the outputs; 0: no output */
	/* for a stream with state */
	struct load_sequence sequence;        /* with several threads: the longest sequence */
	uint64_t state_buffers, state_fallen; /* made on the device; and of them, shared memory after all */
	uint64_t state_resets, state_copy_ns; /* begun again from zeroes; copied from outputs to inputs */
	/* executions with status NONE */
	struct load_distribution cold, warm;           /* submitted to returned */
	struct load_distribution from_due;             /* frame due to returned */
	struct load_distribution on_device, in_driver; /* as the service measured */
	/* all frames that were run, at their first attempt */
	struct load_distribution start_late; /* due to submitted */
};

/* One execution. */
struct load_execution {
	enum nnb_status status;
	uint64_t submitted, returned, deadline; /* deadline 0: no deadline */
	uint64_t due;                           /* 0: it was not */
	uint64_t on_device_ns, in_driver_ns;    /* UINT64_MAX: not measured */
	bool cold, fallback, wrong, measure, retry;
};

void load_figures_add(struct load_figures *f, const struct load_execution *e);
void load_figures_merge(struct load_figures *into, const struct load_figures *from);

/* Is this a status that a healthy service may answer, to a stream that tries again or one that does not? */
bool load_expected(enum nnb_status status, bool retries);

/* Whether the same request may succeed in a moment. */
bool load_transient(enum nnb_status status);

/*
 * Jain's index of equality: 1 if all shares are equal, down to 1 / @n if one has everything. 0 for no shares, or if
 * all are 0.
 */
double load_jain(const double *shares, size_t n);

#endif
