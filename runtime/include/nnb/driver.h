/*
 * driver.h -- the driver interface: the table of functions that a vendor implements.
 *
 * A driver is a shared object that exports one variable, `const struct nnb_driver nnb_driver_NAME`, and is
 * installed as nnburst/driver-NAME.so beside libnnburst. Only the library calls it, on behalf of device.h.
 *
 * A driver may rely on this: each graph is valid, its constants are mapped, and the integers that decide what to
 * compute (scalars, INT32 and BOOL8 tensors) are private copies that no peer can change. Float and quant8 constants,
 * inputs and outputs may lie in memory that a peer writes at any time: the driver must not crash on any value in it,
 * and must read an index in it once and then check it. After the last byte of each operand, NNB_MAPPING_SLACK more
 * bytes are readable.
 *
 * CONCURRENCY  open and close exclude all other calls on a device. The library may make all other calls at any time
 * from any thread, except that it orders the calls on one run, and that a write of a buffer excludes every other
 * access to it. Several runs of one prepared model may be under way at the same time, and a run may pause between two
 * operations for any time.
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

enum { NNB_DRIVER_ABI = 8 };

struct nnb_shape {
	uint32_t rank;
	uint32_t dims[NNB_RANK_MAX];
	bool known;   /* all dimensions are known */
	bool omitted; /* an omitted optional input: no bytes, rank 0 */
};

/*
 * The account that is charged for the memory of a prepared model. The driver calls charge before it allocates more
 * than some hundred bytes, and give_back when it has freed them; from any thread, and without holding a lock that a
 * run needs. charge returns NONE, or RESOURCE_EXHAUSTED_*: then the driver must not allocate, and fails with that
 * status. A driver that caches memory for later runs frees the cache before it fails.
 */
struct nnb_account {
	enum nnb_status (*charge)(void *arg, uint64_t bytes); /* NULL: memory is not charged */
	void (*give_back)(void *arg, uint64_t bytes);         /* NULL: like charge */
	void *arg;
};

/* A valid model with what the library derived from it. Valid until the prepared model is released. */
struct nnb_graph {
	/* number of the prepared model, unique in this process, by which roles of buffers name it; 0 in calls
	 * of supported */
	uint64_t id;
	const struct nnb_model *model;
	const void *const *constants;   /* by operand; NULL: not a constant, or in a pool that cannot be mapped */
	const struct nnb_shape *shapes; /* by operand: the shapes as far as known before any request */
	const uint32_t *last_reader;    /* by operand: the last operation that reads it, or else its writer */
	bool shapes_known;              /* all shapes are known: every run has these shapes */
	/*
	 * The shape of some operation's output is known only when the operations before it have run, because it
	 * depends on computed values, such as the number of boxes kept. Then shapes_known is false, and runs have
	 * nnb_run.found.
	 */
	bool late;
	struct nnb_account account; /* account of the prepared model; unused in calls of supported */
	const bool *value_decides;  /* by model input: shapes depend on its value */
	/*
	 * The graphs that IF and WHILE run, by index into the model's referenced; they share the account. A graph
	 * with IF or WHILE is late. No graph refers to itself, and their nesting is at most NNB_NESTING_MAX.
	 */
	const struct nnb_graph *const *referenced;
};

/* The geometry of a convolution or pooling operation, from either form of its arguments (O-30, O-31). */
struct nnb_window {
	uint32_t pad_left, pad_right, pad_top, pad_bottom;
	uint32_t stride_w, stride_h, filter_w, filter_h;
	uint32_t multiplier;             /* multiplier of a depthwise convolution; otherwise 1 */
	uint32_t fused;                  /* enum nnb_fused */
	uint32_t dilation_w, dilation_h; /* 1: no dilation */
};

/*
 * Compute the geometry of operation @op (AVERAGE_POOL_2D, CONV_2D, DEPTHWISE_CONV_2D, L2_POOL_2D, MAX_POOL_2D) from the
 * shapes of all operands. 0; -ENODATA: it depends on an unknown shape, or on a scalar that is not constant; -EINVAL:
 * the arguments are inconsistent.
 */
