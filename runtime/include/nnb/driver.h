/*
 * driver.h -- what a driver is: the table of functions a vendor implements.
 *
 * A driver is a shared object that exports one variable, `const struct nnb_driver nnb_driver_NAME`, and is
 * installed as nnburst/driver-NAME.so beside libnnburst. The library calls it through device.h; nobody else does.
 *
 * What the driver may rely on: a graph it is given is valid, its constants are mapped, and integers that decide
 * what to compute (scalars, INT32 and BOOL8 tensors) are private copies that no peer can change. Float and quant8 constants,
 * inputs and outputs may lie in memory that a peer writes at any time: whatever values come out of it, the driver
 * must not crash on them, and an index read from it is read once and then checked. After the last byte of any
 * operand, NNB_MAPPING_SLACK more bytes are readable.
 *
 * CONCURRENCY  open and close exclude everything else on a device. All other functions may be called at any time
 * from any thread, except that the calls on one run are ordered by the caller, and that a buffer is written by one at a
 * time, with nobody reading. Several runs of one prepared model
 * may be under way at once, some of them between two operations for as long as others please.
 */
#ifndef NNB_DRIVER_H
#define NNB_DRIVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "nnb/defs.h"
#include "nnb/model.h"
#include "nnb/status.h"

NNB_BEGIN_DECLS

enum { NNB_DRIVER_ABI = 7 };

struct nnb_shape {
	uint32_t rank;
	uint32_t dims[NNB_RANK_MAX];
	bool known;   /* every dimension is */
	bool omitted; /* an optional input left out: no bytes, rank 0 */
};

/*
 * Whose the memory is that a prepared model takes: asked before any is allocated, beyond some hundred bytes, and told when it
 * is freed. Any thread, with no lock held that a run needs. NONE, or RESOURCE_EXHAUSTED_*: it must not be allocated, and
 * whatever needs it fails with that status. A driver that keeps memory for runs to come frees that before it fails.
 */
struct nnb_account {
	enum nnb_status (*charge)(void *arg, uint64_t bytes); /* NULL: there is nobody to be asked */
	void (*give_back)(void *arg, uint64_t bytes);         /* likewise */
	void *arg;
};

/* A valid model, looked through. Lives as long as what was prepared from it. */
struct nnb_graph {
	uint64_t
		id; /* of what is prepared from it: roles of buffers name it. No other has it in this process. 0: for supported */
	const struct nnb_model *model;
	const void *const *constants;   /* by operand; NULL: no constant, or in a pool that cannot be mapped */
	const struct nnb_shape *shapes; /* by operand: what is known before any request */
	const uint32_t *last_reader;    /* by operand: the last operation that reads it; its writer if none does */
	bool shapes_known;              /* of every operand: all runs have these shapes */
	/*
	 * What some operation gives has a shape that is seen only when the operations before it have run: how many boxes are kept, or
	 * what a tensor that is computed says. Then shapes_known is false, and runs have nnb_run's found.
	 */
	bool late;
	struct nnb_account account; /* of what is prepared from it. Not for supported */
	const bool *value_decides;  /* by model input: what its value is decides shapes */
	/*
	 * What IF and WHILE run, by index into the model's referenced: graphs of their own, but for the account. A graph that has such
	 * an operation is late. None of them refers to itself, and at most NNB_NESTING_MAX lie within each other.
	 */
	const struct nnb_graph *const *referenced;
};

/* The geometry of a convolution or pooling operation, in whichever of the two forms it was given (O-30, O-31). */
struct nnb_window {
	uint32_t pad_left, pad_right, pad_top, pad_bottom;
	uint32_t stride_w, stride_h, filter_w, filter_h;
	uint32_t multiplier;             /* of a depthwise convolution; otherwise 1 */
	uint32_t fused;                  /* enum nnb_fused */
	uint32_t dilation_w, dilation_h; /* 1: the filter's cells are neighbours in the image */
};

/*
 * Work it out for operation @op (AVERAGE_POOL_2D, CONV_2D, DEPTHWISE_CONV_2D, L2_POOL_2D, MAX_POOL_2D) with these
 * shapes of all operands. 0; -ENODATA: it depends on a shape that is not known, or on a scalar that is no constant;
 * -EINVAL: it cannot be.
 */
NNB_PUBLIC int nnb_window(const struct nnb_graph *graph, uint32_t op, const struct nnb_shape *shapes,
                          struct nnb_window *ret);

