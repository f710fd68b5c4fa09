/*
 * sliding.h -- a rule of burstscope check, held against the last seconds of a recording that grows, again and again.
 *
 * Windows of one length begin at every multiple of its SLIDING_PARTS-th part, on the clock of the
 * trace. Of a window the verdict is that of `burstscope check --from --to` on the same time,
 * because both count the same and ask the same judge (slo/judge.h); but where events were lost in
 * it, there is none ("cannot tell").
 *
 * SILENT   Executions under way are counted when they are over. So of a window in which a service
 *          was silent with requests to answer there is no verdict that it held ("cannot tell"):
 *          what fails by the executions that are known fails.
 * LATE     An execution is of the window in which it began, and reported when it is over. A window
 *          is judged @lag after its end. An execution that is reported later has its windows judged
 *          again, for as long as two windows more; what is later still is counted (too_late).
 * BEGIN    A window that began before the recording did is not judged.
 * MEMORY   Bounded: counts for each part. One thread.
 */
#ifndef BSV_CONDITIONS_SLIDING_H
#define BSV_CONDITIONS_SLIDING_H

#include "bsa/live.h"
#include "slo/judge.h"

enum { BSV_SLIDING_PARTS = 20 };

struct bsv_sliding;

/* [from, to), on the clock of the trace. @lost: the result is "cannot tell" because events were lost in it. */
struct bsv_slid {
	uint64_t from, to;
	struct bsv_slo_result result;
	bool lost;
	/* the result is "cannot tell" because a service with requests to answer was silent in it */
	bool silent;
};

struct bsv_sliding_options {
	const struct bsv_slo_rule *rule; /* borrowed; one that bsv_sliding_takes */
	uint64_t window_ns, lag_ns;
	void (*judged)(void *ctx, const struct bsv_slid *slid);
	void *ctx;
};

/* Can it be held against a window? Rules that need all of a recording, streams in their order, or a baseline cannot. */
bool bsv_sliding_takes(const struct bsv_slo_rule *rule);

/* @options is copied. NULL: no memory. */
struct bsv_sliding *bsv_sliding_new(const struct bsv_sliding_options *options);
struct bsv_sliding *bsv_sliding_free(struct bsv_sliding *s); /* NULL is fine; returns NULL */

/* The next execution; @until: what was over before is known. */
void bsv_sliding_execution(struct bsv_sliding *s, const struct bsa_live_execution *x, uint64_t until);

/* Not all that was in this time is known; @why: borrowed for good. */
void bsv_sliding_lost(struct bsv_sliding *s, uint64_t began, uint64_t ended, const char *why);

/* A service with requests to answer emitted nothing, and the first that waits began at @began; known at @until. */
void bsv_sliding_silent(struct bsv_sliding *s, uint64_t began, uint64_t until);

/*
 * The recording began at @began, and executions that were over before @until were reported. Judge
 * what can be judged.
 */
void bsv_sliding_until(struct bsv_sliding *s, uint64_t began, uint64_t until);

/* Executions that came too late for the windows that they are of. */
uint64_t bsv_sliding_too_late(const struct bsv_sliding *s);

#endif
