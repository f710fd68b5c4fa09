/*
 * quick.h -- the second decoder: packets to batches of records, by recipes, without babeltrace2.
 *
 * It answers as graph.h does, record by record and count by count, for the streams that have a recipe; of files that
 * heads.h has found plain. What changes while it is read is an error.
 */
#ifndef BSA_DECODE_QUICK_H
#define BSA_DECODE_QUICK_H

#include "counts.h"
#include "inputs.h"
#include "ring.h"

struct bsa_quick;

/*
 * Of @inputs, those from @first and before @end that have a recipe, the streams of reader @reader. @counts: one for each of
 * all inputs, borrowed until the reader is freed, and written by it alone. 0; BSA_E_INPUT; BSA_E_ENV.
 */
int bsa_quick_new(struct bsa_quick **ret, const struct bsa_inputs *inputs, size_t first, size_t end, unsigned reader,
                  struct bsa_counts *counts, struct bsa_err *err);
struct bsa_quick *bsa_quick_free(struct bsa_quick *quick); /* NULL is fine; returns NULL */

/* Add the next records, until @batch is full. 1: there may be more; 0: that was all; negative: it went wrong. */
int bsa_quick_fill(struct bsa_quick *quick, struct bsa_batch *batch, struct bsa_err *err);

#endif
