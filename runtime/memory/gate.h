/*
 * gate.h -- bounds how long the files of one app can make the other apps of a service wait.
 *
 * To map or unmap a file, the kernel waits for a lock of the file while it holds the lock on the process's memory map,
 * and every other thread that maps or unmaps anything waits, too. The owner of a file can hold its lock for seconds
 * (docs/security.md). A gate stands before every mmap and munmap of the files of one app. Once one of them was slow,
 * the app is suspected, and each one that follows is tried by another process first.
 */
#ifndef NNB_MEMORY_GATE_H
#define NNB_MEMORY_GATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct nnb__gate;

/* Why a request that has files mapped is RESOURCE_EXHAUSTED_TRANSIENT. */
#define NNB__GATE_REASON \
	"the app's files are not mapped now: the lock of one of them was held for long while the service mapped it"

/*
 * Start the process that tries files, which ends with the process that has *ret. Call this before any file of an app is
 * mapped, because fork takes the locks of mapped files. 0 and *ret, a socket; or -errno.
 */
int nnb__prober_start(int *ret);

/*
 * Begin to use gates. @prober: the socket of nnb__prober_start. Call this before any gate is used; only the first
 * call has an effect. 0 or -errno.
 */
int nnb__gates_begin(int prober);

/* From now on nothing of a gate is unmapped: the process is about to exit, and the kernel unmaps what is left. */
void nnb__gates_leave(void);

/* The number of mappings that are behind gates. */
uint64_t nnb__gates_mapped(void);

/* The gate of app @key. The caller owns a reference. NULL: no gates are used, or no memory. */
struct nnb__gate *nnb__gate_of(uint32_t key);
struct nnb__gate *nnb__gate_ref(struct nnb__gate *gate);   /* NULL is fine */
struct nnb__gate *nnb__gate_unref(struct nnb__gate *gate); /* NULL is fine. Returns NULL. */

/* What this thread maps from now on is behind @gate, borrowed until the next call or the thread's end; NULL: none. */
void nnb__gate_enter(struct nnb__gate *gate);
struct nnb__gate *nnb__gate_mine(void); /* borrowed; NULL: none */

/* Whether the app has to wait before its files may be used again. NULL: no. */
bool nnb__gate_refuses(const struct nnb__gate *gate);

/*
 * Before mapping @fd. 0: call nnb__gate_close afterwards, at once, on the same thread, with what *ret_began was set to;
 * -EBUSY: do not map it. NULL is fine.
 */
int nnb__gate_open(struct nnb__gate *gate, int fd, uint64_t *ret_began);
/* @more: the number of mappings that have been made meanwhile. */
void nnb__gate_close(struct nnb__gate *gate, uint64_t began, unsigned more);

/*
 * Unmap @bytes at @start, a mapping of @fd, at once or later, and close @fd then, unless it is -1. No thread uses
 * these pages any more. @gate may be NULL.
 */
void nnb__gate_unmap(struct nnb__gate *gate, void *start, size_t bytes, int fd);

/* A call that began at @began and replaced pages of a file has ended. For the handler in tear.c, too. NULL is fine. */
void nnb__gate_charge(struct nnb__gate *gate, uint64_t began);

#endif
