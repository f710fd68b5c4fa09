/* memory.h -- charges the memory of a prepared model to its account (nnb_account) before it is allocated. */
#ifndef NNBX_MEMORY_H
#define NNBX_MEMORY_H

#include <xnnpack.h>

#include "nnb/driver.h"

/* Returns NONE, or the status of the account. @account may be NULL. */
enum nnb_status nnbx_charge(const struct nnb_account *account, uint64_t bytes);
void nnbx_give_back(const struct nnb_account *account, uint64_t bytes);

/* Bytes that the device has: a plan, or a loose run, that needs more is refused for good. */
uint64_t nnbx_device_memory(void);

/* Bytes that XNNPACK has allocated for one model and not freed. */
struct nnbx_tally {
	const struct nnb_account *account;
	uint64_t bytes;
	enum nnb_status refused; /* the last refusal of the account */
};

/*
 * From here until tally_end, allocations and frees of XNNPACK on this thread are counted by the tally; if the account
 * refuses, XNNPACK is out of memory. A caller that frees such memory elsewhere gives the tally's bytes back.
 */
void nnbx_tally_begin(struct nnbx_tally *tally);
void nnbx_tally_end(void);

/* For xnn_initialize. The first to initialise XNNPACK in a process decides: if another has, nothing is tallied. */
extern const struct xnn_allocator nnbx_allocator;

/*
 * As munmap, and free. While the kernel gives back all pages of one munmap, 150 us a MiB, no other thread of the
 * process can map or unmap anything: these give them back part by part before.
 */
void nnbx_unmap(void *start, size_t bytes);
void nnbx_free_large(void *p);

#endif
