/*
 * daemon.h -- the session daemon that recordings need: the one that runs, or one of our own.
 */
#ifndef BSV_DAEMON_H
#define BSV_DAEMON_H

#include "record/control.h"

#include <stdbool.h>
#include <sys/types.h>

/* All 0: not open. */
struct bsv_daemon {
	const struct bsv_lttng *lttng; /* NULL: not open */
	pid_t pid;                     /* the daemon that was started here; 0: a daemon was running already */
	int output;                    /* its output; -1: none */
	int shared;                    /* as bsv_keeper_share */
};

/*
 * Use the running session daemon (liblttng-ctl chooses root's or the user's), or start one. A
 * daemon that a burstscope started ends with the last burstscope that uses it, whatever ends that;
 * but not while another program has a session or a trigger there (keeper.h). It is in a session of
 * its own, which Ctrl-C does not reach. @kernel: a daemon started here loads the kernel tracer, if
 * it can. BSA_E_ENV: no session daemon runs, and none can be started.
 */
int bsv_daemon_open(struct bsv_daemon *ret, const struct bsv_lttng *lttng, bool kernel, struct bsa_err *err);

/* Is one there? */
bool bsv_daemon_alive(struct bsv_daemon *d, const struct bsv_lttng *lttng);

/* Use it no longer. If it ends with that, wait for its end. All 0 is fine. */
void bsv_daemon_close(struct bsv_daemon *d);

#endif