NNB_PUBLIC int nnb_window(const struct nnb_graph *graph, uint32_t op, const struct nnb_shape *shapes,
                          struct nnb_window *ret);

/*
 * Compute the shapes of operation @op's outputs into @shapes, which has those of its inputs. @values, by operand: the
 * data of its constants and inputs. A shape that depends on computed values stays unknown, with its rank and the
 * known dimensions. 0; -EINVAL: the inputs do not fit together, or the outputs are declared with another shape;
 * -ENOMEM.
 */
NNB_PUBLIC int nnb_op_shapes(const struct nnb_graph *graph, uint32_t op, const void *const *values,
                             struct nnb_shape *shapes);

/*
 * The elements that STRIDED_SLICE takes of one dimension: n elements from @begin, @step apart. The flags are the
 * dimension's bits of the masks: begin at the first, end at the last, take one. n is 0 for an empty slice, or if
 * @stride is 0.
 */
struct nnb_slice {
	int64_t begin, step;
	uint32_t n;
};

NNB_PUBLIC struct nnb_slice nnb_slice_of(uint32_t extent, int32_t begin, int32_t end, int32_t stride, bool from_first,
                                         bool to_last, bool one);

/* The range of a fused activation (O-33): *min and *max, infinite if unbounded. */
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
 * The positions of an LSTM cell's operands among the inputs of operations with several cells. Four in a row belong to
 * the input, forget, cell and output gates; three in a row lack the cell gate.
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
	NNB_UNIDIRECTIONAL_ACTIVATION = 20, /* the two clips follow */
	NNB_UNIDIRECTIONAL_TIME_MAJOR = 23,
	NNB_BOTH_AUX = 39,
	NNB_BOTH_ACTIVATION = 48, /* the two clips follow */
	NNB_BOTH_MERGE = 51,
	NNB_BOTH_TIME_MAJOR = 52,
	NNB_BOTH_RNN_MERGE = 14, /* for BIDIRECTIONAL_SEQUENCE_RNN */
	NNB_QUANTIZED_CLIPS = 24,
	NNB_QUANTIZED_SCALES = 26, /* scales of the four gates before normalisation */
	NNB_QUANTIZED_HIDDEN_ZERO = 30,
	NNB_QUANTIZED_HIDDEN_SCALE = 31
};

/* The default and the largest timeout of a WHILE. */
#define NNB_LOOP_DEFAULT_NS UINT64_C(2000000000)
#define NNB_LOOP_MAX_NS UINT64_C(15000000000)

