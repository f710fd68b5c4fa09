/*
 * frame.h -- a running graph of a loose run: the main one, or a subgraph that IF or WHILE runs (control.c).
 *
 * A frame has one user, the run's. All its memory is charged to the model's account.
 */
#ifndef NNBX_FRAME_H
#define NNBX_FRAME_H

#include "loose.h"
#include "memory.h"

enum {
	NO_OUTPUT = UINT32_MAX,
	COUNTED_MAX = 4 /* outputs of an operation that counts rows */
};

/* An operation of a loop, set up for these shapes of its inputs and outputs. */
struct kept_step {
	struct step step;
	struct nnbx_tally tally;
	struct nnb_shape *shapes; /* shapes of the inputs and outputs; NULL: the frame is not set up */
	uint64_t shapes_bytes;
};

struct frame {
	const struct nnb_graph *graph;
	const struct nnb_operand *base;
	struct loose *run;
	bool is_main;
	bool whole;              /* the arrays hold what they should: no look ended their making */
	uint64_t own;            /* bytes of the arrays: charged */
	struct nnb_shape *found; /* by operand; the main frame's are the caller's */
	void **at;               /* by operand */
	uint64_t *bytes;     /* by operand: size of the allocation at that place; 0: the memory is not the frame's */
	uint32_t *output_of; /* by operand: which output of the graph it is */
	struct kept_step *steps; /* by operation of a loop; otherwise NULL */
};

struct loose {
	struct nnb_run run;
	const struct nnb_operand *const *bases; /* by part of the model: the main graph first; NULL: as they are */
	uint64_t held;                          /* bytes of all frames */
	uint32_t op;                            /* current operation of the main graph */
	uint32_t loops;                         /* around what is under way */
	uint64_t loop_end;                      /* end of the outermost loop, in time that excludes waits */
	struct frame main;
};

/* A frame of subgraph @index of @outer's run; its inputs are not there yet. To be freed even if that fails. */
enum nnb_status nnbx_frame_init(struct frame *frame, struct frame *outer, uint32_t index);
void nnbx_frame_fini(struct frame *frame);

/* Free what the frame computed. Operations stay set up. False: a look ended it. */
bool nnbx_frame_clear(struct frame *frame);

/* Input @input is what is at @at, of @shape: borrowed until the frame is cleared; what decides shapes is copied. */
enum nnb_status nnbx_frame_input(struct frame *frame, uint32_t input, const struct nnb_shape *shape, void *at);

/* All of a subgraph's operations. Its outputs are in the frame then. */
enum nnb_status nnbx_frame_run(struct frame *frame);

/* The frame gives the memory up: its new owner returns it with nnbx_frame_give. */
void nnbx_frame_give(struct frame *frame, void *at, uint64_t taken);

/* Bytes of an operand of this shape. */
uint64_t nnbx_frame_bytes(const struct frame *frame, uint32_t operand, const struct nnb_shape *shape);

/*
 * Room for an operand of the frame whose shape is known: in the frame, or at the address that the caller of the run
 * gives.
 */
enum nnb_status nnbx_frame_place(struct frame *frame, uint32_t operand);

/* Operation @op of the frame is IF or WHILE: run it. Its outputs have places then. */
enum nnb_status nnbx_control(struct frame *frame, uint32_t op);

/* Has a loop around this run out of time? Outside loops: no. */
bool nnbx_loop_is_over(const struct loose *run);

#endif
