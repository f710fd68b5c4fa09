/*
 * shapes.c -- infers the shapes of outputs from those of inputs, one function for each family (section 7.6).
 *
 * Each function runs when all of its tensor inputs are known or omitted, and refuses inputs that contradict each
 * other. A scalar that is not known leaves the output unknown.
 */
#include <assert.h>
#include <errno.h>
#include <string.h>

#include "model/shaping.h"

/* ---- element by element ---- */

static int shape_same(const view *v, struct nnb_shape *ret)
{
	int r = rank_between(v, 0, 1, 4);

	if (!r)
		*ret = *nnb__in(v, 0);
	return r;
}

/* ADD and MUL, which HAL 1.0 has: ranks up to 4, and integers have no fused activation. */
static int shape_broadcast(const view *v, struct nnb_shape *ret)
{
	int32_t fused;

	if (rank_between(v, 0, 1, 4) || rank_between(v, 1, 1, 4) || fused_is_known(v, 2))
		return -EINVAL;
	if (nnb__in_type(v, 0) == NNB_TENSOR_INT32 && nnb__in_i32(v, 2, &fused) && fused != NNB_FUSED_NONE)
		return REFUSE(v, "integers have no fused activation");
	return nnb__shape_pairs(v, ret);
}

/* Require that input @k, if known, is an axis; a negative axis counts from the end. */
static int want_axis(const view *v, uint32_t k, uint32_t rank)
{
	int32_t axis;

	assert(rank <= NNB_RANK_MAX);
	if (k >= v->op->n_inputs || !nnb__in_i32(v, k, &axis) || (axis >= -(int32_t)rank && axis < (int32_t)rank))
		return 0;
	return REFUSE(v, "there is no axis %d", axis);
}

static int shape_softmax(const view *v, struct nnb_shape *ret)
{
	float beta;

	if (v->model->hal < NNB_HAL_1_2 && nnb__in(v, 0)->rank != 2 && nnb__in(v, 0)->rank != 4)
		return REFUSE(v, "its input has rank %u, which is neither 2 nor 4", nnb__in(v, 0)->rank);
	if (nnb__in_real(v, 1, &beta) && !(beta > 0))
		return REFUSE(v, "beta is not above 0");
	return want_axis(v, 2, nnb__in(v, 0)->rank) ? -EINVAL : shape_same(v, ret);
}

/* HAL 1.0 and 1.1 accept rank 4 only. */
static int shape_normalization(const view *v, struct nnb_shape *ret)
{
	uint32_t axis = v->op->type == NNB_LOCAL_RESPONSE_NORMALIZATION ? 5 : 1;
	int32_t radius;

	if (v->op->type == NNB_LOCAL_RESPONSE_NORMALIZATION && nnb__in_i32(v, 1, &radius) && radius < 0)
		return REFUSE(v, "the radius is below 0");
	if (v->model->hal < NNB_HAL_1_2 && rank_between(v, 0, 4, 4))
		return -EINVAL;
	return want_axis(v, axis, nnb__in(v, 0)->rank) ? -EINVAL : shape_same(v, ret);
}

/* ---- windows ---- */

static int shape_pool(const view *v, struct nnb_shape *ret)
{
	const struct nnb_shape *in = nnb__in(v, 0);
	struct nnb_window w;
	uint32_t h, width;
	int r = rank_between(v, 0, 4, 4);

	if (!r)
		r = nnb__op_window(v, &w, &h, &width);
	if (!r)
		shape_set(ret, DIMS(in->dims[0], h, width, in->dims[3]));
	return r;
}

static int shape_conv(const view *v, struct nnb_shape *ret)
{
	const struct nnb_shape *in = nnb__in(v, 0), *filter = nnb__in(v, 1);
	struct nnb_window w;
	uint32_t h, width;
	int r;

	if (rank_between(v, 0, 4, 4) || rank_between(v, 1, 4, 4) || dims_are(v, 2, DIMS(filter->dims[0])))
		return -EINVAL;
	if (filter->dims[3] != in->dims[3])
		return REFUSE(v, "the filter is for %u channels, and there are %u", filter->dims[3], in->dims[3]);
	r = nnb__op_window(v, &w, &h, &width);
	if (!r)
		shape_set(ret, DIMS(in->dims[0], h, width, filter->dims[0]));
	return r;
}

