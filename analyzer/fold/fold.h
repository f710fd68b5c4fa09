/*
 * fold.h -- a state machine: records in, facts out.
 *
 * One fold handles one clock group: traces whose raw times can be compared. Memory is bounded by the
 * executions under way, and by the open streams, models and mappings. No I/O, no clock, no thread; the same
 * records result in the same facts.
 */
#ifndef BSA_FOLD_FOLD_H
#define BSA_FOLD_FOLD_H

#include <stdbool.h>

#include "fold/event.h"
#include "fold/facts.h"

struct bsa_fold_options {
	/* how late a summary (exec_service) may report a lane; 0: these traces have no summaries */
	uint64_t horizon_ns;
	bool goes_on;           /* records still come, and what is known by now cannot wait for them: pending.h */
	uint64_t window_ns;     /* window of app_lag; 0: 100 ms */
	uint64_t starvation_ns; /* 0: BSA_FOLD_STARVATION_NS */
	uint32_t under_way_max; /* 0: 32768 executions */
	/*
	 * About so many apps are kept, of all services: of more, the shares of idle apps are reported and
	 * dropped before the end. 0: all are kept until the end.
	 */
	uint32_t tenants_max;
	/* 1 << kind: such events are certainly recorded, or certainly not, as traces may tell; in neither: unknown */
	uint64_t declared, undeclared;
	/* The last ids already in use: the fold continues after them. */
	struct bsa_fold_ids {
		uint64_t execution, mapping;
		uint32_t app, process, model, stream, buffer;
	} last;
};

struct bsa_fold;

/* As long may it take from the last event of a recording that is stopped until its last packets are written. */
enum { BSA_FOLD_STOPPING_NS = 100000000 };

enum { BSA_FOLD_STARVATION_NS = 100000000 };

/* @facts is copied; what its ctx points to must outlive the fold. NULL: no memory. */
struct bsa_fold *bsa_fold_new(const struct bsa_facts *facts, const struct bsa_fold_options *options);

/* Free without reporting anything more. NULL is fine. Returns NULL. */
struct bsa_fold *bsa_fold_free(struct bsa_fold *f);

/* Process the next record. 0; or -ENOMEM, after which only free is allowed. */
int bsa_fold_event(struct bsa_fold *f, const struct bsa_event *e);

/*
 * For records that still come: there is no other record before @until. With summaries, an execution is
 * reported a horizon after its end, and that needs a later record, or this. The facts are the same as without
 * it, but earlier; unless there was no record for three horizons while an execution still seems to be under
 * way: see bsa_fold_passed_doubts. 0 or -ENOMEM.
 */
int bsa_fold_quiet(struct bsa_fold *f, uint64_t until);

/*
 * After finish: service @instance went on until @until at least, and its recording ended before. Report that its lanes
 * are unknown since its last event.
 */
void bsa_fold_went_on(const struct bsa_fold *f, unsigned instance, uint64_t until);

/* Lanes were reported that a fold which does not know of quiet times might leave unknown. */
bool bsa_fold_passed_doubts(const struct bsa_fold *f);

/*
 * Before finish: the end of the recording of @trace, which is later than its last event if nothing happened since.
 * @until: all processes of it were recorded until then. @over_by: perhaps they were recorded on, but not after that.
 * 0: unknown. What is under way at the end was so until the latest @until, and perhaps until the latest @over_by;
 * an @over_by soon after the last event counts as 0, because a tracer takes that long to stop. 0 or -ENOMEM.
 */
int bsa_fold_recorded(struct bsa_fold *f, uint32_t trace, uint64_t until, uint64_t over_by);

/* Executions whose clients wait for the answer. */
struct bsa_awaited {
	uint64_t n;
	uint64_t overdue;   /* number of those whose deadline has passed: they are late, if they are answered at all */
	uint64_t submitted; /* time of the earliest; 0: none waits */
	/*
	 * Since when the service of that one has had its request and emitted nothing; 0: the service was never
	 * heard, or the request was not written.
	 */
	uint64_t unheard;
	/*
	 * Since when the service that has been silent the longest has had a request and emitted nothing; 0: no service
	 * has been silent for ten times as long as any of these is estimated to run.
	 */
	uint64_t stalled;
};

/*
 * What is awaited at @until, a time up to which all records were given. Executions of which a loss may hide the answer
 * do not count. Full events only: of others nothing is known before they end.
 */
struct bsa_awaited bsa_fold_awaited(const struct bsa_fold *f, uint64_t until);

/*
 * Whether executions began later than @after in @trace of which the service alone emitted events, although their client
 * was recorded earlier: LTTng stopped the client before the service.
 */
bool bsa_fold_began_unasked(const struct bsa_fold *f, uint32_t trace, uint64_t after);

/* End of the records: report what is still under way, and the facts about the whole. 0 or -ENOMEM. */
int bsa_fold_finish(struct bsa_fold *f);

/* After finish. */
struct bsa_left_out bsa_fold_left_out(const struct bsa_fold *f);
struct bsa_fold_ids bsa_fold_last(const struct bsa_fold *f);

/*
 * After finish: the number of reported losses that the tracer does not count, so that events and packets are unknown.
 */
uint64_t bsa_fold_holes(const struct bsa_fold *f);

/* Executions whose summaries came later than the horizon: how long they waited is known, but not who held the lanes. */
uint64_t bsa_fold_late_summaries(const struct bsa_fold *f);

/*
 * The largest delay of a summary. If it exceeds horizon_ns, fold again with at least this horizon to get exact waits.
 */
uint64_t bsa_fold_latest_summary(const struct bsa_fold *f);

#endif
