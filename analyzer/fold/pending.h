/*
 * pending.h -- times that may not have been seen, until the events beside them tell.
 *
 * The decoder knows from the packets' headers that a stream has nothing for some time. Whether that hides anything:
 *
 *   HEAD  if an event of any stream came before its end. Otherwise the recording begins with it, and nothing is before.
 *   TAIL  if an event of its trace comes after its beginning. Otherwise all streams end there. If it is known that the
 *         recording went on, it is certain.
 *   GAP   if the session was stopped in it. A service that has a new listener tells again what there is (docs/events.md,
 *         rule 5) before it takes another request, or a client connects or leaves. So what is told again means a stop, and
 *         such an event without it means that the session went on. `lttng start` reaches a service later than its clients:
 *         a summary shows only that its service took a request, and that counts if the service has emitted an event between
 *         the gap and that request. Until one of the two is seen the records after the gap are kept back. A gap before the
 *         first event hides nothing. With neither, at the end or after KEPT_MAX bytes, a gap is a hole if there is a service
 *         whose lanes it could hide, unless a rotation accounts for it.
 *
 * All other losses are certain. What hides nothing is dropped: no fact is told of it.
 */
#ifndef BSA_FOLD_PENDING_H
#define BSA_FOLD_PENDING_H

#include "fold/event.h"
#include "fold/voices.h"

#include <stdbool.h>
#include <stddef.h>

struct bsa_fold;

/* The first event of a service since gap number @gap, which was the latest then. */
struct bsa_spoken {
	uint64_t gap; /* 0: none */
	uint64_t at;
};

struct bsa_pending_loss {
	struct bsa_event event;
	struct bsa_loss loss;
};

/* Zero it; fini frees what it holds. */
struct bsa_pending {
	struct bsa_pending_loss *losses; /* heads and tails. Owned */
	size_t n, room;
	char *kept; /* records since a gap, the gap's first. Owned */
	size_t kept_bytes, kept_room;
	uint64_t n_gaps;                            /* that were ever kept back: gaps are numbered from 1 */
	uint64_t n_gaps_kept;                       /* the last of them */
	struct bsa_spoken spoken[BSA_INSTANCES][2]; /* the latest, and the one before */
	bool served;                                /* a service was seen */
};

void bsa_pending_fini(struct bsa_pending *p);

/* A service with a new listener tells again what was there before (docs/events.md, rule 5). */
bool bsa_event_is_told_again(const struct bsa_event *e);

/* A record, before anything is made of it. True: it is kept back, or the fold has failed; false: it is to be taken now. */
bool bsa_pending_take(struct bsa_fold *f, const struct bsa_event *e);

/* There are no more records. */
void bsa_pending_finish(struct bsa_fold *f);

/* fold.c's: take a record; a loss is certain. */
void bsa_fold_take(struct bsa_fold *f, const struct bsa_event *e);

#endif