static int shape_depthwise(const view *v, struct nnb_shape *ret)
{
	const struct nnb_shape *in = nnb__in(v, 0), *filter = nnb__in(v, 1);
	struct nnb_window w;
	uint32_t h, width;
	int r;

	if (rank_between(v, 0, 4, 4) || rank_between(v, 1, 4, 4) || dims_are(v, 2, DIMS(filter->dims[3])))
		return -EINVAL;
	if (filter->dims[0] != 1)
		return REFUSE(v, "the filter's first dimension is not 1");
	r = nnb__op_window(v, &w, &h, &width);
	if (r)
		return r;
	if ((uint64_t)in->dims[3] * w.multiplier != filter->dims[3])
		return REFUSE(v, "%u channels times %u are not the filter's %u", in->dims[3], w.multiplier,
		              filter->dims[3]);
	shape_set(ret, DIMS(in->dims[0], h, width, filter->dims[3]));
	return 0;
}

static int shape_fully_connected(const view *v, struct nnb_shape *ret)
{
	const struct nnb_shape *in = nnb__in(v, 0), *weights = nnb__in(v, 1);
	uint64_t n = nnb__shape_elements(in);

	if (rank_between(v, 0, 2, 4) || rank_between(v, 1, 2, 2) || dims_are(v, 2, DIMS(weights->dims[0])) ||
	    fused_is_known(v, 3))
		return -EINVAL;
	if (!weights->dims[1] || n % weights->dims[1] || n / weights->dims[1] > UINT32_MAX)
		return REFUSE(v, "the input does not divide into rows of %u", weights->dims[1]);
	shape_set(ret, DIMS((uint32_t)(n / weights->dims[1]), weights->dims[0]));
	return 0;
}

static int shape_resize(const view *v, struct nnb_shape *ret)
{
	const struct nnb_shape *in = nnb__in(v, 0);
	int32_t w = 0, h = 0;
	int r;

	if (rank_between(v, 0, 4, 4) || nnb__want_alignment(v))
		return -EINVAL;
	if (!in->dims[1] || !in->dims[2])
		return REFUSE(v, "an image is %u by %u", in->dims[2], in->dims[1]);
	r = nnb__resized_extent(v, 1, in->dims[2], &w);
	if (!r)
		r = nnb__resized_extent(v, 2, in->dims[1], &h);
	if (r)
		return r;
	if (w <= 0 || h <= 0)
		return REFUSE(v, "its output would have %d by %d elements", w, h);
	shape_set(ret, DIMS(in->dims[0], (uint32_t)h, (uint32_t)w, in->dims[3]));
	return 0;
}

/* ---- moving elements ---- */

static int shape_concatenation(const view *v, struct nnb_shape *ret)
{
	uint32_t n = v->op->n_inputs - 1, rank = nnb__in(v, 0)->rank;
	struct nnb_shape out = *nnb__in(v, 0);
	uint64_t sum = 0;
	int32_t axis;

	if (rank_between(v, 0, 1, 4))
		return -EINVAL;
	if (!nnb__in_i32(v, n, &axis))
		return -ENODATA;
	if (axis < 0 && v->model->hal >= NNB_HAL_1_2)
		axis += (int32_t)rank;
	if (axis < 0 || axis >= (int32_t)rank)
		return REFUSE(v, "there is no axis %d", axis);
	for (uint32_t k = 0; k < n; k++) {
		const struct nnb_shape *in = nnb__in(v, k);

		if (in->rank != rank)
			return REFUSE(v, "input %u has another rank", k);
		for (uint32_t d = 0; d < rank; d++)
			if (d != (uint32_t)axis && in->dims[d] != out.dims[d])
				return REFUSE(v, "input %u has another extent in dimension %u", k, d);
		sum += in->dims[axis];
	}
	if (sum > UINT32_MAX)
		return REFUSE(v, "its output is too large");
	out.dims[axis] = (uint32_t)sum;
	*ret = out;
	return 0;
}