/*
 * The shapes of operation @op's outputs, put into @shapes, which has those of its inputs. @values, by operand: where all its
 * constants and inputs are. What only running shows stays not known, with a rank and what is known of its dimensions. 0;
 * -EINVAL: its inputs do not go together, or the outputs are declared otherwise; -ENOMEM.
 */
NNB_PUBLIC int nnb_op_shapes(const struct nnb_graph *graph, uint32_t op, const void *const *values,
                             struct nnb_shape *shapes);

/*
 * What STRIDED_SLICE takes of one dimension: n elements, @step apart, from @begin on. Each flag is that dimension's bit of a
 * mask: from the first, to the last, just one. n 0: nothing; @stride 0, too.
 */
struct nnb_slice {
	int64_t begin, step;
	uint32_t n;
};

NNB_PUBLIC struct nnb_slice nnb_slice_of(uint32_t extent, int32_t begin, int32_t end, int32_t stride, bool from_first,
                                         bool to_last, bool one);

/* What a fused activation leaves of the reals (O-33): *min and *max, infinite where it has no bound. */
NNB_PUBLIC void nnb_fused_range(uint32_t fused, float *min, float *max);

/* LSTM's inputs by position: weights W and R of the gates (input, forget, cell, output), peepholes, biases. */
enum nnb_lstm_input {
	NNB_LSTM_INPUT,
	NNB_LSTM_W_INPUT,
	NNB_LSTM_W_FORGET,
	NNB_LSTM_W_CELL,
	NNB_LSTM_W_OUTPUT,
	NNB_LSTM_R_INPUT,
	NNB_LSTM_R_FORGET,
	NNB_LSTM_R_CELL,
	NNB_LSTM_R_OUTPUT,
	NNB_LSTM_PEEP_INPUT,
	NNB_LSTM_PEEP_FORGET,
	NNB_LSTM_PEEP_OUTPUT,
	NNB_LSTM_B_INPUT,
	NNB_LSTM_B_FORGET,
	NNB_LSTM_B_CELL,
	NNB_LSTM_B_OUTPUT,
	NNB_LSTM_PROJECTION,
	NNB_LSTM_PROJECTION_BIAS,
	NNB_LSTM_STATE,
	NNB_LSTM_CELL_STATE,
	NNB_LSTM_ACTIVATION,
	NNB_LSTM_CELL_CLIP,
	NNB_LSTM_PROJECTION_CLIP,
	/* HAL 1.2: the weights of each gate's layer normalisation */
	NNB_LSTM_NORM_INPUT,
	NNB_LSTM_NORM_FORGET,
	NNB_LSTM_NORM_CELL,
	NNB_LSTM_NORM_OUTPUT,
};

/*
 * Where the operands of LSTM cells are among the inputs of the operations that have several. Of four in a row, the first is the
 * input gate's, then come forget, cell and output; of three, there is none for the cell.
 */
struct nnb_cell_places {
	uint32_t weights, aux, recurrent, peepholes, biases; /* four each, but three peepholes; aux 0: none */
	uint32_t projection, projection_bias, norms;
	uint32_t state, cells;
};

#define NNB_UNIDIRECTIONAL_CELL                    \
	{                                          \
		1, 0, 5, 9, 12, 16, 17, 24, 18, 19 \
	}
#define NNB_FORWARD_CELL                            \
	{                                           \
		1, 40, 5, 9, 12, 16, 17, 53, 35, 36 \
	}
#define NNB_BACKWARD_CELL                              \
	{                                              \
		18, 44, 22, 26, 29, 33, 34, 57, 37, 38 \
	}
#define NNB_QUANTIZED_CELL                         \
	{                                          \
		1, 0, 5, 9, 12, 16, 17, 20, 18, 19 \
	}

enum {
	NNB_UNIDIRECTIONAL_ACTIVATION = 20, /* then the two clips */
	NNB_UNIDIRECTIONAL_TIME_MAJOR = 23,
	NNB_BOTH_AUX = 39,
	NNB_BOTH_ACTIVATION = 48, /* then the two clips */
	NNB_BOTH_MERGE = 51,
	NNB_BOTH_TIME_MAJOR = 52,
	NNB_BOTH_RNN_MERGE = 14, /* of the RNN in both directions */
	NNB_QUANTIZED_CLIPS = 24,
	NNB_QUANTIZED_SCALES = 26, /* of the four gates before they are normalised */
	NNB_QUANTIZED_HIDDEN_ZERO = 30,
	NNB_QUANTIZED_HIDDEN_SCALE = 31
};

