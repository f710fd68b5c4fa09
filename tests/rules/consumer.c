/* consumer.c -- somebody else's program: all it knows of us is what pkg-config says. */
#include <nnb/fmq.h>

int main(void)
{
	struct nnb_fmq *none = 0;

	return nnb_fmq_free(none) != 0;
}
