/* loop_models.h -- models with IF and WHILE for tests, and what they compute. */
#ifndef LOOP_MODELS_H
#define LOOP_MODELS_H

#include "nnb/model.h"

enum { LOOP_N = 64 }; /* the number of floats of x and y; a model's inline values cannot hold so many */

/*
 * Each takes x of LOOP_N floats and n, an INT32 of one element, in this order, and gives y. Aborts without
 * memory.
 *
 *   counting  y = x + n ones: a loop of n iterations; endless if n is below 0
 *   nested    n iterations: an IF adds a constant in the first two; in all others a loop of one iteration doubles
 *   growing   each of n iterations doubles the length of x: y has LOOP_N * 2^n floats, which only a run shows
 *   shaped    no loop, but an IF: y is x, n times
 */
struct nnb_model *loop_counting(void);
struct nnb_model *loop_nested(void);
struct nnb_model *loop_growing(void);
struct nnb_model *loop_shaped(void);

/*
 * @levels subgraphs, one inside another, each an IF; the innermost adds 1 to x. @around: the innermost refers
 * to the first.
 */
struct nnb_model *loop_deep(uint32_t levels, bool around);

/*
 * As loop_deep, but each subgraph except the innermost contains the next one @each times, so the model adds
 * @each to the power of @levels - 1. Each has @spare operands that have no reader.
 */
struct nnb_model *loop_wide(uint32_t levels, uint32_t each, uint32_t spare);

/* Element @i of the output of loop_nested. */
float loop_nested_expected(uint32_t i, float x, int32_t n);

#endif