/* How long a WHILE may take, where the caller does not say, and at most. */
#define NNB_LOOP_DEFAULT_NS UINT64_C(2000000000)
#define NNB_LOOP_MAX_NS UINT64_C(15000000000)

/* Of a run with loops. */
struct nnb_loops {
	/*
	 * How long each WHILE may take. One whose condition is still true then, or whose body is still at it, ends its run: with
	 * MISSED_DEADLINE_TRANSIENT. What the run has waited in its look does not count.
	 */
	uint64_t timeout_ns;
	/* After each iteration, the first being 1: of how many loops around it, in operation @op of the model. NULL: no one asks. */
	void (*iterated)(void *arg, uint32_t op, uint32_t depth, uint64_t iteration);
	void *arg;
};

struct nnb_capabilities { /* execution time and power relative to a CPU, > 0; smaller is better (O-21) */
	struct nnb_performance {
		float time, power;
	} relaxed;
	struct nnb_type_performance {
		uint32_t type; /* ascending */
		struct nnb_performance performance;
	} types[24];
	uint32_t n_types;
};

enum nnb_priority { NNB_PRIORITY_LOW, NNB_PRIORITY_MEDIUM, NNB_PRIORITY_HIGH }; /* */

/* The caller of a run or a preparation may end it, or have its thread wait for others, in the midst of an operation. */
struct nnb_look {
	bool (*goes_on)(void *arg); /* may take long. False: the operation is to end. NULL: the caller never ends it */
	void *arg;
};

struct nnb_prepare {
	uint32_t preference; /* 0 low power, 1 fast single answer, 2 sustained speed */
	uint32_t priority;   /* enum nnb_priority */
	/* When it is to be done, in ns of CLOCK_MONOTONIC; 0: whenever. Drivers need not look at it: look says so. */
	uint64_t deadline_ns;
	/*
	 * May end the preparation. The caller's, for the call; NULL: the caller never ends it. A driver's prepare is given one of the
	 * library, which knows of the deadline, too: the driver asks after each millisecond, on the thread that prepares and with no
	 * lock held. When the answer is no, prepare returns any error.
	 */
	const struct nnb_look *look;
};

/* On what terms a run takes place: hints. The library ends a run at its deadline, and orders runs by priority, whatever the driver does. */
struct nnb_run_terms {
	uint64_t
		deadline_ns; /* when its caller wants it to have ended, in ns of CLOCK_MONOTONIC; 0: the caller sets no deadline */
	uint32_t priority; /* enum nnb_priority: the prepared model's */
	void *burst; /* what burst_new gave for the run's burst; NULL: the run is of no burst, or the burst has no context */
};

/* One run: where its inputs and outputs are. */
struct nnb_run {
	const struct nnb_shape *shapes;         /* by operand: all known, or omitted. Valid until run_end */
	const void *const *inputs;              /* by model input; NULL: omitted. Valid until run_end */
	void *const *outputs;                   /* by model output; each has its shape's bytes. Valid until run_end */
	const bool *inputs_kept, *outputs_kept; /* likewise: it is what buffer_new gave. NULL: none of them is */
	/*
	 * Likewise; what it says may change between two operations. An operation should ask after each millisecond, on the
	 * thread that runs it, and with no lock held; when it is told to end, run_op returns an error, and no operation
	 * follows. A driver that does not ask is none that others can share a device with. NULL: as goes_on.
	 */
	const struct nnb_look *look;
	/*
	 * Of a late graph; otherwise NULL. The same as shapes, in which not all is known: the driver adds each operation's outputs
	 * when it comes to it (nnb_op_shapes), and before it writes an output of the model asks where to: outputs are all NULL.
	 */
	struct nnb_shape *found;
	/* Room for model output @output, of the shape found. NONE; or a status to end with: OUTPUT_INSUFFICIENT_SIZE. */
	enum nnb_status (*place)(void *arg, uint32_t output, void **ret);
	void *arg;
	const struct nnb_loops *loops; /* as look, likewise; of a late graph */
	/* As look, likewise: the library fills it in before the first run_op, and not before run_begin. Never NULL. */
	const struct nnb_run_terms *terms;
};

/* What a buffer may be used for: one input or output of one prepared model (M-3). */
struct nnb_driver_role {
	uint64_t graph; /* the id of the graph; the prepared model may have been released by now */
	uint32_t index; /* of the model's inputs or outputs */
	bool output;
	float frequency;     /* how likely the app uses the buffer so: more than 0, at most 1 */
	uint32_t preference; /* as the model was prepared, like priority */
	uint32_t priority;
};

