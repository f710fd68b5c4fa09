/* budget.h -- callbacks that limit the memory and fds that are kept for an app. */
#ifndef NNB_MEMORY_BUDGET_H
#define NNB_MEMORY_BUDGET_H

#include <stdbool.h>
#include <stdint.h>

#include "nnb/status.h"

/* Any thread may call these. All zeroes: no limit. */
struct nnb__budget {
	enum nnb_status (*take)(void *arg, uint32_t pools, uint64_t bytes); /* returns NONE or RESOURCE_EXHAUSTED_* */
	void (*give)(void *arg, uint32_t pools, uint64_t bytes);
	/* File descriptors that are about to arrive, in addition to pools. NULL: no limit */
	enum nnb_status (*take_fds)(void *arg, uint32_t n, struct nnb_reason *reason);
	void (*give_fds)(void *arg, uint32_t n);
	bool (*ever)(void *arg, uint32_t pools, uint64_t bytes); /* could @take ever allow so much? NULL: yes */
	void *arg;
};

#endif
