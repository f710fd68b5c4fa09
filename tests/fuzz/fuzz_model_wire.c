/*
 * fuzz_model_wire.c -- any bytes as a model on the wire: decoded, validated and encoded again, they do no
 * harm.
 *
 * A header whose counts do not agree with the length is refused at once, and chance makes them agree far too
 * seldom. So the first byte of an input is a choice: if it is even, the length and the bytes of values are
 * made to fit the rest.
 */
#include <stdlib.h>
#include <string.h>

#include "nnb/model.h"

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

/* The layout of wire.c: the places of numbers in the header, and the bytes of each counted item. */
enum { AT_BYTES = 16, AT_COUNTS = 32, AT_POOLS = 52, AT_GRAPHS = 56, AT_VALUES = 60, HEADER = 128 };
enum { POOL = 80, COUNTS = 20 };
/* bytes of a graph's operands, operations, inputs, outputs, indexes */
static const uint32_t sizes[] = { 80, 12, 4, 4, 4 };

static uint32_t number_at(const uint8_t *form, uint64_t at)
{
	uint32_t n;

	memcpy(&n, form + at, sizeof(n));
	return n;
}

/* Take @n items of @size from the rest. */
static bool bytes_take(uint64_t *rest, uint32_t n, uint32_t size)
{
	if ((uint64_t)n * size > *rest)
		return false;
	*rest -= (uint64_t)n * size;
	return true;
}

/* Take the graph whose counts are at @counts. */
static bool take_graph(const uint8_t *form, uint64_t counts, uint64_t *rest)
{
	bool fits = true;

	for (unsigned i = 0; fits && i < sizeof(sizes) / sizeof(sizes[0]); i++)
		fits = bytes_take(rest, number_at(form, counts + 4 * i), sizes[i]);
	return fits;
}

static void make_fit(uint8_t *form, uint64_t bytes)
{
	uint32_t values, graphs = number_at(form, AT_GRAPHS);
	uint64_t rest = bytes - HEADER;

	if (!take_graph(form, AT_COUNTS, &rest) || !bytes_take(&rest, number_at(form, AT_POOLS), POOL) ||
	    !bytes_take(&rest, graphs, COUNTS))
		return;
	for (uint32_t i = 0; i < graphs; i++)
		if (!take_graph(form, HEADER + (uint64_t)i * COUNTS, &rest))
			return;
	values = (uint32_t)rest;
	memcpy(form + AT_VALUES, &values, sizeof(values));
	memcpy(form + AT_BYTES, &bytes, sizeof(bytes));
}

/* A model has one form, and a form one model. */
static void encodes_to(const struct nnb_model *m, const uint8_t *form, size_t size)
{
	uint8_t *again;
	size_t n;

	if (nnb_model_encode(m, &again, &n) != 0 || n != size || memcmp(again, form, n) != 0)
		abort();
	free(again);
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
	struct nnb_reason reason = { "" };
	struct nnb_model *m = NULL;
	uint64_t bytes;
	uint8_t *form;
	int s;

	if (size < 1)
		return 0;
	bytes = size - 1;
	form = malloc(bytes ? bytes : 1);
	if (!form)
		abort();
	memcpy(form, data + 1, bytes);
	if (bytes >= HEADER && !(data[0] & 1))
		make_fit(form, bytes);
	s = nnb_model_decode(&m, form, bytes, &reason);
	if (s == 0) {
		nnb_model_validate(m, &reason);
		encodes_to(m, form, bytes);
	} else if (!*reason.text) {
		abort();
	}
	nnb_model_free(m);
	free(form);
	return 0;
}