/* One dimension may be -1: it takes the remaining elements. */
static int shape_reshape(const view *v, struct nnb_shape *ret)
{
	const struct nnb_shape *in = nnb__in(v, 0), *list = nnb__in(v, 1);
	const int32_t *wanted = v->constants ? v->constants[v->op->inputs[1]] : NULL;
	struct nnb_shape out = { .known = true };
	uint64_t have = nnb__shape_elements(in), n = 1;
	int64_t rest = -1;

	if (rank_between(v, 1, 1, 1))
		return -EINVAL;
	out.rank = list->dims[0];
	if (out.rank > NNB_RANK_MAX)
		return REFUSE(v, "its output would have rank %u", out.rank);
	if (!wanted)
		return -ENODATA;
	for (uint32_t d = 0; d < out.rank; d++) {
		if (wanted[d] == -1 && rest < 0) {
			rest = d;
			continue;
		}
		if (wanted[d] <= 0 || __builtin_mul_overflow(n, (uint64_t)wanted[d], &n))
			return REFUSE(v, "dimension %u of the new shape is %d", d, wanted[d]);
		out.dims[d] = (uint32_t)wanted[d];
	}
	if (rest >= 0) {
		if (have % n || have / n > UINT32_MAX)
			return REFUSE(v, "%llu elements do not divide by %llu", (unsigned long long)have,
			              (unsigned long long)n);
		out.dims[rest] = (uint32_t)(have / n);
		n = have;
	}
	if (n != have)
		return REFUSE(v, "%llu elements do not become %llu", (unsigned long long)have, (unsigned long long)n);
	*ret = out;
	return 0;
}

static int shape_depth_to_space(const view *v, struct nnb_shape *ret)
{
	const struct nnb_shape *in = nnb__in(v, 0);
	int32_t block;
	uint64_t h, w;

	if (rank_between(v, 0, 4, 4))
		return -EINVAL;
	if (!nnb__in_i32(v, 1, &block))
		return -ENODATA;
	if (block <= 0 || in->dims[3] % ((uint64_t)block * (uint64_t)block))
		return REFUSE(v, "%u channels do not divide by the square of block %d", in->dims[3], block);
	h = (uint64_t)in->dims[1] * (uint64_t)block;
	w = (uint64_t)in->dims[2] * (uint64_t)block;
	if (h > UINT32_MAX || w > UINT32_MAX)
		return REFUSE(v, "its output is too large");
	shape_set(ret, DIMS(in->dims[0], (uint32_t)h, (uint32_t)w,
	                    (uint32_t)(in->dims[3] / ((uint64_t)block * (uint64_t)block))));
	return 0;
}

static int shape_space_to_depth(const view *v, struct nnb_shape *ret)
{
	const struct nnb_shape *in = nnb__in(v, 0);
	int32_t block;
	uint64_t c;

	if (rank_between(v, 0, 4, 4))
		return -EINVAL;
	if (!nnb__in_i32(v, 1, &block))
		return -ENODATA;
	if (block <= 0 || in->dims[1] % (uint32_t)block || in->dims[2] % (uint32_t)block)
		return REFUSE(v, "%u by %u do not divide by block %d", in->dims[1], in->dims[2], block);
	c = (uint64_t)block * (uint64_t)block;
	if (__builtin_mul_overflow(c, in->dims[3], &c) || c > UINT32_MAX)
		return REFUSE(v, "its output is too large");
	shape_set(ret, DIMS(in->dims[0], in->dims[1] / (uint32_t)block, in->dims[2] / (uint32_t)block, (uint32_t)c));
	return 0;
}

