/* sealed.h -- memfds that cannot be truncated: makes them, recognises them, and tells them from other files. */
#ifndef NNB_BASE_SEALED_H
#define NNB_BASE_SEALED_H

#include <stdbool.h>
#include <stdint.h>

/* A zeroed memfd of @bytes, sealed against shrinking, growing and further seals. An owned fd, or -errno. */
int nnb__sealed_new(const char *name, uint64_t bytes);

/* The same, without F_SEAL_SEAL: each process that has the fd may add seals. */
int nnb__sealed_new_for_more(const char *name, uint64_t bytes);

struct nnb__file {
	uint64_t size, inode, device; /* st_size, st_ino, st_dev */
	uint32_t file_system;         /* its magic number */
	bool is_regular;
	bool is_sealed; /* no process can truncate it, and no page of it can be missing */
};

/*
 * What @fd is. 0; -EBADF: it is no open file; another -errno of fstat or fstatfs. Memfds are known by their device, and
 * need two system calls.
 */
int nnb__file_look(int fd, struct nnb__file *ret);

/*
 * 0 and the size of a file that no process can truncate; -EPERM: a process could, or a page of it may be missing;
 * another -errno, as of nnb__file_look.
 */
int nnb__sealed_bytes(int fd, uint64_t *ret);

#endif
