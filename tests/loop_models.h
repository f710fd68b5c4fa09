/* loop_models.h -- models with IF and WHILE for tests, and what they compute. */
#ifndef LOOP_MODELS_H
#define LOOP_MODELS_H

#include "nnb/model.h"

enum { LOOP_N = 64 }; /* floats that x and y have: more than a model's values hold themselves */

/*
 * All take x of LOOP_N floats, and, in this order, an INT32 of one element, n; and give y. Aborts without memory.
 *
 *   counting  y = x + n ones: a loop of n iterations; without end if n is below 0
 *   nested    n iterations: of the first two an IF adds a constant, of others it doubles, by a loop of one iteration
 *   growing   n iterations double how much there is of x: y has LOOP_N * 2^n floats, which is seen then
 *   shaped    no loop, but an IF: y is x, n times
 */
struct nnb_model *loop_counting(void);
struct nnb_model *loop_nested(void);
struct nnb_model *loop_growing(void);
struct nnb_model *loop_shaped(void);

/* IF within IF, @levels subgraphs within each other, the last of which adds 1 to x; if @around, that refers to the first. */
struct nnb_model *loop_deep(uint32_t levels, bool around);

/* The same of @levels, each of which but the last has the next one @each times: it adds @each to the power of @levels - 1. Each has @spare operands that nothing reads. */
struct nnb_model *loop_wide(uint32_t levels, uint32_t each, uint32_t spare);

/* Element @i of what nested gives. */
float loop_nested_expected(uint32_t i, float x, int32_t n);

#endif
