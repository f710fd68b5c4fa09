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

/* A request that the service had not read when a pause ended. */
struct bsa_unread {
	uint64_t id;        /* of its execution */
	uint64_t published; /* the service could read it from then on at the latest, as is known; BSA_NEVER: not yet */
};

enum { BSA_PAUSE_UNREAD = 16, BSA_PAUSE_HOLDERS = 64 };

/*
 * A service had work and emitted nothing for long, and then went on. A long run emits nothing either. What proves that
 * the service was stopped comes later, with the ends of the executions that were under way:
 *
 *   by a request   the service read it after the pause only, though it could have read it before. The client emits the
 *                  event of a request before the service can read it, and may have no cpu in between: so the request
 *                  was there from when the client began to wait for the result, or had given up
 *   by a run       its thread had no cpu and asked for none, and other work waited for its lane: the thread that
 *                  takes such lanes away (sched_preempt, stalled) would have done so, had it run
 *
 *   by a lane      one was free all the time, and more executions were ready than lanes were free. One alone may
 *                  have had the lane, and its thread waited for a page before it emitted that: from such a thread
 *                  the service takes the lane away for the others. On a busy machine that thread alone may have no
 *                  cpu, for less than 300 ms
 *
 * In any case each run on a lane had a cpu for less than half of the pause.
 */
struct bsa_pause {
	struct bsa_silence fact;
	uint64_t published; /* earliest of the requests that the service read afterwards; BSA_NEVER: none yet */
	uint64_t cpu_most;  /* longest cpu time of the runs that are over; BSA_NEVER: one was not read */
	bool waits;         /* an execution waited for a lane all the time */
	bool slept;         /* the thread of a run had no cpu, and asked for none */
	unsigned n_ready;   /* number of executions that waited for a lane, and can have had none before */
	uint64_t ready;     /* one of them, while it is under way, where more were ready than lanes were free; else 0 */
	bool idled;         /* more were ready than lanes were free */
	struct bsa_unread unread[BSA_PAUSE_UNREAD]; /* those whose executions are under way */
	uint64_t holders[BSA_PAUSE_HOLDERS];        /* ids of the executions on lanes that are under way */
	unsigned n_unread, n_holders;
};

enum { BSA_PAUSES = 16 }; /* further ones are not reported until one of them is decided */

struct bsa_voices {
	uint64_t began[BSA_INSTANCES];   /* time of the first event; 0: none */
	uint64_t heard[BSA_INSTANCES];   /* time of the latest event; 0: none */
	uint64_t kinds[BSA_INSTANCES];   /* 1 << kind: of its events, and of those of executions of its clients */
	uint64_t stalled[BSA_INSTANCES]; /* time of the last sched_preempt of a stalled execution; 0: none */
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

/* Note that events of the kind of @e are recorded of the service @voice (bsa_voice_of), or of the clients of one. */
void bsa_voices_note_kind(struct bsa_fold *f, unsigned voice, const struct bsa_event *e);

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

/* @x is over, and judged: it may prove that its service was stopped, or that it was not. */
void bsa_voices_over(struct bsa_fold *f, const struct bsa_exec *x);

/* Find the services that hang until the end of their recording, and report those that are silent. */
void bsa_voices_finish(struct bsa_fold *f);

/*
 * At the end: the time up to which the lanes of @instance are recorded. This is now if the service was never
 * heard, or if events were lost since, because lost events might concern later times.
 */
uint64_t bsa_voice_ended(const struct bsa_fold *f, unsigned instance);

#endif
