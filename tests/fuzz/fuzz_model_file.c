/*
 * fuzz_model_file.c -- any bytes as a model file: they are read or refused, and do no harm.
 *
 * A side file "w" of 64 bytes can be named.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "nnb/model.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

static char dir[] = "/tmp/fuzz_model_file.XXXXXX";
static char side[sizeof(dir) + 2];

static void clean_up(void)
{
	unlink(side);
	rmdir(dir);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	static const char bytes[64] = { 1, 2, 3 };
	int fd;

	(void)argc;
	(void)argv;
	if (!mkdtemp(dir))
		abort();
	snprintf(side, sizeof(side), "%s/w", dir);
	fd = open(side, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0 || write(fd, bytes, sizeof(bytes)) != sizeof(bytes))
		abort();
	close(fd);
	return atexit(clean_up);
}

/* The reader promises that the bytes of each constant lie inside the file. */
static void constants_lie_inside(const struct nnb_model *m)
{
	for (uint32_t i = 0; i < m->n_operands; i++) {
		const struct nnb_location *l = &m->operands[i].location;
		uint64_t end = (uint64_t)l->offset + l->length;

		if (!l->length)
			continue;
		if (m->operands[i].lifetime == NNB_CONSTANT_COPY && end <= m->n_values)
			continue;
		if (m->operands[i].lifetime == NNB_CONSTANT_REFERENCE && l->pool < m->n_pools &&
		    end <= m->pools[l->pool].size)
			continue;
		abort();
	}
}

/* Read every byte of the examples, so that the sanitizers see a read outside them. */
static unsigned sum_examples(const struct nnb_model_file *f)
{
	unsigned sum = 0;

	for (uint32_t e = 0; e < f->n_examples; e++) {
		for (uint32_t i = 0; i < f->model->n_inputs; i++)
			for (size_t k = 0; k < f->examples[e].input_bytes[i]; k++)
				sum += ((unsigned char *)f->examples[e].inputs[i])[k];
		for (uint32_t i = 0; i < f->model->n_outputs; i++)
			for (size_t k = 0; k < f->examples[e].output_bytes[i]; k++)
				sum += ((unsigned char *)f->examples[e].outputs[i])[k];
	}
	return sum;
}

static void model_travels(const struct nnb_model *m)
{
	struct nnb_model *back = NULL;
	uint8_t *form, *again;
	size_t n, again_n;

	if (nnb_model_encode(m, &form, &n) != 0 || nnb_model_decode(&back, form, n, NULL) != 0 ||
	    nnb_model_encode(back, &again, &again_n) != 0 || again_n != n || memcmp(again, form, n) != 0)
		abort();
	nnb_model_free(back);
	free(form);
	free(again);
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
	struct nnb_reason reason = { "" };
	struct nnb_model_file *f = NULL;
	volatile unsigned sum;

	if (nnb_model_file_parse(&f, (const char *)data, size, dir, &reason) != 0) {
		if (!*reason.text || f)
			abort();
		return 0;
	}
	constants_lie_inside(f->model);
	sum = sum_examples(f);
	(void)sum;
	nnb_model_validate(f->model, &reason);
	model_travels(f->model);
	nnb_model_file_free(f);
	return 0;
}
