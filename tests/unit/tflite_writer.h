/*
 * tflite_writer.h -- .tflite files for tests: a model in C, written as a FlatBuffer by hand, front to back.
 *
 * The file is valid where the model is; an invalid file is a test's own change.
 */
#ifndef TFLITE_WRITER_H
#define TFLITE_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TFL_RANK = 9, TFL_LIST = 8, TFL_OPTIONS = 8 };

/* The schema's numbers of types. */
enum {
	TFL_FLOAT32 = 0,
	TFL_FLOAT16 = 1,
	TFL_INT32 = 2,
	TFL_UINT8 = 3,
	TFL_INT64 = 4,
	TFL_STRING = 5,
	TFL_BOOL = 6,
	TFL_INT8 = 9
};

struct tfl_tensor {
	const char *name;
	uint8_t type;
	uint32_t rank;
	int32_t dims[TFL_RANK];
	const void *data; /* NULL: it is no constant */
	uint32_t bytes;
	uint32_t n_scales;
	float scales[TFL_RANK];
	int64_t zero;
	int32_t quantized_dimension;
	bool variable, sparse;
	int32_t buffer; /* 0: a constant has a buffer of its own, and other tensors have none */
};

/* A field of an operator's options: 'b' a byte, 'i' an integer, 'f' a float, 'v' a vector of @n integers. */
struct tfl_option {
	uint8_t field;
	char kind;
	double value;
	const int32_t *vector;
	uint32_t n;
};

struct tfl_operator {
	int32_t code;
	const char *custom;
	uint32_t n_inputs, n_outputs;
	int32_t inputs[TFL_LIST], outputs[TFL_LIST];
	uint8_t options_type;
	struct tfl_option options[TFL_OPTIONS]; /* the first one whose kind is 0 ends them */
};

struct tfl_model {
	uint32_t version, n_subgraphs; /* 0: version 3, and 1 subgraph */
	uint32_t n_tensors, n_operators, n_inputs, n_outputs;
	const struct tfl_tensor *tensors;
	const struct tfl_operator *operators;
	int32_t inputs[TFL_LIST], outputs[TFL_LIST];
	bool old_codes;               /* operator codes as in files from before there were more than 127 */
	bool outside;                 /* the bytes of buffers are behind the root, by offset and size */
	const struct tfl_model *more; /* further subgraphs: the tensors, operators, inputs and outputs of each */
	uint32_t n_more;
};

/* *ret (the caller frees it) has *ret_bytes. */
void tfl_write(const struct tfl_model *model, uint8_t **ret, size_t *ret_bytes);

/* Valid models, for tests that change them: their number, and one of them, written. */
unsigned tfl_samples(void);
void tfl_sample(unsigned which, uint8_t **ret, size_t *ret_bytes);
const struct tfl_model *tfl_sample_model(unsigned which);

#endif
