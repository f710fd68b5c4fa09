/*
 * keeper.h -- the session daemon that one burstscope started serves all of them, and ends after the last one of them.
 *
 * All of one user share a file beside the daemon's sockets. Each of them has a lock on it for as
 * long as it uses the daemon. A process of its own, the keeper, waits until no process has such a
 * lock, and then ends the daemon, unless another program has a session or a trigger there. A daemon
 * that does not report whose sessions there are is asked again, and is ended if it never does.
 * While the daemon is used, the keeper ends the sessions of a burstscope that was killed: they
 * would write until the disk is full.
 */
#ifndef BSV_KEEPER_H
#define BSV_KEEPER_H

#include "record/control.h"

#include <limits.h>
#include <stdbool.h>

/* How long the consumer daemons of a session daemon that ends may take to end, once everything is in files. */
enum { BSV_CONSUMERS_END_MS = 2000 };

/* The directory where a session daemon of this user has its sockets. False: the user has no home. */
bool bsv_keeper_directory(char ret[PATH_MAX]);

/*
 * Share the daemon: while the descriptor is open, no keeper ends it. Waits while a keeper ends one.
 * Negative: there is no such file of this user, and none can be made, e.g. because the directory
 * belongs to root. The caller gives it to bsv_keeper_leave.
 */
int bsv_keeper_share(void);

/* One process at a time starts a daemon. */
void bsv_keeper_begin_start(int fd);
void bsv_keeper_end_start(int fd);

/*
 * Note this process, which becomes the daemon, as the one to be ended. 0; 1: one that was noted
 * before still runs; -errno: the file cannot be written.
 */
int bsv_keeper_note(int fd);

/* Is there a daemon that a burstscope started? Then see that it has a keeper: one that was killed is replaced. */
bool bsv_keeper_look(int fd, const struct bsv_lttng *lttng);

/* Begin a keeper. Without one, the next burstscope begins it. */
void bsv_keeper_begin(int fd, const struct bsv_lttng *lttng);

/*
 * End the sessions, and remove the triggers, of each burstscope of this pid namespace that has
 * ended. Returns how many sessions there were.
 */
unsigned bsv_keeper_sweep(const struct bsv_lttng *lttng);

/*
 * Stop using the daemon, and close @fd. If no other process uses a daemon that a burstscope
 * started, wait for its end.
 */
void bsv_keeper_leave(int fd, const struct bsv_lttng *lttng);

#endif
