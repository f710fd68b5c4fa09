/*
 * fuzz_model_wire.c -- any bytes as a model on the wire: decoded, validated and encoded again, they do no harm.
 *
 * A header whose counts do not agree with the length leads nowhere, and chance makes them agree far too seldom. So
 * the first byte of an input is a choice: even, and the length and the bytes of values are made to fit the rest.
 */
#include <stdlib.h>
#include <string.h>

#include "nnb/model.h"

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

/* Of wire.c's layout: the places of numbers in the header, and the bytes of what is counted. */
enum { AT_BYTES = 16, AT_COUNTS = 32, AT_VALUES = 56, HEADER = 124 };
static const uint32_t sizes[] = { 68, 12, 4, 4, 80, 4 }; /* operands, operations, inputs, outputs, pools, indexes */

static void make_fit(uint8_t *form, uint64_t bytes)
{
	uint64_t rest = bytes - HEADER;
	uint32_t values;

	for (unsigned i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		uint32_t n;

		memcpy(&n, form + AT_COUNTS + 4 * i, sizeof(n));
		if ((uint64_t)n * sizes[i] > rest)
			return;
		rest -= (uint64_t)n * sizes[i];
	}
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
