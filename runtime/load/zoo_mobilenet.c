/* zoo_mobilenet.c -- a MobileNet v1 of width 0.25: a picture to 11 classes. Milliseconds, and thirty operations. */
#include "builder.h"

enum { CLASSES = 11 };

void load_zoo_mobilenet(struct builder *b, uint32_t side)
{
	static const struct {
		uint32_t stride, out;
	} blocks[] = { { 1, 16 },  { 2, 32 },  { 1, 32 },  { 2, 64 },  { 1, 64 },  { 2, 128 }, { 1, 128 },
		       { 1, 128 }, { 1, 128 }, { 1, 128 }, { 1, 128 }, { 2, 256 }, { 1, 256 } };
	uint32_t in, at;

	builder_picture(b, side, side, 3);
	in = b->at;
	builder_conv(b, (struct builder_filter){ 3, 3, 2, NNB_FUSED_RELU6 }, 8);
	for (size_t i = 0; i < sizeof(blocks) / sizeof(blocks[0]); i++) {
		builder_depthwise(b, (struct builder_filter){ 3, 3, blocks[i].stride, NNB_FUSED_RELU6 });
		builder_conv(b, (struct builder_filter){ 1, 1, 1, NNB_FUSED_RELU6 }, blocks[i].out);
	}
	builder_average(b);
	at = builder_dense(b, b->at, b->channels, CLASSES, NNB_FUSED_NONE);
	at = builder_softmax(b, at, CLASSES);
	builder_finish(b, &in, 1, &at, 1);
}