/* The terms of the loops of a run. */
struct nnb_loops {
	/*
	 * The timeout of each WHILE. If its condition is still true then, or its body still runs, the run ends with
	 * MISSED_DEADLINE_TRANSIENT. Time that the run waits in its look does not count.
	 */
	uint64_t timeout_ns;
	/* Called after each iteration, numbered from 1, of operation @op of the model; @depth: number of loops around
	 * it. May be NULL. */
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

/* How the caller of a run or a preparation can end it, or make its thread wait, in the middle of an operation. */
struct nnb_look {
	/* may block for long. False: the operation must end. NULL: the caller never ends it */
	bool (*goes_on)(void *arg);
	void *arg;
};

struct nnb_prepare {
	uint32_t preference; /* 0 low power, 1 fast single answer, 2 sustained speed */
	uint32_t priority;   /* enum nnb_priority */
	/* The deadline in ns of CLOCK_MONOTONIC; 0: none. Drivers need not check it, because look does. */
	uint64_t deadline_ns;
	/*
	 * Can end the preparation. Borrowed for the call; NULL: the caller never ends it. A driver's prepare receives
	 * the library's look, which checks the deadline, too: the driver calls it every millisecond, on the preparing
	 * thread and without holding a lock. When it returns false, prepare returns any error.
	 */
	const struct nnb_look *look;
};

/* The terms of a run, as hints. The library itself ends a run at its deadline, and orders runs by priority. */
struct nnb_run_terms {
	uint64_t deadline_ns; /* the run's deadline in ns of CLOCK_MONOTONIC; 0: no deadline */
	uint32_t priority;    /* enum nnb_priority: the prepared model's */
	void *burst; /* the context of the run's burst, from burst_new; NULL: no burst, or a burst without a context */
};

/* One run: the places of its inputs and outputs. */
struct nnb_run {
	const struct nnb_shape *shapes; /* by operand: all known, or omitted. Valid until run_end */
	const void *const *inputs;      /* by model input; NULL: omitted. Valid until run_end */
	void *const *outputs;           /* by model output; each has its shape's bytes. Valid until run_end */
	/* by input and output: whether the pointer is from buffer_new or hardware_buffer_open. NULL if no pointer is */
	const bool *inputs_kept, *outputs_kept;
	/*
	 * Valid until run_end; its fields may change between two operations. An operation should call it every
	 * millisecond, on the thread that runs it and without holding a lock; when it returns false, run_op returns
	 * an error, and no operation follows. Apps cannot share a device whose driver does not call it. NULL: the
	 * caller never ends the run.
	 */
	const struct nnb_look *look;
	/*
	 * For a late graph; otherwise NULL. The same array as shapes, with some shapes unknown: the driver adds the
	 * shapes of each operation's outputs before running it (nnb_op_shapes), and calls place before it writes a
	 * model output: outputs are all NULL.
	 */
	struct nnb_shape *found;
	/* Returns memory for model output @output, of the shape found. NONE; or a status that ends the run:
	 * OUTPUT_INSUFFICIENT_SIZE. */
	enum nnb_status (*place)(void *arg, uint32_t output, void **ret);
	void *arg;
	const struct nnb_loops *loops; /* valid until run_end; for a late graph */
	/* Valid until run_end. The library fills it in after run_begin and before the first run_op. Never NULL. */
	const struct nnb_run_terms *terms;
};

/* A permitted use of a buffer: one input or output of one prepared model (M-3). */
struct nnb_driver_role {
	uint64_t graph; /* the id of the graph; the prepared model may have been released by now */
	uint32_t index; /* index into the model's inputs or outputs */
	bool output;
	float frequency;     /* how likely this use is: above 0, at most 1 */
	uint32_t preference; /* preference and priority of the prepared model */
	uint32_t priority;
};

/* Describes a buffer for buffer_new. All pointers are valid for the call. */
struct nnb_driver_buffer {
	uint64_t bytes; /* at least 1 */
	/*
	 * The first tensor in the buffer. If the roles and the app's description leave no dimension unknown, every
	 * tensor in the buffer has these dimensions. Otherwise the library calls buffer_new when the first tensor
	 * arrives (M-33); later tensors may have other dimensions and fewer bytes. For a tensor of more bytes the
	 * library frees the buffer and makes a new one.
	 */
	uint32_t type; /* enum nnb_type */
	uint32_t rank; /* 0: a scalar */
	uint32_t dims[NNB_RANK_MAX];
	bool fixed; /* every tensor in the buffer has these dimensions */
	/* All roles of the buffer, at least one; sorted by graph, inputs before outputs, by index. No role appears
	 * twice. */
	const struct nnb_driver_role *roles;
	uint32_t n_roles;
};

/* An argument of a run that lies in a hardware buffer which is not a BLOB. All pointers are valid for the call. */
struct nnb_driver_image {
	const struct nnb_memory *memory;        /* a peer's: its fd may be any file (nnb_map_hardware_buffer) */
	struct nnb_hardware_buffer description; /* agrees with the size of @memory */
	uint32_t index;                         /* into the model's inputs or outputs */
	bool output;
	const struct nnb_shape *shape; /* all dimensions are known */
};

struct nnb_driver {
	uint32_t abi; /* NNB_DRIVER_ABI */
	const char *name;
	/* version of everything that affects prepared models: cache entries of other versions are refused */
	const char *version;

	/* 0 and *ret, which all functions below receive; or -errno. */
	int (*open)(void **ret);
	void (*close)(void *device);

	void (*capabilities)(void *device, struct nnb_capabilities *ret);

	/* ret[i]: the driver can run operation i of the graph; false in case of doubt (O-17). NONE or an error. */
	enum nnb_status (*supported)(void *device, const struct nnb_graph *graph, bool *ret);

