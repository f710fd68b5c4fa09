/*
 * tensor.h -- tensors of any type, for kernels that compute in double and do not care which type it is.
 *
 * The same terms as kernels.h: no state, no allocation, tensors dense and row-major, and their bytes may change at
 * any time.
 */
#ifndef NNBX_TENSOR_H
#define NNBX_TENSOR_H

#include "kernels.h"
#include "look.h"

enum { NNBX_BLOCK = 256 }; /* elements that are converted at a time, on the stack */

struct nnbx_tensor {
	uint32_t type; /* enum nnb_type; of a scalar operand, too */
	uint32_t rank;
	const uint32_t *dims;
	float scale; /* scale of a quantised type; 0: use the bare integers */
	int32_t zero_point;
	void *at; /* NULL: omitted. An input's bytes are only read */
};

size_t nnbx_elements(const struct nnbx_tensor *t);
size_t nnbx_element_bytes(const struct nnbx_tensor *t);
/* Elements of one step along each dimension; returns the elements of all. */
size_t nnbx_steps(uint32_t rank, const uint32_t *dims, size_t *ret);
/* The product of the dimensions [from, to). */
size_t nnbx_extent(const struct nnbx_tensor *t, uint32_t from, uint32_t to);

/* ret[i] = the real at element first + i * step; at most NNBX_BLOCK. Per-channel tensors give bare integers. */
void nnbx_load(const struct nnbx_tensor *t, size_t first, size_t step, size_t n, double *ret);
double nnbx_load_one(const struct nnbx_tensor *t, size_t at);
/* All of @n elements as floats, with looks; ret may be anything once the work is stopped. */
void nnbx_load_floats(const struct nnbx_tensor *t, size_t first, size_t n, float *ret);

/*
 * The reverse: the nearest value of the type, halves away from zero. A NaN is 0 or, of a quantised type, the
 * smallest; int32 and quantised types saturate.
 */
void nnbx_store(const struct nnbx_tensor *t, size_t first, size_t n, const double *values);
void nnbx_store_one(const struct nnbx_tensor *t, size_t at, double value);
void nnbx_store_floats(const struct nnbx_tensor *t, size_t first, size_t n, const float *values);

/* ---- elements moved: strided.c ---- */

enum { NNBX_MOVE_RANK = 2 * NNB_RANK_MAX };

/*
 * For each index of a box: out[sum of index * out_step] = in[sum of index * in_step]. Steps are in elements and may
 * be below 0.
 */
struct nnbx_move {
	uint32_t rank;
	size_t dims[NNBX_MOVE_RANK];
	ptrdiff_t in_step[NNBX_MOVE_RANK], out_step[NNBX_MOVE_RANK];
};

void nnbx_move(const struct nnbx_move *m, size_t elem, const void *in, void *out);

/* @n elements, all of them as the one at @value. */
void nnbx_fill(size_t n, size_t elem, const void *value, void *out);

/* ---- two tensors, broadcast to each other: pairs.c; @op names the computation ---- */

/* False: an int32 was divided by 0. @min and @max bound what is stored. */
bool nnbx_pairs(enum nnb_op op, const struct nnbx_tensor *a, const struct nnbx_tensor *b, double min, double max,
                const struct nnbx_tensor *out);
/* condition is BOOL8 */
void nnbx_select(const struct nnbx_tensor *condition, const struct nnbx_tensor *a, const struct nnbx_tensor *b,
                 const struct nnbx_tensor *out);

/* ---- one tensor, element by element: each.c ---- */

void nnbx_each(enum nnb_op op, double alpha, const struct nnbx_tensor *in, const struct nnbx_tensor *out);
/* Bare numbers: quantisation is not looked at, and fractions are cut off. */
void nnbx_cast(const struct nnbx_tensor *in, const struct nnbx_tensor *out);

/* ---- along axes: reduce.c ---- */

/* @axes: one bit a dimension. out has the other dimensions, and any that are 1. */
void nnbx_reduce(enum nnb_op op, const struct nnbx_tensor *in, uint32_t axes, const struct nnbx_tensor *out);
/* ARGMAX and ARGMIN: the first of equals. out is INT32. */
void nnbx_arg(enum nnb_op op, const struct nnbx_tensor *in, uint32_t axis, const struct nnbx_tensor *out);
void nnbx_log_softmax(const struct nnbx_tensor *in, double beta, uint32_t axis, const struct nnbx_tensor *out);

/* The @k greatest of each row of the last axis, the greatest first; of equals, the first first. A NaN is the least. */
size_t nnbx_topk_scratch(size_t k); /* SIZE_MAX: more than any memory */
void nnbx_topk(const struct nnbx_tensor *in, size_t k, void *scratch, const struct nnbx_tensor *values,
               const struct nnbx_tensor *indices);

/* @steps: an image's, of batch, row, column and channel, as its layout has it */
struct nnbx_image {
	size_t batch, h, w, c;
	size_t step_batch, step_h, step_w, step_c;
};

struct nnbx_image nnbx_image(const uint32_t dims[4], bool nchw);

void nnbx_instance_normalization(const struct nnbx_tensor *in, bool nchw, double gamma, double beta, double epsilon,
                                 const struct nnbx_tensor *out);

/* ---- looked up and drawn: gather.c ---- */

/* False: an index is outside. */
bool nnbx_gather(const struct nnbx_tensor *in, uint32_t axis, const struct nnbx_tensor *indices,
                 const struct nnbx_tensor *out);
/* scratch: a double for each class */
void nnbx_random_multinomial(const struct nnbx_tensor *logits, const int32_t seeds[2], double *scratch,
                             const struct nnbx_tensor *out);
/* Where to look for what comes nearest to each output. */
struct nnbx_nearest {
	double scale_h, scale_w;
	bool align_corners, half_pixels, nchw;
};

void nnbx_resize_nearest(const struct nnbx_nearest *how, const struct nnbx_tensor *in, const struct nnbx_tensor *out);
#endif
