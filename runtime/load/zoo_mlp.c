/* zoo_mlp.c -- a very small multilayer perceptron: 64 numbers to 10 classes. Microseconds; what is around it counts. */
#include "builder.h"

enum { INPUTS = 64, HIDDEN = 32, CLASSES = 10 };

void load_zoo_mlp(struct builder *b, uint32_t size)
{
	uint32_t in = builder_tensor(b, 2, (uint32_t[]){ 1, INPUTS }), at;

	(void)size;
	at = builder_dense(b, in, INPUTS, HIDDEN, NNB_FUSED_RELU);
	at = builder_dense(b, at, HIDDEN, HIDDEN, NNB_FUSED_RELU);
	at = builder_dense(b, at, HIDDEN, CLASSES, NNB_FUSED_NONE);
	at = builder_softmax(b, at, CLASSES);
	builder_finish(b, &in, 1, &at, 1);
}