/* ---- looking up ---- */

static int shape_embedding_lookup(const view *v, struct nnb_shape *ret)
{
	struct nnb_shape out = *nnb__in(v, 1);

	if (rank_between(v, 0, 1, 1) || rank_between(v, 1, 2, NNB_RANK_MAX))
		return -EINVAL;
	out.dims[0] = nnb__in(v, 0)->dims[0];
	*ret = out;
	return 0;
}

static int shape_hashtable_lookup(const view *v, struct nnb_shape *ret)
{
	struct nnb_shape out = *nnb__in(v, 2);
	uint32_t n = nnb__in(v, 0)->dims[0];

	if (rank_between(v, 0, 1, 1) || rank_between(v, 2, 1, NNB_RANK_MAX) || dims_are(v, 1, DIMS(out.dims[0])))
		return -EINVAL;
	out.dims[0] = n;
	ret[0] = out;
	shape_set(&ret[1], DIMS(n));
	return 0;
}

enum { LSH_SPARSE_PLAIN = 1, LSH_DENSE = 2, LSH_SPARSE = 3, LSH_BITS_MAX = 32 };

static int shape_lsh_projection(const view *v, struct nnb_shape *ret)
{
	const struct nnb_shape *hash = nnb__in(v, 0), *in = nnb__in(v, 1);
	int32_t type;
	uint64_t n;

	if (rank_between(v, 0, 2, 2) || rank_between(v, 1, 1, NNB_RANK_MAX))
		return -EINVAL;
	if (hash->dims[1] > LSH_BITS_MAX)
		return REFUSE(v, "a hash has %u bits", hash->dims[1]);
	if (!nnb__in(v, 2)->omitted && dims_are(v, 2, DIMS(in->dims[0])))
		return -EINVAL;
	if (!nnb__in_i32(v, 3, &type))
		return -ENODATA;
	if (type < LSH_SPARSE_PLAIN || type > (v->model->hal < NNB_HAL_1_2 ? LSH_DENSE : LSH_SPARSE))
		return REFUSE(v, "there is no type %d", type);
	n = type == LSH_DENSE ? (uint64_t)hash->dims[0] * hash->dims[1] : hash->dims[0];
	if (n > UINT32_MAX)
		return REFUSE(v, "its output is too large");
	shape_set(ret, DIMS((uint32_t)n));
	return 0;
}

/* ---- with state ---- */

static int shape_rnn(const view *v, struct nnb_shape *ret)
{
	const struct nnb_shape *in = nnb__in(v, 0);
	uint32_t batch = in->dims[0], inputs = in->dims[1], units = nnb__in(v, 1)->dims[0];

	if (rank_between(v, 0, 2, 2) || dims_are(v, 1, DIMS(units, inputs)) || dims_are(v, 2, DIMS(units, units)) ||
	    dims_are(v, 3, DIMS(units)) || dims_are(v, 4, DIMS(batch, units)) || activation_is_known(v, 5))
		return -EINVAL;
	shape_set(&ret[0], DIMS(batch, units));
	shape_set(&ret[1], DIMS(batch, units));
	return 0;
}

static int shape_svdf(const view *v, struct nnb_shape *ret)
{
	const struct nnb_shape *in = nnb__in(v, 0);
	uint32_t batch = in->dims[0], filters = nnb__in(v, 1)->dims[0], memory = nnb__in(v, 2)->dims[1];
	uint64_t state = (uint64_t)filters * memory;
	int32_t rank;

	if (rank_between(v, 0, 2, 2) || dims_are(v, 1, DIMS(filters, in->dims[1])) || rank_between(v, 2, 2, 2) ||
	    dims_are(v, 2, DIMS(filters, memory)) || activation_is_known(v, 6))
		return -EINVAL;
	if (!memory)
		return REFUSE(v, "its filters have no memory");
	if (state > UINT32_MAX || dims_are(v, 4, DIMS(batch, (uint32_t)state)))
		return REFUSE(v, "the state is not %u by %llu", batch, (unsigned long long)state);
	shape_set(&ret[0], DIMS(batch, (uint32_t)state));
	if (!nnb__in_i32(v, 5, &rank))
		return 0;
	if (rank <= 0 || filters % (uint32_t)rank)
		return REFUSE(v, "%u filters do not divide by rank %d", filters, rank);
	if (!nnb__in(v, 3)->omitted && dims_are(v, 3, DIMS(filters / (uint32_t)rank)))
		return -EINVAL;
	shape_set(&ret[1], DIMS(batch, filters / (uint32_t)rank));
	return 0;
}

