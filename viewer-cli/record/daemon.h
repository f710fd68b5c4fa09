/*
 * daemon.h -- the session daemon that recordings need: the one that runs, or one of our own.
 */
#ifndef BSV_DAEMON_H
#define BSV_DAEMON_H

#include "record/control.h"

#include <stdbool.h>
#include <sys/types.h>

/* All 0: none of our own. */
struct bsv_daemon {
	pid_t pid;  /* process of our own daemon; 0: the daemon was running already */
	int output; /* output of our own daemon; -1: none */
};

/*
 * Use the running session daemon (liblttng-ctl chooses root's or the user's), or start one. A daemon started here ends with this process, whatever ends
 * it. It is in a session of its own, which Ctrl-C does not reach. @kernel: a daemon started here loads the kernel tracer, if it can. BSA_E_ENV: no
 * session daemon runs, and none can be started.
 */
int bsv_daemon_open(struct bsv_daemon *ret, const struct bsv_lttng *lttng, bool kernel, struct bsa_err *err);

/* Is one there? */
bool bsv_daemon_alive(struct bsv_daemon *d, const struct bsv_lttng *lttng);

/* Our own is stopped, and waited for. All 0 is fine. */
void bsv_daemon_close(struct bsv_daemon *d);

#endif
