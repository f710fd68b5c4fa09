/*
 * zoo_svdf.c -- one step of an SVDF on 40 filter banks, to 12 words: a keyword spotter whose state, the last 128
 * frames of each filter, goes in and comes out. With as many units, of rank 2, as that is to have KiB.
 */
#include "builder.h"

enum { INPUTS = 40, RANK = 2, FRAMES = 128, WORDS = 12 };

void load_zoo_svdf(struct builder *b, uint32_t units)
{
	uint32_t filters = RANK * units, state[] = { 1, filters * FRAMES }, in[7], out[2], at;

	in[0] = builder_tensor(b, 2, (uint32_t[]){ 1, INPUTS });
	in[1] = builder_weights(b, 2, (uint32_t[]){ filters, INPUTS }, INPUTS);
	in[2] = builder_weights(b, 2, (uint32_t[]){ filters, FRAMES }, FRAMES);
	in[3] = builder_bias(b, units);
	in[4] = builder_tensor(b, 2, state);
	in[5] = builder_int(b, RANK);
	in[6] = builder_int(b, NNB_FUSED_RELU);
	out[0] = builder_tensor(b, 2, state);
	out[1] = builder_tensor(b, 2, (uint32_t[]){ 1, units });
	builder_operation(b, NNB_SVDF, in, 7, out, 2);
	at = builder_dense(b, out[1], units, WORDS, NNB_FUSED_NONE);
	at = builder_softmax(b, at, WORDS);
	builder_finish(b, (uint32_t[]){ in[0], in[4] }, 2, (uint32_t[]){ at, out[0] }, 2);
}
