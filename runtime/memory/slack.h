/*
 * slack.h -- maps files with a page of zeroes behind them, which can be read and not written.
 *
 * To make that page and to unmap it takes as long as the file's pages do. So some pages of zeroes stay mapped when the
 * file's pages before them are unmapped, and a file with as many pages is mapped before one of them.
 */
#ifndef NNB_MEMORY_SLACK_H
#define NNB_MEMORY_SLACK_H

#include <stddef.h>
#include <stdint.h>

/*
 * Map @bytes, whole pages, of @fd from @offset, and a page of zeroes behind them. 0 and *ret, or -errno. Behind the
 * pages of a file that is unmapped by munmap, its page of zeroes has to be unmapped, too, or kept.
 */
int nnb__slack_map(void **ret, size_t bytes, int prot, int fd, uint64_t offset);

/*
 * How many bytes are to be unmapped of a mapping of @bytes: with its page of zeroes, or without; then call
 * nnb__slack_keep once they are unmapped, or unmap the page of zeroes with them.
 */
size_t nnb__slack_unmaps(size_t bytes);

/* The @bytes before @start + @bytes are unmapped: keep the page of zeroes there. Does nothing if it is unmapped. */
void nnb__slack_keep(void *start, size_t bytes);

#endif
