/*
 * voices.h -- when each service was last heard.
 *
 * `lttng stop` and `lttng start` reach one process after another, so a service may not be recorded for some time in which its
 * clients are, without any gap between packets. What lanes and waits are is known from events of the service alone:
 *
 *   before a stop   until its last event; the hole begins there
 *   after a start   from its first event; the hole ends there
 *   at the end      until its last event; its waits and lanes are told up to there, as those of a recording that ends there
 *
 * Where lanes are known from summaries alone, that holds of a silence that is shorter than the fold's horizon.
 */
#ifndef BSA_FOLD_VOICES_H
#define BSA_FOLD_VOICES_H

#include "fold/event.h"

#include <stdbool.h>

struct bsa_fold;

enum { BSA_INSTANCES = 4096, BSA_NO_INSTANCE = BSA_INSTANCES };

struct bsa_voices {
	uint64_t heard[BSA_INSTANCES]; /* the time of the latest event; 0: none */
	unsigned n_heard;              /* services */
	uint64_t gap_began;            /* of the latest stop, as packets tell it; 0: there was none */
	uint64_t gap_ended;            /* when a service was heard again, or less 1 ns */
};

/* The instance of the service that emitted @e; BSA_NO_INSTANCE: a client did, or may have. */
unsigned bsa_voice_of(const struct bsa_event *e);

/* Service @instance emitted the event in hand, @e. */
void bsa_voices_hear(struct bsa_fold *f, unsigned instance, const struct bsa_event *e);

/* A stop at @at, as packets tell it: the earliest time from which on a service that has clients may not be recorded. */
uint64_t bsa_voices_until(const struct bsa_fold *f, uint64_t at);

/*
 * The recording is over: until when it tells of the lanes of @instance. That is now if the service was never heard, or if events
 * were lost since: then there may be later times of which it would have told.
 */
uint64_t bsa_voice_ended(const struct bsa_fold *f, unsigned instance);

#endif
