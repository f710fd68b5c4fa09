/*
 * tflite_peer.c -- compare the driver's outputs with those of TensorFlow Lite (tflite_peer.mjs).
 *
 * tflite_peer write DIR: write the samples of the loader's tests as files. tflite_peer compare MODEL.tflite
 * IO [OFF]: run the model with the inputs IO.in.K, and compare its outputs with IO.out.K; reals may differ by
 * OFF times the greatest value of an output.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nnb/device.h"
#include "unit/tflite_writer.h"

enum { ARGUMENTS = 16, ALIGNMENT = 64 };

/* The default of OFF: both sum in float32, but in another order. */
static const double REALS_OFF = 2e-5;
/* The steps by which quantised outputs may differ, because both round. */
static const int STEPS_OFF = 1;

static _Noreturn void give_up(const char *what, const char *why)
{
	fprintf(stderr, "tflite_peer: %s: %s\n", what, why);
	exit(1);
}

static void write_samples(const char *directory)
{
	for (unsigned i = 0; i < tfl_samples(); i++) {
		uint8_t *bytes;
		char path[4096];
		size_t n;
		FILE *file;

		snprintf(path, sizeof(path), "%s/sample-%u.tflite", directory, i);
		tfl_sample(i, &bytes, &n);
		file = fopen(path, "w");
		if (!file || fwrite(bytes, 1, n, file) != n || fclose(file))
			give_up(path, "cannot be written");
		free(bytes);
	}
}

/* The bytes of file IO.SIDE.K; they must be @bytes. The caller frees them. */
static void *read_argument(const char *io, const char *side, uint32_t k, uint64_t bytes)
{
	char path[4096];
	char *data = malloc(bytes + 1);
	FILE *file;

	snprintf(path, sizeof(path), "%s.%s.%u", io, side, k);
	file = fopen(path, "r");
	if (!file || !data)
		give_up(path, "cannot be read");
	if (fread(data, 1, bytes + 1, file) != bytes)
		give_up(path, "has another size than the model says");
	fclose(file);
	return data;
}

/* ---- comparing ---- */

static double largest(const float *x, uint64_t n)
{
	double most = 1e-6;

	for (uint64_t i = 0; i < n; i++)
		most = fmax(most, fabs((double)x[i]));
	return most;
}

static bool reals_agree(const float *got, const float *wanted, uint64_t n, double may, uint32_t output)
{
	double scale = largest(wanted, n), off = 0;

	for (uint64_t i = 0; i < n; i++)
		off = fmax(off, isnan(got[i]) ? INFINITY : fabs((double)got[i] - (double)wanted[i]) / scale);
	printf("  output %u: %llu reals, off by at most %.2g of the greatest, %.4g\n", output, (unsigned long long)n,
	       off, scale);
	return off <= may;
}

static bool steps_agree(const uint8_t *got, const uint8_t *wanted, uint64_t n, bool is_signed, uint32_t output)
{
	int off = 0;

	for (uint64_t i = 0; i < n; i++) {
		int step = is_signed ? (int8_t)got[i] - (int8_t)wanted[i] : got[i] - wanted[i];

		off = abs(step) > off ? abs(step) : off;
	}
	printf("  output %u: %llu bytes, off by at most %d steps\n", output, (unsigned long long)n, off);
	return off <= STEPS_OFF;
}

static bool output_agrees(uint32_t type, const void *got, const void *wanted, uint64_t bytes, double may,
                          uint32_t output)
{
	switch (type) {
	case NNB_TENSOR_FLOAT32:
		return reals_agree(got, wanted, bytes / sizeof(float), may, output);
	case NNB_TENSOR_QUANT8_ASYMM:
	case NNB_TENSOR_QUANT8_ASYMM_SIGNED:
		return steps_agree(got, wanted, bytes, type == NNB_TENSOR_QUANT8_ASYMM_SIGNED, output);
	default:
		printf("  output %u: %llu bytes, compared bit by bit\n", output, (unsigned long long)bytes);
		return !memcmp(got, wanted, bytes);
	}
}

