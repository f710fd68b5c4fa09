/*
 * zoo_recurrent.c -- one step of an LSTM on 40 filter banks, to 12 words; the state goes in and comes out.
 *
 * A stream that gives it the same state each time, for the load alone, gets the same answer each time.
 */
#include "builder.h"
#include "nnb/driver.h"

enum { INPUTS = 40, CELLS = 128, WORDS = 12, GATES = 4, LSTM_INPUTS = NNB_LSTM_PROJECTION_CLIP + 1, TANH = 4 };

void load_zoo_recurrent(struct builder *b, uint32_t size)
{
	const uint32_t state[] = { 1, CELLS };
	uint32_t k[LSTM_INPUTS], out[4], at;

	(void)size;
	k[NNB_LSTM_INPUT] = builder_tensor(b, 2, (uint32_t[]){ 1, INPUTS });
	k[NNB_LSTM_STATE] = builder_tensor(b, 2, state);
	k[NNB_LSTM_CELL_STATE] = builder_tensor(b, 2, state);
	for (int gate = 0; gate < GATES; gate++) {
		k[NNB_LSTM_W_INPUT + gate] = builder_weights(b, 2, (uint32_t[]){ CELLS, INPUTS }, INPUTS);
		k[NNB_LSTM_R_INPUT + gate] = builder_weights(b, 2, (uint32_t[]){ CELLS, CELLS }, CELLS);
		k[NNB_LSTM_B_INPUT + gate] = builder_bias(b, CELLS);
	}
	for (int i = NNB_LSTM_PEEP_INPUT; i <= NNB_LSTM_PEEP_OUTPUT; i++)
		k[i] = builder_omitted(b, 1);
	k[NNB_LSTM_PROJECTION] = builder_omitted(b, 2);
	k[NNB_LSTM_PROJECTION_BIAS] = builder_omitted(b, 1);
	k[NNB_LSTM_ACTIVATION] = builder_int(b, TANH);
	k[NNB_LSTM_CELL_CLIP] = builder_float(b, 0);
	k[NNB_LSTM_PROJECTION_CLIP] = builder_float(b, 0);
	out[0] = builder_tensor(b, 2, (uint32_t[]){ 1, GATES * CELLS }); /* scratch output, which no operation reads */
	for (int i = 1; i < 4; i++)
		out[i] = builder_tensor(b, 2, state);
	builder_operation(b, NNB_LSTM, k, LSTM_INPUTS, out, 4);
	at = builder_dense(b, out[3], CELLS, WORDS, NNB_FUSED_NONE);
	at = builder_softmax(b, at, WORDS);
	builder_finish(b, (uint32_t[]){ k[NNB_LSTM_INPUT], k[NNB_LSTM_STATE], k[NNB_LSTM_CELL_STATE] }, 3,
	               (uint32_t[]){ at, out[1], out[2] }, 3);
}
