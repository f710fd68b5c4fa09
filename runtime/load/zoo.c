/* zoo.c -- the table of built-in models. */
#include "zoo.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "builder.h"

const struct load_zoo_model load_zoo[LOAD_ZOO_MODELS] = {
	{ .name = "mlp", .about = "a very small perceptron, 64 numbers to 10 classes", .build = load_zoo_mlp },
	{ .name = "keyword",
	  .about = "a keyword spotter of separable convolutions, 49 x 10 to 12 words",
	  .build = load_zoo_keyword },
	{ .name = "mobilenet",
	  .about = "a MobileNet v1 of width 0.25, 224 x 224 x 3 to 11 classes",
	  .build = load_zoo_mobilenet,
	  .size_is = "side",
	  .size = 224,
	  .size_min = 32,
	  .size_max = 1024,
	  .size_step = 32 },
	{ .name = "recurrent",
	  .about = "one step of an LSTM of 128 cells, with its state",
	  .build = load_zoo_recurrent,
	  .state = { 2, { { 1, 1 }, { 2, 2 } } } },
	{ .name = "svdf",
	  .about = "one step of an SVDF of 64 units that remember 128 frames, with its state of 64 KiB",
	  .build = load_zoo_svdf,
	  .size_is = "state in KiB",
	  .size = 64,
	  .size_min = 16,
	  .size_max = 4096,
	  .size_step = 16,
	  .state = { 1, { { 1, 1 } } } },
};

/* "-96" of a model that may have that size. */
static bool size_of(const struct load_zoo_model *m, const char *suffix, uint32_t *ret)
{
	unsigned long size;
	char *end;

	if (suffix[0] != '-' || suffix[1] < '1' || suffix[1] > '9' || !m->size_is)
		return false;
	size = strtoul(suffix + 1, &end, 10);
	if (*end || size < m->size_min || size > m->size_max || size % m->size_step)
		return false;
	*ret = (uint32_t)size;
	return true;
}

const struct load_zoo_model *load_zoo_find(const char *name, uint32_t *ret_size)
{
	for (int i = 0; i < LOAD_ZOO_MODELS; i++) {
		const struct load_zoo_model *m = &load_zoo[i];
		size_t n = strlen(m->name);

		if (strncmp(name, m->name, n) != 0)
			continue;
		*ret_size = m->size;
		if (!name[n] || size_of(m, name + n, ret_size))
			return m;
	}
	return NULL;
}

/* Neighbouring seeds are to have nothing in common. */
static uint64_t mix_bits(uint64_t x)
{
	x += 0x9e3779b97f4a7c15u;
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
	return x ^ (x >> 31);
}

int load_zoo_new(struct nnb_model **ret, const char *name, uint64_t seed)
{
	struct builder b = { .random = mix_bits(seed) };
	const struct load_zoo_model *m;
	uint32_t size;
	int r;

	m = load_zoo_find(name, &size);
	if (!m)
		return -ENOENT;
	r = nnb_model_new(&b.model, name, NNB_HAL_1_0);
	if (r)
		return r;
	m->build(&b, size);
	if (b.error)
		nnb_model_free(b.model);
	else
		*ret = b.model;
	return b.error;
}

void load_zoo_numbers(float *ret, size_t n, uint64_t seed, uint32_t which)
{
	uint64_t random = mix_bits(seed ^ mix_bits(which + 1));

	for (size_t i = 0; i < n; i++) {
		random = random * 6364136223846793005u + 1442695040888963407u;
		ret[i] = (float)(random >> 40) / (1 << 23) - 1;
	}
}
