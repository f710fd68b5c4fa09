/* sealed.h -- memfds that cannot be truncated: makes them, and recognises them. */
#ifndef NNB_BASE_SEALED_H
#define NNB_BASE_SEALED_H

#include <stdint.h>

/* A zeroed memfd of @bytes, sealed against shrinking, growing and further seals. An owned fd, or -errno. */
int nnb__sealed_new(const char *name, uint64_t bytes);

/* The same, without F_SEAL_SEAL: each process that has the fd may add seals. */
int nnb__sealed_new_for_more(const char *name, uint64_t bytes);

/*
 * 0 and the size of a file that no process can truncate; -EPERM: a process could, or a page of it may be missing;
 * -EBADF.
 */
int nnb__sealed_bytes(int fd, uint64_t *ret);

#endif
