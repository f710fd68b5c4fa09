/*
 * remote.h -- the records of a session that another host records, in the order of time, while a relay daemon
 * of LTTng passes them on: follow.h for what is not in files of this machine.
 *
 * READING   A thread of its own runs libbabeltrace2's src.ctf.lttng-live, which waits for the relay in system
 *           calls; so a relay that does not answer stops nothing here: the time until which all is known
 *           stands still.
 * TIME      The source hands out the messages of all streams in order of time. A record is handed out once a
 *           later message has come, so no record is late.
 * BEGIN     The source reads a session from its last packets on. If the session had streams before, some
 *           events were missed (missed).
 * END       The relay drops streams that the source did not know when the session ended. Where the source was
 *           slow to ask, or knew no stream, events may have been missed.
 * UNSEEN    Times without a packet of any stream are losses, as in follow.h. Messages do not have the numbers
 *           of packets, so packets missing before the first one of a stream do not show; and nothing proves that the
 *           session was not stopped (stop.h), so each such time is a loss, even a lull after the switch timer.
 * LOST      If the relay goes, the thread asks for the same session again each second. The time in between is a loss,
 *           as soon as the relay has gone.
 * TRUST     The relay, and what it sends, may be anything; libbabeltrace2 decodes it.
 *
 * Only one thread may call these functions.
 */
#ifndef BSA_DECODE_REMOTE_H
#define BSA_DECODE_REMOTE_H

#include "follow.h"

struct bsa_remote;

enum bsa_remote_state {
	BSA_REMOTE_CONNECTING, /* the relay has not answered yet */
	BSA_REMOTE_READING,
	BSA_REMOTE_LOST,  /* the relay has gone */
	BSA_REMOTE_ENDED, /* the session is over, and all of it was read */
	BSA_REMOTE_FAILED /* bsa_remote_look returns the reason */
};

/* @url as relay.h has it. Does not wait for the relay. 0 and *ret owned by the caller; BSA_E_ENV. */
int bsa_remote_open(struct bsa_remote **ret, const char *url, struct bsa_err *err);
struct bsa_remote *bsa_remote_free(struct bsa_remote *r); /* NULL is fine; returns NULL. Does not wait for the relay */

/*
 * See what has come. @all: all that has come may be handed out, whatever may still come. 0; BSA_E_ENV: it
 * cannot be read.
 */
int bsa_remote_look(struct bsa_remote *r, bool all, struct bsa_err *err);

/* The next record, borrowed until the next call. 1; 0: look again first. */
int bsa_remote_next(struct bsa_remote *r, const struct bsa_event **ret);

/* As in follow.h. */
uint64_t bsa_remote_until(const struct bsa_remote *r);
const struct bsa_trace *bsa_remote_trace(struct bsa_remote *r, size_t i);
struct bsa_decoded bsa_remote_decoded(struct bsa_remote *r, size_t i);
struct bsa_followed bsa_remote_followed(const struct bsa_remote *r);

enum bsa_remote_state bsa_remote_state(const struct bsa_remote *r);

/* Events were missed at the begin, or while the relay was gone, or perhaps at the end. */
bool bsa_remote_missed(const struct bsa_remote *r);

/*
 * How far the clock of the host's traces is ahead of CLOCK_MONOTONIC here, in ns: 0 for a host of this boot;
 * otherwise by the wall clocks of both hosts. False: not known, because nothing has come yet.
 */
bool bsa_remote_lead(struct bsa_remote *r, int64_t *ret);

/* "session NAME of host HOST", or "" before the relay has answered. @ret ends with 0. */
void bsa_remote_name(struct bsa_remote *r, char *ret, size_t size);

#endif
