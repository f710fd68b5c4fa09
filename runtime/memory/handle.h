/*
 * handle.h -- reads the integers of an mmap_fd or a token that has passed nnb_memory_check, maps memories whose
 * fds it takes, compares the files of mappings, flushes and touches parts of them, and brackets accesses to dma-bufs.
 */
#ifndef NNB_MEMORY_HANDLE_H
#define NNB_MEMORY_HANDLE_H

#include <stdint.h>

#include "nnb/memory.h"

int nnb__handle_prot(const struct nnb_memory *memory);
uint64_t nnb__handle_offset(const struct nnb_memory *memory);
uint64_t nnb__handle_token(const struct nnb_memory *memory);

/*
 * nnb_map, and the mapping owns the fd of @memory from then on, which becomes -1; also on failure, if it is -1 then.
 * That spares a duplicate. The mapping is for one thread, which calls nnb__mapping_use for all bytes that it accesses.
 */
int nnb__map_taking(struct nnb_mapping **ret, struct nnb_memory *memory);

/*
 * The @bytes from the byte @at are to be accessed. When the mapping goes, only the parts around such bytes are searched
 * for pages: while another thread or process takes pages out of the file, each search of a part makes the cpus forget
 * all translations of the process's addresses, in every thread.
 */
void nnb__mapping_use(struct nnb_mapping *mapping, uint64_t at, uint64_t bytes);

/* Do they map one file? Then *a_at and *b_at, places in them, become places in the file. */
bool nnb__mapping_same_file(const struct nnb_mapping *a, uint64_t *a_at, const struct nnb_mapping *b, uint64_t *b_at);

/* Must executions look for tears of the mapping? */
bool nnb__mapping_is_file(const struct nnb_mapping *mapping);

/* May nnb_mapping_flush wait for a disk? Not for a file in memory (tmpfs, memfd), which needs no flush. */
bool nnb__mapping_flush_waits(const struct nnb_mapping *mapping);

/* nnb_mapping_flush, for the pages of the bytes from @from to before @to. */
int nnb__mapping_flush(struct nnb_mapping *mapping, uint64_t from, uint64_t to);

/* May an execution use the mapping now, though its file may be cut (gate.h)? Call this without a lane: it may wait. */
bool nnb__mapping_passes(const struct nnb_mapping *mapping);

/*
 * The @bytes at @start, or @most of them, are to be written, and the file has just been mapped: touch them. For a read
 * the kernel maps many pages at a time (16, as far as they are in memory), and for a write one page; what it maps of a
 * file in memory can be written. Does nothing for other files, or if an access can fault. Returns how many bytes.
 */
uint64_t nnb__mapping_touch(const struct nnb_mapping *mapping, const void *start, uint64_t bytes, uint64_t most);

/*
 * Begin and end accesses of this process's CPUs to a dma-buf, which is not coherent with its device otherwise; each
 * begin has its end. Do nothing for other mappings.
 */
void nnb__mapping_access_begin(const struct nnb_mapping *mapping);
void nnb__mapping_access_end(const struct nnb_mapping *mapping);

#endif