	/*
	 * Do all work that can be done before the first run. @graph is valid until release. NONE and *ret; or another
	 * status: INVALID_ARGUMENT if an operation is not supported.
	 */
	enum nnb_status (*prepare)(void *device, const struct nnb_graph *graph, const struct nnb_prepare *how,
	                           void **ret, struct nnb_reason *reason);
	void (*release)(void *prepared); /* called when no run is under way */

	/* Bind a run. NONE and *ret; or another status. The driver should keep the memory of a run for the next one. */
	enum nnb_status (*run_begin)(void *prepared, const struct nnb_run *run, void **ret);

	/* Run operation @op. The library calls this once for each operation, in the model's order. */
	enum nnb_status (*run_op)(void *run, uint32_t op);

	/* The run is preempted and continues later: release what other runs could use. May be NULL. */
	void (*run_park)(void *run);
	void (*run_end)(void *run); /* called at any time after run_begin */

	/*
	 * Memory domains (M-1): buffers that the driver keeps between runs, in a place and format of its choice. All
	 * NULL: the driver has none. buffer_new makes a buffer of zeroes, so that no app sees the data of another. 0
	 * and *ret, -ENOMEM, or another -errno to refuse. No run and no copy uses a buffer when it is freed.
	 */
	int (*buffer_new)(void *device, const struct nnb_driver_buffer *what, void **ret);
	void (*buffer_free)(void *device, void *buffer, uint64_t bytes); /* @bytes: as in buffer_new */

	/* Copy the first @bytes in the app's format. Both NULL: the data lie at *ret of buffer_new, followed by
	 * NNB_MAPPING_SLACK bytes. */
	void (*buffer_write)(void *buffer, const void *from, uint64_t bytes);
	void (*buffer_read)(const void *buffer, void *to, uint64_t bytes);

	/*
	 * Switch the device's fast state on or off. NULL if the device has no fast state. The state is on while any
	 * burst is open (B-2); the calls alternate, beginning with on, and the library makes one at a time. A hint:
	 * failures are not reported.
	 */
	void (*performance)(void *device, bool on);

	/*
	 * The driver's context of a burst, in which a run can leave data for the next one (B-3). The runs of a burst
	 * do not overlap. 0 and *ret; or -errno: the burst has no context. When burst_free is called, no run of the
	 * burst is under way, and the prepared model still exists. Both NULL: bursts have no contexts.
	 */
	int (*burst_new)(void *prepared, void **ret);
	void (*burst_free)(void *burst);

	/*
	 * Only a driver knows how the pixels of a hardware buffer become a tensor: the library puts each argument in
	 * one to the driver before a run begins (P-14). 0 and *ret, which the run receives; or -errno: the driver
	 * cannot use it, and the execution fails (P-15). hardware_buffer_close is called when the run has ended;
	 * @written: the run gave a valid output, which must be in the hardware buffer before the call returns. Both
	 * NULL: the driver uses no hardware buffers.
	 */
	int (*hardware_buffer_open)(void *prepared, const struct nnb_driver_image *image, void **ret);
	void (*hardware_buffer_close)(void *prepared, void *buffer, bool written);
};

/*
 * Map the bytes of a hardware buffer as they are, for a driver with hardware_buffer_open that has no import of its own.
 * nnb_map refuses hardware buffers that are not BLOBs. The file must be a dma-buf or a memfd sealed against shrinking.
 * Returns as nnb_map; -ENOTSUP: @memory is no hardware buffer.
 */
NNB_PUBLIC int nnb_map_hardware_buffer(struct nnb_mapping **ret, const struct nnb_memory *memory);

/*
 * Buffer functions for a device without memory of its own: private pages of this process. 0, and *ret is owned by the
 * caller until nnb_plain_buffer_free with the same @bytes; or -ENOMEM, or another error of mmap.
 */
NNB_PUBLIC int nnb_plain_buffer_new(void *device, const struct nnb_driver_buffer *what, void **ret);
NNB_PUBLIC void nnb_plain_buffer_free(void *device, void *buffer, uint64_t bytes);

NNB_END_DECLS

#endif
