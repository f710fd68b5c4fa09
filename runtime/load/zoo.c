/* zoo.c -- the table of built-in models. */
#include "zoo.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "builder.h"

const struct load_zoo_model load_zoo[LOAD_ZOO_MODELS] = {
	{ "mlp", "a very small perceptron, 64 numbers to 10 classes", load_zoo_mlp, 0, 0, 0, 0 },
	{ "keyword", "a keyword spotter of separable convolutions, 49 x 10 to 12 words", load_zoo_keyword, 0, 0, 0, 0 },
	{ "mobilenet", "a MobileNet v1 of width 0.25, 224 x 224 x 3 to 11 classes", load_zoo_mobilenet, 224, 32, 1024,
	  32 },
	{ "recurrent", "one step of an LSTM of 128 cells, with its state", load_zoo_recurrent, 0, 0, 0, 0 },
};

/* "-96" of a picture that may have that side. */
static bool side_of(const struct load_zoo_model *m, const char *suffix, uint32_t *ret)
{
	unsigned long side;
	char *end;

	if (suffix[0] != '-' || suffix[1] < '1' || suffix[1] > '9' || !m->side)
		return false;
	side = strtoul(suffix + 1, &end, 10);
	if (*end || side < m->side_min || side > m->side_max || side % m->side_step)
		return false;
	*ret = (uint32_t)side;
	return true;
}

const struct load_zoo_model *load_zoo_find(const char *name, uint32_t *ret_side)
{
	for (int i = 0; i < LOAD_ZOO_MODELS; i++) {
		const struct load_zoo_model *m = &load_zoo[i];
		size_t n = strlen(m->name);

		if (strncmp(name, m->name, n) != 0)
			continue;
		*ret_side = m->side;
		if (!name[n] || side_of(m, name + n, ret_side))
			return m;
	}
	return NULL;
}

/* Neighbouring seeds are to have nothing in common. */
static uint64_t stirred(uint64_t x)
{
	x += 0x9e3779b97f4a7c15u;
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
	return x ^ (x >> 31);
}

int load_zoo_new(struct nnb_model **ret, const char *name, uint64_t seed)
{
	struct builder b = { .random = stirred(seed) };
	const struct load_zoo_model *m;
	uint32_t side;
	int r;

	m = load_zoo_find(name, &side);
	if (!m)
		return -ENOENT;
	r = nnb_model_new(&b.model, name, NNB_HAL_1_0);
	if (r)
		return r;
	m->build(&b, side);
	if (b.error)
		nnb_model_free(b.model);
	else
		*ret = b.model;
	return b.error;
}

void load_zoo_numbers(float *ret, size_t n, uint64_t seed, uint32_t which)
{
	uint64_t random = stirred(seed ^ stirred(which + 1));

	for (size_t i = 0; i < n; i++) {
		random = random * 6364136223846793005u + 1442695040888963407u;
		ret[i] = (float)(random >> 40) / (1 << 23) - 1;
	}
}
