/* consumer.c -- a program of another project: all it knows of us is the output of pkg-config. */
#include <nnb/fmq.h>

int main(void)
{
	struct nnb_fmq *none = 0;

	return nnb_fmq_free(none) != 0;
}
