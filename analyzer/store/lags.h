/*
 * lags.h -- lags by app and window, in a space that grows with what changes.
 *
 * While an app waits, it receives nothing, is entitled to the same as all others that wait, and its lag grows
 * by that: n apps that wait through m windows have n * m rows of the view app_lag. A row of stored_lag_window is
 * a window and a running sum: what a waiting app was entitled to since the chain began. A row of stored_lag_run is
 * an app, its first and last window, and a constant: its lag in each window is the constant plus the sum. The view
 * has the same rows, to the ns: a row that would not come out as it was reported is stored as it is (stored_lag).
 *
 * Windows that follow each other for the same apps are a chain. Apps of several services, and those that
 * became ready within a window, are entitled to something else in the same window, so there are several
 * chains. One thread. Memory does not grow.
 */
#ifndef BSA_STORE_LAGS_H
#define BSA_STORE_LAGS_H

#include "fold/facts.h"

struct bsa_store;
struct lags;

/* Owned by the caller; NULL: no memory. */
struct lags *bsa_lags_new(void);
void bsa_lags_free(struct lags *l);

/* The next window of an app. The fold reports the windows of an app in their order. */
void bsa_lags_add(struct bsa_store *s, const struct bsa_lag *lag);

/* Write the open runs; the next lag is of another clock. */
void bsa_lags_finish(struct bsa_store *s);

#endif
