/*
 * users.h -- which events of a clock group are their emitter's to tell: an app must not write the audit of another one.
 *
 * WHAT IS KNOWN    LTTng keeps the buffers of each user apart, by the uid that the kernel gives for the process that registers
 *                  (SO_PEERCRED), and writes that uid into the metadata (tracer_buffering_id). What a process says of itself in an
 *                  event or in a context proves nothing. So all that is certain of an event is the uid of its trace; nothing is of
 *                  traces with other buffers, or that other programs wrote.
 * SERVICE          One uid is the service's: the one that the caller names, or else root, if root's trace has an event of a service, or
 *                  else the first that has a service_state, or else the first that has another event of a service. It is proven if it
 *                  is named, or root has a service_state, or nobody else has any. Which it is may turn out late: then users_decided
 *                  answers another uid than was assumed, and the records are to be told again.
 * CLIENTS          An event of a client counts if the service announced its connection for the uid of its trace: client_connect has
 *                  the uid, stream_open and model_prepare the connection, and the number of an execution the stream. What is not announced
 *                  may be anybody's until the service has told its state and, for 20 ms, of all that it has; and, once something
 *                  was lost, for good. A user of whom such an event counted, and which the service then announces for another one, is a
 *                  forger: the records are to be told again, and then of it only what is announced counts.
 * ON ITS OWN       A process that has bursts without a service tells of itself as its own client, with an instance number of its own.
 *                  It may tell anything of executions with that number, until the service has the same; but nothing that cannot be, or
 *                  that names a connection, a model or an execution of another instance.
 *
 * Where all traces have one uid, or none, every event counts: among processes of one user nothing can be proven.
 * One thread. Memory is bounded by the connections and streams that are open, and some that are not.
 */
#ifndef BSA_USERS_H
#define BSA_USERS_H

#include <stdbool.h>
#include <stdint.h>

#include "fold/event.h"

#define USERS_UNKNOWN UINT32_MAX

#define USERS_ALL (UINT32_MAX - 1)

struct users;

/* @service: the uid that is named, or USERS_UNKNOWN. NULL: no memory. */
struct users *users_new(uint32_t service);

/* NULL is fine. Returns NULL. */
struct users *users_free(struct users *u);

/* Trace @number, of the events, is of this user: before the first event. 0 or -ENOMEM. */
int users_trace(struct users *u, uint32_t number, uint32_t uid);

/* Of this user only what is announced counts: users_decided said so of an earlier go. Before the first event. */
void users_distrust(struct users *u, uint32_t uid);

/* What users_decided says is not asked for after this go. Before the first event. */
void users_last_go(struct users *u);

/* The next record, in the order of time. 1: it counts; 0: who emitted it is not who it says; -ENOMEM. */
int users_event(struct users *u, const struct bsa_event *e);

/* May users_decided want the records again? */
bool users_undecided(const struct users *u);

enum { USERS_FORGERS = 8 };

/* After the last record. */
struct users_decided {
	uint32_t
		service; /* the uid; USERS_UNKNOWN: there is no service, or all traces are of one user, or of unknown ones */
	uint32_t rival; /* another uid that says so with as much right; USERS_UNKNOWN: none */
	uint32_t forgers
		[USERS_FORGERS]; /* USERS_UNKNOWN: no more; USERS_ALL: more than there is room for, so any may be one */
	bool again; /* records counted, or did not, that should not have, or should: tell them again with @service named */
};
struct users_decided users_decided(const struct users *u);

#endif
