/*
 * memory.c -- XNNPACK's allocations, tallied for the model that they are for.
 *
 * Packed weights can be many times as large as the weights: XNNPACK pads them to as many channels as it computes at
 * once. So they are counted where they are allocated, and not estimated. A block counts for its malloc_usable_size,
 * so that freeing it gives back the same.
 *
 * CONCURRENCY  The tally is the calling thread's for the time of a call of XNNPACK's; a tally has one user at a time.
 */
#include "memory.h"

#include <assert.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "packing.h"

enum {
	MEMORY_SHARE = 4, /* the device's memory is this part of the machine's */
	PART = 1 << 19    /* bytes that are given back at once */
};

static _Thread_local struct nnbx_tally *tally __attribute__((tls_model("initial-exec")));

uint64_t nnbx_device_memory(void)
{
	return (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE) / MEMORY_SHARE;
}

enum nnb_status nnbx_charge(const struct nnb_account *account, uint64_t bytes)
{
	return account && account->charge ? account->charge(account->arg, bytes) : NNB_STATUS_NONE;
}

void nnbx_give_back(const struct nnb_account *account, uint64_t bytes)
{
	if (account && account->give_back && bytes)
		account->give_back(account->arg, bytes);
}

/* The caller unmaps or frees these pages next. */
static void pages_drop(char *start, size_t bytes)
{
	for (size_t at = 0; bytes > PART && at < bytes; at += PART)
		madvise(start + at, bytes - at < PART ? bytes - at : PART, MADV_DONTNEED);
}

void nnbx_unmap(void *start, size_t bytes)
{
	pages_drop(start, bytes);
	munmap(start, bytes);
}

void nnbx_free_large(void *p)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), bytes = p ? malloc_usable_size(p) : 0;
	uintptr_t start = ((uintptr_t)p + page - 1) / page * page;

	if (bytes > 2 * PART)
		pages_drop((char *)start, ((uintptr_t)p + bytes - start) / page * page);
	free(p);
}

void nnbx_tally_begin(struct nnbx_tally *t)
{
	tally = t;
}

void nnbx_tally_end(void)
{
	tally = NULL;
}

/* ---- for XNNPACK ---- */

static bool tally_add(size_t bytes)
{
	enum nnb_status status;

	if (!tally)
		return true;
	status = nnbx_charge(tally->account, bytes);
	if (status) {
		tally->refused = status;
		return false;
	}
	tally->bytes += bytes;
	return true;
}

static void tally_take(size_t bytes)
{
	if (!tally)
		return;
	assert(bytes <= tally->bytes);
	tally->bytes -= bytes;
	nnbx_give_back(tally->account, bytes);
}

/* @p was allocated for @bytes, which have been charged: it may have some more. */
static void *tally_rest(void *p, size_t bytes)
{
	size_t has = p ? malloc_usable_size(p) : 0;

	if (has < bytes)
		tally_take(bytes - has);
	else if (has > bytes && !tally_add(has - bytes)) {
		tally_take(bytes);
		free(p);
		p = NULL;
	}
	return p;
}

static void tally_deallocate(void *context, void *p)
{
	(void)context;
	nnbx_packing_freed(p);
	if (p)
		tally_take(malloc_usable_size(p));
	nnbx_free_large(p);
}

/* A block that was tallied, unless there is none: the thread may look while XNNPACK fills it. */
static void *watch_allocation(void *p, size_t bytes)
{
	if (!p || nnbx_packing_allocated(p, bytes))
		return p;
	tally_deallocate(NULL, p);
	return NULL;
}

static void *tally_allocate(void *context, size_t bytes)
{
	(void)context;
	return tally_add(bytes) ? watch_allocation(tally_rest(malloc(bytes), bytes), bytes) : NULL;
}

/* Both blocks are there for a moment, and charged. */
static void *tally_reallocate(void *context, void *p, size_t bytes)
{
	size_t has = p ? malloc_usable_size(p) : 0;
	void *grown;

	if (p && has >= bytes)
		return p;
	grown = tally_allocate(context, bytes);
	if (grown && p) {
		memcpy(grown, p, has);
		tally_deallocate(context, p);
	}
	return grown;
}

static void *aligned_allocate(void *context, size_t alignment, size_t bytes)
{
	void *p = NULL;

	(void)context;
	if (!tally_add(bytes))
		return NULL;
	if (posix_memalign(&p, alignment, bytes))
		p = NULL;
	return watch_allocation(tally_rest(p, bytes), bytes);
}

const struct xnn_allocator nnbx_allocator = {
	.allocate = tally_allocate,
	.reallocate = tally_reallocate,
	.deallocate = tally_deallocate,
	.aligned_allocate = aligned_allocate,
	.aligned_deallocate = tally_deallocate,
};
