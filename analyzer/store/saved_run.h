/*
 * saved_run.h -- whether missed deadlines would have been met without their causes: executions read back, and
 * replayed by replay/without.h. This is the one place that fills miss_cause.saved where a replay is needed,
 * and miss_without.
 */
#ifndef BSA_STORE_SAVED_RUN_H
#define BSA_STORE_SAVED_RUN_H

#include "fold/blame.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bsa_store;
struct bsa_saved;

/* Limit of the misses that are replayed. If there are more, every second (third, ...) one is. */
enum { SAVED_MISSES_MOST = 10000 };

/* @misses: their number in all. Owned by the caller; NULL: the store has failed. */
struct bsa_saved *bsa_saved_new(struct bsa_store *s, uint64_t misses);
struct bsa_saved *bsa_saved_free(struct bsa_saved *saved);

/*
 * The rows of the next miss, as they went into miss_cause; @x, @refused and @rows are borrowed for the call.
 * @refused: NULL if it was not refused. A miss that is not in the sample is left out.
 */
void bsa_saved_ask(struct bsa_saved *saved, const struct bsa_execution *x, const struct bsa_refused *refused,
                   const struct bsa_blamed *rows, size_t n);

/* Replay them. Call this after the last miss, when the indices exist. 0, or the code that the store keeps. */
int bsa_saved_run(struct bsa_saved *saved);

#endif
