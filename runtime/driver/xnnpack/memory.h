/* memory.h -- what a prepared model takes of memory is charged to its account (nnb_account) before it is allocated. */
#ifndef NNBX_MEMORY_H
#define NNBX_MEMORY_H

#include <xnnpack.h>

#include "nnb/driver.h"

/* NONE, or what the account says. @account may be NULL. */
enum nnb_status nnbx_charge(const struct nnb_account *account, uint64_t bytes);
void nnbx_give_back(const struct nnb_account *account, uint64_t bytes);

/* What XNNPACK has allocated for one model, and not freed. */
struct nnbx_tally {
	const struct nnb_account *account;
	uint64_t bytes;
	enum nnb_status refused; /* what the account last said, if that was no */
};

/*
 * From here on until tally_end, what XNNPACK allocates and frees on this thread is the tally's; what the account refuses is
 * out of memory. Whoever frees it elsewhere gives the tally's bytes back.
 */
void nnbx_tally_begin(struct nnbx_tally *tally);
void nnbx_tally_end(void);

/* For xnn_initialize. The first to initialise XNNPACK in a process decides: if another has, nothing is tallied. */
extern const struct xnn_allocator nnbx_allocator;

#endif
