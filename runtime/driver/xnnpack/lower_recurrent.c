/* lower_recurrent.c -- operations with state. */
#include "lowering.h"

enum nnb_status nnbx_run_rnn(const struct site *s)
{
	struct nnbx_rnn p = { .batch = in_shape(s, 0)->dims[0],
		              .inputs = in_shape(s, 0)->dims[1],
		              .units = in_shape(s, 1)->dims[0],
		              .activation = (uint32_t)in_i32(s, 5),
		              .weights = in_at(s, 1),
		              .recurrent = in_at(s, 2),
		              .bias = in_at(s, 3) };

	nnbx_rnn_f32(&p, in_at(s, 0), in_at(s, 4), out_at(s, 0), out_at(s, 1));
	return NNB_STATUS_NONE;
}

enum nnb_status nnbx_run_svdf(const struct site *s)
{
	struct nnbx_svdf p = { .batch = in_shape(s, 0)->dims[0],
		               .inputs = in_shape(s, 0)->dims[1],
		               .filters = in_shape(s, 1)->dims[0],
		               .memory = in_shape(s, 2)->dims[1],
		               .rank = (uint32_t)in_i32(s, 5),
		               .activation = (uint32_t)in_i32(s, 6),
		               .feature = in_at(s, 1),
		               .time = in_at(s, 2),
		               .bias = in_at(s, 3) };

	nnbx_svdf_f32(&p, in_at(s, 0), in_at(s, 4), out_at(s, 0), out_at(s, 1));
	return NNB_STATUS_NONE;
}

/* The weights of a layer normalisation: left out, or not among the inputs. */
static const float *norm_at(const struct site *s, uint32_t k)
{
	return k < s->op->n_inputs ? in_at(s, k) : NULL;
}

enum nnb_status nnbx_run_lstm(const struct site *s)
{
	struct nnbx_lstm p = {
		.batch = in_shape(s, NNB_LSTM_INPUT)->dims[0],
		.inputs = in_shape(s, NNB_LSTM_INPUT)->dims[1],
		.cells = in_shape(s, NNB_LSTM_W_OUTPUT)->dims[0],
		.outputs = in_shape(s, NNB_LSTM_R_OUTPUT)->dims[1],
		.activation = (uint32_t)in_i32(s, NNB_LSTM_ACTIVATION),
		.input = { in_at(s, NNB_LSTM_W_INPUT), in_at(s, NNB_LSTM_R_INPUT), in_at(s, NNB_LSTM_PEEP_INPUT),
		           in_at(s, NNB_LSTM_B_INPUT), norm_at(s, NNB_LSTM_NORM_INPUT) },
		.forget = { in_at(s, NNB_LSTM_W_FORGET), in_at(s, NNB_LSTM_R_FORGET), in_at(s, NNB_LSTM_PEEP_FORGET),
		            in_at(s, NNB_LSTM_B_FORGET), norm_at(s, NNB_LSTM_NORM_FORGET) },
		.cell = { in_at(s, NNB_LSTM_W_CELL), in_at(s, NNB_LSTM_R_CELL), NULL, in_at(s, NNB_LSTM_B_CELL),
		          norm_at(s, NNB_LSTM_NORM_CELL) },
		.output = { in_at(s, NNB_LSTM_W_OUTPUT), in_at(s, NNB_LSTM_R_OUTPUT), in_at(s, NNB_LSTM_PEEP_OUTPUT),
		            in_at(s, NNB_LSTM_B_OUTPUT), norm_at(s, NNB_LSTM_NORM_OUTPUT) },
		.projection = in_at(s, NNB_LSTM_PROJECTION),
		.projection_bias = in_at(s, NNB_LSTM_PROJECTION_BIAS),
		.cell_clip = in_f32(s, NNB_LSTM_CELL_CLIP),
		.projection_clip = in_f32(s, NNB_LSTM_PROJECTION_CLIP),
	};

	nnbx_lstm_f32(&p, in_at(s, NNB_LSTM_INPUT), in_at(s, NNB_LSTM_STATE), in_at(s, NNB_LSTM_CELL_STATE),
	              out_at(s, 0), out_at(s, 1), out_at(s, 2), out_at(s, 3));
	return NNB_STATUS_NONE;
}
