/* convert.c -- from one type to another, and from one order of channels to the other. */
#include <string.h>

#include "kernels.h"
#include "look.h"
#include "nnb/half.h"

enum { PIECE = 256 }; /* elements that are kept on the stack */

/* Each piece is read before it is written, so that the floats may end where the halves end. */
void nnbx_half_to_float(size_t n, const void *in, void *out)
{
	uint16_t halves[PIECE];
	float floats[PIECE];

	NNBX_IN_PARTS (n, 1, at, part)
		for (size_t i = at, piece; i < at + part; i += piece) {
			piece = at + part - i < PIECE ? at + part - i : PIECE;
			memcpy(halves, (const char *)in + i * sizeof(*halves), piece * sizeof(*halves));
			for (size_t k = 0; k < piece; k++)
				floats[k] = nnb_half_to_float(halves[k]);
			memcpy((char *)out + i * sizeof(*floats), floats, piece * sizeof(*floats));
		}
}

void nnbx_float_to_half(size_t n, const void *in, void *out)
{
	uint16_t halves[PIECE];
	float floats[PIECE];

	NNBX_IN_PARTS (n, 1, at, part)
		for (size_t i = at, piece; i < at + part; i += piece) {
			piece = at + part - i < PIECE ? at + part - i : PIECE;
			memcpy(floats, (const char *)in + i * sizeof(*floats), piece * sizeof(*floats));
			for (size_t k = 0; k < piece; k++)
				halves[k] = nnb_float_to_half(floats[k]);
			memcpy((char *)out + i * sizeof(*halves), halves, piece * sizeof(*halves));
		}
}

void nnbx_flip(size_t n, const void *in, void *out)
{
	const uint8_t *from = in;
	uint8_t *to = out;

	NNBX_IN_PARTS (n, 1, at, part)
		for (size_t i = at; i < at + part; i++)
			to[i] = from[i] ^ 0x80;
}

/* A column of the input, @step elements apart, is a row of the output. */
static void elements_gather(size_t n, size_t elem, const char *in, size_t step, char *out)
{
	NNBX_IN_PARTS (n, 2, at, part)
		for (size_t i = at; i < at + part; i++) {
			const char *from = in + i * step * elem;

			/* A length that is known is one instruction. */
			if (elem == 1)
				out[i] = *from;
			else if (elem == 2)
				memcpy(out + i * 2, from, 2);
			else
				memcpy(out + i * 4, from, 4);
		}
}

void nnbx_transpose(size_t batch, size_t rows, size_t columns, size_t elem, const void *in, void *out)
{
	const char *from = in;
	char *to = out;

	for (size_t b = 0; b < batch && nnbx_worked(1); b++, from += rows * columns * elem)
		for (size_t column = 0; column < columns && nnbx_worked(1); column++, to += rows * elem)
			elements_gather(rows, elem, from + column * elem, columns, to);
}
