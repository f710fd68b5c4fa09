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
 * Have one: liblttng-ctl says which of root's and the user's it is. One that is started ends with us, whatever ends us. It is in
 * a session of its own, which Ctrl-C does not reach. @kernel: one that is started loads the kernel tracer, if it can. BSA_E_ENV: none can be had.
 */
int bsv_daemon_open(struct bsv_daemon *ret, const struct bsv_lttng *lttng, bool kernel, struct bsa_err *err);

/* Is one there? */
bool bsv_daemon_alive(struct bsv_daemon *d, const struct bsv_lttng *lttng);

/* Our own is stopped, and waited for. All 0 is fine. */
void bsv_daemon_close(struct bsv_daemon *d);

#endif
