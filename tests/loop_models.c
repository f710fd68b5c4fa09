/* loop_models.c -- see loop_models.h. */
#include "loop_models.h"

#include <stdlib.h>

#define must(what)               \
	do {                     \
		if (!(what))     \
			abort(); \
	} while (0)

/* ---- graphs, a line an operand ---- */

static struct nnb_model *graph(const char *name)
{
	struct nnb_model *m;

	must(!nnb_model_new(&m, name, NNB_HAL_1_3));
	return m;
}

static uint32_t operand_of(struct nnb_model *m, uint32_t type, uint32_t n)
{
	bool tensor = nnb_type_info(type)->tensor;
	struct nnb_operand o = { .type = type, .rank = tensor, .dims = { tensor ? n : 0 } };
	int index = nnb_model_operand(m, &o);

	must(index >= 0);
	return (uint32_t)index;
}

static uint32_t floats(struct nnb_model *m, uint32_t n)
{
	return operand_of(m, NNB_TENSOR_FLOAT32, n);
}

static uint32_t ints(struct nnb_model *m)
{
	return operand_of(m, NNB_TENSOR_INT32, 1);
}

static uint32_t truth(struct nnb_model *m)
{
	return operand_of(m, NNB_TENSOR_BOOL8, 1);
}

static uint32_t constant(struct nnb_model *m, uint32_t type, int32_t value)
{
	uint32_t index = operand_of(m, type, 1);

	must(!nnb_model_value(m, index, &value, sizeof(value)));
	return index;
}

/* 0, 1/4, 2/4 ... */
static uint32_t quarters(struct nnb_model *m)
{
	uint32_t index = floats(m, LOOP_N);
	float values[LOOP_N];

	for (uint32_t i = 0; i < LOOP_N; i++)
		values[i] = (float)i / 4;
	must(!nnb_model_value(m, index, values, sizeof(values)));
	return index;
}

static uint32_t subgraph(struct nnb_model *m, uint32_t referenced)
{
	uint32_t index = operand_of(m, NNB_SUBGRAPH, 0);

	must(!nnb_model_subgraph(m, index, referenced));
	return index;
}

#define LIST(...) (const uint32_t[]){ __VA_ARGS__ }, sizeof((const uint32_t[]){ __VA_ARGS__ }) / sizeof(uint32_t)
#define OPERATION(m, op, in, ...) must(nnb_model_operation(m, op, in, LIST(__VA_ARGS__)) >= 0)
#define IN(...) LIST(__VA_ARGS__)

static void refer(struct nnb_model *m, struct nnb_model *taken, uint32_t index)
{
	must(nnb_model_refer(m, taken) == (int)index);
	nnb_model_free(taken);
}

/* ---- conditions and bodies, all of (x, i, n) ---- */

/* The condition is i != n, so the loop never ends if n is below i. */
static struct nnb_model *not_yet(uint32_t width)
{
	struct nnb_model *m = graph("not yet");
	uint32_t x = floats(m, width), i = ints(m), n = ints(m), out = truth(m);

	OPERATION(m, NNB_NOT_EQUAL, IN(i, n), out);
	must(!nnb_model_finish(m, LIST(x, i, n), LIST(out)));
	return m;
}

static struct nnb_model *add_one_to_each(void)
{
	struct nnb_model *m = graph("add one");
	uint32_t x = floats(m, LOOP_N), i = ints(m), n = ints(m), act = constant(m, NNB_INT32, 0);
	uint32_t one = floats(m, 1), step = constant(m, NNB_TENSOR_INT32, 1), y = floats(m, LOOP_N), next = ints(m);

	must(!nnb_model_value(m, one, &(float){ 1 }, sizeof(float)));
	OPERATION(m, NNB_ADD, IN(x, one, act), y);
	OPERATION(m, NNB_ADD, IN(i, step, act), next);
	must(!nnb_model_finish(m, LIST(x, i, n), LIST(y, next)));
	return m;
}

