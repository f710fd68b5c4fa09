/*
 * users.h -- decides which events of a clock group count: an app must not write the audit of another app.
 *
 * WHAT IS KNOWN    LTTng keeps the buffers of each user apart, by the uid that the kernel reports for the
 *                  process that registers (SO_PEERCRED), and writes that uid into the metadata
 *                  (tracer_buffering_id). The contents of an event or a context prove nothing about its
 *                  process. So the only certain fact about an event is the uid of its trace. A trace with
 *                  other buffers, or of another program, has no such uid.
 * SERVICE          One uid is the service's: the one that the caller names; or else root, if root's trace has
 *                  an event of a service; or else the first with a service_state; or else the first with
 *                  another event of a service. It is proven if it is named, or root has a service_state, or
 *                  no other user has any. The decision may come late: then bsa_users_decided returns another
 *                  uid than was assumed, and the caller has to read the records again.
 * CLIENTS          An event of a client counts if the service announced its connection for the uid of its
 *                  trace: client_connect has the uid, stream_open and model_prepare have the connection, and
 *                  the number of an execution has the stream. An object without an announcement may belong to
 *                  any user until the service has emitted its state and, for 20 ms, all of its objects; and,
 *                  once events were lost, for good. If such an event counted, and the service then announces
 *                  the object for another user, the first user is a forger: the caller has to read the
 *                  records again, and then only announced objects of that user count.
 * ON ITS OWN       A process that has bursts without a service is its own client, with an instance number of
 *                  its own. All its events of executions with that number count, until the service has the
 *                  same number; but no absurd ones, and none that names a connection, a model or an execution
 *                  of another instance.
 *
 * If all traces have one uid, or none, every event counts: among processes of one user nothing can be proven.
 * One thread. Memory is bounded by the connections and streams that are open, and a limited number of others.
 */
#ifndef BSA_USERS_H
#define BSA_USERS_H

#include <stdbool.h>
#include <stdint.h>

#include "fold/event.h"

#define USERS_UNKNOWN UINT32_MAX

#define USERS_ALL (UINT32_MAX - 1)

struct bsa_users;

/* @service: the uid that is named, or USERS_UNKNOWN. NULL: no memory. */
struct bsa_users *bsa_users_new(uint32_t service);

/* NULL is fine. Returns NULL. */
struct bsa_users *bsa_users_free(struct bsa_users *u);

/* The trace with that number belongs to this user. Before the first event. 0 or -ENOMEM. */
int bsa_users_trace(struct bsa_users *u, uint32_t number, uint32_t uid);

/* An earlier pass found that this user is a forger: only announced objects of it count. Before the first event. */
void bsa_users_distrust(struct bsa_users *u, uint32_t uid);

/* There is no further pass, whatever bsa_users_decided returns. Before the first event. */
void bsa_users_last_go(struct bsa_users *u);

/*
 * The next record, in the order of time. 1: it counts; 0: it does not, because its user is not the one that
 * it names; -ENOMEM.
 */
int bsa_users_event(struct bsa_users *u, const struct bsa_event *e);

/* Whether bsa_users_decided may require another pass. */
bool bsa_users_undecided(const struct bsa_users *u);

enum { USERS_FORGERS = 8 };

/* After the last record. */
struct bsa_users_decided {
	/* its uid; USERS_UNKNOWN if there is no service, or if all traces are of one user, or of unknown
	 * ones */
	uint32_t service;
	uint32_t rival; /* another uid with the same claim; USERS_UNKNOWN if there is none */
	uint32_t forgers
		[USERS_FORGERS]; /* USERS_UNKNOWN: no more; USERS_ALL: more than there is room for, so any may be one */
	bool again;              /* the wrong records counted: read them again, with @service named */
};
struct bsa_users_decided bsa_users_decided(const struct bsa_users *u);

#endif
