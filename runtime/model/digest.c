/* digest.c -- computes FNV-1a over words of 32 bits. */
#include "model/digest.h"

#include <string.h>

#include "model/parts.h"

static void eat_word(uint64_t *digest, uint32_t word)
{
	*digest = (*digest ^ word) * 0x100000001b3;
}

/* The @n bytes at @from of the model's values. */
static void eat_values(uint64_t *digest, const struct nnb_model *m, uint32_t from, uint32_t n)
{
	eat_word(digest, n);
	for (uint32_t done = 0, bytes; done < n; done += bytes) {
		uint32_t word = 0;

		bytes = n - done < sizeof(word) ? n - done : (uint32_t)sizeof(word);
		memcpy(&word, m->values + from + done, bytes);
		eat_word(digest, word);
	}
}

static void eat_words(uint64_t *digest, const uint32_t *words, uint32_t n)
{
	eat_word(digest, n);
	for (uint32_t i = 0; i < n; i++)
		eat_word(digest, words[i]);
}

uint32_t nnb__model_digest(const struct nnb_model *model)
{
	uint64_t digest = 0xcbf29ce484222325;
	uint32_t folded;

	eat_word(&digest, model->relaxed);
	for (uint32_t part = 0; part <= model->n_referenced; part++) {
		struct nnb_model is = nnb__part(model, part);

		eat_word(&digest, is.n_operands);
		for (uint32_t i = 0; i < is.n_operands; i++) {
			const struct nnb_operand *o = &is.operands[i];
			uint32_t scale;

			memcpy(&scale, &o->scale, sizeof(scale));
			eat_word(&digest, o->type);
			eat_word(&digest, o->lifetime);
			eat_words(&digest, o->dims, o->rank);
			eat_word(&digest, scale);
			eat_word(&digest, (uint32_t)o->zero_point);
			eat_word(&digest, o->channel_dim);
			eat_values(&digest, &is, o->scales_at, o->n_scales * (uint32_t)sizeof(float));
			if (o->lifetime == NNB_CONSTANT_COPY)
				eat_values(&digest, &is, o->location.offset, o->location.length);
			else if (o->lifetime == NNB_CONSTANT_REFERENCE)
				eat_word(&digest, o->location.length);
			else if (o->lifetime == NNB_LIFETIME_SUBGRAPH)
				eat_word(&digest, o->location.offset);
		}
		eat_word(&digest, is.n_operations);
		for (uint32_t i = 0; i < is.n_operations; i++) {
			eat_word(&digest, is.operations[i].type);
			eat_words(&digest, is.operations[i].inputs, is.operations[i].n_inputs);
			eat_words(&digest, is.operations[i].outputs, is.operations[i].n_outputs);
		}
		eat_words(&digest, is.inputs, is.n_inputs);
		eat_words(&digest, is.outputs, is.n_outputs);
	}
	folded = (uint32_t)(digest ^ digest >> 32);
	return folded ? folded : 1;
}