/* ---- running ---- */

struct placed {
	struct nnb_argument arguments[ARGUMENTS];
	uint64_t bytes[ARGUMENTS], total;
};

static void place(struct placed *p, const struct nnb_model *m, const uint32_t *operands, uint32_t n, uint64_t from)
{
	if (n > ARGUMENTS)
		give_up(m->name, "has too many arguments");
	*p = (struct placed){ .total = from };
	for (uint32_t i = 0; i < n; i++) {
		const struct nnb_operand *o = &m->operands[operands[i]];

		if (nnb_operand_bytes(o->type, o->rank, o->dims, &p->bytes[i]) || !p->bytes[i])
			give_up(m->name, "has an argument of unknown size");
		p->arguments[i].location = (struct nnb_location){ 0, (uint32_t)p->total, (uint32_t)p->bytes[i] };
		p->total += (p->bytes[i] + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
	}
}

static void read_inputs(const struct placed *in, uint32_t n, const char *io, uint8_t *pool)
{
	for (uint32_t i = 0; i < n; i++) {
		void *data = read_argument(io, "in", i, in->bytes[i]);

		memcpy(pool + in->arguments[i].location.offset, data, in->bytes[i]);
		free(data);
	}
}

static bool compare_outputs(const struct placed *out, const struct nnb_model *m, const char *io, double may,
                            const uint8_t *pool)
{
	bool agree = true;

	for (uint32_t i = 0; i < m->n_outputs; i++) {
		void *wanted = read_argument(io, "out", i, out->bytes[i]);

		agree &= output_agrees(m->operands[m->outputs[i]].type, pool + out->arguments[i].location.offset,
		                       wanted, out->bytes[i], may, i);
		free(wanted);
	}
	return agree;
}

static bool compare(const char *path, const char *io, double may)
{
	const struct nnb_prepare how = { .preference = 1, .priority = NNB_PRIORITY_MEDIUM };
	struct nnb_reason why = { "" };
	struct nnb_request request;
	struct nnb_prepared *prepared;
	struct nnb_mapping *mapping;
	struct nnb_device *device;
	struct placed in, out;
	struct nnb_memory pool;
	struct nnb_model *m;
	bool agree;

	if (nnb_model_load_tflite(&m, path, &why) || nnb_device_open(&device, "xnnpack", &why) ||
	    nnb_prepare(device, m, &how, NULL, &prepared, &why))
		give_up(path, why.text);
	place(&in, m, m->inputs, m->n_inputs, 0);
	place(&out, m, m->outputs, m->n_outputs, in.total);
	if (nnb_memory_ashmem(&pool, out.total) || nnb_map(&mapping, &pool))
		give_up(path, "no memory for its arguments");
	read_inputs(&in, m->n_inputs, io, nnb_mapping_data(mapping));
	request = (struct nnb_request){ .inputs = in.arguments,
		                        .outputs = out.arguments,
		                        .n_inputs = m->n_inputs,
		                        .n_outputs = m->n_outputs,
		                        .pools = &pool,
		                        .n_pools = 1 };
	if (nnb_execute(prepared, &request, NULL, &why))
		give_up(path, why.text);
	agree = compare_outputs(&out, m, io, may, nnb_mapping_data(mapping));
	nnb_mapping_unref(mapping);
	nnb_memory_close(&pool);
	nnb_prepared_unref(prepared);
	nnb_device_unref(device);
	nnb_model_free(m);
	return agree;
}

int main(int argc, char **argv)
{
	if (argc == 3 && !strcmp(argv[1], "write")) {
		write_samples(argv[2]);
		return 0;
	}
	if ((argc == 4 || argc == 5) && !strcmp(argv[1], "compare"))
		return compare(argv[2], argv[3], argc == 5 ? strtod(argv[4], NULL) : REALS_OFF) ? 0 : 1;
	fprintf(stderr, "usage: tflite_peer write DIR | compare MODEL.tflite IO [OFF]\n");
	return 2;
}
