/*
 * fold.h -- a state machine: records in, facts out.
 *
 * One fold is one clock group: traces whose raw times can be compared. Memory is bounded by what is under way: executions,
 * and open streams, models and mappings. No I/O, no clock, no thread; the same records give the same facts.
 */
#ifndef BSA_FOLD_FOLD_H
#define BSA_FOLD_FOLD_H

#include "fold/event.h"
#include "fold/facts.h"

struct bsa_fold_options {
	uint64_t
		horizon_ns; /* how late a summary (exec_service) may tell of a lane; 0: there are no summaries in these traces */
	uint64_t window_ns;     /* of app_lag; 0: 100 ms */
	uint64_t starvation_ns; /* 0: 100 ms */
	uint32_t under_way_max; /* 0: 32768 executions */
	/* What ids begin after: the last ones that are taken already. */
	struct bsa_fold_ids {
		uint64_t execution, mapping;
		uint32_t app, process, model, stream, buffer;
	} last;
};

struct bsa_fold;

/* @facts is copied; what its ctx points to must outlive the fold. NULL: no memory. */
struct bsa_fold *bsa_fold_new(const struct bsa_facts *facts, const struct bsa_fold_options *options);

/* NULL is fine. Tells nothing more. Returns NULL. */
struct bsa_fold *bsa_fold_free(struct bsa_fold *f);

/* The next record. 0, or -ENOMEM, after which only free is allowed. */
int bsa_fold_event(struct bsa_fold *f, const struct bsa_event *e);

/* That was all: tell what is still under way, as such, and what is of the whole. 0 or -ENOMEM. */
int bsa_fold_finish(struct bsa_fold *f);

/* After finish. */
struct bsa_left_out bsa_fold_left_out(const struct bsa_fold *f);
struct bsa_fold_ids bsa_fold_last(const struct bsa_fold *f);

/* After finish: the losses that it told of and no tracer counts: events and packets are not in them. */
uint64_t bsa_fold_holes(const struct bsa_fold *f);

/* How late the latest summary was. More than horizon_ns: fold again with at least this, for exact waits. */
uint64_t bsa_fold_latest_summary(const struct bsa_fold *f);

#endif