/*
 * Inputs that belong together must be omitted together; that decides which of the four kinds of LSTM the operation is.
 */
static int lstm_kind(const view *v, uint32_t cells, uint32_t outputs)
{
	bool coupled = nnb__in(v, NNB_LSTM_W_INPUT)->omitted, peeps = !nnb__in(v, NNB_LSTM_PEEP_OUTPUT)->omitted;
	bool projects = !nnb__in(v, NNB_LSTM_PROJECTION)->omitted, norms;

	if (nnb__in(v, NNB_LSTM_R_INPUT)->omitted != coupled || nnb__in(v, NNB_LSTM_B_INPUT)->omitted != coupled)
		return REFUSE(v, "only a part of the input gate is there");
	if (nnb__in(v, NNB_LSTM_PEEP_FORGET)->omitted == peeps ||
	    nnb__in(v, NNB_LSTM_PEEP_INPUT)->omitted != (!peeps || coupled))
		return REFUSE(v, "only a part of the peephole connections is there");
	if (!projects && (!nnb__in(v, NNB_LSTM_PROJECTION_BIAS)->omitted || cells != outputs))
		return REFUSE(v, "the weights of the projection are missing");
	if (v->op->n_inputs <= NNB_LSTM_NORM_INPUT)
		return 0;
	norms = !nnb__in(v, NNB_LSTM_NORM_FORGET)->omitted;
	if (nnb__in(v, NNB_LSTM_NORM_CELL)->omitted == norms || nnb__in(v, NNB_LSTM_NORM_OUTPUT)->omitted == norms ||
	    nnb__in(v, NNB_LSTM_NORM_INPUT)->omitted != (!norms || coupled))
		return REFUSE(v, "only a part of the layer normalisation is there");
	return 0;
}

static int lstm_weights(const view *v, uint32_t inputs, uint32_t cells, uint32_t outputs)
{
	const uint32_t w[] = { cells, inputs }, r[] = { cells, outputs }, projection[] = { outputs, cells };

	for (uint32_t k = NNB_LSTM_W_INPUT; k <= NNB_LSTM_W_OUTPUT; k++)
		if (dims_are_if_given(v, k, 2, w))
			return -EINVAL;
	for (uint32_t k = NNB_LSTM_R_INPUT; k <= NNB_LSTM_R_OUTPUT; k++)
		if (dims_are_if_given(v, k, 2, r))
			return -EINVAL;
	for (uint32_t k = NNB_LSTM_PEEP_INPUT; k <= NNB_LSTM_B_OUTPUT; k++)
		if (dims_are_if_given(v, k, 1, &cells))
			return -EINVAL;
	for (uint32_t k = NNB_LSTM_NORM_INPUT; k <= NNB_LSTM_NORM_OUTPUT && k < v->op->n_inputs; k++)
		if (dims_are_if_given(v, k, 1, &cells))
			return -EINVAL;
	if (dims_are_if_given(v, NNB_LSTM_PROJECTION, 2, projection) ||
	    dims_are_if_given(v, NNB_LSTM_PROJECTION_BIAS, 1, &outputs))
		return -EINVAL;
	return 0;
}

