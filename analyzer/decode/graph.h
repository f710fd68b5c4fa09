/*
 * graph.h -- one graph of babeltrace2: some streams of some traces, merged by raw time into batches of records.
 *
 * Graphs share no object that is written, so each may be run by a thread of its own; all are made, and freed, by one.
 */
#ifndef BSA_DECODE_GRAPH_H
#define BSA_DECODE_GRAPH_H

#include "counts.h"
#include "inputs.h"
#include "ring.h"

struct bsa_graph;

/*
 * A graph for the streams of reader @reader in @inputs from @first and before @end. @counts: one for each of
 * all inputs, borrowed until the graph is freed, and written by it alone. 0; BSA_E_INPUT; BSA_E_ENV.
 */
int bsa_graph_new(struct bsa_graph **ret, const struct bsa_inputs *inputs, size_t first, size_t end, unsigned reader,
                  const bt_component_class_source *source, struct bsa_counts *counts, struct bsa_err *err);
struct bsa_graph *bsa_graph_free(struct bsa_graph *graph); /* NULL is fine; returns NULL */

/* Add the next records, until @batch is full. 1: there may be more; 0: that was all; negative: it went wrong. */
int bsa_graph_fill(struct bsa_graph *graph, struct bsa_batch *batch, struct bsa_err *err);

#endif
