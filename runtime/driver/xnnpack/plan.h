/*
 * plan.h -- the plans that a prepared model keeps for runs whose shapes are known when they begin.
 *
 * For each set of shapes that it was run with lately, a model keeps a plan: where temporaries lie, and two lists of
 * what runs need, made once and reused. They are frames (the memory of one run, kept from its first operation to its
 * end) and sets (one step an operation, with packed weights, needed only while operations run). So runs that wait for
 * the device have neither, runs that take turns on it, preempted ones included, share one set, and runs side by side
 * have one each. A run that waits within an operation (nnb_look) keeps its set: meanwhile another run of the model
 * has one of its own.
 *
 * Every function may be called from any thread, but for nnbx_plans_init and nnbx_plans_fini: no other may run
 * meanwhile. A frame has one user, from take to give.
 */
#ifndef NNBX_PLAN_H
#define NNBX_PLAN_H

#include <pthread.h>

#include "memory.h"
#include "step.h"

enum { NNBX_STEP_UNITS = 100 /* to look at an operation (kernels/look.h) */ };

/* All plans of a model. */
struct plans {
	const struct nnb_graph *graph;
	/* the main graph's operands as operations see them (seen.h); NULL: as they are */
	const struct nnb_operand *base;
	uint64_t constants_bytes;
	pthread_mutex_t lock;
	struct plan *first; /* the latest used first */
};

struct set {
	struct set *next;
	uint64_t bytes;          /* charged, besides the tally's */
	struct nnbx_tally tally; /* XNNPACK's operators */
	struct step steps[];     /* one an operation */
};

struct plan_frame {
	struct plan_frame *next;
	struct plans *plans;
	struct plan *plan; /* for as long as a run has it */
	struct set *set;   /* NULL: parked, or no operation has run yet */
	uint64_t bytes;    /* charged */
	void *arena;
	size_t arena_bytes;
	void *at[]; /* by operand */
};

struct plan {
	struct plan *next;
	bool fixed;               /* the plan is for graph->shapes; a run with that pointer needs no comparison */
	struct nnb_shape *shapes; /* by operand */
	size_t *offsets;          /* by operand, in the arena */
	size_t arena_bytes, scratch_at;
	uint64_t bytes; /* charged for the plan itself */
	unsigned runs;  /* under way */
	unsigned n_frames, n_sets;
	struct plan_frame *frames;
	struct set *sets;
};

/* @graph is borrowed until fini. The caller sets base. */
void nnbx_plans_init(struct plans *plans, const struct nnb_graph *graph);
void nnbx_plans_fini(struct plans *plans);

/* The plan for these shapes, with one more run under way, which nnbx_plan_give ends. */
enum nnb_status nnbx_plan_take(struct plan **ret, struct plans *plans, const struct nnb_shape *shapes);
void nnbx_plan_give(struct plans *plans, struct plan *plan);

/* A frame of the plan, without a set. Its user sets the addresses of inputs and outputs. */
enum nnb_status nnbx_plan_frame_take(struct plan_frame **ret, struct plans *plans, struct plan *plan);
void nnbx_plan_frame_give(struct plan_frame *frame);

/* Take a set for the frame, which must have none. Give the frame's set back; a frame without a set is fine. */
enum nnb_status nnbx_set_take(struct plan_frame *frame);
void nnbx_set_give(struct plan_frame *frame);

/* Operation @op on the memory of the frame. */
struct site nnbx_plan_site(const struct plan_frame *frame, uint32_t op);

#endif