/* A buffer that a driver is to make. All of it is valid for the call. */
struct nnb_driver_buffer {
	uint64_t bytes; /* at least 1 */
	/*
	 * What the first tensor in it is. Where the roles and the app's description leave no dimension unknown, every tensor in it
	 * is like this. Otherwise the driver is asked when the first tensor comes (M-33), and later ones may have other dimensions
	 * and fewer bytes; for one of more bytes the library frees the buffer and asks for a new one.
	 */
	uint32_t type; /* enum nnb_type */
	uint32_t rank; /* 0: a scalar */
	uint32_t dims[NNB_RANK_MAX];
	bool fixed; /* every tensor in it is like this */
	/* Every role that the app asked for, at least one; sorted by graph, inputs before outputs, by index. No role twice. */
	const struct nnb_driver_role *roles;
	uint32_t n_roles;
};

struct nnb_driver {
	uint32_t abi; /* NNB_DRIVER_ABI */
	const char *name;
	const char *version; /* of everything that decides what is prepared: a cache entry of another is refused */

	/* 0 and *ret, which is given to all below; or -errno. */
	int (*open)(void **ret);
	void (*close)(void *device);

	void (*capabilities)(void *device, struct nnb_capabilities *ret);

	/* ret[i]: operation i of the graph can be run; false in any doubt (O-17). NONE or an error. */
	enum nnb_status (*supported)(void *device, const struct nnb_graph *graph, bool *ret);

	/*
	 * Everything that can be done before the first run, done. @graph is valid until release. NONE and *ret;
	 * or another status. The operations must all be supported, otherwise INVALID_ARGUMENT.
	 */
	enum nnb_status (*prepare)(void *device, const struct nnb_graph *graph, const struct nnb_prepare *how,
	                           void **ret, struct nnb_reason *reason);
	void (*release)(void *prepared); /* no run is under way */

	/* Bind a run. NONE and *ret; or another status. What a run has needed once is kept for the next. */
	enum nnb_status (*run_begin)(void *prepared, const struct nnb_run *run, void **ret);

	/* Run operation @op. They come in the model's order, each once. */
	enum nnb_status (*run_op)(void *run, uint32_t op);

	/* The run leaves the device unfinished, to go on later: give up what other runs could use. NULL: nothing to. */
	void (*run_park)(void *run);
	void (*run_end)(void *run); /* at any time after run_begin */

	/*
	 * Memory domains (M-1): buffers that stay with the device between runs, wherever and however it keeps them. All
	 * NULL: it has none. New: @what's bytes of zeroes, for nobody may find what another has left. 0 and *ret, -ENOMEM, or
	 * another -errno: it will not. No run and no copy of it is under way when it is freed.
	 */
	int (*buffer_new)(void *device, const struct nnb_driver_buffer *what, void **ret);
	void (*buffer_free)(void *device, void *buffer, uint64_t bytes); /* as it was new with */

	/* Its first @bytes, as an app sees them. Both NULL: so they lie at *ret of buffer_new, NNB_MAPPING_SLACK behind. */
	void (*buffer_write)(void *buffer, const void *from, uint64_t bytes);
	void (*buffer_read)(const void *buffer, void *to, uint64_t bytes);

	/*
	 * Keep the device's fast state on, or let it go. NULL: it has none. On as long as any burst is open (B-2), the calls
	 * alternate, on first, and the library makes one at a time. A hint: there is nothing to report if it cannot be done.
	 */
	void (*performance)(void *device, bool on);

	/*
	 * A context of the driver's own for a burst of a prepared model: for what one run can leave for the next (B-3). The runs of a
	 * burst come one after the other. 0 and *ret; or -errno: the burst goes on without. No run of the burst is under way when
	 * burst_free is called, and the prepared model is still there. Both NULL: bursts have no contexts.
	 */
	int (*burst_new)(void *prepared, void **ret);
	void (*burst_free)(void *burst);
};

/* Buffers for a device whose memory is everybody's: private pages of this process. */
NNB_PUBLIC int nnb_plain_buffer_new(void *device, const struct nnb_driver_buffer *what, void **ret);
NNB_PUBLIC void nnb_plain_buffer_free(void *device, void *buffer, uint64_t bytes);

NNB_END_DECLS

#endif
