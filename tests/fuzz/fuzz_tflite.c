/*
 * fuzz_tflite.c -- any bytes as a .tflite file: they are read or refused, and do no harm.
 *
 * The first byte of the input chooses a sample file; the rest is changes of it, each with a place (two
 * bytes), a number of bytes (one), and these bytes. Beyond the samples, the rest is the file.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "nnb/model.h"
#include "unit/tflite_writer.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

/* A sample with changes; the caller owns it. */
static uint8_t *file_changed(unsigned which, const uint8_t *data, size_t n, size_t *ret_bytes)
{
	uint8_t *bytes;
	size_t size;

	tfl_sample(which, &bytes, &size);
	while (n > 3) {
		size_t at = (size_t)(data[0] << 8 | data[1]) % size, some = data[2] % 9;

		data += 3;
		n -= 3;
		for (; some && n && at < size; some--, n--)
			bytes[at++] = *data++;
	}
	*ret_bytes = size;
	return bytes;
}

/* The reader promises that the bytes of each constant lie inside the file. */
static void constants_lie_inside(const struct nnb_model *m)
{
	for (uint32_t i = 0; i < m->n_operands; i++) {
		const struct nnb_location *l = &m->operands[i].location;
		uint64_t end = (uint64_t)l->offset + l->length;

		if (m->operands[i].lifetime == NNB_CONSTANT_COPY && end > m->n_values)
			abort();
		if (m->operands[i].lifetime == NNB_CONSTANT_REFERENCE &&
		    (l->pool >= m->n_pools || end > m->pools[l->pool].size))
			abort();
	}
}

static void file_load(const uint8_t *bytes, size_t n)
{
	struct nnb_reason reason = { "" };
	struct nnb_model *m = NULL, *back = NULL;
	uint8_t *form;
	size_t form_n;
	int r = nnb_model_parse_tflite(&m, bytes, n, "fuzzed", &reason);

	if (r) {
		if (!*reason.text || m || (r != -EINVAL && r != -ENOTSUP))
			abort();
		return;
	}
	constants_lie_inside(m);
	nnb_model_validate(m, &reason);
	if (nnb_model_encode(m, &form, &form_n) || nnb_model_decode(&back, form, form_n, NULL))
		abort();
	nnb_model_free(back);
	nnb_model_free(m);
	free(form);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	uint8_t *bytes;
	size_t size;

	if (!n)
		return 0;
	if (data[0] >= tfl_samples()) {
		file_load(data + 1, n - 1);
		return 0;
	}
	bytes = file_changed(data[0], data + 1, n - 1, &size);
	file_load(bytes, size);
	free(bytes);
	return 0;
}
