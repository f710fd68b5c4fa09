/* sealed.h -- memfds that nobody can cut: making one, and telling one from a stranger's. */
#ifndef NNB_MEMORY_SEALED_H
#define NNB_MEMORY_SEALED_H

#include <stdint.h>

/* A zeroed memfd of @bytes, sealed against shrinking, growing and further seals. An owned fd, or -errno. */
int nnb__sealed_new(const char *name, uint64_t bytes);

/*
 * 0 and the size of a file that nobody can shrink; -EPERM: somebody could, or its pages may fail to come;
 * -EBADF.
 */
int nnb__sealed_bytes(int fd, uint64_t *ret);

#endif
