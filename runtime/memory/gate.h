/*
 * gate.h -- bounds how long the files of one app can make the other apps of a service wait.
 *
 * To map or unmap a file, the kernel waits for a lock of the file while it holds the lock on the process's memory map,
 * and every other thread that maps or unmaps anything waits, too. The owner of a file can hold its lock for seconds
 * (docs/security.md). A gate stands before every mmap and munmap of the files of one app. While one of them is slow,
 * another process tries the same file; if that finds the file's lock held, that process tries each one that follows.
 */
#ifndef NNB_MEMORY_GATE_H
#define NNB_MEMORY_GATE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "memory/suspicion.h"

struct nnb__gate;

/* Why a request that has files mapped is RESOURCE_EXHAUSTED_TRANSIENT. */
#define NNB__GATE_REASON \
	"the app's files are not mapped now: the lock of one of them was held for long while the service mapped it"

/*
 * Begin to use gates, after nnb__errands_begin. Call this before any gate is used; only the first call has an effect.
 * 0 or -errno.
 */
int nnb__gates_begin(void);

/*
 * From now on nothing of a gate is unmapped, and nothing waits at one: the process is about to exit, and the kernel
 * unmaps what is left. Wait until the reaper has given back all charges, or until @until_ns of nnb__now. False: it has
 * not, and still uses keepers.
 */
bool nnb__gates_leave(uint64_t until_ns);

/* The number of mappings that are behind gates. */
uint64_t nnb__gates_mapped(void);

/*
 * Who charges an app for a mapping that is unmapped later: hold is called before its user gives back what the mapping
 * was charged as, release when it is unmapped. @files: file descriptors, and mappings. Both may take locks.
 */
struct nnb__gate_keeper {
	void (*hold)(void *app, uint32_t files, uint64_t bytes);
	void (*release)(void *app, uint32_t files, uint64_t bytes);
};

/*
 * The gate of app @key. The caller owns a reference. @keeper, @app: valid while mappings are held; NULL: no charges.
 * NULL: no gates are used, or no memory.
 */
struct nnb__gate *nnb__gate_of(uint32_t key, const struct nnb__gate_keeper *keeper, void *app);
struct nnb__gate *nnb__gate_ref(struct nnb__gate *gate);   /* NULL is fine */
struct nnb__gate *nnb__gate_unref(struct nnb__gate *gate); /* NULL is fine. Returns NULL. */

/*
 * What this thread maps from now on is behind @gate, borrowed until the next call or the thread's end; NULL: none. The
 * thread does not wait there once *gone is set (NULL: never).
 */
void nnb__gate_enter(struct nnb__gate *gate, const atomic_bool *gone);
struct nnb__gate *nnb__gate_mine(void); /* borrowed; NULL: none */

/*
 * The same, and *gone stays as it is. Returns the gate of before. With NULL, this thread maps a file of the service's
 * own meanwhile.
 */
struct nnb__gate *nnb__gate_swap(struct nnb__gate *gate);

/* A call under way. */
struct nnb__gate_call {
	struct nnb__flight flight;
};

/*
 * Before mapping @fd. 0: call nnb__gate_close afterwards, at once, while @fd is open; -EBUSY: do not map it;
 * -ECANCELED: nor that, because the app is gone or the service stops. @waits: it may wait for seconds, because this
 * thread has no lane. NULL is fine.
 */
int nnb__gate_open(struct nnb__gate *gate, int fd, bool waits, struct nnb__gate_call *call);
/* @more: the number of mappings that have been made meanwhile. */
void nnb__gate_close(struct nnb__gate *gate, const struct nnb__gate_call *call, unsigned more);

/*
 * Unmap @bytes at @start, a mapping of @fd, and close @fd then, unless it is -1. No thread uses these pages any more.
 * True: they are unmapped now, and the @more bytes behind them are still mapped. False: all of that stays mapped, until
 * the reaper unmaps it, or until the exit. @files: the mappings that it takes meanwhile. @gate may be NULL.
 */
bool nnb__gate_unmap(struct nnb__gate *gate, void *start, size_t bytes, size_t more, int fd, uint32_t files);

/* Around the call that replaces pages of @fd, in the signal handler of tear.c. NULL is fine. */
void nnb__gate_tear_begins(struct nnb__gate *gate, int fd, struct nnb__gate_call *call);
void nnb__gate_tear_ends(struct nnb__gate *gate, const struct nnb__gate_call *call);

/* May an execution use pages of @fd that can tear? It may wait for seconds, and must have no lane. NULL: yes. */
bool nnb__gate_passes(struct nnb__gate *gate, int fd);

#endif
