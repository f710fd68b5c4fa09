/* handle.h -- what the integers of a mmap_fd say, once nnb_memory_check has passed it. */
#ifndef NNB_MEMORY_HANDLE_H
#define NNB_MEMORY_HANDLE_H

#include <stdint.h>

#include "nnb/memory.h"

int nnb__handle_prot(const struct nnb_memory *memory);
uint64_t nnb__handle_offset(const struct nnb_memory *memory);

#endif
