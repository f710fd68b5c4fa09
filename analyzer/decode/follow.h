/*
 * follow.h -- traces that are still being recorded: records of what has reached the files, in the order of time.
 *
 * WHAT LTTNG WRITES (measured with LTTng 2.13: a local session, a switch timer, tracefiles of a size and a count)
 *
 *   Packets      The switch timer ends the packet of each cpu that has events. The consumer daemon writes the whole
 *                packet, then its row of the index. A cpu without events gets no packet: its file stays as it is, for
 *                ever if need be.
 *   Metadata     Stays in memory until the session stops, unless the session has a channel named `metadata` with a
 *                switch timer. Even then an event may be in a file before the metadata describes it.
 *   Tracefiles   CHANNEL_CPU_0, _1, ... up to the count; then _0 is written anew.
 *
 * PACKETS   The file's size and the packet's header decide. A packet is read once the file has all of the
 *           bytes that the header announces. The index is not read.
 * TIME      A record is handed out when no earlier one can come: each stream has a packet that ends later, or
 *           @settle_ns have passed since. The second is an assumption: that the timer and the consumer daemon
 *           take no longer. Where it fails, a record comes late, behind one of a later time, and is counted.
 *           Who needs exact figures then reads the files again, once they are complete (decode.h).
 * UNSEEN    Times without a packet of any stream, and packets that are missing before the first one of a
 *           stream, come as losses as unseen.h has them; what only the end of a recording shows (its tails)
 *           does not. The proof that the session was not stopped in a gap (stop.h) may need a packet that is not
 *           written yet. Then a stream that has no packet since the event counts as the proof, because TIME assumes
 *           that the consumer daemon would have written one. Such a stream proves nothing in per-process buffers,
 *           in a rotated session, beside another session, or if its cpu has no packet at all: there the follower
 *           reports a gap that an import may not find. If the consumer daemon gave up a stream, as on a full disk,
 *           the follower may take a stop for a lull until the recording ends.
 * UNREAD    From where a stream cannot be read on, its time is lost until another file of it can be read, a second
 *           with each loss, so that the loss comes before the records beside it.
 * TRUST     Files may shrink, be replaced, or hold anything. A stream whose packets contradict themselves
 *           goes on with its next file; what was skipped shows as lost packets, by their numbers. Of links
 *           only those to directories are not followed.
 *
 * One thread. Memory: a window for each stream.
 */
#ifndef BSA_DECODE_FOLLOW_H
#define BSA_DECODE_FOLLOW_H

#include "decode.h"

struct bsa_follow;

struct bsa_follow_options {
	const char *directory; /* the session's; it may be empty, or not be there yet. Copied */
	uint64_t settle_ns;
};

/* 0 and *ret owned by the caller; BSA_E_ENV. */
int bsa_follow_open(struct bsa_follow **ret, const struct bsa_follow_options *options, struct bsa_err *err);
struct bsa_follow *bsa_follow_free(struct bsa_follow *f); /* NULL is fine; returns NULL */

/*
 * See what has grown. @now: in ns of the traces' clock (LTTng's: CLOCK_MONOTONIC). BSA_NEVER: the recording
 * is over and all of it is in files, so everything can be handed out. 0; BSA_E_ENV.
 */
int bsa_follow_look(struct bsa_follow *f, uint64_t now, struct bsa_err *err);

/* The next record, borrowed until the next call. 1; 0: look again first; BSA_E_ENV. */
int bsa_follow_next(struct bsa_follow *f, const struct bsa_event **ret, struct bsa_err *err);

/* All records before this time have been handed out, once bsa_follow_next has answered 0. */
uint64_t bsa_follow_until(const struct bsa_follow *f);

/*
 * Returns a descriptor that becomes readable when the recording grows; -1: inotify is not available. The
 * descriptor is a hint only: inotify misses growth if there are too many watches, or if another host writes
 * to the file system. Then only a look shows what has grown.
 */
int bsa_follow_changes(const struct bsa_follow *f);

/*
 * When a look can hand out the first record that waits for other streams, though none of them grows.
 * BSA_NEVER: no record waits.
 */
uint64_t bsa_follow_settles(const struct bsa_follow *f);

/* As of decode.h. NULL: no more; more may come with a look. Borrowed until the next look. */
const struct bsa_trace *bsa_follow_trace(const struct bsa_follow *f, size_t i);
struct bsa_decoded bsa_follow_decoded(const struct bsa_follow *f, size_t i);

struct bsa_followed {
	uint64_t late;    /* records that came after others of a later time */
	uint64_t late_ns; /* the most that one of them was late by */
	uint64_t broken;  /* files that were given up before their end, at a packet's header or within a packet */
	/* files that shrank or were replaced before they were read to their end: packets were overwritten */
	uint64_t lost_hold;
	uint64_t bytes; /* read */
	/* files with packets that cannot be read yet, because LTTng holds their metadata back in memory */
	uint64_t unread;
	size_t streams;
};
struct bsa_followed bsa_follow_followed(const struct bsa_follow *f);

#endif
