/*
 * voices.h -- when each service was last heard.
 *
 * `lttng stop` and `lttng start` reach one process after another, so for some time the clients may be
 * recorded while the service is not, without any gap between packets. Lanes and waits are known from the
 * service's events only:
 *
 *   before a stop   until its last event; the hole begins there
 *   after a start   from its first event; the hole ends there
 *   at the end      until its last event; its waits and lanes are reported up to there, as if the recording ended there
 *                   (and a possible wait beyond it for each execution that waits there: the service may have died);
 *                   but until the end of the recording, if that is known and one of its clients waits for an answer
 *                   then, and none was told since of an end that the service did not report: the service hangs
 *
 * If lanes are known from summaries only, this applies to a silence shorter than the fold's horizon.
 */
#ifndef BSA_FOLD_VOICES_H
#define BSA_FOLD_VOICES_H

#include "fold/event.h"
#include "fold/facts.h"

#include <stdbool.h>

struct bsa_exec;
struct bsa_fold;

enum { BSA_INSTANCES = 4096, BSA_NO_INSTANCE = BSA_INSTANCES };

/*
 * A service had a request and emitted nothing for long, and then went on. A long run emits nothing either; but
 * meanwhile the service reads the requests of other bursts. What proves that it was stopped comes later: when it read
 * the request, and how much cpu time the runs had that were on its lanes.
 */
struct bsa_pause {
	struct bsa_silence fact;
	uint64_t unread; /* id of the execution whose request waited; 0: it was read after the pause, as is known */
	uint64_t holders[64]; /* ids of the executions on lanes that are under way */
	unsigned n_holders;
};

enum { BSA_PAUSES = 16 }; /* further ones are not reported until one of them is decided */

struct bsa_voices {
	uint64_t began[BSA_INSTANCES]; /* time of the first event; 0: none */
	uint64_t heard[BSA_INSTANCES]; /* time of the latest event; 0: none */
	uint64_t untold
		[BSA_INSTANCES]; /* time at which a client last had the end of an execution that it did not report */
	uint64_t answered
		[BSA_INSTANCES]; /* the same, of a good answer: the service is there, and not recorded any more */
	uint64_t failed_after
		[BSA_INSTANCES];          /* time of the service's last event before the failures counted in n_failed */
	uint32_t n_failed[BSA_INSTANCES]; /* requests that failed for clients without a word of the service */
	uint64_t hangs[BSA_INSTANCES];    /* at the end: it hangs until then; 0: that is not known */
	uint32_t trace[BSA_INSTANCES];    /* the trace of its latest event */
	unsigned n_heard;                 /* number of services heard */
	uint64_t gap_began;               /* begin of the latest stop, from the packets; 0: no stop yet */
	uint64_t gap_ended;               /* time at which a service was heard again, or 1 ns less */
	struct bsa_pause pauses[BSA_PAUSES];
	unsigned n_pauses;
};

/* The service that emitted @e; BSA_NO_INSTANCE: a client emitted it, or may have. */
unsigned bsa_voice_of(const struct bsa_event *e);

/* Service @instance emitted the current event @e. */
void bsa_voices_hear(struct bsa_fold *f, unsigned instance, const struct bsa_event *e);

/* For a stop at @at, from the packets: the earliest time from which a service with clients may not be recorded. */
uint64_t bsa_voices_until(const struct bsa_fold *f, uint64_t at);

/*
 * @x ended now for its client, and its service reported no end of it: the service died, or is not recorded any more.
 */
void bsa_voices_untold(struct bsa_fold *f, const struct bsa_exec *x);

/* A service prepared a model from @began until now: it may have been busy with that. */
void bsa_voices_prepared(struct bsa_fold *f, uint32_t connection, uint64_t began);

/* @x is over, and judged: it may prove that its service was stopped. */
void bsa_voices_over(struct bsa_fold *f, const struct bsa_exec *x);

/* Find the services that hang until the end of their recording, and report those that are silent. */
void bsa_voices_finish(struct bsa_fold *f);

/*
 * At the end: the time up to which the lanes of @instance are recorded. This is now if the service was never
 * heard, or if events were lost since, because lost events might concern later times.
 */
uint64_t bsa_voice_ended(const struct bsa_fold *f, unsigned instance);

#endif
