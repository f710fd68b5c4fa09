/*
 * pages.h -- give much memory back to the kernel without making the other threads of the process wait.
 *
 * To map or unmap anything, in any thread of the process, the kernel waits until a munmap has given all its pages
 * back, which takes 150 us a MiB. So pages are given back part by part before. The same holds for pages that a mmap
 * makes (MAP_POPULATE). A thread that loses its cpu with the memory map locked makes the others wait for milliseconds.
 */
#ifndef NNB_BASE_PAGES_H
#define NNB_BASE_PAGES_H

#include <malloc.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { NNB__PAGES_PART = 1 << 19 }; /* bytes */

/* Give the first part of the @bytes from @start back. */
static inline void nnb__pages_part_drop(void *start, size_t bytes)
{
	madvise(start, bytes < NNB__PAGES_PART ? bytes : NNB__PAGES_PART, MADV_DONTNEED);
}

/* The caller is about to unmap @bytes from @start, whole pages. */
static inline void nnb__pages_drop(void *start, size_t bytes)
{
	for (size_t at = 0; bytes > NNB__PAGES_PART && at < bytes; at += NNB__PAGES_PART)
		nnb__pages_part_drop((char *)start + at, bytes - at);
}

/*
 * Make the pages of new, private memory that can be written. By touching them: a page fault takes a lock of its mapping
 * alone (Linux 6.4), while MADV_POPULATE_WRITE keeps the memory map locked, also while its thread has no cpu.
 */
static inline void nnb__pages_make(void *start, size_t bytes)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	for (size_t at = 0; at < bytes; at += page)
		*((volatile char *)start + at) = 0;
}

/* As free, for what may be large. */
static inline void nnb__free_large(void *p)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), bytes = p ? malloc_usable_size(p) : 0;
	uintptr_t start = ((uintptr_t)p + page - 1) / page * page;

	if (bytes > 2 * NNB__PAGES_PART)
		nnb__pages_drop((void *)start, ((uintptr_t)p + bytes - start) / page * page);
	free(p);
}

#endif