static struct nnb_model *double_width(void)
{
	struct nnb_model *m = graph("double");
	uint32_t x = floats(m, 0), i = ints(m), n = ints(m), act = constant(m, NNB_INT32, 0);
	uint32_t step = constant(m, NNB_TENSOR_INT32, 1), y = floats(m, 0), next = ints(m);

	OPERATION(m, NNB_CONCATENATION, IN(x, x, act), y);
	OPERATION(m, NNB_ADD, IN(i, step, act), next);
	must(!nnb_model_finish(m, LIST(x, i, n), LIST(y, next)));
	return m;
}

/* A loop of (x, i from 0, n) around subgraphs 0 and 1. */
static void finish_loop(struct nnb_model *m, uint32_t width)
{
	uint32_t condition = subgraph(m, 0), body = subgraph(m, 1);
	uint32_t x = floats(m, LOOP_N), n = ints(m), zero = constant(m, NNB_TENSOR_INT32, 0), y = floats(m, width);

	OPERATION(m, NNB_WHILE, IN(condition, body, x, zero, n), y);
	must(!nnb_model_finish(m, LIST(x, n), LIST(y)));
}

struct nnb_model *loop_counting(void)
{
	struct nnb_model *m = graph("counting");

	refer(m, not_yet(LOOP_N), 0);
	refer(m, add_one_to_each(), 1);
	finish_loop(m, LOOP_N);
	return m;
}

struct nnb_model *loop_growing(void)
{
	struct nnb_model *m = graph("growing");

	refer(m, not_yet(0), 0);
	refer(m, double_width(), 1);
	finish_loop(m, 0);
	return m;
}

/* ---- nested ---- */

static struct nnb_model *add_quarters(void)
{
	struct nnb_model *m = graph("add quarters");
	uint32_t x = floats(m, LOOP_N), c = quarters(m), act = constant(m, NNB_INT32, 0), y = floats(m, LOOP_N);

	OPERATION(m, NNB_ADD, IN(x, c, act), y);
	must(!nnb_model_finish(m, LIST(x), LIST(y)));
	return m;
}

/* A loop around subgraphs 4 and 5 */
static struct nnb_model *double_by_loop(void)
{
	struct nnb_model *m = graph("double by a loop");
	uint32_t x = floats(m, LOOP_N), condition = subgraph(m, 4), body = subgraph(m, 5);
	uint32_t zero = constant(m, NNB_TENSOR_INT32, 0), y = floats(m, LOOP_N);

	OPERATION(m, NNB_WHILE, IN(condition, body, x, zero), y);
	must(!nnb_model_finish(m, LIST(x), LIST(y)));
	return m;
}

static struct nnb_model *not_done(void)
{
	struct nnb_model *m = graph("not done");
	uint32_t x = floats(m, LOOP_N), i = ints(m), one = constant(m, NNB_TENSOR_INT32, 1), out = truth(m);

	OPERATION(m, NNB_LESS, IN(i, one), out);
	must(!nnb_model_finish(m, LIST(x, i), LIST(out)));
	return m;
}

static struct nnb_model *doubled(void)
{
	struct nnb_model *m = graph("doubled");
	uint32_t x = floats(m, LOOP_N), i = ints(m), act = constant(m, NNB_INT32, 0);
	uint32_t step = constant(m, NNB_TENSOR_INT32, 1), y = floats(m, LOOP_N), next = ints(m);

	OPERATION(m, NNB_ADD, IN(x, x, act), y);
	OPERATION(m, NNB_ADD, IN(i, step, act), next);
	must(!nnb_model_finish(m, LIST(x, i), LIST(y, next)));
	return m;
}

/* IF i < 2 subgraph 2, otherwise subgraph 3 */
static struct nnb_model *one_or_the_other(void)
{
	struct nnb_model *m = graph("one or the other");
	uint32_t x = floats(m, LOOP_N), i = ints(m), n = ints(m), act = constant(m, NNB_INT32, 0);
	uint32_t two = constant(m, NNB_TENSOR_INT32, 2), early = truth(m), then = subgraph(m, 2),
		 otherwise = subgraph(m, 3);
	uint32_t step = constant(m, NNB_TENSOR_INT32, 1), y = floats(m, LOOP_N), next = ints(m);

