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
 * A reader for those streams of reader @reader in @inputs, from @first and before @end, that have a recipe.
 * @counts: one for each of all inputs, borrowed until the reader is freed, and written by it alone. 0;
 * BSA_E_INPUT; BSA_E_ENV.
 */
int bsa_quick_new(struct bsa_quick **ret, const struct bsa_inputs *inputs, size_t first, size_t end, unsigned reader,
                  struct bsa_counts *counts, struct bsa_err *err);
struct bsa_quick *bsa_quick_free(struct bsa_quick *quick); /* NULL is fine; returns NULL */

/* Add the next records, until @batch is full. 1: there may be more; 0: that was all; negative: it went wrong. */
int bsa_quick_fill(struct bsa_quick *quick, struct bsa_batch *batch, struct bsa_err *err);

/*
 * One stream that still grows, for follow.h: whole packets of its files, which come one behind the other. The
 * caller has looked at each packet's header.
 */
struct bsa_flow;

/* Records have @trace as theirs. @counts is borrowed until it is freed. NULL: no memory. */
struct bsa_flow *bsa_flow_new(uint32_t trace, uint64_t rank, uint32_t pid, struct bsa_counts *counts);
struct bsa_flow *bsa_flow_free(struct bsa_flow *flow); /* NULL is fine; returns NULL */

/*
 * How to read it, from now on: both borrowed until the flow is freed. An event that was begun is read as it was
 * begun.
 */
void bsa_flow_recipe(struct bsa_flow *flow, const struct bsa_recipe *recipe, const struct bsa_recipe_stream *stream);

/* The next file of the stream, from its begin. The file before was read to its end. @fd is borrowed. */
void bsa_flow_file(struct bsa_flow *flow, int fd);

/* Whole packets are there up to @bytes of the file. */
void bsa_flow_grow(struct bsa_flow *flow, uint64_t bytes);

enum { BSA_FLOW_UNKNOWN = 3 };

/*
 * To the next record. 1: *ret_at is its time; 0: more has to grow first, or the stream is broken and ends
 * here; BSA_FLOW_UNKNOWN: the recipe does not have the next event, and nothing was read: ask again with
 * another one.
 */
int bsa_flow_next(struct bsa_flow *flow, uint64_t *ret_at);

/* That record. @ret has room for BSA_RECORD_MAX. */
void bsa_flow_write(const struct bsa_flow *flow, struct bsa_event *ret);

/* Its packets contradict themselves, or one could not be read: nothing more comes of its file. */
bool bsa_flow_broken(const struct bsa_flow *flow);
void bsa_flow_break(struct bsa_flow *flow);

/* In ns: the time of the last record, or the begin of the packet that is read, whichever is later. */
uint64_t bsa_flow_last(const struct bsa_flow *flow);

#endif
