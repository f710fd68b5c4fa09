/*
 * scope.h -- the part that is recorded of all that LTTng could record: the executions of one app,
 * of one process, of one service.
 *
 * TWO PLACES  LTTng filters by the fields of an event itself: who emitted it (a pid, a uid). The
 *             service's events about all apps are recorded, because lanes and waits cannot be
 *             explained without them: the executions of other apps are left out when the recording
 *             is read (input/input.c). So are executions that only a name selects, because names
 *             are in the service's events alone.
 */
#ifndef BSV_SCOPE_H
#define BSV_SCOPE_H

#include "bsa/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { BSV_SCOPE_NAME = 64, BSV_SCOPE_FILTER = 256, BSV_SCOPE_SIDED = 7, BSV_SCOPE_TEXT = 512, BSV_SCOPE_EVENT = 48 };

/* All 0: everything is recorded. */
struct bsv_scope {
	char app[BSV_SCOPE_NAME]; /* "": any; digits: a uid, otherwise a name */
	uint32_t pid;             /* pid of an app; 0: any */
	uint32_t pid_uid;         /* the user of that process when it was asked for; UINT32_MAX: unknown */
	uint32_t service;         /* pid of the service; 0: any */
};

/* Rows of tables of options: of struct @of, in which they are called service, app (texts) and pid (unsigned). */
#define BSV_OPTIONS_SCOPE(of)                                                                                        \
	{ .name = "service",                                                                                         \
	  .kind = BSV_TEXT,                                                                                          \
	  .argument = "SOCKET",                                                                                      \
	  .says = "only the service that listens on this socket, and its apps",                                      \
	  .offset = offsetof(of, service) },                                                                         \
		{ .name = "app",                                                                                     \
		  .kind = BSV_TEXT,                                                                                  \
		  .argument = "NAME|UID",                                                                            \
		  .says = "only the executions of this app",                                                         \
		  .offset = offsetof(of, app) },                                                                     \
	{                                                                                                            \
		.name = "pid", .kind = BSV_NUMBER, .argument = "PID", .says = "only the executions of this process", \
		.offset = offsetof(of, pid), .least = 1, .most = 4194304                                             \
	}

/*
 * The scope that was asked for; NULL and 0: everything. Connects to @service to see which service
 * listens. BSA_E_USAGE; BSA_E_ENV: no service listens there.
 */
int bsv_scope_read(struct bsv_scope *ret, const char *service, const char *app, unsigned pid, struct bsa_err *err);

bool bsv_scope_is_set(const struct bsv_scope *s);

/* Whether the process @pid may emit events that are recorded, as far as its pid tells. */
bool bsv_scope_has_process(const struct bsv_scope *s, pid_t pid, bool is_service);

/*
 * Was there no process with the pid that was asked for? It may be one of another host, or a number
 * in a container, so that this is no error.
 */
bool bsv_scope_is_of_nobody(const struct bsv_scope *s);

/* "app=camera pid=77", as it was asked for; in @to, which is returned. */
const char *bsv_scope_text(const struct bsv_scope *s, char to[BSV_SCOPE_TEXT]);

/* A sentence with what LTTng does not record, and what is left out later. */
const char *bsv_scope_describe(const struct bsv_scope *s, char to[BSV_SCOPE_TEXT]);

/*
 * The filter of LTTng for event @name, "nnburst:exec_client", or "nnburst:*", which stands for all
 * that only services emit; and with @also, if it is not NULL. False: that event needs no filter, and
 * *to is "".
 */
bool bsv_scope_filter(const struct bsv_scope *s, const char *name, const char *also, char to[BSV_SCOPE_FILTER]);

/*
 * Is an app meant, as far as its name, the service's number of it, and its user show? @key and @uid
 * UINT32_MAX: unknown. Where a service takes all processes of a user for one app, that app is meant
 * by the pid of one of them.
 */
bool bsv_scope_means(const struct bsv_scope *s, const char *app, uint32_t key, uint32_t uid);

/*
 * The events that clients emit, too, each of which has a filter of its own: bsv_scope_sided(0) to
 * BSV_SCOPE_SIDED - 1. Borrowed for good.
 */
const char *bsv_scope_sided(size_t i);

#endif