	OPERATION(m, NNB_LESS, IN(i, two), early);
	OPERATION(m, NNB_IF, IN(early, then, otherwise, x), y);
	OPERATION(m, NNB_ADD, IN(i, step, act), next);
	must(!nnb_model_finish(m, LIST(x, i, n), LIST(y, next)));
	return m;
}

struct nnb_model *loop_nested(void)
{
	struct nnb_model *m = graph("nested");

	refer(m, not_yet(LOOP_N), 0);
	refer(m, one_or_the_other(), 1);
	refer(m, add_quarters(), 2);
	refer(m, double_by_loop(), 3);
	refer(m, not_done(), 4);
	refer(m, doubled(), 5);
	finish_loop(m, LOOP_N);
	return m;
}

float loop_nested_expected(uint32_t i, float x, int32_t n)
{
	for (int32_t k = 0; k < n; k++)
		x = k < 2 ? x + (float)i / 4 : x + x;
	return x;
}

/* ---- a model whose shapes depend on a value ---- */

static struct nnb_model *tiled(void)
{
	struct nnb_model *m = graph("tiled");
	uint32_t x = floats(m, LOOP_N), n = ints(m), y = floats(m, 0);

	OPERATION(m, NNB_TILE, IN(x, n), y);
	must(!nnb_model_finish(m, LIST(x, n), LIST(y)));
	return m;
}

struct nnb_model *loop_shaped(void)
{
	struct nnb_model *m = graph("shaped");
	uint32_t always, then, x, n, y;

	refer(m, tiled(), 0);
	always = truth(m);
	must(!nnb_model_value(m, always, &(uint8_t){ 1 }, 1));
	then = subgraph(m, 0);
	x = floats(m, LOOP_N);
	n = ints(m);
	y = floats(m, 0);
	OPERATION(m, NNB_IF, IN(always, then, then, x, n), y);
	must(!nnb_model_finish(m, LIST(x, n), LIST(y)));
	return m;
}

/* ---- deep ---- */

/*
 * A graph of @each IFs with a true condition, one after the other, around subgraph @next; if @last, x + 1.
 * @spare operands have no reader.
 */
static struct nnb_model *level(bool last, uint32_t next, uint32_t each, uint32_t spare)
{
	struct nnb_model *m = graph("level");
	uint32_t x = floats(m, LOOP_N), n = ints(m), always = truth(m), at = x, y = x;
	uint32_t one = floats(m, 1), act = constant(m, NNB_INT32, 0);

	must(!nnb_model_value(m, always, &(uint8_t){ 1 }, 1) && !nnb_model_value(m, one, &(float){ 1 }, sizeof(float)));
	for (uint32_t i = 0; i < (last ? 1 : each); i++, at = y) {
		y = floats(m, LOOP_N);
		if (last) {
			OPERATION(m, NNB_ADD, IN(at, one, act), y);
		} else {
			uint32_t then = subgraph(m, next);

			OPERATION(m, NNB_IF, IN(always, then, then, at, n), y);
		}
	}
	for (uint32_t i = 0; i < spare; i++)
		constant(m, NNB_INT32, 0);
	must(!nnb_model_finish(m, LIST(x, n), LIST(y)));
	return m;
}

struct nnb_model *loop_deep(uint32_t levels, bool around)
{
	struct nnb_model *m = level(false, 0, 1, 0);

	for (uint32_t i = 0; i < levels; i++)
		refer(m, level(i == levels - 1 && !around, i == levels - 1 ? 0 : i + 1, 1, 0), i);
	return m;
}

struct nnb_model *loop_wide(uint32_t levels, uint32_t each, uint32_t spare)
{
	struct nnb_model *m = level(false, 0, 1, 0);

	for (uint32_t i = 0; i < levels; i++)
		refer(m, level(i == levels - 1, i + 1, each, spare), i);
	return m;
}
