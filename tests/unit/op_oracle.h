/*
 * op_oracle.h -- random models of one operation, which the tests of operations run and judge.
 *
 * A family is an operation with the types it takes. A row is an operation with one of those types. Each of its
 * rounds makes a model of that operation alone, in one of its forms, computes in doubles what the operation
 * should give, and runs it on the driver of driver_both.c. That driver also compares XNNPACK's result with the
 * plain kernel's. An oracle reads inputs as the reals that their bytes stand for, so it knows nothing of types.
 */
#ifndef OP_ORACLE_H
#define OP_ORACLE_H

#include <math.h>

#include "nnb/half.h"
#include "unit/device_helpers.h"

enum { TENSORS_MAX = 64, ELEMENTS_MAX = 4096 };
enum { OP_ROUNDS = 25 }; /* rounds of a row */

uint32_t random_below(uint32_t n);
uint32_t random_between(uint32_t least, uint32_t most); /* both included */
bool random_chance(uint32_t percent);

struct tensor {
	uint32_t index; /* index of the operand */
	struct nnb_operand operand;
	const float *scales; /* scales of the channels */
	size_t n;
	double off; /* the tolerance: a multiple of the type's own, or steps of a quantised type */
	uint8_t bytes[4 * ELEMENTS_MAX];
	double reals[ELEMENTS_MAX];
};

/* One model of one operation. */
struct maker {
	struct nnb_model *m;
	uint32_t op, type, second; /* types of the row; second: 0 where the family has none */
	bool nchw;                 /* layout of input 0 and output 0 */
	bool late;                 /* the model does not state the rows of outputs */
	bool unknown;              /* the model states no extents of outputs */
	uint32_t inputs[64], n_inputs, outputs[TENSORS_MAX], n_outputs; /* operands of the operation */
	uint32_t given[TENSORS_MAX], n_given;                           /* inputs of the model, which hold tensors[k] */
	struct tensor *tensors[TENSORS_MAX];
	struct tensor pool[TENSORS_MAX];
	uint32_t n_tensors;
	struct tensor *wanted[TENSORS_MAX]; /* their reals are the expected outputs */
};

struct op_family {
	enum nnb_op op;
	void (*make)(struct maker *k);
	const char *types;   /* letters as in signature.c */
	const char *seconds; /* for each of @types, the type of a second operand; NULL: none */
	const char *xnnpack; /* the types for which some round used XNNPACK; NULL: none */
	/* Judges the outputs instead of a comparison with reals, and fails the test; NULL: compare. */
	void (*judge)(const struct maker *k);
};

/* The families, by file; the last of each list has no types. */
extern const struct op_family op_families_first[], op_families_newer[], op_families_cells[], op_families_boxes[];

uint32_t op_type_of_letter(char letter);

/* An empty model of @op. */
void op_maker_init(struct maker *k, uint32_t op, uint32_t type);
/* Finish the model and run it. @shapes: room for each output; NULL: not requested. */
enum nnb_status op_run(struct nnb_device *d, struct maker *k, struct nnb_output_shape *shapes,
                       struct nnb_reason *reason);

/* A row: an operation with one of its types. */
struct op_row {
	const struct op_family *family;
	uint32_t type, second; /* second: 0 where the family has none */
	char name[96];
};

/* The rows of families; @ret NULL: count them only. */
size_t op_rows(const struct op_family *families, struct op_row *ret);

/* Make the unfinished model of a round of @row, the same one each time. The caller frees k->m. */
void op_round_make(struct maker *k, const struct op_row *row, uint32_t round);

/*
 * Add the operation, with operands for its outputs, and finish the model. @again: add the operation a second
 * time, for these outputs; or NULL.
 */
void op_model_finish(struct maker *k, struct tensor *const *again);

/* Execute the finished model, prepared; the outputs' bytes go to k->wanted. */
enum nnb_status op_execute(struct nnb_prepared *p, struct maker *k, struct nnb_output_shape *shapes,
                           struct nnb_reason *reason);

/* Fail the test unless the outputs are what the family expects. */
void op_outputs_judge(const struct op_row *row, uint32_t round, const struct maker *k);

/* Run each row of @families as a test of cmocka. */
int op_oracle_main(const char *name, const struct op_family *families);

#define DIMS(...)                                                                        \
	sizeof((const uint32_t[]){ __VA_ARGS__ }) / sizeof(uint32_t), (const uint32_t[]) \
	{                                                                                \
		__VA_ARGS__                                                              \
	}

/* ---- tensors ---- */

bool is_real(uint32_t type); /* float32 or float16 */

double element_decode(const struct tensor *t, size_t i);
/* Store @real as element @i; of a quantised type: any element. */
void element_encode(struct tensor *t, size_t i, double real);
/* Store @real as element @i, or the nearest number that the type has. */
void encode_nearest(struct tensor *t, size_t i, double real);

/* A new tensor. @zero_point is that of unsigned bytes: signed ones have 128 less, symmetric ones 0. */
struct tensor *tensor_make(struct maker *k, uint32_t type, uint32_t rank, const uint32_t *dims, float scale,
                           int32_t zero_point);

/* Make @t an input of the operation, unchanged: a constant, or an input of the model. */
struct tensor *give_filled(struct maker *k, struct tensor *t, bool constant);
/* As give_filled, with random elements from @least to @most; quantised types use their full range. */
struct tensor *give_between(struct maker *k, struct tensor *t, double least, double most, bool constant);
/* As give_between, from -@most to @most. */
struct tensor *tensor_give(struct maker *k, struct tensor *t, double most, bool constant);
/* An input that is a list of integers. */
struct tensor *integers_give(struct maker *k, uint32_t n, const int32_t *values, bool constant);

/* An omitted input. */
void operand_omit(struct maker *k, uint32_t type, uint32_t rank, const uint32_t *dims);
void integer_give(struct maker *k, int32_t value);
void truth_give(struct maker *k, bool value);
/* A real scalar as precise as the row's type. Returns the stored number. */
double number_give(struct maker *k, double value);
/* A float32 scalar, whatever the row's type. */
double float_number(struct maker *k, double value);

/* An output; the caller computes its reals. */
struct tensor *tensor_want(struct maker *k, uint32_t type, uint32_t rank, const uint32_t *dims, float scale,
                           int32_t zero_point);
/* Give @t, whose reals are known, a scale that holds the greatest of them. */
void fit_scale(struct tensor *t, double at_least);

/* Apply a fused activation to @x; apply the activation of an RNN or LSTM to @x. */
double value_fused(uint32_t fused, double x);
double value_activated(uint32_t activation, double x);

/* Row @row of a matrix of @n columns, times x. */
double times_row(const struct tensor *matrix, size_t row, const double *x, size_t n);

/* ---- images, in both layouts ---- */

struct image {
	uint32_t b, h, w, c;
};

void image_dims(const struct maker *k, struct image s, uint32_t ret[4]);

/* The index of the element at (y, x) of channel c. */
size_t image_cell(const struct maker *k, struct image s, uint32_t b, uint32_t y, uint32_t x, uint32_t c);

#define EACH_CELL(shape, batch, row, column, channel)                           \
	for (uint32_t batch = 0; batch < (shape).b; batch++)                    \
		for (uint32_t row = 0; row < (shape).h; row++)                  \
			for (uint32_t column = 0; column < (shape).w; column++) \
				for (uint32_t channel = 0; channel < (shape).c; channel++)

/* The value at a point between the cells of a channel; beyond the last cell, the value of the last cell. */
double image_sample(const struct maker *k, struct image s, const struct tensor *in, uint32_t b, double y, double x,
                    uint32_t c);

#endif
