/*
 * group.h -- executions that may be compared with each other: the same app, model and path, all cold or all warm, recorded on
 * the same sides.
 */
#ifndef BSV_STATS_GROUP_H
#define BSV_STATS_GROUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What is known of an execution's time. The phases tile e2e. */
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

/* Durations, and when each was. */
struct bsv_times {
	int64_t *ns, *at; /* n each, owned */
	size_t n, room;
};

/* False: no memory. */
bool bsv_times_add(struct bsv_times *t, int64_t ns, int64_t at);
void bsv_times_fini(struct bsv_times *t);

/* Executions that are complete and were answered (status NONE), in the order of their numbers. */
struct bsv_group {
	char *app, *model, *path, *sides; /* names are a stranger's; "" where unknown */
	int cold;                         /* -1: not said, off bursts */
	size_t n;
	int64_t *at;              /* n: when each began */
	int64_t *ns[BSV_PHASES];  /* n each; all 0 of a phase: NULL */
	__int128 sum[BSV_PHASES]; /* hostile lengths do not overflow it */
	struct bsv_times cpu;     /* of those whose cpu time was read */
	int64_t *delay, *run; /* cpu.n each, owned: of the run, how long its thread was ready and on no cpu; the run */
	bool touched;         /* a loss may hide executions of this group */
	double hidden;        /* the share of executions that are not among the n, 0 to 1: at most, as far as known */
};

/* Put two groups into their order; 0: their executions may be compared. */
int bsv_group_compare(const struct bsv_group *a, const struct bsv_group *b);

/* How an execution ended. */
enum bsv_ending {
	BSV_HAD_DEADLINE = 1,
	BSV_MISSED = 2,
	BSV_ENDED = 4,      /* its status is known */
	BSV_DUE = 8,        /* and it is no missed deadline: there should be an answer */
	BSV_ANSWERED = 16,  /* status NONE */
	BSV_UNANSWERED = 32 /* due, and not answered */
};

/* How all executions of one app, model and path ended: cold and warm, complete and not, in the order of their numbers. */
struct bsv_tally {
	char *app, *model, *path;
	size_t n;
	int64_t *at;      /* n: when each began */
	uint8_t *endings; /* n: enum bsv_ending */
	size_t unsure,
		unsure_ended; /* of how many it is not known whether they missed a deadline; and how they ended */
	bool touched;         /* as in a group */
	double hidden;
};

/* Put two tallies into their order; 0: their executions may be compared. */
int bsv_tally_compare(const struct bsv_tally *a, const struct bsv_tally *b);

#endif
