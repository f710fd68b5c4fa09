/*
 * group.h -- groups of executions that may be compared with each other: the same app, model and
 * path, all cold or all warm, recorded on the same sides.
 */
#ifndef BSV_INPUT_GROUP_H
#define BSV_INPUT_GROUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The times of an execution. The phases add up to e2e. */
enum bsv_phase {
	BSV_E2E,
	BSV_OVERHEAD,
	BSV_PREPARE, /* the first phase */
	BSV_SEND,
	BSV_DECODE,
	BSV_FENCE,
	BSV_SLOTS,
	BSV_QUEUE,
	BSV_RUN,
	BSV_PREEMPTED,
	BSV_REPLY,
	BSV_RETURN,
	BSV_FINISH,
	BSV_SIGNAL,
	BSV_PHASES
};

extern const char *const bsv_phase_names[BSV_PHASES];

/* Whether executions of @path have the phase; NULL: the path is unknown, and they may have it. */
bool bsv_phase_is_of(enum bsv_phase phase, const char *path);

/* Durations, and the time of each. */
struct bsv_times {
	int64_t *ns, *at; /* n each, owned */
	size_t n;
};

/* False: no memory. */
bool bsv_times_add(struct bsv_times *t, int64_t ns, int64_t at);
void bsv_times_fini(struct bsv_times *t);

/* Complete executions with the status NONE, ordered by number. */
struct bsv_group {
	const char *app, *model, *path, *sides; /* names come from strangers; "" where unknown */
	size_t tally;                           /* index of the tally that the executions belong to */
	int cold;                               /* 1: cold; 0: warm; -1: unknown, on paths other than burst */
	size_t n;
	int64_t *at;             /* n elements: start of each execution */
	int64_t *ns[BSV_PHASES]; /* n elements each; NULL: the phase is 0 in all executions */
	__int128 sum_e2e;        /* wide enough for hostile durations */
	struct bsv_times cpu;    /* cpu times of the executions whose cpu time was read */
	/* cpu.n elements each, owned: for how long the thread of the run was ready without a cpu; length of the run */
	int64_t *delay, *run;
	bool touched;  /* whether a loss may hide executions of this group */
	double hidden; /* upper bound of the share of executions that are not among the n, 0 to 1 */
};

/* Order of two groups; 0: their executions may be compared. */
int bsv_group_compare(const struct bsv_group *a, const struct bsv_group *b);

/* How an execution ended, as bits. */
enum bsv_ending {
	BSV_HAD_DEADLINE = 1,
	BSV_MISSED = 2,
	BSV_ENDED = 4,      /* the status is known */
	BSV_DUE = 8,        /* the status is known and not a missed deadline: an answer was due */
	BSV_ANSWERED = 16,  /* status NONE */
	BSV_UNANSWERED = 32 /* an answer was due and did not arrive */
};

/* The endings of all executions of one app, model and path: cold and warm, complete and not, ordered by number. */
struct bsv_tally {
	const char *app, *model, *path;
	size_t n;
	int64_t *at;      /* n elements: start of each execution */
	uint8_t *endings; /* n elements: enum bsv_ending */
	/* number of executions that may or may not have missed a deadline; and whose ending is unknown */
	size_t unsure, unsure_ended;
	size_t read;  /* number of tallies that were read before this one */
	bool touched; /* as in bsv_group */
	double hidden;
};

/* Order of two tallies; 0: their executions may be compared. */
int bsv_tally_compare(const struct bsv_tally *a, const struct bsv_tally *b);

#endif
