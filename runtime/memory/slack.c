/*
 * slack.c -- maps files with a page of zeroes behind them, and keeps some of these pages.
 *
 * LAYOUT    A word of a kept page: its address, and in the bits below, how many pages were mapped before it.
 * CONCURRENCY  Any thread. A page belongs to the thread that has taken its word out of the list.
 * TRUST     No process can write to a page of zeroes. What is before a kept page may have been mapped by another thread
 *           meanwhile: nothing is mapped over that (MAP_FIXED_NOREPLACE).
 */
#include "memory/slack.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <unistd.h>

enum { KEPT = 16, PAGES_MOST = 4095 /* larger mappings are rarer, and take longer */ };

static _Atomic uintptr_t kept[KEPT];
static atomic_uint turn;

static size_t page_bytes(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

static bool is_small(size_t bytes)
{
	return bytes / page_bytes() <= PAGES_MOST;
}

/* A kept page with room for @bytes before it, which the caller owns; NULL: none. */
static char *kept_take(size_t bytes)
{
	const uintptr_t pages = bytes / page_bytes();

	for (unsigned i = 0; i < KEPT; i++) {
		uintptr_t word = atomic_load_explicit(&kept[i], memory_order_relaxed);

		if (word && word % page_bytes() == pages &&
		    atomic_compare_exchange_strong_explicit(&kept[i], &word, 0, memory_order_acquire,
		                                            memory_order_relaxed))
			return (char *)(word - pages);
	}
	return NULL;
}

/* Map the file before @zeroes. False: something is there, or the file cannot be mapped. */
static bool map_before(char *zeroes, size_t bytes, int prot, int fd, off_t offset)
{
	char *at = zeroes - bytes, *p = mmap(at, bytes, prot, MAP_SHARED | MAP_FIXED_NOREPLACE, fd, offset);

	if (p != at && p != MAP_FAILED) /* a kernel without that flag (before Linux 4.17) */
		munmap(p, bytes);
	return p == at;
}

int nnb__slack_map(void **ret, size_t bytes, int prot, int fd, uint64_t offset)
{
	const size_t page = page_bytes();
	char *p = is_small(bytes) ? kept_take(bytes) : NULL;

	if (p && map_before(p, bytes, prot, fd, (off_t)offset)) {
		*ret = p - bytes;
		return 0;
	}
	if (p)
		munmap(p, page);
	p = mmap(NULL, bytes + page, prot, MAP_SHARED, fd, (off_t)offset);
	if (p == MAP_FAILED)
		return -errno;
	if (mmap(p + bytes, page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED) {
		int r = -errno;

		munmap(p, bytes + page);
		return r;
	}
	*ret = p;
	return 0;
}

size_t nnb__slack_unmaps(size_t bytes)
{
	return is_small(bytes) ? bytes : bytes + page_bytes();
}

void nnb__slack_keep(void *start, size_t bytes)
{
	uintptr_t word = (uintptr_t)start + bytes + bytes / page_bytes(), none;

	if (!is_small(bytes))
		return;
	for (unsigned i = 0; i < KEPT; i++) {
		none = 0;
		if (!atomic_load_explicit(&kept[i], memory_order_relaxed) &&
		    atomic_compare_exchange_strong_explicit(&kept[i], &none, word, memory_order_release,
		                                            memory_order_relaxed))
			return;
	}
	/* in place of another one */
	word = atomic_exchange_explicit(&kept[atomic_fetch_add_explicit(&turn, 1, memory_order_relaxed) % KEPT], word,
	                                memory_order_acq_rel);
	if (word)
		munmap((void *)(word / page_bytes() * page_bytes()), page_bytes());
}
