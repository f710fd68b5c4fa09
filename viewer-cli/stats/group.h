/*
 * group.h -- executions that may be compared with each other: the same app, model and path, all cold or all warm, recorded on
 * the same sides.
 */
#ifndef BSV_STATS_GROUP_H
#define BSV_STATS_GROUP_H

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

/* Executions that are complete and were answered (status NONE), in the order of their numbers. */
struct bsv_group {
	char *app, *model, *path, *sides; /* names are a stranger's; "" where unknown */
	int cold;                         /* -1: not said, off bursts */
	size_t n;
	int64_t *ns[BSV_PHASES];  /* n each; all 0 of a phase: NULL */
	__int128 sum[BSV_PHASES]; /* hostile lengths do not overflow it */
};

/* Put two groups into their order; 0: their executions may be compared. */
int bsv_group_compare(const struct bsv_group *a, const struct bsv_group *b);

#endif