static int shape_lstm(const view *v, struct nnb_shape *ret)
{
	const struct nnb_shape *in = nnb__in(v, NNB_LSTM_INPUT);
	uint32_t batch = in->dims[0], cells = nnb__in(v, NNB_LSTM_W_OUTPUT)->dims[0],
		 outputs = nnb__in(v, NNB_LSTM_R_OUTPUT)->dims[1];
	uint64_t scratch = (uint64_t)cells * (nnb__in(v, NNB_LSTM_W_INPUT)->omitted ? 3 : 4);

	if (rank_between(v, NNB_LSTM_INPUT, 2, 2) || lstm_weights(v, in->dims[1], cells, outputs) ||
	    lstm_kind(v, cells, outputs) || dims_are(v, NNB_LSTM_STATE, DIMS(batch, outputs)) ||
	    dims_are(v, NNB_LSTM_CELL_STATE, DIMS(batch, cells)) || activation_is_known(v, NNB_LSTM_ACTIVATION))
		return -EINVAL;
	if (scratch > UINT32_MAX)
		return REFUSE(v, "it has too many cells");
	shape_set(&ret[0], DIMS(batch, (uint32_t)scratch));
	shape_set(&ret[1], DIMS(batch, outputs));
	shape_set(&ret[2], DIMS(batch, cells));
	shape_set(&ret[3], DIMS(batch, outputs));
	return 0;
}

/* The shapes of a subgraph's outputs are known only after it has run. */
static int shape_control(const view *v, struct nnb_shape *ret)
{
	(void)v;
	(void)ret;
	return 0;
}

/* ---- the table ---- */

