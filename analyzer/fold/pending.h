/*
 * pending.h -- possible losses, until neighbouring events decide about them.
 *
 * The decoder sees in the packets' headers that a stream has no data for some time. Such a time hides something:
 *
 *   HEAD  if an event of any stream came before its end. Otherwise the recording begins with it, and nothing is before.
 *         If its packets are known to be lost, and not overwritten in a ring, the loss is certain.
 *   TAIL  if an event of its trace comes after its beginning. Otherwise all streams end there. If the
 *         recording is known to go on, the loss is certain.
 *   GAP   if the session was stopped in it. After a session begins, a service emits its existing objects again
 *         (docs/events.md, rule 5) before it reads another request, or a client connects or leaves. So repeated
 *         events mean a stop, and such an event without them means that the session went on. But for a while after
 *         `lttng start` such an event proves nothing: LTTng activates a session first, and tells the process of it
 *         afterwards, by a thread that may have no cpu in between; and a thread of the service may have looked for
 *         new sessions just before. So the event counts if the service was heard at least BSA_PENDING_SETTLES before
 *         it, and since the gap (a summary: before it read its request), and was there before the gap. Until one of
 *         the two is seen, the records after the gap are held back. A gap before the first event hides nothing. At
 *         the end any such event counts: before LTTng stops a session, it tells the process that it began. And in a
 *         recording that goes on any counts at once, whichever service it is of: one that has nothing to do, or a
 *         session that is stopped, may bring no other for ever, and figures cannot wait. An import of the same is
 *         not so quick. With neither, at the end or after KEPT_MAX bytes, a gap is a hole if there is a service
 *         whose lanes it could hide, unless a rotation accounts for it.
 *
 * All other losses are certain. A time that hides nothing is dropped, and not reported.
 */
#ifndef BSA_FOLD_PENDING_H
#define BSA_FOLD_PENDING_H

#include "fold/event.h"
#include "fold/voices.h"

#include <stdbool.h>
#include <stddef.h>

struct bsa_fold;

/*
 * In nanoseconds: how long LTTng's thread in a service, or a thread that takes a request, may have no cpu. LTTng itself
 * gives up a process that does not answer for 5 s.
 */
#define BSA_PENDING_SETTLES UINT64_C(250000000)

/* The first event of a service after gap number @gap, the latest one at that time. */
struct bsa_spoken {
	uint64_t gap; /* 0: no gap came before */
	uint64_t at;
};

/* When a service was heard after the gaps held back. */
struct bsa_heard {
	struct bsa_spoken first; /* after a gap that it may prove to be no stop */
	struct bsa_spoken last;
	uint64_t new_since; /* number of the gap after which it was first heard, though others were before; else 0 */
};

struct bsa_pending_loss {
	struct bsa_event event;
	struct bsa_loss loss;
};

/* All zeroes is empty; free it with fini. */
struct bsa_pending {
	struct bsa_pending_loss *losses; /* heads and tails. Owned */
	size_t n, room;
	char *kept; /* records since a gap, with the gap's record first. Owned */
	size_t kept_bytes, kept_room;
	uint64_t n_gaps;      /* number of gaps ever held back: gaps are numbered from 1 */
	uint64_t n_gaps_kept; /* number of the last one */
	struct bsa_heard heard[BSA_INSTANCES];
	uint64_t asked; /* number of the last gap after which a service took a request without repeated events */
	bool served;    /* a service was seen */
};

void bsa_pending_fini(struct bsa_pending *p);

/* Whether @e repeats an existing object because a session began (docs/events.md, rule 5). */
bool bsa_event_is_repeated(const struct bsa_event *e);

/* Check a record before it is processed. True: it is held back, or the fold has failed; false: process it now. */
bool bsa_pending_take(struct bsa_fold *f, const struct bsa_event *e);

/* Whether a loss is still to be judged, or a record is held back. */
bool bsa_pending_any(const struct bsa_pending *p);

/* End of the records. */
void bsa_pending_finish(struct bsa_fold *f);

/* In fold.c: process a record; a loss in it is certain. */
void bsa_fold_take(struct bsa_fold *f, const struct bsa_event *e);

#endif
