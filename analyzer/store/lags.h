/*
 * lags.h -- lags by app and window, in a space that grows with what changes.
 *
 * While an app waits, it receives nothing, is entitled to the same as all others that wait, and its lag grows
 * by that: n apps that wait through m windows have n * m rows of the view app_lag. A row of stored_lag_window is
 * a window and a sum: what the lag of a waiting app rose by since the recording began. A row of stored_lag_run is
 * an app, its first and last window, and a constant: its lag in each window is the constant plus the sum. The view
 * has the same rows, to the ns: a row that would not come out as it was reported is stored as it is (stored_lag).
 *
 * One thread. Memory does not grow.
 */
#ifndef BSA_STORE_LAGS_H
#define BSA_STORE_LAGS_H

#include "fold/facts.h"

struct bsa_store;
struct bsa_lags;

/* Owned by the caller; NULL: no memory. */
struct bsa_lags *bsa_lags_new(void);
void bsa_lags_free(struct bsa_lags *l);

/* A window of a service, before the lags in it. */
void bsa_lags_window(struct bsa_store *s, const struct bsa_lag_window *w);

/* The next windows of an app. The fold reports the windows of an app in their order. */
void bsa_lags_add(struct bsa_store *s, const struct bsa_lag *lag);

/* Write the open runs; the next lag is of another trace. */
void bsa_lags_finish(struct bsa_store *s);

#endif
