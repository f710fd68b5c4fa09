/*
 * scratch.h -- directories that are not kept: of probes, and of recordings that are read while they
 * grow. They may lie in memory.
 *
 * CRASH  Such a directory outlives a process that is killed. So its name contains the process id,
 *        the start time of that process and its pid namespace: bsv_scratch_sweep removes those
 *        whose processes have ended.
 */
#ifndef BSV_SCRATCH_H
#define BSV_SCRATCH_H

#include <limits.h>
#include <stdbool.h>
#include <sys/types.h>

/* When process @pid began, in ticks since the boot; 0: there is no such process. */
unsigned long long bsv_process_began(long pid);

/*
 * Does process @pid, which began then, run still? One that has ended does not, even if its parent
 * has not waited for it.
 */
bool bsv_process_runs(long pid, unsigned long long began);

/* Process ids mean something in one namespace only, and places are shared between them. 0: unknown. */
unsigned long long bsv_pid_namespace(void);

/*
 * Make a directory of a name of its own in @place. False: it cannot be made. The caller removes it
 * (bsv_remove_tree).
 */
bool bsv_scratch_make(const char *place, char ret[PATH_MAX]);

/* The places where ours may be: index 0 and up, until NULL. Borrowed until the environment changes. */
const char *bsv_scratch_place(unsigned index);

/* Is @path a directory of this user's with a name that bsv_scratch_make gives? */
bool bsv_scratch_is_own(const char *path);

/* Remove those of this user that processes of this pid namespace left, in all places. Returns how many there were. */
unsigned bsv_scratch_sweep(void);

#endif
