/* zoo_keyword.c -- a keyword spotter of separable convolutions: one second as 49 x 10 coefficients, to 12 words. */
#include "builder.h"

enum { FRAMES = 49, COEFFICIENTS = 10, CHANNELS = 64, BLOCKS = 4, WORDS = 12 };

void load_zoo_keyword(struct builder *b, uint32_t size)
{
	uint32_t in, at;

	(void)size;
	builder_picture(b, FRAMES, COEFFICIENTS, 1);
	in = b->at;
	builder_conv(b, (struct builder_filter){ 10, 4, 2, NNB_FUSED_RELU }, CHANNELS);
	for (int i = 0; i < BLOCKS; i++) {
		builder_depthwise(b, (struct builder_filter){ 3, 3, 1, NNB_FUSED_RELU });
		builder_conv(b, (struct builder_filter){ 1, 1, 1, NNB_FUSED_RELU }, CHANNELS);
	}
	builder_average(b);
	at = builder_dense(b, b->at, CHANNELS, WORDS, NNB_FUSED_NONE);
	at = builder_softmax(b, at, WORDS);
	builder_finish(b, &in, 1, &at, 1);
}
