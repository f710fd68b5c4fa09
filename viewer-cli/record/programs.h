/*
 * programs.h -- the programs that run already: those that have the provider of events loaded, which
 * have to meet the session daemon first, and the consumer daemons, which write traces for session
 * daemons.
 */
#ifndef BSV_PROGRAMS_H
#define BSV_PROGRAMS_H

#include "record/control.h"

#include <stdbool.h>
#include <sys/types.h>

enum { BSV_PROGRAMS_MOST = 256 };

struct bsv_program {
	pid_t pid;
	char name[32]; /* the name that the program gave itself, printable */
};

/* Those that see the same files as we do, and that we may look at. */
unsigned bsv_programs_find(struct bsv_program ret[BSV_PROGRAMS_MOST]);

/* Is there no process @pid, or only what its parent has not waited for yet? */
bool bsv_program_has_ended(pid_t pid);

/* Those of them that are stopped (by SIGSTOP or a debugger), and so answer no request. */
unsigned bsv_programs_stopped(struct bsv_program ret[BSV_PROGRAMS_MOST]);

/* Put those that the daemon has not met to the front. Returns how many they are. */
unsigned bsv_programs_unmet(struct bsv_program *programs, unsigned n, const struct bsv_lttng *lttng);

/* Find a service (nnburstd) of another user, whose memory this user may not read. False: no such service runs. */
bool bsv_programs_of_others(struct bsv_program *ret);

/* Is @pid one that the daemon has met? */
bool bsv_program_is_met(const struct bsv_lttng *lttng, pid_t pid);

/* Does a consumer daemon of this user run that has its sockets in @directory, or below it? */
bool bsv_programs_consume(const char *directory);

/*
 * Kill the consumer daemons of the process @session_daemon. The caller has asked it to end, and
 * everything that it recorded is in files.
 */
void bsv_programs_end_consumers(pid_t session_daemon);

#endif
