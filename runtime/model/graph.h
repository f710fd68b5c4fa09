/*
 * graph.h -- a valid model, looked through once: constants mapped or copied, shapes worked out.
 *
 * A graph is immutable once made, so any thread may read it.
 */
#ifndef NNB_MODEL_GRAPH_H
#define NNB_MODEL_GRAPH_H

#include "nnb/driver.h"
#include "nnb/memory.h"
#include "nnb/model.h"
#include "nnb/status.h"

struct nnb__graph {
	struct nnb_graph seen; /* what a driver is shown */
	bool fixed;            /* every run has seen.shapes, and no run's values change what is computed */
	const struct nnb_model *model;
	const struct nnb__graph *main; /* of a subgraph: whose it is, mappings included; otherwise NULL */
	struct nnb_model view;         /* of a subgraph: model */
	struct nnb_mapping **mappings; /* by pool; NULL: could not be mapped */
	uint64_t *map_ns;              /* by pool: what that took */
	bool *value_decides;           /* by model input: some operation needs its value to know its shapes */
	bool *may_omit;                /* by model input: it is optional wherever it is read */
	/* of the main graph, by subgraph */
	struct nnb__graph **referenced;
	const struct nnb_graph **referenced_seen; /* what drivers see of them */
	uint64_t *referenced_ns;                  /* about how long each takes, where shapes are known (cost.c) */
	bool referenced_mapped;                   /* all their constants are there */
	/* owned memory behind seen */
	const void **constants;
	struct nnb_shape *shapes;
	uint32_t *last_reader;
	void *copies;
};

/*
 * Validate @model and look through it. It is borrowed until the graph is freed; only its pools' fds are no longer
 * needed afterwards. NONE; INVALID_ARGUMENT; GENERAL_FAILURE: out of memory. A pool that cannot be mapped is no
 * failure here: see nnb__graph_mapped.
 */
enum nnb_status nnb__graph_new(struct nnb__graph **ret, const struct nnb_model *model, struct nnb_reason *reason);
struct nnb__graph *nnb__graph_free(struct nnb__graph *graph); /* NULL is fine. Returns NULL. */
static inline void nnb__graph_freep(struct nnb__graph **graph)
{
	*graph = nnb__graph_free(*graph);
}

/* Are the constants of operation @op there? */
bool nnb__graph_mapped(const struct nnb__graph *graph, uint32_t op);

/*
 * The shapes of one run: @shapes, by operand, hold those of the model's inputs (or are omitted) and what is asked
 * of the outputs; the rest is worked out. @values, by operand, are private copies of the inputs that decide.
 * NONE; INVALID_ARGUMENT: they do not go together; GENERAL_FAILURE: a shape stays unknown.
 */
enum nnb_status nnb__graph_run_shapes(const struct nnb__graph *graph, struct nnb_shape *shapes,
                                      const void *const *values, struct nnb_reason *reason);

/* Whether every dimension is given; sets known. A scalar's are. */
void nnb__shape_look(struct nnb_shape *shape, uint32_t type);

#endif