static shape_fn *const shape_fns[] = {
	[NNB_ADD] = shape_broadcast,
	[NNB_AVERAGE_POOL_2D] = shape_pool,
	[NNB_CONCATENATION] = shape_concatenation,
	[NNB_CONV_2D] = shape_conv,
	[NNB_DEPTHWISE_CONV_2D] = shape_depthwise,
	[NNB_DEPTH_TO_SPACE] = shape_depth_to_space,
	[NNB_DEQUANTIZE] = nnb__shape_each,
	[NNB_EMBEDDING_LOOKUP] = shape_embedding_lookup,
	[NNB_FLOOR] = shape_same,
	[NNB_FULLY_CONNECTED] = shape_fully_connected,
	[NNB_HASHTABLE_LOOKUP] = shape_hashtable_lookup,
	[NNB_L2_NORMALIZATION] = shape_normalization,
	[NNB_L2_POOL_2D] = shape_pool,
	[NNB_LOCAL_RESPONSE_NORMALIZATION] = shape_normalization,
	[NNB_LOGISTIC] = shape_same,
	[NNB_LSH_PROJECTION] = shape_lsh_projection,
	[NNB_LSTM] = shape_lstm,
	[NNB_MAX_POOL_2D] = shape_pool,
	[NNB_MUL] = shape_broadcast,
	[NNB_RELU] = shape_same,
	[NNB_RELU1] = shape_same,
	[NNB_RELU6] = shape_same,
	[NNB_RESHAPE] = shape_reshape,
	[NNB_RESIZE_BILINEAR] = shape_resize,
	[NNB_RNN] = shape_rnn,
	[NNB_SOFTMAX] = shape_softmax,
	[NNB_SPACE_TO_DEPTH] = shape_space_to_depth,
	[NNB_SVDF] = shape_svdf,
	[NNB_TANH] = shape_same,
	/* HAL 1.1 and later */
	[NNB_BATCH_TO_SPACE_ND] = nnb__shape_batch_to_space,
	[NNB_DIV] = nnb__shape_pairs,
	[NNB_MEAN] = nnb__shape_reduce,
	[NNB_PAD] = nnb__shape_pad,
	[NNB_SPACE_TO_BATCH_ND] = nnb__shape_space_to_batch,
	[NNB_SQUEEZE] = nnb__shape_squeeze,
	[NNB_STRIDED_SLICE] = nnb__shape_strided_slice,
	[NNB_SUB] = nnb__shape_pairs,
	[NNB_TRANSPOSE] = nnb__shape_transpose,
	[NNB_ABS] = nnb__shape_each,
	[NNB_ARGMAX] = nnb__shape_arg,
	[NNB_ARGMIN] = nnb__shape_arg,
	[NNB_AXIS_ALIGNED_BBOX_TRANSFORM] = nnb__shape_bbox_transform,
	[NNB_BIDIRECTIONAL_SEQUENCE_LSTM] = nnb__shape_both_lstm,
	[NNB_BIDIRECTIONAL_SEQUENCE_RNN] = nnb__shape_both_rnn,
	[NNB_BOX_WITH_NMS_LIMIT] = nnb__shape_box_with_nms_limit,
	[NNB_CAST] = nnb__shape_each,
	[NNB_CHANNEL_SHUFFLE] = nnb__shape_channel_shuffle,
	[NNB_DETECTION_POSTPROCESSING] = nnb__shape_detection_postprocessing,
	[NNB_EQUAL] = nnb__shape_pairs,
	[NNB_EXP] = nnb__shape_each,
	[NNB_EXPAND_DIMS] = nnb__shape_expand_dims,
	[NNB_GATHER] = nnb__shape_gather,
	[NNB_GENERATE_PROPOSALS] = nnb__shape_generate_proposals,
	[NNB_GREATER] = nnb__shape_pairs,
	[NNB_GREATER_EQUAL] = nnb__shape_pairs,
	[NNB_GROUPED_CONV_2D] = nnb__shape_wide_conv,
	[NNB_HEATMAP_MAX_KEYPOINT] = nnb__shape_heatmap_max_keypoint,
	[NNB_INSTANCE_NORMALIZATION] = nnb__shape_instance_normalization,
	[NNB_LESS] = nnb__shape_pairs,
	[NNB_LESS_EQUAL] = nnb__shape_pairs,
	[NNB_LOG] = nnb__shape_each,
	[NNB_LOGICAL_AND] = nnb__shape_pairs,
	[NNB_LOGICAL_NOT] = nnb__shape_each,
	[NNB_LOGICAL_OR] = nnb__shape_pairs,
	[NNB_LOG_SOFTMAX] = nnb__shape_log_softmax,
	[NNB_MAXIMUM] = nnb__shape_pairs,
	[NNB_MINIMUM] = nnb__shape_pairs,
	[NNB_NEG] = nnb__shape_each,
	[NNB_NOT_EQUAL] = nnb__shape_pairs,
	[NNB_PAD_V2] = nnb__shape_pad,
	[NNB_POW] = nnb__shape_pairs,
	[NNB_PRELU] = nnb__shape_pairs,
	[NNB_QUANTIZE] = nnb__shape_each,
	[NNB_QUANTIZED_16BIT_LSTM] = nnb__shape_quantized_16bit_lstm,
	[NNB_RANDOM_MULTINOMIAL] = nnb__shape_random_multinomial,
	[NNB_REDUCE_ALL] = nnb__shape_reduce,
	[NNB_REDUCE_ANY] = nnb__shape_reduce,
	[NNB_REDUCE_MAX] = nnb__shape_reduce,
	[NNB_REDUCE_MIN] = nnb__shape_reduce,
	[NNB_REDUCE_PROD] = nnb__shape_reduce,
	[NNB_REDUCE_SUM] = nnb__shape_reduce,
	[NNB_ROI_ALIGN] = nnb__shape_roi,
	[NNB_ROI_POOLING] = nnb__shape_roi,
	[NNB_RSQRT] = nnb__shape_each,
	[NNB_SELECT] = nnb__shape_select,
	[NNB_SIN] = nnb__shape_each,
	[NNB_SLICE] = nnb__shape_slice,
	[NNB_SPLIT] = nnb__shape_split,
	[NNB_SQRT] = nnb__shape_each,
	[NNB_TILE] = nnb__shape_tile,
	[NNB_TOPK_V2] = nnb__shape_topk,
	[NNB_TRANSPOSE_CONV_2D] = nnb__shape_wide_conv,
	[NNB_UNIDIRECTIONAL_SEQUENCE_LSTM] = nnb__shape_sequence_lstm,
	[NNB_UNIDIRECTIONAL_SEQUENCE_RNN] = nnb__shape_sequence_rnn,
	[NNB_RESIZE_NEAREST_NEIGHBOR] = nnb__shape_resize_nearest,
	[NNB_QUANTIZED_LSTM] = nnb__shape_quantized_lstm,
	[NNB_IF] = shape_control,
	[NNB_WHILE] = shape_control,
	[NNB_ELU] = nnb__shape_each,
	[NNB_HARD_SWISH] = nnb__shape_each,
	[NNB_FILL] = nnb__shape_fill,
	[NNB_RANK] = nnb__shape_rank,
};

