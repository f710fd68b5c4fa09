/*
 * copy.h -- the other way to use a memory: to copy its bytes by pread and pwrite, and never map its file.
 *
 * Such a mapping has a file and no pages: nnb_mapping_data is NULL, until nnb__copy_keep. No access to it can fault.
 * A call may sleep in the file's own locks, or in its file system, but holds no lock of the process meanwhile.
 */
#ifndef NNB_MEMORY_COPY_H
#define NNB_MEMORY_COPY_H

#include "nnb/memory.h"

/*
 * As nnb_map, and with its errors, but nothing is mapped. -ENOTSUP, too: a dma-buf, which can only be mapped; and,
 * unless @any, a file that is open for direct access, whose reads may have to be aligned.
 */
int nnb__copy_open(struct nnb_mapping **ret, const struct nnb_memory *memory, bool any);

/* The same for the memory of @mapping, which is mapped. -ENOTSUP, too: @mapping has not kept its file. */
int nnb__copy_of(struct nnb_mapping **ret, const struct nnb_mapping *mapping);

bool nnb__mapping_is_copy(const struct nnb_mapping *mapping);

/* Copy bytes of the memory. 0 or -errno; -EFAULT: the file is too short meanwhile. The file never grows. */
int nnb__copy_read(const struct nnb_mapping *copy, uint64_t offset, void *to, uint64_t bytes);
int nnb__copy_write(const struct nnb_mapping *copy, uint64_t offset, const void *from, uint64_t bytes);

/*
 * Keep a copy of the whole memory with @copy: nnb_mapping_data is that copy. @read: with the bytes of the file;
 * otherwise zeroes, for nnb_mapping_flush to write into the file. One thread, before any other knows @copy. Returns 0
 * or -errno.
 */
int nnb__copy_keep(struct nnb_mapping *copy, bool read);

#endif
