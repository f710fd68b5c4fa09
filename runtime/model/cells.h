/*
 * cells.h -- where the operands of LSTM cells are among an operation's inputs. Shapes and drivers read the same table.
 *
 * Of four operands in a row, the first is the input gate's, then come forget, cell and output; of three, there is none for
 * the cell.
 */
#ifndef NNB_MODEL_CELLS_H
#define NNB_MODEL_CELLS_H

#include <stdint.h>

struct nnb_cell_places {
	uint32_t weights, aux, recurrent, peepholes, biases; /* four each, but three peepholes; aux 0: none */
	uint32_t projection, projection_bias, norms;
	uint32_t state, cells;
};

#define NNB_UNIDIRECTIONAL_CELL                    \
	{                                          \
		1, 0, 5, 9, 12, 16, 17, 24, 18, 19 \
	}
#define NNB_FORWARD_CELL                            \
	{                                           \
		1, 40, 5, 9, 12, 16, 17, 53, 35, 36 \
	}
#define NNB_BACKWARD_CELL                              \
	{                                              \
		18, 44, 22, 26, 29, 33, 34, 57, 37, 38 \
	}
#define NNB_QUANTIZED_CELL                         \
	{                                          \
		1, 0, 5, 9, 12, 16, 17, 20, 18, 19 \
	}

enum {
	NNB_UNIDIRECTIONAL_ACTIVATION = 20, /* then the two clips */
	NNB_UNIDIRECTIONAL_TIME_MAJOR = 23,
	NNB_BOTH_AUX = 39,
	NNB_BOTH_ACTIVATION = 48, /* then the two clips */
	NNB_BOTH_MERGE = 51,
	NNB_BOTH_TIME_MAJOR = 52,
	NNB_QUANTIZED_CLIPS = 24,
	NNB_QUANTIZED_SCALES = 26, /* of the four gates before they are normalised */
	NNB_QUANTIZED_HIDDEN_ZERO = 30,
	NNB_QUANTIZED_HIDDEN_SCALE = 31
};

#endif