/* ---- layouts ---- */

bool nnb_op_has_layout(uint32_t op)
{
	switch (op) {
	case NNB_AVERAGE_POOL_2D:
	case NNB_CONV_2D:
	case NNB_DEPTHWISE_CONV_2D:
	case NNB_DEPTH_TO_SPACE:
	case NNB_L2_POOL_2D:
	case NNB_MAX_POOL_2D:
	case NNB_RESIZE_BILINEAR:
	case NNB_SPACE_TO_DEPTH:
		return true;
	default:
		return false;
	}
}

/* Are the image's channels the second dimension? -ENODATA: not known. */
static int channels_second(const view *v, bool *ret)
{
	*ret = false;
	for (uint32_t k = 0; nnb_op_has_layout(v->op->type) && k < v->op->n_inputs; k++)
		if (nnb__in_type(v, k) == NNB_BOOL)
			return nnb__in_bool(v, k, ret) ? 0 : -ENODATA;
	return 0;
}

static void channels_from(struct nnb_shape *s, uint32_t from, uint32_t to)
{
	uint32_t channels = s->dims[from];

	assert(from < 4 && to < 4 && from != to);
	if (s->rank != 4)
		return;
	memmove(&s->dims[from < to ? from : to + 1], &s->dims[from < to ? from + 1 : to], 2 * sizeof(s->dims[0]));
	s->dims[to] = channels;
}

int nnb__op_image(const struct nnb__op_view *v, struct nnb_shape *image, struct nnb__op_view *ret)
{
	bool second;
	int r = channels_second(v, &second);

	*ret = *v;
	if (r || !second)
		return r;
	*image = *nnb__in(v, 0);
	channels_from(image, 1, 3);
	ret->image = image;
	return 0;
}

/* ---- entry points ---- */

int nnb__op_shapes(const struct nnb__op_view *v, struct nnb_shape *ret)
{
	int r;
	struct nnb_shape image;
	view seen;

	memset(ret, 0, v->op->n_outputs * sizeof(*ret));
	/* Is the shape of every tensor that the operation reads known, or the tensor omitted? */
	for (uint32_t k = 0; k < v->op->n_inputs; k++)
		if (!nnb__in(v, k)->known && !nnb__in(v, k)->omitted)
			return 0;
	/* Convert the image to channels last, then infer: every function above expects that layout. */
	r = nnb__op_image(v, &image, &seen);
	assert(v->op->type < sizeof(shape_fns) / sizeof(shape_fns[0]) && shape_fns[v->op->type]);
	if (!r)
		r = shape_fns[v->op->type](&seen, ret);
	if (!r && seen.image)
		channels_from(&ret[0], 3, 1);
	if (r == -ENODATA)
		return 0;
	for (uint32_t k = 0; !r && k < v->op->n_outputs; k++) {
		uint32_t type = v->model->operands[v->op->outputs[k]].type;
		uint64_t bytes;

		if (nnb_operand_bytes(type, ret[k].rank, ret[k].dims, &bytes) || bytes > UINT32_MAX)
			r = REFUSE(v, "output %u is larger than 4 GiB", k);
	}
	return r;
}
