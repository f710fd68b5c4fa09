/*
 * gate.h -- memory that a test shares with the driver "gate" of a service: which executions the driver holds,
 * and its notes.
 *
 * The driver maps the file that $NNB_GATE names; without that file it holds nothing. With $NNB_GATE_ROOM the
 * driver leaves the service's process that number of the mappings that the kernel allows, and uses up all
 * others. The driver neither holds nor notes runs whose first input begins with the number 0: with these the
 * service measures how long a model takes.
 */
#ifndef GATE_H
#define GATE_H

#include <stdatomic.h>

enum { GATE_OPS = 4096 };

/* An operation that was run. */
struct gate_op {
	float tag; /* the first number of its run's first input, before the first operation */
	unsigned op;
	int tid; /* the service's thread that ran it */
};

enum { GATE_ROLES = 8 };

/* The arguments of the last run that began its first operation. The service's measuring runs are not noted. */
struct gate_run {
	_Atomic float tag;
	_Atomic uint64_t deadline_ns;
	atomic_uint priority;
	atomic_uint burst; /* the number of the burst whose context the run was given; 1: the first; 0: none */
};

/* The arguments of the last request for a buffer; n_buffers counts the requests. */
struct gate_buffer {
	uint64_t bytes;
	unsigned type, rank, dims[4], fixed, n_roles; /* n_roles may exceed the number of noted roles */
	struct gate_role {
		uint64_t graph;
		unsigned index, output, preference, priority;
		float frequency;
	} roles[GATE_ROLES];
};

struct gate {
	/* the test's: not 0 holds runs, preparations, copies; runs stop before hold_op; @let held runs may go on */
	atomic_uint hold_runs, hold_prepares, hold_copies, hold_op, let;
	atomic_uint op_us;      /* minimum cpu time of each operation */
	atomic_uint no_buffers; /* not 0: every buffer fails for lack of memory */
	/* the driver's: the number of each that is held now; of prepared models and runs; whether the fast state is
	 * on */
	atomic_uint held_runs, held_prepares, held_copies, prepared, runs, performance;
	atomic_uint buffers;   /* the apps' buffers now */
	atomic_uint came;      /* runs held so far */
	atomic_uint n_runs;    /* runs that began their first operation, without seeds */
	atomic_uint n_buffers; /* requests for buffers so far, including refused ones */
	atomic_uint bursts;    /* contexts of bursts now */
	atomic_uint n_bursts;  /* requests for contexts of bursts so far */
	atomic_uint no_bursts; /* the test's: not 0: every context fails for lack of memory */
	atomic_uint images;    /* open hardware buffers now */
	atomic_uint n_images;  /* hardware buffers shown to the driver so far */
	struct gate_run run;
	struct gate_buffer buffer;
	_Atomic uint64_t graph; /* the id of the graph that was prepared last */
	atomic_uint n_ops;      /* operations begun; the test may set it to 0 when nothing runs */
	struct gate_op ops[GATE_OPS];
};

#endif
