/* allocations.c -- see allocations.h. glibc provides the functions with the two underscores. */
#include "allocations.h"

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) && !defined(__clang__)

#include <errno.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

void *__libc_malloc(size_t n);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *p, size_t n);
void *__libc_memalign(size_t alignment, size_t n);

static atomic_ulong count;

unsigned long allocations(void)
{
	return atomic_load(&count);
}

void *malloc(size_t n)
{
	atomic_fetch_add(&count, 1);
	return __libc_malloc(n);
}

void *calloc(size_t n, size_t size)
{
	atomic_fetch_add(&count, 1);
	return __libc_calloc(n, size);
}

void *realloc(void *p, size_t n)
{
	atomic_fetch_add(&count, 1);
	return __libc_realloc(p, n);
}

void *memalign(size_t alignment, size_t n)
{
	atomic_fetch_add(&count, 1);
	return __libc_memalign(alignment, n);
}

void *aligned_alloc(size_t alignment, size_t n)
{
	return memalign(alignment, n);
}

int posix_memalign(void **ret, size_t alignment, size_t n)
{
	void *p = memalign(alignment, n);

	if (p)
		*ret = p;
	return p ? 0 : ENOMEM;
}

void *mmap(void *at, size_t n, int prot, int flags, int fd, off_t offset)
{
	atomic_fetch_add(&count, 1);
	return (void *)syscall(SYS_mmap, at, n, prot, flags, fd, offset);
}

#else

unsigned long allocations(void)
{
	return 0;
}

#endif
