/*
 * tear.h -- surviving a file that is cut short under a mapping.
 *
 * A page whose file is gone raises SIGBUS. While the mapping is watched it becomes zeroes as a whole, the access is made
 * again, and the tear is counted. The mapping stays one mapping: a tear costs the process nothing. Everybody else's SIGBUS goes on to whoever had the signal before the
 * first watch. A thread that touches the mapping must not block SIGBUS: the kernel ends the process then.
 */
#ifndef NNB_MEMORY_TEAR_H
#define NNB_MEMORY_TEAR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct nnb__watch;

/*
 * Watch @bytes, whole pages, mapped from @start with @prot and not yet touched. 0 and *ret owned
 * (nnb__watch_end), or -ENOMEM: no memory, or the process has nearly as many mappings as it may.
 */
int nnb__watch_begin(struct nnb__watch **ret, void *start, size_t bytes, int prot);

/* To be called before the pages are unmapped, when nobody touches them any more. NULL is fine. */
void nnb__watch_end(struct nnb__watch *watch);

/* How often it was torn. Whatever the calling thread has read of a torn page, the tear is in the count. */
uint32_t nnb__watch_tears(const struct nnb__watch *watch);

/* Does every tear counted before the call have its zeroes? */
bool nnb__watch_settled(const struct nnb__watch *watch);

#endif
