/*
 * tear.h -- survives the truncation of a file that is mapped.
 *
 * An access to a page beyond the end of the file raises SIGBUS. If the mapping is watched, the handler replaces the
 * whole mapping by zeroes, the access is repeated, and the tear is counted. The mapping stays one mapping: a tear
 * takes no further mappings of the process. Any other SIGBUS goes to the handler that was installed before the first
 * watch. A thread that touches the mapping must not block SIGBUS: the kernel would end the process.
 */
#ifndef NNB_MEMORY_TEAR_H
#define NNB_MEMORY_TEAR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct nnb__gate;
struct nnb__watch;

/*
 * Watch @bytes, whole pages, mapped from @start with @prot and not yet touched. 0 and *ret owned
 * (nnb__watch_end), or -ENOMEM: no memory, or the process has nearly as many mappings as it may.
 * @gate and its file @fd, borrowed until the end, hear of tears; NULL: none.
 */
int nnb__watch_begin(struct nnb__watch **ret, void *start, size_t bytes, int prot, struct nnb__gate *gate, int fd);

/* Call this before the pages are unmapped, when no thread uses them any more. NULL is fine. */
void nnb__watch_end(struct nnb__watch *watch);

/* The number of tears. A thread that has read a zero of a torn page sees that tear counted. */
uint32_t nnb__watch_tears(const struct nnb__watch *watch);

/* Whether the zeroes of every tear counted before this call are in place. */
bool nnb__watch_settled(const struct nnb__watch *watch);

#endif
