/*
 * pages.h -- give much memory back to the kernel without making the other threads of the process wait.
 *
 * To map or unmap anything, in any thread of the process, the kernel waits until a munmap has given all its pages
 * back, which takes 150 us a MiB. So pages are given back part by part before. The same holds for pages that a mmap
 * makes (MAP_POPULATE).
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

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

/* Advise @bytes from @start, whole pages, part by part. 0, or what madvise returned for a part; the rest is left. */
static inline int nnb__pages_advise(void *start, size_t bytes, int advice)
{
	int r = 0;

	for (size_t at = 0; !r && at < bytes; at += NNB__PAGES_PART)
		r = madvise((char *)start + at, bytes - at < NNB__PAGES_PART ? bytes - at : NNB__PAGES_PART, advice);
	return r;
}

/* The caller is about to unmap @bytes from @start, whole pages. */
static inline void nnb__pages_drop(void *start, size_t bytes)
{
	if (bytes > NNB__PAGES_PART)
		nnb__pages_advise(start, bytes, MADV_DONTNEED);
}

/* Make pages of new, private memory that can be written. */
static inline void nnb__pages_make(void *start, size_t bytes)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	if (nnb__pages_advise(start, bytes, MADV_POPULATE_WRITE)) /* Linux before 5.14 */
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
