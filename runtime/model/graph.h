/*
 * graph.h -- a valid model, analysed once: constants mapped or copied, shapes inferred.
 *
 * A graph is immutable after its creation, so any thread may read it.
 */
#ifndef NNB_MODEL_GRAPH_H
#define NNB_MODEL_GRAPH_H

#include "nnb/driver.h"
#include "nnb/memory.h"
#include "nnb/model.h"
#include "nnb/status.h"

struct nnb__graph {
	struct nnb_graph seen; /* the part that a driver sees */
	bool fixed;            /* every run has seen.shapes, and no input's value changes the computation */
	const struct nnb_model *model;
	/* the main graph of a subgraph, which owns the mappings; NULL in the main graph */
	const struct nnb__graph *main;
	struct nnb_model view;         /* the storage of model, in a subgraph */
	struct nnb_mapping **mappings; /* by pool; NULL: the pool could not be mapped */
	uint64_t *map_ns;              /* by pool: the time that mapping took */
	bool *value_decides;           /* by model input: an operation needs the input's value to infer shapes */
	bool *may_omit;                /* by model input: every operation that reads the input lets it be omitted */
	/* members of the main graph, by subgraph */
	struct nnb__graph **referenced;
	const struct nnb_graph **referenced_seen; /* the part of each subgraph that drivers see */
	/* estimated time of each subgraph, where its shapes are known (cost.c) */
	uint64_t *referenced_ns;
	bool referenced_mapped; /* all constants of all subgraphs are mapped or copied */
	/* memory that the graph owns and seen points to */
	const void **constants;
	struct nnb_shape *shapes;
	uint32_t *last_reader;
	void *copies;
};

/*
 * Validate and analyse @model. The graph borrows @model until the graph is freed, but needs the pools' fds only during
 * this call. NONE; INVALID_ARGUMENT; GENERAL_FAILURE: out of memory. A pool that cannot be mapped is no failure here:
 * see nnb__graph_mapped.
 */
enum nnb_status nnb__graph_new(struct nnb__graph **ret, const struct nnb_model *model, struct nnb_reason *reason);
struct nnb__graph *nnb__graph_free(struct nnb__graph *graph); /* NULL is fine. Returns NULL. */
static inline void nnb__graph_freep(struct nnb__graph **graph)
{
	*graph = nnb__graph_free(*graph);
}

/* Are all constants of operation @op mapped or copied? */
bool nnb__graph_mapped(const struct nnb__graph *graph, uint32_t op);

/*
 * Infer the shapes of one run. On entry @shapes, by operand, hold the shapes of the model's inputs (known or omitted)
 * and the requested shapes of the outputs; this call fills in the rest. @values, by operand, are private copies of the
 * inputs whose values decide shapes. NONE; INVALID_ARGUMENT: the shapes contradict each other; GENERAL_FAILURE: a shape
 * stays unknown.
 */
enum nnb_status nnb__graph_run_shapes(const struct nnb__graph *graph, struct nnb_shape *shapes,
                                      const void *const *values, struct nnb_reason *reason);

/* Set known to whether every dimension is given. A scalar's shape is always known. */
void nnb__shape_look(struct nnb_shape *shape, uint32_t type);

#endif
