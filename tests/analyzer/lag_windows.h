/*
 * lag_windows.h -- the windows of which a fold reports one lag for many, so that a test has the lag in each.
 */
#ifndef ANALYZER_LAG_WINDOWS_H
#define ANALYZER_LAG_WINDOWS_H

#include "fold/facts.h"

#include <stddef.h>

/* Zero is empty. */
struct lag_windows {
	struct bsa_lag_window *items; /* owned: free */
	size_t n, room;
};

void lag_windows_add(struct lag_windows *to, const struct bsa_lag_window *w);

/* Calls @each with the lag in each window that @lag is of, which were added before. */
void lag_windows_each(const struct lag_windows *windows, const struct bsa_lag *lag,
                      void (*each)(void *ctx, const struct bsa_lag *), void *ctx);

#endif
