/*
 * zoo.h -- the built-in models: as code, with weights from a generator, so that a scenario needs no files.
 *
 * The same name and seed give the same model, byte for byte. All are float32, of HAL 1.0, valid.
 */
#ifndef LOAD_ZOO_H
#define LOAD_ZOO_H

#include <stddef.h>
#include <stdint.h>

#include "nnb/model.h"

struct builder;

/* A state: what the output gives is what the input is to have the next time. */
enum { LOAD_PAIRS_MAX = 8 };

struct load_pair {
	uint32_t output, input;
};

struct load_pairs {
	uint32_t n;
	struct load_pair list[LOAD_PAIRS_MAX];
};

struct load_zoo_model {
	const char *name;
	const char *about; /* one line */
	void (*build)(struct builder *b, uint32_t size);
	const char *size_is; /* meaning and bounds of the number that may follow the name; NULL: no number */
	uint32_t size, size_min, size_max, size_step;
	struct load_pairs state;
};

enum { LOAD_ZOO_MODELS = 5 };
extern const struct load_zoo_model load_zoo[LOAD_ZOO_MODELS];

/*
 * The model of @name: "mlp", or, for a model that comes in sizes, "mobilenet-96". NULL: no model has that name;
 * *ret_size is its size.
 */
const struct load_zoo_model *load_zoo_find(const char *name, uint32_t *ret_size);

/* Build it. 0 and *ret owned; -ENOENT: there is none of that name; -ENOMEM and others: no memory for it. */
int load_zoo_new(struct nnb_model **ret, const char *name, uint64_t seed);

/* The same generator for input data: @n numbers from -1 to 1, another row for each @which. */
void load_zoo_numbers(float *ret, size_t n, uint64_t seed, uint32_t which);

#endif
